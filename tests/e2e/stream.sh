#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The stream of a match over Debian's nats-server, in a folder and on a port of its own.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=broker.sh
. "$(dirname "$0")/broker.sh"

case_a_stream_has_the_records_of_the_log_whatever_the_broker_did() {
    broker -1
    streams server --log a.slog --min-clients 1
    start client shoal-client "$address" --bots 2
    rest 0.3
    kill -STOP "${pids[broker]}"
    rest 0.2
    kill -CONT "${pids[broker]}"
    rest 0.2
    kill_broker
    await "the broker's end" has_said server.err '^warning: the stream.s broker is away, the match continues: no connection to 127.0.0.1:'
    broker "$port"
    await "the broker" has_said server.err '^note: the stream.s broker is back; [1-9][0-9]* records come late$'
    stop server
    ended client
    is_same a.slog 1
    says "$(echo store/jetstream/*/streams/SHOAL_*/meta.inf)" '"max_age":259200000000000,'
    verifies a.slog server
}

case_a_broker_that_is_full_gets_the_rest_when_it_has_room() {
    broker -1 'max_file: 12KB'
    streams server --log a.slog
    await "a full broker" has_said server.err '^warning: the stream.s broker is full and needs room, the match continues: NATS: .+$'
    kill_broker
    broker "$port"
    await "the broker" has_said server.err '^note: the stream.s broker is back; [1-9][0-9]* records come late$'
    stop server
    is_same a.slog 1
}

# It gives numbers to what it refused; nothing of the match is missing for that.
case_a_stream_goes_on_when_its_account_has_room() {
    broker -1 '' 'accounts { A { jetstream: { max_mem: 1MB, max_file: 60000 }, users: [ {user: a, password: a} ] } }
no_auth_user: a'
    ask_broker "\$JS.API.STREAM.CREATE.BALLAST" '{"name":"BALLAST","subjects":["ballast"],"storage":"file","num_replicas":1}'
    ask_broker ballast "$(printf '%040000d' 0)"
    streams server --log a.slog
    await "a full account" has_said server.err '^warning: the stream.s broker is full and needs room, the match continues: NATS: resource limits exceeded for account$'
    rest 0.5
    ask_broker "\$JS.API.STREAM.PURGE.BALLAST" ''
    await "the broker" has_said server.err '^note: the stream.s broker is back; [1-9][0-9]* records come late$'
    stop server
    is_same a.slog 1
}

# A broker of a busy machine takes more than 150 ms to answer: the match would stand still before its time.
case_clients_know_only_what_the_stream_has() {
    broker -1
    streams server --log a.slog --min-clients 2 --stream-sync 1000
    start client shoal-client "$address" --bots 2 --trace trace.txt
    await "ticks" knows_more trace.txt 60
    kill -STOP "${pids[broker]}"
    await "a match that stands still" has_said server.err '^warning: the match is halted after tick [0-9]+: it is not stored \(--stream sync\)$'
    await "players that read why" has_said client.err 'the match is halted: it waits until what happened is stored safely$'
    kill_broker # what it has on its disk is what it acknowledged, and no client knows more
    seen=$(trace_tick trace.txt)
    broker "$port"
    await "the end of it" has_said server.err '^note: the match continues, it was halted for [0-9.]+ s$'
    still=$(sed -nE 's/.*is halted after tick ([0-9]+):.*/\1/p' server.err | head -n 1)
    [ "$seen" -lt "$still" ] || fail "a client knows tick $seen, the newest one when the match stood still was $still"
    await "ticks behind it" knows_more trace.txt "$still"
    stop server
    ended client
    is_same a.slog 1
    verifies a.slog server
}

begins_again() { await "epoch $1" has_said server.err "^note: the stream began again as epoch $1: all of the match is sent once more\$"; }

# Its store is deleted, is an older one. Then an operator wants it.
case_a_stream_that_its_broker_lost_begins_again() {
    broker -1
    streams server --log a.slog --control socket
    rest 1
    kill_broker
    mv store older
    broker "$port"
    await "the end of the stream" has_said server.err '^warning: the stream ended, the match continues, and begins again when it can: the broker lost messages '
    begins_again 2
    kill_broker
    rm -r store
    mv older store
    broker "$port"
    begins_again 3
    run_to 0 ctl shoal-ctl --socket socket restream
    begins_again 4
    rest 0.3
    stop server
    is_same a.slog 4
    verifies a.slog server
}

