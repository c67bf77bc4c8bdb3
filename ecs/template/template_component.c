// SPDX-License-Identifier: MIT
// Bind one component of a template: type, name in the world, flags and value. The text may give
// only some fields of a struct.
#include "template/template_bind.h"

#include "type/world.h"

#include "base/text.h"

#include <string.h>

// Find the type of a component. A block without a type belongs to a component that has one
// elsewhere, above it or in the world. @return NULL when no such type is registered; the component
// is kept as opaque then.
static const ecs_type* find_type(ecs_bind_pass* binder, const ecs_text_node* node) {
    const ecs_world* world = binder->set->world;
    const char* name = ecs_bind_type_name(type_of(binder, node));
    ecs_type_id id = *name ? ecs_type_find(world, name)
                           : ecs_template_set_type_of(binder->set, name_of(binder, node));
    if (id != ECS_TYPE_NONE) return ecs_type_get(world, id);
    ecs_bind_opaque(binder, node);
    return NULL;
}

// @return false after a fault.
static bool apply_scope(ecs_bind_pass* binder, const ecs_text_node* node,
                        const ecs_bind_scope* scope, const ecs_type* type,
                        ecs_template_slot* slot) {
    slot->flags = scope->flags;
    slot->stated = scope->stated;
    slot->tags = scope->tags;
    slot->has_teleport = scope->has_teleport;
    slot->teleport = scope->teleport;
    slot->visible = scope->visible;
    slot->integral = scope->integral;
    ecs_quant_draft with_range = scope->quant;
    ecs_quant_draft* quant = &with_range;
    // All four numbers of a unit quaternion are in [-1, 1].
    if ((scope->flags & ECS_SLOT_ROTATION) && !quant->has_min && !quant->has_max) {
        quant->has_min = quant->has_max = quant->has_bits;
        quant->min = -1;
        quant->max = 1;
    }
    if (!quant->has_min && !quant->has_max && !quant->has_step && !quant->has_bits) return true;
    char message[ECS_VALUE_MESSAGE_BYTES];
    if (!ecs_quant_draft_finish(quant, type, &slot->quant, message)) {
        ecs_bind_fault(binder, node->line, "component '%s' (%s): %s", name_of(binder, node),
                       type->name, message);
        return false;
    }
    slot->is_quantised = true;
    return true;
}

static void add_component(ecs_bind_pass* binder, const ecs_text_node* node, const ecs_type* type,
                          const ecs_bind_scope* scope, ecs_draft_component component) {
    ecs_template_set* set = binder->set;
    component.slot.line = node->line;
    if (!apply_scope(binder, node, scope, type, &component.slot)) return;
    component.slot.component =
        ecs_template_set_name(set, name_of(binder, node), type->id, binder->text->file, node->line);
    if (component.slot.component == ECS_COMPONENT_NONE) return;
    if (set->component_count - binder->component_first == ECS_TEMPLATE_COMPONENTS_MAX) {
        ecs_bind_fault(binder, node->line, "more than %u components in a template",
                       ECS_TEMPLATE_COMPONENTS_MAX);
        return;
    }
    for (uint32_t i = binder->component_first; i < set->component_count; i++) {
        if (set->components[i].slot.component != component.slot.component) continue;
        ecs_bind_fault(binder, node->line, "component '%s' is declared twice, first in line %u",
                       name_of(binder, node), set->components[i].slot.line);
        return;
    }
    void* components = set->components;
    ecs_draft_component* entry = ecs_template_set_push(set, &components, &set->component_count,
                                                       &set->component_capacity, sizeof *entry);
    set->components = components;
    if (entry) *entry = component;
}

// Bind name:type=value, or `value:type=...` in a component's block, where `owner` is the block.
static bool read_whole(ecs_bind_pass* binder, const ecs_text_node* node, const ecs_text_node* owner,
                       const ecs_type* type, ecs_draft_component* component) {
    if (type->id > ECS_BUILTIN_TAG) {
        bool is_struct = type->id > ECS_BUILTIN_COUNT;
        ecs_bind_fault(binder, node->line, "a %s is written as a block: \"%s:%s\"{ %s:type=value }",
                       type->name, name_of(binder, owner), type->name,
                       is_struct ? "field" : "item");
        return false;
    }
    void* value = ecs_template_set_value(binder->set, type);
    if (!value) return false;
    ecs_type_context context = {binder->set->world->allocator};
    char message[ECS_VALUE_MESSAGE_BYTES];
    const char* text =
        ecs_bind_value_text(type->name, type_of(binder, node), value_of(binder, node));
    if (!ecs_text_read_builtin(type, &context, text, value, message)) {
        ecs_bind_fault(binder, node->line, "component '%s' (%s): %s", name_of(binder, owner),
                       type->name, message);
        return false;
    }
    component->slot.value = value;
    component->is_whole = true;
    return true;
}

