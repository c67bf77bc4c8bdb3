// SPDX-License-Identifier: MIT
/// The event log: written as the match runs, read back, run again. Format: proto/LOG.md.
///
/// Writing never blocks the simulation: records go into a queue in file-backed shared memory
/// (FILE.queue), a thread packs them into blocks. kill -9 loses nothing that was appended; a power cut
/// at most what the sync option says. When the disk fails the failure is kept for the operator, the log
/// ends at its last whole block, the game goes on.
#pragma once

#include "net/match.h"

#define NET_LOG_BLOCK_MS_MAX 250u
#define NET_LOG_BLOCK_BYTES_MAX (1u << 20) ///< of one block's payload, unpacked
#define NET_LOG_RECORD_BYTES_MAX (1u << 19)
#define NET_LOG_QUEUE_BYTES (8u << 20)

typedef struct net_log_writer net_log_writer;

/// Begin a log for a match (before its first tick): header, queue, writer thread. A log of that name is
/// kept as FILE.old, with its queue; one that another server writes is not touched.
/// @return NET_OK; NET_ERR_IO (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_writer_create(const base_allocator* allocator, const char* file,
                                               const net_match* match, const char* build,
                                               uint64_t now_unix_ms, const base_reporter* reporter,
                                               net_log_writer** writer);

typedef struct net_log_join {
    uint32_t client;
    const char* name;
    bool is_bot;
} net_log_join;
typedef struct net_log_leave {
    uint32_t client;
    uint32_t reason;
} net_log_leave;
typedef struct net_log_input {
    uint32_t client;
    uint32_t number;
    const void* payload; ///< NULL: the last one again
    uint32_t size;
    uint64_t seen; ///< as net_match_input_seen takes it; kept only when the module rewinds
} net_log_input;
typedef struct net_log_event {
    uint32_t client;
    uint32_t message;
    ecs_entity target;
    const void* payload;
    uint32_t size;
} net_log_event;

/// What enters tick N, in the order in which it is applied: leaves, joins, events, inputs.
typedef struct net_log_begin {
    ecs_tick tick;
    const net_log_leave* leaves;
    uint32_t leave_count;
    const net_log_join* joins;
    uint32_t join_count;
    const net_log_event* events;
    uint32_t event_count;
    const net_log_input* inputs;
    uint32_t input_count;
} net_log_begin;

/// Append before the step. When it returns, the record survives kill -9. Does not fail upward.
void net_log_append_begin(net_log_writer* writer, const net_log_begin* begin);
/// Append after the step and before ecs_changes_clear: hashes, changes and server events of this tick.
void net_log_append_end(net_log_writer* writer, net_match* match);
/// Append after the last append_end: a close record that has the world hash too. Optional.
void net_log_append_close(net_log_writer* writer, net_match* match);
/// For servers that outrun the disk on purpose (--fast): wait until the queue has room again.
void net_log_wait_room(net_log_writer* writer);
/// Drain, write the close record, remove the queue, free. After a failure there is no close record and
/// the queue stays: it has what the file lacks. @return NET_OK; NET_ERR_IO.
net_result net_log_writer_destroy(net_log_writer* writer);
/// True once after logging stopped by itself; `text` says why, for the operator.
bool net_log_take_failure(net_log_writer* writer, char* text, size_t text_bytes);

/// ---- reading ----

typedef struct net_log_reader net_log_reader;

typedef struct net_log_info {
    char game[NET_GAME_NAME_BYTES_MAX];
    char build[64];
    uint64_t identity, content_hash, schema_hash, seed, started_unix_ms;
    uint32_t tick_rate_hz, replicated_index_max, world_hash_every;
    ecs_tick first_tick, last_tick; ///< of whole ticks (begin and end present)
    uint64_t file_bytes, block_count, damaged_blocks, lost_bytes;
    uint64_t queue_records; ///< recovered from FILE.queue after a crash
    bool is_closed;         ///< a close record ends it
    bool is_cut;            ///< the tail is torn: the process died while writing
    uint32_t setting_count;
    char settings[NET_SETTINGS_MAX][64]; ///< "key=value"
} net_log_info;

