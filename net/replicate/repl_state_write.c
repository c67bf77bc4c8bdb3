// SPDX-License-Identifier: MIT
// Writing a packet: which bases, which records, until the room is used.
//
// Bases. A row is coded against the newest row that this client acknowledged for the entity, and an
// older acknowledged one when that helps to predict (choose_base2). No base is older than one that
// was used before in the same epoch, since the client may have forgotten it. No base has more than
// NET_REPL_STATE_SENDS_MAX sends after it, since the client keeps this many rows. A base beyond an
// age of 8 bits is named "settled", which is legal only if nothing was sent between it and then.
// Otherwise the row is absolute, against the template's defaults.
//
// Filling. When all that waits should fit, it is tried first, in the order of slots. Otherwise the
// most urgent slots are taken in order until typical sizes say that the room is used; then the
// snapshot is measured exactly, and the last records are dropped or more are tried. A unit is sent
// or left out as a whole. The unit of a group contains all its members whose newest row the client
// may not have, waiting or not, so the client never holds them from two different ticks.
//
// Start with net_repl_state_write.
#include "base/assert.h"
#include "core/fault.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum {
    HEAD_BITS = 12, // of a snapshot without records, and its count of runs
    ROUNDS_MAX = 2, // attempts to add more after measuring
    MISSES_MAX = 8, // units without room that are skipped
    BASE2_TICKS_MAX = 16,
    AHEAD = 12,          // slots that are prefetched
    CODED_TOGETHER = 32, // records whose rows are prefetched together
};

// A record in a run without the run's second base: the client must still know that it has no row
// there.
_Static_assert(BASE2_TICKS_MAX <= NET_SNAPSHOT_BASE_SLACK_TICKS, "it keeps rows so much older");

// ---- bases ----

// A row with hidden classes is stored for a fixed number of ticks. Beyond that, whether it is still
// stored would reveal how often they changed.
static bool may_name(const net_repl_slot* s, uint32_t position, uint32_t now) {
    return (s->acked_classes[position] & ~s->classes) == 0 ||
           now - s->acked_ticks[position] < NET_ROW_HISTORY_MAX;
}

static bool has_base(const net_repl_slot* s, uint32_t now) {
    if (s->acked_count == 0 || s->behind[0] > NET_REPL_STATE_SENDS_MAX) return false;
    if (!may_name(s, 0, now)) return false;
    if (s->has_floor && (int32_t)(s->acked_ticks[0] - s->floor_tick) < 0) return false;
    return s->acked_ticks[0] != now;
}

// Position of the second base among the acknowledged rows; 0: none.
static uint32_t choose_base2(const net_repl_slot* s, uint32_t now) {
    if (s->acked_count < 2 || s->behind[1] > NET_REPL_STATE_SENDS_MAX) return 0;
    if (!may_name(s, 1, now)) return 0;
    if (s->has_floor && (int32_t)(s->acked_ticks[1] - s->floor_tick) < 0) return 0;
    return s->acked_ticks[0] - s->acked_ticks[1] <= BASE2_TICKS_MAX ? 1 : 0;
}

// Ticks before its base in which the client certainly has no row of this incarnation: none was
// sent.
static uint8_t count_free_ticks(const net_repl_slot* s) {
    if (s->acked_count == 1) {
        bool is_first = !s->has_previous && s->epoch_sends - s->behind[0] == 1;
        return is_first && s->behind[0] < UINT8_MAX ? UINT8_MAX : 0;
    }
    if (s->behind[1] == UINT8_MAX || s->behind[1] - s->behind[0] != 1) return 0;
    uint32_t gap = s->acked_ticks[0] - s->acked_ticks[1] - 1;
    return (uint8_t)(gap < UINT8_MAX ? gap : UINT8_MAX);
}

static void make_absolute(net_snapshot_record* record) {
    record->run = NET_RUN_ABSOLUTE;
    record->key = (net_encoded_row_key){.index = record->key.index, .classes = record->key.classes};
    if (record->cause != NET_COST_HEAL) record->cause = NET_COST_ABSOLUTE;
}

// How many packets back the base was sent, if the items of that packet are still stored. They are:
// the packet carried the slot and was acknowledged, and such packets keep their items this long.
static uint32_t find_back(const net_repl_slot* s, uint16_t seq) {
    uint32_t back = (uint16_t)(seq - s->acked_seq);
    return back <= NET_REPL_STATE_BACK_MAX ? back : 0;
}

