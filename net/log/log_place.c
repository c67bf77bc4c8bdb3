// SPDX-License-Identifier: MIT
// Blocks of untrusted files. A length counts after the header's checksum matched, bytes after
// theirs matched, records after they were decoded and found in order.
#include "base/assert.h"
#include "base/hash.h"
#include "log/log_block.h"
#include "log/log_read.h"

#include <string.h>

enum {
    SEARCH_BYTES = 65536,
    AHEAD_BLOCKS = 32, // that say whether a jump of the ordinals is right
};

// Bytes from `offset` to the end of its file.
static uint64_t set_left(const net_log_set* set, uint64_t offset) {
    const net_log_set_file* file = net_log_set_at(set, offset);
    return file->base + file->bytes - offset;
}

bool net_log_read_block(net_log_reader* reader, uint64_t offset, net_log_block* block) {
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    if (offset >= reader->set.bytes) return false;
    uint64_t left = set_left(&reader->set, offset);
    if (left < sizeof header || !net_log_set_read(&reader->set, offset, header, sizeof header))
        return false;
    return net_log_block_header_read(block, header) && block->stored_bytes <= left - sizeof header;
}

bool net_log_read_payload(net_log_reader* reader, uint64_t offset, const net_log_block* block,
                          uint8_t* target) {
    return net_log_set_read(&reader->set, offset + NET_LOG_BLOCK_HEADER_BYTES, reader->stored,
                            block->stored_bytes) &&
           net_log_block_unpack(block, reader->stored, reader->columns, target);
}

bool net_log_is_prologue(net_log_reader* reader, uint64_t offset) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    uint32_t version;
    return net_log_set_at(&reader->set, offset)->base == offset &&
           set_left(&reader->set, offset) >= sizeof prologue &&
           net_log_set_read(&reader->set, offset, prologue, sizeof prologue) &&
           net_log_prologue_check(prologue, &version) == NET_OK;
}

// Known lengths are skipped, unknown ground is searched for the sync bytes once.
uint64_t net_log_find_block(net_log_reader* reader, uint64_t offset, uint64_t end) {
    uint8_t sync[NET_LOG_BLOCK_HEADER_BYTES];
    net_log_block block = {0};
    net_log_block_header_write(&block, sync);
    while (offset < end) {
        uint64_t left = set_left(&reader->set, offset);
        size_t size = left < SEARCH_BYTES ? (size_t)left : SEARCH_BYTES;
        if (!net_log_set_read(&reader->set, offset, reader->stored, size)) return end;
        const uint8_t* at = reader->stored;
        const uint8_t* limit = reader->stored + size;
        while ((at = memchr(at, sync[0], (size_t)(limit - at))) != NULL) {
            uint64_t place = offset + (uint64_t)(at - reader->stored);
            bool is_sync = limit - at >= 8 ? memcmp(at, sync, 8) == 0 : false;
            if (is_sync && net_log_read_block(reader, place, &block))
                return place < end ? place : end;
            at++;
        }
        // Bytes of a sync may be at the end of the piece, not at the end of the file.
        offset += size == left || size < 8 ? size : size - 7;
    }
    return end;
}

bool net_log_next_block(net_log_reader* reader, uint64_t* offset, uint64_t end,
                        net_log_block* block) {
    while (*offset < end && !net_log_read_block(reader, *offset, block))
        *offset = net_log_find_block(reader, *offset + 1, end);
    return *offset < end;
}

uint64_t net_log_pass_block(net_log_reader* reader, uint64_t offset, const net_log_block* block) {
    const uint64_t end = net_log_block_end(offset, block);
    const net_log_set_file* file = net_log_set_at(&reader->set, offset);
    net_log_block next;
    if (end == file->base + file->bytes || net_log_read_block(reader, end, &next)) return end;
    const bool is_whole = net_log_set_read(&reader->set, end - block->stored_bytes, reader->stored,
                                           block->stored_bytes) &&
                          base_crc32c(0, reader->stored, block->stored_bytes) == block->stored_crc;
    return is_whole ? end : offset + 1;
}

