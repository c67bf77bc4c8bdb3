// SPDX-License-Identifier: MIT
// Handles that somebody refers to before or after their entity lives, and those on their way.
//
//     NONE --retain--> ALLOCATED --load--> LOADING --create--> CREATED --destroy--> NONE
//                                                                 \--- referenced --> ALLOCATED
//
// A record knows one generation of its index, but two may be spoken of at once: a mirror still shows
// (7, 4) while a reference to (7, 5) has arrived. So what is known beyond "it lives" is kept per handle,
// in a small table. Its hash looks at the index alone: all generations of an index share a probe path,
// and "does anybody hold this index" is the same short walk. While the answer is yes the index is not
// given out again (entity.c).
//
// Invariants: an entry has references or is loading; a living handle's entry is never loading; the
// counts by state equal the entries. Every transition that the picture lacks is counted in
// bad_transitions and refused.
#include "base/assert.h"
#include "world/world_internal.h"

#include <stdlib.h>

enum {
    SLOTS_MIN = 16,
    HELD_PENDING = 2, ///< saved state of a handle that waits for resources; 0 and 1 are is_loading
};

static uint32_t slot_of(const ecs_held_handles* held, ecs_entity handle) {
    return (ecs_entity_index(handle) * 2654435769u) >> (32 - __builtin_ctz(held->capacity));
}

ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle) {
    const ecs_held_handles* held = &world->storage.held;
    if (held->count == 0 || handle == ECS_ENTITY_NONE) return NULL;
    for (uint32_t i = slot_of(held, handle);; i = (i + 1) & (held->capacity - 1)) {
        if (held->slots[i].handle == handle) return &held->slots[i];
        if (held->slots[i].handle == ECS_ENTITY_NONE) return NULL;
    }
}

bool ecs_held_has_index(const ecs_world* world, uint32_t index) {
    const ecs_held_handles* held = &world->storage.held;
    if (held->count == 0) return false;
    for (uint32_t i = slot_of(held, index);; i = (i + 1) & (held->capacity - 1)) {
        if (held->slots[i].handle == ECS_ENTITY_NONE) return false;
        if (ecs_entity_index(held->slots[i].handle) == index) return true;
    }
}

static ecs_held_handle* place(ecs_held_handles* held, ecs_entity handle) {
    uint32_t i = slot_of(held, handle);
    while (held->slots[i].handle != ECS_ENTITY_NONE)
        i = (i + 1) & (held->capacity - 1);
    held->slots[i] = (ecs_held_handle){.handle = handle};
    return &held->slots[i];
}

bool ecs_held_reserve(ecs_world* world) {
    ecs_held_handles* held = &world->storage.held;
    if ((held->count + 1) * 2 <= held->capacity) return true;
    ecs_held_handles grown = *held;
    grown.capacity = held->capacity ? held->capacity * 2 : SLOTS_MIN;
    grown.slots = base_allocate_zero(world->allocator, grown.capacity * sizeof *grown.slots);
    if (!grown.slots) return false;
    for (uint32_t i = 0; i < held->capacity; i++) {
        if (held->slots[i].handle == ECS_ENTITY_NONE) continue;
        *place(&grown, held->slots[i].handle) = held->slots[i];
    }
    base_release(world->allocator, held->slots, held->capacity * sizeof *held->slots);
    *held = grown;
    return true;
}

// Close the gap so that probe paths stay unbroken (Knuth, TAOCP 6.4, algorithm R).
static void drop(ecs_world* world, ecs_held_handle* entry) {
    ecs_held_handles* held = &world->storage.held;
    uint32_t mask = held->capacity - 1;
    uint32_t hole = (uint32_t)(entry - held->slots);
    uint32_t index = ecs_entity_index(entry->handle);
    for (uint32_t i = (hole + 1) & mask; held->slots[i].handle != ECS_ENTITY_NONE;
         i = (i + 1) & mask) {
        uint32_t home = slot_of(held, held->slots[i].handle);
        if (((i - home) & mask) < ((i - hole) & mask)) continue;
        held->slots[hole] = held->slots[i];
        hole = i;
    }
    held->slots[hole] = (ecs_held_handle){0};
    held->count--;
    ecs_index_settle(world, index);
}

static bool is_in_range(const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index >= 1 && ecs_entity_generation(handle) >= 1 &&
           index <= world->limits.replicated_index_max + world->limits.local_entities_max;
}

// The entry of a handle, made when there is none. NULL when memory ran out.
static ecs_held_handle* hold(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (entry) return entry;
    if (!ecs_record_reserve(world, ecs_entity_index(handle)) || !ecs_held_reserve(world))
        return NULL;
    entry = place(&world->storage.held, handle);
    world->storage.held.count++;
    world->storage.runway.left = 0;
    ecs_index_settle(world, ecs_entity_index(handle));
    return entry;
}

void ecs_world_count_bad_transition(ecs_world* world) {
    world->counters.bad_transitions++;
}

ecs_entity_state ecs_state(const ecs_world* world, ecs_entity entity) {
    if (ecs_is_alive(world, entity)) return ECS_STATE_CREATED;
    const ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry) return ECS_STATE_NONE;
    return entry->is_loading ? ECS_STATE_LOADING : ECS_STATE_ALLOCATED;
}

