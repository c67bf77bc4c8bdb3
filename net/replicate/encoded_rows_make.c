// SPDX-License-Identifier: MIT
// Making encoded rows: the rows that a key names, and their bits.
#include "replicate/encoded_rows_internal.h"

#include "core/fault.h"
#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

enum { ARENA_ALIGN = 8, ARENA_MIN = 1 << 16, POINTER_WORDS = sizeof(void*) / sizeof(uint32_t) };

_Static_assert(ARENA_MIN >= PROTO_ROW_JOBS_MAX * (NET_ROW_BYTES_MAX + 64), "those at once fit");

static bool reserve(net_encoded_rows* encoded_rows, const net_row_template* row_template,
                    uint32_t count) {
    uint32_t bytes = count * (NET_ROW_BYTES_MAX + 64);
    if (encoded_rows->arena_capacity - encoded_rows->arena_size < bytes) {
        uint32_t capacity =
            encoded_rows->arena_capacity ? encoded_rows->arena_capacity * 2 : ARENA_MIN;
        uint8_t* arena = base_reallocate(encoded_rows->allocator, encoded_rows->arena,
                                         encoded_rows->arena_capacity, capacity);
        if (!arena) return false;
        encoded_rows->arena = arena;
        encoded_rows->arena_capacity = capacity;
    }
    return !encoded_rows->is_counted ||
           BASE_ARRAY_RESERVE(encoded_rows->allocator, encoded_rows->parts,
                              encoded_rows->part_capacity,
                              encoded_rows->part_count +
                                  count * (POINTER_WORDS + row_template->layout.component_count));
}

// A base with classes that are hidden now is named only while all rows are known: later, whether it
// is would tell whether they changed.
static bool may_name(const net_history_entity* entity, const net_encoded_row_key* key, uint32_t age,
                     uint32_t classes) {
    return (classes & ~(uint32_t)key->classes) == 0 || age < entity->keep_ticks;
}

static inline const uint32_t* row_of(net_encoded_rows* encoded_rows,
                                     const net_history_entity* entity, uint32_t age,
                                     uint32_t classes, uint32_t scratch) {
    ecs_tick now = encoded_rows->tick;
    if ((entity->row_template->class_mask & ~classes) == 0) {
        const uint32_t* row = net_history_recent(entity, now, age);
        if (row) return row;
    }
    return net_history_row(entity, now, now - age, classes, encoded_rows->rows[scratch]);
}

// Find the rows that a key names. An age that was computed modulo 2^32 is small.
static net_encoded_row_result find_rows(net_encoded_rows* encoded_rows,
                                        const net_encoded_row_key* key,
                                        const net_history_entity* entity, const uint32_t** row,
                                        proto_packed_base* base) {
    bool is_all_seen = (entity->row_template->class_mask & ~(uint32_t)key->classes) == 0;
    *row =
        is_all_seen ? net_history_newest(entity) : row_of(encoded_rows, entity, 0, key->classes, 0);
    BASE_ASSERT(*row);
    *base = (proto_packed_base){.base = entity->row_template->packed_defaults};
    if (key->age == 0) return NET_ENCODED_ROW_OK;
    if (!may_name(entity, key, key->age, key->base_classes)) return NET_ENCODED_ROW_NO_BASE;
    base->base = row_of(encoded_rows, entity, key->age, key->base_classes, 1);
    if (!base->base) return NET_ENCODED_ROW_NO_BASE;
    base->ticks = key->is_settled ? 0 : key->age;
    if (key->d == 0) return NET_ENCODED_ROW_OK;
    uint32_t age2 = key->age + key->d;
    if (!may_name(entity, key, age2, key->base2_classes)) return NET_ENCODED_ROW_NO_BASE2;
    if (net_fault_is_planted(NET_FAULT_SOLO_OTHER) && encoded_rows->is_solo)
        return NET_ENCODED_ROW_NO_BASE2;
    base->base2 = row_of(encoded_rows, entity, age2, key->base2_classes, 2);
    if (!base->base2) return NET_ENCODED_ROW_NO_BASE2;
    base->ticks2 = key->d;
    if (net_fault_is_planted(NET_FAULT_WRONG_BASE2)) base->base2 = *row;
    return NET_ENCODED_ROW_OK;
}

