// SPDX-License-Identifier: MIT
/// A small server that keeps every promise of WIRE.md, "State body", and decides all else at
/// random. Entities are created, change, get another template, leave the scope, return and are
/// destroyed. Packets carry some of the pending records, with any allowed base rows. It knows rows
/// as words and has no world.
///
/// Order of calls: sender_step, then sender_write for each packet of that tick; sender_ack at any
/// time.
#pragma once

#include <stdlib.h>

#include "body_pen.h"

enum {
    TELLER_SLOTS = 24,
    TELLER_STEPS_MAX = 3000,
    TELLER_PACKETS_MAX = 2 * TELLER_STEPS_MAX,
    TELLER_WORDS_MAX = 12,
    TELLER_VALUE_BYTES_MAX = 256,
    TELLER_TEMPLATES_MAX = 6,
    TELLER_SENDS_MAX = 60, ///< sends of a slot since a row that is still a base
    TELLER_BASES = 6,      ///< acknowledged rows that may be bases
};

typedef enum sender_state { TELLER_FREE, TELLER_SEEN, TELLER_LEFT } sender_state;

typedef struct sender_slot {
    sender_state state;
    ecs_entity handle;
    bool is_destroyed; ///< destroyed: its index may be used again
    const net_row_template* entry;
    uint32_t incarnation;  ///< number of the slot's incarnation; another one for each state
    bool is_created;       ///< a create of this incarnation was acknowledged
    uint32_t changed_step; ///< step of the newest change
    uint32_t acked_step;   ///< newest acknowledged step of this incarnation; with is_created
    ecs_tick floor;        ///< no base may be older
    uint32_t sends;
    uint64_t row[TELLER_WORDS_MAX];
} sender_slot;

typedef struct sender_sent {
    uint32_t incarnation; ///< 0: the packet has no record of this slot
    bool is_row;
} sender_sent;

typedef struct sender_packet {
    uint16_t seq;
    uint32_t step;
    bool is_acked;
    sender_sent told[TELLER_SLOTS];
} sender_packet;

/// The state at one step.
typedef struct sender_past {
    ecs_tick tick;
    uint32_t lives[TELLER_SLOTS];
    uint32_t acked[TELLER_SLOTS]; ///< the incarnation whose row of this tick was acknowledged
    uint32_t sends[TELLER_SLOTS];
    uint64_t rows[TELLER_SLOTS][TELLER_WORDS_MAX];
} sender_past;

typedef struct sender {
    base_rng rng;
    net_rows* rows;
    uint32_t index_max;
    const net_row_template* templates[TELLER_TEMPLATES_MAX];
    uint32_t template_count;
    uint32_t generations[TELLER_SLOTS]; ///< by index - 1: the newest generation
    bool is_alive[TELLER_SLOTS];        ///< by index - 1: the entity exists, in scope or not
    uint32_t life_next;
    uint16_t seq_first;
    sender_slot slots[TELLER_SLOTS];
    sender_packet* packets;
    uint32_t packet_count;
    sender_past* past; ///< [step]
    uint32_t step;     ///< the current step, from 1
    uint32_t runs_by_kind[3], rows_two_bases, rows_settled, rows_absent, rows_unsaid,
        moved; ///< how often each form was used
} sender;

static inline void sender_init(sender* t, net_rows* rows, uint32_t index_max, uint64_t seed) {
    memset(t, 0, sizeof *t);
    t->rng = base_rng_make(seed, 3);
    t->rows = rows;
    t->index_max = index_max;
    t->seq_first = (uint16_t)base_rng_u32(&t->rng);
    t->packets = calloc(TELLER_PACKETS_MAX, sizeof *t->packets);
    t->past = calloc(TELLER_STEPS_MAX, sizeof *t->past);
    BASE_ASSERT(t->packets && t->past);
    t->past[0].tick = seed % 4 ? base_rng_below(&t->rng, 1000) : (UINT64_C(1) << 32) - 200;
}

static inline void sender_deinit(sender* t) {
    free(t->packets);
    free(t->past);
}

