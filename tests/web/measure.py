#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py BUILD [--what age|crowd|flood|page] [--game arena] [--web 4] [--enet 4] [--seconds 20] [--rounds 1] [--loss 0]
               [--stall MS,EVERY_MS [--cut]] [--rate KBIT] [--delay 60] [--processes 1] [--thin] [--realtime] [--congestion cubic|bbr] [--bots]

Players of pages (node, the game's wasm of BUILD/lib/shoal/web) beside bots over ENet, in one match. With --bots those of
pages are bots too (shoal-web-bots: C, the same connections), which take no more of the machine than those over ENet.

age    both over one line (line.py) with a delay each way, loss, stalls. The age of the newest tick that a client has applied,
       at each moment: now less the time at which the server sent that tick. One clock: that of the machine.
crowd  on loopback: ticks, processor time, bytes of a client of each kind, and whether all worlds are equal.
flood  crowd, and beside it connections that never play: garbage for a request, a wrong hello, frames that are too large, a
       thousand frames a second.
page   headless Chromium without a GPU beside the bots: the first picture after the page began, milliseconds of a frame (its
       script: what came, the tick, the picture's calls), bytes packed.
"""
import base64
import collections
import os
import random
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))
sys.dont_write_bytecode = True
from relays import parse, processes, ready, value, work_folder  # noqa: E402

SKIPPED_MS, STEP_MS = 2000, 2


def prefer():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))


def prefer_some():
    os.nice(-10)


def start(options, name, *command, before=None):
    out, err = (open(os.path.join(options.folder, f"{name}.{kind}"), "w+") for kind in ("out", "err"))
    process = subprocess.Popen([*map(str, command)], stdout=out, stderr=err, cwd=options.folder, preexec_fn=before)
    process.name, process.out = name, out.name
    processes.append(process)
    return process


def text_of(process):
    return open(process.out).read()


def lines_of(text, first):
    return [dict(word.split("=", 1) for word in line.split() if "=" in word)
            for line in text.splitlines() if line.startswith(first)]


def run_match(options, name, spaces=("", ""), address="127.0.0.1", during=None):
    """A match of both kinds. @return the done line, clients by kind, node's lines."""
    inside = [["ip", "netns", "exec", space] if space else [] for space in spaces]
    token = os.path.join(options.folder, "tokens")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write("reader " + "x" * 43 + "\n")
    server = start(options, "server", *inside[0], options.binary("shoal-server"), "--game", options.game, "--listen",
                   f"{address}:0", "--http", f"{address}:7780,token-file={token}", "--log", "none", "--tick-rate", options.tick_rate, "--seed", 1,
                   "--min-clients", options.web + options.enet, "--ticks", int(options.seconds * options.tick_rate),
                   "--max-clients", 256, "--allow-dev-key", "--max-per-address", 0, "--tune", "sessions=4000",
                   "--debug", "trace-session=server.trace", before=prefer if options.realtime else None)
    listen = ready(server)
    http = value(server, "http")
    for file in ("play.js", "game.js", "paint.js"):
        shutil.copy(os.path.join(HERE, "../../server/inspect/page", file), options.folder)
    shutil.copy(os.path.join(HERE, "measure.mjs"), options.folder)
    open(os.path.join(options.folder, "package.json"), "w").write('{"type": "module"}')
    clients, web = [], []
    for count, name, program, to in ((options.enet, "enet", "shoal-client", listen),
                                     (options.web if options.bots else 0, "web", "shoal-web-bots", http[len("http://"):])):
        if count:
            (web if name == "web" else clients).append(start(
                options, name, *inside[1], options.binary(program), to, "--headless", "--game", options.game,
                "--bots-thin" if options.thin else "--bots", count, "--debug", f"trace-session={name}.trace"))
    share = -(-options.web // options.processes) or 1
    for at in range(0, 0 if options.bots else options.web, share):
        web.append(start(options, f"web{at}", *inside[1], "node", "--experimental-websocket", "measure.mjs",
                         os.path.join(os.path.abspath(options.build), "lib/shoal/web"), options.game,
                         http.replace("http", "ws") + "/play/socket", min(share, options.web - at), at + 1,
                         before=prefer_some if options.realtime else None))
    if during:
        during(listen, http)
    try:
        server.wait(options.seconds * 3 + 60)
        for client in clients + web:
            client.wait(20)
    except subprocess.TimeoutExpired as late:
        print("late:", late, file=sys.stderr)
        for process in [server, *clients, *web]:
            print(process.name, text_of(process)[-400:], open(process.out[:-3] + "err").read()[-800:], file=sys.stderr)
    done = lines_of(text_of(server), "done")
    peers = {row["id"]: row for row in lines_of(text_of(server), "peer id=")}
    found = {"enet": lines_of("".join(map(text_of, clients)), "client id="),
             "web": lines_of("".join(map(text_of, web)), "client id=")}
    equal = sum(row["mirror_hash"] == peers.get(row["id"], {}).get("scope_hash") for rows in found.values() for row in rows)
    return done[0] if done else {}, found, equal, "".join(map(text_of, web))


# ---- how old what they see is ----

def ages(events):
    """events: (when a newer tick was applied, when it was sent), in ms. @return sampled ages."""
    events.sort()
    first, samples = events[0][0] + SKIPPED_MS, []
    at = 0
    moment = first
    while moment < events[-1][0]:
        while events[at + 1][0] <= moment:
            at += 1
        samples.append(moment - events[at][1])
        moment += STEP_MS
    return samples


def age_events(options, done, web_text):
    """@return for each kind: of each client its events."""
    folder, sent, ticks = options.folder, {}, []
    for row in lines_of(open(f"{folder}/server.trace").read(), "t_ms"):
        if row.get("dir") == "out" and row["kind"] == "state":
            sent[row["client"], row["seq"]] = float(row["t_ms"])
            if not ticks or ticks[-1] != float(row["t_ms"]):
                ticks.append(float(row["t_ms"]))
    enet, web, newest = collections.defaultdict(list), collections.defaultdict(list), {}
    for kind, trace in (enet, f"{folder}/enet.trace"), (web, f"{folder}/web.trace"):
        for row in lines_of(open(trace).read() if os.path.exists(trace) else "", "t_ms"):
            key = row.get("client"), row.get("seq")
            if row.get("dir") == "in" and row["kind"] == "state" and key in sent and sent[key] > newest.get(row["client"], 0):
                newest[row["client"]] = sent[key]
                kind[row["client"]].append((float(row["t_ms"]), sent[key]))
    for row in lines_of(web_text, "tick "):
        web[row["client"]].append((float(row["t_ms"]), ticks[0] + (int(row["tick"]) - 1) * 1000 / options.tick_rate))
    late = max((abs(sent - ticks[0] - i * 1000 / options.tick_rate) for i, sent in enumerate(ticks[:int(done["ticks"])])), default=0)
    return {"enet": enet, "web": web}, late


def show_ages(kind, clients):
    samples = sorted(age for events in clients.values() if len(events) > 99 for age in ages(events))
    arrivals = sorted(at - sent for events in clients.values() for at, sent in events[60:])
    if not samples:
        return None
    figures = [statistics.mean(samples), *(samples[len(samples) * part // 1000] for part in (500, 990, 999))]
    print(f"  {kind:5} age mean={figures[0]:.1f} p50={figures[1]:.1f} p99={figures[2]:.1f} p99.9={figures[3]:.1f} "
          f"most={samples[-1]:.0f}  at arrival mean={statistics.mean(arrivals):.1f} p99={arrivals[len(arrivals) * 99 // 100]:.1f} "
          f"updates={sum(map(len, clients.values())) / len(clients):.0f}", flush=True)
    return figures


def measure_age(options):
    for _ in range(options.rounds):
        more = [word for key, text in (("--stall", options.stall), ("--rate", options.rate),
                                         ("--congestion", options.congestion)) if text for word in (key, text)]
        more += ["--cut"] if options.cut else []
        name = f"shoal-{os.getpid()}"
        line = start(options, "line", sys.executable, os.path.join(HERE, "line.py"), name, "--loss", options.loss, "--delay-ms",
                     options.delay, *more, before=prefer)
        ready(line)
        try:
            done, found, equal, text = run_match(options, name, (name + "-server", name + "-client"), "10.77.0.1")
        finally:
            line.send_signal(signal.SIGTERM)
            line.wait(10)
        show_crowd(options, done, found, equal, text)
        if not done:
            continue
        kinds, late = age_events(options, done, text)
        print(f"  ticks were at most {late:.1f} ms off their time")
        for kind, clients in kinds.items():
            if clients:
                show_ages(kind, clients)
        print("  " + text_of(line).split("\n", 1)[1].strip().replace("\n", "\n  "), flush=True)


# ---- many, and strangers ----

def show_crowd(options, done, found, equal, text):
    print(f"loss={options.loss} load={os.getloadavg()[0]:.1f} equal={equal}/{options.web + options.enet} "
          + " ".join(f"{key}={done.get(key)}" for key in ("tick_us_p50", "tick_us_p99", "cpu_us_per_tick", "sent_bytes", "solo_stopped",
                                                          "web_connections", "web_refused", "web_stale", "web_too_fast",
                                                          "web_malformed")))
    seconds = options.seconds
    for kind, rows in found.items():
        if rows:
            got, gave = (sorted(int(row.get(key, 0)) / seconds for row in rows) for key in ("recv_bytes", "sent_bytes"))
            print(f"  {kind:5} clients={len(rows)} bytes/s of one, to it: mean={statistics.mean(got):.0f} most={got[-1]:.0f}  "
                  f"from it: mean={statistics.mean(gave):.0f}")
    print("  " + " ".join(re.findall(r"busy_percent=.*", text)), flush=True)


def udp_drops():
    rows = [line.split() for line in open("/proc/net/snmp") if line.startswith("Udp:")]
    return sum(int(dict(zip(*rows))[key]) for key in ("InErrors", "RcvbufErrors", "SndbufErrors"))


def upgrade(at):
    key = base64.b64encode(random.randbytes(16)).decode()
    return (f"GET /play/socket HTTP/1.1\r\nHost: {at[0]}:{at[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode()


def frame(payload):
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack("!H", len(payload))
    return b"\x82" + size + bytes(4) + payload


def bother(at, number, stopped, count):
    while not stopped.is_set():
        try:
            with socket.create_connection(at, 5) as to:
                to.settimeout(0.5)
                if number % 4 == 0:
                    to.sendall(random.randbytes(700) + b"\r\n\r\n")
                    count["garbage"] += 1
                    to.recv(100)
                    continue
                to.sendall(upgrade(at))
                if not to.recv(4096).startswith(b"HTTP/1.1 101"):
                    count["not upgraded"] += 1
                    stopped.wait(0.1)
                    continue
                count["upgraded"] += 1
                if number % 4 == 1:
                    to.sendall(frame(b"\x02" + random.randbytes(100)))
                elif number % 4 == 2:
                    to.sendall(frame(b"\x02" + bytes(60000)))
                else:
                    to.sendall(frame(b"\x02"))
                    while not stopped.is_set():
                        to.sendall(frame(b"\x01" + random.randbytes(20)) * 20)
                        count["frames"] += 20
                        time.sleep(0.01)
                while to.recv(4096):
                    pass
        except OSError:
            count["cut"] += 1


def measure_flood(options):
    for is_flood in [False, True] * options.rounds:
        stopped, count, threads = threading.Event(), collections.Counter(), []

        def flood(_, http):
            time.sleep(1)
            at = re.search(r"//([^:]+):(\d+)", http)
            for number in range(options.strangers if is_flood else 0):
                threads.append(threading.Thread(target=bother, args=((at[1], int(at[2])), number, stopped, count), daemon=True))
                threads[-1].start()
            time.sleep(options.seconds - 3)
            stopped.set()
        before = udp_drops()
        done, found, equal, text = run_match(options, "flood", during=flood)
        print("flood" if is_flood else "calm", dict(count), f"udp_drops={udp_drops() - before}",
              f"loss_percent_most={max(float(row['loss_percent']) for row in found['enet'])}")
        show_crowd(options, done, found, equal, text)


def measure_page(options):
    sys.path.insert(0, os.path.join(HERE, "../../scripts/site"))
    from browser import Browser
    options.web = 0

    def watch(_, http):
        profile = os.path.join(options.folder, "profile")
        shutil.rmtree(profile, ignore_errors=True)
        browser, load = Browser(profile), os.getloadavg()[0]

        def script_s(): # time that the page's thread had a core
            metrics = browser.call("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in metrics if each["name"] == "ScriptDuration")
        browser.call("Performance.enable", timeDomain="threadTicks")
        try:
            for width, height in ((1280, 720), (360, 640)):
                browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
                browser.open(http + "/play#name=Ann")
                first = browser.wait("window.shoal && window.shoal.first")
                time.sleep(1)
                browser.value("shoal.times.length = 0")
                spent = script_s()
                time.sleep(6)
                times = sorted(browser.value("shoal.times"))
                spent = script_s() - spent
                sizes = browser.value("performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
                                      ".map(e => [e.name.replace(/.*\\//, ''), e.transferSize])")
                print(f"{options.game} {width}x{height} load={load:.1f} first_picture_ms={first:.0f} frames={len(times)} "
                      f"frame_ms_p50={times[len(times) // 2]:.1f} p99={times[len(times) * 99 // 100]:.1f} cpu_ms={spent * 1000 / len(times):.1f} "
                      f"bytes={sum(size for _, size in sizes)} wasm={[size for name, size in sizes if name.startswith(options.game)]}",
                      flush=True)
                browser.open("about:blank")
        finally:
            browser.end()
    for _ in range(options.rounds):
        run_match(options, "page", during=watch)


def main():
    options = parse(__doc__, what="age", game="arena", web=4, enet=4, seconds=20.0, rounds=1, loss="0", stall="", rate="", congestion="",
                    delay="60", processes=1, tick_rate=30, strangers=200, realtime=False, cut=False, thin=False, bots=False)
    with work_folder() as options.folder:
        options.folder = os.environ.get("KEEP", options.folder)
        if options.what == "age":
            measure_age(options)
        elif options.what == "page":
            measure_page(options)
        elif options.what == "flood":
            measure_flood(options)
        else:
            for _ in range(options.rounds):
                show_crowd(options, *run_match(options, "crowd"))


main()
