#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# house.sh: the sizes of rooms, product and tests, and the includers of private headers, are within house.txt.
# house.sh --bless: prints the table with the figures of now, for house.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
table=tests/tidy/house.txt
product='ecs proto net server client games'

# "file FOLDER LINES" for each source, "include LAYER HEADER" for each include of a private header.
list_house() {
    # shellcheck disable=SC2086
    find $product tests \( -name '*.c' -o -name '*.h' \) -print0 | xargs -0 wc -l |
        awk '$2 ~ /\// { lines = $1; sub("/[^/]*$", "", $2); print "file", $2, lines }'
    # shellcheck disable=SC2086
    grep -rhoE '^#include "[^"]+"' $product --include='*.c' --with-filename |
        sed -E 's|^([a-z]+)/[^:]*:#include "([^"]+)"|include \1 \2|' | awk '$3 !~ /^(base|ecs|net|proto)\//'
}

{ sed 's/^/table /' "$table"; list_house; } | LC_ALL=C awk -v table="$table" -v mode="${1:-}" '
    function fault(text) { if (mode != "--bless") print text; faults++ }
    # A ceiling of lines leaves room for a mend.
    function round(lines) { return int((lines + LINES_STEP - 1) / LINES_STEP) * LINES_STEP }
    function check(key, what, now, ceiling) {
        seen[key] = 1
        if (!(key in at)) fault(what ": " now ", without a line in " table)
        else if (now > ceiling) fault(table ":" at[key] ": " what ": " now ", at most " ceiling)
    }
    function sorted(of, list,    key, count, i, other) {
        split("", list)
        for (key in of) {
            for (i = ++count; i > 1 && list[i - 1] > key; i--) list[i] = list[i - 1]
            list[i] = key
        }
        return count
    }
    BEGIN { LINES_STEP = 50; FILES_MAX = 40; INCLUDERS_MAX = 25 }
    $1 == "table" {
        number++
        if ($2 ~ /^#/) { if (mode == "--bless") { sub(/^table /, ""); print } next }
        if (NF < 3) next
        key = $2 ($2 == "lines" || $2 == "room" || $2 == "folder" || $2 == "header" ? " " $3 : "")
        at[key] = number
        first[key] = $4
        second[key] = $5
        next
    }
    $1 == "file" {
        files[$2]++
        total = $2 ~ /^tests(\/|$)/ ? "tests" : "product"
        totals[total] += $3
        if (total == "product") { room_lines[$2] += $3; rooms[$2] = 1 }
        next
    }
    $1 == "include" { includers[$2 "/" $3]++ }
    END {
        for (i = sorted(totals, list); i > 0; i--) order[++wanted] = "lines " list[i] " " round(totals[list[i]])
        for (name in totals) check("lines " name, "lines of " name, totals[name], first["lines " name])
        count = sorted(rooms, list)
        for (i = 1; i <= count; i++) {
            name = list[i]
            order[++wanted] = "room " name " " files[name] " " round(room_lines[name])
            check("room " name, "files of " name, files[name], first["room " name])
            check("room " name, "lines of " name, room_lines[name], second["room " name])
        }
        count = sorted(files, list)
        for (i = 1; i <= count; i++) {
            name = list[i]
            if (files[name] <= FILES_MAX) continue
            order[++wanted] = "folder " name " " files[name]
            check("folder " name, "files of " name ", more than " FILES_MAX, files[name], first["folder " name])
        }
        count = sorted(includers, list)
        for (i = 1; i <= count; i++) {
            name = list[i]
            if (includers[name] <= INCLUDERS_MAX) continue
            order[++wanted] = "header " name " " includers[name]
            check("header " name, "includers of " name ", more than " INCLUDERS_MAX, includers[name], first["header " name])
        }
        if (mode == "--bless") { for (i = 1; i <= wanted; i++) print order[i]; exit 0 }
        for (key in at) if (!(key in seen)) fault(table ":" at[key] ": nothing needs \"" key "\": remove the line")
        if (faults) { print "house: " faults " faults. tests/tidy/house.sh --bless prints the figures of now"; exit 1 }
        print "house: " totals["product"] " lines of product, " totals["tests"] " lines of tests"
    }'
