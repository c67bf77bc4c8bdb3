// SPDX-License-Identifier: MIT
// Walking a log's records. Each block is checked when it is entered, so memory does not grow with
// the file and opening does not read it.
//
// Records are numbered through the whole log. So the walk knows whether bytes that belong to no
// block cost records or not. When they did, the state that the records lead to is lost: the walk
// goes on at the next keyframe and nowhere before.
#include "log/log_read.h"

#include "base/assert.h"
#include "log/log_keyframe.h"
#include "log/log_read_internal.h"

#include <inttypes.h>

#define NOWHERE UINT64_MAX

net_log_cursor net_log_cursor_begin(const net_log_reader* reader) {
    // A part of a log begins with its first keyframe, and nothing is lost by that.
    return (net_log_cursor){.offset = reader->data_start,
                            .bad_from = NOWHERE,
                            .ordinal = 1,
                            .number = 1,
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

// Read one part; *offset moves behind it. `save` NULL: only check it.
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

// All parts of a keyframe. `save` gets them, or NULL. *offset moves behind them.
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
        if (save && save->failed) return NET_ERR_MEMORY;
    }
    return NET_OK;
}

net_result net_log_keyframe_read(net_log_reader* reader, const net_log_keyframe* keyframe,
                                 base_bytes* save) {
    BASE_ASSERT(keyframe && save);
    // The cursor's records stay where they are.
    uint8_t* payload = base_allocate(reader->allocator, NET_LOG_BLOCK_BYTES_MAX);
    if (!payload) return NET_ERR_MEMORY;
    uint64_t offset = keyframe->offset;
    net_result result = read_parts(reader, keyframe->tick, &offset, payload, save);
    base_release(reader->allocator, payload, NET_LOG_BLOCK_BYTES_MAX);
    return result;
}

// ---- damage ----

// A place of damage counts and is reported once, however often a walk meets it.
static bool is_news(net_log_reader* reader, uint64_t place) {
    for (uint32_t i = 0; i < reader->told_count; i++)
        if (reader->told[i] == place) return false;
    if (reader->told_count == NET_LOG_TOLD_MAX) return false;
    reader->told[reader->told_count++] = place;
    return true;
}

// The unusable bytes end at `offset`, where `next` begins (NULL: at the end of the log).
static void end_bad(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                    const net_log_block* next) {
    uint64_t from = cursor->bad_from, bytes = offset - from;
    cursor->bad_from = NOWHERE;
    reader->info.is_damaged = true;
    if (!is_news(reader, from)) return;
    reader->info.lost_bytes += bytes;
    if (!next || next->ordinal == cursor->ordinal) {
        base_report(&reader->reporter, reader->file, 0,
                    "damaged: %" PRIu64 " bytes from byte %" PRIu64 " belong to no block", bytes,
                    from);
        return;
    }
    reader->info.damaged_blocks += next->ordinal - cursor->ordinal;
    base_report(&reader->reporter, reader->file, 0,
                "damaged: blocks %" PRIu64 "..%" PRIu64 ", between tick %" PRIu64
                " and tick %" PRIu64 ", %" PRIu64 " bytes from byte %" PRIu64,
                cursor->ordinal, next->ordinal - 1, cursor->order.last_end, next->first_tick, bytes,
                from);
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
    reader->info.is_damaged = true;
    // A number that no place of bad bytes has.
    if (last < cursor->lost_first || !is_news(reader, ~place)) return;
    reader->info.lost_ticks += last - cursor->lost_first + 1;
    base_report(&reader->reporter, reader->file, 0,
                "damaged: ticks %" PRIu64 "..%" PRIu64 " are missing", cursor->lost_first, last);
}

// ---- walking ----

