// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/hash.h"

CASE(known_values_hold) {
    // XXH3_64bits of the specification for no input.
    assert_true(base_hash64("", 0, 0) == UINT64_C(0x2D06800538D394C2));
    assert_true(base_hash64_text("") == base_hash64("", 0, 0));
    assert_true(base_hash64_text("shoal") == base_hash64("shoal", 5, 0));
    assert_true(base_hash64("shoal", 5, 1) != base_hash64("shoal", 5, 0));
}

CASE(any_cut_into_pieces_gives_the_same_hash) {
    uint8_t data[3000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 31);
    base_rng rng = test_rng(7, 2);
    for (uint64_t hash_seed = 0; hash_seed < 2; hash_seed++) {
        for (int round = 0; round < 200; round++) {
            size_t size = base_rng_below(&rng, sizeof data + 1);
            base_hasher hasher;
            base_hasher_init(&hasher, hash_seed);
            for (size_t done = 0; done < size;) {
                size_t piece = base_rng_below(&rng, 400);
                if (piece > size - done) piece = size - done;
                base_hasher_add(&hasher, data + done, piece);
                done += piece;
            }
            assert_true(base_hasher_end(&hasher) == base_hash64(data, size, hash_seed));
        }
    }
}

CASE(ending_leaves_the_hasher_open) {
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    base_hasher_add(&hasher, "ab", 2);
    assert_true(base_hasher_end(&hasher) == base_hash64("ab", 2, 0));
    base_hasher_add(&hasher, NULL, 0);
    base_hasher_add(&hasher, "c", 1);
    assert_true(base_hasher_end(&hasher) == base_hash64("abc", 3, 0));
}

CASE(mixing_depends_on_order) {
    assert_true(base_hash64_mix(1, 2) != base_hash64_mix(2, 1));
    assert_true(base_hash64_mix(0, 0) != 0);
    assert_true(base_hash64_mix(1, 2) == base_hash64_mix(1, 2));
}

CASE(a_sum_over_rows_is_that_of_single_hashes) {
    enum { ROWS = 8, SIZE_MAX_BYTES = 32 };
    uint8_t cells[ROWS * SIZE_MAX_BYTES];
    uint32_t ids[ROWS];
    const uint32_t rows[] = {6, 0, 3, 3};
    for (uint32_t i = 0; i < sizeof cells; i++)
        cells[i] = (uint8_t)(i * 101 + 1);
    for (uint32_t i = 0; i < ROWS; i++)
        ids[i] = i * 0x9e3779b1u;
    for (size_t size = 0; size <= SIZE_MAX_BYTES; size++) {
        uint64_t expected = 0;
        for (uint32_t i = 0; i < 4; i++)
            expected +=
                base_hash64(cells + size * rows[i], size, base_hash64_mix(77, ids[rows[i]]));
        assert_true(base_hash64_rows(cells, size, ids, 77, rows, 4) == expected);
        const uint8_t before[ROWS * SIZE_MAX_BYTES] = {1, 2, 3};
        assert_true(base_hash64_rows_change(before, cells, size, ids, 77, rows, 4) ==
                    expected - base_hash64_rows(before, size, ids, 77, rows, 4));
    }
    assert_true(base_hash64_rows(cells, 12, ids, 77, rows, 0) == 0);
}
