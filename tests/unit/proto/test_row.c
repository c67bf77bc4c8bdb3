// SPDX-License-Identifier: MIT
// Rows coded against one and two older rows: a model with random layouts and random movement, and
// edge cases.
#include "test.h"

#include "proto/layout.h"
#include "proto/solo.h"
#include "row/row_coder.h"

enum { WORDS_MAX = 72, BYTES_MAX = 1024, ROUNDS = 400, STEPS = 12, SPEED_NONE = 2048 };

// Make a layout from a text: a word per component, a letter per field.
//   b bool, x exact float, X exact double, q 16-bit float, p 3-bit float, i exact i32, l exact i64,
//   u u8 from 1, e entity,
//   f, g, h floats of 22, 23 and 24 bits,
//   n 9-bit integer; "r" alone is a rotation of 9 bits, "R" one of 15; a word beginning with 'v' is
//   a velocity of 12-bit floats, one with 's' a position of 16-bit floats that is the integral of
//   the component before it.
static void add_field(proto_layout* layout, char letter) {
    proto_row_field* field = &layout->fields[layout->field_count++];
    field->offset_bytes = 8u * layout->components[layout->component_count - 1].field_count++;
    proto_quant* quant = &field->quant;
    bool is_made = letter == 'b'   ? proto_quant_make(quant, PROTO_BOOL, 0, 0, 0)
                   : letter == 'x' ? proto_quant_make(quant, PROTO_F32, 0, 0, 0)
                   : letter == 'X' ? proto_quant_make(quant, PROTO_F64, 0, 0, 0)
                   : letter == 'q' ? proto_quant_make(quant, PROTO_F32, 16, -3.3, 0.01)
                   : letter == 'f' ? proto_quant_make(quant, PROTO_F64, 22, 0, 1)
                   : letter == 'g' ? proto_quant_make(quant, PROTO_F64, 23, 0, 1)
                   : letter == 'h' ? proto_quant_make(quant, PROTO_F64, 24, 0, 1)
                   : letter == 'p' ? proto_quant_make(quant, PROTO_F32, 3, 0, 1)
                   : letter == 'v' ? proto_quant_make(quant, PROTO_F32, 12, -64, 1.0 / 32)
                   : letter == 's' ? proto_quant_make(quant, PROTO_F32, 16, 0, 1.0 / 128)
                   : letter == 'i' ? proto_quant_make(quant, PROTO_I32, 0, 0, 0)
                   : letter == 'l' ? proto_quant_make(quant, PROTO_I64, 0, 0, 0)
                   : letter == 'u' ? proto_quant_make(quant, PROTO_U8, 8, 1, 1)
                   : letter == 'n' ? proto_quant_make(quant, PROTO_I16, 9, -9, 1)
                   : letter == 'w' ? proto_quant_make(quant, PROTO_U8, 2, 0, 1)
                   : letter == 'r' ? proto_quant_make(quant, PROTO_U16, 9, 0, 1)
                   : letter == 'R' ? proto_quant_make(quant, PROTO_U16, 15, 0, 1)
                                   : proto_quant_make(quant, PROTO_ENTITY, 0, 0, 0);
    assert_true(is_made);
}

static void build(proto_layout* layout, const char* text, uint32_t tick_rate_hz) {
    memset(layout, 0, sizeof *layout);
    layout->tick_rate_hz = tick_rate_hz;
    for (const char* at = text; *at; at++) {
        if (*at == ' ') continue;
        if (at == text || at[-1] == ' ') {
            layout->components[layout->component_count++] = (proto_row_component){
                .key = layout->component_count + 1, .field_first = (uint16_t)layout->field_count};
        }
        proto_row_component* own = &layout->components[layout->component_count - 1];
        own->is_rotation = *at == 'r' || *at == 'R';
        if (own->is_rotation) add_field(layout, 'w');
        for (uint32_t i = 0; own->is_rotation && i < 2; i++)
            add_field(layout, *at);
        add_field(layout, *at);
        if (*at == 's') own->integral = (uint8_t)(layout->component_count - 1);
        if (!own->is_rotation) continue;
        proto_row_field* fields = &layout->fields[own->field_first];
        for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++)
            fields[i].quant.q_max = (*at == 'r' ? 510 : 32766);
    }
    proto_layout_finish(layout);
}

