// SPDX-License-Identifier: MIT
/// Archetypes and how templates are bound to them (archetype.c).
#pragma once

#include "ecs/detail/fast.h"
#include "ecs/template.h"

struct ecs_edge;

/// What changes of the rows of an archetype concern: one test when it is nothing.
typedef enum ecs_notify {
    ECS_NOTIFY_CREATE = 1u << 0, ///< handlers of creation or member lists exist
    ECS_NOTIFY_DESTROY = 1u << 1,
    ECS_NOTIFY_MOVE = 1u << 2,
    ECS_NOTIFY_SINGLE = 1u << 7, ///< some template of it is a singleton
    ECS_NOTIFY_LOAD = 1u << 3,   ///< a type of it names resources
    ECS_NOTIFY_PARENT = 1u << 4, ///< its rows may have parents
} ecs_notify;

/// One component of an archetype.
typedef struct ecs_column {
    ecs_component_id component;
    uint16_t track; ///< index among the tracked columns, ECS_SLOT_NONE when not tracked
    uint32_t size;  ///< bytes of one value; 0 for a tag
    const ecs_type* type;
} ecs_column;

/// Where a column lies in each block of its archetype.
typedef struct ecs_span {
    uint32_t offset;
    uint32_t size; ///< of one value
} ecs_span;

typedef struct ecs_archetype {
    uint32_t id;           ///< position in ecs_storage.archetypes: the order of making
    uint32_t column_count; ///< components, tags too
    uint32_t track_count; ///< tracked ones; their shadows are columns [column_count, + track_count)
    bool has_ops;         ///< some type has functions: no plain-memory path
    bool is_simple;       ///< it has none, and no tracked column
    bool is_soiled;       ///< rows behind its count may not be zero
    bool is_replicated;   ///< some template of it is; hint only
    ecs_template_id
        made_by;         ///< a template that makes it again; none: a reload removed the last one
    uint32_t rows_max;   ///< capacity of a full-grown chunk
    ecs_column* columns; ///< sorted by component id
    uint16_t* tracked;   ///< track index -> column
    uint16_t* slots;     ///< component id -> column, ECS_SLOT_NONE when missing
    ecs_slot* lookup;    ///< component id -> all of it
    uint32_t* sizes;     ///< by column, shadows too
    ecs_span* spans;     ///< by column, without shadows
    struct ecs_archetype* soiled_next; ///< in ecs_storage.soiled
    ecs_chunk** chunks;
    uint32_t chunk_count;
    uint32_t chunk_capacity;
    uint32_t tail; ///< chunk that holds the last row; 0 when there are none
    uint64_t row_count;
    uint64_t row_room;          ///< rows that fit into its chunks
    uint64_t idle_removals;     ///< removals in a row that found three quarters of the room empty
    uint64_t hash;              ///< of the sorted (component, tracked) list
    uint64_t has;               ///< a bit for each component, by its id modulo 64
    struct ecs_query** queries; ///< those that match it, in their order
    uint32_t query_count, query_capacity;
    uint32_t notify;             ///< ecs_notify: what its rows concern
    struct ecs_edge* on_create;  ///< calls when a row is created; NULL: none
    struct ecs_edge* on_destroy; ///< calls when a row is destroyed; NULL: none
    size_t bytes;                ///< of this block, which holds the arrays above but `chunks`
} ecs_archetype;

/// How one template fills a row of its archetype; made on first use.
typedef struct ecs_binding {
    ecs_archetype* archetype; ///< NULL: not bound yet
    const void** defaults;    ///< by column; borrowed from the template
    bool is_replicated;       ///< its entities get replicated indices
    bool is_singleton;
    ecs_entity single; ///< of a singleton: the one made last; it may be destroyed or changed by now
} ecs_binding;

/// Columns of a chunk, shadows too.
static inline uint32_t ecs_archetype_columns(const ecs_archetype* archetype) {
    return archetype->column_count + archetype->track_count;
}
/// Bind a template, making its archetype if it is new (ecs_storage_bind does, with core events).
/// @return ECS_OK; ECS_ERR_UNKNOWN; ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_binding_make(ecs_world* world, ecs_template_id template_id,
                                          ecs_binding** binding);
/// The defaults of a template by column of its archetype.
void ecs_archetype_fill_defaults(const ecs_archetype* archetype, const ecs_template* made_from,
                                 const void** defaults);
/// Release a binding that was made; its archetype stays.
void ecs_binding_drop(ecs_world* world, ecs_binding* binding);
void ecs_archetype_destroy(ecs_world* world, ecs_archetype* archetype);
/// The archetype of a template that is not bound (yet): for a reload.
/// @return ECS_OK; ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_archetype_find_or_make(ecs_world* world, const ecs_template* made_from,
                                                    ecs_archetype** found);
/// Fill the table again. An archetype that no template makes any more (made_by is none; it has no
/// rows) is not in it, and a template that asks for the same columns gets a new one.
void ecs_archetypes_index(ecs_world* world);
/// Take back the archetype that was made last; it has no rows and no binding.
void ecs_archetypes_drop_last(ecs_world* world);
