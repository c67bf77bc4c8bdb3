// SPDX-License-Identifier: MIT
// A state body in the making.
//
// Records arrive in the order in which they waited, but lie in the body by group and index, where one
// record changes the length of its neighbours' gaps. So adding is judged by a bound that holds whatever
// the neighbours are, and when the bound says "full" everything is measured exactly once and what that
// frees is offered again. The bound rests on this: putting one more index into a sorted list, coded with
// the same Golomb order, costs at most the code of the largest gap, because the gap it splits only gets
// shorter; and the final order of each list is never worse than the one the bound was made with.
//
// Rows are coded once, into the payload, when the record is added; the body gets them copied bit by bit
// in their final order.
#include "view_body.h"

#include "base/assert.h"

#include <string.h>

enum {
    ORDER_GUESS = 6,
    COUNT_GROWTH_BITS = 2, // one more in a Golomb-coded count
    HEADER_BITS = 3,       // three empty lists
    GENERATION_BITS = ECS_GENERATION_BITS,
    KEY_FIRST_BIT = 12, // of a sort key: above the position
    KEY_END_BIT = 44,   // index 22, group 9: four digits cover them
    INSERTION_MAX = 40,
};

static uint32_t golomb_bits(uint32_t value, uint32_t order) {
    uint64_t u = (uint64_t)value + (UINT64_C(1) << order);
    return 2 * (63 - (uint32_t)__builtin_clzll(u)) + 1 - order;
}

void net_body_init(net_body_writer* writer) {
    memset(writer, 0, offsetof(net_body_writer, payload_bytes));
}

void net_body_deinit(net_body_writer* writer, const base_allocator* allocator) {
    base_release(allocator, writer->records, writer->record_capacity * sizeof *writer->records);
    base_release(allocator, writer->order, writer->order_capacity * sizeof *writer->order);
    base_release(allocator, writer->order_scratch,
                 writer->scratch_capacity * sizeof *writer->order);
}

void net_body_begin(net_body_writer* writer, size_t capacity, uint32_t index_end,
                    uint32_t number_bits) {
    if (capacity > NET_BODY_BYTES_MAX) capacity = NET_BODY_BYTES_MAX;
    writer->capacity_bits = capacity * 8;
    writer->bits_bound = HEADER_BITS;
    writer->index_end = index_end;
    writer->number_bits = number_bits;
    writer->template_bits_max = 0;
    writer->record_count = 0;
    memset(writer->group_orders, 0, sizeof writer->group_orders);
    writer->payload = proto_bit_writer_make(writer->payload_bytes, sizeof writer->payload_bytes);
}

static uint32_t template_bits(const net_body_writer* writer, const net_row_template* entry) {
    return NET_BODY_PARTS_BITS + entry->part_count * writer->number_bits;
}

// What a record adds at most, its row aside.
static uint32_t head_bound(const net_body_writer* writer, const net_body_record* record) {
    uint32_t order = writer->group_orders[record->group];
    uint32_t bits = COUNT_GROWTH_BITS;
    if (order == 0) {
        bits += NET_BODY_ORDER_BITS;
        if (record->group >= NET_GROUP_ABSOLUTE)
            bits += COUNT_GROWTH_BITS + 1 + NET_BODY_AGE_BITS + NET_BODY_RUN_ORDER + 1;
    }
    bits += golomb_bits(writer->index_end, order ? order - 1 : ORDER_GUESS);
    if (record->group < NET_GROUP_ABSOLUTE) bits += GENERATION_BITS;
    // One bit says "as before"; a new neighbour may have to name its template again.
    if (record->group == NET_GROUP_CREATE) {
        uint32_t own = template_bits(writer, record->entry);
        bits += 1 + own;
        bits += own > writer->template_bits_max ? own : writer->template_bits_max;
    }
    return bits;
}

