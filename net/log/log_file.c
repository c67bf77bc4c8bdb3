// SPDX-License-Identifier: MIT
// Two threads meet in the queue. The simulation's thread packs a record and pushes it, without a
// lock. The log's thread wakes a few times per block, copies records into the block that it builds,
// and gives their room in the queue back only after the block is in the file: at any moment every
// record is in the file, in the queue, or in both.
//
// Blocks are cut by ticks and sizes, never by the clock, so that equal matches give equal files.
//
// A failing disk ends the log and nothing else. After a failed sync nothing is tried again: the
// kernel may have dropped the pages and would then report success for lost data (fsyncgate, 2018).
// The first failure wins: its text is published by one atomic state.
#include "log/log_file.h"

#include "base/assert.h"
#include "base/text.h"
#include "log/log_block.h"
#include "log/log_lock.h"
#include "log/log_queue.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STALLED "the disk does not answer; what it did not take is in the log's .queue"

enum { WAKE_MS = 20, FAILURE_NONE = 0, FAILURE_WRITING, FAILURE_READY, FAILURE_TAKEN };

struct net_log_file {
    net_log_file_config config;
    int fd;
    net_log_queue queue;
    net_log_draft draft;  // of the simulation's thread
    uint64_t next_number; // of the simulation's thread
    bool has_close;       // of the simulation's thread: the end record was pushed

    // Of the log's thread.
    net_log_packer packer;
    uint8_t* payload;
    uint32_t payload_bytes;
    net_log_block block;   // in the making
    uint64_t cursor;       // in the queue: next record to look at
    uint64_t block_cursor; // in the queue: end of the block's records
    uint64_t next_ordinal;
    ecs_tick synced_tick;
    bool is_stopped;

    _Atomic uint64_t bytes;
    _Atomic int failure_state;
    char failure[256];

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t room;
    bool is_stopping;  // under the mutex, as are the next two
    bool is_done;      // the thread does nothing more with the disk
    bool is_abandoned; // the thread frees the file
    bool is_finished;
};

static void free_file(net_log_file* file, bool is_queue_kept);

static ssize_t write_to_fd(void* context, int fd, const void* data, size_t size) {
    (void)context;
    return write(fd, data, size);
}

static int sync_fd(void* context, int fd) {
    (void)context;
    return fdatasync(fd);
}

net_log_file_config net_log_file_config_default(const char* file, uint32_t tick_rate_hz) {
    uint32_t block_ticks = tick_rate_hz * NET_LOG_BLOCK_MS_MAX / 1000u;
    return (net_log_file_config){
        .file = file,
        .ring_bytes = NET_LOG_QUEUE_BYTES,
        .block_ticks = block_ticks > 0 ? block_ticks : 1,
        .sync_ticks = tick_rate_hz * NET_LOG_SYNC_MS / 1000u,
        .stall_ms_max = NET_LOG_STALL_MS_MAX,
        .ops = {.write = write_to_fd, .sync = sync_fd},
    };
}

static bool has_failed(const net_log_file* file) {
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

static struct timespec after_ms(long ms) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

// The last bytes reach the disk, and the file is still the one of its name.
static void end_file(net_log_file* file) {
    if (file->is_stopped || !check_file(file)) return;
    (void)sync_file(file);
}

static void* run(void* context) {
    net_log_file* file = context;
    pthread_mutex_lock(&file->mutex);
    for (;;) {
        bool is_stopping = file->is_stopping;
        pthread_mutex_unlock(&file->mutex);
        net_log_file_pump(file, is_stopping);
        pthread_mutex_lock(&file->mutex);
        pthread_cond_signal(&file->room);
        if (is_stopping) break;
        if (file->is_stopping) continue;
        struct timespec until = after_ms(WAKE_MS);
        pthread_cond_timedwait(&file->wake, &file->mutex, &until);
    }
    pthread_mutex_unlock(&file->mutex);
    end_file(file);
    pthread_mutex_lock(&file->mutex);
    file->is_done = true;
    bool is_abandoned = file->is_abandoned;
    pthread_cond_signal(&file->room);
    pthread_mutex_unlock(&file->mutex);
    if (is_abandoned) free_file(file, true);
    return NULL;
}

void net_log_file_wait_room(net_log_file* file) {
    if (!file->has_thread) return;
    uint64_t half = file->config.ring_bytes / 2;
    if (base_spsc_used(file->queue.ring) <= half) return;
    pthread_mutex_lock(&file->mutex);
    uint64_t used = UINT64_MAX, waited_ms = 0;
    while (!has_failed(file) && base_spsc_used(file->queue.ring) > half) {
        waited_ms = base_spsc_used(file->queue.ring) < used ? 0 : waited_ms + WAKE_MS;
        used = base_spsc_used(file->queue.ring);
        if (waited_ms >= file->config.stall_ms_max) {
            net_log_file_fail(file, STALLED);
            break;
        }
        pthread_cond_signal(&file->wake);
        struct timespec until = after_ms(WAKE_MS);
        pthread_cond_timedwait(&file->room, &file->mutex, &until);
    }
    pthread_mutex_unlock(&file->mutex);
}

net_log_draft* net_log_file_begin(net_log_file* file) {
    if (has_failed(file)) return NULL;
    net_log_draft_begin(&file->draft);
    return &file->draft;
}

void net_log_file_end(net_log_file* file, net_log_kind kind, ecs_tick tick) {
    BASE_ASSERT(kind != NET_LOG_KIND_OTHER && file->next_number > 0);
    uint32_t size;
    const uint8_t* record = net_log_draft_end(&file->draft, kind, file->next_number, tick, &size);
    const char* harm = net_log_queue_harm(&file->queue);
    if (harm) {
        net_log_file_fail(file, harm);
        return;
    }
    if (size > file->config.ring_bytes / 2 ||
        !net_log_queue_push(&file->queue, record, size, file->next_number)) {
        net_log_file_fail(file, "the log's queue is full: the disk is too slow");
        return;
    }
    BASE_VALIDATE((net_log_queue_validate(&file->queue, file->next_number), true));
    file->next_number++;
    file->has_close = file->has_close || kind == NET_LOG_KIND_CLOSE;
    // A lost wake-up costs at most WAKE_MS: the lock is not worth a stall.
    if (file->has_thread && base_spsc_used(file->queue.ring) > file->config.ring_bytes / 4)
        pthread_cond_signal(&file->wake);
}

static net_result write_start(net_log_file* file, const void* header, size_t header_bytes,
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

static void init_conditions(net_log_file* file) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&file->mutex, NULL);
    pthread_cond_init(&file->wake, &attributes);
    pthread_cond_init(&file->room, &attributes);
    pthread_condattr_destroy(&attributes);
}

