// SPDX-License-Identifier: MIT
// A recorded world in the real row code, as the stream of one client that sees everything.
//
// Every `stride` frames a packet is written whose base is the packet `base` packets before. A
// server does so when acknowledgements take that long and nothing is lost. A reader that knows only
// the packets reads it and compares. The row counts whole bytes of the body (WIRE.md, "State
// body"): destroys, creates (repeated until acknowledged), the list of the base packet, and runs by
// age for slots that are not in it. It does not count the header of the state, events and
// transport.
//
// A row is sent when it changed since the base packet, also when it changed back. Its second base
// row is that of the packet before the base packet, if that packet had one.
#include "stream.h"

#include "../bench.h"

#include "proto/solo.h"

#include <stdlib.h>
#include <string.h>

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
    stream_solo* solo;
} stream;

static uint32_t* sent_of(const stream* s, uint32_t tick) {
    return s->told + (size_t)tick * SLOTS_MAX;
}

static life* life_of(const stream* s, uint32_t slot) {
    return &s->lives[s->at_slot[slot] - 1];
}

// Check whether the packet of `tick` had a row of the slot's current incarnation.
static bool has_row(const stream* s, uint32_t tick, uint32_t slot) {
    return tick < s->of->frames && s->at_slot[slot] != 0 &&
           sent_of(s, tick)[slot] == s->at_slot[slot];
}

static bool is_listed(const stream* s, uint32_t tick, uint32_t slot) {
    return tick < s->of->frames && sent_of(s, tick)[slot] != 0;
}

static const proto_layout* layout_of(const stream* s, uint32_t slot) {
    return trace_layout(s->of, s->tick, life_of(s, slot)->place);
}

static uint32_t acked_tick(const stream* s) {
    uint32_t lag = s->base * s->stride;
    return s->tick > lag ? s->tick - lag : 0;
}

static const uint64_t* row_of(const stream* s, uint32_t tick, uint32_t slot, uint64_t* scratch) {
    uint32_t place = life_of(s, slot)->place;
    if (s->tick - tick < RING_FRAMES)
        return s->ring +
               ((size_t)(tick % RING_FRAMES) * s->of->places + place) * s->of->field_count;
    trace_row(s->of, tick, place, scratch);
    return scratch;
}

// ---- entities ----

static void begin_life(stream* s, uint32_t place) {
    bench_require(s->life_count < LIVES_MAX, "too many lives");
    life* made = &s->lives[s->life_count++];
    do {
        s->index_cursor = s->index_cursor % INDEX_MAX + 1;
    } while (s->index_used[s->index_cursor]);
    s->index_used[s->index_cursor] = true;
    uint32_t tries = 0;
    do { // slots too: entities created one after the other are neighbours in both
        bench_require(++tries < SLOTS_MAX, "no slot is left: too many entities end and begin");
        s->slot_cursor = (s->slot_cursor + 1) % SLOTS_MAX;
    } while (s->at_slot[s->slot_cursor] != 0);
    *made = (life){.place = place,
                   .born = s->tick,
                   .changed = s->tick,
                   .slot = s->slot_cursor,
                   .index = s->index_cursor,
                   .generation = ++s->index_lives[s->index_cursor]};
    s->at_place[place] = s->at_slot[s->slot_cursor] = s->life_count;
}

static void follow_place(stream* s, uint32_t place) {
    uint32_t now = trace_life(s->of, s->tick, place);
    uint32_t was = trace_life(s->of, s->tick - s->stride, place);
    if (s->at_place[place] &&
        (now != was || trace_template(s->of, s->tick, place) !=
                           trace_template(s->of, s->tick - s->stride, place))) {
        life* ended = &s->lives[s->at_place[place] - 1];
        ended->died = s->tick;
        s->index_used[ended->index] = false;
        s->at_place[place] = 0;
    }
    if (now == 0) return;
    if (s->at_place[place] == 0) {
        begin_life(s, place);
    } else if (trace_differs(s->of, s->tick, s->tick - s->stride, place)) {
        s->lives[s->at_place[place] - 1].changed = s->tick;
    }
}

// ---- the content of a packet ----

