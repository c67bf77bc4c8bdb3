// SPDX-License-Identifier: MIT
// The whole-structure check of the replicator: the sets of every client agree with each other, with
// its slots and with its packets. Called once per publish in BASE_VALIDATE builds, and by tests. An
// assertion here is our own fault.
#include "replicate/replicator.h"

#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

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
        if (!is_used) continue;
        uint32_t index = ecs_entity_index(repl->handles[slot]);
        used++;
        BASE_ASSERT(net_repl_state_find_slot(repl, index) == slot);
        if (member->index == 0) continue;
        members++;
        grouped += member->group != 0;
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
    uint32_t backs = net_repl_state_backs(repl), flying = 0, words = net_repl_state_words(repl);
    BASE_ASSERT((repl->window & (repl->window - 1)) == 0 && repl->window <= NET_REPL_STATE_PACKETS);
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
    uint32_t kinds = 0, used = 0;
    for (uint32_t i = 0; i < NET_ENCODED_ROW_KINDS; i++) {
        const net_encoded_row_kind* kind = &rows->kinds[i];
        if (kind->wanted == 0) continue;
        kinds++;
        if (kind->cell == NET_ENCODED_ROW_CELL_NONE) continue;
        BASE_ASSERT(kind->cell < rows->cell_count && !(used >> kind->cell & 1));
        used |= 1u << kind->cell;
    }
    BASE_ASSERT(kinds == rows->kind_count && used == (1u << rows->cell_count) - 1);
}

void net_replicator_validate(const net_replicator* replicator) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < replicator->repl_capacity; id++) {
        const net_repl_state* repl = replicator->repls[id];
        if (!repl) continue;
        count++;
        BASE_ASSERT(repl->id == id && repl->replicator == replicator);
        BASE_ASSERT(base_table_find(&replicator->clients, repl->client) == id);
        if (repl->is_broken) continue; // memory ran out half way: it is only destroyed
        validate_sets(repl);
        validate_slots(repl);
        validate_packets(repl);
    }
    BASE_ASSERT(count == replicator->repl_count);
    for (uint32_t i = 0; i < replicator->lane_count; i++)
        validate_kinds(&replicator->lanes[i].encoded_rows);
}
