// SPDX-License-Identifier: MIT
// An MCAP file, in one pass:
//
//     magic, Header, then Schema and Channel of each topic as it is added, Chunk and its
//     MessageIndex records again and again, DataEnd; Schemas, Channels, Statistics, ChunkIndex
//     records, SummaryOffset records, Footer, magic
//
// A record is an opcode, its length and its content; numbers are little-endian. The CRC of the data
// and that of the summary are those of zlib, each over all bytes up to itself.
#include "log/mcap.h"

#include "base/assert.h"

#include <string.h>
#include <zstd.h>

enum {
    OP_HEADER = 1,
    OP_FOOTER = 2,
    OP_SCHEMA = 3,
    OP_CHANNEL = 4,
    OP_MESSAGE = 5,
    OP_CHUNK = 6,
    OP_MESSAGE_INDEX = 7,
    OP_CHUNK_INDEX = 8,
    OP_STATISTICS = 11,
    OP_SUMMARY_OFFSET = 14,
    OP_DATA_END = 15,
    RECORD_HEAD = 1 + 8,
    MESSAGE_HEAD = 2 + 4 + 8 + 8,
    LEVEL = 3, // of zstd
    FOOTER_BYTES = 8 + 8 + 4,
};

static const uint8_t magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

typedef struct channel {
    uint64_t count;   // of its messages
    base_bytes index; // of the chunk: time and offset of each message
} channel;

typedef struct span {
    uint64_t first, last;
    bool has_any;
} span;

struct net_mcap {
    const base_allocator* allocator;
    net_mcap_write_fn write;
    void* context;
    bool failed;
    uint64_t offset;
    uint32_t crc; // of the section that is written
    uint32_t crc_table[256];
    channel* channels; // [id]
    uint32_t channel_count, channel_capacity;
    base_bytes schemas, topics; // their records, for the summary
    base_bytes chunk, packed;   // the records of a chunk, and as they are stored
    base_bytes chunks;          // ChunkIndex records
    base_bytes record, places;  // scratch
    span chunk_span, span;
    uint64_t chunk_count, message_count;
    ZSTD_CCtx* zstd;
};

// ---- bytes

static void put_text(base_bytes* to, const char* text) {
    base_bytes_write_u32(to, (uint32_t)strlen(text));
    base_bytes_write(to, text, strlen(text));
}

// An array or map: its bytes, and how many they are.
static void put_block(base_bytes* to, const base_bytes* block) {
    base_bytes_write_u32(to, (uint32_t)block->size);
    if (block->size > 0) base_bytes_write(to, block->data, block->size);
}

static void put_record(base_bytes* to, uint8_t opcode, const base_bytes* content) {
    base_bytes_write_u8(to, opcode);
    base_bytes_write_u64(to, content->size);
    base_bytes_write(to, content->data, content->size);
}

static void make_crc_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (uint32_t k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
    }
}

static uint32_t crc_of(const net_mcap* self, uint32_t crc, const uint8_t* bytes, size_t size) {
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ self->crc_table[(crc ^ bytes[i]) & 255];
    return ~crc;
}

static void give(net_mcap* self, const void* bytes, size_t size) {
    if (self->failed || size == 0) return;
    self->crc = crc_of(self, self->crc, bytes, size);
    self->offset += size;
    self->failed = !self->write(self->context, bytes, size);
}

static void give_bytes(net_mcap* self, const base_bytes* bytes) {
    self->failed = self->failed || bytes->failed;
    give(self, bytes->data, bytes->size);
}

static void give_record(net_mcap* self, uint8_t opcode, const base_bytes* content) {
    uint8_t head[RECORD_HEAD];
    head[0] = opcode;
    base_store_le64(head + 1, content->size);
    self->failed = self->failed || content->failed;
    give(self, head, sizeof head);
    give(self, content->data, content->size);
}

static void add_time(span* to, uint64_t time_ns) {
    if (!to->has_any || time_ns < to->first) to->first = time_ns;
    if (!to->has_any || time_ns > to->last) to->last = time_ns;
    to->has_any = true;
}

// ---- a file

net_mcap* net_mcap_create(const base_allocator* allocator, net_mcap_write_fn write, void* context) {
    BASE_ASSERT(write);
    net_mcap* self = base_allocate_zero(allocator, sizeof *self);
    if (!self) return NULL;
    self->allocator = allocator;
    self->write = write;
    self->context = context;
    base_bytes* all[] = {&self->schemas, &self->topics, &self->chunk, &self->packed,
                         &self->chunks,  &self->record, &self->places};
    for (uint32_t i = 0; i < BASE_COUNT(all); i++)
        base_bytes_init(all[i], allocator);
    make_crc_table(self->crc_table);
    self->zstd = ZSTD_createCCtx();
    if (!self->zstd) {
        net_mcap_destroy(self);
        return NULL;
    }
    give(self, magic, sizeof magic);
    put_text(&self->record, "");
    put_text(&self->record, "shoal");
    give_record(self, OP_HEADER, &self->record);
    return self;
}

