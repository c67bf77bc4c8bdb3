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

// For a size that the compiler knows, an inlined XXH3 is a few instructions.
#define CHANGE_OF(bytes)                                                                           \
    static __attribute__((flatten))                                                                \
    uint64_t change_of_##bytes(const void* before, const void* after, uint64_t seed) {             \
        return XXH3_64bits_withSeed(after, bytes, seed) -                                          \
               XXH3_64bits_withSeed(before, bytes, seed);                                          \
    }
CHANGE_OF(4)
CHANGE_OF(8)
CHANGE_OF(12)
CHANGE_OF(16)
#undef CHANGE_OF

uint64_t base_hash64_change(const void* before, const void* after, size_t size, uint64_t seed) {
    switch (size) {
    case 4:
        return change_of_4(before, after, seed);
    case 8:
        return change_of_8(before, after, seed);
    case 12:
        return change_of_12(before, after, seed);
    case 16:
        return change_of_16(before, after, seed);
    default:
        return base_hash64(after, size, seed) - base_hash64(before, size, seed);
    }
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

uint64_t base_hash64_mix(uint64_t a, uint64_t b) {
    return avalanche(avalanche(a + UINT64_C(0x9E3779B97F4A7C15)) ^ b);
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
