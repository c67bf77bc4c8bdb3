# SPDX-License-Identifier: MIT
# Sourced by build, demo and test: installs what is missing, configures, builds. Idempotent.
# Expects $root; sets $build. SHOAL_BUILD chooses another build folder.

build=${SHOAL_BUILD:-$root/build}
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "== $*"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else
        say "cannot install packages: run as root, or install sudo" >&2
        return 1
    fi
}

# install_packages PACKAGE...: only what dpkg does not know as installed.
install_packages() {
    local missing=()
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    say "installing ${#missing[@]} packages (about 30 s on a fresh machine): ${missing[*]}"
    as_root apt-get update -q >/dev/null
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -q --no-install-recommends \
        "${missing[@]}" >/dev/null
}

# Where this machine's packages of Debian or Ubuntu come from.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/(debian|ubuntu)/?$' | head -n 1
}

os_release() {
    sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" /etc/os-release
}

# fetch_source FOLDER PACKAGE: unpack FOLDER/PACKAGE from its source package, by apt, checked by its signatures. Some mirrors
# lack the sources of one release, so later ones of Debian are asked too.
fetch_source() {
    local apt=$1 package=$2 releases release
    [ -e "$apt/$package/is_unpacked" ] && return 0
    mkdir -p "$apt/lists/partial" "$apt/$package"
    releases=$(os_release VERSION_CODENAME)
    [ "$(os_release ID)" = ubuntu ] || releases+=" trixie sid"
    local options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists" -o APT::Sandbox::User=root)
    for release in $releases; do
        if ! grep -qs " $release " "$apt/sources.list"; then
            echo "deb-src $(debian_mirror) $release main $([ "$(os_release ID)" != ubuntu ] || echo universe)" >>"$apt/sources.list"
            apt-get "${options[@]}" update >/dev/null
        fi
        (cd "$apt/$package" && apt-get "${options[@]}" source --download-only --tar-only "$package/$release" >/dev/null 2>&1) && break
    done
    (cd "$apt/$package" && tar -xf "$(find . -name "*.orig.tar.*" ! -name "*.asc" | head -n 1)" --strip-components=1 && touch is_unpacked)
}

# install_build_packages [PACKAGE...]: these too
install_build_packages() {
    [ "$(os_release ID)" != ubuntu ] || set -- dpkg-dev "$@" # for the sources of ENet
    install_packages gcc libc6-dev cmake make ninja-build pkg-config libenet-dev libprotobuf-c-dev \
        protobuf-c-compiler python3 libzstd-dev libxxhash-dev libsodium-dev libcmocka-dev \
        libmicrohttpd-dev libjansson-dev libcurl4-openssl-dev libnats-dev libsqlite3-dev libpq-dev libsdl2-dev libsdl2-mixer-dev libstb-dev \
        fonts-dejavu-core libchipmunk-dev liblua5.4-dev libwslay-dev "$@"
}

# configure FOLDER PRESET [cmake options]: PRESET is a file of scripts/presets. A folder that exists keeps its
# generator.
configure() {
    local folder=$1 preset=$2 generator=() sources=()
    shift 2
    # Ubuntu's libenet does not serve (scripts/package/enet.cmake).
    if [ "$(os_release ID)" = ubuntu ]; then
        fetch_source "$build-sources" enet
        sources=(-DSHOAL_ENET_SOURCE="$build-sources/enet")
    fi
    # Its libchipmunk neither, where a processor fuses multiplications and additions (scripts/package/chipmunk.cmake).
    if [ "$(uname -m)" != x86_64 ] && fetch_source "$build-sources" chipmunk; then
        sources+=(-DSHOAL_CHIPMUNK_SOURCE="$build-sources/chipmunk")
    fi
    if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
        generator=(-G Ninja)
    fi
    cmake -C "$root/scripts/presets/$preset.cmake" -S "$root" -B "$folder" "${generator[@]}" "${sources[@]}" "$@" \
        >"$folder.log" 2>&1 || { cat "$folder.log" >&2; return 1; }
}

# build_targets FOLDER [TARGET...]: all targets when none is named.
build_targets() {
    local folder=$1 targets=()
    shift
    [ $# -gt 0 ] && targets=(--target "$@")
    cmake --build "$folder" -j "$jobs" "${targets[@]}" >>"$folder.log" 2>&1 ||
        { tail -n 60 "$folder.log" >&2; return 1; }
}

# configure_and_build FOLDER PRESET [cmake options] [-- TARGET...]
configure_and_build() {
    local folder=$1 preset=$2 options=()
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -gt 0 ] && shift
    say "building in ${folder#"$root"/} (a minute or two the first time)"
    configure "$folder" "$preset" "${options[@]}"
    build_targets "$folder" "$@"
}
