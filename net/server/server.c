// SPDX-License-Identifier: MIT
// The server's life: made, asked, ended. What comes in: server_receive.c. What happens in a tick:
// server_tick.c. What goes out: server_send.c. What is told of it: server_report.c.
//
// A session is a connection with a person or a bot behind it. Its slot goes through
//
//     FREE -> GREETING -> (ASKED) -> ACCEPTED -> PLAYING -> CLOSING -> FREE
//                                                  | ^
//                                                  AWAY: server_resume.c
//
// and every arrow back to FREE runs through net_session_end and net_session_gone, so that a match never
// keeps a player whose connection is gone. Numbers of clients are never used twice.
#include "server/server_internal.h"

#include "session/control.h"

#include <string.h>

static bool allocate_scratch(net_server* server) {
    uint32_t count = server->session_count;
    server->sessions = base_allocate_zero(server->allocator, count * sizeof(net_session*));
    server->leaves = base_allocate_zero(server->allocator, count * sizeof(net_log_leave));
    server->joins = base_allocate_zero(server->allocator, count * sizeof(net_log_join));
    server->inputs = base_allocate_zero(server->allocator, count * sizeof(net_log_input));
    server->roster = base_allocate(server->allocator, count * sizeof(Shoal__Wire__RosterEntry));
    server->went = base_allocate(server->allocator, count * sizeof(uint32_t));
    server->out.sessions = base_allocate(server->allocator, count * sizeof(net_session*));
    server->by_slot = base_allocate_zero(server->allocator, NET_PEER_SLOTS * sizeof(net_session*));
    uint32_t events = count * NET_CLIENT_EVENTS_PER_TICK_MAX;
    server->events = base_allocate_zero(server->allocator, events * sizeof(net_log_event));
    server->event_copies =
        base_allocate(server->allocator, events * sizeof(net_event_outbox_entry));
    return server->sessions && server->leaves && server->joins && server->inputs &&
           server->roster && server->went && server->events && server->event_copies &&
           server->out.sessions && server->by_slot;
}

// Who is interested in what, and what is known of rows.
static net_result create_replica(net_server* server) {
    net_match* match = server->config.match;
    ecs_world* world = net_match_world(match);
    net_result result =
        net_rows_create(server->allocator, world, server->config.reporter, &server->rows);
    if (result != NET_OK) return result;
    net_rows_set_tick_rate(server->rows, net_match_get_config(match)->tick_rate_hz);
    uint32_t index_max = ecs_world_limits(world)->replicated_index_max;
    const net_interest_config interest = {
        .allocator = server->allocator,
        .rules = net_match_get_config(match)->module->game->interest,
        .context = net_match_context(match),
        .world = world,
        .rows = server->rows,
        .index_max = index_max,
        .tick_rate_hz = net_match_get_config(match)->tick_rate_hz,
    };
    result = net_interest_create(&interest, server->config.reporter, &server->interest);
    if (result != NET_OK) return result;
    if (server->config.has_bandwidth) {
        uint32_t count = ecs_component_count(world) + 1;
        server->has_bandwidth = true;
        if (!net_bandwidth_init(&server->bandwidth, server->allocator, count) ||
            !net_bandwidth_open(&server->bandwidth, &server->bandwidth_rest))
            return NET_ERR_MEMORY;
    }
    const net_replicator_config replicator = {
        .allocator = server->allocator,
        .rows = server->rows,
        .index_max = index_max,
        .interest = server->interest,
        .bandwidth = server->has_bandwidth ? &server->bandwidth : NULL,
    };
    result = net_replicator_create(&replicator, &server->replicator);
    if (result != NET_OK) return result;
    return net_varsize_source_create(server->allocator, server->rows, index_max,
                                     server->config.reporter, &server->varsize);
}

