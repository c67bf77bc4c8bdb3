// SPDX-License-Identifier: MIT
// The pack of a player: pick-ups that were of no use when the player touched them, for later use.
//
// `pack` is an object: it has one number per kind, under the name of the kind, and no entry for a
// kind that the player does not have. Only the owner gets it. A ghost has no pack, so a killed
// player loses it.

#include "arena.h"
#include "pack.es.h"

#define PACK_MAX 3 ///< of each kind

static const char* const kinds[ARENA_PICKUP_KINDS] = {
    [ARENA_HEALTH_KIT] = "kit", [ARENA_AMMO_BOX] = "box", [ARENA_POWER] = "power"};

int32_t arena_pack_count(const ecs_object* pack, uint32_t kind) {
    const int32_t* count = ecs_object_find(pack, kinds[kind % ARENA_PICKUP_KINDS], ECS_ELEMENT_I);
    return count ? *count : 0;
}

// @return false when memory ran out.
static bool set_count(ecs_world* world, ecs_object* pack, uint32_t kind, int32_t count) {
    const base_allocator* allocator = ecs_world_allocator(world);
    const char* name = kinds[kind];
    if (count == 0) return !ecs_object_remove(allocator, pack, name);
    return !ecs_object_set(allocator, pack, name, ECS_ELEMENT_I, &count);
}

bool arena_pack_add(ecs_world* world, const arena_game* game, ecs_entity entity, uint32_t kind) {
    const ecs_object* pack = ecs_find(world, entity, game->pack);
    if (!pack || kind >= ARENA_PICKUP_KINDS) return false;
    int32_t count = arena_pack_count(pack, kind);
    if (count >= PACK_MAX) return false;
    return set_count(world, ecs_get_mut(world, entity, game->pack), kind, count + 1);
}

ES_TAG(server)
ES_ON_EVENT(use)
static void use_es_event_handler(const ecs_stage* stage, ES_CONTEXT arena_game* game,
                                 const arena_use* event, ecs_entity entity, uint8_t health,
                                 ecs_object* pack) {
    int32_t count = arena_pack_count(pack, event->kind);
    if (health == 0 || count == 0) return;
    if (!arena_take(stage->world, game, entity, (uint8_t)event->kind, stage->tick)) return;
    (void)set_count(stage->world, pack, event->kind, count - 1);
}
