// SPDX-License-Identifier: MIT
// Selecting: which slots go first when not all that waits fits.
//
// Each entity is sent within an interval of 1, 2, 4 ... 64 ticks: the more it weighs, the shorter,
// and so long that those which are due should fit. An entity is due at its phase, which its index
// gives, or when its last packet is an interval ago. So clients send an entity in the same ticks,
// against the same bases, and share its encoded rows. What room is left goes to those which would
// be due with half of the interval, then to others.
//
// There is no sorting: recent packets, bits of weights and bits of phases are sets, so 64 slots
// that are equally urgent are found and counted together. Slots fall into levels: what is due,
// above it what is late, by lateness, twice as much for a slot that changed again while it waits. A
// slot that waited NET_REPL_STATE_OVERDUE_TICKS is in levels above all, by its age: from then on
// only older slots go before it. So the wait is bounded by these ticks plus the time to send all
// that waits.
//
// When more than FAR_SLOTS wait, a packet has room for few of them, and their ages are not looked
// at. They go by phase alone, 64 indices with the same one: those first that are due with the
// longest interval, then those with half of it, until the packet is full. Their rows are
// neighbours, so gaps are short, and 64 slots cost as much as one. Overdue ones are looked for at
// their turn, every 16 ticks.
//
// Creates and destroys (lifecycle records) get a quarter of the bits when they need it, three
// quarters when they are not less urgent.
#include "base/assert.h"
#include "replicate/repl_state.h"

#include <string.h>

enum {
    BACKS_MAX = 32,                                // packets that show the age of a slot
    SLACK_BITS = 64 * 16,                          // collected beyond what should fit
    SLACK_SHARE = 32,                              // and one part of this many
    URGENCIES = 1 << NET_REPL_STATE_WEIGHT_PLANES, // powers of two that weights are
    AGES = 4 * (NET_REPL_STATE_PHASE_PLANES + 1),  // four levels per doubling of an age
    AGAIN_LEVELS = 4,
    FAR_SLOTS = 1024,   // more of them are too many to look at one by one
    OVERDUE_PHASES = 4, // then overdue ones are looked for every 1 << this many ticks
    HALF_DUE = 4 * URGENCIES + AGES,
    DUE,
    LATE,
    OVERDUE = LATE + AGES + AGAIN_LEVELS,
    LEVELS = OVERDUE + AGES,
};

#define TURN UINT32_C(0x9E3779B1) // multiples of it are spread evenly

_Static_assert(NET_REPL_STATE_OVERDUE_TICKS == 1 << NET_REPL_STATE_PHASE_PLANES, "the longest");

typedef struct collector {
    const net_repl_state* repl;
    net_snapshot_writer* writer;
    const uint64_t* held;
    bool is_lifecycle;
    bool is_far; // by phase alone
    uint32_t now;
    uint32_t first; // slot where a collection begins
    uint32_t all;   // slots that wait
    uint32_t urgencies[URGENCIES];
    uint32_t interval; // of what weighs 1, as a power of two
    uint32_t count;    // of sets of equally urgent slots
    uint32_t counts[LEVELS];
} collector;

// floor(4 * log2(value)), value >= 1
static inline uint32_t log2_quarters(uint32_t value) {
    float as_float = (float)value;
    uint32_t bits;
    memcpy(&bits, &as_float, sizeof bits);
    return (bits >> 21) - (127u << 2);
}

static void set_planes(net_repl_state* repl, uint32_t slot, uint32_t first, uint32_t count,
                       uint32_t value) {
    uint64_t* word = &net_set(repl, (net_repl_set)first)[slot >> 6];
    uint64_t others = ~(UINT64_C(1) << (slot & 63));
    for (uint32_t i = 0; i < count; i++, word += repl->word_count, value >>= 1)
        *word = (*word & others) | (uint64_t)(value & 1) << (slot & 63);
}

void net_repl_state_set_weight(net_repl_state* repl, uint32_t slot, uint32_t weight) {
    set_planes(repl, slot, NET_SET_WEIGHT, NET_REPL_STATE_WEIGHT_PLANES,
               log2_quarters(weight ? weight : 1) / 4);
}

