// SPDX-License-Identifier: MIT
// The set of drafts: its arrays, its names and its faults. The other files of this room fill it;
// template.c drives them.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/hash.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Reading the registry of templates, by id and by name. template.c fills it.

ecs_template_id ecs_template_seek(const ecs_world* world, const char* name) {
    BASE_ASSERT(name);
    uint64_t hash = base_hash64_text(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->templates->index, hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_TEMPLATE_NONE;
        const ecs_template* template_ = &world->templates->rows[id - 1]->public;
        if (template_->part_count == 1 && strcmp(template_->name, name) == 0)
            return (ecs_template_id)id;
    }
}

const ecs_template* ecs_template_get(const ecs_world* world, ecs_template_id id) {
    if (id == ECS_TEMPLATE_NONE || id > world->templates->count) return NULL;
    return &world->templates->rows[id - 1]->public;
}

uint32_t ecs_template_count(const ecs_world* world) {
    return world->templates->count;
}

const ecs_template_component* ecs_template_find_component(const ecs_template* template_,
                                                          ecs_component_id component) {
    BASE_ASSERT(template_);
    for (uint32_t i = 0; i < template_->component_count; i++)
        if (template_->components[i].component == component) return &template_->components[i];
    return NULL;
}

ecs_template_set* ecs_template_set_create(ecs_world* world, const base_reporter* reporter) {
    ecs_template_set* set = base_owner_create(world->allocator, sizeof *set);
    set->world = world;
    set->reporter = reporter;
    return set;
}

void ecs_template_set_fail(ecs_template_set* set, ecs_result result) {
    BASE_ASSERT(result != ECS_OK && "a failure has a code");
    if (set->result == ECS_OK) set->result = result;
}

bool ecs_template_set_fault(ecs_template_set* set, const char* file, uint32_t line,
                            const char* format, ...) {
    BASE_ASSERT(format);
    char message[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    base_report(set->reporter, file, line, "%s", message);
    ecs_template_set_fail(set, ECS_ERR_SYNTAX);
    return false;
}

void* ecs_template_set_push(ecs_template_set* set, void** array, uint32_t* count,
                            uint32_t* capacity, size_t element_bytes) {
    BASE_ASSERT(*count <= *capacity && element_bytes > 0);
    base_array_reserve(&set->owner.allocator, array, capacity, *count + 1, element_bytes);
    return (uint8_t*)*array + (*count)++ * element_bytes;
}

void* ecs_template_value_make(ecs_world* world, const ecs_type* type) {
    void* memory = base_allocate_zero(world->allocator, type->size);
    ecs_type_context context = {world->allocator};
    ecs_value_create(type, &context, memory);
    return memory;
}

void* ecs_template_set_value(ecs_template_set* set, const ecs_type* type) {
    ecs_templates* templates = set->world->templates;
    BASE_ARRAY_RESERVE(set->world->allocator, templates->values, templates->value_capacity,
                       templates->value_count + 1);
    void* memory = ecs_template_value_make(set->world, type);
    templates->values[templates->value_count++] = (ecs_template_value){type->id, memory};
    return memory;
}

ecs_component_id ecs_template_set_name(ecs_template_set* set, const char* name, ecs_type_id type,
                                       const char* file, uint32_t line) {
    BASE_ASSERT(name && type != ECS_TYPE_NONE);
    const ecs_world* world = set->world;
    ecs_component_id id;
    const ecs_result result = ecs_component_register(set->world, name, type, &id);
    if (result == ECS_OK) return id;
    if (result == ECS_ERR_FULL) {
        base_report(set->reporter, file, line, "more than %u components", ECS_COMPONENTS_MAX);
        ecs_template_set_fail(set, ECS_ERR_FULL);
        return ECS_COMPONENT_NONE;
    }
    id = ecs_component_seek(world, name, base_hash64_text(name));
    ecs_template_set_fault(set, file, line, "component '%s' is a %s here and a %s elsewhere", name,
                           ecs_type_get(world, type)->name,
                           ecs_type_get(world, ecs_component_get(world, id)->type)->name);
    return ECS_COMPONENT_NONE;
}

ecs_draft* ecs_template_set_draft(const ecs_template_set* set, const char* name) {
    BASE_ASSERT(name);
    uint64_t hash = base_hash64_text(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t at = base_table_next(&set->draft_index, hash, &cursor);
        if (at == BASE_TABLE_NONE) return NULL;
        if (strcmp(set->drafts[at - 1].name, name) == 0) return &set->drafts[at - 1];
    }
}
