// SPDX-License-Identifier: MIT
/// Entities that entered and left the rows of a system since its last turn.
#pragma once

#include "base/bytes.h"
#include "ecs/system.h"

/// Handles in order; one taken back leaves a hole (ECS_ENTITY_NONE) until the list is packed.
typedef struct ecs_membership_list {
    ecs_entity* items;
    uint32_t count; ///< holes too
    uint32_t capacity;
    uint32_t holes;
    uint32_t*
        at; ///< index -> position + 1 of its item; 0: none. An index is in a list at most once
    uint32_t at_capacity;
} ecs_membership_list;

/// `left` always has room for every entity that matches now: leaving asks for no memory.
typedef struct ecs_membership {
    ecs_membership_list entered; ///< match now, did not at the last turn
    ecs_membership_list left;    ///< did at the last turn, do not now
    uint32_t count;              ///< that match now
    bool has_begun;              ///< there was a first turn
} ecs_membership;

struct ecs_system;

void ecs_membership_deinit(const ecs_world* world, ecs_membership* members);
/// Room for `count` more that enter, one of them `entity`. @return false when memory ran out.
BASE_MUST_USE bool ecs_membership_reserve(ecs_world* world, ecs_membership* members,
                                          ecs_entity entity, uint32_t count);
/// It came to match (room was reserved), or no longer does.
void ecs_membership_enter(ecs_membership* members, ecs_entity entity);
void ecs_membership_leave(ecs_membership* members, ecs_entity entity);
/// The system's turn: deliver the entities that entered and left, and clear the lists.
void ecs_membership_deliver(const struct ecs_system* system, ecs_membership* members,
                            const ecs_stage* stage);

/// All that live leave every system, before storage is emptied; or enter, after it was filled.
/// @return false when memory ran out: no entity entered.
void ecs_membership_leave_all(ecs_world* world);
BASE_MUST_USE bool ecs_membership_enter_all(ecs_world* world);
/// The lists as bytes: nothing at all in a world whose systems have none.
void ecs_membership_write(const ecs_world* world, base_bytes* bytes);
/// Read them over those of enter_all; a system that is not in the bytes keeps those.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_membership_read(ecs_world* world, base_reader* reader);
/// The lists of another world that holds the same entities. @return false when memory ran out.
BASE_MUST_USE bool ecs_membership_copy(ecs_world* world, const ecs_world* from);
void ecs_membership_validate(const ecs_world* world);
