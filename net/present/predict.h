// SPDX-License-Identifier: MIT
/// Prediction: the module's own systems, ahead of the server, on what the mirror has.
///
/// Inputs are applied at once to a world of its own (tag "predict"). For each predicted tick the
/// quantised rows of the predicted entities are remembered. When a packet brings the server's row
/// for that input and it differs by more than a quantum, the world is restored from the mirror, and
/// the inputs that the server had not used then run again. What the player sees of the correction
/// is spread over NET_CORRECTION_MS.
///
/// StatePacket.input_used and input_repeats say which input a row contains. A row that has not
/// arrived yet (player_age says when it changed) is not compared.
/// Threads: one. Memory: saves and rows grow to their peak and stay.
#pragma once

#include "present/predict_shown.h"
#include "state/rows.h"

#include "net/match.h"
#include "net/client.h"

#define NET_PREDICT_TICKS_MAX 64u ///< predicted ahead; further inputs wait for the server
/// The whole world is restored at the latest after this many ticks, which brings in the changes of
/// others.
#define NET_PREDICT_REFRESH_TICKS 15u

typedef struct net_predict net_predict;

typedef struct net_predict_counters {
    uint64_t compared; ///< rows of predicted entities with the server's of the same input
    uint64_t rollbacks, corrections, corrections_seen;
    double correction_max;
} net_predict_counters;

/// Create a prediction. *predict is NULL with NET_OK when the module cannot predict. The caller
/// owns it.
/// @return NET_OK; NET_ERR_MODULE, NET_ERR_SCHEMA (reported).
BASE_MUST_USE net_result net_predict_create(const base_allocator* allocator,
                                            const net_module* module, const base_reporter* reporter,
                                            net_predict** predict);
/// NULL does nothing.
void net_predict_destroy(net_predict* predict);
/// Take rate and settings from the mirror, after welcome. It is borrowed and must outlive the
/// prediction.
void net_predict_begin(net_predict* predict, net_match* mirror);
/// Set the own entity; NONE: nothing is predicted.
void net_predict_player(net_predict* predict, ecs_entity player);
/// Run an input that was made (packed as it is sent): the world goes on by one tick.
void net_predict_input(net_predict* predict, uint64_t now_us, uint32_t number, const void* payload,
                       size_t size);
/// Compare with a packet of `tick` that was applied to the mirror. has_row: the mirror's row of the
/// player is the server's of that tick (net_mirror_entity_tick >= tick - player_age).
void net_predict_state(net_predict* predict, ecs_tick tick, uint32_t input_used,
                       uint32_t input_repeats, bool has_row);
/// Move corrections on, once per frame, before net_predict_value.
void net_predict_frame(net_predict* predict, uint64_t now_us);
/// @return The entities that are shown as predicted now. Borrowed until the next input or packet.
const net_predicted* net_predict_entities(const net_predict* predict, uint32_t* count);
/// net_predict_shown_value of a component marked `_interpolate` of such an entity at the frame's
/// time.
bool net_predict_value(const net_predict* predict, ecs_entity entity, ecs_component_id component,
                       float weight, void* value);
/// Check ticks, inputs and rows that the prediction keeps (asserts). BASE_VALIDATE builds do it per
/// packet.
void net_predict_validate(const net_predict* predict);
/// @return The newest predicted tick; 0 while nothing is predicted.
ecs_tick net_predict_tick(const net_predict* predict);

/// The inputs that were made, and predicted ticks with their rows.

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
    base_owner owner;
    const net_game_module* game;
    base_reporter reporter;
    net_match* match;  ///< of the prediction world
    net_match* mirror; ///< NULL before begin
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
    uint32_t rough_ticks; ///< a predicted value differed from its quantised form
    /// By component: how many compared rows differed in it, and in none before it.
    uint32_t differs[ECS_COMPONENTS_MAX + 1];
    ecs_template_id differs_in[ECS_COMPONENTS_MAX + 1]; ///< the template of the last such row
    uint64_t row[PROTO_ROW_FIELDS_MAX];                 ///< scratch
};
