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
    run_to 0 "trace$1" shoal-replay check-trace "$1.slog" "$1.txt"
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
            slay "server$i"
        done
        for ((i = first; i < until; i++)); do check_kill $i; done
    done
}

# In the module of the other folder, the ball's speed is the next float. The re-run must find the
# difference.
case_another_ball_speed_diverges() {
    match_of 2 240 a.slog
    verifies a.slog server
    copy_games other
    change other/breakout.blk 's/^ball {\(.*\)vel:p2=330,-550 /ball {\1vel:p2=330,-551 /'
    SHOAL_MODULE_PATH=$PWD/other run_to 5 verify shoal-replay verify a.slog
    says verify.out '^diverged tick=[1-9][0-9]* component=[a-zA-Z_.]+ entity=[1-9][0-9]*:[0-9]+ field=[a-z]+ log=[-0-9.]+ run=[-0-9.]+$'
    says verify.out '^may_write component=vel systems=move_pads_es\(declares_nothing\),move_balls_es,rules_es\(declares_nothing\)$'
    SHOAL_MODULE_PATH=$PWD/other run verify shoal-replay verify a.slog --once
    says verify.out '^by_system changed=vel by=move_balls_es$'
    says verify.out '^by_system two_runs=equal tick=[1-9][0-9]* component=vel found=one_writer$'
    says verify.err 'content'
}

# What is not replicated is no part of the hash that server and client compare. A run of the log is
# another one then, and the result names the schema, not a value.
case_a_component_more_is_named_as_another_schema() {
    match_of 2 120 a.slog
    local flags
    for flags in '_track:b=yes; ' ''; do
        rm -rf other
        copy_games other
        change other/breakout.blk "/^breakout_pad {/,/^}/ s/^ *\"input:.*/&\n    \"serves:i\"{ ${flags}value:i=3 }/"
        SHOAL_MODULE_PATH=$PWD/other run_to 5 verify shoal-replay verify a.slog
        says verify.out '^diverged tick=1 component=- entity=0:0 schema=differs$'
        says verify.out '^note: the schema differs: template breakout_pad, component serves is only here$'
    done
}

# Segments of 10 s, two of them are kept. A shell would make a file out of the log's name.
case_a_log_is_cut_into_segments() {
    local log='a;touch b.slog'
    printf '#!/bin/sh\necho "$1" >>closed.txt\n' >on_close
    chmod +x on_close
    run_to 0 server shoal-server --game breakout --listen 127.0.0.1:0 --ticks 3100 --fast --log "$log" \
        --log-segment-s 10 --log keep=2 --log on-close=./on_close --log-sync second
    says server.out ' log_segments=6 log_ticks_lost=0 log_waiting_s=0.0 log='
    grep -qxF "$log" closed.txt || fail "the server did not wait for the command for FILE"
    [ "$(wc -l <closed.txt)" = 6 ] || fail "the command ran for others than each closed segment"
    grep -qxF "$log.seg0001" closed.txt || fail "not for the first segment"
    [ ! -e b.slog ] || fail "a shell read the name of the log"
    [ ! -e "$log.seg0003" ] && [ -e "$log.seg0004" ] || fail "not the newest segments are kept"
    run_to 0 verify shoal-replay verify "$log"
    says verify.out '^verified ticks=1300 .* tail=whole lost_bytes=0 first_tick=1801$'
    [ "$(value state_hash verify.out)" = "$(value state_hash server.out)" ] || fail "the hashes differ"
    run_to 0 part shoal-replay verify "$log.seg0004"
    says part.out '^verified ticks=600 .* tail=whole '
    run info shoal-replay info "$log"
    says info.out '^first_tick=1801$'
    run_to 1 gone shoal-replay show "$log" --tick 100
    says gone.err 'tick 100 is not in it'
    run_to 2 bad shoal-server --game breakout --ticks 1 --log x.slog --log-sync block
    says bad.err 'log-sync needs second\|end, not .block.'
}

# Both limits are in bytes: cubes has much to write, and a segment may end each 10 s, which are ten ticks here.
case_a_log_keeps_to_its_budget_of_bytes() {
    run_to 0 server shoal-server --game cubes --listen 127.0.0.1:0 --tick-rate 1 --ticks 100 --fast --log a.slog \
        --log segment-mb=1 --log budget-mb=2
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
        run_to 0 $content shoal-server --game cubes --listen 127.0.0.1:0 --ticks 120 --fast --log $content.slog \
            --log content=$content
        verifies $content.slog $content
        run stats-$content shoal-replay stats $content.slog
    done
    [ "$(value state_hash state.out)" = "$(value state_hash inputs.out)" ] || fail "the matches differ"
    says stats-state.out '^state records=120 bytes=[1-9]'
    says stats-inputs.out '^state records=0 bytes=0$'
    [ "$(wc -c <inputs.slog)" -lt "$(wc -c <state.slog)" ] || fail "the log of inputs is not smaller"
    run_to 2 bad shoal-server --game breakout --listen 127.0.0.1:0 --ticks 1 --log x.slog,content=values
    says bad.err 'log: content needs state\|inputs, not .values.'
}

