// SPDX-License-Identifier: MIT
// One row coded against one or two older rows (WIRE.md, "Row code").
//
// Both sides expect words for every component: the straight line through both bases continues, the
// integral of another component follows that component, a rotation goes on turning. Only the
// difference is coded, mostly a few steps. Its prefix code depends on how large it is expected to
// be: larger the further the line reaches and the faster it moves. The numbers of this row so far
// correct that expectation ("surprise").
//
// One bit per component for "as expected" would be a waste where the answer is nearly certain. So
// the bases put each component into a kind, and only the doubtful ones have bits in the head, one
// symbol for up to three of them:
//
//     live    moves so much that it is hardly ever exactly as expected: always coded
//     driven  integral of a component that does not rest: always coded, after that component
//     warm    may or may not be as expected: has a bit in the head
//     quiet   rests: a difference is an exception; the code 00000 begins the exceptions, and every
//     first
//             symbol leaves it free
//
// Invariants: reader and writer take the same decisions from the same bases and bits; a reader
// accepts any bits, and the words that it returns are canonical or the reader has failed.
//
// Start reading at code_row. row_plan.c makes the plans, row_head.c codes the head, row_number.c
// codes one number, rotation.c extrapolates rotations.
#include "row/rotation.h"
#include "row/row_coder.h"

enum {
    INDEX_BITS = 22,
    GENERATION_BITS = 10,
    INDEX_ORDER = 7,
};

// A source that leaves its line mostly stops or turns back along it. So the field that moved most
// is coded first, and the other fields are expected to have gone the same share of their way.
static void code_source(row_coder* coder, uint32_t c) {
    BASE_ASSERT(coder->has_base2);
    const proto_row_component* component = &coder->layout->components[c];
    const proto_row_field* fields = &coder->layout->fields[component->field_first];
    const uint64_t* base = coder->base + component->field_first;
    const uint64_t* base2 = coder->base2 + component->field_first;
    uint64_t* words = coder->row + component->field_first;
    uint64_t expected[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(coder, c, expected);
    uint32_t most = 0;
    int64_t pace = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        int64_t own = row_difference(base[i], base2[i], fields[i].quant.bits);
        if ((own < 0 ? -own : own) <= (pace < 0 ? -pace : pace)) continue;
        most = i;
        pace = own;
    }
    proto_row_scaled(coder, coder->plans[c].scale, &fields[most].quant, expected[most],
                     &words[most], NULL);
    int64_t off = row_difference(words[most], expected[most], fields[most].quant.bits);
    int32_t scale = coder->plans[c].scale - ROW_SOURCE_LESS;
    if (scale < 0) scale = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (i == most) continue;
        int64_t own = row_difference(base[i], base2[i], fields[i].quant.bits);
        int64_t whole = pace < 0 ? -pace : pace;
        int64_t more = row_divide(2 * off * (pace < 0 ? -own : own) + whole, 2 * whole);
        uint64_t word = (expected[i] + (uint64_t)more) & row_mask(fields[i].quant.bits);
        coder->surprise = 0;
        proto_row_scaled(coder, scale, &fields[i].quant, word, &words[i], NULL);
    }
}

