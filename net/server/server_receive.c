// SPDX-License-Identifier: MIT
// What comes in: connections, the greeting, control messages. Packets of sessions that play go to
// their lanes (server_packets.c).
//
// Everything here is untrusted until it is decoded and checked. A message that breaks the protocol
// is dropped, counted, and a strike.
//
// Order of checks of a hello: protocol, game, schema, then the secret of a client that comes back,
// or the phase of the match and the room in it. A refusal names what the player can do.
//
// Read net_server_service at the end first.
#include "server/server_state.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"

#include <string.h>

_Static_assert(SHOAL__WIRE__REFUSED_REASON__REFUSED_BANNED + 1 == NET_REFUSAL_COUNT,
               "net_refusal_name has each reason");

static void send_refused(net_server* server, net_session* session,
                         Shoal__Wire__RefusedReason reason, const char* text) {
    BASE_ASSERT(session->state == NET_SESSION_GREETING || session->state == NET_SESSION_ASKED);
    Shoal__Wire__Refused refused = SHOAL__WIRE__REFUSED__INIT;
    refused.reason = reason;
    refused.text = (char*)(uintptr_t)text; // encoding only reads it
    refused.game = (char*)(uintptr_t)net_match_get_config(server->config.match)->module->game->name;
    (void)net_session_send_control(server, session, &refused.base);
    net_transport* transport = server->config.transport;
    transport->ops->disconnect(transport, session->peer, (uint32_t)reason, false);
    net_session_set_state(server, session, NET_SESSION_CLOSING, "refused");
}

static void refuse_client(net_server* server, net_session* session,
                          Shoal__Wire__RefusedReason reason, const char* text) {
    send_refused(server, session, reason, text);
    server->counters.refusals++;
    server->counters.refused[reason]++;
    net_session_report_refused(server, session, text);
}

static void send_info(net_server* server, net_session* session) {
    Shoal__Wire__Info info = SHOAL__WIRE__INFO__INIT;
    info.players = server->counters.clients;
    info.players_max = server->config.clients_max;
    if (server->config.is_following)
        info.players = info.players_max = net_match_players(server->config.match, NULL, 0);
    info.spectators = server->counters.spectators;
    info.spectators_max = server->config.spectators_max;
    info.retry_ms = session->retry_ms;
    (void)net_session_send_control(server, session, &info.base);
}

static void accept_or_refuse(net_server* server, net_session* session) {
    if (server->phase == NET_SERVER_SETTLING || server->phase == NET_SERVER_LEAVING ||
        server->phase == NET_SERVER_ENDED) {
        refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED,
                      "the match has ended: come to the next one");
        return;
    }
    net_session* same = net_server_find_same(server, session);
    if (!same && server->refusal[0]) {
        refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_ENDED, server->refusal);
        return;
    }
    net_refusal refusal = {.reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE};
    net_server_check_join(server, session, same != NULL, &refusal);
    if (refusal.reason != SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE) {
        if (session->retry_ms > 0) send_info(server, session);
        refuse_client(server, session, refusal.reason, refusal.text);
        return;
    }
    if (same && net_session_take_place(server, same, session)) return;
    net_session_accept(server, session);
}

// A client whose connection was lost. It is a player already, so neither its name nor the room are
// checked.
static void resume_or_refuse(net_server* server, net_session* session,
                             const ProtobufCBinaryData* secret, bool starts_again) {
    bool is_elsewhere = false;
    net_session* away = secret->len == NET_RESUME_BYTES
                            ? net_server_find_secret(server, secret->data, &is_elsewhere)
                            : NULL;
    if (is_elsewhere) {
        refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE,
                      "you joined elsewhere: this session is over");
        return;
    }
    if (away && !net_session_may_resume(server, away)) {
        net_server_drop(server, NET_DROP_RESUME_FLOOD, 1);
        refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL,
                      "the session was resumed too often: try again in some seconds");
        return;
    }
    if (away) {
        (starts_again ? net_session_resume_anew : net_session_resume)(server, away, session);
        return;
    }
    refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GONE,
                  "that session is over: join again");
}

