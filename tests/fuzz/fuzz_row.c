// SPDX-License-Identifier: MIT
// Rows from bits of strangers, over layouts that the input describes too.
//
// Input: a byte with the number of components, per component a byte with the number of fields, per field
// two bytes (kind; bits and grid), per field 8 bytes of base; the rest is the coded row.
#include "fuzz.h"

#include "proto/layout.h"

#include <string.h>

enum { COMPONENTS_MAX = 6, FIELDS_MAX = 7, ROW_BYTES_MAX = 1024 };

typedef struct fuzz_source {
    const uint8_t* at;
    size_t left;
} fuzz_source;

static uint8_t next(fuzz_source* source) {
    if (source->left == 0) return 0;
    source->left--;
    return *source->at++;
}

static void read_quant(fuzz_source* source, proto_quant* quant) {
    static const struct {
        double min, step;
    } grids[] = {{0, 1}, {-3.3, 0.01}, {-1000, 0.125}, {1, 1e-4}};
    proto_kind kind = (proto_kind)(next(source) % PROTO_KIND_COUNT);
    uint8_t shape = next(source);
    size_t grid = shape >> 6;
    if (proto_quant_make(quant, kind, shape & 63, grids[grid].min, grids[grid].step)) return;
    FUZZ_CHECK(proto_quant_make(quant, kind, 0, 0, 0));
}

static void read_layout(fuzz_source* source, proto_layout* layout) {
    layout->component_count = next(source) % (COMPONENTS_MAX + 1);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint32_t count = next(source) % (FIELDS_MAX + 1);
        layout->components[c] = (proto_row_component){.key = c + 1,
                                                      .field_first = (uint16_t)layout->field_count,
                                                      .field_count = (uint16_t)count};
        for (uint32_t i = 0; i < count; i++) {
            proto_row_field* field = &layout->fields[layout->field_count++];
            read_quant(source, &field->quant);
            field->offset_bytes = i * 8;
        }
    }
    proto_layout_finish(layout);
}

static uint64_t read_word(fuzz_source* source, const proto_quant* quant) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < 8; i++)
        word |= (uint64_t)next(source) << (8 * i);
    if (quant->bits < 64) word &= (UINT64_C(1) << quant->bits) - 1;
    return proto_quant_canonical(quant, word);
}

// The words must survive a trip through the world's memory.
static void check_memory(const proto_layout* layout, const uint64_t* row) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint64_t memory[FIELDS_MAX] = {0}, back[COMPONENTS_MAX * FIELDS_MAX];
        proto_row_write_component(layout, c, row, memory);
        proto_row_read_component(layout, c, memory, back);
        uint32_t first = layout->components[c].field_first;
        uint32_t count = layout->components[c].field_count;
        FUZZ_CHECK(count == 0 || memcmp(back + first, row + first, count * sizeof *row) == 0);
    }
}

static void check_row(const proto_layout* layout, const uint64_t* base, const uint64_t* row) {
    uint8_t data[ROW_BYTES_MAX];
    uint64_t back[COMPONENTS_MAX * FIELDS_MAX];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_row_encode(layout, base, row, &writer);
    FUZZ_CHECK(!writer.failed && writer.size_bits <= layout->bits_max);
    proto_bit_reader reader = proto_bit_reader_make(data, proto_bit_writer_bytes(&writer));
    proto_row_decode(layout, base, back, &reader, NULL);
    FUZZ_CHECK(!reader.failed && reader.offset_bits == writer.size_bits);
    FUZZ_CHECK(memcmp(back, row, layout->field_count * sizeof *row) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_source source = {data, size};
    proto_layout* layout = calloc(1, sizeof *layout);
    FUZZ_CHECK(layout);
    read_layout(&source, layout);
    uint64_t base[COMPONENTS_MAX * FIELDS_MAX], row[COMPONENTS_MAX * FIELDS_MAX], changed;
    for (uint32_t f = 0; f < layout->field_count; f++)
        base[f] = read_word(&source, &layout->fields[f].quant);
    proto_bit_reader reader = proto_bit_reader_make(source.at, source.left);
    proto_row_decode(layout, base, row, &reader, &changed);
    FUZZ_CHECK(changed >> layout->component_count == 0);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const proto_quant* quant = &layout->fields[f].quant;
        FUZZ_CHECK(quant->bits == 64 || row[f] >> quant->bits == 0);
        FUZZ_CHECK(proto_quant_canonical(quant, row[f]) == row[f]);
    }
    check_memory(layout, row);
    check_row(layout, base, row);
    free(layout);
    return 0;
}
