// SPDX-License-Identifier: MIT
// A snapshot (WIRE.md, "State body") while it is composed, and its exact size.
//
// Runs (record groups) come in the order in which they are written. The slots of a run are words of
// a set, and `cells` has the encoded row of a slot. So measuring and writing are loops over bits,
// and dropping a record clears one. Writing goes in the same order.
//
// A run names its slots by gaps. When most slots of one earlier packet are there again, it names
// them by packet instead: a bit or two for each slot of that packet.
//
// Left to others: which records and bases (repl_state_bases.c), encoded rows (encoded_rows.c).
#include "replicate/snapshot_writer.h"

#include "state/rows.h"

#include "base/assert.h"

#include <string.h>

enum {
    LISTED_BITS = 1,                            // size of naming one record by packet
    GAP_SUM_BITS = 21,                          // of the sum of gaps in one order
    WORDS_SUMMED = 1 << (GAP_SUM_BITS - 6 - 6), // of 64 gaps; none has more than 63 bits
};

// ---- the scratch ----

// Bits of a gap in all orders that are tried, side by side.
static BASE_NOINLINE uint64_t all_gap_bits(uint32_t gap, uint32_t low) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < NET_RUN_ORDERS; k++)
        bits |= (uint64_t)net_golomb_bits(gap, low + k) << (k * GAP_SUM_BITS);
    return bits;
}

void net_snapshot_writer_init(net_snapshot_writer* writer, const base_allocator* allocator,
                              uint32_t index_max) {
    BASE_ASSERT(writer && index_max >= 1);
    memset(writer, 0, sizeof *writer);
    writer->allocator = allocator;
    writer->index_bits = net_snapshot_index_bits(index_max);
    uint8_t bytes[8] = {0};
    proto_bit_writer absent = proto_bit_writer_make(bytes, sizeof bytes);
    proto_row_write_absent(&absent);
    for (uint32_t low = 0; low < NET_USUAL_ORDERS; low++)
        for (uint32_t gap = 0; gap < NET_USUAL_GAPS; gap++) {
            writer->gap_bits[low][gap] = all_gap_bits(gap, low);
            writer->gap_codes[low][gap] =
                (uint32_t)net_golomb_code(gap, low) | net_golomb_bits(gap, low) << 16;
        }
    writer->absent_bits = (uint32_t)absent.size_bits;
    writer->absent_code = base_load_le64(bytes);
}

static void reserve_sets(net_snapshot_writer* writer, uint32_t words) {
    if (words <= writer->word_capacity) return;
    words += words / 4;
    const base_allocator* allocator = writer->allocator;
    uint64_t* sets = base_allocate_zero(allocator, (size_t)words * NET_LANE_COUNT * sizeof *sets);
    base_release(allocator, writer->sets,
                 (size_t)writer->word_capacity * NET_LANE_COUNT * sizeof *writer->sets);
    writer->sets = sets;
    writer->word_capacity = words;
}

void net_snapshot_writer_reserve(net_snapshot_writer* writer, uint32_t slot_end,
                                 uint32_t record_max) {
    const base_allocator* allocator = writer->allocator;
    writer->slot_end = slot_end;
    if (slot_end <= writer->slot_room && record_max <= writer->record_room) return;
    reserve_sets(writer, (slot_end + 63) / 64);
    BASE_ARRAY_RESERVE(allocator, writer->slots, writer->slots_capacity, record_max);
    BASE_ARRAY_RESERVE(allocator, writer->run_words, writer->run_words_capacity,
                       NET_RUNS_OF_SLOT * record_max);
    BASE_ARRAY_RESERVE(allocator, writer->pieces, writer->pieces_capacity, record_max);
    BASE_ARRAY_RESERVE(allocator, writer->order, writer->order_capacity, record_max);
    BASE_ARRAY_RESERVE(allocator, writer->cells, writer->cells_capacity, slot_end);
    BASE_ARRAY_RESERVE(allocator, writer->ages_of, writer->ages_of_capacity, slot_end);
    BASE_ARRAY_RESERVE(allocator, writer->next_of, writer->next_of_capacity, slot_end);
    if (slot_end > writer->slot_room) writer->slot_room = slot_end;
    if (record_max > writer->record_room) writer->record_room = record_max;
}

