// SPDX-License-Identifier: MIT
// The server's answers: requests, streams that come back after a restart, and what the connection is like.
//
// The token of the link (#token=) stays in this module's memory: it goes into the header Authorization and nowhere else.
// That is why streams are read by fetch: EventSource sends no header.

export class Refusal extends Error { // the server's own sentence, or ours when no server answers
    constructor(sentence, status) {
        super(sentence);
        this.status = status;
    }
}

const TIMEOUT_MS = 8000, RETRY_MS = 400, RETRY_MS_MAX = 4000;
let token = "";
export const events = new EventTarget(); // "state": connecting, live, slow, lost, refused
export let state = "connecting";

export function setToken(text) { token = text; }
export const hasToken = () => token !== "";

function setState(next, why) {
    if (state === next) return;
    state = next;
    events.dispatchEvent(new CustomEvent("state", { detail: { state: next, why } }));
}

async function ask(path, options = {}) {
    const headers = { ...options.headers };
    if (token) headers.Authorization = "Bearer " + token;
    let response;
    try {
        response = await fetch(path, { cache: "no-store", ...options, headers });
    } catch (fault) {
        if (options.signal?.aborted && options.signal.reason?.name !== "TimeoutError") throw fault;
        throw new Refusal(fault.name === "TimeoutError" ? "The server did not answer in time." : "No server answers at " + location.host + ".", 0);
    }
    if (response.ok) return response;
    let sentence = `The server answered ${response.status}.`;
    try {
        sentence = (await response.json()).error ?? sentence;
    } catch { /* not JSON: the number says it */ }
    if (response.status === 401) setState("refused", sentence);
    throw new Refusal(sentence.charAt(0).toUpperCase() + sentence.slice(1), response.status);
}

const query = (values) => {
    const list = Object.entries(values ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return list.length ? "?" + new URLSearchParams(list) : "";
};

export async function get(name, values, signal) {
    const limits = [AbortSignal.timeout(TIMEOUT_MS), signal].filter(Boolean);
    return (await ask("/api/v1/" + name + query(values), { signal: AbortSignal.any(limits) })).json();
}

// A whole list, in as many answers as it takes.
export async function all(name, key) {
    const list = [];
    for (let after = "", i = 0; i < 64; i++) {
        const answer = await get(name, { after });
        list.push(...answer[key] ?? []);
        if (!answer.cut || !answer.next) break;
        after = answer.next;
    }
    return list;
}

export async function post(verb, values) {
    return (await ask("/api/v1/" + verb, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values),
        signal: AbortSignal.timeout(TIMEOUT_MS),
    })).json();
}

export const bytesOf = (path, signal) => ask(path, { signal });

const rest = (ms, signal) => new Promise((done) => {
    const end = () => { clearTimeout(timer); signal?.removeEventListener("abort", end); done(); };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
});

// Asks again and again while the page is in sight; one request at a time. @return a function that ends it, with .now().
export function poll(every_ms, job, failed) {
    const control = new AbortController();
    let wake = () => {};
    (async () => {
        while (!control.signal.aborted) {
            if (!document.hidden) {
                try {
                    await job(control.signal);
                } catch (fault) {
                    if (!control.signal.aborted) failed?.(fault);
                }
            }
            await Promise.race([rest(every_ms, control.signal), new Promise((done) => { wake = done; })]);
        }
    })();
    return Object.assign(() => { control.abort(); wake(); }, { now: () => wake() });
}

// Reads a body that does not end. `part(bytes)` gets what came; after its end the stream is asked for again.
function follow(path, part, began, failed) {
    const control = new AbortController();
    (async () => {
        let wait = RETRY_MS, is_refused = false; // by a right or a fault of ours: that does not change by asking again
        while (!control.signal.aborted) {
            const one = new AbortController(); // silence ends this attempt, the caller all of them
            const stop = () => one.abort();
            control.signal.addEventListener("abort", stop, { once: true });
            let timer = setTimeout(stop, TIMEOUT_MS);
            try {
                const body = (await ask(path(), { signal: one.signal })).body.getReader();
                began();
                for (;;) {
                    const { value, done } = await body.read();
                    if (done) break;
                    clearTimeout(timer);
                    timer = setTimeout(stop, TIMEOUT_MS);
                    wait = RETRY_MS;
                    part(value);
                }
                if (!control.signal.aborted) failed(new Refusal("The server closed the connection.", 0));
            } catch (fault) {
                is_refused = [400, 403, 409].includes(fault.status);
                if (!control.signal.aborted) failed(fault instanceof Refusal ? fault : new Refusal("The connection to the server was lost.", 0));
            }
            clearTimeout(timer);
            control.signal.removeEventListener("abort", stop);
            if (is_refused) return;
            await rest(wait, control.signal);
            wait = Math.min(wait * 1.6, RETRY_MS_MAX);
        }
    })();
    return () => control.abort();
}

// Server-sent events: `heard(name, data)` for each.
export function listen(of, heard) {
    const decoder = new TextDecoder();
    let text = "";
    return follow(() => "/api/v1/events?of=" + of, (part) => {
        text += decoder.decode(part, { stream: true });
        for (let end; (end = text.search(/\r?\n\r?\n/)) >= 0;) {
            const block = text.slice(0, end);
            text = text.slice(end).replace(/^\r?\n\r?\n/, "");
            const name = /^event: ?(.*)$/m.exec(block)?.[1].trim(), data = /^data: ?(.*)$/m.exec(block)?.[1];
            if (name && data) heard(name, JSON.parse(data));
        }
    }, () => { text = ""; setState("live"); }, (fault) => setState(fault.status === 401 ? "refused" : "lost", fault.message));
}

// Positions: `heard({tick, cut, isUp, count, ids, templates, teams, xyz})`, arrays of their own for each frame.
export function positions(values, heard, failed) {
    let held = new Uint8Array(0);
    return follow(() => "/api/v1/positions" + query(values), (part) => {
        const whole = new Uint8Array(held.length + part.length);
        whole.set(held);
        whole.set(part, held.length);
        const view = new DataView(whole.buffer);
        let at = 0;
        while (whole.length - at >= 4) {
            const size = view.getUint32(at, true);
            if (whole.length - at - 4 < size) break;
            heard(frame(view, at + 4, size));
            at += 4 + size;
        }
        held = whole.slice(at);
    }, () => { held = new Uint8Array(0); }, failed);
}

function frame(view, at, size) {
    const count = Math.floor((size - 12) / 20);
    const ids = new Uint32Array(count), templates = new Uint16Array(count), teams = new Uint16Array(count), xyz = new Float32Array(count * 3);
    for (let i = 0, from = at + 12; i < count; i++, from += 20) {
        ids[i] = view.getUint32(from, true);
        templates[i] = view.getUint16(from + 4, true);
        teams[i] = view.getUint16(from + 6, true);
        for (let k = 0; k < 3; k++) xyz[i * 3 + k] = view.getFloat32(from + 8 + k * 4, true);
    }
    return { tick: Number(view.getBigUint64(at, true)), cut: (view.getUint32(at + 8, true) & 1) !== 0, isUp: (view.getUint32(at + 8, true) & 2) !== 0, count, ids, templates, teams, xyz };
}