/// Open and check every block. A torn tail is no error (is_cut). @return NET_OK; NET_ERR_IO;
///         NET_ERR_VERSION (reported: a later version wrote it, in a way that must not be skipped);
///         NET_ERR_DAMAGED (header unusable, or a block inside fails its checksum: reported as block and
///         tick range; the reader is still made when the header is whole, and yields what is before).
BASE_MUST_USE net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                               const base_reporter* reporter,
                                               net_log_reader** reader);
void net_log_reader_destroy(net_log_reader* reader);
const net_log_info* net_log_reader_info(const net_log_reader* reader);

/// Counts and packed bytes by kind of record.
typedef struct net_log_stats {
    uint64_t begins, ends, closes, others;
    uint64_t begin_bytes, end_bytes, close_bytes, other_bytes;
    uint64_t leaves, joins, client_events, inputs, input_repeats, server_events;
    uint64_t changes_bytes; ///< within end_bytes
} net_log_stats;
/// @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_log_read_stats(net_log_reader* reader, net_log_stats* stats);

/// ---- running again ----

/// A log being run again, a tick at a time. The reader belongs to it meanwhile.
typedef struct net_log_replay net_log_replay;
/// What the log says of the tick that was run.
typedef struct net_log_tick {
    ecs_tick tick;
    bool has_end; ///< false: the server died in this tick
    bool has_world_hash;
    uint64_t state_hash, world_hash;
    const uint8_t* changes; ///< proto/LOG.md, "Changes"; borrowed until the next step
    size_t changes_bytes;
} net_log_tick;

/// Make the match as the log's header says. The module must outlive it. A content hash that differs is
/// reported and tried. @return NET_OK; NET_ERR_SCHEMA (reported: what differs; also for a log of another
/// game); NET_ERR_MODULE; NET_ERR_DAMAGED (settings); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_create(net_log_reader* reader, const net_module* module,
                                               const base_reporter* reporter,
                                               net_log_replay** replay);
void net_log_replay_destroy(net_log_replay* replay);
net_match* net_log_replay_match(net_log_replay* replay);
/// Apply the next tick's records and step. The match is then as the server's was before it cleared its
/// change list; that is cleared at the next call.
/// @return NET_OK; NET_ERR_CLOSED (the end of the log); NET_ERR_DAMAGED (reported: records that no
///         match can take).
BASE_MUST_USE net_result net_log_replay_step(net_log_replay* replay, net_log_tick* tick);

/// What verification found. `component` is "-" when the tick alone is known.
typedef struct net_verify_result {
    bool is_diverged;
    ecs_tick ticks; ///< verified
    ecs_tick diverged_tick;
    char component[ECS_NAME_BYTES_MAX];
    ecs_entity entity;
    uint64_t state_hash, world_hash;
} net_verify_result;
/// Called after each re-run tick, before the change list is cleared. @return false to stop.
typedef bool (*net_verify_tick_fn)(void* context, net_match* match);
/// Run the log again and compare every hash in it. `until` 0: to its last whole tick; one more runs the
/// tick in which the server died, if its inputs are there.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_MODULE; NET_ERR_SCHEMA; NET_ERR_DAMAGED; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_verify(net_log_reader* reader, const net_module* module,
                                        ecs_tick until, net_verify_tick_fn each, void* context,
                                        const base_reporter* reporter, net_verify_result* result);
/// One JSON object per record, one per line. With the module (may be NULL) messages are decoded.
BASE_MUST_USE net_result net_log_dump(net_log_reader* reader, const net_module* module,
                                      ecs_line_fn line, void* context);
/// Prove a trace ("client=U entity=I:G tick=T row=<hex>" lines): each row equals the re-run server's at
/// that tick, ticks per client and entity never fall. Reports the first line that does not hold.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_MALFORMED; NET_ERR_IO; as net_log_verify.
BASE_MUST_USE net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                                             const char* trace_file, const base_reporter* reporter,
                                             uint64_t* rows_checked);
