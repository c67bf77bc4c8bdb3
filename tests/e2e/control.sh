#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What an operator does to a match that runs, through the control socket (--control).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# asks LINE...: each line and its answer, in asks.out
asks() { printf '%s\n' "$@" | python3 "$here/control.py" socket lines >asks.out 2>asks.err || fail "control.py"; }
ends() {
    asks end
    ends_with 0 server
    [ ! -e socket ] || fail "the socket stays behind"
}

case_a_control_socket_hears_lines_in_pieces() {
    serve server --log none --control socket
    python3 "$here/control.py" socket pieces >pieces.out 2>pieces.err || fail "control.py"
    # Without --allow-edits the match is not changed.
    asks 'set lives=7' 'put 1:1 hits 2' 'mark here' 'say hello'
    says asks.out '^set .*--allow-edits'
    says asks.out '^put .*--allow-edits'
    says asks.out '^mark here -> .*"done": "mark"'
    says asks.out '^say hello -> .*reads no lines of operators'
    run_to 3 second shoal-server --game breakout --listen 127.0.0.1:0 --log none --control socket
    says second.err 'control socket: another server listens there'
    # What a killed server leaves is replaced; another file is not.
    kill -KILL "${pids[server]}"
    ended server
    [ -S socket ] || fail "no socket is left"
    serve server --log none --control socket
    ends
    echo text >socket
    run_to 3 second shoal-server --game breakout --listen 127.0.0.1:0 --log none --control socket
    says second.err 'there is a file that is not a socket'
    run_to 2 long shoal-server --game breakout --listen 127.0.0.1:0 --log none --control "$(printf '%0108d' 7)"
}

case_an_answer_of_the_socket_does_not_wait_for_a_tick() {
    serve server --log none --control socket --tick-rate 1
    python3 "$here/control.py" socket soon >soon.out 2>soon.err || fail "control.py"
    python3 "$here/control.py" socket idle "${pids[server]}" >idle.out 2>idle.err || fail "control.py"
    ends
}

case_a_match_with_twenty_orders_by_chance_runs_again() {
    take_seed
    serve server --tick-rate 240 --min-clients 2 --log a.slog --control socket --allow-edits --http 127.0.0.1:0 --http optional
    local url # "": a build without --http
    url=$(value http server.out)
    start client shoal-client "$address" --headless --bots 2
    await "ten ticks" has_ticks 10 # a pause may be the first order, and a log without a tick goes on nowhere
    python3 "$here/control.py" socket random "$SHOAL_E2E_SEED" 20 "$url" >random.out 2>random.err || fail "control.py"
    ends
    ended client
    says random.out '^done=2[0-9]* posted='
    [ -z "$url" ] || ! has_said random.out ' posted=0$' || fail "none was posted"
    verifies a.slog server
    # Another server goes on in the middle, with what was ordered up to there.
    local ticks
    ticks=$(value ticks done.txt)
    run_to 0 again shoal-server --resume a.slog --at $((ticks / 2)) --listen 127.0.0.1:0 --log b.slog --fast --ticks $((ticks + 60))
    verifies b.slog again
    run stats shoal-replay stats a.slog
    says stats.out "^control records=$(value done random.out) "
    run dump shoal-replay dump a.slog
    says dump.out '"control":{"tick":[0-9]+,"verb":"(set|put|mark)","arguments":\["'
}

# field KEY: of the last answer
field() { tail -n 1 asks.out | grep -oE "\"$1\": \"?[^,\"}]*" | sed -n '1s/.*[ "]//p'; }
has_clients() {
    asks status
    [ "$(field clients)" = "$1" ]
}

has_ticks() {
    asks status
    [ "$(field tick)" -ge "$1" ]
}

wake_ups() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/${pids[server]}/status"; } # of the loop's thread

# It waits at a tick, says so in each place, wakes up for signs of life alone, and goes on with the first player.
case_an_empty_match_stands_still_until_a_player_comes() {
    serve server --pause-when-empty --tick-rate 240 --log a.slog --control socket --lines status-s=1
    await "its state" has_said server.err '^note: status tick=0 .* paused=empty '
    asks status
    [ "$(field is_paused)/$(field is_empty)/$(field tick)" = true/true/0 ] || fail "it runs"
    run_to 0 top shoal-ctl --socket socket top
    says top.out 'paused until a player comes'
    start client shoal-client "$address" --headless --bots 1 --ticks 240
    ended client
    stands_empty() { asks status && [ "$(field is_empty)" = true ] && [ "$(field tick)" -gt 100 ]; }
    await "an empty match" stands_empty
    local tick since_us before woken
    tick=$(field tick) since_us=${EPOCHREALTIME/./} before=$(wake_ups)
    rest 1
    woken=$(($(wake_ups) - before))
    [ $woken -lt $(((${EPOCHREALTIME/./} - since_us) * 40 / 1000000 + 20)) ] || fail "its loop woke up $woken times in a second"
    asks status
    [ "$(field tick)" = "$tick" ] || fail "an empty match runs"
    ends
    verifies a.slog server
    run dump shoal-replay dump a.slog
    says dump.out '"alive":{"tick":'$((tick + 1))',"reason":5'
}

