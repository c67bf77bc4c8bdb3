// SPDX-License-Identifier: MIT
// What comes in: connections, the greeting, inputs, acknowledgements, client events.
//
// Everything here is untrusted until it is decoded and checked. Nothing reaches the match before
// its tick begins. A message that breaks the protocol is dropped, counted, and a strike.
//
// Order of checks of a hello: protocol, game, schema, then the secret of a client that comes back,
// or the phase of the match and the room in it. A refusal names what the player can do.
//
// Read net_server_service at the end first.
#include "replicate/repl_state.h"
#include "server/server_admission.h"
#include "server/server_resume.h"
#include "server/server_send.h"
#include "server/server_state.h"
#include "server/session_origin.h"
#include "server/session_trace.h"
#include "server/session_varsize.h"
#include "server/session_report.h"
#include "session/control.h"
#include "net/match_messages.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/match.h"
#include "net/schema.h"

#include <string.h>

#define INPUT_JUMP_MAX 16384u ///< an input numbered further ahead is not believed
#define RESYNCS_PER_PACKET_MAX 4u
#define RESYNCS_PER_SECOND 4u

static void refuse(net_server* server, net_session* session, Shoal__Wire__RefusedReason reason,
                   const char* text) {
    BASE_ASSERT(session->state == NET_SESSION_GREETING || session->state == NET_SESSION_ASKED);
    Shoal__Wire__Refused refused = SHOAL__WIRE__REFUSED__INIT;
    refused.reason = reason;
    refused.text = (char*)(uintptr_t)text; // encoding only reads it
    refused.game = (char*)(uintptr_t)net_match_get_config(server->config.match)->module->game->name;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED;
    control.refused = &refused;
    (void)net_session_send_control(server, session, &control);
    net_transport* transport = server->config.transport;
    transport->ops->disconnect(transport, session->peer, (uint32_t)reason, false);
    net_session_set_state(server, session, NET_SESSION_CLOSING, "refused");
    server->counters.refusals++;
    net_session_report_refused(server, session, text);
}

static void accept_or_refuse(net_server* server, net_session* session) {
    if (server->phase == NET_SERVER_SETTLING || server->phase == NET_SERVER_LEAVING ||
        server->phase == NET_SERVER_ENDED) {
        refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED,
               "the match has ended: come to the next one");
        return;
    }
    net_refusal refusal = {.reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE};
    net_server_judge_join(server, session, &refusal);
    if (refusal.reason != SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE) {
        refuse(server, session, refusal.reason, refusal.text);
        return;
    }
    if (!net_session_accept(server, session)) {
        refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
               "the server is out of memory: try later");
    }
}

// A client whose connection was lost. It is a player already, so neither its name nor the room are
// checked.
static void resume_or_refuse(net_server* server, net_session* session,
                             const ProtobufCBinaryData* secret) {
    net_session* away =
        secret->len == NET_RESUME_BYTES ? net_server_find_secret(server, secret->data) : NULL;
    if (away && !net_session_may_resume(server, away)) {
        net_server_drop(server, NET_DROP_RESUME_FLOOD, 1);
        refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
               "the session was resumed too often: try again in some seconds");
        return;
    }
    if (away) {
        net_session_resume(server, away, session);
        return;
    }
    refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE,
           "that session is over: join again");
}

