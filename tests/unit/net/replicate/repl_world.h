// SPDX-License-Identifier: MIT
/// Shared code for the replication tests: a server's world with its history, and a client's world
/// with its mirror. Both use the same templates.
#pragma once

#include "ecs_parts.h"
#include "schema_made.h"

#include "state/history.h"
#include "mirror/mirror.h"
#include "replicate/repl_state.h"

typedef struct repl_body {
    float mass;
    uint8_t kind;
    int16_t spin[2];
} repl_body;

static const ecs_field repl_body_fields[] = {
    {.name = "mass", .offset = offsetof(repl_body, mass), .kind = ECS_FIELD_F32, .count = 1},
    {.name = "kind",
     .offset = offsetof(repl_body, kind),
     .kind = ECS_FIELD_U8,
     .count = 1,
     .quant = {.min = 0, .step = 1, .bits = 3}},
    {.name = "spin", .offset = offsetof(repl_body, spin), .kind = ECS_FIELD_I16, .count = 2},
};

/// A value of this type needs one resource.
typedef struct repl_mesh {
    uint32_t id;
} repl_mesh;

static const ecs_field repl_mesh_fields[] = {{.name = "id", .kind = ECS_FIELD_U32, .count = 1}};

static inline void repl_mesh_create(const ecs_type_context* context, void* value) {
    memset(value, 0, sizeof(repl_mesh));
}

static inline void repl_mesh_destroy(const ecs_type_context* context, void* value) {}

static inline uint32_t repl_mesh_request(const void* value, ecs_resource* resources,
                                         uint32_t capacity) {
    if (capacity > 0) memcpy(resources[0].name, "cube", sizeof "cube");
    return 1;
}

static const ecs_type_ops repl_mesh_ops = {
    .create = repl_mesh_create, .destroy = repl_mesh_destroy, .request = repl_mesh_request};

/// A loader that is busy until the test says how it ends.
typedef struct slow_loader {
    uint32_t asked;
    bool is_done, is_loaded;
} slow_loader;

static inline ecs_load_answer slow_load(void* context, const ecs_resource* resource) {
    slow_loader* slow = context;
    assert_string_equal(resource->name, "cube");
    slow->asked++;
    if (!slow->is_done) return ECS_LOAD_BUSY;
    return slow->is_loaded ? ECS_LOAD_READY : ECS_LOAD_FAILED;
}

static inline void load_slowly(ecs_world* world, slow_loader* slow) {
    *slow = (slow_loader){.asked = 0};
    ecs_loading_set(world, &(ecs_loading_config){.load = slow_load, .load_context = slow});
}

static const char repl_text[] =
    "mover {\n"
    "  \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; value:p2=1,2 }\n"
    "  \"hp:i\" { _replicate:b=yes; _bits:i=8; value:i=100 }\n"
    "  \"secret:i\" { _track:b=yes; value:i=7 }\n"
    "}\n"
    "holder {\n"
    "  \"link:eid\" { _replicate:b=yes; value:eid=0 }\n"
    "  \"body:repl_body\" { _replicate:b=yes; kind:u8=3 }\n"
    "}\n"
    "extra { \"shield:i64\" { _replicate:b=yes; value:i64=-5 } \"flag:tag\"{ _replicate:b=yes; } "
    "}\n"
    "local { note:i=3 }\n"
    "model { \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; }\n"
    "        \"mesh:repl_mesh\"{ id:u32=1 }\n }\n"
    "limb { \"ecs.parent:eid\"{ _replicate:b=yes; value:eid=0 }\n }\n";

/// The classes by number: 0 public, 1 owner, 2 team.
static const char repl_class_text[] =
    "agent {\n"
    "  \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; value:p2=1,2 }\n"
    "  \"ammo:i\" { _replicate:b=yes; _visible:t=\"owner\"; value:i=30 }\n"
    "  \"plan:i\" { _replicate:b=yes; _visible:t=\"team\"; value:i=-1 }\n"
    "}\n"
    "spirit { \"plan:i\" { _replicate:b=yes; _visible:t=\"team\"; value:i=4 } }\n";

typedef struct repl_side {
    ecs_world* world;
    net_schema* schema;
    net_rows* rows;
    uint32_t index_max;
    ecs_template_id mover, holder, extra, local, model, limb, mover_extra, mover_local,
        holder_extra;
    ecs_component_id pos, hp, secret, link, body, shield;
} repl_side;

/// Open with more templates; `more` may be NULL.
static inline void repl_open_with(repl_side* side, bool is_mirror, uint32_t index_max,
                                  const char* more) {
    memset(side, 0, sizeof *side);
    ecs_type_desc mesh = TYPE_OF("repl_mesh", repl_mesh, repl_mesh_fields);
    mesh.ops = &repl_mesh_ops;
    const ecs_type_desc types[] = {TYPE_OF("repl_body", repl_body, repl_body_fields), mesh};
    const schema_wanted wanted = {.is_mirror = is_mirror,
                                  .index_max = index_max,
                                  .types = types,
                                  .type_count = BASE_COUNT(types),
                                  .more = more};
    side->index_max = index_max;
    side->schema = schema_made(repl_text, wanted, &side->world);
    side->rows = net_schema_rows(side->schema);
    side->mover = ecs_template_find(side->world, "mover");
    side->holder = ecs_template_find(side->world, "holder");
    side->extra = ecs_template_find(side->world, "extra");
    side->local = ecs_template_find(side->world, "local");
    side->model = ecs_template_find(side->world, "model");
    side->limb = ecs_template_find(side->world, "limb");
    side->pos = ecs_component_find(side->world, "pos");
    side->hp = ecs_component_find(side->world, "hp");
    side->secret = ecs_component_find(side->world, "secret");
    side->link = ecs_component_find(side->world, "link");
    side->body = ecs_component_find(side->world, "body");
    side->shield = ecs_component_find(side->world, "shield");
    if (is_mirror) return;
    side->mover_extra = ecs_template_find(side->world, "mover+extra");
    side->mover_local = ecs_template_find(side->world, "mover+local");
    side->holder_extra = ecs_template_find(side->world, "holder+extra");
}

static inline void repl_open(repl_side* side, bool is_mirror, uint32_t index_max) {
    repl_open_with(side, is_mirror, index_max, NULL);
}

static inline void repl_close(repl_side* side) {
    schema_unmake(side->schema, side->world);
}

static inline ecs_entity repl_create(repl_side* side, ecs_template_id template_id) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(ecs_create(side->world, template_id, NULL, 0, &entity));
    return entity;
}

static inline void repl_create_many(repl_side* side, ecs_template_id template_id,
                                    ecs_entity* entities, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        entities[i] = repl_create(side, template_id);
}

static inline void repl_destroy(repl_side* side, ecs_entity entity) {
    assert_ok(ecs_destroy(side->world, entity));
}

static inline void repl_move(repl_side* side, ecs_entity entity, float x, float y) {
    assert_ok(ecs_set(side->world, entity, side->pos, &(ecs_vec2){x, y}));
}

static inline void repl_become(repl_side* side, ecs_entity entity, ecs_template_id template_id) {
    assert_ok(ecs_recreate(side->world, entity, template_id, NULL, 0));
}

/// Step a world and its history by one tick.
static inline void repl_step(repl_side* side, net_history* history, ecs_tick tick) {
    ecs_step step = {.tick = tick, .dt = 0.5f};
    ecs_world_step(side->world, &step);
    net_history_step(history, side->world, tick);
    ecs_changes_clear(side->world);
}

static inline uint64_t repl_scope(repl_side* side) {
    return schema_digest(side->schema, side->world);
}
