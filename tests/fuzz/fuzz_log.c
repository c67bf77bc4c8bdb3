// SPDX-License-Identifier: MIT
// Event logs from any bytes. The first byte chooses their place: a whole file; the payload of a
// data block with right checksums (a fuzzer cannot guess checksums); a queue beside an empty log;
// or single parts: record, header, sums, schema; the state of ticks; or the columns of a block.
//
// Invariants: an accepted log can be read to its end, twice with the same records. Columns give the
// same bytes.
#define _GNU_SOURCE
#include "fuzz.h"

#include "base/hash.h"
#include "log/log_block.h"
#include "log/log_record.h"
#include "log/log_queue.h"
#include "log/log_read.h"
#include "log/log_recorder.h"
#include "replay/log_state.h"
#include "net/log_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

enum { IDENTITY = 7 };

// A file with these bytes. @return its descriptor.
static int open_bytes(const void* data, size_t size, char name[32]) {
    int fd = memfd_create("log", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return fd;
}

static uint64_t walk(net_log_reader* reader) {
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    net_log_order order = {0};
    uint64_t hash = 0;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        // Behind damage the log goes on at a keyframe.
        if (cursor.resumed != 0)
            order = (net_log_order){.tick = cursor.resumed, .last_end = cursor.resumed};
        FUZZ_CHECK(net_log_order_add(&order, &record));
        hash = base_hash64_mix(hash, base_hash64(record.body, record.body_bytes, record.tick));
        for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind < NET_LOG_ITEM_KINDS; kind++) {
            size_t offset = 0;
            uint32_t count = 0;
            net_log_item item;
            while (net_log_item_next(&record, kind, &offset, &item))
                count++;
            FUZZ_CHECK(count == record.item_count[kind]);
        }
    }
    FUZZ_CHECK(!cursor.has_failed);
    const net_log_info* info = net_log_reader_info(reader);
    FUZZ_CHECK(order.last_end == info->last_tick || info->is_damaged);
    return hash;
}

static void drop_line(void* context, const char* line) {
    (void)context;
    FUZZ_CHECK(line[0] == '{');
}

// What a spectator may have of it is a log again, or ends where it is damaged.
static void watch_file(int log) {
    net_log_reader* reader;
    base_bytes record;
    char name[32];
    net_result result = NET_OK;
    base_bytes_init(&record, NULL);
    net_log_watch* watch = net_log_watch_create(NULL);
    uint64_t at = 0;
    while (result == NET_OK)
        result = net_log_watch_step(watch, log, UINT64_MAX, &at, &record);
    FUZZ_CHECK(result == NET_ERR_CLOSED || result == NET_ERR_DAMAGED);
    net_log_watch_destroy(watch);
    const int fd = open_bytes(record.data, record.size, name);
    (void)!net_log_reader_create(NULL, name, NULL, &reader);
    if (reader) {
        net_log_stats stats;
        FUZZ_CHECK(net_log_reader_info(reader)->is_seen && net_log_reader_info(reader)->seed == 0);
        FUZZ_CHECK(net_log_read_stats(reader, &stats) == NET_OK);
        FUZZ_CHECK(stats.joins == 0 && stats.leaves == 0 && stats.inputs == 0);
        FUZZ_CHECK(stats.client_events == 0 && stats.records[NET_LOG_KIND_CONTROL] == 0);
        net_log_reader_destroy(reader);
    }
    base_bytes_deinit(&record);
    close(fd);
}

