// SPDX-License-Identifier: MIT
/// What clients could see in the last NET_REWIND_MS_MAX: the answers of lag compensation.
///
/// Kept are the replicated components that a template marks ECS_COMPONENT_INTERPOLATED, of
/// replicated entities. A moment is a tick and a fraction of the tick after it. The present is the
/// last finished tick, since nothing newer was ever sent. An entity exists from the tick after
/// whose step it first existed to the tick after whose step it was gone, with its last value in
/// between.
/// Memory: per index a ring that grows to what changes within the reach; nothing in a steady match.
/// Threads: the thread that owns the world.
#pragma once

#include "state/tick_ring.h"
#include "state/rows.h"

#include "net/limits.h"
#include "net/result.h"

#include "proto/layout.h"

#include "base/assert.h"
#include "base/bitset.h"
#include "base/bytes.h"
#include "base/workers.h"

typedef struct net_rewind net_rewind;

/// For a sealed world whose tick rate does not change. Borrows `rows`; `allocator` owns all of it.
BASE_MUST_USE net_rewind* net_rewind_create(const base_allocator* allocator, net_rows* rows,
                                            const ecs_world* world, uint32_t tick_rate_hz);
/// Take a step's changes from the change list, before it is cleared. Ticks rise (asserted). Many
/// changes are shared with the workers (NULL: none); the states are the same for any number.
void net_rewind_step(net_rewind* rewind, const ecs_world* world, ecs_tick tick,
                     base_workers* workers);

/// @return A moment, in ticks * 256, moved into the kept time.
uint64_t net_rewind_clamp(const net_rewind* rewind, uint64_t moment);
/// Get a component's value, interpolated, at a moment, which is moved into the kept time. A
/// fraction outside of 0..1 is its nearest end, NaN is 0. `value` has the type's memory form; only
/// its fields are written.
/// @return false: the entity did not exist then, or the component is not kept.
bool net_rewind_get(const net_rewind* rewind, ecs_tick tick, float fraction, ecs_entity entity,
                    ecs_component_id component, void* value);
/// Append all states, for net_match_save. With workers (NULL: none) the allocator is called by
/// several threads.
void net_rewind_save(net_rewind* rewind, const ecs_world* world, base_bytes* bytes,
                     base_workers* workers);
/// Restore a save; the world is restored already. @return NET_OK; NET_ERR_MALFORMED (damaged
/// bytes): it is empty then.
BASE_MUST_USE net_result net_rewind_restore(net_rewind* rewind, ecs_world* world,
                                            base_reader* reader);
/// Check all rings (asserts). BASE_VALIDATE builds do it in each step.
void net_rewind_validate(const net_rewind* rewind);

/// What the files of the rewind share: rings of states.

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

static inline uint8_t* net_rewind_values(net_rewind_state* state) {
    return (uint8_t*)(state + 1);
}

/// The ring of a handle's index; NULL when there is none.
static inline net_tick_ring* net_rewind_find_ring(const net_rewind* rewind, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index < rewind->ring_capacity ? &rewind->rings[index] : NULL;
}

/// A component's value between two ticks, as clients show it: rounded as for the wire, then
/// interpolated.

/// One component of a row layout, and how it moves.
typedef struct net_rewind_component {
    const proto_layout* layout;
    uint32_t component; ///< its position in the layout
    float teleport;     ///< a longer step per tick is a jump; 0: it never jumps
} net_rewind_component;

/// Write the value at `fraction` (0..1) of the way between two values of neighbouring ticks. `to`
/// NULL, or a jump between them: `from`. All three have the type's memory form; only the fields of
/// `value` are written.
void net_rewind_value(const net_rewind_component* component, const uint8_t* from, const uint8_t* to,
                      float fraction, uint8_t* value);
