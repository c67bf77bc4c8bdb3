#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py BUILD [--game arena] [--bots 8] [--seconds 15] [--stream-sync MS]

What a stream costs the server of a match, as lines of key=value: without one, with one, with one whose broker answers 200 ms
late, with one whose broker stands still for 5 s meanwhile; with --stream-sync those again, with datagrams that wait for it.
The broker is Debian's nats-server on the same machine. A row is a match of its own; CPU and ticks as relays.py says.
"""
import os
import signal
import subprocess
import sys
import threading
import time

from relays import end, measure, metrics, parse, processes, ready, show, start, value, work_folder

SLOW_MS, STALL_S = 200, 5
slow_line = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e/slow.py")


def start_broker(folder):
    with open(os.path.join(folder, "broker.conf"), "w") as file:
        file.write(f'listen: "127.0.0.1:-1"\nports_file_dir: "{folder}"\njetstream {{ store_dir: "{folder}/store" }}\n')
    process = subprocess.Popen(["nats-server", "-c", "broker.conf"], cwd=folder, stderr=subprocess.DEVNULL)
    processes.append(process)
    name = os.path.join(folder, f"nats-server_{process.pid}.ports")
    ends = time.monotonic() + 60
    while not os.path.exists(name) or "nats://" not in open(name).read():
        if time.monotonic() > ends:
            sys.exit("nats-server did not start")
        time.sleep(0.05)
    return process, open(name).read().split("nats://127.0.0.1:")[1].split('"')[0]


def start_slow_line(folder, port):
    process = start(sys.executable, "slow", folder, slow_line, port, SLOW_MS)
    return ready(process).split(":")[1]


def stall(broker, after_s):
    def stand_still():
        broker.send_signal(signal.SIGSTOP)
        time.sleep(STALL_S)
        broker.send_signal(signal.SIGCONT)

    threading.Timer(after_s, stand_still).start()


def run(options, what, folder, more, is_slow=False, is_stalled=False):
    address = []
    if what != "off":
        broker, port = start_broker(folder)
        port = start_slow_line(folder, port) if is_slow else port
        address = ["--stream", f"nats://127.0.0.1:{port}"]
    server = start(options.binary("shoal-server"), "server", folder, "--game", options.game, "--listen", "127.0.0.1:0",
                   "--tick-rate", options.tick_rate, "--log", "match.slog", "--http", "127.0.0.1:0", "--min-clients",
                   options.bots, *address, *more)
    start(options.binary("shoal-client"), "players", folder, ready(server), "--headless", "--bots", options.bots)
    time.sleep(4)
    if is_stalled:
        stall(broker, 1)
    before = metrics(server)
    figures = measure(server, options.seconds)
    after = metrics(server)
    if address:
        name = "shoal_stream_bytes_total"
        figures["stream_kb_s"] = f"{(after[name] - before[name]) / options.seconds / 1000:.1f}"
        figures["ack_ms"] = f"{after['shoal_stream_ack_seconds'] * 1000:.2f}"
        figures["waiting_records"] = f"{after['shoal_stream_waiting_records']:.0f}"
    end(server)
    show(f"stream={what} sync={more[-1] if more else 'off'}", **figures, tick_us_p50=value(server, "tick_us_p50"),
         tick_us_p99=value(server, "tick_us_p99"))


def main():
    options = parse(__doc__, game="arena", bots=8, seconds=15.0, tick_rate=60, stream_sync=None)
    rows = [("off", [], {}), ("on", [], {}), ("slow", [], {"is_slow": True}), ("stalled", [], {"is_stalled": True})]
    if options.stream_sync:
        rows += [(what, ["--stream-sync", options.stream_sync], how) for what, _, how in rows[1:]]
    for what, more, how in rows:
        with work_folder() as folder:
            run(options, what, folder, more, **how)


main()
