// SPDX-License-Identifier: MIT
/// Feeds the panel with numbers of a session: ten samples per second, and rates from counters that
/// only rise.
#pragma once

#include "net/client.h"
#include "window/panel.h"
#include "window/window.h"

#define CLIENT_FEED_COMPONENTS_MAX 256u ///< components with a higher number are not counted
#define CLIENT_FEED_RATES_MAX (CLIENT_FEED_COMPONENTS_MAX + 4u)

typedef struct client_feed { ///< zeroed at first
    uint64_t next_us, last_us;
    uint64_t counts[CLIENT_FEED_RATES_MAX]; ///< bits: components by id, then the four other kinds
    float rates[CLIENT_FEED_RATES_MAX];     ///< bytes per second, smoothed
    ecs_tick tick;                          ///< the newest
    uint64_t corrections;
    float ticks_s, corrections_s; ///< smoothed
    uint32_t warm;                ///< samples of these
} client_feed;

typedef struct client_feed_sources {
    const net_client* client;
    net_match* mirror;
    const net_presenter* presenter;
    const client_window* window;
    bool is_local; ///< the server is in this program
} client_feed_sources;

/// Add a sample when one is due. Call it in every round of the loop.
void client_feed_service(client_feed* feed, uint64_t now_us, const client_feed_sources* sources,
                         client_panel* panel);
