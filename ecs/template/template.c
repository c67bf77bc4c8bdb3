// SPDX-License-Identifier: MIT
// The registry of templates: found by name, composed on demand. Loaded ones are indexed by name,
// composed ones by their list of parts, which also decides their name. Rows never move or change, so
// pointers to templates live as long as the world, or until a reload puts new rows in their places.
#include "template/template_set.h"

#include "type/type_registry.h"
#include "world/world_internal.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

enum { PARTS_SEED = 1 };

bool ecs_templates_init(ecs_world* world) {
    ecs_templates* templates = &world->templates;
    *templates = (ecs_templates){0};
    templates->zeros =
        base_allocate_zero(world->allocator, ECS_TYPES_MAX * sizeof *templates->zeros);
    return templates->zeros != NULL;
}

static void release_value(ecs_world* world, ecs_type_id type_id, void* memory) {
    const ecs_type* type = ecs_type_get(world, type_id);
    ecs_type_context context = {world->allocator};
    ecs_value_destroy(type, &context, memory);
    base_release(world->allocator, memory, type->size);
}

// Values need their types: the world gives types up after templates.
void ecs_templates_deinit(ecs_world* world) {
    ecs_templates* templates = &world->templates;
    for (uint32_t i = 0; i < templates->count; i++)
        ecs_template_row_destroy(world, templates->rows[i]);
    for (uint32_t i = 0; i < templates->value_count; i++)
        release_value(world, templates->values[i].type, templates->values[i].memory);
    for (uint32_t i = 0; templates->zeros && i < world->types.type_count; i++)
        if (templates->zeros[i]) release_value(world, (ecs_type_id)(i + 1), templates->zeros[i]);
    for (uint32_t i = 0; i < templates->opaque_count; i++)
        ecs_opaque_destroy(world, templates->opaques[i]);
    base_release(world->allocator, templates->opaques,
                 (size_t)templates->opaque_capacity * sizeof *templates->opaques);
    base_release(world->allocator, templates->zeros, ECS_TYPES_MAX * sizeof *templates->zeros);
    base_release(world->allocator, templates->rows,
                 (size_t)templates->capacity * sizeof *templates->rows);
    base_release(world->allocator, templates->values,
                 (size_t)templates->value_capacity * sizeof *templates->values);
    base_table_deinit(&templates->index, world->allocator);
    *templates = (ecs_templates){0};
}

static ecs_result load_text(ecs_world* world, const char* file, const char* text, size_t text_bytes,
                            bool is_alone, const base_reporter* reporter) {
    BASE_ASSERT(world && (text || text_bytes == 0));
    if (world->is_sealed) return ECS_ERR_SEALED;
    ecs_template_set set;
    ecs_template_set_init(&set, world, reporter);
    set.is_alone = is_alone;
    ecs_template_set_read(&set, file, text, text_bytes);
    ecs_result result = ecs_template_set_resolve(&set);
    if (result == ECS_OK) result = ecs_template_set_commit(&set);
    ecs_template_set_deinit(&set);
    return result;
}

ecs_result ecs_template_load(ecs_world* world, const char* file, const char* text,
                             size_t text_bytes, const base_reporter* reporter) {
    return load_text(world, file, text, text_bytes, false, reporter);
}

ecs_result ecs_template_load_alone(ecs_world* world, const char* file, const char* text,
                                   size_t text_bytes, const base_reporter* reporter) {
    return load_text(world, file, text, text_bytes, true, reporter);
}

ecs_template_id ecs_template_seek(const ecs_world* world, const char* name) {
    uint64_t hash = base_hash64_text(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->templates.index, hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_TEMPLATE_NONE;
        const ecs_template* template_ = &world->templates.rows[id - 1]->public;
        if (template_->part_count == 1 && strcmp(template_->name, name) == 0)
            return (ecs_template_id)id;
    }
}

ecs_template_id ecs_template_find(ecs_world* world, const char* name) {
    BASE_ASSERT(world && name);
    world->counters.name_lookups++;
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t count = 0;
    for (const char* at = name;; at++) {
        size_t size = strcspn(at, "+");
        char part[ECS_NAME_BYTES_MAX];
        if (count == ECS_TEMPLATE_PARTS_MAX || size >= sizeof part) return ECS_TEMPLATE_NONE;
        memcpy(part, at, size);
        part[size] = '\0';
        parts[count] = ecs_template_seek(world, part);
        if (parts[count++] == ECS_TEMPLATE_NONE) return ECS_TEMPLATE_NONE;
        at += size;
        if (*at == '\0') break;
    }
    return ecs_template_compose(world, parts, count);
}

