// SPDX-License-Identifier: MIT
// What a server answers about itself (net/explain.h). Why a client has an entity or not: what
// interest, the client's replication state and its session say, in one answer; only scratch is
// written. Where bits went and what a packet says: what server_ledger.c keeps, as text.
#include "replicate/repl_state.h"

#include "server/server_state.h"
#include "state/varsize.h"

#include "net/explain.h"
#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES_MAX 256u ///< of a text

const char* net_rule_name(net_rule rule) {
    static const char* const names[] = {"replicated", "player", "owner", "always",   "everywhere",
                                        "groups",     "range",  "stay",  "together", "relevance"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_COUNT, "a rule has no name");
    BASE_ASSERT((uint32_t)rule < NET_RULE_COUNT);
    return names[rule];
}

const char* net_rule_answer_name(net_rule_answer answer) {
    static const char* const names[] = {"unused", "silent", "shows", "hides"};
    _Static_assert(sizeof names / sizeof *names == NET_RULE_HIDES + 1, "an answer has no name");
    BASE_ASSERT((uint32_t)answer <= NET_RULE_HIDES);
    return names[answer];
}

const char* net_has_name(net_has has) {
    static const char* const names[] = {"not",  "create waits",  "create sent",
                                        "live", "destroy waits", "destroy sent"};
    _Static_assert(sizeof names / sizeof *names == NET_HAS_COUNT, "a state has no name");
    BASE_ASSERT((uint32_t)has < NET_HAS_COUNT);
    return names[has];
}

const char* net_held_text(net_held held) {
    static const char* const texts[] = {
        [NET_HELD_NOT] = "The newest packet has it.",
        [NET_HELD_SCOPE] = "It is not in the client's scope.",
        [NET_HELD_NOTHING] = "Nothing of it waits: the client has all, or it is on its way.",
        [NET_HELD_CREATE] = "Its creation is on its way, and is sent again only when it is lost.",
        [NET_HELD_FLYING] = "As many unanswered packets as may be have it.",
        [NET_HELD_LATER] = "It waits since after the newest packet.",
        [NET_HELD_BUDGET] = "The packets of the tick were full of more urgent entities.",
        [NET_HELD_RATE] = "The client's rate held packets back.",
        [NET_HELD_TURN] = "This client gets packets at other ticks.",
        [NET_HELD_AWAY] = "The client's connection is lost.",
        [NET_HELD_DEAF] = "The client acknowledges nothing, so it gets a packet now and then.",
    };
    _Static_assert(sizeof texts / sizeof *texts == NET_HELD_COUNT, "a reason has no text");
    BASE_ASSERT((uint32_t)held < NET_HELD_COUNT);
    return texts[held];
}

static net_session* find_session(const net_server* server, uint32_t client) {
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (session && session->client == client && session->out.repl &&
            net_session_is_in_match(session))
            return session;
    }
    return NULL;
}

// What waits and was not held by its replication state: what the session says of its packets.
static net_held held_by_session(const net_server* server, const net_session* session,
                                const net_explanation* out) {
    const net_session_out* of = &session->out;
    if (session->state == NET_SESSION_AWAY) return NET_HELD_AWAY;
    if (out->newest_packet_tick == out->tick)
        return net_rate_left(&of->rate) > NET_FURTHER_BYTES_MIN ? NET_HELD_BUDGET : NET_HELD_RATE;
    if (of->summary.is_deaf) return NET_HELD_DEAF;
    if (server->send_divisor > 1 &&
        out->tick % server->send_divisor != session->client % server->send_divisor)
        return NET_HELD_TURN;
    return NET_HELD_RATE;
}

static void explain_varsizes(const net_session* session, net_explanation* out) {
    for (uint32_t i = 0; out->has != NET_HAS_NOT && i < out->component_count; i++) {
        net_explained_component* to = &out->components[i];
        if (!to->is_varsize || !to->is_visible) continue;
        net_varsize_sender_explain(session->out.varsize, out->entity, to->component, &to->waits,
                                   &to->is_unconfirmed);
    }
}

