// SPDX-License-Identifier: MIT
// Canonical bytes: the fields of a value in order, little-endian, every NaN the same, every true a
// 1. Hashes, saves and logs use these bytes and never the padding of a struct.
//
// A dense plain type costs one memcpy and a check of its floats. Hashing needs only a small buffer
// on the stack. Zero keeps its sign: -0 and 0 divide differently, so they are different states.
#include "type/type_registry.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

enum { BUFFER_BYTES = 256 };

static const uint32_t nan32 = UINT32_C(0x7FC00000);
static const uint64_t nan64 = UINT64_C(0x7FF8000000000000);

// Convert elements between memory and little-endian bytes; the same function in both directions.
static void swap_elements(uint8_t* target, const uint8_t* source, uint32_t count, uint32_t bytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t byte = 0; byte < bytes; byte++)
            target[i * bytes + byte] = source[i * bytes + bytes - 1 - byte];
#else
    memcpy(target, source, (size_t)count * bytes);
#endif
}

// Make elements canonical, in memory order.
static void canonicalise(uint8_t* elements, ecs_field_kind kind, uint32_t count) {
    if (kind == ECS_FIELD_F32) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, elements + 4 * (size_t)i, 4);
            if ((bits & UINT32_C(0x7FFFFFFF)) > UINT32_C(0x7F800000))
                memcpy(elements + 4 * (size_t)i, &nan32, 4);
        }
    } else if (kind == ECS_FIELD_F64) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, elements + 8 * (size_t)i, 8);
            if ((bits & UINT64_C(0x7FFFFFFFFFFFFFFF)) > UINT64_C(0x7FF0000000000000))
                memcpy(elements + 8 * (size_t)i, &nan64, 8);
        }
    } else if (kind == ECS_FIELD_BOOL) {
        for (uint32_t i = 0; i < count; i++)
            elements[i] = elements[i] != 0;
    }
}

// Write elements [first, first + count) of a field, at most BUFFER_BYTES.
static void write_elements(uint8_t* target, const ecs_field* field, const uint8_t* value,
                           uint32_t first, uint32_t count) {
    uint32_t bytes = ecs_field_kind_table[field->kind];
    _Alignas(8) uint8_t elements[BUFFER_BYTES];
    BASE_ASSERT((size_t)count * bytes <= sizeof elements);
    memcpy(elements, value + field->offset + (size_t)first * bytes, (size_t)count * bytes);
    canonicalise(elements, field->kind, count);
    swap_elements(target, elements, count, bytes);
}

uint32_t ecs_type_canonical_bytes(const ecs_type* type) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        bytes += type->fields[i].count * ecs_field_kind_table[type->fields[i].kind];
    return bytes;
}

static uint32_t elements_per_piece(const ecs_field* field) {
    return BUFFER_BYTES / ecs_field_kind_table[field->kind];
}

void ecs_type_write(const ecs_type* type, const void* value, base_bytes* bytes) {
    BASE_ASSERT(type && bytes);
    value = ecs_type_object(type, value);
    if (type->ops && type->ops->write) {
        type->ops->write(value, bytes);
        return;
    }
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        for (uint32_t first = 0; first < field->count;) {
            uint32_t count = field->count - first;
            if (count > elements_per_piece(field)) count = elements_per_piece(field);
            uint8_t* target =
                base_bytes_extend(bytes, (size_t)count * ecs_field_kind_table[field->kind]);
            if (!target) return;
            write_elements(target, field, value, first, count);
            first += count;
        }
    }
}

bool ecs_type_read(const ecs_type* type, const ecs_type_context* context, void* value,
                   base_reader* reader) {
    BASE_ASSERT(type && reader);
    value = ecs_type_object_mut(type, value);
    if (type->ops && type->ops->read) return type->ops->read(context, value, reader);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint32_t bytes = ecs_field_kind_table[field->kind];
        const uint8_t* source = base_reader_skip(reader, (size_t)field->count * bytes);
        if (!source) return false;
        uint8_t* target = (uint8_t*)value + field->offset;
        // Reading another byte as bool would be undefined.
        for (uint32_t b = 0; field->kind == ECS_FIELD_BOOL && b < field->count; b++)
            if (source[b] > 1) {
                reader->failed = true;
                return false;
            }
        swap_elements(target, source, field->count, bytes);
        canonicalise(target, field->kind, field->count);
    }
    return true;
}