static void take_hello(net_server* server, net_session* session, const Shoal__Wire__Hello* hello) {
    BASE_ASSERT(session->client == 0 && session->peer != 0);
    char text[192];
    if (hello->protocol != NET_PROTOCOL_VERSION) {
        base_text_format(text, sizeof text,
                         "this server speaks protocol %u, the client %u: use the same version",
                         NET_PROTOCOL_VERSION, hello->protocol);
        refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_PROTOCOL, text);
        return;
    }
    const char* game = net_match_get_config(server->config.match)->module->game->name;
    if (strcmp(hello->game, game) != 0) {
        base_text_format(text, sizeof text, "this server runs the game %s", game);
        if (hello->game[0])
            refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME, text);
        else {
            // A client that names no game asks for it. It loads the game and comes back, or shows a
            // list of servers.
            send_info(server, session);
            send_refused(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME, text);
        }
        return;
    }
    net_refusal refusal = {.reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE};
    net_server_check_ban(server, session, &refusal);
    if (refusal.reason != SHOAL__WIRE__REFUSED_REASON__REFUSED_NONE) {
        refuse_client(server, session, refusal.reason, refusal.text);
        return;
    }
    net_control_clean_name(session->name, hello->name);
    session->is_bot = hello->is_bot;
    session->rate_requested = hello->rate_bytes_max;
    session->has_solo = hello->has_solo;
    session->is_spectator = hello->is_spectator;
    session->memory = (net_session_memory){.tick = hello->tick,
                                           .event_tick = hello->event_tick,
                                           .events = hello->events,
                                           .rate_bytes = hello->rate_bytes};
    if (hello->schema_hash != net_schema_hash(net_match_schema(server->config.match))) {
        net_session_set_state(server, session, NET_SESSION_ASKED, "schema_differs");
        Shoal__Wire__SchemaQuestion question = SHOAL__WIRE__SCHEMA_QUESTION__INIT;
        (void)net_session_send_control(server, session, &question.base);
        return;
    }
    if (hello->resume.len > 0) {
        resume_or_refuse(server, session, &hello->resume, hello->starts_again);
        return;
    }
    accept_or_refuse(server, session);
}

static void take_answer(net_server* server, net_session* session,
                        const Shoal__Wire__SchemaAnswer* answer) {
    enum { ITEMS_MAX = 256 };
    net_schema_item* items = base_allocate_zero(server->allocator, ITEMS_MAX * sizeof *items);
    char text[256] = "the game files differ";
    uint32_t count = 0;
    for (size_t i = 0; i < answer->n_items && count < ITEMS_MAX; i++) {
        const Shoal__Wire__SchemaItem* item = answer->items[i];
        if (!base_text_copy(items[count].name, sizeof items[count].name, item->name)) continue;
        items[count++].hash = item->hash;
    }
    char difference[200];
    if (net_schema_difference(net_match_schema(server->config.match), items, count, difference,
                              sizeof difference))
        base_text_format(text, sizeof text, "the game files differ: %s", difference);
    base_release(server->allocator, items, ITEMS_MAX * sizeof *items);
    refuse_client(server, session, SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA, text);
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
    net_session_trace_packet(server, session, server->now_us, NET_TRACE_RECEIVED,
                             net_control_name(message), 0, size);
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
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_WATCH:
        if (net_session_is_spectator(session)) {
            session->watch_wanted = control->watch->client;
            return;
        }
        break;
    case SHOAL__WIRE__CLIENT_CONTROL__KIND_GOODBYE:
        net_session_end(server, session, NET_END_LEFT);
        return;
    default: // a message of a kind that a later client knows is skipped
        if (message->n_unknown_fields > 0) return;
        break;
    }
    net_session_strike(server, session);
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

static void take_received(net_server* server, net_session* session,
                          const net_transport_event* event) {
    if (!session || session->state == NET_SESSION_CLOSING) {
        net_server_drop(server, session ? NET_DROP_UNTIMELY : NET_DROP_UNKNOWN_PEER, 1);
        return;
    }
    net_session_mark_received(server, session);
    if (event->channel == NET_CHANNEL_CONTROL)
        take_control(server, session, event->bytes, event->size);
    else if (session->state != NET_SESSION_PLAYING || !session->out.repl)
        net_server_drop(server, NET_DROP_UNTIMELY, 1); // early or late, no fault of the client
}

