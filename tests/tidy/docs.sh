#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every function of the public headers has a comment, and every function that returns a result names its codes. A name
# of ours (ecs_world_create) on a page or in a comment is in some code; one that ends in _ is the beginning of many.
#
# A function has a comment when a /// line stands directly above it, or when it is in a group (no blank line between)
# that begins with one, or when ///< stands behind it. A function that returns a result (ecs_result, net_result, ...)
# needs "@return" and at least one code (ECS_OK, NET_ERR_FULL, ...) in those comments. `static inline` functions count.
# "@return as another_function." is not enough.
#
# Prints each fault as FILE:LINE: text. docs_allowed.txt lists "FILE COUNT" for headers that do not pass yet. A file with
# fewer faults than listed is a fault too, so that the list only shrinks. `docs.sh --list [FILE...]` prints each place.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
allowed_file=tests/tidy/docs_allowed.txt
folders='ecs/base/include ecs/include proto/include net/include client/library/include'

# shellcheck disable=SC2086
mapfile -t headers < <(find $folders -name '*.h' | sort)
[ "${#headers[@]}" -gt 30 ] || { echo "docs: only ${#headers[@]} headers found: wrong folder?"; exit 2; }

# shellcheck disable=SC2016
check='
    function finish(    name, start) { # one statement at file level, from line `begin` on
        if (statement !~ /^(typedef|extern|BASE_STATIC_ASSERT)/ &&
            match(statement, /(^|[ *])(base|ecs|proto|net|shoal)_[a-z0-9_]+\(/)) {
            name = substr(statement, RSTART, RLENGTH - 1)
            gsub(/[ *]/, "", name)
            start = substr(statement, 1, RSTART)
            if (statement ~ /\/\/\/</) group = group " " statement
            if (group == "")
                printf "%s:%d: %s has no comment\n", FILENAME, begin, name
            else if (start ~ /(base|ecs|proto|net)_result *$/ &&
                     (group !~ /@return/ || group !~ /[A-Z]+_(OK|ERR_[A-Z_]+)/))
                printf "%s:%d: %s returns a result: its comment needs @return and the codes\n",
                    FILENAME, begin, name
            else if (group ~ /@return as [a-z0-9_]+[^a-z0-9_:]/)
                printf "%s:%d: %s: say what it returns, not which function returns the same\n",
                    FILENAME, begin, name
        }
        statement = ""
    }
    FNR == 1 { depth = 0; statement = ""; group = ""; macro = 0 }
    /^(BASE_C_BEGIN|BASE_C_END|extern "C" \{)$/ || (depth == 0 && /^\}$/) { next }
    macro || /^#/ { macro = /\\$/; next }
    /^[ \t]*$/ { if (depth == 0 && statement == "") group = ""; next }
    depth == 0 && statement == "" && /^ *\/\/\// { group = group " " $0; next }
    /^ *\/\// { next }
    {
        line = $0
        if (depth == 0) {
            if (statement == "") begin = FNR
            statement = statement " " line
            sub(/^ (BASE_MUST_USE |static inline )*/, "", statement)
        }
        code = line
        sub(/\/\/.*/, "", code)
        opened = gsub(/\{/, "", code)
        closed = gsub(/\}/, "", code)
        if (depth == 0 && (opened > 0 || code ~ /; *$/)) {
            if (opened == 0 || statement !~ /^(typedef |struct |enum |union )/) finish()
            else statement = ""
        }
        depth += opened - closed
        if (depth == 0 && code ~ /; *$/) statement = ""
    }
'
if [ "${1:-}" = --list ]; then
    shift
    awk "$check" "${@:-${headers[@]}}"
    exit 0
fi
found=$(awk "$check" "${headers[@]}")
counts=$(printf '%s\n' "$found" | sed '/^$/d;s/:.*//' | sort | uniq -c | awk '{ print $2, $1 }')
allowed=$(grep -vE '^(#|$)' "$allowed_file" | sort)
faults=0
while read -r file count; do
    [ -n "$file" ] || continue
    limit=$(printf '%s\n' "$allowed" | awk -v file="$file" '$1 == file { print $2 }')
    [ "$count" -le "${limit:-0}" ] && continue
    printf '%s\n' "$found" | grep -F "$file:"
    faults=$((faults + 1))
done <<<"$counts"
while read -r file limit; do
    [ -n "$file" ] || continue
    count=$(printf '%s\n' "$counts" | awk -v file="$file" '$1 == file { print $2 }')
    [ "${count:-0}" -ge "$limit" ] && continue
    echo "$allowed_file:1: $file has ${count:-0} faults, not $limit: lower the number"
    faults=$((faults + 1))
done <<<"$allowed"
# Pages of the past name what was.
names='\b(base|ecs|proto|net|shoal)_[a-z0-9_]*[a-z0-9]\b'
mapfile -t sources < <(git ls-files '*.c' '*.h' '*.in' '*.sh' '*.txt' '*.py' '*.proto' '*.lua' 2>/dev/null)
mapfile -t pages < <(git ls-files '*.md' 2>/dev/null | grep -vE '(CHANGELOG|DECISIONS|FIGURES)\.md$|^tests/formats/')
if [ "${#sources[@]}" -gt 0 ]; then # a release has no git
    unknown=$({ cat "${pages[@]}"; grep -ohE '//.*' -- "${sources[@]}"; } | grep -oE "$names" | sort -u |
        comm -23 - <(sed 's,//.*,,' -- "${sources[@]}" | grep -oE "$names" | sort -u))
    for name in $unknown; do
        grep -nw -- "$name" "${pages[@]}" "${sources[@]}" | sed "s/^\([^:]*:[0-9]*\):.*/\1: there is no $name/"
        faults=$((faults + 1))
    done
fi
[ "$faults" -eq 0 ] && echo "docs: ${#headers[@]} headers, $(printf '%s' "$found" | grep -c .) old faults, as listed"
[ "$faults" -eq 0 ]
