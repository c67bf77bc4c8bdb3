// SPDX-License-Identifier: MIT
/// The file of a writer: records go into the queue on the simulation's thread, blocks into the file
/// on the log's thread. What makes the records of a match is in log_write.c alone; a copy has none.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "log/log_block.h"
#include "log/log_queue.h"
#include "log/log_record.h"
#include "log/log_recorder.h"
#include "log/log_segment.h"
#include "net/log_tools.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/// A block is written at the latest after this many milliseconds of ticks.
#define NET_LOG_BLOCK_MS_MAX 1000u
/// Of a log that is followed, a block is this many times shorter,
#define NET_LOG_HURRY_PART 5u
/// and this many of them are, after each net_log_hurry.
#define NET_LOG_HURRY_BLOCKS 10u
/// A log is synced at the latest after so many milliseconds of ticks; a power cut loses no more.
#define NET_LOG_SYNC_MS 1000u

/// A disk that takes nothing for so long counts as failed: a program ends without it.
#define NET_LOG_STALL_MS_MAX 5000u

/// A full disk is asked again after so long.
#define NET_LOG_RETRY_MS 1000u

/// Where a log goes on: what its segments so far end with.
typedef struct net_log_place {
    uint32_t segment;                  ///< number of the last one; 0: the log begins
    uint64_t ordinal;                  ///< of the next block
    uint64_t number;                   ///< of the next record
    uint8_t total[NET_LOG_HASH_BYTES]; ///< its running hash
} net_log_place;

typedef struct net_log_file_config {
    const base_allocator* allocator;
    const char* file;
    net_log_options options; ///< those in seconds are in ticks below
    uint64_t identity;
    uint64_t ring_bytes;     ///< NET_LOG_QUEUE_BYTES
    uint32_t block_ticks;    ///< of one block; ticks of NET_LOG_BLOCK_MS_MAX
    uint32_t sync_ticks;     ///< 0: after every block; UINT32_MAX: at the end of a segment only
    uint32_t keyframe_ticks; ///< a multiple of block_ticks; 0: no keyframes, and so one segment and
                             ///< no way back from a full disk
    uint32_t stall_ms_max;
    uint64_t segment_ticks; ///< of a segment; 0: no limit
    bool has_state;         ///< state records follow the end of a tick
    ecs_tick start_tick;    ///< 0; else the log is a later part: its first keyframe is of this tick
    ecs_tick ring_ticks;    ///< the ring keeps this many (net_log_save); 0: there is no ring
    bool has_patience;   ///< a disk that is full is waited for; at the end it costs the index alone
    net_log_place place; ///< with `segment`: it goes on after FILE.before, which takes its name
    bool has_values;     ///< of a match: it is to have values
    uint64_t now_unix_ms; ///< when that began
    char build[64];       ///< of its header
} net_log_file_config;

typedef net_log_writer net_log_file;

/// Write what a log has up to a tick as a closed segment `output` of a log that goes on: without a
/// close record, signed where there is a key. Its header demands `features` besides.
/// @return as net_log_copy; with NET_OK *place is where the log goes on. Its number says whether it
///         has the first tick.
BASE_MUST_USE net_result net_log_copy_segment(net_log_reader* reader, const char* output,
                                              ecs_tick last, uint64_t features,
                                              const net_log_secret_key* sign_key,
                                              const base_reporter* reporter, net_log_place* place);
/// The name of the segment that a log goes on after, until FILE is there.
BASE_MUST_USE bool net_log_before_name(char* target, size_t target_bytes, const char* file);
/// @return The configuration that net_log_writer_create uses.
net_log_file_config net_log_file_config_default(const char* file, uint32_t tick_rate_hz);
/// Ticks between two keyframes: these seconds, rounded up to whole blocks, since a keyframe is
/// between two.
uint32_t net_log_keyframe_ticks(uint32_t seconds, uint32_t tick_rate_hz, uint32_t block_ticks);

/// Create FILE and FILE.queue, write prologue and header block (a packed Header message), start the
/// thread. A log that lies there becomes FILE.N (log_queue.h). With has_patience a full disk is
/// reported, and the rest follows later. @return NET_OK; NET_ERR_DISK, NET_ERR_IO (reported).
BASE_MUST_USE net_result net_log_file_create(const net_log_file_config* config, const void* header,
                                             size_t header_bytes, const base_reporter* reporter,
                                             net_log_file** file);
