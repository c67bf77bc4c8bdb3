#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# instructions.sh PROGRAM WORLD: counts the instructions of a tick of replication in WORLD of shoal-bench-count,
# and fails when they are more than instructions.txt allows. The figure does not depend on how busy the machine is.
set -euo pipefail
program=$1 world=$2
ceilings=$(dirname "$0")/instructions.txt
command -v valgrind >/dev/null ||
    { echo "instructions.sh: needs valgrind (apt-get install valgrind); ctest -LE instructions leaves it out" >&2; exit 1; }

answer=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    --toggle-collect=bench_repl_serve --toggle-collect=net_replicator_step "$program" "$world" 2>&1) ||
    { echo "$answer" >&2; exit 1; }
ticks=$(sed -n 's/^ticks=//p' <<<"$answer")
collected=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' <<<"$answer")
[ -n "$ticks" ] && [ -n "$collected" ] || { echo "$answer" >&2; exit 1; }

tolerance=$(awk '$1 == "tolerance_percent" { print $2 }' "$ceilings")
ceiling=$(awk -v world="$world" '$1 == world { print $2 }' "$ceilings")
[ -n "$tolerance" ] && [ -n "$ceiling" ] || { echo "instructions.sh: no line for $world in $ceilings" >&2; exit 1; }
count=$((collected / ticks))
echo "world=$world instructions_per_tick=$count ceiling=$ceiling tolerance_percent=$tolerance"
if [ "$((count * 100))" -gt "$((ceiling * (100 + tolerance)))" ]; then
    echo "instructions.sh: more than the ceiling: make it faster, or raise the ceiling and say why" >&2
    exit 1
fi
if [ "$((count * 100))" -lt "$((ceiling * (100 - 2 * tolerance)))" ]; then
    echo "instructions.sh: well below the ceiling: lower it"
fi
