#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each way into a match (ENet, WebSocket) with each thing that a match may meet: a cell for each pair, all of a case side by
# side, each in a folder and a process of its own, with a line for its verdict. tests/README.md has the table, "Pairs".
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and tokens
# shellcheck source=broker.sh
. "$here/broker.sh"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; end_matches; cleanup' EXIT

drop_all() { for name in "${!pids[@]}"; do drop "$name"; done; }
# cells ROW...: the last line of row_ROW is what was seen.
cells() {
    local row via code faults=0
    local -A running=()
    for row in "$@"; do
        for via in enet websocket; do
            mkdir -p "$row/$via"
            (
                trap drop_all EXIT
                set -E && trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
                trap 'exit 1' TERM
                cd "$row/$via"
                "row_$row"
            ) >"$row/$via.txt" 2>&1 &
            running[$row/$via]=$!
        done
    done
    for row in "$@"; do
        for via in enet websocket; do
            code=0
            wait "${running[$row/$via]}" || code=$?
            [ $code = 0 ] || { cat "$row/$via.txt" && faults=$((faults + 1)); } >&2
            printf 'pair %-9s x %-7s %s\n' $via "$row" \
                "$([ $code = 0 ] && echo "passed: $(tail -n 1 "$row/$via.txt")" || echo FAILED)"
        done
    done
    [ $faults = 0 ] || fail "$faults of these pairs"
}

