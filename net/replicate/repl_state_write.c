// SPDX-License-Identifier: MIT
// Writing a packet: which slots go into it, until the room is used.
//
// When all that waits should fit, it is composed as a whole, and mostly it fits. Otherwise the most
// urgent slots are composed, a little more than should fit by typical sizes; then their sizes are
// known, and those that fit are kept, in the order of urgency. A unit is sent or left out as a
// whole. The unit of a group contains all its members whose newest row the client may not have,
// waiting or not, so the client never holds them from two different ticks.
//
// Start with net_repl_state_write.
#include "base/assert.h"
#include "core/fault.h"
#include "replicate/repl_state.h"

#include <string.h>

// ---- selecting ----

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
    const uint64_t* held;
    bool is_lifecycle;
    bool is_far; // by phase alone
    uint32_t now;
    uint32_t first;                     // slot where a collection begins
    uint32_t all;                       // slots that wait
    uint64_t weight;                    // the mean
    uint32_t urgencies[URGENCIES], any; // any: a bit for each that has slots
    uint32_t interval;                  // of what weighs 1, as a power of two
    uint32_t collected;                 // interval of the collected sets + 1; 0: none yet
    net_alike* alike;                   // sets of equally urgent slots
    uint32_t count;
    uint32_t counts[LEVELS];
} collector;

// What waits for a packet.
typedef struct ranking {
    net_snapshot_writer* writer;
    collector updates, lifecycle;
} ranking;

// floor(4 * log2(value)), value >= 1
static inline uint32_t log2_quarters(uint32_t value) {
    float as_float = (float)value;
    uint32_t bits;
    memcpy(&bits, &as_float, sizeof bits);
    return (bits >> 21) - (127u << 2);
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
    c->alike[c->count++] = (net_alike){slots, w, level};
    c->counts[level] += net_word_count(slots);
}

static inline uint32_t overdue_level(uint32_t wait) {
    uint32_t level = OVERDUE + log2_quarters(wait / NET_REPL_STATE_OVERDUE_TICKS);
    return level < LEVELS ? level : LEVELS - 1;
}

