// SPDX-License-Identifier: MIT
// What happens in a tick, as one page of code. Read run_tick() first.
//
// Order within a tick, the same in a re-run of the log: leaves, joins, client events, inputs, step. All of
// it is appended to the log before the step, so that the tick that crashes is in the log.
#include "server_internal.h"

#include <string.h>

static void set_phase(net_server* server, net_server_phase phase) {
    server->phase = phase;
    server->phase_us = server->now_us;
}

static bool is_older_ms(const net_server* server, uint64_t since_us, uint64_t ms) {
    return server->now_us > since_us && server->now_us - since_us > ms * 1000u;
}

// Whoever connects and says nothing, or plays and acknowledges nothing, is dropped.
static void drop_silent(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) continue;
        switch (session->state) {
        case NET_SESSION_GREETING:
        case NET_SESSION_ASKED:
            if (is_older_ms(server, session->since_us, NET_CONNECT_MS_MAX)) {
                net_session_end(server, session, NET_END_TIMEOUT);
            }
            break;
        case NET_SESSION_PLAYING:
            if (is_older_ms(server, session->since_us, NET_SILENCE_MS_MAX) &&
                is_older_ms(server, session->sent.last_ack_us, NET_SILENCE_MS_MAX)) {
                net_session_end(server, session, NET_END_TIMEOUT);
            } else {
                net_session_watch(server, session);
            }
            break;
        case NET_SESSION_AWAY:
            if (is_older_ms(server, session->heard_us, NET_SILENCE_MS_MAX)) {
                net_session_end(server, session, NET_END_TIMEOUT);
            }
            break;
        case NET_SESSION_CLOSING:
            if (is_older_ms(server, session->since_us, NET_LEAVE_MS_MAX)) {
                net_transport* transport = server->config.transport;
                transport->ops->disconnect(transport, session->peer, (uint32_t)session->end, true);
                net_session_gone(server, session);
            }
            break;
        case NET_SESSION_FREE:
        case NET_SESSION_ACCEPTED:
            break;
        }
    }
}

static uint32_t count_in_state(const net_server* server, net_session_state state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (session && session->state == state) count++;
    }
    return count;
}

static void gather_leaves_and_joins(net_server* server, net_log_begin* begin) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session) continue;
        if (session->must_leave_match) {
            server->leaves[begin->leave_count++] =
                (net_log_leave){.client = session->client, .reason = (uint32_t)session->end};
            session->must_leave_match = false;
        }
        if (session->state != NET_SESSION_ACCEPTED) continue;
        if (net_view_create(server->allocator, server->history, &session->view) != NET_OK) {
            net_session_end(server, session, NET_END_FAULT);
            continue;
        }
        session->state = NET_SESSION_PLAYING;
        session->since_us = server->now_us;
        session->heard_us = server->now_us;
        net_acks_send_init(&session->sent, 0, server->now_us);
        // By number: slots are reused in any order.
        uint32_t place = begin->join_count++;
        for (; place > 0 && server->joins[place - 1].client > session->client; place--) {
            server->joins[place] = server->joins[place - 1];
        }
        server->joins[place] = (net_log_join){
            .client = session->client, .name = session->name, .is_bot = session->is_bot};
        server->counters.joins++;
    }
    begin->leaves = server->leaves;
    begin->joins = server->joins;
}

static void gather_events(net_server* server, net_session* session, net_log_begin* begin) {
    const ecs_world* world = net_match_world(server->config.match);
    for (uint32_t i = 0; i < NET_CLIENT_EVENTS_PER_TICK_MAX; i++) {
        const net_outbox_entry* event = net_inbox_next(&session->inbox, world);
        if (!event) break;
        net_outbox_entry* copy = &server->event_copies[begin->event_count];
        *copy = *event;
        server->events[begin->event_count++] = (net_log_event){.client = session->client,
                                                               .message = copy->message,
                                                               .target = copy->target,
                                                               .payload = copy->payload,
                                                               .size = copy->size};
    }
}

