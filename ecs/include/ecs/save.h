// SPDX-License-Identifier: MIT
/// Hashes, save and restore of a whole world.
#pragma once

#include "base/report.h"
#include "ecs/world.h"

BASE_C_BEGIN

/// The state hash: all tracked components at full precision, as of the last step's tracking. It is
/// the sum, over every tracked component of every entity, of a hash of (entity, component name,
/// canonical bytes), so the order of rows does not matter. Kept up to date by tracking: reading it
/// is O(1).
uint64_t ecs_world_state_hash(const ecs_world* world);
/// The part of one component in the state hash. The sum over all components is the state hash.
uint64_t ecs_world_state_hash_of(const ecs_world* world, ecs_component_id component);
/// The state hash computed again by a full walk, for validation.
uint64_t ecs_world_state_hash_walk(const ecs_world* world);

/// What is not tracked, in sums that are cheap enough for each tick: `sums` (room for
/// ECS_COMPONENTS_MAX + 1, by component id) get the sum of the hashes of the values of
/// each component that are not tracked and as they are now. Types that own memory and have no hash
/// of their own are left out. A world with more than `values_max` such values is looked at in
/// turns of eight ticks: its entities by their indices, as many as have about that many values.
void ecs_world_untracked_sums(const ecs_world* world, ecs_tick tick, uint32_t values_max,
                              uint64_t* sums);

/// The world hash: the whole state, with untracked components, random state, queues of events and
/// commands, free indices, order of rows, and entities that wait for resources (not the progress of
/// the loader). O(world). Template ids are part of it: worlds that composed templates at run time
/// compare equal only when they did so in the same order.
uint64_t ecs_world_hash(const ecs_world* world);

/// Append the whole state, but not the registration, to `bytes`: what ecs_world_hash covers.
/// Outside of stages.
void ecs_world_save(const ecs_world* world, base_bytes* bytes);
/// Restore a save: with the same inputs the world will have the same future, bit for bit. The world
/// must be sealed with the same registration. The bytes may be foreign. The change list is cleared,
/// and no events are sent.
/// @return ECS_OK; on failure the world is empty and usable:
///         ECS_ERR_MALFORMED (damaged, or from another registration: refuse the bytes);
///         ECS_ERR_FULL (beyond a limit of this world).
BASE_MUST_USE ecs_result ecs_world_restore(ecs_world* world, const void* data, size_t size);
/// Make `world` equal to `from`, as saving and restoring would. Both have the same registration;
/// their tags, and with them their systems, may differ. When both have the same entities in the
/// same rows, as an earlier copy mostly has, only values are copied and nothing is allocated.
/// Otherwise it is O(world), by way of a save. Outside of stages.
/// @return ECS_OK; on failure the world is empty and usable: ECS_ERR_MALFORMED (another
///         registration); ECS_ERR_FULL (beyond a limit of this world).
BASE_MUST_USE ecs_result ecs_world_copy(ecs_world* world, const ecs_world* from);
/// Is an entity in an area? The world is only for reading.
typedef bool (*ecs_area_fn)(const ecs_world* world, void* context, ecs_entity entity);
/// Make `world` an area of `from`: of the replicated entities those for which `is_inside` returns
/// true, with their values, handles and templates, and no other entity. Tick and random state come
/// too, and the waiting events of entities in the area. Both are mirrors of one registration
/// (asserted). An entity that was there before stays in its row: the price is a question for each
/// entity of `from`, and a copy for each in the area. Creations and destructions send their events,
/// which ecs_world_copy does not. Outside of stages.
/// @return ECS_OK; ECS_ERR_FULL: it is not whole, copy again.
BASE_MUST_USE ecs_result ecs_world_copy_area(ecs_world* world, const ecs_world* from,
                                             ecs_area_fn is_inside, void* context);
/// Make `world` what `from` is, where their registrations may differ: templates, components, fields
/// of plain data and events are found by name. Between ticks, outside of stages.
/// - Entities, free indices, tick and random state are those of `from`.
/// - A value that equals the old default becomes the new one; one that was written stays. What is
///   new, or has another type, begins with its default.
/// - Systems with members get all of them as new ones. Events that wait stay where they mean the
///   same.
/// With the same registration it is ecs_world_copy.
/// @return ECS_OK; on failure `world` is empty and usable: ECS_ERR_TYPE (entities live of a
///         template that is gone, or is replicated and was not, or was and is not; reported);
///         ECS_ERR_FULL
///         (commands wait, or entities wait for resources: reported, try again later; or beyond a
///         limit of this world); ECS_ERR_MALFORMED (other limits of indices, or a type does not
///         read what the old one wrote).
BASE_MUST_USE ecs_result ecs_world_take_over(ecs_world* world, const ecs_world* from,
                                             const base_reporter* reporter);

BASE_C_END
