// SPDX-License-Identifier: MIT
// An entity keeps two rows, because a row is coded against those of the two ticks before it: the
// newest, and the one before it if that was in force two ticks ago.
#include "log/log_rows.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void net_log_rows_init(net_log_rows* rows, const base_allocator* allocator,
                       net_log_layout* layout) {
    BASE_ASSERT(rows);
    *rows = (net_log_rows){.allocator = allocator, .layout = layout};
}

static void release_blobs(net_log_rows* rows, net_log_row_entity* entity) {
    while (entity->blobs) {
        net_log_blob* blob = entity->blobs;
        entity->blobs = blob->next;
        rows->bytes -= blob->size + sizeof *blob;
        base_release(rows->allocator, blob->data, blob->size);
        base_release(rows->allocator, blob, sizeof *blob);
    }
}

static void release_entity(net_log_rows* rows, net_log_row_entity* entity) {
    if (entity->handle == ECS_ENTITY_NONE) return;
    release_blobs(rows, entity);
    rows->bytes -= entity->allocated_bytes;
    base_release(rows->allocator, entity->rows, entity->allocated_bytes);
    *entity = (net_log_row_entity){0};
    rows->count--;
}

void net_log_rows_clear(net_log_rows* rows) {
    for (uint32_t i = 0; i < rows->capacity; i++) {
        release_entity(rows, &rows->entities[i]);
        rows->entities[i].is_listed = false;
    }
    rows->before_count = rows->now_count = rows->touch_count = 0;
    memset(rows->sums, 0, sizeof rows->sums);
    rows->full_tick = 0;
}

void net_log_rows_deinit(net_log_rows* rows) {
    net_log_rows_clear(rows);
    BASE_ASSERT(rows->count == 0 && rows->bytes == 0);
    BASE_ARRAY_RELEASE(rows->allocator, rows->entities, rows->capacity);
    BASE_ARRAY_RELEASE(rows->allocator, rows->before, rows->before_capacity);
    BASE_ARRAY_RELEASE(rows->allocator, rows->now, rows->now_capacity);
    BASE_ARRAY_RELEASE(rows->allocator, rows->touches, rows->touch_capacity);
}

static int compare_indices(const void* a, const void* b) {
    uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
    return (left > right) - (left < right);
}

// The lists of writers are, but a damaged log's need not be.
static bool is_rising(const uint32_t* indices, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (indices[i - 1] >= indices[i]) return false;
    return true;
}

void net_log_rows_begin(net_log_rows* rows, ecs_tick tick) {
    BASE_ASSERT(tick > rows->tick || rows->full_tick == 0);
    uint32_t *list = rows->before, capacity = rows->before_capacity;
    for (uint32_t i = 0; i < rows->before_count; i++)
        rows->entities[rows->before[i]].is_listed = false;
    rows->before = rows->now;
    rows->before_capacity = rows->now_capacity;
    rows->before_count = 0;
    rows->now = list;
    rows->now_capacity = capacity;
    // An entity that came and went, or came twice, is listed more than once.
    for (uint32_t i = 0; i < rows->now_count; i++) {
        net_log_row_entity* entity = &rows->entities[rows->before[i]];
        if (entity->handle == ECS_ENTITY_NONE || entity->is_listed) continue;
        entity->is_listed = true;
        rows->before[rows->before_count++] = rows->before[i];
    }
    if (!is_rising(rows->before, rows->before_count))
        qsort(rows->before, rows->before_count, sizeof *rows->before, compare_indices);
    rows->now_count = rows->touch_count = 0;
    rows->tick = tick;
    rows->range_begin = 0;
}

