#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Install a build into an empty folder, build the game in outside/ against that folder alone, play it with
# the installed programs, and compare what server and clients say they hold.
#
#     outside.sh BUILD COMPILER
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
cd "$work"

installed=$work/prefix
cmake --install "$build" --prefix "$installed" >"$work/install.out" 2>&1 || fail "does not install"
# Nothing installed may lead back to where it was built.
root=$(cd "$here/../.." && pwd)
if grep -rlF -e "$root" -e "$build" "$installed/include" "$installed/share" "$installed/lib" \
    --include='*.cmake' --include='*.pc' --include='*.h' --include='*.proto' >"$work/paths.out"; then
    fail "installed files name the build or source folder"
fi
# Nor may modules and programs: a log names a module by its bytes, which are the same in every folder. Sanitizers and
# their debug information name source files on purpose.
if ! grep -q '^SHOAL_SANITIZE:STRING=.' "$build/CMakeCache.txt" && grep -lF -e "$root" -e "$build" "$installed"/lib/shoal/games/*.so "$installed"/bin/* >"$work/paths.out"; then
    fail "installed binaries name the build or source folder"
fi

# What is linked to a library with a sanitizer needs it too.
sanitizers=$(sed -n 's/^SHOAL_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
flags=() sanitize=()
if [ -n "$sanitizers" ]; then
    flags=("-fsanitize=$sanitizers")
    sanitize=("-DCMAKE_C_FLAGS=${flags[*]}" "-DCMAKE_CXX_FLAGS=${flags[*]}")
fi

# Manual pages and completions are there, and have every option.
for program in shoal-server shoal-client shoal-replay shoal-ctl shoal-relay shoal-host; do
    completion=$installed/share/bash-completion/completions/$program
    [ "$program" = shoal-ctl ] && word=paus expected=pause || word=-- expected=--check-options
    # shellcheck disable=SC1090
    source "$completion"
    COMP_WORDS=("$installed/bin/$program" $word) COMP_CWORD=1
    _shoal "$installed/bin/$program"
    [[ " ${COMPREPLY[*]} " = *" $expected "* ]] || fail "the completion of $program lacks $expected"
    for option in $("$installed/bin/$program" --help | grep -oE '(^|[ ,])--[a-z-]+' | tr -d ' ,' | sort -u); do
        [ "$option" = --some-name ] && continue
        zcat "$installed/share/man/man1/$program.1.gz" | tr -d '\\' | grep -e "$option" >/dev/null || fail "the page of $program lacks $option"
    done
done

# The line that the page shows is the one of this game.
line=$(sed -nE 's/.*of its own project `(shoal_game\([^`]*\))`.*/\1/p' "$installed/share/doc/shoal/ecs/ESGEN.md")
[ -n "$line" ] && grep -qxF "$line" "$here/outside/CMakeLists.txt" || fail "ESGEN.md shows another shoal_game() than builds"

# The sources too are out of the tree: no ../ finds anything of ours.
cp -r "$here/outside" "$work/dots"
cmake -S "$work/dots" -B "$work/build" -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" \
    >"$work/configure.out" 2>&1 || fail "does not configure"
cmake --build "$work/build" >"$work/build.out" 2>&1 || fail "does not build"
module=$work/build/games/dots.so

# pkg-config says the same places.
pc=$(find "$installed" -name shoal.pc)
cflags=$(pkg-config --cflags "$pc") || fail "shoal.pc is not readable"
echo '#include <net/game.h>' >"$work/probe.c"
# shellcheck disable=SC2086
"$compiler" -std=c17 $cflags -fsyntax-only "$work/probe.c" || fail "shoal.pc does not find the headers"
games=$(pkg-config --variable=gamesdir "$pc")
[ -f "$games/breakout.so" ] && [ -f "$games/breakout.blk" ] || fail "no breakout in $games"

# Programs elsewhere: a host of modules and a client, each with one target, no flags, no path to run them with.
cp -r "$here/host" "$work/host"
cp "$installed/share/doc/shoal/examples/pilot.cc" "$work/host/"
cmake -S "$work/host" -B "$work/host-build" -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_C_COMPILER="$compiler" "${sanitize[@]}" \
    >"$work/host-configure.out" 2>&1 || fail "the host does not configure"
cmake --build "$work/host-build" >"$work/host-build.out" 2>&1 || fail "the host does not build"
"$work/host-build/host" "$module" 60 >"$work/host-run.out" 2>&1 || fail "the host does not run"
grep -q '^game=dots tick=60 ' "$work/host-run.out" || fail "the host runs no match"
# The same by pkg-config.
# shellcheck disable=SC2046
"$compiler" -std=c17 "${flags[@]}" "$work/host/host.c" -o "$work/host-pc" $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs shoal) ||
    fail "shoal.pc does not link"
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") "$work/host-pc" "$module" 60 | cmp - "$work/host-run.out" ||
    fail "the host of pkg-config runs another match"

