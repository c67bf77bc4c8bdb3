#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sessions that begin late or end before the last tick.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# ends_orderly SIGNAL: a signal ends the match.
ends_orderly() {
    serve server --min-clients 2 --log a.slog
    enters client trace.txt --bots 2
    kill "-$1" "${pids[server]}"
    ends_with 0 server client
    [ "$(grep -c '^peer id=[12] .* end=goodbye$' server.out)" = 2 ] || fail "peer lines"
    [ "$(grep -c '^client id=[12] .* end=goodbye$' client.out)" = 2 ] || fail "client lines"
    [[ $(tail -n 1 server.out) == "done ticks="* ]] || fail "the last line is not done"
    is_closed a.slog
    verifies a.slog server
}

case_sigterm_ends_a_match_in_order() { ends_orderly TERM; }
case_sigint_ends_a_match_in_order() { ends_orderly INT; }

# Whatever was cut off: lines with the same client and tick must mean the same world.
case_sigterm_on_a_bad_network_leaves_no_false_pair() {
    serve server --min-clients 6 --log none
    start client shoal-client "$address" --bots 6 --trace trace.txt \
        --net loss=25,delay=15,jitter=10
    await "updates" has_rows trace.txt 60
    stop server
    ended client
    local pairs
    pairs=$(join <(pairs_of client mirror_hash <client.out) <(pairs_of peer scope_hash <server.out))
    [ -z "$(awk '$2 != $3' <<<"$pairs")" ] || fail "a pair differs: $pairs"
}

# pairs_of KIND HASH < lines: "id:tick hash" of each line, sorted.
pairs_of() {
    sed -n "s/^$1 id=\([0-9]*\) tick=\([0-9]*\) .* $2=\([0-9a-f]*\) .*/\1:\2 \3/p" | sort
}

case_sigusr1_prints_the_state_and_the_match_goes_on() {
    serve server --min-clients 1 --log none
    enters client trace.txt --bots 1 --name ada
    await "a player" has_said server.err '^note: client 1 "ada" joined from 127\.0\.0\.1:[0-9]+$'
    kill -USR1 "${pids[server]}"
    await "the state" has_said server.err '^note: status tick=[0-9]+ up_s=[0-9]+ clients=1 spectators=0 entities=[1-9]'
    await "more of the match" has_rows trace.txt $(($(wc -l <trace.txt) + 30))
    stop server
    says server.err '^note: status tick=[1-9][0-9]* .* cpu_us_per_tick=[1-9][0-9]* memory_mb=[1-9][0-9.]* descriptors=[1-9][0-9]* identity=[0-9a-f]{16}'
    says server.out '^done ticks=[1-9][0-9]* .* cpu_us_per_tick=[1-9][0-9]* .* log=none$'
    ended client
    [ "$(grep -c '^note: status ' server.err)" = 1 ] || fail "not the line that was asked for"
    ! has_said server.err 'input_known' || fail "usual repetitions are reported"
    serve each --log none --lines status-s=1
    await "lines of its own" has_lines each.err '^note: status tick=' 4
    stop each
    has_lines each.err '^note: status tick=' $(($(value up_s each.err | tail -n 1) / 2)) || fail "no line in each second"
}

# What a player calls itself stands between quotes, with a backslash before quotes of its own.
case_a_name_cannot_forge_a_line_for_the_operator() {
    serve server --ticks 60 --min-clients 2 --log none
    start first shoal-client "$address" --bots 1 --name 'x) left status tick=1 ('
    start second shoal-client "$address" --bots 1 --name 'y" left'
    ends_with 0 server
    ended first
    ended second
    says server.err '^note: client [12] "x\) left status tick=1 \(" joined from '
    says server.err '^note: client [12] "y\\" left" joined from '
    # A busy machine may stall the server for some ticks.
    if grep -vE '^note: client [0-9]+ "([^"\\]|\\.)*" |^warning: this machine was busy: ' server.err; then fail "a line of another form"; fi
}

