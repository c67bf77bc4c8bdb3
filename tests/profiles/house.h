// SPDX-License-Identifier: MIT
/// A server and its guests: the whole stack, in virtual time, on the virtual wire below ENet. Every
/// guest has a line of its own. What is checked at every step is in watch.h.
#pragma once

#include "swarm.h"

#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"

#ifndef HOUSE_GUESTS_MAX
#define HOUSE_GUESTS_MAX 16u
#endif
#define HOUSE_TICK_US UINT64_C(16667)
#define HOUSE_TICKS_PER_SECOND 60u
#define HOUSE_SHOUTS_KEPT 1024u

typedef struct watch watch;

typedef struct house_config {
    uint64_t seed;
    uint32_t guests;
    uint32_t quiet_tick;   ///< from this tick on the world stands still
    bool is_crowded;       ///< a world that changes faster than 128 kbit/s carry
    uint32_t viewers;      ///< so many of the first guests draw what they see
    uint32_t watched;      ///< the rows of so many of the first guests are checked; 0: of all
    uint32_t threads;      ///< of all worlds, eager (base/workers.h); 0: the calling thread alone
    uint16_t seq_first;    ///< number of the first packet to each guest
    net_module* module;    ///< borrowed; NULL: the swarm. Of another game nothing is watched
    uint32_t tick_rate_hz; ///< 0: HOUSE_TICKS_PER_SECOND, as it must be when watched
    uint32_t services;     ///< times in a tick that all look at their sockets; 0: once
    net_coder coder;
    const base_allocator* server_memory; ///< NULL: the heap
    const base_allocator* guest_memory;
} house_config;

typedef struct guest {
    struct house* house;
    uint32_t index;
    uint32_t seat; // of house.seats
    net_match* match;
    net_transport* transport;
    net_presenter* presenter; ///< NULL: does not draw
    net_client* client;       ///< NULL: the seat is empty
    uint32_t number;          ///< of its client; 0: not welcomed yet
    bool is_cut;              ///< its line lets nothing pass: its age is no fault
    uint32_t ping_seen;
    uint32_t shouts, shouts_seen; ///< sent, and seen on the server
    uint64_t shout_us[HOUSE_SHOUTS_KEPT];
    base_rng rng;
} guest;

/// What all have sent so far, and what their lines have lost.
typedef struct house_traffic {
    uint64_t datagrams, bytes, dropped;
} house_traffic;

typedef struct house {
    house_config config;
    net_module* module;
    uint64_t tick_us;
    base_workers* workers;
    net_match* match;
    net_transport* transport;
    net_server* server;
    guest guests[HOUSE_GUESTS_MAX];
    watch* watch;               ///< NULL: nothing is watched
    uint64_t now_us, server_us; ///< server_us: CPU time of the server's ticks
    uint32_t seats;             ///< guests that have come so far, for seeds
    house_traffic gone;         ///< of transports that are closed
} house;

/// Open a server without clients. @return false: it could not be made.
bool house_open(house* made, const house_config* config, watch* checks);
void house_close(house* old);
/// A new guest takes the seat, and begins to connect. @return false: out of memory.
bool house_sit(house* at, uint32_t index);
/// The guest is gone without a word, and its seat is empty.
void house_clear(house* at, uint32_t index);
/// Change the line of a guest, in both directions; its seeds follow from those of the house.
void house_line_set(house* at, uint32_t index, const net_link_pair* line);
/// One tick of the server and of all guests.
void house_step(house* at);
/// Whether all guests play.
bool house_is_full(const house* at);
/// So far, of all.
house_traffic house_get_traffic(const house* at);
/// Are datagrams authenticated below ENet?
bool house_is_guarded(const house* at);
