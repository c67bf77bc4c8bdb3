// SPDX-License-Identifier: MIT
// The life of a session.
//
//     FREE -> GREETING -> (ASKED) -> ACCEPTED -> PLAYING -> CLOSING -> FREE
//                                                  | ^
//                                                  AWAY (server_resume.c)
//
// ARROWS has every legal change of state. Each arrow back to FREE goes through net_session_gone, so
// a match never keeps a player whose session is over. Each end goes through
// net_session_close_report first, so a peer report is closed exactly once.
//
// Read net_session_end first. Left to others: what a message does (server_receive.c), the way back
// (server_resume.c), the figures of a report (session_report.c).
#include "server/session.h"

#include "replicate/repl_state.h"
#include "server/server_accounts.h"
#include "server/server_leavers.h"
#include "server/server_state.h"
#include "server/session_origin.h"
#include "server/session_report.h"
#include "server/session_trace.h"
#include "session/control.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/bans.h"
#include "net/end.h"
#include "net/match.h"

#include <string.h>

#define TO(state) (1u << NET_SESSION_##state)

static const uint8_t ARROWS[NET_SESSION_STATE_COUNT] = {
    [NET_SESSION_FREE] = TO(GREETING),
    [NET_SESSION_GREETING] = TO(ASKED) | TO(ACCEPTED) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_ASKED] = TO(CLOSING) | TO(FREE),
    [NET_SESSION_ACCEPTED] = TO(PLAYING) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_PLAYING] = TO(AWAY) | TO(CLOSING) | TO(FREE),
    [NET_SESSION_AWAY] = TO(PLAYING) | TO(CLOSING),
    [NET_SESSION_CLOSING] = TO(FREE),
};

void net_session_set_state(net_server* server, net_session* session, net_session_state to,
                           const char* reason) {
    BASE_ASSERT(to < NET_SESSION_STATE_COUNT);
    BASE_ASSERT(ARROWS[session->state] >> to & 1u);
    // An AWAY session has no connection, a PLAYING one has: the net half sends to it.
    BASE_ASSERT(to != NET_SESSION_AWAY || session->peer == 0);
    BASE_ASSERT(to != NET_SESSION_PLAYING || session->peer != 0);
    net_session_trace_state(server, session, to, reason);
    const bool was_player = net_session_is_player(session);
    session->state = to;
    const bool is_player = net_session_is_player(session);
    server->player_count += (uint32_t)is_player - (uint32_t)was_player;
    if (!is_player) server->name_keys[session->place] = (net_name_key){0};
    session->since_us = server->now_us;
}

static net_session** place_of(net_server* server, net_peer peer) {
    return &server->by_slot[peer & (NET_PEER_SLOTS - 1)];
}

void net_session_set_peer(net_server* server, net_session* session, net_peer peer) {
    net_session** before = place_of(server, session->peer);
    if (session->peer && *before == session) *before = NULL;
    session->peer = peer;
    if (peer == 0) return;
    *place_of(server, peer) = session;
    session->lane = net_transport_lane(server->config.transport, peer);
    if (session->out.repl) net_repl_state_set_lane(session->out.repl, session->lane);
}

net_session* net_server_find_session(net_server* server, net_peer peer) {
    net_session* session = *place_of(server, peer);
    return session && peer != 0 && session->peer == peer ? session : NULL;
}

// A slot whose player still has to leave the match keeps its client number until the next tick.
static net_session* find_free(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) {
            session = base_allocate_zero(server->allocator, sizeof *session);
            if (session) session->place = i;
            server->sessions[i] = session;
            return session;
        }
        if (session->state == NET_SESSION_FREE && !session->must_leave_match) return session;
    }
    return NULL;
}

