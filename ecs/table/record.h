// SPDX-License-Identifier: MIT
/// Records of handles: find, read. All O(1), no checks but those named.
#pragma once

#include "table/chunk.h"
#include "table/storage.h"

_Static_assert(sizeof(ecs_record) == 8, "a record is two words: alive() is bound by memory");

static inline const ecs_record* ecs_record_at(const ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}
/// The record of a living entity, else NULL. One look-up; any 32 bits are accepted.
static inline const ecs_record* ecs_record_find(const ecs_storage* storage, ecs_entity entity) {
    const ecs_record* record = ecs_record_at(storage, ecs_entity_index(entity));
    return record->life == (ecs_entity_generation(entity) | ECS_LIFE_CREATED) ? record : NULL;
}
static inline ecs_chunk* ecs_record_chunk(const ecs_storage* storage, const ecs_record* record) {
    return storage->chunks[record->place >> ECS_ROW_BITS];
}
static inline uint32_t ecs_record_row(const ecs_record* record) {
    return record->place & ECS_ROW_MASK;
}
/// The record of any index whose page was made.
static inline ecs_record* ecs_record_mut(ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)];
}
