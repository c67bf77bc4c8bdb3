// SPDX-License-Identifier: MIT
/// Prediction: the module's own systems, ahead of the server, on what the mirror has.
///
/// Inputs are applied at once to a world of its own (tag "predict"). For each predicted tick the quantised
/// rows of the predicted entities are remembered; when a packet brings the server's row of that input and
/// it differs beyond a quantum, the world is restored from a save of the mirror and the inputs that the
/// server had not used then run again. What the player sees of that is spread over NET_CORRECTION_MS.
///
/// Which input a row contains: StatePacket.input_used and input_repeats of the row's own tick. A row that
/// is not here yet (player_age says when it changed) is not compared.
/// Threads: one. Memory: saves and rows grow to their peak and stay.
#pragma once

#include "net/presenter.h"
#include "state/rows.h"

#define NET_PREDICT_TICKS_MAX 64u ///< predicted ahead; further inputs wait for the server
#define NET_PREDICT_REFRESH_TICKS                                                                  \
    15u ///< at the latest the whole world is restored, so that others' deeds get in

typedef struct net_predict net_predict;

typedef struct net_predict_counters {
    uint64_t rollbacks, corrections, corrections_seen, replayed_ticks;
    double correction_max;
} net_predict_counters;

/// *predict is NULL and the result NET_OK when the module cannot predict.
BASE_MUST_USE net_result net_predict_create(const base_allocator* allocator,
                                            const net_module* module, const base_reporter* reporter,
                                            net_predict** predict);
void net_predict_destroy(net_predict* predict);
/// Welcome: the mirror was started (net_match_mirror_start): take rate and settings from it. It is borrowed
/// and must outlive the prediction.
void net_predict_begin(net_predict* predict, net_match* mirror);
void net_predict_player(net_predict* predict, ecs_entity player);
/// An input was made (packed, as it is sent): the world goes one tick on.
void net_predict_input(net_predict* predict, uint64_t now_us, uint32_t number, const void* payload,
                       size_t size);
/// A packet of `tick` was applied to the mirror; has_row: the mirror's row of the player is the server's at
/// that tick (net_mirror_entity_tick >= tick - player_age).
void net_predict_state(net_predict* predict, ecs_tick tick, uint32_t input_used,
                       uint32_t input_repeats, bool has_row);
/// Once per frame, before values are asked for: moves corrections on.
void net_predict_frame(net_predict* predict, uint64_t now_us);
/// What is shown as predicted now. Borrowed until the next input or state.
const net_predicted* net_predict_entities(const net_predict* predict, uint32_t* count);
/// A component marked `_interpolate` of such an entity at the frame's time, corrections smoothed.
bool net_predict_value(const net_predict* predict, ecs_entity entity, ecs_component_id component,
                       void* value);
/// Check ticks, inputs and rows that the prediction keeps (asserts). BASE_VALIDATE builds do it per packet.
void net_predict_validate(const net_predict* predict);
net_match* net_predict_match(net_predict* predict);    ///< of the prediction world
ecs_tick net_predict_tick(const net_predict* predict); ///< the newest predicted; 0 before the first
const net_predict_counters* net_predict_get_counters(const net_predict* predict);
