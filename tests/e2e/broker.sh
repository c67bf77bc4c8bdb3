# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Debian's nats-server in the folder of a case, for stream.sh and standby.sh.

# broker PORT [LIMIT]: start it; port -1: the system chooses. $port gets it.
broker() {
    local pid
    mkdir -p ports
    rm -f ports/*
    printf 'listen: "127.0.0.1:%s"\nmax_payload: %s\nports_file_dir: "%s"\njetstream {\n store_dir: "%s"\n %s\n}\n' \
        "$1" "${payload:-1048576}" "$PWD/ports" "$PWD/store" "${2:-}" >broker.conf
    nats-server -c broker.conf >broker.out 2>broker.err &
    pid=$!
    pids[broker]=$pid
    await "port of the broker" has_port
    port=$(sed -E 's/.*:([0-9]+)".*/\1/' ports/*)
}
has_port() { grep -qs ':[0-9]*"' ports/*; }
kill_broker() {
    kill -KILL "${pids[broker]}"
    wait "${pids[broker]}" 2>/dev/null || true
    unset 'pids[broker]'
}
is_here() {
    command -v nats-server >/dev/null && [ -x "$build/test/follow_stream" ] && return 0
    skip "no nats-server (Debian: nats-server), or a build without libnats-dev"
    return 1
}
