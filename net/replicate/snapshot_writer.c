// SPDX-License-Identifier: MIT
// A snapshot (WIRE.md, "State body") while it is composed, and its exact size.
//
// Records come in any order. Measuring sorts them by slot through a bit set, cuts them into runs
// (record groups) and adds up every part. snapshot_write.c writes in the same order.
//
// Runs: rows with the same base tick and the same distance of the second base stand together. A run
// names its slots by gaps. When most slots of one earlier packet are there again, it names them by
// packet instead: a bit or two for each slot of that packet.
//
// Left to others: which records (repl_state_write.c), encoded rows (encoded_rows.c).
#include "replicate/snapshot_writer.h"

#include "core/fault.h"
#include "base/assert.h"
#include "base/bitset.h"
#include "state/rows.h"
#include "replicate/packet_items.h"
#include "replicate/snapshot_bits.h"

#include <string.h>

enum {
    LISTED_BITS = 1, // size of naming one record by packet
    SHARING_MIN = 3, // fewer records are not worth a run with a second base
};

// ---- the scratch ----

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max) {
    BASE_ASSERT(writer && index_max >= 1);
    memset(writer, 0, sizeof *writer);
    writer->allocator = allocator;
    writer->index_bits = net_snapshot_index_bits(index_max);
    uint8_t bytes[8] = {0};
    proto_bit_writer absent = proto_bit_writer_make(bytes, sizeof bytes);
    proto_row_write_absent(&absent);
    writer->absent_bits = (uint32_t)absent.size_bits;
    writer->absent_code = base_load_le64(bytes);
    memset(writer->by_back, 0xFF, sizeof writer->by_back);
    memset(writer->by_age, 0xFF, sizeof writer->by_age);
}

void net_snapshot_writer_deinit(net_snapshot_writer* writer) {
    const base_allocator* allocator = writer->allocator;
    BASE_ARRAY_RELEASE(allocator, writer->order, writer->order_capacity);
    BASE_ARRAY_RELEASE(allocator, writer->records, writer->record_capacity);
    BASE_ARRAY_RELEASE(allocator, writer->runs, writer->run_capacity);
    base_release(allocator, writer->chosen, writer->slot_capacity / 64 * sizeof *writer->chosen);
    BASE_ARRAY_RELEASE(allocator, writer->record_of, writer->slot_capacity);
    base_release(allocator, writer->buckets, writer->slot_capacity);
    BASE_ARRAY_RELEASE(allocator, writer->by_slot, writer->by_slot_capacity);
    BASE_ARRAY_RELEASE(allocator, writer->by_run, writer->by_run_capacity);
    BASE_ARRAY_RELEASE(allocator, writer->scratch, writer->scratch_capacity);
    base_release(allocator, writer->bytes, writer->byte_capacity);
    memset(writer, 0, sizeof *writer);
}

static bool reserve_slots(net_snapshot_writer* writer, uint32_t count) {
    if (count <= writer->slot_capacity) return true;
    uint32_t capacity = (count + 63) / 64 * 64;
    const base_allocator* allocator = writer->allocator;
    uint64_t* chosen = base_allocate_zero(allocator, capacity / 64 * sizeof *chosen);
    uint32_t* record_of = base_allocate_zero(allocator, capacity * sizeof *record_of);
    uint8_t* buckets = base_allocate_zero(allocator, capacity);
    if (!chosen || !record_of || !buckets) {
        base_release(allocator, chosen, capacity / 64 * sizeof *chosen);
        BASE_ARRAY_RELEASE(allocator, record_of, capacity);
        base_release(allocator, buckets, capacity);
        return false;
    }
    base_release(allocator, writer->chosen, writer->slot_capacity / 64 * sizeof *writer->chosen);
    BASE_ARRAY_RELEASE(allocator, writer->record_of, writer->slot_capacity);
    base_release(allocator, writer->buckets, writer->slot_capacity);
    writer->chosen = chosen;
    writer->record_of = record_of;
    writer->buckets = buckets;
    writer->slot_capacity = capacity;
    return true;
}

static bool reserve_sorted(net_snapshot_writer* writer, uint32_t count) {
    return BASE_ARRAY_RESERVE(writer->allocator, writer->by_slot, writer->by_slot_capacity,
                              count) &&
           BASE_ARRAY_RESERVE(writer->allocator, writer->by_run, writer->by_run_capacity, count);
}

