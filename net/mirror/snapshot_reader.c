// SPDX-License-Identifier: MIT
// Reading a snapshot, all of it before anything is believed.
//
// A snapshot does not contain the lengths of its rows: the end of a record depends on its base
// rows. So one missing base makes the rest unreadable, and the whole snapshot is refused. It is
// refused as late (the server will see a loss and send what is newest) or as impossible. It is late
// when a newer fact explains what is missing: the packet is older than the newest one, or the slot
// has moved on since.
//
// A late snapshot may be readable and yet contain records of another incarnation of a slot, with
// another layout. Updates are sent only after a create of their incarnation was acknowledged. So an
// update that is not newer than the first create of the present incarnation belongs to another one:
// to the previous one if that is stored and existed at that tick (mirror_previous.c), else it is
// refused.
//
// Bounds: each record takes at least one bit, so there are at most 8 times as many records as
// bytes; rows of one snapshot are at most NET_SNAPSHOT_WORDS_MAX words; compositions at most
// NET_ROW_TEMPLATES_MAX.
#include "mirror/snapshot_decoder.h"

#include "base/assert.h"

// What the rows of a run are coded against.
typedef struct run_head {
    net_snapshot_kind kind;
    bool is_settled;
    ecs_tick base_tick; // settled: the row has this tick or an older one
    uint32_t base2_ticks;
    const net_mirror_packet* packet;
    const net_mirror_packet* third; // NULL: no record has a third row
} run_head;

// ---- runs ----

// Unpack the row of exactly this tick. @return it, or NULL when there is none.
static const uint64_t* find_row(const net_mirror_incarnation* incarnation, ecs_tick tick,
                                uint64_t* row) {
    uint32_t position = net_tick_ring_find(&incarnation->ring, tick);
    if (position == UINT32_MAX || net_tick_ring_tick(&incarnation->ring, position) != tick)
        return NULL;
    net_mirror_unpack(incarnation, position, row);
    return row;
}

static bool find_bases(net_decoder* d, const run_head* run,
                       const net_mirror_incarnation* incarnation, proto_row_base* base,
                       ecs_tick* oldest) {
    if (run->kind == NET_SNAPSHOT_ABSOLUTE) {
        base->base = incarnation->row_template->defaults;
        return true;
    }
    if (run->is_settled) {
        uint32_t position = net_tick_ring_find(&incarnation->ring, run->base_tick);
        if (position == UINT32_MAX) return false;
        net_mirror_unpack(incarnation, position, d->base);
        base->base = d->base;
        *oldest = net_tick_ring_tick(&incarnation->ring, position);
        return true;
    }
    base->base = find_row(incarnation, run->base_tick, d->base);
    base->ticks = (uint32_t)(d->tick - run->base_tick);
    *oldest = run->base_tick - run->base2_ticks;
    if (run->base2_ticks > 0) base->base2 = find_row(incarnation, *oldest, d->base2);
    if (base->base2) base->ticks2 = run->base2_ticks;
    // No row of that tick: none was sent, unless it may be one of the forgotten rows.
    bool may_be_forgotten = incarnation->has_forgotten && *oldest <= incarnation->forgotten_tick;
    return base->base && (base->base2 || run->base2_ticks == 0 || !may_be_forgotten);
}

// In solo code a record with two base rows says whether it has a third one.
static bool read_third(net_decoder* d, const run_head* run, uint32_t number,
                       const net_mirror_incarnation* incarnation, const proto_row_base* base) {
    d->third_ticks = 0;
    if (!run->third || !base->base2) return true;
    net_decode_cursor* listed = &d->third_listed; // the slots of a run rise
    while (!listed->is_ended && listed->next <= number)
        listed->is_ended =
            !net_mirror_next_slot(run->third, &listed->at, &listed->next, &listed->number);
    bool is_listed = listed->next > 0 && listed->number == number;
    uint32_t about = (uint32_t)proto_solo_situation(NET_SOLO_RUN_HAS_THIRD, is_listed);
    if (!net_decode_take(d, PROTO_SOLO_RUN, about, 0, 1)) return true;
    d->third_ticks = (uint32_t)(run->base_tick - run->third->tick);
    return find_row(incarnation, run->third->tick, d->base3) != NULL;
}

