// SPDX-License-Identifier: MIT
/// Bits in a caller's buffer, least significant first within little-endian bytes.
///
/// Writers never overrun: past the end `failed` is set and nothing more is written. Readers are total:
/// past the end they return 0 and set `failed`, whatever the bytes say.
#pragma once

#include "base/macros.h"

typedef struct proto_bit_writer {
    uint8_t* data;
    size_t capacity;    ///< bytes
    uint64_t size_bits; ///< written so far
    bool failed;
} proto_bit_writer;

proto_bit_writer proto_bit_writer_make(uint8_t* data, size_t capacity);
/// `count` 0..64; bits above `count` must be 0 (asserted).
void proto_bits_write(proto_bit_writer* writer, uint64_t value, uint32_t count);
/// Whole bytes, the last one padded with 0 bits.
size_t proto_bit_writer_bytes(const proto_bit_writer* writer);
/// Go back to a place remembered as writer->size_bits; clears `failed` and the bits after it.
void proto_bit_writer_rewind(proto_bit_writer* writer, uint64_t size_bits);

typedef struct proto_bit_reader {
    const uint8_t* data;
    uint64_t size_bits;
    uint64_t offset_bits;
    bool failed;
} proto_bit_reader;

proto_bit_reader proto_bit_reader_make(const uint8_t* data, size_t size);
uint64_t proto_bits_read(proto_bit_reader* reader, uint32_t count);

/// Exponential-Golomb code of order k for unsigned values below 2^32; small values are short.
void proto_bits_write_golomb(proto_bit_writer* writer, uint32_t value, uint32_t order);
uint32_t proto_bits_read_golomb(proto_bit_reader* reader, uint32_t order);