// An allocator that uses a buffer on the stack first, then the heap.
static void* spill_allocate(void* context, size_t size, size_t align) {
    (void)context;
    (void)align;
    return base_allocate(NULL, size);
}

static void spill_release(void* context, void* memory, size_t size) {
    if (memory != context) base_release(NULL, memory, size);
}

static uint64_t hash_written(const ecs_type* type, const void* value, uint64_t seed) {
    uint8_t buffer[ECS_STRING_BYTES_MAX + 16];
    base_allocator spill = {spill_allocate, spill_release, buffer};
    base_bytes bytes = {.allocator = &spill, .data = buffer, .capacity = sizeof buffer};
    type->ops->write(value, &bytes);
    uint64_t hash = base_hash64(bytes.data, bytes.size, seed);
    base_bytes_deinit(&bytes);
    return hash;
}

static uint64_t hash_large(const ecs_type* type, const void* value, uint64_t seed) {
    base_hasher hasher;
    base_hasher_init(&hasher, seed);
    uint8_t piece[BUFFER_BYTES];
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint32_t count;
        for (uint32_t first = 0; first < field->count; first += count) {
            count = field->count - first;
            if (count > elements_per_piece(field)) count = elements_per_piece(field);
            write_elements(piece, field, value, first, count);
            base_hasher_add(&hasher, piece, (size_t)count * ecs_field_kind_table[field->kind]);
        }
    }
    return base_hasher_end(&hasher);
}

uint64_t ecs_type_hash(const ecs_type* type, const void* value, uint64_t seed) {
    BASE_ASSERT(type);
    if (type->hash) return type->hash(value, seed);
    value = ecs_type_object(type, value);
    if (type->ops && type->ops->write) return hash_written(type, value, seed);
    if (type->object_size > BUFFER_BYTES) return hash_large(type, value, seed);
    _Alignas(8) uint8_t buffer[BUFFER_BYTES];
    uint32_t size = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        uint32_t bytes = ecs_field_kind_table[field->kind];
        const uint8_t* source = (const uint8_t*)value + field->offset;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        // One number of four bytes is by far the most frequent case.
        if (field->count == 1 && bytes == 4) {
            uint32_t bits;
            memcpy(&bits, source, 4);
            if (field->kind == ECS_FIELD_F32 &&
                (bits & UINT32_C(0x7FFFFFFF)) > UINT32_C(0x7F800000))
                memcpy(&bits, &nan32, 4);
            memcpy(buffer + size, &bits, 4);
            size += 4;
            continue;
        }
#endif
        memcpy(buffer + size, source, (size_t)field->count * bytes);
        canonicalise(buffer + size, field->kind, field->count);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        uint8_t turned[BUFFER_BYTES];
        swap_elements(turned, buffer + size, field->count, bytes);
        memcpy(buffer + size, turned, (size_t)field->count * bytes);
#endif
        size += field->count * bytes;
    }
    return base_hash64(buffer, size, seed);
}

static bool field_equal(const ecs_field* field, const uint8_t* a, const uint8_t* b) {
    uint32_t bytes = ecs_field_kind_table[field->kind];
    size_t size = (size_t)field->count * bytes;
    if (memcmp(a + field->offset, b + field->offset, size) == 0) return true;
    if (field->kind != ECS_FIELD_F32 && field->kind != ECS_FIELD_F64 &&
        field->kind != ECS_FIELD_BOOL)
        return false;
    for (uint32_t i = 0; i < field->count; i++) {
        uint8_t left[8];
        uint8_t right[8];
        write_elements(left, field, a, i, 1);
        write_elements(right, field, b, i, 1);
        if (memcmp(left, right, bytes) != 0) return false;
    }
    return true;
}

bool ecs_type_equal(const ecs_type* type, const void* a, const void* b) {
    BASE_ASSERT(type);
    a = ecs_type_object(type, a);
    b = ecs_type_object(type, b);
    if (type->ops && type->ops->equal) return type->ops->equal(a, b);
    if (type->is_dense && type->object_size && memcmp(a, b, type->object_size) == 0) return true;
    if (type->field_count == 0 && type->object_size) return memcmp(a, b, type->object_size) == 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!field_equal(&type->fields[i], a, b)) return false;
    return true;
}
