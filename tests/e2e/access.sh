#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who gets in: keys, tokens, bans, addresses of both families. The real programs over loopback.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
umask 077 # for files of keys and tokens

# opens [option...]: a server of breakout; $address is where it listens.
opens() {
    start_ready server shoal-server --game breakout --listen "${listen:-127.0.0.1:0}" "$@"
    address=$(sed -n 's/^ready listen=\([^ ]*\) .*/\1/p' server.out)
    [ -n "$address" ] || fail "the server does not listen"
}
# joins CODE NAME [option...]: a bot plays some ticks, or is refused.
joins() { run_to "$1" "$2" shoal-client "$address" --headless --bots 1 --ticks 20 "${@:3}"; }
# reloads TEXT: the server reads its files again, and says this.
reloads() {
    kill -HUP "${pids[server]}"
    await "$1" grep -q "$1" server.err
}
make_key() { "$bin/shoal-server" keygen server.key >keygen.out; }
make_token() { "$bin/shoal-server" token --key-file server.key "$@"; }

# is_told NAME TEXT: the client said TEXT at once, went on, and gave up with it.
is_told() {
    says "$1.err" "^note: $address: $2.*; trying again\$"
    says "$1.err" "^error: $address: $2"
}
# is_ended NAME TEXT: an answer that the server signed ended the attempt.
is_ended() {
    says "$1.err" "^error: $address: $2"
    if grep -q 'trying again' "$1.err"; then fail "$1 went on"; fi
}

case_a_token_lets_in_and_without_one_the_client_says_what_it_needs() {
    make_key
    opens --log none --key-file server.key --ticks 0
    make_token --player 7 >token
    joins 0 with --token-file token
    joins 6 without
    is_told without 'the server lets in only players with a token: get one from its operator'
    joins 6 without-named --game breakout
    is_told without-named 'the server lets in only players with a token'
    damaged_token "$(cat token)" >forged
    joins 6 forged --token-file forged
    is_told forged 'the server does not know this token: get a new one'
    stop server
}

case_what_a_token_says_stands_in_the_log_and_without_keys_nothing_does() {
    make_key
    start_ready server shoal-server --game breakout --listen 127.0.0.1:0 --log a.slog --key-file server.key
    address=$(value listen server.out)
    make_token --player 7 --user red >token
    joins 0 with --token-file token
    stop server
    run dump shoal-replay dump a.slog
    says dump.out '"player_id":7,"user_data":"726564"'
    verifies a.slog server
    opens --log b.slog
    joins 0 without
    stop server
    run dump shoal-replay dump b.slog
    says dump.out '"joins":'
    if grep -q player_id dump.out; then fail "a client names itself"; fi
}

case_a_token_of_another_key_or_of_another_server_is_refused_with_a_reason() {
    make_key
    "$bin/shoal-server" keygen other.key >keygen.out
    opens --log none --key-file server.key --listen public=127.0.0.1:9
    "$bin/shoal-server" token --key-file other.key >other
    joins 6 other --token-file other
    is_told other 'the server does not know this token: get a new one'
    make_token --server 127.0.0.1:10 >elsewhere
    joins 6 elsewhere --token-file elsewhere
    is_ended elsewhere 'the token is for another server: get one for this server'
    make_token --server 127.0.0.1:10 --server 127.0.0.1:9 >here
    joins 0 here --token-file here
    stop server
}

case_a_token_of_an_expired_life_is_refused_with_a_reason() {
    make_key
    opens --log none --key-file server.key
    local -x SHOAL_TOKEN
    SHOAL_TOKEN=$(make_token --life 1) || fail "no token"
    # 1 s of life and 5 s of tolerance.
    sleep 7
    joins 6 late
    is_ended late 'the token has expired: get a new one'
    stop server
}

case_keys_are_rotated_while_the_server_runs() {
    make_key
    make_token --life 600 >old
    opens --log none --key-file server.key
    "$bin/shoal-server" keygen --rotate server.key >keygen.out
    make_token >new
    joins 6 early --token-file new
    reloads 'reloaded: keys=2'
    joins 0 new --token-file new
    joins 0 old --token-file old
    "$bin/shoal-server" keygen --rotate --keep 0 server.key >keygen.out
    reloads 'reloaded: keys=1'
    joins 6 gone --token-file old
    stop server
}

