#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prometheus.py BUILD: the alerts, asked of real programs.

A real Prometheus scrapes a server, its standby and its relay. Each query of the dashboard has a value, and no alert
fires; then one fault after the other fires its alerts and no others. Meanwhile the metrics of each program in each
state are kept as it printed them. promtool asks all alerts of each of them, half an hour long, and of the same metrics
with one fault in them (FAULTS). Exit code 77: Prometheus or a broker is missing."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

build = os.path.abspath(sys.argv[1])
package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/package")
alerts = os.path.abspath(f"{package}/prometheus/shoal-alerts.yml")
tokens = {"reader": "0123456789abcdef-reader", "operator": "0123456789abcdef-operator"}
wait_s = 60
evaluations = 10  # without trouble nothing fires so often
for_s = 5  # how long each alert waits here
# Of these a match without trouble has no sample.
may_be_empty = re.compile(r"> 0$|shoal_log_ticks_waited")
# These are about the machine of this test: what fires there is no fault of a program.
of_machine = {"ShoalTicksLate", "ShoalTickLong", "ShoalLogWaits", "ShoalLossHigh"}

# The alert that fires (none: ""), of which state, and what is changed in its metrics. Of a histogram: how long each
# observation was; of a counter: what it grows in a minute; None: it is missing.
FAULTS = [
    ("ShoalDown", "runs", {"up": 0}),
    ("ShoalDescriptorsFew", "runs", {"process_open_fds": 950, "process_max_fds": 1000}),
    ("ShoalTicksLate", "runs", {"shoal_tick_lag_seconds": 0.2}),
    ("ShoalTickLong", "runs", {"shoal_tick_duration_seconds": 0.02}),
    ("", "runs", {"shoal_tick_duration_seconds": 0.02, "shoal_tick_period_seconds": 0.033333}),
    ("ShoalLogIncomplete", "runs", {"shoal_log_ticks_lost": 3}),
    ("ShoalLogWaits", "runs", {"shoal_log_ticks_waited_total": 60}),
    ("ShoalLogNotStored", "runs", {"shoal_log_commands_failed_total": 0.1}),
    ("ShoalLogNotStored", "runs", {"shoal_log_segments_unstored_total": 0.1}),
    ("ShoalClientsFail", "runs", {'shoal_leaves_total{reason="timeout"}': 1}),
    ("", "runs", {'shoal_leaves_total{reason="left"}': 10}),
    ("ShoalRefusesMany", "runs", {'shoal_refusals_total{reason="full"}': 3}),
    ("ShoalLossHigh", "runs", {"shoal_client_loss_ratio": 0.2}),
    ("ShoalStreamAway", "writes", {"shoal_stream_up": 0}),
    ("ShoalStreamAway", "writes", {"shoal_stream_up": 0, "shoal_standbys": None, "shoal_relays": None}),
    ("ShoalUnprotected", "writes", {"shoal_stream_protected": 0}),
    ("ShoalNoStandby", "writes", {"shoal_standbys": 0}),
    ("", "writes", {"shoal_standbys": 3}),
    ("ShoalRelayBehind", "relay", {"shoal_relay_behind_seconds": 30}),
    ("", "relay", {"shoal_relay_behind_seconds": 1.9}),
]
children = {}


def wait_for(what, ask):
    ends = time.monotonic() + wait_s
    while time.monotonic() < ends:
        if found := ask():
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {what} within {wait_s} s")


def start(name, *command):
    with open(f"{name}.out", "w", encoding="utf-8") as out, open(f"{name}.err", "w", encoding="utf-8") as err:
        children[name] = subprocess.Popen(command, stdout=out, stderr=err)


def kill(name):
    children[name].kill()
    children.pop(name).wait()


def ready_line(name):
    with open(f"{name}.out", encoding="utf-8") as lines:
        return dict(re.findall(r"(\w+)=(\S+)", lines.readline()))


def serve(name, program, *options):
    """Start a program with an inspector. What its ready line says."""
    start(name, f"{build}/bin/{program}", *options, "--listen", "127.0.0.1:0", "--http",
          "127.0.0.1:0,token-file=tokens")
    return wait_for(f"ready line of {name}", lambda: ready_line(name))