net_encoded_row_result net_encoded_rows_sources(net_encoded_rows* encoded_rows,
                                                const net_encoded_row_key* key,
                                                const uint32_t** row, proto_packed_base* base) {
    return find_rows(encoded_rows, key, net_history_find(encoded_rows->history, key->index), row,
                     base);
}

static inline uint64_t load_code(const uint8_t* data, uint32_t bits) {
    uint64_t word = base_load_le64(data);
    return bits < 64 ? word & ((UINT64_C(1) << bits) - 1) : word;
}

// Encode with the general coder, which says where the bits are, and keep that. @return the bits.
static BASE_NOINLINE uint32_t encode_counted(net_encoded_rows* encoded_rows,
                                             const net_row_template* row_template,
                                             const proto_row_job* job, net_encoded_row* encoded) {
    const proto_layout* layout = &row_template->layout;
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    const proto_packed_base against = {job->base, job->base2, job->times->ticks,
                                       job->times->ticks2};
    const proto_row_base base = proto_row_unpack_base(layout, &against, &rows[1]);
    proto_row_unpack(layout, job->row, rows[0]);
    uint32_t* parts = &encoded_rows->parts[encoded_rows->part_count];
    encoded->parts_first = encoded_rows->part_count;
    encoded_rows->part_count += POINTER_WORDS + layout->component_count;
    memcpy(parts, &row_template, sizeof row_template);
    parts += POINTER_WORDS;
    proto_bit_writer writer = proto_bit_writer_make(encoded_rows->arena + encoded_rows->arena_size,
                                                    NET_ROW_BYTES_MAX + ARENA_ALIGN);
    proto_row_write(layout, &base, rows[0], &writer, parts);
    BASE_ASSERT(!writer.failed);
    uint32_t bits = (uint32_t)writer.size_bits, in_components = 0;
    for (uint32_t c = 0; c < layout->component_count; c++)
        in_components += parts[c];
    encoded->head_bits = (uint16_t)(bits - in_components);
    return bits;
}

// Keep the bits of a row, which are at or behind the end of the arena.
static inline void keep(net_encoded_rows* encoded_rows, const uint8_t* code, uint32_t bits,
                        net_encoded_row* encoded) {
    BASE_ASSERT(bits <= NET_ROW_BYTES_MAX * 8);
    encoded->bits = (uint16_t)bits;
    encoded_rows->made++;
    if (bits <= NET_ENCODED_ROW_INLINE_BITS) {
        encoded->code = load_code(code, bits);
        return;
    }
    const uint32_t bytes = (bits + 63) / 64 * ARENA_ALIGN;
    encoded->code = encoded_rows->arena_size;
    memmove(encoded_rows->arena + encoded_rows->arena_size, code, bytes);
    encoded_rows->arena_size += bytes;
}

bool net_encoded_rows_encode_many(net_encoded_rows* encoded_rows,
                                  const net_row_template* row_template, const proto_row_job* jobs,
                                  uint32_t count, net_encoded_row* encoded) {
    if (!reserve(encoded_rows, row_template, count)) return false;
    const uint8_t* code = encoded_rows->arena + encoded_rows->arena_size;
    uint32_t bits[PROTO_ROW_JOBS_MAX];
    if (encoded_rows->is_counted) {
        for (uint32_t i = 0; i < count; i++) {
            bits[i] = encode_counted(encoded_rows, row_template, &jobs[i], &encoded[i]);
            keep(encoded_rows, encoded_rows->arena + encoded_rows->arena_size, bits[i],
                 &encoded[i]);
        }
        return true;
    }
    proto_row_encode_many(&row_template->layout, jobs, count,
                          encoded_rows->arena + encoded_rows->arena_size, bits);
    for (uint32_t i = 0; i < count; i++) {
        keep(encoded_rows, code, bits[i], &encoded[i]);
        code += (bits[i] + 63) / 64 * ARENA_ALIGN;
    }
    return true;
}

static net_encoded_row_result encode_found(net_encoded_rows* encoded_rows,
                                           const net_row_template* row_template,
                                           const uint32_t* row, const proto_packed_base* base,
                                           net_encoded_row* encoded) {
    // Rows of one kind are asked for one after another.
    proto_row_times* times = &encoded_rows->times;
    const uint32_t ticks2 = base->base2 ? base->ticks2 : 1;
    if (times->ticks != base->ticks || times->ticks2 != ticks2)
        *times = proto_row_times_make(base->ticks, ticks2);
    const proto_row_job job = {row, base->base, base->base2, times};
    return net_encoded_rows_encode_many(encoded_rows, row_template, &job, 1, encoded)
               ? NET_ENCODED_ROW_OK
               : NET_ENCODED_ROW_NO_MEMORY;
}

