#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quiet.py BIN [MATCHES [SECONDS]]: what empty matches of breakout, each with a standby, cost their broker (20 matches, 60 s):
messages that it gets and sends each second, and its connections. The broker is Debian's nats-server on the same machine. With
`leaf` in front of BIN, all matches connect to a leaf node on this machine, as on a host, and the connections are the broker's."""
import json, os, re, shutil, socket, subprocess, sys, tempfile, time, urllib.request

with_leaf = sys.argv[1] == "leaf"
programs, matches, seconds, *_ = sys.argv[1 + with_leaf:] + ["20", "60"][len(sys.argv) - 2 - with_leaf:]
programs, matches, seconds = os.path.abspath(programs), int(matches), float(seconds)
ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
folder = tempfile.mkdtemp()
running = []


def broker(name, text):
    with open(f"{folder}/{name}.conf", "w", encoding="utf-8") as file:
        file.write(f'listen: "127.0.0.1:-1"\nhttp: "127.0.0.1:-1"\nports_file_dir: "{folder}"\n{text}\n')
    process = subprocess.Popen(["nats-server", "-c", f"{folder}/{name}.conf"], stderr=subprocess.DEVNULL)
    running.append(process)
    file = f"{folder}/nats-server_{process.pid}.ports"
    while not os.path.exists(file) or not os.path.getsize(file):
        time.sleep(0.05)
    with open(file, encoding="utf-8") as ports:
        return json.load(ports)


def server(name, *options):
    process = subprocess.Popen([f"{programs}/shoal-server", "--listen", "127.0.0.1:0", "--key-file", f"{folder}/key",
                                "--pause-when-empty", "--log", f"{folder}/{name}.slog", *options], stdout=subprocess.PIPE,
                               stderr=open(f"{folder}/{name}.err", "w", encoding="utf-8"), text=True)
    running.append(process)
    return process.stdout.readline()


def count(at):
    said = json.load(ask(f"{at}/varz"))
    return [said["in_msgs"], said["out_msgs"], said["connections"] + said["leafnodes"], time.monotonic()]


with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    leaf_at = f"127.0.0.1:{free.getsockname()[1]}"
hub = broker("hub", f'jetstream {{ store_dir: "{folder}/store", domain: hub }}\nleafnodes {{ listen: "{leaf_at}" }}')
nats = hub["nats"][0]
if with_leaf:
    nats = broker("leaf", f'default_js_domain {{ "$G": hub }}\nleafnodes {{ remotes: [ {{ url: "nats://{leaf_at}" }} ] }}')["nats"][0]
subprocess.run([f"{programs}/shoal-server", "keygen", f"{folder}/key"], check=True, stdout=subprocess.DEVNULL)
for i in range(matches):
    ready = server(f"match{i}", "--game", "breakout", "--stream", nats)
    server(f"standby{i}", "--standby", re.search(" stream=([^ \n]+)", ready)[1])
time.sleep(10)
before = count(hub["monitoring"][0])
time.sleep(seconds)
after = count(hub["monitoring"][0])
took_s = after[3] - before[3]
taken = sum("the match continues here" in open(f"{folder}/standby{i}.err", encoding="utf-8").read() for i in range(matches))
print(f"quiet matches={matches} standbys={matches} leaf={int(with_leaf)} in_per_s={(after[0] - before[0]) / took_s:.1f}"
      f" out_per_s={(after[1] - before[1]) / took_s:.1f} connections={after[2]} taken={taken} load={os.getloadavg()[0]:.1f}")
for process in reversed(running):
    process.kill()
shutil.rmtree(folder, ignore_errors=True)
