#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Logs in object storage: scripts/package/upload by rclone, whatever is in between, and the same log read back.
#
# A folder is the storage, and with SHOAL_E2E_S3RVER=FOLDER, where npm put s3rver (scripts/test), S3's own protocol.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

uploader=$(cd "$(dirname "$0")/../../scripts/package" && pwd)/upload
export PATH=$bin:$PATH RCLONE_CONFIG=/dev/null
# The machine's own storage is none of a test.
for name in $(compgen -e | grep -E '^(AWS|RCLONE)_' | grep -vx RCLONE_CONFIG || true); do unset "$name"; done

has_rclone() { command -v rclone >/dev/null || { skip "rclone is missing: apt install rclone" && return 1; }; }
use_folder() { export SHOAL_STORE=":local:$PWD/a store"; }

# play LOG [option...]: four segments of cubes.
play() {
    local log=$1
    shift
    run_to 0 server shoal-server --game cubes --listen 127.0.0.1:0 --tick-rate 1 --ticks 100 --fast --set cubes=3000 --log "$log" \
        --log-segment-s 30 "$@"
}

# upload CODE [argument...]: what it says is in upload.err.
upload() {
    local expected=$1 code=0
    shift
    "$uploader" "$@" >upload.out 2>upload.err || code=$?
    [ "$code" = "$expected" ] || fail "upload ended with $code, not $expected"
}

# fetch LOG: the folder of the store that has it comes back as ./back.
fetch() {
    local place
    rclone lsf -R --files-only "$SHOAL_STORE" >stored.txt || return 1
    place=$(grep -m 1 -F "/$1" stored.txt) || return 1
    rm -rf back
    rclone copy "$SHOAL_STORE/$(dirname "$place")" back
}
is_stored() { fetch "$1" 2>fetch.err && grep -qF "{\"name\": \"$1\", " back/index.json; }

# is_right LOG: what is in ./back is what the index says, and LOG there reads as LOG here.
is_right() {
    python3 - <<'PYTHON' || fail "the index and the parts differ"
import hashlib, json, os
index = json.load(open("back/index.json"))
parts = index["parts"]
assert index["format"] == 1 and len(index["identity"]) == 16, index
assert len({part["name"] for part in parts}) == len(parts), parts
for part in parts:
    content = open("back/" + part["name"], "rb").read()
    assert len(content) == part["bytes"] and hashlib.sha256(content).hexdigest() == part["sha256"], part
assert {part["name"] for part in parts} | {"index.json"} == set(os.listdir("back")), os.listdir("back")
ends = [part for part in parts if "last_tick" in part and "damaged" not in part]
assert all(a["last_tick"] + 1 == b["first_tick"] for a, b in zip(ends, ends[1:])), ends
PYTHON
    run here shoal-replay info "$1"
    run there shoal-replay info "back/$(basename "$1")"
    [ "$(grep -v '^file=' here.out)" = "$(grep -v '^file=' there.out)" ] || fail "the logs differ"
}

