// SPDX-License-Identifier: MIT
/// Hashes: XXH3 (xxhash) for state and tables, CRC-32C for what lies on disks.
#pragma once

#include "base/macros.h"

/// XXH3 64 bit with a seed. The same on every machine.
uint64_t base_hash64(const void* data, size_t size, uint64_t seed);
/// base_hash64(after) - base_hash64(before), modulo 2^64. For sizes of 4, 8, 12 and 16 several times as
/// fast as two calls.
uint64_t base_hash64_change(const void* before, const void* after, size_t size, uint64_t seed);
/// Hash of a NUL-terminated string, seed 0.
uint64_t base_hash64_text(const char* text);
/// Mix two hashes into one, order matters.
uint64_t base_hash64_mix(uint64_t a, uint64_t b);

/// A hash fed in pieces; equals nothing but itself fed the same pieces in any cut.
typedef struct base_hasher {
    _Alignas(64) uint8_t state[576];
} base_hasher;
void base_hasher_init(base_hasher* hasher, uint64_t seed);
void base_hasher_add(base_hasher* hasher, const void* data, size_t size);
uint64_t base_hasher_end(const base_hasher* hasher);

/// CRC-32C (Castagnoli), as in iSCSI. Feed pieces by passing the former result; start with 0.
uint32_t base_crc32c(uint32_t crc, const void* data, size_t size);
