// SPDX-License-Identifier: MIT
// Everything here is read from a header, which is untrusted: what a layout asserts is checked
// before a layout is finished.
#include "log/log_layout_internal.h"

#include "base/assert.h"
#include "log/log_delta_format.h"
#include "log/log_header.h"
#include "state/rows.h"

#include <string.h>

enum {
    FIELD_TICK_RATE = 8,
    FIELD_INDEX_MAX = 9,
    FIELD_ROW_CODE = 15,
    FLAG_REPLICATED = 2, // SchemaTemplateComponent.flags
    INDEX_LIMIT = 1 << 20,
};

// ---- templates ----

// SchemaTemplateComponent.
typedef struct part {
    const net_log_component_row* component;
    uint64_t flags, bits, integral;
    double min, step;
    bool is_rotation;
    base_reader defaults;
} part;

static bool read_part(const net_log_layout* layout, const proto_pb_field* whole, part* found) {
    *found = (part){.defaults = base_reader_make(NULL, 0)};
    if (whole->type != 2) return false;
    base_reader reader = base_reader_make(whole->data, whole->size);
    proto_pb_field at;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 1) found->component = net_log_component_find(layout, at.number);
        if (at.id == 2) found->flags = at.number;
        if (at.id == 3) found->bits = at.number;
        if (at.id == 4) found->min = net_log_f64(at.number);
        if (at.id == 5) found->step = net_log_f64(at.number);
        if (at.id == 6) found->is_rotation = at.number != 0;
        if (at.id == 7) found->integral = at.number;
        if (at.id == 8 && at.type != 2) return false;
        if (at.id == 8) found->defaults = base_reader_make(at.data, at.size);
    }
    return !reader.failed && found->component;
}

static bool add_rotation(proto_layout* row, const part* added) {
    const net_log_component_row* component = added->component;
    uint64_t bits = added->bits;
    if (bits < PROTO_ROTATION_BITS_MIN || bits > PROTO_ROTATION_BITS_MAX ||
        component->public.value_count != PROTO_ROTATION_WORDS ||
        row->field_count + PROTO_ROTATION_WORDS > PROTO_ROW_FIELDS_MAX)
        return false;
    for (uint32_t i = 0; i < component->public.field_count; i++)
        if (component->fields[i].kind != ECS_FIELD_F32) return false;
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++) {
        proto_row_field* field = &row->fields[row->field_count++];
        bool is_made = i == 0 ? proto_quant_make(&field->quant, PROTO_U8, 2, 0, 1)
                              : proto_quant_make(&field->quant, PROTO_U16, (uint32_t)bits, 0, 1);
        if (!is_made) return false;
        if (i > 0) field->quant.q_max = (UINT64_C(1) << bits) - 2;
        field->offset_bytes = i * (uint32_t)sizeof(float);
    }
    return true;
}

static bool add_fields(proto_layout* row, const part* added) {
    const net_log_component_row* component = added->component;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < component->public.field_count; i++) {
        const net_log_field* field = &component->fields[i];
        const net_log_field_row* own = &component->rows[i];
        bool is_other =
            added->bits > 0 && field->kind != ECS_FIELD_BOOL && field->kind != ECS_FIELD_ENTITY;
        uint64_t bits = is_other ? added->bits : own->bits;
        proto_quant quant;
        if (bits > 32 || field->count > PROTO_ROW_FIELDS_MAX - row->field_count ||
            !proto_quant_make(&quant, (proto_kind)field->kind, (uint32_t)bits,
                              is_other ? added->min : own->min, is_other ? added->step : own->step))
            return false;
        for (uint32_t k = 0; k < field->count; k++) {
            row->fields[row->field_count++] =
                (proto_row_field){.quant = quant, .offset_bytes = offset};
            offset += (uint32_t)sizeof(uint64_t);
        }
    }
    return true;
}

// The words of the component's default. A word that its field does not have is no writer's.
static bool read_defaults(const proto_layout* row, const proto_row_component* component,
                          base_reader reader, uint64_t* words) {
    for (uint32_t i = 0; i < component->field_count && base_reader_left(&reader) > 0; i++) {
        uint64_t word = base_reader_varint(&reader);
        const proto_quant* quant = &row->fields[component->field_first + i].quant;
        if (reader.failed || proto_quant_canonical(quant, word) != word) return false;
        words[component->field_first + i] = word;
    }
    return base_reader_left(&reader) == 0;
}

