// SPDX-License-Identifier: MIT
/// Private: a set of templates between text and world, checked as a whole.
///
/// Life:   create -> read each text -> resolve -> commit; it ends at any point. Before commit the
/// world gets names of components and values, and no template.
/// Faults: They are reported where they are found and kept in `result`. Reading and resolving go
/// on, so one run reports all of them.
#pragma once

#include "ecs/template_files.h"
#include "template/datablock.h"
#include "template/template_registry.h"

typedef struct ecs_draft_parent {
    const char* name;
    uint32_t line;
} ecs_draft_parent;

/// `_tracked:t` and `_replicated:t`: a flag for a component, by its name.
typedef struct ecs_draft_flag {
    const char* component;
    uint32_t line;
    uint8_t flag;
} ecs_draft_flag;

/// What a template states about one component.
typedef struct ecs_draft_component {
    ecs_template_slot slot;
    uint64_t fields_set; ///< for a struct: bit i when field i is given; the others are inherited
    bool is_whole;       ///< slot.value is the whole value
} ecs_draft_component;

typedef enum ecs_draft_state {
    ECS_DRAFT_NEW,
    ECS_DRAFT_OPEN, ///< its parents are being resolved
    ECS_DRAFT_DONE,
} ecs_draft_state;

typedef struct ecs_draft {
    const char* name;
    const char* file;
    uint32_t line;
    bool is_singleton;
    uint32_t priority; ///< stated, after resolving also by a parent; 0: not stated
    ecs_draft_state state;
    uint32_t parent_first, parent_count, parent_next;
    uint32_t component_first, component_count;
    uint32_t flag_first, flag_count;
    ecs_template_slot* slots; ///< resolved; sorted by component name
    uint32_t slot_count;
} ecs_draft;

typedef struct ecs_template_set {
    base_owner owner; ///< of all that the set has
    ecs_world* world;
    const base_reporter* reporter;
    bool is_packed;    ///< set between init and read, like the next: all imports are read beside it
    ecs_result result; ///< first class of failure
    ecs_text** texts;
    uint32_t text_count, text_capacity;
    ecs_draft* drafts;
    uint32_t draft_count, draft_capacity;
    base_table draft_index;
    ecs_draft_parent* parents;
    uint32_t parent_count, parent_capacity;
    ecs_draft_component* components;
    uint32_t component_count, component_capacity;
    ecs_draft_flag* flags;
    uint32_t flag_count, flag_capacity;
    ecs_opaque* opaques;
    uint32_t opaque_count, opaque_capacity;
    uint32_t scene_count, init_count; ///< of the world after commit; they lie there already
} ecs_template_set;

// template_set.c
/// End it with base_owner_destroy.
ecs_template_set* ecs_template_set_create(ecs_world* world, const base_reporter* reporter);
/// Keep a failure. The first one stays.
void ecs_template_set_fail(ecs_template_set* set, ecs_result result);
/// Report a fault of the text and keep ECS_ERR_SYNTAX. @return false.
bool ecs_template_set_fault(ecs_template_set* set, const char* file, uint32_t line,
                            const char* format, ...) BASE_PRINTF(4, 5);
