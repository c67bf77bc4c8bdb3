// SPDX-License-Identifier: MIT
// Two files are open at most: the last one, which may get another name while it is read, and the
// one that was read last. A file that is no longer the one of its name is not read.
#include "base/assert.h"
#include "base/search.h"
#include "log/log_block.h"
#include "log/log_read.h"
#include "log/log_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Not blocking: opening a pipe without a writer would wait for one.
static int open_plain(const char* name, struct stat* status) {
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, status) == 0) return fd;
    int error = errno;
    if (fd >= 0) close(fd);
    errno = error;
    return -1;
}

// @return the identity that the header block says; 0: it cannot be read.
static uint64_t identity_of(int fd) {
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    net_log_block block;
    bool is_read = net_log_read_at(fd, NET_LOG_PROLOGUE_BYTES, header, sizeof header) &&
                   net_log_block_header_read(&block, header);
    return is_read ? block.identity : 0;
}

static net_log_set_file file_of(const struct stat* status, uint32_t number) {
    return (net_log_set_file){.bytes = (uint64_t)status->st_size,
                              .number = number,
                              .device = status->st_dev,
                              .inode = status->st_ino};
}

static void add_file(net_log_set* set, net_log_set_file file) {
    BASE_ARRAY_RESERVE(set->allocator, set->files, set->capacity, set->count + 1);
    file.base = set->bytes;
    set->files[set->count++] = file;
    set->bytes += file.bytes;
}

static void add_segment(net_log_set* set, const net_log_set_file* last, uint64_t identity,
                        uint32_t number) {
    char name[4096];
    struct stat status;
    if (!net_log_segment_name(name, sizeof name, set->file, number)) return;
    int fd = open_plain(name, &status);
    if (fd < 0) return;
    uint64_t other = identity_of(fd);
    close(fd);
    // A crash between two steps of a rotation leaves the last file with two names.
    bool is_last = status.st_dev == last->device && status.st_ino == last->inode;
    bool is_ours = identity == 0 || other == 0 || other == identity;
    if (S_ISREG(status.st_mode) && !is_last && is_ours) add_file(set, file_of(&status, number));
}

// The last file is open already: a segment that is closed now was it, or is in the list.
static void find_segments(net_log_set* set, const net_log_set_file* last) {
    uint32_t *numbers, count, capacity;
    net_log_segment_list(set->allocator, set->file, &numbers, &count, &capacity);
    uint64_t identity = identity_of(set->fd_last);
    for (uint32_t i = 0; i < count; i++)
        if (last->number == 0 || numbers[i] < last->number)
            add_segment(set, last, identity, numbers[i]);
    BASE_ARRAY_RELEASE(set->allocator, numbers, capacity);
    add_file(set, *last);
}

net_result net_log_set_open(net_log_set* set, const base_allocator* allocator, const char* file,
                            uint32_t last_number, const base_reporter* reporter) {
    struct stat status;
    char name[4096];
    *set = (net_log_set){.allocator = allocator, .file = file, .fd_last = -1, .fd = -1};
    if (last_number > 0 && net_log_segment_name(name, sizeof name, file, last_number)) file = name;
    set->fd_last = open_plain(file, &status);
    if (set->fd_last < 0)
        return BASE_REPORT_AS(NET_ERR_IO, reporter, file, 0, "cannot be opened: %s",
                              strerror(errno));
    if (!S_ISREG(status.st_mode))
        return BASE_REPORT_AS(NET_ERR_IO, reporter, file, 0, "is not a regular file");
    const char* ending = strrchr(file, '.');
    const net_log_set_file last =
        file_of(&status, ending ? net_log_segment_number(ending) : 0); // also by its own name
    find_segments(set, &last);
    return NET_OK;
}

void net_log_set_begin(net_log_set* set, uint32_t index) {
    const uint64_t base = set->files[index].base;
    set->count -= index;
    memmove(set->files, set->files + index, set->count * sizeof *set->files);
    for (uint32_t i = 0; i < set->count; i++)
        set->files[i].base -= base;
    set->bytes -= base;
}

void net_log_set_close(net_log_set* set) {
    if (set->fd_last >= 0) close(set->fd_last);
    if (set->fd >= 0) close(set->fd);
}

void net_log_set_follow(net_log_set* set) {
    net_log_set_file* last = &set->files[set->count - 1];
    struct stat status;
    if (fstat(set->fd_last, &status) != 0 || (uint64_t)status.st_size <= last->bytes) return;
    last->bytes = (uint64_t)status.st_size;
    set->bytes = last->base + last->bytes;
}

const net_log_set_file* net_log_set_at(const net_log_set* set, uint64_t offset) {
    BASE_ASSERT(offset < set->bytes);
    base_search search = base_search_begin(set->count);
    while (base_search_next(&search))
        base_search_step(&search, set->files[search.middle].base <= offset);
    return &set->files[search.low - 1];
}

static int open_file(net_log_set* set, uint32_t index) {
    const net_log_set_file* file = &set->files[index];
    if (index + 1 == set->count) return set->fd_last;
    if (set->fd >= 0 && set->fd_file == index) return set->fd;
    char name[4096];
    struct stat status;
    if (set->fd >= 0) close(set->fd);
    set->fd = -1;
    if (!net_log_segment_name(name, sizeof name, set->file, file->number)) return -1;
    set->fd = open_plain(name, &status);
    set->fd_file = index;
    if (set->fd >= 0 && status.st_dev == file->device && status.st_ino == file->inode)
        return set->fd;
    if (set->fd >= 0) close(set->fd);
    set->fd = -1;
    return -1;
}

bool net_log_set_read(net_log_set* set, uint64_t offset, void* target, size_t size) {
    if (size == 0) return true;
    const net_log_set_file* file = net_log_set_at(set, offset);
    BASE_ASSERT(size <= file->base + file->bytes - offset);
    int fd = open_file(set, (uint32_t)(file - set->files));
    return fd >= 0 && net_log_read_at(fd, offset - file->base, target, size);
}
