#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rooms.sh: the includes of the rooms agree with rooms.txt.
# rooms.sh --arrows: prints every arrow between two rooms as "FROM TO", and every room as "ROOM".
#
# A room is a folder with sources. Public headers (*/include/) belong to no room: any room may include those
# of its own layer and of the layers below it (tidy.sh holds the arrows between layers). A private header of
# another room may be included only if rooms.txt has this arrow.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
table=tests/tidy/rooms.txt

# One line per file ("file PATH"), then one per include ("include PATH LINE HEADER").
list_includes() {
    local files
    files=$(find ecs proto net server client games \( -name '*.c' -o -name '*.h' \) | sort)
    printf '%s\n' "$files" | sed 's/^/file /'
    # shellcheck disable=SC2086
    grep -nE '^#include "' $files | sed -E 's/^([^:]*):([0-9]+):#include "([^"]*)".*/include \1 \2 \3/'
}

# "room ROOM" for each room, "arrow FROM TO PATH LINE HEADER" for each include that enters another room.
list_arrows() {
    list_includes | awk '
        function folder(path) { sub("/[^/]*$", "", path); return path }
        function is_public(path) { return path ~ /^(ecs|proto|net|ecs\/base|client\/library|net\/transport\/windows)\/include\// }
        function room(path) {
            if (path ~ /^ecs\/base\//) return "ecs/base"
            return folder(path)
        }
        function find(path, header,    layer, i, tries) {
            layer = path
            sub("/.*", "", layer)
            tries[1] = folder(path) "/" header
            tries[2] = layer "/" header
            tries[3] = "ecs/base/src/" header
            tries[4] = "net/" header # programs include "tools/..."
            for (i = 1; i <= 4; i++) if (tries[i] in files) return tries[i]
            return ""
        }
        $1 == "file" {
            files[$2] = 1
            if (!is_public($2) && !(room($2) in rooms)) { rooms[room($2)] = 1; print "room", room($2) }
        }
        $1 == "include" && !is_public($2) {
            target = find($2, $4)
            if (target != "" && !is_public(target) && room(target) != room($2))
                print "arrow", room($2), room(target), $2, $3, $4
        }'
}

if [ "${1:-}" = --arrows ]; then
    list_arrows | awk '$1 == "room" { print $2 } $1 == "arrow" && !(($2, $3) in seen) { seen[$2, $3] = 1; print $2, $3 }' | sort
    exit 0
fi

{ sed 's/^/table /' "$table"; list_arrows; } | awk -v table="$table" '
    function fault(text) { print text; faults++ }
    # The line of rooms.txt that the includes of a room ask for; names in the order of the table.
    function wanted(name,    i, line) {
        line = name ":"
        for (i = 1; i <= named; i++) if ((name, order[i]) in arrow) line = line " " order[i]
        return line
    }
    $1 == "table" {
        number++
        $1 = ""
        sub(/^ /, "")
        sub(/#.*/, "")
        if ($0 == "") next
        name = $1
        if (sub(/:$/, "", name) == 0) { fault(table ":" number ": no colon after the first word"); next }
        if (name == "circle") {
            circle_line = number
            for (i = 2; i <= NF; i++) may_circle[$i] = 1
            next
        }
        if (name in lines) fault(table ":" number ": a second line for " name)
        lines[name] = number
        order[++named] = name
        for (i = 2; i <= NF; i++) allowed[name, $i] = number
        next
    }
    $1 == "room" {
        rooms[$2] = 1
        if (!($2 in lines)) { lines[$2] = 0; order[++named] = $2 }
        next
    }
    $1 == "arrow" {
        if (!(($2, $3) in arrow)) first[$2, $3] = $4 ":" $5 ": includes \"" $6 "\""
        arrow[$2, $3] = 1
    }
    END {
        for (i = 1; i <= named; i++) {
            name = order[i]
            if (!(name in rooms)) { fault(table ":" lines[name] ": there is no room " name ": remove its line"); continue }
            is_wrong = lines[name] == 0
            if (is_wrong) fault(name ": a room without a line in " table)
            for (k = 1; k <= named; k++) {
                other = order[k]
                if (((name, other) in arrow) && !((name, other) in allowed)) {
                    fault(first[name, other] ": " name " may not enter " other)
                    is_wrong = 1
                }
            }
            for (pair in allowed) {
                split(pair, ends, SUBSEP)
                if (ends[1] != name || (pair in arrow)) continue
                fault(table ":" lines[name] ": " name " does not use " ends[2])
                is_wrong = 1
            }
            if (is_wrong) print "    if this is right, write: " wanted(name)
        }
        # Circles: who reaches itself.
        for (pair in arrow) reach[pair] = 1
        for (k = 1; k <= named; k++) for (i = 1; i <= named; i++) {
            if (!((order[i], order[k]) in reach)) continue
            for (j = 1; j <= named; j++) if ((order[k], order[j]) in reach) reach[order[i], order[j]] = 1
        }
        on_circle = ""
        for (i = 1; i <= named; i++) {
            name = order[i]
            is_on = (name, name) in reach
            if (is_on) on_circle = on_circle " " name
            if (is_on && !(name in may_circle)) { fault(name ": on a circle of rooms"); moved = 1; bad[name] = 1 }
            if (!is_on && (name in may_circle)) { fault(table ":" circle_line ": " name " is on no circle any more"); moved = 1 }
        }
        for (pair in arrow) {
            split(pair, ends, SUBSEP)
            if ((ends[1] in bad) && ((ends[2], ends[1]) in reach)) print "    " first[pair] " (" ends[1] " -> " ends[2] ")"
        }
        if (moved && on_circle == "") print "    remove the line \"circle:\""
        else if (moved) print "    the circle is now: circle:" on_circle
        if (faults) { print "rooms: " faults " faults"; exit 1 }
        count = 0
        for (pair in arrow) count++
        print "rooms: " named " rooms, " count " arrows" (on_circle == "" ? ", no circle" : ", one known circle")
    }'
