// SPDX-License-Identifier: MIT
// From the tree of a datablock to drafts of templates. Names that begin with '_' are words of the
// language. All other names are templates at the outer level and components inside. Each statement
// is checked by itself here, against types and names; template_resolve.c checks everything that
// needs a second template.
#include "template/template_bind.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "type/container.h"
#include "type/world.h"

// Elements of containers, as a datablock writes them:
//
//   "path:list<p2>"{ point:p2=0,0; point:p2=1,1 }        each of the list's type, names ignored
//   "inventory:array"{ item:t="sword"; "gem:object"{ } } any types, names ignored
//   "props:object"{ hp:i=1; "nested:object"{ a:r=1 } }   any types, each name once
//
// An element that is no container may also be a block: "item:u8"{ value:u8=1 }. The depth is
// checked against ECS_CONTAINER_DEPTH_MAX before anything is allocated, and an element that is too
// deep is reported where it begins.

// The component value that is being read.
typedef struct child_pass {
    ecs_bind_pass* binder;
    const ecs_text_node* component;
    ecs_type_context context;
} child_pass;

static void report_unknown(child_pass* pass, const ecs_text_node* node) {
    ecs_bind_pass* binder = pass->binder;
    base_nearest nearest = base_nearest_begin(type_of(binder, node));
    char hint[BASE_HINT_BYTES];
    for (uint32_t type = 1; type < ECS_ELEMENT_TYPE_END; type++)
        if (ecs_element_is_type(type))
            base_nearest_offer(&nearest, ecs_builtin_type((ecs_type_id)type)->name);
    ecs_bind_fault(binder, node->line,
                   "component '%s': '%.80s' has the type '%.80s', which no value inside can have%s",
                   name_of(binder, pass->component), name_of(binder, node), type_of(binder, node),
                   base_nearest_hint(&nearest, hint));
}

static ecs_element_type find_type(const ecs_bind_pass* binder, const ecs_text_node* node) {
    for (uint32_t type = 1; type < ECS_ELEMENT_TYPE_END; type++)
        if (ecs_element_is_type(type) && strcmp(ecs_builtin_type((ecs_type_id)type)->name,
                                                ecs_bind_type_name(type_of(binder, node))) == 0)
            return (ecs_element_type)type;
    return ECS_ELEMENT_NONE;
}

// Read the text of a parameter into a created value.
static bool read_text(child_pass* pass, const ecs_text_node* node, ecs_element_type type,
                      void* value) {
    ecs_bind_pass* binder = pass->binder;
    const ecs_type* builtin = ecs_builtin_type((ecs_type_id)type);
    char message[ECS_VALUE_MESSAGE_BYTES];
    const char* text =
        ecs_bind_value_text(builtin->name, type_of(binder, node), value_of(binder, node));
    if (ecs_text_read_builtin(builtin, &pass->context, text, value, message)) return true;
    return ecs_bind_fault(binder, node->line, "component '%s', '%.80s': %s",
                          name_of(binder, pass->component), name_of(binder, node), message);
}

// Read "item:u8"{ value:u8=1 }. @return false after a fault.
static bool read_boxed_text(child_pass* pass, const ecs_text_node* node, ecs_element_type type,
                            void* value) {
    ecs_bind_pass* binder = pass->binder;
    if (node->child_count == 0) return true; // the default value
    const ecs_text_node* only =
        node->child_count == 1 ? &binder->text->nodes[node->child_first] : NULL;
    if (only && !only->is_block && strcmp(name_of(binder, only), "value") == 0 &&
        ecs_bind_spells(type_of(binder, node), type_of(binder, only)))
        return read_text(pass, only, type, value);
    const char* name = type_of(binder, node);
    return ecs_bind_fault(binder, node->line,
                          "component '%s', '%.80s': %s is written as value:%s=...",
                          name_of(binder, pass->component), name_of(binder, node), name, name);
}

static void refuse_child(child_pass* pass, const ecs_text_node* node) {
    ecs_bind_pass* binder = pass->binder;
    size_t name_bytes = strlen(name_of(binder, node));
    if (name_bytes == 0 || name_bytes >= ECS_CONTAINER_NAME_BYTES_MAX)
        ecs_bind_fault(binder, node->line, "component '%s': '%.80s': a name has 1 to %u bytes",
                       name_of(binder, pass->component), name_of(binder, node),
                       ECS_CONTAINER_NAME_BYTES_MAX - 1);
    else
        ecs_bind_fault(
            binder, node->line,
            "component '%s': too much inside: at most %u values in a block, and %u bytes "
            "in all",
            name_of(binder, pass->component), ECS_CONTAINER_COUNT_MAX, ECS_CONTAINER_BYTES_MAX);
}

