// SPDX-License-Identifier: MIT
// Opening reads the whole file once and trusts nothing: a length counts after the header's checksum
// matched, bytes after theirs matched, records after they were decoded and found in order. The
// reader keeps how far the file is good; later walks read block by block up to there and check
// again, so memory does not grow with the file.
//
// After a bad place only whole blocks further on tell a damaged log from a torn tail. Looking for
// them is linear: known lengths are skipped, unknown ground is searched for the sync bytes once.
//
// The queue is copied before the file is looked at. A running writer moves records from the one to
// the other; in this order none can be missed.
#include "log/log_read.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text.h"
#include "log/log_header.h"
#include "log/log_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYNC_BYTES = 8, SEARCH_BYTES = 65536 };

struct net_log_reader {
    const base_allocator* allocator;
    char file[4096];
    int fd;
    uint64_t file_bytes;
    net_log_info info;
    base_bytes header;
    uint64_t data_start; // behind the header block
    uint64_t good_end;   // behind the last usable block
    base_bytes queue;    // records out of the queue
    uint8_t* stored;
    uint8_t* payload;
};

// Where the opening walk stands.
typedef struct scan {
    uint64_t offset;
    uint64_t ordinal; // of the next block
    uint64_t number;  // of the next record
    net_log_order order;
    bool is_bad; // something at bad_from is not whole
    uint64_t bad_from;
    bool is_damaged;    // and whole blocks follow
    bool has_other_log; // that was appended
    ecs_tick last_tick; // of the last whole block
} scan;

