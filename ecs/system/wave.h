// SPDX-License-Identifier: MIT
/// Waves: which systems of a stage run at the same time (wave.c).
#pragma once

#include "event/systems.h"

/// Put the systems of a sorted stage into waves, and order them by wave; within a wave they keep
/// their order. Needs what ecs_declared_seal found.
/// @return ECS_OK; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_waves_seal(ecs_world* world, ecs_stage_info* stage);
void ecs_waves_deinit(const ecs_world* world, ecs_stage_info* stage);
