// SPDX-License-Identifier: MIT
// Both forms are read into the same lists, because what follows is the same: the writer codes the
// lists that it read from form 4, a reader applies those of either form.
//
// An entity is in a tick's parts at most once, so the rows that it is read against are those of the
// tick before.
#include "log/log_piece.h"

#include "base/assert.h"
#include "base/bitset.h"

#include <string.h>

void net_log_piece_init(net_log_piece* part, const base_allocator* allocator) {
    *part = (net_log_piece){.allocator = allocator};
}

void net_log_piece_deinit(net_log_piece* part) {
    BASE_ARRAY_RELEASE(part->allocator, part->items, part->item_capacity);
    BASE_ARRAY_RELEASE(part->allocator, part->words, part->word_capacity);
    BASE_ARRAY_RELEASE(part->allocator, part->values, part->value_capacity);
    BASE_ARRAY_RELEASE(part->allocator, part->bytes, part->byte_capacity);
}

void net_log_piece_begin(net_log_piece* part, net_log_rows* rows, ecs_tick tick, bool is_full) {
    bool is_first = rows->tick != tick;
    if (is_first && is_full) net_log_rows_clear(rows);
    if (is_first) net_log_rows_begin(rows, tick);
    if (is_first && is_full) rows->full_tick = tick;
    part->is_full = is_full;
    part->begin = rows->range_begin;
    part->end = UINT32_MAX;
    part->item_count = part->word_count = part->value_count = part->byte_count = 0;
    part->sum_count = 0;
    part->definition_first = rows->layout ? net_log_layout_template_count(rows->layout) : 0;
}

uint32_t* net_log_piece_add(net_log_piece* part, ecs_entity handle, net_log_entry entry,
                            uint32_t number, const net_log_template* template_) {
    uint32_t words = template_ ? template_->layout.packed_count : 0;
    if (!BASE_ARRAY_RESERVE(part->allocator, part->items, part->item_capacity,
                            part->item_count + 1) ||
        !BASE_ARRAY_RESERVE(part->allocator, part->words, part->word_capacity,
                            part->word_count + words + 2))
        return NULL;
    part->items[part->item_count++] = (net_log_piece_item){handle, entry, number, part->word_count};
    uint32_t* row = part->words + part->word_count;
    part->word_count += words;
    return row;
}

uint8_t* net_log_piece_add_value(net_log_piece* part, uint32_t index, uint32_t component,
                                 uint32_t size) {
    if (!BASE_ARRAY_RESERVE(part->allocator, part->values, part->value_capacity,
                            part->value_count + 1) ||
        !BASE_ARRAY_RESERVE(part->allocator, part->bytes, part->byte_capacity,
                            part->byte_count + size + 1))
        return NULL;
    part->values[part->value_count++] =
        (net_log_piece_value){index, component, part->byte_count, size};
    part->byte_count += size;
    return part->bytes + part->byte_count - size;
}

// With all rows come all definitions, also those that are known.
net_result net_log_piece_define(net_log_piece* part, net_log_rows* rows, uint32_t place,
                                const void* data, size_t size) {
    net_log_layout* layout = rows->layout;
    uint32_t number = net_log_layout_loaded_count(layout) + place;
    if (part->is_full && number < net_log_layout_template_count(layout)) {
        const net_log_template* known = net_log_layout_template(layout, number);
        bool is_same =
            known->definition_bytes == size && memcmp(known->definition, data, size) == 0;
        return is_same ? NET_OK : NET_ERR_DAMAGED;
    }
    return net_log_layout_define(layout, data, size);
}

// ---- form 4 ----

