// SPDX-License-Identifier: MIT
// Form 3 is read into a part, in the order in which log_delta.c writes it. Any bits give a part
// that can be applied, or are refused.
#include "base/assert.h"
#include "log/log_piece.h"
#include "proto/bits.h"

#include <string.h>

typedef struct source {
    net_log_piece* part;
    net_log_rows* rows;
    proto_bit_reader bits;
} source;

static bool read_bit(source* self) {
    return proto_bits_read(&self->bits, 1) != 0;
}

static net_result state(const source* self) {
    return self->bits.failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- sums and definitions ----

static net_result read_sums(source* self) {
    net_log_piece* part = self->part;
    bool is_same = !part->is_full && read_bit(self);
    uint32_t count = is_same ? self->rows->sum_id_count
                             : proto_bits_read_golomb(&self->bits, NET_LOG_SUM_COUNT_ORDER);
    uint32_t id = 0;
    for (uint32_t i = 0; i < count && !self->bits.failed; i++) {
        if (is_same)
            id = self->rows->sum_ids[i];
        else
            id += 1 + proto_bits_read_golomb(&self->bits, NET_LOG_SUM_ID_ORDER);
        if (id == 0 || id > ECS_COMPONENTS_MAX) return NET_ERR_DAMAGED;
        part->sums[part->sum_count++] = (net_log_piece_sum){
            (uint16_t)id, (uint8_t)proto_bits_read(&self->bits, NET_LOG_SUM_BITS)};
    }
    return state(self);
}

static bool has_bytes(const source* self, uint32_t size) {
    return (self->bits.size_bits - self->bits.offset_bits) / 8 >= size;
}

static net_result read_definitions(source* self) {
    net_result result = NET_OK;
    for (uint32_t place = 0; result == NET_OK && read_bit(self); place++) {
        uint32_t size = proto_bits_read_golomb(&self->bits, NET_LOG_DEFINITION_ORDER);
        if (self->bits.failed || !has_bytes(self, size)) return NET_ERR_DAMAGED;
        uint8_t* data = base_allocate(self->part->allocator, size + 1u);
        if (!data) return NET_ERR_MEMORY;
        for (uint32_t i = 0; i < size; i++)
            data[i] = (uint8_t)proto_bits_read(&self->bits, 8);
        result = net_log_piece_define(self->part, self->rows, place, data, size);
        base_release(self->part->allocator, data, size + 1u);
    }
    return result == NET_OK ? state(self) : result;
}

// ---- entities ----

static net_result read_row(source* self, ecs_entity handle, net_log_entry entry, uint32_t number) {
    const net_log_template* template_ = net_log_layout_template(self->rows->layout, number);
    uint64_t words[3][PROTO_ROW_FIELDS_MAX];
    proto_row_base against = {.base = words[1]};
    const uint32_t *base = template_->defaults, *base2 = NULL;
    if (entry == NET_LOG_ENTRY_CHANGED) {
        net_log_rows_bases(self->rows, net_log_rows_find(self->rows, ecs_entity_index(handle)),
                           &base, &base2);
        against.ticks = 1;
    }
    proto_row_unpack(&template_->layout, base, words[1]);
    if (base2) {
        proto_row_unpack(&template_->layout, base2, words[2]);
        against.base2 = words[2];
        against.ticks2 = 1;
    }
    proto_row_read(&template_->layout, &against, words[0], &self->bits, NULL);
    if (self->bits.failed) return NET_ERR_DAMAGED;
    uint32_t* row = net_log_piece_add(self->part, handle, entry, number, template_);
    if (!row) return NET_ERR_MEMORY;
    proto_row_pack(&template_->layout, words[0], row);
    return NET_OK;
}

static net_result add_expected(source* self, const net_log_row_entity* entity) {
    uint32_t expected[2 * PROTO_ROW_FIELDS_MAX];
    if (!net_log_rows_expect(self->rows, entity, expected)) return NET_OK; // it has that row
    uint32_t* row = net_log_piece_add(self->part, entity->handle, NET_LOG_ENTRY_CHANGED,
                                      entity->number, entity->template_);
    if (!row) return NET_ERR_MEMORY;
    memcpy(row, expected, entity->template_->row_bytes);
    return NET_OK;
}

// How each of `count` listed entities goes on.
enum { COURSE_KEPT, COURSE_CODED, COURSE_ENDED };

static bool read_courses(source* self, uint8_t* courses, uint32_t count) {
    uint32_t order = (uint32_t)proto_bits_read(&self->bits, NET_LOG_ORDER_BITS), next = 0;
    while (next < count && !self->bits.failed) {
        uint32_t gap = proto_bits_read_golomb(&self->bits, order);
        if (gap > count - next) self->bits.failed = true;
        if (gap >= count - next) break;
        next += gap + 1;
        courses[next - 1] = read_bit(self) ? COURSE_ENDED : COURSE_CODED;
    }
    return !self->bits.failed;
}

static net_result read_again(source* self) {
    uint32_t first, last;
    net_log_rows_range(self->rows, self->part->begin, self->part->end, &first, &last);
    if (first == last) return NET_OK;
    uint8_t* courses = base_allocate_zero(self->part->allocator, last - first);
    if (!courses) return NET_ERR_MEMORY;
    net_result result = read_courses(self, courses, last - first) ? NET_OK : NET_ERR_DAMAGED;
    for (uint32_t i = 0; i < last - first && result == NET_OK; i++) {
        const net_log_row_entity* entity =
            net_log_rows_find(self->rows, self->rows->before[first + i]);
        BASE_ASSERT(entity);
        if (courses[i] == COURSE_KEPT) result = add_expected(self, entity);
        if (courses[i] == COURSE_CODED)
            result = read_row(self, entity->handle, NET_LOG_ENTRY_CHANGED, entity->number);
    }
    base_release(self->part->allocator, courses, last - first);
    return result == NET_OK ? state(self) : result;
}

// Did the index change again? Then it is not among the others.
static bool is_listed(const net_log_piece* part, uint32_t again_count, uint32_t index) {
    uint32_t low = 0, high = again_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ecs_entity_index(part->items[middle].handle) < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < again_count && ecs_entity_index(part->items[low].handle) == index;
}

static net_result read_whole(source* self, uint32_t index, uint32_t* number) {
    uint32_t generation =
        read_bit(self) ? 1 : (uint32_t)proto_bits_read(&self->bits, ECS_GENERATION_BITS);
    if (!read_bit(self)) *number = proto_bits_read_golomb(&self->bits, NET_LOG_TEMPLATE_ORDER);
    if (self->bits.failed || generation == 0 ||
        index > net_log_layout_index_max(self->rows->layout) ||
        !net_log_layout_template(self->rows->layout, *number))
        return NET_ERR_DAMAGED;
    return read_row(self, ecs_entity_make(index, generation), NET_LOG_ENTRY_WHOLE, *number);
}

static net_result read_other(source* self, uint32_t index, uint32_t* number) {
    const net_log_row_entity* entity = net_log_rows_find(self->rows, index);
    bool is_changed = !self->part->is_full && !read_bit(self);
    bool is_destroyed = !self->part->is_full && !is_changed && read_bit(self);
    if (!is_changed && !is_destroyed) return read_whole(self, index, number);
    if (!entity) return NET_ERR_DAMAGED;
    if (is_changed) return read_row(self, entity->handle, NET_LOG_ENTRY_CHANGED, entity->number);
    return net_log_piece_add(self->part, entity->handle, NET_LOG_ENTRY_DESTROYED, 0, NULL)
               ? NET_OK
               : NET_ERR_MEMORY;
}

static net_result read_others(source* self) {
    uint32_t again = self->part->item_count, next = self->part->begin, number = UINT32_MAX;
    uint32_t count = proto_bits_read_golomb(&self->bits, NET_LOG_OTHER_COUNT_ORDER);
    if (self->bits.failed || count == 0) return state(self);
    uint32_t order = (uint32_t)proto_bits_read(&self->bits, NET_LOG_ORDER_BITS);
    net_result result = NET_OK;
    for (uint32_t i = 0; i < count && result == NET_OK; i++) {
        uint32_t gap = proto_bits_read_golomb(&self->bits, order);
        if (self->bits.failed || gap > ECS_INDEX_MAX || next > ECS_INDEX_MAX - gap)
            return NET_ERR_DAMAGED;
        uint32_t index = next + gap;
        if (index == 0 || index >= self->part->end || is_listed(self->part, again, index))
            return NET_ERR_DAMAGED;
        next = index + 1;
        result = read_other(self, index, &number);
    }
    return result == NET_OK ? state(self) : result;
}

// ---- values of variable size ----

static net_result read_values(source* self) {
    while (read_bit(self)) {
        uint32_t index = proto_bits_read_golomb(&self->bits, NET_LOG_VALUE_INDEX_ORDER);
        uint32_t component = proto_bits_read_golomb(&self->bits, NET_LOG_VALUE_COMPONENT_ORDER);
        uint32_t size = proto_bits_read_golomb(&self->bits, NET_LOG_VALUE_BYTES_ORDER);
        if (self->bits.failed || !has_bytes(self, size)) return NET_ERR_DAMAGED;
        uint8_t* data = net_log_piece_add_value(self->part, index, component, size);
        if (!data) return NET_ERR_MEMORY;
        for (uint32_t i = 0; i < size; i++)
            data[i] = (uint8_t)proto_bits_read(&self->bits, 8);
    }
    return state(self);
}

// The rest of the last byte is 0.
static net_result read_rest(source* self) {
    uint64_t left = self->bits.size_bits - self->bits.offset_bits;
    return left < 8 && proto_bits_read(&self->bits, (uint32_t)left) == 0 ? NET_OK : NET_ERR_DAMAGED;
}

// @return whether the form and its flags are right.
static bool read_head(source* self, bool* is_full) {
    uint64_t form = proto_bits_read(&self->bits, 8);
    *is_full = read_bit(self);
    self->part->has_rows = read_bit(self);
    self->part->is_last = read_bit(self);
    return !self->bits.failed && form == NET_LOG_FORM_DELTA && (!*is_full || self->part->has_rows);
}

net_result net_log_piece_read_sums(net_log_piece* part, net_log_rows* rows, ecs_tick tick,
                                   const void* data, size_t size) {
    const uint8_t* bytes = data;
    if (size >= 2 && bytes[0] == NET_LOG_FORM_RAW) {
        if (bytes[1] & NET_LOG_RAW_ROWS) return NET_ERR_UNKNOWN;
        net_result result = net_log_piece_read_raw(part, rows, tick, data, size);
        part->is_full = (bytes[1] & NET_LOG_RAW_START) != 0;
        return result;
    }
    source self = {.part = part, .rows = rows, .bits = proto_bit_reader_make(data, size)};
    bool is_full;
    if (!read_head(&self, &is_full)) return NET_ERR_DAMAGED;
    if (!part->is_last) return NET_ERR_UNKNOWN;
    part->is_full = is_full;
    part->sum_count = 0;
    return read_sums(&self);
}

net_result net_log_piece_read_delta(net_log_piece* part, net_log_rows* rows, ecs_tick tick,
                                    const void* data, size_t size) {
    source self = {.part = part, .rows = rows, .bits = proto_bit_reader_make(data, size)};
    bool is_full;
    if (!read_head(&self, &is_full) || (part->has_rows && !rows->layout)) return NET_ERR_DAMAGED;
    net_log_piece_begin(part, rows, tick, is_full);
    if (!part->is_last) {
        uint32_t length = proto_bits_read_golomb(&self.bits, NET_LOG_END_ORDER);
        if (length > UINT32_MAX - part->begin) return NET_ERR_DAMAGED;
        part->end = part->begin + length;
    }
    if (part->has_rows && rows->full_tick == 0) return state(&self); // nothing to read it against
    net_result result = part->is_last ? read_sums(&self) : state(&self);
    if (result != NET_OK || !part->has_rows) return result == NET_OK ? read_rest(&self) : result;
    result = read_definitions(&self);
    if (result == NET_OK) result = read_again(&self);
    if (result == NET_OK) result = read_others(&self);
    if (result == NET_OK) result = read_values(&self);
    return result == NET_OK ? read_rest(&self) : result;
}