case_each_order_is_seen_in_the_match() {
    : >bans.txt
    start_ready server shoal-server --game arena --listen 127.0.0.1:0 --tick-rate 120 --set agents=20 --min-clients 2 \
        --log a.slog --log-ring 5 --control socket --allow-edits --listen bans=bans.txt
    start client shoal-client "$(value listen server.out)" --headless --bots 2
    await "two players" has_clients 2
    asks pause status
    local tick
    tick=$(field tick)
    rest 0.2
    asks status
    [ "$(field tick)" = "$tick" ] || fail "a paused match runs"
    asks 'put 1:1 match.round 7' 'say watch out' 'mark the turn' 'step 3'
    [ "$(grep -c '"done"' asks.out)" = 3 ] || fail "not done: $(cat asks.out)"
    has_stepped() { asks status && [ "$(field tick)" = $((tick + 3)) ]; }
    await "three steps" has_stepped
    # Its players come back for new settings.
    asks 'set damage=0.5' resume
    await "lines of players that came back" has_lines server.err 'is back after' 2
    await "two players" has_clients 2
    asks 'save by hand' 'net loss=20' 'net off' 'standbys 127.0.0.1:7777,[::1]:7' 'standbys none' reload 'kick 1 for a walk' 'unban player 5' 'ban 2 bad words'
    says asks.out '^unban player 5 -> .*not banned'
    [ "$(grep -c error asks.out)" = 1 ] || fail "refused: $(cat asks.out)"
    ended client
    has_saved() { compgen -G 'a.saved-*-by_hand.slog' >saved.txt; }
    await "saved seconds" has_saved
    asks 'drain 60'
    ends_with 0 server
    says server.out '^peer id=1 .* end=game'
    says server.out '^peer id=2 .* end=banned'
    says server.err 'arena.blk: note: not reloaded'
    local order # each that did something
    for order in 'put 1:1 match.round 7' 'step 3' 'save by hand' 'set damage=0.5' 'kick 1 for a walk' resume 'drain 60'; do
        says server.err "note: operator: $order\$"
    done
    ! grep -q 'operator: unban' server.err || fail "what was refused is a line"
    verifies a.slog server
    run show shoal-replay show a.slog --entity 1:1
    says show.out 'round=7'
    says show.out 'server:.x20watch.x20out'
    run dump shoal-replay dump a.slog
    says dump.out '"control":{"tick":'$((tick + 1))',"verb":"put",'
    says dump.out '"control":{"tick":'$((tick + 1))',"verb":"mark",'
    says dump.out '"control":{"tick":'$((tick + 4))',"verb":"set",'
    says dump.out '"alive":{"tick":'$((tick + 1))',"reason":2'
}

# ctl CODE [word...]
ctl() { run_to "$1" ctl shoal-ctl --socket socket "${@:2}"; }

# A busy machine cuts an answer before its end.
has_soldiers() { ctl 0 templates && grep -qE '^  arena_soldier +[0-9]+ +[0-9]+ +true ' ctl.out; }
case_shoal_ctl_asks_steers_and_shows_a_table() {
    start_ready server shoal-server --game arena --listen 127.0.0.1:0 --set agents=20 --log none --control socket --allow-edits
    start client shoal-client "$(value listen server.out)" --headless --bots 2
    is_playing_by_ctl() { ctl 0 clients && [ "$(grep -c 'player .*playing\|bot .*playing' ctl.out)" = 2 ]; }
    await "two players" is_playing_by_ctl
    ctl 0 status
    says ctl.out '^phase +running$'
    ctl 0 status --json
    says ctl.out '^\{.*"phase":"running"'
    ctl 0 put 1:1 match.end_tick 9000
    ctl 1 put 1:1 match.end_tick -5
    says ctl.err "error: match.end_tick: '-5' is not a whole number"
    ctl 1 kick 77
    says ctl.err 'error: there is no client 77'
    ctl 1 --json kick 77
    says ctl.out '^{"error":"there is no client 77"}$'
    # Each value stands under its component, and no list of objects in a cell.
    ctl 0 query 'match, ?health'
    says ctl.out '^  entity +template +match +health$'
    says ctl.out '^  1:1 +arena_match +[0-9]+,9000,[0-9]+( +null)?$'
    ctl 0 query 'condition, gun where health < 101'
    says ctl.out '^  [0-9]+:1 +arena_(soldier|tank|player) +3 +[0-9,]+$'
    await "the template of soldiers" has_soldiers
    [ "$(grep -c '\.\.\.' ctl.out)" = 0 ] || fail "a table has cells of nothing"
    ctl 0 top
    says ctl.out '^arena  running  tick [0-9]+ '
    says ctl.out '^ +[12]  bot-[12] +bot +playing '
    if python3 -c 'import os; os.openpty()' 2>/dev/null; then
        python3 "$here/control.py" socket top "$bin/shoal-ctl" >top.out 2>top.err || fail "top"
    else
        echo "left out: top in a terminal: there is no /dev/pts"
    fi
    # What needs no server
    run_to 2 ctl shoal-ctl stauts
    says ctl.err "there is no verb 'stauts', did you mean 'status'\?"
    run_to 2 ctl shoal-ctl status
    says ctl.err 'SHOAL_SOCKET'
    ctl 2 say $'two\nlines'
    ctl 2 say "$(printf '%08190d' 7)"
    says ctl.err 'longer than 8190 bytes'
    ctl 0 help kick
    says ctl.out '^kick client \[reason\.\.\.\] +end the session of a client$'
    ctl 0 end
    ends_with 0 server
    ended client
    ctl 6 status
    says ctl.err 'cannot reach a server at socket: '
}

run_cases "$@"
