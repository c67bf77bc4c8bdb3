// SPDX-License-Identifier: MIT
/// Free indices and the handles that are made of them (entity.c).
#pragma once

#include "table/storage.h"

/// Make the page of `index`. @return false when memory ran out.
BASE_MUST_USE bool ecs_record_reserve(ecs_world* world, uint32_t index);
/// Choose an index of a range (0 replicated, 1 local) without taking it; 0 when the range is full.
uint32_t ecs_index_peek(const ecs_world* world, uint32_t range);
/// How many creations a range can still take: a lower bound.
uint32_t ecs_index_available(const ecs_world* world, uint32_t range);
/// Make the pages of all indices that the next `count` takes may choose. @return false when memory
/// ran out.
BASE_MUST_USE bool ecs_handles_reserve(ecs_world* world, uint32_t range, uint32_t count);
/// Take what peek chose; its page exists. @return the handle with its next generation.
static inline ecs_entity ecs_handle_take(ecs_storage* storage, uint32_t range_number,
                                         uint32_t index) {
    ecs_index_range* range = &storage->ranges[range_number];
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    uint32_t place = index & (ECS_PAGE_RECORDS - 1);
    uint32_t generation = page->records[place].life & ECS_GENERATION_MAX;
    if (index >= range->fresh) {
        range->fresh = index + 1;
    } else {
        page->free_words[place / 64] &= ~(1ull << (place % 64));
        range->free_count--;
        range->cursor = index == range->last ? range->first : index + 1;
    }
    return ecs_entity_make(index, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
}
/// Take `count` handles at once, in the order in which they would come one by one. The range has
/// them (ecs_index_available) and their pages exist (ecs_handles_reserve).
void ecs_handles_take(ecs_world* world, uint32_t range, uint32_t count, ecs_entity* handles);
/// An index whose entity is gone or whose handle was released: free it if nothing holds it any
/// more.
void ecs_index_settle(ecs_world* world, uint32_t index);
/// The same for the index of an entity that was just destroyed; no call while no handle is held.
static inline void ecs_index_free(ecs_world* world, ecs_storage* storage, uint32_t index) {
    ecs_index_range* range = &storage->ranges[index >= storage->ranges[1].first];
    if (storage->held.count > 0 || index >= range->fresh) {
        ecs_index_settle(world, index);
        return;
    }
    uint32_t place = index & (ECS_PAGE_RECORDS - 1);
    storage->pages[index >> ECS_PAGE_BITS]->free_words[place / 64] |= 1ull << (place % 64);
    range->free_count++;
}
