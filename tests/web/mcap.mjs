// SPDX-License-Identifier: MIT
// Reads an MCAP file whole and by its index, each message by its own schema:
//
//     node mcap.mjs FILE LINES TICK GAME PLACE
//
// LINES is what `shoal-replay export` says of TICK, PLACE the component that its places are in: each
// entity of them has the same place, size and rotation in the scene.
import assert from "node:assert";
import fs from "node:fs";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";
import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor/index.js";

const [file, lines, tick, game, place] = process.argv.slice(2);
const bytes = fs.readFileSync(file);
const decompressHandlers = { zstd: (data, size) => decompress(data, new Uint8Array(Number(size))) };

// From the beginning to the end, with all checksums.
const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
stream.append(bytes);
let streamed = 0;
for (let record; (record = stream.nextRecord()); ) streamed += record.type === "Message";
assert(stream.done());

// By the index.
const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
};
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
const { messageCount, messageStartTime, messageEndTime, chunkCount } = reader.statistics;
assert.equal(Number(messageCount), streamed);
const types = new Map();
for (const [id, schema] of reader.schemasById) {
    const root = protobuf.Root.fromDescriptor(descriptor.FileDescriptorSet.decode(schema.data));
    types.set(id, root.lookupType(schema.name));
}
const counts = new Map(), places = new Map(), topic = "/components/" + place;
let time = 0n, moves = 0, timeAt, scene;
for await (const message of reader.readMessages()) {
    assert(message.logTime >= time);
    time = message.logTime;
    const channel = reader.channelsById.get(message.channelId);
    const said = types.get(channel.schemaId).decode(message.data);
    counts.set(channel.topic, (counts.get(channel.topic) ?? 0) + 1);
    if (channel.topic === "/inputs" && said.message) moves++;
    if (channel.topic === topic && Number(said.tick) === Number(tick)) {
        timeAt = message.logTime;
        for (const at of said.entities) places.set(at.entity, at);
    }
    if (channel.topic === "/scene" && message.logTime === timeAt) [scene] = said.entities;
}
assert.equal([...counts.values()].reduce((sum, count) => sum + count, 0), streamed);
for (const one of ["/players", topic, "/scene"]) assert(counts.get(one) > 0, one);
if (game !== "cubes") assert([...counts.keys()].some((one) => one.startsWith("/events/")));
assert(counts.get("/inputs") > 0 && moves > 0);

// The scene of a game, by what its README says of its components.
const one = [1, 1, 1], upright = [0, 0, 0, 1], flat = (at) => [at.x, at.y, 0];
function turned([x, y, z]) { // about x, then y, then z
    const times = ([a, b, c, d], [e, f, g, h]) => // quaternions of x, y, z, w
        [d * e + a * h + b * g - c * f, d * f - a * g + b * h + c * e, d * g + a * f - b * e + c * h, d * h - a * e - b * f - c * g];
    const about = (axis, angle) => [0, 1, 2].map((i) => i === axis ? Math.sin(angle / 2) : 0).concat(Math.cos(angle / 2));
    return times(about(2, z), times(about(1, y), about(0, x)));
}
const shown = {
    arena: (row) => ({ place: flat(row.pos), size: one, turn: "heading" in row ? turned([0, 0, row.heading]) : upright, kind: "spheres" }),
    breakout: (row) => row.radius
        ? { place: flat(row.pos), size: one.map(() => 2 * row.radius), turn: upright, kind: "spheres" }
        : { place: flat(row.pos), size: [row.rectSize.x, row.rectSize.y, Math.min(row.rectSize.x, row.rectSize.y)], turn: upright, kind: "cubes" },
    cubes: (row) => ({ place: row.transform.position, size: row.transform.scale, turn: turned(row.transform.rotation), kind: "cubes" }),
}[game];
const rows = fs.readFileSync(lines, "utf8").trim().split("\n").map(JSON.parse).filter((row) => place in row);
assert(rows.length > 0 && rows.length === places.size);
const left = { spheres: [...scene.spheres], cubes: [...scene.cubes] };
for (const row of rows) {
    if (place === "pos") assert.deepEqual([places.get(row.entity).x, places.get(row.entity).y], [row.pos.x, row.pos.y].map(Math.fround));
    const wanted = shown(row), found = left[wanted.kind].shift();
    const { x, y, z } = found.pose.position;
    assert.deepEqual([x, y, z], wanted.place.map(Math.fround), row.entity);
    assert.deepEqual([found.size.x, found.size.y, found.size.z], wanted.size.map(Math.fround), row.entity);
    const turn = found.pose.orientation;
    [turn.x, turn.y, turn.z, turn.w].forEach((value, i) => assert(Math.abs(value - wanted.turn[i]) < 1e-6, row.entity));
}
assert(left.spheres.length === 0 && left.cubes.length === 0);

// A seek: nothing before the middle, and each tick behind it.
const middle = messageStartTime + (messageEndTime - messageStartTime) / 2n;
let behind = 0;
for await (const message of reader.readMessages({ startTime: middle, topics: [topic] })) {
    assert(message.logTime >= middle);
    behind++;
}
assert(behind > 0 && Math.abs(2 * behind - counts.get(topic)) <= 1);
console.log(`mcap game=${game} messages=${streamed} topics=${counts.size} chunks=${chunkCount} bytes=${bytes.length} places=${places.size}`);
