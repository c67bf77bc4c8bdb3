#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rooms.py BIN fleet [HOSTS [JOINS]]: how evenly the joins of a fleet are spread; below. Else
rooms.py BIN [MATCHES]: how long a join takes with and without a spare match, and what paused matches cost.

For each of spare = 1 and 0: ten joins, each with a filter of its own for the latter, and the milliseconds until the
answer, in which the match runs, and until the first tick that a client which is started then has applied. With spare = 1
the next spare match is there before each join. Then MATCHES (200) spare ones: private memory, processor time and
wake-ups of each, after half a minute of rest, and the threads of one."""
import collections, http.client, json, os, re, shutil, subprocess, sys, tempfile, threading, time, urllib.request

programs = sys.argv[1]
ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


def begin(spare, most):
    folder = tempfile.mkdtemp()
    with open(f"{folder}/host.conf", "w", encoding="utf-8") as file:
        file.write("http = 127.0.0.1:0\nopen = yes\ndrain = 0\ngame breakout {\n    players = 8\n"
                   f"    spare = {spare}\n    most = {most}\n}}\n")
    host = subprocess.Popen([os.path.abspath(f"{programs}/shoal-host"), "host.conf"], cwd=folder, stdout=subprocess.PIPE, text=True)
    return host, re.search("http=(http:[^ ]+)", host.stdout.readline())[1]


# A match that costs nothing: it tells once who it is, as one without players does.
MATCH = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(void) {
    struct sockaddr_un host = {.sun_family = AF_UNIX};
    char id[32], text[256];
    if (sscanf(getenv("SHOAL_HOST"), "%31s %107s", id, host.sun_path) != 2) return 1;
    int size = snprintf(text, sizeof text, "{\"match\":\"%s\",\"at_us\":\"1\",\"address\":\"127.0.0.1:1\","
                        "\"http\":\"127.0.0.1:1\",\"players\":[]}", id);
    sendto(socket(AF_UNIX, SOCK_DGRAM, 0), text, (size_t)size, 0, (struct sockaddr*)&host, sizeof host);
    return pause();
}
"""


