#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# README.md shows a program and what it prints: both must be true.
#
#   check.sh README.md example.c EXAMPLE
set -euo pipefail
readme=$1
source=$2
example=$3

program=$(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme")
output=$(awk '/^```c$/ { seen = 1; next } /^```/ { if (seen) fence++; next } seen && fence == 2' "$readme")
diff <(echo "$program") <(grep -v SPDX "$source")
diff <(echo "$output") <("$example")
echo "the program in $(basename "$readme") and its output are true"