static void code_live(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    if (component->is_source) {
        code_source(coder, c);
        return;
    }
    uint32_t first = component->field_first, count = component->field_count;
    int32_t scale = coder->plans[c].scale;
    uint64_t expected[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(coder, c, expected);
    for (uint32_t i = 0; i < count; i++) {
        const proto_row_field* field = &coder->layout->fields[first + i];
        proto_row_scaled(coder, scale, &field->quant, expected[i], &coder->row[first + i], NULL);
    }
}

static void code_rotation(row_coder* coder, uint32_t c) {
    uint32_t first = coder->layout->components[c].field_first;
    const proto_quant* quant = &coder->layout->fields[first + 1].quant;
    uint64_t* words = coder->row + first;
    uint64_t expected[PROTO_ROTATION_WORDS - 1];
    proto_rotation_guess guess = proto_rotation_expect(quant->q_max, coder->base + first,
                                                       coder->base2 ? coder->base2 + first : NULL,
                                                       coder->ticks, coder->ticks2);
    int64_t unit = coder->layout->fields[first].drive;
    proto_rotation_words(&guess, quant->q_max, unit, guess.largest, expected);
    int32_t scale = coder->base2 ? (int32_t)proto_row_line_scale(coder, guess.motion) : -1;
    uint64_t largest = words[0];
    bool is_other = coder->writer && largest != guess.largest;
    proto_row_scaled(coder, scale, quant, expected[0], &words[1], &is_other);
    if (coder->reader) words[0] = guess.largest;
    if (is_other) {
        largest = row_bits(coder, largest, 2);
        if (coder->reader) words[0] = largest;
        proto_rotation_words(&guess, quant->q_max, unit, (uint32_t)largest, expected);
        proto_row_scaled(coder, scale, quant, expected[0], &words[1], NULL);
    }
    proto_row_scaled(coder, scale, quant, expected[1], &words[2], NULL);
    proto_row_scaled(coder, scale, quant, expected[2], &words[3], NULL);
    if (coder->reader && !proto_rotation_is_canonical(quant->q_max, words))
        coder->reader->failed = true;
}

// How uncertain an integral is because its source left its line, in sixteenths of a step.
static uint64_t drive_doubt(const row_coder* coder, const proto_row_component* component) {
    uint32_t source = coder->layout->components[component->integral - 1].field_first;
    uint64_t way = 0, expected[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(coder, component->integral - 1, expected);
    for (uint32_t i = 0; i < component->field_count; i++) {
        const proto_row_field* field = &coder->layout->fields[component->field_first + i];
        uint64_t now = coder->row[source + i], then = expected[i];
        uint64_t change = now > then ? now - then : then - now;
        way += change * (uint64_t)field->drive;
    }
    return (way * (coder->ticks - 1) / (8u * component->field_count)) >> 16;
}

// Code `count` fields from `first` of an integral whose source stayed near its line. Each field
// mostly has its expected word or the next one.
static void code_driven_fields(row_coder* coder, uint32_t c, uint32_t first, uint32_t count) {
    const proto_row_component* component = &coder->layout->components[c];
    row_drive_guess guesses[ROW_DRIVE_FIELDS];
    uint32_t fields[ROW_DRIVE_FIELDS], symbol = 0, other = 1u << count;
    for (uint32_t i = 0; i < count; i++) { // by rising class, then number
        row_drive_guess guess = proto_row_drive(coder, c, first + i);
        uint32_t at = i;
        for (; at > 0 && guesses[at - 1].class_ > guess.class_; at--) {
            guesses[at] = guesses[at - 1];
            fields[at] = fields[at - 1];
        }
        guesses[at] = guess;
        fields[at] = component->field_first + first + i;
    }
    uint32_t row = row_drive_row(guesses, count);
    uint64_t nexts[ROW_DRIVE_FIELDS];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = guesses[i].word,
                 mask = row_mask(coder->layout->fields[fields[i]].quant.bits);
        nexts[i] = (guesses[i].is_down ? word - 1 : word + 1) & mask;
        if (!coder->writer) continue;
        uint64_t value = coder->row[fields[i]];
        if (value == nexts[i]) symbol |= 1u << i;
        if (value != nexts[i] && value != word) symbol |= other;
    }
    if (symbol & other) symbol = other;
    coder->is_first = false;
    symbol = row_symbol(coder, coder->tables->drive[row], other + 1, symbol);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = symbol >> i & 1 ? nexts[i] : guesses[i].word;
        if (symbol == other) {
            proto_row_scaled(coder, ROW_DRIVE_OTHER, &coder->layout->fields[fields[i]].quant,
                             guesses[i].word, &coder->row[fields[i]], NULL);
        } else if (coder->reader) {
            coder->row[fields[i]] = word;
        }
    }
}

