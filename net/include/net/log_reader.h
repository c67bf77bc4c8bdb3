// SPDX-License-Identifier: MIT
/// Reading an event log without its game: header, statistics, records as JSON. Format:
/// proto/LOG.md.
///
/// The files are untrusted. Create looks at the start, the end and the headers of blocks, so a log
/// of hours opens at once. A walk reads block by block and checks each. Damage that a walk finds is
/// reported once and counted in the info; the walk goes on at the next keyframe.
///
/// A log that was written in segments (FILE.seg0001, ..., FILE) is one log when FILE is opened. One
/// segment that is opened by its own name is a log of its ticks.
/// Threads: one thread at a time. A reader serves one walk, replay or playback at a time.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "net/module.h"

BASE_C_BEGIN

typedef struct net_log_reader net_log_reader;

/// What the header says and what the opening check found.
typedef struct net_log_info {
    char game[NET_GAME_NAME_BYTES_MAX];
    char build[64]; ///< of the program that wrote it
    uint64_t identity, content_hash, schema_hash, seed, started_unix_ms;
    uint32_t tick_rate_hz, replicated_index_max, world_hash_every;
    uint32_t untracked_values; ///< that a tick's sums are about; 0: they are of tracked ones alone
    ecs_tick first_tick, last_tick; ///< of whole ticks: those with begin and end record
    uint32_t segment_count, keyframe_count;
    uint64_t file_bytes, block_count; ///< of all segments
    uint64_t damaged_blocks;          ///< found so far, as are the next two
    uint64_t lost_ticks;              ///< between first_tick and last_tick
    uint64_t lost_bytes;    ///< at least 1 when something is lost and nothing shows how much
    uint64_t queue_records; ///< recovered from FILE.queue after a crash
    bool is_closed;         ///< a close record ends it
    bool is_cut;            ///< the tail is torn: the process died while writing
    bool is_damaged;        ///< blocks or segments inside of it are damaged, missing or changed
    bool is_hashed; ///< after net_log_reader_check: each file ends with the right running hash
    uint32_t setting_count;
    char settings[NET_SETTINGS_MAX][64]; ///< "key=value"
} net_log_info;

/// Open a log. A torn tail is not an error (is_cut). The caller owns the reader; what `reporter`
/// borrows must outlive it.
/// @return NET_OK; NET_ERR_IO (reported); NET_ERR_MEMORY; NET_ERR_VERSION (reported: a later
///         version wrote it and this one must not skip the difference); NET_ERR_DAMAGED (reported:
///         no header can be read and *reader is NULL; or blocks are damaged, then *reader yields
///         the records that can be used).
BASE_MUST_USE net_result net_log_reader_create(const base_allocator* allocator, const char* file,
                                               const base_reporter* reporter,
                                               net_log_reader** reader);
/// NULL does nothing.
void net_log_reader_destroy(net_log_reader* reader);
/// Borrowed; lives as long as the reader.
const net_log_info* net_log_reader_info(const net_log_reader* reader);

/// Read and check every block, once: what the info says about damage is final then. It is a walk of
/// its own, so a replay or playback of the reader does not go on after it.
/// @return NET_OK; NET_ERR_DAMAGED (reported).
BASE_MUST_USE net_result net_log_reader_check(net_log_reader* reader);
/// The verdict on a log, after net_log_reader_check: "whole"; "cut" (is_cut); "damaged" (any block
/// of it is not whole, or missing). Programs say no other.
const char* net_log_reader_verdict(net_log_reader* reader);

/// A place from which the match can run again without the ticks before it: its state after a tick.
/// Usable with the build and the content that wrote the log.
typedef struct net_log_keyframe {
    ecs_tick tick;
    uint64_t offset; ///< of its first block
} net_log_keyframe;
/// All keyframes by rising tick. Their bytes are checked when they are used. Borrowed; they live as
/// long as the reader.
const net_log_keyframe* net_log_reader_keyframes(const net_log_reader* reader, uint32_t* count);

/// Counts and packed bytes by kind of record.
typedef struct net_log_stats {
    uint64_t begins, ends, closes, states, controls, alives, others;
    uint64_t begin_bytes, end_bytes, close_bytes, state_bytes, control_bytes, alive_bytes,
        other_bytes;
    uint64_t leaves, joins, client_events, inputs, input_repeats, server_events;
    uint64_t changes_bytes; ///< part of end_bytes
} net_log_stats;
/// Count all records. @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened).
BASE_MUST_USE net_result net_log_read_stats(net_log_reader* reader, net_log_stats* stats);

/// Write the log as JSON: one object per line, first the header, then each record. With the module
/// (may be NULL) messages are decoded, without it they are hex.
/// @return NET_OK; NET_ERR_DAMAGED (the file changed since it was opened); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_dump(net_log_reader* reader, const net_module* module,
                                      ecs_line_fn line, void* context);

BASE_C_END
