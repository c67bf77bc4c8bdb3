// SPDX-License-Identifier: MIT
/// The table of row templates inside: rows.c keeps it, row_template.c fills its entries.
#pragma once

#include "state/rows.h"

struct net_rows {
    const base_allocator* allocator;
    ecs_world* world;                     ///< NULL: templates are added (net_rows_add)
    const net_rows_component* components; ///< without a world: [id] 1..component_count
    uint32_t component_count;
    net_rows* like; ///< NULL; or whose row templates and numbers of loaded templates these are
    net_row_template** templates; ///< owned, in order of making
    uint32_t template_count, template_capacity;
    net_row_template** by_id; ///< [template id]; NULL: none or not looked at yet
    uint8_t* states;          ///< [template id]: row_state
    uint32_t id_capacity, state_capacity;
    uint16_t* number_of;        ///< [template id of a loaded one]: wire number + 1
    uint32_t loaded_count;      ///< ids 1..loaded_count had been loaded
    net_row_template** numbers; ///< [wire number]
    uint32_t number_count, number_capacity;
    uint32_t composed_count; ///< compositions asked for so far
    uint64_t refused_count;  ///< compositions beyond the limit
    char class_names[NET_CLASSES_MAX][ECS_NAME_BYTES_MAX];
    uint32_t class_count;
    ecs_component_id varsizes[ECS_COMPONENTS_MAX]; ///< [wire number]
    uint32_t varsize_count;
    uint32_t tick_rate_hz; ///< 0: not known yet
};

typedef enum row_state { ROW_UNSEEN, ROW_NONE, ROW_KNOWN } row_state;

/// A component by its id.
static inline net_rows_component net_rows_component_of(const net_rows* rows, ecs_component_id id) {
    if (!rows->world) return rows->components[id];
    const ecs_component* component = ecs_component_get(rows->world, id);
    return (net_rows_component){component->name, ecs_type_get(rows->world, component->type), false};
}
/// Number the visibility classes of all loaded templates. Before any template is filled.
void net_rows_list_classes(net_rows* rows);
/// Number the variable-size components of all loaded templates. Before any template is filled.
void net_rows_list_varsizes(net_rows* rows);
/// Number one more, unless it has its number.
void net_rows_add_varsize(net_rows* rows, ecs_component_id id);
/// Fill an entry that is zero from its template. @return NULL; or why it cannot be a row.
const char* net_row_template_fill(const net_rows* rows, const ecs_template* source,
                                  net_row_template* row_template);
/// Make the default rows of an entry that is filled. @return false: there is no memory.
bool net_row_template_fill_defaults(const net_rows* rows, const ecs_template* source,
                                    net_row_template* row_template);
/// Bytes of its default rows: both forms lie one behind the other.
size_t net_row_template_defaults_bytes(const net_row_template* row_template);
