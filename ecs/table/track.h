// SPDX-License-Identifier: MIT
/// The change list and the incremental state hash.
#pragma once

#include "base/bitset.h"
#include "base/bytes.h"
#include "ecs/change.h"
#include "ecs/detail/fast.h"

typedef struct ecs_entity_list {
    ecs_entity* items;
    uint32_t count;
    uint32_t capacity;
} ecs_entity_list;

/// A bit per component id.
typedef struct ecs_component_set {
    uint64_t words[ECS_COMPONENTS_MAX / 64 + 1];
} ecs_component_set;

static inline bool ecs_component_set_has(const ecs_component_set* set, uint32_t component) {
    return set->words[component / 64] >> (component % 64) & 1;
}

typedef struct ecs_change_list {
    ecs_change* items;
    uint32_t count;
    uint32_t capacity;
} ecs_change_list;

/// What was written past tracking (ecs_inspect_slips): where the look goes on, and the value that
/// is watched.
typedef struct ecs_track_sweep {
    uint32_t archetype, chunk, track, row; ///< archetype in ecs_storage.tracked
    ecs_change watched;                    ///< entity ECS_ENTITY_NONE: none
    uint64_t bytes;                        ///< hash of its value as it was seen last
    const char* system;                    ///< that wrote it; NULL: not known
    bool is_found;
} ecs_track_sweep;

typedef struct ecs_tracker {
    ecs_track_sweep sweep;
    uint64_t* hashes; ///< [component], ECS_COMPONENTS_MAX + 1 of them: sums of value hashes
    ecs_entity_list created;
    ecs_entity_list destroyed;
    ecs_entity_list recreated;
    ecs_change_list changed;
    ecs_component_set watched; ///< components that handlers track; filled by seal
    ecs_change_list noticed;   ///< what the last step found of `watched`, entities just created too
    base_bitset fresh;         ///< by index: entities in created.items[0, fresh_count)
    uint32_t fresh_count;      ///< a step enters the rest before it compares
    base_bytes*
        scratch; ///< of ecs_world_hash; a block of its own since hashing takes a const world
    struct ecs_track_item* items; ///< of the compare on several threads (track.c), and below
    uint32_t item_count, item_capacity;
    struct ecs_track_lane** lanes;
    uint32_t lane_count, lane_capacity;
} ecs_tracker;

/// Make room in the lists for this many more entries. A list that is full grows as well, when one
/// entity is listed.
void ecs_track_reserve(ecs_world* world, uint32_t created, uint32_t destroyed, uint32_t recreated);
/// Hash of one value as part of the state hash.
uint64_t ecs_track_hash(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                        const void* value);
/// Add (or take away) the hashes of all tracked cells of a row.
void ecs_track_count_row(ecs_world* world, const ecs_chunk* chunk, uint32_t row, bool is_added);
/// The same for `count` rows from `row` on.
void ecs_track_count_rows(ecs_world* world, const ecs_chunk* chunk, uint32_t row, uint32_t count,
                          bool is_added);
/// The sum of ecs_track_hash over rows of one tracked column.
uint64_t ecs_track_sum(const ecs_world* world, const ecs_chunk* chunk, uint32_t track, uint32_t row,
                       uint32_t count);
/// Forget lists and hashes (restore).
void ecs_track_reset(ecs_world* world);
/// Forget the lists, not the hashes.
void ecs_track_clear_lists(ecs_world* world);

// Structure calls these; all are O(tracked columns of the row).
/// After all columns of a new row are filled: shadow := value, hash added, listed as created.
void ecs_track_created(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row);
/// Before a row goes away: hash subtracted, listed as destroyed.
void ecs_track_destroying(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk,
                          uint32_t row);
/// After a recreate moved an entity to another row: shadow := value, hash added, listed as
/// recreated. Before, ecs_track_count_row took the old row away.
void ecs_track_arrived(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row);
/// Compare what was opened for writing in a column of a chunk, and drop its marks.
void ecs_track_column(ecs_world* world, ecs_chunk* chunk, uint32_t track);
/// Compare some rows of a column that was walked for writing and whose bytes are all there is to a
/// value (ecs_track_may_cut). Its marks stay until ecs_track_forget.
void ecs_track_rows(ecs_world* world, ecs_chunk* chunk, uint32_t track, uint32_t first,
                    uint32_t count);
bool ecs_track_may_cut(const ecs_chunk* chunk, uint32_t track);
void ecs_track_forget(ecs_chunk* chunk, uint32_t track); ///< drop the marks of a column
/// The first value of a few that is not its shadow and has no mark (ecs_inspect_slips).
ecs_change ecs_track_find_slip(ecs_world* world, uint32_t rows_max);
void ecs_track_watch(ecs_world* world, ecs_change value);
/// Look at the watched value: has this system, or NULL, just written it past its mark?
void ecs_track_look(ecs_world* world, const char* system);
/// Compare everything opened for writing since the last call; fills the change list and `noticed`.
void ecs_track_step(ecs_world* world);
