// SPDX-License-Identifier: MIT
/// Private: what the parts of a restore share (restore.c, restore_rows.c).
#pragma once

#include "world/save_cells.h"

typedef struct ecs_restorer {
    ecs_world* world;
    base_reader reader;
    ecs_template_id* templates; ///< [saved id] -> id here
    uint32_t template_count;
    bool has_entered;       ///< who lives here is in the lists of members
    ecs_save_blocks blocks; ///< plain data, which workers read
    bool is_damaged;        ///< they found bytes that are no values
} ecs_restorer;

/// What a template of the save is here; ECS_TEMPLATE_NONE: there is none.
static inline ecs_template_id ecs_restorer_template(const ecs_restorer* load, uint32_t saved) {
    return saved == 0 || saved > load->template_count ? ECS_TEMPLATE_NONE : load->templates[saved];
}
/// Why a value could not be read.
static inline ecs_result ecs_restorer_fault(const ecs_restorer* load) {
    return load->reader.failed ? ECS_ERR_MALFORMED : ECS_ERR_MEMORY;
}
/// Read all archetypes, their rows and columns.
/// @return ECS_OK; ECS_ERR_MALFORMED; ECS_ERR_FULL; ECS_ERR_MEMORY: the caller clears the world.
BASE_MUST_USE ecs_result ecs_restorer_read_archetypes(ecs_restorer* load);