void net_mcap_destroy(net_mcap* self) {
    if (!self) return;
    base_bytes* all[] = {&self->schemas, &self->topics, &self->chunk, &self->packed,
                         &self->chunks,  &self->record, &self->places};
    for (uint32_t i = 0; i < BASE_COUNT(all); i++)
        base_bytes_deinit(all[i]);
    for (uint32_t i = 0; i < self->channel_count; i++)
        base_bytes_deinit(&self->channels[i].index);
    BASE_ARRAY_RELEASE(self->allocator, self->channels, self->channel_capacity);
    ZSTD_freeCCtx(self->zstd);
    base_release(self->allocator, self, sizeof *self);
}

bool net_mcap_is_full(const net_mcap* self) {
    return self->channel_count + 1 >= NET_MCAP_CHANNELS_MAX;
}

uint32_t net_mcap_channel(net_mcap* self, const char* topic, const char* type,
                          const void* descriptors, size_t size) {
    if (self->failed || net_mcap_is_full(self)) return 0;
    if (!BASE_ARRAY_RESERVE(self->allocator, self->channels, self->channel_capacity,
                            self->channel_count + 1)) {
        self->failed = true;
        return 0;
    }
    channel* made = &self->channels[self->channel_count++];
    *made = (channel){.count = 0};
    base_bytes_init(&made->index, self->allocator);
    const uint32_t id = self->channel_count;
    base_bytes* record = &self->record;
    base_bytes_clear(record);
    base_bytes_write_u16(record, (uint16_t)id);
    put_text(record, type);
    put_text(record, "protobuf");
    base_bytes_write_u32(record, (uint32_t)size);
    base_bytes_write(record, descriptors, size);
    put_record(&self->schemas, OP_SCHEMA, record);
    give_record(self, OP_SCHEMA, record);
    base_bytes_clear(record);
    base_bytes_write_u16(record, (uint16_t)id);
    base_bytes_write_u16(record, (uint16_t)id);
    put_text(record, topic);
    put_text(record, "protobuf");
    base_bytes_write_u32(record, 0); // no metadata
    put_record(&self->topics, OP_CHANNEL, record);
    give_record(self, OP_CHANNEL, record);
    return self->failed ? 0 : id;
}

// ---- chunks

// The index of each channel, and where it is: channel id and offset, in `places`.
static void give_message_indexes(net_mcap* self) {
    base_bytes_clear(&self->places);
    for (uint32_t i = 0; i < self->channel_count; i++) {
        base_bytes* index = &self->channels[i].index;
        if (index->size == 0) continue;
        base_bytes_write_u16(&self->places, (uint16_t)(i + 1));
        base_bytes_write_u64(&self->places, self->offset);
        base_bytes_clear(&self->record);
        base_bytes_write_u16(&self->record, (uint16_t)(i + 1));
        put_block(&self->record, index);
        give_record(self, OP_MESSAGE_INDEX, &self->record);
        self->failed = self->failed || index->failed;
        base_bytes_clear(index);
    }
}

static bool pack_chunk(net_mcap* self) {
    const size_t bound = ZSTD_compressBound(self->chunk.size);
    base_bytes_clear(&self->packed);
    uint8_t* packed = base_bytes_extend(&self->packed, bound);
    if (!packed) return false;
    const size_t size =
        ZSTD_compressCCtx(self->zstd, packed, bound, self->chunk.data, self->chunk.size, LEVEL);
    if (ZSTD_isError(size)) return false;
    self->packed.size = size;
    return true;
}

static void end_chunk(net_mcap* self) {
    if (self->failed || self->chunk.size == 0) return;
    if (!pack_chunk(self)) {
        self->failed = true;
        return;
    }
    const uint64_t start = self->offset;
    base_bytes* record = &self->record;
    base_bytes_clear(record);
    base_bytes_write_u64(record, self->chunk_span.first);
    base_bytes_write_u64(record, self->chunk_span.last);
    base_bytes_write_u64(record, self->chunk.size);
    base_bytes_write_u32(record, crc_of(self, 0, self->chunk.data, self->chunk.size));
    put_text(record, "zstd");
    base_bytes_write_u64(record, self->packed.size);
    base_bytes_write(record, self->packed.data, self->packed.size);
    give_record(self, OP_CHUNK, record);
    const uint64_t length = self->offset - start, behind = self->offset;
    give_message_indexes(self);
    base_bytes_clear(record);
    base_bytes_write_u64(record, self->chunk_span.first);
    base_bytes_write_u64(record, self->chunk_span.last);
    base_bytes_write_u64(record, start);
    base_bytes_write_u64(record, length);
    put_block(record, &self->places);
    base_bytes_write_u64(record, self->offset - behind);
    put_text(record, "zstd");
    base_bytes_write_u64(record, self->packed.size);
    base_bytes_write_u64(record, self->chunk.size);
    put_record(&self->chunks, OP_CHUNK_INDEX, record);
    self->failed = self->failed || self->places.failed || self->chunks.failed;
    self->chunk_count++;
    self->chunk_span.has_any = false;
    base_bytes_clear(&self->chunk);
}

