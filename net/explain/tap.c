// SPDX-License-Identifier: MIT
// The tap: pieces of packets go to the account of their client, the ledger, and the packet that is
// looked at: the newest one of a client, kept piece by piece while an operator asks for it.
#include "explain/explain.h"

#include "core/fault.h"
#include "replicate/repl_state.h"
#include "session/packet_header.h"

#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

// ---- the packet that is looked at

static void capture_add(net_capture* capture, const net_piece* piece) {
    const proto_row_component* of = piece->place != NET_PIECE_NO_COMPONENT
                                        ? &piece->row_template->layout.components[piece->place]
                                        : NULL;
    const uint32_t words = of ? of->field_count : 0;
    const base_allocator* allocator = &capture->owner.allocator;
    BASE_ARRAY_RESERVE(allocator, capture->pieces, capture->piece_capacity,
                       capture->piece_count + 1);
    BASE_ARRAY_RESERVE(allocator, capture->words, capture->word_capacity,
                       capture->word_count + words);
    if (words > 0)
        memcpy(&capture->words[capture->word_count], piece->row + of->field_first,
               words * sizeof *capture->words);
    net_captured* kept = &capture->pieces[capture->piece_count++];
    *kept = (net_captured){.piece = *piece, .word_first = capture->word_count};
    kept->piece.row = NULL;
    capture->word_count += words;
}

static void capture_end(net_capture* capture) {
    // The frame was counted last, when its size was known.
    BASE_ASSERT(capture->piece_count > 1);
    const uint32_t last = capture->piece_count - 1;
    const net_captured frame = capture->pieces[last];
    memmove(&capture->pieces[1], capture->pieces, last * sizeof frame);
    capture->pieces[0] = frame;
}

static void capture_close(net_explain* explain) {
    base_owner_destroy(explain->capture);
    explain->capture = NULL;
}

// ---- the hooks

static void add_piece(void* context, const net_piece* piece) {
    net_explain_lane* lane = context;
    const net_explain* explain = net_explain_of(lane->server);
    const bool is_missed =
        piece->cause == NET_COST_DESTROY && net_fault_is_planted(NET_FAULT_BANDWIDTH_MISS);
    if (lane->account && !is_missed)
        lane->account->bits[piece->component][piece->cause] += piece->bits;
    if (explain->ledger)
        net_ledger_count(explain->ledger, lane->number, lane->session->place, piece);
    if (lane->is_captured) capture_add(explain->capture, piece);
}

static bool is_wanted(const net_explain_lane* lane) {
    return lane->account || lane->is_captured || net_explain_of(lane->server)->ledger;
}

static void count(net_explain_lane* lane, const char* what, net_cost cause, uint64_t bits) {
    const net_piece piece = {
        .bits = (uint32_t)bits, .cause = cause, .what = what, .place = NET_PIECE_NO_COMPONENT};
    net_piece_add(&(net_piece_sink){lane, add_piece}, &piece);
}

static void open_tap(void* context) {
    net_server* server = context;
    net_explain* made = base_owner_create(server->allocator, sizeof *made);
    server->tapped = made;
    made->component_count = ecs_component_count(net_match_world(server->config.match)) + 1;
    for (uint32_t i = 0; i < NET_LANES_MAX; i++)
        made->lanes[i] = (net_explain_lane){.server = server, .number = i};
    if (server->config.tap->is_of_match) net_accounts_open(server);
}

static void begin_packet(void* context, net_session* session, const net_packet_header* header) {
    net_explain* explain = net_explain_of(context);
    net_explain_lane* lane = &explain->lanes[session->lane];
    net_capture* capture = explain->capture;
    lane->session = session;
    lane->account = net_account_of(context, session);
    lane->is_captured = capture && capture->packet.client == session->client;
    if (lane->is_captured) {
        capture->packet.seq = header->seq;
        capture->packet.tick = lane->server->out.tick;
        capture->packet.is_solo = false;
        capture->is_whole = true;
        capture->piece_count = capture->word_count = 0;
    }
    if (!is_wanted(lane)) return;
    uint8_t bytes[NET_PACKET_HEADER_BITS_MAX / 8 + 1];
    proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
    for (uint32_t i = 0; i < NET_PACKET_HEADER_PARTS; i++) {
        const uint64_t before = writer.size_bits;
        const char* what = net_packet_header_write_part(&writer, header, i);
        const bool is_probe = i == NET_PACKET_HEADER_PROBE;
        const uint64_t probe_bits = is_probe ? net_packet_header_probe_bits(header) : 0;
        count(lane, is_probe ? "has a checksum" : what, NET_COST_HEADER,
              writer.size_bits - before - probe_bits);
        count(lane, what, NET_COST_SAMPLE, probe_bits);
    }
}