case_keyframes_are_as_far_apart_as_asked() {
    run_to 0 server shoal-server --game breakout --listen 127.0.0.1:0 --fast --ticks 300 --log a.slog,keyframe-s=1
    run info shoal-replay info a.slog
    says info.out 'keyframes=5( |$)'
    verifies a.slog server
    run_to 0 again shoal-server --resume a.slog --at 200 --listen 127.0.0.1:0 --fast --ticks 300 --log b.slog,keyframe-s=3600
    verifies b.slog again
    run_to 2 bad shoal-server --game breakout --listen 127.0.0.1:0 --ticks 1 --log x.slog,keyframe-s=3601
    says bad.err 'log: keyframe-s is outside of 1 to 3600'
}

has_saved() { compgen -G "$1" >/dev/null; }

# All seconds fit into the default of 64 MB. Into 1 MB only the newest of them do.
case_a_ring_keeps_to_its_memory() {
    local mb
    for mb in 64 1; do
        run_to 0 server$mb shoal-server --game arena --fast --tick-rate 4 --ticks 260 --listen 127.0.0.1:0 \
            --set round_s=60 --set agents=2000 --log none --log-ring 60 --log ring-mb=$mb
        says server$mb.err 'saved-241-round.slog: note: saved ticks='
    done
    says server64.err 'saved ticks=1\.\.24[0-9] bytes='
    [ "$(value bytes server64.err)" -gt $((1 << 20)) ] || fail "too little is written to fill 1 MB"
    [ "$(value bytes server1.err)" -le $(((1 << 20) + 65536)) ] || fail "1 MB holds more than that"
    says server1.err 'saved ticks=[1-9][0-9]+\.\.24[0-9] bytes='
}