// Read an update of a slot that was just named.
static bool read_update(net_decoder* d, const run_head* run, uint32_t number,
                        net_mirror_slot* slot) {
    bool is_present = slot->handle != ECS_ENTITY_NONE && slot->incarnation.tick < d->tick;
    const net_mirror_previous* previous =
        is_present ? NULL : net_mirror_find_previous(slot, d->tick);
    if (!is_present && !previous) return net_decode_miss_base(d, slot);
    const net_mirror_incarnation* incarnation =
        previous ? &previous->incarnation : &slot->incarnation;
    net_mirror* mirror = d->mirror;
    net_mirror_record record = {.kind = NET_MIRROR_UPDATE,
                                .slot = number,
                                .handle = previous ? previous->handle : slot->handle,
                                .row_template = incarnation->row_template,
                                .is_absolute = run->kind == NET_SNAPSHOT_ABSOLUTE,
                                .is_previous = previous != NULL};
    // Created elsewhere in this snapshot: it cannot be in two slots at one tick.
    if (net_mirror_index_of(mirror, ecs_entity_index(record.handle))->stamp ==
        mirror->snapshot_number)
        return net_decode_fail(d, NET_ERR_MALFORMED);
    proto_row_base base = {0};
    if (!find_bases(d, run, incarnation, &base, &record.base_tick) ||
        !read_third(d, run, number, incarnation, &base))
        return net_decode_miss_base(d, slot);
    return net_decode_read_row(d, record, &base);
}

static bool read_named_updates(net_decoder* d, const run_head* run) {
    uint32_t more = net_decode_read_count(d, NET_SOLO_LIST_RECORDS, NET_SNAPSHOT_RUN_ORDER),
             next = 0;
    uint32_t order = net_decode_read_bits(d, NET_SNAPSHOT_ORDER_BITS);
    if (!net_decode_is_readable(d)) return false;
    do {
        uint32_t number;
        net_mirror_slot* slot =
            net_decode_read_slot(d, NET_SOLO_LIST_RECORDS, order, &next, &number);
        if (!slot || !read_update(d, run, number, slot)) return false;
    } while (more-- > 0);
    return true;
}

// A place in a list of slots.
typedef struct list_cursor {
    uint32_t at, next;
} list_cursor;

// Slots and rows of many entities are in no cache, and a list tells which come next. Measured with
// 100 thin bots of arena: 7.8 s of processor time instead of 9.6.
static void prefetch_slot(const net_decoder* d, const run_head* run, list_cursor* cursor) {
    uint32_t number;
    if (net_mirror_next_slot(run->packet, &cursor->at, &cursor->next, &number) &&
        number < d->mirror->slots.count)
        __builtin_prefetch(net_mirror_slot_of(d->mirror, number));
}

static void prefetch_row(const net_decoder* d, const run_head* run, list_cursor* cursor) {
    uint32_t number;
    if (!net_mirror_next_slot(run->packet, &cursor->at, &cursor->next, &number) ||
        number >= d->mirror->slots.count)
        return;
    const net_tick_ring* ring = &net_mirror_slot_of(d->mirror, number)->incarnation.ring;
    if (ring->count == 0) return;
    // The base is a few rows before the newest one: where every tick has a row, by its age.
    uint32_t age = (uint32_t)(d->tick - run->base_tick);
    uint32_t back = age < ring->count ? age : ring->count - 1u;
    uint32_t place = net_tick_ring_place(ring, ring->count - 1u - back);
    __builtin_prefetch(&ring->lows[place]);
    __builtin_prefetch(net_tick_ring_at(ring, place));
}

static bool read_absent(net_decoder* d, uint32_t number, uint32_t before) {
    bool is_absent = !d->is_coded && proto_row_read_absent(d->reader);
    if (!d->solo) return is_absent;
    const net_mirror* mirror = d->mirror;
    bool is_named = number < mirror->slots.count &&
                    net_mirror_slot_of(mirror, number)->stamp == mirror->snapshot_number;
    return net_decode_take(d, PROTO_SOLO_ABSENT, proto_solo_situation(is_named, before), is_absent,
                           1);
}

