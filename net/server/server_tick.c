// SPDX-License-Identifier: MIT
// What happens in a tick, as one page of code. Read run_tick() first.
//
// Order within a tick, the same in a re-run of the log: leaves, joins, client events, inputs, step.
// All of it is appended to the log before the step, so the log contains the tick that crashes.
//
// Until net_server_collect the net half of the previous tick may still run, on the lanes' threads.
// Up to there this file touches no transport, replication state, acknowledgement and outbox.
// Work on these (silent clients, replication states of new players, the roster) comes after it,
// with and without a thread, so that both ways send the same datagrams.
#include "server/server_state.h"

#include "game/match.h"
#include "replicate/repl_state.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"

// Drop clients that connect and send no hello, or play and acknowledge nothing.
static void drop_silent(net_server* server) {
    for (net_session* session = NULL; (session = net_server_next(server, session));) {
        switch (session->state) {
        case NET_SESSION_GREETING:
        case NET_SESSION_ASKED:
            if (net_server_is_older(server, session->since_us, NET_CONNECT_MS_MAX))
                net_session_end(server, session, NET_END_TIMEOUT);
            break;
        case NET_SESSION_PLAYING:
            if (net_server_is_still(server)) break; // it gets nothing to acknowledge
            if (net_server_is_older(server, session->since_us, NET_SILENCE_MS_MAX) &&
                net_server_is_older(server, server->still_us, NET_SILENCE_MS_MAX) &&
                net_server_is_older(server, session->out.sent.last_ack_us, NET_SILENCE_MS_MAX)) {
                net_session_end(server, session, NET_END_TIMEOUT);
                break;
            }
            net_session_watch(server, session);
            if (session->deaf_us >= NET_DEAF_MS_MAX * UINT64_C(1000))
                net_session_end(server, session, NET_END_DEAF);
            else if (session->flood_us > NET_FLOOD_MS_MAX * UINT64_C(1000))
                net_session_end(server, session, NET_END_FAULT);
            break;
        case NET_SESSION_AWAY:
            if (net_server_is_older(server, session->received_us, NET_SILENCE_MS_MAX))
                net_session_end(server, session, NET_END_TIMEOUT);
            break;
        case NET_SESSION_CLOSING:
            if (net_server_is_older(server, session->since_us, NET_LEAVE_MS_MAX)) {
                net_transport* transport = server->config.transport;
                transport->ops->disconnect(transport, session->peer, (uint32_t)session->end, true);
                net_session_gone(server, session, "goodbye_unconfirmed");
            }
            break;
        case NET_SESSION_FREE:
        case NET_SESSION_ACCEPTED:
        case NET_SESSION_STATE_COUNT:
            break;
        }
    }
}

// Spectators do not count towards clients_min.
static uint32_t count_in_state(const net_server* server, net_session_state state) {
    uint32_t count = 0;
    for (const net_session* session = NULL; (session = net_server_next(server, session));) {
        if (session->state != state) continue;
        count += state != NET_SESSION_ACCEPTED || !session->is_spectator;
    }
    return count;
}

// It plays, and has no replication state yet.
static bool is_waiting(const net_session* session) {
    return session->state == NET_SESSION_PLAYING && !session->out.repl;
}

// Requests that the module made while it stepped.
static void pass_requests(net_server* server) {
    uint32_t count = 0;
    const net_interest_request* requests =
        net_interest_requests_take(&server->config.match->requests, &count);
    for (uint32_t i = 0; i < count; i++)
        net_interest_request_for(server->interest, requests[i].client, &requests[i]);
    for (const net_session* session = NULL;
         server->counters.spectators > 0 && (session = net_server_next(server, session));) {
        if (!net_session_is_spectator(session)) continue;
        for (uint32_t i = 0; i < count; i++)
            if (requests[i].client == session->watched)
                net_interest_request_for(server->interest, session->client, &requests[i]);
    }
}

// How many entities the scope of a new client has: as many as those of others.
static int64_t expect_scope(const net_server* server) {
    int64_t sum = 0, count = 0;
    for (const net_session* session = NULL; (session = net_server_next(server, session));) {
        if (!session->out.repl || session->is_spectator) continue;
        sum += session->out.repl->member_count;
        count++;
    }
    return 1 + (count > 0 ? sum / count
                          : (int64_t)ecs_world_entity_count(net_match_world(server->config.match)));
}