static inline void sender_add_template(sender* t, const net_row_template* entry) {
    BASE_ASSERT(entry && entry->layout.field_count <= TELLER_WORDS_MAX);
    for (uint32_t f = 0; f < entry->layout.field_count; f++)
        BASE_ASSERT(entry->layout.fields[f].offset_bytes + 8 <= TELLER_VALUE_BYTES_MAX);
    BASE_ASSERT(t->template_count < TELLER_TEMPLATES_MAX);
    t->templates[t->template_count++] = entry;
}

static inline ecs_tick sender_tick(const sender* t) {
    return t->past[t->step].tick;
}

static inline uint32_t sender_below(sender* t, uint32_t count) {
    return base_rng_below(&t->rng, count);
}

// ---- entities ----

static inline void sender_begin_incarnation(sender* t, sender_slot* slot, sender_state state) {
    slot->state = state;
    slot->incarnation = ++t->life_next;
    slot->is_created = false;
    slot->changed_step = t->step;
    slot->floor = 0;
}

static inline void sender_become(sender* t, sender_slot* slot) {
    slot->entry = t->templates[sender_below(t, t->template_count)];
    memcpy(slot->row, slot->entry->defaults, slot->entry->layout.field_count * sizeof slot->row[0]);
    sender_begin_incarnation(t, slot, TELLER_SEEN);
}

static inline sender_slot* sender_pick(sender* t, sender_state state) {
    uint32_t first = sender_below(t, TELLER_SLOTS);
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        sender_slot* slot = &t->slots[(first + i) % TELLER_SLOTS];
        if (slot->state == state) return slot;
    }
    return NULL;
}

// Check whether a slot has an entity of this index, or its destroy is not acknowledged yet.
static inline bool sender_is_held(const sender* t, uint32_t index) {
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        const sender_slot* slot = &t->slots[i];
        if (ecs_entity_index(slot->handle) != index) continue;
        if (slot->state == TELLER_SEEN || (slot->state == TELLER_LEFT && !slot->is_destroyed))
            return true;
    }
    return false;
}

// Put an entity into a free slot: a new one, or one that was in scope before, in any slot.
static inline void sender_come(sender* t) {
    sender_slot* slot = sender_pick(t, TELLER_FREE);
    uint32_t index = 1 + sender_below(t, TELLER_SLOTS);
    if (!slot || sender_is_held(t, index)) return;
    uint32_t* generation = &t->generations[index - 1];
    bool is_back = t->is_alive[index - 1] && base_rng_chance(&t->rng, 0.7);
    if (!is_back) *generation = *generation == ECS_GENERATION_MAX ? 1 : *generation + 1;
    t->moved += is_back;
    t->is_alive[index - 1] = true;
    slot->handle = ecs_entity_make(index, *generation);
    slot->is_destroyed = false;
    sender_become(t, slot);
}

static inline void sender_change(sender* t, sender_slot* slot) {
    const proto_layout* layout = &slot->entry->layout;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        if (base_rng_chance(&t->rng, 0.6)) continue;
        const proto_quant* quant = &layout->fields[f].quant;
        uint64_t mask = quant->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << quant->bits) - 1;
        uint64_t word = slot->row[f] + sender_below(t, 9) - 4;
        if (quant->kind == PROTO_ENTITY)
            word = ecs_entity_make(1 + sender_below(t, 30), 1 + sender_below(t, 3));
        else if (base_rng_chance(&t->rng, 0.1))
            word = base_rng_u64(&t->rng);
        slot->row[f] = proto_quant_canonical(quant, word & mask);
    }
    // Make words that a world can have: dequantise and quantise them.
    uint8_t memory[TELLER_VALUE_BYTES_MAX] = {0};
    for (uint32_t c = 0; c < layout->component_count; c++) {
        proto_row_write_component(layout, c, slot->row, memory);
        proto_row_read_component(layout, c, memory, slot->row);
    }
    slot->changed_step = t->step;
}

