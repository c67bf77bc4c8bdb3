// SPDX-License-Identifier: MIT
// Slots: which entities are in scope, in which incarnation, and which of them wait.
//
// An index has at most one slot per client, found by a small table. It keeps the slot while it is
// in the client's scope and until the client acknowledged its destruction. So an entity that comes
// back meanwhile, or another generation of its index, goes on in the same slot, and there are at
// most as many slots as indices. Free slots are used in turn, and a new slot only when none is
// free: gaps in snapshots stay short, and entities that were created together are neighbours.
//
// Sets of slots are bits in words. The replicator adds changes there (NET_SET_FRESH); one pass
// merges them when the state is next used.
//
// An epoch of a slot is its sends since the last creation, recreation or destruction.
// Acknowledgements of earlier epochs have no effect.
//
// Invariants (net_replicator_validate): a member and its slot name each other; the slot is in the
// list of observers of its entity at the stored position; pending_count is the number of bits of
// NET_SET_PENDING.
#include "base/assert.h"
#include "base/search.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum { TABLE_BITS_MIN = 5, SLOTS_MIN = 64 };

// ---- the table: index to slot ----

static uint32_t table_place(const net_repl_state* repl, uint32_t index) {
    return (uint32_t)(index * UINT32_C(2654435769)) >> (32 - repl->table_bits);
}

static uint32_t table_index(const net_repl_state* repl, uint32_t at) {
    return ecs_entity_index(repl->slots[repl->table[at] - 1].handle);
}

uint32_t net_repl_state_find_slot(const net_repl_state* repl, uint32_t index) {
    if (repl->table_count == 0) return UINT32_MAX;
    uint32_t mask = (1u << repl->table_bits) - 1;
    for (uint32_t at = table_place(repl, index); repl->table[at] != 0; at = (at + 1) & mask) {
        if (table_index(repl, at) == index) return repl->table[at] - 1;
    }
    return UINT32_MAX;
}

static void table_put(net_repl_state* repl, uint32_t index, uint32_t slot) {
    uint32_t mask = (1u << repl->table_bits) - 1, at = table_place(repl, index);
    while (repl->table[at] != 0)
        at = (at + 1) & mask;
    repl->table[at] = slot + 1;
}

static bool table_add(net_repl_state* repl, uint32_t index, uint32_t slot) {
    if (!repl->table || repl->table_count >= 1u << (repl->table_bits - 1)) {
        uint32_t bits = repl->table ? repl->table_bits + 1 : TABLE_BITS_MIN;
        uint32_t* table = base_allocate_zero(repl->replicator->allocator, sizeof *table << bits);
        if (!table) return false;
        uint32_t* old = repl->table;
        uint32_t old_bits = repl->table_bits, old_count = old ? 1u << old_bits : 0;
        repl->table = table;
        repl->table_bits = bits;
        for (uint32_t i = 0; i < old_count; i++) {
            if (old[i])
                table_put(repl, ecs_entity_index(repl->slots[old[i] - 1].handle), old[i] - 1);
        }
        if (old) base_release(repl->replicator->allocator, old, sizeof *old << old_bits);
    }
    table_put(repl, index, slot);
    repl->table_count++;
    return true;
}

// Close the gap: an entry behind it that could not have its own place moves up.
static void table_remove(net_repl_state* repl, uint32_t index) {
    uint32_t mask = (1u << repl->table_bits) - 1, gap = table_place(repl, index);
    while (table_index(repl, gap) != index)
        gap = (gap + 1) & mask;
    for (uint32_t at = (gap + 1) & mask; repl->table[at] != 0; at = (at + 1) & mask) {
        uint32_t home = table_place(repl, table_index(repl, at));
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        repl->table[gap] = repl->table[at];
        gap = at;
    }
    repl->table[gap] = 0;
    repl->table_count--;
}

// ---- room ----

static bool grow_sets(net_repl_state* repl, uint32_t word_count) {
    const base_allocator* allocator = repl->replicator->allocator;
    uint64_t* block =
        base_allocate_zero(allocator, (size_t)word_count * NET_SET_COUNT * sizeof *block);
    if (!block) return false;
    uint64_t* old = repl->sets[0];
    for (uint32_t i = 0; i < NET_SET_COUNT; i++) {
        uint64_t* words = block + (size_t)i * word_count;
        if (repl->word_count > 0) memcpy(words, repl->sets[i], repl->word_count * sizeof *words);
        repl->sets[i] = words;
    }
    base_release(allocator, old, (size_t)repl->word_count * NET_SET_COUNT * sizeof *old);
    repl->word_count = word_count;
    repl->replicator->fresh[repl->id] = repl->sets[NET_SET_FRESH];
    return true;
}

