// SPDX-License-Identifier: MIT
/// A growing byte buffer, and reading and writing of little-endian numbers in it.
///
/// A write never fails. A reader accepts all bytes: past the end it returns zero and sets `failed`.
/// It never reads outside of its input.
#pragma once

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

BASE_C_BEGIN

#define BASE_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/// Eight or four bytes, the low one first. Written out they are not always one instruction: gcc 12
/// takes a stored word apart when the next store overlaps it.
static inline uint64_t base_load_le64(const uint8_t* data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return BASE_IS_BIG_ENDIAN ? __builtin_bswap64(word) : word;
}
static inline void base_store_le32(uint8_t* data, uint32_t word) {
    if (BASE_IS_BIG_ENDIAN) word = __builtin_bswap32(word);
    memcpy(data, &word, sizeof word);
}
static inline void base_store_le64(uint8_t* data, uint64_t word) {
    if (BASE_IS_BIG_ENDIAN) word = __builtin_bswap64(word);
    memcpy(data, &word, sizeof word);
}

/// Bytes that a number takes in LEB128, 1 to 10.
static inline uint32_t base_varint_bytes(uint64_t value) {
    uint32_t bytes = 1;
    for (; value >= 128; value >>= 7)
        bytes++;
    return bytes;
}

/// Write a number in LEB128 into memory with room for base_varint_bytes. @return how many it took.
static inline uint32_t base_varint_put(uint8_t* target, uint64_t value) {
    uint32_t bytes = 0;
    for (; value >= 128; value >>= 7)
        target[bytes++] = (uint8_t)(value | 128);
    target[bytes++] = (uint8_t)value;
    return bytes;
}

/// The buffer. `data` is owned and moves when it grows; NULL while nothing was written.
typedef struct base_bytes {
    const base_allocator* allocator;
    uint8_t* data;
    size_t size;
    size_t capacity;
} base_bytes;

/// Make an empty buffer without memory. The allocator (NULL: the heap) must outlive it.
void base_bytes_init(base_bytes* bytes, const base_allocator* allocator);
/// Give the memory back.
void base_bytes_deinit(base_bytes* bytes);
/// Drop the content, keep the memory.
void base_bytes_clear(base_bytes* bytes);
/// Append `size` bytes that the caller fills in.
/// @return a pointer to them, not cleared, valid until the next write.
uint8_t* base_bytes_extend(base_bytes* bytes, size_t size);
/// Append `size` bytes, or one number in little-endian order.
void base_bytes_write(base_bytes* bytes, const void* data, size_t size);
void base_bytes_write_u8(base_bytes* bytes, uint8_t value);
void base_bytes_write_u16(base_bytes* bytes, uint16_t value);
void base_bytes_write_u32(base_bytes* bytes, uint32_t value);
void base_bytes_write_u64(base_bytes* bytes, uint64_t value);
/// Append a number in LEB128: 1 to 10 bytes, 7 bits each, the low ones first.
void base_bytes_write_varint(base_bytes* bytes, uint64_t value);

/// A cursor in bytes that it borrows. They must outlive it.
typedef struct base_reader {
    const uint8_t* data;
    size_t size;
    size_t offset;
    bool failed;
} base_reader;

/// Begin at the first of `size` bytes. `data` may be NULL when size is 0.
base_reader base_reader_make(const void* data, size_t size);
/// Bytes that are not read yet.
static inline size_t base_reader_left(const base_reader* reader) {
    BASE_ASSERT(reader->offset <= reader->size);
    return reader->failed ? 0 : reader->size - reader->offset;
}
/// Borrow the next `size` bytes from the input and move past them.
/// @return NULL when fewer are left; `failed` is set.
static inline const uint8_t* base_reader_skip(base_reader* reader, size_t size) {
    BASE_ASSERT(reader->offset <= reader->size);
    if (reader->failed || size > reader->size - reader->offset) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t* data = reader->data + reader->offset;
    reader->offset += size;
    return data;
}
/// Copy the next `size` bytes to `target`. @return false when fewer are left; `failed` is set.
bool base_reader_read(base_reader* reader, void* target, size_t size);
/// Read one little-endian number. @return 0 past the end; `failed` is set.
static inline uint8_t base_reader_u8(base_reader* reader) {
    const uint8_t* data = base_reader_skip(reader, 1);
    return data ? data[0] : 0;
}
static inline uint16_t base_reader_u16(base_reader* reader) {
    const uint8_t* data = base_reader_skip(reader, 2);
    if (!data) return 0;
    return (uint16_t)(data[0] | data[1] << 8);
}
static inline uint32_t base_reader_u32(base_reader* reader) {
    const uint8_t* data = base_reader_skip(reader, 4);
    if (!data) return 0;
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
           (uint32_t)data[3] << 24;
}
static inline uint64_t base_reader_u64(base_reader* reader) {
    const uint8_t* data = base_reader_skip(reader, 8);
    return data ? base_load_le64(data) : 0;
}
/// Read a number in LEB128. @return 0 when it is cut or longer than 64 bits; `failed` is set.
uint64_t base_reader_varint_long(base_reader* reader);
static inline uint64_t base_reader_varint(base_reader* reader) {
    const bool is_short = !reader->failed && reader->offset < reader->size &&
                          reader->data[reader->offset] < 0x80; // most are
    return is_short ? reader->data[reader->offset++] : base_reader_varint_long(reader);
}

BASE_C_END