// How many of these ordinals rise, from `least` on, when those that are wrong are left out?
static uint32_t count_rising(const uint64_t* ordinals, uint32_t count, uint64_t least) {
    uint64_t ends[AHEAD_BLOCKS]; // [n]: the lowest ordinal that ends n + 1 of them
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        if (ordinals[i] < least) continue;
        while (at < most && ends[at] < ordinals[i])
            at++;
        ends[at] = ordinals[i];
        most += at == most;
    }
    return most;
}

// Blocks are missing before a block, or it is too early. The blocks after it know: more
// of them are in order with it, or without it.
static bool is_jump_right(net_log_reader* reader, uint64_t offset, const net_log_block* block,
                          uint64_t ordinal) {
    const uint64_t reach = AHEAD_BLOCKS * (uint64_t)NET_LOG_BLOCK_BYTES_MAX;
    const uint64_t left = reader->set.bytes - offset;
    const uint64_t end = offset + (left < reach ? left : reach);
    uint64_t ordinals[AHEAD_BLOCKS];
    uint32_t count = 0;
    net_log_block next;
    offset = net_log_pass_block(reader, offset, block);
    while (count < AHEAD_BLOCKS && net_log_next_block(reader, &offset, end, &next)) {
        offset = net_log_pass_block(reader, offset, &next);
        if (next.identity == block->identity && next.type != NET_LOG_BLOCK_HEADER)
            ordinals[count++] = next.ordinal;
    }
    return 1 + count_rising(ordinals, count, block->ordinal + 1) >
           count_rising(ordinals, count, ordinal);
}

bool net_log_is_in_order(net_log_reader* reader, uint64_t offset, const net_log_block* block,
                         uint64_t ordinal) {
    if (block->identity != reader->info.identity || block->type == NET_LOG_BLOCK_HEADER)
        return false;
    return block->ordinal == ordinal ||
           (block->ordinal > ordinal && is_jump_right(reader, offset, block, ordinal));
}

const uint8_t* net_log_next_span(base_reader* bytes, size_t* size) {
    uint64_t length = base_reader_varint(bytes);
    if (length < 1 || length > NET_LOG_RECORD_BYTES_MAX) return NULL;
    *size = (size_t)length;
    return base_reader_skip(bytes, *size);
}

const uint8_t* net_log_only_span(const uint8_t* payload, size_t payload_bytes, size_t* size) {
    base_reader bytes = base_reader_make(payload, payload_bytes);
    const uint8_t* data = net_log_next_span(&bytes, size);
    return base_reader_left(&bytes) == 0 ? data : NULL;
}

bool net_log_check_records(const net_log_block* block, const uint8_t* payload,
                           net_log_order* order) {
    base_reader bytes = base_reader_make(payload, block->unpacked_bytes);
    ecs_tick first = UINT64_MAX, last = 0;
    uint32_t count = 0;
    net_log_record record;
    while (base_reader_left(&bytes) > 0) {
        size_t size;
        const uint8_t* data = net_log_next_span(&bytes, &size);
        if (!data || !net_log_record_read(&record, data, size)) return false;
        if (!net_log_order_add(order, &record)) return false;
        count++;
        if (record.kind == NET_LOG_KIND_OTHER) continue;
        first = record.tick < first ? record.tick : first;
        last = record.tick > last ? record.tick : last;
    }
    if (bytes.failed || count != block->record_count) return false;
    return first == UINT64_MAX || (first == block->first_tick && last == block->last_tick);
}

net_log_order net_log_order_of(const net_log_block* block, const uint8_t* payload) {
    base_reader bytes = base_reader_make(payload, block->unpacked_bytes);
    size_t size;
    net_log_record first;
    const uint8_t* data = net_log_next_span(&bytes, &size);
    if (!data || !net_log_record_read(&first, data, size)) return (net_log_order){0};
    const net_log_stage stage = net_log_kinds[first.kind].stage;
    const bool is_early = stage == NET_LOG_OPENS || stage == NET_LOG_BETWEEN; // in its block
    const ecs_tick before = first.tick - (first.tick > 0);
    if (stage == NET_LOG_ENDS)
        return (net_log_order){
            .tick = first.tick, .is_in_tick = first.tick > 0, .last_end = before};
    const ecs_tick tick = is_early ? before : first.tick;
    return (net_log_order){.tick = tick, .last_end = tick};
}
