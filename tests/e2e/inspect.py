#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inspect.py URL CASE [argument...]: asks an inspector, and fails with what was not as it should be."""
import gzip
import json
import re
import resource
import socket
import struct
import sys
import time
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1])
at = (url.hostname, url.port)


def ask(method, path, headers=None, body=None):
    """The status, the headers and the body of an answer. A header that is None is not sent."""
    given = {"Host": url.netloc, "Connection": "close"}
    if body is not None:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    given |= headers or {}
    lines = [f"{method} {path} HTTP/1.1"] + [f"{k}: {v}" for k, v in given.items() if v is not None]
    with socket.create_connection(at, timeout=20) as to:
        to.sendall("\r\n".join(lines + ["", ""]).encode() + (body or b""))
        answer = b""
        while piece := to.recv(65536):
            answer += piece
    head, _, content = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    return int(first.split()[1]), {k.lower(): v for k, v in (l.split(": ", 1) for l in rest)}, content


def wants(status, method, path, headers=None, body=None, says=""):
    got, answered, content = ask(method, path, headers, body)
    assert got == status, f"{method} {path} {headers}: {got}, not {status}: {content[:200]}"
    assert says.encode() in content, f"{method} {path}: {content[:200]} does not say {says}"
    return answered, content


def bearer(token):
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def kept(path, content):
    """A file that browsers keep: packed for those that take it, and not sent again to those that have it."""
    headers, packed = wants(200, "GET", path, {"Accept-Encoding": "br, gzip"})
    assert headers["content-encoding"] == "gzip" and headers["vary"] == "Accept-Encoding", headers
    assert gzip.decompress(packed) == content and len(packed) < len(content)
    headers_raw, raw = wants(200, "GET", path, {"Accept-Encoding": "gzip;q=0"})
    assert raw == content and "content-encoding" not in headers_raw and headers_raw["etag"] != headers["etag"]
    for given, tag in (("gzip", headers["etag"]), ("identity", headers_raw["etag"])):
        _, nothing = wants(304, "GET", path, {"Accept-Encoding": given, "If-None-Match": f'"x", {tag}'})
        assert nothing == b""
    wants(200, "GET", path, {"If-None-Match": headers["etag"]})


def game(name):
    headers, content = wants(200, "GET", f"/game/{name}.wasm")
    assert headers["content-type"] == "application/wasm"
    kept(f"/game/{name}.wasm", content)


def loopback():
    headers, content = wants(200, "GET", "/api/v1/status")
    assert int(json.loads(content)["tick"]) >= 0
    assert headers["content-type"] == "application/json"
    headers, content = wants(200, "GET", "/")
    assert content.startswith(b"<!doctype html>") and headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "'unsafe" not in headers["content-security-policy"]
    wanted = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache"}
    assert wanted.items() <= headers.items(), headers
    assert wants(200, "GET", "/api/v1/status")[0]["cache-control"] == "no-store"
    kept("/", content)
    wants(200, "GET", "/healthz", {"Host": "10.0.0.1"}, says="pass_ms")
    wants(200, "GET", "/readyz", {"Host": "10.0.0.1"}, says="true")
    wants(404, "GET", "/nothing")
    wants(404, "GET", "/api/v1/stauts", says="did you mean 'status'?")
    wants(404, "GET", "/game/breakout.wasm", says="SHOAL_WEB")
    wants(400, "GET", "/api/v1/status?x=1", says="no argument 'x'")
    wants(405, "GET", "/api/v1/end", says="POST")
    wants(405, "DELETE", "/api/v1/status")
    # Host: a name that an attacker's DNS points at this machine.
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", None):
        wants(400 if host is None else 403, "GET", "/api/v1/status", {"Host": host})
    for host in ("localhost", "LOCALHOST:1", "127.0.0.2:7780", "[::1]", "shoal.example", "shoal.example:443"):
        wants(200, "GET", "/api/v1/status", {"Host": host})
    # Origin: a page of another site.
    for origin in ("http://evil.example", "null", f"http://{url.hostname}:1", f"ftp://{url.netloc}"):
        wants(403, "GET", "/api/v1/status", {"Origin": origin})
        wants(403, "POST", "/api/v1/end", {"Origin": origin}, b"{}")
    wants(200, "GET", "/api/v1/status", {"Origin": f"http://{url.netloc}"})
    # A form of a foreign page cannot send this type.
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", None):
        wants(400, "POST", "/api/v1/end", {"Content-Type": kind}, b"{}")
    wants(400, "POST", "/api/v1/end", body=b"{", says="not JSON")
    wants(400, "POST", "/api/v1/end", body=b'{"why":1}', says="no argument 'why'")
    wants(413, "POST", "/api/v1/end", body=b" " * 65537)
    wants(400, "POST", "/api/v1/end", body=b" " * 65536, says="not JSON")
    wants(405, "POST", "/", body=b"{}")


