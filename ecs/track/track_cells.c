// SPDX-License-Identifier: MIT
// Values and shadows of a tracked column as bytes: which rows differ, which are hashed as they lie.
#include "track/track_cells.h"

#include "table/bytes.h"
#include "type/type_registry.h"

#include <string.h>

enum { FLAT_BYTES_MAX = 16 };
#define FLOAT_EXPONENTS UINT64_C(0x7F8000007F800000)

// Is a value of the type hashed by the very bytes that it has in memory? But for NaNs of four-byte
// floats, of which `float_bits` tells.
static bool is_flat(const ecs_type* type, uint64_t* float_bits) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t end = 0;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        if (field->offset != end || field->kind == ECS_FIELD_BOOL || field->kind == ECS_FIELD_F64)
            return false;
        if (field->kind == ECS_FIELD_F32) {
            if (end % 4 != 0) return false;
            // The test for NaNs may hit on other fields too, which costs time alone.
            *float_bits = FLOAT_EXPONENTS;
        }
        end += field->count * ecs_field_kind_bytes(field->kind);
    }
    return end == type->object_size && end % 4 == 0 && end > 0 && end <= FLAT_BYTES_MAX;
#else
    (void)type;
    (void)float_bits;
    return false;
#endif
}

void ecs_track_learn(ecs_track_cells* column) {
    column->is_dense = column->type->is_dense && ecs_type_is_plain(column->type);
    column->is_flat = column->is_dense && is_flat(column->type, &column->float_bits);
}

static inline uint64_t load_4(const uint8_t* at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
static inline uint64_t load_8(const uint8_t* at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

// Have two values other bytes? A constant size makes this a few instructions.
static inline __attribute__((always_inline)) bool differ(const uint8_t* a, const uint8_t* b,
                                                         size_t size) {
    switch (size) {
    case 4:
        return load_4(a) != load_4(b);
    case 8:
        return load_8(a) != load_8(b);
    case 12:
        return ((load_8(a) ^ load_8(b)) | (load_4(a + 8) ^ load_4(b + 8))) != 0;
    case 16:
        return ((load_8(a) ^ load_8(b)) | (load_8(a + 8) ^ load_8(b + 8))) != 0;
    default:
        return memcmp(a, b, size) != 0;
    }
}

static inline __attribute__((always_inline)) uint32_t find_rows_of(const ecs_track_cells* column,
                                                                   size_t size, uint32_t first,
                                                                   uint32_t end, uint32_t* rows) {
    const uint8_t *value = column->values + size * first, *shadow = column->shadows + size * first;
    uint32_t count = 0;
    for (uint32_t row = first; row < end; row++, value += size, shadow += size) {
        rows[count] = row;
        count += differ(value, shadow, size);
    }
    return count;
}

// No branch for each row, since those that changed lie anywhere.
uint32_t ecs_track_find_rows(const ecs_track_cells* column, uint32_t first, uint32_t end,
                             uint32_t* rows) {
    uint32_t found = 0;
#define FIND(bytes) found = find_rows_of(column, bytes, first, end, rows)
    ECS_BY_SIZE(column->size, FIND)
#undef FIND
    return found;
}

uint32_t ecs_track_find_among(const ecs_track_cells* column, const uint32_t* rows, uint32_t count,
                              uint32_t* changed) {
    uint32_t found = 0;
#define FIND(bytes)                                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        const size_t at = (size_t)(bytes)*rows[i];                                                 \
        changed[found] = rows[i];                                                                  \
        found += differ(column->values + at, column->shadows + at, bytes);                         \
    }
    ECS_BY_SIZE(column->size, FIND)
#undef FIND
    return found;
}

// Could a flat value hold a NaN? Infinite floats and numbers that look alike are suspected too.
static inline __attribute__((always_inline)) bool may_have_nan(const ecs_track_cells* column,
                                                               size_t size, const uint8_t* value) {
    const uint64_t low = size == 4 ? load_4(value) : load_8(value);
    const uint64_t high = size == 12 ? load_4(value + 8) : size == 16 ? load_8(value + 8) : 0;
    // An exponent of ones carries into the bit above it, which the mask left free.
    const uint64_t carry = UINT64_C(0x0080000000800000);
    uint64_t sums = ((low & column->float_bits) + carry) | ((high & column->float_bits) + carry);
    return (sums & UINT64_C(0x8000000080000000)) != 0;
}

static inline __attribute__((always_inline)) uint32_t find_flat_of(const ecs_track_cells* column,
                                                                   size_t size,
                                                                   const uint32_t* rows,
                                                                   uint32_t count, uint32_t* flat) {
    uint32_t flat_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = size * rows[i];
        flat[flat_count] = rows[i];
        flat_count += !may_have_nan(column, size, column->shadows + at) &
                      !may_have_nan(column, size, column->values + at);
    }
    return flat_count;
}

uint32_t ecs_track_find_flat(const ecs_track_cells* column, const uint32_t* rows, uint32_t count,
                             uint32_t* flat) {
    uint32_t found = 0;
    if (!column->is_flat) return 0;
#define FIND(bytes) found = find_flat_of(column, bytes, rows, count, flat)
    ECS_BY_SIZE(column->size, FIND)
#undef FIND
    return found;
}

void ecs_track_update_shadows(const ecs_track_cells* column, const uint32_t* rows, uint32_t count) {
#define UPDATE(bytes)                                                                              \
    for (uint32_t i = 0; i < count; i++)                                                           \
    memcpy(column->shadows + (size_t)(bytes)*rows[i], column->values + (size_t)(bytes)*rows[i],    \
           bytes)
    ECS_BY_SIZE(column->size, UPDATE)
#undef UPDATE
}

// The C library's memcmp compares by the widest vectors of the machine: three quarters of the time
// of a loop here (compare_100k, -O2).
size_t ecs_track_find_difference(const ecs_track_cells* column, size_t at, size_t end,
                                 size_t block) {
    for (; at < end; at += block) {
        size_t bytes = end - at < block ? end - at : block;
        if (memcmp(column->values + at, column->shadows + at, bytes) != 0) return at;
    }
    return end;
}
