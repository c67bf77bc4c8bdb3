// SPDX-License-Identifier: MIT
// The names of reasons.
#include "net/drops.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

const char* net_drop_name(net_drop reason) {
    static const char* const names[] = {
        [NET_DROP_UNKNOWN_PEER] = "unknown_peer",
        [NET_DROP_UNTIMELY] = "untimely",
        [NET_DROP_FLOOD] = "flood",
        [NET_DROP_MALFORMED] = "malformed",
        [NET_DROP_DUPLICATE] = "duplicate",
        [NET_DROP_OLD] = "old",
        [NET_DROP_STALE] = "stale",
        [NET_DROP_SEND] = "send",
        [NET_DROP_ACK_FORGED] = "ack_forged",
        [NET_DROP_ACK_STALE] = "ack_stale",
        [NET_DROP_COMPOSITION] = "composition",
        [NET_DROP_RECORD_OLD] = "record_old",
        [NET_DROP_INPUT_KNOWN] = "input_known",
        [NET_DROP_INPUT_FULL] = "input_full",
        [NET_DROP_INPUT_SKIPPED] = "input_skipped",
        [NET_DROP_INPUT_SETTLED] = "input_settled",
        [NET_DROP_INPUT_LONG] = "input_long",
        [NET_DROP_EVENT_KNOWN] = "event_known",
        [NET_DROP_EVENT_FULL] = "event_full",
        [NET_DROP_EVENT_WAITED] = "event_waited",
        [NET_DROP_EVENT_QUEUE] = "event_queue",
        [NET_DROP_EVENT_LONG] = "event_long",
        [NET_DROP_EVENT_UNSEEN] = "event_unseen",
        [NET_DROP_RESYNC_LIMIT] = "resync_limit",
        [NET_DROP_RESYNC_UNKNOWN] = "resync_unknown",
        [NET_DROP_BANNED] = "banned",
        [NET_DROP_ADDRESS_FULL] = "address_full",
        [NET_DROP_JOIN_FLOOD] = "join_flood",
        [NET_DROP_RESUME_FLOOD] = "resume_flood",
        [NET_DROP_GREETING_LATE] = "greeting_late",
        [NET_DROP_EVICTED] = "evicted",
        [NET_DROP_DEAF] = "deaf",
        [NET_DROP_REPORT_SCOPE] = "report_scope",
        [NET_DROP_RESUME_QUIET] = "resume_quiet",
        [NET_DROP_VARSIZE_LONG] = "varsize_long",
        [NET_DROP_VARSIZE_KNOWN] = "varsize_known",
        [NET_DROP_VARSIZE_GONE] = "varsize_gone",
        [NET_DROP_VARSIZE_FULL] = "varsize_full",
    };
    _Static_assert(BASE_COUNT(names) == NET_DROP_COUNT, "a reason has no name");
    BASE_ASSERT((uint32_t)reason < NET_DROP_COUNT);
    return names[reason];
}

bool net_drop_is_usual(net_drop reason) {
    BASE_ASSERT((uint32_t)reason < NET_DROP_COUNT);
    switch (reason) {
    case NET_DROP_UNTIMELY: // inputs that were under way when a client joined or left
    case NET_DROP_DUPLICATE:
    case NET_DROP_RECORD_OLD:
    case NET_DROP_INPUT_KNOWN:
    case NET_DROP_INPUT_SETTLED:
    case NET_DROP_EVENT_KNOWN:
    case NET_DROP_EVENT_UNSEEN:
    case NET_DROP_VARSIZE_KNOWN:
        return true;
    default:
        return false;
    }
}

void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes) {
    BASE_ASSERT(text_bytes > 0);
    text[0] = '\0';
    size_t size = 0;
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++, size = strlen(text)) {
        if (dropped[i] > 0)
            (void)base_text_format(text + size, text_bytes - size, " %s=%" PRIu64,
                                   net_drop_name((net_drop)i), dropped[i]);
    }
}
