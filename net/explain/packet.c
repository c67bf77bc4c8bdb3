// SPDX-License-Identifier: MIT
// The newest packet of a client, kept piece by piece while an operator asks for it, and as text.
#include "explain/explain.h"

#include "replicate/repl_state.h"

#include "net/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

#define VALUE_BYTES_MAX 256u ///< of a text

void net_capture_add(const net_server* server, net_capture* capture, const net_piece* piece) {
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

void net_capture_end(net_capture* capture) {
    if (!capture->is_whole) return;
    // The frame was counted last, when its size was known.
    BASE_ASSERT(capture->piece_count > 1);
    const uint32_t last = capture->piece_count - 1;
    const net_captured frame = capture->pieces[last];
    memmove(&capture->pieces[1], capture->pieces, last * sizeof frame);
    capture->pieces[0] = frame;
}

void net_capture_close(net_server* server) {
    net_capture* capture = net_explain_of(server)->capture;
    if (!capture) return;
    const base_allocator* allocator = server->allocator;
    BASE_ARRAY_RELEASE(allocator, capture->pieces, capture->piece_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->words, capture->word_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->parts, capture->part_capacity);
    base_bytes_deinit(&capture->texts);
    base_release(allocator, capture, sizeof *capture);
    net_explain_of(server)->capture = NULL;
}

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
        // The texts may move while they grow: their places stay here until all are made.
        capture->parts[i].first_bit = (uint32_t)texts->size;
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
            .component = piece->component == 0
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
    net_explain* explain = net_explain_of(server);
    if (!explain || !net_explain_find_session(server, client)) return NULL;
    if (explain->capture && explain->capture->client != client) net_capture_close(server);
    if (!explain->capture) {
        explain->capture = base_allocate_zero(server->allocator, sizeof *explain->capture);
        if (!explain->capture) return NULL;
        explain->capture->client = client;
        base_bytes_init(&explain->capture->texts, server->allocator);
    }
    net_capture* capture = explain->capture;
    capture->asked_us = server->now_us;
    return capture->is_whole && make_parts(server, capture) ? &capture->packet : NULL;
}
