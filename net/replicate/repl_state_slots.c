// SPDX-License-Identifier: MIT
// A view's slots: who is in scope, in which life, and who waits.
//
// An index has at most one slot per client, found by a small table; it keeps it while it lives in the client's
// scope and until the client acknowledged its destruction, so an entity that comes back meanwhile, or another
// generation of its index, goes on in the same slot. Hence slots are at most as many as indices. Free slots
// are taken round and round, and no new one as long as there are any: gaps in bodies stay short, and entities
// that were born together are neighbours.
//
// Sets of slots are bits in words: what changed is added up there by the fan-out (replica.c) and taken over
// in one pass when the view is next looked at.
//
// A chapter of a slot is what was sent since the last creation, recreation or death. Acknowledgements of
// earlier chapters mean nothing.
#include "base/assert.h"
#include "replicate/repl_state_internal.h"

#include <string.h>

enum { TABLE_BITS_MIN = 5, SLOTS_MIN = 64 };

// ---- the table: index to slot ----

static uint32_t table_place(const net_view* view, uint32_t index) {
    return (uint32_t)(index * UINT32_C(2654435769)) >> (32 - view->table_bits);
}

static uint32_t table_index(const net_view* view, uint32_t at) {
    return ecs_entity_index(view->slots[view->table[at] - 1].handle);
}

uint32_t net_view_find_slot(const net_view* view, uint32_t index) {
    if (view->table_count == 0) return UINT32_MAX;
    uint32_t mask = (1u << view->table_bits) - 1;
    for (uint32_t at = table_place(view, index); view->table[at] != 0; at = (at + 1) & mask) {
        if (table_index(view, at) == index) return view->table[at] - 1;
    }
    return UINT32_MAX;
}

static void table_put(net_view* view, uint32_t index, uint32_t slot) {
    uint32_t mask = (1u << view->table_bits) - 1, at = table_place(view, index);
    while (view->table[at] != 0)
        at = (at + 1) & mask;
    view->table[at] = slot + 1;
}

static bool table_add(net_view* view, uint32_t index, uint32_t slot) {
    if (!view->table || view->table_count >= 1u << (view->table_bits - 1)) {
        uint32_t bits = view->table ? view->table_bits + 1 : TABLE_BITS_MIN;
        uint32_t* table = base_allocate_zero(view->replica->allocator, sizeof *table << bits);
        if (!table) return false;
        uint32_t* old = view->table;
        uint32_t old_bits = view->table_bits, old_count = old ? 1u << old_bits : 0;
        view->table = table;
        view->table_bits = bits;
        for (uint32_t i = 0; i < old_count; i++) {
            if (old[i])
                table_put(view, ecs_entity_index(view->slots[old[i] - 1].handle), old[i] - 1);
        }
        if (old) base_release(view->replica->allocator, old, sizeof *old << old_bits);
    }
    table_put(view, index, slot);
    view->table_count++;
    return true;
}

// Close the gap: whoever stands behind it and could not have its own place moves up.
static void table_remove(net_view* view, uint32_t index) {
    uint32_t mask = (1u << view->table_bits) - 1, gap = table_place(view, index);
    while (table_index(view, gap) != index)
        gap = (gap + 1) & mask;
    for (uint32_t at = (gap + 1) & mask; view->table[at] != 0; at = (at + 1) & mask) {
        uint32_t home = table_place(view, table_index(view, at));
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        view->table[gap] = view->table[at];
        gap = at;
    }
    view->table[gap] = 0;
    view->table_count--;
}

// ---- room ----

static bool grow_sets(net_view* view, uint32_t word_count) {
    const base_allocator* allocator = view->replica->allocator;
    uint64_t* block =
        base_allocate_zero(allocator, (size_t)word_count * NET_SET_COUNT * sizeof *block);
    if (!block) return false;
    uint64_t* old = view->sets[0];
    for (uint32_t i = 0; i < NET_SET_COUNT; i++) {
        uint64_t* words = block + (size_t)i * word_count;
        if (view->word_count > 0) memcpy(words, view->sets[i], view->word_count * sizeof *words);
        view->sets[i] = words;
    }
    base_release(allocator, old, (size_t)view->word_count * NET_SET_COUNT * sizeof *old);
    view->word_count = word_count;
    view->replica->fresh[view->id] = view->sets[NET_SET_FRESH];
    return true;
}

