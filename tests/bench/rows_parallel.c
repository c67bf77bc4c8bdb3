// SPDX-License-Identifier: MIT
// Systems on several threads: a tick with one thread and with more, in turn.
//
// The clock is that of the wall, so these rows need an idle machine with as many processors as
// threads. On a busy one look at the shortest rounds (least, least_one): in those few nothing else
// ran. Both worlds run the same ticks and must have the same hash at the end.
//
// serial is the part of a tick that one thread must do, and bound what follows from it (Amdahl).
#include "bench.h"

#include "arena.h"
#include "base/workers.h"
#include "cubes.h"
#include "ecs/ecs.h"
#include "net/match.h"
#include "state/history.h"
#include "state/schema.h"
#include "text_file.h"

#include <time.h>

enum { THREADS = 2, SAVE_TICK = 128 };

typedef struct rig {
    net_module* module; // NULL: `world` stands alone
    net_match* match;
    ecs_world* world;
    net_history* history; // NULL: nothing is replicated
    base_bytes bytes;     // of a save; it keeps its room
    ecs_tick tick;
} rig;

// The wall's clock.
static double parallel_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// ---- worlds ----

static void open_match(rig* self, const net_game_module* game, const char* file,
                       const char* setting) {
    char* text = text_file_read(file);
    bench_require(text != NULL, file);
    base_reporter reporter = base_reporter_stderr();
    bench_ok(net_module_wrap(game, text, file, &reporter, &self->module), "module");
    free(text);
    net_match_config config = net_match_config_default(self->module);
    bench_ok(net_match_setting_apply(&config, setting, &reporter), setting);
    bench_ok(net_match_create(&config, &reporter, &self->match), "match");
    self->world = net_match_world(self->match);
}

static void open_cubes(rig* self) {
    open_match(self, cubes_module(), BENCH_CUBES_BLK, "cubes=10000");
}

static void open_arena(rig* self) {
    open_match(self, arena_module(), BENCH_ARENA_BLK, "agents=4000");
}

static void open_replicated(rig* self) {
    open_arena(self);
    net_rows* rows = net_schema_rows(net_match_schema(self->match));
    const uint32_t index_max = ecs_world_limits(self->world)->replicated_index_max;
    self->history = net_history_create(NULL, rows, index_max);
}

static const char fall_text[] = "cube {\n"
                                "  pos:p3=1,2,3\n"
                                "  vel:p3=0.5,0,0.25\n"
                                "  force:p3=0,-9.75,0\n"
                                "}\n";

static void fall(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_vec3* restrict pos = rows->columns[0], * restrict vel = rows->columns[1];
    const ecs_vec3* restrict force = rows->columns[2];
    const uint32_t count = rows->count;
    const float dt = stage->dt;
    for (uint32_t i = 0; i < count; i++) {
        pos[i].x += vel[i].x * dt;
        pos[i].y += vel[i].y * dt;
        pos[i].z += vel[i].z * dt;
        vel[i].x += force[i].x * dt;
        vel[i].y += force[i].y * dt;
        vel[i].z += force[i].z * dt;
    }
}

// The rule of cubes for entities that are not replicated, of which there may be a million.
static void open_million(rig* self) {
    const uint32_t count = 1000000;
    static const ecs_term terms[] = {
        {"pos", "p3", ECS_WRITE}, {"vel", "p3", ECS_WRITE}, {"force", "p3", ECS_READ}};
    base_reporter reporter = base_reporter_stderr();
    ecs_world_config config = ecs_world_config_default();
    config.limits.local_entities_max = count + 4096;
    bench_ok(ecs_world_create(&config, &self->world), "world");
    bench_ok(ecs_template_load(self->world, "fall.blk", fall_text, strlen(fall_text), &reporter),
             "templates");
    const ecs_system_desc desc = {.name = "fall",
                                  .stage = "act",
                                  .run = fall,
                                  .terms = terms,
                                  .term_count = BASE_COUNT(terms),
                                  .quantum = 2048,
                                  .is_confined = true};
    bench_ok(ecs_system_register(self->world, &desc), "system");
    bench_ok(ecs_world_seal(self->world, &reporter), "seal");
    const ecs_template_id cube = ecs_template_find(self->world, "cube");
    bench_ok(ecs_create_many(self->world, cube, count, NULL), "cubes");
}

static void close_rig(rig* self) {
    base_bytes_deinit(&self->bytes);
    base_owner_destroy(self->history);
    if (!self->module) {
        ecs_world_destroy(self->world);
        return;
    }
    net_match_destroy(self->match);
    net_module_close(self->module);
}

// Who helps in what is measured.
static void set_workers(rig* self, base_workers* workers) {
    if (self->history)
        self->history->workers = workers;
    else if (self->match)
        net_match_set_workers(self->match, workers);
    else
        ecs_world_set_workers(self->world, workers);
}

static double step_us(rig* self, uint32_t ticks) {
    const double begin = parallel_now_us();
    for (uint32_t i = 0; i < ticks; i++) {
        const ecs_step step = {.tick = ++self->tick, .dt = 0.015625f};
        if (self->match)
            net_match_step(self->match);
        else
            ecs_world_step(self->world, &step);
        ecs_changes_clear(self->world);
    }
    return (parallel_now_us() - begin) / ticks;
}

// Saves need a past.
static void play_first(rig* self) {
    if (self->tick == 0) (void)step_us(self, self->match ? SAVE_TICK : 1);
}

