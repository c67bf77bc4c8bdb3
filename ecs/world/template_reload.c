// SPDX-License-Identifier: MIT Templates of a running world are exchanged as a whole: the pack is
// read into drafts like any other, every draft becomes a row under the id that its name has,
// compositions are composed again from those, and all of it is compared with what is there. Only
// when nothing is wrong and everything that needs memory is made do the new rows take the places of
// the old ones (the entities' part is in storage_reload.c).
//
// Names are the identity: components and templates never get another id.
#include "base/assert.h"
#include "base/hash.h"
#include "ecs/template_files.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "template/template_registry.h"
#include "template/template_set.h"
#include "type/world.h"
#include "world/reload.h"

#include <string.h>

typedef struct reload {
    ecs_world* world;
    const base_reporter* reporter;
    ecs_template_set set;
    ecs_template_row** rows; ///< new, by id - 1
    uint32_t row_count, row_capacity;
    ecs_opaque_row** opaques;
    uint32_t opaque_count; ///< made
    ecs_reload_plan plan;
    ecs_result result;
} reload;

static void refuse(reload* self, ecs_result result) {
    if (self->result == ECS_OK) self->result = result;
}

// ---- what cannot change ----

static void check_names(reload* self) {
    for (uint32_t i = 0; i < self->set.name_count; i++) {
        const ecs_set_name* name = &self->set.names[i];
        base_report(self->reporter, name->file, name->line,
                    "component '%s' is new: a running world keeps the components it began with",
                    name->name);
        refuse(self, ECS_ERR_TYPE);
    }
}

static void check_missing(reload* self) {
    for (uint32_t id = 1; id <= self->world->templates->count; id++) {
        const ecs_template* template_ = ecs_template_get(self->world, (ecs_template_id)id);
        if (template_->part_count != 1 || ecs_template_set_draft(&self->set, template_->name))
            continue;
        base_report(self->reporter, template_->file, template_->line,
                    "template '%s' is gone: a reload changes templates and adds some",
                    template_->name);
        refuse(self, ECS_ERR_UNKNOWN);
    }
}

static bool has_slot(const reload* self, ecs_component_id component) {
    for (uint32_t d = 0; d < self->set.draft_count; d++)
        for (uint32_t i = 0; i < self->set.drafts[d].slot_count; i++)
            if (self->set.drafts[d].slots[i].component == component) return true;
    return false;
}

/// With these texts from the start the world could not have been sealed.
static void check_queries(reload* self) {
    const ecs_storage* storage = self->world->storage;
    uint64_t seen[ECS_COMPONENTS_MAX / 64 + 1] = {0};
    for (uint32_t q = 0; q < storage->query_count; q++) {
        const ecs_query* query = storage->queries[q];
        for (uint32_t i = 0; i < query->term_count; i++) {
            ecs_component_id id = query->components[i];
            bool is_by_text = self->world->templates->by_text[id / 64] >> (id % 64) & 1;
            if (!is_by_text || seen[id / 64] >> (id % 64) & 1) continue;
            seen[id / 64] |= UINT64_C(1) << (id % 64);
            if (has_slot(self, id)) continue;
            base_report(self->reporter, NULL, 0,
                        "component '%s' is in no template any more, but query %u of %s asks for it",
                        ecs_component_get(self->world, id)->name, query->id,
                        query->owner ? query->owner : "(no system)");
            refuse(self, ECS_ERR_TYPE);
        }
    }
}

static bool is_same_quant(const ecs_quant* a, const ecs_quant* b) {
    return a->bits == b->bits && memcmp(&a->min, &b->min, sizeof a->min) == 0 &&
           memcmp(&a->step, &b->step, sizeof a->step) == 0;
}

