#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""viewers.py BUILD [--game arena] [--bots 8] [--rounds 3] [--seconds 10] [--clients 1000] [--realtime]

What the inspector costs a match. The ticks of a server that is alike but for the inspector, as a table: without it, with it,
with three viewers (the streams and polls of the page), with 32 readers of 1 kB/s. Each round has all of them in turn, since
other work on the machine comes and goes; a figure is the median of the rounds. Then a scrape of /metrics with so many thin
clients: ms and bytes.
"""
import os
import re
import socket
import statistics
import sys
import threading
import time
import urllib.request
from urllib.parse import urlsplit

from relays import end, parse, ready, start as start_program, value, work_folder

VIEWERS, SLOW, SLOW_BYTES_S, SCRAPES = 3, 32, 1000, 50


def prefer():
    """On a machine with other work the server's threads go first, else its ticks are those of the others."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))


def start(options, program, name, *arguments):
    before = prefer if program == "shoal-server" and options.realtime else None
    return start_program(options.binary(program), name, options.folder, *arguments, before=before)


def get(url, path):
    return urllib.request.urlopen(url + path, timeout=30).read()


class Readers:
    """Threads that read until they are stopped."""

    def __init__(self):
        self.stopped, self.threads, self.bytes, self.faults = threading.Event(), [], 0, 0

    def begin(self, run, *arguments):
        thread = threading.Thread(target=self.guard, args=(run, *arguments))
        self.threads.append(thread)
        thread.start()

    def guard(self, run, *arguments):
        try:
            run(*arguments)
        except OSError:
            self.faults += 1

    def stream(self, url, path, bytes_s):
        at = urlsplit(url)
        with socket.socket() as to:
            if bytes_s:
                to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            to.settimeout(30)
            to.connect((at.hostname, at.port))
            to.sendall(f"GET {path} HTTP/1.1\r\nHost: {at.netloc}\r\n\r\n".encode())
            while not self.stopped.is_set():
                count = len(to.recv(bytes_s // 10 if bytes_s else 65536))
                if not count:
                    raise OSError("closed")
                self.bytes += count
                if bytes_s:
                    self.stopped.wait(0.1)

    def poll(self, url, path, every_s):
        while not self.stopped.wait(every_s):
            self.bytes += len(get(url, path))

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def view(readers, url):
    """What the page asks: its streams, and the polls of the views."""
    readers.begin(readers.stream, url, "/api/v1/events?of=status,clients,log", 0)
    readers.begin(readers.stream, url, "/api/v1/positions?hz=30", 0)
    for path in ("/api/v1/status", "/api/v1/clients", "/api/v1/ledger?by=component"):
        readers.begin(readers.poll, url, path, 1)


def phase(options, what):
    """A match of so many seconds. @return p50 and p99 of its ticks in us, and what was read."""
    http = [] if what == "off" else ["--http", "127.0.0.1:0"]
    server = start(options, "shoal-server", "server", "--game", options.game, "--listen", "127.0.0.1:0", "--log", "none",
                   "--tick-rate", 30, "--seed", 1, "--min-clients", options.bots, *http)
    clients = start(options, "shoal-client", "players", ready(server), "--headless", "--bots", options.bots)
    time.sleep(1)
    readers = Readers()
    for _ in range(VIEWERS if what == "viewers" else 0):
        view(readers, value(server, "http"))
    for _ in range(SLOW if what == "slow" else 0):
        readers.begin(readers.stream, value(server, "http"), "/api/v1/positions?hz=30", SLOW_BYTES_S)
    time.sleep(options.seconds)
    readers.end()
    end(server)
    end(clients)
    if readers.faults:
        print(f"{what}: {readers.faults} readers ended early", file=sys.stderr)
    return int(value(server, "tick_us_p50")), int(value(server, "tick_us_p99")), readers.bytes / options.seconds / 1000


def ticks(options):
    names = {"off": "inspector off", "on": "inspector on", "viewers": f"{VIEWERS} viewers",
             "slow": f"{SLOW} readers of 1 kB/s"}
    figures = {what: [] for what in names}
    for _ in range(options.rounds):
        for what in names:
            figures[what].append(phase(options, what))
    base = None
    print(f"{'':24}{'p50 us':>8}{'p99 us':>8}{'p50 more':>10}{'p99 more':>10}{'read kB/s':>11}   p99 of each round")
    for what, name in names.items():
        p50, p99, read = (statistics.median(row[i] for row in figures[what]) for i in range(3))
        base = base or (p50, p99)
        print(f"{name:24}{p50:8.0f}{p99:8.0f}{p50 - base[0]:+10.0f}{p99 - base[1]:+10.0f}{read:11.1f}   "
              + " ".join(str(row[1]) for row in figures[what]), flush=True)


def scrapes(options):
    server = start(options, "shoal-server", "server", "--game", options.game, "--listen", "127.0.0.1:0", "--log", "none",
                   "--tick-rate", 10, "--max-clients", options.clients, "--http", "127.0.0.1:0")
    clients = start(options, "shoal-client", "crowd", ready(server), "--headless", "--bots-thin", options.clients)
    url, ends = value(server, "http"), time.monotonic() + 180
    count = 0
    while count < options.clients and time.monotonic() < ends:
        time.sleep(1)
        count = int(re.search(rb'shoal_clients\{kind="player"\} (\d+)', get(url, "/metrics"))[1])
    took = []
    for _ in range(SCRAPES):
        time.sleep(0.1)
        begin = time.monotonic()
        text = get(url, "/metrics")
        took.append((time.monotonic() - begin) * 1000)
    took.sort()
    print(f"scrape clients={count} ms_p50={took[SCRAPES // 2]:.2f} ms_most={took[-1]:.2f} bytes={len(text)}", flush=True)
    end(server)
    end(clients)


def main():
    options = parse(__doc__, game="arena", bots=8, rounds=3, seconds=10.0, clients=1000, realtime=False)
    with work_folder() as options.folder:
        ticks(options)
        scrapes(options)
        print("load " + " ".join(f"{each:.1f}" for each in os.getloadavg()))


main()