static void resume(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                   const net_log_block* block) {
    uint64_t end = offset;
    if (read_parts(reader, block->first_tick, &end, reader->payload, NULL) != NET_OK) return;
    if (cursor->is_part) {
        cursor->lost_first = 0;
    } else {
        if (!cursor->is_lost) cursor->lost_first = cursor->order.last_end + 1;
        count_lost(reader, cursor, offset, block->first_tick);
    }
    cursor->is_lost = cursor->is_part = false;
    cursor->offset = end;
    cursor->resumed = block->first_tick;
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

// @return false: the block's records cannot be used.
static bool enter_data(net_log_reader* reader, net_log_cursor* cursor, uint64_t offset,
                       const net_log_block* block) {
    if (cursor->is_part) return false; // it comes before the first keyframe
    if (block->first_record != cursor->number) {
        begin_lost(cursor);
        return false;
    }
    net_log_order order = cursor->order;
    if (!net_log_read_payload(reader, offset, block, reader->payload) ||
        !net_log_check_records(block, reader->payload, &order)) {
        begin_bad(cursor, offset);
        begin_lost(cursor);
        return false;
    }
    cursor->is_lost = false;
    cursor->order = order;
    cursor->number += block->record_count;
    cursor->block = offset;
    cursor->data = reader->payload;
    cursor->size = block->unpacked_bytes;
    cursor->at = 0;
    return true;
}

// A block of this log that is in its order. A part of a log begins with any ordinal.
static bool is_in_order(const net_log_reader* reader, const net_log_cursor* cursor,
                        const net_log_block* block) {
    return block->identity == reader->info.identity && block->type != NET_LOG_BLOCK_HEADER &&
           block->ordinal >= cursor->ordinal;
}

// The header block of a later segment.
static bool is_segment_head(net_log_reader* reader, uint64_t offset, const net_log_block* block) {
    return block->type == NET_LOG_BLOCK_HEADER && block->identity == reader->info.identity &&
           offset - net_log_set_at(&reader->set, offset)->base == NET_LOG_PROLOGUE_BYTES;
}

// Go over the block or the bytes at the cursor. @return true: it stands in a block of records.
static bool pass(net_log_reader* reader, net_log_cursor* cursor) {
    uint64_t offset = cursor->offset;
    net_log_block block;
    if (net_log_is_prologue(reader, offset)) {
        cursor->offset += NET_LOG_PROLOGUE_BYTES;
        return false;
    }
    if (!net_log_read_block(reader, offset, &block)) {
        begin_bad(cursor, offset);
        cursor->offset = net_log_find_block(reader, offset + 1, reader->good_end);
        return false;
    }
    cursor->offset = net_log_block_end(offset, &block);
    if (is_segment_head(reader, offset, &block)) return false;
    if (!is_in_order(reader, cursor, &block)) {
        begin_bad(cursor, offset);
        return false;
    }
    bool tells = block.type == NET_LOG_BLOCK_DATA || block.type == NET_LOG_BLOCK_KEYFRAME;
    bool is_gap = !cursor->is_part && block.ordinal > cursor->ordinal;
    if (tells && is_gap) begin_bad(cursor, offset);
    if (tells && cursor->bad_from != NOWHERE) end_bad(reader, cursor, offset, &block);
    bool is_entered =
        block.type == NET_LOG_BLOCK_DATA && enter_data(reader, cursor, offset, &block);
    if (block.type == NET_LOG_BLOCK_KEYFRAME) pass_keyframe(reader, cursor, offset, &block);
    bool is_left_out = block.type == NET_LOG_BLOCK_DATA && cursor->bad_from == offset;
    // The ordinal of a block that is not whole is one of those that the report names.
    if (!is_left_out && (tells || !is_gap)) cursor->ordinal = block.ordinal + 1;
    cursor->blocks++;
    return is_entered;
}

// Behind the last whole block: the queue has the records that follow it.
static bool enter_queue(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->is_in_queue) return false;
    cursor->is_in_queue = true;
    if (cursor->bad_from != NOWHERE) end_bad(reader, cursor, reader->good_end, NULL);
    if (cursor->is_lost || cursor->number != reader->tail_number) {
        if (cursor->is_lost && !cursor->is_part)
            count_lost(reader, cursor, reader->good_end, reader->info.last_tick);
        return false;
    }
    cursor->data = reader->queue.data;
    cursor->size = reader->queue.size;
    cursor->at = 0;
    return cursor->size > 0;
}

static bool enter_next(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->is_in_queue) return false;
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
    cursor->has_failed = !data || !net_log_record_read(record, data, size);
    cursor->at = bytes.offset;
    return !cursor->has_failed;
}

// It is the last record of the last block, or of the queue.
bool net_log_reader_close(net_log_reader* reader, net_log_record* close) {
    net_log_cursor cursor = {.offset = reader->tail_block, .bad_from = NOWHERE};
    net_log_block block;
    bool is_found = false;
    if (!reader->info.is_closed || reader->tail_block == 0 ||
        !net_log_read_block(reader, reader->tail_block, &block))
        return false;
    cursor.ordinal = block.ordinal;
    cursor.number = block.first_record;
    cursor.has_failed = !net_log_read_payload(reader, cursor.offset, &block, reader->payload);
    cursor.data = reader->payload;
    cursor.size = block.unpacked_bytes;
    cursor.offset = reader->good_end;
    cursor.number = reader->tail_number;
    for (net_log_record record; net_log_cursor_next(reader, &cursor, &record);) {
        is_found = record.kind == NET_LOG_KIND_CLOSE;
        *close = record;
    }
    return is_found;
}

net_result net_log_reader_check(net_log_reader* reader) {
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    while (net_log_cursor_next(reader, &cursor, &record)) {
    }
    return reader->info.is_damaged || cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}
