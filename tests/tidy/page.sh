#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# page.sh BUILD: the pages as the server has them (page_files.h) are small: all that a browser loads before a match is drawn by
# its game, all of the inspector's, and all of the one on which one plays.
set -euo pipefail
file=$1/server/inspect/page_files.h
[ -e "$file" ] || { echo "SKIP: this build has no inspector"; exit 77; }

# limit NAME BYTES WITHOUT: the page's files but those that the expression names
limit() {
    local bytes
    bytes=$(grep '^static const uint8_t page_' "$file" | grep -vE "page_($3)\[" | grep -o '0x' | wc -l)
    echo "$1: $bytes of $2 bytes"
    [ "$bytes" -gt 1000 ] && [ "$bytes" -le "$2" ] || { echo "the inspector's page has too many bytes" >&2; exit 1; }
}
limit "page without a game's picture" 135000 'play.*|match_game_js|game_js|paint_js'
limit "all files of the page" 170000 'play.*'
limit "the page to play" 60000 '(app|api|dom|chart|match|match_game|match_map|overview|clients|replication|world|systems|log)_js|app_css|index_html'
