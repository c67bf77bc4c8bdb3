// SPDX-License-Identifier: MIT
/// States of handles that are held (handle.c).
#pragma once

#include "table/held.h"

/// Could a handle name an entity of this world?
bool ecs_handle_is_in_range(const ecs_world* world, ecs_entity handle);
/// The entry of a handle, made when there is none. NULL when memory ran out.
ecs_held_handle* ecs_handle_hold(ecs_world* world, ecs_entity handle);
/// Take an entry out whose handle is neither referenced nor loading; its index may be free then.
void ecs_handle_drop(ecs_world* world, ecs_held_handle* entry);
/// NONE, ALLOCATED, LOADING -> CREATED and back: keeps the counts of states right.
void ecs_held_created(ecs_world* world, ecs_entity handle);
void ecs_held_destroyed(ecs_world* world, ecs_entity handle);
