// SPDX-License-Identifier: MIT
/// The values of a match tick by tick, out of its log: by running the match again, which has all
/// components at full precision, or without the game from the log's state. Exports and
/// comparisons read them by name.
#pragma once

#include "base/bytes.h"
#include "log/log_record.h"
#include "net/log.h"
#include "net/match.h"

typedef struct net_log_source net_log_source;

/// With the module a run of the log; NULL: its state. The reader serves no other walk
/// meanwhile. `from`: the first tick that is asked for (a run begins at a keyframe before it); 0 or
/// 1: the first of the log.
/// @return as net_log_replay_create and net_log_replay_seek, or net_log_state_create and
///         net_log_state_seek.
BASE_MUST_USE net_result net_log_source_create(net_log_reader* reader, const net_module* module,
                                               ecs_tick from, const base_reporter* reporter,
                                               net_log_source** source);
/// NULL does nothing.
void net_log_source_destroy(net_log_source* source);
/// Go on to the next tick. A run that differs from the log is reported once, and goes on.
/// @return as net_log_replay_step or net_log_state_step.
BASE_MUST_USE net_result net_log_source_step(net_log_source* source);
/// Are the values those of this tick? net_log_state_is_whole; a run's always are.
bool net_log_source_is_whole(const net_log_source* source);
ecs_tick net_log_source_tick(const net_log_source* source);
/// The match that runs again; NULL: the values are the log's.
net_match* net_log_source_match(const net_log_source* source);
/// The first tick whose state_hash is not the log's; 0: none so far.
ecs_tick net_log_source_diverged(const net_log_source* source);

/// All components, in order of their registration. Tags have no values.
uint32_t net_log_source_component_count(const net_log_source* source);
const net_log_component* net_log_source_component(const net_log_source* source, uint32_t position);
/// Do clients get it, as part of any template?
bool net_log_source_is_replicated(const net_log_source* source, uint32_t position);
/// The entity with the next higher index; ECS_ENTITY_NONE begins and ends.
ecs_entity net_log_source_next(const net_log_source* source, ecs_entity before);
/// The name of its template; NULL: no such entity.
const char* net_log_source_template(const net_log_source* source, ecs_entity entity);
/// Has the entity the component at this position?
bool net_log_source_has(const net_log_source* source, ecs_entity entity, uint32_t position);
/// Read all elements of all fields of a component that the entity has, and whose values have a
/// fixed size: `values` has room for its value_count.
void net_log_source_read(const net_log_source* source, ecs_entity entity, uint32_t position,
                         ecs_number* values);
/// The value of a variable-size component that the entity has, as text. NUL-terminated and cut.
void net_log_source_text(const net_log_source* source, ecs_entity entity, uint32_t position,
                         char* text, size_t text_bytes);

#define NET_LOG_NUMBER_BYTES 40u
/// Write a number as JSON has it: the shortest decimals that give the same bits; null for what JSON
/// has no number for; entities and numbers of more than 53 bits as text with quotes.
void net_log_source_number(const ecs_number* value, char text[NET_LOG_NUMBER_BYTES]);

// ---- where an entity is ----

// By the names that games give. The map of the inspector and an export look here, so both show the
// same places.

/// Describe a component of a world: `fields` has room for those of its type. Names are borrowed
/// from the world.
net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields);

/// Numbers in a row: elements [first, first + count) of a component.
typedef struct net_log_numbers {
    uint32_t field; ///< that the first one is of
    uint32_t first, count;
} net_log_numbers;

/// Where entities are: the best of the components that were added. Zeroed at the start.
typedef struct net_log_where {
    uint32_t component; ///< its id
    net_log_numbers part;
    uint32_t rank; ///< 0: none so far
} net_log_where;
#define NET_LOG_WHERE_NAMED 2u ///< a rank that only the component of the rule surpasses

/// Take a component when it is a better place than those before: that of the game's rules (`rule`;
/// NULL: "pos"), else one with the name of a place, else one of 2 or 3 real numbers that
/// `is_replicated` and has no angle. @return is it a place, taken or not?
bool net_log_where_add(net_log_where* place, const net_log_component* component, const char* rule,
                       bool is_replicated);
