// SPDX-License-Identifier: MIT
// The replication state of one client: creating and destroying it, its packets, and questions.
// README.md tells how the parts work together.
#include "replicate/repl_state.h"

#include "core/fault.h"

#include "base/assert.h"

#include <string.h>

enum {
    TYPICAL_CREATE_BITS = 160 * 16, // before anything was measured; 1/16 bits
    TYPICAL_UPDATE_BITS = 64 * 16,
    SAMPLE_SLOTS_MAX = 256, // slots looked at for one probe
};

net_repl_state* net_repl_state_create(net_replicator* replicator, uint32_t client) {
    net_repl_state* made = base_owner_create(replicator->owner.from, sizeof *made);
    made->replicator = replicator;
    made->client = client;
    made->published = replicator->published;
    made->window = NET_REPL_STATE_WINDOW_MIN;
    made->create_bits = TYPICAL_CREATE_BITS;
    made->update_bits = TYPICAL_UPDATE_BITS;
    net_replicator_add_client(replicator, made);
    net_replicator_update_scope(replicator, made);
    return made;
}

void net_repl_state_abandon(net_repl_state* repl) {
    repl->is_abandoned = true;
    repl->watch = (net_repl_state_watch){.context = NULL};
}

void net_repl_state_destroy(net_repl_state* repl) {
    if (!repl) return;
    net_repl_state_abandon(repl);
    net_replicator_remove_client(repl->replicator, repl);
    base_owner_destroy(repl);
}

void net_repl_state_use_solo(net_repl_state* repl) {
    const net_replicator* replicator = repl->replicator;
    BASE_ASSERT(replicator->solo && !repl->solo && repl->packet_count == 0);
    repl->solo = replicator->solo->sender_create(&repl->owner.allocator);
}

void net_repl_state_set_lane(net_repl_state* repl, uint32_t lane) {
    BASE_ASSERT(lane < repl->replicator->lane_count);
    repl->lane = lane;
}

bool net_repl_state_has_pending(const net_repl_state* repl) {
    if (repl->pending_count == 0) return false;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++)
        if (pending[w] && pending[w] & ~net_repl_state_created(repl, w, pending[w])) return true;
    return false;
}

// ---- packets ----

// What became of packets. A state knows of each of its newest packets (the window) the set of slots
// that it carried. Rules:
//
// 1. Newest wins: a lost packet makes a slot wait again only when no newer packet carried it. So
// loss never multiplies traffic.
// 2. An acknowledgement settles a slot when no newer packet carried it and no change waits.
// 3. What was sent before an epoch of a slot does not count: its bits were cleared.
//
// A packet that leaves the window is folded into `bases`: of the slots whose newest acknowledged
// packet it is, its tick is the base from then on. The window doubles while packets are in flight
// for longer than half of it; and up to the oldest packet that may be a base, when bases of most
// records have just left it: as lists of packets, and with second bases, they are a third shorter.

enum { WORD_BITS = 64, COUNTER_BITS = 6 };

_Static_assert(NET_REPL_STATE_FLYING_MAX == (1 << COUNTER_BITS) - 1, "all counters full");

// How many packets back `seq` is; 0: not known.
static uint32_t find_packet(const net_repl_state* repl, uint16_t seq) {
    uint32_t back = (uint16_t)(repl->seq_next - seq);
    bool is_known = back >= 1 && back <= NET_REPL_STATE_PACKETS && back <= repl->packet_count;
    return is_known ? back : 0;
}

static void set_state(net_repl_state* repl, uint32_t back, net_packet_state state) {
    uint8_t* at = &repl->states[(uint16_t)(repl->seq_next - back) & (NET_REPL_STATE_PACKETS - 1)];
    if (*at == NET_PACKET_FLYING) repl->flying--;
    *at = (uint8_t)state;
}

// Slots of a word that packets newer than `back` carried. Packets of the same tick hold the same
// rows: they do not count.
static uint64_t carried_later(const net_repl_state* repl, uint32_t back, uint32_t w) {
    uint32_t tick = net_repl_packet_tick(repl, back);
    uint64_t later = 0;
    for (uint32_t i = back - 1; i >= 1; i--)
        if (net_repl_packet_tick(repl, i) != tick) later |= net_repl_carried(repl, i)[w];
    return later;
}

