// SPDX-License-Identifier: MIT
// Cells of plain data in a save.
//
// The bytes that a block takes follow from its type and its rows. So one thread lays a save out
// from front to back, and workers fill in the blocks, or read them; the bytes are those of one
// thread. What has no such size (texts, lists, values that differ from their shadows) is written
// and read by the thread that lays out.
#include "world/save_cells.h"

#include "base/assert.h"

#include <string.h>

void ecs_save_blocks_init(ecs_save_blocks* blocks, const ecs_world* world, uint64_t amount,
                          uint64_t least) {
    *blocks = (ecs_save_blocks){.allocator = world->allocator,
                                .workers = base_workers_worth(world->workers, amount, least)};
}

void ecs_save_blocks_deinit(ecs_save_blocks* blocks) {
    BASE_ARRAY_RELEASE(blocks->allocator, blocks->items, blocks->capacity);
}

bool ecs_save_blocks_push(ecs_save_blocks* blocks, const ecs_save_block* block) {
    if (!blocks->workers ||
        !BASE_ARRAY_RESERVE(blocks->allocator, blocks->items, blocks->capacity, blocks->count + 1))
        return false;
    blocks->items[blocks->count++] = *block;
    return true;
}

void ecs_save_blocks_run(ecs_save_blocks* blocks, base_work_fn work, void* context) {
    if (blocks->count > 0) base_workers_run(blocks->workers, work, context, blocks->count);
    blocks->count = 0;
}

// Could one of the words be a NaN? Infinite floats and numbers that look alike are suspected too.
static bool may_have_nan(const uint8_t* data, size_t bytes) {
    const uint64_t exponents = UINT64_C(0x7F8000007F800000);
    const uint64_t one = UINT64_C(0x0080000000800000); // carries out of an exponent of ones
    uint64_t sums = 0;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        uint64_t words;
        memcpy(&words, data, 8);
        sums |= (words & exponents) + one;
    }
    uint32_t last = 0;
    memcpy(&last, data, bytes);
    sums |= (last & exponents) + one;
    return (sums & UINT64_C(0x8000000080000000)) != 0;
}

// Canonical bytes of a dense type are its memory, on a little-endian machine and as long as nothing
// in it has a second spelling, as NaN and bool do.
static bool is_canonical(const ecs_type* type, const uint8_t* data, size_t bytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bool has_floats = false;
    if (!type->is_dense) return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field_kind kind = type->fields[i].kind;
        if (kind == ECS_FIELD_BOOL || kind == ECS_FIELD_F64) return false;
        has_floats |= kind == ECS_FIELD_F32;
    }
    return !has_floats || !may_have_nan(data, bytes);
#else
    (void)type, (void)data, (void)bytes;
    return false;
#endif
}

void ecs_cells_save(const ecs_type* type, const void* cells, uint32_t count, uint8_t* target) {
    const size_t bytes = (size_t)type->size * count;
    if (is_canonical(type, cells, bytes)) {
        memcpy(target, cells, bytes);
        return;
    }
    const size_t each = ecs_type_canonical_bytes(type);
    base_bytes out = {.data = target, .capacity = each * count};
    for (uint32_t i = 0; i < count; i++)
        ecs_type_write(type, (const uint8_t*)cells + (size_t)type->size * i, &out);
    BASE_ASSERT(out.data == target && out.size == out.capacity);
}

bool ecs_cells_restore(const ecs_type* type, void* cells, uint32_t count, const uint8_t* source) {
    const size_t bytes = (size_t)type->size * count;
    if (is_canonical(type, source, bytes)) {
        memcpy(cells, source, bytes);
        return true;
    }
    base_reader reader = base_reader_make(source, (size_t)ecs_type_canonical_bytes(type) * count);
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_type_read(type, NULL, (uint8_t*)cells + (size_t)type->size * i, &reader))
            return false;
    return true;
}
