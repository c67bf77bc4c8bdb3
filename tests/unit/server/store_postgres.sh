#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# store_postgres.sh TEST: the cases of test_store with a real PostgreSQL; 77 where there is none.
set -euo pipefail
# shellcheck source=../../support/postgres.sh
. "$(dirname "$0")/../../support/postgres.sh"
test=$(realpath "$1")
work=$(mktemp -d)
trap 'postgres_end; rm -rf "$work"' EXIT
cd "$work"
postgres_begin || { echo "SKIP: the records of players in PostgreSQL: postgresql is not installed" && exit 77; }
SHOAL_TEST_STORE=$postgres_folder "$test"
