// SPDX-License-Identifier: MIT
// Records of handles and the walk over free indices.
//
// Why a bitmap walked round-robin and not a list of freed indices: a list hands the same few
// indices out again and again, in the order of destruction, so creation after many destructions
// jumps through memory. The walk hands indices out rising, and a freed one rests until the walk has
// come around, which wears the generations evenly. A freed one is taken only while
// ECS_FREE_INDICES_MIN of them are free, so 10 bits of generation last for a million destructions.
//
// Never-used indices go first as long as their page of records is begun. Where the next one would
// begin a page, freed ones are taken while there are enough: a world whose population only swings
// comes to rest on the pages it has, and its ticks ask for no memory. `fresh` and the free count
// alone decide, both are saved, so a restored world goes on alike.
//
//     first ........ cursor ........ fresh ........ last
//     used before: bit = free        never used
//
// Liveness is one compare: a record's `life` is the generation with one flag more while the entity
// lives. The table of pages covers all 22-bit indices and missing pages are one shared page of
// zeros, so any 32 bits may be asked about without a range test. Index 0 never lives: its life
// stays 0.
//
// Invariants: a record's generation is the last that was given out; the free bit of an index is set
// only below `fresh`, where nothing lives and no handle is held (handle.c). In a mirror the
// replicated range gives nothing out: its handles come from the authority.
#include "base/assert.h"
#include "table/held.h"
#include "table/index.h"
#include "table/link.h"
#include "table/record.h"
#include "table/storage.h"
#include "type/world.h"

bool ecs_record_reserve(ecs_world* world, uint32_t index) {
    // Links first: where a page of records exists, its page of links does too.
    if (world->storage->links.pages && !ecs_link_reserve(world, index)) return false;
    ecs_record_page** page = &world->storage->pages[index >> ECS_PAGE_BITS];
    if (*page != world->storage->zero_page) return true;
    ecs_record_page* made = base_allocate_zero(world->allocator, sizeof *made);
    if (!made) return false;
    *page = made;
    return true;
}

static uint64_t* free_word(const ecs_storage* storage, uint32_t index) {
    return &storage->pages[index >> ECS_PAGE_BITS]
                ->free_words[(index & (ECS_PAGE_RECORDS - 1)) / 64];
}

// First free index in [from, end); `end` when there is none.
static uint32_t free_next(const ecs_storage* storage, uint32_t from, uint32_t end) {
    for (uint32_t index = from; index < end; index = (index | 63) + 1) {
        uint64_t word = *free_word(storage, index) & (~0ull << (index % 64));
        if (!word) continue;
        uint32_t found = (index & ~63u) + (uint32_t)__builtin_ctzll(word);
        return found < end ? found : end;
    }
    return end;
}

// Never-used indices of the page that is begun: [fresh, this end).
static uint32_t begun_end(const ecs_index_range* range) {
    if (range->fresh == range->first) return range->first;
    uint32_t page_end = ((range->fresh - 1) | (ECS_PAGE_RECORDS - 1)) + 1;
    return page_end <= range->last ? page_end : range->last + 1;
}

uint32_t ecs_index_peek(const ecs_world* world, uint32_t range_number) {
    const ecs_index_range* range = &world->storage->ranges[range_number];
    uint32_t fresh = range->fresh;
    if (world->storage->held.count > 0)
        while (fresh <= range->last && ecs_held_has_index(world, fresh))
            fresh++;
    bool has_enough_free = range->free_count >= ECS_FREE_INDICES_MIN;
    if (fresh <= range->last && (!has_enough_free || fresh < begun_end(range))) return fresh;
    if (!has_enough_free) return 0;
    uint32_t index = free_next(world->storage, range->cursor, range->fresh);
    if (index == range->fresh) index = free_next(world->storage, range->first, range->cursor);
    BASE_ASSERT(index >= range->first && index < range->fresh);
    return index;
}

