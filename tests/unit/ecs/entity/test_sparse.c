// SPDX-License-Identifier: MIT
// Sparse components (S5.2): what is refused, by whom and with which words; failing memory. What
// they do is the business of test_sparse_model.
#include "table/store_world.h"
#include "template/data_world.h"

#include "ecs/debug.h"
#include "ecs/template_files.h"

static const char good[] = "a { hp:i=5 \"stun:i\"{ _sparse:b=yes; _track:b=yes; value:i=7 }\n"
                           "    \"note:t\"{ _sparse:b=yes; _track:b=yes; value:t=long } }\n"
                           "b { hp:i=5 }\n";

static void words_that_do_not_fit_are_refused(void** state) {
    (void)state;
    ecs_world* world = data_world_create(NULL);
    data_load_refused(world, "a { \"x:i\"{ _sparse:b=yes; _replicate:b=yes } }",
                      "x.blk:1: error: component 'x': _sparse with _replicate: a sparse component "
                      "is not sent to clients; keep what they see in a component of the row");
    data_load_refused(world, "a { \"ecs.parent:eid\"{ _sparse:b=yes } }",
                      "x.blk:1: error: component 'ecs.parent': _sparse: parents lie in rows");
    data_load_ok(world, "a { _group { _sparse:b=yes; x:i=1 } }");
    assert_int_equal(data_find(world, "a", "x")->flags, ECS_COMPONENT_SPARSE);
    ecs_world_destroy(world);
}

// Seal a world of a text; `system` may be NULL.
static void seal_refused(const char* text, const ecs_system_desc* system, const char* message) {
    ecs_world* world = data_world_create(NULL);
    base_report_first report = {{0}, 0};
    const base_reporter reporter = base_reporter_first(&report);
    data_load_ok(world, text);
    if (system) assert_int_equal(ecs_system_register(world, system), ECS_OK);
    assert_int_equal(ecs_world_seal(world, &reporter), ECS_ERR_TYPE);
    assert_string_equal(report.text, message);
    ecs_world_destroy(world);
}

static void run_nothing(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    (void)rows;
}
static void enter_nothing(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {
    (void)stage;
    (void)entities;
    (void)count;
}
static void handle_nothing(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage;
    (void)event;
    (void)rows;
}

static void what_asks_by_archetype_is_refused_at_seal(void** state) {
    (void)state;
    static const ecs_term terms[] = {{"stun", "i", ECS_READ}};
    static const ecs_term any[] = {{"stun", "i", ECS_ANY}, {"hp", "i", ECS_ANY}};
    static const char* const events[] = {"EntityCreated"};
    ecs_system_desc system = {
        .name = "s", .stage = "act", .run = run_nothing, .terms = any, .term_count = 2};
    seal_refused(good, &system, "error: query 0 of s: 'stun' is sparse and cannot be one of any");
    system.terms = terms;
    system.term_count = 1;
    system.on_enter = enter_nothing;
    seal_refused(good, &system,
                 "error: system 's' asks for a sparse component: it cannot have on_enter, on_leave "
                 "or first_update");
    system.on_enter = NULL;
    system.events = events;
    system.event_count = 1;
    system.on_event = handle_nothing;
    seal_refused(good, &system,
                 "error: system 's' asks for a sparse component: it cannot have handlers of "
                 "EntityCreated and the like");
}

static void templates_that_differ_are_refused_at_seal(void** state) {
    (void)state;
    seal_refused("a { \"x:i\"{ _sparse:b=yes } }\nb { x:i=1 }", NULL,
                 "x.blk:2: error: component 'x' is sparse: it must have the same _sparse and "
                 "_track here as in template 'a'");
    seal_refused("a { x:i=1 }\nb { \"x:i\"{ _sparse:b=yes } }", NULL,
                 "x.blk:2: error: component 'x' is sparse: it must have the same _sparse and "
                 "_track here as in template 'a'");
    seal_refused("a { \"x:i\"{ _sparse:b=yes } }\nb { \"x:i\"{ _sparse:b=yes; _track:b=yes } }",
                 NULL,
                 "x.blk:2: error: component 'x' is sparse: it must have the same _sparse and "
                 "_track here as in template 'a'");
}

static ecs_world* good_world(const base_allocator* allocator) {
    ecs_world* world = data_world_create(allocator);
    if (!world) return NULL;
    const ecs_result loaded = ecs_template_load(world, "x.blk", good, sizeof good - 1, NULL);
    if (loaded == ECS_OK && ecs_world_seal(world, NULL) == ECS_OK) return world;
    ecs_world_destroy(world);
    return NULL;
}

static void it_is_given_after_creation_to_entities_that_may_have_it(void** state) {
    (void)state;
    ecs_world* world = good_world(NULL);
    const ecs_component_id stun = ecs_component_find(world, "stun");
    const ecs_component_id hp = ecs_component_find(world, "hp");
    const int32_t value = 3;
    const ecs_init init = {stun, &value};
    ecs_entity a, b;
    const ecs_template_id first = ecs_template_find(world, "a");
    assert_int_equal(ecs_create(world, first, &init, 1, &a), ECS_ERR_MISSING);
    assert_int_equal(ecs_create(world, first, NULL, 0, &a), ECS_OK);
    assert_int_equal(ecs_create(world, ecs_template_find(world, "b"), NULL, 0, &b), ECS_OK);
    assert_null(ecs_find(world, a, stun));
    assert_int_equal(ecs_add(world, b, stun, NULL), ECS_ERR_MISSING);
    assert_int_equal(ecs_add(world, a, hp, NULL), ECS_ERR_MISSING);
    assert_int_equal(ecs_remove(world, a, hp), ECS_ERR_MISSING);
    assert_int_equal(ecs_add(world, a, UINT16_MAX, NULL), ECS_ERR_MISSING);
    assert_int_equal(ecs_add(world, a, stun, NULL), ECS_OK);
    assert_int_equal(*(const int32_t*)ecs_get(world, a, stun), 7);
    assert_int_equal(ecs_add(world, a, stun, &value), ECS_OK);
    assert_int_equal(*(const int32_t*)ecs_get(world, a, stun), 3);
    assert_int_equal(ecs_destroy(world, a), ECS_OK);
    assert_int_equal(ecs_add(world, a, stun, NULL), ECS_ERR_STALE);
    assert_int_equal(ecs_remove(world, a, stun), ECS_ERR_STALE);
    assert_true(ecs_command_remove(world, b, stun));
    const uint64_t refused = ecs_world_counters(world)->commands_refused;
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, refused + 1);
    ecs_world_destroy(world);
}

