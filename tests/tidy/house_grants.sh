#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What house.sh says of two tables: a total rises only by a grant of the same commit.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
table() { printf '%s\n' "lines product $1" "lines tests $2" "options 111" "${@:3}"; }
expect() { # CODE TEXT: of the tables in before and after
    local code=0 said
    said=$("$here/house.sh" --compare "$work/before" "$work/after" 2>&1) || code=$?
    if [ "$code" != "$1" ] || [[ $said != *"$2"* ]]; then echo "house_grants: line ${BASH_LINENO[0]}: $code: $said" && exit 1; fi
}
table 147000 107000 'grant lines tests 500 "an old one"' >before
table 147000 107000 >after # old grants may go
expect 0 ""
table 147000 107500 'grant lines tests 500 "an old one"' >after
expect 1 "raises lines tests by 500 to 107500, with a grant of 0"
table 147000 107500 'grant lines tests 500 "a new one"' >after
expect 0 ""
echo "house_grants: 3 tables as they should be"