void net_repl_state_set_phase(net_repl_state* repl, uint32_t slot, uint32_t index) {
    set_planes(repl, slot, NET_SET_PHASE, 2 * NET_REPL_STATE_PHASE_PLANES, index);
}

// Waiting slots of a word: creates and destroys, or updates.
static uint64_t waiting(const collector* c, uint32_t w) {
    uint64_t live = net_set(c->repl, NET_SET_LIVE)[w];
    return net_set(c->repl, NET_SET_PENDING)[w] & ~c->held[w] & (c->is_lifecycle ? ~live : live);
}

// Of slots of a word: those with the urgency of the lowest one.
static inline uint64_t find_alike(const net_repl_state* repl, uint32_t w, uint64_t of,
                                  uint32_t* urgency) {
    uint32_t shift = base_bit_lowest(of);
    *urgency = 0;
    for (uint32_t i = 0; i < NET_REPL_STATE_WEIGHT_PLANES; i++) {
        uint64_t plane = net_set(repl, (net_repl_set)(NET_SET_WEIGHT + i))[w];
        uint64_t bit = plane >> shift & 1;
        of &= plane ^ (bit - 1);
        *urgency |= (uint32_t)bit << i;
    }
    return of;
}

static inline void add_candidate(collector* c, uint32_t w, uint64_t slots, uint32_t level) {
    if (!slots) return;
    c->writer->alike[c->count++] = (net_alike){slots, w, level};
    c->counts[level] += net_word_count(slots);
}

// The interval of an urgency, as a power of two.
static inline uint32_t interval_of(const collector* c, uint32_t urgency) {
    uint32_t interval = c->interval > urgency ? c->interval - urgency : 0;
    return interval < NET_REPL_STATE_PHASE_PLANES ? interval : NET_REPL_STATE_PHASE_PLANES;
}

// The age of what a packet carried; 0: too old to count.
static inline uint32_t packet_age(const collector* c, uint32_t back) {
    uint32_t age = c->now - net_repl_packet_tick(c->repl, back);
    return age >= NET_REPL_STATE_OVERDUE_TICKS ? 0 : age ? age : 1;
}

// Packets that show the age of a slot.
static inline uint32_t backs_of(const collector* c) {
    uint32_t backs = net_repl_state_backs(c->repl);
    return backs < BACKS_MAX ? backs : BACKS_MAX;
}

static inline uint32_t overdue_level(uint32_t wait) {
    uint32_t level = OVERDUE + log2_quarters(wait / NET_REPL_STATE_OVERDUE_TICKS);
    return level < LEVELS ? level : LEVELS - 1;
}

// phases[i]: slots of the word that are due now with intervals of 1 << i ticks.
static void add_aged(collector* c, uint32_t w, uint64_t slots, uint32_t urgency, uint32_t age,
                     const uint64_t* phases) {
    uint32_t interval = interval_of(c, urgency);
    if (!c->is_lifecycle && age >> interval) {
        uint64_t again = slots & net_set(c->repl, NET_SET_AGAIN)[w];
        uint32_t level = LATE + log2_quarters(age >> interval);
        add_candidate(c, w, again, level + AGAIN_LEVELS);
        add_candidate(c, w, slots & ~again, level);
        return;
    }
    if (!c->is_lifecycle) {
        add_candidate(c, w, slots & phases[interval], DUE);
        slots &= ~phases[interval];
        add_candidate(c, w, slots & phases[interval - 1], HALF_DUE);
        slots &= ~phases[interval - 1];
    }
    add_candidate(c, w, slots, 4 * urgency + log2_quarters(age));
}

