// SPDX-License-Identifier: MIT
/// One part of a tick's changes with rows, forms 3 and 4 of "Changes" (proto/LOG.md): read against
/// the rows of the tick before, then applied to them.
///
/// Everything is checked: the bytes come from a file or from shared memory.
/// Memory:  kept from part to part; it grows to the longest one.
/// Threads: one thread at a time.
#pragma once

#include "log/log_delta_format.h"
#include "log/log_rows.h"

typedef struct net_log_piece_item {
    ecs_entity handle;
    net_log_entry entry;
    uint32_t number; ///< of its template
    uint32_t row;    ///< words before it in part->words
} net_log_piece_item;

typedef struct net_log_piece_value {
    uint32_t index, component; ///< of the entity; id
    uint32_t data, size;       ///< offset in part->bytes
} net_log_piece_value;

typedef struct net_log_piece_sum {
    uint16_t component;
    uint8_t sum;
} net_log_piece_sum;

typedef struct net_log_piece {
    const base_allocator* allocator;
    bool is_full;  ///< what was before is of no use; all entities come with this tick
    bool has_rows; ///< false: it has only sums, and the rows are not those of the tick
    bool is_last;
    uint32_t begin, end;       ///< indices of entities that it is about
    net_log_piece_item* items; ///< by rising index
    uint32_t item_count, item_capacity;
    uint32_t* words;
    uint32_t word_count, word_capacity;
    net_log_piece_value* values;
    uint32_t value_count, value_capacity;
    uint8_t* bytes;
    uint32_t byte_count, byte_capacity;
    net_log_piece_sum sums[ECS_COMPONENTS_MAX];
    uint32_t sum_count;
    uint32_t definition_first; ///< number of the first template that is new with it
} net_log_piece;

void net_log_piece_init(net_log_piece* part, const base_allocator* allocator);
void net_log_piece_deinit(net_log_piece* part);
/// Begin to fill a part of a tick: rows and definitions are made ready. `is_full` forgets all rows
/// with the first part of a tick.
void net_log_piece_begin(net_log_piece* part, net_log_rows* rows, ecs_tick tick, bool is_full);
/// Add an entity; its row, which the caller fills, has the words of the template. @return NULL when
/// memory ran out.
uint32_t* net_log_piece_add(net_log_piece* part, ecs_entity handle, net_log_entry entry,
                            uint32_t number, const net_log_template* template_);
/// Add a value. @return where its bytes go; NULL when memory ran out.
uint8_t* net_log_piece_add_value(net_log_piece* part, uint32_t index, uint32_t component,
                                 uint32_t size);
/// A part's definition number `place`: make it unless it is known. @return as
/// net_log_layout_define.
BASE_MUST_USE net_result net_log_piece_define(net_log_piece* part, net_log_rows* rows,
                                              uint32_t place, const void* data, size_t size);

/// Read form 4. @return NET_OK; NET_ERR_DAMAGED (no writer writes this); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_piece_read_raw(net_log_piece* part, net_log_rows* rows,
                                                ecs_tick tick, const void* data, size_t size);
/// Read form 3. @return as net_log_piece_read_raw.
BASE_MUST_USE net_result net_log_piece_read_delta(net_log_piece* part, net_log_rows* rows,
                                                  ecs_tick tick, const void* data, size_t size);
/// Read the sums alone of either form's last part. Form 4 with rows has them behind the rows.
/// @return NET_OK; NET_ERR_UNKNOWN (form 4 with rows, or no last part); NET_ERR_DAMAGED.
BASE_MUST_USE net_result net_log_piece_read_sums(net_log_piece* part, net_log_rows* rows,
                                                 ecs_tick tick, const void* data, size_t size);
/// Apply what was read. @return NET_OK; NET_ERR_DAMAGED (a limit); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_piece_apply(const net_log_piece* part, net_log_rows* rows);
/// Remember which components had sums in this part.
void net_log_piece_keep_sums(const net_log_piece* part, net_log_rows* rows);
