// SPDX-License-Identifier: MIT
// What the operator does while a match runs. A control of the match is checked, logged and done, in
// this order: a log holds none that cannot be done, and a server that dies here has it in its log.
#include "server/server_state.h"

#include "replicate/replicator.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

bool net_server_kick(net_server* server, uint32_t client, const char* reason) {
    net_server_collect(server);
    net_session* session = net_server_find_number(server, client);
    if (!session || session->state == NET_SESSION_CLOSING) return false;
    if (!base_shown_copy(session->end_reason, sizeof session->end_reason, reason))
        (void)base_text_copy(session->end_reason, sizeof session->end_reason, "by the operator");
    net_session_end(server, session, NET_END_GAME);
    return true;
}

net_result net_server_transfer(net_server* server, uint32_t client, const char* address,
                               const char* token, const char* page, const char* why) {
    net_server_collect(server);
    net_session* session = net_server_find_number(server, client);
    // One whose line is lost could not be told.
    if (!session || session->state != NET_SESSION_PLAYING ||
        net_server_is_older(server, session->received_us, NET_UNEASY_MS))
        return NET_ERR_CLOSED;
    net_transfer checked;
    net_token parsed;
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.address = (char*)(uintptr_t)address; // it is only read
    goodbye.token = (char*)(uintptr_t)token;
    goodbye.page = (char*)(uintptr_t)page;
    goodbye.text = (char*)(uintptr_t)why;
    if (!net_control_read_transfer(&goodbye, &checked) ||
        (token[0] && net_token_parse(token, &parsed) != NET_OK))
        return NET_ERR_MALFORMED;
    (void)base_text_copy(session->end_reason, sizeof session->end_reason, checked.why);
    session->transfer = &goodbye;
    net_session_end(server, session, NET_END_TRANSFERRED);
    session->transfer = NULL;
    return NET_OK;
}

net_result net_server_control(net_server* server, const char* verb,
                              const net_match_argument* arguments, uint32_t count,
                              const base_reporter* reporter) {
    net_match* match = server->config.match;
    BASE_ASSERT(!server->config.step && count <= NET_CONTROL_ARGUMENTS_MAX);
    net_server_collect(server);
    if (server->phase != NET_SERVER_HOLDING && server->phase != NET_SERVER_RUNNING)
        return NET_ERR_CLOSED;
    net_result result = net_match_control(match, verb, arguments, count, true, reporter);
    const net_observer* observer = &server->config.observer;
    if (result == NET_OK && observer->control)
        result = observer->control(observer->context, verb, arguments, count);
    if (result == NET_OK)
        result = net_match_control(match, verb, arguments, count, false, reporter);
    if (result == NET_OK && strcmp(verb, "set") == 0) {
        // What they predict with settings of before would never fit.
        for (net_session* session = NULL; (session = net_server_next(server, session));) {
            if (net_session_is_in_match(session))
                net_interest_hold(server->interest, session->client, true);
            net_session_ask_again(server, session);
        }
    }
    return result;
}

static void send_to_members(net_server* server, const ProtobufCMessage* message) {
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        if (session->peer != 0 && net_session_is_member(session))
            (void)net_session_send_control(server, session, message);
}

void net_server_set_standbys(net_server* server, const net_address* addresses, uint32_t count) {
    net_server_collect(server);
    server->standby_bytes = net_control_write_addresses(addresses, count, server->standbys);
    Shoal__Wire__Standbys standbys = SHOAL__WIRE__STANDBYS__INIT;
    standbys.addresses = (ProtobufCBinaryData){server->standby_bytes, server->standbys};
    send_to_members(server, &standbys.base);
}

void net_server_set_epoch(net_server* server, uint64_t epoch) {
    server->epoch = epoch;
}

void net_server_pause_after(net_server* server, uint64_t ticks) {
    server->ticks_to_pause = ticks;
}

bool net_server_is_paused(const net_server* server) {
    return server->phase == NET_SERVER_RUNNING &&
           (server->ticks_to_pause == 0 || net_server_is_empty(server));
}

// The last player leaves with a tick of its own, so the match knows one longer than the sessions.
bool net_server_is_empty(const net_server* server) {
    return server->config.pauses_when_empty && !server->config.is_following &&
           server->phase <= NET_SERVER_RUNNING && server->ticks_to_pause > 0 &&
           server->counters.clients == 0 && net_match_players(server->config.match, NULL, 0) == 0;
}

// ---- standing still ----

static void send_still(net_server* server) {
    Shoal__Wire__Still still = SHOAL__WIRE__STILL__INIT;
    still.text = server->still;
    send_to_members(server, &still.base);
    server->still_said_us = server->now_us;
}

void net_server_say_still(net_server* server) {
    BASE_ASSERT(net_server_is_still(server) && !server->out.is_uncollected);
    server->still_us = server->now_us;
    if (net_server_is_older(server, server->still_said_us, NET_STILL_MS)) send_still(server);
}

void net_server_stand_still(net_server* server, const char* why) {
    const bool was_still = server->still[0] != '\0';
    if (!why && !was_still) return;
    net_server_collect(server);
    (void)base_text_copy(server->still, sizeof server->still, why ? why : "");
    if (why && was_still) return;
    // What is in no tick must not wait for one.
    if (why) net_server_hold(server, 0);
    if (server->phase == NET_SERVER_RUNNING) send_still(server);
    if (!why) net_server_hold(server, net_match_tick(server->config.match));
}
