// SPDX-License-Identifier: MIT
// Packets of sessions that play: inputs, acknowledgements, client events. The transport's events
// for such sessions are queued by lane, and all lanes read theirs at the same time.
//
// Everything here is untrusted until it is decoded and checked. Nothing reaches the match before
// its tick begins.
//
// A lane defers what concerns more than its session: control messages, the end of a connection, a
// breach of the protocol, a client that comes back from silence. What comes behind for the same
// session is deferred with it. Then all that was deferred is done in the order of clients
// (server_receive.c).
//
// Read read_lane first.
#include "server/server_state.h"

#include "core/worker.h"
#include "replicate/repl_state.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define INPUT_JUMP_MAX 16384u ///< an input numbered further ahead is not believed
#define RESYNC_US 250000u     // between two rows that a client requests, after the burst
#define QUEUE_BYTES_MIN 4096u
#define QUEUE_BYTES_MAX (64u << 20)

// ---- one packet

// Is `acked` the packet `first`, or a later one?
static bool reaches(uint16_t acked, uint16_t first) {
    return (int16_t)(uint16_t)(acked - first) >= 0;
}

static bool take_acks(net_server_lane* lane, net_session* session, const net_input_packet* packet) {
    if (!packet->has_ack) return true;
    net_session_out* out = &session->out;
    const net_result result =
        net_ack_sender_receive(&out->sent, lane->server->now_us, packet->ack, packet->ack_bits,
                               packet->ack_delay_us, &lane->acks);
    if (result == NET_ERR_STALE) return true;
    if (result != NET_OK) return false;
    for (uint32_t i = 0; i < lane->acks.acked_count; i++) {
        (void)net_repl_state_acked(out->repl, lane->acks.acked[i]);
        // A client that acknowledged these knows a near tick and the event acknowledgement: neither
        // is sent whole or again.
        if (out->has_mark && reaches(lane->acks.acked[i], out->mark_seq)) {
            out->has_mark = false;
            out->has_tick_known = true;
            out->tick_known = out->mark_tick;
            out->seq_known = out->mark_seq;
        }
        if (!out->is_event_ack_known && out->event_ack_sent &&
            reaches(lane->acks.acked[i], out->event_ack_seq))
            out->is_event_ack_known = true;
    }
    for (uint32_t i = 0; i < lane->acks.lost_count; i++)
        (void)net_repl_state_lost(out->repl, lane->acks.lost[i]);
    return true;
}

// A row without a base is the most expensive one, so requests are rationed by time.
static void take_resyncs(net_server_lane* lane, net_session* session,
                         const net_input_packet* packet) {
    static const net_budget_rate rate = {RESYNC_US, NET_RESYNCS_BURST_MAX};
    for (uint32_t i = 0; i < packet->resync_count; i++) {
        if (!net_budget_take(&session->resyncs, rate, lane->server->now_us)) {
            lane->dropped[NET_DROP_RESYNC_LIMIT] += packet->resync_count - i;
            session->is_flooding = true;
            break;
        }
        if (!net_repl_state_resync(session->out.repl, packet->resyncs[i])) {
            lane->dropped[NET_DROP_RESYNC_UNKNOWN] += 1;
            continue;
        }
        lane->resyncs++;
        if (lane->differing_client) continue;
        lane->differing_client = session->client;
        lane->differing_entity = packet->resyncs[i];
    }
}

// For the words to the operator, when the session ends by it.
static void keep_refusal(net_session* session, net_match_reader* reader) {
    (void)base_text_copy(session->refusal, sizeof session->refusal, reader->refusal);
    reader->refusal[0] = '\0';
}

// @return false when the client broke the protocol.
static bool take_inputs(net_server_lane* lane, net_session* session,
                        const net_input_packet* packet) {
    const uint32_t count = packet->input_count;
    if (count == 0) return true;
    const uint32_t first = packet->input_first;
    // Numbers count ticks: no clock is so far ahead, and believing it would silence the client for
    // good.
    if (first > session->inputs.newest && first - session->inputs.newest > INPUT_JUMP_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = first + i;
        const net_input_bytes* payload = &packet->inputs[i];
        if (number <= session->inputs.newest) {
            session->inputs.duplicate++;
            continue;
        }
        uint8_t input[NET_INPUT_BYTES_MAX];
        size_t size = 0;
        net_server* server = lane->server;
        if (net_match_input_take(server->config.match, &lane->reader, payload->data, payload->size,
                                 input, &size) != NET_OK) {
            server->reports[session->report].inputs_malformed++;
            keep_refusal(session, &lane->reader);
            return false;
        }
        // `seen` belongs to the newest input; one client tick lies between an input and the next.
        uint64_t earlier = (uint64_t)(count - 1 - i) * 256;
        uint64_t seen = packet->seen > earlier ? packet->seen - earlier : 0;
        // A full ring counts the input.
        (void)net_input_queue_push(&session->inputs, number, input, (uint32_t)size, seen);
    }
    return true;
}

