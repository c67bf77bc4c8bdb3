// SPDX-License-Identifier: MIT
// Writes corpus/state: packets of an honest server, in the form that fuzz_state.c reads.
//
//     make_state_corpus FOLDER
//
// Each file is one seed: entities are created, change, get another template, leave the scope and
// return. Some packets are lost or swapped, and acknowledgements come a few ticks late.
#include "state_world.h"

#include "body_sender.h"
#include "session/packet_header.h"

enum { SEEDS = 8, ACK_LAG = 3, FILE_BYTES_MAX = 700, STATE_BYTES_MAX = 2000, STEPS_MAX = 60 };

typedef struct maker {
    sender t;
    FILE* file;
    uint32_t bytes;
    bool is_lost[STEPS_MAX + 1], has_ack;
    uint32_t packets[STEPS_MAX + 1];
} maker;

typedef struct state_bytes {
    size_t size;
    uint8_t bytes[STATE_BYTES_MAX];
} state_bytes;

// A row that the client certainly has, sometimes with a wrong hash.
static void sample(maker* m, net_packet_header* header) {
    uint32_t slot = sender_below(&m->t, TELLER_SLOTS);
    const sender_slot* at = &m->t.slots[slot];
    if (at->state != TELLER_SEEN || !at->is_created) return;
    const sender_past* past = &m->t.past[at->acked_step];
    header->has_probe = true;
    header->probe_slot = slot;
    header->probe_age = (uint32_t)(header->tick - past->tick);
    header->probe_hash = (uint16_t)net_row_hash(at->entry, past->rows[slot]);
}

static state_bytes write_state(maker* m, const body_pen* pen, uint32_t packet) {
    state_bytes state = {0};
    proto_bit_writer bits = proto_bit_writer_make(state.bytes, sizeof state.bytes);
    bool is_input = sender_below(&m->t, 2) == 0;
    net_packet_header header = {.seq = m->t.packets[packet].seq,
                                .tick = sender_tick(&m->t),
                                .is_whole = !m->has_ack,
                                .has_ack = sender_below(&m->t, 2) == 0,
                                .ack = (uint16_t)packet,
                                .has_input = is_input,
                                .input_used = is_input ? packet : 0,
                                .input_depth = is_input ? 2 : 0,
                                .player_age = packet % 3,
                                .has_body = pen->bits.size_bits > 0};
    sample(m, &header);
    net_packet_header_write(&bits, &header);
    proto_bit_reader body = proto_bit_reader_make(pen->bytes, sizeof pen->bytes);
    for (uint64_t i = 0; i < pen->bits.size_bits; i++)
        proto_bits_write(&bits, proto_bits_read(&body, 1), 1);
    FUZZ_CHECK(!bits.failed);
    state.size = proto_bit_writer_bytes(&bits);
    return state;
}

static void put(maker* m, const state_bytes* state) {
    uint8_t head[2] = {(uint8_t)state->size, (uint8_t)(state->size >> 8)};
    FUZZ_CHECK(fwrite(head, 1, sizeof head, m->file) == sizeof head);
    FUZZ_CHECK(fwrite(state->bytes, 1, state->size, m->file) == state->size);
    m->bytes += (uint32_t)(sizeof head + state->size);
}

static void run(maker* m, body_pen* pen) {
    state_bytes held = {0};
    for (uint32_t i = 1; i <= STEPS_MAX && m->bytes < FILE_BYTES_MAX; i++) {
        sender_step(&m->t, false);
        m->packets[i] = sender_write(&m->t, pen);
        state_bytes state = write_state(m, pen, m->packets[i]);
        m->is_lost[i] = sender_below(&m->t, 6) == 0;
        if (!m->is_lost[i] && held.size == 0 && sender_below(&m->t, 6) == 0) {
            held = state; // it arrives after the next one
        } else {
            if (!m->is_lost[i]) put(m, &state);
            if (held.size) put(m, &held);
            held.size = 0;
        }
        if (i <= ACK_LAG || m->is_lost[i - ACK_LAG]) continue;
        sender_ack(&m->t, m->packets[i - ACK_LAG]);
        m->has_ack = true;
    }
}

int main(int argc, char** argv) {
    FUZZ_CHECK(argc == 2);
    body_pen* pen = malloc(sizeof *pen);
    FUZZ_CHECK(pen);
    uint32_t kinds[3] = {0}, two_bases = 0, settled = 0;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/session-%u", argv[1], seed);
        maker m = {.file = fopen(path, "wb")};
        FUZZ_CHECK(m.file != NULL);
        net_schema* schema;
        ecs_world* world = state_world_make(false, &schema);
        net_rows* rows = net_schema_rows(schema);
        sender_init(&m.t, rows, STATE_INDEX_MAX, seed);
        static const char* const names[] = {"mover", "holder", "extra", "mover+extra", "flyer"};
        for (uint32_t i = 0; i < BASE_COUNT(names); i++)
            sender_add_template(&m.t, net_rows_find(rows, ecs_template_find(world, names[i])));
        run(&m, pen);
        for (uint32_t i = 0; i < 3; i++)
            kinds[i] += m.t.runs_by_kind[i];
        two_bases += m.t.rows_two_bases;
        settled += m.t.rows_settled;
        sender_deinit(&m.t);
        net_schema_destroy(schema);
        ecs_world_destroy(world);
        FUZZ_CHECK(fclose(m.file) == 0);
    }
    free(pen);
    // Otherwise the corpus would lack a form.
    FUZZ_CHECK(kinds[0] > 5 && kinds[1] > 5 && kinds[2] > 5 && two_bases > 5 && settled > 5);
    return 0;
}