// Repeats and rests are records like any other, so that a re-run does the same.
static void gather_input(net_server* server, net_session* session, net_log_begin* begin) {
    static const uint8_t defaults[1] = {0};
    uint32_t repeat_ticks_max = (uint32_t)(NET_INPUT_REPEAT_MS_MAX * 1000u / server->tick_us);
    if (repeat_ticks_max == 0) repeat_ticks_max = 1;
    const net_input_entry* input;
    net_input_turn turn = net_inputs_take(&session->inputs, repeat_ticks_max, &input);
    net_log_input* given = &server->inputs[begin->input_count];
    *given = (net_log_input){.client = session->client};
    switch (turn) {
    case NET_INPUT_NONE:
        return;
    case NET_INPUT_NEXT:
        given->number = input->number;
        given->payload = input->payload;
        given->size = input->size;
        given->view = input->view;
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

static void apply(net_match* match, const net_log_begin* begin) {
    for (uint32_t i = 0; i < begin->leave_count; i++) {
        net_match_leave(match, begin->leaves[i].client);
    }
    for (uint32_t i = 0; i < begin->join_count; i++) {
        net_match_join(match, begin->joins[i].client, begin->joins[i].name, begin->joins[i].is_bot);
    }
    for (uint32_t i = 0; i < begin->event_count; i++) {
        const net_log_event* event = &begin->events[i];
        net_match_client_event(match, event->client, event->message, event->payload, event->size);
    }
    for (uint32_t i = 0; i < begin->input_count; i++) {
        const net_log_input* input = &begin->inputs[i];
        net_match_input_seen(match, input->client, input->payload, input->size, input->view);
    }
}

// Exported events go to everyone who plays. A full queue of reliable ones ends that session: to lose one
// silently would break the promise.
static void queue_event(net_server* server, const ecs_event* event) {
    net_match* match = server->config.match;
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* description =
        &net_match_get_config(match)->module->game->messages[message - 1];
    if (description->kind != NET_MESSAGE_TO_CLIENTS) return;
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    if (net_match_pack(match, message, event->payload, payload, sizeof payload, &size) != NET_OK) {
        server->counters.events_refused++;
        base_report(server->config.reporter, NULL, 0,
                    "an event %s is longer than %u bytes: not sent", description->name,
                    NET_EVENT_PAYLOAD_BYTES_MAX);
        return;
    }
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !net_session_is_in_match(session)) continue;
        net_result result =
            net_outbox_push(&session->outbox, description->is_reliable, message,
                            net_match_tick(match), event->target, payload, (uint32_t)size);
        if (result == NET_OK) continue;
        server->counters.events_refused++;
        if (description->is_reliable) net_session_end(server, session, NET_END_FAULT);
    }
}

static void tell_player(net_server* server, net_session* session) {
    net_match* match = server->config.match;
    ecs_entity player = net_match_player(match, session->client);
    if (session->has_player_told && session->player_told == player) return;
    Shoal__Wire__PlayerAssigned assigned = SHOAL__WIRE__PLAYER_ASSIGNED__INIT;
    assigned.entity = player;
    uint8_t payload[32];
    size_t size = proto_encode(&assigned.base, payload, sizeof payload);
    if (net_outbox_push(&session->outbox, true, 0, net_match_tick(match), ECS_ENTITY_NONE, payload,
                        (uint32_t)size) != NET_OK) {
        net_session_end(server, session, NET_END_FAULT);
        return;
    }
    session->has_player_told = true;
    session->player_told = player;
}

