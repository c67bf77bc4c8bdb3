// SPDX-License-Identifier: MIT
// Records become blocks, blocks become bytes of the file. On the log's thread, or on the caller's
// with is_manual.
//
// Blocks are cut by ticks and sizes, never by the clock, so that equal matches give equal files.
#include "log/log_file_internal.h"

#include "base/assert.h"
#include "base/text.h"
#include "log/log_lock.h"

#include <stdatomic.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// While no tick runs no tick ends a block, and the queue would fill up.
enum { QUIET_RECORDS = 64 };

static uint64_t span_of(const net_log_file* file, ecs_tick tick) {
    return tick == 0 ? 0 : (tick - 1) / file->config.block_ticks;
}

static void append_to_block(net_log_file* file, const uint8_t* record, uint32_t size,
                            uint64_t number, ecs_tick tick) {
    BASE_ASSERT(size <= NET_LOG_BLOCK_BYTES_MAX - file->payload_bytes);
    net_log_block* block = &file->block;
    if (block->record_count == 0) {
        block->first_record = number;
        block->first_tick = block->last_tick = tick;
    }
    block->record_count++;
    // A close may come behind records of a tick that never came.
    if (tick < block->first_tick) block->first_tick = tick;
    if (tick > block->last_tick) block->last_tick = tick;
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
    const bool is_over =
        file->block.record_count > 0 && span_of(file, tick) != span_of(file, file->block.last_tick);
    if (is_over && !net_log_file_write_block(file)) return false;
    if (is_over) net_log_file_write_save(file, false);
    if (!net_log_file_write_keyframe(file, tick - (kind != NET_LOG_KIND_CLOSE))) return false;
    uint32_t needed = base_varint_bytes(record_bytes) + record_bytes;
    bool is_full =
        file->block.record_count > 0 && needed > NET_LOG_BLOCK_BYTES_MAX - file->payload_bytes;
    if (is_full && !net_log_file_write_block(file)) return false;
    append_to_block(file, data + NET_LOG_QUEUE_PREFIX_BYTES, record_bytes, number, tick);
    file->cursor = file->block_cursor = cursor;
    file->next_record = number + 1;
    // Behind an end the state of the tick may follow.
    bool is_last =
        kind == NET_LOG_KIND_END && !file->config.has_state && tick % file->config.block_ticks == 0;
    bool is_quiet = kind == NET_LOG_KIND_ALIVE && file->block.record_count % QUIET_RECORDS == 0;
    if (!is_last && !is_quiet) return true;
    if (!net_log_file_write_block(file)) return false;
    if (is_quiet) return true;
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

static bool has_block(const net_log_file* file) {
    return file->block.record_count > 0;
}

// Try again what the full disk did not take. Then the block in the making is complete.
static bool end_waiting(net_log_file* file, bool all) {
    if (file->wait_error == 0) return true;
    const uint32_t wakes = NET_LOG_RETRY_MS / NET_LOG_WAKE_MS;
    if (!file->config.is_manual && !all && file->wait_wakes++ < wakes) return false;
    file->wait_error = 0;
    if (!atomic_load_explicit(&file->is_open, memory_order_relaxed)) {
        if (!all && net_log_file_open(file, NULL) == NET_OK) return true;
        // What it says instead may be over in a second, too.
        if (file->wait_error == 0 && !file->is_stopped) file->wait_error = EIO;
        return false;
    }
    return !has_block(file) || net_log_file_write_block(file);
}

// While records are left out, the queue gets none. So a keyframe that was offered stands behind all
// records that it has, and no record comes that would make it due.
static bool is_at_gap(const net_log_file* file) {
    uint32_t size;
    bool damaged;
    uint64_t cursor = file->cursor;
    return file->is_leaving_out && !base_spsc_next(file->queue.ring, &cursor, &size, &damaged);
}

// @return false: the log waits or stopped.
static bool write_out(net_log_file* file, bool all) {
    if (!end_waiting(file, all) || !take_records(file)) return false;
    const bool is_gap = is_at_gap(file);
    if ((all || is_gap) && has_block(file) && !net_log_file_write_block(file)) return false;
    return !is_gap || net_log_file_write_keyframe(file, UINT64_MAX);
}

void net_log_file_pump(net_log_file* file, bool all) {
    // After a failure the simulation pushes nothing; queued records may still go to the file.
    if (file->is_stopped) {
        net_log_file_write_save(file, true);
        return;
    }
    const bool is_open = atomic_load_explicit(&file->is_open, memory_order_relaxed);
    const char* harm = is_open ? net_log_queue_harm(&file->queue) : NULL;
    if (harm) {
        net_log_file_fail(file, harm);
        file->is_stopped = true;
        return;
    }
    net_log_file_run_commands(file, false);
    const bool goes_on = write_out(file, all);
    if (!goes_on && file->wait_error != 0 && all)
        net_log_file_fail_errno(file, NET_LOG_WRITE_FAILED, file->wait_error);
    if (!goes_on && file->wait_error == 0) file->is_stopped = true;
    if (!has_block(file)) net_log_file_write_save(file, all);
    // Fillers in front of the next record.
    if (goes_on && !has_block(file)) base_spsc_pop_to(file->queue.ring, file->cursor);
    int trouble = file->wait_error != 0 ? file->wait_error : -file->segment_error;
    atomic_store_explicit(&file->trouble, trouble, memory_order_relaxed);
    BASE_VALIDATE((net_log_file_validate(file), true));
}

void net_log_file_validate(const net_log_file* file) {
    const net_log_block* block = &file->block;
    BASE_ASSERT((block->record_count > 0) == (file->payload_bytes > 0));
    BASE_ASSERT(file->payload_bytes <= NET_LOG_BLOCK_BYTES_MAX);
    BASE_ASSERT(block->first_tick <= block->last_tick);
    BASE_ASSERT(file->synced_tick <= block->last_tick + 1 || block->record_count == 0);
    BASE_ASSERT(block->record_count == 0 || file->block_cursor <= file->cursor);
    if (!file->is_open) return;
    BASE_ASSERT(file->is_stopped || base_spsc_tail(file->queue.ring) <= file->cursor);
    BASE_ASSERT(file->next_ordinal >= 1); // the header block was written
}

// Prologue and header block.
static net_result write_start(net_log_file* file, const base_reporter* reporter) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    net_log_block block = {.type = NET_LOG_BLOCK_HEADER, .record_count = 1};
    if (net_log_file_append(file, prologue, sizeof prologue) &&
        net_log_file_put_block(file, &block, file->payload, net_log_file_put_header(file)) &&
        net_log_file_sync(file, file->fd))
        return NET_OK;
    const char* why = file->wait_error != 0 ? strerror(file->wait_error) : file->failure;
    base_report(reporter, file->config.file, 0, "%s", why);
    return NET_ERR_DISK;
}

