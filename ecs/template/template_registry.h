// SPDX-License-Identifier: MIT
/// Private: the registry of templates. How text becomes a template is in template_set.h.
#pragma once

#include "base/table.h"
#include "ecs/component.h"
#include "ecs/template.h"

/// A flag of slots, beside those of ecs_template_flag: `_rotation`.
#define ECS_SLOT_ROTATION (1u << 7)

/// What a template states about a component, before tags decide whether it exists in this world.
/// Child templates and compositions inherit slots, never the filtered list.
typedef struct ecs_template_slot {
    ecs_component_id component;
    uint8_t flags;     ///< ecs_template_flag, valid where `stated` has the same bit
    uint8_t stated;    ///< which flags this template or a parent states
    bool is_quantised; ///< quant was stated
    bool has_teleport; ///< teleport was stated
    float teleport;
    ecs_quant quant;
    const void* value;   ///< NULL: the type's default
    const char* tags;    ///< "server,render"; NULL: in every world. In the template's block
    const char* visible; ///< `_visible` and `_integral`: NULL when not stated. As tags
    const char* integral;
    const char *unit, *about; ///< `_unit` and `_about`, for people; NULL: not stated. As tags
    uint32_t line;
} ecs_template_slot;

/// A template with the part that only the registry uses. One block of memory per template: this
/// struct, slots, public components, texts of slots.
typedef struct ecs_template_row {
    ecs_template public;
    ecs_template_slot* slots; ///< sorted by component name
    uint32_t slot_count;
    uint32_t priority; ///< stated by the template or a parent; 0: not stated
    size_t bytes;      ///< size of the whole block
} ecs_template_row;

/// A default value. Templates share it, the registry owns it.
typedef struct ecs_template_value {
    ecs_type_id type;
    void* memory;
} ecs_template_value;

/// A component whose type is not registered. Loading warns of it, and no entity has it.
typedef struct ecs_opaque {
    char component[ECS_NAME_BYTES_MAX];
    char type[ECS_NAME_BYTES_MAX]; ///< "": the text gives none
    char file[128];
    uint32_t line;
} ecs_opaque;

/// Find the first opaque component of this name. @return NULL when there is none.
const ecs_opaque* ecs_opaque_seek(const ecs_opaque* opaques, uint32_t count, const char* component);

/// An entity of a `_scene`. Its inits lie one after another.
typedef struct ecs_scene_entity {
    ecs_template_id template_id;
    uint32_t init_first, init_count;
    uint32_t line;
    char file[128];
} ecs_scene_entity;

typedef struct ecs_templates {
    ecs_template_row** rows; ///< id - 1
    uint32_t count, capacity;
    base_table index; ///< loaded ones by name, composed ones by their list of parts
    ecs_template_value* values;
    uint32_t value_count, value_capacity;
    ecs_opaque* opaques;
    uint32_t opaque_count, opaque_capacity;
    ecs_scene_entity* scenes; ///< in the order of the texts; a mirror has none
    uint32_t scene_count, scene_capacity;
    ecs_init* inits; ///< of scenes; the values are among `values`
    uint32_t init_count, init_capacity;
    void** zeros; ///< [ECS_TYPES_MAX], by type id - 1: default values, made on first use
} ecs_templates;

/// Find a loaded template by name; not counted as a look-up.
ecs_template_id ecs_template_seek(const ecs_world* world, const char* name);
