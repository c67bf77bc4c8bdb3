// SPDX-License-Identifier: MIT
// What goes out: one or a few state packets per client and tick.
//
// Every tick has at least one packet, for it carries the acknowledgements that the client's clock and
// inputs live on. What does not fit waits in the view and goes with the next. Events and rows share a
// packet: every second packet leaves room for one of the largest events, the others for the largest row.
#include "server_internal.h"

#include <string.h>

void net_session_expire(net_server* server, net_session* session) {
    net_acks_send_expire(&session->sent, server->now_us, server->tick_us, &server->acks);
    for (uint32_t i = 0; i < server->acks.lost_count; i++) {
        (void)net_view_lost(session->view, server->acks.lost[i]);
    }
}

static size_t body_capacity(size_t event_bytes) {
    return NET_STATE_BYTES_MAX - NET_STATE_ENVELOPE_BYTES_MAX - event_bytes;
}

// So the client knows from which tick on the row it has of its own entity is the server's.
static uint32_t player_age(const net_server* server, const net_session* session, ecs_tick tick) {
    ecs_entity player = net_match_player(server->config.match, session->client);
    if (player == ECS_ENTITY_NONE) return 0;
    const net_history_entity* entity = net_history_find(server->history, ecs_entity_index(player));
    if (!entity || entity->handle != player || entity->change_tick > tick) return 0;
    ecs_tick age = tick - entity->change_tick;
    return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

// @return false when the session ended.
static bool send_packet(net_server* server, net_session* session) {
    Shoal__Wire__GameEvent events[NET_EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[NET_EVENTS_PER_PACKET_MAX];
    size_t event_bytes = 0;
    size_t event_budget = session->packet_count % 2 == 1 ? NET_EVENT_BYTES_OTHER_PACKET
                                                         : NET_EVENT_BYTES_EVERY_PACKET;
    _Static_assert(NET_BODY_BYTES_MIN + NET_STATE_ENVELOPE_BYTES_MAX +
                           NET_EVENT_BYTES_EVERY_PACKET <=
                       NET_STATE_BYTES_MAX,
                   "a packet must hold the largest row: shrink the event share");
    uint32_t event_count = net_outbox_fill(&session->outbox, events, pointers,
                                           NET_EVENTS_PER_PACKET_MAX, event_budget, &event_bytes);

    uint16_t seq = net_acks_send_add(&session->sent, server->now_us);
    ecs_tick tick = net_match_tick(server->config.match);
    if (tick != session->tick_sent) {
        session->tick_sent = tick;
        session->tick_seq = seq;
    }
    size_t body_size = 0;
    if (net_view_write(session->view, seq, server->body, body_capacity(event_bytes), &body_size) !=
        NET_OK) {
        net_session_end(server, session, NET_END_FAULT);
        return false;
    }
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.seq = seq;
    packet.tick = tick;
    packet.has_ack = session->received.has_any;
    packet.ack = session->received.newest;
    packet.ack_delay_us = net_acks_recv_delay_us(&session->received, server->now_us);
    packet.input_used = session->inputs.used;
    packet.input_repeats = session->inputs.owed;
    packet.input_depth = session->inputs.count;
    packet.player_age = player_age(server, session, tick);
    packet.event_ack = session->inbox.newest;
    packet.n_events = event_count;
    packet.events = pointers;
    packet.body.data = server->body;
    packet.body.len = body_size;
    size_t size = proto_encode(&packet.base, server->packet, sizeof server->packet);
    BASE_ASSERT(size > 0); // the budgets above add up
    net_transport* transport = server->config.transport;
    // A refused datagram is a lost one: acknowledgements will tell.
    (void)transport->ops->send(transport, session->peer, NET_CHANNEL_REALTIME, server->packet,
                               size);
    session->packet_count++;
    server->counters.state_packets++;
    server->counters.state_bytes += size;
    return true;
}

void net_session_send(net_server* server, net_session* session) {
    // Into a silence go as many as keep its numbers within NET_ACKS_JUMP_MAX until it comes back.
    _Static_assert((NET_QUIET_MS_MAX * NET_STATE_PACKETS_PER_TICK_MAX + NET_SILENCE_MS_MAX) *
                           NET_TICK_RATE_HZ_MAX / 1000 <
                       NET_ACKS_JUMP_MAX,
                   "who comes back must believe the next packet");
    uint32_t count = session->is_quiet ? 1 : NET_STATE_PACKETS_PER_TICK_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (!send_packet(server, session)) return;
        if (!net_view_has_pending(session->view)) break;
    }
    net_outbox_drop_unreliable(&session->outbox);
}