static bool take_events(net_server_lane* lane, net_session* session,
                        const Shoal__Wire__InputPacket* packet) {
    const net_match* match = lane->server->config.match;
    const net_game_module* game = net_match_get_config(match)->module->game;
    for (size_t i = 0; i < packet->n_events; i++) {
        Shoal__Wire__GameEvent event = *packet->events[i];
        const net_result joined = net_event_inbox_join(&session->inbox, &event);
        if (joined == NET_ERR_STALE) continue;
        if (joined != NET_OK) return false;
        uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
        size_t size = 0;
        if (net_match_event_take(match, &lane->reader, event.message, event.payload.data,
                                 event.payload.len, payload, &size) != NET_OK ||
            game->messages[event.message - 1].is_reliable != (event.number != 0)) {
            keep_refusal(session, &lane->reader);
            return false;
        }
        // A client acts with its own entity only, whatever target it writes.
        event.target = ECS_ENTITY_NONE;
        event.payload = (ProtobufCBinaryData){size, payload};
        const uint64_t full = session->inbox.full;
        (void)net_event_inbox_push(&session->inbox, &event, NULL);
        // Our clients end their own session before they send this many.
        session->is_flooding = session->is_flooding || session->inbox.full != full;
    }
    return true;
}

// @return NET_ERR_STALE: a late packet, whose base is forgotten.
static net_result read_packet(net_server_lane* lane, const net_session* session,
                              const uint8_t* bytes, size_t size, net_input_packet* packet,
                              const Shoal__Wire__InputPacket** message) {
    const net_session_out* out = &session->out;
    const net_input_packet_near near = {
        .has_seq = session->received.has_any,
        .seq = session->received.newest,
        .sent = (uint16_t)(out->sent.next - 1),
        .event = out->outbox.number_next - 1,
        .input = session->inputs.newest,
        .moment = net_match_tick(lane->server->config.match) * 256,
        .bases = &session->heard,
    };
    size_t begin = 0;
    if (size > NET_STATE_BYTES_MAX) return NET_ERR_MALFORMED;
    proto_bit_reader reader = proto_bit_reader_make(bytes, size);
    const bool is_short = net_input_packet_is_short(bytes, size);
    if (is_short) {
        const net_result result =
            net_input_packet_read_short(&reader, &near, &lane->input_store, packet);
        if (result != NET_OK) return result;
        begin = reader.offset_bits / 8;
    }
    *message = (const Shoal__Wire__InputPacket*)proto_codec_decode(
        &lane->codec, &shoal__wire__input_packet__descriptor, bytes + begin, size - begin,
        NET_STATE_BYTES_MAX - begin);
    if (!*message || (is_short && (*message)->input.len > 0)) return NET_ERR_MALFORMED;
    if (is_short) return NET_OK;
    reader = proto_bit_reader_make((*message)->input.data, (*message)->input.len);
    return net_input_packet_read(&reader, &near, &lane->input_store, packet);
}

bool net_lane_take_packet(net_server_lane* lane, net_session* session, const uint8_t* bytes,
                          size_t size) {
    const net_server* server = lane->server;
    const Shoal__Wire__InputPacket* message = NULL;
    net_input_packet packet;
    const net_result result = read_packet(lane, session, bytes, size, &packet, &message);
    if (result == NET_ERR_STALE) {
        lane->dropped[NET_DROP_STALE] += 1;
        return true;
    }
    if (result != NET_OK) {
        net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED, "malformed",
                                 0, size);
        return false;
    }
    BASE_ASSERT(session->report != UINT32_MAX && session->out.varsize);
    net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED, "input",
                             packet.seq, size);
    if (net_ack_receiver_check(&session->received, packet.seq) != NET_ACK_NEW) return true;
    const size_t given = packet.input_count + message->n_events;
    if (given > 0 && session->is_spectator) { // it only watches: that breaks the protocol
        lane->dropped[NET_DROP_SPECTATOR] += given;
        return false;
    }
    if (!take_inputs(lane, session, &packet) || !take_events(lane, session, message)) return false;
    take_resyncs(lane, session, &packet);
    if (packet.has_event_ack && !net_event_outbox_acked(&session->out.outbox, packet.event_ack))
        return false;
    net_ack_receiver_mark(&session->received, packet.seq, server->now_us);
    net_input_bases_keep(&session->heard, &packet);
    return take_acks(lane, session, &packet);
}

