#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The conformance client beside one of ours in a real match: both hold what the server thinks they hold.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

conformance=$build/test/conformance
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../proto" && pwd)/WIRE.md
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# play [server option...]: one bot of ours over a bad network, and the conformance client.
play() {
    serve server --ticks "$(scaled 600 300)" --min-clients 2 --set brick_hits=1 --log none "$@"
    local schema
    schema=$(value schema server.out)
    start bot shoal-client "$address" --bots 1 --net loss=10,delay=30,jitter=20
    : >conformance.out
    "$conformance" play "$page" "$address" "$schema" >conformance.out 2>conformance.err &
    pids[conformance]=$!
    ends_with 0 conformance
    ends_with 0 bot
    ends_with 0 server
    are_equal 1 server bot
    local ours theirs
    ours=$(awk '$1 == "conformance" { gsub(/[a-z_]+=/, ""); print $2, $3, $5, $4 }' conformance.out)
    theirs=$(pick peer scope_hash server.out)
    [ -n "$ours" ] || fail "the conformance client holds nothing"
    grep -qxF "$ours" <<<"$theirs" || fail "the conformance client holds another world:"$'\n'"$ours"$'\n'"of"$'\n'"$theirs"
    says conformance.out ' schema=equal '
    says conformance.out ' reason=1 '
    says conformance.out ' malformed=0 '
    says conformance.out ' updates=[1-9]'
    says conformance.out ' (bases|from_packet)=[1-9]'
    says conformance.out ' samples=[1-9]'
    says conformance.out ' cheered=1 '
    says conformance.out ' inputs_acked=[1-9]'
    says server.out "^peer id=$(value id conformance.out) .* end=goodbye$"
}

case_a_client_of_the_page_alone_sees_the_match() { play; }

case_a_client_of_the_page_alone_sees_the_match_over_a_bad_network() {
    play --net loss=20,delay=60,jitter=40,duplicate=3,reorder=5,seed=11
    says conformance.out ' late=[1-9]'
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
    allowed='"(conform|games|row|wire\.pb-c|breakout\.pb-c|arena\.pb-c)\.h"|<(enet/enet|protobuf-c/protobuf-c|xxhash)\.h>'
    allowed+='|<(inttypes|math|stdbool|stddef|stdint|stdio|stdlib|string|time)\.h>'
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
