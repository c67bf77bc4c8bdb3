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

#include <stddef.h>
#include <string.h>

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
    bool is_split; // groups may be split: one alone is too large for a packet
} filler;

static bool has(const uint64_t* set, uint32_t slot) {
    return set[slot >> 6] >> (slot & 63) & 1;
}

static void add_record(uint64_t* set, uint32_t slot) {
    set[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

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

// Add a slot and all that must go with it to the order. @return false when memory ran out.
static bool add_unit(filler* f, uint32_t slot, uint32_t* count) {
    net_repl_state* repl = f->repl;
    net_snapshot_writer* writer = f->writer;
    if (has(f->chosen, slot)) return true;
    uint32_t group = f->is_split ? 0 : repl->members[slot].group, first = *count, end = 0, at = 0;
    if (net_fault_is_planted(NET_FAULT_TORN_GROUP)) group = 0;
    if (group) net_repl_state_find_group(repl, group, &at, &end);
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->order, writer->order_capacity,
                            first + 1 + end - at))
        return false;
    if (!group && !has(f->held, slot)) writer->order[(*count)++] = slot;
    for (; at < end; at++) {
        uint32_t other = (uint32_t)repl->groups[at];
        if (!net_set_has(repl, NET_SET_UNSETTLED, other)) continue;
        if (has(f->held, other)) { // one of them is held back, so all are
            *count = first;
            break;
        }
        writer->order[(*count)++] = other;
    }
    for (uint32_t i = first; i < *count; i++)
        add_record(f->chosen, writer->order[i]);
    if (*count > first) writer->order[first] |= UNIT_FIRST;
    return true;
}

// All that waits, as units when there are groups.
static bool choose_all(filler* f) {
    net_repl_state* repl = f->repl;
    const uint64_t* pending = net_set(repl, NET_SET_PENDING);
    memset(f->chosen, 0, f->words * sizeof *f->chosen);
    uint32_t count = 0;
    for (uint32_t w = 0; w < f->words; w++) {
        if (repl->group_count == 0) {
            f->chosen[w] = pending[w] & ~f->held[w];
            continue;
        }
        for (uint64_t bits = pending[w]; bits; bits &= bits - 1)
            if (!add_unit(f, w * 64 + base_bit_lowest(bits), &count)) return false;
    }
    return true;
}

// The slots of `from`, most urgent first, as units in writer.order.
static bool choose_units(filler* f, const uint32_t* from, uint32_t from_count) {
    memset(f->chosen, 0, f->words * sizeof *f->chosen);
    net_snapshot_writer* writer = f->writer;
    uint32_t count = 0;
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->order, writer->order_capacity, from_count))
        return false;
    if (f->repl->group_count == 0) { // each slot is a unit; held ones are not ranked
        uint32_t* order = writer->order;
        uint64_t* chosen = f->chosen;
        for (; count < from_count; count++) {
            add_record(chosen, from[count]);
            order[count] = from[count] | UNIT_FIRST;
        }
    } else {
        for (uint32_t i = 0; i < from_count; i++)
            if (!add_unit(f, from[i], &count)) return false;
    }
    writer->order_count = count;
    return true;
}

