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
#include "stream_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t* sent_of(const stream* s, uint32_t tick) {
    return s->told + (size_t)tick * SLOTS_MAX;
}

life* stream_life(const stream* s, uint32_t slot) {
    return &s->lives[s->at_slot[slot] - 1];
}

// Check whether the packet of `tick` had a row of the slot's current incarnation.
bool stream_has_row(const stream* s, uint32_t tick, uint32_t slot) {
    return tick < s->of->frames && s->at_slot[slot] != 0 &&
           sent_of(s, tick)[slot] == s->at_slot[slot];
}

bool stream_is_listed(const stream* s, uint32_t tick, uint32_t slot) {
    return tick < s->of->frames && sent_of(s, tick)[slot] != 0;
}

const proto_layout* stream_layout(const stream* s, uint32_t slot) {
    return trace_layout(s->of, s->tick, stream_life(s, slot)->place);
}

uint32_t stream_acked_tick(const stream* s) {
    uint32_t lag = s->base * s->stride;
    return s->tick > lag ? s->tick - lag : 0;
}

const uint64_t* stream_row(const stream* s, uint32_t tick, uint32_t slot, uint64_t* scratch) {
    uint32_t place = stream_life(s, slot)->place;
    if (s->tick - tick < RING_FRAMES)
        return s->ring + ((size_t)(tick % RING_FRAMES) * s->of->places + place) * FIELDS_MAX;
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
    do { // slots too: entities created one after the other are neighbours in both
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
    if (s->at_place[place] && now != was) {
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
uint32_t stream_newest_row(const stream* s, uint32_t slot, uint32_t tick) {
    tick -= tick % s->stride; // only these ticks have packets
    while (!stream_has_row(s, tick, slot)) {
        bench_require(tick >= s->stride, "an update has a base");
        tick -= s->stride;
    }
    return tick;
}

static void gather_slot(stream* s, uint32_t slot) {
    if (s->at_slot[slot] == 0) return;
    uint32_t acked = stream_acked_tick(s);
    const life* own = stream_life(s, slot);
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
    } else if (stream_has_row(s, acked, slot)) {
        s->list[s->list_count++] = slot;
    } else {
        uint32_t age = s->tick - stream_newest_row(s, slot, acked);
        s->aged[s->aged_count++] = (record){slot, age < AGE_SETTLED ? age : AGE_SETTLED};
    }
}

static int compare_records(const void* a, const void* b) {
    const record *x = a, *y = b;
    if (x->age != y->age) return x->age < y->age ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

uint32_t stream_group_size(const stream* s, uint32_t first) {
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
        if (sent_of(s, stream_acked_tick(s))[slot] != 0) s->base_slots[s->base_count++] = slot;
    uint64_t* rows = s->ring + (size_t)(s->tick % RING_FRAMES) * s->of->places * FIELDS_MAX;
    for (uint32_t place = 0; place < s->of->places; place++)
        if (s->at_place[place]) trace_row(s->of, s->tick, place, rows + place * FIELDS_MAX);
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

static void put_row(stream* s, uint32_t slot, const proto_row_base* against,
                    proto_bit_writer* writer) {
    const uint64_t* row = stream_row(s, s->tick, slot, NULL);
    const proto_layout* layout = stream_layout(s, slot);
    uint64_t before = writer->size_bits;
    proto_row_write(layout, against, row, writer, NULL);
    if (!s->reference) return;
    uint32_t template_ = trace_template(s->of, s->tick, stream_life(s, slot)->place);
    s->reference_bits += adaptive_row(s->reference, template_, layout, against, row) -
                         (double)(writer->size_bits - before);
}

proto_row_base stream_bases(const stream* s, uint32_t slot, uint32_t base_tick, uint32_t d,
                            uint64_t scratch[2][FIELDS_MAX]) {
    proto_row_base against = {.base = stream_row(s, base_tick, slot, scratch[0])};
    if (s->tick - base_tick < AGE_SETTLED) against.ticks = s->tick - base_tick;
    if (d > 0 && stream_has_row(s, base_tick - d, slot)) {
        against.base2 = stream_row(s, base_tick - d, slot, scratch[1]);
        against.ticks2 = d;
    }
    return against;
}

static void write_row(stream* s, uint32_t slot, uint32_t base_tick, uint32_t d,
                      proto_bit_writer* writer) {
    uint64_t scratch[2][FIELDS_MAX];
    proto_row_base against = stream_bases(s, slot, base_tick, d, scratch);
    put_row(s, slot, &against, writer);
}

// The bits of a template's number.
static uint32_t template_bits(const stream* s) {
    return s->of->template_count > 2 ? 2 : 1;
}

static void write_creates(stream* s, proto_bit_writer* writer) {
    proto_bits_write_golomb(writer, s->create_count, 0);
    if (s->create_count == 0) return;
    uint32_t order = best_order(s->create, sizeof *s->create, s->create_count), next = 0;
    uint32_t index = 0, template_ = UINT32_MAX;
    proto_bits_write(writer, order, 4);
    for (uint32_t i = 0; i < s->create_count; i++) {
        uint32_t slot = s->create[i];
        const life* own = stream_life(s, slot);
        proto_bits_write_golomb(writer, slot - next, order);
        next = slot + 1;
        proto_bits_write(writer, own->index == index + 1, 1);
        if (own->index != index + 1) proto_bits_write(writer, own->index, INDEX_BITS);
        index = own->index;
        proto_bits_write(writer, own->generation == 1, 1);
        if (own->generation != 1) proto_bits_write(writer, own->generation, 10);
        uint32_t what = trace_template(s->of, s->tick, own->place);
        proto_bits_write(writer, what == template_, 1);
        if (what != template_)
            proto_bits_write(writer, (uint64_t)what << PARTS_BITS, PARTS_BITS + template_bits(s));
        template_ = what;
        proto_row_base against = {.base = s->of->defaults[what]};
        put_row(s, slot, &against, writer);
    }
}

static void write_list(stream* s, proto_bit_writer* writer) {
    proto_bits_write(writer, KIND_PACKET, 2);
    proto_bits_write(writer, s->base, 6);
    proto_bits_write_golomb(writer, s->stride, 2);
    for (uint32_t i = 0, n = 0; i < s->base_count; i++) {
        bool is_absent = n == s->list_count || s->list[n] != s->base_slots[i];
        if (s->reference) s->reference_bits += adaptive_absent(s->reference, is_absent);
        if (!is_absent) {
            write_row(s, s->list[n++], stream_acked_tick(s), s->stride, writer);
        } else {
            proto_row_write_absent(writer);
            s->reference_bits -= ABSENT_BITS;
        }
    }
}

static void write_aged(stream* s, uint32_t first, uint32_t count, proto_bit_writer* writer) {
    const record* group = &s->aged[first];
    uint32_t order = best_order(&group->slot, sizeof *group, count), next = 0;
    proto_bits_write(writer, KIND_AGE, 2);
    proto_bits_write(writer, group->age, 8);
    uint32_t d = group->age < AGE_SETTLED ? s->stride : 0;
    proto_bits_write_golomb(writer, d, 2);
    proto_bits_write_golomb(writer, count - 1, 1);
    proto_bits_write(writer, order, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = group[i].slot;
        proto_bits_write_golomb(writer, slot - next, order);
        next = slot + 1;
        uint32_t tick = s->tick - group->age;
        if (group->age == AGE_SETTLED) tick = stream_newest_row(s, slot, tick);
        write_row(s, slot, tick, d, writer);
    }
}

static size_t write_body(stream* s) {
    proto_bit_writer writer = proto_bit_writer_make(s->body, sizeof s->body);
    proto_bits_write_golomb(&writer, s->destroy_count, 0);
    if (s->destroy_count > 0) {
        uint32_t order = best_order(s->destroy, sizeof *s->destroy, s->destroy_count), next = 0;
        proto_bits_write(&writer, order, 4);
        for (uint32_t i = 0; i < s->destroy_count; i++) {
            proto_bits_write_golomb(&writer, s->destroy[i] - next, order);
            next = s->destroy[i] + 1;
        }
    }
    write_creates(s, &writer);
    uint32_t runs = s->list_count > 0;
    for (uint32_t i = 0; i < s->aged_count; i += stream_group_size(s, i))
        runs++;
    proto_bits_write_golomb(&writer, runs, 0);
    if (s->list_count > 0) write_list(s, &writer);
    for (uint32_t i = 0; i < s->aged_count; i += stream_group_size(s, i))
        write_aged(s, i, stream_group_size(s, i), &writer);
    bench_require(!writer.failed, "a body is too long");
    return proto_bit_writer_bytes(&writer);
}

// ---- the reader ----

// The reader knows the rows of earlier packets. They were compared with the trace on arrival.
static void check_row(const stream* s, uint32_t slot, const proto_row_base* against,
                      proto_bit_reader* reader) {
    uint64_t row[FIELDS_MAX];
    proto_row_read(stream_layout(s, slot), against, row, reader, NULL);
    bool is_same = memcmp(row, stream_row(s, s->tick, slot, NULL),
                          stream_layout(s, slot)->field_count * sizeof *row) == 0;
    bench_require(!reader->failed && is_same, "a row that was read differs from what was written");
}

static void read_update(const stream* s, uint32_t slot, uint32_t base_tick, uint32_t d,
                        proto_bit_reader* reader) {
    uint64_t scratch[2][FIELDS_MAX];
    bench_require(slot < SLOTS_MAX && stream_has_row(s, base_tick, slot),
                  "a base row was never sent");
    proto_row_base against = stream_bases(s, slot, base_tick, d, scratch);
    check_row(s, slot, &against, reader);
}

static void read_creates(const stream* s, proto_bit_reader* reader) {
    uint32_t count = proto_bits_read_golomb(reader, 0);
    bench_require(count == s->create_count, "the number of creates");
    uint32_t order = count > 0 ? (uint32_t)proto_bits_read(reader, 4) : 0, slot = UINT32_MAX;
    uint32_t index = 0, template_ = 0;
    for (uint32_t i = 0; i < count; i++) {
        slot += 1 + proto_bits_read_golomb(reader, order);
        index =
            proto_bits_read(reader, 1) ? index + 1 : (uint32_t)proto_bits_read(reader, INDEX_BITS);
        uint32_t generation =
            proto_bits_read(reader, 1) ? 1 : (uint32_t)proto_bits_read(reader, 10);
        if (!proto_bits_read(reader, 1))
            template_ =
                (uint32_t)proto_bits_read(reader, PARTS_BITS + template_bits(s)) >> PARTS_BITS;
        const life* own = stream_life(s, s->create[i]);
        bench_require(slot == s->create[i] && index == own->index &&
                          generation == own->generation &&
                          template_ == trace_template(s->of, s->tick, own->place),
                      "a create");
        proto_row_base against = {.base = s->of->defaults[template_]};
        check_row(s, slot, &against, reader);
    }
}

static void read_run(const stream* s, proto_bit_reader* reader) {
    uint64_t kind = proto_bits_read(reader, 2);
    uint32_t what = (uint32_t)proto_bits_read(reader, kind == KIND_PACKET ? 6 : 8);
    uint32_t d = proto_bits_read_golomb(reader, 2);
    if (kind == KIND_PACKET) {
        uint32_t tick = s->tick - what * s->stride;
        for (uint32_t slot = 0; slot < SLOTS_MAX; slot++)
            if (sent_of(s, tick)[slot] != 0 && !proto_row_read_absent(reader))
                read_update(s, slot, tick, d, reader);
        return;
    }
    uint32_t count = 1 + proto_bits_read_golomb(reader, 1);
    uint32_t order = (uint32_t)proto_bits_read(reader, 4), slot = UINT32_MAX;
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        slot += 1 + proto_bits_read_golomb(reader, order);
        bench_require(slot < SLOTS_MAX, "a slot is out of range");
        uint32_t tick = s->tick - what;
        if (what == AGE_SETTLED) tick = stream_newest_row(s, slot, tick);
        read_update(s, slot, tick, d, reader);
    }
}

static void read_body(const stream* s, size_t bytes) {
    proto_bit_reader reader = proto_bit_reader_make(s->body, bytes);
    uint32_t count = proto_bits_read_golomb(&reader, 0);
    uint32_t order = count > 0 ? (uint32_t)proto_bits_read(&reader, 4) : 0, slot = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        slot += 1 + proto_bits_read_golomb(&reader, order);
        bench_require(i < s->destroy_count && slot == s->destroy[i], "a destroy");
    }
    read_creates(s, &reader);
    uint32_t runs = proto_bits_read_golomb(&reader, 0);
    for (uint32_t i = 0; i < runs; i++)
        read_run(s, &reader);
    bench_require(!reader.failed && (reader.offset_bits + 7) / 8 == bytes, "the end of a body");
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
    s->ring = bench_allocate((size_t)RING_FRAMES * of->places * FIELDS_MAX * sizeof *s->ring);
    s->create = bench_allocate(SLOTS_MAX * sizeof *s->create);
    s->destroy = bench_allocate(SLOTS_MAX * sizeof *s->destroy);
    s->list = bench_allocate(SLOTS_MAX * sizeof *s->list);
    s->base_slots = bench_allocate(SLOTS_MAX * sizeof *s->base_slots);
    s->aged = bench_allocate(SLOTS_MAX * sizeof *s->aged);
}

static void release(stream* s) {
    if (s->reference) adaptive_destroy(s->reference);
    if (s->solo) stream_solo_destroy(s->solo);
    void* owned[] = {s->lives,      s->at_place, s->at_slot, s->told,    s->index_lives,
                     s->index_used, s->ring,     s->create,  s->destroy, s->list,
                     s->base_slots, s->aged,     s};
    for (size_t i = 0; i < BASE_COUNT(owned); i++)
        bench_release(owned[i]);
}

static double raw_bytes(const stream* s) {
    uint64_t bits = 0;
    for (uint32_t slot = 0; slot < SLOTS_MAX; slot++) {
        if (s->at_slot[slot] == 0 || stream_life(s, slot)->died) continue;
        const proto_layout* layout = stream_layout(s, slot);
        for (uint32_t f = 0; f < layout->field_count; f++)
            bits += layout->fields[f].quant.bits;
    }
    return (double)bits / 8;
}

stream_result stream_run(const trace* of, uint32_t base, uint32_t stride,
                         const stream_wishes* wishes) {
    stream* s = bench_allocate(sizeof *s);
    open(s, of, base, stride);
    if (wishes && wishes->has_reference) s->reference = adaptive_create();
    if (wishes && wishes->has_solo) s->solo = stream_solo_create();
    uint32_t warm = 2 * base + 2;
    for (s->tick = stride; s->tick < of->frames; s->tick += stride) {
        uint64_t rows = s->result.rows;
        gather(s);
        s->reference_bits = 0;
        double begin_ns = bench_now_ns();
        size_t bytes = write_body(s);
        double ns = bench_now_ns() - begin_ns;
        read_body(s, bytes);
        size_t solo_bytes = s->solo ? stream_solo_packet(s) : 0;
        if (warm > 0) {
            warm--;
            s->result.rows = rows;
            continue;
        }
        s->result.packets++;
        s->result.bytes += bytes;
        s->result.solo_bytes += solo_bytes;
        s->result.reference_bytes += (double)bytes + s->reference_bits / 8;
        s->result.ns += ns;
        s->result.raw_bytes += raw_bytes(s);
    }
    stream_result result = s->result;
    release(s);
    return result;
}
