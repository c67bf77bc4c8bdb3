// SPDX-License-Identifier: MIT
/// Shared code for the tests of systems, events, tracking and saves: a small world with tracked and
/// untracked components: plain, padded and text.
#pragma once

#include "ecs_parts.h"

#include "base/hash.h"

/// Has three bytes of padding after `kind`, so it is not dense.
typedef struct live_body {
    uint8_t kind;
    float mass;
} live_body;

static const ecs_field live_body_fields[] = {
    FIELD_OF(live_body, kind, U8, 1),
    FIELD_OF(live_body, mass, F32, 1),
};

typedef struct live_hit {
    ecs_entity from;
    int32_t amount;
} live_hit;

static const ecs_field live_hit_fields[] = {
    FIELD_OF(live_hit, from, ENTITY, 1),
    FIELD_OF(live_hit, amount, I32, 1),
};

static const char live_text[] = "thing {\n"
                                "  \"pos:p2\" { _track:b=yes; _replicate:b=yes; value:p2=1,2 }\n"
                                "  \"hp:i\" { _track:b=yes; value:i=100 }\n"
                                "  vel:p2=3,4\n"
                                "}\n"
                                "named {\n"
                                "  \"title:t\" { _track:b=yes; value:t=\"absent\"; }\n"
                                "  score:i=7\n"
                                "}\n"
                                "solid {\n"
                                "  \"body:live_body\" { _track:b=yes; }\n"
                                "  \"hp:i\" { _track:b=yes; value:i=5 }\n"
                                "  \"team:u8\" { _track:b=yes; value:u8=1 }\n"
                                "}\n"
                                "marker { link:eid=0; note:t=\"n\"; }\n"
                                "nothing { }\n";

typedef struct live {
    ecs_world* world;
    ecs_template_id thing, named, solid, marker, nothing;
    ecs_component_id pos, hp, vel, title, score, body, team, link, note;
    ecs_event_type hit, ping;
    char trace[1024]; ///< systems append to it
} live;

static inline void live_mark(live* fixture, const char* text) {
    size_t used = strlen(fixture->trace);
    (void)snprintf(fixture->trace + used, sizeof(fixture->trace) - used, "%s", text);
}

/// Make a world with types, templates and events. Tests may register systems before live_seal.
static inline void live_open(live* fixture, const ecs_world_config* given) {
    memset(fixture, 0, sizeof(*fixture));
    ecs_world_config config = given != NULL ? *given : ecs_world_config_default();
    assert_ok(ecs_world_create(&config, &fixture->world));
    ecs_world* world = fixture->world;
    ecs_type_desc body = TYPE_OF("live_body", live_body, live_body_fields);
    assert_ok(ecs_type_register(world, &body, NULL));
    assert_ok(ecs_template_load(world, "live.blk", live_text, strlen(live_text), test_reporter()));
    ecs_event_desc hit = {"hit", sizeof(live_hit), live_hit_fields, 2, true};
    ecs_event_desc ping = {"ping", 0, NULL, 0, false};
    assert_ok(ecs_event_register(world, &hit, &fixture->hit));
    assert_ok(ecs_event_register(world, &ping, &fixture->ping));
}

static inline void live_seal(live* fixture) {
    ecs_world* world = fixture->world;
    assert_ok(ecs_world_seal(world, test_reporter()));
    fixture->thing = ecs_template_find(world, "thing");
    fixture->named = ecs_template_find(world, "named");
    fixture->solid = ecs_template_find(world, "solid");
    fixture->marker = ecs_template_find(world, "marker");
    fixture->nothing = ecs_template_find(world, "nothing");
    assert_int_not_equal(fixture->nothing, ECS_TEMPLATE_NONE);
    fixture->pos = ecs_component_find(world, "pos");
    fixture->hp = ecs_component_find(world, "hp");
    fixture->vel = ecs_component_find(world, "vel");
    fixture->title = ecs_component_find(world, "title");
    fixture->score = ecs_component_find(world, "score");
    fixture->body = ecs_component_find(world, "body");
    fixture->team = ecs_component_find(world, "team");
    fixture->link = ecs_component_find(world, "link");
    fixture->note = ecs_component_find(world, "note");
    assert_int_not_equal(fixture->note, ECS_COMPONENT_NONE);
}

static inline void live_make(live* fixture, const ecs_world_config* given) {
    live_open(fixture, given);
    live_seal(fixture);
}

static inline void live_close(live* fixture) {
    ecs_world_destroy(fixture->world);
}

static inline ecs_entity live_create(live* fixture, ecs_template_id template_id) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(fixture->world, template_id, NULL, 0, &entity));
    return entity;
}

/// A system that does nothing.
static inline void live_idle(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage, (void)rows;
}

static inline void live_step(live* fixture) {
    step_world(fixture->world);
}

static inline void live_set_text(live* fixture, ecs_entity entity, ecs_component_id component,
                                 const char* text) {
    ecs_string string = {0};
    const base_allocator* allocator = ecs_world_allocator(fixture->world);
    assert_true(ecs_string_set(allocator, &string, text, (uint32_t)strlen(text)));
    assert_ok(ecs_set(fixture->world, entity, component, &string));
    ecs_string_clear(allocator, &string);
}

/// A case with a live world; one whose world is not sealed yet.
#define LIVE_CASE(name) CASE_WITH(live, at, live_make(at, NULL), live_close(at), name)
#define LIVE_OPEN_CASE(name) CASE_WITH(live, at, live_open(at, NULL), live_close(at), name)
