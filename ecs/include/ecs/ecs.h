// SPDX-License-Identifier: MIT
/// The one header for users of the simulation core. Beside it are helpers of games: ecs/tiles.h,
/// ecs/flow.h, ecs/near.h, ecs/timer.h.
#pragma once

#include "ecs/change.h"
#include "ecs/container.h"
#include "ecs/command.h"
#include "ecs/component.h"
#include "ecs/debug.h"
#include "ecs/entity.h"
#include "ecs/event.h"
#include "ecs/geometry.h"
#include "ecs/grid.h"
#include "ecs/hierarchy.h"
#include "ecs/limits.h"
#include "ecs/need.h"
#include "ecs/loader.h"
#include "ecs/query.h"
#include "ecs/result.h"
#include "ecs/save.h"
#include "ecs/system.h"
#include "ecs/template.h"
#include "ecs/template_files.h"
#include "ecs/type.h"
#include "ecs/value.h"
#include "ecs/world.h"

/// The version of the interface between programs and game modules. It rises when a function or a
/// struct of ecs/ or base/ that modules use changes incompatibly. A module carries the number it
/// was compiled with; a program refuses every other number.
#define ECS_CORE_VERSION 8u