static void read_items(child_pass* pass, const ecs_text_node* block, ecs_container_body* body,
                       uint32_t depth);

// Append an item to a list or array, or add it to an object under its name. @return its value; NULL
// after a fault.
static void* add_item(child_pass* pass, const ecs_text_node* node, ecs_container_body* body,
                      ecs_element_type type, const void* value) {
    const base_allocator* allocator = pass->context.allocator;
    const char* name = body->type == ECS_ELEMENT_OBJECT ? name_of(pass->binder, node) : NULL;
    uint32_t index = body->count;
    if (name && ecs_container_seek(body, name, &index)) {
        ecs_bind_fault(pass->binder, node->line, "component '%s': '%.80s' is given twice",
                       name_of(pass->binder, pass->component), name);
        return NULL;
    }
    ecs_result result = ecs_container_insert(allocator, body, index, name, type, value);
    if (result == ECS_OK) return ecs_container_item(body, index);
    refuse_child(pass, node);
    return NULL;
}

static void read_plain(child_pass* pass, const ecs_text_node* node, ecs_container_body* body,
                       ecs_element_type type) {
    ecs_element made = {.type = type};
    bool is_read = node->is_block ? read_boxed_text(pass, node, type, &made.as)
                                  : read_text(pass, node, type, &made.as);
    if (is_read) (void)add_item(pass, node, body, type, &made.as);
    ecs_element_unmake(pass->context.allocator, type, &made.as);
}

static void read_container(child_pass* pass, const ecs_text_node* node, ecs_container_body* body,
                           ecs_element_type type, uint32_t depth) {
    ecs_bind_pass* binder = pass->binder;
    const char* name = type_of(binder, node);
    if (!node->is_block) {
        ecs_bind_fault(binder, node->line,
                       "component '%s', '%.80s': %s %s is written as a block: \"name:%s\"{ }",
                       name_of(binder, pass->component), name_of(binder, node),
                       ecs_element_is_list(type) ? "a" : "an", name, name);
    } else if (depth == ECS_CONTAINER_DEPTH_MAX) {
        ecs_bind_fault(binder, node->line, "component '%s': more than %u blocks inside one another",
                       name_of(binder, pass->component), ECS_CONTAINER_DEPTH_MAX);
    } else {
        const void* item = add_item(pass, node, body, type, NULL);
        if (item) read_items(pass, node, ecs_container_body_of(item), depth + 1);
    }
}

static void read_item(child_pass* pass, const ecs_text_node* node, ecs_container_body* body,
                      uint32_t depth) {
    ecs_bind_pass* binder = pass->binder;
    if (node->is_block && node->name == 0) return; // the fault in its head was reported
    if (name_of(binder, node)[0] == '_') {
        ecs_bind_unknown_word(binder, node);
        return;
    }
    if (node->is_block && *type_of(binder, node) == '\0') {
        ecs_bind_fault(binder, node->line, "block '%.80s' needs a type, as in \"%.80s:object\"{ }",
                       name_of(binder, node), name_of(binder, node));
        return;
    }
    ecs_element_type type = find_type(binder, node);
    if (type == ECS_ELEMENT_NONE) {
        report_unknown(pass, node);
    } else if (ecs_element_is_list(body->type) && body->type != ecs_element_list_of(type)) {
        ecs_bind_fault(binder, node->line, "component '%s': a %s holds no %s",
                       name_of(binder, pass->component),
                       ecs_builtin_type((ecs_type_id)body->type)->name, type_of(binder, node));
    } else if (ecs_element_is_container(type)) {
        read_container(pass, node, body, type, depth);
    } else {
        read_plain(pass, node, body, type);
    }
}

static void read_items(child_pass* pass, const ecs_text_node* block, ecs_container_body* body,
                       uint32_t depth) {
    const ecs_text_node* nodes = pass->binder->text->nodes;
    for (uint32_t at = block->child_first; at; at = nodes[at].next)
        read_item(pass, &nodes[at], body, depth);
}

// Bind one component of a template: type, name in the world, flags and value. The text may give
// only some fields of a struct.

