// SPDX-License-Identifier: MIT
/// The world of the ecs tests: types, templates and events of all kinds; its memory is counted.
#pragma once

#include "ecs_parts.h"

#include "ecs_internal.h"

#include "base/hash.h"

/// Has three bytes of padding after `kind`, so it is not dense.
typedef struct store_body {
    uint8_t kind;
    float mass;
} store_body;

static const ecs_field store_body_fields[] = {
    FIELD_OF(store_body, kind, U8, 1),
    FIELD_OF(store_body, mass, F32, 1),
};

typedef struct store_hit {
    ecs_entity from;
    int32_t amount;
} store_hit;

static const ecs_field store_hit_fields[] = {
    FIELD_OF(store_hit, from, ENTITY, 1),
    FIELD_OF(store_hit, amount, I32, 1),
};

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
    "thing { \"pos:p2\" { _track:b=yes; _replicate:b=yes; value:p2=1,2 }\n"
    "  \"hp:i\" { _track:b=yes; value:i=100 }\n vel:p2=3,4\n }\n"
    "named { \"title:t\" { _track:b=yes; value:t=\"absent\"; }\n score:i=7\n }\n"
    "solid { \"body:store_body\" { _track:b=yes; }\n \"hp:i\" { _track:b=yes; value:i=5 }\n"
    "  \"team:u8\" { _track:b=yes; value:u8=1 }\n }\n"
    "marker { leader:eid=0; note:t=\"n\"; }\n"
    "board { _singleton:b=yes; score:i=5\n }\n"
    "table { score:i=7\n }\n"
    "spot { \"pos:p2\" { _replicate:b=yes; value:p2=0,0 }\n _singleton:b=yes }\n"
    "nothing { }\n";

/// In the order of the members of a store.
static const char* const store_templates[] = {
    "ball",  "orb",   "mover", "rock",   "fast",    "pad",   "sign",  "poster", "link",
    "thing", "named", "solid", "marker", "nothing", "board", "table", "spot"};
static const char* const store_components[] = {"pos",   "vel",    "radius", "hp",    "boost",
                                               "title", "title2", "target", "score", "body",
                                               "team",  "leader", "note"};

typedef struct store {
    ecs_world* world;
    scarce_memory memory;    ///< of the world
    ecs_world_config config; ///< of the world; may be changed between store_begin and store_open
    union {
        struct {
            ecs_template_id ball, orb, mover, rock, fast, pad, sign;
            ecs_template_id poster, link, thing, named, solid, marker, nothing, board, table, spot;
        };
        ecs_template_id templates[BASE_COUNT(store_templates)];
    };
    union {
        struct {
            ecs_component_id pos, vel, radius, hp, boost, title, title2, target, score, body;
            ecs_component_id team, leader, note;
        };
        ecs_component_id components[BASE_COUNT(store_components)];
    };
    ecs_event_type hit, ping;
    char trace[1024]; ///< systems append to it
} store;

/// Memory, and the config of a world.
static inline void store_begin(store* fixture) {
    memset(fixture, 0, sizeof *fixture);
    fixture->config = scarce_world(&fixture->memory);
}

/// Make the world of the config, with types, templates and events. Tests may add queries and
/// systems before store_seal. @return the first error. The caller closes the store in any case.
static inline ecs_result store_try_open(store* fixture) {
    ecs_event_desc hit = {"hit", sizeof(store_hit), store_hit_fields, 2, true};
    ecs_event_desc ping = {"ping", 0, NULL, 0, false};
    ecs_type_desc body = TYPE_OF("store_body", store_body, store_body_fields);
    ecs_result result = ecs_world_create(&fixture->config, &fixture->world);
    if (result == ECS_OK) result = ecs_type_register(fixture->world, &body, NULL);
    if (result == ECS_OK)
        result =
            ecs_template_load(fixture->world, "store.blk", store_text, strlen(store_text), NULL);
    if (result == ECS_OK) result = ecs_event_register(fixture->world, &hit, &fixture->hit);
    if (result == ECS_OK) result = ecs_event_register(fixture->world, &ping, &fixture->ping);
    return result;
}

/// Find the templates and components of a sealed world.
static inline void store_name(store* fixture) {
    for (uint32_t i = 0; i < BASE_COUNT(store_templates); i++)
        fixture->templates[i] = ecs_template_find(fixture->world, store_templates[i]);
    for (uint32_t i = 0; i < BASE_COUNT(store_components); i++)
        fixture->components[i] = ecs_component_find(fixture->world, store_components[i]);
}

static inline void store_seal(store* fixture) {
    assert_ok(ecs_world_seal(fixture->world, NULL));
    store_name(fixture);
}

/// Of a store that has begun.
static inline void store_make_begun(store* fixture) {
    assert_ok(store_try_open(fixture));
    store_seal(fixture);
}

static inline void store_open(store* fixture) {
    store_begin(fixture);
    assert_ok(store_try_open(fixture));
}

/// Open and seal.
static inline void store_make(store* fixture) {
    store_begin(fixture);
    store_make_begun(fixture);
}

static inline void store_close(store* fixture) {
    if (fixture->world && fixture->world->is_sealed) ecs_storage_validate(fixture->world);
    ecs_world_destroy(fixture->world);
    assert_int_equal(fixture->memory.bytes, 0);
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

static inline void store_set_text(store* fixture, ecs_entity entity, ecs_component_id component,
                                  const char* text) {
    const ecs_string string = {.data = (char*)(uintptr_t)text, .size = (uint32_t)strlen(text)};
    assert_ok(ecs_set(fixture->world, entity, component, &string));
}

static inline void store_mark(store* fixture, const char* text) {
    size_t used = strlen(fixture->trace);
    (void)snprintf(fixture->trace + used, sizeof(fixture->trace) - used, "%s", text);
}

/// A system that does nothing.
static inline void store_idle(const ecs_stage* stage, const ecs_rows* rows) {}

static inline void store_step(store* fixture) {
    step_world(fixture->world);
}

static char store_fault[512];

static inline void store_keep_fault(const char* condition, const char* file, int line) {
    (void)snprintf(store_fault, sizeof store_fault, "%s", condition);
    mock_assert(0, condition, file, line);
}

/// A step of the world ends with an assertion, whose text is in store_fault.
#define store_expect_fault(world, step)                                                            \
    do {                                                                                           \
        base_assert_handler_set(store_keep_fault);                                                 \
        expect_assert_failure(ecs_world_step(world, step));                                        \
        base_assert_handler_set(test_assert_handler);                                              \
    } while (0)

/// A case with a store; one whose store is not sealed yet; the same with a changed config:
/// STORE_WITH_CASE(name, at->config.is_mirror = true).
#define STORE_CASE(name) CASE_WITH(store, at, store_make(at), store_close(at), name)
#define STORE_OPEN_CASE(name) CASE_WITH(store, at, store_open(at), store_close(at), name)
#define STORE_WITH_CASE(name, ...)                                                                 \
    CASE_WITH(store, at, (store_begin(at), __VA_ARGS__, store_make_begun(at)), store_close(at),    \
              name)
#define STORE_OPEN_WITH_CASE(name, ...)                                                            \
    CASE_WITH(store, at, (store_begin(at), __VA_ARGS__, assert_ok(store_try_open(at))),            \
              store_close(at), name)
