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
        view_warn(json, NULL, "Changes wait too long for their packet.",
                  peer->is_held ? "Its rate is the limit: raise --rate-max, or replicate less."
                                : "It acknowledges nothing, or is away.",
                  "%.1f s", waiting_s);
    if (json && is_late)
        view_warn(json, NULL, "Its inputs come too late for their tick.",
                  "Its line has much jitter; the client adds delay by itself.", "%.1f %%",
                  late * 100.0);
    if (json && is_quiet)
        view_warn(json, NULL, "Nothing came from it for a while.",
                  "It may come back by itself until it is given up.", "%.1f s",
                  (double)peer->quiet_us * 1e-6);
    if (json && peer->strikes > 0)
        view_warn(json, NULL, "It sent what breaks the protocol.",
                  "It is another version, or an attack: see the lines of the log.", "%" PRIu32,
                  peer->strikes);
    return 0u + is_losing + is_waiting + is_late + is_quiet + (peer->strikes > 0);
}

// `may_see`: what the client has of the world now.
static void put_summary(base_bytes* json, const net_live_peer* peer, bool may_see) {
    view_u32(json, "client", peer->peer.client);
    view_text(json, "name", peer->name);
    view_text(json, "kind", peer->is_spectator ? "spectator" : peer->is_bot ? "bot" : "player");
    view_text(json, "state", peer->state);
    if (may_see) view_entity(json, "player", peer->player);
    view_f64(json, "rtt_ms", peer->peer.rtt_ms);
    view_f64(json, "jitter_ms", peer->jitter_ms);
    view_f64(json, "loss_out_ratio", loss_out(peer));
    view_f64(
        json, "loss_in_ratio",
        ratio(peer->peer.inputs_missing, peer->peer.inputs_missing + peer->peer.inputs_received));
    view_f64(json, "sent_bytes_s", peer->used_bytes_s);
    view_f64(json, "rate_bytes_s", peer->rate_bytes_s);
    view_f64(json, "rate_max_bytes_s", peer->rate_max_bytes_s);
    view_bool(json, "is_held", peer->is_held);
    view_u64(json, "late_inputs", peer->peer.inputs_late);
    if (!may_see) return;
    view_u32(json, "entities", peer->entities);
    view_u32(json, "waiting", peer->waiting);
    view_f64(json, "waiting_ticks", (double)peer->waiting_ticks);
}

static void put_details(base_bytes* json, const net_live_peer* peer, bool may_see) {
    const net_peer_report* report = &peer->peer;
    view_f64(json, "since_s", (double)peer->since_us * 1e-6);
    view_f64(json, "quiet_ms", (double)peer->quiet_us * 1e-3);
    view_u32(json, "watches", peer->watched);
    view_bool(json, "is_solo", peer->is_solo);
    if (may_see) view_u64(json, "sent_tick", peer->sent_tick);
    if (may_see) view_u64(json, "acked_tick", peer->acked_tick);
    view_u64(json, "sent_bytes", peer->sent_bytes);
    view_u64(json, "packets_sent", report->packets_sent);
    view_u64(json, "packets_lost", report->packets_lost);
    view_u64(json, "state_bytes", report->state_bytes);
    view_u64(json, "rate_cuts", peer->rate_cuts);
    view_u64(json, "rate_raises", peer->rate_raises);
    view_u64(json, "inputs_received", report->inputs_received);
    view_u64(json, "inputs_missing", report->inputs_missing);
    view_u64(json, "inputs_skipped", report->inputs_skipped);
    view_u64(json, "inputs_late", report->inputs_late);
    view_u64(json, "inputs_repeated", report->inputs_repeated);
    view_u64(json, "inputs_settled", report->inputs_settled);
    view_u64(json, "inputs_malformed", report->inputs_malformed);
    view_u32(json, "input_depth", peer->input_depth);
    view_u32(json, "strikes", peer->strikes);
    view_text(json, "end", net_end_name(report->end));
}

static void put_identity(base_bytes* json, const net_live_peer* peer) {
    char text[NET_ADDRESS_TEXT_BYTES];
    if (peer->identity.address.port != 0 &&
        net_address_print(&peer->identity.address, text, sizeof text))
        view_text(json, "address", text);
    if (peer->identity.player != 0) {
        (void)base_text_format(text, sizeof text, "%" PRIu64, peer->identity.player);
        view_text(json, "player_id", text);
    }
}

void view_put_clients(base_bytes* json, server_subject* subject, const server_request* request,
                      uint32_t first, uint64_t limit) {
    uint32_t place = first;
    uint64_t rows = 0;
    bool is_cut = false;
    net_live_peer peer;
    const bool may_see = view_may_see_now(subject, request->right);
    view_open(json, NULL, '{');
    view_tick(json, subject, request);
    view_open(json, "clients", '[');
    for (uint32_t next = place; net_server_next_client(subject->server, &next, &peer);
         place = next) {
        is_cut = rows == limit || (rows > 0 && view_is_late(request));
        if (is_cut) break;
        view_open(json, NULL, '{');
        put_summary(json, &peer, may_see);
        view_u32(json, "warnings", put_warnings(NULL, subject, &peer, may_see));
        view_close(json, "}");
        rows++;
    }
    view_close(json, "]");
    view_cut_at(json, is_cut, place);
    view_close(json, "}");
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
        view_open(json, NULL, '{');
        put_summary(json, &peer, may_see);
        put_details(json, &peer, may_see);
        view_open(json, "warnings", '[');
        view_close(json, "]}");
        return true;
    }
    return false;
}

