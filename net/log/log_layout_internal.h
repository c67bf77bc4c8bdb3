// SPDX-License-Identifier: MIT
/// A layout inside: log_layout.c reads templates, log_layout_components.c components.
#pragma once

#include "log/log_layout.h"

#include "proto/pb_wire.h"

#include <string.h>

/// A double as protobuf keeps it.
static inline double net_log_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

typedef struct net_log_field_row {
    char name[ECS_NAME_BYTES_MAX];
    uint64_t bits;
    double min, step;
} net_log_field_row;

/// A component with what only a layout needs of it.
typedef struct net_log_component_row {
    net_log_component public;
    char name[ECS_NAME_BYTES_MAX], type[ECS_NAME_BYTES_MAX];
    net_log_field* fields;
    net_log_field_row* rows;
} net_log_component_row;

struct net_log_layout {
    const base_allocator* allocator;
    uint32_t tick_rate_hz, index_max;
    net_log_component_row** components; ///< by rising id
    uint32_t component_count, component_capacity;
    proto_tables* tables;         ///< NULL: the built-in ones
    net_log_template** templates; ///< by number
    uint32_t template_count, template_capacity;
    uint32_t loaded_count;
};

/// Add the component of a schema item, which is untrusted. @return NET_OK; NET_ERR_DAMAGED;
/// NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_component_add(net_log_layout* layout, const proto_pb_field* whole);
/// The component with this id of the log; NULL when there is none.
net_log_component_row* net_log_component_find(const net_log_layout* layout, uint64_t id);
void net_log_component_release(const net_log_layout* layout, net_log_component_row* component);
