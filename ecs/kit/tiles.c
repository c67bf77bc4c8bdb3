// SPDX-License-Identifier: MIT
// Both walks go from edge to edge of tiles. When an axis comes to its next edge is a fraction, way
// done by way to go, and two fractions are compared by their products: no number is rounded.
#include "ecs/tiles.h"

#include "base/assert.h"
#include "ecs/geometry.h"

#include <string.h>

#define PLACE_MAX (1 << 24) // steps: a farther place is as far as this

static void glyph_add(ecs_tiles* tiles, const ecs_tile_kind* kind, const ecs_tile_kind* as,
                      uint32_t* gates) {
    const char last = kind->last ? kind->last : kind->glyph;
    for (char c = kind->glyph; c <= last; c++) {
        ecs_tile_glyph* glyph = &tiles->glyphs[c & 127];
        BASE_ASSERT(c > ' ' && c < 127 && !glyph->is_known);
        BASE_ASSERT(kind->cost <= ECS_TILE_COST_MAX && *gates < ECS_TILE_GATES_MAX + !kind->open);
        *glyph = (ecs_tile_glyph){.is_known = true,
                                  .gate = kind->open ? UINT64_C(1) << (*gates)++ : 0,
                                  .cost = {kind->cost, as->cost},
                                  .is_opaque = {kind->is_opaque, as->is_opaque},
                                  .color = {kind->color, as->color}};
    }
}

static void tiles_add_kinds(ecs_tiles* tiles, const ecs_tile_kind* kinds, uint32_t count) {
    uint32_t gates = 0;
    for (const ecs_tile_kind *kind = kinds, *as; kind < kinds + count; kind++) {
        for (as = kinds; kind->open && as < kinds + count && as->glyph != kind->open;)
            as++;
        BASE_ASSERT(as < kinds + count);
        glyph_add(tiles, kind, kind->open ? as : kind, &gates);
    }
}

// Measure the text, and copy it to `map` unless that is NULL. @return the fault of `line`.
static const char* tiles_walk(ecs_tiles* tiles, const uint8_t* text, size_t bytes, uint8_t* map,
                              uint32_t* line) {
    uint32_t column = 0, row = 0;
    for (size_t i = 0; i < bytes; i++) {
        *line = row + 1;
        if (text[i] == '\n') {
            row++;
            column = 0;
        } else if (text[i] != '\r') {
            if (text[i] >= 128 || !tiles->glyphs[text[i]].is_known)
                return "this line has a character that is no kind of tile";
            if (map) map[row * tiles->columns + column] = text[i];
            if (++column > tiles->columns) tiles->columns = column;
        }
        if (column > ECS_TILES_SIDE_MAX) return "a line has more than 1,024 tiles";
        tiles->rows = row + (column > 0);
        if (tiles->rows > ECS_TILES_SIDE_MAX) return "there are more than 1,024 lines";
    }
    *line = 1;
    return tiles->columns == 0 ? "there are no tiles" : NULL;
}

const char* ecs_tiles_read(ecs_tiles* tiles, ecs_world* world, const ecs_tile_kind* kinds,
                           uint32_t kind_count, float size, float step, const void* text,
                           size_t bytes, uint32_t* line) {
    BASE_ASSERT(tiles && world && kinds && kind_count > 0 && line && step > 0.0f);
    const float span = size / step;
    BASE_ASSERT(span >= 2.0f && span <= (float)ECS_TILE_SPAN_MAX && span == base_floor(span));
    *tiles = (ecs_tiles){.size = size, .step = step, .span = (int32_t)span};
    tiles_add_kinds(tiles, kinds, kind_count);
    const char* wrong = tiles_walk(tiles, text, bytes, NULL, line);
    if (wrong) tiles->columns = tiles->rows = 0;
    if (wrong) return wrong;
    const size_t count = (size_t)tiles->columns * tiles->rows;
    uint8_t* map = ecs_world_context(world, count);
    memset(map, kinds[0].glyph, count);
    (void)tiles_walk(tiles, text, bytes, map, line);
    tiles->map = map;
    return NULL;
}

