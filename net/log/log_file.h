// SPDX-License-Identifier: MIT
/// The file behind a writer: records go into the queue on the simulation's thread, blocks into the
/// file on the log's thread. Knows nothing of matches.
#pragma once

#include "base/report.h"
#include "log/log_record.h"
#include "net/result.h"

#include <sys/types.h>

/// How the file is written; tests put faults in here.
typedef struct net_log_file_ops {
    ssize_t (*write)(void* context, int fd, const void* data, size_t size);
    int (*sync)(void* context, int fd);
    void* context;
} net_log_file_ops;

/// A block is written at the latest after so many milliseconds of ticks.
#define NET_LOG_BLOCK_MS_MAX 250u
/// A log is synced at the latest after so many milliseconds of ticks; a power cut loses no more.
#define NET_LOG_SYNC_MS 1000u

/// A disk that takes nothing for so long counts as failed: a program ends without it.
#define NET_LOG_STALL_MS_MAX 5000u

typedef struct net_log_file_config {
    const base_allocator* allocator;
    const char* file;
    uint64_t identity;
    uint64_t ring_bytes;  ///< NET_LOG_QUEUE_BYTES
    uint32_t block_ticks; ///< of one block; ticks of NET_LOG_BLOCK_MS_MAX
    uint32_t sync_ticks;  ///< 0: after every block
    uint32_t stall_ms_max;
    bool is_manual; ///< no thread: net_log_file_pump does its work
    net_log_file_ops ops;
} net_log_file_config;

typedef struct net_log_file net_log_file;

/// @return The configuration that net_log_writer_create uses.
net_log_file_config net_log_file_config_default(const char* file, uint32_t tick_rate_hz);

/// Create FILE and FILE.queue, write prologue and header block (a packed Header message), start the
/// thread. A log that lies there becomes FILE.N (log_lock.h). @return NET_OK; NET_ERR_DISK,
/// NET_ERR_IO (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_file_create(const net_log_file_config* config, const void* header,
                                             size_t header_bytes, const base_reporter* reporter,
                                             net_log_file** file);
/// Begin the next record. @return the draft to write its body into; NULL after logging stopped.
net_log_draft* net_log_file_begin(net_log_file* file);
/// Push the draft as a record.
void net_log_file_end(net_log_file* file, net_log_kind kind, ecs_tick tick);
/// Stop logging. The first text is kept for the operator.
void net_log_file_fail(net_log_file* file, const char* text);
/// @return true once, after logging stopped; `text` gets the reason.
bool net_log_file_take_failure(net_log_file* file, char* text, size_t text_bytes);
/// Wait until the queue is at most half full. A disk that takes nothing for stall_ms_max ends the
/// log.
void net_log_file_wait_room(net_log_file* file);
/// @return Bytes written to the file so far.
uint64_t net_log_file_bytes(const net_log_file* file);
/// Do what the thread does: write full blocks; with `all` also a block that is not full.
void net_log_file_pump(net_log_file* file, bool all);
/// Check what the log's thread keeps about its block (asserts). On that thread, or with is_manual.
void net_log_file_validate(const net_log_file* file);
/// Write what is queued, sync, and end the thread. After stall_ms_max without an answer of the disk
/// it gives up. No record may follow. @return NET_OK; NET_ERR_IO (net_log_file_take_failure has the
/// reason).
net_result net_log_file_finish(net_log_file* file);
/// net_log_file_finish, unless it was called; remove the queue (kept after a failure and without an
/// end record: it shows what the file lacks); free. A thread that still waits for the disk keeps
/// its memory.
net_result net_log_file_destroy(net_log_file* file);