net_session* net_server_add_session(net_server* server, net_peer peer) {
    BASE_ASSERT(peer != 0);
    net_session* session = find_free(server);
    if (!session) return NULL;
    const uint32_t place = session->place;
    memset(session, 0, sizeof *session);
    session->place = place;
    net_session_set_peer(server, session, peer);
    session->report = UINT32_MAX;
    session->received_us = server->now_us;
    session->packet_credit = NET_PACKETS_BURST_MAX;
    session->control_credit = NET_CONTROL_BYTES_BURST_MAX;
    session->resync_credit = NET_RESYNCS_BURST_MAX * 1000000u;
    session->resync_us = server->now_us;
    net_event_outbox_init(&session->out.outbox, server->allocator);
    net_event_inbox_init(&session->inbox, server->allocator);
    net_input_queue_init(&session->inputs);
    net_ack_sender_init(&session->out.sent, 0, server->now_us);
    net_ack_receiver_init(&session->received);
    net_session_set_state(server, session, NET_SESSION_GREETING, "connected");
    net_session_identify(server, session);
    return session;
}

net_result net_session_send_encoded(net_server* server, net_session* session,
                                    const Shoal__Wire__ServerControl* control, const uint8_t* bytes,
                                    size_t size) {
    // The transport belongs to the net half until it is collected.
    BASE_ASSERT(!server->out.is_uncollected);
    net_transport* transport = server->config.transport;
    net_result result =
        size > 0 ? transport->ops->send(transport, session->peer, NET_CHANNEL_CONTROL, bytes, size)
                 : NET_ERR_FULL;
    if (result != NET_OK) {
        net_server_drop(server, NET_DROP_SEND, 1);
        return result;
    }
    net_session_trace_control(server, session, NET_TRACE_SENT, &control->base, size);
    if (!server->has_bandwidth) return NET_OK;
    net_bandwidth_account* account =
        session->out.repl ? net_repl_state_account(session->out.repl) : &server->bandwidth_rest;
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_CONTROL, 8 * (uint64_t)size);
    return NET_OK;
}

net_result net_session_send_control(net_server* server, net_session* session,
                                    const Shoal__Wire__ServerControl* control) {
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    const size_t size = net_control_encode(&control->base, bytes);
    return net_session_send_encoded(server, session, control, bytes, size);
}

