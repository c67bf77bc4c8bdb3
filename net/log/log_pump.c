// SPDX-License-Identifier: MIT
// Records become blocks, blocks become bytes of the file. On the log's thread, or on the caller's
// with is_manual.
//
// Blocks are cut by ticks and sizes, never by the clock, so that equal matches give equal files.
//
// A failing disk ends the log and nothing else. After a failed sync nothing is tried again: the
// kernel may have dropped the pages and would then report success for lost data (fsyncgate, 2018).
// The first failure wins: its text is published by one atomic state.
#include "log/log_file_internal.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdatomic.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAILURE_NONE = 0, FAILURE_WRITING, FAILURE_READY, FAILURE_TAKEN };

bool net_log_file_has_failed(const net_log_file* file) {
    return atomic_load_explicit(&file->failure_state, memory_order_acquire) != FAILURE_NONE;
}

void net_log_file_fail(net_log_file* file, const char* text) {
    int expected = FAILURE_NONE;
    if (!atomic_compare_exchange_strong(&file->failure_state, &expected, FAILURE_WRITING)) return;
    (void)base_text_copy(file->failure, sizeof file->failure, text);
    atomic_store_explicit(&file->failure_state, FAILURE_READY, memory_order_release);
}

static void fail_errno(net_log_file* file, const char* what, int error) {
    char reason[128] = "";
    char text[sizeof file->failure];
    if (strerror_r(error, reason, sizeof reason) != 0) reason[0] = 0;
    (void)base_text_format(text, sizeof text, "%s: %s (errno %d)", what, reason, error);
    net_log_file_fail(file, text);
}

bool net_log_file_take_failure(net_log_file* file, char* text, size_t text_bytes) {
    int expected = FAILURE_READY;
    if (!atomic_compare_exchange_strong(&file->failure_state, &expected, FAILURE_TAKEN))
        return false;
    (void)base_text_copy(text, text_bytes, file->failure);
    return true;
}

uint64_t net_log_file_bytes(const net_log_file* file) {
    return atomic_load_explicit(&file->bytes, memory_order_relaxed);
}

static bool write_all(net_log_file* file, const uint8_t* data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t wrote =
            file->config.ops.write(file->config.ops.context, file->fd, data + done, size - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            fail_errno(file, "the log cannot be written", wrote < 0 ? errno : ENOSPC);
            // Best effort: readers cut a torn tail themselves.
            if (ftruncate(file->fd, (off_t)net_log_file_bytes(file)) != 0) return false;
            return false;
        }
        done += (size_t)wrote;
    }
    atomic_fetch_add_explicit(&file->bytes, size, memory_order_relaxed);
    return true;
}

static bool sync_file(net_log_file* file) {
    if (file->config.ops.sync(file->config.ops.context, file->fd) == 0) return true;
    file->is_stopped = true;
    fail_errno(file, "the log cannot be written to the disk", errno);
    return false;
}

// Writing into a file that has no name any more, or into a hole, looks like success.
static bool check_file(net_log_file* file) {
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        fail_errno(file, "the log cannot be looked at", errno);
    else if (status.st_nlink == 0)
        net_log_file_fail(file, "the log was deleted while it was written");
    else if ((uint64_t)status.st_size < net_log_file_bytes(file))
        net_log_file_fail(file, "another process cut the log while it was written");
    else
        return true;
    return false;
}

static void reset_block(net_log_file* file) {
    file->payload_bytes = 0;
    file->block = (net_log_block){.type = NET_LOG_BLOCK_DATA, .identity = file->config.identity};
}

// Write the block in the making; give the records' room in the queue back.
static bool write_block(net_log_file* file) {
    BASE_ASSERT(file->block.record_count > 0 && !file->is_stopped);
    net_log_block* block = &file->block;
    block->ordinal = file->next_ordinal;
    size_t size = net_log_packer_pack(&file->packer, block, file->payload, file->payload_bytes);
    if (!check_file(file) || !write_all(file, file->packer.stored, size)) return false;
    file->next_ordinal++;
    if (block->type == NET_LOG_BLOCK_DATA) base_spsc_pop_to(file->queue.ring, file->block_cursor);
    ecs_tick last_tick = block->last_tick;
    reset_block(file);
    if (last_tick < file->synced_tick + file->config.sync_ticks) return true;
    file->synced_tick = last_tick;
    return sync_file(file);
}

static uint64_t span_of(const net_log_file* file, ecs_tick tick) {
    return tick == 0 ? 0 : (tick - 1) / file->config.block_ticks;
}

