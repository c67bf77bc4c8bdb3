// SPDX-License-Identifier: MIT
// The header, the end and the queue of a log.
//
// The queue is copied before the file is looked at. A running writer moves records from the one to
// the other; in this order none can be missed.
#include "base/assert.h"
#include "base/text.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_segment.h"

#include <inttypes.h>
#include <sys/file.h>

// ---- the end of a log ----

// Where a log ends, and where its keyframes are, without reading all of it.
//
// A segment that was closed has an index in its last block. Without one the headers of its blocks
// say the same, one small read each. Only the last blocks are read as a whole: a torn write is
// there. Damage further in front is left to the walk that comes across it.

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
    uint64_t place_first;     // those before it stand before blocks that were not looked at
    uint64_t ordinal;         // of the next block
    place stray;              // the data block with the highest ordinal of those
    bool is_checking;         // each block on the way, instead of the last ones
    bool is_following;        // and it was not looked at before
    net_log_block_type last_type;
} scan;

static void add_keyframe(scan* self, ecs_tick tick, uint64_t offset) {
    net_log_reader* reader = self->reader;
    uint32_t count = reader->info.keyframe_count;
    // Parts of one keyframe follow each other, and ticks rise.
    if (count == KEYFRAMES_MAX || (count > 0 && tick <= reader->keyframes[count - 1].tick)) return;
    BASE_ARRAY_RESERVE(&reader->owner.allocator, reader->keyframes, reader->keyframe_capacity,
                       count + 1);
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
    if (self->is_checking) (void)take_place(self, &at);
    if (self->is_checking && !self->is_following) return;
    self->last_type = block->type;
    self->places[self->place_count++ % PLACES_MAX] = at;
    self->reader->info.block_count++;
    if (block->type == NET_LOG_BLOCK_KEYFRAME && !at.is_stray)
        add_keyframe(self, block->first_tick, offset);
}

// Another log that was appended: what belongs to which is for its owner to say.
static void record_other_log(scan* self, uint64_t offset, const net_log_block* block) {
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
    while (net_log_next_block(reader, &offset, end, &block)) {
        if (block.identity == reader->info.identity)
            add_block(self, offset, &block);
        else
            record_other_log(self, offset, &block);
        offset = net_log_pass_block(reader, offset, &block);
    }
}

// ---- the index ----

// The index block that ends a file. @return its place; 0: there is none.
static uint64_t find_index(net_log_reader* reader, const net_log_set_file* file,
                           net_log_block* block) {
    const uint64_t end = file->base + file->bytes;
    uint64_t at = file->bytes < INDEX_SEARCH_BYTES ? file->base : end - INDEX_SEARCH_BYTES;
    for (; net_log_next_block(reader, &at, end, block); at = net_log_pass_block(reader, at, block))
        if (block->type == NET_LOG_BLOCK_INDEX && block->identity == reader->info.identity &&
            net_log_block_end(at, block) == end)
            return at;
    return 0;
}

static bool is_block(net_log_reader* reader, uint64_t offset, net_log_block_type type,
                     net_log_block* block) {
    return net_log_read_block(reader, offset, block) && block->type == type &&
           block->identity == reader->info.identity;
}

// Do the blocks of the file stand at their places, from the first one up to that of `ordinal`?
static bool is_file_in_order(const scan* self, const net_log_set_file* file, uint64_t ordinal,
                             uint64_t block_count) {
    net_log_block block;
    uint64_t offset = file->base + NET_LOG_PROLOGUE_BYTES;
    if (!is_block(self->reader, offset, NET_LOG_BLOCK_HEADER, &block)) return false;
    offset = net_log_block_end(offset, &block);
    return net_log_read_block(self->reader, offset, &block) &&
           block.ordinal + block_count == ordinal + 1 &&
           net_log_is_in_order(self->reader, offset, &block, self->ordinal);
}

