#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Logs of three games as MCAP, read by npm's @mcap/core (mcap.mjs). scripts/test --web calls this:
#
#     tests/web/mcap.sh BUILD
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../e2e/lib.sh
. "$here/../e2e/lib.sh"
command -v npm >/dev/null || { echo "SKIP: npm is missing"; exit 77; }
cd "$work"
cp "$here/mcap.mjs" .
timeout 60 npm install --silent --no-audit --no-fund @mcap/core@2.2.2 fzstd@0.1.1 protobufjs@7.4.0 >npm.out 2>&1 ||
    { echo "SKIP: @mcap/core cannot be installed: $(tail -n 1 npm.out)"; exit 77; }

read_game() { # GAME PLACE: the component that its places are in
    local server=server-$1
    start "$server" shoal-server --game "$1" --listen 127.0.0.1:0 --min-clients 2 --ticks 150 --log "$1.slog"
    await "ready line of the server of $1" is_ready_or_gone "$server"
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' "$server.out")
    run client shoal-client "$address" --bots 2
    [ "$code" = 0 ] || fail "the clients of $1 ended with $code"
    ends_with 0 "$server"
    run lines shoal-replay export "$1.slog" --from 100 --to 100
    run replay shoal-replay export "$1.slog" --format mcap --output "$1.mcap"
    [ "$code" = 0 ] || fail "the export of $1 ended with $code"
    node mcap.mjs "$1.mcap" lines.out 100 "$1" "$2" || fail "@mcap/core reads something else of $1"
}

for game in arena:pos breakout:pos cubes:transform; do read_game "${game%:*}" "${game#*:}"; done
run bad shoal-replay export arena.slog --format mcap
[ "$code" = 2 ] || fail "MCAP without --output ended with $code"
