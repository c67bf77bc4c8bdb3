#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shoal-esgen as a program: files, headers, sizes, exit codes.
#
#     program.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/shoal-esgen.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "esgen: $*" >&2
    cat said >&2
    exit 1
}

# CODE TEXT ARGUMENT...: ends with CODE and says TEXT (none: says nothing).
expect() {
    local code=0 wanted=$1 text=$2
    shift 2
    "$program" "$@" >said 2>&1 || code=$?
    [ "$code" = "$wanted" ] || fail "$* ended with $code, not $wanted"
    if [ -z "$text" ]; then
        [ ! -s said ] || fail "$* said something"
    else
        grep -qF -e "$text" said || fail "$* did not say: $text"
    fi
}

system='static void a_es(const float* f) {}'
echo "$system" >a.c
expect 0 '' -o a.es.h a.c
grep -q '^static ecs_result a_register_systems(' a.es.h || fail "no registration"
expect 0 'Written by shoal-esgen from a.c' a.c
# A file that is written names the lines of its source, and its own again.
! grep -q '^#line' said || fail "standard output has lines of files"
grep -qx '#line 1 "a.c"' a.es.h || fail "the source is not named"
mark=$(grep -n '^#line [0-9]* "a.es.h"' a.es.h | head -n 1)
[ "${mark%%:*}" = "$(($(echo "$mark" | cut -d ' ' -f 2) - 1))" ] || fail "the own line is wrong: $mark"

# Usage.
expect 2 'usage: shoal-esgen'
expect 2 'usage: shoal-esgen' a.c b.c
expect 2 'usage: shoal-esgen' -o
expect 2 'usage: shoal-esgen' --what a.c
expect 0 'usage: shoal-esgen' --help

# Files that are not there, or no files; names that are no names in C.
expect 1 'missing.c' missing.c
expect 1 'folder' -o folder/x.es.h folder
mkdir folder.c
expect 1 'folder.c: error' folder.c
expect 1 'no/such/folder/a.es.h' -o no/such/folder/a.es.h a.c
cp a.c 2a.c
expect 1 "2a.c: error: the file's name must be a name in C" 2a.c

# Nothing to write; what is wrong leaves what was written alone.
: >empty.c
expect 1 'empty.c: error: nothing to write' empty.c
echo 'int main(void) { return 0; }' >plain.c
expect 1 'plain.c: error: nothing to write' plain.c
echo 'ES_REGISTER_TYPES' >types.c
expect 1 'types.c: error: ES_REGISTER_TYPES, but no ES_STRUCT' types.c
cp a.es.h before
echo 'ES_MESSAGES' >messages.c
expect 1 'messages.c: error: ES_MESSAGES, but no ES_MESSAGE in' messages.c
printf 'ES_MESSAGES\nES_EVENT(hit)\ntypedef struct hit {\n float f;\n} hit;\n' >messages.c
expect 1 'messages.c: error: ES_MESSAGES, but no ES_MESSAGE in' messages.c
printf '\nvoid a_es(void) {}\n' >a.c
expect 1 'a.c:2: error: a_es must be static' -o a.es.h a.c
cmp -s a.es.h before || fail "a wrong file was written"

# 4 MiB are read, one byte more is not.
size=$((4 * 1024 * 1024))
{ echo "$system"; head -c $((size - ${#system} - 1)) /dev/zero | tr '\0' ' '; } >large.c
[ "$(stat -c %s large.c)" = "$size" ] || fail "the test's own file is wrong"
expect 0 '' -o large.es.h large.c
echo >>large.c
expect 1 'large.c: error: File too large' -o large.es.h large.c

# Headers: beside the file, in -I, included by headers; each read once, whatever includes it.
mkdir far
echo 'ES_TYPE(far_thing, Far)' >far/far.h
printf '#include "near.h"\n#include "far.h"\nES_STRUCT(Near)\ntypedef struct near {\n float f;\n} near;\n' >near.h
printf '#include "near.h"\n#include "near.h"\n#include "not_here.h"\n#include <stdio.h>\nES_REGISTER_TYPES\nstatic void b_es(const near* n, const far_thing* f) {}\n' >b.c
expect 1 'b.c:6: error: b_es: no component type is a far_thing' b.c
expect 0 '' -I far -o b.es.h b.c
[ "$(grep -c '"Near", sizeof(near)' b.es.h)" = 1 ] || fail "near is not registered once"

# Types come from the file and the headers it includes itself, not from headers behind those.
printf '#include "near.h"\n' >between.h
printf '#include "between.h"\nES_REGISTER_TYPES\n' >c.c
expect 1 'c.c: error: ES_REGISTER_TYPES, but no ES_STRUCT' c.c

# A header's mistake is at the header's line.
printf '\n\nES_STRUCT(Bad)\ntypedef struct bad {\n int f;\n} bad;\n' >bad.h
printf '#include "bad.h"\nstatic void d_es(const bad* b) {}\n' >d.c
expect 1 'bad.h:5: error: bad: the size of int depends on the machine' d.c
echo '/* and so' >bad.h
expect 1 'bad.h:1: error: this comment never ends' d.c
echo "esgen: the program does as it says"
