// SPDX-License-Identifier: MIT
// Slots of a client: the table from an entity index to its slot, the room of all that has a place
// per slot, and groups of entities that travel together.
//
// An index has at most one slot per client. It keeps the slot while it is in the client's scope and
// until the client acknowledged its destruction. So an entity that comes back meanwhile, or another
// generation of its index, goes on in the same slot, and there are at most as many slots as
// indices. Free slots are used in turn, and a new slot only when none is free: gaps in snapshots
// stay short, and entities that were created together are neighbours.
#include "base/assert.h"

#include "core/fault.h"
#include "replicate/repl_state.h"

#include "base/search.h"

#include <string.h>

enum { TABLE_BITS_MIN = 5, WORD_SLOTS = 64 };

// ---- the table: index to slot ----

static uint32_t table_place(const net_repl_state* repl, uint32_t index) {
    return (uint32_t)(index * UINT32_C(2654435769)) >> (32 - repl->table_bits);
}

static uint32_t table_index(const net_repl_state* repl, uint32_t at) {
    return repl->indices[repl->table[at] - 1];
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

static void table_add(net_repl_state* repl, uint32_t index, uint32_t slot) {
    if (!repl->table || repl->table_count >= 1u << (repl->table_bits - 1)) {
        uint32_t bits = repl->table ? repl->table_bits + 1 : TABLE_BITS_MIN;
        uint32_t* table = base_allocate_zero(&repl->owner.allocator, sizeof *table << bits);
        uint32_t* old = repl->table;
        uint32_t old_bits = repl->table_bits, old_count = old ? 1u << old_bits : 0;
        repl->table = table;
        repl->table_bits = bits;
        for (uint32_t i = 0; i < old_count; i++) {
            if (old[i]) table_put(repl, repl->indices[old[i] - 1], old[i] - 1);
        }
        if (old) base_release(&repl->owner.allocator, old, sizeof *old << old_bits);
    }
    table_put(repl, index, slot);
    repl->table_count++;
}

// Close the gap: an entry after it that could not have its own place moves up.
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

// All that has a place per slot is one block. What each packet reads is at its beginning: clients
// take turns, and each page of memory that one touches has to be found again.
enum {
    SLOT_BYTES = sizeof(net_interest_entity) + sizeof(ecs_entity) + 3 * sizeof(uint32_t) +
                 2 * sizeof(uint16_t) + sizeof(uint8_t),
};

static size_t block_bytes(uint32_t window, uint32_t words) {
    return words * ((NET_SET_COUNT + 2 * (size_t)window) * sizeof(uint64_t) +
                    (size_t)WORD_SLOTS * SLOT_BYTES);
}

static void place_block(net_repl_state* repl, void* block, uint32_t window, uint32_t words) {
    const size_t count = (size_t)words * WORD_SLOTS, packets = (size_t)words * window;
    repl->window = window;
    repl->word_count = words;
    repl->sets = block;
    repl->carried = repl->sets + (size_t)words * NET_SET_COUNT;
    repl->listed = repl->carried + packets;
    repl->handles = (ecs_entity*)(repl->listed + packets);
    repl->indices = (uint32_t*)(repl->handles + count);
    repl->bases = repl->indices + count;
    repl->floors = repl->bases + count;
    repl->members = (net_interest_entity*)(repl->floors + count);
    repl->classes = (uint16_t*)(repl->members + count);
    repl->since = repl->classes + count;
    repl->unheard = (uint8_t*)(repl->since + count);
}

static void resize_block(net_repl_state* repl, uint32_t window, uint32_t words) {
    const base_allocator* allocator = &repl->owner.allocator;
    void* block = base_allocate_zero(allocator, block_bytes(window, words));
    const net_repl_state old = *repl;
    const size_t had = (size_t)old.word_count * WORD_SLOTS, set_bytes = had / 8;
    place_block(repl, block, window, words);
    if (had == 0) return;
    for (uint32_t i = 0; i < NET_SET_COUNT; i++)
        memcpy(net_set(repl, (net_repl_set)i), net_set(&old, (net_repl_set)i), set_bytes);
    for (uint32_t back = 1; back <= old.backs; back++) {
        memcpy(net_repl_carried(repl, back), net_repl_carried(&old, back), set_bytes);
        memcpy(net_repl_listed(repl, back), net_repl_listed(&old, back), set_bytes);
    }
    memcpy(repl->handles, old.handles, had * sizeof *old.handles);
    memcpy(repl->indices, old.indices, had * sizeof *old.indices);
    memcpy(repl->since, old.since, had * sizeof *old.since);
    memcpy(repl->bases, old.bases, had * sizeof *old.bases);
    memcpy(repl->floors, old.floors, had * sizeof *old.floors);
    memcpy(repl->members, old.members, had * sizeof *old.members);
    memcpy(repl->classes, old.classes, had * sizeof *old.classes);
    memcpy(repl->unheard, old.unheard, had * sizeof *old.unheard);
    base_release(allocator, old.sets, block_bytes(old.window, old.word_count));
}

void net_repl_state_widen(net_repl_state* repl) {
    BASE_ASSERT(repl->window < NET_REPL_STATE_PACKETS);
    if (repl->word_count > 0)
        resize_block(repl, repl->window * 2, repl->word_count);
    else
        repl->window *= 2;
}

static void grow_slots(net_repl_state* repl) { // by few: all clients have them
    resize_block(repl, repl->window, repl->word_count + 1 + repl->word_count / 16);
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

static void add_to_group(net_repl_state* repl, uint32_t group, uint32_t slot) {
    BASE_ARRAY_RESERVE(&repl->owner.allocator, repl->groups, repl->group_capacity,
                       repl->group_count + 1);
    uint64_t key = (uint64_t)group << 32 | slot;
    uint32_t at = find_group_place(repl, key);
    memmove(&repl->groups[at + 1], &repl->groups[at],
            (repl->group_count - at) * sizeof *repl->groups);
    repl->groups[at] = key;
    repl->group_count++;
}

// The slot is in this group from now on; 0: in none.
static void net_repl_state_set_group(net_repl_state* repl, uint32_t slot, uint32_t group) {
    const uint32_t before = repl->members[slot].group;
    if (group == before) return;
    if (group != 0) add_to_group(repl, group, slot);
    if (before != 0) {
        const uint32_t at = find_group_place(repl, (uint64_t)before << 32 | slot);
        repl->group_count--;
        memmove(&repl->groups[at], &repl->groups[at + 1],
                (repl->group_count - at) * sizeof *repl->groups);
    }
    repl->members[slot].group = group;
}

// ---- taking and freeing ----

// A free slot in [first, end); UINT32_MAX: none.
static uint32_t find_free(const net_repl_state* repl, uint32_t first, uint32_t end) {
    const uint64_t* used = net_set(repl, NET_SET_USED);
    for (uint32_t slot = first; slot < end; slot = (slot | 63) + 1) {
        uint64_t unused = ~used[slot >> 6] & UINT64_MAX << (slot & 63);
        if (!unused) continue;
        slot = (slot & ~63u) + base_bit_lowest(unused);
        return slot < end ? slot : UINT32_MAX;
    }
    return UINT32_MAX;
}

static void set_weight(net_repl_state* repl, uint32_t slot, uint32_t weight) {
    uint64_t* word = &net_set(repl, NET_SET_WEIGHT)[slot >> 6];
    uint64_t others = ~(UINT64_C(1) << (slot & 63)), value = net_log2(weight | 1);
    for (uint32_t i = 0; i < NET_REPL_STATE_WEIGHT_PLANES; i++, word += repl->word_count)
        *word = (*word & others) | (value >> i & 1) << (slot & 63);
}

// Take a free slot for an index.
static uint32_t net_repl_state_take_slot(net_repl_state* repl, uint32_t index) {
    // A join fills every slot in turn: without a free one there is nothing to search for.
    uint32_t slot = repl->slot_end;
    if (repl->table_count < repl->slot_end) {
        slot = find_free(repl, repl->slot_cursor, repl->slot_end);
        if (slot == UINT32_MAX) slot = find_free(repl, 0, repl->slot_cursor);
        BASE_ASSERT(slot != UINT32_MAX);
    }
    if (slot >= repl->word_count * WORD_SLOTS) grow_slots(repl);
    BASE_ASSERT(slot < repl->replicator->index_max);
    repl->indices[slot] = index; // the handle comes with the incarnation
    table_add(repl, index, slot);
    net_set_add(repl, NET_SET_USED, slot);
    uint32_t phase = index & ((1u << 2 * NET_REPL_STATE_PHASE_PLANES) - 1);
    for (; phase; phase &= phase - 1) // a free slot is in no set
        net_set_add(repl, (net_repl_set)(NET_SET_PHASE + base_bit_lowest(phase)), slot);
    if (slot >= repl->slot_end) repl->slot_end = slot + 1;
    repl->slot_cursor = slot + 1;
    return slot;
}

// No packet on its way has the slot any more.
static void forget_carried(net_repl_state* repl, uint32_t slot) {
    if (!net_set_has(repl, NET_SET_KNOWN, slot)) return;
    for (uint32_t back = 1, backs = repl->backs; back <= backs; back++)
        net_repl_carried(repl, back)[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
}

void net_repl_state_free_slot(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(net_set_has(repl, NET_SET_USED, slot) && repl->members[slot].index == 0);
    (void)net_repl_state_set_group(repl, slot, 0);
    table_remove(repl, repl->indices[slot]);
    repl->indices[slot] = 0;
    repl->handles[slot] = ECS_ENTITY_NONE;
    repl->classes[slot] = 0;
    if (net_set_has(repl, NET_SET_PENDING, slot)) repl->pending_count--;
    forget_carried(repl, slot);
    for (uint32_t i = 0; i < NET_SET_COUNT; i++)
        net_set_remove(repl, (net_repl_set)i, slot);
}

// The scope of a client: which entities it should have, in which incarnation and with which
// classes, and which of them wait to be sent.
//
// An epoch of a slot begins with a creation, a recreation or a destruction. What packets carried of
// the slot before is forgotten then (its bits are cleared): a late acknowledgement has no effect.
//
// Visible classes of an entity seldom change. When they do, an entry of `reclasses` tells what the
// client saw until then, as long as a base may be that old.

enum { EVENT_COST = 12 }; // of finding a slot by its index, in slots that a pull looks at

// ---- waiting ----

void net_repl_state_wait(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(net_set_has(repl, NET_SET_USED, slot));
    net_set_add(repl, NET_SET_UNSETTLED, slot);
    if (net_set_has(repl, NET_SET_PENDING, slot)) return;
    net_set_add(repl, NET_SET_PENDING, slot);
    repl->pending_count++;
    repl->since[slot] = (uint16_t)net_repl_state_now(repl);
}

// These slots of a word changed.
static void mark_changed(net_repl_state* repl, uint32_t w, uint64_t changed) {
    uint64_t* pending = &net_set(repl, NET_SET_PENDING)[w];
    uint64_t begun = changed & ~*pending;
    net_set(repl, NET_SET_AGAIN)[w] |= changed & *pending;
    *pending |= changed;
    net_set(repl, NET_SET_REPEAT)[w] &= ~changed;
    net_set(repl, NET_SET_UNSETTLED)[w] |= changed;
    repl->pending_count += net_word_count(begun);
    const uint16_t now = (uint16_t)net_repl_state_now(repl);
    for (uint16_t* since = &repl->since[(size_t)w * 64]; begun; begun &= begun - 1)
        since[base_bit_lowest(begun)] = now;
}

// ---- classes of the past ----

static void add_reclass(net_repl_state* repl, uint32_t slot, uint16_t before) {
    BASE_ARRAY_RESERVE(&repl->owner.allocator, repl->reclasses, repl->reclass_capacity,
                       repl->reclass_count + 1);
    repl->reclasses[repl->reclass_count++] =
        (net_repl_reclass){.slot = slot, .tick = net_repl_state_now(repl), .before = before};
    net_set_add(repl, NET_SET_MIXED, slot);
}

uint16_t net_repl_state_classes_at(const net_repl_state* repl, uint32_t slot, uint32_t tick) {
    if (!net_set_has(repl, NET_SET_MIXED, slot)) return repl->classes[slot];
    for (uint32_t i = 0; i < repl->reclass_count; i++)
        if (repl->reclasses[i].slot == slot && (int32_t)(repl->reclasses[i].tick - tick) > 0)
            return repl->reclasses[i].before;
    return repl->classes[slot];
}

// Entries that no base is older than: both bases are in the window or newer than it.
static void drop_old_reclasses(net_repl_state* repl) {
    uint32_t backs = repl->backs;
    if (repl->reclass_count == 0 || backs < repl->window) return;
    uint32_t oldest = net_repl_packet_tick(repl, backs);
    for (uint32_t i = 0; i < repl->reclass_count; i++) {
        uint32_t slot = repl->reclasses[i].slot;
        if ((int32_t)(repl->reclasses[i].tick - oldest) > 0) continue;
        if (net_set_has(repl, NET_SET_BASED, slot) &&
            (int32_t)(repl->reclasses[i].tick - repl->bases[slot]) > 0)
            continue;
        repl->reclass_count--;
        memmove(&repl->reclasses[i], &repl->reclasses[i + 1],
                (repl->reclass_count - i) * sizeof *repl->reclasses);
        bool has_more = false;
        for (uint32_t k = 0; k < repl->reclass_count; k++)
            has_more = has_more || repl->reclasses[k].slot == slot;
        if (!has_more) net_set_remove(repl, NET_SET_MIXED, slot);
        i--;
    }
}

// ---- incarnations ----

static void begin_epoch(net_repl_state* repl, uint32_t slot) {
    forget_carried(repl, slot);
    static const net_repl_set of_epoch[] = {NET_SET_LIVE,   NET_SET_GOING,  NET_SET_REPEAT,
                                            NET_SET_RESYNC, NET_SET_RECENT, NET_SET_BASED,
                                            NET_SET_STALE,  NET_SET_SINGLE, NET_SET_YOUNG};
    for (uint32_t i = 0; i < sizeof of_epoch / sizeof *of_epoch; i++)
        net_set_remove(repl, of_epoch[i], slot);
    if (net_set_has(repl, NET_SET_MIXED, slot)) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < repl->reclass_count; i++)
            if (repl->reclasses[i].slot != slot) repl->reclasses[kept++] = repl->reclasses[i];
        repl->reclass_count = kept;
        net_set_remove(repl, NET_SET_MIXED, slot);
    }
}

// `is_new`: the slot was just taken, so it is in none of the sets.
static void begin_incarnation(net_repl_state* repl, uint32_t slot, bool is_new,
                              const net_history_entity* entity, const net_interest_entity* scoped) {
    BASE_ASSERT(net_set_has(repl, NET_SET_USED, slot));
    if (!is_new) begin_epoch(repl, slot);
    if (net_set_has(repl, NET_SET_KNOWN, slot))
        net_set_add(repl, NET_SET_PREVIOUS, slot);
    else
        net_set_remove(repl, NET_SET_PREVIOUS, slot);
    ecs_tick now = net_replicator_now(repl->replicator);
    if (now - entity->begin_tick < NET_REPL_STATE_YOUNG_TICKS)
        net_set_add(repl, NET_SET_YOUNG, slot);
    repl->handles[slot] = entity->handle;
    repl->classes[slot] = (uint16_t)net_history_classes(entity, scoped->classes);
    net_repl_state_wait(repl, slot);
}

static void watch_enter(const net_repl_state* repl, uint32_t slot, ecs_entity before) {
    const net_repl_state_watch* watch = &repl->watch;
    ecs_entity entity = repl->handles[slot];
    if (before != ECS_ENTITY_NONE && before != entity && watch->leave)
        watch->leave(watch->context, before);
    if (watch->enter)
        watch->enter(watch->context, entity, repl->members[slot].classes,
                     net_replicator_now(repl->replicator));
}

void net_repl_state_enter(net_repl_state* repl, const net_interest_entity* scoped) {
    BASE_ASSERT(scoped->index >= 1 && scoped->index <= repl->replicator->index_max);
    const net_history_entity* entity = net_history_find(repl->replicator->history, scoped->index);
    if (!entity) return;
    uint32_t slot = net_repl_state_find_slot(repl, scoped->index);
    bool is_new = slot == UINT32_MAX;
    if (is_new) slot = net_repl_state_take_slot(repl, scoped->index);
    bool is_member = repl->members[slot].index != 0;
    if (is_member) {
        net_repl_state_change(repl, slot, scoped);
    } else {
        net_repl_state_set_group(repl, slot, scoped->group);
        repl->members[slot] = *scoped;
        repl->members[slot].entered = net_repl_state_now(repl);
        set_weight(repl, slot, scoped->weight);
        repl->member_count++;
    }
    ecs_entity before = is_member ? repl->handles[slot] : ECS_ENTITY_NONE;
    begin_incarnation(repl, slot, is_new, entity, scoped);
    watch_enter(repl, slot, before);
}

void net_repl_state_change(net_repl_state* repl, uint32_t slot, const net_interest_entity* scoped) {
    net_interest_entity* member = &repl->members[slot];
    BASE_ASSERT(member->index == scoped->index);
    net_repl_state_set_group(repl, slot, scoped->group);
    uint32_t entered = member->entered;
    bool is_reclassed = member->classes != scoped->classes;
    if (member->weight != scoped->weight) set_weight(repl, slot, scoped->weight);
    *member = *scoped;
    member->entered = entered;
    if (!is_reclassed) return;
    if (repl->watch.reclass)
        repl->watch.reclass(repl->watch.context, repl->handles[slot], scoped->classes);
    const net_history_entity* entity = net_history_find(repl->replicator->history, scoped->index);
    if (!entity) return; // it is destroyed in this very step
    uint16_t classes = (uint16_t)net_history_classes(entity, scoped->classes);
    if (classes == repl->classes[slot]) return;
    add_reclass(repl, slot, repl->classes[slot]);
    repl->classes[slot] = classes;
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_repl_state_wait(repl, slot);
}

void net_repl_state_leave(net_repl_state* repl, uint32_t slot) {
    BASE_ASSERT(slot < repl->slot_end && repl->members[slot].index != 0);
    if (repl->watch.leave) repl->watch.leave(repl->watch.context, repl->handles[slot]);
    // It stays in its group until the client has acknowledged its destroy: they leave together.
    repl->members[slot] = (net_interest_entity){.group = repl->members[slot].group};
    set_weight(repl, slot, NET_REPL_STATE_LEAVING_WEIGHT);
    repl->member_count--;
    begin_epoch(repl, slot);
    if (!net_set_has(repl, NET_SET_KNOWN, slot)) {
        net_repl_state_free_slot(repl, slot);
        return;
    }
    net_set_add(repl, NET_SET_GOING, slot);
    net_repl_state_wait(repl, slot);
}

// ---- the published step ----

// Something spawned or despawned at the index of a slot in scope.
static void renew(net_repl_state* repl, uint32_t slot) {
    if (net_set_has(repl, NET_SET_ENTERED, slot)) return;
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, repl->members[slot].index);
    if (!entity || entity->handle != repl->handles[slot]) {
        net_repl_state_leave(repl, slot);
        return;
    }
    // Another template alone does not end visibility: a member that stays only by hysteresis stays
    // until the client's turn.
    net_interest_entity scoped = repl->members[slot];
    net_repl_state_enter(repl, &scoped);
}

