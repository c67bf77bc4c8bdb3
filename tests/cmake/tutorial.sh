#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each step of the tutorial builds without warnings against the folder of a build, is played by the server's check
# (two bots, packets, prediction, a log and its re-run), and the page of lines is true. The last step is played by six
# bots over a bad network, and catches happen.
#
#     tutorial.sh BUILD COMPILER
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
compiler=$2
tutorial=$(cd "$(dirname "$0")/../../games/tutorial" && pwd)
cd "$work"

# The folder of the build is found as the page says.
# shellcheck disable=SC2016
grep -qx 'PATH="$PATH:$PWD/../../build/bin"' "$tutorial/README.md" || fail "README.md: how Shoal is found"
PATH="$PATH:$build/bin" cmake -S "$tutorial" -B "$work/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >"$work/configure.out" 2>&1 || fail "does not configure"
cmake --build "$work/build" -j 2 >"$work/build.out" 2>&1 || fail "does not build"
steps=0
for source in "$tutorial"/[1-4]_*/tag?.c; do
    step=$(basename "$source" .c)
    strict=--strict
    case $step in tag1 | tag2) strict= ;; esac # their input says nothing yet, and the check says so
    # shellcheck disable=SC2086
    run check shoal-server check $strict "$work/build/games/$step.so"
    [ "$code" = 0 ] || fail "$step is refused"
    folder=$(basename "$(dirname "$source")")
    grep -q "($folder) | .* | $(wc -l <"$source") |\$" "$tutorial/README.md" || fail "README.md: lines of $step"
    steps=$((steps + 1))
done
[ "$steps" = 4 ] || fail "$steps steps"

export SHOAL_MODULE_PATH=$work/build/games
start server shoal-server --game tag4 --listen 127.0.0.1:0 --min-clients 6 --ticks 300 --tick-rate 120 --log tag4.log
await "ready line" is_ready_or_gone server
run client shoal-client "$(value listen server.out)" --bots 6 --net bad
[ "$code" = 0 ] || fail "the clients ended with $code"
ends_with 0 server
verifies tag4.log server

# The match as a film, with the game's pictures; without them each is named once, and squares are shown.
if [ -x "$build/bin/shoal-pixels" ]; then
    unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER
    run film shoal-client --replay tag4.log --at 200 --shot drawn.png
    [ "$code" = 0 ] && [ ! -s film.err ] || fail "the film ended with $code"
    mv "$work/build/games/tag4" "$work/away"
    run bare shoal-client --replay tag4.log --at 200 --shot bare.png
    [ "$code" = 0 ] || fail "the film without pictures ended with $code"
    for name in runner tree; do
        says bare.err "$name.png: error: is missing: put $name.png into the folder assets"
        [ "$(grep -c "$name.png: error" bare.err)" = 1 ] || fail "$name.png is named more than once"
    done
    cmp -s drawn.png bare.png && fail "the film has no pictures"
fi
echo "tutorial: 4 steps build, pass the check, and the last one is played"
