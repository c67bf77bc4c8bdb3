// SPDX-License-Identifier: MIT
/// What the files of the rewind share: rings of states.
#pragma once

#include "base/assert.h"
#include "base/bitset.h"
#include "core/pool.h"
#include "game/rewind.h"
#include "state/tick_ring.h"

#define NET_REWIND_STATES_MAX 128u      ///< of one index
#define NET_REWIND_PARTS 16u            ///< of a save; workers take them one by one
#define NET_REWIND_VALUE_ALIGN 8u       ///< of the values of a state
#define NET_REWIND_MOMENTS 256u         ///< of a tick
#define NET_REWIND_FORM_UNSEEN 0u       ///< of form_of
#define NET_REWIND_FORM_NONE UINT32_MAX ///< nothing of it is kept; of a state: the index was empty

// The state at the oldest moment, the state before it, and one per tick since.
_Static_assert(NET_REWIND_MS_MAX* NET_TICK_RATE_HZ_MAX / 1000 + 2 <= NET_REWIND_STATES_MAX,
               "a ring must not push out a state within reach");

typedef struct net_rewind_kept {
    ecs_component_id id;
    uint32_t offset, size;  ///< of its memory within the values of a state
    uint32_t row_component; ///< position in the row's layout
    float teleport;         ///< 0: it never jumps
} net_rewind_kept;

typedef struct net_rewind_form {
    const net_row_template* entry;
    uint32_t kept_first, kept_count;
    uint32_t value_bytes;
} net_rewind_form;

/// An entry of a ring; its values follow.
typedef struct net_rewind_state {
    ecs_entity handle; ///< NONE: the index was empty
    uint32_t form;
} net_rewind_state;

struct net_rewind {
    const base_allocator* allocator;
    net_pool pool; ///< of rings
    net_rows* rows;
    uint32_t index_max;
    uint64_t reach; ///< in moments
    ecs_tick tick;  ///< of the last step
    bool has_stepped;
    bool is_lacking;                      ///< memory ran out: states are missing
    bool is_kept[ECS_COMPONENTS_MAX + 1]; ///< by component: some form has it
    net_rewind_kept* kept;
    uint32_t kept_count, kept_capacity;
    net_rewind_form* forms;
    uint32_t form_count, form_capacity;
    uint32_t* form_of; ///< by template id: position + 1, or a mark of above
    uint32_t form_of_capacity;
    net_tick_ring* rings; ///< by index
    uint32_t ring_capacity;
    base_bitset moved;                  ///< indices that the running step has still to look at
    base_bytes parts[NET_REWIND_PARTS]; ///< of a save that is shared
    uint32_t sweep_next; ///< where the sweep goes on; not saved, because it changes no answer
};

static inline net_rewind_state* net_rewind_state_at(const net_tick_ring* ring, uint32_t position) {
    return net_tick_ring_entry(ring, position);
}

static inline net_rewind_state* net_rewind_newest(const net_tick_ring* ring) {
    return ring->count > 0 ? net_rewind_state_at(ring, ring->count - 1u) : NULL;
}

static inline ecs_tick net_rewind_newest_tick(const net_tick_ring* ring) {
    return net_tick_ring_tick(ring, ring->count - 1u);
}

static inline uint8_t* net_rewind_values(net_rewind_state* state) {
    return (uint8_t*)(state + 1);
}

/// Nothing within reach asks for a state of this ring: the index is empty and was so all the time.
bool net_rewind_is_past(const net_rewind* rewind, const net_tick_ring* ring);
/// @return Position of a template's form; NET_REWIND_FORM_NONE when nothing of it is kept, and
///         when memory ran out.
uint32_t net_rewind_find_form(net_rewind* rewind, const ecs_world* world, ecs_template_id id);
/// The ring of a handle's index; NULL when there is none.
static inline net_tick_ring* net_rewind_find_ring(const net_rewind* rewind, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index < rewind->ring_capacity ? &rewind->rings[index] : NULL;
}
/// Make room for the ring of an index. @return false when memory ran out.
BASE_MUST_USE bool net_rewind_reserve_ring(net_rewind* rewind, uint32_t index);
/// Get the state of tick rewind->tick to write it; a state that the tick has already is replaced.
/// The values are not filled in. @return NULL when memory ran out.
net_rewind_state* net_rewind_put(net_rewind* rewind, net_tick_ring* ring, ecs_entity handle,
                                 uint32_t form);
/// Drop all states.
void net_rewind_clear(net_rewind* rewind);
