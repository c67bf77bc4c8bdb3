#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Play breakout with four bots and draw a tick of its log twice: the pictures must be the same bytes.
#
#   picture.sh BUILD [FILE.svg TICK LEVEL]     with a file: keep the picture of that tick
#
# Bots play over real sockets, so another match gives another picture.
set -euo pipefail
build=$1
out=${2:-}
tick=${3:-230}
level=${4:-1}
work=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

: >"$work/server.out" # before the server, which may be late to make it
"$build/bin/shoal-server" --game breakout --listen 127.0.0.1:0 --min-clients 4 --seed 1 \
    --set level="$level" --ticks "$((tick + 10))" --log "$work/match.slog" >"$work/server.out" &
server=$!
address=""
for _ in $(seq 3000); do
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' "$work/server.out")
    [ -n "$address" ] && break
    sleep 0.1
done
"$build/bin/shoal-client" "$address" --headless --bots 4 >"$work/client.out"
wait "$server"
server=""

for name in a b; do
    "$build/bin/shoal-picture" "$work/match.slog" --game breakout --at "$tick" --out "$work/$name.svg"
done
cmp "$work/a.svg" "$work/b.svg"
bytes=$(wc -c <"$work/a.svg")
grep -q '<circle' "$work/a.svg" && grep -q "LEVEL $level" "$work/a.svg" && tail -n 1 "$work/a.svg" | grep -qx '</svg>'
[ "$bytes" -lt 60000 ] || { echo "the picture takes $bytes bytes"; exit 1; }
if [ -n "$out" ]; then cp "$work/a.svg" "$out"; fi
echo "picture tick=$tick bytes=$bytes"
