// SPDX-License-Identifier: MIT
// Inheritance: for every template, merge the slots of its parents, in the order in which they are
// named, and then its own. The walk is depth first. It has its own stack and no recursion, since a
// file may chain ten thousand templates. A parent that is still open on the stack closes a cycle,
// which is reported by name.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/text.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The rule of inheritance and composition: later slots override earlier ones where they state
// something. Flags are inherited one by one; a quantisation, tags and a value as a whole. The
// result is a row of the registry: all slots, for templates that inherit, and the components that
// exist in this world, for all other code.

static void lay_over(ecs_template_slot* under, const ecs_template_slot* over) {
    under->flags = (uint8_t)((under->flags & ~over->stated) | (over->flags & over->stated));
    under->stated |= over->stated;
    if (over->is_quantised) {
        under->is_quantised = true;
        under->quant = over->quant;
    }
    if (over->has_teleport) {
        under->has_teleport = true;
        under->teleport = over->teleport;
    }
    if (over->value) under->value = over->value;
    if (over->tags) under->tags = over->tags;
    if (over->visible) under->visible = over->visible;
    if (over->integral) under->integral = over->integral;
    if (over->unit) under->unit = over->unit;
    if (over->about) under->about = over->about;
    under->line = over->line;
}

bool ecs_template_fold_add(ecs_template_fold* fold, const ecs_template_slot* slots,
                           uint32_t count) {
    BASE_ASSERT(fold->count <= ECS_TEMPLATE_COMPONENTS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t* where = &fold->where[slots[i].component];
        if (*where) {
            lay_over(&fold->slots[*where - 1], &slots[i]);
            continue;
        }
        if (fold->count == ECS_TEMPLATE_COMPONENTS_MAX) return false;
        fold->slots[fold->count++] = slots[i];
        *where = (uint16_t)fold->count;
    }
    return true;
}

// Find a slot. @return NULL when there is no such component.
static ecs_template_slot* template_fold_find(ecs_template_fold* fold, ecs_component_id component) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && component <= ECS_COMPONENTS_MAX);
    uint16_t where = fold->where[component];
    return where ? &fold->slots[where - 1] : NULL;
}

// Does a component with these tags exist in the world?
static bool template_tags_match(const ecs_world* world, const char* tags) {
    static const char separators[] = ",; \t";
    while (tags && *tags) {
        size_t size = strcspn(tags, separators);
        char tag[ECS_NAME_BYTES_MAX];
        if (size >= sizeof tag) return false;
        memcpy(tag, tags, size);
        tag[size] = '\0';
        bool is_there = size == 0;
        for (uint32_t i = 0; i < world->tag_count && !is_there; i++)
            is_there = strcmp(world->tags[i], tag) == 0;
        if (!is_there) return false;
        tags += size;
        tags += strspn(tags, separators);
    }
    return true;
}

// Sort positions by name. Insertion sort: inherited slots are sorted already, so few of them move.
static void sort_by_name(const ecs_world* world, const ecs_template_slot* slots, uint32_t count,
                         uint16_t* order) {
    const char* names[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const char* name = ecs_component_get(world, slots[i].component)->name;
        uint32_t at = i;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--) {
            names[at] = names[at - 1];
            order[at] = order[at - 1];
        }
        names[at] = name;
        order[at] = (uint16_t)i;
    }
}

static const void* zero_value(ecs_world* world, ecs_type_id type_id) {
    void** zero = &world->templates->zeros[type_id - 1];
    if (!*zero) *zero = ecs_template_value_make(world, ecs_type_get(world, type_id));
    return *zero;
}