// Packets of a client are half a second apart at most, whatever the operator wishes.
static void set_cadence(net_server* server) {
    uint32_t rate_hz = net_match_get_config(server->config.match)->tick_rate_hz;
    uint32_t divisor = server->config.send_divisor ? server->config.send_divisor : 1;
    uint32_t divisor_max = rate_hz > 2 ? rate_hz / 2 : 1;
    server->send_divisor = divisor < divisor_max ? divisor : divisor_max;
    uint32_t ticks = rate_hz / NET_HEARTBEAT_HZ;
    if (ticks > NET_HEARTBEAT_TICKS_MAX) ticks = NET_HEARTBEAT_TICKS_MAX;
    server->heartbeat_ticks = ticks ? ticks : 1;
}

net_result net_server_create(const net_server_config* config, net_server** out) {
    BASE_ASSERT(config && config->match && config->transport && out);
    BASE_ASSERT(config->clients_max >= 1 && config->clients_max <= NET_CLIENTS_MAX);
    BASE_ASSERT(config->rate_bytes_max <= NET_RATE_BYTES_LIMIT);
    BASE_ASSERT(config->send_divisor <= NET_SEND_DIVISOR_MAX);
    net_server* server = base_allocate_zero(config->allocator, sizeof *server);
    if (!server) return NET_ERR_MEMORY;
    server->config = *config;
    server->allocator = config->allocator;
    server->session_count = config->clients_max + NET_SERVER_SPARE_SESSIONS;
    server->tick_us = 1000000u / net_match_get_config(config->match)->tick_rate_hz;
    server->rng = base_rng_make(net_match_get_config(config->match)->seed, 16);
    net_server_tap_init(server);
    set_cadence(server);
    net_result result = NET_ERR_MEMORY;
    if (!allocate_scratch(server)) goto fail;
    if (!proto_codec_init(&server->codec, server->allocator, PROTO_UNPACK_BYTES_MAX)) goto fail;
    result = create_replica(server);
    if (result != NET_OK) goto fail;
    // Without a thread it is done at once: slower, the same.
    if (config->is_threaded)
        server->worker = net_worker_create(server->allocator, net_server_send, server);
    *out = server;
    return NET_OK;
fail:
    net_server_destroy(server);
    return result;
}

static void release_session(net_server* server, net_session* session) {
    net_varsize_sender_destroy(session->out.varsize);
    if (session->out.repl) net_repl_state_destroy(session->out.repl);
    net_event_outbox_deinit(&session->out.outbox);
    net_event_inbox_deinit(&session->inbox);
    base_release(server->allocator, session, sizeof *session);
}

void net_server_destroy(net_server* server) {
    if (!server) return;
    net_worker_destroy(server->worker);
    uint32_t count = server->session_count;
    for (uint32_t i = 0; server->sessions && i < count; i++) {
        if (server->sessions[i]) release_session(server, server->sessions[i]);
    }
    base_release(server->allocator, server->sessions, count * sizeof(net_session*));
    base_release(server->allocator, server->leaves, count * sizeof(net_log_leave));
    base_release(server->allocator, server->joins, count * sizeof(net_log_join));
    base_release(server->allocator, server->inputs, count * sizeof(net_log_input));
    base_release(server->allocator, server->roster, count * sizeof(Shoal__Wire__RosterEntry));
    base_release(server->allocator, server->went, count * sizeof(uint32_t));
    uint32_t events = count * NET_CLIENT_EVENTS_PER_TICK_MAX;
    base_release(server->allocator, server->events, events * sizeof(net_log_event));
    base_release(server->allocator, server->event_copies, events * sizeof(net_event_outbox_entry));
    base_release(server->allocator, server->out.sessions, count * sizeof(net_session*));
    base_release(server->allocator, server->out.events,
                 server->out.event_capacity * sizeof(net_server_event));
    base_release(server->allocator, server->out.seen, server->out.seen_capacity * sizeof(uint64_t));
    base_release(server->allocator, server->by_slot, NET_PEER_SLOTS * sizeof(net_session*));
    base_release(server->allocator, server->reports,
                 server->report_capacity * sizeof(net_peer_report));
    net_varsize_source_destroy(server->varsize);
    if (server->replicator) net_replicator_destroy(server->replicator);
    if (server->interest) net_interest_destroy(server->interest);
    net_server_close_bandwidth(server);
    if (server->rows) net_rows_destroy(server->rows);
    proto_codec_deinit(&server->codec);
    base_release(server->allocator, server, sizeof *server);
}

