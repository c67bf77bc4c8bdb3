// SPDX-License-Identifier: MIT
// Peer reports.
//
// Tick and scope stand in a report only when the client certainly has that tick too: a person or a
// test compares them with the client's own line, and must never meet a pair that only looks like
// one. A client that never joined has nothing, at tick 0.

#include "core/fault.h"
#include "replicate/repl_state.h"
#include "server/server_state.h"
#include "state/schema.h"
#include "state/varsize.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

// A place for one more report.
static uint32_t find_place(net_server* server) {
    if (server->report_count < NET_REPORTS_MAX) {
        BASE_ARRAY_RESERVE(server->allocator, server->reports, server->report_capacity,
                           server->report_count + 1);
        return server->report_count++;
    }
    _Static_assert(NET_REPORTS_MAX > NET_CLIENTS_MAX,
                   "open sessions alone must not fill the reports");
    uint32_t place;
    do {
        place = server->report_next;
        server->report_next = (server->report_next + 1) % NET_REPORTS_MAX;
    } while (server->reports[place].end == NET_END_NONE);
    return place;
}

void net_session_open_report(net_server* server, net_session* session) {
    BASE_ASSERT(session->report == UINT32_MAX && session->client == 0);
    uint32_t place = find_place(server);
    session->report = place;
    BASE_ASSERT(session->is_spectator || server->clients_named + 1 < NET_SPECTATOR_FIRST);
    session->client = session->is_spectator ? NET_SPECTATOR_FIRST + server->spectators_named++
                                            : ++server->clients_named;
    server->reports[place] = (net_peer_report){.client = session->client};
}

void net_session_add_dropped(const net_session* session, uint64_t dropped[NET_DROP_COUNT]) {
    dropped[NET_DROP_DUPLICATE] += session->received.duplicates;
    dropped[NET_DROP_OLD] += session->received.old;
    dropped[NET_DROP_ACK_FORGED] += session->out.sent.forged;
    dropped[NET_DROP_ACK_STALE] += session->out.sent.stale;
    dropped[NET_DROP_INPUT_KNOWN] += session->inputs.duplicate;
    dropped[NET_DROP_INPUT_SKIPPED] += session->inputs.skipped;
    dropped[NET_DROP_INPUT_SETTLED] += session->inputs.settled;
    dropped[NET_DROP_EVENT_KNOWN] += session->inbox.known;
    dropped[NET_DROP_EVENT_FULL] += session->inbox.full;
    dropped[NET_DROP_EVENT_WAITED] += session->inbox.dropped;
    dropped[NET_DROP_EVENT_QUEUE] += session->out.events_refused;
    dropped[NET_DROP_EVENT_UNSEEN] += session->out.events_unseen;
}

// The client acknowledged its newest packet, and everything before it.
static bool is_known(const net_server* server, const net_session* session) {
    if (net_fault_is_planted(NET_FAULT_SAY_EARLY)) return true;
    const net_session_out* out = &session->out;
    return server->out.tick == net_match_tick(server->config.match) && out->repl &&
           out->sent.has_ack && (int16_t)(uint16_t)(out->sent.newest_acked - out->tick_seq) >= 0 &&
           net_repl_state_is_settled(out->repl) && net_varsize_sender_is_settled(out->varsize);
}

bool net_session_has_everything(const net_server* server, const net_session* session) {
    return is_known(server, session) && session->out.tick_sent == server->out.tick;
}

uint32_t net_session_classes_seen(void* repl, ecs_entity entity) {
    uint32_t classes = 0;
    return net_repl_state_sees(repl, entity, &classes) ? classes : 0;
}

static int compare_indices(const void* a, const void* b) {
    const ecs_entity *x = a, *y = b;
    return (ecs_entity_index(*x) > ecs_entity_index(*y)) -
           (ecs_entity_index(*x) < ecs_entity_index(*y));
}

// May a scope of so many entities be walked now? Counts the walk.
static bool may_walk(net_server* server, uint32_t entities) {
    // At the end of a match every client is reported, and no tick waits.
    if (server->phase != NET_SERVER_RUNNING) return true;
    uint64_t tick = net_match_tick(server->config.match);
    uint64_t credit = server->walk_credit + (tick - server->walk_tick) * NET_WALK_PER_TICK;
    server->walk_credit = credit < NET_WALK_BURST ? credit : NET_WALK_BURST;
    server->walk_tick = tick;
    if (server->walk_credit < entities && entities < NET_WALK_BURST) return false;
    server->walk_credit -= entities < server->walk_credit ? entities : server->walk_credit;
    return true;
}

