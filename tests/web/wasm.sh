#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Matches of the games, their logs run again, shown and attacked as WebAssembly by node (wasm.mjs). The build has
# SHOAL_WEB=ON. scripts/test --web calls this:
#
#     tests/web/wasm.sh BUILD
#     tests/web/wasm.sh BUILD GAME FILE.slog      measures a log: the first picture, and those of any tick
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../e2e/lib.sh
. "$here/../e2e/lib.sh"
command -v node >/dev/null || { echo "SKIP: node is missing: nodejs"; exit 77; }
[ -e "$build/lib/shoal/web/arena.wasm" ] || { echo "SKIP: $build was built without -DSHOAL_WEB=ON"; exit 77; }

log=${3:+$(realpath "$3")}
cd "$work"
# node takes a file.js as a module where its folder says so.
cp "$here"/../../server/inspect/page/{game,paint}.js "$here/wasm.mjs" .
echo '{"type": "module"}' >package.json
if [ -n "$log" ]; then
    node wasm.mjs "$build/lib/shoal/web" "$2" "$log"
    exit
fi
all=(arena breakout cubes)
[ ! -e "$build/lib/shoal/web/crates.wasm" ] || all+=(crates)
[ ! -e "$build/lib/shoal/web/hop.wasm" ] || all+=(hop) # a script
export SHOAL_MODULE_PATH=$build/hop
for game in "${all[@]}"; do
    run make shoal-bench --make-log $game --clients 6 --hours 0.007 --output $game.slog
    [ "$code" = 0 ] || fail "no log of $game"
    run replay shoal-replay verify $game.slog --once
    [ "$code" = 0 ] || fail "$game.slog does not verify"
    run client shoal-client --local --game $game --bots 3 --ticks 120 --record $game-seen.slog
    [ "$code" = 0 ] || fail "the client ended with $code"
done
run arena-client shoal-replay show arena.slog --tick 700,client=2
[ "$code" = 0 ] || fail "the log cannot be sent again"
mv arena-client.out arena-client.txt
start server shoal-server --game arena --listen 127.0.0.1:0 --min-clients 0 --ticks 2000 --fast --log parts.slog --log-segment-s 5
ends_with 0 server
[ "$(find . -name 'parts.slog*' | wc -l)" -ge 3 ] || fail "the log has too few segments"
# What an operator does to the match is in its log: marks, and a setting.
start server shoal-server --game breakout --listen 127.0.0.1:0 --min-clients 0 --tick-rate 240 --log marked.slog --control socket --allow-edits
await "ready line" is_ready_or_gone server
for order in "mark first blood" "mark Größe" "set lives=7" "mark %s" "step 3" end; do
    # shellcheck disable=SC2086
    run order shoal-ctl --socket socket $order
    [ "$code" = 0 ] || fail "$order ended with $code"
    cat order.out >>orders.out
    rest 0.1
done
ends_with 0 server
[ "$(grep -c '"error"' orders.out)" = 0 ] || fail "refused: $(cat orders.out)"
# What a reader's page gets of a match that runs.
start server shoal-server --game breakout --listen 127.0.0.1:0 --http 127.0.0.1:0 --min-clients 2 --tick-rate 240 --log watched.slog --log-segment-s 6
await "ready line" is_ready_or_gone server
start bots shoal-client "$(value listen server.out)" --headless --bots 2
await "a second segment" test -e watched.slog.seg0001
node wasm.mjs "$build/lib/shoal/web" "${all[@]}" "$(value http server.out)"
