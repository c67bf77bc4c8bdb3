// SPDX-License-Identifier: MIT
// Two threads meet in the queue. The simulation's thread packs a record and pushes it, without a
// lock. The log's thread wakes a few times per block, copies records into the block that it builds,
// and gives their room in the queue back only after the block is in the file: at any moment every
// record is in the file, in the queue, or in both. The code of that thread is first.
#include "log/log_file.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "core/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// ---- from the queue to blocks ----

// Records become blocks, blocks become bytes of the file. On the log's thread, or on the caller's
// with is_manual.
//
// Blocks are cut by ticks and sizes, never by the clock, so that equal matches give equal files,
// as long as none is followed (net_log_hurry).

// While no tick runs no tick ends a block, and the queue would fill up.
enum { QUIET_RECORDS = 64 };

static uint64_t span_of(ecs_tick tick, uint32_t ticks) {
    return tick == 0 ? 0 : (tick - 1) / ticks;
}

// Do the records of this tick belong to another block than those of `last`?
static bool is_apart(const net_log_file* file, ecs_tick tick, ecs_tick last) {
    const uint32_t whole = file->config.block_ticks;
    const uint32_t part = whole < NET_LOG_HURRY_PART ? 1 : whole / NET_LOG_HURRY_PART;
    const bool is_short = atomic_load_explicit(&file->short_blocks, memory_order_relaxed) > 0;
    return span_of(tick, whole) != span_of(last, whole) ||
           (is_short && span_of(tick, part) != span_of(last, part));
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
    // A close may come after records of a tick that never came.
    if (tick < block->first_tick) block->first_tick = tick;
    if (tick > block->last_tick) block->last_tick = tick;
    file->payload_bytes += base_varint_put(file->payload + file->payload_bytes, size);
    memcpy(file->payload + file->payload_bytes, record, size);
    file->payload_bytes += size;
}

// `cursor`: after the record. @return false: the log waits or stopped; file->cursor says whether
// the record was taken.
static bool take_record(net_log_file* file, const uint8_t* data, uint32_t size, uint64_t cursor) {
    base_reader reader = base_reader_make(data, size);
    uint64_t number = base_reader_u64(&reader);
    ecs_tick tick = base_reader_u64(&reader);
    uint32_t kind = base_reader_u32(&reader);
    uint32_t record_bytes = size - NET_LOG_QUEUE_PREFIX_BYTES;
    if (kind != NET_LOG_KIND_ALIVE) file->quiet_looks = 0;
    const bool is_over =
        file->block.record_count > 0 && is_apart(file, tick, file->block.last_tick);
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
    // After an end the state of the tick may follow.
    bool is_last =
        kind == NET_LOG_KIND_END && !file->config.has_state && is_apart(file, tick + 1, tick);
    bool is_quiet = kind == NET_LOG_KIND_ALIVE && file->block.record_count % QUIET_RECORDS == 0;
    if (!is_last && !is_quiet) return true;
    if (!net_log_file_write_block(file)) return false;
    if (is_quiet) return true;
    net_log_file_write_save(file, false);
    return net_log_file_write_keyframe(file, tick);
}

// Records until the queue has no more. @return false: the log waits or stopped.
static bool take_records(net_log_file* file) {
    for (;;) {
        uint32_t size;
        bool damaged = false;
        uint64_t cursor = file->cursor;
        const uint8_t* data = base_spsc_next(file->queue.ring, &cursor, &size, &damaged);
        // A checksum does not prove that this process wrote it: the memory is a file.
        const bool is_strange =
            data && (size <= NET_LOG_QUEUE_PREFIX_BYTES ||
                     size - NET_LOG_QUEUE_PREFIX_BYTES > NET_LOG_RECORD_BYTES_MAX);
        if (damaged || is_strange) {
            net_log_file_fail(file, "the log's queue was changed by another process");
            return true;
        }
        if (!data) {
            file->cursor = cursor; // after fillers
            return true;
        }
        if (!take_record(file, data, size, cursor)) return false;
    }
}

static bool has_block(const net_log_file* file) {
    return file->block.record_count > 0;
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
    const char* why = file->wait_error != 0 ? base_error_text(file->wait_error) : file->failure;
    base_report(reporter, file->config.file, 0, "%s", why);
    return NET_ERR_DISK;
}

