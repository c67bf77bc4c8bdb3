// SPDX-License-Identifier: MIT
/// Validating builds: what a system leaves alone stays as it was (guard.c).
#pragma once

#include "event/systems.h"

/// A sum of the values of each component in a world, by id.
typedef struct ecs_guard {
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
} ecs_guard;

/// Are systems guarded in this tick? Never in other builds.
bool ecs_guard_is_due(const ecs_stage* stage);
void ecs_guard_sum(const ecs_world* world, ecs_guard* guard);
/// After the system ran, alone: only what it may write has changed since, or it is asserted; with
/// ecs_inspect_writes it is reported, once.
void ecs_guard_compare(const ecs_world* world, ecs_system* system, const ecs_guard* before);
