#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The house rules that a machine can check: arrows between layers, file length, banned calls, words that
# mean unfinished work, licence lines. Prints each fault as FILE:LINE: text; exits 1 when there is one.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 2
faults=0
fault() { printf '%s\n' "$*"; faults=$((faults + 1)); }

mapfile -t sources < <(find ecs proto net server client games tests -name '*.c' -o -name '*.h' | sort)
[ "${#sources[@]}" -gt 50 ] || { echo "tidy: only ${#sources[@]} sources found: wrong folder?"; exit 2; }

# Arrows: base <- ecs, proto <- net <- server, client; games know ecs and net's message API.
forbid_include() { # FOLDER PATTERN REASON
    while IFS= read -r line; do fault "$line: $3"; done < <(
        grep -rnE "^#include [\"<]($2)" "$1" --include='*.c' --include='*.h' | sed 's/#include.*//;s/:$//')
}
forbid_include ecs/base '(ecs|proto|net|server|client)/' 'base knows libc only'
forbid_include ecs '(proto|net|server|client)/' 'ecs reaches up'
forbid_include proto '(ecs|net|server|client)/' 'proto knows neither world nor sockets'
forbid_include server 'client/' 'server includes client'
forbid_include client 'server/' 'client includes server'
forbid_include games '(proto|server|client)/' 'a game knows ecs and net/game.h'

while IFS= read -r line; do fault "$line: only enet_peers.h and enet_socket.c of net/transport know ENet"; done < <(
    grep -rln '#include <enet/' ecs proto net server client games --include='*.c' --include='*.h' |
        grep -vE '^net/transport/(enet_peers\.h|enet_socket\.c)$')
while IFS= read -r line; do fault "$line: only proto/message/codec.c unpacks messages"; done < <(
    grep -rnE 'protobuf_c_message_unpack|__unpack\(' ecs proto net server client games \
        --include='*.c' | grep -v '^proto/message/codec.c' | cut -d: -f1,2)

# Banned calls, with what to use instead.
ban() { # PATTERN FOLDERS REASON
    while IFS= read -r line; do fault "$line: $3"; done < <(
        # shellcheck disable=SC2086
        grep -rnE "(^|[^a-zA-Z0-9_])($1)\(" $2 --include='*.c' --include='*.h' |
            grep -vE ':[0-9]+: *(//|\*)' | cut -d: -f1,2)
}
ban 'sprintf|strcpy|strcat|gets|strtok|atoi|atof' 'ecs proto net server client games' \
    'use base/text.h'
# The log's own thread waits for work by the clock; what it writes does not depend on it.
ban 'rand|srand|random|time|gettimeofday|clock_gettime' \
    "ecs proto games $(find net -name '*.[ch]' ! -path 'net/transport/*socket*' ! -path 'net/transport/windows/*' ! -name log_file.c | tr '\n' ' ')" \
    'time and chance are arguments'
ban 'malloc|calloc|realloc|free|[a-z_]+(->|[.])allocate' "$(find ecs proto net games -name '*.[ch]' ! -path 'ecs/base/*' |
    tr '\n' ' ')" 'memory is an argument: base/alloc.h'
ban 'sinf?|cosf?|sqrtf?|atan2f?|powf?|floorf?|roundf?|fmodf?' 'ecs games' 'use base/math.h'
ban 'nats_Now' 'server' 'it is the wall clock, which may step: use net_loop_now_us'
ban 'assert' 'ecs proto net server client games' 'use BASE_ASSERT, which stays on in release'
while IFS= read -r line; do fault "$line: a report's text is for people: decide by its finding (net/core/ration.h)"; done < <(
    grep -rnE '(str[a-z]*(cmp|str|chr|spn|brk)|memmem|sscanf)\(([^;()]*, )?([a-z_]+(->|\.))?(message|note|first(->|\.)text) *[],)+[]' \
        ecs proto net server client games --include='*.c' --include='*.h' | grep -v '^ecs/base/src/report.c' | cut -d: -f1,2)

while IFS= read -r line; do fault "$line"; done < <(
    awk 'function end() { if (lines > 800) printf "%s:%d: longer than 800 lines\n", last, lines }
         FNR == 1 { end(); last = FILENAME
                    if (!/SPDX-License-Identifier: MIT/) printf "%s:1: no SPDX line\n", FILENAME }
         { lines = FNR }
         length($0) > 100 { printf "%s:%d: longer than 100 columns\n", FILENAME, FNR }
         END { end() }' "${sources[@]}")
while IFS= read -r line; do fault "$line: unfinished work does not merge"; done < <(
    grep -rnE '\b(FIXME|XXX|TODO)\b' ecs proto net server client games tests scripts \
        --include='*.c' --include='*.h' --include='*.txt' --include='*.cmake' | cut -d: -f1,2)
while IFS= read -r line; do fault "$line: generated code is never committed"; done < <(
    git ls-files 2>/dev/null | grep -E '\.pb-c\.[ch]$|(^|/)build/')

# The tree: only what was agreed at the top.
while IFS= read -r entry; do fault "$entry:1: not a part of the agreed top level"; done < <(
    git ls-files 2>/dev/null | cut -d/ -f1 | sort -u |
        grep -vxE 'CMakeLists\.txt|README\.md|LICENSE|ecs|proto|net|server|client|games|tests|scripts|\..*')

# Workflows of the host and badges of README.md: stages of .ci/run, scripts and files that there are.
for name in $(sed -nE 's/^ +stage: \[(.*)\]$/\1/p' .github/workflows/ci.yml | tr -d , | grep . || echo of_ci.yml); do
    grep -qE "^\[ .* set -- .*\b$name\b" .ci/run || fault ".github/workflows/ci.yml:1: .ci/run has no stage $name"
done
for name in $(sed -nE 's,^ +- run: ([.a-z]+/[^ ]+).*,\1,p' .github/workflows/*.yml; grep -oE '\bworkflows/[a-z]+\.yml' README.md | sed 's,^,.github/,'); do
    [ -e "$name" ] || fault "$name:1: missing, and a workflow or README.md names it"
done

for folder in ecs ecs/base proto net server client games games/* tests tests/[a-tv-z]* scripts; do
    [ ! -d "$folder" ] || [ -f "$folder/README.md" ] || fault "$folder/README.md:1: missing (reading order of the folder)"
done

tests/mutation/mutate.sh --check || faults=$((faults + 1))
if [ "$faults" -gt 0 ]; then echo "tidy: $faults faults"; exit 1; fi
echo "tidy: ${#sources[@]} files, no faults"
