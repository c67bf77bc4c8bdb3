// SPDX-License-Identifier: MIT
// Opaque components: their type is not registered. Files that several programs share contain some.
// Each is kept as it is written (name, type, text), so that tools can show and compare it.
// Archetypes, rows and schemas ignore them, and templates do not inherit them.
#include "template/template_bind.h"

#include "type/world.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

void ecs_bind_opaque(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    const ecs_text* text = binder->text;
    const char* name = ecs_bind_type_name(type_of(binder, node));
    const char* names[ECS_TYPES_MAX];
    for (uint32_t i = 0; i < set->world->types->type_count; i++)
        names[i] = ecs_type_at(set->world->types, i + 1)->name;
    const char* near = *name ? base_text_nearest(name, names, set->world->types->type_count) : NULL;
    if (*name)
        base_report(set->reporter, text->file, node->line,
                    "warning: component '%.80s' has the unknown type '%.80s'%s%s%s: kept, not used",
                    name_of(binder, node), name, near ? ", did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
    else
        base_report(
            set->reporter, text->file, node->line,
            "warning: component '%.80s' has no type here or above, as in \"%.80s:type\"{ }: "
            "kept, not used",
            name_of(binder, node), name_of(binder, node));
    void* opaques = set->opaques;
    ecs_draft_opaque* opaque = ecs_template_set_push(set, &opaques, &set->opaque_count,
                                                     &set->opaque_capacity, sizeof *opaque);
    set->opaques = opaques;
    if (!opaque) return;
    const char* value = node->is_block ? text->source + node->begin : value_of(binder, node);
    *opaque = (ecs_draft_opaque){.template_name = binder->template_name,
                                 .component = name_of(binder, node),
                                 .type = name,
                                 .file = text->file,
                                 .text = value,
                                 .text_bytes = node->is_block ? node->end - node->begin
                                                              : (uint32_t)strlen(value),
                                 .line = node->line};
}

// Append a string and its NUL. @return its begin.
static const char* append(char** at, const char* text, size_t bytes) {
    char* begin = *at;
    memcpy(begin, text, bytes);
    begin[bytes] = '\0';
    *at += bytes + 1;
    return begin;
}

static ecs_opaque_row* make_row(const ecs_template_set* set, const ecs_draft_opaque* draft,
                                uint32_t id_first) {
    BASE_ASSERT(draft->template_name && draft->component && draft->text);
    size_t component_bytes = strlen(draft->component), type_bytes = strlen(draft->type);
    size_t file_bytes = strlen(draft->file);
    size_t bytes =
        sizeof(ecs_opaque_row) + component_bytes + type_bytes + file_bytes + draft->text_bytes + 4;
    ecs_opaque_row* row = base_allocate(set->world->allocator, bytes);
    if (!row) return NULL;
    char* at = (char*)(row + 1);
    const ecs_draft* owner = ecs_template_set_draft(set, draft->template_name);
    ecs_template_id id = ecs_template_seek(set->world, draft->template_name);
    if (id == ECS_TEMPLATE_NONE && owner)
        id = (ecs_template_id)(id_first + (uint32_t)(owner - set->drafts));
    *row = (ecs_opaque_row){.bytes = bytes};
    row->public = (ecs_template_opaque){.template_id = id,
                                        .component = append(&at, draft->component, component_bytes),
                                        .type = append(&at, draft->type, type_bytes),
                                        .file = append(&at, draft->file, file_bytes),
                                        .text = append(&at, draft->text, draft->text_bytes),
                                        .text_bytes = draft->text_bytes,
                                        .line = draft->line};
    return row;
}

uint32_t ecs_opaques_make(const ecs_template_set* set, uint32_t id_first, ecs_opaque_row** rows) {
    BASE_ASSERT(rows || set->opaque_count == 0);
    for (uint32_t i = 0; i < set->opaque_count; i++) {
        rows[i] = make_row(set, &set->opaques[i], id_first);
        if (!rows[i]) return i;
    }
    return set->opaque_count;
}

void ecs_opaque_destroy(ecs_world* world, ecs_opaque_row* row) {
    if (row) base_release(world->allocator, row, row->bytes);
}

const ecs_template_opaque* ecs_opaque_seek(const ecs_world* world, const char* component) {
    BASE_ASSERT(component);
    const ecs_templates* templates = world->templates;
    for (uint32_t i = 0; i < templates->opaque_count; i++)
        if (strcmp(templates->opaques[i]->public.component, component) == 0)
            return &templates->opaques[i]->public;
    return NULL;
}

bool ecs_opaque_is_known(const ecs_template_set* set, const char* component) {
    BASE_ASSERT(component);
    for (uint32_t i = 0; i < set->opaque_count; i++)
        if (strcmp(set->opaques[i].component, component) == 0) return true;
    return ecs_opaque_seek(set->world, component) != NULL;
}

uint32_t ecs_template_opaque_count(const ecs_world* world) {
    return world->templates->opaque_count;
}

const ecs_template_opaque* ecs_template_opaque_get(const ecs_world* world, uint32_t index) {
    BASE_ASSERT(index < world->templates->opaque_count);
    return &world->templates->opaques[index]->public;
}
