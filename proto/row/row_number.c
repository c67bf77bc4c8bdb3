// SPDX-License-Identifier: MIT
// One number of a row: the difference of a word from its expected word (WIRE.md, "Numbers"). A
// symbol gives the size of the difference, small ones with their sign; the low bits of larger ones
// follow. This is the innermost loop of coding, so it has few assertions.
#include "row/row_coder.h"

// The codes of a scaled number. The first symbol of a row leaves 00000 free.
static const uint16_t* number_codes(row_coder* coder, uint32_t row) {
    bool is_first = coder->is_first;
    coder->is_first = false;
    return is_first ? coder->tables->number_first[row] : coder->tables->number_plain[row];
}

static uint64_t write_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                             uint64_t expected, uint64_t word) {
    int64_t difference = row_difference(word, expected, quant->bits);
    uint64_t size = row_magnitude(difference);
    uint32_t symbol = row_number_symbol(difference), code = codes[symbol];
    if (symbol < ROW_SIGNED_SYMBOLS) {
        row_put_code(coder, &codes[symbol]);
        return size;
    }
    uint32_t low = row_number_low_bits(symbol);
    uint32_t whole = codes[PROTO_NUMBER_WHOLE];
    bool is_whole =
        symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + quant->bits < (code & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE) {
        row_put_code(coder, &codes[PROTO_NUMBER_WHOLE]);
        (void)row_bits(coder, word, quant->bits);
        return size;
    }
    uint64_t rest = (size & (row_mask(low + 1) >> 1)) << 1 | (uint64_t)(difference < 0);
    row_put_code(coder, &codes[symbol]);
    row_put(coder, rest, low + 1);
    return size;
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

uint64_t proto_row_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                          uint64_t expected, uint64_t* word, bool* is_other) {
    if (!coder->writer) return read_number(coder, codes, quant, expected, word, is_other);
    if (!is_other || !*is_other) return write_number(coder, codes, quant, expected, *word);
    row_put_code(coder, &codes[PROTO_NUMBER_OTHER]);
    return 0;
}

uint32_t proto_row_golomb(row_coder* coder, uint32_t value, uint32_t order) {
    BASE_ASSERT(!coder->reader != !coder->writer);
    row_flush(coder);
    if (coder->reader) return proto_bits_read_golomb(coder->reader, order);
    proto_bits_write_golomb(coder->writer, value, order);
    return value;
}

// The row of the table for `scale`, with the correction of the numbers so far.
static int32_t correct_scale(const row_coder* coder, int32_t scale) {
    return row_number_row(scale, coder->surprise);
}

void proto_row_scaled(row_coder* coder, int32_t scale, const proto_quant* quant, uint64_t expected,
                      uint64_t* word, bool* is_other) {
    int32_t row = scale < 0 ? (int32_t)PROTO_NUMBER_WIDE : correct_scale(coder, scale);
    const uint16_t* codes = number_codes(coder, (uint32_t)row);
    uint64_t size = proto_row_number(coder, codes, quant, expected, word, is_other);
    if (scale < 0 || (is_other && *is_other)) return;
    if (size > UINT32_MAX) size = UINT32_MAX;
    coder->surprise += row_number_surprise(size, (uint32_t)row);
}
