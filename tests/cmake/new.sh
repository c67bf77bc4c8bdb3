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
echo "new: hop_3d builds, plays and passes the check"