// Fill in the public components.
static void add_component(ecs_world* world, ecs_template_row* row,
                          ecs_template_component* components, const ecs_template_slot* slot,
                          ecs_type_id type) {
    uint32_t flags = slot->flags;
    if (flags & ECS_COMPONENT_REPLICATED) flags |= ECS_COMPONENT_TRACKED;
    // A later part of a composition may have removed replication. Then nothing arrives that could
    // be interpolated.
    if (!(flags & ECS_COMPONENT_REPLICATED)) flags &= ~(uint32_t)ECS_COMPONENT_INTERPOLATED;
    // A replicated component exists at both ends, regardless of its tags.
    bool is_replicated = (flags & ECS_COMPONENT_REPLICATED) != 0;
    if (!is_replicated && !template_tags_match(world, slot->tags)) return;
    const void* value = slot->value ? slot->value : zero_value(world, type);
    // Words about the wire mean nothing for a component that is not replicated.
    const char* visible = is_replicated ? slot->visible : NULL;
    const char* integral = is_replicated ? slot->integral : NULL;
    components[row->public.component_count++] = (ecs_template_component){
        .component = slot->component,
        .flags = flags & ~ECS_SLOT_ROTATION,
        .quant = slot->quant,
        .value = value,
        .teleport = flags & ECS_COMPONENT_INTERPOLATED ? slot->teleport : 0,
        .line = slot->line,
        .visible = visible && strcmp(visible, "public") != 0 ? visible : NULL,
        .integral = integral && *integral ? integral : NULL,
        .is_rotation = is_replicated && (flags & ECS_SLOT_ROTATION),
        .states_value = slot->value != NULL,
        .states_quant = slot->is_quantised,
    };
    row->public.is_replicated = row->public.is_replicated || is_replicated;
}

static size_t text_bytes(const char* text) {
    return text ? strlen(text) + 1 : 0;
}

// Copy a text to *memory, and return the copy.
static void own_text(const char** text, char** memory) {
    if (!*text) return;
    size_t size = strlen(*text) + 1;
    memcpy(*memory, *text, size);
    *text = *memory;
    *memory += size;
}

ecs_template_row* ecs_template_row_create(ecs_world* world, const ecs_template_slot* slots,
                                          uint32_t count) {
    BASE_ASSERT(count <= ECS_TEMPLATE_COMPONENTS_MAX && (slots || count == 0));
    size_t texts_bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        texts_bytes += text_bytes(slots[i].tags) + text_bytes(slots[i].visible) +
                       text_bytes(slots[i].integral) + text_bytes(slots[i].unit) +
                       text_bytes(slots[i].about);
    size_t bytes = sizeof(ecs_template_row) +
                   count * (sizeof(ecs_template_slot) + sizeof(ecs_template_component)) +
                   texts_bytes;
    ecs_template_row* row = base_allocate_zero(world->allocator, bytes);
    row->bytes = bytes;
    row->slots = (ecs_template_slot*)(void*)(row + 1);
    row->slot_count = count;
    ecs_template_component* components = (ecs_template_component*)(void*)(row->slots + count);
    char* texts = (char*)(components + count);
    row->public.components = components;
    row->public.importance = 1;

    uint16_t order[ECS_TEMPLATE_COMPONENTS_MAX];
    sort_by_name(world, slots, count, order);
    for (uint32_t i = 0; i < count; i++) {
        ecs_template_slot* slot = &row->slots[i];
        *slot = slots[order[i]];
        own_text(&slot->tags, &texts);
        own_text(&slot->visible, &texts);
        own_text(&slot->integral, &texts);
        own_text(&slot->unit, &texts);
        own_text(&slot->about, &texts);
        add_component(world, row, components, slot,
                      ecs_component_get(world, slot->component)->type);
    }
    return row;
}

// Checks of a template after its parents were merged: words that need other words (`_interpolate`
// needs `_replicate`, which may be stated by name), types that fit, components that exist. Each
// fault is reported where the word is.
//
// A text that is checked alone may have unknown parents. What a parent could state is then no
// fault.

// Check that a replicated component has a type that can be sent.
static void template_check_replicated(ecs_template_set* set, const ecs_draft* draft, uint32_t line,
                                      const ecs_template_slot* slot) {
    BASE_ASSERT(draft && slot && slot->component != ECS_COMPONENT_NONE);
    ecs_type_id id = ecs_component_get(set->world, slot->component)->type;
    const ecs_type* type = ecs_type_get(set->world, id);
    if (!(slot->flags & ECS_COMPONENT_REPLICATED)) return;
    if (ecs_type_is_plain(type) || ecs_type_is_varsize(type)) return;
    ecs_template_set_fault(set, draft->file, line, "component '%s': a %s cannot be replicated: %s",
                           ecs_component_get(set->world, slot->component)->name, type->name,
                           type->box ? "it is boxed" : "it has neither fields nor write and read");
}

static bool is_all_real(const ecs_type* type) {
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!ecs_field_kind_is_real(type->fields[i].kind)) return false;
    return type->field_count > 0;
}

static uint32_t count_elements(const ecs_type* type) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        count += type->fields[i].count;
    return count;
}

