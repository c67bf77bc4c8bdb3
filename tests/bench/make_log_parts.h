// SPDX-License-Identifier: MIT
/// What the files of --make-log share.
#pragma once

#include "make_log.h"

#include "base/report.h"
#include "net/result.h"
#include "net/log.h"
#include "check/sim_match.h"

typedef struct maker_local maker_local;

typedef struct maker {
    const make_log_config* config;
    base_reporter reporter;
    net_link_pair link;
    net_module* module;
    net_match* match;
    net_log_writer* log;
    net_sim_match* sim; ///< NULL with is_local
    maker_local* local;
    uint32_t named; ///< clients so far
} maker;

/// "bot 7"
void make_log_name(uint32_t client, char name[NET_PLAYER_NAME_BYTES_MAX]);

/// @return NET_OK; NET_ERR_MEMORY.
net_result make_log_local_open(maker* made, maker_local** local);
void make_log_local_close(maker_local* local);
/// Run a tick; with `is_change` the bot that is there for the longest time leaves, and another one
/// comes. @return false when memory ran out.
bool make_log_local_step(maker_local* local, bool is_change);
