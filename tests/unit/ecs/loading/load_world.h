// SPDX-License-Identifier: MIT
/// Shared code for the tests of loading and of families: a world whose components need resources
/// and have parents, a loader that the test controls.
#pragma once

#include "ecs_parts.h"

#include "ecs_internal.h"

/// Needs `count` resources named id, id + 1, ...; none when count is 0.
typedef struct load_mesh {
    uint32_t id;
    uint32_t count;
} load_mesh;

static const ecs_field load_mesh_fields[] = {
    FIELD_OF(load_mesh, id, U32, 1),
    FIELD_OF(load_mesh, count, U32, 1),
};

static inline void load_mesh_create(const ecs_type_context* context, void* value) {
    memset(value, 0, sizeof(load_mesh));
}

static inline void load_mesh_destroy(const ecs_type_context* context, void* value) {
    memset(value, 0xdd, sizeof(load_mesh));
}

static inline ecs_resource load_resource(uint32_t id) {
    ecs_resource resource = {.kind = "mesh"};
    (void)snprintf(resource.name, sizeof(resource.name), "m%u", id);
    return resource;
}

static inline uint32_t load_mesh_request(const void* value, ecs_resource* resources,
                                         uint32_t capacity) {
    const load_mesh* mesh = value;
    for (uint32_t i = 0; i < mesh->count && i < capacity; i++)
        resources[i] = load_resource(mesh->id + i);
    return mesh->count;
}

static const ecs_type_ops load_mesh_ops = {
    .create = load_mesh_create, .destroy = load_mesh_destroy, .request = load_mesh_request};

static const ecs_type_desc load_mesh_desc = {.name = "Mesh",
                                             .size = sizeof(load_mesh),
                                             .align = _Alignof(load_mesh),
                                             .fields = load_mesh_fields,
                                             .field_count = BASE_COUNT(load_mesh_fields),
                                             .ops = &load_mesh_ops};

static const char load_text[] =
    "prop { \"mesh:Mesh\"{ _track:b=yes; id:u32=1; count:u32=1 }\n hp:i=5\n }\n"
    "sign { \"mesh:Mesh\"{ id:u32=1; count:u32=1 }\n"
    "       \"title:t\"{ _track:b=yes; value:t=\"a title that is far too long to lie inline\" }\n "
    "}\n"
    "shared { \"mesh:Mesh\"{ id:u32=1; count:u32=1 }\n \"hp:i\"{ _replicate:b=yes; value:i=3 }\n "
    "}\n"
    "king { _singleton:b=yes\n \"mesh:Mesh\"{ id:u32=1; count:u32=1 }\n }\n"
    "limb { ecs.parent:eid=0\n hp:i=1\n }\n"
    "tree { ecs.parent:eid=0\n \"mesh:Mesh\"{ id:u32=1; count:u32=1 }\n hp:i=2\n }\n"
    "net { \"ecs.parent:eid\"{ _replicate:b=yes; value:eid=0 }\n }\n"
    "plain { hp:i=9\n }\n";

/// A loader that the test controls.
typedef struct load_manual {
    ecs_load_answer answer;      ///< about resources that have not ended
    uint32_t asked;              ///< calls
    ecs_load_answer ended[8192]; ///< by id: ECS_LOAD_BUSY where it has not
} load_manual;

static inline load_manual* load_manual_make(void) {
    load_manual* manual = calloc(1, sizeof(*manual));
    manual->answer = ECS_LOAD_BUSY;
    for (uint32_t id = 0; id < BASE_COUNT(manual->ended); id++)
        manual->ended[id] = ECS_LOAD_BUSY;
    return manual;
}

static inline ecs_load_answer load_ask(void* context, const ecs_resource* resource) {
    load_manual* manual = context;
    const ecs_load_answer ended = manual->ended[strtoul(resource->name + 1, NULL, 10)];
    manual->asked++;
    return ended != ECS_LOAD_BUSY ? ended : manual->answer;
}

/// The next poll finds the load of this id finished.
static inline void load_finish(load_manual* manual, uint32_t id, bool is_loaded) {
    manual->ended[id] = is_loaded ? ECS_LOAD_READY : ECS_LOAD_FAILED;
}

static inline ecs_loading_config load_config(load_manual* manual, base_reporter reporter) {
    return (ecs_loading_config){.load = load_ask, .load_context = manual, .reporter = reporter};
}

/// In the order of the members of a load.
static const char* const load_templates[] = {"prop", "sign", "shared", "king",
                                             "limb", "tree", "net",    "plain"};

typedef struct load {
    ecs_world* world;
    scarce_memory memory;    ///< of the world
    ecs_world_config config; ///< of the world; may be changed between load_begin and load_open
    union {
        struct {
            ecs_template_id prop, sign, shared, king, limb, tree, net, plain;
        };
        ecs_template_id templates[BASE_COUNT(load_templates)];
    };
    ecs_component_id mesh, hp, title, parent;
    ecs_event_type hit;
    ecs_loading_config loading;
    base_report_first report;
    load_manual* manual;
} load;