/// Composed parts become their own parts; of equal ones the last counts, since later ones override.
/// @return false for an unknown id or too many.
static bool flatten(const ecs_world* world, const ecs_template_id* ids, uint32_t count,
                    ecs_template_id* parts, uint32_t* part_count) {
    *part_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_template* template_ = ecs_template_get(world, ids[i]);
        if (!template_) return false;
        for (uint32_t j = 0; j < template_->part_count; j++) {
            uint32_t kept = 0;
            for (uint32_t k = 0; k < *part_count; k++)
                if (parts[k] != template_->parts[j]) parts[kept++] = parts[k];
            if (kept == ECS_TEMPLATE_PARTS_MAX) return false;
            parts[kept++] = template_->parts[j];
            *part_count = kept;
        }
    }
    return *part_count > 0;
}

static ecs_template_id find_composed(const ecs_world* world, const ecs_template_id* parts,
                                     uint32_t count, uint64_t hash) {
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->templates.index, hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_TEMPLATE_NONE;
        const ecs_template* template_ = &world->templates.rows[id - 1]->public;
        if (template_->part_count == count && count > 1 &&
            memcmp(template_->parts, parts, count * sizeof *parts) == 0)
            return (ecs_template_id)id;
    }
}

ecs_template_row* ecs_template_row_compose(ecs_world* world, ecs_template_row* const* rows,
                                           const ecs_template_id* parts, uint32_t count) {
    ecs_template_fold* fold = base_allocate_zero(world->allocator, sizeof *fold);
    if (!fold) return NULL;
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++) {
        const ecs_template_row* row = rows[parts[i] - 1];
        fits = ecs_template_fold_add(fold, row->slots, row->slot_count);
    }
    ecs_template_row* row =
        fits ? ecs_template_row_create(world, NULL, fold->slots, fold->count) : NULL;
    base_release(world->allocator, fold, sizeof *fold);
    if (!row) return NULL;
    ecs_template* composed = &row->public;
    composed->part_count = count;
    memcpy(composed->parts, parts, count * sizeof *parts);
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_template* part = &rows[parts[i] - 1]->public;
        composed->is_singleton = composed->is_singleton || part->is_singleton;
        uint32_t priority = rows[parts[i] - 1]->priority;
        if (priority) composed->importance = row->priority = priority;
        if (i) composed->name[size++] = '+';
        // Room for the next '+' as well: a name that would be cut is no name.
        size_t room = sizeof composed->name - size - (i + 1 < count ? 1 : 0);
        if (!base_text_copy(composed->name + size, room, part->name)) {
            ecs_template_row_destroy(world, row);
            return NULL;
        }
        size += strlen(part->name);
    }
    return row;
}

ecs_template_id ecs_template_compose(ecs_world* world, const ecs_template_id* ids, uint32_t count) {
    BASE_ASSERT(world && (ids || count == 0));
    ecs_templates* templates = &world->templates;
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t part_count;
    if (!flatten(world, ids, count, parts, &part_count)) return ECS_TEMPLATE_NONE;
    if (part_count == 1) return parts[0];
    uint64_t hash = base_hash64(parts, part_count * sizeof *parts, PARTS_SEED);
    ecs_template_id found = find_composed(world, parts, part_count, hash);
    if (found != ECS_TEMPLATE_NONE) return found;
    if (templates->count == ECS_TEMPLATES_MAX) return ECS_TEMPLATE_NONE;

    void* rows = templates->rows;
    if (!base_array_reserve(world->allocator, &rows, &templates->capacity, templates->count + 1,
                            sizeof *templates->rows))
        return ECS_TEMPLATE_NONE;
    templates->rows = rows;
    if (!base_table_reserve(&templates->index, world->allocator, templates->count + 1))
        return ECS_TEMPLATE_NONE;
    ecs_template_row* row = ecs_template_row_compose(world, templates->rows, parts, part_count);
    if (!row) return ECS_TEMPLATE_NONE;
    templates->rows[templates->count++] = row;
    row->public.id = (ecs_template_id)templates->count;
    base_table_add(&templates->index, hash, row->public.id);
    return row->public.id;
}

const ecs_template* ecs_template_get(const ecs_world* world, ecs_template_id id) {
    if (id == ECS_TEMPLATE_NONE || id > world->templates.count) return NULL;
    return &world->templates.rows[id - 1]->public;
}

uint32_t ecs_template_count(const ecs_world* world) {
    return world->templates.count;
}

const ecs_template_component* ecs_template_find_component(const ecs_template* template_,
                                                          ecs_component_id component) {
    for (uint32_t i = 0; i < template_->component_count; i++)
        if (template_->components[i].component == component) return &template_->components[i];
    return NULL;
}
