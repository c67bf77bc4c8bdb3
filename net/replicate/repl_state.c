// SPDX-License-Identifier: MIT
// The replication state of one client: creating and destroying it, and questions. README.md tells
// how the parts work together.
#include "replicate/repl_state.h"

#include "core/fault.h"
#include "base/assert.h"

enum {
    TYPICAL_CREATE_BITS = 160 * 16, // before anything was measured; 1/16 bits
    TYPICAL_UPDATE_BITS = 64 * 16,
    SAMPLE_SLOTS_MAX = 256, // slots looked at for one probe
};

net_result net_repl_state_create(net_replicator* replicator, uint32_t client,
                                 net_repl_state** repl) {
    BASE_ASSERT(replicator && repl);
    *repl = NULL;
    net_repl_state* made = base_allocate_zero(replicator->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->replicator = replicator;
    made->client = client;
    made->published = replicator->published;
    made->window = NET_REPL_STATE_WINDOW_MIN;
    made->create_bits = TYPICAL_CREATE_BITS;
    made->update_bits = TYPICAL_UPDATE_BITS;
    if (!net_replicator_add_client(replicator, made)) {
        base_release(replicator->allocator, made, sizeof *made);
        return NET_ERR_MEMORY;
    }
    if (!net_replicator_update_scope(replicator, made)) {
        net_repl_state_destroy(made);
        return NET_ERR_MEMORY;
    }
    *repl = made;
    return NET_OK;
}

void net_repl_state_abandon(net_repl_state* repl) {
    repl->is_broken = true;
    repl->watch = (net_repl_state_watch){.context = NULL};
}

void net_repl_state_destroy(net_repl_state* repl) {
    if (!repl) return;
    net_repl_state_abandon(repl);
    net_replicator_remove_client(repl->replicator, repl);
    net_repl_state_deinit_slots(repl);
    if (repl->solo) repl->replicator->solo->sender_destroy(repl->solo);
    base_release(repl->replicator->allocator, repl, sizeof *repl);
}

net_result net_repl_state_use_solo(net_repl_state* repl) {
    const net_replicator* replicator = repl->replicator;
    BASE_ASSERT(replicator->solo && !repl->solo && repl->packet_count == 0);
    repl->solo = replicator->solo->sender_create(replicator->allocator);
    return repl->solo ? NET_OK : NET_ERR_MEMORY;
}

void net_repl_state_set_lane(net_repl_state* repl, uint32_t lane) {
    BASE_ASSERT(lane < repl->replicator->lane_count);
    repl->lane = lane;
}

bool net_repl_state_is_broken(const net_repl_state* repl) {
    return repl->is_broken;
}

bool net_repl_state_has_pending(const net_repl_state* repl) {
    if (repl->pending_count == 0) return false;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++)
        if (pending[w] && pending[w] & ~net_repl_state_created(repl, w, pending[w])) return true;
    return false;
}

// ---- questions ----

// The slot of an entity in scope; UINT32_MAX: it is not.
static uint32_t find_entity(const net_repl_state* repl, ecs_entity entity) {
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(entity));
    if (slot == UINT32_MAX || repl->handles[slot] != entity) return UINT32_MAX;
    return net_set_has(repl, NET_SET_GOING, slot) ? UINT32_MAX : slot;
}

bool net_repl_state_resync(net_repl_state* repl, ecs_entity entity) {
    if (net_fault_is_planted(NET_FAULT_NO_RESYNC)) return true;
    uint32_t slot = find_entity(repl, entity);
    if (slot == UINT32_MAX) return false;
    if (net_set_has(repl, NET_SET_LIVE, slot)) net_set_add(repl, NET_SET_RESYNC, slot);
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_repl_state_wait(repl, slot);
    return true;
}

// Slots whose entities the client has not acknowledged.
static uint64_t uncreated(const net_repl_state* repl, uint32_t word) {
    return net_set(repl, NET_SET_USED)[word] & ~net_set(repl, NET_SET_LIVE)[word] &
           ~net_set(repl, NET_SET_GOING)[word];
}

bool net_repl_state_await(net_repl_state* repl) {
    const uint32_t words = net_repl_state_words(repl);
    if (!BASE_ARRAY_RESERVE(repl->replicator->allocator, repl->awaited, repl->awaited_words, words))
        return false;
    for (uint32_t w = 0; w < repl->awaited_words; w++)
        repl->awaited[w] = w < words ? uncreated(repl, w) : 0;
    return true;
}