static const char* const texts[] = {
    "q",
    "qq",
    "qqq",
    "qqqq",
    "p",
    "r",
    "R",
    "vv ss",
    "vvv sss",
    "v s",
    "b",
    "e",
    "i",
    "u",
    "x",
    "X",
    "b r qqq",
    "u q b",
    "u n q u",
    "vv ss b",
    "q q q q q",
    "qq qq",
    "bb ii ee",
    "u vv ss q u",
    "b b b b b b b b b b b b b b b b b b b b b",
    "qlxXuebn",
    "qqqqqqqqqqqqqqqqqqqq",
    "q vv ss r u u e b qq qq",
    "v s u q vv ss n",
    "r qqq vvvv ssss b u",
    // Plain ones, and the limits of these: 4 fields, 16 components, 32 words, 23 bits.
    "f fff gg",
    "g u ggg",
    "h u ggg",
    "q u qqq u",
    "qqq uu b bbbb qq n i u",
    "qqqq q bbbb",
    "qqqqq q bbbb",
    "q u q b q n q i q u q u q u u",
    "q u q b q n q i q u q u q u q u",
    "q u q b q n q i q u q u q u q u u",
    "qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqq",
    "qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqqq",
    "qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqqq u",
    // 63, 64 and 65 fields: the encoder has a plan for PROTO_ROW_PLANNED_MAX
    "qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuu",
    "qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuuu",
    "qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuuuu",
};

_Static_assert(PROTO_ROW_PLANNED_MAX == 64, "the texts above are at this limit");
_Static_assert(PROTO_PLAIN_COMPONENTS_MAX == 16 && PROTO_PLAIN_WORDS_MAX == 32 &&
                   PROTO_PLAIN_LINE_BITS_MAX == 23,
               "and at these");

static uint64_t all_bits(const proto_quant* quant) {
    return quant->bits == 64 ? UINT64_MAX : (UINT64_C(1) << quant->bits) - 1;
}

static void random_rotation(const proto_layout* layout, uint32_t c, base_rng* rng, uint64_t* row) {
    double memory[4];
    for (uint32_t i = 0; i < 4; i++) {
        float part = (float)base_rng_u32(rng) / 2147483648.0f - 1.0f;
        memcpy((uint8_t*)memory + 8 * i, &part, sizeof part);
    }
    proto_row_read_component(layout, c, memory, row);
}

// Make the next row of an entity: moving values continue, resting ones sometimes jump.
static void step_row(const proto_layout* layout, base_rng* rng, const uint64_t* before,
                     int32_t* pace, uint64_t* row) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* own = &layout->components[c];
        bool is_stirred = base_rng_chance(rng, 0.4);
        for (uint32_t i = 0; i < own->field_count; i++) {
            uint32_t f = own->field_first + i;
            const proto_quant* quant = &layout->fields[f].quant;
            if (base_rng_chance(rng, 0.05)) pace[f] = (int32_t)base_rng_below(rng, 200) - 100;
            if (base_rng_chance(rng, 0.1)) pace[f] = 0;
            uint64_t word = before[f] + (uint64_t)(int64_t)pace[f];
            if (is_stirred && base_rng_chance(rng, 0.5)) word += base_rng_below(rng, 7) - 3;
            if (base_rng_chance(rng, 0.02)) word = base_rng_u64(rng);
            if (own->is_source && base_rng_chance(rng, 0.15)) word = SPEED_NONE;
            if (own->is_source && base_rng_chance(rng, 0.1))
                word = SPEED_NONE - 4 + base_rng_below(rng, 9);
            row[f] = proto_quant_canonical(quant, word & all_bits(quant));
        }
        if (!own->is_rotation) continue;
        memcpy(row + own->field_first, before + own->field_first, 4 * sizeof *row);
        if (base_rng_chance(rng, 0.1)) {
            random_rotation(layout, c, rng, row);
        } else if (is_stirred) {
            double memory[4];
            proto_row_write_component(layout, c, before, memory);
            float part;
            memcpy(&part, memory, sizeof part);
            part += 0.05f;
            memcpy(memory, &part, sizeof part);
            proto_row_read_component(layout, c, memory, row);
        }
    }
}

static bool are_all(const uint8_t* bytes, size_t first, size_t end, uint8_t value) {
    for (; first < end; first++)
        if (bytes[first] != value) return false;
    return true;
}

