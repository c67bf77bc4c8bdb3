// SPDX-License-Identifier: MIT
/// The worlds of all rows: the measured archetypes, and 1,000 tracked and replicated entities that
/// a system changes, so that tracking is active while other entities are measured.
#pragma once

#include "bench.h"

#include "ecs/ecs.h"

#define BENCH_DT 0.015625f ///< a power of two, so that sums stay exact longer
#define BENCH_TRACKED 1000u

/// Component sizes of template "wide": ten m, two p3, a p2, an i: 14 components, 516 bytes.
#define BENCH_WIDE_MATRICES 10u

typedef struct bench_world {
    ecs_world* world;
    ecs_tick tick;
    ecs_component_id pos, vel, hits, place;
    ecs_component_id matrices[BENCH_WIDE_MATRICES];
    ecs_component_id size;
    ecs_template_id mover;  ///< pos vel (p3), 24 bytes, not tracked
    ecs_template_id wide;   ///< 516 bytes, not tracked
    ecs_template_id marked; ///< place (p3), tracked
    ecs_query* movers;
    ecs_event_type damage; ///< payload uint32_t
    ecs_query* marks;
    uint32_t stage_upkeep; ///< changes the 1,000 entities
} bench_world;

typedef struct bench_world_config {
    const base_allocator* allocator;
    uint32_t entities_max;
    uint32_t events_max;
    uint32_t commands_max;
    bool has_move;         ///< system pos += vel * dt in stage "act"
    bool has_move_es;      ///< the same, written by shoal-esgen (move_es.c)
    bool has_touch;        ///< system that walks "place" for writing and writes nothing
    bool has_damage;       ///< handler of "damage" on "hits", which takes runs
    const char* templates; ///< more templates; may be NULL
} bench_world_config;

/// Create everything. On failure the program ends with a message.
void bench_world_init(bench_world* self, const bench_world_config* config);
void bench_world_deinit(bench_world* self);
/// The same for a fixture that begins with its world.
void bench_world_destroy(void* fixture);
/// Make `count` entities; `entities` may be NULL.
void bench_world_fill(bench_world* self, ecs_template_id template_id, uint32_t count,
                      ecs_entity* entities);
/// Destroy what a query finds, the newest first, so that nothing moves; then upkeep.
void bench_world_clear(bench_world* self, ecs_query* query);
/// Run one step of stage "act" and clear the changes.
void bench_world_step(bench_world* self);
/// Change the 1,000 tracked entities, and track it.
void bench_world_upkeep(bench_world* self);

ecs_result bench_register_generated(ecs_world* world);

/// pos += vel * dt over `count` rows of 64-byte aligned columns. The blocks of 16 rows have a fixed
/// trip count: gcc vectorises these at -O2, and the author of a system would write them.
static inline void bench_move(float* restrict pos, const float* restrict vel, float dt,
                              uint32_t count) {
    pos = __builtin_assume_aligned(pos, 64);
    vel = __builtin_assume_aligned(vel, 64);
    for (; count >= 16; count -= 16, pos += 48, vel += 48) {
        for (int i = 0; i < 48; i++)
            pos[i] += vel[i] * dt;
    }
    for (size_t i = 0; i < (size_t)count * 3; i++)
        pos[i] += vel[i] * dt;
}
