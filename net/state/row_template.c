// SPDX-License-Identifier: MIT
// From a template of the world to a row template: its layout, default row, classes, and values of
// any length.
#include "state/rows_internal.h"

#include "base/assert.h"

#include <string.h>

enum { VALUE_ALIGN = 16 };

static bool is_number(ecs_field_kind kind) {
    return kind != ECS_FIELD_BOOL && kind != ECS_FIELD_ENTITY;
}

// A quaternion's words: which part is the largest, then the other three.
static const char* add_rotation(net_row_template* row_template,
                                const ecs_template_component* component, const ecs_type* type) {
    proto_layout* layout = &row_template->layout;
    uint32_t bits = component->quant.bits;
    if (bits < PROTO_ROTATION_BITS_MIN || bits > PROTO_ROTATION_BITS_MAX)
        return "a rotation has 4 to 15 bits";
    if (layout->field_count + PROTO_ROTATION_WORDS > PROTO_ROW_FIELDS_MAX)
        return "too many replicated fields";
    proto_row_component* target = &layout->components[layout->component_count - 1];
    uint32_t offsets[PROTO_ROTATION_WORDS], count = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        if (field->kind != ECS_FIELD_F32 || count + field->count > PROTO_ROTATION_WORDS)
            return "a rotation has four real numbers";
        for (uint32_t k = 0; k < field->count; k++)
            offsets[count++] = field->offset + k * ecs_field_kind_bytes(field->kind);
    }
    if (count != PROTO_ROTATION_WORDS || type->size != PROTO_ROTATION_WORDS * sizeof(float))
        return "a rotation has four real numbers";
    for (uint32_t i = 0; i < count; i++) {
        proto_row_field* field = &layout->fields[layout->field_count++];
        bool made = i == 0 ? proto_quant_make(&field->quant, PROTO_U8, 2, 0, 1)
                           : proto_quant_make(&field->quant, PROTO_U16, bits, 0, 1);
        BASE_ASSERT(made);
        if (i > 0) field->quant.q_max = (UINT64_C(1) << bits) - 2; // even: 0 is a value
        field->offset_bytes = offsets[i];
    }
    target->is_rotation = true;
    target->field_count = PROTO_ROTATION_WORDS;
    row_template->value_bytes += (type->size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    return NULL;
}

// Fields of one component; the reason in text when it cannot be a row.
static const char* add_component(net_row_template* row_template,
                                 const ecs_template_component* component, const ecs_type* type) {
    proto_layout* layout = &row_template->layout;
    if (layout->component_count == PROTO_ROW_COMPONENTS_MAX)
        return "too many replicated components";
    proto_row_component* target = &layout->components[layout->component_count++];
    *target = (proto_row_component){.key = component->component,
                                    .field_first = (uint16_t)layout->field_count};
    if (component->is_rotation) return add_rotation(row_template, component, type);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        bool is_override = component->quant.bits > 0 && is_number(field->kind);
        const ecs_quant* quant = is_override ? &component->quant : &field->quant;
        proto_quant made;
        if (!proto_quant_make(&made, (proto_kind)field->kind, quant->bits, quant->min, quant->step))
            return "its quantisation is out of range";
        for (uint32_t k = 0; k < field->count; k++) {
            if (layout->field_count == PROTO_ROW_FIELDS_MAX) return "too many replicated fields";
            layout->fields[layout->field_count++] = (proto_row_field){
                .quant = made,
                .offset_bytes = field->offset + k * ecs_field_kind_bytes(field->kind)};
            target->field_count++;
            row_template->entity_field_count += field->kind == ECS_FIELD_ENTITY;
        }
    }
    row_template->value_bytes += (type->size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    return NULL;
}

static const char* add_varsize(const net_rows* rows, net_row_template* row_template,
                               const ecs_template_component* component) {
    if (row_template->varsize_count == NET_ROW_VARSIZE_MAX) return "too many values of any length";
    for (uint32_t n = 0; n < rows->varsize_count; n++) {
        if (rows->varsizes[n] != component->component) continue;
        uint32_t class_ = component->visible ? net_rows_class(rows, component->visible) : 0;
        row_template->varsizes[row_template->varsize_count++] = (net_row_varsize){
            .component = component->component, .number = (uint16_t)n, .class_ = (uint8_t)class_};
        row_template->varsize_mask |= (uint16_t)(1u << class_);
    }
    return NULL;
}

void net_rows_add_varsize(net_rows* rows, ecs_component_id id) {
    const char* name = net_rows_component_of(rows, id).name;
    uint32_t at = 0;
    for (; at < rows->varsize_count; at++) {
        if (rows->varsizes[at] == id) return;
        if (strcmp(net_rows_component_of(rows, rows->varsizes[at]).name, name) > 0) break;
    }
    memmove(&rows->varsizes[at + 1], &rows->varsizes[at],
            (rows->varsize_count - at) * sizeof rows->varsizes[0]);
    rows->varsizes[at] = id;
    rows->varsize_count++;
}

void net_rows_list_varsizes(net_rows* rows) {
    for (uint32_t id = 1; id <= ecs_template_count(rows->world); id++) {
        const ecs_template* source = ecs_template_get(rows->world, (ecs_template_id)id);
        // A composition has what its parts have.
        for (uint32_t i = 0; source->part_count == 1 && i < source->component_count; i++) {
            const ecs_template_component* component = &source->components[i];
            if ((component->flags & ECS_COMPONENT_REPLICATED) &&
                ecs_type_is_varsize(net_rows_component_of(rows, component->component).type))
                net_rows_add_varsize(rows, component->component);
        }
    }
}