// ---- a lane

static size_t stride_of(uint32_t size) {
    return sizeof(net_lane_event) + ((size + 7u) & ~7u);
}

static void defer(net_server_lane* lane, const net_lane_event* event, uint32_t at, bool is_strike) {
    // There is room for all of the queue (net_server_queue_event).
    BASE_ASSERT(lane->deferred_count < lane->deferred_capacity);
    lane->deferred[lane->deferred_count++] =
        (net_lane_deferred){event->session->client, lane->number, at, is_strike};
    event->session->is_deferred = true;
}

net_drop net_lane_check_event(const net_lane_event* event) {
    if (event->session->peer != event->peer) return NET_DROP_UNKNOWN_PEER;
    return event->session->state == NET_SESSION_PLAYING ? NET_DROP_COUNT : NET_DROP_UNTIMELY;
}

static void read_event(net_server_lane* lane, const net_lane_event* event, uint32_t at) {
    net_session* session = event->session;
    const bool is_packet =
        event->kind == NET_TRANSPORT_RECEIVED && event->channel == NET_CHANNEL_REALTIME;
    if (session->is_deferred || !is_packet || session->is_quiet) {
        defer(lane, event, at, false);
        return;
    }
    const net_drop fault = net_lane_check_event(event);
    if (fault != NET_DROP_COUNT) {
        lane->dropped[fault] += 1;
        return;
    }
    session->received_us = lane->server->now_us;
    if (!net_lane_take_packet(lane, session, (const uint8_t*)(event + 1), event->size))
        defer(lane, event, at, true);
}

const net_lane_event* net_lane_event_at(const net_server_lane* lane, uint32_t at) {
    return (const net_lane_event*)(const void*)(lane->queue + at);
}

static void read_lane(net_server_lane* lane) {
    for (uint32_t at = 0; at < lane->queue_size;) {
        const net_lane_event* event = net_lane_event_at(lane, at);
        read_event(lane, event, at);
        at += (uint32_t)stride_of(event->size);
    }
}

// ---- all lanes

