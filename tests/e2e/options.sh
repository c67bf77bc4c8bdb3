#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Options, environment, refusals and their exit codes. No case plays a match.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# refused CODE REGEX PROGRAM [argument...]: it must end with CODE, print the reason on stderr and
# nothing on stdout.
refused() {
    run_to "$1" refused "${@:3}"
    says refused.err "$2"
    [ ! -s refused.out ] || fail "${*:3} prints results"
}

case_help_fits_a_screen() {
    local program name
    for program in shoal-server shoal-client shoal-replay shoal-ctl shoal-relay; do
        run_to 0 help "$program" --help
        awk -v p="$program" 'length > 100 { print p ": line " NR " has " length " columns"; bad = 1 }
            END { if (NR > 24 || NR < 5) { print p ": " NR " lines"; bad = 1 } exit bad }' help.out ||
            fail "--help of $program is no screen"
        says help.out "^usage: $program "
        cp help.out short.out
        run help "$program" --help=all
        awk -v p="$program" 'length > 100 { print p ": line " NR " has " length " columns"; bad = 1 }
            NR > 4 && !/^  --[a-z].*  [^ ]/ && !/^      [a-z-]+(=[^ ]+)?  +[^ ]/ && !/^[a-z, ]+:$/ { print p ": no line of an option: " $0; bad = 1 } END { exit bad }' help.out ||
            fail "--help=all of $program does not explain each option"
        for name in $(grep -oE '^  --[a-z-]+' help.out); do
            grep -qE -- "$name( |,|\$)" short.out || fail "--help of $program lacks $name"
        done
        [ ! -s help.err ] || fail "--help of $program writes to stderr"
    done
}

case_the_schema_of_a_game_is_json() {
    local game hash
    for game in breakout arena cubes; do
        run_to 0 schema shoal-server schema --game "$game"
        python3 -c 'import json, sys
schema = json.load(sys.stdin)
names = {item["name"] for item in schema["items"]}
assert {"template " + t["name"] for t in schema["templates"]} <= names
assert {"message " + m["name"] for m in schema["messages"]} <= names
assert {"component " + c["name"] for t in schema["templates"] for c in t["components"]} <= names
assert all(f["id"] > 0 and f["type"] and f["label"] for m in schema["messages"] for f in m["protobuf_fields"])
assert all(c["states_default"] in (True, False) for t in schema["templates"] for c in t["components"])
assert all(c["type"] in {t["name"] for t in schema["types"]} for t in schema["templates"] for c in t["components"])
' <schema.out || fail "the schema of $game lacks something"
    done
    refused 2 'usage: shoal-server schema --game NAME' shoal-server schema
    refused 2 'no game "nix"' shoal-server schema --game nix
}

case_an_unknown_option_names_the_nearest() {
    refused 2 'unknown option --min-client, did you mean --min-clients\?' \
        shoal-server --game breakout --min-client 3
    refused 2 'unknown option --bot, did you mean --bots\?' shoal-client 127.0.0.1:1 --bot 3
    refused 2 'at is for --replay FILE' shoal-client 127.0.0.1:1 --at 5
    refused 2 'speed is for --replay FILE' shoal-client 127.0.0.1:1 --speed 2
    refused 2 'panel needs --render or --shot' shoal-client 127.0.0.1:1 --window panel
    refused 2 'faults has no effect on a replay' shoal-client --replay x.slog --window faults=f
    refused 2 'bots has no effect on a replay' shoal-client --replay x.slog --bots 2
    refused 2 'ticks has no effect on a replay' shoal-client --replay x.slog --ticks 2
    refused 2 'rate-max has no effect on a replay' shoal-client --replay x.slog --tune rate-max=9000
    refused 2 'net-threads' shoal-server --game breakout --tune net-threads=9
    refused 2 'send-divisor' shoal-server --game breakout --tune send-divisor=5
    refused 2 'rate-max' shoal-server --game breakout --rate-max 0
    refused 2 'unknown option --ticks, did you mean --tick\?' shoal-replay show x.slog --ticks 3
    refused 2 'error: unknown option --log-keep: write --log keep=N' shoal-server --game breakout --log-keep 3
    refused 2 'error: unknown option --level: write --lines level=' shoal-server --game breakout --level debug
    refused 2 'error: unknown option --size: write --window size=WxH' shoal-client 127.0.0.1:1 --size 960x540
    refused 2 'error: unknown option --keep: write --record keep=N' shoal-relay a.slog --keep 3
    refused 2 'error: unknown option --http-host: write --http host=NAME' shoal-relay a.slog --http-host x
    refused 2 'error: unknown option --every: write --what every=N' shoal-replay export a.slog --every 3
    refused 2 'log has no key .keeps., did you mean .keep.' shoal-server --game breakout --log a.slog,keeps=3
    refused 2 'no command "verfy", did you mean verify' shoal-replay verfy x.slog
    refused 2 'no link setting "los": did you mean loss' \
        shoal-client 127.0.0.1:1 --game breakout --net los=5
    refused 2 'ticks needs a natural number' shoal-server --game breakout --ticks many
    refused 2 'tick-rate is outside of 1 to 240' shoal-server --game breakout --tick-rate 1000
    refused 2 "unexpected argument 'twice'" shoal-server --game breakout twice
}

