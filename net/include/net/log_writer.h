// SPDX-License-Identifier: MIT
/// Writing the event log of a match while it runs. Format: proto/LOG.md.
///
/// Writing never blocks the simulation: a record goes into a queue in file-backed shared memory
/// (FILE.queue), a thread of the writer packs records into blocks and writes them to FILE. kill -9
/// loses no appended record (the state of the newest tick is appended with the next one); a power
/// cut loses at most what the sync option says. When the disk fails, the log ends with its last
/// whole block, the reason is kept for the operator, and the match goes on. While a disk is full or
/// too slow, records wait in the queue; when that is full too, and while a disk that was full at
/// the start has no room yet, ticks are left out, and the log goes on with a keyframe as soon as
/// there is room. Each such tick is counted at once.
/// Threads: the simulation's thread calls all functions here.
/// Memory: taken in create; the copy of a keyframe grows with the match.
#pragma once

#include "net/match.h"

#include <sys/types.h>

BASE_C_BEGIN

typedef struct net_log_writer net_log_writer;

#define NET_LOG_BUDGET_BYTES_DEFAULT (UINT64_C(2) << 30)
#define NET_LOG_SEGMENT_BYTES_DEFAULT (UINT64_C(256) << 20)
#define NET_LOG_RING_BYTES_DEFAULT (UINT64_C(64) << 20)
#define NET_LOG_RING_SECONDS_MAX 3600u

typedef enum net_log_sync {
    NET_LOG_SYNC_SECOND, ///< a power cut loses at most the last second (the default)
    NET_LOG_SYNC_BLOCK,  ///< the last block: 1 s
    NET_LOG_SYNC_END,    ///< what the system had not written: synced at the end of each segment
} net_log_sync;

/// How a log is cut into segments. The one that is written is FILE; with the keyframe after which
/// it is closed it becomes FILE.seg0001, .seg0002, ... Each can be read alone from its keyframe on.
typedef struct net_log_segments {
    uint64_t bytes_max;    ///< of a segment; 0: no limit
    uint32_t seconds_max;  ///< of match time in a segment; 0: no limit
    uint32_t kept_max;     ///< closed segments; the oldest ones are deleted. 0: no limit
    uint64_t budget_bytes; ///< of all segments; the oldest ones are deleted. 0: no limit
    const char* on_close;  ///< program to run with the name of a closed segment; NULL: none
} net_log_segments;

/// What a log holds of each tick beside inputs, events and hashes.
typedef enum net_log_content {
    NET_LOG_CONTENT_STATE,  ///< the values of replicated components (net/log_state.h; the default)
    NET_LOG_CONTENT_INPUTS, ///< a sum for each component that changed
} net_log_content;

/// How a log's files are made and written; tests put faults in here. NULL: as the system does it.
/// Errors are those of the system, in errno.
typedef struct net_log_file_ops {
    ssize_t (*write)(void* context, int fd, const void* data, size_t size);
    int (*sync)(void* context, int fd);
    void* context;
    int (*create)(void* context, const char* file); ///< of a segment; as base_file_create
} net_log_file_ops;

typedef struct net_log_options {
    net_log_segments segments;
    net_log_sync sync;
    net_log_content content;
    /// Keep the last seconds in memory as well, for net_log_save; at most NET_LOG_RING_SECONDS_MAX.
    /// 0: none.
    uint32_t ring_seconds;
    uint64_t ring_bytes; ///< of that memory; it keeps fewer seconds where they need more
    bool has_controls;   ///< net_log_append_control may be called: the header says so
    bool is_in_memory;   ///< no file is written: ring_seconds are all that there is
    /// Of the records that wait for the disk; a power of two from 64 to 8 MiB, which is also what 0
    /// means. A record that is longer than half of it ends the log.
    uint64_t waiting_bytes;
    net_log_file_ops ops;
    bool is_manual; ///< no thread: net_log_pump does its work
} net_log_options;
/// @return Segments of NET_LOG_SEGMENT_BYTES_DEFAULT, at most NET_LOG_BUDGET_BYTES_DEFAULT.
net_log_options net_log_options_default(void);

