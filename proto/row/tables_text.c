// SPDX-License-Identifier: MIT
// Tables as text (WIRE.md, "Tables"), and tables for symbols that occurred: the text is untrusted.
#include "proto/tables.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

enum { LENGTH_MAX = 12, RESERVED_LENGTH = 5, ROW_SYMBOLS_MAX = 40, LINE_BYTES_MAX = 96 };

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

uint64_t proto_tables_hash(const uint8_t lengths[PROTO_TABLES_LENGTHS]) {
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    for (uint32_t t = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        for (uint32_t row = 0; row < table->rows; row++, lengths += table->symbols)
            base_hasher_add(&hasher, lengths, proto_table_row_end(t, row));
    }
    return base_hasher_end(&hasher);
}

void proto_tables_text(const uint8_t lengths[PROTO_TABLES_LENGTHS],
                       char text[PROTO_TABLES_TEXT_BYTES_MAX]) {
    size_t size = 0;
    for (uint32_t t = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        bool made = base_text_format(text + size, PROTO_TABLES_TEXT_BYTES_MAX - size, "tables %s",
                                     table->name);
        BASE_ASSERT(made);
        size += strlen(text + size);
        size_t column = SIZE_MAX / 2;
        for (uint32_t row = 0; row < table->rows; row++, lengths += table->symbols) {
            uint32_t count = proto_table_row_end(t, row);
            bool is_new = column + 1 + count > LINE_BYTES_MAX;
            BASE_ASSERT(size + count + 2 < PROTO_TABLES_TEXT_BYTES_MAX);
            text[size++] = is_new ? '\n' : ' ';
            for (uint32_t i = 0; i < count; i++)
                text[size++] = "0123456789abcdef"[lengths[i] & 15];
            column = is_new ? count : column + 1 + count;
        }
        text[size++] = '\n';
    }
    text[size] = 0;
}

// ---- choosing lengths ----

// Package-merge (Larmore and Hirschberg, 1990): the lengths of an optimal prefix code of at most
// LENGTH_MAX bits. Each package knows how often it has each symbol.
typedef struct package {
    double weight;
    uint8_t counts[ROW_SYMBOLS_MAX];
} package;

static package join(const package* a, const package* b, uint32_t count) {
    package made = {.weight = a->weight + b->weight};
    for (uint32_t i = 0; i < count; i++)
        made.counts[i] = (uint8_t)(a->counts[i] + b->counts[i]);
    return made;
}

static void merge_lengths(const double* weights, uint32_t count, uint8_t* lengths) {
    package lists[2][2 * ROW_SYMBOLS_MAX], leaves[ROW_SYMBOLS_MAX];
    for (uint32_t i = 0; i < count; i++) { // by rising weight, then number
        package leaf = {.weight = weights[i]};
        leaf.counts[i] = 1;
        uint32_t at = i;
        for (; at > 0 && leaves[at - 1].weight > leaf.weight; at--)
            leaves[at] = leaves[at - 1];
        leaves[at] = leaf;
    }
    uint32_t size = 0;
    for (uint32_t length = 0; length < LENGTH_MAX; length++) {
        const package* last = lists[length % 2];
        package* next = lists[(length + 1) % 2];
        uint32_t pairs = size / 2, leaf = 0, pair = 0;
        size = 0;
        while (leaf < count || pair < pairs) {
            double joined = pair < pairs
                                ? last[(size_t)2 * pair].weight + last[(size_t)2 * pair + 1].weight
                                : 0;
            if (pair == pairs || (leaf < count && leaves[leaf].weight <= joined)) {
                next[size++] = leaves[leaf++];
            } else {
                next[size++] = join(&last[(size_t)2 * pair], &last[(size_t)2 * pair + 1], count);
                pair++;
            }
        }
    }
    memset(lengths, 0, count);
    for (uint32_t k = 0; k < 2 * count - 2; k++)
        for (uint32_t i = 0; i < count; i++)
            lengths[i] = (uint8_t)(lengths[i] + lists[LENGTH_MAX % 2][k].counts[i]);
}

// Room is reserved by one more symbol, just heavy enough to get so short a code.
static void choose_row(double* weights, uint32_t count, bool is_reserved, uint8_t* lengths) {
    enum { STEPS = 40 };
    uint8_t chosen[ROW_SYMBOLS_MAX];
    double total = 0, low = 0;
    for (uint32_t i = 0; i < count; i++)
        total += weights[i];
    double high = 2 * total;
    for (uint32_t i = 0; is_reserved && i < STEPS; i++) {
        weights[count] = (low + high) / 2;
        merge_lengths(weights, count + 1, chosen);
        if (chosen[count] <= RESERVED_LENGTH) {
            high = weights[count];
        } else {
            low = weights[count];
        }
    }
    weights[count] = high;
    merge_lengths(weights, count + is_reserved, chosen);
    memcpy(lengths, chosen, count);
}

void proto_tables_choose(const double counts[PROTO_TABLES_LENGTHS],
                         const uint8_t usual[PROTO_TABLES_LENGTHS], double weight,
                         uint8_t lengths[PROTO_TABLES_LENGTHS]) {
    BASE_ASSERT(weight > 0);
    memset(lengths, 0, PROTO_TABLES_LENGTHS);
    for (uint32_t t = 0, at = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        for (uint32_t row = 0; row < table->rows; row++, at += table->symbols) {
            uint32_t count = proto_table_row_end(t, row) - table->first;
            double weights[ROW_SYMBOLS_MAX];
            for (uint32_t i = 0; i < count; i++) {
                uint32_t own = at + table->first + i;
                weights[i] = counts[own] + weight / (double)(1u << usual[own]);
            }
            choose_row(weights, count, table->is_reserved, lengths + at + table->first);
        }
    }
}