# The limit of a broker is reached: it is halted for 5 s, then it continues, and is safe again when there is room. Then the
# store is lost.
case_a_match_is_not_halted_for_ever() {
    broker -1 'max_file: 40KB'
    streams server --log a.slog --min-clients 1 --stream-sync 200
    start client shoal-client "$address" --bots 1
    await "a match that stands still" has_said server.err '^warning: the match is halted after tick '
    await "a match that goes on" has_said server.err '^warning: the match continues, and a takeover loses its ticks from [0-9]+ on: the stream takes none$'
    kill_broker
    broker "$port"
    await "safety" has_said server.err '^note: the match is safe again; a takeover would have lost ticks from [0-9]+ to [0-9]+$'
    says server.err '^note: the match continues, it was halted for (5|[6-9])\.[0-9] s$'
    kill_broker
    rm -r store
    broker "$port"
    await "safety again" has_lines server.err '^note: the match is safe again; ' 2
    stop server
    ended client
    is_same a.slog 2
    ! grep -qE 'was halted for ([0-9]{2}|[89])' server.err || fail "it was halted for longer"
}

case_a_match_may_go_on_without_its_stream() {
    broker -1
    streams server --log a.slog --min-clients 1 --stream-sync 50,go
    start client shoal-client "$address" --bots 1
    await "a player" has_said server.err 'joined from'
    kill_broker
    await "a match that goes on" has_said server.err '^warning: the match continues, and a takeover loses its ticks from [0-9]+ on: the stream takes none$'
    broker "$port"
    await "safety" has_said server.err '^note: the match is safe again; a takeover would have lost ticks from [0-9]+ to [0-9]+$'
    stop server
    ended client
    ! grep -q 'is halted' server.err || fail "it stood still"
    is_same a.slog 1
}

case_a_server_that_lost_the_stream_stops_and_says_why() {
    broker -1
    streams first --log a.slog
    local try
    for try in 1 2 3 4 5; do
        rest 0.3
        kill -STOP "${pids[first]}"
        mkdir "copy$try"
        cp a.slog a.slog.queue "copy$try"
        streams second --resume "copy$try/a.slog" --log b.slog
        # It stopped within a tick, and the stream has the begin of it.
        grep -q 'it has more than the log' second.err || break
        ended second
        kill -CONT "${pids[first]}"
    done
    has_said second.out '^ready ' || fail "no second server: $(cat second.err)"
    kill -CONT "${pids[first]}"
    ends_with 9 first
    says first.err '^error: fenced by epoch 2: another server continues this match'
    grep -q '^done ' first.out && fail "the first server had an end as usual"
    stop second
    is_same b.slog 2
}

case_a_stream_goes_on_only_with_the_log_that_it_has() {
    broker -1
    streams first --log a.slog --ticks 30 --fast
    ends_with 0 first
    run_to 1 again shoal-server --resume a.slog --log b.slog --listen 127.0.0.1:0 --stream "nats://127.0.0.1:$port"
    says again.err '^error: the stream of this match has its end: continue without --stream$'
}

case_without_a_broker_the_match_goes_on() {
    broker -1
    kill_broker
    streams server --log a.slog --ticks 60
    ends_with 0 server
    says server.err '^warning: the stream.s broker is away, the match continues: no connection to 127.0.0.1:'
    says server.err '^warning: the stream lacks the last [0-9]+ records: its broker is away$'
    is_closed a.slog
}

# Its messages go by themselves; the stream by the command of FLEET.md.
case_the_stream_of_a_match_that_is_over_ends() {
    broker -1
    start_ready server shoal-server --game breakout --listen 127.0.0.1:0 --stream "nats://127.0.0.1:$port/?keep-min=1" --log a.slog --ticks 60 --fast
    stream=$(value stream server.out)
    ends_with 0 server
    says "$(echo store/jetstream/*/streams/SHOAL_*/meta.inf)" '"max_age":60000000000,'
    is_same a.slog 1
    eval "$(sed -n '/^    exec 3<>/,/^    grep -m 1 PONG/s/^    //p' "$here/../../server/FLEET.md" |
        sed "s|BROKER/4222|127.0.0.1/$port|; s|SHOAL_IDENTITY|${stream##*/}|")" >delete.out
    [ -z "$(find store -name 'SHOAL_*')" ] || fail "the stream is there: $(cat delete.out)"
}

case_a_stream_needs_a_log_and_an_address() {
    run_to 2 none shoal-server --game breakout --listen 127.0.0.1:0 --log none --stream nats://127.0.0.1:1
    says none.err '^error: --stream: it needs a log, which is its source \(not --log none\)$'
    run_to 2 address shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --stream http://127.0.0.1
    says address.err "^error: the stream's address is nats://HOST"
}

case_a_broker_with_short_messages_is_refused_at_the_start() {
    payload=65536 broker -1
    run_to 1 server shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --stream "nats://127.0.0.1:$port"
    says server.err '^error: --stream: the broker takes messages of 65536 bytes, and a record may need 528384: raise its max_payload$'
}

needs=is_here
run_cases "$@"
