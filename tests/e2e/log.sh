#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Logs after a crash, after damage, and with another module.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

kills=${SHOAL_E2E_KILLS:-3}
kills_at_once=5

begin_kill() { # INDEX
    serve "server$1" --min-clients 4 --log "$1.slog"
    start "client$1" shoal-client "$address" --bots 4 --trace "$1.txt" --seed "$((RANDOM + 1))"
}

# The log must have the client's newest tick, and must be accepted.
check_kill() { # INDEX
    local newest last
    is_lost_or_deaf "$1"
    verifies "$1.slog"
    last=$(value ticks verify.out)
    newest=$(value tick "$1.txt" | sort -n | tail -n 1)
    echo "kill $1: clients applied tick $newest, the log has $last, $(value tail verify.out) tail"
    [ "$last" -ge $((newest - 15)) ] || fail "the log ends too early"
    run "trace$1" shoal-replay check-trace "$1.slog" "$1.txt"
    [ "$code" = 0 ] || fail "check-trace ended with $code"
    run info shoal-replay info "$1.slog"
    says info.out '^closed=no$'
}

# Every client must report that the connection is lost.
is_lost_or_deaf() { # INDEX
    ends_with 1 "client$1"
    [ "$(grep -c '^client .* end=lost$' "client$1.out")" = 4 ] || fail "client lines of kill $1"
}

case_a_killed_server_leaves_a_whole_log() {
    take_seed
    local first i
    for ((first = 0; first < kills; first += kills_at_once)); do
        local until=$((first + kills_at_once < kills ? first + kills_at_once : kills))
        for ((i = first; i < until; i++)); do begin_kill $i; done
        for ((i = first; i < until; i++)); do await "update of $i" is_playing $i.txt; done
        for ((i = first; i < until; i++)); do
            sleep "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
            kill -KILL "${pids[server$i]}"
            ends_with 137 "server$i"
        done
        for ((i = first; i < until; i++)); do check_kill $i; done
    done
}

# In the module of the other folder, the ball's speed is the next float. The re-run must find the
# difference.
case_another_ball_speed_diverges() {
    serve server --min-clients 2 --ticks 240 --log a.slog
    run client shoal-client "$address" --bots 2
    ends_with 0 server
    verifies a.slog server
    copy_games other
    change other/breakout.blk 's/^ball {\(.*\)vel:p2=330,-550 /ball {\1vel:p2=330,-551 /'
    SHOAL_MODULE_PATH=$PWD/other run verify shoal-replay verify a.slog
    [ "$code" = 5 ] || fail "verify with another ball ended with $code"
    says verify.out '^diverged tick=[1-9][0-9]* component=[a-zA-Z_.]+ entity=[1-9][0-9]*:[0-9]+ field=[a-z]+ log=[-0-9.]+ run=[-0-9.]+$'
    says verify.err 'content'
}

# What is not replicated is no part of the hash that server and client compare. A run of the log is
# another one then, and the result names the schema, not a value.
case_a_component_more_is_named_as_another_schema() {
    serve server --min-clients 2 --ticks 120 --log a.slog
    run client shoal-client "$address" --bots 2
    ends_with 0 server
    local flags
    for flags in '_track:b=yes; ' ''; do
        rm -rf other
        copy_games other
        change other/breakout.blk "/^breakout_pad {/,/^}/ s/^ *\"input:.*/&\n    \"serves:i\"{ ${flags}value:i=3 }/"
        SHOAL_MODULE_PATH=$PWD/other run verify shoal-replay verify a.slog
        [ "$code" = 5 ] || fail "verify with one component more ended with $code"
        says verify.out '^diverged tick=1 component=- entity=0:0 schema=differs$'
        says verify.out '^note: the schema differs: template breakout_pad has component serves only here$'
    done
}