# Exactly one symbol, and none of the libraries inside.
symbols=$(nm -D --defined-only "$module" | awk '{ print $3 }')
[ "$symbols" = net_game_module_get ] || fail "the module exports: $symbols"
"$installed/bin/shoal-server" check "$module" >"$work/check.out" 2>&1 || fail "the module is refused"

bin=$installed/bin
# A library inside of the module: a target of its own, an archive that lies elsewhere, and one that is not there.
cp -r "$here/outside" "$work/grid"
cat >"$work/grid/grid.c" <<'EOF'
#include <stdlib.h>
double grid_last[8];
double grid_side(double a, double b, double c);
double grid_side(double a, double b, double c) {
    grid_last[rand() & 7] = c;
    return a * b + c;
}
EOF
cat >>"$work/grid/dots.c" <<'EOF'
double grid_side(double a, double b, double c);
__attribute__((used)) static double side(double a) {
    return grid_side(a, a, a);
}
EOF
library() { # LINES: configure the game with these lines instead of its own
    sed -i '/^add_library(/d; /^shoal_game(/d' "$work/grid/CMakeLists.txt"
    printf '%s\n' "$1" >>"$work/grid/CMakeLists.txt"
    rm -rf "$work/grid-build"
    cmake -S "$work/grid" -B "$work/grid-build" -DCMAKE_PREFIX_PATH="$installed;$work/lib-grid" -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-ffast-math -march=native" >"$work/grid-configure.out" 2>&1
}
holds_library() { # WHAT
    cmake --build "$work/grid-build" >"$work/grid-build.out" 2>&1 || fail "$1 does not build"
    symbols=$(nm -D --defined-only "$work/grid-build/games/dots.so" | awk '!/shoal_source_/ { print $3 }' | sort | xargs)
    [ "$symbols" = "net_game_module_get shoal_library_grid" ] || fail "$1: the module exports: $symbols"
    "$installed/bin/shoal-server" check "$work/grid-build/games/dots.so" >"$work/check.out" 2>&1 || : # -ffast-math is named too
    grep -q 'note: contains library grid, which the play checks: .*rand$' "$work/check.out" ||
        fail "$1: check does not name it"
}
library 'shoal_game(dots dots.c LIBRARY grid)' && fail "a library that is not there is not missed"
tr -s ' \n' ' ' <"$work/grid-configure.out" | grep -q 'no target grid, no libgrid.a and no libgrid.so: install its development package (Debian: libgrid-dev)' ||
    fail "the message of a missing library"
library 'add_library(grid SHARED grid.c)
shoal_game(dots dots.c LIBRARY grid)' && fail "a shared library of the project is taken"
library 'add_library(grid STATIC grid.c)
shoal_game(dots dots.c LIBRARY grid)' || fail "a target as a library does not configure"
holds_library "a target as a library"
objdump -d "$work/grid-build/games/dots.so" | grep -q vfmadd && fail "the library is built with another arithmetic"
mkdir -p "$work/lib-grid/lib"
"$compiler" -O2 -fPIC -c "$work/grid/grid.c" -o "$work/grid.o"
ar rc "$work/lib-grid/lib/libgrid.a" "$work/grid.o"
"$compiler" -shared "$work/grid.o" -o "$work/lib-grid/lib/libgrid.so"
library 'shoal_game(dots dots.c LIBRARY grid)' || fail "an archive as a library does not configure"
holds_library "an archive as a library"
objdump -p "$work/grid-build/games/dots.so" | grep -q 'NEEDED.*libgrid' && fail "the module needs the shared library"

# An archive for programs alone is taken where the game uses nothing that a module cannot have; the shared one is asked for.
printf '#include <stdio.h>\nvoid grid_say(void);\nvoid grid_say(void) { fputs("grid", stderr); }\n' >"$work/say.c"
"$compiler" -O2 -fno-pic -fno-pie -c "$work/say.c" -o "$work/say.o"
ar rc "$work/lib-grid/lib/libgrid.a" "$work/say.o"
library 'shoal_game(dots dots.c LIBRARY grid)' || fail "an archive for programs does not configure"
tr -s ' \n' ' ' <"$work/grid-configure.out" | grep -q 'recompile it with -fPIC, say LIBRARY libgrid.so, or build grid with the game' ||
    fail "the remedy of an archive for programs"
holds_library "an archive for programs"
library 'shoal_game(dots dots.c LIBRARY libgrid.so)' || fail "a shared library does not configure"
cmake --build "$work/grid-build" >"$work/grid-build.out" 2>&1 || fail "a shared library does not build"
objdump -p "$work/grid-build/games/dots.so" | grep -q 'NEEDED.*libgrid' || fail "the module does not need the shared library"
nm -D --defined-only "$work/grid-build/games/dots.so" | grep -q shoal_library && fail "a shared library is no part of the module"
library 'add_library(grid STATIC grid.c)
shoal_game(dots dots.c LIBRARY grid)' || fail "a target as a library does not configure again"

