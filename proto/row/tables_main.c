// SPDX-License-Identifier: MIT
// shoal-tables WIRE.md OUT.c: the codes of rows, made from the lengths that the page lists.
//
// A program of the build. Exit codes: 0, 1 (a file cannot be read or written, or the page's lengths
// give no codes), 2 (usage).
#include "row/tables_make.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 1 << 20 };

// The members of proto_tables before `expected`, in their order.
static const struct {
    const char* name;
    uint32_t rows, symbols;
} members[] = {
    {"number_plain", PROTO_NUMBER_ROWS, PROTO_NUMBER_SYMBOLS},
    {"number_first", PROTO_NUMBER_ROWS, PROTO_NUMBER_SYMBOLS},
    {"number_other", PROTO_NUMBER_ROWS, PROTO_NUMBER_SYMBOLS},
    {"head", PROTO_HEAD_ROWS, 8},
    {"head_rest", PROTO_HEAD_ROWS, 8},
    {"lead", PROTO_LEAD_ROWS, 10},
    {"lead_rest", PROTO_LEAD_ROWS, 10},
    {"drive_plain", PROTO_DRIVE_ROWS, 9},
    {"drive_first", PROTO_DRIVE_ROWS, 9},
    {"mask_first", 4, 16},
    {"mask_other", 3, 16},
    {"field", 3, 16},
};

static uint32_t digit_of(char c) {
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                                  : UINT32_MAX;
}

// What follows the line "tables NAME"; NULL when the page has no such line.
static const char* find_table(const char* page, const char* name) {
    char line[64];
    (void)base_text_format(line, sizeof line, "\ntables %s\n", name);
    const char* found = strstr(page, line);
    return found ? found + strlen(line) : NULL;
}

// A row has a digit for each of its symbols; the symbols behind them do not occur.
static bool read_lengths(const char* page, uint8_t* lengths) {
    for (uint32_t m = 0; m < BASE_COUNT(members); m++) {
        const char* at = find_table(page, members[m].name);
        if (!at) return false;
        for (uint32_t row = 0; row < members[m].rows; row++, lengths += members[m].symbols) {
            at += strspn(at, " \n");
            for (uint32_t i = 0; digit_of(*at) <= 15; i++, at++) {
                if (i == members[m].symbols) return false;
                lengths[i] = (uint8_t)digit_of(*at);
            }
        }
    }
    const char* at = find_table(page, "expected");
    for (uint32_t i = 0; at && i < PROTO_NUMBER_SCALES; i++) {
        char* end;
        lengths[i] = (uint8_t)strtoul(at, &end, 10);
        at = end;
    }
    return at != NULL;
}

static void print_tables(FILE* out, const proto_tables* tables) {
    fprintf(out, "// Made by shoal-tables.\n#include \"proto/tables.h\"\n\n"
                 "static const proto_tables builtin = {\n");
    const uint16_t* codes = tables->number_plain[0];
    for (uint32_t m = 0; m < BASE_COUNT(members); m++) {
        fprintf(out, "    .%s = {\n", members[m].name);
        for (uint32_t row = 0; row < members[m].rows; row++) {
            fprintf(out, "        {");
            for (uint32_t i = 0; i < members[m].symbols; i++)
                fprintf(out, "%u,", (unsigned)*codes++);
            fprintf(out, "},\n");
        }
        fprintf(out, "    },\n");
    }
    fprintf(out, "    .expected = {");
    for (uint32_t i = 0; i < PROTO_NUMBER_SCALES; i++)
        fprintf(out, "%u,", (unsigned)tables->expected[i]);
    fprintf(out, "},\n    .small = {\n");
    for (uint32_t row = 0; row < PROTO_NUMBER_SCALES; row++) {
        fprintf(out, "        {");
        for (uint32_t i = 0; i < 2 * PROTO_SMALL; i++)
            fprintf(out, "%uu,", (unsigned)tables->small[row][i]);
        fprintf(out, "},\n");
    }
    fprintf(out,
            "    },\n    .small_bits_min = %u,\n};\n\nconst proto_tables* "
            "proto_tables_builtin(void) {\n"
            "    return &builtin;\n}\n",
            (unsigned)tables->small_bits_min);
}

int main(int argc, char** argv) {
    static char page[PAGE_BYTES_MAX];
    static uint8_t lengths[PROTO_TABLES_LENGTHS];
    static proto_tables tables;
    if (argc != 3) {
        fprintf(stderr, "usage: shoal-tables WIRE.md OUT.c\n");
        return 2;
    }
    FILE* in = fopen(argv[1], "rb");
    size_t size = in ? fread(page, 1, sizeof page - 1, in) : 0;
    if (in) fclose(in);
    if (size == 0 || !read_lengths(page, lengths) || !proto_tables_make(lengths, &tables)) {
        fprintf(stderr, "%s: no tables (\"Tables\": a digit per symbol)\n", argv[1]);
        return 1;
    }
    FILE* out = fopen(argv[2], "w");
    if (out) print_tables(out, &tables);
    if (out && fclose(out) == 0) return 0;
    fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 1;
}