// ---- acknowledged ----

static void free_slots(net_repl_state* repl, uint32_t w, uint64_t gone) {
    for (; gone; gone &= gone - 1)
        net_repl_state_free_slot(repl, w * WORD_BITS + base_bit_lowest(gone));
}

static void take_word(net_repl_state* repl, uint32_t back, uint32_t w, uint64_t got) {
    net_set(repl, NET_SET_RECENT)[w] |= got;
    uint64_t* pending = &net_set(repl, NET_SET_PENDING)[w];
    uint64_t* repeat = &net_set(repl, NET_SET_REPEAT)[w];
    uint64_t gone = got & net_set(repl, NET_SET_GOING)[w];
    got &= ~gone;
    net_set(repl, NET_SET_LIVE)[w] |= got;
    uint64_t newest = got & ~carried_later(repl, back, w);
    uint64_t late = newest & *repeat; // declared lost, but it came
    *repeat &= ~late;
    *pending &= ~late;
    repl->pending_count -= net_word_count(late);
    net_set(repl, NET_SET_UNSETTLED)[w] &= ~(newest & ~*pending);
    if (gone) free_slots(repl, w, gone);
}

bool net_repl_state_acked(net_repl_state* repl, uint16_t seq) {
    uint32_t back = find_packet(repl, seq);
    if (!back) return false;
    net_packet_state state = net_repl_packet_state(repl, back);
    if (state == NET_PACKET_ACKED) return true;
    if (state == NET_PACKET_LOST) repl->counters.packets_lost--;
    set_state(repl, back, NET_PACKET_ACKED);
    repl->round_ticks = net_repl_state_now(repl) - net_repl_packet_tick(repl, back);
    if (back <= WORD_BITS) repl->recent_acked |= UINT64_C(1) << (back - 1);
    if (net_fault_is_planted(NET_FAULT_STALE_ACK)) repl->recent_acked |= 1;
    if (back > repl->backs) return true;
    const uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++)
        if (carried[w]) take_word(repl, back, w, carried[w]);
    return true;
}

// ---- lost ----

static void lose_word(net_repl_state* repl, uint32_t back, uint32_t w, uint64_t lost) {
    uint64_t newest = lost & ~carried_later(repl, back, w);
    // Of packets of one tick it is enough that one came.
    uint32_t tick = net_repl_packet_tick(repl, back);
    for (uint32_t i = 1; i <= repl->backs; i++)
        if (net_repl_packet_tick(repl, i) == tick &&
            net_repl_packet_state(repl, i) == NET_PACKET_ACKED)
            newest &= ~net_repl_carried(repl, i)[w];
    if (net_fault_is_planted(NET_FAULT_STALE_RESEND)) newest = lost;
    if (net_fault_is_planted(NET_FAULT_GHOST)) {
        uint64_t gone = newest & net_set(repl, NET_SET_GOING)[w];
        newest &= ~gone;
        free_slots(repl, w, gone);
    }
    newest &= ~net_set(repl, NET_SET_PENDING)[w];
    net_set(repl, NET_SET_REPEAT)[w] |= newest;
    for (; newest; newest &= newest - 1)
        net_repl_state_wait(repl, w * WORD_BITS + base_bit_lowest(newest));
}

bool net_repl_state_lost(net_repl_state* repl, uint16_t seq) {
    uint32_t back = find_packet(repl, seq);
    if (!back) return false;
    if (net_repl_packet_state(repl, back) != NET_PACKET_FLYING) return true;
    set_state(repl, back, NET_PACKET_LOST);
    repl->counters.packets_lost++;
    if (net_fault_is_planted(NET_FAULT_NO_REPEAT)) return true;
    BASE_ASSERT(back <= repl->backs); // the window holds all that fly
    const uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++)
        if (carried[w]) lose_word(repl, back, w, carried[w]);
    return true;
}

// ---- the window ----

