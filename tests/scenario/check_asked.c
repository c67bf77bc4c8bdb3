// SPDX-License-Identifier: MIT
// What the server answers when it is asked about itself (net/explain.h): it agrees with what the
// server does, and asking changes nothing (the twins of scenario_main.c).
#include "internal.h"

#include "explain/explain.h"

#include <inttypes.h>

enum {
    ASK_ENTITIES = 3,      // of each client in a tick
    ASK_LEDGER_TICKS = 7,  // no divisor of a second
    ASK_PACKET_TICKS = 16, // of one client, then of the next
};

static const char* explain_fault(const net_session* session, ecs_entity entity,
                                 const net_explanation* out) {
    net_repl_state* view = session->out.repl;
    uint32_t classes = 0;
    if (out->is_in_scope != net_repl_state_sees(view, entity, &classes)) return "scope";
    if (out->classes != classes) return "classes";
    if ((out->has == NET_HAS_LIVE) != net_repl_state_has(view, entity)) return "state";
    if (out->rank > out->waiting || (out->rank > 0 && !out->waits)) return "rank";
    const net_rule_answer answer = out->answers[out->rule];
    if (answer != NET_RULE_SHOWS && answer != NET_RULE_HIDES) return "rule without an answer";
    if ((out->turn_ticks > 0) == ((answer == NET_RULE_SHOWS) == out->is_in_scope)) return "turn";
    if (out->turn_ticks > NET_INTEREST_EVERY_TICKS) return "turn too late";
    if (out->rule == NET_RULE_RANGE && answer == NET_RULE_HIDES && out->has_viewpoint &&
        out->distance <= out->radius * 0.999)
        return "distance";
    if (out->held == NET_HELD_NOT && out->packet_tick != out->newest_packet_tick) return "packet";
    for (uint32_t i = 0; i < out->component_count; i++) {
        const net_explained_component* one = &out->components[i];
        if (one->is_varsize || out->has != NET_HAS_LIVE) continue;
        if (!one->is_visible && (one->waits || one->is_unconfirmed)) return "hidden component";
        if (one->waits && !out->waits) return "component that waits";
        if (one->is_unconfirmed && out->packets_flying == 0 && !out->waits)
            return "unconfirmed component";
    }
    return NULL;
}

static void check_explained(scenario* self, const net_session* session, ecs_entity entity) {
    net_explanation out;
    if (!net_server_explain(self->server, session->client, entity, &out)) {
        scenario_fail(self, "explain check: client %" PRIu32 " is not known", session->client);
        return;
    }
    self->result.counts.explained++;
    const char* fault = explain_fault(session, entity, &out);
    if (!fault) return;
    scenario_fail(self,
                  "explain check: client %" PRIu32 ", entity %" PRIu32 ":%" PRIu32
                  " at tick %" PRIu64 ": %s (rule %s, has %s)",
                  session->client, ecs_entity_index(entity), ecs_entity_generation(entity),
                  out.tick, fault, net_rule_name(out.rule), net_has_name(out.has));
}

// ---- the ledger

typedef struct ledger_sums {
    uint64_t bits, last;
    bool is_wrong;
} ledger_sums;

static void take_line(void* context, const net_ledger_line* line) {
    ledger_sums* sums = context;
    sums->is_wrong = sums->is_wrong || line->bits == 0 || !line->name ||
                     (sums->last > 0 && line->bits > sums->last) || line->share > 1.0;
    sums->last = line->bits;
    sums->bits += line->bits;
}

// Bits of a tally, without those that the transport added.
static uint64_t tally_bits(const net_ledger* ledger, const net_tally* tally) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ledger->component_count; i++)
        for (uint32_t k = 0; k < NET_COST_TRANSPORT; k++)
            sum += tally->components[i][k];
    return sum;
}

// All that the server gave to its transport since it began to count is in a second, or in the one
// that goes on.
static void check_seconds(scenario* self) {
    const net_ledger* ledger = net_explain_of(self->server)->ledger;
    for (; self->ledger_seconds < ledger->second_count; self->ledger_seconds++)
        self->ledger_bits +=
            tally_bits(ledger, &ledger->seconds[self->ledger_seconds % NET_LEDGER_SECONDS]);
    uint64_t bits = self->ledger_bits;
    for (uint32_t i = 0; i < ledger->lane_count; i++)
        bits += tally_bits(ledger, &ledger->lanes[i]);
    if (bits != self->sent_bits - self->ledger_begin)
        scenario_fail(self, "ledger check: %" PRIu64 " bits of %" PRIu64, bits,
                      self->sent_bits - self->ledger_begin);
}

