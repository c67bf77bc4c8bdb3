// SPDX-License-Identifier: MIT
// View 1: the match, live or at any tick. The game's own code draws it when the server has the game's wasm (match_game.js);
// else it is a map of the positions of the last minute (match_map.js). A page loads the one that it needs. Both are a source:
//   {title, first, last, tick, isLive, isReady, problem, note}   ticks that can be shown, sentences or ""
//   scopeOf(client) -> what is drawn for it, in words
//   seek(tick), advance(ticks), draw(canvas, as, camera) -> promises, marks() -> [{tick, kind, text}], hint(x, y) -> {text, entity}, close()
import { colours, fit, showTip } from "./chart.js";
import { count, duration, empty, fill, fixed, h, icon, pill, write } from "./dom.js";

export const isWhole = true;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64], MARKS_MS = 1000, BEHIND_S = 4, TRACK = { top: 8, height: 16 };

class Timeline {
    constructor(player) {
        this.player = player;
        this.marks = [];
        this.canvas = h("canvas", { tabindex: "0", role: "slider", "aria-label": "Tick" });
        this.canvas.addEventListener("pointerdown", (event) => { this.canvas.setPointerCapture(event.pointerId); this.drags = true; this.drag(event); });
        this.canvas.addEventListener("pointermove", (event) => { if (this.drags) this.drag(event); else this.point(event); });
        this.canvas.addEventListener("pointerup", () => { this.drags = false; });
        this.canvas.addEventListener("pointerleave", () => { showTip(null, ""); this.hover = null; this.draw(); });
        this.sizes = new ResizeObserver(() => { this.drawn = ""; this.draw(); });
        this.sizes.observe(this.canvas);
    }
    tickAt(event) {
        const { first, last } = this.player.source, part = event.offsetX / this.canvas.clientWidth;
        return Math.round(first + Math.min(1, Math.max(0, part)) * (last - first));
    }
    drag(event) { this.player.seek(this.tickAt(event)); }
    point(event) {
        if (!this.player.source?.isReady) return;
        const tick = this.tickAt(event), { first, last } = this.player.source, near = (last - first) * 5 / this.canvas.clientWidth;
        const marks = this.marks.filter((mark) => Math.abs(mark.tick - tick) <= near), hz = this.player.hz();
        this.hover = tick;
        showTip(event, [`tick ${count(tick)} · ${duration(tick / hz)}`, ...marks.slice(0, 6).map((mark) => `${count(mark.tick)}  ${mark.text}`), marks.length > 6 ? `and ${marks.length - 6} more` : ""].filter(Boolean).join("\n"));
        this.draw();
    }
    draw() {
        const { source } = this.player;
        if (!source?.isReady || !this.canvas.clientWidth) return;
        const key = [source.first, source.last, source.tick.toFixed(1), this.hover, this.marks.length, this.canvas.clientWidth].join();
        if (key === this.drawn) return;
        this.drawn = key;
        const { context: c, width } = fit(this.canvas), colour = colours(), { top, height } = TRACK, span = Math.max(1, source.last - source.first);
        const x = (tick) => (tick - source.first) / span * width, hz = this.player.hz();
        c.fillStyle = colour.raise;
        c.beginPath();
        c.roundRect(0, top, width, height, 4);
        c.fill();
        c.fillStyle = colour.wash;
        c.beginPath();
        c.roundRect(0, top, x(source.tick), height, 4);
        c.fill();
        if (source.held) { // what this page has of the log
            c.fillStyle = colour.lineStrong;
            c.fillRect(x(source.held[0]), top + height + 1, x(source.held[1]) - x(source.held[0]), 2);
        }
        const kinds = { join: [colour.ok, 0, height], leave: [colour.bad, 0, height], event: [colour.faint, height - 6, 6], named: [colour.accent, 0, height], keyframe: [colour.lineStrong, 0, 3] };
        for (const mark of this.marks) {
            const [fill_style, from, tall] = kinds[mark.kind] ?? kinds.event;
            c.fillStyle = fill_style;
            c.fillRect(Math.round(x(mark.tick)), top + from, mark.kind === "event" || mark.kind === "keyframe" ? 1 : 2, tall);
        }
        c.font = "10.5px " + getComputedStyle(this.canvas).fontFamily;
        c.fillStyle = colour.faint;
        c.textBaseline = "top";
        const steps = Math.max(1, Math.min(Math.floor(width / 130), Math.floor(span / hz)));
        for (let i = 0; i <= steps; i++) {
            c.textAlign = i === 0 ? "left" : i === steps ? "right" : "center";
            c.fillText(duration((source.first + span * i / steps) / hz), width * i / steps, top + height + 5);
        }
        if (this.hover !== null && this.hover !== undefined) {
            c.fillStyle = colour.soft;
            c.fillRect(Math.round(x(this.hover)), top - 3, 1, height + 6);
        }
        const at = Math.min(width - 2, Math.max(1, x(source.tick)));
        c.fillStyle = colour.accent;
        c.fillRect(at - 1, top - 4, 2, height + 8);
        c.beginPath();
        c.arc(at, top - 3, 4, 0, 7);
        c.fill();
        this.canvas.setAttribute("aria-valuemin", String(Math.floor(source.first)));
        this.canvas.setAttribute("aria-valuemax", String(Math.floor(source.last)));
        this.canvas.setAttribute("aria-valuenow", String(Math.floor(source.tick)));
    }
}

