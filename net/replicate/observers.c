// SPDX-License-Identifier: MIT
// The reverse index: per entity a list of the slots in which clients have it, and the table of the
// clients' replication states by id.
//
// Invariant: items[position] of an entity names a slot whose observer_positions entry is that
// position. Removing moves the last item into the gap and corrects the position of its slot.
#include "replicate/observers.h"

#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

bool net_observers_add_client(net_replicator* replicator, net_repl_state* repl) {
    uint32_t id = 0;
    while (id < replicator->repl_capacity && replicator->repls[id])
        id++;
    if (!BASE_ARRAY_RESERVE(replicator->allocator, replicator->repls, replicator->repl_capacity,
                            id + 1) ||
        !BASE_ARRAY_RESERVE(replicator->allocator, replicator->fresh, replicator->fresh_capacity,
                            id + 1) ||
        !BASE_ARRAY_RESERVE(replicator->allocator, replicator->stamps, replicator->stamp_capacity,
                            id + 1) ||
        !base_table_reserve(&replicator->clients, replicator->allocator,
                            replicator->repl_count + 1) ||
        !base_bitset_reserve(&replicator->fresh_repls, replicator->repl_capacity))
        return false;
    BASE_ASSERT(base_table_find(&replicator->clients, repl->client) == BASE_TABLE_NONE);
    repl->id = id;
    replicator->repls[id] = repl;
    replicator->fresh[id] = repl->sets[NET_SET_FRESH];
    base_table_add(&replicator->clients, repl->client, id);
    replicator->repl_count++;
    return true;
}

void net_observers_remove_client(net_replicator* replicator, net_repl_state* repl) {
    BASE_ASSERT(replicator->repls[repl->id] == repl && replicator->repl_count > 0);
    replicator->repls[repl->id] = NULL;
    replicator->fresh[repl->id] = NULL;
    (void)base_table_remove(&replicator->clients, repl->client, repl->id);
    base_bitset_remove(&replicator->fresh_repls, repl->id);
    replicator->repl_count--;
}

bool net_observers_add(net_replicator* replicator, uint32_t index, net_repl_state* repl,
                       uint32_t slot) {
    BASE_ASSERT(index >= 1 && index <= replicator->index_max && slot < repl->slot_end);
    if (!BASE_ARRAY_RESERVE(replicator->allocator, replicator->observers,
                            replicator->observer_capacity, index + 1))
        return false;
    net_observer_list* list = &replicator->observers[index];
    if (!BASE_ARRAY_RESERVE(&replicator->pool.allocator, list->items, list->capacity,
                            list->count + 1))
        return false;
    repl->observer_positions[slot] = list->count;
    list->items[list->count++] = (net_observer){repl->id, slot};
    replicator->observer_total++;
    return true;
}

void net_observers_remove(net_replicator* replicator, uint32_t index, net_repl_state* repl,
                          uint32_t slot) {
    BASE_ASSERT(index < replicator->observer_capacity && replicator->observer_total > 0);
    net_observer_list* list = &replicator->observers[index];
    uint32_t position = repl->observer_positions[slot];
    BASE_ASSERT(position < list->count && list->items[position].slot == slot);
    net_observer last = list->items[--list->count];
    list->items[position] = last;
    replicator->repls[last.repl]->observer_positions[last.slot] = position;
    replicator->observer_total--;
}

ecs_tick net_replicator_tick(const net_replicator* replicator) {
    return net_history_tick(replicator->history);
}
