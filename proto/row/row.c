// SPDX-License-Identifier: MIT
// One row coded against one or two older rows (ROWS.md).
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
//     quiet   rests: a difference is an exception; the code 00000 begins the exceptions, and
//             every first symbol leaves it free
//
// Invariants: reader and writer take the same decisions from the same bases and bits; a reader
// accepts any bits, and the words that it returns are canonical or the reader has failed.
//
// Start reading at code_row. row_plan.c makes the plans, rotation.c extrapolates rotations.
#include "row/row_coder.h"

// ---- row number ----

// One number of a row: the difference of a word from its expected word (ROWS.md, "Numbers"). A
// symbol gives the size of the difference, small ones with their sign; the low bits of larger ones
// follow. This is the innermost loop of coding, so it has few assertions.

static void put_code(row_coder* coder, const row_code* code) {
    (void)row_bits(coder, code->bits[0], code->counts[0]);
    (void)row_bits(coder, code->bits[1], code->counts[1]);
}

static uint64_t write_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                             uint64_t expected, uint64_t word) {
    row_code code = {0};
    uint64_t size = row_code_number(&code, codes, row_difference(word, expected, quant->bits), word,
                                    quant->bits);
    put_code(coder, &code);
    return size;
}

uint32_t proto_row_peek_end(const proto_bit_reader* reader) {
    const size_t byte = (size_t)(reader->offset_bits >> 3);
    const size_t bytes = (size_t)(reader->size_bits + 7) / 8;
    uint32_t word = 0;
    for (uint32_t i = 0; i < 3 && byte + i < bytes; i++)
        word |= (uint32_t)reader->data[byte + i] << (8 * i);
    return word >> (reader->offset_bits & 7);
}

// As row_symbol reads it; short codes, which are the likely ones, by one look-up.
static uint32_t read_symbol(row_coder* coder, const uint16_t* codes) {
    const proto_tables* tables = coder->tables;
    uint32_t row = (uint32_t)(codes - tables->number_plain[0]) / PROTO_NUMBER_SYMBOLS;
    uint32_t bits = row_peek(coder->reader) & ((1u << PROTO_QUICK_BITS) - 1);
    uint32_t quick = tables->quick[row][bits];
    if (quick == 0) return row_symbol(coder, codes, PROTO_NUMBER_SYMBOLS, 0);
    row_skip(coder->reader, codes[quick - 1] & 15);
    return quick - 1;
}

static uint64_t read_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                            uint64_t expected, uint64_t* word, bool* is_other) {
    uint32_t symbol = read_symbol(coder, codes);
    if (is_other) *is_other = symbol == PROTO_NUMBER_OTHER;
    if (symbol == PROTO_NUMBER_OTHER) {
        if (!is_other) coder->reader->failed = true;
        return 0;
    }
    if (symbol == PROTO_NUMBER_WHOLE) {
        *word = proto_quant_canonical(quant, proto_bits_read(coder->reader, quant->bits));
        return row_magnitude(row_difference(*word, expected, quant->bits));
    }
    bool is_negative = symbol % 2 == 0;
    uint64_t size = (symbol + 1) / 2;
    if (symbol >= ROW_SIGNED_SYMBOLS) {
        uint32_t low = row_number_low_bits(symbol);
        uint64_t rest = proto_bits_read(coder->reader, low + 1);
        size = symbol < ROW_SMALL_SYMBOLS ? symbol - 3
                                          : (UINT64_C(2) + (symbol - ROW_SMALL_SYMBOLS) % 2) << low;
        size += rest >> 1;
        is_negative = rest & 1;
    }
    uint64_t value = is_negative ? expected - size : expected + size;
    *word = proto_quant_canonical(quant, value & row_mask(quant->bits));
    return size;
}

// Code the difference of `word` from `expected` with `codes`, one row of a table of numbers.
// `is_other` (NULL: not allowed) is set when the symbol is PROTO_NUMBER_OTHER; the word has no
// other bits then. @return the size of the difference.
static uint64_t code_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                            uint64_t expected, uint64_t* word, bool* is_other) {
    if (!coder->writer) return read_number(coder, codes, quant, expected, word, is_other);
    if (!is_other || !*is_other) return write_number(coder, codes, quant, expected, *word);
    row_put_code(coder, &codes[PROTO_NUMBER_OTHER]);
    return 0;
}

