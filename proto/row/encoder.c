// SPDX-License-Identifier: MIT
// Encoding a packed row by the plan of its layout (WIRE.md, "Row code"). It takes the same
// decisions as row.c, from the same rules; only the order of work differs:
//
//   - Two bit masks say which words differ from the base and which moved between the bases. Most
//     components of a game rest and are as they were, and cost nothing.
//   - Components that may move are gone through once. Their words less the expected words are kept.
//   - A number of a small difference is one look-up: its code, its length, and how it changes the
//     expectation of the next ones.
//
// Rows that the plan does not cover (a field above 32 bits) are unpacked and
// written by row.c. Start reading at proto_row_encode.
#include "row/encoder.h"

// ---- what is coded ----

// Keep the words of a component less what the straight line through the bases gives.
// @return the steps between the bases, summed over the words.
static inline uint64_t follow_line(row_encoder* e, const proto_layout_part* part, bool* is_off) {
    uint64_t motion = 0;
    uint32_t off = 0, end = part->first + (uint32_t)part->count;
    const proto_row_times times = proto_row_times_make(e->ticks, e->ticks2);
    for (uint32_t f = part->first; f < end; f++) {
        uint32_t shift = encoder_word(e, f)->shift, base = e->base[f];
        int32_t pace = encoder_difference(base, e->base2[f], shift);
        motion += row_magnitude(pace);
        uint32_t expected = base + (uint32_t)row_line_way(&times, pace);
        int32_t own = encoder_difference(e->row[f], expected, shift);
        e->off[f] = own;
        off |= (uint32_t)own;
    }
    *is_off = off != 0;
    return motion;
}

static inline void keep_off(row_encoder* e, const proto_layout_part* part) {
    uint32_t end = part->first + (uint32_t)part->count;
    for (uint32_t f = part->first; f < end; f++)
        e->off[f] = encoder_difference(e->row[f], e->base[f], encoder_word(e, f)->shift);
}

// Fill the plan of a linear component without a source, or of a rotation.
static inline void plan_step(row_encoder* e, const proto_layout_part* part, row_plan* plan) {
    if ((e->moved & part->words) == 0) {
        plan->kind = ROW_WARM;
        plan->class_ = row_rest_class(part->is_source, e->ticks);
        plan->scale = (int8_t)row_rest_scale(e->ticks, part->count);
        plan->is_coded = (e->differ & part->words) != 0;
        if (plan->is_coded) keep_off(e, part);
        return;
    }
    plan->kind = ROW_LIVE;
    plan->is_coded = true;
    if (part->shape == SHAPE_ROTATION) {
        e->is_certain = true;
        return; // its scale is found when it is coded
    }
    bool is_off;
    uint32_t scale = row_line_scale(e->ticks, e->ticks2, follow_line(e, part, &is_off));
    plan->scale = (int8_t)scale;
    plan->class_ = row_line_class(part->count, scale);
    if (plan->class_ == ROW_CLASS_LIVE) {
        e->is_certain = true;
        return;
    }
    plan->kind = ROW_WARM;
    plan->is_coded = is_off;
}

// Keep the warmest ones; the others become quiet.
static void sort_warm(row_encoder* e, uint16_t own) {
    if (e->warm_count == ROW_WARM_MAX) {
        uint16_t cooler = own < e->warm[0] ? own : e->warm[0];
        e->cooled |= UINT64_C(1) << (cooler & 255);
        e->plans[cooler & 255].kind = ROW_QUIET;
        if (cooler == own) return;
        memmove(e->warm, e->warm + 1, (ROW_WARM_MAX - 1) * sizeof *e->warm);
        e->warm_count--;
    }
    uint32_t at = e->warm_count++;
    for (; at > 0 && e->warm[at - 1] > own; at--)
        e->warm[at] = e->warm[at - 1];
    e->warm[at] = own;
}

static inline void add_warm(row_encoder* e, uint32_t c, uint32_t class_) {
    uint16_t own = (uint16_t)(class_ << 8 | c);
    if (e->warm_count > 0) {
        sort_warm(e, own);
        return;
    }
    e->warm[0] = own;
    e->warm_count = 1;
}

static bool is_coded(const row_encoder* e, uint32_t c) {
    return e->coded >> e->layout->plan.parts[c].place & 1;
}

static void plan_moving(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    uint64_t coded = 0;
    const uint32_t count = layout->step_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = layout->steps[i];
        const proto_layout_part* part = &layout->parts[c];
        row_plan* plan = &e->plans[c];
        if (part->is_driven) {
            proto_encoder_plan_driven(e, c);
        } else {
            plan_step(e, part, plan);
            if (plan->kind == ROW_WARM) add_warm(e, c, plan->class_);
        }
        coded |= (uint64_t)plan->is_coded << part->place;
    }
    e->coded = coded;
}

