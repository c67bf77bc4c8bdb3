// SPDX-License-Identifier: MIT
// Checks at the end of a session and of the match: each client has what the server says it should
// have, no packet was malformed, no handle leaked, and the bandwidth accounting has every bit.
#include "internal.h"

#include "net/explain.h"

#include <inttypes.h>

// The references to missing entities must be exactly the handles that the mirror keeps.
static uint32_t count_dangling(member* one) {
    swarm_context* context = net_match_context(one->match);
    ecs_world* world = net_match_world(one->match);
    ecs_entity seen[256];
    uint32_t count = 0;
    ecs_query_iter iter = ecs_query_begin(world, context->targets);
    while (ecs_query_next(&iter)) {
        const ecs_entity* targets = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            if (targets[i] == ECS_ENTITY_NONE || ecs_is_alive(world, targets[i])) continue;
            bool is_new = true;
            for (uint32_t k = 0; k < count && is_new; k++)
                is_new = seen[k] != targets[i];
            if (is_new && count < BASE_COUNT(seen)) seen[count++] = targets[i];
        }
    }
    return count;
}

static const net_peer_report* find_report(const scenario* self, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* report = net_server_report(self->server, i);
        if (report->client == client) return report;
    }
    return NULL;
}

// Checks for every client that played, whatever ended its session.
static void check_session(scenario* self, member* one) {
    const net_client_report* report = &one->report;
    if (one->cut_client && report->client != one->cut_client) {
        scenario_fail(self, "session check: client %" PRIu32 " came back as client %" PRIu32,
                      one->cut_client, report->client);
    }
    net_client_meter meter;
    net_client_get_meter(one->client, &meter);
    self->result.counts.resumes += meter.resumes;
    if (one->cut_client && report->end == NET_CLIENT_END_GOODBYE && meter.resumes == 0)
        scenario_fail(self, "session check: client %" PRIu32 " never noticed that its line was cut",
                      report->client);
    const swarm_context* context = net_match_context(one->match);
    if (context->ping_faults) {
        scenario_fail(self, "event check: client %" PRIu32 " missed or doubled a reliable event",
                      report->client);
    }
    if (report->bad_transitions)
        scenario_fail(self, "state check: %" PRIu64 " bad transitions", report->bad_transitions);
    if (report->dropped[NET_DROP_MALFORMED]) {
        scenario_fail(self, "decode check: client %" PRIu32 " could not decode %" PRIu64 " packets",
                      report->client, report->dropped[NET_DROP_MALFORMED]);
    }
    self->result.counts.resyncs += report->resyncs_requested;
    if (report->probes_differing && !one->is_corrupted) {
        scenario_fail(self,
                      "probe check: client %" PRIu32 " differs from %" PRIu64 " of %" PRIu64
                      " checksums",
                      report->client, report->probes_differing, report->probes);
    }
}

static void check_ghosts(scenario* self, member* one, const tick_rows* rows) {
    const ecs_world* world = net_match_world(one->match);
    for (uint32_t i = 0; i < INDEX_MAX; i++) {
        ecs_entity entity = one->entity_handles[i];
        if (entity == ECS_ENTITY_NONE || !ecs_is_alive(world, entity)) continue;
        const row_record* row = find_row(rows, entity);
        if (row && row->classes[place_of(one->report.client)]) continue;
        scenario_fail(self, "ghost check: client %" PRIu32 " still has entity %" PRIu32 ":%" PRIu32,
                      one->report.client, ecs_entity_index(entity), ecs_entity_generation(entity));
    }
}

static void check_text(scenario* self, member* one, ecs_entity entity, ecs_component_id component,
                       const char* hidden) {
    const swarm_context* context = net_match_context(one->match);
    const ecs_string* has = ecs_find(net_match_world(one->match), entity, component);
    const ecs_string* real = ecs_find(net_match_world(self->match), entity, component);
    if (!has || !real) return; // the templates are compared by the scope hash
    self->result.counts.texts_checked++;
    const char* should = hidden ? hidden : ecs_string_text(real);
    if (strcmp(ecs_string_text(has), should) == 0) return;
    scenario_fail(self, "varsize check: client %" PRIu32 " has another %s of entity %" PRIu32,
                  one->report.client, component == context->note ? "note" : "diary",
                  ecs_entity_index(entity));
}

static void check_texts(scenario* self, member* one, const tick_rows* rows) {
    if (!self->config.is_wild) return;
    const swarm_context* context = net_match_context(one->match);
    uint32_t vault = net_rows_class(self->server->rows, "vault");
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t classes = rows->rows[i].classes[place_of(one->report.client)];
        ecs_entity entity = rows->rows[i].entity;
        if (!classes || !ecs_is_alive(net_match_world(one->match), entity)) continue;
        check_text(self, one, entity, context->note, NULL);
        check_text(self, one, entity, context->diary, classes >> vault & 1 ? NULL : "shut");
    }
}