static void code_driven(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    BASE_ASSERT(component->is_driven && coder->ticks > 0);
    int32_t scale = row_drive_scale(drive_doubt(coder, component));
    if (scale >= 0) {
        for (uint32_t i = 0; i < component->field_count; i++) {
            uint32_t f = component->field_first + i;
            proto_row_scaled(coder, scale, &coder->layout->fields[f].quant,
                             proto_row_drive(coder, c, i).word, &coder->row[f], NULL);
        }
        return;
    }
    bool is_vector = component->field_count <= ROW_DRIVE_FIELDS;
    for (uint32_t i = 0; i < component->field_count; i += is_vector ? component->field_count : 1u)
        code_driven_fields(coder, c, i, is_vector ? component->field_count : 1);
}

static uint64_t code_entity(row_coder* coder, uint64_t word) {
    if (row_bits(coder, word == 0, 1)) return 0;
    uint64_t index = word & row_mask(INDEX_BITS), generation = word >> INDEX_BITS;
    index = proto_row_golomb(coder, (uint32_t)index, INDEX_ORDER);
    if (coder->reader && index >> INDEX_BITS) coder->reader->failed = true;
    if (row_bits(coder, generation == 1, 1)) {
        generation = 1;
    } else {
        generation = row_bits(coder, generation, GENERATION_BITS);
    }
    return generation << INDEX_BITS | (index & row_mask(INDEX_BITS));
}

// Code a field that differs from its expected word.
static void code_field(row_coder* coder, int32_t scale, uint32_t f, uint64_t expected) {
    const proto_quant* quant = &coder->layout->fields[f].quant;
    uint64_t* word = &coder->row[f];
    bool is_float = quant->kind == PROTO_F32 || quant->kind == PROTO_F64;
    if (quant->bits == 1) {
        if (coder->reader) *word = proto_quant_canonical(quant, expected ^ 1);
    } else if (quant->kind == PROTO_ENTITY) {
        uint64_t value = code_entity(coder, coder->writer ? *word : 0);
        if (coder->reader) *word = value;
    } else {
        uint32_t row = !is_float         ? PROTO_NUMBER_INT
                       : quant->is_exact ? PROTO_NUMBER_FLOAT
                       : scale < 0       ? PROTO_NUMBER_WIDE
                                         : (uint32_t)scale;
        (void)proto_row_number(coder, coder->tables->number_other[row], quant, expected, word,
                               NULL);
    }
}

// Code a warm or quiet component that differs from its expected words.
static void code_fields(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    uint64_t expected[PROTO_ROW_FIELDS_MAX], mask[PROTO_ROW_FIELDS_MAX / 64] = {0};
    proto_row_expect(coder, c, expected);
    for (uint32_t i = 0; coder->writer && i < count; i++)
        mask[i / 64] |= (uint64_t)(coder->row[first + i] != expected[i]) << (i % 64);
    proto_row_field_masks(coder, mask, count);
    for (uint32_t i = 0; i < count; i++) {
        if (mask[i / 64] >> (i % 64) & 1) {
            code_field(coder, coder->plans[c].scale, first + i, expected[i]);
        } else if (coder->reader) {
            coder->row[first + i] = expected[i];
        }
    }
}

static void code_component(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    if (!coder->plans[c].is_coded) {
        if (coder->reader) proto_row_expect(coder, c, coder->row + component->field_first);
    } else if (component->shape == SHAPE_ROTATION) {
        code_rotation(coder, c);
    } else if (coder->plans[c].kind == ROW_LIVE) {
        code_live(coder, c);
    } else if (coder->plans[c].kind == ROW_DRIVEN) {
        code_driven(coder, c);
    } else {
        code_fields(coder, c);
    }
    coder->surprise /= 2;
}

