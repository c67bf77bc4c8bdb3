#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh CLANG_FORMAT: every C file of ours is as `clang-format -i` leaves it (.clang-format, 100 columns). The two samples
# of shoal-esgen show what an author may write and are left out.
set -u
format=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
mapfile -t files < <(find ecs proto net server client games tests -name '*.[ch]' \
    ! -path 'tests/unit/esgen/sample.*' ! -path 'tests/unit/esgen/manual.*' | sort)
[ "${#files[@]}" -gt 100 ] || { echo "format: only ${#files[@]} files found: wrong folder?"; exit 2; }
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P 2 "$format" --dry-run 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -t: -k1,1 -u)
if [ -n "$wrong" ]; then
    printf '%s: not in the format of the project\n' $wrong
    echo "format: run clang-format -i on these files"
    exit 1
fi
echo "format: ${#files[@]} files"
