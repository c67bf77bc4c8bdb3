// SPDX-License-Identifier: MIT
/// Private: a row in solo code, shared by solo_row.c and solo_near.c.
#pragma once

#include "proto/solo.h"
#include "row/rotation.h"
#include "row/row_coder.h"

typedef struct solo_row {
    proto_solo_coder* solo;
    row_coder coder;
    uint32_t template_;
    const proto_solo_third* third; // NULL: none that helps
    const proto_solo_near* near;
    proto_solo_near* own;     // NULL: it has no motion, or its template has no neighbours
    uint32_t flags;           // of the components before, newest lowest
    uint32_t active;          // logs of the offs so far
    uint32_t bases;           // 0..7
    uint32_t place, rotation; // components; UINT32_MAX: none
    uint32_t misfit;          // how well the neighbour fits, 0..31
    bool has_along;           // the own motion is expected to be the neighbour's
    int64_t along[PROTO_SOLO_PLACE];
} solo_row;

/// A signed number in 5 bits.
static inline uint64_t solo_row_bucket(int64_t value) {
    uint64_t size = row_magnitude(value);
    if (size == 0) return 0;
    uint32_t log = size == 1 ? 1 : row_log(size);
    if (log > 15) log = 15;
    return value < 0 ? 16 + log : log;
}

/// Find the components that tell how the thing moves: the first one with two or three linear
/// fields that is neither a source nor driven, and the first rotation. Then find the row of this
/// body whose motion before the base explains the own one best.
void proto_solo_find_near(solo_row* r);
/// The rotation of something that turned with the neighbour.
void proto_solo_turn_along(const solo_row* r, proto_rotation_guess* guess);
/// Was the place nearer to where the neighbour's motion leads than to its line?
bool proto_solo_is_along_better(const solo_row* r);
/// Keep the motion of this row for those that follow.
void proto_solo_keep_motion(solo_row* r);
