// SPDX-License-Identifier: MIT
// What goes out: the net half of a tick.
//
//     publish (views learn what came, went and changed)
//     per session: events it may see -> losses -> is a packet due? -> as many as its tokens let out
//     one flush
//
// A packet is due when something waits, when an event does, when an input of the client met another fate than
// to be used in time, and NET_HEARTBEAT_HZ times a second otherwise: a client's clock, its prediction and its
// loss detection live on these. With a send divisor only every so manieth tick is a client's turn. While the
// match stands still, everybody is sent to until it has acknowledged everything.
//
// Events and rows share a packet: every second packet leaves room for one of the largest events, the others
// for the largest row.
//
// Invariants: runs on one thread at a time, between net_server_hand_over and net_server_collect; touches of a
// session only `out`; whoever fails is marked and ended by net_server_collect.
#include "server/server_internal.h"

#include "core/fault.h"
#include "session/packet_header.h"

#include <string.h>

#define STATE_FRAME_BYTES 3u ///< tag and length of StatePacket.state
#define HEADER_BITS_MAX ((NET_STATE_ENVELOPE_BYTES_MAX - STATE_FRAME_BYTES) * 8u)
#define DELAY_US_MAX 60000000u ///< a longer delay is told as this one

// ---- events

// Who saw something that is gone with this tick may be told what became of it.
static void mark_seen(net_server* server) {
    net_server_out* out = &server->out;
    uint32_t words = (out->event_count + 63) / 64;
    void* seen = out->seen;
    out->seen_words = 0;
    if (words == 0 || out->count == 0) return;
    if (!base_array_reserve(server->allocator, &seen, &out->seen_capacity, words * out->count,
                            sizeof *out->seen))
        return; // they are not told
    out->seen = seen;
    out->seen_words = words;
    memset(out->seen, 0, (size_t)words * out->count * sizeof *out->seen);
    const net_history* history = net_replicator_history(server->replicator);
    for (uint32_t e = 0; e < out->event_count; e++) {
        ecs_entity target = out->events[e].target;
        if (target == ECS_ENTITY_NONE) continue;
        const net_history_entity* entity = net_history_find(history, ecs_entity_index(target));
        if (entity && entity->handle == target) continue;
        for (uint32_t i = 0; i < out->count; i++) {
            if (net_repl_state_sees(out->sessions[i]->out.repl, target, NULL))
                out->seen[i * words + e / 64] |= UINT64_C(1) << e % 64;
        }
    }
}

static bool sees_all(const net_server_event* event, const net_repl_state* repl) {
    for (uint32_t i = 0; i < event->entity_count; i++)
        if (!net_repl_state_sees(repl, event->entities[i], NULL)) return false;
    return true;
}

static bool may_know(const net_server_out* out, uint32_t place, const net_repl_state* repl,
                     uint32_t e) {
    const net_server_event* event = &out->events[e];
    // It could only hold up others there, and be dropped in the end.
    if (!event->is_late && !sees_all(event, repl)) return false;
    ecs_entity target = event->target;
    if (target == ECS_ENTITY_NONE || net_repl_state_sees(repl, target, NULL)) return true;
    return out->seen_words && (out->seen[place * out->seen_words + e / 64] >> e % 64 & 1);
}

// A full queue of reliable ones ends the session: to lose one silently would break the promise.
static void queue_events(net_server* server, uint32_t place) {
    net_session_out* to = &server->out.sessions[place]->out;
    for (uint32_t e = 0; e < server->out.event_count; e++) {
        const net_server_event* event = &server->out.events[e];
        if (!may_know(&server->out, place, to->repl, e)) {
            to->events_unseen++;
            continue;
        }
        bool is_alone = event->is_late && !sees_all(event, to->repl);
        if ((is_alone ? net_event_outbox_push_alone : net_event_outbox_push)(
                &to->outbox, event->is_reliable, event->message, server->out.tick, event->target,
                event->payload, event->size) == NET_OK)
            continue;
        to->events_refused++;
        if (event->is_reliable) to->has_failed = true;
    }
}

// ---- one packet

static void expire(net_server* server, net_session_out* out) {
    net_server_out* half = &server->out;
    if (!net_ack_sender_is_flying(&out->sent)) return;
    net_ack_sender_expire(&out->sent, half->now_us, server->tick_us, &half->acks);
    for (uint32_t i = 0; i < half->acks.lost_count; i++)
        (void)net_repl_state_lost(out->repl, half->acks.lost[i]);
}

