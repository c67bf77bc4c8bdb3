// SPDX-License-Identifier: MIT
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
// for longer than half of it.
#include "base/assert.h"
#include "core/fault.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum { WORD_BITS = 64, COUNTER_BITS = 6 };

_Static_assert(NET_REPL_STATE_FLYING_MAX == (1 << COUNTER_BITS) - 1, "all counters full");

static uint32_t now_of(const net_repl_state* repl) {
    return (uint32_t)net_replicator_now(repl->replicator);
}

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
    repl->counters.packets_acked++;
    repl->round_ticks = now_of(repl) - net_repl_packet_tick(repl, back);
    if (back <= WORD_BITS) repl->recent_acked |= UINT64_C(1) << (back - 1);
    if (net_fault_is_planted(NET_FAULT_STALE_ACK)) repl->recent_acked |= 1;
    if (back > net_repl_state_backs(repl)) return true;
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
    for (uint32_t i = 1; i <= net_repl_state_backs(repl); i++)
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
    BASE_ASSERT(back <= net_repl_state_backs(repl)); // the window holds all that fly
    const uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++)
        if (carried[w]) lose_word(repl, back, w, carried[w]);
    return true;
}

// ---- the window ----

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
            net_set(repl, NET_SET_STALE)[w] |= left;
            continue;
        }
        net_set(repl, NET_SET_BASED)[w] |= left;
        net_set(repl, NET_SET_STALE)[w] &= ~left;
        for (; left; left &= left - 1)
            repl->bases[w * WORD_BITS + base_bit_lowest(left)] = tick;
    }
}

bool net_repl_state_begin_packet(net_repl_state* repl) {
    while (repl->window < NET_REPL_STATE_PACKETS && repl->packet_count >= repl->window / 2 &&
           net_repl_packet_state(repl, repl->window / 2) == NET_PACKET_FLYING)
        if (!net_repl_state_widen(repl)) return false;
    if (repl->packet_count < repl->window) return true;
    uint32_t back = repl->window;
    if (net_repl_packet_state(repl, back) == NET_PACKET_FLYING)
        (void)net_repl_state_lost(repl, (uint16_t)(repl->seq_next - back));
    fold(repl, back);
    memset(net_repl_carried(repl, back), 0, repl->word_count * sizeof(uint64_t));
    memset(net_repl_listed(repl, back), 0, repl->word_count * sizeof(uint64_t));
    return true;
}

void net_repl_state_end_packet(net_repl_state* repl, const uint64_t* sent) {
    uint16_t seq = repl->seq_next++;
    uint32_t at = seq & (NET_REPL_STATE_PACKETS - 1);
    repl->packet_count++;
    repl->ticks[at] = now_of(repl);
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

// ---- questions ----

uint64_t net_repl_state_created(const net_repl_state* repl, uint32_t w, uint64_t waiting) {
    waiting &= ~net_set(repl, NET_SET_LIVE)[w] & ~net_set(repl, NET_SET_GOING)[w];
    if (!waiting) return 0;
    uint64_t flying = 0, old = ~net_set(repl, NET_SET_YOUNG)[w];
    uint32_t backs = net_repl_state_backs(repl), now = now_of(repl);
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
    uint32_t backs = net_repl_state_backs(repl), words = net_repl_state_words(repl);
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
    uint32_t backs = net_repl_state_backs(repl), now = now_of(repl);
    for (uint32_t back = 1; back <= backs; back++)
        if (net_repl_packet_state(repl, back) == NET_PACKET_ACKED &&
            net_repl_packet_tick(repl, back) != now &&
            net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1)
            return back;
    return 0;
}