static void a_reload_changes_no_more_than_defaults(void** state) {
    (void)state;
    static const struct {
        const char* text;
        ecs_result result;
    } cases[] = {
        {"a { hp:i=5 \"stun:i\"{ _sparse:b=yes; _track:b=yes; value:i=9 }\n"
         "    \"note:t\"{ _sparse:b=yes; _track:b=yes; value:t=long } }\nb { hp:i=5 }\n",
         ECS_OK},
        {"a { hp:i=5 stun:i=7 \"note:t\"{ _sparse:b=yes; _track:b=yes } }\nb { hp:i=5 }\n",
         ECS_ERR_TYPE},
        {"a { hp:i=5 \"note:t\"{ _sparse:b=yes; _track:b=yes } }\nb { hp:i=5 }\n", ECS_ERR_TYPE},
        {"a { hp:i=5 \"stun:i\"{ _sparse:b=yes; _track:b=yes }\n"
         "    \"note:t\"{ _sparse:b=yes; _track:b=yes } }\n"
         "b { hp:i=5 \"stun:i\"{ _sparse:b=yes; _track:b=yes } }\n",
         ECS_ERR_TYPE},
        {"a { \"hp:i\"{ _sparse:b=yes } \"stun:i\"{ _sparse:b=yes; _track:b=yes }\n"
         "    \"note:t\"{ _sparse:b=yes; _track:b=yes } }\nb { hp:i=5 }\n",
         ECS_ERR_TYPE},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        ecs_world* world = good_world(NULL);
        const ecs_component_id stun = ecs_component_find(world, "stun");
        ecs_entity a;
        assert_int_equal(ecs_create(world, ecs_template_find(world, "a"), NULL, 0, &a), ECS_OK);
        assert_int_equal(ecs_add(world, a, stun, NULL), ECS_OK);
        base_bytes pack;
        base_bytes_init(&pack, NULL);
        ecs_pack_add(&pack, "x.blk", cases[i].text, strlen(cases[i].text));
        assert_int_equal(ecs_template_reload(world, pack.data, pack.size, false, NULL, NULL),
                         cases[i].result);
        base_bytes_deinit(&pack);
        ecs_world_validate(world);
        assert_int_equal(*(const int32_t*)ecs_get(world, a, stun), 7);
        assert_int_equal(ecs_remove(world, a, stun), ECS_OK);
        assert_int_equal(ecs_add(world, a, stun, NULL), ECS_OK);
        assert_int_equal(*(const int32_t*)ecs_get(world, a, stun), i == 0 ? 9 : 7);
        ecs_world_destroy(world);
    }
}

static void when_memory_runs_out_nothing_changes(void** state) {
    (void)state;
    uint32_t refused = 0;
    for (uint64_t at = 1; at < 2000; at++) {
        store_memory memory;
        store_memory_init(&memory);
        ecs_world* world = good_world(&memory.allocator);
        assert_non_null(world);
        const ecs_component_id kinds[] = {ecs_component_find(world, "stun"),
                                          ecs_component_find(world, "note")};
        ecs_entity made[70];
        assert_int_equal(ecs_create_many(world, ecs_template_find(world, "a"), 70, made), ECS_OK);
        memory.fail_at = memory.calls + at;
        bool is_full = false;
        for (uint32_t i = 0; i < 140; i++) {
            const ecs_entity entity = made[i / 2];
            const ecs_result result = ecs_add(world, entity, kinds[i % 2], NULL);
            assert_true(result == ECS_OK || result == ECS_ERR_MEMORY);
            assert_int_equal(ecs_find(world, entity, kinds[i % 2]) != NULL, result == ECS_OK);
            is_full = is_full || result == ECS_ERR_MEMORY;
        }
        memory.fail_at = 0;
        ecs_world_validate(world);
        ecs_world_destroy(world);
        assert_int_equal(memory.bytes_out, 0);
        refused += is_full;
        if (!is_full) break;
    }
    assert_true(refused > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(words_that_do_not_fit_are_refused),
        TEST(what_asks_by_archetype_is_refused_at_seal),
        TEST(templates_that_differ_are_refused_at_seal),
        TEST(it_is_given_after_creation_to_entities_that_may_have_it),
        TEST(a_reload_changes_no_more_than_defaults),
        TEST(when_memory_runs_out_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