static bool grow_slots(net_repl_state* repl) {
    const base_allocator* allocator = repl->replicator->allocator;
    uint32_t count = repl->slot_capacity ? repl->slot_capacity * 2 : SLOTS_MIN;
    if (!grow_sets(repl, (count + 63) / 64)) return false;
    return BASE_ARRAY_RESERVE(allocator, repl->urgencies, repl->urgency_capacity, count) &&
           BASE_ARRAY_RESERVE(allocator, repl->observer_positions, repl->position_capacity,
                              count) &&
           BASE_ARRAY_RESERVE(allocator, repl->slots, repl->slot_capacity, count);
}

void net_repl_state_deinit_slots(net_repl_state* repl) {
    const base_allocator* allocator = repl->replicator->allocator;
    BASE_ARRAY_RELEASE(allocator, repl->slots, repl->slot_capacity);
    BASE_ARRAY_RELEASE(allocator, repl->urgencies, repl->urgency_capacity);
    BASE_ARRAY_RELEASE(allocator, repl->observer_positions, repl->position_capacity);
    base_release(allocator, repl->sets[0],
                 (size_t)repl->word_count * NET_SET_COUNT * sizeof *repl->sets[0]);
    BASE_ARRAY_RELEASE(allocator, repl->members, repl->member_capacity);
    BASE_ARRAY_RELEASE(allocator, repl->member_slots, repl->member_slot_capacity);
    if (repl->table) base_release(allocator, repl->table, sizeof *repl->table << repl->table_bits);
    BASE_ARRAY_RELEASE(allocator, repl->groups, repl->group_capacity);
}

// A free slot in [first, end); UINT32_MAX: none.
static uint32_t find_free(const net_repl_state* repl, uint32_t first, uint32_t end) {
    const uint64_t* used = repl->sets[NET_SET_USED];
    for (uint32_t slot = first; slot < end; slot = (slot | 63) + 1) {
        uint64_t unused = ~used[slot >> 6] & UINT64_MAX << (slot & 63);
        if (!unused) continue;
        slot = (slot & ~63u) + base_bit_lowest(unused);
        return slot < end ? slot : UINT32_MAX;
    }
    return UINT32_MAX;
}

static uint32_t take_slot(net_repl_state* repl, uint32_t index) {
    // A join fills every slot in turn: without a free one there is nothing to search for.
    uint32_t slot = repl->slot_end;
    if (repl->table_count < repl->slot_end) {
        slot = find_free(repl, repl->slot_cursor, repl->slot_end);
        if (slot == UINT32_MAX) slot = find_free(repl, 0, repl->slot_cursor);
        BASE_ASSERT(slot != UINT32_MAX);
    }
    if (slot >= repl->slot_capacity && !grow_slots(repl)) return UINT32_MAX;
    BASE_ASSERT(slot < repl->replicator->index_max);
    net_repl_slot* s = &repl->slots[slot];
    ecs_entity previous = s->handle;
    s->handle = index; // for the table; the generation comes with the incarnation
    if (!table_add(repl, index, slot)) {
        s->handle = previous;
        return UINT32_MAX;
    }
    net_set_add(repl, NET_SET_USED, slot);
    if (slot >= repl->slot_end) repl->slot_end = slot + 1;
    repl->slot_cursor = slot + 1;
    s->state = NET_REPL_SLOT_UNKNOWN;
    s->is_known = s->has_previous = false;
    s->member = UINT32_MAX;
    return slot;
}

void net_repl_state_free_slot(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(repl->slots[slot].state != NET_REPL_SLOT_FREE);
    net_repl_slot* s = &repl->slots[slot];
    table_remove(repl, ecs_entity_index(s->handle));
    s->handle = ECS_ENTITY_NONE;
    s->state = NET_REPL_SLOT_FREE;
    s->is_known = s->wants_resync = s->has_floor = false;
    s->acked_count = 0;
    s->epoch_sends = 0;
    if (net_set_has(repl, NET_SET_PENDING, slot)) repl->pending_count--;
    for (uint32_t i = 0; i < NET_SET_COUNT; i++)
        net_set_remove(repl, (net_repl_set)i, slot);
}

// ---- waiting ----

