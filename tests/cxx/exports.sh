#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exports.sh BUILD [--write]: libshoal_client.so exports what shoal_client.h declares and nothing else, under its SONAME, and no
# function that exports.txt lists is gone. libshoal.so exports the layers and the ten functions of ENet's sockets. What
# shoal.lua declares is the header without what LuaJIT cannot read; --write puts it there.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$build/lib/libshoal_client.so
exported() { nm -D --defined-only "$1" | awk '$2 ~ /[TWBDR]/ { sub(/@.*/, "", $3); print $3 }' | sort; }
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
fail() { echo "exports: $*" >&2; exit 1; }

declared=$(grep -oE '\bshoal_[a-z0-9_]+\(' <(sed 's|//.*||' "$root/client/library/include/shoal_client.h") | tr -d '(' | sort -u)
difference=$(diff <(echo "$declared") <(exported "$library")) || fail "header and library differ:"$'\n'"$difference"
gone=$(comm -23 <(sort "$root/client/library/exports.txt") <(echo "$declared"))
[ -z "$gone" ] || fail "the ABI may only grow; gone: $gone"
added=$(comm -13 <(sort "$root/client/library/exports.txt") <(echo "$declared"))
[ -z "$added" ] || fail "add to client/library/exports.txt: $added"
[ "$(soname "$library")" = libshoal_client.so.1 ] || fail "SONAME $(soname "$library")"
wrong=$(exported "$build/lib/libshoal.so" | grep -vE '^(base|ecs|proto|net)_|^enet_(socket|time|host_random_seed)|^SHOAL_' || true)
[ -z "$wrong" ] || fail "libshoal.so exports $wrong"
[[ $(soname "$build/lib/libshoal.so") =~ ^libshoal\.so\.[0-9]+\.[0-9]+$ ]] || fail "SONAME $(soname "$build/lib/libshoal.so")"

lua=$root/client/lua/shoal.lua
declarations() {
    sed -E -e 's|//.*||' -e 's/^#define (SHOAL_ABI_VERSION) ([0-9]+)u$/enum { \1 = \2 };/' -e '/^#|^extern "C"|^}$/d' \
        -e 's/^SHOAL_API //' "$root/client/library/include/shoal_client.h" | sed -E -e 's/ +$//' -e '/^$/d'
}
rewritten() {
    sed '/^ffi.cdef \[\[$/q' "$lua"
    declarations
    sed -n '/^\]\]$/,$p' "$lua"
}
if [ "${2:-}" = --write ]; then
    rewritten >"$lua.new"
    mv "$lua.new" "$lua"
fi
difference=$(diff "$lua" <(rewritten)) ||
    fail "client/lua/shoal.lua declares something else than the header; mend it by tests/cxx/exports.sh BUILD --write"$'\n'"$difference"
echo "exports: $(echo "$declared" | wc -l) functions, as declared"
