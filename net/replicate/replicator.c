// SPDX-License-Identifier: MIT
// The server's half of replication, without sessions: history, interest, replication states and
// what they share.
//
// A publish has two parts. The first marks what happened in the step: `touched` has a byte per
// index. It also lets clients begin what spawned in their sight. The second part is done for each
// client of a lane: it looks up its slots in `touched` (net_repl_state_pull), then its scope
// changes if its turn came. That is best done just before its packet is written, while what is
// known of the client is in the cache. Nothing knows which clients see an entity: a lookup per slot
// costs less than keeping such lists, and an idle world costs nothing.
//
// Clients are handled in the order of their numbers or places, never by address.
//
// Invariants: net_replicator_validate.
#include "replicate/replicator.h"

#include "core/fault.h"
#include "replicate/repl_state.h"

#include "base/assert.h"

#include <string.h>

#define ENTER_AHEAD 8u // entities that are prefetched

// ---- creating ----

static void init_lanes(net_replicator* replicator, const net_replicator_config* config) {
    uint32_t count = config->lanes ? config->lanes : 1;
    const base_allocator* own = &replicator->owner.allocator;
    replicator->lanes = base_allocate_zero(own, count * sizeof *replicator->lanes);
    replicator->lane_count = count;
    for (uint32_t i = 0; i < count; i++) {
        net_replicator_lane* lane = &replicator->lanes[i];
        net_snapshot_writer_init(&lane->writer, own, config->index_max);
        net_encoded_rows_init(&lane->encoded_rows, own, replicator->history, config->is_solo);
        if (config->solo) lane->solo_tapes = config->solo->tapes_create(own);
    }
}

// A history that others step is followed from its next step on.
static void take_history(net_replicator* replicator, const net_replicator_config* config) {
    replicator->history = config->history;
    replicator->has_own_history = !config->history;
    if (config->history) {
        replicator->published = config->history->step_count;
    } else {
        replicator->history =
            net_history_create(config->allocator, config->rows, config->index_max);
        replicator->history->workers = config->workers;
    }
}

net_replicator* net_replicator_create(const net_replicator_config* config) {
    BASE_ASSERT(config && config->rows);
    BASE_ASSERT(config->index_max >= 1 && config->index_max <= ECS_INDEX_MAX);
    net_replicator* made = base_owner_create(config->allocator, sizeof *made);
    made->rows = config->rows;
    made->interest = config->interest;
    made->tap = config->tap;
    made->tap_context = config->tap_context;
    made->solo = config->solo;
    made->index_max = config->index_max;
    base_bitset_init(&made->lives, &made->owner.allocator);
    base_bitset_init(&made->hidden, &made->owner.allocator);
    take_history(made, config);
    init_lanes(made, config);
    return made;
}

void net_replicator_destroy(net_replicator* replicator) {
    if (!replicator) return;
    BASE_ASSERT(replicator->repl_count == 0);
    if (replicator->has_own_history) base_owner_destroy(replicator->history);
    base_owner_destroy(replicator);
}

void net_replicator_step(net_replicator* replicator, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(replicator->has_own_history);
    BASE_ASSERT(replicator->published == replicator->history->step_count);
    net_history_step(replicator->history, world, tick);
    if (replicator->interest) net_interest_step(replicator->interest, replicator->history, tick);
}

// ---- clients and lanes ----

void net_replicator_add_client(net_replicator* replicator, net_repl_state* repl) {
    uint32_t id = 0;
    while (id < replicator->repl_capacity && replicator->repls[id])
        id++;
    const base_allocator* own = &replicator->owner.allocator;
    BASE_ARRAY_RESERVE(own, replicator->repls, replicator->repl_capacity, id + 1);
    base_table_reserve(&replicator->clients, own, replicator->repl_count + 1);
    BASE_ASSERT(base_table_find(&replicator->clients, repl->client) == BASE_TABLE_NONE);
    repl->id = id;
    replicator->repls[id] = repl;
    base_table_add(&replicator->clients, repl->client, id);
    replicator->repl_count++;
}

void net_replicator_remove_client(net_replicator* replicator, net_repl_state* repl) {
    BASE_ASSERT(replicator->repls[repl->id] == repl && replicator->repl_count > 0);
    replicator->repls[repl->id] = NULL;
    (void)base_table_remove(&replicator->clients, repl->client, repl->id);
    replicator->repl_count--;
}

