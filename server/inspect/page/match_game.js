// SPDX-License-Identifier: MIT
// The match drawn by the game's own code: the server's log, run and drawn by GAME.wasm (game.js). A live log grows: new bytes
// come five times a second, so what is shown stays a little behind. A reader follows the spectators' record, never the log.
import { count } from "./dom.js";

const LAG_S = 0.22, LAG_S_MAX = 1.5, NEXT_MS = 250, PIECE_BYTES = 32768; // a shorter answer has the end

const rest = (ms) => new Promise((done) => setTimeout(done, ms));

class Match {
    constructor(page, game, changed, folder, info) {
        const startsLive = info.live !== false && page.status?.phase !== "log";
        Object.assign(this, { page, game, changed, folder, title: "the game's own picture", note: "", problem: "", waiting: "Reading the log", isGrowing: info.live !== false, startsLive, hasAll: !startsLive, size: Number(info.bytes ?? Infinity), lag: LAG_S, state: { tick: 0, first: 0, last: 0, bytes: 0 }, list: [] });
        this.control = new AbortController();
        this.follow();
    }
    get isReady() { return this.hasAll && Boolean(this.state.isReady); } // a live match begins at its end, when that was read
    get first() { return this.state.first; }
    get last() { return this.state.last; }
    get tick() { return this.state.tick; }
    get hz() { return this.game.info?.tickRate; }
    take(state) {
        this.state = state;
        for (const warning of state.warnings ?? []) this.note = warning;
        if (state.error) this.problem = state.error;
        if (state.isDead) throw new Error("The game's code ended here: " + (state.error ?? "out of memory") + ". Open the view again.");
    }
    async follow() {
        let segment = null, from = 0;
        while (!this.control.signal.aborted) {
            let count_bytes = 0;
            try {
                const response = await this.page.api.bytesOf(`${this.folder}/bytes?from=${from}${segment === null ? "" : "&segment=" + segment}`, this.control.signal);
                const name = response.headers.get("Shoal-Segment"), bytes = new Uint8Array(await response.arrayBuffer());
                count_bytes = bytes.length;
                const is_next = segment !== null && name !== null && name !== segment;
                segment = name ?? segment;
                if (count_bytes) {
                    // On a bad line the bytes of the next moment come late: keep more of them.
                    this.lag = this.tick >= this.last ? Math.min(LAG_S_MAX, this.lag + 0.1) : Math.max(LAG_S, this.lag - 0.005);
                    from = is_next ? count_bytes : from + count_bytes;
                    this.take(await this.game.feed(bytes, is_next ? { segment: true } : undefined));
                    this.problem = this.state.error ?? "";
                    this.waiting = `Reading the log: ${count(Math.round(this.state.bytes / 1000))} kB${this.size < Infinity ? ` of ${count(Math.round(this.size / 1000))}` : ""}`;
                    this.changed();
                }
                if (this.state.isClosed || !this.isGrowing && !count_bytes) { this.isGrowing = false; this.hasAll = true; return this.changed(); }
            } catch (fault) {
                if (this.control.signal.aborted) return;
                this.problem = fault.message;
                if (this.state.isDead || fault.status === 403 || fault.status === 404) return;
                await rest(1500);
            }
            if (!this.hasAll && (count_bytes < PIECE_BYTES || this.state.bytes >= this.size)) this.caughtUp();
            if (!count_bytes) await rest(NEXT_MS); // the server waited for more
        }
    }
    caughtUp() { this.hasAll = true; this.changed(); }
    async seek(tick) { this.take(await this.game.seek(tick)); }
    async advance(ticks) { if (ticks > 0) this.take(await this.game.advance(ticks)); }
    async marks() {
        const marks = await this.game.marks();
        this.list = marks.map((mark) => ({ ...mark, text: ["event", "named"].includes(mark.kind) ? mark.name : `client ${mark.client} ${mark.kind === "join" ? "joins" : "leaves"}${mark.name ? ": " + mark.name : ""}` }));
        return [...(this.game.info?.keyframes ?? []).map((tick) => ({ tick, kind: "keyframe", text: "keyframe" })), ...this.list];
    }
    // Runs the match again beside the picture, by the same code as the server's, a slice at a time.
    async verify() {
        for (;;) {
            const run = await this.game.verify({ ms: 20 });
            const differ = run.differs + (run.worldDiffers ?? 0);
            this.verified = run.error ?? `run again to tick ${count(run.tick)} of ${count(Math.floor(this.last))}: ${differ ? `${count(differ)} hashes differ, the first at tick ${count(run.firstDiffers)}` : "all hashes are equal"}`;
            if (run.error || run.isDone || this.control.signal.aborted) return;
        }
    }
    people() { return this.game.players(); }
    scopeOf(client) { return this.game.info?.isSeen ? `the whole world: this record does not say what client ${client} has` : `what client ${client} has`; }
    async draw(canvas, as, camera) {
        const scale = devicePixelRatio || 1, [w, h] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
        if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
        const { viewWidth, viewHeight } = this.game, fits = Math.min(w / viewWidth, h / viewHeight) * camera.zoom;
        const loupe = camera.zoom > 1 ? { x: viewWidth / 2 - camera.x * scale / fits, y: viewHeight / 2 - camera.y * scale / fits, zoom: camera.zoom } : null;
        await this.game.draw(canvas.getContext("2d"), w, h, { as, camera: loupe });
    }
    close() { this.control.abort(); this.game.close(); }
}

// @throws with a sentence when the server has no wasm of the game, or nothing to read: then there is the map.
export async function openGame(page, changed) {
    const status = page.status ?? await page.api.get("status");
    const folder = status.right === "reader" ? "/watch" : "/log";
    const info = await (await page.api.bytesOf(folder + "/info")).json();
    if (info.why) throw new Error(info.why);
    if (!info.wasm) throw new Error("The server has no wasm of the game (-DSHOAL_WEB=ON).");
    const [module, response] = await Promise.all([import("./game.js"), page.api.bytesOf(`/game/${encodeURIComponent(info.game ?? status.game)}.wasm`)]);
    return new Match(page, await module.Game.open(await response.arrayBuffer()), changed, folder, info);
}