// Code a scaled number. Its size corrects the expected size of the next ones. `scale` < 0: the size
// is unknown, and nothing is corrected. `is_other` as above.
static void code_scaled(row_coder* coder, int32_t scale, const proto_quant* quant,
                        uint64_t expected, uint64_t* word, bool* is_other) {
    int32_t row = scale < 0 ? (int32_t)PROTO_NUMBER_WIDE : row_number_row(scale, coder->surprise);
    const uint16_t* codes = coder->tables->number_plain[row];
    uint64_t size = code_number(coder, codes, quant, expected, word, is_other);
    if (scale < 0 || (is_other && *is_other)) return;
    if (size > UINT32_MAX) size = UINT32_MAX;
    coder->surprise += row_number_surprise(size, (uint32_t)row);
}

// ---- row head ----

// The head of a row: which components are coded (ROWS.md, "Head").
//
// Certain facts take no bits. Quiet components that differ are an exception; its code 00000 is one
// that a first symbol leaves free. Warm components share a symbol. A *bare* row has only certain
// components. It begins with a number, which may begin with 00000: then ROW_BARE is in front.

enum { MASK_GROUP = 4, MASK_MEMBERS_MAX = 64 };

// Code a mask of `count` members. `is_first`: it is the first symbol of the row and may be 0;
// otherwise it is not 0.
static uint64_t code_mask(row_coder* coder, uint64_t mask, uint32_t count, bool is_first) {
    if (count <= MASK_GROUP) {
        if (is_first) {
            const uint16_t* codes = coder->tables->mask_first[count > 0 ? count - 1 : 0];
            return row_symbol(coder, codes, 1u << (count > 0 ? count : 1), (uint32_t)mask);
        }
        if (count == 1) return 1;
        return row_symbol(coder, coder->tables->mask_other[count - 2], 1u << count, (uint32_t)mask);
    }
    BASE_ASSERT(count <= MASK_MEMBERS_MAX);
    uint32_t groups = (count + MASK_GROUP - 1) / MASK_GROUP;
    uint64_t set = 0, result = 0;
    for (uint32_t g = 0; g < groups; g++)
        set |= (uint64_t)((mask >> (g * MASK_GROUP) & 15) != 0) << g;
    set = code_mask(coder, set, groups, is_first);
    for (uint32_t g = 0; g < groups; g++) {
        if (!(set >> g & 1)) continue;
        uint32_t first = g * MASK_GROUP;
        uint32_t size = count - first < MASK_GROUP ? count - first : MASK_GROUP;
        result |= code_mask(coder, mask >> first & 15, size, false) << first;
    }
    return result;
}

// Above 64 fields there is a mask for each 64, with a bit in front: the mask is not 0.
// Code which of `count` fields differ: `masks` has a bit per field, and at least one is set.
static void code_field_masks(row_coder* coder, uint64_t* masks, uint32_t count) {
    if (count > 1 && count <= MASK_GROUP) {
        const uint16_t* codes = coder->tables->field[count - 2];
        masks[0] = row_symbol(coder, codes, 1u << count, (uint32_t)masks[0]);
        return;
    }
    if (count <= 64) {
        masks[0] = code_mask(coder, masks[0], count, false);
        return;
    }
    for (uint32_t i = 0; i < count; i += 64) {
        bool is_set = row_bits(coder, masks[i / 64] != 0, 1);
        masks[i / 64] =
            is_set ? code_mask(coder, masks[i / 64], count - i < 64 ? count - i : 64, false) : 0;
    }
}

// A quiet component whose source is coded is coded with it.
static bool is_led(const row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    return component->is_driven && coder->ticks > 0 &&
           coder->plans[component->integral - 1].is_coded;
}

