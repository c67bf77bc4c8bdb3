// SPDX-License-Identifier: MIT
/// The match of a case, of any game.
#pragma once

#include "test.h"

#include "net/match.h"

/// What differs from a server's match with the settings of its module: all else is 0.
typedef struct match_wanted {
    const base_allocator* allocator;
    bool is_mirror;
    bool is_hosted;
    uint64_t seed;
    uint32_t tick_rate_hz; ///< 0: that of the module
    const double* setting; ///< the first setting of the game; NULL: that of the module
} match_wanted;

/// The caller owns the match.
static inline net_match* match_made(const net_module* module, match_wanted wanted) {
    net_match_config config = net_match_config_default(module);
    config.allocator = wanted.allocator;
    config.role = wanted.is_mirror ? NET_ROLE_MIRROR : NET_ROLE_SERVER;
    config.seed = wanted.seed;
    config.is_hosted = wanted.is_hosted;
    if (wanted.tick_rate_hz > 0) config.tick_rate_hz = wanted.tick_rate_hz;
    if (wanted.setting) config.settings[0] = *wanted.setting;
    net_match* match = NULL;
    assert_ok(net_match_create(&config, test_reporter(), &match));
    return match;
}
