// SPDX-License-Identifier: MIT
// The cost of replication for the world's thread without clients: 10,000 entities of 32 replicated
// bytes, and a system that walks all of them and changes one in five. `shoal` is net_history_step
// alone (read changes, quantise, compare, store); `world_us` is ecs_world_step with the system and
// its tracking.
#include "bench.h"

#include "ecs/ecs.h"
#include "state/history.h"
#include "state/schema.h"

#include <stdio.h>
#include <string.h>

#define COUNT 10000u
#define DIRTY_EVERY 5u
#define ROUND_TICKS 32u
#define WARM_TICKS 200u

static const char templates[] =
    "tracked {\n"
    "  \"pos:p3\"{ _track:b=yes; _replicate:b=yes; _min:r=-2048; _max:r=2047.96875;"
    " _step:r=0.03125; value:p3=0,0,0 }\n"
    "  \"vel:p3\"{ _track:b=yes; _replicate:b=yes; _min:r=-64; _max:r=63.96875; _step:r=0.03125;"
    " value:p3=0,0,0 }\n"
    "  \"heading:r\"{ _track:b=yes; _replicate:b=yes; _min:r=-3.2; _max:r=3.2; _bits:i=9;"
    " value:r=0 }\n"
    "  \"hp:i\"{ _track:b=yes; _replicate:b=yes; _bits:i=8; value:i=100 }\n"
    "}\n";

static void walk(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec3* pos = rows->columns[0];
    float* heading = rows->columns[1];
    for (uint32_t i = (uint32_t)(stage->tick % DIRTY_EVERY); i < rows->count; i += DIRTY_EVERY) {
        float to = (float)((stage->tick + i) % 1024);
        pos[i] = (ecs_vec3){to, -to, (float)i * 0.125f};
        heading[i] = to / 1024.0f;
    }
}

typedef struct fixture {
    ecs_world* world;
    net_schema* schema;
    net_history* history;
    ecs_tick tick;
    double history_ns, world_ns;
    double shoal[BENCH_ROUNDS_MAX], rest[BENCH_ROUNDS_MAX];
} fixture;

static void open(fixture* self) {
    base_reporter reporter = base_reporter_stderr();
    ecs_world_config config = ecs_world_config_default();
    config.limits.replicated_index_max = COUNT;
    bench_ok(ecs_world_create(&config, &self->world), "world");
    bench_ok(ecs_template_load(self->world, "track.blk", templates, strlen(templates), &reporter),
             "templates");
    static const ecs_term terms[] = {{"pos", "p3", ECS_WRITE}, {"heading", "r", ECS_WRITE}};
    const ecs_system_desc system = {
        .name = "walk", .stage = "act", .run = walk, .terms = terms, .term_count = 2};
    bench_ok(ecs_system_register(self->world, &system), "system");
    bench_ok(ecs_world_seal(self->world, &reporter), "seal");
    bench_ok(net_schema_create(NULL, self->world, NULL, 0, &reporter, &self->schema), "schema");
    bench_ok(net_history_create(NULL, net_schema_rows(self->schema), COUNT, &self->history),
             "history");
    ecs_template_id tracked = ecs_template_find(self->world, "tracked");
    bench_ok(ecs_create_many(self->world, tracked, COUNT, NULL), "create");
}

static void tick(fixture* self) {
    const ecs_step step = {.tick = ++self->tick, .dt = 1.0f / 32};
    double begin_ns = bench_now_ns();
    ecs_world_step(self->world, &step);
    double middle_ns = bench_now_ns();
    bench_ok(net_history_step(self->history, self->world, self->tick), "history");
    self->world_ns += middle_ns - begin_ns;
    self->history_ns += bench_now_ns() - middle_ns;
    ecs_changes_clear(self->world);
}

static void print(const bench_row* row, uint32_t rounds) {
    fixture* self = bench_allocate(sizeof *self);
    open(self);
    for (uint32_t i = 0; i < WARM_TICKS; i++)
        tick(self);
    uint64_t before = net_history_get_counters(self->history)->rows_changed;
    for (uint32_t round = 0; round < rounds; round++) {
        self->history_ns = self->world_ns = 0;
        for (uint32_t i = 0; i < ROUND_TICKS; i++)
            tick(self);
        self->shoal[round] = self->history_ns / ROUND_TICKS / 1000;
        self->rest[round] = self->world_ns / ROUND_TICKS / 1000;
    }
    uint64_t changed = net_history_get_counters(self->history)->rows_changed - before;
    printf("bench=%s unit=%s shoal=%.4g rounds=%u world_us=%.4g changed=%.0f\n", row->name,
           row->unit, bench_median(self->shoal, rounds), rounds, bench_median(self->rest, rounds),
           (double)changed / rounds / ROUND_TICKS);
    net_history_destroy(self->history);
    net_schema_destroy(self->schema);
    ecs_world_destroy(self->world);
}

bench_rows bench_rows_repl_track(void) {
    static const bench_job job = {.print = print};
    static const bench_row rows[] = {
        {"repl_track_10k", "us_per_tick", 1, 1000, 1, false, NULL, &job, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
