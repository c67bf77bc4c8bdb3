#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clients saw, and when: of a process that dies, its own log says something else.

    eyes.py watch NAME     make the pipe NAME.pipe, and for each tick that a client applied write a line "us client tick" to
                           NAME.seen, until the client (shoal-client --trace NAME.pipe) ends
    eyes.py gaps NAME KILLED_US TOOK_TICK
                           for each client, how long it saw no new tick when the server was killed, in ms; then how many
                           ticks behind the one at which another server took over any client had seen: those were lost
"""
import os
import re
import sys
import time

SOON_US = 300000


def watch(name):
    os.mkfifo(name + ".pipe")
    pipe = os.open(name + ".pipe", os.O_RDONLY)  # waits for the client
    pattern = re.compile(rb"^client=(\d+) .* tick=(\d+) ")
    newest, rest = {}, b""
    with open(name + ".seen", "w", buffering=1) as seen:
        while True:
            data = os.read(pipe, 65536)
            if not data:  # the client ended
                break
            now_us = time.time_ns() // 1000
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                found = pattern.match(line)
                if found and newest.get(found[1]) != found[2]:
                    newest[found[1]] = found[2]
                    seen.write(f"{now_us} {found[1].decode()} {found[2].decode()}\n")


def gaps(name, killed_us, took_tick):
    """The gap that begins soon and in which the other server took over: what was on its way comes first. When a client had
    seen more than that server had, the longest one."""
    rows, spans, newest = {}, [], 0
    for line in open(name + ".seen"):
        us, client, tick = map(int, line.split())
        rows.setdefault(client, []).append((us, tick))
    for client in sorted(rows):
        pairs = list(zip(rows[client], rows[client][1:]))
        last, first = max((pair for pair in pairs if pair[1][0] >= killed_us and pair[0][0] < killed_us + SOON_US),
                          key=lambda pair: (pair[0][1] <= took_tick < pair[1][1] and pair[1][0] - pair[0][0] > SOON_US,
                                            pair[1][0] - pair[0][0]))
        spans.append((first[0] - last[0]) // 1000)
        newest = max(newest, last[1])
    print(*spans)
    print(max(0, newest - took_tick))


if sys.argv[1] == "watch":
    watch(sys.argv[2])
else:
    gaps(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