net_record_group* net_snapshot_writer_add_run(net_snapshot_writer* writer, net_snapshot_kind kind,
                                              uint32_t age, uint32_t d, uint32_t count) {
    BASE_ARRAY_RESERVE(writer->allocator, writer->runs, writer->run_capacity,
                       writer->run_count + 1);
    net_record_group* run = &writer->runs[writer->run_count];
    *run = (net_record_group){.kind = (uint8_t)kind,
                              .age = (uint8_t)age,
                              .d = (uint8_t)d,
                              .words = writer->run_count > 0 ? run[-1].words_end : 0,
                              .words_end = writer->run_word_count,
                              .count = count};
    writer->run_count++;
    writer->record_count += count;
    return run;
}

void net_snapshot_writer_begin(net_snapshot_writer* writer, uint32_t number_bits) {
    writer->run_count = writer->run_word_count = writer->record_count = 0;
    writer->bits = writer->encoded_bits = 0;
    writer->number_bits = number_bits;
}

bool net_snapshot_writer_is_list_shorter(const net_snapshot_writer* writer, uint32_t count,
                                         uint32_t list_count) {
    if (count == 0 || list_count < count) return false;
    uint32_t gap_bits = 2 + net_log2(writer->slot_end / count + 1);
    uint32_t named = NET_SNAPSHOT_AGE_BITS + NET_SNAPSHOT_ORDER_BITS +
                     net_golomb_bits(count - 1, NET_SNAPSHOT_RUN_ORDER) + count * gap_bits;
    uint32_t listed =
        NET_SNAPSHOT_BACK_BITS + (list_count - count) * writer->absent_bits + count * LISTED_BITS;
    return listed < named;
}

// ---- measuring ----

// The lowest candidate for a run's Golomb order: about the logarithm of the mean gap.
static uint32_t lowest_order(uint32_t slot_end, uint32_t count) {
    uint32_t middle = net_log2(slot_end / count | 1);
    uint32_t low = middle > 0 ? middle - 1 : 0, high = NET_SNAPSHOT_ORDER_MAX + 1 - NET_RUN_ORDERS;
    return low < high ? low : high;
}

// Bits of the gaps of some words of a run, in all orders. *next: after the slot before them.
static uint64_t sum_gaps(const net_snapshot_writer* writer, const net_run_word* at,
                         const net_run_word* end, uint32_t low, uint32_t* next) {
    const uint64_t* usual = writer->gap_bits[low < NET_USUAL_ORDERS ? low : 0];
    uint32_t usual_end = low < NET_USUAL_ORDERS ? NET_USUAL_GAPS : 0, behind = *next;
    uint64_t sum = 0;
    for (; at < end; at++) {
        uint32_t first = at->word * 64;
        for (uint64_t left = at->slots; left; left &= left - 1) {
            uint32_t slot = first + base_bit_lowest(left), gap = slot - behind;
            behind = slot + 1;
            sum += gap < usual_end ? usual[gap] : all_gap_bits(gap, low);
        }
    }
    *next = behind;
    return sum;
}

// Choose the order that codes the gaps in the fewest bits. @return bits of the gaps and of the
// order.
static uint32_t measure_gaps(const net_snapshot_writer* writer, net_record_group* run) {
    uint32_t low = lowest_order(writer->slot_end, run->count), next = 0, best = 0;
    uint32_t bits[NET_RUN_ORDERS] = {0};
    for (uint32_t i = run->words; i < run->words_end; i += WORDS_SUMMED) {
        uint32_t end = run->words_end - i < WORDS_SUMMED ? run->words_end : i + WORDS_SUMMED;
        uint64_t sum = sum_gaps(writer, writer->run_words + i, writer->run_words + end, low, &next);
        for (uint32_t k = 0; k < NET_RUN_ORDERS; k++)
            bits[k] += (uint32_t)(sum >> (k * GAP_SUM_BITS)) & ((1u << GAP_SUM_BITS) - 1);
    }
    for (uint32_t k = 1; k < NET_RUN_ORDERS; k++)
        if (bits[k] < bits[best]) best = k;
    run->order = (uint8_t)(low + best);
    return bits[best] + NET_SNAPSHOT_ORDER_BITS;
}

