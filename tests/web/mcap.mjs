// SPDX-License-Identifier: MIT
// Reads an MCAP file whole and by its index, each message by its own schema:
//
//     node mcap.mjs FILE LINES TICK
//
// LINES is what `shoal-replay export --components pos` says of TICK: the same places.
import assert from "node:assert";
import fs from "node:fs";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";
import protobuf from "protobufjs";
import descriptor from "protobufjs/ext/descriptor/index.js";

const [file, lines, tick] = process.argv.slice(2);
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
const counts = new Map(), places = new Map();
let time = 0n, moves = 0;
for await (const message of reader.readMessages()) {
    assert(message.logTime >= time);
    time = message.logTime;
    const channel = reader.channelsById.get(message.channelId);
    const said = types.get(channel.schemaId).decode(message.data);
    counts.set(channel.topic, (counts.get(channel.topic) ?? 0) + 1);
    if (channel.topic === "/inputs" && said.message) moves++;
    if (channel.topic === "/components/pos" && Number(said.tick) === Number(tick))
        for (const at of said.entities) places.set(at.entity, [at.x, at.y]);
    if (channel.topic === "/scene") assert(said.entities[0].spheres.length > 0);
}
assert.equal([...counts.values()].reduce((sum, count) => sum + count, 0), streamed);
for (const topic of ["/inputs", "/players", "/components/pos", "/scene"]) assert(counts.get(topic) > 0, topic);
assert([...counts.keys()].some((topic) => topic.startsWith("/events/")));
assert(moves > 0);

const rows = fs.readFileSync(lines, "utf8").trim().split("\n").map(JSON.parse);
assert(rows.length > 0 && rows.length === places.size);
for (const row of rows) assert.deepEqual(places.get(row.entity), [row.pos.x, row.pos.y].map(Math.fround));

// A seek: nothing before the middle, and each tick behind it.
const middle = messageStartTime + (messageEndTime - messageStartTime) / 2n;
let behind = 0;
for await (const message of reader.readMessages({ startTime: middle, topics: ["/components/pos"] })) {
    assert(message.logTime >= middle);
    behind++;
}
assert.equal(behind, counts.get("/components/pos") / 2);
console.log(`mcap messages=${streamed} topics=${counts.size} chunks=${chunkCount} bytes=${bytes.length} places=${places.size}`);
