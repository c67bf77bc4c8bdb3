// SPDX-License-Identifier: MIT
/// Every reason for which sent data, or data to be sent, has no effect: one counter each, on both
/// sides.
///
/// A packet that the network loses is not counted: no side sees it. A repetition that came in vain
/// is counted, so that sums over both sides are complete.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// NAME, the word that programs print, whether it happens in every healthy match, and what it is.
/// Inputs and events are repeated on purpose, and most repetitions come in vain.
#define NET_DROP_LIST(X)                                                                           \
    /* Datagrams and messages. */                                                                  \
    X(NET_DROP_UNKNOWN_PEER, "unknown_peer", false, "of a connection without a session")           \
    X(NET_DROP_UNTIMELY, "untimely", true,                                                         \
      "state or input before welcome, or anything after a goodbye")                                \
    X(NET_DROP_FLOOD, "flood", false,                                                              \
      "not read: the client sent several times as much as our clients do")                         \
    X(NET_DROP_MALFORMED, "malformed", false,                                                      \
      "not decodable, or against the protocol; never acknowledged")                                \
    X(NET_DROP_DUPLICATE, "duplicate", true, "a packet with this number came before")              \
    X(NET_DROP_OLD, "old", false, "the number is too far back, or too far ahead to be believed")   \
    X(NET_DROP_STALE, "stale", false, "a state packet whose bases are gone")                       \
    X(NET_DROP_SEND, "send", false, "the transport refused to send it: lost")                      \
    /* Parts of them. */                                                                           \
    X(NET_DROP_ACK_FORGED, "ack_forged", false, "acknowledges a packet that was never sent")       \
    X(NET_DROP_ACK_STALE, "ack_stale", false,                                                      \
      "acknowledges a packet that is half the circle of numbers old")                              \
    X(NET_DROP_COMPOSITION, "composition", false,                                                  \
      "a create that names more compositions than a client takes")                                 \
    X(NET_DROP_RECORD_OLD, "record_old", true,                                                     \
      "a row older than the entity's: kept as a base, not applied")                                \
    X(NET_DROP_INPUT_KNOWN, "input_known", true, "a repeated input that came before")              \
    X(NET_DROP_INPUT_FULL, "input_full", false, "the queue of inputs is full")                     \
    X(NET_DROP_INPUT_SKIPPED, "input_skipped", false, "dropped to bound the latency")              \
    X(NET_DROP_INPUT_SETTLED, "input_settled", true,                                               \
      "came late, and equals the input that was repeated in its place")                            \
    X(NET_DROP_INPUT_LONG, "input_long", false,                                                    \
      "the module's input is too long: an empty one was sent")                                     \
    X(NET_DROP_EVENT_KNOWN, "event_known", true,                                                   \
      "a reliable event that came before, or out of order")                                        \
    X(NET_DROP_EVENT_FULL, "event_full", false, "the receiver's queue is full")                    \
    X(NET_DROP_EVENT_WAITED, "event_waited", false, "its entities did not come in time")           \
    X(NET_DROP_EVENT_QUEUE, "event_queue", false,                                                  \
      "the sender's queue is full; for a reliable event the session ends")                         \
    X(NET_DROP_EVENT_LONG, "event_long", false, "longer than NET_EVENT_PAYLOAD_BYTES_MAX")         \
    X(NET_DROP_EVENT_UNSEEN, "event_unseen", true, "about an entity that the client does not see") \
    X(NET_DROP_RESYNC_LIMIT, "resync_limit", false,                                                \
      "requests for more rows than a client may have")                                             \
    X(NET_DROP_RESYNC_UNKNOWN, "resync_unknown", false,                                            \
      "a request for an entity that the client does not see")                                      \
    /* Connections and sessions. */                                                                \
    X(NET_DROP_BANNED, "banned", false, "refused or ended: on the list of bans")                   \
    X(NET_DROP_ADDRESS_FULL, "address_full", false,                                                \
      "refused: its address has all the places that one address may have")                         \
    X(NET_DROP_JOIN_FLOOD, "join_flood", false,                                                    \
      "refused: too many sessions of this player or address")                                      \
    X(NET_DROP_RESUME_FLOOD, "resume_flood", false, "refused: resumed too often")                  \
    X(NET_DROP_GREETING_LATE, "greeting_late", false,                                              \
      "no hello in time, and others wait: the connection is closed")                               \
    X(NET_DROP_EVICTED, "evicted", false, "a member without life gave its place")                  \
    X(NET_DROP_DEAF, "deaf", false, "heard, but acknowledged nothing: the session ended")          \
    X(NET_DROP_REPORT_SCOPE, "report_scope", false,                                                \
      "too many leave at once: the report is without tick and scope")                              \
    X(NET_DROP_RESUME_QUIET, "resume_quiet", false,                                                \
      "a resumption too soon after the last: no line, and the roster later")                       \
    X(NET_DROP_VARSIZE_LONG, "varsize_long", false,                                                \
      "a value above NET_VARSIZE_BYTES_MAX: clients keep the default")                             \
    X(NET_DROP_VARSIZE_KNOWN, "varsize_known", true, "a version that came before")                 \
    X(NET_DROP_VARSIZE_GONE, "varsize_gone", false,                                                \
      "for an entity that is gone, or could not be loaded")                                        \
    X(NET_DROP_VARSIZE_FULL, "varsize_full", false,                                                \
      "evicted while it waited for its entity: the server sends it again")

typedef enum net_drop {
#define NET_DROP_ENUM(name, word, is_usual, text) name,
    NET_DROP_LIST(NET_DROP_ENUM)
#undef NET_DROP_ENUM
        NET_DROP_COUNT
} net_drop;

/// Does it happen in every healthy match? For an operator, who reads of what is not usual.
bool net_drop_is_usual(net_drop reason);
/// "flood", "input_skipped"... Static text.
const char* net_drop_name(net_drop reason);
/// Write the reasons that have a count: " flood=3 input_full=1". "" when none has. NUL-terminated
/// and cut to `text_bytes`, which must not be 0.
void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes);

BASE_C_END