bool net_log_template_takes(const net_log_template* template_, const uint32_t* row) {
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    uint32_t again[2 * PROTO_ROW_FIELDS_MAX];
    const proto_layout* layout = &template_->layout;
    if (template_->most) {
        bool is_over = false;
        for (uint32_t i = 0; i < layout->packed_count; i++)
            is_over |= row[i] > template_->most[i];
        return !is_over;
    }
    proto_row_unpack(layout, row, words);
    proto_row_pack(layout, words, again); // behind the last field there is nothing
    if (memcmp(row, again, template_->row_bytes) != 0) return false;
    for (uint32_t f = 0; f < layout->field_count; f++)
        if (proto_quant_canonical(&layout->fields[f].quant, words[f]) != words[f]) return false;
    return net_log_layout_has_rotations(layout, words);
}

const net_log_row_entity* net_log_rows_find(const net_log_rows* rows, uint32_t index) {
    if (index >= rows->capacity) return NULL;
    const net_log_row_entity* entity = &rows->entities[index];
    return entity->handle != ECS_ENTITY_NONE ? entity : NULL;
}

void net_log_rows_bases(const net_log_rows* rows, const net_log_row_entity* entity,
                        const uint32_t** base, const uint32_t** base2) {
    ecs_tick since = entity->begin_tick > rows->full_tick ? entity->begin_tick : rows->full_tick;
    bool has_moved = entity->change_tick + 1 == rows->tick;
    *base = entity->rows;
    *base2 = NULL;
    if (since + 2 > rows->tick) return;
    *base2 = has_moved ? entity->rows + entity->template_->layout.packed_count : entity->rows;
}

bool net_log_rows_expect(const net_log_rows* rows, const net_log_row_entity* entity,
                         uint32_t* row) {
    const uint32_t *base, *base2;
    net_log_rows_bases(rows, entity, &base, &base2);
    const proto_packed_base against = {base, base2, 1, base2 ? 1 : 0};
    proto_row_expected_packed(&entity->template_->layout, &against, row);
    return memcmp(row, base, entity->template_->row_bytes) != 0;
}

