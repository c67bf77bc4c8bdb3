// SPDX-License-Identifier: MIT
// Players of pages without a page: node play.mjs FOLDER GAME URL[,URL] COUNT [token=TOKEN,...] [seconds=S]. Each presses keys by chance
// until the match ends, or leaves after S seconds. Prints when each plays, and its line, as shoal-client does; then how often it came back, and
// which numbers it had.
import {readFile} from "node:fs/promises";
import {Player, ENDED, PLAYING} from "./play.js";

const [folder, game, url, count_text, ...words] = process.argv.slice(2);
const {token = "", seconds} = Object.fromEntries(words.map((word) => word.split(/=(.*)/s)));
const module = await WebAssembly.compile(await readFile(`${folder}/${game}.wasm`));
let chance = 1;
const random = (below) => (chance = (Math.imul(chance, 1103515245) + 12345) >>> 0) / 2 ** 32 * below | 0;

const tokens = token.split(",");
const players = Array.from({length: Number(count_text)}, (_, i) => new Player(module, {urls: url.split(","), token: tokens[i % tokens.length], name: `page-${i + 1}`}));
const left = new Set(players), began = performance.now(), lasted = new Map(players.map((each) => [each, {resumes: 0, tick: 0, said: -1, numbers: new Set()}]));
let frame_ms_max = 0, frames = 0, spent_ms = 0;
function step() {
    for (const player of left) {
        const now = performance.now();
        if (random(20) === 0) player.action(random(player.tables.actions.length), random(2) === 0);
        const seen = player.frame(now, 1);
        const took = performance.now() - now;
        spent_ms += took;
        frames++;
        if (seen.phase === PLAYING) {
            frame_ms_max = Math.max(frame_ms_max, took);
            const so_far = lasted.get(player);
            const {resumes} = player.about();
            if (seen.tick > so_far.tick && so_far.said !== resumes) console.log(`plays id=${seen.client} resumes=${so_far.said = resumes}`);
            if (seen.tick > 0) so_far.numbers.add(seen.client);
            if (so_far.resumes === resumes) so_far.tick = seen.tick;
            so_far.resumes = resumes;
        }
        for (const line of seen.warnings ?? []) console.error(line);
        if (seen.error) console.error(seen.error);
        if (seconds && now - began > Number(seconds) * 1000) player.leave(now);
        if (seen.phase !== ENDED) continue;
        console.log(player.line() || `refused: ${player.about().refusal}`);
        const {resumes, numbers} = lasted.get(player);
        console.log(`lasted resumes=${resumes} numbers=${[...numbers].join(",")}`);
        left.delete(player);
    }
    if (left.size > 0) return void setTimeout(step, 8);
    console.log(`frames n=${frames} frame_ms_mean=${(spent_ms / frames).toFixed(2)} frame_ms_max=${frame_ms_max.toFixed(1)}`);
    process.exit(0);
}
step();
