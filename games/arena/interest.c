// SPDX-License-Identifier: MIT
// Interest: which entities a client gets.
//
// A client gets every entity within ARENA_SIGHT, except ghosts of other teams. Every client gets
// the board. The flags and beacons of a team reach all its clients at any distance, and with a flag
// comes its carrier. Exact health and orders go to the team, gun and aim to the owner. A player
// with the power gets the health and the orders of all fighters. A ghost sees farther than a
// fighter, from the place where the fighter was killed.

#include "arena.h"

static net_relevance relevance(const net_interest_question* question) {
    const arena_game* game = question->context;
    if (question->entity == question->player) return NET_RELEVANT_BY_RULES;
    if (!ecs_find(question->world, question->entity, game->wait_tick)) return NET_RELEVANT_BY_RULES;
    const uint8_t* team = ecs_find(question->world, question->entity, game->team);
    const uint8_t* own = ecs_find(question->world, question->player, game->team);
    return team && own && *team == *own ? NET_RELEVANT_BY_RULES : NET_RELEVANT_NEVER;
}

static uint32_t classes(const net_interest_question* question) {
    const arena_game* game = question->context;
    return ecs_find(question->world, question->player, game->boost_tick) ? 1u << NET_CLASS_TEAM : 0;
}

static const net_game_services* services_of(const arena_game* game, uint32_t client) {
    const net_game_services* services = game->services;
    bool is_served = client != 0 && services && services->size_bytes >= sizeof *services;
    return is_served && services->set_groups ? services : NULL;
}

void arena_hear_team(const arena_game* game, uint32_t client, uint8_t team) {
    const net_game_services* services = services_of(game, client);
    if (services) services->set_groups(services->context, client, 1ull << team);
}

void arena_look_from(const arena_game* game, uint32_t client, const ecs_vec2* pos, float radius) {
    const net_game_services* services = services_of(game, client);
    if (!services) return;
    const float place[3] = {pos ? pos->x : 0.0f, pos ? pos->y : 0.0f, 0.0f};
    services->set_viewpoint(services->context, client, pos ? place : NULL, radius);
}

void arena_look_again(const arena_game* game, uint32_t client) {
    const net_game_services* services = services_of(game, client);
    if (services) services->refresh_scope(services->context, client);
}

const net_interest_rules arena_interest = {
    .size_bytes = sizeof(net_interest_rules),
    .position = "pos",
    .radius = ARENA_SIGHT,
    .always = "board",
    .owner = "owner",
    .team = "team",
    .groups = "channel",
    .together = "together",
    .relevance = relevance,
    .classes = classes,
};
