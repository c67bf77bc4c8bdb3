// SPDX-License-Identifier: MIT
// From a block to bytes of the file, and what a disk that fails means.
//
// A failing disk ends the log and nothing else; one that is full, or a limit that is reached, is
// waited for. After a failed sync nothing is tried again: the kernel may have dropped the pages and
// would report success for lost data (fsyncgate, 2018). The first failure wins.
#include "base/assert.h"
#include "base/text.h"
#include "log/log_file.h"
#include "log/log_queue.h"
#include "log/log_segment.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the last seconds ----

// Places count bytes ever added, so a place that was dropped is less than every place that is
// there.

void net_log_ring_init(net_log_ring* ring, const base_allocator* allocator, uint64_t capacity,
                       ecs_tick ticks_min) {
    BASE_ASSERT(capacity > 0);
    memset(ring, 0, sizeof *ring);
    ring->memory = base_allocate(allocator, capacity);
    ring->capacity = capacity;
    ring->ticks_min = ticks_min;
    ring->count = 1;
}

static void drop_oldest(net_log_ring* ring) {
    BASE_ASSERT(ring->count > 0);
    ring->count--;
    memmove(ring->groups, ring->groups + 1, ring->count * sizeof *ring->groups);
}

void net_log_ring_begin(net_log_ring* ring, ecs_tick tick) {
    if (ring->last_tick != tick) ring->count = 0;
    if (ring->count == NET_LOG_RING_GROUPS_MAX) drop_oldest(ring);
    ring->groups[ring->count++] = (net_log_ring_group){tick, ring->head};
    if (ring->last_tick == tick) return;
    ring->last_tick = tick;
    ring->data_end = 0;
}

void net_log_ring_add(net_log_ring* ring, const net_log_block* block, const uint8_t* data,
                      size_t size) {
    if (block->type == NET_LOG_BLOCK_HEADER) return; // a save has its own
    while (ring->count > 0 && ring->head + size - ring->groups[0].start > ring->capacity)
        drop_oldest(ring);
    if (ring->count == 0) return;
    uint64_t place = ring->head % ring->capacity;
    size_t first = size < ring->capacity - place ? size : (size_t)(ring->capacity - place);
    memcpy(ring->memory + place, data, first);
    memcpy(ring->memory, data + first, size - first);
    ring->head += size;
    if (block->type != NET_LOG_BLOCK_DATA) return;
    ring->data_end = ring->head;
    ring->last_tick = block->last_tick;
    // A group is of use as long as the one after it begins too late.
    while (ring->count > 1 && ring->groups[1].tick + ring->ticks_min <= ring->last_tick)
        drop_oldest(ring);
}

void net_log_ring_undo(net_log_ring* ring, uint64_t head) {
    BASE_ASSERT(head <= ring->head);
    while (ring->count > 0 && ring->groups[ring->count - 1].start >= head && head > 0)
        ring->count--;
    ring->head = head;
}

uint32_t net_log_ring_find(const net_log_ring* ring) {
    uint32_t found = ring->count;
    if (ring->data_end == 0) return ring->count;
    for (uint32_t i = 0; i < ring->count; i++) {
        const net_log_ring_group* group = &ring->groups[i];
        bool is_early = found == ring->count || group->tick + ring->ticks_min <= ring->last_tick;
        if (is_early && group->start < ring->data_end) found = i;
    }
    return found;
}

const uint8_t* net_log_ring_at(const net_log_ring* ring, uint64_t at, size_t* size) {
    BASE_ASSERT(ring->count > 0 && at >= ring->groups[0].start && at + *size <= ring->head);
    uint64_t place = at % ring->capacity;
    if (*size > ring->capacity - place) *size = (size_t)(ring->capacity - place);
    return ring->memory + place;
}

void net_log_ring_validate(const net_log_ring* ring) {
    BASE_ASSERT(ring->count <= NET_LOG_RING_GROUPS_MAX && ring->data_end <= ring->head);
    BASE_ASSERT(ring->count == 0 || ring->head - ring->groups[0].start <= ring->capacity);
    for (uint32_t i = 1; i < ring->count; i++) {
        BASE_ASSERT(ring->groups[i - 1].start < ring->groups[i].start);
        BASE_ASSERT(ring->groups[i - 1].tick < ring->groups[i].tick);
    }
}

// ---- the disk ----

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

void net_log_file_why(char reason[NET_LOG_WHY_BYTES], int error) {
    if (error == EFBIG)
        (void)base_text_copy(reason, NET_LOG_WHY_BYTES,
                             "the limit of file size is reached (prlimit --fsize, LimitFSIZE=)");
    else if (strerror_r(error, reason, NET_LOG_WHY_BYTES) != 0)
        reason[0] = 0;
}

void net_log_file_fail_errno(net_log_file* file, const char* what, int error) {
    char reason[NET_LOG_WHY_BYTES], text[sizeof file->failure];
    net_log_file_why(reason, error);
    (void)base_text_format(text, sizeof text, "%s: %s (errno %d)", what, reason, error);
    net_log_file_fail(file, text);
}

bool net_log_take_failure(net_log_file* file, char* text, size_t text_bytes) {
    int expected = FAILURE_READY;
    if (!atomic_compare_exchange_strong(&file->failure_state, &expected, FAILURE_TAKEN))
        return false;
    (void)base_text_copy(text, text_bytes, file->failure);
    return true;
}

uint64_t net_log_file_bytes(const net_log_file* file) {
    return atomic_load_explicit(&file->bytes, memory_order_relaxed);
}

