// SPDX-License-Identifier: MIT
// types.mjs GAME.wasm >GAME.d.ts: the components, messages and templates of a game as types for shoal.d.ts.
import {readFileSync} from "node:fs";
import {basename} from "node:path";
import {Core} from "./shoal.js";

const file = process.argv[2];
if (!file) {
    console.error("usage: node types.mjs GAME.wasm >GAME.d.ts");
    process.exit(2);
}
const core = new Core(await WebAssembly.compile(readFileSync(file)), {});
core.put([0, 0]); // a player without a name
core.call("play_begin");
core.check();
core.read(0);

const scalar = (kind) => (kind === "bool" ? "boolean" : kind === "entity" ? "Entity" : "number");
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
const object = (fields, listed) => `{${fields.map(({name, kind, count}) => `${key(name)}: ${count > 1 ? listed : scalar(kind)}`).join("; ")}}`;
const valueOf = ({form, fields}) => ({tag: "true", text: "string", scalar: scalar(fields[0]?.kind)})[form] ?? object(fields, "List");
const members = (list, text) => `{\n${list.map((each) => `        ${key(each.name)}: ${text(each)};\n`).join("")}    }`;
const union = (names) => names.map((name) => JSON.stringify(name)).join(" | ") || "never";
const {components, messages, templates} = core.schema, of = (kind) => messages.filter((each) => each.kind === kind);
const sent = ({fields}) => object(fields, "ArrayLike<number> | string"), came = ({fields}) => object(fields, "List");
console.log(`// Of ${basename(file)}, by types.mjs.
import type {Entity, List, Schema} from "./shoal.js";

export interface Game extends Schema {
    components: ${members(components, valueOf)};
    input: ${of("input").map(sent)[0] ?? "{}"};
    toServer: ${members(of("message to the server"), sent)};
    toClients: ${members(of("message to clients"), came)};
    templates: ${union(templates)};
}`);