net_body_fit net_body_add(net_body_writer* writer, const base_allocator* allocator,
                          net_body_record record, const uint64_t* base, const uint64_t* row) {
    BASE_ASSERT(record.group < NET_BODY_GROUPS_MAX && record.index < writer->index_end);
    if (writer->record_count == NET_BODY_RECORDS_MAX) return NET_BODY_NO_ROOM;
    uint64_t bound = writer->bits_bound + head_bound(writer, &record);
    if (bound > writer->capacity_bits) return NET_BODY_NO_ROOM;
    if (!base_array_reserve(allocator, (void**)&writer->records, &writer->record_capacity,
                            writer->record_count + 1, sizeof *writer->records) ||
        !base_array_reserve(allocator, (void**)&writer->order, &writer->order_capacity,
                            writer->record_count + 1, sizeof *writer->order) ||
        !base_array_reserve(allocator, (void**)&writer->order_scratch, &writer->scratch_capacity,
                            writer->record_count + 1, sizeof *writer->order))
        return NET_BODY_NO_MEMORY;
    record.bits_first = writer->payload.size_bits;
    if (row) proto_row_encode(&record.entry->layout, base, row, &writer->payload);
    BASE_ASSERT(!writer->payload.failed);
    record.bits_count = (uint32_t)(writer->payload.size_bits - record.bits_first);
    if (bound + record.bits_count > writer->capacity_bits) {
        proto_bit_writer_rewind(&writer->payload, record.bits_first);
        return NET_BODY_NO_ROOM;
    }
    writer->bits_bound = bound + record.bits_count;
    if (writer->group_orders[record.group] == 0)
        writer->group_orders[record.group] = ORDER_GUESS + 1;
    if (record.group == NET_GROUP_CREATE &&
        template_bits(writer, record.entry) > writer->template_bits_max)
        writer->template_bits_max = template_bits(writer, record.entry);
    writer->records[writer->record_count++] = record;
    return NET_BODY_TAKEN;
}

// Positions of records fit 12 bits, indices 22, groups 9.
static uint64_t sort_key(const net_body_record* record, uint32_t position) {
    return (uint64_t)record->group << 34 | (uint64_t)record->index << 12 | position;
}

// Not qsort: it may allocate. Few keys by insertion, many by radix (stable, least digit first).
static void sort_keys(uint64_t* keys, uint64_t* scratch, uint32_t count) {
    for (uint32_t i = 1; i < count && count <= INSERTION_MAX; i++) {
        uint64_t key = keys[i];
        uint32_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
    if (count <= INSERTION_MAX) return;
    for (uint32_t shift = KEY_FIRST_BIT; shift < KEY_END_BIT; shift += 8) {
        uint32_t starts[257] = {0};
        for (uint32_t i = 0; i < count; i++)
            starts[(keys[i] >> shift & 255) + 1]++;
        for (uint32_t i = 0; i < 256; i++)
            starts[i + 1] += starts[i];
        for (uint32_t i = 0; i < count; i++)
            scratch[starts[keys[i] >> shift & 255]++] = keys[i];
        memcpy(keys, scratch, count * sizeof *keys);
    }
}

static const net_body_record* sorted(const net_body_writer* writer, uint32_t position) {
    return &writer->records[writer->order[position] & (NET_BODY_RECORDS_MAX - 1)];
}

// The list that begins at `first`: end position.
static uint32_t group_end(const net_body_writer* writer, uint32_t first) {
    uint32_t group = sorted(writer, first)->group, end = first + 1;
    while (end < writer->record_count && sorted(writer, end)->group == group)
        end++;
    return end;
}

// Sum of the gaps' codes for the cheapest order, which is remembered.
static uint64_t measure_gaps(net_body_writer* writer, uint32_t first, uint32_t end) {
    uint64_t sums[NET_BODY_ORDER_MAX + 1] = {0};
    uint32_t next = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t index = sorted(writer, i)->index;
        for (uint32_t order = 0; order <= NET_BODY_ORDER_MAX; order++)
            sums[order] += golomb_bits(index - next, order);
        next = index + 1;
    }
    uint32_t best = 0;
    for (uint32_t order = 1; order <= NET_BODY_ORDER_MAX; order++)
        if (sums[order] < sums[best]) best = order;
    writer->group_orders[sorted(writer, first)->group] = (uint8_t)(best + 1);
    return sums[best];
}

static bool is_same_template(const net_body_writer* writer, uint32_t first, uint32_t position) {
    return position > first &&
           sorted(writer, position - 1)->entry == sorted(writer, position)->entry;
}

static uint64_t measure_group(net_body_writer* writer, uint32_t first, uint32_t end) {
    uint32_t group = sorted(writer, first)->group, count = end - first;
    uint64_t bits = NET_BODY_ORDER_BITS + measure_gaps(writer, first, end);
    if (group >= NET_GROUP_ABSOLUTE) {
        bits += 1 + (group > NET_GROUP_ABSOLUTE ? NET_BODY_AGE_BITS : 0);
        bits += golomb_bits(count - 1, NET_BODY_RUN_ORDER);
    } else {
        // An empty list's count is in HEADER_BITS already.
        bits += golomb_bits(count, NET_BODY_LIST_ORDER) - golomb_bits(0, NET_BODY_LIST_ORDER);
        bits += (uint64_t)count * GENERATION_BITS;
    }
    for (uint32_t i = first; i < end && group == NET_GROUP_CREATE; i++)
        bits += 1 + (is_same_template(writer, first, i)
                         ? 0
                         : template_bits(writer, sorted(writer, i)->entry));
    return bits;
}

