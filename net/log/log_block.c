// SPDX-License-Identifier: MIT
// Blocks stand alone: a reader that lost its place finds the next one by its sync bytes, trusts the
// lengths only after the header's checksum held, and unpacks into a buffer of fixed size. Every
// byte of a header is under its checksum, every stored byte under the other one.
#include "log/log_block.h"

#include "base/assert.h"
#include "base/hash.h"
#include "log/log_columns.h"

#include <string.h>
#include <zstd.h>

// ---- columns of a block ----

// A data block has the records of about 15 ticks, and most of their bytes say nothing new: tags,
// lengths, ticks that rise by one, inputs like the ones before. Those go through a range coder
// (log_columns.c). What cannot be guessed - hashes, changes, which are coded already, events - is
// stored after it and left to zstd.
//
//     block   = varint bytes of the code, the code, the rest
//
// The writer decodes what it wrote: a block that would not read back to the same bytes stays as it
// is. So the code needs to know no more of records than what makes them short.

enum {
    FIELD_TICK = 1,
    FIELD_STATE_HASH = 2,
    FIELD_WORLD_HASH = 3,
    FIELD_HAS_WORLD_HASH = 4,
    FIELD_CHANGES = 5,
    HEAD_BYTES_MAX = 10, // of the varint before the code
    KIND_BITS = 2,
    KIND_RAW = 0, // as net_log_kind: 1 begin, 2 end, 3 state
    KIND_STATE = 3,
};

typedef struct record_models {
    net_log_model kind[4][1 << KIND_BITS]; // by the kind before
    net_log_model has_world_hash;
    net_log_number_models tick[4]; // by kind
    net_log_number_models raw_bytes, middle_bytes, changes_bytes[2], events_bytes;
} record_models;

struct net_log_columns {
    const base_allocator* allocator;
    net_log_range range;
    record_models models;
    net_log_inputs inputs;
    uint32_t kind; // of the record before
    ecs_tick tick;
    uint8_t* coded; // NET_LOG_BLOCK_BYTES_MAX each: what is returned, and a part of it
    uint8_t* rest;
};

net_result net_log_columns_create(const base_allocator* allocator, net_log_columns** columns_out) {
    *columns_out = NULL;
    net_log_columns* columns = base_allocate(allocator, sizeof *columns);
    if (!columns) return NET_ERR_MEMORY;
    columns->allocator = allocator;
    columns->coded = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    columns->rest = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    if (columns->coded && columns->rest) {
        *columns_out = columns;
        return NET_OK;
    }
    net_log_columns_destroy(columns);
    return NET_ERR_MEMORY;
}

void net_log_columns_destroy(net_log_columns* columns) {
    if (!columns) return;
    base_release(columns->allocator, columns->coded, NET_LOG_BLOCK_BYTES_MAX);
    base_release(columns->allocator, columns->rest, NET_LOG_BLOCK_BYTES_MAX);
    base_release(columns->allocator, columns, sizeof *columns);
}

static void begin_block(net_log_columns* columns, const net_log_block* block) {
    net_log_model_begin(&columns->models, sizeof columns->models);
    net_log_inputs_begin(&columns->inputs);
    columns->kind = KIND_RAW;
    columns->tick = block->first_tick;
}

// ---- writing ----

static void write_bytes(proto_pb_writer* rest, const uint8_t* data, size_t size) {
    uint8_t* place = proto_pb_extend(rest, size);
    if (place && size > 0) memcpy(place, data, size);
}

static void write_span(net_log_columns* self, proto_pb_writer* rest, net_log_number_models* models,
                       const uint8_t* data, size_t size) {
    (void)net_log_range_number(&self->range, models, size);
    write_bytes(rest, data, size);
}

// The items before the inputs.
static void write_begin(net_log_columns* self, const net_log_record* record,
                        proto_pb_writer* rest) {
    base_reader body = base_reader_make(record->body, record->body_bytes);
    proto_pb_field field;
    size_t first = 0, end = 0;
    while (proto_pb_next(&body, &field) && field.id != NET_LOG_ITEM_INPUT) {
        if (field.id == FIELD_TICK) first = body.offset;
        end = body.offset;
    }
    write_span(self, rest, &self->models.middle_bytes, record->body + first, end - first);
    net_log_inputs_write(&self->inputs, &self->range, record, rest);
}

