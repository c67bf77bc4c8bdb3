// SPDX-License-Identifier: MIT
// The server's half of replication, without sessions: history, interest, views and what they share.
//
// A reverse index says per entity who has it in which slot; it is walked when the entity changes, comes or goes,
// so a tick costs what changed times who sees it, and an idle world nothing. When most of what anybody sees
// changed, walking every view's slots once is cheaper than jumping from view to view: both leave the same
// bits in the same sets (NET_SET_FRESH), so the choice cannot be seen.
//
// Order of a publish: what a view has not taken in since the last step; lives that ended and began; changes;
// scopes of the clients whose turn it is. Views are told in the order of their ids or of their clients' numbers,
// never by address.
#include "replicate/replicator.h"

#include "core/fault.h"
#include "base/assert.h"
#include "replicate/repl_state_internal.h"

#include <string.h>

enum { CROWD_FRACTION = 4 }; // more than 1/4 of what is visible changed: go by views

net_result net_replica_create(const net_replica_config* config, net_replica** replica) {
    BASE_ASSERT(config && config->rows && config->scopes && replica);
    BASE_ASSERT(config->index_max >= 1 && config->index_max <= ECS_INDEX_MAX);
    *replica = NULL;
    net_replica* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    made->rows = config->rows;
    made->scopes = config->scopes;
    made->ledger = config->ledger;
    made->index_max = config->index_max;
    net_pool_init(&made->pool, config->allocator);
    base_bitset_init(&made->fresh_views, config->allocator);
    base_bitset_init(&made->changed, config->allocator);
    net_body_init(&made->body, config->allocator, config->index_max);
    net_result result =
        net_history_create(config->allocator, config->rows, config->index_max, &made->history);
    if (result != NET_OK) {
        net_replica_destroy(made);
        return result;
    }
    net_blobs_init(&made->blobs, config->allocator, made->history, config->is_solo,
                   config->ledger != NULL);
    *replica = made;
    return NET_OK;
}

void net_replica_destroy(net_replica* replica) {
    if (!replica) return;
    BASE_ASSERT(replica->view_count == 0);
    const base_allocator* allocator = replica->allocator;
    for (uint32_t i = 0; i < replica->viewer_capacity; i++)
        base_release(&replica->pool.allocator, replica->viewers[i].items,
                     replica->viewers[i].capacity * sizeof(net_viewer));
    base_release(allocator, replica->viewers, replica->viewer_capacity * sizeof(net_viewers));
    base_release(allocator, replica->views, replica->view_capacity * sizeof(net_view*));
    base_release(allocator, replica->fresh, replica->fresh_capacity * sizeof(uint64_t*));
    base_release(allocator, replica->stamps, replica->stamp_capacity * sizeof(uint32_t));
    base_release(allocator, replica->view_of_client, replica->client_capacity * sizeof(uint32_t));
    base_release(allocator, replica->scratch, replica->scratch_capacity * sizeof(net_viewer));
    base_bitset_deinit(&replica->fresh_views);
    base_bitset_deinit(&replica->changed);
    net_blobs_deinit(&replica->blobs);
    net_body_deinit(&replica->body);
    net_history_destroy(replica->history);
    net_pool_deinit(&replica->pool);
    base_release(allocator, replica, sizeof *replica);
}

net_result net_replica_step(net_replica* replica, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(replica->published == net_history_step_count(replica->history));
    net_result result = net_history_step(replica->history, world, tick);
    if (result != NET_OK) return result;
    return net_scopes_step(replica->scopes, replica->history, tick);
}

const net_history* net_replica_history(const net_replica* replica) {
    return replica->history;
}

ecs_tick net_replica_tick(const net_replica* replica) {
    return net_history_tick(replica->history);
}

// ---- views and the reverse index ----

bool net_replica_add_view(net_replica* replica, net_view* view) {
    uint32_t id = 0;
    while (id < replica->view_capacity && replica->views[id])
        id++;
    if (!base_array_reserve(replica->allocator, (void**)&replica->views, &replica->view_capacity,
                            id + 1, sizeof(net_view*)) ||
        !base_array_reserve(replica->allocator, (void**)&replica->fresh, &replica->fresh_capacity,
                            id + 1, sizeof(uint64_t*)) ||
        !base_array_reserve(replica->allocator, (void**)&replica->stamps, &replica->stamp_capacity,
                            id + 1, sizeof(uint32_t)) ||
        !base_array_reserve(replica->allocator, (void**)&replica->view_of_client,
                            &replica->client_capacity, view->client + 1, sizeof(uint32_t)) ||
        !base_bitset_reserve(&replica->fresh_views, replica->view_capacity))
        return false;
    BASE_ASSERT(replica->view_of_client[view->client] == 0);
    view->id = id;
    replica->views[id] = view;
    replica->fresh[id] = view->sets[NET_SET_FRESH];
    replica->view_of_client[view->client] = id + 1;
    replica->view_count++;
    return true;
}