static net_repl_state* find_repl(const net_replicator* replicator, uint32_t client) {
    uint32_t id = base_table_find(&replicator->clients, client);
    if (id == BASE_TABLE_NONE) return NULL;
    net_repl_state* repl = replicator->repls[id];
    return repl->is_abandoned ? NULL : repl;
}

// ---- what happened in the step ----

static void mark(net_replicator* replicator) {
    if (replicator->has_touched) memset(replicator->touched, 0, replicator->touched_capacity);
    if (replicator->has_lives) base_bitset_clear_all(&replicator->lives);
    if (replicator->has_hidden) base_bitset_clear_all(&replicator->hidden);
    replicator->has_touched = replicator->has_lives = replicator->has_hidden = false;
    uint32_t end = replicator->history->capacity;
    replicator->events = replicator->history->events;
    replicator->event_count = replicator->history->event_count;
    if (replicator->event_count == 0 || replicator->repl_count == 0) return;
    const base_allocator* own = &replicator->owner.allocator;
    BASE_ARRAY_RESERVE(own, replicator->touched, replicator->touched_capacity, end);
    BASE_ARRAY_RESERVE(own, replicator->hidden_classes, replicator->hidden_capacity, end);
    base_bitset_reserve(&replicator->lives, end);
    base_bitset_reserve(&replicator->hidden, end);
    for (uint32_t i = 0; i < replicator->event_count; i++) {
        const net_history_event* event = &replicator->events[i];
        uint32_t index = ecs_entity_index(event->handle);
        replicator->touched[index] = 1;
        if (event->kind != NET_HISTORY_CHANGED) {
            base_bitset_add(&replicator->lives, index);
            replicator->has_lives = true;
        } else if (!(event->classes & 1u << NET_CLASS_PUBLIC)) {
            // Every client sees public components; for others the slot's mask decides.
            base_bitset_add(&replicator->hidden, index);
            replicator->hidden_classes[index] = event->classes;
            replicator->has_hidden = true;
        }
    }
    replicator->has_touched = true;
}

static void enter_spawned(net_repl_state* repl, const net_interest_entity* scoped) {
    net_repl_state_enter(repl, scoped);
    uint32_t slot = net_repl_state_find_slot(repl, scoped->index);
    if (slot != UINT32_MAX) net_set_add(repl, NET_SET_ENTERED, slot);
}

// As a client without interest sees an entity: all of it.
static net_interest_entity whole_entity(uint32_t index) {
    return (net_interest_entity){.index = index, .classes = UINT16_MAX, .weight = 1};
}

// A new incarnation at an index: clients that see it begin it. Clients that saw the previous one
// and do not see this one end it in their pull.
static void add_spawned(net_replicator* replicator, uint32_t index) {
    const net_interest_entity whole = whole_entity(index);
    for (uint32_t id = 0; id < replicator->repl_capacity && !replicator->interest; id++)
        if (replicator->repls[id] && !replicator->repls[id]->is_abandoned)
            enter_spawned(replicator->repls[id], &whole);
    if (!replicator->interest) return;
    const uint32_t* clients;
    const net_interest_entity* entities;
    uint32_t count = net_interest_get_observers(replicator->interest, index, &clients, &entities);
    for (uint32_t i = 0; i < count; i++) {
        net_repl_state* repl = find_repl(replicator, clients[i]);
        if (repl) enter_spawned(repl, &entities[i]);
    }
}

void net_replicator_publish_begin(net_replicator* replicator) {
    const uint64_t steps = replicator->history->step_count;
    // Who begins behind other steps needs none of them.
    BASE_ASSERT(replicator->published + 1 == steps ||
                (!replicator->has_own_history && replicator->repl_count == 0));
    replicator->published = steps;
    mark(replicator);
    for (uint32_t i = 0; i < replicator->event_count && replicator->has_lives; i++) {
        if (replicator->events[i].kind == NET_HISTORY_SPAWNED)
            add_spawned(replicator, ecs_entity_index(replicator->events[i].handle));
    }
}

// ---- scopes ----

static void apply_answer(net_repl_state* repl, const net_interest_answer* answer) {
    for (uint32_t i = 0; i < answer->changed_count; i++)
        net_repl_state_change(repl, answer->changed[i], &answer->changed_to[i]);
    for (uint32_t i = 0; i < answer->leave_count; i++)
        net_repl_state_leave(repl, answer->leave[i]);
    // In the order of indices, but far from each other in the history.
    const net_history* history = repl->replicator->history;
    for (uint32_t i = 0; i < answer->enter_count; i++) {
        if (i + ENTER_AHEAD < answer->enter_count)
            net_history_warm(history, answer->enter[i + ENTER_AHEAD].index, 0, 0, 0, false);
        net_repl_state_enter(repl, &answer->enter[i]);
    }
}

