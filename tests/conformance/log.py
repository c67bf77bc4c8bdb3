#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""log.py PROTO BUILD: the log of log_vectors.txt. Its parts are those of the table of LOG.md, its blocks are framed as that
page says, its records are those of the lines, and our reader says of it what they say. Its columns: test_log_columns."""
import ctypes
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

from stream import KINDS, fields, varint


def crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def unpack(stored, size):
    out = ctypes.create_string_buffer(size)
    made = ctypes.CDLL("libzstd.so.1").ZSTD_decompress(out, ctypes.c_size_t(size), stored, ctypes.c_size_t(len(stored)))
    return out.raw[:made]


def describe(kind, record):
    if kind != 2:
        return {1: "header", 4: "index"}[kind]
    (number, inside), = fields(record)
    return f"{KINDS.get(number, 'state')}:{dict(fields(inside)).get(1, 0)}"


def check(data, lines):
    """The framing of the file, and the records of each block."""
    def number(at, size):
        return int.from_bytes(data[at:at + size], "little")
    said, columns = re.findall(r"^record (\S+) hex=(\S+)$", lines, re.M), re.search(r"payload=(\S+) columns=(\S+)", lines)
    assert data[:12] == b"SHOALLOG\3\0\0\0" and number(12, 4) == crc(data[:12])
    at, kinds, next_record, blocks = 16, [], 0, bytes(32)
    while at < len(data):
        stored, kind = data[at + 72:at + 72 + number(at + 12, 4)], number(at + 10, 2)
        assert data[at:at + 9].hex() == "f553484c420d0aa701" and number(at + 68, 4) == crc(data[at:at + 68])
        assert number(at + 64, 4) == crc(stored) and number(at + 56, 8) == number(72, 8)
        assert number(at + 24, 8) == len(kinds) and number(at + 32, 8) == next_record
        payload = unpack(stored, number(at + 16, 4) + 32) if data[at + 9] & 1 else stored
        if kind == 2 and data[at + 9] & 1:
            assert payload.hex() == columns[2]
            payload, data_at = bytes.fromhex(columns[1]), at
        assert len(payload) == number(at + 16, 4)
        for _ in range(number(at + 20, 4)):
            size, begin = varint(payload, 0)
            record, payload = payload[begin:begin + size], payload[begin + size:]
            assert (describe(kind, record), record.hex()) == said.pop(0)
        assert not payload
        if kind == 4:  # no keyframes and no signature
            total = hashlib.blake2b(bytes(32) + blocks, digest_size=32).digest()
            assert varint(record, 0)[0] == len(kinds) and varint(record, 1) == (data_at, 3)
            assert record[3:] == bytes(33) + total + b"\0"
        blocks = hashlib.blake2b(blocks + data[at:at + 72] + stored, digest_size=32).digest()
        next_record = 1 if kind == 1 else next_record + number(at + 20, 4)
        kinds.append(kind)
        at += 72 + len(stored)
    assert kinds == [1, 2, 4] and not said and at == len(data)


def has(line, expected):
    """Objects of a dump may have members that are newer than the page."""
    if isinstance(expected, dict):
        return all(key in line and has(line[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return len(line) == len(expected) and all(map(has, line, expected))
    return line == expected


with open(f"{sys.argv[1]}/log_vectors.txt", encoding="utf-8") as file:
    text = file.read()
with open(f"{sys.argv[1]}/LOG.md", encoding="utf-8") as file:
    table = re.findall(r"^\| (\d+) \| (\d+) \|", file.read().split("## A whole log", 1)[1], re.M)
parts = re.findall(r"^part at=(\d+) size=(\d+) hex=(\S+)$", text, re.M)
log = bytes.fromhex("".join(part[2] for part in parts))
ends = [sum(len(part[2]) // 2 for part in parts[:i]) for i in range(len(parts) + 1)]
assert [part[:2] for part in parts] == table == [(str(a), str(b - a)) for a, b in zip(ends, ends[1:])]
check(log, text)
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/three.slog", "wb") as file:
        file.write(log)
    for word, expected in re.findall(r"^says (\w+) (.*)$", text, re.M):
        said = subprocess.run([f"{sys.argv[2]}/bin/shoal-replay", word, "three.slog"], cwd=folder, check=True, text=True,
                              stdout=subprocess.PIPE, env={**os.environ, "SHOAL_MODULE_PATH": f"{sys.argv[2]}/test/sample"}).stdout
        lines = said.splitlines()
        if word == "dump":
            lines = [expected for line in lines if has(json.loads(line), json.loads(expected))]
        assert expected in lines, f"{word} does not say {expected}"
print(f"log: {len(log)} bytes are what the page says")
