// SPDX-License-Identifier: MIT
/// What worlds are made of, in the tests of the ecs.
#pragma once

#include "scarce.h"
#include "test.h"

#include "ecs/ecs.h"

/// The description of a field of a C struct, and of the struct.
#define FIELD_OF(type, member, kind_, count_)                                                      \
    {                                                                                              \
        .name = #member, .offset = offsetof(type, member), .kind = ECS_FIELD_##kind_,              \
        .count = count_                                                                            \
    }
#define TYPE_OF(name_, type, fields_)                                                              \
    {                                                                                              \
        .name = name_, .size = sizeof(type), .align = _Alignof(type), .fields = fields_,           \
        .field_count = BASE_COUNT(fields_)                                                         \
    }

/// Register a system: system_add(world, .name = "move", .stage = "act", .run = run_move).
#define system_try(world, ...) ecs_system_register(world, &(const ecs_system_desc){__VA_ARGS__})
#define system_add(world, ...) assert_ok(system_try(world, __VA_ARGS__))

/// Lists of a system that stand where they are named: EVENTS("hit"), TERMS({"hp", "i", ECS_READ}).
#define LIST_OF(list, number, type, ...)                                                           \
    .list = (const type[]){__VA_ARGS__}, .number = BASE_COUNT(((const type[]){__VA_ARGS__}))
#define AFTER(...) LIST_OF(after, after_count, char* const, __VA_ARGS__)
#define BEFORE(...) LIST_OF(before, before_count, char* const, __VA_ARGS__)
#define EVENTS(...) LIST_OF(events, event_count, char* const, __VA_ARGS__)
#define READS(...) LIST_OF(reads, read_count, char* const, __VA_ARGS__)
#define TAGS(...) LIST_OF(tags, tag_count, char* const, __VA_ARGS__)
#define TERMS(...) LIST_OF(terms, term_count, ecs_term, __VA_ARGS__)
#define TRACK(...) LIST_OF(track, track_count, char* const, __VA_ARGS__)
#define WRITES(...) LIST_OF(writes, write_count, char* const, __VA_ARGS__)

/// The config of a world whose memory is counted.
static inline ecs_world_config scarce_world(scarce_memory* memory) {
    scarce_init(memory);
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &memory->allocator;
    return config;
}

/// A world with these templates, not sealed yet.
static inline ecs_world* world_of(const char* text) {
    ecs_world_config config = ecs_world_config_default();
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    assert_ok(ecs_template_load(world, "world.blk", text, strlen(text), NULL));
    return world;
}

/// The caller frees it: base_bytes_deinit().
static inline base_bytes world_saved(ecs_world* world) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    ecs_world_save(world, &bytes);
    return bytes;
}

/// A save of the world has these bytes.
static inline void world_expect_saved(ecs_world* world, const base_bytes* expected) {
    base_bytes bytes = world_saved(world);
    assert_int_equal(bytes.size, expected->size);
    assert_memory_equal(bytes.data, expected->data, bytes.size);
    base_bytes_deinit(&bytes);
}

/// Sealing ends with this result, and these words are reported.
static inline void seal_refused(ecs_world* world, ecs_result expected, const char* words) {
    base_report_first report;
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(world, &reporter), expected);
    assert_non_null(strstr(report.text, words));
}

static inline void step_world(ecs_world* world) {
    ecs_step step = {.tick = ecs_world_tick(world) + 1, .dt = 0.5f};
    ecs_world_step(world, &step);
}