// Of the touched slots of a word: those with a change that the client sees.
static void mark_touched(net_repl_state* repl, uint32_t w, uint64_t touched) {
    const net_replicator* replicator = repl->replicator;
    const bool is_usual = !replicator->has_hidden && !replicator->has_lives;
    for (uint64_t bits = is_usual ? 0 : touched; bits; bits &= bits - 1) {
        const uint32_t slot = w * 64 + base_bit_lowest(bits), index = repl->indices[slot];
        const uint64_t of = UINT64_C(1) << (index & 63);
        const bool lives = replicator->lives.words[index >> 6] & of;
        if (!lives && (!(replicator->hidden.words[index >> 6] & of) ||
                       (replicator->hidden_classes[index] & repl->classes[slot]) ||
                       net_fault_is_planted(NET_FAULT_LEAK_TIMING)))
            continue;
        touched &= ~(bits & (0 - bits));
        if (lives) renew(repl, slot);
    }
    if (touched) mark_changed(repl, w, touched);
}

// Of the 64 slots of a word. Eight at a time, since shifts by constants are cheap.
static uint64_t find_touched(const uint8_t* touched, const uint32_t* at) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 64; i += 8, at += 8) {
        const int eight = touched[at[0]] | touched[at[1]] << 1 | touched[at[2]] << 2 |
                          touched[at[3]] << 3 | touched[at[4]] << 4 | touched[at[5]] << 5 |
                          touched[at[6]] << 6 | touched[at[7]] << 7;
        bits |= (uint64_t)eight << i;
    }
    return bits;
}

