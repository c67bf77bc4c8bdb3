// SPDX-License-Identifier: MIT
// Prefix codes from their lengths (ROWS.md, "Tables").
//
// Codes are given by rising length, then by symbol, from all ones downwards. Each code is the code
// before it minus one, followed by a zero for each bit that it is longer. So the free room is at
// the low end, and 00000 is free when the lengths leave 1/32 of the room.
//
// The lengths of the page are those of optimal prefix codes of at most 12 bits for these
// distributions:
//
//     numbers of scale s   a mix of two-sided exponential distributions around the size 0.6 *
//     2^(s/2):
//                          times 0.75 (62 %), 1.6 (30 %), 5 (6 %) and 25 (2 %), smeared by rounding
//                          (half a step); from scale 4 on, where lines reach far, times 0.68 (50
//                          %), 1.4 (36 %), 3.5 (10 %) and 18 (4 %)
//     heads, drives        the product of independent members, each with the probability of its
//                          class
//     masks                few members are more likely than many
//
// They come from no recorded game. tests/bench (rows trace_*) measures their cost.
#include "row/tables_make.h"

#include "row/row_coder.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

enum {
    LENGTH_MAX = 12,
    ROOM = 1 << LENGTH_MAX,
    RESERVED = ROOM / 32,
    LENGTH_BITS = 4,
    ROW_LENGTH_MASK = 15,
    LINE_BYTES_MAX = 96,
};

typedef struct cursor {
    const uint8_t* lengths;
    bool is_fine;
} cursor;

static uint16_t make_code(uint32_t bits, uint32_t length) {
    BASE_ASSERT(length >= 1 && length <= LENGTH_MAX && bits >> length == 0);
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < length; i++)
        reversed |= (bits >> (length - 1 - i) & 1) << i;
    return (uint16_t)(reversed << LENGTH_BITS | length);
}

// Make one row of `size` codes. The symbols in [first, used) must have a code, the others must not.
// The lowest `free` units of the room stay free.
static void make_table(cursor* at, uint16_t* codes, uint32_t size, uint32_t first, uint32_t used,
                       uint32_t free) {
    BASE_ASSERT(first <= used && used <= size && free < (uint32_t)ROOM);
    uint32_t place = ROOM;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t length = at->lengths[i];
        bool is_wanted = i >= first && i < used;
        if (length > LENGTH_MAX || (length > 0) != is_wanted) at->is_fine = false;
        codes[i] = 0;
    }
    for (uint32_t length = 1; length <= LENGTH_MAX; length++) {
        for (uint32_t i = first; i < used; i++) {
            if (at->lengths[i] != length) continue;
            uint32_t width = (uint32_t)ROOM >> length;
            if (place < free + width) {
                at->is_fine = false;
                return;
            }
            place -= width;
            codes[i] = make_code(place / width, length);
        }
    }
    at->lengths += size;
}

const proto_table* proto_table_get(uint32_t table) {
    static const proto_table list[PROTO_TABLES] = {
        {"number_plain", PROTO_NUMBER_ROWS, PROTO_NUMBER_SYMBOLS, 0, false},
        {"number_other", PROTO_NUMBER_ROWS, PROTO_NUMBER_SYMBOLS, 1, false},
        {"head", PROTO_HEAD_ROWS, 4, 0, true},
        {"drive", PROTO_DRIVE_ROWS, 9, 0, true},
        {"mask_first", 4, 16, 0, true},
        {"mask_other", 3, 16, 1, false},
        {"field", 3, 16, 1, false},
    };
    BASE_ASSERT(table < PROTO_TABLES);
    return &list[table];
}

// Get the end of the symbols that occur in one row of a table.
static uint32_t proto_table_row_end(uint32_t table, uint32_t row) {
    enum { NUMBER_TABLES = 2, HEAD = 2, DRIVE = 3, MASK_FIRST = 4 };
    BASE_ASSERT(row < proto_table_get(table)->rows);
    if (table < NUMBER_TABLES) return PROTO_NUMBER_SYMBOLS;
    if (table == HEAD) return row < 6 ? 2 : 4;
    if (table == DRIVE) return row < 4 ? 3 : row < 4 + 10 ? 5 : 9;
    return (table == MASK_FIRST ? 2u : 4u) << row;
}

// ---- the page ----

static uint32_t digit_of(char c) {
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                  : UINT32_MAX;
}

