#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a machine can do to a server: clients that stand still, no descriptors, no memory, no time.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

now_ms() { date +%s%3N; }

# begin_with_a_frozen_client: a match of two clients, one of which does not answer.
begin_with_a_frozen_client() {
    serve server --min-clients 2 --log a.slog
    start client shoal-client "$address" --bots 1 --trace client.txt
    start frozen shoal-client "$address" --bots 1 --trace frozen.txt
    await "update" is_playing client.txt
    await "update" is_playing frozen.txt
    kill -STOP "${pids[frozen]}"
}

# end_with_a_frozen_client LIMIT_MS BEGAN_MS
end_with_a_frozen_client() {
    ends_with 0 server
    local took=$(($(now_ms) - $2))
    echo "the server ended within $took ms"
    [ $took -lt "$1" ] || fail "it took $took ms"
    ends_with 0 client
    says client.out ' end=goodbye$'
    is_closed a.slog
    kill -KILL "${pids[frozen]}"
    ends_with 137 frozen
}

# The server promises 2 s; the rest is for a busy machine. It took 6.5 s.
case_sigterm_ends_a_match_within_two_seconds() {
    begin_with_a_frozen_client
    local began
    began=$(now_ms)
    kill -TERM "${pids[server]}"
    end_with_a_frozen_client 4000 "$began"
}

case_a_second_signal_ends_at_once() {
    begin_with_a_frozen_client
    kill -TERM "${pids[server]}"
    sleep 0.3
    local began
    began=$(now_ms)
    kill -INT "${pids[server]}"
    end_with_a_frozen_client 1500 "$began"
}

# A start with few descriptors either works or ends with a line.
case_descriptors_run_out_at_the_start() {
    local limit
    for ((limit = 3; limit <= 14; limit++)); do
        : >few.out
        code=0
        (ulimit -n "$limit" && exec "$bin/shoal-server" --game "$games/breakout.so" --fast \
            --listen 127.0.0.1:0 --ticks 3 --log "$limit.slog") >few.out 2>few.err || code=$?
        case $code in
        0) is_closed "$limit.slog" ;;
        1 | 2 | 3) [ -s few.err ] || [ "$limit" -le 3 ] || fail "$limit descriptors: no line" ;;
        127) ;; # not even its libraries can be opened
        *) fail "$limit descriptors: exit code $code" ;;
        esac
    done
    [ "$code" = 0 ] || fail "$((limit - 1)) descriptors are not enough"
}

# Nothing in a running match needs a new descriptor.
case_descriptors_run_out_in_a_match() {
    # Looking for leaks at the end needs descriptors.
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" serve server --min-clients 1 --log a.slog
    start first shoal-client "$address" --bots 1 --trace first.txt
    await "update" is_playing first.txt
    prlimit --pid "${pids[server]}" --nofile=3:3
    start second shoal-client "$address" --bots 2 --trace second.txt
    await "update" is_playing second.txt
    kill -TERM "${pids[server]}"
    ends_with 0 server
    ended first
    ended second
    is_closed a.slog
    verifies a.slog server
}

# The address space of a running server ends where it is now: it plays on, or says why it ends.
case_memory_runs_out_in_a_match() {
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0 # sanitizers need address space of their own
    serve server --max-clients 64 --log a.slog
    start first shoal-client "$address" --bots 1 --trace first.txt
    await "update" is_playing first.txt
    local kb
    kb=$(awk '/^VmSize/ { print $2 }' "/proc/${pids[server]}/status")
    prlimit --pid "${pids[server]}" --as=$((kb * 1024)):$((kb * 1024))
    start many shoal-client "$address" --bots 60
    sleep 1.5
    kill -TERM "${pids[server]}" 2>/dev/null || true
    ended server
    [ "$code" -le 1 ] || fail "the server ended with $code"
    [ "$code" = 0 ] || says server.err 'out of memory'
    says server.out '^done ticks='
    ended first
    ended many
    run info shoal-replay info a.slog
    [ "$code" = 0 ] || fail "its log is damaged"
}

# The log's file may not grow any more, as on a full disk: the match is played to its end.
case_a_full_disk_ends_the_log_and_not_the_match() {
    serve server --min-clients 1 --ticks 240 --log a.slog
    start client shoal-client "$address" --bots 1 --trace trace.txt
    await "update" is_playing trace.txt
    prlimit --pid "${pids[server]}" --fsize="$(stat -c %s a.slog)"
    ends_with 1 server
    ends_with 0 client
    are_equal 1 server client
    says server.out '^done ticks=240 '
    [ "$(grep -c 'logging stopped, the match goes on' server.err)" = 1 ] || fail "not one line"
    says server.err 'the log ends early'
    run verify shoal-replay verify a.slog
    [ "$code" = 0 ] || fail "what the log has is not right"
}

# A stopped server keeps its clients when it goes on.
case_a_stopped_server_keeps_its_clients() {
    local seconds=5
    [ "${scale%%.*}" -lt 10 ] || seconds=20
    serve server --min-clients 2 --log none
    start client shoal-client "$address" --bots 2 --trace trace.txt
    await "update" is_playing trace.txt
    kill -STOP "${pids[server]}"
    sleep "$seconds"
    kill -CONT "${pids[server]}"
    sleep 2
    kill -TERM "${pids[server]}"
    ends_with 0 server
    [ "$(grep -c '^peer id=[12] .* end=goodbye$' server.out)" = 2 ] || fail "peer lines"
    ends_with 0 client
    are_equal 2 server client
}

case_a_second_server_takes_nothing_from_the_first() {
    serve first --log a.slog
    run second shoal-server --game breakout --listen "$address" --log b.slog
    [ "$code" = 3 ] || fail "the second one ended with $code"
    [ "$(wc -l <second.err)" = 1 ] || fail "not one line"
    [ ! -e b.slog ] || fail "it left a file"
    run second shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog
    [ "$code" = 1 ] || fail "the second one ended with $code"
    says second.err '^error: .*|a.slog: error: another server writes this log$'
    [ "$(wc -l <second.err)" = 1 ] || fail "not one line"
    kill -TERM "${pids[first]}"
    ends_with 0 first
    is_closed a.slog
}

run_cases "$@"
