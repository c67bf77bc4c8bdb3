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
    slay frozen
}

# The server promises 2 s by its own clock, which unit tests hold it to; the rest is for a busy machine. It took 6.5 s.
case_sigterm_ends_a_match_within_two_seconds() {
    begin_with_a_frozen_client
    local began
    began=$(now_ms)
    kill -TERM "${pids[server]}"
    end_with_a_frozen_client 6000 "$began"
}

case_a_second_signal_ends_at_once() {
    begin_with_a_frozen_client
    kill -TERM "${pids[server]}"
    kill -USR1 "${pids[server]}"
    await "an answer behind the first signal" has_said server.err '^note: status '
    local began
    began=$(now_ms)
    kill -INT "${pids[server]}"
    end_with_a_frozen_client 1500 "$began"
}

# too_few LIMIT KIND COUNT: a start under this limit of ulimit ends with 1, which a unit tries again, and a line names what to raise.
too_few() {
    code=0
    (ulimit "-$2" "$3" && exec "$bin/shoal-server" --game "$games/breakout.so" --fast --listen 127.0.0.1:0 --control few.sock \
        --ticks 3 --log none) >few.out 2>few.err || code=$?
    [ "$code" != 0 ] || return 0
    # 127: not even its libraries can be opened; 134: an assertion of the game, which asks for what has no memory.
    case $code in 127 | 134) return 0 ;; esac
    [ "$code" = 1 ] || fail "$3: exit code $code"
    says few.err "$1"
}

case_descriptors_run_out_at_the_start() {
    for limit in 4 14 63; do
        too_few "the limit of open files is $limit, at least 64 are needed: raise it \\(ulimit -n, LimitNOFILE" n "$limit"
        [ "$code" != 0 ] || fail "$limit are not refused"
    done
    too_few '' n 64
    [ "$code" = 0 ] || fail "64 descriptors are not enough"
}

case_memory_runs_out_at_the_start() {
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0 # sanitizers need address space of their own
    local kb refusals=0
    for ((kb = 20000; kb <= 80000; kb += 1500)); do
        too_few 'out of memory: raise the limit of this process \(ulimit -v, MemoryMax\)|no thread for the log' v "$kb"
        [ "$code" != 1 ] || refusals=$((refusals + 1))
    done
    [ "$refusals" -gt 0 ] || fail "no start was refused"
}

# Nothing in a running match needs a new descriptor.
case_descriptors_run_out_in_a_match() {
    # Looking for leaks at the end needs descriptors.
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" serve server --min-clients 1 --log a.slog
    enters first first.txt --bots 1
    prlimit --pid "${pids[server]}" --nofile=3:3
    enters second second.txt --bots 2
    stop server
    ended first
    ended second
    is_closed a.slog
    verifies a.slog server
}

plays_or_ended() { is_playing "$1" || has_ended many || has_ended server; }

# The address space of a running server ends where it is now: it plays on, or says why it ends.
case_memory_runs_out_in_a_match() {
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0 # sanitizers need address space of their own
    serve server --max-clients 64 --log a.slog
    enters first first.txt --bots 1
    local kb
    kb=$(awk '/^VmSize/ { print $2 }' "/proc/${pids[server]}/status")
    prlimit --pid "${pids[server]}" --as=$((kb * 1024)):$((kb * 1024))
    start many shoal-client "$address" --bots 60 --trace many.txt
    await "players or the end" plays_or_ended many.txt
    kill -TERM "${pids[server]}" 2>/dev/null || true
    ended server
    [ "$code" -le 1 ] || fail "the server ended with $code"
    if [ "$code" = 0 ]; then says server.out '^done ticks='; else says server.err '^fatal: out of memory: .* bytes asked'; fi
    ended first
    ended many
    run_to 0 verify shoal-replay verify --through-crash a.slog
}

# ends_without_memory NAME PROGRAM...: at about each sixth call for memory, this program says what to do and ends with 1;
# after the last call it ends as always. After each end the log, where there is one, verifies.
ends_without_memory() {
    local name=$1 call ends=0
    shift
    ln -sf "$build/test/no_memory.so" . # LD_PRELOAD ends a path at a space
    for ((call = 1; ; call += 1 + call / 6)); do
        code=0
        LD_PRELOAD=./no_memory.so NO_MEMORY_CALL=$call "$@" >"$name.out" 2>"$name.err" || code=$?
        [ "$code" != 0 ] || break
        [ "$code" = 1 ] || fail "call $call: exit code $code"
        says "$name.err" 'out of memory: raise the limit of this process \(ulimit -v, MemoryMax\), or free some'
        ends=$((ends + 1))
        [ ! -s none.slog ] || run_to 0 verify shoal-replay verify --through-crash none.slog
        rm -f none.slog
    done
    echo "$name: $ends ends, the last before call $call"
    [ "$ends" -gt 9 ] || fail "only $ends ends"
}