// The offset of what follows the changes.
static size_t find_behind(const net_log_record* record) {
    base_reader body = base_reader_make(record->body, record->body_bytes);
    proto_pb_field field;
    while (proto_pb_next(&body, &field))
        if (field.id == FIELD_CHANGES) return body.offset;
    return record->body_bytes;
}

// The changes, and for an end its hashes and what follows.
static void write_end(net_log_columns* self, const net_log_record* record, proto_pb_writer* rest) {
    const bool is_end = record->kind == NET_LOG_KIND_END;
    const size_t behind = find_behind(record);
    if (is_end) {
        (void)net_log_range_bit(&self->range, &self->models.has_world_hash, record->has_world_hash);
        proto_pb_write_raw(rest, record->state_hash, 8);
        if (record->has_world_hash) proto_pb_write_raw(rest, record->world_hash, 8);
    }
    write_span(self, rest, &self->models.changes_bytes[is_end], record->changes,
               record->changes_bytes);
    write_span(self, rest, &self->models.events_bytes, record->body + behind,
               record->body_bytes - behind);
}

static uint32_t kind_of(const net_log_columns* self, const net_log_record* record) {
    if (record->tick < self->tick) return KIND_RAW;
    if (record->kind == NET_LOG_KIND_BEGIN) return NET_LOG_KIND_BEGIN;
    if (!record->changes) return KIND_RAW;
    if (record->kind == NET_LOG_KIND_END) return NET_LOG_KIND_END;
    return record->kind == NET_LOG_KIND_STATE ? KIND_STATE : KIND_RAW;
}

static void write_record(net_log_columns* self, const uint8_t* data, size_t size,
                         proto_pb_writer* rest) {
    net_log_record record;
    const bool is_read = net_log_record_read(&record, data, size);
    const uint32_t kind = is_read ? kind_of(self, &record) : KIND_RAW;
    (void)net_log_range_tree(&self->range, self->models.kind[self->kind], KIND_BITS, kind);
    self->kind = kind;
    if (kind == KIND_RAW) {
        write_span(self, rest, &self->models.raw_bytes, data, size);
        return;
    }
    (void)net_log_range_number(&self->range, &self->models.tick[kind], record.tick - self->tick);
    self->tick = record.tick;
    if (kind == NET_LOG_KIND_BEGIN)
        write_begin(self, &record, rest);
    else
        write_end(self, &record, rest);
}

static uint32_t write_block(net_log_columns* self, const uint8_t* payload, uint32_t size) {
    proto_pb_writer rest = {.data = self->rest, .capacity = NET_LOG_BLOCK_BYTES_MAX};
    base_reader records = base_reader_make(payload, size);
    uint8_t* code = self->coded + HEAD_BYTES_MAX;
    net_log_range_write(&self->range, code, NET_LOG_BLOCK_BYTES_MAX - HEAD_BYTES_MAX);
    while (base_reader_left(&records) > 0) {
        const uint64_t length = base_reader_varint(&records);
        const uint8_t* data = base_reader_skip(&records, (size_t)length);
        if (!data) return 0;
        write_record(self, data, (size_t)length, &rest);
    }
    const bool is_whole = net_log_range_end(&self->range) && !rest.failed;
    const size_t head = base_varint_bytes(self->range.size);
    if (!is_whole || head + self->range.size + rest.size >= size) return 0;
    base_varint_put(self->coded, self->range.size);
    memmove(self->coded + head, code, self->range.size);
    memcpy(self->coded + head + self->range.size, rest.data, rest.size);
    return (uint32_t)(head + self->range.size + rest.size);
}