// Slots that a packet carried in vain: their bases are older.
static void add_unheard(net_repl_state* repl, uint32_t w, uint64_t left) {
    uint64_t* stale = &net_set(repl, NET_SET_STALE)[w];
    for (uint64_t bits = left; bits; bits &= bits - 1) {
        uint8_t* unheard = &repl->unheard[w * WORD_BITS + base_bit_lowest(bits)];
        if (!(*stale & bits & (0 - bits))) *unheard = 0;
        if (*unheard <= NET_REPL_STATE_BACK_MAX) ++*unheard;
    }
    *stale |= left;
}

// The oldest packet leaves the window.
static void fold(net_repl_state* repl, uint32_t back) {
    uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl), tick = net_repl_packet_tick(repl, back);
    bool is_acked = net_repl_packet_state(repl, back) == NET_PACKET_ACKED;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = carried[w];
        for (uint32_t i = back - 1; i >= 1 && left; i--)
            if (net_repl_packet_state(repl, i) == NET_PACKET_ACKED)
                left &= ~net_repl_carried(repl, i)[w];
        if (is_acked) net_set(repl, NET_SET_RECENT)[w] &= ~left;
        left &= net_set(repl, NET_SET_LIVE)[w];
        if (!left) continue;
        if (!is_acked) {
            add_unheard(repl, w, left);
            continue;
        }
        net_set(repl, NET_SET_BASED)[w] |= left;
        net_set(repl, NET_SET_STALE)[w] &= ~left;
        for (; left; left &= left - 1)
            repl->bases[w * WORD_BITS + base_bit_lowest(left)] = tick;
    }
}

void net_repl_state_begin_packet(net_repl_state* repl) {
    if (repl->narrow >= NET_REPL_STATE_NARROW_PACKETS && repl->window <= NET_REPL_STATE_BACK_MAX) {
        repl->narrow = 0;
        net_repl_state_widen(repl);
    }
    while (repl->window < NET_REPL_STATE_PACKETS && repl->packet_count >= repl->window / 2 &&
           net_repl_packet_state(repl, repl->window / 2) == NET_PACKET_FLYING)
        net_repl_state_widen(repl);
    if (repl->backs < repl->window) return;
    uint32_t back = repl->window;
    if (net_repl_packet_state(repl, back) == NET_PACKET_FLYING)
        (void)net_repl_state_lost(repl, (uint16_t)(repl->seq_next - back));
    fold(repl, back);
    if (repl->word_count == 0) return; // the client never had an entity
    memset(net_repl_carried(repl, back), 0, repl->word_count * sizeof(uint64_t));
    memset(net_repl_listed(repl, back), 0, repl->word_count * sizeof(uint64_t));
}

void net_repl_state_end_packet(net_repl_state* repl, const uint64_t* sent) {
    uint16_t seq = repl->seq_next++;
    uint32_t at = seq & (NET_REPL_STATE_PACKETS - 1);
    repl->packet_count++;
    repl->backs += repl->backs < repl->window;
    repl->ticks[at] = net_repl_state_now(repl);
    repl->states[at] = NET_PACKET_FLYING;
    repl->flying++;
    repl->recent_acked <<= 1;
    uint64_t *carried = net_repl_carried(repl, 1), *listed = net_repl_listed(repl, 1);
    uint64_t *pending = net_set(repl, NET_SET_PENDING), *repeat = net_set(repl, NET_SET_REPEAT);
    for (uint32_t w = 0; w < net_repl_state_words(repl) && sent; w++) {
        carried[w] = sent[w];
        listed[w] = sent[w] & ~net_set(repl, NET_SET_GOING)[w];
        net_set(repl, NET_SET_KNOWN)[w] |= sent[w];
        net_set(repl, NET_SET_RESYNC)[w] &= ~sent[w];
        repl->pending_count -= net_word_count(pending[w] & sent[w]);
        repl->counters.records_repeated += net_word_count(repeat[w] & sent[w]);
        pending[w] &= ~sent[w];
        repeat[w] &= ~sent[w];
        net_set(repl, NET_SET_AGAIN)[w] &= ~sent[w];
    }
}