/// Memory, and the config of a world.
static inline void load_begin(load* fixture) {
    memset(fixture, 0, sizeof(*fixture));
    fixture->config = scarce_world(&fixture->memory);
}

/// The fixture owns world and loader.
static inline void load_open_begun(load* fixture) {
    static const ecs_field amount[] = {{.name = "amount", .kind = ECS_FIELD_I32, .count = 1}};
    ecs_event_desc hit = {"hit", sizeof(int32_t), amount, 1, false};
    fixture->manual = load_manual_make();
    assert_ok(ecs_world_create(&fixture->config, &fixture->world));
    assert_ok(ecs_type_register(fixture->world, &load_mesh_desc, NULL));
    assert_ok(ecs_template_load(fixture->world, "load.blk", load_text, strlen(load_text),
                                test_reporter()));
    assert_ok(ecs_event_register(fixture->world, &hit, &fixture->hit));
}

static inline void load_open(load* fixture) {
    load_begin(fixture);
    load_open_begun(fixture);
}

static inline ecs_result load_try_seal(load* fixture) {
    ecs_world* world = fixture->world;
    ecs_result result = ecs_world_seal(world, NULL);
    if (result != ECS_OK) return result;
    for (uint32_t i = 0; i < BASE_COUNT(load_templates); i++)
        fixture->templates[i] = ecs_template_find(world, load_templates[i]);
    fixture->mesh = ecs_component_find(world, "mesh");
    fixture->hp = ecs_component_find(world, "hp");
    fixture->title = ecs_component_find(world, "title");
    fixture->parent = ecs_component_find(world, ECS_PARENT_NAME);
    fixture->loading = load_config(fixture->manual, base_reporter_first(&fixture->report));
    return result;
}

/// Seal the world with the manual loader.
static inline void load_seal(load* fixture) {
    assert_ok(load_try_seal(fixture));
    ecs_loading_set(fixture->world, &fixture->loading);
}

static inline void load_make_begun(load* fixture) {
    load_open_begun(fixture);
    load_seal(fixture);
}

static inline void load_make(load* fixture) {
    load_begin(fixture);
    load_make_begun(fixture);
}

static inline void load_close(load* fixture) {
    if (fixture->world && fixture->world->is_sealed) ecs_world_validate(fixture->world);
    ecs_world_destroy(fixture->world);
    free(fixture->manual);
    assert_int_equal(fixture->memory.bytes, 0);
}

static inline ecs_result load_try_create(load* fixture, ecs_template_id template_id, uint32_t id,
                                         uint32_t count, ecs_entity* entity) {
    load_mesh mesh = {id, count};
    ecs_init init = {fixture->mesh, &mesh};
    return ecs_create(fixture->world, template_id, &init, 1, entity);
}

/// Create an entity that needs the resource `id`.
static inline ecs_entity load_create(load* fixture, ecs_template_id template_id, uint32_t id) {
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_ok(load_try_create(fixture, template_id, id, 1, &entity));
    return entity;
}

static inline ecs_entity load_child(load* fixture, ecs_template_id template_id, ecs_entity parent) {
    ecs_entity entity = ECS_ENTITY_NONE;
    ecs_init init = {fixture->parent, &parent};
    assert_ok(ecs_create(fixture->world, template_id, &init, 1, &entity));
    return entity;
}

/// A resource arrives, and the world polls. @return how many entities came with it.
static inline uint32_t load_arrive(load* fixture, uint32_t id) {
    load_finish(fixture->manual, id, true);
    return ecs_loading_poll(fixture->world);
}

static inline void load_step(load* fixture) {
    step_world(fixture->world);
}

/// A case with such a world; one whose world is not sealed yet; the same with a changed config:
/// LOAD_WITH_CASE(name, at->config.is_mirror = true).
#define LOAD_CASE(name) CASE_WITH(load, at, load_make(at), load_close(at), name)
#define LOAD_OPEN_CASE(name) CASE_WITH(load, at, load_open(at), load_close(at), name)
#define LOAD_WITH_CASE(name, ...)                                                                  \
    CASE_WITH(load, at, (load_begin(at), __VA_ARGS__, load_make_begun(at)), load_close(at), name)
#define LOAD_OPEN_WITH_CASE(name, ...)                                                             \
    CASE_WITH(load, at, (load_begin(at), __VA_ARGS__, load_open_begun(at)), load_close(at), name)

/// Two such worlds.
typedef struct loads {
    load a, b;
} loads;

static inline void loads_make(loads* at) {
    load_make(&at->a);
    load_make(&at->b);
}

static inline void loads_close(loads* at) {
    load_close(&at->a);
    load_close(&at->b);
}

#define LOADS_CASE(name) CASE_WITH(loads, at, loads_make(at), loads_close(at), name)
