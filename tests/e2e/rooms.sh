#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shoal-host: seats by HTTP, matches as processes, what happens when one of them or the host dies.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=broker.sh
. "$here/broker.sh"
# shellcheck source=../support/postgres.sh
. "$here/../support/postgres.sh"

trap 'end_matches; postgres_end; cleanup' EXIT

# conf [LINE of the host]...: host.conf as a user writes it; $block has further lines of the game, $seats and $options may be there.
conf() {
    {
        printf '%s\n' "$@"
        cat <<END
http = 127.0.0.1:0
open = yes
${store:-store = sqlite:players.db}
folder = run            # logs, keys, state of the host
game breakout {
    module = breakout
    players = ${seats:-3}
    ${block:-spare = 1}
    most = 40
    options = ${options:---ticks 3600}
}
END
    } >host.conf
}

# host NAME: start a host of host.conf; $url gets its address.
host() {
    start_ready "$1" shoal-host host.conf
    url=$(sed -n 's/^ready http=\(http:[^ ]*\) games=1$/\1/p' "$1.out")
    [ -n "$url" ] || fail "$1 prints no ready line as it should be"
}

asks() { # STATUS PATH [BODY]
    ask "${@:2}"
    [ "$status" = "$1" ] || fail "$2 answers $status, not $1: $(cat answer.json)"
}
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' answer.json; } # of a flat answer

# proxied ADDRESSES METHOD PATH TIMES [HEADER]: the statuses of the first, the second and the last request that a proxy of this
# machine passes on; RANDOM is another number in each.
proxied() {
    python3 - "${url##*:}" "$@" <<'PYTHON'
import http.client, sys
port, addresses, method, path, times, *more = sys.argv[1:]
got = []
for i in range(int(times)):
    line = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    line.putrequest(method, path, skip_host=bool(more))
    for header in [*more, "X-Forwarded-For: " + addresses.replace("RANDOM", str(i)), "Content-Length: 2"]:
        for each in header.split("\n"): line.putheader(*each.split(": ", 1))
    line.endheaders(b"{}")
    got.append(line.getresponse().status)
print(*[*got[:2], got[-1]])
PYTHON
}

# join NAME [MEMBERS]: $match, $address, NAME.token of a seat in breakout.
join() {
    asks 200 /v1/join "{\"game\":\"breakout\"${2:+,$2}}"
    match=$(field match) address=$(field address)
    (umask 077 && field token >"$1.token")
}

# of_match ID MEMBER: of the list.
of_match() {
    ask /v1/matches
    python3 -c 'import json, sys
print(*[row.get(sys.argv[2], "") for row in json.load(open("answer.json"))["matches"] if row["match"] == sys.argv[1]])' "$1" "$2"
}
is_in_state() { [ "$(of_match "$1" state)" = "$2" ]; }
has_players() { [ "$(of_match "$1" players)" = "$2" ]; }
# A process whose parent was killed may stay as a zombie.
is_gone() { [ ! -e "/proc/$1/stat" ] || grep -qE '\) [ZX] ' "/proc/$1/stat"; }

plays() { # NAME: with NAME.token at $address
    enters "$1" "$1.trace" --bots 1 --token-file "$1.token"
}

case_a_join_leads_into_a_match() {
    conf
    host host
    join player '"request":"r1"'
    [[ $(field seats)/$(field taken)/$(field expires_s) = 3/1/15 ]] || fail "the answer: $(cat answer.json)"
    [[ $(field page) = "$url/m/$match/play#join="* ]] || fail "the page: $(field page)"
    plays player
    await "the player in the list" has_players "$match" 1
    asks 200 /v1/join '{"game":"breakout","request":"r1"}'
    [ "$(field match)/$(field taken)" = "$match/1" ] || fail "a retry has another seat: $(cat answer.json)"
    asks 404 /v1/join '{"game":"chess"}'
    asks 400 /v1/join '{"game":"breakout","filter":{"Map":"x"}}'
    asks 400 /v1/join 'no json'
    stop host
    ended player
    says host.out '^done matches=[1-9][0-9]* joins=2 left=0$'
}

case_a_token_of_one_match_is_refused_by_another() {
    conf
    host host
    join one '"filter":{"map":"a"}'
    local of_one=$match
    join two '"filter":{"map":"b"}'
    [ "$match" != "$of_one" ] || fail "one match for two maps"
    run other shoal-client "$address" --bots 1 --token-file one.token
    [ "$code" = 6 ] || fail "the other client ended with $code"
    says other.err 'the server does not know this token'
    stop host
}