static bool create_replication(net_server* server, net_session* session) {
    net_session_out* out = &session->out;
    BASE_ASSERT(!out->varsize && session->client != 0);
    net_ack_sender_init(&out->sent, server->seq_first, server->now_us);
    net_rate_init(&out->rate, server->now_us, net_server_rate_max(server), session->rate_requested);
    out->rate.paid = net_server_sent_bytes(server, session);
    net_interest_hold(server->interest, session->client, false);
    out->repl = net_repl_state_create(server->replicator, session->client);
    net_repl_state_set_lane(out->repl, session->lane);
    if (session->is_solo) net_repl_state_use_solo(out->repl);
    net_session_open_varsize(server, session);
    if (!session->is_rebasing || net_session_begin_rebase(server, session)) return true;
    net_varsize_sender_destroy(out->varsize);
    out->varsize = NULL;
    net_repl_state_destroy(out->repl);
    out->repl = NULL;
    return false;
}

// Players that joined get a replication state, the first ones first. That gathers their scopes, so
// it is rationed by the entities in these; the last one may take more than is left. In the first
// tick of a match, and in the last, all get one. Spectators have a ration of their own.
static void admit(net_server* server, bool is_rationed) {
    const uint32_t waiting = net_server_list_sessions(server, is_waiting);
    for (uint32_t i = 0; i < 2; i++) {
        server->join_credit[i] += NET_WORK_PER_TICK;
        if (server->join_credit[i] > NET_WORK_BURST) server->join_credit[i] = NET_WORK_BURST;
    }
    const int64_t each = waiting > 0 ? expect_scope(server) : 0;
    for (uint32_t i = 0; i < waiting; i++) {
        net_session* session = server->joining[i];
        int64_t* credit = &server->join_credit[session->is_spectator];
        if (is_rationed && *credit <= 0) {
            server->counters.joins_waited += !session->is_spectator;
            continue;
        }
        if (is_rationed) *credit -= each;
        if (!create_replication(server, session)) net_session_end(server, session, NET_END_FAULT);
    }
}

static void send_player(net_server* server, net_session* session) {
    net_match* match = server->config.match;
    ecs_entity player = session->is_spectator ? net_spectator_player(server, session)
                                              : net_match_player(match, session->client);
    if (session->has_player_sent && session->player_sent == player) return;
    net_interest_set_player(server->interest, session->client, player);
    Shoal__Wire__PlayerAssigned assigned = SHOAL__WIRE__PLAYER_ASSIGNED__INIT;
    assigned.entity = player;
    uint8_t payload[32];
    size_t size = proto_encode(&assigned.base, payload, sizeof payload);
    if (net_event_outbox_push(&session->out.outbox, true, false, 0, net_match_tick(match),
                              ECS_ENTITY_NONE, payload, (uint32_t)size) != NET_OK) {
        net_session_end(server, session, NET_END_FAULT);
        return;
    }
    session->has_player_sent = true;
    session->player_sent = player;
}

static void replicate(net_server* server) {
    net_match* match = server->config.match;
    ecs_world* world = net_match_world(match);
    for (net_session* session = NULL; (session = net_server_next(server, session));)
        if (net_session_is_in_match(session)) send_player(server, session);
    pass_requests(server);
    ecs_tick tick = net_match_tick(match);
    net_replicator_step(server->replicator, world, tick);
    net_varsize_source_step(server->varsize, world, tick);
    const net_observer* observer = &server->config.observer;
    if (observer->rows) observer->rows(observer->context, match, server->replicator->history);
    // The game keeps the last seconds. What becomes of it, the program says (net_log_take_saved).
    char name[NET_SAVE_NAME_BYTES];
    if (net_match_take_save(server->config.match, name) && observer->save)
        observer->save(observer->context, name);
    server->out.event_count = server->out.event_entity_count = 0;
    base_bytes_clear(&server->out.event_bytes);
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count; i++)
        net_server_add_event(server, &changes.events[i]);
    const ecs_counters* counters = ecs_world_counters(world);
    net_server_count_gone(server, (ecs_event_type)counters->event_gone,
                          counters->events_gone - server->events_gone);
    server->events_gone = counters->events_gone;
}

// @return whether this tick is the match's last.
static bool has_ended(const net_server* server) {
    const net_match* match = server->config.match;
    const char* reason = net_match_end_reason(match);
    if (reason)
        base_report(server->config.reporter, NULL, 0, "note: the game ended the match%s%s",
                    reason[0] ? ": " : "", reason);
    return reason ||
           (server->config.ticks_max && net_match_tick(match) >= server->config.ticks_max);
}

