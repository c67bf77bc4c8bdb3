#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A broker with users: server, standby and relay, their logins, and where passwords may not be read.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and passwords
# shellcheck source=broker.sh
. "$(dirname "$0")/broker.sh"

password=pass-4711-word

# with_login ADDRESS
with_login() { echo "nats://shoal:$password@${1#nats://}"; }
# all_start: server, standby and relay of one match, with the password. $stream gets the match's address.
all_start() {
    "$bin/shoal-server" keygen server.key >keygen.out
    start_ready server shoal-server --game breakout --listen 127.0.0.1:0 --key-file server.key --log a.slog \
        --stream "$(with_login "$nats")" --control server.socket --http 127.0.0.1:0
    stream=$(value stream server.out)
    start standby shoal-server --standby "$(with_login "$stream")" --key-file server.key --listen 127.0.0.1:0 \
        --log b.slog --control standby.socket --takeover-ms 3000
    start relay shoal-relay "$(with_login "$stream")" --delay 0 --listen 127.0.0.1:0 --record c.slog --control relay.socket
}
all_follow() {
    await "a standby" has_said standby.err '^note: stands by at tick'
    await "a relay" has_said relay.out '^ready '
}
all_say() { # REGEX TIMES
    local name
    for name in server standby relay; do await "$1 of $name" has_lines $name.err "$1" "$2"; done
}
# The standby goes on with the match of the server, and ends it; the relay shows it up to its end.
all_end() {
    kill -KILL "${pids[server]}"
    ended server
    await "the takeover" has_said standby.out '^takeover epoch=2 '
    stop standby
    ends_with 0 relay
    verifies b.slog standby
    verifies c.slog standby
}
has_refused() { [ "$(grep -ch 'authentication error' broker.err)" -ge "$1" ]; }

# At their start, and in the middle. No program is started again.
case_a_login_that_is_refused_is_tried_again() {
    local refused='no connection to 127.0.0.1:[0-9]*: Authorization Violation$'
    local back="^note: the stream.s broker is back"
    login=wrong broker -1
    all_start
    all_say "$refused" 1
    kill_broker
    login=$password broker "$port"
    all_follow
    all_say "$back" 1
    kill_broker
    login=wrong broker "$port"
    await "more than two refusals of each" has_refused 12
    all_say "$refused" 2
    kill_broker
    login=$password broker "$port"
    all_say "$back" 2
    [ "$(grep -c "$refused" server.err)" = 2 ] || fail "the server says the same reason again"
    all_end
}

# ask_all NAME: all that its inspector and its control socket say.
ask_all() {
    local verb
    for verb in status clients templates components systems options ledger log; do
        "$bin/shoal-ctl" --socket "$1.socket" --json $verb >"$1.$verb.txt" 2>&1 || fail "$verb of $1"
    done
}
case_a_password_of_the_broker_is_shown_nowhere() {
    local name
    login=$password broker -1
    all_start
    all_follow
    python3 - "$(value http server.out)" >http.txt <<'PYTHON' || fail "the inspector"
import sys, urllib.request
for path in ("/", "/metrics", "/api/v1/status", "/api/v1/options", "/api/v1/systems"):
    print(urllib.request.urlopen(sys.argv[1] + path, timeout=60).read().decode())
PYTHON
    kill_broker
    all_say 'the stream.s broker is away.* no connection to 127.0.0.1:[0-9]*$' 1
    for name in server standby relay; do ask_all $name; done
    grep -q '"name":"stream","value":"nats://127.0.0.1:' server.options.txt || fail "the options have no address"
    kill -ABRT "${pids[server]}"
    await "the crash" has_ended server
    wait "${pids[server]}" 2>/dev/null || unset "pids[server]"
    says a.crash "^command: .*--stream nats://127.0.0.1:$port "
    says a.crash "^go on: .*--stream=nats://127.0.0.1:$port( |$)"
    stop standby relay
    run first shoal-server --game breakout --stream "http://shoal:$password@127.0.0.1"
    run second shoal-server --game breakout --streem "nats://shoal:$password@127.0.0.1"
    run third shoal-server --standby "nats://shoal:$password@127.0.0.1" --key-file server.key
    run fourth shoal-relay "NATS://shoal:$password@127.0.0.1/SHOAL_1"
    run fifth shoal-server --game breakout --stream "nats://shoal:${password/-/,}@127.0.0.1"
    rm -r broker.conf store
    ! grep -rFl -e "$password" -e "${password#pass-}" . >leaks.out || fail "the password is in $(tr '\n' ' ' <leaks.out)"
}

needs=is_here
run_cases "$@"