static bool is_same_text(const char* a, const char* b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_component(const ecs_world* world, const ecs_template_component* a,
                              const ecs_template_component* b) {
    const ecs_component* component = ecs_component_get(world, a->component);
    return a->component == b->component && a->flags == b->flags &&
           is_same_quant(&a->quant, &b->quant) &&
           memcmp(&a->teleport, &b->teleport, sizeof a->teleport) == 0 &&
           is_same_text(a->visible, b->visible) && is_same_text(a->integral, b->integral) &&
           a->is_rotation == b->is_rotation &&
           ecs_type_equal(ecs_type_get(world, component->type), a->value, b->value);
}

/// Report each replicated component of `a` that `b` has not in the same way.
static void check_replicated(reload* self, const ecs_template* a, const ecs_template* b) {
    for (uint32_t i = 0; i < a->component_count; i++) {
        const ecs_template_component* one = &a->components[i];
        const ecs_template_component* other = ecs_template_find_component(b, one->component);
        bool is_sent = (one->flags | (other ? other->flags : 0)) & ECS_COMPONENT_REPLICATED;
        if (!is_sent || (other && is_same_component(self->world, one, other))) continue;
        // Seen from both sides; said once.
        const ecs_template* made =
            a->id <= self->row_count && a == &self->rows[a->id - 1]->public ? a : b;
        const ecs_template_component* at = made == a ? one : other;
        if (made == b && other) continue;
        base_report(self->reporter, made->file, at ? at->line : made->line,
                    "template '%s': component '%s' is replicated: clients know it as it was",
                    made->name, ecs_component_get(self->world, one->component)->name);
        refuse(self, ECS_ERR_TYPE);
    }
}

static void check_locked(reload* self) {
    for (uint32_t id = 1; id <= self->row_count; id++) {
        const ecs_template* made = &self->rows[id - 1]->public;
        const ecs_template* old = ecs_template_get(self->world, (ecs_template_id)id);
        if (made->part_count > 1) continue;
        if (!old && made->is_replicated) {
            base_report(self->reporter, made->file, made->line,
                        "template '%s' is new and replicated: clients do not know it", made->name);
            refuse(self, ECS_ERR_TYPE);
        }
        if (!old) continue;
        check_replicated(self, made, old);
        check_replicated(self, old, made);
        if (made->importance == old->importance || !made->is_replicated) continue;
        base_report(self->reporter, made->file, made->line,
                    "template '%s': _priority is what it was when the match began", made->name);
        refuse(self, ECS_ERR_TYPE);
    }
}

// ---- making ----

static bool make_loaded(reload* self) {
    uint32_t next = self->world->templates->count;
    for (uint32_t i = 0; i < self->set.draft_count; i++) {
        const ecs_draft* draft = &self->set.drafts[i];
        ecs_template_id id = ecs_template_seek(self->world, draft->name);
        if (id == ECS_TEMPLATE_NONE) id = (ecs_template_id)++next;
        self->rows[id - 1] = ecs_template_set_row(&self->set, draft, id);
        if (!self->rows[id - 1]) return false;
    }
    return true;
}

static void make_composed(reload* self) {
    for (uint32_t id = 1; id <= self->world->templates->count; id++) {
        const ecs_template* old = ecs_template_get(self->world, (ecs_template_id)id);
        if (old->part_count == 1) continue;
        uint32_t room = 0;
        for (uint32_t i = 0; i < old->part_count; i++)
            room += self->rows[old->parts[i] - 1]->slot_count;
        ecs_template_row* row =
            ecs_template_row_compose(self->world, self->rows, old->parts, old->part_count);
        self->rows[id - 1] = row;
        if (row) {
            row->public.id = (ecs_template_id)id;
            continue;
        }
        bool may_be_full = room > ECS_TEMPLATE_COMPONENTS_MAX;
        if (may_be_full)
            base_report(self->reporter, old->file[0] ? old->file : NULL, old->line,
                        "'%s' would have more than %u components", old->name,
                        ECS_TEMPLATE_COMPONENTS_MAX);
        refuse(self, may_be_full ? ECS_ERR_FULL : ECS_ERR_MEMORY);
        return;
    }
}

static void make_rows(reload* self) {
    const ecs_templates* templates = self->world->templates;
    uint32_t added = 0;
    for (uint32_t i = 0; i < self->set.draft_count; i++)
        added += ecs_template_seek(self->world, self->set.drafts[i].name) == ECS_TEMPLATE_NONE;
    if (templates->count + added > ECS_TEMPLATES_MAX) {
        base_report(self->reporter, NULL, 0, "more than %u templates", ECS_TEMPLATES_MAX);
        refuse(self, ECS_ERR_FULL);
        return;
    }
    const base_allocator* allocator = self->world->allocator;
    self->row_count = self->row_capacity = templates->count + added;
    self->rows = base_allocate_zero(allocator, self->row_capacity * sizeof *self->rows);
    self->opaques = base_allocate_zero(allocator, self->set.opaque_count * sizeof *self->opaques);
    if (!self->rows || !self->opaques || !make_loaded(self)) {
        refuse(self, ECS_ERR_MEMORY);
        return;
    }
    self->opaque_count = ecs_opaques_make(&self->set, templates->count + 1, self->opaques);
    // New templates need not stand together, so their ids are found by name.
    for (uint32_t i = 0; i < self->opaque_count; i++) {
        for (uint32_t id = 1; id <= self->row_count; id++) {
            const ecs_template_row* row = self->rows[id - 1];
            if (row && strcmp(row->public.name, self->set.opaques[i].template_name) == 0)
                self->opaques[i]->public.template_id = (ecs_template_id)id;
        }
    }
    if (self->opaque_count < self->set.opaque_count) refuse(self, ECS_ERR_MEMORY);
    if (self->result == ECS_OK) make_composed(self);
}

static bool reserve_registry(reload* self) {
    ecs_templates* templates = self->world->templates;
    const base_allocator* allocator = self->world->allocator;
    bool fits =
        BASE_ARRAY_RESERVE(allocator, templates->rows, templates->capacity, self->row_count);
    self->plan =
        (ecs_reload_plan){.world = self->world, .rows = self->rows, .old_count = templates->count};
    self->plan.rebinds =
        base_allocate_zero(allocator, (templates->count + 1) * sizeof *self->plan.rebinds);
    return fits && self->plan.rebinds &&
           base_table_reserve(&templates->index, allocator, self->row_count);
}

// ---- exchanging ----

static void count_changes(const reload* self, ecs_reload_report* report) {
    *report = (ecs_reload_report){.entities_changed = self->plan.entity_count};
    for (uint32_t id = 1; id <= self->row_count; id++) {
        const ecs_template* made = &self->rows[id - 1]->public;
        const ecs_template* old = ecs_template_get(self->world, (ecs_template_id)id);
        if (made->part_count > 1) continue;
        report->templates_added += !old;
        if (!old) continue;
        bool is_same = made->component_count == old->component_count &&
                       made->is_singleton == old->is_singleton &&
                       made->importance == old->importance;
        for (uint32_t i = 0; is_same && i < made->component_count; i++)
            is_same = is_same_component(self->world, &made->components[i], &old->components[i]);
        report->templates_changed += !is_same;
    }
}

/// Nothing here can fail. Afterwards the set owns what is to be released.
static void exchange(reload* self) {
    ecs_world* world = self->world;
    ecs_templates* templates = world->templates;
    ecs_reload_commit(&self->plan);
    uint32_t old_count = templates->count;
    for (uint32_t i = 0; i < self->row_count; i++) {
        ecs_template_row* old = i < old_count ? templates->rows[i] : NULL;
        templates->rows[i] = self->rows[i];
        self->rows[i] = old;
        if (old) continue;
        const ecs_template* added = &templates->rows[i]->public;
        base_table_add(&templates->index, base_hash64_text(added->name), added->id);
    }
    templates->count = self->row_count;
    ecs_template_set* set = &self->set;
    ecs_template_value* values = templates->values;
    uint32_t value_count = templates->value_count, value_capacity = templates->value_capacity;
    templates->values = set->values;
    templates->value_count = set->value_count;
    templates->value_capacity = set->value_capacity;
    set->values = values;
    set->value_count = value_count;
    set->value_capacity = value_capacity;
    ecs_opaque_row** opaques = templates->opaques;
    uint32_t opaque_count = templates->opaque_count, opaque_capacity = templates->opaque_capacity;
    templates->opaques = self->opaques;
    templates->opaque_count = self->opaque_count;
    templates->opaque_capacity = set->opaque_count;
    for (uint32_t i = 0; i < opaque_count; i++)
        ecs_opaque_destroy(world, opaques[i]);
    BASE_ARRAY_RELEASE(world->allocator, opaques, opaque_capacity);
    self->opaques = NULL;
    self->opaque_count = 0;
}

static void release(reload* self) {
    ecs_world* world = self->world;
    for (uint32_t i = 0; self->rows && i < self->row_count; i++)
        ecs_template_row_destroy(world, self->rows[i]);
    BASE_ARRAY_RELEASE(world->allocator, self->rows, self->row_capacity);
    for (uint32_t i = 0; i < self->opaque_count; i++)
        ecs_opaque_destroy(world, self->opaques[i]);
    if (self->opaques) BASE_ARRAY_RELEASE(world->allocator, self->opaques, self->set.opaque_count);
    base_release(world->allocator, self->plan.rebinds,
                 (self->plan.old_count + 1) * sizeof *self->plan.rebinds);
    ecs_template_set_deinit(&self->set);
}

ecs_result ecs_template_reload(ecs_world* world, const void* pack, size_t bytes,
                               bool is_replicated_locked, const base_reporter* reporter,
                               ecs_reload_report* report) {
    BASE_ASSERT(world && (pack || bytes == 0));
    BASE_ASSERT(world->is_sealed && world->fast.walk_depth == 0 && world->fast.stage_depth == 0 &&
                "templates are exchanged between ticks");
    reload self = {.world = world, .reporter = reporter};
    ecs_template_set_init(&self.set, world, reporter);
    self.set.is_reload = true;
    self.result = ecs_template_set_read_pack(&self.set, pack, bytes);
    if (self.result == ECS_OK || self.result == ECS_ERR_SYNTAX)
        self.result = ecs_template_set_resolve(&self.set);
    if (self.result == ECS_OK) check_names(&self);
    if (self.result == ECS_OK) check_missing(&self);
    if (self.result == ECS_OK) check_queries(&self);
    if (self.result == ECS_OK) make_rows(&self);
    if (self.result == ECS_OK && is_replicated_locked) check_locked(&self);
    if (self.result == ECS_OK && !reserve_registry(&self)) self.result = ECS_ERR_MEMORY;
    if (self.result == ECS_OK) {
        self.result = ecs_reload_stage(&self.plan);
        if (self.result != ECS_OK) ecs_reload_undo(&self.plan);
    }
    if (self.result == ECS_OK) {
        ecs_reload_report counted;
        count_changes(&self, report ? report : &counted);
        exchange(&self);
    }
    release(&self);
    return self.result;
}
