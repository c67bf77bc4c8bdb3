#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A server with eight honest players, and a flood of each kind as fast as one core sends.
#
#     tests/flood/flood.sh BUILD [SECONDS [KIND...]]
#
# One line per kind: what was sent, what the players lost, their round trip, the ticks a second of
# the server, its processor time in percent of a core, its memory before and after, and the bytes
# that came back for each byte sent. With SHOAL_FLOOD_CHECK=1 it fails where a player is lost, bytes
# are amplified, or the server keeps memory: the limits do not depend on the speed of the machine.
set -euo pipefail
build=$(cd "$1" && pwd)
seconds=${2:-5}
shift $(($# < 2 ? $# : 2))
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(none random empty oversized enet_connect enet_disconnect request_garbage
    request_version request_valid response_forged response_bad_signature response_old data_random data_forged
    data_replayed)
players=8
work=$(mktemp -d)
cleanup() {
    local pid
    for pid in $(jobs -p); do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

await() { # COMMAND...
    local i
    for i in $(seq 6000); do "$@" && return 0; sleep 0.05; done
    echo "flood.sh: waited in vain for: $*" >&2
    tail -n 5 -- *.err >&2
    return 1
}
value() { sed -n "s/.*[ ^]$1=\([^ ]*\).*/\1/p"; }
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
is_ready() { grep -q '^ready ' server.out 2>/dev/null; }
has_played() { grep -q 'tick=' trace.txt 2>/dev/null; }

failed=0
run_kind() {
    local kind=$1 address server bots before after cpu_before cpu_after line
    rm -f ./*.out ./*.err trace.txt
    "$build/bin/shoal-server" --game breakout --listen 127.0.0.1:0 --min-clients $players --log none \
        --max-per-address 0 >server.out 2>server.err &
    server=$!
    await is_ready
    address=$(value listen <server.out)
    "$build/bin/shoal-client" "$address" --headless --bots $players --trace trace.txt >bots.out 2>bots.err &
    bots=$!
    await has_played
    sleep 1
    before=$(memory_kb $server) cpu_before=$(cpu_ticks $server)
    echo "flood kind=none sent=0 per_second=0 answer_bytes=0 amplification=0" >flood.out
    if [ "$kind" = none ]; then
        sleep "$seconds"
    else
        "$build/test/flood" "$kind" "$address" "$seconds" >flood.out 2>flood.err
    fi
    after=$(memory_kb $server) cpu_after=$(cpu_ticks $server)
    kill -TERM $server
    wait $bots || true
    wait $server || true
    line=$(cat flood.out)
    local lost rtt back ticks given_up
    back=$(grep -c '^client .*end=goodbye' bots.out || true)
    lost=$(value loss_percent <bots.out | sort -g | tail -n 1)
    rtt=$(value rtt_ms <bots.out | sort -g | tail -n 1)
    ticks=$(value ticks <server.out)
    given_up=$(sed -n 's/.*stalled: \([0-9]*\) ticks.*/\1/p' server.err | awk '{ n += $1 } END { print n + 0 }')
    printf 'kind=%-22s sent_per_second=%-7s players_left=%s/%s loss_percent_max=%-5s rtt_ms_max=%-6s ticks=%s ticks_given_up=%s cpu_percent=%-4s memory_kb=%s+%s amplification=%s\n' \
        "$kind" "$(value per_second <<<"$line")" "$back" "$players" "${lost:-?}" "${rtt:-?}" "$ticks" "$given_up" \
        "$(((cpu_after - cpu_before) / seconds))" "$before" "$((after - before))" "$(value amplification <<<"$line")"
    [ "$back" = "$players" ] || failed=1
    awk -v a="$(value amplification <<<"$line")" 'BEGIN { exit a <= 0.35 ? 0 : 1 }' || failed=1
    [ $((after - before)) -le 4096 ] || failed=1
}
for kind in "${kinds[@]}"; do run_kind "$kind"; done
if [ "${SHOAL_FLOOD_CHECK:-0}" = 1 ]; then exit $failed; fi
