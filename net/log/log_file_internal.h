// SPDX-License-Identifier: MIT
/// Private to the log's file: its threads and life (log_file.c), its records and the queue
/// (log_pump.c), blocks and the disk (log_put.c), keyframes (log_offer.c), segments (log_rotate.c),
/// the last seconds (log_ring_save.c).
#pragma once

#include "log/log_block.h"
#include "log/log_command.h"
#include "log/log_file.h"
#include "log/log_index.h"
#include "log/log_keyframe.h"
#include "log/log_queue.h"
#include "log/log_ring.h"

#include <pthread.h>
#include <stdatomic.h>

/// The log's thread looks at the queue so often.
#define NET_LOG_WAKE_MS 20u

/// Of the log's thread: what net_log_counters counts there. Read by the simulation's.
typedef struct net_log_file_counts {
    _Atomic uint64_t bytes, segments_closed, segments_deleted, keyframes, commands_failed;
    _Atomic uint64_t saves, saves_failed;
} net_log_file_counts;

struct net_log_file {
    net_log_file_config config;
    int fd;
    net_log_queue queue;

    // Of the simulation's thread.
    net_log_draft draft;
    uint64_t next_number;
    ecs_tick pushed_tick;   // of the newest record
    ecs_tick ended_tick;    // the newest one
    uint64_t pushed_ends;   // end records
    uint64_t resumed_ends;  // up to resumed_tick
    bool has_close;         // the end record was pushed
    bool is_left_news;      // to be told to the operator
    bool is_resumed_news;   // and this
    bool is_trouble_told;   // that there is any
    int seen_trouble;       // while the simulation waited
    ecs_tick left_out_from; // the first such tick
    ecs_tick resumed_tick;  // the log goes on behind it: its own end record is left out too
    uint64_t keyframes_dropped, ticks_waited;

    // Records are left out because the queue is full, or is not there yet. The simulation's thread
    // sets it. Until there is a keyframe it pushes nothing, and nothing completes the block in the
    // making.
    _Atomic bool is_leaving_out;
    // Of the log's thread. An errno: the disk takes nothing. Below 0, an errno too: the folder
    // takes no new segment.
    _Atomic int trouble;
    _Atomic bool is_open; // FILE and FILE.queue are there

    // A keyframe on its way. The simulation's thread has it until is_offered, then the log's.
    base_bytes save;
    ecs_tick save_tick;
    _Atomic bool is_offered;

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
    ecs_tick segment_tick;                // the segment begins behind it
    uint32_t segment_first, segment_next; // closed ones that are there: first..next-1
    uint32_t segment_told;                // the next one to run the command for
    uint64_t closed_bytes;
    net_log_ring ring;
    uint64_t saved_bytes; // of all saves
    net_log_command command;
    int wait_error;      // not 0: the disk is full; the block in the making is complete
    uint32_t wait_wakes; // until the next try
    int segment_error;   // of the newest try to begin one
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
/// Write bytes behind the last block. On a full disk the log begins to wait; other failures end it.
/// @return false: the file is as it was before.
BASE_MUST_USE bool net_log_file_append(net_log_file* file, const uint8_t* data, size_t size);
/// Is the file still the one of its name, and as long as it was written? A failure ends the log.
BASE_MUST_USE bool net_log_file_is_own(net_log_file* file);
/// Write the block of a payload behind the last one. On a full disk the log begins to wait, and the
/// file is as it was before. @return false: nothing was written.
BASE_MUST_USE bool net_log_file_put_block(net_log_file* file, net_log_block* block,
                                          const uint8_t* payload, uint32_t payload_bytes);
/// A block of no records, at the place where the file ends.
net_log_block net_log_file_block_of(const net_log_file* file, net_log_block_type type,
                                    ecs_tick tick);
/// Sync a descriptor of this log. A failure ends the log.
BASE_MUST_USE bool net_log_file_sync(net_log_file* file, int fd);
/// Note a failure with the text of an errno.
void net_log_file_fail_errno(net_log_file* file, const char* what, int error);

/// Ticks that ended without an end record in the log.
uint64_t net_log_file_ticks_lost(const net_log_file* file);
/// log_offer.c: write the keyframe that was offered, when it is one before `tick` or of it; first
/// the block in the making. It begins a new segment when the one that is written is full.
/// @return false: the log waits or stopped; call it again with the same tick.
BASE_MUST_USE bool net_log_file_write_keyframe(net_log_file* file, ecs_tick tick);
/// Write the block in the making. @return as above.
BASE_MUST_USE bool net_log_file_write_block(net_log_file* file);

/// log_rotate.c: prepare what create knows. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_file_init_segments(net_log_file* file, const void* header,
                                                    size_t header_bytes);
/// Close the segment and begin the next one, when it is time. Without a success it goes on in the
/// same file. @return false: the log stopped.
BASE_MUST_USE bool net_log_file_rotate(net_log_file* file, ecs_tick tick);
/// Put the header of this segment into file->payload, as the only record. @return its bytes.
uint32_t net_log_file_put_header(const net_log_file* file);
/// As net_log_file_put_header, for a file that begins with a keyframe or not. @return its bytes.
uint32_t net_log_file_put_header_as(const net_log_file* file, bool is_part);
/// Write the index behind the last block; a failure costs nothing but speed.
void net_log_file_write_index(net_log_file* file);
/// Start commands for closed segments. `with_last`: also for FILE, which is closed.
void net_log_file_run_commands(net_log_file* file, bool with_last);

/// log_ring_save.c: write the save that was asked for, once the tick of the call is in the ring. At
/// a moment without a block in the making. `is_end`: no further block follows.
void net_log_file_write_save(net_log_file* file, bool is_end);

/// Create FILE and FILE.queue, write prologue and header block, and sync. @return NET_OK;
/// NET_ERR_DISK, NET_ERR_IO (reported). After an error neither of them is there.
BASE_MUST_USE net_result net_log_file_open(net_log_file* file, const base_reporter* reporter);
/// The last bytes reach the disk, and the file is still the one of its name. A failure is noted.
void net_log_file_end_disk(net_log_file* file);
