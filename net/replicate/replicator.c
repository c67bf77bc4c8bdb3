// SPDX-License-Identifier: MIT
// The server's half of replication, without sessions: history, interest, replication states and
// what they share.
//
// The reverse index (observers.c) gives per entity the clients that have it, and in which slot. It
// is walked when the entity changes, spawns or despawns. So a tick costs the changes times their
// observers, and an idle world costs nothing. When most of all visible entities changed, walking
// each client's members once is cheaper than jumping from client to client. Both ways leave the
// same bits in the same sets (NET_SET_FRESH), so the choice has no visible effect.
//
// Order of a publish: merge what is left of the last step; despawned and spawned entities; changes;
// scopes of the clients that are due. Clients are handled in the order of their ids or numbers,
// never by address.
//
// Invariants: net_replicator_validate.
#include "replicate/replicator.h"

#include "core/fault.h"
#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum { CROWD_FRACTION = 4 }; // more than 1/4 of what is visible changed: go by clients

net_result net_replicator_create(const net_replicator_config* config, net_replicator** replicator) {
    BASE_ASSERT(config && config->rows && config->interest && replicator);
    BASE_ASSERT(config->index_max >= 1 && config->index_max <= ECS_INDEX_MAX);
    *replicator = NULL;
    net_replicator* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    made->rows = config->rows;
    made->interest = config->interest;
    made->bandwidth = config->bandwidth;
    made->index_max = config->index_max;
    net_pool_init(&made->pool, config->allocator);
    base_bitset_init(&made->fresh_repls, config->allocator);
    base_bitset_init(&made->changed, config->allocator);
    net_snapshot_writer_init(&made->writer, config->allocator, config->index_max);
    net_result result =
        net_history_create(config->allocator, config->rows, config->index_max, &made->history);
    if (result != NET_OK) {
        net_replicator_destroy(made);
        return result;
    }
    net_encoded_rows_init(&made->encoded_rows, config->allocator, made->history, config->is_solo,
                          config->bandwidth != NULL);
    *replicator = made;
    return NET_OK;
}

void net_replicator_destroy(net_replicator* replicator) {
    if (!replicator) return;
    BASE_ASSERT(replicator->repl_count == 0);
    const base_allocator* allocator = replicator->allocator;
    for (uint32_t i = 0; i < replicator->observer_capacity; i++)
        BASE_ARRAY_RELEASE(&replicator->pool.allocator, replicator->observers[i].items,
                           replicator->observers[i].capacity);
    BASE_ARRAY_RELEASE(allocator, replicator->observers, replicator->observer_capacity);
    BASE_ARRAY_RELEASE(allocator, replicator->repls, replicator->repl_capacity);
    BASE_ARRAY_RELEASE(allocator, replicator->fresh, replicator->fresh_capacity);
    BASE_ARRAY_RELEASE(allocator, replicator->stamps, replicator->stamp_capacity);
    base_table_deinit(&replicator->clients, allocator);
    BASE_ARRAY_RELEASE(allocator, replicator->scratch, replicator->scratch_capacity);
    base_bitset_deinit(&replicator->fresh_repls);
    base_bitset_deinit(&replicator->changed);
    net_encoded_rows_deinit(&replicator->encoded_rows);
    net_snapshot_writer_deinit(&replicator->writer);
    net_history_destroy(replicator->history);
    net_pool_deinit(&replicator->pool);
    base_release(allocator, replicator, sizeof *replicator);
}

net_result net_replicator_step(net_replicator* replicator, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(replicator->published == net_history_step_count(replicator->history));
    net_result result = net_history_step(replicator->history, world, tick);
    if (result != NET_OK) return result;
    return net_interest_step(replicator->interest, replicator->history, tick);
}

const net_history* net_replicator_history(const net_replicator* replicator) {
    return replicator->history;
}

// ---- repls and the reverse index ----

static net_repl_state* find_repl(const net_replicator* replicator, uint32_t client) {
    uint32_t id = base_table_find(&replicator->clients, client);
    if (id == BASE_TABLE_NONE) return NULL;
    net_repl_state* repl = replicator->repls[id];
    return repl->is_broken ? NULL : repl;
}

static void break_repl(net_repl_state* repl) {
    repl->is_broken = true;
}

// ---- spawned and despawned entities ----

