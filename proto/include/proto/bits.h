// SPDX-License-Identifier: MIT
/// Bits in a buffer of the caller. The lowest bit of a byte comes first, the lowest byte of a value
/// comes first (WIRE.md, "Bits").
///
/// Limits:  A writer never writes past its buffer: at the end it sets `failed` and writes nothing
///          more. A reader accepts any bytes: past the end it returns 0 and sets `failed`.
/// Memory:  Allocates nothing. Writer and reader borrow the buffer; it must outlive them.
///          Both are plain values: a copy is an independent position in the same buffer.
/// Threads: Any, as long as one thread uses one writer or reader.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

typedef struct proto_bit_writer {
    uint8_t* data;      ///< borrowed
    size_t capacity;    ///< bytes
    uint64_t size_bits; ///< bits written so far
    bool failed;        ///< the buffer was too small; its content is not usable
} proto_bit_writer;

/// Get a writer at the start of `data`, which has `capacity` bytes. The writer owns all of these
/// bytes: it may clear bytes after its position.
proto_bit_writer proto_bit_writer_make(uint8_t* data, size_t capacity);
/// Write the low `count` bits of `value`, `count` in 0..64. The other bits of `value` must be 0.
void proto_bits_write(proto_bit_writer* writer, uint64_t value, uint32_t count);
/// Get the size of what was written, in whole bytes. The last byte is padded with 0 bits.
size_t proto_bit_writer_bytes(const proto_bit_writer* writer);
/// Go back to `size_bits`, an earlier value of writer->size_bits. This drops the bits after it and
/// clears `failed`.
void proto_bit_writer_rewind(proto_bit_writer* writer, uint64_t size_bits);

typedef struct proto_bit_reader {
    const uint8_t* data;  ///< borrowed
    uint64_t size_bits;   ///< bits that can be read
    uint64_t offset_bits; ///< bits read so far
    bool failed;          ///< a read went past the end, or a code was impossible
} proto_bit_reader;

/// Get a reader at the start of `data`, which has `size` bytes.
proto_bit_reader proto_bit_reader_make(const uint8_t* data, size_t size);
/// Read `count` bits, 0..64. @return the value; 0 when the reader has failed.
uint64_t proto_bits_read(proto_bit_reader* reader, uint32_t count);

/// Write the exponential Golomb code of `value`, of `order` 0..31. Small values take few bits.
void proto_bits_write_golomb(proto_bit_writer* writer, uint32_t value, uint32_t order);
/// Read such a code. @return the value; 0 when the reader has failed.
uint32_t proto_bits_read_golomb(proto_bit_reader* reader, uint32_t order);

BASE_C_END