// Set every member except the plans. Clearing the whole struct would cost as much as coding a small
// row.
void proto_row_begin(row_coder* coder, const proto_layout* layout, const proto_row_base* base) {
    BASE_ASSERT(layout->bits_max > 0); // finished
    BASE_ASSERT(base->base);
    coder->layout = layout;
    coder->tables = layout->tables;
    coder->base = base->base;
    coder->base2 = NULL;
    coder->writer = NULL;
    coder->reader = NULL;
    coder->counts = NULL;
    coder->pending = 0;
    coder->pending_bits = 0;
    coder->surprise = 0;
    coder->warm_count = 0;
    coder->ticks = base->ticks <= ROW_TICKS_MAX ? base->ticks : 0;
    coder->ticks2 = 0;
    coder->is_first = true;
    coder->has_base2 = coder->is_any_certain = false;
    if (coder->ticks == 0) return;
    coder->has_base2 = base->base2 && base->ticks2 >= 1 && base->ticks2 <= ROW_TICKS2_MAX;
    // Without a second row every component rests.
    coder->base2 = coder->has_base2 ? base->base2 : base->base;
    coder->ticks2 = coder->has_base2 ? base->ticks2 : 1;
}

static void code_row(row_coder* coder, uint32_t* component_bits) {
    BASE_ASSERT(!coder->writer != !coder->reader);
    proto_row_plan(coder);
    proto_row_head(coder);
    for (uint32_t i = 0; i < coder->layout->component_count; i++) {
        uint32_t c = coder->layout->order[i];
        uint64_t before = row_position(coder);
        code_component(coder, c);
        if (component_bits) component_bits[c] = (uint32_t)(row_position(coder) - before);
    }
    row_flush(coder);
}

void proto_row_write(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     proto_bit_writer* writer, uint32_t* component_bits) {
    row_coder coder;
    uint64_t before = writer->size_bits;
    proto_row_begin(&coder, layout, base);
    coder.row = (uint64_t*)(uintptr_t)row; // a writer does not change it
    coder.writer = writer;
    code_row(&coder, component_bits);
    BASE_ASSERT(coder.pending_bits == 0 && writer->size_bits - before <= layout->bits_max);
}

void proto_row_count(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     proto_bit_writer* writer, double* counts) {
    row_coder coder;
    proto_row_begin(&coder, layout, base);
    coder.row = (uint64_t*)(uintptr_t)row; // a writer does not change it
    coder.writer = writer;
    coder.counts = counts;
    code_row(&coder, NULL);
}

void proto_row_read(const proto_layout* layout, const proto_row_base* base, uint64_t* row,
                    proto_bit_reader* reader, uint32_t* component_bits) {
    BASE_ASSERT(row != base->base && row != base->base2);
    row_coder coder;
    proto_row_begin(&coder, layout, base);
    coder.row = row;
    coder.reader = reader;
    memcpy(row, base->base, layout->field_count * sizeof *row);
    code_row(&coder, component_bits);
    BASE_ASSERT(reader->offset_bits <= reader->size_bits);
}

void proto_row_expected(const proto_layout* layout, const proto_row_base* base, uint64_t* row) {
    BASE_ASSERT(row != base->base && row != base->base2);
    row_coder coder;
    proto_row_begin(&coder, layout, base);
    coder.row = row;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        uint32_t c = layout->order[i];
        proto_row_expect(&coder, c, row + layout->components[c].field_first);
    }
}

void proto_row_write_absent(proto_bit_writer* writer) {
    proto_bits_write(writer, UINT64_C(1) << ROW_RESERVED_BITS, ROW_RESERVED_BITS + 1);
}

bool proto_row_read_absent(proto_bit_reader* reader) {
    if (reader->failed ||
        (row_peek(reader) & row_mask(ROW_RESERVED_BITS + 1)) != 1u << ROW_RESERVED_BITS)
        return false;
    row_skip(reader, ROW_RESERVED_BITS + 1);
    return true;
}