// Run after the head: only then a reader knows which sources are coded.
static void follow_sources(row_coder* coder) {
    for (uint32_t i = coder->layout->component_count; i > 0; i--) {
        uint32_t c = coder->layout->order[i - 1];
        if (!coder->layout->components[c].is_driven) return; // those with a source are the last
        if (coder->plans[c].kind != ROW_QUIET || !is_led(coder, c)) continue;
        coder->plans[c].kind = ROW_DRIVEN;
        coder->plans[c].is_coded = true;
    }
}

static void set_coded(row_coder* coder, uint32_t c, bool is_coded) {
    coder->plans[c].is_coded = is_coded;
    if (is_coded) coder->active |= UINT64_C(1) << coder->layout->plan.parts[c].place;
}

// Code the mask of the quiet components that are not empty. `is_first`: it is the whole head.
static void code_quiet(row_coder* coder, bool is_first) {
    uint8_t members[PROTO_ROW_COMPONENTS_MAX];
    uint32_t count = 0;
    uint64_t mask = 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != ROW_QUIET) continue;
        if (coder->layout->components[c].shape == SHAPE_EMPTY) continue;
        mask |= (uint64_t)coder->plans[c].is_coded << count;
        members[count++] = (uint8_t)c;
    }
    if (count == 0 && !is_first) {
        BASE_ASSERT(coder->reader); // a writer has no exception then
        coder->reader->failed = true;
        return;
    }
    mask = code_mask(coder, mask, count, is_first);
    if (coder->reader && count == 0 && mask != 0) coder->reader->failed = true;
    for (uint32_t i = 0; i < count; i++)
        set_coded(coder, members[i], mask >> i & 1);
}

static bool is_quiet_coded(const row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++)
        if (coder->plans[c].kind == ROW_QUIET && coder->plans[c].is_coded && !is_led(coder, c))
            return true;
    return false;
}

// Code whether there is an exception.
static bool code_exception(row_coder* coder) {
    uint32_t bits = coder->warm_count == 0 ? ROW_BARE_BITS : ROW_RESERVED_BITS + 1;
    if (coder->writer) {
        bool is_exception = is_quiet_coded(coder);
        if (is_exception) row_put(coder, 0, bits);
        return is_exception;
    }
    if ((row_peek(coder->reader) & row_mask(ROW_RESERVED_BITS)) != 0) return false;
    uint64_t code = proto_bits_read(coder->reader, bits);
    if (code != 0 && code != ROW_BARE) coder->reader->failed = true;
    return code == 0;
}

static void code_head(row_coder* coder) {
    if (coder->warm_count == 0 && !coder->is_any_certain) {
        code_quiet(coder, true);
        return;
    }
    if (code_exception(coder)) code_quiet(coder, false);
    uint32_t count = coder->warm_count, symbol = 0, classes[ROW_WARM_MAX];
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = coder->plans[coder->warm[i]].class_;
        symbol |= (uint32_t)coder->plans[coder->warm[i]].is_coded << i;
    }
    if (count > 0) {
        const uint16_t* codes = coder->tables->head[row_head_row(classes, count)];
        symbol = row_symbol(coder, codes, 1u << count, symbol);
    }
    for (uint32_t i = 0; i < count; i++)
        set_coded(coder, coder->warm[i], symbol >> i & 1);
    follow_sources(coder);
}

// ---- row ----

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
    code_scaled(coder, coder->plans[c].scale, &fields[most].quant, expected[most], &words[most],
                NULL);
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
        code_scaled(coder, scale, &fields[i].quant, word, &words[i], NULL);
    }
}

// Read a float with all of its bits.
static uint64_t read_float(row_coder* coder, const proto_quant* quant) {
    const row_float of = row_float_of(quant);
    const uint64_t exponent = proto_bits_read(coder->reader, ROW_EXPONENT_BITS);
    if (exponent == ROW_EXPONENTS)
        return proto_quant_canonical(quant, proto_bits_read(coder->reader, quant->bits));
    const uint64_t rest = proto_bits_read(coder->reader, of.fraction_bits + 1);
    return rest >> 1 | (exponent + of.least) << of.fraction_bits | (rest & 1 ? of.sign : 0);
}