static inline void sender_mutate(sender* t, sender_slot* slot) {
    uint32_t what = sender_below(t, 40);
    if (slot->state == TELLER_LEFT && !slot->is_destroyed && what < 4) {
        // It returns before the client acknowledged the destroy.
        sender_begin_incarnation(t, slot, TELLER_SEEN);
        return;
    }
    if (slot->state != TELLER_SEEN) return;
    if (what == 0) {
        sender_become(t, slot);
    } else if (what == 1) {
        slot->is_destroyed = base_rng_chance(&t->rng, 0.6);
        if (slot->is_destroyed) t->is_alive[ecs_entity_index(slot->handle) - 1] = false;
        sender_begin_incarnation(t, slot, TELLER_LEFT);
    } else if (what < 14) {
        sender_change(t, slot);
    }
}

static inline void sender_step(sender* t, bool is_still) {
    BASE_ASSERT(t->step + 1 < TELLER_STEPS_MAX);
    ecs_tick before = sender_tick(t);
    t->step++;
    uint32_t pace = sender_below(t, 100);
    sender_past* past = &t->past[t->step];
    past->tick = before + (pace == 0 ? 300 : pace < 5 ? 7 : 1);
    if (!is_still) {
        if (base_rng_chance(&t->rng, 0.3)) sender_come(t);
        for (uint32_t i = 0; i < TELLER_SLOTS; i++)
            sender_mutate(t, &t->slots[i]);
    }
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        past->lives[i] = t->slots[i].incarnation;
        past->sends[i] = t->slots[i].sends;
        memcpy(past->rows[i], t->slots[i].row, sizeof past->rows[i]);
    }
}

// ---- packets ----

static inline bool sender_is_pending(const sender_slot* slot) {
    if (slot->state == TELLER_LEFT) return true;
    return slot->state == TELLER_SEEN &&
           (!slot->is_created || slot->acked_step < slot->changed_step);
}

static inline bool sender_is_base(const sender* t, uint32_t number, uint32_t step) {
    const sender_slot* slot = &t->slots[number];
    const sender_past* past = &t->past[step];
    return past->acked[number] == slot->incarnation && past->tick >= slot->floor &&
           slot->sends - past->sends[number] <= TELLER_SENDS_MAX;
}

// These are the bases of a row. No later row will use older ones.
static inline void sender_use(sender* t, uint32_t number, ecs_tick oldest) {
    if (oldest > t->slots[number].floor) t->slots[number].floor = oldest;
}

static inline void sender_send(sender* t, sender_packet* packet, uint32_t number, bool is_row) {
    packet->told[number] = (sender_sent){t->slots[number].incarnation, is_row};
    t->slots[number].sends += is_row;
}

static inline proto_row_base sender_bases(sender* t, uint32_t number, uint32_t base_step,
                                          uint32_t base2_step) {
    const sender_past *now = &t->past[t->step], *past = &t->past[base_step];
    proto_row_base base = {.base = past->rows[number], .ticks = (uint32_t)(now->tick - past->tick)};
    ecs_tick oldest = past->tick;
    if (base2_step) {
        oldest = t->past[base2_step].tick;
        base.base2 = t->past[base2_step].rows[number];
        base.ticks2 = (uint32_t)(past->tick - oldest);
    }
    sender_use(t, number, oldest);
    return base;
}

// Choose one of the newest acknowledged rows before a step. @return 0: none.
static inline uint32_t sender_pick_base(sender* t, uint32_t number, uint32_t step, ecs_tick span) {
    uint32_t found[TELLER_BASES], count = 0;
    ecs_tick from = t->past[step].tick;
    for (uint32_t s = step - 1; s > 0 && count < TELLER_BASES; s--) {
        if (from - t->past[s].tick > span) break;
        if (sender_is_base(t, number, s) && t->past[s].tick < from) found[count++] = s;
    }
    return count ? found[sender_below(t, count)] : 0;
}

static inline bool sender_may_settle(const sender* t, uint32_t number, uint32_t* base_step) {
    ecs_tick tick = sender_tick(t);
    const sender_slot* slot = &t->slots[number];
    if (tick < NET_SNAPSHOT_AGE_SETTLED || !slot->is_created) return false;
    *base_step = slot->acked_step;
    if (!sender_is_base(t, number, *base_step)) return false;
    ecs_tick base_tick = t->past[*base_step].tick, end = tick - NET_SNAPSHOT_AGE_SETTLED;
    if (base_tick > end) return false;
    for (uint32_t p = t->packet_count; p-- > 0;) {
        ecs_tick sent = t->past[t->packets[p].step].tick;
        if (sent <= base_tick) break;
        if (sent <= end && t->packets[p].told[number].incarnation) return false;
    }
    return true;
}

