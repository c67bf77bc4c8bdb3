// SPDX-License-Identifier: MIT
#include "ecs/ecs.h"
#include <inttypes.h>
#include <stdio.h>

static void move(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++)
        pos[i] = (ecs_vec2){pos[i].x + vel[i].x * stage->dt, pos[i].y + vel[i].y * stage->dt};
}

int main(void) {
    const char text[] = "ball { \"pos:p2\"{ _track:b=yes; value:p2=600,700 } vel:p2=330,-550 }";
    const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};
    const ecs_system_desc mover = {
        .name = "move", .stage = "act", .run = move, .terms = terms, .term_count = 2};
    const ecs_world_config config = ecs_world_config_default();
    const base_reporter errors = base_reporter_stderr();
    ecs_world* world;
    ecs_entity ball;
    if (ecs_world_create(&config, &world) ||
        ecs_template_load(world, "balls.blk", text, sizeof text - 1, &errors) ||
        ecs_system_register(world, &mover) || ecs_world_seal(world, &errors) ||
        ecs_create(world, ecs_template_find(world, "ball"), NULL, 0, &ball))
        return 1;
    for (ecs_tick tick = 1; tick <= 3; tick++) {
        ecs_world_step(world, &(ecs_step){.tick = tick, .dt = 1.0f / 60.0f});
        const ecs_vec2* pos = ecs_get(world, ball, ecs_component_find(world, "pos"));
        printf("tick=%" PRIu64 " pos=%.2f,%.2f state_hash=%016" PRIx64 "\n", tick, (double)pos->x,
               (double)pos->y, ecs_world_state_hash(world));
    }
    ecs_world_destroy(world);
}
