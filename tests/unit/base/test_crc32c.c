// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/hash.h"
#include "crc32c_paths.h"

CASE(the_vectors_of_rfc_3720_hold) {
    uint8_t data[32];
    assert_int_equal(base_crc32c(0, "123456789", 9), 0xE3069283u);
    memset(data, 0, sizeof data);
    assert_int_equal(base_crc32c(0, data, sizeof data), 0x8A9136AAu);
    memset(data, 0xFF, sizeof data);
    assert_int_equal(base_crc32c(0, data, sizeof data), 0x62A8AB43u);
    for (uint8_t i = 0; i < 32; i++)
        data[i] = i;
    assert_int_equal(base_crc32c(0, data, sizeof data), 0x46DD794Eu);
    assert_int_equal(base_crc32c(0, NULL, 0), 0);
}

CASE(pieces_give_the_same_as_the_whole) {
    const char* text = "The quick brown fox jumps over the lazy dog";
    size_t size = strlen(text);
    for (size_t cut = 0; cut <= size; cut++) {
        uint32_t crc = base_crc32c(base_crc32c(0, text, cut), text + cut, size - cut);
        assert_int_equal(crc, base_crc32c(0, text, size));
    }
}

CASE(both_ways_agree) {
    if (!base_crc32c_has_hardware()) skip();
    base_rng rng = test_rng(3, 3);
    uint8_t data[600];
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)base_rng_u32(&rng);
        size_t offset = base_rng_below(&rng, 9);
        size_t size = base_rng_below(&rng, sizeof data - 8);
        uint32_t start = base_rng_u32(&rng);
        assert_int_equal(base_crc32c_portable(start, data + offset, size),
                         base_crc32c_hardware(start, data + offset, size));
    }
}