// A slot may get another entity meanwhile: then that one is awaited, too.
bool net_repl_state_is_awaiting(net_repl_state* repl) {
    uint64_t left = 0;
    for (uint32_t w = 0; w < repl->awaited_words && w < net_repl_state_words(repl); w++)
        left |= repl->awaited[w] &= uncreated(repl, w);
    return left != 0;
}

bool net_repl_state_is_settled(const net_repl_state* repl) {
    if (repl->replicator->published != net_history_step_count(repl->replicator->history))
        return false;
    if (repl->is_broken) return false;
    uint64_t unsettled = 0;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++)
        unsettled |= net_set(repl, NET_SET_UNSETTLED)[w];
    return unsettled == 0;
}

bool net_repl_state_sees(const net_repl_state* repl, ecs_entity entity, uint32_t* classes) {
    uint32_t slot = find_entity(repl, entity);
    if (slot == UINT32_MAX) return false;
    if (classes) *classes = repl->members[slot].classes;
    return true;
}

bool net_repl_state_has(const net_repl_state* repl, ecs_entity entity) {
    uint32_t slot = find_entity(repl, entity);
    return slot != UINT32_MAX && net_set_has(repl, NET_SET_LIVE, slot);
}

void net_repl_state_set_watch(net_repl_state* repl, const net_repl_state_watch* watch) {
    BASE_ASSERT(watch);
    repl->watch = *watch;
    for (uint32_t slot = 0; slot < repl->slot_end && watch->enter; slot++) {
        const net_interest_entity* member = &repl->members[slot];
        if (member->index == 0) continue;
        watch->enter(watch->context, repl->handles[slot], member->classes,
                     net_interest_entered(member, net_replicator_now(repl->replicator)));
    }
}

// The tick of the row that a client certainly has newest. @return false: it is not certain.
static bool find_certain(const net_repl_state* repl, uint32_t slot, uint32_t* tick) {
    uint32_t backs = net_repl_state_backs(repl);
    for (uint32_t back = 1; back <= backs; back++) {
        if (!(net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1)) continue;
        *tick = net_repl_packet_tick(repl, back);
        return net_repl_packet_state(repl, back) == NET_PACKET_ACKED;
    }
    *tick = repl->bases[slot];
    return net_set_has(repl, NET_SET_BASED, slot) && !net_set_has(repl, NET_SET_STALE, slot);
}

static bool probe_slot(const net_repl_state* repl, uint32_t slot, uint32_t* age, uint64_t* hash) {
    uint32_t tick;
    if (!net_set_has(repl, NET_SET_LIVE, slot) || !find_certain(repl, slot, &tick)) return false;
    // Whether a row with hidden classes is still stored would reveal how often they changed.
    uint16_t classes = net_repl_state_classes_at(repl, slot, tick);
    if (classes & ~repl->classes[slot]) return false;
    ecs_entity handle = repl->handles[slot];
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, ecs_entity_index(handle));
    if (!entity || entity->handle != handle) return false;
    ecs_tick now = net_replicator_tick(repl->replicator);
    *age = (uint32_t)now - tick;
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    if (!net_history_read(entity, now, now - *age, classes, scratch)) return false;
    *hash = net_row_hash(entity->row_template, scratch);
    if (net_fault_is_planted(NET_FAULT_WRONG_PROBE) && slot % 8 == 5) ++*hash;
    return true;
}

bool net_repl_state_probe(net_repl_state* repl, uint32_t* slot, uint32_t* age, uint64_t* hash) {
    BASE_ASSERT(slot && age && hash);
    uint32_t tries = repl->slot_end < SAMPLE_SLOTS_MAX ? repl->slot_end : SAMPLE_SLOTS_MAX;
    for (uint32_t i = 0; i < tries; i++) {
        if (repl->probe_slot >= repl->slot_end) repl->probe_slot = 0;
        *slot = repl->probe_slot++;
        if (probe_slot(repl, *slot, age, hash)) return true;
    }
    return false;
}

const net_repl_state_counters* net_repl_state_get_counters(const net_repl_state* repl) {
    return &repl->counters;
}

uint32_t net_repl_state_entities(const net_repl_state* repl) {
    return repl->member_count;
}

void net_repl_state_list(const net_repl_state* repl, ecs_entity* entities) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < repl->slot_end; slot++)
        if (repl->members[slot].index != 0) entities[count++] = repl->handles[slot];
    BASE_ASSERT(count == repl->member_count);
}
