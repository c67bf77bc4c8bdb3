#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A match that survives its server, over Debian's nats-server in a folder and on a port of its own.
#
#     tests/e2e/standby.sh BUILD --drill 20 [--brokers 3] [--stream-sync MS]    the drill, so many times, with its figures
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and tokens
# shellcheck source=broker.sh
. "$here/broker.sh"

takeovers=1
brokers=1
silence_ms=1000 # a server of a busy machine is not taken for dead; a drill measures the default
sync=() # of the servers
case_of_drill=case_players_go_on_at_a_standby_when_their_server_dies
if [ "${2:-}" = --drill ]; then
    deadline_s=60
    takeovers=$3
    silence_ms=300
    folder=$1
    shift 3
    while [ $# -gt 0 ]; do
        case $1 in
        --brokers) brokers=$2 ;;
        --stream-sync) sync=(--stream-sync "$2") ;;
        *) fail "the drill knows no $1" ;;
        esac
        shift 2
    done
    set -- "$folder" $case_of_drill
fi
bots=8

key() { (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out); }

# primary NAME GAME [option...]: $stream gets the address of its stream, $address its own.
primary() {
    local name=$1 game=$2
    shift 2
    start_ready "$name" shoal-server --game "$game" --listen "${listen:-127.0.0.1:0}" --key-file server.key --stream "$nats" "$@"
    stream=$(value stream "$name.out")
    address=$(value listen "$name.out")
}
# standby NAME [option...]: it stands by.
standby() {
    local name=$1
    shift
    start "$name" shoal-server --standby "$stream" --key-file "${keys:-server.key}" --takeover-ms $silence_ms "$@"
    await "$name" stands_by_or_gone "$name"
    says "$name.err" '^note: stands by at tick'
}
stands_by_or_gone() { has_said "$1.err" '^note: stands by at tick' || has_ended "$1"; }
# No player may join while it stands by.
is_ready_for() { python3 "$here/inspect.py" "$(value http second.out)" health "$1" || fail "/readyz of a standby is not $1"; }
has_taken() { has_said "$1.out" '^takeover epoch='; }

# watch NAME: $eyes gets the file to which clients write what they apply; NAME.seen says when.
watch() {
    rm -f "$1.pipe"
    python3 "$here/eyes.py" watch "$1" >"$1.out" 2>"$1.err" {silence}<&- &
    pids[$1]=$!
    await "the eyes" test -p "$1.pipe"
    eyes=$1.pipe
}
# seat WATCH [option...]: players with tokens for both servers.
seat() {
    local watch=$1 i
    shift
    for ((i = 1; i <= bots; i++)); do
        "$bin/shoal-server" token --key-file server.key --server "$address" --server "$free" --player $i
    done >tokens
    watch "$watch"
    start clients shoal-client "$address" --bots $bots --token-file tokens --trace "$eyes" "$@"
    await "update" is_playing "$watch.seen"
}
are_all_back() { has_lines "$1.err" '^note: client [1-8] "bot-[1-8]" is back after ' "$bots"; }
# ends_equal SERVER WATCH: the match ends, and its players have the server's world.
ends_equal() {
    rest 0.3
    stop "$1"
    ends_with 0 clients "$2"
    are_equal "$bots" "$1" clients
}
now_us() { echo "${EPOCHREALTIME/./}"; }
# percentile PERCENT NUMBER...
percentile() {
    local percent=$1
    shift
    printf '%s\n' "$@" | sort -n | awk -v p="$percent" '{ a[NR] = $1 } END { print a[int((NR - 1) * p / 100 + 0.5) + 1] }'
}

