// SPDX-License-Identifier: MIT
/// What enters a tick, out of the records of a log: the net_tick_inputs that its server had.
#pragma once

#include "log/log_record.h"

/// Memory: grows to the largest tick, then none.
typedef struct net_log_entering {
    net_tick_inputs begin; ///< borrows from the lists and the records' bytes
    const base_allocator* allocator;
    net_tick_leave* leaves;
    net_game_player* joins;
    net_log_item* join_items; ///< their names
    net_tick_event* events;
    net_tick_input* inputs;
    uint32_t leave_capacity, join_capacity, join_item_capacity, event_capacity, input_capacity;
} net_log_entering;

void net_log_entering_init(net_log_entering* entering, const base_allocator* allocator);
void net_log_entering_deinit(net_log_entering* entering);
/// Nothing enters `tick` so far.
void net_log_entering_clear(net_log_entering* entering, ecs_tick tick);
/// Add a BEGIN of the tick; a large one has several. All is checked: the match can take it at its
/// next step.
/// @return NET_OK; NET_ERR_MALFORMED (this match cannot take it); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_entering_add(net_log_entering* entering, net_match* match,
                                              const net_log_record* record);
