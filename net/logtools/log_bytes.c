// SPDX-License-Identifier: MIT
// A part of a log gets its number while others read it: its server renames FILE to FILE.segN, then
// creates FILE again. What was opened as FILE may thus be the part after the one that was meant;
// the name with the number, looked at once more, tells.
#include "net/log_bytes.h"

#include "base/assert.h"
#include "base/hash.h"
#include "log/log_block.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_segment.h"
#include "proto/pb_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char* name) {
    struct stat status;
    return stat(name, &status) == 0 && S_ISREG(status.st_mode);
}

bool net_log_parts_find(const char* file, net_log_parts* parts) {
    uint32_t *numbers = NULL, count = 0, capacity = 0;
    if (!is_file(file)) return false;
    net_log_segment_list(NULL, file, &numbers, &count, &capacity);
    *parts = (net_log_parts){.first = 1, .newest = 1};
    if (count > 0) *parts = (net_log_parts){.first = numbers[0], .newest = numbers[count - 1] + 1};
    BASE_ARRAY_RELEASE(NULL, numbers, capacity);
    return true;
}

static int open_part(const char* name) {
    struct stat status;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
    close(fd);
    return -1;
}

bool net_log_is_written(const char* file) {
    const int fd = open_part(file);
    const bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0) close(fd); // with what was locked
    return is_locked;
}

int net_log_part_open(const char* file, uint32_t part, bool* is_closed) {
    char name[4096];
    net_log_parts parts;
    *is_closed = true;
    if (!net_log_segment_name(name, sizeof name, file, part)) return -1;
    int fd = open_part(name);
    if (fd >= 0 || !net_log_parts_find(file, &parts) || part != parts.newest) return fd;
    fd = open_part(file);
    const int closed = open_part(name); // it got its number in between
    if (closed < 0) {
        *is_closed = false;
        return fd;
    }
    if (fd >= 0) close(fd);
    return closed;
}

// ---- blocks ----

static net_result read_head(int descriptor, uint64_t at, net_log_block* block) {
    uint8_t bytes[NET_LOG_BLOCK_HEADER_BYTES];
    if (!net_log_read_at(descriptor, at, bytes, sizeof bytes)) return NET_ERR_CLOSED;
    return net_log_block_header_read(block, bytes) ? NET_OK : NET_ERR_DAMAGED;
}

// The size of the block at `at` with its header. @return 0: there is none that is whole.
static uint64_t block_at(int descriptor, uint64_t at, uint64_t end, net_log_block* block,
                         bool* is_damaged) {
    const net_result result = read_head(descriptor, at, block);
    *is_damaged = result == NET_ERR_DAMAGED;
    if (result != NET_OK) return 0;
    const uint64_t size = NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
    return size <= end - at ? size : 0;
}

// A keyframe's blocks follow each other; with the next block of another kind it is whole.
static void take_place(net_log_places* places, const net_log_block* block) {
    if (block->type == NET_LOG_BLOCK_KEYFRAME) {
        if (places->begun > 0 && places->begun_tick == block->last_tick) return;
        places->begun = places->end;
        places->begun_tick = block->last_tick;
    } else if (places->begun > 0) {
        places->keyframe = places->begun;
        places->tick = places->begun_tick;
        places->begun = 0;
    }
}

bool net_log_places_find(net_log_places* places, int descriptor, ecs_tick tick_max,
                         uint32_t blocks_max) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return true;
    const uint64_t end = (uint64_t)status.st_size;
    if (end < NET_LOG_PROLOGUE_BYTES) return true;
    if (places->end == 0) places->end = NET_LOG_PROLOGUE_BYTES;
    for (uint32_t i = 0; i < blocks_max; i++) {
        net_log_block block;
        bool is_damaged = false;
        if (places->end >= end) return true;
        const uint64_t size = block_at(descriptor, places->end, end, &block, &is_damaged);
        if (size == 0 || block.last_tick > tick_max) return true;
        take_place(places, &block);
        places->end += size;
    }
    return false;
}

