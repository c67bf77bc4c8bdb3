// SPDX-License-Identifier: MIT
// The ECS used from C++17: what the README shows in C, and every function of the headers linked.
#include "all_headers.inc"

#include <cstdio>
#include <cstring>

namespace {

// Of every function that a header declares: nothing links when one has a C++ name.
const void* const functions[] = {
#include "functions.inc"
};

void move(const ecs_stage* stage, const ecs_rows* rows) {
    auto* pos = static_cast<ecs_vec2*>(rows->columns[0]);
    const auto* vel = static_cast<const ecs_vec2*>(rows->columns[1]);
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x += vel[i].x * stage->dt;
        pos[i].y += vel[i].y * stage->dt;
    }
}

bool fail(const char* what) {
    std::fprintf(stderr, "world.cc: %s\n", what);
    return false;
}

bool run(ecs_world* world, const base_reporter* errors) {
    const char text[] = "ball { \"pos:p2\"{ _track:b=yes; value:p2=600,700 } vel:p2=330,-550 }";
    const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}};
    ecs_system_desc mover = {};
    mover.name = "move";
    mover.stage = "act";
    mover.run = move;
    mover.terms = terms;
    mover.term_count = 2;
    ecs_query* query = nullptr;
    ecs_entity ball = ECS_ENTITY_NONE;
    if (ecs_template_load(world, "balls.blk", text, sizeof text - 1, errors) != ECS_OK ||
        ecs_system_register(world, &mover) != ECS_OK ||
        ecs_query_create(world, terms, 2, &query) != ECS_OK ||
        ecs_world_seal(world, errors) != ECS_OK ||
        ecs_create(world, ecs_template_find(world, "ball"), nullptr, 0, &ball) != ECS_OK)
        return fail("the world cannot be set up");
    ecs_step step = {};
    step.dt = 1.0F / 60.0F;
    for (step.tick = 1; step.tick <= 3; step.tick++)
        ecs_world_step(world, &step);
    const auto* pos =
        static_cast<const ecs_vec2*>(ecs_get(world, ball, ecs_component_find(world, "pos")));
    char line[96];
    std::snprintf(line, sizeof line, "pos=%.2f,%.2f state_hash=%016llx", double(pos->x),
                  double(pos->y), static_cast<unsigned long long>(ecs_world_state_hash(world)));
    // As README.md prints it for the same world in C.
    if (std::strcmp(line, "pos=616.50,672.50 state_hash=8c7e2d760db21498") != 0) return fail(line);
    uint32_t count = 0;
    ecs_query_iter rows = ecs_query_begin(world, query);
    while (ecs_query_next(&rows))
        count += rows.rows.count;
    return count == 1 || fail("the query does not find the ball");
}

} // namespace

int main() {
    const ecs_world_config config = ecs_world_config_default();
    const base_reporter errors = base_reporter_stderr();
    ecs_world* world = nullptr;
    if (ecs_world_create(&config, &world) != ECS_OK) return 1;
    const bool is_right = run(world, &errors);
    ecs_world_destroy(world);
    for (const void* function : functions)
        if (function == nullptr) return 1;
    std::printf("cxx: %zu functions linked\n", sizeof functions / sizeof *functions);
    return is_right ? 0 : 1;
}
