// SPDX-License-Identifier: MIT
// XXH3 behind a few functions. xxhash is compiled into this file only, so its names and version
// stay private. Its specification fixes the values; they do not depend on machine or build.
#include "base/hash.h"

#include "crc32c_paths.h"

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

// For a size that the compiler knows, an inlined XXH3 is a few instructions. Both hashes of a row
// have one seed. `before` NULL: no cells to subtract.
static inline __attribute__((always_inline)) uint64_t
sum_of_size(const uint8_t* before, const uint8_t* after, size_t size, const uint32_t* ids,
            uint64_t salt, const uint32_t* rows, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t seed = avalanche(salt ^ ids[rows[i]]);
        sum += XXH3_64bits_withSeed(after + size * rows[i], size, seed);
        if (before) sum -= XXH3_64bits_withSeed(before + size * rows[i], size, seed);
    }
    return sum;
}

static inline __attribute__((always_inline)) uint64_t sum_of(const void* before, const void* after,
                                                             size_t size, const uint32_t* ids,
                                                             uint64_t salt, const uint32_t* rows,
                                                             uint32_t count) {
    const uint64_t mixed = avalanche(salt + SALT);
    switch (size) {
    case 4:
        return sum_of_size(before, after, 4, ids, mixed, rows, count);
    case 8:
        return sum_of_size(before, after, 8, ids, mixed, rows, count);
    case 12:
        return sum_of_size(before, after, 12, ids, mixed, rows, count);
    case 16:
        return sum_of_size(before, after, 16, ids, mixed, rows, count);
    default:
        return sum_of_size(before, after, size, ids, mixed, rows, count);
    }
}

__attribute__((flatten)) uint64_t base_hash64_rows(const void* cells, size_t size,
                                                   const uint32_t* ids, uint64_t salt,
                                                   const uint32_t* rows, uint32_t count) {
    return sum_of(NULL, cells, size, ids, salt, rows, count);
}

__attribute__((flatten)) uint64_t base_hash64_rows_change(const void* before, const void* after,
                                                          size_t size, const uint32_t* ids,
                                                          uint64_t salt, const uint32_t* rows,
                                                          uint32_t count) {
    return sum_of(before, after, size, ids, salt, rows, count);
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

// CRC-32C protects records in files: it finds every burst of up to 32 wrong bits, and current
// processors have an instruction for it. On others a table of half bytes is short, and fast enough
// for what a log writes. Both ways give the same number.

// The checksum of each half byte, for the reversed polynomial 0x82F63B78.
static const uint32_t half_bytes[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75};

uint32_t base_crc32c_portable(uint32_t crc, const void* data, size_t size) {
    const uint8_t* bytes = data;
    crc = ~crc;
    for (; size > 0; size--, bytes++) {
        crc ^= *bytes;
        crc = crc >> 4 ^ half_bytes[crc & 15];
        crc = crc >> 4 ^ half_bytes[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
bool base_crc32c_has_hardware(void) {
    return __builtin_cpu_supports("sse4.2") != 0;
}

static inline uint64_t load_u64(const uint8_t* data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) uint32_t base_crc32c_hardware(uint32_t crc, const void* data,
                                                                size_t size) {
    const uint8_t* bytes = data;
    uint64_t state = ~crc;
    for (; size >= 32; size -= 32, bytes += 32) {
        state = __builtin_ia32_crc32di(state, load_u64(bytes));
        state = __builtin_ia32_crc32di(state, load_u64(bytes + 8));
        state = __builtin_ia32_crc32di(state, load_u64(bytes + 16));
        state = __builtin_ia32_crc32di(state, load_u64(bytes + 24));
    }
    for (; size >= 8; size -= 8, bytes += 8)
        state = __builtin_ia32_crc32di(state, load_u64(bytes));
    uint32_t tail = (uint32_t)state;
    for (; size > 0; size--, bytes++)
        tail = __builtin_ia32_crc32qi(tail, *bytes);
    return ~tail;
}
#else
bool base_crc32c_has_hardware(void) {
    return false;
}

uint32_t base_crc32c_hardware(uint32_t crc, const void* data, size_t size) {
    return base_crc32c_portable(crc, data, size);
}
#endif

uint32_t base_crc32c(uint32_t crc, const void* data, size_t size) {
    return base_crc32c_has_hardware() ? base_crc32c_hardware(crc, data, size)
                                      : base_crc32c_portable(crc, data, size);
}