case_a_program_without_memory_says_what_to_do() {
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0 # sanitizers have a heap of their own
    serve server --log a.slog
    ends_without_memory client "$bin/shoal-client" "$address" --bots 1 --ticks 3
    stop server
    ends_without_memory other "$bin/shoal-server" --game "$games/breakout.so" --fast --listen 127.0.0.1:0 --ticks 30 --log none.slog
    ends_without_memory replay "$bin/shoal-replay" verify a.slog --through-crash
}

# The log's file may not grow any more, as on a full disk: the match is played to its end.
case_a_full_disk_ends_the_log_and_not_the_match() {
    serve server --min-clients 1 --ticks 240 --log a.slog
    enters client trace.txt --bots 1
    prlimit --pid "${pids[server]}" --fsize="$(stat -c %s a.slog)"
    ends_with 1 server
    ends_with 0 client
    are_equal 1 server client
    says server.out '^done ticks=240 '
    [ "$(grep -c 'the disk takes nothing: the limit of file size is reached' server.err)" = 1 ] || fail "not one line"
    says server.err 'the log ends early'
    run_to 0 verify shoal-replay verify a.slog
}

# loses_what_is_counted SERVER LOG: the log has each tick of the match but those that the done line counts, and says
# which are missing.
loses_what_is_counted() {
    local ticks lost there
    grep '^done ' "$1.out" >done.txt
    ticks=$(value ticks done.txt) lost=$(value log_ticks_lost done.txt)
    run verify shoal-replay verify --once "$2"
    there=$(value ticks verify.out)
    echo "$ticks ticks, $lost counted as lost, $there in the log, waited $(value log_waiting_s done.txt) s"
    [ "$((ticks - there))" = "$lost" ] || fail "$((ticks - there)) ticks are lost, $lost are counted"
    run info shoal-replay info "$2"
    there=$((ticks - $(value last_tick info.out) + $(value lost_ticks info.out)))
    [ "$there" = "$lost" ] || fail "the log misses $there of them"
}

has_grown() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }

# Among what waits is a keyframe, that of tick 1200.
case_a_full_disk_costs_no_tick_that_can_wait() {
    has_small_disk "${FUNCNAME[0]}" 12 || return 0
    start server shoal-server --game arena --listen 127.0.0.1:0 --tick-rate 120 --ticks 1800 --lines status-s=1 \
        --set agents=30 --log disk/a.slog
    await "the first blocks" has_grown disk/a.slog 9000
    fill_disk
    await "a full disk" grep -q 'the disk takes nothing: No space left on device' server.err
    await "a keyframe" grep -qE 'status tick=1[2-9][0-9][0-9] ' server.err
    free_disk
    ends_with 0 server
    [ "$(grep -c 'the disk takes nothing: ' server.err)" = 1 ] || fail "not one line of a full disk"
    [ "$(grep -c 'the disk takes the log again' server.err)" = 1 ] || fail "not one line of its end"
    says server.err 'status .* log_waiting_s=[1-9]'
    says server.out ' log_ticks_lost=0 log_waiting_s=[1-9]'
    loses_what_is_counted server disk/a.slog
    is_closed disk/a.slog
}

case_a_log_begins_when_a_full_disk_has_room() {
    has_small_disk "${FUNCNAME[0]}" 12 || return 0
    fill_disk
    start server shoal-server --game breakout --listen 127.0.0.1:0 --tick-rate 240 --ticks 1200 --log disk/a.slog
    await "ticks that are left out" grep -q 'ticks from 1 on are left out' server.err
    sleep 0.5
    free_disk
    ends_with 0 server
    says server.err 'the log continues after tick [1-9]'
    says server.out ' log_ticks_lost=[1-9]'
    loses_what_is_counted server disk/a.slog
    says info.out '^closed=yes$'
}