const uint8_t* net_log_columns_write(net_log_columns* columns, const net_log_block* block,
                                     const uint8_t* payload, uint32_t payload_bytes,
                                     uint8_t* scratch, uint32_t* size) {
    BASE_ASSERT(payload_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    begin_block(columns, block);
    *size = write_block(columns, payload, payload_bytes);
    if (*size == 0) return NULL;
    net_log_block read = *block;
    read.unpacked_bytes = payload_bytes;
    const bool is_same = net_log_columns_read(columns, &read, columns->coded, *size, scratch) &&
                         memcmp(scratch, payload, payload_bytes) == 0;
    return is_same ? columns->coded : NULL;
}

// ---- reading ----

// A number of bytes of the rest. NULL: there are not as many.
static const uint8_t* read_span(net_log_columns* self, base_reader* rest,
                                net_log_number_models* models, size_t* size) {
    const uint64_t length = net_log_range_number(&self->range, models, 0);
    if (length > base_reader_left(rest)) self->range.failed = true;
    *size = self->range.failed ? 0 : (size_t)length;
    return base_reader_skip(rest, *size);
}

static void read_begin(net_log_columns* self, base_reader* rest, proto_pb_writer* to) {
    size_t size;
    const uint8_t* middle = read_span(self, rest, &self->models.middle_bytes, &size);
    write_bytes(to, middle, size);
    net_log_inputs_read(&self->inputs, &self->range, rest, to);
}

static void read_end(net_log_columns* self, bool is_end, base_reader* rest, proto_pb_writer* to) {
    size_t size;
    uint8_t memory[32];
    proto_pb_writer hashes = {.data = memory, .capacity = sizeof memory};
    if (is_end) {
        const bool has_world_hash =
            net_log_range_bit(&self->range, &self->models.has_world_hash, 0) != 0;
        proto_pb_write_fixed64(&hashes, FIELD_STATE_HASH, base_reader_u64(rest));
        if (has_world_hash) {
            proto_pb_write_fixed64(&hashes, FIELD_WORLD_HASH, base_reader_u64(rest));
            proto_pb_write_number(&hashes, FIELD_HAS_WORLD_HASH, 1);
        }
    }
    const uint8_t* changes = read_span(self, rest, &self->models.changes_bytes[is_end], &size);
    write_bytes(to, memory, hashes.size);
    proto_pb_write_bytes(to, FIELD_CHANGES, changes, size);
    const uint8_t* events = read_span(self, rest, &self->models.events_bytes, &size);
    write_bytes(to, events, size);
}

static void read_record(net_log_columns* self, base_reader* rest, proto_pb_writer* to) {
    const size_t mark = to->size;
    const uint32_t kind =
        net_log_range_tree(&self->range, self->models.kind[self->kind], KIND_BITS, 0);
    self->kind = kind;
    if (kind == KIND_RAW) {
        size_t size;
        const uint8_t* data = read_span(self, rest, &self->models.raw_bytes, &size);
        write_bytes(to, data, size);
    } else {
        self->tick += net_log_range_number(&self->range, &self->models.tick[kind], 0);
        proto_pb_write_number(to, FIELD_TICK, self->tick);
        if (kind == NET_LOG_KIND_BEGIN)
            read_begin(self, rest, to);
        else
            read_end(self, kind == NET_LOG_KIND_END, rest, to);
        proto_pb_write_end(to, mark, kind == KIND_STATE ? NET_LOG_KIND_STATE : kind);
    }
    net_log_frame_record(to, mark);
}

bool net_log_columns_read(net_log_columns* columns, const net_log_block* block, const uint8_t* data,
                          size_t size, uint8_t* target) {
    BASE_ASSERT(block->unpacked_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    begin_block(columns, block);
    base_reader rest = base_reader_make(data, size);
    const uint64_t code_bytes = base_reader_varint(&rest);
    if (rest.failed || code_bytes > base_reader_left(&rest)) return false;
    net_log_range_read(&columns->range, base_reader_skip(&rest, (size_t)code_bytes),
                       (size_t)code_bytes);
    proto_pb_writer to = {.data = target, .capacity = block->unpacked_bytes};
    for (uint32_t i = 0; i < block->record_count; i++) {
        read_record(columns, &rest, &to);
        if (columns->range.failed || rest.failed || to.failed) return false;
    }
    return net_log_range_end(&columns->range) && to.size == block->unpacked_bytes &&
           base_reader_left(&rest) == 0;
}

// ---- blocks ----

enum {
    VERSION = 2,       // of a log
    BLOCK_VERSION = 1, // of the header of a block
    ZSTD_LEVEL = 1,
    ZSTD_LEVEL_KEYFRAME = 6, // an eighth smaller; there is one in 10 s
    HEADER_CRC_AT = 68,
};

static const uint8_t magic[8] = {'S', 'H', 'O', 'A', 'L', 'L', 'O', 'G'};
static const uint8_t sync_bytes[8] = {0xF5, 0x53, 0x48, 0x4C, 0x42, 0x0D, 0x0A, 0xA7};

static void put_number(uint8_t* target, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        target[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t read_number(const uint8_t* source, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)source[i] << (8 * i);
    return value;
}

void net_log_prologue_write(uint8_t target[NET_LOG_PROLOGUE_BYTES]) {
    memcpy(target, magic, sizeof magic);
    put_number(target + 8, VERSION, 4);
    put_number(target + 12, base_crc32c(0, target, 12), 4);
}

net_result net_log_prologue_check(const uint8_t source[NET_LOG_PROLOGUE_BYTES], uint32_t* version) {
    *version = (uint32_t)read_number(source + 8, 4);
    if (memcmp(source, magic, sizeof magic) != 0) return NET_ERR_DAMAGED;
    if (read_number(source + 12, 4) != base_crc32c(0, source, 12)) return NET_ERR_DAMAGED;
    return *version == VERSION ? NET_OK : NET_ERR_MALFORMED;
}

void net_log_block_header_write(const net_log_block* block,
                                uint8_t target[NET_LOG_BLOCK_HEADER_BYTES]) {
    memcpy(target, sync_bytes, sizeof sync_bytes);
    put_number(target + 8, BLOCK_VERSION, 1);
    put_number(target + 9, block->flags, 1);
    put_number(target + 10, block->type, 2);
    put_number(target + 12, block->stored_bytes, 4);
    put_number(target + 16, block->unpacked_bytes, 4);
    put_number(target + 20, block->record_count, 4);
    put_number(target + 24, block->ordinal, 8);
    put_number(target + 32, block->first_record, 8);
    put_number(target + 40, block->first_tick, 8);
    put_number(target + 48, block->last_tick, 8);
    put_number(target + 56, block->identity, 8);
    put_number(target + 64, block->stored_crc, 4);
    put_number(target + HEADER_CRC_AT, base_crc32c(0, target, HEADER_CRC_AT), 4);
}

static bool is_ratio_right(uint64_t stored_bytes, uint64_t unpacked_bytes) {
    return unpacked_bytes <= NET_LOG_FREE_BYTES + NET_LOG_RATIO_MAX * stored_bytes;
}

bool net_log_block_header_read(net_log_block* block,
                               const uint8_t source[NET_LOG_BLOCK_HEADER_BYTES]) {
    if (memcmp(source, sync_bytes, sizeof sync_bytes) != 0 || source[8] != BLOCK_VERSION)
        return false;
    if (read_number(source + HEADER_CRC_AT, 4) != base_crc32c(0, source, HEADER_CRC_AT))
        return false;
    *block = (net_log_block){
        .flags = source[9],
        .type = (uint16_t)read_number(source + 10, 2),
        .stored_bytes = (uint32_t)read_number(source + 12, 4),
        .unpacked_bytes = (uint32_t)read_number(source + 16, 4),
        .record_count = (uint32_t)read_number(source + 20, 4),
        .ordinal = read_number(source + 24, 8),
        .first_record = read_number(source + 32, 8),
        .first_tick = read_number(source + 40, 8),
        .last_tick = read_number(source + 48, 8),
        .identity = read_number(source + 56, 8),
        .stored_crc = (uint32_t)read_number(source + 64, 4),
    };
    if (block->stored_bytes < 1 || block->stored_bytes > NET_LOG_BLOCK_BYTES_MAX) return false;
    if (block->unpacked_bytes < 1 || block->unpacked_bytes > NET_LOG_BLOCK_BYTES_MAX) return false;
    if (block->record_count < 1) return false;
    if (block->flags == 0) return block->stored_bytes == block->unpacked_bytes;
    bool is_known = (block->flags & ~(NET_LOG_FLAG_ZSTD | NET_LOG_FLAG_COLUMNS)) == 0;
    bool may_have_columns =
        !(block->flags & NET_LOG_FLAG_COLUMNS) || block->type == NET_LOG_BLOCK_DATA;
    return is_known && may_have_columns &&
           is_ratio_right(block->stored_bytes, block->unpacked_bytes);
}

bool net_log_packer_init(net_log_packer* packer, const base_allocator* allocator) {
    *packer = (net_log_packer){.allocator = allocator};
    packer->stored = base_allocate(allocator, NET_LOG_BLOCK_HEADER_BYTES + NET_LOG_BLOCK_BYTES_MAX);
    packer->zstd = ZSTD_createCCtx();
    bool has_columns = net_log_columns_create(allocator, &packer->columns) == NET_OK;
    if (packer->stored && packer->zstd && has_columns) return true;
    net_log_packer_deinit(packer);
    return false;
}

void net_log_packer_deinit(net_log_packer* packer) {
    ZSTD_freeCCtx(packer->zstd);
    net_log_columns_destroy(packer->columns);
    base_release(packer->allocator, packer->stored,
                 NET_LOG_BLOCK_HEADER_BYTES + NET_LOG_BLOCK_BYTES_MAX);
    *packer = (net_log_packer){0};
}

size_t net_log_packer_pack(net_log_packer* packer, net_log_block* block, const uint8_t* payload,
                           uint32_t payload_bytes) {
    BASE_ASSERT(payload_bytes >= 1 && payload_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    uint8_t* stored = packer->stored + NET_LOG_BLOCK_HEADER_BYTES;
    const uint8_t* source = payload;
    uint32_t source_bytes = payload_bytes, column_bytes = 0;
    if (packer->has_columns && block->type == NET_LOG_BLOCK_DATA) {
        const uint8_t* columns = net_log_columns_write(packer->columns, block, payload,
                                                       payload_bytes, stored, &column_bytes);
        if (columns && is_ratio_right(column_bytes, payload_bytes)) {
            source = columns;
            source_bytes = column_bytes;
        }
    }
    // Room for one byte less: what zstd does not make smaller is an error here, and stored as it
    // is.
    int level = block->type == NET_LOG_BLOCK_KEYFRAME ? ZSTD_LEVEL_KEYFRAME : ZSTD_LEVEL;
    size_t packed =
        ZSTD_compressCCtx(packer->zstd, stored, source_bytes - 1, source, source_bytes, level);
    bool is_packed = !ZSTD_isError(packed) && is_ratio_right(packed, payload_bytes);
    if (!is_packed) {
        memcpy(stored, source, source_bytes);
        packed = source_bytes;
    }
    block->flags = (uint8_t)((is_packed ? NET_LOG_FLAG_ZSTD : 0) |
                             (source != payload ? NET_LOG_FLAG_COLUMNS : 0));
    block->stored_bytes = (uint32_t)packed;
    block->unpacked_bytes = payload_bytes;
    block->stored_crc = base_crc32c(0, stored, packed);
    net_log_block_header_write(block, packer->stored);
    return NET_LOG_BLOCK_HEADER_BYTES + packed;
}

bool net_log_block_unpack(const net_log_block* block, const uint8_t* stored,
                          struct net_log_columns* columns, uint8_t* target) {
    BASE_ASSERT(block->unpacked_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    if (base_crc32c(0, stored, block->stored_bytes) != block->stored_crc) return false;
    const bool has_columns = block->flags & NET_LOG_FLAG_COLUMNS;
    if (has_columns && !columns) return false;
    if (block->flags == 0) {
        memcpy(target, stored, block->stored_bytes);
        return true;
    }
    if (block->flags == NET_LOG_FLAG_COLUMNS)
        return net_log_columns_read(columns, block, stored, block->stored_bytes, target);
    // Decoding in one call needs no window: zstd reads back from what it wrote.
    uint8_t* to = has_columns ? columns->rest : target;
    size_t capacity = has_columns ? NET_LOG_BLOCK_BYTES_MAX : block->unpacked_bytes;
    size_t unpacked = ZSTD_decompress(to, capacity, stored, block->stored_bytes);
    if (ZSTD_isError(unpacked)) return false;
    return has_columns ? net_log_columns_read(columns, block, to, unpacked, target)
                       : unpacked == block->unpacked_bytes;
}
