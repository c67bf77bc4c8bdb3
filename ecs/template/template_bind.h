// SPDX-License-Identifier: MIT
/// Private: shared by the files that turn a datablock tree into drafts: template_bind.c (templates,
/// components, elements of containers), template_words.c (words that begin with '_').
#pragma once

#include "template/template_set.h"
#include "type/type_registry.h"

#include <string.h>

/// The words of a `_group` or of a component's own block. Inner blocks inherit from outer ones.
typedef struct ecs_bind_scope {
    ecs_template_slot slot; ///< what they state of a component
    ecs_quant_draft quant;
} ecs_bind_scope;

typedef struct ecs_bind_pass {
    ecs_template_set* set;
    const ecs_text* text;
    uint32_t component_first;  ///< of the current template
    const char* template_name; ///< of the current template
    bool is_scene;             ///< components of an entity: values alone
} ecs_bind_pass;

static inline const char* name_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    return ecs_text_string(binder->text, node->name);
}
/// The type without "shared:". That word means that entities share one value; here each entity has
/// its own.
static inline const char* type_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    const char* type = ecs_text_string(binder->text, node->type);
    return strncmp(type, "shared:", 7) == 0 ? type + 7 : type;
}
static inline const char* value_of(const ecs_bind_pass* binder, const ecs_text_node* node) {
    return ecs_text_string(binder->text, node->value);
}

/// @return false.
bool ecs_bind_fault(ecs_bind_pass* binder, uint32_t line, const char* format, ...)
    BASE_PRINTF(3, 4);
/// Is it a parameter of this type? If not, that is reported.
bool ecs_bind_has_type(ecs_bind_pass* binder, const ecs_text_node* node, const char* type);
bool ecs_bind_check_name(ecs_bind_pass* binder, const char* name, uint32_t line, const char* what);
/// Bind a word of a component or group: flags, tags, quantisation and so on. @return false when the
/// statement is none of these.
bool ecs_bind_scope_word(ecs_bind_pass* binder, const ecs_text_node* node, ecs_bind_scope* scope);
/// Read a parameter of type b. @return false after a fault.
bool ecs_bind_bool(ecs_bind_pass* binder, const ecs_text_node* node, bool* value);
/// `_priority` of a template, into `priority`.
void ecs_bind_priority(ecs_bind_pass* binder, const ecs_text_node* node, uint32_t* priority);
void ecs_bind_unknown_word(ecs_bind_pass* binder, const ecs_text_node* node);
/// Is it a remark for editors (`_info`, `_hide`, ...), a parameter or a block? Remarks are ignored.
bool ecs_bind_is_remark(const char* name);
/// The type that a name in a text means: i32 is i.
const char* ecs_bind_type_name(const char* name);
/// May a value of the type be written as a parameter of this type? Whole numbers may also be i and
/// i64.
bool ecs_bind_spells(const char* type, const char* spelling);
/// For an unsigned type, -1 written as i or i64 means all bits set.
const char* ecs_bind_value_text(const char* type, const char* spelling, const char* text);
/// Keep a component whose type is not registered, and report a warning.
void ecs_bind_opaque(ecs_bind_pass* binder, const ecs_text_node* node);
