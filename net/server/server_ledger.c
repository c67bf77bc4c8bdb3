// SPDX-License-Identifier: MIT
// What is counted and kept of sent bits while an operator asks (server_explain.c answers): the
// ledger's seconds and a packet, both from the pieces of packets (replicate/snapshot_pieces.h), as
// accounts are.
//
// Each lane counts into numbers of its own. When a second is over, at the hand-over, they are added
// into that second's and begin at 0 again. What the transport adds is its own total minus ours; a
// datagram that waits in it is of a later second, so the difference is carried on.
#include "server/ledger.h"

#include "server/server_state.h"
#include "replicate/repl_state.h"

#include "net/match.h"

#include "base/assert.h"

#include <string.h>

#define SECOND_US UINT64_C(1000000)
#define ASK_US (NET_LEDGER_ASK_MS * UINT64_C(1000))

// ---- tallies

static size_t wide_bytes(const net_ledger* ledger) {
    return ((size_t)ledger->component_count * NET_COST_COUNT + ledger->template_count +
            ledger->place_count) *
           sizeof(uint64_t);
}

static size_t tally_bytes(const net_ledger* ledger) {
    return wide_bytes(ledger) + (size_t)ledger->place_count * sizeof(uint32_t);
}

static bool open_tally(const net_server* server, const net_ledger* ledger, net_tally* tally) {
    uint8_t* memory = base_allocate_zero(server->allocator, tally_bytes(ledger));
    if (!memory) return false;
    tally->components = (uint64_t(*)[NET_COST_COUNT])(void*)memory;
    tally->templates = (uint64_t*)(void*)tally->components + // behind the last component
                       (size_t)ledger->component_count * NET_COST_COUNT;
    tally->clients = tally->templates + ledger->template_count;
    tally->numbers = (uint32_t*)(void*)(memory + wide_bytes(ledger));
    return true;
}

static size_t entities_bytes(const net_ledger* ledger) {
    const size_t tallies = (size_t)ledger->lane_count + NET_LEDGER_SECONDS;
    return ledger->entity_count * (sizeof(uint64_t) + tallies * sizeof(uint32_t));
}

bool net_server_count_entities(net_server* server) {
    net_ledger* ledger = server->ledger;
    ledger->entities_us = server->now_us;
    if (ledger->entity_sums) return true;
    ledger->entity_sums = base_allocate_zero(server->allocator, entities_bytes(ledger));
    if (!ledger->entity_sums) return false;
    uint32_t* memory = (uint32_t*)(void*)(ledger->entity_sums + ledger->entity_count);
    for (uint32_t i = 0; i < ledger->lane_count + NET_LEDGER_SECONDS; i++) {
        net_tally* tally =
            i < ledger->lane_count ? &ledger->lanes[i] : &ledger->seconds[i - ledger->lane_count];
        tally->entities = memory + (size_t)i * ledger->entity_count;
        tally->entity_end = 0;
    }
    ledger->entity_end = 0;
    ledger->entity_second = ledger->second_count + 1; // this one has begun
    return true;
}

static void close_entities(const net_server* server, net_ledger* ledger) {
    if (!ledger->entity_sums) return;
    base_release(server->allocator, ledger->entity_sums, entities_bytes(ledger));
    ledger->entity_sums = NULL;
    for (uint32_t i = 0; i < ledger->lane_count; i++)
        ledger->lanes[i].entities = NULL;
}

static void close_ledger(net_server* server, net_ledger* ledger) {
    if (!ledger) return;
    close_entities(server, ledger);
    for (uint32_t i = 0; i < ledger->lane_count; i++)
        base_release(server->allocator, ledger->lanes[i].components, tally_bytes(ledger));
    for (uint32_t i = 0; i < NET_LEDGER_SECONDS; i++)
        base_release(server->allocator, ledger->seconds[i].components, tally_bytes(ledger));
    base_release(server->allocator, ledger, sizeof *ledger);
}