static uint32_t place_of(const net_log_rows* rows, uint32_t index) {
    uint32_t low = 0, high = rows->before_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->before[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void net_log_rows_range(const net_log_rows* rows, uint32_t begin, uint32_t end, uint32_t* first,
                        uint32_t* last) {
    *first = place_of(rows, begin);
    *last = place_of(rows, end);
}

bool net_log_rows_mark_full(net_log_rows* rows, ecs_tick tick) {
    if (!BASE_ARRAY_RESERVE(rows->allocator, rows->now, rows->now_capacity, rows->count))
        return false;
    rows->full_tick = tick;
    rows->now_count = 0;
    for (uint32_t index = 0; index < rows->capacity; index++)
        if (rows->entities[index].handle != ECS_ENTITY_NONE) rows->now[rows->now_count++] = index;
    return true;
}

static bool touch(net_log_rows* rows, ecs_entity entity, net_log_fate fate, uint64_t components) {
    bool has_room =
        BASE_ARRAY_RESERVE(rows->allocator, rows->now, rows->now_capacity, rows->now_count + 1) &&
        (!rows->has_touches || BASE_ARRAY_RESERVE(rows->allocator, rows->touches,
                                                  rows->touch_capacity, rows->touch_count + 1));
    if (!has_room) {
        rows->is_out_of_memory = true;
        return false;
    }
    if (rows->has_touches)
        rows->touches[rows->touch_count++] = (net_log_touch){entity, fate, components};
    if (fate != NET_LOG_FATE_DESTROYED) rows->now[rows->now_count++] = ecs_entity_index(entity);
    return true;
}

// A bit per component of the template whose words differ.
static uint64_t changed(const net_log_template* template_, const uint32_t* a, const uint32_t* b) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < template_->component_count && i < 64; i++) {
        if (template_->places[i] == UINT8_MAX) continue;
        const proto_row_component* own = &template_->layout.components[template_->places[i]];
        size_t bytes = own->packed_count * sizeof *a;
        if (memcmp(a + own->packed_first, b + own->packed_first, bytes) != 0)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

bool net_log_rows_change(net_log_rows* rows, uint32_t index, const uint32_t* row) {
    BASE_ASSERT(net_log_rows_find(rows, index));
    net_log_row_entity* entity = &rows->entities[index];
    const net_log_template* template_ = entity->template_;
    uint32_t words = template_->layout.packed_count;
    uint64_t components = rows->has_touches ? changed(template_, entity->rows, row) : 0;
    if (!touch(rows, entity->handle, NET_LOG_FATE_CHANGED, components)) return false;
    memcpy(entity->rows + words, entity->rows, template_->row_bytes);
    memcpy(entity->rows, row, template_->row_bytes);
    entity->change_tick = rows->tick;
    return true;
}

bool net_log_rows_put(net_log_rows* rows, ecs_entity handle, uint32_t number, const uint32_t* row) {
    const net_log_template* template_ = net_log_layout_template(rows->layout, number);
    uint32_t index = ecs_entity_index(handle);
    uint32_t bytes = 2 * template_->row_bytes + (uint32_t)sizeof(uint64_t); // a row may be empty
    BASE_ASSERT(template_ && index >= 1 && index <= net_log_layout_index_max(rows->layout));
    if (!BASE_ARRAY_RESERVE(rows->allocator, rows->entities, rows->capacity, index + 1)) {
        rows->is_out_of_memory = true;
        return false;
    }
    net_log_row_entity* entity = &rows->entities[index];
    bool was_listed = entity->is_listed;
    release_entity(rows, entity);
    if (rows->bytes + bytes > NET_LOG_ROWS_BYTES_MAX) return false;
    uint32_t* memory = base_allocate(rows->allocator, bytes);
    if (!memory || !touch(rows, handle, NET_LOG_FATE_CREATED, UINT64_MAX)) {
        base_release(rows->allocator, memory, bytes);
        rows->is_out_of_memory = true;
        return false;
    }
    *entity = (net_log_row_entity){.handle = handle,
                                   .number = number,
                                   .template_ = template_,
                                   .begin_tick = rows->tick,
                                   .change_tick = rows->tick,
                                   .rows = memory,
                                   .allocated_bytes = bytes,
                                   .is_listed = was_listed};
    memcpy(memory, row, template_->row_bytes);
    rows->bytes += bytes;
    rows->count++;
    return true;
}

bool net_log_rows_remove(net_log_rows* rows, uint32_t index) {
    BASE_ASSERT(net_log_rows_find(rows, index));
    net_log_row_entity* entity = &rows->entities[index];
    if (!touch(rows, entity->handle, NET_LOG_FATE_DESTROYED, 0)) return false;
    bool was_listed = entity->is_listed;
    release_entity(rows, entity);
    entity->is_listed = was_listed;
    return true;
}

bool net_log_rows_set_blob(net_log_rows* rows, uint32_t index, uint32_t component,
                           const uint8_t* data, uint32_t size) {
    BASE_ASSERT(net_log_rows_find(rows, index));
    net_log_row_entity* entity = &rows->entities[index];
    net_log_blob** at = &entity->blobs;
    while (*at && (*at)->component != component)
        at = &(*at)->next;
    if (*at && (*at)->size == size) {
        if (size > 0) memcpy((*at)->data, data, size);
        return true;
    }
    if (rows->bytes + size + sizeof **at > NET_LOG_ROWS_BYTES_MAX) return false;
    uint8_t* memory = size > 0 ? base_allocate(rows->allocator, size) : NULL;
    net_log_blob* blob = *at ? *at : base_allocate_zero(rows->allocator, sizeof *blob);
    if ((size > 0 && !memory) || !blob) {
        base_release(rows->allocator, memory, size);
        if (!*at) base_release(rows->allocator, blob, sizeof *blob);
        rows->is_out_of_memory = true;
        return false;
    }
    if (!*at) rows->bytes += sizeof *blob;
    rows->bytes += size;
    rows->bytes -= blob->size;
    base_release(rows->allocator, blob->data, blob->size);
    blob->component = component;
    blob->size = size;
    blob->data = memory;
    if (size > 0) memcpy(memory, data, size);
    *at = blob;
    return true;
}
