#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The client's window, without a display: SDL's dummy driver and its software renderer.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# The test uses no display, even when there is one.
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER

view_width=1200 # width of breakout's view
view_height=800

size_of() { "$bin/shoal-pixels" "$1" </dev/null | head -n 1; }

# has_size FILE WIDTHxHEIGHT
has_size() { [ "$(size_of "$1")" = "$2" ] || fail "$1 is $(size_of "$1"), not $2"; }

# bricks WORLD: "x y r g b" of each brick in a world dump; pos is the upper left corner.
bricks() {
    sed -nE 's/^entity=([0-9:]+) template=breakout_brick component=(color|pos) (.*)$/\1 \2 \3/p' "$1" |
        sed -E 's/[a-z]+=//g' | sort -k1,1 -k2,2 |
        awk '$2 == "color" { id = $1; color = $3 " " $4 " " $5 } $2 == "pos" && $1 == id { print $3, $4, color }'
}

# shows_bricks PICTURE WORLD WIDTH HEIGHT: the picture must have the bricks' colours where the world
# has bricks, and not beside them. Bricks are 66 x 24; the spots are away from edges, and from dots
# in the middle.
shows_bricks() {
    local count right
    bricks "$2" >bricks.txt
    count=$(wc -l <bricks.txt)
    [ "$count" -ge 20 ] || fail "only $count bricks in $2"
    awk -v w="$3" -v h="$4" -v vw=$view_width -v vh=$view_height '
        { s = w / vw < h / vh ? w / vw : h / vh; left = int((w - vw * s) / 2); top = int((h - vh * s) / 2)
          print int(left + ($1 + 14) * s), int(top + ($2 + 12) * s), $3, $4, $5 }' bricks.txt >spots.txt
    "$bin/shoal-pixels" "$1" <spots.txt | tail -n +2 >colors.txt
    right=$(awk 'function off(a, b) { return a > b ? a - b : b - a }
        off($1, $4) <= 64 && off($2, $5) <= 64 && off($3, $6) <= 64 { n++ } END { print n + 0 }' colors.txt)
    # The picture shows the past: a ball may have hit one or two bricks meanwhile.
    [ "$right" -ge $((count - 2)) ] || { cat colors.txt; fail "$right of $count bricks have their colour"; }
    # 60 units above the bricks is the dark field.
    awk '$2 == lowest || lowest == "" { lowest = $2; print $1, $2 }' <(sort -n -k2,2 bricks.txt) |
        awk -v w="$3" -v h="$4" -v vw=$view_width -v vh=$view_height '
        { s = w / vw < h / vh ? w / vw : h / vh; left = int((w - vw * s) / 2); top = int((h - vh * s) / 2)
          print int(left + ($1 + 14) * s), int(top + ($2 - 60) * s) }' >above.txt
    "$bin/shoal-pixels" "$1" <above.txt | tail -n +2 |
        awk '$1 + $2 + $3 < 200 { n++ } END { exit n + 2 < NR }' || fail "the field above the bricks is not dark"
}

frames_line='^frames n=[1-9][0-9]* frame_us_p50=[1-9][0-9]* frame_us_p99=[1-9][0-9]*$'

case_a_bot_is_looked_at_without_a_display() {
    serve server --min-clients 1 --log none
    run_to 0 client shoal-client "$address" --render --bots 1 --shot a.png --shot tick=60 --shot every=20 --ticks 120
    says client.out '^client id=1 .* end=left$'
    says client.out "$frames_line"
    # On a busy machine an event may come twice; that is a note.
    grep -qv '^note: dropped' client.err && fail "the client complains"
    has_size a-0001.png 960x540
    has_size a-0002.png 960x540
    # A slow machine shows later ticks than 120, at most one picture for 20 of them.
    local last=$(value tick client.out)
    [ ! -e a.png ] && [ ! -e "$(printf 'a-%04d.png' $((last / 20)))" ] || fail "more pictures than ticks"
    [ ! -e a-0001.png.part ] || fail "a part of the picture is left"
    stop server
}

case_pixels_where_bricks_are_have_the_bricks_colours() {
    local size
    for size in 960x540 400x700; do
        serve server --min-clients 1 --log none --set level=2
        run_to 0 client shoal-client "$address" --render --bots 1 --shot "$size.png" --window size=$size --ticks 90 \
            --dump-world world.txt
        has_size $size.png $size
        shows_bricks $size.png world.txt ${size%x*} ${size#*x}
        stop server
    done
}

case_a_looked_at_world_is_the_servers() {
    serve server --min-clients 3 --ticks 200 --log a.slog
    run_to 0 client shoal-client "$address" --render --bots 3 --window panel --shot a.png --window size=640x360 \
        --net loss=5,delay=20,jitter=10
    ends_with 0 server
    are_equal 3 server client
    has_size a.png 640x360
    verifies a.slog server
}

case_fullscreen_shows_the_game_between_bars() {
    serve server --min-clients 1 --ticks 60 --log none
    run_to 0 client shoal-client "$address" --render --window fullscreen --bots 1 --shot a.png --window size=640x360
    ends_with 0 server
    # The display of the dummy driver. The view of 3:2 leaves bars above and below.
    has_size a.png 1024x768
    [ "$(printf '2 2\n1000 766\n' | "$bin/shoal-pixels" a.png | tail -n +2 | sort -u)" = "6 8 16" ] || fail "no dark bars"
    run_to 2 refused shoal-client 127.0.0.1:1 --window fullscreen
    says refused.err 'fullscreen needs --render or --shot'
}

case_a_human_without_hands_plays_along() {
    serve server --min-clients 1 --ticks 60 --log none
    run_to 0 client shoal-client "$address" --render --name Ada
    ends_with 0 server
    are_equal 1 server client
    says client.err '^note: there is no display, so this window is not shown '
}

case_people_share_a_window() {
    serve server --min-clients 4 --ticks 60 --log none
    mkdir keys
    printf 'left = Left\nright = Nowhere\n' >keys/breakout.keys # a damaged file of keys is no obstacle
    run_to 0 client shoal-client "$address" --render --name Ada --window players=4 --shot a.png --window config-dir=keys
    ends_with 0 server
    are_equal 4 server client
    says client.err 'keys/breakout.keys:2: error: no such key; the keys of the game stay as they were'
    says server.err '"Ada" joined'
    says server.err '"Ada-4" joined'
    has_size a.png 960x540
}

# place_of CLIENT: the left edge of its pad in world.txt.
place_of() {
    awk -v c="client=$1" '$2 == "template=breakout_pad" && $3 == "component=player" && $4 == c { id = $1 }
        $1 == id && $3 == "component=pos" { sub("x=", "", $4); print int($4) }' world.txt
}

# LD_PRELOAD is a list with spaces, so the library is named without the folder of the build.
has_pads() {
    [ -e "$build/test/virtual_pads.so" ] || {
        skip "sanitizers do not go with LD_PRELOAD"
        return 1
    }
    ln -sf "$build/test/virtual_pads.so" .
}

# The second person gets the first game controller: the first one has the keys.
case_each_person_has_a_game_controller() {
    local try
    has_pads || return 0
    for try in 1 2 3 4; do # a person who left a moment sooner is not in the other's last world
        LD_PRELOAD=./virtual_pads.so VIRTUAL_PADS="left right" \
            run_to 0 client shoal-client --game breakout --local --window players=2 --window size=480x270 --ticks 100 --shot a.png \
            --dump-world world.txt
        [ -n "$(place_of 1)" ] && [ -n "$(place_of 2)" ] && break
        echo "again: $try"
    done
    [ "$(place_of 1)" -gt 900 ] && [ "$(place_of 2)" -lt 100 ] ||
        fail "the pads are at $(place_of 1) and $(place_of 2)"
}

# Beside a bot, which stays the second of the match.
case_start_on_a_game_controller_brings_one_more_person() {
    has_pads || return 0
    LD_PRELOAD=./virtual_pads.so VIRTUAL_PADS="start" \
        run_to 0 client shoal-client --game breakout --local --bots 1 --window size=480x270 --ticks 40 --shot a.png
    says client.err 'client 2 "bot-2" joined'
    says client.err 'client 3 "player-2" joined'
    [ "$(grep -c '^client id=' client.out)" = 3 ] || fail "there are not three clients"
}

case_a_tick_that_is_not_reached_gives_no_picture() {
    serve server --min-clients 1 --log none
    run_to 1 client shoal-client "$address" --render --bots 1 --shot a.png --shot tick=100000 --ticks 30
    says client.err 'a.png: .*no picture: tick 100000 was not shown'
    says client.out '^client id=1 .* end=left$'
    [ ! -e a.png ] || fail "there is a picture"
    run_to 1 client shoal-client "$address" --render --bots 1 --shot nowhere/a.png --ticks 30
    says client.err 'nowhere/a.png: .*cannot be written'
    stop server
}

case_a_window_ends_as_a_headless_client_does() {
    serve server --min-clients 1 --max-clients 1 --log none
    enters first first.txt --render --bots 1
    run_to 6 second shoal-client "$address" --game breakout --render --bots 1
    says second.err 'refused: the server is full'
    stop first
    says first.out '^client id=1 .* end=left$'
    stop server
    run_to 6 gone shoal-client 127.0.0.1:1 --render
    says gone.err 'error: 127.0.0.1:1: no server answers'
}

case_a_black_out_is_survived_in_the_window() {
    serve server --min-clients 1 --ticks 540 --log none
    run_to 0 client shoal-client "$address" --render --bots 1 --window panel --shot a.png --shot tick=500 \
        --net outage_at=1500,outage_for=4500
    ends_with 0 server
    says client.err 'connection lost: nothing received for [3-9]\.[0-9] s, trying again'
    says client.err 'back after [4-9]\.[0-9] s as client 1'
    are_equal 1 server client
    has_size a.png 960x540
}

case_the_window_shows_whom_a_spectator_watches() {
    run_to 0 client shoal-client --game breakout --local --bots 2 --spectate --shot a.png --shot tick=60 --ticks 90
    says client.out '^client id=2147483648 .* end=left$'
    has_size a.png 960x540
    # The strip at the lower edge, in its colour, and above it the game.
    [ "$(echo '4 530' | "$bin/shoal-pixels" a.png | tail -n 1)" != "$(echo '4 490' | "$bin/shoal-pixels" a.png |
        tail -n 1)" ] || fail "there is no strip at the lower edge"
}

case_a_list_of_servers_is_asked_and_shown() {
    serve server --log none --max-clients 5 --spectators 2
    start watcher shoal-client "$address" --spectate
    await "spectator" has_said server.err 'spectator 2147483648 "spectator" joined'
    printf '# at home\nLiving room %s\nNo name no-such-host.invalid:1\n' "$address" >list
    run_to 0 list shoal-client --list --servers list
    says list.out "^server name=\"Living room\" address=$address game=breakout players=0 players_max=5 spectators=1 \
spectators_max=2 ping_ms=[0-9]+\.[0-9]\$"
    says list.out '^server name="No name" address=no-such-host.invalid:1 error="no such host"$'
    mkdir -p shoal
    cp list shoal/servers
    XDG_CONFIG_HOME=$PWD run_to 0 picture shoal-client --shot list.png
    has_size list.png 960x540
    sed -n 3p list >shoal/servers
    XDG_CONFIG_HOME=$PWD run_to 6 lonely shoal-client --list
    echo 'no address' >shoal/servers
    XDG_CONFIG_HOME=$PWD run_to 2 wrong shoal-client --render
    says wrong.err 'shoal/servers:1: error: the last word is not an address: write HOST:PORT'
    stop watcher server
}

case_options_that_do_not_fit_are_refused() {
    local options
    while read -r options; do
        # shellcheck disable=SC2086
        run_to 2 refused shoal-client 127.0.0.1:1 --game breakout $options
        [ -s refused.err ] || fail "$options: no word why"
    done <<'OPTIONS'
--headless --render
--headless --shot a.png
--render --shot tick=5
--render --shot a.png --shot every=5
--window players=2
--render --window players=2 --bots 1
--render --window players=2 --spectate
--window config-dir=keys
--render --window players=0
--render --window players=5
--render --window size=960
--render --window size=960x
--render --window size=10x10
--render --window size=9000x500
--render --window size=960x540x2
--render --window fps=2000
--render --window volume=101
--render --window volume=-1
--spectate --replay a.slog
--list
--servers list
OPTIONS
}

# heard [OPTION...]: a bot of arena in a window, heard by SDL's disk driver. Prints the loudest sample.
heard() {
    rm -f heard.raw
    SDL_AUDIODRIVER=disk SDL_DISKAUDIOFILE=heard.raw run_to 0 client shoal-client --game arena --local --bots 4 --render \
        --window size=128x72 --window fps=30 --ticks 150 "$@"
    [ ! -f heard.raw ] || od -An -v -td2 -w2 heard.raw | awk '{ v = $1 < 0 ? -$1 : $1; if (v > top) top = v } END { print top + 0 }'
}

case_events_are_heard_and_a_volume_of_none_is_silent() {
    grep -q '^SHOAL_HAS_SOUND:INTERNAL=TRUE' "$build/CMakeCache.txt" || { echo "built without sounds"; exit 77; }
    local loudest
    loudest=$(heard)
    [ "${loudest:-0}" -gt 500 ] || fail "the loudest sample is '$loudest'"
    loudest=$(heard --window volume=0 --ticks 20)
    [ -z "$loudest" ] || fail "--window volume=0 opens a device"
    SDL_AUDIODRIVER=nothing run_to 0 client shoal-client --game breakout --local --bots 1 --render --window size=128x72 --ticks 20
    says client.err 'no sound: '
}

run_cases "$@"
