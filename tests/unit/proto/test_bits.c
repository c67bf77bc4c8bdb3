// SPDX-License-Identifier: MIT
#include "test.h"

#include "proto/bits.h"

enum { BUFFER_BYTES = 64 };

static uint64_t mask(uint32_t count) {
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

CASE(bits_fill_bytes_from_the_lowest) {
    uint8_t data[2] = {0xff, 0xff};
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_bits_write(&writer, 1, 1);
    proto_bits_write(&writer, 2, 2);
    proto_bits_write(&writer, 0x15, 7);
    assert_int_equal(writer.size_bits, 10);
    assert_int_equal(proto_bit_writer_bytes(&writer), 2);
    assert_int_equal(data[0], 0xad); // 1, then 10, then 10101: 10101'10'1
    assert_int_equal(data[1], 0x00);
}

CASE(every_width_at_every_shift_comes_back) {
    base_rng rng = test_rng(1, 1);
    for (uint32_t shift = 0; shift < 16; shift++) {
        for (uint32_t count = 0; count <= 64; count++) {
            uint8_t data[BUFFER_BYTES];
            memset(data, 0xa5, sizeof data);
            uint32_t size = (shift + count + 11 + 7) / 8; // a tight buffer too
            proto_bit_writer writer = proto_bit_writer_make(data, size);
            uint64_t before = base_rng_u64(&rng) & mask(shift);
            uint64_t value = count ? base_rng_u64(&rng) & mask(count) : 0;
            proto_bits_write(&writer, before, shift);
            proto_bits_write(&writer, value, count);
            proto_bits_write(&writer, 0x5a3, 11);
            assert_false(writer.failed);
            proto_bit_reader reader = proto_bit_reader_make(data, size);
            assert_true(proto_bits_read(&reader, shift) == before);
            assert_true(proto_bits_read(&reader, count) == value);
            assert_true(proto_bits_read(&reader, 11) == 0x5a3);
            assert_false(reader.failed);
            for (size_t i = size; i < sizeof data; i++)
                assert_int_equal(data[i], 0xa5);
        }
    }
}

CASE(writing_past_the_end_fails_and_changes_nothing) {
    uint8_t data[3] = {0, 0, 0x77};
    proto_bit_writer writer = proto_bit_writer_make(data, 2);
    proto_bits_write(&writer, 0x7fff, 15);
    assert_false(writer.failed);
    proto_bits_write(&writer, 3, 2);
    assert_true(writer.failed);
    assert_int_equal(writer.size_bits, 15);
    proto_bits_write(&writer, 1, 1); // would fit, but the writer has failed
    assert_int_equal(writer.size_bits, 15);
    proto_bit_writer_rewind(&writer, 15);
    proto_bits_write(&writer, 1, 1); // the last bit
    proto_bits_write(&writer, 0, 0);
    assert_false(writer.failed);
    proto_bits_write(&writer, 0, 1);
    assert_true(writer.failed);
    assert_int_equal(data[2], 0x77);
}

CASE(rewinding_clears_what_came_after) {
    uint8_t data[4];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_bits_write(&writer, 5, 3);
    uint64_t place = writer.size_bits;
    proto_bits_write(&writer, 0x1fffffff, 29);
    proto_bits_write(&writer, 1, 1);
    assert_true(writer.failed);
    proto_bit_writer_rewind(&writer, place);
    assert_false(writer.failed);
    assert_int_equal(proto_bit_writer_bytes(&writer), 1);
    assert_int_equal(data[0], 5);
    proto_bits_write(&writer, 0, 5);
    assert_int_equal(data[0], 5);
    proto_bit_writer_rewind(&writer, 0);
    assert_int_equal(proto_bit_writer_bytes(&writer), 0);
}

CASE(reading_past_the_end_gives_zero) {
    const uint8_t data[1] = {0xff};
    proto_bit_reader reader = proto_bit_reader_make(data, 1);
    assert_int_equal(proto_bits_read(&reader, 7), 0x7f);
    assert_int_equal(proto_bits_read(&reader, 2), 0);
    assert_true(reader.failed);
    assert_int_equal(proto_bits_read(&reader, 1), 0);
    reader = proto_bit_reader_make(NULL, 0);
    assert_int_equal(proto_bits_read(&reader, 64), 0);
    assert_true(reader.failed);
}

CASE(golomb_codes_of_every_order_come_back) {
    for (uint32_t order = 0; order <= 31; order++) {
        for (uint32_t bit = 0; bit < 32; bit++) {
            for (int64_t offset = -1; offset <= 1; offset++) {
                int64_t wanted = (INT64_C(1) << bit) + offset;
                uint8_t data[16];
                proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
                proto_bits_write_golomb(&writer, (uint32_t)wanted, order);
                assert_false(writer.failed);
                proto_bit_reader reader =
                    proto_bit_reader_make(data, proto_bit_writer_bytes(&writer));
                assert_true(proto_bits_read_golomb(&reader, order) == (uint32_t)wanted);
                assert_int_equal(reader.offset_bits, writer.size_bits);
            }
        }
        uint8_t data[16];
        proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
        proto_bits_write_golomb(&writer, UINT32_MAX, order);
        proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
        assert_true(proto_bits_read_golomb(&reader, order) == UINT32_MAX);
    }
}

CASE(small_golomb_values_are_short) {
    uint8_t data[16];
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_bits_write_golomb(&writer, 0, 0);
    assert_int_equal(writer.size_bits, 1);
    proto_bits_write_golomb(&writer, 15, 4);
    assert_int_equal(writer.size_bits, 6);
    proto_bits_write_golomb(&writer, 16, 4);
    assert_int_equal(writer.size_bits, 13);
}

CASE(golomb_codes_beyond_32_bits_are_refused) {
    uint8_t zeros[16] = {0};
    proto_bit_reader reader = proto_bit_reader_make(zeros, sizeof zeros);
    assert_int_equal(proto_bits_read_golomb(&reader, 0), 0);
    assert_true(reader.failed);
    // 32 zeros, a one, 32 ones: 2^33 - 1, one more bit than a value has.
    uint8_t data[16] = {0};
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_bits_write(&writer, UINT64_C(1) << 32, 33);
    proto_bits_write(&writer, UINT32_MAX, 32);
    reader = proto_bit_reader_make(data, sizeof data);
    assert_int_equal(proto_bits_read_golomb(&reader, 0), 0);
    assert_true(reader.failed);
    uint8_t ones[1] = {0};
    reader = proto_bit_reader_make(ones, 1);
    (void)proto_bits_read_golomb(&reader, 3);
    assert_true(reader.failed);
}

CASE(wrong_widths_are_asserted) {
    uint8_t data[16] = {0};
    proto_bit_writer writer = proto_bit_writer_make(data, sizeof data);
    proto_bit_reader reader = proto_bit_reader_make(data, sizeof data);
    expect_assert_failure(proto_bits_write(&writer, 2, 1));
    expect_assert_failure(proto_bits_write(&writer, 0, 65));
    expect_assert_failure((void)proto_bits_read(&reader, 65));
    expect_assert_failure(proto_bits_write_golomb(&writer, 0, 32));
    expect_assert_failure((void)proto_bits_read_golomb(&reader, 32));
    expect_assert_failure(proto_bit_writer_rewind(&writer, 1));
}
