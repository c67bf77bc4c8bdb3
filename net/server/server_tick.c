// SPDX-License-Identifier: MIT
// What happens in a tick, as one page of code. Read run_tick() first.
//
// Order within a tick, the same in a re-run of the log: leaves, joins, client events, inputs, step. All of
// it is appended to the log before the step, so that the tick that crashes is in the log.
//
// Until net_server_collect the net half of the tick before may still run on its own thread: up to there
// nothing here touches transport, views, acknowledgements or outboxes. What belongs there (who fell silent,
// views of those who joined, the roster) comes after it, with and without a thread, so that datagrams are the
// same. The hand-over copies what a packet says of its session, because the next tick changes it.
#include "server/server_internal.h"

#include "core/fault.h"

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
                is_older_ms(server, session->out.sent.last_ack_us, NET_SILENCE_MS_MAX)) {
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
                net_transport* transport = net_server_transport(server);
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
        session->state = NET_SESSION_PLAYING;
        session->since_us = server->now_us;
        session->heard_us = server->now_us;
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
        const net_event_outbox_entry* event = net_event_inbox_next(&session->inbox, world);
        if (!event) break;
        net_event_outbox_entry* copy = &server->event_copies[begin->event_count];
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
        net_match_input_seen(match, input->client, input->payload, input->size, input->seen);
    }
}

static void pass_request(net_server* server, const net_match_interest_request* request) {
    if (!request) return;
    net_interest_set_groups(server->interest, request->client, request->groups);
    if (request->has_viewpoint)
        net_interest_set_viewpoint(server->interest, request->client, request->position,
                                   request->radius);
    else
        net_interest_clear_viewpoint(server->interest, request->client);
    if (request->is_refreshed) net_interest_refresh(server->interest, request->client);
}

// What the module asked about interest while it stepped.
static void pass_requests(net_server* server) {
    uint32_t count = 0;
    const net_match_interest_request* requests =
        net_match_interest_requests(server->config.match, &count);
    for (uint32_t i = 0; i < count; i++)
        pass_request(server, &requests[i]);
}

// Those who joined with this tick get a view, those who are gone have none any more.
static void admit(net_server* server) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || session->state != NET_SESSION_PLAYING || session->out.repl) continue;
        net_session_out* out = &session->out;
        net_ack_sender_init(&out->sent, server->seq_first, server->now_us);
        net_rate_init(&out->rate, server->now_us,
                      server->config.rate_bytes_max ? server->config.rate_bytes_max
                                                    : NET_RATE_BYTES_DEFAULT,
                      session->rate_wish);
        bool is_added = net_interest_add_client(server->interest, session->client);
        if (is_added &&
            net_repl_state_create(server->replicator, session->client, &out->repl) == NET_OK) {
            if (net_session_open_varsize(server, session)) continue;
            net_repl_state_destroy(out->repl);
        }
        if (is_added) net_interest_remove_client(server->interest, session->client);
        out->repl = NULL;
        net_session_end(server, session, NET_END_FAULT);
    }
}

// Exported events go to everyone who plays and sees what they are about.
static void take_event(net_server* server, const ecs_event* event) {
    net_match* match = server->config.match;
    net_server_out* out = &server->out;
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* description =
        &net_match_get_config(match)->module->game->messages[message - 1];
    if (description->kind != NET_MESSAGE_TO_CLIENTS) return;
    void* events = out->events;
    if (!base_array_reserve(server->allocator, &events, &out->event_capacity, out->event_count + 1,
                            sizeof *out->events)) {
        net_server_drop(server, NET_DROP_EVENT_QUEUE, 1);
        return;
    }
    out->events = events;
    net_server_event* taken = &out->events[out->event_count];
    size_t size;
    if (net_match_pack(match, message, event->payload, taken->payload, sizeof taken->payload,
                       &size) != NET_OK) {
        net_server_drop(server, NET_DROP_EVENT_LONG, 1);
        base_report(server->config.reporter, NULL, 0,
                    "an event %s is longer than %u bytes: not sent", description->name,
                    NET_EVENT_PAYLOAD_BYTES_MAX);
        return;
    }
    taken->message = message;
    taken->is_reliable = description->is_reliable;
    taken->target = event->target;
    taken->size = (uint32_t)size;
    taken->is_late = description->is_delivered_late;
    taken->entity_count = net_match_entities_of(match, message, event->payload, taken->entities);
    out->event_count++;
}

static void tell_player(net_server* server, net_session* session) {
    net_match* match = server->config.match;
    ecs_entity player = net_match_player(match, session->client);
    if (session->has_player_told && session->player_told == player) return;
    net_interest_set_player(server->interest, session->client, player);
    Shoal__Wire__PlayerAssigned assigned = SHOAL__WIRE__PLAYER_ASSIGNED__INIT;
    assigned.entity = player;
    uint8_t payload[32];
    size_t size = proto_encode(&assigned.base, payload, sizeof payload);
    if (net_event_outbox_push(&session->out.outbox, true, 0, net_match_tick(match), ECS_ENTITY_NONE,
                              payload, (uint32_t)size) != NET_OK) {
        net_session_end(server, session, NET_END_FAULT);
        return;
    }
    session->has_player_told = true;
    session->player_told = player;
}

