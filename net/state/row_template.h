// SPDX-License-Identifier: MIT
/// Write rows into a world: what a mirror and a view world have in common. Call outside of stages.
/// Without a world nothing is written, and every function but net_row_world_read succeeds.
#pragma once

#include "state/rows.h"

typedef struct net_row_world {
    const base_allocator* allocator;
    ecs_world* world;   ///< is_mirror; borrowed; NULL: none
    uint32_t index_max; ///< of handles that a row may name
    uint8_t* values;    ///< component values for a creation; grows to its peak
    uint32_t value_capacity;
} net_row_world;

/// Retain the replicated handles that a row names: one without an entity becomes ALLOCATED. Each
/// retained row is released once.
void net_row_world_retain(net_row_world* target, const net_row_template* row_template,
                          const uint64_t* row);
void net_row_world_release(net_row_world* target, const net_row_template* row_template,
                           const uint64_t* row);
/// Create the entity with the template's values and the row's over them.
/// @return NET_OK; NET_ERR_FULL (the world refused).
BASE_MUST_USE net_result net_row_world_create(net_row_world* target, ecs_entity handle,
                                              const net_row_template* row_template,
                                              const uint64_t* row);
/// The same for an entity that exists.
BASE_MUST_USE net_result net_row_world_recreate(net_row_world* target, ecs_entity handle,
                                                const net_row_template* row_template,
                                                const uint64_t* row);
/// Destroy the entity; it may be gone already.
void net_row_world_destroy(net_row_world* target, ecs_entity handle);
/// A bit per component of the layout whose words differ.
uint64_t net_row_changed(const net_row_template* row_template, const uint64_t* old_row,
                         const uint64_t* row);
/// Write the components of a mask of these bits (UINT64_MAX: all).
/// @return false: the entity lacks one of them (or is destroyed).
bool net_row_world_write(net_row_world* target, ecs_entity handle,
                         const net_row_template* row_template, const uint64_t* row,
                         uint64_t components);
/// Quantise a living entity as it is now. @return false: it lacks a component.
bool net_row_world_read(const net_row_world* target, ecs_entity handle,
                        const net_row_template* row_template, uint64_t* row);
