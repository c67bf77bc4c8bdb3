// SPDX-License-Identifier: MIT
/// Templates: the only way to make an entity. Read from datablock text, with parents, defaults,
/// tracking, replication, tags and quantisation; validated as a whole; composed as "a+b+c".
#pragma once

#include "base/report.h"
#include "ecs/type.h"

typedef uint16_t ecs_template_id;
#define ECS_TEMPLATE_NONE 0u

typedef enum ecs_template_flag {
    ECS_COMPONENT_TRACKED = 1u << 0,    ///< replicateCompare runs on it, it is in state_hash
    ECS_COMPONENT_REPLICATED = 1u << 1, ///< goes to clients; implies tracked
    /// Shown between its values and kept for lag compensation (`_interpolate`); float fields only.
    ECS_COMPONENT_INTERPOLATED = 1u << 2,
} ecs_template_flag;

typedef struct ecs_template_component {
    ecs_component_id component;
    uint32_t flags;    ///< ecs_template_flag
    ecs_quant quant;   ///< overrides that of all number fields of the type when bits > 0
    const void* value; ///< the default, in the type's memory form
    float teleport; ///< `_teleport`: a longer step per tick is a jump, not a movement; 0: none is
    uint32_t line;  ///< where it was declared (0: registered by code)
    const char* visible; ///< `_visible:t="team"`: the class of who may see it; NULL: everybody
    const char*
        integral; ///< `_integral:t="vel"`: changes by that component's value per second; NULL
    bool
        is_rotation; ///< `_rotation:b=yes`, with `_bits`: a unit quaternion, sent as its smallest three
} ecs_template_component;

/// Borrowed, valid while the world lives. Components are sorted by name (strcmp).
typedef struct ecs_template {
    char name[ECS_NAME_BYTES_MAX * 4]; ///< composed names join their parts with '+'
    ecs_template_id id;
    bool is_replicated; ///< at least one component is
    bool is_singleton;
    uint32_t
        importance; ///< `_priority:i=1..16` of the template: how urgent its changes are; 1 without
    uint32_t component_count;
    const ecs_template_component* components;
    uint32_t part_count; ///< 1 for a loaded template (itself), more for a composed one
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    char file[128];
    uint32_t line;
} ecs_template;

/// Load a datablock text. Nothing changes unless all of it is right; each fault is reported as
/// file:line. `file` is used for messages only. Call before ecs_world_seal.
/// @return ECS_OK; ECS_ERR_SYNTAX (reported); ECS_ERR_FULL; ECS_ERR_MEMORY; ECS_ERR_SEALED.
BASE_MUST_USE ecs_result ecs_template_load(ecs_world* world, const char* file, const char* text,
                                           size_t text_bytes, const base_reporter* reporter);
/// The same for a text that is looked at by itself: imports are not followed, and a parent that is
/// not there, or a flag on a component of such a parent, is no fault. For checks, not for matches.
BASE_MUST_USE ecs_result ecs_template_load_alone(ecs_world* world, const char* file,
                                                 const char* text, size_t text_bytes,
                                                 const base_reporter* reporter);

/// A component of a template whose type nobody registered: reported as a warning when it is loaded, kept
/// as it is written, and part of no entity. Borrowed until a reload.
typedef struct ecs_template_opaque {
    ecs_template_id template_id; ///< where it is written; children do not inherit it
    const char* component;
    const char* type; ///< "": none was given
    const char* text; ///< the value, unescaped; a block as written, with its braces. NUL behind it
    uint32_t text_bytes;
    const char* file;
    uint32_t line;
} ecs_template_opaque;

uint32_t ecs_template_opaque_count(const ecs_world* world);
/// In the order in which they were read; `index` below the count (asserted).
const ecs_template_opaque* ecs_template_opaque_get(const ecs_world* world, uint32_t index);

/// Find by name; a name with '+' is composed on first use (parts in the given order, later parts
/// override). Counted as a name look-up. ECS_TEMPLATE_NONE when a part is unknown or a limit is hit.
ecs_template_id ecs_template_find(ecs_world* world, const char* name);
/// Compose by ids (what a create record on the wire carries). The same parts give the same id.
ecs_template_id ecs_template_compose(ecs_world* world, const ecs_template_id* parts,
                                     uint32_t count);
const ecs_template* ecs_template_get(const ecs_world* world,
                                     ecs_template_id id); ///< NULL if unknown
uint32_t ecs_template_count(const ecs_world* world);      ///< ids run 1..count
/// NULL when the template has no such component.
const ecs_template_component* ecs_template_find_component(const ecs_template* template_,
                                                          ecs_component_id component);
