#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Players of browsers, by node (play.mjs) with the games' wasm, beside bots of ENet. The build has SHOAL_WEB=ON and libwslay.
# scripts/test --web calls this:
#
#     tests/web/play.sh BUILD [CASE]
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../e2e/lib.sh
. "$here/../e2e/lib.sh"
command -v node >/dev/null || { echo "SKIP: node is missing: nodejs"; exit 77; }
node=(node)
node --experimental-websocket -e 0 2>/dev/null && node+=(--experimental-websocket)
"${node[@]}" -e 'process.exit(typeof WebSocket === "undefined" ? 1 : 0)' 2>/dev/null || { echo "SKIP: this node has no WebSocket"; exit 77; }
[ -e "$build/lib/shoal/web/arena.wasm" ] || { echo "SKIP: $build was built without -DSHOAL_WEB=ON"; exit 77; }

# node takes a file.js as a module where its folder says so.
play_files() {
    cp "$here"/../../server/inspect/page/{game,paint,play}.js "$here/play.mjs" .
    echo '{"type": "module"}' >package.json
}

# open_match GAME CLIENTS TICKS [option...]: a server that waits for so many.
open_match() {
    play_files
    start server shoal-server --game "$1" --listen 127.0.0.1:0 --http 127.0.0.1:0 --log none --min-clients "$2" --ticks "$3" "${@:4}"
    await "ready line" is_ready_or_gone server
    address=$(value listen server.out) page=$(value http server.out)
}

# pages NAME GAME HOST:PORT COUNT [word...]: players in the background.
pages() {
    "${node[@]}" play.mjs "$build/lib/shoal/web" "$2" "ws://$3/play/socket" "${@:4}" >"$1.out" 2>"$1.err" {silence}<&- &
    pids[$1]=$!
}

case_browsers_and_bots_see_one_match() {
    local game more=()
    for game in breakout arena; do # by several threads, too
        [ $game = breakout ] || more=(--tune net-threads=2)
        open_match $game 6 400 "${more[@]}"
        start bots shoal-client "$address" --headless --bots 4
        pages pages $game "${page#http://}" 2
        ends_with 0 pages bots server
        are_equal 6 server bots pages
        grep -o 'frame_ms_mean=.*' pages.out | sed "s/^/$game: /"
    done
}

case_a_line_that_stalls_and_breaks_keeps_its_players() {
    open_match arena 4 600
    python3 "$here/stall.py" "${page#http://}" >stall.out 2>stall.err {silence}<&- &
    pids[stall]=$!
    await "port" grep -q port= stall.out
    start bots shoal-client "$address" --headless --bots 2
    pages pages arena "127.0.0.1:$(value port stall.out)" 2
    ends_with 0 pages bots server
    slay stall
    are_equal 4 server bots pages
    [ "$(grep -c '^lasted resumes=[1-9][0-9]* numbers=[0-9]*$' pages.out)" = 2 ] || fail "not the same players: $(cat pages.out)"
    grep '^lasted' pages.out
}

case_tokens_say_who_may_play() {
    run_to 0 keygen shoal-server keygen key
    run_to 0 tokens shoal-server token --key-file key --count 2 --life 600
    open_match breakout 1 240 --key-file key
    pages without breakout "${page#http://}" 1
    ends_with 0 without
    grep -q '^refused: .*lets in only players with a token' without.out || fail "without a token: $(cat without.out)"
    pages wrong breakout "${page#http://}" 1 token="$(sed '1!d; s/^\(.\{60\}\)./\1_/' tokens.out)"
    ends_with 0 wrong
    grep -q '^refused: .*does not know this token' wrong.out || fail "a wrong token: $(cat wrong.out)"
    pages pages breakout "${page#http://}" 1 token="$(sed 1d tokens.out)"
    ends_with 0 pages server
    are_equal 1 server pages
}

run_cases "$@"
