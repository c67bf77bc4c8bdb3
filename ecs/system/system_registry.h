// SPDX-License-Identifier: MIT
/// The register of systems: seal and order (system.c, order.c).
#pragma once

#include "event/systems.h"

/// Sort `members` (indices into the list, rising) so that every before and after among them holds
/// and what is free keeps the order of registration.
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_CYCLE (both reported by name); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_order_sort(ecs_world* world, const base_reporter* reporter,
                                        ecs_system_order* members);
/// Check every name in before and after of present systems. @return ECS_OK; ECS_ERR_UNKNOWN.
BASE_MUST_USE ecs_result ecs_order_check_names(ecs_world* world, const base_reporter* reporter);
/// Index of a system by name, UINT32_MAX when there is none.
uint32_t ecs_system_index(const ecs_world* world, const char* name);
/// Run stage 0 and tracking of one step (step.c); ecs_world_step is this with its checks.
void ecs_systems_step(ecs_world* world, const ecs_step* step);

// Waves: which systems of a stage run at the same time (order.c).

/// Put the systems of a sorted stage into waves, and order them by wave; within a wave they keep
/// their order. Needs what ecs_declared_seal found.
/// @return ECS_OK; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_waves_seal(ecs_world* world, ecs_stage_info* stage);
void ecs_waves_deinit(const ecs_world* world, ecs_stage_info* stage);
