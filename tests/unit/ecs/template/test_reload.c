// SPDX-License-Identifier: MIT
// P12, S5.2: templates are exchanged while a world runs. The model at the end applies the same
// texts to a simple list of entities.
#include "data_world.h"

#include "ecs/ecs.h"
#include "ecs_internal.h"

static base_bytes pack_text(const char* text) {
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    ecs_pack_add(&pack, "r.blk", text, strlen(text));
    return pack;
}

typedef struct reload_run {
    ecs_result result;
    ecs_reload_report done;
    base_report_first report;
} reload_run;

static reload_run reload_with(ecs_world* world, const char* text, bool is_locked) {
    reload_run run = {0};
    base_reporter reporter = base_reporter_first(&run.report);
    base_bytes pack = pack_text(text);
    run.result = ecs_template_reload(world, pack.data, pack.size, is_locked, &reporter, &run.done);
    base_bytes_deinit(&pack);
    return run;
}

static ecs_world* sealed_world(const base_allocator* allocator, const char* text) {
    ecs_world* world = data_world_create(allocator);
    if (!world) return NULL;
    base_bytes pack = pack_text(text);
    ecs_result result = ecs_template_load_pack(world, pack.data, pack.size, NULL);
    base_bytes_deinit(&pack);
    if (result == ECS_OK) result = ecs_world_seal(world, NULL);
    if (result == ECS_OK) return world;
    ecs_world_destroy(world);
    return NULL;
}

static ecs_entity make(ecs_world* world, const char* name) {
    ecs_entity entity = ECS_ENTITY_NONE;
    ecs_result result = ecs_create(world, ecs_template_find(world, name), NULL, 0, &entity);
    return result == ECS_OK ? entity : ECS_ENTITY_NONE;
}

static int32_t int_of(ecs_world* world, ecs_entity entity, const char* name) {
    const int32_t* value = ecs_find(world, entity, ecs_component_find(world, name));
    return value ? *value : INT32_MIN;
}

static void set_int(ecs_world* world, ecs_entity entity, const char* name, int32_t value) {
    assert_ok(ecs_set(world, entity, ecs_component_find(world, name), &value));
}

static const char* text_of(ecs_world* world, ecs_entity entity, const char* name) {
    return ecs_string_text(ecs_find(world, entity, ecs_component_find(world, name)));
}

static const char first_text[] = "a { \"x:i\"{ _track:b=yes; value:i=1 } y:i=2 s:t=\"one\" }\n"
                                 "b { _extends:t=a; z:i=3 }\n"
                                 "c { w:i=4; \"l:list<i>\"{ v:i=1 } }\n";

#define RELOAD_CASE(name)                                                                          \
    CASE_MADE(ecs_world, world, sealed_world(NULL, first_text), ecs_world_destroy(world), name)

RELOAD_CASE(values_follow_their_default_until_they_are_written) {
    ecs_entity plain = make(world, "a"), child = make(world, "b"), other = make(world, "c");
    ecs_entity both = make(world, "a+c"), written = make(world, "a");
    set_int(world, written, "x", 7);
    set_int(world, child, "y", 8);
    ecs_step step = {.tick = 1, .dt = 0.1f};
    ecs_world_step(world, &step);
    ecs_changes_clear(world);
    reload_run run = reload_with(world,
                                 "c { w:i=4; \"l:list<i>\"{ v:i=5; v:i=6 } }\n"
                                 "a { \"x:i\"{ _track:b=yes; value:i=10 } y:i=20 s:t=\"two\" }\n"
                                 "b { _extends:t=a; z:i=3 }\nnew { _extends:t=a; w:i=9 }",
                                 true);
    assert_string_equal(run.report.text, "");
    assert_ok(run.result);
    assert_int_equal(run.done.templates_changed, 3);
    assert_int_equal(run.done.templates_added, 1);
    assert_int_equal(run.done.entities_changed, 5);
    ecs_storage_validate(world);
    assert_int_equal(int_of(world, plain, "x"), 10);
    assert_int_equal(int_of(world, plain, "y"), 20);
    assert_string_equal(text_of(world, plain, "s"), "two");
    assert_int_equal(int_of(world, written, "x"), 7);
    assert_int_equal(int_of(world, written, "y"), 20);
    assert_int_equal(int_of(world, child, "x"), 10);
    assert_int_equal(int_of(world, child, "y"), 8);
    assert_int_equal(int_of(world, child, "z"), 3);
    assert_int_equal(int_of(world, both, "x"), 10);
    assert_int_equal(int_of(world, other, "w"), 4);
    // Ids stay. The new template comes after the composed one. Entities that are created now have
    // the new values.
    assert_int_equal(ecs_template_find(world, "a"), 1);
    assert_int_equal(ecs_template_find(world, "c"), 3);
    assert_int_equal(ecs_template_find(world, "a+c"), 4);
    assert_int_equal(ecs_template_find(world, "new"), 5);
    assert_int_equal(int_of(world, make(world, "a+c"), "y"), 20);
    assert_int_equal(int_of(world, make(world, "new"), "x"), 10);
    // The next step finds the tracked changes like any other change.
    step.tick = 2;
    ecs_world_step(world, &step);
    assert_int_equal(ecs_changes_get(world).changed_count, 3);
    uint64_t hash = ecs_world_state_hash(world);
    assert_true(hash != 0);
}

