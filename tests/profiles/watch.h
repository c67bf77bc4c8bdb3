// SPDX-License-Identifier: MIT
/// What is checked and measured at every step of a house:
///
/// rows     each row that a guest applies is the server's row of that tick, bit for bit
/// events   reliable events arrive once and in order, both ways; their age at delivery
/// age      how many ticks the newest state of a guest is behind the server
#pragma once

#include "house.h"

#define WATCH_TICKS 1024u ///< of rows that are remembered: more than any state is old
#define WATCH_ROWS_MAX 240u
#define WATCH_PINGS 4096u
#define WATCH_AGE_MAX 4095u ///< ticks; older counts as this

typedef struct watch_ages {
    uint64_t count;
    uint32_t max;
    uint32_t of[WATCH_AGE_MAX + 1]; ///< by age in ticks
} watch_ages;

typedef struct watch_note {
    ecs_entity entity;
    uint64_t hash;
} watch_note;

typedef struct watch_tick {
    ecs_tick tick;
    uint32_t count;
    watch_note notes[WATCH_ROWS_MAX]; ///< by rising index
} watch_tick;

struct watch {
    watch_tick ticks[WATCH_TICKS];
    uint64_t ping_us[WATCH_PINGS];
    uint32_t pings; ///< raised
    bool is_sampling;
    watch_ages states, events;
    uint64_t rows, mismatches;
    uint64_t event_faults; ///< lost, doubled or reordered
    uint64_t hash;         ///< over all applied rows
    char failure[256];     ///< the first one
};

void watch_fail(watch* at, const char* format, ...) BASE_PRINTF(2, 3);
/// net_client_trace_fn; the context is a guest.
void watch_row(void* context, uint32_t client, ecs_entity entity, ecs_tick tick, uint64_t row_hash);
/// After a tick of the server.
void watch_server(watch* at, house* of);
/// After a step of a guest.
void watch_guest(watch* at, guest* one);
/// Whether all reliable events have been delivered to all guests.
bool watch_has_all_events(const watch* at, const house* of);
/// Whether all guests hold the server's world.
bool watch_is_equal(house* of);
/// @return milliseconds below which `share` of the ages lie.
double watch_quantile(const watch_ages* ages, double share);
