// SPDX-License-Identifier: MIT
// node shoal.mjs GAME.wasm URL[,URL] [log=FILE] [token=TOKEN] [seconds=S]: a page's player by client/js/shoal.js in node, which looks at its worlds. Prints
// the line of shoal-client at its end. With log=FILE instead: the log is played, sought and read. With follow=GAME it goes where it is sent.
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {join, openLog} from "./shoal.js";

const [file, url, ...words] = process.argv.slice(2);
const {log, follow, token, seconds = 0} = Object.fromEntries(words.map((word) => word.split(/=(.*)/s)));
const wasm = file === "-" ? null : await WebAssembly.compile(await readFile(file));
const rest = (ms) => new Promise((then) => setTimeout(then, ms));
const textOf = (world) => { // what has a place, by copies
    const rows = [];
    world.each("pos", (entity, pos) => rows.push(`${entity} ${JSON.stringify(pos)} ${world.template(entity)}`));
    return rows.sort().join("\n");
};

async function plays() {
    const match = await join(url.split(",")[0], {game: "arena", name: "own", token, wasm, urls: url.split(","), resume: false});
    const there = new Set(), heard = [], seen = {appear: 0, change: 0, disappear: 0};
    const end = match.world.watch("pos", "team?", {
        appear: (entity, pos, team) => { seen.appear++; assert(!there.has(entity) && pos.x >= 0 && team !== null); there.add(entity); },
        change: (entity) => { seen.change++; assert(there.has(entity)); },
        disappear: (entity) => { seen.disappear++; assert(there.delete(entity)); },
    });
    match.on("Hit", ({client, is_fatal}, {tick}) => { heard.push(tick); assert(tick <= match.shown.tick && client >= 0 && typeof is_fatal === "boolean"); });
    assert.throws(() => match.world.each("psos", () => {}), /no component 'psos', did you mean 'pos'\?/);
    assert.throws(() => match.input.set({move_z: 1}), /no field of ArenaInput 'move_z', did you mean 'move_[xy]'\?/);
    assert.throws(() => match.on("Kiled", () => {}), /did you mean 'Killed'\?/);
    const began = performance.now();
    let frames = 0, moved = null, resumes = 0;
    while (match.phase !== "ended") {
        if (match.frame() && ++frames % 30 === 0) {
            assert.deepEqual(new Set(there), new Set(allOf(match.world)), "the watch has what the world has");
            const own = match.world.get(match.player, "pos");
            if (own && !moved) { moved = own; match.input.set({move_x: 127, is_firing: true, aim: 1e9}); }
            match.send("Say", {phrase: frames % 4});
        }
        ({resumes} = match.meter);
        if (seconds > 0 && performance.now() - began > seconds * 1000) match.leave();
        await rest(8);
    }
    end();
    console.log(match.core.words("play_line")); // that of shoal-client
    console.log(`page frames=${frames} resumes=${resumes} players=${match.players.length} hits=${heard.length} ${Object.entries(seen).map((pair) => pair.join("=")).join(" ")}`);
    assert(frames > 30 && moved && heard.length > 0 && seen.appear > 10 && seen.change > 10);
}
function allOf(world) {
    const all = [];
    world.each("pos", (entity) => all.push(entity));
    return all;
}

// From a page's link, with what the server gives for browsers, to a match of another game.
async function follows() {
    const match = await join(url, {name: "own", resume: false});
    await assert.rejects(match.follow(), /no page to go on to/);
    await match.until("ended");
    assert.equal(match.end, "transferred");
    const next = await match.follow();
    assert(next.client > 0 && next.options.game === follow && next.meter.transfer.page === "");
    console.log(match.core.words("play_line"));
    await next.leave();
    console.log(next.core.words("play_line"));
}

async function reads() {
    const bytes = await readFile(log), whole = await openLog(bytes, {wasm});
    const at = (tick) => { whole.seek(tick); return textOf(whole.world); }, middle = (whole.first + whole.last) / 2 | 0, then = at(middle);
    assert(then.length > 100 && at(whole.last) !== then && at(middle) === then, "a moment is the same again");
    whole.play(4);
    for (const now of [0, 250, 500]) whole.frame(now);
    assert.equal(whole.tick, middle + 2 * whole.info.tickRate);
    assert(whole.marks.some(({kind}) => kind === "join") && whole.players.length > 0);
    assert.throws(() => whole.world.get(1, "team2"), /did you mean 'team'\?/);
    await assert.rejects(openLog(bytes.subarray(0, 40), {wasm}));
    console.log(`log ticks=${whole.first}..${whole.last} marks=${whole.marks.length}`);
}
await (log ? reads() : follow ? follows() : plays());
process.exit(0);
