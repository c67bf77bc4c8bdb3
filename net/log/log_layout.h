// SPDX-License-Identifier: MIT
/// The schema of a log as tables: components with their fields, and templates with the layouts of
/// their rows. Made from Header.schema alone, so the log's writer and a reader without the game
/// have the same.
///
/// Memory:  proportional to the schema, and to the templates that a log composes; both are limited.
/// Threads: one thread at a time.
#pragma once

#include "base/bytes.h"
#include "net/log_state.h"
#include "proto/layout.h"

/// A template with rows. It does not move.
typedef struct net_log_template {
    char name[ECS_NAME_BYTES_MAX * 4];
    uint32_t component_count;             ///< with values, in order of name
    const net_log_component** components; ///< rows and variable-size values
    uint8_t* places;     ///< [component]: its place in the layout; UINT8_MAX: variable size
    uint32_t* defaults;  ///< the default row, packed
    uint32_t row_bytes;  ///< of a packed row
    uint32_t* most;      ///< [word] its largest value; NULL: that does not say which rows there are
    uint8_t* definition; ///< of a composed one: the packed SchemaTemplate
    uint32_t definition_bytes;
    proto_layout layout;
} net_log_template;

typedef struct net_log_layout net_log_layout;

/// @return NET_OK; NET_ERR_UNKNOWN (the log has no values); NET_ERR_VERSION (its row code is of a
///         later version); NET_ERR_DAMAGED (no writer writes such a header); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_layout_create(const base_allocator* allocator, const void* header,
                                               size_t header_bytes, net_log_layout** layout);
/// NULL does nothing.
void net_log_layout_destroy(net_log_layout* layout);
uint32_t net_log_layout_tick_rate(const net_log_layout* layout);
/// The highest index of an entity with rows.
uint32_t net_log_layout_index_max(const net_log_layout* layout);
uint32_t net_log_layout_component_count(const net_log_layout* layout);
/// By rising id; NULL beyond the last.
const net_log_component* net_log_layout_component(const net_log_layout* layout, uint32_t position);
/// NULL when there is none.
const net_log_component* net_log_layout_find(const net_log_layout* layout, uint32_t id);
/// The template of a number, 0..; NULL for a number that does not exist.
const net_log_template* net_log_layout_template(const net_log_layout* layout, uint32_t number);
/// Add the definition of a composed template: a packed SchemaTemplate. It gets the next number.
/// @return NET_OK; NET_ERR_DAMAGED (it is none, or there are too many); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_layout_define(net_log_layout* layout, const void* data,
                                               size_t size);
uint32_t net_log_layout_template_count(const net_log_layout* layout);
/// Templates of the schema; numbers from here on are of composed ones.
uint32_t net_log_layout_loaded_count(const net_log_layout* layout);
/// Are all rotations of a row such that a writer makes? The row code asserts it.
bool net_log_layout_has_rotations(const proto_layout* row, const uint64_t* words);