static bool add_part(net_log_template* template_, const part* added, uint64_t* words,
                     uint32_t* integrals) {
    proto_layout* row = &template_->layout;
    const net_log_component* component = &added->component->public;
    template_->components[template_->component_count] = component;
    template_->places[template_->component_count] = UINT8_MAX;
    template_->component_count++;
    if (component->is_varsize) return true;
    if (row->component_count == PROTO_ROW_COMPONENTS_MAX) return false;
    template_->places[template_->component_count - 1] = (uint8_t)row->component_count;
    integrals[row->component_count] = (uint32_t)added->integral;
    proto_row_component* target = &row->components[row->component_count++];
    *target = (proto_row_component){.key = component->id,
                                    .field_first = (uint16_t)row->field_count,
                                    .is_rotation = added->is_rotation};
    if (!(added->is_rotation ? add_rotation(row, added) : add_fields(row, added))) return false;
    target->field_count = (uint16_t)(row->field_count - target->field_first);
    return read_defaults(row, target, added->defaults, words);
}

bool net_log_layout_has_rotations(const proto_layout* row, const uint64_t* words) {
    for (uint32_t c = 0; c < row->component_count; c++) {
        if (!row->components[c].is_rotation) continue;
        float value[PROTO_ROTATION_WORDS];
        uint64_t again[PROTO_ROW_FIELDS_MAX];
        proto_row_write_component(row, c, words, value);
        proto_row_read_component(row, c, value, again);
        uint32_t first = row->components[c].field_first;
        if (memcmp(words + first, again + first, PROTO_ROTATION_WORDS * sizeof *words) != 0)
            return false;
    }
    return true;
}

// Rows whose words have one largest value each are checked by it: no rotations, no NaN.
static bool is_by_word(const proto_layout* row) {
    for (uint32_t c = 0; c < row->component_count; c++)
        if (row->components[c].is_rotation) return false;
    for (uint32_t f = 0; f < row->field_count; f++) {
        const proto_quant* quant = &row->fields[f].quant;
        if (quant->bits > 32 || (quant->is_exact && quant->kind == PROTO_F32)) return false;
    }
    return true;
}

static void find_most(const proto_layout* row, uint32_t* most) {
    memset(most, 0, row->packed_count * sizeof *most);
    for (uint32_t f = 0; f < row->field_count; f++) {
        const proto_quant* quant = &row->fields[f].quant;
        most[f] = quant->is_exact ? UINT32_MAX >> (32 - quant->bits) : (uint32_t)quant->q_max;
    }
}

static bool finish(const net_log_layout* layout, net_log_template* template_, const uint64_t* words,
                   const uint32_t* integrals) {
    proto_layout* row = &template_->layout;
    for (uint32_t c = 0; c < row->component_count; c++)
        for (uint32_t i = 0; integrals[c] && i < row->component_count; i++)
            if (row->components[i].key == integrals[c])
                row->components[c].integral = (uint8_t)(i + 1);
    row->tick_rate_hz = layout->tick_rate_hz;
    row->tables = layout->tables;
    proto_layout_finish(row);
    if (row->bits_max > NET_ROW_BYTES_MAX * 8 || !net_log_layout_has_rotations(row, words))
        return false;
    template_->row_bytes = row->packed_count * (uint32_t)sizeof *template_->defaults;
    template_->defaults =
        base_allocate_zero(layout->allocator, template_->row_bytes + sizeof(uint64_t));
    if (!template_->defaults) return false;
    proto_row_pack(row, words, template_->defaults);
    if (!is_by_word(row)) return true;
    template_->most = base_allocate_zero(layout->allocator, template_->row_bytes + 1);
    if (template_->most) find_most(row, template_->most);
    return template_->most;
}

static void release_template(const net_log_layout* layout, net_log_template* template_) {
    if (!template_) return;
    BASE_ARRAY_RELEASE(layout->allocator, template_->components, ECS_TEMPLATE_COMPONENTS_MAX);
    BASE_ARRAY_RELEASE(layout->allocator, template_->places, ECS_TEMPLATE_COMPONENTS_MAX);
    base_release(layout->allocator, template_->definition, template_->definition_bytes);
    if (template_->defaults)
        base_release(layout->allocator, template_->defaults,
                     template_->row_bytes + sizeof(uint64_t));
    if (template_->most) base_release(layout->allocator, template_->most, template_->row_bytes + 1);
    base_release(layout->allocator, template_, sizeof *template_);
}

