// SPDX-License-Identifier: MIT
// The net half of a tick: what goes out.
//
//     publish: what all clients need of the step
//     per lane, for each of its sessions: its replication state learns which entities came, went
//     and changed -> events that it may see -> losses -> is a packet due? -> as many as its tokens
//     allow; then one flush
//
// A packet is due when rows or events wait, or when an input of the client was not used in time.
// Otherwise it is due HEARTBEAT_HZ (server.c) times a second: a client's clock, its prediction and
// its loss detection need these. With a send divisor D a client gets packets at every D-th tick
// only; after a tick of a late server, when the next one is due already, none does. While the match
// stands still, each client gets packets until it has acknowledged
// everything.
//
// Events and rows share a packet: every second packet leaves room for one of the largest events,
// the others for the largest row.
//
// Invariants: runs between net_server_hand_over and net_server_collect, on the lanes' threads: the
// first lane's runs all but what the others do for their sessions. Of a session it touches `out`
// only. A session that fails is marked, and net_server_collect ends it.
//
// Read send_all at the end first.
#include "server/server_state.h"

#include "core/fault.h"
#include "replicate/repl_state.h"
#include "core/worker.h"
#include "session/packet_header.h"
#include "state/varsize.h"

#include "base/assert.h"

#define STATE_ENVELOPE_BYTES_MAX                                                                   \
    52u ///< of a StatePacket without events and snapshot, at its longest
#define EVENT_BYTES_EVERY_PACKET 88u ///< beside a snapshot of NET_SNAPSHOT_BYTES_MIN
#define EVENT_BYTES_OTHER_PACKET 600u
#define EVENTS_PER_PACKET_MAX 32u
#define PROBE_EVERY_PACKETS 8u
#define STATE_FRAME_BYTES 3u   ///< tag and length of StatePacket.state
#define LOSS_EVERY_PACKETS 16u ///< have input_loss, when there is room
#define LOSS_BYTES 3u          ///< at most; not charged to the rate
#define HEADER_BITS_MAX ((STATE_ENVELOPE_BYTES_MAX - STATE_FRAME_BYTES) * 8u)
#define DEAF_MS_EARLY 2000u    // who acknowledges nothing for so long gets a packet now and then
#define HELD_TICKS 2u          // that the transport holds
#define DELAY_US_MAX 60000000u ///< a longer delay is sent as this one

// ---- one packet

static void expire(net_server_lane* lane, net_session_out* out) {
    const net_server* server = lane->server;
    if (out->sent.settled == out->sent.count) return;
    net_ack_sender_expire(&out->sent, server->out.now_us, server->tick_us, &lane->acks);
    for (uint32_t i = 0; i < lane->acks.lost_count; i++)
        (void)net_repl_state_lost(out->repl, lane->acks.lost[i]);
}

// Ticks since the row of the client's own entity changed: the client learns for which ticks its row
// is valid.
static uint32_t player_age(const net_server* server, const net_session_out* out) {
    ecs_entity player = out->summary.player;
    ecs_tick tick = server->out.tick;
    if (player == ECS_ENTITY_NONE) return 0;
    const net_history_entity* entity =
        net_history_find(server->replicator->history, ecs_entity_index(player));
    // Classes that the client may not see must not change a bit of the packet.
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
    uint64_t delay_us = now_us > out->summary.ack_us ? now_us - out->summary.ack_us : 0;
    return delay_us < DELAY_US_MAX ? (uint32_t)delay_us : DELAY_US_MAX;
}

// Low bits of numbers are enough once the client has decoded a near packet.
static bool is_near(const net_session_out* out, uint16_t seq, ecs_tick tick) {
    return out->has_tick_known && tick - out->tick_known <= NET_PACKET_HEADER_NEAR_MAX &&
           (uint16_t)(seq - out->seq_known) <= NET_PACKET_HEADER_NEAR_MAX;
}

