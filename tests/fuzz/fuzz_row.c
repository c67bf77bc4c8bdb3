// SPDX-License-Identifier: MIT
// Rows from any bits, in shared and in solo code, with layouts that the input describes too.
//
// Input: a byte with the number of components, per component a byte with the number of fields (7: a
// rotation; bit 7: the integral of the component before), per field two bytes (kind; bits and
// grid; a float without bits is elastic unless its grid is 0), ticks, ticks2, per field 8 bytes of
// base and of base2; the rest is the coded row.
#include "fuzz.h"

#include "proto/layout.h"
#include "proto/solo.h"

enum {
    COMPONENTS_MAX = 6,
    FIELDS_MAX = 7,
    ROW_BYTES_MAX = 1024,
    WORDS_MAX = COMPONENTS_MAX * FIELDS_MAX
};

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
    if (!proto_quant_make(quant, kind, shape & 63, grids[grid].min, grids[grid].step))
        FUZZ_CHECK(proto_quant_make(quant, kind, 0, 0, 0));
    quant->is_elastic = quant->is_exact && grid > 0 && (kind == PROTO_F32 || kind == PROTO_F64);
}

static void add_field(proto_layout* layout, const proto_quant* quant) {
    proto_row_component* own = &layout->components[layout->component_count - 1];
    layout->fields[layout->field_count++] =
        (proto_row_field){.quant = *quant, .offset_bytes = 8u * own->field_count++};
}

static void read_layout(fuzz_source* source, proto_layout* layout) {
    uint32_t component_count = next(source) % (COMPONENTS_MAX + 1);
    layout->tick_rate_hz = 60;
    for (uint32_t c = 0; c < component_count; c++) {
        uint8_t shape = next(source);
        uint32_t count = (shape & 127) % (FIELDS_MAX + 1);
        proto_row_component* own = &layout->components[layout->component_count++];
        *own = (proto_row_component){.key = c + 1, .field_first = (uint16_t)layout->field_count};
        own->is_rotation = count == FIELDS_MAX;
        if (shape & 128) own->integral = (uint8_t)c;
        proto_quant quant;
        if (own->is_rotation) {
            FUZZ_CHECK(proto_quant_make(&quant, PROTO_U8, 2, 0, 1));
            add_field(layout, &quant);
            FUZZ_CHECK(proto_quant_make(&quant, PROTO_U16, 9, 0, 1));
            quant.q_max = 510;
            count = 3;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!own->is_rotation) read_quant(source, &quant);
            add_field(layout, &quant);
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

// The words must survive the way through the world's memory. A base that the input made may be no
// rotation.
static void check_memory(const proto_layout* layout, const uint64_t* row, const uint64_t* base) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint64_t memory[FIELDS_MAX] = {0}, back[WORDS_MAX];
        uint32_t first = layout->components[c].field_first;
        uint32_t count = layout->components[c].field_count;
        if (count == 0) continue;
        bool is_base = memcmp(row + first, base + first, count * sizeof *row) == 0;
        proto_row_write_component(layout, c, row, memory);
        proto_row_read_component(layout, c, memory, back);
        if (layout->components[c].is_rotation && is_base) continue;
        FUZZ_CHECK(memcmp(back + first, row + first, count * sizeof *row) == 0);
    }
}

static void check_row(const proto_layout* layout, const proto_row_base* against,
                      const uint64_t* row) {
    uint8_t data[ROW_BYTES_MAX];
    uint64_t back[WORDS_MAX];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_row_write(layout, against, row, &writer, NULL);
    FUZZ_CHECK(!writer.failed && writer.size_bits <= layout->bits_max);
    proto_bit_reader reader = proto_bit_reader_make(data, proto_bit_writer_bytes(&writer));
    FUZZ_CHECK(!proto_row_read_absent(&reader));
    proto_row_read(layout, against, back, &reader, NULL);
    FUZZ_CHECK(!reader.failed && reader.offset_bits == writer.size_bits);
    FUZZ_CHECK(memcmp(back, row, layout->field_count * sizeof *row) == 0);
}

static uint32_t encode_one(const proto_layout* layout, const proto_packed_base* against,
                           const uint32_t* row, uint8_t* bytes) {
    const proto_row_times times =
        proto_row_times_make(against->ticks, against->base2 ? against->ticks2 : 1);
    uint32_t bits;
    proto_row_encode_many(layout, &(proto_row_job){row, against->base, against->base2, &times, 0},
                          1, bytes, &bits);
    return bits;
}