static net_session** place_of(net_server* server, net_peer peer) {
    return &server->by_slot[peer & (NET_PEER_SLOTS - 1)];
}

void net_session_set_peer(net_server* server, net_session* session, net_peer peer) {
    net_session** before = place_of(server, session->peer);
    if (session->peer && *before == session) *before = NULL;
    session->peer = peer;
    if (peer) *place_of(server, peer) = session;
}

net_session* net_server_find_session(net_server* server, net_peer peer) {
    net_session* session = *place_of(server, peer);
    return session && peer != 0 && session->peer == peer ? session : NULL;
}

net_session* net_server_add_session(net_server* server, net_peer peer) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        // A slot whose player still has to leave the match keeps its name until the next tick.
        if (session && (session->state != NET_SESSION_FREE || session->must_leave_match)) continue;
        if (!session) {
            session = base_allocate_zero(server->allocator, sizeof *session);
            if (!session) return NULL;
            server->sessions[i] = session;
        }
        memset(session, 0, sizeof *session);
        session->state = NET_SESSION_GREETING;
        net_session_set_peer(server, session, peer);
        session->report = UINT32_MAX;
        session->since_us = server->now_us;
        session->heard_us = server->now_us;
        session->packet_credit = NET_PACKETS_BURST_MAX;
        session->control_credit = NET_CONTROL_BYTES_BURST_MAX;
        session->resync_credit = NET_HEALS_BURST_MAX * 1000000u;
        session->resync_us = server->now_us;
        net_event_outbox_init(&session->out.outbox, server->allocator);
        net_event_inbox_init(&session->inbox, server->allocator);
        net_input_queue_init(&session->inputs);
        net_ack_sender_init(&session->out.sent, 0, server->now_us);
        net_ack_receiver_init(&session->received);
        return session;
    }
    return NULL;
}

bool net_session_is_in_match(const net_session* session) {
    return session->state == NET_SESSION_PLAYING || session->state == NET_SESSION_AWAY;
}

// A place for one more report. From NET_REPORTS_MAX on the oldest of a session that is over gives way.
static uint32_t take_report(net_server* server) {
    if (server->report_count < NET_REPORTS_MAX) {
        void* reports = server->reports;
        if (!base_array_reserve(server->allocator, &reports, &server->report_capacity,
                                server->report_count + 1, sizeof(net_peer_report))) {
            return UINT32_MAX;
        }
        server->reports = reports;
        return server->report_count++;
    }
    _Static_assert(NET_REPORTS_MAX > NET_CLIENTS_MAX, "the living alone must not fill the reports");
    uint32_t place;
    do {
        place = server->report_next;
        server->report_next = (server->report_next + 1) % NET_REPORTS_MAX;
    } while (server->reports[place].end == NET_END_NONE);
    return place;
}

bool net_session_accept(net_server* server, net_session* session) {
    uint32_t report = take_report(server);
    if (report == UINT32_MAX) return false;
    session->report = report;
    session->client = ++server->clients_named;
    memset(&server->reports[session->report], 0, sizeof(net_peer_report));
    server->reports[session->report].client = session->client;
    session->state = NET_SESSION_ACCEPTED;
    session->since_us = server->now_us;
    server->counters.clients++;
    if (server->counters.clients > server->counters.clients_peak) {
        server->counters.clients_peak = server->counters.clients;
    }
    net_session_make_secret(server, session);
    (void)net_session_welcome(server, session, false);
    return true;
}

