// SPDX-License-Identifier: MIT
/// What one client has and lacks: schedules, encodes, and learns from acknowledgements (server side).
///
/// Schedule optimistically, encode pessimistically: an entity waits to be sent only after a new change
/// or the detected loss of the newest packet with it; when it is written, the base is the row that
/// this client acknowledged for this entity. Waiting entities go in the order in which they began to
/// wait; nothing starves.
///
/// Per tick: net_history_step, then for each view net_view_follow once, then net_view_write for each
/// packet (also without anything waiting: an empty packet has seq and acknowledgements).
/// Memory: grows to the highest index and the largest packet, then stays.
/// Threads: one thread at a time per view; only reads the history.
#pragma once

#include "history.h"

typedef struct net_view_counters {
    uint64_t packets, bytes; ///< bodies written
    uint64_t records_create;
    uint64_t records_update;   ///< against an acknowledged row
    uint64_t records_settled;  ///< of those, base coded as settled
    uint64_t records_absolute; ///< living on the client, but no usable base
    uint64_t records_destroy;
    uint64_t packets_acked, packets_lost;
    uint64_t acks_forged; ///< for packets that were never written
} net_view_counters;

typedef struct net_view net_view;

/// A client joins: everything that lives and is visible waits to be created. `history` is borrowed.
BASE_MUST_USE net_result net_view_create(const base_allocator* allocator,
                                         const net_history* history, net_view** view);
void net_view_destroy(net_view* view);
/// Take over the events of the history's last step. Exactly once per step.
/// @return NET_OK; NET_ERR_MEMORY (drop the client).
BASE_MUST_USE net_result net_view_follow(net_view* view);
/// Is anything waiting to be written?
bool net_view_has_pending(const net_view* view);
/// Write one state body for packet `seq` (from net_acks_send_add), at most `capacity` bytes, at the
/// history's tick. *size may be 0: nothing was waiting. What does not fit stays waiting. Offer
/// NET_BODY_BYTES_MIN regularly, or a large entity waits for ever.
/// Sequence numbers must rise by one from call to call (asserted): every state packet is registered.
/// @return NET_OK; NET_ERR_MEMORY (nothing was written or registered; drop the client).
BASE_MUST_USE net_result net_view_write(net_view* view, uint16_t seq, uint8_t* body,
                                        size_t capacity, size_t* size);
/// The client decoded packet `seq`. Give newest first (net_acks does). Idempotent; counts after a
/// declared loss too. @return false (counted) when no such packet was written.
bool net_view_acked(net_view* view, uint16_t seq);
/// Packet `seq` is taken as lost: what was sent last in it waits again. Idempotent.
bool net_view_lost(net_view* view, uint16_t seq);
/// The client has acknowledged everything there is, at the history's tick.
bool net_view_is_settled(const net_view* view);
const net_view_counters* net_view_get_counters(const net_view* view);
