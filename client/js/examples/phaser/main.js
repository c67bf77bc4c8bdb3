// SPDX-License-Identifier: MIT
// Arena with sprites: a watch makes and removes them, each frame moves them, keys and pointer are the input.
//
//     npm install && node ../../serve.mjs . http://127.0.0.1:7780      (shoal-server --game arena --http 127.0.0.1:7780)
import {join} from "shoal";

const joining = join(`/play${location.hash}`), Phaser = await import("phaser"); // both at once

const CIRCLE = 4096, FULL = 127, SIDE = 512, SEEN = 170, FINE = 1 / 8; // of an aim, of a move; units of the map, of the view, of a texture's pixel
const TEAMS = [0xe0685c, 0x5c9be0, 0x6cc27a, 0xb77fe0], NEUTRAL = 0xd9b45b;
const SHAPES = {arena_player: "body", arena_soldier: "small", arena_tank: "tank", arena_turret: "turret", arena_shot: "shot", arena_flag: "flag", arena_pickup: "box", arena_beacon: "flag"};
const note = document.querySelector("#note");
const match = await joining.catch((fault) => { note.textContent = fault.message; throw fault; });

class Arena extends Phaser.Scene {
    create() {
        this.textures_of();
        this.add.grid(SIDE / 2, SIDE / 2, SIDE, SIDE, 16, 16, 0x171d27, 1, 0x1d2531);
        this.keys = this.input.keyboard.addKeys("W,A,S,D,UP,LEFT,DOWN,RIGHT");
        this.sprites = new Map();
        match.world.watch("pos", "team?", {
            appear: (entity, pos, team) => {
                const texture = SHAPES[match.world.template(entity)?.split("+")[0]];
                if (texture) this.sprites.set(entity, this.add.image(pos.x, pos.y, texture + (team === undefined ? "" : team % TEAMS.length)).setScale(FINE));
            },
            disappear: (entity) => {
                this.sprites.get(entity)?.destroy();
                this.sprites.delete(entity);
            },
        });
        match.on("Hit", ({x, y}) => {
            const spark = this.add.circle(x, y, 2, 0xffe08a);
            this.tweens.add({targets: spark, alpha: 0, scale: 2.5, duration: 250, onComplete: () => spark.destroy()});
        });
        match.on("Killed", ({victim_client}) => { note.textContent = `${match.players.find(({client}) => client === victim_client)?.name ?? "A soldier"} is down`; });
    }

    textures_of() {
        const draw = (name, width, height, paint) => {
            const pen = this.make.graphics({x: 0, y: 0}, false);
            paint(pen);
            pen.generateTexture(name, width, height).destroy();
        };
        for (const [team, color] of [...TEAMS.entries(), ["", NEUTRAL]]) {
            draw(`body${team}`, 72, 56, (pen) => pen.fillStyle(color).fillCircle(28, 28, 26).fillRect(40, 22, 32, 12).lineStyle(4, 0xffffff).strokeCircle(28, 28, 24));
            draw(`small${team}`, 40, 28, (pen) => pen.fillStyle(color).fillCircle(14, 14, 13).fillRect(22, 11, 18, 6));
            draw(`tank${team}`, 80, 60, (pen) => pen.fillStyle(color).fillRect(0, 0, 56, 60));
            draw(`turret${team}`, 80, 32, (pen) => pen.fillStyle(0xffffff, 0.7).fillRect(36, 12, 44, 8).fillStyle(color).fillCircle(30, 16, 15));
            draw(`shot${team}`, 12, 12, (pen) => pen.fillStyle(0xfff2b0).fillCircle(6, 6, 6));
            draw(`flag${team}`, 64, 80, (pen) => pen.fillStyle(color).fillRect(0, 0, 6, 80).fillTriangle(6, 0, 62, 20, 6, 40));
            draw(`box${team}`, 36, 36, (pen) => pen.fillStyle(NEUTRAL).fillRect(0, 0, 36, 36));
        }
    }

    update() {
        if (!match.frame()) return;
        match.world.each("pos", "vel?", "aim?", (entity, {x, y}, vel, aim) => {
            const sprite = this.sprites.get(entity);
            sprite?.setPosition(x, y).setRotation(aim ?? (vel ? Math.atan2(vel.y, vel.x) : 0));
            if (entity === match.player) this.cameras.main.centerOn(x, y);
        });
        const {width, height} = this.cameras.main.setZoom(Math.max(this.scale.width, this.scale.height) / SEEN);
        this.play(this.input.activePointer, width / 2, height / 2);
        window.example = {match, count: this.sprites.size, first_ms: window.example?.first_ms ?? performance.now()};
    }

    play({x, y, isDown, wasTouch}, middle_x, middle_y) {
        const held = (...names) => (names.some((name) => this.keys[name].isDown) ? FULL : 0), turn = Math.atan2(y - middle_y, x - middle_x) / Math.PI / 2;
        const towards = wasTouch && isDown ? FULL : 0; // a finger steers
        match.input.set({
            move_x: held("D", "RIGHT") - held("A", "LEFT") + towards * Math.cos(turn * Math.PI * 2),
            move_y: held("S", "DOWN") - held("W", "UP") + towards * Math.sin(turn * Math.PI * 2),
            aim: Math.round(turn * CIRCLE) & (CIRCLE - 1), is_firing: isDown,
        });
    }
}

note.textContent = "WASD or arrows move, the pointer aims and fires. On a phone a finger steers.";
match.onphase = (phase, end) => { note.textContent = phase === "ended" ? match.meter.refusal || `The match ended: ${end}` : ""; };
new Phaser.Game({type: Phaser.CANVAS, scene: Arena, backgroundColor: "#0b0e14", banner: false, audio: {noAudio: true}, scale: {mode: Phaser.Scale.RESIZE}});
