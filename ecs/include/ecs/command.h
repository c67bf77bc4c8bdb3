// SPDX-License-Identifier: MIT
/// Structural changes recorded inside systems and applied at the next flush point, no later than
/// the end of the stage, in the order (system, job, sequence): the result does not depend on
/// threads.
#pragma once

#include "ecs/component.h"

/// Record a creation. Returns a placeholder that commands and events up to the next flush point may
/// name (as a target; in values of entity fields it is resolved too). Flush points come after each
/// system and after each batch of events: keep no placeholder longer, the next flush gives the same
/// ones out again. ECS_ENTITY_NONE when the queue is full or the template unknown (counted in
/// commands_refused). Values are copied.
ecs_entity ecs_command_create(ecs_world* world, ecs_template_id template_id, const ecs_init* inits,
                              uint32_t init_count);
/// @return false when the queue is full (counted). A handle that is stale by then is counted,
/// ignored.
bool ecs_command_destroy(ecs_world* world, ecs_entity entity);
/// Also false when the template is unknown (counted).
bool ecs_command_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                          const ecs_init* inits, uint32_t init_count);
bool ecs_command_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                     const void* value);
/// Apply all that is recorded. Only outside of stages; inside, flush points do it.
void ecs_command_flush(ecs_world* world);
uint32_t ecs_command_count(const ecs_world* world);
