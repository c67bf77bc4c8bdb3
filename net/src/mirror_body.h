// SPDX-License-Identifier: MIT
/// Inside of the mirror: what it holds, and a decoded body before it is applied.
#pragma once

#include "body.h"
#include "mirror.h"
#include "pool.h"
#include "proto/bits.h"
#include "row_ring.h"
#include "row_world.h"

/// Words of all rows of one body: what hostile bytes can make us allocate.
#define NET_BODY_WORDS_MAX (1u << 20)

/// One index.
typedef struct net_mirror_entity {
    ecs_entity handle;             ///< NONE: nothing there
    const net_row_template* entry; ///< of the present life
    ecs_tick tick;                 ///< newest record applied, destroys too; with is_known
    ecs_tick life_tick;            ///< oldest create record of this life that came
    ecs_tick former_tick;          ///< what was known before this life began; with has_former
    net_row_ring ring;             ///< rows of this life; the newest is what the world holds
    uint32_t stamp;                ///< number of the body that named it last
    bool is_known;
    bool has_former;
} net_mirror_entity;

typedef enum net_mirror_kind {
    NET_MIRROR_DESTROY,
    NET_MIRROR_CREATE,
    NET_MIRROR_UPDATE
} net_mirror_kind;

/// A decoded record.
typedef struct net_mirror_record {
    net_mirror_kind kind;
    ecs_entity handle;             ///< an update's has the present generation
    const net_row_template* entry; ///< NULL for a destroy
    uint32_t words_first;          ///< its row
    bool has_base;
    ecs_tick base_tick; ///< of the row it was coded against
} net_mirror_record;

struct net_mirror {
    const base_allocator* allocator;
    net_pool pool; ///< of rows
    ecs_world* world;
    net_rows* rows;
    uint32_t index_max;
    net_mirror_trace_fn trace;
    void* trace_context;
    net_mirror_sink sink;
    net_mirror_entity* entities; ///< [index]
    uint32_t entity_capacity;
    ecs_tick tick;
    bool has_tick;
    net_result broken; ///< applying failed half way: nothing is read any more
    uint32_t body_number;
    net_mirror_record* records; ///< of the body that is being read
    uint32_t record_count, record_capacity;
    uint64_t* words;
    uint32_t word_count, word_capacity;
    net_row_world target;
    net_mirror_counters counters;
    uint64_t component_bits[ECS_COMPONENTS_MAX + 1]; ///< of all rows read, by ecs_component_id
};

/// Decode a body into mirror->records and words. Nothing else changes.
/// @return as net_mirror_read.
BASE_MUST_USE net_result net_mirror_decode(net_mirror* mirror, ecs_tick tick, const uint8_t* body,
                                           size_t size);