static net_result fill_template(net_log_layout* layout, net_log_template* template_,
                                base_reader reader) {
    const base_allocator* allocator = layout->allocator;
    template_->components =
        base_allocate_zero(allocator, ECS_TEMPLATE_COMPONENTS_MAX * sizeof(net_log_component*));
    template_->places = base_allocate_zero(allocator, ECS_TEMPLATE_COMPONENTS_MAX);
    if (!template_->components || !template_->places) return NET_ERR_MEMORY;
    uint64_t words[PROTO_ROW_FIELDS_MAX] = {0};
    uint32_t integrals[PROTO_ROW_COMPONENTS_MAX] = {0};
    proto_pb_field at;
    part found;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 2 && !net_log_header_text(&at, template_->name, sizeof template_->name))
            return NET_ERR_DAMAGED;
        if (at.id != 3) continue;
        if (!read_part(layout, &at, &found)) return NET_ERR_DAMAGED;
        if (!(found.flags & FLAG_REPLICATED)) continue;
        if (template_->component_count == ECS_TEMPLATE_COMPONENTS_MAX ||
            !add_part(template_, &found, words, integrals))
            return NET_ERR_DAMAGED;
    }
    if (reader.failed) return NET_ERR_DAMAGED;
    return finish(layout, template_, words, integrals) ? NET_OK : NET_ERR_DAMAGED;
}

// Has a SchemaTemplate at least one replicated component?
static bool is_replicated(const net_log_layout* layout, base_reader reader) {
    proto_pb_field at;
    part found;
    while (proto_pb_next(&reader, &at))
        if (at.id == 3 && read_part(layout, &at, &found) && found.flags & FLAG_REPLICATED)
            return true;
    return false;
}

static net_result add_template(net_log_layout* layout, base_reader reader) {
    if (layout->template_count == NET_LOG_TEMPLATES_MAX) return NET_ERR_DAMAGED;
    if (!BASE_ARRAY_RESERVE(layout->allocator, layout->templates, layout->template_capacity,
                            layout->template_count + 1))
        return NET_ERR_MEMORY;
    net_log_template* template_ = base_allocate_zero(layout->allocator, sizeof *template_);
    if (!template_) return NET_ERR_MEMORY;
    net_result result = fill_template(layout, template_, reader);
    if (result != NET_OK) {
        release_template(layout, template_);
        return result;
    }
    layout->templates[layout->template_count++] = template_;
    return NET_OK;
}

net_result net_log_layout_define(net_log_layout* layout, const void* data, size_t size) {
    BASE_ASSERT(layout && (data || size == 0));
    if (size < 1 || size > NET_LOG_DEFINITION_BYTES_MAX) return NET_ERR_DAMAGED;
    net_result result = add_template(layout, base_reader_make(data, size));
    if (result != NET_OK) return result;
    net_log_template* template_ = layout->templates[layout->template_count - 1];
    template_->definition = base_allocate(layout->allocator, size);
    if (!template_->definition) {
        release_template(layout, layout->templates[--layout->template_count]);
        return NET_ERR_MEMORY;
    }
    template_->definition_bytes = (uint32_t)size;
    memcpy(template_->definition, data, size);
    return NET_OK;
}

uint32_t net_log_layout_loaded_count(const net_log_layout* layout) {
    return layout->loaded_count;
}

// ---- the whole ----

static net_result read_tables(net_log_layout* layout, const proto_pb_field* field) {
    if (field->type != 2 || field->size != PROTO_TABLES_LENGTHS || layout->tables)
        return NET_ERR_DAMAGED;
    layout->tables = base_allocate_zero(layout->allocator, sizeof *layout->tables);
    if (!layout->tables) return NET_ERR_MEMORY;
    return proto_tables_make(field->data, layout->tables) ? NET_OK : NET_ERR_DAMAGED;
}

