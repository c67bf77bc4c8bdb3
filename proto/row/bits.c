// SPDX-License-Identifier: MIT
// Bits in a buffer, lowest bit first. The position is the only state. So a writer can be copied and
// rewound, and another function can go on reading in the middle of a byte.
//
// Reading and writing move eight bytes at once while the buffer has them. So a write may clear
// bytes after its position, but never after the end of the buffer: a writer owns its whole buffer.
//
// Invariants: size_bits <= 8 * capacity; the bits of the last byte that were not written are 0.
#include "proto/bits.h"

#include "base/assert.h"
#include "base/bytes.h"

enum { WORD_BITS = 64, GOLOMB_ORDER_MAX = 31, GOLOMB_BITS_MAX = 32 };

static uint64_t low_mask(uint32_t count) {
    return count >= WORD_BITS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

proto_bit_writer proto_bit_writer_make(uint8_t* data, size_t capacity) {
    BASE_ASSERT(data || capacity == 0);
    BASE_ASSERT(capacity <= SIZE_MAX / 8);
    return (proto_bit_writer){.data = data, .capacity = capacity};
}

// Write one piece. It ends within 64 bits of the start of its first byte, and the buffer has room.
static void write_piece(proto_bit_writer* writer, uint64_t value, uint32_t count) {
    size_t byte = (size_t)(writer->size_bits >> 3);
    uint32_t shift = (uint32_t)(writer->size_bits & 7);
    uint64_t kept = shift ? writer->data[byte] & low_mask(shift) : 0;
    uint64_t word = kept | value << shift;
    if (writer->capacity - byte >= 8) {
        base_store_le64(writer->data + byte, word);
    } else {
        uint32_t bytes = (shift + count + 7) >> 3;
        for (uint32_t i = 0; i < bytes; i++)
            writer->data[byte + i] = (uint8_t)(word >> (8 * i));
    }
    writer->size_bits += count;
}

void proto_bits_write(proto_bit_writer* writer, uint64_t value, uint32_t count) {
    BASE_ASSERT(count <= WORD_BITS && (value & ~low_mask(count)) == 0);
    if (writer->failed || count == 0) return;
    if (count > (uint64_t)writer->capacity * 8 - writer->size_bits) {
        writer->failed = true;
        return;
    }
    if (count > 32) { // 32 bits with up to 7 bits before them fit in 64
        write_piece(writer, value & UINT32_MAX, 32);
        value >>= 32;
        count -= 32;
    }
    write_piece(writer, value, count);
}

size_t proto_bit_writer_bytes(const proto_bit_writer* writer) {
    return (size_t)((writer->size_bits + 7) >> 3);
}

void proto_bit_writer_rewind(proto_bit_writer* writer, uint64_t size_bits) {
    BASE_ASSERT(size_bits <= writer->size_bits);
    BASE_ASSERT(writer->size_bits <= (uint64_t)writer->capacity * 8);
    writer->size_bits = size_bits;
    writer->failed = false;
    uint32_t shift = (uint32_t)(size_bits & 7);
    if (shift) {
        uint8_t* last = &writer->data[size_bits >> 3];
        *last = (uint8_t)(*last & low_mask(shift));
    }
}

proto_bit_reader proto_bit_reader_make(const uint8_t* data, size_t size) {
    BASE_ASSERT(data || size == 0);
    return (proto_bit_reader){.data = data, .size_bits = (uint64_t)size * 8};
}

static uint64_t read_piece(proto_bit_reader* reader, uint32_t count) {
    size_t byte = (size_t)(reader->offset_bits >> 3);
    uint32_t shift = (uint32_t)(reader->offset_bits & 7);
    uint64_t word = 0;
    if (reader->size_bits - ((uint64_t)byte << 3) >= WORD_BITS) {
        word = base_load_le64(reader->data + byte);
    } else {
        uint32_t bytes = (shift + count + 7) >> 3;
        for (uint32_t i = 0; i < bytes; i++)
            word |= (uint64_t)reader->data[byte + i] << (8 * i);
    }
    reader->offset_bits += count;
    return (word >> shift) & low_mask(count);
}

uint64_t proto_bits_read(proto_bit_reader* reader, uint32_t count) {
    BASE_ASSERT(count <= WORD_BITS);
    if (reader->failed || count == 0) return 0;
    if (count > reader->size_bits - reader->offset_bits) {
        reader->failed = true;
        return 0;
    }
    if (count <= 32) return read_piece(reader, count);
    uint64_t low = read_piece(reader, 32);
    return low | read_piece(reader, count - 32) << 32;
}

// u = value + 2^order has n + 1 bits. Write n - order zeros, a one, then the n bits below u's top
// bit.
void proto_bits_write_golomb(proto_bit_writer* writer, uint32_t value, uint32_t order) {
    BASE_ASSERT(order <= GOLOMB_ORDER_MAX);
    uint64_t u = (uint64_t)value + (UINT64_C(1) << order);
    uint32_t low_bits = (uint32_t)(WORD_BITS - 1 - __builtin_clzll(u));
    uint32_t zeros = low_bits - order;
    proto_bits_write(writer, UINT64_C(1) << zeros, zeros + 1);
    proto_bits_write(writer, u & low_mask(low_bits), low_bits);
}

uint32_t proto_bits_read_golomb(proto_bit_reader* reader, uint32_t order) {
    BASE_ASSERT(order <= GOLOMB_ORDER_MAX);
    uint32_t low_bits = order;
    while (proto_bits_read(reader, 1) == 0) {
        if (reader->failed) return 0;
        if (++low_bits > GOLOMB_BITS_MAX) {
            reader->failed = true;
            return 0;
        }
    }
    uint64_t u = (UINT64_C(1) << low_bits) | proto_bits_read(reader, low_bits);
    uint64_t value = u - (UINT64_C(1) << order);
    if (value > UINT32_MAX) reader->failed = true;
    return reader->failed ? 0 : (uint32_t)value;
}
