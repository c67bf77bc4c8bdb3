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
// processors have an instruction for it. On others, eight tables process eight bytes per step
// ("slicing by 8", M. E. Kounavis and F. L. Berry, 2005). Both ways give the same number.
//
// The tables need no start-up code: the checksum is linear over xor, so entry n is the xor of the
// entries of its bits, and the eight single-bit entries of each table are written out below.

#define BIT(n, bit, value) ((n) >> (bit)&1 ? (value) : 0u)
#define ENTRY(n, a, b, c, d, e, f, g, h)                                                           \
    (BIT(n, 0, a) ^ BIT(n, 1, b) ^ BIT(n, 2, c) ^ BIT(n, 3, d) ^ BIT(n, 4, e) ^ BIT(n, 5, f) ^     \
     BIT(n, 6, g) ^ BIT(n, 7, h))
#define ENTRIES_4(n, ...)                                                                          \
    ENTRY(n, __VA_ARGS__), ENTRY((n) + 1, __VA_ARGS__), ENTRY((n) + 2, __VA_ARGS__),               \
        ENTRY((n) + 3, __VA_ARGS__)
#define ENTRIES_16(n, ...)                                                                         \
    ENTRIES_4(n, __VA_ARGS__), ENTRIES_4((n) + 4, __VA_ARGS__), ENTRIES_4((n) + 8, __VA_ARGS__),   \
        ENTRIES_4((n) + 12, __VA_ARGS__)
#define ENTRIES_64(n, ...)                                                                         \
    ENTRIES_16(n, __VA_ARGS__), ENTRIES_16((n) + 16, __VA_ARGS__),                                 \
        ENTRIES_16((n) + 32, __VA_ARGS__), ENTRIES_16((n) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
    ENTRIES_64(0u, __VA_ARGS__), ENTRIES_64(64u, __VA_ARGS__), ENTRIES_64(128u, __VA_ARGS__),      \
        ENTRIES_64(192u, __VA_ARGS__)

// tables[k][n]: the checksum of byte n followed by k zero bytes, for the reversed polynomial
// 0x82F63B78. Each row lists k's entries for n = 1, 2, 4 ... 128.
// clang-format off
static const uint32_t tables[8][256] = {
    {TABLE(0xF26B8303, 0xE13B70F7, 0xC79A971F, 0x8AD958CF,
           0x105EC76F, 0x20BD8EDE, 0x417B1DBC, 0x82F63B78)},
    {TABLE(0x13A29877, 0x274530EE, 0x4E8A61DC, 0x9D14C3B8,
           0x3FC5F181, 0x7F8BE302, 0xFF17C604, 0xFBC3FAF9)},
    {TABLE(0xA541927E, 0x4F6F520D, 0x9EDEA41A, 0x38513EC5,
           0x70A27D8A, 0xE144FB14, 0xC76580D9, 0x8B277743)},
    {TABLE(0xDD45AAB8, 0xBF672381, 0x7B2231F3, 0xF64463E6,
           0xE964B13D, 0xD725148B, 0xABA65FE7, 0x52A0C93F)},
    {TABLE(0x38116FAC, 0x7022DF58, 0xE045BEB0, 0xC5670B91,
           0x8F2261D3, 0x1BA8B557, 0x37516AAE, 0x6EA2D55C)},
    {TABLE(0xEF306B19, 0xDB8CA0C3, 0xB2F53777, 0x6006181F,
           0xC00C303E, 0x85F4168D, 0x0E045BEB, 0x1C08B7D6)},
    {TABLE(0x68032CC8, 0xD0065990, 0xA5E0C5D1, 0x4E2DFD53,
           0x9C5BFAA6, 0x3D5B83BD, 0x7AB7077A, 0xF56E0EF4)},
    {TABLE(0x493C7D27, 0x9278FA4E, 0x211D826D, 0x423B04DA,
           0x847609B4, 0x0D006599, 0x1A00CB32, 0x34019664)},
};
// clang-format on
#undef TABLE
#undef ENTRIES_64
#undef ENTRIES_16
#undef ENTRIES_4
#undef ENTRY
#undef BIT

static uint32_t load_u32(const uint8_t* data) {
    return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

uint32_t base_crc32c_portable(uint32_t crc, const void* data, size_t size) {
    const uint8_t* bytes = data;
    crc = ~crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint32_t low = load_u32(bytes) ^ crc;
        uint32_t high = load_u32(bytes + 4);
        crc = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^
              tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^
              tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
    }
    for (; size > 0; size--, bytes++)
        crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xFF];
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
