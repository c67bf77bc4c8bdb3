#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shoal-server as one of a fleet of Agones, with a stand-in for its SDK server (sdk.py), or the real one.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and tokens
# shellcheck source=broker.sh
. "$here/broker.sh"

# sdk [COMMAND...]: start the stand-in, and do these. Its name is $sdk: a second server of a case has its own.
sdk=sdk
declare -A tells=()
sdk() {
    local command tell
    rm -f $sdk.in && mkfifo $sdk.in
    python3 "$here/sdk.py" 0 <$sdk.in >$sdk.out 2>$sdk.err {silence}<&- &
    pids[$sdk]=$!
    exec {tell}>$sdk.in
    tells[$sdk]=$tell
    await "port of the SDK server" has_said $sdk.out '^port '
    AGONES_SDK_HTTP_PORT=$(sed -n 's/^port //p' $sdk.out)
    export AGONES_SDK_HTTP_PORT
    for command in "$@"; do tell "$command"; done
}
tell() { echo "$*" >&"${tells[$sdk]}"; }
end_sdk() {
    local tell=${tells[$sdk]}
    exec {tell}>&-
    ends_with 0 $sdk
    ! grep -q Traceback $sdk.err || fail "the stand-in failed"
}

# fleet [option...]: start a server; it prints no ready line before it is allocated.
fleet() { start server shoal-server --game breakout --listen 127.0.0.1:0 "$@"; }
allocated() {
    await "ready line" is_ready_or_gone server
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' server.out | tail -n 1)
    [ -n "$address" ] || fail "the server has no address"
}
hears() { await "$1" grep -qxF -- "$1" $sdk.out; }

case_an_allocation_becomes_a_match_with_its_settings_and_its_key() {
    run keygen shoal-server keygen keys
    run keygen shoal-server keygen keys --rotate
    sdk
    fleet --key-file keys --ticks 60 --min-clients 2 --log a.slog --listen public=203.0.113.5:7000
    await "a warning" has_said server.err '^warning: agones: POST /ready: no answer; it is tried again$'
    tell fail 3
    tell start
    hears 'POST /ready {} 200'
    hears 'PUT /metadata/annotation {"key":"shoal-public","value":"203.0.113.5:7000"} 200'
    hears 'PATCH /v1beta1/counters/players {"count":"0","capacity":"64"} 200'
    [ ! -e a.slog ] || fail "a server that waits writes a log"
    tell allocate shoal.dev/set-lives=7 other.dev/set-lives=8 @shoal.dev/set-ball_speed=1.25 @shoal.dev/key-id=1
    allocated
    says server.err '^note: agones: allocated: settings=2 key_id=1$'
    # The newest key, 2, was not chosen.
    run token shoal-server token --key-file keys --player 7
    start wrong shoal-client "$address" --bots 1 --token-file token.out
    await "its refusal" has_said wrong.err 'the server does not know this token'
    ends_with 6 wrong
    sed -n 2p keys >old && chmod 600 old
    run token shoal-server token --key-file old --player 7,count=2
    run client shoal-client "$address" --bots 2 --token-file token.out
    hears 'POST /shutdown {} 200'
    ! has_ended server || fail "it does not wait for the signal"
    stop server
    verifies a.slog server
    run info shoal-replay info a.slog
    says info.out '^set=lives=7$'
    says info.out '^set=ball_speed=1.25$'
    says sdk.out "^PUT /metadata/annotation \{\"key\":\"shoal-identity\",\"value\":\"$(value identity info.out)\"\} 200\$"
    [ "$(grep -c '^POST /health {} 200$' sdk.out)" -ge 1 ] || fail "no sign of life"
    end_sdk
}

case_a_server_is_used_again_for_the_next_match() {
    run keygen shoal-server keygen keys
    sdk start
    SHOAL_KEYS=$(cat keys) fleet --ticks 10 --agones-reuse --http 127.0.0.1:0 --log a.slog
    hears 'POST /ready {} 200'
    tell allocate shoal.dev/set-lives=7
    await "second ready" has_lines sdk.out '^POST /ready {} 200$' 2
    tell allocate shoal.dev/set-lives=8
    await "third ready" has_lines sdk.out '^POST /ready {} 200$' 3
    stop server
    [ "$(grep -c '^ready .* http=' server.out)" = 2 ] || fail "not two ready lines"
    [ "$(grep -c '^done ticks=10 ' server.out)" = 2 ] || fail "not two matches"
    says server.err '^note: agones: ends without a match$'
    ! grep -q 'no --key-file' server.err || fail "the keys are lost"
    ! grep -q shutdown sdk.out || fail "it asked for an end"
    local log lives=7
    for log in a.slog.1 a.slog; do
        verifies "$log"
        run info shoal-replay info "$log"
        says info.out "^set=lives=$lives\$"
        lives=8
    done
    end_sdk
}