// The digest of a scope, at the cost of its entities. @return false: not now.
static bool walk_scope(net_server* server, const net_session* session, net_world_digest* scope) {
    net_repl_state* repl = session->out.repl;
    const uint32_t count = repl->member_count;
    net_match* match = server->config.match;
    if (!may_walk(server, count)) return false;
    ecs_entity* entities = base_allocate(server->allocator, (count + 1) * sizeof *entities);
    net_repl_state_list(repl, entities);
    qsort(entities, count, sizeof *entities, compare_indices);
    *scope = net_world_digest_walk_list(net_match_schema(match), net_match_world(match), entities,
                                        count, net_session_classes_seen, repl);
    base_release(server->allocator, entities, (count + 1) * sizeof *entities);
    return true;
}

void net_session_fill_report(const net_session* session, net_peer_report* report) {
    if (session->out.repl) {
        const net_repl_state_counters* counters = &session->out.repl->counters;
        report->packets_sent = counters->packets;
        report->packets_lost = counters->packets_lost;
        report->state_bytes = (counters->bits + 7) / 8;
    }
    const net_input_queue* inputs = &session->inputs;
    report->inputs_received = inputs->received;
    report->inputs_late = inputs->missing + inputs->skipped + inputs->late;
    report->inputs_repeated = inputs->repeated;
    report->inputs_missing = inputs->missing;
    report->inputs_skipped = inputs->skipped;
    report->inputs_settled = inputs->settled;
    report->rtt_ms = (double)net_ack_sender_rtt_us(&session->out.sent) / 1000.0;
}

const char* net_server_who(uint32_t client, const char* name, char text[NET_WHO_BYTES]) {
    char quoted[BASE_SHOWN_QUOTED_BYTES(NET_PLAYER_NAME_BYTES_MAX)];
    (void)base_text_format(text, NET_WHO_BYTES, "%s %u %s",
                           client < NET_SPECTATOR_FIRST ? "client" : "spectator", client,
                           name ? base_shown_quote(quoted, sizeof quoted, name) : "(gone)");
    return text;
}

// " from ADDRESS"; "" when the transport knows none.
static void address_of(const net_session* session, char* text, size_t text_bytes) {
    char address[NET_ADDRESS_TEXT_BYTES];
    text[0] = 0;
    if (session->identity.address.port != 0 &&
        net_address_print(&session->identity.address, address, sizeof address))
        (void)base_text_format(text, text_bytes, " from %s", address);
}

void net_session_report_joined(net_server* server, const net_session* session) {
    char from[NET_ADDRESS_TEXT_BYTES + 8], who[NET_WHO_BYTES];
    address_of(session, from, sizeof from);
    base_report(net_ration_take(&server->ration, NET_RATION_JOINED, server->now_us), NULL, 0,
                "note: %s joined%s", net_server_who(session->client, session->name, who), from);
}

void net_session_report_refused(net_server* server, const net_session* session, const char* text) {
    char from[NET_ADDRESS_TEXT_BYTES + 8];
    address_of(session, from, sizeof from);
    base_report(net_ration_take(&server->ration, NET_RATION_REFUSED, server->now_us), NULL, 0,
                "note: a client%s was refused: %s", from, text);
}

uint64_t net_session_scope_hash(const net_server* server, const net_session* session) {
    if (session->report == UINT32_MAX) return 0;
    const net_peer_report* report = &server->reports[session->report];
    const bool is_known = report->client == session->client && report->tick != 0 &&
                          report->tick == net_match_tick(server->config.match);
    return is_known ? report->scope.hash : 0;
}

// Writes past tracking. A look compares so few values that it costs less than a hundredth of a
// tick; all of a world are seen within seconds. What it finds is watched for a while, to learn
// which system writes it.
enum { SLIP_ROWS_MIN = 16, SLIP_SHARE = 64, SLIP_WATCH_TICKS = 120 };

