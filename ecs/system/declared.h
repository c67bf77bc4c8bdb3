// SPDX-License-Identifier: MIT
/// What systems touch, and which of them conflict (declared.c).
#pragma once

#include "event/systems.h"

/// Fill `declared` of all present systems that are confined. Names in reads and writes that are no
/// components become shared names.
/// @return ECS_OK; ECS_ERR_FULL (ECS_SHARED_NAMES_MAX; reported); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_declared_seal(ecs_world* world, const base_reporter* reporter);
/// May the two run at the same time, as far as it follows from what they touch? For the same system
/// twice: its ranges.
ecs_conflict ecs_declared_conflict(const ecs_world* world, const ecs_system* first,
                                   const ecs_system* second);
/// Does the system declare that it touches the component by handle or in another query?
bool ecs_declared_covers(const ecs_system* system, ecs_component_id component, bool is_write);
