#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# core.sh: "core LINES" and "arrows COUNT": the lines of the files of core.txt, and their includes of headers of parts.
# core.sh --arrows: these includes, one a line: FILE HEADER.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t specs < <(grep -v '^#' tests/tidy/core.txt)
mapfile -t core < <(git ls-files -- "${specs[@]}" | grep -E '\.[ch]$')

list_arrows() {
    { printf 'core %s\n' "${core[@]}" && git ls-files ecs proto net server client games | grep '\.h$' | sed 's/^/header /' &&
        grep -HoE '^#include "[^"]+"' "${core[@]}" | sed -E 's/^([^:]*):#include "([^"]*)"/include \1 \2/'; } | awk '
        function folder(path) { sub("/[^/]*$", "", path); return path }
        function find(path, header,    layer, tries, i) {
            layer = path
            sub("/.*", "", layer)
            tries[1] = folder(path) "/" header
            tries[2] = layer "/" header
            tries[3] = "net/" header
            tries[4] = "net/include/" header
            tries[5] = "proto/include/" header
            tries[6] = "ecs/include/" header
            tries[7] = "ecs/base/include/" header
            for (i = 1; i <= 7; i++) if (tries[i] in headers) return tries[i]
            return ""
        }
        $1 == "core" { is_core[$2] = 1 }
        $1 == "header" { headers[$2] = 1 }
        $1 == "include" { target = find($2, $3); if (target != "" && !(target in is_core)) print $2, target }'
}

if [ "${1:-}" = --arrows ]; then
    list_arrows
else
    echo "core $(cat "${core[@]}" | wc -l)"
    echo "arrows $(list_arrows | wc -l)"
fi
