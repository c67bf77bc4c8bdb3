#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A log as MCAP, read by npm's @mcap/core (mcap.mjs). scripts/test --web calls this:
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

start server shoal-server --game arena --listen 127.0.0.1:0 --min-clients 2 --ticks 150 --log a.slog
await "ready line of server" is_ready_or_gone server
address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' server.out)
run client shoal-client "$address" --bots 2
[ "$code" = 0 ] || fail "the clients ended with $code"
ends_with 0 server
run bad shoal-replay export a.slog --format mcap
[ "$code" = 2 ] || fail "MCAP without --output ended with $code"
run lines shoal-replay export a.slog --components pos --from 100 --to 100
run replay shoal-replay export a.slog --format mcap --output a.mcap
[ "$code" = 0 ] || fail "the export ended with $code"
node mcap.mjs a.mcap lines.out 100 || fail "@mcap/core reads something else"