static uint64_t read_steps(row_coder* coder, const uint16_t* codes, const row_elastic_word* own,
                           uint64_t* word) {
    static const proto_quant as_steps = {.kind = PROTO_U32,
                                         .bits = ROW_STEPS_BITS,
                                         .is_exact = true,
                                         .q_max = (1u << ROW_STEPS_BITS) - 1};
    bool is_other;
    uint64_t coded = 0;
    const uint64_t size =
        read_number(coder, codes, &as_steps, (uint64_t)own->steps & row_mask(ROW_STEPS_BITS),
                    &coded, &is_other);
    if (is_other) {
        *word = read_float(coder, own->quant);
        return ROW_ELASTIC_NO_SIZE;
    }
    const int64_t steps = row_difference(coded, 0, ROW_STEPS_BITS);
    if (steps <= -ROW_STEPS_LIMIT || steps >= ROW_STEPS_LIMIT) coder->reader->failed = true;
    *word = proto_elastic_word(own->quant, steps, own->grid);
    return size;
}

// As proto_elastic_write writes it.
static uint64_t read_elastic(row_coder* coder, const uint16_t* codes, const row_elastic_word* own,
                             uint64_t* word) {
    if (own->is_on_grid) return read_steps(coder, codes, own, word);
    const proto_quant* quant = own->quant;
    const uint16_t* any = coder->tables->number_plain[PROTO_NUMBER_ANY];
    uint64_t expected = own->expected;
    uint32_t symbol = read_symbol(coder, any);
    if (symbol == PROTO_NUMBER_OTHER) {
        (void)read_steps(coder, coder->tables->number_plain[PROTO_NUMBER_STEPS], own, word);
        return ROW_ELASTIC_NO_SIZE;
    }
    if (symbol == ROW_ANY_SIGN) {
        expected ^= UINT64_C(1) << (quant->bits - 1);
        symbol = read_symbol(coder, any);
    }
    if (symbol >= ROW_ANY_SIZES) coder->reader->failed = true;
    *word = proto_quant_canonical(quant, expected);
    if (symbol == 0 || symbol >= ROW_ANY_SIZES) return ROW_ELASTIC_NO_SIZE;
    const bool is_negative = proto_bits_read(coder->reader, 1);
    uint64_t size = proto_bits_read(coder->reader, row_any_low_bits(quant, symbol));
    if (row_any_bits_per(quant) == 1) size |= UINT64_C(1) << (symbol - 1);
    *word = (is_negative ? expected - size : expected + size) & row_mask(quant->bits);
    *word = proto_quant_canonical(quant, *word);
    return ROW_ELASTIC_NO_SIZE;
}

// Code the word of an elastic field. `tables` are those of scaled numbers; `scale` < 0: none.
// @return as proto_elastic_write.
static uint64_t code_elastic(row_coder* coder, const proto_number_codes* tables, int32_t scale,
                             uint32_t grid, uint32_t f, uint64_t expected) {
    const row_elastic_word own =
        proto_elastic_word_of(&coder->layout->fields[f].quant, grid, coder->base[f], expected);
    const uint16_t* codes =
        scale < 0 ? coder->tables->number_plain[PROTO_NUMBER_STEPS] : tables[scale];
    if (coder->reader) return read_elastic(coder, codes, &own, &coder->row[f]);
    row_code code = {0};
    const uint64_t size = proto_elastic_write(&code, coder->tables, codes, &own, coder->row[f]);
    put_code(coder, &code);
    return size;
}