static void report_slip(net_server* server, ecs_slip slip, const char* system) {
    const ecs_world* world = net_match_world(server->config.match);
    server->slips.said[slip.component / 64] |= UINT64_C(1) << slip.component % 64;
    const char* is_a = ecs_entity_template_name(world, slip.entity);
    base_report(server->config.reporter, NULL, NET_FOUND_SLIP,
                "warning: component %s of entity %u:%u (%s) was written past its tracking by %s%s, "
                "in tick %llu: clients and the log do not have it; write it by a column that is "
                "not const or by ecs_get_mut, and keep no pointers to values",
                ecs_component_get(world, slip.component)->name, ecs_entity_index(slip.entity),
                ecs_entity_generation(slip.entity), is_a ? is_a : "gone",
                system ? "system " : "a part of the game that is not known", system ? system : "",
                (unsigned long long)net_match_tick(server->config.match));
}

void net_server_look_for_slips(net_server* server, bool is_last) {
    ecs_world* world = net_match_world(server->config.match);
    net_server_slips* slips = &server->slips;
    const ecs_tick tick = net_match_tick(server->config.match);
    if (slips->watched.entity != ECS_ENTITY_NONE) {
        const char* system;
        const bool is_known = ecs_inspect_followed(world, &system);
        if (!is_known && !is_last && tick < slips->since + SLIP_WATCH_TICKS) return;
        report_slip(server, slips->watched, system);
        slips->watched.entity = ECS_ENTITY_NONE;
        ecs_inspect_follow(world, slips->watched);
    }
    const ecs_slip slip = ecs_inspect_slips(
        world, is_last ? UINT32_MAX : SLIP_ROWS_MIN + ecs_world_entity_count(world) / SLIP_SHARE);
    if (slip.entity == ECS_ENTITY_NONE ||
        (slips->said[slip.component / 64] >> slip.component % 64 & 1) != 0)
        return;
    if (is_last) {
        report_slip(server, slip, NULL);
        return;
    }
    slips->watched = slip;
    slips->since = tick;
    ecs_inspect_follow(world, slip);
}

// The entity with an index, and the component at a position of its layout + 1.
void net_session_report_differs(net_server* server, const net_session* session, uint32_t reason) {
    if (session->report == UINT32_MAX) return;
    net_peer_report* report = &server->reports[session->report];
    if (report->client != session->client || report->differs) return;
    report->differs = true;
    ecs_world* world = net_match_world(server->config.match);
    char who[NET_WHO_BYTES];
    (void)net_server_who(session->client, session->name, who);
    if (reason >> 8 == 0) { // what it has is as we sent it
        base_report(server->config.reporter, NULL, 0,
                    "%s: its world differs in tick %" PRIu64
                    ", though it has all as it was sent: a value was written past its tracking",
                    who, net_match_tick(server->config.match));
        return;
    }
    const uint32_t index = reason >> 16, component = reason >> 8 & 0xff;
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    while (entity != ECS_ENTITY_NONE && ecs_entity_index(entity) != index)
        entity = ecs_entity_next(world, entity);
    const net_row_template* row_template =
        entity == ECS_ENTITY_NONE
            ? NULL
            : net_rows_find(net_schema_rows(net_match_schema(server->config.match)),
                            ecs_entity_template(world, entity));
    const char* name = "-";
    if (row_template && component > 0 && component <= row_template->layout.component_count)
        name = ecs_component_get(
                   world, (ecs_component_id)row_template->layout.components[component - 1].key)
                   ->name;
    base_report(server->config.reporter, NULL, 0,
                "%s: its world differs in tick %" PRIu64 ": entity %u:%u (%s), component %s", who,
                net_match_tick(server->config.match), index, ecs_entity_generation(entity),
                row_template ? ecs_template_get(world, row_template->id)->name : "not known", name);
}

void net_server_report_difference(net_server* server, uint32_t client, ecs_entity entity) {
    ecs_world* world = net_match_world(server->config.match);
    const char* is_a = ecs_entity_template_name(world, entity);
    const char* name = net_match_player_name(server->config.match, client);
    char who[NET_WHO_BYTES];
    base_report(net_ration_take(&server->ration, NET_RATION_DIFFERS, server->now_us), NULL, 0,
                "note: %s: entity %u:%u (%s) is not as we have it, by tick %" PRIu64 ": sent again",
                net_server_who(client, name, who), ecs_entity_index(entity),
                ecs_entity_generation(entity), is_a ? is_a : "gone here",
                net_match_tick(server->config.match));
}

