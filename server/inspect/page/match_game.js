// SPDX-License-Identifier: MIT
// The match drawn by the game's own code: the server's log, run and drawn by GAME.wasm (game.js). A live log grows: new bytes
// come five times a second, so what is shown stays a little behind. A reader follows the spectators' record, never the log.
//
// A page holds a window of the log: a live match begins at its newest keyframe, a fixed log with its first byte. A seek out
// of the window opens another one, at the segment that has the tick; of a window that is large the old part is let go.
import { count } from "./dom.js";

const LAG_S = 0.22, LAG_S_MAX = 1.5, NEXT_MS = 250, RETRY_MS = 1500, PIECE_BYTES = 32768; // a shorter answer has the end
const AHEAD_S = 120, HELD_BYTES_MAX = 256 << 20; // what a window reads ahead of the picture, and has at most
const PROLOGUE_BYTES = 16, BLOCK_BYTES = 72, BLOCK_STORED = 12, BLOCK_TICK = 40; // proto/LOG.md
const LIVE = { segment: null, from: "live" }, BEGIN = { segment: null, from: 0 };

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const size_of = (bytes) => bytes < 10e6 ? `${count(Math.round(bytes / 1000))} kB` : `${count(Math.round(bytes / 1e6))} MB`;

class Match {
    constructor(page, code, changed, info) {
        const isGrowing = info.live !== false;
        Object.assign(this, { page, code, changed, info, folder: info.folder, isGrowing, title: "the game's own picture", note: "", problem: "", waiting: "Reading the log", startsLive: isGrowing && page.status?.phase !== "log", lag: LAG_S, newest: 0, oldest: 1, known: new Map() });
    }
    get isReady() { return this.hasAll && Boolean(this.state.isReady); }
    get first() { return this.isGrowing ? Math.min(this.oldest, this.state.first || this.oldest) : this.state.first; }
    get last() { return Math.max(this.newest, this.state.last); }
    get held() { return [this.state.first, this.state.last]; }
    get tick() { return this.target ?? this.state.tick; }
    get hz() { return this.game?.info?.tickRate; }
    take(state) {
        this.state = state;
        this.newest = Math.max(this.newest, state.last);
        for (const warning of state.warnings ?? []) this.note = warning;
        if (state.error) this.problem = state.error;
        if (state.isDead) throw new Error("The game's code ended here: " + (state.error ?? "out of memory") + ". Open the view again.");
    }

    // ---- the window ----

    // Begin at a place; with a target the picture waits for this tick, else for the end of a match that is live.
    async begin(place, target) {
        this.control?.abort();
        this.game?.close();
        const control = this.control = new AbortController();
        place = place === LIVE && !this.info.keyframe ? { segment: this.info.newest, from: 0 } : { ...place };
        Object.assign(this, { place, target, game: null, hasAll: !this.startsLive && target === undefined, hasEnd: false, state: { tick: 0, first: 0, last: 0, bytes: 0 }, waiting: "Reading the log" });
        const game = await this.code.open();
        if (control.signal.aborted) return game.close();
        this.game = game;
        this.follow(control.signal);
    }
    async ask() { return this.info = await (await this.page.api.bytesOf(this.folder + "/info")).json(); }
    bytes(place, signal) { return this.page.api.bytesOf(`${this.folder}/bytes?from=${place.from}${place.segment === null ? "" : "&segment=" + place.segment}`, signal); }

    // The tick with which a segment begins, out of the header of the block behind its first.
    async beginOf(segment) {
        const body = (await this.bytes({ segment, from: 0 })).body.getReader(), part = { data: new Uint8Array(0) };
        const has = (size) => part.data.length >= size, view = () => new DataView(part.data.buffer);
        let at = PROLOGUE_BYTES;
        for (let wanted = at + BLOCK_BYTES; ;) {
            while (!has(wanted)) {
                const { value, done } = await body.read();
                if (done) return Infinity; // it has no tick yet
                const data = new Uint8Array(part.data.length + value.length);
                data.set(part.data);
                data.set(value, part.data.length);
                part.data = data;
            }
            if (at > PROLOGUE_BYTES) break;
            at += BLOCK_BYTES + view().getUint32(at + BLOCK_STORED, true);
            wanted = at + BLOCK_BYTES;
        }
        body.cancel();
        return Number(view().getBigUint64(at + BLOCK_TICK, true));
    }
    async placeOf(tick) {
        const info = await this.ask();
        if (info.why) throw new Error(info.why);
        if (info.keyframe && tick > Number(info.keyframe.tick)) return LIVE;
        let [low, high] = [info.first, info.newest];
        while (low < high) { // the last one that begins before the tick
            const middle = (low + high + 1) >> 1;
            if (!this.known.has(middle)) this.known.set(middle, await this.beginOf(middle));
            if (this.known.get(middle) < tick) low = middle;
            else high = middle - 1;
        }
        return { segment: low, from: 0 };
    }
    async move(tick) {
        this.target = tick;
        this.hasAll = false;
        try {
            await this.begin(tick >= this.newest - LAG_S_MAX * this.hz ? LIVE : await this.placeOf(tick), tick);
        } catch (fault) {
            this.problem = fault.message;
            this.hasAll = true;
            this.target = undefined;
        }
    }

