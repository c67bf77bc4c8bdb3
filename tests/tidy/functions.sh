#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# functions.sh: no function of the product is longer than 60 lines, from its first line to its closing brace, and no static
# function is named by a bare verb: a stack trace of "put <- put <- take" names no object. Rooms that still have such names
# have a ceiling, which only falls.
set -euo pipefail
cd "$(dirname "$0")/../.."
find ecs proto net server client games \( -name '*.c' -o -name '*.h' \) -print0 | sort -z | xargs -0 awk '
    BEGIN { LINES_MAX = 60 }
    FNR == 1 { body = 0 }
    # In our format the body alone is indented: a name in the first column begins a declaration.
    !body && /^[A-Za-z_]/ { first = FNR; words = $0 }
    !body && /^[^#].*\{$/ && !/^(typedef|struct|union|enum|extern|static const)[^(]*\{$/ { body = 1 }
    /^\}/ {
        if (body && /^\}$/) {
            functions++
            lines = FNR - first + 1
            if (lines > LINES_MAX) { printf "%s:%d: %d lines, at most %d: %s\n", FILENAME, first, lines, LINES_MAX, words; faults++ }
        }
        body = 0
    }
    END {
        if (faults) { print "functions: " faults " faults"; exit 1 }
        print "functions: " functions " functions, none longer than " LINES_MAX " lines"
    }'

verbs='add|begin|check|close|end|fail|find|get|handle|load|open|pop|push|put|read|refuse|run|set|start|stop|store|take|write'
bare=$(grep -rnE --include='*.[ch]' "^static [^;={}()]*\b($verbs)\(" ecs proto net server client games || true)
[ -z "$bare" ] || { echo "$bare"; echo "functions: a bare verb: name the object, as in put_text"; exit 1; }