// Field by field: faster than copying a whole struct through the stack.
static net_record_group* add_run(net_snapshot_writer* writer, net_snapshot_kind kind) {
    BASE_ASSERT(writer->run_count < writer->run_capacity);
    net_record_group* run = &writer->runs[writer->run_count++];
    run->kind = (uint8_t)kind;
    run->back = run->age = run->d = 0;
    run->is_decided = run->is_listed = false;
    run->moved = run->next = run->leader = NET_SNAPSHOT_NONE;
    run->count = run->expected = 0;
    run->items = NULL;
    run->item_count = run->row_count = 0;
    return run;
}

bool net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t slot_capacity,
                               uint32_t slot_end, uint32_t number_bits) {
    BASE_ASSERT(slot_end <= slot_capacity);
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++) {
        const net_record_group* run = &writer->runs[i];
        writer->by_back[run->back] = NET_SNAPSHOT_NONE;
        writer->by_age[run->age] = NET_SNAPSHOT_NONE;
        if (run->back && run->d < NET_SNAPSHOT_NEAR) writer->near[run->back][run->d] = 0;
    }
    net_snapshot_writer_drop(writer, 0);
    writer->run_count = 0;
    writer->encoded_bits = 0;
    writer->number_bits = number_bits;
    writer->slot_end = slot_end;
    if (!reserve_slots(writer, slot_capacity) || !net_snapshot_writer_reserve(writer)) return false;
    for (uint32_t i = 0; i < NET_RUN_FIRST; i++)
        (void)add_run(writer, NET_SNAPSHOT_ABSOLUTE);
    return true;
}

bool net_snapshot_writer_grow(net_snapshot_writer* writer) {
    uint32_t runs = net_snapshot_writer_run_room(writer);
    uint32_t records = writer->record_count + 1;
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->records, writer->record_capacity, records) ||
        !BASE_ARRAY_RESERVE(writer->allocator, writer->runs, writer->run_capacity, runs) ||
        !reserve_sorted(writer, records))
        return false;
    uint32_t room = writer->record_capacity;
    if (writer->by_slot_capacity < room) room = writer->by_slot_capacity;
    if (writer->by_run_capacity < room) room = writer->by_run_capacity;
    writer->record_room = room;
    return true;
}

void net_snapshot_writer_drop(net_snapshot_writer* writer, uint32_t count) {
    BASE_ASSERT(count <= writer->record_count);
    while (writer->record_count > count) {
        uint32_t slot = writer->records[--writer->record_count].slot;
        writer->chosen[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    }
}

uint32_t net_snapshot_writer_find_run(net_snapshot_writer* writer, uint32_t back, uint32_t age,
                                      uint32_t d) {
    uint32_t* first = back ? &writer->by_back[back] : &writer->by_age[age];
    for (uint32_t i = *first; i != NET_SNAPSHOT_NONE; i = writer->runs[i].next)
        if (writer->runs[i].d == d) return i;
    uint32_t made = writer->run_count;
    net_record_group* run = add_run(writer, NET_SNAPSHOT_BY_AGE);
    run->back = (uint8_t)back;
    run->age = (uint8_t)age;
    run->d = (uint8_t)d;
    run->next = *first;
    *first = made;
    if (back && d < NET_SNAPSHOT_NEAR && made <= UINT16_MAX) writer->near[back][d] = (uint16_t)made;
    return made;
}

static bool is_list_shorter(const net_snapshot_writer* writer, const net_record_group* run) {
    if (run->expected == 0 || run->row_count < run->expected) return false;
    uint32_t gap_bits = 2 + net_log2(writer->slot_end / run->expected + 1);
    uint32_t named = NET_SNAPSHOT_AGE_BITS + NET_SNAPSHOT_ORDER_BITS +
                     net_golomb_bits(run->expected - 1, NET_SNAPSHOT_RUN_ORDER) +
                     run->expected * gap_bits;
    uint32_t listed = NET_SNAPSHOT_BACK_BITS +
                      (run->row_count - run->expected) * writer->absent_bits +
                      run->expected * LISTED_BITS;
    return listed < named;
}

// Of runs with the same base: the one with a second base and the most records.
static uint32_t find_leader(const net_snapshot_writer* writer, const net_record_group* of) {
    uint32_t leader = NET_SNAPSHOT_NONE, most = SHARING_MIN - 1;
    uint32_t i = of->back ? writer->by_back[of->back] : writer->by_age[of->age];
    for (; i != NET_SNAPSHOT_NONE; i = writer->runs[i].next) {
        if (writer->runs[i].d == 0 || writer->runs[i].expected <= most) continue;
        leader = i;
        most = writer->runs[i].expected;
    }
    return leader;
}

// A record whose client certainly has no row at the second base's tick may stand in the run of
// others that have one.
static void follow_leaders(net_snapshot_writer* writer, uint32_t from) {
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++) {
        if (!writer->runs[i].is_decided)
            writer->runs[i].leader = find_leader(writer, &writer->runs[i]);
    }
    for (uint32_t i = from; i < writer->record_count; i++) {
        net_snapshot_record* record = &writer->records[i];
        uint32_t leader = writer->runs[record->run].leader;
        if (record->run < NET_RUN_FIRST || leader == NET_SNAPSHOT_NONE || leader == record->run)
            continue;
        if (record->free_ticks < writer->runs[leader].d) continue;
        writer->runs[record->run].expected--;
        writer->runs[leader].expected++;
        record->run = leader;
        record->key.d = 0;
        record->key.base2_classes = 0;
    }
}

