#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hardened.sh PROGRAM-OR-MODULE...: what SHOAL_HARDEN promises, read from the ELF files.
#   both      no segment is writable and executable, the stack is not executable, no text relocations,
#             all relocations are done at start and read-only then, functions have stack guards
#   programs  position independent; some calls of libc are checked (FORTIFY)
#   x86-64    functions that may be called indirectly begin with endbr64. The note that turns the check
#             on is the linker's, and Debian's crt1.o has none
set -u
faults=0
fault() {
    printf '%s: %s\n' "$file" "$1"
    faults=$((faults + 1))
}
has() { # TEXT REGEX
    grep -qE "$2" <<<"$1"
}

[ $# -gt 0 ] || { echo "usage: hardened.sh FILE..."; exit 2; }
checked=0
for file; do
    [ -e "$file" ] || { echo "$file: not built"; continue; }
    checked=$((checked + 1))
    head=$(LC_ALL=C readelf -hlWd "$file") || exit 2
    imports=$(LC_ALL=C readelf --dyn-syms -W "$file" | awk '$7 == "UND" { print $8 }')
    has "$head" 'GNU_STACK .* RW ' || fault "the stack is executable"
    has "$head" ' RWE ' && fault "a segment is writable and executable"
    has "$head" 'TEXTREL' && fault "text relocations"
    has "$head" 'GNU_RELRO' || fault "no RELRO"
    has "$head" 'BIND_NOW|Flags:.* NOW' || fault "relocations are done late"
    has "$imports" '^__stack_chk_fail' || fault "no stack guards"
    if ! has "$file" '\.so$'; then
        has "$head" 'Type: +DYN' && has "$head" 'Flags:.* PIE' || fault "not position independent"
        has "$imports" '^__[a-z_]+_chk@' || fault "no checked call of libc: FORTIFY is off"
    fi
    if has "$head" 'X86-64'; then
        marks=$(objdump -d --no-show-raw-insn "$file" | grep -c endbr64)
        [ "$marks" -ge 10 ] || fault "$marks functions begin with endbr64: CET is off"
    fi
done
[ "$faults" = 0 ] && [ "$checked" -gt 0 ] || exit 1
echo "$checked files are hardened"