static int compare_deferred(const void* a, const void* b) {
    const net_lane_deferred *x = a, *y = b;
    if (x->client != y->client) return x->client < y->client ? -1 : 1;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

// All in the first lane's list.
static void sort_deferred(net_server* server, uint32_t count) {
    net_server_lane* first = &server->lanes[0];
    BASE_ARRAY_RESERVE(server->allocator, first->deferred, first->deferred_capacity, count);
    for (uint32_t i = 1; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        if (lane->deferred_count > 0)
            memcpy(first->deferred + first->deferred_count, lane->deferred,
                   lane->deferred_count * sizeof *lane->deferred);
        first->deferred_count += lane->deferred_count;
        lane->deferred_count = 0;
    }
    qsort(first->deferred, count, sizeof *first->deferred, compare_deferred);
}

bool net_server_read_queues(net_server* server) {
    uint32_t count = 0, deferred = 0;
    for (uint32_t i = 0; i < server->lane_count; i++)
        count += server->lanes[i].queue_count;
    if (count == 0) return false;
    net_server_run_lanes(server, read_lane, count < server->little);
    net_server_count_lanes(server);
    for (uint32_t i = 0; i < server->lane_count; i++)
        deferred += server->lanes[i].deferred_count;
    if (deferred > 0) sort_deferred(server, deferred);
    return true;
}

// ---- queueing

bool net_server_queue_event(net_server* server, net_session* session,
                            const net_transport_event* event) {
    const uint32_t size = event->kind == NET_TRANSPORT_RECEIVED ? (uint32_t)event->size : 0;
    net_server_lane* lane = &server->lanes[session->lane];
    const uint32_t wanted = lane->queue_size + (uint32_t)stride_of(size);
    if (wanted > QUEUE_BYTES_MAX) return false;
    BASE_ARRAY_RESERVE(server->allocator, lane->deferred, lane->deferred_capacity,
                       lane->queue_count + 1);
    BASE_ARRAY_RESERVE(server->allocator, lane->queue, lane->queue_capacity,
                       wanted > QUEUE_BYTES_MIN ? wanted : QUEUE_BYTES_MIN);
    net_lane_event* queued = (net_lane_event*)(void*)(lane->queue + lane->queue_size);
    *queued = (net_lane_event){.session = session,
                               .peer = event->peer,
                               .reason = event->reason,
                               .size = size,
                               .kind = (uint8_t)event->kind,
                               .channel = (uint8_t)event->channel};
    if (size > 0) memcpy(queued + 1, event->bytes, size);
    lane->queue_size = wanted;
    lane->queue_count++;
    return true;
}

// Threads of lanes. Who calls net_server_run_lanes does the first lane's work: the server's thread
// when packets are received, the first lane's own thread when they are sent. The two never overlap:
// receiving begins when the net half is collected.

static void run_lane(void* context) {
    net_server_lane* lane = context;
    lane->work(lane);
}

void net_server_open_reader(const net_server* server, net_match_reader* reader) {
    net_match_reader_init(server->config.match, server->allocator, reader);
    proto_codec_reserve(&reader->codec);
}

void net_server_open_lanes(net_server* server, bool is_threaded) {
    const uint32_t count = net_transport_lanes(server->config.transport);
    BASE_ASSERT(count <= NET_LANES_MAX);
    server->lanes = base_allocate_zero(server->allocator, count * sizeof *server->lanes);
    server->lane_count = count;
    server->little = NET_LANES_LITTLE;
    for (uint32_t i = 0; i < count; i++) {
        net_server_lane* lane = &server->lanes[i];
        lane->server = server;
        lane->number = i;
        lane->capacity = server->session_count;
        lane->places = base_allocate(server->allocator, lane->capacity * sizeof *lane->places);
        proto_codec_init(&lane->codec, server->allocator, PROTO_UNPACK_CLIENT_BYTES_MAX);
        proto_codec_reserve(&lane->codec);
        net_server_open_reader(server, &lane->reader);
        if (is_threaded) lane->worker = net_worker_create(server->allocator, run_lane, lane);
    }
}

void net_server_start_lane(net_server_lane* lane, net_server_lane_fn work) {
    lane->work = work;
    if (lane->worker)
        net_worker_start(lane->worker);
    else
        work(lane);
}

void net_server_run_lanes(net_server* server, net_server_lane_fn work, bool is_little) {
    for (uint32_t i = 1; i < server->lane_count && !is_little; i++)
        net_server_start_lane(&server->lanes[i], work);
    for (uint32_t i = 0; i < (is_little ? server->lane_count : 1); i++)
        work(&server->lanes[i]);
    for (uint32_t i = 1; i < server->lane_count && !is_little; i++)
        net_worker_wait(server->lanes[i].worker);
}

// Said once in a match.
static void report_split(net_server* server, uint32_t group) {
    if (group == 0 || server->is_split_said) return;
    server->is_split_said = true;
    const net_game_module* game = net_match_get_config(server->config.match)->module->game;
    base_report(server->config.reporter, NULL, NET_FOUND_UNSENT,
                "warning: entities with %s %u travel together, but they need more than %u bytes: "
                "clients get them in parts; let fewer travel together, or let them have less that "
                "is replicated",
                game->interest->together, group, NET_GROUP_BYTES_MAX);
}

void net_server_count_lanes(net_server* server) {
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        server->counters.state_packets += lane->state_packets;
        server->counters.state_bytes += lane->state_bytes;
        server->counters.resyncs += lane->resyncs;
        lane->state_packets = lane->state_bytes = lane->resyncs = 0;
        // Said once in a match.
        if (lane->solo_stopped > 0 && server->counters.solo_stopped == 0)
            base_report(server->config.reporter, NULL, 0,
                        "debug: a client's acknowledgements take too long for solo code: it gets "
                        "shared code (solo_stopped counts such clients)");
        server->counters.solo_stopped += lane->solo_stopped;
        lane->solo_stopped = 0;
        report_split(server, lane->group_split);
        lane->group_split = 0;
        if (lane->differing_client)
            net_server_report_difference(server, lane->differing_client, lane->differing_entity);
        lane->differing_client = 0;
        net_server_drop(server, NET_DROP_SEND, lane->sends_refused);
        lane->sends_refused = 0;
        for (uint32_t k = 0; k < NET_DROP_COUNT; k++) {
            net_server_drop(server, (net_drop)k, lane->dropped[k]);
            lane->dropped[k] = 0;
        }
    }
}
