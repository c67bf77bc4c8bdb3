// SPDX-License-Identifier: MIT
// A match in a page with a picture of its own: the worlds of GAME.wasm for three.js, Phaser, any code (README.md).
const [RESULT, IS_READY, TICK, FIRST, LAST,,, ANSWER, ANSWER_BYTES, NEWS, NEWS_BYTES,,,, PHASE, END, CLIENT] = Array(17).keys();
const PHASES = ["connecting", "greeting", "playing", "resuming", "ended"];
const ENDS = [null, "goodbye", "left", "lost", "unreachable", "refused", "exchanged", "transferred"];
const NEWEST = 0, SHOWN = 1, LOG = 2, OPTIONAL = 2 ** 31; // worlds; of a term
const REALTIME = 1, CLOSED = 4000; // of a message; of a close frame
const TRIES = 4, RETRY_MS = 1000, ATTEMPT_MS = 3000, WAIT_MS = 4, HIDDEN_MS = 100, AGAIN_MS = 30000;
const SENT = [], SENT_MAX = 6, SENT_MS = 60000; // transfers
const fail = (text) => { throw new Error(text); };
const bytesOf = (text) => new TextEncoder().encode(text), textOf = (bytes) => new TextDecoder().decode(bytes);

function getter({kind, kindNumber}, at) { // the frequent ones apart
  const made = kind === "bool" ? Boolean : Number;
  if (kind === "f32") return function () { return this.of.core.data.getFloat32(this.of.at + at, true); };
  if (kind === "u32" || kind === "entity") return function () { return this.of.core.word(this.of.at + at); };
  return function () { return made(this.of.core.wasm.read_number(kindNumber, this.of.at + at)); };
}

/// A field with several values; x, y, z, w are the first ones.
function listOf(field) {
  const {offset, bytes, count} = field, reads = Array.from({length: count}, (_, i) => getter(field, offset + i * bytes));
  const made = {length: count, at(i) { return reads[i]?.call(this); }, toJSON() { return reads.map((read) => read.call(this)); }};
  reads.slice(0, 4).forEach((get, i) => Object.defineProperty(made, "xyzw"[i], {get}));
  return made;
}

class Shape {
  constructor(described, number) {
    const {fields} = Object.assign(this, described, {number, lists: []});
    this.byName = new Map(fields.map((field) => [field.name, field]));
    this.proto = {toJSON() { return Object.fromEntries(fields.map(({name}) => [name, this[name].toJSON?.() ?? this[name]])); }};
    for (const field of fields)
      if (field.count > 1) this.lists.push([field.name, listOf(field)]);
      else Object.defineProperty(this.proto, field.name, {get: getter(field, field.offset)});
  }

  view(of) {
    const made = Object.assign(Object.create(this.proto), {of});
    for (const [name, proto] of this.lists) made[name] = Object.assign(Object.create(proto), {of});
    return made;
  }

  /// Write the nearest that the fields can hold.
  write(core, at, values) {
    for (const name in values) {
      const {kindNumber, offset, bytes, count} = core.find(`field of ${this.name}`, name, this.byName), given = values[name];
      const all = count === 1 ? [given] : typeof given === "string" ? bytesOf(given).subarray(0, count) : given;
      if (all.length > count) fail(`field '${name}' of ${this.name} has ${count} values, not ${all.length}`);
      for (let i = 0; i < count; i++) core.call("read_put", at + offset + i * bytes, kindNumber, Number(all[i] ?? 0));
    }
  }
}