static uint64_t measure_creates(const net_snapshot_writer* writer, const net_history* history,
                                const ecs_entity* handles) {
    const net_record_group* run = &writer->runs[NET_RUN_CREATE];
    net_create_state state = {.index_next = 1};
    uint64_t bits = 0;
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);) {
        ecs_entity handle = handles[at.slot];
        const net_row_template* row_template = net_template_of(history, handle);
        uint32_t index = ecs_entity_index(handle);
        bits += 3;
        if (index != state.index_next) bits += writer->index_bits;
        if (ecs_entity_generation(handle) != 1) bits += ECS_GENERATION_BITS;
        if (row_template != state.row_template)
            bits += NET_SNAPSHOT_PARTS_BITS + row_template->part_count * writer->number_bits;
        state = (net_create_state){index + 1, row_template};
    }
    return bits;
}

static uint64_t measure_run(const net_snapshot_writer* writer, net_record_group* run) {
    uint64_t bits = NET_SNAPSHOT_KIND_BITS;
    if (run->kind == NET_SNAPSHOT_BY_PACKET)
        return bits + NET_SNAPSHOT_BACK_BITS + net_golomb_bits(run->d, NET_SNAPSHOT_BASE2_ORDER) +
               (uint64_t)(run->list_count - run->count) * writer->absent_bits;
    if (run->kind == NET_SNAPSHOT_BY_AGE)
        bits += NET_SNAPSHOT_AGE_BITS + net_golomb_bits(run->d, NET_SNAPSHOT_BASE2_ORDER);
    return bits + net_golomb_bits(run->count - 1, NET_SNAPSHOT_RUN_ORDER) +
           measure_gaps(writer, run);
}

static inline uint64_t sum_rows(const net_snapshot_writer* writer) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < writer->run_count; i++)
        sum += net_run_encoded_bits(writer, &writer->runs[i]);
    return sum;
}

void net_snapshot_writer_measure(net_snapshot_writer* writer, const net_history* history,
                                 const ecs_entity* handles) {
    uint64_t lifecycle = 0, updates = 0;
    BASE_VALIDATE(writer->encoded_bits == sum_rows(writer));
    uint32_t runs = 0;
    for (uint32_t i = 0; i < writer->run_count; i++) {
        net_record_group* run = &writer->runs[i];
        if (i < NET_RUN_FIRST) {
            lifecycle += net_golomb_bits(run->count, NET_SNAPSHOT_LIST_ORDER);
            if (run->count > 0) lifecycle += measure_gaps(writer, run);
        } else if (run->count > 0) {
            runs++;
            updates += measure_run(writer, run);
        }
    }
    writer->lifecycle_bits = lifecycle + measure_creates(writer, history, handles);
    updates += net_golomb_bits(runs, NET_SNAPSHOT_LIST_ORDER);
    writer->bits =
        writer->record_count > 0 ? writer->encoded_bits + writer->lifecycle_bits + updates : 0;
}

void net_snapshot_writer_keep(net_snapshot_writer* writer, const uint64_t* kept) {
    for (uint32_t r = 0; r < writer->run_count; r++) {
        net_record_group* run = &writer->runs[r];
        for (uint32_t i = run->words; i < run->words_end; i++) {
            net_run_word* at = &writer->run_words[i];
            uint64_t gone = at->slots & ~kept[at->word];
            at->slots &= ~gone;
            for (; gone; gone &= gone - 1) {
                uint32_t slot = at->word * 64 + base_bit_lowest(gone);
                writer->encoded_bits -= net_encoded_cell_bits(writer->cells[slot]);
                writer->record_count--;
                run->count--;
            }
        }
        if (run->kind == NET_SNAPSHOT_BY_PACKET &&
            !net_snapshot_writer_is_list_shorter(writer, run->count, run->list_count))
            run->kind = NET_SNAPSHOT_BY_AGE;
    }
}

void net_snapshot_writer_list(net_snapshot_writer* writer) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < writer->run_count; r++) {
        net_record_group* run = &writer->runs[r];
        run->first = count;
        for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);)
            writer->slots[count++] = at.slot;
        BASE_ASSERT(count == run->first + run->count);
    }
}

// Writing a measured snapshot (WIRE.md, "State body").
//
// Writing follows the order of measuring, with a bit buffer that holds 64 bits and checks the room
// once. The bits are compared with the measured size at the end: a snapshot that was measured to
// fit does fit.

// A bit buffer: eight bytes are stored at a time, whether they are full or not. There is room
// beyond the end.
typedef struct pen {
    uint64_t word;
    uint32_t fill; // 0..7 bits of word
    uint8_t* out;
} pen;

enum {
    PUT_BITS_MAX = 56,
    PEN_SLACK_BYTES = 16,
    GAP_BITS_MAX = 16,                        // of a usual gap
    SHORT_BITS = PUT_BITS_MAX - GAP_BITS_MAX, // of a row that is put together with its gap
};