// Does the file have what its index says, at its places? Of a file with blocks in another order the
// index says nothing.
static bool is_index_right(const scan* self, const net_log_set_file* file, uint64_t ordinal,
                           const net_log_index* index) {
    net_log_block block;
    bool is_right = index->last_data == 0 || (is_block(self->reader, file->base + index->last_data,
                                                       NET_LOG_BLOCK_DATA, &block) &&
                                              block.ordinal + 1 == ordinal);
    // The file is as long as it was, so what is not readable before that was there.
    if (is_right && index->last_data > 0 && file == self->reader->set.files &&
        index->keyframe_count > 0)
        self->tail->begin = index->keyframes[0].tick;
    is_right = is_right && is_file_in_order(self, file, ordinal, index->block_count);
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
    net_log_index index = {.keyframes = reader->keyframes_of_file};
    bool is_whole =
        net_log_index_read(&index, reader->payload, block.unpacked_bytes, offset - file->base);
    if (is_last) self->tail->has_index = is_whole;
    bool is_right = is_whole && is_index_right(self, file, block.ordinal, &index);
    for (uint32_t i = 0; is_right && i < index.keyframe_count; i++)
        add_keyframe(self, index.keyframes[i].tick, file->base + index.keyframes[i].offset);
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

// A data block's records, or the tick of a keyframe, say where the log is after it.
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

// The last blocks, as far as one that says where the log is.
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
    // The log went as far as its newest block, wherever that is.
    const place* stray = &self->stray;
    if (stray->block.ordinal > 0 && stray->block.first_record >= self->tail->number &&
        net_log_read_payload(reader, stray->offset, &stray->block, reader->payload))
        (void)take_state(reader, stray, self->tail);
}

// Find the keyframes and the last whole block.
static void find_tail(net_log_reader* reader, net_log_tail* tail) {
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
    reader->next_ordinal = self.ordinal;
}

// ---- opening ----

// A copy of the header comes with the first keyframe.
enum { HEADER_SEARCH_BYTES_MAX = 64 << 20 };

// ---- the start ----

static net_result refuse_log(const net_log_reader* reader, const char* text) {
    base_report(&reader->reporter, reader->file, 0, "%s", text);
    return NET_ERR_DAMAGED;
}

static net_result refuse_version(const net_log_reader* reader, net_log_demand demand) {
    if (demand.features != 0)
        base_report(&reader->reporter, reader->file, 0,
                    "this log is of a later version (features 0x%" PRIx64
                    "): use shoal-replay of build %s or a newer one",
                    demand.features, demand.build[0] ? demand.build : "(unknown)");
    else
        base_report(&reader->reporter, reader->file, 0,
                    "this log is of version %" PRIu64 ", which this build does not read",
                    demand.version);
    return NET_ERR_VERSION;
}

// Take the Header out of a header block or a copy of it.
static net_result take_header(net_log_reader* reader, uint64_t offset, const net_log_block* block) {
    if (!net_log_read_payload(reader, offset, block, reader->payload)) return NET_ERR_DAMAGED;
    size_t size;
    const uint8_t* header = net_log_only_span(reader->payload, block->unpacked_bytes, &size);
    if (!header) return NET_ERR_DAMAGED;
    net_log_demand demand;
    net_log_info info = {0};
    net_result result = net_log_header_read(&info, header, size, &demand);
    if (result == NET_ERR_VERSION) return refuse_version(reader, demand);
    if (result != NET_OK || info.identity != block->identity) return NET_ERR_DAMAGED;
    reader->info = info;
    reader->is_part = (demand.features & NET_LOG_FEATURE_SEGMENT) != 0;
    reader->is_reload = (demand.features & NET_LOG_FEATURE_RELOAD) != 0;
    base_bytes_clear(&reader->header);
    base_bytes_write(&reader->header, header, size);
    return NET_OK;
}

static bool is_header_block(const net_log_block* block) {
    return block->type == NET_LOG_BLOCK_HEADER && block->ordinal == 0 && block->first_record == 0 &&
           block->record_count == 1 && block->first_tick == 0 && block->last_tick == 0;
}