static void choose_base(net_repl_state* repl, const net_repl_slot* s, uint32_t now, uint16_t seq,
                        net_snapshot_record* record) {
    net_encoded_row_key* key = &record->key;
    if (s->wants_resync || !has_base(s, now)) {
        make_absolute(record);
        return;
    }
    key->age = now - s->acked_ticks[0];
    key->base_classes = s->acked_classes[0];
    net_snapshot_writer* writer = &repl->replicator->writer;
    if (key->age > NET_BASE_AGE_MAX) {
        key->is_settled = s->behind[0] == 0 || now - s->first_after_tick < NET_SNAPSHOT_AGE_SETTLED;
        if (key->is_settled)
            record->run = net_snapshot_writer_run(writer, 0, NET_SNAPSHOT_AGE_SETTLED, 0);
        else
            make_absolute(record);
        return;
    }
    uint32_t second = choose_base2(s, now);
    if (second) {
        key->d = (uint8_t)(s->acked_ticks[0] - s->acked_ticks[second]);
        key->base2_classes = s->acked_classes[second];
    }
    record->free_ticks = count_free_ticks(s);
    uint32_t back = find_back(s, seq);
    record->run = net_snapshot_writer_run(writer, back, key->age, key->d);
    net_record_group* run = &writer->runs[record->run];
    if (back && !run->items) {
        const net_repl_state_packet* packet =
            &repl->packets[s->acked_seq & (NET_REPL_STATE_PACKETS - 1)];
        run->items = packet->items;
        run->item_count = packet->count;
        run->row_count = packet->row_count;
    }
}

// ---- records ----

typedef struct filler {
    net_repl_state* repl;
    net_snapshot_writer* writer;
    uint16_t seq;
    uint32_t now;   // low bits of the tick
    uint32_t next;  // position in writer->order
    uint32_t coded; // records that are encoded
    uint64_t spent; // known or typical size; 1/16 bits, as the next two
    uint64_t limit;
    uint32_t overhead; // of a record, beside its encoded row
    uint32_t misses;
    bool is_split; // groups may be split: one alone is too large for a packet
    bool has_overflown;
} filler;

typedef enum outcome { TAKEN, NOTHING, NO_MEMORY } outcome;

// Add the record of a slot, not encoded yet. Its run may still change.
static outcome prepare(filler* f, uint32_t slot, uint32_t unit_first) {
    net_repl_state* repl = f->repl;
    net_snapshot_writer* writer = f->writer;
    net_repl_slot* s = &repl->slots[slot];
    if (net_fault_is_planted(NET_FAULT_STARVE) && slot % 8 == 5) return NOTHING;
    if (s->flying >= NET_REPL_STATE_FLYING_MAX) {
        repl->counters.held_back += repl->held_tick != net_replicator_tick(repl->replicator);
        return NOTHING;
    }
    if (!net_snapshot_writer_reserve(writer)) return NO_MEMORY;
    net_snapshot_record* record = net_snapshot_writer_add(writer, slot);
    record->unit_first = unit_first;
    record->order_next = f->next;
    record->handle = s->handle;
    record->free_ticks = 0;
    record->encoded.bits = record->encoded.head_bits = 0;
    net_encoded_row_key* key = &record->key; // field by field: faster than through the stack
    key->index = ecs_entity_index(s->handle);
    key->age = 0;
    key->d = 0;
    key->is_settled = false;
    key->classes = s->classes;
    key->base_classes = key->base2_classes = 0;
    if (s->state == NET_REPL_SLOT_LEAVING) {
        record->cause = NET_COST_DESTROY;
        record->run = NET_RUN_DESTROY;
    } else if (s->state == NET_REPL_SLOT_LIVE) {
        record->cause = s->wants_resync                           ? NET_COST_HEAL
                        : net_set_has(repl, NET_SET_REPEAT, slot) ? NET_COST_REPEAT
                                                                  : NET_COST_CHANGE;
        choose_base(repl, s, f->now, f->seq, record);
    } else {
        record->cause = NET_COST_CREATE;
        record->run = NET_RUN_CREATE;
    }
    writer->runs[record->run].expected++;
    return TAKEN;
}

// Set the run of a record for good.
static void settle_run(net_snapshot_writer* writer, uint32_t position) {
    net_snapshot_record* record = &writer->records[position];
    if (record->run < NET_RUN_FIRST) return;
    if (!writer->runs[record->run].is_decided) net_snapshot_writer_decide(writer, position);
    record->run = net_snapshot_writer_run_of(writer, record->run);
    const net_record_group* run = &writer->runs[record->run];
    if (run->d == record->key.d) return;
    record->key.d = 0;
    record->key.base2_classes = 0;
}

