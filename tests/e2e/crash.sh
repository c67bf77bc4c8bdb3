#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A game that fails: an assertion, a bad access, a tick that does not come back. Server, client and check say
# where, and the command that they name runs it again.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

crash=$build/test/crash/crash.so
where='in tick 30, system fail_on_purpose, rows from entity [0-9]+:1$'

# fails HOW: start a server whose game fails in tick 30.
fails() {
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --tick-rate 60 --log a.slog \
        --set "how=$1" --set at=30
}

# dies NAME: wait for its end by a signal.
dies() {
    await "end of $1" has_ended "$1"
    code=0
    wait "${pids[$1]}" 2>/dev/null || code=$?
    unset "pids[$1]"
    [ "$code" -ge 99 ] || fail "$1 ended with $code"
}

# says_where FILE REGEX
says_where() {
    says "$1" "$2"
    says "$1" "$where"
}

# Its inputs are in the log: the same tick fails in the same way.
fails_again() {
    run_to 0 verify shoal-replay verify a.slog --game "$crash"
    says verify.out '^verified ticks=29 '
    start again shoal-replay verify --through-crash a.slog --game "$crash"
    dies again
    says_where again.err "$1"
    eval "start again $(sed -n 's/.*This runs it again: //p' server.err)" # as it is printed
    dies again
    says_where again.err "$1"
}

case_an_assertion_of_a_game_says_where_and_runs_again() {
    fails 1
    dies server
    says server.err 'assertion failed: .*as the test wants'
    says_where server.err '^fatal: the program aborted'
    says server.err 'shoal-replay verify --through-crash a.slog'
    fails_again '^fatal: the program aborted'
}

case_a_value_that_is_not_there_is_named() {
    fails 10
    dies server
    says server.err "assertion failed: entity 77:1 does not live, component 'health' is asked for: use ecs_find"
    says_where server.err '^fatal: the program aborted'
    fails_again '^fatal: the program aborted'
}

case_a_creation_in_a_walk_is_named_with_its_remedy() {
    fails 12
    dies server
    says server.err 'assertion failed: .*no structural change while a query is walked: use ecs_command_create or its kin'
    says_where server.err '^fatal: the program aborted'
}

case_a_bad_access_of_a_game_says_where_and_runs_again() {
    fails 2
    dies server
    says_where server.err '^fatal: invalid memory access'
    fails_again '^fatal: invalid memory access'
}

# printed FILE LABEL: the command behind the label, as a shell takes it.
printed() { sed -n "s/^$2: //p" "$1"; }

# The report names the build, the place, the last lines and the stack, and its commands run as they are printed.
case_a_crash_leaves_a_report_beside_its_log() {
    mkdir "it's"
    cp "$crash" "${crash%.so}.blk" "it's"
    (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out)
    SHOAL_MAX_CLIENTS=7 start server shoal-server --game "./it's/crash.so" --listen 127.0.0.1:0 --tick-rate 60 --log "it's/a.slog" \
        --set how=2 --set at=1500 --fast --lines json --key-file server.key --listen public=127.0.0.1:9 --listen public=127.0.0.2:9
    dies server
    cd "it's"
    [ "$(stat -c %a a.crash)" = 600 ] || fail "others may read the report"
    says a.crash '^build: shoal-[0-9]'
    says a.crash "^folder: .*/case_a_crash_leaves_a_report_beside_its_log\$"
    says a.crash '^command: .*shoal-server[^ ]? --game .* --set how=2 --set at=1500 --fast --lines json '
    says a.crash '^fatal: invalid memory access \(SIGSEGV\) in tick 1500, system fail_on_purpose, rows from entity [0-9]+:1$'
    says a.crash '^[0-9:.]{12} 0 warning game: crash: message Input: no system'
    says a.crash 'crash.so\(\+0x[0-9a-f]+\)'
    says a.crash 'shoal-server\('
    cd ..
    local report="it's/a.crash"
    says "$report" "^again: shoal-replay verify --through-crash --from 900 'it'"
    eval "start again $(printed "$report" again)"
    dies again
    says again.err 'in tick 1500, system fail_on_purpose, rows from entity [0-9]+:1$'
    eval "start again $(sed -n 's/.*This runs it again: \(.*\)"}$/\1/p' server.err | sed 's/\\\\/\\/g')"
    dies again
    says again.err 'in tick 1500, system fail_on_purpose'
    # It has the options that it had, at the same address, and a log of its own.
    eval "run on $(printed "$report" 'go on') --at 1400 --ticks 1450"
    [ "$code" = 0 ] || fail "the match did not go on"
    says on.out '^resumed tick=1400 players=0$'
    says on.out "^ready listen=$(value listen server.out) "
    says on.out " log=it's/a.on.slog\$"
    ! grep -q 'is left out' on.err || fail "it has options that do nothing"
    says "$report" ' --key-file=server.key .*--max-clients=7|--max-clients=7 .*--key-file=server.key'
    says "$report" ' --listen=public=127.0.0.1:9 --listen=public=127.0.0.2:9( |$)'
    run_to 0 verify shoal-replay verify --from 900 "it's/a.slog" --game "$crash"
    local ticks
    ticks=$(value ticks verify.out)
    [ "$ticks" -ge 600 ] && [ "$ticks" -lt 1499 ] || fail "it ran $ticks ticks"
}