// The start is damaged. A copy of the header is before the first keyframe, and later.
static net_result find_header(net_log_reader* reader, const char* why) {
    uint64_t end =
        reader->set.bytes < HEADER_SEARCH_BYTES_MAX ? reader->set.bytes : HEADER_SEARCH_BYTES_MAX;
    net_log_block block;
    uint64_t offset = 0;
    net_result result = NET_ERR_DAMAGED;
    while (result == NET_ERR_DAMAGED && net_log_next_block(reader, &offset, end, &block)) {
        bool is_header = block.type == NET_LOG_BLOCK_HEADER_COPY || is_header_block(&block);
        if (is_header) result = take_header(reader, offset, &block);
        offset = net_log_pass_block(reader, offset, &block);
    }
    if (result != NET_OK) return result == NET_ERR_DAMAGED ? refuse_log(reader, why) : result;
    // The copy before a first keyframe of a part says so itself.
    base_report(&reader->reporter, reader->file, 0,
                "damaged: its first bytes; the copy of the header further on is used");
    reader->info.is_damaged = true;
    reader->data_start = NET_LOG_PROLOGUE_BYTES;
    return NET_OK;
}

static net_result read_start(net_log_reader* reader) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    uint32_t version;
    net_log_block block;
    if (reader->set.bytes < sizeof prologue || reader->set.files[0].bytes < sizeof prologue ||
        !net_log_set_read(&reader->set, 0, prologue, sizeof prologue))
        return refuse_log(reader, "too short for an event log");
    net_result result = net_log_prologue_check(prologue, &version);
    if (result == NET_ERR_MALFORMED && version > 0)
        return refuse_version(reader, (net_log_demand){.version = version});
    if (result != NET_OK) return find_header(reader, "no event log, or its start is damaged");
    result = NET_ERR_DAMAGED;
    if (net_log_read_block(reader, sizeof prologue, &block) && is_header_block(&block))
        result = take_header(reader, sizeof prologue, &block);
    if (result == NET_ERR_DAMAGED)
        return find_header(reader, "the header block is damaged: nothing can be read");
    reader->data_start = net_log_block_end(sizeof prologue, &block);
    return result;
}

// ---- the queue ----

// Check what the queue gave; what is not in order is dropped. @return bytes that were dropped.
static uint64_t check_queue(net_log_reader* reader, net_log_order* order) {
    base_reader bytes = base_reader_make(reader->queue.data, reader->queue.size);
    size_t good = 0;
    while (base_reader_left(&bytes) > 0) {
        size_t size;
        net_log_record record;
        const uint8_t* data = net_log_next_span(&bytes, &size);
        if (!data || !net_log_record_read(&record, data, size) ||
            !net_log_order_add(order, &record))
            break;
        good = bytes.offset;
        reader->info.queue_records++;
    }
    uint64_t dropped = reader->queue.size - good;
    reader->queue.size = good;
    return dropped;
}

// A closed segment, which was opened by its own name, ends with its index.
static bool is_segment_whole(const net_log_reader* reader, const net_log_tail* tail) {
    return tail->has_index && reader->set.files[reader->set.count - 1].number > 0;
}

static void merge_queue(net_log_reader* reader, net_log_tail* tail, net_log_queue_copy* copy) {
    uint64_t torn = reader->set.bytes - reader->good_end;
    if (tail->order.is_closed || is_segment_whole(reader, tail) || tail->has_other_log) {
        reader->info.lost_bytes += tail->has_other_log ? 0 : torn;
        return;
    }
    const char* reason = "";
    uint64_t lost = 0;
    net_log_queue_state state = net_log_queue_take(copy, reader->info.identity, tail->number,
                                                   &reader->queue, &lost, &reason);
    uint64_t dropped = check_queue(reader, &tail->order);
    // A whole queue has the records of a torn block too.
    if (state != NET_LOG_QUEUE_WHOLE || dropped > 0) lost += torn + dropped;
    if (state == NET_LOG_QUEUE_LOSSY)
        base_report(&reader->reporter, reader->file, 0, "its .queue cannot be used to the end: %s",
                    reason);
    if (state == NET_LOG_QUEUE_NONE) {
        base_report(&reader->reporter, reader->file, 0,
                    "it has no end record and no .queue: what the queue held is lost");
        lost += lost == 0;
    }
    reader->info.lost_bytes += lost;
}

// ---- create and destroy ----

