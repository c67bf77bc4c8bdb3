// SPDX-License-Identifier: MIT
/// For fuzz targets of whole matches: the swarm's module and its matches, and the loop of records.
#pragma once

#include "fuzz.h"

#include "swarm.h"

#include "base/quota.h"
#include "net/client.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"

// A tick of the end is long: what waits for its time there waits for few of them.
enum {
    STAGE_TICK_US = 16667,
    STAGE_END_US = 200000,
    STAGE_RECORDS_MAX = 64,
    STAGE_TICKS_MAX = 20,
    STAGE_INDEX_MAX = 256,
};

static inline net_module* stage_module(void) {
    net_module* module;
    FUZZ_CHECK(net_module_wrap(swarm_module_get(), swarm_templates(), "swarm.blk", NULL, &module) ==
               NET_OK);
    return module;
}

/// `allocator` and `like` may be NULL. The world of a server never rests.
static inline net_match* stage_match(net_module* module, net_role role,
                                     const base_allocator* allocator, net_match* like) {
    net_match_config config = net_match_config_default(module);
    net_match* match;
    config.replicated_index_max = STAGE_INDEX_MAX;
    config.allocator = allocator;
    config.role = role;
    config.like = like;
    if (role == NET_ROLE_SERVER) config.seed = 1;
    config.is_hosted = role == NET_ROLE_SERVER; // its saves have more
    if (role == NET_ROLE_SERVER) config.settings[0] = 1e9;
    FUZZ_CHECK(net_match_create(&config, NULL, &match) == NET_OK);
    return match;
}

/// `memory`: of the presenter, which predicts.
static inline net_presenter* stage_presenter(net_module* module, const base_allocator* memory) {
    const net_presenter_config config = {.allocator = memory,
                                         .module = module,
                                         .replicated_index_max = STAGE_INDEX_MAX,
                                         .is_predicting = true};
    net_presenter* presenter;
    FUZZ_CHECK(net_presenter_create(&config, NULL, &presenter) == NET_OK);
    return presenter;
}
