// SPDX-License-Identifier: MIT
/// A map of tiles from a text: solid and opaque tiles, the cost of a step; and gates, which open
/// and shut during a match.
///
/// The map itself never changes. What changes is one number, 64 bits of open gates: a component of
/// the game, so it is tracked, replicated, logged and predicted as every other. Each function gets
/// it. Places are on a grid of `step`, the _step of the position's component: all is computed in
/// whole steps, with the same bits on every machine.
///
///     static const ecs_tile_kind kinds[] = {{.glyph = '#', .is_opaque = true},
///                                           {.glyph = '.', .cost = 1},
///                                           {.glyph = 'a', .last = 'f', .is_opaque = true,
///                                            .open = '.'}}; // six doors
///     pos = ecs_tiles_move(tiles, open, pos, ecs_vec2_scale(way, SPEED * stage->dt), RADIUS);
///
/// Limits: ECS_TILES_SIDE_MAX tiles along an axis, ECS_TILE_GATES_MAX gates. Outside of the map
/// all is solid and opaque.
/// Memory: of the world's context. Threads: any, after ecs_tiles_read.
#pragma once

#include "base/math.h"
#include "ecs/value.h"
#include "ecs/world.h"

BASE_C_BEGIN

#define ECS_TILES_SIDE_MAX 1024u
#define ECS_TILE_COST_MAX 16u
#define ECS_TILE_GATES_MAX 64u
#define ECS_TILE_SPAN_MAX 4096 ///< steps of a tile

/// What a character of the text means.
typedef struct ecs_tile_kind {
    char glyph;
    char last;    ///< not 0: all characters from `glyph` to this one
    char open;    ///< not 0: a gate, each character its own; open it is as this other kind
    uint8_t cost; ///< of a step onto it in a flow (ecs/flow.h); 0: solid
    bool is_opaque;
    ecs_color color; ///< of net_draw_tiles; alpha 0: not drawn
} ecs_tile_kind;

/// A character, [0] shut and [1] open.
typedef struct ecs_tile_glyph {
    uint64_t gate; ///< its bit; 0: always as shut
    uint8_t cost[2];
    bool is_opaque[2];
    bool is_known;
    ecs_color color[2];
} ecs_tile_glyph;

/// Only for reading.
typedef struct ecs_tiles {
    float size, step; ///< of a tile; of places
    int32_t span;     ///< steps of a tile
    uint32_t columns, rows;
    const uint8_t* map; ///< a character per tile, row by row
    ecs_tile_glyph glyphs[128];
} ecs_tiles;

/// Read a map. `size` is a multiple of `step`, at most ECS_TILE_SPAN_MAX of them (asserted). Rows
/// of the text that are shorter than others are filled up with the kind of kinds[0].
/// @return NULL; or what is wrong with the text, in `line` of it. Then there is no map: it has no
///         tile.
const char* ecs_tiles_read(ecs_tiles* tiles, ecs_world* world, const ecs_tile_kind* kinds,
                           uint32_t kind_count, float size, float step, const void* text,
                           size_t bytes, uint32_t* line);

/// @return the number of the tile at a place, row by row; UINT32_MAX: outside of the map.
uint32_t ecs_tiles_at(const ecs_tiles* tiles, ecs_vec2 place);
/// @return the middle of a tile.
ecs_vec2 ecs_tiles_middle(const ecs_tiles* tiles, uint32_t tile);
/// Find the next tile of a character: where players begin, where monsters sleep. Begin with 0;
/// `tile` becomes the number after the found one. @return false at the end.
bool ecs_tiles_find(const ecs_tiles* tiles, char glyph, uint32_t* tile, ecs_vec2* middle);
/// @return the bit of the gate at a place; 0: there is none.
uint64_t ecs_tiles_gate(const ecs_tiles* tiles, ecs_vec2 place);

/// @return the cost of a tile as it is now; 0: solid.
static inline uint8_t ecs_tiles_cost(const ecs_tiles* tiles, uint64_t open, uint32_t tile) {
    const ecs_tile_glyph* glyph = &tiles->glyphs[tiles->map[tile]];
    return glyph->cost[(glyph->gate & open) != 0];
}

/// @return the color of a tile as it is now.
static inline ecs_color ecs_tiles_color(const ecs_tiles* tiles, uint64_t open, uint32_t tile) {
    const ecs_tile_glyph* glyph = &tiles->glyphs[tiles->map[tile]];
    return glyph->color[(glyph->gate & open) != 0];
}

/// Move a square of half a side `radius` (rounded up to steps, at least one) until something solid
/// stops one axis, and further along the other. No speed passes through a tile. A square that is
/// within a solid tile, as in a gate that shuts, may leave it.
/// @return the place, on the grid.
ecs_vec2 ecs_tiles_move(const ecs_tiles* tiles, uint64_t open, ecs_vec2 place, ecs_vec2 way,
                        float radius);

/// What ends a line.
typedef enum ecs_tile_stop { ECS_TILE_SOLID, ECS_TILE_OPAQUE } ecs_tile_stop;

/// Follow a line, as of a shot. The tile in which it begins does not stop it. Through the corner
/// of four tiles it goes where one of the two beside it is free.
/// @return the free part of the way, 0 to 1.
float ecs_tiles_reach(const ecs_tiles* tiles, uint64_t open, ecs_vec2 from, ecs_vec2 way,
                      ecs_tile_stop stop);
/// @return whether no opaque tile is on the line between two places. Who stands in one sees out,
///         and is not seen.
bool ecs_tiles_sees(const ecs_tiles* tiles, uint64_t open, ecs_vec2 eye, ecs_vec2 place);

BASE_C_END