bool net_server_explain(net_server* server, uint32_t client, ecs_entity entity,
                        net_explanation* explanation) {
    net_server_collect(server);
    const net_session* session = find_session(server, client);
    if (!session || net_repl_state_is_broken(session->out.repl)) return false;
    const ecs_world* world = net_match_world(server->config.match);
    net_explanation* out = explanation;
    memset(out, 0, sizeof *out);
    out->client = client;
    out->entity = entity;
    out->tick = net_replicator_tick(server->replicator);
    out->template_name = ecs_entity_template_name(world, entity);
    net_repl_state_explain(session->out.repl, out);
    net_interest_explain(server->interest, world, out);
    explain_varsizes(session, out);
    if (out->held == NET_HELD_BUDGET) out->held = held_by_session(server, session, out);
    return true;
}

// ---- asked for the ledger

typedef struct ledger_entry {
    uint64_t bits;
    uint32_t key, cause;
} ledger_entry;

// Most bits first; equal ones by key, then by cause.
static int compare_entries(const void* a, const void* b) {
    const ledger_entry *x = a, *y = b;
    if (x->bits != y->bits) return x->bits > y->bits ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->cause > y->cause) - (x->cause < y->cause);
}

static uint32_t entry_count(const net_ledger* ledger, net_ledger_by by) {
    const uint32_t counts[NET_LEDGER_BY_COUNT] = {
        [NET_LEDGER_BOTH] = ledger->component_count * NET_COST_COUNT,
        [NET_LEDGER_COMPONENT] = ledger->component_count,
        [NET_LEDGER_CAUSE] = NET_COST_COUNT,
        [NET_LEDGER_TEMPLATE] = ledger->template_count,
        [NET_LEDGER_CLIENT] = ledger->place_count,
    };
    return counts[by];
}

static ecs_entity handle_at(const net_server* server, uint32_t index) {
    const net_history_entity* entity =
        net_history_find(net_replicator_history(server->replicator), index);
    return entity ? entity->handle : ECS_ENTITY_NONE;
}

static void add_second(const net_server* server, const net_tally* second, net_ledger_by by,
                       ledger_entry* entries) {
    const net_ledger* ledger = server->ledger;
    for (uint32_t c = 0; by <= NET_LEDGER_CAUSE && c < ledger->component_count; c++)
        for (uint32_t k = 0; k < NET_COST_COUNT; k++)
            entries[by == NET_LEDGER_BOTH        ? c * NET_COST_COUNT + k
                    : by == NET_LEDGER_COMPONENT ? c
                                                 : k]
                .bits += second->components[c][k];
    for (uint32_t i = 0; by == NET_LEDGER_TEMPLATE && i < ledger->template_count; i++)
        entries[i].bits += second->templates[i];
    for (uint32_t i = 0; by == NET_LEDGER_CLIENT && i < ledger->place_count; i++)
        if (server->sessions[i] && server->sessions[i]->client == second->numbers[i])
            entries[i].bits += second->clients[i];
}

static net_ledger_line line_of(const net_server* server, net_ledger_by by,
                               const ledger_entry* entry) {
    ecs_world* world = net_match_world(server->config.match);
    const uint32_t key = entry->key;
    net_ledger_line line = {.name = "-", .bits = entry->bits};
    switch (by) {
    case NET_LEDGER_BOTH:
        line.cause = net_cost_name((net_cost)entry->cause);
        if (key > 0) line.name = ecs_component_get(world, (ecs_component_id)key)->name;
        break;
    case NET_LEDGER_COMPONENT:
        if (key > 0) line.name = ecs_component_get(world, (ecs_component_id)key)->name;
        break;
    case NET_LEDGER_CAUSE:
        line.name = net_cost_name((net_cost)key);
        break;
    case NET_LEDGER_TEMPLATE:
        if (key > 0) line.name = ecs_template_get(world, (ecs_template_id)key)->name;
        break;
    case NET_LEDGER_CLIENT:
        line.client = server->sessions[key]->client;
        line.name = server->sessions[key]->name;
        break;
    case NET_LEDGER_ENTITY:
        line.entity = handle_at(server, key);
        if (line.entity != ECS_ENTITY_NONE)
            line.name =
                ecs_template_get(
                    world, net_history_find(server->replicator->history, key)->row_template->id)
                    ->name;
        break;
    case NET_LEDGER_BY_COUNT:
        break;
    }
    return line;
}

static void list_entries(const net_server* server, net_ledger_by by, ledger_entry* entries,
                         uint32_t count, uint32_t lines_max, net_ledger_line_fn line, void* context,
                         net_ledger_span* span) {
    qsort(entries, count, sizeof *entries, compare_entries);
    span->is_cut = span->is_cut || count > lines_max;
    for (uint32_t i = 0; i < count && i < lines_max; i++) {
        net_ledger_line one = line_of(server, by, &entries[i]);
        one.share = (double)one.bits / (double)span->bits;
        line(context, &one);
    }
}

