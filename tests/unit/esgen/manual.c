// SPDX-License-Identifier: MIT
// The examples of ecs/ESGEN.md, word for word: test_esgen_write compares, test_esgen_run runs them.

#include "manual.pb-c.h"

#include "manual.h"
#include "manual.es.h"

ES_TAG(server | predict)
static void fly_es(const ecs_stage* stage, ecs_vec2* pos, const ecs_vec2* vel) {
    pos->x += vel->x * stage->dt;
    pos->y += vel->y * stage->dt;
}

ecs_result manual_register(ecs_world* world, manual_game* game) {
    return manual_register_systems(world, game);
}

static void cool_es(float* heat, ES_DEFAULT(0.5f) float drag, ES_OPTIONAL const manual_hull* hull) {
    *heat *= hull ? 1.0f - drag * hull->strength : drag;
}

ES_ON_EVENT(struck)
static void take_blow_es_event_handler(ES_CONTEXT manual_game* game, const manual_blow* event,
                                       float* heat) {
    *heat += event->force;
    game->blows++;
}

static bool hottest_ecs_query(ES_CONTEXT float* hottest, ES_CONTEXT float enough, float heat) {
    if (heat > *hottest) *hottest = heat;
    return *hottest < enough;
}

float manual_hottest(ecs_world* world, const manual_game* game) {
    float hottest = 0.0f;
    hottest_run(world, game->heats, &hottest, 100.0f);
    return hottest;
}

ES_SPAN
ES_STAGE(render)
static void draw_es(ES_CONTEXT manual_game* game, uint32_t count, const ecs_vec2* pos) {
    float left = 0.0f;
    for (uint32_t i = 0; i < count; i++)
        left = pos[i].x < left ? pos[i].x : left;
    game->left = left;
}

ES_MESSAGES

const manual_message manual_messages[1] = {{"cheer", cheer_to_wire, cheer_from_wire}};

ES_REGISTER_TYPES

ecs_result manual_register_types_of_game(ecs_world* world, const base_reporter* reporter) {
    return manual_register_types(world, reporter);
}

ecs_result manual_create_queries(ecs_world* world, manual_game* game) {
    return hottest_create(world, &game->heats);
}