// The encoder of packed rows is another program: it must write the same bits.
static void check_encoder(const proto_layout* layout, const proto_row_base* against,
                          const uint64_t* row) {
    uint8_t general[BYTES_MAX] = {0}, encoded[BYTES_MAX];
    uint32_t packed[3][2 * WORDS_MAX + 1];
    uint64_t back[WORDS_MAX];
    proto_bit_writer writer = proto_bit_writer_make(general, BYTES_MAX);
    proto_row_write(layout, against, row, &writer, NULL);
    proto_row_pack(layout, row, packed[0]);
    proto_row_unpack(layout, packed[0], back);
    assert_memory_equal(back, row, layout->field_count * sizeof *row);
    proto_packed_base base = {packed[1], NULL, against->ticks, against->ticks2};
    proto_row_pack(layout, against->base, packed[1]);
    if (against->base2) {
        proto_row_pack(layout, against->base2, packed[2]);
        base.base2 = packed[2];
    }
    memset(encoded, 0xee, sizeof encoded);
    assert_int_equal(proto_row_encode(layout, &base, packed[0], encoded), writer.size_bits);
    size_t groups = (proto_bit_writer_bytes(&writer) + 7) / 8;
    assert_in_range(groups * 8, 0, layout->bits_max / 8 + 16);
    memset(general + proto_bit_writer_bytes(&writer), 0, 8);
    assert_memory_equal(encoded, general, proto_bit_writer_bytes(&writer));
    assert_true(are_all(encoded, proto_bit_writer_bytes(&writer), groups * 8, 0));
    assert_true(are_all(encoded, layout->bits_max / 8 + 16, BYTES_MAX, 0xee));
}

// Several rows at once have the bits that each has alone.
static void check_many(const proto_layout* layout, uint64_t (*rows)[WORDS_MAX], base_rng* rng) {
    uint32_t packed[STEPS][2 * WORDS_MAX + 1], bits[PROTO_ROW_JOBS_MAX];
    proto_row_times times[PROTO_ROW_JOBS_MAX];
    proto_row_job jobs[PROTO_ROW_JOBS_MAX];
    uint8_t one[BYTES_MAX], many[PROTO_ROW_JOBS_MAX * BYTES_MAX];
    const uint32_t count = 1 + base_rng_below(rng, PROTO_ROW_JOBS_MAX);
    for (uint32_t i = 0; i < STEPS; i++)
        proto_row_pack(layout, rows[i], packed[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ticks = base_rng_below(rng, 40), ticks2 = 1 + base_rng_below(rng, 300);
        times[i] = proto_row_times_make(ticks, base_rng_chance(rng, 0.5) ? 1 : ticks2);
        jobs[i] = (proto_row_job){packed[base_rng_below(rng, STEPS)],
                                  packed[base_rng_below(rng, STEPS)], NULL, &times[i]};
        if (base_rng_chance(rng, 0.8)) jobs[i].base2 = packed[base_rng_below(rng, STEPS)];
    }
    proto_row_encode_many(layout, jobs, count, many, bits);
    const uint8_t* at = many;
    for (uint32_t i = 0; i < count; i++) {
        const proto_packed_base base = {jobs[i].base, jobs[i].base2, times[i].ticks,
                                        times[i].ticks2};
        assert_int_equal(proto_row_encode(layout, &base, jobs[i].row, one), bits[i]);
        assert_memory_equal(one, at, (bits[i] + 63) / 64 * 8);
        at += (bits[i] + 63) / 64 * 8;
    }
}

static void check_round_trip(const proto_layout* layout, const proto_row_base* against,
                             const uint64_t* row) {
    uint8_t data[BYTES_MAX];
    uint64_t back[WORDS_MAX];
    uint32_t written[PROTO_ROW_COMPONENTS_MAX] = {0}, taken[PROTO_ROW_COMPONENTS_MAX] = {0};
    check_encoder(layout, against, row);
    proto_bit_writer writer = proto_bit_writer_make(data, BYTES_MAX);
    proto_bits_write(&writer, 5, 3);
    proto_row_write(layout, against, row, &writer, written);
    proto_bits_write(&writer, 1, 1);
    assert_false(writer.failed);
    assert_in_range(writer.size_bits - 4, 0, layout->bits_max);
    proto_bit_reader reader = proto_bit_reader_make(data, proto_bit_writer_bytes(&writer));
    assert_int_equal(proto_bits_read(&reader, 3), 5);
    assert_false(proto_row_read_absent(&reader));
    memset(back, 0xee, sizeof back);
    proto_row_read(layout, against, back, &reader, taken);
    assert_int_equal(proto_bits_read(&reader, 1), 1);
    assert_false(reader.failed);
    assert_int_equal(reader.offset_bits, writer.size_bits);
    assert_memory_equal(back, row, layout->field_count * sizeof *row);
    assert_memory_equal(written, taken, layout->component_count * sizeof *written);
}

CASE(rows_survive_coding_against_any_bases) {
    static const uint32_t rates[] = {0, 60, 240}, seed = 41;
    const uint32_t rounds = test_scaled(ROUNDS / STEPS, 4);
    print_message("seed %u\n", (unsigned)seed);
    base_rng rng = base_rng_make(seed, 1);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t], 0);
        layout.tick_rate_hz = rates[t % BASE_COUNT(rates)];
        proto_layout_finish(&layout);
        for (uint32_t round = 0; round < rounds; round++) {
            uint64_t rows[STEPS][WORDS_MAX] = {{0}};
            int32_t pace[WORDS_MAX] = {0};
            for (uint32_t c = 0; c < layout.component_count; c++)
                if (layout.components[c].is_rotation) random_rotation(&layout, c, &rng, rows[0]);
            for (uint32_t f = 0; f < layout.field_count; f++)
                if (layout.fields[f].quant.kind == PROTO_U8 && layout.fields[f].quant.bits == 8)
                    rows[0][f] = 9;
            for (uint32_t i = 1; i < STEPS; i++)
                step_row(&layout, &rng, rows[i - 1], pace, rows[i]);
            for (uint32_t i = 0; i < STEPS; i++)
                check_many(&layout, rows, &rng);
            for (uint32_t i = 0; i < STEPS; i++) {
                for (uint32_t k = 0; k < STEPS; k++) {
                    proto_row_base against = {.base = rows[k]};
                    check_round_trip(&layout, &against, rows[i]);
                    against.ticks = base_rng_below(&rng, 40);
                    check_round_trip(&layout, &against, rows[i]);
                    against.base2 = rows[base_rng_below(&rng, STEPS)];
                    against.ticks2 = 1 + base_rng_below(&rng, base_rng_chance(&rng, 0.5) ? 4 : 300);
                    check_round_trip(&layout, &against, rows[i]);
                    against.ticks = UINT32_MAX;
                    check_round_trip(&layout, &against, rows[i]);
                }
            }
        }
    }
}

