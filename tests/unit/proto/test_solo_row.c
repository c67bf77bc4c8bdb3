// SPDX-License-Identifier: MIT
// Rows in solo code: a writer, a reader and one who only takes samples stay equal.
#include "rows.h"

#include "proto/solo.h"

#include "base/hash.h"

enum { SOLO_BODY = 8, SOLO_ROUNDS = 5, SOLO_SAMPLES = 1024, SOLO_BYTES = 1 << 14 };

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
    for (const char* text = texts; text; text = next_text(text)) {
        build(&layout, text, 60);
        for (uint32_t round = 0; round < SOLO_ROUNDS; round++) {
            uint64_t rows[STEPS][WORDS_MAX];
            random_rows(&layout, &rng, rows);
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

static uint64_t hash_lanes(uint64_t hash, const void* of, size_t size) {
    return base_hash64_mix(hash, base_hash64(of, size, 0));
}

// Registers train several statistics at once where the machine has them; the figure is that of one
// after the other.
CASE(training_gives_the_same_statistics_on_every_machine) {
    enum { FIELDS = 24, SAMPLES = 40000 };
    solo_side* sides = solo_sides();
    proto_solo_model* model = &sides->model;
    base_rng rng = base_rng_make(48, 1);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t field = base_rng_below(&rng, FIELDS) * (PROTO_SOLO_FIELDS / FIELDS);
        const uint64_t situation = base_rng_below(&rng, 1u << (2 + field % 18));
        const uint32_t length = 1 + base_rng_below(&rng, 1 + field % 63);
        const bool is_zero = field % 5 == 0 || base_rng_below(&rng, 32) < field % 32;
        const uint32_t told = is_zero ? 0 : length << 4 | base_rng_below(&rng, 16);
        const proto_solo_sample sample = situation << 24 | (uint64_t)field << 12 | told;
        proto_solo_train(model, &sample, 1);
    }
    uint64_t hash = hash_lanes(0, model->facts, sizeof model->facts);
    for (uint32_t i = 0; i < BASE_COUNT(model->fact_weights); i++)
        hash = hash_lanes(hash, model->fact_weights[i], PROTO_SOLO_FACT_CONTEXTS * 2);
    hash = hash_lanes(hash, model->tables, sizeof model->tables);
    hash = hash_lanes(hash, model->weights, sizeof model->weights);
    hash = hash_lanes(hash, model->lengths, sizeof model->lengths);
    hash = hash_lanes(hash, model->highs, sizeof model->highs);
    assert_true(hash == UINT64_C(0x4eb99dee293b7579));
    free(sides);
}