typedef struct sender_body {
    sender_packet* packet;
    bool is_chosen[TELLER_SLOTS]; ///< chosen and not written yet
} sender_body;

static inline void sender_write_lists(sender* t, body_pen* pen, sender_body* body) {
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool is_in[TELLER_SLOTS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
            const sender_slot* slot = &t->slots[i];
            is_in[i] =
                body->is_chosen[i] && (pass == 0 ? slot->state == TELLER_LEFT
                                                 : slot->state == TELLER_SEEN && !slot->is_created);
            count += is_in[i];
        }
        pen->order = sender_below(t, 5);
        pen_list(pen, count);
        for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
            if (!is_in[i]) continue;
            const sender_slot* slot = &t->slots[i];
            if (pass == 0)
                pen_slot(pen, i);
            else
                pen_create(pen, i, slot->handle, slot->entry, slot->row);
            sender_send(t, body->packet, i, pass == 1);
            body->is_chosen[i] = false;
        }
    }
}

// Check that no record of a slot was ever sent with the tick of a step.
static inline bool sender_is_unsaid(const sender* t, uint32_t number, uint32_t step) {
    ecs_tick tick = t->past[step].tick;
    for (uint32_t p = t->packet_count; p-- > 0;) {
        if (t->past[t->packets[p].step].tick < tick) break;
        if (t->packets[p].step == step && t->packets[p].told[number].incarnation) return false;
    }
    return true;
}

// Write a run by packet, with an acknowledged base packet. Slots that were not chosen or have no
// base are absent.
static inline bool sender_run_packet(sender* t, body_pen* pen, sender_body* body) {
    uint32_t back = 1 + sender_below(t, t->packet_count < 64 ? t->packet_count : 63);
    if (back >= t->packet_count) return false;
    const sender_packet* base = &t->packets[t->packet_count - 1 - back];
    if (!base->is_acked) return false;
    uint32_t base2_step = base->step > 3 ? base->step - 1 - sender_below(t, 3) : 0;
    if (t->past[base->step].tick - t->past[base2_step].tick > NET_SNAPSHOT_BASE2_TICKS_MAX ||
        base_rng_chance(&t->rng, 0.4))
        base2_step = 0;
    pen_run_packet(pen, back,
                   base2_step ? (uint32_t)(t->past[base->step].tick - t->past[base2_step].tick)
                              : 0);
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        if (!base->told[i].is_row) continue;
        bool has_second = base2_step && sender_is_base(t, i, base2_step);
        bool is_fit = body->is_chosen[i] && base->told[i].incarnation == t->slots[i].incarnation &&
                      sender_is_base(t, i, base->step) &&
                      (!base2_step || has_second || sender_is_unsaid(t, i, base2_step));
        if (!is_fit) {
            proto_row_write_absent(&pen->bits);
            t->rows_absent++;
            continue;
        }
        proto_row_base bases = sender_bases(t, i, base->step, has_second ? base2_step : 0);
        t->rows_two_bases += has_second;
        t->rows_unsaid += base2_step && !has_second;
        pen_row(pen, t->slots[i].entry, bases, t->slots[i].row);
        sender_send(t, body->packet, i, true);
        body->is_chosen[i] = false;
    }
    return true;
}

