#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# house.sh: the sizes of rooms, product and tests, options, and the includers of private headers, are within house.txt,
#     and no commit since its line `since` raised a total without a grant.
# house.sh --bless: prints the table with the figures of now, for house.txt.
# house.sh --since COMMIT: the raises without a grant since that commit.
# house.sh --compare BEFORE AFTER: the same for two files like house.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
table=tests/tidy/house.txt
product='ecs proto net server client games'

# compare_totals COMMIT: "house.txt of COMMIT" on standard input after that of the commit before, each ended by a line "end".
compare_totals() {
    awk -v commit="$1" '
        function fault(text) { print commit " " text; faults++ }
        function key_at(i) { return $i == "lines" ? $i " " $(i + 1) : $i }
        $1 == "end" { tables++; next }
        $1 == "lines" && NF == 3 { total[$1 " " $2, tables + 0] = $3 }
        ($1 == "options" || $1 == "arrows") && NF == 2 { total[$1, tables + 0] = $2 }
        $1 == "grant" && tables == 0 { old[$0] = 1 }
        $1 == "grant" && tables == 1 && !($0 in old) {
            key = key_at(2); at = $2 == "lines" ? 4 : 3
            granted[key] += $at
        }
        END {
            for (pair in total) {
                split(pair, part, SUBSEP)
                key = part[1]
                if (part[2] != 1 || !((key, 0) in total)) continue
                raise = total[key, 1] - total[key, 0]
                if (raise > 0 && raise > granted[key]) fault("raises " key " by " raise " to " total[key, 1] ", with a grant of " granted[key] + 0)
            }
            exit faults > 0
        }'
}

# check_raises SINCE: each commit after SINCE, and the working tree, against the commit before it.
check_raises() {
    local commit before=$1 code=0
    git rev-parse -q --verify "$1^{commit}" >/dev/null || { echo "house: there is no commit $1 here: raises are not checked" && return; }
    for commit in $(git rev-list --reverse "$1..HEAD" -- "$table"); do
        { git show "$before:$table" && echo end && git show "$commit:$table"; } | compare_totals "$commit" || code=1
        before=$commit
    done
    { git show "$before:$table" && echo end && cat "$table"; } | compare_totals "the working tree" || code=1
    return $code
}

case ${1:-} in
    --since) check_raises "$2" && exit ;;
    --compare) { cat "$2" && echo end && cat "$3"; } | compare_totals "$3" && exit ;;
esac
[ "${1:-}" = --bless ] || [ $# = 0 ] || exit 1

# "file FOLDER LINES" for each source, "include LAYER HEADER" for each include of a private header.
list_house() {
    # shellcheck disable=SC2086
    find $product tests \( -name '*.c' -o -name '*.h' \) -print0 | xargs -0 wc -l |
        awk '$2 ~ /\// { lines = $1; sub("/[^/]*$", "", $2); print "file", $2, lines }'
    # shellcheck disable=SC2086
    git ls-files -co --exclude-standard | grep -E '\.(sh|py|js|mjs|css|cmake)$|CMakeLists\.txt$|^scripts/[^.]*$|^\.ci/run$' |
        tr '\n' '\0' | xargs -0 cat | wc -l | awk '{ print "other", $1 }'
    # Each row of a table of options. Keys of an option, "--log FILE,keep=N", are rows of KEY(...).
    grep -rhcE '^ +\{"[a-z-]+", (BASE_OPTION_)?(FIELD\(|KEYS,)' server client --include='*.c' | awk '{ sum += $1 } END { print "options", sum }'
    tests/tidy/core.sh
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
        if ($2 == "since" || $2 == "grant") { if (mode == "--bless") { sub(/^table /, ""); print } next }
        if (NF < 3) next
        if ($2 == "options" || $2 == "arrows") { at[$2] = number; first[$2] = $3; next }
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
    $1 == "other" || $1 == "core" { totals[$1] = $2 }
    $1 == "options" || $1 == "arrows" { counts[$1] = $2 }
    $1 == "include" { includers[$2 "/" $3]++ }
    END {
        for (i = sorted(totals, list); i > 0; i--) order[++wanted] = "lines " list[i] " " round(totals[list[i]])
        for (name in totals) check("lines " name, "lines of " name, totals[name], first["lines " name])
        for (i = sorted(counts, list); i > 0; i--) {
            order[++wanted] = list[i] " " counts[list[i]]
            check(list[i], list[i], counts[list[i]], first[list[i]])
        }
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
        print "house: " totals["core"] " lines of core, " totals["product"] " of product, " totals["tests"] " lines of tests"
    }'
[ "${1:-}" = --bless ] || check_raises "$(sed -n 's/^since //p' "$table")"
