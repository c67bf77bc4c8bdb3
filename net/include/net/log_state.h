// SPDX-License-Identifier: MIT
/// The state that a log recorded, without running its game: entities, components and fields by
/// name, at one tick. It comes from the states in the log ("State" in proto/LOG.md) and from
/// Header.schema alone, so it works for logs of other builds and for games that are not here.
///
/// What it has: the replicated components of replicated entities, as rows: quantised. Fields that a
/// template quantises have the value that clients get. Values of variable size are bytes
/// (ecs_type_write). Components that are tracked only, or not at all, have sums and no values.
///
/// The log is untrusted: every function is total. Memory grows with the entities of the match.
/// Threads: one thread at a time. A state walks the records of its reader, so that reader serves no
/// other walk meanwhile.
#pragma once

#include "net/log_reader.h"

BASE_C_BEGIN

typedef struct net_log_state net_log_state;

/// One field of a component. Pointers live as long as the state.
typedef struct net_log_field {
    const char* name;    ///< "x"; never NULL
    ecs_field_kind kind; ///< of its values
    uint32_t count;      ///< elements; 1 for a scalar
} net_log_field;

/// One component of the log's schema, by the names of the build that wrote it.
typedef struct net_log_component {
    uint32_t id;      ///< in this log
    const char* name; ///< "pos"
    const char* type; ///< "p2"; "" when the header does not say
    bool is_varsize;  ///< values are bytes (net_log_state_bytes)
    uint32_t field_count;
    const net_log_field* fields;
    uint32_t value_count; ///< elements of all fields
} net_log_component;

/// One element of a field.
typedef struct net_log_value {
    ecs_field_kind kind;
    union {
        bool truth;        ///< ECS_FIELD_BOOL
        int64_t whole;     ///< I8..I64
        uint64_t natural;  ///< U8..U64
        double real;       ///< F32, F64
        ecs_entity entity; ///< ECS_FIELD_ENTITY
    };
} net_log_value;

/// What the last tick did to an entity.
typedef enum net_log_fate {
    NET_LOG_FATE_CHANGED,
    NET_LOG_FATE_CREATED, ///< also: another template, or another entity at its index
    NET_LOG_FATE_DESTROYED,
} net_log_fate;

typedef struct net_log_touch {
    ecs_entity entity;
    net_log_fate fate;
    uint64_t components; ///< CHANGED: a bit per position in the entity's template, as listed
} net_log_touch;

/// Begin at tick 0, before the first record.
/// @return NET_OK; NET_ERR_UNKNOWN (reported: the log has no values: it was written with
///         --log-content inputs); NET_ERR_VERSION (reported: it has values in a code of a later
///         version); NET_ERR_DAMAGED (reported: its schema is none); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_state_create(net_log_reader* reader, const base_reporter* reporter,
                                              net_log_state** state);
/// NULL does nothing.
void net_log_state_destroy(net_log_state* state);
/// Go on to the next whole tick.
/// @return NET_OK; NET_ERR_CLOSED (the log has no further one); NET_ERR_DAMAGED (reported: bytes
///         that no writer writes, or the file changed; every later call returns it too);
///         NET_ERR_MEMORY (as damaged).
BASE_MUST_USE net_result net_log_state_step(net_log_state* state);
/// Go on to the last whole tick that is not above `tick`; below the current one it begins again.
/// @return NET_OK; NET_ERR_DAMAGED (reported), NET_ERR_MEMORY: every later call returns it too.
BASE_MUST_USE net_result net_log_state_seek(net_log_state* state, ecs_tick tick);
/// The tick of the values; 0 before the first.
ecs_tick net_log_state_tick(const net_log_state* state);
/// Are the values those of this tick? They are not behind ticks or states that were lost, until a
/// full state comes, nor in the newest tick of a server that was killed.
bool net_log_state_is_whole(const net_log_state* state);

/// Has the tick a full state, with all values? Then net_log_state_touches has every entity as
/// created.
bool net_log_state_is_full(const net_log_state* state);

/// The components of the schema that have values, by rising id.
uint32_t net_log_state_component_count(const net_log_state* state);
const net_log_component* net_log_state_component(const net_log_state* state, uint32_t position);
/// @return NULL when the log has no such component.
const net_log_component* net_log_state_find_component(const net_log_state* state, const char* name);

/// The living entity with the next higher index; begin with ECS_ENTITY_NONE, which also ends.
ecs_entity net_log_state_next(const net_log_state* state, ecs_entity before);
uint32_t net_log_state_entity_count(const net_log_state* state);
/// @return The name of the template ("arena_player+boost"), borrowed; NULL: no such entity.
const char* net_log_state_template(const net_log_state* state, ecs_entity entity);
/// The components of the entity's template that have values, in order of name.
/// @return NULL at the end, and for no such entity.
const net_log_component* net_log_state_template_component(const net_log_state* state,
                                                          ecs_entity entity, uint32_t position);
/// Read all elements of all fields of a component, in order: `values` has room for
/// component->value_count. @return false: no such entity, it lacks the component, or its values are
/// bytes.
bool net_log_state_read(const net_log_state* state, ecs_entity entity,
                        const net_log_component* component, net_log_value* values);
/// Find the bytes of a variable-size value. They are borrowed until the next step. @return NULL:
/// there is no such entity, it lacks the component, or the component's values are no bytes.
const uint8_t* net_log_state_bytes(const net_log_state* state, ecs_entity entity,
                                   const net_log_component* component, size_t* size);
/// What the last step did, by rising index of entity; borrowed until the next step. After a seek:
/// of its last tick.
const net_log_touch* net_log_state_touches(const net_log_state* state, uint32_t* count);
/// The low 8 bits of a component's part of the state hash (ecs_world_state_hash_of), by its id in
/// the log; 0 for an unknown one. Components without values have it too.
uint32_t net_log_state_sum(const net_log_state* state, uint32_t component);
/// The value of a field that lies in memory (ecs_field_kind_bytes of them).
net_log_value net_log_value_make(ecs_field_kind kind, const void* memory);
/// Write a value as text: "1.5", "-3", "true", "#12:3" (index and generation of an entity).
/// NUL-terminated and cut.
void net_log_value_text(const net_log_value* value, char* text, size_t text_bytes);
/// Are both the same value? NaN is equal to NaN.
bool net_log_value_equal(const net_log_value* a, const net_log_value* b);

BASE_C_END