// Get the newest tick up to `tick` with a row of the slot's incarnation.
static uint32_t newest_row(const stream* s, uint32_t slot, uint32_t tick) {
    tick -= tick % s->stride; // only these ticks have packets
    while (!has_row(s, tick, slot)) {
        bench_require(tick >= s->stride, "an update has a base");
        tick -= s->stride;
    }
    return tick;
}

static void gather_slot(stream* s, uint32_t slot) {
    if (s->at_slot[slot] == 0) return;
    uint32_t acked = acked_tick(s);
    const life* own = life_of(s, slot);
    if (own->died) {
        if (own->died > acked) {
            s->destroy[s->destroy_count++] = slot;
        } else {
            s->at_slot[slot] = 0;
        }
        return;
    }
    if (own->changed <= acked) return;
    s->result.rows++;
    sent_of(s, s->tick)[slot] = s->at_slot[slot];
    if (own->born > acked) {
        s->create[s->create_count++] = slot;
    } else if (has_row(s, acked, slot)) {
        s->list[s->list_count++] = slot;
    } else {
        uint32_t age = s->tick - newest_row(s, slot, acked);
        s->aged[s->aged_count++] = (record){slot, age < AGE_SETTLED ? age : AGE_SETTLED};
    }
}

static int compare_records(const void* a, const void* b) {
    const record *x = a, *y = b;
    if (x->age != y->age) return x->age < y->age ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static uint32_t group_size(const stream* s, uint32_t first) {
    uint32_t count = 1;
    while (first + count < s->aged_count && s->aged[first + count].age == s->aged[first].age)
        count++;
    return count;
}

static void gather(stream* s) {
    s->create_count = s->destroy_count = s->list_count = s->aged_count = 0;
    for (uint32_t place = 0; place < s->of->places; place++)
        follow_place(s, place);
    for (uint32_t slot = 0; slot < SLOTS_MAX; slot++)
        gather_slot(s, slot);
    qsort(s->aged, s->aged_count, sizeof *s->aged, compare_records);
    s->base_count = 0;
    for (uint32_t slot = 0; slot < SLOTS_MAX; slot++)
        if (sent_of(s, acked_tick(s))[slot] != 0) s->base_slots[s->base_count++] = slot;
    uint64_t* rows = s->ring + (size_t)(s->tick % RING_FRAMES) * s->of->places * s->of->field_count;
    for (uint32_t place = 0; place < s->of->places; place++)
        if (s->at_place[place])
            trace_row(s->of, s->tick, place, rows + (size_t)place * s->of->field_count);
}

// ---- slots ----

static uint32_t golomb_bits(uint32_t value, uint32_t order) {
    uint64_t u = (uint64_t)value + (UINT64_C(1) << order);
    return 2 * (63 - (uint32_t)__builtin_clzll(u)) + 1 - order;
}

// Get the order that gives the shortest codes for the gaps between these slots (`bytes` from one to
// the next).
static uint32_t best_order(const void* slots, size_t bytes, uint32_t count) {
    uint32_t best = 0, best_bits = UINT32_MAX;
    for (uint32_t order = 0; order <= ORDER_MAX; order++) {
        uint32_t bits = 0, next = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t slot = *(const uint32_t*)(const void*)((const uint8_t*)slots + i * bytes);
            bits += golomb_bits(slot - next, order);
            next = slot + 1;
        }
        if (bits >= best_bits) continue;
        best_bits = bits;
        best = order;
    }
    return best;
}

// A body that is written, or read again and compared with what was written. The reader knows the
// rows of earlier packets: they were compared with the trace on arrival.
typedef struct pen {
    stream* s;
    proto_bit_writer writer;
    proto_bit_reader reader;
    bool is_reading;
} pen;

static void put(pen* to, uint64_t value, uint32_t bits) {
    if (to->is_reading)
        bench_require(proto_bits_read(&to->reader, bits) == value, "a number that was read");
    else
        proto_bits_write(&to->writer, value, bits);
}

static void put_golomb(pen* to, uint32_t value, uint32_t order) {
    if (to->is_reading)
        bench_require(proto_bits_read_golomb(&to->reader, order) == value, "a gap that was read");
    else
        proto_bits_write_golomb(&to->writer, value, order);
}