# opens NAME PROGRAM [option...]: $address, $page (where browsers connect) and $stream get where.
opens() {
    start_ready "$1" "$2" --listen "${listen:-127.0.0.1:0}" --http "${http:-127.0.0.1:0}" "${@:3}"
    address=$(value listen "$1.out") page=$(value http "$1.out") stream=$(value stream "$1.out")
    page=${page#http://}
    [ -n "$page" ] || fail "$1 is not ready"
}
plays() { opens server shoal-server --game "$played" "$@"; }
# joins NAME [option...]: players by the cell's way, or by $by.
joins() {
    local program=shoal-client at=$address
    [ "${by:-$via}" = enet ] || program=shoal-web-bots at=$page
    start "$1" $program "$at" --headless --bots 2 --trace "$1.trace" "${@:2}"
}
is_refused() { ends_with 6 "$1" && says "$1.err" "$2"; } # NAME TEXT: it gets no place, and reads why
# go_on NAME: it applies updates of half a second more.
go_on() {
    await "an update of $1" is_playing "$1.trace"
    await "updates of $1" goes_on "$1.trace" $(($(trace_tick "$1.trace") + 30))
}
goes_on() { rest 0.1 && knows_more "$@"; }
are_back() { await "the players" has_lines "$1.err" '^note: client [12] "bot-[12]" is back after ' 2; }
# came_so COUNT SERVER: so many players, or more, by the cell's way.
came_so() {
    local connections
    connections=$(value web_connections "$2.out")
    if [ "$via" = enet ]; then [ "$connections" = 0 ]; else [ "$connections" -ge "$1" ]; fi ||
        fail "$connections players came as a page does"
}
has_equal() { are_equal "$@" && came_so "$@"; } # COUNT SERVER NAME...
# end_equal COUNT SERVER NAME...: the match ends, and so many players have the server's world.
end_equal() {
    stop "$2"
    ends_with 0 "${@:3}"
    has_equal "$@"
}
# What leaves has no certain last tick: each row that it applied is one of the log.
leave() {
    kill -TERM "${pids[$1]}"
    ends_with 0 "$1"
    says "$1.out" '^client id=1 .* end=left$'
}
saw() { run_to 0 check shoal-replay check-trace "$1" "$2.trace" && says check.out '^checked rows=[1-9]'; } # LOG NAME
key() { "$bin/shoal-server" keygen server.key >keygen.out; }
tokens() { for i in "$@"; do "$bin/shoal-server" token --key-file server.key --player "$i"; done; }

row_plain() {
    plays --min-clients 2 --log a.slog
    joins players
    go_on players
    end_equal 2 server players
    verifies a.slog server
    tail -n 1 verify.out
}

row_keys() {
    key
    plays --log none --key-file server.key
    tokens 1 >old
    damaged_token "$(cat old)" >wrong
    "$bin/shoal-server" keygen --rotate server.key >keygen.out
    tokens 2 >new
    joins without --bots 1
    joins wrong --bots 1 --token-file wrong
    joins early --bots 1 --token-file new
    is_refused without 'lets in only players with a token'
    is_refused wrong 'does not know this token'
    is_refused early 'does not know this token'
    kill -HUP "${pids[server]}"
    await "both keys" has_said server.err 'reloaded: keys=2'
    cat old new >both
    joins players --token-file both
    go_on players
    "$bin/shoal-server" keygen --rotate --keep 0 server.key >keygen.out
    kill -HUP "${pids[server]}"
    await "the new key" has_said server.err 'reloaded: keys=1'
    joins late --bots 1 --token-file old
    is_refused late 'does not know this token'
    go_on players
    end_equal 2 server players
    grep '^note: refused' server.err
}

# The same player comes from elsewhere, by the other way, and takes its place back.
row_login() {
    local other=enet
    [ $via = websocket ] || other=websocket
    key
    tokens 7 >one
    tokens 7 >two
    tokens 7 >three
    plays --log a.slog --key-file server.key
    joins first --bots 1 --token-file one
    go_on first
    by=$other joins second --bots 1 --token-file two
    ends_with 1 first
    says first.err 'joined elsewhere$'
    go_on second
    joins third --bots 1 --token-file three
    ends_with 1 second
    says second.err 'joined elsewhere$'
    go_on third
    stop server
    ends_with 0 third
    are_equal 1 server third
    verifies a.slog server
    grep -c 'joined elsewhere$' server.err
}

row_ring() {
    plays --min-clients 2 --log none --log ring=5 --control socket
    joins players
    go_on players
    run_to 0 ctl shoal-ctl --socket socket save by hand
    await "the save" has_said server.err 'slog: note: saved ticks='
    end_equal 2 server players
    verifies ./*.saved-*.slog
    run dump shoal-replay dump ./*.saved-*.slog
    says dump.out '"inputs":'
    grep -o 'saved ticks=.*' server.err
}

row_resume() {
    key
    tokens 1 2 >tokens
    plays --min-clients 2 --log first.slog --key-file server.key
    joins players --token-file tokens
    go_on players
    slay server
    listen=$address http=$page opens second shoal-server --resume first.slog --log joined.slog --key-file server.key
    are_back second
    go_on players
    end_equal 2 second players
    verifies joined.slog second
    grep '^resumed tick=[1-9][0-9]* players=2$' second.out
}

row_reload() {
    copy_games other
    SHOAL_MODULE_PATH=$PWD/other plays --min-clients 2 --log a.slog
    joins players --game "$PWD/other/$played.so"
    go_on players
    change other/$played.blk 's/^ball {/&"extra:i"{ _replicate:b=yes; value:i=3 }/'
    kill -HUP "${pids[server]}"
    await "the new game" has_said server.err 'reloaded: the match continues with it'
    are_back server
    go_on players
    end_equal 2 server players
    verifies a.slog server # by the game of the begin; the log has the templates of each part
    grep 'is back after' server.err
}

row_drain() {
    plays --min-clients 2 --log a.slog --tune drain-s=600
    joins players
    go_on players
    kill -TERM "${pids[server]}"
    await "the drain" has_said server.err '^note: draining: no new players'
    joins late --bots 1
    is_refused late 'refused: this server ends after the match: play on another one$'
    go_on players
    leave players
    ends_with 0 server
    came_so 2 server
    saw a.slog players
    verifies a.slog server
    grep '^note: drained: 0 players are left$' server.err
}

row_pause() {
    local tick
    plays --pause-when-empty --log a.slog --lines status-s=1
    await "an empty match" has_said server.err '^note: status tick=0 .* paused=empty '
    joins players
    go_on players
    leave players
    await "an empty match" has_said server.err '^note: status tick=[1-9][0-9]* .* paused=empty '
    tick=$(sed -nE 's/^note: status tick=([1-9][0-9]*) .* paused=empty .*/\1/p' server.err | tail -n 1)
    joins others
    go_on others
    end_equal 2 server others
    came_so 4 server
    saw a.slog players
    verifies a.slog server
    run dump shoal-replay dump a.slog
    says dump.out '"alive":{"tick":'$((tick + 1))',"reason":5'
    echo "empty at tick $tick of $(value ticks verify.out)"
}

row_stream() {
    broker -1
    plays --min-clients 2 --log a.slog --stream "$nats"
    joins players
    go_on players
    end_equal 2 server players
    verifies a.slog server
    is_same a.slog 1
    cat same.out
}

# What players know when the broker stands still is stored.
row_sync() {
    local still
    broker -1
    plays --min-clients 2 --log a.slog --stream "$nats" --stream sync=1000 --tune net-threads=2
    joins players
    go_on players
    kill -STOP "${pids[broker]}"
    await "a match that stands still" has_said server.err '^warning: the match is halted after tick [0-9]+: it is not stored'
    await "players that read why" has_said players.err 'the match is halted: it waits until what happened is stored safely$'
    still=$(sed -nE 's/.*is halted after tick ([0-9]+):.*/\1/p' server.err)
    [ "$(trace_tick players.trace)" -lt "$still" ] || fail "players know what is not stored"
    kill -CONT "${pids[broker]}"
    await "the end of it" has_said server.err '^note: the match continues, it was halted for '
    go_on players
    [ "$(trace_tick players.trace)" -gt "$still" ] || fail "players know nothing new"
    end_equal 2 server players
    verifies a.slog server
    is_same a.slog 1
    grep 'it was halted for' server.err
}

# The log that goes on has what its stream has, of the time in which the match stood still too.
row_onward() {
    broker -1
    key
    tokens 1 2 >tokens
    plays --min-clients 2 --log first.slog --key-file server.key --stream "$nats" --control socket
    joins players --token-file tokens
    go_on players
    run_to 0 ctl shoal-ctl --socket socket pause
    rest 0.3
    slay server
    listen=$address http=$page opens second shoal-server --resume first.slog --log joined.slog --key-file server.key --stream "$nats"
    are_back second
    go_on players
    end_equal 2 second players
    verifies joined.slog second
    is_same joined.slog 2
    cat same.out
}

# opens_two [OPTION...]: a server and a standby, which players find; a page from its own server, as a page of which it asks.
# $to_first: what lets a page of the first one in.
opens_two() {
    local first there pages=()
    broker -1
    key
    tokens 1 2 >tokens
    free_port
    there=$free
    free_port
    [ $via = enet ] || pages=(--stream page="http://$free/play")
    plays --min-clients 2 --log a.slog --key-file server.key --stream "$nats" --stream standby-at="$there" "${pages[@]}" "$@"
    first=$address,$page
    to_first=("${pages[@]/$free/$page}")
    listen=$there http=$free opens second shoal-server --standby "$stream" "${to_first[@]}" \
        --key-file server.key --tune takeover-ms=3000 --log joined.slog
    await "a standby" has_said second.err '^note: stands by at tick'
    address=${first%,*} page=${first#*,}
    [ $via = enet ] || page=$page,$(python3 -c 'import json, sys, urllib.request
print(*(page[7:-5] for page in json.load(urllib.request.urlopen(sys.argv[1], timeout=60))["pages"]), sep=",")' \
        "http://$page/play/info")
    joins players --token-file tokens
    go_on players
}
row_standby() {
    opens_two
    slay server
    are_back second
    go_on players
    end_equal 2 second players
    verifies joined.slog second
    grep '^takeover epoch=2 tick=[1-9][0-9]* players=2 ' second.out
}

# Behind a reload that is refused and a stream that begins again. Its server has keys, a stream and a log like any other:
# SIGHUP reads the keys and not the game, and when it dies too, its log is resumed, and its keys change.
row_handover() {
    opens_two --control socket
    kill -HUP "${pids[server]}"
    await "a refusal" has_said server.err '^error: not reloaded: those that follow the stream have the game as it is now$'
    run_to 0 ctl shoal-ctl --socket socket restream
    await "the stream" has_said server.err '^note: the stream began again as epoch 2: '
    await "a standby that counts" counts_standby socket
    await "the handover" hands_over socket second.out
    ends_with 0 server
    are_back second
    go_on players
    kill -HUP "${pids[second]}"
    await "its keys" has_said second.err 'reloaded: keys=1'
    await "a refusal" has_said second.err '^error: not reloaded: those that follow the stream have the game as it is now$'
    go_on players
    slay second
    listen=$(value listen second.out) http=$(value http second.out)
    http=${http#http://} opens third shoal-server --resume joined.slog "${to_first[@]}" --log whole.slog --key-file server.key
    are_back third
    "$bin/shoal-server" keygen --rotate server.key >keygen.out
    kill -HUP "${pids[third]}"
    await "both keys" has_said third.err 'reloaded: keys=2'
    go_on players
    end_equal 2 third players
    verifies whole.slog third
    grep -h '^handover epoch=3 tick=[1-9]' server.out
}

# A relay has no players: who wants to play reads where, and who watches sees the match. A page shows its log as well.
row_relay() {
    plays --log a.slog --min-clients 1
    by=enet joins player --bots 1
    go_on player
    opens relay shoal-relay a.slog --delay 0 --record own.slog
    await "a refusal" reads_where_to_play
    joins watchers --spectate
    go_on watchers
    [ $via = enet ] || python3 -c 'import sys, urllib.request
assert urllib.request.urlopen(sys.argv[1], timeout=60).read()' "http://$page/watch/bytes?from=0"
    stop server
    ends_with 0 player relay watchers
    has_equal 2 relay watchers
    verifies own.slog server
    grep "note: the match ended at tick" relay.err
}
# Before it has caught up it refuses all.
reads_where_to_play() {
    joins guest --bots 1
    ends_with 6 guest
    has_said guest.err 'this server shows the match of another one: watch it \(--spectate\), or play there$'
}

# hosted NAME [LINE of host.conf...]: a host in the folder NAME, with a game that keeps a record of a player who is alone each
# two seconds, and sends the first one to another match when a second one is there; $url gets its address. A join waits two seconds for
# a record, behind all that a slow disk has to keep before: so nothing is kept while a player is sent.
hosted() {
    cp -Ln "$games/lua.so" hop.so
    printf '%s\n' 'file:t="rules.lua"' 'thing { "n:i"{ _track:b=yes; _replicate:b=yes; value:i=0 } "of:u32"{ _track:b=yes; value:u32=0 } }' >hop.blk
    cat >rules.lua <<'END'
function on_join(client, name, is_bot, record, sent)
    print("joins", client, "record", record, "sent", sent)
    return create("thing", { n = tonumber(record) or 0, of = client })
end
function on_tick()
    local count, first = 0, nil
    for e, n in each("n") do
        count, first, e.n = count + 1, (not first or e.of < first.of) and e or first, n + 1
    end
    if count == 1 and first.n % 120 == 0 then keep_record(first.of, tostring(first.n)) end
    if count > 1 and tick() % 30 == 0 then transfer(first.of, "hop", "sent") end
end
END
    printf '%s\n' 'http = 127.0.0.1:0' 'open = yes' 'drain = 0' 'hang = 100' 'store = sqlite:players.db' "folder = $1" "${@:2}" \
        'game hop {' 'players = 4' 'most = 3' "options = $options" '}' >"$1.conf"
    export SHOAL_MODULE_PATH=$PWD
    start_ready "$1" shoal-host "$1.conf"
    url=$(value http "$1.out")
    url=${url%% *}
}
# comes NAME PLAYER [MATCH]: it asks $url for a seat; $id gets its match, $pid that one's process.
comes() {
    await "a seat of $1" has_seat "$@"
    read -r id pid address page <seat.txt
    rm -f "$1.trace"
    joins "$1" --bots 1 --token-file "$1.token"
    go_on "$1"
}
# A host that has just taken a match over, or looks for one at busy hosts, may not find it at once.
has_seat() {
    python3 -c 'import json, sys, urllib.request
url, player, match, token = sys.argv[1:]
def ask(path, **body):
    return json.load(urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode() if body else None, {"Content-Type": "application/json"}), timeout=60))
seat = ask("/v1/join", game="hop", player=player, **({"match": match} if match else {}))
print(seat["token"], file=open(token, "w"))
row = [row for row in ask("/v1/matches")["matches"] if row["match"] == seat["match"]][0]
print(row["match"], row["pid"], seat["address"], row["http"])' "$url" "$2" "${3:-}" "$1.token" >seat.txt 2>seat.err
}
has_record_above() { [ "$(record_of 7)" -gt "$1" ]; }
record_of() { python3 -c 'import sqlite3, sys
print(*(int(row[0]) for row in sqlite3.connect("players.db", timeout=100).execute("select bytes from shoal_records where player = ?", sys.argv[1:])))' "$1"; }
# comes_back: by itself, a page by a new join at $url.
comes_back() {
    if [ "$via" = enet ]; then go_on one; else drop one && comes one 7 "$id"; fi
}
# is_sent HOST: a second player makes the game send the first one on, who brings its record there.
is_sent() {
    local before
    before=$(record_of 7)
    comes two 8 "$id"
    await "the end here" has_said one.out '^client id=[0-9]+ .* end=transferred'
    [ "$via" = enet ] || { drop one && comes one 7 "$(ls "$1/matches" | grep -v "$id")"; } # a page goes on by itself
    await "the record there" has_said_any "joins [1-9] record ([1-9][0-9]*) sent sent" "$1"/matches/*/err
    await "a newer record" has_record_above "$before"
}
has_said_any() { grep -qE "$1" "${@:2}"; }

# Without a log, with the ring. What the game wants while an operator pauses and steps is done.
row_moved() {
    local options='--log none --log ring=30' first before
    hosted host
    comes one 7
    await "a record" has_record_above 0
    run_to 0 ctl shoal-ctl --socket "host/matches/$id/control" pause
    before=$(record_of 7)
    run_to 0 ctl shoal-ctl --socket "host/matches/$id/control" step 130
    await "the record of a step" has_record_above "$before"
    run_to 0 ctl shoal-ctl --socket "host/matches/$id/control" resume
    first=$id
    is_sent host
    run_to 0 ctl shoal-ctl --socket "host/matches/$first/control" save by hand
    await "the save" has_said "host/matches/$first/err" 'slog: note: saved ticks='
    stop host
    ends_with 0 one two
    verifies ./*.saved-*.slog
    grep -h 'sent sent$' host/matches/*/err
}

# Handed over to the other host, and back when that one dies while the match is paused and its stream begins again.
row_kept() {
    local options='--tune takeover-ms=3000' here=one_host there=two_host other before first
    broker -1
    hosted $here "fleet = $nats" 'standbys = 1'
    other=$url
    comes one 7
    await "a record" has_record_above 0
    hosted $there "fleet = $nats" 'standbys = 1'
    await "a standby" has_said "$here/matches/$id/err" '^note: operator: standbys 127'
    start_ready relay shoal-relay "$(value stream "$here/matches/$id/out")" --delay 0 --listen 127.0.0.1:0 --record own.slog
    await "a standby that counts" counts_standby "$here/matches/$id/control"
    await "the handover" hands_over "$here/matches/$id/control" "$there/matches/$id/out"
    says "$there/matches/$id/out" '^takeover epoch=2 '
    comes_back
    await "a standby where it was" counts_standby "$there/matches/$id/control"
    await "its address" has_said "$there/matches/$id/err" '^note: operator: standbys 127'
    go_on one # who reads it
    run_to 0 ctl shoal-ctl --socket "$there/matches/$id/control" pause
    run_to 0 ctl shoal-ctl --socket "$there/matches/$id/control" restream
    await "all of it once more" has_sent "$there/matches/$id/control" 3 # a server that dies before loses its match
    before=$(record_of 7)
    kill -KILL "$(sed 's/^hop \([0-9]*\) .*/\1/' "$there/matches/$id/match")"
    slay "$there"
    await "the takeover" has_said "$here/matches/$id/out" '^takeover epoch=4 '
    run_to 0 ctl shoal-ctl --socket "$here/matches/$id/control" resume
    url=$other
    comes_back
    await "a newer record" has_record_above "$before"
    first=$id
    is_sent "$here"
    stop "$here"
    ends_with 0 one two relay
    verifies own.slog
    [ "$(grep -o ': joins [0-9]*' verify.err | sort -u | wc -l)" = 2 ] || fail "a player who came back joined once more: $(cat verify.err)"
    grep '^takeover ' "$here/matches/$first/out"
}

case_each_way_into_a_match_with_what_players_meet() { cells plain keys login ring; }
case_each_way_into_a_match_with_what_operators_do() { cells resume reload drain pause; }
case_each_way_into_a_match_of_a_host() {
    local rows=(moved)
    [ -e "$games/lua.so" ] || { skip "there is no Lua here" && return; }
    if is_here; then rows+=(kept); fi
    cells "${rows[@]}"
}
case_each_way_into_a_match_with_a_fleet() {
    local rows=(relay)
    if is_here; then rows+=(stream sync onward standby handover); fi
    cells "${rows[@]}"
}

run_cases "$@"
