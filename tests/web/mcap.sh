#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Logs of three games as MCAP (scripts/mcap), read by npm's @mcap/core (mcap.mjs). scripts/test --web calls this:
#
#     tests/web/mcap.sh BUILD
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../e2e/lib.sh
. "$here/../e2e/lib.sh"
command -v npm >/dev/null || { echo "SKIP: npm is missing"; exit 77; }
cd "$work"
mcap=$here/../../scripts/mcap
export XDG_CACHE_HOME=$work
# What it lacks it names, with the command that installs it.
! "$mcap" none.mcap </dev/null 2>mcap.err || fail "without its packages it makes a file"
install=$(sed -n 's/^mcap: its packages are not installed: //p' mcap.err)
[ -n "$install" ] || fail "it says something else: $(cat mcap.err)"
# shellcheck disable=SC2086
timeout 60 $install fzstd@0.1.1 --silent --no-audit --no-fund >npm.out 2>&1 ||
    { echo "SKIP: @mcap/core cannot be installed: $(tail -n 1 npm.out)"; exit 77; }
cp "$here/mcap.mjs" shoal-mcap

read_game() { # GAME PLACE: the component that its places are in
    local server=server-$1
    start "$server" shoal-server --game "$1" --listen 127.0.0.1:0 --min-clients 2 --ticks 150 --log "$1.slog"
    await "ready line of the server of $1" is_ready_or_gone "$server"
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' "$server.out")
    run client shoal-client "$address" --bots 2
    [ "$code" = 0 ] || fail "the clients of $1 ended with $code"
    ends_with 0 "$server"
    run lines shoal-replay export "$1.slog" --from 100 --to 100
    run replay shoal-replay export "$1.slog" --what all,every=5
    [ "$code" = 0 ] || fail "the export of $1 ended with $code"
    "$mcap" "$1.mcap" <replay.out || fail "no MCAP of $1"
    node shoal-mcap/mcap.mjs "$1.mcap" lines.out 100 "$1" "$2" || fail "@mcap/core reads something else of $1"
}

for game in arena:pos breakout:pos cubes:transform; do read_game "${game%:*}" "${game#*:}"; done
for bad in 'mcap none.mcap' 'mcap' 'mcap a b'; do
    # shellcheck disable=SC2086
    ! "$here"/../../scripts/$bad <lines.out 2>mcap.err || fail "$bad ended with 0"
    [ -s mcap.err ] && [ ! -e none.mcap ] || fail "$bad says nothing, or makes a file"
done
