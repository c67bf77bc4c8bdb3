#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# games/MISTAKES.md lists each kind of mistake, the line that it gets and its test. Here: the words stand in that
# test, and there are 121 kinds or more.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
kinds_min=121
kinds=0
faults=0
while IFS='|' read -r _ mistake said test _; do
    [ "$mistake" = ' mistake ' ] || [ "${mistake#---}" != "$mistake" ] && continue
    words=${said#*\`}
    words=${words%\`*}
    file=${test#*\`}
    file=$root/tests/${file%\`*}
    kinds=$((kinds + 1))
    # Texts of C go on in the next line, and have a backslash before a quote.
    if ! [ -f "$file" ] || ! tr '\n' ' ' <"$file" | sed 's/\([^\\]\)" *"/\1/g; s/\\"/"/g' | grep -qF -- "$words"; then
        echo "games/MISTAKES.md:$mistake: \"$words\" is not in ${file#"$root"/}" >&2
        faults=$((faults + 1))
    fi
done < <(grep '^|' "$root/games/MISTAKES.md")
[ "$kinds" -ge "$kinds_min" ] || { echo "games/MISTAKES.md: $kinds kinds, $kinds_min at least" >&2; faults=$((faults + 1)); }
echo "mistakes: $kinds kinds, $faults without a test"
[ "$faults" = 0 ]
