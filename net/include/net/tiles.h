// SPDX-License-Identifier: MIT
/// A map of tiles (ecs/tiles.h): from a file of a game's pack, and drawn. Inline, as net/draw.h.
#pragma once

#include "ecs/tiles.h"
#include "net/game.h"

#include <string.h>

BASE_C_BEGIN

/// Read a map in `start` and `mirror_start`: the file that NAME.blk names. A fault in it, or no
/// such file, refuses the match with the file and its line.
/// @return false: there is no map.
static inline bool net_tiles_read(ecs_tiles* tiles, ecs_world* world, const net_game_start* start,
                                  const char* file, const ecs_tile_kind* kinds, uint32_t count,
                                  float size, float step) {
    const char* wrong = "no line file:t of the game's .blk names this map";
    uint32_t line = 0;
    for (uint32_t i = 0; i < start->file_count; i++)
        if (strcmp(start->files[i].name, file) == 0)
            wrong = ecs_tiles_read(tiles, world, kinds, count, size, step, start->files[i].bytes,
                                   start->files[i].byte_count, &line);
    if (wrong && start->fault) start->fault(start->fault_context, file, line, wrong);
    return wrong == NULL;
}

/// Draw the tiles between two places, of which a camera sees no more; neighbours of one color as
/// one rectangle.
static inline void net_draw_tiles(const net_draw* draw, const ecs_tiles* tiles, uint64_t open,
                                  ecs_vec2 low, ecs_vec2 high) {
    if (tiles->columns == 0) return; // not read
    const float size = tiles->size, columns = (float)tiles->columns, rows = (float)tiles->rows;
    const uint32_t left = (uint32_t)base_clamp(low.x / size, 0.0f, columns);
    const uint32_t right = (uint32_t)base_clamp(high.x / size + 1.0f, 0.0f, columns);
    const uint32_t end = (uint32_t)base_clamp(high.y / size + 1.0f, 0.0f, rows);
    const float seam = 0.5f / draw->pixels_per_unit; // no ground shows between two rows
    for (uint32_t row = (uint32_t)base_clamp(low.y / size, 0.0f, rows); row < end; row++)
        for (uint32_t from = left, to; from < right; from = to) {
            const ecs_color color = ecs_tiles_color(tiles, open, row * tiles->columns + from);
            for (to = from + 1; to < right; to++) {
                const ecs_color next = ecs_tiles_color(tiles, open, row * tiles->columns + to);
                if (memcmp(&next, &color, sizeof color) != 0) break;
            }
            if (color.a > 0)
                draw->rect(draw->context, (float)from * size, (float)row * size,
                           (float)(to - from) * size + seam, size + seam, color);
        }
}

BASE_C_END