static const ecs_field* find_field(const ecs_type* type, const char* name, uint32_t* index) {
    for (*index = 0; *index < type->field_count; ++*index)
        if (strcmp(type->fields[*index].name, name) == 0) return &type->fields[*index];
    return NULL;
}

static void read_struct_field(ecs_bind_pass* binder, const ecs_text_node* node,
                              const ecs_text_node* owner, const ecs_type* type, void* value,
                              ecs_draft_component* component) {
    uint32_t index;
    const ecs_field* field = find_field(type, name_of(binder, node), &index);
    if (!field) {
        const char* names[ECS_FIELDS_MAX];
        for (uint32_t i = 0; i < type->field_count; i++)
            names[i] = type->fields[i].name;
        const char* near = base_text_nearest(name_of(binder, node), names, type->field_count);
        ecs_bind_fault(binder, node->line, "%s has no field '%.80s'%s%s%s", type->name,
                       name_of(binder, node), near ? ", did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
        return;
    }
    if (component->fields_set >> index & 1) {
        ecs_bind_fault(binder, node->line, "field '%s' is given twice", field->name);
        return;
    }
    ecs_type_id spelling =
        ecs_type_find(binder->set->world, ecs_bind_type_name(type_of(binder, node)));
    char message[ECS_VALUE_MESSAGE_BYTES];
    if (!ecs_text_read_field(field, spelling, value_of(binder, node),
                             ecs_type_object_mut(type, value), message)) {
        ecs_bind_fault(binder, node->line, "component '%s', field '%s': %s", name_of(binder, owner),
                       field->name, message);
        return;
    }
    component->fields_set |= UINT64_C(1) << index;
}

void ecs_bind_component_block(ecs_bind_pass* binder, const ecs_text_node* node,
                              ecs_bind_scope scope) {
    if (!ecs_bind_check_name(binder, name_of(binder, node), node->line, "component")) return;
    const ecs_type* type = find_type(binder, node);
    if (!type) return;
    bool is_struct = type->id > ECS_BUILTIN_COUNT;
    bool is_container = !is_struct && type->id > ECS_BUILTIN_TAG;
    ecs_draft_component component = {0};
    bool needs_value = is_struct || is_container;
    void* value = needs_value ? ecs_template_set_value(binder->set, type) : NULL;
    if (needs_value && !value) return;
    // `{}` makes it empty; a block with words alone keeps the inherited value.
    component.is_whole = is_container && node->child_count == 0;
    uint32_t at = node->child_first;
    for (; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* child = &binder->text->nodes[at];
        const char* name = name_of(binder, child);
        if (ecs_bind_scope_word(binder, child, &scope)) continue;
        if (child->is_block && child->name == 0) continue; // the fault in its head was reported
        if (ecs_bind_is_remark(name)) continue;
        if (name[0] == '_') {
            ecs_bind_unknown_word(binder, child);
        } else if (is_container) {
            component.is_whole = true;
            if (!ecs_bind_child(binder, node, child, type, value)) return;
        } else if (child->is_block) {
            ecs_bind_fault(binder, child->line, "component '%s' (%s) cannot hold the block '%.80s'",
                           name_of(binder, node), type->name, name);
        } else if (is_struct) {
            read_struct_field(binder, child, node, type, value, &component);
        } else if (strcmp(name, "value") != 0) {
            ecs_bind_fault(binder, child->line,
                           "component '%s' (%s) takes value:%s=..., not '%.80s'",
                           name_of(binder, node), type->name, type->name, name);
        } else if (component.is_whole) {
            ecs_bind_fault(binder, child->line, "the value of '%s' is given twice",
                           name_of(binder, node));
        } else if (ecs_bind_spells(type->name, type_of(binder, child)) ||
                   ecs_bind_has_type(binder, child, type->name)) {
            (void)read_whole(binder, child, node, type, &component);
        }
    }
    if (component.fields_set || (is_container && component.is_whole)) component.slot.value = value;
    add_component(binder, node, type, &scope, component);
}

void ecs_bind_parameter(ecs_bind_pass* binder, const ecs_text_node* node,
                        const ecs_bind_scope* scope) {
    if (!ecs_bind_check_name(binder, name_of(binder, node), node->line, "component")) return;
    const ecs_type* type = find_type(binder, node);
    if (!type) return;
    ecs_draft_component component = {0};
    if (read_whole(binder, node, node, type, &component))
        add_component(binder, node, type, scope, component);
}