/// Does the log take records? Not after it stopped, and not while they are left out because the
/// disk takes none.
bool net_log_file_takes(const net_log_file* file);
/// Begin the next record. @return the draft to write its body into; NULL when neither the log nor a
/// tap takes it.
net_log_draft* net_log_file_begin(net_log_file* file);
/// Push the draft as a record.
void net_log_file_end(net_log_file* file, net_log_kind kind, ecs_tick tick);
/// A tick ends: count it, and begin its keyframe; its end record comes next. @return where to save
/// the match to; NULL when no keyframe is due.
base_bytes* net_log_file_begin_keyframe(net_log_file* file, ecs_tick tick);
/// Pass the save on to the log's thread. One that failed or is too long is dropped.
void net_log_file_end_keyframe(net_log_file* file, ecs_tick tick);
/// net_observer.may_exchange: no while the keyframe before is not written.
bool net_log_file_may_exchange(const void* file);
/// The next keyframe, which is due now, begins a segment with this header. While records are left
/// out, it is the first keyframe after the gap.
void net_log_file_exchange(net_log_file* file, const void* header, size_t header_bytes);
/// Stop logging. The first text is kept for the operator.
void net_log_file_fail(net_log_file* file, const char* text);
/// @return Bytes of the segment that is written.
uint64_t net_log_file_bytes(const net_log_file* file);
/// Do what the thread does: write full blocks; with `all` also a block that is not full.
void net_log_file_pump(net_log_file* file, bool all);
/// Write what is queued, sync, and end the thread. After stall_ms_max without an answer of the disk
/// it gives up. No record may follow. @return NET_OK; NET_ERR_IO (net_log_take_failure has the
/// reason).
net_result net_log_file_finish(net_log_file* file);
/// net_log_file_finish, unless it was called; remove the queue (kept after a failure and without an
/// end record: it shows what the file lacks); free. A thread that still waits for the disk keeps
/// its memory.
net_result net_log_file_destroy(net_log_file* file);

// ---- the last seconds ----

// The last seconds of a log in memory: copies of its blocks, from a keyframe on.
//
// The blocks are those of the file, byte for byte. So a save is a copy of them as of a later
// segment of the log (proto/LOG.md, "Segments").
//
// Shape:   a group of blocks begins with a keyframe, or with the log. Whole groups are dropped,
//          the oldest first: when they are older than `ticks_min`, and when there is no room.
// Memory:  taken at init; nothing later.
// Threads: the log's thread.

/// A ring of more groups drops the oldest.
#define NET_LOG_RING_GROUPS_MAX 1024u

typedef struct net_log_ring_group {
    ecs_tick tick;  ///< of its keyframe; 0: the log begins here
    uint64_t start; ///< of its first block, in bytes ever added
} net_log_ring_group;

typedef struct net_log_ring {
    uint8_t* memory; ///< NULL: there is no ring
    uint64_t capacity;
    ecs_tick ticks_min;
    uint64_t head;      ///< bytes ever added
    uint64_t data_end;  ///< end of the newest data block; 0: there is none
    ecs_tick last_tick; ///< of that block
    uint32_t count;     ///< 0: blocks are dropped until a group begins
    net_log_ring_group groups[NET_LOG_RING_GROUPS_MAX]; ///< by rising start
} net_log_ring;

/// Take memory for `capacity` bytes, which its owner gives back, and begin the group of the log's
/// start.
void net_log_ring_init(net_log_ring* ring, const base_allocator* allocator, uint64_t capacity,
                       ecs_tick ticks_min);
/// A keyframe of `tick` follows. After a gap nothing before it is of use, and it is dropped.
void net_log_ring_begin(net_log_ring* ring, ecs_tick tick);
/// Copy a block, with its header.
void net_log_ring_add(net_log_ring* ring, const net_log_block* block, const uint8_t* data,
                      size_t size);
/// Forget what was added after `head`: the file could not take all of it.
void net_log_ring_undo(net_log_ring* ring, uint64_t head);
/// The group with which a save of the newest ticks_min ticks begins. @return count: there is none.
uint32_t net_log_ring_find(const net_log_ring* ring);
/// Bytes at a place, as far as they lie in one piece, which *size is then.
const uint8_t* net_log_ring_at(const net_log_ring* ring, uint64_t at, size_t* size);
/// Check groups and places (asserts).
void net_log_ring_validate(const net_log_ring* ring);

// ---- commands for closed segments ----

// A command of the operator that is run for each closed segment (--log on-close), with the
// segment's file as its only argument. No shell reads either of them.

#define NET_LOG_COMMANDS_MAX 8u ///< that run at the same time

typedef struct net_log_command {
    const char* program; ///< NULL: none
    pid_t running[NET_LOG_COMMANDS_MAX];
    uint32_t running_count;
    uint64_t failures; ///< could not start, or ended with another code than 0
} net_log_command;