static uint16_t add_saturating(uint16_t a, uint16_t b) {
    uint32_t sum = (uint32_t)a + b;
    return (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
}

void net_repl_state_wait(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(net_set_has(repl, NET_SET_USED, slot));
    net_set_add(repl, NET_SET_UNSETTLED, slot);
    if (net_set_has(repl, NET_SET_PENDING, slot)) return;
    net_set_add(repl, NET_SET_PENDING, slot);
    repl->pending_count++;
    net_repl_urgency* urgency = &repl->urgencies[slot];
    urgency->since_tick = (uint32_t)net_replicator_tick(repl->replicator);
    urgency->bonus = 0;
}

void net_repl_state_merge(net_repl_state* repl, ecs_tick tick) {
    uint64_t *fresh = repl->sets[NET_SET_FRESH], *pending = repl->sets[NET_SET_PENDING];
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t bits = fresh[w];
        if (!bits) continue;
        fresh[w] = 0;
        uint64_t begun = bits & ~pending[w], going_on = bits & pending[w];
        pending[w] |= bits;
        repl->sets[NET_SET_REPEAT][w] &= ~bits;
        repl->sets[NET_SET_UNSETTLED][w] |= bits;
        repl->pending_count += (uint32_t)__builtin_popcountll(begun);
        net_repl_urgency* urgencies = &repl->urgencies[w * 64];
        for (; begun; begun &= begun - 1) {
            net_repl_urgency* urgency = &urgencies[base_bit_lowest(begun)];
            urgency->since_tick = (uint32_t)tick;
            urgency->bonus = urgency->weight;
        }
        for (; going_on; going_on &= going_on - 1) {
            net_repl_urgency* urgency = &urgencies[base_bit_lowest(going_on)];
            urgency->bonus = add_saturating(urgency->bonus, urgency->weight);
        }
    }
    base_bitset_remove(&repl->replicator->fresh_repls, repl->id);
}

// ---- groups ----

static uint32_t find_group_place(const net_repl_state* repl, uint64_t key) {
    base_search search = base_search_begin(repl->group_count);
    while (base_search_next(&search))
        base_search_step(&search, repl->groups[search.middle] < key);
    return search.low;
}

void net_repl_state_find_group(const net_repl_state* repl, uint32_t group, uint32_t* first,
                               uint32_t* end) {
    *first = find_group_place(repl, (uint64_t)group << 32);
    *end = find_group_place(repl, ((uint64_t)group + 1) << 32);
}

static bool add_to_group(net_repl_state* repl, uint32_t group, uint32_t slot) {
    if (group == 0) return true;
    if (!BASE_ARRAY_RESERVE(repl->replicator->allocator, repl->groups, repl->group_capacity,
                            repl->group_count + 1))
        return false;
    uint64_t key = (uint64_t)group << 32 | slot;
    uint32_t at = find_group_place(repl, key);
    memmove(&repl->groups[at + 1], &repl->groups[at],
            (repl->group_count - at) * sizeof *repl->groups);
    repl->groups[at] = key;
    repl->group_count++;
    return true;
}

static void remove_from_group(net_repl_state* repl, uint32_t group, uint32_t slot) {
    if (group == 0) return;
    uint64_t key = (uint64_t)group << 32 | slot;
    uint32_t at = find_group_place(repl, key);
    if (at == repl->group_count || repl->groups[at] != key) return;
    repl->group_count--;
    memmove(&repl->groups[at], &repl->groups[at + 1],
            (repl->group_count - at) * sizeof *repl->groups);
}

// ---- incarnations ----

static void begin_epoch(net_repl_slot* s, net_repl_slot_state state) {
    s->state = (uint8_t)state;
    s->epoch_sends = 0;
    s->acked_count = 0;
    s->wants_resync = s->has_floor = false;
}

static void begin_incarnation(net_repl_state* repl, uint32_t slot, const net_history_entity* entity,
                              const net_interest_entity* scoped) {
    BASE_ASSERT(net_set_has(repl, NET_SET_USED, slot));
    net_repl_slot* s = &repl->slots[slot];
    begin_epoch(s, NET_REPL_SLOT_UNKNOWN);
    s->has_previous = s->is_known;
    s->handle = entity->handle;
    s->classes = (uint16_t)net_history_classes(entity, scoped->classes);
    repl->urgencies[slot].weight = scoped->weight;
    net_set_add(repl, NET_SET_LIFECYCLE, slot);
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_set_remove(repl, NET_SET_FRESH, slot);
    net_repl_state_wait(repl, slot);
}

