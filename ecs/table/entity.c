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
// only below `fresh`, where nothing lives and no handle is held. In a mirror the
// replicated range gives nothing out: its handles come from the authority.
#include "table/entity.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/component.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

// Links of parents and children: pages beside those of records, and lists through them.
//
// They lie below the hierarchy since rows that come and go must note it at once; what a list means,
// and when it catches up with the values, is the hierarchy's (hierarchy.c).

void ecs_link_reserve(ecs_world* world, uint32_t index) {
    ecs_links* links = &world->storage->links;
    const uint32_t at = index >> ECS_LINK_PAGE_BITS;
    BASE_ASSERT(links->component != ECS_COMPONENT_NONE && index <= ECS_INDEX_MAX);
    BASE_ARRAY_RESERVE(world->allocator, links->pages, links->page_capacity, at + 1);
    ecs_link** page = &links->pages[at];
    if (!*page) *page = base_allocate_zero(world->allocator, ECS_LINK_PAGE * sizeof **page);
}

void ecs_link_record(ecs_links* links, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    ecs_link* link = ecs_link_at(links, index);
    if (!link) {
        links->is_behind = true;
        return;
    }
    if (link->news_next != 0) return;
    link->news_next = links->news;
    links->news = index;
}

void ecs_link_remove(ecs_links* links, uint32_t index) {
    ecs_link* link = ecs_link_at(links, index);
    if (!link || link->parent == ECS_ENTITY_NONE) return;
    ecs_link* parent = ecs_link_at(links, ecs_entity_index(link->parent));
    BASE_ASSERT(parent && "a parent that has children has a link");
    uint32_t* before =
        link->previous != 0 ? &ecs_link_at(links, link->previous)->next : &parent->first;
    uint32_t* behind = link->next != 0 ? &ecs_link_at(links, link->next)->previous : &parent->last;
    BASE_ASSERT(*before == index && *behind == index);
    *before = link->next;
    *behind = link->previous;
    link->parent = ECS_ENTITY_NONE;
    link->next = link->previous = 0;
}

void ecs_links_clear(ecs_world* world) {
    ecs_links* links = &world->storage->links;
    for (uint32_t i = 0; i < links->page_capacity; i++) {
        BASE_ARRAY_RELEASE(world->allocator, links->pages[i], ECS_LINK_PAGE);
        links->pages[i] = NULL;
    }
    links->news = ECS_LINK_END;
    links->is_behind = true;
}

// Held handles: handles that are referenced or loading. A table finds them by index, so one walk
// sees all generations of an index.

ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle) {
    const ecs_held_handles* held = &world->storage->held;
    if (held->count == 0 || handle == ECS_ENTITY_NONE) return NULL;
    uint32_t cursor = 0, at;
    while ((at = base_table_next(&held->table, ecs_entity_index(handle), &cursor)) !=
           BASE_TABLE_NONE)
        if (held->items[at].handle == handle) return &held->items[at];
    return NULL;
}

bool ecs_held_has_index(const ecs_world* world, uint32_t index) {
    return base_table_find(&world->storage->held.table, index) != BASE_TABLE_NONE;
}

// A new entry for a handle that has none.
static ecs_held_handle* held_add(ecs_world* world, ecs_entity handle) {
    BASE_ASSERT(handle != ECS_ENTITY_NONE);
    ecs_held_handles* held = &world->storage->held;
    base_table_reserve(&held->table, world->allocator, held->count + 1);
    BASE_ARRAY_RESERVE(world->allocator, held->items, held->capacity, held->count + 1);
    base_table_add(&held->table, ecs_entity_index(handle), held->count);
    ecs_held_handle* entry = &held->items[held->count++];
    *entry = (ecs_held_handle){.handle = handle};
    return entry;
}

// Take an entry out. The last entry may move.
static void held_remove(ecs_held_handles* held, ecs_held_handle* entry) {
    BASE_ASSERT(held->count > 0 && entry < held->items + held->count);
    const uint32_t at = (uint32_t)(entry - held->items), last = --held->count;
    bool is_there = base_table_remove(&held->table, ecs_entity_index(entry->handle), at);
    if (at != last) { // the last one takes its place
        *entry = held->items[last];
        is_there &= base_table_remove(&held->table, ecs_entity_index(entry->handle), last);
        base_table_add(&held->table, ecs_entity_index(entry->handle), at);
    }
    BASE_ASSERT(is_there);
}

void ecs_held_deinit(ecs_world* world) {
    ecs_held_handles* held = &world->storage->held;
    base_table_deinit(&held->table, world->allocator);
    BASE_ARRAY_RELEASE(world->allocator, held->items, held->capacity);
    *held = (ecs_held_handles){0};
}

bool ecs_held_has_pending(const ecs_world* world, ecs_template_id template_id) {
    const ecs_held_handles* held = &world->storage->held;
    for (uint32_t i = 0; i < held->count; i++)
        if (held->items[i].pending != 0 && held->items[i].pending_template == template_id)
            return true;
    return false;
}

