// SPDX-License-Identifier: MIT
// Rows coded against one and two older rows: a model with random layouts and random movement, and
// edge cases.
#include "rows.h"

enum { ROUNDS = 400 };

static uint32_t encode_one(const proto_layout* layout, const proto_packed_base* against,
                           const uint32_t* row, uint8_t* bytes) {
    const proto_row_times times =
        proto_row_times_make(against->ticks, against->base2 ? against->ticks2 : 1);
    uint32_t bits;
    proto_row_encode_many(layout, &(proto_row_job){row, against->base, against->base2, &times, 0},
                          1, bytes, &bits);
    return bits;
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
    assert_int_equal(encode_one(layout, &base, packed[0], encoded), writer.size_bits);
    size_t groups = (proto_bit_writer_bytes(&writer) + 7) / 8;
    assert_in_range(groups * 8, 0, layout->bits_max / 8 + 16);
    memset(general + proto_bit_writer_bytes(&writer), 0, 8);
    assert_memory_equal(encoded, general, proto_bit_writer_bytes(&writer));
    assert_true(are_all(encoded, proto_bit_writer_bytes(&writer), groups * 8, 0));
    assert_true(are_all(encoded, layout->bits_max / 8 + 16, BYTES_MAX, 0xee));
}

// A row and its bases with the same words where the job hides them.
static void hide(const proto_layout* layout, const proto_row_job* job,
                 uint32_t (*rows)[2 * WORDS_MAX + 1]) {
    const uint32_t* of[] = {job->row, job->base, job->base2 ? job->base2 : job->base};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t w = 0; w < layout->packed_count; w++)
            rows[i][w] = of[w < 64 && job->hidden >> w & 1 ? 1 : i][w];
}

static uint64_t pick_hidden(const proto_layout* layout, base_rng* rng) {
    uint64_t hidden = 0;
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (base_rng_chance(rng, 0.3)) hidden |= proto_row_words(layout, c);
    return hidden;
}