// A new default counts as a change even when it was written as often as the old one.
CASE(tracked_values_that_count_their_changes_are_found_different) {
    static const char* const texts[] = {
        "a { \"s:t\"{ _track:b=yes; value:t=one } \"l:list<i>\"{ _track:b=yes; v:i=1 }\n"
        "    \"o:object\"{ _track:b=yes; k:i=1; in:array{ v:i=1 } } }",
        "a { \"s:t\"{ _track:b=yes; value:t=two } \"l:list<i>\"{ _track:b=yes; v:i=2 }\n"
        "    \"o:object\"{ _track:b=yes; k:i=1; in:array{ v:i=2 } } }",
        "a { \"s:t\"{ _track:b=yes; value:t=\"\" } \"l:list<i>\"{ _track:b=yes }\n"
        "    \"o:object\"{ _track:b=yes } }"};
    ecs_world* world = sealed_world(NULL, texts[0]);
    assert_int_not_equal(make(world, "a"), ECS_ENTITY_NONE);
    ecs_step step = {.dt = 0.1f};
    ecs_world_step(world, &step);
    for (step.tick = 1; step.tick <= 6; step.tick++) {
        ecs_changes_clear(world);
        reload_run run = reload_with(world, texts[step.tick % 3], false);
        assert_ok(run.result);
        assert_int_equal(run.done.entities_changed, 1);
        ecs_world_step(world, &step);
        assert_int_equal(ecs_changes_get(world).changed_count, 3);
        ecs_world_validate(world);
    }
    ecs_world_destroy(world);
}

RELOAD_CASE(entities_get_and_lose_components_with_their_template) {
    ecs_entity entities[40];
    for (uint32_t i = 0; i < 40; i++) {
        entities[i] = make(world, i % 4 == 0 ? "b" : i % 4 == 1 ? "a" : i % 4 == 2 ? "a+c" : "c");
        if (i % 3 == 0 && i % 4 != 3) set_int(world, entities[i], "x", (int32_t)(100 + i));
    }
    // a and b change places, so that rows leave and enter the same archetypes.
    static const char second[] =
        "a { \"x:i\"{ _track:b=yes; value:i=1 } y:i=2 s:t=\"two\" z:i=30 }\n"
        "b { \"x:i\"{ _track:b=yes; value:i=5 } y:i=2 s:t=\"one\" }\n"
        "c { w:i=4; \"l:list<i>\"{ v:i=1 } s:t=three }\n";
    reload_run run = reload_with(world, second, false);
    assert_string_equal(run.report.text, "");
    assert_ok(run.result);
    ecs_storage_validate(world);
    for (uint32_t i = 0; i < 40; i++) {
        bool is_b = i % 4 == 0, is_a = i % 4 == 1, is_both = i % 4 == 2;
        assert_true(ecs_is_alive(world, entities[i]));
        int32_t x = i % 3 == 0 ? (int32_t)(100 + i) : is_b ? 5 : 1;
        assert_int_equal(int_of(world, entities[i], "x"), i % 4 == 3 ? INT32_MIN : x);
        assert_int_equal(int_of(world, entities[i], "z"), is_a || is_both ? 30 : INT32_MIN);
        assert_string_equal(text_of(world, entities[i], "s"), is_a   ? "two"
                                                              : is_b ? "one"
                                                                     : "three");
        assert_int_equal(int_of(world, entities[i], "w"), is_b || is_a ? INT32_MIN : 4);
    }
    ecs_step step = {.tick = 1, .dt = 0.1f};
    ecs_world_step(world, &step);
    ecs_storage_validate(world);
    // Load the first text again. A save of the world is the same after a restore.
    assert_ok(reload_with(world, first_text, false).result);
    ecs_storage_validate(world);
    base_bytes save, again;
    base_bytes_init(&save, NULL);
    base_bytes_init(&again, NULL);
    assert_ok(ecs_world_save(world, &save));
    ecs_world* twin = sealed_world(NULL, first_text);
    assert_ok(ecs_world_restore(twin, save.data, save.size));
    assert_ok(ecs_world_save(twin, &again));
    assert_int_equal(save.size, again.size);
    assert_memory_equal(save.data, again.data, save.size);
    base_bytes_deinit(&save);
    base_bytes_deinit(&again);
    ecs_world_destroy(twin);
}

