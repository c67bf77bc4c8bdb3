#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# parts.sh CORE... -- PART...: no archive of the core takes a symbol that only archives of parts define. proto/row/solo* and
# the part kit of ecs/kit lie inside of archives of the core. Symbols that are taken are printed, with who takes them.
set -euo pipefail
list() { # KIND ARCHIVE... -> KIND MEMBER SYMBOL
    local kind=$1
    shift
    nm -A -P -g "$@" | sed -E 's/^[^[]*\[([^]]*)\]: /\1 /' | awk -v kind="$kind" '
        { place = $1 ~ /^(solo|(tiles|flow|near)\.)/ ? "part" : kind; print place, ($3 ~ /^[Uw]$/ ? "takes" : "has"), $1, $2 }'
}
core=()
while [ "$1" != -- ]; do core+=("$1") && shift; done
shift
{ list core "${core[@]}" && if [ $# -gt 0 ]; then list part "$@"; fi; } | awk '
    $1 == "core" && $2 == "has" { is_core[$4] = 1 }
    $1 == "part" && $2 == "has" { owner[$4] = $3; symbols++ }
    $1 == "core" && $2 == "takes" { taken[++count] = $3 " " $4 }
    END {
        for (i = 1; i <= count; i++) {
            split(taken[i], one, " ")
            if (!(one[2] in owner) || one[2] in is_core) continue
            print one[1] " takes " one[2] " of " owner[one[2]]
            faults++
        }
        print "parts: " symbols + 0 " symbols of parts, " faults + 0 " taken by the core"
        exit faults > 0
    }'
