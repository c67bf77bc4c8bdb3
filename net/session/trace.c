// SPDX-License-Identifier: MIT
// A trace event as a line of key=value pairs.
#include "net/trace.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>

void net_trace_text(const net_trace_event* event, char* text, size_t text_bytes) {
    BASE_ASSERT(event && text && text_bytes > 0);
    uint64_t ms = event->now_us / 1000u;
    uint32_t us = (uint32_t)(event->now_us % 1000u);
    if (event->kind == NET_TRACE_STATE) {
        BASE_ASSERT(event->from && event->to && event->reason);
        (void)base_text_format(text, text_bytes,
                               "t_ms=%" PRIu64 ".%03u client=%u peer=%u state from=%s to=%s "
                               "reason=%s",
                               ms, us, event->client, event->peer, event->from, event->to,
                               event->reason);
        return;
    }
    BASE_ASSERT(event->name);
    (void)base_text_format(
        text, text_bytes, "t_ms=%" PRIu64 ".%03u client=%u peer=%u dir=%s kind=%s seq=%u bytes=%u",
        ms, us, event->client, event->peer, event->kind == NET_TRACE_SENT ? "out" : "in",
        event->name, event->number, event->bytes);
}