// @return false when the match ended by it.
static bool replicate(net_server* server) {
    net_match* match = server->config.match;
    ecs_world* world = net_match_world(match);
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && net_session_is_in_match(session)) tell_player(server, session);
    }
    pass_requests(server);
    ecs_tick tick = net_match_tick(match);
    if (net_replicator_step(server->replicator, world, tick) != NET_OK ||
        net_varsize_source_step(server->varsize, world, tick) != NET_OK) {
        base_report(server->config.reporter, NULL, 0, "out of memory: the match ends");
        net_server_say_goodbye(server);
        return false;
    }
    server->out.event_count = 0;
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count; i++)
        take_event(server, &changes.events[i]);
    return true;
}

static void copy_told(net_session* session) {
    const net_input_queue* inputs = &session->inputs;
    session->out.told = (net_session_told){
        .client = session->client,
        .is_away = session->state == NET_SESSION_AWAY,
        .is_quiet = session->is_quiet,
        .player = session->player_told,
        .has_ack = session->received.has_any,
        .ack = session->received.newest,
        .ack_us = session->received.newest_us,
        .input_used = inputs->used,
        .input_repeats = inputs->owed,
        .input_depth = inputs->count,
        .input_fates = inputs->skipped + inputs->settled + inputs->late + inputs->rests,
        .event_ack = session->inbox.newest,
    };
}

void net_server_hand_over(net_server* server, bool has_stepped) {
    net_server_out* out = &server->out;
    BASE_ASSERT(!out->is_uncollected);
    out->now_us = server->now_us;
    out->tick = net_replicator_tick(server->replicator);
    out->has_stepped = has_stepped;
    out->is_settling = server->phase != NET_SERVER_RUNNING;
    out->count = 0;
    if (!has_stepped) out->event_count = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !net_session_is_in_match(session) || !session->out.repl) continue;
        net_event_inbox_age(&session->inbox);
        session->packet_credit += NET_PACKETS_PER_TICK;
        if (session->packet_credit > NET_PACKETS_BURST_MAX)
            session->packet_credit = NET_PACKETS_BURST_MAX;
        session->control_credit += NET_CONTROL_BYTES_PER_TICK;
        if (session->control_credit > NET_CONTROL_BYTES_BURST_MAX)
            session->control_credit = NET_CONTROL_BYTES_BURST_MAX;
        copy_told(session);
        out->sessions[out->count++] = session;
    }
    out->is_uncollected = true;
    if (net_fault_is_planted(NET_FAULT_THREAD_OTHER) && server->worker) out->now_us += 640;
    if (server->worker)
        net_worker_start(server->worker);
    else
        net_server_send(server);
}

void net_server_collect(net_server* server) {
    net_server_out* out = &server->out;
    if (!out->is_uncollected) return;
    if (server->worker) net_worker_wait(server->worker);
    out->is_uncollected = false;
    server->counters.state_packets += out->state_packets;
    server->counters.state_bytes += out->state_bytes;
    net_server_drop(server, NET_DROP_SEND, out->sends_refused);
    out->state_packets = out->state_bytes = out->sends_refused = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        net_session* session = out->sessions[i];
        if (!session->out.has_failed) continue;
        session->out.has_failed = false;
        net_session_end(server, session, NET_END_FAULT);
    }
}

bool net_server_wait_sent(net_server* server, uint64_t until_us) {
    if (!server->worker || !server->out.is_uncollected) return true;
    return net_worker_wait_until(server->worker, until_us);
}

static void run_tick(net_server* server) {
    net_match* match = server->config.match;
    net_log_begin begin = {.tick = net_match_tick(match) + 1};
    gather_leaves_and_joins(server, &begin);
    gather_inputs_and_events(server, &begin);
    if (server->config.log) net_log_append_begin(server->config.log, &begin);
    apply(match, &begin);
    net_match_step(match);
    if (server->config.log) net_log_append_end(server->config.log, match);
    // Up to here the tick before may still be on its way out.
    net_server_collect(server);
    drop_silent(server);
    net_server_tell_roster(server, &begin);
    admit(server);
    bool is_replicated = replicate(server);
    ecs_changes_clear(net_match_world(match));
    if (is_replicated) net_server_hand_over(server, true);
    if (server->config.ticks_max && net_match_tick(match) >= server->config.ticks_max &&
        server->phase == NET_SERVER_RUNNING) {
        set_phase(server, NET_SERVER_SETTLING);
        server->settle_ms_max = NET_SETTLE_MS_MAX;
    }
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
            !net_event_outbox_is_empty(&session->out.outbox)) {
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
    net_server_tell_due_rosters(server);
    net_server_hand_over(server, false);
}

static void flush(net_server* server) {
    server->config.transport->ops->flush(server->config.transport);
}

void net_server_tick(net_server* server, uint64_t now_us) {
    server->now_us = now_us;
    bool is_beginning = server->phase == NET_SERVER_HOLDING &&
                        count_in_state(server, NET_SESSION_ACCEPTED) >= server->config.clients_min;
    if (is_beginning) set_phase(server, NET_SERVER_RUNNING);
    if (server->phase == NET_SERVER_RUNNING) {
        run_tick(server); // what goes out is flushed by the net half
        if (!server->out.is_uncollected) flush(server);
        return;
    }
    net_server_collect(server);
    drop_silent(server);
    switch (server->phase) {
    case NET_SERVER_SETTLING:
        settle(server);
        break;
    case NET_SERVER_LEAVING:
        if (count_in_state(server, NET_SESSION_CLOSING) == 0 ||
            is_older_ms(server, server->phase_us, NET_LEAVE_MS_MAX)) {
            set_phase(server, NET_SERVER_ENDED);
        }
        break;
    case NET_SERVER_HOLDING:
    case NET_SERVER_RUNNING:
    case NET_SERVER_ENDED:
        break;
    }
    if (!server->out.is_uncollected) flush(server);
}
