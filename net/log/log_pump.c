// SPDX-License-Identifier: MIT
// Records become blocks, blocks become bytes of the file. On the log's thread, or on the caller's
// with is_manual.
//
// Blocks are cut by ticks and sizes, never by the clock, so that equal matches give equal files.
#include "log/log_delta.h"
#include "log/log_file_internal.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdatomic.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

// `cursor`: behind the record. @return false: the log waits or stopped; file->cursor says whether
// the record was taken.
static bool take_record(net_log_file* file, const uint8_t* data, uint32_t size, uint64_t cursor) {
    base_reader reader = base_reader_make(data, size);
    uint64_t number = base_reader_u64(&reader);
    ecs_tick tick = base_reader_u64(&reader);
    uint32_t kind = base_reader_u32(&reader);
    uint32_t record_bytes = size - NET_LOG_QUEUE_PREFIX_BYTES;
    if (!net_log_file_write_keyframe(file, tick - (kind != NET_LOG_KIND_CLOSE))) return false;
    const uint8_t* record = data + NET_LOG_QUEUE_PREFIX_BYTES;
    if (file->config.coder)
        record = net_log_coder_record(file->config.coder, number, file->segment_next, record,
                                      &record_bytes);
    uint32_t needed = base_varint_bytes(record_bytes) + record_bytes;
    bool is_full = file->block.record_count > 0 &&
                   (needed > NET_LOG_BLOCK_BYTES_MAX - file->payload_bytes ||
                    span_of(file, tick) != span_of(file, file->block.last_tick));
    if (is_full && !net_log_file_write_block(file)) return false;
    append_to_block(file, record, record_bytes, number, tick);
    file->cursor = file->block_cursor = cursor;
    file->next_record = number + 1;
    bool is_last = kind == NET_LOG_KIND_END && tick % file->config.block_ticks == 0;
    if (!is_last) return true;
    if (!net_log_file_write_block(file)) return false;
    net_log_file_write_save(file, false);
    return net_log_file_write_keyframe(file, tick);
}

static bool is_record_size(uint32_t size) {
    return size > NET_LOG_QUEUE_PREFIX_BYTES &&
           size - NET_LOG_QUEUE_PREFIX_BYTES <= NET_LOG_RECORD_BYTES_MAX;
}

// Records until the queue has no more. @return false: the log waits or stopped.
static bool take_records(net_log_file* file) {
    for (;;) {
        uint32_t size;
        bool damaged = false;
        uint64_t cursor = file->cursor;
        const uint8_t* data = base_spsc_next(file->queue.ring, &cursor, &size, &damaged);
        // A checksum does not prove that this process wrote it: the memory is a file.
        if (damaged || (data && !is_record_size(size))) {
            net_log_file_fail(file, "the log's queue was changed by another process");
            return true;
        }
        if (!data) {
            file->cursor = cursor; // behind fillers
            return true;
        }
        if (!take_record(file, data, size, cursor)) return false;
    }
}

// Try again what the full disk did not take. Then the block in the making is complete.
static bool end_waiting(net_log_file* file, bool all) {
    if (!file->is_waiting) return true;
    const uint32_t wakes = NET_LOG_RETRY_MS / NET_LOG_WAKE_MS;
    if (!file->config.is_manual && !all && file->wait_wakes++ < wakes) return false;
    file->is_waiting = false;
    bool is_written = file->block.record_count == 0 || net_log_file_write_block(file);
    return is_written && net_log_file_write_keyframe(file, UINT64_MAX);
}

void net_log_file_pump(net_log_file* file, bool all) {
    // After a failure the simulation pushes nothing; queued records may still go to the file.
    if (file->is_stopped) {
        net_log_file_write_save(file, true);
        return;
    }
    const char* harm = net_log_queue_harm(&file->queue);
    if (harm) {
        net_log_file_fail(file, harm);
        file->is_stopped = true;
        return;
    }
    net_log_file_run_commands(file, false);
    bool goes_on = end_waiting(file, all) && take_records(file);
    bool is_last = goes_on && atomic_load_explicit(&file->must_flush, memory_order_acquire);
    if (is_last) atomic_store_explicit(&file->must_flush, false, memory_order_relaxed);
    if (goes_on && (all || is_last) && file->block.record_count > 0)
        goes_on = net_log_file_write_block(file);
    if (!goes_on && file->is_waiting && all)
        net_log_file_fail_errno(file, NET_LOG_WRITE_FAILED, file->wait_error);
    if (!goes_on && !file->is_waiting) file->is_stopped = true;
    if (file->block.record_count == 0) net_log_file_write_save(file, all);
    // Fillers in front of the next record.
    if (goes_on && file->block.record_count == 0) base_spsc_pop_to(file->queue.ring, file->cursor);
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
    net_log_file_reset_block(file);
    file->block.type = NET_LOG_BLOCK_HEADER;
    bool is_later = file->config.start_tick > 0;
    append_to_block(file, is_later ? file->header.data : header,
                    (uint32_t)(is_later ? file->header.size : header_bytes), 0, 0);
    uint32_t keyframe_ticks = file->config.keyframe_ticks;
    file->config.keyframe_ticks = 0; // nothing to wait for yet
    bool is_written =
        net_log_file_append(file, prologue, sizeof prologue) &&
        net_log_file_put_block(file, &file->block, file->payload, file->payload_bytes) &&
        net_log_file_sync(file, file->fd);
    file->config.keyframe_ticks = keyframe_ticks;
    if (!is_written) {
        base_report(reporter, file->config.file, 0, "%s", file->failure);
        return NET_ERR_DISK;
    }
    file->next_number = file->next_record = 1;
    file->segment_tick = file->config.start_tick;
    net_log_file_reset_block(file);
    return NET_OK;
}

// The last bytes reach the disk, and the file is still the one of its name.
void net_log_file_end_disk(net_log_file* file) {
    if (file->is_stopped || !net_log_file_is_own(file)) return;
    net_log_file_write_index(file);
    if (net_log_file_sync(file, file->fd)) net_log_file_run_commands(file, true);
}
