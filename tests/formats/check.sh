#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Does this build read what a version wrote? Each log: its header, a second run of it, its values without the game, inputs,
# events and records. And what the documents of the version promise, those of now promise too.
#
#     tests/formats/check.sh BUILD VERSION [--bless]        (--bless: freeze.sh alone)
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
frozen=$root/tests/formats/$2
cd "$work"
mkdir bin
cp "$bin/shoal-replay" bin # it finds no game beside itself
export PATH=$work/bin:$PATH SHOAL_MODULE_PATH=$build/test/sample
cp "$frozen"/*.slog* "$frozen"/*.pub .
gzip -d ./*.gz

sum() { sha256sum | cut -c 1-16; }

# What has to be the same, a line each. The games that are shipped may have other rules now: of their logs no run is asked.
say_log() { # NAME.slog
    local what key=() code=0
    shoal-replay info "$1" >info.txt || code=$?
    sed "/^file=/d; s/^/$1 info $code /" info.txt
    [ ! -e "${1%.slog}.key.pub" ] || key=(--key "${1%.slog}.key.pub")
    if grep -qx 'game=sample' info.txt; then
        code=0
        shoal-replay verify "$1" --once "${key[@]}" >verify.txt 2>verify.err || code=$?
        echo "$1 verify $code $(cat verify.txt)"
    fi
    for what in values inputs events; do
        SHOAL_MODULE_PATH=$PWD/none shoal-replay export "$1" --what ${what/values/all} 2>export.err |
            "$root/scripts/csv" $what >rows.csv 2>csv.err || true
        echo "$1 $what $(wc -l <rows.csv) $(sum <rows.csv)"
    done
    shoal-replay dump "$1" 2>dump.err | sed 's/^{"\([a-z]*\)".*/\1/' | sort | uniq -c | awk -v log_="$1" '{ print log_, "records", $2, $1 }'
}
for log in *.slog; do say_log "$log"; done >now.txt
[ "${3:-}" != --bless ] || { cp now.txt "$frozen/expected.txt"; exit; }

# missing WHAT NOW: each line of stdin has to be in the file NOW.
missing() {
    grep -vxFf "$2" >missing.txt || return 0
    echo "FAILED: $1 of version $frozen is another one, or gone:"
    head -n 20 missing.txt
    faults=1
}
faults=0
missing "what a log says" now.txt <"$frozen/expected.txt"

# Fields keep number, type and name.
fields() { awk '/^ *(message|enum) / { inside = $2 } /^ *[a-zA-Z0-9_. ]+ = [0-9]+;/ { sub(/;.*/, ""); $1 = $1; print inside ": " $0 }' "$1"; }
for file in wire.proto log.proto; do
    fields "$root/proto/$file" >fields.txt
    missing "a field in $file" fields.txt < <(fields "$frozen/$file")
done
# As long as a page has the same version, its bytes are the same: the vectors of then are among those of now, which tests
# compare with the code. The vectors of LOG.md are the logs.
vectors() { grep -hE '^[a-z_]+ [a-z0-9_]+=' "$@" || true; }
pages() { # PAGE FOLDER: the files of its vectors
    case $1 in
    WIRE.md) find "$2" -maxdepth 1 -name '*.md' ! -name LOG.md ! -name STREAM.md -o -name wire_vectors.txt ;;
    LOG.md) find "$2" -maxdepth 1 -name LOG.md -o -name log_vectors.txt ;;
    *) echo "$2/$1" ;;
    esac
}
compared=0
for page in WIRE.md LOG.md STREAM.md; do
    if [ "$(head -n 1 "$root/proto/$page")" = "$(head -n 1 "$frozen/$page")" ]; then
        mapfile -t before < <(pages $page "$frozen")
        mapfile -t now < <(pages $page "$root/proto")
        missing "a vector of $page" <(vectors "${now[@]}") < <(vectors "${before[@]}")
        compared=$((compared + $(vectors "${before[@]}" | wc -l)))
    else
        echo "$page has another version now: the vectors of $2 are not compared"
    fi
done
[ $faults = 0 ] && echo "$(ls ./*.slog | wc -l) logs, $(wc -l <"$frozen/expected.txt") facts, fields and $compared vectors of $2: all are the same"