// All observers of the entity lose it.
static void remove_despawned(net_replicator* replicator, uint32_t index) {
    BASE_ASSERT(index <= replicator->index_max);
    if (index >= replicator->observer_capacity) return;
    net_observer_list* list = &replicator->observers[index];
    while (list->count > 0) {
        net_observer last = list->items[list->count - 1];
        net_repl_state_leave(replicator->repls[last.repl], last.slot);
    }
    // The next spawn may be at any index: the pool keeps the memory for it.
    BASE_ARRAY_RELEASE(&replicator->pool.allocator, list->items, list->capacity);
    *list = (net_observer_list){NULL, 0, 0};
}

// A new incarnation at an index: clients that see it begin it; clients that saw the previous one
// and do not see this one end it.
static bool add_spawned(net_replicator* replicator, uint32_t index) {
    BASE_ASSERT(index >= 1 && index <= replicator->index_max);
    const net_history_entity* entity = net_history_find(replicator->history, index);
    uint32_t had_count = 0;
    if (index < replicator->observer_capacity) {
        const net_observer_list* list = &replicator->observers[index];
        had_count = list->count;
        if (!BASE_ARRAY_RESERVE(replicator->allocator, replicator->scratch,
                                replicator->scratch_capacity, had_count))
            return false;
        if (had_count > 0)
            memcpy(replicator->scratch, list->items, had_count * sizeof(net_observer));
    }
    const uint32_t* clients;
    const net_interest_entity* scoped_entities;
    uint32_t count =
        net_interest_get_observers(replicator->interest, index, &clients, &scoped_entities);
    if (count == UINT32_MAX) return false;
    if (++replicator->stamp == 0) {
        memset(replicator->stamps, 0, replicator->stamp_capacity * sizeof *replicator->stamps);
        replicator->stamp = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        net_repl_state* repl = find_repl(replicator, clients[i]);
        if (!repl) continue;
        replicator->stamps[repl->id] = replicator->stamp;
        if (!net_repl_state_enter(repl, &scoped_entities[i])) break_repl(repl);
    }
    for (uint32_t i = 0; i < had_count; i++) {
        net_observer observer = replicator->scratch[i];
        net_repl_state* repl = replicator->repls[observer.repl];
        const net_repl_slot* slot = &repl->slots[observer.slot];
        if (replicator->stamps[observer.repl] == replicator->stamp) continue;
        // Another template alone does not end visibility: a member that stays only by hysteresis
        // stays until the client's turn.
        if (slot->handle == entity->handle) {
            net_interest_entity scoped = repl->members[slot->member];
            if (!net_repl_state_enter(repl, &scoped)) break_repl(repl);
        } else {
            net_repl_state_leave(repl, observer.slot);
        }
    }
    return true;
}

static void break_all(net_replicator* replicator) {
    for (uint32_t i = 0; i < replicator->repl_capacity; i++) {
        if (replicator->repls[i]) break_repl(replicator->repls[i]);
    }
}

// ---- changes ----

static void fan_out(net_replicator* replicator, uint32_t index, uint32_t classes) {
    const net_observer_list* list = &replicator->observers[index];
    for (uint32_t i = 0; i < list->count; i++) {
        net_observer observer = list->items[i];
        // Every client sees public components; for others the slot's mask decides.
        if (!net_fault_is_planted(NET_FAULT_LEAK_TIMING) && !(classes & 1u << NET_CLASS_PUBLIC) &&
            !(replicator->repls[observer.repl]->slots[observer.slot].classes & classes))
            continue;
        replicator->fresh[observer.repl][observer.slot >> 6] |= UINT64_C(1) << (observer.slot & 63);
        replicator->fresh_repls.words[observer.repl >> 6] |= UINT64_C(1) << (observer.repl & 63);
    }
}

// The lazy form: walk the members of each client.
static void mark_members(net_replicator* replicator) {
    const uint64_t* changed = replicator->changed.words;
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        net_repl_state* repl = replicator->repls[id];
        if (!repl) continue;
        uint64_t any = 0;
        uint64_t* fresh = repl->sets[NET_SET_FRESH];
        for (uint32_t i = 0; i < repl->member_count; i++) {
            uint32_t index = repl->members[i].index, slot = repl->member_slots[i];
            uint64_t bit = changed[index >> 6] >> (index & 63) & 1;
            fresh[slot >> 6] |= bit << (slot & 63);
            any |= bit;
        }
        if (any) base_bitset_add(&replicator->fresh_repls, id);
    }
}

