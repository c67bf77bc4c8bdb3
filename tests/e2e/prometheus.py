#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prometheus.py BUILD: a real Prometheus scrapes a real server with a reader's token, then every query of the dashboard
and every alert is asked. A query that always has a value must have one. promtool checks metrics and
alerts. Exit code 77: Prometheus is missing."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

build = os.path.abspath(sys.argv[1])
package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/package")
reader = "0123456789abcdef-reader"
wait_s = 60
# Of these a match without trouble has no sample.
may_be_empty = re.compile(r"> 0$|shoal_log_ticks_waited|shoal_(stream|standby|standbys|relays)")


def wait_for(what, ask):
    ends = time.monotonic() + wait_s
    while time.monotonic() < ends:
        if found := ask():
            return found
        time.sleep(0.05)
    sys.exit(f"prometheus.py: no {what} within {wait_s} s")


def port_of(process):
    """The port on which the process listens: it was given port 0."""
    links = []
    for file in glob.glob(f"/proc/{process.pid}/fd/*"):
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


def ready_line(path):
    with open(path, encoding="utf-8") as lines:
        return dict(re.findall(r"(\w+)=(\S+)", lines.readline()))


def api(port, path, **arguments):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(arguments)}",
                                timeout=20) as answer:
        content = json.load(answer)
    assert content["status"] == "success", content
    return content["data"]


def queries():
    with open(f"{package}/grafana/shoal.json", encoding="utf-8") as file:
        for panel in json.load(file)["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "4s")


def config(target):
    return {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [os.path.abspath(f"{package}/prometheus/shoal-alerts.yml")],
            "scrape_configs": [{"job_name": "shoal", "authorization": {"credentials": reader},
                                "static_configs": [{"targets": [target]}]}]}


def promtool(what, file, content=None):
    done = subprocess.run(["promtool", "check", what, *file], input=content, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, f"promtool check {what}: {done.stdout.decode()}{done.stderr.decode()}"


def check_by_promtool(target):
    asked = urllib.request.Request(f"http://{target}/metrics", headers={"Authorization": f"Bearer {reader}"})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        promtool("metrics", [], answer.read())
    promtool("rules", [f"{package}/prometheus/shoal-alerts.yml"])


def check(port):
    wait_for("scrape", lambda: api(port, "query", query='up{job="shoal"} == 1')["result"])
    wait_for("client", lambda: api(port, "query", query="shoal_client_loss_ratio_count > 10")["result"])
    time.sleep(4)  # rates have some samples
    asked = 0
    for title, query in queries():
        result = api(port, "query", query=query)["result"]
        assert result or may_be_empty.search(query), f"{title}: {query} has no value"
        assert all(one["value"][1] != "NaN" for one in result), f"{title}: {query} is no number"
        asked += 1
    groups = api(port, "rules")["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) >= 11 and all(rule["health"] == "ok" for rule in rules), rules
    firing = [rule["name"] for rule in rules if rule["state"] == "firing"]
    took = api(port, "query", query='max_over_time(scrape_duration_seconds{job="shoal"}[1m])')["result"]
    mean = api(port, "query", query='avg_over_time(scrape_duration_seconds{job="shoal"}[1m])')["result"]
    samples = api(port, "query", query='scrape_samples_scraped{job="shoal"}')["result"]
    print(f"prometheus queries={asked} alerts={len(rules)} firing={','.join(firing) or 'none'} "
          f"samples={samples[0]['value'][1]} scrape_ms_mean={float(mean[0]['value'][1]) * 1e3:.1f} "
          f"scrape_ms_max={float(took[0]['value'][1]) * 1e3:.1f}")


def main():
    if not shutil.which("prometheus"):
        print("SKIP: prometheus is missing (package prometheus)")
        sys.exit(77)
    children = []

    def start(name, *command):
        with open(f"{name}.out", "w", encoding="utf-8") as out, open(f"{name}.err", "w", encoding="utf-8") as err:
            children.append(subprocess.Popen(command, stdout=out, stderr=err))
        return children[-1]

    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open("tokens", "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(f"reader {reader}\n")
        try:
            start("server", f"{build}/bin/shoal-server", "--game", "breakout", "--listen", "127.0.0.1:0", "--log",
                  "a.slog", "--http", "127.0.0.1:0", "--http-token-file", "tokens")
            ready = wait_for("ready line", lambda: ready_line("server.out"))
            start("client", f"{build}/bin/shoal-client", ready["listen"], "--bots", "4")
            target = ready["http"].removeprefix("http://")
            check_by_promtool(target)
            with open("prometheus.yml", "w", encoding="ascii") as file:
                json.dump(config(target), file)  # YAML reads JSON
            prometheus = start("prometheus", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                               "--web.listen-address=127.0.0.1:0")
            check(wait_for("port of Prometheus", lambda: port_of(prometheus)))
        except AssertionError as fault:
            sys.exit(f"prometheus.py: {fault}")
        finally:
            for child in children:
                child.kill()
                child.wait()


main()