case_an_sdk_server_that_hangs_and_restarts_does_not_touch_the_match() {
    sdk start 'allocate x=y'
    export SHOAL_STORE=store:logs
    fleet --min-clients 1 --log a.slog --tune drain-s=60 --log on-close=/bin/true
    hears 'POST /ready {} 200'
    tell allocate x=y
    allocated
    enters client trace.txt --headless --bots 1
    hears 'PATCH /v1beta1/counters/players {"count":"1","capacity":"64"} 200'
    tell hang
    await "a warning" has_said server.err '^warning: agones: POST /health: no answer; it is tried again$'
    await "the match to go on" has_rows trace.txt $(($(wc -l <trace.txt) + 30))
    tell stop
    tell go
    tell start
    await "all of it again" has_lines sdk.out '^PATCH /v1beta1/counters/players {"count":"1","capacity":"64"} 200$' 2
    await "its address again" has_lines sdk.out '^PUT .*"shoal-public","value":"192.0.2.7:7123"} 200$' 2
    await "its log's place" has_said sdk.out '^PUT .*"shoal-log","value":"store:logs/[0-9a-f]{16}"\} 200$'
    [ "$(grep -c '^POST /ready {} 200$' sdk.out)" = 1 ] || fail "an allocated server asks to be ready"
    kill -TERM "${pids[server]}"
    await "the drain" has_said server.err '^note: draining'
    kill -TERM "${pids[client]}"
    ended client
    ends_with 0 server
    verifies a.slog server
    end_sdk
}

case_the_last_part_of_a_log_is_stored_before_the_server_is_shut_down() {
    sdk start
    mkfifo stored
    printf '#!/bin/sh\necho "$1" >>begun\nread -r _ <stored\necho "$1" >>ended\n' >slow
    chmod +x slow
    fleet --ticks 10 --log a.slog,on-close=./slow
    hears 'POST /ready {} 200'
    tell allocate x=y
    await "the program" [ -e begun ]
    await "signs of life" has_lines sdk.out '^POST /health {} 200$' $(($(grep -c '^POST /health' sdk.out) + 2))
    ! grep -q shutdown sdk.out || fail "it asks to be shut down"
    echo go >stored
    hears 'POST /shutdown {} 200'
    [ "$(cat ended)" = a.slog ] || fail "the program has not ended"
    stop server
    # A signal ends the wait.
    rm begun
    unset AGONES_SDK_HTTP_PORT
    start impatient shoal-server --game breakout --listen 127.0.0.1:0 --ticks 1 --log b.slog,on-close=./slow
    await "the program" [ -e begun ]
    stop impatient
    says impatient.err '^./slow: warning: it still stores the log, and is not waited for'
    echo go >stored
    end_sdk
}

case_an_allocation_that_cannot_be_played_is_not_played() {
    sdk start
    fleet --log none
    hears 'POST /ready {} 200'
    tell allocate shoal.dev/set-livs=7
    hears 'POST /shutdown {} 200'
    says server.err '^error: breakout has no setting "livs", did you mean "lives"\?$'
    kill -TERM "${pids[server]}"
    ends_with 2 server
    [ ! -s server.out ] || fail "it says that it is ready"
    tell state Scheduled
    fleet --log none
    await "second server" has_lines sdk.out '^POST /ready {} 200$' 2
    tell allocate shoal.dev/set-livs= @shoal.dev/key-id=3
    await "its end" has_lines sdk.out '^POST /shutdown {} 200$' 2
    kill -TERM "${pids[server]}"
    ends_with 2 server
    end_sdk
}

case_a_match_without_players_ends_by_itself() {
    sdk start
    fleet --log none --exit-when-empty 1 --agones on
    hears 'POST /ready {} 200'
    tell allocate x=y
    hears 'POST /shutdown {} 200'
    says server.err '^note: no player for 1 s: the match ends$'
    stop server
    # Where there is no Agones, too.
    unset AGONES_SDK_HTTP_PORT
    serve server --log none --exit-when-empty 1
    ends_with 0 server
    end_sdk
}

