// SPDX-License-Identifier: MIT
// A recorded world through the real row code, as the stream of one client who sees all of it.
//
// Every `stride` frames a packet is written whose base is the packet `base` packets before: what a server writes
// when acknowledgements take that long and nothing is lost. It is read again by a reader that knows only what the
// packets said, and compared. Counted are whole bytes of the body (WIRE.md, "State body"): destroys, creates
// (repeated until acknowledged), the list of the base packet, and runs by age for what is not in it. Without: the
// header of the state, events, transport.
//
// A row is sent when it changed since the base packet, also when it changed back. Its second base row is that of the
// packet before the base packet; what has none is coded outside of the list, by age.
#include "bench.h"

#include "base/assert.h"
#include "proto/layout.h"
#include "trace_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BODY_BYTES_MAX = 1 << 18,
    INDEX_BITS = 11,
    AGE_SETTLED = 255,
    ORDER_MAX = 15,
    KIND_AGE = 1,
    KIND_PACKET = 2,
    RUN_MEMBERS_MIN = 3, // fewer do not pay for a run of their own
};

// What packet `tick` told of a slot.
typedef enum told { TOLD_NOTHING, TOLD_ROW, TOLD_CREATE, TOLD_DESTROY } told;

typedef struct record {
    uint32_t slot, age, d;
} record;

typedef struct stream {
    const trace_file* trace;
    uint32_t base, stride; // in packets, in frames
    uint32_t tick;
    uint8_t* told;           // [tick][slot]
    uint32_t* changed;       // [slot]: tick of the last change of its row
    uint32_t* born;          // [slot]: tick of the first packet of its life
    uint32_t *create, *list, *absent_of; // slots of this packet
    uint32_t create_count, destroy_count, list_count;
    uint32_t* destroy;
    record* aged;
    uint32_t aged_count;
    uint64_t rows, bits;
    double ns;
} stream;

static told told_at(const stream* s, uint32_t tick, uint32_t slot) {
    return (told)s->told[(size_t)tick * s->trace->slots + slot];
}

static bool is_row(const stream* s, uint32_t tick, uint32_t slot) {
    told what = told_at(s, tick, slot);
    return what == TOLD_ROW || what == TOLD_CREATE;
}

// Was the slot's present life told of in the packet of `tick`?
static bool has_row(const stream* s, uint32_t tick, uint32_t slot) {
    return tick >= s->born[slot] && is_row(s, tick, slot);
}

static uint32_t acked_tick(const stream* s) {
    uint32_t lag = s->base * s->stride;
    return s->tick > lag ? s->tick - lag : 0;
}

// ---- what goes into a packet ----

static void note_aged(stream* s, uint32_t slot, uint32_t tick) {
    record* made = &s->aged[s->aged_count++];
    *made = (record){.slot = slot, .age = s->tick - tick};
    if (made->age >= AGE_SETTLED) {
        made->age = AGE_SETTLED;
    } else if (tick >= s->stride && has_row(s, tick - s->stride, slot)) {
        made->d = s->stride;
    }
}

// The newest tick up to `tick` with a row of the slot's life.
static uint32_t newest_row(const stream* s, uint32_t slot, uint32_t tick) {
    while (!has_row(s, tick, slot)) {
        bench_require(tick >= s->stride, "an update has a base");
        tick -= s->stride;
    }
    return tick;
}

static void gather_slot(stream* s, uint32_t slot) {
    const trace_file* trace = s->trace;
    uint32_t acked = acked_tick(s), before = s->tick - s->stride;
    uint32_t life = trace_life(trace, s->tick, slot), was = trace_life(trace, before, slot);
    uint8_t* told = &s->told[(size_t)s->tick * trace->slots + slot];
    if (life == 0) {
        if (was != 0) s->changed[slot] = s->tick;
        // Told until the packet that said so first is acknowledged.
        bool was_known = s->born[slot] > 0 && s->born[slot] < s->changed[slot];
        if (was_known && s->changed[slot] > acked) {
            s->destroy[s->destroy_count++] = slot;
            *told = TOLD_DESTROY;
        }
        return;
    }
    if (life != was) {
        s->born[slot] = s->tick;
        s->changed[slot] = s->tick;
    } else if (trace_differs(trace, s->tick, before, slot)) {
        s->changed[slot] = s->tick;
    }
    if (s->changed[slot] <= acked) return;
    s->rows++;
    if (s->born[slot] > acked) {
        s->create[s->create_count++] = slot;
        *told = TOLD_CREATE;
        return;
    }
    *told = TOLD_ROW;
    bool is_listed = has_row(s, acked, slot) && acked >= s->stride && has_row(s, acked - s->stride, slot);
    if (is_listed) {
        s->list[s->list_count++] = slot;
    } else {
        note_aged(s, slot, newest_row(s, slot, acked));
    }
}
