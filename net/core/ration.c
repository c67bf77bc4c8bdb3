// SPDX-License-Identifier: MIT
#include "core/ration.h"

#include "base/assert.h"

#include <inttypes.h>

static const net_budget_rate line_rate = {NET_RATION_LINE_MS * 1000, NET_RATION_LINES_BURST};

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

static void report(net_ration* ration, net_ration_kind kind) {
    uint64_t count = ration->withheld[kind];
    if (count == 0) return;
    ration->withheld[kind] = 0;
    base_report(ration->reporter, NULL, 0, "note: %" PRIu64 " more lines like this: %s", count,
                name_of(kind));
}

const base_reporter* net_ration_take(net_ration* ration, net_ration_kind kind, uint64_t now_us) {
    BASE_ASSERT((uint32_t)kind < NET_RATION_COUNT);
    if (!net_budget_take(&ration->budgets[kind], line_rate, now_us)) {
        ration->withheld[kind]++;
        return NULL;
    }
    report(ration, kind);
    return ration->reporter;
}

void net_ration_report(net_ration* ration, uint64_t now_us) {
    for (uint32_t kind = 0; kind < NET_RATION_COUNT; kind++) {
        if (ration->withheld[kind] > 0 &&
            net_budget_take(&ration->budgets[kind], line_rate, now_us))
            report(ration, kind);
    }
}

void net_ration_end(net_ration* ration) {
    for (uint32_t kind = 0; kind < NET_RATION_COUNT; kind++)
        report(ration, kind);
}