case_sigterm_ends_a_server_that_holds() {
    serve server --min-clients 2 --log a.slog
    start client shoal-client "$address" --bots 1
    sleep 0.5 # no line reports the client's arrival, and the result does not depend on it
    stop server
    says server.out '^done ticks=0 '
    verifies a.slog server
    ended client
    [ "$code" = 0 ] || [ "$code" = 6 ] || fail "the client ended with $code"
}

# leaves SIGNAL: a signal ends a client.
leaves() {
    serve server --min-clients 1 --log none
    enters client trace.txt --bots 1
    kill "-$1" "${pids[client]}"
    ends_with 0 client
    says client.out '^client id=1 .* end=left$'
    stop server
    says server.out '^peer id=1 .* end=left$'
}

case_a_client_leaves_on_sigint() { leaves INT; }
case_a_client_leaves_on_sigterm() { leaves TERM; }

# No answer can say so: a server answers nothing that is shorter than its own answers.
case_a_line_that_drops_long_datagrams_is_a_likely_reason() {
    serve server --log none
    run_to 6 narrow shoal-client "$address" --bots 1 --net mtu=1199
    says narrow.err "error: $address: no server answers: .*datagrams of 1,200 bytes"
    run_to 0 wide shoal-client "$address" --bots 1 --ticks 10 --net mtu=1252
    stop server
}

# No program listens (the system refuses the datagram), or one listens and does not answer.
# A busy machine takes longer than the five seconds.
case_nobody_answers_within_five_seconds() {
    serve server --log none
    kill -STOP "${pids[server]}"
    local begun took name limit_ms=20000 silent=$address closed=127.0.0.1:1
    begun=${EPOCHREALTIME/[.,]/}
    start silent shoal-client "$silent"
    start silent-named shoal-client "$silent" --game breakout --bots 3
    start closed shoal-client "$closed"
    start closed-named shoal-client "$closed" --game breakout --bots 3
    for name in silent silent-named closed closed-named; do
        ends_with 6 $name
        took=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
        [ $took -le $limit_ms ] || fail "$name: took $took ms"
    done
    says silent.err "error: $silent: no server answers"
    says silent-named.err "error: $silent: no server answers"
    says closed.err "error: $closed: no server answers"
    says closed-named.err "error: $closed: no server answers"
    kill -CONT "${pids[server]}"
    stop server
}

# there NAME GAME: a server of a game with a key of its own; $address gets its address.
there() {
    run_to 0 keygen shoal-server keygen keys
    played=$2 serve "$1" --key-file keys --log "$1.slog"
}

# A player without a host: an operator sends it from breakout to arena and back. What is left and what is come to have equal worlds.
case_a_player_goes_on_to_another_match_and_back() {
    local here
    serve here --control here.sock --log here.slog
    here=$address
    there there arena
    address=$here enters client trace.txt --bots 2
    for id in 1 2; do
        await "client $id" has_said here.err "client $id .* joined"
        run_to 0 token shoal-server token --key-file keys --player 7$id
        run_to 0 ctl shoal-ctl --socket here.sock transfer $id "$address" "$(cat token.out)"
    done
    says here.err '^note: operator: transfer 1 127.0.0.1:[0-9]+ TOKEN$'
    await "both there" has_said there.err 'client 2 .* joined'
    await "a tick there" has_lines client.out '^client .* end=transferred transfers=1$' 2
    stop client here there
    says here.err '^note: client [12] "bot-[12]" left for another match$'
    has_lines client.out '^client id=[12] .* end=left transfers=1$' 2 || fail "not both left"
    has_lines here.out '^peer id=[12] .* end=transferred$' 2 || fail "not both were sent"
    verifies here.slog here
    verifies there.slog there
}

# The token is of another key: the client says so, and the match that it left has it no more.
case_a_transfer_with_a_wrong_token_ends_there() {
    local here
    serve here --control here.sock --log none
    here=$address
    there there breakout
    run_to 0 keygen shoal-server keygen other
    run_to 0 token shoal-server token --key-file other --player 7
    address=$here enters client trace.txt --bots 1
    run_to 0 ctl shoal-ctl --socket here.sock transfer 1 "$address" "$(cat token.out)"
    ends_with 6 client
    says client.err "^error: $address: the server does not know this token"
    run_to 1 ctl shoal-ctl --socket here.sock transfer 1 "$address"
    stop here there
}

