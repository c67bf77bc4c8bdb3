// SPDX-License-Identifier: MIT
/// Tools for event logs: exports, repair, slices. shoal-replay has a command for each.
///
/// Logs are untrusted. Threads: one thread at a time per reader; while one of these functions runs,
/// the reader serves no other walk.
#pragma once

#include "net/log.h"

BASE_C_BEGIN

typedef enum net_log_export_what {
    NET_LOG_EXPORT_VALUES, ///< components of entities: a row for each entity and tick
    NET_LOG_EXPORT_INPUTS, ///< a row for each input
    NET_LOG_EXPORT_EVENTS, ///< joins, leaves, and events of both directions
    NET_LOG_EXPORT_ALL,    ///< what describes them, all of them, and operators' controls
} net_log_export_what;

typedef struct net_log_export_config {
    net_log_export_what what;
    const char* components; ///< of values: "pos+health"; NULL: all
    uint64_t every;         ///< of values: ticks divisible by it; 0 counts as 1
    ecs_tick first, last;   ///< ticks of the export; 0: the first, the last
} net_log_export_config;

typedef struct net_log_exported {
    uint64_t rows;
    ecs_tick ticks;         ///< that were looked at
    ecs_tick ticks_lacking; ///< of values without the module: the log has no values of them
    ecs_tick diverged_tick; ///< of values: from here on the run is not the log's match; 0: never
} net_log_exported;

/// Write a part of a log as lines, a JSON object each. VALUES run the match again; without the
/// module (NULL) they come from the log's state, and are those that clients get. INPUTS and EVENTS
/// come from the records; without the module messages are hex. ALL begins with {"header"},
/// {"schema"} (net_match_print_schema, with the module), and {"components", "place"}: the chosen
/// ones with their fields, and where entities are; VALUES follow, then the others,
/// with the bytes of their messages too.
/// @return NET_OK; NET_ERR_UNKNOWN (reported: there is no such component, and the nearest name);
///         NET_ERR_DAMAGED; for VALUES also NET_ERR_SCHEMA, NET_ERR_MODULE
///         (reported: the match cannot run again), NET_ERR_VERSION (reported: its values are in a
///         later code).
BASE_MUST_USE net_result net_log_export(net_log_reader* reader, const net_module* module,
                                        const net_log_export_config* config, ecs_line_fn line,
                                        void* context, const base_reporter* reporter,
                                        net_log_exported* exported);

typedef struct net_log_copy_config {
    const char* output; ///< name of the new log; no file may have it
    ecs_tick first;     ///< begin with the newest keyframe before this tick; 0: with the first tick
    ecs_tick last;      ///< stop after this tick; 0: go on to the end
    const net_log_file_ops* ops; ///< of the file; NULL: as the system does it
} net_log_copy_config;

typedef struct net_log_copy_result {
    ecs_tick ticks, first_tick, last_tick; ///< whole ones of the copy
    ecs_tick unfinished_tick;              ///< has inputs and no end: left out; 0: none
    ecs_tick next_tick; ///< after damage the source goes on with it; 0: it does not
    uint64_t bytes;     ///< of the file
} net_log_copy_result;

/// Write a part of what the reader yields, queue included, as a new and whole log. The part ends
/// where records are missing (next_tick begins another copy). A file that could not be finished is
/// removed.
/// @return NET_OK; NET_ERR_IO (reported: the name is taken, or the disk is full); NET_ERR_DAMAGED
///         (reported: there is no whole tick, or the keyframe is damaged).
BASE_MUST_USE net_result net_log_copy(net_log_reader* reader, const net_log_copy_config* config,
                                      const base_reporter* reporter, net_log_copy_result* result);

/// The texts that the log has of its game, templates and files (ecs_pack_next): it has them after a
/// reload, and of a game with files. Foreign bytes, borrowed from the reader. NULL: it has none.
const uint8_t* net_log_reader_pack(const net_log_reader* reader, size_t* bytes);

BASE_C_END