# The next match of this name, which crashes too, moves log and report to the same number.
case_a_second_crash_keeps_the_report_of_the_first() {
    for at in 30 40; do
        start server shoal-server --game "$crash" --listen 127.0.0.1:0 --log a.slog --set how=2 --set "at=$at" --fast
        dies server
    done
    says a.crash ' in tick 40, system fail_on_purpose'
    [ "$(grep -c '^build: ' a.crash)" = 1 ] || fail "it is behind the first one"
    says a.crash.1 ' in tick 30, system fail_on_purpose'
    says a.crash.1 '^its log is called a.slog.1 now$'
    start again shoal-replay verify --through-crash a.slog.1 --game "$crash"
    dies again
    says again.err 'in tick 30, system'
    # Where the log is gone and its report is not, none is lost.
    rm a.slog
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --log a.slog --set how=2 --set at=50 --fast
    dies server
    [ "$(grep -c '^build: ' a.crash)" = 2 ] || fail "a report is lost"
}

case_a_long_command_line_is_cut_and_says_so() {
    local -a hosts=()
    for ((i = 0; i < 60; i++)); do hosts+=(--http host="host-$i.$(printf '%080d' 7).example"); done
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --log a.slog --fast --set how=2 --set at=30 "${hosts[@]}"
    dies server
    says a.crash '^command: .* --http host=host-[0-9.]* \(cut\)$'
    says a.crash '^again: shoal-replay verify --through-crash a.slog --game '
    ! grep -q '^go on:' a.crash || fail "half a command"
}

case_lines_of_a_crash_have_the_form_of_all_lines() {
    mkdir 'a "b"'
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --log 'a "b"/a.slog' --lines json --set how=2 --set at=30
    dies server
    says server.err '^\{"level":"fatal","layer":"server","message":"fatal: invalid memory access .*"\}$'
    says server.err '^\{"level":"fatal",.* verify --through-crash .a \\"b\\"/a.slog.*"\}$'
    [ "$(sed '/Sanitizer:DEADLYSIGNAL/,$d' server.err | grep -cv '^{.*}$')" = 0 ] || fail "a line is no object"
}

case_a_journal_gets_each_line_of_a_crash_with_its_level() {
    : >server.err
    JOURNAL_STREAM=$(stat -c %d:%i server.err) fails 2
    dies server
    says server.err '^<2>fatal: invalid memory access'
    says server.err "^<2>The log has its inputs. This runs it again: shoal-replay verify --through-crash a.slog --game '?/.*crash.so'?\$"
    # A sanitizer writes a report of its own behind ours.
    [ "$(sed '/Sanitizer:DEADLYSIGNAL/,$d' server.err | grep -cv '^<[2346]>')" = 0 ] || fail "a line has no level"
}