# The game saves the end of its round, an operator what he likes: both files are whole logs.
case_the_last_seconds_are_saved_as_a_log() {
    run_to 0 server shoal-server --game arena --fast --tick-rate 30 --ticks 1000 --listen 127.0.0.1:0 \
        --set round_s=30 --set agents=60 --log none --log-ring 5
    says server.err 'saved-901-round.slog: note: saved ticks=601..930 bytes='
    says server.out ' log_bytes=0 log_saves=1 log_segments=0 log_ticks_lost=0 log_waiting_s=0.0 log=none$'
    verifies arena-*.saved-901-round.slog
    says verify.out '^verified ticks=330 .* tail=whole '

    mkfifo console
    : >second.out
    "$bin/shoal-server" --game breakout --listen 127.0.0.1:0 --tick-rate 240 --log b.slog --log-ring 1 --allow-edits \
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
    says second.err "console: .*there is no 'load'"
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
    match_of 1 60 a.slog
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
    match_of 1 120 a.slog
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

# A log that is taken away is reported at once, and again by the exit code. The match lasts until then.
case_a_log_that_is_taken_away_is_reported() {
    local harm report='logging stopped, the match continues: .*(deleted|moved or replaced|another process)'
    for harm in 'rm a.slog' 'mv a.slog b.slog' 'mv a.slog b.slog; cp b.slog a.slog' \
        'truncate -s 100 a.slog'; do
        rm -f a.slog*
        serve server --min-clients 1 --tick-rate 240 --log a.slog
        start client shoal-client "$address" --bots 1
        await "the first blocks" has_blocks a.slog
        eval "$harm"
        await "report of the lost log" has_said server.err "$report"
        kill -TERM "${pids[server]}"
        ends_with 1 server
        says server.out '^done ticks='
        ! grep fatal server.err || fail "the match went on"
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

resumes=${SHOAL_E2E_RESUMES:-1}
bots=8

# All players are back: each sends inputs again.
are_all_back() { [ "$(sed -nE 's/.* (client=[0-9]+) .* dir=in kind=input .*/\1/p' "$1.txt" | sort -u | wc -l)" = "$bots" ]; }

# A server is killed; another one goes on with the match of its log, and the players come back to the same address.
resume_killed() { # NUMBER
    local i
    serve first --min-clients $bots --key-file server.key --log "first$1.slog"
    (umask 077 && for ((i = 1; i <= bots; i++)); do
        "$bin/shoal-server" token --key-file server.key --server "$address" --server 192.0.2.1:7777 --player $i
    done >tokens)
    enters clients trace.txt --bots $bots --token-file tokens
    sleep "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
    slay first
    start_ready second shoal-server --resume "first$1.slog" --listen "$address" --key-file server.key --log "joined$1.slog" \
        --listen public=192.0.2.1:7777 --debug trace-session=second.txt
    await "all players" are_all_back second
    rest 0.5
    stop second
    ends_with 0 clients
    are_equal $bots second clients
    [ "$(grep -c '^note: client [1-8] "bot-[1-8]" is back after ' second.err)" = $bots ] || fail "not one line for each that came back"
    ! grep '^note: refused.* token_forged=' second.err || fail "a resume token of the first server opens nothing"
    verifies "joined$1.slog" second
    says verify.out ' tail=whole lost_bytes=0$'
    says second.out "^resumed tick=[0-9]+ players=$bots\$"
    says second.err "^joined$1.slog: note: it continues the match of first$1.slog, which stays as it is\$"
    run info shoal-replay info "joined$1.slog"
    says info.out '^segments=2$'
    echo "resumed $1: $(value tick second.out | head -n 1), the match ended with $(value ticks second.out)"
    verifies "first$1.slog"
}

case_players_come_back_to_a_server_that_goes_on_with_the_match() {
    take_seed
    (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out)
    local i
    for ((i = 1; i <= resumes; i++)); do resume_killed $i; done
}

case_players_come_back_to_a_server_that_goes_on_with_crates() {
    plays_crates || return 0
    case_players_come_back_to_a_server_that_goes_on_with_the_match
}

# resumes_not CODE TEXT OPTION...: refused with the reason.
resumes_not() {
    run_to "$1" refused shoal-server --listen 127.0.0.1:0 --log b.slog "${@:3}"
    says refused.err "$2"
    [ ! -e b.slog ] || fail "it leaves a log"
}

case_a_match_that_cannot_go_on_is_refused() {
    local ticks
    serve server --log a.slog
    resumes_not 1 'a.slog: error: a server writes this log now' --resume a.slog
    stop server
    ticks=$(value ticks server.out)
    resumes_not 2 'error: --at needs --resume' --at 7
    resumes_not 2 'error: --set: a match that continues has the settings of its log' --resume a.slog --set lives=4
    resumes_not 2 "a.slog: error: tick $((ticks + 1)) is not in the log: it has 1..$ticks" --resume a.slog --at $((ticks + 1))
    resumes_not 4 'the log is of game breakout, not arena' --resume a.slog --game arena
    resumes_not 1 'none.slog: error: cannot be opened' --resume none.slog
    serve server --min-clients 2 --log c.slog
    run clients shoal-client "$address" --bots 2 --ticks 60 --trace trace.txt
    stop server
    resumes_not 2 'error: --max-clients 1 is less than the 2 players of the match' --resume c.slog --at 30 --max-clients 1
    # What the match has already is not exchanged in silence, wherever it comes from.
    echo 'tick-rate = 30' >match.conf
    SHOAL_SEED=9 run other shoal-server --resume c.slog --at 30 --listen 127.0.0.1:0 --log none --config match.conf \
        --min-clients 2 --ticks 40 --fast
    says other.err '^note: --tick-rate 30 is left out: the match that continues has 60$'
    says other.err '^note: --min-clients 2 is left out: the match that continues has 0$'
    says other.err '^note: --seed 9 is left out: the match that continues has 1$'
    run other shoal-server --resume c.slog --at 30 --listen 127.0.0.1:0 --log none --tick-rate 60 --seed 1 --ticks 40 --fast
    ! grep -q 'is left out' other.err || fail "what is the same is left out"
    # Without keys the players cannot come back, and it says so.
    start_ready alone shoal-server --resume c.slog --at 30 --listen 127.0.0.1:0 --log d.slog
    until has_ended alone; do kill "${pids[alone]}" 2>/dev/null; rest 0.1; done # the second one ends it at once
    ends_with 0 alone
    says alone.err 'without --key-file no client can prove whose player it was: the 2 of the match leave after 30 s'
    says alone.out '^resumed tick=30 players=2$'
    verifies d.slog alone
}

# With the right to write the file, checksums and hashes are made right again. An input that no system hears leaves no other trace:
# the log runs again, and the signature alone shows it.
case_a_changed_input_with_right_checksums_is_not_signed() {
    export SHOAL_MODULE_PATH=$build/test/crash
    run keygen shoal-server keygen --log log.key
    start_ready server shoal-server --game crash --set how=13 --listen 127.0.0.1:0 --min-clients 2 --ticks 90 --log a.slog,key=log.key
    run client shoal-client "$(value listen server.out)" --game crash --bots 2
    ends_with 0 server
    local id
    id=$(value id keygen.out)
    run_to 0 verify shoal-replay verify a.slog --key log.key.pub
    "$build/test/forge_log" a.slog forged.slog 0 >forge.out 2>forge.err || fail "forge_log"
    says forge.out '^forged block=1 tick='
    cmp -s a.slog forged.slog && fail "nothing is changed"
    verifies forged.slog server
    says verify.out ' tail=whole lost_bytes=0$'
    run_to 1 verify shoal-replay verify forged.slog --key log.key.pub
    says verify.out "^verified ticks=90 .* not_signed key=$id from_block=1 signed_ticks=0\$"
    says verify.err "^forged.slog: error: not signed with key $id from block 1 on .*: its signature is of another key, or it was"
}

case_a_log_is_signed_and_verify_says_up_to_where() {
    local id
    run keygen shoal-server keygen --log log.key
    id=$(value id keygen.out)
    says keygen.out '^key file=log.key public=log.key.pub id=[0-9a-f]{16}$'
    [ "$(stat -c %a log.key log.key.pub | paste -sd' ')" = '600 644' ] || fail "the rights of the keys"
    run_to 1 keygen shoal-server keygen --log log.key
    serve server --ticks 700 --fast --log a.slog,key=log.key --log-segment-s 5
    ends_with 0 server
    run_to 0 verify shoal-replay verify a.slog --once --key log.key.pub
    says verify.out " tail=whole lost_bytes=0 signed key=$id\$"
    # A match that goes on is signed over both logs; without the key it is not.
    run second shoal-server --resume a.slog --at 650 --listen 127.0.0.1:0 --ticks 720 --fast --log b.slog,key=log.key
    run verify shoal-replay verify b.slog --once --key log.key.pub
    says verify.out "^verified ticks=720 .* signed key=$id\$"
    run slice shoal-replay slice a.slog --from 610 --output c.slog
    run_to 1 verify shoal-replay verify c.slog --once --key log.key.pub
    says verify.out "^verified ticks=100 .* not_signed key=$id from_block=[0-9]+ signed_ticks=0\$"
    says verify.err "^c.slog: error: not signed with key $id from block [0-9]+ on .*: it has no signature"
    # Without its first segment it is a part, which does not pass for all of it.
    mkdir part && cp a.slog part
    run_to 1 verify shoal-replay verify part/a.slog --once --key log.key.pub
    says verify.out "^verified ticks=100 .* first_tick=601 not_signed key=$id from_block=1 signed_ticks=0\$"
    says verify.err "^part/a.slog: error: signed with key $id from tick 601 on, but what was before it is missing"
    run_to 0 verify shoal-replay verify part/a.slog --once --key log.key.pub,part
    says verify.out " first_tick=601 signed key=$id\$"
    # Cut: up to its last index.
    truncate -s -9 a.slog
    run_to 1 verify shoal-replay verify a.slog --once --key log.key.pub
    says verify.out " not_signed key=$id from_block=[0-9]+ signed_ticks=600\$"
    # Keys of other kinds, and of another match.
    run_to 2 verify shoal-replay verify b.slog --once --key log.key
    says verify.err '^log.key: error: is the secret key: name its .pub'
    run keygen shoal-server keygen --log other.key
    run_to 1 verify shoal-replay verify b.slog --once --key other.key.pub
    says verify.err "error: not signed with key $(value id keygen.out) from block 1 on .*: its signature is of another key"
    run_to 1 refused shoal-server --resume b.slog --listen 127.0.0.1:0 --log d.slog,key=other.key
    says refused.err '^b.slog: error: from block 1 on its signature is not that of --log key'
    # What is no key.
    (umask 077 && echo word >bad.key)
    run_to 2 refused shoal-server --game breakout --listen 127.0.0.1:0 --log d.slog,key=bad.key
    says refused.err '^bad.key: error: is not a signing key of logs: make one with shoal-server keygen --log FILE'
    run_to 2 refused shoal-server --game breakout --listen 127.0.0.1:0 --log none,key=log.key
    says refused.err 'error: --log key: there is no log to sign'
    run verify shoal-replay verify b.slog --once --key bad.key
    says verify.err '^bad.key: error: is not a public key of logs'
    run verify shoal-replay verify b.slog --once --key none.key
    says verify.err '^none.key: error: cannot be opened'
    [ "$code" = 2 ] || fail "no key was taken"
    touch third.key.pub
    run keygen shoal-server keygen --log third.key
    [ "$code" = 1 ] && [ ! -e third.key ] || fail "half a pair of keys"
    chmod 644 log.key
    run_to 2 refused shoal-server --game breakout --listen 127.0.0.1:0 --log d.slog,key=log.key
    says refused.err '^log.key: error: others can read this secret: run chmod 600 log.key'
    [ ! -e d.slog ] || fail "it leaves a log"
}

run_cases "$@"