ecs_result ecs_handle_retain(ecs_world* world, ecs_entity entity) {
    if (!is_in_range(world, entity)) {
        ecs_world_count_bad_transition(world);
        return ECS_ERR_STALE;
    }
    ecs_entity_state state = ecs_state(world, entity);
    ecs_held_handle* entry = hold(world, entity);
    if (!entry) return ECS_ERR_MEMORY;
    if (entry->references == UINT32_MAX) return ECS_ERR_FULL;
    entry->references++;
    if (state == ECS_STATE_NONE) world->storage.held.allocated_count++;
    return ECS_OK;
}

void ecs_handle_release(ecs_world* world, ecs_entity entity) {
    ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry || entry->references == 0) {
        ecs_world_count_bad_transition(world);
        return;
    }
    entry->references--;
    if (entry->references > 0 || entry->is_loading) return;
    if (!ecs_is_alive(world, entity)) world->storage.held.allocated_count--;
    drop(world, entry);
}

ecs_result ecs_handle_load(ecs_world* world, ecs_entity entity) {
    ecs_entity_state state = ecs_state(world, entity);
    if (!is_in_range(world, entity) || state == ECS_STATE_CREATED || state == ECS_STATE_LOADING) {
        ecs_world_count_bad_transition(world);
        return is_in_range(world, entity) ? ECS_ERR_TAKEN : ECS_ERR_STALE;
    }
    ecs_held_handle* entry = hold(world, entity);
    if (!entry) return ECS_ERR_MEMORY;
    entry->is_loading = true;
    world->storage.held.loading_count++;
    if (state == ECS_STATE_ALLOCATED) world->storage.held.allocated_count--;
    return ECS_OK;
}

void ecs_handle_unload(ecs_world* world, ecs_entity entity) {
    ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry || !entry->is_loading) {
        ecs_world_count_bad_transition(world);
        return;
    }
    if (entry->pending != 0) {
        bool is_cancelled = ecs_loading_cancel(world, entity); // comes back here
        BASE_ASSERT(is_cancelled);
        return;
    }
    entry->is_loading = false;
    world->storage.held.loading_count--;
    if (entry->references > 0)
        world->storage.held.allocated_count++;
    else
        drop(world, entry);
}

uint32_t ecs_handle_count(const ecs_world* world, ecs_entity_state state) {
    switch (state) {
    case ECS_STATE_ALLOCATED:
        return world->storage.held.allocated_count;
    case ECS_STATE_LOADING:
        return world->storage.held.loading_count;
    case ECS_STATE_CREATED:
        return world->storage.entity_count;
    case ECS_STATE_NONE:
        break;
    }
    return 0;
}

void ecs_held_created(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (!entry) return;
    if (entry->is_loading)
        world->storage.held.loading_count--;
    else
        world->storage.held.allocated_count--;
    entry->is_loading = false;
    entry->pending = 0;
    if (entry->references == 0) drop(world, entry);
}

void ecs_held_destroyed(ecs_world* world, ecs_entity handle) {
    if (ecs_held_find(world, handle)) world->storage.held.allocated_count++;
}

static int by_handle(const void* a, const void* b) {
    ecs_entity left = ((const ecs_held_handle*)a)->handle;
    ecs_entity right = ((const ecs_held_handle*)b)->handle;
    return (left > right) - (left < right);
}

void ecs_held_write(const ecs_world* world, base_bytes* bytes) {
    const ecs_held_handles* held = &world->storage.held;
    base_bytes_write_varint(bytes, held->count);
    if (held->count == 0) return;
    ecs_held_handle* sorted = base_allocate(world->allocator, held->count * sizeof *sorted);
    if (!sorted) {
        bytes->failed = true;
        return;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < held->capacity; i++)
        if (held->slots[i].handle != ECS_ENTITY_NONE) sorted[count++] = held->slots[i];
    qsort(sorted, count, sizeof *sorted, by_handle);
    for (uint32_t i = 0; i < count; i++) {
        base_bytes_write_u32(bytes, sorted[i].handle);
        base_bytes_write_varint(bytes, sorted[i].references);
        base_bytes_write_u8(bytes, sorted[i].pending != 0 ? HELD_PENDING : sorted[i].is_loading);
    }
    base_release(world->allocator, sorted, held->count * sizeof *sorted);
}

ecs_result ecs_held_read(ecs_world* world, base_reader* reader) {
    ecs_held_handles* held = &world->storage.held;
    uint64_t count = base_reader_varint(reader);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        ecs_entity handle = base_reader_u32(reader);
        uint64_t references = base_reader_varint(reader);
        uint8_t state = base_reader_u8(reader);
        bool is_loading = state != 0;
        if (reader->failed || !is_in_range(world, handle) || ecs_held_find(world, handle) ||
            references > UINT32_MAX || state > HELD_PENDING || (references == 0 && !is_loading))
            return ECS_ERR_MALFORMED;
        ecs_held_handle* entry = hold(world, handle);
        if (!entry) return ECS_ERR_MEMORY;
        entry->references = (uint32_t)references;
        entry->is_loading = is_loading;
        entry->pending = state == HELD_PENDING ? ECS_PENDING_AWAITED : 0;
        world->loading.awaited += state == HELD_PENDING;
        held->loading_count += is_loading ? 1 : 0;
        held->allocated_count += is_loading ? 0 : 1;
    }
    return reader->failed ? ECS_ERR_MALFORMED : ECS_OK;
}
