// SPDX-License-Identifier: MIT
// Walking a log's records. Each block is checked when it is entered, so memory does not grow with
// the file and opening does not read it.
//
// Records are numbered through the whole log. So the walk knows whether bytes that belong to no
// block cost records or not. When they did, the state that the records lead to is lost: the walk
// goes on at the next keyframe and nowhere before.
#include "log/log_read.h"

#include "base/assert.h"
#include "base/hash.h"
#include "log/log_segment.h"

#include <inttypes.h>
#include <string.h>

// ---- blocks ----

// A length counts after the header's checksum matched, bytes after theirs matched, records after
// they were decoded and found in order.

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
static uint64_t find_block(net_log_reader* reader, uint64_t offset, uint64_t end) {
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
        *offset = find_block(reader, *offset + 1, end);
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

// ---- the running hash ----

static bool hash_file(net_log_reader* reader, const net_log_set_file* file, net_log_chain* chain,
                      net_log_index* index) {
    const uint64_t end = file->base + file->bytes;
    net_log_block block = {.type = NET_LOG_BLOCK_DATA};
    uint64_t at = file->base + NET_LOG_PROLOGUE_BYTES, blocks = 0;
    for (uint64_t next; at < end; at = next, blocks++) {
        uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
        if (!net_log_read_block(reader, at, &block)) return false;
        next = net_log_block_end(at, &block);
        // One further in front came with a copy.
        if (block.type == NET_LOG_BLOCK_INDEX && next == end) break;
        if (block.type == NET_LOG_BLOCK_INDEX) continue;
        if (!net_log_set_read(&reader->set, at, header, sizeof header) ||
            !net_log_set_read(&reader->set, at + sizeof header, reader->stored, block.stored_bytes))
            return false;
        net_log_chain_add(chain, header, sizeof header, reader->stored, block.stored_bytes);
    }
    if (at >= end || !net_log_read_payload(reader, at, &block, reader->payload)) return false;
    const bool is_read =
        net_log_index_read(index, reader->payload, block.unpacked_bytes, at - file->base);
    if (is_read && index->block_count == blocks) return true;
    // Blocks are missing, as a spectator that came late may lack the first ones.
    memset(&index->chain, 0, sizeof index->chain);
    return file->base > 0 || !reader->is_part;
}

bool net_log_file_chain(net_log_reader* reader, const net_log_set_file* file, net_log_index* index,
                        net_log_chain* chain) {
    *chain = (net_log_chain){.before = {0}};
    if (!hash_file(reader, file, chain, index)) return false;
    memcpy(chain->before, index->chain.before, sizeof chain->before);
    net_log_chain_end(chain);
    return true;
}

// What a file continues from. Without the segment before, only the file knows it.
typedef struct running {
    uint8_t total[NET_LOG_HASH_BYTES];
    bool is_known;
    bool has_all; // each file has one
} running;

static bool check_file(net_log_reader* reader, const net_log_set_file* file, net_log_index* index,
                       running* run) {
    net_log_chain chain;
    if (!net_log_file_chain(reader, file, index, &chain)) {
        run->is_known = run->has_all = false;
        return true;
    }
    bool is_right = memcmp(chain.total, index->chain.total, sizeof chain.total) == 0 &&
                    (!run->is_known || memcmp(chain.before, run->total, sizeof run->total) == 0);
    run->is_known = true;
    memcpy(run->total, chain.total, sizeof run->total);
    return is_right;
}

// Compute the hash of each file that ends with an index, and compare. *has_all: each file has the
// right one. @return false when one differs (reported).
static bool chain_check(net_log_reader* reader, bool* has_all) {
    net_log_index index = {.keyframes = reader->keyframes_of_file};
    running run = {.is_known = !reader->is_part, .has_all = true};
    bool is_right = true;
    for (uint32_t i = 0; i < reader->set.count && is_right; i++) {
        const net_log_set_file* file = &reader->set.files[i];
        const bool follows = i == 0 || file->number == 0 || file[-1].number + 1 == file->number;
        run.is_known = run.is_known && follows;
        if (file->bytes < NET_LOG_PROLOGUE_BYTES) continue;
        is_right = check_file(reader, file, &index, &run);
        if (is_right) continue;
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: the running hash before byte %" PRIu64
                    " is not that of its blocks: some were changed or exchanged",
                    file->base + file->bytes);
    }
    *has_all = is_right && run.has_all;
    return is_right;
}

// ---- the walk ----

#define NOWHERE UINT64_MAX

