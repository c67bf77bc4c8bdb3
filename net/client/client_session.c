// SPDX-License-Identifier: MIT
// The life of a client's session.
//
//     CONNECTING <-> GREETING -> PLAYING -> ENDED
//                                  | ^
//                                RESUMING
//
// Every phase may end. ARROWS has every legal change. Resuming is a new connection for the same
// session: numbers, acknowledgements, queues and the mirror stay as they are. No inputs are made
// meanwhile.
//
// A goodbye is answered by servicing the connection a little longer (is_closing), so that its
// acknowledgement leaves before the socket closes.
#include "client/client_state.h"

#include "base/assert.h"
#include "base/quota.h"
#include "base/text.h"

#include <string.h>

#define CLOSE_MS_MAX 1000u
#define ADDRESSES_BYTES_MAX 1024u

#define TO(phase) (1u << NET_CLIENT_##phase)

static const uint8_t ARROWS[NET_CLIENT_ENDED + 1] = {
    [NET_CLIENT_CONNECTING] = TO(GREETING) | TO(ENDED),
    [NET_CLIENT_GREETING] = TO(CONNECTING) | TO(PLAYING) | TO(ENDED),
    [NET_CLIENT_PLAYING] = TO(RESUMING) | TO(ENDED),
    [NET_CLIENT_RESUMING] = TO(PLAYING) | TO(ENDED),
    [NET_CLIENT_ENDED] = 0,
};

static const char* phase_name(net_client_phase phase) {
    static const char* const NAMES[NET_CLIENT_ENDED + 1] = {"connecting", "greeting", "playing",
                                                            "resuming", "ended"};
    return NAMES[phase];
}

static const char* reason_of(net_client_end end) {
    static const char* const REASONS[NET_CLIENT_END_TRANSFERRED + 1] = {
        "none", "goodbye", "left", "lost", "unreachable", "refused", "exchanged", "transferred"};
    BASE_ASSERT(end != NET_CLIENT_END_NONE && end <= NET_CLIENT_END_TRANSFERRED);
    return REASONS[end];
}

void net_client_set_phase(net_client* client, net_client_phase phase, const char* reason) {
    BASE_ASSERT(phase <= NET_CLIENT_ENDED);
    BASE_ASSERT(ARROWS[client->phase] >> phase & 1u);
    BASE_ASSERT(phase != NET_CLIENT_RESUMING || client->has_resume);
    BASE_ASSERT(phase != NET_CLIENT_PLAYING || (client->mirror && client->client != 0));
    if (client->config.session_trace) {
        const net_trace_event event = {.kind = NET_TRACE_STATE,
                                       .now_us = client->now_us,
                                       .client = client->client,
                                       .peer = client->has_peer ? client->peer : 0,
                                       .from = phase_name(client->phase),
                                       .to = phase_name(phase),
                                       .reason = reason};
        client->config.session_trace(client->config.session_trace_context, &event);
    }
    client->phase = phase;
}

void net_client_trace_packet(const net_client* client, net_trace_kind kind, const char* name,
                             uint32_t number, size_t bytes) {
    if (!client->config.session_trace) return;
    const net_trace_event event = {.kind = kind,
                                   .now_us = client->now_us,
                                   .client = client->client,
                                   .peer = client->peer,
                                   .name = name,
                                   .number = number,
                                   .bytes = (uint32_t)bytes};
    client->config.session_trace(client->config.session_trace_context, &event);
}

net_result net_client_send_control(net_client* client, const ProtobufCMessage* message) {
    const Shoal__Wire__ServerControl control =
        net_control_wrap(&shoal__wire__client_control__descriptor, message);
    size_t bytes = 0;
    net_result result =
        net_control_send(client->config.transport, client->peer, &control.base, &bytes);
    if (result == NET_OK)
        net_client_trace_packet(client, NET_TRACE_SENT, net_control_name(&control.base), 0, bytes);
    return result;
}

void net_client_give_up(net_client* client, const char* why) {
    if (client->phase == NET_CLIENT_ENDED) return;
    const bool is_welcome =
        client->phase == NET_CLIENT_PLAYING || client->phase == NET_CLIENT_RESUMING;
    if (is_welcome)
        base_report(client->config.reporter, NULL, 0, "connection lost: %s", why);
    else
        (void)base_text_copy(client->refusal_text, sizeof client->refusal_text, why);
    net_client_finish(client, is_welcome ? NET_CLIENT_END_LOST : NET_CLIENT_END_UNREACHABLE);
}

void net_client_overrun(net_client* client, net_result result) {
    net_client_give_up(client, result == NET_ERR_MEMORY
                                   ? "no memory is left for what the server sends"
                                   : "the world has no room for what the server sends");
}

void net_client_check_memory(net_client* client) {
    if (base_quota_is_over(client->config.allocator)) net_client_overrun(client, NET_ERR_MEMORY);
}

