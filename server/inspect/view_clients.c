// SPDX-License-Identifier: MIT
// Who is here, how well the network does for each, and why a client has an entity or not.
#include "view.h"

#include "base/text.h"
#include "net/explain.h"
#include "net/token.h"

#include <inttypes.h>

enum { CLIENTS_DEFAULT = 100, CLIENTS_MAX = 4096 };

// What is worth a warning.
#define LOSS_BAD 0.05
#define WAITING_BAD_S 1.0
#define LATE_BAD 0.05

static double ratio(uint64_t part, uint64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static double loss_out(const net_live_peer* peer) {
    return ratio(peer->lost, peer->lost + peer->acked);
}

// @return how many; json NULL: they are counted only.
static uint32_t put_warnings(base_bytes* json, const server_subject* subject,
                             const net_live_peer* peer, bool may_see) {
    const double waiting_s = (double)peer->waiting_ticks / (double)subject->tick_rate_hz;
    const double late = ratio(peer->peer.inputs_late, peer->peer.inputs_received);
    const bool is_losing = loss_out(peer) > LOSS_BAD, is_late = late > LATE_BAD;
    const bool is_waiting = may_see && waiting_s > WAITING_BAD_S;
    const bool is_quiet = peer->quiet_us > NET_QUIET_MS_MAX * UINT64_C(1000);
    if (json && is_losing)
        view_warn(json, NULL, "State packets are lost on the way to this client.",
                  "Its line is bad or full: a lower --rate-max helps when it is full.", "%.1f %%",
                  loss_out(peer) * 100.0);
    if (json && is_waiting)
        view_warn(json, NULL, "Changes wait too long to be sent.",
                  peer->is_held ? "Its rate is the limit: raise --rate-max, or replicate less."
                                : "It acknowledges nothing, or is disconnected.",
                  "%.1f s", waiting_s);
    if (json && is_late)
        view_warn(json, NULL, "Its inputs come too late for their tick.",
                  "Its line has much jitter; the client adds delay by itself.", "%.1f %%",
                  late * 100.0);
    if (json && is_quiet)
        view_warn(json, NULL, "No packet arrived from it for a while.",
                  "It may reconnect until it is dropped.", "%.1f s", (double)peer->quiet_us * 1e-6);
    if (json && peer->strikes > 0)
        view_warn(json, NULL, "It violated the protocol.",
                  "It is another version, or an attack: see the lines of the log.", "%" PRIu32,
                  peer->strikes);
    return 0u + is_losing + is_waiting + is_late + is_quiet + (peer->strikes > 0);
}

// `may_see`: what the client has of the world now.
static void put_summary(base_bytes* json, const net_live_peer* peer, bool may_see) {
    base_json_write(json, "client=%u name=%s kind=%s state=%s", peer->peer.client, peer->name,
                    peer->is_spectator ? "spectator"
                    : peer->is_bot     ? "bot"
                                       : "player",
                    peer->state);
    if (may_see) base_json_write(json, "player=%s", VIEW_ENTITY(peer->player));
    base_json_write(
        json,
        "rtt_ms=%f jitter_ms=%f loss_out_ratio=%f loss_in_ratio=%f sent_bytes_s=%f rate_bytes_s=%f "
        "rate_max_bytes_s=%f is_held=%i late_inputs='%ju'",
        peer->peer.rtt_ms, peer->jitter_ms, loss_out(peer),
        ratio(peer->peer.inputs_missing, peer->peer.inputs_missing + peer->peer.inputs_received),
        peer->used_bytes_s, peer->rate_bytes_s, peer->rate_max_bytes_s, peer->is_held,
        peer->peer.inputs_late);
    if (!may_see) return;
    base_json_write(json, "entities=%u waiting=%u waiting_ticks=%f", peer->entities, peer->waiting,
                    (double)peer->waiting_ticks);
}

static void put_details(base_bytes* json, const net_live_peer* peer, bool may_see) {
    const net_peer_report* report = &peer->peer;
    base_json_write(json, "since_s=%f quiet_ms=%f watches=%u is_solo=%i",
                    (double)peer->since_us * 1e-6, (double)peer->quiet_us * 1e-3, peer->watched,
                    peer->is_solo);
    if (may_see)
        base_json_write(json, "sent_tick='%ju' acked_tick='%ju'", peer->sent_tick,
                        peer->acked_tick);
    base_json_write(json,
                    "sent_bytes='%ju' packets_sent='%ju' packets_lost='%ju' state_bytes='%ju' "
                    "rate_cuts='%ju' rate_raises='%ju' inputs_received='%ju' inputs_missing='%ju' "
                    "inputs_skipped='%ju' inputs_late='%ju' inputs_repeated='%ju' "
                    "inputs_settled='%ju' inputs_malformed='%ju' input_depth=%u strikes=%u end=%s",
                    peer->sent_bytes, report->packets_sent, report->packets_lost,
                    report->state_bytes, peer->rate_cuts, peer->rate_raises,
                    report->inputs_received, report->inputs_missing, report->inputs_skipped,
                    report->inputs_late, report->inputs_repeated, report->inputs_settled,
                    report->inputs_malformed, peer->input_depth, peer->strikes,
                    net_end_name(report->end));
}

void view_put_clients(base_bytes* json, server_subject* subject, const server_request* request,
                      uint32_t first, uint64_t limit) {
    uint32_t place = first;
    uint64_t rows = 0;
    bool is_cut = false;
    net_live_peer peer;
    const bool may_see = view_may_see_now(subject, request->right);
    base_json_write(json, "{tick='%ju' clients=[", view_tick_of(subject, request));
    for (uint32_t next = place; net_server_next_client(subject->server, &next, &peer);
         place = next) {
        is_cut = rows == limit || (rows > 0 && view_is_late(request));
        if (is_cut) break;
        base_json_write(json, "{");
        put_summary(json, &peer, may_see);
        base_json_write(json, "warnings=%u}", put_warnings(NULL, subject, &peer, may_see));
        rows++;
    }
    base_json_write(json, "]");
    view_cut_at(json, is_cut, place);
    base_json_write(json, "}");
}

// One that is gone has its report.
static bool put_gone(const server_subject* subject, const server_request* request,
                     base_bytes* json) {
    uint64_t client = 0;
    const bool may_see = view_may_see_now(subject, request->right);
    if (!base_text_parse_u64(server_request_find(request, "id"), &client)) return false;
    for (uint32_t i = net_server_report_count(subject->server); i > 0; i--) {
        const net_peer_report* report = net_server_report(subject->server, i - 1);
        if (report->client != client || report->end == NET_END_NONE) continue;
        const net_live_peer peer = {.peer = *report,
                                    .name = "",
                                    .state = "gone",
                                    .acked = report->packets_sent - report->packets_lost,
                                    .lost = report->packets_lost,
                                    .is_spectator = client >= NET_SPECTATOR_FIRST};
        base_bytes_clear(json);
        base_json_write(json, "{");
        put_summary(json, &peer, may_see);
        put_details(json, &peer, may_see);
        base_json_write(json, "warnings=[]}");
        return true;
    }
    return false;
}

static void put_client(const server_subject* subject, const server_request* request) {
    net_live_peer peer;
    const bool may_see = view_may_see_now(subject, request->right);
    base_bytes* json = request->answer->json;
    if (!view_find_client(subject, request, "id", &peer)) {
        if (request->answer->status == 404 && put_gone(subject, request, json))
            request->answer->status = 200;
        return;
    }
    base_json_write(json, "{");
    put_summary(json, &peer, may_see);
    put_details(json, &peer, may_see);
    if (request->right == SERVER_OPERATOR) {
        char text[NET_ADDRESS_TEXT_BYTES];
        if (peer.identity.address.port != 0 &&
            net_address_print(&peer.identity.address, text, sizeof text))
            base_json_write(json, "address=%s", text);
        if (peer.identity.player != 0)
            base_json_write(json, "player_id='%ju'", peer.identity.player);
    }
    base_json_write(json, "warnings=[");
    (void)put_warnings(json, subject, &peer, may_see);
    base_json_write(json, "]}");
}

static void run_clients(server_subject* subject, const server_request* request) {
    uint64_t after = 0, limit = CLIENTS_DEFAULT;
    if (!server_request_number(request, "after", 0, UINT32_MAX, &after) ||
        !server_request_number(request, "limit", 1, CLIENTS_MAX, &limit))
        return;
    if (server_request_find(request, "id"))
        put_client(subject, request);
    else
        view_put_clients(request->answer->json, subject, request, (uint32_t)after, limit);
}

// ---- why ----

static void put_scope(base_bytes* json, const net_explanation* it) {
    base_json_write(json, "sees=%i rule=%s rules=[", it->is_in_scope, net_rule_name(it->rule));
    for (uint32_t i = 0; i < NET_RULE_COUNT; i++) {
        if (it->answers[i] == NET_RULE_UNUSED) continue;
        base_json_write(json, "{rule=%s answer=%s}", net_rule_name((net_rule)i),
                        net_rule_answer_name(it->answers[i]));
    }
    base_json_write(json, "] turn_ticks=%u", it->turn_ticks);
    if (it->distance >= 0) base_json_write(json, "distance=%f", it->distance);
    if (it->radius > 0)
        base_json_write(json, "radius=%f leave_radius=%f", it->radius, it->leave_radius);
    base_json_write(
        json, "owner=%u team=%u client_team=%u groups='%ju' client_groups='%ju' looks_as=%u",
        it->owner, it->team, it->client_team, it->groups, it->client_groups, it->looks_as);
}

static void run_why(server_subject* subject, const server_request* request) {
    net_live_peer peer;
    ecs_entity entity;
    net_explanation it;
    if (!view_may_look(subject, request) || !view_find_client(subject, request, "id", &peer) ||
        !view_find_entity(subject, request, "entity", false, &entity))
        return;
    if (!net_server_explain(subject->server, peer.peer.client, entity, &it)) {
        server_refuse(request, 409, "client %" PRIu32 " has not begun to play", peer.peer.client);
        return;
    }
    base_bytes* json = request->answer->json;
    base_json_write(json, "{client=%u entity=%s template=%s tick='%ju'", it.client,
                    VIEW_ENTITY(it.entity), it.template_name, it.tick);
    put_scope(json, &it);
    base_json_write(json,
                    "has=%s entered_tick='%ju' changed_tick='%ju' acked_tick='%ju' base_tick='%ju' "
                    "packets_flying=%u waits=%i is_repeat=%i is_resync=%i is_overdue=%i "
                    "waits_since_tick='%ju' priority=%u rank=%u waiting=%u held=%s",
                    net_has_name(it.has), it.entered, it.changed, it.acked_tick, it.base_tick,
                    it.packets_flying, it.waits, it.is_repeat, it.is_resync, it.is_overdue,
                    it.waits_since, it.weight, it.rank, it.waiting, net_held_text(it.held));
    if (it.has_packet)
        base_json_write(json, "packet={seq=%u tick='%ju' state=%s}", it.packet_seq, it.packet_tick,
                        it.is_packet_acked  ? "acknowledged"
                        : it.is_packet_lost ? "lost"
                                            : "flying");
    base_json_write(json, "newest_packet_tick='%ju'", it.newest_packet_tick);
    base_json_write(json, "components=[");
    for (uint32_t i = 0; i < it.component_count; i++) {
        const net_explained_component* component = &it.components[i];
        base_json_write(json, "{name=%s class=%s visible=%i varsize=%i waits=%i unconfirmed=%i}",
                        component->name, component->class_name, component->is_visible,
                        component->is_varsize, component->waits, component->is_unconfirmed);
    }
    base_json_write(json, "]");
    base_json_write(json, "}");
}

static const server_verb verbs[] = {
    {"clients", "[id] [after] [limit]", "the clients; with a number, all about that one",
     SERVER_READER, false, 0, run_clients},
    {"why", "id entity", "why a client has an entity, or not, and what waits", SERVER_READER, false,
     0, run_why},
};
const server_verb_set server_client_verbs = {verbs, BASE_COUNT(verbs)};