net_log_cursor net_log_cursor_begin(const net_log_reader* reader) {
    // A part of a log begins with its first keyframe, and nothing is lost by that.
    return (net_log_cursor){.offset = reader->data_start,
                            .is_all = true,
                            .bad_from = NOWHERE,
                            .ordinal = 1,
                            .number = 1,
                            .lost_first = reader->is_part ? reader->info.first_tick : 0,
                            .is_lost = reader->is_part,
                            .is_part = reader->is_part};
}

net_log_cursor net_log_reader_seek(net_log_reader* reader, ecs_tick tick,
                                   const net_log_keyframe** keyframe) {
    net_log_block block;
    *keyframe = NULL;
    for (uint32_t i = reader->info.keyframe_count; i > 0; i--) {
        const net_log_keyframe* at = &reader->keyframes[i - 1];
        if (at->tick > tick || !net_log_read_block(reader, at->offset, &block) ||
            block.type != NET_LOG_BLOCK_KEYFRAME || block.first_tick != at->tick ||
            block.identity != reader->info.identity)
            continue;
        *keyframe = at;
        return (net_log_cursor){.offset = at->offset,
                                .bad_from = NOWHERE,
                                .ordinal = block.ordinal,
                                .number = block.first_record,
                                .order = {.tick = at->tick, .last_end = at->tick}};
    }
    return net_log_cursor_begin(reader);
}

// ---- keyframes ----

// Read one part; *offset moves past it. `save` NULL: only check it.
static net_result read_part(net_log_reader* reader, ecs_tick tick, uint64_t* offset,
                            net_log_part* part, uint8_t* payload) {
    net_log_block block;
    if (!net_log_read_block(reader, *offset, &block) || block.type != NET_LOG_BLOCK_KEYFRAME ||
        block.first_tick != tick || block.identity != reader->info.identity ||
        !net_log_read_payload(reader, *offset, &block, payload) ||
        !net_log_part_read(part, payload, block.unpacked_bytes))
        return NET_ERR_DAMAGED;
    *offset = net_log_block_end(*offset, &block);
    return NET_OK;
}

// All parts of a keyframe. `save` gets them, or NULL. *offset moves past them.
static net_result read_parts(net_log_reader* reader, ecs_tick tick, uint64_t* offset,
                             uint8_t* payload, base_bytes* save) {
    net_log_part part;
    uint64_t save_bytes = 0;
    for (uint32_t number = 1, count = 1; number <= count; number++) {
        net_result result = read_part(reader, tick, offset, &part, payload);
        if (result != NET_OK) return result;
        if (number == 1) {
            count = part.count;
            save_bytes = part.save_bytes;
        }
        if (part.number != number || part.count != count || part.save_bytes != save_bytes)
            return NET_ERR_DAMAGED;
        if (save) base_bytes_write(save, part.data, part.size);
    }
    return NET_OK;
}

net_result net_log_keyframe_read(net_log_reader* reader, const net_log_keyframe* keyframe,
                                 base_bytes* save) {
    BASE_ASSERT(keyframe && save);
    uint64_t offset = keyframe->offset;
    return read_parts(reader, keyframe->tick, &offset, reader->beside, save);
}

// ---- damage ----

// A part of a log begins with any ordinal.
static bool is_first(const net_log_cursor* cursor) {
    return cursor->is_part && cursor->blocks == 0;
}

// A place of damage is reported once, however often a walk meets it.
static bool is_news(net_log_reader* reader, uint64_t place) {
    for (uint32_t i = 0; i < reader->reported_count; i++)
        if (reader->reported[i] == place) return false;
    if (reader->reported_count == NET_LOG_REPORTED_MAX) return false;
    reader->reported[reader->reported_count++] = place;
    return true;
}

// The unusable bytes end at `offset`, where `next` begins (NULL: at the end of the log).
static void end_bad(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                    const net_log_block* next) {
    uint64_t from = cursor->bad_from, bytes = offset - from;
    uint64_t blocks = !next ? 0 : is_first(cursor) ? 1 : next->ordinal - cursor->ordinal;
    ecs_tick last = cursor->order.last_end;
    cursor->bad_from = NOWHERE;
    reader->info.is_damaged = true;
    bool is_new = is_news(reader, from);
    const bool lacks_head = blocks == 0 && bytes == 0;
    if (reader->is_checking || (is_new && !reader->is_checked)) {
        reader->info.lost_bytes += bytes;
        reader->info.damaged_blocks += blocks;
    }
    if (!is_new) return;
    if (lacks_head)
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: the file at byte %" PRIu64 " does not begin with its header block",
                    from);
    else if (blocks == 0)
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: %" PRIu64 " bytes from byte %" PRIu64 " belong to no block", bytes,
                    from);
    else
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: blocks %" PRIu64 "..%" PRIu64 ", between tick %" PRIu64
                    " and tick %" PRIu64 ", %" PRIu64 " bytes from byte %" PRIu64,
                    next->ordinal - blocks, next->ordinal - 1, last,
                    next->first_tick > last ? next->first_tick : last, bytes, from);
}

