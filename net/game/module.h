// SPDX-License-Identifier: MIT
/// What module.c and module_check.c share: the checked copy of a module's table.
#pragma once

#include "net/limits.h"
#include "net/match.h"

/// A module's table as this program knows it. Missing fields at the end are zero, in the elements
/// too. The arrays of `game` point into this struct: it must not move.
typedef struct net_module_table {
    net_game_module game;
    net_message messages[NET_MESSAGES_MAX];
    net_setting settings[NET_SETTINGS_MAX];
    net_action actions[NET_ACTIONS_MAX];
    net_sound sounds[NET_SOUNDS_MAX];
    net_interest_rules interest; ///< `game.interest` points here when the module has one
} net_module_table;

/// The part of net_module_check that runs none of the module's code: `data` is the file's content.
BASE_MUST_USE net_result net_module_check_bytes(const void* data, size_t size, const char* file,
                                                const base_reporter* reporter);
