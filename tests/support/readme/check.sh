#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ecs/README.md shows a program and what it prints: both must be true. README.md shows functions and a template of the
# tutorial's second step: each is there, word for word.
#
#   check.sh ecs/README.md example.c EXAMPLE [WORD...]      a program for Windows comes after the emulator that runs it
set -euo pipefail
readme=$1
top=$(dirname "$0")/../../..
source=$2
shift 2

program=$(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme")
output=$(awk '/^```c$/ { seen = 1; next } /^```/ { if (seen) fence++; next } seen && fence == 2' "$readme")
diff <(echo "$program") <(grep -v SPDX "$source")
diff <(echo "$output") <("$@" | tr -d '\r')

# LANGUAGE FILE: the paragraphs of the first page's block are paragraphs of FILE.
excerpt() {
    grep -q "^\`\`\`$1$" "$top/README.md" || { echo "README.md: no block of $1"; exit 1; }
    comm -23 <(awk -v fence="^\`\`\`$1$" '$0 ~ fence { on = 1; next } /^```$/ { on = 0 } on' "$top/README.md" | paragraphs) \
        <(grep -vE '^//' "$2" | paragraphs) | grep . && { echo "README.md: not in $2"; exit 1; }
    return 0
}
paragraphs() { awk 'BEGIN { RS = "" } { gsub(/^\/\/[^\n]*\n/, ""); gsub(/\n/, "\\n"); print }' | sort; }
excerpt c "$top/games/tutorial/2_movement/tag2.c"
excerpt blk "$top/games/tutorial/2_movement/tag2.blk"
echo "the program in ecs/README.md, its output, and the functions in README.md are true"
