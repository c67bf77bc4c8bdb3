// SPDX-License-Identifier: MIT
// Packed rows: the words that were packed come back, for each number of bits a field may have.
#include "test.h"

#include "mirror/snapshot_reader.h"

#define UNTOUCHED 0xA5u

// `bits` 0: any number of bits for each field.
static void make_layout(proto_layout* layout, base_rng* rng, uint32_t field_count, uint32_t bits) {
    memset(layout, 0, sizeof *layout);
    layout->field_count = field_count;
    layout->component_count = 1;
    layout->components[0].field_count = (uint16_t)field_count;
    for (uint32_t f = 0; f < field_count; f++)
        layout->fields[f].quant = (proto_quant){
            .is_exact = true, .bits = (uint8_t)(bits > 0 ? bits : 1 + base_rng_below(rng, 64))};
    proto_layout_finish(layout);
}

static void check(const proto_layout* layout, const uint64_t* row) {
    uint8_t packed[NET_PACKED_ROW_BYTES_MAX + NET_PACKED_ROW_SLACK];
    uint64_t read[PROTO_ROW_FIELDS_MAX + 1];
    const uint32_t bytes = net_packed_row_bytes(layout);
    memset(packed, UNTOUCHED, sizeof packed);
    memset(read, UNTOUCHED, sizeof read);
    assert_int_equal(net_packed_row_write(layout, row, packed), net_packed_row_bytes(layout));
    memset(packed + bytes, UNTOUCHED, NET_PACKED_ROW_SLACK); // what follows has no influence
    net_packed_row_read(layout, packed, read);
    assert_memory_equal(read, row, layout->field_count * sizeof *row);
    uint64_t untouched;
    memset(&untouched, UNTOUCHED, sizeof untouched);
    assert_true(read[layout->field_count] == untouched);
}

CASE(each_width_takes_its_bytes_and_gives_its_words) {
    static proto_layout layout;
    for (uint32_t bits = 1; bits <= 64; bits++) {
        make_layout(&layout, NULL, 1, bits);
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
        make_layout(&layout, &rng, counts[round % BASE_COUNT(counts)], 0);
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        for (uint32_t f = 0; f < layout.field_count; f++)
            row[f] = base_rng_u64(&rng) >> (64 - layout.fields[f].quant.bits);
        check(&layout, row);
    }
}