// So the client knows from which tick on the row it has of its own entity is the server's.
static uint32_t player_age(const net_server* server, const net_session_out* out) {
    ecs_entity player = out->told.player;
    ecs_tick tick = server->out.tick;
    if (player == ECS_ENTITY_NONE) return 0;
    const net_history_entity* entity =
        net_history_find(net_replicator_history(server->replicator), ecs_entity_index(player));
    // What the client may not see must not move a bit.
    uint32_t classes = 0;
    if (!entity || entity->handle != player || !net_repl_state_sees(out->repl, player, &classes))
        return 0;
    if (net_fault_is_planted(NET_FAULT_LEAK_AGE)) classes = UINT16_MAX;
    ecs_tick changed = net_history_changed(entity, classes);
    if (changed > tick) return 0;
    ecs_tick age = tick - changed;
    return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

static uint32_t ack_delay_us(const net_session_out* out, uint64_t now_us) {
    uint64_t delay_us = now_us > out->told.ack_us ? now_us - out->told.ack_us : 0;
    return delay_us < DELAY_US_MAX ? (uint32_t)delay_us : DELAY_US_MAX;
}

// Low bits of a tick will do as long as the client decoded one that is near enough.
static bool is_tick_near(const net_session_out* out, ecs_tick tick) {
    return out->has_tick_known && tick - out->tick_known <= NET_PACKET_HEADER_NEAR_MAX;
}

static net_packet_header make_header(net_server* server, net_session_out* out, uint16_t seq) {
    const net_session_told* told = &out->told;
    ecs_tick tick = server->out.tick;
    net_packet_header header = {
        .seq = seq,
        .is_tick_whole = !is_tick_near(out, tick),
        .tick = tick,
        .has_ack = told->has_ack,
        .ack = told->ack,
        .ack_delay_us = ack_delay_us(out, server->out.now_us),
        .has_input = told->input_used > 0,
        .input_used = told->input_used,
        .input_repeats = told->input_repeats,
        .input_depth = told->input_depth,
        .player_age = player_age(server, out),
        .has_body = true,
    };
    if (!out->has_mark) {
        out->has_mark = true;
        out->mark_seq = seq;
        out->mark_tick = tick;
    }
    if (told->event_ack != out->event_ack_told) {
        out->event_ack_told = told->event_ack;
        out->event_ack_seq = seq;
        out->is_event_ack_known = false;
    }
    header.has_event_ack = out->event_ack_told != 0 && !out->is_event_ack_known;
    header.event_ack = out->event_ack_told;
    out->is_input_told = told->input_used > 0;
    out->input_repeats_told = told->input_repeats;
    out->input_fates_told = told->input_fates;
    // What has nothing else to say has room for one.
    if (out->packet_count % NET_SAMPLE_EVERY_PACKETS == NET_SAMPLE_EVERY_PACKETS - 1 ||
        !net_repl_state_has_pending(out->repl)) {
        uint64_t hash = 0;
        header.has_probe =
            net_repl_state_probe(out->repl, &header.probe_slot, &header.probe_age, &hash);
        header.probe_hash = (uint16_t)hash;
    }
    if (net_fault_is_planted(NET_FAULT_UNREPEATABLE)) header.player_age++;
    return header;
}

// What a packet of `size` bytes was made of, beside the body, which the view counts.
static void account(net_session_out* out, const net_packet_header* header, uint64_t header_bits,
                    uint64_t state_bits, size_t size) {
    net_bandwidth_account* account = net_repl_state_account(out->repl);
    if (!account) return;
    uint64_t probe_bits = net_packet_header_probe_bits(header);
    uint64_t state_bytes = (state_bits + 7) / 8;
    uint64_t frame_bytes = 1 + (state_bytes < 128 ? 1u : 2u);
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_HEADER, header_bits - probe_bits);
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_SAMPLE, probe_bits);
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_EVENT,
                      8 * (size - state_bytes - frame_bytes));
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_FRAME,
                      8 * (frame_bytes + state_bytes) - state_bits);
}

// Room for rows: what the packet leaves, and what the tokens do.
static net_repl_state_room make_room(const net_session_out* out, const proto_bit_writer* writer,
                                     size_t event_bytes) {
    uint64_t hard = 8 * (uint64_t)writer->capacity - writer->size_bits;
    uint64_t spent = 8 * (uint64_t)(event_bytes + NET_RATE_OVERHEAD_BYTES) + writer->size_bits;
    uint64_t budget = 8 * (uint64_t)net_rate_left(&out->rate);
    uint64_t soft = budget > spent ? budget - spent : 0;
    return (net_repl_state_room){.hard = (uint32_t)hard,
                                 .soft = (uint32_t)(soft < hard ? soft : hard)};
}

