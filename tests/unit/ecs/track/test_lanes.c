// SPDX-License-Identifier: MIT
#include "sample_world.h"

#include "base/workers.h"

// Every third row gets another value, each in its own way.
static void run_change(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    int32_t* hp = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint32_t roll = (uint32_t)(stage->tick * 2654435761u + rows->entities[i] * 40503u);
        if (pos && roll % 3 == 0) pos[i].x += 1.0f;
        if (hp && roll % 5 == 0) hp[i] -= 1;
    }
}

static const ecs_term change_terms[] = {{"pos", "p2", ECS_OPTIONAL_WRITE},
                                        {"hp", "i", ECS_OPTIONAL_WRITE},
                                        {"note", "t", ECS_REQUIRE_NOT}};

static void count_change(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)rows;
    uint64_t* sum = stage->context;
    *sum = base_hash64_mix(*sum, event->target); // the order counts
}

typedef struct outcome {
    uint64_t changes; ///< hash of all change lists, in their order
    uint64_t events;
    uint64_t state;
    uint64_t compared, changed;
} outcome;

enum { TICKS = 6, ENTITIES = 9000 };

static outcome run_ticks(uint32_t threads) {
    outcome found = {0};
    store fixture;
    store_open(&fixture);
    system_add(fixture.world, .name = "change", .stage = "act", .run = run_change,
               .terms = change_terms, .term_count = 3);
    system_add(fixture.world, .name = "count", .on_event = count_change, TRACK("hp"),
               .context = &found.events);
    store_seal(&fixture);
    base_workers* workers = threads ? base_workers_create(NULL, threads) : NULL;
    ecs_world_set_workers(fixture.world, workers);
    const ecs_template_id kinds[] = {fixture.thing, fixture.solid, fixture.named};
    static ecs_entity entities[ENTITIES];
    for (uint32_t i = 0; i < ENTITIES; i++)
        entities[i] = store_create(&fixture, kinds[i % 3]);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        // By handle, and a type that is no plain data.
        for (uint32_t i = tick; i < ENTITIES; i += 37) {
            store_body* body = ecs_find_mut(fixture.world, entities[i], fixture.body);
            if (body) body->mass += (float)(i % 2);
        }
        ecs_world_step(fixture.world, &(ecs_step){.tick = tick, .dt = 1.0f});
        const ecs_changes changes = ecs_changes_get(fixture.world);
        for (uint32_t i = 0; i < changes.changed_count; i++) {
            found.changes = base_hash64_mix(found.changes, changes.changed[i].entity);
            found.changes = base_hash64_mix(found.changes, changes.changed[i].component);
        }
        found.state = base_hash64_mix(found.state, ecs_world_state_hash(fixture.world));
        assert_true(ecs_world_state_hash(fixture.world) ==
                    ecs_world_state_hash_walk(fixture.world));
        ecs_changes_clear(fixture.world);
    }
    found.compared = ecs_world_counters(fixture.world)->rows_compared;
    found.changed = ecs_world_counters(fixture.world)->rows_changed;
    assert_int_equal(ecs_world_counters(fixture.world)->changes_lost, 0);
    ecs_world_validate(fixture.world);
    ecs_world_set_workers(fixture.world, NULL);
    base_workers_destroy(workers);
    store_close(&fixture);
    return found;
}

CASE(lists_and_sums_are_those_of_one_thread) { // B10
    const outcome expected = run_ticks(0);
    assert_true(expected.changed > ENTITIES && expected.changes != 0 && expected.events != 0);
    static const uint32_t threads[] = {1, 2, 3, 8, 64};
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
        const outcome found = run_ticks(threads[i]);
        assert_memory_equal(&found, &expected, sizeof found);
    }
}