static uint64_t sent_bytes(const net_server* server) {
    net_transport_stats stats;
    server->config.transport->ops->stats(server->config.transport, &stats);
    return stats.sent_bytes;
}

static void tally_piece(const net_ledger* ledger, net_tally* tally, const net_session* session,
                        const net_piece* piece) {
    const uint32_t id = piece->row_template ? piece->row_template->id : 0;
    tally->components[piece->component][piece->cause] += piece->bits;
    tally->templates[id < ledger->template_count ? id : 0] += piece->bits;
    tally->clients[session->place] += piece->bits;
    if (!tally->entities) return;
    uint32_t index = ecs_entity_index(piece->entity);
    if (index >= ledger->entity_count) index = 0;
    tally->entities[index] += piece->bits;
    if (tally->entity_end <= index) tally->entity_end = index + 1;
}

static void capture_piece(const net_server* server, net_capture* capture, const net_piece* piece) {
    const proto_row_component* of = piece->place != NET_PIECE_NO_COMPONENT
                                        ? &piece->row_template->layout.components[piece->place]
                                        : NULL;
    const uint32_t words = of ? of->field_count : 0;
    if (!capture->is_whole ||
        !BASE_ARRAY_RESERVE(server->allocator, capture->pieces, capture->piece_capacity,
                            capture->piece_count + 1) ||
        !BASE_ARRAY_RESERVE(server->allocator, capture->words, capture->word_capacity,
                            capture->word_count + words)) {
        capture->is_whole = false;
        return;
    }
    if (words > 0)
        memcpy(&capture->words[capture->word_count], piece->row + of->field_first,
               words * sizeof *capture->words);
    net_captured* kept = &capture->pieces[capture->piece_count++];
    *kept = (net_captured){.piece = *piece, .word_first = capture->word_count};
    kept->piece.row = NULL;
    capture->word_count += words;
}

static void take_piece(void* context, const net_piece* piece) {
    net_server_lane* lane = context;
    const net_server* server = lane->server;
    if (server->ledger)
        tally_piece(server->ledger, &server->ledger->lanes[lane->number], lane->session, piece);
    if (lane->is_captured) capture_piece(server, server->capture, piece);
}

// A control message may be sent before the next turn, and it counts.
static void set_sinks(net_server* server) {
    const bool is_wanted = server->ledger || server->capture;
    for (uint32_t i = 0; i < server->lane_count; i++) {
        net_server_lane* lane = &server->lanes[i];
        lane->sink = (net_piece_sink){.context = lane, .take = take_piece};
        server->replicator->lanes[i].sink = is_wanted ? &lane->sink : NULL;
    }
}

bool net_server_open_ledger(net_server* server) {
    net_ledger* made = base_allocate_zero(server->allocator, sizeof *made);
    if (!made) return false;
    const ecs_world* world = net_match_world(server->config.match);
    made->component_count = ecs_component_count(world) + 1;
    made->template_count = ecs_template_count(world) + 1;
    made->place_count = server->session_count;
    made->entity_count = server->replicator->index_max + 1;
    if (made->entity_count > NET_LEDGER_ENTITIES_MAX) made->entity_count = NET_LEDGER_ENTITIES_MAX;
    made->second_us = server->now_us;
    made->sent_bytes = sent_bytes(server);
    bool ok = true;
    for (; ok && made->lane_count < server->lane_count; made->lane_count++)
        ok = open_tally(server, made, &made->lanes[made->lane_count]);
    for (uint32_t i = 0; ok && i < NET_LEDGER_SECONDS; i++)
        ok = open_tally(server, made, &made->seconds[i]);
    if (!ok) {
        close_ledger(server, made);
        return false;
    }
    server->ledger = made;
    set_sinks(server);
    return true;
}

static void add_tally(const net_ledger* ledger, net_tally* to, const net_tally* from) {
    uint64_t *wide = (uint64_t*)(void*)to->components, *more = (uint64_t*)(void*)from->components;
    for (size_t i = 0; i < wide_bytes(ledger) / sizeof *wide; i++)
        wide[i] += more[i];
}

