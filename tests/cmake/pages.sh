#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each command that a page of an installation shows in a block is run from that installation, in the order of the page, or
# a line says why not. A new command is run without a word here. Servers listen on a free port and end when the next server
# begins or the page ends; who would play for ever leaves after ten ticks.
#
#     pages.sh BUILD COMPILER
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
export CC=$2 CFLAGS='-Wall -Wextra -Werror' PYTHONDONTWRITEBYTECODE=1 HOME=$work
unset DISPLAY WAYLAND_DISPLAY XDG_CONFIG_HOME
cd "$work"
prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >install.out 2>&1 || fail "does not install"
pages=$prefix/share/doc/shoal
path=$PATH
ran=0 left_out=0 address=

# COMMAND: a server in the background; $address gets its address.
serve() {
    stop_server
    : >server.out
    eval "exec env $1" >server.out 2>server.err {silence}<&- &
    pids[server]=$!
    await "ready line" is_ready_or_gone server
    address=$(value listen server.out)
    [ -n "$address" ] || fail "no server: $1"
}

# FILE: lines of blocks that begin with a program, without "$ " and without the column that explains them.
commands() {
    awk '/^```/ { is = !is; next }
        is || /^    / {
            sub(/^    /, ""); sub(/^\$ /, ""); sub(/   *[^ ].*$/, ""); sub(/ &$/, "")
            if ($0 ~ /^([A-Z_]+=[^ ]+ )*(PATH=|B\/|build\/bin\/|client\/python\/|scripts\/[a-z]|\.\/|shoal-|cmake |ctest |python3? |cd |love )/)
                print
        }' "$1"
}

# COMMAND: why it is not run here; nothing when it is.
reason() {
    case $1 in
    scripts/*) echo "builds Shoal, which takes minutes; CI runs it" ;;
    *'cmake --install'*) echo "builds Shoal; this installation was made by its last part" ;;
    love\ *) echo "needs LÖVE and a display; tests/e2e/love.sh plays it" ;;
    */shoal-client' --render') echo "asks a person for a server of a list; window.sh chooses one" ;;
    *play' --phone'*) echo "needs an address of a private network; new.sh plays in one of its own" ;;
    *play' --page'*) echo "needs the code of scripts/web; new.sh plays with it" ;;
    *bin/pilot*) echo "outside.sh builds it against an installation and plays" ;;
    *'keygen FILE; '*) echo "the words of two commands; server/README.md has the lines" ;;
    *kubectl* | ./allocate*) echo "needs a cluster; fleet.sh checks its files" ;;
    *shoal-relay* | *:7778*) echo "goes on until its source ends; relay.sh runs it" ;;
    shoal-host\ * | *:7790/* | *seat.json*) echo "goes on until it is ended; rooms.sh runs it" ;;
    *nats://* | *' A.socket '*) echo "needs a broker; stream.sh, login.sh, standby.sh and relay.sh run it" ;;
    *game.example*) echo "asks for a name that the resolver does not know; session.sh plays with tokens" ;;
    *' 200 '*) echo "200 clients take both cores for half a minute" ;;
    *bot.py*)
        if ! command -v python3 >/dev/null; then echo "there is no Python"; fi
        if grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then echo "Python loads no library with a sanitizer"; fi
        ;;
    esac
}

stop_server() {
    [ -n "${pids[server]:-}" ] || return 0
    kill "${pids[server]}" 2>/dev/null || true
    ends_with 0 server
}

# COMMAND: as it is run here, in $text: where things are, what the words in capitals stand for, an end.
adapt() {
    local log
    log=$(find . -maxdepth 1 -name '*.slog' | head -n 1)
    text=$(sed -E "s#(^|[ ;])(B|build/bin)/#\1$prefix/bin/#g; s#client/python/bot.py#$pages/examples/bot.py#
        s#^PATH=.*#PATH=\"\$PATH:$prefix/bin\"#; s#FILE\.slog#$log#; s#--debug ledger=FILE#--debug ledger=ledger.txt#; s#shoal-replay COMMAND#shoal-replay info#
        s#check FILE\.\.\.#check $prefix/lib/shoal/games/breakout.so#; s#(--stages|--game) GAME#\1 breakout#; s#--ticks [0-9]+#--ticks 10#; s# --shot tick=[0-9]+##" <<<"$1")
    case $text in
    *./play*) text+=' --ticks 10' ;;
    *--replay*) text+=' --at 10 --shot replay.png' ;;
    *shoal-client* | *bot.py' 127'*) [[ $text == *--ticks* ]] || text+=' --ticks 10' ;;
    *shoal-server' --game'*)
        text=$(sed -E 's/--(ticks|min-clients|listen|http) [^ ]+//g' <<<"$text")" --listen 127.0.0.1:0" ;;
    esac
}

# PAGE FOLDER: run its commands there.
page() {
    local command why text number=0
    PATH=$path
    case $1 in */tutorial/README.md | */hop/README.md) ;; *) PATH=$prefix/bin:$path ;; esac # these say it
    pushd "$2" >/dev/null
    [ -r "$1" ] || fail "$1 is missing"
    while IFS= read -r command; do
        number=$((number + 1))
        why=$(reason "$command")
        if [ -n "$why" ]; then
            echo "not run: ${1#"$pages/"}: $command: $why"
            left_out=$((left_out + 1))
            continue
        fi
        adapt "$command"
        ran=$((ran + 1))
        
        case $text in
        PATH=*) eval "$text" ;;
        *shoal-server' --game'*)
            serve "$text"
            ;;
        *)
            # A page that begins with a client means the server of the page before.
            if [[ $text == *127.0.0.1:7777* && -z ${pids[server]:-} ]]; then serve "$prefix/bin/shoal-server --game breakout --listen 127.0.0.1:0 --log none"; fi
            case $text in *--replay* | *shoal-replay* | *bot.py' --log'*) stop_server ;; esac
            (eval "${text//127.0.0.1:7777/$address}") >said.out 2>said.err {silence}<&- || fail "${1#"$pages/"}: $command: ended with $?"
            ;;
        esac
    done < <(commands "$1")
    stop_server
    popd >/dev/null
}

# README.md makes the game "hop", whose own page comes next.
page "$pages/README.md" .
page "$work/hop/README.md" hop
cp -r "$pages/examples/tutorial" tutorial
# shellcheck disable=SC2016
grep -qF 'PATH="$PATH:PREFIX/bin"' "$pages/games/tutorial/README.md" || fail "the tutorial says no line for an installation"
page "$pages/games/tutorial/README.md" tutorial
grep -qF "Shoal_DIR:PATH=$prefix/" tutorial/build/CMakeCache.txt || fail "the tutorial found another Shoal"
for file in $(find "$pages" -name '*.md' ! -path '*/tutorial/*' | sort); do
    [ "$file" = "$pages/README.md" ] || page "$file" .
done
[ "$ran" -ge 30 ] || fail "only $ran commands"
echo "pages: $ran commands run, $left_out left out"