static void put_row(pen* to, uint32_t slot, const proto_row_base* against) {
    stream* s = to->s;
    const uint64_t* row = row_of(s, s->tick, slot, NULL);
    const proto_layout* layout = layout_of(s, slot);
    if (!to->is_reading) {
        proto_row_write(layout, against, row, &to->writer, NULL);
        return;
    }
    uint64_t got[FIELDS_MAX];
    proto_row_read(layout, against, got, &to->reader, NULL);
    bench_require(!to->reader.failed && memcmp(got, row, layout->field_count * sizeof *got) == 0,
                  "a row that was read differs from what was written");
}

static proto_row_base bases_of(const stream* s, uint32_t slot, uint32_t base_tick, uint32_t d,
                               uint64_t scratch[2][FIELDS_MAX]) {
    proto_row_base against = {.base = row_of(s, base_tick, slot, scratch[0])};
    if (s->tick - base_tick < AGE_SETTLED) against.ticks = s->tick - base_tick;
    if (d > 0 && has_row(s, base_tick - d, slot)) {
        against.base2 = row_of(s, base_tick - d, slot, scratch[1]);
        against.ticks2 = d;
    }
    return against;
}

static void put_update(pen* to, uint32_t slot, uint32_t base_tick, uint32_t d) {
    uint64_t scratch[2][FIELDS_MAX];
    bench_require(has_row(to->s, base_tick, slot), "a base row was never sent");
    proto_row_base against = bases_of(to->s, slot, base_tick, d, scratch);
    put_row(to, slot, &against);
}

// Of numbers up to `most`, at least 1.
static uint32_t number_bits(uint32_t most) {
    return most == 0 ? 1 : 32 - (uint32_t)__builtin_clz(most);
}

static void put_creates(pen* to) {
    const stream* s = to->s;
    put_golomb(to, s->create_count, 0);
    if (s->create_count == 0) return;
    uint32_t order = best_order(s->create, sizeof *s->create, s->create_count), next = 0;
    uint32_t index = 0, template_ = UINT32_MAX;
    const uint32_t template_bits = number_bits(s->of->template_count - 1);
    put(to, order, 4);
    for (uint32_t i = 0; i < s->create_count; i++) {
        uint32_t slot = s->create[i];
        const life* own = life_of(s, slot);
        put_golomb(to, slot - next, order);
        next = slot + 1;
        put(to, own->index == index + 1, 1);
        if (own->index != index + 1) put(to, own->index, INDEX_BITS);
        index = own->index;
        put(to, own->generation == 1, 1);
        if (own->generation != 1) put(to, own->generation, 10);
        uint32_t what = trace_template(s->of, s->tick, own->place);
        put(to, what == template_, 1);
        if (what != template_) put(to, (uint64_t)what << PARTS_BITS, PARTS_BITS + template_bits);
        template_ = what;
        put_row(to, slot, &(proto_row_base){.base = s->of->defaults[what]});
    }
}

static bool put_absent(pen* to, bool is_absent) {
    if (!to->is_reading) {
        if (is_absent) proto_row_write_absent(&to->writer);
        return is_absent;
    }
    bench_require(proto_row_read_absent(&to->reader) == is_absent, "an absent row");
    return is_absent;
}

static void put_list(pen* to) {
    const stream* s = to->s;
    put(to, KIND_PACKET, 2);
    put(to, s->base, 6);
    put_golomb(to, s->stride, 2);
    for (uint32_t i = 0, n = 0; i < s->base_count; i++)
        if (!put_absent(to, n == s->list_count || s->list[n] != s->base_slots[i]))
            put_update(to, s->list[n++], acked_tick(s), s->stride);
}

static void put_aged(pen* to, uint32_t first, uint32_t count) {
    const stream* s = to->s;
    const record* group = &s->aged[first];
    uint32_t order = best_order(&group->slot, sizeof *group, count), next = 0;
    put(to, KIND_AGE, 2);
    put(to, group->age, 8);
    uint32_t d = group->age < AGE_SETTLED ? s->stride : 0;
    put_golomb(to, d, 2);
    put_golomb(to, count - 1, 1);
    put(to, order, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = group[i].slot;
        put_golomb(to, slot - next, order);
        next = slot + 1;
        uint32_t tick = s->tick - group->age;
        if (group->age == AGE_SETTLED) tick = newest_row(s, slot, tick);
        put_update(to, slot, tick, d);
    }
}