static net_packet_header make_header(const net_server* server, net_session_out* out, uint16_t seq) {
    const net_session_summary* summary = &out->summary;
    ecs_tick tick = server->out.tick;
    net_packet_header header = {
        .seq = seq,
        .is_whole = !is_near(out, seq, tick),
        .tick = tick,
        .has_ack = summary->has_ack,
        .ack = summary->ack,
        .ack_delay_us = ack_delay_us(out, server->out.now_us),
        .has_input = summary->input_used > 0,
        .input_used = summary->input_used,
        .input_repeats = summary->input_repeats,
        .input_depth = summary->input_depth,
        .player_age = player_age(server, out),
        .has_body = true,
    };
    if (!out->has_mark) {
        out->has_mark = true;
        out->mark_seq = seq;
        out->mark_tick = tick;
    }
    if (summary->event_ack != out->event_ack_sent) {
        out->event_ack_sent = summary->event_ack;
        out->event_ack_seq = seq;
        out->is_event_ack_known = false;
    }
    header.has_event_ack = out->event_ack_sent != 0 && !out->is_event_ack_known;
    header.event_ack = out->event_ack_sent;
    out->is_input_sent = summary->input_used > 0;
    out->input_repeats_sent = summary->input_repeats;
    out->input_fates_sent = summary->input_fates;
    // A packet without waiting rows has room for a probe too.
    if (out->packet_count % PROBE_EVERY_PACKETS == PROBE_EVERY_PACKETS - 1 ||
        !net_repl_state_has_pending(out->repl)) {
        uint64_t hash = 0;
        header.has_probe =
            net_repl_state_probe(out->repl, &header.probe_slot, &header.probe_age, &hash);
        header.probe_hash = (uint16_t)hash;
    }
    if (net_fault_is_planted(NET_FAULT_UNREPEATABLE)) header.player_age++;
    return header;
}

// Room for rows: the rest of the packet (hard) and of the tokens (soft).
static net_repl_state_room make_room(const net_session_out* out, const proto_bit_writer* writer,
                                     size_t event_bytes) {
    uint64_t hard = 8 * (uint64_t)writer->capacity - writer->size_bits;
    uint64_t spent = 8 * (uint64_t)(event_bytes + NET_RATE_OVERHEAD_BYTES) + writer->size_bits;
    uint64_t budget = 8 * (uint64_t)net_rate_left(&out->rate);
    uint64_t soft = budget > spent ? budget - spent : 0;
    return (net_repl_state_room){.hard = (uint32_t)hard,
                                 .soft = (uint32_t)(soft < hard ? soft : hard),
                                 .group = 8 * NET_GROUP_BYTES_MAX};
}

_Static_assert(NET_GROUP_BYTES_MAX == NET_SNAPSHOT_BYTES_MIN, "packets hold it");
_Static_assert(NET_SNAPSHOT_BYTES_MIN + STATE_ENVELOPE_BYTES_MAX + EVENT_BYTES_EVERY_PACKET <=
                   NET_STATE_BYTES_MAX,
               "a packet must hold the largest row: shrink the event share");

// @return the bytes that it takes.
static uint32_t report_loss(const net_session_out* out, Shoal__Wire__StatePacket* packet,
                            size_t event_bytes) {
    if (out->packet_count % LOSS_EVERY_PACKETS != 0 ||
        packet->state.len + event_bytes + STATE_FRAME_BYTES + LOSS_BYTES > NET_STATE_BYTES_MAX)
        return 0;
    packet->input_loss = out->summary.input_loss + 1;
    return packet->input_loss < 128 ? 2 : LOSS_BYTES;
}

