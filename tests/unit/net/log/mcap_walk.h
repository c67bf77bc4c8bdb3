// SPDX-License-Identifier: MIT
/// An MCAP file in memory, and what a reader finds in it by its records and its footer.
#pragma once

#include "test.h"

#include "base/bytes.h"

#include <stdint.h>
#include <string.h>

typedef struct mcap_bytes {
    uint8_t data[1 << 21];
    size_t size, room; ///< room 0: all
    uint32_t calls;
} mcap_bytes;

static inline bool take_bytes(void* context, const void* bytes, size_t size) {
    mcap_bytes* self = context;
    self->calls++;
    if (self->room > 0 && self->size + size > self->room) return false;
    assert_true(self->size + size <= sizeof self->data);
    memcpy(self->data + self->size, bytes, size);
    self->size += size;
    return true;
}

static inline uint32_t load_u32(const uint8_t* at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t zlib_crc(const uint8_t* bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (uint32_t k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

// What a reader finds by the footer; each opcode counted.
typedef struct mcap_found {
    uint32_t counts[16];
    uint64_t summary, offsets;
    const uint8_t* chunk_index;
    const uint8_t* statistics;
} mcap_found;

static inline mcap_found walk_mcap(const mcap_bytes* file) {
    static const uint8_t magic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
    mcap_found found = {.summary = 0};
    const uint8_t* at = file->data;
    const uint8_t* end = file->data + file->size;
    assert_memory_equal(at, magic, sizeof magic);
    assert_memory_equal(end - sizeof magic, magic, sizeof magic);
    const uint8_t* footer = end - sizeof magic - 29;
    assert_int_equal(footer[0], 2);
    found.summary = base_load_le64(footer + 9);
    found.offsets = base_load_le64(footer + 17);
    assert_int_equal(
        load_u32(footer + 25),
        zlib_crc(file->data + found.summary, (size_t)(footer + 25 - file->data) - found.summary));
    for (at += sizeof magic; at < end - sizeof magic; at += 9 + base_load_le64(at + 1)) {
        assert_true(at[0] > 0 && at[0] < 16);
        found.counts[at[0]]++;
        if (at[0] == 8) found.chunk_index = at + 9;
        if (at[0] == 11) found.statistics = at + 9;
        if (at[0] == 15) {
            assert_int_equal(at + 13 - file->data, found.summary);
            assert_int_equal(load_u32(at + 9), zlib_crc(file->data, (size_t)(at - file->data)));
        }
    }
    assert_ptr_equal(at, end - sizeof magic);
    return found;
}
