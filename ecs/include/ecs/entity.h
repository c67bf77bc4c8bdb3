// SPDX-License-Identifier: MIT
/// Handles of entities. This header stands alone: code that stores handles needs nothing else.
///
/// Shape:  22 bits index, 10 bits generation; 0 is none. The handle of a living entity never has
///         generation 0. An index with generation 0 is a placeholder, which only command.h gives
///         out.
/// Limits: At most 2^22 - 1 entities in a world. Generations run 1..1023 and wrap. A world reuses
///         an index only while at least ECS_FREE_INDICES_MIN are free, so a handle comes again
///         after 1,023 times as many destructions (1.05 million) at the earliest. Within a block of
///         4,096 indices, those never used come first. Before a world begins the next block, it
///         reuses freed ones in rising order, again and again, while enough are free.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// A handle: which index, and which incarnation (generation) of it.
typedef uint32_t ecs_entity;

#define ECS_ENTITY_NONE 0u
#define ECS_INDEX_BITS 22u
#define ECS_GENERATION_BITS 10u
#define ECS_INDEX_MAX ((1u << ECS_INDEX_BITS) - 1u)
#define ECS_GENERATION_MAX ((1u << ECS_GENERATION_BITS) - 1u)
#define ECS_FREE_INDICES_MIN 1024u

/// The parts of a handle, and a handle from its parts. Any 32 bits are accepted.
static inline uint32_t ecs_entity_index(ecs_entity entity) {
    return entity & ECS_INDEX_MAX;
}
static inline uint32_t ecs_entity_generation(ecs_entity entity) {
    return entity >> ECS_INDEX_BITS;
}
static inline ecs_entity ecs_entity_make(uint32_t index, uint32_t generation) {
    return (generation << ECS_INDEX_BITS) | index;
}
/// Is it a placeholder of a recorded creation (ecs_command_create)?
static inline bool ecs_entity_is_placeholder(ecs_entity entity) {
    return entity != ECS_ENTITY_NONE && ecs_entity_generation(entity) == 0;
}

/// The four states of a handle. A transition that is not allowed is refused and counted
/// (ecs_counters.bad_transitions).
typedef enum ecs_entity_state {
    ECS_STATE_NONE,      ///< does not exist: never created, or destroyed and not referred to
    ECS_STATE_ALLOCATED, ///< referred to (ecs_handle_retain), not created yet or destroyed already
    ECS_STATE_LOADING,   ///< its creation waits for resources or for the end of the stage
    ECS_STATE_CREATED,   ///< alive: components can be read
} ecs_entity_state;

BASE_C_END