/// Grow an array of the set by one zeroed element: ECS_SET_PUSH(set, parent) grows `parents`.
#define ECS_SET_PUSH(set, item)                                                                    \
    ecs_template_set_push(set, (void**)&(set)->item##s, &(set)->item##_count,                      \
                          &(set)->item##_capacity, sizeof *(set)->item##s)
void* ecs_template_set_push(ecs_template_set* set, void** array, uint32_t* count,
                            uint32_t* capacity, size_t element_bytes);
/// Create a value.
void* ecs_template_value_make(ecs_world* world, const ecs_type* type);
/// Create a value that the registry owns.
void* ecs_template_set_value(ecs_template_set* set, const ecs_type* type);
/// The id of a component, new or old, by name. @return ECS_COMPONENT_NONE when its type differs, or
/// there are too many (reported).
ecs_component_id ecs_template_set_name(ecs_template_set* set, const char* name, ecs_type_id type,
                                       const char* file, uint32_t line);
/// Find a draft by name. @return NULL when no text of the set has this template.
ecs_draft* ecs_template_set_draft(const ecs_template_set* set, const char* name);

// template_pack.c
// Paths of the files that templates import: pure functions on text.
/// Turn `import`, as written in the file `from`, into a path of the source. It is relative to the
/// folder of `from`, or begins with a root ("%name/..."; "#..." is the source's own folder).
/// @return NULL and the path; else a constant text that names the fault.
BASE_MUST_USE const char* ecs_text_path_resolve(const ecs_template_source* source, const char* from,
                                                const char* import,
                                                char path[ECS_TEXT_PATH_BYTES_MAX]);
/// Does a name match a pattern of plain bytes, '*' (any number of bytes) and '?' (one byte)?
/// Without recursion: only the last '*' is tried again.
bool ecs_text_path_matches(const char* pattern, const char* name);

// template_words.c
/// Does a text of the set or the world have an opaque component of this name?
bool ecs_opaque_is_known(const ecs_template_set* set, const char* component);

// template_bind.c
/// Turn a tree into drafts. The tree must outlive the set.
void ecs_template_set_bind(ecs_template_set* set, const ecs_text* text);
/// Turn the scenes of all texts into entities, once their templates are resolved.
void ecs_template_set_bind_scenes(ecs_template_set* set);

// template_resolve.c
/// Apply inheritance: fill the slots of every draft. @return set->result: ECS_OK or the first
/// failure.
BASE_MUST_USE ecs_result ecs_template_set_resolve(ecs_template_set* set);

/// The whole value that a text gives a component: fields that it leaves out are inherited, if
/// `inherited` is not NULL. @return NULL: no value is given.
const void* ecs_draft_value(ecs_template_set* set, const ecs_draft_component* component,
                            const ecs_template_slot* inherited);

// template_value.c
#define ECS_VALUE_MESSAGE_BYTES 256u
/// Read `text` as a value of a built-in type into a created value. @return false with a message.
BASE_MUST_USE bool ecs_text_read_builtin(const ecs_type* type, const ecs_type_context* context,
                                         const char* text, void* value, char* message);
/// Read `text`, written as the built-in type `spelling`, into one field of a struct. @return as
/// above.
BASE_MUST_USE bool ecs_text_read_field(const ecs_field* field, ecs_type_id spelling,
                                       const char* text, void* value, char* message);
/// A text "1, 2.5, 3" that is read element by element.
typedef struct ecs_text_list {
    const char* at;
    bool is_matrix;         ///< brackets and blanks may stand for commas
    uint32_t count;         ///< that were read
    const ecs_world* world; ///< whose living entities may be named; NULL: none
} ecs_text_list;
/// Read the next of `needed` elements into `target`, which has the bytes of its kind. @return false
/// with a message.
BASE_MUST_USE bool ecs_text_next(ecs_text_list* list, ecs_field_kind kind, void* target,
                                 uint32_t needed, char* message);
/// @return false with a message when more than `needed` elements are there.
BASE_MUST_USE bool ecs_text_ends(ecs_text_list* list, uint32_t needed, char* message);
#define ECS_TEXT_COLOR_BYTES 256u
/// A colour of three numbers with its fourth, in `opaque`; another text is returned as it is.
const char* ecs_text_color(const char* text, char opaque[ECS_TEXT_COLOR_BYTES]);

/// `_min`, `_max`, `_step` and `_bits` as a text gives them.
typedef struct ecs_quant_draft {
    double min, max, step;
    int64_t bits;
    bool has_min, has_max, has_step, has_bits;
    bool is_angle; ///< `_angle:i=BITS`: the range is a whole turn
} ecs_quant_draft;
/// Compute the quantisation for a type. @return false with a message when it is not valid for the
/// type.
BASE_MUST_USE bool ecs_quant_draft_finish(const ecs_quant_draft* draft, const ecs_type* type,
                                          ecs_quant* quant, char* message);

// template_resolve.c: the rule of inheritance and composition
typedef struct ecs_template_fold {
    ecs_template_slot slots[ECS_TEMPLATE_COMPONENTS_MAX];
    uint32_t count;
    uint16_t where[ECS_COMPONENTS_MAX + 1]; ///< by component id: position in slots + 1
} ecs_template_fold;

/// Merge slots into the fold: what they state wins. @return false above
/// ECS_TEMPLATE_COMPONENTS_MAX.
BASE_MUST_USE bool ecs_template_fold_add(ecs_template_fold* fold, const ecs_template_slot* slots,
                                         uint32_t count);
/// Sort slots by name and make a row of the registry.
ecs_template_row* ecs_template_row_create(ecs_world* world, const ecs_template_slot* slots,
                                          uint32_t count);

// template.c: the steps of a set, and compositions
/// Read one text. Call it once per file; files may name templates of each other.
void ecs_template_set_read(ecs_template_set* set, const char* file, const char* source,
                           size_t source_bytes);
/// Add everything to the world, or nothing. The set is resolved without a fault (asserted). @return
/// ECS_OK; ECS_ERR_SEALED; ECS_ERR_SYNTAX (a scene), ECS_ERR_FULL (both reported).
BASE_MUST_USE ecs_result ecs_template_set_commit(ecs_template_set* set);