static void check_caught_up(scenario* self, member* one, const net_peer_report* peer) {
    const net_client_report* report = &one->report;
    if (peer->tick != report->tick) {
        scenario_fail(self,
                      "settle check: client %" PRIu32 " ends at tick %" PRIu64
                      ", the server at %" PRIu64,
                      report->client, report->tick, peer->tick);
    }
    const tick_rows* rows = find_tick(self, peer->tick);
    if (rows && place_of(report->client) < NUMBERS_MAX) {
        check_ghosts(self, one, rows);
        check_texts(self, one, rows);
    }
    if (peer->scope.hash != report->scope.hash || peer->scope.entities != report->scope.entities) {
        scenario_fail(self,
                      "%s check: client %" PRIu32 " holds %" PRIu32 " entities, the server %" PRIu32
                      ", hashes differ",
                      one->is_corrupted ? "resync" : "hash", report->client, report->scope.entities,
                      peer->scope.entities);
    }
    if (one->is_corrupted && report->resyncs_requested == 0)
        scenario_fail(self, "resync check: client %" PRIu32 " never requested one", report->client);
    if (report->loading != 0)
        scenario_fail(self, "state check: %" PRIu32 " entities still load", report->loading);
    uint32_t dangling = count_dangling(one);
    if (report->allocated != dangling) {
        scenario_fail(self,
                      "reference check: %" PRIu32 " handles held, %" PRIu32 " dangling references",
                      report->allocated, dangling);
    }
}

static bool was_let_go(const scenario* self, uint32_t client) {
    const net_peer_report* peer = find_report(self, client);
    return peer && peer->end == NET_END_GOODBYE && self->config.link.loss_percent > 15;
}

void check_member(scenario* self, member* one) {
    one->report = net_client_get_report(one->client);
    const net_client_report* report = &one->report;
    self->result.counts.updates += report->updates;
    switch (report->end) {
    case NET_CLIENT_END_UNREACHABLE:
    case NET_CLIENT_END_REFUSED:
        self->result.counts.unreachable++;
        return;
    case NET_CLIENT_END_LEFT:
    case NET_CLIENT_END_GOODBYE:
        self->result.counts.sessions++;
        self->result.counts.spectators += report->client >= NET_SPECTATOR_FIRST;
        break;
    default:
        // A goodbye is repeated for five seconds. On the worst lines a client may never receive it.
        if (was_let_go(self, report->client) || report->client >= NET_SPECTATOR_FIRST) {
            self->result.counts.unheard++;
            return;
        }
        scenario_fail(self, "session check: client %" PRIu32 " was lost", report->client);
        return;
    }
    check_session(self, one);
    if (report->end != NET_CLIENT_END_GOODBYE) return;
    if (report->tick == 0) {
        // It was welcomed in the last tick: the match ended before it joined.
        self->result.counts.unreachable++;
        return;
    }
    const net_peer_report* peer = find_report(self, report->client);
    // After a stop there is not always time for everything. Then the pair check compares the last
    // lines.
    if (peer && self->config.stop_tick && !peer->is_caught_up) return;
    // A match does not wait long for spectators.
    if (peer && !peer->is_caught_up && report->client >= NET_SPECTATOR_FIRST) return;
    if (!peer || peer->end != NET_END_GOODBYE || !peer->is_caught_up)
        scenario_fail(self, "settle check: client %" PRIu32 " had not caught up", report->client);
    else
        check_caught_up(self, one, peer);
}

// A reader of logs joins the last lines of both sides on (client, tick). Such a pair must mean the
// same world.
void check_pairs(scenario* self) {
    for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
        const net_client_report* report = &self->members[i].report;
        const net_peer_report* peer = report->client ? find_report(self, report->client) : NULL;
        if (!peer || peer->tick != report->tick) continue;
        if (peer->scope.hash == report->scope.hash) continue;
        scenario_fail(self,
                      "pair check: client %" PRIu32 " and server both have tick %" PRIu64
                      " with different worlds",
                      report->client, report->tick);
    }
}

typedef struct bandwidth_sums {
    uint64_t bits, transport;
} bandwidth_sums;

static void sum_line(void* context, const net_ledger_line* line) {
    bandwidth_sums* sums = context;
    if (line->client != 0) return;
    sums->bits += line->bits;
    if (strcmp(line->cause, "transport") == 0) sums->transport += line->bits;
}

// One line of the accounting is what the transport adds. All other lines must be the bits that it
// was given.
static void check_bandwidth(scenario* self) {
    if (!self->config.has_accounts) return;
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    bandwidth_sums sums = {0, 0};
    net_server_accounts(self->server, 0, sum_line, &sums);
    self->result.counts.bandwidth_bits += sums.bits;
    if (sums.bits != 8 * stats.sent_bytes) {
        scenario_fail(self, "bandwidth check: %" PRIu64 " bits, %" PRIu64 " were sent", sums.bits,
                      8 * stats.sent_bytes);
    }
    if (sums.bits - sums.transport != self->sent_bits) {
        scenario_fail(self, "bandwidth check: lines of %" PRIu64 " bits for %" PRIu64,
                      sums.bits - sums.transport, self->sent_bits);
    }
}

void check_server(scenario* self) {
    check_pairs(self);
    check_bandwidth(self);
    const swarm_context* context = net_match_context(self->match);
    if (context->shout_faults)
        scenario_fail(self, "event check: the server missed or doubled a shout");
    self->result.state_hash = ecs_world_state_hash(net_match_world(self->match));
    if (self->result.state_hash != ecs_world_state_hash_walk(net_match_world(self->match)))
        scenario_fail(self, "state hash check: the incremental hash differs from the walk");
}
