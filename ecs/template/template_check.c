// SPDX-License-Identifier: MIT
// Checks of a template after its parents were merged: words that need other words (`_interpolate`
// needs `_replicate`, which may be stated by name), types that fit, components that exist. Each
// fault is reported where the word stands.
//
// A text that is checked alone may have unknown parents. What a parent could state is then no
// fault.
#include "template/template_set.h"

#include "ecs/hierarchy.h"
#include "type/type_registry.h"
#include "type/world.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ecs_template_check_replicated(ecs_template_set* set, const ecs_draft* draft, uint32_t line,
                                   const ecs_template_slot* slot) {
    BASE_ASSERT(draft && slot && slot->component != ECS_COMPONENT_NONE);
    ecs_type_id id = ecs_template_set_component_type(set, slot->component);
    const ecs_type* type = ecs_type_get(set->world, id);
    if (!(slot->flags & ECS_COMPONENT_REPLICATED)) return;
    if (ecs_type_is_plain(type) || ecs_type_is_varsize(type)) return;
    ecs_template_set_fault(set, draft->file, line, "component '%s': a %s cannot be replicated: %s",
                           ecs_template_set_component_name(set, slot->component), type->name,
                           type->box ? "it is boxed" : "it has neither fields nor write and read");
}

static bool is_all_real(const ecs_type* type) {
    for (uint32_t i = 0; i < type->field_count; i++)
        if (type->fields[i].kind != ECS_FIELD_F32 && type->fields[i].kind != ECS_FIELD_F64)
            return false;
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

static void refuse(const checked* one, const char* format, ...) BASE_PRINTF(2, 3);

static void refuse(const checked* one, const char* format, ...) {
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
            refuse(one, "_teleport without _interpolate");
        return;
    }
    if (!is_replicated(one))
        refuse(one, "_interpolate without _replicate");
    else if (!is_all_real(one->type))
        refuse(one, "a %s cannot be interpolated, it is not all real numbers", one->type->name);
}

static void check_rotation(const checked* one) {
    if (!(one->slot->flags & ECS_SLOT_ROTATION)) return;
    bool is_four = count_elements(one->type) == 4;
    for (uint32_t i = 0; i < one->type->field_count; i++)
        is_four = is_four && one->type->fields[i].kind == ECS_FIELD_F32;
    if (!is_four)
        refuse(one, "a %s is no rotation, that is a p4 or four floats", one->type->name);
    else if (!is_replicated(one) && !one->set->is_alone)
        refuse(one, "_rotation without _replicate");
    else if (!one->slot->is_quantised && !one->set->is_alone)
        refuse(one, "_rotation without _bits");
}

static void check_integral(const checked* one, const ecs_template_fold* fold) {
    const char* wanted = one->slot->integral;
    if (!wanted || !*wanted) return;
    if (!is_replicated(one)) {
        if (one->own->integral && !one->set->is_alone) refuse(one, "_integral without _replicate");
        return;
    }
    const ecs_template_slot* rate = NULL;
    for (uint32_t i = 0; i < fold->count && !rate; i++) {
        ecs_component_id id = fold->slots[i].component;
        if (strcmp(ecs_template_set_component_name(one->set, id), wanted) == 0)
            rate = &fold->slots[i];
    }
    if (rate == one->slot) {
        refuse(one, "_integral names the component itself");
        return;
    }
    if (!rate) {
        if (!one->set->is_alone)
            refuse(one, "_integral: '%s' has no component '%.80s'", one->draft->name, wanted);
        return;
    }
    const ecs_type* type =
        ecs_type_get(one->set->world, ecs_template_set_component_type(one->set, rate->component));
    if (!is_all_real(one->type) || !is_all_real(type) ||
        count_elements(one->type) != count_elements(type))
        refuse(one, "_integral: a %s is not the change of a %s per second", type->name,
               one->type->name);
    else if (!(rate->flags & ECS_COMPONENT_REPLICATED) && !one->set->is_alone)
        refuse(one, "_integral: '%s' is not replicated", wanted);
}

void ecs_template_check_words(ecs_template_set* set, const ecs_draft* draft,
                              ecs_template_fold* fold) {
    BASE_ASSERT(draft->component_first + draft->component_count <= set->component_count);
    BASE_ASSERT(fold->count <= ECS_TEMPLATE_COMPONENTS_MAX);
    for (uint32_t i = 0; i < draft->component_count; i++) {
        const ecs_template_slot* own = &set->components[draft->component_first + i].slot;
        checked one = {.set = set, .draft = draft, .own = own};
        one.slot = ecs_template_fold_find(fold, own->component);
        if (!one.slot) continue; // above the limit: reported already
        one.name = ecs_template_set_component_name(set, own->component);
        one.type = ecs_type_get(set->world, ecs_template_set_component_type(set, own->component));
        check_interpolated(&one);
        check_rotation(&one);
        check_integral(&one, fold);
        if (own->visible && !is_replicated(&one) && !set->is_alone)
            refuse(&one, "_visible without _replicate");
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

void ecs_template_check_classes(ecs_template_set* set) {
    BASE_ASSERT(set->world);
    class_list list = {.names = {"public", "owner", "team"}, .count = 3};
    const ecs_templates* templates = set->world->templates;
    for (uint32_t i = 0; i < templates->count && !set->is_reload; i++)
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
