// SPDX-License-Identifier: MIT
/// What the parts of a check share: the worlds, and what was said.
#pragma once

#include "state/rows.h"

#include "net/check.h"
#include "net/match.h"

#define NET_CHECK_TOPICS_MAX 256u

typedef struct net_checker {
    const net_check_config* config;
    const base_allocator* allocator;
    const net_game_module* game;
    net_match* server;                     ///< borrowed
    net_match* view;                       ///< a client with pictures
    net_match* predict;                    ///< NULL: the module predicts nothing
    uint64_t topics[NET_CHECK_TOPICS_MAX]; ///< of findings that were said
    uint32_t topic_count;
    net_check_result result;
} net_checker;

/// Report a finding, once for each topic and name.
void net_check_report(net_checker* self, const char* topic, const char* name, const char* format,
                      ...) __attribute__((format(printf, 4, 5)));

/// check.c
void net_check_systems(net_checker* self);
void net_check_handlers(net_checker* self);
void net_check_inputs(net_checker* self);
void net_check_reads(net_checker* self);
/// check.c
void net_check_messages(net_checker* self);

/// check_play.c: every value of the server's world.
void net_check_values(net_checker* self);
/// Values that a client's system reads and that differ from the server's, though no system of
/// the client writes them. `mirror` is as the server's world at the same tick.
void net_check_hidden(net_checker* self, net_match* mirror);

/// check_rows.c: the replicated rows of a world at one moment.
typedef struct net_check_rows {
    const base_allocator* allocator;
    struct net_check_row* rows;
    uint32_t count, capacity;
    uint64_t* words;
    uint32_t word_count, word_capacity;
} net_check_rows;
/// The first difference.
typedef struct net_check_change {
    ecs_entity entity;
    const char* template_name;
    const char* component; ///< NULL: it is gone, or has another template
} net_check_change;
void net_check_rows_deinit(net_check_rows* rows);
/// Remember the rows of a world. Without memory fewer are remembered.
void net_check_rows_take(net_check_rows* rows, net_match* match);
/// @return whether a remembered row is another one now.
bool net_check_rows_differ(const net_check_rows* rows, net_match* match, net_check_change* change);

/// check_play.c
BASE_MUST_USE net_result net_check_match(net_checker* self);