static void add_span(const net_ledger* ledger, uint32_t back, net_ledger_span* span) {
    const uint64_t bits = ledger->second_bits[(ledger->second_count - back) % NET_LEDGER_SECONDS];
    span->bits += bits;
    span->second_bits[NET_LEDGER_SECONDS - back] = bits;
}

// All that have bits, of what is not entities.
static bool list_all(const net_server* server, net_ledger_by by, uint32_t lines_max,
                     net_ledger_line_fn line, void* context, net_ledger_span* span) {
    const net_ledger* ledger = server->ledger;
    const uint32_t all = entry_count(ledger, by);
    uint32_t count = 0;
    ledger_entry* entries = base_allocate_zero(server->allocator, all * sizeof *entries);
    if (!entries) return false;
    span->seconds = ledger->second_count < NET_LEDGER_SECONDS ? (uint32_t)ledger->second_count
                                                              : NET_LEDGER_SECONDS;
    for (uint32_t back = 1; back <= span->seconds; back++) {
        add_span(ledger, back, span);
        add_second(server, &ledger->seconds[(ledger->second_count - back) % NET_LEDGER_SECONDS], by,
                   entries);
    }
    for (uint32_t i = 0; i < all; i++) {
        if (entries[i].bits == 0) continue;
        const bool is_both = by == NET_LEDGER_BOTH;
        entries[count++] = (ledger_entry){.bits = entries[i].bits,
                                          .key = is_both ? i / NET_COST_COUNT : i,
                                          .cause = is_both ? i % NET_COST_COUNT : 0};
    }
    if (line && span->bits > 0)
        list_entries(server, by, entries, count, lines_max, line, context, span);
    base_release(server->allocator, entries, all * sizeof *entries);
    return true;
}

// ---- by entity: the most of them, with the least on top of a heap

static void sink_entry(ledger_entry* heap, uint32_t count, ledger_entry entry) {
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare_entries(&heap[child], &heap[child + 1]) < 0) child++;
        if (compare_entries(&entry, &heap[child]) >= 0) break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
}