// What is held of the picture: drag moves, the wheel and two fingers zoom, a double click shows all again.
class Camera {
    constructor(canvas, changed) {
        this.reset();
        const fingers = new Map();
        canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.0015), canvas); changed(); }, { passive: false });
        canvas.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event); canvas.setPointerCapture(event.pointerId); this.moved = 0; });
        canvas.addEventListener("pointermove", (event) => {
            const before = fingers.get(event.pointerId);
            if (!before) return;
            const apart = () => { const [a, b] = fingers.values(); return Math.hypot(a.offsetX - b.offsetX, a.offsetY - b.offsetY); };
            const far = fingers.size === 2 ? apart() : 0;
            fingers.set(event.pointerId, event);
            if (far) this.zoomAt(event.offsetX, event.offsetY, apart() / far, canvas);
            else { this.x += event.offsetX - before.offsetX; this.y += event.offsetY - before.offsetY; }
            this.moved += Math.abs(event.offsetX - before.offsetX) + Math.abs(event.offsetY - before.offsetY);
            this.hold(canvas);
            changed();
        });
        for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
        canvas.addEventListener("dblclick", () => { this.reset(); changed(); });
    }
    reset() { Object.assign(this, { x: 0, y: 0, zoom: 1, moved: 0 }); }
    zoomAt(x, y, factor, canvas) { // the point under the pointer stays where it is
        const zoom = Math.min(40, Math.max(1, this.zoom * factor)), [dx, dy] = [x - canvas.clientWidth / 2 - this.x, y - canvas.clientHeight / 2 - this.y];
        this.x -= dx * (zoom / this.zoom - 1);
        this.y -= dy * (zoom / this.zoom - 1);
        this.zoom = zoom;
        this.hold(canvas);
    }
    hold(canvas) { // no further than the edge of the picture
        const [w, hh] = [canvas.clientWidth, canvas.clientHeight];
        this.x = Math.max(-w * this.zoom / 2, Math.min(w * this.zoom / 2, this.x));
        this.y = Math.max(-hh * this.zoom / 2, Math.min(hh * this.zoom / 2, this.y));
        if (this.zoom === 1) this.x = this.y = 0;
    }
}

