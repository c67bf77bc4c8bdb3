// SPDX-License-Identifier: MIT
// A part of a log gets its number while others read it: its server renames FILE to FILE.segN, then
// creates FILE again. What was opened as FILE may thus be the part after the one that was meant;
// the name with the number, looked at once more, tells.
#include "net/log_bytes.h"

#include "base/assert.h"
#include "log/log_block.h"
#include "log/log_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char* name) {
    struct stat status;
    return stat(name, &status) == 0 && S_ISREG(status.st_mode);
}

bool net_log_parts_find(const char* file, net_log_parts* parts) {
    uint32_t *numbers = NULL, count = 0, capacity = 0;
    if (!is_file(file)) return false;
    if (net_log_segment_list(NULL, file, &numbers, &count, &capacity) != NET_OK) return false;
    *parts = (net_log_parts){.first = 1, .newest = 1};
    if (count > 0) *parts = (net_log_parts){.first = numbers[0], .newest = numbers[count - 1] + 1};
    BASE_ARRAY_RELEASE(NULL, numbers, capacity);
    return true;
}

static int open_part(const char* name) {
    struct stat status;
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
    close(fd);
    return -1;
}

bool net_log_is_written(const char* file) {
    const int fd = open_part(file);
    const bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0) close(fd); // with what was locked
    return is_locked;
}

int net_log_part_open(const char* file, uint32_t part, bool* is_closed) {
    char name[4096];
    net_log_parts parts;
    *is_closed = true;
    if (!net_log_segment_name(name, sizeof name, file, part)) return -1;
    int fd = open_part(name);
    if (fd >= 0 || !net_log_parts_find(file, &parts) || part != parts.newest) return fd;
    fd = open_part(file);
    const int closed = open_part(name); // it got its number in between
    if (closed < 0) {
        *is_closed = false;
        return fd;
    }
    if (fd >= 0) close(fd);
    return closed;
}

// The size of the block at `at` with its header. @return 0: there is none that is whole.
static uint64_t block_at(int descriptor, uint64_t at, uint64_t end, net_log_block* block,
                         bool* is_damaged) {
    uint8_t bytes[NET_LOG_BLOCK_HEADER_BYTES];
    if (end - at < sizeof bytes ||
        pread(descriptor, bytes, sizeof bytes, (off_t)at) != (ssize_t)sizeof bytes)
        return 0;
    *is_damaged = !net_log_block_header_read(block, bytes);
    if (*is_damaged) return 0;
    const uint64_t size = sizeof bytes + block->stored_bytes;
    return size <= end - at ? size : 0;
}

// A keyframe's blocks follow each other; with the next block of another kind it is whole.
static void take_place(net_log_places* places, const net_log_block* block) {
    if (block->type == NET_LOG_BLOCK_KEYFRAME) {
        if (places->begun > 0 && places->begun_tick == block->last_tick) return;
        places->begun = places->end;
        places->begun_tick = block->last_tick;
    } else if (places->begun > 0) {
        places->keyframe = places->begun;
        places->tick = places->begun_tick;
        places->begun = 0;
    }
}

bool net_log_places_find(net_log_places* places, int descriptor, ecs_tick tick_max,
                         uint32_t blocks_max) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return true;
    const uint64_t end = (uint64_t)status.st_size;
    if (end < NET_LOG_PROLOGUE_BYTES) return true;
    if (places->end == 0) places->end = NET_LOG_PROLOGUE_BYTES;
    for (uint32_t i = 0; i < blocks_max; i++) {
        net_log_block block;
        bool is_damaged = false;
        if (places->end >= end) return true;
        const uint64_t size = block_at(descriptor, places->end, end, &block, &is_damaged);
        if (size == 0 || block.last_tick > tick_max) return true;
        take_place(places, &block);
        places->end += size;
    }
    return false;
}

uint64_t net_log_part_whole(int descriptor, uint64_t from, uint64_t bytes_max) {
    struct stat status;
    BASE_ASSERT(bytes_max > 0);
    if (fstat(descriptor, &status) != 0 || (uint64_t)status.st_size <= from) return 0;
    const uint64_t end = (uint64_t)status.st_size;
    uint64_t at = from;
    bool is_damaged = false;
    if (at == 0) at = end < NET_LOG_PROLOGUE_BYTES ? 0 : NET_LOG_PROLOGUE_BYTES;
    if (at == 0) return 0;
    const uint64_t first = at;
    while (at < end) {
        net_log_block block;
        const uint64_t size = block_at(descriptor, at, end, &block, &is_damaged);
        if (size == 0 || (at > first && at - from + size > bytes_max)) break;
        at += size;
    }
    if (!is_damaged) return at - from;
    return end - from < bytes_max ? end - from : bytes_max;
}