static bool read_words(base_reader* reader, const uint32_t* base, uint32_t* row, uint32_t words) {
    const uint32_t pairs = words / 2;
    const uint8_t* mask = base_reader_skip(reader, (pairs + 7) / 8);
    if (!mask) return false;
    memcpy(row, base, words * sizeof *row);
    size_t left = base_reader_left(reader);
    for (uint32_t first = 0; first < pairs; first += 8) {
        uint32_t bits = mask[first / 8];
        if (pairs - first < 8) bits &= (1u << (pairs - first)) - 1;
        for (; bits; bits &= bits - 1, left -= sizeof(uint64_t)) {
            if (left < sizeof(uint64_t)) return false;
            uint64_t both = base_load_le64(reader->data + reader->offset);
            uint32_t* target = row + 2 * (size_t)(first + base_bit_lowest(bits));
            target[0] = (uint32_t)both;
            target[1] = (uint32_t)(both >> 32);
            reader->offset += sizeof both;
        }
    }
    return true;
}

static net_result read_item(net_log_piece* part, const net_log_rows* rows, base_reader* reader,
                            uint32_t* index_before) {
    ecs_entity handle = base_reader_u32(reader);
    uint32_t entry = base_reader_u8(reader), index = ecs_entity_index(handle), number = 0;
    const net_log_row_entity* entity = net_log_rows_find(rows, index);
    if (index <= *index_before || index < part->begin || index >= part->end ||
        index > net_log_layout_index_max(rows->layout) || ecs_entity_generation(handle) == 0)
        return NET_ERR_DAMAGED;
    *index_before = index;
    const net_log_template* template_ = NULL;
    if (entry == NET_LOG_ENTRY_WHOLE) {
        number = base_reader_u16(reader);
        template_ = net_log_layout_template(rows->layout, number);
        if (!template_) return NET_ERR_DAMAGED;
    } else if (!entity || entry > NET_LOG_ENTRY_DESTROYED ||
               (entry == NET_LOG_ENTRY_CHANGED && entity->handle != handle)) {
        return NET_ERR_DAMAGED;
    } else if (entry == NET_LOG_ENTRY_CHANGED) {
        template_ = entity->template_;
        number = entity->number;
    } else {
        handle = entity->handle;
    }
    uint32_t* row = net_log_piece_add(part, handle, (net_log_entry)entry, number, template_);
    if (!row) return NET_ERR_MEMORY;
    if (!template_) return NET_OK;
    const uint32_t* base = entry == NET_LOG_ENTRY_CHANGED ? entity->rows : template_->defaults;
    return read_words(reader, base, row, template_->layout.packed_count) &&
                   net_log_template_takes(template_, row)
               ? NET_OK
               : NET_ERR_DAMAGED;
}

static net_result read_definitions(net_log_piece* part, net_log_rows* rows, base_reader* reader) {
    uint32_t count = base_reader_u32(reader);
    net_result result = NET_OK;
    for (uint32_t i = 0; i < count && result == NET_OK; i++) {
        uint32_t size = base_reader_u32(reader);
        if (reader->failed || size > base_reader_left(reader)) return NET_ERR_DAMAGED;
        const uint8_t* data = base_reader_skip(reader, size);
        result = net_log_piece_define(part, rows, i, data, size);
    }
    return result;
}

static net_result read_values(net_log_piece* part, base_reader* reader) {
    uint32_t count = base_reader_u32(reader);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(base_reader_u32(reader));
        uint32_t component = base_reader_u16(reader), size = base_reader_u32(reader);
        if (reader->failed || size > base_reader_left(reader)) return NET_ERR_DAMAGED;
        uint8_t* target = net_log_piece_add_value(part, index, component, size);
        if (!target) return NET_ERR_MEMORY;
        bool is_read = base_reader_read(reader, target, size);
        BASE_ASSERT(is_read);
    }
    return reader->failed ? NET_ERR_DAMAGED : NET_OK;
}

