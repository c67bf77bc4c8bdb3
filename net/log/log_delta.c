// SPDX-License-Identifier: MIT
// A log has every row in order and loses none, so the rows that a row is coded against are those of
// the two ticks before it: what keeps its course costs a bit or two. What changes in a tick mostly
// changed in the tick before, so first come the exceptions from that, then what is new.
//
// The reader (log_delta_read.c) applies the same parts to its own rows.
#include "log/log_delta.h"

#include "base/assert.h"
#include "log/log_piece.h"
#include "log/log_pen.h"
#include "state/rows.h"

#include <string.h>

struct net_log_coder {
    net_log_layout* layout;
    net_log_rows rows;
    net_log_piece part;
    net_log_piece full;  // all rows of a tick
    uint32_t full_ticks; // NET_LOG_FULL_MS
    uint8_t* bytes;      // of the part
    uint32_t capacity;
    net_log_pen pen;
    uint32_t* exceptions; // places in rows.before
    uint32_t exception_capacity;
    bool* is_again; // [item]: its row changed in the tick before, too
    uint32_t again_capacity;
    uint64_t full_bytes, later_bytes;
    bool is_broken;
    bool must_be_full; // a segment begins: its readers know no rows
    uint32_t segment;
    uint64_t number; // of the newest record
    bool is_coded;   // it is in `record`
    uint32_t coded_size;
    uint8_t* record; // NET_LOG_RECORD_BYTES_MAX
    uint8_t row[NET_ROW_BYTES_MAX + 2 * NET_LOG_PEN_SLACK_BYTES];
};

net_result net_log_coder_create(const void* header, size_t header_bytes,
                                net_log_coder** coder_out) {
    BASE_ASSERT(header && coder_out);
    *coder_out = NULL;
    net_log_coder* coder = base_allocate_zero(NULL, sizeof *coder);
    if (!coder) return NET_ERR_MEMORY;
    net_log_piece_init(&coder->part, NULL);
    net_log_piece_init(&coder->full, NULL);
    net_result result = net_log_layout_create(NULL, header, header_bytes, &coder->layout);
    if (result == NET_OK) {
        net_log_rows_init(&coder->rows, NULL, coder->layout);
        uint32_t ticks = net_log_layout_tick_rate(coder->layout) * NET_LOG_FULL_MS / 1000;
        coder->full_ticks = ticks > 0 ? ticks : 1;
        coder->record = base_allocate(NULL, NET_LOG_RECORD_BYTES_MAX);
        if (!coder->record) result = NET_ERR_MEMORY;
    }
    if (result != NET_OK) {
        net_log_coder_destroy(coder);
        return result;
    }
    *coder_out = coder;
    return NET_OK;
}

void net_log_coder_destroy(net_log_coder* coder) {
    if (!coder) return;
    if (coder->layout) net_log_rows_deinit(&coder->rows);
    net_log_layout_destroy(coder->layout);
    net_log_piece_deinit(&coder->part);
    net_log_piece_deinit(&coder->full);
    BASE_ARRAY_RELEASE(NULL, coder->bytes, coder->capacity);
    BASE_ARRAY_RELEASE(NULL, coder->exceptions, coder->exception_capacity);
    BASE_ARRAY_RELEASE(NULL, coder->is_again, coder->again_capacity);
    base_release(NULL, coder->record, NET_LOG_RECORD_BYTES_MAX);
    base_release(NULL, coder, sizeof *coder);
}

// ---- bits ----

static size_t used(const net_log_coder* coder) {
    return coder->bytes ? (size_t)(coder->pen.out - coder->bytes) : 0;
}

// Make room for so many bytes. @return false when memory ran out or the part is too long.
static bool reserve(net_log_coder* coder, size_t bytes) {
    size_t before = used(coder), needed = before + bytes + NET_LOG_PEN_SLACK_BYTES;
    if (needed <= coder->capacity) return true;
    if (needed > NET_LOG_DELTA_BYTES_MAX ||
        !BASE_ARRAY_RESERVE(NULL, coder->bytes, coder->capacity, (uint32_t)needed))
        return false;
    coder->pen.out = coder->bytes + before;
    return true;
}

