#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shoal-server as a service: its lines, what its manager gets to know, and an end that lets the match play on.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# manager NAME SOCKET: listens as systemd does. Each datagram becomes a line of NAME.out, states joined by "|".
# It ends behind the server.
manager() {
    : >"$1.out"
    python3 - "$2" >"$1.out" 2>"$1.err" <<'PYTHON' &
import socket, sys
name = sys.argv[1]
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.bind("\0" + name[1:] if name[0] == "@" else name)
print("bound", flush=True)
try:
    while True:
        state = ear.recv(4096).decode().replace("\n", "|")
        print(state, flush=True)
        if state == "STOPPING=1":
            ear.settimeout(0.3)
except TimeoutError:
    pass
PYTHON
    pids[$1]=$!
    await "socket of $1" has_said "$1.out" '^bound$'
}
case_a_manager_hears_of_each_state() {
    : >bans.txt
    manager manager "$PWD/notify.sock"
    NOTIFY_SOCKET=$PWD/notify.sock WATCHDOG_USEC=300000 serve server --min-clients 1 --log none --listen bans=bans.txt
    await "ready" has_said manager.out '^READY=1$'
    await "a sign of life while it waits" has_said manager.out '^WATCHDOG=1$'
    await "its state" has_said manager.out '^STATUS=breakout: waiting for players, tick 0, 0 of 64 players$'
    start client shoal-client "$address" --bots 1
    await "a player" has_said manager.out '^STATUS=breakout: running, tick [0-9]+, 1 of 64 players$'
    kill -HUP "${pids[server]}"
    await "the reload" has_said manager.out '^RELOADING=1\|MONOTONIC_USEC=[1-9][0-9]{6,}$'
    await "its end" has_lines manager.out '^READY=1$' 2
    stop server
    ended client
    ends_with 0 manager
    [ "$(grep -c '^STOPPING=1$' manager.out)" = 1 ] || fail "the end is not said once"
}

case_a_manager_may_have_an_abstract_socket() {
    local socket=@shoal-test-$$-$RANDOM
    manager manager "$socket"
    NOTIFY_SOCKET=$socket serve server --ticks 5 --log none
    ends_with 0 server manager
    says manager.out '^READY=1$'
}

case_a_socket_that_cannot_be_used_is_a_warning() {
    NOTIFY_SOCKET=$PWD/none serve server --ticks 5 --log none
    ends_with 0 server
    says server.err '^warning: NOTIFY_SOCKET cannot be used: No such file or directory$'
    NOTIFY_SOCKET=vsock:2:1 serve other --ticks 5 --log none
    ends_with 0 other
    says other.err '^warning: NOTIFY_SOCKET cannot be used: Invalid argument$'
}

# The watchdog is for one process: WATCHDOG_PID names another one.
case_a_watchdog_of_another_process_gets_nothing() {
    manager manager "$PWD/notify.sock"
    NOTIFY_SOCKET=$PWD/notify.sock WATCHDOG_USEC=10000 WATCHDOG_PID=1 serve server --ticks 20 --log none
    ends_with 0 server
    says manager.out '^READY=1$'
    ! grep -q WATCHDOG manager.out || fail "it gets signs of life"
    ends_with 0 manager
}

case_a_server_that_drains_lets_its_players_finish() {
    manager manager "$PWD/notify.sock"
    NOTIFY_SOCKET=$PWD/notify.sock serve server --min-clients 1 --tune drain-s=600 --log a.slog
    enters client trace.txt --bots 1
    kill -TERM "${pids[server]}"
    await "the drain" has_said server.err '^note: draining: no new players; .* for 600 s at most$'
    run_to 6 late shoal-client "$address" --bots 1
    says late.err 'refused: this server ends after the match: play on another one$'
    says server.err '^note: a client from .* was refused: this server ends after the match'
    kill -TERM "${pids[client]}"
    ended client
    ends_with 0 server
    says server.err '^note: drained: 0 players are left$'
    ends_with 0 manager
    # The end takes longer than a manager waits for it.
    [ "$(grep -m 1 -n '^EXTEND_TIMEOUT_USEC=15000000$' manager.out | cut -d: -f1)" -lt \
        "$(grep -m 1 -n '^STOPPING=1$' manager.out | cut -d: -f1)" ] || fail "no more time is asked for"
    verifies a.slog server
}

case_a_drain_ends_when_its_time_is_over() {
    serve server --min-clients 1 --tune drain-s=1 --log none
    enters client trace.txt --bots 1
    stop server
    ends_with 0 client
    says server.err '^note: drained: 1 players are left$'
    says client.out '^client id=1 .* end=goodbye$'
}

case_a_second_signal_ends_a_drain() {
    serve server --min-clients 1 --tune drain-s=600 --log none
    enters client trace.txt --bots 1
    kill -TERM "${pids[server]}"
    await "the drain" has_said server.err '^note: draining'
    stop server
    ends_with 0 client
    ! grep -q drained server.err || fail "it waited"
}