// One component as its own template states it, and as it is after merging.
typedef struct checked {
    ecs_template_set* set;
    const ecs_draft* draft;
    const ecs_template_slot* own;
    const ecs_template_slot* slot;
    const char* name;
    const ecs_type* type;
} checked;

static void refuse_component(const checked* one, const char* format, ...) BASE_PRINTF(2, 3);

static void refuse_component(const checked* one, const char* format, ...) {
    char message[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ecs_template_set_fault(one->set, one->draft->file, one->own->line, "component '%s': %s",
                           one->name, message);
}

static bool is_replicated(const checked* one) {
    return (one->slot->flags & ECS_COMPONENT_REPLICATED) != 0;
}

// A component that is interpolated must be replicated and have float fields.
static void check_interpolated(const checked* one) {
    if (!(one->slot->flags & ECS_COMPONENT_INTERPOLATED)) {
        if (one->own->has_teleport && one->own->teleport > 0)
            refuse_component(one, "_teleport without _interpolate");
        return;
    }
    if (!is_replicated(one))
        refuse_component(one, "_interpolate without _replicate");
    else if (!is_all_real(one->type))
        refuse_component(one, "a %s cannot be interpolated, it is not all real numbers",
                         one->type->name);
}

static void check_rotation(const checked* one) {
    if (!(one->slot->flags & ECS_SLOT_ROTATION)) return;
    bool is_four = count_elements(one->type) == 4;
    for (uint32_t i = 0; i < one->type->field_count; i++)
        is_four = is_four && one->type->fields[i].kind == ECS_FIELD_F32;
    if (!is_four)
        refuse_component(one, "a %s is not a rotation: a p4 or four floats", one->type->name);
    else if (!is_replicated(one))
        refuse_component(one, "_rotation without _replicate");
    else if (!one->slot->is_quantised)
        refuse_component(one, "_rotation without _bits");
}

static void check_integral(const checked* one, const ecs_template_fold* fold) {
    const char* wanted = one->slot->integral;
    if (!wanted || !*wanted) return;
    if (!is_replicated(one)) {
        if (one->own->integral) refuse_component(one, "_integral without _replicate");
        return;
    }
    const ecs_template_slot* rate = NULL;
    for (uint32_t i = 0; i < fold->count && !rate; i++) {
        ecs_component_id id = fold->slots[i].component;
        if (strcmp(ecs_component_get(one->set->world, id)->name, wanted) == 0)
            rate = &fold->slots[i];
    }
    if (rate == one->slot) {
        refuse_component(one, "_integral names the component itself");
        return;
    }
    if (!rate) {
        refuse_component(one, "_integral: '%s' has no component '%.80s'", one->draft->name, wanted);
        return;
    }
    const ecs_type* type =
        ecs_type_get(one->set->world, ecs_component_get(one->set->world, rate->component)->type);
    if (!is_all_real(one->type) || !is_all_real(type) ||
        count_elements(one->type) != count_elements(type))
        refuse_component(one, "_integral: a %s is not the change of a %s per second", type->name,
                         one->type->name);
    else if (!(rate->flags & ECS_COMPONENT_REPLICATED))
        refuse_component(one, "_integral: '%s' is not replicated", wanted);
}

// Check the words of a component that depend on other words or components.
static void template_check_words(ecs_template_set* set, const ecs_draft* draft,
                                 ecs_template_fold* fold) {
    BASE_ASSERT(draft->component_first + draft->component_count <= set->component_count);
    BASE_ASSERT(fold->count <= ECS_TEMPLATE_COMPONENTS_MAX);
    for (uint32_t i = 0; i < draft->component_count; i++) {
        const ecs_template_slot* own = &set->components[draft->component_first + i].slot;
        checked one = {.set = set, .draft = draft, .own = own};
        one.slot = template_fold_find(fold, own->component);
        if (!one.slot) continue; // above the limit: reported already
        one.name = ecs_component_get(set->world, own->component)->name;
        one.type = ecs_type_get(set->world, ecs_component_get(set->world, own->component)->type);
        check_interpolated(&one);
        check_rotation(&one);
        check_integral(&one, fold);
        if (own->visible && !is_replicated(&one))
            refuse_component(&one, "_visible without _replicate");
    }
}

typedef struct class_list {
    const char* names[ECS_VISIBLE_CLASSES_MAX];
    uint32_t count;
} class_list;

// Add a class. @return false when there are too many.
static bool add_class(class_list* list, const char* name) {
    BASE_ASSERT(list->count <= ECS_VISIBLE_CLASSES_MAX);
    if (!name) return true;
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return true;
    if (list->count == ECS_VISIBLE_CLASSES_MAX) return false;
    list->names[list->count++] = name;
    return true;
}

// Check the number of classes of `_visible` in the world and in the set.
static void template_check_classes(ecs_template_set* set) {
    BASE_ASSERT(set->world);
    class_list list = {.names = {"public", "owner", "team"}, .count = 3};
    const ecs_templates* templates = set->world->templates;
    for (uint32_t i = 0; i < templates->count; i++)
        for (uint32_t s = 0; s < templates->rows[i]->slot_count; s++)
            (void)add_class(&list, templates->rows[i]->slots[s].visible);
    for (uint32_t d = 0; d < set->draft_count; d++) {
        const ecs_draft* draft = &set->drafts[d];
        for (uint32_t i = 0; i < draft->component_count; i++) {
            const ecs_template_slot* slot = &set->components[draft->component_first + i].slot;
            if (add_class(&list, slot->visible)) continue;
            ecs_template_set_fault(set, draft->file, slot->line,
                                   "_visible: '%.80s' is one class more than %u", slot->visible,
                                   ECS_VISIBLE_CLASSES_MAX);
            return;
        }
    }
}

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
    const uint32_t most = resolver->suggestion_count++ < SUGGESTIONS_MAX ? CANDIDATES_MAX : 0;
    base_nearest nearest = base_nearest_begin(parent->name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < most && i < resolver->set->draft_count; i++)
        base_nearest_offer(&nearest, resolver->set->drafts[i].name);
    ecs_template_set_fault(resolver->set, child->file, parent->line,
                           "template '%s' extends '%.80s', which does not exist%s", child->name,
                           parent->name, base_nearest_hint(&nearest, hint));
}

