#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh BUILD COMPILER: the public headers as C++17, and a C++ program with every function that they declare.
set -euo pipefail
build=$(cd "$1" && pwd)
compiler=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-cxx.XXXXXX")
trap 'rm -rf "$work"' EXIT

folders=(ecs/base/include ecs/include proto/include net/include)
flags=(-std=c++17 -Wall -Wextra -Wpedantic -Werror -I "$work")
for folder in "${folders[@]}"; do flags+=(-I "$root/$folder"); done
mapfile -t headers < <(cd "$root" && for folder in "${folders[@]}"; do (cd "$folder" && find . -name '*.h' | sed 's|^\./||' | sort); done)
[ "${#headers[@]}" -gt 60 ] || { echo "cxx: only ${#headers[@]} headers: wrong folder?"; exit 2; }

printf '#include "%s"\n' "${headers[@]}" >"$work/all_headers.inc"
tac "$work/all_headers.inc" >"$work/reverse.cc"
"$compiler" "${flags[@]}" -fsyntax-only "$work/reverse.cc"

# What the libraries define and a header names.
archives=("$build"/lib/libshoal_{check,stream,playback,logtools,replay,explain,present,simulate,log,solo,core,proto,ecs,base}.a)
(cd "$root" && find "${folders[@]}" -name '*.h' -exec cat {} +) | grep -oE '\b(base|ecs|proto|net)_[a-z0-9_]+ *\(' |
    tr -d ' (' | sort -u >"$work/named"
objects=("$build"/net/CMakeFiles/shoal_socket.dir/transport/*.o)
nm -g --defined-only "${archives[@]}" "${objects[@]}" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TW]/ { print $3 }' | sort -u >"$work/defined"
comm -12 "$work/named" "$work/defined" | sed 's|.*|    reinterpret_cast<const void*>(\&&),|' >"$work/functions.inc"
[ "$(wc -l <"$work/functions.inc")" -gt 400 ] || { echo "cxx: only $(wc -l <"$work/functions.inc") functions"; exit 2; }

"$compiler" "${flags[@]}" "$root/tests/cxx/world.cc" -o "$work/world" "${objects[@]}" -Wl,--start-group "${archives[@]}" -Wl,--end-group \
    $(pkg-config --libs libprotobuf-c libenet libzstd libsodium) -ldl -pthread
"$work/world"
