#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The conformance client and one of ours in a real match. Both must have the world that the server
# thinks they have.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

conformance=$build/test/conformance
proto=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../proto" && pwd)
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Compare the client's closing line with the server's line about it.
has_the_servers_world() {
    local ours theirs
    ours=$(awk '$1 == "conformance" && $2 ~ /^id=/ { gsub(/[a-z_]+=/, ""); print $2, $3, $5, $4 }' conformance.out)
    theirs=$(pick peer scope_hash server.out)
    [ -n "$ours" ] || fail "the conformance client printed no result"
    grep -qxF "$ours" <<<"$theirs" || fail "the conformance client has another world:"$'\n'"$ours"$'\n'"of"$'\n'"$theirs"
    says conformance.out ' schema=equal '
    says conformance.out ' reason=1 '
    says conformance.out ' malformed=0 '
    says conformance.out ' updates=[1-9]'
    says conformance.out ' from_packet=[1-9]'
    # It does not write solo code.
    says conformance.out ' encoded_again=[1-9][0-9]* unequal=0 | solo=[1-9]'
    says conformance.out ' probes=[1-9]'
    says conformance.out ' events=[1-9]'
    says conformance.out ' inputs_acked=[1-9]'
    says conformance.out ' shorts=[1-9]'
    [ "$(value game conformance.out)" != arena ] || says conformance.out ' values=[1-9]'
    says server.out "^peer id=$(value id conformance.out) .* end=goodbye$"
    cat conformance.out
}

# plays SCHEMA.json [OPTION NUMBER...]: run the conformance client in the background.
plays() {
    : >conformance.out
    "$conformance" play "$proto" "$address" "$(value schema server.out)" "$@" >conformance.out 2>conformance.err &
    pids[conformance]=$!
}

# prints GAME: its schema as GAME.json.
prints() {
    "$build/bin/shoal-server" schema --game "$1" >"$1.json" || fail "no schema of $1"
}

# joins GAME [OPTION NUMBER...]: run the conformance client until the match ends.
joins() {
    prints "$1"
    # The server ends about 3 s later when the bot has a --net line; a short case sets bots_net to nothing.
    start bot shoal-client "$address" --bots 1 ${bots_net---net loss=10,delay=30,jitter=20}
    plays "$1.json" "${@:2}"
    ends_with 0 conformance
    ends_with 0 bot
    ends_with 0 server
    are_equal 1 server bot
    has_the_servers_world
}

breakout() {
    serve server --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none
}

# host GAME [OPTION...]
host() {
    start_ready server shoal-server --game "$1" --listen 127.0.0.1:0 --ticks "$(scaled 600 300)" --min-clients 2 --log none \
        "${@:2}"
    address=$(sed -n "s/^ready listen=\([^ ]*\) game=$1 .*/\1/p" server.out)
    [ -n "$address" ] || fail "no ready line of $1"
}

# A thousand soldiers. Each client sees a part of them. Values for owners and teams are hidden from
# other clients.
arena() {
    host arena --tick-rate 30 "$@"
}

case_a_client_of_the_page_alone_sees_the_match() {
    breakout
    joins breakout
    says conformance.out ' own_events=1 '
}

case_a_client_of_the_page_alone_sees_the_match_over_a_bad_network() {
    breakout
    joins breakout --loss 20 --seed 11
    says conformance.out ' lost_in=[1-9][0-9]* lost_out=[1-9]'
}

case_a_client_of_the_page_alone_sees_late_packets() {
    serve server --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none \
        --net loss=20,delay=60,jitter=40,duplicate=3,reorder=5,seed=11
    joins breakout
    says conformance.out ' late=[1-9]'
}

case_a_client_of_the_page_alone_sees_its_part_of_an_arena() {
    arena
    joins arena
    says conformance.out ' second_rows=[1-9]'
}

case_a_client_of_the_page_alone_sees_its_part_of_an_arena_over_a_bad_network() {
    arena
    joins arena --loss 15 --seed 5
    says conformance.out ' lost_in=[1-9][0-9]* lost_out=[1-9]'
}

