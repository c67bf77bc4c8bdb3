// SPDX-License-Identifier: MIT
// Where a log ends, and where its keyframes are, without reading all of it.
//
// A segment that was closed has an index in its last block. Without one the headers of its blocks
// say the same, one small read each. Only the last blocks are read as a whole: a torn write is
// there. Damage further in front is left to the walk that comes across it.
#include "log/log_read_internal.h"

#include "base/assert.h"
#include "log/log_index.h"

#include <inttypes.h>
#include <string.h>

enum {
    PLACES_MAX = 64, // of the last blocks; what is not synced yet is less than ten
    INDEX_SEARCH_BYTES = 192 << 10,
    KEYFRAMES_MAX = 1 << 20,
};

typedef struct place {
    uint64_t offset;
    net_log_block block;
    bool is_stray; // it does not stand at its place
} place;

typedef struct scan {
    net_log_reader* reader;
    net_log_tail* tail;
    place places[PLACES_MAX]; // a ring
    uint64_t place_count;     // ever added
    uint64_t place_first;     // those before it stand in front of blocks that were not looked at
    uint64_t ordinal;         // of the next block
    place stray;              // the data block with the highest ordinal of those
    bool is_checking;         // each block on the way, instead of the last ones
    bool lacks_memory;
} scan;

static void add_keyframe(scan* self, ecs_tick tick, uint64_t offset) {
    net_log_reader* reader = self->reader;
    uint32_t count = reader->info.keyframe_count;
    // Parts of one keyframe follow each other, and ticks rise.
    if (count == KEYFRAMES_MAX || (count > 0 && tick <= reader->keyframes[count - 1].tick)) return;
    if (!BASE_ARRAY_RESERVE(reader->allocator, reader->keyframes, reader->keyframe_capacity,
                            count + 1)) {
        self->lacks_memory = true;
        return;
    }
    reader->keyframes[reader->info.keyframe_count++] = (net_log_keyframe){tick, offset};
}

static bool take_place(scan* self, const place* at);

static void add_block(scan* self, uint64_t offset, const net_log_block* block) {
    place at = {.offset = offset, .block = *block};
    at.is_stray = !net_log_is_in_order(self->reader, offset, block, self->ordinal);
    if (!at.is_stray) self->ordinal = block->ordinal + 1;
    bool is_newest =
        block->type == NET_LOG_BLOCK_DATA && block->ordinal > self->stray.block.ordinal;
    if (at.is_stray && is_newest) self->stray = at;
    if (self->is_checking) {
        (void)take_place(self, &at);
        return;
    }
    self->places[self->place_count++ % PLACES_MAX] = at;
    self->reader->info.block_count++;
    if (block->type == NET_LOG_BLOCK_KEYFRAME && !at.is_stray)
        add_keyframe(self, block->first_tick, offset);
}

// Another log that was appended: what belongs to which is for its owner to say.
static void note_other_log(scan* self, uint64_t offset, const net_log_block* block) {
    if (block->type != NET_LOG_BLOCK_HEADER || self->tail->has_other_log) return;
    self->tail->has_other_log = true;
    base_report(&self->reader->reporter, self->reader->file, 0,
                "damaged: another log begins before byte %" PRIu64 "; only the first is read",
                offset);
}

// Walk through the blocks of one file. Only their headers are read.
static void walk(scan* self, uint64_t offset, uint64_t end) {
    net_log_reader* reader = self->reader;
    net_log_block block;
    while (offset < end) {
        if (!net_log_read_block(reader, offset, &block)) {
            offset = net_log_find_block(reader, offset + 1, end);
            continue;
        }
        if (block.identity == reader->info.identity)
            add_block(self, offset, &block);
        else
            note_other_log(self, offset, &block);
        offset = net_log_block_end(offset, &block);
    }
}

// ---- the index ----

// The index block that ends a file. @return its place; 0: there is none.
static uint64_t find_index(net_log_reader* reader, const net_log_set_file* file,
                           net_log_block* block) {
    uint8_t sync[NET_LOG_BLOCK_HEADER_BYTES];
    const net_log_block none = {0};
    net_log_block_header_write(&none, sync);
    uint64_t end = file->base + file->bytes;
    size_t size = file->bytes < INDEX_SEARCH_BYTES ? (size_t)file->bytes : INDEX_SEARCH_BYTES;
    if (!net_log_set_read(&reader->set, end - size, reader->stored, size)) return 0;
    const uint8_t* at = reader->stored;
    const uint8_t* limit = reader->stored + size;
    while ((size_t)(limit - at) >= sizeof sync) {
        at = memchr(at, sync[0], (size_t)(limit - at) - sizeof sync + 1);
        if (!at) return 0;
        uint64_t offset = end - (uint64_t)(limit - at);
        if (net_log_block_header_read(block, at) && block->type == NET_LOG_BLOCK_INDEX &&
            block->identity == reader->info.identity && net_log_block_end(offset, block) == end)
            return offset;
        at++;
    }
    return 0;
}

static bool is_block(net_log_reader* reader, uint64_t offset, net_log_block_type type,
                     net_log_block* block) {
    return net_log_read_block(reader, offset, block) && block->type == type &&
           block->identity == reader->info.identity;
}