# A match whose disk is full at random moments; arena fills what can wait within seconds.
begin_on_a_full_disk() { # TICKS
    start server shoal-server --game arena --listen 127.0.0.1:0 --ticks "$1" --lines status-s=1 \
        --tick-rate "$((60 + RANDOM % 180))" --set agents="$((500 + RANDOM % 3000))" --log disk/a.slog \
        --log-segment-s "$((RANDOM % 3 * 5))"
    await "the first blocks" has_grown disk/a.slog 20000
}
go_on_with_a_full_disk() {
    fill_disk
    sleep "$((RANDOM % 6)).$((RANDOM % 10))"
    free_disk
    sleep "$((RANDOM % 5)).$((RANDOM % 10))"
}

# SHOAL_E2E_DISKS matches
case_what_a_full_disk_costs_is_counted() {
    has_small_disk "${FUNCNAME[0]}" 14 || return 0
    take_seed
    local i
    for ((i = 0; i < ${SHOAL_E2E_DISKS:-1}; i++)); do
        begin_on_a_full_disk "$((1500 + RANDOM % 1500))"
        until has_ended server; do go_on_with_a_full_disk; done
        ended server
        [ "$code" -le 1 ] || fail "the server ended with $code"
        loses_what_is_counted server disk/a.slog
        rm -f disk/*
    done
}

# missing_up_to TICK: so many of them are not in the log of info.out and info.err.
missing_up_to() {
    sed -nE 's/.*ticks ([0-9]+)\.\.([0-9]+) are missing$/\1 \2/p' info.err |
        awk -v to="$1" -v last="$(value last_tick info.out)" '
            $1 <= to { lost += ($2 < to ? $2 : to) - $1 + 1 }
            END { print lost + (last < to ? to - last : 0) }'
}

# SHOAL_E2E_KILLS servers are killed. Of the ticks up to its last line of status the log has all that were not counted.
case_a_kill_on_a_full_disk_loses_what_was_counted() {
    has_small_disk "${FUNCNAME[0]}" 14 || return 0
    take_seed
    local i status tick lost missing
    for ((i = 0; i < ${SHOAL_E2E_KILLS:-1}; i++)); do
        begin_on_a_full_disk 100000
        while [ "$((RANDOM % 3))" != 0 ]; do go_on_with_a_full_disk; done
        [ "$((RANDOM % 3))" = 0 ] || fill_disk
        await "a status line" grep -q ' status tick=' server.err
        sleep "$((RANDOM % 6)).$((RANDOM % 10))"
        slay server
        status=$(grep ' status tick=' server.err | tail -n 1)
        tick=$(value tick <<<"$status") lost=$(value log_ticks_lost <<<"$status")
        run info shoal-replay info disk/a.slog
        missing=$(missing_up_to "$tick")
        echo "killed behind tick $tick: $lost counted as lost, $missing missing, $(value last_tick info.out) is the last"
        [ "$missing" -le "$lost" ] || fail "more is missing than was counted"
        run verify shoal-replay verify --once disk/a.slog
        says verify.out "^verified ticks=$(($(value last_tick info.out) - $(value lost_ticks info.out))) "
        rm -f disk/*
    done
}

# A stopped server keeps its clients when it goes on.
case_a_stopped_server_keeps_its_clients() {
    local seconds=5
    [ "${scale%%.*}" -lt 10 ] || seconds=20
    serve server --min-clients 2 --log none
    enters client trace.txt --bots 2
    kill -STOP "${pids[server]}"
    sleep "$seconds"
    local rows
    rows=$(wc -l <trace.txt)
    kill -CONT "${pids[server]}"
    await "updates again" has_rows trace.txt $((rows + 60))
    stop server
    [ "$(grep -c '^peer id=[12] .* end=goodbye$' server.out)" = 2 ] || fail "peer lines"
    ends_with 0 client
    are_equal 2 server client
}

case_a_second_server_takes_nothing_from_the_first() {
    serve first --log a.slog
    run_to 3 second shoal-server --game breakout --listen "$address" --log b.slog
    [ "$(wc -l <second.err)" = 1 ] || fail "not one line"
    [ ! -e b.slog ] || fail "it left a file"
    run_to 1 second shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog
    says second.err '^error: .*|a.slog: error: another server writes this log$'
    [ "$(wc -l <second.err)" = 1 ] || fail "not one line"
    stop first
    is_closed a.slog
}

run_cases "$@"