// The order that codes `count` gaps below `end` in the fewest bits, nearly.
static uint32_t gap_order(uint32_t end, uint32_t count) {
    uint32_t mean = end / (count + 1), order = 0;
    while (order < NET_LOG_ORDER_MAX && mean >> (order + 1) > 0)
        order++;
    return order;
}

// ---- sums and definitions ----

static bool has_same_ids(const net_log_piece* part, const net_log_rows* rows) {
    if (part->is_full || part->sum_count != rows->sum_id_count) return false;
    for (uint32_t i = 0; i < part->sum_count; i++)
        if (part->sums[i].component != rows->sum_ids[i]) return false;
    return true;
}

static bool write_sums(net_log_coder* coder, const net_log_piece* part) {
    uint32_t before = 0;
    bool is_same = has_same_ids(part, &coder->rows);
    if (!reserve(coder, 16 + part->sum_count * 8u)) return false;
    if (!part->is_full) net_log_put(&coder->pen, is_same, 1);
    if (!is_same) net_log_put_golomb(&coder->pen, part->sum_count, NET_LOG_SUM_COUNT_ORDER);
    for (uint32_t i = 0; i < part->sum_count; i++) {
        uint32_t id = part->sums[i].component;
        if (!is_same) net_log_put_golomb(&coder->pen, id - before - 1, NET_LOG_SUM_ID_ORDER);
        net_log_put(&coder->pen, part->sums[i].sum, NET_LOG_SUM_BITS);
        before = id;
    }
    return true;
}

static bool write_definitions(net_log_coder* coder, const net_log_piece* part) {
    uint32_t number = part->definition_first;
    // With all rows come all definitions.
    if (part->is_full && part->begin == 0) number = net_log_layout_loaded_count(coder->layout);
    for (; number < net_log_layout_template_count(coder->layout); number++) {
        const net_log_template* template_ = net_log_layout_template(coder->layout, number);
        if (!reserve(coder, template_->definition_bytes + 16)) return false;
        net_log_put(&coder->pen, 1, 1);
        net_log_put_golomb(&coder->pen, template_->definition_bytes, NET_LOG_DEFINITION_ORDER);
        net_log_put_bytes(&coder->pen, template_->definition, template_->definition_bytes);
    }
    if (!reserve(coder, 1)) return false;
    net_log_put(&coder->pen, 0, 1);
    return true;
}

// ---- entities ----

static bool write_row(net_log_coder* coder, const net_log_piece* part,
                      const net_log_piece_item* item) {
    const net_log_template* template_ = net_log_layout_template(coder->layout, item->number);
    proto_packed_base against = {.base = template_->defaults};
    if (item->entry == NET_LOG_ENTRY_CHANGED) {
        net_log_rows_bases(&coder->rows,
                           net_log_rows_find(&coder->rows, ecs_entity_index(item->handle)),
                           &against.base, &against.base2);
        against.ticks = 1;
        against.ticks2 = against.base2 ? 1 : 0;
    }
    uint32_t bits =
        proto_row_encode(&template_->layout, &against, part->words + item->row, coder->row);
    if (!reserve(coder, bits / 8 + 1)) return false;
    net_log_put_code(&coder->pen, coder->row, bits);
    return true;
}

// How a listed entity goes on.
typedef enum course {
    COURSE_KEPT,  // its row is the expected one
    COURSE_CODED, // another row
    COURSE_ENDED, // it has the row of the tick before, or is among the others
} course;

static course course_of(const net_log_coder* coder, const net_log_piece* part, uint32_t index,
                        const net_log_piece_item* item) {
    uint32_t expected[2 * PROTO_ROW_FIELDS_MAX];
    if (item && item->entry != NET_LOG_ENTRY_CHANGED) return COURSE_ENDED;
    const net_log_row_entity* entity = net_log_rows_find(&coder->rows, index);
    const uint32_t* row = item ? part->words + item->row : entity->rows;
    (void)net_log_rows_expect(&coder->rows, entity, expected);
    if (memcmp(expected, row, entity->template_->row_bytes) == 0) return COURSE_KEPT;
    return item ? COURSE_CODED : COURSE_ENDED;
}