bool net_log_before_name(char* target, size_t target_bytes, const char* file) {
    return base_text_format(target, target_bytes, "%s.before", file);
}

// The segment that it goes on after takes its name now: an earlier log of this name has moved.
static net_result take_segment(const net_log_file* file, const base_reporter* reporter) {
    const net_log_file_config* config = &file->config;
    char before[4096], name[4096];
    const bool is_named =
        net_log_before_name(before, sizeof before, config->file) &&
        net_log_segment_name(name, sizeof name, config->file, config->place.segment);
    // At a second try it has its name.
    if (config->place.segment == 0 || (is_named && access(before, F_OK) != 0)) return NET_OK;
    if (is_named && rename(before, name) == 0) return NET_OK;
    base_report(reporter, config->file, 0, "the segment before it cannot get its name: %s",
                base_error_text(errno));
    return NET_ERR_IO;
}

// Create FILE and FILE.queue, write prologue and header block, and sync. @return NET_OK;
// NET_ERR_DISK, NET_ERR_IO (reported). After an error neither of them is there.
static net_result open_files(net_log_file* file, const base_reporter* reporter) {
    const net_log_file_config* config = &file->config;
    const char* name = config->options.is_in_memory ? NULL : config->file;
    net_result result = name ? net_log_lock_create(name, reporter, &file->fd) : NET_OK;
    const bool is_ours = name && result == NET_OK;
    if (result == NET_OK && is_ours) result = take_segment(file, reporter);
    if (result == NET_OK)
        result = net_log_queue_create(&file->queue, name, config->identity, config->ring_bytes,
                                      reporter);
    if (result == NET_ERR_DISK && net_log_file_may_wait(file, errno)) file->wait_error = errno;
    if (result == NET_OK) result = write_start(file, reporter);
    if (result == NET_OK) {
        if (config->place.segment > 0) file->next_ordinal = config->place.ordinal;
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

// Try again what the full disk did not take. Then the block in the making is complete.
static bool end_waiting(net_log_file* file, bool all) {
    if (file->wait_error == 0) return true;
    const uint32_t wakes = NET_LOG_RETRY_MS / NET_LOG_WAKE_MS;
    if (!file->config.options.is_manual && !all && file->wait_wakes++ < wakes) return false;
    file->wait_error = 0;
    if (!atomic_load_explicit(&file->is_open, memory_order_relaxed)) {
        if (!all && open_files(file, NULL) == NET_OK) return true;
        // What it says instead may be over in a second, too.
        if (file->wait_error == 0 && !file->is_stopped) file->wait_error = EIO;
        return false;
    }
    return !has_block(file) || net_log_file_write_block(file);
}

// @return false: the log waits or stopped.
static bool write_out(net_log_file* file, bool all) {
    if (!end_waiting(file, all) || !take_records(file)) return false;
    // While records are left out, the queue gets none. So a keyframe that was offered is after all
    // records that it has, and no record comes that would make it due.
    uint32_t size;
    bool damaged;
    uint64_t cursor = file->cursor;
    const bool is_gap =
        file->is_leaving_out && !base_spsc_next(file->queue.ring, &cursor, &size, &damaged);
    if ((all || is_gap) && has_block(file) && !net_log_file_write_block(file)) return false;
    return !is_gap || net_log_file_write_keyframe(file, UINT64_MAX);
}

// Check what the log's thread keeps about its block (asserts). On that thread, or with is_manual.
static void validate(const net_log_file* file) {
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
    // Fillers before the next record.
    if (goes_on && !has_block(file)) base_spsc_pop_to(file->queue.ring, file->cursor);
    int trouble = file->wait_error != 0 ? file->wait_error : -file->segment_error;
    atomic_store_explicit(&file->trouble, trouble, memory_order_relaxed);
    BASE_VALIDATE((validate(file), true));
}

// The last bytes reach the disk, and the file is still the one of its name. A failure is recorded.
static void end_disk(net_log_file* file) {
    if (file->is_stopped || !file->is_open || !net_log_file_is_own(file)) return;
    (void)net_log_file_is_over_limits(file); // notes a segment that is gone
    net_log_file_write_index(file);
    if (file->wait_error != 0 && !file->config.has_patience)
        net_log_file_fail_errno(file, NET_LOG_WRITE_FAILED, file->wait_error);
    file->is_last_due = net_log_file_sync(file, file->fd);
    net_log_file_run_commands(file, false);
}

// ---- threads and life ----

#define STALLED "the disk does not answer; what it did not take is in the log's .queue"

static void free_file(net_log_file* file, bool is_queue_kept);

uint32_t net_log_keyframe_ticks(uint32_t seconds, uint32_t tick_rate_hz, uint32_t block_ticks) {
    BASE_ASSERT(seconds > 0 && seconds <= NET_LOG_KEYFRAME_SECONDS_MAX);
    return (seconds * tick_rate_hz + block_ticks - 1) / block_ticks * block_ticks;
}

net_log_file_config net_log_file_config_default(const char* file, uint32_t tick_rate_hz) {
    uint32_t block_ticks = tick_rate_hz * NET_LOG_BLOCK_MS_MAX / 1000u;
    block_ticks += block_ticks == 0;
    return (net_log_file_config){
        .file = file,
        .ring_bytes = NET_LOG_QUEUE_BYTES,
        .block_ticks = block_ticks,
        .sync_ticks = tick_rate_hz * NET_LOG_SYNC_MS / 1000u,
        .keyframe_ticks =
            net_log_keyframe_ticks(NET_LOG_KEYFRAME_SECONDS_DEFAULT, tick_rate_hz, block_ticks),
        .stall_ms_max = NET_LOG_STALL_MS_MAX,
    };
}

net_log_options net_log_options_default(void) {
    return (net_log_options){.segments = {.bytes_max = NET_LOG_SEGMENT_BYTES_DEFAULT,
                                          .budget_bytes = NET_LOG_BUDGET_BYTES_DEFAULT},
                             .ring_bytes = NET_LOG_RING_BYTES_DEFAULT};
}

static struct timespec after_ms(long ms) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000L;
    time.tv_sec += time.tv_nsec / 1000000000L;
    time.tv_nsec %= 1000000000L;
    return time;
}

// @return false: more is due than records that come.
static bool begin_rest(net_log_file* file) {
    if (!file->is_open || file->is_leaving_out || file->wait_error != 0 ||
        file->command.running_count > 0)
        return false;
    net_log_packer_rest(&file->packer);
    (void)madvise(file->queue.memory, file->queue.memory_bytes, MADV_DONTNEED); // the file has them
    return true;
}

static void* run_writer(void* context) {
    net_log_file* file = context;
    // What it writes may be late, and a tick may not. On Linux the priority is the thread's own.
    enum { LATER = 5 };
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LATER);
    pthread_mutex_lock(&file->mutex);
    for (;;) {
        bool is_stopping = file->is_stopping;
        pthread_mutex_unlock(&file->mutex);
        net_log_file_pump(file, is_stopping);
        pthread_mutex_lock(&file->mutex);
        pthread_cond_signal(&file->room);
        if (is_stopping) break;
        if (file->is_stopping) continue;
        const bool rests = ++file->quiet_looks > NET_LOG_QUIET_LOOKS && begin_rest(file);
        atomic_store(&file->is_resting, rests);
        struct timespec until = after_ms(rests ? NET_LOG_REST_MS : NET_LOG_WAKE_MS);
        pthread_cond_timedwait(&file->wake, &file->mutex, &until);
    }
    pthread_mutex_unlock(&file->mutex);
    end_disk(file);
    pthread_mutex_lock(&file->mutex);
    file->is_done = true;
    bool is_abandoned = file->is_abandoned;
    pthread_cond_signal(&file->room);
    pthread_mutex_unlock(&file->mutex);
    if (is_abandoned) free_file(file, true);
    return NULL;
}

