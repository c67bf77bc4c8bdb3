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

/// check_play.c
BASE_MUST_USE net_result net_check_match(net_checker* self);