# It is not ready before the match is there, which may take longer than its manager waits.
case_a_start_that_takes_long_asks_for_time() {
    serve server --ticks 100 --fast --log a.slog
    ends_with 0 server
    manager resumed "$PWD/resumed.sock"
    NOTIFY_SOCKET=$PWD/resumed.sock run_to 0 server shoal-server --resume a.slog --listen 127.0.0.1:0 --ticks 120 --fast --log b.slog
    ends_with 0 resumed
    [ "$(grep -m 1 -oE '^(EXTEND_TIMEOUT_USEC|READY)' resumed.out)" = EXTEND_TIMEOUT_USEC ] || fail "it asks too late"
    (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out)
    manager manager "$PWD/notify.sock"
    NOTIFY_SOCKET=$PWD/notify.sock start server shoal-server --standby nats://127.0.0.1:9/SHOAL_0123456789abcdef \
        --key-file server.key --listen 127.0.0.1:0 --log c.slog
    has_asked_or_gone() { has_said manager.out '^EXTEND_TIMEOUT_USEC=15000000$' || has_ended server; }
    await "more time" has_asked_or_gone
    if has_said server.err 'this build has no NATS'; then
        ended server
        kill "${pids[manager]}"
        wait "${pids[manager]}" || true
        unset 'pids[manager]'
        skip "a build without libnats-dev"
        return 0
    fi
    stop server
    kill "${pids[manager]}"
    wait "${pids[manager]}" || true
    unset 'pids[manager]'
    says manager.out '^EXTEND_TIMEOUT_USEC=15000000$'
}

# A pager that stands still, a terminal that is held: the match goes on.
case_lines_that_nothing_reads_stop_no_match() {
    mkfifo full
    exec 8<>full
    python3 -c 'import os
os.set_blocking(8, False)
try:
    while True: os.write(8, b"x" * 4096)
except BlockingIOError:
    os.set_blocking(8, True)'
    "$bin/shoal-server" --game breakout --listen 127.0.0.1:0 --ticks 150 --lines status-s=1 --log none --console \
        < <(yes status | head -n 200) 2>&8 >server.out &
    pids[server]=$!
    await "its end" has_ended server
    wait "${pids[server]}" || fail "it ended with $?"
    unset 'pids[server]'
    says server.out '^done ticks=150 '
    exec 8>&-
}

case_lines_are_json() {
    serve server --min-clients 1 --ticks 5 --log none --lines json --lines level=net=debug
    run client shoal-client "$address" --bots 1 --name 'a "b" \c'
    ended server
    python3 - <<'PYTHON'
import json, re
seen = []
for text in open("server.err", encoding="utf-8"):
    line = json.loads(text)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ", line["time"]), line
    assert list(line)[:4] == ["time", "level", "layer", "tick"] and list(line)[-1] == "message", line
    seen.append((line["level"], line["layer"], line["message"]))
joined = [one for one in seen if "joined from" in one[2]]
assert joined and joined[0][:2] == ("info", "net"), seen
assert joined[0][2].startswith('client 1 "a \\"b\\" \\\\c" joined from '), joined
assert any(level == "debug" and "from=accepted to=playing" in message for level, _, message in seen), seen
PYTHON
}

case_a_journal_gets_levels_and_other_files_do_not() {
    : >stream.txt
    JOURNAL_STREAM=$(stat -c %d:%i stream.txt) "$bin/shoal-server" --game none 2>>stream.txt >none.out && fail "it runs"
    says stream.txt '^<3>error: '
    JOURNAL_STREAM=$(stat -c %d:%i none.out) "$bin/shoal-server" --game none 2>other.txt >none.out && fail "it runs"
    says other.txt '^error: '
}

case_lines_below_the_level_are_not_printed() {
    serve server --min-clients 1 --ticks 5 --log none --lines level=error --lines level=net=info
    run client shoal-client "$address" --bots 1
    ended server
    says server.err '^note: client 1 .* joined'
    serve server --min-clients 1 --ticks 5 --log none --lines level=net=info --lines level=error
    run client shoal-client "$address" --bots 1
    ended server
    ! grep -q joined server.err || fail "a note is printed"
}

case_a_level_of_no_name_is_refused() {
    run_to 2 server shoal-server --game breakout --lines level=loud
    says server.err '^error: --lines level=loud: there is no such level: error\|warning\|info\|debug$'
    run_to 2 server shoal-server --game breakout --lines level=sound=info
    says server.err '^error: --lines level=sound=info: there is no such layer: server\|game\|net\|log\|http$'
    run_to 2 server shoal-server --game breakout --lines xml
    run_to 2 server shoal-server --game breakout --tune drain-s=86401
}

run_cases "$@"
