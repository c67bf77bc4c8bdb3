// SPDX-License-Identifier: MIT
// The records of a run: the encoded rows of its slots. Most rows are found, in the same cell of
// their homes; those that are missing are encoded together, so that memory is read ahead.
#include "replicate/repl_state_compose.h"

enum { CODED_TOGETHER = 32 }; // records whose rows are prefetched together

// Rows of one kind: all that is asked for with the same bases and classes.
typedef struct row_kind {
    net_encoded_row_key key;
    uint32_t is_for; // classes; UINT32_MAX: not known yet
    uint32_t wanted; // the key in a home
    net_encoded_row_kind* known;
    uint32_t count; // asked for
} row_kind;

typedef struct row_finder {
    net_composer* c;
    net_record_group* run;
    net_encoded_row_wish missing[CODED_TOGETHER]; // records whose rows are not encoded yet
    uint32_t missing_count;
} row_finder;

void net_composer_take(net_composer* c, uint32_t slot, const net_encoded_row* encoded) {
    net_snapshot_writer* writer = c->writer;
    writer->cells[slot] = net_encoded_row_cell(encoded);
    writer->encoded_bits += encoded->bits;
    if (c->encoded_rows->is_counted)
        writer->parts[slot] = (net_encoded_row_parts){encoded->parts_first, encoded->head_bits};
}

// The history has forgotten a base: the slot goes to those without a second base, or without any.
static void move_slot(const row_finder* f, uint32_t slot, bool has_base) {
    net_composer* c = f->c;
    const uint64_t keep = ~(UINT64_C(1) << (slot & 63));
    net_run_word* at = c->writer->run_words + f->run->words;
    while (at->word != slot >> 6)
        at++;
    at->slots &= keep;
    f->run->count--;
    c->writer->record_count--;
    c->doubled[slot >> 6] &= keep;
    net_set_bit(has_base ? c->single : c->absolute, slot);
}

// Encode the rows that are missing. @return false when memory ran out.
static bool make_missing(row_finder* f) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    uint32_t count = f->missing_count;
    f->missing_count = 0;
    for (uint32_t step = 0; step <= 1 && count > 1; step++)
        for (uint32_t i = 0; i < count; i++) {
            const net_encoded_row_key* key = &f->missing[i].key;
            net_history_warm(encoded_rows->history, key->index, encoded_rows->tick, key->age,
                             key->d, step == 1);
        }
    net_encoded_rows_make_many(encoded_rows, f->missing, count);
    for (uint32_t i = 0; i < count; i++) {
        const net_encoded_row_wish* missing = &f->missing[i];
        if (missing->result == NET_ENCODED_ROW_NO_MEMORY) return false;
        if (missing->result == NET_ENCODED_ROW_OK)
            net_composer_take(f->c, missing->slot, &missing->encoded);
        else
            move_slot(f, missing->slot, missing->result == NET_ENCODED_ROW_NO_BASE2);
    }
    return true;
}

static void end_kind(const row_finder* f, row_kind* kind) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    if (kind->count == 0) return;
    if (kind->known) kind->known->count += kind->count;
    net_encoded_rows_ask(encoded_rows, &kind->key, kind->wanted, kind->count);
    kind->count = 0;
}

static void begin_kind(const row_finder* f, row_kind* kind, uint16_t classes) {
    end_kind(f, kind);
    net_encoded_row_key* key = &kind->key;
    kind->is_for = key->classes = classes;
    key->base_classes = key->age ? classes : 0;
    key->base2_classes = key->d ? classes : 0;
    kind->wanted = net_encoded_rows_wanted(f->c->encoded_rows, key);
    bool is_usual = kind->wanted != NET_ENCODED_ROW_UNUSUAL;
    kind->known = is_usual ? net_encoded_rows_kind(f->c->encoded_rows, kind->wanted) : NULL;
}

// Are rows of the kind found at once? Counted ones are taken with their parts, in no haste.
static bool has_cell(const net_encoded_rows* encoded_rows, const row_kind* kind) {
    return kind->known && kind->known->cell != NET_ENCODED_ROW_CELL_NONE &&
           !encoded_rows->is_counted;
}