static void put_body(pen* to) {
    const stream* s = to->s;
    put_golomb(to, s->destroy_count, 0);
    if (s->destroy_count > 0) {
        uint32_t order = best_order(s->destroy, sizeof *s->destroy, s->destroy_count), next = 0;
        put(to, order, 4);
        for (uint32_t i = 0; i < s->destroy_count; i++) {
            put_golomb(to, s->destroy[i] - next, order);
            next = s->destroy[i] + 1;
        }
    }
    put_creates(to);
    uint32_t runs = s->list_count > 0;
    for (uint32_t i = 0; i < s->aged_count; i += group_size(s, i))
        runs++;
    put_golomb(to, runs, 0);
    if (s->list_count > 0) put_list(to);
    for (uint32_t i = 0; i < s->aged_count; i += group_size(s, i))
        put_aged(to, i, group_size(s, i));
}

// @return its bytes; *ns: the time of writing.
static size_t write_body(stream* s, double* ns) {
    pen to = {.s = s};
    double begin_ns = bench_now_ns();
    to.writer = proto_bit_writer_make(s->body, sizeof s->body);
    put_body(&to);
    *ns = bench_now_ns() - begin_ns;
    bench_require(!to.writer.failed, "a body is too long");
    const size_t bytes = proto_bit_writer_bytes(&to.writer);
    to.is_reading = true;
    to.reader = proto_bit_reader_make(s->body, bytes);
    put_body(&to);
    bench_require(!to.reader.failed && (to.reader.offset_bits + 7) / 8 == bytes,
                  "the end of a body");
    return bytes;
}

// ---- the same packet in solo code ----

enum {
    SOLO_SAMPLES = 1 << 16,
    SOLO_AHEAD = 32,
    THIRD_MIN = 5 /* as the server */
};

struct stream_solo {
    proto_solo_model model;
    proto_solo_coder coder;
    proto_solo_sample* samples[SOLO_AHEAD]; // of the newest packets
    uint32_t counts[SOLO_AHEAD];
    proto_solo_sample* read_samples;
    uint8_t body[BODY_BYTES_MAX];
    uint32_t packets;
};

static stream_solo* solo_create(void) {
    stream_solo* made = bench_allocate(sizeof *made);
    proto_solo_model_reset(&made->model);
    for (uint32_t i = 0; i < SOLO_AHEAD; i++)
        made->samples[i] = bench_allocate(SOLO_SAMPLES * sizeof *made->samples[i]);
    made->read_samples = bench_allocate(SOLO_SAMPLES * sizeof *made->read_samples);
    return made;
}

static void solo_destroy(stream_solo* solo) {
    for (uint32_t i = 0; i < SOLO_AHEAD; i++)
        bench_release(solo->samples[i]);
    bench_release(solo->read_samples);
    bench_release(solo);
}

static void solo_row(stream* s, proto_solo_coder* coder, uint32_t slot,
                     const proto_row_base* against, const proto_solo_third* third) {
    uint64_t row[FIELDS_MAX] = {0};
    const uint64_t* real = row_of(s, s->tick, slot, NULL);
    const proto_layout* layout = layout_of(s, slot);
    if (coder->mode == PROTO_SOLO_WRITE) memcpy(row, real, layout->field_count * sizeof *row);
    proto_solo_row(coder, trace_template(s->of, s->tick, life_of(s, slot)->place), layout, against,
                   third, row);
    bench_require(memcmp(row, real, layout->field_count * sizeof *row) == 0, "a solo row");
}

static uint32_t solo_number(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                            uint32_t value) {
    uint32_t got = (uint32_t)proto_solo_number(coder, field, situation, value);
    bench_require(got == value, "a solo number");
    return got;
}

