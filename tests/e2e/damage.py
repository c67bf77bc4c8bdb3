#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damage a log again and again, and check what the programs say about it.

    damage.py BIN LOG COUNT SEED

BIN is the folder of the programs, LOG a whole log with its segments beside it. Each damage is a
flipped bit, a burst of other bytes, a cut, two blocks that change places, a block that stands
there twice, or bytes or a block that are missing. The truth is naive: bytes are whole when they are
those of a block of the old log, byte for byte. From that follow the verdict, the ticks that can be
read and their hashes, by LOG.md alone.
Every command has to say the same. The last line is "damages=N wrong=0"; the exit code is 1 when
something is wrong. A damage is repeated with its own seed: damage.py BIN LOG 1 SEED.
"""

import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

PROLOGUE = 16
HEADER = struct.Struct("<8sBBHIIIQQQQQII")
SYNC = bytes.fromhex("f553484c420d0aa7")
TYPE_HEADER, TYPE_DATA, TYPE_KEYFRAME, TYPE_INDEX, TYPE_COPY = 1, 2, 3, 4, 6
SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
EVERY = 50  # ticks between two exported values

Block = collections.namedtuple("Block", "data type ordinal first count first_tick last_tick at")


def read_blocks(data):
    """The blocks of a whole file."""
    blocks, at = [], PROLOGUE
    while at < len(data):
        f = HEADER.unpack_from(data, at)
        assert f[0] == SYNC
        end = at + HEADER.size + f[4]
        blocks.append(Block(data[at:end], f[3], f[7], f[8], f[6], f[9], f[10], at))
        at = end
    return blocks


class Log:
    """A whole log: its files, and what they hold."""

    def __init__(self, programs, name):
        self.programs = programs
        self.names = sorted(glob.glob(glob.escape(name) + ".seg*")) + [name]
        self.files = [open(n, "rb").read() for n in self.names]
        self.blocks = [read_blocks(f) for f in self.files]
        self.known = {b.data[: HEADER.size]: b for f in self.blocks for b in f}
        self.hashes = {}
        for line in run(programs, "shoal-replay", "dump", name).stdout.splitlines():
            record = json.loads(line)
            if "end" in record:
                self.hashes[record["end"]["tick"]] = record["end"]["state_hash"]
        self.ticks = sorted(self.hashes)
        self.rows = self.export(name)[1]

    def export(self, name):
        done = run(self.programs, "shoal-replay", "export", name, "--what", f"every={EVERY}")
        rows = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            rows[json.loads(line)["tick"]].append(line)
        return done, rows


def run(programs, *words):
    return subprocess.run(
        [os.path.join(programs, words[0]), *words[1:]], capture_output=True, text=True, check=False
    )


# ---- damage


def choose_block(chance, log):
    file = chance.randrange(len(log.files))
    return file, chance.choice(log.blocks[file])


def flip(chance, log, files):
    file = chance.randrange(len(files))
    at = chance.randrange(len(files[file]))
    if chance.random() < 0.5:  # blocks that are no data are few: hit each of them as often
        others = [(i, b) for i, f in enumerate(log.blocks) for b in f if b.type != TYPE_DATA]
        file, block = chance.choice(others)
        at = block.at + chance.randrange(len(block.data))
    if chance.random() < 0.2:  # and the last ones
        file = len(files) - 1
        block = chance.choice(log.blocks[file][-2:])
        at = block.at + chance.randrange(len(block.data))
    files[file][at] ^= 1 << chance.randrange(8)
    return f"flip file={file} at={at}"


def burst(chance, _log, files):
    file = chance.randrange(len(files))
    at = chance.randrange(len(files[file]))
    size = min(chance.choice([1, 8, 72, 512, 4096]), len(files[file]) - at)
    files[file][at : at + size] = bytes(size) if chance.random() < 0.5 else chance.randbytes(size)
    return f"burst file={file} at={at} size={size}"


def cut(chance, log, files):
    file = chance.randrange(len(files)) if chance.random() < 0.5 else len(files) - 1
    at = chance.randrange(len(files[file]))
    if chance.random() < 0.3:
        at = chance.choice(log.blocks[file]).at
    del files[file][at:]
    return f"cut file={file} at={at}"


def put(files, where, block, old_bytes):
    at = where[1].at
    files[where[0]][at : at + old_bytes] = block.data


def swap(chance, log, files):
    a, b = choose_block(chance, log), choose_block(chance, log)
    if chance.random() < 0.3:  # neighbours
        near = log.blocks[a[0]]
        b = (a[0], near[(near.index(a[1]) + 1) % len(near)])
    a, b = sorted([a, b], key=lambda w: (w[0], w[1].at))
    if a[1] is b[1]:
        return "swap none"
    put(files, b, a[1], len(b[1].data))
    put(files, a, b[1], len(a[1].data))
    return f"swap {a[1].ordinal} and {b[1].ordinal}"


def duplicate(chance, log, files):
    file, block = choose_block(chance, log)
    to = choose_block(chance, log)
    if chance.random() < 0.2:
        to = (to[0], to[1]._replace(at=len(files[to[0]])))
    replaced = len(to[1].data) if chance.random() < 0.3 else 0
    put(files, to, block, replaced)
    return f"duplicate {block.ordinal} of file {file} in file={to[0]} at={to[1].at} over={replaced}"


def take_out(chance, log, files):
    file, block = choose_block(chance, log)
    size = chance.choice([1, 1, 7, len(block.data)])
    at = block.at + chance.randrange(len(block.data) - size + 1)
    del files[file][at : at + size]
    return f"take_out file={file} at={at} size={size}"


# ---- the naive truth


def find_pieces(log, data):
    """What a file is made of: blocks of the old log, None for other bytes."""
    pieces, at = [], 0
    if data[:PROLOGUE] == log.files[0][:PROLOGUE]:
        at = PROLOGUE
    elif data:
        pieces.append((None, 0))
    while at < len(data):
        block = log.known.get(bytes(data[at : at + HEADER.size]))
        if block and data[at : at + len(block.data)] == block.data:
            pieces.append((block, at))
            at += len(block.data)
            continue
        pieces.append((None, at))
        after = data.find(SYNC, at + 1)
        while after >= 0 and bytes(data[after : after + HEADER.size]) not in log.known:
            after = data.find(SYNC, after + 1)
        at = after if after >= 0 else len(data)
    return pieces


def find_rising(ordinals):
    """Positions of a longest part that rises: the blocks that stand at their places."""
    best, before = [], [None] * len(ordinals)
    for i, ordinal in enumerate(ordinals):
        low = 0
        while low < len(best) and ordinals[best[low]] < ordinal:
            low += 1
        before[i] = best[low - 1] if low else None
        best[low : low + 1] = [i]
    chosen, at = set(), best[-1] if best else None
    while at is not None:
        chosen.add(at)
        at = before[at]
    return chosen


class Truth:
    """What is right to say about the damaged files."""

    def __init__(self, log, files):
        self.verdict, self.is_open = "whole", True
        pieces = [(i, *p) for i, f in enumerate(files) for p in find_pieces(log, f)]
        heads = [log.blocks[i][0] for i in range(len(files))]
        is_head = [b is not None and b.data == heads[f].data and at == PROLOGUE for f, b, at in pieces]
        placed = [
            (i, b)
            for i, (_, b, _) in enumerate(pieces)
            if b is not None and b.type != TYPE_HEADER
        ]
        rising = find_rising([b.ordinal for _, b in placed])
        self.order = [placed[i][1] for i in sorted(rising)]
        good = {placed[i][0] for i in rising}
        good |= {i for i, is_it in enumerate(is_head) if is_it}
        last = max(good, default=-1)
        strays = {i for i, (_, b, _) in enumerate(pieces) if b is not None and i not in good}
        bad = {i for i, (_, b, _) in enumerate(pieces) if b is None and i < last}
        first = [b.ordinal for b in log.blocks[0] if b.type != TYPE_HEADER][0]
        wanted = range(first, self.order[-1].ordinal + 1) if self.order else []
        is_gap = [b.ordinal for b in self.order] != list(wanted)
        has_head = any(is_head[i] for i, p in enumerate(pieces) if p[0] == 0)
        has_start = has_head and bytes(files[0][:PROLOGUE]) == log.files[0][:PROLOGUE]
        has_copy = any(b.type == TYPE_COPY for _, b in placed)
        has_copy |= any(b is not None and b.type == TYPE_HEADER for _, b, _ in pieces)
        self.is_open = (has_start or has_copy) and len(files[0]) >= PROLOGUE
        with_head = {pieces[i][0] for i, is_it in enumerate(is_head) if is_it}
        lacks_head = any(pieces[i][0] not in with_head for i in good)
        if strays or bad or is_gap or lacks_head or not has_start:
            self.verdict = "damaged"
        elif [bytes(f) for f in files] != log.files:
            self.verdict = "cut"
        self.readable = self.find_ticks(log)
        self.shown = set(self.readable) | self.find_keyframes(log)
        blocks = [b for _, b, _ in pieces if b is not None and b.type == TYPE_DATA]
        self.last_tick = max((b.last_tick for b in blocks), default=0)

    def find_keyframes(self, log):
        """The ticks of keyframes, all parts of which are there: the state after the tick."""
        parts, here = [
            collections.Counter(b.first_tick for b in blocks if b.type == TYPE_KEYFRAME)
            for blocks in ([b for f in log.blocks for b in f], self.order)
        ]
        return {tick for tick in here if here[tick] == parts[tick]}

    def find_ticks(self, log):
        """The ticks that a reader gets: data blocks one after the other, or behind a keyframe."""
        first = log.blocks[0][1]
        is_part = first.type != TYPE_DATA
        ticks, number, is_lost = [], None if is_part else 1, is_part
        keyframes = self.find_keyframes(log)
        for block in self.order:
            if block.type == TYPE_KEYFRAME and block.first_tick in keyframes:
                number, is_lost = block.first, False
            elif block.type == TYPE_DATA and not is_lost and block.first == number:
                ticks += [t for t in log.ticks if block.first_tick <= t <= block.last_tick]
                number += block.count
            elif block.type == TYPE_DATA:
                is_lost = True
        return sorted(set(ticks))


# ---- checking


class Check:
    """Runs every command on one damaged log. `wrong` lists what is not the truth."""

    def __init__(self, log, truth, name, seed):
        self.log, self.truth, self.name = log, truth, name
        self.chance = random.Random(seed)
        self.wrong = []
        self.lost_bytes = None  # as info says

    def expect(self, is_right, what, done):
        if not is_right:
            said = (done.stdout[-300:] + " | " + done.stderr[-300:]).replace("\n", " ; ")
            self.wrong.append(f"{what}: exit={done.returncode} {said}")

    def code(self):
        return 1 if self.truth.verdict == "damaged" else 0

    def replay(self, *words):
        done = run(self.log.programs, "shoal-replay", *words)
        self.expect(done.returncode in (0, 1, 2, 4, 5), f"{words[0]} crashed", done)
        return done

    def is_right_tail(self, line):
        found = re.search(r" tail=(\w+) lost_bytes=(\d+)", line)
        return bool(found) and found[1] == self.truth.verdict and found[2] == self.lost_bytes

    def check(self):
        if not self.truth.is_open:
            for command in ("info", "verify", "show", "dump", "stats"):
                done = self.replay(command, self.name)
                is_right = done.returncode == 1 and done.stderr and not done.stdout
                self.expect(is_right, f"{command} of no log", done)
            return
        for command in (self.info, self.verify, self.show, self.dump, self.export):
            command()
        for command in (self.inputs, self.stats, self.diff, self.slice, self.play):
            command()

    def info(self):
        done = self.replay("info", self.name)
        said = dict(line.split("=", 1) for line in done.stdout.splitlines())
        self.expect(done.returncode == self.code(), "info: exit code", done)
        self.lost_bytes = said["lost_bytes"]
        self.expect(said.get("tail") == self.truth.verdict, f"info: not {self.truth.verdict}", done)
        if self.truth.verdict == "damaged":
            lost = self.truth.last_tick - self.log.ticks[0] + 1 - len(self.truth.readable)
            self.expect(int(said["lost_ticks"]) == lost, f"info: {lost} ticks are lost", done)
        if self.truth.verdict == "cut" and said["closed"] == "no":
            self.expect(int(said["lost_bytes"]) > 0, "info: nothing is lost", done)

    def verify(self):
        done = self.replay("verify", "--once", self.name)
        line = done.stdout.strip()
        ticks = self.truth.readable
        self.expect(done.returncode == self.code(), "verify: exit code", done)
        self.expect(line.startswith(f"verified ticks={len(ticks)} "), f"verify: not {len(ticks)}", done)
        self.expect(self.is_right_tail(line), f"verify: not {self.truth.verdict}", done)
        if ticks and ticks[-1] == self.truth.last_tick:
            self.expect(f"state_hash={self.log.hashes[ticks[-1]]}" in line, "verify: hash", done)

    def show(self):
        tick = self.chance.choice(self.log.ticks)
        done = self.replay("show", self.name, "--tick", str(tick), "--entity", "1")
        if tick in self.truth.shown:
            wanted = f"tick={tick} entities="
            self.expect(done.stdout.startswith(wanted), f"show: tick {tick}", done)
            self.expect(f"state_hash={self.log.hashes[tick]}" in done.stdout, "show: hash", done)
            is_there = "there is no entity" not in done.stderr
            self.expect(done.returncode == (self.code() if is_there else 1), "show: exit code", done)
        else:
            self.expect(done.returncode in (1, 2), f"show: tick {tick} is lost", done)
            self.expect("state_hash" not in done.stdout, f"show: tick {tick} is lost", done)
            is_told = done.stdout.startswith("failed exit=1 ") if done.returncode == 1 else done.stderr
            self.expect(is_told, "show: no result", done)

    def dump(self):
        done = self.replay("dump", self.name)
        hashes = {}
        for line in done.stdout.splitlines():
            record = json.loads(line)
            if "end" in record:
                hashes[record["end"]["tick"]] = record["end"]["state_hash"]
        wanted = {t: self.log.hashes[t] for t in self.truth.readable}
        self.expect(hashes == wanted, f"dump: not {len(wanted)} ticks", done)
        self.expect(done.returncode == self.code(), "dump: exit code", done)

    def export(self):
        done, rows = self.log.export(self.name)
        wanted = {t: self.log.rows[t] for t in self.truth.readable if self.log.rows.get(t)}
        self.expect(rows == wanted, "export: other rows", done)
        self.expect(done.returncode == self.code(), "export: exit code", done)

    def inputs(self):
        done = self.replay("export", self.name, "--what", "inputs", "--output", self.name + ".csv")
        wanted = f"exported rows=\\d+ ticks={len(self.truth.readable)} "
        self.expect(re.match(wanted, done.stdout), "export of inputs: ticks", done)
        self.expect(done.returncode == self.code(), "export of inputs: exit code", done)

    def stats(self):
        done = self.replay("stats", self.name)
        wanted = f"end records={len(self.truth.readable)} "
        self.expect(wanted in done.stdout, "stats: ticks", done)
        self.expect(done.returncode == self.code(), "stats: exit code", done)

    def diff(self):
        done = run(SCRIPTS, "diff", self.log.names[-1], self.name)
        ticks = len(self.truth.readable)
        word, code = ("same", self.code()) if ticks else ("different", 5)
        self.expect(f"{word} ticks={ticks} " in done.stdout, f"diff: {ticks} ticks", done)
        self.expect(done.returncode == code, "diff: exit code", done)

    def slice(self):
        first = self.chance.choice(self.log.ticks)
        last = min(first + 60, self.log.ticks[-1])
        output = self.name + ".slice"
        done = self.replay(
            "slice", self.name, "--from", str(first), "--to", str(last), "--output", output
        )
        if done.stdout.startswith("sliced "):
            self.expect(done.returncode == self.code(), "slice: exit code", done)
            made = run(self.log.programs, "shoal-replay", "verify", "--once", output)
            count = re.search(r" ticks=(\d+)", done.stdout)[1]
            self.expect(f"verified ticks={count} " in made.stdout, "slice: not a log", made)
            self.expect(" tail=whole " in made.stdout, "slice: not whole", made)
        else:
            is_told = done.stdout.startswith("failed exit=1 ") if done.returncode == 1 else done.stderr
            self.expect(done.returncode in (1, 2) and is_told, "slice: no result", done)

    def play(self):
        done = run(self.log.programs, "shoal-client", "--replay", self.name, "--headless")
        line = done.stdout.strip()
        ticks = self.truth.readable
        self.expect(done.returncode == self.code(), "playback: exit code", done)
        self.expect(self.is_right_tail(line), f"playback: not {self.truth.verdict}", done)
        if ticks and ticks[-1] == self.truth.last_tick:
            self.expect(line.startswith(f"watched ticks={ticks[-1]} "), "playback: ticks", done)


def check_folder(log, folder, made):
    """All damaged logs at once: a line for each."""
    done = run(SCRIPTS, "verify", folder)
    lines = dict(
        line[len("log=") :].split(" ", 1) for line in done.stdout.splitlines() if line[:4] == "log="
    )
    wrong = []
    for name, truth, what in made:
        line = lines.get(os.path.basename(name), "no line")
        is_right = f" tail={truth.verdict} " in line if truth.is_open else line == "failed exit=1"
        if not is_right:
            wrong.append(f"{what} verdict={truth.verdict}: folder: {line}")
    codes = {0} | {1 for _, truth, _ in made if truth.verdict == "damaged" or not truth.is_open}
    if done.returncode != max(codes):
        wrong.append(f"folder: exit code {done.returncode}")
    return wrong


def damage_one(log, folder, seed):
    chance = random.Random(seed)
    files = [bytearray(f) for f in log.files]
    what = ""
    while [bytes(f) for f in files] == log.files:
        twice = [flip, swap, duplicate, take_out]
        how = chance.choice([flip, burst, cut, *twice, *twice])
        what = f"seed={seed} {how(chance, log, files)}"
    name = os.path.join(folder, f"{seed}.slog")
    for old, data in zip(log.names, files):
        with open(name + old[len(log.names[-1]) :], "wb") as file:
            file.write(data)
    truth = Truth(log, files)
    check = Check(log, truth, name, seed)
    check.check()
    wrong = [f"{what} verdict={truth.verdict}: {w}" for w in check.wrong]
    for left in glob.glob(name + ".slice*") + glob.glob(name + ".csv"):
        os.unlink(left)
    return (name, truth, what), wrong


def main():
    programs, name, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    log = Log(programs, name)
    folder = tempfile.mkdtemp(prefix="damage.", dir=".")
    wrong, verdicts = [], collections.Counter()
    batch = 100
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for first in range(seed, seed + count, batch):
            seeds = range(first, min(first + batch, seed + count))
            results = list(pool.map(lambda s: damage_one(log, folder, s), seeds))
            made = [r[0] for r in results]
            wrong += [w for r in results for w in r[1]]
            wrong += check_folder(log, folder, made)
            verdicts.update(t.verdict if t.is_open else "no log" for _, t, _ in made)
            for left in os.listdir(folder):
                os.unlink(os.path.join(folder, left))
    shutil.rmtree(folder)
    for line in wrong[:200]:
        print(line)
    said = " ".join(f"{k.replace(' ', '_')}={v}" for k, v in sorted(verdicts.items()))
    print(f"damages={count} {said} wrong={len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