// The world alone as bytes, or the whole match, as keyframes of logs are.
static double save_all_us(rig* self, uint32_t saves, bool is_match) {
    play_first(self);
    const double begin = parallel_now_us();
    for (uint32_t i = 0; i < saves; i++) {
        base_bytes_clear(&self->bytes);
        if (is_match)
            bench_ok((int)net_match_save(self->match, &self->bytes), "save");
        else
            ecs_world_save(self->world, &self->bytes);
    }
    return (parallel_now_us() - begin) / saves;
}
static double save_us(rig* self, uint32_t saves) {
    return save_all_us(self, saves, true);
}
static double world_save_us(rig* self, uint32_t saves) {
    return save_all_us(self, saves, false);
}

static double world_restore_us(rig* self, uint32_t times) {
    if (self->bytes.size == 0) (void)world_save_us(self, 1);
    const base_bytes* bytes = &self->bytes;
    const double begin = parallel_now_us();
    for (uint32_t i = 0; i < times; i++)
        bench_ok(ecs_world_restore(self->world, bytes->data, bytes->size), "restore");
    return (parallel_now_us() - begin) / times;
}

// What the server remembers of each tick.
static double history_us(rig* self, uint32_t ticks) {
    double us = 0;
    for (uint32_t i = 0; i < ticks; i++) {
        net_match_step(self->match);
        const double begin = parallel_now_us();
        net_history_step(self->history, self->world, net_match_tick(self->match));
        us += parallel_now_us() - begin;
        ecs_changes_clear(self->world);
    }
    return us / ticks;
}

// ---- rows ----

typedef struct parallel_case {
    const char* name;
    void (*open)(rig* self);
    uint32_t ticks;      ///< of a round
    uint32_t warm_ticks; ///< before the first
    double (*measure)(rig* self, uint32_t ticks);
} parallel_case;

static const parallel_case cases[] = {
    {"parallel_cubes_10k", open_cubes, 32, 64, step_us},
    {"parallel_fall_1m", open_million, 4, 8, step_us},
    {"parallel_arena_4000", open_arena, 16, 256, step_us},
    {"parallel_history_4000", open_replicated, 16, 64, history_us},
    {"parallel_save_4000", open_arena, 8, 1, save_us},
    {"parallel_world_save_4000", open_arena, 16, 1, world_save_us},
    {"parallel_world_save_1m", open_million, 4, 1, world_save_us},
    {"parallel_world_restore_4000", open_arena, 16, 1, world_restore_us},
    {"parallel_world_restore_1m", open_million, 2, 1, world_restore_us},
};

typedef struct shared_time {
    double us, begin;
} shared_time;

static void meter(void* context, bool is_begin) {
    shared_time* shared = context;
    if (is_begin)
        shared->begin = parallel_now_us();
    else
        shared->us += parallel_now_us() - shared->begin;
}

// Work on one thread as on several. @return the part that could not be shared.
static double serial_part(const parallel_case* what, rig* self) {
    shared_time shared = {0, 0};
    base_workers* one = base_workers_create(NULL, 1);
    bench_require(one != NULL, "memory");
    base_workers_set_meter(one, meter, &shared);
    set_workers(self, one);
    double parts[9];
    for (uint32_t i = 0; i < BASE_COUNT(parts); i++) {
        shared.us = 0;
        const double us = what->measure(self, what->ticks) * what->ticks;
        parts[i] = 1 - shared.us / us;
    }
    set_workers(self, NULL);
    base_workers_destroy(one);
    return bench_median(parts, BASE_COUNT(parts));
}

static void print(const bench_row* row, uint32_t rounds) {
    const parallel_case* what = NULL;
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++)
        if (strcmp(cases[i].name, row->name) == 0) what = &cases[i];
    static double times[2][BENCH_ROUNDS_MAX], ratios[BENCH_ROUNDS_MAX];
    base_workers* workers = base_workers_create(NULL, THREADS);
    bench_require(workers != NULL, "threads");
    rig rigs[2] = {{.module = NULL}, {.module = NULL}};
    for (uint32_t k = 0; k < 2; k++) {
        base_bytes_init(&rigs[k].bytes, NULL);
        what->open(&rigs[k]);
    }
    set_workers(&rigs[1], workers);
    for (uint32_t k = 0; k < 2; k++)
        (void)what->measure(&rigs[k], what->warm_ticks);
    for (uint32_t i = 0; i < rounds; i++) {
        for (uint32_t k = 0; k < 2; k++)
            times[k][i] = what->measure(&rigs[k], what->ticks);
        ratios[i] = times[0][i] / times[1][i];
    }
    double least[2] = {times[0][0], times[1][0]};
    for (uint32_t i = 1; i < rounds; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (times[k][i] < least[k]) least[k] = times[k][i];
    bench_require(ecs_world_hash(rigs[0].world) == ecs_world_hash(rigs[1].world), "the same bits");
    printf("bench=%s unit=us_per_tick shoal=%.4g threads=%u one=%.4g speedup=%.2f least=%.4g"
           " least_one=%.4g least_speedup=%.2f",
           row->name, bench_median(times[1], rounds), (unsigned)THREADS,
           bench_median(times[0], rounds), bench_median(ratios, rounds), least[1], least[0],
           least[0] / least[1]);
    const double serial = serial_part(what, &rigs[0]);
    printf(" serial=%.2f bound=%.2f", serial, 1 / (serial + (1 - serial) / THREADS));
    printf(" rounds=%u\n", rounds);
    for (uint32_t k = 0; k < 2; k++)
        close_rig(&rigs[k]);
    base_workers_destroy(workers);
}

bench_rows bench_rows_parallel(void) {
    static const bench_job job = {.print = print};
    static bench_row rows[BASE_COUNT(cases)];
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++)
        rows[i] = (bench_row){.name = cases[i].name, .unit = "us_per_tick", .job = &job};
    return (bench_rows){rows, BASE_COUNT(cases)};
}