void ecs_record_reserve(ecs_world* world, uint32_t index) {
    ecs_record_page** page = &world->storage->pages[index >> ECS_PAGE_BITS];
    if (*page != world->storage->zero_page) return;
    // Links first: where a page of records exists, its links do too. Not in a mirror.
    const bool has_links =
        world->storage->links.component != ECS_COMPONENT_NONE && !world->is_mirror;
    const uint32_t first = index & ~(ECS_PAGE_RECORDS - 1u);
    for (uint32_t i = 0; has_links && i < ECS_PAGE_RECORDS; i += ECS_LINK_PAGE)
        ecs_link_reserve(world, first + i);
    *page = base_allocate_zero(world->allocator, sizeof **page);
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

// Freed indices that may be taken.
static uint32_t count_spare(const ecs_index_range* range) {
    const uint32_t kept = ECS_FREE_INDICES_MIN - 1;
    return range->free_count > kept ? range->free_count - kept : 0;
}

// Never-used indices of the page that is begun: [fresh, this end).
static uint32_t begun_end(const ecs_index_range* range) {
    if (range->fresh == range->first) return range->first;
    uint32_t page_end = ((range->fresh - 1) | (ECS_PAGE_RECORDS - 1)) + 1;
    return page_end <= range->last ? page_end : range->last + 1;
}

void ecs_runway_return(const ecs_world* world) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    if (runway->left == 0) return;
    ecs_index_range* range = runway->indices;
    ecs_entity* handles = runway->chunk->entities + ecs_chunk_count(storage, runway->chunk);
    for (uint32_t i = runway->left; i-- > 0; handles[i] = ECS_ENTITY_NONE) {
        const uint32_t index = ecs_entity_index(handles[i]);
        if (index >= runway->before.fresh) {
            range->fresh = index;
            continue;
        }
        *free_word(storage, index) |= 1ull << (index % 64);
        range->free_count++;
    }
    const uint32_t last = ecs_entity_index(handles[-1]); // of the run at least one lives
    if (last >= runway->before.fresh)
        range->cursor = runway->before.cursor;
    else
        range->cursor = last == range->last ? range->first : last + 1;
    storage->entity_count -= runway->left;
    world->tracker->created.count -= runway->left;
    runway->left = 0;
    runway->run = 1;
}

