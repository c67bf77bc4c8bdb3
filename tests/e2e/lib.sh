# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The end-to-end scripts source this file. A script has functions named case_<sentence>. ctest runs
# each as a test of its own:
#
#     SCRIPT BUILD CASE        e.g. tests/e2e/session.sh build case_a_full_server_refuses
#     SCRIPT BUILD             runs all cases, one after the other
#
# Exit code 77 means that a case was left out; it says why.
#
# Every case has an empty folder of its own as $PWD, so that cases can run side by side. The system
# chooses ports; scripts read them from the ready line. The output of a program goes to NAME.out and
# NAME.err in that folder. A case that fails prints the ends of these files. Programs that still run
# at its end are killed.
#
# A script waits for an event where it can, not for a fixed time. Every wait has a limit
# (deadline_s).
set -euo pipefail

here=${here:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
build=$(cd "$1" && pwd)
bin=$build/bin
games=$build/lib/shoal/games
deadline_s=300 # no wait takes a hundredth of it on a quiet machine
scale=${SHOAL_TEST_SCALE:-1}

# Settings of the caller's shell must not change a test; awk and sort read our numbers, which have points.
export LC_ALL=C
for name in $(compgen -e | grep '^SHOAL_' || true); do
    case $name in SHOAL_TEST_SCALE | SHOAL_E2E_*) ;; *) unset "$name" ;; esac
done
# A sanitizer's report has an exit code that our programs do not use.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:exitcode=99" LSAN_OPTIONS="${LSAN_OPTIONS:-}:exitcode=99"
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:exitcode=99"

work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-e2e.XXXXXX")
declare -A pids=() # process ids of background programs, by name