// For the records of a tick, and for its keyframe.
static bool has_room(const net_log_file* file) {
    uint32_t every = file->config.keyframe_ticks;
    bool is_due = every > 0 && (file->pushed_tick + 1) % every == 0;
    bool is_busy = is_due && atomic_load_explicit(&file->is_offered, memory_order_acquire);
    return !is_busy && base_spsc_used(file->queue.ring) <= file->config.ring_bytes / 2;
}

void net_log_hurry(net_log_file* file) {
    atomic_store_explicit(&file->short_blocks, NET_LOG_HURRY_BLOCKS, memory_order_relaxed);
}

void net_log_wait_room(net_log_file* file) {
    if (!file->has_thread || file->is_leaving_out) return;
    if (has_room(file)) return;
    pthread_mutex_lock(&file->mutex);
    uint64_t used = UINT64_MAX, waited_ms = 0;
    while (!net_log_file_has_failed(file) && !has_room(file)) {
        waited_ms = base_spsc_used(file->queue.ring) < used ? 0 : waited_ms + NET_LOG_WAKE_MS;
        used = base_spsc_used(file->queue.ring);
        if (waited_ms >= file->config.stall_ms_max) {
            net_log_file_fail(file, STALLED);
            break;
        }
        pthread_cond_signal(&file->wake);
        struct timespec until = after_ms(NET_LOG_WAKE_MS);
        pthread_cond_timedwait(&file->room, &file->mutex, &until);
        int trouble = atomic_load_explicit(&file->trouble, memory_order_relaxed);
        if (trouble != 0) file->seen_trouble = trouble;
    }
    pthread_mutex_unlock(&file->mutex);
}

