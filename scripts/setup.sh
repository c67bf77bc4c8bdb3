# SPDX-License-Identifier: MIT
# Sourced by demo and test: installs what is missing, configures, builds. Idempotent.
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

install_build_packages() {
    install_packages gcc libc6-dev cmake make pkg-config libenet-dev libprotobuf-c-dev \
        protobuf-c-compiler libzstd-dev libxxhash-dev libcmocka-dev \
        libsdl2-dev libstb-dev fonts-dejavu-core
}

# configure_and_build FOLDER [cmake options] [-- TARGET...]: all targets when none is named.
configure_and_build() {
    local folder=$1 options=() targets=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -gt 0 ] && shift
    [ $# -gt 0 ] && targets=(--target "$@")
    say "building in ${folder#"$root"/} (a minute or two the first time)"
    cmake -S "$root" -B "$folder" "${options[@]}" >"$folder.log" 2>&1 ||
        { cat "$folder.log" >&2; return 1; }
    cmake --build "$folder" -j "$jobs" "${targets[@]}" >>"$folder.log" 2>&1 ||
        { tail -n 60 "$folder.log" >&2; return 1; }
}
