// SPDX-License-Identifier: MIT
// A player: GAME.wasm (client/web/play.c) with a WebSocket of this page. In a browser, and in node for tests.
//
//     const player = await Player.open("/game/arena.wasm", {urls: ["ws://127.0.0.1:7780/play/socket"], name: "Ann"});
//     const seen = player.frame(performance.now(), scale);     // each picture: {phase, end, client, tick, words, heard}
//     player.action(2, true); player.pointer({x, y}, event); player.sticks(mx, my, ax, ay); player.say("hello");
import {Match} from "./game.js";
import {letterWidths} from "./paint.js";

const LETTER_FIRST = 32;
const CLOSE_REASON = 4000; // of a close frame: the reason is in its text
const FIRST_TRIES = 4, TRY_AGAIN_MS = 1000; // a line that loses packets may break the very first connection
const ATTEMPT_MS = 3000; // for a first word, where there are others to ask
const KIND_REALTIME = 1;
export const CONNECTING = 0, GREETING = 1, PLAYING = 2, RESUMING = 3, ENDED = 4;
export const END_GOODBYE = 1, END_LEFT = 2, END_LOST = 3, END_UNREACHABLE = 4, END_EXCHANGED = 6, END_TRANSFERRED = 7;

export class Player extends Match {
    static async open(source, options) {
        if (typeof source === "string" || source instanceof URL) {
            const answer = await fetch(source);
            if (!answer.ok) throw new Error(answer.status === 404 ? "the server has no game for browsers: scripts/web builds it" : `${source}: ${answer.status}`);
            source = await answer.arrayBuffer();
        }
        const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
        return new Player(module, options);
    }

    constructor(module, {urls, name, token = "", secret = null}) {
        const line = {};
        super(module, letterWidths(LETTER_FIRST), {
            socket_open: () => line.player.connect(),
            socket_send: (at, size) => line.player.send(at, size),
            socket_close: (reason) => line.player.disconnect(reason >>> 0),
            socket_waiting: () => line.player.socket?.bufferedAmount ?? 0,
        });
        line.player = this;
        this.urls = urls; // of the match's servers: one of them has the session
        this.home = 0; // where the match was last
        this.next = 0;
        this.socket = null;
        this.onmessage = null; // after each message
        this.game = this.about; // its title and view
        this.about = () => this.json(this.call("play_about")) ?? {};
        this.tables = this.json(this.call("play_tables"));
        const texts = new TextEncoder().encode(`${name.replaceAll("\0", "")}\0${token}\0`);
        const bytes = new Uint8Array(texts.length + (secret?.length ?? 0));
        bytes.set(texts);
        if (secret) bytes.set(secret, texts.length);
        this.put(bytes);
        const begun = this.call("play_begin");
        if (!begun || begun.result !== 0) throw new Error(this.state(begun).error);
    }

    put(bytes) { new Uint8Array(this.memory.buffer, this.wasm.room(this.self, bytes.length), bytes.length).set(bytes); }

    // ---- the connection: events of one that was replaced are ignored ----

    connect() {
        this.tries = (this.tries ?? 0) + 1;
        this.left = this.urls.length; // to ask
        this.ask();
    }

    ask() {
        clearTimeout(this.waits);
        const at = this.next, socket = this.socket = new WebSocket(this.urls[at]);
        const is_current = () => this.socket === socket && !this.dead;
        this.left--;
        this.next = (at + 1) % this.urls.length;
        socket.binaryType = "arraybuffer";
        socket.onopen = () => {
            if (!is_current()) return;
            this.tries = FIRST_TRIES;
            this.call("socket_opened");
        };
        socket.onmessage = ({data}) => {
            if (!is_current() || !(data instanceof ArrayBuffer)) return;
            const bytes = new Uint8Array(data);
            clearTimeout(this.waits);
            this.left = 0;
            if (bytes[0] === KIND_REALTIME) this.next = this.home = at;
            this.put(bytes);
            this.call("socket_received");
            this.onmessage?.();
        };
        const closed = ({code, reason}) => {
            if (!is_current()) return;
            this.socket = null;
            if (code !== CLOSE_REASON && this.left > 0)
                this.ask();
            else if (code !== CLOSE_REASON && this.tries < FIRST_TRIES)
                this.waits = setTimeout(() => this.dead || this.connect(), TRY_AGAIN_MS);
            else
                this.call("socket_closed", code === CLOSE_REASON && /^[0-9]{1,10}$/.test(reason) ? Number(reason) : 0);
        };
        socket.onclose = closed;
        socket.onerror = () => closed({code: 0}); // no close follows in node 20
        if (this.left > 0) this.waits = setTimeout(() => { socket.close(); closed({code: 0}); }, ATTEMPT_MS);
    }

    send(at, size) {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(new Uint8Array(this.memory.buffer, at, size).slice());
    }

    disconnect(reason) {
        this.tries = FIRST_TRIES;
        this.left = 0;
        if (this.socket) return this.socket.close(CLOSE_REASON, String(reason));
        clearTimeout(this.waits);
        this.waits = setTimeout(() => this.dead || this.call("socket_closed", 0));
    }

    // ---- the person ----

    action(index, is_down) { this.call("play_action", index, is_down ? 1 : 0); }

    /// The pointer in view coordinates, {x, y}; null: it left the picture. `buttons` as of a PointerEvent.
    pointer(place, {buttons = 0, shiftKey = false, ctrlKey = false, altKey = false} = {}) {
        const bits = (buttons & 1) | (buttons & 4 ? 2 : 0) | (buttons & 2 ? 4 : 0); // left, middle, right
        this.call("play_pointer", place?.x ?? 0, place?.y ?? 0, bits, shiftKey | ctrlKey << 1 | altKey << 2, place ? 1 : 0);
    }

    wheel(steps) { this.call("play_wheel", steps); }

    sticks(move_x, move_y, aim_x, aim_y) { this.call("play_sticks", move_x, move_y, aim_x, aim_y); }

    say(text) {
        this.put(new TextEncoder().encode(text));
        this.call("play_say");
    }

    // ---- what comes of it ----

    /// Receive, play, and draw where `scale`, the pixels of a unit, is not 0, each text at least `textPixels` high, in the upright view or the other. `words` is borrowed until the next call.
    frame(now_ms, scale, textPixels = 0, isUpright = false) {
        const seen = this.call("play_frame", now_ms, scale, textPixels, Number(isUpright));
        if (!seen) return {phase: ENDED, end: 0, client: 0, tick: 0, words: null, heard: [], error: this.dead};
        const heard = [];
        const pairs = new Float32Array(this.memory.buffer, seen.heard, seen.heardCount * 2);
        for (let i = 0; i < pairs.length; i += 2) heard.push({sound: pairs[i], volume: pairs[i + 1]});
        const words = seen.isReady ? new Uint32Array(this.memory.buffer, seen.calls, seen.callsBytes / 4) : null;
        const {error, warnings} = this.state(seen);
        return {phase: seen.phase, end: seen.end, client: seen.client, tick: seen.tick, words, count: seen.callCount, heard, error, warnings};
    }

    line() {
        const seen = this.call("play_line");
        return seen ? this.text(seen.answer, seen.answerBytes) : "";
    }

    leave(now_ms) { this.call("play_leave", now_ms); }

    /// The secret with which another page goes on.
    secret() {
        const seen = this.call("play_secret");
        return seen?.answerBytes ? new Uint8Array(this.memory.buffer, seen.answer, seen.answerBytes).slice() : null;
    }
}
