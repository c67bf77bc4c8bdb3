// SPDX-License-Identifier: MIT
/// Private: what a reload of templates does to the entities that live (storage_reload.c). Staging
/// may fail and is undone; the commit cannot.
#pragma once

#include "event/core_event.h"
#include "template/template_registry.h"

/// The new binding of a template that is bound.
typedef struct ecs_rebind {
    ecs_archetype* archetype; ///< NULL: the template is not bound
    const void** defaults;    ///< by column
    uint32_t column_count;
    bool is_moved;  ///< its entities change their archetype
    bool is_edited; ///< some default differs
} ecs_rebind;

/// One value of one entity that follows its default.
typedef struct ecs_reload_edit {
    uint32_t chunk, row, column;
    const void* source; ///< of plain data: the new default
    void* staged;       ///< of a type with functions: the value as it will be, moved in
} ecs_reload_edit;

/// One entity that changes its archetype. Places are {chunk id, row}.
typedef struct ecs_reload_move {
    ecs_entity entity;
    uint32_t from_chunk, from_row;
    uint32_t to_chunk, to_row; ///< filled and counted, not settled
    ecs_template_id template_id;
    const struct ecs_edge* edge; ///< NULL: it concerns no handler and no member list
} ecs_reload_move;

typedef struct ecs_reload_plan {
    ecs_world* world;
    ecs_template_row** rows;  ///< new ones by id - 1
    uint32_t old_count;       ///< templates before
    ecs_rebind* rebinds;      ///< [old_count + 1] by id
    uint32_t archetype_count; ///< before
    ecs_reload_edit* edits;
    uint32_t edit_count, edit_capacity;
    ecs_reload_move* moves;
    uint32_t move_count, move_capacity;
    uint32_t filled_count; ///< moves whose new rows are made
    uint32_t entity_count; ///< that the reload touches
} ecs_reload_plan;

/// Everything that may fail. @return ECS_OK; ECS_ERR_MEMORY; ECS_ERR_FULL (archetypes, chunks). The
/// plan is ended by undo or commit in either case.
BASE_MUST_USE ecs_result ecs_reload_stage(ecs_reload_plan* plan);
void ecs_reload_undo(ecs_reload_plan* plan);
/// Old rows of templates and old defaults are still there; the new ones are bound afterwards.
void ecs_reload_commit(ecs_reload_plan* plan);