// Does the file have what its index says, at its places? Of a file with blocks in another order the
// index says nothing.
static bool is_index_right(const scan* self, const net_log_set_file* file, uint64_t ordinal,
                           const net_log_index* index) {
    net_log_block block;
    bool is_right = ordinal + 1 >= self->ordinal + index->block_count;
    if (index->last_data > 0)
        is_right =
            is_right &&
            is_block(self->reader, file->base + index->last_data, NET_LOG_BLOCK_DATA, &block) &&
            block.ordinal + 1 == ordinal;
    for (uint32_t i = 0; is_right && i < index->keyframe_count; i++)
        is_right = is_block(self->reader, file->base + index->keyframes[i].offset,
                            NET_LOG_BLOCK_KEYFRAME, &block) &&
                   block.first_tick == index->keyframes[i].tick;
    return is_right;
}

// @return false: the file has no index that can be used.
static bool take_index(scan* self, const net_log_set_file* file, bool is_last) {
    net_log_reader* reader = self->reader;
    net_log_block block;
    uint64_t offset = find_index(reader, file, &block);
    if (offset == 0 || !net_log_read_payload(reader, offset, &block, reader->payload)) return false;
    net_log_index index = {0};
    size_t bytes = NET_LOG_INDEX_KEYFRAMES_MAX * sizeof *index.keyframes;
    index.keyframes = base_allocate(reader->allocator, bytes);
    self->lacks_memory = self->lacks_memory || !index.keyframes;
    bool is_whole =
        index.keyframes &&
        net_log_index_read(&index, reader->payload, block.unpacked_bytes, offset - file->base);
    if (is_last) self->tail->has_index = is_whole;
    bool is_right = is_whole && is_index_right(self, file, block.ordinal, &index);
    for (uint32_t i = 0; is_right && i < index.keyframe_count; i++)
        add_keyframe(self, index.keyframes[i].tick, file->base + index.keyframes[i].offset);
    base_release(reader->allocator, index.keyframes, bytes);
    if (!is_right) return false;
    uint64_t blocks = reader->info.block_count + index.block_count + 1;
    self->place_first = self->place_count;
    if (is_last) {
        if (index.last_data > 0) self->ordinal = block.ordinal - 1;
        uint64_t from = index.last_data > 0 ? index.last_data : NET_LOG_PROLOGUE_BYTES;
        walk(self, file->base + from, file->base + file->bytes);
    }
    self->ordinal = block.ordinal + 1;
    reader->info.block_count = blocks;
    return true;
}

// ---- the last whole block ----

// A data block's records, or the tick of a keyframe, say where the log stands behind it.
static bool take_state(net_log_reader* reader, const place* at, net_log_tail* tail) {
    const net_log_block* block = &at->block;
    if (block->type == NET_LOG_BLOCK_KEYFRAME) {
        tail->order = (net_log_order){.tick = block->last_tick, .last_end = block->last_tick};
        tail->number = block->first_record;
        return true;
    }
    if (block->type != NET_LOG_BLOCK_DATA) return false;
    net_log_order order = net_log_order_of(block, reader->payload);
    if (!net_log_check_records(block, reader->payload, &order)) return false;
    tail->order = order;
    tail->number = block->first_record + block->record_count;
    reader->tail_block = at->offset;
    return true;
}

// @return false: the block is not whole, or says nothing about records.
static bool take_place(scan* self, const place* at) {
    net_log_reader* reader = self->reader;
    if (!net_log_read_payload(reader, at->offset, &at->block, reader->payload)) return false;
    bool has_state = !at->is_stray && take_state(reader, at, self->tail);
    if (at->block.type == NET_LOG_BLOCK_DATA && !at->is_stray && !has_state) return false;
    uint64_t end = net_log_block_end(at->offset, &at->block);
    if (end > reader->good_end) reader->good_end = end;
    return has_state;
}

// The last blocks, as far as one that says where the log stands.
static bool take_last(scan* self) {
    uint64_t oldest = self->place_first;
    if (self->place_count > oldest + PLACES_MAX) oldest = self->place_count - PLACES_MAX;
    for (uint64_t i = self->place_count; i > oldest; i--)
        if (take_place(self, &self->places[(i - 1) % PLACES_MAX])) return true;
    return false;
}

static void find_end(scan* self) {
    net_log_reader* reader = self->reader;
    if (!take_last(self)) {
        // Damage or a power cut took more than that. Now every block has to be looked at.
        self->is_checking = true;
        self->ordinal = 1;
        for (uint32_t i = 0; i < reader->set.count; i++) {
            const net_log_set_file* file = &reader->set.files[i];
            if (file->bytes > NET_LOG_PROLOGUE_BYTES)
                walk(self, file->base + NET_LOG_PROLOGUE_BYTES, file->base + file->bytes);
        }
    }
    // The log went as far as its newest block, wherever that stands.
    const place* stray = &self->stray;
    if (stray->block.ordinal > 0 && stray->block.first_record >= self->tail->number &&
        net_log_read_payload(reader, stray->offset, &stray->block, reader->payload))
        (void)take_state(reader, stray, self->tail);
}

net_result net_log_tail_find(net_log_reader* reader, net_log_tail* tail) {
    scan self = {.reader = reader, .tail = tail, .ordinal = 1};
    *tail = (net_log_tail){.number = 1};
    reader->good_end = reader->data_start;
    reader->info.block_count = 0;
    for (uint32_t i = 0; i < reader->set.count; i++) {
        const net_log_set_file* file = &reader->set.files[i];
        bool is_last = i + 1 == reader->set.count;
        if (file->bytes < NET_LOG_PROLOGUE_BYTES) continue;
        if (!take_index(&self, file, is_last))
            walk(&self, file->base + NET_LOG_PROLOGUE_BYTES, file->base + file->bytes);
    }
    find_end(&self);
    return self.lacks_memory ? NET_ERR_MEMORY : NET_OK;
}