    // What is far ahead of the picture is not read; of a large window the part behind it is let go.
    isEnough() {
        if (!this.isGrowing || !this.isReady) return false;
        const ahead = this.state.last - this.tick;
        if (this.state.bytes > HELD_BYTES_MAX && ahead < LAG_S_MAX * this.hz * 2 && this.hasEnd) void this.begin(LIVE);
        return ahead > AHEAD_S * this.hz || this.state.bytes > HELD_BYTES_MAX && ahead > this.hz;
    }
    async follow(signal) {
        const { place, game } = this;
        let isFirst = true;
        while (!signal.aborted) {
            let count_bytes = 0;
            try {
                if (this.isEnough()) { this.hasEnd = false; await rest(NEXT_MS); continue; }
                if (signal.aborted) return;
                const response = await this.bytes(place, signal);
                const name = response.headers.get("Shoal-Segment"), next = response.headers.get("Shoal-Next"), bytes = new Uint8Array(await response.arrayBuffer());
                count_bytes = bytes.length;
                const is_next = !isFirst && name !== null && Number(name) !== place.segment;
                if (name !== null) place.segment = Number(name);
                place.from = next ?? (is_next ? 0 : place.from) + count_bytes; // places are those of the log: a record has other bytes
                if (count_bytes) {
                    isFirst = false;
                    // On a bad line the bytes of the next moment come late: keep more of them.
                    this.lag = this.tick >= this.state.last ? Math.min(LAG_S_MAX, this.lag + 0.1) : Math.max(LAG_S, this.lag - 0.005);
                    const state = await game.feed(bytes, is_next ? { segment: true } : undefined);
                    if (signal.aborted) return;
                    this.take(state);
                    this.problem = state.error ?? "";
                    this.waiting = `Reading the log: ${size_of(state.bytes)}${this.info.bytes && this.info.first === this.info.newest ? ` of ${size_of(Number(this.info.bytes))}` : ""}${state.last ? `, up to tick ${count(state.last)}` : ""}`;
                    this.changed();
                }
                if (this.state.isClosed || !this.isGrowing && !count_bytes) {
                    this.isGrowing = false;
                    await this.show();
                    return this.changed();
                }
            } catch (fault) {
                if (signal.aborted) return;
                this.problem = fault.message;
                if (this.state.isDead || fault.status === 403) return;
                if (fault.status === 404 && await this.isGone(place)) return;
                await rest(RETRY_MS);
                continue;
            }
            this.hasEnd = count_bytes < PIECE_BYTES;
            if (!this.hasAll && (this.hasEnd || this.state.last > this.target)) await this.show();
            if (!count_bytes) await rest(NEXT_MS); // the server waited for more
        }
    }
    async show() {
        const tick = this.target;
        if (tick !== undefined && this.state.isReady) this.take(await this.game.seek(Math.min(Math.max(tick, this.state.first), this.state.last)));
        if (tick !== undefined && this.state.first > tick) this.oldest = this.state.first; // what was before it is deleted
        this.target = undefined;
        this.hasAll = true;
        this.changed();
    }
    // A segment was deleted before it was read: go on at the oldest that is there. @return false: it is another fault.
    async isGone(place) {
        const info = await this.ask();
        if (info.why) this.problem = info.why;
        if (info.why || info.first <= place.segment) return Boolean(info.why);
        await this.begin({ segment: info.first, from: 0 }, this.state.last + 1);
        this.note = "Older parts of the log were deleted meanwhile.";
        return true;
    }

    // ---- what the view asks ----

    async seek(tick) {
        const { first, last } = this.state;
        if (this.isGrowing && (tick < first || tick > last && !this.hasEnd)) return void this.move(tick);
        this.take(await this.game.seek(tick));
    }
    async advance(ticks) { if (ticks > 0) this.take(await this.game.advance(ticks)); }
    async marks() {
        const marks = await this.game?.marks() ?? [], list = marks.map((mark) => ({ ...mark, text: ["event", "named"].includes(mark.kind) ? mark.name : `client ${mark.client} ${mark.kind === "join" ? "joins" : "leaves"}${mark.name ? ": " + mark.name : ""}` }));
        return [...(this.game?.info?.keyframes ?? []).map((tick) => ({ tick, kind: "keyframe", text: "keyframe" })), ...list];
    }
    // Runs the match again beside the picture, by the same code as the server's, a slice at a time.
    async verify() {
        const { game, control } = this;
        for (;;) {
            const run = await game.verify({ ms: 20 });
            const differ = run.differs + (run.worldDiffers ?? 0);
            this.verified = run.error ?? `run again from tick ${count(this.state.first)} to ${count(run.tick)} of ${count(Math.floor(this.last))}: ${differ ? `${count(differ)} hashes differ, the first at tick ${count(run.firstDiffers)}; the picture is what the log has` : "all hashes are equal"}`;
            if (run.error || run.isDone || control.signal.aborted) return;
        }
    }
    people() { return this.game?.players() ?? []; }
    scopeOf(client) { return this.game?.info?.isSeen ? `the whole world: this record does not say what client ${client} has` : `what client ${client} has`; }
    async draw(canvas, as, camera) {
        if (!this.isReady) return; // another window is opened
        const scale = devicePixelRatio || 1, [w, h] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
        if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
        const { viewWidth, viewHeight } = this.game, fits = Math.min(w / viewWidth, h / viewHeight) * camera.zoom;
        const loupe = camera.zoom > 1 ? { x: viewWidth / 2 - camera.x * scale / fits, y: viewHeight / 2 - camera.y * scale / fits, zoom: camera.zoom } : null;
        await this.game.draw(canvas.getContext("2d"), w, h, { as, camera: loupe });
    }
    close() { this.control?.abort(); this.game?.close(); }
}

export async function openGame(page, changed, info, tick) {
    const [{ Game }, response] = await Promise.all([import("./game.js"), page.api.bytesOf(`/game/${encodeURIComponent(info.game)}.wasm`)]);
    const module = await WebAssembly.compile(await response.arrayBuffer());
    const match = new Match(page, { open: () => Game.open(module) }, changed, info);
    if (!match.startsLive) await match.begin(BEGIN);
    else await match.begin(tick ? await match.placeOf(tick) : LIVE, tick || undefined);
    return match;
}