uint32_t net_rows_varsize_count(const net_rows* rows) {
    return rows->varsize_count;
}

ecs_component_id net_rows_varsize(const net_rows* rows, uint32_t number) {
    return number < rows->varsize_count ? rows->varsizes[number] : ECS_COMPONENT_NONE;
}

const net_row_varsize* net_row_find_varsize(const net_row_template* row_template,
                                            ecs_component_id component) {
    for (uint32_t i = 0; i < row_template->varsize_count; i++)
        if (row_template->varsizes[i].component == component) return &row_template->varsizes[i];
    return NULL;
}

// NET_CLASS_PUBLIC, OWNER and TEAM, then the others by name, independent of the order of loading.
void net_rows_list_classes(net_rows* rows) {
    static const char* const always[] = {"public", "owner", "team"};
    uint32_t first = BASE_COUNT(always);
    for (; rows->class_count < first; rows->class_count++)
        memcpy(rows->class_names[rows->class_count], always[rows->class_count],
               strlen(always[rows->class_count]));
    for (uint32_t id = 1; id <= ecs_template_count(rows->world); id++) {
        const ecs_template* source = ecs_template_get(rows->world, (ecs_template_id)id);
        for (uint32_t i = 0; i < source->component_count; i++) {
            const char* name = source->components[i].visible;
            if (!name || net_rows_class(rows, name) != UINT32_MAX) continue;
            BASE_ASSERT(rows->class_count < NET_CLASSES_MAX); // the datablock refuses more
            uint32_t at = rows->class_count++;
            for (; at > first && strcmp(rows->class_names[at - 1], name) > 0; at--)
                memcpy(rows->class_names[at], rows->class_names[at - 1], ECS_NAME_BYTES_MAX);
            memset(rows->class_names[at], 0, ECS_NAME_BYTES_MAX);
            memcpy(rows->class_names[at], name, strlen(name));
        }
    }
}

uint32_t net_rows_class(const net_rows* rows, const char* name) {
    BASE_ASSERT(rows && name);
    for (uint32_t i = 0; i < rows->class_count; i++)
        if (strcmp(rows->class_names[i], name) == 0) return i;
    return UINT32_MAX;
}

// Name what each component is the integral of, where that is in the row too.
static void link_integrals(const net_rows* rows, const ecs_template* source, proto_layout* layout) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        ecs_component_id id = (ecs_component_id)layout->components[c].key;
        const char* of = ecs_template_find_component(source, id)->integral;
        for (uint32_t i = 0; of && i < layout->component_count; i++) {
            const ecs_component_id other = (ecs_component_id)layout->components[i].key;
            if (strcmp(net_rows_component_of(rows, other).name, of) == 0)
                layout->components[c].integral = (uint8_t)(i + 1);
        }
    }
}

const char* net_row_template_fill(const net_rows* rows, const ecs_template* source,
                                  net_row_template* row_template) {
    row_template->id = source->id;
    row_template->importance = (uint16_t)source->importance;
    for (uint32_t i = 0; i < source->component_count; i++) {
        const ecs_template_component* component = &source->components[i];
        if (!(component->flags & ECS_COMPONENT_REPLICATED)) continue;
        const ecs_type* type = net_rows_component_of(rows, component->component).type;
        const char* fault = ecs_type_is_varsize(type) ? add_varsize(rows, row_template, component)
                            : type->ops ? "its type owns memory and does not say how to send it"
                                        : add_component(row_template, component, type);
        if (fault) return fault;
        if (ecs_type_is_varsize(type)) continue;
        uint32_t class_ = component->visible ? net_rows_class(rows, component->visible) : 0;
        row_template->classes[row_template->layout.component_count - 1] = (uint8_t)class_;
        row_template->class_mask |= (uint16_t)(1u << class_);
        if (class_ != NET_CLASS_PUBLIC)
            row_template->masked[row_template->masked_count++] =
                (uint8_t)(row_template->layout.component_count - 1);
    }
    link_integrals(rows, source, &row_template->layout);
    row_template->layout.tick_rate_hz = rows->tick_rate_hz;
    proto_layout_finish(&row_template->layout);
    if (row_template->layout.bits_max > NET_ROW_BYTES_MAX * 8)
        return "its row does not fit one packet";
    return NULL;
}

// The default row in both forms, one behind the other.
size_t net_row_template_defaults_bytes(const net_row_template* row_template) {
    return (row_template->layout.field_count + 1) * sizeof *row_template->defaults +
           row_template->layout.packed_count * sizeof *row_template->packed_defaults;
}

// Words of the template's default values. `entry->layout` is complete.
bool net_row_template_fill_defaults(const net_rows* rows, const ecs_template* source,
                                    net_row_template* row_template) {
    BASE_ASSERT(source && row_template->layout.field_count <= PROTO_ROW_FIELDS_MAX);
    uint64_t* words =
        base_allocate_zero(rows->allocator, net_row_template_defaults_bytes(row_template));
    if (!words) return false;
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        ecs_component_id id = (ecs_component_id)row_template->layout.components[i].key;
        const ecs_template_component* component = ecs_template_find_component(source, id);
        if (component->value)
            proto_row_read_component(&row_template->layout, i, component->value, words);
    }
    uint32_t* packed = (uint32_t*)(words + row_template->layout.field_count + 1);
    proto_row_pack(&row_template->layout, words, packed);
    row_template->defaults = words;
    row_template->packed_defaults = packed;
    return true;
}
