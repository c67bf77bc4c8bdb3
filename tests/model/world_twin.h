// SPDX-License-Identifier: MIT
/// A simple world: entities in one array, every value in full, no archetypes, no chunks, no marks.
/// The model test makes all changes in both worlds and compares.
#pragma once

#include "base/rng.h"
#include "ecs/ecs.h"

enum {
    TWIN_POS,   // p2, tracked, replicated
    TWIN_VEL,   // p2
    TWIN_HP,    // i, tracked
    TWIN_TITLE, // t, tracked
    TWIN_BODY,  // twin_body, tracked, padded
    TWIN_TEAM,  // u8, tracked
    TWIN_PATH,  // list<i>, tracked
    TWIN_PROPS, // object, tracked
    TWIN_MARK,  // tag
    TWIN_COMPONENTS,
    TWIN_ENTITIES_MAX = 4096,
    TWIN_QUEUE_MAX = 4096,
    TWIN_TEXT_BYTES = 24,
    TWIN_PATH_MAX = 4,
    TWIN_PROPS_NAMES = 3,
};

typedef struct twin_path {
    uint32_t count;
    int32_t numbers[TWIN_PATH_MAX]; // 0 after the count
} twin_path;

/// {a:i b:i c:i inside:array=["A" "B" ...]}, of which a to c may be missing.
typedef struct twin_props {
    uint8_t has[TWIN_PROPS_NAMES];
    uint8_t inside;
    int32_t numbers[TWIN_PROPS_NAMES]; // 0 where the name is missing
} twin_props;

typedef struct twin_body {
    uint8_t kind;
    float mass;
} twin_body;

typedef struct twin_value {
    bool has;
    union {
        ecs_vec2 vec;
        int32_t number;
        twin_body body;
        uint8_t team;
        char text[TWIN_TEXT_BYTES];
        twin_path path;
        twin_props props;
    } as;
} twin_value;

typedef struct twin_entity {
    ecs_entity handle;
    bool is_alive;
    bool is_fresh; // created since the lists were cleared
    uint32_t shape;
    twin_value values[TWIN_COMPONENTS];
    twin_value told[TWIN_COMPONENTS];
} twin_entity;

/// A template and its values.
typedef struct twin_shape {
    const char* name;
    ecs_template_id id;
    bool is_replicated;
    twin_value defaults[TWIN_COMPONENTS];
} twin_shape;

/// Payload of both events: "hurt" takes hp, "spawn" makes an entity of a shape and hurts it.
typedef struct twin_record {
    ecs_entity from;
    int32_t amount;
    uint32_t shape;
} twin_record;

/// A handle, or the position of a creation in the next flush (is_pending).
typedef struct twin_target {
    bool is_pending;
    uint32_t value;
} twin_target;

typedef struct twin_event {
    bool is_spawn;
    bool is_broadcast;
    twin_target target;
    twin_target from;
    int32_t amount;
    uint32_t shape;
} twin_event;

typedef struct twin_command {
    bool is_create;
    ecs_entity entity;
    uint32_t shape;
    int32_t hp; // for a creation whose shape has it
} twin_command;

typedef struct twin_world {
    const twin_shape* shapes;
    twin_entity entities[TWIN_ENTITIES_MAX]; // destroyed ones stay, as stale handles
    uint32_t entity_count;
    twin_event queue[TWIN_QUEUE_MAX];
    uint32_t queue_count;
    twin_command commands[TWIN_QUEUE_MAX];
    uint32_t command_count;
    uint32_t pending_count; // creations among the commands
    uint32_t budget;        // events per flush
    ecs_entity created[TWIN_ENTITIES_MAX * 2];
    ecs_entity destroyed[TWIN_ENTITIES_MAX * 2];
    ecs_entity recreated[TWIN_ENTITIES_MAX * 2];
    uint32_t created_count, destroyed_count, recreated_count;
    ecs_change changed[TWIN_ENTITIES_MAX * TWIN_COMPONENTS];
    uint32_t changed_count;
    uint32_t exported_count;
    // The real world chooses handles; creations in a step take them from its list.
    const ecs_entity* handles;
    uint32_t handle_count;
    uint32_t handle_next;
} twin_world;

twin_entity* twin_find(twin_world* twin, ecs_entity handle); ///< NULL: it does not exist
twin_entity* twin_create(twin_world* twin, ecs_entity handle, uint32_t shape);
void twin_destroy(twin_world* twin, ecs_entity handle);
void twin_recreate(twin_world* twin, ecs_entity handle, uint32_t shape);
void twin_report_all(twin_entity* entity); ///< after inits of a creation or recreation
bool twin_equal(uint32_t component, const twin_value* a, const twin_value* b);
void twin_post(twin_world* twin, const twin_event* event);
void twin_step(twin_world* twin, ecs_tick tick);
void twin_apply(twin_world* twin); ///< commands
void twin_clear_lists(twin_world* twin);