// Sort slots of a word: by age as the recent packets show it, the rest one by one.
static void split_word(collector* c, uint32_t w, uint64_t left, const uint64_t* phases) {
    const net_repl_state* repl = c->repl;
    uint32_t backs = backs_of(c), urgency;
    for (uint32_t back = 1; back <= backs && left; back++) {
        uint64_t of = left & net_repl_carried(repl, back)[w];
        if (!of) continue;
        uint32_t age = packet_age(c, back);
        if (age == 0) break;
        left &= ~of;
        for (uint64_t alike; of; of &= ~alike) {
            alike = find_alike(repl, w, of, &urgency);
            add_aged(c, w, alike, urgency, age, phases);
        }
    }
    for (; left; left &= left - 1) {
        uint64_t slot = left & (0 - left);
        uint32_t wait = c->now - repl->since[w * 64 + base_bit_lowest(left)];
        if (wait >= NET_REPL_STATE_OVERDUE_TICKS) {
            add_candidate(c, w, slot, overdue_level(wait));
            continue;
        }
        (void)find_alike(repl, w, left, &urgency);
        add_aged(c, w, slot, urgency, wait + 1, phases);
    }
}

// The same by phase alone: a slot is the more urgent, the longer the interval with which it is due.
static void add_phases(collector* c, uint32_t w, uint64_t left, const uint64_t* phases) {
    const uint32_t* since = &c->repl->since[(size_t)w * 64];
    for (uint64_t due = left & phases[OVERDUE_PHASES]; due; due &= due - 1) {
        uint32_t wait = c->now - since[base_bit_lowest(due)];
        if (wait < NET_REPL_STATE_OVERDUE_TICKS) continue;
        left &= ~(due & (0 - due));
        add_candidate(c, w, due & (0 - due), overdue_level(wait));
    }
    uint64_t alike;
    for (uint32_t urgency; left; left &= ~alike) {
        alike = find_alike(c->repl, w, left, &urgency);
        uint64_t slots = alike;
        for (uint32_t i = NET_REPL_STATE_PHASE_PLANES + 1; i-- > 0 && slots;) {
            add_candidate(c, w, slots & phases[i], urgency + i);
            slots &= ~phases[i];
        }
    }
}

// Collect what waits in a word.
static void collect_word(collector* c, uint32_t w, uint64_t left) {
    uint64_t phases[NET_REPL_STATE_PHASE_PLANES + 1] = {UINT64_MAX};
    uint32_t first = c->is_far ? NET_SET_BLOCK_PHASE : NET_SET_PHASE;
    for (uint32_t i = 0; i < NET_REPL_STATE_PHASE_PLANES; i++)
        phases[i + 1] = phases[i] & (net_set(c->repl, (net_repl_set)(first + i))[w] ^
                                     ((uint64_t)(c->now >> i & 1) - 1));
    if (c->is_far)
        add_phases(c, w, left, phases);
    else
        split_word(c, w, left, phases);
}

// Count what waits by urgency. @return the mean weight.
static uint64_t count_urgencies(collector* c) {
    uint64_t sum = 0, alike;
    uint32_t urgency;
    c->all = 0;
    memset(c->urgencies, 0, sizeof c->urgencies);
    for (uint32_t w = 0; w < net_repl_state_words(c->repl); w++) {
        for (uint64_t left = waiting(c, w); left; left &= ~alike) {
            alike = find_alike(c->repl, w, left, &urgency);
            uint32_t count = net_word_count(alike);
            c->urgencies[urgency] += count;
            c->all += count;
            sum += (uint64_t)count << urgency;
        }
    }
    return c->all ? sum / c->all : 0;
}

// The shortest interval with which what is due in a tick should fit.
static void find_interval(collector* c, uint64_t need, uint64_t each) {
    for (c->interval = 0; c->interval < URGENCIES + NET_REPL_STATE_PHASE_PLANES; c->interval++) {
        uint64_t due = 0; // in 1/64
        for (uint32_t i = 0; i < URGENCIES; i++) {
            uint32_t interval = c->interval > i ? c->interval - i : 0;
            due += (uint64_t)c->urgencies[i] << 6 >> (interval < 6 ? interval : 6);
        }
        if (due * each <= need << 6) break;
    }
}

// Slots of a word, of those that are collected together: the first word is looked at twice.
static uint64_t collected(const collector* c, uint32_t w, bool is_end) {
    uint64_t behind = UINT64_MAX << (c->first & 63);
    return waiting(c, w) & (w != c->first >> 6 ? UINT64_MAX : is_end ? ~behind : behind);
}

