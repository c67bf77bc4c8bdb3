// SPDX-License-Identifier: MIT
/// Private: what writing and reading of saves share. The form is described in save.c.
#pragma once

#include "ecs/world.h"

#define ECS_SAVE_MAGIC 0x56534853u // "SHSV"
#define ECS_SAVE_VERSION 1u

/// What was registered, by name and layout. Templates composed at run time are not registration.
uint64_t ecs_schema_hash(const ecs_world* world);
