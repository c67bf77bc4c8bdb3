// SPDX-License-Identifier: MIT
/// The rows of a log's entities at one tick, with those of the tick before: what state deltas are
/// coded against. The log's thread has one to code, a reader has one to decode.
///
/// Memory:  grows with the entities; what a damaged log can make it take is limited.
/// Threads: one thread at a time.
#pragma once

#include "log/log_layout.h"

/// Rows and variable-size values of one log; more is refused.
#define NET_LOG_ROWS_BYTES_MAX ((size_t)256 << 20)

typedef struct net_log_blob {
    uint32_t component; ///< id
    uint32_t size;
    uint8_t* data;
    struct net_log_blob* next;
} net_log_blob;

typedef struct net_log_row_entity {
    ecs_entity handle; ///< NONE: no entity there
    uint32_t number;   ///< of its template
    const net_log_template* template_;
    ecs_tick begin_tick, change_tick;
    uint32_t* rows; ///< the newest row, then the one before
    uint32_t allocated_bytes;
    bool is_listed;      ///< its row changed in the tick before
    net_log_blob* blobs; ///< values of variable size
} net_log_row_entity;

typedef struct net_log_rows {
    const base_allocator* allocator;
    net_log_layout* layout;
    net_log_row_entity* entities; ///< by index
    uint32_t capacity, count;
    uint32_t *before, *now; ///< indices whose rows changed in the tick before, and in this one
    uint32_t before_count, before_capacity, now_count, now_capacity;
    bool has_touches;       ///< a reader wants to know what happened; before the first tick
    net_log_touch* touches; ///< of the tick
    uint32_t touch_count, touch_capacity;
    ecs_tick tick;
    uint32_t range_begin; ///< the end of the indices that the tick's parts so far are about
    ecs_tick full_tick;   ///< all rows came with it; 0: none are known
    size_t bytes;
    uint8_t sums[ECS_COMPONENTS_MAX + 1]; ///< low bits, by id of component
    uint16_t sum_ids[ECS_COMPONENTS_MAX]; ///< that came with the tick before
    uint32_t sum_id_count;
    bool is_out_of_memory;
} net_log_rows;

/// Can these words be a row of the template?
bool net_log_template_takes(const net_log_template* template_, const uint32_t* row);

/// `layout` NULL: for sums alone.
void net_log_rows_init(net_log_rows* rows, const base_allocator* allocator, net_log_layout* layout);
void net_log_rows_deinit(net_log_rows* rows);
/// Forget all entities.
void net_log_rows_clear(net_log_rows* rows);
/// Begin the next tick: what was changed is what was changed before.
void net_log_rows_begin(net_log_rows* rows, ecs_tick tick);
/// NULL when there is no entity.
const net_log_row_entity* net_log_rows_find(const net_log_rows* rows, uint32_t index);
/// The rows that a row of this tick is coded against. *base2 is NULL when there is none.
void net_log_rows_bases(const net_log_rows* rows, const net_log_row_entity* entity,
                        const uint32_t** base, const uint32_t** base2);
/// The row of this tick that is expected of an entity; `row` has room for PROTO_ROW_FIELDS_MAX * 2
/// words. @return whether it differs from the entity's row.
bool net_log_rows_expect(const net_log_rows* rows, const net_log_row_entity* entity, uint32_t* row);
/// The places in `before` of the indices from `begin` to below `end`.
void net_log_rows_range(const net_log_rows* rows, uint32_t begin, uint32_t end, uint32_t* first,
                        uint32_t* last);
/// All rows were written with this tick: to its readers all entities changed. @return false: memory
/// ran out, and nothing changed.
BASE_MUST_USE bool net_log_rows_mark_full(net_log_rows* rows, ecs_tick tick);
/// Set the row of an entity that exists, once in a tick.
/// @return false: memory ran out.
BASE_MUST_USE bool net_log_rows_change(net_log_rows* rows, uint32_t index, const uint32_t* row);
/// Put an entity at an index, in place of what is there. @return false: memory ran out, or a limit.
BASE_MUST_USE bool net_log_rows_put(net_log_rows* rows, ecs_entity handle, uint32_t number,
                                    const uint32_t* row);
/// @return false: memory ran out.
BASE_MUST_USE bool net_log_rows_remove(net_log_rows* rows, uint32_t index);
/// Set a variable-size value of an entity that exists and has the component.
/// @return false: memory ran out, or a limit.
BASE_MUST_USE bool net_log_rows_set_blob(net_log_rows* rows, uint32_t index, uint32_t component,
                                         const uint8_t* data, uint32_t size);
