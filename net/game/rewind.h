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

#include "base/bytes.h"
#include "base/workers.h"
#include "net/limits.h"
#include "net/result.h"
#include "state/rows.h"

typedef struct net_rewind net_rewind;

/// For a sealed world whose tick rate does not change. Borrows `rows`.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_rewind_create(const base_allocator* allocator, net_rows* rows,
                                           const ecs_world* world, uint32_t tick_rate_hz,
                                           net_rewind** rewind);
/// NULL does nothing.
void net_rewind_destroy(net_rewind* rewind);
/// Take a step's changes from the change list, before it is cleared. Ticks rise (asserted). Many
/// changes are shared with the workers (NULL: none); the states are the same for any number.
/// @return NET_OK; NET_ERR_MEMORY (states are missing from now on: the match must end, because its
///         replay would have them).
BASE_MUST_USE net_result net_rewind_step(net_rewind* rewind, const ecs_world* world, ecs_tick tick,
                                         base_workers* workers);

/// @return The present: the tick of the last step; 0 before the first.
ecs_tick net_rewind_tick(const net_rewind* rewind);
/// @return A moment, in ticks * 256, moved into what is kept.
uint64_t net_rewind_clamp(const net_rewind* rewind, uint64_t moment);
/// Get a component's value, interpolated, at a moment, which is moved into what is kept. A fraction
/// outside of 0..1 is its nearest end, NaN is 0. `value` has the type's memory form; only its
/// fields are written.
/// @return false: the entity did not exist then, or the component is not kept.
bool net_rewind_get(const net_rewind* rewind, ecs_tick tick, float fraction, ecs_entity entity,
                    ecs_component_id component, void* value);
/// Append all states, for net_match_save. With workers (NULL: none) the allocator is called by
/// several threads.
void net_rewind_save(net_rewind* rewind, const ecs_world* world, base_bytes* bytes,
                     base_workers* workers);
/// Restore a save; the world is restored already. @return NET_OK; NET_ERR_MALFORMED (damaged
/// bytes), NET_ERR_MEMORY: it is empty then.
BASE_MUST_USE net_result net_rewind_restore(net_rewind* rewind, ecs_world* world,
                                            base_reader* reader);
/// Bytes of all rings, for tests.
size_t net_rewind_bytes(const net_rewind* rewind);
/// Check all rings (asserts). BASE_VALIDATE builds do it in each step.
void net_rewind_validate(const net_rewind* rewind);