// Where the first block that has a tick begins; UINT64_MAX: there is none. A header may be readable
// although its bytes are damaged, and says nothing then.
static ecs_tick begin_of_blocks(net_log_reader* reader) {
    const uint64_t end = reader->set.bytes;
    net_log_block block;
    for (uint64_t offset = reader->data_start; net_log_next_block(reader, &offset, end, &block);) {
        if (block.identity == reader->info.identity && block.type != NET_LOG_BLOCK_HEADER &&
            block.type != NET_LOG_BLOCK_INDEX)
            return block.first_tick + (block.type != NET_LOG_BLOCK_DATA);
        offset = net_log_pass_block(reader, offset, &block);
    }
    return UINT64_MAX;
}

// A part begins after its first keyframe. When that is damaged, the index and the block after it
// say so.
static ecs_tick first_tick(net_log_reader* reader, const net_log_tail* tail) {
    ecs_tick first = 1;
    if (reader->is_part) {
        first = reader->info.keyframe_count > 0 ? reader->keyframes[0].tick + 1 : UINT64_MAX;
        const ecs_tick begins = begin_of_blocks(reader);
        if (begins < first) first = begins;
        if (tail->begin > 0 && tail->begin < first) first = tail->begin + 1;
    }
    return first <= tail->order.last_end ? first : 0;
}

// A closed log whose last file has keyframes ends with an index.
static bool lacks_index(const net_log_reader* reader, const net_log_tail* tail) {
    const uint32_t count = reader->info.keyframe_count;
    const uint64_t base = reader->set.files[reader->set.count - 1].base;
    uint32_t first = count;
    while (first > 0 && reader->keyframes[first - 1].offset >= base)
        first--;
    return !tail->has_index && count > first && count - first <= NET_LOG_INDEX_KEYFRAMES_MAX;
}

// What a log ends with, and when it began.
static void take_tail(net_log_reader* reader, const net_log_tail* tail) {
    net_log_info* info = &reader->info;
    reader->tail_number = tail->number;
    info->file_bytes = reader->set.bytes;
    info->segment_count = reader->set.count;
    info->is_closed = tail->order.is_closed;
    info->is_cut = info->lost_bytes > 0 ||
                   (info->is_closed ? lacks_index(reader, tail) : !is_segment_whole(reader, tail));
    if (info->first_tick == 0) info->first_tick = first_tick(reader, tail);
    info->last_tick = info->first_tick > 0 ? tail->order.last_end : 0;
}

// The header of a later segment does not speak for the first one.
static void make_whole(net_log_reader* reader) {
    base_bytes* header = &reader->header;
    reader->is_part = false;
    reader->data_start = NET_LOG_PROLOGUE_BYTES;
    if (header->size > NET_LOG_HEADER_PART_BYTES &&
        header->data[header->size - NET_LOG_HEADER_PART_BYTES] == NET_LOG_HEADER_PART_TAG)
        header->size -= NET_LOG_HEADER_PART_BYTES;
}

// Segments after a reload are of another version of the game, and so a log of their own.
static void begin_behind_reload(net_log_reader* reader) {
    net_log_block block;
    for (uint32_t i = reader->set.count; i-- > 1;) {
        const uint64_t at = reader->set.files[i].base + NET_LOG_PROLOGUE_BYTES;
        if (at >= reader->set.bytes || !net_log_read_block(reader, at, &block) ||
            !is_header_block(&block) || take_header(reader, at, &block) != NET_OK ||
            !reader->is_reload)
            continue;
        const uint32_t before = reader->set.files[i - 1].number;
        net_log_set_begin(&reader->set, i);
        reader->info.segment_before = before;
        return;
    }
}

static net_result open_log(net_log_reader* reader, net_log_queue_copy* copy, bool is_live) {
    net_log_tail tail;
    net_log_info* info = &reader->info;
    begin_behind_reload(reader);
    const uint32_t before = info->segment_before;
    net_result result = read_start(reader);
    info->segment_before = before;
    if (result == NET_OK && reader->is_part && reader->set.files[0].number == 1) make_whole(reader);
    if (result != NET_OK) return result;
    find_tail(reader, &tail);
    if (!is_live) merge_queue(reader, &tail, copy);
    info->is_damaged = info->is_damaged || tail.has_other_log;
    reader->tail_lost_bytes = info->lost_bytes;
    take_tail(reader, &tail);
    return info->is_damaged ? NET_ERR_DAMAGED : NET_OK;
}