bool net_log_file_takes(const net_log_file* file) {
    return !net_log_file_has_failed(file) && !file->is_leaving_out;
}

net_log_draft* net_log_file_begin(net_log_file* file) {
    if (!net_log_file_takes(file) && !file->config.options.tap.record) return NULL;
    net_log_draft_begin(&file->draft);
    return &file->draft;
}

// Until the queue has emptied; log_rotate.c ends it.
static void leave_out(net_log_file* file, ecs_tick tick) {
    file->is_leaving_out = file->is_left_news = true;
    file->left_out_from = tick;
}

void net_log_file_end(net_log_file* file, net_log_kind kind, ecs_tick tick) {
    BASE_ASSERT(kind != NET_LOG_KIND_OTHER && file->next_number > 0);
    const uint64_t number = file->next_number;
    uint32_t size;
    const uint8_t* record = net_log_draft_end(&file->draft, kind, number, tick, &size);
    // The tap gets the record, whether the disk takes it or not.
    const net_log_tap* tap = &file->config.options.tap;
    if (tap->record && net_log_kinds[kind].is_streamed)
        tap->record(tap->context, (uint32_t)kind, tick, record + NET_LOG_QUEUE_PREFIX_BYTES,
                    size - NET_LOG_QUEUE_PREFIX_BYTES);
    if (!net_log_file_takes(file)) return;
    if (kind == NET_LOG_KIND_END && tick == file->resumed_tick) return;
    const char* harm = net_log_queue_harm(&file->queue);
    if (harm) {
        net_log_file_fail(file, harm);
        return;
    }
    bool may_fit = NET_LOG_DRAFT_HEAD_BYTES + file->draft.body.size <= file->config.ring_bytes / 2;
    if (!may_fit || !net_log_queue_push(&file->queue, record, size, number)) {
        if (may_fit && file->config.keyframe_ticks > 0)
            leave_out(file, tick + (kind == NET_LOG_KIND_STATE)); // its tick is whole without it
        else
            net_log_file_fail(file, "the log's queue is full: the disk is too slow");
        return;
    }
    BASE_VALIDATE((net_log_queue_validate(&file->queue, file->next_number), true));
    file->next_number++;
    file->pushed_tick = tick - (net_log_kinds[kind].stage == NET_LOG_BETWEEN);
    file->pushed_ends += kind == NET_LOG_KIND_END;
    file->has_close = file->has_close || kind == NET_LOG_KIND_CLOSE;
    // A lost wake-up costs at most the time to the next record: the lock is not worth a stall.
    const bool wakes = kind != NET_LOG_KIND_ALIVE && atomic_load(&file->is_resting);
    if (file->has_thread &&
        (wakes || base_spsc_used(file->queue.ring) > file->config.ring_bytes / 4))
        pthread_cond_signal(&file->wake);
}

