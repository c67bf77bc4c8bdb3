#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# README.md shows a program and what it prints: both must be true.
#
#   check.sh README.md example.c EXAMPLE [WORD...]      a program for Windows comes after the emulator that runs it
set -euo pipefail
readme=$1
source=$2
shift 2

program=$(awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$readme")
output=$(awk '/^```c$/ { seen = 1; next } /^```/ { if (seen) fence++; next } seen && fence == 2' "$readme")
diff <(echo "$program") <(grep -v SPDX "$source")
diff <(echo "$output") <("$@" | tr -d '\r')
echo "the program in $(basename "$readme") and its output are true"