// The books of a session that is over, whoever ended it.
static void close_books(net_server* server, net_session* session, net_end end) {
    net_session_report(server, session, end);
    if (net_session_is_in_match(session)) session->must_leave_match = true;
    session->end = end;
    if (end != NET_END_LEFT && end != NET_END_GOODBYE && session->client != 0) {
        server->counters.drops++;
        base_report(server->config.reporter, NULL, 0, "client %u (%s) dropped: %s", session->client,
                    session->name,
                    end == NET_END_TIMEOUT ? "it fell silent" : "it broke the protocol");
    }
}

void net_session_end(net_server* server, net_session* session, net_end end) {
    if (session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING) return;
    if (session->state == NET_SESSION_AWAY) {
        // Nobody is there to hear a goodbye.
        close_books(server, session, end == NET_END_GOODBYE ? NET_END_TIMEOUT : end);
        session->state = NET_SESSION_CLOSING;
        net_session_gone(server, session);
        return;
    }
    close_books(server, session, end);
    net_transport* transport = net_server_transport(server);
    if (end == NET_END_TIMEOUT) {
        // Whoever is silent will not confirm a goodbye either: nothing is waited for.
        transport->ops->disconnect(transport, session->peer, (uint32_t)end, true);
        session->state = NET_SESSION_CLOSING;
        net_session_gone(server, session);
        return;
    }
    (void)net_control_send_goodbye(transport, session->peer, true,
                                   net_match_tick(server->config.match), (uint32_t)end);
    transport->ops->disconnect(transport, session->peer, (uint32_t)end, false);
    session->state = NET_SESSION_CLOSING;
    session->since_us = server->now_us;
}

void net_session_gone(net_server* server, net_session* session) {
    if (session->state != NET_SESSION_CLOSING) {
        // Without a word: the transport gave up on it.
        close_books(server, session, NET_END_TIMEOUT);
    }
    if (session->out.repl) {
        net_server_keep_account(server, session);
        net_varsize_sender_destroy(session->out.varsize);
        net_repl_state_destroy(session->out.repl);
        net_interest_remove_client(server->interest, session->client);
    }
    session->out.repl = NULL;
    session->out.varsize = NULL;
    net_event_outbox_deinit(&session->out.outbox);
    net_event_inbox_deinit(&session->inbox);
    net_session_set_peer(server, session, 0);
    session->state = NET_SESSION_FREE;
}

void net_session_strike(net_server* server, net_session* session) {
    net_server_drop(server, NET_DROP_MALFORMED, 1);
    session->strike_us[session->strikes++ % NET_STRIKES_MAX] = server->now_us;
    if (session->strikes < NET_STRIKES_MAX) return;
    uint64_t oldest_us = session->strike_us[session->strikes % NET_STRIKES_MAX];
    if (server->now_us - oldest_us <= NET_STRIKE_MS * 1000u) {
        net_session_end(server, session, NET_END_FAULT);
    }
}

void net_server_stop(net_server* server, uint64_t now_us) {
    net_server_collect(server);
    server->now_us = now_us;
    if (server->phase == NET_SERVER_RUNNING) {
        server->phase = NET_SERVER_SETTLING;
        server->phase_us = now_us;
        server->settle_ms_max = NET_STOP_MS_MAX;
        return;
    }
    net_server_say_goodbye(server);
}

void net_server_say_goodbye(net_server* server) {
    if (server->phase == NET_SERVER_LEAVING || server->phase == NET_SERVER_ENDED) return;
    for (uint32_t i = 0; i < server->session_count; i++) {
        if (server->sessions[i]) net_session_end(server, server->sessions[i], NET_END_GOODBYE);
    }
    server->phase = NET_SERVER_LEAVING;
    server->phase_us = server->now_us;
    server->config.transport->ops->flush(server->config.transport);
}

net_server_phase net_server_get_phase(const net_server* server) {
    return server->phase;
}