// A struct with only some fields given begins with the inherited value.
const void* ecs_draft_value(ecs_template_set* set, const ecs_draft_component* component,
                            const ecs_template_slot* inherited) {
    const ecs_template_slot* slot = &component->slot;
    if (component->is_whole || !slot->value || !inherited || !inherited->value) return slot->value;
    ecs_type_id id = ecs_component_get(set->world, slot->component)->type;
    const ecs_type* type = ecs_type_get(set->world, id);
    void* value = ecs_template_set_value(set, type);
    ecs_type_context context = {set->world->allocator};
    ecs_value_assign(type, &context, value, inherited->value);
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
    return ecs_template_set_fault(resolver->set, draft->file, line,
                                  "more than %u components in '%s'", ECS_TEMPLATE_COMPONENTS_MAX,
                                  draft->name);
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
            ecs_draft_value(set, component, template_fold_find(resolver->fold, own.component));
        if (!fold_slots(resolver, draft, own.line, &own, 1)) return false;
        template_check_replicated(set, draft, own.line,
                                  template_fold_find(resolver->fold, own.component));
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
            const char* name = ecs_component_get(set->world, candidate->component)->name;
            if (strcmp(name, flag->component) == 0) slot = candidate;
        }
        if (!slot && ecs_opaque_is_known(set, flag->component)) continue;
        if (!slot) {
            ecs_template_set_fault(set, draft->file, flag->line,
                                   "template '%s' has no component '%.80s' to flag", draft->name,
                                   flag->component);
            continue;
        }
        slot->flags |= flag->flag;
        slot->stated |= flag->flag;
        template_check_replicated(set, draft, flag->line, slot);
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
        template_check_words(set, draft, fold);
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
        draft->slots = base_allocate(&set->owner.allocator, bytes);
        memcpy(draft->slots, fold->slots, bytes);
        draft->slot_count = fold->count;
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
            if (ecs_template_seek(set->world, parent->name) == ECS_TEMPLATE_NONE)
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
    if (set->result == ECS_ERR_FULL) return set->result;
    const base_allocator* allocator = &set->owner.allocator;
    resolve_pass resolver = {
        .set = set,
        .fold = base_allocate_zero(allocator, sizeof *resolver.fold),
        .stack = base_allocate(allocator, set->draft_count * sizeof *resolver.stack)};
    for (uint32_t i = 0; i < set->draft_count && !resolver.is_over; i++) {
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
    template_check_classes(set);
    return set->result;
}
