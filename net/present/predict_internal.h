// SPDX-License-Identifier: MIT
/// What predict.c and predict_rows.c share: the inputs that were made, and predicted ticks with
/// their rows.
#pragma once

#include "net/match.h"
#include "present/predict.h"
#include "present/predict_shown.h"

#define NET_PREDICT_SLOTS (2u * NET_PREDICT_TICKS_MAX)
#define NET_PREDICT_ROWS_MAX (NET_PREDICTED_MAX + 1u)

/// An input of this client, packed.
typedef struct net_predict_made {
    uint32_t number;
    uint32_t size;
    uint8_t payload[NET_INPUT_BYTES_MAX];
} net_predict_made;

/// A predicted entity's row at a tick.
typedef struct net_predict_row {
    ecs_entity entity;
    const net_row_template* entry;
    uint32_t first; ///< of its words
} net_predict_row;

/// A predicted tick.
typedef struct net_predict_slot {
    ecs_tick tick;  ///< 0: empty
    uint32_t input; ///< newest input of this tick or an earlier one
    uint32_t owed;  ///< ticks of debt after it
    uint32_t row_count;
    net_predict_row rows[NET_PREDICT_ROWS_MAX];
    uint64_t* words;
    uint32_t word_count, word_capacity;
} net_predict_slot;

/// An entity's row in the mirror as of the newest packet, to tell whether a packet brought another.
typedef struct net_predict_seen {
    ecs_entity entity;
    uint64_t hash;
} net_predict_seen;

struct net_predict {
    const base_allocator* allocator;
    const net_game_module* game;
    base_reporter reporter;
    net_match* match;
    net_rows* rows;
    net_match* mirror; ///< NULL before begin
    net_rows* mirror_rows;
    ecs_entity player;
    bool has_failed;       ///< reported: nothing is predicted any more
    bool is_running;       ///< the world is ahead of a packet
    uint32_t owed;         ///< ticks of debt after the last input
    uint32_t settled;      ///< the input that replaced missing ones
    uint32_t input_done;   ///< newest input that ran
    uint32_t input_newest; ///< newest input that was made
    net_predict_made inputs[NET_PREDICT_SLOTS];
    uint64_t input_us; ///< when the newest was made
    uint64_t frame_us;
    double frame_step_us;   ///< from frame to frame, smoothed
    ecs_tick tick;          ///< the world's, in the server's numbering
    ecs_tick tick_state;    ///< of the newest packet
    ecs_tick tick_restored; ///< of the last restore
    net_predict_slot slots[NET_PREDICT_SLOTS];
    uint32_t word_peak; ///< of a slot
    net_predict_seen seen[NET_PREDICT_ROWS_MAX];
    uint32_t seen_count;
    net_predict_shown shown;
    net_predict_counters counters;
    uint32_t differs[ECS_COMPONENTS_MAX + 1]; ///< [component]: net_predict_differs
    uint64_t row[PROTO_ROW_FIELDS_MAX];       ///< scratch
};

/// Remember an entity's row of the prediction world in a slot; nothing when it is there already or
/// has none.
/// @return false when memory ran out.
BASE_MUST_USE bool net_predict_remember_row(net_predict* predict, net_predict_slot* one,
                                            ecs_entity entity);
/// Are a slot's rows the mirror's? Only rows that are known to be the server's of that tick are
/// compared.
bool net_predict_rows_match(net_predict* predict, const net_predict_slot* one);
/// Remember the mirror's rows, to find out which ones the next packet brings.
void net_predict_look(net_predict* predict);
