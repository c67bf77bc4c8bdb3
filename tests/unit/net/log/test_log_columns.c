// SPDX-License-Identifier: MIT
// Blocks by column: what is written reads back to the same bytes, whatever the records are; and no
// bytes make the reader do more than fail.
#include "test.h"

#include "base/bytes.h"
#include "base/rng.h"
#include "base/text.h"
#include "log/log_block.h"
#include "log/log_columns.h"
#include "log/log_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20261122

enum { LINE_BYTES = 4096, PAGE_BLOCK_BYTES_MAX = 1000 };

// ---- the range code ----

// Runs of likely bits and of unlikely ones: carries run through bytes of FF.
CASE(every_run_of_bits_reads_back) {
    enum { COUNT = 20000, ROUNDS = 40 };
    static uint8_t code[COUNT], bits[COUNT];
    base_rng rng = base_rng_make(SEED, 2);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t share = round % 8 == 0 ? 0 : base_rng_below(&rng, 1000);
        net_log_model model;
        net_log_range range;
        net_log_model_begin(&model, sizeof model);
        net_log_range_write(&range, code, sizeof code);
        for (uint32_t i = 0; i < COUNT; i++) {
            bits[i] = base_rng_below(&rng, 1000) < share;
            (void)net_log_range_bit(&range, &model, bits[i]);
        }
        assert_true(net_log_range_end(&range));
        const size_t size = range.size;
        if (share == 0) assert_true(size < 24); // 20,000 bits that are known
        net_log_model_begin(&model, sizeof model);
        net_log_range_read(&range, code, size);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(net_log_range_bit(&range, &model, 0), bits[i]);
        assert_true(net_log_range_end(&range));
    }
}

CASE(a_code_without_room_fails) {
    uint8_t code[4];
    static net_log_number_models models;
    net_log_range range;
    net_log_model_begin(&models, sizeof models);
    net_log_range_write(&range, code, sizeof code);
    (void)net_log_range_number(&range, &models, UINT64_MAX);
    assert_false(net_log_range_end(&range));
}

// ---- blocks ----

typedef struct bench {
    net_log_columns* columns;
    uint8_t *payload, *scratch;
    uint32_t size;
    net_log_block block;
    net_log_draft draft;
    ecs_tick tick;
} bench;

static void bench_open(bench* self) {
    memset(self, 0, sizeof *self);
    assert_ok(net_log_columns_create(NULL, &self->columns));
    self->payload = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    self->scratch = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    self->draft.memory = calloc(1, NET_LOG_DRAFT_BYTES);
    assert_true(self->payload && self->scratch && self->draft.memory);
}

static void bench_close(bench* self) {
    net_log_columns_destroy(self->columns);
    free(self->payload);
    free(self->scratch);
    free(self->draft.memory);
}

#define BENCH_CASE(name) CASE_WITH(bench, self, bench_open(self), bench_close(self), name)

static void begin_block(bench* self, ecs_tick tick) {
    self->size = 0;
    self->tick = tick;
    self->block = (net_log_block){.type = NET_LOG_BLOCK_DATA, .first_tick = tick};
}

static void add_raw(bench* self, const void* data, uint32_t size) {
    assert_true(self->size + size + 4 <= NET_LOG_BLOCK_BYTES_MAX);
    self->size += base_varint_put(self->payload + self->size, size);
    memcpy(self->payload + self->size, data, size);
    self->size += size;
    self->block.record_count++;
}

static proto_pb_writer* begin_record(bench* self) {
    net_log_draft_begin(&self->draft);
    proto_pb_write_number(&self->draft.body, 1, self->tick);
    return &self->draft.body;
}

static void end_record(bench* self, net_log_kind kind) {
    uint32_t size;
    const uint8_t* record = net_log_draft_end(&self->draft, kind, 1, self->tick, &size);
    add_raw(self, record + NET_LOG_QUEUE_PREFIX_BYTES, size - NET_LOG_QUEUE_PREFIX_BYTES);
}

