// SPDX-License-Identifier: MIT
/// Shared code for the tests of types and templates: a world without entities, and functions that
/// load texts.
#pragma once

#include "ecs_parts.h"
#include "text_table.h"

typedef struct data_body {
    ecs_vec3 velocity;
    float mass;
    uint8_t layer;
    ecs_color color;
    int16_t cells[2];
    ecs_entity owner;
    bool is_solid;
    double exact;
} data_body;

static const ecs_field data_body_fields[] = {
    FIELD_OF(data_body, velocity, F32, 3),  FIELD_OF(data_body, mass, F32, 1),
    FIELD_OF(data_body, layer, U8, 1),      FIELD_OF(data_body, color, U8, 4),
    FIELD_OF(data_body, cells, I16, 2),     FIELD_OF(data_body, owner, ENTITY, 1),
    FIELD_OF(data_body, is_solid, BOOL, 1), FIELD_OF(data_body, exact, F64, 1),
};

static const ecs_type_desc data_body_desc = TYPE_OF("RigidBody", data_body, data_body_fields);

/// Make a world with the tag "server" and the type RigidBody.
static inline ecs_world* data_world_create(const base_allocator* allocator) {
    static const char* const tags[] = {"server"};
    ecs_world_config config = ecs_world_config_default();
    config.allocator = allocator;
    config.tags = tags;
    config.tag_count = 1;
    // No test here creates an entity. A small world is quick to create ten thousand times.
    config.limits.replicated_index_max = 2048;
    config.limits.local_entities_max = 2048;
    config.limits.events_queued_max = 16;
    config.limits.commands_queued_max = 16;
    ecs_world* world;
    if (ecs_world_create(&config, &world) != ECS_OK) return NULL;
    if (ecs_type_register(world, &data_body_desc, NULL) != ECS_OK) {
        ecs_world_destroy(world);
        return NULL;
    }
    return world;
}

/// A case with `world`.
#define DATA_CASE(name)                                                                            \
    CASE_MADE(ecs_world, world, data_world_create(NULL), ecs_world_destroy(world), name)

typedef struct data_load {
    base_report_first report;
    ecs_result result;
} data_load;

static inline data_load data_load_bytes(ecs_world* world, const char* text, size_t text_bytes) {
    data_load load;
    base_reporter reporter = base_reporter_first(&load.report);
    load.result = ecs_template_load(world, "x.blk", text, text_bytes, &reporter);
    return load;
}

/// Load a text that must be valid. Print the message when it is not.
static inline void data_load_ok(ecs_world* world, const char* text) {
    data_load load = data_load_bytes(world, text, strlen(text));
    if (load.report.count) print_error("%s\n", load.report.text);
    assert_ok(load.result);
    assert_int_equal(load.report.count, 0);
}

/// Load a text that must be refused, first in this line and for this, and check that no template
/// was added.
static inline void data_refused(ecs_world* world, uint32_t line, const char* text,
                                const char* message) {
    uint32_t templates = ecs_template_count(world);
    data_load load = data_load_bytes(world, text, strlen(text));
    assert_int_equal(load.result, ECS_ERR_SYNTAX);
    char expected[BASE_REPORT_BYTES_MAX];
    (void)snprintf(expected, sizeof expected, "x.blk:%u: error: %s", line, message);
    assert_string_equal(load.report.text, expected);
    assert_int_equal(ecs_template_count(world), templates);
}

/// All texts of a section: "=> LINE MESSAGE".
static inline void data_refusals(ecs_world* world, const char* file, const char* section) {
    text_table table = text_table_open(file, section);
    const char* text;
    for (const char* answer; (answer = text_table_next(&table, &text));) {
        char* message;
        const uint32_t line = (uint32_t)strtoul(answer, &message, 10);
        data_refused(world, line, text, message + 1);
    }
}

/// Load a text that must give exactly this warning.
static inline void data_load_warned(ecs_world* world, const char* text, const char* message) {
    data_load load = data_load_bytes(world, text, strlen(text));
    assert_ok(load.result);
    assert_string_equal(load.report.text, message);
    assert_int_equal(load.report.count, 1);
}

static inline const ecs_template* data_template(ecs_world* world, const char* name) {
    return ecs_template_get(world, ecs_template_find(world, name));
}

/// Find a component of a template by name; NULL when the template has none.
static inline const ecs_template_component* data_find(ecs_world* world, const char* template_name,
                                                      const char* component) {
    const ecs_template* template_ = data_template(world, template_name);
    assert_non_null(template_);
    return ecs_template_find_component(template_, ecs_component_find(world, component));
}

/// Check a default, given as text such as "600,700".
static inline void data_expect(ecs_world* world, const char* template_name, const char* component,
                               const char* text) {
    const ecs_template_component* found = data_find(world, template_name, component);
    assert_non_null(found);
    const ecs_component* info = ecs_component_get(world, found->component);
    char formatted[512];
    assert_true(ecs_type_format(ecs_type_get(world, info->type), found->value, formatted,
                                sizeof formatted));
    assert_string_equal(formatted, text);
}