uint64_t net_repl_state_created(const net_repl_state* repl, uint32_t w, uint64_t waiting) {
    waiting &= ~net_set(repl, NET_SET_LIVE)[w] & ~net_set(repl, NET_SET_GOING)[w];
    if (!waiting) return 0;
    uint64_t flying = 0, old = ~net_set(repl, NET_SET_YOUNG)[w];
    uint32_t backs = repl->backs, now = net_repl_state_now(repl);
    uint32_t ticks = repl->round_ticks + 1;
    if (ticks < NET_REPL_STATE_CREATE_TICKS) ticks = NET_REPL_STATE_CREATE_TICKS;
    for (uint32_t back = 1; back <= backs && waiting; back++) {
        uint32_t age = now - net_repl_packet_tick(repl, back);
        if (age >= ticks) break;
        if (net_repl_packet_state(repl, back) == NET_PACKET_FLYING)
            flying |= net_repl_carried(repl, back)[w] &
                      (age < NET_REPL_STATE_YOUNG_CREATE_TICKS ? UINT64_MAX : old);
    }
    // Entities that travel together are sent together, whatever is in flight.
    for (uint64_t bits = repl->group_count > 0 ? waiting & flying : 0; bits; bits &= bits - 1)
        if (repl->members[w * WORD_BITS + base_bit_lowest(bits)].group)
            flying &= ~(bits & (0 - bits));
    return waiting & flying;
}

// Counters of six bits for 64 slots at once; a full one stays full.
void net_repl_state_mark_full(const net_repl_state* repl, uint64_t* held) {
    if (repl->flying < NET_REPL_STATE_FLYING_MAX) return;
    uint32_t backs = repl->backs, words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t planes[COUNTER_BITS] = {0}, full = 0;
        for (uint32_t back = 1; back <= backs; back++) {
            if (net_repl_packet_state(repl, back) != NET_PACKET_FLYING) continue;
            uint64_t carry = net_repl_carried(repl, back)[w] & ~full;
            for (uint32_t i = 0; i < COUNTER_BITS; i++) {
                uint64_t both = planes[i] & carry;
                planes[i] ^= carry;
                carry = both;
            }
            full = UINT64_MAX;
            for (uint32_t i = 0; i < COUNTER_BITS; i++)
                full &= planes[i];
        }
        held[w] |= full;
    }
}

uint32_t net_repl_state_find_base(const net_repl_state* repl, uint32_t slot) {
    uint32_t backs = repl->backs, now = net_repl_state_now(repl);
    for (uint32_t back = 1; back <= backs; back++)
        if (net_repl_packet_state(repl, back) == NET_PACKET_ACKED &&
            net_repl_packet_tick(repl, back) != now &&
            net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1)
            return back;
    return 0;
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

void net_repl_state_await(net_repl_state* repl) {
    const uint32_t words = net_repl_state_words(repl);
    BASE_ARRAY_RESERVE(&repl->owner.allocator, repl->awaited, repl->awaited_words, words);
    for (uint32_t w = 0; w < repl->awaited_words; w++)
        repl->awaited[w] = w < words ? uncreated(repl, w) : 0;
}

// A slot may get another entity meanwhile: then that one is awaited, too.
bool net_repl_state_is_awaiting(net_repl_state* repl) {
    uint64_t left = 0;
    for (uint32_t w = 0; w < repl->awaited_words && w < net_repl_state_words(repl); w++)
        left |= repl->awaited[w] &= uncreated(repl, w);
    return left != 0;
}

bool net_repl_state_is_settled(const net_repl_state* repl) {
    if (repl->replicator->published != repl->replicator->history->step_count) return false;
    if (repl->is_abandoned) return false;
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
    uint32_t backs = repl->backs;
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
    ecs_tick now = repl->replicator->history->tick;
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

void net_repl_state_list(const net_repl_state* repl, ecs_entity* entities) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < repl->slot_end; slot++)
        if (repl->members[slot].index != 0) entities[count++] = repl->handles[slot];
    BASE_ASSERT(count == repl->member_count);
}
