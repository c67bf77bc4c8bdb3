// SPDX-License-Identifier: MIT
// Packed rows: the words that were packed come back, for each number of bits a field may have.
#include "test.h"

#include "mirror/mirror_store.h"

#include "base/rng.h"

#include <string.h>

#define UNTOUCHED 0xA5u

static void draw_layout(proto_layout* layout, base_rng* rng, uint32_t field_count) {
    memset(layout, 0, sizeof *layout);
    layout->field_count = field_count;
    for (uint32_t f = 0; f < field_count; f++)
        layout->fields[f].quant.bits = (uint8_t)(1 + base_rng_below(rng, 64));
}

static void check(const proto_layout* layout, const uint64_t* row) {
    uint8_t packed[NET_PACKED_ROW_BYTES_MAX + 1];
    uint64_t read[PROTO_ROW_FIELDS_MAX + 1];
    const uint32_t bytes = net_packed_row_bytes(layout);
    memset(packed, UNTOUCHED, sizeof packed);
    memset(read, UNTOUCHED, sizeof read);
    assert_int_equal(net_packed_row_write(layout, row, packed), net_packed_row_bytes(layout));
    assert_int_equal(packed[bytes], UNTOUCHED);
    packed[bytes] = (uint8_t)~UNTOUCHED; // what follows a row has no influence
    net_packed_row_read(layout, packed, read);
    assert_memory_equal(read, row, layout->field_count * sizeof *row);
    uint64_t untouched;
    memset(&untouched, UNTOUCHED, sizeof untouched);
    assert_true(read[layout->field_count] == untouched);
}

CASE(each_width_takes_its_bytes_and_gives_its_words) {
    static proto_layout layout;
    for (uint32_t bits = 1; bits <= 64; bits++) {
        memset(&layout, 0, sizeof layout);
        layout.field_count = 1;
        layout.fields[0].quant.bits = (uint8_t)bits;
        const uint32_t expected = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
        assert_int_equal(net_packed_row_bytes(&layout), expected);
        const uint64_t largest = UINT64_MAX >> (64 - bits);
        check(&layout, &(uint64_t){largest});
        check(&layout, &(uint64_t){0});
        check(&layout, &(uint64_t){UINT64_C(1) << (bits - 1)});
    }
}

CASE(rows_of_any_length_come_back) {
    static proto_layout layout;
    base_rng rng = base_rng_make(3, 0);
    const uint32_t counts[] = {0, 1, PROTO_ROW_FIELDS_MAX - 1, PROTO_ROW_FIELDS_MAX};
    for (uint32_t round = 0; round < 200; round++) {
        draw_layout(&layout, &rng, counts[round % BASE_COUNT(counts)]);
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        for (uint32_t f = 0; f < layout.field_count; f++)
            row[f] = base_rng_u64(&rng) >> (64 - layout.fields[f].quant.bits);
        check(&layout, row);
    }
}
