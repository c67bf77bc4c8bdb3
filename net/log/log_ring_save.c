// SPDX-License-Identifier: MIT
// A save of the ring: a file of its own, which is a later segment of the log.
//
// The log's thread writes it between two blocks, as it syncs: what the match appends meanwhile
// waits in the queue. A header and the blocks of the ring are written to a file beside the save:
// the log as a crash would leave it. Its whole ticks are copied into the save (log_copy.c). A save
// that fails has no other effect. The file has its name only when it is whole.
//
// One slot is enough for the way there and back: the simulation's thread fills it and sets ASKED,
// the log's thread sets DONE.
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_FREE = 0, SAVE_ASKED, SAVE_DONE };

#define LOG_ENDING ".slog"

// ---- on the simulation's thread ----

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static bool make_name(net_log_file* file, const char* name) {
    char plain[NET_SAVE_NAME_BYTES];
    size_t count = 0;
    for (; name[count] && count + 1 < sizeof plain; count++)
        plain[count] = name[count];
    for (size_t i = 0; i < count; i++)
        if (!is_plain(plain[i])) plain[i] = '_';
    plain[count] = 0;
    const char* log = file->config.file;
    size_t bytes = strlen(log), ending = strlen(LOG_ENDING);
    if (bytes > ending && strcmp(log + bytes - ending, LOG_ENDING) == 0) bytes -= ending;
    net_log_saved* saved = &file->saved;
    return base_text_format(saved->file, sizeof saved->file, "%.*s.saved-%" PRIu64 "%s%s.slog",
                            (int)bytes, log, saved->last_tick, count > 0 ? "-" : "", plain);
}

net_result net_log_save(net_log_file* file, const char* name) {
    BASE_ASSERT(name);
    if (!file->ring.memory || net_log_file_has_failed(file) || file->is_finished)
        return NET_ERR_CLOSED;
    if (atomic_load_explicit(&file->save_state, memory_order_acquire) != SAVE_FREE) {
        atomic_fetch_add_explicit(&file->counts.saves_failed, 1, memory_order_relaxed);
        return NET_ERR_FULL;
    }
    file->saved = (net_log_saved){.last_tick = file->pushed_tick};
    if (!make_name(file, name)) return NET_ERR_CLOSED;
    atomic_store_explicit(&file->save_state, SAVE_ASKED, memory_order_release);
    pthread_cond_signal(&file->wake);
    return NET_OK;
}

bool net_log_take_saved(net_log_file* file, net_log_saved* saved) {
    if (atomic_load_explicit(&file->save_state, memory_order_acquire) != SAVE_DONE) return false;
    *saved = file->saved;
    atomic_store_explicit(&file->save_state, SAVE_FREE, memory_order_relaxed);
    return true;
}

// ---- on the log's thread ----

// The ring from a group on as a log that was cut. @return 0; else an errno.
static int write_blocks(net_log_file* log, uint32_t group, const char* name) {
    const net_log_ring* ring = &log->ring;
    const net_log_ring_group* first = &ring->groups[group];
    (void)unlink(name); // what a crash left
    const int fd = base_file_create(name);
    if (fd < 0) return errno;
    bool is_put = net_log_file_put_start(log, fd, first->tick > 0) > 0;
    size_t size = 0;
    for (uint64_t at = first->start; is_put && at < ring->data_end; at += size) {
        size = (size_t)(ring->data_end - at);
        const uint8_t* data = net_log_ring_at(ring, at, &size);
        is_put = net_log_file_put(log, fd, data, size);
    }
    const int error = is_put ? 0 : errno;
    close(fd);
    return error;
}

static void keep_text(void* context, const char* file, uint32_t line, const char* text) {
    net_log_saved* saved = context;
    (void)file, (void)line;
    (void)base_text_copy(saved->failure, sizeof saved->failure, text);
}

