// SPDX-License-Identifier: MIT
// The match as a map: dots at the positions that the server streams, a colour for each team, and for each template of
// what is in none. It keeps the last minute, so
// that it can be paused, stepped and played slowly as a log can.
import { colours, fit } from "./chart.js";
import { count } from "./dom.js";

const HZ = 30, FRAME_MS = 30, KEPT_S = 60, KEPT_DOTS = 1.5e6, LAG_S = 0.15, JUMP = 0.05; // a longer way than this part of the map is a jump

class Map_ {
    constructor(page, changed, as) {
        Object.assign(this, { page, changed, frames: [], dots: 0, at: 0, tick: 0, title: "map", note: "", problem: "", isMap: true, frameMs: FRAME_MS, isGrowing: true, lag: LAG_S, waiting: "Waiting for positions" });
        this.box = null;
        this.names = new Map();
        page.api.all("templates", "templates").then((list) => { for (const each of list) this.names.set(each.id, each.name); changed(); }, () => {});
        this.look(as);
    }
    get isReady() { return this.frames.length > 0; }
    get first() { return this.frames[0]?.tick ?? 0; }
    get last() { return this.frames.at(-1)?.tick ?? 0; }
    look(as) {
        this.stop?.();
        this.frames = [];
        this.dots = 0;
        this.stop = this.page.api.positions({ hz: HZ, client: as || "" }, (frame) => this.hear(frame), (fault) => { this.problem = fault.message; });
    }
    hear(frame) {
        this.problem = "";
        this.note = frame.cut ? "cut: more entities than fit into the budget of a tick" : "";
        if (frame.isUp) for (let i = 1; i < frame.xyz.length; i += 3) frame.xyz[i] = -frame.xyz[i]; // a canvas counts downwards
        if (frame.tick < this.last) [this.frames, this.dots] = [[], 0]; // another match
        if (frame.tick === this.last && this.frames.length) this.frames.pop();
        this.frames.push(frame);
        this.dots += frame.count;
        const oldest = frame.tick - KEPT_S * (this.page.status?.tick_rate_hz ?? 60);
        while (this.frames.length > 1 && (this.frames[0].tick < oldest || this.dots > KEPT_DOTS)) this.dots -= this.frames.shift().count;
        if (!this.hues && frame.count) this.rank(frame);
        this.grow(frame);
        if (this.frames.length === 1) { this.tick = frame.tick; this.changed(); }
    }
    grow({ xyz, count: n }) { // the box of all that was seen; it never shrinks, so the map stands still
        const box = this.box ?? { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
        for (let i = 0; i < n * 3; i += 3) {
            const x = xyz[i], y = xyz[i + 1];
            if (x < box.left) box.left = x;
            if (x > box.right) box.right = x;
            if (y < box.top) box.top = y;
            if (y > box.bottom) box.bottom = y;
        }
        if (box.right >= box.left) this.box = box;
    }
    async seek(tick) { this.tick = Math.min(this.last, Math.max(this.first, tick)); }
    async advance(ticks) { this.tick = Math.min(this.last, Math.max(this.first, this.tick + ticks)); }
    async marks() { return []; }
    scopeOf(client) { return `what client ${client} has`; }
    pair() { // the frames around the shown tick
        let low = 0, high = this.frames.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.frames[middle].tick <= this.tick) low = middle;
            else high = middle - 1;
        }
        const a = this.frames[low], b = this.frames[Math.min(low + 1, this.frames.length - 1)];
        return { a, b, part: b.tick > a.tick ? Math.min(1, Math.max(0, (this.tick - a.tick) / (b.tick - a.tick))) : 0 };
    }
    async draw(canvas, as, camera) {
        const { context: c, width, height } = fit(canvas), colour = colours(), { a, b, part } = this.pair(), box = this.box;
        if (!box) return;
        const [w, hh] = [Math.max(1e-6, box.right - box.left), Math.max(1e-6, box.bottom - box.top)], scale = Math.min((width - 48) / w, (height - 72) / hh) * camera.zoom;
        const x0 = width / 2 + camera.x - (box.left + w / 2) * scale, y0 = height / 2 + 12 + camera.y - (box.top + hh / 2) * scale, jump = Math.max(w, hh) * JUMP;
        this.grid(c, box, scale, x0, y0, width, height, colour);
        const size = Math.round(2 * Math.max(1.6, Math.min(5, 90 / Math.sqrt(a.count + 60))) * Math.sqrt(camera.zoom)) / 2, kinds = new Set(), places = this.places = new Float32Array(a.count * 2);
        this.placed = a;
        for (let i = 0; i < a.count; i++) {
            let x = a.xyz[i * 3], y = a.xyz[i * 3 + 1];
            if (b.ids[i] === a.ids[i]) { // the order stays while none comes or goes
                const dx = b.xyz[i * 3] - x, dy = b.xyz[i * 3 + 1] - y;
                if (Math.abs(dx) + Math.abs(dy) < jump) { x += dx * part; y += dy * part; }
            }
            x = places[i * 2] = x0 + x * scale;
            y = places[i * 2 + 1] = y0 + y * scale;
            if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
            const kind = kindOf(a, i);
            kinds.add(kind);
            c.drawImage(this.dot(kind, size, colour), x - size - 1, y - size - 1, size * 2 + 2, size * 2 + 2);
        }
        this.legend(c, [...kinds].sort((p, q) => p - q), height, colour);
    }
    dot(kind, size, colour) { // drawn once: a picture is copied in a tenth of the time of an arc
        const key = [this.colourOf(kind), size, colour.accent].join();
        if (this.dots_key !== size + colour.accent) [this.dots_key, this.images] = [size + colour.accent, new Map()];
        let image = this.images.get(key);
        if (image) return image;
        const scale = devicePixelRatio || 1, side = size * 2 + 2;
        this.images.set(key, image = new OffscreenCanvas(Math.ceil(side * scale), Math.ceil(side * scale)));
        const c = image.getContext("2d");
        c.scale(image.width / side, image.height / side);
        c.fillStyle = colour.data[this.colourOf(kind)];
        c.arc(side / 2, side / 2, size, 0, 7);
        c.fill();
        return image;
    }
    colourOf(kind) { return this.hues?.get(kind) ?? 7; }
    rank(frame) { // teams in their order, so that a team keeps its colour; then seven colours for those of which there are most at the begin, grey for the others
        const many = new Map();
        for (let i = 0; i < frame.count; i++) many.set(kindOf(frame, i), (many.get(kindOf(frame, i)) ?? 0) + 1);
        this.hues = new Map([...many].sort((p, q) => (q[0] < 0) - (p[0] < 0) || (p[0] < 0 ? q[0] - p[0] : q[1] - p[1])).slice(0, 7).map(([kind], i) => [kind, i]));
    }
    grid(c, box, scale, x0, y0, width, height, colour) {
        const step = 10 ** Math.ceil(Math.log10(60 / scale));
        c.fillStyle = colour.line;
        c.globalAlpha = 0.6;
        for (let x = Math.ceil(-x0 / scale / step) * step; x * scale + x0 < width; x += step) c.fillRect(Math.round(x * scale + x0), 0, 1, height);
        for (let y = Math.ceil(-y0 / scale / step) * step; y * scale + y0 < height; y += step) c.fillRect(0, Math.round(y * scale + y0), width, 1);
        c.globalAlpha = 1;
    }
    legend(c, kinds, height, colour) {
        c.font = "11px " + getComputedStyle(document.body).fontFamily;
        c.textBaseline = "middle";
        c.textAlign = "left";
        let y = height - 16 - (Math.min(kinds.length, 10) - 1) * 17;
        for (const kind of kinds.slice(0, 10)) {
            c.fillStyle = colour.data[this.colourOf(kind)];
            c.beginPath();
            c.arc(18, y, 4, 0, 7);
            c.fill();
            c.fillStyle = colour.soft;
            c.fillText(kind < 0 ? "team " + -kind : this.names.get(kind) ?? "template " + kind, 28, y + 0.5);
            y += 17;
        }
    }
    hint(x, y) {
        let best = -1, near = 12 * 12;
        for (let i = 0; this.places && i < this.placed.count; i++) {
            const far = (this.places[i * 2] - x) ** 2 + (this.places[i * 2 + 1] - y) ** 2;
            if (far < near) { near = far; best = i; }
        }
        if (best < 0) return null;
        const { ids, templates, xyz, isUp } = this.placed, handle = handleText(ids[best]), at = (k) => count(Math.round(xyz[best * 3 + k] * (k === 1 && isUp ? -10 : 10)) / 10);
        return { entity: handle, text: `${handle}  ${this.names.get(templates[best]) ?? ""}\n${at(0)}, ${at(1)}` };
    }
    close() { this.stop(); }
}

// What gives a dot its colour: its team, as a number below 0, or its template.
const kindOf = (frame, i) => -frame.teams[i] || frame.templates[i];

// A handle as the server writes it: the index, then the generation.
const handleText = (handle) => `${handle & 0x3fffff}:${handle >>> 22}`;

export const openMap = (page, changed, as) => new Map_(page, changed, as);