static void take_hello(net_server* server, net_session* session, const Shoal__Wire__Hello* hello) {
    BASE_ASSERT(session->client == 0 && session->peer != 0);
    char text[192];
    if (hello->protocol != NET_PROTOCOL_VERSION) {
        base_text_format(text, sizeof text,
                         "this server speaks protocol %u, the client %u: use the same version",
                         NET_PROTOCOL_VERSION, hello->protocol);
        refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_PROTOCOL, text);
        return;
    }
    const char* game = net_match_get_config(server->config.match)->module->game->name;
    if (strcmp(hello->game, game) != 0) {
        base_text_format(text, sizeof text, "this server runs the game %s", game);
        refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME, text);
        return;
    }
    net_refusal refusal = {.reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE};
    net_server_judge_ban(server, session, &refusal);
    if (refusal.reason != SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE) {
        refuse(server, session, refusal.reason, refusal.text);
        return;
    }
    net_control_clean_name(session->name, hello->name);
    session->is_bot = hello->is_bot;
    session->rate_requested = hello->rate_bytes_max;
    if (hello->schema_hash != net_schema_hash(net_match_schema(server->config.match))) {
        net_session_set_state(server, session, NET_SESSION_ASKED, "schema_differs");
        Shoal__Wire__SchemaQuestion question = SHOAL__WIRE__SCHEMA_QUESTION__INIT;
        Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
        control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION;
        control.schema_question = &question;
        (void)net_session_send_control(server, session, &control);
        return;
    }
    if (hello->resume.len > 0) {
        resume_or_refuse(server, session, &hello->resume);
        return;
    }
    accept_or_refuse(server, session);
}

static void take_answer(net_server* server, net_session* session,
                        const Shoal__Wire__SchemaAnswer* answer) {
    enum { ITEMS_MAX = 256 };
    net_schema_item* items = base_allocate_zero(server->allocator, ITEMS_MAX * sizeof *items);
    char text[256] = "the game files differ";
    if (items) {
        uint32_t count = 0;
        for (size_t i = 0; i < answer->n_items && count < ITEMS_MAX; i++) {
            const Shoal__Wire__SchemaItem* item = answer->items[i];
            if (!base_text_copy(items[count].name, sizeof items[count].name, item->name)) continue;
            items[count++].hash = item->hash;
        }
        char difference[200];
        if (net_schema_difference(net_match_schema(server->config.match), items, count, difference,
                                  sizeof difference)) {
            base_text_format(text, sizeof text, "the game files differ: %s", difference);
        }
        base_release(server->allocator, items, ITEMS_MAX * sizeof *items);
    }
    refuse(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA, text);
}

static void take_control(net_server* server, net_session* session, const uint8_t* bytes,
                         size_t size) {
    // Our clients send few bytes here: a flood would cost the server the time to read it.
    if (size > session->control_credit) {
        net_server_drop(server, NET_DROP_FLOOD, 1);
        net_session_strike(server, session);
        return;
    }
    session->control_credit -= (uint32_t)size;
    const ProtobufCMessage* message = proto_codec_decode(
        session->state == NET_SESSION_ASKED ? &server->answer_codec : &server->codec,
        &shoal__wire__client_control__descriptor, bytes, size, NET_CONTROL_BYTES_MAX);
    if (!message) {
        net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED, "malformed",
                                 0, size);
        net_session_strike(server, session);
        return;
    }
    net_session_trace_control(server, session, NET_TRACE_RECEIVED, message, size);
    const Shoal__Wire__ClientControl* control = (const Shoal__Wire__ClientControl*)message;
    switch (control->kind_case) {
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO:
        if (session->state == NET_SESSION_GREETING) {
            take_hello(server, session, control->hello);
            return;
        }
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER:
        if (session->state == NET_SESSION_ASKED) {
            take_answer(server, session, control->schema_answer);
            return;
        }
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK:
        if (session->state == NET_SESSION_PLAYING &&
            net_session_apply_varsize_ack(session, control->varsize_ack))
            return;
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_GOODBYE:
        net_session_end(server, session, NET_END_LEFT);
        return;
    default:
        break;
    }
    net_session_strike(server, session);
}

// Is `acked` the packet `first`, or a later one?
static bool reaches(uint16_t acked, uint16_t first) {
    return (int16_t)(uint16_t)(acked - first) >= 0;
}

// A client that acknowledged these knows a near tick and the event acknowledgement: neither is sent
// whole or again.
static void learn_known(net_session_out* out, uint16_t acked) {
    if (out->has_mark && reaches(acked, out->mark_seq)) {
        out->has_mark = false;
        out->has_tick_known = true;
        out->tick_known = out->mark_tick;
    }
    if (!out->is_event_ack_known && out->event_ack_sent && reaches(acked, out->event_ack_seq))
        out->is_event_ack_known = true;
}