// Find the type of a component. A block without a type belongs to a component that has one
// elsewhere, above it or in the world. @return NULL when no such type is registered; the component
// is kept as opaque then.
static const ecs_type* find_component_type(ecs_bind_pass* binder, const ecs_text_node* node) {
    const ecs_world* world = binder->set->world;
    const char* name = ecs_bind_type_name(type_of(binder, node));
    ecs_type_id id = ECS_TYPE_NONE;
    if (*name) {
        id = ecs_type_find(world, name);
    } else {
        const char* component = name_of(binder, node);
        const ecs_component* known = ecs_component_get(
            world, ecs_component_seek(world, component, base_hash64_text(component)));
        if (known) id = known->type;
    }
    if (id != ECS_TYPE_NONE) return ecs_type_get(world, id);
    ecs_bind_opaque(binder, node);
    return NULL;
}

// @return false after a fault.
static bool apply_scope(ecs_bind_pass* binder, const ecs_text_node* node,
                        const ecs_bind_scope* scope, const ecs_type* type,
                        ecs_template_slot* slot) {
    const void* value = slot->value;
    *slot = scope->slot;
    slot->value = value;
    slot->line = node->line;
    ecs_quant_draft with_range = scope->quant;
    ecs_quant_draft* quant = &with_range;
    // All four numbers of a unit quaternion are in [-1, 1].
    if ((slot->flags & ECS_SLOT_ROTATION) && !quant->has_min && !quant->has_max) {
        quant->has_min = quant->has_max = quant->has_bits;
        quant->min = -1;
        quant->max = 1;
    }
    if (!quant->has_min && !quant->has_max && !quant->has_step && !quant->has_bits) return true;
    char message[ECS_VALUE_MESSAGE_BYTES];
    if (!ecs_quant_draft_finish(quant, type, &slot->quant, message))
        return ecs_bind_fault(binder, node->line, "component '%s' (%s): %s", name_of(binder, node),
                              type->name, message);
    slot->is_quantised = true;
    return true;
}

static void add_component(ecs_bind_pass* binder, const ecs_text_node* node, const ecs_type* type,
                          const ecs_bind_scope* scope, ecs_draft_component component) {
    ecs_template_set* set = binder->set;
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
    *(ecs_draft_component*)ECS_SET_PUSH(set, component) = component;
}

