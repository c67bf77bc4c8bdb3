// SPDX-License-Identifier: MIT
// Segments: a log that never ends, on a disk that does.
//
// A new segment begins with a keyframe, so it can be read without those before it. It is made
// beside the old one, as FILE.next, and takes the name FILE only when its header is on the disk.
// The old one gets its numbered name first: at every moment FILE is a log, and no segment is
// without a name. A crash in between leaves the old one with two names; readers take it once.
//
// Deleting is for closed segments of this log only, the oldest first.
#include "log/log_chain.h"
#include "log/log_file_internal.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "log/log_header.h"
#include "log/log_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SAVE_ROOM_BYTES = 1 << 20,
};

net_result net_log_file_init_segments(net_log_file* file, const void* header, size_t header_bytes) {
    const base_allocator* allocator = file->config.allocator;
    file->command.program = file->config.segments.on_close;
    file->segment_first = file->segment_next = file->segment_told = 1;
    base_bytes_init(&file->save, allocator);
    base_bytes_init(&file->header, allocator);
    base_bytes_write(&file->header, header, header_bytes);
    net_log_header_demand(&file->header, NET_LOG_FEATURE_SEGMENT);
    file->index.keyframes =
        base_allocate(allocator, NET_LOG_INDEX_KEYFRAMES_MAX * sizeof *file->index.keyframes);
    // Most matches never need more, so no tick of theirs allocates.
    if (file->config.keyframe_ticks > 0) (void)base_bytes_extend(&file->save, SAVE_ROOM_BYTES);
    bool has_memory = !file->header.failed && !file->save.failed && file->index.keyframes;
    if (file->config.ring_ticks > 0)
        has_memory = net_log_ring_init(&file->ring, allocator, file->config.ring_memory_bytes,
                                       file->config.ring_ticks) &&
                     has_memory;
    base_bytes_clear(&file->save);
    return has_memory ? NET_OK : NET_ERR_MEMORY;
}

void net_log_file_write_index(net_log_file* file) {
    net_log_chain_end(&file->index.chain);
    if (file->config.keyframe_ticks == 0 || file->block.record_count > 0) return;
    uint32_t size = net_log_index_write(&file->index, file->payload);
    if (size == 0) return;
    net_log_block block = net_log_file_block_of(file, NET_LOG_BLOCK_INDEX, file->synced_tick);
    if (net_log_file_put_block(file, &block, file->payload, size)) return;
    file->wait_error = 0;
}

// ---- headers ----

static uint32_t put_header(const net_log_file* file, size_t header_bytes) {
    uint32_t length_bytes = base_varint_put(file->payload, header_bytes);
    memcpy(file->payload + length_bytes, file->header.data, header_bytes);
    return length_bytes + (uint32_t)header_bytes;
}

uint32_t net_log_file_put_header_as(const net_log_file* file, bool is_part) {
    return put_header(file,
                      is_part ? file->header.size : file->header.size - NET_LOG_HEADER_PART_BYTES);
}

uint32_t net_log_file_put_header(const net_log_file* file) {
    return net_log_file_put_header_as(file, file->segment_next > 1 || file->config.start_tick > 0);
}

// ---- the next segment ----

static bool is_time(const net_log_file* file, ecs_tick tick) {
    const net_log_segments* limits = &file->config.segments;
    uint64_t bytes_max = limits->bytes_max;
    // A budget holds at least a few segments: it is kept by deleting whole ones.
    uint64_t part = limits->budget_bytes / 4;
    if (part > 0 && (bytes_max == 0 || bytes_max > part)) bytes_max = part;
    if (file->index.last_data == 0 || file->segment_next > NET_LOG_SEGMENTS_MAX) return false;
    if (file->config.is_in_memory) return false;
    if (file->index.keyframe_count >= NET_LOG_INDEX_KEYFRAMES_MAX) return true;
    if (bytes_max > 0 && net_log_file_bytes(file) >= bytes_max) return true;
    return file->config.segment_ticks > 0 &&
           tick - file->segment_tick >= file->config.segment_ticks;
}

