#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A match with eight bots: all worlds are equal, and the log replays it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

ticks=$(scaled 1200 240)

# play [client option...]: checks that hold on any network.
play() {
    serve server --min-clients 8 --ticks "$ticks" --log match.slog --dump-world server.txt
    run_to 0 client shoal-client "$address" --headless --bots 8 --dump-world client.txt --trace trace.txt "$@"
    ends_with 0 server
    are_equal 8 server client
    [ "$(grep -c "^peer .* tick=$ticks .* end=goodbye$" server.out)" = 8 ] || fail "peer lines"
    [ "$(grep -c "^client .* loading=0 allocated=0 bad_transitions=0 .* end=goodbye$" client.out)" = 8 ] ||
        fail "client lines"
    local least bricks
    least=$(value updates client.out | sort -n | head -n 1)
    [ "$least" -gt 0 ] || fail "a client without updates"
    cmp server.txt client.txt || fail "the dumps differ"
    bricks=$(grep -c '^entity=[^ ]* template=breakout_brick component=pos ' server.txt || true)
    [ "$(value entities client.out | sort -n | head -n 1)" -ge "$bricks" ] || fail "fewer entities than bricks"
    is_closed match.slog
    verifies match.slog server
    says verify.out 'tail=whole lost_bytes=0'
    run_to 0 check shoal-replay check-trace match.slog trace.txt
    says check.out '^checked rows=[1-9]'
    [ ! -e match.slog.queue ] || fail "a closed log leaves its queue"
}

case_eight_bots_see_one_match() { play; }

case_eight_bots_see_one_match_over_a_bad_network() {
    play --net loss=20,delay=150,jitter=50,duplicate=2,reorder=2
    sed 's/^client //' client.out | awk '
        { for (i = 1; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] } }
        v["sim_dropped"] == 0 { print "nothing was dropped"; bad = 1 }
        v["recv_reliable_bytes"] * 10 >= v["recv_bytes"] { print "too much is reliable"; bad = 1 }
        END { exit bad }' || fail "of client $(head -n 1 client.out)"
    # A false trace must be refused.
    sed '$ s/row=\(.*\)\(.\)$/row=\2\1/' trace.txt >lie.txt
    cmp -s trace.txt lie.txt && return 0
    run_to 5 lie shoal-replay check-trace match.slog lie.txt
    says lie.err "lie.txt:$(wc -l <lie.txt): error: "
}

case_the_ledger_says_where_every_bit_went() {
    match_of 2 "$(scaled 300 120)" none --debug ledger=ledger.txt
    are_equal 2 server client
    says ledger.txt '^ledger client=\* component=pos cause=create bits=[1-9][0-9]* share=0\.[0-9]{4}$'
    says ledger.txt '^ledger client=2 component=- cause=header bits='
    says ledger.txt '^dropped reason=flood count=0$'
    local bits
    bits=$(grep 'client=\*' ledger.txt | value bits | awk '{ sum += $1 } END { printf "%.0f", sum }')
    [ "$bits" = $((8 * $(grep '^done ' server.out | value sent_bytes))) ] ||
        fail "$bits bits are not what was sent"
    ! has_said server.err 'input_known=' || fail "a usual repetition is reported"
    says server.err '^note: client [12] ".*" joined from 127\.0\.0\.1:[0-9]+$'
}

case_few_bytes_at_few_ticks_without_a_thread_are_enough() {
    serve server --min-clients 3 --ticks "$(scaled 600 240)" --log none --rate-max 8000 --tune send-divisor=4 \
        --tune net-threads=0
    run_to 0 client shoal-client "$address" --bots 3 --tune rate-max=9000 --net loss=5,delay=40
    ends_with 0 server
    are_equal 3 server client
}

# Solo code knows each client's own past, so moving balls take little more than half of the bits.
case_solo_code_takes_fewer_bits_for_the_same_worlds() {
    local coder
    local -A bits
    for coder in shared solo auto; do
        serve $coder --min-clients 2 --ticks 120 --log none --tune coder=$coder --tune rate-max=24000 --debug ledger=$coder.txt
        run_to 0 client shoal-client "$address" --bots 2
        ends_with 0 $coder
        are_equal 2 $coder client
        bits[$coder]=$(sed -nE 's/^ledger client=\* component=pos cause=change bits=([0-9]+) .*/\1/p' $coder.txt)
    done
    for coder in solo auto; do
        [ "${bits[$coder]}" -lt "${bits[shared]}" ] || fail "$coder: ${bits[$coder]} bits, shared: ${bits[shared]}"
    done
    run_to 2 bad shoal-server --game breakout --listen 127.0.0.1:0 --ticks 1 --log none --tune coder=sol
    says bad.err "coder needs auto\|shared\|solo, not 'sol'"
}

case_players_are_divided_among_threads() {
    serve server --min-clients 6 --ticks "$(scaled 300 120)" --log match.slog --tune net-threads=3
    run_to 0 client shoal-client "$address" --bots 6 --net loss=5,delay=20
    ends_with 0 server
    are_equal 6 server client
    run_to 0 verify shoal-replay verify match.slog
}

# Both directions: datagrams of the server are lost too.
case_the_server_can_have_a_bad_network() {
    match_of 2 "$(scaled 300 120)" none --net loss=10,delay=30,seed=3
    are_equal 2 server client
}

case_spectators_see_a_match_and_are_no_part_of_it() {
    serve server --min-clients 2 --ticks 200 --tick-rate 240 --log match.slog --spectators 3
    : >watchers.txt
    start watchers shoal-client "$address" --spectate --bots 2 --bots-thin 1 --net loss=5,delay=20 \
        --debug trace-session=watchers.txt
    await "welcome of all spectators" has_lines watchers.txt 'to=playing' 3
    run_to 0 client shoal-client "$address" --bots 2
    ends_with 0 watchers server
    are_equal 5 server client watchers
    [ "$(grep -c '^peer id=214748364[89] .* end=goodbye$' server.out)" = 2 ] || fail "numbers of spectators"
    verifies match.slog server
    run stats shoal-replay stats match.slog
    says stats.out ' joins=2 leaves=0 '
    # A game in which players do not see everything has no places for them by default.
    start_ready arena shoal-server --game arena --listen 127.0.0.1:0 --log none
    run_to 6 refused shoal-client "$(value listen arena.out)" --spectate
    says refused.err 'refused: this server takes no spectators \(its option: --spectators N\)'
    stop arena
}

case_clients_join_and_leave_in_the_middle() {
    serve server --min-clients 2 --log match.slog
    enters first first.txt --bots 2
    run_to 0 second shoal-client "$address" --bots 1 --ticks 30 --name guest
    says second.out '^client id=3 .* end=left$'
    enters third third.txt --bots 2 # it plays to the end
    await "more of the match" has_rows third.txt 60
    stop server
    ends_with 0 first third
    says server.out '^peer id=3 .* end=left$'
    [ "$(grep -c 'end=goodbye$' third.out)" = 2 ] || fail "the late ones saw no goodbye"
    grep -v '^client id=3 ' second.out >kept.out || true
    are_equal 4 server first third
    verifies match.slog server
    run stats shoal-replay stats match.slog
    says stats.out ' joins=5 leaves=1 '
}

run_cases "$@"