// The places, among those whose row changed in the tick before, that do not keep their course:
// twice the place, and 1 more when it ended.
static uint32_t find_exceptions(net_log_coder* coder, const net_log_piece* part, uint32_t first,
                                uint32_t last) {
    const net_log_rows* rows = &coder->rows;
    uint32_t count = 0, i = 0;
    for (uint32_t n = 0; n < part->item_count; n++)
        coder->is_again[n] = false;
    for (uint32_t at = first; at < last; at++) {
        uint32_t index = rows->before[at];
        while (i < part->item_count && ecs_entity_index(part->items[i].handle) < index)
            i++;
        bool has_item = i < part->item_count && ecs_entity_index(part->items[i].handle) == index;
        course how = course_of(coder, part, index, has_item ? &part->items[i] : NULL);
        if (how != COURSE_KEPT)
            coder->exceptions[count++] = 2 * (at - first) + (how == COURSE_ENDED);
        if (has_item && how != COURSE_ENDED) coder->is_again[i] = true;
    }
    return count;
}

static bool write_again(net_log_coder* coder, const net_log_piece* part) {
    uint32_t first, last;
    net_log_rows_range(&coder->rows, part->begin, part->end, &first, &last);
    uint32_t before = last - first;
    if (!BASE_ARRAY_RESERVE(NULL, coder->exceptions, coder->exception_capacity, before + 1) ||
        !BASE_ARRAY_RESERVE(NULL, coder->is_again, coder->again_capacity, part->item_count + 1))
        return false;
    uint32_t count = find_exceptions(coder, part, first, last);
    if (before == 0) return true;
    uint32_t order = gap_order(before, count), next = 0;
    if (!reserve(coder, 16 + (size_t)count * 8)) return false;
    net_log_put(&coder->pen, order, NET_LOG_ORDER_BITS);
    for (uint32_t i = 0; i < count; i++) {
        net_log_put_golomb(&coder->pen, coder->exceptions[i] / 2 - next, order);
        net_log_put(&coder->pen, coder->exceptions[i] & 1, 1);
        next = coder->exceptions[i] / 2 + 1;
    }
    if (next < before) net_log_put_golomb(&coder->pen, before - next, order);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (coder->exceptions[i] & 1) continue;
        uint32_t index = coder->rows.before[first + coder->exceptions[i] / 2];
        while (ecs_entity_index(part->items[at].handle) < index)
            at++;
        if (!write_row(coder, part, &part->items[at])) return false;
    }
    return true;
}

static void write_whole_head(net_log_coder* coder, const net_log_piece_item* item,
                             uint32_t* number_before) {
    uint32_t generation = ecs_entity_generation(item->handle);
    net_log_put(&coder->pen, generation == 1, 1);
    if (generation != 1) net_log_put(&coder->pen, generation, ECS_GENERATION_BITS);
    net_log_put(&coder->pen, item->number == *number_before, 1);
    if (item->number != *number_before)
        net_log_put_golomb(&coder->pen, item->number, NET_LOG_TEMPLATE_ORDER);
    *number_before = item->number;
}

