#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# circles.sh [--rooms FOLDER] ARCHIVE|OBJECT...: the files of a static library, or of a program, call in one
# direction only.
#
# The linker's view: file A uses file B when A has an undefined symbol that B defines. Calls through
# pointers and inline functions are not seen. Prints each pair of files that is part of a circle,
# with one symbol that makes the tie; exits 1 when there is one.
# With --rooms, FOLDER/ROOM/FILE gives each file its room. The arrows between rooms are printed
# ("user -> used"), and a circle of rooms is a fault as a circle of files is.
set -u
folder=
if [ "${1:-}" = --rooms ]; then
    folder=${2%/}
    shift 2
fi
for file in "$@"; do [ -f "$file" ] || { echo "circles: no file $file"; exit 2; }; done
name=$(basename "$(dirname "$1")")
case "$1" in
*.a) name=$(basename "$1") members=$(ar t "$1") ;;
*) members=$(basename -a "$@") ;;
esac
twice=$(sort <<<"$members" | uniq -d)
[ -z "$twice" ] || { printf 'circles: two files of one name:\n%s\n' "$twice"; exit 1; }

# Lines for awk: "room FILE ROOM" first, then those of nm: "[ARCHIVE:]FILE.o:[ADDRESS] LETTER SYMBOL".
{
    if [ -n "$folder" ]; then
        find "$folder" -mindepth 2 -maxdepth 2 -name '*.c' | while IFS= read -r path; do
            room=$(dirname "$path")
            echo "room ${path##*/} ${room#"$folder"/}"
        done
    fi
    for file in "$@"; do # without its folder, which may have a space
        (cd "$(dirname "$file")" && nm -A -g "${file##*/}")
    done
} | awk -v archive="$name" -v with_rooms="$folder" '
    # Marks in reached[] each node that `start` leads to. to[node] lists nodes, separated by spaces.
    function walk(to, start,    stack, top, node, next_nodes, count, i) {
        split("", reached)
        top = 1
        stack[1] = start
        while (top > 0) {
            node = stack[top--]
            count = split(to[node], next_nodes, " ")
            for (i = 1; i <= count; i++) {
                if (next_nodes[i] in reached) continue
                reached[next_nodes[i]] = 1
                stack[++top] = next_nodes[i]
            }
        }
    }
    # Prints the pairs that are part of a circle; returns their count.
    function circles(to, tie, what,    node, next_nodes, count, i, found) {
        found = 0
        for (node in to) {
            count = split(to[node], next_nodes, " ")
            for (i = 1; i <= count; i++) {
                walk(to, next_nodes[i])
                if (!(node in reached)) continue
                printf "%s: circle of %s: %s -> %s (%s)\n", archive, what, node, next_nodes[i],
                       tie[node, next_nodes[i]]
                found++
            }
        }
        return found
    }
    $1 == "room" && NF == 3 { room[$2] = $3; next }
    NF >= 2 {
        file = $1
        sub(/:[0-9a-f]*$/, "", file)
        sub(/.*[:\/]/, "", file)
        sub(/\.o(bj)?$/, "", file)
        files[file] = 1
        letter = $(NF - 1)
        sub(/.*:/, "", letter)
        if (letter == "U") uses[file, ++use_count[file]] = $NF
        else definer[$NF] = file
    }
    END {
        for (file in files) {
            file_count++
            for (i = 1; i <= use_count[file]; i++) {
                symbol = uses[file, i]
                if (!(symbol in definer) || definer[symbol] == file) continue
                used = definer[symbol]
                if (!((file, used) in tie)) {
                    tie[file, used] = symbol
                    to[file] = to[file] " " used
                }
                from_room = room[file]
                to_room = room[used]
                if (from_room == "" || to_room == "" || from_room == to_room) continue
                if ((from_room, to_room) in room_tie) continue
                room_tie[from_room, to_room] = file ": " symbol
                room_to[from_room] = room_to[from_room] " " to_room
            }
        }
        if (file_count < 2) { print "circles: no files in " archive; exit 2 }
        for (from_room in room_to) {
            count = split(room_to[from_room], names, " ")
            for (i = 1; i <= count; i++) print from_room " -> " names[i] | "sort"
        }
        close("sort")
        found = circles(to, tie, "files")
        if (with_rooms != "") found += circles(room_to, room_tie, "rooms")
        if (found > 0) exit 1
        printf "%s: %d files, no circles\n", archive, file_count
    }'
