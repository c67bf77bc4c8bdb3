// SPDX-License-Identifier: MIT
// One value into a living entity, as a person types it. The text is read twice: first all of it is
// checked, then it is written, so nothing is left half done and nothing is allocated.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/component.h"
#include "ecs/container.h"
#include "ecs/inspect.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// Where a path leads: fields [first, last) of a component; of an array one element.
typedef struct place {
    const ecs_component* component;
    const ecs_type* type;
    ecs_quant quant; // of the entity's template; without bits the fields have their own
    uint32_t first, last;
    uint32_t element; // UINT32_MAX: all
} place;

// Cut "[3]" off. @return false for brackets that hold no number.
static bool cut_element(char* path, uint32_t* element) {
    char* open = strchr(path, '[');
    uint64_t number;
    *element = UINT32_MAX;
    if (!open) return true;
    const size_t length = strlen(open);
    if (length < 3 || open[length - 1] != ']') return false;
    open[length - 1] = '\0';
    if (!base_text_parse_u64(open + 1, &number) || number >= UINT32_MAX) return false;
    *open = '\0';
    *element = (uint32_t)number;
    return true;
}

static ecs_result refuse_name(ecs_world* world, const char* path, const base_reporter* reporter) {
    char hint[BASE_HINT_BYTES];
    base_report(reporter, NULL, 0, "there is no component '%s'%s", path,
                ecs_component_hint(world, path, hint));
    return ECS_ERR_UNKNOWN;
}

static ecs_result refuse_field(const place* at, const char* field, const base_reporter* reporter) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(field);
    for (uint32_t i = 0; i < at->type->field_count; i++)
        base_nearest_offer(&nearest, at->type->fields[i].name);
    base_report(reporter, NULL, 0, "component %s has no field '%s'%s", at->component->name, field,
                base_nearest_hint(&nearest, hint));
    return ECS_ERR_UNKNOWN;
}

// Names of both may have dots: the longest component counts.
static ecs_result find_place(ecs_world* world, const char* path, place* at,
                             const base_reporter* reporter) {
    char name[2 * ECS_NAME_BYTES_MAX];
    if (!base_text_copy(name, sizeof name, path) || !cut_element(name, &at->element))
        return refuse_name(world, path, reporter);
    ecs_component_id id = ecs_component_find(world, name);
    size_t length = strlen(name);
    const size_t whole = length;
    while (id == ECS_COMPONENT_NONE && length > 0) {
        if (length < whole) name[length] = '.';
        do
            length--;
        while (length > 0 && name[length] != '.');
        name[length] = '\0';
        if (length > 0) id = ecs_component_find(world, name);
    }
    if (id == ECS_COMPONENT_NONE) return refuse_name(world, path, reporter);
    at->component = ecs_component_get(world, id);
    at->type = ecs_type_get(world, at->component->type);
    at->first = 0;
    at->last = at->type->field_count;
    if (length == whole) return ECS_OK;
    const char* field = name + length + 1;
    while (at->first < at->last && strcmp(at->type->fields[at->first].name, field) != 0)
        at->first++;
    if (at->first == at->last) return refuse_field(at, field, reporter);
    at->last = at->first + 1;
    return ECS_OK;
}

static bool is_plain(const ecs_type* type) {
    return type->box ? !type->box->ops : !type->ops;
}

// Clients would get the nearest limit instead. An angle is wrapped.
static bool is_carried(const place* at, const ecs_field* field, const void* value, char* message) {
    const ecs_quant* quant = at->quant.bits > 0 ? &at->quant : &field->quant;
    if (quant->bits == 0 || field->kind == ECS_FIELD_BOOL || field->kind == ECS_FIELD_ENTITY ||
        ecs_quant_is_angle(quant))
        return true;
    const ecs_number put = ecs_number_get(field->kind, value);
    const double number = (double)ecs_number_value(&put);
    const double top =
        quant->min + (double)((UINT64_C(1) << quant->bits) - 1) * quant->step + quant->step / 2;
    if (number >= quant->min - quant->step / 2 && number <= top) return true;
    (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES,
                           "%g is outside of %g to %g, which clients can be sent", number,
                           quant->min, top - quant->step / 2);
    return false;
}

