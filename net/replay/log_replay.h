// SPDX-License-Identifier: MIT
/// The parts of a replay that net/replay.h hides.
#pragma once

#include "log/log_read.h"
#include "log/log_record.h"
#include "net/log.h"

#define NET_LOG_DIFFERENCE_BYTES 200u

/// Make the match that a log's packed Header describes, before its first tick. The caller owns it,
/// and the module outlives it. `file` names the log in reports. `difference` (NULL: of no use) gets
/// what the schema of the game here has other than the log's; empty: nothing is known.
/// @return NET_OK; NET_ERR_UNKNOWN, NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED,
///         as net_log_replay_create.
BASE_MUST_USE net_result net_log_match_create(
    const base_allocator* allocator, const net_log_info* info, const uint8_t* header,
    size_t header_bytes, const char* file, const net_module* module, const base_reporter* reporter,
    char difference[NET_LOG_DIFFERENCE_BYTES], net_match** match);
/// Give the match away; the replay can only be destroyed then. @return NULL: the match needs the
/// templates and files of its log, which are others than the module's.
net_match* net_log_replay_take(net_log_replay* replay);
/// The close record, once net_log_replay_step returned NET_ERR_CLOSED; NULL when the log has none.
const net_log_record* net_log_replay_close(const net_log_replay* replay);
/// What the schema of the game here has other than the log's; empty: nothing is known.
const char* net_log_replay_difference(const net_log_replay* replay);

/// Go on behind `tick` with a save that another match of the log made there; before the first step.
/// @return NET_OK; NET_ERR_CLOSED (the log has no end of that tick); NET_ERR_MALFORMED (not its
///         save).
BASE_MUST_USE net_result net_log_replay_enter(net_log_replay* replay, ecs_tick tick,
                                              const base_bytes* save);

/// After a step: the next record of the state that the log has of its tick; borrowed until the next
/// call. NULL: there is none, or no further one.
const net_log_record* net_log_replay_state(net_log_replay* replay);

/// Has this world the hashes of a log (`world_hash` NULL: it has none)?
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
/// @return NET_OK, also when it finds no more; as net_log_replay_step.
BASE_MUST_USE net_result net_log_blame_restored(net_log_reader* reader, const net_module* module,
                                                const base_bytes* save, net_verify_result* result);

/// The systems of a world that may write a component, in their order, with ',' between them; one
/// that declares nothing may write anything, and says so.
void net_log_name_writers(const ecs_world* world, const char* component, char* text,
                          size_t text_bytes);

/// What enters a tick, out of the records of a log: the net_tick_inputs that its server had.
/// Memory: of its owner's allocator; grows to the largest tick, then none.
typedef struct net_log_entering {
    net_tick_inputs begin; ///< borrows from the lists and the records' bytes
    const base_allocator* allocator;
    net_tick_leave* leaves;
    net_game_player* joins;
    net_log_item* join_items; ///< their names
    net_tick_event* events;
    net_tick_input* inputs;
    uint32_t leave_capacity, join_capacity, join_item_capacity, event_capacity, input_capacity;
} net_log_entering;

void net_log_entering_init(net_log_entering* entering, const base_allocator* allocator);
/// Nothing enters `tick` so far.
void net_log_entering_clear(net_log_entering* entering, ecs_tick tick);
/// Add a BEGIN of the tick; a large one has several. All is checked: the match can take it at its
/// next step.
/// @return NET_OK; NET_ERR_MALFORMED (this match cannot take it).
BASE_MUST_USE net_result net_log_entering_add(net_log_entering* entering, net_match* match,
                                              const net_log_record* record);
