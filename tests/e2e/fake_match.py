#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In the place of shoal-server: a match that speaks with its host (server/rooms/tell.h) and plays nothing.

FOLDER/matches/ID/say.json is told the host, with this match's id, each 0.2 s until it is answered; the answer becomes
answer.json. FOLDER/matches/ID/state.json has players, values, open of its reports."""
import json, os, signal, socket, sys, time

match, host = os.environ["SHOAL_HOST"].split(" ", 1)
folder = os.path.join(os.path.dirname(host), "matches", match)
at = os.path.join(folder, "answers")
line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if os.path.exists(at): os.unlink(at)
line.bind(at)
line.settimeout(0.05)
signal.signal(signal.SIGTERM, lambda *_: (print("done"), sys.stdout.flush(), os._exit(0)))


def read(name):
    try:
        with open(os.path.join(folder, name)) as file: return json.load(file)
    except (FileNotFoundError, ValueError): return {}


def tell(what):
    try: line.sendto(json.dumps({"match": match, **what}).encode(), host)
    except OSError: pass


print("ready", flush=True)
reported = told = 0.0
answered, before = None, {}
while True:
    now, state, say = time.monotonic(), read("state.json"), read("say.json")
    if now - reported >= 1 or state != before:
        reported, before = now, state
        tell({"at_us": str(int(now * 1e6)), "address": "127.0.0.1:9", "http": "127.0.0.1:9", "players": [], **state})
    if say and say != answered and now - told >= 0.2:
        told = now
        tell(say)
    try: answer = json.loads(line.recv(1 << 17))
    except socket.timeout: continue
    if say and say != answered:
        answered = say
        with open(os.path.join(folder, "answer.new"), "w") as file: json.dump(answer, file)
        os.rename(os.path.join(folder, "answer.new"), os.path.join(folder, "answer.json"))
