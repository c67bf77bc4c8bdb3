#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Cars and crates, whose physics is a library's: equal worlds over a bad network, and the same bits wherever the match
# goes on from a save. log.sh, standby.sh and clients.sh resume, take over and reload this game too.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

ticks=$(scaled 900 660) # beyond the first keyframe after the beginning

# play BOTS [server option...]
play() {
    serve server --min-clients "$1" --ticks "$ticks" --log crates.slog --dump-world server.txt "${@:2}"
    run_to 0 client shoal-client "$address" --headless --bots "$1" --dump-world client.txt --net bad
    ends_with 0 server
    are_equal "$1" server client
    cmp server.txt client.txt || fail "the dumps differ"
    is_closed crates.slog
    verifies crates.slog server
}

# ends_alike NAME [option...]: verify ends as from the first tick.
ends_alike() {
    run_to 0 "$1" shoal-replay verify "${@:2}"
    [ "$(value world_hash "$1.out")" = "$(value world_hash verify.out)" ] || fail "another end: ${*:2}"
}

case_eight_cars_push_crates_over_a_bad_network() {
    plays_crates || return 0
    play 8
    # From a keyframe, where nothing of the library is left.
    ends_alike late crates.slog --from 650
    says late.out "^verified ticks=$((ticks - 600)) "
    run_to 0 slice shoal-replay slice crates.slog --from 610 --output slice.slog
    ends_alike slice slice.slog
    run_to 0 seen shoal-replay show crates.slog --tick 640
    run_to 0 again shoal-replay show slice.slog --tick 640
    cmp seen.out again.out || fail "the slice shows another tick 640"
    local threads
    for threads in 1 4; do ends_alike "on$threads" crates.slog --threads $threads; done
    # Some crates were pushed, and lie again.
    says seen.out ' template=crate component=angle type=r value=-*[0-9.]*[1-9]'
}

case_three_thousand_crates_that_move_are_the_same_everywhere() {
    plays_crates || return 0
    play 2 --set crates=3000 --set quake=5
    ends_alike late crates.slog --from 650
}

# What rests is no bytes: a client gets 3,000 crates once, and a car that stands.
case_crates_that_rest_are_sent_once() {
    plays_crates || return 0
    serve server --min-clients 1 --ticks "$ticks" --log none --set crates=3000
    run_to 0 client shoal-client "$address" --headless
    ends_with 0 server
    are_equal 1 server client
    local bytes
    bytes=$(value recv_bytes client.out)
    [ "$bytes" -lt $((3000 * 13 + ticks * 50)) ] || fail "$bytes bytes for crates that rest"
}

# Its bits come from no libm, whose functions differ between machines.
case_the_module_of_crates_asks_libm_for_nothing() {
    plays_crates || return 0
    readelf -d "$games/crates.so" >needs.txt
    ! grep -E 'libm\.|chipmunk' needs.txt || fail "the module needs more than libc and protobuf-c"
    nm -D --undefined-only "$games/crates.so" >asks.txt
    ! grep -wE 'sin|cos|sincos|pow|sqrt|exp|fmod|atan2' asks.txt || fail "the module asks libm"
}

case_the_module_of_crates_is_checked() {
    plays_crates || return 0
    run_to 0 check shoal-server check "$games/crates.blk"
    # Sanitizers add writable globals.
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0
    run_to 0 check shoal-server check "$games/crates.so" "$games/crates.blk"
    says check.err 'crates.so: note: contains library chipmunk, which the play checks'
    says check.out '^ok files=2 '
}

run_cases "$@"