static uint64_t sum_of(const net_ledger* ledger, const net_tally* tally) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ledger->component_count; i++)
        for (uint32_t k = 0; k < NET_COST_COUNT; k++)
            sum += tally->components[i][k];
    return sum;
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
        add_tally(ledger, second, &ledger->lanes[i]);
        memset(ledger->lanes[i].components, 0, tally_bytes(ledger));
    }
    if (ledger->entity_sums) end_entities(ledger, second);
    for (uint32_t i = 0; i < ledger->place_count; i++)
        second->numbers[i] = server->sessions[i] ? server->sessions[i]->client : 0;
    const uint64_t ours = sum_of(ledger, second), now = sent_bytes(server);
    ledger->carried += 8 * (int64_t)(now - ledger->sent_bytes) - (int64_t)ours;
    ledger->sent_bytes = now;
    if (ledger->carried > 0) {
        second->components[NET_BANDWIDTH_NONE][NET_COST_TRANSPORT] += (uint64_t)ledger->carried;
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

static bool is_asked(const net_server* server, uint64_t asked_us) {
    return server->now_us < asked_us + ASK_US;
}

void net_server_close_capture(net_server* server) {
    net_capture* capture = server->capture;
    if (!capture) return;
    const base_allocator* allocator = server->allocator;
    BASE_ARRAY_RELEASE(allocator, capture->pieces, capture->piece_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->words, capture->word_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->parts, capture->part_capacity);
    base_bytes_deinit(&capture->texts);
    base_release(allocator, capture, sizeof *capture);
    server->capture = NULL;
}

void net_server_close_ledger(net_server* server) {
    close_ledger(server, server->ledger);
    server->ledger = NULL;
    net_server_close_capture(server);
}

// ---- what lanes count

void net_server_turn_ledger(net_server* server) {
    BASE_ASSERT(!server->out.is_uncollected);
    net_ledger* ledger = server->ledger;
    if (ledger && !is_asked(server, ledger->asked_us)) {
        close_ledger(server, ledger);
        ledger = server->ledger = NULL;
    }
    if (ledger && !is_asked(server, ledger->entities_us)) close_entities(server, ledger);
    if (ledger && server->now_us > ledger->second_us + 2 * NET_LEDGER_SECONDS * SECOND_US)
        ledger->second_us = server->now_us - SECOND_US; // the match stood still
    while (ledger && server->now_us >= ledger->second_us + SECOND_US)
        end_second(server, ledger);
    if (server->capture && !is_asked(server, server->capture->asked_us))
        net_server_close_capture(server);
    set_sinks(server);
}

void net_server_count(net_server* server, net_session* session, const net_piece* piece) {
    net_server_lane* lane = &server->lanes[session->lane];
    net_pieces pieces = {.sink = server->replicator->lanes[session->lane].sink};
    if (session->out.repl)
        pieces.account = net_repl_state_account(session->out.repl);
    else if (server->has_bandwidth)
        pieces.account = &server->bandwidth_rest;
    lane->session = session;
    net_pieces_add(&pieces, piece);
}

void net_server_begin_packet(net_server_lane* lane, net_session* session) {
    net_capture* capture = lane->server->capture;
    lane->session = session;
    lane->is_captured = capture && capture->client == session->client;
    if (!lane->is_captured) return;
    capture->is_whole = true;
    capture->piece_count = capture->word_count = 0;
}

void net_server_end_packet(net_server_lane* lane, uint16_t seq, bool is_solo) {
    if (!lane->is_captured) return;
    net_capture* capture = lane->server->capture;
    lane->is_captured = false;
    capture->seq = seq;
    capture->tick = lane->server->out.tick;
    capture->is_solo = is_solo;
    if (!capture->is_whole) return;
    // The frame was counted last, when its size was known.
    BASE_ASSERT(capture->piece_count > 1);
    const uint32_t last = capture->piece_count - 1;
    const net_captured frame = capture->pieces[last];
    memmove(&capture->pieces[1], capture->pieces, last * sizeof frame);
    capture->pieces[0] = frame;
}