static void read_file(const uint8_t* data, size_t size) {
    char name[32];
    const int fd = open_bytes(data, size, name);
    net_log_reader* reader;
    net_result result = net_log_reader_create(NULL, name, NULL, &reader);
    FUZZ_CHECK(result == NET_OK || result == NET_ERR_DAMAGED || result == NET_ERR_VERSION);
    if (reader) {
        net_log_stats stats;
        uint64_t hash = walk(reader);
        FUZZ_CHECK(walk(reader) == hash);
        FUZZ_CHECK(net_log_read_stats(reader, &stats) == NET_OK);
        FUZZ_CHECK(net_log_dump(reader, NULL, drop_line, NULL) == NET_OK);
        const bool is_whole = strcmp(net_log_reader_verdict(reader), "whole") == 0;
        const net_log_info checked = *net_log_reader_info(reader);
        FUZZ_CHECK(is_whole == (!checked.is_damaged && !checked.is_cut));
        FUZZ_CHECK(walk(reader) == hash);
        FUZZ_CHECK(memcmp(&checked, net_log_reader_info(reader), sizeof checked) == 0);
        // With a key that no signature is of.
        const net_log_public_key key = {.bytes = {1, 2, 3}};
        net_log_signed found;
        net_log_reader_check_signed(reader, &key, NULL, &found);
        FUZZ_CHECK(!found.is_signed && found.last_tick == 0 &&
                   found.is_wrong <= found.has_signature);
        FUZZ_CHECK(walk(reader) == hash);
        net_log_reader_destroy(reader);
        if (base_hash64(data, size, 0) % 16 == 0) watch_file(fd); // it takes megabytes
    }
    close(fd);
}

static void append_block(base_bytes* file, net_log_packer* packer, net_log_block block,
                         const uint8_t* payload, size_t size) {
    size_t stored = net_log_packer_pack(packer, &block, payload, (uint32_t)size);
    base_bytes_write(file, packer->stored, stored);
}

// Begin a log with this header, whose length is in it.
static void begin_file(base_bytes* file, net_log_packer* packer, const uint8_t* header,
                       size_t size) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    base_bytes_init(file, NULL);
    net_log_packer_init(packer, NULL);
    net_log_prologue_write(prologue);
    base_bytes_write(file, prologue, sizeof prologue);
    const net_log_block block = {
        .type = NET_LOG_BLOCK_HEADER, .identity = IDENTITY, .record_count = 1};
    append_block(file, packer, block, header, size);
}

/// Make a data block with the bytes as its payload and everything else right.
static void read_payload(const uint8_t* data, size_t size) {
    if (size < 3 || size > NET_LOG_BLOCK_BYTES_MAX) return;
    uint8_t header[128];
    proto_pb_writer wire = {.data = header + 1, .capacity = sizeof header - 1};
    proto_pb_write_number(&wire, 1, 3);
    proto_pb_write_fixed64(&wire, 2, IDENTITY);
    proto_pb_write_text(&wire, 3, "game");
    proto_pb_write_number(&wire, 8, 60);
    header[0] = (uint8_t)wire.size;
    base_bytes file;
    net_log_packer packer;
    begin_file(&file, &packer, header, wire.size + 1);
    const net_log_block block = {.type = NET_LOG_BLOCK_DATA,
                                 .identity = IDENTITY,
                                 .ordinal = 1,
                                 .first_record = 1,
                                 .first_tick = 1,
                                 .record_count = 1u + data[0] % 8,
                                 .last_tick = 1u + data[1] % 8};
    append_block(&file, &packer, block, data + 2, size - 2);
    read_file(file.data, file.size);
    net_log_packer_deinit(&packer);
    base_bytes_deinit(&file);
}

static void read_queue(const uint8_t* data, size_t size) {
    net_log_queue_copy copy = {.exists = true, .memory_bytes = size};
    copy.memory = size > 8192 ? base_allocate(NULL, size) : NULL;
    if (!copy.memory) return;
    memcpy(copy.memory, data, size);
    // Its checksum is made right.
    uint64_t identity;
    memcpy(&identity, copy.memory + 16, sizeof identity);
    uint32_t crc = base_crc32c(0, copy.memory, 32);
    memcpy(copy.memory + 32, &crc, sizeof crc);
    base_bytes records;
    uint64_t lost = 0;
    const char* reason;
    base_bytes_init(&records, NULL);
    net_log_queue_state state = net_log_queue_take(&copy, identity, 1, &records, &lost, &reason);
    FUZZ_CHECK((state == NET_LOG_QUEUE_LOSSY) == (lost > 0));
    base_bytes_deinit(&records);
    net_log_queue_unload(&copy);
}

