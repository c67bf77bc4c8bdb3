#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py BUILD [--what age|crowd] [--game arena] [--web 4] [--enet 4] [--seconds 20] [--rounds 1] [--loss 0]
               [--stall MS,EVERY_MS [--cut]] [--rate KBIT] [--delay 60] [--processes 1] [--thin] [--realtime] [--congestion cubic|bbr] [--bots]

Players of pages (node, the game's wasm of BUILD/lib/shoal/web) beside bots over ENet, in one match. With --bots those of
pages are bots too (shoal-web-bots: C, the same connections), which take no more of the machine than those over ENet.

age    both over one line (line.py) with a delay each way, loss, stalls. The age of the newest tick that a client has applied,
       at each moment: now less the time at which the server sent that tick. One clock: that of the machine.
crowd  on loopback: ticks, processor time, bytes of a client of each kind, and whether all worlds are equal.
"""
import collections
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys

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


def run_match(options, name, spaces=("", ""), address="127.0.0.1"):
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


# ---- many ----

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


def main():
    options = parse(__doc__, what="age", game="arena", web=4, enet=4, seconds=20.0, rounds=1, loss="0", stall="", rate="", congestion="",
                    delay="60", processes=1, tick_rate=30, realtime=False, cut=False, thin=False, bots=False)
    with work_folder() as options.folder:
        options.folder = os.environ.get("KEEP", options.folder)
        if options.what == "age":
            measure_age(options)
        else:
            for _ in range(options.rounds):
                show_crowd(options, *run_match(options, "crowd"))


main()