case_a_log_is_stored_while_its_match_runs_and_reads_back() {
    has_rclone || return 0
    use_folder
    play 'a log.slog' --log on-close="$uploader"
    await "the last part" is_stored 'a log.slog'
    is_right 'a log.slog'
    [ "$(grep -c '^{"name"' back/index.json)" = 4 ] || fail "not four parts"
    verifies 'back/a log.slog' server
    rclone cat "$SHOAL_STORE/$(value identity here.out)/$(value started_unix_ms here.out)/a log.slog.seg0002" >one
    verifies one
    says verify.out '^verified ticks=30 '
    # Again: nothing to do, with marks and without them.
    upload 0 'a log.slog'
    [ ! -s upload.err ] || fail "it does something"
    rm ./*.stored
    upload 0
    [ ! -s upload.err ] || fail "it does something without marks"
    [ "$(find . -name '*.stored' | wc -l)" = 4 ] || fail "the marks are not there again"
}

case_what_was_cut_short_is_stored_by_the_next_upload() {
    has_rclone || return 0
    use_folder
    serve killed --log a.slog
    await "ticks in the queue" eval 'shoal-replay info a.slog 2>/dev/null | grep -q "^last_tick=[1-9]"'
    upload 0 a.slog
    [ ! -e 'a store' ] || fail "it stores what a server writes"
    slay killed
    play b.slog
    SHOAL_STORE=":local:/dev/null/store" upload 1
    says upload.err '^upload: .*/b.slog.seg0001: not stored$'
    # Two at once.
    "$uploader" b.slog.seg0001 2>first.err &
    pids[first]=$!
    upload 0 b.slog
    : >first.out
    ends_with 0 first
    [ "$(cat first.err upload.err | sed -n 's/^upload: stored \(.*\), [0-9]* bytes$/\1/p' | sort | uniq -c | awk '$1 == 1' | wc -l)" = 6 ] ||
        fail "each part is not stored once"
    fetch b.slog || fail "b.slog is not there"
    is_right b.slog
    fetch a.slog || fail "a.slog is not there"
    is_right a.slog
    says there.out '^closed=no$'
    says there.out '^queue_records=[1-9]'
    # A later log of the name moves it: its place in the store stays.
    run server shoal-server --game breakout --listen 127.0.0.1:0 --ticks 20 --fast --log a.slog
    upload 0 a.slog
    [ "$(grep -c 'stored .*/a\.slog, ' upload.err)" = 1 ] && has_lines upload.err . 1 || fail "not the new log alone"
    [ "$(find 'a store' -name index.json | wc -l)" = 3 ] || fail "not three logs"
}

spoil() { printf XXXXXXXX | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; } # FILE OFFSET

case_a_part_that_cannot_be_read_keeps_no_other_from_the_storage() {
    has_rclone || return 0
    use_folder
    play a.slog
    # One with a damaged block, one that is no log at all, and one whose first bytes are gone: its header is further on.
    spoil a.slog.seg0001 100000
    : >a.slog.seg0002
    spoil a.slog.seg0003 0
    upload 0
    [ "$(grep -c 'is damaged, and stored as it is$' upload.err)" = 3 ] || fail "not three damaged parts"
    [ "$(grep -c '^upload: stored ' upload.err)" = 4 ] || fail "not four parts"
    fetch a.slog || fail "a.slog is not there"
    is_right a.slog
    [ "$(grep -c '"damaged": true' back/index.json)" = 3 ] || fail "the index does not say which parts are damaged"
    grep -q '{"name": "a.slog", .*"closed": true}' back/index.json || fail "the last part has no ticks"
    upload 0
    [ ! -s upload.err ] || fail "it does something again"
    # A part that cannot even be opened: those beside it are stored, but not the last one, which ends the log.
    rm -rf 'a store' ./*.stored
    rm a.slog.seg0002 && ln -s nowhere a.slog.seg0002
    mkdir path && printf '#!/bin/sh\ncase $(readlink /proc/self/fd/0) in *seg0001) exit 1 ;; esac\nexec /usr/bin/sha256sum\n' >path/sha256sum
    chmod +x path/sha256sum
    PATH=$PWD/path:$PATH upload 1
    says upload.err '^upload: .*/a.slog.seg0001: cannot be read$'
    [ "$(grep -c '^upload: stored ' upload.err)" = 1 ] || fail "not the third part alone"
    ! grep -q '"sha256": ""' 'a store'/*/*/index.json || fail "an empty sum"
    upload 0
    fetch a.slog || fail "a.slog is not there"
}

case_an_upload_that_cannot_be_is_said() {
    has_rclone || return 0
    unset SHOAL_STORE
    upload 1
    says upload.err '^upload: SHOAL_STORE=REMOTE:PATH has to say where logs are stored$'
    play a.slog --log on-close="$uploader" --log keep=1 --log-segment-s 10
    says server.err 'warning: .*/upload failed for a closed segment, [1-9][0-9]* times by now$|warning: closed segments were deleted over the limits without a mark that they are stored, [1-9]'
}

