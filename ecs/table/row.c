// SPDX-License-Identifier: MIT
// Cells of whole rows: fill them, destroy them, spread one value over many rows.
//
// A row's cells are its values, and after them one shadow for each tracked column. Plain defaults
// are spread by copying a block that fits the first cache; types with functions are copied one by
// one.
#include "table/row.h"

#include "type/type_registry.h"

// One value in one row: ecs_value_* (value.c) with the world's allocator, and plain data as bytes.

void ecs_cell_copy(const ecs_world* world, const ecs_type* type, void* target, const void* source) {
    ecs_type_context context = {world->allocator};
    if (type->ops)
        ecs_value_copy(type, &context, target, source);
    else
        ecs_bytes_copy(target, source, type->size);
}

void ecs_cell_assign(const ecs_world* world, const ecs_type* type, void* target,
                     const void* source) {
    ecs_type_context context = {world->allocator};
    if (type->ops)
        ecs_value_assign(type, &context, target, source);
    else
        ecs_bytes_copy(target, source, type->size);
}

void ecs_cell_move(const ecs_world* world, const ecs_type* type, void* target, void* source) {
    if (!ecs_type_is_relocatable(type)) {
        ecs_type_context context = {world->allocator};
        ecs_value_move(type, &context, target, source);
        return;
    }
    ecs_bytes_copy(target, source, type->size);
}

void ecs_cell_destroy(const ecs_world* world, const ecs_type* type, void* value) {
    if (!type->ops) return;
    ecs_type_context context = {world->allocator};
    ecs_value_destroy(type, &context, value);
}

enum { SPREAD_BYTES = 2048, SPREAD_HEAD = 16 };

void ecs_row_destroy_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t end) {
    const ecs_archetype* archetype = chunk->archetype;
    if (!archetype->has_ops) return;
    for (uint32_t i = 0; i < end; i++) {
        uint32_t column =
            i < archetype->column_count ? i : archetype->tracked[i - archetype->column_count];
        ecs_cell_destroy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row));
    }
}

ecs_result ecs_inits_check(const ecs_world* world, const ecs_init* inits, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const ecs_string* text = inits[i].value;
        if (ecs_component_get(world, inits[i].component)->type == (ecs_type_id)ECS_ELEMENT_T &&
            !ecs_string_is_valid(text->data, text->size))
            return ECS_ERR_TEXT;
    }
    return ECS_OK;
}

void ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row, const void* const* sources) {
    const ecs_archetype* archetype = chunk->archetype;
    uint32_t count = archetype->column_count;
    if (!archetype->has_ops) {
        for (uint32_t i = 0; i < count; i++)
            ecs_bytes_copy(ecs_chunk_cell(chunk, i, row), sources[i], chunk->sizes[i]);
        for (uint32_t t = 0; t < archetype->track_count; t++)
            ecs_bytes_copy(ecs_chunk_cell(chunk, count + t, row), sources[archetype->tracked[t]],
                           chunk->sizes[count + t]);
        return;
    }
    for (uint32_t i = 0; i < count + archetype->track_count; i++) {
        // A shadow is a copy of the value itself: types may tell equality by a version.
        uint32_t column = i < count ? i : archetype->tracked[i - count];
        const void* source = i < count ? sources[i] : ecs_chunk_cell(chunk, column, row);
        ecs_cell_copy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row),
                      source);
    }
}

// Copies of a value whose size the compiler knows: a few wide stores each, no call.
static inline void spread_fixed(uint8_t* out, const void* value, size_t size, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memcpy(out + i * size, value, size);
}

