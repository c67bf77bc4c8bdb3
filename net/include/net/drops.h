// SPDX-License-Identifier: MIT
/// Every reason for which sent data, or data to be sent, has no effect: one counter each, on both
/// sides.
///
/// A packet that the network loses is not counted: no side sees it. A repetition that came in vain
/// is counted, so that sums over both sides are complete.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef enum net_drop {
    // Datagrams and messages.
    NET_DROP_UNKNOWN_PEER, ///< of a connection without a session
    NET_DROP_UNTIMELY,     ///< state or input before welcome, or anything after a goodbye
    NET_DROP_FLOOD,        ///< not read: the client sent several times as much as our clients do
    NET_DROP_MALFORMED,    ///< not decodable, or against the protocol; never acknowledged
    NET_DROP_DUPLICATE,    ///< a packet with this number came before
    NET_DROP_OLD,          ///< the number is too far back, or too far ahead to be believed
    NET_DROP_STALE,        ///< a state packet whose bases are gone
    NET_DROP_SEND,         ///< the transport refused to send it: lost
    // Parts of them.
    NET_DROP_ACK_FORGED,     ///< acknowledges a packet that was never sent
    NET_DROP_ACK_STALE,      ///< acknowledges a packet that is half the circle of numbers old
    NET_DROP_COMPOSITION,    ///< a create that names more compositions than a client takes
    NET_DROP_RECORD_OLD,     ///< a row older than the entity's: kept as a base, not applied
    NET_DROP_INPUT_KNOWN,    ///< a repeated input that came before
    NET_DROP_INPUT_FULL,     ///< the queue of inputs is full
    NET_DROP_INPUT_SKIPPED,  ///< dropped to bound the latency
    NET_DROP_INPUT_SETTLED,  ///< came late, and equals the input that was repeated in its place
    NET_DROP_INPUT_LONG,     ///< the module's input is too long: an empty one was sent
    NET_DROP_EVENT_KNOWN,    ///< a reliable event that came before, or out of order
    NET_DROP_EVENT_FULL,     ///< the receiver's queue is full
    NET_DROP_EVENT_WAITED,   ///< its entities did not come in time
    NET_DROP_EVENT_QUEUE,    ///< the sender's queue is full; for a reliable event the session ends
    NET_DROP_EVENT_LONG,     ///< longer than NET_EVENT_PAYLOAD_BYTES_MAX
    NET_DROP_EVENT_UNSEEN,   ///< about an entity that the client does not see
    NET_DROP_RESYNC_LIMIT,   ///< requests for more rows than a client may have
    NET_DROP_RESYNC_UNKNOWN, ///< a request for an entity that the client does not see
    // Connections and sessions.
    NET_DROP_BANNED,        ///< refused or ended: on the list of bans
    NET_DROP_ADDRESS_FULL,  ///< refused: its address has all the places that one address may have
    NET_DROP_JOIN_FLOOD,    ///< refused: too many sessions of this player or address
    NET_DROP_RESUME_FLOOD,  ///< refused: resumed too often
    NET_DROP_GREETING_LATE, ///< no hello in time, and others wait: the connection is closed
    NET_DROP_EVICTED,       ///< a member without life gave its place
    NET_DROP_DEAF,          ///< heard, but acknowledged nothing: the session ended
    NET_DROP_REPORT_SCOPE,  ///< too many leave at once: the report is without tick and scope
    NET_DROP_RESUME_QUIET,  ///< a resumption too soon after the last: no line, and the roster later
    NET_DROP_VARSIZE_LONG,  ///< a value above NET_VARSIZE_BYTES_MAX: clients keep the default
    NET_DROP_VARSIZE_KNOWN, ///< a version that came before
    NET_DROP_VARSIZE_GONE,  ///< for an entity that is gone, or could not be loaded
    NET_DROP_VARSIZE_FULL,  ///< evicted while it waited for its entity: the server sends it again
    NET_DROP_COUNT
} net_drop;

/// Does it happen in every healthy match? Inputs and events are repeated on purpose, and most
/// repetitions come in vain. For notes to an operator, which name what is not usual.
bool net_drop_is_usual(net_drop reason);
/// "flood", "input_skipped"... Static text.
const char* net_drop_name(net_drop reason);
/// Write the reasons that have a count: " flood=3 input_full=1". "" when none has. NUL-terminated
/// and cut to `text_bytes`, which must not be 0.
void net_drops_text(const uint64_t dropped[NET_DROP_COUNT], char* text, size_t text_bytes);

BASE_C_END