typedef struct fault {
    const char* text;
    ecs_result result;
    const char* message;
    bool is_locked;
} fault;

CASE(what_is_wrong_changes_nothing) {
    static const char text[] =
        "a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=2 }\nb { _extends:t=a; z:i=3 }";
    static const fault faults[] = {
        {"a { x:i=1", ECS_ERR_SYNTAX, "r.blk:1: error: block 'a' is never closed: } is missing",
         false},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=5 }\nb { _extends:t=c; z:i=3 }",
         ECS_ERR_SYNTAX, "r.blk:2: error: template 'b' extends 'c', which does not exist", false},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=5 }", ECS_ERR_UNKNOWN,
         "r.blk:2: error: template 'b' is gone: a reload changes templates and adds some", false},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=2 }\nb { _extends:t=a\n z:i=3; n:i=3 }",
         ECS_ERR_TYPE,
         "r.blk:3: error: component 'n' is new: a running world keeps the components it began with",
         false},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:r=2 }\nb { _extends:t=a; z:i=3 }",
         ECS_ERR_SYNTAX, "r.blk:1: error: component 'y' is a r here and a i elsewhere", false},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } }\nb { _extends:t=a; z:i=3 }", ECS_ERR_TYPE,
         "error: component 'y' is in no template any more, but query 0 of (no system) asks for it",
         false},
        {"a { y:i=2\n \"x:i\"{ _replicate:b=yes; value:i=2 } }\nb { _extends:t=a; z:i=3 }",
         ECS_ERR_TYPE,
         "r.blk:2: error: template 'a': component 'x' is replicated: clients know it as it was",
         true},
        {"a { y:i=2; x:i=1 }\nb { _extends:t=a; z:i=3 }", ECS_ERR_TYPE,
         "r.blk:1: error: template 'a': component 'x' is replicated: clients know it as it was",
         true},
        {"a { \"x:i\"{ _replicate:b=yes; _bits:i=3; value:i=1 } y:i=2 }\nb { _extends:t=a; z:i=3 }",
         ECS_ERR_TYPE,
         "r.blk:1: error: template 'a': component 'x' is replicated: clients know it as it was",
         true},
        {"a { \"x:i\"{ _replicate:b=yes; _visible:t=team; value:i=1 } y:i=2 }\n"
         "b { _extends:t=a; z:i=3 }",
         ECS_ERR_TYPE,
         "r.blk:1: error: template 'a': component 'x' is replicated: clients know it as it was",
         true},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=2 }\nb { _extends:t=a; _priority:i=2; "
         "z:i=3 }",
         ECS_ERR_TYPE,
         "r.blk:2: error: template 'b': _priority is what it was when the match began", true},
        {"a { y:i=2 }\nb { z:i=3 }", ECS_ERR_TYPE,
         "r.blk:1: error: template 'a': component 'x' is replicated: clients know it as it was",
         true},
        {"a { \"x:i\"{ _replicate:b=yes; value:i=1 } y:i=2 }\nb { _extends:t=a; z:i=3 }\n"
         "c { _extends:t=a }",
         ECS_ERR_TYPE, "r.blk:3: error: template 'c' is new and replicated: clients do not know it",
         true},
    };
    ecs_world* world = data_world_create(NULL);
    base_bytes pack = pack_text(text);
    assert_ok(ecs_template_load_pack(world, pack.data, pack.size, NULL));
    const ecs_term terms[] = {{"y", "i", ECS_READ}};
    ecs_query* query;
    assert_ok(ecs_query_create(world, terms, 1, &query));
    assert_ok(ecs_world_seal(world, NULL));
    for (uint32_t i = 0; i < 20; i++)
        (void)make(world, i % 2 ? "a" : "b+a");
    base_bytes before, after;
    base_bytes_init(&before, NULL);
    base_bytes_init(&after, NULL);
    assert_ok(ecs_world_save(world, &before));
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        reload_run run = reload_with(world, faults[i].text, faults[i].is_locked);
        assert_string_equal(run.report.text, faults[i].message);
        assert_int_equal(run.result, faults[i].result);
        base_bytes_clear(&after);
        assert_ok(ecs_world_save(world, &after));
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.data, after.data, before.size);
    }
    assert_int_equal(ecs_template_reload(world, pack.data, pack.size - 1, false, NULL, NULL),
                     ECS_ERR_MALFORMED);
    assert_int_equal(ecs_template_reload(world, NULL, 0, false, NULL, NULL), ECS_ERR_MALFORMED);
    assert_ok(ecs_template_reload(world, pack.data, pack.size, true, NULL, NULL));
    base_bytes_deinit(&pack);
    base_bytes_deinit(&before);
    base_bytes_deinit(&after);
    ecs_world_destroy(world);
}