def play(name, address, *options):
    start(name, f"{build}/bin/shoal-client", address, "--bots", "1", *options)


def port_of(name):
    """The port on which the process listens: it was given port 0."""
    links = []
    for file in glob.glob(f"/proc/{children[name].pid}/fd/*"):
        try:
            links.append(os.readlink(file))
        except OSError:
            pass
    with open("/proc/net/tcp", encoding="ascii") as table:
        for row in list(table)[1:]:
            fields = row.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in links:
                return int(fields[1].split(":")[1], 16)
    return None


def ask(name, path, right="reader", body=None):
    asked = urllib.request.Request(ready_line(name)["http"] + path, body,
                                   {"Authorization": f"Bearer {tokens[right]}", "Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return answer.read().decode()


def do(name, verb, body=b"{}"):
    ask(name, f"/api/v1/{verb}", "operator", body)


def metric(name, series):
    found = re.search(rf"^{re.escape(series)} (\S+)$", ask(name, "/metrics"), re.MULTILINE)
    return float(found[1]) if found else None


def promtool(*command, content=None):
    done = subprocess.run(["promtool", *command], input=content, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, f"promtool {command}: {done.stdout.decode()}{done.stderr.decode()}"


# ---- promtool: each alert of each state ----

def samples(text):
    """Each sample as {series: value}, and the type of each family."""
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}, \
        dict(line.split(" ")[2:] for line in text.splitlines() if line.startswith("# TYPE "))


class States(dict):
    """What programs in each state print: {state: ({series: (value, growth in a minute)}, {family: type})}."""

    def keep(self, **programs):
        before, begin = {state: samples(ask(name, "/metrics"))[0] for state, name in programs.items()}, time.monotonic()
        time.sleep(1)
        for state, name in programs.items():
            text = ask(name, "/metrics")
            promtool("check", "metrics", content=text.encode())
            after, types = samples(text)
            minutes = (time.monotonic() - begin) / 60
            self[state] = {series: (value, (value - before[state].get(series, value)) / minutes)
                           for series, value in after.items()} | {"up": (1, 0)}, types


def sequence(series, value, growth, types, change):
    """The values of a series for half an hour, without what this machine does. None: it has none."""
    name, _, labels = series.partition("{")
    family = re.sub("_(bucket|sum|count)$", "", name)
    kind = types.get(name, types.get(family, "gauge"))
    if change.get(series, 0) is None:
        return None
    if kind == "histogram":
        le = re.search('le="(.*)"', labels)
        if not le or float(le[1]) < change.get(family, 0):
            return "0+0x30"
        return "0+60x30"
    if kind == "counter":
        growth = 0 if name == "shoal_log_ticks_waited_total" else growth
        return f"{value}+{change.get(series, growth)}x30"
    return f"{change.get(series, 0 if name == 'shoal_tick_lag_seconds' else value)}+0x30"


def row(states, state, change, *expected):
    assert all(any(series.startswith(name) for series in states[state][0]) for name in change), (state, change)
    of_state, types = states[state]
    listed, it = [], f"{state} {change}".replace('"', "'")
    for series, (value, growth) in of_state.items():
        if values := sequence(series, value, growth, types, change):
            name, _, labels = series.rstrip("}").partition("{")
            listed.append({"series": f'{name}{{{labels}{"," if labels else ""}job="shoal",instance="{it}"}}',
                           "values": values})
    return {"interval": "1m", "input_series": listed, "promql_expr_test": [
        {"eval_time": "30m", "expr": 'group by (alertname, instance) (ALERTS{alertstate="firing"})',
         "exp_samples": [{"labels": f'{{alertname="{name}",instance="{it}"}}', "value": 1} for name in expected]}]}


def check_states(states):
    rows = [row(states, state, {}, *(["ShoalNoStandby"] if state == "took_over" else [])) for state in states]
    rows += [row(states, state, change, *filter(None, [name])) for name, state, change in FAULTS]
    with open("states.yml", "w", encoding="utf-8") as file:
        json.dump({"rule_files": [alerts], "evaluation_interval": "1m", "tests": rows}, file)  # YAML reads JSON
    promtool("test", "rules", "states.yml")
    print(f"prometheus states={len(states)} faults={len(FAULTS)}")


# ---- Prometheus ----

def api(path, **arguments):
    with urllib.request.urlopen(f"http://127.0.0.1:{port_of('prometheus')}/api/v1/{path}"
                                f"?{urllib.parse.urlencode(arguments)}", timeout=20) as answer:
        content = json.load(answer)
    assert content["status"] == "success", content
    return content["data"]


def has_prometheus():
    try:
        return api("alerts")
    except OSError:  # also 503, until it has read its files
        return None


def aim(*names):
    """What Prometheus scrapes from now on."""
    with open("targets.new", "w", encoding="ascii") as file:
        json.dump([{"targets": [ready_line(name)["http"].removeprefix("http://")], "labels": {"instance": name}}
                   for name in names], file)
    os.rename("targets.new", "targets.json")


def start_prometheus():
    with open(alerts, encoding="utf-8") as rules, open("alerts.yml", "w", encoding="utf-8") as file:
        file.write(re.sub(r"for: \w+", f"for: {for_s}s", rules.read()))
    config = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
              "rule_files": ["alerts.yml"],
              "scrape_configs": [{"job_name": "shoal", "authorization": {"credentials": tokens["reader"]},
                                  "file_sd_configs": [{"files": ["targets.json"]}]}]}
    with open("prometheus.yml", "w", encoding="ascii") as file:
        json.dump(config, file)
    start("prometheus", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
          "--web.listen-address=127.0.0.1:0")
    wait_for("port of Prometheus", lambda: port_of("prometheus"))
    wait_for("Prometheus", has_prometheus)


def firing():
    return {(one["labels"]["alertname"], one["labels"]["instance"]) for one in api("alerts")["alerts"]
            if one["state"] == "firing" and one["labels"]["alertname"] not in of_machine}


def fires(why, *expected, may=()):
    """These alerts fire at last, and no others but those that may."""
    def are_equal():
        is_now = firing()
        return set(expected) <= is_now and is_now <= set(expected) | set(may)
    try:
        wait_for(why, are_equal)
    except AssertionError as fault:
        raise AssertionError(f"{why}: {firing()} fire, not {set(expected)}") from fault
    print(f"prometheus {why}: {' '.join(f'{name}({of})' for name, of in sorted(expected)) or 'none'}", flush=True)


def rules():
    return [rule for group in api("rules")["groups"] for rule in group["rules"]]


def stays_quiet(why):
    seen = set()
    while len(seen) <= evaluations:
        seen.add(rules()[0]["lastEvaluation"])
        assert not firing(), f"{why}: {firing()} fire"
        time.sleep(0.1)
    print(f"prometheus {why}: none in {evaluations} evaluations", flush=True)


def queries():
    with open(f"{package}/grafana/shoal.json", encoding="utf-8") as file:
        for panel in json.load(file)["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "4s")


def check_dashboard():
    asked = 0
    for title, query in queries():
        result = api("query", query=query)["result"]
        assert result or may_be_empty.search(query), f"{title}: {query} has no value"
        asked += 1
    result = api("query", query="shoal_client_loss_ratio_count")["result"]
    assert result and all(rule["health"] == "ok" for rule in rules()), rules()
    took = api("query", query="max(max_over_time(scrape_duration_seconds[1m]))")["result"][0]["value"][1]
    count = api("query", query="max(scrape_samples_scraped)")["result"][0]["value"][1]
    print(f"prometheus queries={asked} alerts={len(rules())} samples={count} scrape_ms_max={float(took) * 1e3:.1f}")


# ---- the story ----

def keep_alone(states):
    """One server in each of its states."""
    ready = serve("alone", "shoal-server", "--game", "breakout", "--log", "alone.slog", "--min-clients", "1")
    states.keep(waits="alone")
    play("guest", ready["listen"])
    wait_for("a tick", lambda: metric("alone", "shoal_ticks_total") > 60)
    serve("of_log", "shoal-relay", "alone.slog", "--delay", "0", "--record", "none")
    wait_for("what the log has", lambda: metric("of_log", "shoal_ticks_total") > 30)
    states.keep(runs="alone", relay_of_log="of_log")
    kill("of_log")
    do("alone", "pause")
    states.keep(paused="alone")
    do("alone", "resume")
    do("alone", "drain", b'{"seconds":600}')
    states.keep(drains="alone")
    kill("guest")
    kill("alone")


def broker_port():
    for path in glob.glob("ports/*"):
        with open(path, encoding="ascii") as file:
            return re.findall(r':(\d+)"', file.read())
    return []


def start_broker():
    os.mkdir("ports")
    with open("broker.conf", "w", encoding="ascii") as file:
        file.write('listen: "127.0.0.1:-1"\nports_file_dir: "ports"\njetstream { store_dir: "store" }\n')
    start("broker", "nats-server", "-c", "broker.conf")
    return f"nats://127.0.0.1:{wait_for('port of the broker', broker_port)[0]}"


def stand_by(name, stream):
    serve(name, "shoal-server", "--standby", stream, "--key-file", "key", "--log", f"{name}.slog")
    wait_for(f"that {name} counts", lambda: metric("server", "shoal_standbys") == 1)


def start_fleet():
    program = f"{build}/bin/shoal-server"
    subprocess.run([program, "keygen", "key"], check=True, stdout=subprocess.DEVNULL)
    ready = serve("server", "shoal-server", "--game", "breakout", "--log", "server.slog", "--key-file", "key",
                  "--stream", start_broker(), "--stream-sync", "500,go", "--min-clients", "1")
    with open("token", "w", encoding="ascii") as file:
        subprocess.run([program, "token", "--key-file", "key", "--server", ready["listen"], "--player", "1"],
                       check=True, stdout=file)
    play("client", ready["listen"], "--token-file", "token")
    stand_by("first", ready["stream"])
    serve("relay", "shoal-relay", ready["stream"], "--delay", "0", "--record", "none")
    wait_for("a relay", lambda: metric("server", "shoal_relays") == 1)
    return ready["stream"]


def check_faults(states, stream):
    kill("first")
    fires("the standby was killed", ("ShoalNoStandby", "server"), ("ShoalDown", "first"))
    stand_by("second", stream)
    aim("server", "second", "relay")
    fires("another one stands by")
    children["second"].send_signal(signal.SIGSTOP)
    fires("the standby hangs", ("ShoalDown", "second"), ("ShoalNoStandby", "server"))
    children["second"].send_signal(signal.SIGCONT)
    fires("the standby goes on")
    children["broker"].send_signal(signal.SIGSTOP)
    fires("the broker stands still", ("ShoalStreamAway", "server"), ("ShoalUnprotected", "server"),
          ("ShoalRelayBehind", "relay"), may=[("ShoalNoStandby", "server")])
    children["broker"].send_signal(signal.SIGCONT)
    fires("the broker goes on")
    kill("server")
    wait_for("the takeover", lambda: metric("second", "shoal_stream_up") == 1)
    fires("the server was killed", ("ShoalDown", "server"), ("ShoalNoStandby", "second"))
    states.keep(took_over="second")


def main():
    for name in ("prometheus", "promtool", "nats-server"):
        if not shutil.which(name):
            print(f"SKIP: {name} is missing (packages prometheus and nats-server)")
            sys.exit(77)
    os.umask(0o077)
    states = States()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("tokens", "w", encoding="ascii") as file:
            file.write("".join(f"{right} {token}\n" for right, token in tokens.items()))
        try:
            promtool("check", "rules", alerts)
            keep_alone(states)
            stream = start_fleet()
            aim("server", "first", "relay")
            start_prometheus()
            wait_for("scrapes", lambda: len(api("query", query='up{job="shoal"} == 1')["result"]) == 3)
            stays_quiet("a server, its standby and its relay")
            check_dashboard()
            states.keep(writes="server", stands_by="first", relay="relay")
            do("server", "pause")
            stays_quiet("they are paused")
            states.keep(writes_paused="server", stands_by_paused="first", relay_paused="relay")
            do("server", "resume")
            check_faults(states, stream)
            check_states(states)
        except AssertionError as fault:
            sys.exit(f"prometheus.py: {fault}")
        finally:
            for child in list(children):
                kill(child)


main()