bool net_mcap_message(net_mcap* self, uint32_t id, uint64_t time_ns, const void* data,
                      size_t size) {
    BASE_ASSERT(id >= 1 && id <= self->channel_count);
    if (self->failed) return false;
    channel* of = &self->channels[id - 1];
    base_bytes* chunk = &self->chunk;
    base_bytes_write_u64(&of->index, time_ns);
    base_bytes_write_u64(&of->index, chunk->size);
    base_bytes_write_u8(chunk, OP_MESSAGE);
    base_bytes_write_u64(chunk, MESSAGE_HEAD + size);
    base_bytes_write_u16(chunk, (uint16_t)id);
    base_bytes_write_u32(chunk, (uint32_t)of->count++);
    base_bytes_write_u64(chunk, time_ns);
    base_bytes_write_u64(chunk, time_ns);
    if (size > 0) base_bytes_write(chunk, data, size);
    add_time(&self->chunk_span, time_ns);
    add_time(&self->span, time_ns);
    self->message_count++;
    self->failed = chunk->failed || of->index.failed;
    if (chunk->size >= NET_MCAP_CHUNK_BYTES) end_chunk(self);
    return !self->failed;
}

uint64_t net_mcap_message_count(const net_mcap* self) {
    return self->message_count;
}

// ---- the summary

// A group of records, and the record that says where it is, into `places`.
static void give_group(net_mcap* self, uint8_t opcode, const base_bytes* group) {
    const uint64_t start = self->offset;
    if (group->size == 0) return;
    give_bytes(self, group);
    base_bytes_clear(&self->record);
    base_bytes_write_u8(&self->record, opcode);
    base_bytes_write_u64(&self->record, start);
    base_bytes_write_u64(&self->record, self->offset - start);
    put_record(&self->places, OP_SUMMARY_OFFSET, &self->record);
}

// Into `packed`, which no chunk needs any more.
static void make_statistics(net_mcap* self) {
    base_bytes* record = &self->record;
    base_bytes counts;
    base_bytes_init(&counts, self->allocator);
    for (uint32_t i = 0; i < self->channel_count; i++) {
        base_bytes_write_u16(&counts, (uint16_t)(i + 1));
        base_bytes_write_u64(&counts, self->channels[i].count);
    }
    base_bytes_clear(record);
    base_bytes_write_u64(record, self->message_count);
    base_bytes_write_u16(record, (uint16_t)self->channel_count);
    base_bytes_write_u32(record, self->channel_count);
    base_bytes_write_u32(record, 0); // attachments
    base_bytes_write_u32(record, 0); // metadata
    base_bytes_write_u32(record, (uint32_t)self->chunk_count);
    base_bytes_write_u64(record, self->span.has_any ? self->span.first : 0);
    base_bytes_write_u64(record, self->span.has_any ? self->span.last : 0);
    put_block(record, &counts);
    self->failed = self->failed || counts.failed;
    base_bytes_deinit(&counts);
    base_bytes_clear(&self->packed);
    put_record(&self->packed, OP_STATISTICS, record);
}

bool net_mcap_end(net_mcap* self) {
    end_chunk(self);
    base_bytes_clear(&self->record);
    base_bytes_write_u32(&self->record, self->crc);
    give_record(self, OP_DATA_END, &self->record);
    const uint64_t summary = self->offset;
    self->crc = 0;
    base_bytes_clear(&self->places);
    give_group(self, OP_SCHEMA, &self->schemas);
    give_group(self, OP_CHANNEL, &self->topics);
    make_statistics(self);
    give_group(self, OP_STATISTICS, &self->packed);
    give_group(self, OP_CHUNK_INDEX, &self->chunks);
    const uint64_t offsets = self->offset;
    give_bytes(self, &self->places);
    uint8_t footer[RECORD_HEAD + FOOTER_BYTES];
    footer[0] = OP_FOOTER;
    base_store_le64(footer + 1, FOOTER_BYTES);
    base_store_le64(footer + RECORD_HEAD, summary);
    base_store_le64(footer + RECORD_HEAD + 8, offsets);
    give(self, footer, RECORD_HEAD + 16);
    base_store_le32(footer + RECORD_HEAD + 16, self->crc);
    give(self, footer + RECORD_HEAD + 16, 4);
    give(self, magic, sizeof magic);
    return !self->failed;
}