static void add_end(bench* self, base_rng* rng) {
    uint8_t changes[64];
    proto_pb_writer* body = begin_record(self);
    const uint32_t size = base_rng_below(rng, sizeof changes);
    for (uint32_t i = 0; i < size; i++)
        changes[i] = (uint8_t)base_rng_below(rng, 256);
    proto_pb_write_fixed64(body, 2, base_rng_u64(rng));
    if (base_rng_below(rng, 8) == 0) {
        proto_pb_write_fixed64(body, 3, base_rng_u64(rng));
        proto_pb_write_number(body, 4, 1);
    }
    proto_pb_write_bytes(body, 5, changes, size);
    if (base_rng_below(rng, 4) == 0)
        assert_true(net_log_item_write(body, &(net_log_item){.kind = NET_LOG_ITEM_SERVER_EVENT,
                                                             .message = 3,
                                                             .payload = changes,
                                                             .payload_bytes = size}));
    proto_pb_write_number(body, 7, base_rng_below(rng, 10) == 0);
    end_record(self, NET_LOG_KIND_END);
}

// Code, decode, compare. @return the coded bytes; 0: they would not be fewer.
static uint32_t round_trip(bench* self) {
    uint32_t size;
    self->block.unpacked_bytes = self->size;
    const uint8_t* coded = net_log_columns_write(self->columns, &self->block, self->payload,
                                                 self->size, self->scratch, &size);
    if (!coded) return 0;
    uint8_t* copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, coded, size);
    memset(self->scratch, 0xEE, self->size);
    assert_true(net_log_columns_read(self->columns, &self->block, copy, size, self->scratch));
    assert_memory_equal(self->scratch, self->payload, self->size);
    // Nothing may be missing, and nothing may follow.
    assert_false(net_log_columns_read(self->columns, &self->block, copy, size - 1, self->scratch));
    self->block.unpacked_bytes--;
    assert_false(net_log_columns_read(self->columns, &self->block, copy, size, self->scratch));
    self->block.unpacked_bytes++;
    free(copy);
    return size;
}

// One client of a made-up game: fields of several types that stay, jump or drift.
typedef struct player {
    uint32_t client, number;
    uint64_t seen, values[15];
} player;

static uint32_t pack_payload(const player* from, uint32_t fields, uint8_t payload[256]) {
    proto_pb_writer wire = {.data = payload, .capacity = 256};
    for (uint32_t i = 0; i < fields; i++) {
        if (from->values[i] == 0) continue;
        if (i % 5 == 3) {
            proto_pb_write_varint(&wire, (i + 1) << 3 | 5);
            proto_pb_write_raw(&wire, (uint32_t)from->values[i], 4);
        } else if (i % 5 == 4) {
            proto_pb_write_fixed64(&wire, i + 1, from->values[i]);
        } else {
            proto_pb_write_number(&wire, i + 1, from->values[i]);
        }
    }
    assert_false(wire.failed);
    return (uint32_t)wire.size;
}

static void move_player(player* self, uint32_t fields, base_rng* rng) {
    self->number++;
    self->seen += self->seen > 0 ? 250 + base_rng_below(rng, 12) : 0;
    for (uint32_t i = 0; i < fields; i++) {
        const uint32_t dice = base_rng_below(rng, 8);
        if (dice == 0) self->values[i] = base_rng_u64(rng) >> base_rng_below(rng, 64);
        if (dice == 1) self->values[i] += base_rng_below(rng, 9);
        if (dice == 2) self->values[i] = 0;
        if (i % 5 == 3) self->values[i] = (uint32_t)self->values[i];
    }
}

static void add_begin(bench* self, player* players, uint32_t count, uint32_t fields,
                      base_rng* rng) {
    proto_pb_writer* body = begin_record(self);
    if (base_rng_below(rng, 6) == 0)
        assert_true(net_log_item_write(
            body, &(net_log_item){.kind = NET_LOG_ITEM_LEAVE, .client = 9, .reason = 2}));
    const bool is_odd = base_rng_below(rng, 20) == 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t payload[256];
        if (is_odd && base_rng_below(rng, 2)) continue;
        move_player(&players[i], fields, rng);
        const bool is_repeat = base_rng_below(rng, 10) == 0;
        uint32_t size = is_repeat ? 0 : pack_payload(&players[i], fields, payload);
        if (is_odd && !is_repeat) { // bytes that are no message
            size = base_rng_below(rng, 257);
            for (uint32_t k = 0; k < size; k++)
                payload[k] = (uint8_t)base_rng_below(rng, 256);
        }
        assert_true(
            net_log_item_write(body, &(net_log_item){.kind = NET_LOG_ITEM_INPUT,
                                                     .client = players[i].client,
                                                     .number = players[i].number,
                                                     .is_repeat = is_repeat,
                                                     .seen = is_repeat ? 0 : players[i].seen,
                                                     .payload = payload,
                                                     .payload_bytes = size}));
    }
    end_record(self, NET_LOG_KIND_BEGIN);
}

