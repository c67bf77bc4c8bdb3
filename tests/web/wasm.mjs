// SPDX-License-Identifier: MIT
// node wasm.mjs FOLDER GAME... ADDRESS: FOLDER/GAME.wasm with GAME.slog and GAME-seen.slog of this folder, and the server of
// breakout at ADDRESS. Each log runs again to the
// same hashes, looks the same however a moment was reached, grows, and can be any bytes. Prints figures.
// node wasm.mjs FOLDER GAME FILE.slog: measures that log.
import assert from "node:assert";
import fs from "node:fs";
import zlib from "node:zlib";
import {Game} from "./game.js";
import {paint} from "./paint.js";

const [folder, ...given] = process.argv.slice(2);
const address = given.at(-1).startsWith("http:") ? given.pop() : null;
const log = given[1]?.includes(".slog") ? given[1] : null, names = log ? [given[0]] : given;
const SEED = 20261123, FLIPPED = 150, CUTS = 60, MOMENTS = 24;

// xorshift: the same cases each time.
let random = SEED;
function below(limit) {
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    return (random >>> 0) % limit;
}

// Of a long log: how soon something is shown.
async function measure(name, file) {
    const from = performance.now(), [game, state] = await opened(name, fs.readFileSync(file)), times = [];
    await picture(game);
    const first = performance.now() - from;
    for (let i = 0; i < 100; i++) {
        const begun = performance.now();
        await game.seek(1 + below(state.last));
        await picture(game);
        times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    console.log(`${name}: ${state.last} ticks, ${state.bytes} bytes: first picture after ${first.toFixed(0)} ms; of any tick after ` +
        `${times[50].toFixed(0)} ms, at most ${times[99].toFixed(0)}`);
}

const modules = Object.fromEntries(names.map((name) => [name, fs.readFileSync(`${folder}/${name}.wasm`)]));
const open = (name) => Game.open(modules[name], {worker: false});

async function opened(name, bytes) {
    const game = await open(name), state = await game.feed(bytes);
    return [game, state];
}

// A canvas that takes every call and paints nothing.
const canvas = new Proxy({}, {get: (kept, name) => kept[name] ?? (() => ({addColorStop() {}})), set: () => true});

/// The picture of the shown moment as words. paint.js must read all of them.
async function picture(game, as = 0) {
    const [state, {words, count}] = await game.ask("calls", as, 1);
    assert.equal(state.error, null);
    const kept = words.slice();
    paint(canvas, kept, game.place(1280, 720, null), game.images);
    return {hash: zlib.crc32 ? zlib.crc32(kept) : Buffer.from(kept.buffer).toString("base64"), count};
}

async function verify(game) {
    let found;
    do found = await game.verify({ms: 100}); while (!found.isDone);
    return found;
}

async function runsAgain(name, bytes) {
    const [game, state] = await opened(name, bytes);
    assert.deepEqual([state.error, state.isReady, state.isClosed, state.bytesUsed], [null, true, true, bytes.length]);
    const found = await verify(game);
    assert.deepEqual([found.error, found.tick, found.ticks, found.differs, found.worldDiffers], [null, state.last, state.last, 0, 0]);
    assert(found.worldHashes >= 2, "too few hashes of worlds");
    console.log(`${name}: ${found.ticks} state hashes and ${found.worldHashes} of worlds, 0 differ; ${found.ticksPerSecond} ticks/s`);
    game.close();
}

// A changed input is a valid log of another match: the hash of its tick differs, and those after it.
async function differs(name, other) {
    const [game, state] = await opened(name, other);
    assert.match(state.error, new RegExp(`is of game [a-z]+, not ${name}`));
    assert.equal(state.isReady, false);
    game.close();
}

async function looksTheSame(name, bytes) {
    const [game, state] = await opened(name, bytes);
    const seen = new Map(), times = [];
    for (let i = 0; i < MOMENTS * 2; i++) {
        const tick = i < MOMENTS ? 1 + below(state.last * 4) / 4 : [...seen.keys()][below(seen.size)];
        if (below(2)) await game.advance(below(40) / 7);
        const from = performance.now();
        const at = await game.seek(tick);
        times.push(performance.now() - from);
        assert.deepEqual([at.error, at.tick], [null, Math.min(tick, state.last)]);
        const as = i % 8 ? 0 : 1, shown = await picture(game, as);
        assert(shown.count > 20, "nothing was drawn");
        if (seen.has(tick)) seen.get(tick)[as] ??= shown.hash;
        else seen.set(tick, {[as]: shown.hash});
        assert.equal(seen.get(tick)[as], shown.hash, `${tick} looks different as ${as}`);
    }
    times.sort((a, b) => a - b);
    const marks = await game.marks(), players = await game.players(), entities = await game.entities();
    assert.equal(marks.filter((mark) => mark.kind === "join").length, 6);
    assert(players.length === 6 && players.every((player) => player.name && player.entity));
    const found = await game.inspect(players[0].entity);
    assert.equal(found.entity, players[0].entity);
    assert(entities.some((entity) => entity.entity === players[0].entity) && found.components.length > 0);
    assert.equal(await game.inspect("4000000:9"), null);
    console.log(`${name}: a seek takes ${times[times.length >> 1].toFixed(0)} ms, at most ${times.at(-1).toFixed(0)}; ${entities.length} entities`);
    game.close();
}

// A client is shown what a server gives it that sends the log again (shoal-replay show --tick T,client=N), line by line of a dump. A
// spectator is shown the rest, too; and what is shown behind a seek is a part of it.
async function seesAs(name, bytes, given) {
    const [game] = await opened(name, bytes), {client, tick} = /tick=(?<tick>\d+) client=(?<client>\d+)/.exec(given).groups;
    const lines = async () => (await game.ask("dump", 0, 0))[1].split("\n").filter((line) => line.startsWith("entity=")).sort();
    const entities = (dump) => new Set(dump.map((line) => line.split(" ")[0])), wanted = given.split("\n").filter((line) => line.startsWith("entity=")).sort();
    await picture(game, Number(client)); // from the first tick on
    for (let at = 1; at < tick;) at = (await game.advance(Math.min(7, tick - at))).tick;
    assert.deepEqual(await lines(), wanted);
    const own = await picture(game, Number(client)), all = await picture(game), every = entities(await lines()), has = entities(wanted);
    const outside = [...every].filter((entity) => !has.has(entity));
    assert.deepEqual([outside.length > 100, own.count < all.count, [...has].every((entity) => every.has(entity))], [true, true, true]);
    const from = performance.now();
    await picture(game, Number(client));
    const ms = performance.now() - from, sought = entities(await lines());
    assert(outside.filter((entity) => sought.has(entity)).length < 5 && sought.size > has.size * 0.9 && sought.size < every.size / 2);
    assert.equal((await picture(game, 99)).count > 0, true); // it does not play, and has nothing
    assert.deepEqual(await lines(), []);
    console.log(`${name}: client ${client} has ${has.size} of ${every.size} entities at tick ${tick}, ${own.count} of ${all.count} calls; shown behind a seek after ${ms.toFixed(0)} ms: ${sought.size}`);
    game.close();
}

// In pieces, and shown as far as it goes: the same pictures as of the whole log.
async function grows(name, bytes) {
    const [whole] = await opened(name, bytes), game = await open(name);
    let fed = 0, last = 0, growths = 0;
    while (fed < bytes.length) {
        const size = 1 + below(bytes.length / 12 | 0), state = await game.feed(bytes.subarray(fed, fed + size));
        fed = Math.min(fed + size, bytes.length);
        assert.deepEqual([state.error, state.bytes], [null, fed]);
        if (!state.isReady || state.last === last) continue;
        assert(state.last > last);
        last = state.last;
        growths++;
        assert.equal((await game.advance(1e6)).tick, last);
        await game.seek(last);
        await whole.seek(last);
        assert.equal((await picture(game)).hash, (await picture(whole)).hash);
        assert.deepEqual((await game.verify({ms: 5})).differs, 0);
    }
    assert.deepEqual([last, growths > 2], [(await whole.seek(1)).last, true]);
    const found = await verify(game);
    assert.deepEqual([found.ticks, found.differs, found.worldDiffers], [last, 0, 0]);
    whole.close();
    game.close();
}

// The files of a log in segments, one after the other; and the last two alone, which begin with a keyframe.
async function hasSegments(name, files) {
    for (const first of [0, files.length - 2]) {
        const game = await open(name);
        let state;
        for (const [i, file] of files.slice(first).entries()) {
            state = await game.feed(file.subarray(0, 1000), {segment: i > 0});
            state = await game.feed(file.subarray(1000));
            assert.equal(state.error, null);
            for (const tick of [state.last, state.first, (state.first + state.last) / 2])
                assert.equal((await game.seek(tick)).error, null);
        }
        assert.deepEqual([state.isClosed, state.last, state.first > 1], [true, 2000, first > 0]);
        assert.equal(game.info.segmentCount, files.length - first);
        assert.equal(game.info.isDamaged, false);
        const found = await verify(game);
        assert.deepEqual([found.error, found.ticks, found.differs, found.worldDiffers], [null, 2000 - state.first + 1, 0, 0]);
        game.close();
    }
}

// What a client saw has no inputs: it is shown, and cannot run again.
async function isSeen(name, bytes) {
    const [game, state] = await opened(name, bytes);
    assert.deepEqual([state.error, state.isReady, game.info.isSeen], [null, true, true]);
    assert.equal((await game.seek(state.last)).tick, state.last);
    assert((await picture(game)).count > 20);
    const count = (await game.entities()).length;
    await picture(game, 1); // it has no scopes: all is shown
    assert.equal((await game.entities()).length, count);
    const found = await game.verify();
    assert.match(found.error, /cannot run again/);
    assert.equal(found.isDone, true);
    assert.equal((await game.seek(2)).error, null); // and goes on
    game.close();
}

// A spectator's record as a page reads it from a server, from its begin and from the newest keyframe, through a segment's end.
async function watches(name) {
    const {keyframe, newest} = await (await fetch(address + "/watch/info")).json();
    for (const start of keyframe ? ["from=0", "from=live"] : ["from=0", `from=0&segment=${newest}`]) {
        const game = await open(name);
        let place = start, segment = null, state, bytes;
        do {
            const answer = await fetch(`${address}/watch/bytes?${place}`), here = answer.headers.get("Shoal-Segment");
            bytes = new Uint8Array(await answer.arrayBuffer());
            assert.equal(answer.status, 200);
            const from = answer.headers.get("Shoal-Next") ?? (here === segment ? Number(/from=(\d+)/.exec(place)[1]) : 0) + bytes.length;
            if (bytes.length) state = await game.feed(bytes, {segment: segment !== null && here !== segment});
            [place, segment] = [`from=${from}&segment=${here}`, here];
        } while (bytes.length > 0 && !(state.isReady && state.last > state.first + 240));
        assert.deepEqual([state.error, state.isReady, game.info.isSeen, state.first > 1], [null, true, true, start !== "from=0"]);
        for (const tick of [state.first + 100, state.last, state.first]) {
            assert.deepEqual([(await game.seek(tick)).error, (await game.seek(tick)).tick], [null, tick]);
            assert((await picture(game)).count > 20, "nothing was drawn");
        }
        assert.match((await game.verify()).error, /cannot run again/);
        console.log(`${name}: a spectator's record, ${start}: ticks ${state.first} to ${state.last}, ${state.bytes} bytes`);
        game.close();
    }
}

async function attack(name, bytes) {
    const game = await open(name);
    for (let at = 0; at < bytes.length;) {
        const size = 1 + below(bytes.length);
        await game.feed(bytes.subarray(at, at + size));
        at += size;
    }
    let said = 0;
    for (const call of ["seek", "advance", "seek"]) {
        const state = await game[call](below(1600));
        assert.equal(state.isDead, false, state.error);
        said += state.error !== null || state.warnings.length > 0;
        if (state.isReady) await game.ask("calls", 1, 1);
    }
    await game.marks();
    await game.players();
    const found = await game.verify({ms: 20}), end = await game.seek(NaN);
    assert.equal(end.isDead, false, end.error);
    game.close();
    return said > 0 || found.error !== null || found.differs > 0;
}

async function takesAnyBytes(name, bytes) {
    let told = 0;
    for (let i = 0; i < FLIPPED; i++) {
        const changed = Uint8Array.from(bytes);
        for (let k = 0, flips = 1 + below(8); k < flips; k++) changed[below(i % 3 ? bytes.length : 400)] ^= 1 << below(8);
        told += await attack(name, changed);
    }
    for (let i = 0; i < CUTS; i++) await attack(name, bytes.subarray(0, below(i % 2 ? bytes.length : 2000)));
    const [nothing, state] = await opened(name, new Uint8Array(100000).fill(65));
    assert(state.error && !state.isReady && !state.isDead);
    nothing.close();
    console.log(`${name}: ${FLIPPED} logs with changed bytes and ${CUTS} that are cut, none ends the page; ${told} were told`);
    assert(told > FLIPPED / 4, "changed bytes are not told");
}

// An operator's marks are on the timeline with their names, and the log runs again.
async function hasMarks(name, bytes) {
    const [game, state] = await opened(name, bytes);
    assert.deepEqual([state.error, state.isReady], [null, true]);
    assert.equal((await game.seek(state.last)).error, null);
    const marks = await game.marks(), named = marks.filter((mark) => mark.kind === "named");
    assert.deepEqual(named.map((mark) => mark.name), ["first blood", "Größe", "%s"]);
    assert(named.every((mark, i) => mark.tick > (named[i - 1]?.tick ?? 0) && mark.tick <= state.last + 1 && mark.client === 0));
    assert(marks.every((mark) => ["join", "leave", "event", "named"].includes(mark.kind)));
    assert.equal((await game.seek(named[1].tick)).error, null);
    const found = await verify(game);
    assert.deepEqual([found.error, found.differs, found.worldDiffers], [null, 0, 0]);
    game.close();
    console.log(`${name}: ${marks.length} marks, ${named.length} of an operator`);
}

if (log) {
    await measure(names[0], log);
    process.exit();
}
for (const [i, name] of names.entries()) {
    const bytes = fs.readFileSync(`${name}.slog`), module = modules[name];
    console.log(`${name}: ${module.length} bytes of wasm, ${zlib.gzipSync(module, {level: 9}).length} with gzip; ${bytes.length} of log`);
    await runsAgain(name, bytes);
    await differs(name, fs.readFileSync(`${names[(i + 1) % names.length]}.slog`));
    await looksTheSame(name, bytes);
    if (fs.existsSync(`${name}-client.txt`)) await seesAs(name, bytes, fs.readFileSync(`${name}-client.txt`, "utf8"));
    await grows(name, bytes);
    await isSeen(name, fs.readFileSync(`${name}-seen.slog`));
    if (bytes.length < 500000) await takesAnyBytes(name, bytes);
}
await watches("breakout");
await hasMarks("breakout", fs.readFileSync("marked.slog"));
const parts = fs.readdirSync(".").filter((file) => file.startsWith("parts.slog.seg")).sort();
await hasSegments("arena", [...parts, "parts.slog"].map((file) => fs.readFileSync(file)));
console.log(`arena: a log of ${parts.length + 1} segments`);
console.log("wasm: passed");