static bool grow_slots(net_view* view) {
    const base_allocator* allocator = view->replica->allocator;
    uint32_t count = view->slot_capacity ? view->slot_capacity * 2 : SLOTS_MIN;
    if (!grow_sets(view, (count + 63) / 64)) return false;
    return base_array_reserve(allocator, (void**)&view->urgencies, &view->urgency_capacity, count,
                              sizeof *view->urgencies) &&
           base_array_reserve(allocator, (void**)&view->viewer_positions, &view->position_capacity,
                              count, sizeof *view->viewer_positions) &&
           base_array_reserve(allocator, (void**)&view->slots, &view->slot_capacity, count,
                              sizeof *view->slots);
}

void net_view_deinit_slots(net_view* view) {
    const base_allocator* allocator = view->replica->allocator;
    base_release(allocator, view->slots, view->slot_capacity * sizeof *view->slots);
    base_release(allocator, view->urgencies, view->urgency_capacity * sizeof *view->urgencies);
    base_release(allocator, view->viewer_positions,
                 view->position_capacity * sizeof *view->viewer_positions);
    base_release(allocator, view->sets[0],
                 (size_t)view->word_count * NET_SET_COUNT * sizeof *view->sets[0]);
    base_release(allocator, view->members, view->member_capacity * sizeof *view->members);
    base_release(allocator, view->member_slots,
                 view->member_slot_capacity * sizeof *view->member_slots);
    if (view->table) base_release(allocator, view->table, sizeof *view->table << view->table_bits);
    base_release(allocator, view->groups, view->group_capacity * sizeof *view->groups);
}

// A free slot in [first, end); UINT32_MAX: none.
static uint32_t find_free(const net_view* view, uint32_t first, uint32_t end) {
    const uint64_t* used = view->sets[NET_SET_USED];
    for (uint32_t slot = first; slot < end; slot = (slot | 63) + 1) {
        uint64_t unused = ~used[slot >> 6] & UINT64_MAX << (slot & 63);
        if (!unused) continue;
        slot = (slot & ~63u) + base_bit_lowest(unused);
        return slot < end ? slot : UINT32_MAX;
    }
    return UINT32_MAX;
}

static uint32_t take_slot(net_view* view, uint32_t index) {
    uint32_t slot = find_free(view, view->slot_cursor, view->slot_end);
    if (slot == UINT32_MAX) slot = find_free(view, 0, view->slot_cursor);
    if (slot == UINT32_MAX) slot = view->slot_end;
    if (slot >= view->slot_capacity && !grow_slots(view)) return UINT32_MAX;
    BASE_ASSERT(slot < view->replica->index_max);
    net_slot* s = &view->slots[slot];
    ecs_entity former = s->handle;
    s->handle = index; // for the table; the generation comes with the life
    if (!table_add(view, index, slot)) {
        s->handle = former;
        return UINT32_MAX;
    }
    net_set_add(view, NET_SET_USED, slot);
    if (slot >= view->slot_end) view->slot_end = slot + 1;
    view->slot_cursor = slot + 1;
    s->state = NET_SLOT_UNKNOWN;
    s->is_told = s->has_former = false;
    s->member = UINT32_MAX;
    return slot;
}

void net_view_free_slot(net_view* view, uint32_t slot) {
    net_slot* s = &view->slots[slot];
    table_remove(view, ecs_entity_index(s->handle));
    s->handle = ECS_ENTITY_NONE;
    s->state = NET_SLOT_FREE;
    s->is_told = s->wants_heal = s->has_floor = false;
    s->acked_count = 0;
    s->in_chapter = 0;
    if (net_set_has(view, NET_SET_PENDING, slot)) view->pending_count--;
    for (uint32_t i = 0; i < NET_SET_COUNT; i++)
        net_set_remove(view, (net_slot_set)i, slot);
}

// ---- who waits ----