static uint64_t count_reached(const net_replicator* replicator, const net_history_event* events,
                              uint32_t count) {
    uint64_t reached = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_CHANGED && index < replicator->observer_capacity)
            reached += replicator->observers[index].count;
    }
    return reached;
}

// Lists of observers are scattered in memory: prefetch one some events ahead.
static void fetch_observers(const net_replicator* replicator, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index >= replicator->observer_capacity) return;
    const net_observer_list* list = &replicator->observers[index];
    __builtin_prefetch(list->items);
    if (list->count > 8) __builtin_prefetch(list->items + list->count - 1);
}

static void mark_changed_entities(net_replicator* replicator, const net_history_event* events,
                                  uint32_t count) {
    bool is_crowd =
        count_reached(replicator, events, count) > replicator->observer_total / CROWD_FRACTION &&
        base_bitset_reserve(&replicator->changed, net_history_index_end(replicator->history));
    if (is_crowd) base_bitset_clear_all(&replicator->changed);
    enum { AHEAD = 12 };
    for (uint32_t i = 0; i < count; i++) {
        if (!is_crowd && i + AHEAD < count) fetch_observers(replicator, events[i + AHEAD].handle);
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind != NET_HISTORY_CHANGED || index >= replicator->observer_capacity)
            continue;
        if (is_crowd && events[i].classes & 1u << NET_CLASS_PUBLIC)
            base_bitset_add(&replicator->changed, index);
        else
            fan_out(replicator, index, events[i].classes);
    }
    if (is_crowd) mark_members(replicator);
}

// ---- interest ----

static bool apply_answer(net_repl_state* repl, const net_interest_answer* answer) {
    for (uint32_t i = 0; i < answer->changed_count; i++) {
        uint32_t slot = repl->member_slots[answer->changed[i]];
        if (!net_repl_state_change(repl, slot, &answer->changed_to[i])) return false;
    }
    // From the end: removing a member moves the last one into its place.
    for (uint32_t i = answer->leave_count; i > 0; i--)
        net_repl_state_leave(repl, repl->member_slots[answer->leave[i - 1]]);
    for (uint32_t i = 0; i < answer->enter_count; i++) {
        if (!net_repl_state_enter(repl, &answer->enter[i])) return false;
    }
    return true;
}

bool net_replicator_update_scope(net_replicator* replicator, net_repl_state* repl) {
    BASE_ASSERT(!repl->is_broken);
    net_interest_answer answer;
    return net_interest_query(replicator->interest, repl->client, repl->members, repl->member_count,
                              &answer) &&
           apply_answer(repl, &answer);
}

static void merge_fresh(net_replicator* replicator) {
    uint32_t id = base_bitset_next(&replicator->fresh_repls, 0);
    for (; id != UINT32_MAX; id = base_bitset_next(&replicator->fresh_repls, id + 1))
        net_repl_state_merge(replicator->repls[id], replicator->published_tick);
}

void net_replicator_publish(net_replicator* replicator) {
    BASE_ASSERT(replicator->published + 1 == net_history_step_count(replicator->history));
    merge_fresh(replicator);
    replicator->published++;
    replicator->published_tick = net_replicator_tick(replicator);
    bool ok = net_encoded_rows_begin(&replicator->encoded_rows, net_replicator_tick(replicator));
    uint32_t count;
    const net_history_event* events = net_history_events(replicator->history, &count);
    for (uint32_t i = 0; i < count && ok && replicator->repl_count > 0; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_DESPAWNED)
            remove_despawned(replicator, index);
        else if (events[i].kind == NET_HISTORY_SPAWNED)
            ok = add_spawned(replicator, index);
    }
    mark_changed_entities(replicator, events, count);
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        net_repl_state* repl = replicator->repls[id];
        if (!repl || repl->is_broken || !net_interest_is_due(replicator->interest, repl->client))
            continue;
        if (!net_replicator_update_scope(replicator, repl)) break_repl(repl);
    }
    if (!ok) break_all(replicator);
    if (NET_VALIDATE_ON) net_replicator_validate(replicator);
}
