// SPDX-License-Identifier: MIT
/// The schema of a log as tables: components with their fields, and rows. Made from Header.schema
/// alone, so a reader without the game has the same rows as the match that was recorded.
///
/// Memory:  proportional to the schema, and to the templates that a log composes; both are limited.
/// Threads: one thread at a time.
#pragma once

#include "net/log_state.h"
#include "state/rows.h"

/// Version of the row code that state is written in (Header.row_code): WIRE.md's.
#define NET_LOG_ROW_CODE 4u
/// Templates of a log with rows, composed ones included.
#define NET_LOG_TEMPLATES_MAX NET_ROW_TEMPLATES_MAX
#define NET_LOG_DEFINITION_BYTES_MAX 65536u

/// A template with rows. It does not move.
typedef struct net_log_template {
    char name[ECS_NAME_BYTES_MAX * 4];
    uint32_t component_count; ///< with values, in order of name
    const net_log_component* components[ECS_TEMPLATE_COMPONENTS_MAX]; ///< fixed and variable size
    /// [component]: its place in the row's layout; UINT8_MAX: of variable size
    uint8_t places[ECS_TEMPLATE_COMPONENTS_MAX];
    const net_row_template* row;
} net_log_template;

typedef struct net_log_schema net_log_schema;

/// @return NET_OK; NET_ERR_UNKNOWN (the log has no values); NET_ERR_VERSION (its row code is of a
///         later version); NET_ERR_DAMAGED (no writer writes such a header); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_schema_create(const base_allocator* allocator, const void* header,
                                               size_t header_bytes, net_log_schema** schema);
/// NULL does nothing.
void net_log_schema_destroy(net_log_schema* schema);
/// The rows; they live as long as the schema.
net_rows* net_log_schema_rows(const net_log_schema* schema);
/// The highest index of an entity with rows.
uint32_t net_log_schema_index_max(const net_log_schema* schema);
uint32_t net_log_schema_tick_rate(const net_log_schema* schema);
uint32_t net_log_schema_component_count(const net_log_schema* schema);
/// By rising id; NULL beyond the last.
const net_log_component* net_log_schema_component(const net_log_schema* schema, uint32_t position);
/// NULL when there is none.
const net_log_component* net_log_schema_find(const net_log_schema* schema, uint32_t id);
/// The template of a row of these rows.
const net_log_template* net_log_schema_template(const net_log_schema* schema,
                                                const net_row_template* row);
/// Add a composed template, whose parts are wire numbers: a packed SchemaTemplate. One that is
/// there is left out. @return NET_OK; NET_ERR_DAMAGED (it is none, or there are too many);
/// NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_schema_define(net_log_schema* schema, const uint16_t* parts,
                                               uint32_t part_count, const void* data, size_t size);
