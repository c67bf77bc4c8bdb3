// SPDX-License-Identifier: MIT
// measure.mjs FOLDER GAME URL COUNT FIRST: players of a page in node, without pictures. Each writes when it applied a newer
// tick: "tick client=N tick=N t_ms=MS", of the same clock as the traces of shoal-server; at its end, the client's line.
import {readFile} from "node:fs/promises";
import {Player, ENDED} from "./play.js";

const [folder, game, url, count, first] = process.argv.slice(2);
const module = await WebAssembly.compile(await readFile(`${folder}/${game}.wasm`));
const clock = () => Number(process.hrtime.bigint()) / 1e6;
const lines = [];
let left = Number(count), busy_ms = 0, frames = 0;

class Measured extends Player {
    newest = 0;
    run() {
        const began = clock(), seen = this.frame(performance.now(), 0);
        if (seen.tick > this.newest) lines.push(`tick client=${seen.client} tick=${this.newest = seen.tick} t_ms=${clock().toFixed(3)}`);
        for (const line of seen.warnings ?? []) console.error(line);
        busy_ms += clock() - began;
        frames++;
        if (seen.phase !== ENDED || this.is_over) return;
        this.is_over = true;
        const {inBytes, outBytes} = this.about();
        console.log(`${this.line() || `refused: ${this.about().refusal}`} in_bytes=${inBytes} out_bytes=${outBytes}`);
        if (--left > 0) return;
        console.log(lines.join("\n"));
        console.log(`node busy_percent=${(busy_ms / performance.now() * 100).toFixed(0)} frames=${frames} frame_ms=${(busy_ms / frames).toFixed(3)}`);
        process.exit(0);
    }
    connect() { // what comes is applied as it comes
        super.connect();
        const take = this.socket.onmessage;
        this.socket.onmessage = (event) => { take(event); if (!this.is_due) { this.is_due = true; setImmediate(() => { this.is_due = false; this.run(); }); } };
    }
}

const players = Array.from({length: left}, (_, i) => new Measured(module, {url, name: `page-${Number(first) + i}`}));
let turn = 0;
setInterval(() => {
    turn++;
    players.forEach((player, i) => {
        if (player.is_over) return;
        if ((turn + i) % 40 === 0) player.action((turn + i) / 40 % player.tables.actions.length, turn % 80 < 40);
        player.run();
    });
}, 50);