static net_result start_thread(net_log_file* file, const base_reporter* reporter) {
    if (file->config.is_manual) return NET_OK;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); // the guard of the queue answers it on the thread that caused it
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&file->thread, NULL, run, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    file->has_thread = error == 0;
    if (error == 0) return NET_OK;
    base_report(reporter, file->config.file, 0, "no thread for the log: %s", strerror(error));
    return NET_ERR_IO;
}

static void free_file(net_log_file* file, bool is_queue_kept) {
    const base_allocator* allocator = file->config.allocator;
    net_log_queue_destroy(&file->queue, is_queue_kept);
    net_log_packer_deinit(&file->packer);
    if (file->fd >= 0) close(file->fd);
    pthread_cond_destroy(&file->room);
    pthread_cond_destroy(&file->wake);
    pthread_mutex_destroy(&file->mutex);
    base_release(allocator, file->payload, NET_LOG_BLOCK_BYTES_MAX);
    base_release(allocator, file->draft.memory, NET_LOG_DRAFT_BYTES);
    base_release(allocator, file, sizeof *file);
}

net_result net_log_file_create(const net_log_file_config* config, const void* header,
                               size_t header_bytes, const base_reporter* reporter,
                               net_log_file** file_out) {
    BASE_ASSERT(config->file && config->block_ticks > 0);
    BASE_ASSERT(header_bytes >= 1 && header_bytes <= NET_LOG_RECORD_BYTES_MAX);
    *file_out = NULL;
    net_log_file* file = base_allocate_zero(config->allocator, sizeof *file);
    if (!file) return NET_ERR_MEMORY;
    file->config = *config;
    file->fd = -1;
    file->queue.fd = -1;
    init_conditions(file);
    file->payload = base_allocate(config->allocator, NET_LOG_BLOCK_BYTES_MAX);
    file->draft.memory = base_allocate(config->allocator, NET_LOG_DRAFT_BYTES);
    net_result result = NET_ERR_MEMORY;
    if (file->payload && file->draft.memory &&
        net_log_packer_init(&file->packer, config->allocator))
        result = net_log_lock_create(config->file, reporter, &file->fd);
    bool is_ours = result == NET_OK;
    if (result == NET_OK)
        result = net_log_queue_create(&file->queue, config->file, config->identity,
                                      config->ring_bytes, reporter);
    if (result == NET_OK) result = write_start(file, header, header_bytes, reporter);
    if (result == NET_OK) result = start_thread(file, reporter);
    if (result != NET_OK) {
        if (is_ours) unlink(config->file);
        free_file(file, false);
        return result;
    }
    *file_out = file;
    return NET_OK;
}

// @return false: the disk did not answer in time. The thread then owns the file.
static bool stop_thread(net_log_file* file) {
    struct timespec until = after_ms(file->config.stall_ms_max);
    pthread_mutex_lock(&file->mutex);
    file->is_stopping = true;
    pthread_cond_signal(&file->wake);
    int error = 0;
    while (!file->is_done && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&file->room, &file->mutex, &until);
    bool is_done = file->is_done;
    pthread_mutex_unlock(&file->mutex);
    if (!is_done) return false;
    pthread_join(file->thread, NULL);
    file->has_thread = false;
    return true;
}

net_result net_log_file_finish(net_log_file* file) {
    if (!file->is_finished) {
        file->is_finished = true;
        if (!file->has_thread) {
            net_log_file_pump(file, true);
            end_file(file);
        } else if (!stop_thread(file)) {
            net_log_file_fail(file, STALLED);
        }
    }
    return has_failed(file) ? NET_ERR_IO : NET_OK;
}

net_result net_log_file_destroy(net_log_file* file) {
    if (!file) return NET_OK;
    net_result result = net_log_file_finish(file);
    if (file->has_thread) {
        pthread_mutex_lock(&file->mutex);
        bool is_done = file->is_done;
        file->is_abandoned = true;
        pthread_mutex_unlock(&file->mutex);
        if (!is_done) {
            pthread_detach(file->thread);
            return result; // the thread frees it, should the disk ever answer
        }
        pthread_join(file->thread, NULL);
    }
    // Without an end record the queue is the proof that nothing is missing.
    free_file(file, result != NET_OK || !file->has_close);
    return result;
}
