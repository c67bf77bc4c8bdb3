// SPDX-License-Identifier: MIT
/// Hashes, save and restore of a whole world.
#pragma once

#include "ecs/world.h"

/// All tracked components at full precision, kept incrementally: the sum, over every tracked
/// component of every entity, of a hash of (entity, component name, canonical bytes) as of the last
/// step's tracking. Order-independent; O(changed) per tick.
uint64_t ecs_world_state_hash(const ecs_world* world);
/// The part of one component. The sum over all components is the state hash.
uint64_t ecs_world_state_hash_of(const ecs_world* world, ecs_component_id component);
/// The same computed from scratch by a full walk (for validation).
uint64_t ecs_world_state_hash_walk(const ecs_world* world);
/// The hash of one tracked value as it enters the state hash.
uint64_t ecs_component_hash(const ecs_world* world, ecs_entity entity, ecs_component_id component);

/// Everything: untracked components, random state, event and command queues, handle allocator,
/// order of rows. O(world). Ids of templates count: worlds that composed templates at run time are
/// compared only when they did so in the same order.
uint64_t ecs_world_hash(const ecs_world* world);

/// Entities that wait for resources are part of both, how far their loading is of neither
/// (loader.h).
///
/// Append the whole state (not the registration) to `bytes`. Outside of stages.
/// @return ECS_OK; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_world_save(const ecs_world* world, base_bytes* bytes);
/// Make `world` what it was at save: the same future under the same inputs, bit for bit. The world
/// must be sealed with the same registration. On failure the world is emptied (safe to use).
/// The change list is cleared.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY; ECS_ERR_FULL.
BASE_MUST_USE ecs_result ecs_world_restore(ecs_world* world, const void* data, size_t size);
/// Make `world` what `from` is, as a save of it and its restore would. Both have the same
/// registration (their tags, and with them their systems, may differ). When both hold the same
/// entities in the same rows, as a copy that was made before mostly does, values are copied and
/// nothing is allocated: a few microseconds and the time to copy them. Else O(world), by way of a
/// save. Outside of stages.
/// @return ECS_OK; as ecs_world_restore: `world` is empty then.
BASE_MUST_USE ecs_result ecs_world_copy(ecs_world* world, const ecs_world* from);
