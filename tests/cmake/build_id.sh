#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build_id.sh CMAKE: the build id of a repository without a tag, with its version's and with others.
set -euo pipefail
cmake=$1
script=$(cd "$(dirname "$0")/../.." && pwd)/net/host/build_id.cmake
command -v git >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git() { command git -C "$work/checkout" -c user.name=test -c user.email=test@example.org "$@" >/dev/null; }
commit() {
    echo "$1" >"$work/checkout/file"
    git add file
    git commit -q -m "$1"
}

# expect VERSION REGEX
expect() {
    "$cmake" -DSOURCE="$work/checkout" -DVERSION="$1" -DFILE="$work/id.h" -P "$script"
    grep -qxE "#define SHOAL_BUILD_ID \"$2\"" "$work/id.h" && return 0
    echo "FAILED: not $2: $(cat "$work/id.h")"
    exit 1
}

mkdir "$work/checkout"
expect 0.1.0 'shoal-0\.1\.0-no-commit'
git init -q
commit first
expect 0.1.0 'shoal-0\.1\.0-g[0-9a-f]{12}'
git tag v0.1.0
expect 0.1.0 'shoal-0\.1\.0-0-g[0-9a-f]{12}'
commit second
expect 0.1.0 'shoal-0\.1\.0-1-g[0-9a-f]{12}'
expect 0.2.0 'shoal-0\.2\.0-g[0-9a-f]{12}'
git tag -a v0.2.0 -m release
git tag v0.2.0-rc1
git tag other
expect 0.2.0 'shoal-0\.2\.0-0-g[0-9a-f]{12}'
echo changed >"$work/checkout/file"
expect 0.2.0 'shoal-0\.2\.0-0-g[0-9a-f]{12}-dirty'
mkdir "$work/checkout/archive"
"$cmake" -DSOURCE="$work/checkout/archive" -DVERSION=0.2.0 -DFILE="$work/id.h" -P "$script"
grep -q no-commit "$work/id.h" || { echo "FAILED: an archive inside a checkout"; exit 1; }
echo v0.2.0-0-g0123456789ab >"$work/checkout/archive/.commit"
"$cmake" -DSOURCE="$work/checkout/archive" -DVERSION=0.2.0 -DFILE="$work/id.h" -P "$script"
grep -q '"shoal-0.2.0-0-g0123456789ab"' "$work/id.h" || { echo "FAILED: a tarball of a release"; exit 1; }