static bool write_others(net_log_coder* coder, const net_log_piece* part) {
    enum { HEAD_BYTES = 32 };
    uint32_t count = 0, end = 0, next = part->begin, number = UINT32_MAX;
    for (uint32_t i = 0; i < part->item_count; i++) {
        if (coder->is_again[i]) continue;
        count++;
        end = ecs_entity_index(part->items[i].handle) + 1 - part->begin;
    }
    if (!reserve(coder, HEAD_BYTES)) return false;
    net_log_put_golomb(&coder->pen, count, NET_LOG_OTHER_COUNT_ORDER);
    if (count == 0) return true;
    uint32_t order = gap_order(end, count);
    net_log_put(&coder->pen, order, NET_LOG_ORDER_BITS);
    for (uint32_t i = 0; i < part->item_count; i++) {
        const net_log_piece_item* item = &part->items[i];
        if (coder->is_again[i]) continue;
        if (!reserve(coder, HEAD_BYTES)) return false;
        uint32_t index = ecs_entity_index(item->handle);
        net_log_put_golomb(&coder->pen, index - next, order);
        next = index + 1;
        if (!part->is_full) {
            bool is_changed = item->entry == NET_LOG_ENTRY_CHANGED;
            net_log_put(&coder->pen, !is_changed, 1);
            if (!is_changed) net_log_put(&coder->pen, item->entry == NET_LOG_ENTRY_DESTROYED, 1);
        }
        if (item->entry == NET_LOG_ENTRY_WHOLE) write_whole_head(coder, item, &number);
        if (item->entry != NET_LOG_ENTRY_DESTROYED && !write_row(coder, part, item)) return false;
    }
    return true;
}

static bool write_values(net_log_coder* coder, const net_log_piece* part) {
    for (uint32_t i = 0; i < part->value_count; i++) {
        const net_log_piece_value* value = &part->values[i];
        if (!reserve(coder, value->size + 32)) return false;
        net_log_put(&coder->pen, 1, 1);
        net_log_put_golomb(&coder->pen, value->index, NET_LOG_VALUE_INDEX_ORDER);
        net_log_put_golomb(&coder->pen, value->component, NET_LOG_VALUE_COMPONENT_ORDER);
        net_log_put_golomb(&coder->pen, value->size, NET_LOG_VALUE_BYTES_ORDER);
        net_log_put_bytes(&coder->pen, part->bytes + value->data, value->size);
    }
    if (!reserve(coder, 1)) return false;
    net_log_put(&coder->pen, 0, 1);
    return true;
}

// ---- parts ----

// Code a part against the rows. @return false: it stays as it is.
static bool code_part(net_log_coder* coder, const net_log_piece* part, size_t* size) {
    enum { HEAD_BYTES = 32 };
    coder->pen = (net_log_pen){.out = coder->bytes};
    if (!reserve(coder, HEAD_BYTES)) return false;
    net_log_put(&coder->pen, NET_LOG_FORM_DELTA, 8);
    net_log_put(&coder->pen, part->is_full, 1);
    net_log_put(&coder->pen, part->has_rows, 1);
    net_log_put(&coder->pen, part->is_last, 1);
    if (!part->is_last) net_log_put_golomb(&coder->pen, part->end - part->begin, NET_LOG_END_ORDER);
    if (part->is_last && !write_sums(coder, part)) return false;
    if (part->has_rows && !(write_definitions(coder, part) && write_again(coder, part) &&
                            write_others(coder, part) && write_values(coder, part)))
        return false;
    *size = (size_t)(net_log_pen_end(&coder->pen) - coder->bytes);
    return true;
}

// All rows and values as they are now, in place of what the tick changed.
static bool gather_all(net_log_coder* coder) {
    net_log_piece* full = &coder->full;
    const net_log_rows* rows = &coder->rows;
    full->is_full = full->has_rows = full->is_last = true;
    full->begin = 0;
    full->end = UINT32_MAX;
    full->item_count = full->word_count = full->value_count = full->byte_count = 0;
    full->sum_count = 0;
    full->definition_first = net_log_layout_template_count(coder->layout);
    for (uint32_t id = 1; id <= ECS_COMPONENTS_MAX; id++)
        if (rows->sums[id])
            full->sums[full->sum_count++] = (net_log_piece_sum){(uint16_t)id, rows->sums[id]};
    for (uint32_t index = 0; index < rows->capacity; index++) {
        const net_log_row_entity* entity = net_log_rows_find(rows, index);
        if (!entity) continue;
        uint32_t* row = net_log_piece_add(full, entity->handle, NET_LOG_ENTRY_WHOLE, entity->number,
                                          entity->template_);
        if (!row) return false;
        memcpy(row, entity->rows, entity->template_->row_bytes);
        for (const net_log_blob* blob = entity->blobs; blob; blob = blob->next) {
            uint8_t* data = net_log_piece_add_value(full, index, blob->component, blob->size);
            if (!data) return false;
            if (blob->size > 0) memcpy(data, blob->data, blob->size);
        }
    }
    return true;
}

