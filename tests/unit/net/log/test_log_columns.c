// SPDX-License-Identifier: MIT
// Blocks by column: what is written reads back to the same bytes, whatever the records are; and no
// bytes make the reader do more than fail.
#include "test.h"
#include "text_file.h"

#include "base/bytes.h"
#include "log/log_block.h"
#include "log/log_record.h"

#define SEED 20261122

enum { LINE_BYTES = 4096, PAGE_BLOCK_BYTES_MAX = 1000 };

typedef struct bench {
    net_log_packer packer;
    uint8_t *payload, *columns, *joined;
    uint32_t size, record_count;
    net_log_draft draft;
    ecs_tick tick;
} bench;

static void bench_open(bench* self) {
    memset(self, 0, sizeof *self);
    net_log_packer_init(&self->packer, NULL);
    self->payload = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    self->columns = calloc(1, NET_LOG_COLUMNS_BYTES_MAX);
    self->joined = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    self->draft.memory = calloc(1, NET_LOG_DRAFT_BYTES);
    assert_true(self->payload && self->columns && self->joined && self->draft.memory);
}

static void bench_close(bench* self) {
    net_log_packer_deinit(&self->packer);
    free(self->payload);
    free(self->columns);
    free(self->joined);
    free(self->draft.memory);
}

#define BENCH_CASE(name) CASE_WITH(bench, self, bench_open(self), bench_close(self), name)

static void begin_block(bench* self, ecs_tick tick) {
    self->size = 0;
    self->record_count = 0;
    self->tick = tick;
}

static void add_raw(bench* self, const void* data, uint32_t size) {
    assert_true(self->size + size + 4 <= NET_LOG_BLOCK_BYTES_MAX);
    self->size += base_varint_put(self->payload + self->size, size);
    memcpy(self->payload + self->size, data, size);
    self->size += size;
    self->record_count++;
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

// Split, join, compare. @return the bytes of the columns; 0: they are no records.
static uint32_t round_trip(bench* self) {
    const uint32_t size = net_log_columns_split(self->payload, self->size, self->columns);
    if (size == 0) return 0;
    memset(self->joined, 0xEE, self->size);
    assert_true(net_log_columns_join(self->columns, size, self->joined, self->size));
    assert_memory_equal(self->joined, self->payload, self->size);
    // Nothing may be missing, and nothing may follow.
    assert_false(net_log_columns_join(self->columns, size - 1, self->joined, self->size));
    assert_false(net_log_columns_join(self->columns, size + 1, self->joined, self->size));
    assert_false(net_log_columns_join(self->columns, size, self->joined, self->size - 1));
    assert_false(net_log_columns_join(self->columns, size, self->joined, self->size + 1));
    return size;
}

// The stored bytes of the payload as a data block, which unpacks to the same.
static uint32_t pack(bench* self) {
    net_log_block block = {.type = NET_LOG_BLOCK_DATA, .record_count = self->record_count};
    (void)net_log_packer_pack(&self->packer, &block, self->payload, self->size);
    memset(self->joined, 0xEE, self->size);
    assert_true(net_log_block_unpack(&block, self->packer.stored + NET_LOG_BLOCK_HEADER_BYTES,
                                     self->columns, self->joined));
    assert_memory_equal(self->joined, self->payload, self->size);
    return block.flags ? block.stored_bytes : 0;
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
        assert_true(round_trip(self) > 0);
        before += self->size;
        after += pack(self);
    }
    assert_true(after < before * 3 / 4);
}

// What no writer here writes comes back too.
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
        assert_true(round_trip(self) > 0);
        assert_true(pack(self) > 0);
    }
}

BENCH_CASE(bytes_that_are_no_records_are_stored_as_they_are) {
    static const char* const strange[] = {
        "\x05\x0a\x02\x08\x05",         // a record longer than its block
        "\x04\x0a\x03\x08\x05\x08\x06", // a begin longer than its record
        "\x06\x0a\x04\x2a\x03\x08\x07", // an input longer than its begin
        "\x04\x0a\x02\x08\x85",         // a number without an end
        "\x03\x0d\x01\x02\x03",         // four bytes of which one is missing
        "\x03\x0b\x01\x0c",             // a group
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    };
    for (uint32_t i = 0; i < BASE_COUNT(strange); i++) {
        begin_block(self, 5);
        self->record_count = 1;
        self->size = (uint32_t)strlen(strange[i]);
        memcpy(self->payload, strange[i], self->size);
        assert_int_equal(round_trip(self), 0);
        assert_int_equal(pack(self), 0);
    }
}

// @return false: the columns differ, and were printed.
static bool is_vector_right(bench* self, const char* payload, const char* columns) {
    static char made[2 * PAGE_BLOCK_BYTES_MAX + 1];
    self->size = (uint32_t)read_hex(payload, self->payload, PAGE_BLOCK_BYTES_MAX);
    const uint32_t size = round_trip(self);
    assert_in_range(size, 1, PAGE_BLOCK_BYTES_MAX);
    for (uint32_t i = 0; i < size; i++)
        (void)base_text_format(made + 2 * (size_t)i, 3, "%02x", self->columns[i]);
    if (strcmp(made, columns) == 0) return true;
    print_message("payload=%s columns=%s\n", payload, made);
    return false;
}

static void expect_vectors(bench* self, const char* path, uint32_t expected) {
    static char line[LINE_BYTES], payload[LINE_BYTES], columns[LINE_BYTES];
    FILE* page = fopen(path, "r");
    assert_non_null(page);
    uint32_t equal = 0, found = 0;
    while (fgets(line, sizeof line, page)) {
        if (sscanf(line, "payload=%2047s columns=%2047s", payload, columns) != 2) continue;
        equal += is_vector_right(self, payload, columns);
        found++;
    }
    (void)fclose(page);
    assert_int_equal(found, expected);
    assert_int_equal(equal, found);
}

BENCH_CASE(the_page_has_the_columns_of_the_code) {
    expect_vectors(self, PROTO_FOLDER "/LOG.md", 3);
    expect_vectors(self, PROTO_FOLDER "/log_vectors.txt", 1); // that of a whole log
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
    const uint32_t size = net_log_columns_split(self->payload, self->size, self->columns);
    uint8_t* copy = malloc(size);
    assert_true(size > 0 && copy);
    uint32_t read = 0;
    for (uint32_t i = 0; i < 800; i++) {
        memcpy(copy, self->columns, size);
        for (uint32_t k = 0; k <= i % 3; k++)
            copy[base_rng_below(&rng, size)] ^= (uint8_t)(1 + base_rng_below(&rng, 255));
        const uint32_t cut = i % 2 ? size : 1 + base_rng_below(&rng, size);
        read += net_log_columns_join(copy, cut, self->joined, self->size);
    }
    assert_true(read > 0 && read < 600); // a hash with another bit is a hash
    // Columns that claim a megabyte from nothing, and columns whose lengths overflow.
    assert_false(net_log_columns_join(copy, 1, self->joined, NET_LOG_BLOCK_BYTES_MAX));
    memset(copy, 0xFF, size);
    assert_false(net_log_columns_join(copy, size, self->joined, self->size));
    free(copy);
}