// A fault came. @return true: more than NET_CLIENT_FAULTS_MAX within NET_CLIENT_FAULTS_MS.
static bool add_fault(net_client_faults* faults, uint64_t now_us) {
    uint64_t* place = &faults->at_us[faults->count % NET_CLIENT_FAULTS_MAX];
    bool is_ring_full = faults->count >= NET_CLIENT_FAULTS_MAX;
    bool is_too_many = is_ring_full && now_us - *place <= NET_CLIENT_FAULTS_MS * 1000u;
    *place = now_us;
    faults->count++;
    if (!faults->is_only) faults->only_us = now_us;
    faults->is_only = true;
    return is_too_many;
}

void net_client_malformed(net_client* client) {
    client->dropped[NET_DROP_MALFORMED]++;
    if (add_fault(&client->faults, client->now_us)) client->has_enough = true;
}

double net_client_quiet_s(const net_client* client) {
    return client->now_us > client->received_us
               ? (double)(client->now_us - client->received_us) * 1e-6
               : 0;
}

void net_client_finish(net_client* client, net_client_end end) {
    BASE_ASSERT(end != NET_CLIENT_END_NONE);
    if (client->phase == NET_CLIENT_ENDED) return;
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    net_client_set_phase(client, NET_CLIENT_ENDED, reason_of(client->end));
    if (!client->has_peer) return;
    net_transport* transport = client->config.transport;
    transport->ops->disconnect(transport, client->peer, NET_END_LEFT, true);
    client->has_peer = false;
}

void net_client_begin_closing(net_client* client, net_client_end end) {
    BASE_ASSERT(end != NET_CLIENT_END_NONE && client->phase != NET_CLIENT_ENDED);
    if (client->end == NET_CLIENT_END_NONE) client->end = end;
    client->is_closing = true;
    client->closing_us = client->now_us;
}

// Without a reason: for the server the connection is lost, and the session stays.
static void drop_connection(net_client* client) {
    net_transport* transport = client->config.transport;
    if (client->has_peer) transport->ops->disconnect(transport, client->peer, 0, true);
    client->has_peer = false;
    client->retry_us = client->now_us;
}

void net_client_greet_later(net_client* client, uint32_t after_ms) {
    if (after_ms > NET_SESSIONS_WINDOW_MS) after_ms = NET_SESSIONS_WINDOW_MS;
    base_report(net_ration_take(&client->ration, NET_RATION_REFUSED, client->now_us), NULL, 0,
                "note: refused: %s", client->refusal_text);
    net_client_set_phase(client, NET_CLIENT_CONNECTING, "refused");
    drop_connection(client);
    client->is_reached = false;
    client->refused_ms = 0;
    client->started_us = client->now_us + after_ms * UINT64_C(1000);
}

void net_client_end_exchanged(net_client* client) {
    drop_connection(client);
    net_client_finish(client, NET_CLIENT_END_EXCHANGED);
}

void net_client_begin_resuming(net_client* client) {
    BASE_ASSERT(client->has_resume && !client->is_closing);
    base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                "note: connection lost: nothing received for %.1f s, trying again",
                net_client_quiet_s(client));
    net_client_set_phase(client, NET_CLIENT_RESUMING, "connection_lost");
    client->was_closed = false;
    drop_connection(client);
    // A server that ends each connection at once must not make this client call as fast as it can.
    if (client->back_us > 0 && client->now_us - client->back_us < NET_CLIENT_RETRY_MS * 1000u)
        client->retry_us = client->now_us + NET_CLIENT_RETRY_MS * 1000u;
}

void net_client_leave_stale(net_client* client) {
    net_peer_identity server;
    BASE_ASSERT(client->phase == NET_CLIENT_RESUMING);
    const bool is_known = net_transport_identity(client->config.transport, client->peer, &server);
    if (is_known) {
        client->stale = server.address;
        client->stale_us = client->now_us;
    }
    drop_connection(client);
    // With one address alone it may be the same server again.
    if (!is_known || client->standby_count == 0)
        client->retry_us = client->now_us + NET_CLIENT_RETRY_MS * 1000u;
}

static uint64_t attempt_us_max(const net_client* client) {
    return (client->is_reached ? NET_CONNECT_MS_MAX : NET_ATTEMPT_MS_MAX) * UINT64_C(1000);
}

static bool is_stale(const net_client* client, const net_address* address) {
    return client->stale_us > 0 && client->now_us - client->stale_us < NET_STALE_MS * 1000u &&
           net_address_equal(address, &client->stale);
}

static void list_address(const net_client* client, const net_address* address,
                         char text[ADDRESSES_BYTES_MAX]) {
    const size_t used = strlen(text);
    char one[NET_ADDRESS_TEXT_BYTES];
    if (address->port == 0 || is_stale(client, address) ||
        !net_address_print(address, one, sizeof one))
        return;
    (void)base_text_format(text + used, ADDRESSES_BYTES_MAX - used, "%s,", one);
}

