// SPDX-License-Identifier: MIT
// A match in a page: GAME.wasm (client/web) plays a log that the page feeds, and the game draws itself.
//
//     const game = await Game.open("/game/arena.wasm");
//     let s = await game.feed(bytes);             // more of the log, again and again
//     s = await game.seek(120.5);                 // show a moment; also s = await game.advance(ticks)
//     await game.draw(canvas.getContext("2d"), canvas.width, canvas.height, {as: 3}); // what client 3 has
//
// Each call answers a state: {error, warnings, isReady, isDead, tick, first, last, isClosed, bytes, bytesUsed}. What
// bytes hold never rejects a promise. This file is also the worker in which the match runs.
import {paint, letterWidths} from "./paint.js";

const NUMBERS = ["result", "isReady", "tick", "first", "last", "isClosed", "bytesUsed", "answer", "answerBytes", "news",
    "newsBytes", "calls", "callsBytes", "callCount", "phase", "end", "client", "heard", "heardCount"];
const LETTER_FIRST = 32;
const ENTITY_NONE = 0;

/// The files of a log that came so far.
class Files {
    constructor() {
        this.files = [];
        this.total = 0;
    }

    add(bytes, isSegment) {
        if (isSegment || this.files.length === 0) this.files.push({data: new Uint8Array(0), size: 0});
        const file = this.files[this.files.length - 1];
        const size = file.size + bytes.length;
        if (size > file.data.length) {
            const data = new Uint8Array(file.size === 0 ? size : Math.max(size, Math.min(file.data.length * 2, size + (64 << 20))));
            data.set(file.data.subarray(0, file.size));
            file.data = data;
        }
        file.data.set(bytes, file.size);
        file.size = size;
        this.total += bytes.length;
    }
}

/// The match itself: calls of the wasm, one after the other, without promises.
export class Match {
    constructor(module, widths, more = {}) {
        this.more = more;
        this.files = new Files();
        this.stderr = "";
        this.dead = null;
        const instance = new WebAssembly.Instance(module, this.imports(module));
        this.wasm = instance.exports;
        this.memory = this.wasm.memory;
        this.wasm._initialize();
        this.self = this.wasm.open();
        if (!this.self) throw new Error("no memory for a match");
        const open = this.look();
        if (open.result !== 0) throw new Error(this.text(open.news, open.newsBytes) || "the game cannot be used");
        this.about = JSON.parse(this.text(open.answer, open.answerBytes));
        if (widths) new Float32Array(this.memory.buffer, this.wasm.widths(this.self), widths.length).set(widths);
        this.markCount = 0;
    }

    imports(module) {
        const bytes = (at, size) => new Uint8Array(this.memory.buffer, at, size);
        const words = (at) => new DataView(this.memory.buffer, at);
        const known = {
            shoal: {
                file_count: () => Math.max(this.files.files.length, 1),
                file_bytes: (file) => this.files.files[file]?.size ?? 0,
                file_read: (file, offset, at, size) => {
                    bytes(at, size).set(this.files.files[file].data.subarray(offset, offset + size));
                },
                now_ms: () => performance.now(),
                ...this.more, // of one who plays (play.js)
            },
            wasi_snapshot_preview1: {
                proc_exit: () => {
                    throw new Error(this.stderr || "the match ended itself");
                },
                fd_write: (fd, at, count, written) => {
                    let total = 0;
                    for (let i = 0; i < count; i++) {
                        const size = words(at + i * 8 + 4).getUint32(0, true);
                        this.stderr += this.text(words(at + i * 8).getUint32(0, true), size);
                        total += size;
                    }
                    this.stderr = this.stderr.slice(-1000);
                    words(written).setUint32(0, total, true);
                    return 0;
                },
            },
        };
        const made = {};
        for (const {module: from, name} of WebAssembly.Module.imports(module)) {
            made[from] ??= {};
            made[from][name] = known[from]?.[name] ?? (() => 52); // WASI's "not supported"
        }
        return made;
    }

    text(at, size) {
        return new TextDecoder().decode(new Uint8Array(this.memory.buffer, at, size));
    }

    look() {
        const numbers = new Float64Array(this.memory.buffer, this.self, NUMBERS.length);
        return Object.fromEntries(NUMBERS.map((name, i) => [name, numbers[i]]));
    }

    /// Call an export. @return its numbers, or null when it trapped: the match is over then.
    call(name, ...values) {
        if (this.dead) return null;
        try {
            this.wasm[name](this.self, ...values);
            return this.look();
        } catch (fault) {
            this.dead = `the match in this page failed: ${this.stderr.trim() || fault.message}`;
            return null;
        }
    }