// ---- a log that grows ----

void net_log_reader_follow(net_log_reader* reader) {
    net_log_info* info = &reader->info;
    if (info->queue_records > 0) return;
    net_log_set_follow(&reader->set);
    if (reader->set.bytes == info->file_bytes) return;
    reader->is_walked = false;
    net_log_tail tail = {.order = {.tick = info->last_tick,
                                   .last_end = info->last_tick,
                                   .is_closed = info->is_closed},
                         .number = reader->tail_number};
    scan self = {.reader = reader,
                 .tail = &tail,
                 .ordinal = reader->next_ordinal,
                 .is_checking = true,
                 .is_following = true};
    // A cursor may be in the payload.
    uint8_t* payload = reader->payload;
    reader->payload = reader->beside;
    for (uint32_t i = 0; i < reader->set.count; i++) {
        const net_log_set_file* file = &reader->set.files[i];
        const uint64_t start = file->base + NET_LOG_PROLOGUE_BYTES;
        walk(&self, reader->good_end > start ? reader->good_end : start, file->base + file->bytes);
    }
    reader->payload = payload;
    reader->next_ordinal = self.ordinal;
    tail.has_index = self.last_type == NET_LOG_BLOCK_INDEX;
    if (self.place_count > 0) {
        info->lost_bytes = reader->tail_lost_bytes =
            0; // the end of before, or what it lacked, came
        take_tail(reader, &tail);
    }
    info->file_bytes = reader->set.bytes;
}

net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                 const base_reporter* reporter, net_log_reader** reader) {
    return net_log_reader_create_to(allocator, file, 0, reporter, reader);
}

net_result net_log_reader_create_to(const base_allocator* from, const char* file,
                                    uint32_t last_segment, const base_reporter* reporter,
                                    net_log_reader** reader_out) {
    const bool is_live = last_segment == NET_LOG_LIVE;
    BASE_ASSERT(file && reader_out);
    *reader_out = NULL;
    net_log_reader* reader = base_owner_create(from, sizeof *reader);
    const base_allocator* allocator = &reader->owner.allocator;
    reader->allocator = from;
    if (reporter) reader->reporter = *reporter;
    reader->set.fd = reader->set.fd_last = -1;
    (void)base_text_copy(reader->file, sizeof reader->file, file);
    base_bytes_init(&reader->header, allocator);
    base_bytes_init(&reader->queue, allocator);
    reader->stored = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    reader->payload = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    reader->beside = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    reader->keyframes_of_file =
        base_allocate(allocator, NET_LOG_INDEX_KEYFRAMES_MAX * sizeof(net_log_keyframe));
    reader->columns = base_allocate(allocator, NET_LOG_COLUMNS_BYTES_MAX);
    net_log_queue_copy copy = {0};
    if (last_segment == 0) net_log_queue_load(&copy, allocator, file);
    net_result result = net_log_set_open(&reader->set, allocator, reader->file,
                                         is_live ? 0 : last_segment, &reader->reporter);
    if (result == NET_OK) result = open_log(reader, &copy, is_live);
    net_log_queue_unload(&copy);
    bool is_usable = result == NET_OK || (result == NET_ERR_DAMAGED && reader->good_end > 0);
    if (!is_usable) {
        net_log_reader_destroy(reader);
        return result;
    }
    *reader_out = reader;
    return result;
}

void net_log_reader_destroy(net_log_reader* reader) {
    if (!reader) return;
    net_log_set_close(&reader->set);
    base_owner_destroy(reader);
}

const net_log_info* net_log_reader_info(const net_log_reader* reader) {
    return &reader->info;
}

const net_log_keyframe* net_log_reader_keyframes(const net_log_reader* reader, uint32_t* count) {
    *count = reader->info.keyframe_count;
    return reader->keyframes;
}

bool net_log_reader_lock(net_log_reader* reader) {
    return flock(reader->set.fd_last, LOCK_EX | LOCK_NB) == 0;
}

void net_log_reader_unlock(net_log_reader* reader) {
    (void)flock(reader->set.fd_last, LOCK_UN);
}
