#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A game whose rules are a script: what holds for a game in C holds for it, live and in its log.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# play BOTS TICKS [server option...]: the worlds are equal, and the log is that match.
play() {
    start_ready server shoal-server --game lua --listen 127.0.0.1:0 --min-clients "$1" --ticks "$2" --log a.slog "${@:3}"
    run_to 0 client shoal-client "$(value listen server.out)" --bots "$1" ${client_net:+--net "$client_net"}
    ends_with 0 server
    are_equal "$1" server client
    ! grep -E 'rules.lua|error' server.err client.err || fail "the script has a fault"
    is_closed a.slog
    verifies a.slog server
}

own_game() { cp -L "$games/lua.so" hop.so && cp "$games/lua.blk" hop.blk && cp "$games/lua/rules.lua" .; }
has_window() { grep -q '^SHOAL_HAS_WINDOW:INTERNAL=\(ON\|TRUE\)' "$build/CMakeCache.txt"; }

# From its start, from each keyframe, as a slice, at a tick.
case_a_script_plays_the_same_again() {
    client_net=bad play 8 900
    run_to 0 verify shoal-replay verify a.slog --from 610 --once
    run_to 0 slice shoal-replay slice a.slog --from 610 --to 850 --output b.slog
    run_to 0 verify shoal-replay verify b.slog
    run_to 0 show shoal-replay show a.slog --tick 700
    run_to 0 part shoal-replay show b.slog --tick 700
    grep -q 'template=player component=pos ' show.out || fail "there is no player"
    cmp show.out part.out || fail "a slice shows another world"
    run_to 0 again shoal-replay verify a.slog --threads 3
}

# The match of a script goes on from its log, in another process.
case_a_script_goes_on_from_its_log() {
    play 3 700
    run_to 0 second shoal-server --resume a.slog --at 650 --listen 127.0.0.1:0 --ticks 760 --fast --log b.slog
    says second.out '^resumed tick=650 players=3$'
    verifies b.slog second
}

case_any_number_of_threads_gives_the_same_match_of_a_script() {
    local threads
    for threads in 1 3; do
        run_to 0 server shoal-server --game lua --fast --ticks 200 --listen 127.0.0.1:0 --threads $threads --log $threads.slog
        run_to 0 verify shoal-replay verify $threads.slog
        cp verify.out $threads.txt
    done
    cmp 1.txt 3.txt || fail "threads change the match"
}

# A changed script counts in the match that runs, a faulty one does not; the log verifies over both.
case_a_script_is_reloaded() {
    own_game
    start_ready server shoal-server --game ./hop.so --listen 127.0.0.1:0 --min-clients 2 --log a.slog
    SHOAL_MODULE_PATH=$PWD start client shoal-client "$(value listen server.out)" --bots 2
    await players has_lines server.err ' joined from ' 2
    echo 'function (' >>rules.lua
    kill -HUP "${pids[server]}"
    await "its fault" has_said server.err '^rules.lua:[0-9]+: error: <name> expected near'
    await "refusal" has_said server.err 'not reloaded, the match continues as it was'
    sed -i '$d' rules.lua
    change rules.lua 's/STARS = 960, 540, 14, 260, 12/STARS = 960, 540, 14, 400, 12/'
    kill -HUP "${pids[server]}"
    await reload has_said server.err 'reloaded: the match continues with it'
    await "the players" has_lines server.err ' is back after ' 2
    stop server
    ended client
    are_equal 2 server client
    SHOAL_MODULE_PATH=$PWD verifies a.slog server
}

