// SPDX-License-Identifier: MIT
/// A growing byte buffer, and reading and writing of little-endian numbers in it.
///
/// Writers never fail half-way: when memory runs out `failed` is set and further writes do nothing,
/// so the caller checks once at the end. Readers are total: past the end they return zero and set
/// `failed`, whatever the bytes say.
#pragma once

#include "base/alloc.h"

typedef struct base_bytes {
    const base_allocator* allocator;
    uint8_t* data;
    size_t size;
    size_t capacity;
    bool failed;
} base_bytes;

void base_bytes_init(base_bytes* bytes, const base_allocator* allocator);
void base_bytes_deinit(base_bytes* bytes);
/// Forget the content, keep the memory.
void base_bytes_clear(base_bytes* bytes);
/// Make room for `size` more bytes at the end (size grows). @return a pointer to them, not cleared,
/// good until the next write; NULL on failure.
uint8_t* base_bytes_extend(base_bytes* bytes, size_t size);
void base_bytes_write(base_bytes* bytes, const void* data, size_t size);
void base_bytes_write_u8(base_bytes* bytes, uint8_t value);
void base_bytes_write_u16(base_bytes* bytes, uint16_t value);
void base_bytes_write_u32(base_bytes* bytes, uint32_t value);
void base_bytes_write_u64(base_bytes* bytes, uint64_t value);
/// LEB128, 1 to 10 bytes.
void base_bytes_write_varint(base_bytes* bytes, uint64_t value);

typedef struct base_reader {
    const uint8_t* data;
    size_t size;
    size_t offset;
    bool failed;
} base_reader;

base_reader base_reader_make(const void* data, size_t size);
size_t base_reader_left(const base_reader* reader);
/// Borrow `size` bytes inside the buffer; NULL (and failed) when there are not so many.
const uint8_t* base_reader_skip(base_reader* reader, size_t size);
bool base_reader_read(base_reader* reader, void* target, size_t size);
uint8_t base_reader_u8(base_reader* reader);
uint16_t base_reader_u16(base_reader* reader);
uint32_t base_reader_u32(base_reader* reader);
uint64_t base_reader_u64(base_reader* reader);
uint64_t base_reader_varint(base_reader* reader);
