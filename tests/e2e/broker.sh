# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Debian's nats-server in the folder of a case, for the cases of a fleet. $nats gets the address for --stream.

# broker PORT [LIMIT] [ACCOUNTS]: start it; port -1: the system chooses. $port gets it. With $login it has one user, shoal,
# with this password.
broker() {
    local pid users=
    [ -z "${login:-}" ] || users="authorization { user: shoal, password: $login }"
    mkdir -p ports
    rm -f ports/*
    printf 'listen: "127.0.0.1:%s"\nmax_payload: %s\nports_file_dir: "%s"\n%s\njetstream {\n store_dir: "%s"\n %s\n}\n%s\n' \
        "$1" "${payload:-1048576}" "$PWD/ports" "$users" "$PWD/store" "${2:-}" "${3:-}" >broker.conf
    nats-server -c broker.conf >broker.out 2>broker.err &
    pid=$!
    pids[broker]=$pid
    await "port of the broker" has_port
    port=$(sed -nE 's/.*nats:..127.0.0.1:([0-9]+)".*/\1/p' ports/*)
    nats=nats://127.0.0.1:$port
}
# streams NAME [option...]: a match that is streamed; $stream and $address get where.
streams() {
    start_ready "$1" shoal-server --game breakout --listen 127.0.0.1:0 --stream "nats://127.0.0.1:$port/?hours=72" "${@:2}"
    stream=$(value stream "$1.out")
    address=$(value listen "$1.out")
}
# ask_broker SUBJECT TEXT
ask_broker() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'CONNECT {"verbose":false,"user":"%s","pass":"%s"}\r\nPUB %s %d\r\n%s\r\nPING\r\n' "${user:-}" "${login:-}" "$1" ${#2} "$2" >&3
    grep -q PONG <&3
    exec 3>&-
}
has_port() { grep -qs ':[0-9]*"' ports/*; }
kill_broker() { drop "${1:-broker}"; } # [NAME]
is_possible() { command -v nats-server >/dev/null && [ -x "$build/test/follow_stream" ]; }
is_here() {
    is_possible && return 0
    skip "no nats-server (Debian: nats-server), or a build without libnats-dev"
    return 1
}

# is_same LOG EPOCH: the stream has the records of the log.
is_same() {
    local code=0
    "$build/test/follow_stream" "$stream" "$1" >same.out 2>same.err || code=$?
    [ $code = 0 ] || fail "the stream of $1: $(cat same.out)"
    says same.out "^same records=[1-9][0-9]* messages=[0-9]+ epoch=$2\$"
}

# brokers3: a cluster of three, broker1 to broker3. A stream is kept by all of them.
brokers3() {
    local ports i
    read -ra ports < <(free_tcp_ports 9)
    for i in 1 2 3; do
        printf 'server_name: broker%s\nlisten: "127.0.0.1:%s"\nhttp: "127.0.0.1:%s"\njetstream { store_dir: "%s" }\n' \
            $i "${ports[i - 1]}" "${ports[i + 2]}" "$PWD/store$i" >broker$i.conf
        printf 'cluster { name: three, listen: "127.0.0.1:%s", routes: [%s] }\n' "${ports[i + 5]}" \
            "nats://127.0.0.1:${ports[6]}, nats://127.0.0.1:${ports[7]}, nats://127.0.0.1:${ports[8]}" >>broker$i.conf
        nats-server -c broker$i.conf >broker$i.out 2>broker$i.err &
        pids[broker$i]=$!
    done
    nats="nats://127.0.0.1:${ports[0]},127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}?replicas=3"
    monitors=("${ports[@]:3:3}")
    await "a leader of three brokers" has_meta_leader
}
# Below those that the system gives to others meanwhile.
free_tcp_ports() { # COUNT
    python3 -c '
import random, socket, sys
ports = []
while len(ports) < int(sys.argv[1]):
    port = random.randrange(15000, 32000)
    try:
        socket.socket().bind(("127.0.0.1", port))
    except OSError:
        continue
    if port not in ports:
        ports.append(port)
print(*ports)' "$1"
}
ask_brokers() { # leader | meta: the name of the stream's leader, or of the cluster's; empty: there is none
    python3 - "$1" "${monitors[@]}" <<'PYTHON'
import json, sys, urllib.request
for port in sys.argv[2:]:
    try:
        said = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/jsz?accounts=1&streams=1", timeout=5))
    except OSError:
        continue
    streams = [one for account in said.get("account_details") or [] for one in account.get("stream_detail") or []]
    leads = [said.get("meta_cluster", {})] if sys.argv[1] == "meta" else [one.get("cluster", {}) for one in streams]
    names = [one["leader"] for one in leads if one.get("leader")]
    if names:
        print(names[0])
        break
PYTHON
}
has_meta_leader() { [ -n "$(ask_brokers meta)" ]; }
# Does a server know a standby that is ready? Its socket.
counts_standby() { run ctl shoal-ctl --json --socket "$1" standbys && has_said ctl.out '"standbys": ?[1-9]'; }
# has_sent SOCKET EPOCH: the stream has all of the match.
has_sent() { run ctl shoal-ctl --json --socket "$1" status && has_said ctl.out '"epoch": ?"'"$2"'", ?"waiting": ?"0"'; }
# hands_over SOCKET OUT: until the standby with this output has the match. What counted a moment ago may be busy now: then none is
# ready, or it does not claim within 2 s and the match stays.
hands_over() {
    ! has_said "$2" '^takeover ' || return 0
    run ctl shoal-ctl --socket "$1" handover
    [ "$code" != 0 ] || for _ in {1..40}; do rest 0.1 && ! has_said "$2" '^takeover ' || return 0; done
    return 1
}
