// SPDX-License-Identifier: MIT
/// Private: shared by the three files that give meaning to a datablock tree (template_bind.c whole
/// templates, template_component.c components, template_words.c the words that begin with '_').
#pragma once

#include "template/template_set.h"
#include "type/type_registry.h"

#include <string.h>

/// What `_group` and a component's own block say beside values; inner ones inherit from outer ones.
typedef struct ecs_bind_scope {
    uint8_t flags, stated;
    const char* tags;
    ecs_quant_draft quant;
    bool has_teleport;
    float teleport;
    const char* visible;
    const char* integral;
} ecs_bind_scope;

typedef struct ecs_bind_pass {
    ecs_template_set* set;
    const ecs_text* text;
    uint32_t component_first;  ///< of the template at hand
    const char* template_name; ///< the same
} ecs_bind_pass;

static inline const char* name_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    return ecs_text_string(binder->text, node->name);
}
/// Without "shared:", which says that entities share one value: here each has its own, of the same kind.
static inline const char* type_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    const char* type = ecs_text_string(binder->text, node->type);
    return strncmp(type, "shared:", 7) == 0 ? type + 7 : type;
}
static inline const char* value_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    return ecs_text_string(binder->text, node->value);
}

void ecs_bind_fault(ecs_bind_pass* binder, uint32_t line, const char* format, ...)
    BASE_PRINTF(3, 4);
/// Is it a parameter of this type? Reported if not.
bool ecs_bind_has_type(ecs_bind_pass* binder, const ecs_text_node* node, const char* type);
bool ecs_bind_check_name(ecs_bind_pass* binder, const char* name, uint32_t line, const char* what);
bool ecs_bind_check_tags(ecs_bind_pass* binder, const ecs_text_node* node);
/// What a component or a group may say of itself: flags, tags, quantisation and the like.
/// @return false when the statement is none of these.
bool ecs_bind_scope_word(ecs_bind_pass* binder, const ecs_text_node* node, ecs_bind_scope* scope);
bool ecs_bind_is_scope_word(const char* name);
/// `_priority` of a template, into `priority`.
void ecs_bind_priority(ecs_bind_pass* binder, const ecs_text_node* node, uint32_t* priority);
void ecs_bind_unknown_word(ecs_bind_pass* binder, const ecs_text_node* node);
/// `_info`, `_hide` and the like: read over, a parameter or a block.
bool ecs_bind_is_remark(const char* name);
/// The type that a name of a text means: i32 is i.
const char* ecs_bind_type_name(const char* name);
/// May a value of the type be written with this type of parameter? Whole numbers also as i and i64.
bool ecs_bind_spells(const char* type, const char* spelling);
/// -1 that is spelled as i or i64 means all bits of an unsigned type.
const char* ecs_bind_value_text(const char* type, const char* spelling, const char* text);
/// Keep a component of a type that nobody registered; reported as a warning.
void ecs_bind_opaque(ecs_bind_pass* binder, const ecs_text_node* node);
/// "name:type"{ _track:b=yes; value:type=... } or { field:type=value }
void ecs_bind_component_block(ecs_bind_pass* binder, const ecs_text_node* node,
                              ecs_bind_scope scope);
/// name:type=value
void ecs_bind_parameter(ecs_bind_pass* binder, const ecs_text_node* node,
                        const ecs_bind_scope* scope);

// template_child.c
/// One statement inside the block of a list, array or object: an item of the component's value. Faults
/// are reported. @return false when memory ran out.
bool ecs_bind_child(ecs_bind_pass* binder, const ecs_text_node* component,
                    const ecs_text_node* node, const ecs_type* type, void* value);
