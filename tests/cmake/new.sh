#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `shoal-server new NAME --kind KIND` as a new user calls it: each kind builds without a warning, passes the strict check
# and is played; the first one by its own script. Of the others, a player in Python looks for what its client should not have.
#
#     new.sh BUILD [CASE [COMPILER]]
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
export CC=${3:-cc} CFLAGS='-Wall -Wextra -Werror'

# CODE TEXT ARGUMENT...
expect() {
    local wanted=$1 text=$2
    shift 2
    run new shoal-server new "$@"
    [ "$code" = "$wanted" ] || fail "new $* ended with $code, not $wanted"
    cat new.out new.err | grep -qF -e "$text" || fail "new $* did not say: $text"
}
# NAME: three clients played to its end.
has_been_played() { [ "$(grep -c '^client .*end=' "$1.out")" = 3 ] || fail "three clients did not play $1"; }
# CODE TEXT
build() {
    local code=0
    cmake --build hop_3d/build --target hop_3d >said.out 2>&1 || code=$?
    [ "$((code != 0))" = "$1" ] || fail "the build ended with $code"
    tr -s ' \n' ' ' <said.out | grep -qF -e "$2" || fail "the build did not say: $2"
}

case_new_game() {
    local name kind lines line most
    expect 2 'the name of a game is 1 to 32 of a-z 0-9 _'
    for name in Hop 3d _hop hop_ a__b ../hop a-b abcdefghijklmnopqrstuvwxyz0123456; do
        expect 2 'the name of a game is' "$name"
        [ ! -e "$name" ] || fail "$name was made"
    done
    expect 2 'the name of a game is' hop hop
    expect 2 "kind needs field|top-down|turn" hop_3d --kind tur
    [ ! -e hop_3d ] || fail "hop_3d was made"
    expect 0 'usage: shoal-server new NAME' --help
    expect 0 'cd hop_3d && ./play' hop_3d
    expect 0 'cd walls && ./play' walls --kind top-down
    expect 0 'cd cards && ./play' --kind=turn cards
    expect 2 'hop_3d: error: File exists' hop_3d
    if grep -rnE '@[A-Za-z]+@' hop_3d walls cards; then fail "a word was not replaced"; fi
    expect 0 'cd war && ./play' war --kind rts
    for kind in walls:277 cards:250 war:417; do
        most=${kind#*:} kind=${kind%:*}
        lines=$(cat $kind/$kind.* | wc -l)
        [ "$lines" -lt "$most" ] && grep -q "| $lines |\$" "$root/games/skeleton/README.md" || fail "$kind has $lines lines"
    done

    # A map of a picture: RGBA, with each of the five filters of PNG.
    python3 - walls/map.txt map.png <<'PYTHON'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows, raw = open(sys.argv[1]).read().split(), b""
above = bytes(4 * len(rows[0]))
for number, row in enumerate(rows):
    line = b"".join(bytes((ord(each), 16, 240, 9)) for each in row)
    raw += bytes([number % 5])
    for i, value in enumerate(line):
        left, up, corner = line[i - 4] if i > 3 else 0, above[i], above[i - 4] if i > 3 else 0
        paeth = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
        raw += bytes([(value - (0, left, up, (left + up) // 2, paeth)[number % 5]) & 255])
    above = line
head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 6, 0, 0, 0)
open(sys.argv[2], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
PYTHON
    "$root/scripts/tiles" map.png '#=2310f0' .=2e10f0 '~=7e10f0' a=6110f0 b=6210f0 c=6310f0 d=6410f0 e=6510f0 | cmp - walls/map.txt ||
        fail "the map of a picture is another one"
    ! "$root/scripts/tiles" map.png '#=2310f0' >said 2>&1 || fail "a color without a character is no fault"
    grep -q '^map.png: row 2, column 2 has 2e10f0, which has no character$' said || fail "it does not say where"

    hop_3d/play --headless --bots 3 --ticks 60 >hop.out 2>hop.err || fail "play ended with $?"
    has_been_played hop
    run check shoal-server check --strict hop_3d/build/games/hop_3d.so
    [ "$code" = 0 ] || fail "the module is refused"

    # A file with systems that the game does not take is refused with its name.
    printf '%s\n' '#include <ecs/ecs.h>' '#include <ecs/es.h>' '// static void no_es(int a) {}' \
        'static void extra_es(ecs_vec2* pos) {' '    pos->x += 0.0f;' '}' >hop_3d/extra.c
    # A source of the game that CMakeLists.txt misses, by its system or by a function that ES_GAME names.
    printf '// Input of players.\nvoid human_input(int a) {\n}\n' >hop_3d/human.c
    cmake hop_3d/build >said 2>&1
    for line in 'extra.c: extra_es is in no game: add extra.c to shoal_game(hop_3d ...)' \
        'human.c: human_input is in no game: add human.c to shoal_game(hop_3d ...)'; do
        tr -s ' \n' ' ' <said | grep -qF -e "$line" || fail "cmake did not say: $line"
    done
    rm hop_3d/human.c
    sed -i 's/CONTEXT(hop_3d)/CONTEXT(hop)/' hop_3d/hop_3d.c
    build 1 'hop_3d.c: ES_GAME_CONTEXT(hop): the game is called hop_3d in CMakeLists.txt: both say one name'
    sed -i 's/CONTEXT(hop)/CONTEXT(hop_3d)/' hop_3d/hop_3d.c
    sed -i 's/^#include "hop_3d.pb-c.h"/\/\/ &/' hop_3d/hop_3d.c
    build 1 'hop_3d.c: error: the messages of ES_MESSAGE are in no header: include "NAME.pb-c.h"'
    sed -i 's/^\/\/ \(#include "hop_3d.pb-c.h"\)/\1/' hop_3d/hop_3d.c
    sed -i 's/ hop_3d.c / hop_3d.c extra.c /' hop_3d/CMakeLists.txt
    build 1 'extra.c: extra_es never runs: the file does not include "extra.es.h"'
    sed -i 's/^static void extra/#include "extra.es.h"\n\n&/' hop_3d/extra.c
    build 1 'extra.c: extra_es never runs: add extra to ES_SYSTEMS(...) beside ES_GAME'
    sed -i 's/ extra.c / /' hop_3d/CMakeLists.txt

    # What check refuses is a warning of the match, which runs all the same.
    cp hop_3d/hop_3d.c right.c
    sed -i 's/^#include <ecs\/ecs.h>/&\n#include <stdlib.h>/; s/^    const ecs_vec2 way = /    static int moves;\n    moves += rand();\n&/' \
        hop_3d/hop_3d.c
    build 0 'Built target hop_3d'
    hop_3d/play --headless --ticks 20 >played 2>&1 || fail "play ended with $?"
    for line in 'hop_3d: warning: imports rand: chance is ecs_world_rng or ecs_stage_rng' \
        'hop_3d: warning: writable global moves.* of hop_3d.c: keep it in a component or in the context'; do
        grep -q "$line" played || fail "play did not say: $line"
    done
    mv right.c hop_3d/hop_3d.c

    # A name in ES_STEP.
    sed -i 's/ES_STEP(hop_3d_player/ES_STEP(hop_3d_palyer/' hop_3d/hop_3d.c
    ! hop_3d/play --headless --ticks 20 >played 2>&1 || fail "a game with a wrong name is played"
    grep -qF "hop_3d: there is no template 'hop_3d_palyer', did you mean 'hop_3d_player'?" played || fail "ES_STEP"
    sed -i 's/ES_STEP(hop_3d_palyer/ES_STEP(hop_3d_player/' hop_3d/hop_3d.c

    # Pictures and sounds lie beside the game: those that are added later too, and not what an editor leaves.
    mkdir -p hop_3d/assets/far
    echo picture >hop_3d/assets/far/ship.png
    echo sound >'hop_3d/assets/hit it.wav'
    build 1 'assets/hit it.wav: the name of a picture or a sound has at most 63 of A-Z'
    mv 'hop_3d/assets/hit it.wav' hop_3d/assets/hit.wav~
    build 0 'Built target hop_3d'
    (cd hop_3d/build/games/hop_3d && find . -type f) >said
    [ "$(cat said)" = ./far/ship.png ] || fail "assets were not copied"
    cmake --install hop_3d/build --prefix "$work/prefix" >said 2>&1 || fail "does not install"
    cmp -s hop_3d/assets/far/ship.png "$work/prefix/lib/shoal/games/hop_3d/far/ship.png" || fail "assets were not installed"

    # What is wrong in generated code is named at the game's own line: a field that the message does not have.
    sed -i 's/^    int32_t x, y ES_CLAMP(-1, 1);$/&\n    int32_t odd;/' hop_3d/hop_3d.c
    line=$(grep -n 'int32_t odd;' hop_3d/hop_3d.c | cut -d: -f1)
    build 1 "hop_3d.c:$line:"
    ! grep -q '\.es\.h:[0-9:]* error' said.out || fail "a generated line is named"
    sed -i 's/^    int32_t odd;$/    int32_t odd[80] ES_LOCAL;/' hop_3d/hop_3d.c
    build 1 'event hop_3d_input has more than 256 bytes, NET_EVENT_STRUCT_BYTES_MAX: an input has at most that many'
}

case_new_game_is_built_while_it_is_played() {
    local tick
    run new shoal-server new hop_3d

    # The match goes on with what is saved: other code, a fault, a mended file with another layout. A slow machine may reload
    # twice for the last: when the templates are copied, and when the library is built.
    cp hop_3d/hop_3d.c right.c
    hop_3d/play --watch --headless --bots 1 >saved.out 2>saved.err &
    pids[saved]=$!
    await "the player" has_said saved.err ' joined from '
    echo 'const char hop_3d_version[] = "other";' >>hop_3d/hop_3d.c
    await "other code" has_lines saved.err 'reloaded: the match continues with it' 1
    await "the player" has_lines saved.err ' is back after ' 1
    echo 'a fault;' >>hop_3d/hop_3d.c
    await "the fault" has_said saved.err 'not built: the match goes on as it was'
    await "the words for the window" has_said hop_3d/build/faults '^hop_3d.c:[0-9]+:[0-9]+: error'
    cat saved.out saved.err | grep -q 'hop_3d.c:[0-9]*:.*error' || fail "the fault is not named"
    sed -i 's/^\(hop_3d_player[^{]*\){/&\n    "extra:i"{ _replicate:b=yes; value:i=3 }/' hop_3d/hop_3d.blk
    cp right.c hop_3d/hop_3d.c
    await "another layout" has_lines saved.err 'reloaded: the match continues with it' 2
    await "the words to go" test ! -e hop_3d/build/faults
    await "the player" has_lines saved.err ' is back after ' 2
    kill -TERM "${pids[saved]}"
    ends_with 0 saved
    tick=$(value tick saved.out)
    [ "${tick:-0}" -gt 60 ] || fail "the match began again: tick $tick"

    # One program, and a server with a page where there is one; bots stand beside a window.
    hop_3d/play --no-page --headless --bots 1 --ticks 60 >page.out 2>page.err || fail "play --no-page ended with $?"
    says page.out '^client id=1 .*end='
    if grep -q '^SHOAL_HAS_INSPECT:INTERNAL=ON' "$build/CMakeCache.txt"; then
        mkdir -p hop_3d/build/web && touch hop_3d/build/web/hop_3d.wasm # as scripts/web would leave it
        hop_3d/play --bots 2 --ticks 60 --name Ada >page.out 2>page.err || fail "play ended with $?"
        says page.out '^The match in the browser: http://127.0.0.1:[0-9]+$'
        says page.out '^Play in a browser: http://127.0.0.1:[0-9]+/play$'
        [ "$(grep -c '^client .*end=' page.out)" = 1 ] || fail "the window is not one client"
        has_lines page.err ' joined from ' 3 || fail "two bots and a window are not three players"
        is_played_by_a_phone
        ends_with_a_signal hop_3d --headless --bots 1
        mkdir -p hop_3d/build/wasm && hop_3d/play --headless --ticks 20 >page.out 2>page.err || fail "play ended with $?"
        says page.out '^Building the game.s code for browsers: a minute or two'
    fi
}

# NAME ARGUMENT...: a signal ends play, and with it the server and the clients that it began.
ends_with_a_signal() {
    local name=$1 each children
    shift
    : >signal.err
    "$name/play" "$@" >signal.out 2>signal.err &
    pids[signal]=$!
    await "the player" has_said signal.err ' joined from '
    children=$(ps -o pid= --ppid "${pids[signal]}")
    [ "$(wc -w <<<"$children")" -ge 2 ] || fail "play began no two programs"
    kill -TERM "${pids[signal]}"
    ended signal
    for each in $children; do ! kill -0 "$each" 2>/dev/null || fail "it still runs: $(ps -o args= -p "$each")"; done
}

# At an address of a private network; the machine of the test may have none.
is_played_by_a_phone() {
    mkdir words
    printf '#!/bin/sh\necho "127.0.0.1 203.0.113.7 $PHONE_AT"\n' >words/hostname
    printf '#!/bin/sh\necho "drawn: $5"\n' >words/qrencode
    chmod +x words/*
    mv hop_3d/build/web code
    ! hop_3d/play --phone --headless --ticks 60 >page.out 2>page.err || fail "a phone without the game's code plays"
    says page.err '^a browser needs this game.s code: scripts/web'
    mv code hop_3d/build/web
    ! PATH=$PWD/words:$PATH PHONE_AT='' hop_3d/play --phone --headless --ticks 60 >page.out 2>page.err || fail "a phone without a network plays"
    says page.err '^this machine has no address of a private network'
    unshare -rn ip link set lo up 2>/dev/null || { echo "NOT TESTED: no network of its own"; return 0; }
    PATH=$PWD/words:$PATH PHONE_AT=10.9.9.9 unshare -rn sh -c 'ip link set lo up && ip addr add 10.9.9.9/32 dev lo &&
        exec hop_3d/play --phone --headless --bots 1 --ticks 60' >page.out 2>page.err || fail "play --phone ended with $?"
    says page.out '^Play in a browser: http://10.9.9.9:[0-9]+/play$'
    says page.out '^drawn: http://10.9.9.9:[0-9]+/play$'
}

# A server of KIND, bots, and the player in Python. Bots that do not think long make rounds short.
meet() { # KIND BOTS OPTION...
    local kind=$1 bots=$2
    shift 2
    start "$kind" shoal-server --game "$kind" --listen 127.0.0.1:0 --min-clients $((bots + 1)) "$@"
    await "ready line of $kind" is_ready_or_gone "$kind"
    address=$(value listen "$kind.out")
    start "$kind-bots" shoal-client "$address" --bots "$bots"
}
look() { # KIND ARGUMENT...
    PYTHONPATH=$root/client/python PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cmake/kinds.py" "$@" >"$1.out" 2>"$1.err" &
    pids[$1]=$!
}

case_new_kinds() {
    local kind
    run new shoal-server new walls --kind top-down
    run new shoal-server new --kind=turn cards
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(kinds LANGUAGES C)' 'add_subdirectory(walls)' \
        'add_subdirectory(cards)' >CMakeLists.txt
    cmake -B build >configure.out 2>&1 && cmake --build build >build.out 2>&1 || fail "the kinds do not build"
    run check shoal-server check --strict --ticks bots=3 build/games/walls.so build/games/cards.so
    [ "$code" = 0 ] || fail "a kind is refused"
    for kind in walls cards; do
        SHOAL_MODULE_PATH=$PWD/build/games start $kind shoal-client --game $kind --local --headless --bots 3 --ticks 60
    done
    for kind in walls cards; do
        ends_with 0 $kind
        has_been_played $kind
    done
    export SHOAL_MODULE_PATH=$PWD/build/games SHOAL_LIBRARY=$build/lib/libshoal_client.so.1
    if command -v python3 >/dev/null && ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
        change cards/cards.c 's/below(view->rng, 60)/below(view->rng, 4)/; s/^#define PAUSE_S .*/#define PAUSE_S 0.2f/; s/^#define TURN_S .*/#define TURN_S 1.0f/; s/^#define HAND .*/#define HAND 3/'
        cmake --build build --target cards >build.out 2>&1 || fail "cards with quick bots do not build"
        meet cards 2 --tick-rate 240 --ticks 36000 --log cards.slog
        look turn "$address" cards.slog "${pids[cards]}"
        meet walls 3 --ticks 36000 --log none
        look top-down "$address" walls/map.txt
        ends_with 0 top-down
        says top-down.out '^top-down: all that was seen was in sight$'
        ends_with 0 cards
        ends_with 0 turn
        says turn.out '^turn: refused=3 seen_of_others=0 hands=[0-9]+ rounds=[0-9]+$'
        kill "${pids[walls]}"
        for kind in walls walls-bots cards-bots; do ends_with 0 $kind; done
    fi
    unset SHOAL_MODULE_PATH SHOAL_LIBRARY
}

# An rts: its bots, a player in Python who looks through the fog, and a person's hands in a window of its own display.
case_new_kind_rts() {
    local kind
    run new shoal-server new war --kind rts
    cmake -S war -B build >configure.out 2>&1 && cmake --build build >build.out 2>&1 || fail "the kind does not build"
    run check shoal-server check --strict --ticks bots=4 build/games/war.so
    [ "$code" = 0 ] || fail "the kind is refused"
    export SHOAL_MODULE_PATH=$PWD/build/games SHOAL_LIBRARY=$build/lib/libshoal_client.so.1
    run_to 0 war shoal-client --game war --local --headless --bots 3 --ticks 60
    has_been_played war
    if command -v python3 >/dev/null && ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
        # They meet soon.
        change war/war.c 's/^#define SPEED .*/#define SPEED 270.0f/'
        cmake --build build >build.out 2>&1 || fail "an rts with quick units does not build"
        meet war 5 --tick-rate 240 --ticks 2400 --log war.slog
        look rts "$address" war.slog war/map.txt
        ends_with 0 war
        ends_with 0 rts
        says rts.out '^rts: all that was seen was near the team; units make room within [0-9]+ ticks$'
        ends_with 0 war-bots
        verifies war.slog war
        play_by_hand
    fi
    unset SHOAL_MODULE_PATH SHOAL_LIBRARY
}

# A lobby: its bots wait in the doors, which stay shut where no host is.
case_new_kind_lobby() {
    run new shoal-server new lobby --kind lobby
    grep -q "| $(cat lobby/lobby.* | wc -l) |\$" "$root/games/skeleton/README.md" || fail "its lines"
    cmake -S lobby -B build >configure.out 2>&1 && cmake --build build >build.out 2>&1 || fail "the kind does not build"
    run check shoal-server check --strict --ticks bots=4 build/games/lobby.so
    [ "$code" = 0 ] || fail "the kind is refused"
    SHOAL_MODULE_PATH=$PWD/build/games run_to 0 lobby shoal-client --game lobby --local --headless --bots 3 --ticks 400
    has_been_played lobby
    [ ! -x "$bin/shoal-host" ] || lobby_with_a_host
}

# Two lobbies whose doors lead from one to the other: bots go there and back by themselves, and their records stay.
lobby_with_a_host() {
    local i url
    run new shoal-server new hall --kind lobby
    change lobby/lobby.c 's/"breakout", /"hall", /; s/"arena", /"hall", /'
    change hall/hall.c 's/"breakout", /"lobby", /; s/"arena", /"lobby", /'
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(halls LANGUAGES C)' 'add_subdirectory(lobby)' \
        'add_subdirectory(hall)' >CMakeLists.txt
    cmake -B halls >configure.out 2>&1 && cmake --build halls >build.out 2>&1 || fail "two lobbies do not build"
    printf '%s\n' 'http = 127.0.0.1:0' 'open = yes' 'folder = run' 'drain = 1' 'game lobby {' 'players = 1..8' 'options = --set party=1' '}' \
        'game hall {' 'players = 1..8' 'options = --set party=1' '}' >host.conf
    export SHOAL_MODULE_PATH=$PWD/halls/games
    start_ready host shoal-host host.conf
    url=$(value http host.out)
    for i in 1 2; do ask /v1/join "{\"game\":\"lobby\",\"request\":\"r$i\"}" && mv answer.json join$i.txt; done
    (umask 077 && sed -E 's/.*"token":"([^"]*)".*/\1/; s/$/\n/' join1.txt join2.txt | grep . >tokens)
    start bots shoal-client "$(sed -E 's/.*"address":"([^"]*)".*/\1/' join1.txt)" --headless --bots 2 --token-file tokens
    await "both to be back" has_lines bots.out ' end=transferred transfers=3$' 2
    stop bots host
    for i in run/matches/*/match.slog; do
        verifies "$i"
        run dump shoal-replay dump "$i"
        cat dump.out >>joins.out
    done
    has_lines joins.out '"record_version":1,"record":"01"' 2 || fail "the lobby has lost the records"
    unset SHOAL_MODULE_PATH
}

# The pointer in the middle of a window of 960 x 600 pixels is at the own base.
play_by_hand() {
    for program in Xvfb xdotool; do
        command -v $program >/dev/null || { echo "$program is not installed"; return 0; }
    done
    grep -q '^SHOAL_HAS_WINDOW:INTERNAL=\(ON\|TRUE\)' "$build/CMakeCache.txt" || return 0
    Xvfb -displayfd 5 -screen 0 960x600x24 5>display.txt >Xvfb.out 2>Xvfb.err &
    pids[Xvfb]=$!
    await "display" test -s display.txt
    export DISPLAY=:$(<display.txt)
    start_ready match shoal-server --game war --listen 127.0.0.1:0 --min-clients 1 --log hand.slog
    start person shoal-client "$(value listen match.out)" --render --name Ada --window size=960x600 --shot hand.png
    await "the person" has_said match.err '"Ada" joined'
    xdotool mousemove 480 290 keydown space
    rest 3
    xdotool keyup space mousemove 300 100 mousedown 1
    rest 0.3
    xdotool mousemove 900 500
    rest 0.3
    xdotool mouseup 1
    rest 0.3
    xdotool mousemove 580 300 click 3
    rest 0.3
    xdotool click 5 click 5 click 5
    rest 0.3
    xdotool click 3
    rest 0.3
    xdotool mousemove 880 300 click 3
    rest 1
    kill -INT "${pids[person]}"
    ends_with 0 person
    kill -INT "${pids[match]}"
    ends_with 0 match
    kill "${pids[Xvfb]}"
    wait "${pids[Xvfb]}" || true
    unset "pids[Xvfb]" DISPLAY
    look hand hand.slog 1
    ends_with 0 hand
    says hand.out '^hand: box, orders and wheel$'
}

# No compiler: a link to the module, and what is saved counts in the match.
case_new_game_of_lua() {
    expect 0 'cd hop && ./play' hop --kind lua
    [ "$(cd hop && ls | xargs)" = "README.md hop.blk hop.so play rules.lua" ] || fail "not the files of a script"
    if grep -rnE '@[A-Za-z]+@' hop; then fail "a word was not replaced"; fi
    grep -q "| $(cat hop/hop.blk hop/rules.lua | wc -l) |\$" "$root/games/skeleton/README.md" || fail "its lines"
    expect 2 'hop: error: File exists' hop --kind lua
    run_to 0 check shoal-server check --strict hop/hop.so
    hop/play --headless --bots 3 --ticks 60 >hop.out 2>hop.err || fail "play ended with $?"
    has_been_played hop
    hop/play --watch --headless --bots 1 >saved.out 2>saved.err &
    pids[saved]=$!
    await "the player" has_said saved.err ' joined from '
    change hop/rules.lua 's/STARS = 960, 540, 14, 260, 12/STARS = 960, 540, 14, 300, 12/'
    await "the reload" has_lines saved.err 'reloaded: the match continues with it' 1
    await "the player" has_lines saved.err ' is back after ' 1
    echo 'function on_tick() missing.x = 1 end' >>hop/rules.lua
    await "the reload" has_lines saved.err 'reloaded: the match continues with it' 2
    await "a fault of a tick" has_said saved.err '^rules.lua:[0-9]+: error: there is no missing \(in on_tick, tick '
    kill -TERM "${pids[saved]}"
    ends_with 0 saved
    ! hop/play --page --headless --ticks 60 >page.out 2>page.err || fail "a page without the game's code plays"
    says page.err '^a browser needs this game.s code: scripts/web'
    grep -q '^SHOAL_HAS_INSPECT:INTERNAL=ON' "$build/CMakeCache.txt" || return 0
    mkdir -p hop/build/web && touch hop/build/web/hop.wasm # as scripts/web would leave it
    hop/play --page --headless --bots 2 --ticks 60 >page.out 2>page.err || fail "play --page ended with $?"
    says page.out '^Play in a browser: http://127.0.0.1:[0-9]+/play$'
    [ "$(grep -c '^client .*end=' page.out)" = 2 ] || fail "two bots are not two clients"
    ends_with_a_signal hop --page --headless --bots 1
}

run_cases "$1" ${2:+"$2"}