CASE(a_reload_within_a_walk_or_before_seal_is_misuse) {
    base_bytes pack = pack_text("a { }");
    ecs_world* world = data_world_create(NULL);
    expect_assert_failure(
        (void)!ecs_template_reload(world, pack.data, pack.size, false, NULL, NULL));
    base_bytes_deinit(&pack);
    ecs_world_destroy(world);
}

CASE(memory_may_run_out_at_any_allocation_of_a_reload) {
    static const char second[] = "a { \"x:i\"{ _track:b=yes; value:i=9 } s:t=\"two\" }\n"
                                 "b { _extends:t=a; z:i=3; y:i=1 q:Foo=1 }\n"
                                 "c { w:i=5; \"l:list<i>\"{ v:i=2 } }\nd { _use:t=c }";
    scarce_memory memory;
    scarce_init(&memory, 0, true);
    ecs_world* world = sealed_world(&memory.allocator, first_text);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(make(world, i % 4 == 0 ? "b" : i % 4 == 1 ? "a" : i % 4 == 2 ? "a+c" : "c"));
    base_bytes before, after;
    base_bytes_init(&before, NULL);
    base_bytes_init(&after, NULL);
    assert_ok(ecs_world_save(world, &before));
    base_bytes pack = pack_text(second);
    uint64_t n = 0;
    for (;; n++) {
        scarce_leave(&memory, n);
        ecs_result result = ecs_template_reload(world, pack.data, pack.size, true, NULL, NULL);
        memory.fail_at = 0;
        ecs_storage_validate(world);
        if (result == ECS_OK) break;
        assert_int_equal(result, ECS_ERR_MEMORY);
        base_bytes_clear(&after);
        assert_ok(ecs_world_save(world, &after));
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.data, after.data, before.size);
    }
    assert_true(n > 100);
    assert_int_equal(ecs_template_opaque_count(world), 1);
    ecs_world_destroy(world);
    assert_int_equal(memory.bytes, 0);
    base_bytes_deinit(&pack);
    base_bytes_deinit(&before);
    base_bytes_deinit(&after);
}

// ---- model ----

enum { MODEL_TEMPLATES = 4, MODEL_COMPONENTS = 5, MODEL_ENTITIES = 60, MODEL_STEPS = 30 };

/// The content of the texts: the components of each template, and the defaults.
typedef struct model_text {
    bool has[MODEL_TEMPLATES][MODEL_COMPONENTS];
    int32_t value[MODEL_TEMPLATES][MODEL_COMPONENTS];
} model_text;

typedef struct model_entity {
    ecs_entity entity;
    uint32_t template_; ///< MODEL_TEMPLATES: the composition of 0 and 1
    bool has[MODEL_COMPONENTS];
    int32_t value[MODEL_COMPONENTS];
} model_entity;

/// Composition: later parts override earlier ones.
static bool model_default(const model_text* text, uint32_t template_, uint32_t c, int32_t* value) {
    if (template_ < MODEL_TEMPLATES) {
        *value = text->value[template_][c];
        return text->has[template_][c];
    }
    *value = text->has[1][c] ? text->value[1][c] : text->value[0][c];
    return text->has[0][c] || text->has[1][c];
}

static void model_draw(base_rng* rng, model_text* text) {
    for (uint32_t t = 0; t < MODEL_TEMPLATES; t++) {
        for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
            text->has[t][c] = base_rng_below(rng, 3) != 0;
            text->value[t][c] = (int32_t)(base_rng_below(rng, 4));
        }
    }
}