// Bind name:type=value, or `value:type=...` in a component's block, where `owner` is the block.
static bool read_whole(ecs_bind_pass* binder, const ecs_text_node* node, const ecs_text_node* owner,
                       const ecs_type* type, ecs_draft_component* component) {
    if (type->id > ECS_BUILTIN_TAG) {
        bool is_struct = type->id > ECS_BUILTIN_COUNT;
        return ecs_bind_fault(binder, node->line,
                              "a %s is written as a block: \"%s:%s\"{ %s:type=value }", type->name,
                              name_of(binder, owner), type->name, is_struct ? "field" : "item");
    }
    void* value = ecs_template_set_value(binder->set, type);
    ecs_type_context context = {binder->set->world->allocator};
    char message[ECS_VALUE_MESSAGE_BYTES];
    const char* text =
        ecs_bind_value_text(type->name, type_of(binder, node), value_of(binder, node));
    if (!ecs_text_read_builtin(type, &context, text, value, message))
        return ecs_bind_fault(binder, node->line, "component '%s' (%s): %s", name_of(binder, owner),
                              type->name, message);
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
        base_nearest nearest = base_nearest_begin(name_of(binder, node));
        char hint[BASE_HINT_BYTES];
        for (uint32_t i = 0; i < type->field_count; i++)
            base_nearest_offer(&nearest, type->fields[i].name);
        ecs_bind_fault(binder, node->line, "%s has no field '%.80s'%s", type->name,
                       name_of(binder, node), base_nearest_hint(&nearest, hint));
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

// "name:type"{ _track:b=yes; value:type=... } or { field:type=value }
static void bind_component_block(ecs_bind_pass* binder, const ecs_text_node* node,
                                 ecs_bind_scope scope) {
    if (!ecs_bind_check_name(binder, name_of(binder, node), node->line, "component")) return;
    const ecs_type* type = find_component_type(binder, node);
    if (!type) return;
    bool is_struct = type->id > ECS_BUILTIN_COUNT;
    bool is_container = !is_struct && type->id > ECS_BUILTIN_TAG;
    ecs_draft_component component = {0};
    bool needs_value = is_struct || is_container;
    void* value = needs_value ? ecs_template_set_value(binder->set, type) : NULL;
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
            child_pass pass = {binder, node, {binder->set->world->allocator}};
            read_item(&pass, child,
                      ecs_container_open(pass.context.allocator, value, (ecs_element_type)type->id),
                      1);
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

// name:type=value
static void bind_parameter(ecs_bind_pass* binder, const ecs_text_node* node,
                           const ecs_bind_scope* scope) {
    if (!ecs_bind_check_name(binder, name_of(binder, node), node->line, "component")) return;
    const ecs_type* type = find_component_type(binder, node);
    if (!type) return;
    ecs_draft_component component = {0};
    if (read_whole(binder, node, node, type, &component))
        add_component(binder, node, type, scope, component);
}

// Bind the components of a template or group. The depth is at most ECS_TEXT_DEPTH_MAX.
static void bind_components(ecs_bind_pass* binder, const ecs_text_node* block, ecs_bind_scope scope,
                            bool is_group) {
    const ecs_text_node* nodes = binder->text->nodes;
    // The words of a group hold for all its components, also for those written before them.
    for (uint32_t at = block->child_first; at && is_group; at = nodes[at].next) {
        const ecs_text_node* node = &nodes[at];
        const char* name = name_of(binder, node);
        if (!ecs_bind_scope_word(binder, node, &scope) && name[0] == '_' && !node->is_block &&
            !ecs_bind_is_remark(name))
            ecs_bind_unknown_word(binder, node);
    }
    for (uint32_t at = block->child_first; at; at = nodes[at].next) {
        const ecs_text_node* node = &nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block && node->name == 0) continue; // the fault in its head was reported
        if (ecs_bind_is_remark(name)) continue;
        if (node->is_block && strcmp(name, "_group") == 0)
            bind_components(binder, node, scope, true);
        else if (node->is_block)
            bind_component_block(binder, node, scope);
        else if (name[0] != '_')
            bind_parameter(binder, node, &scope);
    }
}

static void add_parent(ecs_bind_pass* binder, ecs_draft* draft, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    if (!ecs_bind_has_type(binder, node, "t")) return;
    ecs_draft_parent* parent = ECS_SET_PUSH(set, parent);
    *parent = (ecs_draft_parent){value_of(binder, node), node->line};
    draft->parent_count++;
}

static void add_flag(ecs_bind_pass* binder, ecs_draft* draft, const ecs_text_node* node,
                     uint8_t flag) {
    ecs_template_set* set = binder->set;
    if (!ecs_bind_has_type(binder, node, "t")) return;
    ecs_draft_flag* entry = ECS_SET_PUSH(set, flag);
    *entry = (ecs_draft_flag){value_of(binder, node), node->line, flag};
    draft->flag_count++;
}

// Bind the words of the template itself. Its `_tags` hold for its own components that have none.
static void bind_template_words(ecs_bind_pass* binder, const ecs_text_node* block, ecs_draft* draft,
                                ecs_bind_scope* shared) {
    for (uint32_t at = block->child_first; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* node = &binder->text->nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block || name[0] != '_') continue;
        if (strcmp(name, "_extends") == 0 || strcmp(name, "_use") == 0) {
            add_parent(binder, draft, node);
        } else if (strcmp(name, "_tracked") == 0) {
            add_flag(binder, draft, node, ECS_COMPONENT_TRACKED);
        } else if (strcmp(name, "_replicated") == 0) {
            add_flag(binder, draft, node, ECS_COMPONENT_REPLICATED);
        } else if (strcmp(name, "_tags") == 0 || strcmp(name, "_track") == 0 ||
                   strcmp(name, "_replicate") == 0) {
            (void)ecs_bind_scope_word(binder, node, shared);
        } else if (strcmp(name, "_priority") == 0) {
            ecs_bind_priority(binder, node, &draft->priority);
        } else if (strcmp(name, "_singleton") == 0) {
            (void)ecs_bind_bool(binder, node, &draft->is_singleton);
        } else if (!ecs_bind_is_remark(name)) {
            ecs_bind_unknown_word(binder, node);
        }
    }
}

