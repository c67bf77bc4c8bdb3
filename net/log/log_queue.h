// SPDX-License-Identifier: MIT
/// FILE.queue: the records that a log's file does not hold yet, in shared memory. Format:
/// proto/LOG.md.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "base/spsc.h"
#include "net/result.h"

#include <errno.h>

#define NET_LOG_QUEUE_BYTES (8u << 20)

typedef struct net_log_queue {
    char file[4096];
    int fd;
    uint8_t* memory;
    size_t memory_bytes;
    base_spsc* ring;
} net_log_queue;

/// Create and map FILE.queue, with all of its pages on the disk. `log_file` NULL: memory that ends
/// with the process. @return NET_OK; NET_ERR_DISK (errno says why),
/// NET_ERR_IO (reported).
BASE_MUST_USE net_result net_log_queue_create(net_log_queue* queue, const char* log_file,
                                              uint64_t identity, uint64_t ring_bytes,
                                              const base_reporter* reporter);
/// Unmap and close; remove the file unless it is kept.
void net_log_queue_destroy(net_log_queue* queue, bool is_kept);
/// Push a record with the queue's prefix. It survives the process as soon as this returns.
BASE_MUST_USE bool net_log_queue_push(net_log_queue* queue, const void* data, uint32_t size,
                                      uint64_t number);

/// Why the queue cannot be used any more, as a text for people: another process wrote into it.
/// NULL: it is as its writer left it. Call it before a push and before reading.
const char* net_log_queue_harm(const net_log_queue* queue);
/// Check head and counters of a queue whose newest record has `number` (asserts, unless the queue
/// is harmed). For the writer's side; BASE_VALIDATE builds do it after each record.
void net_log_queue_validate(const net_log_queue* queue, uint64_t number);

/// A private copy of a queue file, which is untrusted.
typedef struct net_log_queue_copy {
    const base_allocator* allocator;
    uint8_t* memory; ///< NULL: there is no such file, or it is no queue
    size_t memory_bytes;
    bool exists;
} net_log_queue_copy;

/// Copy the queue of a log, if there is one.
void net_log_queue_load(net_log_queue_copy* copy, const base_allocator* allocator,
                        const char* log_file);
/// Release the copy.
void net_log_queue_unload(net_log_queue_copy* copy);

typedef enum net_log_queue_state {
    NET_LOG_QUEUE_NONE,
    NET_LOG_QUEUE_WHOLE, ///< all that was pushed is in the file or in the records
    NET_LOG_QUEUE_LOSSY, ///< records are missing; those that were taken are good
} net_log_queue_state;

/// Append (varint length, record) for each record numbered from `next_number` on, without a gap, to
/// `records`. `reason` (a text) is set when records are missing.
net_log_queue_state net_log_queue_take(net_log_queue_copy* copy, uint64_t identity,
                                       uint64_t next_number, base_bytes* records,
                                       uint64_t* lost_bytes, const char** reason);

// ---- the lock ----

// A new log file, locked against other servers.

/// Does a call fail for want of something that may be there again: space, a quota, a limit of file
/// size, memory?
static inline bool net_log_is_want(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM ||
           error == EAGAIN;
}

/// What a failed call means: NET_ERR_DISK for a full or broken disk, otherwise NET_ERR_IO.
static inline net_result net_log_result_of(int error) {
    return net_log_is_want(error) || error == EIO || error == EROFS ? NET_ERR_DISK : NET_ERR_IO;
}

/// Is the name still that of the open file?
BASE_MUST_USE bool net_log_lock_has_name(int fd, const char* name);
/// Create and lock the file `name`; *fd (-1 before) is its descriptor, also after an error when it
/// was opened. An earlier log with this name becomes NAME.N, with its queue; N is above all that
/// are there. A log that another server writes is not touched, and a link of that name is refused
/// (base/file.h). @return NET_OK; NET_ERR_DISK (errno says why), NET_ERR_IO (reported).
BASE_MUST_USE net_result net_log_lock_create(const char* name, const base_reporter* reporter,
                                             int* fd);