# takes_lines LINE...: a server with them in its file, beside those of the packaged one; ports and folders of this machine.
takes_lines() {
    { sed -n '/^[a-z]/p' "$packaged" && echo 'key-file = server.key' && printf '%s\n' "$@"; } |
        sed "s|/etc/shoal/||; s|/run/shoal/shoal/||; s|/usr/lib/shoal/upload|/bin/true|; s|game.example|127.0.0.1|
            s|^\(listen = [0-9].*\):7777|\1:0|; s|0:7777,|0:0,|; s|7780|0|" >server.conf
    has_ipv6 || sed -i 's/,\[::\]:0//' server.conf
    run_to 0 server shoal-server --config server.conf --ticks 3
    says server.out '^done ticks=3 '
}

# The file of the package, and the advice for a line that has another form now.
case_each_line_of_the_packaged_file_is_taken() {
    local packaged=$here/../../scripts/package/shoal.conf line lines=()
    (umask 077 && "$bin/shoal-server" keygen server.key >keygen.out)
    : >bans.txt
    mapfile -t lines < <(sed -nE 's/^# ([a-z-]+ = .*)/\1/p' "$packaged")
    [ ${#lines[@]} -ge 10 ] || fail "only ${#lines[@]} lines"
    for line in "${lines[@]}"; do takes_lines "$line"; done
    takes_lines "${lines[@]}"
    for line in 'public = 127.0.0.1:7777' 'drain-s = 600' 'log-on-close = /bin/true' 'log-budget-mb = 9' 'log-keep = 2' \
        'level = net=debug' 'status-s = 60' 'send-divisor = 2' 'http-optional = yes'; do
        echo "$line" >old.conf
        refused 2 "^old.conf:1: error: unknown option ${line%% =*}: write [a-z]+ = " shoal-server --game breakout --config old.conf
        takes_lines "$(sed 's/.*: write //' refused.err)"
    done
}

case_options_are_checked_without_a_match() {
    local program
    for program in "shoal-server --game none" "shoal-client 127.0.0.1:1" "shoal-replay info none.slog" "shoal-ctl status" \
        "shoal-relay none.slog" "shoal-server check none.so" "shoal-server keygen none.key" "shoal-server schema"; do
        # shellcheck disable=SC2086
        run_to 0 checked $program --check-options
        [ "$(<checked.out)" = 'ok options' ] || fail "$program is not checked"
    done
    [ ! -e none.key ] || fail "a check wrote a file"
    refused 2 'max-clients 2: the match would never begin' shoal-server --check-options --min-clients 3 --max-clients 2
    refused 2 'there is no such layer' shoal-server --check-options --lines level=sound=info
    refused 2 'at is for --replay FILE' shoal-client 127.0.0.1:1 --at 5 --check-options
    refused 2 'verify takes one log' shoal-replay verify --check-options
    refused 2 "there is no verb 'stats'" shoal-ctl stats --check-options
    refused 2 'a relay follows one match' shoal-relay a.slog --source b.slog --check-options
}

case_an_unknown_game_names_the_nearest() {
    refused 2 'did you mean "breakout"\?' shoal-server --game braekout --listen 127.0.0.1:0
    refused 2 'did you mean "breakout"\?' shoal-client 127.0.0.1:1 --game brakout
    refused 2 '/nowhere/x.so' shoal-server --game /nowhere/x.so --listen 127.0.0.1:0
    refused 2 'game is missing' shoal-server --listen 127.0.0.1:0
}

case_code_that_all_users_may_write_is_not_run() {
    copy_games other
    chmod o+w other
    SHOAL_MODULE_PATH=$PWD/other refused 2 "other: error: all users may write it.* chmod o-w $PWD/other" \
        shoal-server --game breakout --listen 127.0.0.1:0
    refused 2 "chmod o-w other$" shoal-server --game other/breakout.so --listen 127.0.0.1:0
    chmod o-w other
    chmod o+w other/breakout.so
    SHOAL_MODULE_PATH=$PWD/other refused 2 'breakout.so: error: all users may write it' \
        shoal-client 127.0.0.1:1 --game breakout
    chmod o-w other/breakout.so
    run_to 0 server shoal-server --game other/breakout.so --listen 127.0.0.1:0 --ticks 1 --log none
}

case_an_unknown_setting_names_the_nearest() {
    refused 2 'ball_speed' shoal-server --game breakout --listen 127.0.0.1:0 --set ball_sped=2
    refused 2 'ball_speed' shoal-server --game breakout --listen 127.0.0.1:0 --set ball_speed=quick
}

case_a_missing_or_malformed_address_is_usage() {
    refused 2 'address is missing' shoal-client --bots 2
    refused 2 'one address is enough' shoal-client 127.0.0.1:1 127.0.0.1:2
    refused 2 'HOST:PORT' shoal-client nonsense --game breakout
    refused 2 'HOST:PORT' shoal-client 127.0.0.1:0 --game breakout
    refused 2 'HOST:PORT' shoal-client 127.0.0.1:70000 --game breakout
    refused 2 'cannot listen on 127.0.0.1' shoal-server --game breakout --listen 127.0.0.1
}

case_a_server_has_at_most_4095_clients() {
    local clients
    for clients in 4094 4095; do
        run_to 0 server shoal-server --game breakout --listen 127.0.0.1:0 --max-clients $clients --ticks 1 --fast --log none
    done
    for clients in 4 5; do
        run_to 0 server shoal-server --game breakout --listen 127.0.0.1:0 --max-clients 4090 --spectators $clients \
            --ticks 1 --fast --log none
    done
    refused 2 'max-clients 4090 and --spectators 6 are more than the 4095 connections' \
        shoal-server --game breakout --max-clients 4090 --spectators 6
    refused 2 'max-clients is outside of 1 to 4095' shoal-server --game breakout --max-clients 4096
    refused 2 'max-clients is outside of 1 to 4095' shoal-server --game breakout --max-clients 0
    run help shoal-server --help
    says help.out 'max-clients N .*1 to 4095'
}

case_a_public_address_needs_keys() {
    refused 2 'key' shoal-server --game breakout --listen 0.0.0.0:0
    [ -z "$(ls ./*.slog 2>/dev/null)" ] || fail "a refused server leaves a log"
    run_to 0 server shoal-server --game breakout --listen 0.0.0.0:0 --allow-dev-key --log none --ticks 3
    says server.out '^ready listen=0.0.0.0:[1-9]'
}

case_a_port_in_use_ends_with_3() {
    serve server --log none
    refused 3 "cannot bind $address" shoal-server --game breakout --listen "$address"
    [ -z "$(ls ./*.slog 2>/dev/null)" ] || fail "a refused server leaves a log"
    stop server
}

# Each takes the first port of two that is free; of the page too.
case_servers_share_a_range_of_ports() {
    local i first=0 range page
    until python3 -c 'import socket, sys
for port in range(int(sys.argv[1]), int(sys.argv[1]) + 4):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM: socket.socket(socket.AF_INET, kind).bind(("127.0.0.1", port))' $first 2>ports.txt &&
        [ $first != 0 ]; do
        first=$((20000 + RANDOM % 12000))
    done
    range=127.0.0.1:$first-$((first + 1)) page=127.0.0.1:$((first + 2))-$((first + 3))
    for i in 0 1; do
        start_ready s$i shoal-server --game breakout --log none --listen "$range" --http "$page"
        says s$i.out "^ready listen=127.0.0.1:$((first + i)) .* http=http://127.0.0.1:$((first + 2 + i))\$"
    done
    refused 3 "cannot bind $range: Address already in use" shoal-server --game breakout --log none --listen "$range"
    run_to 3 third shoal-server --game breakout --log none --listen 127.0.0.1:0 --http "$page"
    says third.err "cannot bind $page: Address already in use"
    stop s0
    start_ready s2 shoal-server --game breakout --log none --listen "$range"
    says s2.out "^ready listen=127.0.0.1:$first "
    stop s1 s2
    refused 2 "cannot listen on 127.0.0.1:7999-7000: " shoal-server --game breakout --listen 127.0.0.1:7999-7000
    run_to 2 third shoal-server --game breakout --log none --listen 127.0.0.1:0 --http 127.0.0.1:7999-7000
    says third.err '^error: --http 127.0.0.1:7999-7000: is not ADDR:PORT$'
}

case_a_damaged_template_file_is_named_with_its_line() {
    copy_games other
    local line
    line=$(($(wc -l <other/breakout.blk) + 1))
    echo 'broken { pos:p2 = 1, }' >>other/breakout.blk
    SHOAL_MODULE_PATH=$PWD/other refused 2 "breakout.blk:$line: error: " \
        shoal-server --game breakout --listen 127.0.0.1:0
    refused 2 "breakout.blk:$line: error: " shoal-server --game "$PWD/other/breakout.so"
    refused 2 "breakout.blk:$line: error: " shoal-server check other/breakout.blk
    rm other/breakout.blk
    refused 2 'breakout.blk' shoal-server --game "$PWD/other/breakout.so"
}

case_check_accepts_what_is_right() {
    run_to 0 check shoal-server check "$games/breakout.so"
    says check.out '^ok files=1 templates=[1-9][0-9]* components=[1-9][0-9]*$'
    run_to 0 check shoal-server check --ticks 60,bots=3 --set lives=1 "$games/breakout.so"
    refused 2 'has no setting "lifes", did you mean "lives"' shoal-server check --set lifes=1 "$games/breakout.so"
    echo 'stone { pos:p2 = 1,2 weight:r = 3 }' >stone.blk
    run check shoal-server check stone.blk stone.blk
    says check.out '^ok files=2 templates=[1-9][0-9]* components=[1-9][0-9]*$'
}

# S5.2: several files, their imports, and faults that are only warnings.
case_check_plays_a_module_and_warns() {
    local crash=$build/test/crash/crash.so warning="message Input: no system of the server handles its event crash_input"
    run_to 0 check shoal-server check "$crash"
    says check.out '^ok files=1 templates=[1-9][0-9]* components=[1-9][0-9]* warnings=1$'
    says check.err "crash.so: warning: $warning: what clients send has no effect$"
    run_to 2 strict shoal-server check --strict "$crash"
    run play shoal-server --game "$crash" --set at=5 --listen 127.0.0.1:0 --ticks 2 --fast
    says play.err "crash: warning: $warning"
    says play.err '^note: 1 warnings about the game; shoal-server check FILE.so plays it and says more$'
}

case_check_follows_imports() {
    mkdir -p many/parts
    echo 'import:t="many/parts/*.blk"' >all.blk
    echo 'stone { _use:t=rock; at:p2=0,0 }' >>all.blk
    echo 'rock { size:r=1 }' >many/parts/b.blk
    printf '\nmoss { "shade:Shade"{ x:i=1 } }\n' >many/parts/a.blk
    run check shoal-server check all.blk
    says check.out '^ok files=1 templates=3 components=2$'
    says check.err "many/parts/a.blk:2: warning: component 'shade' has the unknown type 'Shade': kept, not used"
    echo 'import:t="../other.blk"' >many/parts/c.blk
    refused 2 "many/parts/c.blk:1: error: import: .*many/other.blk' is not there" shoal-server check all.blk
    echo 'import:t="../../../other.blk"' >many/parts/c.blk
    refused 2 "many/parts/c.blk:1: error: import: .* leads outside of its root" shoal-server check all.blk
    ln -sf /etc/passwd many/parts/c.blk
    refused 2 "import: .*many/parts/c.blk' cannot be read" shoal-server check all.blk
    rm many/parts/c.blk many/parts/b.blk
    refused 2 "all.blk:2: error: template 'stone' extends 'rock'" shoal-server check all.blk
}

# P12: reload on request, all or nothing. Clients come back with the new files, or read why they cannot. The log is one
# match over the reloads.
case_a_game_is_reloaded_on_request() {
    cp "$games/breakout.so" "$games/breakout.blk" .
    cp breakout.blk old.blk
    serve server --game ./breakout.so --log match.slog
    start players shoal-client "$address" --game ./breakout.so --headless --bots 2
    start old shoal-client "$address" --game "$games/breakout.so" --headless --bots 1
    await players has_lines server.err ' joined from ' 3
    kill -HUP "${pids[server]}"
    await "a word" grep -q 'breakout.blk: note: not reloaded: neither it nor the library changed' server.err
    sed -i '$a lamp { radius:r=7; "glow:i"{ _replicate:b=yes; value:i=1 } }' breakout.blk
    kill -HUP "${pids[server]}"
    await "a reload" grep -q 'breakout.blk: note: reloaded: the match continues with it' server.err
    await "the players" has_lines server.err ' is back after ' 2
    ends_with 4 old
    says old.err 'refused: the game files differ: "component glow" is missing on the client'
    echo 'lamp { radius:r=8 }' >>breakout.blk
    kill -HUP "${pids[server]}"
    await "a refusal" grep -q "breakout.blk:[0-9]*: error: template 'lamp' exists already" server.err
    await "its end" grep -q 'breakout.blk: error: not reloaded, the match continues as it was: its faults are above' server.err
    rest 1.1 # of two returns within a second one is reported
    cp old.blk breakout.blk
    cp breakout.so other.so
    echo >>other.so # another library, in its place
    mv other.so breakout.so
    kill -HUP "${pids[server]}"
    await "the players" has_lines server.err ' is back after ' 4
    stop server
    ends_with 0 players
    cp "$games/breakout.so" .
    run_to 0 verify shoal-replay verify match.slog --game ./breakout.so
    says verify.out "^verified ticks=$(sed -n 's/^done ticks=\([0-9]*\) .*/\1/p' server.out) "
    run info shoal-replay info match.slog
    says info.out '^before=match.slog.seg0002$'
}

# A file that is no template: server and clients have the same, a changed one is a reload, and the log runs with its own.
case_a_file_of_a_game_is_a_part_of_it() {
    mkdir -p breakout other/breakout
    cp "$games/breakout.so" .
    sed '$a file:t="rules.lua"' "$games/breakout.blk" >breakout.blk
    cp breakout.so breakout.blk other
    printf 'one\0' >breakout/rules.lua
    printf 'another\0' >other/breakout/rules.lua
    serve server --game ./breakout.so --log match.slog
    start players shoal-client "$address" --game ./breakout.so --headless --bots 2
    await players has_lines server.err ' joined from ' 2
    run_to 4 other shoal-client "$address" --game other/breakout.so --headless --bots 1
    says other.err 'refused: the game files differ: "file rules.lua" differs'
    printf 'two\0' >breakout/rules.lua
    kill -HUP "${pids[server]}"
    await "a reload" grep -q 'breakout.blk: note: reloaded: the match continues with it' server.err
    await "the players" has_lines server.err ' is back after ' 2
    rm breakout/rules.lua
    kill -HUP "${pids[server]}"
    await "a refusal" grep -q 'breakout/rules.lua: error: file: it is not there, nor beside the templates' server.err
    stop server
    ends_with 0 players
    run_to 0 verify shoal-replay verify match.slog --game other/breakout.so
    says verify.out "^verified ticks=$(sed -n 's/^done ticks=\([0-9]*\) .*/\1/p' server.out) "
    takes_files_out
}

# The files are those of no folder any more, as when a server dies right after a reload: the log has them, of each part.
takes_files_out() {
    local first last=$(($(sed -n 's/^done ticks=\([0-9]*\) .*/\1/p' server.out)))
    run_to 0 info shoal-replay info match.slog
    first=$(sed -n 's/^first_tick=//p' info.out)
    refused 4 'a match continues with its own library' shoal-server --resume match.slog --game other/breakout.so --listen 127.0.0.1:0
    run_to 0 files shoal-replay files match.slog taken
    says files.out "^files game=breakout content=[0-9a-f]{16} ticks=$first..$last\$"
    printf 'two\0' | cmp - taken/breakout/rules.lua
    cmp breakout.blk taken/breakout.blk
    run_to 1 twice shoal-replay files match.slog taken
    says twice.err 'taken/breakout.blk: error: is there already'
    cp breakout.so taken
    refused 2 "tick 1 is before the reload of its game: .* --at $first to $last" \
        shoal-server --resume match.slog --game taken/breakout.so --listen 127.0.0.1:0 --at 1
    run_to 0 on shoal-server --resume match.slog --game taken/breakout.so --listen 127.0.0.1:0 --ticks $((last + 30)) --fast --log on.slog
    says on.out "^resumed tick=$last "
    run_to 0 files shoal-replay files match.slog before --tick 1
    printf 'one\0' | cmp - before/breakout/rules.lua
    refused 2 'tick 999999 is not in the log' shoal-replay files match.slog none --tick 999999
    [ ! -e none ] || fail "a folder for nothing"
    # A log that someone made leads to no other place.
    local name
    for name in ../../ab.blk /tmp/abc.blk .reakout.blk a/../../.blk a//bcdef.blk; do
        "$build/test/forge_log" match.slog forged.slog "breakout.blk=$name" || fail "forge_log"
        run_to 1 forged shoal-replay files forged.slog hostile
        says forged.err "^$name: error: leads out of the folder"
        [ ! -e hostile ] || fail "$name is written"
    done
}

case_check_names_what_is_wrong() {
    printf 'stone {\n  pos:p2 = 1,2\n  weight:r = heavy\n}\n' >stone.blk
    refused 2 'stone.blk:3: error: ' shoal-server check stone.blk
    echo 'no library' >fake.so
    refused 2 'fake.so' shoal-server check fake.so
    refused 2 'readme.txt' shoal-server check readme.txt
    refused 2 'missing.blk' shoal-server check missing.blk
    refused 2 'at least one' shoal-server check
    refused 2 'bots is outside of 1 to 64' shoal-server check --ticks bots=65 stone.blk
    refused 2 'name one game' shoal-server check --stages
}

case_the_environment_gives_options() {
    export SHOAL_TICKS=7 SHOAL_LOG=none
    serve server
    ends_with 0 server
    says server.out '^done ticks=7 .* log=none$'
    serve server --ticks 9 # the command line comes first
    ends_with 0 server
    says server.out '^done ticks=9 '
    export SHOAL_TICKS=many
    refused 2 'SHOAL_TICKS' shoal-server --game breakout --listen 127.0.0.1:0
    unset SHOAL_TICKS SHOAL_LOG
}

case_a_file_gives_options() {
    printf '# a match\ngame = breakout\nticks = 7\nlog = none\nset = level=2\nset = lives=5\n' >match.conf
    run_to 0 server shoal-server --config match.conf --listen 127.0.0.1:0
    says server.out '^done ticks=7 .* log=none$'
    SHOAL_TICKS=8 run server shoal-server --config match.conf --listen 127.0.0.1:0
    says server.out '^done ticks=8 '
    SHOAL_TICKS=8 run server shoal-server --config match.conf --listen 127.0.0.1:0 --ticks 9
    says server.out '^done ticks=9 '
    echo 'tick = 7' >>match.conf
    refused 2 'match.conf:7: error: unknown option tick, did you mean ticks' \
        shoal-server --config match.conf --listen 127.0.0.1:0
    refused 2 'missing.conf' shoal-server --config missing.conf
}

case_a_log_has_a_name_by_default() {
    serve server --ticks 5
    ends_with 0 server
    local log
    log=$(value log server.out)
    [[ $log =~ ^breakout-[0-9]{8}-[0-9]{6}-[0-9]+\.slog$ ]] || fail "its name is $log"
    is_closed "$log"
    verifies "$log" server
}

case_log_none_writes_no_file() {
    serve server --ticks 5 --log none
    ends_with 0 server
    says server.out '^done ticks=5 .* log=none$'
    [ -z "$(ls ./*.slog* 2>/dev/null)" ] || fail "there is a log"
}

case_a_log_that_cannot_be_written_ends_with_1() {
    refused 1 'nowhere/a.slog' shoal-server --game breakout --listen 127.0.0.1:0 --log nowhere/a.slog
    # A limit on the size of files is no signal. It may be raised, so the match waits for that as for a full disk.
    ulimit -S -f 100
    run_to 1 limited shoal-server --game breakout --listen 127.0.0.1:0 --ticks 30 --log a.slog
    says limited.err 'a.slog.queue: error: no room for the queue: File too large'
    says limited.err 'a.slog: error: the log ends early: it has no end record'
    ulimit -S -f "$(ulimit -H -f)"
}

# A program without standard descriptors: its first files must not get their numbers, or lines for
# the operator go into them.
case_a_server_without_descriptors_keeps_its_log_clean() {
    "$bin/shoal-server" --game breakout --listen 127.0.0.1:0 --ticks 5 --fast --log a.slog \
        --debug trace-session=a.txt --dump-world nowhere/a.txt <&- >&- 2>&- && fail "it wrote a world"
    is_closed a.slog
    verifies a.slog
    if grep -qv '^t_ms=' a.txt; then fail "a.txt has other lines than those of a trace"; fi
    [ "$(stat -c %a a.slog a.txt | sort -u)" = 600 ] || fail "others can read the files"
}

case_links_are_not_followed() {
    echo kept >victim
    ln -s victim a.slog
    refused 1 'a.slog: error: exists and is not a regular file' \
        shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog
    ln -s victim trace.txt
    refused 1 'trace.txt: error: it is a link' \
        shoal-server --game breakout --listen 127.0.0.1:0 --log none --debug trace-session=trace.txt
    refused 1 'trace.txt: error: it is a link' shoal-client 127.0.0.1:1 --trace trace.txt
    ln -s victim b.slog.queue
    serve server --ticks 5 --fast --log b.slog --dump-world trace.txt
    ends_with 1 server
    says server.err 'trace.txt: error: it is a link'
    is_closed b.slog
    [ "$(cat victim)" = kept ] || fail "a file behind a link was overwritten"
}

case_fast_does_not_wait_and_gives_the_same_match() {
    # Ten minutes of play: a test that waits for them fails.
    serve fast --fast --tick-rate 10 --ticks 6000 --log fast.slog --seed 5 --set level=2
    ends_with 0 fast
    says fast.out '^done ticks=6000 '
    verifies fast.slog fast
    serve again --fast --tick-rate 10 --ticks 6000 --log none --seed 5 --set level=2
    ends_with 0 again
    [ "$(value state_hash fast.out)" = "$(value state_hash again.out)" ] || fail "two runs differ"
    serve other --fast --tick-rate 10 --ticks 6000 --log none --seed 6 --set level=2
    ends_with 0 other
    [ "$(value state_hash fast.out)" != "$(value state_hash other.out)" ] || fail "the seed changes nothing"
}

case_replay_refuses_what_is_no_log() {
    refused 1 'missing.slog' shoal-replay verify missing.slog
    echo 'no log' >no.slog
    refused 1 'no.slog' shoal-replay verify no.slog
    : >empty.slog
    refused 1 'empty.slog' shoal-replay info empty.slog
    serve server --ticks 5 --log a.slog
    ends_with 0 server
    refused 2 'braekout' shoal-replay verify a.slog --game braekout
    refused 2 'ends at tick 5' shoal-replay show a.slog --tick 6
    run_to 0 dump shoal-replay dump a.slog
    [ "$(grep -cv '^{.*}$' dump.out)" = 0 ] || fail "dump prints more than objects"
    run_to 0 show shoal-replay show a.slog --tick 3 --entity 1
    says show.out '^tick=3 entities='
}

run_cases "$@"
