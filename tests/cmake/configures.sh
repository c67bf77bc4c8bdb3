#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each combination of no or all parts, with or without tests and shoal-bench, configures, and each library that its programs
# are linked to is a target: CMake takes another name for a library of the system. The combination with all of them is that
# of the build itself. A folder with another prefix than /usr makes no packages.
#
#     configures.sh CMAKE COMPILER [SHOAL_ENET_SOURCE]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-cmake.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2 && exit 1; }

for each in 'none OFF OFF' 'none OFF ON' 'none ON OFF' 'none ON ON' 'all OFF OFF' 'all ON OFF' 'all OFF ON'; do
    read -r parts tests bench <<<"$each"
    rm -rf "$work/build"
    "$1" -S "$root" -B "$work/build" -DSHOAL_PARTS="$parts" -DSHOAL_TESTS="$tests" -DSHOAL_BENCH="$bench" -DCMAKE_C_COMPILER="$2" \
        -DCMAKE_INSTALL_PREFIX=/usr/local ${3:+"-DSHOAL_ENET_SOURCE=$3"} >"$work/said" 2>&1 || { cat "$work/said" >&2; fail "$each"; }
    if grep -rhoE --include=link.txt --include=build.ninja -e '-lshoal_[a-z_]+' "$work/build" | sort -u >&2; then
        fail "$each: these are no targets"
    fi
done
! "$(dirname "$1")/cpack" --config "$work/build/CPackConfig.cmake" -G DEB -B "$work" >"$work/said" 2>&1 || fail "packages with another prefix"
grep -qF 'Packages need the prefix /usr, and this folder has /usr/local' <(tr -s ' \n' ' ' <"$work/said") || { cat "$work/said" >&2; fail "no word why"; }
echo "configures: seven combinations"
