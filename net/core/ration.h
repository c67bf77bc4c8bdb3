// SPDX-License-Identifier: MIT
/// Rationed reports: clients cannot flood the screen or the disk of an operator with lines.
///
/// Each kind of line has a token bucket: NET_RATION_LINES_BURST lines at once, then one in
/// NET_RATION_LINE_MS. A line beyond that is withheld and counted. The next line of the kind that
/// passes is preceded by "note: N more lines like this: KIND"; net_ration_report says it when no
/// line of the kind follows. A plain struct; time is an argument. Threads: one at a time.
#pragma once

#include "base/report.h"

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

typedef struct net_ration {
    const base_reporter* reporter;       ///< borrowed; NULL: silent
    uint64_t full_us[NET_RATION_COUNT];  ///< when the bucket of the kind is full again
    uint64_t withheld[NET_RATION_COUNT]; ///< not yet reported
    uint64_t withheld_all;               ///< lines withheld so far
} net_ration;

/// Begin with full buckets. `reporter` is borrowed and may be NULL.
void net_ration_init(net_ration* ration, const base_reporter* reporter);
/// Ask for one line. @return the reporter, for base_report; NULL: the line is withheld and counted.
const base_reporter* net_ration_take(net_ration* ration, net_ration_kind kind, uint64_t now_us);
/// Tell how many lines were withheld, for each kind that has a token again. Call it once per tick.
void net_ration_report(net_ration* ration, uint64_t now_us);
/// Tell all that was withheld, at the end.
void net_ration_end(net_ration* ration);