static net_result read_sums(net_log_piece* part, base_reader* reader) {
    uint32_t count = base_reader_u16(reader), before = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = base_reader_u16(reader);
        if (id <= before || id > ECS_COMPONENTS_MAX) return NET_ERR_DAMAGED;
        part->sums[part->sum_count++] = (net_log_piece_sum){(uint16_t)id, base_reader_u8(reader)};
        before = id;
    }
    return reader->failed || base_reader_left(reader) > 0 ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_piece_read_raw(net_log_piece* part, net_log_rows* rows, ecs_tick tick,
                                  const void* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    uint32_t form = base_reader_u8(&reader), flags = base_reader_u8(&reader);
    uint32_t end = base_reader_u32(&reader), index = 0;
    if (reader.failed || form != NET_LOG_FORM_RAW ||
        flags > (NET_LOG_RAW_START | NET_LOG_RAW_ROWS | NET_LOG_RAW_LAST))
        return NET_ERR_DAMAGED;
    part->has_rows = (flags & NET_LOG_RAW_ROWS) != 0;
    if (part->has_rows && !rows->layout) return NET_ERR_DAMAGED;
    part->is_last = (flags & NET_LOG_RAW_LAST) != 0;
    net_log_piece_begin(part, rows, tick, (flags & NET_LOG_RAW_START) && part->has_rows);
    part->end = end;
    if (end < part->begin || (part->is_last && end != UINT32_MAX)) return NET_ERR_DAMAGED;
    if (part->has_rows && rows->full_tick == 0) return NET_OK; // nothing to read it against
    net_result result = NET_OK;
    if (part->has_rows) {
        result = read_definitions(part, rows, &reader);
        uint32_t count = result == NET_OK ? base_reader_u32(&reader) : 0;
        for (uint32_t i = 0; i < count && result == NET_OK; i++)
            result = read_item(part, rows, &reader, &index);
        if (result == NET_OK) result = read_values(part, &reader);
    }
    return result == NET_OK ? read_sums(part, &reader) : result;
}

// ---- applying ----

static bool apply_item(const net_log_piece* part, net_log_rows* rows,
                       const net_log_piece_item* item) {
    uint32_t index = ecs_entity_index(item->handle);
    const uint32_t* row = part->words + item->row;
    if (item->entry == NET_LOG_ENTRY_WHOLE)
        return net_log_rows_put(rows, item->handle, item->number, row);
    if (item->entry == NET_LOG_ENTRY_DESTROYED) return net_log_rows_remove(rows, index);
    return net_log_rows_change(rows, index, row);
}

static bool takes_value(const net_log_row_entity* entity, uint32_t component) {
    for (uint32_t i = 0; entity && i < entity->template_->component_count; i++)
        if (entity->template_->components[i]->id == component)
            return entity->template_->places[i] == UINT8_MAX;
    return false;
}

void net_log_piece_keep_sums(const net_log_piece* part, net_log_rows* rows) {
    rows->sum_id_count = part->sum_count;
    for (uint32_t i = 0; i < part->sum_count; i++) {
        rows->sums[part->sums[i].component] = part->sums[i].sum;
        rows->sum_ids[i] = part->sums[i].component;
    }
}

net_result net_log_piece_apply(const net_log_piece* part, net_log_rows* rows) {
    rows->range_begin = part->end;
    if (!part->has_rows) rows->full_tick = 0;
    if (part->is_last) net_log_piece_keep_sums(part, rows);
    if (rows->full_tick == 0) return NET_OK;
    bool is_right = true;
    for (uint32_t i = 0; i < part->item_count && is_right; i++)
        is_right = apply_item(part, rows, &part->items[i]);
    for (uint32_t i = 0; i < part->value_count && is_right; i++) {
        const net_log_piece_value* value = &part->values[i];
        if (!takes_value(net_log_rows_find(rows, value->index), value->component))
            return NET_ERR_DAMAGED;
        is_right = net_log_rows_set_blob(rows, value->index, value->component,
                                         part->bytes + value->data, value->size);
    }
    if (is_right) return NET_OK;
    return rows->is_out_of_memory ? NET_ERR_MEMORY : NET_ERR_DAMAGED;
}
