// SPDX-License-Identifier: MIT
/// Private: a stream, shared by stream.c and stream_solo.c.
#pragma once

#include "adaptive.h"
#include "stream.h"

#include "../bench.h"

#include "proto/bits.h"

typedef struct stream_solo stream_solo;

enum {
    BODY_BYTES_MAX = 1 << 18,
    SLOTS_MAX = 4096,
    INDEX_MAX = 4095,
    INDEX_BITS = 12,
    LIVES_MAX = 1 << 20,
    RING_FRAMES = 64, // number of frames whose rows are kept
    FIELDS_MAX = TRACE_FIELDS_MAX,
    AGE_SETTLED = 255,
    ORDER_MAX = 15,
    ABSENT_BITS = 6,
    PARTS_BITS = 3, // number of parts of a template
    KIND_AGE = 1,
    KIND_PACKET = 2,
};

// One incarnation of an entity. Ticks are frames; 0 is before the first packet.
typedef struct life {
    uint32_t place; // in the trace
    uint32_t born, died, changed;
    uint32_t slot, index, generation;
} life;

typedef struct record {
    uint32_t slot, age;
} record;

typedef struct stream {
    const trace* of;
    uint32_t base, stride; // in packets, in frames
    uint32_t tick;
    life* lives;
    uint32_t life_count;
    uint32_t* at_place; // [place of the trace]: current incarnation + 1
    uint32_t* at_slot;  // [slot]: incarnation + 1, until its end was acknowledged
    uint32_t* told;     // [tick][slot]: incarnation + 1 whose row the packet had
    uint32_t slot_cursor;
    uint32_t index_cursor;             // the world also gives out indices in a circle
    uint32_t* index_lives;             // [index]: number of incarnations
    bool* index_used;                  // [index]
    uint64_t* ring;                    // [frame % RING_FRAMES][place][field]
    uint32_t *create, *destroy, *list; // slots of this packet, rising
    uint32_t create_count, destroy_count, list_count;
    uint32_t* base_slots; // of the base packet, rising
    uint32_t base_count;
    record* aged; // by group, then slot
    uint32_t aged_count;
    uint8_t body[BODY_BYTES_MAX];
    stream_result result;
    adaptive* reference;   // NULL: not wanted
    double reference_bits; // of this packet, less those of the row code
    stream_solo* solo;     // NULL: not wanted
} stream;

life* stream_life(const stream* s, uint32_t slot);
/// Check whether the packet of `tick` had a row of the slot's current incarnation.
bool stream_has_row(const stream* s, uint32_t tick, uint32_t slot);
/// Check whether the packet of `tick` listed the slot, whatever it held.
bool stream_is_listed(const stream* s, uint32_t tick, uint32_t slot);
const proto_layout* stream_layout(const stream* s, uint32_t slot);
uint32_t stream_acked_tick(const stream* s);
const uint64_t* stream_row(const stream* s, uint32_t tick, uint32_t slot, uint64_t* scratch);
/// The row of `base_tick`, and the one `d` ticks before it where it was sent. `scratch` has both.
proto_row_base stream_bases(const stream* s, uint32_t slot, uint32_t base_tick, uint32_t d,
                            uint64_t scratch[2][FIELDS_MAX]);
/// Get the newest tick up to `tick` with a row of the slot's incarnation.
uint32_t stream_newest_row(const stream* s, uint32_t slot, uint32_t tick);
uint32_t stream_group_size(const stream* s, uint32_t first);

// ---- stream_solo.c ----

stream_solo* stream_solo_create(void);
void stream_solo_destroy(stream_solo* solo);
/// Write the gathered packet in solo code, read it again and compare. The statistics are those of
/// the packets up to the base packet. @return its bytes.
size_t stream_solo_packet(stream* s);