static inline void put_bits(pen* p, uint64_t value, uint32_t count) {
    uint64_t word = p->word | value << p->fill;
    base_store_le64(p->out, word);
    uint32_t fill = p->fill + count, bytes = fill >> 3;
    p->out += bytes;
    p->word = word >> (fill & ~7u);
    p->fill = fill & 7;
}

static inline void put_golomb(pen* p, uint32_t value, uint32_t order) {
    put_bits(p, net_golomb_code(value, order), net_golomb_bits(value, order));
}

static inline void put_word(pen* p, uint64_t value, uint32_t count) {
    enum { HALF = 32 };
    if (count > PUT_BITS_MAX) {
        put_bits(p, value & UINT32_MAX, HALF);
        value >>= HALF;
        count -= HALF;
    }
    put_bits(p, value, count);
}

// By value: a pen without an address stays in registers.
static BASE_NOINLINE pen put_long(pen p, const uint8_t* arena, uint64_t cell) {
    const uint8_t* from = arena + (uint32_t)cell;
    uint32_t count = net_encoded_cell_bits(cell);
    for (; count > 64; count -= 64, from += 8)
        put_word(&p, base_load_le64(from), 64);
    put_word(&p, base_load_le64(from) & UINT64_MAX >> (64 - count), count);
    return p;
}

static inline void put_cell(pen* p, const uint8_t* arena, uint64_t cell) {
    uint32_t bits = (uint32_t)(cell >> NET_ENCODED_ROW_INLINE_BITS);
    if (bits != NET_ENCODED_ROW_LONG)
        put_bits(p, net_encoded_cell_code(cell), bits);
    else
        *p = put_long(*p, arena, cell);
}

static inline void write_gap(pen* p, uint32_t order, uint32_t slot, uint32_t* next) {
    put_golomb(p, slot - *next, order);
    *next = slot + 1;
}

static void write_destroys(const net_snapshot_writer* writer, pen* p) {
    const net_record_group* run = &writer->runs[NET_RUN_DESTROY];
    put_golomb(p, run->count, NET_SNAPSHOT_LIST_ORDER);
    if (run->count == 0) return;
    put_bits(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    uint32_t next = 0;
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);)
        write_gap(p, run->order, at.slot, &next);
}

static void write_handle(const net_snapshot_writer* writer, const net_create_state* state,
                         ecs_entity handle, pen* p) {
    uint32_t index = ecs_entity_index(handle), generation = ecs_entity_generation(handle);
    put_bits(p, index == state->index_next, 1);
    if (index != state->index_next) put_bits(p, index, writer->index_bits);
    put_bits(p, generation == 1, 1);
    if (generation != 1) put_bits(p, generation, ECS_GENERATION_BITS);
}

static void write_creates(const net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                          const ecs_entity* handles, pen* p) {
    const net_record_group* run = &writer->runs[NET_RUN_CREATE];
    put_golomb(p, run->count, NET_SNAPSHOT_LIST_ORDER);
    if (run->count == 0) return;
    put_bits(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    uint32_t next = 0;
    net_create_state state = {.index_next = 1};
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);) {
        ecs_entity handle = handles[at.slot];
        const net_row_template* row_template = net_template_of(encoded_rows->history, handle);
        write_gap(p, run->order, at.slot, &next);
        write_handle(writer, &state, handle, p);
        put_bits(p, row_template == state.row_template, 1);
        if (row_template != state.row_template) {
            put_bits(p, row_template->part_count - 1u, NET_SNAPSHOT_PARTS_BITS);
            for (uint32_t k = 0; k < row_template->part_count; k++)
                put_bits(p, row_template->parts[k], writer->number_bits);
        }
        put_cell(p, encoded_rows->arena, writer->cells[at.slot]);
        state = (net_create_state){ecs_entity_index(handle) + 1, row_template};
    }
}

