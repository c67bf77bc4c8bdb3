// SPDX-License-Identifier: MIT
/// Private to state: the history, shared by history.c and history_touch.c.
#pragma once

#include "base/bitset.h"
#include "core/pool.h"
#include "state/history.h"

/// An index that the running step must look at.
typedef struct net_history_touch {
    ecs_entity handle;   ///< the living entity of the index, if there is one
    uint64_t components; ///< a bit per component that may have changed; or NET_HISTORY_ALL
} net_history_touch;

#define NET_HISTORY_ALL UINT64_MAX

_Static_assert(PROTO_ROW_COMPONENTS_MAX <= 64, "a bit for each component");

struct net_history {
    const base_allocator* allocator;
    net_pool pool; ///< of rows
    net_rows* rows;
    uint32_t index_max;
    net_history_entity* entities; ///< [index]
    uint32_t capacity;
    base_bitset touched;        ///< indices that the running step must look at
    net_history_touch* touches; ///< [index], of touched ones
    uint32_t touch_capacity;
    uint32_t* order; ///< touched indices, rising
    uint32_t order_capacity;
    uint32_t touched_count;
    uint64_t step_count;
    net_history_event* events;
    uint32_t event_count, event_capacity;
    ecs_tick tick;
    net_history_counters counters;
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    uint64_t scratch2[PROTO_ROW_FIELDS_MAX];
};

/// Put the indices that this step must look at into `order`, with room for as many events: all of
/// the world, or those of its change list. @return false when memory ran out.
BASE_MUST_USE bool net_history_collect(net_history* history, const ecs_world* world,
                                       bool is_everything);