void ecs_cells_spread(void* target, const void* value, size_t size, uint32_t count) {
    size_t bytes = size * count;
    if (bytes == 0) return;
    uint8_t* out = target;
    size_t done = size;
    const uint32_t head = count < SPREAD_HEAD ? count : SPREAD_HEAD;
    switch (size) {
    case 4:
        spread_fixed(out, value, 4, head);
        done = head * size;
        break;
    case 8:
        spread_fixed(out, value, 8, head);
        done = head * size;
        break;
    case 12:
        spread_fixed(out, value, 12, head);
        done = head * size;
        break;
    case 16:
        spread_fixed(out, value, 16, count);
        return;
    case 24:
        spread_fixed(out, value, 24, count);
        return;
    case 32:
        spread_fixed(out, value, 32, count);
        return;
    case 48:
        spread_fixed(out, value, 48, count);
        return;
    case 64:
        spread_fixed(out, value, 64, count);
        return;
    default:
        memcpy(out, value, size);
        break;
    }
    for (; done < bytes && done < SPREAD_BYTES; done *= 2)
        memcpy(out + done, out, done <= bytes - done ? done : bytes - done);
    for (size_t block = done; done < bytes; done += block)
        memcpy(out + done, out, block <= bytes - done ? block : bytes - done);
}

static void spread_column(ecs_chunk* chunk, uint32_t column, uint32_t row, uint32_t count,
                          const ecs_binding* binding) {
    const ecs_archetype* archetype = chunk->archetype;
    const void* value = binding->defaults[column];
    ecs_cells_spread(ecs_chunk_cell(chunk, column, row), value, chunk->sizes[column], count);
    const uint16_t track = archetype->columns[column].track;
    if (track == ECS_SLOT_NONE) return;
    ecs_cells_spread(ecs_chunk_cell(chunk, archetype->column_count + track, row), value,
                     chunk->sizes[column], count);
}

void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding) {
    for (uint32_t i = 0; i < chunk->archetype->column_count; i++)
        spread_column(chunk, i, row, count, binding);
}

// `count` values of a size that the compiler may know, `stride` bytes apart, into a column.
static inline void gather_fixed(uint8_t* restrict to, const uint8_t* restrict from, size_t size,
                                size_t stride, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memcpy(to + i * size, from + i * stride, size);
}

static void gather(uint8_t* to, const uint8_t* from, uint32_t size, uint32_t stride,
                   uint32_t count) {
#define GATHER(bytes) gather_fixed(to, from, bytes, stride, count)
    ECS_BY_SIZE(size, GATHER)
#undef GATHER
}

void ecs_rows_set(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_row_values* values) {
    const uint32_t column_count = chunk->archetype->column_count;
    for (uint32_t i = 0; i < values->slot_count; i++) {
        const ecs_value_slot* from = &values->slots[i];
        const ecs_slot* slot = &chunk->lookup[from->component];
        gather((uint8_t*)chunk + slot->offset + (size_t)slot->size * row,
               values->rows + from->offset, slot->size, values->stride, count);
        if (slot->track != ECS_SLOT_NONE)
            gather(ecs_chunk_cell(chunk, column_count + slot->track, row),
                   values->rows + from->offset, slot->size, values->stride, count);
    }
}

void ecs_rows_fill(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding,
                   const ecs_row_values* values) {
    enum { BLOCK_ROWS = 256 }; // all columns of a block stay in the cache near the core
    const ecs_archetype* archetype = chunk->archetype;
    uint64_t is_given[ECS_TEMPLATE_COMPONENTS_MAX / 64] = {0};
    for (uint32_t i = 0; i < values->slot_count; i++) {
        const uint32_t column = archetype->slots[values->slots[i].component];
        is_given[column / 64] |= 1ull << (column % 64);
    }
    ecs_row_values block = *values;
    for (uint32_t done = 0, some; done < count; done += some) {
        some = count - done < BLOCK_ROWS ? count - done : BLOCK_ROWS;
        for (uint32_t i = 0; i < archetype->column_count; i++)
            if (!(is_given[i / 64] >> (i % 64) & 1))
                spread_column(chunk, i, row + done, some, binding);
        ecs_rows_set(chunk, row + done, some, &block);
        block.rows += (size_t)block.stride * some;
    }
}