// Encode one record. @return false when memory ran out.
static bool make(net_repl_state* repl, net_snapshot_record* record) {
    net_snapshot_writer* writer = &repl->replicator->writer;
    net_encoded_rows* encoded_rows = &repl->replicator->encoded_rows;
    net_encoded_row_result result =
        net_encoded_rows_get(encoded_rows, &record->key, &record->encoded);
    if (result == NET_ENCODED_ROW_NO_BASE2) {
        record->key.d = 0;
        record->key.base2_classes = 0;
        record->run = net_snapshot_writer_run(writer, 0, record->key.age, 0);
        writer->runs[record->run].is_decided = true;
        result = net_encoded_rows_get(encoded_rows, &record->key, &record->encoded);
    }
    if (result == NET_ENCODED_ROW_NO_BASE) {
        make_absolute(record);
        result = net_encoded_rows_get(encoded_rows, &record->key, &record->encoded);
    }
    return result == NET_ENCODED_ROW_OK;
}

// Encode some records; most are encoded already. Rows are scattered in memory: those that must be
// encoded here are prefetched in steps, many at once. @return false when memory ran out.
static bool code(net_repl_state* repl, uint32_t first, uint32_t end) {
    net_snapshot_writer* writer = &repl->replicator->writer;
    net_encoded_rows* encoded_rows = &repl->replicator->encoded_rows;
    net_snapshot_record* missing[CODED_TOGETHER];
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        net_encoded_rows_prefetch(encoded_rows, writer->records[i].key.index);
    for (uint32_t i = first; i < end; i++) {
        net_snapshot_record* record = &writer->records[i];
        if (record->run == NET_RUN_DESTROY) continue;
        settle_run(writer, i);
        if (!net_encoded_rows_find(encoded_rows, &record->key, &record->encoded))
            missing[count++] = record;
    }
    for (uint32_t step = 0; step <= 2 && count > 1; step++)
        for (uint32_t i = 0; i < count; i++)
            net_history_warm(encoded_rows->history, missing[i]->key.index, encoded_rows->tick,
                             missing[i]->key.age, missing[i]->key.d, step);
    for (uint32_t i = 0; i < count; i++)
        if (!make(repl, missing[i])) return false;
    return true;
}

// ---- filling ----

static uint32_t group_of(const net_repl_state* repl, uint32_t slot) {
    uint32_t member = repl->slots[slot].member;
    return member != UINT32_MAX ? repl->members[member].group : 0;
}

// Add the records of a slot and of all that must go with it.
static bool prepare_unit(filler* f, uint32_t slot) {
    net_repl_state* repl = f->repl;
    uint32_t unit_first = f->writer->record_count;
    uint32_t group = repl->group_count > 0 && !f->is_split ? group_of(repl, slot) : 0;
    if (net_fault_is_planted(NET_FAULT_TORN_GROUP)) group = 0;
    if (group == 0) return prepare(f, slot, unit_first) != NO_MEMORY;
    uint32_t first, end;
    net_repl_state_find_group(repl, group, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        uint32_t other = (uint32_t)repl->groups[i];
        if (!net_set_has(repl, NET_SET_UNSETTLED, other) ||
            net_snapshot_writer_has(f->writer, other))
            continue;
        outcome result = prepare(f, other, unit_first);
        if (result == NO_MEMORY) return false;
        if (result == NOTHING) { // one of them is held back, so all are
            net_snapshot_writer_drop(f->writer, unit_first);
            return true;
        }
    }
    return true;
}

// Encode the prepared records, unit by unit, as long as they should fit. @return false when memory
// ran out.
static bool code_prepared(filler* f) {
    net_snapshot_writer* writer = f->writer;
    uint32_t has_code = f->coded, count = writer->record_count;
    while (f->coded < count) {
        uint64_t spent = f->spent;
        uint32_t i = f->coded;
        do {
            if (i == has_code) {
                has_code = count - i < CODED_TOGETHER ? count : i + CODED_TOGETHER;
                if (!code(f->repl, i, has_code)) return false;
            }
            spent += writer->records[i].encoded.bits * 16u + f->overhead;
            i++;
        } while (i < count && writer->records[i].unit_first == f->coded);
        if (spent > f->limit && f->coded > 0) {
            // Skip it as long as much room is left.
            uint64_t left = f->limit > f->spent ? f->limit - f->spent : 0;
            f->has_overflown = ++f->misses > MISSES_MAX || left < f->repl->update_bits;
            f->next = writer->records[f->coded].order_next;
            net_snapshot_writer_drop(writer, f->coded);
            return true;
        }
        f->spent = spent;
        f->coded = i;
    }
    return true;
}