# Files that are no templates: the build copies what the datablock names, without a compiler, and installs it.
packs_files() { # BYTES
    echo "$1" >"$work/grid/rules.lua"
    cmake --build "$work/grid-build" >"$work/grid-build.out" 2>&1 || fail "a game with a file does not build"
    cmp "$work/grid/rules.lua" "$work/grid-build/games/dots/rules.lua" || fail "the file is not beside the game"
}
library 'shoal_game(dots dots.c LIBRARY grid PACK rules.lua)' && fail "a file that is not there is packed"
echo one >"$work/grid/rules.lua"
library 'shoal_game(dots dots.c LIBRARY grid PACK rules.lua)' && fail "a file that nothing names is packed"
tr -s ' \n' ' ' <"$work/grid-configure.out" | grep -q 'add the line file:t="rules.lua" to dots.blk' || fail "the message of a file that nothing names"
echo 'file:t="rules.lua"' >>"$work/grid/dots.blk"
library 'shoal_game(dots dots.c LIBRARY grid)' && fail "a file is named that nothing copies"
tr -s ' \n' ' ' <"$work/grid-configure.out" | grep -q 'dots.blk names rules.lua by file:t, and nothing copies it: add PACK rules.lua to shoal_game(dots ...)' ||
    fail "the message of a file that nothing copies"
library 'shoal_game(dots dots.c LIBRARY grid PACK rules.lua)' || fail "a game with a file does not configure"
packs_files one
packs_files two
grep -q 'C object' "$work/grid-build.out" && fail "a changed file needs a compiler"
"$installed/bin/shoal-server" check "$work/grid/dots.blk" >"$work/check.out" 2>&1 || fail "the datablock beside its file is refused"
cmake --install "$work/grid-build" --prefix "$work/grid-prefix" >"$work/grid-install.out" 2>&1 || fail "a game with a file does not install"
cmp "$work/grid/rules.lua" "$work/grid-prefix/lib/shoal/games/dots/rules.lua" || fail "the file is not installed"

# The C++ client of the installation plays with it.
if [ -x "$work/host-build/pilot" ]; then
    serve breakout --min-clients 1 --ticks 120 --log none
    bin=$work/host-build run pilot pilot "$address"
    [ "$code" = 0 ] || fail "the pilot ended with $code"
    ends_with 0 breakout
    says pilot.out '^client id=1 tick=120 .* end=goodbye$'
fi

# So does the installed bot in Python, which is shown no place of shoal.py, of the library or of the games. Python cannot load
# a library with a sanitizer.
if [ -z "$sanitizers" ] && command -v python3 >/dev/null; then
    serve breakout --min-clients 1 --ticks 120 --log breakout.slog
    examples=$installed/share/doc/shoal/examples
    env -u PYTHONPATH -u SHOAL_LIBRARY PYTHONDONTWRITEBYTECODE=1 python3 "$examples/bot.py" "$address" >bot.out 2>bot.err ||
        fail "the bot in Python does not play"
    ends_with 0 breakout
    says bot.out '^client id=1 tick=120 .* end=goodbye$'
    env -u PYTHONPATH -u SHOAL_LIBRARY PYTHONDONTWRITEBYTECODE=1 python3 "$examples/bot.py" --log breakout.slog >bot.out 2>bot.err ||
        fail "the bot in Python does not read the log"
    says bot.out '^log game=breakout ticks=120 '
fi

# LuaJIT finds the installed library beside the installed shoal.lua, which is where the example for LÖVE looks.
if [ -z "$sanitizers" ] && command -v luajit >/dev/null; then
    lua=$installed/share/doc/shoal/examples/love/../../../../shoal/lua
    env -u SHOAL_LIBRARY LUA_PATH="$lua/?.lua" luajit -e 'print(require("shoal").version())' >lua.out 2>lua.err ||
        fail "the installed shoal.lua does not find its library"
    says lua.out '^[0-9]+[.][0-9]+[.][0-9]+$'
fi

# Without --game: the clients ask the server and find the same module.
export SHOAL_MODULE_PATH=$work/build/games
start server shoal-server --game dots --listen 127.0.0.1:0 --min-clients 3 --ticks 300 --log none
await "ready line" is_ready_or_gone server
run client shoal-client "$(value listen server.out)" --bots 3
[ "$code" = 0 ] || fail "the clients ended with $code"
ends_with 0 server
are_equal 3 server client
says server.out '^done ticks=300 '
echo "outside: 3 clients agree with the server after 300 ticks"