// Lines are followed with doubles: each of them gives the word that whole numbers give.
CASE(lines_are_exact_at_all_distances) {
    static proto_layout layout;
    build(&layout, "g u ggg", 0);
    base_rng rng = base_rng_make(48, 1);
    const uint32_t most = (1u << PROTO_PLAIN_LINE_BITS_MAX) - 1;
    for (uint32_t ticks = 1; ticks <= 32; ticks++) {
        for (uint32_t ticks2 = 1; ticks2 <= 255; ticks2++) {
            const proto_row_times times = proto_row_times_make(ticks, ticks2);
            const int64_t least = INT64_C(1) << base_rng_below(&rng, 32);
            for (int64_t near = -2; near <= 2; near++) {
                int64_t pace = (base_rng_chance(&rng, 0.5) ? least : -least) + near;
                if (pace > INT32_MAX || pace < INT32_MIN) pace = INT32_MIN;
                assert_int_equal(row_line_way(&times, (int32_t)pace),
                                 row_divide(2 * pace * ticks + ticks2, 2 * (int64_t)ticks2));
            }
            uint64_t rows[3][WORDS_MAX] = {{0}};
            for (uint32_t f = 0; f < layout.field_count; f++) {
                rows[1][f] = f == 1 ? 5 : base_rng_below(&rng, most + 1);
                uint64_t step = base_rng_below(&rng, 1u << base_rng_below(&rng, 23));
                rows[2][f] = f == 1 ? 5 : (rows[1][f] - step) & most;
                step = (step * ticks + ticks2 / 2) / ticks2; // the line, more or less
                rows[0][f] = f == 1 ? 5 : (rows[1][f] + step) & most;
            }
            rows[1][2] = 0; // half of all words from one to the other
            rows[2][2] = (most + 1) / 2;
            const proto_row_base against = {rows[1], rows[2], ticks, ticks2};
            check_encoder(&layout, &against, rows[0]);
        }
    }
}

