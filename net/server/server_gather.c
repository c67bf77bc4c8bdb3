// SPDX-License-Identifier: MIT
// What comes into a tick, in the order of the log: leaves, joins, then for each session its events
// and its input.
#include "server/server_gather.h"

#include "server/session_report.h"

#include "base/assert.h"
#include "net/match.h"

// By client number: slots are reused in any order.
uint32_t net_server_list_sessions(net_server* server,
                                  bool (*is_listed)(const net_session* session)) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !is_listed(session)) continue;
        uint32_t place = count++;
        for (; place > 0 && server->joining[place - 1]->client > session->client; place--)
            server->joining[place] = server->joining[place - 1];
        server->joining[place] = session;
    }
    return count;
}

static void gather_leaves(net_server* server, net_log_begin* begin) {
    for (uint32_t i = 0; i < server->session_count && begin->leave_count < NET_LEAVES_PER_TICK;
         i++) {
        net_session* session = server->sessions[i];
        if (!session || !session->must_leave_match) continue;
        BASE_ASSERT(session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING);
        server->leaves[begin->leave_count++] =
            (net_log_leave){.client = session->client, .reason = (uint32_t)session->end};
        session->must_leave_match = false;
    }
    begin->leaves = server->leaves;
}

static bool is_accepted(const net_session* session) {
    return session->state == NET_SESSION_ACCEPTED;
}

static bool has_joined_enough(const net_session* const* joined, uint32_t count, uint64_t origin) {
    uint32_t same = 0;
    for (uint32_t i = 0; origin != 0 && i < count; i++)
        same += joined[i]->origin == origin;
    return same >= NET_JOINS_PER_ADDRESS_PER_TICK;
}

// Without keys a client wrote its token itself, so nothing in it counts.
static net_game_player describe_player(const net_session* session) {
    const net_peer_identity* who = &session->identity;
    const bool has_key = who->key != 0;
    return (net_game_player){.client = session->client,
                             .name = session->name,
                             .is_bot = session->is_bot,
                             .player_id = has_key ? who->player : 0,
                             .user_data = who->user,
                             .user_bytes = has_key ? who->user_bytes : 0};
}

static void gather_joins(net_server* server, net_log_begin* begin) {
    const uint32_t waiting = net_server_list_sessions(server, is_accepted);
    // No client waits for the first tick of a match.
    const uint32_t allowed = begin->tick == 1 ? UINT32_MAX : NET_JOINS_PER_TICK;
    for (uint32_t i = 0; i < waiting && begin->join_count < allowed; i++) {
        net_session* session = server->joining[i];
        const net_session* const* joined = (const net_session* const*)server->joining;
        if (has_joined_enough(joined, begin->join_count, session->origin)) continue;
        net_session_set_state(server, session, NET_SESSION_PLAYING, "joined");
        session->received_us = session->joined_us = server->now_us;
        BASE_ASSERT(session->client != 0 && !session->out.repl);
        // The first places are the joined ones: each stands at or behind its place.
        server->joining[begin->join_count] = session;
        server->joins[begin->join_count++] = describe_player(session);
        server->counters.joins++;
        net_session_report_joined(server, session);
    }
    server->counters.joins_waited += waiting - begin->join_count;
    begin->joins = server->joins;
}

static void gather_events(net_server* server, net_session* session, net_log_begin* begin) {
    const ecs_world* world = net_match_world(server->config.match);
    for (uint32_t i = 0; i < NET_CLIENT_EVENTS_PER_TICK_MAX; i++) {
        const net_event_outbox_entry* event = net_event_inbox_next(&session->inbox, world);
        if (!event) break;
        BASE_ASSERT(begin->event_count < server->session_count * NET_CLIENT_EVENTS_PER_TICK_MAX);
        net_event_outbox_entry* copy = &server->event_copies[begin->event_count];
        *copy = *event;
        server->events[begin->event_count++] = (net_log_event){.client = session->client,
                                                               .message = copy->message,
                                                               .target = copy->target,
                                                               .number = copy->number,
                                                               .payload = copy->payload,
                                                               .size = copy->size};
    }
}

// Repeats and rests are records like any other, so that a re-run does the same.
static void gather_input(net_server* server, net_session* session, net_log_begin* begin) {
    BASE_ASSERT(begin->input_count < server->session_count);
    static const uint8_t defaults[1] = {0};
    uint32_t repeat_ticks_max = (uint32_t)(NET_INPUT_REPEAT_MS_MAX * 1000u / server->tick_us);
    if (repeat_ticks_max == 0) repeat_ticks_max = 1;
    const net_input* input;
    net_input_turn turn = net_input_queue_take(&session->inputs, repeat_ticks_max, &input);
    net_log_input* given = &server->inputs[begin->input_count];
    *given = (net_log_input){.client = session->client};
    switch (turn) {
    case NET_INPUT_NONE:
        return;
    case NET_INPUT_NEXT:
        given->number = input->number;
        given->payload = input->payload;
        given->size = input->size;
        given->seen = input->seen;
        break;
    case NET_INPUT_AGAIN:
        break;
    case NET_INPUT_REST:
        // A module may refuse even defaults: then there is nothing to rest on.
        if (net_match_input_check(server->config.match, defaults, 0) != NET_OK) return;
        given->payload = defaults;
        break;
    }
    begin->input_count++;
}

static void gather_inputs_and_events(net_server* server, net_log_begin* begin) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !net_session_is_in_match(session)) continue;
        gather_events(server, session, begin);
        gather_input(server, session, begin);
    }
    begin->events = server->events;
    begin->inputs = server->inputs;
}

void net_server_gather(net_server* server, net_log_begin* begin) {
    BASE_ASSERT(server && begin && begin->tick != 0);
    gather_leaves(server, begin);
    gather_joins(server, begin);
    gather_inputs_and_events(server, begin);
}
