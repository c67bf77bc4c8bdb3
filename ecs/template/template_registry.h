// SPDX-License-Identifier: MIT
/// Private: the registry of templates. How text becomes a template is in template_set.h.
#pragma once

#include "ecs/template.h"
#include "base/table.h"

/// In a slot's flags beside those of ecs_template_flag: `_rotation`.
#define ECS_SLOT_ROTATION (1u << 7)

/// What a template says of a component before tags decide whether it exists here. Children and
/// compositions inherit slots, never the filtered list.
typedef struct ecs_template_slot {
    ecs_component_id component;
    uint8_t flags;     ///< ecs_template_flag, meaningful where stated
    uint8_t stated;    ///< which flags this template or a parent spoke about
    bool is_quantised; ///< quant was stated
    bool has_teleport; ///< teleport was stated
    float teleport;
    ecs_quant quant;
    const void* value;   ///< NULL: the type's default
    const char* tags;    ///< "server,render"; NULL: everywhere. Owned by the template's memory
    const char* visible; ///< `_visible` and `_integral`: NULL when not stated. Owned like tags
    const char* integral;
    uint32_t line;
} ecs_template_slot;

/// A template and what only the registry sees. One block of memory per template: this struct, slots,
/// public components, texts of slots.
typedef struct ecs_template_row {
    ecs_template public;
    ecs_template_slot* slots; ///< sorted by component name
    uint32_t slot_count;
    uint32_t priority; ///< stated by it or a parent; 0: not
    size_t bytes;      ///< of the whole block
} ecs_template_row;

/// A default value; templates share them, the registry owns them.
typedef struct ecs_template_value {
    ecs_type_id type;
    void* memory;
} ecs_template_value;

/// An opaque component and its strings, in one block.
typedef struct ecs_opaque_row {
    ecs_template_opaque public;
    size_t bytes;
} ecs_opaque_row;

/// The first opaque component of this name in the world; NULL when there is none.
const ecs_template_opaque* ecs_opaque_seek(const ecs_world* world, const char* component);

typedef struct ecs_templates {
    ecs_template_row** rows; ///< id - 1
    uint32_t count, capacity;
    base_table index; ///< loaded ones by name, composed ones by their list of parts
    ecs_template_value* values;
    uint32_t value_count, value_capacity;
    ecs_opaque_row** opaques;
    uint32_t opaque_count, opaque_capacity;
    uint64_t by_text[ECS_COMPONENTS_MAX / 64 + 1]; ///< components that only texts gave a type
    void** zeros; ///< [ECS_TYPES_MAX] by type id - 1: the type's default value, made on first use
} ecs_templates;

/// A loaded template by name, not counted as a look-up.
ecs_template_id ecs_template_seek(const ecs_world* world, const char* name);