// ---- solo code ----

enum { SOLO_BODY = 8, SOLO_ROUNDS = 3, SOLO_SAMPLES = 1024, SOLO_BYTES = 1 << 14 };

typedef struct solo_side {
    proto_solo_model model;
    proto_solo_coder coder;
    proto_solo_sample samples[SOLO_SAMPLES];
} solo_side;

static solo_side* solo_sides(void) {
    solo_side* sides = malloc(3 * sizeof *sides);
    assert_non_null(sides);
    for (uint32_t i = 0; i < 3; i++)
        proto_solo_model_reset(&sides[i].model);
    return sides;
}

// Write a body of rows, read it, and take samples of it without reading. All train with it.
static size_t check_solo_body(solo_side* sides, const proto_layout* layout,
                              uint64_t (*rows)[WORDS_MAX], base_rng* rng) {
    static uint8_t bytes[SOLO_BYTES];
    proto_row_base bases[SOLO_BODY];
    proto_solo_third thirds[SOLO_BODY];
    uint64_t back[WORDS_MAX];
    proto_solo_begin_write(&sides[0].coder, &sides[0].model, bytes, sizeof bytes, sides[0].samples,
                           SOLO_SAMPLES);
    for (uint32_t i = 0; i < SOLO_BODY; i++) {
        uint32_t of = base_rng_below(rng, STEPS), old = base_rng_below(rng, STEPS);
        bases[i] = (proto_row_base){.base = rows[of], .ticks = base_rng_below(rng, 40)};
        if (base_rng_chance(rng, 0.7)) {
            bases[i].base2 = rows[old];
            bases[i].ticks2 = 1 + base_rng_below(rng, 3);
        }
        thirds[i] = (proto_solo_third){.row = rows[base_rng_below(rng, STEPS)]};
        if (base_rng_chance(rng, 0.8)) thirds[i].ticks = base_rng_below(rng, 20);
        proto_solo_row(&sides[0].coder, i % 2, layout, &bases[i], i % 4 ? &thirds[i] : NULL,
                       rows[STEPS - 1 - i % STEPS]);
    }
    size_t size = proto_solo_end(&sides[0].coder);
    assert_true(size > 0 || layout->field_count <= 2);
    if (size == 0) return 0;
    proto_solo_begin_read(&sides[1].coder, &sides[1].model, bytes, size, sides[1].samples,
                          SOLO_SAMPLES);
    proto_solo_begin_sample(&sides[2].coder, &sides[2].model, sides[2].samples, SOLO_SAMPLES);
    for (uint32_t i = 0; i < SOLO_BODY; i++) {
        uint64_t* row = rows[STEPS - 1 - i % STEPS];
        memset(back, 0xee, sizeof back);
        proto_solo_row(&sides[1].coder, i % 2, layout, &bases[i], i % 4 ? &thirds[i] : NULL, back);
        assert_memory_equal(back, row, layout->field_count * sizeof *row);
        proto_solo_row(&sides[2].coder, i % 2, layout, &bases[i], i % 4 ? &thirds[i] : NULL, row);
    }
    assert_int_equal(proto_solo_end(&sides[1].coder), size);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t count = sides[i].coder.sample_count;
        assert_int_equal(count, sides[0].coder.sample_count);
        assert_memory_equal(sides[i].samples, sides[0].samples, count * sizeof(proto_solo_sample));
        proto_solo_train(&sides[i].model, sides[i].samples, count);
    }
    return size;
}

CASE(rows_survive_solo_code) {
    base_rng rng = test_rng(48, 1);
    static proto_layout layout;
    solo_side* sides = solo_sides();
    uint64_t sum = 0;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t], 60);
        for (uint32_t round = 0; round < SOLO_ROUNDS; round++) {
            uint64_t rows[STEPS][WORDS_MAX] = {{0}};
            int32_t pace[WORDS_MAX] = {0};
            for (uint32_t c = 0; c < layout.component_count; c++)
                if (layout.components[c].is_rotation) random_rotation(&layout, c, &rng, rows[0]);
            for (uint32_t f = 0; f < layout.field_count; f++)
                rows[0][f] = proto_quant_canonical(&layout.fields[f].quant, rows[0][f]);
            for (uint32_t i = 1; i < STEPS; i++)
                step_row(&layout, &rng, rows[i - 1], pace, rows[i]);
            sum += check_solo_body(sides, &layout, rows, &rng);
        }
    }
    assert_memory_equal(&sides[0].model, &sides[1].model, sizeof sides[0].model);
    assert_memory_equal(&sides[0].model, &sides[2].model, sizeof sides[0].model);
    assert_true(sum > 1000);
    free(sides);
}