// Several rows at once have the bits that each has alone, also with hidden words.
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
                                  packed[base_rng_below(rng, STEPS)], NULL, &times[i], 0};
        if (base_rng_chance(rng, 0.8)) jobs[i].base2 = packed[base_rng_below(rng, STEPS)];
        if (base_rng_chance(rng, 0.5)) jobs[i].hidden = pick_hidden(layout, rng);
    }
    proto_row_encode_many(layout, jobs, count, many, bits);
    const uint8_t* at = many;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t shown[3][2 * WORDS_MAX + 1];
        hide(layout, &jobs[i], shown);
        const proto_packed_base base = {shown[1], jobs[i].base2 ? shown[2] : NULL, times[i].ticks,
                                        times[i].ticks2};
        assert_int_equal(encode_one(layout, &base, shown[0], one), bits[i]);
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
    uint32_t number = 0;
    for (const char* text = texts; text; text = next_text(text)) {
        build(&layout, text, 0);
        layout.tick_rate_hz = rates[number++ % BASE_COUNT(rates)];
        proto_layout_finish(&layout);
        for (uint32_t round = 0; round < rounds; round++) {
            uint64_t rows[STEPS][WORDS_MAX];
            random_rows(&layout, &rng, rows);
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

CASE(any_bits_give_a_canonical_row_or_a_failed_reader) {
    base_rng rng = test_rng(43, 1);
    static proto_layout layout;
    for (const char* text = texts; text; text = next_text(text)) {
        build(&layout, text, 60);
        for (uint32_t round = 0; round < test_scaled(2000, 200); round++) {
            uint64_t rows[STEPS][WORDS_MAX], row[WORDS_MAX];
            random_rows(&layout, &rng, rows);
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
    for (const char* text = texts; text; text = next_text(text)) {
        build(&layout, text, 60);
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

// ---- against one row ----

static void encode(const proto_layout* layout, const uint64_t* base, const uint64_t* row,
                   proto_bit_writer* writer) {
    proto_row_base against = {.base = base};
    proto_row_write(layout, &against, row, writer, NULL);
}

static void decode(const proto_layout* layout, const uint64_t* base, uint64_t* row,
                   proto_bit_reader* reader) {
    proto_row_base against = {.base = base};
    proto_row_read(layout, &against, row, reader, NULL);
}

CASE(an_equal_row_takes_a_few_bits) {
    static proto_layout layout;
    build(&layout, "qq i bbb", 0);
    uint64_t base[6] = {1, 2, 3, 0, 1, 0};
    uint8_t data[64];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, base, &writer);
    assert_true(writer.size_bits <= 5);
}

CASE(a_value_of_a_game_takes_little_more_than_a_byte) {
    static proto_layout layout;
    build(&layout, "qq i bbb u", 0);
    uint64_t base[7] = {30000, 30000, 100, 0, 1, 0, 7};
    static const struct {
        uint32_t field;
        uint64_t value;
        uint32_t bits_max;
    } steps[] = {{2, 90, 12}, {2, 99, 8}, {3, 1, 8}, {6, 8, 8}, {6, 4, 10}};
    for (size_t i = 0; i < BASE_COUNT(steps); i++) {
        uint64_t row[7];
        memcpy(row, base, sizeof row);
        row[steps[i].field] = steps[i].value;
        uint8_t data[64];
        proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
        encode(&layout, base, row, &writer);
        assert_in_range(writer.size_bits, 1, steps[i].bits_max);
    }
}

CASE(differences_wrap_around_the_width) {
    static proto_layout layout;
    build(&layout, "i", 0);
    uint64_t base[1] = {0xffffffff}, row[1] = {2}, back[1];
    uint8_t data[16];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, row, &writer);
    assert_true(writer.size_bits < 16);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    decode(&layout, base, back, &reader);
    assert_true(back[0] == 2);
}

CASE(truncated_rows_fail) {
    static proto_layout layout;
    build(&layout, "qq l", 0);
    uint64_t base[3] = {1, 2, 3}, row[3] = {50000, 40000, UINT64_MAX / 3}, back[3];
    uint8_t data[32];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, row, &writer);
    for (size_t size = 0; size < proto_bit_writer_bytes(&writer); size++) {
        proto_bit_reader reader = proto_bit_reader_make(data, size);
        decode(&layout, base, back, &reader);
        assert_true(reader.failed);
    }
}

CASE(components_pass_through_memory) {
    static proto_layout layout;
    build(&layout, "b qi", 0);
    struct {
        float position;
        uint32_t gap;
        int32_t score;
        uint32_t tail;
    } value = {1.234f, 0xdddddddd, -7, 0xeeeeeeee};
    uint64_t row[3] = {1, 0, 0};
    proto_row_read_component(&layout, 1, &value, row);
    assert_int_equal(row[0], 1);
    assert_int_equal(row[1], 453);
    assert_true(row[2] == 0xfffffff9);
    value.position = 0;
    value.score = 0;
    proto_row_write_component(&layout, 1, row, &value);
    assert_int_equal(value.score, -7);
    assert_true(value.position > 1.229f && value.position < 1.231f);
    assert_true(value.gap == 0xdddddddd && value.tail == 0xeeeeeeee);
    expect_assert_failure(proto_row_read_component(&layout, 2, &value, row));
}

CASE(components_without_fields_take_nothing) {
    static proto_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.component_count = PROTO_ROW_COMPONENTS_MAX;
    proto_layout_finish(&layout);
    uint8_t data[8];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    uint64_t none = 0;
    encode(&layout, &none, &none, &writer);
    assert_false(writer.failed);
    assert_int_equal(writer.size_bits, 2);
    layout.component_count++;
    expect_assert_failure(proto_layout_finish(&layout));
}

CASE(every_field_of_a_full_row_works) {
    static proto_layout layout;
    memset(&layout, 0, sizeof layout);
    static uint64_t base[PROTO_ROW_FIELDS_MAX], row[PROTO_ROW_FIELDS_MAX],
        back[PROTO_ROW_FIELDS_MAX];
    layout.field_count = PROTO_ROW_FIELDS_MAX;
    layout.component_count = PROTO_ROW_COMPONENTS_MAX;
    for (uint16_t c = 0; c < PROTO_ROW_COMPONENTS_MAX; c++)
        layout.components[c] =
            (proto_row_component){.key = c, .field_first = (uint16_t)(c * 4), .field_count = 4};
    for (uint32_t f = 0; f < PROTO_ROW_FIELDS_MAX; f++) {
        assert_true(proto_quant_make(&layout.fields[f].quant, PROTO_U64, 0, 0, 0));
        row[f] = UINT64_MAX - f * UINT64_C(0x123456789abcdef);
    }
    proto_layout_finish(&layout);
    static uint8_t data[PROTO_ROW_FIELDS_MAX * 10];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, row, &writer);
    assert_true(writer.size_bits <= layout.bits_max);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    decode(&layout, base, back, &reader);
    assert_memory_equal(back, row, sizeof row);
}