static ecs_draft* add_draft(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    const char* name = name_of(binder, node);
    const ecs_draft* other = ecs_template_set_draft(set, name);
    ecs_template_id loaded = ecs_template_seek(set->world, name);
    if (other) {
        ecs_bind_fault(binder, node->line, "template '%s' exists already: %s:%u", name, other->file,
                       other->line);
    } else if (loaded != ECS_TEMPLATE_NONE) {
        const ecs_template* template_ = ecs_template_get(set->world, loaded);
        ecs_bind_fault(binder, node->line, "template '%s' exists already: %s:%u", name,
                       template_->file, template_->line);
    }
    ecs_draft* draft = ECS_SET_PUSH(set, draft);
    *draft = (ecs_draft){.name = name,
                         .file = binder->text->file,
                         .line = node->line,
                         .parent_first = set->parent_count,
                         .component_first = set->component_count,
                         .flag_first = set->flag_count};
    if (other) return draft; // a second template of this name: checked for faults only
    base_table_reserve(&set->draft_index, &set->owner.allocator, set->draft_count);
    base_table_add(&set->draft_index, base_hash64_text(name), set->draft_count);
    return draft;
}

static void bind_template(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    ecs_draft* draft = add_draft(binder, node);
    ecs_bind_scope shared = {0};
    binder->component_first = set->component_count;
    binder->template_name = draft->name;
    bind_template_words(binder, node, draft, &shared);
    bind_components(binder, node, shared, false);
    draft->component_count = set->component_count - draft->component_first;
}

void ecs_template_set_bind(ecs_template_set* set, const ecs_text* text) {
    BASE_ASSERT(set && text);
    ecs_bind_pass whole = {.set = set, .text = text};
    ecs_bind_pass* binder = &whole;
    for (uint32_t at = text->nodes[0].child_first; at; at = text->nodes[at].next) {
        const ecs_text_node* node = &text->nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block && node->name == 0) {
            // The fault in its head was reported. Its content may be anything.
        } else if (node->is_block && *type_of(binder, node) != '\0') {
            ecs_bind_fault(binder, node->line, "template '%.80s' cannot have the type '%.80s'",
                           name, type_of(binder, node));
        } else if (node->is_block && strncmp(name, "_info", 5) == 0) {
            // Remarks for editors: _info, _infoCommonTemplates, _infoCommonComponents.
        } else if (node->is_block && strcmp(name, "_scene") == 0) {
            // Entities: they are bound once all templates are resolved.
        } else if (node->is_block) {
            if (ecs_bind_check_name(binder, name, node->line, "template"))
                bind_template(binder, node);
        } else if (ecs_text_is_import(text, node) && set->is_packed) {
            // The pack contains the imports already.
        } else if (strcmp(name, "file") == 0) {
            // For the pack alone: no world reads it.
        } else if (strcmp(name, "import_optional") == 0) {
            // Without a source of files no import exists.
        } else if (strcmp(name, "import") == 0) {
            ecs_bind_fault(binder, node->line,
                           "import of '%.80s': files do not load others, name both to the loader",
                           value_of(binder, node));
        } else {
            ecs_bind_fault(binder, node->line,
                           "parameter '%.80s' belongs into a template: name { ... }", name);
        }
    }
}

// Scenes: entities with which a match begins. They are bound when all templates of a set are
// resolved, so that a scene may be above the templates that it names, or in another file. A
// component of an entity is a value and nothing else; its template decides what is tracked and
// sent. Fields that are left out are the template's.

// The template of an entity, as it will be after commit.
typedef struct scene_template {
    const char* name; ///< NULL: none is given
    ecs_template_id id;
    const ecs_template_slot* slots;
    uint32_t slot_count;
} scene_template;

// @return false: there is none.
static bool find_template(const ecs_template_set* set, scene_template* from) {
    const ecs_templates* templates = set->world->templates;
    const ecs_draft* draft = ecs_template_set_draft(set, from->name);
    from->id = draft ? (ecs_template_id)(templates->count + 1 + (uint32_t)(draft - set->drafts))
                     : ecs_template_seek(set->world, from->name);
    if (from->id == ECS_TEMPLATE_NONE) return false;
    from->slots = draft ? draft->slots : templates->rows[from->id - 1]->slots;
    from->slot_count = draft ? draft->slot_count : templates->rows[from->id - 1]->slot_count;
    return true;
}