static bool is_full_due(const net_log_coder* coder, ecs_tick tick) {
    const net_log_piece* part = &coder->part;
    if (!part->is_last || part->begin > 0 || !part->has_rows || part->is_full ||
        coder->rows.bytes > NET_LOG_FULL_BYTES_MAX)
        return false;
    return coder->must_be_full || ((tick - 1) % coder->full_ticks == 0 &&
                                   coder->later_bytes >= coder->full_bytes * NET_LOG_FULL_SHARE);
}

// Write all rows in place of the part, which was applied. When they do not fit, the part, which
// was coded before, stays.
static void code_full(net_log_coder* coder, ecs_tick tick, size_t* size) {
    size_t full_size = 0, kept_size = *size;
    uint8_t* kept = base_allocate(NULL, kept_size);
    if (!kept) return;
    memcpy(kept, coder->bytes, kept_size);
    uint32_t before = coder->rows.before_count;
    coder->rows.before_count = 0; // nothing changed again
    bool is_coded = gather_all(coder) && code_part(coder, &coder->full, &full_size);
    coder->rows.before_count = before;
    if (is_coded && net_log_rows_mark_full(&coder->rows, tick)) {
        *size = full_size;
        net_log_piece_keep_sums(&coder->full, &coder->rows);
        coder->full_bytes = full_size;
        coder->later_bytes = 0;
        coder->must_be_full = false;
    } else {
        memcpy(coder->bytes, kept, kept_size);
    }
    base_release(NULL, kept, kept_size);
}

static const uint8_t* code(net_log_coder* coder, ecs_tick tick, const uint8_t* raw, size_t raw_size,
                           size_t* size) {
    net_log_piece* part = &coder->part;
    if (net_log_piece_read_raw(part, &coder->rows, tick, raw, raw_size) != NET_OK) return NULL;
    bool is_lost = part->has_rows && coder->rows.full_tick == 0;
    if (is_lost || !code_part(coder, part, size)) return NULL;
    bool is_due = is_full_due(coder, tick);
    if (net_log_piece_apply(part, &coder->rows) != NET_OK) return NULL;
    if (part->is_full) {
        coder->full_bytes = part->begin == 0 ? *size : coder->full_bytes + *size;
        coder->later_bytes = 0;
        coder->must_be_full = false;
    } else {
        coder->later_bytes += *size;
    }
    if (is_due) code_full(coder, tick, size);
    return coder->bytes;
}

static const uint8_t* code_record(net_log_coder* coder, const uint8_t* record, uint32_t* size) {
    net_log_record read;
    size_t changes_size = 0;
    if (coder->is_broken || !net_log_record_read(&read, record, *size)) return record;
    if (read.kind != NET_LOG_KIND_END && read.kind != NET_LOG_KIND_STATE) return record;
    if (read.changes_bytes == 0 || read.changes[0] != NET_LOG_FORM_RAW) return record;
    const uint8_t* changes =
        code(coder, read.tick, read.changes, read.changes_bytes, &changes_size);
    uint32_t rewritten =
        changes ? net_log_record_copy_with(&read, changes, changes_size, coder->record) : 0;
    // The rows here are not those of the log any more when the part was applied and not stored.
    if (rewritten == 0) {
        coder->is_broken = true;
        return record;
    }
    *size = rewritten;
    return coder->record;
}

const uint8_t* net_log_coder_record(net_log_coder* coder, uint64_t number, uint32_t segment,
                                    const uint8_t* record, uint32_t* size) {
    BASE_ASSERT(coder && record && size && number > 0);
    if (number != coder->number) {
        coder->number = number;
        coder->must_be_full = coder->must_be_full || segment != coder->segment;
        coder->segment = segment;
        coder->coded_size = *size;
        coder->is_coded = code_record(coder, record, &coder->coded_size) == coder->record;
    }
    *size = coder->coded_size;
    return coder->is_coded ? coder->record : record;
}