# What a bot asks reaches the rules, and what they tell reaches its client; both are in the log.
case_a_script_asks_and_tells() {
    cp -L "$games/lua.so" hop.so
    cat >hop.blk <<'EOF'
file:t="rules.lua"
thing { "n:i"{ _replicate:b=yes; value:i=0 } "word:t"{ _replicate:b=yes; value:t="" } }
EOF
    cat >rules.lua <<'EOF'
function on_join() return create("thing") end
function bot(me, input)
    if not memory.is_asked and ask(me, "add", 3, 0.5, 0, 0, "three") then memory.is_asked = true end
end
human = bot
function on_ask(e, name, a, b, c, d, text, about)
    e.n, e.word = e.n + a * 2 * b, name .. text
    if about == e then tell(e, "sum", e.n) end
end
function on_tell(e, name, a) print(name, a, e.word, player_name(1)) end
EOF
    start_ready server shoal-server --game ./hop.so --listen 127.0.0.1:0 --min-clients 2 --ticks 120 --log a.slog
    SHOAL_MODULE_PATH=$PWD run_to 0 client shoal-client "$(value listen server.out)" --bots 2
    ends_with 0 server
    are_equal 2 server client
    has_lines client.err '^note: rules.lua:10: sum 3.0 addthree bot-1' 2 || fail "a bot did not hear its sum"
    # A person, whose world is predicted, asks as well.
    if has_window; then
        SHOAL_MODULE_PATH=$PWD SDL_VIDEODRIVER=dummy run_to 0 human shoal-client --game hop --local --render --ticks 90
        has_lines human.err '^note: rules.lua:10: sum 3.0 addthree' 1 || fail "a person hears nothing"
    fi
    SHOAL_MODULE_PATH=$PWD run_to 0 show shoal-replay show a.slog
    has_lines show.out 'template=thing component=n .*3' 2 || fail "the sums are not in the log"
    SHOAL_MODULE_PATH=$PWD verifies a.slog server
}

# The match continues without the call, and its window says why until the script is mended.
case_a_fault_of_a_script_stands_in_the_window() {
    local each
    has_window || { skip "this client has no window"; return; }
    own_game
    change rules.lua 's/^function on_tick()$/&\n    missing.x = 1/'
    export SHOAL_MODULE_PATH=$PWD SDL_VIDEODRIVER=dummy
    run_to 0 fault shoal-client --game hop --local --shot fault.png --ticks 60
    start mended shoal-client --game hop --local --shot mended.png
    await "the fault" has_said mended.err '^rules.lua:[0-9]+: error: there is no missing'
    cp "$games/lua/rules.lua" .
    await "the player" has_said mended.err ' is back after '
    stop mended
    for each in fault mended; do echo 480 45 | "$bin/shoal-pixels" $each.png | tail -n 1; done >edge.txt
    awk '{ red = $1 > 200 && $2 < 150 } red != (NR == 1) { exit 1 }' edge.txt || { cat edge.txt && fail "not the one with the fault"; }
}

case_a_script_is_checked() {
    local name
    own_game
    run_to 0 check shoal-server check --strict ./hop.so
    for name in on_tick bot draw; do
        cp "$games/lua/rules.lua" .
        change rules.lua "s/^function $name(.*/&\n    missing.x = 1/"
        run_to 2 check shoal-server check --strict ./hop.so
        says check.err "rules.lua:[0-9]+: error: there is no missing \\(in $name, tick [0-9]+; said once\\)"
    done
    # In all worlds and in the replay it is one fault, which ends the check as one; nothing follows from it.
    cp "$games/lua/rules.lua" .
    change rules.lua 's/^function on_input(.*/&\n    if tick() > 3 then missing.x = 1 end/'
    run_to 2 check shoal-server check ./hop.so
    [ "$(grep -cE 'error: |warning: ' check.err)" = 1 ] || fail "one fault is not one line"
    # What would be mute: a name that is nearly a call, a picture of what no client has.
    cp "$games/lua/rules.lua" .
    change rules.lua 's/^function on_tell/function onTell/'
    change hop.blk '/^star/,$s/_replicate:b=yes; \(_interpolate:b=yes; _teleport:r=60;\)*//'
    run_to 2 check shoal-server check ./hop.so
    says check.err "rules.lua:[0-9]+: error: nothing calls 'onTell': did you mean 'on_tell'\\?"
    says check.err "rules.lua:[0-9]+: error: no client has a 'worth': add _replicate:b=yes"
    # An endless loop is waited for once, and the check ends.
    cp "$games/lua/rules.lua" .
    change rules.lua 's/^function on_tick()$/&\n    while tick() > 1 do end/'
    run_to 2 check shoal-server check --strict ./hop.so
    says check.err 'on_tick is left out from now on, until the script is saved again'
    # No libm, no clock, no files: what Lua wants of them lies in the module.
    ! nm -D --undefined-only hop.so | grep -E ' (pow|fmod|frexp|ldexp|floor|time|clock|fopen|fopen64|getenv|rand)(@|$)' ||
        fail "the module imports functions that are not exact"
}

run_cases "$1" ${2:+"$2"}
