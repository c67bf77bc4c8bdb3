// SPDX-License-Identifier: MIT
// The records of a run: its slots, and their encoded rows. Most rows are found, in the same place
// of their homes; those that are missing are encoded together, so that memory is read ahead.
#include "replicate/repl_state_compose.h"

#define NET_ROW_BITS_NONE UINT16_MAX // of a record whose row could not be encoded

enum { CODED_TOGETHER = 32 }; // records whose rows are prefetched together

// A record whose row is not encoded yet.
typedef struct missing_row {
    net_encoded_row_key key;
    uint32_t wanted; // the key in a home
    uint32_t record;
} missing_row;

// Encode the rows that are missing. When the history has forgotten a base, the slot goes to
// those without a second base, or without any. @return false when memory ran out.
static bool make_missing(net_composer* c, const missing_row* missing, uint32_t count,
                         bool* has_failed) {
    net_snapshot_writer* writer = c->writer;
    for (uint32_t step = 0; step <= 1 && count > 1; step++)
        for (uint32_t i = 0; i < count; i++)
            net_history_warm(c->encoded_rows->history, missing[i].key.index, c->encoded_rows->tick,
                             missing[i].key.age, missing[i].key.d, step == 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t record = missing[i].record, slot = writer->slots[record];
        net_encoded_row_result result = net_encoded_rows_make(
            c->encoded_rows, &missing[i].key, missing[i].wanted, &writer->rows[record]);
        if (result == NET_ENCODED_ROW_NO_MEMORY) return false;
        if (result == NET_ENCODED_ROW_OK) {
            writer->encoded_bits += writer->rows[record].bits;
            continue;
        }
        *has_failed = true;
        writer->rows[record].bits = NET_ROW_BITS_NONE;
        c->doubled[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
        net_set_bit(result == NET_ENCODED_ROW_NO_BASE2 ? c->single : c->absolute, slot);
    }
    return true;
}

// Take records without an encoded row out again.
static void drop_empty(net_snapshot_writer* writer, uint32_t first) {
    uint32_t count = first;
    for (uint32_t i = first; i < writer->record_count; i++) {
        if (writer->rows[i].bits == NET_ROW_BITS_NONE) continue;
        writer->slots[count] = writer->slots[i];
        writer->rows[count++] = writer->rows[i];
    }
    writer->record_count = count;
}

// Rows of one kind: all that is asked for with the same bases and classes.
typedef struct row_kind {
    net_encoded_row_key key;
    uint32_t wanted; // the key in a home
    uint32_t is_for; // classes, and whether there is a second base
    uint32_t cell;   // of a home, where the newest one was
    uint32_t first;  // record
} row_kind;

static void end_kind(net_composer* c, const row_kind* kind, uint32_t record) {
    if (record > kind->first)
        net_encoded_rows_ask(c->encoded_rows, &kind->key, kind->wanted, record - kind->first);
}

static BASE_NOINLINE void begin_kind(net_composer* c, row_kind* kind, uint32_t is_for, uint32_t d,
                                     uint32_t record) {
    end_kind(c, kind, record);
    bool has_second = is_for >> 16;
    kind->is_for = is_for;
    kind->first = record;
    kind->cell = 0;
    net_encoded_row_key* key = &kind->key;
    key->classes = (uint16_t)is_for;
    key->base_classes = key->age ? key->classes : 0;
    key->d = has_second ? (uint8_t)d : 0;
    key->base2_classes = has_second ? key->classes : 0;
    kind->wanted = net_encoded_rows_wanted(c->encoded_rows, key);
}

bool net_composer_add_records(net_composer* c, const uint64_t* set, const uint64_t* seconds,
                              net_encoded_row_key key) {
    net_encoded_rows* encoded_rows = c->encoded_rows;
    net_snapshot_writer* writer = c->writer;
    net_record_group* run = &writer->runs[writer->run_count - 1];
    missing_row missing[CODED_TOGETHER];
    const ecs_entity* handles = c->repl->handles;
    const uint16_t* classes = c->repl->classes;
    uint32_t missing_count = 0, record = writer->record_count;
    bool has_failed = false;
    uint64_t singles = 0, encoded_bits = 0;
    row_kind kind = {.key = key, .is_for = UINT32_MAX, .first = record};
    for (uint32_t w = 0; w < c->words; w++) {
        if (!set[w]) continue;
        uint64_t with = key.d > 0 ? seconds[w] : 0;
        c->doubled[w] |= with;
        singles |= set[w] & ~with;
        for (uint64_t bits = set[w]; bits; bits &= bits - 1, record++) {
            uint32_t bit = base_bit_lowest(bits), slot = w * 64 + bit;
            uint32_t index = ecs_entity_index(handles[slot]);
            uint32_t is_for = classes[slot] | (uint32_t)(with >> bit & 1) << 16;
            writer->slots[record] = slot;
            if (is_for != kind.is_for) begin_kind(c, &kind, is_for, key.d, record);
            net_encoded_row* row = &writer->rows[record];
            if (net_encoded_rows_find_at(encoded_rows, kind.wanted, index, &kind.cell, row)) {
                encoded_bits += row->bits;
                continue;
            }
            kind.key.index = index;
            if (net_encoded_rows_find_wanted(encoded_rows, kind.wanted, &kind.key, row)) {
                encoded_bits += row->bits;
                continue;
            }
            missing[missing_count++] = (missing_row){kind.key, kind.wanted, record};
            if (missing_count < CODED_TOGETHER) continue;
            if (!make_missing(c, missing, missing_count, &has_failed)) return false;
            missing_count = 0;
        }
    }
    end_kind(c, &kind, record);
    writer->record_count = record;
    writer->encoded_bits += encoded_bits;
    if (missing_count > 0 && !make_missing(c, missing, missing_count, &has_failed)) return false;
    if (has_failed) drop_empty(writer, run->first);
    run->count = writer->record_count - run->first;
    run->has_single = key.age > 0 && singles;
    return true;
}