static void read_pieces(const uint8_t* data, size_t size) {
    net_log_info info = {0};
    char name[ECS_NAME_BYTES_MAX];
    net_log_demand demand;
    (void)!net_log_header_read(&info, data, size, &demand);
    for (uint32_t id = 0; id < 4; id++)
        (void)!net_log_header_component(data, size, id, name);
    net_log_record record;
    (void)!net_log_record_read(&record, data, size);
    net_log_sums sums = {.untracked_values = 0};
    if (net_log_sums_read(&sums, 1, data, size))
        FUZZ_CHECK(net_log_sums_read(&sums, 2, data, size));
    net_log_schema* schema;
    bool has_values;
    if (net_log_schema_create(NULL, data, size, &has_values, &schema) == NET_OK)
        base_owner_destroy(schema);
}

// ---- state

static void put_field(proto_pb_writer* wire, const char* name, uint32_t kind, uint32_t bits) {
    size_t mark = wire->size;
    proto_pb_write_text(wire, 1, name);
    proto_pb_write_number(wire, 2, kind);
    proto_pb_write_number(wire, 3, 1);
    proto_pb_write_number(wire, 4, bits);
    if (bits > 0) proto_pb_write_double(wire, 6, 0.5);
    proto_pb_write_end(wire, mark, 4);
}

static void put_component(proto_pb_writer* wire, uint32_t id, const char* name, uint32_t kind,
                          uint32_t bits) {
    size_t mark = wire->size;
    proto_pb_write_number(wire, 1, id);
    proto_pb_write_text(wire, 2, name);
    if (kind == PROTO_KIND_COUNT)
        proto_pb_write_number(wire, 5, 1); // of variable size
    else
        put_field(wire, "x", kind, bits);
    if (kind == PROTO_F32) put_field(wire, "y", kind, bits);
    proto_pb_write_end(wire, mark, NET_LOG_SCHEMA_COMPONENT);
}

// Two templates: with a source and its integral, a reference and a text; and with a wide number.
static size_t make_header(uint8_t* header, size_t capacity) {
    static const uint32_t templates[2][4] = {{1, 2, 3, 4}, {3, 5}};
    proto_pb_writer wire = {.data = header, .capacity = capacity};
    put_component(&wire, 1, "pos", PROTO_F32, 12);
    put_component(&wire, 2, "vel", PROTO_F32, 8);
    put_component(&wire, 3, "to", PROTO_ENTITY, 0);
    put_component(&wire, 4, "name", PROTO_KIND_COUNT, 0);
    put_component(&wire, 5, "id", PROTO_U64, 0);
    for (uint32_t t = 0; t < 2; t++) {
        size_t mark = wire.size;
        proto_pb_write_number(&wire, 1, t + 1);
        proto_pb_write_text(&wire, 2, t ? "b" : "a");
        for (uint32_t i = 0; i < 4 && templates[t][i]; i++) {
            size_t inner = wire.size;
            proto_pb_write_number(&wire, 1, templates[t][i]);
            proto_pb_write_number(&wire, 2, 3);
            if (templates[t][i] == 1) proto_pb_write_number(&wire, 7, 2); // the integral of vel
            proto_pb_write_end(&wire, inner, 3);
        }
        proto_pb_write_end(&wire, mark, NET_LOG_SCHEMA_TEMPLATE);
    }
    proto_pb_write_end(&wire, 0, NET_LOG_HEADER_SCHEMA);
    proto_pb_write_number(&wire, 1, 3);
    proto_pb_write_fixed64(&wire, 2, IDENTITY);
    proto_pb_write_text(&wire, 3, "game");
    proto_pb_write_number(&wire, 8, 30);
    proto_pb_write_number(&wire, 9, 1000);
    proto_pb_write_number(&wire, 15, NET_LOG_ROW_CODE);
    FUZZ_CHECK(!wire.failed);
    return wire.size;
}

