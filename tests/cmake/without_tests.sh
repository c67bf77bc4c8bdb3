#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A build without tests (-DSHOAL_TESTS=OFF) has each library that its programs are linked to: CMake takes a name that is no
# target for a library of the system.
#
#     without_tests.sh CMAKE COMPILER [SHOAL_ENET_SOURCE]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-cmake.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" -S "$root" -B "$work" -DSHOAL_TESTS=OFF -DSHOAL_BENCH=ON -DCMAKE_C_COMPILER="$2" ${3:+"-DSHOAL_ENET_SOURCE=$3"} >"$work/said" 2>&1 ||
    { cat "$work/said" >&2; exit 1; }
if grep -rhoE --include=link.txt --include=build.ninja -e '-lshoal_[a-z_]+' "$work" | sort -u >&2; then
    echo "FAILED: these are no targets of a build without tests" >&2
    exit 1
fi
echo "without_tests: each library is a target"