static void put_client(const server_subject* subject, const server_request* request,
                       server_answer* answer) {
    net_live_peer peer;
    const bool may_see = view_may_see_now(subject, request->right);
    base_bytes* json = answer->json;
    if (!view_find_client(subject, request, "id", &peer, answer)) {
        if (answer->status == 404 && put_gone(subject, request, json)) answer->status = 200;
        return;
    }
    view_open(json, NULL, '{');
    put_summary(json, &peer, may_see);
    put_details(json, &peer, may_see);
    if (request->right == SERVER_OPERATOR) put_identity(json, &peer);
    view_open(json, "warnings", '[');
    (void)put_warnings(json, subject, &peer, may_see);
    view_close(json, "]}");
}

static void run_clients(server_subject* subject, const server_request* request,
                        server_answer* answer) {
    uint64_t after = 0, limit = CLIENTS_DEFAULT;
    if (!server_request_number(request, "after", 0, UINT32_MAX, &after, answer) ||
        !server_request_number(request, "limit", 1, CLIENTS_MAX, &limit, answer))
        return;
    if (server_request_find(request, "id"))
        put_client(subject, request, answer);
    else
        view_put_clients(answer->json, subject, request, (uint32_t)after, limit);
}

// ---- why ----

static void put_scope(base_bytes* json, const net_explanation* it) {
    view_bool(json, "sees", it->is_in_scope);
    view_text(json, "rule", net_rule_name(it->rule));
    view_open(json, "rules", '[');
    for (uint32_t i = 0; i < NET_RULE_COUNT; i++) {
        if (it->answers[i] == NET_RULE_UNUSED) continue;
        view_open(json, NULL, '{');
        view_text(json, "rule", net_rule_name((net_rule)i));
        view_text(json, "answer", net_rule_answer_name(it->answers[i]));
        view_close(json, "}");
    }
    view_close(json, "]");
    view_u32(json, "turn_ticks", it->turn_ticks);
    if (it->distance >= 0) view_f64(json, "distance", it->distance);
    if (it->radius > 0) {
        view_f64(json, "radius", it->radius);
        view_f64(json, "leave_radius", it->leave_radius);
    }
    view_u32(json, "owner", it->owner);
    view_u32(json, "team", it->team);
    view_u32(json, "client_team", it->client_team);
    view_u64(json, "groups", it->groups);
    view_u64(json, "client_groups", it->client_groups);
    view_u32(json, "looks_as", it->looks_as);
}

static void put_sending(base_bytes* json, const net_explanation* it) {
    view_text(json, "has", net_has_name(it->has));
    view_u64(json, "entered_tick", it->entered);
    view_u64(json, "changed_tick", it->changed);
    view_u64(json, "acked_tick", it->acked_tick);
    view_u64(json, "base_tick", it->base_tick);
    view_u32(json, "packets_flying", it->packets_flying);
    view_bool(json, "waits", it->waits);
    view_bool(json, "is_repeat", it->is_repeat);
    view_bool(json, "is_resync", it->is_resync);
    view_bool(json, "is_overdue", it->is_overdue);
    view_u64(json, "waits_since_tick", it->waits_since);
    view_u32(json, "priority", it->weight);
    view_u32(json, "rank", it->rank);
    view_u32(json, "waiting", it->waiting);
    view_text(json, "held", net_held_text(it->held));
    if (it->has_packet) {
        view_open(json, "packet", '{');
        view_u32(json, "seq", it->packet_seq);
        view_u64(json, "tick", it->packet_tick);
        view_text(json, "state",
                  it->is_packet_acked  ? "acknowledged"
                  : it->is_packet_lost ? "lost"
                                       : "flying");
        view_close(json, "}");
    }
    view_u64(json, "newest_packet_tick", it->newest_packet_tick);
}

static void put_components(base_bytes* json, const net_explanation* it) {
    view_open(json, "components", '[');
    for (uint32_t i = 0; i < it->component_count; i++) {
        const net_explained_component* component = &it->components[i];
        view_open(json, NULL, '{');
        view_text(json, "name", component->name);
        view_text(json, "class", component->class_name ? component->class_name : "");
        view_bool(json, "visible", component->is_visible);
        view_bool(json, "varsize", component->is_varsize);
        view_bool(json, "waits", component->waits);
        view_bool(json, "unconfirmed", component->is_unconfirmed);
        view_close(json, "}");
    }
    view_close(json, "]");
}

static void run_why(server_subject* subject, const server_request* request, server_answer* answer) {
    net_live_peer peer;
    ecs_entity entity;
    net_explanation it;
    if (!view_may_look(subject, request, answer) ||
        !view_find_client(subject, request, "id", &peer, answer) ||
        !view_find_entity(subject, request, "entity", false, &entity, answer))
        return;
    if (!net_server_explain(subject->server, peer.peer.client, entity, &it)) {
        server_answer_error(answer, 409, "client %" PRIu32 " has not begun to play",
                            peer.peer.client);
        return;
    }
    base_bytes* json = answer->json;
    view_open(json, NULL, '{');
    view_u32(json, "client", it.client);
    view_entity(json, "entity", it.entity);
    view_text(json, "template", it.template_name ? it.template_name : "");
    view_u64(json, "tick", it.tick);
    put_scope(json, &it);
    put_sending(json, &it);
    put_components(json, &it);
    view_close(json, "}");
}

static const server_verb verbs[] = {
    {"clients", "[id] [after] [limit]", "who is here; with a client's number all of it",
     SERVER_READER, false, 0, run_clients},
    {"why", "id entity", "why a client has an entity, or not, and what waits", SERVER_READER, false,
     0, run_why},
};
const server_verb_set server_client_verbs = {verbs, BASE_COUNT(verbs)};
