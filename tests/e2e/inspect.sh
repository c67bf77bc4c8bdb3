#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The inspector of a running match (--http), by its interface: inspect.py asks it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=broker.sh
. "$here/broker.sh"

# serves [option...]: a server of breakout with an inspector; $url is the inspector's.
serves() {
    start_ready server shoal-server --game breakout --listen 127.0.0.1:0 --log none --http 127.0.0.1:0 "$@"
    url=$(value http server.out)
    [ -n "$url" ] || fail "the ready line names no inspector"
}
asks() { python3 "$here/inspect.py" "$url" "$@" >asks.out 2>asks.err || fail "inspect.py $*"; }
ends_by_post() {
    asks ends
    ends_with 0 server
}
tokens() {
    (umask 077 && printf 'reader %s\noperator %s\n' "$reader" "$operator" >tokens)
}
reader=0123456789abcdef-reader
operator=0123456789abcdef-operator

case_an_inspector_answers_and_keeps_foreign_pages_out() {
    serves --http host=shoal.example
    asks loopback
    ends_by_post
    [ "$(wc -l <server.out)" = 2 ] || fail "the inspector prints"
}

case_browsers_keep_the_code_of_the_game() {
    mkdir lib lib/web
    copy_games lib/games
    head -c 50000 "$here/inspect.py" >lib/web/breakout.wasm # any bytes
    gzip -9 -n -k lib/web/breakout.wasm
    start_ready server shoal-server --game lib/games/breakout.so --listen 127.0.0.1:0 --log none --http 127.0.0.1:0
    url=$(value http server.out)
    asks game breakout
    ends_by_post
}

case_readers_look_and_operators_change() {
    tokens
    serves --http-token-file tokens
    asks tokens "$reader" "$operator"
    stop server
}