static void model_write(const model_text* text, char* target, size_t bytes) {
    size_t size = 0;
    // The last template has every component, so the world keeps every name.
    for (uint32_t t = 0; t <= MODEL_TEMPLATES; t++) {
        size += (size_t)snprintf(target + size, bytes - size, "t%u {", t);
        for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
            if (t < MODEL_TEMPLATES && !text->has[t][c]) continue;
            int32_t value = t < MODEL_TEMPLATES ? text->value[t][c] : 0;
            // Numbers and texts.
            size += (size_t)snprintf(target + size, bytes - size,
                                     c % 2 ? " \"c%u:t\"{ _track:b=yes; value:t=v%d }"
                                           : " \"c%u:i\"{ _track:b=yes; value:i=%d }",
                                     c, value);
        }
        size += (size_t)snprintf(target + size, bytes - size, " }\n");
    }
    assert_true(size < bytes);
}

static void model_check(ecs_world* world, const model_entity* at) {
    for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
        char name[16], shown[16];
        (void)snprintf(name, sizeof name, "c%u", c);
        const void* value = ecs_find(world, at->entity, ecs_component_find(world, name));
        assert_int_equal(value != NULL, at->has[c]);
        if (!value) continue;
        (void)snprintf(shown, sizeof shown, "v%d", at->value[c]);
        if (c % 2)
            assert_string_equal(ecs_string_text(value), shown);
        else
            assert_int_equal(*(const int32_t*)value, at->value[c]);
    }
}

CASE(random_reloads_match_a_naive_twin) {
    uint32_t runs = test_scaled(40, 4);
    for (uint32_t seed = 1; seed <= runs; seed++) {
        base_rng rng = base_rng_make(seed, 0);
        model_text text;
        model_draw(&rng, &text);
        char written[2048];
        model_write(&text, written, sizeof written);
        ecs_world* world = sealed_world(NULL, written);
        model_entity entities[MODEL_ENTITIES];
        for (uint32_t i = 0; i < MODEL_ENTITIES; i++) {
            model_entity* at = &entities[i];
            at->template_ = base_rng_below(&rng, MODEL_TEMPLATES + 1);
            static const char* const names[] = {"t0", "t1", "t2", "t3", "t0+t1"};
            at->entity = make(world, names[at->template_]);
            for (uint32_t c = 0; c < MODEL_COMPONENTS; c++)
                at->has[c] = model_default(&text, at->template_, c, &at->value[c]);
        }
        for (uint32_t step = 0; step < MODEL_STEPS; step++) {
            for (uint32_t w = 0; w < 10; w++) {
                model_entity* at = &entities[base_rng_below(&rng, MODEL_ENTITIES)];
                uint32_t c = 2 * base_rng_below(&rng, (MODEL_COMPONENTS + 1) / 2);
                if (!at->has[c]) continue;
                char name[16];
                (void)snprintf(name, sizeof name, "c%u", c);
                at->value[c] = (int32_t)(base_rng_below(&rng, 4));
                set_int(world, at->entity, name, at->value[c]);
            }
            model_text next;
            model_draw(&rng, &next);
            if (base_rng_below(&rng, 2)) memcpy(next.has, text.has, sizeof next.has);
            model_write(&next, written, sizeof written);
            reload_run run = reload_with(world, written, false);
            assert_string_equal(run.report.text, "");
            assert_ok(run.result);
            for (uint32_t i = 0; i < MODEL_ENTITIES; i++) {
                model_entity* at = &entities[i];
                for (uint32_t c = 0; c < MODEL_COMPONENTS; c++) {
                    int32_t was = 0, is = 0;
                    bool had = model_default(&text, at->template_, c, &was);
                    at->has[c] = model_default(&next, at->template_, c, &is);
                    if (!had || at->value[c] == was) at->value[c] = is;
                }
                model_check(world, at);
            }
            text = next;
            ecs_storage_validate(world);
            ecs_step tick = {.tick = step + 1, .dt = 0.1f};
            ecs_world_step(world, &tick);
            ecs_world_validate(world);
            ecs_changes_clear(world);
        }
        // A save of the world is the same after a restore. The hash that was updated step by step
        // is also the same.
        base_bytes save, again;
        base_bytes_init(&save, NULL);
        base_bytes_init(&again, NULL);
        uint64_t hash = ecs_world_state_hash(world);
        assert_ok(ecs_world_save(world, &save));
        assert_ok(ecs_world_restore(world, save.data, save.size));
        assert_true(ecs_world_state_hash(world) == hash);
        assert_ok(ecs_world_save(world, &again));
        assert_int_equal(save.size, again.size);
        assert_memory_equal(save.data, again.data, save.size);
        base_bytes_deinit(&save);
        base_bytes_deinit(&again);
        ecs_world_destroy(world);
    }
}
