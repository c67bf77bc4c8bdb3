// SPDX-License-Identifier: MIT
/// What happens to the sessions of a server or a client: one event for each packet and each change
/// of state.
///
/// For people who look for a fault in a connection, as qlog is for QUIC. The programs write the
/// events to a file, one line each (--trace-session FILE).
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef enum net_trace_kind {
    NET_TRACE_SENT,
    NET_TRACE_RECEIVED,
    NET_TRACE_STATE, ///< the state of a session changes
} net_trace_kind;

/// All texts are static.
typedef struct net_trace_event {
    net_trace_kind kind;
    uint64_t now_us; ///< as the program gave it to service or tick
    uint32_t client; ///< client number; 0 before welcome
    uint32_t peer;   ///< net_peer of the connection; 0: there is none
    const char*
        name; ///< SENT, RECEIVED: "hello", "state", "input"...; "malformed" when not decodable
    uint32_t number;    ///< SENT, RECEIVED: sequence number of a state or input packet, else 0
    uint32_t bytes;     ///< SENT, RECEIVED: what the transport was given or gave
    const char* from;   ///< STATE
    const char* to;     ///< STATE
    const char* reason; ///< STATE: one word
} net_trace_event;

/// Gets one event; borrowed for the call. It must not call the server or the client.
typedef void (*net_trace_fn)(void* context, const net_trace_event* event);

#define NET_TRACE_LINE_BYTES_MAX 160u

/// Write an event as one line without its end: "t_ms=1250.016 client=3 peer=4097 dir=out kind=state
/// seq=17 bytes=310", or "t_ms=1250.016 client=3 peer=4097 state from=playing to=away
/// reason=connection_lost". NUL-terminated and cut to `text_bytes`; NET_TRACE_LINE_BYTES_MAX is
/// always enough.
void net_trace_text(const net_trace_event* event, char* text, size_t text_bytes);

BASE_C_END