// @return false: who steps the match ends it, and the log ends before this tick.
static bool step_match(net_server* server, const net_tick_inputs* begin) {
    net_match* match = server->config.match;
    if (server->config.step) return server->config.step(server->config.step_context, begin);
    const net_observer* observer = &server->config.observer;
    if (observer->begin) observer->begin(observer->context, begin);
    net_match_apply(match, begin);
    net_match_step(match);
    return true;
}

// Record how long this phase took.
static void note_part(net_server* server, net_part part, uint64_t* begin_us) {
    if (!server->config.clock_us) return;
    const uint64_t now_us = server->config.clock_us();
    server->part_us[part] = now_us - *begin_us;
    *begin_us = now_us;
}

// The inputs of this tick: those of the sessions, or those `given` by a match that runs elsewhere.
static net_tick_inputs gather(net_server* server, const net_tick_inputs* given) {
    net_tick_inputs inputs = {.tick = net_match_tick(server->config.match) + 1};
    if (given)
        inputs = *given;
    else
        net_server_gather(server, &inputs);
    BASE_ASSERT(inputs.tick == net_match_tick(server->config.match) + 1);
    return inputs;
}

// Sessions that are silent, dropped, new, ahead of a roster, or back from another server.
static void tend_sessions(net_server* server, const net_tick_inputs* inputs, bool is_given) {
    drop_silent(server);
    // Players that the module refused or dropped in this tick leave the match with the next one.
    net_match_dropped dropped;
    while (net_match_take_dropped(server->config.match, &dropped)) {
        net_session* session = net_server_find_number(server, dropped.client);
        if (!session || session->end != NET_END_NONE) continue;
        (void)base_text_copy(session->end_reason, sizeof session->end_reason, dropped.reason);
        net_session_end(server, session, dropped.is_refused ? NET_END_REFUSED : NET_END_GAME);
    }
    net_server_destroy_leavers(server);
    if (!is_given) {
        // The interest manager knows a player from its join on; its scope is gathered when it is
        // admitted.
        for (uint32_t i = 0; i < inputs->join_count; i++) {
            net_session* session = server->joining[i];
            if (!is_waiting(session)) continue; // it ended with the roster
            net_interest_add_client(server->interest, session->client);
            net_interest_hold(server->interest, session->client, true);
        }
    }
    net_spectators_begin(server);
    net_server_send_rosters(server, inputs);
    net_server_end_rebases(server);
}

static void run_tick(net_server* server, const net_tick_inputs* given) {
    BASE_ASSERT(server->phase == NET_SERVER_RUNNING);
    uint64_t at_us = server->config.clock_us ? server->config.clock_us() : 0;
    const net_tick_inputs inputs = gather(server, given);
    note_part(server, NET_PART_GATHER, &at_us);
    const bool is_stepped = step_match(server, &inputs);
    note_part(server, NET_PART_STEP, &at_us);
    net_server_collect(server); // up to here the net half of the tick before may still run
    note_part(server, NET_PART_COLLECT, &at_us);
    bool is_last = false;
    if (is_stepped) {
        if (!given) net_server_hold(server, inputs.tick);
        tend_sessions(server, &inputs, given != NULL);
        is_last = has_ended(server);
        net_server_look_for_slips(server, is_last);
        admit(server, inputs.tick > 1 && !is_last);
        note_part(server, NET_PART_SESSION, &at_us);
        replicate(server);
    } else {
        server->has_failed = true;
        net_server_say_goodbye(server);
    }
    ecs_changes_clear(net_match_world(server->config.match));
    note_part(server, NET_PART_ROWS, &at_us);
    if (is_stepped) net_server_hand_over(server, true);
    note_part(server, NET_PART_SEND, &at_us);
    if (is_last && server->phase == NET_SERVER_RUNNING) {
        net_server_set_phase(server, NET_SERVER_SETTLING);
        server->settle_ms_max = NET_SETTLE_MS_MAX;
    }
}

static bool is_settled(const net_server* server) {
    BASE_ASSERT(server->phase == NET_SERVER_SETTLING && !server->out.is_uncollected);
    for (const net_session* session = NULL; (session = net_server_next(server, session));) {
        // A client that is away may come back for the rest, unless it was away for too long before.
        if (session->state == NET_SESSION_AWAY && !session->is_spectator &&
            session->received_us + server->settle_ms_max * 1000u >= server->phase_us) {
            return false;
        }
        if (!session || session->state != NET_SESSION_PLAYING || !session->out.repl) continue;
        // Players do not wait long for a spectator.
        if (session->is_spectator && net_server_is_older(server, server->phase_us, NET_STOP_MS_MAX))
            continue;
        if (session->is_rebasing || !net_session_has_everything(server, session) ||
            session->out.outbox.reliable.count > 0) {
            return false;
        }
    }
    return true;
}