def tokens(reader, operator):
    wants(401, "GET", "/api/v1/status")
    wants(200, "GET", "/")
    wants(200, "GET", "/healthz")
    wants(200, "GET", "/api/v1/status", bearer(reader))
    wants(200, "GET", "/api/v1/status", bearer(operator))
    wants(200, "GET", "/metrics", bearer(reader), says="# HELP shoal_")
    wants(401, "GET", "/metrics")
    wants(403, "POST", "/api/v1/end", bearer(reader), b"{}", says="reader")
    wants(403, "GET", "/api/v1/status", bearer(reader) | {"Host": "evil.example"})
    wrong = [operator[:-1], operator + "x", "", "Bearer", "x" * 300]
    for token in wrong:
        wants(401, "GET", "/api/v1/status", bearer(token))
    wants(429, "GET", "/api/v1/status", bearer(wrong[0]))
    wants(429, "GET", "/api/v1/status", bearer("x" * 20), says="wait a minute")
    wants(200, "GET", "/api/v1/status", bearer(reader))


# All families, by their names: a dashboard of an operator has them.
counters = """cpu_seconds ticks ticks_given_up joins leaves refusals resumes sent_bytes received_bytes dropped log_bytes log_segments log_segments_unstored log_commands_failed log_keyframes
log_ticks_waited log_saves log_saves_failed http_responses http_frames_lost http_cut http_lacks""".split()
families = {f"shoal_{name}_total": "counter" for name in counters}
families |= {f"shoal_{name}": "gauge" for name in
             "build_info match_info loop_stalled_seconds tick_lag_seconds tick_period_seconds clients entities log_ticks_lost http_connections".split()}
families |= {f"shoal_{name}": "histogram" for name in
             "tick_duration_seconds client_rtt_seconds client_loss_ratio".split()}
families |= {f"process_{name}": "gauge" for name in "resident_memory_bytes open_fds max_fds".split()}
# With a stream; the last is of --stream-sync.
of_stream = {f"shoal_stream_{name}_total": "counter" for name in
             "messages bytes repeats reconnects restarts still_seconds ack_seconds reports_refused".split()}
of_stream |= {f"shoal_stream_{name}": "gauge" for name in
              "up epoch acked_sequence acked_tick waiting_records waiting_bytes waiting_messages held_bytes ack_seconds".split()}
of_stream |= {"shoal_standbys": "gauge", "shoal_relays": "gauge", "shoal_takeovers_total": "counter"}
of_followers = {"shoal_standby_silent_seconds": "gauge", "shoal_relay_behind_seconds": "gauge"}
of_stream_later = {"shoal_stream_protected": "gauge"}
labels_of = {"shoal_build_info": {"version", "game", "schema"}, "shoal_match_info": {"identity"}, "shoal_tick_duration_seconds": {"part"},
             "shoal_clients": {"kind"}, "shoal_leaves_total": {"reason"}, "shoal_refusals_total": {"reason"},
             "shoal_entities": {"template"}, "shoal_sent_bytes_total": {"kind"}, "shoal_dropped_total": {"reason"},
             "shoal_http_responses_total": {"status"}}
