#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fleet.sh FOLDER-OF-PROGRAMS: the files of scripts/package/agones name what the program has: labels, the counter, options,
# ports, times, and each other.
set -euo pipefail
programs=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
files=scripts/package/agones
fleet=$files/fleet.yaml
checks=0
faults=0

# is WHAT VALUE WANTED
is() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] && return 0
    echo "$files: $1 is '$2', not '$3'"
    faults=$((faults + 1))
}
# longer WHAT VALUE THAN
longer() {
    checks=$((checks + 1))
    [ "$2" -gt "$3" ] && return 0
    echo "$files: $1 is $2, not more than $3"
    faults=$((faults + 1))
}
constant() { sed -nE "s/^#define $1 +\"?([^\" ]*[^\" u])u?\"?( .*)?\$/\1/p" server/agones/*.h net/host/keys.h; }
# field FILE KEY: the first value of KEY.
field() { sed -nE "s/^ *(- )?$2: \"?([^\"#]*[^\"# ])\"?( #.*)?\$/\2/p" "$1" | head -n 1; }
option() { sed -nE "s/^ *- --$1=(.*)\$/\1/p" "$fleet"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

while read -r name; do
    is "the name $name" "$(grep -ohF "\"$name" server/agones/watch.h | tr -d '"')" "$name"
done < <(grep -ohE 'shoal\.dev/[a-z-]+' $files/* | sort -u)
is "the counter" "$(sed -nE '/counters:/{n;s/^ *([a-z]+):$/\1/p}' $fleet)" "$(constant SERVER_AGONES_COUNTER)"
is "the capacity" "$(field $fleet capacity)" "$(option max-clients)"
is "the port" "$(field $fleet containerPort)" "$(option listen | sed 's/.*://')"
is "the port of /metrics" "$(sed -nE '/- name: http$/{n;s/.*containerPort: //p}' $fleet)" "$(option http | sed -E 's/.*:([0-9]+),.*/\1/')"
is "the file of its tokens" "$(option http | sed 's/.*token-file=//')" \
    "$(sed -nE '/CREDENTIALS_DIRECTORY$/{n;s/.*value: //p}' $fleet)/$(sed -nE '/- key: tokens/{n;s/.*path: //p}' $fleet)"
is "the folder of its tokens" "$(sed -nE '/- name: credentials$/{n;s/.*mountPath: //p}' $fleet)" "$(dirname "$(option http | sed 's/.*token-file=//')")"
is "the profile of system calls" "$(sed -nE '/seccompProfile:/{n;s/.*type: //p}' $fleet)" RuntimeDefault
# The autoscaler of nodes waits for a pod 600 s at most; "Always" would let it end a match.
[ "$(field $fleet terminationGracePeriodSeconds)" -le 600 ] || is "the eviction" "$(field $fleet safe)" OnUpgrade
is "the game" "$(find games -maxdepth 1 -name "$(option game)" -printf %f)" "$(option game)"
is "the variable of the keys" "$(grep -A1 -E '^ *env:$' $fleet | sed -nE 's/^ *- name: //p')" "$(constant NET_HOST_KEYS_VARIABLE)"
is "the autoscaler's fleet" "$(field $files/autoscaler.yaml fleetName)" "$(field $fleet name)"
is "the allocated fleet" "$(sed -nE 's/.*SHOAL_FLEET:-([a-z]+)\}.*/\1/p' $files/allocate)" "$(field $fleet name)"
is "the Secret's key" "$(field $fleet key)" "$(sed -nE 's/.*--from-file=([a-z]+)( .*)?$/\1/p' $fleet)"
is "the user" "$(field $fleet runAsUser)" "$(sed -nE 's/^USER ([1-9][0-9]*):.*/\1/p' $files/Dockerfile | sort -u)"
is "the folder of the logs" "$(field $fleet mountPath)" "$(sed -n 's/^WORKDIR //p' $files/Dockerfile)"
is "the image" "$(field $fleet image)" "$(sed -nE 's/^#.* -t ([^ ]+) -$/\1/p' $files/Dockerfile)"
is "the commit in the image" "$(sed -nE 's/^# .*--add-virtual-file=([^:]+):.*/\1/p' $files/Dockerfile)" \
    "$(grep -oE '/\.commit\b' net/host/build_id.cmake | head -n 1 | sed 's|.*/||')"
is "the command of its README" "$(sed -nE '/git archive/,/docker build/s/^ +//p' server/agones/README.md)" \
    "$(sed -nE '/git archive/,/docker build/s/^# +//p' $files/Dockerfile)"
is "the stage that stores" "$(sed -nE 's/.*--target ([a-z]+) -t .*/\1/p' $files/Dockerfile)" "$(sed -nE 's/^FROM server AS ([a-z]+)$/\1/p' $files/Dockerfile)"
is "the image that stores" "$(sed -nE 's/.*the image (shoal-server:[^ ,]+),.*/\1/p' $fleet)" "$(sed -nE 's/.*--target storing -t ([^ ]+) .*/\1/p' $files/Dockerfile)"
is "the stage without --target" "$(tail -n 1 $files/Dockerfile)" "FROM server"
is "the program that stores" "$(sed -nE 's/^ *# - --log=on-close=//p' $fleet)" "/usr/$(sed -nE 's|^install\(PROGRAMS .*/upload DESTINATION ([^ ]+) .*|\1/upload|p' scripts/package/install.cmake)"
is "the version" "$(field $fleet image | sed 's/.*://')" "$(sed -nE 's/^project\(shoal VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)"
stored=$(sed -nE 's/^ *COMMANDS_S_MAX = ([0-9]+),.*/\1/p' server/report.c)
longer "terminationGracePeriodSeconds" "$(field $fleet terminationGracePeriodSeconds)" $(($(option drain-s) + stored))
# The root folder is read-only: what is written to has a volume.
grep -q 'mktemp' scripts/package/upload && is "the folder of mktemp" "$(sed -nE 's/^ *mountPath: (\/tmp)$/\1/p' $fleet)" /tmp
longer "periodSeconds in ms" "$(field $fleet periodSeconds)000" "$(constant SERVER_AGONES_HEALTH_MS)"

# The program takes all of them: a match of one tick, anywhere.
checks=$((checks + 1))
mapfile -t arguments < <(sed -nE 's/^ *- (--.*)$/\1/p' $fleet)
# A Secret is a link to a file that the group may read.
echo "reader 0123456789abcdef-reader" >"$work/data" && chmod 0440 "$work/data" && ln -s data "$work/tokens"
arguments=("${arguments[@]/'$(POD_IP)':7780/127.0.0.1:0}")
CREDENTIALS_DIRECTORY=$work "$programs/shoal-server" "${arguments[@]/\/run\/credentials/$work}" --listen=127.0.0.1:0 --log=none --agones=off --ticks=1 >/dev/null 2>&1 ||
    { echo "$fleet: shoal-server does not take ${arguments[*]}"; faults=$((faults + 1)); }
while read -r name; do
    is "an option of token" "$("$programs/shoal-server" token --help=all | grep -oE -m 1 -- "^ *$name" | tr -d ' ')" "$name"
done < <(grep -oE 'shoal-server token .*' $files/allocate | grep -oE -- '--[a-z-]+')
if python3 -c 'import yaml' 2>/dev/null; then
    for file in "$files"/*.yaml; do
        checks=$((checks + 1))
        python3 -c 'import sys, yaml; assert all(part["kind"] for part in yaml.safe_load_all(open(sys.argv[1])))' "$file" ||
            { echo "$file: no YAML"; faults=$((faults + 1)); }
    done
fi
bash -n $files/allocate
[ $checks -gt 20 ] || { echo "fleet: only $checks checks: wrong folder?"; exit 2; }
echo "fleet: $checks checks, $faults faults"
[ $faults = 0 ]