def spread(hosts, joins):
    """`joins` of matches of 8 seats, asked of all hosts in turn, then of one of them, with Debian's nats-server."""
    folder = tempfile.mkdtemp()
    shutil.copy(f"{programs}/shoal-host", folder)
    subprocess.run(["cc", "-x", "c", "-", "-o", f"{folder}/shoal-server"], input=MATCH, text=True, check=True)
    broker = subprocess.Popen(["nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder, "-l", f"{folder}/log"])
    until(lambda: [each for each in os.listdir(folder) if each.endswith(".ports") and os.path.getsize(f"{folder}/{each}")])
    ports = next(each for each in os.listdir(folder) if each.endswith(".ports"))
    with open(f"{folder}/{ports}", encoding="utf-8") as file:
        nats = json.load(file)["nats"][0]
    for way in "all hosts in turn", "one host":
        running = []
        for i in range(hosts):
            os.makedirs(f"{folder}/{way}/{i}")
            with open(f"{folder}/{way}/{i}/host.conf", "w", encoding="utf-8") as file:
                file.write(f"http = 127.0.0.1:0\nopen = yes\ndrain = 0\nhang = 86400\nfleet = {nats}\n"
                           f"game breakout {{\n    players = 8\n    most = {joins // 8 + 1}\n}}\n")
            host = subprocess.Popen([f"{folder}/shoal-host", "host.conf"], cwd=f"{folder}/{way}/{i}", stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True)
            running.append((host, re.search("http=http://([^ ]+)", host.stdout.readline())[1]))
        time.sleep(2)  # all are connected
        counts, took, lock, left = collections.Counter(), [], threading.Lock(), list(range(joins))

        def ask_all():
            while True:
                with lock:
                    if not left:
                        return
                    number = left.pop()
                begin_s = time.monotonic()
                line = http.client.HTTPConnection(running[number % hosts if way != "one host" else 0][1], timeout=60)
                line.request("POST", "/v1/join", f'{{"game":"breakout","request":"r{number}"}}')
                answer = line.getresponse()
                text = json.loads(answer.read())
                with lock:
                    took.append((time.monotonic() - begin_s) * 1000)
                    counts[text["page"].split("/")[2] if answer.status == 200 else answer.status] += 1

        begin_s = time.monotonic()
        threads = [threading.Thread(target=ask_all) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seats = [counts.pop(at, 0) for _, at in running]
        even = joins / hosts
        took.sort()
        print(f"fleet asked='{way}' hosts={hosts} joins={joins} least={min(seats)} most={max(seats)} even={even:.0f}"
              f" off_percent={max(max(seats) - even, even - min(seats)) / even * 100:.1f} others={dict(counts)}"
              f" median_ms={took[joins // 2]:.1f} p99_ms={took[joins * 99 // 100]:.1f}"
              f" joins_per_s={joins / (time.monotonic() - begin_s):.0f}", flush=True)
        for host, _ in running:
            end(host)
    broker.kill()
    shutil.rmtree(folder)


def rows(url):
    return [each for each in json.load(ask(f"{url}/v1/matches"))["matches"] if each["address"]]


def until(ready):
    while not ready():
        time.sleep(0.05)


def end(host):
    host.terminate()
    host.communicate()


def join(url, body):
    begin_s, folder = time.monotonic(), tempfile.mkdtemp()
    seat = json.load(ask(f"{url}/v1/join", json.dumps({"game": "breakout", **body}).encode()))
    answered_s, trace = time.monotonic(), f"{folder}/trace"
    with open(os.open(f"{folder}/token", os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(seat["token"] + "\n")
    client = subprocess.Popen([f"{programs}/shoal-client", seat["address"], "--bots", "1", "--token-file", f"{folder}/token",
                               "--debug", f"trace-session={trace}"], stdout=subprocess.DEVNULL)
    time.sleep(2)
    client.terminate()
    client.wait()
    with open(trace, encoding="utf-8") as file: # its times are of the same clock
        ticked_ms = float(re.search("t_ms=([0-9.]+) .* dir=in kind=state", file.read())[1])
    return (answered_s - begin_s) * 1000, ticked_ms - begin_s * 1000


if sys.argv[2:3] == ["fleet"]:
    spread(*[int(each) for each in (sys.argv[3:] + ["20", "10000"][len(sys.argv) - 3:])])
    sys.exit()
matches = int(sys.argv[2]) if len(sys.argv) > 2 else 200
for spare in 1, 0:
    host, url = begin(spare, 40)
    took = []
    for i in range(10):
        until(lambda: sum(each["players"] + each["held"] == 0 for each in rows(url)) >= spare)
        took.append(join(url, {} if spare else {"filter": {"map": str(i)}}))
    for name, times in zip(("answer", "tick"), map(sorted, zip(*took))):
        print(f"join spare={spare} to={name} median_ms={times[5]:.1f} most_ms={times[-1]:.1f} load={os.getloadavg()[0]:.1f}")
    end(host)


def price(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        private = sum(int(kb) for kb in re.findall(r"Private_\w+: +(\d+)", file.read()))
    wakes = ticks = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
            wakes += sum(int(n) for n in re.findall(r"\nvoluntary_ctxt_switches:\s+(\d+)", file.read()))
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
            ticks += int(file.read().split()[0])
    return private, ticks, wakes


host, url = begin(matches, matches)
until(lambda: len(rows(url)) == matches)
pids = [each["pid"] for each in rows(url)]
time.sleep(30)
before, seconds = {pid: price(pid) for pid in pids}, 10
time.sleep(seconds)
after = [[b - a for a, b in zip(before[pid], price(pid))] for pid in pids]
print(f"paused matches={matches} private_kb={sum(each[0] for each in before.values()) / matches:.0f}"
      f" cpu_percent={sum(each[1] for each in after) / matches / seconds / 1e7:.3f}"
      f" wakes_per_s={sum(each[2] for each in after) / matches / seconds:.1f}"
      f" threads={len(os.listdir(f'/proc/{pids[0]}/task'))} load={os.getloadavg()[0]:.1f}")
end(host)