uint64_t net_log_part_whole(int descriptor, uint64_t from, uint64_t bytes_max) {
    struct stat status;
    BASE_ASSERT(bytes_max > 0);
    if (fstat(descriptor, &status) != 0 || (uint64_t)status.st_size <= from) return 0;
    const uint64_t end = (uint64_t)status.st_size;
    uint64_t at = from;
    bool is_damaged = false;
    if (at == 0) at = end < NET_LOG_PROLOGUE_BYTES ? 0 : NET_LOG_PROLOGUE_BYTES;
    if (at == 0) return 0;
    const uint64_t first = at;
    while (at < end) {
        net_log_block block;
        const uint64_t size = block_at(descriptor, at, end, &block, &is_damaged);
        if (size == 0 || (at > first && at - from + size > bytes_max)) break;
        at += size;
    }
    if (!is_damaged) return at - from;
    return end - from < bytes_max ? end - from : bytes_max;
}

// ---- what a spectator may have ----

// What a spectator may have of a log, made of the log's own blocks: no second recorder runs beside
// the match, and a server without viewers does nothing.
//
// Each block becomes one block, with its ordinal, its record numbers and its ticks, so parts follow
// each other as those of the log do. A data block has the same records without what a spectator may
// not have; a control becomes an `alive`. The save of a keyframe becomes one byte, as in a client's
// record: a place where readers may begin. What has no counterpart (further parts of a save, an
// index) becomes a block of a type that readers skip.

enum {
    BLOCK_SKIPPED = 5, // reserved in LOG.md: no reader knows it
    FIELD_IDENTITY = 2,
    FIELD_FEATURES = 14,
    FIELD_CHANGES = 5,
    FIELD_REASON = 2,
};
// Of the header's fields a record keeps these, as they are: version, game, build, hashes of content
// and schema, rate, indices, settings, distance of world hashes, schema, begin, code of rows,
// templates. A field that a later version adds is not among them.
static const uint8_t FIELDS_KEPT[] = {1, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 17};
// Of the log's features these are about its records and its keyframes.
#define FEATURES_KEPT (NET_LOG_FEATURE_SEGMENT | NET_LOG_FEATURE_RELOAD | NET_LOG_FEATURE_LONG)

struct net_log_watch {
    base_owner owner;
    net_log_packer packer;
    uint8_t* stored;  ///< of a block as it is in the log
    uint8_t* payload; ///< its records
    uint8_t* target;  ///< those of the record
};

net_log_watch* net_log_watch_create(const base_allocator* allocator) {
    net_log_watch* watch = base_owner_create(allocator, sizeof *watch);
    allocator = &watch->owner.allocator;
    watch->stored = base_allocate_zero(allocator, NET_LOG_BLOCK_BYTES_MAX);
    watch->payload = base_allocate_zero(allocator, NET_LOG_BLOCK_BYTES_MAX);
    watch->target = base_allocate_zero(allocator, NET_LOG_BLOCK_BYTES_MAX);
    net_log_packer_init(&watch->packer, allocator);
    return watch;
}

void net_log_watch_destroy(net_log_watch* watch) {
    if (!watch) return;
    net_log_packer_deinit(&watch->packer);
    base_owner_destroy(watch);
}

// ---- the header ----

static void put_bytes(proto_pb_writer* to, const uint8_t* data, size_t size) {
    uint8_t* place = proto_pb_extend(to, size);
    if (place && size > 0) memcpy(place, data, size);
}

// Nothing leads from it back to the log's.
static uint64_t identity_of(uint64_t identity) {
    return base_hash64_mix(base_hash64_text("a spectator's record"), identity);
}

static bool is_kept(uint32_t id) {
    return memchr(FIELDS_KEPT, (int)id, sizeof FIELDS_KEPT) != NULL && id <= UINT8_MAX;
}

// `added`: features.
static bool write_header(const uint8_t* data, size_t size, uint64_t added, proto_pb_writer* to) {
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    uint64_t features = 0;
    for (size_t from = 0; proto_pb_next(&reader, &field); from = reader.offset) {
        if (field.id == FIELD_FEATURES) features |= field.number;
        if (field.id == FIELD_IDENTITY)
            proto_pb_write_fixed64(to, FIELD_IDENTITY, identity_of(field.number));
        if (is_kept(field.id)) put_bytes(to, data + from, reader.offset - from);
    }
    // As the writer of a segment does: the last field says it, at a fixed place.
    proto_pb_write_fixed64(to, FIELD_FEATURES,
                           (features & FEATURES_KEPT) | NET_LOG_FEATURE_SEEN | added);
    return !reader.failed && !to->failed;
}

