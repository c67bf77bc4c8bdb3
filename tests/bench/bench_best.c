// SPDX-License-Identifier: MIT
// The twins' handles. The two measured functions are inline in the header.
#include "bench_best.h"

void best_handles_init(best_handles* self, uint32_t capacity) {
    self->records = bench_allocate((capacity + 1) * sizeof *self->records);
    self->entities = bench_allocate(capacity * sizeof *self->entities);
    self->free = bench_allocate((capacity + 1) * sizeof *self->free);
    self->capacity = capacity;
    self->count = 0;
    self->free_count = 0;
    self->next = 1;
    for (uint32_t i = 0; i <= capacity; i++)
        self->records[i].generation = 1;
}

void best_handles_clear(best_handles* self) {
    while (self->count > 0) {
        uint32_t index = self->entities[--self->count] & 0x3fffffu;
        best_record* record = &self->records[index];
        record->generation = (record->generation + 1) & 1023u;
        if (record->generation == 0) record->generation = 1;
        self->free[self->free_count++] = index;
    }
}
