// SPDX-License-Identifier: MIT
// Pick-ups: the fighter that touches one gets it, and at once another one appears elsewhere.
//
// Health and ammunition are numbers. Power is another template: the fighter is recreated with
// "boost", which makes it faster. On a client this is another set of components on the same entity.
//
// What is of no use when a player touches it goes into the pack, for later. `pack` is an object: it
// has one number per kind, under the name of the kind, and no entry for a kind that the player does
// not have. Only the owner gets it. A ghost has no pack, so a killed player loses it.

#include "arena.h"
#include "pick.es.h"

#define TOUCH (ARENA_RADIUS + 1.5f)
#define KIT_HEALTH 45
#define BOX_AMMO 30
#define BOOST_S 8.0f
#define PACK_MAX 3 ///< of each kind

void arena_place_pickup(ecs_world* world, const arena_game* game, uint8_t kind) {
    base_rng* rng = ecs_world_rng(world);
    ecs_vec2 pos = {0};
    // Try a few times to find a free place: no fighter can reach a pick-up in a rock.
    for (uint32_t i = 0; i < 8; i++) {
        pos.x = arena_snap(8.0f + base_rng_float(rng) * (ARENA_SIZE - 16.0f));
        pos.y = arena_snap(8.0f + base_rng_float(rng) * (ARENA_SIZE - 16.0f));
        if (!arena_map_is_rock(pos.x, pos.y)) break;
    }
    (void)ecs_command_create(world, game->pickup_template,
                             ECS_INITS({game->pos, &pos}, {game->kind, &kind}));
}

static const arena_body* find_toucher(const arena_crowd* grid, ecs_vec2 pos) {
    arena_search near = arena_search_begin(grid, pos, TOUCH);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        const ecs_vec2 to = ecs_vec2_sub(body->pos, pos);
        if (!body->is_dead && ecs_vec2_dot(to, to) < TOUCH * TOUCH) return body;
    }
    return NULL;
}

static void boost(ecs_world* world, arena_game* game, ecs_entity entity, ecs_tick tick) {
    uint32_t end = (uint32_t)tick + arena_ticks(game, BOOST_S);
    uint32_t* running = ecs_find_mut(world, entity, game->boost_tick);
    if (running) {
        *running = end;
        return;
    }
    bool is_soldier = ecs_find(world, entity, game->mind) != NULL;
    (void)ecs_command_recreate(
        world, entity, is_soldier ? game->soldier_boost_template : game->player_boost_template,
        ECS_INITS({game->boost_tick, &end}));
    const uint32_t* owner = ecs_find(world, entity, game->owner);
    if (owner) arena_look_again(game, *owner);
}

bool arena_take(ecs_world* world, arena_game* game, ecs_entity entity, uint8_t kind,
                ecs_tick tick) {
    if (ecs_find(world, entity, game->route)) return false; // tanks take nothing
    if (kind == ARENA_POWER) {
        boost(world, game, entity, tick);
        return true;
    }
    if (kind == ARENA_AMMO_BOX) {
        arena_gun* gun = ecs_find_mut(world, entity, game->gun);
        bool is_soldier = ecs_find(world, entity, game->mind) != NULL;
        if (!gun || is_soldier || gun->ammo >= ARENA_AMMO_MAX) return false;
        gun->ammo = gun->ammo + BOX_AMMO < ARENA_AMMO_MAX ? gun->ammo + BOX_AMMO : ARENA_AMMO_MAX;
        return true;
    }
    const uint8_t* health = ecs_find(world, entity, game->health);
    if (!health || *health == 0 || *health >= ARENA_HEALTH) return false;
    uint32_t sum = *health + KIT_HEALTH < ARENA_HEALTH ? *health + KIT_HEALTH : ARENA_HEALTH;
    *(uint8_t*)ecs_get_mut(world, entity, game->health) = (uint8_t)sum;
    *(uint8_t*)ecs_get_mut(world, entity, game->condition) = sum > 66 ? 3 : 2;
    return true;
}

// ---- the pack ----

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

// Put a pick-up that is of no use now into the pack, also a second power while the first one lasts.
static bool take_or_keep(ecs_world* world, arena_game* game, ecs_entity entity, uint8_t kind,
                         ecs_tick tick) {
    bool is_spare = kind == ARENA_POWER && ecs_find(world, entity, game->boost_tick);
    if (is_spare && arena_pack_add(world, game, entity, kind)) return true;
    return arena_take(world, game, entity, kind, tick) || arena_pack_add(world, game, entity, kind);
}

ES_TAG(server)
ES_SPAN
static void pick_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, uint32_t count,
                    const ecs_entity* entities, const ecs_vec2* pos, const uint8_t* kind) {
    for (uint32_t i = 0; i < count; i++) {
        const arena_body* toucher = find_toucher(game->grid, pos[i]);
        if (!toucher) continue;
        ecs_entity entity = toucher->entity;
        if (!take_or_keep(stage->world, game, entity, kind[i], stage->tick)) continue;
        if (ecs_command_destroy(stage->world, entities[i]))
            arena_place_pickup(stage->world, game, kind[i]);
    }
}

ES_TAG(server)
static void end_boost_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                         ecs_entity entity, uint32_t boost_tick, uint8_t health, uint32_t owner,
                         ES_OPTIONAL const arena_mind* mind) {
    if (stage->tick < boost_tick || health == 0) return;
    (void)ecs_command_recreate(stage->world, entity,
                               mind ? game->soldier_template : game->player_template, NULL, 0);
    arena_look_again(game, owner);
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