static void send_packet(net_server_lane* lane, net_session* session) {
    const net_server* server = lane->server;
    net_session_out* out = &session->out;
    Shoal__Wire__GameEvent events[EVENTS_PER_PACKET_MAX];
    Shoal__Wire__GameEvent* pointers[EVENTS_PER_PACKET_MAX];
    size_t event_bytes = 0;
    size_t event_budget =
        out->packet_count % 2 == 1 ? EVENT_BYTES_OTHER_PACKET : EVENT_BYTES_EVERY_PACKET;
    Shoal__Wire__StatePacket packet = SHOAL__WIRE__STATE_PACKET__INIT;
    packet.n_events = net_event_outbox_fill(&out->outbox, events, pointers, EVENTS_PER_PACKET_MAX,
                                            event_budget, &event_bytes);
    packet.events = pointers;

    uint16_t seq = net_ack_sender_add(&out->sent, server->out.now_us);
    const net_packet_header header = make_header(server, out, seq);
    const net_send_tap* tap = server->config.tap;
    if (tap) tap->begin(lane->server, session, &header);
    proto_bit_writer writer =
        proto_bit_writer_make(lane->state, NET_STATE_BYTES_MAX - STATE_FRAME_BYTES - event_bytes);
    net_packet_header_write(&writer, &header);
    uint64_t header_bits = writer.size_bits;
    BASE_ASSERT(header_bits <= HEADER_BITS_MAX);
    const net_repl_state_counters* counters = &out->repl->counters;
    const uint64_t stopped = counters->solo_stopped;
    const uint64_t split = counters->groups_split;
    const uint32_t records =
        net_repl_state_write(out->repl, seq, make_room(out, &writer, event_bytes), &writer);
    lane->solo_stopped += counters->solo_stopped != stopped;
    if (counters->groups_split != split) lane->group_split = counters->group_split;
    if (session->is_solo) lane->solo_rows += records;
    if (records == 0) net_packet_header_deny_snapshot(&writer, header_bits);
    packet.state.data = lane->state;
    packet.state.len = proto_bit_writer_bytes(&writer);
    const uint32_t loss_bytes = report_loss(out, &packet, event_bytes);
    size_t size = proto_encode(&packet.base, lane->packet, sizeof lane->packet);
    BASE_ASSERT(size > 0 && size <= NET_STATE_BYTES_MAX); // the budgets above add up
    net_transport* transport = server->config.transport;
    // A refused datagram is a lost one: its acknowledgement will not come.
    if (transport->ops->send(transport, session->peer, NET_CHANNEL_REALTIME, lane->packet, size) !=
        NET_OK)
        lane->sends_refused++;
    net_session_trace_packet(server, session, server->out.now_us, NET_TRACE_SENT, "state", seq,
                             size);
    net_rate_take(&out->rate, (uint32_t)size - loss_bytes);
    if (tap) tap->packet(lane->server, &packet, writer.size_bits, size, session);
    if (out->tick_sent != server->out.tick) {
        out->tick_sent = server->out.tick;
        out->tick_seq = seq;
    }
    out->packet_count++;
    lane->state_packets++;
    lane->state_bytes += size;
}

// ---- which sessions get packets

bool net_server_is_turn(const net_server* server, uint32_t client) {
    // Rows of packets that are held have older bases and are longer: so half as many go.
    uint32_t divisor = server->send_divisor;
    if (server->held_ticks >= HELD_TICKS && divisor < 2) divisor = 2;
    if (server->out.is_settling) return true;
    return !server->out.is_hurried && server->out.tick % divisor == client % divisor;
}

static bool has_everything(const net_session_out* out, ecs_tick tick) {
    return out->tick_sent == tick && out->sent.has_ack &&
           (int16_t)(uint16_t)(out->sent.newest_acked - out->tick_seq) >= 0 &&
           net_repl_state_is_settled(out->repl);
}

static bool is_due(const net_server* server, const net_session_out* out) {
    const net_session_summary* summary = &out->summary;
    if (out->packet_count == 0 || out->silent_count + 1 >= server->heartbeat_ticks) return true;
    if (net_repl_state_has_pending(out->repl) ||
        out->outbox.reliable.count + out->outbox.unreliable.count > 0)
        return true;
    if (summary->input_used > 0 && !out->is_input_sent) return true;
    if (summary->input_fates != out->input_fates_sent ||
        summary->input_repeats != out->input_repeats_sent ||
        summary->event_ack != out->event_ack_sent)
        return true;
    return server->out.is_settling && !has_everything(out, server->out.tick);
}

static void send_packets(net_server_lane* lane, net_session* session) {
    // A silent client gets so few packets that it still believes the number of the first one it
    // receives.
    _Static_assert((NET_QUIET_MS_MAX * NET_STATE_PACKETS_PER_TICK_MAX + NET_SILENCE_MS_MAX) *
                           NET_TICK_RATE_HZ_MAX / 1000 <
                       NET_ACK_JUMP_MAX,
                   "a client that comes back must believe the next packet");
    net_session_out* out = &session->out;
    BASE_ASSERT(out->repl && !out->summary.is_away && !out->has_failed);
    uint32_t count_max =
        out->summary.is_quiet || out->summary.is_deaf ? 1 : NET_STATE_PACKETS_PER_TICK_MAX;
    uint32_t count = 0;
    // A client in debt gets a packet now and then, so that it can acknowledge something.
    bool must_send = out->rate.tokens <= -(double)NET_RATE_PACKET_BYTES_MAX &&
                     out->silent_count + 1 >= lane->server->deaf_ticks;
    while (count < count_max &&
           (net_rate_left(&out->rate) > (count > 0 ? NET_FURTHER_BYTES_MIN : 0) || must_send)) {
        must_send = false;
        send_packet(lane, session);
        count++;
        if (!net_repl_state_has_pending(out->repl) && out->outbox.unreliable.count == 0) break;
    }
    if (count == 0 || net_repl_state_has_pending(out->repl)) out->rate.was_short = true;
    if (count == 0) {
        out->silent_count++;
        return;
    }
    out->silent_count = 0;
    out->events_refused += net_event_outbox_drop_unreliable(&out->outbox);
}