/// What a writer did so far.
typedef struct net_log_counters {
    uint64_t bytes;            ///< written, those of deleted segments too
    uint64_t segments_closed;  ///< by rotation
    uint64_t segments_deleted; ///< over a limit
    uint64_t keyframes;
    uint64_t keyframes_dropped; ///< too long, or the one before was not packed yet
    /// Ticks that ended and are neither in the log nor wait for the disk. Those behind a gap, too,
    /// until the keyframe with which the log goes on is written: then it falls by their number.
    uint64_t ticks_lost;
    uint64_t ticks_waited;    ///< that ended while the disk took nothing, or no new segment
    uint64_t commands_failed; ///< of net_log_segments.on_close
    uint64_t saves;           ///< of the last seconds, that are whole files
    uint64_t saves_failed;    ///< no room on the disk, over the budget, nothing to save, too many
} net_log_counters;

/// Create FILE, FILE.queue and the thread, for a match before its first tick. An older log with
/// this name becomes FILE.N, with its queue; N is above all that are there. A log that another
/// server writes is not touched. `build` names the program's version. The caller owns the writer;
/// *writer is NULL after an error.
/// @return NET_OK, also when the disk is full (reported): the log begins when there is room;
///         NET_ERR_DISK (reported: the disk is broken; a match can run without its log);
///         NET_ERR_IO (reported: the name is wrong or taken); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_writer_create(const base_allocator* allocator, const char* file,
                                               const net_match* match, const char* build,
                                               uint64_t now_unix_ms, const base_reporter* reporter,
                                               net_log_writer** writer);
/// As net_log_writer_create, with options; `options` is copied, its texts must outlive the writer.
/// @return NET_OK; NET_ERR_DISK, NET_ERR_IO (reported: net_log_writer_create says when);
///         NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_writer_create_as(const base_allocator* allocator, const char* file,
                                                  const net_log_options* options,
                                                  const net_match* match, const char* build,
                                                  uint64_t now_unix_ms,
                                                  const base_reporter* reporter,
                                                  net_log_writer** writer);
/// @return the log's identity: no other log has it.
uint64_t net_log_writer_identity(const net_log_writer* writer);
/// Write all queued records to the disk, and a close record when net_log_append_close did not.
/// Nothing may be appended afterwards. A disk that takes nothing for 5 s is given up. @return
/// NET_OK; NET_ERR_IO (the log is incomplete: net_log_take_failure has the reason, and FILE.queue
/// has what FILE lacks).
net_result net_log_writer_finish(net_log_writer* writer);
/// Write all queued records and, unless net_log_append_close did, a close record; remove
/// FILE.queue; free the writer. After a failure there is no close record and FILE.queue stays,
/// because it holds what FILE lacks. NULL does nothing. @return NET_OK; NET_ERR_IO (the log is
/// incomplete).
net_result net_log_writer_destroy(net_log_writer* writer);

typedef struct net_log_leave {
    uint32_t client;
    uint32_t reason; ///< a net_end (net/end.h)
} net_log_leave;
typedef struct net_log_input {
    uint32_t client;
    uint32_t number;     ///< the client's count of its inputs
    const void* payload; ///< packed; NULL: the last one is repeated
    uint32_t size;
    uint64_t seen; ///< as for net_match_input_seen; written only when the module rewinds
} net_log_input;
typedef struct net_log_event {
    uint32_t client;
    uint32_t message; ///< position in the module's table + 1
    ecs_entity target;
    const void* payload; ///< packed
    uint32_t size;
    uint32_t number; ///< the client's count of its reliable events; 0: an unreliable one
} net_log_event;

#define NET_LOG_VERB_BYTES_MAX 32u ///< of a control, with its NUL
#define NET_LOG_ARGUMENTS_MAX 16u
/// Of a control: any bytes.
typedef struct net_log_argument {
    const void* data;
    size_t size;
} net_log_argument;

/// What enters a tick, in the order in which it is applied: leaves, joins, events, inputs.
/// Borrowed for the call.
typedef struct net_log_begin {
    ecs_tick tick; ///< the last one + 1
    const net_log_leave* leaves;
    uint32_t leave_count;
    const net_game_player* joins;
    uint32_t join_count;
    const net_log_event* events;
    uint32_t event_count;
    const net_log_input* inputs;
    uint32_t input_count;
} net_log_begin;