// phases[i]: slots of the word that are due now with intervals of 1 << i ticks.
static void add_aged(collector* c, uint32_t w, uint64_t slots, uint32_t urgency, uint32_t age,
                     const uint64_t* phases) {
    // The interval of an urgency, as a power of two.
    uint32_t interval = c->interval > urgency ? c->interval - urgency : 0;
    if (interval > NET_REPL_STATE_PHASE_PLANES) interval = NET_REPL_STATE_PHASE_PLANES;
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

// Sort slots of a word: by age as the recent packets show it, the rest by how long they wait.
static void split_word(collector* c, uint32_t w, uint64_t left, const uint64_t* phases) {
    const net_repl_state* repl = c->repl;
    const uint32_t backs = repl->backs < BACKS_MAX ? repl->backs : BACKS_MAX;
    uint32_t urgency;
    const bool are_alike = find_alike(repl, w, left, &urgency) == left;
    for (uint32_t back = 1; back <= backs && left; back++) {
        uint64_t of = left & net_repl_carried(repl, back)[w];
        if (!of) continue;
        uint32_t age = c->now - net_repl_packet_tick(repl, back);
        if (age >= NET_REPL_STATE_OVERDUE_TICKS) break; // too old to count
        age += age == 0;
        left &= ~of;
        for (uint64_t alike = of; of; of &= ~alike) {
            if (!are_alike) alike = find_alike(repl, w, of, &urgency);
            add_aged(c, w, alike, urgency, age, phases);
        }
    }
    const uint16_t* since = &repl->since[(size_t)w * 64];
    while (left) {
        const uint32_t from = since[base_bit_lowest(left)], wait = (uint16_t)(c->now - from);
        uint64_t rest = left & (left - 1); // without those that follow and wait as long
        while (are_alike && rest && since[base_bit_lowest(rest)] == from)
            rest &= rest - 1;
        const uint64_t slots = left & ~rest;
        if (!are_alike) (void)find_alike(repl, w, left, &urgency);
        if (wait >= NET_REPL_STATE_OVERDUE_TICKS)
            add_candidate(c, w, slots, overdue_level(wait));
        else
            add_aged(c, w, slots, urgency, wait + 1, phases);
        left = rest;
    }
}

// The same by phase alone: a slot is the more urgent, the longer the interval with which it is due.
static void add_phases(collector* c, uint32_t w, uint64_t left, const uint64_t* phases) {
    const uint16_t* since = &c->repl->since[(size_t)w * 64];
    for (uint64_t due = left & phases[OVERDUE_PHASES]; due; due &= due - 1) {
        const uint32_t wait = (uint16_t)(c->now - since[base_bit_lowest(due)]);
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

// Count what waits by urgency.
static void count_urgencies(collector* c) {
    uint64_t sum = 0, alike;
    uint32_t urgency;
    for (uint32_t w = 0; w < net_repl_state_words(c->repl); w++) {
        for (uint64_t left = waiting(c, w); left; left &= ~alike) {
            alike = find_alike(c->repl, w, left, &urgency);
            uint32_t count = net_word_count(alike);
            c->urgencies[urgency] += count;
            c->any |= 1u << urgency;
            c->all += count;
            sum += (uint64_t)count << urgency;
        }
    }
    c->weight = c->all ? sum / c->all : 0;
}

// Find the shortest interval at which the records that are due in a tick should fit.
static void find_interval(collector* c, uint64_t need, uint64_t each) {
    for (c->interval = 0; c->interval < URGENCIES + NET_REPL_STATE_PHASE_PLANES; c->interval++) {
        uint64_t due = 0; // in 1/64
        for (uint32_t left = c->any; left; left &= left - 1) {
            uint32_t i = base_bit_lowest(left), interval = c->interval > i ? c->interval - i : 0;
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
    if (c->collected == c->interval + 1) return;
    c->collected = c->interval + 1;
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
        const net_alike* alike = &c->alike[i];
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

static void begin_ranking(ranking* self, const net_repl_state* repl, const uint64_t* held) {
    net_snapshot_writer* writer = &repl->replicator->lanes[repl->lane].writer;
    const uint32_t all = repl->pending_count;
    BASE_ARRAY_RESERVE(writer->allocator, writer->ranked, writer->ranked_capacity, 2 * all);
    BASE_ARRAY_RESERVE(writer->allocator, writer->alike, writer->alike_capacity, all);
    collector c = {.repl = repl, .held = held, .now = net_repl_state_now(repl)};
    c.first = (uint32_t)((uint64_t)(c.now * TURN) * repl->slot_end >> 32);
    self->writer = writer;
    self->lifecycle = self->updates = c;
    self->lifecycle.is_lifecycle = true;
    count_urgencies(&self->updates);
    count_urgencies(&self->lifecycle);
    self->updates.alike = writer->alike;
    self->lifecycle.alike = writer->alike + self->updates.all;
}

// List the slots, most urgent first: enough for `bits`, or all.
static void rank(ranking* self, uint64_t bits) {
    net_snapshot_writer* writer = self->writer;
    collector *c = &self->updates, *lifecycle = &self->lifecycle;
    const net_repl_state* repl = c->repl;
    uint64_t need = bits * 16 + bits * 16 / SLACK_SHARE + SLACK_BITS;
    uint64_t updates = (uint64_t)c->all * repl->update_bits;
    uint64_t share = 2 * lifecycle->weight < c->weight ? need / 4 : need / 4 * 3;
    if (updates < need - share) share = need - updates;
    // Destroys are short. Counting with them makes a list of creates too long, never too short.
    const uint32_t destroy_bits = 16 * NET_REPL_STATE_DESTROY_BITS;
    uint64_t each = repl->create_bits < destroy_bits ? repl->create_bits : destroy_bits;
    uint32_t found = collect(lifecycle, share, each, writer->ranked), count = 0;
    uint64_t spent = 0;
    for (; count < found && spent < share; count++)
        spent += net_set_has(repl, NET_SET_GOING, writer->ranked[count]) ? destroy_bits
                                                                         : repl->create_bits;
    find_interval(c, need - spent, repl->update_bits);
    found = collect(c, need - spent, repl->update_bits, writer->ranked + count);
    writer->ranked_count = count + found;
    if (c->now & 1) move_overdue(c, writer->ranked, count, found);
}

void net_repl_state_order(net_repl_state* repl, const uint64_t* held, uint64_t bits) {
    ranking all;
    begin_ranking(&all, repl, held);
    rank(&all, bits);
}

// ---- filling ----

enum {
    MISSES_MAX = 8, // units without room that are tried
    ROUNDS_MAX = 4, // attempts to use the room
    ROOM_LEFT_BITS = 96,
    AVERAGE_OVER = 4,
    RESTED_MIN = 32,   // records that are worth a wider window
    BITS_MIN = 4 * 16, // lower bound of typical sizes; 1/16 bits
};

#define UNIT_FIRST 0x80000000u // in writer.order: the slot begins a unit
#define STARVED_SLOTS UINT64_C(0x2020202020202020)

typedef struct filler {
    net_repl_state* repl;
    net_snapshot_writer* writer;
    uint64_t *held, *chosen;
    uint32_t words;
    ranking* ranking; // NULL: all that waits should fit
    bool is_split;    // groups may be split: one alone is too large for a packet
} filler;

// ---- what may be sent ----

void net_repl_state_find_held(const net_repl_state* repl, uint64_t* held) {
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        held[w] |= net_repl_state_created(repl, w, pending[w]);
        if (net_fault_is_planted(NET_FAULT_STARVE)) held[w] |= STARVED_SLOTS;
    }
}

static void find_held(filler* f) {
    net_repl_state* repl = f->repl;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    memset(f->held, 0, f->words * sizeof *f->held);
    net_repl_state_mark_full(repl, f->held);
    if (repl->held_tick != net_replicator_now(repl->replicator))
        for (uint32_t w = 0; w < f->words; w++)
            repl->counters.held_back += net_word_count(f->held[w] & pending[w]);
    net_repl_state_find_held(repl, f->held);
}

static void choose_slot(filler* f, uint32_t slot, bool is_chosen) {
    const uint64_t bit = UINT64_C(1) << (slot & 63);
    f->chosen[slot >> 6] = (f->chosen[slot >> 6] & ~bit) | (is_chosen ? bit : 0);
}

// Add a slot and all that must go with it to the order.
static void add_unit(filler* f, uint32_t slot, uint32_t* count) {
    net_repl_state* repl = f->repl;
    net_snapshot_writer* writer = f->writer;
    if (net_has_bit(f->chosen, slot)) return;
    uint32_t group = f->is_split ? 0 : repl->members[slot].group, first = *count, end = 0, at = 0;
    if (net_fault_is_planted(NET_FAULT_TORN_GROUP)) group = 0;
    if (group) net_repl_state_find_group(repl, group, &at, &end);
    BASE_ARRAY_RESERVE(writer->allocator, writer->order, writer->order_capacity,
                       first + 1 + end - at);
    if (!group && !net_has_bit(f->held, slot)) writer->order[(*count)++] = slot;
    for (; at < end; at++) {
        uint32_t other = (uint32_t)repl->groups[at];
        if (!net_set_has(repl, NET_SET_UNSETTLED, other)) continue;
        if (net_has_bit(f->held, other)) { // one of them is held back, so all are
            *count = first;
            break;
        }
        writer->order[(*count)++] = other;
    }
    for (uint32_t i = first; i < *count; i++)
        net_set_bit(f->chosen, writer->order[i]);
    if (*count > first) writer->order[first] |= UNIT_FIRST;
}

// All that waits. Of a group with something that waits: all that is unsettled, or nothing when some
// of that is held back.
static void choose_all(filler* f) {
    const net_repl_state* repl = f->repl;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    for (uint32_t w = 0; w < f->words; w++)
        f->chosen[w] = pending[w] & ~f->held[w];
    if (net_fault_is_planted(NET_FAULT_TORN_GROUP)) return;
    for (uint32_t at = 0, first = 0; at < repl->group_count; first = at) {
        const uint64_t group = repl->groups[first] >> 32;
        bool waits = false, is_held = false;
        for (; at < repl->group_count && repl->groups[at] >> 32 == group; at++) {
            const uint32_t slot = (uint32_t)repl->groups[at];
            waits |= net_has_bit(pending, slot);
            is_held |= net_set_has(repl, NET_SET_UNSETTLED, slot) && net_has_bit(f->held, slot);
        }
        for (uint32_t i = first; waits && i < at; i++) {
            const uint32_t slot = (uint32_t)repl->groups[i];
            choose_slot(f, slot, !is_held && net_set_has(repl, NET_SET_UNSETTLED, slot));
        }
    }
}

// The slots of `from`, most urgent first, as units in writer.order.
static void choose_units(filler* f, const uint32_t* from, uint32_t from_count) {
    memset(f->chosen, 0, f->words * sizeof *f->chosen);
    net_snapshot_writer* writer = f->writer;
    uint32_t count = 0;
    BASE_ARRAY_RESERVE(writer->allocator, writer->order, writer->order_capacity, from_count);
    if (f->repl->group_count == 0) { // each slot is a unit; held ones are not ranked
        uint32_t* order = writer->order;
        uint64_t* chosen = f->chosen;
        for (; count < from_count; count++) {
            net_set_bit(chosen, from[count]);
            order[count] = from[count] | UNIT_FIRST;
        }
    } else {
        for (uint32_t i = 0; i < from_count; i++)
            add_unit(f, from[i], &count);
    }
    writer->order_count = count;
}

static void compose(filler* f) {
    const net_repl_state* repl = f->repl;
    uint32_t count = net_words_count(f->chosen, f->words);
    net_snapshot_writer_reserve(f->writer, repl->slot_end, count);
    net_repl_state_compose(f->repl, f->chosen);
    net_snapshot_writer_measure(f->writer, repl->replicator->history, repl->handles);
}

// ---- what fits ----

// The unit of the order that ends before `end`: its bits, and *first, where it begins.
static uint64_t unit_bits(const net_snapshot_writer* writer, uint32_t end, uint64_t beside,
                          uint32_t* first) {
    uint64_t bits = 0;
    uint32_t at = end;
    do
        bits += net_encoded_cell_bits(writer->cells[writer->order[--at] & ~UNIT_FIRST]) + beside;
    while (!(writer->order[at] & UNIT_FIRST));
    *first = at;
    return bits;
}

static void choose_unit(filler* f, uint32_t first, uint32_t end, bool is_chosen) {
    for (uint32_t i = first; i < end; i++)
        choose_slot(f, f->writer->order[i] & ~UNIT_FIRST, is_chosen);
}

// Drop the least urgent units, at least `excess` bits. When a long one among them leaves much room,
// shorter ones go all the same.
static void drop_last(filler* f, uint64_t excess) {
    net_snapshot_writer* writer = f->writer;
    uint64_t freed = 0, beside = (writer->bits - writer->encoded_bits) / writer->record_count;
    uint32_t end = writer->order_count, first = end;
    while (end > 0 && freed < excess) {
        freed += unit_bits(writer, end, beside, &first);
        choose_unit(f, first, end, false);
        end = first;
    }
    uint32_t kept = end, all = writer->order_count;
    for (uint32_t at = end; at < all && freed > excess + ROOM_LEFT_BITS; at = end) {
        do
            end++;
        while (end < all && !(writer->order[end] & UNIT_FIRST));
        uint64_t bits = unit_bits(writer, end, beside, &first) + ROOM_LEFT_BITS / 4;
        if (excess + bits > freed) continue;
        freed -= bits;
        choose_unit(f, at, end, true);
        memmove(&writer->order[kept], &writer->order[at], (end - at) * sizeof *writer->order);
        kept += end - at;
    }
    writer->order_count = kept;
}

static void trim(filler* f, uint64_t limit) {
    const net_repl_state* repl = f->repl;
    while (f->writer->bits > limit) {
        drop_last(f, f->writer->bits - limit);
        net_snapshot_writer_keep(f->writer, f->chosen);
        net_snapshot_writer_measure(f->writer, repl->replicator->history, repl->handles);
    }
}

// Compose some of the ranked slots, and what must go with them.
static void compose_ranked(filler* f, uint32_t first, uint32_t count) {
    f->writer->bits = 0;
    choose_units(f, f->writer->ranked + first, count);
    if (f->writer->order_count > 0) compose(f);
}

// The most urgent ones that fit. Typical sizes say how many to compose; when they were wrong and
// much room is left, more are composed.
static void take_urgent(filler* f, uint64_t limit) {
    const net_snapshot_writer* writer = f->writer;
    const uint32_t all = f->ranking->updates.all + f->ranking->lifecycle.all;
    uint64_t want = limit;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        rank(f->ranking, want);
        compose_ranked(f, 0, writer->ranked_count);
        if (writer->bits == 0 || writer->bits + ROOM_LEFT_BITS + limit / 64 >= limit ||
            writer->ranked_count >= all)
            break;
        want = want * limit / writer->bits + ROOM_LEFT_BITS;
    }
    trim(f, limit);
}

// Nothing fits the budget: the most urgent unit goes all the same, if the packet can hold it.
static void take_one(filler* f, net_repl_state_room room) {
    f->writer->bits = 0;
    if (f->writer->ranked_count == 0) return;
    compose_ranked(f, 0, 1);
    if (f->writer->bits <= room.hard) return;
    bool is_split = f->writer->order_count > 1 && f->writer->bits > room.group;
    f->writer->bits = 0;
    if (!is_split) return;
    // A group that no packet holds.
    f->is_split = true;
    f->repl->counters.groups_split++;
    f->repl->counters.group_split = f->repl->members[f->writer->order[0] & ~UNIT_FIRST].group;
    rank(f->ranking, room.hard);
    compose_ranked(f, 0, f->writer->ranked_count);
    trim(f, room.hard);
    f->is_split = false;
}

// The first waiting unit is too large for this packet: send one that fits.
static void take_any(filler* f, uint64_t limit) {
    rank(f->ranking, UINT32_MAX);
    for (uint32_t i = 0; i < f->writer->ranked_count && i < MISSES_MAX; i++) {
        compose_ranked(f, i, 1);
        if (f->writer->bits > 0 && f->writer->bits <= limit) return;
    }
    f->writer->bits = 0;
}

// Compose what fits. writer.bits is 0 when nothing does.
static void fill(filler* f, net_repl_state_room room) {
    net_repl_state* repl = f->repl;
    uint64_t limit = room.soft < room.hard ? room.soft : room.hard;
    if (repl->pending_count * (uint64_t)repl->update_bits <= limit * 17) {
        choose_all(f);
        compose(f);
        if (f->writer->bits <= limit) return;
    }
    ranking all;
    net_snapshot_writer_reserve(f->writer, repl->slot_end, repl->pending_count);
    begin_ranking(f->ranking = &all, repl, f->held);
    take_urgent(f, limit);
    if (f->writer->bits == 0) take_one(f, room);
    if (f->writer->bits == 0) take_any(f, limit);
}

// ---- after writing ----

// Learn typical sizes.
static void learn(net_repl_state* repl, const net_snapshot_writer* writer) {
    const net_record_group *creates = &writer->runs[NET_RUN_CREATE],
                           *destroys = &writer->runs[NET_RUN_DESTROY];
    uint64_t lifecycle = writer->lifecycle_bits + net_run_encoded_bits(writer, creates);
    uint64_t gone = destroys->count * (uint64_t)NET_REPL_STATE_DESTROY_BITS;
    uint32_t counts[2] = {writer->record_count - creates->count - destroys->count, creates->count};
    uint64_t sums[2] = {writer->bits - lifecycle, gone < lifecycle ? lifecycle - gone : 0};
    uint32_t* typical[2] = {&repl->update_bits, &repl->create_bits};
    for (uint32_t i = 0; i < 2; i++) {
        if (counts[i] == 0) continue;
        uint64_t now = sums[i] * 16 / counts[i];
        *typical[i] = (uint32_t)((*typical[i] * (AVERAGE_OVER - 1) + now) / AVERAGE_OVER);
        if (*typical[i] < BITS_MIN) *typical[i] = BITS_MIN;
    }
}

static void count_records(filler* f) {
    net_repl_state_counters* counters = &f->repl->counters;
    const net_snapshot_writer* writer = f->writer;
    const uint64_t* resync = net_set(f->repl, NET_SET_RESYNC);
    counters->records_destroy += writer->runs[NET_RUN_DESTROY].count;
    counters->records_create += writer->runs[NET_RUN_CREATE].count;
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++) {
        const net_record_group* run = &writer->runs[i];
        if (run->kind == NET_SNAPSHOT_ABSOLUTE) {
            counters->records_absolute += run->count;
            for (net_run_cursor at = net_run_begin(writer, run); net_run_next(&at);)
                counters->resyncs += net_has_bit(resync, at.slot);
            continue;
        }
        counters->records_update += run->count;
        if (run->age == NET_SNAPSHOT_AGE_SETTLED) counters->records_settled += run->count;
    }
}

// From now on the client may forget rows that are older than the bases of these records.
static void raise_floors(filler* f) {
    const net_snapshot_writer* writer = f->writer;
    const uint64_t* doubled = net_snapshot_writer_set(writer, NET_LANE_DOUBLED);
    uint64_t* single = net_set(f->repl, NET_SET_SINGLE);
    uint32_t now = net_repl_state_now(f->repl);
    for (uint32_t w = 0; w < f->words; w++)
        single[w] &= ~(doubled[w] & f->chosen[w]);
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++) {
        const net_record_group* run = &writer->runs[i];
        if (!run->has_single) continue;
        for (uint32_t k = run->words; k < run->words_end; k++) {
            uint32_t w = writer->run_words[k].word;
            uint64_t without = writer->run_words[k].slots & ~doubled[w];
            single[w] |= without;
            for (; without; without &= without - 1)
                f->repl->floors[w * 64 + base_bit_lowest(without)] = now - run->age;
        }
    }
}

static void write_snapshot(net_repl_state* repl, uint16_t seq, uint32_t room_bits,
                           proto_bit_writer* output) {
    net_replicator* replicator = repl->replicator;
    net_replicator_lane* lane = &replicator->lanes[repl->lane];
    const uint64_t first = output->size_bits;
    if (repl->solo)
        replicator->solo->write(repl->solo, repl, seq, room_bits, output);
    else
        net_snapshot_writer_write(&lane->writer, &lane->encoded_rows, repl->handles, output);
    if (replicator->tap) replicator->tap->snapshot(replicator->tap_context, repl, output, first);
}

uint32_t net_repl_state_write(net_repl_state* repl, uint16_t seq, net_repl_state_room room,
                              proto_bit_writer* output) {
    BASE_ASSERT(output && !output->failed && !repl->is_abandoned);
    net_replicator* replicator = repl->replicator;
    if (repl->packet_count == 0) repl->seq_next = seq;
    BASE_ASSERT(seq == repl->seq_next);
    BASE_ASSERT(replicator->published == replicator->history->step_count);
    BASE_ASSERT(repl->published == replicator->published || replicator->lanes[repl->lane].is_idle);
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    net_snapshot_writer* writer = &lane->writer;
    uint64_t left = (uint64_t)output->capacity * 8 - output->size_bits;
    if (room.hard > left) room.hard = (uint32_t)left;
    uint32_t room_bits = room.hard;
    if (repl->solo && room.hard > 0) room.hard--; // its head has at least one bit
    writer->bits = writer->record_count = 0;
    net_repl_state_begin_packet(repl);
    net_snapshot_writer_reserve(writer, repl->slot_end, 0);
    filler f = {.repl = repl, .writer = writer, .words = net_repl_state_words(repl)};
    f.held = net_snapshot_writer_set(writer, NET_LANE_HELD);
    f.chosen = net_snapshot_writer_set(writer, NET_LANE_CHOSEN);
    if (repl->pending_count > 0) {
        uint64_t made = lane->encoded_rows.made, shared = lane->encoded_rows.shared;
        find_held(&f);
        fill(&f, room);
        repl->counters.rows_made += lane->encoded_rows.made - made;
        repl->counters.rows_shared += lane->encoded_rows.shared - shared;
        repl->held_tick = net_replicator_now(replicator);
    }
    bool is_empty = writer->bits == 0;
    uint64_t before = output->size_bits;
    if (!is_empty) write_snapshot(repl, seq, room_bits, output);
    repl->counters.packets++;
    repl->counters.bits += output->size_bits - before;
    if (!is_empty) {
        count_records(&f);
        learn(repl, writer);
        raise_floors(&f);
        bool is_narrow = repl->rested >= RESTED_MIN && repl->rested * 2 > writer->record_count;
        repl->narrow = is_narrow ? repl->narrow + 1 : 0;
    }
    net_repl_state_end_packet(repl, is_empty ? NULL : f.chosen);
    return is_empty ? 0 : writer->record_count;
}