# Each server has an address of its own, and tokens name both. The keys of the standby were rotated meanwhile.
survives() { # NUMBER
    local listen keys=rotated.key killed_us took lost spans
    free_port
    listen=$free
    free_port
    primary "first$1" "$played" --min-clients $bots --log "first$1.slog" --listen public="$listen" --standby-at "$free" "${sync[@]}"
    standby "second$1" --listen "$free" --listen public="$free" --log "joined$1.slog" "${sync[@]}"
    seat "seen$1" --net loss=5
    rest "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
    killed_us=$(now_us)
    slay "first$1"
    await "the takeover" has_taken "second$1"
    await "all players" are_all_back "second$1"
    ends_equal "second$1" "seen$1"
    ! grep '^note: refused.* token_forged=' "second$1.err" || fail "a resume token of the first server opens nothing"
    says "second$1.out" "^takeover epoch=2 tick=[0-9]+ players=$bots silent_ms=[0-9]+\$"
    verifies "joined$1.slog" "second$1"
    says verify.out ' tail=whole lost_bytes=0$'
    took=$(sed -n 's/^takeover .*\btick=\([0-9]*\).*/\1/p' "second$1.out")
    { read -ra spans && read -r lost; } < <(python3 "$here/eyes.py" gaps "seen$1" "$killed_us" "$took")
    [ ${#spans[@]} = $bots ] || fail "${#spans[@]} players saw ticks"
    all_spans+=("${spans[@]}")
    all_lost+=("$lost")
    printf '%4s %6s %6s %6s %5s %8s %6s %9s\n' "$1" "$took" "$(percentile 50 "${spans[@]}")" \
        "$(percentile 100 "${spans[@]}")" "$lost" "$bots of $bots" $bots "$(value ticks verify.out)"
    [ ${#sync[@]} = 0 ] || [ "$lost" = 0 ] || fail "$lost ticks were lost, though datagrams wait for the stream"
}

# Ticks that were lost are those that a player had seen.
case_players_go_on_at_a_standby_when_their_server_dies() {
    local i all_spans=() all_lost=()
    take_seed
    key
    cp -p server.key rotated.key
    "$bin/shoal-server" keygen --rotate rotated.key >keygen.out
    start_brokers
    printf '%4s %6s %6s %6s %5s %8s %6s %9s\n' kill tick p50_ms max_ms lost resumed equal verified
    for ((i = 1; i <= takeovers; i++)); do survives $i; done
    echo "drill kills=$takeovers brokers=$brokers sync=${sync[1]:-off} gap_ms_p50=$(percentile 50 "${all_spans[@]}")" \
        "gap_ms_p95=$(percentile 95 "${all_spans[@]}") gap_ms_max=$(percentile 100 "${all_spans[@]}")" \
        "ticks_lost_p50=$(percentile 50 "${all_lost[@]}") ticks_lost_max=$(percentile 100 "${all_lost[@]}")" \
        "resumed=$((takeovers * bots)) of $((takeovers * bots)), each hash equal, each joined log one match"
}
case_players_push_crates_on_at_a_standby() {
    plays_crates || return 0
    case_players_go_on_at_a_standby_when_their_server_dies
}
start_brokers() {
    if [ "$brokers" = 3 ]; then brokers3; else broker -1; fi
}

case_the_match_goes_on_at_a_standby_with_three_brokers() {
    brokers=3
    case_players_go_on_at_a_standby_when_their_server_dies
}

case_the_match_of_a_script_goes_on_at_a_standby() {
    [ -e "$games/lua.so" ] || { skip "there is no Lua here" && return; }
    played=lua
    case_players_go_on_at_a_standby_when_their_server_dies
}

case_players_find_a_standby_that_came_later() {
    local bots=2
    key
    broker -1
    free_port
    primary first breakout --min-clients $bots --log a.slog --control socket
    seat seen
    standby second --listen "$free" --log b.slog --max-clients 2
    run_to 1 ctl shoal-ctl --socket socket standbys "10.0.0.2,$free"
    says ctl.err "'10.0.0.2,$free': at most 4 addresses of the form"
    run_to 0 ctl shoal-ctl --socket socket standbys "$free"
    says first.err "^note: operator: standbys $free\$"
    rest 0.3 # it is on its way to them
    slay first
    await "all players" are_all_back second
    ends_equal second seen
}

# From the last tick on its stream has one record each 5 s, and the standby waits for longer than that.
case_an_empty_match_is_kept_and_goes_on_when_its_server_dies() {
    local bots=1
    key
    broker -1
    free_port
    primary first breakout --log a.slog --pause-when-empty --lines status-s=1
    standby second --listen "$free" --log b.slog --pause-when-empty
    seat seen --ticks 60
    ended clients
    ends_with 0 seen
    await "an empty match" has_said first.err '^note: status tick=[1-9][0-9]* .* paused=empty '
    rest 7
    has_taken second && fail "the standby took the match of a server that lives"
    slay first
    await "the takeover" has_taken second
    stop second
    verifies b.slog second
}

# As soon as one without a pause: the standby waits less than the time between two signs of life.
case_an_empty_match_that_a_player_woke_goes_on_as_any_other() {
    local bots=2 silent_ms
    key
    broker -1
    free_port
    primary first breakout --log a.slog --standby-at "$free" --pause-when-empty --lines status-s=1
    standby second --listen "$free" --log b.slog --pause-when-empty
    await "an empty match" has_said first.err '^note: status tick=0 .* paused=empty '
    seat seen
    slay first
    await "all players" are_all_back second
    silent_ms=$(value silent_ms second.out)
    [ "$silent_ms" -lt 5000 ] || fail "the standby waited for $silent_ms ms"
    ends_equal second seen
    verifies b.slog second
}

# Its report ends with the tick. It would take a server for dead that says nothing for 300 ms.
case_a_follower_of_an_older_build_hears_more_of_an_empty_match() {
    local count
    key
    broker -1
    primary first breakout --log a.slog --pause-when-empty
    rest 1
    ask_broker "shoal.${stream##*/SHOAL_}.report" $'\x01\x01\x01AAAAAAAAAAAAAAAA'
    rest 2
    stop first
    run dump shoal-replay dump a.slog
    count=$(grep -c '"alive":{"tick":1,"reason":5' dump.out)
    [ "$count" -gt 10 ] || fail "it says $count times that it lives"
}

# A leaf node of NATS on it has the connection.
case_all_matches_of_a_machine_share_one_connection_to_the_broker() {
    local ports match
    key
    read -ra ports < <(free_tcp_ports 3)
    broker -1 'domain: hub' "leafnodes { listen: \"127.0.0.1:${ports[0]}\" }
http: \"127.0.0.1:${ports[1]}\""
    printf 'listen: "127.0.0.1:%s"\ndefault_js_domain { "$G": hub }\nleafnodes { remotes: [ { url: "nats://127.0.0.1:%s" } ] }\n' \
        "${ports[2]}" "${ports[0]}" >leaf.conf
    nats-server -c leaf.conf >leaf.out 2>leaf.err &
    pids[leaf]=$!
    nats=nats://127.0.0.1:${ports[2]}
    for match in one two; do
        primary $match breakout --log $match.slog
        standby $match-too --listen 127.0.0.1:0 --log $match-too.slog
    done
    [ "$(python3 -c 'import json, sys, urllib.request
said = json.load(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/varz"))
print(said["connections"], said["leafnodes"])' "${ports[1]}")" = "0 1" ] || fail "the broker has other connections than that of the leaf"
    slay one
    await "the takeover" has_taken one-too
    stop two one-too
    ends_with 0 two-too
    verifies one-too.slog one-too
    verifies two-too.slog two
    drop leaf
}

case_a_standby_that_is_too_small_for_the_players_says_so() {
    local bots=2
    key
    broker -1
    free_port
    primary first breakout --min-clients $bots --log a.slog
    standby second --listen 127.0.0.1:0 --log b.slog --max-clients 1
    ! grep 'is less than the' second.err || fail "there is no player yet"
    seat seen
    await "a warning" has_said second.err '^warning: --max-clients 1 is less than the 2 players of the match: not all could come back here$'
    stop second
    [ "$(grep -c 'is less than the' second.err)" = 1 ] || fail "it says it again"
    stop first
    ended clients
    ends_with 0 seen
}

# With players: none of them applies what it sends when it wakes. SHOAL_E2E_SLEEP_S=30 for a long sleep.
case_a_server_that_slept_stops_and_says_who_has_its_match() {
    local woke_us falls
    bots=2
    key
    broker -1
    free_port
    primary first breakout --log a.slog --min-clients $bots --standby-at "$free"
    standby second --listen "$free" --log b.slog --http 127.0.0.1:0
    seat seen
    is_ready_for 503
    kill -STOP "${pids[first]}"
    await "the takeover" has_taken second
    is_ready_for 200
    await "all players" are_all_back second
    rest "${SHOAL_E2E_SLEEP_S:-0.5}"
    woke_us=$(now_us)
    kill -CONT "${pids[first]}"
    ends_with 9 first
    says first.err '^error: fenced by epoch 2: another server continues this match'
    ends_equal second seen
    verifies b.slog second
    falls=$(awk -v woke="$woke_us" '$1 >= woke { lines++; if ($3 <= newest[$2]) falls++ } { newest[$2] = $3 }
        END { print lines ? falls + 0 : "no line" }' seen.seen)
    [ "$falls" = 0 ] || fail "clients applied what a server sent that had lost the match: $falls"
}

# shadow [SERVER-OPTION...]: a match with two players, and a standby; $seen has rows.
shadow() {
    bots=2
    key
    free_port
    primary first breakout --log a.slog --min-clients $bots --standby-at "$free"
    standby second --listen "$free" --log b.slog
    seat seen
}
plays_on() { await "more of the match" has_rows seen.seen $(($(wc -l <seen.seen) + $1)); }
# The first server has its match to the end, and the standby all of it.
has_kept_its_match() {
    has_taken second && fail "the standby took the match of a server that lived"
    stop first
    ends_with 0 second clients seen
    are_equal $bots first clients
    verifies a.slog first
    verifies b.slog first
}

# Seconds pass until the others have a leader.
case_a_broker_of_three_that_dies_moves_no_match() {
    local leader
    brokers3
    shadow
    leader=$(ask_brokers leader)
    kill_broker "$leader"
    await "the end of the leader" has_said first.err '^warning: the stream.s broker (is away|does not answer), the match continues'
    await "another leader" has_said first.err '^note: the stream.s broker is back; [1-9][0-9]* records come late$'
    plays_on 120
    has_kept_its_match
}

# Its answers come 200 ms late. Then it stands still (SHOAL_E2E_STALL_S=5), and the match does not.
case_a_slow_broker_and_one_that_stands_still_move_no_match() {
    broker -1
    python3 "$here/slow.py" "$port" 200 >slow.out 2>slow.err {silence}<&- &
    pids[slow]=$!
    await "the slow line" has_said slow.out '^listen='
    nats=nats://$(value listen slow.out)
    shadow
    plays_on 120
    kill -STOP "${pids[broker]}"
    plays_on 120
    rest "${SHOAL_E2E_STALL_S:-0.1}"
    has_taken second && fail "the standby took the match of a server that lived"
    kill -CONT "${pids[broker]}"
    plays_on 120
    has_kept_its_match
    drop slow
}

# The standby follows, and has the match when the server dies. Then it begins the stream again, of its own log.
case_standbys_follow_a_stream_that_begins_again() {
    broker -1
    bots=2
    key
    free_port
    primary first breakout --log a.slog --min-clients $bots --standby-at "$free" --control first.socket
    standby second --listen "$free" --log b.slog --control socket
    start_ready relay shoal-relay "$stream" --delay 1 --listen 127.0.0.1:0 --record none
    seat seen
    kill_broker
    rm -r store
    broker "${nats##*:}"
    await "the stream" has_said first.err '^note: the stream began again as epoch 2: '
    plays_on 120
    await "all of it once more" has_sent first.socket 2
    has_taken second && fail "the standby took the match of a server that lived"
    slay first
    await "the takeover" has_taken second
    says second.out '^takeover epoch=3 '
    await "all players" are_all_back second
    run_to 0 ctl shoal-ctl --socket socket restream
    await "the stream" has_said second.err '^note: the stream began again as epoch 4: '
    start third shoal-server --standby "$stream" --key-file server.key --listen 127.0.0.1:0 --log c.slog
    await third has_said third.err '^note: stands by at tick [0-9]+, epoch 4$'
    ends_equal second seen
    ends_with 0 third relay
    says relay.err "^nats.*: note: the match ended at tick $(value ticks second.out)\$"
    verifies b.slog second
    verifies c.slog second
}

# There is no room for the stack of one when it claims.
case_a_standby_begins_no_thread_when_it_takes_over() {
    local kb
    key
    broker -1
    primary first breakout --log a.slog
    standby second --listen 127.0.0.1:0 --log b.slog
    kb=$(sed -n 's/^VmSize:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/${pids[second]}/status")
    prlimit --pid "${pids[second]}" --as=$(((kb + 4096) * 1024))
    slay first
    await "the takeover" has_taken second
    rest 0.3
    stop second
    ! grep -E 'no thread|the stream lacks' second.err || fail "nothing writes the stream"
    verifies b.slog second
}

# A listener without a word in the broker's place: each try to connect to it takes the library 2 s. Within one of them the
# inspector answers ten times, with rests between.
case_a_standby_answers_while_its_broker_is_silent() {
    key
    broker -1
    primary first breakout --log a.slog
    standby second --listen 127.0.0.1:0 --log b.slog --http 127.0.0.1:0
    kill_broker
    slay first
    python3 "$here/silent.py" "$port" "$(value http second.out)" >silent.out 2>silent.err {silence}<&- &
    pids[silent]=$!
    ends_with 0 silent
    stop second
}

case_inputs_that_crash_the_game_crash_one_standby_only() {
    local crash=$build/test/crash/crash.so name
    key
    broker -1
    primary first "$crash" --tick-rate 60 --set how=1 --set at=180 --log a.slog
    for name in second third; do standby $name --game "$crash" --listen 127.0.0.1:0 --log $name.slog; done
    await "the end of two servers" has_ended first
    await "the end of a standby" is_one_left
    for name in second third; do
        has_ended $name || break
    done
    await "its words" has_said $name.err 'tick 180 ended two servers: the match does not continue here'
    stop $name
    for name in "${!pids[@]}"; do
        [ "$name" = broker ] && continue
        wait "${pids[$name]}" 2>/dev/null || true
        says "$name.err" 'assertion failed: .*as the test wants'
        unset "pids[$name]"
    done
}
is_one_left() { has_ended second || has_ended third; }

case_a_standby_without_the_key_of_the_match_refuses() {
    key
    (umask 077 && "$bin/shoal-server" keygen other.key >keygen.out)
    broker -1
    primary first breakout --log a.slog
    run_to 2 second shoal-server --standby "$stream" --key-file other.key --listen 127.0.0.1:0 --log b.slog
    says second.err '^other.key: error: it lacks the key of the match.s server: no player could come back here$'
    stop first
    start_ready first shoal-server --game breakout --listen 127.0.0.1:0 --log c.slog --stream "nats://127.0.0.1:$port"
    run_to 2 second shoal-server --standby "$(value stream first.out)" --key-file other.key --listen 127.0.0.1:0 --log b.slog
    says second.err 'error: the match.s server has no --key-file: no player could come back here$'
    stop first
}

# As when the match is older than its stream keeps.
# A stream that begins again has all of the match.
case_who_comes_to_a_stream_without_its_begin_reads_why() {
    key
    broker -1
    primary first breakout --log a.slog --control socket
    ask_broker "\$JS.API.STREAM.MSG.DELETE.${stream##*/}" '{"seq":1,"no_erase":true}'
    run_to 1 second shoal-server --standby "$stream" --key-file server.key --listen 127.0.0.1:0 --log b.slog
    says second.err 'error: message 1 of the stream is gone, the broker keeps what is after 1: who begins now cannot follow this match'
    run_to 1 relay shoal-relay "$stream" --listen 127.0.0.1:0 --record none
    says relay.err 'error: message 1 of the stream is gone'
    run_to 0 ctl shoal-ctl --socket socket restream
    await "the stream" has_said first.err '^note: the stream began again as epoch 2: '
    standby third --listen 127.0.0.1:0 --log c.slog
    stop first
    ends_with 0 third
    verifies c.slog first
}

# Matches of arena (SHOAL_E2E_MATCHES=7 for more than one), each handed over three times between two places, with players by
# UDP and as pages do. What a player saw of one server the next one has.
opens_at() { # PLACE NAME OPTION...
    start_ready "$2" shoal-server --listen "${places[$1]}" --http "${pages[$1]}" --stream page="http://${pages[$((1 - $1))]}/play" \
        --key-file server.key --control "$2.socket" --log "$2.slog" --tune on-term=handover "${@:3}"
}
case_a_match_is_handed_over_and_loses_nothing() {
    local match all_spans=()
    [ -x "$bin/shoal-web-bots" ] || { skip "this build has no players of browsers" && return; }
    printf '%5s %8s %6s %9s %9s %5s\n' match handover tick p50_ms max_ms lost
    for ((match = 1; match <= ${SHOAL_E2E_MATCHES:-1}; match++)); do
        mkdir match$match
        cd match$match
        hands_over_thrice
        kill_broker
        cd ..
    done
    echo "handovers=$((match * 3 - 3)) gap_ms_p50=$(percentile 50 "${all_spans[@]}") gap_ms_p95=$(percentile 95 "${all_spans[@]}")" \
        "gap_ms_max=$(percentile 100 "${all_spans[@]}") ticks_lost=0"
}
hands_over_thrice() {
    local i from to place bots=4 places=() pages=() spans more lost lost_too said_us took
    key
    broker -1
    for i in 0 1; do
        free_port
        places+=("$free")
        free_port
        pages+=("$free")
    done
    opens_at 0 s0 --game arena --tick-rate 30 --min-clients 8 --stream "$nats"
    stream=$(value stream s0.out)
    for ((i = 1; i <= 8; i++)); do "$bin/shoal-server" token --key-file server.key --player $i; done >tokens
    head -n 4 tokens >udp.tokens
    tail -n 4 tokens >web.tokens
    watch udp
    start clients shoal-client "${places[0]}" --bots 4 --token-file udp.tokens --trace "$eyes"
    watch web
    start others shoal-web-bots "${pages[0]},${pages[1]}" --headless --bots 4 --token-file web.tokens --trace "$eyes"
    await "updates" is_playing udp.seen
    await "updates" is_playing web.seen
    for i in 1 2 3; do
        from=s$((i - 1)) to=s$i place=$((i % 2))
        run_to 0 ctl shoal-ctl --socket $from.socket standbys "${places[$place]}" # players read it while that one opens
        opens_at $place $to --standby "$stream"
        await "$to" stands_by_or_gone $to
        says $to.err '^note: stands by at tick'
        await "a standby that counts" counts_standby $from.socket
        said_us=$(now_us)
        if [ $i = 2 ]; then # as systemd does, and a node that is emptied
            kill -TERM "${pids[$from]}"
        else
            await "the handover" hands_over $from.socket $to.out
        fi
        ends_with 0 $from
        says $from.out "^handover epoch=$((i + 1)) tick=[0-9]+\$"
        await "all players" has_lines $to.err '^note: client [1-8] "bot-[1-4]\( (2)\)\{0,1\}" is back after ' 8
        took=$(sed -n "s/^handover .*tick=//p" $from.out)
        says $to.out "^takeover epoch=$((i + 1)) tick=$took players=8 silent_ms="
        await "newer ticks" see_newer "$took" udp web
        { read -ra spans && read -r lost; } < <(python3 "$here/eyes.py" gaps udp "$said_us" "$took")
        { read -ra more && read -r lost_too; } < <(python3 "$here/eyes.py" gaps web "$said_us" "$took")
        spans+=("${more[@]}")
        [ ${#spans[@]} = 8 ] || fail "${#spans[@]} players saw ticks"
        [ "$lost" = 0 ] && [ "$lost_too" = 0 ] || fail "$lost and $lost_too ticks were lost"
        printf '%5s %8s %6s %9s %9s %5s\n' $match $i "$took" "$(percentile 50 "${spans[@]}")" "$(percentile 100 "${spans[@]}")" $lost
        all_spans+=("${spans[@]}")
    done
    stop $to # there is no standby: the match ends in order
    ends_with 0 clients others udp web
    are_equal 8 $to clients others
    verifies $to.slog $to
    is_closed $to.slog
    for ((i = 0; i < ${to#s}; i++)); do verifies s$i.slog; done
}
# A broker of a busy machine takes a while, and then no standby is ready.
see_newer() { [ "$(awk -v took="$1" '$3 > took {print FILENAME, $2}' "$2.seen" "$3.seen" | sort -u | wc -l)" = 8 ]; }

case_without_a_standby_nothing_is_handed_over() {
    key
    broker -1
    primary first breakout --log a.slog --control socket --tune on-term=handover
    run_to 1 ctl shoal-ctl --socket socket handover
    says ctl.err 'no standby is ready to take the match: start one with --standby'
    stop first
    says first.out '^done '
    is_closed a.slog
    start_ready alone shoal-server --game breakout --listen 127.0.0.1:0 --log none --control socket
    run_to 1 ctl shoal-ctl --socket socket handover
    says ctl.err 'no standby is ready to take the match'
    stop alone
}
# It counted a moment ago, and hangs: the match stays, and a signal ends it in order.
case_a_standby_that_takes_no_match_over_costs_none() {
    local way
    key
    broker -1
    for way in verb signal; do
        primary $way breakout --log $way.slog --control socket --tune on-term=handover
        standby $way-too --listen 127.0.0.1:0 --log $way-too.slog
        await "a standby that counts" counts_standby socket
        kill -STOP "${pids[$way-too]}"
        if [ $way = verb ]; then run_to 0 ctl shoal-ctl --socket socket handover; else kill "${pids[$way]}"; fi
        await "its words" has_said $way.err '^warning: no standby took the match within 2000 ms: it continues here$'
        [ $way = signal ] || kill "${pids[$way]}"
        ends_with 0 $way
        says $way.out '^done '
        kill -CONT "${pids[$way-too]}"
        ends_with 0 $way-too
        verifies $way.slog $way
        verifies $way-too.slog $way
    done
}

# refuses TEXT OPTION...
refuses() {
    local text=$1
    shift
    run_to 2 refused shoal-server --standby nats://127.0.0.1:1/SHOAL_0123456789abcdef "$@"
    says refused.err "$text"
}
case_a_standby_refuses_what_cannot_go_on_with_a_match() {
    key
    refuses '^error: --standby: it needs the --key-file of the match.s server, and no built-in key: players prove by it who they are$'
    refuses '^error: --standby: it needs the --key-file' --key-file server.key --allow-dev-key
    refuses '^error: --standby: it needs a log' --key-file server.key --log none
    refuses '^error: --standby: neither --resume nor --stream goes with it' --key-file server.key --resume a.slog
    refuses '^error: --set: a match that continues has the settings of its server$' --key-file server.key --set lives=4
}

needs=is_here
run_cases "$@"
