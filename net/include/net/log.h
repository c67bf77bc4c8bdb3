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

/// Begin a log for a match (before its first tick): header, queue, writer thread.
/// @return NET_OK; NET_ERR_IO (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_writer_create(const base_allocator* allocator, const char* file,
                                               const net_match* match, const char* build,
                                               uint64_t now_unix_ms, const base_reporter* reporter,
                                               net_log_writer** writer);

typedef struct net_log_join { uint32_t client; const char* name; bool is_bot; } net_log_join;
typedef struct net_log_leave { uint32_t client; uint32_t reason; } net_log_leave;
typedef struct net_log_input { uint32_t client; uint32_t number; const void* payload; uint32_t size; } net_log_input; ///< payload NULL: the last one again
typedef struct net_log_event { uint32_t client; uint32_t message; ecs_entity target; const void* payload; uint32_t size; } net_log_event;

/// What enters tick N, in the order in which it is applied: leaves, joins, events, inputs.
typedef struct net_log_begin {
    ecs_tick tick;
    const net_log_leave* leaves; uint32_t leave_count;
    const net_log_join* joins;   uint32_t join_count;
    const net_log_event* events; uint32_t event_count;
    const net_log_input* inputs; uint32_t input_count;
} net_log_begin;

/// Append before the step. When it returns, the record survives kill -9. Does not fail upward.
void net_log_append_begin(net_log_writer* writer, const net_log_begin* begin);
/// Append after the step and before ecs_changes_clear: hashes, changes and server events of this tick.
void net_log_append_end(net_log_writer* writer, net_match* match);
/// Drain, write the close record, remove the queue, free. @return NET_OK; NET_ERR_IO.
net_result net_log_writer_destroy(net_log_writer* writer);
/// True once after logging stopped by itself; `text` says why, for the operator.
bool net_log_take_failure(net_log_writer* writer, char* text, size_t text_bytes);
uint64_t net_log_bytes(const net_log_writer* writer); ///< written to the file so far

/// ---- reading ----

typedef struct net_log_reader net_log_reader;

typedef struct net_log_info {
    char game[NET_GAME_NAME_BYTES_MAX];
    char build[64];
    uint64_t identity, content_hash, schema_hash, seed, started_unix_ms;
    uint32_t tick_rate_hz, replicated_index_max, world_hash_every;
    ecs_tick first_tick, last_tick;   ///< of whole ticks (begin and end present)
    uint64_t file_bytes, block_count, damaged_blocks, lost_bytes;
    uint64_t queue_records;           ///< recovered from FILE.queue after a crash
    bool is_closed;                   ///< a close record ends it
    bool is_cut;                      ///< the tail is torn: the process died while writing
    uint32_t setting_count;
    char settings[NET_SETTINGS_MAX][64]; ///< "key=value"
} net_log_info;

/// Open and check every block. A torn tail is no error (is_cut). @return NET_OK; NET_ERR_IO;
///         NET_ERR_DAMAGED (header unusable, or a block inside fails its checksum: reported as block and
///         tick range; the reader is still made when the header is whole, and yields what is before).
BASE_MUST_USE net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                               const base_reporter* reporter, net_log_reader** reader);
void net_log_reader_destroy(net_log_reader* reader);
const net_log_info* net_log_reader_info(const net_log_reader* reader);

/// Run the log again. `until` 0: to its end.
typedef struct net_verify_result {
    bool is_diverged;
    ecs_tick ticks;            ///< verified
    ecs_tick diverged_tick;
    char component[ECS_NAME_BYTES_MAX];
    ecs_entity entity;
    uint64_t state_hash, world_hash;
} net_verify_result;
/// Called after each re-run tick, before the change list is cleared. @return false to stop.
typedef bool (*net_verify_tick_fn)(void* context, net_match* match);
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_MODULE; NET_ERR_SCHEMA; NET_ERR_DAMAGED; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_verify(net_log_reader* reader, const net_module* module,
                                        ecs_tick until, net_verify_tick_fn each, void* context,
                                        const base_reporter* reporter, net_verify_result* result);
/// One JSON object per record, one per line.
BASE_MUST_USE net_result net_log_dump(net_log_reader* reader, const net_module* module,
                                      ecs_line_fn line, void* context);
/// Prove a trace ("client=U entity=I:G tick=T row=<hex>" lines): each row equals the re-run server's at
/// that tick, ticks per client and entity never fall. Reports the first line that does not hold.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_MALFORMED; NET_ERR_IO; as net_log_verify.
BASE_MUST_USE net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                                             const char* trace_file, const base_reporter* reporter,
                                             uint64_t* rows_checked);
