#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No file has a phrase of phrases.txt. `phrases.sh --list FILE...` prints each place. Words of place that stood for time
# and order have a ceiling of lines in the product's C below: it only falls.
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
# subjects.sh lists the verbs of the commits that there are.
mapfile -t files < <(find ecs proto net server client games tests scripts .github README.md \
    \( -name '*.[ch]' -o -name '*.md' -o -name '*.sh' -o -name '*.txt' -o -name '*.cmake' -o -name '*.proto' \
    -o -name '*.blk' -o -path 'scripts/*' \) -type f ! -path "$folder/phrases*" ! -path "$folder/subjects.sh" | sort)
[ "${#files[@]}" -gt 100 ] || { echo "phrases: only ${#files[@]} files found: wrong folder?"; exit 2; }

faults=0
if grep -nHiE "$pattern" "${files[@]}"; then
    echo "phrases: write the sentence in plain words (phrases.txt says which)"
    faults=1
fi
# LINES WORDS INSTEAD
while read -r lines words instead; do
    mapfile -t places < <(grep -rniwE --include='*.[ch]' "${words//_/ }" ecs proto net server client games)
    [ "${#places[@]}" -le "$lines" ] && continue
    echo "phrases: \"${words//_/ }\" in ${#places[@]} lines, at most $lines: write $instead. The newest are among those of:"
    git diff -U0 HEAD~1 -- '*.[ch]' 2>/dev/null | grep -iwE "^\+.*(${words//_/ })"
    faults=1
done <<'END'
210 behind "after", where it is a time or an order
10 in_front_of "before"
57 stands "is"
23 so_many "N", "that many"
1 by_chance "at random"
180 what_is name it
225 says "reports", "returns", "defines"
END
[ "$faults" = 0 ] || exit 1
echo "phrases: ${#files[@]} files, none with an old phrase; words of place within their ceilings"
