#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# units.sh BUILD: what systemd says of the units that a package installs: they are sound, and a server that is broken
# into can do little. Exit code 77: this machine's systemd-analyze is missing or too old.
set -euo pipefail
build=$1
exposure_max=2.0
systemd-analyze security --help 2>/dev/null | grep -q -- --offline || {
    echo "SKIP: systemd-analyze has no security --offline (it is in package systemd, since version 250)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
for unit in shoal shoal@ shoal-standby@ shoal-relay@; do
    # The program is not installed here: another one stands for it.
    sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$build/package/$unit.service" >"$work/$unit.service"
    grep -q '^ExecStart=/bin/true --config /' "$work/$unit.service" || { echo "$unit: no ExecStart"; faults=1; }
    # A match that ended begins no other one of its kind; what no second try mends is not tried again.
    case $unit in shoal | shoal@) restart=always ;; *) restart=on-failure ;; esac
    for line in Restart=$restart 'RestartPreventExitStatus=2 3 4 5'; do
        grep -qx "$line" "$work/$unit.service" || { echo "$unit: no $line"; faults=1; }
    done
    said=$(systemd-analyze verify --man=no "$work/$unit.service" 2>&1) || faults=1
    [ -z "$said" ] || { echo "$unit: $said"; faults=1; }
    exposure=$(LC_ALL=C systemd-analyze security --offline=true "$work/$unit.service" |
        sed -nE 's/.*Overall exposure level for .*: ([0-9.]+) .*/\1/p')
    echo "units: $unit exposure=$exposure"
    awk -v is="${exposure:-11}" -v max=$exposure_max 'BEGIN { exit !(is <= max) }' || { echo "$unit: above $exposure_max"; faults=1; }
done
exit $faults
