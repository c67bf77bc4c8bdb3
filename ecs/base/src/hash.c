// SPDX-License-Identifier: MIT
// XXH3 behind a few functions. xxhash is compiled into this file only, so its names and version
// stay private. Its specification fixes the values; they do not depend on machine or build.
#include "base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <xxhash.h>
#pragma GCC diagnostic pop

_Static_assert(sizeof(XXH3_state_t) <= sizeof(((base_hasher*)0)->state), "state does not fit");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(base_hasher), "state is aligned too weakly");

uint64_t base_hash64(const void* data, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(data, size, seed);
}

uint64_t base_hash64_text(const char* text) {
    return base_hash64(text, strlen(text), 0);
}

// The finalizer of MurmurHash3 (A. Appleby): a bijection in which each input bit moves half of the
// output bits.
static uint64_t avalanche(uint64_t value) {
    value ^= value >> 33;
    value *= UINT64_C(0xFF51AFD7ED558CCD);
    value ^= value >> 33;
    value *= UINT64_C(0xC4CEB9FE1A85EC53);
    return value ^ value >> 33;
}

#define SALT UINT64_C(0x9E3779B97F4A7C15)

uint64_t base_hash64_mix(uint64_t a, uint64_t b) {
    return avalanche(avalanche(a + SALT) ^ b);
}

// For a size that the compiler knows, an inlined XXH3 is a few instructions.
#define ROWS_OF(bytes)                                                                             \
    static __attribute__((flatten))                                                                \
    uint64_t rows_of_##bytes(const uint8_t* cells, const uint32_t* ids, uint64_t salt,             \
                             const uint32_t* rows, uint32_t count) {                               \
        uint64_t sum = 0;                                                                          \
        for (uint32_t i = 0; i < count; i++)                                                       \
            sum += XXH3_64bits_withSeed(cells + (size_t)(bytes)*rows[i], bytes,                    \
                                        avalanche(salt ^ ids[rows[i]]));                           \
        return sum;                                                                                \
    }
ROWS_OF(4)
ROWS_OF(8)
ROWS_OF(12)
ROWS_OF(16)
#undef ROWS_OF

// Both hashes of a row have one seed.
#define CHANGE_OF(bytes)                                                                           \
    static __attribute__((flatten))                                                                \
    uint64_t change_of_##bytes(const uint8_t* before, const uint8_t* after, const uint32_t* ids,   \
                               uint64_t salt, const uint32_t* rows, uint32_t count) {              \
        uint64_t sum = 0;                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const uint64_t seed = avalanche(salt ^ ids[rows[i]]);                                  \
            sum += XXH3_64bits_withSeed(after + (size_t)(bytes)*rows[i], bytes, seed) -            \
                   XXH3_64bits_withSeed(before + (size_t)(bytes)*rows[i], bytes, seed);            \
        }                                                                                          \
        return sum;                                                                                \
    }
CHANGE_OF(4)
CHANGE_OF(8)
CHANGE_OF(12)
CHANGE_OF(16)
#undef CHANGE_OF

uint64_t base_hash64_rows(const void* cells, size_t size, const uint32_t* ids, uint64_t salt,
                          const uint32_t* rows, uint32_t count) {
    const uint64_t mixed = avalanche(salt + SALT);
    switch (size) {
    case 4:
        return rows_of_4(cells, ids, mixed, rows, count);
    case 8:
        return rows_of_8(cells, ids, mixed, rows, count);
    case 12:
        return rows_of_12(cells, ids, mixed, rows, count);
    case 16:
        return rows_of_16(cells, ids, mixed, rows, count);
    default:
        break;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += base_hash64((const uint8_t*)cells + size * rows[i], size,
                           avalanche(mixed ^ ids[rows[i]]));
    return sum;
}

uint64_t base_hash64_rows_change(const void* before, const void* after, size_t size,
                                 const uint32_t* ids, uint64_t salt, const uint32_t* rows,
                                 uint32_t count) {
    const uint64_t mixed = avalanche(salt + SALT);
    switch (size) {
    case 4:
        return change_of_4(before, after, ids, mixed, rows, count);
    case 8:
        return change_of_8(before, after, ids, mixed, rows, count);
    case 12:
        return change_of_12(before, after, ids, mixed, rows, count);
    case 16:
        return change_of_16(before, after, ids, mixed, rows, count);
    default:
        return base_hash64_rows(after, size, ids, salt, rows, count) -
               base_hash64_rows(before, size, ids, salt, rows, count);
    }
}

void base_hasher_init(base_hasher* hasher, uint64_t seed) {
    XXH3_state_t* state = (XXH3_state_t*)(void*)hasher->state;
    XXH3_INITSTATE(state);
    (void)XXH3_64bits_reset_withSeed(state, seed);
}

void base_hasher_add(base_hasher* hasher, const void* data, size_t size) {
    if (size == 0) return;
    (void)XXH3_64bits_update((XXH3_state_t*)(void*)hasher->state, data, size);
}

uint64_t base_hasher_end(const base_hasher* hasher) {
    return XXH3_64bits_digest((const XXH3_state_t*)(const void*)hasher->state);
}