static void raise_entry(ledger_entry* heap, uint32_t at, ledger_entry entry) {
    for (; at > 0 && compare_entries(&heap[(at - 1) / 2], &entry) < 0; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
}

// @return how many are in the heap: those that live. *rest: bits of no entity, and of dead ones.
static uint32_t choose_entities(const net_server* server, ledger_entry* heap, uint32_t most,
                                uint64_t* rest, bool* is_cut) {
    const net_ledger* ledger = server->ledger;
    uint32_t count = 0;
    *rest = ledger->entity_end > 0 ? ledger->entity_sums[0] : 0;
    for (uint32_t i = 1; i < ledger->entity_end; i++) {
        const ledger_entry entry = {.bits = ledger->entity_sums[i], .key = i};
        if (entry.bits == 0) continue;
        if (handle_at(server, i) == ECS_ENTITY_NONE) {
            *rest += entry.bits;
        } else if (count < most) {
            raise_entry(heap, count++, entry);
        } else {
            *is_cut = true;
            if (compare_entries(&entry, &heap[0]) < 0) sink_entry(heap, count, entry);
        }
    }
    return count;
}

static bool list_entities(net_server* server, uint32_t lines_max, net_ledger_line_fn line,
                          void* context, net_ledger_span* span) {
    if (!net_server_count_entities(server)) return false;
    const net_ledger* ledger = server->ledger;
    const uint64_t known = ledger->second_count > ledger->entity_second
                               ? ledger->second_count - ledger->entity_second
                               : 0;
    span->seconds = known < NET_LEDGER_SECONDS ? (uint32_t)known : NET_LEDGER_SECONDS;
    for (uint32_t back = 1; back <= span->seconds; back++)
        add_span(ledger, back, span);
    if (!line || span->bits == 0) return true;
    const uint32_t most = lines_max < ledger->entity_end ? lines_max : ledger->entity_end;
    const size_t bytes = ((size_t)most + 1) * sizeof(ledger_entry);
    ledger_entry* heap = base_allocate(server->allocator, bytes);
    if (!heap) return false;
    uint64_t rest;
    uint32_t count = choose_entities(server, heap, most, &rest, &span->is_cut);
    if (rest > 0) heap[count++] = (ledger_entry){.bits = rest};
    list_entries(server, NET_LEDGER_ENTITY, heap, count, lines_max, line, context, span);
    base_release(server->allocator, heap, bytes);
    return true;
}

bool net_server_ledger(net_server* server, net_ledger_by by, uint32_t lines_max,
                       net_ledger_line_fn line, void* context, net_ledger_span* span) {
    BASE_ASSERT(span && by < NET_LEDGER_BY_COUNT);
    net_server_collect(server);
    *span = (net_ledger_span){.seconds = 0};
    if (!server->ledger && !net_server_open_ledger(server)) return false;
    server->ledger->asked_us = server->now_us;
    return by == NET_LEDGER_ENTITY ? list_entities(server, lines_max, line, context, span)
                                   : list_all(server, by, lines_max, line, context, span);
}

// ---- asked for a packet

// The value of a component as text, or the number of a piece.
static void write_value(const net_server* server, const net_captured* captured, char* text,
                        size_t text_bytes) {
    const net_piece* piece = &captured->piece;
    text[0] = 0;
    if (piece->place == NET_PIECE_NO_COMPONENT) {
        if (piece->has_number)
            (void)base_text_format(text, text_bytes, "%lld", (long long)piece->number);
        return;
    }
    const ecs_world* world = net_match_world(server->config.match);
    const proto_layout* layout = &piece->row_template->layout;
    const proto_row_component* of = &layout->components[piece->place];
    const ecs_component* component = ecs_component_get(world, (ecs_component_id)of->key);
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    _Alignas(16) uint8_t memory[NET_ROW_BYTES_MAX] = {0};
    const ecs_type* type = ecs_type_get(world, component->type);
    if (type->size > sizeof memory) return;
    memcpy(row + of->field_first, &server->capture->words[captured->word_first],
           of->field_count * sizeof *row);
    proto_row_write_component(layout, piece->place, row, memory);
    (void)ecs_type_format(type, memory, text, text_bytes);
}

// Texts first, since their buffer may move; then the parts that name them.
static bool make_parts(net_server* server, net_capture* capture) {
    base_bytes* texts = &capture->texts;
    base_bytes_clear(texts);
    if (!BASE_ARRAY_RESERVE(server->allocator, capture->parts, capture->part_capacity,
                            capture->piece_count))
        return false;
    for (uint32_t i = 0; i < capture->piece_count; i++) {
        char text[VALUE_BYTES_MAX];
        write_value(server, &capture->pieces[i], text, sizeof text);
        capture->parts[i].first_bit = (uint32_t)texts->size; // for now: where its text is
        base_bytes_write(texts, text, strlen(text) + 1);
    }
    if (texts->failed) return false;
    const ecs_world* world = net_match_world(server->config.match);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < capture->piece_count; i++) {
        const net_piece* piece = &capture->pieces[i].piece;
        net_packet_part* part = &capture->parts[i];
        *part = (net_packet_part){
            .first_bit = bits,
            .bits = piece->bits,
            .depth = piece->depth,
            .what = piece->what,
            .cause = net_cost_name(piece->cause),
            .entity = piece->entity,
            .component = piece->component == NET_BANDWIDTH_NONE
                             ? NULL
                             : ecs_component_get(world, (ecs_component_id)piece->component)->name,
            .value = (const char*)texts->data + part->first_bit,
        };
        bits += piece->bits;
    }
    capture->packet = (net_packet){.client = capture->client,
                                   .seq = capture->seq,
                                   .tick = capture->tick,
                                   .bits = bits,
                                   .is_solo = capture->is_solo,
                                   .part_count = capture->piece_count,
                                   .parts = capture->parts};
    return true;
}

const net_packet* net_server_packet(net_server* server, uint32_t client) {
    net_server_collect(server);
    if (!find_session(server, client)) return NULL;
    if (server->capture && server->capture->client != client) net_server_close_capture(server);
    if (!server->capture) {
        server->capture = base_allocate_zero(server->allocator, sizeof *server->capture);
        if (!server->capture) return NULL;
        server->capture->client = client;
        base_bytes_init(&server->capture->texts, server->allocator);
    }
    net_capture* capture = server->capture;
    capture->asked_us = server->now_us;
    return capture->is_whole && make_parts(server, capture) ? &capture->packet : NULL;
}