// A run costs about as much as a second base saves for a few records. Smaller runs give up their
// second base and join the records without one.
static void join_small_runs(net_snapshot_writer* writer) {
    uint32_t count = writer->run_count;
    for (uint32_t i = NET_RUN_FIRST; i < count; i++) {
        const net_record_group* run = &writer->runs[i];
        if (run->d == 0 || run->is_decided || run->expected >= SHARING_MIN) continue;
        uint32_t to = net_snapshot_writer_run_of(
            writer, net_snapshot_writer_run(writer, run->back, run->age, 0));
        net_record_group *from = &writer->runs[i], *target = &writer->runs[to];
        from->moved = to;
        from->is_decided = true;
        target->expected += from->expected;
        if (target->back == 0) continue;
        target->items = from->items;
        target->item_count = from->item_count;
        target->row_count = from->row_count;
    }
}

void net_snapshot_writer_decide(net_snapshot_writer* writer, uint32_t from) {
    BASE_ASSERT(from <= writer->record_count);
    follow_leaders(writer, from);
    join_small_runs(writer);
    uint32_t count = writer->run_count;
    for (uint32_t i = NET_RUN_FIRST; i < count; i++) {
        net_record_group* run = &writer->runs[i];
        if (run->is_decided) continue;
        run->is_decided = true;
        if (run->back == 0) continue;
        if (is_list_shorter(writer, run)) {
            run->is_listed = true;
            run->kind = NET_SNAPSHOT_BY_PACKET;
            continue;
        }
        uint32_t moved = net_snapshot_writer_run(writer, 0, run->age, run->d);
        writer->runs[moved].is_decided = true;
        writer->runs[i].moved = moved;
    }
}

// ---- measuring ----

// Sort by slot; mostly the records are sorted already.
static void sort_by_slot(net_snapshot_writer* writer) {
    const net_snapshot_record* records = writer->records;
    uint32_t count = writer->record_count, falls = 0, low = UINT32_MAX, high = 0, last = 0;
    uint32_t* by_slot = writer->by_slot;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = records[i].slot;
        by_slot[i] = i;
        falls |= slot < last;
        last = slot;
        low = slot < low ? slot : low;
        high = slot > high ? slot : high;
    }
    if (!falls) return;
    uint32_t place = 0;
    for (uint32_t w = low >> 6; w <= high >> 6; w++) {
        for (uint64_t bits = writer->chosen[w]; bits; bits &= bits - 1)
            by_slot[place++] = writer->record_of[w * 64 + base_bit_lowest(bits)];
    }
}

// The lowest candidate for a run's Golomb order: about the logarithm of the mean gap.
static uint32_t lowest_order(uint32_t slot_end, uint32_t count) {
    uint32_t middle = net_log2(slot_end / count | 1);
    uint32_t low = middle > 0 ? middle - 1 : 0, high = NET_SNAPSHOT_ORDER_MAX + 1 - NET_RUN_ORDERS;
    return low < high ? low : high;
}

