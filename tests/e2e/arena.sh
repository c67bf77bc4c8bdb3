#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A thousand soldiers and real clients: each client has exactly what it may see, and the log replays
# the match. shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

ticks=$(scaled 300 120)

# serve_arena [option...]: start the server; $address gets its address.
serve_arena() {
    start_ready server shoal-server --game arena --listen 127.0.0.1:0 --tick-rate 30 --ticks "$ticks" --log arena.slog "$@"
    address=$(sed -n 's/^ready listen=\([^ ]*\) game=arena .*/\1/p' server.out)
    [ -n "$address" ] || fail "no ready line as it should be"
}

# play BOTS [server option...]: the worlds must be equal, and the re-run of the log too. $thin_bots of them have no world.
play() {
    local bots=$1
    shift
    serve_arena --min-clients "$bots" "$@"
    run_to 0 client shoal-client "$address" --headless --bots "$((bots - ${thin_bots:-0}))" \
        --bots-thin "${thin_bots:-0}" ${client_net:+--net "$client_net"}
    ends_with 0 server
    are_equal "$bots" server client
    is_closed arena.slog
    verifies arena.slog server
    ! value bad_transitions client.out | grep -qv '^0$' || fail "an entity went where it should not"
}

case_eight_bots_see_their_part_of_a_thousand_soldiers() {
    play 8
    # Fog: no client has the whole world.
    local all most
    all=$(sed -nE 's/^done .* entities=([0-9]+) .*/\1/p' server.out)
    most=$(value entities client.out | sort -n | tail -n 1)
    [ "$most" -lt $((all / 2)) ] || fail "a client holds $most of $all entities"
}

case_a_bad_line_changes_nothing_of_what_is_seen() {
    client_net="loss=3,delay=60,jitter=15" thin_bots=2 play 4 --set agents=400
    # Thin bots alone have one match, which no other client shares.
    rm arena.slog
    serve_arena --min-clients 2 --set agents=10
    run_to 0 thin shoal-client "$address" --bots-thin 2
    ends_with 0 server
}

# The number of threads is no part of the match: each gives the same hashes, and a log of one verifies under any other.
case_any_number_of_threads_gives_the_same_match() {
    local threads
    for threads in 1 2 3 8; do
        run_to 0 server shoal-server --game arena --fast --ticks 90 --listen 127.0.0.1:0 --threads "$threads" \
            --set agents=2000 --log "a$threads.slog"
        run_to 0 verify shoal-replay verify a1.slog --threads "$threads"
        [ "$threads" != 1 ] || cp verify.out wanted.txt
        cmp -s verify.out wanted.txt || fail "verify with $threads threads differs"
        run verify shoal-replay verify "a$threads.slog" --threads 1
        cmp -s verify.out wanted.txt || fail "the match of $threads threads differs"
    done
}

case_the_stages_of_arena_are_explained() {
    run_to 0 stages shoal-server check --stages arena
    says stages.out '^wave=[0-9]+ system=think_es runs=in_ranges quantum=128$'
    says stages.out '^wave=[0-9]+ system=see_es runs=in_loops quantum=512$'
    says stages.out '^apart=see_es,think_es because=order$'
    says stages.out '^ok threads=64$'
}

case_the_module_of_arena_is_checked() {
    run_to 0 check shoal-server check "$games/arena.blk"
    # Sanitizers add writable globals.
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0
    run_to 0 check shoal-server check "$games/arena.so" "$games/arena.blk"
    says check.out '^ok files=2 '
}

run_cases "$@"
