// SPDX-License-Identifier: MIT
// Writing a measured snapshot (WIRE.md, "State body").
//
// Writing follows the order of measuring, with a bit buffer that holds 64 bits and checks the room
// once. The bits are compared with the measured size at the end: a snapshot that was measured to
// fit does fit.
#include "base/assert.h"
#include "base/bitset.h"
#include "core/fault.h"
#include "replicate/snapshot_bits.h"

#include <string.h>

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

static inline void put(pen* p, uint64_t value, uint32_t count) {
    uint64_t word = p->word | value << p->fill;
    base_store_le64(p->out, word);
    uint32_t fill = p->fill + count, bytes = fill >> 3;
    p->out += bytes;
    p->word = word >> (fill & ~7u);
    p->fill = fill & 7;
}

static inline void put_golomb(pen* p, uint32_t value, uint32_t order) {
    put(p, net_golomb_code(value, order), net_golomb_bits(value, order));
}

static inline void put_word(pen* p, uint64_t value, uint32_t count) {
    enum { HALF = 32 };
    if (count > PUT_BITS_MAX) {
        put(p, value & UINT32_MAX, HALF);
        value >>= HALF;
        count -= HALF;
    }
    put(p, value, count);
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
        put(p, net_encoded_cell_code(cell), bits);
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
    put(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    uint32_t next = 0;
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);)
        write_gap(p, run->order, at.slot, &next);
}

static void write_handle(const net_snapshot_writer* writer, const net_create_state* state,
                         ecs_entity handle, pen* p) {
    uint32_t index = ecs_entity_index(handle), generation = ecs_entity_generation(handle);
    put(p, index == state->index_next, 1);
    if (index != state->index_next) put(p, index, writer->index_bits);
    put(p, generation == 1, 1);
    if (generation != 1) put(p, generation, ECS_GENERATION_BITS);
}

static void write_creates(const net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                          const ecs_entity* handles, pen* p) {
    const net_record_group* run = &writer->runs[NET_RUN_CREATE];
    put_golomb(p, run->count, NET_SNAPSHOT_LIST_ORDER);
    if (run->count == 0) return;
    put(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    uint32_t next = 0;
    net_create_state state = {.index_next = 1};
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);) {
        ecs_entity handle = handles[at.slot];
        const net_row_template* row_template = net_template_of(encoded_rows->history, handle);
        write_gap(p, run->order, at.slot, &next);
        write_handle(writer, &state, handle, p);
        put(p, row_template == state.row_template, 1);
        if (row_template != state.row_template) {
            put(p, row_template->part_count - 1u, NET_SNAPSHOT_PARTS_BITS);
            for (uint32_t k = 0; k < row_template->part_count; k++)
                put(p, row_template->parts[k], writer->number_bits);
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
                put(&local, absent_code, absent_bits);
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
                put(&local, (usual[gap] & UINT16_MAX) | net_encoded_cell_code(cell) << gap_bits,
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
    put(p, run->kind, NET_SNAPSHOT_KIND_BITS);
    if (run->kind == NET_SNAPSHOT_BY_PACKET) {
        put(p, run->back, NET_SNAPSHOT_BACK_BITS);
        put_golomb(p, run->d, NET_SNAPSHOT_BASE2_ORDER);
        write_listed(writer, arena, run, p);
        return;
    }
    if (run->kind == NET_SNAPSHOT_BY_AGE) {
        put(p, run->age, NET_SNAPSHOT_AGE_BITS);
        put_golomb(p, run->d, NET_SNAPSHOT_BASE2_ORDER);
    }
    put_golomb(p, run->count - 1, NET_SNAPSHOT_RUN_ORDER);
    put(p, run->order, NET_SNAPSHOT_ORDER_BITS);
    write_gaps(writer, arena, run, p);
}

// ---- accounting ----

static uint64_t account_destroys(const net_snapshot_writer* writer,
                                 net_bandwidth_account* account) {
    const net_record_group* run = &writer->runs[NET_RUN_DESTROY];
    if (run->count == 0) return 0;
    uint64_t spent = net_golomb_bits(run->count, NET_SNAPSHOT_LIST_ORDER) + NET_SNAPSHOT_ORDER_BITS;
    uint32_t next = 0;
    for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);) {
        spent += net_golomb_bits(at.slot - next, run->order);
        next = at.slot + 1;
    }
    if (!net_fault_is_planted(NET_FAULT_BANDWIDTH_MISS))
        net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_DESTROY, spent);
    return spent;
}

static net_cost cause_of(const net_snapshot_causes* causes, const net_record_group* run,
                         bool is_create, uint32_t slot) {
    if (is_create) return NET_COST_CREATE;
    if (causes->resync[slot >> 6] >> (slot & 63) & 1) return NET_COST_HEAL;
    if (run->kind == NET_SNAPSHOT_ABSOLUTE) return NET_COST_ABSOLUTE;
    return causes->repeat[slot >> 6] >> (slot & 63) & 1 ? NET_COST_REPEAT : NET_COST_CHANGE;
}

// Account for every bit: components by their cause, destroys, and the rest as head.
static void account_for(const net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                        const net_snapshot_causes* causes) {
    net_bandwidth_account* account = causes->account;
    uint64_t rest = writer->bits - account_destroys(writer, account);
    for (uint32_t r = NET_RUN_CREATE; r < writer->run_count; r++) {
        const net_record_group* run = &writer->runs[r];
        for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);) {
            net_cost cause = cause_of(causes, run, r == NET_RUN_CREATE, at.slot);
            const net_encoded_row_parts* of = &writer->parts[at.slot];
            const net_row_template* row_template;
            const uint32_t* parts =
                net_encoded_rows_component_bits(encoded_rows, of->first, &row_template);
            for (uint32_t c = 0; c < row_template->layout.component_count; c++) {
                if (parts[c] > 0)
                    net_bandwidth_add(account, row_template->layout.components[c].key, cause,
                                      parts[c]);
            }
            rest -= net_encoded_cell_bits(writer->cells[at.slot]) - of->head_bits;
        }
    }
    net_bandwidth_add(account, NET_BANDWIDTH_NONE, NET_COST_HEAD, rest);
}

bool net_snapshot_writer_write(net_snapshot_writer* writer, const net_encoded_rows* encoded_rows,
                               const ecs_entity* handles, proto_bit_writer* output,
                               const net_snapshot_causes* causes) {
    uint64_t bits = writer->bits;
    BASE_ASSERT(!output->failed && bits > 0);
    BASE_ASSERT(output->size_bits + bits <= (uint64_t)output->capacity * 8);
    uint32_t before = (uint32_t)(output->size_bits & 7);
    size_t bytes = (size_t)(before + bits + 7) / 8;
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->bytes, writer->byte_capacity,
                            (uint32_t)bytes + PEN_SLACK_BYTES))
        return false;
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
    if (causes) account_for(writer, encoded_rows, causes);
    return true;
}