static uint64_t find_marked(const net_repl_state* repl, uint32_t w, const uint8_t* marks) {
    const uint64_t in_scope = net_set(repl, NET_SET_USED)[w] & ~net_set(repl, NET_SET_GOING)[w];
    return find_touched(marks, &repl->indices[(size_t)w * 64]) & in_scope;
}

uint32_t net_repl_state_list_marked(const net_repl_state* repl, uint32_t word, const uint8_t* marks,
                                    ecs_entity* entities) {
    uint32_t count = 0;
    for (uint64_t bits = find_marked(repl, word, marks); bits; bits &= bits - 1)
        entities[count++] = repl->handles[word * 64 + base_bit_lowest(bits)];
    return count;
}

void net_repl_state_pull(net_repl_state* repl) {
    const net_replicator* replicator = repl->replicator;
    uint32_t words = net_repl_state_words(repl), word = 0;
    uint64_t touched = 0; // slots of this word
    if (repl->reclass_count > 0) drop_old_reclasses(repl);
    if (!replicator->has_touched) {
        // Nothing happened: the world is idle.
    } else if (replicator->event_count * EVENT_COST < repl->slot_end) {
        for (uint32_t i = 0; i < replicator->event_count; i++) {
            uint32_t index = ecs_entity_index(replicator->events[i].handle);
            uint32_t slot = net_repl_state_find_slot(repl, index);
            if (slot == UINT32_MAX || repl->members[slot].index == 0) continue;
            if (touched && slot >> 6 != word) {
                mark_touched(repl, word, touched);
                touched = 0;
            }
            word = slot >> 6;
            touched |= UINT64_C(1) << (slot & 63);
        }
        if (touched) mark_touched(repl, word, touched);
    } else {
        for (uint32_t w = 0; w < words; w++) {
            uint64_t bits = find_marked(repl, w, replicator->touched);
            if (bits) mark_touched(repl, w, bits);
        }
    }
    if (replicator->has_lives && words > 0)
        memset(net_set(repl, NET_SET_ENTERED), 0, words * sizeof(uint64_t));
}