net_encoded_row_result net_encoded_rows_encode(net_encoded_rows* encoded_rows,
                                               const net_encoded_row_key* key,
                                               net_encoded_row* encoded) {
    const net_history_entity* entity = net_history_find(encoded_rows->history, key->index);
    BASE_ASSERT(entity);
    const uint32_t* row;
    proto_packed_base base;
    net_encoded_row_result result = find_rows(encoded_rows, key, entity, &row, &base);
    if (result != NET_ENCODED_ROW_OK) return result;
    return encode_found(encoded_rows, entity->row_template, row, &base, encoded);
}

// Wishes of one template whose rows are found.
typedef struct wish_batch {
    const net_row_template* row_template;
    uint32_t count, times_count;
    proto_row_job jobs[PROTO_ROW_JOBS_MAX];
    proto_row_times times[PROTO_ROW_JOBS_MAX];
    net_encoded_row_wish* wishes[PROTO_ROW_JOBS_MAX];
} wish_batch;

static void encode_batch(net_encoded_rows* encoded_rows, wish_batch* batch) {
    net_encoded_row encoded[PROTO_ROW_JOBS_MAX];
    const bool ok =
        batch->count == 0 || net_encoded_rows_encode_many(encoded_rows, batch->row_template,
                                                          batch->jobs, batch->count, encoded);
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->wishes[i]->result = ok ? NET_ENCODED_ROW_OK : NET_ENCODED_ROW_NO_MEMORY;
        if (ok) batch->wishes[i]->encoded = encoded[i];
    }
    batch->count = batch->times_count = 0;
}

static void add_to_batch(wish_batch* batch, net_encoded_row_wish* wish, const uint32_t* row,
                         const proto_packed_base* base) {
    const uint32_t ticks2 = base->base2 ? base->ticks2 : 1;
    uint32_t at = batch->times_count;
    if (at == 0 || batch->times[at - 1].ticks != base->ticks ||
        batch->times[at - 1].ticks2 != ticks2) {
        batch->times[at] = proto_row_times_make(base->ticks, ticks2);
        batch->times_count = ++at;
    }
    batch->jobs[batch->count] =
        (proto_row_job){row, base->base, base->base2, &batch->times[at - 1]};
    batch->wishes[batch->count++] = wish;
}

// A masked row is overwritten by the next one that is found.
static bool is_masked(const net_encoded_rows* encoded_rows, const uint32_t* row) {
    const uintptr_t first = (uintptr_t)encoded_rows->rows, at = (uintptr_t)row;
    return at >= first && at < first + sizeof encoded_rows->rows;
}

void net_encoded_rows_encode_wishes(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                                    uint32_t count) {
    wish_batch batch;
    batch.row_template = NULL;
    batch.count = batch.times_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        net_encoded_row_wish* wish = &wishes[i];
        const net_history_entity* entity = net_history_find(encoded_rows->history, wish->key.index);
        BASE_ASSERT(entity);
        const uint32_t* row;
        proto_packed_base base;
        wish->result = find_rows(encoded_rows, &wish->key, entity, &row, &base);
        if (wish->result != NET_ENCODED_ROW_OK) continue;
        if (is_masked(encoded_rows, row) || is_masked(encoded_rows, base.base) ||
            is_masked(encoded_rows, base.base2)) {
            wish->result =
                encode_found(encoded_rows, entity->row_template, row, &base, &wish->encoded);
            continue;
        }
        if (batch.count == PROTO_ROW_JOBS_MAX || batch.row_template != entity->row_template)
            encode_batch(encoded_rows, &batch);
        batch.row_template = entity->row_template;
        add_to_batch(&batch, wish, row, &base);
    }
    encode_batch(encoded_rows, &batch);
}

const uint32_t* net_encoded_rows_component_bits(const net_encoded_rows* encoded_rows,
                                                uint32_t parts_first,
                                                const net_row_template** row_template) {
    const uint32_t* at = &encoded_rows->parts[parts_first];
    memcpy(row_template, at, sizeof *row_template);
    return at + POINTER_WORDS;
}
