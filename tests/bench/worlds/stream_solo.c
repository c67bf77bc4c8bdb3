// SPDX-License-Identifier: MIT
// A packet of a stream in solo code (proto/solo.h).
#include "stream_internal.h"

#include "proto/solo.h"

#include <string.h>

enum { SOLO_SAMPLES = 1 << 16, SOLO_AHEAD = 32, THIRD_MIN = 5 /* as the server */ };

struct stream_solo {
    proto_solo_model model;
    proto_solo_coder coder;
    proto_solo_sample* samples[SOLO_AHEAD]; // of the newest packets
    uint32_t counts[SOLO_AHEAD];
    proto_solo_sample* read_samples;
    uint8_t body[BODY_BYTES_MAX];
    uint32_t packets;
};

stream_solo* stream_solo_create(void) {
    stream_solo* made = bench_allocate(sizeof *made);
    proto_solo_model_reset(&made->model);
    for (uint32_t i = 0; i < SOLO_AHEAD; i++)
        made->samples[i] = bench_allocate(SOLO_SAMPLES * sizeof *made->samples[i]);
    made->read_samples = bench_allocate(SOLO_SAMPLES * sizeof *made->read_samples);
    return made;
}

void stream_solo_destroy(stream_solo* solo) {
    for (uint32_t i = 0; i < SOLO_AHEAD; i++)
        bench_release(solo->samples[i]);
    bench_release(solo->read_samples);
    bench_release(solo);
}

static void solo_row(stream* s, proto_solo_coder* coder, uint32_t slot,
                     const proto_row_base* against, const proto_solo_third* third) {
    uint64_t row[FIELDS_MAX] = {0};
    const uint64_t* real = stream_row(s, s->tick, slot, NULL);
    const proto_layout* layout = stream_layout(s, slot);
    if (coder->mode == PROTO_SOLO_WRITE) memcpy(row, real, layout->field_count * sizeof *row);
    proto_solo_row(coder, trace_template(s->of, s->tick, stream_life(s, slot)->place), layout,
                   against, third, row);
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
    proto_row_base against = stream_bases(s, slot, base_tick, d, scratch);
    uint64_t words[FIELDS_MAX];
    proto_solo_third third = {.ticks = d + THIRD_MIN * s->stride};
    if (against.base2) {
        bool has_third =
            base_tick > third.ticks && stream_has_row(s, base_tick - third.ticks, slot);
        if (has_third) third.row = stream_row(s, base_tick - third.ticks, slot, words);
        bool is_listed =
            base_tick > third.ticks && stream_is_listed(s, base_tick - third.ticks, slot);
        solo_number(coder, PROTO_NUMBER_RUN, proto_number_situation(5, is_listed), has_third);
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
        const life* own = stream_life(s, slot);
        solo_number(coder, PROTO_NUMBER_GAP, 2, slot - next);
        next = slot + 1;
        (void)proto_solo_number(coder, PROTO_NUMBER_CREATE, 0, (int64_t)own->index - index - 1);
        index = own->index;
        solo_number(coder, PROTO_NUMBER_CREATE, 1, own->generation);
        uint32_t what = trace_template(s->of, s->tick, own->place);
        solo_number(coder, PROTO_NUMBER_CREATE, 2 + template_, what);
        // The create before, of the same template.
        proto_solo_third like = {.row = NULL};
        if (i > 0 && what == template_) like.row = stream_row(s, s->tick, s->create[i - 1], NULL);
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
        solo_update(s, coder, s->list[n++], stream_acked_tick(s), s->stride);
    }
    solo_number(coder, PROTO_NUMBER_COUNT, 2, s->aged_count);
    for (uint32_t i = 0; i < s->aged_count; i += stream_group_size(s, i)) {
        const record* group = &s->aged[i];
        uint32_t count = stream_group_size(s, i);
        solo_number(coder, PROTO_NUMBER_RUN, 0, group->age);
        solo_number(coder, PROTO_NUMBER_COUNT, 3, count);
        next = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t slot = group[k].slot;
            solo_number(coder, PROTO_NUMBER_GAP, 1, slot - next);
            next = slot + 1;
            uint32_t tick = s->tick - group->age;
            if (group->age == AGE_SETTLED) tick = stream_newest_row(s, slot, tick);
            solo_update(s, coder, slot, tick, group->age < AGE_SETTLED ? s->stride : 0);
        }
    }
}

size_t stream_solo_packet(stream* s) {
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
    bench_require(bytes > 0, "a solo body is written");
    proto_solo_begin_read(coder, &o->model, o->body, bytes, o->read_samples, SOLO_SAMPLES);
    solo_body(s, coder);
    bench_require(proto_solo_end(coder) == bytes && coder->sample_count == written &&
                      memcmp(o->read_samples, o->samples[at], written * sizeof *o->read_samples) ==
                          0,
                  "a solo body that was read differs from what was written");
    o->packets++;
    return bytes;
}
