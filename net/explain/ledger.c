// SPDX-License-Identifier: MIT
// Where the bits of a server went: the ledger, which counts while an operator asks, and the
// accounts of all bits by client, component and cause, from the first one on.
//
// Each lane counts into numbers of its own. When a second is over, at the hand-over, they are added
// into that second's and begin at 0 again. What the transport adds is its own total minus ours; a
// datagram that waits in it is of a later second, so the difference is carried on.
//
// Invariant: the bits of all accounts and of `rest` are 8 times the bytes that the server gave to
// the transport. The transport's own total minus that is what the transport added.
#include "explain/explain.h"

#include "net/match.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_US UINT64_C(1000000)
#define GONE_MAX 4096u // clients with an account of their own; later ones count in `rest`

// ---- tallies

static size_t wide_bytes(const net_ledger* ledger) {
    return ((size_t)ledger->component_count * NET_COST_COUNT + ledger->template_count +
            ledger->place_count) *
           sizeof(uint64_t);
}

static size_t tally_bytes(const net_ledger* ledger) {
    return wide_bytes(ledger) + (size_t)ledger->place_count * sizeof(uint32_t);
}

static void open_tally(net_ledger* ledger, net_tally* tally) {
    uint8_t* memory = base_allocate_zero(&ledger->owner.allocator, tally_bytes(ledger));
    tally->components = (uint64_t(*)[NET_COST_COUNT])(void*)memory;
    tally->templates = (uint64_t*)(void*)tally->components + // after the last component
                       (size_t)ledger->component_count * NET_COST_COUNT;
    tally->clients = tally->templates + ledger->template_count;
    tally->numbers = (uint32_t*)(void*)(memory + wide_bytes(ledger));
}

static size_t entities_bytes(const net_ledger* ledger) {
    const size_t tallies = (size_t)ledger->lane_count + NET_LEDGER_SECONDS;
    return ledger->entity_count * (sizeof(uint64_t) + tallies * sizeof(uint32_t));
}

static void count_entities(const net_server* server, net_ledger* ledger) {
    ledger->entities_us = server->now_us;
    if (ledger->entity_sums) return;
    ledger->entity_sums = base_allocate_zero(&ledger->owner.allocator, entities_bytes(ledger));
    uint32_t* memory = (uint32_t*)(void*)(ledger->entity_sums + ledger->entity_count);
    for (uint32_t i = 0; i < ledger->lane_count + NET_LEDGER_SECONDS; i++) {
        net_tally* tally =
            i < ledger->lane_count ? &ledger->lanes[i] : &ledger->seconds[i - ledger->lane_count];
        tally->entities = memory + (size_t)i * ledger->entity_count;
        tally->entity_end = 0;
    }
    ledger->entity_end = 0;
    ledger->entity_second = ledger->second_count + 1; // this one has begun
}

static void close_entities(net_ledger* ledger) {
    if (!ledger->entity_sums) return;
    base_release(&ledger->owner.allocator, ledger->entity_sums, entities_bytes(ledger));
    ledger->entity_sums = NULL;
    for (uint32_t i = 0; i < ledger->lane_count; i++)
        ledger->lanes[i].entities = NULL;
}

static uint64_t sent_bytes(const net_server* server) {
    net_transport_stats stats;
    server->config.transport->ops->stats(server->config.transport, &stats);
    return stats.sent_bytes;
}

void net_ledger_count(net_ledger* ledger, uint32_t lane, uint32_t place, const net_piece* piece) {
    net_tally* tally = &ledger->lanes[lane];
    const uint32_t id = piece->row_template ? piece->row_template->id : 0;
    tally->components[piece->component][piece->cause] += piece->bits;
    tally->templates[id < ledger->template_count ? id : 0] += piece->bits;
    tally->clients[place] += piece->bits;
    if (!tally->entities) return;
    uint32_t index = ecs_entity_index(piece->entity);
    if (index >= ledger->entity_count) index = 0;
    tally->entities[index] += piece->bits;
    if (tally->entity_end <= index) tally->entity_end = index + 1;
}

static void open_ledger(net_server* server) {
    net_explain* explain = net_explain_of(server);
    net_ledger* made = base_owner_create(&explain->owner.allocator, sizeof *made);
    const ecs_world* world = net_match_world(server->config.match);
    made->component_count = ecs_component_count(world) + 1;
    made->template_count = ecs_template_count(world) + 1;
    made->place_count = server->session_count;
    made->entity_count = server->replicator->index_max + 1;
    if (made->entity_count > NET_LEDGER_ENTITIES_MAX) made->entity_count = NET_LEDGER_ENTITIES_MAX;
    made->second_us = server->now_us;
    made->sent_bytes = sent_bytes(server);
    for (; made->lane_count < server->lane_count; made->lane_count++)
        open_tally(made, &made->lanes[made->lane_count]);
    for (uint32_t i = 0; i < NET_LEDGER_SECONDS; i++)
        open_tally(made, &made->seconds[i]);
    explain->ledger = made;
}

