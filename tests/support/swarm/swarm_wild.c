// SPDX-License-Identifier: MIT
// The wild kind of the test game: visibility changes all the time.
//
// Kin are three motes with one number. They are created together, and their pact changes in the
// same tick. So a client that has two of them with different pacts has a torn group. Only `grant`
// makes the class of vault and diary visible. The plan is visible to a team, the purse to the
// owner. With the salt, values that no client sees are different and change at other times. Nothing
// else differs, so no bit on the wire may differ. Values start again when other clients begin to
// see them.
#include "swarm_parts.h"

#include <stdlib.h>

#define MUTATIONS_PER_TICK 5u
#define KINS_MAX 400u
#define TEAM_OF_NOBODY 3u
#define TEXT_LONG_BYTES 2500u

const char* swarm_wild_templates(void) {
    return "// Templates of the wild test game.\n"
           "place { \"pos:p2\"{ _track:b=yes; _replicate:b=yes; _min:r=-128; _max:r=383; "
           "_step:r=0.0625; value:p2=1,2 }\n"
           "  \"owner:u32\"{ _track:b=yes; _replicate:b=yes; value:u32=0 }\n"
           "  \"team:u8\"{ _track:b=yes; _replicate:b=yes; _bits:i=2; value:u8=0 }\n"
           "  \"groups:u64\"{ _track:b=yes; }\n"
           "  \"together:u32\"{ _track:b=yes; _replicate:b=yes; value:u32=0 }\n"
           "  \"pact:u16\"{ _track:b=yes; _replicate:b=yes; value:u16=0 }\n"
           "  \"purse:u32\"{ _track:b=yes; _replicate:b=yes; _visible:t=\"owner\"; value:u32=5 }\n"
           "  \"plan:u16\"{ _track:b=yes; _replicate:b=yes; _visible:t=\"team\"; value:u16=6 }\n"
           "  \"vault:u32\"{ _track:b=yes; _replicate:b=yes; _visible:t=\"vault\"; value:u32=7 }\n"
           "  \"grant:u64\"{ _track:b=yes; }\n"
           "  \"note:t\"{ _track:b=yes; _replicate:b=yes; value:t=\"blank\" }\n"
           "  \"diary:t\"{ _track:b=yes; _replicate:b=yes; _visible:t=\"vault\"; value:t=\"shut\" "
           "}\n" SWARM_TRACES "}\n"
           "mote { _extends:t=\"place\"; _priority:i=3\n"
           "  \"hp:u8\"{ _replicate:b=yes; value:u8=100 }\n"
           "  \"target:eid\"{ _replicate:b=yes; value:eid=0 }\n"
           "}\n"
           "rock { _extends:t=\"place\" \"hp:u8\"{ _track:b=yes; value:u8=7 } }\n"
           "burning { \"heat:r\"{ _replicate:b=yes; value:r=0.5 } }\n"
           "avatar { _extends:t=\"mote\"; _priority:i=8\n"
           "  \"steered:u32\"{ _replicate:b=yes; value:u32=0 }\n"
           "  \"shouts:u32\"{ _track:b=yes; value:u32=0 }\n"
           "  \"player_id:u32\"{ _replicate:b=yes; value:u32=0 }\n"
           "}\n"
           "clock { \"clock:SwarmClock\"{ _track:b=yes } }\n";
}

ecs_result swarm_wild_init(ecs_world* world, swarm_context* context) {
    context->owner = ecs_component_find(world, "owner");
    context->is_wild = context->owner != ECS_COMPONENT_NONE;
    if (!context->is_wild) return ECS_OK;
    context->team = ecs_component_find(world, "team");
    context->groups = ecs_component_find(world, "groups");
    context->together = ecs_component_find(world, "together");
    context->pact = ecs_component_find(world, "pact");
    context->purse = ecs_component_find(world, "purse");
    context->plan = ecs_component_find(world, "plan");
    context->vault = ecs_component_find(world, "vault");
    context->grant = ecs_component_find(world, "grant");
    context->note = ecs_component_find(world, "note");
    context->diary = ecs_component_find(world, "diary");
    return ECS_OK;
}

