// SPDX-License-Identifier: MIT
/// Shared code for the storage tests: a small world.
#pragma once

#include "ecs_parts.h"

#include "ecs_internal.h"

static const char store_text[] =
    "ball { pos:p2=1,2\n vel:p2=3,4\n radius:r=5\n }\n"
    "orb { radius:r=6\n vel:p2=5,5\n pos:p2=9,9\n }\n"
    "mover { \"pos:p2\" { _track:b=yes; value:p2=1,2 }\n vel:p2=3,4\n }\n"
    "rock { pos:p2=7,8\n hp:i=9\n }\n"
    "fast { boost:r=2\n }\n"
    "pad { \"pos:p2\" { _replicate:b=yes; value:p2=0,0 }\n }\n"
    "sign { \"title:t\" { _track:b=yes; value:t=\"hello\" }\n pos:p2=1,1\n }\n"
    "poster { title2:t=\"far too long for a short string\"\n pos:p2=2,2\n }\n"
    "link { target:eid=0\n }\n"
    "wide { \"big:wide_block\" { }\n }\n"
    "nothing { }\n";

/// 64 bytes, aligned to a cache line.
typedef struct wide_block {
    _Alignas(64) uint32_t words[16];
} wide_block;

static const ecs_field wide_fields[] = {
    {.name = "words", .offset = 0, .kind = ECS_FIELD_U32, .count = 16},
};

typedef struct store {
    ecs_world* world;
    ecs_template_id ball, orb, mover, rock, fast, pad, sign, poster, link, nothing;
    ecs_component_id pos, vel, radius, hp, boost, title, title2, target;
} store;

/// Create a world with types and templates. Tests may create queries before store_seal.
/// @return the first error. The world (or NULL) is in `fixture` and belongs to the caller.
static inline ecs_result store_try_open(store* fixture, const ecs_world_config* config) {
    memset(fixture, 0, sizeof *fixture);
    ecs_result result = ecs_world_create(config, &fixture->world);
    if (result != ECS_OK) return result;
    ecs_type_desc wide = TYPE_OF("wide_block", wide_block, wide_fields);
    result = ecs_type_register(fixture->world, &wide, NULL);
    if (result != ECS_OK) return result;
    return ecs_template_load(fixture->world, "store.blk", store_text, strlen(store_text), NULL);
}

static inline ecs_result store_try_seal(store* fixture) {
    ecs_world* world = fixture->world;
    ecs_result result = ecs_world_seal(world, NULL);
    fixture->ball = ecs_template_find(world, "ball");
    fixture->orb = ecs_template_find(world, "orb");
    fixture->mover = ecs_template_find(world, "mover");
    fixture->rock = ecs_template_find(world, "rock");
    fixture->fast = ecs_template_find(world, "fast");
    fixture->pad = ecs_template_find(world, "pad");
    fixture->sign = ecs_template_find(world, "sign");
    fixture->poster = ecs_template_find(world, "poster");
    fixture->link = ecs_template_find(world, "link");
    fixture->nothing = ecs_template_find(world, "nothing");
    fixture->pos = ecs_component_find(world, "pos");
    fixture->vel = ecs_component_find(world, "vel");
    fixture->radius = ecs_component_find(world, "radius");
    fixture->hp = ecs_component_find(world, "hp");
    fixture->boost = ecs_component_find(world, "boost");
    fixture->title = ecs_component_find(world, "title");
    fixture->title2 = ecs_component_find(world, "title2");
    fixture->target = ecs_component_find(world, "target");
    return result;
}

static inline void store_open(store* fixture, const ecs_world_config* given) {
    ecs_world_config config = given ? *given : ecs_world_config_default();
    assert_ok(store_try_open(fixture, &config));
}

static inline void store_seal(store* fixture) {
    assert_ok(store_try_seal(fixture));
}

/// Open and seal.
static inline void store_make(store* fixture, const ecs_world_config* given) {
    store_open(fixture, given);
    store_seal(fixture);
}

static inline void store_close(store* fixture) {
    ecs_storage_validate(fixture->world);
    ecs_world_destroy(fixture->world);
}

static inline ecs_entity store_create(store* fixture, ecs_template_id template_id) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(fixture->world, template_id, NULL, 0, &entity));
    return entity;
}

static inline ecs_query* make_query(store* fixture, const ecs_term* terms, uint32_t count) {
    ecs_query* query = NULL;
    assert_ok(ecs_query_create(fixture->world, terms, count, &query));
    return query;
}

/// A query of these terms: store_query(at, {"pos", "p2", ECS_READ}).
#define store_query(at, ...)                                                                       \
    make_query(at, (const ecs_term[]){__VA_ARGS__}, BASE_COUNT(((const ecs_term[]){__VA_ARGS__})))

static inline ecs_vec2 store_vec2(const store* fixture, ecs_entity entity, ecs_component_id id) {
    return *(const ecs_vec2*)ecs_get(fixture->world, entity, id);
}

static inline void store_set_pos(store* fixture, ecs_entity entity, float x) {
    ecs_vec2 value = {x, -x};
    assert_ok(ecs_set(fixture->world, entity, fixture->pos, &value));
}

/// A case with a store; one whose store is not sealed yet.
#define STORE_CASE(name) CASE_WITH(store, at, store_make(at, NULL), store_close(at), name)
#define STORE_OPEN_CASE(name) CASE_WITH(store, at, store_open(at, NULL), store_close(at), name)