void net_body_settle(net_body_writer* writer) {
    for (uint32_t i = 0; i < writer->record_count; i++)
        writer->order[i] = sort_key(&writer->records[i], i);
    sort_keys(writer->order, writer->order_scratch, writer->record_count);
    uint64_t bits = HEADER_BITS + writer->payload.size_bits;
    uint32_t runs = 0;
    for (uint32_t first = 0, end; first < writer->record_count; first = end) {
        end = group_end(writer, first);
        runs += sorted(writer, first)->group >= NET_GROUP_ABSOLUTE;
        bits += measure_group(writer, first, end);
    }
    bits += golomb_bits(runs, NET_BODY_LIST_ORDER) - golomb_bits(0, NET_BODY_LIST_ORDER);
    BASE_ASSERT(bits <= writer->bits_bound);
    writer->bits_bound = bits;
}

static void write_payload(const net_body_writer* writer, const net_body_record* record,
                          proto_bit_writer* target) {
    proto_bit_reader reader =
        proto_bit_reader_make(writer->payload_bytes, sizeof writer->payload_bytes);
    reader.offset_bits = record->bits_first;
    for (uint32_t left = record->bits_count; left > 0;) {
        uint32_t count = left < 64 ? left : 64;
        proto_bits_write(target, proto_bits_read(&reader, count), count);
        left -= count;
    }
}

static void write_template(const net_body_writer* writer, const net_row_template* entry,
                           proto_bit_writer* target) {
    proto_bits_write(target, entry->part_count - 1u, NET_BODY_PARTS_BITS);
    for (uint32_t i = 0; i < entry->part_count; i++)
        proto_bits_write(target, entry->parts[i], writer->number_bits);
}

static void write_records(const net_body_writer* writer, uint32_t first, uint32_t end,
                          proto_bit_writer* target) {
    uint32_t group = sorted(writer, first)->group, next = 0;
    uint32_t order = writer->group_orders[group] - 1u;
    proto_bits_write(target, order, NET_BODY_ORDER_BITS);
    for (uint32_t i = first; i < end; i++) {
        const net_body_record* record = sorted(writer, i);
        proto_bits_write_golomb(target, record->index - next, order);
        next = record->index + 1;
        if (group < NET_GROUP_ABSOLUTE)
            proto_bits_write(target, record->generation, GENERATION_BITS);
        if (group == NET_GROUP_CREATE) {
            bool is_same = is_same_template(writer, first, i);
            proto_bits_write(target, is_same, 1);
            if (!is_same) write_template(writer, record->entry, target);
        }
        write_payload(writer, record, target);
    }
}

static uint32_t count_runs(const net_body_writer* writer, uint32_t first) {
    uint32_t runs = 0;
    for (; first < writer->record_count; first = group_end(writer, first))
        runs++;
    return runs;
}

size_t net_body_end(net_body_writer* writer, uint8_t* body) {
    if (writer->record_count == 0) return 0;
    proto_bit_writer target = proto_bit_writer_make(body, writer->capacity_bits / 8);
    uint32_t first = 0;
    for (uint32_t group = NET_GROUP_DESTROY; group < NET_GROUP_ABSOLUTE; group++) {
        bool has = first < writer->record_count && sorted(writer, first)->group == group;
        uint32_t end = has ? group_end(writer, first) : first;
        proto_bits_write_golomb(&target, end - first, NET_BODY_LIST_ORDER);
        if (has) write_records(writer, first, end, &target);
        first = end;
    }
    proto_bits_write_golomb(&target, count_runs(writer, first), NET_BODY_LIST_ORDER);
    while (first < writer->record_count) {
        uint32_t end = group_end(writer, first), age = sorted(writer, first)->group;
        age -= NET_GROUP_ABSOLUTE;
        proto_bits_write(&target, age != 0, 1);
        if (age) proto_bits_write(&target, age, NET_BODY_AGE_BITS);
        proto_bits_write_golomb(&target, end - first - 1, NET_BODY_RUN_ORDER);
        write_records(writer, first, end, &target);
        first = end;
    }
    BASE_ASSERT(!target.failed && target.size_bits == writer->bits_bound);
    return proto_bit_writer_bytes(&target);
}