// ---- records ----

// The body of what becomes of a record. @return its kind; OTHER: no writer of ours wrote it.
static net_log_kind write_record(const net_log_record* record, proto_pb_writer* to) {
    const net_log_kind_row* kind = &net_log_kinds[record->kind];
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    proto_pb_field field;
    proto_pb_write_number(to, 1, record->tick);
    if (record->kind == NET_LOG_KIND_CONTROL)
        proto_pb_write_number(to, FIELD_REASON, NET_IDLE_PAUSED);
    if (record->kind == NET_LOG_KIND_END) {
        const size_t mark = to->size;
        proto_pb_write_varint(to, 0); // sums: as before
        proto_pb_write_end(to, mark, FIELD_CHANGES);
    }
    for (size_t from = 0; proto_pb_next(&reader, &field); from = reader.offset)
        if (field.id < 32 && (kind->shown_fields >> field.id & 1))
            put_bytes(to, record->body + from, reader.offset - from);
    return kind->shown_as;
}

static bool write_records(net_log_watch* watch, const net_log_block* block, proto_pb_writer* to) {
    base_reader reader = base_reader_make(watch->payload, block->unpacked_bytes);
    for (uint32_t i = 0; i < block->record_count; i++) {
        net_log_record record;
        size_t size;
        const uint8_t* data = net_log_next_span(&reader, &size);
        if (!data || !net_log_record_read(&record, data, size)) return false;
        const size_t begin = to->size;
        const net_log_kind kind = write_record(&record, to);
        if (kind == NET_LOG_KIND_OTHER) return false;
        proto_pb_write_end(to, begin, (uint32_t)kind);
        net_log_frame_record(to, begin);
        if (to->failed) return false;
    }
    return base_reader_left(&reader) == 0 && !reader.failed;
}

static void put_record(proto_pb_writer* to, const uint8_t* data, size_t size) {
    proto_pb_write_varint(to, size);
    put_bytes(to, data, size);
}

static bool write_keyframe(net_log_watch* watch, net_log_block* block, proto_pb_writer* to) {
    static const uint8_t nothing[] = {0};
    const net_log_part place = {
        .number = 1, .count = 1, .save_bytes = 1, .data = nothing, .size = sizeof nothing};
    net_log_part part;
    if (!net_log_part_read(&part, watch->payload, block->unpacked_bytes)) return false;
    if (part.number > 1) block->type = BLOCK_SKIPPED;
    to->size = net_log_part_write(&place, to->data);
    return true;
}

// ---- blocks ----

static bool write_block(net_log_watch* watch, net_log_block* block, proto_pb_writer* to) {
    static const uint8_t nothing[] = {0};
    size_t size;
    const uint8_t* record;
    switch (block->type) {
    case NET_LOG_BLOCK_DATA:
        return write_records(watch, block, to);
    case NET_LOG_BLOCK_KEYFRAME:
        return write_keyframe(watch, block, to);
    case NET_LOG_BLOCK_HEADER:
    case NET_LOG_BLOCK_HEADER_COPY: {
        uint8_t* memory = watch->stored; // unpacked by now
        proto_pb_writer header = {.data = memory, .capacity = NET_LOG_RECORD_BYTES_MAX};
        record = net_log_only_span(watch->payload, block->unpacked_bytes, &size);
        if (!record || !write_header(record, size, 0, &header)) return false;
        put_record(to, memory, header.size);
        return true;
    }
    default:
        block->type = BLOCK_SKIPPED;
        put_record(to, nothing, sizeof nothing);
        return true;
    }
}

static bool convert(net_log_watch* watch, net_log_block* block, base_bytes* out) {
    proto_pb_writer to = {.data = watch->target, .capacity = NET_LOG_BLOCK_BYTES_MAX};
    if (!net_log_block_unpack(block, watch->stored, watch->packer.columns, watch->payload) ||
        !write_block(watch, block, &to) || to.failed)
        return false;
    block->identity = identity_of(block->identity);
    block->flags = 0;
    const size_t size = net_log_packer_pack(&watch->packer, block, to.data, (uint32_t)to.size);
    base_bytes_write(out, watch->packer.stored, size);
    return true;
}