/// Append what enters a tick, before the step. When it returns, the record survives kill -9. After
/// a failure it does nothing.
void net_log_append_begin(net_log_writer* writer, const net_log_begin* begin);
/// Append what an operator does to the match before its next tick: the verb, of [a-z_], and
/// arguments. Between net_log_append_end and net_log_append_begin, of a log with has_controls. Do
/// it to the match only when this returns NET_OK: a re-run does the same in front of the tick's
/// leaves.
/// @return NET_OK (also when logging stopped); NET_ERR_FULL (too long for a record).
BASE_MUST_USE net_result net_log_append_control(net_log_writer* writer, const char* verb,
                                                const net_log_argument* arguments, uint32_t count);
/// Why no tick runs.
typedef enum net_log_alive {
    NET_LOG_ALIVE_WAITING = 1, ///< for players
    NET_LOG_ALIVE_PAUSED,
    NET_LOG_ALIVE_SETTLING, ///< the last tick is over; clients get the rest
} net_log_alive;
/// Silence of a log that has no close means that its server is dead. So a server appends this so
/// often while no tick runs.
#define NET_LOG_ALIVE_MS 100u
/// Append that the server lives. Within a tick, and behind the close, it does nothing.
void net_log_append_alive(net_log_writer* writer, net_log_alive reason);
/// Append hashes, sums and server events of the tick, after the step and before
/// ecs_changes_clear.
void net_log_append_end(net_log_writer* writer, net_match* match);
/// As net_log_append_end, with the rows of a server's history (state/history.h) that made this
/// tick's step: nothing is quantised twice. Either every tick is appended with the same history, or
/// none. The history is read until the next append_begin, append_close or the writer's end.
struct net_history;
void net_log_append_end_rows(net_log_writer* writer, net_match* match,
                             const struct net_history* history);
/// Append a close record with the world hash, after the last append_end. Optional:
/// net_log_writer_destroy writes one without.
void net_log_append_close(net_log_writer* writer, net_match* match);
/// With net_log_options.is_manual: do what the log's thread does each 20 ms. A disk that was full
/// is asked again each time.
void net_log_pump(net_log_writer* writer);
/// Wait until the queue is at most half full. For servers that run faster than the disk (--fast).
void net_log_wait_room(net_log_writer* writer);
/// @return true once, after logging stopped because of a failure; `text` gets the reason.
bool net_log_take_failure(net_log_writer* writer, char* text, size_t text_bytes);
/// Ask until it returns false. @return true when the disk, or the folder of a new segment, began or
/// ceased to take nothing, and when ticks began or ceased to be left out, once each; `text` says
/// it.
bool net_log_take_note(net_log_writer* writer, char* text, size_t text_bytes);
/// A save of the last seconds: a whole log of its own.
typedef struct net_log_saved {
    char file[512];
    ecs_tick first_tick, last_tick;
    uint64_t bytes;
    char failure[160]; ///< why there is no such file; empty: it is whole
} net_log_saved;

/// Save the last net_log_options.ring_seconds, up to the newest tick that was appended, as a log
/// that opens, verifies and plays like any other. It begins with the keyframe before them, so it
/// has up to 10 s more; with fewer in memory it has those. The log's thread writes it when that
/// tick's block is complete (1 s at the most; while no tick runs it may wait for the next one). The
/// file is the log's name, without ".slog", and ".saved-TICK-NAME.slog"; what `name` has besides
/// a-z, A-Z, 0-9, - and _ becomes _, and it may be empty. All saves together stay within
/// net_log_segments.budget_bytes.
/// @return NET_OK: net_log_take_saved tells what became of it; NET_ERR_FULL: the save before is not
///         taken yet; NET_ERR_CLOSED: there is no ring, or logging stopped.
BASE_MUST_USE net_result net_log_save(net_log_writer* writer, const char* name);
/// @return true once for each net_log_save that returned NET_OK, when it is done.
bool net_log_take_saved(net_log_writer* writer, net_log_saved* saved);

/// What was done so far. Exact after net_log_writer_finish.
net_log_counters net_log_get_counters(const net_log_writer* writer);

BASE_C_END
