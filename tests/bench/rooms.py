#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rooms.py BIN [MATCHES]: how long a join takes with and without a spare match, and what paused matches cost.

For each of spare = 1 and 0: ten joins, each with a filter of its own for the latter, and the milliseconds until the
answer, in which the match runs. Then MATCHES (200) spare ones: private memory, processor time and wake-ups of each."""
import json, os, re, subprocess, sys, tempfile, time, urllib.request

programs, matches = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def begin(spare, most):
    folder = tempfile.mkdtemp()
    with open(f"{folder}/host.conf", "w", encoding="utf-8") as file:
        file.write("http = 127.0.0.1:0\nopen = yes\ndrain = 0\ngame breakout {\n    players = 8\n"
                   f"    spare = {spare}\n    most = {most}\n}}\n")
    host = subprocess.Popen([os.path.abspath(f"{programs}/shoal-host"), "host.conf"], cwd=folder, stdout=subprocess.PIPE, text=True)
    return host, re.search("http=(http:[^ ]+)", host.stdout.readline())[1]


def rows(url):
    return [each for each in json.load(ask(f"{url}/v1/matches"))["matches"] if each["address"]]


def until(ready):
    while not ready():
        time.sleep(0.05)


def end(host):
    host.terminate()
    host.communicate()


def join(url, body):
    begin_s = time.monotonic()
    json.load(ask(f"{url}/v1/join", json.dumps({"game": "breakout", **body}).encode()))
    return (time.monotonic() - begin_s) * 1000


for spare in 1, 0:
    host, url = begin(spare, 40)
    until(lambda: len(rows(url)) >= spare)
    took = sorted(join(url, {} if spare else {"filter": {"map": str(i)}}) for i in range(10))
    print(f"join spare={spare} median_ms={took[5]:.1f} most_ms={took[-1]:.1f}")
    end(host)


def price(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        private = sum(int(kb) for kb in re.findall(r"Private_\w+: +(\d+)", file.read()))
    wakes = ticks = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
            wakes += sum(int(n) for n in re.findall(r"voluntary_ctxt_switches:\s+(\d+)", file.read()))
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
            ticks += int(file.read().split()[0])
    return private, ticks, wakes


host, url = begin(matches, matches)
until(lambda: len(rows(url)) == matches)
pids = [each["pid"] for each in rows(url)]
before, seconds = {pid: price(pid) for pid in pids}, 10
time.sleep(seconds)
after = [[b - a for a, b in zip(before[pid], price(pid))] for pid in pids]
print(f"paused matches={matches} private_kb={sum(each[0] for each in before.values()) / matches:.0f}"
      f" cpu_percent={sum(each[1] for each in after) / matches / seconds / 1e7:.3f}"
      f" wakes_per_s={sum(each[2] for each in after) / matches / seconds:.1f}")
end(host)
