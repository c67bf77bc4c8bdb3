// SPDX-License-Identifier: MIT
/// The file behind a writer: records go into the queue on the simulation's thread, blocks into the
/// file on the log's thread. Knows nothing of matches.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "log/log_record.h"
#include "net/log_writer.h"

/// A block is written at the latest after so many milliseconds of ticks.
#define NET_LOG_BLOCK_MS_MAX 1000u
/// A log is synced at the latest after so many milliseconds of ticks; a power cut loses no more.
#define NET_LOG_SYNC_MS 1000u

/// A disk that takes nothing for so long counts as failed: a program ends without it.
#define NET_LOG_STALL_MS_MAX 5000u

/// A full disk is asked again after so long.
#define NET_LOG_RETRY_MS 1000u

typedef struct net_log_file_config {
    const base_allocator* allocator;
    const char* file;
    uint64_t identity;
    uint64_t ring_bytes;     ///< NET_LOG_QUEUE_BYTES
    uint32_t block_ticks;    ///< of one block; ticks of NET_LOG_BLOCK_MS_MAX
    uint32_t sync_ticks;     ///< 0: after every block; UINT32_MAX: at the end of a segment only
    uint32_t keyframe_ticks; ///< a multiple of block_ticks; 0: no keyframes, and so one segment and
                             ///< no way back from a full disk
    uint32_t stall_ms_max;
    net_log_segments segments;
    uint64_t segment_ticks; ///< of a segment; 0: no limit
    bool has_state;         ///< state records follow the end of a tick
    ecs_tick start_tick;    ///< 0; else the log is a later part: its first keyframe is of this tick
    ecs_tick ring_ticks;    ///< the ring keeps so many (net_log_save); 0: there is no ring
    uint64_t ring_memory_bytes; ///< of the ring's blocks
    bool is_in_memory; ///< no file is written, and the queue has none: there is a ring only
    bool is_manual;    ///< no thread: net_log_file_pump does its work
    bool has_patience; ///< a disk that is full at the start is waited for
    net_log_file_ops ops;
} net_log_file_config;

typedef struct net_log_file net_log_file;

/// @return The configuration that net_log_writer_create uses.
net_log_file_config net_log_file_config_default(const char* file, uint32_t tick_rate_hz);
/// Put options into a configuration.
void net_log_file_config_apply(net_log_file_config* config, const net_log_options* options,
                               uint32_t tick_rate_hz);

/// Create FILE and FILE.queue, write prologue and header block (a packed Header message), start the
/// thread. A log that lies there becomes FILE.N (log_lock.h). With has_patience a full disk is
/// reported, and the rest follows later. @return NET_OK; NET_ERR_DISK, NET_ERR_IO (reported);
/// NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_file_create(const net_log_file_config* config, const void* header,
                                             size_t header_bytes, const base_reporter* reporter,
                                             net_log_file** file);
/// Begin the next record. @return the draft to write its body into; NULL after logging stopped, and
/// while records are left out because the disk takes none.
net_log_draft* net_log_file_begin(net_log_file* file);
/// Push the draft as a record.
void net_log_file_end(net_log_file* file, net_log_kind kind, ecs_tick tick);
/// A tick ends: count it, and begin its keyframe; its end record comes next. @return where to save
/// the match to; NULL when no keyframe is due.
base_bytes* net_log_file_begin_keyframe(net_log_file* file, ecs_tick tick);
/// Pass the save on to the log's thread. One that failed or is too long is dropped.
void net_log_file_end_keyframe(net_log_file* file, ecs_tick tick);
/// Stop logging. The first text is kept for the operator.
void net_log_file_fail(net_log_file* file, const char* text);
/// @return true once, after logging stopped; `text` gets the reason.
bool net_log_file_take_failure(net_log_file* file, char* text, size_t text_bytes);
/// As net_log_take_note.
bool net_log_file_take_note(net_log_file* file, char* text, size_t text_bytes);
/// As net_log_save; the newest tick is the one whose end record was pushed last. @return as it.
BASE_MUST_USE net_result net_log_file_save(net_log_file* file, const char* name);
/// As net_log_take_saved.
bool net_log_file_take_saved(net_log_file* file, net_log_saved* saved);
/// Wait until the queue is at most half full, and a keyframe that is due next has room. A disk that
/// takes nothing for stall_ms_max ends the log.
void net_log_file_wait_room(net_log_file* file);
/// @return Bytes of the segment that is written.
uint64_t net_log_file_bytes(const net_log_file* file);
/// What was done so far.
net_log_counters net_log_file_counters(const net_log_file* file);
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