case_a_script_allocates_a_server_for_two_players() {
    run keygen shoal-server keygen keys
    sdk start
    SHOAL_KEYS=$(cat keys) fleet --ticks 30 --min-clients 2 --log a.slog
    hears 'POST /ready {} 200'
    mkdir path
    cat >path/kubectl <<'KUBECTL'
#!/usr/bin/env bash
# What the allocation asks for goes to the stand-in.
cat >allocation.yaml
{ printf allocate; sed -nE 's/^ *(shoal\.dev\/[^:]+): "(.*)"$/ @\1=\2/p' allocation.yaml | tr -d '\n'; echo; } >sdk.in
for ((i = 0; i < 10000; i++)); do grep -q '^ready ' server.out && break || sleep 0.03; done
sed -nE 's/^ready listen=([0-9.]+):([0-9]+) .*/Allocated \1 \2 shoal-1/p' server.out
KUBECTL
    chmod +x path/kubectl
    local allocate=$here/../../scripts/package/agones/allocate
    PATH=$PWD/path:$bin:$PATH SHOAL_PLAYER=7 "$allocate" set-lives=5 set-ball_speed=0.5 >two.txt 2>two.err || fail "$(cat two.err)"
    sed 1d two.txt >tokens.txt
    run_to 0 client shoal-client "$(head -n 1 two.txt)" --bots 2 --token-file tokens.txt
    hears 'POST /shutdown {} 200'
    stop server
    verifies a.slog server
    run info shoal-replay info a.slog
    says info.out '^set=ball_speed=0.5$'
    says server.err 'settings=2 key_id=1$'
    # Without a server it says so.
    printf '#!/bin/sh\necho UnAllocated\n' >path/kubectl
    PATH=$PWD/path:$bin:$PATH "$allocate" >two.txt 2>two.err && fail "it has found a server"
    says two.err '^allocate: no server: UnAllocated$'
    PATH=$PWD/path:$bin:$PATH "$allocate" 'set-a="' 2>two.err && fail "it takes what is no setting"
    end_sdk
}

has_taken() { has_said "$1.out" '^takeover epoch='; }
are_back() { has_lines "$1.err" '^note: client [12] .* is back after ' 2; }

