// SPDX-License-Identifier: MIT
// ROWS.md, "Tables", read from the text of the page: `tables NAME`, then rows of lengths, a
// hexadecimal digit per symbol, up to the next name or the end of the block. The lengths give the
// codes.
#include "conform.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_MAX = 12, PLACES = 1 << LENGTH_MAX, LINE_BYTES_MAX = 4096 };

static const struct table_size {
    const char* name;
    uint32_t rows;
} sizes[] = {
    [TABLE_NUMBER_PLAIN] = {"number_plain", 31},
    [TABLE_NUMBER_OTHER] = {"number_other", 31},
    [TABLE_HEAD] = {"head", 27},
    [TABLE_DRIVE] = {"drive", 34},
    [TABLE_MASK_FIRST] = {"mask_first", 4},
    [TABLE_MASK_OTHER] = {"mask_other", 3},
    [TABLE_FIELD] = {"field", 3},
};

static bool make_codes(cf_prefix* prefix, const char* digits) {
    uint32_t place = PLACES;
    for (prefix->count = 0; digits[prefix->count]; prefix->count++) {
        if (prefix->count == SYMBOLS_MAX) return false;
        char text[2] = {digits[prefix->count], 0};
        prefix->lengths[prefix->count] = (uint8_t)strtoul(text, NULL, 16);
    }
    for (uint32_t length = 1; length <= LENGTH_MAX; length++)
        for (uint32_t s = 0; s < prefix->count; s++) {
            uint32_t size = PLACES >> length;
            if (prefix->lengths[s] != length) continue;
            if (place < size) return false;
            place -= size;
            prefix->codes[s] = (uint16_t)(place / size);
        }
    return true;
}

static bool add_row(cf_tables* tables, int table, const char* digits) {
    if (tables->row_counts[table] == sizes[table].rows) return false;
    return make_codes(&tables->rows[table][tables->row_counts[table]++], digits);
}

static int find_table(const char* name) {
    for (int t = 0; t < TABLES; t++)
        if (strcmp(sizes[t].name, name) == 0) return t;
    return -1;
}

// @return false: a line is malformed.
static bool read_lines(FILE* page, cf_tables* tables) {
    char line[LINE_BYTES_MAX];
    int table = -1;
    while (fgets(line, sizeof line, page)) {
        char* rest = NULL;
        char* word = strtok_r(line, " \n", &rest);
        if (!word || strcmp(word, "```") == 0) {
            table = -1;
        } else if (strcmp(word, "tables") == 0 && rest && !strchr(rest, ' ')) {
            table = find_table(strtok_r(NULL, " \n", &rest));
            if (table < 0) return false;
        } else if (table >= 0) {
            for (; word; word = strtok_r(NULL, " \n", &rest))
                if (!add_row(tables, table, word)) return false;
        }
    }
    return true;
}

FILE* page_open(const char* folder, const char* name) {
    char path[LINE_BYTES_MAX];
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* page = size < (int)sizeof path ? fopen(path, "r") : NULL;
    if (!page) fprintf(stderr, "cannot read %s/%s\n", folder, name);
    return page;
}

cf_tables* tables_read(const char* folder) {
    FILE* page = page_open(folder, "ROWS.md");
    if (!page) return NULL;
    cf_tables* tables = calloc(1, sizeof *tables);
    if (!tables) abort();
    bool is_good = read_lines(page, tables);
    fclose(page);
    for (int t = 0; t < TABLES && is_good; t++)
        is_good = tables->row_counts[t] == sizes[t].rows;
    if (is_good) return tables;
    fprintf(stderr, "%s/ROWS.md lacks a table\n", folder);
    free(tables);
    return NULL;
}

uint32_t prefix_read(const cf_prefix* prefix, bit_stream* bits) {
    uint32_t code = 0;
    for (uint32_t length = 1; length <= LENGTH_MAX && !bits->failed; length++) {
        code = code << 1 | (uint32_t)bits_read(bits, 1);
        for (uint32_t s = 0; s < prefix->count; s++)
            if (prefix->lengths[s] == length && prefix->codes[s] == code && !bits->failed) return s;
    }
    bits->failed = true;
    return 0;
}

void prefix_write(const cf_prefix* prefix, uint32_t symbol, bit_stream* bits) {
    if (prefix->lengths[symbol] == 0) bits->failed = true;
    for (uint32_t i = prefix->lengths[symbol]; i > 0; i--)
        bits_write(bits, prefix->codes[symbol] >> (i - 1), 1);
}
