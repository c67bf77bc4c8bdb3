#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Players of browsers, by node (play.mjs) with the games' wasm, beside bots of ENet. The build has SHOAL_WEB=ON and libwslay.
# scripts/test --web calls this:
#
#     tests/web/play.sh BUILD [CASE]
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../e2e/lib.sh
. "$here/../e2e/lib.sh"
umask 077 # for files of keys and tokens
# shellcheck source=../e2e/broker.sh
. "$here/../e2e/broker.sh"
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
    start server shoal-server --game "$1" --listen 127.0.0.1:0 --http 127.0.0.1:0 --log none --tune coder=solo --min-clients "$2" --ticks "$3" "${@:4}"
    await "ready line" is_ready_or_gone server
    address=$(value listen server.out) page=$(value http server.out)
}

# pages NAME GAME [wss://]HOST:PORT[,HOST:PORT] COUNT [word...]: players in the background.
pages() {
    local url=${3//,//play/socket,ws://}/play/socket
    [[ $url == wss://* ]] || url=ws://$url
    "${node[@]}" play.mjs "$build/lib/shoal/web" "$2" "$url" "${@:4}" >"$1.out" 2>"$1.err" {silence}<&- &
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

case_a_page_of_its_own_reads_and_plays() {
    local js=$here/../../client/js
    play_files
    cp "$js/shoal.js" "$js/types.mjs" "$here/shoal.mjs" .
    start server shoal-server --game arena --listen 127.0.0.1:0 --http 127.0.0.1:0 --log arena.slog --min-clients 4 --ticks 500
    await "ready line" is_ready_or_gone server
    address=$(value listen server.out) page=$(value http server.out)
    start bots shoal-client "$address" --headless --bots 3
    "${node[@]}" shoal.mjs "$build/lib/shoal/web/arena.wasm" "ws://${page#http://}/play/socket" >page.out 2>page.err {silence}<&- &
    pids[page]=$!
    ends_with 0 page bots server
    are_equal 4 server bots page
    grep '^page' page.out
    "${node[@]}" shoal.mjs "$build/lib/shoal/web/arena.wasm" - log=arena.slog || fail "the log is not read"
    node types.mjs "$build/lib/shoal/web/arena.wasm" >arena.d.ts || fail "no types"
    grep -q '^        pos: {x: number; y: number};' arena.d.ts || fail "other types: $(cat arena.d.ts)"
}

case_a_page_of_its_own_goes_on_to_another_match() {
    local here_page
    cp "$here/../../client/js/shoal.js" "$here/shoal.mjs" .
    run_to 0 keygen shoal-server keygen keys
    run_to 0 token shoal-server token --key-file keys --player 7
    start there shoal-server --game arena --listen 127.0.0.1:0 --http 127.0.0.1:0 --log none --key-file keys
    start here shoal-server --game breakout --listen 127.0.0.1:0 --http 127.0.0.1:0 --log none --control here.sock
    await "ready lines" is_ready_or_gone there
    await "ready lines" is_ready_or_gone here
    here_page=$(value http here.out)
    "${node[@]}" shoal.mjs - "$here_page/play" follow=arena >page.out 2>page.err {silence}<&- &
    pids[page]=$!
    await "the page" has_said here.err ' joined from '
    rest 1
    run_to 0 ctl shoal-ctl --socket here.sock transfer 1 "$(value listen there.out)" "$(cat token.out)" "$(value http there.out)/play"
    ends_with 0 page
    has_lines page.out '^client id=1 .* end=transferred$' 1 && has_lines page.out '^client id=1 .* end=left$' 1 || fail "it did not go on"
    stop here there
}

case_a_page_of_its_own_plays_by_a_host() {
    cp "$here"/../../client/js/{shoal.js,serve.mjs} .
    echo '{"type": "module"}' >package.json
    printf '%s\n' 'http = 127.0.0.1:0' 'open = yes' 'folder = run' 'drain = 0' 'game arena {' 'players = 2' 'options = --ticks 3600' '}' >host.conf
    start_ready host shoal-host host.conf
    "${node[@]}" serve.mjs . "$(value http host.out)" >serve.out 2>serve.err {silence}<&- &
    pids[serve]=$!
    await "its address" grep -q '^http' serve.out
    "${node[@]}" --input-type=module - "$(cat serve.out)" >page.out 2>page.err {silence}<&- <<'PAGE' &
import assert from "node:assert/strict";
import {join} from "./shoal.js";
const here = process.argv[2];
await assert.rejects(join("http://127.0.0.1:1/play"), /^Error: http:.*: no answer, or not of the page's origin$/);
assert.equal((await fetch(`${here}api/v1/status`)).status, 404, "more than a player's paths is passed");
const match = await join(`${here}v1/join`, {game: "arena", name: "own", resume: false, filter: {filter: {map: "ice"}}});
assert(match.options.urls[0].startsWith(`${here.replace("http", "ws")}m/`), `other addresses: ${match.options.urls}`);
for (let i = 0; i < 50; i++, await new Promise((then) => setTimeout(then, 10))) match.frame();
await match.leave();
console.log(match.core.words("play_line"));
process.exit(0);
PAGE
    pids[page]=$!
    ends_with 0 page
    has_lines page.out '^client id=1 .* end=left$' 1 || fail "it did not play"
    drop serve
    stop host
}

case_a_page_of_its_own_comes_back_after_a_line_broke() {
    open_match arena 3 600
    cp "$here/../../client/js/shoal.js" "$here/shoal.mjs" .
    python3 "$here/stall.py" "${page#http://}" >stall.out 2>stall.err {silence}<&- &
    pids[stall]=$!
    await "port" grep -q port= stall.out
    start bots shoal-client "$address" --headless --bots 2
    "${node[@]}" shoal.mjs "$build/lib/shoal/web/arena.wasm" "ws://127.0.0.1:$(value port stall.out)/play/socket" >page.out 2>page.err {silence}<&- &
    pids[page]=$!
    ends_with 0 page bots server
    slay stall
    are_equal 3 server bots page
    grep -q '^page .* resumes=[1-9]' page.out || fail "it did not come back: $(cat page.out)"
}

case_a_script_is_played_in_browsers_by_its_rules() {
    [ -e "$build/lib/shoal/web/hop.wasm" ] || { skip "no hop.wasm"; return; }
    export SHOAL_MODULE_PATH=$build/hop
    cp -rL "$build/hop" own
    mkdir -p own/build/web
    cp "$build/lib/shoal/web/hop.wasm" own/build/web/
    open_match own/hop.so 5 300
    "${node[@]}" -e "fetch('$page/game/hop.wasm').then((answer) => process.exit(answer.ok ? 0 : 1))" || fail "the page does not get a script's game"
    "${node[@]}" -e "import('./game.js').then(async ({Match}) => { const match = new Match(await WebAssembly.compile(require('fs').readFileSync('own/build/web/hop.wasm')));
        process.exit(match.json(match.call('play_tables')).actions.map(({label}) => label).join() === 'up,down,left,right,brake,b,c,d' ? 0 : 1); })" || fail "the script's name of its button is not on the page"
    start bots shoal-client "$address" --headless --bots 3
    pages pages hop "${page#http://}" 2
    ends_with 0 pages bots server
    are_equal 5 server bots pages
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

# takes_over MEMBERS: the match of server first, with as many pages, goes on at two standbys in turn, when the one that has it dies.
takes_over() {
    local i on
    pages pages arena "$1" 4 token="$(paste -sd, tokens.out)"
    on=first
    await "players" has_lines pages.out '^plays .* resumes=0' 4
    for i in 1 2; do
        slay $on
        await "takeover $i" has_taken_over $((i + 1))
        on=$(grep -l "^takeover epoch=$((i + 1)) " second.out third.out) on=${on%.out}
        await "players at $on" has_lines $on.err '^note: client [1-4] "page-[1-4]" is back after' 4
        await "ticks of $on" has_lines pages.out "^plays .* resumes=$i" 4
    done
    stop $on
    ends_with 0 pages
    are_equal 4 $on pages
    [ "$(grep -c '^lasted resumes=2 numbers=[0-9]*$' pages.out)" = 4 ] || fail "not the same players: $(cat pages.out)"
    grep '^lasted' pages.out
}
has_taken_over() { grep -qs "^takeover epoch=$1 " second.out third.out; }
# fleet [option...]: servers first, second and third of one match, at $members.
fleet() {
    local i names=(first second third) source
    members=
    for i in 1 2 3; do free_port && members+=,$free; done
    members=${members#,}
    run_to 0 keygen shoal-server keygen key
    run_to 0 tokens shoal-server token --key-file key --player count=4 --life 600
    play_files
    broker -1
    for i in 1 2 3; do
        source=(--standby "${stream:-}" --tune takeover-ms=1000)
        [ $i != 1 ] || source=(--game arena --stream "$nats" --min-clients 4)
        start_ready ${names[i - 1]} shoal-server "${source[@]}" --listen 127.0.0.1:0 --http "$(cut -d, -f$i <<<"$members")$1" --key-file key \
            --log ${names[i - 1]}.slog
        [ $i != 1 ] || stream=$(value stream first.out)
        [ $i = 1 ] || await "a standby" has_said ${names[i - 1]}.err '^note: stands by at tick'
    done
}
case_pages_go_on_at_standbys_when_their_server_dies() {
    command -v nats-server >/dev/null || { skip "nats-server is missing"; return; }
    fleet ""
    takes_over "$members"
}

case_a_page_of_its_own_goes_on_at_a_standby() {
    command -v nats-server >/dev/null || { skip "nats-server is missing"; return; }
    local on other=second
    fleet ""
    cp "$here/../../client/js/shoal.js" "$here/shoal.mjs" .
    pages pages arena "$members" 3 token="$(sed 1d tokens.out | paste -sd,)"
    "${node[@]}" shoal.mjs "$build/lib/shoal/web/arena.wasm" "ws://${members//,//play/socket,ws://}/play/socket" "token=$(head -n 1 tokens.out)" \
        >page.out 2>page.err {silence}<&- &
    pids[page]=$!
    await "players" has_lines pages.out '^plays .* resumes=0' 3
    slay first
    await "a takeover" has_taken_over 2
    on=$(grep -l "^takeover epoch=2 " second.out third.out) on=${on%.out}
    await "players at $on" has_lines $on.err '^note: client [1-4] ".*" is back after' 4
    await "ticks of $on" has_lines pages.out '^plays .* resumes=1' 3
    [ $on != second ] || other=third
    stop $on
    ends_with 0 pages page $other
    are_equal 4 $on pages page
    grep -q '^page .* resumes=1 ' page.out || fail "it did not go on: $(cat page.out)"
}

case_nginx_is_before_the_servers_of_one_match() {
    for tool in nats-server nginx openssl; do command -v $tool >/dev/null || { skip "$tool is missing"; return; }; done
    know play.example 127.0.0.1 || { skip "libnss-wrapper is missing"; return; }
    fleet ,host=play.example
    free_port
    port=${free##*:} # the broker has another
    # shellcheck disable=SC2086
    proxy "$port" ${members//,/ }
    export NODE_TLS_REJECT_UNAUTHORIZED=0 # its own certificate
    takes_over "wss://play.example:$port"
    drop nginx
}

case_tokens_say_who_may_play() {
    run_to 0 keygen shoal-server keygen key
    run_to 0 tokens shoal-server token --key-file key --player count=2 --life 600
    open_match breakout 1 240 --key-file key
    pages without breakout "${page#http://}" 1
    ends_with 0 without
    grep -q '^refused: .*lets in only players with a token' without.out || fail "without a token: $(cat without.out)"
    pages wrong breakout "${page#http://}" 1 token="$(damaged_token "$(head -n 1 tokens.out)")"
    ends_with 0 wrong
    grep -q '^refused: .*does not know this token' wrong.out || fail "a wrong token: $(cat wrong.out)"
    pages pages breakout "${page#http://}" 1 token="$(sed 1d tokens.out)"
    ends_with 0 pages server
    are_equal 1 server pages
}

# proxy PORT [server]: nginx as server/play/README.md has it, with a certificate of its own, before $page; with servers as FLEET.md
# has it, before all of them.
proxy() {
    local fleet='' upstream='' servers page=${page:-}
    if [ $# -gt 1 ]; then
        servers=$(printf 'server %s max_fails=0; ' "${@:2}")
        upstream=$(sed -n "s|^    \(upstream match {\).*|\1 $servers}|p" "$here/../../server/FLEET.md")
        fleet=$(sed -n '/^    proxy_pass http:..match;/,/^$/p' "$here/../../server/FLEET.md" | tr '\n' ' ')
        [ -n "$upstream" ] && [ -n "$fleet" ] || fail "FLEET.md has no lines for nginx"
    fi
    openssl req -x509 -newkey ed25519 -nodes -keyout play.key -out play.pem -days 2 -subj /CN=play.example 2>/dev/null
    { echo "pid $PWD/nginx.pid; error_log $PWD/nginx.err; events {} http { types { text/html html; } access_log off;"
        sed -n '/^    limit_conn_zone/,/^    }$/p' "$here/../../server/play/README.md"
        echo "$upstream }"; } |
        sed "s|proxy_pass .*|${fleet:-&}|; s|listen 443|listen 127.0.0.1:$1|; s|/etc/ssl/|$PWD/|; s|127.0.0.1:7780|${page#http://}|" >nginx.conf
    nginx -e "$PWD/nginx.err" -c "$PWD/nginx.conf" -g 'daemon off; master_process off;' >nginx.out 2>&1 {silence}<&- &
    pids[nginx]=$!
    await "nginx" curl -sk -o /dev/null "https://127.0.0.1:$1/"
}
# code_of PATH [option...]: of an answer through the proxy.
code_of() { curl -sk -o body -w '%{http_code}' --resolve "play.example:$port:127.0.0.1" "${@:2}" "https://play.example:$port$1"; }

case_nginx_with_tls_is_before_the_page() {
    for tool in nginx openssl curl; do command -v $tool >/dev/null || { skip "$tool is missing"; return; }; done
    know play.example 127.0.0.1 || { skip "libnss-wrapper is missing"; return; }
    port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    run_to 0 keygen shoal-server keygen key
    run_to 0 tokens shoal-server token --key-file key --player count=2 --life 600
    play_files
    start server shoal-server --game arena --listen 127.0.0.1:0 --http "127.0.0.1:0,host=play.example" --log none --min-clients 2 \
        --ticks 300 --key-file key
    await "ready line" is_ready_or_gone server
    address=$(value listen server.out) page=$(value http server.out)
    proxy "$port"
    [ "$(code_of /play)" = 200 ] && grep -q '<canvas' body || fail "no page: $(head -c 300 body)"
    [ "$(code_of /play.js) $(code_of /game/arena.wasm)" = "200 200" ] || fail "a file of the page is not passed on"
    local upgrade=(--http1.1 -m 2 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')
    [ "$(code_of /play/socket "${upgrade[@]}" -H "Origin: https://play.example:$port")" = 101 ] || fail "the page's own origin is refused"
    [ "$(code_of /play/socket "${upgrade[@]}" -H "Origin: https://other.example")" = 403 ] || fail "another origin is not refused"
    [ "$(code_of /api/v1/status) $(code_of /log)" = "404 404" ] || fail "the inspector is passed on"
    export NODE_TLS_REJECT_UNAUTHORIZED=0 # its own certificate
    pages pages arena "wss://play.example:$port" 1 token="$(head -n 1 tokens.out)"
    sed 1d tokens.out >token
    chmod 600 token
    start bots shoal-client "$address" --headless --bots 1 --token-file token
    ends_with 0 pages bots server
    drop nginx
    are_equal 2 server pages bots
}

run_cases "$@"