static void take_snapshot(void* context, net_repl_state* repl, const proto_bit_writer* output,
                          uint64_t first_bit) {
    net_explain* explain = net_explain_of(context);
    net_explain_lane* lane = &explain->lanes[repl->lane];
    if (!is_wanted(lane)) return;
    const bool is_solo =
        net_pieces_read(repl, output, first_bit, &(net_piece_sink){lane, add_piece});
    if (lane->is_captured) explain->capture->packet.is_solo = is_solo;
}

// What a packet has beside header and snapshot.
static void end_packet(void* context, const Shoal__Wire__StatePacket* packet, uint64_t state_bits,
                       size_t size, const net_session* session) {
    const net_server* server = context;
    net_explain_lane* lane = &net_explain_of(server)->lanes[session->lane];
    if (!is_wanted(lane)) return;
    const net_game_module* game = net_match_get_config(server->config.match)->module->game;
    const uint64_t state_bytes = packet->state.len;
    count(lane, "filled up", NET_COST_FRAME, 8 * state_bytes - state_bits);
    uint64_t frame_bytes = size - state_bytes;
    for (size_t i = 0; i < packet->n_events; i++) {
        const uint64_t bytes = shoal__wire__game_event__get_packed_size(packet->events[i]);
        const uint64_t whole = 1 + (bytes < 128 ? 1u : 2u) + bytes;
        const uint32_t message = packet->events[i]->message; // 0: its player
        count(lane, message ? game->messages[message - 1].name : "the client's player",
              NET_COST_EVENT, 8 * whole);
        frame_bytes -= whole;
    }
    count(lane, "frame", NET_COST_FRAME, 8 * frame_bytes);
    if (lane->is_captured) capture_end(net_explain_of(server)->capture);
}

static void take_message(void* context, net_session* session, ecs_entity entity, uint32_t component,
                         size_t bytes) {
    const net_piece piece = {.bits = 8 * (uint32_t)bytes,
                             .cause = component ? NET_COST_VARSIZE : NET_COST_CONTROL,
                             .what = component ? "value of variable size" : "control message",
                             .entity = entity,
                             .component = component,
                             .place = NET_PIECE_NO_COMPONENT};
    net_explain_lane lane = {.server = context,
                             .number = session->lane,
                             .session = session,
                             .account = net_account_of(context, session)};
    add_piece(&lane, &piece);
}

static void turn(void* context) {
    net_server* server = context;
    BASE_ASSERT(!server->out.is_uncollected);
    const net_capture* capture = net_explain_of(server)->capture;
    net_ledger_turn(server);
    if (capture && !net_explain_is_asked(server, capture->asked_us))
        capture_close(net_explain_of(server));
}

static void close_tap(void* context, bool is_over) {
    net_server* server = context;
    net_explain* explain = net_explain_of(server);
    if (!explain) return;
    net_ledger_close(server);
    capture_close(explain);
    if (!is_over) return;
    base_owner_destroy(explain);
    server->tapped = NULL;
}

#define HOOKS                                                                                      \
    .open = open_tap, .begin = begin_packet, .snapshot = take_snapshot, .packet = end_packet,      \
    .message = take_message, .turn = turn, .leave = net_account_end, .close = close_tap

const net_send_tap net_explain_tap = {HOOKS};
const net_send_tap net_account_tap = {.is_of_match = true, HOOKS};

// ---- the packet as text

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
    memcpy(row + of->field_first, &net_explain_of(server)->capture->words[captured->word_first],
           of->field_count * sizeof *row);
    proto_row_write_component(layout, piece->place, row, memory);
    (void)ecs_type_format(type, memory, text, text_bytes);
}

static void make_parts(const net_server* server, net_capture* capture) {
    const ecs_world* world = net_match_world(server->config.match);
    BASE_ARRAY_RESERVE(&capture->owner.allocator, capture->parts, capture->part_capacity,
                       capture->piece_count);
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
            .component = piece->component == 0
                             ? NULL
                             : ecs_component_get(world, (ecs_component_id)piece->component)->name,
        };
        write_value(server, &capture->pieces[i], part->value, sizeof part->value);
        bits += piece->bits;
    }
    capture->packet.bits = bits;
    capture->packet.part_count = capture->piece_count;
    capture->packet.parts = capture->parts;
}

const net_packet* net_server_packet(net_server* server, uint32_t client) {
    net_server_collect(server);
    net_explain* explain = net_explain_of(server);
    if (!explain || !net_explain_find_session(server, client)) return NULL;
    if (explain->capture && explain->capture->packet.client != client) capture_close(explain);
    if (!explain->capture) {
        explain->capture = base_owner_create(&explain->owner.allocator, sizeof *explain->capture);
        explain->capture->packet.client = client;
    }
    net_capture* capture = explain->capture;
    capture->asked_us = server->now_us;
    if (!capture->is_whole) return NULL;
    make_parts(server, capture);
    return &capture->packet;
}