net_result net_log_file_open(net_log_file* file, const base_reporter* reporter) {
    const net_log_file_config* config = &file->config;
    const char* name = config->is_in_memory ? NULL : config->file;
    net_result result = name ? net_log_lock_create(name, reporter, &file->fd) : NET_OK;
    const bool is_ours = name && result == NET_OK;
    if (result == NET_OK)
        result = net_log_queue_create(&file->queue, name, config->identity, config->ring_bytes,
                                      reporter);
    if (result == NET_ERR_DISK && net_log_file_may_wait(file, errno)) file->wait_error = errno;
    if (result == NET_OK) result = write_start(file, reporter);
    if (result == NET_OK) {
        atomic_store_explicit(&file->is_open, true, memory_order_release);
        return NET_OK;
    }
    file->wait_wakes = 0;
    atomic_store_explicit(&file->counts.bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&file->bytes, 0, memory_order_relaxed);
    net_log_queue_destroy(&file->queue, false);
    if (file->fd >= 0) close(file->fd);
    file->fd = -1;
    if (is_ours) (void)unlink(name);
    return result;
}

// The last bytes reach the disk, and the file is still the one of its name.
void net_log_file_end_disk(net_log_file* file) {
    if (file->is_stopped || !file->is_open || !net_log_file_is_own(file)) return;
    net_log_file_write_index(file);
    if (net_log_file_sync(file, file->fd)) net_log_file_run_commands(file, true);
}
