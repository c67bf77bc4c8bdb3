// SPDX-License-Identifier: MIT
/// Parts of a save, each with its own reader (storage.c, command_save.c, loading_save.c).
#pragma once

#include "ecs/template.h"

/// Back to just after seal: no entities, archetypes, chunks, commands or held handles; indices
/// fresh. Values are destroyed; tracking is not told. Compiled queries and counters stay.
void ecs_storage_clear(ecs_world* world);
/// Free indices, generations and held handles as bytes. Read on a cleared storage, before entities
/// are placed; when they are, ecs_storage_settle_indices finds the free ones.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY.
void ecs_storage_write_indices(const ecs_world* world, base_bytes* bytes);
BASE_MUST_USE ecs_result ecs_storage_read_indices(ecs_world* world, base_reader* reader);
void ecs_storage_settle_indices(ecs_world* world);
/// Queued commands as bytes. Read with an empty queue.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_MEMORY; the caller clears the queue after an error.
void ecs_commands_write(const ecs_world* world, base_bytes* bytes);
BASE_MUST_USE ecs_result ecs_commands_read(ecs_world* world, base_reader* reader);