static void take_acks(net_server* server, net_session* session,
                      const Shoal__Wire__InputPacket* packet) {
    if (!packet->has_ack) return;
    net_session_out* out = &session->out;
    net_result result = NET_ERR_MALFORMED;
    if (packet->ack > UINT16_MAX)
        out->sent.forged++;
    else
        result = net_ack_sender_receive(&out->sent, server->now_us, (uint16_t)packet->ack,
                                        packet->ack_bits, packet->ack_delay_us, &server->acks);
    if (result == NET_ERR_STALE) return;
    if (result != NET_OK) {
        net_session_strike(server, session);
        return;
    }
    for (uint32_t i = 0; i < server->acks.acked_count; i++) {
        (void)net_repl_state_acked(out->repl, server->acks.acked[i]);
        learn_known(out, server->acks.acked[i]);
    }
    for (uint32_t i = 0; i < server->acks.lost_count; i++) {
        (void)net_repl_state_lost(out->repl, server->acks.lost[i]);
    }
}

// A row without a base is the most expensive one, so requests are rationed by time.
static bool take_resyncs(net_server* server, net_session* session,
                         const Shoal__Wire__InputPacket* packet) {
    const uint64_t burst = NET_RESYNCS_BURST_MAX * UINT64_C(1000000);
    if (packet->n_resync > RESYNCS_PER_PACKET_MAX) return false;
    uint64_t credit = session->resync_credit;
    if (server->now_us > session->resync_us)
        credit += (server->now_us - session->resync_us) * RESYNCS_PER_SECOND;
    session->resync_credit = (uint32_t)(credit < burst ? credit : burst);
    session->resync_us = server->now_us;
    for (size_t i = 0; i < packet->n_resync; i++) {
        if (session->resync_credit < 1000000u) {
            net_server_drop(server, NET_DROP_RESYNC_LIMIT, packet->n_resync - i);
            session->is_flooding = true;
            break;
        }
        session->resync_credit -= 1000000u;
        if (net_repl_state_resync(session->out.repl, packet->resync[i]))
            server->counters.resyncs++;
        else
            net_server_drop(server, NET_DROP_RESYNC_UNKNOWN, 1);
    }
    return true;
}

