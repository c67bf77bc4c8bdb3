// SPDX-License-Identifier: MIT
// Elements of containers, as a datablock writes them:
//
//   "path:list<p2>"{ point:p2=0,0; point:p2=1,1 }        each of the list's type, names ignored
//   "inventory:array"{ item:t="sword"; "gem:object"{ } } any types, names ignored
//   "props:object"{ hp:i=1; "nested:object"{ a:r=1 } }   any types, each name once
//
// An element that is no container may also be a block: "item:u8"{ value:u8=1 }. The depth is
// checked against ECS_CONTAINER_DEPTH_MAX before anything is allocated, and an element that is too
// deep is reported where it begins.
#include "template/template_bind.h"

#include "type/container.h"
#include "type/world.h"

#include "base/text.h"

#include <string.h>

// The component value that is being read.
typedef struct child_pass {
    ecs_bind_pass* binder;
    const ecs_text_node* component;
    ecs_type_context context;
} child_pass;

static void report_unknown(child_pass* pass, const ecs_text_node* node) {
    ecs_bind_pass* binder = pass->binder;
    const char* names[ECS_BUILTIN_COUNT];
    uint32_t count = 0;
    for (uint32_t type = 1; type < ECS_ELEMENT_TYPE_END; type++)
        if (ecs_element_is_type(type)) names[count++] = ecs_builtin_type((ecs_type_id)type)->name;
    const char* near = base_text_nearest(type_of(binder, node), names, count);
    ecs_bind_fault(
        binder, node->line,
        "component '%s': '%.80s' has the type '%.80s', which no value inside can have%s%s%s",
        name_of(binder, pass->component), name_of(binder, node), type_of(binder, node),
        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
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
    ecs_bind_fault(binder, node->line, "component '%s', '%.80s': %s",
                   name_of(binder, pass->component), name_of(binder, node), message);
    return false;
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
    ecs_bind_fault(binder, node->line, "component '%s', '%.80s': %s is written as value:%s=...",
                   name_of(binder, pass->component), name_of(binder, node), name, name);
    return false;
}

static void refuse(child_pass* pass, const ecs_text_node* node, ecs_result result) {
    ecs_bind_pass* binder = pass->binder;
    if (result == ECS_ERR_MEMORY) {
        ecs_template_set_fail(binder->set, result);
        return;
    }
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
    refuse(pass, node, result);
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

bool ecs_bind_child(ecs_bind_pass* binder, const ecs_text_node* component,
                    const ecs_text_node* node, const ecs_type* type, void* value) {
    child_pass pass = {binder, component, {binder->set->world->allocator}};
    ecs_container_body* body =
        ecs_container_open(pass.context.allocator, value, (ecs_element_type)type->id);
    if (!body) {
        ecs_template_set_fail(binder->set, ECS_ERR_MEMORY);
        return false;
    }
    read_item(&pass, node, body, 1);
    return true;
}
