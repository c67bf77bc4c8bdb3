// SPDX-License-Identifier: MIT
/// The world of fuzz_state.
#pragma once

#include "fuzz.h"

#include "net/match.h"
#include "state/schema.h"

enum { STATE_INDEX_MAX = 1100 };

static const char state_text[] =
    "mover {\n"
    "  \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; value:p2=1,2 }\n"
    "  \"hp:i\" { _replicate:b=yes; _bits:i=8; value:i=100 }\n"
    "}\n"
    "holder {\n"
    "  \"link:eid\" { _replicate:b=yes; value:eid=0 }\n"
    "  \"speed:r\" { _replicate:b=yes; value:r=1 }\n"
    "}\n"
    "extra { \"shield:i64\" { _replicate:b=yes; value:i64=-5 } \"flag:tag\"{ _replicate:b=yes; } "
    "}\n"
    "flyer {\n"
    "  \"at:p3\" { _replicate:b=yes; _min:r=-512; _max:r=511.9375; _step:r=0.0625; "
    "_integral:t=haste; }\n"
    "  \"haste:p3\" { _replicate:b=yes; _min:r=-64; _max:r=63.75; _step:r=0.25; }\n"
    "  \"turn:p4\" { _replicate:b=yes; _rotation:b=yes; _bits:i=10; value:p4=0,0,0,1 }\n"
    "}\n";

static inline ecs_world* state_world_make(bool is_mirror, net_schema** schema) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = STATE_INDEX_MAX;
    ecs_world* world = NULL;
    FUZZ_CHECK(ecs_world_create(&config, &world) == ECS_OK);
    FUZZ_CHECK(ecs_template_load(world, "state.blk", state_text, strlen(state_text), NULL) ==
               ECS_OK);
    FUZZ_CHECK(ecs_world_seal(world, NULL) == ECS_OK);
    FUZZ_CHECK(net_schema_create(NULL, world, NULL, 0, NULL, schema) == NET_OK);
    net_rows_set_tick_rate(net_schema_rows(*schema), 60);
    return world;
}