BENCH_CASE(every_block_reads_back) {
    base_rng rng = base_rng_make(SEED, 3);
    uint32_t coded = 0;
    uint64_t before = 0, after = 0;
    for (uint32_t round = 0; round < 100; round++) {
        player players[20];
        const uint32_t count = base_rng_below(&rng, 20), fields = base_rng_below(&rng, 16);
        begin_block(self, 1 + base_rng_below(&rng, 100000));
        for (uint32_t i = 0; i < count; i++)
            players[i] = (player){.client = 1 + i * (1 + base_rng_below(&rng, 3)),
                                  .number = base_rng_below(&rng, 2) ? UINT32_MAX - 3 : i,
                                  .seen = base_rng_below(&rng, 2) ? self->tick * 256 : 0};
        for (uint32_t i = 0; i < 15; i++) {
            add_begin(self, players, count, fields, &rng);
            if (base_rng_below(&rng, 10) == 0) {
                proto_pb_write_bytes(begin_record(self), 5, "changes", 7);
                end_record(self, NET_LOG_KIND_STATE);
            }
            if (base_rng_below(&rng, 10) == 0) add_raw(self, "\x3a\x03new", 5); // a later kind
            add_end(self, &rng);
            self->tick++;
        }
        const uint32_t size = round_trip(self);
        coded += size > 0;
        before += self->size;
        after += size > 0 ? size : self->size;
    }
    assert_true(coded > 95);
    assert_true(after < before * 3 / 4);
}

// What no writer here writes is not understood, and so it is stored as it is or coded as bytes.
BENCH_CASE(strange_records_keep_their_bytes) {
    static const char* const records[] = {
        "\x0a\x02\x08\x05",                                 // begin of tick 5
        "\x0a\x03\x08\x85\x00",                             // its tick in a longer form
        "\x0a\x08\x08\x05\x2a\x04\x08\x07\x10\x01",         // one input
        "\x0a\x08\x08\x05\x2a\x04\x10\x01\x08\x07",         // its fields in another order
        "\x0a\x0a\x08\x05\x2a\x04\x08\x07\x10\x01\x12\x00", // a leave behind it
        "\x12\x02\x08\x05",                                 // an end without changes
        "\x1a\x02\x08\x05",                                 // close
    };
    for (uint32_t i = 0; i < BASE_COUNT(records); i++) {
        uint8_t record[2 + UINT8_MAX];
        uint32_t size = 2u + (uint8_t)records[i][1];
        memcpy(record, records[i], size);
        begin_block(self, 5);
        for (uint32_t k = 0; k < 40; k++)
            add_raw(self, record, size);
        (void)round_trip(self);
    }
    begin_block(self, 5);
    memset(self->payload, 0xFF, 100);
    self->size = 100;
    self->block.record_count = 3;
    assert_int_equal(round_trip(self), 0);
}

static void add_inputs(bench* self, uint32_t count) {
    proto_pb_writer* body = begin_record(self);
    for (uint32_t i = 0; i < count; i++)
        assert_true(net_log_item_write(body, &(net_log_item){.kind = NET_LOG_ITEM_INPUT,
                                                             .client = 1 + i,
                                                             .number = 7,
                                                             .payload = (const uint8_t*)"",
                                                             .payload_bytes = 0}));
    end_record(self, NET_LOG_KIND_BEGIN);
}

static size_t read_hex(const char* text, uint8_t* bytes, size_t capacity) {
    size_t size = 0;
    unsigned value;
    while (size < capacity && sscanf(text + 2 * size, "%2x", &value) == 1)
        bytes[size++] = (uint8_t)value;
    return size;
}