// Take slots from the order until the room seems to be used. The first ones are prepared together:
// how many of them share a base packet decides how runs name them. @return false when memory ran
// out.
static bool take(filler* f, uint32_t together) {
    net_snapshot_writer* writer = f->writer;
    uint32_t end =
        f->next + together < writer->order_count ? f->next + together : writer->order_count;
    for (uint32_t i = f->next; i < end && i < f->next + AHEAD; i++)
        __builtin_prefetch(&f->repl->slots[writer->order[i]], 1);
    while (f->next < end) {
        if (f->next + AHEAD < end)
            __builtin_prefetch(&f->repl->slots[writer->order[f->next + AHEAD]], 1);
        uint32_t slot = writer->order[f->next++];
        if (!net_snapshot_writer_has(writer, slot) && !prepare_unit(f, slot)) return false;
    }
    net_snapshot_writer_decide(writer, f->coded);
    if (!code_prepared(f)) return false;
    while (!f->has_overflown && f->next < writer->order_count) {
        if (f->next + AHEAD < writer->order_count)
            __builtin_prefetch(&f->repl->slots[writer->order[f->next + AHEAD]], 1);
        uint32_t slot = writer->order[f->next++];
        if (net_snapshot_writer_has(writer, slot)) continue;
        if (!prepare_unit(f, slot) || !code_prepared(f)) return false;
    }
    return true;
}

static uint32_t typical_count(const net_repl_state* repl, uint64_t bits) {
    return (uint32_t)(bits * 16 / repl->update_bits) + 1;
}

// Drop the last units until the snapshot is no longer than `limit`. @return its bits.
static uint64_t trim(filler* f, uint64_t limit) {
    net_snapshot_writer* writer = f->writer;
    uint64_t bits = net_snapshot_writer_measure(writer, &f->repl->replicator->encoded_rows);
    while (bits > limit && writer->record_count > 0) {
        uint64_t excess = bits - limit;
        uint32_t count = writer->record_count;
        for (uint64_t freed = 0; freed < excess && count > 0;) {
            uint32_t first = writer->records[count - 1].unit_first;
            while (count > first)
                freed += writer->records[--count].encoded.bits + 1;
        }
        net_snapshot_writer_drop(writer, count);
        f->coded = count;
        bits = net_snapshot_writer_measure(writer, &f->repl->replicator->encoded_rows);
    }
    return bits;
}

static bool begin_snapshot(filler* f) {
    net_repl_state* repl = f->repl;
    f->next = f->coded = f->misses = 0;
    f->spent = HEAD_BITS * 16;
    f->overhead = repl->overhead_bits;
    f->has_overflown = false;
    return net_snapshot_writer_begin(f->writer, repl->slot_capacity, repl->slot_end,
                                     net_history_number_bits(repl->replicator->history));
}

// Nothing fits the budget: the slot that waits longest goes all the same, if the packet can hold
// it.
static bool take_oldest(filler* f, uint64_t hard, uint64_t* bits) {
    uint32_t slot = net_repl_state_oldest(f->repl);
    *bits = 0;
    if (slot == UINT32_MAX) return true;
    f->limit = hard * 16;
    for (uint32_t attempt = 0; attempt < 2 && *bits == 0; attempt++) {
        if (!begin_snapshot(f) || !prepare_unit(f, slot)) return false;
        uint32_t count = f->writer->record_count;
        net_snapshot_writer_decide(f->writer, f->coded);
        if (!code_prepared(f)) return false;
        *bits = net_snapshot_writer_measure(f->writer, &f->repl->replicator->encoded_rows);
        if (*bits <= hard) return true;
        *bits = 0;
        if (count < 2) break;
        // A group that no packet holds.
        f->is_split = true;
        f->repl->counters.groups_split++;
        if (!begin_snapshot(f) || !net_repl_state_order_all(f->repl) || !take(f, 1)) return false;
        *bits = trim(f, hard);
        if (*bits > 0) return true;
    }
    net_snapshot_writer_drop(f->writer, 0);
    return true;
}