// Write runs of one record each, in any order, each with its own bases.
static inline void sender_run_single(sender* t, body_pen* pen, sender_body* body, uint32_t number) {
    sender_slot* slot = &t->slots[number];
    uint32_t settled_step, base_step = sender_pick_base(t, number, t->step, NET_BASE_AGE_MAX);
    proto_row_base bases = {0};
    pen->order = sender_below(t, 5);
    if (sender_may_settle(t, number, &settled_step) && base_rng_chance(&t->rng, 0.8)) {
        bases = sender_bases(t, number, settled_step, 0);
        bases.ticks = 0;
        pen_run_age(pen, NET_SNAPSHOT_AGE_SETTLED, 0, 1);
        t->rows_settled++;
        t->runs_by_kind[NET_SNAPSHOT_BY_AGE]++;
    } else if (base_step && base_rng_chance(&t->rng, 0.9)) {
        uint32_t base2_step = sender_pick_base(t, number, base_step, NET_SNAPSHOT_BASE2_TICKS_MAX);
        bases = sender_bases(t, number, base_step, base2_step);
        t->rows_two_bases += base2_step != 0;
        pen_run_age(pen, bases.ticks, bases.ticks2, 1);
        t->runs_by_kind[NET_SNAPSHOT_BY_AGE]++;
    } else {
        pen_run_absolute(pen, 1);
        t->runs_by_kind[NET_SNAPSHOT_ABSOLUTE]++;
    }
    pen_slot(pen, number);
    pen_row(pen, slot->entry, bases, slot->row);
    sender_send(t, body->packet, number, true);
    body->is_chosen[number] = false;
}

/// Write one packet of the current tick. @return its number; the pen is empty when nothing is
/// pending.
static inline uint32_t sender_write(sender* t, body_pen* pen) {
    BASE_ASSERT(t->packet_count < TELLER_PACKETS_MAX);
    uint32_t number = t->packet_count++;
    sender_body body = {.packet = &t->packets[number]};
    body.packet->seq = (uint16_t)(t->seq_first + number);
    body.packet->step = t->step;
    bool is_any = false;
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        body.is_chosen[i] = sender_is_pending(&t->slots[i]) && base_rng_chance(&t->rng, 0.6);
        is_any = is_any || body.is_chosen[i];
    }
    pen_begin(pen, t->index_max, t->rows);
    if (!is_any) return number;
    sender_write_lists(t, pen, &body);
    // The number of runs comes first, so runs by packet are written to a copy of the pen's rest.
    body_pen* rest = malloc(sizeof *rest);
    BASE_ASSERT(rest);
    pen_begin(rest, t->index_max, t->rows);
    uint32_t runs = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (!base_rng_chance(&t->rng, 0.7) || !sender_run_packet(t, rest, &body)) continue;
        t->runs_by_kind[NET_SNAPSHOT_BY_PACKET]++;
        runs++;
    }
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        if (!body.is_chosen[i]) continue;
        sender_run_single(t, rest, &body, i);
        runs++;
    }
    pen_runs(pen, runs);
    proto_bit_reader bits = proto_bit_reader_make(rest->bytes, sizeof rest->bytes);
    for (uint64_t left = rest->bits.size_bits; left > 0;) {
        uint32_t count = left < 64 ? (uint32_t)left : 64;
        pen_put(pen, proto_bits_read(&bits, count), count);
        left -= count;
    }
    free(rest);
    return number;
}

/// Acknowledge packet `number`.
static inline void sender_ack(sender* t, uint32_t number) {
    sender_packet* packet = &t->packets[number];
    packet->is_acked = true;
    for (uint32_t i = 0; i < TELLER_SLOTS; i++) {
        sender_slot* slot = &t->slots[i];
        if (packet->told[i].incarnation == 0) continue;
        if (packet->told[i].is_row) t->past[packet->step].acked[i] = packet->told[i].incarnation;
        if (packet->told[i].incarnation != slot->incarnation) continue;
        if (slot->state == TELLER_LEFT) {
            slot->state = TELLER_FREE;
        } else {
            if (!slot->is_created || packet->step > slot->acked_step)
                slot->acked_step = packet->step;
            slot->is_created = true;
        }
    }
}

static inline bool sender_is_settled(const sender* t) {
    for (uint32_t i = 0; i < TELLER_SLOTS; i++)
        if (sender_is_pending(&t->slots[i])) return false;
    return true;
}

/// Get the row of an entity at a tick; NULL when the client did not have it then.
static inline const uint64_t* sender_row_at(const sender* t, uint32_t number, ecs_tick tick) {
    for (uint32_t s = t->step; s > 0; s--)
        if (t->past[s].tick == tick) return t->past[s].rows[number];
    return NULL;
}