// Mixed components: warm when they moved between the bases.
static void plan_mixed(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    for (uint64_t left = e->moved & layout->mixed_words; left;) {
        uint32_t c = layout->words[__builtin_ctzll(left)].component;
        left &= ~layout->parts[c].words;
        add_warm(e, c, ROW_CLASS_MIXED);
    }
    for (uint64_t left = e->differ & layout->mixed_words; left;) {
        const proto_layout_part* part =
            &layout->parts[layout->words[__builtin_ctzll(left)].component];
        left &= ~part->words;
        e->coded |= UINT64_C(1) << part->place;
        if (!(e->moved & part->words)) e->is_exception = true;
    }
    for (uint64_t left = e->cooled; left; left &= left - 1)
        if (is_coded(e, (uint32_t)__builtin_ctzll(left))) e->is_exception = true;
}

// A quiet component whose source is coded is coded with it; else it is an exception when it
// differs.
static void find_driven_exceptions(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    for (uint32_t i = 0; i < layout->step_count; i++) {
        uint32_t c = layout->steps[i];
        const proto_layout_part* part = &layout->parts[c];
        if (part->is_driven && e->plans[c].kind == ROW_QUIET && is_coded(e, c) &&
            !is_coded(e, part->source))
            e->is_exception = true;
    }
}

static void follow_sources(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    for (uint32_t i = 0; i < layout->step_count; i++) {
        uint32_t c = layout->steps[i];
        const proto_layout_part* part = &layout->parts[c];
        if (!part->is_driven || e->plans[c].kind != ROW_QUIET || !is_coded(e, part->source))
            continue;
        e->plans[c].kind = ROW_DRIVEN;
        e->coded |= UINT64_C(1) << part->place;
    }
}

// Nothing is known of the base's age: all components are quiet.
static void plan_quiet(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    for (uint64_t left = e->differ; left;) {
        uint32_t c = layout->words[__builtin_ctzll(left)].component;
        left &= ~layout->parts[c].words;
        e->coded |= UINT64_C(1) << layout->parts[c].place;
        e->plans[c].kind = ROW_QUIET;
        e->plans[c].scale = -1;
        keep_off(e, &layout->parts[c]);
    }
}

// ---- the head ----

static void write_head(row_encoder* e) {
    if (e->warm_count == 0 && !e->is_certain) {
        proto_encoder_quiet(e, true);
        e->is_first = false;
        return;
    }
    if (e->is_exception) {
        encoder_put(e, 0, ROW_RESERVED_BITS + 1);
        proto_encoder_quiet(e, false);
    }
    uint32_t count = e->warm_count, symbol = 0, classes[ROW_WARM_MAX];
    if (count == 0) return;
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = e->warm[i] >> 8;
        symbol |= (uint32_t)is_coded(e, e->warm[i] & 255) << i;
    }
    encoder_code(e, e->tables->head[row_head_row(classes, count)][symbol]);
    e->is_first = false;
}

// ---- the row ----

static bool begin(row_encoder* e, const proto_layout* layout, const proto_packed_base* against,
                  const uint32_t* row, uint8_t* bytes) {
    BASE_ASSERT(layout->tables); // finished
    if (!layout->plan.is_made) return false;
    e->layout = layout;
    e->tables = layout->tables;
    e->row = row;
    e->base = e->base2 = against->base;
    e->ticks = against->ticks <= ROW_TICKS_MAX ? against->ticks : 0;
    e->ticks2 = 1;
    e->is_first = true;
    e->has_base2 = e->is_certain = e->is_exception = false;
    e->warm_count = 0;
    e->surprise = 0;
    e->differ = encoder_differing(row, against->base, layout->packed_count);
    e->moved = e->coded = e->cooled = e->bits = 0;
    e->fill = 0;
    e->at = bytes;
    if (e->ticks == 0) {
        plan_quiet(e);
        return true;
    }
    if (against->base2 && against->ticks2 >= 1 && against->ticks2 <= ROW_TICKS2_MAX) {
        e->has_base2 = true;
        e->base2 = against->base2;
        e->ticks2 = against->ticks2;
        e->moved = encoder_differing(against->base, against->base2, layout->packed_count);
    }
    plan_moving(e);
    plan_mixed(e);
    if (layout->plan.is_driven) find_driven_exceptions(e);
    return true;
}

// After each component the next one is expected to surprise half as much.
static void calm(row_encoder* e, uint32_t from, uint32_t to) {
    for (uint32_t count = to - from; count > 0 && e->surprise != 0; count--)
        e->surprise /= 2;
}