// What always repeats costs nearly nothing once it was learned; a surprise stays readable.
CASE(solo_code_learns_what_repeats) {
    solo_side* sides = solo_sides();
    uint8_t bytes[256];
    size_t sizes[2] = {0};
    for (uint32_t round = 0; round < 60; round++) {
        proto_solo_begin_write(&sides[0].coder, &sides[0].model, bytes, sizeof bytes,
                               sides[0].samples, SOLO_SAMPLES);
        for (uint32_t i = 0; i < 20; i++)
            (void)proto_solo_number(&sides[0].coder, PROTO_NUMBER_RUN, i % 2, i % 2 ? -70000 : 9);
        sizes[round > 0] = proto_solo_end(&sides[0].coder);
        proto_solo_train(&sides[0].model, sides[0].samples, sides[0].coder.sample_count);
    }
    assert_true(sizes[0] > 40 && sizes[1] < sizes[0] / 2); // low bits are never learned
    static const int64_t odd[] = {0, 1, -1, INT64_MAX, INT64_MIN, -12345678901, 15, 16, 17};
    proto_solo_begin_write(&sides[0].coder, &sides[0].model, bytes, sizeof bytes, sides[0].samples,
                           SOLO_SAMPLES);
    for (uint32_t i = 0; i < BASE_COUNT(odd); i++)
        (void)proto_solo_number(&sides[0].coder, PROTO_NUMBER_RUN, 1, odd[i]);
    size_t size = proto_solo_end(&sides[0].coder);
    sides[1].model = sides[0].model;
    proto_solo_begin_read(&sides[1].coder, &sides[1].model, bytes, size, sides[1].samples, 3);
    for (uint32_t i = 0; i < BASE_COUNT(odd); i++)
        assert_true(proto_solo_number(&sides[1].coder, PROTO_NUMBER_RUN, 1, 77) == odd[i]);
    assert_int_equal(proto_solo_end(&sides[1].coder), size);
    assert_int_equal(sides[1].coder.sample_count, 3); // there was no room for more
    free(sides);
}

CASE(solo_code_is_bounded) {
    solo_side* sides = solo_sides();
    proto_solo_coder* coder = &sides[0].coder;
    uint8_t bytes[SOLO_BYTES];
    memset(bytes, 0x5a, sizeof bytes);
    // A reader takes so many numbers and no more, whatever is left to read.
    proto_solo_begin_read(coder, &sides[0].model, bytes, sizeof bytes, sides[0].samples, 0);
    for (uint32_t i = 0; i < PROTO_SOLO_NUMBERS_MAX; i++)
        (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 0);
    assert_false(coder->failed);
    (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 0);
    assert_true(coder->failed);
    assert_int_equal(proto_solo_end(coder), 0);
    // Bytes left over, no bytes, and a last byte of 0 are refused.
    proto_solo_begin_read(coder, &sides[0].model, bytes, 64, sides[0].samples, 0);
    (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, 0);
    assert_int_equal(proto_solo_end(coder), 0);
    proto_solo_begin_read(coder, &sides[0].model, bytes, 0, sides[0].samples, 0);
    assert_true(coder->failed);
    bytes[63] = 0;
    proto_solo_begin_read(coder, &sides[0].model, bytes, 64, sides[0].samples, 0);
    assert_true(coder->failed);
    // A writer without room fails and writes nothing beyond it, whatever it carries.
    uint64_t wide = UINT64_MAX >> 1;
    for (size_t room = 0; room < 40; room++) {
        memset(bytes, 0xee, sizeof bytes);
        proto_solo_begin_write(coder, &sides[0].model, bytes, room, sides[0].samples, 0);
        for (uint32_t i = 0; i < 5; i++)
            (void)proto_solo_number(coder, PROTO_NUMBER_RUN, 0, (int64_t)(wide - i));
        size_t size = proto_solo_end(coder);
        assert_true(size <= room);
        assert_true(are_all(bytes, room, sizeof bytes, 0xee));
    }
    free(sides);
}

