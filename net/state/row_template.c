// SPDX-License-Identifier: MIT
// From a template of the world to a row template: its layout, default row, classes, and values of
// any length.
#include "state/row_template.h"

#include "core/fault.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

enum { VALUE_ALIGN = 16, WORD_BYTES = 8 };

static const char too_many_fields[] = "too many replicated fields";
static const char too_many_components[] = "too many replicated components";
static const char too_many_varsizes[] = "too many values of any length";

// A quaternion's words: which part is the largest, then the other three.
static const char* add_rotation(net_row_template* row_template,
                                const ecs_template_component* component, const ecs_type* type) {
    proto_layout* layout = &row_template->layout;
    uint32_t bits = component->quant.bits;
    if (bits < PROTO_ROTATION_BITS_MIN || bits > PROTO_ROTATION_BITS_MAX)
        return "a rotation has 4 to 15 bits";
    if (layout->field_count + PROTO_ROTATION_WORDS > PROTO_ROW_FIELDS_MAX) return too_many_fields;
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
    if (layout->component_count == PROTO_ROW_COMPONENTS_MAX) return too_many_components;
    proto_row_component* target = &layout->components[layout->component_count++];
    *target = (proto_row_component){.key = component->component,
                                    .field_first = (uint16_t)layout->field_count};
    if (component->is_rotation) return add_rotation(row_template, component, type);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        bool is_override = component->quant.bits > 0 && field->kind != ECS_FIELD_BOOL &&
                           field->kind != ECS_FIELD_ENTITY;
        const ecs_quant* quant = is_override ? &component->quant : &field->quant;
        proto_quant made;
        if (!proto_quant_make(&made, (proto_kind)field->kind, quant->bits, quant->min, quant->step))
            return "its quantisation is out of range";
        made.is_elastic = made.is_exact && (made.kind == PROTO_F32 || made.kind == PROTO_F64);
        for (uint32_t k = 0; k < field->count; k++) {
            if (layout->field_count == PROTO_ROW_FIELDS_MAX) return too_many_fields;
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
    if (row_template->varsize_count == NET_ROW_VARSIZE_MAX) return too_many_varsizes;
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

// How many a template has of what a limit concerns.
static uint32_t count_limited(const net_rows* rows, const ecs_template* source, const char* fault) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < source->component_count; i++) {
        const ecs_template_component* component = &source->components[i];
        if (!(component->flags & ECS_COMPONENT_REPLICATED)) continue;
        const ecs_type* type = net_rows_component_of(rows, component->component).type;
        if (ecs_type_is_varsize(type) != (fault == too_many_varsizes)) continue;
        for (uint32_t k = 0; fault == too_many_fields && k < type->field_count; k++)
            count += type->fields[k].count;
        if (fault != too_many_fields) count++;
    }
    return count;
}

void net_row_template_report(const net_rows* rows, const ecs_template* source, const char* fault,
                             ecs_component_id component, const base_reporter* reporter) {
    const uint32_t max = fault == too_many_fields       ? PROTO_ROW_FIELDS_MAX
                         : fault == too_many_components ? PROTO_ROW_COMPONENTS_MAX
                         : fault == too_many_varsizes   ? NET_ROW_VARSIZE_MAX
                                                        : 0;
    const char* name = component ? net_rows_component_of(rows, component).name : "";
    if (max > 0)
        base_report(reporter, source->file, source->line,
                    "template %s cannot be replicated: %s: %u, at most %u; component %s does not "
                    "fit",
                    source->name, fault, count_limited(rows, source, fault), max, name);
    else
        base_report(reporter, source->file, source->line,
                    "template %s cannot be replicated: %s%s%s", source->name, fault,
                    component ? ": component " : "", name);
}