# The watchdog of systemd ends a loop that hangs by SIGABRT: the report names the system.
case_a_watchdog_leaves_a_report_of_a_tick_that_hangs() {
    fails 3
    await "a word about the tick" has_said server.err 'tick 30 has been running for [0-9.]+ s'
    kill -ABRT "${pids[server]}"
    dies server
    says a.crash '^fatal: the program aborted \(SIGABRT\) in tick 30, system fail_on_purpose'
    says a.crash ' 29 error server: tick 30 has been running for [0-9.]+ s in system fail_on'
}

# Off unless it is asked for; the report has the stack of the thread that hangs.
case_a_tick_longer_than_its_limit_ends_the_server() {
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --tick-rate 60 --log a.slog --tune tick-s=2 --set how=3 --set at=30
    dies server
    says_where server.err '^fatal: a tick took longer than 2 s \(--tune tick-s\) in tick 30, system fail_on_purpose'
    says a.crash '^fatal: a tick took longer than 2 s \(--tune tick-s\) in tick 30, system fail_on_purpose'
    says a.crash 'crash.so\(\+0x[0-9a-f]+\)'
    run_to 0 verify shoal-replay verify a.slog --game "$crash"
    says verify.out '^verified ticks=29 '
}

case_a_server_without_a_log_leaves_no_report() {
    start server shoal-server --game "$crash" --listen 127.0.0.1:0 --log none --set how=2 --set at=3 --fast
    dies server
    [ -z "$(ls ./*crash 2>/dev/null)" ] || fail "there is a report"
}

case_a_tick_that_never_comes_back_says_where_and_ends_by_a_second_signal() {
    fails 3
    await "a word about the tick" has_said server.err 'tick 30 has been running for [0-9.]+ s in system fail_on'
    kill -TERM "${pids[server]}"
    await "an answer" has_said server.err 'ends when the tick returns; a second signal'
    kill -TERM "${pids[server]}"
    ends_with 1 server
    says server.err 'in the middle of a tick'
    run verify shoal-replay verify a.slog --game "$crash"
    says verify.out '^verified ticks=29 '
}

case_a_slow_tick_is_reported_and_the_match_goes_on() {
    fails 4
    await "a word about the tick" has_said server.err 'tick 30 has been running for [0-9.]+ s'
    kill -USR1 "${pids[server]}"
    kill -INT "${pids[server]}"
    touch go_on
    ends_with 0 server
    says server.err '^note: status tick=' # no signal is lost in the meantime
    is_closed a.slog
}

# fails_in HOW NAME PROGRAM [argument...]: start a program that sets nothing, with a game that fails in this way.
fails_in() {
    cp "$crash" .
    printf 'thing { "health:i"{ _replicate:b=yes; value:i=%s } }\n' "$1" >crash.blk
    shift
    export TMPDIR=$PWD # of check's log
    start "$@"
}
fails_in_check() { fails_in "$1" check shoal-server check ./crash.so; }
fails_in_client() {
    fails_in "$1" client shoal-client --local --game ./crash.so --bots 2 "${@:2}"
}
drawn='stage render, system draw_on_purpose, rows from entity [0-9]+:1'
picture=(--shot a.png --ticks 90)
needs_window() {
    run window shoal-client --local --game breakout --shot a.png --ticks 1
    has_said window.err 'without the part window' || return 0
    skip "the client has no window"
    return 1
}

# stops NAME: a loop is ended by two signals.
stops() {
    kill -TERM "${pids[$1]}"
    await "an answer" has_said "$1.err" 'ends when the tick returns; a second signal'
    kill -TERM "${pids[$1]}"
    ends_with 1 "$1"
    says "$1.err" 'in the middle of a tick'
}

case_check_says_where_a_game_crashes_and_runs_it_again() {
    fails_in_check 2
    dies check
    says_where check.err '^fatal: invalid memory access'
    says check.err '^This runs it again: shoal-server check ./crash.so$'
    local log
    log=$(sed -n 's/^Its log stays: //p' check.err)
    start again shoal-replay verify --through-crash "$log" --game ./crash.so
    dies again
    says_where again.err '^fatal: invalid memory access'
}

# The commonest crash of a first evening: a player left.
case_check_says_who_left_before_a_crash() {
    fails_in 1 check shoal-server check --set how=33 ./crash.so
    dies check
    says check.err "assertion failed: entity 2:1 does not live, component 'health' is asked for: use ecs_find"
    says check.err '^fatal: the program aborted .* in tick 61, system fail_on_purpose'
    says check.err '^Before: Bot 1 left in tick 61$'
}

