#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each step of the tutorial builds without warnings against the folder of a build, is played by the server's check
# (two bots, packets, prediction, a log and its re-run), and the page of lines is true. The last step is played by six
# bots over a bad network, and catches happen.
#
#     tutorial.sh BUILD COMPILER
set -euo pipefail
build=$1
compiler=$2
tutorial=$(cd "$(dirname "$0")/../../games/tutorial" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-tutorial.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
    echo "tutorial: $*" >&2
    for file in "$work"/*.out; do
        [ -e "$file" ] && { echo "--- $(basename "$file")"; tail -n 20 "$file"; } >&2
    done
    exit 1
}

cmake -S "$tutorial" -B "$work/build" -DShoal_DIR="$build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >"$work/configure.out" 2>&1 || fail "does not configure"
cmake --build "$work/build" -j 2 >"$work/build.out" 2>&1 || fail "does not build"
steps=0
for source in "$tutorial"/[1-8]_*/tag?.c; do
    step=$(basename "$source" .c)
    strict=--strict
    case $step in tag1 | tag2) strict= ;; esac # their input says nothing yet, and the check says so
    # shellcheck disable=SC2086
    "$build/bin/shoal-server" check $strict "$work/build/games/$step.so" >"$work/check.out" 2>&1 || fail "$step is refused"
    folder=$(basename "$(dirname "$source")")
    grep -q "($folder) | .* | $(wc -l <"$source") |\$" "$tutorial/README.md" || fail "README.md: lines of $step"
    steps=$((steps + 1))
done
[ "$steps" = 8 ] || fail "$steps steps"

export SHOAL_MODULE_PATH=$work/build/games
cd "$work"
"$build/bin/shoal-server" --game tag8 --listen 127.0.0.1:0 --min-clients 6 --ticks 300 --tick-rate 120 --log tag8.log \
    >"$work/server.out" 2>&1 &
server=$!
address=
for _ in $(seq 100); do
    address=$(sed -n 's/^ready listen=\([^ ]*\).*/\1/p' "$work/server.out")
    [ -n "$address" ] && break
    sleep 0.1
done
"$build/bin/shoal-client" "$address" --bots 6 --net bad >"$work/client.out" 2>&1 || fail "the clients ended with $?"
wait "$server" || fail "the server ended with $?"
"$build/bin/shoal-replay" verify tag8.log >"$work/verify.out" 2>&1 || fail "the log differs"
echo "tutorial: 8 steps build, pass the check, and the last one is played"