bool net_log_file_put(net_log_file* file, int fd, const uint8_t* data, size_t size) {
    const net_log_file_ops* ops = &file->config.options.ops;
    for (size_t done = 0; done < size;) {
        ssize_t wrote = ops->write ? ops->write(ops->context, fd, data + done, size - done)
                                   : write(fd, data + done, size - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote == 0) errno = ENOSPC;
        if (wrote <= 0) return false;
        done += (size_t)wrote;
    }
    return true;
}

bool net_log_file_may_wait(const net_log_file* file, int error) {
    return file->config.keyframe_ticks > 0 && net_log_is_want(error);
}

bool net_log_file_cut(net_log_file* file, uint64_t bytes) {
    int result = -1;
    do
        result = ftruncate(file->fd, (off_t)bytes);
    while (result != 0 && errno == EINTR);
    return result == 0 && lseek(file->fd, (off_t)bytes, SEEK_SET) >= 0;
}

bool net_log_file_append(net_log_file* file, const uint8_t* data, size_t size) {
    bool is_in_memory = file->config.options.is_in_memory;
    if (is_in_memory || net_log_file_put(file, file->fd, data, size)) {
        atomic_fetch_add_explicit(&file->bytes, size, memory_order_relaxed);
        atomic_fetch_add_explicit(&file->counts.bytes, is_in_memory ? 0 : size,
                                  memory_order_relaxed);
        return true;
    }
    int error = errno;
    // What was written of it would be between two blocks.
    if (net_log_file_cut(file, net_log_file_bytes(file)) && net_log_file_may_wait(file, error)) {
        file->wait_error = error;
        file->wait_wakes = 0;
    } else {
        net_log_file_fail_errno(file, NET_LOG_WRITE_FAILED, error);
    }
    return false;
}

bool net_log_file_flush(net_log_file* file, int fd) {
    const net_log_file_ops* ops = &file->config.options.ops;
    int result = -1;
    do
        result = ops->sync ? ops->sync(ops->context, fd) : fdatasync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool net_log_file_sync(net_log_file* file, int fd) {
    if (file->config.options.is_in_memory || net_log_file_flush(file, fd)) return true;
    file->is_stopped = true;
    net_log_file_fail_errno(file, "the log cannot be written to the disk", errno);
    return false;
}

// Writing into a file that has no name any more, or into a hole, looks like success.
bool net_log_file_is_own(net_log_file* file) {
    struct stat status;
    if (file->config.options.is_in_memory) return true;
    if (fstat(file->fd, &status) != 0)
        net_log_file_fail_errno(file, "the log cannot be looked at", errno);
    else if (status.st_nlink == 0)
        net_log_file_fail(file, "the log was deleted while it was written");
    // Its queue and its segments are found by its name.
    else if (!net_log_lock_has_name(file->fd, file->config.file))
        net_log_file_fail(file, "the log was moved or replaced while it was written");
    else if ((uint64_t)status.st_size < net_log_file_bytes(file))
        net_log_file_fail(file, "another process cut the log while it was written");
    else
        return true;
    return false;
}

void net_log_file_reset_block(net_log_file* file) {
    file->payload_bytes = 0;
    file->block = (net_log_block){.type = NET_LOG_BLOCK_DATA, .identity = file->config.identity};
}

net_log_block net_log_file_block_of(const net_log_file* file, net_log_block_type type,
                                    ecs_tick tick) {
    return (net_log_block){.type = (uint16_t)type,
                           .record_count = 1,
                           .first_record = file->next_record,
                           .first_tick = tick,
                           .last_tick = tick};
}

bool net_log_file_put_block(net_log_file* file, net_log_block* block, const uint8_t* payload,
                            uint32_t payload_bytes) {
    block->identity = file->config.identity;
    block->ordinal = file->next_ordinal;
    size_t size = net_log_packer_pack(&file->packer, block, payload, payload_bytes);
    if (!net_log_file_is_own(file) || !net_log_file_append(file, file->packer.stored, size))
        return false;
    if (file->ring.memory) net_log_ring_add(&file->ring, block, file->packer.stored, size);
    if (block->type != NET_LOG_BLOCK_INDEX)
        net_log_chain_add(&file->index.chain, file->packer.stored, size, NULL, 0);
    file->next_ordinal++;
    file->index.block_count++;
    return true;
}

// Give the records' room in the queue back once their block is in the file.
bool net_log_file_write_block(net_log_file* file) {
    BASE_ASSERT(file->block.record_count > 0 && !file->is_stopped);
    uint64_t at = net_log_file_bytes(file);
    if (!net_log_file_put_block(file, &file->block, file->payload, file->payload_bytes))
        return false;
    file->index.last_data = at;
    base_spsc_pop_to(file->queue.ring, file->block_cursor);
    ecs_tick last_tick = file->block.last_tick;
    net_log_file_reset_block(file);
    if (atomic_load_explicit(&file->short_blocks, memory_order_relaxed) > 0)
        atomic_fetch_sub_explicit(&file->short_blocks, 1, memory_order_relaxed);
    const uint64_t budget = file->config.options.segments.budget_bytes;
    if (!file->config.options.is_in_memory && budget > 0 && net_log_file_bytes(file) > budget) {
        net_log_file_fail(file, "its budget of bytes is used up and no keyframe begins a segment");
        return false;
    }
    if (file->config.sync_ticks == UINT32_MAX ||
        last_tick < file->synced_tick + file->config.sync_ticks)
        return true;
    file->synced_tick = last_tick;
    return net_log_file_sync(file, file->fd);
}