# A match of a host that a case leaves would outlive it.
end_matches() {
    local pid
    for pid in $(find "$work" -path '*/matches/*/match' -exec sed -n 's/^[a-z]* \([1-9][0-9]*\) .*/\1/p' {} +); do
        [[ $(tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline") != *shoal-server* ]] || kill -KILL "$pid" 2>/dev/null || true
    done
}

cleanup() {
    local pid
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    umount -l "$work"/*/disk 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# What polls starts no program: hundreds of waits at once would take a core.
exec {silence}<> <(:)
rest() { read -rt "$1" -u "$silence" _ || true; } # SECONDS

fail() {
    local file
    echo "FAILED: $*" >&2
    for file in *.out *.err */matches/*/err; do
        [ -s "$file" ] && { echo "--- $file"; tail -n 15 "$file" | cut -c 1-400; } >&2
    done
    exit 1
}

# skip WHY: the case, or the rest of it, is left out; it returns then.
skip() {
    echo "SKIP: $*"
    skipped=77
}

has_ipv6() { [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; }

# know NAME ADDRESS...: programs that are started from now on find these addresses of NAME, in this order, whatever the
# machine's own resolver says. Fails where libnss-wrapper is missing.
know() {
    local name=$1 address
    shift
    for address in "$@"; do echo "$address $name"; done >hosts
    # A sanitizer wants to be the first library that is loaded, but does not need it.
    export NSS_WRAPPER_HOSTS=$PWD/hosts ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
    export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_DISABLE_DEEPBIND=1
    getent ahosts "$name" >known.txt 2>/dev/null && grep -q "^$1 " known.txt
}

# scaled N FLOOR: N by the scale of the random tests, never below FLOOR nor above 4 N.
scaled() { awk -v n="$1" -v floor="$2" -v s="$scale" \
    'BEGIN { v = int(n * s); if (v > 4 * n) v = 4 * n; print v < floor ? floor : v }'; }

# await "TEXT" COMMAND...: run COMMAND until it succeeds.
await() {
    local what=$1 ends=$((SECONDS + deadline_s))
    shift
    until "$@"; do
        [ $SECONDS -lt $ends ] || fail "no $what within $deadline_s s"
        rest 0.02
    done
}

# start NAME PROGRAM [argument...]: start it in the background.
start() {
    local name=$1 program=$2
    shift 2
    : >"$name.out"
    "$bin/$program" "$@" >"$name.out" 2>"$name.err" {silence}<&- &
    pids[$name]=$!
}

# damaged_token TOKEN: with another character in the place of one, whichever it is: tokens are chance.
damaged_token() { sed 's/^\(.\{60\}\)_/\1-/; t; s/^\(.\{60\}\)./\1_/' <<<"$1"; }

has_ended() { ! kill -0 "${pids[$1]}" 2>/dev/null; }

# ended NAME: wait for its end; $code gets its exit code.
ended() {
    await "end of $1" has_ended "$1"
    code=0
    wait "${pids[$1]}" || code=$?
    unset "pids[$1]"
    reports_nothing "$1"
}

# ends_with CODE NAME...: each of them.
ends_with() {
    local wanted=$1 name
    shift
    for name in "$@"; do
        ended "$name"
        [ "$code" = "$wanted" ] || fail "$name ended with $code, not $wanted"
    done
}

# run NAME PROGRAM [argument...]: run it to its end; $code gets its exit code.
run() {
    start "$@"
    ended "$1"
}

# run_to CODE NAME PROGRAM [argument...]: run it, and it ends with CODE.
run_to() {
    run "${@:2}"
    [ "$code" = "$1" ] || fail "$2 ended with $code, not $1: ${*:3}"
}

# stop NAME...: a signal ends one after the other, and they end well.
stop() {
    local name
    for name in "$@"; do
        kill "${pids[$name]}"
        ends_with 0 "$name"
    done
}
slay() {
    kill -KILL "${pids[$1]}"
    ends_with 137 "$1"
}

drop() { # NAME: of whose end nothing is said
    kill -KILL "${pids[$1]}" 2>/dev/null || true
    wait "${pids[$1]}" 2>/dev/null || true
    unset "pids[$1]"
}

reports_nothing() {
    if grep -qE 'Sanitizer|runtime error:|assertion failed' "$1.err" || [ "$code" = 99 ] ||
        { [ "$code" -ge 128 ] && [ "$code" != 137 ]; }; then
        fail "$1 crashed or a sanitizer reports (exit code $code)"
    fi
}

# start_ready NAME PROGRAM [argument...]: start it, and wait for its ready line or its end.
start_ready() {
    start "$@"
    await "ready line of $1" is_ready_or_gone "$1"
}
is_ready_or_gone() { has_said "$1.out" '^ready ' || has_ended "$1"; }

played=breakout # the game of serve, copy_games, standby.sh

# plays_crates: the rest of the case is about crates, whose physics is a library's. False where that is missing.
plays_crates() {
    played=crates
    [ -e "$games/crates.so" ] || { skip "this build has no crates: libchipmunk-dev is missing"; false; }
}

# serve NAME [option...]: start a server of $played on a free port; $address gets its address.
serve() {
    local name=$1
    shift
    start_ready "$name" shoal-server --game "$played" --listen 127.0.0.1:0 "$@"
    address=$(sed -n 's/^ready listen=\([^ ]*\) game='$played' tick_rate=[0-9]* schema=[0-9a-f]\{16\}\( http=.*\)\{0,1\}$/\1/p' \
        "$name.out")
    [ -n "$address" ] || fail "$name prints no ready line as it should be"
}

# enters NAME TRACE [option...]: a client of $address, until it applies updates.
enters() {
    start "$1" shoal-client "$address" --trace "$2" "${@:3}"
    await "update of $1" is_playing "$2"
}

# match_of BOTS TICKS LOG [server option...]: a whole match, of "server" and "client".
match_of() {
    serve server --min-clients "$1" --ticks "$2" --log "${@:3}"
    run_to 0 client shoal-client "$address" --bots "$1"
    ends_with 0 server
}

# has_lines FILE PATTERN N: so many lines match, or more: a late look may find more.
has_lines() { [ "$(grep -c -- "$2" "$1")" -ge "$3" ]; }

# ask PATH [BODY]: what the host at $url answers: $status and answer.json.
ask() {
    status=$(python3 - "$url$1" answer.json "${@:2}" <<'PYTHON'
import sys, urllib.request, urllib.error
url, file, *body = sys.argv[1:]
request = urllib.request.Request(url, body[0].encode() if body else None, {"Content-Type": "application/json"} if body else {})
try:
    answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)
except urllib.error.HTTPError as fault:
    answer = fault
open(file, "wb").write(answer.read())
print(answer.getcode())
PYTHON
    ) || fail "no answer to $*"
}

# has_said FILE REGEX, for await: a short file
has_said() {
    local line
    [ -e "$1" ] || return 1
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ $2 ]] && return 0
    done <"$1"
    return 1
}
says() { grep -qE "$2" "$1" || fail "$1 does not say $2"; }

is_playing() { [ -s "$1" ]; } # the trace has rows: its client applies updates
has_rows() { [ -s "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT

# trace_tick FILE: the newest tick that a client applied.
trace_tick() { awk 'match($0, /tick=[0-9]+/) { t = substr($0, RSTART + 5, RLENGTH - 5) + 0; if (t > m) m = t } END { print m + 0 }' "$1"; }
knows_more() { [ "$(trace_tick "$1")" -gt "$2" ]; } # FILE TICK

# A free port, for a standby that a server names before it is there: of those that the kernel gives to no server with port 0.
free_port() {
    until free=127.0.0.1:$((20000 + RANDOM % 12000)) && python3 -c 'import socket, sys
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM: socket.socket(socket.AF_INET, kind).bind(("127.0.0.1", int(sys.argv[1])))' "${free##*:}" 2>/dev/null; do
        :
    done
}

# value KEY FILE...: print the value in each line that has KEY=
value() {
    local key=$1
    shift
    sed -nE "s/^(.* )?$key=([^ ]*).*/\2/p" "$@"
}

# "id tick hash entities" of each line, sorted.
pick() {
    local head='id=([0-9]+) tick=([0-9]+) entities=([0-9]+)'
    sed -nE "s/^$1 $head .* $2=([0-9a-f]{16}).*/\1 \2 \4 \3/p" "$3" | sort
}

# are_equal COUNT SERVER CLIENT...: COUNT ids join on (id, tick) with equal hashes and entities.
are_equal() {
    local count=$1 server=$2 peers clients name
    shift 2
    for name in "$@"; do cat "$name.out"; done >all-clients.txt
    peers=$(pick peer scope_hash "$server.out")
    clients=$(pick client mirror_hash all-clients.txt)
    [ "$(comm -12 <(echo "$peers") <(echo "$clients") | wc -l)" = "$count" ] ||
        fail "not $count equal worlds:"$'\n'"$peers"$'\n'"$clients"
}

# verifies LOG [SERVER]: a re-run of LOG must end as in the server's done line.
verifies() {
    run_to 0 verify shoal-replay verify "$1"
    local hashes='state_hash=[0-9a-f]{16} world_hash=[0-9a-f]{16}'
    says verify.out "^verified ticks=[0-9]+ $hashes tail=(whole|cut) lost_bytes=[0-9]+( again_ticks=3600)?( first_tick=[0-9]+)?\$"
    [ $# = 1 ] && return 0
    grep '^done ' "$2.out" >done.txt
    [ "$(value state_hash verify.out)" = "$(value state_hash done.txt)" ] ||
        fail "verify and done differ in the state_hash"
    [ "$(value ticks verify.out)" = "$(value ticks done.txt)" ] ||
        fail "verify and done differ in the ticks"
}

is_closed() {
    run info shoal-replay info "$1"
    says info.out '^closed=yes$'
    says info.out '^tail=whole$'
}

# has_small_disk CASE MB: ./disk is a file system of its own. Who may not mount one runs the case in a name space
# where that is allowed; false: it ran there, or that is not allowed either.
has_small_disk() {
    mkdir -p disk
    mount -t tmpfs -o "size=$2m" tmpfs disk 2>/dev/null && return 0
    if [ -z "${SHOAL_E2E_UNSHARED:-}" ] && unshare -rm true 2>/dev/null; then
        SHOAL_E2E_UNSHARED=1 unshare -rm "$0" "$build" "$1" || fail "$1 in a name space of its own"
    else
        echo "NOT TESTED: no file system can be mounted here"
    fi
    return 1
}

# Use up what is free, and give it back.
fill_disk() { cat /dev/zero >disk/ballast 2>/dev/null || true; }
free_disk() { rm disk/ballast; }

# copy_games FOLDER: copy the module folder, so that a case can change it.
copy_games() {
    mkdir "$1"
    cp "$games/$played.so" "$games/$played.blk" "$1/"
}

# change FILE SED-SCRIPT: edit FILE; the script must change something.
change() {
    cp "$1" "$1.before"
    sed -i "$2" "$1"
    cmp -s "$1" "$1.before" && fail "nothing to change in $1"
    rm "$1.before"
}

# The seed of a random case. It is printed; SHOAL_E2E_SEED sets it.
take_seed() {
    RANDOM=${SHOAL_E2E_SEED:=$((RANDOM * 32768 + RANDOM))}
    echo "SHOAL_E2E_SEED=$SHOAL_E2E_SEED"
}

# run_cases BUILD [CASE]: a script calls this in its last line. It ends with 77 when each of them was left out, as all are
# where $needs skips. Brokers end with their case.
run_cases() {
    local name one skipped code=77
    for name in ${2:-$(declare -F | sed -n 's/^declare -f \(case_.*\)/\1/p')}; do
        mkdir "$work/$name"
        cd "$work/$name"
        skipped=0
        if "${needs:-true}"; then "$name"; fi
        for one in "${!pids[@]}"; do [[ $one != broker* ]] || drop "$one"; done
        [ ${#pids[@]} = 0 ] || fail "$name leaves programs: ${!pids[*]}"
        [ $skipped != 0 ] || { code=0 && echo "passed: ${name//_/ }"; }
    done
    return $code
}
