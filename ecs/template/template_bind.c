// SPDX-License-Identifier: MIT
// From the tree of a datablock to drafts of templates. Names that begin with '_' are words of the
// language. All other names are templates at the outer level and components inside. Each statement
// is checked by itself here, against types and names; template_resolve.c checks everything that
// needs a second template.
#include "template/template_bind.h"

#include "type/world.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

// Bind the components of a template or group. The depth is at most ECS_TEXT_DEPTH_MAX.
static void bind_components(ecs_bind_pass* binder, const ecs_text_node* block, ecs_bind_scope scope,
                            bool is_group) {
    const ecs_text_node* nodes = binder->text->nodes;
    // The words of a group hold for all its components, also for those written before them.
    for (uint32_t at = block->child_first; at && is_group; at = nodes[at].next)
        (void)ecs_bind_scope_word(binder, &nodes[at], &scope);
    for (uint32_t at = block->child_first; at; at = nodes[at].next) {
        const ecs_text_node* node = &nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block && node->name == 0) continue; // the fault in its head was reported
        if (ecs_bind_is_remark(name)) continue;
        if (node->is_block && strcmp(name, "_group") == 0)
            bind_components(binder, node, scope, true);
        else if (node->is_block)
            ecs_bind_component_block(binder, node, scope);
        else if (name[0] != '_')
            ecs_bind_parameter(binder, node, &scope);
        else if (is_group && !ecs_bind_is_scope_word(name))
            ecs_bind_unknown_word(binder, node);
    }
}

static void add_parent(ecs_bind_pass* binder, ecs_draft* draft, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    if (!ecs_bind_has_type(binder, node, "t")) return;
    void* parents = set->parents;
    ecs_draft_parent* parent = ecs_template_set_push(set, &parents, &set->parent_count,
                                                     &set->parent_capacity, sizeof *parent);
    set->parents = parents;
    if (!parent) return;
    *parent = (ecs_draft_parent){value_of(binder, node), node->line};
    draft->parent_count++;
}

static void add_flag(ecs_bind_pass* binder, ecs_draft* draft, const ecs_text_node* node,
                     uint8_t flag) {
    ecs_template_set* set = binder->set;
    if (!ecs_bind_has_type(binder, node, "t")) return;
    void* flags = set->flags;
    ecs_draft_flag* entry =
        ecs_template_set_push(set, &flags, &set->flag_count, &set->flag_capacity, sizeof *entry);
    set->flags = flags;
    if (!entry) return;
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
            if (ecs_bind_has_type(binder, node, "b") &&
                !ecs_text_read_bool(value_of(binder, node), &draft->is_singleton))
                ecs_bind_fault(binder, node->line, "_singleton: '%.80s' is neither yes nor no",
                               value_of(binder, node));
        } else if (!ecs_bind_is_remark(name)) {
            ecs_bind_unknown_word(binder, node);
        }
    }
}

// @return NULL after a fault.
static ecs_draft* add_draft(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    const char* name = name_of(binder, node);
    const ecs_draft* other = ecs_template_set_draft(set, name);
    ecs_template_id loaded = ecs_template_seek(set->world, name);
    if (other) {
        ecs_bind_fault(binder, node->line, "template '%s' exists already: %s:%u", name, other->file,
                       other->line);
    } else if (loaded != ECS_TEMPLATE_NONE && !set->is_reload) {
        const ecs_template* template_ = ecs_template_get(set->world, loaded);
        ecs_bind_fault(binder, node->line, "template '%s' exists already: %s:%u", name,
                       template_->file, template_->line);
    }
    void* drafts = set->drafts;
    ecs_draft* draft =
        ecs_template_set_push(set, &drafts, &set->draft_count, &set->draft_capacity, sizeof *draft);
    set->drafts = drafts;
    if (!draft) return NULL;
    *draft = (ecs_draft){.name = name,
                         .file = binder->text->file,
                         .line = node->line,
                         .parent_first = set->parent_count,
                         .component_first = set->component_count,
                         .flag_first = set->flag_count};
    if (other) return draft; // a second template of this name: checked for faults only
    if (!base_table_reserve(&set->draft_index, set->world->allocator, set->draft_count)) {
        ecs_template_set_fail(set, ECS_ERR_MEMORY);
        return NULL;
    }
    base_table_add(&set->draft_index, base_hash64_text(name), set->draft_count);
    return draft;
}

static void bind_template(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    ecs_draft* draft = add_draft(binder, node);
    if (!draft) return;
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
        } else if (node->is_block) {
            if (ecs_bind_check_name(binder, name, node->line, "template"))
                bind_template(binder, node);
        } else if (ecs_text_is_import(text, node) && (set->is_packed || set->is_alone)) {
            // The pack contains the imports already, or the caller does not want them.
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
