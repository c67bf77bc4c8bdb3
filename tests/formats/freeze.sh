#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Once for each version, by hand, as the last change before its tag: puts what this build writes into tests/formats/VERSION,
# where no one writes again (README.md), and gives the unreleased changes of CHANGELOG.md their version.
#
#     tests/formats/freeze.sh BUILD         (the version is that of CMakeLists.txt)
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^project(shoal VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
target=$root/tests/formats/$version
[ ! -e "$target" ] || { echo "freeze: $target is there: a version is frozen once" >&2; exit 1; }
export PATH=$bin:$PATH SHOAL_MODULE_PATH=$build/test/sample:$games
mkdir "$work/frozen"
cd "$work/frozen"

# match NAME GAME [option...]
match() {
    local name=$1
    start "$name" shoal-server --game "$2" --listen 127.0.0.1:0 --seed 7 --min-clients 2 --log "$name.slog" "${@:3}"
    await "ready line of $name" is_ready_or_gone "$name"
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' "$name.out")
}
# Most samples have 420 ticks at 20 Hz, so keyframes at 200 and 400.
long=(--tick-rate 20 --ticks 420)
bots() { start bots shoal-client "$address" --bots 2 --net bad "$@"; }
over() { # NAME
    ended "$1"
    ended bots
}
has_tick() { [ "$(shoal-replay info "$1.slog" 2>/dev/null | value last_tick)" -ge "$2" ] 2>/dev/null; }
ctl() { shoal-ctl --socket control.sock "$@" >>ctl.out; }

(umask 077 && shoal-server keygen server.key && shoal-server keygen --log sign.key) >keygen.out

# Segments, signed; what a client recorded of the same match; a part that was cut out.
match signed sample "${long[@]}" --log key=sign.key --log-segment-s 10
bots --record record.slog
over signed
mv sign.key.pub signed.key.pub
run slice shoal-replay slice signed.slog --from 250 --to 300 --output slice.slog

# No values.
match inputs sample "${long[@]}" --log content=inputs
bots
over inputs

# What an operator did.
match controls sample "${long[@]}" --control control.sock --allow-edits --set speed=200
bots
await "ticks" has_tick controls 60
ctl say a first line
ctl set speed=90
ctl mark here
ctl put 1:1 pos.x 300
ctl pause
rest 0.5
ctl resume
over controls

# kill -9, with the queue that it leaves, and another server that goes on.
match killed sample "${long[@]}" --key-file server.key
(umask 077 && shoal-server token --key-file server.key --server "$address" --player 1,count=2 >tokens)
bots --token-file tokens
await "a keyframe" has_tick killed 230
kill -KILL "${pids[killed]}"
ended killed
start goes_on shoal-server --resume killed.slog --at 220 --listen "$address" --ticks 420 --key-file server.key --log goes_on.slog
over goes_on
gzip -9n killed.slog.queue

# Another version of the game in the middle of a match.
cp "$build/test/sample/sample.so" "$build/test/sample/sample.blk" .
match reload ./sample.so "${long[@]}"
bots --game ./sample.so
await "ticks" has_tick reload 60
echo 'lamp { "glow:i"{ _replicate:b=yes; value:i=1 } }' >>sample.blk
kill -HUP "${pids[reload]}"
over reload

# Rows of the games that are shipped, which may change.
for game in arena breakout cubes; do
    match $game $game --ticks 60 $([ $game = arena ] && echo --set agents=60) $([ $game = cubes ] && echo --set cubes=200)
    bots
    over $game
done

mkdir result
mv ./*.slog ./*.slog.seg* killed.slog.queue.gz signed.key.pub result/
cp "$root/proto/"{*.md,*.proto,*_vectors.txt} result/
cp -r result "$target"
"$root/tests/formats/check.sh" "$build" "$version" --bless
sed -i "s/^## Unreleased$/## $version/" "$root/.github/CHANGELOG.md"
echo "frozen: git add tests/formats/$version .github/CHANGELOG.md"