static void begin_bad(net_log_cursor* cursor, uint64_t offset) {
    if (cursor->bad_from == NOWHERE) cursor->bad_from = offset;
}

static void begin_lost(net_log_cursor* cursor) {
    if (cursor->is_lost) return;
    cursor->is_lost = true;
    cursor->lost_first = cursor->order.last_end + 1;
}

static void count_lost(net_log_reader* reader, const net_log_cursor* cursor, uint64_t place,
                       ecs_tick last) {
    if (cursor->lost_first == 0 || last < cursor->lost_first) return;
    reader->info.is_damaged = true;
    // A number that no place of bad bytes has.
    bool is_new = is_news(reader, ~place);
    if (reader->is_checking || (is_new && !reader->is_checked))
        reader->info.lost_ticks += last - cursor->lost_first + 1;
    if (is_new)
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: ticks %" PRIu64 "..%" PRIu64 " are missing", cursor->lost_first,
                    last);
}

// ---- walking ----

// At a keyframe, all parts of which must be whole. They are passed after it, one by one.
static void resume(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                   const net_log_block* block) {
    uint64_t end = offset;
    if (read_parts(reader, block->first_tick, &end, reader->payload, NULL) != NET_OK) return;
    // Between two gaps there may be a keyframe and no record.
    const ecs_tick first = cursor->resumed > 0 ? cursor->lost_first : 0;
    begin_lost(cursor);
    count_lost(reader, cursor, offset, block->first_tick);
    if (first > 0) cursor->lost_first = first;
    if (cursor->lost_first > block->first_tick) cursor->lost_first = 0;
    cursor->is_lost = cursor->is_part = false;
    cursor->resumed = block->first_tick;
    cursor->resumed_at = offset;
    cursor->number = block->first_record;
    cursor->order = (net_log_order){.tick = block->first_tick, .last_end = block->first_tick};
}

static void pass_keyframe(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                          const net_log_block* block) {
    bool is_next = !cursor->is_part && block->first_record == cursor->number &&
                   block->first_tick == cursor->order.last_end;
    if (is_next) cursor->is_lost = false;
    bool leads_on = cursor->is_part || block->first_tick > cursor->order.last_end;
    if (!is_next && leads_on) resume(reader, cursor, offset, block);
}

// The header block of a file. It says whether a keyframe comes first.
static bool is_head(net_log_reader* reader, uint64_t offset, const net_log_block* block) {
    const uint64_t base = net_log_set_at(&reader->set, offset)->base;
    if (block->type != NET_LOG_BLOCK_HEADER || block->identity != reader->info.identity ||
        offset - base != NET_LOG_PROLOGUE_BYTES ||
        !net_log_read_payload(reader, offset, block, reader->payload))
        return false;
    size_t size;
    const uint8_t* header = net_log_only_span(reader->payload, block->unpacked_bytes, &size);
    const bool is_part = base > 0 || reader->is_part;
    return header &&
           is_part == ((net_log_header_features(header, size) & NET_LOG_FEATURE_SEGMENT) != 0);
}

// At the start of a file. @return false: its prologue is missing.
static bool pass_prologue(net_log_reader* reader, net_log_cursor* cursor) {
    const bool is_there = net_log_is_prologue(reader, cursor->offset);
    net_log_block block;
    if (is_there) cursor->offset += NET_LOG_PROLOGUE_BYTES;
    if (!is_there || !net_log_read_block(reader, cursor->offset, &block) ||
        !is_head(reader, cursor->offset, &block))
        begin_bad(cursor, cursor->offset);
    return is_there;
}

// Is the block at the cursor whole, and at its place? Of a data block *order is what follows it;
// its payload is there.
static bool is_whole(net_log_reader* reader, const net_log_cursor* cursor, uint64_t offset,
                     const net_log_block* block, net_log_order* order) {
    if (!net_log_is_in_order(reader, offset, block, cursor->ordinal) ||
        !net_log_read_payload(reader, offset, block, reader->payload))
        return false;
    if (block->type != NET_LOG_BLOCK_DATA) return true;
    bool is_next = !cursor->is_part && block->first_record == cursor->number;
    *order = is_next ? cursor->order : net_log_order_of(block, reader->payload);
    return net_log_check_records(block, reader->payload, order);
}

