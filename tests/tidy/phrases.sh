#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counts the phrases of phrases.txt in each file. A file may have as many as phrases_allowed.txt says, and that list only
# shrinks: a file with fewer than it may have is a fault too. `phrases.sh --list FILE...` prints each place.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
folder=tests/tidy
pattern=$(grep -vE '^(#|$)' "$folder/phrases.txt" | sed 's/ => .*//' | paste -sd'|')
[ -n "$pattern" ] || { echo "phrases: no pattern in phrases.txt"; exit 2; }

if [ "${1:-}" = --list ]; then
    shift
    grep -nHiEo ".{0,30}($pattern).{0,30}" "$@"
    exit 0
fi
mapfile -t files < <(find ecs proto net server client games tests scripts .github README.md \
    \( -name '*.[ch]' -o -name '*.md' -o -name '*.sh' -o -name '*.txt' -o -name '*.cmake' -o -name '*.proto' \
    -o -name '*.blk' -o -path 'scripts/*' \) -type f ! -path "$folder/phrases*" | sort)
[ "${#files[@]}" -gt 100 ] || { echo "phrases: only ${#files[@]} files found: wrong folder?"; exit 2; }

counts=$(grep -ciE "$pattern" "${files[@]}" | grep -v ':0$' | sort)
allowed=$(grep -vE '^(#|$)' "$folder/phrases_allowed.txt" | sed 's/ /:/' | sort)
if [ "$counts" = "$allowed" ]; then
    echo "phrases: ${#files[@]} files, $(printf '%s' "$counts" | grep -c .) with old phrases, as listed"
    exit 0
fi
diff <(printf '%s\n' "$allowed") <(printf '%s\n' "$counts") | sed -n 's/^< /listed in phrases_allowed.txt: /p;s/^> /found: /p'
echo "phrases: write the sentence in plain words (phrases.sh --list FILE), or lower the number in $folder/phrases_allowed.txt"
exit 1
