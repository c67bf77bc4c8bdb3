// SPDX-License-Identifier: MIT
// Files of trained tables: what is accepted gives codes that a row survives, and is written back as
// a text of the same meaning.
#include "fuzz.h"

#include "proto/layout.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 16384, ROW_BYTES_MAX = 256, WORDS = 5 };

static void make_layout(proto_layout* layout, const proto_tables* tables) {
    layout->tables = tables;
    layout->component_count = 3;
    layout->field_count = WORDS;
    layout->tick_rate_hz = 60;
    layout->components[0] = (proto_row_component){.key = 1, .field_count = 2};
    layout->components[1] =
        (proto_row_component){.key = 2, .field_first = 2, .field_count = 2, .integral = 1};
    layout->components[2] = (proto_row_component){.key = 3, .field_first = 4, .field_count = 1};
    for (uint32_t f = 0; f < WORDS; f++) {
        proto_quant* quant = &layout->fields[f].quant;
        FUZZ_CHECK(f < 4 ? proto_quant_make(quant, PROTO_F32, 12, -16, 1.0 / 128)
                         : proto_quant_make(quant, PROTO_U8, 0, 0, 0));
    }
    proto_layout_finish(layout);
}

static void code_rows(const proto_tables* tables) {
    static const uint64_t rows[4][WORDS] = {{2048, 2048, 7, 4000, 9},
                                            {2100, 2048, 9, 4000, 9},
                                            {2152, 2047, 12, 4001, 9},
                                            {9, 4095, 4000, 0, 200}};
    static proto_layout layout;
    memset(&layout, 0, sizeof layout);
    make_layout(&layout, tables);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t ticks = 0; ticks < 3; ticks++) {
            uint8_t bytes[ROW_BYTES_MAX];
            uint64_t back[WORDS];
            proto_row_base against = {rows[(i + 1) % 4], rows[(i + 2) % 4], ticks, 1};
            proto_bit_writer writer = proto_bit_writer_make(bytes, sizeof bytes);
            proto_row_write(&layout, &against, rows[i], &writer, NULL);
            FUZZ_CHECK(!writer.failed);
            proto_bit_reader reader = proto_bit_reader_make(bytes, proto_bit_writer_bytes(&writer));
            FUZZ_CHECK(!proto_row_read_absent(&reader));
            proto_row_read(&layout, &against, back, &reader, NULL);
            FUZZ_CHECK(!reader.failed && memcmp(back, rows[i], sizeof back) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static char text[TEXT_BYTES_MAX + 1], again[PROTO_TABLES_TEXT_BYTES_MAX];
    static uint8_t lengths[PROTO_TABLES_LENGTHS], back[PROTO_TABLES_LENGTHS];
    static proto_tables tables;
    if (size > TEXT_BYTES_MAX) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (proto_tables_read(text, lengths)) return 0;
    if (!proto_tables_make(lengths, &tables)) return 0;
    proto_tables_lengths(&tables, back);
    FUZZ_CHECK(memcmp(lengths, back, sizeof back) == 0);
    proto_tables_text(lengths, again);
    FUZZ_CHECK(proto_tables_read(again, back) == NULL);
    FUZZ_CHECK(memcmp(lengths, back, sizeof back) == 0);
    code_rows(&tables);
    return 0;
}