// The round trip, or longer when an answer is late. A client answers with its next tick, and one
// answer may be lost.
static uint64_t answer_us(const net_server* server, const net_session_out* out) {
    if (!out->sent.has_rtt) return 0;
    const uint64_t rtt_us = net_ack_sender_rtt_us(&out->sent), expected_us = 2 * server->tick_us;
    const uint64_t waited_us = net_ack_sender_waited_us(&out->sent, server->out.now_us);
    return waited_us > rtt_us + expected_us ? waited_us - expected_us : rtt_us;
}

static void send_to(net_server_lane* lane, net_session* session) {
    const net_server* server = lane->server;
    net_session_out* out = &session->out;
    if (out->has_failed) return;
    if (out->summary.is_away) {
        out->events_refused += net_event_outbox_drop_unreliable(&out->outbox);
        return;
    }
    expire(lane, out);
    net_rate_refill(&out->rate, server->out.now_us);
    net_rate_charge(&out->rate, net_server_sent_bytes(server, session));
    net_rate_learn(&out->rate, server->out.now_us, out->sent.acked, out->sent.lost,
                   answer_us(server, out));
    bool must_wait =
        out->summary.is_deaf && out->packet_count > 0 && out->silent_count + 1 < server->deaf_ticks;
    if (must_wait || !net_server_is_turn(server, out->summary.client) || !is_due(server, out)) {
        out->silent_count++;
        return;
    }
    send_packets(lane, session);
}

static void prefetch_next(const net_server_lane* lane, uint32_t i) {
    net_session* const* sessions = lane->server->out.sessions;
    if (i + 2 < lane->count) net_repl_state_prefetch_self(sessions[lane->places[i + 2]]->out.repl);
    if (i + 1 < lane->count) net_repl_state_prefetch(sessions[lane->places[i + 1]]->out.repl);
}

static void send_lane(net_server_lane* lane) {
    net_server* server = lane->server;
    net_transport* transport = server->config.transport;
    const bool has_stepped = server->out.has_stepped;
    if (has_stepped) net_replicator_publish_lane_begin(server->replicator, lane->number);
    for (uint32_t i = 0; i < lane->count; i++) {
        const uint32_t place = lane->places[i];
        net_session* session = server->out.sessions[place];
        prefetch_next(lane, i);
        if (has_stepped) net_repl_state_publish(session->out.repl);
        net_server_queue_events(server, place);
        net_session_send_varsize(server, session);
        send_to(lane, session);
    }
    if (has_stepped) net_replicator_publish_lane_end(server->replicator, lane->number);
    if (transport->ops->flush_lane) transport->ops->flush_lane(transport, lane->number);
}

// The net half: the work of the first lane, which shares it with the others.
static void send_all(net_server_lane* first) {
    net_server* server = first->server;
    net_transport* transport = server->config.transport;
    net_server_out* out = &server->out;
    if (out->has_stepped) {
        net_server_mark_seen(server);
        net_replicator_publish_begin(server->replicator);
        net_varsize_source_publish(server->varsize);
    }
    net_server_run_lanes(server, send_lane, false);
    if (!transport->ops->flush_lane) transport->ops->flush(transport);
    if (NET_VALIDATE_ON && out->has_stepped) net_replicator_validate(server->replicator);
}

// ---- on the caller's thread

static void copy_summary(net_session* session) {
    const net_input_queue* inputs = &session->inputs;
    session->out.summary = (net_session_summary){
        .client = session->client,
        .is_away = session->state == NET_SESSION_AWAY,
        .is_deaf = session->deaf_us >= DEAF_MS_EARLY * UINT64_C(1000),
        .is_quiet = session->is_quiet,
        .player = session->player_sent,
        .has_ack = session->received.has_any,
        .ack = session->received.newest,
        .ack_us = session->received.newest_us,
        .input_loss = session->received.loss / 256,
        .input_used = inputs->used,
        .input_repeats = inputs->owed,
        .input_depth = inputs->count,
        .input_fates = inputs->skipped + inputs->settled + inputs->late + inputs->rests,
        .event_ack = net_event_inbox_done(&session->inbox),
    };
}

