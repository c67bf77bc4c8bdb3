// SPDX-License-Identifier: MIT
/// What a world of ours was told of an index: whether an entity is to come or gone.
#pragma once

#include "ecs/ecs.h"

/// Who lives at an index as it was told last (NONE: nobody), and the tick of that record.
/// @return false when it was never told anything.
typedef bool (*net_known_incarnation_fn)(void* context, uint32_t index, ecs_entity* handle,
                                         ecs_tick* tick);