async function ask(url, options) {
  const answer = await fetch(url, options).catch(() => fail(`${url}: no answer, or not of the page's origin`));
  if (!answer.ok) fail(`${url}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
  return answer;
}

/// A module, its bytes, or where it is.
async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  return typeof source === "string" || source instanceof URL ? WebAssembly.compileStreaming(ask(source)) : WebAssembly.compile(source);
}

class Core {
  constructor(module, imports) {
    let said = "";
    const known = {file_count: () => 1, file_bytes: () => 0, now_ms: () => performance.now(), socket_waiting: () => 0, ...imports,
      proc_exit: () => fail(said || "it ended itself"),
      fd_write: (fd, at, count, written) => {
        let total = 0;
        for (this.look(); count-- > 0; at += 8) {
          said += this.text(this.word(at), this.word(at + 4));
          total += this.word(at + 4);
        }
        this.data.setUint32(written, total, true);
        return 0;
      }};
    const made = {};
    for (const {module: from, name} of WebAssembly.Module.imports(module)) (made[from] ??= {})[name] = known[name] ?? (() => 52); // "not supported"
    this.wasm = new WebAssembly.Instance(module, made).exports;
    this.call("_initialize");
    this.self = this.call("open");
    this.check();
  }

  look() { // memory grew: another buffer
    const {buffer} = this.wasm.memory;
    if (this.data?.buffer === buffer) return;
    this.data = new DataView(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  call(name, ...values) {
    if (this.dead) fail(this.dead);
    try {
      return this.wasm[name](this.self, ...values);
    } catch (fault) {
      fail(this.dead = `the match in this page failed: ${fault.message}`);
    } finally {
      this.look();
    }
  }

  /// Lines for a person; the last call failed: an error of them.
  check() {
    const lines = this.text(this.number(NEWS), this.number(NEWS_BYTES)).split("\n").filter(Boolean), result = this.number(RESULT);
    if (result === 0) return lines;
    const at = this.wasm.text(result);
    fail(lines.join("; ") || this.text(at, this.bytes.indexOf(0, at) - at));
  }

  number(index) { return this.data.getFloat64(this.self + index * 8, true); }
  word(at) { return this.data.getUint32(at, true); }

  slice(at, size) {
    this.look();
    return this.bytes.slice(at, at + size);
  }

  text(...place) { return textOf(this.slice(...place)); }

  ask(...call) {
    this.call(...call);
    return this.slice(this.number(ANSWER), this.number(ANSWER_BYTES));
  }

  words(...call) { return textOf(this.ask(...call)); }
  json(...call) { return JSON.parse(this.words(...call) || "null"); }

  /// A component, a message, or a field of one.
  find(kind, name, map = this.shapes[kind]) {
    if (map.has(name)) return map.get(name);
    this.put(bytesOf([name, ...map.keys(), ""].join("\0")));
    fail(`the game has no ${kind} '${name}'${this.words("read_nearest") || `: there are ${[...map.keys()]}`}`);
  }

  /// Zeroed bytes for the next call.
  room(size) {
    const at = this.call("room", size);
    this.bytes.fill(0, at, at + size);
    return at;
  }

  put(bytes) {
    const at = this.room(bytes.length); // before bytes is read
    this.bytes.set(bytes, at);
  }

  read(which) {
    const {components, messages} = this.schema = this.json("read_schema", which);
    this.messages = messages.map((each, i) => new Shape(each, i + 1));
    this.shapes = {component: new Map(), input: new Map(), "message to the server": new Map(), "message to clients": new Map()};
    for (const shape of [...components.map((each, i) => new Shape(each, i + 1)), ...this.messages]) this.shapes[shape.kind].set(shape.name, shape);
  }
}

/// A component in a walk.
class Term {
  constructor({core, which}, name) {
    const shape = core.find("component", name.replace(/\?$/, "")), {number, size, form} = shape;
    Object.assign(this, {core, which, number, size, form, word: number + (name.endsWith("?") ? OPTIONAL : 0), base: 0, cursor: {core, at: 0}});
    this.view = shape.view(this.cursor);
  }

  value(row, entity) {
    if (!this.base) return undefined;
    this.cursor.at = this.base + row * this.size;
    if (this.form === "view") return this.view;
    if (this.form === "text") return this.core.words("read_text", this.which, entity, this.number);
    return this.form === "tag" || this.view.value;
  }

  /// Is it another value than the kept one? Keeps it.
  differs(kept, i, row, entity) {
    const {size, base, core: {bytes}} = this, at = base + row * size;
    if (this.form !== "view" || !base) return kept[i] !== (kept[i] = this.value(row, entity));
    let isOther = !kept[i];
    const old = kept[i] ??= new Uint8Array(size);
    for (let k = 0; k < size; k++) {
      isOther ||= old[k] !== bytes[at + k];
      old[k] = bytes[at + k];
    }
    return isOther;
  }
}

class World {
  constructor(which, core) { Object.assign(this, {core, which, watches: new Set()}); }
  get tick() { return this.core.call("read_tick", this.which); }

  terms(names) {
    if (names.length > 4) fail("a walk has at most 4 components; world.get reads others");
    return names.map((name) => new Term(this, name));
  }

  walk(terms, visit) {
    const {core} = this, room = core.room(terms.length * 4);
    terms.forEach(({word}, i) => core.data.setUint32(room + i * 4, word, true));
    const runs = new Uint32Array(core.ask("read_runs", this.which).buffer);
    for (let at = 0; at < runs.length; at += terms.length + 2) {
      terms.forEach((term, i) => { term.base = runs[at + 2 + i]; });
      for (let row = 0; row < runs[at]; row++) visit(core.word(runs[at + 1] + row * 4), row);
    }
  }

  each(...names) {
    const fn = names.pop(), terms = this.terms(names), [a, b, c, d] = terms;
    this.walk(terms, (entity, row) =>
      fn(entity, a?.value(row, entity), b?.value(row, entity), c?.value(row, entity), d?.value(row, entity)));
  }

  get(entity, name) {
    const term = new Term(this, name);
    term.base = this.core.call("read_cell", this.which, entity, term.number);
    const value = term.value(0, entity);
    return term.form === "view" ? value?.toJSON() : value;
  }

  template(entity) { return this.core.schema.templates[this.core.call("read_template", this.which, entity) - 1] ?? null; }

  watch(...names) {
    const calls = names.pop(), watch = {names, calls, terms: this.terms(names), seen: new Map()};
    this.watches.add(watch);
    return () => this.watches.delete(watch);
  }

  look() {
    for (const {terms, seen, calls} of this.watches) {
      const turn = {};
      this.walk(terms, (entity, row) => {
        const old = seen.get(entity), kept = old ?? [];
        let isChanged = !old;
        if (!old) seen.set(entity, kept);
        kept.turn = turn;
        for (let i = 0; i < terms.length; i++) isChanged = terms[i].differs(kept, i, row, entity) || isChanged;
        if (isChanged) calls[old ? "change" : "appear"]?.(entity, ...terms.map((term) => term.value(row, entity)));
      });
      for (const [entity, {turn: last}] of seen)
        if (last !== turn && seen.delete(entity)) calls.disappear?.(entity);
    }
  }
}

class Match {
  constructor(module, options) {
    Object.assign(this, {options, at: 0, left: TRIES * options.urls.length, framed: 0, handlers: new Set(), events: [], phase: "connecting",
      end: null, token: options.token, newest: new World(NEWEST), shown: new World(SHOWN), input: {set: (values) => this.setInput(values)},
      onwarning: console.warn});
    this.world = this.shown;
    this.begin(module, options.secret);
    this.timer = setInterval(() => this.frameHidden(), HIDDEN_MS);
  }

  begin(module, secret) {
    const core = this.core = this.newest.core = this.shown.core = new Core(module, {
      socket_open: () => this.connect(),
      socket_send: (at, size) => this.socket?.readyState === 1 && this.socket.send(core.slice(at, size)),
      socket_close: (reason) => {
        this.left = 0;
        if (this.socket) this.socket.close(CLOSED, String(reason >>> 0));
        else this.later(() => this.core.call("socket_closed", 0), 0);
      },
      socket_waiting: () => this.socket?.bufferedAmount ?? 0,
    });
    core.put([...bytesOf(`${(this.options.name ?? "player").replaceAll("\0", "")}\0${this.token ?? ""}\0`), ...secret ?? []]);
    core.call("play_begin");
    core.check();
    core.read(NEWEST);
    for (const world of [this.newest, this.shown]) for (const watch of world.watches) watch.terms = world.terms(watch.names);
  }

  connect() { // to one of the match's servers: it has the session
    const {urls} = this.options, {at} = this, socket = this.socket = new WebSocket(urls[at]);
    const on = (name, act) => socket.addEventListener(name, (event) => this.socket === socket && !this.core.dead && act(event));
    const closed = ({code, reason}) => {
      this.socket = null;
      if (code === CLOSED || this.left <= 0) this.core.call("socket_closed", Number(code === CLOSED && reason) || 0);
      else this.later(() => this.connect(), this.left % urls.length ? 0 : RETRY_MS);
    };
    this.left = (this.left || urls.length) - 1;
    this.at = (at + 1) % urls.length;
    socket.binaryType = "arraybuffer";
    on("open", () => this.core.call("socket_opened"));
    on("message", ({data}) => {
      const bytes = new Uint8Array(data);
      clearTimeout(this.waits);
      this.left = 0;
      if (bytes[0] === REALTIME) this.at = at;
      this.core.put(bytes);
      this.core.call("socket_received");
      this.frameHidden();
    });
    on("close", closed);
    on("error", closed); // node 20: no close
    if (this.left > 0 && urls.length > 1) this.later(() => { socket.close(); closed({}); }, ATTEMPT_MS);
  }

  later(act, ms) {
    clearTimeout(this.waits);
    this.waits = setTimeout(() => this.core.dead || act(), ms);
  }

  frameHidden() { // a hidden page draws none
    if (performance.now() - this.framed > HIDDEN_MS / 2 && !this.core.dead) this.frame();
  }

  frame() {
    const {core} = this;
    if (this.isBusy || this.phase === "ended") return false;
    core.call("play_frame", this.framed = performance.now(), -1, 0);
    const isReady = core.number(IS_READY) === 1;
    const end = ENDS[core.number(END)], phase = PHASES[core.number(PHASE)];
    for (const line of core.check()) this.onwarning(line);
    let at = core.number(ANSWER);
    for (const stop = at + core.number(ANSWER_BYTES); at < stop; at += 16 + core.word(at + 12)) {
      const shape = core.messages[core.word(at) - 1], values = shape.view({core, at: at + 16}).toJSON();
      this.events.push({name: shape.name, target: core.word(at + 4), tick: core.word(at + 8), values});
    }
    if (end === "exchanged") return this.exchange();
    while (isReady && this.events[0]?.tick <= this.shown.tick) {
      const {name, values, ...about} = this.events.shift();
      for (const on of this.handlers) if (on.name === name) on.fn(values, about);
    }
    if (isReady) this.shown.look();
    this.newest.look();
    this.note(phase, end);
    return isReady;
  }

  note(phase, end) {
    if (phase === this.phase) return;
    if (phase === "ended") clearInterval(this.timer);
    Object.assign(this, {phase, end, token: this.meter.token || this.token});
    this.onphase?.(phase, end);
  }

  exchange() { // the server runs another version of the game
    const {wasm} = this.options, secret = this.secret();
    this.isBusy = true;
    this.note("resuming", null);
    compile(typeof wasm === "string" ? `${wasm}?${Date.now()}` : wasm).then((module) => this.begin(module, secret))
      .catch((fault) => { this.onwarning(fault.message); this.close("lost"); }).finally(() => { this.isBusy = false; });
    return false;
  }

  get client() { return this.core.number(CLIENT); }
  get player() { return this.core.call("read_player") >>> 0; }
  get players() { return this.core.json("read_players"); }
  get meter() { return this.core.json("play_about"); }

  setInput(values) {
    const [shape] = this.core.shapes.input.values();
    if (!shape) fail("the game has no input");
    shape.write(this.core, this.core.call("read_input", shape.size), values);
  }

  send(name, values = {}) {
    const {core} = this, shape = core.find("message to the server", name), at = core.room(shape.size || 1);
    shape.write(core, at, values);
    const sent = core.call("read_send", shape.number);
    if (sent < 0) fail(`'${name}' has a value that cannot be sent`);
    return sent > 0;
  }

  on(name, fn) {
    const handler = {name: this.core.find("message to clients", name).name, fn};
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }

  secret() {
    const secret = this.core.ask("play_secret");
    return secret.length ? secret : null;
  }

  async leave() {
    if (this.phase !== "ended") this.core.call("play_leave", performance.now());
    await this.until("ended");
  }

  async until(phase) {
    for (; ![phase, "ended"].includes(this.phase); await new Promise((then) => setTimeout(then, WAIT_MS))) this.frame();
  }

  /// After the end "transferred".
  async follow() {
    const {page, token} = this.meter.transfer, {name, resume} = this.options, now = Date.now();
    if (!page || SENT[SENT_MAX - 1] > now - SENT_MS) fail(page ? "sent on too often" : "no page to go on to");
    SENT.unshift(now); // newest first
    return join(page, {name, resume, token});
  }

  close(end = "left") {
    clearTimeout(this.waits);
    if (this.phase !== "ended") this.note("ended", end);
    this.core.dead ??= "the match was closed";
    this.socket?.close();
  }
}

/// What a link leads to.
async function place(url, {game, token, name, filter, urls}) {
  if (/^wss?:/.test(url)) return {urls: urls ?? [url], game, base: url.replace(/^ws/, "http").replace(/play\/socket.*$/, "")};
  let link = new URL(url, globalThis.location?.href);
  if (!/\/play\/?$/.test(link.pathname)) { // a host
    const body = JSON.stringify({...filter, game, request: crypto.randomUUID()}), seat = await (await ask(new URL("/v1/join", link), {method: "POST", body})).json();
    link = new URL(seat.page, link);
    token = seat.token;
  }
  const asked = new URLSearchParams(link.hash.slice(1)), page = link.href.replace(/\/?(#.*)?$/, ""), info = await (await ask(`${page}/info`)).json();
  return {urls: urls ?? [page, ...info.pages ?? []].map((each) => `${each.replace(/^http/, "ws")}/socket`), game: game ?? info.game,
    token: token ?? asked.get("join"), name: name ?? asked.get("name"), base: page.replace(/play$/, "")};
}

export async function join(url, options = {}) {
  const found = await place(String(url), options), key = `shoal ${found.urls[0]}`, store = options.resume === false ? null : globalThis.sessionStorage;
  const wasm = options.wasm ?? `${found.base}game/${found.game}.wasm`, kept = JSON.parse(store?.getItem(key) ?? "{}"); // of this tab
  store?.removeItem(key);
  const match = new Match(await compile(wasm), {...options, ...found, ...Date.now() - kept.at < AGAIN_MS && kept, wasm});
  if (store) addEventListener("pagehide", () => {
    const secret = match.phase === "ended" ? null : match.secret();
    if (secret) store.setItem(key, JSON.stringify({secret: [...secret], token: match.token, at: Date.now()}));
  });
  await match.until("playing");
  if (match.phase === "ended") fail(match.meter.refusal || `the match cannot be joined: ${match.end}`);
  return match;
}

class Log {
  constructor(module, bytes) {
    const core = this.core = new Core(module, {file_bytes: () => bytes.length, file_read: (file, offset, at, size) => {
      core.look();
      core.bytes.set(bytes.subarray(offset, offset + size), at);
    }});
    Object.assign(this, {world: new World(LOG, core), speed: 0});
    this.go("feed");
    if (core.number(IS_READY) !== 1) fail("the log has no ticks");
    this.info = core.json("info");
    core.read(LOG);
  }

  get tick() { return this.core.number(TICK); }
  get first() { return this.core.number(FIRST); }
  get last() { return this.core.number(LAST); }
  get marks() { return this.core.json("marks", 0); }
  get players() { return this.core.json("players"); }

  go(name, ...values) {
    this.core.call(name, ...values);
    this.core.check();
    this.world.look();
  }

  seek(tick) { this.go("seek", tick); }
  play(speed = 1) { Object.assign(this, {speed, at_ms: null}); }

  frame(now = performance.now()) {
    const ticks = (now - (this.at_ms ?? now)) * this.info.tickRate * this.speed / 1000;
    this.at_ms = now;
    if (ticks > 0) this.go("advance", ticks);
    return this.tick < this.last;
  }
}

export async function openLog(bytes, {game, wasm = `game/${game}.wasm`}) { return new Log(await compile(wasm), new Uint8Array(bytes)); }

export {Core}; // for types.mjs
