// SPDX-License-Identifier: MIT
// A world gives the same bits on a thread whose host rounds otherwise, or flushes small numbers.
#include "sample_world.h"

#include "float_hosts.h"

enum { ROWS = 100, QUANTUM = 10, THREADS = 3, TICKS = 200 };

// After tick 126 the values are denormal.
static void halve(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec2* pos = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x = pos[i].x * 0.5f;
        pos[i].y += pos[i].x / 3.0f * 0x1p63f * 0x1p63f + stage->dt;
    }
}

static void ping(const ecs_stage* stage, const ecs_rows* rows) {
    (void)ecs_event_broadcast(stage->world, ((const store*)stage->context)->ping, NULL);
}

static void hear(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    float* sum = stage->context;
    *sum += *sum / 3.0f;
}

static uint64_t run(base_float_mode host, uint32_t threads) {
    static const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}};
    static const char* const pings[] = {"ping"};
    static const char thirds[] = "third { \"pos:p2\" { _track:b=yes; value:p2=0.3333,0.7 } }\n";
    float sum = 1.0f;
    store at;
    base_float_mode_restore(&host);
    base_workers* workers = threads ? base_workers_create(NULL, threads) : NULL;
    if (workers) base_workers_set_eager(workers);
    store_open(&at);
    assert_ok(ecs_template_load(at.world, "thirds.blk", thirds, strlen(thirds), test_reporter()));
    const ecs_system_desc systems[] = {
        {.name = "halve",
         .stage = "act",
         .run = halve,
         .terms = terms,
         .term_count = 1,
         .quantum = QUANTUM,
         .is_confined = true},
        {.name = "ping", .stage = "act", .run = ping, .context = &at},
        {.name = "hear", .events = pings, .event_count = 1, .on_event = hear, .context = &sum},
    };
    for (uint32_t i = 0; i < BASE_COUNT(systems); i++)
        assert_ok(ecs_system_register(at.world, &systems[i]));
    store_seal(&at);
    ecs_world_set_workers(at.world, workers);
    const ecs_template_id third = ecs_template_find(at.world, "third");
    for (uint32_t i = 0; i < ROWS; i++)
        (void)store_create(&at, i % 2 ? third : at.thing);
    for (ecs_tick tick = 1; tick <= TICKS; tick++)
        ecs_world_step(at.world, &(ecs_step){.tick = tick, .dt = 0.01f});
    const uint64_t hash = base_hash64_mix(ecs_world_state_hash(at.world), (uint64_t)(sum * 64.0f));
    ecs_world_set_workers(at.world, NULL);
    base_workers_destroy(workers);
    store_close(&at);
    assert_true(float_hosts_end(host));
    return hash;
}

static void compare(uint32_t threads) {
    const uint64_t expected = run(BASE_FLOAT_MODE_STANDARD, 0);
    for (uint32_t i = 0; i < BASE_COUNT(float_hosts); i++)
        assert_true(run(float_hosts[i], threads) == expected);
}

CASE(a_step_is_the_same_whatever_the_host_does_with_its_floats) {
    compare(0);
}

CASE(so_is_one_that_is_shared_by_threads) {
    compare(THREADS);
}