static bool read_at(const net_log_reader* reader, uint64_t offset, void* target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got =
            pread(reader->fd, (uint8_t*)target + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

// Read a header whose checksum matches and whose stored bytes are all in the file.
static bool read_block_header(const net_log_reader* reader, uint64_t offset, net_log_block* block) {
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    uint64_t left = reader->file_bytes - offset;
    if (left < sizeof header || !read_at(reader, offset, header, sizeof header)) return false;
    return net_log_block_header_read(block, header) && block->stored_bytes <= left - sizeof header;
}

static bool unpack_block(net_log_reader* reader, uint64_t offset, const net_log_block* block) {
    return read_at(reader, offset + NET_LOG_BLOCK_HEADER_BYTES, reader->stored,
                   block->stored_bytes) &&
           net_log_block_unpack(block, reader->stored, reader->payload);
}

static uint64_t block_end(uint64_t offset, const net_log_block* block) {
    return offset + NET_LOG_BLOCK_HEADER_BYTES + block->stored_bytes;
}

static const uint8_t* next_span(base_reader* bytes, size_t* size) {
    uint64_t length = base_reader_varint(bytes);
    if (length < 1 || length > NET_LOG_RECORD_BYTES_MAX) return NULL;
    *size = (size_t)length;
    return base_reader_skip(bytes, *size);
}

// The records of an unpacked data block: decoded, in order, as many and of the ticks it says.
static bool check_records(const net_log_block* block, const uint8_t* payload,
                          net_log_order* order) {
    base_reader bytes = base_reader_make(payload, block->unpacked_bytes);
    ecs_tick first = UINT64_MAX, last = 0;
    uint32_t count = 0;
    net_log_record record;
    while (base_reader_left(&bytes) > 0) {
        size_t size;
        const uint8_t* data = next_span(&bytes, &size);
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

static bool is_whole(net_log_reader* reader, const scan* at, const net_log_block* block,
                     net_log_order* order) {
    if (block->identity != reader->info.identity || block->ordinal != at->ordinal) return false;
    if (block->first_record != at->number || !unpack_block(reader, at->offset, block)) return false;
    if (block->type == NET_LOG_BLOCK_HEADER) return false;
    return block->type != NET_LOG_BLOCK_DATA || check_records(block, reader->payload, order);
}

// The next place from `offset` on with the sync bytes and a header that holds.
static uint64_t find_block(net_log_reader* reader, uint64_t offset) {
    uint8_t sync[NET_LOG_BLOCK_HEADER_BYTES];
    net_log_block block = {0};
    net_log_block_header_write(&block, sync);
    while (reader->file_bytes - offset >= NET_LOG_BLOCK_HEADER_BYTES) {
        uint64_t left = reader->file_bytes - offset;
        size_t size = left < SEARCH_BYTES ? (size_t)left : SEARCH_BYTES;
        if (!read_at(reader, offset, reader->stored, size)) break;
        for (size_t i = 0; i + SYNC_BYTES <= size; i++) {
            if (memcmp(reader->stored + i, sync, SYNC_BYTES) != 0) continue;
            if (read_block_header(reader, offset + i, &block)) return offset + i;
        }
        offset += size - (SYNC_BYTES - 1);
    }
    return reader->file_bytes;
}

static void report_damage(net_log_reader* reader, const scan* at, const net_log_block* next,
                          const base_reporter* reporter) {
    uint64_t bytes = at->offset - at->bad_from;
    if (next->ordinal == at->ordinal) {
        base_report(reporter, reader->file, 0,
                    "damaged: %" PRIu64 " bytes from byte %" PRIu64 " belong to no block", bytes,
                    at->bad_from);
        return;
    }
    base_report(reporter, reader->file, 0,
                "damaged: blocks %" PRIu64 "..%" PRIu64 ", between tick %" PRIu64
                " and tick %" PRIu64 ", %" PRIu64 " bytes from byte %" PRIu64,
                at->ordinal, next->ordinal - 1, at->last_tick, next->first_tick, bytes,
                at->bad_from);
}

// Is the block whole, whatever was before it?
static bool holds_alone(net_log_reader* reader, const scan* at, const net_log_block* block) {
    return block->identity == reader->info.identity && block->ordinal >= at->ordinal &&
           unpack_block(reader, at->offset, block);
}

// A data block behind a bad place proves damage, and its ordinal tells what is missing.
static bool resync(net_log_reader* reader, scan* at, const net_log_block* block,
                   const base_reporter* reporter) {
    if (block->type != NET_LOG_BLOCK_DATA || !holds_alone(reader, at, block)) return false;
    report_damage(reader, at, block, reporter);
    reader->info.damaged_blocks += block->ordinal - at->ordinal;
    reader->info.lost_bytes += at->offset - at->bad_from;
    at->is_damaged = true;
    at->is_bad = false;
    return true;
}

// A block that follows the usable ones.
static bool follow(net_log_reader* reader, scan* at, const net_log_block* block) {
    net_log_order order = at->order;
    if (!is_whole(reader, at, block, &order)) return false;
    at->order = order;
    if (block->type == NET_LOG_BLOCK_DATA) at->number += block->record_count;
    reader->good_end = block_end(at->offset, block);
    return true;
}

static void mark_bad(scan* at) {
    if (!at->is_bad) at->bad_from = at->offset;
    at->is_bad = true;
}

// Another log that was appended: what belongs to which is for its owner to say.
static void note_other_log(net_log_reader* reader, scan* at, const net_log_block* block,
                           const base_reporter* reporter) {
    if (block->type != NET_LOG_BLOCK_HEADER || block->identity == reader->info.identity) return;
    if (!at->has_other_log)
        base_report(reporter, reader->file, 0,
                    "damaged: another log begins before byte %" PRIu64 "; only the first is read",
                    at->offset);
    at->has_other_log = at->is_damaged = true;
}

static void step_scan(net_log_reader* reader, scan* at, const base_reporter* reporter) {
    net_log_block block;
    if (!read_block_header(reader, at->offset, &block)) {
        mark_bad(at);
        at->offset = find_block(reader, at->offset + 1);
        return;
    }
    note_other_log(reader, at, &block, reporter);
    bool is_good = at->is_bad ? resync(reader, at, &block, reporter)
                   : at->is_damaged
                       ? block.ordinal == at->ordinal && holds_alone(reader, at, &block)
                       : follow(reader, at, &block);
    if (is_good) {
        reader->info.block_count++;
        at->ordinal = block.ordinal + 1;
        if (block.type == NET_LOG_BLOCK_DATA) at->last_tick = block.last_tick;
    } else {
        mark_bad(at);
    }
    at->offset = block_end(at->offset, &block);
}

static net_result refuse(const net_log_reader* reader, const base_reporter* reporter,
                         const char* text) {
    base_report(reporter, reader->file, 0, "%s", text);
    return NET_ERR_DAMAGED;
}

static net_result refuse_later(const net_log_reader* reader, const base_reporter* reporter,
                               net_log_demand demand) {
    if (demand.features != 0)
        base_report(reporter, reader->file, 0,
                    "this log is of a later version (features 0x%" PRIx64
                    "): use a newer shoal-replay",
                    demand.features);
    else
        base_report(reporter, reader->file, 0,
                    "this log is of a later version (%" PRIu64 "): use a newer shoal-replay",
                    demand.version);
    return NET_ERR_VERSION;
}

static net_result read_start(net_log_reader* reader, scan* at, const base_reporter* reporter) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    uint32_t version;
    net_log_block block;
    if (reader->file_bytes < sizeof prologue || !read_at(reader, 0, prologue, sizeof prologue))
        return refuse(reader, reporter, "too short for an event log");
    net_result result = net_log_prologue_check(prologue, &version);
    net_log_demand demand = {.version = version};
    if (result == NET_ERR_MALFORMED && version > 1) return refuse_later(reader, reporter, demand);
    if (result != NET_OK) return refuse(reader, reporter, "no event log, or its start is damaged");
    if (!read_block_header(reader, sizeof prologue, &block) || block.type != NET_LOG_BLOCK_HEADER ||
        block.ordinal != 0 || block.first_record != 0 || block.record_count != 1 ||
        block.first_tick != 0 || block.last_tick != 0 ||
        !unpack_block(reader, sizeof prologue, &block))
        return refuse(reader, reporter, "the header block is damaged: nothing can be read");
    base_reader bytes = base_reader_make(reader->payload, block.unpacked_bytes);
    size_t size;
    const uint8_t* header = next_span(&bytes, &size);
    result = header && base_reader_left(&bytes) == 0
                 ? net_log_header_read(&reader->info, header, size, &demand)
                 : NET_ERR_DAMAGED;
    if (result == NET_ERR_VERSION) return refuse_later(reader, reporter, demand);
    if (result != NET_OK || reader->info.identity != block.identity)
        return refuse(reader, reporter, "the header record is damaged: nothing can be read");
    base_bytes_write(&reader->header, header, size);
    if (reader->header.failed) return NET_ERR_MEMORY;
    reader->info.block_count = 1;
    reader->data_start = reader->good_end = block_end(sizeof prologue, &block);
    *at = (scan){.offset = reader->data_start, .ordinal = 1, .number = 1};
    return NET_OK;
}

// Check what the queue gave; what is not in order is dropped. @return bytes that were dropped.
static uint64_t check_queue(net_log_reader* reader, scan* at) {
    base_reader bytes = base_reader_make(reader->queue.data, reader->queue.size);
    size_t good = 0;
    while (base_reader_left(&bytes) > 0) {
        size_t size;
        net_log_record record;
        const uint8_t* data = next_span(&bytes, &size);
        if (!data || !net_log_record_read(&record, data, size) ||
            !net_log_order_add(&at->order, &record))
            break;
        good = bytes.offset;
        reader->info.queue_records++;
    }
    uint64_t dropped = reader->queue.size - good;
    reader->queue.size = good;
    return dropped;
}

static net_result merge_queue(net_log_reader* reader, scan* at, net_log_queue_copy* copy,
                              const base_reporter* reporter) {
    uint64_t torn = at->is_bad ? reader->file_bytes - at->bad_from : 0;
    if (at->is_damaged || at->order.is_closed) {
        reader->info.lost_bytes += torn;
        return NET_OK;
    }
    const char* reason = "";
    uint64_t lost = 0;
    net_log_queue_state state =
        net_log_queue_take(copy, reader->info.identity, at->number, &reader->queue, &lost, &reason);
    if (reader->queue.failed) return NET_ERR_MEMORY;
    uint64_t dropped = check_queue(reader, at);
    // A whole queue has the records of a torn block too.
    if (state != NET_LOG_QUEUE_WHOLE || dropped > 0) lost += torn + dropped;
    if (state == NET_LOG_QUEUE_LOSSY)
        base_report(reporter, reader->file, 0, "its .queue cannot be used to the end: %s", reason);
    if (state == NET_LOG_QUEUE_NONE) {
        base_report(reporter, reader->file, 0,
                    "it has no end record and no .queue: what the queue held is lost");
        lost += lost == 0;
    }
    reader->info.lost_bytes += lost;
    return NET_OK;
}

static net_result scan_file(net_log_reader* reader, net_log_queue_copy* copy,
                            const base_reporter* reporter) {
    scan at;
    net_result result = read_start(reader, &at, reporter);
    if (result != NET_OK) return result;
    while (at.offset < reader->file_bytes)
        step_scan(reader, &at, reporter);
    result = merge_queue(reader, &at, copy, reporter);
    if (result != NET_OK) return result;
    net_log_info* info = &reader->info;
    info->file_bytes = reader->file_bytes;
    info->is_closed = at.order.is_closed;
    info->is_damaged = at.is_damaged;
    info->is_cut = at.is_damaged ? at.is_bad : !at.order.is_closed || info->lost_bytes > 0;
    info->first_tick = at.order.last_end > 0 ? 1 : 0;
    info->last_tick = at.order.last_end;
    return at.is_damaged ? NET_ERR_DAMAGED : NET_OK;
}

static net_result open_file(net_log_reader* reader, const char* file,
                            const base_reporter* reporter) {
    struct stat status;
    // Not blocking: opening a pipe without a writer would wait for one.
    reader->fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->fd < 0 || fstat(reader->fd, &status) != 0) {
        base_report(reporter, file, 0, "cannot be opened: %s", strerror(errno));
        return NET_ERR_IO;
    }
    if (!S_ISREG(status.st_mode)) {
        base_report(reporter, file, 0, "is no plain file");
        return NET_ERR_IO;
    }
    reader->file_bytes = (uint64_t)status.st_size;
    return NET_OK;
}

net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                 const base_reporter* reporter, net_log_reader** reader_out) {
    BASE_ASSERT(file && reader_out);
    *reader_out = NULL;
    net_log_reader* reader = base_allocate_zero(allocator, sizeof *reader);
    if (!reader) return NET_ERR_MEMORY;
    reader->allocator = allocator;
    reader->fd = -1;
    (void)base_text_copy(reader->file, sizeof reader->file, file);
    base_bytes_init(&reader->header, allocator);
    base_bytes_init(&reader->queue, allocator);
    reader->stored = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    reader->payload = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    net_log_queue_copy copy = {0};
    net_result result = NET_ERR_MEMORY;
    if (reader->stored && reader->payload) result = net_log_queue_load(&copy, allocator, file);
    if (result == NET_OK) result = open_file(reader, file, reporter);
    if (result == NET_OK) result = scan_file(reader, &copy, reporter);
    net_log_queue_unload(&copy);
    bool is_usable = result == NET_OK || (result == NET_ERR_DAMAGED && reader->data_start > 0);
    if (!is_usable) {
        net_log_reader_destroy(reader);
        return result;
    }
    *reader_out = reader;
    return result;
}

void net_log_reader_destroy(net_log_reader* reader) {
    if (!reader) return;
    if (reader->fd >= 0) close(reader->fd);
    base_bytes_deinit(&reader->queue);
    base_bytes_deinit(&reader->header);
    base_release(reader->allocator, reader->payload, NET_LOG_BLOCK_BYTES_MAX);
    base_release(reader->allocator, reader->stored, NET_LOG_BLOCK_BYTES_MAX);
    base_release(reader->allocator, reader, sizeof *reader);
}

const net_log_info* net_log_reader_info(const net_log_reader* reader) {
    return &reader->info;
}

const uint8_t* net_log_reader_header(const net_log_reader* reader, size_t* size) {
    *size = reader->header.size;
    return reader->header.data;
}

const char* net_log_reader_file(const net_log_reader* reader) {
    return reader->file;
}

const base_allocator* net_log_reader_allocator(const net_log_reader* reader) {
    return reader->allocator;
}

net_log_cursor net_log_cursor_begin(const net_log_reader* reader) {
    return (net_log_cursor){.offset = reader->data_start};
}

// Enter the next block with records, then the queue. false at the end.
static bool enter_next(net_log_reader* reader, net_log_cursor* cursor) {
    net_log_block block;
    while (cursor->offset < reader->good_end) {
        uint64_t offset = cursor->offset;
        cursor->has_failed =
            !read_block_header(reader, offset, &block) || !unpack_block(reader, offset, &block);
        if (cursor->has_failed) return false;
        cursor->offset = block_end(offset, &block);
        cursor->blocks++;
        if (block.type != NET_LOG_BLOCK_DATA) continue;
        cursor->block = offset;
        cursor->data = reader->payload;
        cursor->size = block.unpacked_bytes;
        cursor->at = 0;
        return true;
    }
    if (cursor->is_in_queue) return false;
    cursor->is_in_queue = true;
    cursor->data = reader->queue.data;
    cursor->size = reader->queue.size;
    cursor->at = 0;
    return cursor->size > 0;
}

bool net_log_cursor_return(net_log_reader* reader, net_log_cursor* cursor) {
    if (cursor->data != reader->payload) return !cursor->has_failed;
    net_log_block block;
    cursor->has_failed = !read_block_header(reader, cursor->block, &block) ||
                         !unpack_block(reader, cursor->block, &block) ||
                         block.unpacked_bytes != cursor->size;
    return !cursor->has_failed;
}

bool net_log_cursor_next(net_log_reader* reader, net_log_cursor* cursor, net_log_record* record) {
    BASE_ASSERT(record && cursor->at <= cursor->size);
    if (cursor->has_failed) return false;
    if (cursor->at == cursor->size && !enter_next(reader, cursor)) return false;
    base_reader bytes = base_reader_make(cursor->data, cursor->size);
    bytes.offset = cursor->at;
    size_t size;
    const uint8_t* data = next_span(&bytes, &size);
    cursor->has_failed = !data || !net_log_record_read(record, data, size);
    cursor->at = bytes.offset;
    return !cursor->has_failed;
}

const net_log_keyframe* net_log_reader_keyframes(const net_log_reader* reader, uint32_t* count) {
    BASE_ASSERT(reader);
    *count = 0;
    return NULL;
}

net_log_cursor net_log_reader_seek(const net_log_reader* reader, ecs_tick tick,
                                   const net_log_keyframe** keyframe) {
    (void)tick;
    *keyframe = NULL;
    return net_log_cursor_begin(reader);
}

net_result net_log_keyframe_read(net_log_reader* reader, const net_log_keyframe* keyframe,
                                 base_bytes* save) {
    BASE_ASSERT(reader && keyframe && save);
    return NET_ERR_DAMAGED;
}

net_result net_log_reader_check(net_log_reader* reader) {
    return reader->info.is_damaged ? NET_ERR_DAMAGED : NET_OK;
}
