// SPDX-License-Identifier: MIT
/// The parts of a replay that net/replay.h hides.
#pragma once

#include "log/log_read.h"
#include "net/log.h"

#define NET_LOG_DIFFERENCE_BYTES 200u

/// Make the match that a log's packed Header describes, before its first tick. The caller owns it,
/// and the module outlives it. `file` names the log in reports. `difference` (NULL: of no use) gets
/// what the schema of the game here has other than the log's; empty: nothing is known.
/// @return NET_OK; NET_ERR_UNKNOWN, NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED,
///         NET_ERR_MEMORY, as net_log_replay_create.
BASE_MUST_USE net_result net_log_match_create(
    const base_allocator* allocator, const net_log_info* info, const uint8_t* header,
    size_t header_bytes, const char* file, const net_module* module, const base_reporter* reporter,
    char difference[NET_LOG_DIFFERENCE_BYTES], net_match** match);
/// Give the match away; the replay can only be destroyed then. Not of a log whose templates are its
/// own (asserted).
net_match* net_log_replay_take(net_log_replay* replay);
/// The close record, once net_log_replay_step returned NET_ERR_CLOSED; NULL when the log has none.
const net_log_record* net_log_replay_close(const net_log_replay* replay);
/// What the schema of the game here has other than the log's; empty: nothing is known.
const char* net_log_replay_difference(const net_log_replay* replay);

/// Go on behind `tick` with a save that another match of the log made there; before the first step.
/// @return NET_OK; NET_ERR_CLOSED (the log has no end of that tick); NET_ERR_MALFORMED (not its
///         save); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_enter(net_log_replay* replay, ecs_tick tick,
                                              const base_bytes* save);

/// Has this world the hashes of a log (`world_hash` NULL: it has none)? Without memory to compute
/// that of the world the state hash alone tells.
bool net_log_is_same(const ecs_world* world, uint64_t state_hash, const uint64_t* world_hash);
/// The arguments of a CONTROL; borrowed from the record's bytes. @return how many.
uint32_t net_log_arguments(const net_log_record* record,
                           net_match_argument arguments[NET_CONTROL_ARGUMENTS_MAX]);
/// Compare the values of component `name` (NULL: of all that are not tracked) of the entities that
/// both worlds have. @return whether one differs: `result` has entity, component, field and values.
bool net_log_compare_worlds(const ecs_world* log, const ecs_world* run, const char* name,
                            net_verify_result* result);
/// A match that was restored in tick result->restored_tick, of this save, differs in
/// result->diverged_tick from the log. Run up to there from the log's begin, and again from the
/// save, and name system, component, entity, template and values.
/// @return NET_OK, also when it finds no more; as net_log_replay_step; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_blame_restored(net_log_reader* reader, const net_module* module,
                                                const base_bytes* save, net_verify_result* result);

/// The systems of a world that may write a component, in their order, with ',' between them; one
/// that declares nothing may write anything, and says so.
void net_log_name_writers(const ecs_world* world, const char* component, char* text,
                          size_t text_bytes);

// The match of a log run again with a recorder, for ticks whose state the log does not have: logs
// of --log content=inputs, and states that were lost. What comes out are the parts of a tick's
// state as a log has them, so who reads them reads both alike. The first tick whose hash is not the
// log's is reported and remembered; the run goes on.
// Memory: a match, its history, a recorder. Threads: one.

typedef struct net_log_run net_log_run;

/// Make the match of a log. The run reads the file on its own; the module must outlive it.
/// @return as net_log_replay_create (reported).
BASE_MUST_USE net_result net_log_run_create(const base_allocator* allocator, const char* file,
                                            const net_module* module, const base_reporter* reporter,
                                            net_log_run** run);
/// NULL does nothing.
void net_log_run_destroy(net_log_run* run);
/// The states that follow are what this client has (net_log_recorder_see_as); 0: everything. The
/// next one is full, and what it has in scope depends on nothing that was run before.
void net_log_run_see_as(net_log_run* run, uint32_t client);
/// Run to a tick, from a keyframe before it where that is nearer, and give the parts of its state
/// to `part`. They are full unless the call before was for the tick before.
/// @return NET_OK; NET_ERR_DAMAGED (reported: the log does not lead there); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_run_to(net_log_run* run, ecs_tick tick,
                                        void (*part)(void* context, const uint8_t* data,
                                                     size_t size),
                                        void* context);
/// @return The tick at which the run stands; after NET_ERR_DAMAGED the last one that it reaches.
ecs_tick net_log_run_tick(const net_log_run* run);
/// @return The first tick whose hash is not the log's; 0: none so far.
ecs_tick net_log_run_diverged(const net_log_run* run);
