// SPDX-License-Identifier: MIT
/// Seconds of a match as ticks. Time that decides is a component: `"cooldown:u32"` has the tick
/// from which on something may happen again, so it is tracked, logged and predicted.
///
///     if (!input->is_firing || !ecs_cooldown_ready(stage, cooldown, RELOAD_S)) return;
#pragma once

#include "ecs/system.h"

BASE_C_BEGIN

/// @return seconds as ticks, rounded, at least 1.
static inline uint32_t ecs_ticks(const ecs_stage* stage, float seconds) {
    const float ticks = seconds / stage->dt + 0.5f;
    return !(ticks >= 2.0f) ? 1 : ticks < 4e9f ? (uint32_t)ticks : UINT32_MAX;
}

/// @return false before the tick in `cooldown`; else true, and it begins again.
static inline bool ecs_cooldown_ready(const ecs_stage* stage, uint32_t* cooldown, float seconds) {
    if (stage->tick < *cooldown) return false;
    *cooldown = (uint32_t)stage->tick + ecs_ticks(stage, seconds);
    return true;
}

BASE_C_END
