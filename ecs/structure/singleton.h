// SPDX-License-Identifier: MIT
/// Templates of which one entity exists at a time (singleton.c).
#pragma once

#include "ecs/template.h"

/// May another one of a `_singleton` template be made? false is counted (singleton.c).
bool ecs_singleton_has_room(ecs_world* world, ecs_template_id template_id);
