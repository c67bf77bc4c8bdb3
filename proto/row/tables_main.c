// SPDX-License-Identifier: MIT
// shoal-tables ROWS.md OUT.c: the codes of rows, made from the lengths that the page lists.
//
// A program of the build. Exit codes: 0, 1 (a file cannot be read or written, or the page's lengths
// give no codes), 2 (usage).
#include "row/tables_make.h"

#include <stdio.h>

enum { PAGE_BYTES_MAX = 1 << 20 };

static void print_tables(FILE* out, const proto_tables* tables) {
    fprintf(out, "// Made by shoal-tables.\n#include \"proto/tables.h\"\n\n"
                 "static const proto_tables builtin = {\n");
    const uint16_t* codes = tables->number_plain[0];
    for (uint32_t t = 0; t < PROTO_TABLES; t++) {
        const proto_table* table = proto_table_get(t);
        fprintf(out, "    .%s = {\n", table->name);
        for (uint32_t row = 0; row < table->rows; row++) {
            fprintf(out, "        {");
            for (uint32_t i = 0; i < table->symbols; i++)
                fprintf(out, "%u,", (unsigned)*codes++);
            fprintf(out, "},\n");
        }
        fprintf(out, "    },\n");
    }
    fprintf(out, "    .small = {\n");
    for (uint32_t row = 0; row < PROTO_NUMBER_SCALES; row++) {
        fprintf(out, "        {");
        for (uint32_t i = 0; i < 2 * PROTO_SMALL; i++)
            fprintf(out, "%uu,", (unsigned)tables->small[row][i]);
        fprintf(out, "},\n");
    }
    fprintf(out, "    },\n    .small_bits_min = %u,\n    .quick = {\n",
            (unsigned)tables->small_bits_min);
    for (uint32_t row = 0; row < PROTO_QUICK_ROWS; row++) {
        fprintf(out, "        {");
        for (uint32_t i = 0; i < 1u << PROTO_QUICK_BITS; i++)
            fprintf(out, "%u,", (unsigned)tables->quick[row][i]);
        fprintf(out, "},\n");
    }
    fprintf(out, "    },\n};\n\nconst proto_tables* proto_tables_builtin(void) {\n"
                 "    return &builtin;\n}\n");
}

int main(int argc, char** argv) {
    static char page[PAGE_BYTES_MAX];
    static uint8_t lengths[PROTO_TABLES_LENGTHS];
    static proto_tables tables;
    if (argc != 3) {
        fprintf(stderr, "usage: shoal-tables ROWS.md OUT.c\n");
        return 2;
    }
    FILE* in = fopen(argv[1], "rb");
    size_t size = in ? fread(page, 1, sizeof page - 1, in) : 0;
    if (in) fclose(in);
    const char* wrong = size > 0 ? proto_tables_read(page, lengths) : "nothing to read";
    if (!wrong && !proto_tables_make(lengths, &tables)) wrong = "these lengths give no codes";
    if (wrong) {
        fprintf(stderr, "%s: no tables: %s\n", argv[1], wrong);
        return 1;
    }
    FILE* out = fopen(argv[2], "w");
    if (out) print_tables(out, &tables);
    if (out && fclose(out) == 0) return 0;
    fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 1;
}