void swarm_wild_join(ecs_world* world, swarm_context* context, uint32_t client, ecs_entity player) {
    if (!context->is_wild || player == ECS_ENTITY_NONE) return;
    if (context->client_count < SWARM_CLIENTS_MAX)
        context->clients[context->client_count++] = client;
    *(uint32_t*)ecs_get_mut(world, player, context->owner) = client;
    *(uint8_t*)ecs_get_mut(world, player, context->team) = (uint8_t)(1 + client % 2);
    if (context->services) context->services->set_groups(context->services->context, client, 1);
}

void swarm_wild_leave(swarm_context* context, uint32_t client) {
    for (uint32_t i = 0; i < context->client_count; i++)
        if (context->clients[i] == client)
            context->clients[i] = context->clients[--context->client_count];
}

static uint32_t random_client(const swarm_context* context, base_rng* rng) {
    uint32_t at = base_rng_below(rng, SWARM_CLIENTS_MAX / 2);
    return at < context->client_count ? context->clients[at] : 0;
}

static void set_u32(ecs_world* world, ecs_entity entity, ecs_component_id component,
                    uint32_t value) {
    *(uint32_t*)ecs_get_mut(world, entity, component) = value;
}

static void set_text(ecs_world* world, ecs_entity entity, ecs_component_id component, base_rng* rng,
                     bool is_real) {
    char text[TEXT_LONG_BYTES];
    uint32_t size = base_rng_below(rng, 40);
    if (base_rng_chance(rng, 0.02)) size = TEXT_LONG_BYTES;
    char first = (char)('a' + base_rng_below(rng, 26));
    if (!is_real) return;
    for (uint32_t i = 0; i < size; i++)
        text[i] = (char)('a' + (uint32_t)(first - 'a' + (char)(i % 7)) % 26);
    (void)!ecs_string_set(ecs_world_allocator(world), ecs_get_mut(world, entity, component), text,
                          size);
}

// A client that saw it may see it for some more ticks, unless interest is computed at once. Later
// values are hidden.
static void hide_at_once(const swarm_context* context) {
    if (context->grants == 1 || !context->services) return;
    for (uint32_t i = 0; i < context->client_count; i++)
        context->services->refresh_scope(context->services->context, context->clients[i]);
}

// Draw the same random numbers with and without the salt.
static void mutate(ecs_world* world, swarm_context* context, ecs_entity one) {
    base_rng* rng = ecs_world_rng(world);
    bool is_salted = context->salt != 0;
    uint32_t dice = base_rng_below(rng, 12), value = base_rng_below(rng, 100000);
    uint32_t client = random_client(context, rng);
    const uint32_t* owner = ecs_get(world, one, context->owner);
    const uint8_t* team = ecs_get(world, one, context->team);
    switch (dice) {
    case 0:
        if (ecs_find(world, one, context->player_id)) break;
        set_u32(world, one, context->owner, client);
        set_u32(world, one, context->purse, 5);
        hide_at_once(context);
        break;
    case 1:
        if (ecs_find(world, one, context->player_id)) break;
        *(uint8_t*)ecs_get_mut(world, one, context->team) = (uint8_t)(value % (TEAM_OF_NOBODY + 1));
        *(uint16_t*)ecs_get_mut(world, one, context->plan) = 6;
        hide_at_once(context);
        break;
    case 2:
        *(uint64_t*)ecs_get_mut(world, one, context->groups) = value % 8;
        break;
    case 3:
    case 4:
        if (*owner != 0 || !is_salted) set_u32(world, one, context->purse, value);
        break;
    case 5:
        if (*team != TEAM_OF_NOBODY || !is_salted)
            *(uint16_t*)ecs_get_mut(world, one, context->plan) = (uint16_t)value;
        break;
    case 6:
    case 7:
        set_u32(world, one, context->vault, is_salted ? 3 : value);
        break;
    case 8:
        if (context->grants == 2) client = client ? 1 : 0;
        if (client && context->grants)
            *(uint64_t*)ecs_get_mut(world, one, context->grant) ^= UINT64_C(1) << client % 64;
        break;
    case 9:
        set_text(world, one, context->note, rng, true);
        break;
    case 10:
        set_text(world, one, context->diary, rng, !is_salted);
        break;
    default:
        if (client && context->services && value % 4 == 0)
            context->services->set_groups(context->services->context, client, value % 8);
    }
}