void net_replicator_update_scope(net_replicator* replicator, net_repl_state* repl) {
    BASE_ASSERT(!repl->is_abandoned);
    if (!replicator->interest) {
        const net_history* history = repl->replicator->history;
        uint32_t end = history->capacity;
        for (uint32_t index = 1; index < end; index++) {
            const net_interest_entity whole = whole_entity(index);
            if (net_history_find(history, index)) net_repl_state_enter(repl, &whole);
        }
        return;
    }
    net_interest_answer answer;
    net_interest_query(replicator->interest, repl->lane, repl->client, repl->members,
                       repl->slot_end, &answer);
    if (answer.place != 0) repl->place = answer.place; // else it has no turn
    apply_answer(repl, &answer);
}

void net_replicator_publish_lane_begin(net_replicator* replicator, uint32_t number) {
    BASE_ASSERT(number < replicator->lane_count);
    net_replicator_lane* lane = &replicator->lanes[number];
    net_encoded_rows_begin(&lane->encoded_rows, replicator->history->tick);
    net_encoded_rows_ahead(&lane->encoded_rows, replicator->events, replicator->event_count);
    lane->is_idle = !replicator->has_touched &&
                    !(replicator->interest && net_interest_has_due(replicator->interest));
}

void net_repl_state_publish(net_repl_state* repl) {
    net_replicator* replicator = repl->replicator;
    const net_replicator_lane* lane = &replicator->lanes[repl->lane];
    if (lane->is_idle || repl->published == replicator->published) return;
    repl->published = replicator->published;
    if (repl->is_abandoned) return;
    net_repl_state_pull(repl);
    if (replicator->interest && net_interest_is_due(replicator->interest, repl->client))
        net_replicator_update_scope(replicator, repl);
}

void net_replicator_publish_lane_end(net_replicator* replicator, uint32_t number) {
    if (replicator->lanes[number].is_idle) return;
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        net_repl_state* repl = replicator->repls[id];
        if (repl && repl->lane == number) net_repl_state_publish(repl);
    }
}

void net_replicator_publish_lane(net_replicator* replicator, uint32_t number) {
    net_replicator_publish_lane_begin(replicator, number);
    net_replicator_publish_lane_end(replicator, number);
}

void net_replicator_publish(net_replicator* replicator) {
    net_replicator_publish_begin(replicator);
    for (uint32_t i = 0; i < replicator->lane_count; i++)
        net_replicator_publish_lane(replicator, i);
    if (NET_VALIDATE_ON) net_replicator_validate(replicator);
}

// The whole-structure check of the replicator: the sets of every client agree with each other, with
// its slots and with its packets. Called once per publish in BASE_VALIDATE builds, and by tests. An
// assertion here is our own fault.

static uint64_t word(const net_repl_state* repl, net_repl_set set, uint32_t w) {
    return net_set(repl, set)[w];
}

static void validate_sets(const net_repl_state* repl) {
    uint32_t pending_count = 0, words = net_repl_state_words(repl);
    BASE_ASSERT(words <= repl->word_count);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t used = word(repl, NET_SET_USED, w), live = word(repl, NET_SET_LIVE, w);
        uint64_t going = word(repl, NET_SET_GOING, w), pending = word(repl, NET_SET_PENDING, w);
        for (uint32_t i = 0; i < NET_SET_COUNT; i++)
            BASE_ASSERT((word(repl, (net_repl_set)i, w) & ~used) == 0);
        BASE_ASSERT((live & ~word(repl, NET_SET_KNOWN, w)) == 0 && (live & going) == 0);
        BASE_ASSERT((going & ~word(repl, NET_SET_KNOWN, w)) == 0);
        BASE_ASSERT((pending & ~word(repl, NET_SET_UNSETTLED, w)) == 0);
        BASE_ASSERT((word(repl, NET_SET_REPEAT, w) & ~pending) == 0);
        BASE_ASSERT((word(repl, NET_SET_RESYNC, w) & ~(pending & live)) == 0);
        BASE_ASSERT((word(repl, NET_SET_BASED, w) & ~live) == 0);
        BASE_ASSERT((word(repl, NET_SET_STALE, w) & ~live) == 0);
        pending_count += (uint32_t)__builtin_popcountll(pending);
    }
    BASE_ASSERT(pending_count == repl->pending_count);
}