# Each line is checked, and each query of the dashboard and the alerts has its metric.
case_metrics_are_what_prometheus_reads() {
    local package=$here/../../scripts/package
    local stream=()
    is_possible && broker -1 && stream=(--stream "nats://127.0.0.1:$port" --stream-sync 2000)
    serves --log a.slog "${stream[@]}"
    start client shoal-client "$(value listen server.out)" --bots 2 --trace trace.txt
    await "a player" is_playing trace.txt
    asks has_observed
    asks metrics "$package/grafana/shoal.json" "$package/prometheus/shoal-alerts.yml"
    if command -v promtool >/dev/null; then
        promtool check metrics <asks.out >promtool.out 2>&1 || fail "promtool: $(cat promtool.out)"
        promtool check rules "$package/prometheus/shoal-alerts.yml" >promtool.out || fail "promtool: $(cat promtool.out)"
    else
        skip "promtool is missing (package prometheus)"
    fi
    ends_by_post
    ended client
    [ ${#stream[@]} = 0 ] || kill_broker
}

has_followers() { python3 "$here/inspect.py" "$url" followers "$@" >asks.out 2>asks.err; } # STANDBYS RELAYS
# The accounts are those of FLEET.md.
case_a_server_counts_who_would_take_over_its_match() {
    is_here || return 0
    local name
    (umask 077 && "$bin/shoal-server" keygen key >keygen.out)
    broker -1 "" "$(sed -n '/^    authorization {$/,/^    }$/p' "$here/../../server/FLEET.md")"
    serves --key-file key --log a.slog --stream "nats://writes:W@127.0.0.1:$port"
    name=$(value stream server.out)
    await "no one" has_followers 0 0
    start standby shoal-server --standby "nats://writes:W@${name#nats://}" --key-file key --listen 127.0.0.1:0 --log b.slog --takeover-ms 5000
    start relay shoal-relay "nats://reads:R@${name#nats://}" --listen 127.0.0.1:0 --record none
    await "a standby and a relay" has_followers 1 1
    kill -STOP "${pids[standby]}"
    await "that it hangs" has_followers 0 1
    kill -CONT "${pids[standby]}"
    await "that it goes on" has_followers 1 1
    slay standby
    await "that it is gone" has_followers 0 1
    ends_by_post
    kill "${pids[relay]}"
    ended relay
}

case_an_answer_does_not_wait_for_a_tick() {
    serves --tick-rate 1
    asks soon
    ends_by_post
}

# It waits for players, plays, is paused, drains: alive in each phase, and ready as long as a player may join.
case_a_server_is_healthy_in_each_phase() {
    serves --min-clients 1 --tune drain-s=600
    asks health 200
    start client shoal-client "$(value listen server.out)" --bots 1 --trace trace.txt
    await "a player" is_playing trace.txt
    asks health 200
    asks pauses
    rest 2.5 # longer than a loop may take
    asks health 200
    asks resumes
    kill -TERM "${pids[server]}"
    await "the drain" has_said server.err '^note: draining'
    asks health 503
    ends_by_post
    ended client
}

case_a_server_without_descriptors_answers_and_says_so_once() {
    serves --control few.sock
    asks lacks server.err "${pids[server]}"
    has_lines server.err 'warning: connections are refused: no file descriptor is left: raise the limit' 1 || fail "it is said twice"
    run_to 0 ctl shoal-ctl --socket few.sock status # this socket may say it once more
    asks health 200
    ends_by_post
}

case_a_server_that_settles_is_healthy() {
    serves --min-clients 1 --ticks 420
    start client shoal-client "$(value listen server.out)" --bots 1 --trace trace.txt
    await "a player" is_playing trace.txt
    kill -STOP "${pids[client]}"
    asks settles
    kill -CONT "${pids[client]}"
    ends_with 0 server
    ended client
}

# What a bot did is in the log, and in nothing that a reader gets.
case_readers_get_a_spectators_record_and_never_the_log() {
    tokens
    serves --log a.slog --http-token-file tokens --min-clients 1
    run bots shoal-client "$(value listen server.out)" --headless --bots 2 --ticks 200
    asks logs "$reader" "$operator"
    stop server
    cmp -n "$(stat -c %s copy.slog)" copy.slog a.slog || fail "the operator's bytes are not the log's"
    run log shoal-replay stats copy.slog
    says log.out 'inputs=[1-9]'
    run seen shoal-replay info seen.slog
    says seen.out '^recorded_by=client$'
    says seen.out '^seed=0$'
    says seen.out '^damaged_blocks=0$'
    run seen shoal-replay stats seen.slog
    says seen.out 'items joins=0 leaves=0 inputs=0 input_repeats=0 client_events=0 '
    says seen.out '^total ticks=[1-9]'
}

# begins_late SEGMENT [option...]: a late viewer begins at the newest keyframe, which is in this segment.
begins_late() {
    local segment=$1 file
    shift
    run made shoal-server --game breakout --listen 127.0.0.1:0 --log "a$segment.slog" --fast --ticks 1300 "$@"
    start page shoal-replay serve "a$segment.slog" --http 127.0.0.1:0,token-file=tokens
    await "ready line of serve" has_said page.out '^ready http='
    url=$(value http page.out)
    asks late_logs "$reader" "$operator" "$segment"
    kill -INT "${pids[page]}"
    ends_with 0 page
    for file in copy seen; do
        run late shoal-replay info $file.slog
        says late.out '^damaged_blocks=0$'
        says late.out '^first_tick=1201$'
        says late.out '^last_tick=1300$'
    done
    says late.out '^recorded_by=client$'
    run log shoal-replay verify copy.slog
}
case_a_reader_who_comes_late_begins_at_the_newest_keyframe() {
    tokens
    begins_late 1
    begins_late 3 --log-segment-s 5
}

case_a_log_is_served_with_its_segments_without_a_match() {
    run made shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --log-segment-s 5 --fast --ticks 1300
    [ -s a.slog.seg0002 ] || fail "the log has no second segment"
    start page shoal-replay serve a.slog --http 127.0.0.1:0
    await "ready line of serve" has_said page.out '^ready http='
    url=$(value http page.out)
    asks served
    kill -INT "${pids[page]}"
    ends_with 0 page
    for part in .seg0001 .seg0002 ''; do
        cmp "a.slog$part" "copy.slog$part" || fail "a.slog$part is not as it was served"
    done
    run seen shoal-replay info seen.slog
    says seen.out '^segments=3$'
    says seen.out '^damaged_blocks=0$'
    says seen.out '^closed=yes$'
    says seen.out '^recorded_by=client$'
    run seen shoal-replay stats seen.slog
    says seen.out '^total ticks=1300 '
}

case_a_map_has_what_lies_in_a_field_of_a_component() {
    start server shoal-server --game cubes --set cubes=60 --listen 127.0.0.1:0 --log none --http 127.0.0.1:0 --min-clients 0
    await "ready line" has_said server.out '^ready '
    url=$(value http server.out)
    await "the places of cubes" has_bodies
    ends_by_post
}
has_bodies() { python3 "$here/inspect.py" "$url" bodies 60 2>/dev/null; } # from the first ticks on

case_a_log_is_live_as_long_as_its_server_lives() {
    start server shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --min-clients 0
    await "ready line" has_said server.out '^ready '
    start page shoal-replay serve a.slog --http 127.0.0.1:0
    await "ready line of serve" has_said page.out '^ready http='
    url=$(value http page.out)
    asks live true
    asks status_grows 60
    slay server
    asks live false
    start later shoal-replay serve a.slog --http 127.0.0.1:0
    await "ready line of serve" has_said later.out '^ready http='
    url=$(value http later.out)
    asks live false
    kill -INT "${pids[page]}" "${pids[later]}"
    ends_with 0 page later
}

# Arena has rules of interest: a spectator's record would have what players do not see.
case_a_game_that_hides_something_is_watched_later_or_not_at_all() {
    tokens
    serves --game arena --set agents=20 --http-token-file tokens --log a.slog
    asks hides "$reader"
    stop server
    serves --game arena --set agents=20 --http-token-file tokens --log b.slog --http delay=20
    asks late "$reader" "$operator"
    stop server
}

case_readers_of_a_served_log_wait_until_it_is_closed() {
    tokens
    start server shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --min-clients 0
    await "ready line" has_said server.out '^ready '
    start page shoal-replay serve a.slog --http 127.0.0.1:0,token-file=tokens
    await "ready line of serve" has_said page.out '^ready http='
    url=$(value http page.out)
    asks hidden_while_live "$reader"
    stop server
    asks seen_when_closed "$reader"
    kill -INT "${pids[page]}"
    ends_with 0 page
}

case_a_server_without_a_log_has_nothing_to_watch() {
    tokens
    serves --http-token-file tokens --http delay=5
    asks none "$reader"
    stop server
}

# refused CODE REGEX [option...]
refused() {
    run_to "$1" refused shoal-server --game breakout --listen 127.0.0.1:0 --log none --ticks 1 --fast "${@:3}"
    says refused.err "$2"
}

case_an_inspector_that_cannot_be_served_says_why() {
    refused 2 'an address that others reach needs --http token-file' --http 0.0.0.0:0
    refused 2 'is not ADDR:PORT' --http nonsense
    refused 2 '1 to 255 bytes' --http 127.0.0.1:0 --http host=''
    (umask 022 && echo "reader $reader" >tokens)
    refused 2 'chmod 600' --http 127.0.0.1:0,token-file=tokens
    serves
    refused 3 "cannot bind ${url#http://}: Address already in use" --http "${url#http://}"
    refused 0 'warning: --http: cannot bind' --http "${url#http://}" --http optional
    ends_by_post
}

run_cases "$@"