static bool send_packet(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    Shoal__Wire__GameEvent events[NET_EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[NET_EVENTS_PER_PACKET_MAX];
    size_t event_bytes = 0;
    size_t event_budget =
        out->packet_count % 2 == 1 ? NET_EVENT_BYTES_OTHER_PACKET : NET_EVENT_BYTES_EVERY_PACKET;
    _Static_assert(NET_SNAPSHOT_BYTES_MIN + NET_STATE_ENVELOPE_BYTES_MAX +
                           NET_EVENT_BYTES_EVERY_PACKET <=
                       NET_STATE_BYTES_MAX,
                   "a packet must hold the largest row: shrink the event share");
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.n_events = net_event_outbox_fill(&out->outbox, events, pointers,
                                            NET_EVENTS_PER_PACKET_MAX, event_budget, &event_bytes);
    packet.events = pointers;

    uint16_t seq = net_ack_sender_add(&out->sent, server->out.now_us);
    net_packet_header header = make_header(server, out, seq);
    proto_bit_writer writer = proto_bit_writer_make(
        server->out.state, NET_STATE_BYTES_MAX - STATE_FRAME_BYTES - event_bytes);
    net_packet_header_write(&writer, &header);
    uint64_t header_bits = writer.size_bits;
    BASE_ASSERT(header_bits <= HEADER_BITS_MAX);
    uint32_t records = 0;
    if (net_repl_state_write(out->repl, seq, make_room(out, &writer, event_bytes), &writer,
                             &records) != NET_OK) {
        out->has_failed = true;
        return false;
    }
    if (records == 0) net_packet_header_deny_snapshot(&writer, header_bits);
    packet.state.data = server->out.state;
    packet.state.len = proto_bit_writer_bytes(&writer);
    size_t size = proto_encode(&packet.base, server->out.packet, sizeof server->out.packet);
    BASE_ASSERT(size > 0); // the budgets above add up
    net_transport* transport = server->config.transport;
    // A refused datagram is a lost one: acknowledgements will tell.
    if (transport->ops->send(transport, session->peer, NET_CHANNEL_REALTIME, server->out.packet,
                             size) != NET_OK)
        server->out.sends_refused++;
    net_rate_take(&out->rate, (uint32_t)size);
    account(out, &header, header_bits, writer.size_bits, size);
    if (out->tick_sent != server->out.tick) {
        out->tick_sent = server->out.tick;
        out->tick_seq = seq;
    }
    out->packet_count++;
    server->out.state_packets++;
    server->out.state_bytes += size;
    return true;
}

// ---- whose packet is due

static bool is_turn(const net_server* server, const net_session_out* out) {
    const uint32_t divisor = server->send_divisor;
    return server->out.is_settling || divisor <= 1 ||
           server->out.tick % divisor == out->told.client % divisor;
}

static bool has_everything(const net_session_out* out, ecs_tick tick) {
    return out->tick_sent == tick && out->sent.has_ack &&
           (int16_t)(uint16_t)(out->sent.newest_acked - out->tick_seq) >= 0 &&
           net_repl_state_is_settled(out->repl);
}

static bool is_due(const net_server* server, const net_session_out* out) {
    const net_session_told* told = &out->told;
    if (out->packet_count == 0 || out->silent_count + 1 >= server->heartbeat_ticks) return true;
    if (net_repl_state_has_pending(out->repl) || !net_event_outbox_is_idle(&out->outbox))
        return true;
    if (told->input_used > 0 && !out->is_input_told) return true;
    if (told->input_fates != out->input_fates_told ||
        told->input_repeats != out->input_repeats_told || told->event_ack != out->event_ack_told)
        return true;
    return server->out.is_settling && !has_everything(out, server->out.tick);
}

static void send_packets(net_server* server, net_session* session) {
    // Into a silence go as many as keep its numbers within NET_ACK_JUMP_MAX until it comes back.
    _Static_assert((NET_QUIET_MS_MAX * NET_STATE_PACKETS_PER_TICK_MAX + NET_SILENCE_MS_MAX) *
                           NET_TICK_RATE_HZ_MAX / 1000 <
                       NET_ACK_JUMP_MAX,
                   "who comes back must believe the next packet");
    net_session_out* out = &session->out;
    uint32_t count_max = out->told.is_quiet ? 1 : NET_STATE_PACKETS_PER_TICK_MAX;
    uint32_t count = 0;
    while (count < count_max && net_rate_left(&out->rate) > 0) {
        if (!send_packet(server, session)) return;
        count++;
        if (!net_repl_state_has_pending(out->repl) && !net_event_outbox_has_unsent(&out->outbox))
            break;
    }
    if (count == 0 || net_repl_state_has_pending(out->repl)) net_rate_short(&out->rate);
    if (count == 0) {
        out->silent_count++;
        return;
    }
    out->silent_count = 0;
    out->events_refused += net_event_outbox_drop_unreliable(&out->outbox);
}

static void send_to(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    if (net_repl_state_is_broken(out->repl)) out->has_failed = true;
    if (out->has_failed) return;
    if (out->told.is_away) {
        out->events_refused += net_event_outbox_drop_unreliable(&out->outbox);
        return;
    }
    expire(server, out);
    net_rate_refill(&out->rate, server->out.now_us);
    net_rate_learn(&out->rate, server->out.now_us, out->sent.acked, out->sent.lost,
                   out->sent.has_rtt ? net_ack_sender_rtt_us(&out->sent) : 0);
    if (!is_turn(server, out) || !is_due(server, out)) {
        out->silent_count++;
        return;
    }
    send_packets(server, session);
}

void net_server_send(void* context) {
    net_server* server = context;
    net_server_out* out = &server->out;
    if (out->has_stepped) {
        mark_seen(server);
        net_replicator_publish(server->replicator);
    }
    for (uint32_t i = 0; i < out->count; i++) {
        queue_events(server, i);
        net_session_send_varsize(server, out->sessions[i]);
        send_to(server, out->sessions[i]);
    }
    server->config.transport->ops->flush(server->config.transport);
}
