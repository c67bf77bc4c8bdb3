#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mutate.sh FOLDER [FILTER]: removes one check of mutations.txt after the other from a copy of the sources in
# FOLDER, and runs the tests named there under ASan until one fails. A check that none of them misses
# is printed as "survives"; NOTHING stands for no text. FILTER: only files whose path contains it.
# mutate.sh --check: each text of mutations.txt is in its file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
if [ "${1:-}" = --check ]; then
    while IFS= read -r line; do
        case $line in
            "" | "#"*) ;;
            "@ "*) read -r _ file _ <<<"$line" && content=$(<"$root/$file") ;;
            *) [[ "$content" == *"${line%% => *}"* ]] || { echo "$file: not found: ${line%% => *}" >&2; exit 1; } ;;
        esac
    done <"$here/mutations.txt"
    exit
fi
[ $# -ge 1 ] || { echo "usage: mutate.sh FOLDER [FILTER]" >&2; exit 2; }
mkdir -p "$1"
copy=$(cd "$1" && pwd)/sources build=$(cd "$1" && pwd)/build filter=${2:-}
rm -rf "$copy"
mkdir -p "$copy"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$copy" 2>/dev/null) || true

mapfile -t all_tests < <(awk '/^@ / { for (i = 3; i <= NF; i++) print $i }' "$here/mutations.txt" | sort -u)
if command -v ccache >/dev/null; then cache=-DCMAKE_C_COMPILER_LAUNCHER=ccache; fi
cmake -S "$copy" -B "$build" -G Ninja ${cache:+"$cache"} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 \
    -DSHOAL_SANITIZE=address -DSHOAL_BENCH=OFF -DSHOAL_LINKER=mold >"$build.log"
ninja -C "$build" "${all_tests[@]}" >>"$build.log"

# A replayer gets its corpus.
passes() { # TEST
    local arguments=()
    case $1 in fuzz_*) arguments=("$copy/tests/fuzz/corpus/${1#fuzz_}") ;; esac
    SHOAL_TEST_SCALE=0.05 timeout 300 "$build/test/$1" "${arguments[@]}" >"$build/mutant.log" 2>&1
}

removed=0 survived=0 file="" tests=()
while IFS= read -r line; do
    case $line in
        "" | "#"*) continue ;;
        "@ "*)
            read -r _ file rest <<<"$line"
            read -ra tests <<<"$rest"
            content=$(<"$copy/$file")
            continue ;;
    esac
    [[ "$file" == *"$filter"* ]] || continue
    old=${line%% => *} new=${line#* => }
    [ "$new" != NOTHING ] || new=""
    changed=${content/"$old"/"$new"}
    [ "$changed" != "$content" ] || { echo "$file: not found: $old" >&2; exit 2; }
    printf '%s\n' "$changed" >"$copy/$file"
    removed=$((removed + 1))
    verdict="survives"
    if ! ninja -C "$build" "${tests[@]}" >"$build/mutant.log" 2>&1; then
        verdict="does not compile" # no mutant: mend the list
    else
        for test in "${tests[@]}"; do
            passes "$test" || { verdict=$test; break; }
        done
    fi
    printf '%s\n' "$content" >"$copy/$file"
    case $verdict in
        survives | "does not compile")
            survived=$((survived + 1))
            echo "$file: $verdict: $old => $new" ;;
    esac
done <"$here/mutations.txt"
ninja -C "$build" "${all_tests[@]}" >>"$build.log"
echo "checks removed: $removed, missed by no test: $survived"
[ "$survived" = 0 ]