CASE(wild_rows_stay_below_the_bound) {
    base_rng rng = test_rng(42, 1);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t], 60);
        for (uint32_t round = 0; round < test_scaled(ROUNDS, 40); round++) {
            uint64_t rows[3][WORDS_MAX];
            for (uint32_t i = 0; i < 3; i++) {
                for (uint32_t f = 0; f < layout.field_count; f++) {
                    const proto_quant* quant = &layout.fields[f].quant;
                    uint64_t word =
                        base_rng_chance(&rng, 0.2) ? all_bits(quant) >> 1 : base_rng_u64(&rng);
                    rows[i][f] = proto_quant_canonical(quant, word & all_bits(quant));
                }
                for (uint32_t c = 0; c < layout.component_count; c++)
                    if (layout.components[c].is_rotation)
                        random_rotation(&layout, c, &rng, rows[i]);
            }
            proto_row_base against = {rows[0], round % 4 ? rows[1] : NULL, round % 35,
                                      1 + round % 3};
            check_round_trip(&layout, &against, rows[2]);
        }
    }
}

CASE(any_bits_give_a_canonical_row_or_a_failed_reader) {
    base_rng rng = test_rng(43, 1);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t], 60);
        for (uint32_t round = 0; round < test_scaled(2000, 200); round++) {
            uint64_t rows[2][WORDS_MAX] = {{0}}, row[WORDS_MAX];
            int32_t pace[WORDS_MAX] = {0};
            for (uint32_t c = 0; c < layout.component_count; c++)
                if (layout.components[c].is_rotation) random_rotation(&layout, c, &rng, rows[0]);
            step_row(&layout, &rng, rows[0], pace, rows[1]);
            uint8_t data[64];
            size_t size = base_rng_below(&rng, sizeof data + 1);
            for (size_t i = 0; i < size; i++)
                data[i] = base_rng_chance(&rng, 0.7) ? (uint8_t)base_rng_u32(&rng) : 0;
            proto_bit_reader reader = proto_bit_reader_make(data, size);
            proto_row_base against = {rows[1], round % 3 ? rows[0] : NULL, round % 9,
                                      1 + round % 2};
            proto_row_read(&layout, &against, row, &reader, NULL);
            if (reader.failed) continue;
            for (uint32_t f = 0; f < layout.field_count; f++) {
                const proto_quant* quant = &layout.fields[f].quant;
                assert_true((row[f] & ~all_bits(quant)) == 0);
                assert_true(proto_quant_canonical(quant, row[f]) == row[f]);
            }
            for (uint32_t c = 0; c < layout.component_count; c++) {
                if (!layout.components[c].is_rotation) continue;
                uint64_t again[WORDS_MAX];
                double memory[4];
                proto_row_write_component(&layout, c, row, memory);
                proto_row_read_component(&layout, c, memory, again);
                uint32_t first = layout.components[c].field_first;
                assert_memory_equal(again + first, row + first, 4 * sizeof *row);
            }
        }
    }
}

CASE(absent_is_the_same_six_bits_and_no_row) {
    uint8_t data[2];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_row_write_absent(&writer);
    assert_int_equal(writer.size_bits, 6);
    assert_int_equal(data[0], 0x20);
    proto_bit_reader reader = proto_bit_reader_make(data, 1);
    assert_true(proto_row_read_absent(&reader));
    assert_int_equal(reader.offset_bits, 6);
    assert_false(proto_row_read_absent(&reader)); // two bits are left
    assert_int_equal(reader.offset_bits, 6);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t], 60);
        uint64_t base[WORDS_MAX] = {0}, row[WORDS_MAX];
        proto_row_base against = {base, base, 1, 1};
        reader = proto_bit_reader_make(data, sizeof data);
        proto_row_read(&layout, &against, row, &reader, NULL);
        assert_true(reader.failed);
    }
}

