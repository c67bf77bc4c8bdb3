// SPDX-License-Identifier: MIT
/// One variable-size value as canonical bytes, and back into a world (WIRE.md, "Large values").
///
/// The bytes are those of ecs_type_write: the same on every machine, references as handles. Reading
/// accepts any bytes: it checks depth, counts and sizes, and no byte may be left over.
#pragma once

#include "net/limits.h"
#include "state/rows.h"

/// Append the bytes of a component of a living entity. `bytes->failed` when memory ran out.
void net_varsize_write(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                       base_bytes* bytes);
/// Append the bytes of the template's default.
void net_varsize_write_default(const ecs_world* world, const net_row_template* row_template,
                               ecs_component_id component, base_bytes* bytes);
/// Append what a client that may see the component has: the value, or the default in place of a
/// value longer than NET_VARSIZE_BYTES_MAX. @return false when it is the default.
bool net_varsize_write_sent(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component, base_bytes* bytes);
/// Is the value of a living entity its template's default?
bool net_varsize_is_default(const ecs_world* world, const net_row_template* row_template,
                            ecs_entity entity, ecs_component_id component);
/// Do two templates give a component the same default? Both must have the component.
bool net_varsize_same_default(const ecs_world* world, const net_row_template* a,
                              const net_row_template* b, ecs_component_id component);
/// Can these bytes be a value of the component? @return NET_OK; NET_ERR_MALFORMED; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_varsize_check(ecs_world* world, ecs_component_id component,
                                           const uint8_t* bytes, size_t size);
/// Set the value of an entity that is alive or LOADING; `bytes` NULL: its template's default.
/// @return NET_OK; NET_ERR_UNKNOWN (no such entity, or it lacks the component); NET_ERR_MALFORMED;
/// NET_ERR_MEMORY. On failure the old value stays.
BASE_MUST_USE net_result net_varsize_apply(ecs_world* world, net_rows* rows, ecs_entity entity,
                                           ecs_component_id component, const uint8_t* bytes,
                                           size_t size);