void net_session_close_report(net_server* server, net_session* session, net_end end) {
    BASE_ASSERT(end != NET_END_NONE && session->end == NET_END_NONE);
    net_session_add_dropped(session, server->counters.dropped);
    if (session->report != UINT32_MAX) {
        net_peer_report* report = &server->reports[session->report];
        BASE_ASSERT(report->client == session->client && report->end == NET_END_NONE);
        report->end = end;
        const bool has_tick = is_known(server, session);
        report->is_caught_up = has_tick || !session->out.repl;
        report->scope = net_world_digest_empty();
        // Nothing of its scope changed since: the world's present scope is that of its tick.
        if (has_tick && walk_scope(server, session, &report->scope))
            report->tick = session->out.tick_sent;
        else if (has_tick)
            net_server_drop(server, NET_DROP_REPORT_SCOPE, 1);
        net_session_fill_report(session, report);
    }
    if (net_session_has_player(session)) session->must_leave_match = true;
    session->end = end;
    server->counters.ended[end] += session->client != 0;
    if (end == NET_END_GOODBYE || session->client == 0) return;
    char who[NET_WHO_BYTES];
    (void)net_server_who(session->client, session->name, who);
    if (end == NET_END_LEFT || end == NET_END_TRANSFERRED) {
        base_report(net_ration_take(&server->ration, NET_RATION_LEFT, server->now_us), NULL, 0,
                    "note: %s left%s", who, end == NET_END_TRANSFERRED ? " for another match" : "");
        return;
    }
    server->counters.drops++;
    const base_reporter* reporter =
        net_ration_take(&server->ration, NET_RATION_DROPPED, server->now_us);
    if (end == NET_END_BEHIND) {
        net_match* match = server->config.match;
        const net_message* message =
            &net_match_get_config(match)->module->game->messages[session->out.event_refused - 1];
        const char* system = ecs_inspect_sender(
            net_match_world(match), ecs_event_find(net_match_world(match), message->event));
        base_report(reporter, NULL, NET_FOUND_DROPPED,
                    "%s dropped: the game sends too many events: %u wait for it, and one more %s "
                    "has no room%s%s: send fewer, or not reliably",
                    who, NET_EVENTS_RELIABLE_MAX, message->name,
                    system ? "; last sent by system " : "", system ? system : "");
        return;
    }
    base_report(reporter, NULL, NET_FOUND_DROPPED, "%s dropped: %s%s%s", who, net_end_text(end),
                session->end_reason[0] ? ": " : "", session->end_reason);
}

// What a server traces of its sessions. Without a trace each call costs one branch.

const char* net_session_state_name(net_session_state state) {
    static const char* const NAMES[NET_SESSION_STATE_COUNT] = {
        "free", "greeting", "asked", "accepted", "playing", "away", "closing"};
    BASE_ASSERT(state < NET_SESSION_STATE_COUNT);
    return NAMES[state];
}

static void trace(const net_server* server, const net_trace_event* event) {
    server->config.session_trace(server->config.session_trace_context, event);
}

void net_session_trace_state(const net_server* server, const net_session* session,
                             net_session_state to, const char* reason) {
    if (!server->config.session_trace) return;
    trace(server, &(net_trace_event){.kind = NET_TRACE_STATE,
                                     .now_us = server->now_us,
                                     .client = session->client,
                                     .peer = session->peer,
                                     .from = net_session_state_name(session->state),
                                     .to = net_session_state_name(to),
                                     .reason = reason});
}

void net_session_trace_packet(const net_server* server, const net_session* session, uint64_t now_us,
                              net_trace_kind kind, const char* name, uint32_t number,
                              size_t bytes) {
    if (!server->config.session_trace) return;
    trace(server, &(net_trace_event){.kind = kind,
                                     .now_us = now_us,
                                     .client = session->client,
                                     .peer = session->peer,
                                     .name = name,
                                     .number = number,
                                     .bytes = (uint32_t)bytes});
}
