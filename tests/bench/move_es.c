// SPDX-License-Identifier: MIT
// The system of row update_esgen_30k as a game's author writes it; shoal-esgen writes its loop.
#include "bench_world.h"
#include "move_es.es.h"

static void move_es(const ecs_stage* stage, ecs_vec3* pos, const ecs_vec3* vel) {
    pos->x += vel->x * stage->dt;
    pos->y += vel->y * stage->dt;
    pos->z += vel->z * stage->dt;
}

ecs_result bench_register_generated(ecs_world* world) {
    return move_es_register_systems(world, NULL);
}