static void append_to_block(net_log_file* file, const uint8_t* record, uint32_t size,
                            uint64_t number, ecs_tick tick) {
    BASE_ASSERT(size <= NET_LOG_BLOCK_BYTES_MAX - file->payload_bytes);
    net_log_block* block = &file->block;
    if (block->record_count == 0) {
        block->first_record = number;
        block->first_tick = tick;
    }
    block->record_count++;
    block->last_tick = tick;
    file->payload_bytes += base_varint_put(file->payload + file->payload_bytes, size);
    memcpy(file->payload + file->payload_bytes, record, size);
    file->payload_bytes += size;
}

static bool take_record(net_log_file* file, const uint8_t* data, uint32_t size) {
    base_reader reader = base_reader_make(data, size);
    uint64_t number = base_reader_u64(&reader);
    ecs_tick tick = base_reader_u64(&reader);
    uint32_t kind = base_reader_u32(&reader);
    uint32_t record_bytes = size - NET_LOG_QUEUE_PREFIX_BYTES;
    uint32_t needed = base_varint_bytes(record_bytes) + record_bytes;
    bool is_full = file->block.record_count > 0 &&
                   (needed > NET_LOG_BLOCK_BYTES_MAX - file->payload_bytes ||
                    span_of(file, tick) != span_of(file, file->block.last_tick));
    if (is_full && !write_block(file)) return false;
    append_to_block(file, data + NET_LOG_QUEUE_PREFIX_BYTES, record_bytes, number, tick);
    file->block_cursor = file->cursor;
    bool is_last = kind == NET_LOG_KIND_END && tick % file->config.block_ticks == 0;
    return !is_last || write_block(file);
}

static bool is_record_size(uint32_t size) {
    return size > NET_LOG_QUEUE_PREFIX_BYTES &&
           size - NET_LOG_QUEUE_PREFIX_BYTES <= NET_LOG_RECORD_BYTES_MAX;
}

void net_log_file_pump(net_log_file* file, bool all) {
    uint32_t size;
    bool damaged = false;
    const uint8_t* data;
    // After a failure the simulation pushes nothing; queued records may still go to the file.
    if (file->is_stopped) return;
    const char* harm = net_log_queue_harm(&file->queue);
    if (harm) {
        net_log_file_fail(file, harm);
        file->is_stopped = true;
        return;
    }
    for (;;) {
        uint64_t cursor = file->cursor;
        data = base_spsc_next(file->queue.ring, &cursor, &size, &damaged);
        // A checksum does not prove that this process wrote it: the memory is a file.
        damaged = damaged || (data && !is_record_size(size));
        if (!damaged) file->cursor = cursor;
        if (!data || damaged) break;
        if (!take_record(file, data, size)) {
            file->is_stopped = true;
            return;
        }
    }
    if (damaged) net_log_file_fail(file, "the log's queue was changed by another process");
    if (all && file->block.record_count > 0 && !write_block(file)) file->is_stopped = true;
    // Fillers in front of the next record.
    if (file->block.record_count == 0 && !file->is_stopped)
        base_spsc_pop_to(file->queue.ring, file->cursor);
    BASE_VALIDATE((net_log_file_validate(file), true));
}

void net_log_file_validate(const net_log_file* file) {
    const net_log_block* block = &file->block;
    BASE_ASSERT((block->record_count > 0) == (file->payload_bytes > 0));
    BASE_ASSERT(file->payload_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    BASE_ASSERT(block->first_tick <= block->last_tick);
    BASE_ASSERT(file->synced_tick <= block->last_tick || block->record_count == 0);
    BASE_ASSERT(block->record_count == 0 || file->block_cursor <= file->cursor);
    BASE_ASSERT(file->is_stopped || base_spsc_tail(file->queue.ring) <= file->cursor);
    BASE_ASSERT(file->next_ordinal >= 1); // the header block was written
}

net_result net_log_file_write_start(net_log_file* file, const void* header, size_t header_bytes,
                                    const base_reporter* reporter) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    reset_block(file);
    file->block.type = NET_LOG_BLOCK_HEADER;
    append_to_block(file, header, (uint32_t)header_bytes, 0, 0);
    bool is_written = write_all(file, prologue, sizeof prologue);
    size_t size =
        net_log_packer_pack(&file->packer, &file->block, file->payload, file->payload_bytes);
    is_written = is_written && write_all(file, file->packer.stored, size) && sync_file(file);
    if (!is_written) {
        base_report(reporter, file->config.file, 0, "%s", file->failure);
        return NET_ERR_DISK;
    }
    file->next_ordinal = 1;
    file->next_number = 1;
    reset_block(file);
    return NET_OK;
}

// The last bytes reach the disk, and the file is still the one of its name.
void net_log_file_end_disk(net_log_file* file) {
    if (file->is_stopped || !check_file(file)) return;
    (void)sync_file(file);
}
