// SPDX-License-Identifier: MIT
/// A tracked column: its values beside their shadows, as bytes (track_cells.c).
#pragma once

#include "ecs/type.h"

/// One tracked column of one chunk.
typedef struct ecs_track_cells {
    const ecs_type* type;
    ecs_component_id component;
    uint64_t name_hash;
    const ecs_entity* entities;
    uint8_t* values;
    uint8_t* shadows;
    size_t size;
    // What ecs_track_learn fills in.
    uint64_t float_bits; ///< the exponents of two floats in `is_flat` values, 0 where are none
    bool is_dense;       ///< its bytes are all there is to a value
    bool is_flat;        ///< and lie as they are hashed, at most 16 of them
    bool is_behind;      ///< memory ran out for a shadow: its row must be compared again
} ecs_track_cells;

#define ECS_TRACK_ROWS_GATHERED 32u
#define ECS_TRACK_ROWS_MAX (ECS_TRACK_ROWS_GATHERED + 64u) ///< a word of marks may come on top

/// Find out what the bytes of the type tell.
void ecs_track_learn(ecs_track_cells* column);
// With a dense type.
/// The first block of `block` bytes from `at` on that differs from the shadows; `end` when none
/// does.
size_t ecs_track_find_difference(const ecs_track_cells* column, size_t at, size_t end,
                                 size_t block);
/// The rows of [first, end), or of a list, whose bytes differ from their shadows. @return how many.
uint32_t ecs_track_find_rows(const ecs_track_cells* column, uint32_t first, uint32_t end,
                             uint32_t* rows);
uint32_t ecs_track_find_among(const ecs_track_cells* column, const uint32_t* rows, uint32_t count,
                              uint32_t* changed);
/// The rows whose value and shadow are hashed by the bytes that they have in memory. @return how
/// many.
uint32_t ecs_track_find_flat(const ecs_track_cells* column, const uint32_t* rows, uint32_t count,
                             uint32_t* flat);
/// Copy values to their shadows.
void ecs_track_update_shadows(const ecs_track_cells* column, const uint32_t* rows, uint32_t count);
