#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Players of browsers without browsers: shoal-web-bots, beside bots over ENet in one match. tests/web/play.sh has the page's own code.
. "$(dirname "$0")/lib.sh"
played=arena

# serve_pages CLIENTS TICKS [option...]: $page is where browsers connect.
serve_pages() {
    serve server --http 127.0.0.1:0 --log none --min-clients "$1" --ticks "$2" "${@:3}"
    page=$(value http server.out) page=${page#http://}
}
# join_by NAME HOST:PORT COUNT [option...]: players of browsers.
join_by() { start "$1" shoal-web-bots "$2" --headless --game arena --bots "$3" "${@:4}"; }

case_players_over_websocket_and_over_enet_see_one_match() {
    local threads
    for threads in 1 2; do
        serve_pages 16 200 --tune net-threads=$threads
        start bots shoal-client "$address" --headless --bots 8
        join_by web "$page" 8
        ends_with 0 bots web server
        are_equal 16 server bots web
        says server.out '^done .* web_connections=8 web_refused=0 .* web_malformed=0'
    done
}

case_a_line_of_tcp_that_stalls_and_breaks_keeps_its_players() {
    serve_pages 6 540
    python3 "$here/../web/stall.py" "$page" >stall.out 2>stall.err {silence}<&- &
    pids[stall]=$!
    await "port" grep -q port= stall.out
    start bots shoal-client "$address" --headless --bots 2
    join_by web "127.0.0.1:$(value port stall.out)" 4
    ends_with 0 bots web server
    drop stall
    are_equal 6 server bots web
    says server.out '^done .* clients_peak=6 '
    says web.err 'back after' # the same players
}

run_cases "$@"