static void collect_words(collector* c) {
    uint32_t words = net_repl_state_words(c->repl);
    memset(c->counts, 0, sizeof c->counts);
    c->count = 0;
    for (uint32_t i = 0, w = c->first >> 6; i <= words; i++) {
        uint64_t left = collected(c, w, i == words);
        if (left) collect_word(c, w, left);
        if (++w == words) w = 0;
    }
}

static inline uint32_t list_bits(uint32_t* into, uint32_t at, uint32_t w, uint64_t bits) {
    for (; bits; bits &= bits - 1)
        into[at++] = w * 64 + base_bit_lowest(bits);
    return at;
}

// Collect the slots of the highest levels that make `need` at `each` per slot, in order. Another
// slot is the first one in each tick. @return how many they are.
static uint32_t collect(collector* c, uint64_t need, uint64_t each, uint32_t* into) {
    uint32_t lowest = LEVELS, places[LEVELS], sum = 0;
    if (c->all == 0) return 0;
    c->is_far = !c->is_lifecycle && c->all > FAR_SLOTS;
    collect_words(c);
    while (sum < c->all && sum * each < need) {
        places[--lowest] = sum;
        sum += c->counts[lowest];
    }
    uint32_t limit = sum > need / each + 1 ? (uint32_t)(need / each) + 1 : sum;
    for (uint32_t i = 0; i < c->count; i++) {
        const net_alike* alike = &c->writer->alike[i];
        uint32_t* at = &places[alike->level];
        if (alike->level < lowest || *at >= limit) continue;
        *at = list_bits(into, *at, alike->word, alike->slots);
    }
    return limit;
}

// Move overdue updates, which begin a list after `count` others, before these. In every other
// tick, so that neither of them starve.
static void move_overdue(const collector* c, uint32_t* ranked, uint32_t count, uint32_t found) {
    uint32_t overdue = 0;
    for (uint32_t level = OVERDUE; level < LEVELS && found > 0; level++)
        overdue += c->counts[level];
    if (overdue > found) overdue = found;
    uint32_t* scratch = ranked + c->repl->pending_count;
    memcpy(scratch, ranked, count * sizeof *ranked);
    memmove(ranked, ranked + count, overdue * sizeof *ranked);
    memcpy(ranked + overdue, scratch, count * sizeof *ranked);
}

bool net_repl_state_order(net_repl_state* repl, const uint64_t* held, uint64_t bits) {
    net_snapshot_writer* writer = &repl->replicator->lanes[repl->lane].writer;
    uint32_t all = repl->pending_count;
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->ranked, writer->ranked_capacity, 2 * all) ||
        !BASE_ARRAY_RESERVE(writer->allocator, writer->alike, writer->alike_capacity, all))
        return false;
    uint64_t need = bits * 16 + bits * 16 / SLACK_SHARE + SLACK_BITS;
    collector c = {.repl = repl,
                   .writer = writer,
                   .held = held,
                   .now = (uint32_t)net_replicator_now(repl->replicator)};
    c.first = (uint32_t)((uint64_t)(c.now * TURN) * repl->slot_end >> 32);
    collector lifecycle = c;
    lifecycle.is_lifecycle = true;
    uint64_t weight = count_urgencies(&c), updates = (uint64_t)c.all * repl->update_bits;
    uint64_t share = 2 * count_urgencies(&lifecycle) < weight ? need / 4 : need / 4 * 3;
    if (updates < need - share) share = need - updates;
    // Destroys are short. Counting with them makes a list of creates too long, never too short.
    const uint32_t destroy_bits = 16 * NET_REPL_STATE_DESTROY_BITS;
    uint64_t each = repl->create_bits < destroy_bits ? repl->create_bits : destroy_bits;
    uint32_t found = collect(&lifecycle, share, each, writer->ranked), count = 0;
    uint64_t spent = 0;
    for (; count < found && spent < share; count++)
        spent += net_set_has(repl, NET_SET_GOING, writer->ranked[count]) ? destroy_bits
                                                                         : repl->create_bits;
    find_interval(&c, need - spent, repl->update_bits);
    found = collect(&c, need - spent, repl->update_bits, writer->ranked + count);
    writer->ranked_count = count + found;
    if (c.now & 1) move_overdue(&c, writer->ranked, count, found);
    return true;
}
