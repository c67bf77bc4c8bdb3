#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ten thousand cubes (S1.7, S1.8): equal worlds, a log that replays them, and few bytes on the line.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

ticks=$(scaled 600 240)

# serve_cubes [option...]: start the server; $address gets its address.
serve_cubes() {
    start_ready server shoal-server --game cubes --listen 127.0.0.1:0 --ticks "$ticks" --log cubes.slog "$@"
    address=$(sed -n 's/^ready listen=\([^ ]*\) game=cubes .*/\1/p' server.out)
    [ -n "$address" ] || fail "no ready line as it should be"
}

play() {
    serve_cubes --min-clients 2 --dump-world server.txt "$@"
    run_to 0 client shoal-client "$address" --headless --bots 2 --dump-world client.txt
    ends_with 0 server
    are_equal 2 server client
    cmp server.txt client.txt || fail "the dumps differ"
    [ "$(value entities client.out | sort -n | head -n 1)" = 10002 ] || fail "not 10,000 cubes and 2 cameras"
    is_closed cubes.slog
    verifies cubes.slog server
}

case_ten_thousand_cubes_fall_in_three_worlds() {
    play
    # Each client gets every cube once; their movement then costs nothing. 12 bytes a cube, and
    # 200 a tick for the cameras and their parents.
    local bytes limit=$((10000 * 12 + ticks * 200))
    bytes=$(value recv_bytes client.out | sort -n | tail -n 1)
    [ "$bytes" -lt "$limit" ] || fail "$bytes bytes for a client, more than $limit"
}

case_other_data_lets_the_cameras_fall() {
    play --set fall=1
    [ "$(grep -c 'template=camera_falling component=spawn ' server.txt)" = 2 ] || fail "cameras"
    [ "$(grep -c 'template=cube_still component=spawn ' server.txt)" = 10000 ] || fail "cubes"
}

case_the_module_of_cubes_is_checked() {
    run_to 0 check shoal-server check "$games/cubes.blk"
    # Sanitizers add writable globals.
    [ -z "${SHOAL_E2E_SLOW:-}" ] || return 0
    run_to 0 check shoal-server check "$games/cubes.so" "$games/cubes.blk"
    says check.out '^ok files=2 '
}

run_cases "$@"