// Sort records by run and slot, and measure the gaps of each run.
static void sort_records(net_snapshot_writer* writer) {
    uint32_t count = writer->record_count, run_count = writer->run_count;
    net_record_group* runs = writer->runs;
    for (uint32_t i = 0; i < run_count; i++)
        runs[i].count = 0;
    for (uint32_t i = 0; i < count; i++)
        runs[writer->records[i].run].count++;
    uint32_t first = 0;
    for (uint32_t i = 0; i < run_count; i++) {
        net_record_group* run = &runs[i];
        run->first = first;
        first += run->count;
        run->slot_next = 0;
        if (run->count == 0) continue;
        run->order = (uint8_t)lowest_order(writer->slot_end, run->count);
        run->count = 0;
        memset(run->gap_bits, 0, sizeof run->gap_bits);
    }
    sort_by_slot(writer);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = writer->by_slot[i];
        const net_snapshot_record* record = &writer->records[at];
        net_record_group* run = &runs[record->run];
        writer->by_run[run->first + run->count++] = at;
        uint32_t gap = record->slot - run->slot_next, order = run->order;
        run->slot_next = record->slot + 1;
        for (uint32_t k = 0; k < NET_RUN_ORDERS; k++)
            run->gap_bits[k] += net_golomb_bits(gap, order + k);
    }
}

// Choose the order that codes the gaps in the fewest bits. @return bits of the gaps and of the
// order.
static uint32_t measure_gaps(net_record_group* run) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < NET_RUN_ORDERS; k++)
        if (run->gap_bits[k] < run->gap_bits[best]) best = k;
    run->order = (uint8_t)(run->order + best);
    return run->gap_bits[best] + NET_SNAPSHOT_ORDER_BITS;
}

static uint32_t create_bits(const net_snapshot_writer* writer, net_create_state* state,
                            const net_snapshot_record* record,
                            const net_row_template* row_template) {
    uint32_t index = ecs_entity_index(record->handle);
    uint32_t bits = 3;
    if (index != state->index_next) bits += writer->index_bits;
    if (ecs_entity_generation(record->handle) != 1) bits += ECS_GENERATION_BITS;
    if (row_template != state->row_template)
        bits += NET_SNAPSHOT_PARTS_BITS + row_template->part_count * writer->number_bits;
    *state = (net_create_state){index + 1, row_template};
    return bits;
}

static uint64_t measure_creates(const net_snapshot_writer* writer,
                                const net_encoded_rows* encoded_rows) {
    const net_record_group* run = &writer->runs[NET_RUN_CREATE];
    net_create_state state = {.index_next = 1};
    uint64_t bits = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        const net_snapshot_record* record = &writer->records[writer->by_run[run->first + i]];
        bits += create_bits(writer, &state, record, net_record_template(encoded_rows, record));
    }
    return bits;
}

static uint64_t measure_run(const net_snapshot_writer* writer, net_record_group* run) {
    uint64_t bits = NET_SNAPSHOT_KIND_BITS;
    if (run->kind == NET_SNAPSHOT_BY_PACKET)
        return bits + NET_SNAPSHOT_BACK_BITS + net_golomb_bits(run->d, NET_SNAPSHOT_BASE2_ORDER) +
               (uint64_t)(run->row_count - run->count) * writer->absent_bits;
    if (run->kind == NET_SNAPSHOT_BY_AGE)
        bits += NET_SNAPSHOT_AGE_BITS + net_golomb_bits(run->d, NET_SNAPSHOT_BASE2_ORDER);
    return bits + net_golomb_bits(run->count - 1, NET_SNAPSHOT_RUN_ORDER) + measure_gaps(run);
}

uint64_t net_snapshot_writer_measure(net_snapshot_writer* writer,
                                     const net_encoded_rows* encoded_rows) {
    sort_records(writer);
    if (writer->record_count == 0) return 0;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < writer->record_count; i++)
        bits += writer->records[i].encoded.bits;
    writer->encoded_bits = bits;
    for (uint32_t i = NET_RUN_DESTROY; i <= NET_RUN_CREATE; i++) {
        net_record_group* run = &writer->runs[i];
        bits += net_golomb_bits(run->count, NET_SNAPSHOT_LIST_ORDER);
        if (run->count > 0) bits += measure_gaps(run);
    }
    bits += measure_creates(writer, encoded_rows);
    uint32_t runs = 0;
    for (uint32_t i = NET_RUN_ABSOLUTE; i < writer->run_count; i++) {
        if (writer->runs[i].count == 0) continue;
        runs++;
        bits += measure_run(writer, &writer->runs[i]);
    }
    return bits + net_golomb_bits(runs, NET_SNAPSHOT_LIST_ORDER);
}