static void write_listed(const net_snapshot_writer* writer, const uint8_t* arena,
                         const net_record_group* run, pen* p) {
    const net_run_word *at = writer->run_words + run->words,
                       *end = writer->run_words + run->words_end;
    uint32_t absent_bits = writer->absent_bits;
    const uint64_t absent_code = writer->absent_code;
    uint64_t unlisted = 0;
    pen local = *p;
    for (uint32_t w = 0; w < (writer->slot_end + 63) / 64; w++) {
        uint64_t present = at < end && at->word == w ? at++->slots : 0;
        unlisted |= present & ~run->list[w];
        for (uint64_t bits = run->list[w]; bits; bits &= bits - 1) {
            uint32_t bit = base_bit_lowest(bits);
            if (present >> bit & 1)
                put_cell(&local, arena, writer->cells[w * 64 + bit]);
            else
                put_bits(&local, absent_code, absent_bits);
        }
    }
    BASE_ASSERT(at == end && !unlisted);
    *p = local;
}

// One after the other: the gap to a slot, and its row.
static void write_gaps(const net_snapshot_writer* writer, const uint8_t* arena,
                       const net_record_group* run, pen* p) {
    uint32_t next = 0, order = run->order;
    const uint32_t* usual = writer->gap_codes[order < NET_USUAL_ORDERS ? order : 0];
    uint32_t usual_end = order < NET_USUAL_ORDERS ? NET_USUAL_GAPS : 0;
    pen local = *p;
    for (uint32_t i = run->words; i < run->words_end; i++) {
        const uint32_t from = writer->run_words[i].word * 64;
        const uint64_t* cells = writer->cells + from;
        for (uint64_t left = writer->run_words[i].slots; left; left &= left - 1) {
            uint32_t bit = base_bit_lowest(left), gap = from + bit - next;
            next = from + bit + 1;
            uint64_t cell = cells[bit];
            uint32_t row_bits = (uint32_t)(cell >> NET_ENCODED_ROW_INLINE_BITS);
            if (gap < usual_end && row_bits <= SHORT_BITS) {
                uint32_t gap_bits = usual[gap] >> 16;
                put_bits(&local,
                         (usual[gap] & UINT16_MAX) | net_encoded_cell_code(cell) << gap_bits,
                         gap_bits + row_bits);
                continue;
            }
            put_golomb(&local, gap, order);
            put_cell(&local, arena, cell);
        }
    }
    *p = local;
}

static void write_run(const net_snapshot_writer* writer, const uint8_t* arena,
                      const net_record_group* run, pen* p) {
    put_bits(p, run->kind, NET_SNAPSHOT_KIND_BITS);
    if (run->kind == NET_SNAPSHOT_BY_PACKET) {
        put_bits(p, run->back, NET_SNAPSHOT_BACK_BITS);
        put_golomb(p, run->d, NET_SNAPSHOT_BASE2_ORDER);
        write_listed(writer, arena, run, p);
        return;
    }
    if (run->kind == NET_SNAPSHOT_BY_AGE) {
        put_bits(p, run->age, NET_SNAPSHOT_AGE_BITS);
        put_golomb(p, run->d, NET_SNAPSHOT_BASE2_ORDER);
    }
    put_golomb(p, run->count - 1, NET_SNAPSHOT_RUN_ORDER);
    put_bits(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    write_gaps(writer, arena, run, p);
}

void net_snapshot_writer_write(net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                               const ecs_entity* handles, proto_bit_writer* output) {
    uint64_t bits = writer->bits;
    BASE_ASSERT(!output->failed && bits > 0);
    BASE_ASSERT(output->size_bits + bits <= (uint64_t)output->capacity * 8);
    uint32_t before = (uint32_t)(output->size_bits & 7);
    size_t bytes = (size_t)(before + bits + 7) / 8;
    BASE_ARRAY_RESERVE(writer->allocator, writer->bytes, writer->byte_capacity,
                       (uint32_t)bytes + PEN_SLACK_BYTES);
    uint8_t* target = output->data + (output->size_bits >> 3);
    pen p = {.fill = before, .out = writer->bytes};
    if (before) p.word = *target & ((1u << before) - 1);
    write_destroys(writer, &p);
    write_creates(writer, encoded_rows, handles, &p);
    uint32_t runs = 0;
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++)
        runs += writer->runs[i].count > 0;
    put_golomb(&p, runs, NET_SNAPSHOT_LIST_ORDER);
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++)
        if (writer->runs[i].count > 0) write_run(writer, encoded_rows->arena, &writer->runs[i], &p);
    uint64_t written = (uint64_t)(p.out - writer->bytes) * 8 + p.fill;
    BASE_ASSERT(written == before + bits);
    *p.out = (uint8_t)p.word; // the last, partial byte
    memcpy(target, writer->bytes, bytes);
    output->size_bits += bits;
}
