// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

#include "base/bytes.h"

#define BYTES_CASE(name)                                                                           \
    CASE_WITH(base_bytes, bytes, base_bytes_init(bytes, NULL), base_bytes_deinit(bytes), name)

BYTES_CASE(numbers_are_little_endian) {
    base_bytes_write_u8(bytes, 0x01);
    base_bytes_write_u16(bytes, 0x0302);
    base_bytes_write_u32(bytes, 0x07060504);
    base_bytes_write_u64(bytes, UINT64_C(0x0F0E0D0C0B0A0908));
    assert_int_equal(bytes->size, 15);
    for (uint8_t i = 0; i < 15; i++)
        assert_int_equal(bytes->data[i], i + 1);
    base_reader reader = base_reader_make(bytes->data, bytes->size);
    assert_int_equal(base_reader_u8(&reader), 0x01);
    assert_int_equal(base_reader_u16(&reader), 0x0302);
    assert_int_equal(base_reader_u32(&reader), 0x07060504);
    assert_true(base_reader_u64(&reader) == UINT64_C(0x0F0E0D0C0B0A0908));
    assert_int_equal(base_reader_left(&reader), 0);
    assert_false(reader.failed);
}

BYTES_CASE(varints_come_back) {
    for (int shift = 0; shift < 64; shift++) {
        for (int64_t offset = -1; offset <= 1; offset++) {
            uint64_t value = (UINT64_C(1) << shift) + (uint64_t)offset;
            base_bytes_clear(bytes);
            base_bytes_write_varint(bytes, value);
            base_reader reader = base_reader_make(bytes->data, bytes->size);
            assert_true(base_reader_varint(&reader) == value);
            assert_false(reader.failed);
            assert_int_equal(base_reader_left(&reader), 0);
        }
    }
    base_bytes_write_varint(bytes, UINT64_MAX);
    base_bytes_clear(bytes);
    base_bytes_write_varint(bytes, UINT64_MAX);
    assert_int_equal(bytes->size, 10);
}

CASE(broken_varints_fail) {
    const char* const broken[] = {"", "\x80", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
                                  "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"};
    for (size_t i = 0; i < BASE_COUNT(broken); i++) {
        base_reader reader = base_reader_make(broken[i], strlen(broken[i]));
        assert_true(base_reader_varint(&reader) == 0);
        assert_true(reader.failed);
    }
}

CASE(past_the_end_everything_is_zero_and_failed) {
    base_reader reader = base_reader_make("\1\2\3", 3);
    assert_int_equal(base_reader_u32(&reader), 0);
    assert_true(reader.failed);
    // Failure lasts, also for what would have fitted.
    assert_int_equal(base_reader_u8(&reader), 0);
    assert_null(base_reader_skip(&reader, 0));
    assert_int_equal(base_reader_left(&reader), 0);
    char target[2] = "xx";
    assert_false(base_reader_read(&reader, target, 2));
    assert_memory_equal(target, "\0\0", 2);
}

CASE(empty_input_can_be_read) {
    base_reader reader = base_reader_make(NULL, 0);
    assert_non_null(base_reader_skip(&reader, 0));
    assert_true(base_reader_read(&reader, NULL, 0));
    assert_false(reader.failed);
    assert_null(base_reader_skip(&reader, SIZE_MAX));
    assert_true(reader.failed);
}

BYTES_CASE(the_buffer_keeps_what_was_written_while_it_grows) {
    base_bytes_write(bytes, NULL, 0);
    for (uint32_t i = 0; i < 10000; i++)
        base_bytes_write_u32(bytes, i);
    base_reader reader = base_reader_make(bytes->data, bytes->size);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(base_reader_u32(&reader), i);
    uint8_t* data = bytes->data;
    base_bytes_clear(bytes);
    assert_ptr_equal(base_bytes_extend(bytes, 40000), data);
}