// The first waiting unit is too large for this packet: send one that fits.
static bool take_any(filler* f, uint64_t limit, uint64_t* bits) {
    *bits = 0;
    f->is_split = false;
    f->limit = limit * 16;
    if (!net_repl_state_order_all(f->repl)) return false;
    for (uint32_t i = 0; i < f->writer->order_count && i < MISSES_MAX && *bits == 0; i++) {
        if (!begin_snapshot(f)) return false;
        f->next = i;
        if (!take(f, 1)) return false;
        *bits = trim(f, limit);
    }
    return true;
}

// Add all that fits. *bits: of the snapshot, 0 for none. @return false when memory ran out.
static bool fill(filler* f, net_repl_state_room room, uint64_t* bits) {
    net_repl_state* repl = f->repl;
    uint64_t limit = room.soft < room.hard ? room.soft : room.hard;
    *bits = 0;
    for (uint32_t attempt = 0; attempt < 2; attempt++) {
        if (!begin_snapshot(f) || !net_repl_state_order(repl, (uint32_t)limit, attempt > 0))
            return false;
        bool is_all = attempt == 0 && f->writer->is_whole;
        f->limit = is_all ? UINT64_MAX : limit * 16;
        if (!take(f, is_all ? UINT32_MAX - 1 - f->next : typical_count(repl, limit))) return false;
        if (!is_all) break;
        *bits = net_snapshot_writer_measure(f->writer, &repl->replicator->encoded_rows);
        if (*bits <= limit) return true;
    }
    f->limit = limit * 16;
    *bits = trim(f, limit);
    for (uint32_t round = 0; round<ROUNDS_MAX&& * bits> 0; round++) {
        uint64_t left = (limit - *bits) * 16;
        if (left < 2 * repl->update_bits || f->next >= f->writer->order_count) break;
        uint32_t before = f->writer->record_count;
        f->overhead = (uint32_t)((*bits - f->writer->encoded_bits) * 16 / before);
        f->spent = *bits * 16;
        f->has_overflown = false;
        if (!take(f, 0)) return false;
        if (f->writer->record_count <= before) break;
        *bits = trim(f, limit);
    }
    if (*bits == 0 && !take_oldest(f, room.hard, bits)) return false;
    return *bits > 0 || take_any(f, limit, bits);
}

// ---- packets ----

net_result net_repl_state_write(net_repl_state* repl, uint16_t seq, net_repl_state_room room,
                                proto_bit_writer* output, uint32_t* records) {
    BASE_ASSERT(output && records && !output->failed);
    net_replicator* replicator = repl->replicator;
    BASE_ASSERT(repl->packet_count == 0 || seq == repl->seq_next);
    BASE_ASSERT(replicator->published == net_history_step_count(replicator->history));
    *records = 0;
    if (repl->is_broken) return NET_ERR_MEMORY;
    net_repl_state_packet* packet = net_repl_state_begin_packet(repl, seq);
    net_repl_state_merge(repl, replicator->published_tick);
    uint64_t bits = 0;
    uint64_t left = (uint64_t)output->capacity * 8 - output->size_bits;
    if (room.hard > left) room.hard = (uint32_t)left;
    filler f = {.repl = repl,
                .writer = &replicator->writer,
                .seq = seq,
                .now = (uint32_t)net_replicator_tick(replicator)};
    bool ok = true;
    if (repl->pending_count > 0) {
        uint64_t made = replicator->encoded_rows.made, shared = replicator->encoded_rows.shared;
        ok = fill(&f, room, &bits);
        repl->counters.rows_made += replicator->encoded_rows.made - made;
        repl->counters.rows_shared += replicator->encoded_rows.shared - shared;
        repl->held_tick = net_replicator_tick(replicator);
    }
    ok = ok && (bits == 0 || (net_repl_state_reserve_items(repl, packet, f.writer->record_count) &&
                              net_snapshot_writer_write(f.writer, &replicator->encoded_rows, output,
                                                        bits, net_repl_state_account(repl))));
    if (!ok) {
        repl->is_broken = true;
        return NET_ERR_MEMORY;
    }
    packet->tick = net_replicator_tick(replicator);
    packet->seq = seq;
    packet->state = NET_PACKET_FLYING;
    repl->packet_count++;
    repl->seq_next = (uint16_t)(seq + 1);
    repl->counters.packets++;
    repl->counters.bits += bits;
    if (bits == 0) return NET_OK;
    net_repl_state_note_sent(repl, packet);
    net_repl_state_learn(repl, bits);
    *records = f.writer->record_count;
    return NET_OK;
}
