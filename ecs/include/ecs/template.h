// SPDX-License-Identifier: MIT
/// Templates: the only way to create an entity. A template comes from datablock text
/// (ecs/DATABLOCK.md) and defines components, defaults, tracking, replication, tags and
/// quantisation. Templates inherit from parents and can be composed: "a+b+c". A text is
/// checked as a whole.
#pragma once

#include "base/report.h"
#include "ecs/type.h"

BASE_C_BEGIN

typedef uint16_t ecs_template_id;
#define ECS_TEMPLATE_NONE 0u

typedef enum ecs_template_flag {
    ECS_COMPONENT_TRACKED = 1u << 0,    ///< changes are found, and it is part of the state hash
    ECS_COMPONENT_REPLICATED = 1u << 1, ///< goes to clients; implies tracked
    /// Clients show values between two ticks, and the server keeps old ones for lag compensation
    /// (`_interpolate`). Float fields only.
    ECS_COMPONENT_INTERPOLATED = 1u << 2,
} ecs_template_flag;

/// One component of a template.
typedef struct ecs_template_component {
    ecs_component_id component;
    uint32_t flags;      ///< ecs_template_flag
    ecs_quant quant;     ///< with bits > 0 it replaces that of all number fields of the type
    const void* value;   ///< the default, in the type's memory form
    float teleport;      ///< `_teleport`: a longer step per tick is a jump; 0: no step is one
    uint32_t line;       ///< where it was declared (0: registered by code)
    const char* visible; ///< `_visible:t="team"`: the class of clients that see it; NULL: all
    /// `_integral:t="vel"`: it changes by the value of that component per second; NULL: not stated.
    const char* integral;
    /// `_rotation:b=yes`, with `_bits`: a unit quaternion, sent as its smallest three numbers.
    bool is_rotation;
    bool states_value,
        states_quant; ///< the template or a parent of it: in a composition they count
} ecs_template_component;

/// A template. Borrowed, valid until the world is destroyed. Components are sorted by
/// name (strcmp).
typedef struct ecs_template {
    char name[ECS_NAME_BYTES_MAX * 4]; ///< composed names join their parts with '+'
    ecs_template_id id;
    bool is_replicated; ///< at least one component is
    bool is_singleton;
    uint32_t importance; ///< `_priority:i=1..16`: how urgent its changes are; 1 when not stated
    uint32_t component_count;
    const ecs_template_component* components;
    uint32_t part_count; ///< 1 for a loaded template (itself), more for a composed one
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    char file[128];
    uint32_t line;
} ecs_template;

/// Load all templates of a datablock text, before ecs_world_seal. No template is added unless all
/// of it is right; every fault is reported as file:line. `file` is used for messages only;
/// `reporter` may be NULL. The text is copied.
/// @return ECS_OK; ECS_ERR_SYNTAX (reported: correct the text); ECS_ERR_FULL (a limit of limits.h,
///         reported); ECS_ERR_SEALED (load earlier).
BASE_MUST_USE ecs_result ecs_template_load(ecs_world* world, const char* file, const char* text,
                                           size_t text_bytes, const base_reporter* reporter);
/// Find a template by name. A name with '+' is composed on first use, from left to right: later
/// parts override. Counted as a name look-up.
/// @return ECS_TEMPLATE_NONE when a part is unknown or a limit is reached.
ecs_template_id ecs_template_find(ecs_world* world, const char* name);
/// Compose templates by id, as a create record on the wire lists them. The same parts give the same
/// id.
/// @return ECS_TEMPLATE_NONE when a part is unknown or a limit is reached.
ecs_template_id ecs_template_compose(ecs_world* world, const ecs_template_id* parts,
                                     uint32_t count);
/// Get a template by id. @return NULL for an unknown id.
const ecs_template* ecs_template_get(const ecs_world* world, ecs_template_id id);
uint32_t ecs_template_count(const ecs_world* world); ///< ids run 1..count
/// Find a component of a template. @return NULL when the template does not have it.
const ecs_template_component* ecs_template_find_component(const ecs_template* template_,
                                                          ecs_component_id component);
/// Get the default of a template's component, in the type's memory form.
/// @return NULL when there is no such template, or it does not have the component.
const void* ecs_template_default(const ecs_world* world, ecs_template_id id,
                                 ecs_component_id component);
/// What a template says of a component for people, each borrowed: `_unit:t="m"` and
/// `_about:t="where it stands"`. "": not stated, or it has no such component.
typedef struct ecs_template_remarks {
    const char *unit, *about;
} ecs_template_remarks;
ecs_template_remarks ecs_template_remark(const ecs_world* world, ecs_template_id id,
                                         ecs_component_id component);
/// Get how a component is rounded for the wire, so that a grid is said once, in the datablock:
/// "pos", or "orbit.yaw" for a field. Without a field it is the component's own rounding, else that
/// of the first field of its type that has one. Look-ups by name: do it at registration.
/// @return false when it is not rounded, or there is no such template, component or field.
BASE_MUST_USE bool ecs_template_quant(ecs_world* world, const char* name, const char* component,
                                      ecs_quant* quant);

BASE_C_END