// @return false when the client broke the protocol.
static bool take_inputs(net_server* server, net_session* session,
                        const Shoal__Wire__InputPacket* packet) {
    size_t count = packet->n_inputs;
    if (count == 0) return true;
    uint32_t first = packet->input_first;
    if (count > NET_INPUT_REDUNDANCY || first == 0 || first > UINT32_MAX - (count - 1)) {
        return false;
    }
    // Numbers count ticks: no clock is so far ahead, and believing it would silence the client for
    // good.
    if (first > session->inputs.newest && first - session->inputs.newest > INPUT_JUMP_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = first + (uint32_t)i;
        const ProtobufCBinaryData* payload = &packet->inputs[i];
        if (number <= session->inputs.newest) {
            session->inputs.duplicate++;
            continue;
        }
        uint8_t input[NET_INPUT_BYTES_MAX];
        size_t size = 0;
        if (net_match_input_take(server->config.match, payload->data, payload->len, input, &size) !=
            NET_OK) {
            server->reports[session->report].inputs_malformed++;
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

static bool take_events(net_server* server, net_session* session,
                        const Shoal__Wire__InputPacket* packet) {
    if (!net_event_outbox_acked(&session->out.outbox, packet->event_ack)) return false;
    const net_game_module* game = net_match_get_config(server->config.match)->module->game;
    for (size_t i = 0; i < packet->n_events; i++) {
        Shoal__Wire__GameEvent event = *packet->events[i];
        uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
        size_t size = 0;
        if (net_match_event_take(server->config.match, event.message, event.payload.data,
                                 event.payload.len, payload, &size) != NET_OK ||
            game->messages[event.message - 1].is_reliable != (event.number != 0)) {
            return false;
        }
        // A client acts with its own entity only, whatever target it writes.
        event.target = ECS_ENTITY_NONE;
        event.payload = (ProtobufCBinaryData){size, payload};
        const uint64_t full = session->inbox.full;
        if (net_event_inbox_push(&session->inbox, &event) != NET_OK)
            net_server_drop(server, NET_DROP_EVENT_FULL, 1);
        // Our clients end their own session before they send so many.
        session->is_flooding = session->is_flooding || session->inbox.full != full;
    }
    return true;
}

static void take_realtime(net_server* server, net_session* session, const uint8_t* bytes,
                          size_t size) {
    // Before welcome and after goodbye such packets are early or late, no fault of the client.
    if (session->state != NET_SESSION_PLAYING || !session->out.repl) {
        net_server_drop(server, NET_DROP_UNTIMELY, 1);
        return;
    }
    if (session->packet_credit == 0) {
        net_server_drop(server, NET_DROP_FLOOD, 1);
        session->is_flooding = true;
        return;
    }
    session->packet_credit--;
    const ProtobufCMessage* message = proto_codec_decode(
        &server->codec, &shoal__wire__input_packet__descriptor, bytes, size, NET_STATE_BYTES_MAX);
    const Shoal__Wire__InputPacket* packet = (const Shoal__Wire__InputPacket*)message;
    if (!packet || packet->seq > UINT16_MAX) {
        net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED, "malformed",
                                 0, size);
        net_session_strike(server, session);
        return;
    }
    BASE_ASSERT(session->report != UINT32_MAX && session->out.varsize);
    uint16_t seq = (uint16_t)packet->seq;
    net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED, "input", seq,
                             size);
    if (net_ack_receiver_check(&session->received, seq) != NET_ACK_NEW) return;
    if (!take_inputs(server, session, packet) || !take_events(server, session, packet) ||
        !take_resyncs(server, session, packet)) {
        net_session_strike(server, session);
        return;
    }
    net_ack_receiver_mark(&session->received, seq, server->now_us);
    take_acks(server, session, packet);
}

static void take_connection(net_server* server, net_peer peer) {
    net_session* session = net_server_add_session(server, peer);
    if (!session && net_server_free_greeting(server))
        session = net_server_add_session(server, peer);
    bool is_crowded = session && net_server_is_crowded(server, session);
    if (session && !is_crowded) return;
    net_transport* transport = server->config.transport;
    transport->ops->disconnect(transport, peer, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL, true);
    if (!session) return;
    net_server_drop(server, NET_DROP_ADDRESS_FULL, 1);
    net_session_gone(server, session, "address_full");
}

void net_server_service(net_server* server, uint64_t now_us) {
    net_server_collect(server);
    BASE_ASSERT(!server->out.is_uncollected);
    server->now_us = now_us;
    net_transport* transport = server->config.transport;
    transport->ops->service(transport, now_us);
    net_transport_event event;
    while (transport->ops->next(transport, &event)) {
        net_session* session = net_server_find_session(server, event.peer);
        switch (event.kind) {
        case NET_TRANSPORT_CONNECTED:
            if (!session) take_connection(server, event.peer);
            break;
        case NET_TRANSPORT_DISCONNECTED:
            // Without a reason the connection was lost, not closed.
            if (session && session->state == NET_SESSION_PLAYING && event.reason == 0)
                net_session_lose(server, session);
            else if (session && event.reason == NET_TRANSPORT_DEAF &&
                     session->state != NET_SESSION_CLOSING)
                net_session_end(server, session, NET_END_DEAF);
            else if (session)
                net_session_gone(server, session, "disconnected");
            break;
        case NET_TRANSPORT_RECEIVED:
            if (!session || session->state == NET_SESSION_CLOSING) {
                net_server_drop(server, session ? NET_DROP_UNTIMELY : NET_DROP_UNKNOWN_PEER, 1);
                break;
            }
            net_session_note_received(server, session);
            if (event.channel == NET_CHANNEL_CONTROL) {
                take_control(server, session, event.bytes, event.size);
            } else {
                take_realtime(server, session, event.bytes, event.size);
            }
            break;
        }
    }
}