    state(seen) {
        if (!seen) return {error: this.dead, warnings: [], isReady: false, isDead: true, tick: 0, first: 0, last: 0,
            isClosed: false, bytes: this.files.total, bytesUsed: 0};
        const news = this.text(seen.news, seen.newsBytes).split("\n").filter((line) => line !== "");
        let error = null;
        if (seen.result !== 0) error = news.join("; ") || this.resultText(seen.result);
        return {error, warnings: error ? [] : news, isReady: seen.isReady === 1, isDead: false, tick: seen.tick,
            first: seen.first, last: seen.last, isClosed: seen.isClosed === 1, bytes: this.files.total,
            bytesUsed: seen.bytesUsed};
    }

    resultText(result) {
        const at = this.wasm.text(result), bytes = new Uint8Array(this.memory.buffer, at);
        return this.text(at, bytes.indexOf(0));
    }

    json(seen) {
        return seen && seen.answerBytes > 0 ? JSON.parse(this.text(seen.answer, seen.answerBytes)) : null;
    }

    // ---- what a page calls: each answers [state, value] ----

    feed(bytes, isSegment) {
        this.files.add(bytes, isSegment);
        const seen = this.call("feed");
        const state = this.state(seen);
        return [state, state.isReady ? this.json(this.call("info")) : null];
    }

    seek(tick) {
        return [this.state(this.call("seek", tick)), null];
    }

    advance(ticks) {
        return [this.state(this.call("advance", ticks)), null];
    }

    calls(client, pixelsPerUnit) {
        const seen = this.call("draw", client, pixelsPerUnit);
        const words = seen ? new Uint32Array(this.memory.buffer, seen.calls, seen.callsBytes / 4) : new Uint32Array(0);
        return [this.state(seen), {words, count: seen ? seen.callCount : 0}];
    }

    marks() {
        const seen = this.call("marks", this.markCount), more = this.json(seen) ?? [];
        this.markCount += more.length;
        return [this.state(seen), more];
    }

    players() {
        const seen = this.call("players");
        return [this.state(seen), this.json(seen) ?? []];
    }

    dump(index, generation) {
        const seen = this.call("dump", index, generation);
        return [this.state(seen), seen ? this.text(seen.answer, seen.answerBytes) : ""];
    }

    verify(ms) {
        const seen = this.call("verify", ms), state = this.state(seen);
        return [state, {...(this.json(seen) ?? {isDone: true}), error: state.error}];
    }

    /// The game's pictures as files, by name.
    pictures() {
        const files = [];
        for (let seen; (seen = this.call("picture", files.length)) && seen.answerBytes > 0;)
            files.push([this.json(seen), new Uint8Array(this.memory.buffer, seen.calls, seen.callsBytes).slice()]);
        return [null, files];
    }
}

// ---- the lines of a dump ----

// "entity=5:1 template=ball component=pos type=p2 value=600,700"
function readLine(line) {
    const value = line.indexOf(" value=");
    const found = {value: value < 0 ? "" : line.slice(value + 7)};
    for (const part of (value < 0 ? line : line.slice(0, value)).split(" ")) {
        const at = part.indexOf("=");
        if (at > 0) found[part.slice(0, at)] = part.slice(at + 1);
    }
    return found;
}

function readEntities(text, position) {
    const entities = [];
    let last = null;
    for (const line of text.split("\n")) {
        if (!line.startsWith("entity=")) continue;
        const seen = readLine(line);
        if (!last || last.entity !== seen.entity) {
            last = {entity: seen.entity, template: seen.template};
            entities.push(last);
        }
        if (seen.component !== position) continue;
        const numbers = seen.value.split(/[^-+.0-9e]+/).filter((number) => number !== "").map(Number);
        [last.x, last.y] = numbers;
        if (numbers.length > 2) last.z = numbers[2];
    }
    return entities;
}

function readEntity(text) {
    let found = null;
    for (const line of text.split("\n")) {
        if (!line.startsWith("entity=")) continue;
        const seen = readLine(line);
        found ??= {entity: seen.entity, template: seen.template, components: []};
        if (seen.component) found.components.push({name: seen.component, type: seen.type, value: seen.value});
    }
    return found;
}

// ---- the page's side ----

// The match in this thread, or in a worker: `ask` answers a promise of [state, value].
function askHere(match) {
    return (name, ...values) => Promise.resolve(match[name](...values));
}

function askWorker(worker) {
    const waiting = new Map();
    let number = 0;
    const end = (why) => {
        const state = {error: why, warnings: [], isReady: false, isDead: true, tick: 0, first: 0, last: 0,
            isClosed: false, bytes: 0, bytesUsed: 0};
        for (const answer of waiting.values()) answer([state, null]);
        waiting.clear();
    };
    worker.onmessage = ({data}) => {
        waiting.get(data.number)?.(data.answer);
        waiting.delete(data.number);
    };
    worker.onerror = (fault) => end(`the match's worker failed: ${fault.message || "it could not be loaded"}`);
    return (name, ...values) => new Promise((answer) => {
        waiting.set(++number, answer);
        worker.postMessage({number, name, values});
    });
}