// ---- seconds

// The oldest second leaves the sums, and what the lanes counted is in its place.
static void end_entities(net_ledger* ledger, net_tally* second) {
    for (uint32_t i = 0; i < second->entity_end; i++)
        ledger->entity_sums[i] -= second->entities[i];
    memset(second->entities, 0, second->entity_end * sizeof *second->entities);
    second->entity_end = 0;
    for (uint32_t k = 0; k < ledger->lane_count; k++) {
        net_tally* lane = &ledger->lanes[k];
        if (lane->entity_end > second->entity_end) second->entity_end = lane->entity_end;
        // What a part of a second has is in no line.
        const bool is_whole = ledger->second_count >= ledger->entity_second;
        for (uint32_t i = 0; is_whole && i < lane->entity_end; i++) {
            second->entities[i] += lane->entities[i];
            ledger->entity_sums[i] += lane->entities[i];
        }
        memset(lane->entities, 0, lane->entity_end * sizeof *lane->entities);
        lane->entity_end = 0;
    }
    if (second->entity_end == 0) second->entity_end = 1;
    if (ledger->entity_end < second->entity_end) ledger->entity_end = second->entity_end;
}

static void end_second(net_server* server, net_ledger* ledger) {
    const uint32_t at = (uint32_t)(ledger->second_count % NET_LEDGER_SECONDS);
    net_tally* second = &ledger->seconds[at];
    memset(second->components, 0, tally_bytes(ledger));
    for (uint32_t i = 0; i < ledger->lane_count; i++) {
        const uint64_t* more = (const uint64_t*)(void*)ledger->lanes[i].components;
        uint64_t* wide = (uint64_t*)(void*)second->components;
        for (size_t k = 0; k < wide_bytes(ledger) / sizeof *wide; k++)
            wide[k] += more[k];
        memset(ledger->lanes[i].components, 0, tally_bytes(ledger));
    }
    if (ledger->entity_sums) end_entities(ledger, second);
    for (uint32_t i = 0; i < ledger->place_count; i++)
        second->numbers[i] = server->sessions[i] ? server->sessions[i]->client : 0;
    uint64_t ours = 0;
    for (uint32_t i = 0; i < ledger->component_count; i++)
        for (uint32_t k = 0; k < NET_COST_COUNT; k++)
            ours += second->components[i][k];
    const uint64_t now = sent_bytes(server);
    ledger->carried += 8 * (int64_t)(now - ledger->sent_bytes) - (int64_t)ours;
    ledger->sent_bytes = now;
    if (ledger->carried > 0) {
        second->components[0][NET_COST_TRANSPORT] += (uint64_t)ledger->carried;
        second->templates[0] += (uint64_t)ledger->carried;
        if (ledger->entity_sums && ledger->second_count >= ledger->entity_second) {
            second->entities[0] += (uint32_t)ledger->carried;
            ledger->entity_sums[0] += (uint32_t)ledger->carried;
        }
        ledger->second_bits[at] = ours + (uint64_t)ledger->carried;
        ledger->carried = 0;
    } else {
        ledger->second_bits[at] = ours;
    }
    ledger->second_count++;
    ledger->second_us += SECOND_US;
}

void net_ledger_close(net_server* server) {
    base_owner_destroy(net_explain_of(server)->ledger);
    net_explain_of(server)->ledger = NULL;
}

void net_ledger_turn(net_server* server) {
    net_ledger* ledger = net_explain_of(server)->ledger;
    if (!ledger) return;
    if (!net_explain_is_asked(server, ledger->asked_us)) {
        net_ledger_close(server);
        return;
    }
    if (!net_explain_is_asked(server, ledger->entities_us)) close_entities(ledger);
    if (server->now_us > ledger->second_us + 2 * NET_LEDGER_SECONDS * SECOND_US)
        ledger->second_us = server->now_us - SECOND_US; // the match stood still
    while (server->now_us >= ledger->second_us + SECOND_US)
        end_second(server, ledger);
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
    const net_history_entity* entity = net_history_find(server->replicator->history, index);
    return entity ? entity->handle : ECS_ENTITY_NONE;
}

