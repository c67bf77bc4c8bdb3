#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A game around a library with a state of its own. Where that state is in the world, or in what the game saves, a log
# goes on from any place; where it is in the context alone, or made again from what is seen, the tools say so.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
export SHOAL_MODULE_PATH=$build/test/rope

# plays WAY TICKS [option...]: bots push the rope; the log is a.slog.
plays() {
    start_ready server shoal-server --game rope --listen 127.0.0.1:0 --min-clients 4 --ticks "$2" --set "way=$1" \
        --log a.slog "${@:3}"
    run_to 0 clients shoal-client "$(value listen server.out)" --game rope --bots 4
    ends_with 0 server
}

case_a_state_in_a_box_or_saved_goes_on_from_any_tick() {
    local way
    for way in 0 1; do
        plays $way 700 --threads 2
        verifies a.slog server
        run_to 0 late shoal-replay verify a.slog --from 650
        run_to 0 slice shoal-replay slice a.slog --from 640 --output clip$way.slog
        verifies clip$way.slog
        says verify.out ' first_tick=601$'
        run_to 0 resumed shoal-server --resume a.slog --at 650 --listen 127.0.0.1:0 --ticks 760 --fast --log b$way.slog
        verifies b$way.slog resumed
    done
}

case_a_state_in_the_context_is_named() {
    local way
    for way in 2 3; do
        plays $way 200
        run_to 5 verify shoal-replay verify a.slog
        says verify.out '^diverged tick=[0-9]+ component=at '
        says verify.out '^note: .*keeps state outside of its world'
    done
}

case_a_reload_keeps_the_state_of_a_library() {
    local way
    for way in 0 1; do
        mkdir game$way
        cp "$build"/test/rope/rope.* game$way/
        start_ready server shoal-server --game game$way/rope.so --listen 127.0.0.1:0 --set way=$way --log r$way.slog
        start clients shoal-client "$(value listen server.out)" --game game$way/rope.so --bots 4
        await players has_lines server.err ' joined from ' 4
        rest 1
        cp game$way/rope.so other.so
        echo >>other.so # another build
        mv other.so game$way/rope.so
        kill -HUP "${pids[server]}"
        await "a reload" has_said server.err 'rope.blk: note: reloaded: the match continues with it'
        rest 0.5
        stop server
        ends_with 0 clients
        run_to 0 verify shoal-replay verify r$way.slog --game game$way/rope.so
        says verify.out "^verified ticks=$(value ticks server.out) "
        # A rope that was that is new could not be so far away after one tick.
        run info shoal-replay info r$way.slog
        run_to 0 export shoal-replay export r$way.slog --what components=at --to "$(value first_tick info.out)"
        says export.out '"at":-?([1-9]|0\.[5-9])'
    done
}

run_cases "$@"