// Allocators belong to the simulation's thread.
static bool copy_blocks(net_log_file* log, const char* blocks, const char* part,
                        net_log_copy_result* copied) {
    const base_reporter reporter = {keep_text, &log->saved};
    const net_log_copy_config config = {.output = part, .ops = &log->config.options.ops};
    net_log_reader* reader;
    (void)unlink(part);
    bool is_copied =
        net_log_reader_create_to(NULL, blocks, NET_LOG_LIVE, &reporter, &reader) == NET_OK &&
        net_log_copy(reader, &config, &reporter, copied) == NET_OK;
    net_log_reader_destroy(reader);
    return is_copied;
}

// No file of the name is replaced. Some file systems have no second names for a file.
static bool give_name(const char* part, const char* name) {
    if (link(part, name) == 0) return true;
    if (errno != EPERM && errno != EOPNOTSUPP) return false;
    if (access(name, F_OK) != 0) return rename(part, name) == 0;
    errno = EEXIST;
    return false;
}

static bool is_over_budget(const net_log_file* log, uint32_t group) {
    uint64_t budget = log->config.options.segments.budget_bytes;
    uint64_t bytes = log->ring.data_end - log->ring.groups[group].start;
    return budget > 0 && bytes > budget - (log->saved_bytes < budget ? log->saved_bytes : budget);
}

static void save_group(net_log_file* log, uint32_t group, net_log_copy_result* copied) {
    net_log_saved* saved = &log->saved;
    char blocks[sizeof saved->file + 8], part[sizeof blocks];
    (void)base_text_format(blocks, sizeof blocks, "%s.blocks", saved->file);
    (void)base_text_format(part, sizeof part, "%s.part", saved->file);
    int error = write_blocks(log, group, blocks);
    if (error == 0 && copy_blocks(log, blocks, part, copied) &&
        copied->last_tick >= saved->last_tick && !give_name(part, saved->file))
        error = errno;
    (void)unlink(part);
    (void)unlink(blocks);
    char reason[NET_LOG_WHY_BYTES];
    net_log_file_why(reason, error);
    if (error != 0)
        (void)base_text_format(saved->failure, sizeof saved->failure, "%s (errno %d)", reason,
                               error);
    (void)!base_file_sync_folder(saved->file);
}

// @return false: it has to wait for a block that ends with a tick.
static bool save_ring(net_log_file* log) {
    net_log_saved* saved = &log->saved;
    net_log_copy_result copied = {0};
    const uint32_t group = net_log_ring_find(&log->ring);
    BASE_VALIDATE((net_log_ring_validate(&log->ring), true));
    if (group == log->ring.count)
        (void)base_text_copy(saved->failure, sizeof saved->failure,
                             "the memory of the ring holds no keyframe that ticks follow");
    else if (is_over_budget(log, group))
        (void)base_text_copy(saved->failure, sizeof saved->failure,
                             "the budget of bytes is used up");
    else
        save_group(log, group, &copied);
    if (saved->failure[0]) return true;
    if (copied.last_tick < saved->last_tick) return false;
    saved->first_tick = copied.first_tick;
    saved->last_tick = copied.last_tick;
    saved->bytes = copied.bytes;
    log->saved_bytes += copied.bytes;
    return true;
}

void net_log_file_write_save(net_log_file* log, bool is_end) {
    if (atomic_load_explicit(&log->save_state, memory_order_acquire) != SAVE_ASKED) return;
    BASE_ASSERT(log->block.record_count == 0 || log->is_stopped);
    bool is_there = log->ring.data_end > 0 && log->ring.last_tick >= log->saved.last_tick;
    if (!is_there && !is_end && !log->is_stopped && log->ring.count > 0) return;
    if (!log->is_stopped && !save_ring(log) && !is_end) return;
    bool is_whole = log->saved.bytes > 0;
    if (!is_whole && log->saved.failure[0] == 0)
        (void)base_text_copy(log->saved.failure, sizeof log->saved.failure,
                             log->is_stopped ? "logging stopped" : "the log ends within a tick");
    atomic_fetch_add_explicit(is_whole ? &log->counts.saves : &log->counts.saves_failed, 1,
                              memory_order_relaxed);
    atomic_store_explicit(&log->save_state, SAVE_DONE, memory_order_release);
}