// @return false: the block's records cannot be used.
static bool enter_data(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                       const net_log_block* block, const net_log_order* order) {
    if (cursor->is_part) return false; // it comes before the first keyframe
    if (block->first_record != cursor->number) {
        begin_lost(cursor);
        return false;
    }
    cursor->is_lost = false;
    cursor->order = *order;
    cursor->number += block->record_count;
    cursor->block = offset;
    cursor->data = reader->payload;
    cursor->size = block->unpacked_bytes;
    cursor->at = 0;
    return true;
}

// Go over the block or the bytes at the cursor. @return true: it is in a block of records.
static bool pass(net_log_reader* reader, net_log_cursor* cursor) {
    uint64_t offset = cursor->offset;
    net_log_block block;
    net_log_order order;
    if (net_log_set_at(&reader->set, offset)->base == offset && pass_prologue(reader, cursor))
        return false;
    if (!net_log_read_block(reader, offset, &block)) {
        begin_bad(cursor, offset);
        cursor->offset = find_block(reader, offset + 1, reader->good_end);
        return false;
    }
    cursor->offset = net_log_pass_block(reader, offset, &block);
    if (is_head(reader, offset, &block)) return false;
    if (!is_whole(reader, cursor, offset, &block, &order)) {
        begin_bad(cursor, offset);
        return false;
    }
    if (block.ordinal > cursor->ordinal && !is_first(cursor)) begin_bad(cursor, offset);
    if (cursor->bad_from != NOWHERE) end_bad(reader, cursor, offset, &block);
    bool is_entered =
        block.type == NET_LOG_BLOCK_DATA && enter_data(reader, cursor, offset, &block, &order);
    if (block.type == NET_LOG_BLOCK_KEYFRAME) pass_keyframe(reader, cursor, offset, &block);
    cursor->ordinal = block.ordinal + 1;
    cursor->blocks++;
    return is_entered;
}

// After the last whole block: the queue has the records that follow it.
static bool enter_queue(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->is_in_queue) return false;
    cursor->is_in_queue = true;
    reader->is_walked |= cursor->is_all;
    if (cursor->bad_from != NOWHERE) end_bad(reader, cursor, reader->good_end, NULL);
    if (cursor->is_lost || cursor->number != reader->tail_number) {
        begin_lost(cursor);
        count_lost(reader, cursor, reader->good_end, reader->info.last_tick);
        return false;
    }
    cursor->data = reader->queue.data;
    cursor->size = reader->queue.size;
    cursor->at = 0;
    return cursor->size > 0;
}

static bool enter_next(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->is_in_queue && cursor->offset >= reader->good_end) return false;
    cursor->is_in_queue = false; // or the log grew
    while (cursor->offset < reader->good_end)
        if (pass(reader, cursor)) return true;
    return enter_queue(reader, cursor);
}

bool net_log_cursor_return(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->data != reader->payload) return !cursor->has_failed;
    net_log_block block;
    cursor->has_failed = !net_log_read_block(reader, cursor->block, &block) ||
                         !net_log_read_payload(reader, cursor->block, &block, reader->payload) ||
                         block.unpacked_bytes != cursor->size;
    return !cursor->has_failed;
}

bool net_log_cursor_next(net_log_reader* reader, net_log_cursor* cursor, net_log_record* record) {
    BASE_ASSERT(record && cursor->at <= cursor->size);
    cursor->resumed = 0;
    if (!cursor->is_lost) cursor->lost_first = 0;
    if (cursor->has_failed) return false;
    if (cursor->at == cursor->size && !enter_next(reader, cursor)) return false;
    base_reader bytes = base_reader_make(cursor->data, cursor->size);
    bytes.offset = cursor->at;
    size_t size;
    const uint8_t* data = net_log_next_span(&bytes, &size);
    cursor->has_failed = !data || !net_log_record_again(record, data, size);
    cursor->at = bytes.offset;
    return !cursor->has_failed;
}

net_result net_log_reader_check(net_log_reader* reader) {
    net_log_info* info = &reader->info;
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    if (!reader->is_checked) {
        info->damaged_blocks = info->lost_ticks = 0;
        info->lost_bytes = reader->tail_lost_bytes;
        reader->is_checking = true;
        // A walk through everything that found no damage is not done again.
        const bool is_known = reader->is_walked && !info->is_damaged;
        while (!is_known && net_log_cursor_next(reader, &cursor, &record))
            cursor.at = cursor.size; // its block was checked when it was entered
        reader->is_checking = false;
        reader->is_checked = true;
        info->is_damaged =
            info->is_damaged || cursor.has_failed || !chain_check(reader, &info->is_hashed);
    }
    return info->is_damaged ? NET_ERR_DAMAGED : NET_OK;
}

const char* net_log_reader_verdict(net_log_reader* reader) {
    if (net_log_reader_check(reader) != NET_OK) return "damaged";
    return reader->info.is_cut ? "cut" : "whole";
}