// Where the session may be. First where it was, unless that server ended the connection; last the
// one that was named.
static const char* list_addresses(const net_client* client, char text[ADDRESSES_BYTES_MAX]) {
    text[0] = '\0';
    if (client->standby_count == 0) return client->config.address;
    if (!client->was_closed) list_address(client, &client->server, text);
    for (uint32_t i = 0; i < client->standby_count; i++)
        list_address(client, &client->standbys[i], text);
    if (client->was_closed) list_address(client, &client->server, text);
    const size_t used = strlen(text);
    net_address given;
    if (used > 0 && net_address_parse(client->config.address, &given) == NET_OK &&
        is_stale(client, &given))
        text[used - 1] = '\0'; // the comma
    else if (!base_text_copy(text + used, ADDRESSES_BYTES_MAX - used, client->config.address))
        text[used] = '\0';
    return text;
}

// While RESUMING.
static void retry(net_client* client, uint64_t quiet_us) {
    const uint64_t now_us = client->now_us;
    if (quiet_us > NET_SILENCE_MS_MAX * 1000u) {
        base_report(net_ration_take(&client->ration, NET_RATION_LOST, client->now_us), NULL, 0,
                    "connection lost: no answer for %.1f s", net_client_quiet_s(client));
        net_client_finish(client, NET_CLIENT_END_LOST);
        return;
    }
    if (client->has_peer && now_us - client->retry_us > attempt_us_max(client))
        drop_connection(client);
    if (client->has_peer || now_us < client->retry_us) return;
    net_transport* transport = client->config.transport;
    char addresses[ADDRESSES_BYTES_MAX];
    client->is_reached = false;
    client->has_peer = transport->ops->connect(transport, list_addresses(client, addresses),
                                               &client->peer) == NET_OK;
    client->retry_us = client->has_peer ? now_us : now_us + NET_CLIENT_RETRY_MS * 1000u;
}

// While PLAYING: the server is silent, so others are asked. It is listened to all the same.
static void ask_standbys(net_client* client, uint64_t quiet_us) {
    net_transport* transport = client->config.transport;
    const uint64_t now_us = client->now_us;
    static const net_budget_rate rate = {1000000u, NET_CLIENT_ASKS_MAX};
    if (quiet_us < NET_UNEASY_MS * 1000u || client->standby_count == 0 || !transport->ops->ask ||
        now_us - client->asked_us < NET_UNEASY_STEP_MS * 1000u ||
        !net_budget_take(&client->asks, rate, now_us))
        return;
    client->asked_us = now_us;
    transport->ops->ask(transport, client->standbys, client->standby_count);
}

// Of the last second in which the server was not silent.
static void measure_rate(net_client* client, uint64_t quiet_us) {
    const uint64_t passed_us = client->now_us - client->measured_us;
    if (passed_us < 1000000u) return;
    net_transport_stats stats;
    client->config.transport->ops->stats(client->config.transport, &stats);
    if (quiet_us < NET_UNEASY_MS * 1000u && client->measured_us != 0)
        client->rate_bytes =
            (uint32_t)((stats.recv_bytes - client->recv_bytes) * 1000000u / passed_us);
    client->measured_us = client->now_us;
    client->recv_bytes = stats.recv_bytes;
}

static void check_silence(net_client* client) {
    const uint64_t now_us = client->now_us;
    const uint64_t quiet_us = now_us > client->received_us ? now_us - client->received_us : 0;
    if (client->is_closing || !client->has_resume) return;
    if (client->phase == NET_CLIENT_PLAYING && client->has_played) {
        measure_rate(client, quiet_us);
        ask_standbys(client, quiet_us);
    }
    if (client->phase == NET_CLIENT_PLAYING && client->has_played &&
        quiet_us > NET_QUIET_MS_MAX * 1000u)
        net_client_begin_resuming(client);
    if (client->phase == NET_CLIENT_RESUMING) retry(client, quiet_us);
}

void net_client_check_connection(net_client* client) {
    const uint64_t now_us = client->now_us;
    check_silence(client);
    if (client->has_enough) net_client_give_up(client, "the server broke the protocol too often");
    if (client->faults.is_only && now_us > client->faults.only_us &&
        now_us - client->faults.only_us > NET_CLIENT_FAULTS_ONLY_MS * 1000u && !client->is_closing)
        net_client_give_up(client, "the server sent nothing but faults for 10 s");
    bool is_waiting =
        client->phase == NET_CLIENT_CONNECTING || client->phase == NET_CLIENT_GREETING;
    if (is_waiting && !client->is_closing && now_us > client->started_us &&
        now_us - client->started_us > attempt_us_max(client))
        net_client_finish(client, NET_CLIENT_END_UNREACHABLE);
    // After its first state packet the server sends several times a second; before, it may wait for
    // other clients. A client that has just resumed gets time for the next packet.
    // One whose match stands still says that instead.
    uint64_t state_us =
        client->received.newest_us > client->back_us ? client->received.newest_us : client->back_us;
    if (client->still_us > state_us) state_us = client->still_us;
    if (client->phase == NET_CLIENT_PLAYING && client->has_played && now_us > state_us &&
        now_us - state_us > NET_SILENCE_MS_MAX * 1000u)
        net_client_finish(client, NET_CLIENT_END_LOST);
    if (client->is_closing && now_us - client->closing_us > CLOSE_MS_MAX * 1000u)
        net_client_finish(client, client->end);
}
