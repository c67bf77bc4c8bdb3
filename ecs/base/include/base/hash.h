// SPDX-License-Identifier: MIT
/// Hashes: XXH3 (xxhash) for state and tables, CRC-32C for files. None of them is a secret: they do
/// not protect against an attacker who chooses the data.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// XXH3, 64 bits, with a seed. The result is the same on every machine. `data` may be NULL when
/// size is 0.
uint64_t base_hash64(const void* data, size_t size, uint64_t seed);
/// Hash of a NUL-terminated string without its NUL, with seed 0.
uint64_t base_hash64_text(const char* text);
/// Mix two hashes into one. The order matters.
uint64_t base_hash64_mix(uint64_t a, uint64_t b);
/// The sum, modulo 2^64, over `rows` of base_hash64(cells + size * row, size, base_hash64_mix(salt,
/// ids[row])). For sizes of 4, 8, 12 and 16 bytes it is several times as fast as single calls.
uint64_t base_hash64_rows(const void* cells, size_t size, const uint32_t* ids, uint64_t salt,
                          const uint32_t* rows, uint32_t count);
/// What base_hash64_rows is for the cells `after`, less what it is for the cells `before`.
uint64_t base_hash64_rows_change(const void* before, const void* after, size_t size,
                                 const uint32_t* ids, uint64_t salt, const uint32_t* rows,
                                 uint32_t count);

/// A hash that gets its data in pieces: init, add any number of times, end. How the data is cut
/// does not matter: the result equals base_hash64 of all of it.
typedef struct base_hasher {
    BASE_ALIGN(64) uint8_t state[576];
} base_hasher;
void base_hasher_init(base_hasher* hasher, uint64_t seed);
void base_hasher_add(base_hasher* hasher, const void* data, size_t size);
uint64_t base_hasher_end(const base_hasher* hasher);

/// CRC-32C (Castagnoli), as in iSCSI. Start with crc 0; pass the result of the previous piece to go
/// on.
uint32_t base_crc32c(uint32_t crc, const void* data, size_t size);

BASE_C_END
