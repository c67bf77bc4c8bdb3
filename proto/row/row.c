// SPDX-License-Identifier: MIT
// One row coded against one or two others (WIRE.md, "Row code").
//
// Every component is foreseen: the straight line through both bases goes on, the integral of another component
// follows that component, a rotation goes on turning. What is left, mostly a few steps, is coded with a prefix code
// chosen by how large it is expected to be: the further the line reaches and the faster it moves, the larger; and
// what turned out so far in this row corrects the expectation ("surprise").
//
// A bit that says "as foreseen" costs a whole bit where the answer is known. So components fall into kinds by what the
// bases tell, and only the doubtful ones are asked about, in one symbol for up to three of them:
//
//     live    moves so much that it is hardly ever exactly as foreseen: always coded
//     driven  integral of a component that is not at rest: always coded, after that one
//     warm    may or may not be as foreseen: asked about in the head
//     quiet   rests: that any of them differs is an exception, the code 00000 that every first symbol leaves free
//
// The same functions write and read: what both must agree on is written once. Reading is total; words from it are
// canonical or the reader has failed.
#include "row/rotation.h"
#include "row/row_coder.h"

enum {
    DRIVE_FIELDS = 3,
    SCALE_OTHER = 1,    // of a driven component that did not do what was foreseen
    SIXTEENTHS_MIN = 5, // what a source's difference must move its integral by to make it uncertain
    SIXTEENTHS_LOG = 8, // row_log of the sixteenths that scale 0 stands for
    SOURCE_LESS = 4,    // of scale, when the first number told the way
    INDEX_BITS = 22,
    GENERATION_BITS = 10,
    INDEX_ORDER = 7,
};

// What a source does besides its line, it does along its line: it stops, or turns back. So the field that moved most
// is coded first, and the others are expected to have gone as much of their way.
static void code_source(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    const proto_row_field* fields = &coder->layout->fields[component->field_first];
    const uint64_t* base = coder->base + component->field_first;
    const uint64_t* base2 = coder->base2 + component->field_first;
    uint64_t* words = coder->row + component->field_first;
    uint64_t expected[PROTO_ROW_FIELDS_MAX];
    proto_row_foresee(coder, c, expected);
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
    int32_t scale = coder->plans[c].scale - SOURCE_LESS;
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
    proto_row_foresee(coder, c, expected);
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

// By how many sixteenths of a step, about, the integral is uncertain because its source did not stay.
static uint64_t drive_doubt(const row_coder* coder, const proto_row_component* component) {
    uint32_t source = coder->layout->components[component->integral - 1].field_first;
    uint64_t way = 0, expected[PROTO_ROW_FIELDS_MAX];
    proto_row_foresee(coder, component->integral - 1, expected);
    for (uint32_t i = 0; i < component->field_count; i++) {
        const proto_row_field* field = &coder->layout->fields[component->field_first + i];
        uint64_t now = coder->row[source + i], then = expected[i];
        uint64_t change = now > then ? now - then : then - now;
        way += change * (uint64_t)field->drive;
    }
    return (way * (coder->ticks - 1) / (8u * component->field_count)) >> 16;
}

// Fields `first`.. of an integral whose source stayed: each is what was foreseen or the next one.
static void code_driven_fields(row_coder* coder, uint32_t c, uint32_t first, uint32_t count) {
    static const uint8_t pairs[4] = {0, 4, 7, 9}, triples[4] = {0, 10, 16, 19};
    const proto_row_component* component = &coder->layout->components[c];
    row_drive_guess guesses[DRIVE_FIELDS];
    uint32_t fields[DRIVE_FIELDS], symbol = 0, other = 1u << count;
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
    uint32_t row = guesses[0].class_;
    if (count == 2) row = 4u + pairs[row] + guesses[1].class_ - row;
    if (count == 3)
        row = 14u + triples[row] + pairs[guesses[1].class_] - pairs[row] + guesses[2].class_ -
              guesses[1].class_;
    uint64_t nexts[DRIVE_FIELDS];
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
    bool is_first = coder->is_first;
    coder->is_first = false;
    symbol = row_symbol(
        coder, is_first ? coder->tables->drive_first[row] : coder->tables->drive_plain[row],
        other + 1, symbol);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = symbol >> i & 1 ? nexts[i] : guesses[i].word;
        if (symbol == other) {
            proto_row_scaled(coder, SCALE_OTHER, &coder->layout->fields[fields[i]].quant,
                             guesses[i].word, &coder->row[fields[i]], NULL);
        } else if (coder->reader) {
            coder->row[fields[i]] = word;
        }
    }
}