static void make_kin(ecs_world* world, swarm_context* context) {
    base_rng* rng = ecs_world_rng(world);
    uint32_t number = ++context->kin_count;
    ecs_vec2 pos = {(float)base_rng_range(rng, -1000, 1000) * 0.1f,
                    (float)base_rng_range(rng, -1000, 1000) * 0.1f};
    const ecs_init inits[] = {{context->together, &number}, {context->pos, &pos}};
    for (uint32_t i = 0; i < 3; i++)
        (void)ecs_command_create(world, context->mote, inits, 2);
}

static void renew_pacts(ecs_world* world, swarm_context* context) {
    uint32_t number = 1 + base_rng_below(ecs_world_rng(world), context->kin_count);
    ecs_query_iter iter = ecs_query_begin(world, context->movers);
    while (ecs_query_next(&iter)) {
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            ecs_entity one = iter.rows.entities[i];
            if (*(const uint32_t*)ecs_get(world, one, context->together) == number)
                ++*(uint16_t*)ecs_get_mut(world, one, context->pact);
        }
    }
}

static void move_all(ecs_world* world, swarm_context* context) {
    base_rng* rng = ecs_world_rng(world);
    ecs_query_iter iter = ecs_query_begin(world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            pos[i].x += (float)base_rng_range(rng, -80, 80) * 0.0625f;
            pos[i].y += (float)base_rng_range(rng, -80, 80) * 0.0625f;
            if (context->load < 2) continue;
            uint8_t* hp = ecs_find_mut(world, iter.rows.entities[i], context->hp);
            if (hp) *hp = (uint8_t)base_rng_below(rng, 255);
        }
    }
}

void swarm_wild_mutate(ecs_world* world, swarm_context* context) {
    if (!context->is_wild) return;
    base_rng* rng = ecs_world_rng(world);
    if (context->load > 0) move_all(world, context);
    for (uint32_t i = 0; i < MUTATIONS_PER_TICK; i++) {
        ecs_entity one = swarm_random_entity(world, context->movers);
        if (one != ECS_ENTITY_NONE) mutate(world, context, one);
    }
    if (base_rng_chance(rng, 0.05) && context->kin_count < KINS_MAX) make_kin(world, context);
    for (uint32_t i = 0; i < 3 && context->kin_count > 0; i++)
        renew_pacts(world, context);
}

static uint32_t grant_classes(const net_interest_question* question) {
    const swarm_context* context = question->context;
    const uint64_t* grant = ecs_find(question->world, question->entity, context->grant);
    if (!grant || !(*grant >> question->client % 64 & 1) || !context->services) return 0;
    return context->services->class_bit(context->services->context, "vault");
}

const net_game_module* swarm_wild_make(swarm_wild* wild, uint32_t rules) {
    wild->module = *swarm_module_get();
    wild->rules = (net_interest_rules){
        .size_bytes = sizeof wild->rules,
        .position = rules & SWARM_RADIUS ? "pos" : NULL,
        .radius = rules & SWARM_RADIUS ? 60.0f : 0,
        .owner = rules & SWARM_OWNER ? "owner" : NULL,
        .team = rules & SWARM_TEAM ? "team" : NULL,
        .groups = rules & SWARM_GROUPS ? "groups" : NULL,
        .together = rules & SWARM_TOGETHER ? "together" : NULL,
        .classes = rules & SWARM_GRANTS ? grant_classes : NULL,
    };
    wild->module.interest = rules ? &wild->rules : NULL;
    return &wild->module;
}
