#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Arena in another engine: the example for LÖVE, in a window of its own display, played by keys and pointer.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Keeps pictures until one shows that the server has taken a shot from the ammunition: a slow frame is no reason to fail.
has_fired() {
    xdotool key F12
    rest 0.1
    has_said love.out ' ammo=[1-3][0-9]$' || has_ended love
}

# The picture is of a tick that is ahead of the server's: the log must have it, and the one after it.
has_been_shot() {
    local shot=$(grep ^shot love.out | tail -n 1 | sed -E 's/.*tick=([0-9]*).*/\1/') ticks
    kill -USR1 "${pids[server]}"
    rest 0.1
    ticks=$(sed -n 's/^note: status tick=\([0-9]*\) .*/\1/p' server.err | tail -n 1)
    [ "${ticks:-0}" -gt $((shot + 1)) ]
}

is_playing_or_gone() { has_said server.err ' joined ' || has_ended love; }

case_love_draws_plays_and_sounds() {
    local program
    for program in love Xvfb xdotool luajit python3; do
        command -v $program >/dev/null || { skip "$program is not installed"; return 0; }
    done
    # LuaJIT and Python cannot load a library that was built with a sanitizer.
    ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt" || { skip "a build with a sanitizer"; return 0; }

    Xvfb -displayfd 5 -screen 0 1280x720x24 5>display.txt >Xvfb.out 2>Xvfb.err &
    pids[Xvfb]=$!
    await "display" test -s display.txt
    export DISPLAY=:$(<display.txt) SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 PYTHONDONTWRITEBYTECODE=1
    start_ready server shoal-server --game arena --listen 127.0.0.1:0 --min-clients 1 --tick-rate 60 --set agents=300 --log match.slog
    : >love.out
    HOME=$PWD ALSOFT_DRIVERS=null love "$root/client/examples/love" "$(value listen server.out)" name=Ada fps=30 \
        shot=shot.png >love.out 2>love.err &
    pids[love]=$!
    await "player" is_playing_or_gone
    # To the right while the pointer is above, shooting.
    xdotool mousemove 640 100 keydown d mousedown 1 || fail "no hands"
    await "shot" has_fired
    await "tick of the picture" has_been_shot
    kill -INT "${pids[server]}"
    ends_with 0 love server
    kill "${pids[Xvfb]}"
    wait "${pids[Xvfb]}" || true
    unset "pids[Xvfb]"

    are_equal 1 server love
    says love.out '^client id=1 tick=[0-9]+ .* frames=[1-9][0-9]* sounds=[1-9][0-9]* end=goodbye$'
    LUA_PATH=$root/client/examples/love/?.lua luajit >rocks.txt -e \
        'for _, rock in ipairs(require "rocks") do print(rock.x, rock.y, rock.radius) end'
    # shellcheck disable=SC2046
    PYTHONPATH=$root/client/python python3 "$root/tests/e2e/love.py" match.slog rocks.txt \
        $(grep ^shot love.out | tail -n 1 | sed -E 's/.*tick=([^ ]*) camera=([^,]*),([^ ]*) .*/\1 \2 \3/') \
        "$bin/shoal-pixels" shot.png >looked.out 2>looked.err || fail "the picture"
    cat looked.out
}

run_cases "$@"
