// SPDX-License-Identifier: MIT
/// The private headers of ecs, for tests that look inside a world.
#pragma once

#include "ecs/ecs.h"

#include "event/command_queue.h"
#include "event/systems.h"
#include "event/event_queue.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "system/system_registry.h"
#include "table/entity.h"
#include "table/query_cache.h"
#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "template/template_registry.h"
#include "type/type_registry.h"
#include "type/world.h"
#include "world/save.h"
