// SPDX-License-Identifier: MIT
/// What a player sees of the prediction: interpolated components of the predicted entities at the
/// last two predicted ticks, and how far the picture still is from them since a correction.
///
/// Memory: grows to its peak and stays. Threads: one.
#pragma once

#include "ecs/ecs.h"
#include "net/game.h"
#include "net/client.h"

/// One component of one entity; its float fields are `floats` numbers from `first` on in the
/// arrays.
typedef struct net_shown_item {
    ecs_entity entity;
    ecs_template_id template_id;
    ecs_component_id component;
    uint32_t first, floats;
    float teleport;  ///< per tick; 0: it never jumps
    uint64_t angles; ///< a bit for each of the first 64 numbers
} net_shown_item;

typedef struct net_shown_tick {
    net_shown_item* items;
    uint32_t item_count, item_capacity;
    double* values;
    uint32_t value_count, value_capacity;
} net_shown_tick;

typedef struct net_predict_shown {
    const base_allocator* allocator;
    net_shown_tick ticks[2];      ///< the last two
    uint32_t newest;              ///< which of them
    net_shown_tick newest_before; ///< the newest tick before a correction
    net_shown_tick shown_before;  ///< the picture before it
    net_shown_tick offset;        ///< from the newest tick to the picture since
    net_predicted entities[NET_PREDICTED_MAX];
    uint32_t entity_count;
} net_predict_shown;

void net_predict_shown_init(net_predict_shown* shown, const base_allocator* allocator);
/// Drop all, when nothing is predicted.
void net_predict_shown_clear(net_predict_shown* shown);
/// Add a predicted tick; `shown->entities` are its entities.
void net_predict_shown_tick(net_predict_shown* shown, const ecs_world* world);
/// Call before and after ticks are predicted again: the picture at `part` (as below) stays where it
/// was and moves over with net_predict_shown_decay. @return the largest correction of an entity, in
/// world units times its weight.
void net_predict_shown_keep(net_predict_shown* shown, double part);
double net_predict_shown_correct(net_predict_shown* shown, double part);
/// Fade the offset by a time.
void net_predict_shown_decay(net_predict_shown* shown, double ms);
/// Move a component's `value` by `weight` (0..1) of the way to the prediction with its corrections,
/// at `part` (0..1) of the way from the previous tick to the newest.
/// @return false: it is not predicted, and `value` stays as it is.
bool net_predict_shown_value(const net_predict_shown* shown, const ecs_world* world,
                             ecs_entity entity, ecs_component_id component, double part,
                             float weight, void* value);