# Two matches that send a client to and fro: it follows six times in a minute.
case_two_matches_play_no_ping_pong() {
    local one two to i
    serve one --control one.sock --log none
    one=$address
    serve two --control two.sock --log none
    two=$address
    address=$one enters client trace.txt --bots 1
    for ((i = 0; i < 7; i++)); do
        if ((i % 2)); then at=two to=$one; else at=one to=$two; fi
        await "client at $at" has_lines $at.err 'client .* joined' $((i / 2 + 1))
        until "$bin/shoal-ctl" --socket $at.sock transfer $((i / 2 + 1)) "$to" >>ctl.out 2>&1; do rest 0.02; done
    done
    ends_with 0 client
    says client.err 'bot-1 was sent on 6 times in a minute: it stays$'
    has_lines client.out '^client id=[1-4] .* end=transferred transfers=[1-6]$' 7 || fail "not seven matches"
    stop one two
}

case_a_full_server_refuses() {
    serve server --max-clients 1 --log none
    enters first first.txt --bots 1
    run_to 6 second shoal-client "$address" --game breakout --bots 1
    says second.err 'refused: the server is full'
    kill -INT "${pids[first]}"
    ends_with 0 first
    # The place of the client is free again.
    run_to 0 third shoal-client "$address" --bots 1 --ticks 3
    stop server
}

case_another_schema_is_refused_with_what_differs() {
    copy_games other
    change other/breakout.blk '/^breakout_brick/,/^}/ s/_max:r=2047/_max:r=4095/'
    serve server --log none
    SHOAL_MODULE_PATH=$PWD/other run_to 4 client shoal-client "$address" --bots 1
    says client.err 'refused: the game files differ: .*breakout_brick'
    stop server
}

# The session that asks for the game's name ends first, the bot's own last. Both acknowledge the end.
case_a_bot_on_a_slow_line_leaves_no_session_behind() {
    serve server --min-clients 1 --log none --debug trace-session=trace.txt
    run_to 0 client shoal-client "$address" --bots 1 --ticks 3 --net delay=40
    stop server
    [ "$(grep -c ' to=free reason=disconnected$' trace.txt)" = 2 ] || fail "trace.txt"
}

# Ten seconds without any datagram: longer than a connection lasts, shorter than a session.
case_a_client_comes_back_after_a_black_out() {
    serve server --min-clients 2 --ticks 1080 --log a.slog
    start other shoal-client "$address" --bots 1
    run_to 0 dark shoal-client "$address" --name dark --bots 1 --net delay=20,outage_at=3000,outage_for=10000
    ends_with 0 other server
    reports_back dark.err
    local id
    id=$(value id dark.out)
    grep -q "^note: client $id \"dark\" is away: nothing received\$" server.err || fail "server.err"
    grep -qE "^note: client $id \"dark\" is back after 1[0-9]\.[0-9] s\$" server.err || fail "server.err"
    grep -qE "^note: back after 1[0-9]\.[0-9] s as client $id\$" dark.err || fail "dark.err"
    are_equal 2 server other dark
    [ "$(grep -c '^peer id=' server.out)" = 2 ] || fail "it came back as another client"
    verifies a.slog server
}

reports_back() { says "$1" '^note: connection lost: nothing received for [3-9]\.[0-9] s, trying again$'; }

case_names_are_resolved() {
    serve server --min-clients 1 --ticks 30 --log none
    run_to 0 client shoal-client "localhost:${address##*:}" --bots 1
    ends_with 0 server
    are_equal 1 server client
}

case_a_client_that_stands_still_makes_the_server_end_with_7() {
    serve server --min-clients 1 --ticks 600 --log none
    enters client trace.txt --bots 1
    kill -STOP "${pids[client]}"
    ends_with 7 server
    says server.out '^peer id=1 .* end=goodbye$'
    says server.out '^done ticks=600 '
    slay client
}

run_cases "$@"