/// Start the command and do not wait for it. @return false when NET_LOG_COMMANDS_MAX run already:
/// try again later. With `is_end` (of the process that logs) it starts all the same, and its exit
/// code is not read. A command that cannot be started counts as a failure.
bool net_log_command_start(net_log_command* command, const char* file, bool is_end);
/// Look which commands have ended, without waiting.
void net_log_command_reap(net_log_command* command);

// ---- the inside ----

// For the files of the writer only: threads, life and the queue (log_file.c), blocks and the disk
// (log_put.c), keyframes and segments (log_rotate.c), a save of the ring (log_ring_save.c).

/// The log's thread looks at the queue so often.
#define NET_LOG_WAKE_MS 20u
/// And so often after so many looks that found none but `alive`: another kind wakes it.
#define NET_LOG_REST_MS 5000u
#define NET_LOG_QUIET_LOOKS 100u

/// Of the log's thread: what net_log_counters counts there. Read by the simulation's.
typedef struct net_log_file_counts {
    _Atomic uint64_t bytes, segments_closed, segments_deleted, segments_unstored;
    _Atomic uint64_t keyframes, commands_failed;
    _Atomic uint64_t saves, saves_failed;
} net_log_file_counts;

struct net_log_writer {
    base_owner owner;
    net_log_file_config config;
    int fd;
    net_log_queue queue;

    // Of a match's records (log_write.c).
    ecs_tick tick;   // of the newest record
    bool has_views;  // the module rewinds: inputs are written with their moment
    bool is_in_tick; // between begin and end
    bool is_closed;
    bool is_controlled;  // since the newest tick: no tick ran with what was done
    uint64_t state_hash; // after the last whole tick
    uint32_t full_ticks;
    uint64_t segments; // that were closed before the last full state
    net_log_sums sums;
    net_log_recorder* recorder; // NULL: a log without values
    net_history* history;       // of a writer without a server; made with its first tick

    // Of the simulation's thread.
    net_log_draft draft;
    uint64_t next_number;
    ecs_tick pushed_tick;     // of the newest record
    ecs_tick ended_tick;      // the newest one
    uint64_t pushed_ends;     // end records
    uint64_t resumed_ends;    // up to resumed_tick
    bool has_close;           // the end record was pushed
    bool is_left_news;        // to be told to the operator
    bool is_resumed_news;     // and this
    bool is_trouble_reported; // that there is any
    bool is_gone_reported;    // segment_gone
    int seen_trouble;         // while the simulation waited
    ecs_tick left_out_from;   // the first such tick
    ecs_tick resumed_tick;    // the log goes on after it: its own end record is left out too
    uint64_t keyframes_dropped, ticks_waited;
    uint64_t long_bytes; // of the first save that is too long for a keyframe, after long_tick
    ecs_tick long_tick;
    bool is_long_reported;
    uint64_t reported_failures, reported_unstored; // of the program for closed segments
    bool is_exchange_due;                          // the next keyframe is of another match

    // Records are left out because the queue is full, or is not there yet. The simulation's thread
    // sets it. Until there is a keyframe it pushes nothing, and nothing completes the block in the
    // making.
    _Atomic bool is_leaving_out;
    // Of the log's thread. An errno: the disk takes nothing. Below 0, an errno too: the folder
    // takes no new segment.
    _Atomic int trouble;
    _Atomic bool is_open;          // FILE and FILE.queue are there
    _Atomic uint32_t segment_gone; // a closed one that another process took away; 0: none
    // Blocks that are still to be short. The simulation's thread sets it, the log's counts it down.
    _Atomic uint32_t short_blocks;
    _Atomic bool is_resting; // the log's thread

    // A keyframe on its way. The simulation's thread has it until is_offered, then the log's.
    base_bytes save;
    ecs_tick save_tick;
    _Atomic bool is_offered;
    base_bytes next_header; // goes with it: a segment has to begin; empty: none

    // A save of the ring on its way. The simulation's thread has it when it is free or done, the
    // log's when it is asked for.
    _Atomic int save_state;
    net_log_saved saved;

    // Of the log's thread.
    net_log_packer packer;
    base_bytes header; // of later segments: its last field says so
    uint8_t* payload;
    uint32_t payload_bytes;
    net_log_block block;   // in the making
    uint64_t cursor;       // in the queue: next record to look at
    uint64_t block_cursor; // in the queue: end of the block's records
    uint64_t next_ordinal;
    uint64_t next_record; // number of the next one to append to a block
    ecs_tick synced_tick;
    net_log_index index;                  // of this segment
    uint32_t header_age;                  // keyframes since the last copy of the header
    ecs_tick segment_tick;                // the segment begins after it
    uint32_t segment_first, segment_next; // closed ones that are there: first..next-1
    uint32_t segment_reported;            // the next one to run the command for
    bool is_last_due, is_last_reported;   // the command for FILE
    net_log_ring ring;
    uint64_t saved_bytes; // of all saves
    net_log_command command;
    int wait_error;      // not 0: the disk is full; the block in the making is complete
    uint32_t wait_wakes; // until the next try
    uint32_t quiet_looks;
    int segment_error; // of the newest try to begin one
    bool is_stopped;