// @return false: the entity has no template that is there, or the set is alone and cannot know.
static bool bind_entity_words(ecs_bind_pass* binder, const ecs_text_node* entity,
                              scene_template* from) {
    const ecs_template_set* set = binder->set;
    for (uint32_t at = entity->child_first; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* node = &binder->text->nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block || name[0] != '_' || ecs_bind_is_remark(name)) continue;
        if (strcmp(name, "_template") != 0)
            ecs_bind_unknown_word(binder, node);
        else if (from->name)
            ecs_bind_fault(binder, node->line, "_template is given twice");
        else if (ecs_bind_has_type(binder, node, "t"))
            from->name = value_of(binder, node);
    }
    if (!from->name)
        return ecs_bind_fault(binder, entity->line, "entity '%s' needs _template:t=\"NAME\"",
                              binder->template_name);
    if (find_template(set, from)) return true;
    base_nearest nearest = base_nearest_begin(from->name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < set->draft_count; i++)
        base_nearest_offer(&nearest, set->drafts[i].name);
    return ecs_bind_fault(binder, entity->line, "entity '%s': there is no template '%.80s'%s",
                          binder->template_name, from->name, base_nearest_hint(&nearest, hint));
}

static void add_init(ecs_bind_pass* binder, const scene_template* from,
                     const ecs_draft_component* component) {
    ecs_template_set* set = binder->set;
    ecs_templates* templates = set->world->templates;
    const char* name = ecs_component_get(set->world, component->slot.component)->name;
    base_nearest nearest = base_nearest_begin(name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < from->slot_count; i++) {
        const ecs_template_slot* slot = &from->slots[i];
        base_nearest_offer(&nearest, ecs_component_get(set->world, slot->component)->name);
        if (slot->component != component->slot.component) continue;
        const void* value = ecs_draft_value(set, component, slot);
        if (!value) return;
        BASE_ARRAY_RESERVE(set->world->allocator, templates->inits, templates->init_capacity,
                           set->init_count + 1);
        templates->inits[set->init_count++] = (ecs_init){slot->component, value};
        return;
    }
    ecs_bind_fault(binder, component->slot.line,
                   "entity '%s': template '%s' has no component '%s'%s", binder->template_name,
                   from->name, name, base_nearest_hint(&nearest, hint));
}

static void bind_entity(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    ecs_templates* templates = set->world->templates;
    scene_template from = {0};
    binder->template_name = name_of(binder, node);
    binder->component_first = set->component_count;
    if (!ecs_bind_check_name(binder, binder->template_name, node->line, "entity")) return;
    const bool has_template = bind_entity_words(binder, node, &from);
    bind_components(binder, node, (ecs_bind_scope){0}, false);
    if (!has_template) return;
    const uint32_t init_first = set->init_count;
    for (uint32_t i = binder->component_first; i < set->component_count; i++)
        add_init(binder, &from, &set->components[i]);
    if (set->scene_count == ECS_SCENE_ENTITIES_MAX) {
        base_report(set->reporter, binder->text->file, node->line,
                    "more than %u entities in all scenes", ECS_SCENE_ENTITIES_MAX);
        ecs_template_set_fail(set, ECS_ERR_FULL);
        return;
    }
    BASE_ARRAY_RESERVE(set->world->allocator, templates->scenes, templates->scene_capacity,
                       set->scene_count + 1);
    ecs_scene_entity* entity = &templates->scenes[set->scene_count++];
    *entity = (ecs_scene_entity){from.id, init_first, set->init_count - init_first, node->line, ""};
    (void)base_text_copy(entity->file, sizeof entity->file, binder->text->file);
}

static void bind_scene(ecs_bind_pass* binder, const ecs_text_node* scene) {
    for (uint32_t at = scene->child_first; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* node = &binder->text->nodes[at];
        const char* name = name_of(binder, node);
        if (binder->set->result == ECS_ERR_FULL) return;
        if ((node->is_block && node->name == 0) || ecs_bind_is_remark(name)) continue;
        if (node->is_block && *type_of(binder, node) == '\0')
            bind_entity(binder, node);
        else
            ecs_bind_fault(binder, node->line,
                           "'%.80s' is not a scene entity: name { _template:t=\"NAME\" }", name);
    }
}

void ecs_template_set_bind_scenes(ecs_template_set* set) {
    BASE_ASSERT(set->result == ECS_OK && "templates come first");
    set->scene_count = set->world->templates->scene_count;
    set->init_count = set->world->templates->init_count;
    for (uint32_t i = 0; i < set->text_count; i++) {
        ecs_bind_pass binder = {.set = set, .text = set->texts[i], .is_scene = true};
        const ecs_text_node* nodes = binder.text->nodes;
        for (uint32_t at = nodes[0].child_first; at; at = nodes[at].next)
            if (nodes[at].is_block && strcmp(name_of(&binder, &nodes[at]), "_scene") == 0)
                bind_scene(&binder, &nodes[at]);
    }
}
