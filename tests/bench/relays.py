#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""relays.py BUILD [--game arena] [--bots 8] [--relays 10] [--share 20] [--spectators 1000] [--seconds 15]

What relays cost the server of a match, and what spectators cost a relay, as lines of key=value. Three phases of one match:
the server alone; with so many relays of so few spectators (--share) as the machine takes; then one relay of many. The
spectators of a relay are thin clients of one process, on the same machine. CPU is what the system counted for the process,
so other programs on the machine change it by their caches only; ticks are timed by the clock, and wait for a core.
"""
import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HZ = os.sysconf("SC_CLK_TCK")
processes = []


def parse(description, **defaults):
    """The build, and an option for each default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    for name, default in defaults.items():
        kind = {"action": "store_true"} if default is False else {"type": type(default or ""), "default": default}
        parser.add_argument("--" + name.replace("_", "-"), **kind)
    options = parser.parse_args()
    options.binary = lambda name: os.path.join(os.path.abspath(options.build), "bin", name)
    return options


@contextlib.contextmanager
def work_folder():
    """A folder, and no program that outlives it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield folder
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            processes.clear()


def start(binary, name, folder, *arguments, before=None):
    out = open(os.path.join(folder, name + ".out"), "w+")
    err = open(os.path.join(folder, name + ".err"), "w+")
    process = subprocess.Popen([binary, *map(str, arguments)], stdout=out, stderr=err, cwd=folder, preexec_fn=before)
    process.name, process.out = name, out.name
    processes.append(process)
    return process


def value(process, key, pattern=r"\S+"):
    found = re.findall(rf"(?:^| ){key}=({pattern})", open(process.out).read(), re.M)
    return found[-1] if found else None


def ready(process):
    ends = time.monotonic() + 60
    while not value(process, "listen"):
        if process.poll() is not None or time.monotonic() > ends:
            sys.exit(f"{process.name} did not start: {open(process.out[:-3] + 'err').read()}")
        time.sleep(0.05)
    return value(process, "listen")


def cpu_s(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / HZ


def rss_mb(process):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1]) / 1024


def metrics(process):
    text = urllib.request.urlopen(value(process, "http") + "/metrics", timeout=30).read().decode()
    return {m[0]: float(m[1]) for m in re.findall(r"^(shoal_[^ ]+) (\S+)$", text, re.M)}


def sent(figures):
    return sum(figures[f'shoal_sent_bytes_total{{kind="{kind}"}}'] for kind in ("state", "control", "transport"))


def p99_ms(before, after):
    """Of the ticks between two looks: the upper bound of the histogram's bucket."""
    name = "shoal_tick_duration_seconds_bucket"
    rows = [(key, after[key] - before[key]) for key in after if key.startswith(name) and 'part="tick"' in key]
    for key, count in rows:
        if count >= 0.99 * rows[-1][1]:
            return re.search(r'le="([^"]+)"', key)[1]
    return "?"


def measure(process, seconds):
    first, cpu, at = metrics(process), cpu_s(process), time.monotonic()
    time.sleep(seconds)
    last, took = metrics(process), time.monotonic() - at
    return {
        "cpu_percent": f"{(cpu_s(process) - cpu) / took * 100:.1f}",
        "sent_kb_s": f"{(sent(last) - sent(first)) / took / 1000:.1f}",
        "received_kb_s": f"{(last['shoal_received_bytes_total'] - first['shoal_received_bytes_total']) / took / 1000:.1f}",
        "ticks_s": f"{(last['shoal_ticks_total'] - first['shoal_ticks_total']) / took:.1f}",
        "tick_ms_p99_most": "inf" if (p99 := p99_ms(first, last)) == "+Inf" else f"{float(p99) * 1000:g}",
        "rss_mb": f"{rss_mb(process):.1f}",
    }


def show(what, **figures):
    print(what, *(f"{key}={figure}" for key, figure in figures.items()), flush=True)


def await_true(condition, complaint):
    ends = time.monotonic() + 120
    while not condition():
        if time.monotonic() > ends:
            sys.exit(complaint)
        time.sleep(0.2)


def is_ready(process):
    try:
        return urllib.request.urlopen(value(process, "http") + "/readyz", timeout=30).status == 200
    except urllib.error.HTTPError:
        return False


def end(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait(60)


def main():
    options = parse(__doc__, game="arena", bots=8, relays=10, share=20, spectators=1000, seconds=15.0, tick_rate=30)
    with work_folder() as folder:
        run(options, options.binary, folder)


def relay(options, binary, folder, name, spectators):
    process = start(binary("shoal-relay"), name, folder, "match.slog", "--delay", 2, "--listen", "127.0.0.1:0",
                    "--record", "none", "--http", "127.0.0.1:0", "--spectators", max(spectators, 1))
    address = ready(process)
    await_true(lambda: is_ready(process), f"{name} does not catch up")
    alone_mb = rss_mb(process)
    clients = start(binary("shoal-client"), name + "-clients", folder, address, "--headless", "--spectate",
                    "--bots-thin", spectators) if spectators else None
    return process, clients, alone_mb


def wait_for(process, spectators):
    await_true(lambda: metrics(process)['shoal_clients{kind="spectator"}'] >= spectators, "spectators are missing")
    time.sleep(3)  # their first states


def run(options, binary, folder):
    server = start(binary("shoal-server"), "server", folder, "--game", options.game, "--listen", "127.0.0.1:0",
                   "--tick-rate", options.tick_rate, "--log", "match.slog", "--http", "127.0.0.1:0",
                   "--min-clients", options.bots)
    start(binary("shoal-client"), "players", folder, ready(server), "--headless", "--bots", options.bots)
    time.sleep(4)
    show("server relays=0 spectators=0", **measure(server, options.seconds))
    share = options.share
    many = [relay(options, binary, folder, f"relay{i}", share) for i in range(options.relays)]
    for process, _, _ in many:
        wait_for(process, share)
    show(f"server relays={options.relays} spectators={share * options.relays}", **measure(server, options.seconds))
    for process, clients, _ in many:
        end(clients)
        end(process)
    one, clients, alone_mb = relay(options, binary, folder, "relay", options.spectators)
    show("relay spectators=0", rss_mb=f"{alone_mb:.1f}")
    wait_for(one, options.spectators)
    figures = measure(one, options.seconds)
    source = metrics(one)
    show(f"relay spectators={options.spectators}", **figures,
         behind_s=f"{source['shoal_relay_behind_seconds']:.2f}",
         kept_kb=f"{source['shoal_relay_kept_bytes'] / 1000:.0f}", delay_s=2)
    end(clients)
    end(one)
    show("relay end", tick_us_p50=value(one, "tick_us_p50"), tick_us_p99=value(one, "tick_us_p99"))
    end(server)


if __name__ == "__main__":
    main()
