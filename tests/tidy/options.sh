#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# options.sh FOLDER-OF-PROGRAMS: a file under tests names every option that --help=all of a program explains.
set -euo pipefail
programs=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
count=0
faults=0

# check PROGRAM [COMMAND]
check() {
    local name
    for name in $("$programs/$1" "${@:2}" --help=all | sed -nE 's/^  (--[a-z-]+).*/\1/p'); do
        count=$((count + 1))
        grep -rqE --exclude-dir=tidy -- "$name([^a-z-]|\$)" tests && continue
        echo "$*: no test names $name"
        faults=$((faults + 1))
    done
}

check shoal-server
check shoal-server keygen
check shoal-server token
check shoal-server check
check shoal-client
check shoal-replay
check shoal-ctl
check shoal-relay
[ ! -x "$1/shoal-host" ] || check shoal-host
[ "$count" -gt 60 ] || { echo "options: only $count found: wrong folder?"; exit 2; }
echo "options: $count, $faults without a test"
[ "$faults" = 0 ]