static void check_ledger(scenario* self) {
    const bool is_first = !net_explain_of(self->server)->ledger;
    const net_ledger_by by =
        (net_ledger_by)(net_match_tick(self->match) / ASK_LEDGER_TICKS % NET_LEDGER_BY_COUNT);
    ledger_sums sums = {0};
    net_ledger_span span;
    net_server_ledger(self->server, by, UINT32_MAX, take_line, &sums, &span);
    // It waited for the lanes before it began to count.
    if (is_first) self->ledger_begin = self->sent_bits;
    check_seconds(self);
    uint64_t of_seconds = 0;
    for (uint32_t i = 0; i < NET_LEDGER_SECONDS; i++)
        of_seconds += span.second_bits[i];
    self->result.counts.ledgers += sums.bits > 0;
    // The bits of clients that are gone are in no line.
    const bool is_whole = by == NET_LEDGER_CLIENT ? sums.bits <= span.bits : sums.bits == span.bits;
    if (!is_whole || sums.is_wrong || of_seconds != span.bits)
        scenario_fail(self,
                      "ledger check: lines by %d with %" PRIu64 " bits, seconds with %" PRIu64
                      " of %" PRIu64,
                      (int)by, sums.bits, of_seconds, span.bits);
}

// ---- a packet taken apart

// The value that a component of an entity has at the server, as text.
static bool find_value(const scenario* self, const net_repl_state* view,
                       const net_packet_part* part, char* text, size_t text_bytes) {
    const net_history* history = self->server->replicator->history;
    const net_history_entity* entity = net_history_find(history, ecs_entity_index(part->entity));
    const ecs_tick now = history->tick;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    uint32_t slot = net_repl_state_find_slot(view, ecs_entity_index(part->entity));
    if (!entity || entity->handle != part->entity || slot == UINT32_MAX ||
        !net_history_read(entity, now, now, view->classes[slot], row))
        return false;
    const proto_layout* layout = &entity->row_template->layout;
    const ecs_world* world = net_match_world(self->match);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const ecs_component* component =
            ecs_component_get(world, (ecs_component_id)layout->components[c].key);
        if (strcmp(component->name, part->component) != 0) continue;
        _Alignas(16) uint8_t memory[NET_ROW_BYTES_MAX] = {0};
        proto_row_write_component(layout, c, row, memory);
        (void)ecs_type_format(ecs_type_get(world, component->type), memory, text, text_bytes);
        return true;
    }
    return false;
}

static const char* packet_fault(scenario* self, const net_packet* packet,
                                const net_repl_state* view) {
    uint32_t bits = 0;
    bool is_open = true; // before the rows
    for (uint32_t i = 0; i < packet->part_count; i++) {
        const net_packet_part* part = &packet->parts[i];
        if (part->first_bit != bits || part->bits == 0) return "a gap";
        bits += part->bits;
        if (part->depth > 3 || !part->what || !part->cause) return "no words";
        if (strcmp(part->cause, "header") == 0 && !is_open) return "a header behind rows";
        is_open = is_open && part->depth == 0;
        if (!part->component) continue;
        char text[256];
        self->result.counts.values++;
        if (find_value(self, view, part, text, sizeof text) && strcmp(text, part->value) != 0)
            return "another value";
    }
    return bits == packet->bits ? NULL : "not all bits";
}

static void check_packet(scenario* self, const net_session* session) {
    const watched* seen = self->watched[place_of(session->client)];
    const net_packet* packet = net_server_packet(self->server, session->client);
    if (!packet || !seen || packet->tick != net_match_tick(self->match)) return;
    const char* fault = packet_fault(self, packet, session->out.repl);
    if (!fault && packet->bits != 8 * seen->packet_bytes) fault = "another size";
    if (!fault && packet->seq != (uint16_t)(session->out.repl->seq_next - 1)) fault = "another seq";
    if (fault)
        scenario_fail(self,
                      "packet check: client %" PRIu32 " at tick %" PRIu64 ", %" PRIu32 " bits: %s",
                      session->client, packet->tick, packet->bits, fault);
}

void check_asked(scenario* self) {
    net_server* server = self->server;
    if (!self->config.is_asked || server->phase != NET_SERVER_RUNNING) return;
    const ecs_world* world = net_match_world(self->match);
    const uint64_t tick = net_match_tick(self->match);
    if (tick % ASK_LEDGER_TICKS == 0) check_ledger(self);
    for (uint32_t i = 0; i < server->session_count; i++) {
        const net_session* session = server->sessions[i];
        if (!session || !session->out.repl || !net_session_is_in_match(session)) continue;
        if (tick / ASK_PACKET_TICKS % server->session_count == i) check_packet(self, session);
        for (uint32_t k = 0; k < ASK_ENTITIES; k++) {
            self->asked = ecs_entity_next(world, self->asked);
            if (self->asked != ECS_ENTITY_NONE) check_explained(self, session, self->asked);
        }
    }
}
