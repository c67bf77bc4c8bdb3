// SPDX-License-Identifier: MIT
// Components of a header's schema, as a layout keeps them: names, fields, ranges.
#include "log/log_layout_internal.h"

#include "log/log_header.h"

static bool read_field(base_reader reader, net_log_field* field, net_log_field_row* row) {
    proto_pb_field at;
    uint64_t kind = 0, count = 0;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 1 && !net_log_header_text(&at, row->name, sizeof row->name)) return false;
        if (at.id == 2) kind = at.number;
        if (at.id == 3) count = at.number;
        if (at.id == 4) row->bits = at.number;
        if (at.id == 5) row->min = net_log_f64(at.number);
        if (at.id == 6) row->step = net_log_f64(at.number);
    }
    if (reader.failed || kind >= ECS_FIELD_KIND_COUNT || count < 1 || count > ECS_TYPE_BYTES_MAX)
        return false;
    *field = (net_log_field){row->name, (ecs_field_kind)kind, (uint32_t)count};
    return true;
}

static bool read_fields(net_log_layout* layout, net_log_component_row* component,
                        base_reader reader, uint32_t count) {
    const base_allocator* allocator = layout->allocator;
    component->public.field_count = count;
    component->fields = base_allocate_zero(allocator, (count + 1) * sizeof *component->fields);
    component->rows = base_allocate_zero(allocator, (count + 1) * sizeof *component->rows);
    if (!component->fields || !component->rows) return false;
    proto_pb_field at;
    for (uint32_t i = 0; proto_pb_next(&reader, &at);) {
        if (at.id != 4) continue;
        if (!read_field(base_reader_make(at.data, at.size), &component->fields[i],
                        &component->rows[i]))
            return false;
        component->public.value_count += component->fields[i++].count;
    }
    component->public.fields = component->fields;
    return true;
}

void net_log_component_release(const net_log_layout* layout, net_log_component_row* component) {
    if (!component) return;
    uint32_t count = component->public.field_count + 1;
    BASE_ARRAY_RELEASE(layout->allocator, component->fields, count);
    BASE_ARRAY_RELEASE(layout->allocator, component->rows, count);
    base_release(layout->allocator, component, sizeof *component);
}

net_result net_log_component_add(net_log_layout* layout, const proto_pb_field* whole) {
    if (whole->type != 2 || layout->component_count == ECS_COMPONENTS_MAX) return NET_ERR_DAMAGED;
    if (!BASE_ARRAY_RESERVE(layout->allocator, layout->components, layout->component_capacity,
                            layout->component_count + 1))
        return NET_ERR_MEMORY;
    net_log_component_row* component = base_allocate_zero(layout->allocator, sizeof *component);
    if (!component) return NET_ERR_MEMORY;
    layout->components[layout->component_count++] = component;
    component->public.name = component->name;
    component->public.type = component->type;
    base_reader reader = base_reader_make(whole->data, whole->size);
    proto_pb_field at;
    uint32_t fields = 0;
    bool is_right = true;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 1) component->public.id = (uint32_t)at.number;
        if (at.id == 2)
            is_right = is_right && net_log_header_text(&at, component->name, ECS_NAME_BYTES_MAX);
        if (at.id == 3)
            is_right = is_right && net_log_header_text(&at, component->type, ECS_NAME_BYTES_MAX);
        if (at.id == 4) {
            is_right = is_right && at.type == 2;
            fields++;
        }
        if (at.id == 5) component->public.is_varsize = at.number != 0;
    }
    uint32_t before = layout->component_count > 1
                          ? layout->components[layout->component_count - 2]->public.id
                          : 0;
    if (reader.failed || !is_right || fields > ECS_FIELDS_MAX || component->public.id <= before ||
        component->public.id > ECS_COMPONENTS_MAX)
        return NET_ERR_DAMAGED;
    return read_fields(layout, component, base_reader_make(whole->data, whole->size), fields)
               ? NET_OK
               : NET_ERR_DAMAGED;
}

net_log_component_row* net_log_component_find(const net_log_layout* layout, uint64_t id) {
    uint32_t low = 0, high = layout->component_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (layout->components[middle]->public.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < layout->component_count && layout->components[low]->public.id == id
               ? layout->components[low]
               : NULL;
}