void net_replica_remove_view(net_replica* replica, net_view* view) {
    replica->views[view->id] = NULL;
    replica->fresh[view->id] = NULL;
    replica->view_of_client[view->client] = 0;
    base_bitset_remove(&replica->fresh_views, view->id);
    replica->view_count--;
}

bool net_replica_add_viewer(net_replica* replica, uint32_t index, net_view* view, uint32_t slot) {
    if (!base_array_reserve(replica->allocator, (void**)&replica->viewers,
                            &replica->viewer_capacity, index + 1, sizeof(net_viewers)))
        return false;
    net_viewers* list = &replica->viewers[index];
    if (!base_array_reserve(&replica->pool.allocator, (void**)&list->items, &list->capacity,
                            list->count + 1, sizeof(net_viewer)))
        return false;
    view->viewer_positions[slot] = list->count;
    list->items[list->count++] = (net_viewer){view->id, slot};
    replica->viewer_total++;
    return true;
}

void net_replica_remove_viewer(net_replica* replica, uint32_t index, net_view* view,
                               uint32_t slot) {
    net_viewers* list = &replica->viewers[index];
    uint32_t position = view->viewer_positions[slot];
    BASE_ASSERT(position < list->count && list->items[position].slot == slot);
    net_viewer last = list->items[--list->count];
    list->items[position] = last;
    replica->views[last.view]->viewer_positions[last.slot] = position;
    replica->viewer_total--;
}

static net_view* find_view(const net_replica* replica, uint32_t client) {
    if (client >= replica->client_capacity || replica->view_of_client[client] == 0) return NULL;
    net_view* view = replica->views[replica->view_of_client[client] - 1];
    return view->is_broken ? NULL : view;
}

static void break_view(net_view* view) {
    view->is_broken = true;
}

// ---- lives ----

// Who had it, has it no more.
static void tell_went(net_replica* replica, uint32_t index) {
    if (index >= replica->viewer_capacity) return;
    net_viewers* list = &replica->viewers[index];
    while (list->count > 0) {
        net_viewer last = list->items[list->count - 1];
        net_view_leave(replica->views[last.view], last.slot);
    }
    // The next one may come at any index: the pool keeps it for whoever does.
    base_release(&replica->pool.allocator, list->items, list->capacity * sizeof *list->items);
    *list = (net_viewers){NULL, 0, 0};
}

// A new life at an index: who sees it now, begins it; who saw the former one and not this one, ends it.
static bool tell_came(net_replica* replica, uint32_t index) {
    const net_history_entity* entity = net_history_find(replica->history, index);
    uint32_t had_count = 0;
    if (index < replica->viewer_capacity) {
        const net_viewers* list = &replica->viewers[index];
        had_count = list->count;
        if (!base_array_reserve(replica->allocator, (void**)&replica->scratch,
                                &replica->scratch_capacity, had_count, sizeof(net_viewer)))
            return false;
        if (had_count > 0) memcpy(replica->scratch, list->items, had_count * sizeof(net_viewer));
    }
    const uint32_t* clients;
    const net_scope_entry* entries;
    uint32_t count = net_scopes_came(replica->scopes, index, &clients, &entries);
    if (count == UINT32_MAX) return false;
    if (++replica->stamp == 0) {
        memset(replica->stamps, 0, replica->stamp_capacity * sizeof *replica->stamps);
        replica->stamp = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        net_view* view = find_view(replica, clients[i]);
        if (!view) continue;
        replica->stamps[view->id] = replica->stamp;
        if (!net_view_enter(view, &entries[i])) break_view(view);
    }
    for (uint32_t i = 0; i < had_count; i++) {
        net_viewer viewer = replica->scratch[i];
        net_view* view = replica->views[viewer.view];
        const net_slot* slot = &view->slots[viewer.slot];
        if (replica->stamps[viewer.view] == replica->stamp) continue;
        // Another template is no reason to lose sight: what is kept in scope by having been there stays until
        // the client's turn.
        if (slot->handle == entity->handle) {
            net_scope_entry entry = view->members[slot->member];
            if (!net_view_enter(view, &entry)) break_view(view);
        } else {
            net_view_leave(view, viewer.slot);
        }
    }
    return true;
}

static void break_all(net_replica* replica) {
    for (uint32_t i = 0; i < replica->view_capacity; i++) {
        if (replica->views[i]) break_view(replica->views[i]);
    }
}

// ---- changes ----

static void fan_out(net_replica* replica, uint32_t index, uint32_t classes) {
    const net_viewers* list = &replica->viewers[index];
    for (uint32_t i = 0; i < list->count; i++) {
        net_viewer viewer = list->items[i];
        // What is public everybody may see; for the rest the slot knows.
        if (!net_fault_is_planted(NET_FAULT_LEAK_TIMING) && !(classes & 1u << NET_CLASS_PUBLIC) &&
            !(replica->views[viewer.view]->slots[viewer.slot].classes & classes))
            continue;
        replica->fresh[viewer.view][viewer.slot >> 6] |= UINT64_C(1) << (viewer.slot & 63);
        replica->fresh_views.words[viewer.view >> 6] |= UINT64_C(1) << (viewer.view & 63);
    }
}