static bool read_listed_updates(net_decoder* d, const run_head* run) {
    enum { SLOTS_AHEAD = 8, ROWS_AHEAD = 4 };
    uint32_t at = 0, next = 0, before = 0, number;
    list_cursor slots = {0, 0}, rows = {0, 0};
    for (uint32_t i = 0; i < SLOTS_AHEAD; i++)
        prefetch_slot(d, run, &slots);
    for (uint32_t i = 0; i < ROWS_AHEAD; i++)
        prefetch_row(d, run, &rows);
    while (net_mirror_next_slot(run->packet, &at, &next, &number)) {
        prefetch_slot(d, run, &slots);
        prefetch_row(d, run, &rows);
        bool is_absent = read_absent(d, number, before);
        before = before << 1 | is_absent;
        if (!net_decode_is_readable(d)) return false;
        if (is_absent) continue;
        net_mirror_slot* slot = net_decode_name_slot(d, number);
        if (!slot || !read_update(d, run, number, slot)) return false;
    }
    return net_decode_is_readable(d);
}

// In solo code a run with second rows names the packet of its third ones.
static bool read_third_packet(net_decoder* d, run_head* run) {
    uint32_t back = net_decode_take(d, PROTO_SOLO_RUN, NET_SOLO_RUN_THIRD, 0,
                                    (1u << NET_SNAPSHOT_BACK_BITS) - 1);
    if (!net_decode_is_readable(d)) return false;
    if (back == 0) return true;
    run->third = net_mirror_find_packet(d->mirror, (uint16_t)(d->seq - back));
    if (!run->third) return net_decode_miss_base(d, NULL);
    ecs_tick second = run->base_tick - run->base2_ticks;
    bool is_older =
        run->third->tick < second && run->base_tick - run->third->tick <= NET_SOLO_THIRD_MAX;
    d->third_listed = (net_decode_cursor){0};
    return is_older ? true : net_decode_fail(d, NET_ERR_MALFORMED);
}

static bool read_base2(net_decoder* d, run_head* run) {
    run->base2_ticks =
        net_decode_take(d, PROTO_SOLO_RUN, NET_SOLO_RUN_D,
                        net_decode_read_golomb(d, NET_SNAPSHOT_BASE2_ORDER), UINT32_MAX);
    if (!net_decode_is_readable(d)) return false;
    bool is_fine = run->base2_ticks <= (run->is_settled ? 0 : NET_SNAPSHOT_BASE2_TICKS_MAX);
    if (!is_fine) return net_decode_fail(d, NET_ERR_MALFORMED);
    if (run->base2_ticks > run->base_tick) return net_decode_miss_base(d, NULL);
    return run->base2_ticks == 0 || read_third_packet(d, run);
}

static bool read_age(net_decoder* d, run_head* run) {
    uint32_t age =
        net_decode_take(d, PROTO_SOLO_RUN, NET_SOLO_RUN_AGE,
                        net_decode_read_bits(d, NET_SNAPSHOT_AGE_BITS), NET_SNAPSHOT_AGE_SETTLED);
    if (!net_decode_is_readable(d)) return false;
    if (age == 0) return net_decode_fail(d, NET_ERR_MALFORMED);
    if (age > d->tick) return net_decode_miss_base(d, NULL);
    run->is_settled = age == NET_SNAPSHOT_AGE_SETTLED;
    run->base_tick = d->tick - age;
    return read_base2(d, run);
}

static bool read_back(net_decoder* d, run_head* run) {
    uint32_t back = net_decode_take(d, PROTO_SOLO_RUN, NET_SOLO_RUN_BACK,
                                    net_decode_read_bits(d, NET_SNAPSHOT_BACK_BITS),
                                    (1u << NET_SNAPSHOT_BACK_BITS) - 1);
    if (!net_decode_is_readable(d)) return false;
    if (back == 0) return net_decode_fail(d, NET_ERR_MALFORMED);
    run->packet = net_mirror_find_packet(d->mirror, (uint16_t)(d->seq - back));
    if (!run->packet) return net_decode_miss_base(d, NULL);
    run->base_tick = run->packet->tick;
    if (run->base_tick > d->tick || d->tick - run->base_tick > UINT32_MAX)
        return net_decode_fail(d, NET_ERR_MALFORMED);
    return read_base2(d, run);
}

static bool read_run(net_decoder* d) {
    uint32_t kind = net_decode_take(d, PROTO_SOLO_RUN, NET_SOLO_RUN_KIND,
                                    net_decode_read_bits(d, NET_SNAPSHOT_KIND_BITS), UINT8_MAX);
    run_head run = {.kind = (net_snapshot_kind)kind};
    if (!net_decode_is_readable(d)) return false;
    switch (run.kind) {
    case NET_SNAPSHOT_ABSOLUTE:
        return read_named_updates(d, &run);
    case NET_SNAPSHOT_BY_AGE:
        return read_age(d, &run) && read_named_updates(d, &run);
    case NET_SNAPSHOT_BY_PACKET:
        return read_back(d, &run) && read_listed_updates(d, &run);
    }
    return net_decode_fail(d, NET_ERR_MALFORMED);
}

