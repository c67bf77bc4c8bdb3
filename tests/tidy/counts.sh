#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# counts.sh BUILD: the first page shows about as many tests as ctest has. It may be a few behind, so that not every new
# test changes that page.
set -euo pipefail
behind_max=10
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
shown=$(sed -nE 's/^100% tests passed, 0 tests failed out of ([0-9]+)$/\1/p' README.md | head -n 1)
there=$(ctest --test-dir "$build" -N | sed -nE 's/^Total Tests: ([0-9]+)$/\1/p')
[ -n "$shown" ] && [ -n "$there" ] || { echo "counts: no number: README.md \"$shown\", ctest \"$there\""; exit 2; }
off=$((there > shown ? there - shown : shown - there))
[ "$off" -le "$behind_max" ] || { echo "README.md: $shown tests, ctest has $there: write that"; exit 1; }
echo "counts: README.md $shown, ctest $there"