static void code_live_elastic(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    const row_elastic own = row_elastic_of(coder, c);
    const uint32_t grid = proto_elastic_grid(&own);
    uint64_t expected[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(coder, c, expected);
    for (uint32_t i = 0; i < component->field_count; i++) {
        const int32_t row = row_number_row(coder->plans[c].scale, coder->surprise);
        const uint64_t size = code_elastic(coder, coder->tables->number_plain, row, grid,
                                           component->field_first + i, expected[i]);
        if (size != ROW_ELASTIC_NO_SIZE)
            coder->surprise += row_number_surprise(size, (uint32_t)row);
    }
}

static void code_live(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    if (component->shape == SHAPE_ELASTIC) {
        code_live_elastic(coder, c);
        return;
    }
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
        code_scaled(coder, scale, &field->quant, expected[i], &coder->row[first + i], NULL);
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
    int32_t scale =
        coder->base2 ? (int32_t)row_line_scale(coder->ticks, coder->ticks2, guess.motion) : -1;
    uint64_t largest = words[0];
    bool is_other = coder->writer && largest != guess.largest;
    code_scaled(coder, scale, quant, expected[0], &words[1], &is_other);
    if (coder->reader) words[0] = guess.largest;
    if (is_other) {
        largest = row_bits(coder, largest, 2);
        if (coder->reader) words[0] = largest;
        proto_rotation_words(&guess, quant->q_max, unit, (uint32_t)largest, expected);
        code_scaled(coder, scale, quant, expected[0], &words[1], NULL);
    }
    code_scaled(coder, scale, quant, expected[1], &words[2], NULL);
    code_scaled(coder, scale, quant, expected[2], &words[3], NULL);
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

// Code `count` fields from f of an integral whose source stayed near its line. Each field mostly
// has its expected word or the next one. @return false: one has another word, and `has_other` is
// false: no more is read.
static bool code_near(row_coder* coder, uint32_t f, uint32_t count, const row_drive_guess* guesses,
                      bool has_other) {
    const proto_row_field* fields = &coder->layout->fields[f];
    uint32_t keys[ROW_DRIVE_FIELDS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t symbol = 0, other = 1u << count;
    uint64_t nexts[ROW_DRIVE_FIELDS], *row = coder->row + f;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t word = guesses[i].word;
        keys[i] = guesses[i].class_ << 2 | i;
        nexts[i] = (guesses[i].is_down ? word - 1 : word + 1) & row_mask(fields[i].quant.bits);
    }
    row_drive_sort(keys);
    for (uint32_t i = 0; coder->writer && i < count; i++) {
        const uint32_t at = keys[i] & 3;
        if (row[at] == nexts[at]) symbol |= 1u << i;
        if (row[at] != nexts[at] && row[at] != guesses[at].word) symbol |= other;
    }
    if (symbol & other) symbol = other;
    const uint16_t* codes = coder->tables->drive[row_drive_row(keys, count)];
    symbol = row_symbol(coder, codes, other + 1, symbol);
    if (symbol == other && !has_other) return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = keys[i] & 3;
        if (symbol == other)
            code_scaled(coder, ROW_DRIVE_OTHER, &fields[at].quant, guesses[at].word, &row[at],
                        NULL);
        else if (coder->reader)
            row[at] = symbol >> i & 1 ? nexts[at] : guesses[at].word;
    }
    return true;
}

static void code_driven_fields(row_coder* coder, uint32_t c, uint32_t first, uint32_t count) {
    row_drive_guess guesses[ROW_DRIVE_FIELDS];
    for (uint32_t i = 0; i < count; i++)
        guesses[i] = row_drive_of(coder, c, first + i);
    (void)code_near(coder, coder->layout->components[c].field_first + first, count, guesses, true);
}

static void code_driven(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    BASE_ASSERT(component->is_driven && coder->ticks > 0);
    int32_t scale = coder->ticks == 1 ? -1 : row_drive_scale(drive_doubt(coder, component));
    if (scale >= 0) {
        for (uint32_t i = 0; i < component->field_count; i++) {
            uint32_t f = component->field_first + i;
            code_scaled(coder, scale, &coder->layout->fields[f].quant,
                        row_drive_of(coder, c, i).word, &coder->row[f], NULL);
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
    row_flush(coder);
    if (coder->writer)
        proto_bits_write_golomb(coder->writer, (uint32_t)index, INDEX_ORDER);
    else
        index = proto_bits_read_golomb(coder->reader, INDEX_ORDER);
    if (coder->reader && index >> INDEX_BITS) coder->reader->failed = true;
    if (row_bits(coder, generation == 1, 1)) {
        generation = 1;
    } else {
        generation = row_bits(coder, generation, GENERATION_BITS);
    }
    return generation << INDEX_BITS | (index & row_mask(INDEX_BITS));
}

// Code a field that differs from its expected word.
static void code_field(row_coder* coder, int32_t scale, uint32_t grid, uint32_t f,
                       uint64_t expected) {
    const proto_quant* quant = &coder->layout->fields[f].quant;
    uint64_t* word = &coder->row[f];
    bool is_float = quant->kind == PROTO_F32 || quant->kind == PROTO_F64;
    if (quant->bits == 1) {
        if (coder->reader) *word = proto_quant_canonical(quant, expected ^ 1);
    } else if (quant->kind == PROTO_ENTITY) {
        uint64_t value = code_entity(coder, coder->writer ? *word : 0);
        if (coder->reader) *word = value;
    } else if (quant->is_elastic) {
        (void)code_elastic(coder, coder->tables->number_other, scale, grid, f, expected);
    } else {
        uint32_t row = !is_float         ? PROTO_NUMBER_INT
                       : quant->is_exact ? PROTO_NUMBER_FLOAT
                       : scale < 0       ? PROTO_NUMBER_WIDE
                                         : (uint32_t)scale;
        (void)code_number(coder, coder->tables->number_other[row], quant, expected, word, NULL);
    }
}

// Code a warm or quiet component that differs from its expected words.
static void code_fields(row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    uint64_t expected[PROTO_ROW_FIELDS_MAX], mask[PROTO_ROW_FIELDS_MAX / 64] = {0};
    proto_row_expect(coder, c, expected);
    const row_elastic own = row_elastic_of(coder, c);
    const uint32_t grid = component->has_elastic ? proto_elastic_grid(&own) : 0;
    for (uint32_t i = 0; coder->writer && i < count; i++)
        mask[i / 64] |= (uint64_t)(coder->row[first + i] != expected[i]) << (i % 64);
    code_field_masks(coder, mask, count);
    for (uint32_t i = 0; i < count; i++) {
        if (mask[i / 64] >> (i % 64) & 1) {
            code_field(coder, coder->plans[c].scale, grid, first + i, expected[i]);
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
}

// Set every member except the plans. Clearing the whole struct would cost as much as coding a small
// row.
void proto_row_begin(row_coder* coder, const proto_layout* layout, const proto_row_base* base) {
    BASE_ASSERT(layout->bits_max > 0); // finished
    BASE_ASSERT(base->base);
    coder->layout = layout;
    coder->tables = proto_tables_builtin();
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
    coder->has_base2 = coder->is_any_certain = false;
    if (coder->ticks == 0) return;
    coder->has_base2 = base->base2 && base->ticks2 >= 1 && base->ticks2 <= ROW_TICKS2_MAX;
    // Without a second row every component rests.
    coder->base2 = coder->has_base2 ? base->base2 : base->base;
    coder->ticks2 = coder->has_base2 ? base->ticks2 : 1;
}

// Read an integral whose source did not change. @return as code_near.
static bool read_driven(row_coder* coder, const proto_layout_part* part) {
    const proto_layout_plan* plan = &coder->layout->plan;
    const uint64_t* source = coder->base + plan->parts[part->source].first;
    row_drive_guess guesses[ROW_DRIVE_FIELDS];
    bool is_still = true;
    for (uint32_t i = 0; i < part->count; i++) {
        const uint32_t f = part->first + i;
        const proto_row_field* field = &coder->layout->fields[f];
        const row_drive_words words = {
            .ticks = coder->ticks,
            .ticks2 = coder->ticks2,
            .has_base2 = true,
            .pace = row_difference(coder->base[f], coder->base2[f], field->quant.bits),
            .base = coder->base[f],
            .source_row = source[i],
            .source_base = source[i],
            .source_base2 = source[i]};
        guesses[i] = row_drive_guess_of(field, &words);
        coder->row[f] = guesses[i].word;
        is_still =
            is_still && source[i] >= plan->still[f].first && source[i] <= plan->still[f].last;
    }
    return is_still || code_near(coder, part->first, part->count, guesses, false);
}

// Most rows of what has a source: nothing else moved, and nothing else is coded by the head.
// Then few of the steps below are needed. @return false: it is another row, and nothing was read.
static bool read_going_on(row_coder* coder, uint64_t moved, uint32_t* component_bits) {
    const proto_layout_plan* plan = &coder->layout->plan;
    if (!coder->has_base2 || !plan->driven_words || moved & ~plan->driven_words) return false;
    const uint64_t first = coder->reader->offset_bits;
    const uint32_t bits = row_peek(coder->reader);
    const uint32_t head = plan->rest_heads[coder->ticks > ROW_TICKS_SHORT];
    const uint32_t code = coder->tables->head[head][0]; // no component is coded
    if ((bits & row_mask(ROW_RESERVED_BITS)) == 0 || (bits & row_mask(code & 15)) != code >> 4)
        return false;
    row_skip(coder->reader, code & 15);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const proto_layout_part* part = &plan->parts[plan->steps[i]];
        if (!part->is_driven) continue;
        const uint64_t before = coder->reader->offset_bits;
        if (part->count > ROW_DRIVE_FIELDS || !read_driven(coder, part)) {
            coder->reader->offset_bits = first;
            return false;
        }
        if (component_bits)
            component_bits[plan->steps[i]] = (uint32_t)(coder->reader->offset_bits - before);
    }
    return true;
}

static void code_row(row_coder* coder, uint32_t* component_bits) {
    BASE_ASSERT(!coder->writer != !coder->reader);
    const uint32_t count = coder->layout->component_count;
    if (component_bits) memset(component_bits, 0, count * sizeof *component_bits);
    if (coder->reader && coder->layout->plan.is_made) {
        const uint64_t moved = proto_row_moved(coder);
        if (read_going_on(coder, moved, component_bits)) return;
        proto_row_plan_reader(coder, moved);
    } else {
        proto_row_plan(coder);
        coder->active = count > 0 ? row_mask(count) : 0;
    }
    code_head(coder);
    uint32_t next = 0; // after each component the next number surprises half as much
    for (uint64_t left = coder->active; left; left &= left - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(left), c = coder->layout->order[place];
        for (; next < place && coder->surprise != 0; next++)
            coder->surprise /= 2;
        next = place;
        const uint64_t before = component_bits ? row_position(coder) : 0;
        code_component(coder, c);
        if (component_bits) component_bits[c] = (uint32_t)(row_position(coder) - before);
    }
    row_flush(coder);
}

// Check whether a bare row begins as if it had an exception, although it has none.
static bool is_bare_hidden(const row_coder* coder, uint64_t before) {
    const proto_bit_writer* writer = coder->writer;
    if (coder->warm_count > 0 || !coder->is_any_certain || writer->failed) return false;
    proto_bit_reader written = {
        .data = writer->data, .size_bits = writer->size_bits, .offset_bits = before};
    return proto_bits_read(&written, ROW_RESERVED_BITS) == 0 && !written.failed &&
           !is_quiet_coded(coder);
}

void proto_row_write(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     proto_bit_writer* writer, uint32_t* component_bits) {
    row_coder coder;
    uint64_t before = writer->size_bits;
    proto_row_begin(&coder, layout, base);
    coder.row = (uint64_t*)(uintptr_t)row; // a writer does not change it
    coder.writer = writer;
    code_row(&coder, component_bits);
    if (is_bare_hidden(&coder, before)) {
        proto_bit_writer_rewind(writer, before);
        proto_row_begin(&coder, layout, base);
        coder.row = (uint64_t*)(uintptr_t)row;
        coder.writer = writer;
        row_put(&coder, ROW_BARE, ROW_BARE_BITS);
        code_row(&coder, component_bits);
    }
    BASE_ASSERT(coder.pending_bits == 0 && writer->size_bits - before <= layout->bits_max);
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
