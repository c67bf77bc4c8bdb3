// SPDX-License-Identifier: MIT
// Recorded worlds of the benchmark (tests/bench/worlds).
#include "test.h"

#include "bench.h"
#include "worlds/stream.h"

static const char sample[] = "GENQ 1\nsample\nhz 20\nplaces 3\nframes 2\ntemplates 2\n"
                             "template mover 3\n"
                             "component facing 1 F32 0 0 0 0 1065353216\n"
                             "component place 2 F32 10 -32 0.0625 3 512 511\n"
                             "component speed 2 F32 8 -8 0.0625 0 128 128\n"
                             "template thing 1\n"
                             "component count 2 U32 4 0 1 0 1 2\n"
                             "end\n";

typedef struct file {
    uint8_t bytes[1 << 16];
    size_t size;
} file;

static void add_number(file* to, uint32_t number, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        to->bytes[to->size++] = (uint8_t)(number >> 8 * i);
}

static void add_text(file* to, const char* text) {
    memcpy(to->bytes + to->size, text, strlen(text));
    to->size += strlen(text);
}

static void add_row(file* to, uint32_t place, uint32_t life, uint32_t template_,
                    const uint32_t* words, uint32_t count) {
    add_number(to, place, 2);
    add_number(to, life, 4);
    add_number(to, template_, 1);
    for (uint32_t i = 0; i < count; i++)
        add_number(to, words[i], 4);
}

static void add_rows(file* to) {
    add_number(to, 2, 2);
    add_row(to, 0, 7, 0, (uint32_t[]){0x40c90fdb, 1, 1023, 3, 4}, 5);
    add_row(to, 2, 8, 1, (uint32_t[]){15, 0}, 2);
    add_number(to, 1, 2);
    add_row(to, 0, 9, 1, (uint32_t[]){5, 6}, 2);
}

static trace* read_good(const file* from) {
    trace* made = bench_allocate(sizeof *made);
    trace_parse(made, "sample", from->bytes, from->size);
    return made;
}

CASE(a_file_says_what_its_rows_are) {
    file* written = bench_allocate(sizeof *written);
    add_text(written, sample);
    add_rows(written);
    trace* got = read_good(written);
    assert_int_equal(got->rate_hz, 20);
    assert_int_equal(got->places, 3);
    assert_int_equal(got->frames, 2);
    assert_int_equal(got->template_count, 2);
    assert_string_equal(got->templates_named[1], "thing");
    assert_string_equal(got->components_named[0][2], "speed");
    const proto_layout* mover = &got->layouts[0];
    assert_int_equal(mover->field_count, 5);
    assert_true(mover->fields[0].quant.is_exact);
    assert_int_equal(mover->fields[1].quant.bits, 10);
    assert_true(mover->components[1].is_driven);
    assert_int_equal(got->defaults[0][2], 511);
    assert_int_equal(got->defaults[1][1], 2);
    uint64_t row[TRACE_FIELDS_MAX];
    trace_row(got, 0, 0, row);
    assert_int_equal(row[0], 0x40c90fdb);
    assert_int_equal(row[2], 1023);
    assert_int_equal(trace_life(got, 0, 1), 0);
    assert_int_equal(trace_life(got, 1, 0), 9);
    assert_int_equal(trace_template(got, 1, 0), 1);
    bench_release_all();
}

static file* file_of_templates(uint32_t templates, uint32_t fields) {
    file* made = bench_allocate(sizeof *made);
    char line[TRACE_MESSAGE_BYTES];
    snprintf(line, sizeof line, "GENQ 1\nwide\nhz 30\nplaces %u\nframes 20\ntemplates %u\n",
             (unsigned)templates, (unsigned)templates);
    add_text(made, line);
    for (uint32_t t = 0; t < templates; t++) {
        snprintf(line, sizeof line, "template t%u 1\ncomponent c %u U32 8 0 1 0", (unsigned)t,
                 (unsigned)fields);
        add_text(made, line);
        for (uint32_t f = 0; f < fields; f++)
            add_text(made, " 0");
        add_text(made, "\n");
    }
    add_text(made, "end\n");
    uint32_t words[TRACE_FIELDS_MAX] = {0};
    for (uint32_t frame = 0; frame < 20; frame++) {
        add_number(made, templates, 2);
        for (uint32_t t = 0; t < templates; t++) {
            words[(frame + t) % fields] = (frame * 7 + t) % 256;
            add_row(made, t, 1 + frame / 9, (t + frame / 15) % templates, words, fields);
        }
    }
    return made;
}

CASE(as_many_templates_and_fields_as_the_limits_say_are_coded_and_read_again) {
    static const uint32_t sizes[][2] = {{5, 33}, {TRACE_TEMPLATES_MAX, 3}, {2, TRACE_FIELDS_MAX}};
    for (size_t i = 0; i < BASE_COUNT(sizes); i++) {
        trace* of = read_good(file_of_templates(sizes[i][0], sizes[i][1]));
        stream_result got = stream_run(of, 3, 1); // which compares
        assert_true(got.packets > 0 && got.rows > 0 && got.bytes > 0 && got.solo_bytes > 0);
        bench_release_all();
    }
}

CASE(the_two_older_formats_are_read_by_their_descriptions) {
    file* cubes = bench_allocate(sizeof *cubes);
    add_text(cubes, "CUBQ");
    for (uint32_t i = 1; i < 8; i++)
        add_number(cubes, (uint32_t[]){0, 1, 1, 1, 60, 512, 9, 32}[i], 4);
    for (uint32_t i = 0; i < 3; i++)
        add_number(cubes, (uint32_t)-5 + i, 4);
    cubes->bytes[cubes->size - 4] = 100; // z is not negative
    memset(cubes->bytes + cubes->size - 3, 0, 3);
    for (uint32_t i = 0; i < 3; i++)
        add_number(cubes, 300 + i, 2);
    add_number(cubes, 2, 1);
    add_number(cubes, 1, 1);
    add_number(cubes, 0, 4);
    add_number(cubes, 0, 2);
    trace* got = read_good(cubes);
    uint64_t row[TRACE_FIELDS_MAX];
    trace_row(got, 0, 0, row);
    static const uint64_t cube[] = {1, 2, 300, 301, 302, 131072 - 5, 131072 - 4, 100};
    assert_memory_equal(row, cube, sizeof cube);

    file* arena = bench_allocate(sizeof *arena);
    add_text(arena, "ARNQ");
    for (uint32_t i = 1; i < 10; i++)
        add_number(arena, (uint32_t[]){0, 1, 2, 1, 60, 128, 32, 10, 1000, 0}[i], 4);
    static const uint8_t nothing[16] = {0, 1};
    for (size_t i = 0; i < sizeof nothing; i++)
        add_number(arena, nothing[i], 1);
    static const uint8_t bytes[] = {2, 5, 90, 20, 1, 3, 1, 1, 2, 1, 0xff, 0xff, 1, 0, 0xff, 3};
    for (size_t i = 0; i < sizeof bytes; i++)
        add_number(arena, bytes[i], 1);
    got = read_good(arena);
    assert_int_equal(trace_life(got, 0, 0), 0);
    assert_int_equal(trace_template(got, 0, 1), 1);
    trace_row(got, 0, 1, row);
    static const uint64_t agent[] = {20, 3, 1023, 90, 257, 258, 1, 2047, 2049};
    assert_memory_equal(row, agent, sizeof agent);
    bench_release_all();
}
