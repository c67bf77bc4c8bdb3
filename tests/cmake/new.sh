#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `shoal-server new NAME` as a new user calls it: the folder builds at once, the module passes the strict check, the
# game is played by its own script.
#
#     new.sh SHOAL-SERVER COMPILER
set -euo pipefail
server=$1
export CC=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-new.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "new: $*" >&2
    tail -n 30 said played 2>/dev/null >&2
    exit 1
}

# CODE TEXT ARGUMENT...
expect() {
    local code=0 wanted=$1 text=$2
    shift 2
    "$server" new "$@" >said 2>&1 || code=$?
    [ "$code" = "$wanted" ] || fail "new $* ended with $code, not $wanted"
    grep -qF -e "$text" said || fail "new $* did not say: $text"
}
expect 2 'the name of a game is 1 to 32 of a-z 0-9 _'
for name in Hop 3d _hop hop_ a__b ../hop a-b abcdefghijklmnopqrstuvwxyz0123456; do
    expect 2 'the name of a game is' "$name"
    [ ! -e "$name" ] || fail "$name was made"
done
expect 2 'the name of a game is' hop hop
expect 0 'cd hop_3d && ./play' hop_3d
expect 2 'hop_3d: error: File exists' hop_3d
if grep -rnE '@[A-Za-z]+@' hop_3d; then fail "a word was not replaced"; fi

export CFLAGS='-Wall -Wextra -Werror'
hop_3d/play --headless --bots 3 --ticks 240 >played 2>&1 || fail "play ended with $?"
[ "$(grep -c '^client .*end=' played)" = 3 ] || fail "three clients did not play"
"$server" check --strict hop_3d/build/games/hop_3d.so >said 2>&1 || fail "the module is refused"
# A file with systems that the game does not take is refused with its name.
cat >hop_3d/extra.c <<'END'
#include <ecs/ecs.h>
#include <ecs/es.h>
// static void no_es(int a) {}
static void extra_es(ecs_vec2* pos) {
    pos->x += 0.0f;
}
END
# A source of the game that CMakeLists.txt misses, by its system or by a function that ES_GAME names.
printf '// Input of players.\nvoid human_input(int a) {\n}\n' >hop_3d/human.c
cmake hop_3d/build >said 2>&1
for line in 'extra.c: extra_es is in no game: add extra.c to shoal_game(hop_3d ...)' \
    'human.c: human_input is in no game: add human.c to shoal_game(hop_3d ...)'; do
    tr -s ' \n' ' ' <said | grep -qF -e "$line" || fail "cmake did not say: $line"
done
rm hop_3d/human.c
# CODE TEXT
build() {
    local code=0
    cmake --build hop_3d/build --target hop_3d >said 2>&1 || code=$?
    [ "$((code != 0))" = "$1" ] || fail "the build ended with $code"
    tr -s ' \n' ' ' <said | grep -qF -e "$2" || fail "the build did not say: $2"
}
sed -i 's/CONTEXT(hop_3d)/CONTEXT(hop)/' hop_3d/hop_3d.c
build 1 'hop_3d.c: ES_GAME_CONTEXT(hop): the game is called hop_3d in CMakeLists.txt: both say one name'
sed -i 's/CONTEXT(hop)/CONTEXT(hop_3d)/' hop_3d/hop_3d.c
sed -i 's/hop_3d.c)/hop_3d.c extra.c)/' hop_3d/CMakeLists.txt
build 1 'extra.c: extra_es never runs: the file does not include "extra.es.h"'
sed -i 's/^static void extra/#include "extra.es.h"\n\n&/' hop_3d/extra.c
build 1 'extra.c: extra_es never runs: add extra to ES_SYSTEMS(...) beside ES_GAME'
sed -i 's/ extra.c)/)/' hop_3d/CMakeLists.txt

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
! grep -q '\.es\.h:[0-9:]* error' said || fail "a generated line is named"
echo "new: hop_3d builds, plays and passes the check"
