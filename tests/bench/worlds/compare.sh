#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare.sh BUILD BEFORE [TRACE...]: prints the bytes of a packet in all generated worlds (seed 2) and in recorded ones.
# Fails when at least one figure of a server's coders is more than 0.5 % above that in BEFORE, the output of another
# build's run; lines that BEFORE does not have are printed only. BEFORE is /dev/null in a first run.
set -euo pipefail
build=$1 before=$2
shift 2
[ -r "$before" ] || { echo "compare.sh: cannot read $before" >&2; exit 2; }
{
    "$build/bin/shoal-worlds" --seed 2
    for trace; do "$build/bin/shoal-worlds" --file "$trace"; done
} | awk -v before="$before" '
    function figure(name) {
        match($0, " " name "=[0-9.]+")
        return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) + 0
    }
    BEGIN {
        while ((getline <before) > 0) {
            old[$1 $2, "shared"] = figure("shared")
            old[$1 $2, "solo"] = figure("solo")
        }
    }
    {
        print
        fflush()
        for (i = split("shared solo", names); i > 0; i--) {
            was = old[$1 $2, names[i]]
            if (was == 0) continue
            now = figure(names[i])
            logs[names[i]] += log(now / was)
            rows[names[i]]++
            if (now > 1.005 * was) worse[++count] = $1 " " $2 " " names[i] ": " was " -> " now
        }
    }
    END {
        for (i in names)
            if (rows[names[i]] > 0)
                printf "mean=%s change=%+.2f%% rows=%d\n", names[i],
                    100 * (exp(logs[names[i]] / rows[names[i]]) - 1), rows[names[i]]
        for (i = 1; i <= count; i++) print "worse: " worse[i]
        exit count > 0
    }'