static bool add_member(net_repl_state* repl, uint32_t slot, const net_interest_entity* scoped) {
    const base_allocator* allocator = repl->replicator->allocator;
    if (!BASE_ARRAY_RESERVE(allocator, repl->members, repl->member_capacity,
                            repl->member_count + 1) ||
        !BASE_ARRAY_RESERVE(allocator, repl->member_slots, repl->member_slot_capacity,
                            repl->member_count + 1) ||
        !add_to_group(repl, scoped->group, slot))
        return false;
    if (!net_observers_add(repl->replicator, scoped->index, repl, slot)) {
        remove_from_group(repl, scoped->group, slot);
        return false;
    }
    uint32_t member = repl->member_count++;
    repl->members[member] = *scoped;
    repl->members[member].entered = net_replicator_tick(repl->replicator);
    repl->member_slots[member] = slot;
    repl->slots[slot].member = member;
    return true;
}

static void remove_member(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(repl->member_count > 0);
    uint32_t member = repl->slots[slot].member;
    const net_interest_entity* scoped = &repl->members[member];
    net_observers_remove(repl->replicator, scoped->index, repl, slot);
    remove_from_group(repl, scoped->group, slot);
    uint32_t last = --repl->member_count;
    repl->members[member] = repl->members[last];
    repl->member_slots[member] = repl->member_slots[last];
    repl->slots[repl->member_slots[member]].member = member;
    repl->slots[slot].member = UINT32_MAX;
}

static void watch_enter(const net_repl_state* repl, uint32_t slot, ecs_entity before) {
    const net_repl_state_watch* watch = &repl->watch;
    ecs_entity entity = repl->slots[slot].handle;
    if (before != ECS_ENTITY_NONE && before != entity && watch->leave)
        watch->leave(watch->context, before);
    if (watch->enter)
        watch->enter(watch->context, entity, repl->members[repl->slots[slot].member].classes,
                     net_replicator_tick(repl->replicator));
}

bool net_repl_state_enter(net_repl_state* repl, const net_interest_entity* scoped) {
    BASE_ASSERT(scoped->index >= 1 && scoped->index <= repl->replicator->index_max);
    const net_history_entity* entity = net_history_find(repl->replicator->history, scoped->index);
    if (!entity) return true;
    uint32_t slot = net_repl_state_find_slot(repl, scoped->index);
    bool is_member = slot != UINT32_MAX && repl->slots[slot].state != NET_REPL_SLOT_LEAVING;
    if (slot == UINT32_MAX) slot = take_slot(repl, scoped->index);
    if (slot == UINT32_MAX) return false;
    if (is_member) {
        if (!net_repl_state_change(repl, slot, scoped)) return false;
    } else if (!add_member(repl, slot, scoped)) {
        if (repl->slots[slot].state == NET_REPL_SLOT_UNKNOWN) net_repl_state_free_slot(repl, slot);
        return false;
    }
    ecs_entity before = is_member ? repl->slots[slot].handle : ECS_ENTITY_NONE;
    begin_incarnation(repl, slot, entity, scoped);
    watch_enter(repl, slot, before);
    return true;
}

bool net_repl_state_change(net_repl_state* repl, uint32_t slot, const net_interest_entity* scoped) {
    net_repl_slot* s = &repl->slots[slot];
    net_interest_entity* member = &repl->members[s->member];
    BASE_ASSERT(member->index == scoped->index);
    if (member->group != scoped->group) {
        if (!add_to_group(repl, scoped->group, slot)) return false;
        remove_from_group(repl, member->group, slot);
    }
    ecs_tick entered = member->entered;
    bool is_reclassed = member->classes != scoped->classes;
    *member = *scoped;
    member->entered = entered;
    if (is_reclassed && repl->watch.reclass)
        repl->watch.reclass(repl->watch.context, s->handle, scoped->classes);
    repl->urgencies[slot].weight = scoped->weight;
    const net_history_entity* entity = net_history_find(repl->replicator->history, scoped->index);
    if (!entity) return true; // it is destroyed in this very step
    uint16_t classes = (uint16_t)net_history_classes(entity, scoped->classes);
    if (classes == s->classes) return true;
    s->classes = classes;
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_repl_state_wait(repl, slot);
    return true;
}

void net_repl_state_leave(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(slot < repl->slot_end && repl->slots[slot].member != UINT32_MAX);
    net_repl_slot* s = &repl->slots[slot];
    if (repl->watch.leave) repl->watch.leave(repl->watch.context, s->handle);
    remove_member(repl, slot);
    if (!s->is_known) {
        net_repl_state_free_slot(repl, slot);
        return;
    }
    begin_epoch(s, NET_REPL_SLOT_LEAVING);
    repl->urgencies[slot].weight = NET_REPL_STATE_LEAVING_WEIGHT;
    net_set_add(repl, NET_SET_LIFECYCLE, slot);
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_set_remove(repl, NET_SET_FRESH, slot);
    net_repl_state_wait(repl, slot);
}