static net_result start_thread(net_log_file* file, const base_reporter* reporter) {
    if (file->config.options.is_manual) return NET_OK;
    int error = net_thread_start(&file->thread, run_writer, file);
    file->has_thread = error == 0;
    if (error == 0) return NET_OK;
    base_report(reporter, file->config.file, 0, "no thread for the log: %s",
                base_error_text(error));
    return NET_ERR_IO;
}

static void free_file(net_log_file* file, bool is_queue_kept) {
    net_log_queue_destroy(&file->queue, is_queue_kept);
    net_log_packer_deinit(&file->packer);
    if (file->fd >= 0) close(file->fd);
    pthread_cond_destroy(&file->room);
    pthread_cond_destroy(&file->wake);
    pthread_mutex_destroy(&file->mutex);
    base_owner_destroy(file);
}

net_result net_log_file_create(const net_log_file_config* config, const void* header,
                               size_t header_bytes, const base_reporter* reporter,
                               net_log_file** file_out) {
    BASE_ASSERT(config->file && config->block_ticks > 0);
    BASE_ASSERT(header_bytes >= 1 && header_bytes <= NET_LOG_RECORD_BYTES_MAX);
    *file_out = NULL;
    net_log_file* file = base_owner_create(config->allocator, sizeof *file);
    const base_allocator* allocator = &file->owner.allocator;
    file->config = *config;
    file->next_number = file->next_record = config->place.segment > 0 ? config->place.number : 1;
    file->segment_tick = config->start_tick;
    file->fd = -1;
    file->queue.fd = -1;
    pthread_mutex_init(&file->mutex, NULL);
    net_condition_init(&file->wake);
    net_condition_init(&file->room);
    net_log_file_reset_block(file);
    file->payload = base_allocate(allocator, NET_LOG_BLOCK_BYTES_MAX);
    file->draft.memory = base_allocate(allocator, NET_LOG_DRAFT_BYTES);
    net_log_file_init_segments(file, header, header_bytes);
    net_log_packer_init(&file->packer, allocator);
    BASE_ASSERT(!config->options.is_in_memory || config->ring_ticks > 0);
    net_result result = open_files(file, reporter);
    if (result == NET_ERR_DISK && file->wait_error != 0 && config->has_patience) {
        leave_out(file, config->start_tick + 1);
        file->trouble = file->wait_error;
        file->is_trouble_reported = true;
        result = NET_OK;
    }
    if (result == NET_OK) result = start_thread(file, reporter);
    if (result != NET_OK) {
        if (file->is_open && !config->options.is_in_memory) unlink(config->file);
        free_file(file, false);
        return result;
    }
    *file_out = file;
    return NET_OK;
}

static uint64_t count_of(const _Atomic uint64_t* count) {
    return atomic_load_explicit(count, memory_order_relaxed);
}

net_log_counters net_log_get_counters(const net_log_file* file) {
    return (net_log_counters){.bytes = count_of(&file->counts.bytes),
                              .segments_closed = count_of(&file->counts.segments_closed),
                              .segments_deleted = count_of(&file->counts.segments_deleted),
                              .segments_unstored = count_of(&file->counts.segments_unstored),
                              .keyframes = count_of(&file->counts.keyframes),
                              .keyframes_dropped = file->keyframes_dropped,
                              .ticks_lost = net_log_file_ticks_lost(file),
                              .ticks_waited = file->ticks_waited,
                              .commands_failed = count_of(&file->counts.commands_failed),
                              .saves = count_of(&file->counts.saves),
                              .saves_failed = count_of(&file->counts.saves_failed)};
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
        if (file->is_leaving_out)
            net_log_file_fail(file, "the disk took nothing to the end: the last ticks are missing");
        if (!file->has_thread) {
            net_log_file_pump(file, true);
            end_disk(file);
        } else if (!stop_thread(file)) {
            net_log_file_fail(file, STALLED);
        }
    }
    return net_log_file_has_failed(file) ? NET_ERR_IO : NET_OK;
}

bool net_log_commands_go_on(net_log_file* file) {
    BASE_ASSERT(file->is_finished);
    if (!file->command.program || file->has_thread) return false;
    net_log_file_run_commands(file, false);
    return file->command.running_count > 0;
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
    net_log_file_run_commands(file, true);
    // Without an end record the queue is the proof that nothing is missing.
    free_file(file, result != NET_OK || !file->has_close);
    return result;
}
