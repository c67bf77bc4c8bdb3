// SPDX-License-Identifier: MIT
// Numbers that have no small code: large differences, the first symbol of a row, and numbers that
// are not scaled. The same as row_number.c writes.
#include "row/encoder.h"

uint32_t proto_encoder_number(row_encoder* e, const uint16_t* codes, uint32_t f, int32_t off,
                              uint32_t word) {
    uint32_t bits = 32u - encoder_word(e, f)->shift;
    uint32_t size = (uint32_t)row_magnitude(off), symbol = row_number_symbol(off);
    uint32_t code = codes[symbol];
    if (symbol < ROW_SIGNED_SYMBOLS) {
        encoder_code(e, code);
        return size;
    }
    uint32_t low = row_number_low_bits(symbol), whole = codes[PROTO_NUMBER_WHOLE];
    bool is_whole = symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + bits < (code & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE) {
        encoder_code(e, whole);
        encoder_put(e, word, bits);
        return size;
    }
    uint32_t rest = (size & ((1u << low) - 1)) << 1 | (uint32_t)(off < 0);
    encoder_put(e, code >> 4 | rest << (code & 15), (code & 15) + low + 1);
    return size;
}

void proto_encoder_scaled_any(row_encoder* e, uint32_t row, uint32_t f, int32_t off) {
    const proto_number_codes* codes =
        e->is_first ? e->tables->number_first : e->tables->number_plain;
    e->is_first = false;
    uint32_t size = proto_encoder_number(e, codes[row], f, off, e->row[f]);
    e->surprise += row_number_surprise(size, row);
}