uint32_t ecs_index_peek(const ecs_world* world, uint32_t range_number) {
    ecs_runway_return(world);
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

// The freed index `index` and those after it in its word of bits, as the walk would choose them:
// never used ones come first only where taking freed ones cannot change it, and enough stay free.
static uint32_t take_freed(ecs_storage* storage, ecs_index_range* range, uint32_t index,
                           uint32_t count, ecs_entity* handles) {
    const ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    const uint32_t first = index & ~63u, spare = count_spare(range);
    const ecs_record* records = &page->records[first & (ECS_PAGE_RECORDS - 1)];
    uint64_t* word = free_word(storage, index);
    uint64_t bits = *word & (~0ull << (index % 64));
    if (range->fresh - first < 64) bits &= (1ull << (range->fresh - first)) - 1; // the next range's
    const uint64_t ahead = bits;
    uint32_t done = 0, bit = 0;
    if (count > spare) count = spare;
    for (; bits && done < count; bits &= bits - 1) {
        bit = (uint32_t)__builtin_ctzll(bits);
        const uint32_t generation = records[bit].life;
        handles[done++] =
            ecs_entity_make(first + bit, generation == ECS_GENERATION_MAX ? 1 : generation + 1);
    }
    *word ^= ahead ^ bits;
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
        ecs_record_reserve(world, index);
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

uint32_t ecs_index_ready(const ecs_world* world, uint32_t range_number) {
    const ecs_index_range* range = &world->storage->ranges[range_number];
    const uint32_t held = world->storage->held.count, begun = begun_end(range) - range->fresh;
    return (begun > held ? begun - held : 0) + count_spare(range);
}

uint32_t ecs_index_available(const ecs_world* world, uint32_t range_number) {
    ecs_runway_return(world);
    const ecs_index_range* range = &world->storage->ranges[range_number];
    uint32_t count = range->fresh > range->last ? 0 : range->last - range->fresh + 1;
    for (uint32_t i = 0; i < world->storage->held.count; i++) {
        uint32_t index = ecs_entity_index(world->storage->held.items[i].handle);
        // Several handles of one index are counted more than once: on the safe side.
        if (index >= range->fresh && index <= range->last && count > 0) count--;
    }
    return count + count_spare(range);
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
    return world->storage->entity_count - world->storage->runway.left;
}

// Handles that are referenced while their entity does not live, and handles that are loading.
//
//     NONE --retain--> ALLOCATED --load--> LOADING --create--> CREATED --destroy--> NONE
//                                                                 \--- referenced --> ALLOCATED
//
// A record knows one generation of its index, but two may be in use at once: a mirror still shows
// (7, 4) while a reference to (7, 5) has arrived. So what is known beyond "it lives" is kept per
// handle, in a small table by index. While any generation of an index is held, the index is not
// given out again.
//
// Invariants: an entry has references or is loading; a living handle's entry is never loading; the
// counts by state equal the entries. Every transition that the picture lacks is counted in
// bad_transitions and refused.

void ecs_handle_drop(ecs_world* world, ecs_held_handle* entry) {
    uint32_t index = ecs_entity_index(entry->handle);
    held_remove(&world->storage->held, entry);
    ecs_index_settle(world, index);
}

bool ecs_handle_is_in_range(const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index >= 1 && ecs_entity_generation(handle) >= 1 &&
           index <= world->limits.replicated_index_max + world->limits.local_entities_max;
}

ecs_held_handle* ecs_handle_hold(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (entry) return entry;
    ecs_record_reserve(world, ecs_entity_index(handle));
    ecs_runway_return(world);
    entry = held_add(world, handle);
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
    BASE_ASSERT(!world->is_view && "no confined system does this");
    if (!ecs_handle_is_in_range(world, entity)) {
        ecs_world_count_bad_transition(world);
        return ECS_ERR_STALE;
    }
    ecs_entity_state state = ecs_state(world, entity);
    ecs_held_handle* entry = ecs_handle_hold(world, entity);
    if (entry->references == UINT32_MAX) return ECS_ERR_FULL;
    entry->references++;
    if (state == ECS_STATE_NONE) world->storage->held.allocated_count++;
    return ECS_OK;
}

void ecs_handle_release(ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(!world->is_view && "no confined system does this");
    ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry || entry->references == 0) {
        ecs_world_count_bad_transition(world);
        return;
    }
    entry->references--;
    if (entry->references > 0 || entry->is_loading) return;
    if (!ecs_is_alive(world, entity)) world->storage->held.allocated_count--;
    ecs_handle_drop(world, entry);
}

uint32_t ecs_handle_count(const ecs_world* world, ecs_entity_state state) {
    switch (state) {
    case ECS_STATE_ALLOCATED:
        return world->storage->held.allocated_count;
    case ECS_STATE_LOADING:
        return world->storage->held.loading_count;
    case ECS_STATE_CREATED:
        return ecs_world_entity_count(world);
    case ECS_STATE_NONE:
        break;
    }
    return 0;
}

void ecs_held_created(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (!entry) return;
    if (entry->is_loading)
        world->storage->held.loading_count--;
    else
        world->storage->held.allocated_count--;
    entry->is_loading = false;
    entry->pending = 0;
    if (entry->references == 0) ecs_handle_drop(world, entry);
}

void ecs_held_destroyed(ecs_world* world, ecs_entity handle) {
    if (ecs_held_find(world, handle)) world->storage->held.allocated_count++;
}

// One component of one entity: handle -> record -> chunk -> column -> row.
//
// A few dependent loads, no hash; ecs/detail/fast.h has them inline, this is the rest. Writers mark
// the row, so that tracking compares that row and no other; the mark is set when the pointer is
// handed out, since the time of the write is not known.

__attribute__((noreturn, cold)) void ecs_detail_missing(const ecs_world* world, ecs_entity entity,
                                                        ecs_component_id component) {
    const ecs_component* known =
        component != ECS_COMPONENT_NONE && component <= ecs_component_count(world)
            ? ecs_component_get(world, component)
            : NULL;
    const char* is_a = ecs_entity_template_name(world, entity);
    char text[4 * ECS_NAME_BYTES_MAX];
    if (is_a)
        (void)base_text_format(text, sizeof text,
                               "entity %u:%u (%.100s) has no component '%.100s': use ecs_find",
                               ecs_entity_index(entity), ecs_entity_generation(entity), is_a,
                               known ? known->name : "that does not exist");
    else
        (void)base_text_format(text, sizeof text,
                               "entity %u:%u does not live, component '%.100s' is asked for: use "
                               "ecs_find",
                               ecs_entity_index(entity), ecs_entity_generation(entity),
                               known ? known->name : "that does not exist");
    base_assert_fail(text, __FILE__, __LINE__);
}

// Two waits per entity, one after the other: for the record, then for the cell. So records are
// asked for well ahead, and cells as soon as their record has come: only their address is taken
// here.
void ecs_find_many(const ecs_world* world, ecs_component_id component, const ecs_entity* entities,
                   uint32_t count, const void** cells) {
    enum { RECORDS_AHEAD = 32 };
    const ecs_fast* fast = &world->fast;
    for (uint32_t i = 0; i < count + RECORDS_AHEAD; i++) {
        if (i < count) {
            const uint32_t index = ecs_entity_index(entities[i]);
            __builtin_prefetch(
                &fast->pages[index >> ECS_PAGE_BITS]->records[index & (ECS_PAGE_RECORDS - 1)]);
        }
        if (i < RECORDS_AHEAD) continue;
        const void* cell = ecs_fast_cell(world, entities[i - RECORDS_AHEAD], component, false);
        __builtin_prefetch(cell);
        cells[i - RECORDS_AHEAD] = cell;
    }
}
