// SPDX-License-Identifier: MIT
// A data block has the records of about 15 ticks, and most of their bytes say nothing new: tags,
// lengths, ticks that rise by one, inputs like the ones before. Those go through a range coder
// (log_range.c). What cannot be guessed - hashes, changes, which are coded already, events - is
// stored behind it and left to zstd.
//
//     block   = varint bytes of the code, the code, the rest
//
// The writer decodes what it wrote: a block that would not read back to the same bytes stays as it
// is. So the code needs to know no more of records than what makes them short.
#include "log/log_columns.h"

#include "base/assert.h"
#include "log/log_columns_input.h"

#include <string.h>

enum {
    FIELD_TICK = 1,
    FIELD_STATE_HASH = 2,
    FIELD_WORLD_HASH = 3,
    FIELD_HAS_WORLD_HASH = 4,
    FIELD_CHANGES = 5,
    HEAD_BYTES_MAX = 10, // of the varint in front of the code
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

uint8_t* net_log_columns_idle(net_log_columns* columns) {
    return columns->rest;
}

static void begin(net_log_columns* columns, const net_log_block* block) {
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

// The items in front of the inputs.
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
    begin(columns, block);
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
    // The length goes in front.
    const size_t size = to->size - mark, length_bytes = base_varint_bytes(size);
    if (!proto_pb_extend(to, length_bytes)) return;
    memmove(to->data + mark + length_bytes, to->data + mark, size);
    base_varint_put(to->data + mark, size);
}

bool net_log_columns_read(net_log_columns* columns, const net_log_block* block, const uint8_t* data,
                          size_t size, uint8_t* target) {
    BASE_ASSERT(block->unpacked_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    begin(columns, block);
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
