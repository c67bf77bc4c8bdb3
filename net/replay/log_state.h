// SPDX-License-Identifier: MIT
/// Private to the log: a state for callers that walk the records themselves.
#pragma once

#include "log/log_record.h"
#include "log/log_recorder.h"
#include "net/log.h"
#include "net/match.h"
#include "state/rows.h"

/// Apply a record of the log; call it with every record in order. `is_resumed`: records before it
/// are lost. @return NET_OK; NET_ERR_DAMAGED, NET_ERR_MEMORY (not reported).
BASE_MUST_USE net_result net_log_state_take(net_log_state* state, const net_log_record* record,
                                            bool is_resumed);
/// Is it the last record of the state of its tick?
bool net_log_state_is_last(const net_log_record* record);
/// The template of an entity in the log's rows, and its row (PROTO_ROW_FIELDS_MAX words; NULL: not
/// wanted). NULL: there is no such entity.
const net_row_template* net_log_state_row(const net_log_state* state, ecs_entity entity,
                                          uint64_t* row);
/// The words of its row, in place or in `row`. NULL: as above.
const uint64_t* net_log_state_words(const net_log_state* state, ecs_entity entity,
                                    uint32_t* field_count, uint64_t* row);
/// Read all elements of the component at a place of a row: `values` has room for them.
void net_log_row_read(const net_row_template* row, uint32_t place, const uint64_t* words,
                      ecs_number* values);
/// Called with each control and with the end record of each tick, its events included, that is
/// stepped over. A control may come with the tick before it.
typedef void (*net_log_passed_fn)(void* context, const net_log_record* record);
void net_log_state_on_passed(net_log_state* state, net_log_passed_fn passed, void* context);
/// The state is what this client has in each tick, by the rules of the game; 0: everything. The
/// match is run again for it, beside the log. The next call is net_log_state_seek.
/// @return NET_OK; NET_ERR_UNKNOWN (a client's or a spectator's record, or a state without the
///         game: nothing changed); as net_log_replay_create (reported; nothing changed).
BASE_MUST_USE net_result net_log_state_see_as(net_log_state* state, uint32_t client);
/// Another walk used the reader between two steps: go back to the place of the next record.
/// @return NET_OK; NET_ERR_DAMAGED (the file changed).
BASE_MUST_USE net_result net_log_state_return(net_log_state* state);

/// The sums that the log has of its tick.
const net_log_sums* net_log_state_sums(const net_log_state* state);

// ---- a world beside the state (verify.c) ----

/// The first entity, component and field in which the match after its last step differs from the
/// log's state of the same tick; fills entity, component, field, the two values and `note` of
/// `result`. Where all values are the same, the sums of components tell; `note` says so.
/// @return false when nothing differs.
bool net_log_compare(const net_log_state* state, net_match* match, net_verify_result* result);
