// SPDX-License-Identifier: MIT
/// A small game's worth of systems for shoal-esgen: what is generated is compared with sample.expected and
/// run by test_esgen_run.
#pragma once

#include "ecs/ecs.h"
#include "ecs/es.h"

#define SAMPLE_SLOTS 4

/// A component of every kind of field.
ES_STRUCT(SampleState)
typedef struct sample_state {
    int32_t health ES_QUANT(0, 1, 7); ///< rounded for the wire
    bool is_ready;
    ecs_vec2 home, goal;
    ES_QUANT(-8, 0.5, 5) float wind;
    uint8_t slots[SAMPLE_SLOTS];
    ecs_vec3 path[2][SAMPLE_SLOTS - 1];
    ecs_entity target;
    double seconds;
} sample_state;

/// A component, and the payload of two events.
ES_STRUCT(SampleHit)
ES_EVENT(hit)
ES_EVENT(told, exported)
typedef struct sample_hit {
    int32_t damage;
} sample_hit;

/// The payload of an event alone.
ES_EVENT(noise)
typedef struct sample_noise {
    uint32_t loudness;
    int32_t x, y;
} sample_noise;

/// The context of the systems: what they saw.
typedef struct sample_log {
    char order[256]; ///< a letter per call
    uint32_t moved, spans, span_rows, with_hits, without_hits;
    uint32_t entered, left, first;
    uint32_t tracked, noises, loudness;
    ecs_entity last;
} sample_log;

void sample_say(sample_log* log, char letter);

// sample.c
ecs_result sample_register_all_types(ecs_world* world, const base_reporter* reporter);
ecs_result sample_register_all(ecs_world* world, sample_log* log);
ecs_result sample_create_queries(ecs_world* world, ecs_query** sums, ecs_query** firsts);
float sample_sum(ecs_world* world, ecs_query* query);
uint32_t sample_count_until(ecs_world* world, ecs_query* query, uint32_t limit);
bool sample_find(ecs_world* world, ecs_query* query, ecs_entity entity, float* x);
