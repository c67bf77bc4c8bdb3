// SPDX-License-Identifier: MIT
/// A small game's worth of systems for shoal-esgen: what is generated is compared with
/// sample.expected and run by test_esgen_run.
#pragma once

#include "ecs/ecs.h"
#include "ecs/es.h"

#include <protobuf-c/protobuf-c.h>

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

/// A message with a field of every type and with every mark.
ES_EVENT(order)
ES_MESSAGE(Sample__Order)
typedef struct sample_order {
    ES_NAME(jump) bool is_jumping;
    int32_t move ES_CLAMP(-127, 127);
    int16_t small;
    uint8_t slot ES_CLAMP(0, SAMPLE_SLOTS - 1);
    ES_RANGE(0, 7) uint32_t emote;
    ecs_entity target;
    float aim ES_CLAMP(-3.25f, 3.25f);
    double power ES_RANGE(0, 1e6);
    int64_t offset ES_RANGE(-(SAMPLE_SLOTS), SAMPLE_SLOTS);
    ecs_tick tick;
    int8_t tiny ES_RANGE(-8, 8);
    uint16_t wide ES_QUANT(1, 1, 8) ES_RANGE(1, 256);
    uint32_t cached ES_LOCAL; ///< stays zero on the other side
} sample_order;

/// The payload of two events, each with a message.
ES_EVENT(said, exported)
ES_MESSAGE(Sample__Said)
ES_EVENT(shouted)
ES_MESSAGE(Sample__Shouted)
typedef struct sample_line {
    uint32_t line;
} sample_line;

/// A message without fields: a struct of C has at least one.
ES_EVENT(wave)
ES_MESSAGE(Sample__Wave)
typedef struct sample_wave {
    uint32_t nothing ES_LOCAL;
} sample_wave;

/// What a net_message holds beside its name (net/game.h).
typedef struct sample_message {
    void (*to_wire)(const void* payload, ProtobufCMessage* message);
    bool (*from_wire)(const ProtobufCMessage* message, void* payload);
} sample_message;

enum { SAMPLE_ORDER, SAMPLE_SAID, SAMPLE_SHOUTED, SAMPLE_WAVE, SAMPLE_MESSAGES };
extern const sample_message sample_messages[SAMPLE_MESSAGES];

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