# What no stage runs: bots of a client, and a join.
case_a_function_of_the_game_that_crashes_is_named() {
    local how dead alive
    export SHOAL_MODULE_PATH=${crash%/*}
    for how in 30 31 32; do
        dead=client alive=server
        [ $how != 32 ] || dead=server alive=client
        fails $how
        await "the ready line" is_ready_or_gone server
        start client shoal-client "$(value listen server.out)" --game crash --bots 1
        dies $dead
        [ $how != 30 ] || says client.err '^fatal: invalid memory access .* in bot_think$'
        [ $how != 31 ] || says client.err 'assertion failed: .* wrote beyond view->memory: it has 256 bytes'
        [ $how != 31 ] || says client.err '^fatal: the program aborted .* in bot_think$'
        [ $how != 32 ] || says server.err '^fatal: invalid memory access .* in player_join$'
        kill "${pids[$alive]}"
        ended $alive
    done
}

case_check_names_a_loop_and_a_crash_of_a_picture() {
    fails_in_check 3
    await "a word about the loop" has_said check.err 'tick 30 has been running for [0-9.]+ s in system fail_on'
    kill -TERM "${pids[check]}"
    dies check
    fails_in_check 20
    dies check
    says check.err "^fatal: invalid memory access .* $drawn\$"
}

case_a_local_match_says_where_it_crashes() {
    fails_in_client 1
    dies client
    says_where client.err '^fatal: the program aborted'
    says client.err '^This runs it again: shoal-client --local --game ./crash.so --bots 2$'
}

case_a_local_match_that_never_comes_back_ends_by_a_second_signal() {
    fails_in_client 3
    await "a word about the tick" has_said client.err 'tick 30 has been running for [0-9.]+ s in system fail_on'
    stops client
}

case_a_picture_that_crashes_says_where() {
    needs_window || return 0
    fails_in_client 20 "${picture[@]}"
    dies client
    says client.err "^fatal: invalid memory access .* $drawn\$"
}

case_a_picture_that_never_comes_back_is_named() {
    needs_window || return 0
    fails_in_client 21 "${picture[@]}"
    await "a word about the picture" has_said client.err "tick [0-9]+ has been running for [0-9.]+ s, ${drawn/, system/ in system}"
    stops client
}

# The picture waits for ticks of the server: they come, because that has a thread of its own.
case_a_slow_picture_does_not_slow_a_local_match() {
    needs_window || return 0
    fails_in_client 22 "${picture[@]}"
    ends_with 0 client
    [ -e go_on ] || fail "the picture did not wait"
}

ask_to_end() {
    has_ended client || { kill -TERM "${pids[client]}" && false; }
}

case_a_local_server_that_never_comes_back_ends_by_signals() {
    fails_in_client 23
    await "a word about the tick" has_said client.err 'tick 30 has been running for .* in system fail_.*; SIGTERM or SIGINT ends the program$'
    await "its end" ask_to_end
    ends_with 1 client
    says client.err 'the server of --local ended in the middle of a tick'
}

# plays CODE HOW TICKS: a whole match of the game with two bots.
plays() {
    start_ready server shoal-server --game "$crash" --listen 127.0.0.1:0 --tick-rate 60 --log a.slog \
        --set "how=$2" --set at=30 --ticks "$3" --min-clients 2
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' server.out)
    export SHOAL_MODULE_PATH=${crash%/*}
    run_to "$1" client shoal-client "$address" --game crash --bots 2
}

case_worlds_that_differ_are_named_by_both_sides() {
    plays 8 5 60
    says client.err 'client [12]: our world differs from the server.s in tick 60: entity 1:1 \(thing\), component health$'
    ends_with 8 server
    says server.err 'client [12] ".*": its world differs in tick 60: entity 1:1 \(thing\), component health$'
    verifies a.slog
}

case_a_value_that_is_not_tracked_when_written_is_named_by_the_server() {
    [ -n "${SHOAL_E2E_SLOW:-}" ] && return # there it is an assertion
    plays 8 11 60
    says client.err 'differs from the server.s in tick 60, though we have all as it was sent: the game wrote a value past'
    ends_with 8 server
    says server.err 'warning: component health of entity 1:1 \(thing\) was written past its tracking by '
    says server.err 'its world differs in tick 60, though it has all as it was sent: a value was written past its tracking$'
}

case_a_game_ends_the_match_with_a_reason() {
    plays 0 6 600
    says client.err '^note: the game ended the match: red wins$'
    ends_with 0 server
    says server.err '^note: the game ended the match: red wins$'
    says server.out '^done ticks=30 '
    verifies a.slog
}

case_a_game_refuses_a_player_with_a_reason() {
    plays 6 7 60
    says client.err 'refused: two is a crowd$'
    ends_with 0 server
    says server.err 'client 2 ".*" dropped: the game refused it: two is a crowd$'
    says server.out '^peer id=2 .* end=refused$'
    verifies a.slog
}

case_a_game_drops_a_player_with_a_reason() {
    plays 1 8 60
    says client.err 'connection lost: the server ended the session: the game dropped it: it slept$'
    ends_with 0 server
    says server.out '^peer id=1 .* end=game$'
    verifies a.slog
}

case_verify_finds_in_a_second_process_what_the_first_does_not() {
    [ -n "${SHOAL_E2E_SLOW:-}" ] && return # a sanitizer fills memory in its own way
    run server shoal-server --game "$crash" --listen 127.0.0.1:0 --log a.slog --set how=9 --set at=20 \
        --ticks 30 --fast
    run_to 0 once shoal-replay verify --once a.slog --game "$crash"
    run_to 5 verify shoal-replay verify a.slog --game "$crash"
    says verify.out '^diverged tick=20 component=health entity=1:1 field=value log=100 run=190$'
    says verify.err 'a.slog: .*runs again here, but not in a second process'
    ! has_said verify.out '^verified' || fail "it is verified all the same"
}

case_state_in_the_context_is_found_by_verify_and_by_check() {
    local outside='the game keeps state outside of its world'
    run server shoal-server --game "$crash" --listen 127.0.0.1:0 --log a.slog --set how=14 --ticks 130 --fast
    run_to 5 verify shoal-replay verify a.slog --game "$crash"
    says verify.out '^diverged tick=50 component=health entity=1:1 field=value log=101 run=100$'
    says verify.out '^restored tick=27 template=thing behind=fail_on_purpose$'
    says verify.out "^note: $outside .*; keep it in a component, or in save_state and load_state \(games/README.md, Libraries\)$"
    ! has_said verify.out '^verified' || fail "it is verified all the same"
    export TMPDIR=$PWD # of check's log
    run_to 5 check shoal-server check --set how=14 "$crash"
    says check.err "crash.so: error: .* component health of template thing .* first after fail_on_purpose: $outside .*; keep it in a component, or in save_state and load_state \(games/README.md, Libraries\)$"
}

# Its code imports rand and pow and has globals, which are no faults of the game.
case_a_game_with_libraries_is_checked_by_its_play() {
    cp "$build"/test/crash_library/* .
    export TMPDIR=$PWD
    run_to 0 check shoal-server check ./crash.so
    says check.err '^\./crash.so: note: contains library part, which the play checks: .*; rand'
    says check.err '^\./crash.so: note: uses libbeside.so of the system: its bytes are part of the content hash$'
    says check.out '^ok files=1 templates=1 components=1 warnings=1$'
    run_to 5 check shoal-server check --set how=14 ./crash.so
    says check.err 'first after fail_on_purpose: the game keeps state outside of its world'
    run server shoal-server --game ./crash.so --listen 127.0.0.1:0 --log a.slog --set how=13 --ticks 30 --fast
    run_to 0 verify shoal-replay verify a.slog --game ./crash.so
    ! has_said verify.err 'not the build' || fail "it is another build"
    echo >>libbeside.so # another build of it
    run_to 0 verify shoal-replay verify a.slog --game ./crash.so
    says verify.err 'warning: crash is not the build that wrote this log'
}

run_cases "$@"
