// SPDX-License-Identifier: MIT
// A bucket is one number: when it is full again. A line moves that moment by NET_RATION_LINE_MS. So
// a bucket needs no refill, and a clock that goes back gives no tokens.
#include "core/ration.h"

#include "base/assert.h"

#include <inttypes.h>

#define LINE_US (NET_RATION_LINE_MS * UINT64_C(1000))
#define BURST_US (NET_RATION_LINES_BURST * LINE_US)

// "away"...
static const char* name_of(net_ration_kind kind) {
    static const char* const names[] = {
        [NET_RATION_AWAY] = "away",       [NET_RATION_BACK] = "back",
        [NET_RATION_DROPPED] = "dropped", [NET_RATION_EVENT] = "event",
        [NET_RATION_LOST] = "lost",       [NET_RATION_JOINED] = "joined",
        [NET_RATION_LEFT] = "left",       [NET_RATION_REFUSED] = "refused",
        [NET_RATION_DIFFERS] = "differs", [NET_RATION_LIMITED] = "limited",
    };
    _Static_assert(BASE_COUNT(names) == NET_RATION_COUNT, "a kind has no name");
    BASE_ASSERT((uint32_t)kind < NET_RATION_COUNT);
    return names[kind];
}

void net_ration_init(net_ration* ration, const base_reporter* reporter) {
    *ration = (net_ration){.reporter = reporter};
}

static bool has_token(const net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    return ration->full_us[kind] <= now_us || ration->full_us[kind] - now_us <= BURST_US - LINE_US;
}

static void spend(net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    uint64_t from_us = ration->full_us[kind] > now_us ? ration->full_us[kind] : now_us;
    ration->full_us[kind] = from_us + LINE_US;
}

static void report(net_ration* ration, net_ration_kind kind) {
    uint64_t count = ration->withheld[kind];
    if (count == 0) return;
    ration->withheld[kind] = 0;
    base_report(ration->reporter, NULL, 0, "note: %" PRIu64 " more lines like this: %s", count,
                name_of(kind));
}

const base_reporter* net_ration_take(net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    BASE_ASSERT((uint32_t)kind < NET_RATION_COUNT);
    if (!has_token(ration, kind, now_us)) {
        ration->withheld[kind]++;
        ration->withheld_all++;
        return NULL;
    }
    report(ration, kind);
    spend(ration, kind, now_us);
    return ration->reporter;
}

void net_ration_report(net_ration* ration, uint64_t now_us) {
    for (uint32_t kind = 0; kind < NET_RATION_COUNT; kind++) {
        if (ration->withheld[kind] == 0 || !has_token(ration, kind, now_us)) continue;
        report(ration, kind);
        spend(ration, kind, now_us);
    }
}

void net_ration_end(net_ration* ration) {
    for (uint32_t kind = 0; kind < NET_RATION_COUNT; kind++)
        report(ration, kind);
}
