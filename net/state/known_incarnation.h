// SPDX-License-Identifier: MIT
/// What a client knows of an entity index: whether an entity is yet to come or is gone.
#pragma once

#include "ecs/ecs.h"

/// Get the entity of the newest record for an index (NONE: destroyed) and the tick of that record.
/// @return false when no record ever named the index.
typedef bool (*net_known_incarnation_fn)(void* context, uint32_t index, ecs_entity* handle,
                                         ecs_tick* tick);
