// SPDX-License-Identifier: MIT
#include "test.h"

#include "proto/layout.h"

// Make a layout from a text: one letter per field, a space between components.
// b bool, x exact float, q 16-bit float, p 2-bit float, i exact i32, l exact i64, d exact double, u
// u8 from 1.
static void build(proto_layout* layout, const char* text) {
    memset(layout, 0, sizeof *layout);
    layout->component_count = 1;
    layout->components[0] = (proto_row_component){.key = 1};
    for (const char* at = text; *at; at++) {
        if (*at == ' ') {
            layout->components[layout->component_count++] = (proto_row_component){
                .key = layout->component_count + 1, .field_first = (uint16_t)layout->field_count};
            continue;
        }
        proto_row_field* field = &layout->fields[layout->field_count++];
        proto_row_component* component = &layout->components[layout->component_count - 1];
        field->offset_bytes = 8u * component->field_count++;
        bool made = false;
        switch (*at) {
        case 'b':
            made = proto_quant_make(&field->quant, PROTO_BOOL, 0, 0, 0);
            break;
        case 'x':
            made = proto_quant_make(&field->quant, PROTO_F32, 0, 0, 0);
            break;
        case 'q':
            made = proto_quant_make(&field->quant, PROTO_F32, 16, -3.3, 0.01);
            break;
        case 'p':
            made = proto_quant_make(&field->quant, PROTO_F32, 2, 0, 1);
            break;
        case 'i':
            made = proto_quant_make(&field->quant, PROTO_I32, 0, 0, 0);
            break;
        case 'l':
            made = proto_quant_make(&field->quant, PROTO_I64, 0, 0, 0);
            break;
        case 'd':
            made = proto_quant_make(&field->quant, PROTO_F64, 0, 0, 0);
            break;
        case 'u':
            made = proto_quant_make(&field->quant, PROTO_U8, 8, 1, 1);
            break;
        default:
            break;
        }
        assert_true(made);
    }
    if (text[0] == 0) layout->component_count = 0;
    proto_layout_finish(layout);
}

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

static const char* const texts[] = {
    "",   "b",  "q",     "i",        "l",          "x",
    "bb", "qq", "qq qq", "b b b",    "xqpildub",   "qqq i b xx l d u p",
    "u",  "p",  "d",     "ll ll ll", "bbbbbbbb q",
};

static uint64_t random_word(const proto_quant* quant, uint64_t base, base_rng* rng) {
    uint64_t all = quant->bits == 64 ? UINT64_MAX : (UINT64_C(1) << quant->bits) - 1;
    uint64_t word;
    switch (base_rng_below(rng, 4)) {
    case 0:
        word = base;
        break;
    case 1:
        word = base + base_rng_below(rng, 20) - 10;
        break;
    case 2:
        word = base + base_rng_u32(rng) % 5000 - 2500;
        break;
    default:
        word = base_rng_u64(rng);
        break;
    }
    return proto_quant_canonical(quant, word & all);
}

CASE(rows_come_back_and_stay_below_the_bound) {
    base_rng rng = test_rng(6, 1);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t]);
        for (int round = 0; round < 3000; round++) {
            uint64_t base[64], row[64], back[64];
            for (uint32_t f = 0; f < layout.field_count; f++) {
                base[f] = random_word(&layout.fields[f].quant, 0, &rng);
                row[f] = random_word(&layout.fields[f].quant, base[f], &rng);
            }
            uint8_t data[512];
            proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
            encode(&layout, base, row, &writer);
            assert_false(writer.failed);
            assert_true(writer.size_bits <= layout.bits_max);
            proto_bit_reader reader = proto_bit_reader_make(data, proto_bit_writer_bytes(&writer));
            decode(&layout, base, back, &reader);
            assert_false(reader.failed);
            assert_int_equal(reader.offset_bits, writer.size_bits);
            assert_memory_equal(back, row, layout.field_count * sizeof *row);
        }
    }
}

CASE(an_equal_row_takes_a_few_bits) {
    static proto_layout layout;
    build(&layout, "qq i bbb");
    uint64_t base[6] = {1, 2, 3, 0, 1, 0};
    uint8_t data[64];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, base, &writer);
    assert_true(writer.size_bits <= 5);
}

CASE(a_value_of_a_game_takes_little_more_than_a_byte) {
    static proto_layout layout;
    build(&layout, "qq i bbb u");
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
    build(&layout, "i");
    uint64_t base[1] = {0xffffffff}, row[1] = {2}, back[1];
    uint8_t data[16];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    encode(&layout, base, row, &writer);
    assert_true(writer.size_bits < 16);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    decode(&layout, base, back, &reader);
    assert_true(back[0] == 2);
}

CASE(any_bits_give_words_that_fit_or_a_failed_reader) {
    base_rng rng = test_rng(7, 1);
    static proto_layout layout;
    for (size_t t = 0; t < BASE_COUNT(texts); t++) {
        build(&layout, texts[t]);
        for (int round = 0; round < 3000; round++) {
            uint64_t base[64], row[64];
            uint8_t data[48];
            size_t size = base_rng_below(&rng, sizeof data + 1);
            for (size_t i = 0; i < size; i++)
                data[i] = base_rng_chance(&rng, 0.5) ? (uint8_t)base_rng_u32(&rng) : 0;
            for (uint32_t f = 0; f < layout.field_count; f++)
                base[f] = random_word(&layout.fields[f].quant, 0, &rng);
            proto_bit_reader reader = proto_bit_reader_make(data, size);
            decode(&layout, base, row, &reader);
            for (uint32_t f = 0; f < layout.field_count; f++) {
                const proto_quant* quant = &layout.fields[f].quant;
                assert_true(quant->bits == 64 || row[f] >> quant->bits == 0);
                assert_true(proto_quant_canonical(quant, row[f]) == row[f]);
            }
        }
    }
}

CASE(truncated_rows_fail) {
    static proto_layout layout;
    build(&layout, "qq l");
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
    build(&layout, "b qi");
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
