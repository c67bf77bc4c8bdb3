// SPDX-License-Identifier: MIT
// Inheritance: for every template, merge the slots of its parents, in the order in which they are
// named, and then its own. The walk is depth first. It has its own stack and no recursion, since a
// file may chain ten thousand templates. A parent that is still open on the stack closes a cycle,
// which is reported by name.
#include "template/template_set.h"

#include "type/type_registry.h"
#include "type/world.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

typedef struct resolve_pass {
    ecs_template_set* set;
    ecs_template_fold* fold;
    uint32_t* stack; ///< drafts, outermost first
    uint32_t depth;
    uint32_t slot_count;       ///< slots of all drafts so far
    uint32_t suggestion_count; ///< unknown names that were compared with all others
    bool is_over;              ///< a limit is reached: no more drafts
} resolve_pass;

static void report_cycle(const resolve_pass* resolver, const ecs_draft* child, uint32_t line,
                         const ecs_draft* parent) {
    char path[256] = "";
    size_t size = 0;
    bool is_inside = false;
    for (uint32_t i = 0; i < resolver->depth; i++) {
        const ecs_draft* draft = &resolver->set->drafts[resolver->stack[i]];
        is_inside = is_inside || draft == parent;
        if (!is_inside) continue;
        (void)base_text_format(path + size, sizeof path - size, "%s -> ", draft->name);
        size += strlen(path + size);
    }
    ecs_template_set_fault(resolver->set, child->file, line, "parents form a cycle: %s%s", path,
                           parent->name);
}