// Items of one kind: templates refer to components, and their rows to tables.
static net_result read_items(net_log_layout* layout, base_reader schema, uint32_t kind) {
    proto_pb_field at;
    net_result result = NET_OK;
    while (result == NET_OK && proto_pb_next(&schema, &at)) {
        if (at.id != kind) continue;
        if (kind == NET_LOG_SCHEMA_COMPONENT) result = net_log_component_add(layout, &at);
        if (kind == NET_LOG_SCHEMA_TABLES) result = read_tables(layout, &at);
        if (kind != NET_LOG_SCHEMA_TEMPLATE) continue;
        if (at.type != 2) return NET_ERR_DAMAGED;
        base_reader reader = base_reader_make(at.data, at.size);
        if (is_replicated(layout, reader)) result = add_template(layout, reader);
    }
    return schema.failed && result == NET_OK ? NET_ERR_DAMAGED : result;
}

static net_result read_header(net_log_layout* layout, base_reader reader) {
    proto_pb_field at;
    base_reader schema = base_reader_make(NULL, 0);
    uint64_t rate = 0, index_max = 0, row_code = 0;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == FIELD_TICK_RATE) rate = at.number;
        if (at.id == FIELD_INDEX_MAX) index_max = at.number;
        if (at.id == FIELD_ROW_CODE) row_code = at.number;
        if (at.id == NET_LOG_HEADER_SCHEMA && at.type == 2)
            schema = base_reader_make(at.data, at.size);
    }
    if (reader.failed) return NET_ERR_DAMAGED;
    if (row_code == 0) return NET_ERR_UNKNOWN;
    if (row_code != NET_LOG_ROW_CODE) return NET_ERR_VERSION;
    if (rate < 1 || rate > NET_TICK_RATE_HZ_MAX || index_max < 1 || index_max > INDEX_LIMIT)
        return NET_ERR_DAMAGED;
    layout->tick_rate_hz = (uint32_t)rate;
    layout->index_max = (uint32_t)index_max;
    net_result result = read_items(layout, schema, NET_LOG_SCHEMA_TABLES);
    if (result == NET_OK) result = read_items(layout, schema, NET_LOG_SCHEMA_COMPONENT);
    if (result == NET_OK) result = read_items(layout, schema, NET_LOG_SCHEMA_TEMPLATE);
    layout->loaded_count = layout->template_count;
    return result;
}

net_result net_log_layout_create(const base_allocator* allocator, const void* header,
                                 size_t header_bytes, net_log_layout** layout_out) {
    BASE_ASSERT(header && layout_out);
    *layout_out = NULL;
    net_log_layout* layout = base_allocate_zero(allocator, sizeof *layout);
    if (!layout) return NET_ERR_MEMORY;
    layout->allocator = allocator;
    net_result result = read_header(layout, base_reader_make(header, header_bytes));
    if (result != NET_OK) {
        net_log_layout_destroy(layout);
        return result;
    }
    *layout_out = layout;
    return NET_OK;
}

void net_log_layout_destroy(net_log_layout* layout) {
    if (!layout) return;
    const base_allocator* allocator = layout->allocator;
    for (uint32_t i = 0; i < layout->template_count; i++)
        release_template(layout, layout->templates[i]);
    for (uint32_t i = 0; i < layout->component_count; i++)
        net_log_component_release(layout, layout->components[i]);
    BASE_ARRAY_RELEASE(allocator, layout->templates, layout->template_capacity);
    BASE_ARRAY_RELEASE(allocator, layout->components, layout->component_capacity);
    if (layout->tables) base_release(allocator, layout->tables, sizeof *layout->tables);
    base_release(allocator, layout, sizeof *layout);
}

uint32_t net_log_layout_tick_rate(const net_log_layout* layout) {
    return layout->tick_rate_hz;
}

uint32_t net_log_layout_index_max(const net_log_layout* layout) {
    return layout->index_max;
}

uint32_t net_log_layout_component_count(const net_log_layout* layout) {
    return layout->component_count;
}

const net_log_component* net_log_layout_component(const net_log_layout* layout, uint32_t position) {
    return position < layout->component_count ? &layout->components[position]->public : NULL;
}

const net_log_component* net_log_layout_find(const net_log_layout* layout, uint32_t id) {
    const net_log_component_row* found = net_log_component_find(layout, id);
    return found ? &found->public : NULL;
}

const net_log_template* net_log_layout_template(const net_log_layout* layout, uint32_t number) {
    return number < layout->template_count ? layout->templates[number] : NULL;
}

uint32_t net_log_layout_template_count(const net_log_layout* layout) {
    return layout->template_count;
}