case_a_banned_player_reads_why_and_leaves_at_the_reload() {
    make_key
    : >bans
    opens --log none --key-file server.key --listen bans=bans
    make_token --player 7 >token
    enters guest guest.txt --headless --bots 1 --token-file token
    echo 'player 7 throws bricks' >bans
    reloads 'reloaded: bans=1'
    ended guest
    says guest.err 'throws bricks'
    make_token --player 7 >again
    joins 6 again --token-file again
    says again.err 'throws bricks'
    make_token --player 8 >other
    joins 0 other --token-file other
    stop server
}

case_a_banned_address_gets_no_answer() {
    echo 'address 127.0.0.0/8' >bans
    opens --log none --listen bans=bans
    joins 6 banned
    stop server
}

case_a_fault_in_a_list_of_bans_keeps_the_old_list() {
    echo 'address 203.0.113.0/24' >bans
    opens --log none --listen bans=bans
    echo 'adress 127.0.0.1' >bans
    reloads 'the old bans stay'
    says server.err 'bans:1'
    joins 0 guest
    stop server
}

case_with_keys_a_server_listens_everywhere() {
    local at
    for at in 203.0.113.1:7777 0.0.0.0:0 '[::]:0'; do
        run_to 2 public shoal-server --game breakout --listen "$at" --log none
        says public.err key
    done
    make_key
    listen=0.0.0.0:0 opens --log none --key-file server.key --ticks 3
    ends_with 0 server
}

case_secrets_stand_in_no_output_and_no_command_line() {
    make_key
    opens --log none --key-file server.key --dump-world world.txt --debug trace-session=trace.txt
    make_token --player 7 >token
    joins 0 guest --token-file token --debug trace-session=guest.txt
    stop server
    local secret
    for secret in "$(cut -d' ' -f2 server.key)" "$(cut -c 20-60 token)" "$(cut -c 700-740 token)"; do
        [ ${#secret} -gt 20 ] || fail "no secret to look for"
        if grep -qF -- "$secret" ./*.out ./*.err ./*.txt; then fail "a secret is in an output"; fi
    done
}

case_ipv6_and_ipv4_reach_one_server() {
    if ! has_ipv6; then
        echo "this machine has no IPv6: only IPv4 is played"
        listen=127.0.0.1:0 opens --log none
    else
        listen='127.0.0.1:0,[::1]:0' opens --log none
        local four=${address%%,*}
        address=${address##*,}
        joins 0 six
        address=$four
    fi
    joins 0 four
    stop server
}

# finds LISTEN ADDRESS...: a client finds the server by a name with these addresses.
finds() {
    listen=$1 opens --log none
    shift
    know game.test "$@"
    address=game.test:${address##*:}
    joins 0 name
    stop server
}

case_a_server_is_found_at_any_address_of_a_name() {
    know game.test 127.0.0.1 || { skip "libnss-wrapper is not installed"; return; }
    finds 127.0.0.1:0 127.0.0.1 ::1
    finds 127.0.0.1:0 ::1 127.0.0.1
    # 100::/64 is there to be thrown away (RFC 6666). No more than 8 addresses are tried, of both families.
    finds 127.0.0.1:0 100::1 100::2 100::3 100::4 100::5 100::6 100::7 100::8 127.0.0.1
    has_ipv6 || { skip "this machine has no IPv6: its half is left out"; return; }
    finds '[::1]:0' 127.0.0.1 ::1
    finds '[::1]:0' ::1 127.0.0.1
}

case_a_server_listens_at_the_ipv4_address_of_a_name() {
    know game.test 127.0.0.1 ::1 || { skip "libnss-wrapper is not installed"; return; }
    listen=game.test:0 opens --log none
    [[ $address = 127.0.0.1:* ]] || fail "$address"
    stop server
    know game.test ::1 127.0.0.1
    listen=game.test:0 opens --log none
    [[ $address = 127.0.0.1:* ]] || fail "$address"
    joins 0 four
    address=game.test:${address##*:}
    joins 0 name
    stop server
    run_to 2 nowhere shoal-server --game breakout --listen unknown.test:0 --log none
    says nowhere.err '^error: cannot listen on unknown.test:0: '
    has_ipv6 || { skip "this machine has no IPv6: its half is left out"; return; }
    know game.test ::1
    listen=game.test:0 opens --log none
    [[ $address = '[::1]:'* ]] || fail "$address"
    stop server
}

# A little of each kind of flood; tests/flood/flood.sh prints the table at full speed.
case_players_outlive_every_flood() {
    SHOAL_FLOOD_CHECK=1 "$here/../flood/flood.sh" "$build" 1 >table.out 2>&1 || {
        cat table.out >&2
        fail "a flood ended a player, was amplified, or left memory behind"
    }
}

run_cases "$@"