/// Where a view lies on a canvas: {left, top, scale, clip}. (x, y) of the view is at left + x * scale.
export function placeView({viewWidth, viewHeight}, width, height, camera = null) {
    const fit = Math.min(width / viewWidth, height / viewHeight);
    const left = Math.floor((width - viewWidth * fit) / 2), top = Math.floor((height - viewHeight * fit) / 2);
    const clip = {left, top, width: Math.ceil(viewWidth * fit), height: Math.ceil(viewHeight * fit)};
    if (!camera) return {left, top, scale: fit, clip};
    const scale = fit * camera.zoom;
    return {left: width / 2 - camera.x * scale, top: height / 2 - camera.y * scale, scale, clip};
}

async function compile(source) {
    source = await source;
    if (source instanceof WebAssembly.Module) return source;
    if (typeof source !== "string" && !(source instanceof URL)) return WebAssembly.compile(source);
    const answer = await fetch(source);
    if (!answer.ok) throw new Error(`${source}: ${answer.status} ${answer.statusText}`);
    return WebAssembly.compile(await answer.arrayBuffer());
}

export class Game {
    /// Load a game. Rejects when there is none, or the browser cannot run it.
    static async open(source, {worker = typeof Worker !== "undefined"} = {}) {
        const game = new Game(), module = await compile(source), widths = letterWidths(LETTER_FIRST);
        if (worker) {
            game.worker = new Worker(import.meta.url, {type: "module"});
            game.ask = askWorker(game.worker);
        } else {
            game.ask = askHere(new Match(module, widths));
        }
        const [state, about] = worker ? await game.ask("open", module, widths) : await game.ask("open");
        if (!about) throw new Error(state.error);
        Object.assign(game, about);
        const [, files] = await game.ask("pictures");
        for (const [name, bytes] of files) game.images.set(name, await picture(bytes));
        return game;
    }

    constructor() {
        this.info = null;
        this.images = new Map();
        this.allMarks = [];
    }

    /// Bytes of the log that follow those before; with `segment` they begin its next file.
    async feed(bytes, {segment = false} = {}) {
        const [state, info] = await this.ask("feed", bytes, segment);
        if (info) this.info = info;
        return state;
    }

    async seek(tick) {
        return (await this.ask("seek", tick))[0];
    }

    async advance(ticks) {
        return (await this.ask("advance", ticks))[0];
    }

    /// All marks of the timeline so far, by rising tick.
    async marks() {
        this.allMarks.push(...(await this.ask("marks"))[1]);
        return this.allMarks;
    }

    async players() {
        return (await this.ask("players"))[1];
    }

    async entities() {
        return readEntities((await this.ask("dump", ENTITY_NONE, ENTITY_NONE))[1], this.position);
    }

    async inspect(entity) {
        const [index, generation] = entity.split(":").map(Number);
        return readEntity((await this.ask("dump", index, generation))[1]);
    }

    async verify({ms = 20} = {}) {
        return (await this.ask("verify", ms))[1];
    }

    place(width, height, camera) { return placeView(this, width, height, camera); }

    /// Draw the shown moment with the game's own drawing.
    async draw(context, width, height, {as = 0, camera = null} = {}) {
        const placed = this.place(width, height, camera);
        const [state, {words, count}] = await this.ask("calls", as, placed.scale);
        const from = performance.now();
        paint(context, words, placed, this.images);
        return {calls: count, us: Math.round((performance.now() - from) * 1000), error: state.error};
    }

    close() {
        this.worker?.terminate();
        this.ask = () => Promise.resolve([{error: "the game is closed", isDead: true}, null]);
    }
}

async function picture(bytes) {
    try {
        return await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    } catch {
        return null; // drawn as squares
    }
}

// ---- the worker's side ----

function isWorker() {
    return typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope;
}

function serve() {
    let match = null;
    self.onmessage = ({data: {number, name, values}}) => {
        let answer;
        try {
            if (name === "open") match = new Match(values[0], values[1]);
            answer = name === "open" ? [null, match.about] : match[name](...values);
            if (name === "calls") answer[1].words = answer[1].words.slice();
        } catch (fault) {
            answer = [{error: fault.message, isDead: true}, null];
        }
        self.postMessage({number, answer}, name === "calls" && answer[1] ? [answer[1].words.buffer] : []);
    };
}

Match.prototype.open = function open() {
    return [null, this.about];
};

if (isWorker()) serve();