static uint32_t place_of(const net_server* server, uint32_t slot) {
    const net_session* session = server->sessions[slot];
    return session && session->out.repl ? session->out.repl->place : 0;
}

// Clients that are near each other follow each other, since they read the same memory. Most of them
// are where they were.
static void sort_by_place(net_server* server) {
    uint32_t* order = server->out.order;
    for (uint32_t i = 1, at; i < server->session_count; i++) {
        const uint32_t slot = order[i], place = place_of(server, slot);
        for (at = i; at > 0 && place_of(server, order[at - 1]) > place; at--)
            order[at] = order[at - 1];
        order[at] = slot;
    }
}

void net_server_hand_over(net_server* server, bool has_stepped) {
    net_server_out* out = &server->out;
    BASE_ASSERT(!out->is_uncollected);
    if (server->config.tap) server->config.tap->turn(server);
    BASE_ASSERT(server->phase == NET_SERVER_RUNNING || server->phase == NET_SERVER_SETTLING);
    out->now_us = server->now_us;
    out->tick = server->replicator->history->tick;
    out->has_stepped = has_stepped;
    out->is_settling = server->phase != NET_SERVER_RUNNING;
    out->is_hurried = server->is_hurried;
    out->count = 0;
    for (uint32_t i = 0; i < server->lane_count; i++)
        server->lanes[i].count = 0;
    if (!has_stepped) out->event_count = 0;
    sort_by_place(server);
    // Players first: what is sent to spectators waits for them.
    const uint32_t rounds = server->counters.spectators > 0 ? 2 : 1;
    for (uint32_t k = 0; k < rounds * server->session_count; k++) {
        net_session* session = server->sessions[out->order[k % server->session_count]];
        if (!session || !net_session_is_in_match(session) || !session->out.repl) continue;
        if (session->is_spectator != (k >= server->session_count)) continue;
        net_event_inbox_age(&session->inbox);
        session->packet_credit += NET_PACKETS_PER_TICK;
        if (session->packet_credit > NET_PACKETS_BURST_MAX)
            session->packet_credit = NET_PACKETS_BURST_MAX;
        session->control_credit += NET_CONTROL_BYTES_PER_TICK;
        if (session->control_credit > NET_CONTROL_BYTES_BURST_MAX)
            session->control_credit = NET_CONTROL_BYTES_BURST_MAX;
        copy_summary(session);
        BASE_ASSERT(session->out.varsize && out->count < server->session_count);
        net_server_lane* lane = &server->lanes[session->lane];
        lane->places[lane->count++] = out->count;
        out->sessions[out->count++] = session;
    }
    out->is_uncollected = true;
    if (net_fault_is_planted(NET_FAULT_THREAD_OTHER) && server->lanes[0].worker) out->now_us += 640;
    net_server_start_lane(&server->lanes[0], send_all);
}

void net_server_collect(net_server* server) {
    net_server_out* out = &server->out;
    if (!out->is_uncollected) return;
    net_worker_wait(server->lanes[0].worker);
    out->is_uncollected = false;
    net_server_count_lanes(server);
    server->solo_rows -= server->solo_rows / NET_SOLO_AVERAGE_TICKS;
    for (uint32_t i = 0; i < server->lane_count; i++) {
        server->solo_rows += server->lanes[i].solo_rows;
        server->lanes[i].solo_rows = 0;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        net_session* session = out->sessions[i];
        net_session_collect_sights(server, session);
        if (!session->out.has_failed) continue;
        session->out.has_failed = false;
        net_session_end(server, session,
                        session->out.event_refused > 0 ? NET_END_BEHIND : NET_END_FAULT);
    }
}

void net_server_hurry(net_server* server, bool is_hurried) {
    server->is_hurried = is_hurried;
}

bool net_server_wait_sent(net_server* server, uint64_t until_us) {
    return net_worker_wait_until(server->lanes[0].worker, until_us);
}

static void flush_lane(net_server_lane* lane) {
    net_transport* transport = lane->server->config.transport;
    transport->ops->flush_lane(transport, lane->number);
}

void net_server_send_released(net_server* server) {
    net_transport* transport = server->config.transport;
    if (server->out.is_uncollected && !net_server_wait_sent(server, 0)) return;
    if (transport->ops->flush_lane)
        net_server_run_lanes(server, flush_lane, server->out.count < server->little);
    else
        transport->ops->flush(transport);
}