static bool compose(filler* f) {
    const net_repl_state* repl = f->repl;
    uint32_t count = net_words_count(f->chosen, f->words);
    if (!net_snapshot_writer_reserve(f->writer, repl->slot_end, count) ||
        !net_repl_state_compose(f->repl, f->chosen))
        return false;
    net_snapshot_writer_measure(f->writer, repl->replicator->history, repl->handles);
    return true;
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
    for (uint32_t i = first; i < end; i++) {
        uint32_t slot = f->writer->order[i] & ~UNIT_FIRST;
        if (is_chosen)
            add_record(f->chosen, slot);
        else
            f->chosen[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    }
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

static bool order(filler* f, uint64_t bits) {
    net_snapshot_writer* writer = f->writer;
    return net_snapshot_writer_reserve(writer, f->repl->slot_end, f->repl->pending_count) &&
           net_repl_state_order(f->repl, f->held, bits);
}

// Compose some of the ranked slots, and what must go with them.
static bool compose_ranked(filler* f, uint32_t first, uint32_t count) {
    f->writer->bits = 0;
    return choose_units(f, f->writer->ranked + first, count) &&
           (f->writer->order_count == 0 || compose(f));
}

static uint32_t count_waiting(const filler* f) {
    const uint64_t* pending = net_set(f->repl, NET_SET_PENDING);
    uint32_t count = 0;
    for (uint32_t w = 0; w < f->words; w++)
        count += net_word_count(pending[w] & ~f->held[w]);
    return count;
}

// The most urgent ones that fit. Typical sizes say how many to compose; when they were wrong and
// much room is left, more are composed. @return false when memory ran out.
static bool take_urgent(filler* f, uint64_t limit) {
    const net_snapshot_writer* writer = f->writer;
    uint64_t want = limit;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        if (!order(f, want) || !compose_ranked(f, 0, writer->ranked_count)) return false;
        if (writer->bits == 0 || writer->bits + ROOM_LEFT_BITS + limit / 64 >= limit ||
            writer->ranked_count >= count_waiting(f))
            break;
        want = want * limit / writer->bits + ROOM_LEFT_BITS;
    }
    trim(f, limit);
    return true;
}

// Nothing fits the budget: the most urgent unit goes all the same, if the packet can hold it.
// @return false when memory ran out.
static bool take_one(filler* f, net_repl_state_room room) {
    f->writer->bits = 0;
    if (f->writer->ranked_count == 0) return true;
    if (!compose_ranked(f, 0, 1)) return false;
    if (f->writer->bits <= room.hard) return true;
    bool is_split = f->writer->order_count > 1 && f->writer->bits > room.group;
    f->writer->bits = 0;
    if (!is_split) return true;
    // A group that no packet holds.
    f->is_split = true;
    f->repl->counters.groups_split++;
    f->repl->counters.group_split = f->repl->members[f->writer->order[0] & ~UNIT_FIRST].group;
    if (!order(f, room.hard) || !compose_ranked(f, 0, f->writer->ranked_count)) return false;
    trim(f, room.hard);
    f->is_split = false;
    return true;
}

// The first waiting unit is too large for this packet: send one that fits.
static bool take_any(filler* f, uint64_t limit) {
    if (!order(f, UINT32_MAX)) return false;
    for (uint32_t i = 0; i < f->writer->ranked_count && i < MISSES_MAX; i++) {
        if (!compose_ranked(f, i, 1)) return false;
        if (f->writer->bits > 0 && f->writer->bits <= limit) return true;
    }
    f->writer->bits = 0;
    return true;
}

// Compose what fits. writer.bits is 0 when nothing does. @return false when memory ran out.
static bool fill(filler* f, net_repl_state_room room) {
    net_repl_state* repl = f->repl;
    uint64_t limit = room.soft < room.hard ? room.soft : room.hard;
    if (repl->pending_count * (uint64_t)repl->update_bits <= limit * 17) {
        if (!choose_all(f) || !compose(f)) return false;
        if (f->writer->bits <= limit) return true;
    }
    if (!take_urgent(f, limit)) return false;
    if (f->writer->bits == 0 && !take_one(f, room)) return false;
    return f->writer->bits > 0 || take_any(f, limit);
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
                counters->resyncs += has(resync, at.slot);
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
    uint32_t now = (uint32_t)net_replicator_now(f->repl->replicator);
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

// Packets are mostly written in the order of clients. The state itself was prefetched one packet
// before. Nothing is read of a client of another lane, which is written at the same time.
static void prefetch_next(const net_repl_state* repl) {
    const net_replicator* replicator = repl->replicator;
    uint32_t next = repl->id + replicator->lane_count, after = next + replicator->lane_count;
    if (after < replicator->repl_capacity && replicator->repls[after])
        net_repl_prefetch(replicator->repls[after], offsetof(net_repl_state, ticks));
    const net_repl_state* other = next < replicator->repl_capacity ? replicator->repls[next] : NULL;
    if (other && other->lane == repl->lane) net_repl_state_prefetch(other);
}

static bool write_snapshot(net_repl_state* repl, uint16_t seq, uint32_t room_bits,
                           proto_bit_writer* output) {
    net_replicator* replicator = repl->replicator;
    net_replicator_lane* lane = &replicator->lanes[repl->lane];
    const uint64_t first = output->size_bits;
    if (!(repl->solo ? replicator->solo->write(repl->solo, repl, seq, room_bits, output)
                     : net_snapshot_writer_write(&lane->writer, &lane->encoded_rows, repl->handles,
                                                 output)))
        return false;
    if (replicator->tap) replicator->tap->snapshot(replicator->tap_context, repl, output, first);
    return true;
}

net_result net_repl_state_write(net_repl_state* repl, uint16_t seq, net_repl_state_room room,
                                proto_bit_writer* output, uint32_t* records) {
    BASE_ASSERT(output && records && !output->failed);
    net_replicator* replicator = repl->replicator;
    if (repl->packet_count == 0) repl->seq_next = seq;
    BASE_ASSERT(seq == repl->seq_next);
    BASE_ASSERT(replicator->published == net_history_step_count(replicator->history));
    BASE_ASSERT(repl->published == replicator->published || repl->is_broken ||
                replicator->lanes[repl->lane].is_idle);
    *records = 0;
    if (repl->is_broken) return NET_ERR_MEMORY;
    prefetch_next(repl);
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    net_snapshot_writer* writer = &lane->writer;
    uint64_t left = (uint64_t)output->capacity * 8 - output->size_bits;
    if (room.hard > left) room.hard = (uint32_t)left;
    uint32_t room_bits = room.hard;
    if (repl->solo && room.hard > 0) room.hard--; // its head has at least one bit
    writer->bits = writer->record_count = 0;
    bool ok = !lane->has_failed && net_repl_state_begin_packet(repl) &&
              net_snapshot_writer_reserve(writer, repl->slot_end, 0);
    filler f = {.repl = repl, .writer = writer, .words = net_repl_state_words(repl)};
    f.held = net_snapshot_writer_set(writer, NET_LANE_HELD);
    f.chosen = net_snapshot_writer_set(writer, NET_LANE_CHOSEN);
    if (ok && repl->pending_count > 0) {
        uint64_t made = lane->encoded_rows.made, shared = lane->encoded_rows.shared;
        find_held(&f);
        ok = fill(&f, room);
        repl->counters.rows_made += lane->encoded_rows.made - made;
        repl->counters.rows_shared += lane->encoded_rows.shared - shared;
        repl->held_tick = net_replicator_now(replicator);
    }
    bool is_empty = writer->bits == 0;
    uint64_t before = output->size_bits;
    if (!ok || (!is_empty && !write_snapshot(repl, seq, room_bits, output))) {
        repl->is_broken = true;
        return NET_ERR_MEMORY;
    }
    repl->counters.packets++;
    repl->counters.bits += output->size_bits - before;
    if (!is_empty) {
        count_records(&f);
        learn(repl, writer);
        raise_floors(&f);
        bool is_narrow = repl->rested >= RESTED_MIN && repl->rested * 2 > writer->record_count;
        repl->narrow = is_narrow ? repl->narrow + 1 : 0;
        *records = writer->record_count;
    }
    net_repl_state_end_packet(repl, is_empty ? NULL : f.chosen);
    return NET_OK;
}
