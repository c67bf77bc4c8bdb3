#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A log as pictures, and in a window without a display.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER

record() { # LOG TICKS
    serve server --min-clients 2 --ticks "$2" --log "$1" --set ball_speed=1.6
    run client shoal-client "$address" --bots 2 --name Ann
    ends_with 0 server
}

shot() { # FILE LOG [option...]
    local file=$1
    shift
    run_to 0 shot shoal-client --replay "$@" --shot "$file"
    [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "$file is no PNG"
}

case_a_picture_shows_the_view_of_a_client_and_an_entity() {
    record a.slog 240
    shot plain.png a.slog --at 200
    shot client.png a.slog --at 200 --replay client=1
    shot entity.png a.slog --at 200 --replay inspect=2:1
    shot gone.png a.slog --at 200 --replay inspect=4000000:7
    cmp -s plain.png client.png && fail "the view of a client is that of a spectator"
    cmp -s plain.png entity.png && fail "the inspector shows nothing"
    cmp -s gone.png entity.png && fail "an entity that is gone is shown"
    run shot shoal-client --replay a.slog --replay inspect=2 --shot no.png
    [ "$code" = 2 ] && says shot.err "'2' is not INDEX:GENERATION"
}

case_two_shots_of_one_tick_are_the_same_bytes() {
    record a.slog 360
    local tick
    for tick in 1 240 300.5; do
        shot first.png a.slog --at $tick
        shot again.png a.slog --at $tick
        cmp first.png again.png || fail "two pictures of tick $tick"
        mv first.png "at-$tick.png"
    done
    cmp -s at-1.png at-240.png && fail "ticks 1 and 240 are one picture"
    cmp -s at-240.png at-300.5.png && fail "ticks 240 and 300.5 are one picture"
    # The last tick, chosen in different ways.
    shot last.png a.slog
    shot beyond.png a.slog --at 100000
    cmp last.png beyond.png
    # With the panel below, and in another size.
    shot strip.png a.slog --at 240 --window panel
    cmp -s strip.png at-240.png && fail "there is no strip"
    shot strip2.png a.slog --at 240 --window panel
    cmp strip.png strip2.png
    shot small.png a.slog --at 240 --window size=320x200
    [ "$(od -An -tu1 -j 16 -N 8 small.png | tr -s ' ')" = " 0 0 1 64 0 0 0 200" ] ||
        fail "another size than 320x200"
}

case_a_picture_that_cannot_be_written_is_an_error() {
    record a.slog 30
    run_to 1 shot shoal-client --replay a.slog --shot nowhere/a.png
    says shot.err 'nowhere/a\.png'
}

case_a_window_that_nobody_sees_plays_to_the_end() {
    record a.slog 240
    run_to 0 play shoal-client --replay a.slog --render --speed 16
    says play.out '^frames n=[0-9]+ '
    [ "$(value n play.out)" -ge 5 ] || fail "it drew hardly anything"
}

run_cases "$@"