// The encoder of packed rows writes the same bits.
static void check_encoder(const proto_layout* layout, const proto_row_base* against,
                          const uint64_t* row) {
    uint8_t general[ROW_BYTES_MAX] = {0}, encoded[ROW_BYTES_MAX + 16];
    uint32_t packed[3][2 * WORDS_MAX + 1];
    proto_bit_writer writer = proto_bit_writer_make(general, sizeof general);
    proto_row_write(layout, against, row, &writer, NULL);
    proto_packed_base base = {packed[1], NULL, against->ticks, against->ticks2};
    proto_row_pack(layout, row, packed[0]);
    proto_row_pack(layout, against->base, packed[1]);
    if (against->base2) {
        proto_row_pack(layout, against->base2, packed[2]);
        base.base2 = packed[2];
    }
    FUZZ_CHECK(encode_one(layout, &base, packed[0], encoded) == writer.size_bits);
    size_t whole = (size_t)(writer.size_bits / 8);
    uint32_t rest = (uint32_t)(writer.size_bits % 8);
    FUZZ_CHECK(memcmp(encoded, general, whole) == 0);
    FUZZ_CHECK(rest == 0 || encoded[whole] == (general[whole] & ((1u << rest) - 1)));
}

enum { SOLO_ROWS = 3, SOLO_SAMPLES = 512 };

typedef struct solo_fuzz {
    proto_solo_model model;
    proto_solo_coder coder;
    proto_solo_sample samples[SOLO_SAMPLES];
} solo_fuzz;

// Any bytes are some rows in solo code, or are refused. Written and read again they are the same.
static void check_solo(const proto_layout* layout, const proto_row_base* against,
                       const fuzz_source* source) {
    static solo_fuzz* solo;
    if (!solo) {
        solo = malloc(sizeof *solo);
        FUZZ_CHECK(solo);
        proto_solo_model_reset(&solo->model);
    }
    uint64_t rows[SOLO_ROWS][WORDS_MAX], again[WORDS_MAX];
    uint8_t bytes[ROW_BYTES_MAX];
    proto_solo_coder* coder = &solo->coder;
    const proto_solo_third third = {.row = against->base2 ? against->base2 : against->base,
                                    .ticks = against->ticks % 7};
    proto_solo_begin_read(coder, &solo->model, source->at, source->left, solo->samples,
                          SOLO_SAMPLES);
    for (uint32_t i = 0; i < SOLO_ROWS; i++)
        proto_solo_row(coder, i, layout, against, &third, rows[i]);
    if (coder->failed) return;
    FUZZ_CHECK(coder->sample_count <= SOLO_SAMPLES);
    proto_solo_begin_write(coder, &solo->model, bytes, sizeof bytes, solo->samples, SOLO_SAMPLES);
    for (uint32_t i = 0; i < SOLO_ROWS; i++)
        proto_solo_row(coder, i, layout, against, &third, rows[i]);
    size_t size = proto_solo_end(coder);
    if (size == 0) return; // no room, or no bytes
    proto_solo_begin_read(coder, &solo->model, bytes, size, solo->samples, SOLO_SAMPLES);
    for (uint32_t i = 0; i < SOLO_ROWS; i++) {
        proto_solo_row(coder, i, layout, against, &third, again);
        FUZZ_CHECK(memcmp(again, rows[i], layout->field_count * sizeof *again) == 0);
    }
    FUZZ_CHECK(proto_solo_end(coder) == size);
}

static void read_words(fuzz_source* source, const proto_layout* layout, uint64_t* words) {
    for (uint32_t f = 0; f < layout->field_count; f++)
        words[f] = read_word(source, &layout->fields[f].quant);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz_source source = {data, size};
    proto_layout* layout = calloc(1, sizeof *layout);
    FUZZ_CHECK(layout);
    read_layout(&source, layout);
    uint64_t base[WORDS_MAX], base2[WORDS_MAX], row[WORDS_MAX];
    proto_row_base against = {.base = base, .ticks = next(&source), .ticks2 = next(&source)};
    if (against.ticks2 > 0) against.base2 = base2;
    read_words(&source, layout, base);
    read_words(&source, layout, base2);
    check_solo(layout, &against, &source);
    proto_bit_reader reader = proto_bit_reader_make(source.at, source.left);
    bool is_absent = proto_row_read_absent(&reader);
    if (!is_absent) proto_row_read(layout, &against, row, &reader, NULL);
    if (is_absent || reader.failed) {
        free(layout);
        return 0;
    }
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const proto_quant* quant = &layout->fields[f].quant;
        FUZZ_CHECK(quant->bits == 64 || row[f] >> quant->bits == 0);
        FUZZ_CHECK(proto_quant_canonical(quant, row[f]) == row[f]);
    }
    check_memory(layout, row, base);
    check_row(layout, &against, row);
    check_encoder(layout, &against, row);
    free(layout);
    return 0;
}
