#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The conformance client beside one of ours in a real match: both hold what the server thinks they hold.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

conformance=$build/test/conformance
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../proto" && pwd)/WIRE.md
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The client's closing lines begin alike; pairs of the last are compared with the server's.
holds_what_the_server_thinks() {
    local ours theirs
    ours=$(awk '$1 == "conformance" && $2 ~ /^id=/ { gsub(/[a-z_]+=/, ""); print $2, $3, $5, $4 }' conformance.out)
    theirs=$(pick peer scope_hash server.out)
    [ -n "$ours" ] || fail "the conformance client holds nothing"
    grep -qxF "$ours" <<<"$theirs" || fail "the conformance client holds another world:"$'\n'"$ours"$'\n'"of"$'\n'"$theirs"
    says conformance.out ' schema=equal '
    says conformance.out ' reason=1 '
    says conformance.out ' malformed=0 '
    says conformance.out ' updates=[1-9]'
    says conformance.out ' from_packet=[1-9]'
    says conformance.out ' encoded_again=[1-9][0-9]* unequal=0 '
    says conformance.out ' samples=[1-9]'
    says conformance.out ' events=[1-9]'
    says conformance.out ' inputs_acked=[1-9]'
    says server.out "^peer id=$(value id conformance.out) .* end=goodbye$"
    cat conformance.out
}

# joins GAME [option NUMBER...]: the conformance client, to its end.
joins() {
    local schema
    schema=$(value schema server.out)
    start bot shoal-client "$address" --bots 1 --net loss=10,delay=30,jitter=20
    : >conformance.out
    "$conformance" play "$page" "$address" "$schema" "$@" >conformance.out 2>conformance.err &
    pids[conformance]=$!
    ends_with 0 conformance
    ends_with 0 bot
    ends_with 0 server
    are_equal 1 server bot
    holds_what_the_server_thinks
}

breakout() {
    serve server --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none
}

# A thousand soldiers, of whom a client sees its part; what only owners and teams may see is hidden from others.
arena() {
    start server shoal-server --game arena --listen 127.0.0.1:0 --tick-rate 30 --ticks "$(scaled 600 300)" \
        --min-clients 2 --log none "$@"
    await "ready line of server" is_ready_or_gone server
    address=$(sed -n 's/^ready listen=\([^ ]*\) game=arena .*/\1/p' server.out)
    [ -n "$address" ] || fail "no ready line of arena"
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

case_a_client_of_the_page_alone_plays_with_few_bytes() {
    arena
    joins arena --rate 12000
    says conformance.out ' second_rows=[1-9]'
}

# A sample comes of one entity after the other: time enough for all of them.
case_a_client_of_the_page_alone_is_healed() {
    serve server --ticks 900 --min-clients 2 --log none
    joins breakout --plant 60
    says conformance.out ' differing=[1-9][0-9]* planted=[1-9][0-9]* healed=1'
}

# Another schema is refused with the name of the item that differs, whatever the client is written in.
case_another_schema_is_refused_by_name() {
    serve server --ticks 600 --min-clients 1 --log none
    code=0
    "$conformance" play "$page" "$address" "$(value schema server.out)" vectors \
        >conformance.out 2>conformance.err || code=$?
    [ "$code" = 1 ] || fail "refused with exit code $code"
    says conformance.err '^refused: the game files differ: component at '
    kill -TERM "${pids[server]}"
    ends_with 0 server
}

# Nothing of ours: only its own header, generated code, libc, ENet, protobuf-c and XXH3.
case_nothing_of_ours_is_included() {
    local allowed
    allowed='"(conform|games|row|mirror|play|wire\.pb-c|breakout\.pb-c|arena\.pb-c)\.h"|<(enet/enet|protobuf-c/protobuf-c|xxhash)\.h>'
    allowed+='|<(inttypes|math|stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h>'
    grep -hE '^[[:space:]]*#[[:space:]]*include' "$folder"/*.[ch] >includes.txt
    [ -s includes.txt ] || fail "nothing is included"
    if grep -vE "^#include ($allowed)$" includes.txt; then fail "includes something else"; fi
    # Nor do the compiler's search paths lead to it.
    if [ -e "$build/compile_commands.json" ]; then
        grep -F "\"file\": \"$folder/" -B 2 "$build/compile_commands.json" | grep '"command"' >commands.txt
        [ -s commands.txt ] || fail "no compile commands"
        if grep -oE -- '-(I|isystem) ?[^ ]+' commands.txt | grep -E '/(net|ecs|proto|base)/(include|src)'; then
            fail "sees headers of ours"
        fi
    fi
}

run_cases "$@"
