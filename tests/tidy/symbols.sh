#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh ARCHIVE PREFIX [ALSO...]: every symbol that the archive exports starts with its layer's prefix.
set -u
archive=$1
shift
pattern="^($(IFS='|'; echo "$*"))"
names=$(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort -u)
[ -n "$names" ] || { echo "$archive: no symbols"; exit 2; }
wrong=$(printf '%s\n' "$names" | grep -vE "$pattern" | grep -vE '^(_|asan|__)')
if [ -n "$wrong" ]; then
    printf '%s: not prefixed by %s:\n%s\n' "$archive" "$*" "$wrong"
    exit 1
fi
echo "$(basename "$archive"): $(printf '%s\n' "$names" | wc -l) symbols, all prefixed"