CASE(rotations_survive_memory) {
    base_rng rng = test_rng(44, 1);
    static proto_layout layout;
    static const float corners[][4] = {{0, 0, 0, 1},
                                       {0, 0, 0, -1},
                                       {1, 0, 0, 0},
                                       {0.5f, 0.5f, 0.5f, 0.5f},
                                       {-0.5f, 0.5f, -0.5f, 0.5f},
                                       {0.70710678f, 0.70710678f, 0, 0},
                                       {0, -0.70710678f, 0, 0.70710678f},
                                       {0, 0, 0, 0},
                                       {__builtin_nanf(""), 0, 0, 1},
                                       {__builtin_inff(), 0, 0, 1},
                                       {3, 4, 0, 0}};
    for (uint32_t bits = 0; bits < 2; bits++) {
        build(&layout, bits ? "R" : "r", 60);
        for (uint32_t round = 0; round < 20000; round++) {
            double memory[4], second[4];
            uint64_t words[4], again[4];
            for (uint32_t i = 0; i < 4; i++) {
                float part = (float)base_rng_u32(&rng) / 2147483648.0f - 1.0f;
                if (round % 3 == 0 && i > 0)
                    part = part < 0 ? -0.5f : 0.5f + part * 1e-3f; // near ties
                if (round < BASE_COUNT(corners)) part = corners[round][i];
                memcpy(&memory[i], &part, sizeof part);
            }
            proto_row_read_component(&layout, 0, memory, words);
            assert_true(words[0] < 4);
            proto_row_write_component(&layout, 0, words, second);
            proto_row_read_component(&layout, 0, second, again);
            assert_memory_equal(words, again, sizeof words);
            float parts[4];
            for (uint32_t i = 0; i < 4; i++)
                memcpy(&parts[i], &second[i], sizeof parts[i]);
            float square = parts[0] * parts[0] + parts[1] * parts[1] + parts[2] * parts[2] +
                           parts[3] * parts[3];
            assert_true(square > 0.98f && square < 1.03f);
        }
        double memory[4] = {0};
        uint64_t identity[4] = {3, layout.fields[1].quant.q_max / 2,
                                layout.fields[1].quant.q_max / 2, layout.fields[1].quant.q_max / 2};
        float parts[4];
        proto_row_write_component(&layout, 0, identity, memory);
        for (uint32_t i = 0; i < 4; i++)
            memcpy(&parts[i], &memory[i], sizeof parts[i]);
        assert_true(parts[0] == 0 && parts[1] == 0 && parts[2] == 0 && parts[3] == 1);
    }
}

// Count the bits of n rows, each coded against the row `lag` before it and the row before that.
static uint64_t cost(const proto_layout* layout, uint64_t (*rows)[WORDS_MAX], uint32_t count,
                     uint32_t lag) {
    uint64_t bits = 0;
    for (uint32_t i = lag + 1; i < count; i++) {
        uint8_t data[BYTES_MAX];
        proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
        proto_row_base against = {rows[i - lag], rows[i - lag - 1], lag, 1};
        proto_row_write(layout, &against, rows[i], &writer, NULL);
        bits += writer.size_bits;
    }
    return bits;
}

CASE(what_goes_on_takes_a_bit_or_two) {
    static proto_layout layout;
    uint64_t rows[40][WORDS_MAX] = {{0}};
    build(&layout, "vv ss", 60);
    for (uint32_t i = 0; i < 40; i++) {
        rows[i][0] = 2048 + 150;
        rows[i][1] = 2048 - 45;
        rows[i][2] = 1000 + 10 * i; // 150 / 32 m/s in a tick of 1/60 s: 10 steps of 1/128 m
        rows[i][3] = 9000 - 3 * i;
    }
    assert_in_range(cost(&layout, rows, 40, 6) / 33, 1, 3);
    assert_in_range(cost(&layout, rows, 40, 1) / 38, 1, 3);
    proto_layout unknown = layout; // without a rate the line through both rows does nearly as well
    unknown.tick_rate_hz = 0;
    proto_layout_finish(&unknown);
    assert_in_range(cost(&unknown, rows, 40, 6) / 33, 1, 10);
    build(&layout, "qqq", 60);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t f = 0; f < 3; f++)
            rows[i][f] = 1000 + 7 * i;
    assert_in_range(cost(&layout, rows, 40, 1) / 38, 1, 8);
}

CASE(an_integral_that_does_not_fit_is_an_ordinary_component) {
    static proto_layout layout;
    build(&layout, "vv s", 60); // another number of fields
    assert_false(layout.components[1].is_driven);
    build(&layout, "vv ss", 60);
    assert_true(layout.components[1].is_driven);
    assert_int_equal(layout.order[0], 0);
    layout.components[0].integral = 2; // each is the source of the other
    proto_layout_finish(&layout);
    assert_false(layout.components[0].is_driven);
    assert_false(layout.components[1].is_driven);
    build(&layout, "ii ss", 60); // a source of whole numbers
    assert_false(layout.components[1].is_driven);
}