const char* net_row_template_fill(const net_rows* rows, const ecs_template* source,
                                  net_row_template* row_template, ecs_component_id* at) {
    row_template->id = source->id;
    row_template->importance = (uint16_t)source->importance;
    for (uint32_t i = 0; i < source->component_count; i++) {
        const ecs_template_component* component = &source->components[i];
        if (!(component->flags & ECS_COMPONENT_REPLICATED)) continue;
        *at = component->component;
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
    *at = ECS_COMPONENT_NONE;
    link_integrals(rows, source, &row_template->layout);
    row_template->layout.tick_rate_hz = rows->tick_rate_hz;
    proto_layout_finish(&row_template->layout);
    if (!rows->world) // rows of a log are read one after the other, and stay words
        memset(row_template->layout.word_bytes, WORD_BYTES, row_template->layout.field_count);
    if (row_template->layout.bits_max > NET_ROW_BYTES_MAX * 8)
        return "its row does not fit one packet";
    return NULL;
}

// Words of the template's default values. `entry->layout` is complete.
void net_row_template_fill_defaults(net_rows* rows, const ecs_template* source,
                                    net_row_template* row_template) {
    BASE_ASSERT(source && row_template->layout.field_count <= PROTO_ROW_FIELDS_MAX);
    uint64_t* words = base_allocate_zero(&rows->owner.allocator,
                                         (row_template->layout.field_count + 1) * sizeof *words +
                                             row_template->layout.packed_count * sizeof(uint32_t));
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
}

// A row becomes components: at a creation over the template's values, later component by component,
// so that an unchanged component is not marked as written.
//
// Left to others: which row is due, and what the row of an entity was before (mirror, scene).

_Static_assert(PROTO_ROW_COMPONENTS_MAX <= 64, "a bit per component");

static bool is_reference(const net_row_world* target, uint64_t word) {
    uint32_t index = ecs_entity_index((ecs_entity)word);
    return index >= 1 && index <= target->index_max && ecs_entity_generation((ecs_entity)word) >= 1;
}

void net_row_world_retain(net_row_world* target, const net_row_template* row_template,
                          const uint64_t* row) {
    BASE_ASSERT(row_template && row);
    if (!target->world || row_template->entity_field_count == 0) return;
    for (uint32_t f = 0; f < row_template->layout.field_count; f++) {
        if (row_template->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (is_reference(target, row[f]))
            (void)!ecs_handle_retain(target->world, (ecs_entity)row[f]);
    }
}

void net_row_world_release(net_row_world* target, const net_row_template* row_template,
                           const uint64_t* row) {
    if (!target->world || row_template->entity_field_count == 0 ||
        net_fault_is_planted(NET_FAULT_LEAK_REFERENCE))
        return;
    for (uint32_t f = 0; f < row_template->layout.field_count; f++) {
        if (row_template->layout.fields[f].quant.kind != PROTO_ENTITY) continue;
        if (is_reference(target, row[f])) ecs_handle_release(target->world, (ecs_entity)row[f]);
    }
}

// Values of all replicated components: the template's bytes with the row's fields over them.
static void make_values(net_row_world* target, const net_row_template* row_template,
                        const uint64_t* row, ecs_init* inits) {
    BASE_ASSERT(row_template->layout.component_count <= PROTO_ROW_COMPONENTS_MAX);
    BASE_ARRAY_RESERVE(target->allocator, target->values, target->value_capacity,
                       row_template->value_bytes + VALUE_ALIGN);
    const ecs_template* source = ecs_template_get(target->world, row_template->id);
    uint8_t* memory = target->values;
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        ecs_component_id id = (ecs_component_id)row_template->layout.components[i].key;
        uint32_t size =
            ecs_type_get(target->world, ecs_component_get(target->world, id)->type)->size;
        const void* value = ecs_template_find_component(source, id)->value;
        if (value && size > 0)
            memcpy(memory, value, size);
        else
            memset(memory, 0, size);
        proto_row_write_component(&row_template->layout, i, row, memory);
        inits[i] = (ecs_init){id, memory};
        memory += (size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1);
    }
}

static net_result from_ecs(ecs_result result) {
    return result == ECS_OK ? NET_OK : NET_ERR_FULL;
}

// An entity whose resources are missing is LOADING afterwards, and later rows change what it will
// be. An entity whose resources cannot be loaded is not shown; that is no fault of the connection.
net_result net_row_world_create(net_row_world* target, ecs_entity handle,
                                const net_row_template* row_template, const uint64_t* row) {
    BASE_ASSERT(handle != ECS_ENTITY_NONE && row_template && row);
    if (!target->world) return NET_OK;
    if (ecs_loading_is_pending(target->world, handle))
        return net_row_world_recreate(target, handle, row_template, row);
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    make_values(target, row_template, row, inits);
    ecs_result result = ecs_handle_load(target->world, handle);
    if (result != ECS_OK) return from_ecs(result);
    result = ecs_create_at(target->world, handle, row_template->id, inits,
                           row_template->layout.component_count);
    if (result != ECS_OK) ecs_handle_unload(target->world, handle);
    return result == ECS_ERR_LOAD ? NET_OK : from_ecs(result);
}

net_result net_row_world_recreate(net_row_world* target, ecs_entity handle,
                                  const net_row_template* row_template, const uint64_t* row) {
    BASE_ASSERT(handle != ECS_ENTITY_NONE && row_template && row);
    if (!target->world) return NET_OK;
    ecs_init inits[PROTO_ROW_COMPONENTS_MAX];
    make_values(target, row_template, row, inits);
    return from_ecs(ecs_recreate(target->world, handle, row_template->id, inits,
                                 row_template->layout.component_count));
}

void net_row_world_destroy(net_row_world* target, ecs_entity handle) {
    if (!target->world) return;
    // The world's own systems must not destroy it; if one did, it is gone already.
    if (ecs_is_alive(target->world, handle) || ecs_loading_is_pending(target->world, handle))
        (void)(ecs_destroy(target->world, handle) == ECS_OK);
}

uint64_t net_row_changed(const net_row_template* row_template, const uint64_t* old_row,
                         const uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    uint64_t changed = 0;
    for (uint32_t f = 0; layout->plan.is_made && f < layout->field_count; f++)
        changed |= (uint64_t)(old_row[f] != row[f]) << layout->plan.words[f].component;
    for (uint32_t i = 0; !layout->plan.is_made && i < layout->component_count; i++) {
        const proto_row_component* component = &layout->components[i];
        uint64_t other = 0;
        for (uint32_t f = 0; f < component->field_count; f++)
            other |= old_row[component->field_first + f] ^ row[component->field_first + f];
        changed |= (uint64_t)(other != 0) << i;
    }
    return changed;
}

bool net_row_world_write(net_row_world* target, ecs_entity handle,
                         const net_row_template* row_template, const uint64_t* row,
                         uint64_t components) {
    const proto_layout* layout = &row_template->layout;
    uint64_t all =
        layout->component_count < 64 ? (UINT64_C(1) << layout->component_count) - 1 : UINT64_MAX;
    bool is_whole = true;
    if (!target->world) return is_whole;
    for (uint64_t left = components & all; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        ecs_component_id id = (ecs_component_id)layout->components[i].key;
        void* memory = ecs_find_mut(target->world, handle, id);
        if (memory)
            proto_row_write_component(layout, i, row, memory);
        else
            is_whole = false;
    }
    return is_whole;
}

bool net_row_world_read(const net_row_world* target, ecs_entity handle,
                        const net_row_template* row_template, uint64_t* row) {
    BASE_ASSERT(target->world);
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const void* memory =
            ecs_find(target->world, handle, (ecs_component_id)layout->components[i].key);
        if (!memory) return false;
        proto_row_read_component(layout, i, memory, row);
    }
    return true;
}