static void replicate(net_server* server) {
    net_match* match = server->config.match;
    ecs_world* world = net_match_world(match);
    if (net_history_step(server->history, world, net_match_tick(match)) != NET_OK) {
        base_report(server->config.reporter, NULL, 0, "out of memory: the match ends");
        net_server_say_goodbye(server);
        return;
    }
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count; i++)
        queue_event(server, &changes.events[i]);
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !net_session_is_in_match(session)) continue;
        if (net_view_follow(session->view) != NET_OK) {
            net_session_end(server, session, NET_END_FAULT);
            continue;
        }
        tell_player(server, session);
    }
}

static void send_all(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && session->state == NET_SESSION_AWAY) {
            net_outbox_drop_unreliable(&session->outbox);
            net_inbox_age(&session->inbox);
        }
        if (!session || session->state != NET_SESSION_PLAYING) continue;
        session->packet_credit += NET_PACKETS_PER_TICK;
        if (session->packet_credit > NET_PACKETS_BURST_MAX)
            session->packet_credit = NET_PACKETS_BURST_MAX;
        net_session_expire(server, session);
        if (session->state == NET_SESSION_PLAYING) net_session_send(server, session);
        if (session->state == NET_SESSION_PLAYING) net_inbox_age(&session->inbox);
    }
}

static void run_tick(net_server* server) {
    net_match* match = server->config.match;
    net_log_begin begin = {.tick = net_match_tick(match) + 1};
    gather_leaves_and_joins(server, &begin);
    gather_inputs_and_events(server, &begin);
    if (server->config.log) net_log_append_begin(server->config.log, &begin);
    apply(match, &begin);
    net_server_tell_roster(server, &begin);
    net_match_step(match, NULL);
    if (server->config.log) net_log_append_end(server->config.log, match);
    replicate(server);
    ecs_changes_clear(net_match_world(match));
    send_all(server);
    if (server->config.ticks_max && net_match_tick(match) >= server->config.ticks_max &&
        server->phase == NET_SERVER_RUNNING) {
        set_phase(server, NET_SERVER_SETTLING);
        server->settle_ms_max = NET_SETTLE_MS_MAX;
    }
}

bool net_session_has_everything(const net_server* server, const net_session* session) {
    if (!session->view || !session->sent.has_ack) return false;
    return session->tick_sent == net_match_tick(server->config.match) &&
           (int16_t)(uint16_t)(session->sent.newest_acked - session->tick_seq) >= 0 &&
           net_view_is_settled(session->view);
}

static bool is_settled(const net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        // Whoever is away may come back for the rest; for who was away for long before nobody waits.
        if (session && session->state == NET_SESSION_AWAY &&
            session->heard_us + server->settle_ms_max * 1000u >= server->phase_us) {
            return false;
        }
        if (!session || session->state != NET_SESSION_PLAYING) continue;
        if (!net_session_has_everything(server, session) ||
            !net_outbox_is_empty(&session->outbox)) {
            return false;
        }
    }
    return true;
}

// The world stands still; datagrams flow until everyone has everything.
static void settle(net_server* server) {
    if (is_settled(server) || is_older_ms(server, server->phase_us, server->settle_ms_max)) {
        net_server_say_goodbye(server);
        return;
    }
    send_all(server);
}

void net_server_tick(net_server* server, uint64_t now_us) {
    server->now_us = now_us;
    drop_silent(server);
    switch (server->phase) {
    case NET_SERVER_HOLDING:
        if (count_in_state(server, NET_SESSION_ACCEPTED) >= server->config.clients_min) {
            set_phase(server, NET_SERVER_RUNNING);
            run_tick(server);
        }
        break;
    case NET_SERVER_RUNNING:
        run_tick(server);
        break;
    case NET_SERVER_SETTLING:
        settle(server);
        break;
    case NET_SERVER_LEAVING:
        if (count_in_state(server, NET_SESSION_CLOSING) == 0 ||
            is_older_ms(server, server->phase_us, NET_LEAVE_MS_MAX)) {
            set_phase(server, NET_SERVER_ENDED);
        }
        break;
    case NET_SERVER_ENDED:
        break;
    }
    server->config.transport->ops->flush(server->config.transport);
}