// What follows the line "tables NAME"; NULL when the text has no such line.
static const char* find_table(const char* text, const char* name) {
    char line[LINE_BYTES_MAX];
    (void)base_text_format(line, sizeof line, "tables %s\n", name);
    size_t length = strlen(line);
    for (const char* at = text; (at = strstr(at, line)) != NULL; at += length)
        if (at == text || at[-1] == '\n') return at + length;
    return NULL;
}

const char* proto_tables_read(const char* text, uint8_t lengths[PROTO_TABLES_LENGTHS]) {
    BASE_ASSERT(text && lengths);
    memset(lengths, 0, PROTO_TABLES_LENGTHS);
    for (uint32_t t = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        const char* at = find_table(text, table->name);
        if (!at) return "a table is missing";
        for (uint32_t row = 0; row < table->rows; row++, lengths += table->symbols) {
            at += strspn(at, " \n");
            uint32_t count = 0;
            for (; digit_of(*at) <= 15; at++, count++) {
                if (count == table->symbols) return "a row is too long";
                lengths[count] = (uint8_t)digit_of(*at);
            }
            if (count != proto_table_row_end(t, row)) return "a row is too short";
        }
        at += strspn(at, " \n");
        if (digit_of(*at) <= 15) return "a table has too many rows";
    }
    return NULL;
}

// ---- tables from the codes ----

// The code of one small difference, as the coder of row.c writes it.
static uint32_t small_code(const proto_tables* tables, uint32_t scale, int32_t difference) {
    const uint16_t* codes = tables->number_plain[scale];
    uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);
    uint32_t symbol = row_number_symbol(difference), code = codes[symbol];
    uint32_t bits = code >> LENGTH_BITS, length = code & 15;
    if (symbol >= ROW_SIGNED_SYMBOLS) {
        uint32_t low = row_number_low_bits(symbol);
        bits |= ((size & ((1u << low) - 1)) << 1 | (difference < 0)) << length;
        length += low + 1;
    }
    int32_t change = row_number_surprise(size, scale);
    BASE_ASSERT(bits >> PROTO_SMALL_CODE_BITS == 0 && length >> PROTO_SMALL_LENGTH_BITS == 0);
    return bits | length << PROTO_SMALL_CODE_BITS |
           (uint32_t)change << (PROTO_SMALL_CODE_BITS + PROTO_SMALL_LENGTH_BITS);
}

static void make_small(proto_tables* tables) {
    tables->small_bits_min = 0;
    for (uint32_t scale = 0; scale < PROTO_NUMBER_SCALES; scale++) {
        uint32_t whole = tables->number_plain[scale][PROTO_NUMBER_WHOLE] & 15;
        for (int32_t i = -PROTO_SMALL; i < PROTO_SMALL; i++) {
            uint32_t small = small_code(tables, scale, i);
            uint32_t length =
                small >> PROTO_SMALL_CODE_BITS & ((1u << PROTO_SMALL_LENGTH_BITS) - 1);
            tables->small[scale][i + PROTO_SMALL] = small;
            if (row_number_symbol(i) < ROW_SMALL_SYMBOLS || length <= whole) continue;
            if (length - whole > tables->small_bits_min) tables->small_bits_min = length - whole;
        }
    }
}

static void make_quick(proto_tables* tables) {
    const uint16_t* codes = tables->number_plain[0];
    for (uint32_t row = 0; row < PROTO_QUICK_ROWS; row++, codes += PROTO_NUMBER_SYMBOLS) {
        for (uint32_t i = 0; i < PROTO_NUMBER_SYMBOLS; i++) {
            uint32_t length = codes[i] & ROW_LENGTH_MASK;
            if (length == 0 || length > PROTO_QUICK_BITS) continue;
            for (uint32_t bits = codes[i] >> LENGTH_BITS; bits < 1u << PROTO_QUICK_BITS;
                 bits += 1u << length)
                tables->quick[row][bits] = (uint8_t)(i + 1);
        }
    }
}

bool proto_tables_make(const uint8_t lengths[PROTO_TABLES_LENGTHS], proto_tables* tables) {
    BASE_ASSERT(lengths && tables);
    cursor at = {.lengths = lengths, .is_fine = true};
    memset(tables, 0, sizeof *tables);
    uint16_t* codes = tables->number_plain[0];
    for (uint32_t t = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        for (uint32_t row = 0; row < table->rows; row++, codes += table->symbols) {
            make_table(&at, codes, table->symbols, table->first, proto_table_row_end(t, row),
                       table->is_reserved ? RESERVED : 0);
            if (!at.is_fine) return false;
        }
    }
    BASE_ASSERT(at.lengths == lengths + PROTO_TABLES_LENGTHS);
    make_small(tables);
    make_quick(tables);
    return true;
}