case_a_standby_is_allocated_for_a_match_that_runs_and_goes_on_with_it() {
    is_here || return 0
    run keygen shoal-server keygen keys
    broker -1
    export SHOAL_KEYS && SHOAL_KEYS=$(cat keys)
    sdk start
    fleet --min-clients 2 --log a.slog --stream "nats://127.0.0.1:$port"
    hears 'POST /ready {} 200'
    tell allocate shoal.dev/set-lives=7
    allocated
    local identity stream first=$address
    await "the stream" has_said sdk.out '^PUT .*"shoal-stream"'
    stream=$(sed -nE 's/^PUT .*"shoal-stream","value":"([^"]+)"\} 200$/\1/p' sdk.out)
    [ "$stream" = "$(value stream server.out)" ] || fail "its stream is said as $stream"
    identity=${stream##*/SHOAL_}

    sdk=sdk2
    sdk start
    start standby shoal-server --standby "nats://127.0.0.1:$port" --listen 127.0.0.1:0 --log b.slog --takeover-ms 3000
    await "ready" has_said sdk2.out '^POST /ready \{\} 200$'
    says standby.err '^note: agones: stands by for no match yet, waits for an allocation$'
    tell allocate "shoal.dev/standby-of=$identity"
    await "the standby" has_said standby.err '^note: stands by at tick'
    hears "PUT /metadata/annotation {\"key\":\"shoal-identity\",\"value\":\"$identity\"} 200"
    address=$(value listen standby.out)

    # The back end says where it is, and makes tokens for both.
    sdk=sdk
    tell allocate "@shoal.dev/standby-at=$address"
    await "that players know it" has_said server.err '^note: agones: clients know 1 standbys$'
    run token shoal-server token --key-file keys --server "$first" --server "$address" --player 1,count=2
    start clients shoal-client "$first" --bots 2 --token-file token.out --trace trace.txt
    await "updates" has_rows trace.txt 30
    slay server
    await "the takeover" has_taken standby
    await "both players" are_back standby
    await "that they play on" has_rows trace.txt $(($(wc -l <trace.txt) + 60))
    stop standby
    ends_with 0 clients
    are_equal 2 standby clients
    verifies b.slog standby
    run info shoal-replay info b.slog
    says info.out '^set=lives=7$'
    [ "$(grep -c '^POST /health {} 200$' sdk2.out)" -ge 1 ] || fail "no sign of life"
    local sdk
    for sdk in sdk2 sdk; do end_sdk; done # the second one has a copy of what feeds the first
}

case_a_standby_that_waits_for_its_match_shows_life_and_ends() {
    is_here || return 0
    run keygen shoal-server keygen keys
    broker -1
    sdk start
    start standby shoal-server --standby "nats://127.0.0.1:$port" --key-file keys --listen 127.0.0.1:0
    hears 'POST /ready {} 200'
    tell allocate shoal.dev/standby-of=00000000cafe0276
    await "a warning" has_said standby.err "waits for the match's stream: NATS: stream not found\$"
    await "signs of life" has_lines sdk.out '^POST /health {} 200$' $(($(grep -c '^POST /health' sdk.out) + 2))
    stop standby
    [ ! -s standby.out ] || fail "it says that it is ready"
    # What is no identity, and what is no standby.
    local ready=1 option
    for option in "--standby=nats://127.0.0.1:$port" --game=breakout; do
        tell state Scheduled
        start standby shoal-server "$option" --key-file keys --listen 127.0.0.1:0 --log a.slog
        await "ready again" has_lines sdk.out '^POST /ready {} 200$' $((++ready))
        tell allocate "shoal.dev/standby-of=$([ $ready = 2 ] && echo cafe || echo 00000000cafe0276)"
        await "its end" has_lines sdk.out '^POST /shutdown {} 200$' $((ready - 1))
        kill "${pids[standby]}"
        ends_with 2 standby
        says standby.err '^error: shoal.dev/standby-of: (cafe is not the identity of a match|this server stands by for none.*)$'
    done
    end_sdk
}

# ports N: so many free ones.
ports() {
    python3 -c 'import socket, sys
ears = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[ear.getsockname()[1] for ear in ears])' "$1"
}
case_the_real_sdk_server_takes_all_of_it() {
    if [ -z "${SHOAL_E2E_SDK_SERVER:-}" ]; then
        skip "SHOAL_E2E_SDK_SERVER names no sdk-server of Agones"
        return
    fi
    local grpc
    read -r AGONES_SDK_HTTP_PORT grpc < <(ports 2)
    export AGONES_SDK_HTTP_PORT
    cat >gameserver.json <<'JSON'
{"metadata": {"name": "shoal-1", "labels": {"shoal.dev/set-lives": "7"}},
 "status": {"state": "Scheduled", "address": "192.0.2.7", "ports": [{"name": "game", "port": 7123}],
            "counters": {"players": {"count": 0, "capacity": 1}}}}
JSON
    : >sdk.out
    fleet --ticks 200 --min-clients 2 --log a.slog
    await "a warning" has_said server.err '^warning: agones: POST /ready: no answer'
    "$SHOAL_E2E_SDK_SERVER" --local -f gameserver.json --http-port "$AGONES_SDK_HTTP_PORT" --grpc-port "$grpc" \
        2>sdk.out >sdk.err {silence}<&- &
    pids[sdk]=$!
    await "ready" has_said sdk.out 'Ready request has been received'
    python3 -c 'import sys, urllib.request
urllib.request.urlopen(urllib.request.Request(sys.argv[1], b"{}", {"Content-Type": "application/json"})).read()' \
        "http://localhost:$AGONES_SDK_HTTP_PORT/allocate"
    allocated
    run client shoal-client "$address" --bots 2
    await "shutdown" has_said sdk.out 'Shutdown request has been received'
    await "its answer" has_said server.err '^note: agones: shut down, waits for the signal$'
    stop server
    says sdk.out 'Health Ping Received'
    says sdk.out 'shoal-identity'
    ! grep -q 'warning: agones: .*HTTP' server.err || fail "a request was refused"
    verifies a.slog server
    run info shoal-replay info a.slog
    says info.out '^set=lives=7$'
    kill -TERM "${pids[sdk]}"
    ended sdk
}

case_options_of_a_fleet_that_do_not_fit_are_refused() {
    export AGONES_SDK_HTTP_PORT=70000
    run_to 2 server shoal-server --game breakout --log none
    says server.err '^error: AGONES_SDK_HTTP_PORT: "70000" is not a port$'
    serve server --log none --agones off --ticks 1
    ends_with 0 server
    unset AGONES_SDK_HTTP_PORT
    run_to 2 server shoal-server --game breakout --log none --agones-reuse
    run_to 2 server shoal-server --resume a.slog --agones on --agones-reuse
    says server.err '^error: --agones-reuse: a match continues once \(--resume\)$'
    run_to 2 server shoal-server --standby nats://127.0.0.1 --key-file keys --agones on --agones-reuse
    says server.err '^error: --agones-reuse: a server stands by once \(--standby\)$'
}

run_cases "$@"