// `object` NULL: only check.
static bool read_elements(const ecs_world* world, const place* at, const char* text, void* object,
                          char* message) {
    const bool is_whole = at->first == 0 && at->last == at->type->field_count;
    uint32_t needed = at->element == UINT32_MAX ? 0 : 1;
    for (uint32_t i = at->first; i < at->last && at->element == UINT32_MAX; i++)
        needed += at->type->fields[i].count;
    char color[ECS_TEXT_COLOR_BYTES];
    ecs_text_list list = {.at = text, .world = world};
    list.is_matrix = is_whole && at->type->id == ECS_ELEMENT_M && needed > 1;
    if (is_whole && at->type->id == ECS_ELEMENT_C && needed > 1)
        list.at = ecs_text_color(text, color);
    for (uint32_t i = at->first; i < at->last; i++) {
        const ecs_field* field = &at->type->fields[i];
        const uint32_t bytes = ecs_field_kind_bytes(field->kind);
        uint32_t from = at->element == UINT32_MAX ? 0 : at->element;
        uint32_t to = at->element == UINT32_MAX ? field->count : at->element + 1;
        for (; from < to; from++) {
            uint64_t value;
            if (!ecs_text_next(&list, field->kind, &value, needed, message) ||
                !is_carried(at, field, &value, message))
                return false;
            if (object) memcpy((uint8_t*)object + field->offset + from * bytes, &value, bytes);
        }
    }
    return ecs_text_ends(&list, needed, message);
}

static ecs_result refuse_value(const char* path, const char* message,
                               const base_reporter* reporter) {
    base_report(reporter, NULL, 0, "%s: %s", path, message);
    return ECS_ERR_SYNTAX;
}

static ecs_result put_text(ecs_world* world, ecs_entity entity, const place* at, const char* path,
                           const char* text, bool is_trial, const base_reporter* reporter) {
    const size_t size = strlen(text);
    char message[ECS_VALUE_MESSAGE_BYTES];
    (void)base_text_format(message, sizeof message, "the text is longer than %u bytes",
                           ECS_STRING_BYTES_MAX);
    if (size > ECS_STRING_BYTES_MAX) return refuse_value(path, message, reporter);
    if (is_trial) return ECS_OK;
    void* cell = ecs_get_mut(world, entity, at->component->id);
    return ecs_string_set(world->allocator, cell, text, (uint32_t)size);
}

// The entity has the component. @return as ecs_put.
static ecs_result check_place(ecs_world* world, ecs_entity entity, const char* path, place* at,
                              const base_reporter* reporter) {
    const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, entity));
    const ecs_template_component* of =
        template_ ? ecs_template_find_component(template_, at->component->id) : NULL;
    if (!ecs_find(world, entity, at->component->id))
        return BASE_REPORT_AS(ECS_ERR_MISSING, reporter, NULL, 0,
                              "entity %u:%u (%s) has no component %s", ecs_entity_index(entity),
                              ecs_entity_generation(entity),
                              ecs_entity_template_name(world, entity), at->component->name);
    if (of) at->quant = of->quant;
    if (at->type->id == ECS_ELEMENT_T && at->element == UINT32_MAX) return ECS_OK;
    if (!is_plain(at->type) || at->type->field_count == 0)
        return BASE_REPORT_AS(
            ECS_ERR_TYPE, reporter, NULL, 0,
            "component %s has the type %s: only numbers, entities and texts can be put",
            at->component->name, at->type->name);
    if (at->element == UINT32_MAX) return ECS_OK;
    const ecs_field* field = &at->type->fields[at->first];
    if (at->last == at->first + 1 && at->element < field->count) return ECS_OK;
    base_report(reporter, NULL, 0, "%s: there is no such element", path);
    return ECS_ERR_UNKNOWN;
}

ecs_result ecs_put(ecs_world* world, ecs_entity entity, const char* path, const char* text,
                   bool is_trial, const base_reporter* reporter) {
    BASE_ASSERT(world && path && text && world->is_sealed && !world->running);
    char message[ECS_VALUE_MESSAGE_BYTES];
    place at = {0};
    if (!ecs_is_alive(world, entity))
        return BASE_REPORT_AS(ECS_ERR_STALE, reporter, NULL, 0, "there is no entity %u:%u",
                              ecs_entity_index(entity), ecs_entity_generation(entity));
    ecs_result result = find_place(world, path, &at, reporter);
    if (result == ECS_OK) result = check_place(world, entity, path, &at, reporter);
    if (result != ECS_OK) return result;
    if (at.type->id == ECS_ELEMENT_T)
        return put_text(world, entity, &at, path, text, is_trial, reporter);
    if (!read_elements(world, &at, text, NULL, message))
        return refuse_value(path, message, reporter);
    if (is_trial) return ECS_OK;
    void* cell = ecs_get_mut(world, entity, at.component->id);
    bool is_read = read_elements(world, &at, text, ecs_type_object_mut(at.type, cell), message);
    BASE_ASSERT(is_read); // as checked
    return ECS_OK;
}