case_a_stored_log_is_read_where_it_is_mounted() {
    has_rclone || return 0
    use_folder
    play a.slog
    upload 0
    mkdir mounted
    { command -v fusermount3 >/dev/null && [ -w /dev/fuse ]; } || { skip "rclone mount needs fuse3 and /dev/fuse" && return 0; }
    rclone mount --read-only "$SHOAL_STORE" mounted >mount.out 2>mount.err &
    pids[mount]=$!
    await "the mounted store" eval 'ls mounted/*/*/index.json >/dev/null 2>&1 || has_ended mount'
    if has_ended mount; then
        unset 'pids[mount]'
        skip "rclone mount: $(tail -n 1 mount.err)"
        return 0
    fi
    verifies mounted/*/*/a.slog server
    fusermount3 -u mounted
    ended mount
}

# storm PORT: a proxy in front of it. Of each eight requests one gets 503, and of one the answer is cut. No body is cut:
# s3rver keeps what came of it.
storm() {
    python3 - "$1" >storm.out 2>storm.err <<'PYTHON' &
import socket, sys, threading
ear = socket.create_server(("127.0.0.1", 0))
print(ear.getsockname()[1], flush=True)
asked = 0
turn = threading.Lock()

def pump(source, target, limit):
    try:
        while limit > 0 and (data := source.recv(min(65536, limit))):
            limit -= len(data)
            target.sendall(data)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

def serve(near):
    global asked
    head = b""
    while b"\r\n\r\n" not in head:
        if not (data := near.recv(65536)):
            return near.close() # opened in advance, and not used
        head += data
    with turn:
        asked += 1
        number = asked % 8
    if number == 3:
        print("503", flush=True)
        near.sendall(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return near.close()
    if number == 6:
        print("cut", flush=True)
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    far.sendall(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
    start(pump, near, far, 1 << 40)
    pump(far, near, 100 if number == 6 else 1 << 40)


def start(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


while True:
    start(serve, ear.accept()[0])
PYTHON
    pids[storm]=$!
}

case_a_log_is_stored_by_the_protocol_of_s3_through_cuts_and_503() {
    has_rclone || return 0
    local program=${SHOAL_E2E_S3RVER:-}/node_modules/.bin/s3rver
    [ -x "$program" ] || { skip "SHOAL_E2E_S3RVER names no folder with s3rver of npm: scripts/test makes one" && return 0; }
    mkdir objects
    "$program" -d objects -a 127.0.0.1 -p 0 --no-vhost-buckets --configure-bucket logs >s3.out 2>s3.err &
    pids[s3]=$!
    await "the port of s3rver" has_said s3.out 'listening on .*:[0-9]+'
    storm "$(sed -nE 's/.*listening on .*:([0-9]+).*/\1/p' s3.out | head -n 1)"
    await "the port of the proxy" has_said storm.out '^[0-9]+'
    export RCLONE_CONFIG_STORE_TYPE=s3 RCLONE_CONFIG_STORE_PROVIDER=Other RCLONE_CONFIG_STORE_ACCESS_KEY_ID=S3RVER \
        RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY=S3RVER RCLONE_CONFIG_STORE_FORCE_PATH_STYLE=true \
        RCLONE_CONFIG_STORE_ENDPOINT="http://127.0.0.1:$(head -n 1 storm.out)" SHOAL_STORE=store:logs/matches
    play a.slog --log on-close="$uploader"
    await "an upload that gets through" "$uploader" a.slog 2>upload.err
    await "the last part" is_stored a.slog
    is_right a.slog
    verifies back/a.slog server
    says storm.out '^503$'
    says storm.out '^cut$'
    kill "${pids[storm]}" "${pids[s3]}"
    await "their ends" eval 'has_ended storm && has_ended s3'
    unset 'pids[storm]' 'pids[s3]'
}

run_cases "$@"