// A log with that header and no tick.
static net_log_reader* open_empty(void) {
    uint8_t header[512];
    const size_t size = make_header(header + 2, sizeof header - 2);
    header[0] = (uint8_t)(size | 0x80);
    header[1] = (uint8_t)(size >> 7);
    base_bytes file;
    net_log_packer packer;
    begin_file(&file, &packer, header, size + 2);
    char name[32];
    const int fd = open_bytes(file.data, file.size, name);
    net_log_reader* reader;
    FUZZ_CHECK(net_log_reader_create(NULL, name, NULL, &reader) == NET_OK);
    close(fd);
    net_log_packer_deinit(&packer);
    base_bytes_deinit(&file);
    return reader;
}

static void read_entity(const net_log_state* state, ecs_entity entity) {
    ecs_number values[PROTO_ROW_FIELDS_MAX];
    const net_log_component* component;
    size_t size;
    for (uint32_t i = 0; (component = net_log_state_template_component(state, entity, i)); i++)
        FUZZ_CHECK(
            net_log_state_read(state, entity, component, values) != component->is_varsize &&
            (component->is_varsize || !net_log_state_bytes(state, entity, component, &size)));
}

// Ticks of at most 255 bytes: a byte of length, flags and items of a part.
static void read_values(const uint8_t* data, size_t size) {
    net_log_reader* reader = open_empty();
    net_log_state* state;
    FUZZ_CHECK(net_log_state_create(reader, NULL, NULL, &state) == NET_OK);
    net_result result = NET_OK;
    for (ecs_tick tick = 1; result == NET_OK && size >= 2 && data[0] > 0 && data[0] < size;
         tick++) {
        uint8_t part[256] = {NET_LOG_FORM_STATE};
        const uint8_t sums[1] = {1};
        memcpy(part + 1, data + 1, data[0]);
        part[1] |= NET_LOG_STATE_LAST;
        const net_log_record end = {
            .kind = NET_LOG_KIND_END, .tick = tick, .changes = sums, .changes_bytes = 1};
        const net_log_record record = {.kind = NET_LOG_KIND_STATE,
                                       .tick = tick,
                                       .changes = part,
                                       .changes_bytes = data[0] + 1u};
        FUZZ_CHECK(net_log_state_take(state, &end, false) == NET_OK);
        result = net_log_state_take(state, &record, false);
        uint32_t count;
        if (result == NET_OK) (void)net_log_state_touches(state, &count);
        for (ecs_entity at = ECS_ENTITY_NONE;
             result == NET_OK && (at = net_log_state_next(state, at)) != ECS_ENTITY_NONE;)
            read_entity(state, at);
        size -= data[0] + 1u;
        data += data[0] + 1u;
    }
    net_log_state_destroy(state);
    net_log_reader_destroy(reader);
}

/// Columns: u8 and u8 length of the payload, the bytes. What is joined is split to the same.
static void read_columns(const uint8_t* data, size_t size) {
    if (size < 3 || size > 1u << 16) return;
    static uint8_t columns[NET_LOG_COLUMNS_BYTES_MAX], again[NET_LOG_COLUMNS_BYTES_MAX];
    static uint8_t payload[1u << 16];
    const uint32_t bytes = 1u + data[0] + 256u * data[1], left = (uint32_t)size - 2;
    memcpy(columns, data + 2, left);
    if (!net_log_columns_join(columns, left, payload, bytes)) return;
    const uint32_t split = net_log_columns_split(payload, bytes, again);
    // Lengths may take more bytes than they need.
    FUZZ_CHECK(split > bytes && split <= left);
    FUZZ_CHECK(memcmp(again + split - bytes, columns + left - bytes, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    void (*const targets[])(const uint8_t*, size_t) = {read_file,   read_payload, read_queue,
                                                       read_pieces, read_values,  read_columns};
    targets[data[0] < 4    ? data[0]
            : data[0] < 12 ? data[0] / 4 + 3
                           : data[0] % 4](data + 1, size - 1);
    return 0;
}