case_many_joins_at_once_get_no_seat_too_many() {
    block='spare = 0' conf
    sed -i 's/most = 40/most = 4/' host.conf
    host host
    python3 - "$url" >counts.txt <<'PYTHON' || fail "the joins: $(cat counts.txt)"
import collections, http.client, json, sys, threading
at = sys.argv[1].removeprefix("http://")
counts, seats, lock = collections.Counter(), collections.Counter(), threading.Lock()
def join():
    line = http.client.HTTPConnection(at, timeout=120)
    line.request("POST", "/v1/join", '{"game":"breakout"}', {"Content-Type": "application/json"})
    answer = line.getresponse()
    text = json.loads(answer.read())
    with lock:
        counts[answer.status] += 1
        if answer.status == 200: seats[text["match"]] += 1
threads = [threading.Thread(target=join) for _ in range(1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(dict(counts), sorted(seats.values()))
sys.exit(not (counts == {200: 12, 409: 988} and sorted(seats.values()) == [3, 3, 3, 3]))
PYTHON
    stop host
}

case_a_match_that_is_killed_goes_on_at_its_address() {
    options='--ticks 3600 --set lives=9' conf # a match that continues has its settings
    host host
    join player
    plays player
    await "the player in the list" has_players "$match" 1
    local before=$address
    kill -KILL "$(of_match "$match" pid)"
    await "the match again" has_lines host.err "match $match of breakout: it crashed.*: it is resumed" 1
    await "an open match" is_in_state "$match" open
    [ "$(of_match "$match" address)/$(of_match "$match" resumes)" = "$before/1" ] || fail "another address"
    local tick
    tick=$(trace_tick player.trace)
    await "a later tick" knows_more player.trace "$tick"
    await "the player in the list" has_players "$match" 1
    stop host
    ends_with 0 player
    verifies "run/matches/$match/match.slog"
}

case_a_match_that_hangs_is_stopped() {
    conf 'hang = 2' 'drain = 0'
    host host
    join player
    local pid
    pid=$(of_match "$match" pid)
    await "the begin of its log" test -s "run/matches/$match/match.slog"
    kill -STOP "$pid"
    await "its end" is_in_state "$match" ended
    await "the end of its process" is_gone "$pid"
    says host.err "match $match of breakout is stopped: it does not answer"
    asks 410 "/m/$match/"
    asks 404 /m/0123456789abcdef/
    [ -s "run/matches/$match/match.slog" ] || fail "its log is gone"
    join other
    pid=$(of_match "$match" pid)
    kill -STOP "$pid"
    stop host
    is_gone "$pid" || fail "a match that does not end outlives the host"
    says host.err "match $match of breakout is stopped: it does not end"
}

case_the_next_host_finds_the_matches_of_one_that_is_killed() {
    conf
    host host
    join player '"request":"r1"'
    plays player
    await "the player in the list" has_players "$match" 1
    local pid tick private
    asks 200 /v1/join '{"game":"breakout","filter":{"code":"x"}}'
    private=$(field match)
    pid=$(of_match "$match" pid)
    slay host
    host next
    asks 200 /v1/join '{"game":"breakout","filter":{"code":"x"}}'
    [ "$(field match)" = "$private" ] || fail "a code leads elsewhere: $(cat answer.json)"
    [ "$(of_match "$match" pid)" = "$pid" ] || fail "the match is not known: $(cat answer.json)"
    [ "$(of_match "$match" held)" -le 1 ] || fail "seats are held that no player asked for: $(cat answer.json)"
    local first=$match
    join again '"request":"r1"'
    [ "$match $(field taken)" = "$first 1" ] || fail "a request gets a second seat: $(cat answer.json)"
    tick=$(trace_tick player.trace)
    await "a later tick" knows_more player.trace "$tick"
    kill -KILL "$pid"
    await "an open match" is_in_state "$match" open
    stop next
    ends_with 0 player
}

case_a_host_leaves_its_matches_or_lets_them_end() {
    conf 'stop = leave'
    host host
    join player
    plays player
    local pid
    pid=$(of_match "$match" pid)
    stop host
    says host.out '^done matches=[12] joins=1 left=[12]$'
    ! is_gone "$pid" || fail "the match ended with the host"
    conf 'drain = 0'
    host next
    [ "$(of_match "$match" pid)" = "$pid" ] || fail "the match is not known"
    stop next
    is_gone "$pid" || fail "the match outlives the host"
    ends_with 0 player
    says "run/matches/$match/out" '^done '
    host last
    [ "$(of_match "$match" game)/$(of_match "$match" seats)/$(of_match "$match" state)" = breakout/3/ended ] ||
        fail "a match of before is shown as $(cat answer.json)"
    stop last
}

case_an_idle_match_ends_and_the_file_is_read_again() {
    block='idle_s = 1' conf
    host host
    join player
    plays player
    await "the player in the list" has_players "$match" 1
    kill "${pids[player]}"
    ended player
    await "the end of the match" is_in_state "$match" ended
    echo 'game chess {' >>host.conf
    kill -HUP "${pids[host]}"
    await "a refusal" has_said host.err 'missing }'
    printf 'players = 2\nmodule = breakout\n}\n' >>host.conf
    kill -HUP "${pids[host]}"
    await "two games" has_said host.err 'note: host.conf is read again: games=2'
    asks 200 /v1/join '{"game":"chess"}'
    stop host
}

case_one_port_has_the_pages_of_all_matches() {
    conf
    host host
    asks 200 /
    says answer.json 'rooms.js'
    join player
    asks 200 "/m/$match/"
    says answer.json '<div id="brand">'
    asks 200 "/m/$match/api/v1/status"
    [ "$(field game)" = breakout ] || fail "no status of the match"
    asks 200 "/m/$match/metrics"
    says answer.json '^shoal_clients\{kind="player"\} 0'
    asks 200 /metrics
    says answer.json '^shoal_host_joins_total\{result="seated"\} 1$'
    asks 200 /v1/targets
    says answer.json "\"__metrics_path__\":\"/m/$match/metrics\""
    python3 - "${url#http://}" "$match" <<'PYTHON' || fail "no WebSocket"
import socket, sys
at, match = sys.argv[1:]
line = socket.create_connection(at.split(":"), 60)
line.sendall(f"GET /m/{match}/play/socket HTTP/1.1\r\nHost: {at}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: shoal\r\n\r\n".encode())
answer = line.recv(4096).decode()
print(answer)
sys.exit(not answer.startswith("HTTP/1.1 101 "))
PYTHON
    stop host
}

case_who_may_join_where_tokens_are() {
    printf 'reader rrrrrrrrrrrrrrrrrrrr\noperator oooooooooooooooooooo\n' >tokens
    chmod 600 tokens
    conf
    sed -i 's/^http = .*/http = 127.0.0.1:0,token-file=tokens/' host.conf
    host host
    asks 200 /v1/join '{"game":"breakout"}'
    asks 403 /v1/join '{"game":"breakout","player":"7"}'
    asks 200 /v1/matches
    ! grep -q '"pid"' answer.json || fail "who has no token sees processes"
    asks 401 /metrics
    # The limit of an address, behind a proxy of this machine: its address counts, whatever its client wrote.
    local list
    for list in "$(printf 'x%.0s' {1..300}), 192.0.2.1" "198.51.100.RANDOM, 192.0.2.2" "$(printf '198.51.100.RANDOM\nX-Forwarded-For: 2001:db8::1')"; do
        [ "$(proxied "$list" POST /v1/watch 61)" = "404 404 429" ] || fail "who writes X-Forwarded-For joins without a limit: $list"
    done
    sed -i 's/^open = .*/open = no/' host.conf
    stop host
    host closed
    asks 401 /v1/join '{"game":"breakout"}'
    stop closed
    run_to 2 wrong shoal-host none.conf
    says wrong.err '^none.conf: error: cannot open'
    run_to 2 nothing shoal-host
    run_to 0 checked shoal-host --check-options host.conf
}

# ---- what a match tells the host

# fakes: from now on matches are fake_match.py, which speaks with the host and plays nothing.
fakes() {
    mkdir fake
    cp "$bin/shoal-host" fake/
    ln -s "$here/fake_match.py" fake/shoal-server
    bin=$PWD/fake
}

# tells MATCH MEMBERS [FILE]: the match tells that, and $told gets the answer.
tells() {
    rm -f "run/matches/$1/answer.json"
    echo "{$2}" >"run/matches/$1/say.new"
    mv "run/matches/$1/say.new" "run/matches/$1/say.json"
    await "answer to $2" [ -e "run/matches/$1/answer.json" ]
    told=$(cat "run/matches/$1/answer.json")
}
answers() { # MATCH MEMBERS PATTERN
    tells "$1" "$2"
    [[ $told =~ $3 ]] || fail "$2 is answered with $told, not $3"
}
reports() { # MATCH MEMBERS
    echo "{$2}" >"run/matches/$1/state.new"
    mv "run/matches/$1/state.new" "run/matches/$1/state.json"
}
base64_of() { printf '%s' "$1" | base64 -w 0; }

# has_player_7 MATCH: he is in it.
has_player_7() {
    reports "$1" '"players":["7"]'
    await "player 7" has_players "$1" 1
}

# A record of player 7, in two matches at once. Of others no match gets or keeps one.
keeps_records() {
    local one two text other
    text=$(base64_of "gold=3") other=$(base64_of "gold=4")
    join a '"filter":{"map":"a"}'
    one=$match
    join b '"filter":{"map":"b"}'
    two=$match
    answers "$one" '"ask":"1","player":"7"' '"error": "the player has no seat in this match", "is_final": true'
    answers "$one" '"keep":"1","player":"7","version":"0","record":""' '"error": "the player has no seat in this match", "is_final": true'
    has_player_7 "$one"
    has_player_7 "$two"
    answers "$one" '"ask":"1","player":"7","again":1' '"version": "0", "record": "", "bytes": ""'
    answers "$two" '"ask":"1","player":"7"' '"version": "0"'
    answers "$one" '"keep":"2","player":"7","version":"0","record":"'"$text"'"' '"keep": "2", "version": "1"'
    answers "$two" '"keep":"2","player":"7","version":"0","record":"'"$other"'"' '"keep": "2", "error": "conflict"'
    answers "$one" '"keep":"3","player":"7","version":"0","record":"'"$text"'"' '"keep": "3", "version": "1"'
    answers "$two" '"ask":"3","player":"7"' '"version": "1", "record": "'"$text"'"'
    answers "$two" '"keep":"4","player":"7","version":"1","record":"'"$other"'"' '"keep": "4", "version": "2"'
}

case_a_record_outlives_its_match_and_its_host() {
    fakes
    conf
    host host
    keeps_records
    asks 200 /metrics
    says answer.json '^shoal_host_records_total\{result="conflict"\} 1$'
    says answer.json '^shoal_host_records_total\{result="no_seat"\} [1-9]'
    # Who left is known also to the next host.
    join d '"filter":{"map":"d"}'
    local left=$match
    has_player_7 "$left"
    reports "$left" '"players":[]'
    await "an empty match" has_players "$left" 0
    slay host
    host again
    answers "$left" '"ask":"5","player":"7"' '"version": "2"'
    stop again
    [ -s players.db ] || fail "no file of SQLite"
    host next
    join c
    has_player_7 "$match"
    answers "$match" '"ask":"1","player":"7"' "\"version\": \"2\", \"record\": \"$(base64_of "gold=4")\""
    stop next
}

case_joins_outlive_a_database_that_is_killed() {
    postgres_begin || { skip "records in PostgreSQL: postgresql is not installed" && return; }
    fakes
    store="store = $postgres_url" conf
    host host
    keeps_records
    postgres_kill
    local began=$SECONDS known
    known="\"version\": \"2\", \"record\": \"$(base64_of "gold=4")\""
    answers "$match" '"ask":"9","player":"7"' '"error": "the store of records does not answer"'
    [ $((SECONDS - began)) -lt 60 ] || fail "the answer took $((SECONDS - began)) s"
    join c '"request":"c"'
    has_player_7 "$match"
    says host.err 'warning: records of players are not known: store: '
    postgres_start
    await "the records" has_record "$match" "$known"
    says host.err 'records of players are known again'
    # One that hangs, not one that is gone.
    kill -STOP "$postgres_pid" $(pgrep -P "$postgres_pid")
    answers "$match" '"ask":"10","player":"7"' '"error": "the store of records does not answer"'
    kill -CONT $(pgrep -P "$postgres_pid") "$postgres_pid"
    await "the records" has_record "$match" "$known"
    stop host
}
asked=100
has_record() { # MATCH PATTERN
    asked=$((asked + 1))
    tells "$1" '"ask":"'$asked'","player":"7"'
    [[ $told =~ $2 ]]
}

case_a_match_sends_a_player_to_another_one() {
    fakes
    conf
    printf 'game lobby {\n    module = breakout\n    players = 2\n    spare = 1\n    most = 2\n}\n' >>host.conf
    start_ready host shoal-host host.conf
    url=$(sed -n 's/^ready http=\(http:[^ ]*\) games=2$/\1/p' host.out)
    local lobby bytes
    bytes=$(base64_of "level 3")
    asks 200 /v1/join '{"game":"lobby","player":"7"}'
    lobby=$(field match)
    reports "$lobby" '"players":["7"]'
    await "the player in the list" has_players "$lobby" 1
    tells "$lobby" '"transfer":"1","player":"7","to":"breakout","bytes":"'"$bytes"'"'
    match=$(sed -n 's/.*"match": "\([0-9a-f]*\)", "address": "127.0.0.1:9", "token": "[^"]*", "page": "http:\/\/[^"]*\/m\/\1\/play".*/\1/p' <<<"$told")
    [ -n "$match" ] && [ "$match" != "$lobby" ] || fail "no other match: $told"
    answers "$match" '"ask":"1","player":"7"' "\"bytes\": \"$bytes\""
    # Another player, elsewhere, names this machine as his own.
    proxied 192.0.2.1 GET /v1/matches 1 "Host: localhost:1" >/dev/null
    answers "$lobby" '"transfer":"8","player":"7","to":"breakout","bytes":"'"$bytes"'"' "\"page\": \"$url/m/"
    slay host
    start_ready next shoal-host host.conf
    url=$(sed -n 's/^ready http=\(http:[^ ]*\) games=2$/\1/p' next.out)
    answers "$match" '"ask":"2","player":"7"' "\"bytes\": \"$bytes\""
    answers "$match" '"ask":"3","player":"8"' '"bytes": ""'
    answers "$lobby" '"transfer":"2","player":"7","to":"breakout","bytes":""' "\"match\": \"$match\""
    # From match to match of one game, and back to the lobby by its id.
    reports "$match" '"players":["7"]'
    reports "$lobby" '"players":[]'
    await "the player there" has_players "$match" 1
    answers "$match" '"transfer":"3","player":"7","to":"breakout","bytes":""' '"address": '
    ! grep -q "\"match\": \"$match\"" <<<"$told" || fail "the next match is the same one"
    answers "$match" '"transfer":"4","player":"7","to":"'"$lobby"'","bytes":""' "\"match\": \"$lobby\""
    answers "$match" '"transfer":"5","player":"9","to":"breakout","bytes":""' '"error": "the player has no seat in this match"'
    answers "$match" '"transfer":"6","player":"7","to":"chess","bytes":""' '"error": "there is no such game"'
    answers "$match" '"transfer":"7","player":"7","to":"'"$match"'","bytes":""' '"error": "the player is in this match"'
    stop next
}

case_a_match_closes_its_doors_and_says_what_it_is() {
    fakes
    conf
    host host
    join a
    local one=$match
    reports "$one" '"players":[],"values":{"map":"ice","mode":"x"},"open":false'
    await "a closed match" is_in_state "$one" full
    says answer.json '"map":"ice"'
    join b
    [ "$match" != "$one" ] || fail "a closed match has a new player"
    reports "$one" '"players":[],"values":{"map":"ice"},"open":true'
    await "an open match" is_in_state "$one" open
    join c '"filter":{"map":"ice"}'
    [ "$match" = "$one" ] || fail "the filter finds another match"
    join d '"filter":{"map":"ice","mode":"x"}'
    [ "$match" != "$one" ] || fail "a value that is gone is found"
    reports "$one" '"players":[],"values":{"map":7}'
    asks 200 /metrics
    await "a fault that is counted" has_malformed
    stop host
}
has_malformed() { ask /metrics && grep -q '^shoal_host_malformed_total [1-9]' answer.json; }

case_a_result_is_posted_until_it_is_accepted() {
    cat >shop.py <<'PYTHON'
import http.server, os
class Shop(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status = 200 if os.path.exists("opens") else 503
        print(status, self.headers["Idempotency-Key"], text, file=open("posts.txt", "a"))
        self.send_response(status)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Shop)
open("port", "w").write(f"{server.server_port}\n")
server.serve_forever()
PYTHON
    python3 shop.py 2>shop.err &
    pids[shop]=$!
    await "its port" [ -s port ]
    fakes
    conf "results = http://127.0.0.1:$(cat port)/results"
    host host
    join a
    local line line_sent one=$match
    answers "$one" '"result":"'"$(base64_of "3:1")"'","tick":"99"' '"result": "99"'
    await "a post" has_lines posts.txt "^503 $one " 2
    line=$(cat run/results.jsonl)
    [[ $line = '{"match":"'$one'","game":"breakout","tick":99,"time":'*',"result":"'$(base64_of "3:1")'"}' ]] || fail "the file: $line"
    slay host # the next host posts what is left
    host next
    touch opens
    await "a post that is accepted" has_lines posts.txt "^200 $one " 1
    answers "$one" '"result":"'"$(base64_of "3:1")"'","tick":"99","again":1' '"result": "99"'
    : >run/results.jsonl # what comes after a cut is posted
    join b '"filter":{"map":"b"}'
    answers "$match" '"result":"","tick":"7"' '"result": "7"'
    await "a post after the cut" has_lines posts.txt "^200 $match " 1
    [[ $(cat -A run/results.jsonl) = '{"match":"'$match'",'*'}$' ]] || fail "the file after a cut: $(cat -A run/results.jsonl)"
    line_sent=$(od -An -t u8 run/results.sent | tr -d ' ')
    [ "$line_sent" = "$(wc -c <run/results.jsonl)" ] || fail "$line_sent bytes are posted"
    stop next
    [ "$(grep '^200' posts.txt | head -n 1)" = "200 $one $line" ] || fail "it is not the line of the file"
    drop shop
}

case_who_watches_needs_no_seat() {
    conf
    host host
    join player
    local one=$match
    plays player
    await "the player in the list" has_players "$one" 1
    asks 200 /v1/watch "{\"match\":\"$one\"}"
    (umask 077 && field token >eyes.token)
    run_to 6 player2 shoal-client "$address" --bots 1 --token-file eyes.token
    says player2.err 'refused: this token is for a spectator'
    enters eyes eyes.trace --spectate --token-file eyes.token
    has_players "$one" 1 || fail "who watches has a seat"
    asks 404 /v1/watch '{"match":"0123456789abcdef"}'
    asks 404 /v1/watch '{}'
    kill "${pids[eyes]}"
    ended eyes
    stop host
    ends_with 0 player
}

case_the_next_match_begins_where_one_has_ended() {
    block='next = stay' conf
    sed -i 's/--ticks 3600/--ticks 90/' host.conf
    host host
    join player '"request":"r1"'
    local one=$match before=$address
    plays player
    ends_with 0 player
    await "the end of the match" is_in_state "$one" ended
    join player '"request":"r1"'
    [ "$match" != "$one" ] && [ "$address" = "$before" ] || fail "match $match at $address after $one at $before"
    plays player
    ends_with 0 player
    stop host
}

case_a_match_that_writes_to_too_much_memory_ends() {
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0 # sanitizers need address space of their own
    block='memory = 3M' conf
    host host
    ask /v1/join '{"game":"breakout"}'
    [ "$status" = 503 ] || fail "a match of 3 MB runs: $(cat answer.json)"
    sed -i 's/memory = 3M/memory = 1G/' host.conf
    stop host
    host next
    asks 200 /v1/join '{"game":"breakout"}'
    stop next
}

# fleet_host NAME [LINE of the host]...: one of a fleet at $nats, with three matches; $url gets its address.
fleet_host() {
    mkdir -p "$1"
    block='spare = 0' conf "fleet = $nats" 'drain = 0' 'joins = 5' "${@:2}"
    sed -i "s|^folder = .*|folder = $1/run|; s|^store = .*|store = sqlite:$1/players.db|; s/most = 40/most = 3/" host.conf
    host "$1"
}
fleet_has() { # N: hosts that answer each other
    ask '/v1/matches?fleet'
    [ "$(grep -o '"match":' answer.json | wc -l)" = "$1" ]
}
streams_kept() { find store -path '*/streams/*' -prune -printf '%f\n' | sort | xargs; }
ask_all() { user=all login=A ask_broker "$@"; } # of the account of all
no_stream_is_old() { [ "$(streams_kept)" = SHOALS ]; }
# fleet: a broker with the accounts of the page, and one that may do all.
fleet() {
    accounts=$(sed -n '/^    authorization {$/,/^    }$/{s/^      users: \[/& { user: all, password: A },/;p}' "$here/../../server/FLEET.md")
    broker -1 "" "$accounts"
    nats=nats://hosts:H@127.0.0.1:$port
}
case_hosts_of_a_fleet_share_joins() {
    is_here || return 0
    local accounts options='--ticks 36000'
    fleet
    local a b c i of_one of_streams='"subjects":["x"],"max_age":1000000000,"storage":"file","num_replicas":1'
    # What a match left, and what another program did.
    ask_all "\$JS.API.STREAM.CREATE.SHOAL_0123456789abcdef" "{\"name\":\"SHOAL_0123456789abcdef\",$of_streams}"
    ask_all "\$JS.API.STREAM.CREATE.SHOALS" "{\"name\":\"SHOALS\",${of_streams/x/y}}"
    ask_all x 1
    ask_all y 1
    fleet_host one && a=$url
    [ "$(streams_kept)" = "SHOALS SHOAL_0123456789abcdef" ] || fail "a host deletes young streams: the broker has $(streams_kept)"
    fleet_host two && b=$url
    fleet_host three && c=$url
    # One host is asked. A match is filled before another one is started, then all hosts have some. Who plays keeps the seat.
    for i in 1 2 3 4 5 6 7 8 9; do
        url=$a join "player$i" "\"request\":\"r$i\""
        plays "player$i"
        echo "$match" >>seats.txt
        [ $i != 1 ] || of_one=$match
    done
    [ "$(sort seats.txt | uniq -c | awk '{ print $1 }' | xargs)" = "3 3 3" ] || fail "seats: $(sort seats.txt | uniq -c)"
    for url in "$a" "$b" "$c"; do
        asks 200 /v1/matches
        [ "$(grep -o '"match":' answer.json | wc -l)" = 1 ] || fail "$url has $(cat answer.json)"
    done
    await "the list of all" fleet_has 3
    says answer.json '"page":"http://127.0.0.1:[0-9]*/m/[0-9a-f]*/"'
    ! grep -q '"pid":.*"pid":' answer.json || fail "processes of other hosts are shown"
    # Who asks again gets the seat that he has, from any host.
    for url in "$b" "$c" "$a"; do
        asks 200 /v1/join '{"game":"breakout","request":"r1"}'
        [ "$(field match)/$(field taken)" = "$of_one/3" ] || fail "a retry has another seat: $(cat answer.json)"
    done
    [[ $(field page) = http://127.0.0.1:*/m/$of_one/play#join=* ]] || fail "the page: $(field page)"
    # A party and a private match are one match, at any host.
    for url in "$a" "$b" "$c"; do
        asks 200 /v1/join '{"game":"breakout","party":"p","party_seats":3}'
        echo "$(field match)" >>party.txt
    done
    [ "$(sort -u party.txt | wc -l)" = 1 ] || fail "a party has matches: $(cat party.txt)"
    for url in "$c" "$a"; do
        asks 200 /v1/join '{"game":"breakout","filter":{"code":"x"}}'
        echo "$(field match)" >>code.txt
    done
    [ "$(sort -u code.txt | wc -l)" = 1 ] || fail "a code has matches: $(cat code.txt)"
    url=$b && asks 200 /v1/join "{\"game\":\"breakout\",\"match\":\"$(head -n 1 code.txt)\"}"
    asks 404 /v1/join '{"game":"breakout","match":"0123456789abcdef"}'
    asks 200 /metrics
    says answer.json '^shoal_host_fleet_up 1$'
    # Each asks all hosts.
    [ "$(url=$a proxied 192.0.2.1 GET '/v1/matches?fleet' 6)" = "200 200 429" ] || fail "lists of all hosts have no limit"
    # Without the broker a host is alone; it comes again.
    kill_broker
    asks 200 /v1/join '{"game":"breakout","request":"alone"}'
    await "the warning" has_said two.err "the fleet's broker is away"
    asks 200 /metrics
    says answer.json '^shoal_host_fleet_up 0$'
    asks 200 /v1/matches?fleet
    broker "$port" "" "$accounts"
    nats=nats://hosts:H@127.0.0.1:$port
    await "the broker again" has_said two.err "the fleet's broker is back"
    # A host that dies is asked no more.
    slay three
    for url in "$a" "$b"; do
        ask /v1/join '{"game":"breakout","request":"late"}'
        [ "$status" = 200 ] || [ "$status" = 409 ] || fail "a join after the death of a host: $(cat answer.json)"
    done
    rest 10
    fleet_host four
    await "that the old stream is gone" no_stream_is_old
    stop one two four
    for i in 1 2 3 4 5 6 7 8 9; do drop "player$i"; done
}

# A host and its match die at once. Another host has the match's standby.
case_a_match_of_a_host_that_dies_goes_on_at_another_one() {
    is_here || return 0
    local accounts a b i id seats=4 options first=one second=two
    fleet
    options="--ticks 7200 --set lives=9 --stream nats://writes:W@127.0.0.1:$port --tune takeover-ms=1000"
    fleet_host one 'standbys = 1' && a=$url
    fleet_host two 'standbys = 1' && b=$url
    for i in 1 2 3 4; do
        join "player$i" "\"request\":\"r$i\""
        (umask 077 && echo "$(cat "player$i.token")" >>tokens)
    done
    id=$match
    # The broker chose the host.
    [ -d "one/run/matches/$id" ] || { first=two second=one url=$b b=$a a=$url; }
    url=$a
    start clients shoal-client "$address" --bots 4 --token-file tokens --trace clients.trace
    await "the players in the list" has_players "$id" 4
    await "a standby at the other host" has_said "$second/run/matches/$id/err" '^note: stands by at tick'
    await "its address" has_said "$first/run/matches/$id/err" '^note: operator: standbys 127'
    url=$b
    is_in_state "$id" standby || fail "the other host shows the match as $(of_match "$id" state)"
    asks 404 /v1/watch "{\"match\":\"$id\"}"
    rest 0.3 # the address is on its way to the players
    kill -KILL "$(sed 's/^breakout \([0-9]*\) .*/\1/' "$first/run/matches/$id/match")"
    slay $first
    await "the takeover" has_said "$second/run/matches/$id/out" '^takeover epoch=2 '
    await "all players at the other host" has_lines clients.err '^note: back after .* as client [1-4]' 4
    await "them in its list" has_players "$id" 4
    asks 200 /v1/join '{"game":"breakout","request":"r1"}'
    [ "$(field match)/$(field taken)" = "$id/4" ] || fail "a retry has another seat: $(cat answer.json)"
    asks 409 /v1/join "{\"game\":\"breakout\",\"match\":\"$id\"}"
    asks 200 "/m/$id/play/info"
    # The host that comes back leaves the match where it is, and has its standby then.
    fleet_host $first 'standbys = 1'
    await "the news" has_said $first.err "^note: match $id of breakout continues at another host"
    asks 200 /v1/join "{\"game\":\"breakout\",\"request\":\"r2\",\"match\":\"$id\"}"
    [ "$(field match)/$(field taken)" = "$id/4" ] || fail "a retry at the host of before: $(cat answer.json)"
    await "a standby there" has_said "$second/run/matches/$id/err" '^note: operator: standbys 127'
    stop $second
    ended clients
    await "the end of the standby" is_in_state "$id" ended
    verifies "$second/run/matches/$id/match.slog"
    stop $first
}

# Its stream is at the fleet's broker, since its options name none.
case_a_match_that_dies_alone_goes_on_at_its_standby() {
    is_here || return 0
    local first=one second=two a b options='--ticks 7200 --tune on-term=handover'
    broker -1
    fleet_host one 'standbys = 1' && a=$url
    fleet_host two 'standbys = 1' && b=$url
    join player
    # The broker chose the host.
    [ -d "one/run/matches/$match" ] || { first=two second=one url=$b b=$a a=$url; }
    url=$a
    plays player
    await "the player in the list" has_players "$match" 1
    await "a standby" has_said "$first/run/matches/$match/err" '^note: operator: standbys 127'
    await "that it is ready" has_said "$second/run/matches/$match/err" '^note: stands by at tick'
    rest 0.3
    kill -KILL "$(of_match "$match" pid)"
    await "the news" has_said $first.err "^note: match $match of breakout continues at another host"
    is_in_state "$match" ended || fail "it is shown as $(of_match "$match" state)"
    url=$b
    await "the player at the other host" has_players "$match" 1
    is_in_state "$match" open || fail "it is shown as $(of_match "$match" state)"
    # The host of before has its standby, and gets the match when the other one is stopped.
    await "a standby there" has_said "$second/run/matches/$match/err" '^note: operator: standbys 127'
    await "that it is ready" has_said "$first/run/matches/$match/err" '^note: stands by at tick'
    await "that the server knows it" counts_standby "$second/run/matches/$match/control"
    stop $second
    says "$second/run/matches/$match/out" '^handover epoch=3 '
    url=$a
    await "the player where it was first" has_players "$match" 1
    stop $first
    ended player
}

# What server/rooms/README.md tells to write and to run, but for ports and the name.
case_the_page_of_the_host_is_right() {
    local page=$here/../../server/rooms/README.md
    sed -n '/^    http = /,/^    }/{s/^    //;p}' "$page" |
        sed 's/^http = [^ ]*/http = 127.0.0.1:0/; s/^public = .*//' >host.conf
    grep -q '^    shoal-host host.conf$' "$page" && says "$page" '^    curl .*/v1/join -d'
    run_to 0 checked shoal-host --check-options host.conf
    [ -z "${SHOAL_E2E_SLOW:-}" ] || sed -i '/^ *memory = /d' host.conf # of a sanitizer
    host host
    asks 200 "/v1/join" "$(sed -n "s/^    curl .* -d '\\(.*\\)' >seat.json$/\\1/p" "$page")"
    if command -v jq >/dev/null; then
        cp answer.json seat.json
        eval "$(sed -n 's/^    \(jq .*\)/\1/p' "$page")"
        [ "$(cat token)/$(stat -c %a token)" = "$(field token)/600" ] || fail "the token's file: $(cat token)"
    fi
    asks 200 "$(sed -n 's/^    curl [^ ]*\(\/v1\/[a-z]*\)$/\1/p' "$page")"
    stop host
    page=$here/../../server/SERVICE.md
    sed -n '/^    http = /,/^    }/{s/^    //;p}' "$page" >host.conf
    run_to 0 checked shoal-host --check-options host.conf
    [ -z "${SHOAL_E2E_SLOW:-}" ] || sed -i '/^ *memory = /d' host.conf
    # Its way to delete what is over, but for the folder and the age.
    mkdir run/matches/{over,runs} && echo '- breakout 0' >run/matches/over/match && echo 'breakout 1 a b 1' >run/matches/runs/match
    eval "$(sed -n 's|^  `\(find .*\)`\. Keys.*|\1|p' "$page" | sed 's|/var/lib/shoal-host|run|; s|-mtime +7||')"
    [ "$(ls run/matches)" = runs ] || fail "the page deletes: $(ls run/matches)"
    # Its way of a back end, but for address and folder.
    printf 'reader rrrrrrrrrrrrrrrrrrrr\noperator oooooooooooooooooooo\n' >host.tokens
    chmod 600 host.tokens
    sed -i 's/^http = .*/http = 127.0.0.1:0,token-file=host.tokens/; s|^folder = .*|folder = state|; s/^listen = 0.0.0.0:/listen = 127.0.0.1:/' host.conf
    host service
    if command -v curl >/dev/null; then
        eval "$(sed -n 's/^  `\(curl .*\)`\.$/\1/p' "$page" |
            sed "s|/etc/shoal/host.tokens|host.tokens|; s|http://[^/]*/|$url/|; s|curl|curl -s --noproxy '*' -o answer.json|")"
        [[ $(field address) =~ ^play.example:7[0-9][0-9][0-9]$ ]] || fail "the back end gets $(cat answer.json)"
    fi
    stop service
    if command -v sqlite3 >/dev/null; then
        eval "$(sed -n "s/.*results: \`\(sqlite3 .*'\)\`.*/\1/p" "$page" | sed "s|/var/lib/shoal-host|state|; s|/var/backups/|$PWD/kept-|")"
        [ -s kept-players.db ] || fail "nothing is backed up"
    fi
}

run_cases "$@"
