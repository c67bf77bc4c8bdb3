// SPDX-License-Identifier: MIT
// Names and texts of results, from the one list.
#include "net/result.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

const char* net_result_name(net_result result) {
    switch (result) { NET_RESULT_LIST(BASE_CASE_NAME) }
    return "NET_UNKNOWN";
}

const char* net_result_text(net_result result) {
    switch (result) { NET_RESULT_LIST(BASE_CASE_TEXT) }
    return "unknown result";
}

// What a person and a program read about the end of a session.

const char* net_end_name(net_end end) {
    static const char* const names[] = {
        [NET_END_NONE] = "none",       [NET_END_GOODBYE] = "goodbye", [NET_END_LEFT] = "left",
        [NET_END_TIMEOUT] = "timeout", [NET_END_FAULT] = "fault",     [NET_END_DEAF] = "deaf",
        [NET_END_BANNED] = "banned",   [NET_END_EVICTED] = "evicted", [NET_END_GAME] = "game",
        [NET_END_REFUSED] = "refused", [NET_END_DIFFERS] = "differs"};
    return (uint32_t)end < BASE_COUNT(names) ? names[end] : "none";
}

const char* net_end_text(net_end end) {
    switch (end) {
    case NET_END_NONE:
        break;
    case NET_END_GOODBYE:
        return "the match ended";
    case NET_END_LEFT:
        return "it left";
    case NET_END_TIMEOUT:
        return "it fell silent";
    case NET_END_FAULT:
        return "it broke the protocol";
    case NET_END_DEAF:
        return "it acknowledged nothing";
    case NET_END_BANNED:
        return "it is banned";
    case NET_END_EVICTED:
        return "it showed no life, and its place was needed";
    case NET_END_GAME:
        return "the game dropped it";
    case NET_END_REFUSED:
        return "the game refused it";
    case NET_END_DIFFERS:
        return "its world differs";
    }
    return "the session ended";
}

// The names of reasons.

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