// The lazy form: each view asks of each of its entities.
static void look_through_views(net_replica* replica) {
    const uint64_t* changed = replica->changed.words;
    for (uint32_t id = 0; id < replica->view_capacity; id++) {
        net_view* view = replica->views[id];
        if (!view) continue;
        uint64_t any = 0;
        uint64_t* fresh = view->sets[NET_SET_FRESH];
        for (uint32_t i = 0; i < view->member_count; i++) {
            uint32_t index = view->members[i].index, slot = view->member_slots[i];
            uint64_t bit = changed[index >> 6] >> (index & 63) & 1;
            fresh[slot >> 6] |= bit << (slot & 63);
            any |= bit;
        }
        if (any) base_bitset_add(&replica->fresh_views, id);
    }
}

static uint64_t count_reached(const net_replica* replica, const net_history_event* events,
                              uint32_t count) {
    uint64_t reached = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_CHANGED && index < replica->viewer_capacity)
            reached += replica->viewers[index].count;
    }
    return reached;
}

// Lists of viewers lie scattered: fetch one some events before it is walked.
static void fetch_viewers(const net_replica* replica, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    if (index >= replica->viewer_capacity) return;
    const net_viewers* list = &replica->viewers[index];
    __builtin_prefetch(list->items);
    if (list->count > 8) __builtin_prefetch(list->items + list->count - 1);
}

static void tell_changed(net_replica* replica, const net_history_event* events, uint32_t count) {
    bool is_crowd =
        count_reached(replica, events, count) > replica->viewer_total / CROWD_FRACTION &&
        base_bitset_reserve(&replica->changed, net_history_index_end(replica->history));
    if (is_crowd) base_bitset_clear_all(&replica->changed);
    enum { AHEAD = 12 };
    for (uint32_t i = 0; i < count; i++) {
        if (!is_crowd && i + AHEAD < count) fetch_viewers(replica, events[i + AHEAD].handle);
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind != NET_HISTORY_CHANGED || index >= replica->viewer_capacity) continue;
        if (is_crowd && events[i].classes & 1u << NET_CLASS_PUBLIC)
            base_bitset_add(&replica->changed, index);
        else
            fan_out(replica, index, events[i].classes);
    }
    if (is_crowd) look_through_views(replica);
}

// ---- scopes ----

static bool take_answer(net_view* view, const net_scopes_answer* answer) {
    for (uint32_t i = 0; i < answer->changed_count; i++) {
        uint32_t slot = view->member_slots[answer->changed[i]];
        if (!net_view_change(view, slot, &answer->changed_to[i])) return false;
    }
    // From the end: whoever leaves is replaced by the last.
    for (uint32_t i = answer->leave_count; i > 0; i--)
        net_view_leave(view, view->member_slots[answer->leave[i - 1]]);
    for (uint32_t i = 0; i < answer->enter_count; i++) {
        if (!net_view_enter(view, &answer->enter[i])) return false;
    }
    return true;
}

bool net_replica_ask(net_replica* replica, net_view* view) {
    net_scopes_answer answer;
    return net_scopes_query(replica->scopes, view->client, view->members, view->member_count,
                            &answer) &&
           take_answer(view, &answer);
}

static void merge_fresh(net_replica* replica) {
    uint32_t id = base_bitset_next(&replica->fresh_views, 0);
    for (; id != UINT32_MAX; id = base_bitset_next(&replica->fresh_views, id + 1))
        net_view_merge(replica->views[id], replica->published_tick);
}

void net_replica_publish(net_replica* replica) {
    BASE_ASSERT(replica->published + 1 == net_history_step_count(replica->history));
    merge_fresh(replica);
    replica->published++;
    replica->published_tick = net_replica_tick(replica);
    bool ok = net_blobs_begin(&replica->blobs, net_replica_tick(replica));
    uint32_t count;
    const net_history_event* events = net_history_events(replica->history, &count);
    for (uint32_t i = 0; i < count && ok && replica->view_count > 0; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        if (events[i].kind == NET_HISTORY_WENT)
            tell_went(replica, index);
        else if (events[i].kind == NET_HISTORY_CAME)
            ok = tell_came(replica, index);
    }
    tell_changed(replica, events, count);
    for (uint32_t id = 0; id < replica->view_capacity; id++) {
        net_view* view = replica->views[id];
        if (!view || view->is_broken || !net_scopes_is_due(replica->scopes, view->client)) continue;
        if (!net_replica_ask(replica, view)) break_view(view);
    }
    if (!ok) break_all(replica);
}
