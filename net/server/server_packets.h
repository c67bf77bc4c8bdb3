// SPDX-License-Identifier: MIT
/// Packets of sessions that play: queued by lane, read by the lanes.
#pragma once

#include "server/server_lane.h"

/// Queue an event for a session that plays, with a copy of its bytes. @return false when memory ran
/// out: nothing was queued.
bool net_server_queue_event(net_server* server, net_session* session,
                            const net_transport_event* event);
/// Let the lanes read what is queued. Then their lists of deferred events, the first lane's before
/// the second's, are in the order of clients; the events stay in the queues until
/// net_server_empty_queues. @return false: nothing was queued.
bool net_server_read_queues(net_server* server);
void net_server_empty_queues(net_server* server);
/// An event of a lane's queue.
const net_lane_event* net_lane_event_at(const net_server_lane* lane, uint32_t at);
/// Why an event has no effect now: its session ended or changed its connection since it was queued.
/// @return NET_DROP_COUNT: it has one.
net_drop net_lane_check_event(const net_lane_event* event);
/// Take a packet with the scratch of a lane. @return false when the client broke the protocol.
bool net_lane_take_packet(net_server_lane* lane, net_session* session, const uint8_t* bytes,
                          size_t size);
