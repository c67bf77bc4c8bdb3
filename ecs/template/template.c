// SPDX-License-Identifier: MIT
// From a set of texts to the registry of templates, and compositions. Read ecs_template_load first.
//
// Commit does everything that can fail first. So there is no half-loaded file to undo. Loaded
// templates are indexed by name, composed ones by their list of parts, which also gives their name.
// Rows never move or change, so pointers to templates are valid until a reload replaces the rows.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/template.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

enum { PARTS_SEED = 1 };

void ecs_templates_init(ecs_world* world) {
    ecs_templates* templates = world->templates;
    templates->zeros =
        base_allocate_zero(world->allocator, ECS_TYPES_MAX * sizeof *templates->zeros);
}

static void release_value(ecs_world* world, ecs_type_id type_id, void* memory) {
    const ecs_type* type = ecs_type_get(world, type_id);
    ecs_type_context context = {world->allocator};
    ecs_value_destroy(type, &context, memory);
}

// Values need their types, so the world destroys types after templates.
void ecs_templates_deinit(ecs_world* world) {
    ecs_templates* templates = world->templates;
    for (uint32_t i = 0; i < templates->value_count; i++)
        release_value(world, templates->values[i].type, templates->values[i].memory);
    for (uint32_t i = 0; i < world->types->type_count; i++)
        if (templates->zeros[i]) release_value(world, (ecs_type_id)(i + 1), templates->zeros[i]);
}

void ecs_template_set_read(ecs_template_set* set, const char* file, const char* source,
                           size_t source_bytes) {
    BASE_ASSERT(set->world && (source || source_bytes == 0));
    const base_allocator* allocator = &set->owner.allocator;
    ecs_text* text = base_allocate_zero(allocator, sizeof *text);
    ecs_text** entry = ECS_SET_PUSH(set, text);
    *entry = text;
    ecs_result result = ecs_text_parse(text, allocator, file, source, source_bytes, set->reporter);
    if (result != ECS_OK) ecs_template_set_fail(set, result);
    if (result == ECS_OK || result == ECS_ERR_SYNTAX) ecs_template_set_bind(set, text);
}

// Add a row under the next id. @return the id.
static ecs_template_id add_row(ecs_world* world, ecs_template_row* row, uint64_t hash) {
    ecs_templates* templates = world->templates;
    BASE_ARRAY_RESERVE(world->allocator, templates->rows, templates->capacity,
                       templates->count + 1);
    base_table_reserve(&templates->index, world->allocator, templates->count + 1);
    templates->rows[templates->count++] = row;
    row->public.id = (ecs_template_id)templates->count;
    if (row->public.part_count == 1) row->public.parts[0] = row->public.id;
    base_table_add(&templates->index, hash, row->public.id);
    return row->public.id;
}

// The registry row of a draft.
static ecs_template_row* make_row(ecs_world* world, const ecs_draft* draft) {
    BASE_ASSERT(draft->state == ECS_DRAFT_DONE && "resolve comes first");
    ecs_template_row* row = ecs_template_row_create(world, draft->slots, draft->slot_count);
    ecs_template* template_ = &row->public;
    template_->is_singleton = draft->is_singleton;
    row->priority = draft->priority;
    template_->importance = draft->priority ? draft->priority : 1;
    template_->part_count = 1;
    template_->line = draft->line;
    (void)base_text_copy(template_->name, sizeof template_->name, draft->name);
    (void)base_text_copy(template_->file, sizeof template_->file, draft->file);
    return row;
}

ecs_result ecs_template_set_commit(ecs_template_set* set) {
    BASE_ASSERT(set->result == ECS_OK);
    ecs_world* world = set->world;
    ecs_templates* templates = world->templates;
    if (world->is_sealed) return ECS_ERR_SEALED;
    ecs_template_set_bind_scenes(set);
    if (set->result != ECS_OK) return set->result;
    if (templates->count + set->draft_count > ECS_TEMPLATES_MAX)
        return BASE_REPORT_AS(ECS_ERR_FULL, set->reporter, NULL, 0, "more than %u templates",
                              ECS_TEMPLATES_MAX);
    for (uint32_t i = 0; i < set->draft_count; i++)
        add_row(world, make_row(world, &set->drafts[i]), base_hash64_text(set->drafts[i].name));
    BASE_ARRAY_RESERVE(world->allocator, templates->opaques, templates->opaque_capacity,
                       templates->opaque_count + set->opaque_count);
    for (uint32_t i = 0; i < set->opaque_count; i++)
        templates->opaques[templates->opaque_count++] = set->opaques[i];
    templates->scene_count = world->is_mirror ? 0 : set->scene_count;
    templates->init_count = set->init_count;
    return ECS_OK;
}

