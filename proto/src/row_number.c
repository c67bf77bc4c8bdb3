// SPDX-License-Identifier: MIT
// One number of a row: what is left between what was expected and what came (WIRE.md, "Row code": Numbers).
#include "row_coder.h"

enum { SIGNED_SYMBOLS = 7, SMALL_SYMBOLS = 11 };

static const uint16_t* number_codes(row_coder* coder, uint32_t row) {
    bool is_first = coder->is_first;
    coder->is_first = false;
    return is_first ? coder->tables->number_first[row] : coder->tables->number_plain[row];
}

static uint32_t symbol_of(int64_t difference, uint64_t size) {
    if (size < 4) return (uint32_t)(2 * size) - (difference > 0);
    if (size < 8) return (uint32_t)size + 3;
    if (size >= 1 << 16) return PROTO_NUMBER_WHOLE;
    return row_log(size) + 5;
}

uint64_t proto_row_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                          uint64_t expected, uint64_t* word, bool* is_other) {
    int64_t difference = 0;
    uint64_t size = 0;
    uint32_t symbol = 0;
    if (coder->writer) {
        difference = row_difference(*word, expected, quant->bits);
        size = difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
        symbol = is_other && *is_other ? PROTO_NUMBER_OTHER : symbol_of(difference, size);
        if (symbol >= SMALL_SYMBOLS && symbol < PROTO_NUMBER_WHOLE &&
            (codes[PROTO_NUMBER_WHOLE] & 15u) + quant->bits <
                (codes[symbol] & 15u) + (symbol - SMALL_SYMBOLS) / 2 + 3)
            symbol = PROTO_NUMBER_WHOLE;
    }
    symbol = row_symbol(coder, codes, PROTO_NUMBER_SYMBOLS, symbol);
    if (symbol == PROTO_NUMBER_OTHER) {
        if (is_other) *is_other = true;
        if (!is_other) coder->reader->failed = true;
        return 0;
    }
    if (is_other) *is_other = false;
    if (symbol == 0) {
        if (coder->reader) *word = expected;
        return 0;
    }
    if (symbol == PROTO_NUMBER_WHOLE) {
        uint64_t whole = row_bits(coder, coder->writer ? *word : 0, quant->bits);
        if (coder->writer) return size;
        *word = proto_quant_canonical(quant, whole);
        difference = row_difference(*word, expected, quant->bits);
        return difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
    }
    if (coder->writer) {
        if (symbol < SIGNED_SYMBOLS) return size;
        uint32_t low = symbol < SMALL_SYMBOLS ? 0 : (symbol - SMALL_SYMBOLS) / 2 + 2;
        row_put(coder, (size & (row_mask(low + 1) >> 1)) << 1 | (uint64_t)(difference < 0),
                low + 1);
        return size;
    }
    bool is_negative = symbol % 2 == 0;
    size = (symbol + 1) / 2;
    if (symbol >= SIGNED_SYMBOLS) {
        uint32_t low = symbol < SMALL_SYMBOLS ? 0 : (symbol - SMALL_SYMBOLS) / 2 + 2;
        uint64_t rest = proto_bits_read(coder->reader, low + 1);
        size = symbol < SMALL_SYMBOLS ? symbol - 3
                                      : (UINT64_C(2) + (symbol - SMALL_SYMBOLS) % 2) << low;
        size += rest >> 1;
        is_negative = rest & 1;
    }
    uint64_t value = is_negative ? expected - size : expected + size;
    *word = proto_quant_canonical(quant, value & row_mask(quant->bits));
    return size;
}

uint32_t proto_row_golomb(row_coder* coder, uint32_t value, uint32_t order) {
    row_flush(coder);
    if (coder->reader) return proto_bits_read_golomb(coder->reader, order);
    proto_bits_write_golomb(coder->writer, value, order);
    return value;
}

static int32_t correct_scale(const row_coder* coder, int32_t scale) {
    int32_t row = (scale * 4 + coder->surprise + 2) >> 2;
    if (row < 0) row = 0;
    return row < (int32_t)PROTO_NUMBER_SCALES ? row : (int32_t)PROTO_NUMBER_SCALES - 1;
}

void proto_row_scaled(row_coder* coder, int32_t scale, const proto_quant* quant, uint64_t expected,
                      uint64_t* word, bool* is_other) {
    int32_t row = scale < 0 ? (int32_t)PROTO_NUMBER_WIDE : correct_scale(coder, scale);
    const uint16_t* codes = number_codes(coder, (uint32_t)row);
    uint64_t size = proto_row_number(coder, codes, quant, expected, word, is_other);
    if (scale < 0 || (is_other && *is_other)) return;
    if (size > UINT32_MAX) size = UINT32_MAX;
    int32_t turned_out = 4 * (int32_t)row_log(2 * size + 1);
    coder->surprise += (turned_out - (int32_t)coder->tables->expected[row]) / 2;
}