// The block of a vector, coded and compared. @return false: it differs, and was printed.
static bool is_vector_coded(bench* self, const char* payload, const char* coded) {
    static char made[2 * PAGE_BLOCK_BYTES_MAX + 1];
    made[0] = '\0';
    self->size = (uint32_t)read_hex(payload, self->payload, PAGE_BLOCK_BYTES_MAX);
    assert_true(round_trip(self) > 0);
    uint32_t size;
    const uint8_t* bytes = net_log_columns_write(self->columns, &self->block, self->payload,
                                                 self->size, self->scratch, &size);
    for (uint32_t i = 0; i < size && i < PAGE_BLOCK_BYTES_MAX; i++)
        (void)base_text_format(made + 2 * (size_t)i, 3, "%02x", bytes[i]);
    if (strcmp(made, coded) == 0) return true;
    print_message("payload=%s coded=%s\n", payload, made);
    return false;
}

static void expect_vectors(bench* self, const char* path, uint32_t expected) {
    static char line[LINE_BYTES], payload[LINE_BYTES], coded[LINE_BYTES];
    FILE* page = fopen(path, "r");
    assert_non_null(page);
    uint32_t equal = 0, found = 0, records;
    unsigned long long first_tick;
    while (fgets(line, sizeof line, page)) {
        if (sscanf(line, "columns first_tick=%llu records=%u payload=%2047s coded=%2047s",
                   &first_tick, &records, payload, coded) != 4)
            continue;
        begin_block(self, first_tick);
        self->block.record_count = records;
        equal += is_vector_coded(self, payload, coded);
        found++;
    }
    (void)fclose(page);
    assert_int_equal(found, expected);
    assert_int_equal(equal, found);
}

BENCH_CASE(the_page_has_the_blocks_of_the_code) {
    expect_vectors(self, PROTO_FOLDER "/LOG.md", 10);
    expect_vectors(self, PROTO_FOLDER "/log_vectors.txt", 1); // that of a whole log
}

BENCH_CASE(clients_have_a_limit) {
    for (uint32_t over = 0; over < 2; over++) {
        begin_block(self, 1);
        add_inputs(self, NET_CLIENTS_MAX - 1 + over);
        assert_true(round_trip(self) > 0);
    }
    begin_block(self, 1);
    add_inputs(self, NET_CLIENTS_MAX + 1);
    assert_int_equal(round_trip(self), 0); // the block stays as it is
}

BENCH_CASE(foreign_bytes_fail_and_do_no_harm) {
    base_rng rng = base_rng_make(SEED, 4);
    print_message("seed %d\n", SEED);
    player players[4] = {{.client = 1}, {.client = 2}, {.client = 3, .seen = 256}, {.client = 7}};
    begin_block(self, 10);
    for (uint32_t i = 0; i < 15; i++) {
        add_begin(self, players, 4, 6, &rng);
        add_end(self, &rng);
        self->tick++;
    }
    uint32_t size, read = 0;
    self->block.unpacked_bytes = self->size;
    const uint8_t* coded = net_log_columns_write(self->columns, &self->block, self->payload,
                                                 self->size, self->scratch, &size);
    assert_non_null(coded);
    uint8_t* copy = malloc(size);
    assert_non_null(copy);
    for (uint32_t i = 0; i < 800; i++) {
        memcpy(copy, coded, size);
        for (uint32_t k = 0; k <= i % 3; k++)
            copy[base_rng_below(&rng, size)] ^= (uint8_t)(1 + base_rng_below(&rng, 255));
        const uint32_t cut = i % 2 ? size : 1 + base_rng_below(&rng, size);
        read += net_log_columns_read(self->columns, &self->block, copy, cut, self->scratch);
    }
    assert_true(read > 0 && read < 600); // a hash with another bit is a hash
    // A block that claims a megabyte from nothing.
    self->block.record_count = UINT32_MAX;
    self->block.unpacked_bytes = NET_LOG_BLOCK_BYTES_MAX;
    assert_false(net_log_columns_read(self->columns, &self->block, copy, 1, self->scratch));
    memset(copy, 0xFF, size);
    assert_false(net_log_columns_read(self->columns, &self->block, copy, size, self->scratch));
    free(copy);
}