static void code_driven(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    uint64_t sixteenths = drive_doubt(coder, component);
    if (sixteenths >= SIXTEENTHS_MIN) {
        uint32_t scale = row_log(sixteenths);
        scale = scale > SIXTEENTHS_LOG ? scale - SIXTEENTHS_LOG : 0;
        if (scale >= PROTO_NUMBER_SCALES) scale = PROTO_NUMBER_SCALES - 1;
        for (uint32_t i = 0; i < component->field_count; i++) {
            uint32_t f = component->field_first + i;
            proto_row_scaled(coder, (int32_t)scale, &coder->layout->fields[f].quant,
                             proto_row_drive(coder, c, i).word, &coder->row[f], NULL);
        }
        return;
    }
    bool is_vector = component->field_count <= DRIVE_FIELDS;
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

// A field that is not what was foreseen.
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

// A warm or quiet component that is not as foreseen.
static void code_fields(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    uint64_t expected[PROTO_ROW_FIELDS_MAX], mask[PROTO_ROW_FIELDS_MAX / 64] = {0};
    proto_row_foresee(coder, c, expected);
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
        if (coder->reader) proto_row_foresee(coder, c, coder->row + component->field_first);
    } else if (coder->plans[c].kind == ROW_LEAD) {
        return; // with the head
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

// Every member but the plans, one by one: clearing the struct would cost as much as coding a small row.
static void begin(row_coder* coder, const proto_layout* layout, const proto_row_base* base) {
    coder->layout = layout;
    coder->tables = layout->tables ? layout->tables : proto_tables_builtin();
    coder->base = base->base;
    coder->base2 = NULL;
    coder->writer = NULL;
    coder->reader = NULL;
    coder->pending = 0;
    coder->pending_bits = 0;
    coder->surprise = 0;
    coder->warm_count = 0;
    coder->ticks = base->ticks <= ROW_TICKS_MAX ? base->ticks : 0;
    coder->ticks2 = 0;
    coder->is_first = true;
    coder->has_base2 = coder->is_any_certain = coder->is_moving = coder->has_lead = false;
    if (coder->ticks == 0) return;
    coder->has_base2 = base->base2 && base->ticks2 >= 1 && base->ticks2 <= ROW_TICKS2_MAX;
    // What has no second row rests.
    coder->base2 = coder->has_base2 ? base->base2 : base->base;
    coder->ticks2 = coder->has_base2 ? base->ticks2 : 1;
}

static void code_row(row_coder* coder, uint32_t* component_bits) {
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
                     bool is_listed, proto_bit_writer* writer, uint32_t* component_bits) {
    (void)is_listed; // every first symbol leaves the code of "absent" free
    row_coder coder;
    begin(&coder, layout, base);
    coder.row = (uint64_t*)(uintptr_t)row; // not written to: there is no reader
    coder.writer = writer;
    code_row(&coder, component_bits);
}

void proto_row_read(const proto_layout* layout, const proto_row_base* base, bool is_listed,
                    uint64_t* row, proto_bit_reader* reader, uint32_t* component_bits) {
    (void)is_listed;
    row_coder coder;
    begin(&coder, layout, base);
    coder.row = row;
    coder.reader = reader;
    memcpy(row, base->base, layout->field_count * sizeof *row);
    code_row(&coder, component_bits);
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