static bool read_all(net_decoder* d) {
    if (!net_decode_lists(d)) return false;
    uint32_t runs = net_decode_read_count(d, NET_SOLO_LIST_RUNS, NET_SNAPSHOT_LIST_ORDER);
    if (!net_decode_is_readable(d)) return false;
    while (runs-- > 0)
        if (!read_run(d)) return false;
    return true;
}

static bool read_padding(net_decoder* d) {
    if (d->is_coded && proto_solo_end(d->solo) == 0) return net_decode_fail(d, NET_ERR_MALFORMED);
    uint64_t left = d->reader->size_bits - d->reader->offset_bits;
    if (left >= 8 || proto_bits_read(d->reader, (uint32_t)left) != 0)
        return net_decode_fail(d, NET_ERR_MALFORMED);
    return true;
}

static bool read_solo_head(net_decoder* d) {
    if (!d->mirror->solo) return true;
    switch (net_solo_receiver_begin(d->mirror->solo, d->seq, d->reader, &d->solo, &d->is_coded)) {
    case NET_SOLO_OK:
        return true;
    case NET_SOLO_MISSING:
        return net_decode_miss_base(d, NULL);
    case NET_SOLO_MALFORMED:
        break;
    }
    return net_decode_fail(d, NET_ERR_MALFORMED);
}

static bool keep_samples(net_decoder* d) {
    if (!d->solo) return true;
    d->mirror->counters.solo += d->is_coded;
    return net_solo_receiver_end(d->mirror->solo, d->seq) ? true
                                                          : net_decode_fail(d, NET_ERR_MEMORY);
}

// Bits of rows count for their components; bits of a refused snapshot are not counted.
static void account(net_mirror* mirror, bool is_decoded, uint64_t body_bits) {
    uint64_t row_bits = 0;
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        const net_row_template* row_template = mirror->records[i].row_template;
        if (!row_template) continue;
        for (uint32_t c = 0; c < row_template->layout.component_count; c++) {
            net_mirror_part* part = &mirror->parts[row_template->layout.components[c].key];
            row_bits += part->here;
            part->all += is_decoded ? part->here : 0;
            part->here = 0;
        }
    }
    if (!is_decoded) return;
    mirror->counters.body_bits += body_bits;
    mirror->counters.head_bits += body_bits - row_bits;
}

net_result net_mirror_decode(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                             proto_bit_reader* snapshot) {
    BASE_ASSERT(mirror->broken == NET_OK);
    mirror->record_count = 0;
    mirror->word_count = mirror->packed_size = 0;
    mirror->snapshot_number++;
    if (!snapshot) return NET_OK;
    net_decoder d; // its rows are set when they are needed
    d.mirror = mirror;
    d.seq = seq;
    d.tick = tick;
    d.reader = snapshot;
    d.number_bits = net_rows_number_bits(mirror->rows);
    d.result = NET_OK;
    d.is_overtaken = d.misses_base = false;
    d.row_template = NULL;
    d.index = 0;
    d.generation = 1;
    d.solo = NULL;
    d.is_coded = false;
    d.third_ticks = 0;
    d.has_like = false;
    uint64_t first = snapshot->offset_bits;
    bool is_decoded = false;
    if (snapshot->size_bits > NET_SNAPSHOT_BYTES_MAX * 8u) {
        d.result = NET_ERR_MALFORMED;
    } else {
        is_decoded = read_solo_head(&d) && read_all(&d);
        uint64_t end = snapshot->offset_bits;
        is_decoded = is_decoded && read_padding(&d) && keep_samples(&d);
        account(mirror, is_decoded, end - first);
    }
    if (is_decoded) return NET_OK;
    if (d.result == NET_ERR_MEMORY) return d.result;
    mirror->counters.missing_bases += d.misses_base;
    bool is_late = (mirror->has_tick && tick < mirror->tick) || d.is_overtaken;
    return is_late ? NET_ERR_STALE : NET_ERR_MALFORMED;
}
