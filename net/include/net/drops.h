// SPDX-License-Identifier: MIT
/// Every reason for which something that was sent, or was to be sent, has no effect: one counter each, on both
/// sides. What the network loses is no drop; what redundancy makes superfluous is, so that sums come out.
#pragma once

#include "base/macros.h"

typedef enum net_drop {
    // datagrams and messages
    NET_DROP_STRANGER,  ///< of a connection that has no session here
    NET_DROP_UNTIMELY,  ///< state or inputs before welcome, anything after a goodbye
    NET_DROP_FLOOD,     ///< unread: a client sent several times what ours send
    NET_DROP_MALFORMED, ///< not decodable, or what nobody of ours says; never acknowledged
    NET_DROP_DUPLICATE, ///< its number came before
    NET_DROP_OLD,       ///< its number is too far back, or too far ahead to be believed
    NET_DROP_STALE,     ///< a state packet whose bases are gone
    NET_DROP_SEND,      ///< the transport refused it: a lost one
    // parts of them
    NET_DROP_ACK_FORGED,    ///< acknowledges what was never sent
    NET_DROP_ACK_STALE,     ///< acknowledges what was sent half the circle ago
    NET_DROP_RECORD_OLD,    ///< a row older than the entity's: kept as a base
    NET_DROP_INPUT_KNOWN,   ///< repeated, and had come before
    NET_DROP_INPUT_FULL,    ///< the ring is full
    NET_DROP_INPUT_SKIPPED, ///< thinned out to bound the latency
    NET_DROP_INPUT_SETTLED, ///< came late and said what had been repeated in its place
    NET_DROP_INPUT_LONG,    ///< the module's input does not fit: a resting one was sent
    NET_DROP_EVENT_KNOWN,   ///< a reliable one that came before, or before its turn
    NET_DROP_EVENT_FULL,    ///< no room where it came to
    NET_DROP_EVENT_WAITED,  ///< what it is about did not come in time
    NET_DROP_EVENT_QUEUE, ///< no room where it was to be sent: an unreliable one, or the session's end
    NET_DROP_EVENT_LONG,   ///< longer than an event may be
    NET_DROP_EVENT_UNSEEN, ///< about an entity that the client does not see
    NET_DROP_HEAL_LIMIT,   ///< asked for more rows than are given
    NET_DROP_HEAL_UNKNOWN, ///< asked for an entity that the client does not see
    NET_DROP_RESUME_QUIET, ///< a resumption too soon after the last: no line, and the roster comes later
    NET_DROP_VARSIZE_LONG,  ///< a value longer than one may be: clients have the default
    NET_DROP_VARSIZE_KNOWN, ///< a version that came before
    NET_DROP_VARSIZE_GONE,  ///< for an entity that is gone, or could not be loaded
    NET_DROP_VARSIZE_FULL,  ///< gave way to others while it waited for its entity: it comes again
    NET_DROP_COUNT
} net_drop;

/// "flood", "input_skipped"...
const char* net_drop_name(net_drop reason);
/// " flood=3 input_full=1": the reasons that have a count, NUL-terminated and cut to `text_bytes`.
void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes);