sample_form = re.compile(r"(\w+)(?:\{(.*)\})? (\d+(?:\.\d+)?)")


def scrape():
    """Each sample as {(name, labels): value}, of lines in the form of Prometheus."""
    headers, content = wants(200, "GET", "/metrics")
    assert headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8", headers
    text = content.decode()
    assert text.endswith("\n")
    samples, types, helped, family = {}, {}, set(), None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family, words = line[7:].split(" ", 1)
            assert words.endswith(".") and family not in helped, line
            helped.add(family)
        elif line.startswith("# TYPE "):
            name, types[family] = line[7:].split(" ")
            assert name == family, line
        else:
            name, labels, value = sample_form.fullmatch(line).groups()
            is_histogram = types[family] == "histogram"
            assert name == family or is_histogram and name[len(family):] in ("_bucket", "_sum", "_count"), line
            pairs = tuple(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
            assert ",".join(f'{k}="{v}"' for k, v in pairs) == (labels or ""), line
            wanted = labels_of.get(family, set()) | ({"le"} if name.endswith("_bucket") else set())
            assert {k for k, _ in pairs} == wanted, line
            assert (name, pairs) not in samples, line
            samples[name, pairs] = float(value)
    wanted = families | of_stream if "shoal_stream_up" in types else families
    found = {name: kind for name, kind in types.items() if of_stream_later.get(name) != kind}
    assert found == wanted, found.keys() ^ wanted.keys()
    return samples, text


def has_observed():
    """Each client is looked at once a second; the entities of a whole walk are counted."""
    for _ in range(300):
        samples, _ = scrape()
        if samples["shoal_client_loss_ratio_count", ()] >= 4:
            return
        time.sleep(0.1)
    raise AssertionError("no client was looked at")


def check_histograms(samples):
    for (name, labels), count in samples.items():
        if not name.endswith("_count"):
            continue
        base = name[:-6]
        buckets = [(k[-1][1], v) for (n, k), v in samples.items() if n == base + "_bucket" and k[:-1] == labels]
        assert len(buckets) == 10 and buckets[-1] == ("+Inf", count), buckets
        bounds = [float(le) for le, _ in buckets]
        assert bounds == sorted(bounds) and [v for _, v in buckets] == sorted(v for _, v in buckets), buckets
        least = sum((v - before) * low for (_, v), (_, before), low in
                    zip(buckets[1:], buckets, bounds))
        assert samples[base + "_sum", labels] >= least * 0.999, (base, labels)


def followers(standbys, relays):
    one = {name: value for (name, _), value in scrape()[0].items()}
    assert [one.get("shoal_standbys"), one.get("shoal_relays")] == [int(standbys), int(relays)]


def metrics(dashboard, alerts):
    samples, text = scrape()
    check_histograms(samples)
    one = {name + "".join(v for _, v in labels): value for (name, labels), value in samples.items()}
    assert one["shoal_joins_total"] == 2 and one["shoal_clientsplayer"] == 2 and one["shoal_clientsspectator"] == 0
    assert one["shoal_entitiesbreakout_ball"] >= 1 and one["shoal_entitiesbreakout_pad"] == 2
    assert 0 < one["shoal_tick_duration_seconds_counttick"] <= one["shoal_ticks_total"]
    assert one["shoal_cpu_seconds_total"] > 0 < one["shoal_tick_duration_seconds_sumstep"]
    parts = sum(v for k, v in one.items() if k.startswith("shoal_tick_duration_seconds_sum")) / 2
    assert parts <= one["shoal_tick_duration_seconds_sumtick"], "the parts are more than the whole"
    assert one["shoal_sent_bytes_totalstate"] > 0 and one["shoal_sent_bytes_totalcontrol"] > 0
    assert one["shoal_received_bytes_total"] > 0 and one["shoal_http_connections"] >= 1
    assert one["shoal_http_responses_total2xx"] >= 1 and one["shoal_http_responses_total5xx"] == 0
    status = json.loads(wants(200, "GET", "/api/v1/status")[1])
    assert one["shoal_match_info" + status["identity"]] == 1 and int(status["identity"], 16) > 0
    assert 1 << 20 < one["process_resident_memory_bytes"] < 1 << 32 > int(status["memory_bytes"]) > 1 << 20
    assert 5 < one["process_open_fds"] <= one["process_max_fds"] == status["descriptors_max"]
    many = [socket.create_connection((url.hostname, url.port)) for _ in range(20)]
    wants(200, "GET", "/healthz")  # these were taken
    deadline = time.monotonic() + 20 # they are counted once a second
    while (now := json.loads(wants(200, "GET", "/api/v1/status")[1])["descriptors"]) < status["descriptors"] + len(many):
        assert time.monotonic() < deadline, (status["descriptors"], now)
        time.sleep(0.1)
    again = scrape()[0]
    for (name, labels), value in samples.items():
        if name.endswith(("_total", "_count", "_sum", "_bucket")):
            assert again[name, labels] >= value, f"{name} falls"
    assert len(text) < 65536
    for file in (dashboard, alerts):
        with open(file, encoding="utf-8") as source:
            asked = set(re.findall(r"\b(?:shoal|process)_[a-z_]+", source.read()))
        assert len(asked) >= 5, file
        for name in asked:
            base = re.sub("_(bucket|sum|count)$", "", name)
            known = families | of_stream | of_stream_later | of_followers
            assert name in known or families.get(base) == "histogram", f"{file} asks for {name}"
    print(text, end="")


def soon():
    """A question does not wait for a tick, of which there is one a second."""
    begin = time.monotonic()
    for _ in range(6):
        wants(200, "GET", "/metrics")
    took = time.monotonic() - begin
    assert took < 3, f"six answers took {took:.1f} s"


def pauses():
    wants(200, "POST", "/api/v1/pause", body=b"{}")


def resumes():
    wants(200, "POST", "/api/v1/resume", body=b"{}")


def health(ready):
    wants(200, "GET", "/healthz", says="pass_ms")
    wants(int(ready), "GET", "/readyz")


def lacks(report, process):
    """Few descriptors are left, and then none: connections that rest make room, those that follow do not. It is said, and who comes later is served."""
    count = json.loads(wants(200, "GET", "/api/v1/status")[1])["descriptors"]
    resource.prlimit(int(process), resource.RLIMIT_NOFILE, (count, resource.prlimit(int(process), resource.RLIMIT_NOFILE)[1]))
    resting = [socket.create_connection(at, timeout=20) for _ in range(8)]
    health(200)
    held = []
    while "no file descriptor is left" not in open(report).read():
        assert len(held) < 200, "there are descriptors"
        held.append(socket.create_connection(at, timeout=20))
        held[-1].sendall(f"GET /api/v1/stream HTTP/1.1\r\nHost: {at[0]}:{at[1]}\r\n\r\n".encode())
        time.sleep(0.05)
    for connection in resting + held:
        connection.close()
    deadline = time.monotonic() + 60
    while True:
        try:
            health(200)
            break
        except OSError:
            assert time.monotonic() < deadline, "no question is answered again"
            time.sleep(0.1)
    metrics = wants(200, "GET", "/metrics")[1].decode()
    assert re.search("^shoal_http_lacks_total [1-9]", metrics, re.M), metrics


def settles():
    """The match is over, and stands still until a client that is stopped has all of it: the server is alive, not ready."""
    deadline = time.monotonic() + 60
    while b'"phase":"settling"' not in wants(200, "GET", "/api/v1/status")[1]:
        assert time.monotonic() < deadline, "it does not settle"
        time.sleep(0.02)
    health(503)
    assert b'"phase":"settling"' in wants(200, "GET", "/api/v1/status")[1]


def follow_to_end(path, token, part="", at="0"):
    """Segments and bytes from a place on to the end of what is there now: a busy server answers with less at once."""
    info = json.loads(wants(200, "GET", f"{path}/info", bearer(token))[1])
    while part != str(info["newest"]) or int(at) < int(info["bytes"]):
        headers, content = wants(200, "GET", f"{path}/bytes?from={at}{part and '&segment=' + part}", bearer(token))
        if headers["shoal-segment"] == part:
            assert headers["shoal-from"] == at, headers
        part, at = headers["shoal-segment"], headers["shoal-next"]
        yield part, content


def take(path, token, file):
    """Its segments become files as a server names them."""
    parts = {}
    for part, content in follow_to_end(path, token):
        parts[part] = parts.get(part, b"") + content
    for number, content in parts.items():
        is_last = number == part
        with open(file if is_last else f"{file}.seg{int(number):04}", "wb") as to:
            to.write(content)


def follow(token):
    """Blocks of a log that is followed have 12 of 60 ticks."""
    log, short = b"", 0
    for _ in range(40):
        log += wants(200, "GET", f"/log/bytes?from={len(log)}", bearer(token))[1]
        short, at = 0, 16
        while at < len(log):
            kind, stored, first, last = struct.unpack_from("<10xHI24xQQ", log, at)
            short += kind == 2 and last - first < 12
            at += 72 + stored
        if short >= 4:
            return
    raise AssertionError(f"{short} short blocks in {len(log)} bytes")


def logs(reader, operator):
    for path in ("/log/info", "/log/bytes?from=0"):
        wants(403, "GET", path, bearer(reader), says="for operators")
        wants(401, "GET", path)
        wants(200, "GET", path, bearer(operator))
    wants(401, "GET", "/watch/bytes")
    wants(200, "GET", "/watch/info", bearer(reader), says='"live":true')
    for path in ("/log/bytes", "/watch/bytes"):
        wants(400, "GET", path + "?from=-1", bearer(operator), says="offset")
        wants(400, "GET", path + "?from=0&segment=x", bearer(operator), says="number")
        wants(404, "GET", path + "?from=0&segment=99999", bearer(operator), says="not there")
        wants(405, "POST", path, bearer(operator), b"{}")
    follow(operator)
    take("/log", operator, "copy.slog")
    take("/watch", reader, "seen.slog")


def none(reader):
    wants(404, "GET", "/watch/bytes", bearer(reader), says="there is no log")
    wants(200, "GET", "/watch/info", bearer(reader), says='"why":"there is no log')


def hides(reader):
    wants(404, "GET", "/watch/bytes", bearer(reader), says="--http delay")
    wants(200, "GET", "/watch/info", bearer(reader), says='"why":"readers may not see')
    wants(403, "GET", "/api/v1/query?q=pos", bearer(reader))


def late(reader, operator):
    wants(200, "GET", "/watch/info", bearer(reader), says='"delay_s":20')
    wants(403, "GET", "/api/v1/query?q=pos", bearer(reader))
    columns = json.loads(wants(200, "GET", "/api/v1/query?q=pos,vel,?aim", bearer(operator))[1])["columns"]
    assert [column["unit"] for column in columns] == ["m", "m/s", "rad"], columns
    assert columns[2]["comment"] == "where the player looks", columns
    # The log has its first second; the record has its header alone for twenty.
    _, log = wants(200, "GET", "/log/bytes?from=0", bearer(operator))
    for _ in range(9):
        head = len(log)
        log += wants(200, "GET", f"/log/bytes?from={len(log)}", bearer(operator))[1]
        if head < len(log):
            break
    _, seen = wants(200, "GET", "/watch/bytes?from=0", bearer(reader))
    assert log[:8] == seen[:8] == b"SHOALLOG" and len(seen) < len(log), (len(seen), len(log))


def served():
    wants(200, "GET", "/", says="<!doctype html>")
    wants(200, "GET", "/api/v1/status", says='"phase":"log"')
    wants(409, "GET", "/api/v1/end", says="no match runs")
    wants(404, "GET", "/api/v1/stauts")
    wants(200, "GET", "/log/info", says='"first":1,"newest":3')
    take("/log", None, "copy.slog")
    take("/watch", None, "seen.slog")


def bodies(count):
    """The first frame of positions has the cubes, which lie in a field of a component, and no angle of a camera."""
    with socket.create_connection(at, timeout=2) as to:
        to.sendall(f"GET /api/v1/positions HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode())
        answer = b""
        while len(answer) < 1000 + 20 * int(count):
            answer += to.recv(65536)
    frame = answer.partition(b"\r\n\r\n")[2].partition(b"\r\n")[2] # behind the length of its chunk
    size, _, flags = struct.unpack_from("<IQI", frame)
    assert flags == 2 and (size - 12) // 20 == int(count), (flags, size)
    places = [struct.unpack_from("<IHxxfff", frame, 16 + 20 * i)[2:] for i in range(int(count))]
    assert all(abs(each) <= 101 for place in places for each in place) and len(set(places)) == int(count)


def live(is_live):
    wants(200, "GET", "/log/info", says=f'"live":{is_live}')


def begin_late(path, token, file):
    """A log of its own that begins at the newest keyframe, and what is before it, place by place."""
    info = json.loads(wants(200, "GET", f"{path}/info", bearer(token))[1])
    headers, late = wants(200, "GET", f"{path}/bytes?from=live", bearer(token))
    part, at, start = headers["shoal-segment"], headers["shoal-next"], int(headers["shoal-from"])
    assert info["keyframe"]["segment"] == int(part) and int(info["keyframe"]["from"]) <= start <= int(at)
    for segment, content in follow_to_end(path, token, part, at):
        assert segment == part
        late += content
    with open(file, "wb") as to:
        to.write(late)
    before, place = b"", 0
    while place < start:
        headers, content = wants(200, "GET", f"{path}/bytes?from={place}&segment={part}", bearer(token))
        before += content
        place = int(headers["shoal-next"])
    assert before.startswith(b"SHOALLOG") and place >= start


def late_logs(reader, operator, segment):
    """What both get who come late."""
    info = json.loads(wants(200, "GET", "/watch/info", bearer(reader))[1])
    assert info["keyframe"] | {"from": 0} == {"segment": int(segment), "from": 0, "tick": "1200"}, info
    assert info["newest"] == int(segment) and int(info["bytes"]) > int(info["keyframe"]["from"]), info
    for path in ("/log/bytes", "/watch/bytes"):
        wants(400, "GET", path + "?from=live&segment=1", bearer(operator), says="newest segment")
        wants(400, "GET", path + "?from=late", bearer(operator), says="offset")
    begin_late("/log", operator, "copy.slog")
    begin_late("/watch", reader, "seen.slog")


def hidden_while_live(reader):
    wants(200, "GET", "/watch/info", bearer(reader), says='"why":"readers may not see')
    wants(404, "GET", "/watch/bytes", bearer(reader), says="when its log is closed")


def recorded():
    wants(200, "GET", "/healthz", says="pass_ms")
    wants(200, "GET", "/watch/info", says='"game":"breakout"')
    wants(200, "GET", "/watch/info", says='"live":false,"first":1,"newest":1,')
    take("/watch", None, "got.slog")


def seen_when_closed(reader):
    wants(200, "GET", "/watch/info", bearer(reader), says='"live":false,"first":1')
    assert wants(200, "GET", "/watch/bytes", bearer(reader))[1].startswith(b"SHOALLOG")


def status_grows(least):
    for _ in range(100):
        if int(json.loads(wants(200, "GET", "/api/v1/status")[1])["tick"]) > int(least):
            return
        time.sleep(0.1)
    raise AssertionError("the status of a log that grows is old")


def ends():
    wants(200, "POST", "/api/v1/end", body=b"{}", says="ends")


globals()[sys.argv[2]](*sys.argv[3:])