class Player {
    constructor(root, page) {
        Object.assign(this, { page, source: null, behind: null, isPlaying: true, isLive: !page.get("tick"), as: Number(page.get("as")) || 0, dirty: true, busy: false, closed: false, people: [] });
        this.speed = SPEEDS.includes(Number(page.get("speed"))) ? Number(page.get("speed")) : 1;
        this.canvas = h("canvas", { role: "img", "aria-label": "The match" });
        this.pills = h("div", { class: "over" });
        this.middle = h("div", { class: "middle" }, empty("Opening the match", "…"));
        this.camera = new Camera(this.canvas, () => { this.dirty = true; });
        this.timeline = new Timeline(this);
        this.controls();
        root.append(h("div", { class: "match" }, h("div", { class: "stage" }, this.canvas, this.pills, this.middle), h("div", { class: "deck" }, this.timeline.canvas, this.row)));
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("pointerleave", () => showTip(null, ""));
        this.canvas.addEventListener("click", (event) => { const hint = this.camera.moved < 4 && this.source?.hint?.(event.offsetX, event.offsetY); if (hint?.entity) page.go("world", { entity: hint.entity }); });
        new ResizeObserver(() => { this.dirty = true; }).observe(this.canvas);
        this.stop_marks = page.api.poll(MARKS_MS, async () => { if (this.source?.isReady) { await this.listen(); } });
        this.open();
    }
    hz() { return this.source?.hz || this.page.status?.tick_rate_hz || 60; }
    controls() {
        const button = (name, title, act) => h("button", { class: "button icon", title, "aria-label": title, onclick: act }, icon(name));
        this.play = button("pause", "Play or pause (Space)", () => this.toggle());
        this.clock = h("span", { class: "clock" });
        this.speeds = h("select", { "aria-label": "Speed", title: "Speed (− +)", onchange: () => this.setSpeed(Number(this.speeds.value)) }, SPEEDS.map((speed) => h("option", { value: speed }, speed + "x")));
        this.speeds.value = String(this.speed);
        this.live = h("button", { class: "button", title: "Newest tick (End)", onclick: () => this.goLive() }, "Live");
        this.eyes = h("select", { "aria-label": "Whose eyes (C)", title: "Whose eyes (C)", onchange: () => this.look(Number(this.eyes.value)) });
        this.row = h("div", { class: "row" }, button("back", "One tick back (←)", () => this.step(-1)), this.play, button("step", "One tick (→)", () => this.step(1)), this.clock, h("span", { class: "grow" }), this.eyes, this.speeds, this.live);
        this.check = h("button", { class: "button", hidden: true, title: "Run the match again in this browser and compare every hash", onclick: () => this.source.verify().catch((fault) => { this.source.verified = fault.message; }) }, "Verify");
        this.row.insertBefore(this.check, this.eyes);
        this.eyesOf([]);
    }
    async listen() { // what changes seldom
        this.timeline.marks = await this.source.marks();
        if (this.source.people) this.eyesOf(await this.source.people());
        this.timeline.draw();
    }
    async open() {
        try {
            const info = await infoOf(this.page);
            this.source = await (await import("./match_game.js")).openGame(this.page, () => { this.dirty = true; }, info, Number(this.page.get("tick")));
        } catch (fault) {
            if (this.closed) return;
            this.why = fault.message;
            this.source = (await import("./match_map.js")).openMap(this.page, () => { this.dirty = true; }, this.as);
        }
        if (this.closed) return this.source.close();
        this.last_ms = performance.now();
        requestAnimationFrame(() => this.frame());
    }
    async frame() { // one at a time: a frame that takes long puts off the next one, and the clock catches up
        if (this.closed) return;
        requestAnimationFrame(() => this.frame());
        const now = performance.now();
        // A map needs no more pictures than positions come; what a hand does is shown at once.
        if (this.busy || document.hidden || !this.dirty && this.wanted === undefined && now - this.last_ms < (this.source.frameMs ?? 0)) return;
        const dt = Math.min(0.25, (now - this.last_ms) / 1000), { source } = this;
        this.last_ms = now;
        this.words();
        if (!source.isReady) return;
        this.busy = true;
        try {
            if (!this.begun) await this.begin();
            if (!source.isReady) return;
            if (this.wanted !== undefined) {
                const tick = this.wanted;
                this.wanted = undefined;
                await source.seek(tick);
                this.behind = null;
                this.dirty = true;
            } else if (this.isPlaying) {
                const before = source.tick;
                const behind = (source.last - source.tick) / this.hz() - source.lag;
                this.behind = this.behind === null ? behind : this.behind + (behind - this.behind) * Math.min(1, dt); // ticks come in blocks: their mean
                if (this.isLive && behind > BEHIND_S) await source.seek(source.last - source.lag * this.hz());
                else await source.advance(dt * this.hz() * (this.isLive ? Math.min(1.5, Math.max(0.5, 1 + this.behind)) : this.speed)); // a little faster or slower than the clock, to stay `lag` behind
                this.dirty ||= source.tick !== before;
                if (!this.isLive && source.tick >= source.last && source_grows(source)) this.goLive();
            }
            if (this.dirty && !this.closed) {
                this.dirty = false;
                await source.draw(this.canvas, this.as, this.camera);
            }
        } catch (fault) {
            source.problem = fault.message;
        } finally {
            this.busy = false;
        }
        if (!this.closed) this.timeline.draw();
    }
    async begin() {
        this.begun = true;
        const tick = this.page.get("tick");
        if (tick) {
            this.isPlaying = this.isLive = false;
            await this.source.seek(Number(tick));
        } else if (!(this.source.startsLive ?? source_grows(this.source))) this.isLive = false;
        else await this.source.seek(this.source.last - this.source.lag * this.hz());
    }
    words() {
        const { source } = this, hz = this.hz();
        const list = [pill(source.title, source.isMap ? "" : "accent")];
        if (this.why && source.isMap) list.push(pill(this.why));
        if (this.as) list.push(pill(source.isReady && this.people.length && !this.people.some((each) => each.client === this.as) ? `client ${this.as} does not play now` : source.scopeOf(this.as), "accent"));
        if (source.note) list.push(pill(source.note));
        if (source.verified) list.push(pill(source.verified, source.verified.includes("equal") ? "ok" : "bad"));
        if (source.problem) list.push(pill(source.problem, "bad"));
        if (this.camera.zoom > 1) list.push(pill(fixed(this.camera.zoom, 1) + "x, double click for all"));
        const key = list.map((each) => each.textContent).join("|");
        if (key !== this.said) { this.said = key; this.pills.replaceChildren(...list); }
        this.middle.hidden = source.isReady;
        if (!source.isReady) return void (this.middle.replaceChildren(empty(source.waiting ?? "Waiting for the first tick", source.problem ?? "")));
        const tick = Math.floor(source.tick);
        write(this.clock, `${count(tick)}  ·  ${duration(tick / hz)}`);
        const is_live = this.isLive && this.isPlaying;
        this.check.hidden = !source.verify || !this.page.mayChange();
        this.live.hidden = !source_grows(source);
        this.live.classList.toggle("on", is_live);
        write(this.live, is_live ? "● Live" : "Live");
        const wanted = this.isPlaying ? "pause" : "play";
        if (this.play.dataset.icon !== wanted) { this.play.dataset.icon = wanted; this.play.replaceChildren(icon(wanted)); }
    }
    remember() { this.page.set({ tick: this.isLive ? "" : Math.floor(this.source?.tick ?? 0), speed: this.speed === 1 ? "" : this.speed, as: this.as || "" }); }
    seek(tick) {
        if (!(this.source?.last > 0)) return;
        this.isLive = false;
        this.wanted = Math.min(this.source.last, Math.max(this.source.first, tick));
        this.page.set({ tick: Math.floor(this.wanted) });
    }
    step(ticks) { // from the shown whole tick, also when the moment lies between two
        this.isPlaying = false;
        const now = this.wanted ?? this.source?.tick ?? 0;
        this.seek((ticks > 0 ? Math.floor(now) : Math.ceil(now)) + ticks);
    }
    toggle() {
        this.isPlaying = !this.isPlaying;
        if (!this.isPlaying) this.isLive = false;
        this.remember();
    }
    goLive() { this.isLive = this.isPlaying = true; this.setSpeed(1); if (this.source?.isReady) this.wanted = this.source.last - this.source.lag * this.hz(); this.remember(); }
    setSpeed(speed) {
        this.speed = speed;
        this.speeds.value = String(speed);
        if (speed !== 1) this.isLive = false;
        this.remember();
    }
    look(client) {
        this.as = client;
        this.eyes.value = String(client);
        this.dirty = true;
        this.source?.look?.(client);
        this.remember();
    }
    eyesOf(list) {
        this.people = list;
        fill(this.eyes, [[0, "as spectator"], ...list.map((each) => [each.client, `as client ${each.client}${each.name ? " " + each.name : ""}`])], this.as);
    }
    point(event) { const hint = event.buttons ? null : this.source?.hint?.(event.offsetX, event.offsetY); showTip(event, hint?.text ?? ""); this.canvas.style.cursor = hint ? "pointer" : ""; }
    key(event) {
        const at = SPEEDS.indexOf(this.speed), second = Math.round(this.hz());
        const acts = { " ": () => this.toggle(), ArrowLeft: () => this.step(event.shiftKey ? -second : -1), ArrowRight: () => this.step(event.shiftKey ? second : 1), Home: () => this.seek(this.source?.first ?? 0), End: () => this.goLive(),
            "-": () => this.setSpeed(SPEEDS[Math.max(0, at - 1)]), "+": () => this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, at + 1)]), "=": () => acts["+"](),
            c: () => { const all = [0, ...this.people.map((each) => each.client)]; this.look(all[(all.indexOf(this.as) + 1) % all.length]); } };
        if (event.target.closest?.("button") && event.key === " " || !acts[event.key]) return false;
        acts[event.key]();
        return true;
    }
    close() { this.closed = true; this.stop_marks(); this.timeline.sizes.disconnect(); this.source?.close(); }
}

// What the server has for a picture. @throws with a sentence when it has no wasm of the game, or nothing to read: then there is
// the map.
async function infoOf(page) {
    const { right } = page.status ?? await page.api.get("status"), folder = right === "reader" ? "/watch" : "/log";
    const info = await (await page.api.bytesOf(folder + "/info")).json();
    if (info.why) throw new Error(info.why);
    if (!info.wasm) throw new Error("This is a map. To see the game itself, build it for browsers: scripts/web FOLDER, or -DSHOAL_WEB=ON for a game of Shoal.");
    return { ...info, folder };
}

const source_grows = (source) => Boolean(source?.isGrowing);

export function open(root, page) {
    const player = new Player(root, page);
    page.on("clients", (data) => player.source?.people || player.eyesOf((data.clients ?? []).filter((each) => each.kind !== "spectator")));
    page.on("restart", () => { root.replaceChildren(); player.close(); Object.assign(player, new Player(root, page)); });
    return { close: () => player.close(), key: (event) => player.key(event) };
}