static void solo_update(stream* s, proto_solo_coder* coder, uint32_t slot, uint32_t base_tick,
                        uint32_t d) {
    uint64_t scratch[2][FIELDS_MAX];
    proto_row_base against = bases_of(s, slot, base_tick, d, scratch);
    uint64_t words[FIELDS_MAX];
    proto_solo_third third = {.ticks = d + THIRD_MIN * s->stride};
    if (against.base2) {
        bool has_third = base_tick > third.ticks && has_row(s, base_tick - third.ticks, slot);
        if (has_third) third.row = row_of(s, base_tick - third.ticks, slot, words);
        bool was_listed = base_tick > third.ticks && is_listed(s, base_tick - third.ticks, slot);
        solo_number(coder, PROTO_NUMBER_RUN, proto_number_situation(5, was_listed), has_third);
    }
    solo_row(s, coder, slot, &against, third.row ? &third : NULL);
}

static bool is_named(const stream* s, uint32_t slot) {
    for (uint32_t i = 0; i < s->destroy_count; i++)
        if (s->destroy[i] == slot) return true;
    for (uint32_t i = 0; i < s->create_count; i++)
        if (s->create[i] == slot) return true;
    return false;
}

static void solo_body(stream* s, proto_solo_coder* coder) {
    uint32_t next = 0;
    solo_number(coder, PROTO_NUMBER_COUNT, 0, s->destroy_count);
    for (uint32_t i = 0; i < s->destroy_count; i++) {
        solo_number(coder, PROTO_NUMBER_GAP, 0, s->destroy[i] - next);
        next = s->destroy[i] + 1;
    }
    solo_number(coder, PROTO_NUMBER_COUNT, 1, s->create_count);
    uint32_t index = 0, template_ = 0;
    next = 0;
    for (uint32_t i = 0; i < s->create_count; i++) {
        uint32_t slot = s->create[i];
        const life* own = life_of(s, slot);
        solo_number(coder, PROTO_NUMBER_GAP, 2, slot - next);
        next = slot + 1;
        (void)proto_solo_number(coder, PROTO_NUMBER_CREATE, 0, (int64_t)own->index - index - 1);
        index = own->index;
        solo_number(coder, PROTO_NUMBER_CREATE, 1, own->generation);
        uint32_t what = trace_template(s->of, s->tick, own->place);
        solo_number(coder, PROTO_NUMBER_CREATE, 2 + template_, what);
        // The create before, of the same template.
        proto_solo_third like = {.row = NULL};
        if (i > 0 && what == template_) like.row = row_of(s, s->tick, s->create[i - 1], NULL);
        template_ = what;
        proto_row_base against = {.base = s->of->defaults[what]};
        solo_row(s, coder, slot, &against, like.row ? &like : NULL);
    }
    uint32_t was = 0;
    for (uint32_t i = 0, n = 0; i < s->base_count; i++) {
        bool is_absent = n == s->list_count || s->list[n] != s->base_slots[i];
        was = was << 1 | is_absent;
        solo_number(coder, PROTO_NUMBER_ABSENT,
                    proto_number_situation(is_named(s, s->base_slots[i]), was >> 1), is_absent);
        if (is_absent) continue;
        solo_update(s, coder, s->list[n++], acked_tick(s), s->stride);
    }
    solo_number(coder, PROTO_NUMBER_COUNT, 2, s->aged_count);
    for (uint32_t i = 0; i < s->aged_count; i += group_size(s, i)) {
        const record* group = &s->aged[i];
        uint32_t count = group_size(s, i);
        solo_number(coder, PROTO_NUMBER_RUN, 0, group->age);
        solo_number(coder, PROTO_NUMBER_COUNT, 3, count);
        next = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t slot = group[k].slot;
            solo_number(coder, PROTO_NUMBER_GAP, 1, slot - next);
            next = slot + 1;
            uint32_t tick = s->tick - group->age;
            if (group->age == AGE_SETTLED) tick = newest_row(s, slot, tick);
            solo_update(s, coder, slot, tick, group->age < AGE_SETTLED ? s->stride : 0);
        }
    }
}

