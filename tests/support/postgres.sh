# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A PostgreSQL of Debian's packages for a test, in a folder of its own, reached by a unix socket alone. Sourced.

# postgres_begin: false where it is not installed. Else it runs, $postgres_folder is its folder, and $postgres_url its URL.
postgres_begin() {
    local programs user=()
    programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    [ -x "$programs/initdb" ] || return 1
    # Root may not run it. The folder has a short name: that of a socket has at most 107 bytes.
    postgres_folder=$(mktemp -d /tmp/shoal-pg.XXXXXX)
    [ "$(id -u)" != 0 ] || { user=(setpriv --reuid=65534 --regid=65534 --clear-groups) && chown 65534:65534 "$postgres_folder"; }
    postgres_run=("${user[@]}" "$programs/postgres" -D "$postgres_folder/data" -k "$postgres_folder" -c listen_addresses= -c fsync=off)
    postgres_url="postgres:///postgres?user=shoal&host=$postgres_folder"
    (cd / && LC_ALL=C "${user[@]}" "$programs/initdb" -D "$postgres_folder/data" -U shoal -A trust -E UTF8 --no-sync) >postgres.txt 2>&1 ||
        { cat postgres.txt >&2 && exit 1; }
    postgres_start
}

# postgres_start: again, after postgres_kill.
postgres_start() {
    local i
    (cd / && exec "${postgres_run[@]}") >>postgres.txt 2>&1 &
    postgres_pid=$!
    for ((i = 0; i < 600; i++)); do
        [ "$(sed -n 8p "$postgres_folder/data/postmaster.pid" 2>/dev/null | tr -d ' ')" != ready ] || return 0
        sleep 0.1
    done
    cat postgres.txt >&2 && exit 1
}

postgres_kill() {
    [ -n "${postgres_pid:-}" ] || return 0
    kill -QUIT "$postgres_pid" 2>/dev/null || true
    wait "$postgres_pid" 2>/dev/null || true
}

postgres_end() {
    [ -n "${postgres_folder:-}" ] || return 0
    postgres_kill
    rm -rf "$postgres_folder"
}