ecs_result ecs_template_load(ecs_world* world, const char* file, const char* text,
                             size_t text_bytes, const base_reporter* reporter) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(world && (text || text_bytes == 0));
    if (world->is_sealed) return ECS_ERR_SEALED;
    ecs_template_set* set = ecs_template_set_create(world, reporter);
    ecs_template_set_read(set, file, text, text_bytes);
    ecs_result result = ecs_template_set_resolve(set);
    if (result == ECS_OK) result = ecs_template_set_commit(set);
    base_owner_destroy(set);
    return result;
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

// Replace composed templates by their parts. Of equal parts only the last stays, since later ones
// override. @return false for an unknown id or too many parts.
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
    BASE_ASSERT(count > 0);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->templates->index, hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_TEMPLATE_NONE;
        const ecs_template* template_ = &world->templates->rows[id - 1]->public;
        if (template_->part_count == count && count > 1 &&
            memcmp(template_->parts, parts, count * sizeof *parts) == 0)
            return (ecs_template_id)id;
    }
}

// @return NULL when the name or the components do not fit.
static ecs_template_row* compose_row(ecs_world* world, const ecs_template_id* parts,
                                     uint32_t count) {
    ecs_template_row* const* rows = world->templates->rows;
    BASE_ASSERT(count > 0 && count <= ECS_TEMPLATE_PARTS_MAX);
    ecs_template_fold* fold = base_allocate_zero(world->allocator, sizeof *fold);
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++) {
        const ecs_template_row* row = rows[parts[i] - 1];
        fits = ecs_template_fold_add(fold, row->slots, row->slot_count);
    }
    ecs_template_row* row = fits ? ecs_template_row_create(world, fold->slots, fold->count) : NULL;
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
        // Leave room for the next '+' too. A composition whose name does not fit is refused.
        size_t room = sizeof composed->name - size - (i + 1 < count ? 1 : 0);
        if (!base_text_copy(composed->name + size, room, part->name)) {
            base_release(world->allocator, row, row->bytes);
            return NULL;
        }
        size += strlen(part->name);
    }
    return row;
}

ecs_template_id ecs_template_compose(ecs_world* world, const ecs_template_id* ids, uint32_t count) {
    BASE_ASSERT(world && (ids || count == 0));
    ecs_templates* templates = world->templates;
    ecs_template_id parts[ECS_TEMPLATE_PARTS_MAX];
    uint32_t part_count;
    if (!flatten(world, ids, count, parts, &part_count)) return ECS_TEMPLATE_NONE;
    if (part_count == 1) return parts[0];
    uint64_t hash = base_hash64(parts, part_count * sizeof *parts, PARTS_SEED);
    ecs_template_id found = find_composed(world, parts, part_count, hash);
    if (found != ECS_TEMPLATE_NONE) return found;
    if (templates->count == ECS_TEMPLATES_MAX) return ECS_TEMPLATE_NONE;

    ecs_template_row* row = compose_row(world, parts, part_count);
    return row ? add_row(world, row, hash) : ECS_TEMPLATE_NONE;
}

// What a game asks of a template by name when it starts: a default, and how a component is rounded.

const void* ecs_template_default(const ecs_world* world, ecs_template_id id,
                                 ecs_component_id component) {
    const ecs_template* from = ecs_template_get(world, id);
    const ecs_template_component* found =
        from ? ecs_template_find_component(from, component) : NULL;
    return found ? found->value : NULL;
}

ecs_template_remarks ecs_template_remark(const ecs_world* world, ecs_template_id id,
                                         ecs_component_id component) {
    ecs_template_remarks remarks = {"", ""};
    if (!ecs_template_get(world, id)) return remarks;
    const ecs_template_row* row = world->templates->rows[id - 1];
    for (uint32_t i = 0; i < row->slot_count; i++) {
        if (row->slots[i].component != component) continue;
        if (row->slots[i].unit) remarks.unit = row->slots[i].unit;
        if (row->slots[i].about) remarks.about = row->slots[i].about;
    }
    return remarks;
}

bool ecs_template_quant(ecs_world* world, const char* name, const char* component,
                        ecs_quant* quant) {
    const ecs_template* from = ecs_template_get(world, ecs_template_find(world, name));
    ecs_component_id id = ecs_component_find(world, component);
    char owner[ECS_NAME_BYTES_MAX];
    const char* field = NULL;
    if (id == ECS_COMPONENT_NONE && base_text_copy(owner, sizeof owner, component)) {
        char* dot = strrchr(owner, '.');
        if (!dot) return false;
        *dot = '\0';
        field = dot + 1;
        id = ecs_component_find(world, owner);
    }
    const ecs_template_component* found =
        from && id != ECS_COMPONENT_NONE ? ecs_template_find_component(from, id) : NULL;
    if (!found) return false;
    *quant = found->quant;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    for (uint32_t i = 0; i < type->field_count && found->quant.bits == 0; i++) {
        bool is_wanted = !field || strcmp(type->fields[i].name, field) == 0;
        if (is_wanted && quant->bits == 0) *quant = type->fields[i].quant;
    }
    return quant->bits > 0;
}