static uint16_t add_saturating(uint16_t a, uint16_t b) {
    uint32_t sum = (uint32_t)a + b;
    return (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

void net_view_wait(net_view* view, uint32_t slot) {
    net_set_add(view, NET_SET_UNSETTLED, slot);
    if (net_set_has(view, NET_SET_PENDING, slot)) return;
    net_set_add(view, NET_SET_PENDING, slot);
    view->pending_count++;
    net_urgency* urgency = &view->urgencies[slot];
    urgency->since_tick = (uint32_t)net_replica_tick(view->replica);
    urgency->bonus = 0;
}

void net_view_merge(net_view* view, ecs_tick tick) {
    uint64_t *fresh = view->sets[NET_SET_FRESH], *pending = view->sets[NET_SET_PENDING];
    uint32_t words = net_view_words(view);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t bits = fresh[w];
        if (!bits) continue;
        fresh[w] = 0;
        uint64_t begun = bits & ~pending[w], going_on = bits & pending[w];
        pending[w] |= bits;
        view->sets[NET_SET_REPEAT][w] &= ~bits;
        view->sets[NET_SET_UNSETTLED][w] |= bits;
        view->pending_count += (uint32_t)__builtin_popcountll(begun);
        net_urgency* urgencies = &view->urgencies[w * 64];
        for (; begun; begun &= begun - 1) {
            net_urgency* urgency = &urgencies[base_bit_lowest(begun)];
            urgency->since_tick = (uint32_t)tick;
            urgency->bonus = urgency->weight;
        }
        for (; going_on; going_on &= going_on - 1) {
            net_urgency* urgency = &urgencies[base_bit_lowest(going_on)];
            urgency->bonus = add_saturating(urgency->bonus, urgency->weight);
        }
    }
    base_bitset_remove(&view->replica->fresh_views, view->id);
}

// ---- groups ----

static uint32_t find_group_place(const net_view* view, uint64_t key) {
    uint32_t low = 0, high = view->group_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->groups[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void net_view_find_group(const net_view* view, uint32_t group, uint32_t* first, uint32_t* end) {
    *first = find_group_place(view, (uint64_t)group << 32);
    *end = find_group_place(view, ((uint64_t)group + 1) << 32);
}

static bool add_to_group(net_view* view, uint32_t group, uint32_t slot) {
    if (group == 0) return true;
    if (!base_array_reserve(view->replica->allocator, (void**)&view->groups, &view->group_capacity,
                            view->group_count + 1, sizeof *view->groups))
        return false;
    uint64_t key = (uint64_t)group << 32 | slot;
    uint32_t at = find_group_place(view, key);
    memmove(&view->groups[at + 1], &view->groups[at],
            (view->group_count - at) * sizeof *view->groups);
    view->groups[at] = key;
    view->group_count++;
    return true;
}

static void remove_from_group(net_view* view, uint32_t group, uint32_t slot) {
    if (group == 0) return;
    uint64_t key = (uint64_t)group << 32 | slot;
    uint32_t at = find_group_place(view, key);
    if (at == view->group_count || view->groups[at] != key) return;
    view->group_count--;
    memmove(&view->groups[at], &view->groups[at + 1],
            (view->group_count - at) * sizeof *view->groups);
}

// ---- lives ----

static void begin_chapter(net_slot* s, net_slot_state state) {
    s->state = (uint8_t)state;
    s->in_chapter = 0;
    s->acked_count = 0;
    s->wants_heal = s->has_floor = false;
}

static void begin_life(net_view* view, uint32_t slot, const net_history_entity* entity,
                       const net_scope_entry* entry) {
    net_slot* s = &view->slots[slot];
    begin_chapter(s, NET_SLOT_UNKNOWN);
    s->has_former = s->is_told;
    s->handle = entity->handle;
    s->classes = (uint16_t)net_history_classes(entity, entry->classes);
    view->urgencies[slot].weight = entry->weight;
    net_set_add(view, NET_SET_LIFE, slot);
    net_set_remove(view, NET_SET_REPEAT, slot);
    net_set_remove(view, NET_SET_FRESH, slot);
    net_view_wait(view, slot);
}

static bool add_member(net_view* view, uint32_t slot, const net_scope_entry* entry) {
    const base_allocator* allocator = view->replica->allocator;
    if (!base_array_reserve(allocator, (void**)&view->members, &view->member_capacity,
                            view->member_count + 1, sizeof *view->members) ||
        !base_array_reserve(allocator, (void**)&view->member_slots, &view->member_slot_capacity,
                            view->member_count + 1, sizeof *view->member_slots) ||
        !add_to_group(view, entry->group, slot))
        return false;
    if (!net_replica_add_viewer(view->replica, entry->index, view, slot)) {
        remove_from_group(view, entry->group, slot);
        return false;
    }
    uint32_t member = view->member_count++;
    view->members[member] = *entry;
    view->members[member].entered = net_replica_tick(view->replica);
    view->member_slots[member] = slot;
    view->slots[slot].member = member;
    return true;
}

static void remove_member(net_view* view, uint32_t slot) {
    uint32_t member = view->slots[slot].member;
    const net_scope_entry* entry = &view->members[member];
    net_replica_remove_viewer(view->replica, entry->index, view, slot);
    remove_from_group(view, entry->group, slot);
    uint32_t last = --view->member_count;
    view->members[member] = view->members[last];
    view->member_slots[member] = view->member_slots[last];
    view->slots[view->member_slots[member]].member = member;
    view->slots[slot].member = UINT32_MAX;
}

static void watch_enter(const net_view* view, uint32_t slot, ecs_entity before) {
    const net_view_watch* watch = &view->watch;
    ecs_entity entity = view->slots[slot].handle;
    if (before != ECS_ENTITY_NONE && before != entity && watch->leave)
        watch->leave(watch->context, before);
    if (watch->enter)
        watch->enter(watch->context, entity, view->members[view->slots[slot].member].classes,
                     net_replica_tick(view->replica));
}

bool net_view_enter(net_view* view, const net_scope_entry* entry) {
    const net_history_entity* entity = net_history_find(view->replica->history, entry->index);
    if (!entity) return true;
    uint32_t slot = net_view_find_slot(view, entry->index);
    bool is_member = slot != UINT32_MAX && view->slots[slot].state != NET_SLOT_GOING;
    if (slot == UINT32_MAX) slot = take_slot(view, entry->index);
    if (slot == UINT32_MAX) return false;
    if (is_member) {
        if (!net_view_change(view, slot, entry)) return false;
    } else if (!add_member(view, slot, entry)) {
        if (view->slots[slot].state == NET_SLOT_UNKNOWN) net_view_free_slot(view, slot);
        return false;
    }
    ecs_entity before = is_member ? view->slots[slot].handle : ECS_ENTITY_NONE;
    begin_life(view, slot, entity, entry);
    watch_enter(view, slot, before);
    return true;
}

bool net_view_change(net_view* view, uint32_t slot, const net_scope_entry* entry) {
    net_slot* s = &view->slots[slot];
    net_scope_entry* member = &view->members[s->member];
    BASE_ASSERT(member->index == entry->index);
    if (member->group != entry->group) {
        if (!add_to_group(view, entry->group, slot)) return false;
        remove_from_group(view, member->group, slot);
    }
    ecs_tick entered = member->entered;
    bool is_reclassed = member->classes != entry->classes;
    *member = *entry;
    member->entered = entered;
    if (is_reclassed && view->watch.reclass)
        view->watch.reclass(view->watch.context, s->handle, entry->classes);
    view->urgencies[slot].weight = entry->weight;
    const net_history_entity* entity = net_history_find(view->replica->history, entry->index);
    if (!entity) return true; // it dies in this very step
    uint16_t classes = (uint16_t)net_history_classes(entity, entry->classes);
    if (classes == s->classes) return true;
    s->classes = classes;
    net_set_remove(view, NET_SET_REPEAT, slot);
    net_view_wait(view, slot);
    return true;
}

void net_view_leave(net_view* view, uint32_t slot) {
    net_slot* s = &view->slots[slot];
    if (view->watch.leave) view->watch.leave(view->watch.context, s->handle);
    remove_member(view, slot);
    if (!s->is_told) {
        net_view_free_slot(view, slot);
        return;
    }
    begin_chapter(s, NET_SLOT_GOING);
    view->urgencies[slot].weight = NET_VIEW_GOING_WEIGHT;
    net_set_add(view, NET_SET_LIFE, slot);
    net_set_remove(view, NET_SET_REPEAT, slot);
    net_set_remove(view, NET_SET_FRESH, slot);
    net_view_wait(view, slot);
}
