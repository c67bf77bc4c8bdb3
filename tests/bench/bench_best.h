// SPDX-License-Identifier: MIT
/// What the twins share: handles as a careful C program would have them. An array of records has
/// the row and the generation of each index; freed indices are a stack.
#pragma once

#include "bench.h"

typedef struct best_record {
    uint32_t row;
    uint32_t generation;
} best_record;

typedef struct best_handles {
    best_record* records;
    uint32_t* entities; ///< of each row
    uint32_t* free;
    uint32_t free_count, next, count, capacity;
} best_handles;

void best_handles_init(best_handles* self, uint32_t capacity);
/// Destroy all entities and keep the memory.
void best_handles_clear(best_handles* self);

/// Get a new handle for row `count`; 0: full.
static inline uint32_t best_handle_make(best_handles* self) {
    if (self->count == self->capacity) return 0;
    uint32_t index = self->free_count ? self->free[--self->free_count] : self->next++;
    best_record* record = &self->records[index];
    uint32_t handle = record->generation << 22 | index;
    record->row = self->count;
    self->entities[self->count++] = handle;
    return handle;
}

/// Get the row of a handle; UINT32_MAX: its entity does not exist.
static inline uint32_t best_handle_row(const best_handles* self, uint32_t handle) {
    const best_record* record = &self->records[handle & 0x3fffffu];
    return record->generation == handle >> 22 ? record->row : UINT32_MAX;
}