# Segments of 10 s, two of them are kept. A shell would make a file out of the log's name.
case_a_log_is_cut_into_segments() {
    local log='a;touch b.slog'
    printf '#!/bin/sh\necho "$1" >>closed.txt\n' >on_close
    chmod +x on_close
    run server shoal-server --game breakout --listen 127.0.0.1:0 --ticks 3100 --fast --log "$log" \
        --log-segment-s 10 --log-keep 2 --log-on-close ./on_close --log-sync second
    [ "$code" = 0 ] || fail "the server ended with $code"
    says server.out ' log_segments=6 log_ticks_lost=0 log_waiting_s=0.0 log='
    await "the command for FILE" grep -qxF "$log" closed.txt
    [ "$(wc -l <closed.txt)" = 6 ] || fail "the command ran for others than each closed segment"
    grep -qxF "$log.seg0001" closed.txt || fail "not for the first segment"
    [ ! -e b.slog ] || fail "a shell read the name of the log"
    [ ! -e "$log.seg0003" ] && [ -e "$log.seg0004" ] || fail "not the newest segments are kept"
    run verify shoal-replay verify "$log"
    [ "$code" = 0 ] || fail "verify ended with $code"
    says verify.out '^verified ticks=1300 .* tail=whole '
    [ "$(value state_hash verify.out)" = "$(value state_hash server.out)" ] || fail "the hashes differ"
    run part shoal-replay verify "$log.seg0004"
    [ "$code" = 0 ] || fail "verify of a segment ended with $code"
    says part.out '^verified ticks=600 .* tail=whole '
    run info shoal-replay info "$log"
    says info.out '^first_tick=1801$'
    run gone shoal-replay show "$log" --tick 100
    [ "$code" = 1 ] || fail "a tick of a deleted segment ended with $code"
    says gone.err 'tick 100 is not in it'
    run bad shoal-server --game breakout --ticks 1 --log x.slog --log-sync block
    [ "$code" = 2 ] || fail "--log-sync block ended with $code"
    says bad.err 'log-sync needs second\|end, not .block.'
}

# Both limits are in bytes: cubes has much to write, and a segment may end each 10 s, which are ten ticks here.
case_a_log_keeps_to_its_budget_of_bytes() {
    run server shoal-server --game cubes --listen 127.0.0.1:0 --tick-rate 1 --ticks 100 --fast --log a.slog \
        --log-segment-mb 1 --log-budget-mb 2
    [ "$code" = 0 ] || fail "the server ended with $code"
    [ "$(value log_bytes server.out)" -gt 4000000 ] || fail "too little is written to cut anything"
    [ "$(cat a.slog a.slog.seg* | wc -c)" -le $((2 << 20)) ] || fail "the log is larger than its budget"
    [ ! -e a.slog.seg0001 ] || fail "the oldest segment is kept"
    verifies a.slog
    says verify.out "^verified ticks=[1-9]0 state_hash=$(value state_hash server.out) .* tail=whole "
}

# Without values a log is smaller, and runs again all the same.
case_a_log_of_inputs_has_no_values() {
    local content
    for content in state inputs; do
        run $content shoal-server --game cubes --listen 127.0.0.1:0 --ticks 120 --fast --log $content.slog \
            --log-content $content
        [ "$code" = 0 ] || fail "the server with $content ended with $code"
        verifies $content.slog $content
        run stats-$content shoal-replay stats $content.slog
    done
    [ "$(value state_hash state.out)" = "$(value state_hash inputs.out)" ] || fail "the matches differ"
    says stats-state.out '^state records=120 bytes=[1-9]'
    says stats-inputs.out '^state records=0 bytes=0$'
    [ "$(wc -c <inputs.slog)" -lt "$(wc -c <state.slog)" ] || fail "the log of inputs is not smaller"
    run bad shoal-server --game breakout --listen 127.0.0.1:0 --ticks 1 --log x.slog --log-content values
    [ "$code" = 2 ] || fail "--log-content values ended with $code"
    says bad.err 'log-content needs state\|inputs, not .values.'
}

has_saved() { compgen -G "$1" >/dev/null; }

# All seconds fit into the default of 64 MB. Into 1 MB only the newest of them do.
case_a_ring_keeps_to_its_memory() {
    local mb
    for mb in 64 1; do
        run server$mb shoal-server --game arena --fast --tick-rate 4 --ticks 260 --listen 127.0.0.1:0 \
            --set round_s=60 --set agents=2000 --log none --log-ring 60 --log-ring-mb $mb
        [ "$code" = 0 ] || fail "the server with $mb MB ended with $code"
        says server$mb.err 'saved-241-round.slog: note: saved ticks='
    done
    says server64.err 'saved ticks=1\.\.24[0-9] bytes='
    [ "$(value bytes server64.err)" -gt $((1 << 20)) ] || fail "too little is written to fill 1 MB"
    [ "$(value bytes server1.err)" -le $(((1 << 20) + 65536)) ] || fail "1 MB holds more than that"
    says server1.err 'saved ticks=[1-9][0-9]+\.\.24[0-9] bytes='
}