// @return the descriptor of FILE.next, locked, with its header on the disk; -1.
static int create_next(net_log_file* file, const char* name, uint64_t* size_out,
                       net_log_chain* chain) {
    (void)unlink(name); // what a crash left; the log of this name is ours
    int fd = file->config.ops.create(file->config.ops.context, name);
    if (fd < 0) return -1;
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    net_log_block block = {
        .type = NET_LOG_BLOCK_HEADER, .identity = file->config.identity, .record_count = 1};
    const uint32_t payload_bytes = put_header(file, file->header.size);
    size_t size = net_log_packer_pack(&file->packer, &block, file->payload, payload_bytes);
    bool is_made = flock(fd, LOCK_EX | LOCK_NB) == 0 &&
                   net_log_file_put(file, fd, prologue, sizeof prologue) &&
                   net_log_file_put(file, fd, file->packer.stored, size) &&
                   file->config.ops.sync(file->config.ops.context, fd) == 0;
    *size_out = sizeof prologue + size;
    *chain = (net_log_chain){.before = {0}};
    net_log_chain_add(chain, file->packer.stored, size, NULL, 0);
    if (is_made) return fd;
    int error = errno;
    close(fd);
    (void)unlink(name);
    errno = error;
    return -1;
}

// Some file systems have no second names for a file.
static bool give_names(const char* file, const char* next, const char* closed) {
    (void)unlink(closed); // of a log of this name that was deleted without its segments
    bool is_closed = link(file, closed) == 0 || rename(file, closed) == 0;
    if (!is_closed) return false;
    // A power cut may keep the second change without the first: then the old one had no name.
    (void)!base_file_sync_folder(file);
    if (rename(next, file) == 0) return true;
    int error = errno;
    (void)unlink(closed);
    errno = error;
    return false;
}

static void take_over(net_log_file* file, int fd, uint64_t size, const net_log_chain* chain,
                      ecs_tick tick) {
    uint64_t closed = net_log_file_bytes(file);
    close(file->fd);
    file->fd = fd;
    file->closed_bytes += closed;
    file->segment_next++;
    file->segment_tick = tick;
    file->header_age = 0;
    file->index.keyframe_count = 0;
    file->index.last_data = 0;
    file->index.block_count = 1;
    file->index.chain = *chain;
    atomic_store_explicit(&file->bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->counts.bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->counts.segments_closed, 1, memory_order_relaxed);
}

static bool is_over_limits(const net_log_file* file) {
    const net_log_segments* limits = &file->config.segments;
    uint32_t kept = file->segment_next - file->segment_first;
    if (kept == 0) return false;
    if (limits->kept_max > 0 && kept > limits->kept_max) return true;
    // Room for the segment that begins.
    return limits->budget_bytes > 0 &&
           file->closed_bytes > limits->budget_bytes - limits->budget_bytes / 4;
}

static void delete_oldest(net_log_file* file) {
    char name[4096];
    struct stat status;
    bool is_named =
        net_log_segment_name(name, sizeof name, file->config.file, file->segment_first++);
    if (!is_named || lstat(name, &status) != 0 || unlink(name) != 0) return;
    uint64_t bytes = (uint64_t)status.st_size;
    file->closed_bytes -= bytes < file->closed_bytes ? bytes : file->closed_bytes;
    atomic_fetch_add_explicit(&file->counts.segments_deleted, 1, memory_order_relaxed);
}

bool net_log_file_rotate(net_log_file* file, ecs_tick tick) {
    BASE_ASSERT(file->block.record_count == 0);
    char next[4096], closed[4096];
    uint64_t size;
    net_log_chain chain;
    if (!is_time(file, tick)) return true;
    if (!base_text_format(next, sizeof next, "%s.next", file->config.file) ||
        !net_log_segment_name(closed, sizeof closed, file->config.file, file->segment_next))
        return true;
    int fd = create_next(file, next, &size, &chain);
    file->segment_error = fd < 0 ? errno : 0;
    if (fd < 0) return true;
    net_log_file_write_index(file);
    if (!net_log_file_sync(file, file->fd) || !give_names(file->config.file, next, closed)) {
        file->segment_error = errno;
        close(fd);
        (void)unlink(next);
        return !file->is_stopped;
    }
    (void)!base_file_sync_folder(file->config.file);
    memcpy(chain.before, file->index.chain.total, sizeof chain.before);
    take_over(file, fd, size, &chain, tick);
    while (is_over_limits(file))
        delete_oldest(file);
    net_log_file_run_commands(file, false);
    return true;
}

void net_log_file_run_commands(net_log_file* file, bool with_last) {
    char name[4096];
    net_log_command* command = &file->command;
    if (!command->program) return;
    net_log_command_reap(command);
    for (; file->segment_told < file->segment_next; file->segment_told++) {
        bool is_there = file->segment_told >= file->segment_first;
        bool is_named =
            net_log_segment_name(name, sizeof name, file->config.file, file->segment_told);
        if (is_there && is_named && !net_log_command_start(command, name, with_last)) break;
    }
    if (with_last) (void)net_log_command_start(command, file->config.file, true);
    atomic_store_explicit(&file->counts.commands_failed, command->failures, memory_order_relaxed);
}