    net_log_file_counts counts;
    _Atomic uint64_t bytes;
    _Atomic int failure_state;
    char failure[256];

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t room;
    bool is_stopping;  // under the mutex, as are the next two
    bool is_done;      // the thread does nothing more with the disk
    bool is_abandoned; // the thread frees the file
    bool is_finished;
};

/// Did logging stop?
bool net_log_file_has_failed(const net_log_file* file);
#define NET_LOG_WRITE_FAILED "the log cannot be written"
/// Empty the block in the making.
void net_log_file_reset_block(net_log_file* file);
/// Write all of a record's or block's bytes to a descriptor of this log; errno has the reason.
BASE_MUST_USE bool net_log_file_put(net_log_file* file, int fd, const uint8_t* data, size_t size);
/// A full disk may have room again. Without keyframes there would be no way back from a full queue.
bool net_log_file_may_wait(const net_log_file* file, int error);
/// The file ends at a place again. @return false when it does not (errno).
BASE_MUST_USE bool net_log_file_cut(net_log_file* file, uint64_t bytes);
/// Sync a descriptor of this log, whatever signals come. @return false: it failed (errno).
BASE_MUST_USE bool net_log_file_flush(net_log_file* file, int fd);
/// Write bytes after the last block. On a full disk the log begins to wait; other failures end it.
/// @return false: the file is as it was before.
BASE_MUST_USE bool net_log_file_append(net_log_file* file, const uint8_t* data, size_t size);
/// Is the file still the one of its name, and as long as it was written? A failure ends the log.
BASE_MUST_USE bool net_log_file_is_own(net_log_file* file);
/// Write the block of a payload after the last one. On a full disk the log begins to wait, and the
/// file is as it was before. @return false: nothing was written.
BASE_MUST_USE bool net_log_file_put_block(net_log_file* file, net_log_block* block,
                                          const uint8_t* payload, uint32_t payload_bytes);
/// A block of no records, at the place where the file ends.
net_log_block net_log_file_block_of(const net_log_file* file, net_log_block_type type,
                                    ecs_tick tick);
/// As net_log_file_flush; a failure ends the log.
BASE_MUST_USE bool net_log_file_sync(net_log_file* file, int fd);
#define NET_LOG_WHY_BYTES 128u
/// An errno in words.
void net_log_file_why(char reason[NET_LOG_WHY_BYTES], int error);
/// Note a failure with the text of an errno.
void net_log_file_fail_errno(net_log_file* file, const char* what, int error);

/// Ticks that ended without an end record in the log.
uint64_t net_log_file_ticks_lost(const net_log_file* file);
/// log_rotate.c: write the keyframe that was offered, when it is one before `tick` or of it; first
/// the block in the making. It begins a new segment when the one that is written is full.
/// @return false: the log waits or stopped; call it again with the same tick.
BASE_MUST_USE bool net_log_file_write_keyframe(net_log_file* file, ecs_tick tick);
/// Write the block in the making. @return as above.
BASE_MUST_USE bool net_log_file_write_block(net_log_file* file);

/// Prepare what create knows.
void net_log_file_init_segments(net_log_file* file, const void* header, size_t header_bytes);
/// Put the header of this segment into file->payload, as the only record. @return its bytes.
uint32_t net_log_file_put_header(const net_log_file* file);
/// Write prologue and header block of a file of this log, which begins with a keyframe or not, to a
/// descriptor. The block lies in the packer then. @return their bytes; 0: it failed (errno).
BASE_MUST_USE size_t net_log_file_put_start(net_log_file* file, int fd, bool is_part);
/// Write the index after the last block; a failure costs nothing but speed.
void net_log_file_write_index(net_log_file* file);
/// Are the closed segments that are there too many for the limits? Notes one that is gone.
bool net_log_file_is_over_limits(net_log_file* file);
/// Start commands for closed segments, and for FILE once it is closed. `is_end`: all of them now.
void net_log_file_run_commands(net_log_file* file, bool is_end);

/// log_ring_save.c: write the save that was asked for, once the tick of the call is in the ring. At
/// a moment without a block in the making. `is_end`: no further block follows.
void net_log_file_write_save(net_log_file* file, bool is_end);
