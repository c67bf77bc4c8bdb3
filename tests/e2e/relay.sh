#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A relay shows the match of a server, from the log that this one writes: real programs of both.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and tokens
# shellcheck source=broker.sh
. "$here/broker.sh"

# relays NAME LOG [option...]: start a relay on a free port; $shown gets its address.
relays() {
    local name=$1
    shift
    start_ready "$name" shoal-relay "$@" --listen 127.0.0.1:0
    shown=$(value listen "$name.out")
    [ -n "$shown" ] || fail "$name prints no ready line"
}
has_header() { [ -s a.slog ] && [ "$(stat -c %s a.slog)" -gt 500 ]; }
# A match with one player: a.slog grows. $address is the server's.
plays() {
    serve server --log a.slog --min-clients 1 "$@"
    enters player trace.txt --bots 1
    await "a block of the log" has_header
}

# Two watch: one with the game, one that only draws. Who wants to play reads where. The inspector is that of a server.
case_spectators_of_a_relay_see_the_match_of_a_server() {
    plays
    relays relay a.slog --delay 0 --record own.slog --http 127.0.0.1:0 --control control
    start one shoal-client "$shown" --headless --spectate --trace one.txt
    start two shoal-client "$shown" --headless --spectate --trace two.txt --net loss=5,delay=20,seed=3
    run_to 6 guest shoal-client "$shown" --headless --bots 1
    says guest.err 'shows the match of another one: watch it \(--spectate\), or play there$'
    await "spectators" has_rows one.txt 50
    await "spectators" has_rows two.txt 50
    python3 - "$(value http relay.out)" >asked.out <<'PYTHON' || fail "the inspector of the relay"
import json, sys, urllib.request
url = sys.argv[1]
ask = lambda path: urllib.request.urlopen(url + path, timeout=60).read()
assert json.loads(ask("/api/v1/status"))["tick"]
info = json.loads(ask("/watch/info"))
assert "why" not in info, info
assert len(ask("/watch/bytes?from=0")) > 0
metrics = ask("/metrics").decode()
for name in ("behind_seconds", "silent_seconds", "kept_bytes"):
    assert f"\nshoal_relay_{name} " in metrics, name
assert 'shoal_clients{kind="spectator"} 2' in metrics
PYTHON
    run ctl shoal-ctl --socket control say hello
    [ "$code" != 0 ] || fail "the relay changes the match"
    says ctl.err 'the match of another server is shown here'
    stop server
    ends_with 0 player relay one two
    are_equal 2 relay one two
    says relay.err "^a.slog: note: the match ended at tick $(value ticks server.out)\$"
    verifies own.slog server
    run one shoal-replay info a.slog
    run two shoal-replay info own.slog
    [ "$(grep '^identity=' one.out)" = "$(grep '^identity=' two.out)" ] || fail "the logs are of two matches"
}

case_a_relay_says_that_its_server_is_gone() {
    plays
    relays relay a.slog --delay 0 --record none
    start one shoal-client "$shown" --headless --spectate --trace one.txt
    await "a spectator" has_rows one.txt 20
    kill -KILL "${pids[server]}"
    ended server
    ends_with 1 relay
    says relay.err '^a.slog: error: its server is gone: the log has no end after tick [0-9]+$'
    ends_with 0 one
    says one.err 'the server of the match is gone$'
    kill -TERM "${pids[player]}"
    ended player
    run verify shoal-replay verify a.slog
    [ "$(value ticks verify.out)" = "$(value ticks relay.out)" ] || fail "the relay did not show all that the log has"
}

# From the first message on; the broker dies and comes back meanwhile.
case_a_relay_follows_a_stream() {
    is_here || return 0
    broker -1
    streams server --min-clients 1 --log a.slog
    start player shoal-client "$(value listen server.out)" --bots 1
    relays relay "$stream" --delay 0 --record own.slog
    start one shoal-client "$shown" --headless --spectate --trace one.txt
    await "a spectator" has_rows one.txt 20
    kill_broker
    broker "$port"
    await "more of the match" has_rows one.txt $(($(wc -l <one.txt) + 40))
    stop server
    ends_with 0 player relay one
    are_equal 1 relay one
    verifies own.slog server
}