void net_server_draw(net_server* server, void* bytes, size_t size) {
    if (server->config.entropy) {
        server->config.entropy(server->config.entropy_context, bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        ((uint8_t*)bytes)[i] = (uint8_t)(base_rng_u32(&server->rng) >> 24);
}

bool net_session_welcome(net_server* server, net_session* session, bool is_resumed) {
    net_match* match = server->config.match;
    const net_match_config* config = net_match_get_config(match);
    double settings[NET_SETTINGS_MAX];
    memcpy(settings, config->settings, sizeof settings);
    Shoal__Wire__Welcome welcome = SHOAL__WIRE__WELCOME__INIT;
    welcome.client = session->client;
    welcome.tick_rate_hz = config->tick_rate_hz;
    welcome.replicated_index_max = ecs_world_limits(net_match_world(match))->replicated_index_max;
    welcome.n_settings = config->module->game->setting_count;
    welcome.settings = settings;
    welcome.resume = (ProtobufCBinaryData){sizeof session->resume, session->resume};
    welcome.is_resumed = is_resumed;
    welcome.is_solo = session->is_solo;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME;
    control.welcome = &welcome;
    if (net_session_send_control(server, session, &control) == NET_OK) return true;
    net_session_end(server, session, NET_END_TIMEOUT);
    return false;
}

static bool is_coded_solo(const net_server* server, const net_session* session) {
    if (!session->has_solo || server->config.coder == NET_CODER_SHARED) return false;
    if (server->config.coder == NET_CODER_SOLO) return true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* other = server->sessions[i];
        count += other && net_session_is_player(other) && other->is_solo && other != session;
    }
    return count < NET_SOLO_CLIENTS_MAX;
}

bool net_session_accept(net_server* server, net_session* session) {
    _Static_assert(NET_CLIENTS_MAX + NET_SERVER_SPARE_SESSIONS <= NET_NAMES_MAX, "all are asked");
    BASE_ASSERT(session->state == NET_SESSION_GREETING && session->client == 0);
    if (!net_session_open_report(server, session)) return false;
    const net_name_key key =
        net_name_distinguish(session->name, server->name_keys, server->session_count);
    net_session_set_state(server, session, NET_SESSION_ACCEPTED, "accepted");
    server->name_keys[session->place] = key;
    if (server->config.secret)
        server->config.secret(server->config.secret_context, session->client, session->resume,
                              sizeof session->resume);
    else
        net_server_draw(server, session->resume, sizeof session->resume);
    session->is_solo = is_coded_solo(server, session);
    (void)net_session_welcome(server, session, false);
    return true;
}

void net_session_end(net_server* server, net_session* session, net_end end) {
    BASE_ASSERT(end != NET_END_NONE);
    if (session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING) return;
    const char* reason = net_end_name(end);
    if (session->state == NET_SESSION_AWAY) {
        // No connection, so no goodbye.
        net_session_close_report(server, session, end == NET_END_GOODBYE ? NET_END_TIMEOUT : end);
        net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
        net_session_gone(server, session, reason);
        return;
    }
    net_session_close_report(server, session, end);
    if (end == NET_END_DEAF) net_server_drop(server, NET_DROP_DEAF, 1);
    if (end == NET_END_DEAF || end == NET_END_FAULT) net_session_punish(server, session);
    net_transport* transport = server->config.transport;
    if (end == NET_END_TIMEOUT || end == NET_END_DEAF) {
        // A silent client will not confirm a goodbye either: do not wait for it.
        transport->ops->disconnect(transport, session->peer, (uint32_t)end, true);
        net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
        net_session_gone(server, session, reason);
        return;
    }
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.tick = net_match_tick(server->config.match);
    goodbye.reason = (uint32_t)end;
    if (session->end_reason[0]) goodbye.text = session->end_reason;
    goodbye.scope_hash = net_session_scope_hash(server, session);
    if (end == NET_END_BANNED) {
        const net_peer_identity* who = &session->identity;
        const net_ban* ban =
            net_bans_find(server->config.bans, &who->address, who->player, who->key);
        if (ban) goodbye.text = (char*)(uintptr_t)ban->reason; // encoding only reads it
    }
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE;
    control.goodbye = &goodbye;
    (void)net_session_send_control(server, session, &control);
    transport->ops->disconnect(transport, session->peer, (uint32_t)end, false);
    net_session_set_state(server, session, NET_SESSION_CLOSING, reason);
}

void net_session_gone(net_server* server, net_session* session, const char* reason) {
    BASE_ASSERT(session->state != NET_SESSION_FREE && session->state != NET_SESSION_AWAY);
    // Without a goodbye: the transport gave up on the connection.
    if (session->state != NET_SESSION_CLOSING)
        net_session_close_report(server, session, NET_END_TIMEOUT);
    if (session->out.repl) {
        net_server_keep_account(server, session);
        net_varsize_sender_destroy(session->out.varsize);
        net_server_take_leaver(server, session);
    }
    net_interest_remove_client(server->interest, session->client);
    session->out.varsize = NULL;
    net_event_outbox_deinit(&session->out.outbox);
    net_event_inbox_deinit(&session->inbox);
    net_session_set_state(server, session, NET_SESSION_FREE, reason);
    net_session_set_peer(server, session, 0);
}

void net_session_strike(net_server* server, net_session* session) {
    net_server_drop(server, NET_DROP_MALFORMED, 1);
    session->strike_us[session->strikes++ % NET_STRIKES_MAX] = server->now_us;
    if (session->strikes < NET_STRIKES_MAX) return;
    uint64_t oldest_us = session->strike_us[session->strikes % NET_STRIKES_MAX];
    if (server->now_us - oldest_us > NET_STRIKE_MS * 1000u) return;
    if (session->refusal)
        (void)base_text_format(session->end_reason, sizeof session->end_reason, "%s: %s",
                               session->refused->name, session->refusal);
    net_session_end(server, session, NET_END_FAULT);
}