static void validate_slots(const net_repl_state* repl) {
    uint32_t used = 0, members = 0, grouped = 0;
    for (uint32_t slot = 0; slot < repl->slot_end; slot++) {
        const net_interest_entity* member = &repl->members[slot];
        bool is_used = net_set_has(repl, NET_SET_USED, slot);
        BASE_ASSERT(is_used == (repl->handles[slot] != ECS_ENTITY_NONE));
        BASE_ASSERT((member->index != 0) == (is_used && !net_set_has(repl, NET_SET_GOING, slot)));
        BASE_ASSERT(is_used || member->group == 0);
        if (!is_used) continue;
        const uint32_t index = repl->indices[slot];
        used++;
        BASE_ASSERT(index == ecs_entity_index(repl->handles[slot]));
        BASE_ASSERT(net_repl_state_find_slot(repl, index) == slot);
        grouped += member->group != 0;
        if (member->index == 0) continue;
        members++;
        BASE_ASSERT(member->index == index);
    }
    BASE_ASSERT(used == repl->table_count && members == repl->member_count);
    BASE_ASSERT(grouped == repl->group_count);
    for (uint32_t i = 1; i < repl->group_count; i++)
        BASE_ASSERT(repl->groups[i - 1] < repl->groups[i]);
    for (uint32_t i = 0; i < repl->reclass_count; i++)
        BASE_ASSERT(net_set_has(repl, NET_SET_MIXED, repl->reclasses[i].slot));
}

static void validate_packets(const net_repl_state* repl) {
    uint32_t backs = repl->backs, flying = 0, words = net_repl_state_words(repl);
    BASE_ASSERT((repl->window & (repl->window - 1)) == 0 && repl->window <= NET_REPL_STATE_PACKETS);
    BASE_ASSERT(backs <= repl->window && backs <= repl->packet_count);
    for (uint32_t back = 1; back <= NET_REPL_STATE_PACKETS && back <= repl->packet_count; back++) {
        net_packet_state state = net_repl_packet_state(repl, back);
        flying += state == NET_PACKET_FLYING;
        BASE_ASSERT(state != NET_PACKET_FLYING || back <= backs);
        if (back <= 64)
            BASE_ASSERT((repl->recent_acked >> (back - 1) & 1) == (state == NET_PACKET_ACKED));
    }
    BASE_ASSERT(flying == repl->flying);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t acked = word(repl, NET_SET_BASED, w), recent = 0;
        for (uint32_t back = 1; back <= backs; back++) {
            uint64_t carried = net_repl_carried(repl, back)[w];
            BASE_ASSERT((carried & ~word(repl, NET_SET_USED, w)) == 0);
            BASE_ASSERT((carried & ~word(repl, NET_SET_KNOWN, w)) == 0);
            if (net_repl_packet_state(repl, back) == NET_PACKET_ACKED) recent |= carried;
        }
        BASE_ASSERT(recent == word(repl, NET_SET_RECENT, w));
        acked |= recent;
        // An acknowledged create makes a slot live, and only that.
        BASE_ASSERT((word(repl, NET_SET_LIVE, w) & ~acked) == 0);
    }
}

static void validate_kinds(const net_encoded_rows* rows) {
    uint64_t used = 1; // the stamp
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < NET_ENCODED_ROW_KINDS; i++) {
        const net_encoded_row_kind* kind = &rows->kinds[i];
        if (kind->wanted == 0) continue;
        kinds++;
        if (kind->cell == NET_ENCODED_ROW_CELL_NONE) continue;
        BASE_ASSERT(kind->cell <= rows->cell_count && !(used >> kind->cell & 1));
        used |= UINT64_C(1) << kind->cell;
    }
    BASE_ASSERT(kinds == rows->kind_count && used == UINT64_MAX >> (63 - rows->cell_count));
}

void net_replicator_validate(const net_replicator* replicator) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        const net_repl_state* repl = replicator->repls[id];
        if (!repl) continue;
        count++;
        BASE_ASSERT(repl->id == id && repl->replicator == replicator);
        BASE_ASSERT(base_table_find(&replicator->clients, repl->client) == id);
        if (repl->is_abandoned) continue;
        validate_sets(repl);
        validate_slots(repl);
        validate_packets(repl);
    }
    BASE_ASSERT(count == replicator->repl_count);
    for (uint32_t i = 0; i < replicator->lane_count; i++)
        validate_kinds(&replicator->lanes[i].encoded_rows);
}