static int64_t steps_of(const ecs_tiles* tiles, float value) {
    const float steps = base_floor(value / tiles->step + 0.5f);
    if (!(steps > -(float)PLACE_MAX)) return -PLACE_MAX; // NaN too
    return steps < (float)PLACE_MAX ? (int64_t)steps : PLACE_MAX;
}

// Rounded down; `by` is positive.
static int64_t div_floor(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

static bool is_stopped_by(const ecs_tiles* tiles, uint64_t open, int64_t column, int64_t row,
                          ecs_tile_stop stop) {
    if (column < 0 || row < 0 || column >= tiles->columns || row >= tiles->rows) return true;
    const ecs_tile_glyph* glyph = &tiles->glyphs[tiles->map[row * tiles->columns + column]];
    const bool is_open = (glyph->gate & open) != 0;
    return stop == ECS_TILE_SOLID ? glyph->cost[is_open] == 0 : glyph->is_opaque[is_open];
}

uint32_t ecs_tiles_at(const ecs_tiles* tiles, ecs_vec2 place) {
    const int64_t column = div_floor(steps_of(tiles, place.x), tiles->span);
    const int64_t row = div_floor(steps_of(tiles, place.y), tiles->span);
    if (column < 0 || row < 0 || column >= tiles->columns || row >= tiles->rows) return UINT32_MAX;
    return (uint32_t)row * tiles->columns + (uint32_t)column;
}

ecs_vec2 ecs_tiles_middle(const ecs_tiles* tiles, uint32_t tile) {
    const uint32_t half = (uint32_t)tiles->span / 2, span = (uint32_t)tiles->span;
    return (ecs_vec2){(float)(tile % tiles->columns * span + half) * tiles->step,
                      (float)(tile / tiles->columns * span + half) * tiles->step};
}

bool ecs_tiles_find(const ecs_tiles* tiles, char glyph, uint32_t* tile, ecs_vec2* middle) {
    for (; *tile < tiles->columns * tiles->rows; (*tile)++)
        if (tiles->map[*tile] == (uint8_t)glyph) {
            *middle = ecs_tiles_middle(tiles, (*tile)++);
            return true;
        }
    return false;
}

uint64_t ecs_tiles_gate(const ecs_tiles* tiles, ecs_vec2 place) {
    const uint32_t tile = ecs_tiles_at(tiles, place);
    return tile == UINT32_MAX ? 0 : tiles->glyphs[tiles->map[tile]].gate;
}

// One of the two axes of a square that moves.
typedef struct axis {
    int64_t from, way; // steps; way without its sign
    int64_t sign;      // 1 or -1
    int64_t next;      // how far until the front enters the next tile
    int64_t lead;      // the tile that the front is in
} axis;

static axis axis_begin(int64_t from, int64_t to, int64_t radius, int64_t span) {
    const bool is_up = to >= from;
    axis a = {.from = from, .way = is_up ? to - from : from - to, .sign = is_up ? 1 : -1};
    a.lead = div_floor(is_up ? from + radius - 1 : from - radius, span);
    a.next = is_up ? (a.lead + 1) * span - (from + radius) : from - radius - a.lead * span;
    return a;
}

// The tile of the rear when the axis is `gone` / `scale` steps on its way.
static int64_t axis_rear(const axis* a, int64_t gone, int64_t scale, int64_t radius, int64_t span) {
    const int64_t at = a->from * scale + a->sign * gone, half = radius * scale;
    if (a->sign > 0) return div_floor(at - half, span * scale);
    return -div_floor(-(at + half), span * scale) - 1;
}

// Whether the front of an axis, which enters its next tile, meets something solid there: in the
// tiles from the other axis' rear to its lead.
static bool axis_is_blocked(const ecs_tiles* tiles, uint64_t open, const axis* a, int64_t tile,
                            int64_t last, bool is_x) {
    const int64_t sign = tile <= last ? 1 : -1, ahead = a->lead + a->sign;
    for (;; tile += sign) {
        if (is_stopped_by(tiles, open, is_x ? ahead : tile, is_x ? tile : ahead, ECS_TILE_SOLID))
            return true;
        if (tile == last) return false;
    }
}

ecs_vec2 ecs_tiles_move(const ecs_tiles* tiles, uint64_t open, ecs_vec2 place, ecs_vec2 way,
                        float radius) {
    const int64_t span = tiles->span, x = steps_of(tiles, place.x), y = steps_of(tiles, place.y);
    int64_t half = steps_of(tiles, radius);
    half += half < 1 || (float)half * tiles->step < radius;
    axis axes[2] = {axis_begin(x, steps_of(tiles, place.x + way.x), half, span),
                    axis_begin(y, steps_of(tiles, place.y + way.y), half, span)};
    const int64_t whole[2] = {axes[0].way, axes[1].way};
    for (;;) {
        const bool is_x = axes[0].next < axes[0].way, is_y = axes[1].next < axes[1].way;
        if (!is_x && !is_y) break;
        const bool is_first = axes[0].next * whole[1] <= axes[1].next * whole[0];
        const uint32_t which = is_x && (!is_y || is_first) ? 0 : 1;
        axis *a = &axes[which], *other = &axes[1 - which];
        // An axis that was stopped stays where it is, whatever the time.
        int64_t gone = a->next * whole[1 - which];
        if (gone > other->way * whole[which]) gone = other->way * whole[which];
        const int64_t rear = axis_rear(other, gone, whole[which], half, span);
        if (axis_is_blocked(tiles, open, a, rear, other->lead, which == 0)) {
            a->way = a->next;
        } else {
            a->lead += a->sign;
            a->next += span;
        }
    }
    return (ecs_vec2){(float)(axes[0].from + axes[0].sign * axes[0].way) * tiles->step,
                      (float)(axes[1].from + axes[1].sign * axes[1].way) * tiles->step};
}

// Half steps, and every place in the middle of its step: no line begins or ends on an edge.
float ecs_tiles_reach(const ecs_tiles* tiles, uint64_t open, ecs_vec2 from, ecs_vec2 way,
                      ecs_tile_stop stop) {
    const int64_t span = 2 * tiles->span;
    const int64_t x = 2 * steps_of(tiles, from.x) + 1, y = 2 * steps_of(tiles, from.y) + 1;
    axis h = axis_begin(x, 2 * steps_of(tiles, from.x + way.x) + 1, 0, span);
    axis v = axis_begin(y, 2 * steps_of(tiles, from.y + way.y) + 1, 0, span);
    while (h.next < h.way || v.next < v.way) {
        const int64_t order = h.next * v.way - v.next * h.way;
        const bool is_h = h.next < h.way && (v.next >= v.way || order <= 0);
        const bool is_v = v.next < v.way && (h.next >= h.way || order >= 0);
        const float part = is_h ? (float)h.next / (float)h.way : (float)v.next / (float)v.way;
        if (is_h && is_v && is_stopped_by(tiles, open, h.lead + h.sign, v.lead, stop) &&
            is_stopped_by(tiles, open, h.lead, v.lead + v.sign, stop))
            return part;
        if (is_h) h.lead += h.sign;
        if (is_h) h.next += span;
        if (is_v) v.lead += v.sign;
        if (is_v) v.next += span;
        if (is_stopped_by(tiles, open, h.lead, v.lead, stop)) return part;
    }
    return 1.0f;
}

bool ecs_tiles_sees(const ecs_tiles* tiles, uint64_t open, ecs_vec2 eye, ecs_vec2 place) {
    return ecs_tiles_reach(tiles, open, eye, ecs_vec2_sub(place, eye), ECS_TILE_OPAQUE) == 1.0f;
}