static void take_event(net_server* server, const net_transport_event* event) {
    net_session* session = net_server_find_session(server, event->peer);
    switch (event->kind) {
    case NET_TRANSPORT_CONNECTED:
        if (!session) take_connection(server, event->peer);
        break;
    case NET_TRANSPORT_DISCONNECTED:
        // Without a reason the connection was lost, not closed.
        if (session && session->state == NET_SESSION_PLAYING && event->reason == 0)
            net_session_lose(server, session);
        else if (session && event->reason == NET_TRANSPORT_DEAF &&
                 session->state != NET_SESSION_CLOSING)
            net_session_end(server, session, NET_END_DEAF);
        else if (session) {
            if (session->end == NET_END_GOODBYE && (event->reason & 0xff) == NET_END_DIFFERS)
                net_session_report_differs(server, session, event->reason);
            net_session_gone(server, session, "disconnected");
        }
        break;
    case NET_TRANSPORT_RECEIVED:
        take_received(server, session, event);
        break;
    case NET_TRANSPORT_NOTICE: // of clients only
    case NET_TRANSPORT_FOUND:
        break;
    }
}

// Datagrams of a client that are still read. @return false when it sends too many.
static bool take_credit(net_server* server, net_session* session,
                        const net_transport_event* event) {
    if (event->kind != NET_TRANSPORT_RECEIVED || event->channel != NET_CHANNEL_REALTIME)
        return true;
    if (session->packet_credit > 0) {
        session->packet_credit--;
        return true;
    }
    net_server_drop(server, NET_DROP_FLOOD, 1);
    session->is_flooding = true;
    return false;
}

// ---- what lanes deferred

static void finish_event(net_server* server, const net_lane_deferred* deferred) {
    net_server_lane* lane = &server->lanes[deferred->lane];
    const net_lane_event* event = net_lane_event_at(lane, deferred->at);
    net_session* session = event->session;
    session->is_deferred = false;
    if (deferred->is_strike) {
        net_session_strike(server, session);
        return;
    }
    const net_transport_event whole = {.kind = (net_transport_event_kind)event->kind,
                                       .peer = event->peer,
                                       .channel = (net_channel)event->channel,
                                       .reason = event->reason,
                                       .bytes = (const uint8_t*)(event + 1),
                                       .size = event->size};
    const bool is_packet = whole.kind == NET_TRANSPORT_RECEIVED &&
                           whole.channel == NET_CHANNEL_REALTIME &&
                           net_lane_check_event(event) == NET_DROP_COUNT;
    take_event(server, &whole);
    if (is_packet && !net_lane_take_packet(lane, session, whole.bytes, whole.size))
        net_session_strike(server, session);
}

static void read_queues(net_server* server) {
    if (!net_server_read_queues(server)) return;
    for (uint32_t i = 0; i < server->lane_count; i++)
        for (uint32_t k = 0; k < server->lanes[i].deferred_count; k++)
            finish_event(server, &server->lanes[i].deferred[k]);
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        lane->queue_size = lane->queue_count = lane->deferred_count = 0;
    }
}

// When a lane's queue is full all that is queued is read at once.
static void queue_event(net_server* server, net_session* session,
                        const net_transport_event* event) {
    if (net_server_queue_event(server, session, event)) return;
    read_queues(server);
    const bool has_room = net_server_queue_event(server, session, event);
    BASE_ASSERT(has_room);
}

// ---- all that came

static void receive_lane(net_server_lane* lane) {
    net_transport* transport = lane->server->config.transport;
    transport->ops->work(transport, lane->number);
}

void net_server_service(net_server* server, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    net_server_collect(server);
    BASE_ASSERT(!server->out.is_uncollected);
    server->now_us = now_us;
    net_transport* transport = server->config.transport;
    transport->ops->service(transport, now_us);
    if (transport->ops->work)
        net_server_run_lanes(server, receive_lane, transport->waiting < server->little);
    net_transport_event event;
    while (transport->ops->next(transport, &event)) {
        net_session* session = net_server_find_session(server, event.peer);
        const bool is_playing =
            session && session->state == NET_SESSION_PLAYING && session->out.repl;
        // The slot of a connection whose end is still queued may have the next one already.
        if (event.kind == NET_TRANSPORT_CONNECTED) read_queues(server);
        if (!is_playing)
            take_event(server, &event);
        else if (take_credit(server, session, &event))
            queue_event(server, session, &event);
    }
    read_queues(server);
}