static net_result read_prologue(int descriptor, uint8_t bytes[NET_LOG_PROLOGUE_BYTES]) {
    uint32_t version;
    if (!net_log_read_at(descriptor, 0, bytes, NET_LOG_PROLOGUE_BYTES)) return NET_ERR_CLOSED;
    return net_log_prologue_check(bytes, &version) == NET_OK ? NET_OK : NET_ERR_DAMAGED;
}

// The stored bytes of the block at `offset`, when it is whole.
static net_result read_block(net_log_watch* watch, int descriptor, uint64_t offset,
                             ecs_tick tick_max, net_log_block* block) {
    const net_result result = read_head(descriptor, offset, block);
    if (result != NET_OK) return result;
    const uint64_t at = offset + NET_LOG_BLOCK_HEADER_BYTES;
    return block->last_tick <= tick_max &&
                   net_log_read_at(descriptor, at, watch->stored, block->stored_bytes)
               ? NET_OK
               : NET_ERR_CLOSED;
}

// The part's header, after its prologue: *record is in watch->payload.
static net_result read_header(net_log_watch* watch, int descriptor, net_log_block* block,
                              const uint8_t** record, size_t* size) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_result result = read_prologue(descriptor, prologue);
    if (result == NET_OK)
        result = read_block(watch, descriptor, sizeof prologue, UINT64_MAX, block);
    if (result != NET_OK) return result;
    if (block->type != NET_LOG_BLOCK_HEADER ||
        !net_log_block_unpack(block, watch->stored, watch->packer.columns, watch->payload))
        return NET_ERR_DAMAGED;
    *record = net_log_only_span(watch->payload, block->unpacked_bytes, size);
    return *record ? NET_OK : NET_ERR_DAMAGED;
}

net_result net_log_watch_head(net_log_watch* watch, int descriptor, bool is_record,
                              base_bytes* out) {
    net_log_block block;
    const uint8_t* record;
    size_t size;
    const net_result result = read_header(watch, descriptor, &block, &record, &size);
    if (result != NET_OK) return result;
    proto_pb_writer header = {.data = watch->stored, .capacity = NET_LOG_BLOCK_BYTES_MAX};
    proto_pb_writer to = {.data = watch->target, .capacity = NET_LOG_BLOCK_BYTES_MAX};
    if (!write_header(record, size, NET_LOG_FEATURE_SEGMENT, &header)) return NET_ERR_DAMAGED;
    if (!out) return NET_OK;
    if (is_record) {
        block.identity = identity_of(block.identity);
    } else { // all of it; features of both fields count
        memcpy(watch->stored, record, size);
        header.size = size;
        proto_pb_write_fixed64(&header, FIELD_FEATURES, NET_LOG_FEATURE_SEGMENT);
    }
    put_record(&to, watch->stored, header.size);
    if (header.failed || to.failed) return NET_ERR_DAMAGED;
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    base_bytes_write(out, prologue, sizeof prologue);
    const size_t bytes = net_log_packer_pack(&watch->packer, &block, to.data, (uint32_t)to.size);
    base_bytes_write(out, watch->packer.stored, bytes);
    return NET_OK;
}

net_result net_log_watch_step(net_log_watch* watch, int descriptor, ecs_tick tick_max,
                              uint64_t* offset, base_bytes* out) {
    net_log_block block;
    net_result result;
    if (*offset == 0) {
        uint8_t bytes[NET_LOG_PROLOGUE_BYTES];
        result = read_prologue(descriptor, bytes);
        if (result != NET_OK) return result;
        base_bytes_write(out, bytes, sizeof bytes);
        *offset = sizeof bytes;
        return NET_OK;
    }
    result = read_block(watch, descriptor, *offset, tick_max, &block);
    if (result != NET_OK) return result;
    const uint64_t size = NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    if (!convert(watch, &block, out)) return NET_ERR_DAMAGED;
    *offset += size;
    return NET_OK;
}