static void write_components(row_encoder* e) {
    uint32_t last = 0;
    for (uint64_t left = e->coded; left; left &= left - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(left), c = e->layout->order[place];
        const proto_layout_part* part = &e->layout->plan.parts[c];
        if (e->surprise != 0) calm(e, last, place);
        last = place;
        uint32_t kind = part->shape == SHAPE_MIXED ? ROW_QUIET : e->plans[c].kind;
        if (part->shape == SHAPE_ROTATION) {
            proto_encoder_rotation(e, c);
        } else if (kind == ROW_LIVE && part->is_source) {
            proto_encoder_source(e, c);
        } else if (kind == ROW_LIVE) {
            const uint32_t end = part->first + (uint32_t)part->count;
            const int32_t scale = e->plans[c].scale;
            uint32_t f = part->first;
            if (e->is_first) {
                encoder_scaled(e, scale, f, e->off[f]);
                f++;
            }
            for (; f < end; f++)
                encoder_scaled_later(e, scale, f, e->off[f]);
        } else if (kind == ROW_DRIVEN) {
            proto_encoder_driven(e, c);
        } else {
            proto_encoder_fields(e, c);
        }
    }
}

static uint32_t encode_unpacked(const proto_layout* layout, const proto_packed_base* against,
                                const uint32_t* row, uint8_t* bytes) {
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    const proto_row_base base = proto_row_unpack_base(layout, against, &rows[1]);
    proto_row_unpack(layout, row, rows[0]);
    size_t capacity = (layout->bits_max + 63) / 64 * 8;
    proto_bit_writer writer = proto_bit_writer_make(bytes, capacity);
    proto_row_write(layout, &base, rows[0], &writer, NULL);
    BASE_ASSERT(!writer.failed);
    size_t used = proto_bit_writer_bytes(&writer);
    memset(bytes + used, 0, (used + 7) / 8 * 8 - used);
    if (writer.size_bits & 7) bytes[used - 1] &= (uint8_t)((1u << (writer.size_bits & 7)) - 1);
    return (uint32_t)writer.size_bits;
}

static BASE_NOINLINE uint32_t encode_any(const proto_layout* layout,
                                         const proto_packed_base* against, const uint32_t* row,
                                         uint8_t* bytes) {
    row_encoder e;
    if (!begin(&e, layout, against, row, bytes))
        return encode_unpacked(layout, against, row, bytes);
    write_head(&e);
    if (e.ticks > 0 && layout->plan.is_driven) follow_sources(&e);
    write_components(&e);
    base_store_le64(e.at, e.bits);
    uint32_t bits = (uint32_t)(e.at - bytes) * 8 + e.fill;
    BASE_ASSERT(bits <= layout->bits_max);
    return bits;
}

proto_row_times proto_row_times_make(uint32_t ticks, uint32_t ticks2) {
    enum { THIRD = 21846, FIFTH = 13108 }; // of 2^16, rounded up
    proto_row_times times = {.ticks = ticks, .ticks2 = ticks2};
    if (ticks - 1 >= ROW_TICKS_MAX || ticks2 - 1 >= ROW_TICKS2_MAX) return times;
    times.is_usual = true;
    times.inverse = 1.0 / (double)(int32_t)ticks2;
    times.factor = times.inverse * (double)(int32_t)ticks;
    times.speed_share = ticks <= ROW_TICKS_SHORT ? FIFTH : THIRD;
    times.log = (uint8_t)row_line_scale(ticks, 1, 0);
    times.rest_class = row_rest_class(false, ticks);
    return times;
}

void proto_row_encode_many(const proto_layout* layout, const proto_row_job* jobs, uint32_t count,
                           uint8_t* bytes, uint32_t* bits) {
    for (uint32_t i = 0; i < count; i++) {
        if (layout->plan.is_plain) {
            uint32_t end = i + proto_encoder_plain(layout, jobs + i, count - i, bytes, bits + i);
            if (end == count) return;
            for (; i < end; i++)
                bytes += (bits[i] + 63) / 64 * 8;
        }
        const proto_packed_base against = {jobs[i].base, jobs[i].base2, jobs[i].times->ticks,
                                           jobs[i].times->ticks2};
        bits[i] = encode_any(layout, &against, jobs[i].row, bytes);
        bytes += (bits[i] + 63) / 64 * 8;
    }
}

uint32_t proto_row_encode(const proto_layout* layout, const proto_packed_base* against,
                          const uint32_t* row, uint8_t* bytes) {
    if (layout->plan.is_plain) {
        const proto_row_times times =
            proto_row_times_make(against->ticks, against->base2 ? against->ticks2 : 1);
        const proto_row_job job = {row, against->base, against->base2, &times};
        uint32_t bits;
        if (proto_encoder_plain(layout, &job, 1, bytes, &bits) == 1) return bits;
    }
    return encode_any(layout, against, row, bytes);
}
