// SPDX-License-Identifier: MIT
/// A budget in events a second with a burst, refilled by the clock that the caller passes. Its
/// whole state is one time: when the bucket would be full again. Zero is a full bucket, and a clock
/// that goes back gives nothing.
#pragma once

#include "base/report.h"

typedef struct net_budget {
    uint64_t full_us;
} net_budget;

typedef struct net_budget_rate {
    uint32_t every_us; ///< one event comes back after this time
    uint32_t burst;    ///< events that a full bucket holds
} net_budget_rate;

/// Use up `count` events. @return false when there are fewer; nothing changed then.
static inline bool net_budget_take_all(net_budget* budget, net_budget_rate rate, uint32_t count,
                                       uint64_t now_us) {
    const uint64_t begin_us = budget->full_us > now_us ? budget->full_us : now_us;
    const uint64_t full_us = begin_us + (uint64_t)rate.every_us * count;
    const bool has_all = full_us <= now_us + (uint64_t)rate.every_us * rate.burst;
    if (has_all) budget->full_us = full_us;
    return has_all;
}

/// The same with one event.
static inline bool net_budget_take(net_budget* budget, net_budget_rate rate, uint64_t now_us) {
    return net_budget_take_all(budget, rate, 1, now_us);
}

/// Is there room for one event?
static inline bool net_budget_has(const net_budget* budget, net_budget_rate rate, uint64_t now_us) {
    net_budget copy = *budget;
    return net_budget_take(&copy, rate, now_us);
}

/// Rationed reports: clients cannot flood the screen or the disk of an operator with lines.
///
/// Each kind of line has a budget: NET_RATION_LINES_BURST lines at once, then one in
/// NET_RATION_LINE_MS. A line beyond that is withheld and counted. The next line of the kind that
/// passes is preceded by "note: N more lines like this: KIND"; net_ration_report says it when no
/// line of the kind follows. A plain struct; time is an argument. Threads: one at a time.

#define NET_RATION_LINES_BURST 20u ///< lines of one kind that pass at once
#define NET_RATION_LINE_MS 1000u   ///< then one line of this kind passes in this time

typedef enum net_ration_kind {
    NET_RATION_AWAY,    ///< a client fell silent or lost its connection
    NET_RATION_BACK,    ///< it came back
    NET_RATION_DROPPED, ///< its session was ended by the server
    NET_RATION_EVENT,   ///< an event could not be sent
    NET_RATION_LOST,    ///< of a client: the connection is lost
    NET_RATION_JOINED,  ///< a player joined
    NET_RATION_LEFT,    ///< a player left
    NET_RATION_REFUSED, ///< a client could not join
    NET_RATION_DIFFERS, ///< an entity of a client differs from the server's
    NET_RATION_LIMITED, ///< a client sends more than is read
    NET_RATION_COUNT
} net_ration_kind;

/// The `line` of a report, without a file. NET_FOUND_DIFFERS: above 8 bits is the component.
typedef enum net_finding {
    NET_FOUND_DROPPED = 1, ///< a client, by the server
    NET_FOUND_DIFFERS,     ///< an entity of a client, from the server's
    NET_FOUND_UNSENT,      ///< an event, or entities that do not fit into one packet
    NET_FOUND_SLIP,        ///< a write past tracking
    NET_FOUND_ROUGH        ///< a prediction between the steps that are sent
} net_finding;

typedef struct net_ration {
    const base_reporter* reporter; ///< borrowed; NULL: silent
    net_budget budgets[NET_RATION_COUNT];
    uint64_t withheld[NET_RATION_COUNT]; ///< not yet reported
} net_ration;

/// Begin with full buckets. `reporter` is borrowed and may be NULL.
void net_ration_init(net_ration* ration, const base_reporter* reporter);
/// Ask for one line. @return the reporter, for base_report; NULL: the line is withheld and counted.
const base_reporter* net_ration_take(net_ration* ration, net_ration_kind kind, uint64_t now_us);
/// Tell how many lines were withheld, for each kind that has a token again. Call it once per tick.
void net_ration_report(net_ration* ration, uint64_t now_us);
/// Tell all that was withheld, at the end.
void net_ration_end(net_ration* ration);
