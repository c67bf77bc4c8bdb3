// SPDX-License-Identifier: MIT
// The whole-structure check of the replicator: the reverse index, the slots of every client and the
// homes of encoded rows agree. Called once per publish in BASE_VALIDATE builds, and by tests. An
// assertion here is our own fault.
#include "replicate/replicator.h"

#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

static void validate_observers(const net_replicator* replicator) {
    uint64_t total = 0;
    for (uint32_t index = 0; index < replicator->observer_capacity; index++) {
        const net_observer_list* list = &replicator->observers[index];
        BASE_ASSERT(list->count <= list->capacity);
        total += list->count;
        for (uint32_t i = 0; i < list->count; i++) {
            net_observer observer = list->items[i];
            BASE_ASSERT(observer.repl < replicator->repl_capacity);
            const net_repl_state* repl = replicator->repls[observer.repl];
            BASE_ASSERT(repl && observer.slot < repl->slot_end);
            BASE_ASSERT(repl->observer_positions[observer.slot] == i);
            BASE_ASSERT(ecs_entity_index(repl->slots[observer.slot].handle) == index);
        }
    }
    BASE_ASSERT(total == replicator->observer_total);
}

static void validate_members(const net_repl_state* repl) {
    uint32_t grouped = 0;
    for (uint32_t i = 0; i < repl->member_count; i++) {
        BASE_ASSERT(repl->member_slots[i] < repl->slot_end);
        const net_repl_slot* s = &repl->slots[repl->member_slots[i]];
        BASE_ASSERT(s->member == i && ecs_entity_index(s->handle) == repl->members[i].index);
        BASE_ASSERT(s->state != NET_REPL_SLOT_FREE && s->state != NET_REPL_SLOT_LEAVING);
        grouped += repl->members[i].group != 0;
    }
    BASE_ASSERT(grouped == repl->group_count);
    for (uint32_t i = 1; i < repl->group_count; i++)
        BASE_ASSERT(repl->groups[i - 1] < repl->groups[i]);
}

static void validate_sets(const net_repl_state* repl) {
    uint32_t pending = 0;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        uint64_t used = repl->sets[NET_SET_USED][w], waits = repl->sets[NET_SET_PENDING][w];
        BASE_ASSERT((waits & ~used) == 0);
        BASE_ASSERT((waits & ~repl->sets[NET_SET_UNSETTLED][w]) == 0);
        BASE_ASSERT((repl->sets[NET_SET_REPEAT][w] & ~waits) == 0);
        BASE_ASSERT((repl->sets[NET_SET_FRESH][w] & ~used) == 0);
        BASE_ASSERT((repl->sets[NET_SET_LIFECYCLE][w] & ~used) == 0);
        pending += (uint32_t)__builtin_popcountll(waits);
    }
    BASE_ASSERT(pending == repl->pending_count);
}

static void validate_slots(const net_repl_state* repl) {
    uint64_t flying = 0;
    uint32_t used = 0, members = 0;
    for (uint32_t slot = 0; slot < repl->slot_end; slot++) {
        const net_repl_slot* s = &repl->slots[slot];
        flying += s->flying;
        bool is_used = net_set_has(repl, NET_SET_USED, slot);
        BASE_ASSERT(is_used == (s->state != NET_REPL_SLOT_FREE));
        if (!is_used) continue;
        used++;
        members += s->member != UINT32_MAX;
        BASE_ASSERT(net_repl_state_find_slot(repl, ecs_entity_index(s->handle)) == slot);
        BASE_ASSERT(s->acked_count <= NET_REPL_STATE_ACKED);
        BASE_ASSERT(s->acked_count == 0 || s->state == NET_REPL_SLOT_LIVE);
        for (uint32_t i = 1; i < s->acked_count; i++)
            BASE_ASSERT((int32_t)(s->acked_ticks[i - 1] - s->acked_ticks[i]) > 0);
    }
    BASE_ASSERT(used == repl->table_count && members == repl->member_count);
    for (uint32_t i = 0; i < NET_REPL_STATE_PACKETS; i++)
        if (repl->packets[i].state == NET_PACKET_FLYING) flying -= repl->packets[i].count;
    BASE_ASSERT(flying == 0); // slots and packets in flight count the same records
}

static void validate_homes(const net_encoded_rows* rows) {
    uint32_t end = rows->home_count + rows->further_count;
    for (uint32_t i = 0; i < end; i++) {
        const net_encoded_row_home* home = &rows->homes[i];
        if (home->stamp != rows->stamp) continue;
        BASE_ASSERT(home->count <= NET_ENCODED_ROW_CELLS);
        BASE_ASSERT(home->next == 0 || (home->next >= rows->home_count && home->next < end));
        BASE_ASSERT(home->next == 0 || home->count == NET_ENCODED_ROW_CELLS);
    }
}

void net_replicator_validate(const net_replicator* replicator) {
    bool is_any_broken = false;
    uint32_t count = 0;
    uint64_t members = 0;
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        const net_repl_state* repl = replicator->repls[id];
        if (!repl) continue;
        count++;
        members += repl->member_count;
        BASE_ASSERT(repl->id == id && repl->replicator == replicator);
        BASE_ASSERT(replicator->fresh[id] == repl->sets[NET_SET_FRESH]);
        BASE_ASSERT(base_table_find(&replicator->clients, repl->client) == id);
        is_any_broken = is_any_broken || repl->is_broken;
        if (repl->is_broken) continue; // memory ran out half way: it is only destroyed
        validate_members(repl);
        validate_sets(repl);
        validate_slots(repl);
    }
    BASE_ASSERT(count == replicator->repl_count);
    validate_homes(&replicator->encoded_rows);
    if (is_any_broken) return;
    validate_observers(replicator);
    BASE_ASSERT(members == replicator->observer_total);
}
