// SPDX-License-Identifier: MIT
/// Handles. This header stands alone: whoever stores handles needs nothing else.
///
/// Shape: 22 bits index, 10 bits generation. 0 is none. A living handle never has generation 0;
///        index != 0 with generation 0 is a placeholder that only command.h hands out.
/// Limits: at most 2^22 - 1 entities in a world; generations run 1..1023 and wrap, and an index is
///        reused only after ECS_FREE_INDICES_MIN are free, so that a stale handle stays stale long.
///        Never-used indices go first within a block of 4,096; before the next block is begun freed ones
///        are taken as long as so many are free, in rising order, round and round.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t ecs_entity;

#define ECS_ENTITY_NONE 0u
#define ECS_INDEX_BITS 22u
#define ECS_GENERATION_BITS 10u
#define ECS_INDEX_MAX ((1u << ECS_INDEX_BITS) - 1u)
#define ECS_GENERATION_MAX ((1u << ECS_GENERATION_BITS) - 1u)
#define ECS_FREE_INDICES_MIN 1024u

static inline uint32_t ecs_entity_index(ecs_entity entity) {
    return entity & ECS_INDEX_MAX;
}
static inline uint32_t ecs_entity_generation(ecs_entity entity) {
    return entity >> ECS_INDEX_BITS;
}
static inline ecs_entity ecs_entity_make(uint32_t index, uint32_t generation) {
    return (generation << ECS_INDEX_BITS) | index;
}
static inline bool ecs_entity_is_placeholder(ecs_entity entity) {
    return entity != ECS_ENTITY_NONE && ecs_entity_generation(entity) == 0;
}

/// The four lives of a handle. Every other transition is counted (ecs_counters.bad_transitions).
typedef enum ecs_entity_state {
    ECS_STATE_NONE, ///< does not exist: never created, or destroyed and nobody refers to it
    ECS_STATE_ALLOCATED, ///< somebody refers to it (ecs_handle_retain), it is not there yet (or any more)
    ECS_STATE_LOADING, ///< its creation is queued: resources or the end of the stage are pending
    ECS_STATE_CREATED, ///< lives: components can be read
} ecs_entity_state;
