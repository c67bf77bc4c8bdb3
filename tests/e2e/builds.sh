#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first build records a log of breakout, and all builds run it again: other compilers, levels of
# optimization and sanitizers must give the same hashes. ctest knows only one build, so scripts/test
# --clang calls this:
#
#     tests/e2e/builds.sh BUILD OTHER...
others=()
for folder in "$@"; do others+=("$(cd "$folder" && pwd)") || exit 2; done
[ ${#others[@]} -ge 2 ] || { echo "builds.sh: two builds at least" >&2; exit 2; }
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$work"
serve server --min-clients 6 --ticks 900 --log match.slog
run_to 0 client shoal-client "$address" --bots 6 --trace trace.txt
ends_with 0 server
verifies match.slog server
cp verify.out wanted.txt
for folder in "${others[@]}"; do
    bin=$folder/bin
    verifies match.slog
    cmp -s verify.out wanted.txt || fail "$folder runs the log to other hashes"
    run_to 0 trace shoal-replay check-trace match.slog trace.txt
    echo "passed: $folder $(cat verify.out)"
done