case_a_relay_that_gets_no_reader_says_why() {
    is_here || return 0
    broker -1 '' 'accounts { A { jetstream: { max_mem: 1MB, max_file: 9MB, max_consumers: 1 }, users: [ {user: a, password: a} ] } }
no_auth_user: a'
    streams server --min-clients 1 --log a.slog
    relays relay "$stream" --delay 0 --record none
    start second shoal-relay "$stream" --listen 127.0.0.1:0 --record none
    await "why it waits" has_said second.err "warning: waits for the match's stream: NATS: maximum consumers limit reached\$"
    kill "${pids[second]}"
    ended second
    stop server
    ends_with 0 relay
}

case_a_relay_goes_on_with_the_standby_of_its_match() {
    is_here || return 0
    broker -1
    (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out)
    streams first --min-clients 1 --log a.slog --key-file server.key
    "$bin/shoal-server" token --key-file server.key --server "$(value listen first.out)" --player 1 >token
    start player shoal-client "$(value listen first.out)" --bots 1 --token-file token --trace trace.txt
    start second shoal-server --standby "$stream" --key-file server.key --listen 127.0.0.1:0 --log joined.slog --takeover-ms 3000
    await "a standby" has_said second.err '^note: stands by at tick'
    relays relay "$stream" --delay 0 --record own.slog
    start one shoal-client "$shown" --headless --spectate --trace one.txt
    await "a spectator" has_rows one.txt 20
    kill -KILL "${pids[first]}"
    ended first
    await "the takeover" has_said second.out '^takeover epoch='
    await "more of the match" has_rows one.txt $(($(wc -l <one.txt) + 40))
    stop second
    ends_with 0 relay one
    are_equal 1 relay one
    verifies own.slog second
    kill -KILL "${pids[player]}"
    ended player
}

is_ready_for() { python3 "$here/inspect.py" "$(value http relay.out)" health "$1" >health.out 2>health.err; }
# It does not know where the stream ends, and has shown all that came.
case_a_relay_is_ready_near_the_end_of_its_stream_alone() {
    is_here || return 0
    broker -1
    streams server --min-clients 1 --log a.slog
    start player shoal-client "$(value listen server.out)" --bots 1
    relays relay "$stream" --delay 0 --record none --http 127.0.0.1:0
    await "a relay that is ready" is_ready_for 200
    kill -STOP "${pids[broker]}"
    await "a relay that is not ready" is_ready_for 503
    run_to 6 guest shoal-client "$shown" --headless --spectate
    says guest.err 'this relay is behind the match and catches up: try again soon'
    await "a word about the broker" has_said relay.err 'nothing arrives after tick [0-9]+: its broker does not answer$'
    kill -CONT "${pids[broker]}"
    await "a relay that is ready again" is_ready_for 200
    await "the end of it" has_said relay.err '^note: caught up at tick'
    stop server
    ends_with 0 player relay
}

case_what_a_relay_cannot_do_it_says() {
    run_to 2 none shoal-relay
    says none.err 'name the log or the stream of the match'
    run_to 2 two shoal-relay a.slog b.slog
    run_to 1 missing shoal-relay missing.slog
    run made shoal-server --game arena --listen 127.0.0.1:0 --log a.slog --fast --ticks 60
    run_to 2 live shoal-relay a.slog --delay 0,whole --record none --listen 127.0.0.1:0 --spectators 4
    says live.err 'this game hides things from players'
    printf "%s\n" "source = a.slog" "delay = 1" >relay.conf # as its unit has it
    run_to 0 late shoal-relay --config relay.conf --record none --listen 127.0.0.1:0
    says late.out '^done ticks=60 '
}

run_cases "$@"
