#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Clients in other languages, against a real server: C++, Python and Lua play; Python reads the log.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Python and LuaJIT cannot load a library that was built with a sanitizer, and CMake may have found no C++ compiler.
has_python() { command -v python3 >/dev/null && ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt"; }
has_lua() { command -v luajit >/dev/null && ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt"; }
has_cxx() { [ -x "$bin/pilot" ]; }

# python NAME [argument...]: the bot, in the background
python() {
    local name=$1
    shift
    : >"$name.out"
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 PYTHONDONTWRITEBYTECODE=1 \
        python3 "$root/client/python/bot.py" "$@" >"$name.out" 2>"$name.err" &
    pids[$name]=$!
}

# lua NAME ADDRESS [NETWORK]: a player in Lua, in the background. It says what the binding gives for right and for wrong names.
lua() {
    : >"$1.out"
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 LUA_PATH=$root/client/lua/?.lua luajit - "${@:2}" >"$1.out" 2>"$1.err" <<'END' &
local shoal = require "shoal"
local client = shoal.Client(arg[1], {name = "Lua", network = arg[2], flags = shoal.BOT + shoal.SHOW})
local function refused(...) print((select(2, pcall(...)))) end
local ticks, frames, heard = 0, 0, {}
for tick in client:play() do
    ticks = ticks + 1
    local pad, bricks = client.player, 0
    if pad then client.input.PadInput = {move = -127, is_launching = tick % 32 == 31} end
    if client:frame() then frames = frames + 1 end
    for event in client:events() do
        heard[event.name] = (heard[event.name] or 0) + 1
        if event.name == "Cheered" then print("cheered " .. event.emote .. " " .. type(event.tick)) end
    end
    if ticks == 60 then client:send("Cheer", {emote = 3}) end
    if ticks == 90 then
        for brick in client.world:entities("hits") do
            bricks = bricks + (brick.template == "breakout_brick" and brick.is_alive and brick.hits >= 1 and 1 or 0)
        end
        print("bricks", bricks > 20, pad:has("pos"), pad:has("isPad"), pad:has("hits"), pad:has("posi"), pad:get("posi"), pad.vel)
        print("pad", pad.pos.x, pad:text("pos"), pad == client.world:entity(pad.handle), client.world:entity(12345678),
            table.concat(client.world:fields("pos"), " "), client.world:components().pos)
        refused(function() client.input.PadInput = {mov = 1} end)
        refused(function() return pad.posi end)
        refused(client.send, client, "Chear")
        refused(client.figure, client, "rtt")
        refused(shoal.Client, arg[1], {report = print})
        print(table.concat(client:messages(shoal.TO_SERVER), " "), client:figure("rtt_ms") >= 0, client:player_name(client.number))
    end
end
print(("client id=%d tick=%d entities=%d game=%s mirror_hash=%s frames=%d cheers=%d end=%s"):format(client.number,
    client.tick, client.world.count, client.game, client.hash, frames, heard.Cheered or 0, client.ending))
local world = client.world
client:close()
print("closed", client.phase, client.text, world.count, world:entity(1))
END
    pids[$1]=$!
}

lua_says_what_it_found() {
    says "$1.out" '^cheered 3 number$'
    says "$1.out" $'^bricks\ttrue\ttrue\ttrue\tfalse\tfalse\tnil\tnil$'
    says "$1.out" $'^pad\t[0-9.]+\t[0-9.]+,756\ttrue\tnil\tx y\tp2$'
    says "$1.out" "^no field 'mov'; there are move, is_launching\$"
    says "$1.out" "^the game has no component 'posi'; it has (.*, )?pos(, .*)?\$"
    says "$1.out" "^the game has no message 'Chear'; it has PadInput, Cheer, "
    says "$1.out" "^no figure 'rtt'\$"
    says "$1.out" 'no report in Lua: client.text is the newest line$'
    says "$1.out" $'^Cheer\ttrue\tLua$'
    says "$1.out" "^client id=[1-9] tick=400 .* frames=[1-9][0-9]+ cheers=$2 end=goodbye\$"
    says "$1.out" $'^closed\t4\t\t0\tnil$'
}

# "pos" in entity: of a value, of a tag, of what the entity or the game does not have; and the page of Python
python_asks_for_components() {
    run arena shoal-server --game arena --listen 127.0.0.1:0 --tick-rate 120 --ticks 2 --log arena.slog
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 PYTHONPATH=$root/client/python PYTHONDONTWRITEBYTECODE=1 \
        python3 - "$root/client/python/README.md" >components.out 2>components.err <<'END' || fail "components"
import re
import sys
import shoal
with shoal.Log("arena.slog") as log:
    world = next(log.replay())
    tank = next(entity for entity in world.entities() if entity.template == "arena_tank")
    print("pos" in tank, "tank" in tank, "flag" in tank, "board" in tank, "posi" in tank, tank.get("posi"))
rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", open(sys.argv[1]).read(), re.M))
for name, row in rows.items():
    missing = {word for word in vars(getattr(shoal, name)) if word[0] != "_"} - set(re.findall(r"\w+", row))
    assert not missing, f"README.md: {name} has no {missing}"
print(*sorted(rows), end=": of each the page has all names\n")
END
    says components.out '^True True False False False None$'
    says components.out '^Client Entity Event Log World: of each the page has all names$'
}

# From breakout to arena by one call, in Python and in Lua: other components, other entities.
case_a_client_in_another_language_goes_on_to_another_match() {
    local here id
    has_python && has_lua || { skip "no python3 or no luajit, or a sanitizer"; return; }
    played=arena serve there --log none
    here=$address
    serve here --log none --control here.sock
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 PYTHONPATH=$root/client/python PYTHONDONTWRITEBYTECODE=1 python3 - "$address" >python.out 2>python.err <<'END' &
import sys
import shoal
client = shoal.Client(sys.argv[1], name="Python", flags=shoal.BOT)
for game in "breakout", "arena":
    ticks = 0
    for tick in client.play():
        ticks += 1
        if ticks == 1:
            print("plays", game, flush=True)
        if game == "arena" and ticks == 30:
            print(client.end, "tank" in client.world.components(), "hits" in client.world.components(), client.player["pos"]["x"] > 0)
            client.leave()
    print(game, client.game, client.end, ticks > 0, flush=True)
    if game == "breakout":
        client.follow()
try:
    client.follow()
except shoal.Error as error:
    print(error)
END
    pids[python]=$!
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 LUA_PATH=$root/client/lua/?.lua luajit - "$address" >lua.out 2>lua.err <<'END' &
local shoal = require "shoal"
local client = shoal.Client(arg[1], {name = "Lua", flags = shoal.BOT})
io.stdout:setvbuf("line")
local has_begun
for _ in client:play() do
    if not has_begun then print("plays breakout") end
    has_begun = true
end
local world = client.world
print(client.game, client.ending)
client:follow()
local ticks = 0
for _ in client:play() do
    ticks = ticks + 1
    if ticks == 30 then client:leave() end
end
print(client.game, client.ending, client.world:components().tank, world.count)
END
    pids[lua]=$!
    for id in 1 2; do await "client $id" has_said here.err "client $id .* joined"; done
    for id in python lua; do await "a tick of $id" has_said $id.out '^plays breakout$'; done
    for id in 1 2; do run_to 0 ctl shoal-ctl --socket here.sock transfer $id "$here"; done
    ends_with 0 python lua
    says python.out '^breakout breakout transferred True$'
    says python.out '^none True False True$'
    says python.out '^arena arena left True$'
    says lua.out $'^breakout\ttransferred$'
    says lua.out $'^arena\tleft\t'
    stop here there
}

# The library is replaced while the game runs, then a template gets another component, then a fault.
case_a_changed_game_is_reloaded() {
    local what=${1:-ball}
    copy_games other
    mkdir -p other/$played
    echo one >other/$played/rules.lua
    sed -i '$a file:t="rules.lua"' other/$played.blk
    start local shoal-client --game "$PWD/other/$played.so" --local --headless --bots 2
    await players has_said local.err 'client 2 "bot-[12]" joined'
    echo >>other/$played.so
    await reload has_said local.err 'reloaded: the match continues with it'
    await players has_said local.err 'client 2 "bot-[12]" is back after'
    change other/$played.blk "s/^$what {/&\"extra:i\"{ _replicate:b=yes; value:i=3 }/"
    await players has_lines local.err ' is back after ' 4
    change other/$played/rules.lua 's/one/two/'
    await players has_lines local.err ' is back after ' 6
    change other/$played.blk "s/^$what {/&{/"
    await refusal has_said local.err 'not reloaded, the match continues as it was: its faults are above'
    kill -INT "${pids[local]}"
    ends_with 0 local
    [ "$(grep -c '^client id=[12] ' local.out)" = 2 ] || fail "not two players at the end"
}

case_a_game_with_physics_is_reloaded() {
    plays_crates || return 0
    case_a_changed_game_is_reloaded crate
}

# One command is a server and its players.
case_a_local_game_needs_no_server() {
    run_to 0 local shoal-client --game breakout --local --headless --bots 3 --ticks 120
    [ "$(grep -c '^client id=' local.out)" = 3 ] || fail "not three players"
    # What two players have at the same tick is equal.
    sed -n 's/.* tick=\([0-9]*\) .* mirror_hash=\([0-9a-f]*\) .*/\1 \2/p' local.out |
        awk '$1 in hash && hash[$1] != $2 { bad = 1 } { hash[$1] = $2 } END { exit bad || NR != 3 }' ||
        fail "the players see different worlds"
    run local shoal-client --local --headless
    [ "$code" = 2 ] && says local.err '^error: --local needs --game NAME$'
    run local shoal-client 127.0.0.1:1 --game breakout --local
    [ "$code" = 2 ] && says local.err 'leave the address out'
}

case_other_languages_see_the_match_of_the_server() {
    local count=0 players=()
    has_cxx && count=$((count + 1))
    has_python && count=$((count + 1))
    has_lua && count=$((count + 1))
    [ $count -gt 0 ] || { echo "skipped: neither C++ nor Python nor LuaJIT"; return 0; }
    serve server --min-clients $count --tick-rate 120 --ticks 400 --log match.slog
    if has_cxx; then
        start cpp pilot "$address" 0 loss=5,delay=30,jitter=10
        players+=(cpp)
    fi
    if has_python; then
        python snake "$address" --net loss=5,delay=30,jitter=10
        players+=(snake)
    fi
    ! has_lua || lua moon "$address" loss=5,delay=30,jitter=10
    for player in "${players[@]}"; do ends_with 0 "$player"; done
    ! has_lua || ends_with 0 moon
    ends_with 0 server
    # shellcheck disable=SC2046
    are_equal $count server "${players[@]}" $(has_lua && echo moon)
    ! has_lua || lua_says_what_it_found moon $count
    for player in "${players[@]}"; do
        # It sent one of the Cheers, heard all, and had pictures to show.
        says $player.out "^client id=[1-9] tick=400 entities=[0-9]+ game=breakout .* frames=[1-9][0-9]+ events=(.*,)?Cheered:$count(,.*)? end=goodbye"
    done
    if has_python; then
        python reader --log match.slog
        ends_with 0 reader
        python_asks_for_components
        says reader.out "^log game=breakout ticks=400 records=[0-9]+ joins=$count balls_max=[1-9] state_hash=$(value state_hash <(grep '^done' server.out))\$"
    fi
}

case_other_languages_find_a_server_at_any_address_of_a_name() {
    know game.test 127.0.0.1 || { skip "libnss-wrapper is not installed"; return; }
    local players=() order
    has_cxx && players+=(cpp)
    has_python && players+=(snake)
    [ ${#players[@]} -gt 0 ] || { skip "neither C++ nor Python"; return; }
    for order in "127.0.0.1 ::1" "::1 127.0.0.1"; do
        serve server --min-clients ${#players[@]} --ticks 30 --log none
        know game.test $order
        ! has_cxx || start cpp pilot "game.test:${address##*:}" 0
        ! has_python || python snake "game.test:${address##*:}"
        for player in "${players[@]}"; do ends_with 0 "$player"; done
        ends_with 0 server
        are_equal ${#players[@]} server "${players[@]}"
    done
}

case_other_languages_say_why_they_cannot_play() {
    if has_cxx; then
        run_to 6 cpp pilot 127.0.0.1:9
        says cpp.err '^pilot: 127.0.0.1:9: no server answers'
    fi
    if has_lua; then
        lua dark 127.0.0.1:9
        ends_with 1 dark
        says dark.err '127.0.0.1:9: no server answers'
    fi
    has_python || return 0
    python lonely 127.0.0.1:9
    ends_with 1 lonely
    says lonely.err '^bot.py: 127.0.0.1:9: no server answers'
    python missing --log none.slog
    ended missing
    says missing.err 'shoal.Error: none.slog: '
    SHOAL_LIBRARY=$build/lib/libshoal_client.so.1 PYTHONPATH=$root/client/python PYTHONDONTWRITEBYTECODE=1 \
        python3 - >names.out 2>names.err <<'END' || fail "names"
import shoal
with shoal.Client("127.0.0.1:9", game="breakout") as client:
    for wrong in (lambda: client.input.__setitem__("PadInput", {"mov": 1}), lambda: client.send("Chear", emote=1),
                  lambda: list(client.world.entities("posi")), lambda: client.figure("rtt")):
        try:
            wrong()
        except KeyError as error:
            print(error.args[0])
    print(client.messages(shoal.TO_SERVER), client.world.fields("pos"), client.world.components()["pos"])
with shoal.Client("127.0.0.1:9", game="brakeout") as client:
    print(client.service(0) == shoal.ENDED, client.end, client.text)
END
    says names.out "^no field 'mov'; there are move, is_launching\$"
    says names.out "^the game has no message 'Chear'; it has PadInput, Cheer, "
    says names.out "^the game has no component 'posi'; it has (.*, )?pos(, .*)?\$"
    says names.out "^no figure 'rtt'\$"
    says names.out "^\['Cheer'\] \['x', 'y'\] p2\$"
    says names.out "^True failed .*brakeout.*breakout"
}

run_cases "$@"