// The freed index `index` and those behind it in its word of bits, as the walk would choose them:
// never used ones come first only where taking freed ones cannot change it, and enough stay free.
static uint32_t take_freed(ecs_storage* storage, ecs_index_range* range, uint32_t index,
                           uint32_t count, ecs_entity* handles) {
    const ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    const uint32_t first = index & ~63u, spare = range->free_count - ECS_FREE_INDICES_MIN + 1;
    const ecs_record* records = &page->records[first & (ECS_PAGE_RECORDS - 1)];
    uint64_t* word = free_word(storage, index);
    uint64_t left = *word, bits = left & (~0ull << (index % 64));
    if (range->fresh - first < 64) bits &= (1ull << (range->fresh - first)) - 1; // the next range's
    uint32_t done = 0, bit = 0;
    if (count > spare) count = spare;
    for (; bits && done < count; bits &= bits - 1) {
        bit = (uint32_t)__builtin_ctzll(bits);
        const uint32_t generation = records[bit].life;
        handles[done++] =
            ecs_entity_make(first + bit, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
        left &= ~(1ull << bit);
    }
    *word = left;
    range->free_count -= done;
    range->cursor = first + bit == range->last ? range->first : first + bit + 1;
    return done;
}

void ecs_handles_take(ecs_world* world, uint32_t range_number, uint32_t count,
                      ecs_entity* handles) {
    ecs_index_range* range = &world->storage->ranges[range_number];
    uint32_t done = 0;
    while (done < count) {
        uint32_t index = ecs_index_peek(world, range_number);
        if (world->storage->held.count > 0) {
            handles[done++] = ecs_handle_take(world->storage, range_number, index);
            continue;
        }
        if (index < range->fresh) {
            done += take_freed(world->storage, range, index, count - done, handles + done);
            continue;
        }
        // Never-used indices have no generation yet, and no handle of them is held.
        range->fresh = index + 1;
        uint32_t left = 1 + begun_end(range) - range->fresh;
        uint32_t run = count - done < left ? count - done : left;
        for (uint32_t i = 0; i < run; i++)
            handles[done + i] = ecs_entity_make(index + i, 1);
        range->fresh = index + run;
        done += run;
    }
}

bool ecs_handles_reserve(ecs_world* world, uint32_t range_number, uint32_t count) {
    const ecs_index_range* range = &world->storage->ranges[range_number];
    uint64_t held = world->storage->held.count;
    uint64_t ready = begun_end(range) - range->fresh;
    ready = ready > held ? ready - held : 0;
    if (range->free_count >= ECS_FREE_INDICES_MIN)
        ready += range->free_count - ECS_FREE_INDICES_MIN + 1;
    if (count <= ready) return true;
    // The rest is never used, on pages that are not begun. Some of those indices may be held.
    uint64_t end = begun_end(range) + (count - ready) + held;
    if (end > (uint64_t)range->last + 1) end = (uint64_t)range->last + 1;
    for (uint64_t index = range->fresh; index < end; index = (index | (ECS_PAGE_RECORDS - 1)) + 1)
        if (!ecs_record_reserve(world, (uint32_t)index)) return false;
    return true;
}

uint32_t ecs_index_available(const ecs_world* world, uint32_t range_number) {
    const ecs_index_range* range = &world->storage->ranges[range_number];
    uint32_t count = range->fresh > range->last ? 0 : range->last - range->fresh + 1;
    for (uint32_t i = 0; i < world->storage->held.count; i++) {
        uint32_t index = ecs_entity_index(world->storage->held.items[i].handle);
        // Several handles of one index are counted more than once: on the safe side.
        if (index >= range->fresh && index <= range->last && count > 0) count--;
    }
    if (range->free_count >= ECS_FREE_INDICES_MIN)
        count += range->free_count - ECS_FREE_INDICES_MIN + 1;
    return count;
}

void ecs_index_settle(ecs_world* world, uint32_t index) {
    ecs_index_range* range = &world->storage->ranges[index >= world->storage->ranges[1].first];
    if (index < range->first || index >= range->fresh) return;
    uint64_t* word = free_word(world->storage, index);
    uint64_t bit = 1ull << (index % 64);
    bool lives = ecs_record_at(world->storage, index)->life & ECS_LIFE_CREATED;
    bool is_free = !lives && !ecs_held_has_index(world, index);
    if (is_free == ((*word & bit) != 0)) return;
    *word ^= bit;
    range->free_count += is_free ? 1u : UINT32_MAX;
}

ecs_template_id ecs_entity_template(const ecs_world* world, ecs_entity entity) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    return record ? record->template_id : ECS_TEMPLATE_NONE;
}

const char* ecs_entity_template_name(const ecs_world* world, ecs_entity entity) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    if (!record) return NULL;
    const ecs_template* made_from = ecs_template_get(world, record->template_id);
    return made_from->component_count == 0 ? "empty" : made_from->name;
}

ecs_entity ecs_entity_next(const ecs_world* world, ecs_entity after) {
    const ecs_storage* storage = world->storage;
    const ecs_index_range *replicated = &storage->ranges[0], *local = &storage->ranges[1];
    // A mirror's replicated entities have the indices that their server gave.
    const uint32_t replicated_end = world->is_mirror ? local->first : replicated->fresh;
    for (uint32_t index = ecs_entity_index(after) + 1;; index++) {
        if (index >= replicated_end && index < local->first) index = local->first;
        if (index >= local->fresh) return ECS_ENTITY_NONE;
        if (storage->pages[index >> ECS_PAGE_BITS] == storage->zero_page) {
            index |= ECS_PAGE_RECORDS - 1;
            continue;
        }
        uint32_t life = ecs_record_at(storage, index)->life;
        if (life & ECS_LIFE_CREATED) return ecs_entity_make(index, life & ECS_GENERATION_MAX);
    }
}

uint32_t ecs_world_entity_count(const ecs_world* world) {
    return world->storage->entity_count;
}