# The games round all floats that they replicate. Here the ball's speed and the pads' sizes are what they are.
case_a_client_of_the_page_alone_sees_elastic_floats_in_both_codes() {
    local coder
    copy_games exact
    change exact/breakout.blk '/"pos:/!s/ _min:r=[^;]*; _max:r=[^;]*; _step:r=[^;]*;//'
    export SHOAL_MODULE_PATH=$PWD/exact
    for coder in shared solo; do
        serve server --tune coder=$coder --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none
        joins breakout --solo 1 --loss 10 --seed 3
    done
    says conformance.out ' solo=[1-9]'
    says breakout.json '"exact":"elastic"'
}

case_a_client_of_the_page_alone_reads_solo_code() {
    serve server --tune coder=solo --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none
    joins breakout --solo 1 --loss 10 --seed 3
    says conformance.out ' solo=[1-9]'
}

case_a_client_of_the_page_alone_reads_an_arena_in_solo_code() {
    arena --tune coder=solo
    joins arena --solo 1 --loss 10 --seed 3
    says conformance.out ' solo=[1-9][0-9]* third_rows=[1-9]'
}

case_a_client_of_the_page_alone_sees_cubes_in_both_codes() {
    local coder
    for coder in shared solo; do
        host cubes --set cubes=300 --tune coder=$coder
        joins cubes --solo 1 --loss 10 --seed 3
    done
    says conformance.out ' solo=[1-9]'
}

case_a_client_of_the_page_alone_plays_with_few_bytes() {
    arena
    joins arena --rate 12000
    says conformance.out ' second_rows=[1-9]'
}

# The line loses what the server's ENet says last. Without a CLOSE the client waits 15 to 60 s for it.
case_a_client_of_the_page_alone_is_closed_with_the_match() {
    local match begun took
    prints breakout
    for match in 1 2 3 4 5; do
        serve server --ticks 60 --min-clients 1 --log none
        plays breakout.json --loss 20 --seed $match
        ends_with 0 server
        begun=${EPOCHREALTIME/[.,]/}
        ends_with 0 conformance
        took=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
        [ $took -lt 10000 ] || fail "match $match: closed $took ms after the server's end"
        says conformance.out ' reason=1 '
    done
}

# Probes visit one entity after the other. The match is long enough for all of them.
case_a_client_of_the_page_alone_is_resynced() {
    serve server --ticks 900 --min-clients 2 --log none
    joins breakout --corrupt 60
    says conformance.out ' differing=[1-9][0-9]* corrupted=[1-9][0-9]* resynced=1'
}

# A server refuses another schema and names the item that differs.
case_another_schema_is_refused_by_name() {
    serve server --ticks 600 --min-clients 1 --log none
    code=0
    "$conformance" play "$proto" "$address" "$(value schema server.out)" vectors \
        >conformance.out 2>conformance.err || code=$?
    [ "$code" = 1 ] || fail "refused with exit code $code"
    says conformance.err '^refused: the game files differ: "component at" '
    stop server
}

# Allowed are only its own headers, generated code, libc, ENet, libsodium, protobuf-c and XXH3.
case_nothing_of_ours_is_included() {
    local allowed
    allowed='"(conform|games|row|mirror|outer|short|solo|values|window|wire\.pb-c)\.h"|<(enet/enet|protobuf-c/protobuf-c|sodium|xxhash)\.h>'
    allowed+='|<(netinet/in|poll|sys/socket|inttypes|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h>'
    grep -hE '^[[:space:]]*#[[:space:]]*include' "$folder"/*.[ch] >includes.txt
    [ -s includes.txt ] || fail "nothing is included"
    if grep -vE "^#include ($allowed)$" includes.txt; then fail "includes something else"; fi
    # The compiler's search paths must not lead to our folders either.
    if [ -e "$build/compile_commands.json" ]; then
        grep -F "\"file\": \"$folder/" -B 2 "$build/compile_commands.json" | grep '"command"' >commands.txt
        [ -s commands.txt ] || fail "no compile commands"
        if grep -oE -- '-(I|isystem) ?[^ ]+' commands.txt | grep -E '/(net|ecs|proto|base)(/include|/src)?/?$'; then
            fail "sees headers of ours"
        fi
    fi
}

run_cases "$@"