// Find rows that were not found at once, or let them be made. @return false when memory ran out.
static BASE_NOINLINE bool find_others(row_finder* f, row_kind* kind, uint32_t w, uint64_t slots) {
    const net_repl_state* repl = f->c->repl;
    bool has_looked = has_cell(f->c->encoded_rows, kind);
    for (; slots; slots &= slots - 1) {
        uint32_t slot = w * 64 + base_bit_lowest(slots);
        net_encoded_row encoded;
        if (repl->classes[slot] != kind->is_for) {
            begin_kind(f, kind, repl->classes[slot]);
            has_looked = false;
        }
        kind->key.index = ecs_entity_index(repl->handles[slot]);
        kind->count++;
        if (!has_looked &&
            net_encoded_rows_find_wanted(f->c->encoded_rows, kind->wanted, &kind->key, &encoded)) {
            net_composer_take(f->c, slot, &encoded);
            continue;
        }
        net_encoded_row_wish* wish = &f->missing[f->missing_count++];
        wish->key = kind->key;
        wish->wanted = kind->wanted;
        wish->slot = slot;
        if (f->missing_count == CODED_TOGETHER && !make_missing(f)) return false;
    }
    return true;
}

// Take the rows of these slots of a word that are in the cell of their kind. *sum: their bits are
// added. *unlike: slots with other classes. @return the slots without a row.
static inline uint64_t find_usual(const net_encoded_rows* encoded_rows, const row_kind* kind,
                                  const net_repl_state* repl, uint64_t* cells, uint32_t w,
                                  uint64_t slots, uint64_t* sum, uint64_t* unlike) {
    const ecs_entity* handles = repl->handles + (size_t)w * 64;
    const uint16_t* classes = repl->classes + (size_t)w * 64;
    const uint32_t stamp = encoded_rows->stamp, is_for = kind->is_for;
    const net_encoded_row_home* homes = encoded_rows->homes;
    const uint32_t cell = kind->known->cell;
    uint64_t others = 0, without = 0, bits = 0;
    cells += (size_t)w * 64;
    BASE_KEEP_POINTER(handles);
    BASE_KEEP_POINTER(classes);
    BASE_KEEP_POINTER(cells);
    for (; slots; slots &= slots - 1) {
        uint32_t bit = base_bit_lowest(slots);
        const net_encoded_row_home* home = &homes[ecs_entity_index(handles[bit])];
        const uint64_t row = home->cells[cell];
        if (home->stamp != stamp || classes[bit] != is_for || row == 0) {
            if (classes[bit] != is_for)
                others |= slots & (0 - slots);
            else
                without |= slots & (0 - slots);
            continue;
        }
        cells[bit] = row;
        bits += net_encoded_cell_bits(row);
    }
    *sum += bits;
    *unlike = others;
    return without;
}

// Get the rows of the slots of the run that are in this set, or not. @return false when memory ran
// out.
static bool find_kind(row_finder* f, row_kind* kind, const uint64_t* set, uint64_t inverse) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    net_snapshot_writer* writer = f->c->writer;
    const net_repl_state* repl = f->c->repl;
    uint64_t encoded_bits = 0;
    uint32_t found = 0;
    for (uint32_t i = f->run->words; i < f->run->words_end; i++) {
        uint32_t w = writer->run_words[i].word;
        uint64_t left = writer->run_words[i].slots & (set[w] ^ inverse), unlike;
        if (left && kind->is_for == UINT32_MAX)
            begin_kind(f, kind, repl->classes[w * 64 + base_bit_lowest(left)]);
        for (; left; left = unlike) {
            uint64_t without = left;
            unlike = 0;
            if (has_cell(encoded_rows, kind))
                without = find_usual(encoded_rows, kind, repl, writer->cells, w, left,
                                     &encoded_bits, &unlike);
            uint32_t count = net_word_count(left & ~without & ~unlike);
            kind->count += count;
            found += count;
            if (without && !find_others(f, kind, w, without)) return false;
            if (unlike) begin_kind(f, kind, repl->classes[w * 64 + base_bit_lowest(unlike)]);
        }
    }
    encoded_rows->shared += found;
    writer->encoded_bits += encoded_bits;
    end_kind(f, kind);
    return true;
}

bool net_composer_add_records(net_composer* c, uint32_t age, uint32_t d) {
    net_snapshot_writer* writer = c->writer;
    row_finder f; // its list is long: nothing is cleared in vain
    f.c = c;
    f.run = &writer->runs[writer->run_count - 1];
    f.missing_count = 0;
    row_kind single = {.key = {.age = age}, .is_for = UINT32_MAX}, doubled = single;
    doubled.key.d = (uint8_t)d;
    if ((d > 0 && !find_kind(&f, &doubled, c->doubled, 0)) ||
        !find_kind(&f, &single, c->doubled, UINT64_MAX))
        return false;
    f.run->has_single = age > 0 && single.is_for != UINT32_MAX;
    return f.missing_count == 0 || make_missing(&f);
}