// The world stands still; datagrams flow until each client has everything.
static void settle(net_server* server) {
    net_server_end_rebases(server); // before the goodbye: what a client still shows ends
    if (is_settled(server) ||
        net_server_is_older(server, server->phase_us, server->settle_ms_max)) {
        net_server_say_goodbye(server);
        return;
    }
    net_server_send_due_rosters(server);
    net_server_hand_over(server, false);
}

static void flush(net_server* server) {
    server->config.transport->ops->flush(server->config.transport);
}

// A reader that follows the log knows a server without ticks from one that is dead.
static void say_alive(net_server* server) {
    const net_observer* observer = &server->config.observer;
    const bool is_empty = net_server_is_empty(server);
    const bool is_waiting = server->phase == NET_SERVER_HOLDING || net_server_is_still(server);
    const net_idle why = is_empty                              ? NET_IDLE_EMPTY
                         : is_waiting                          ? NET_IDLE_WAITING
                         : server->phase == NET_SERVER_RUNNING ? NET_IDLE_PAUSED
                                                               : NET_IDLE_SETTLING;
    const uint32_t rest_ms = !is_empty ? NET_IDLE_MS : server->idle == why ? NET_IDLE_ALIVE_MS : 0;
    if (!observer->idle || server->phase == NET_SERVER_ENDED ||
        server->now_us < server->alive_us + rest_ms * UINT64_C(1000))
        return;
    server->alive_us = server->now_us;
    server->idle = why;
    observer->idle(observer->context, why);
}

void net_server_tick(net_server* server, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(server && server->tick_us > 0);
    server->now_us = now_us;
    net_ration_report(&server->ration, now_us);
    const bool is_still = net_server_is_still(server);
    bool is_beginning =
        server->phase == NET_SERVER_HOLDING && !server->config.is_following && !is_still &&
        count_in_state(server, NET_SESSION_ACCEPTED) >= server->config.clients_min &&
        !net_server_has_unadmitted(server);
    if (is_beginning) net_server_set_phase(server, NET_SERVER_RUNNING);
    if (server->phase == NET_SERVER_RUNNING && !net_server_is_paused(server) && !is_still &&
        !server->config.is_following) {
        server->ticks_to_pause -= server->ticks_to_pause != UINT64_MAX;
        server->alive_us = now_us;
        server->idle = 0;
        run_tick(server, NULL); // the net half flushes
        if (!server->out.is_uncollected) flush(server);
        if (net_server_is_empty(server)) say_alive(server); // the loop rests now
        return;
    }
    say_alive(server);
    net_server_collect(server);
    drop_silent(server);
    net_server_destroy_leavers(server);
    switch (server->phase) {
    case NET_SERVER_SETTLING:
        settle(server);
        break;
    case NET_SERVER_LEAVING:
        if (count_in_state(server, NET_SESSION_CLOSING) == 0 ||
            net_server_is_older(server, server->phase_us, NET_LEAVE_MS_MAX) ||
            (server->end_us != 0 && server->now_us >= server->end_us)) {
            net_server_set_phase(server, NET_SERVER_ENDED);
        }
        break;
    case NET_SERVER_RUNNING: // paused: clients get the rest, and stay
        if (is_still) {
            net_server_say_still(server);
            break;
        }
        net_server_send_due_rosters(server);
        if (net_server_next(server, NULL)) net_server_hand_over(server, false);
        break;
    case NET_SERVER_HOLDING:
    case NET_SERVER_ENDED:
        break;
    }
    if (!server->out.is_uncollected) flush(server);
}

void net_server_follow(net_server* server, uint64_t now_us, const net_tick_inputs* begin) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(server->config.is_following && begin && server->phase <= NET_SERVER_RUNNING);
    server->now_us = now_us;
    net_ration_report(&server->ration, now_us);
    if (server->phase == NET_SERVER_HOLDING) net_server_set_phase(server, NET_SERVER_RUNNING);
    server->alive_us = now_us;
    run_tick(server, begin);
    if (!server->out.is_uncollected) flush(server);
}