static size_t solo_packet(stream* s) {
    stream_solo* o = s->solo;
    uint32_t at = o->packets % SOLO_AHEAD;
    bench_require(s->base < SOLO_AHEAD, "the base is too old");
    if (o->packets > s->base) { // the packet `base` back was acknowledged
        uint32_t acked = (o->packets - s->base - 1) % SOLO_AHEAD;
        proto_solo_train(&o->model, o->samples[acked], o->counts[acked]);
    }
    proto_solo_coder* coder = &o->coder;
    proto_solo_begin_write(coder, &o->model, o->body, sizeof o->body, o->samples[at], SOLO_SAMPLES);
    solo_body(s, coder);
    uint32_t written = o->counts[at] = coder->sample_count;
    size_t bytes = proto_solo_end(coder);
    bench_require(bytes > 0, "a solo body has more than 65,536 numbers (SOLO.md)");
    proto_solo_begin_read(coder, &o->model, o->body, bytes, o->read_samples, SOLO_SAMPLES);
    solo_body(s, coder);
    bench_require(proto_solo_end(coder) == bytes && coder->sample_count == written &&
                      memcmp(o->read_samples, o->samples[at], written * sizeof *o->read_samples) ==
                          0,
                  "a solo body that was read differs from what was written");
    o->packets++;
    return bytes;
}

// ---- the packets ----

static void open(stream* s, const trace* of, uint32_t base, uint32_t stride) {
    *s = (stream){.of = of, .base = base, .stride = stride};
    s->lives = bench_allocate(LIVES_MAX * sizeof *s->lives);
    s->at_place = bench_allocate(of->places * sizeof *s->at_place);
    s->at_slot = bench_allocate(SLOTS_MAX * sizeof *s->at_slot);
    s->told = bench_allocate((size_t)of->frames * SLOTS_MAX * sizeof *s->told);
    s->index_lives = bench_allocate((INDEX_MAX + 1) * sizeof *s->index_lives);
    s->index_used = bench_allocate((INDEX_MAX + 1) * sizeof *s->index_used);
    s->ring = bench_allocate((size_t)RING_FRAMES * of->places * of->field_count * sizeof *s->ring);
    s->create = bench_allocate(SLOTS_MAX * sizeof *s->create);
    s->destroy = bench_allocate(SLOTS_MAX * sizeof *s->destroy);
    s->list = bench_allocate(SLOTS_MAX * sizeof *s->list);
    s->base_slots = bench_allocate(SLOTS_MAX * sizeof *s->base_slots);
    s->aged = bench_allocate(SLOTS_MAX * sizeof *s->aged);
    s->solo = solo_create();
}

static void release(stream* s) {
    solo_destroy(s->solo);
    void* owned[] = {s->lives,      s->at_place, s->at_slot, s->told,    s->index_lives,
                     s->index_used, s->ring,     s->create,  s->destroy, s->list,
                     s->base_slots, s->aged,     s};
    for (size_t i = 0; i < BASE_COUNT(owned); i++)
        bench_release(owned[i]);
}

static double raw_bytes(const stream* s) {
    uint64_t bits = 0;
    for (uint32_t slot = 0; slot < SLOTS_MAX; slot++) {
        if (s->at_slot[slot] == 0 || life_of(s, slot)->died) continue;
        const proto_layout* layout = layout_of(s, slot);
        for (uint32_t f = 0; f < layout->field_count; f++)
            bits += layout->fields[f].quant.bits;
    }
    return (double)bits / 8;
}

stream_result stream_run(const trace* of, uint32_t base, uint32_t stride) {
    stream* s = bench_allocate(sizeof *s);
    open(s, of, base, stride);
    uint32_t warm = 2 * base + 2;
    for (s->tick = stride; s->tick < of->frames; s->tick += stride) {
        uint64_t rows = s->result.rows;
        gather(s);
        double ns;
        size_t bytes = write_body(s, &ns);
        size_t solo_bytes = solo_packet(s);
        if (warm > 0) {
            warm--;
            s->result.rows = rows;
            continue;
        }
        s->result.packets++;
        s->result.bytes += bytes;
        s->result.solo_bytes += solo_bytes;
        s->result.ns += ns;
        s->result.raw_bytes += raw_bytes(s);
    }
    stream_result result = s->result;
    release(s);
    return result;
}