# The game saves the end of its round, an operator what he likes: both files are whole logs.
case_the_last_seconds_are_saved_as_a_log() {
    start server shoal-server --game arena --fast --tick-rate 30 --ticks 1000 --listen 127.0.0.1:0 \
        --set round_s=30 --set agents=60 --log none --log-ring 5
    ends_with 0 server
    says server.err 'saved-901-round.slog: note: saved ticks=601..930 bytes='
    says server.out ' log_bytes=0 log_saves=1 log_segments=0 log_ticks_lost=0 log_waiting_s=0.0 log=none$'
    verifies arena-*.saved-901-round.slog
    says verify.out '^verified ticks=330 .* tail=whole '

    mkfifo console
    : >second.out
    "$bin/shoal-server" --game breakout --listen 127.0.0.1:0 --tick-rate 240 --log b.slog --log-ring 1 \
        --console <console >second.out 2>second.err &
    pids[second]=$!
    exec 9>console
    await "ready line" is_ready_or_gone second
    says second.out '^ready '
    echo 'save by hand' >&9
    await "saved seconds" has_saved 'b.saved-*-by_hand.slog'
    verifies b.saved-*-by_hand.slog
    says verify.out ' tail=whole '
    echo 'load it' >&9
    echo 'status' >&9
    await "status line" grep -q 'status tick=.* log_saves=1 log_saves_failed=0' second.err
    says second.err "console: save NAME, status or end, not 'load'"
    echo 'end' >&9
    ends_with 0 second
    exec 9>&-
    says second.out ' log_saves=1 log_segments=1 '
    verifies b.slog second
}

byte_at() { od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }

# is_checked POSITION SIZE: the changed log was refused, or gave the same as the whole one, or lost a
# tail and reported it.
is_checked() {
    case $code in
    0) ;;
    1 | 2 | 4 | 5)
        [ -s verify.err ] || [ -s verify.out ] || fail "byte $1: nothing is said"
        return 0
        ;;
    *) fail "byte $1: exit code $code" ;;
    esac
    cmp -s verify.out whole.txt && return 0
    says verify.out ' tail=cut lost_bytes=[1-9]'
    [ "$1" -ge $(($2 - $(value lost_bytes verify.out))) ] || fail "byte $1 of $2 is lost, not the tail"
}

case_a_changed_byte_is_never_believed() {
    take_seed
    serve server --min-clients 1 --ticks 60 --log a.slog
    run client shoal-client "$address" --bots 1
    ends_with 0 server
    verifies a.slog server
    cp verify.out whole.txt
    local size count at i
    size=$(wc -c <a.slog)
    count=${SHOAL_E2E_BYTES:-$(scaled 200 40)}
    [ "$count" -le "$size" ] || count=$size
    for ((i = 0; i < count; i++)); do
        # One position in each of `count` equal parts; every byte when `count` is the size.
        at=$((size * i / count))
        [ "$count" = "$size" ] || at=$((at + RANDOM % (size / count)))
        cp a.slog changed.slog
        # shellcheck disable=SC2059
        printf "$(printf '\\x%02x' $(($(byte_at a.slog $at) ^ (1 << RANDOM % 8))))" |
            dd of=changed.slog bs=1 seek=$at conv=notrunc status=none
        run verify shoal-replay verify changed.slog
        is_checked $at "$size"
    done
    echo "$count of $size bytes changed"
}

case_a_cut_log_is_accepted_to_its_cut() {
    serve server --min-clients 1 --ticks 120 --log a.slog
    run client shoal-client "$address" --bots 1
    ends_with 0 server
    local size=$(($(wc -c <a.slog) * 2 / 3))
    head -c $size a.slog >cut.slog
    verifies cut.slog
    if [ "$(value lost_bytes verify.out)" -le 1 ]; then # between two blocks: cut inside of the one before
        head -c $((size - 7)) a.slog >cut.slog
        verifies cut.slog
    fi
    says verify.out ' tail=cut lost_bytes=[1-9]'
    [ "$(value ticks verify.out)" -lt 120 ] || fail "nothing is cut"
    [ "$(value ticks verify.out)" -gt 30 ] || fail "too much is cut"
}

has_blocks() { [ "$(wc -c <"$1")" -gt 5000 ]; }

# A log that is taken away is reported at once, and again by the exit code.
case_a_log_that_is_taken_away_is_reported() {
    local harm
    for harm in 'rm a.slog' 'mv a.slog b.slog' 'mv a.slog b.slog; cp b.slog a.slog' \
        'truncate -s 100 a.slog' 'truncate -s 0 a.slog.queue'; do
        rm -f a.slog*
        serve server --min-clients 1 --tick-rate 240 --ticks 960 --log a.slog
        start client shoal-client "$address" --bots 1
        await "the first blocks" has_blocks a.slog
        eval "$harm"
        ends_with 1 server
        says server.err 'logging stopped, the match goes on: .*(deleted|moved or replaced|another process)'
        says server.out '^done ticks=960 '
        ended client
    done
}

case_every_start_keeps_the_logs_before_it() {
    local i
    for i in 1 2 3; do
        serve server --ticks 10 --log a.slog
        ends_with 0 server
    done
    for i in a.slog a.slog.1 a.slog.2; do verifies "$i"; done
}

run_cases "$@"
