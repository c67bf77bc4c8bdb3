// SPDX-License-Identifier: MIT
/// The files of a log as one range of bytes: its closed segments, then the file itself.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/result.h"

#include <sys/types.h>

typedef struct net_log_set_file {
    uint64_t base, bytes; ///< where it begins in the range
    uint32_t number;      ///< of a segment; 0: the file that was named
    dev_t device;
    ino_t inode;
} net_log_set_file;

typedef struct net_log_set {
    const base_allocator* allocator;
    const char* file;        ///< borrowed
    net_log_set_file* files; ///< by rising base; the last one is the file that was named
    uint32_t count, capacity;
    uint64_t bytes; ///< of all
    int fd_last;
    int fd;           ///< of one more; -1
    uint32_t fd_file; ///< which
} net_log_set;

/// Open `file` and find its segments: those beside it that say the same identity, or cannot be
/// asked. @return NET_OK; NET_ERR_IO (reported); NET_ERR_MEMORY. After an error the set is closed.
BASE_MUST_USE net_result net_log_set_open(net_log_set* set, const base_allocator* allocator,
                                          const char* file, const base_reporter* reporter);
void net_log_set_close(net_log_set* set);
/// The file that a place lies in. `offset` is less than set->bytes.
const net_log_set_file* net_log_set_at(const net_log_set* set, uint64_t offset);
/// Bytes from `offset` to the end of its file.
uint64_t net_log_set_left(const net_log_set* set, uint64_t offset);
/// Read bytes of one file. @return false when they are not there (any more).
BASE_MUST_USE bool net_log_set_read(net_log_set* set, uint64_t offset, void* target, size_t size);