static void add_second(const net_server* server, const net_tally* second, net_ledger_by by,
                       ledger_entry* entries) {
    const net_ledger* ledger = net_explain_of(server)->ledger;
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
        // fall through
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

static void list_entries(const net_server* server, net_ledger_by by, uint32_t client,
                         ledger_entry* entries, uint32_t count, uint32_t lines_max,
                         net_ledger_line_fn line, void* context, net_ledger_span* span) {
    qsort(entries, count, sizeof *entries, compare_entries);
    span->is_cut = span->is_cut || count > lines_max;
    for (uint32_t i = 0; i < count && i < lines_max; i++) {
        net_ledger_line one = line_of(server, by, &entries[i]);
        if (client) one.client = client;
        one.share = (double)one.bits / (double)span->bits;
        line(context, &one);
    }
}

// List those of `all` that have bits, and release them.
static void list_kept(const net_server* server, net_ledger_by by, uint32_t client,
                      ledger_entry* entries, uint32_t all, uint32_t lines_max,
                      net_ledger_line_fn line, void* context, net_ledger_span* span) {
    const uint32_t causes = by == NET_LEDGER_BOTH ? NET_COST_COUNT : 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (entries[i].bits > 0)
            entries[count++] = (ledger_entry){entries[i].bits, i / causes, i % causes};
    if (line && span->bits > 0)
        list_entries(server, by, client, entries, count, lines_max, line, context, span);
    base_release(server->allocator, entries, all * sizeof *entries);
}

static void list_account(net_server* server, uint64_t (*bits)[NET_COST_COUNT], uint32_t client,
                         uint32_t lines_max, net_ledger_line_fn line, void* context) {
    const uint32_t all = net_explain_of(server)->component_count * NET_COST_COUNT;
    ledger_entry* entries = base_allocate(server->allocator, all * sizeof *entries);
    net_ledger_span span = {.seconds = 0};
    for (uint32_t i = 0; i < all; i++)
        span.bits += entries[i].bits = bits[i / NET_COST_COUNT][i % NET_COST_COUNT];
    list_kept(server, NET_LEDGER_BOTH, client, entries, all, lines_max, line, context, &span);
}

static void add_span(const net_ledger* ledger, uint32_t back, net_ledger_span* span) {
    const uint64_t bits = ledger->second_bits[(ledger->second_count - back) % NET_LEDGER_SECONDS];
    span->bits += bits;
    span->second_bits[NET_LEDGER_SECONDS - back] = bits;
}

// All that have bits, of what is not entities.
static void list_all(const net_server* server, net_ledger_by by, uint32_t lines_max,
                     net_ledger_line_fn line, void* context, net_ledger_span* span) {
    const net_ledger* ledger = net_explain_of(server)->ledger;
    const uint32_t all = entry_count(ledger, by);
    ledger_entry* entries = base_allocate_zero(server->allocator, all * sizeof *entries);
    span->seconds = ledger->second_count < NET_LEDGER_SECONDS ? (uint32_t)ledger->second_count
                                                              : NET_LEDGER_SECONDS;
    for (uint32_t back = 1; back <= span->seconds; back++) {
        add_span(ledger, back, span);
        add_second(server, &ledger->seconds[(ledger->second_count - back) % NET_LEDGER_SECONDS], by,
                   entries);
    }
    list_kept(server, by, 0, entries, all, lines_max, line, context, span);
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
    const net_ledger* ledger = net_explain_of(server)->ledger;
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

static void list_entities(net_server* server, uint32_t lines_max, net_ledger_line_fn line,
                          void* context, net_ledger_span* span) {
    net_ledger* ledger = net_explain_of(server)->ledger;
    count_entities(server, ledger);
    const uint64_t known = ledger->second_count > ledger->entity_second
                               ? ledger->second_count - ledger->entity_second
                               : 0;
    span->seconds = known < NET_LEDGER_SECONDS ? (uint32_t)known : NET_LEDGER_SECONDS;
    for (uint32_t back = 1; back <= span->seconds; back++)
        add_span(ledger, back, span);
    if (!line || span->bits == 0) return;
    const uint32_t most = lines_max < ledger->entity_end ? lines_max : ledger->entity_end;
    const size_t bytes = ((size_t)most + 1) * sizeof(ledger_entry);
    ledger_entry* heap = base_allocate(server->allocator, bytes);
    uint64_t rest;
    uint32_t count = choose_entities(server, heap, most, &rest, &span->is_cut);
    if (rest > 0) heap[count++] = (ledger_entry){.bits = rest};
    list_entries(server, NET_LEDGER_ENTITY, 0, heap, count, lines_max, line, context, span);
    base_release(server->allocator, heap, bytes);
}

void net_server_ledger(net_server* server, net_ledger_by by, uint32_t lines_max,
                       net_ledger_line_fn line, void* context, net_ledger_span* span) {
    BASE_ASSERT(span && by < NET_LEDGER_BY_COUNT);
    net_server_collect(server);
    *span = (net_ledger_span){.seconds = 0};
    if (!net_explain_of(server)) return;
    if (!net_explain_of(server)->ledger) open_ledger(server);
    net_explain_of(server)->ledger->asked_us = server->now_us;
    if (by == NET_LEDGER_ENTITY)
        list_entities(server, lines_max, line, context, span);
    else
        list_all(server, by, lines_max, line, context, span);
}

// ---- accounts

static size_t account_bytes(const net_server* server) {
    return net_explain_of(server)->component_count * NET_COST_COUNT * sizeof(uint64_t);
}

void net_accounts_open(net_server* server) {
    net_explain* explain = net_explain_of(server);
    const base_allocator* allocator = &explain->owner.allocator;
    explain->accounts =
        base_allocate_zero(allocator, server->session_count * sizeof *explain->accounts);
    explain->rest.bits = base_allocate_zero(allocator, account_bytes(server));
}

net_account* net_account_of(const net_server* server, const net_session* session) {
    net_explain* explain = net_explain_of(server);
    if (!explain->accounts) return NULL;
    if (!session->out.repl) return &explain->rest;
    net_account* account = &explain->accounts[session->place];
    if (!account->bits) {
        account->client = session->client;
        account->bits = base_allocate_zero(&explain->owner.allocator, account_bytes(server));
    }
    return account;
}

static void add_bits(const net_server* server, uint64_t (*to)[NET_COST_COUNT],
                     const net_account* from) {
    if (!from->bits) return;
    for (uint32_t i = 0; i < net_explain_of(server)->component_count; i++)
        for (uint32_t k = 0; k < NET_COST_COUNT; k++)
            to[i][k] += from->bits[i][k];
}

void net_account_end(void* context, const net_session* session) {
    const net_server* server = context;
    net_explain* explain = net_explain_of(server);
    net_account* account = explain->accounts ? &explain->accounts[session->place] : NULL;
    if (!account || !account->bits) return;
    if (explain->gone_count < GONE_MAX) {
        BASE_ARRAY_RESERVE(&explain->owner.allocator, explain->gone, explain->gone_capacity,
                           explain->gone_count + 1);
        explain->gone[explain->gone_count++] = *account;
    } else {
        add_bits(server, explain->rest.bits, account);
        base_release(&explain->owner.allocator, account->bits, account_bytes(server));
    }
    *account = (net_account){.bits = NULL};
}

// All accounts together, and the bytes that the transport added.
static void sum_up(const net_server* server, uint64_t (*all)[NET_COST_COUNT]) {
    const net_explain* explain = net_explain_of(server);
    add_bits(server, all, &explain->rest);
    for (uint32_t i = 0; i < server->session_count; i++)
        add_bits(server, all, &explain->accounts[i]);
    for (uint32_t i = 0; i < explain->gone_count; i++)
        add_bits(server, all, &explain->gone[i]);
    const uint64_t sent = 8 * sent_bytes(server);
    uint64_t ours = 0;
    for (uint32_t i = 0; i < explain->component_count * NET_COST_COUNT; i++)
        ours += all[i / NET_COST_COUNT][i % NET_COST_COUNT];
    if (sent > ours) all[0][NET_COST_TRANSPORT] += sent - ours;
}

void net_server_accounts(net_server* server, uint32_t client_lines_max, net_ledger_line_fn line,
                         void* context) {
    net_server_collect(server);
    const net_explain* explain = net_explain_of(server);
    if (!explain || !explain->accounts) return;
    uint64_t(*all)[NET_COST_COUNT] = base_allocate_zero(server->allocator, account_bytes(server));
    sum_up(server, all);
    list_account(server, all, 0, UINT32_MAX, line, context);
    for (uint32_t i = 0; i < server->session_count + explain->gone_count; i++) {
        const net_account* one = i < server->session_count
                                     ? &explain->accounts[i]
                                     : &explain->gone[i - server->session_count];
        if (one->bits)
            list_account(server, one->bits, one->client, client_lines_max, line, context);
    }
    base_release(server->allocator, all, account_bytes(server));
}