static void report_unknown(resolve_pass* resolver, const ecs_draft* child,
                           const ecs_draft_parent* parent) {
    // Suggest names of this set only, since most typing mistakes are in them. Comparing long names
    // takes time, so only the first few unknown names get a suggestion.
    enum { CANDIDATES_MAX = 256, SUGGESTIONS_MAX = 32 };
    const char* names[CANDIDATES_MAX];
    uint32_t count = 0;
    for (; count < CANDIDATES_MAX && count < resolver->set->draft_count; count++)
        names[count] = resolver->set->drafts[count].name;
    const char* near = resolver->suggestion_count++ < SUGGESTIONS_MAX
                           ? base_text_nearest(parent->name, names, count)
                           : NULL;
    ecs_template_set_fault(resolver->set, child->file, parent->line,
                           "template '%s' extends '%.80s', which does not exist%s%s%s", child->name,
                           parent->name, near ? ", did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
}

// A struct with only some fields given begins with the inherited value.
static const void* complete_value(ecs_template_set* set, const ecs_draft_component* component,
                                  const ecs_template_slot* inherited) {
    const ecs_template_slot* slot = &component->slot;
    if (component->is_whole || !slot->value || !inherited || !inherited->value) return slot->value;
    ecs_type_id id = ecs_template_set_component_type(set, slot->component);
    const ecs_type* type = ecs_type_get(set->world, id);
    void* value = ecs_template_set_value(set, type);
    if (!value) return NULL;
    ecs_type_context context = {set->world->allocator};
    if (!ecs_value_assign(type, &context, value, inherited->value)) {
        ecs_template_set_fail(set, ECS_ERR_MEMORY);
        return NULL;
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        if (component->fields_set >> i & 1)
            memcpy((uint8_t*)ecs_type_object_mut(type, value) + field->offset,
                   (const uint8_t*)ecs_type_object(type, slot->value) + field->offset,
                   (size_t)field->count * ecs_field_kind_bytes(field->kind));
    }
    return value;
}

static bool fold_slots(resolve_pass* resolver, const ecs_draft* draft, uint32_t line,
                       const ecs_template_slot* slots, uint32_t count) {
    if (ecs_template_fold_add(resolver->fold, slots, count)) return true;
    ecs_template_set_fault(resolver->set, draft->file, line, "more than %u components in '%s'",
                           ECS_TEMPLATE_COMPONENTS_MAX, draft->name);
    return false;
}

static bool fold_parents(resolve_pass* resolver, ecs_draft* draft) {
    BASE_ASSERT(draft->parent_first + draft->parent_count <= resolver->set->parent_count);
    const ecs_template_set* set = resolver->set;
    uint32_t priority = 0;
    for (uint32_t i = 0; i < draft->parent_count; i++) {
        const ecs_draft_parent* parent = &set->parents[draft->parent_first + i];
        const ecs_draft* inside = ecs_template_set_draft(set, parent->name);
        ecs_template_id loaded =
            inside ? ECS_TEMPLATE_NONE : ecs_template_seek(set->world, parent->name);
        if (inside && inside->state == ECS_DRAFT_DONE) {
            if (!fold_slots(resolver, draft, parent->line, inside->slots, inside->slot_count))
                return false;
            if (inside->priority) priority = inside->priority;
        } else if (loaded != ECS_TEMPLATE_NONE) {
            const ecs_template_row* row = set->world->templates->rows[loaded - 1];
            if (!fold_slots(resolver, draft, parent->line, row->slots, row->slot_count))
                return false;
            if (row->priority) priority = row->priority;
        }
    }
    if (!draft->priority) draft->priority = priority;
    return true;
}

static bool fold_own(resolve_pass* resolver, const ecs_draft* draft) {
    BASE_ASSERT(draft->component_first + draft->component_count <= resolver->set->component_count);
    ecs_template_set* set = resolver->set;
    for (uint32_t i = 0; i < draft->component_count; i++) {
        ecs_draft_component* component = &set->components[draft->component_first + i];
        ecs_template_slot own = component->slot;
        own.value =
            complete_value(set, component, ecs_template_fold_find(resolver->fold, own.component));
        if (!fold_slots(resolver, draft, own.line, &own, 1)) return false;
        ecs_template_check_replicated(set, draft, own.line,
                                      ecs_template_fold_find(resolver->fold, own.component));
    }
    return true;
}

static void fold_flags(resolve_pass* resolver, const ecs_draft* draft) {
    BASE_ASSERT(draft->flag_first + draft->flag_count <= resolver->set->flag_count);
    ecs_template_set* set = resolver->set;
    for (uint32_t i = 0; i < draft->flag_count; i++) {
        const ecs_draft_flag* flag = &set->flags[draft->flag_first + i];
        ecs_template_slot* slot = NULL;
        for (uint32_t s = 0; s < resolver->fold->count && !slot; s++) {
            ecs_template_slot* candidate = &resolver->fold->slots[s];
            const char* name = ecs_template_set_component_name(set, candidate->component);
            if (strcmp(name, flag->component) == 0) slot = candidate;
        }
        if (!slot && (set->is_alone || ecs_opaque_is_known(set, flag->component))) continue;
        if (!slot) {
            ecs_template_set_fault(set, draft->file, flag->line,
                                   "template '%s' has no component '%.80s' to flag", draft->name,
                                   flag->component);
            continue;
        }
        slot->flags |= flag->flag;
        slot->stated |= flag->flag;
        ecs_template_check_replicated(set, draft, flag->line, slot);
    }
}

// All parents are done: merge them and the template's own components.
static void finish(resolve_pass* resolver, ecs_draft* draft) {
    BASE_ASSERT(draft->state == ECS_DRAFT_OPEN);
    ecs_template_set* set = resolver->set;
    ecs_template_fold* fold = resolver->fold;
    draft->state = ECS_DRAFT_DONE;
    if (fold_parents(resolver, draft) && fold_own(resolver, draft)) {
        fold_flags(resolver, draft);
        ecs_template_check_words(set, draft, fold);
    }
    size_t bytes = fold->count * sizeof *fold->slots;
    resolver->slot_count += fold->count;
    if (resolver->slot_count > ECS_TEXT_SLOTS_MAX) {
        base_report(set->reporter, draft->file, draft->line,
                    "more than %u components in all templates, inherited ones counted",
                    ECS_TEXT_SLOTS_MAX);
        ecs_template_set_fail(set, ECS_ERR_FULL);
        resolver->is_over = true;
    } else if (fold->count) {
        draft->slots = base_allocate(set->world->allocator, bytes);
        if (draft->slots) {
            memcpy(draft->slots, fold->slots, bytes);
            draft->slot_count = fold->count;
        } else {
            ecs_template_set_fail(set, ECS_ERR_MEMORY);
        }
    }
    for (uint32_t i = 0; i < fold->count; i++)
        fold->where[fold->slots[i].component] = 0;
    fold->count = 0;
}

// Open the next parent that is not done yet. @return false when there is none.
static bool open_parent(resolve_pass* resolver, ecs_draft* draft) {
    BASE_ASSERT(draft->state == ECS_DRAFT_OPEN && draft->parent_next <= draft->parent_count);
    ecs_template_set* set = resolver->set;
    while (draft->parent_next < draft->parent_count) {
        const ecs_draft_parent* parent = &set->parents[draft->parent_first + draft->parent_next++];
        ecs_draft* inside = ecs_template_set_draft(set, parent->name);
        if (!inside) {
            if (!set->is_alone && ecs_template_seek(set->world, parent->name) == ECS_TEMPLATE_NONE)
                report_unknown(resolver, draft, parent);
        } else if (inside->state == ECS_DRAFT_OPEN) {
            report_cycle(resolver, draft, parent->line, inside);
        } else if (inside->state == ECS_DRAFT_NEW) {
            inside->state = ECS_DRAFT_OPEN;
            resolver->stack[resolver->depth++] = (uint32_t)(inside - set->drafts);
            return true;
        }
    }
    return false;
}

ecs_result ecs_template_set_resolve(ecs_template_set* set) {
    BASE_ASSERT(set->world);
    if (set->result == ECS_ERR_MEMORY || set->result == ECS_ERR_FULL) return set->result;
    const base_allocator* allocator = set->world->allocator;
    size_t stack_bytes = set->draft_count * sizeof(uint32_t);
    resolve_pass resolver = {.set = set,
                             .fold = base_allocate_zero(allocator, sizeof *resolver.fold),
                             .stack = base_allocate(allocator, stack_bytes)};
    if (!resolver.fold || !resolver.stack) ecs_template_set_fail(set, ECS_ERR_MEMORY);
    for (uint32_t i = 0; i < set->draft_count && set->result != ECS_ERR_MEMORY && !resolver.is_over;
         i++) {
        if (set->drafts[i].state != ECS_DRAFT_NEW) continue;
        set->drafts[i].state = ECS_DRAFT_OPEN;
        resolver.stack[resolver.depth++] = i;
        while (resolver.depth > 0 && !resolver.is_over) {
            ecs_draft* draft = &set->drafts[resolver.stack[resolver.depth - 1]];
            if (open_parent(&resolver, draft)) continue;
            finish(&resolver, draft);
            resolver.depth--;
        }
    }
    ecs_template_check_classes(set);
    base_release(allocator, resolver.fold, sizeof *resolver.fold);
    base_release(allocator, resolver.stack, stack_bytes);
    return set->result;
}
