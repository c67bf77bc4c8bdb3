// SPDX-License-Identifier: MIT
// Encoding a component that is the integral of another one, a source that left its line, and
// rotations. row.c says why they are coded so.
#include "row/encoder.h"
#include "row/rotation.h"

static int64_t pace_of(const row_encoder* e, uint32_t f) {
    return encoder_difference(e->base[f], e->base2[f], encoder_word(e, f)->shift);
}

static row_drive_guess guess(const row_encoder* e, const proto_layout_part* part, uint32_t i) {
    uint32_t f = part->first + i, source = e->layout->plan.parts[part->source].first + i;
    row_drive_words words = {
        .ticks = e->ticks,
        .ticks2 = e->ticks2,
        .has_base2 = e->has_base2,
        .base = e->base[f],
        .pace = pace_of(e, f),
        .source_row = e->row[source],
        .source_base = e->base[source],
        .source_base2 = e->base2[source],
        .source_pace = pace_of(e, source),
    };
    return proto_row_drive_guess(&e->layout->fields[f], &words);
}

static int32_t off_of(const row_encoder* e, uint32_t f, uint64_t expected) {
    return encoder_difference(e->row[f], (uint32_t)expected, encoder_word(e, f)->shift);
}

static bool is_still(const row_encoder* e, const proto_layout_part* part, uint32_t source) {
    for (uint32_t i = 0; i < part->count; i++) {
        const proto_layout_still* still = &e->layout->plan.still[part->first + i];
        uint32_t at = e->base[source + i];
        if (at < still->first || at > still->last) return false;
    }
    return true;
}

// Check whether it is expected to stay where it is: the source does not change, and what it has is
// too little for a step.
static bool is_resting(const row_encoder* e, const proto_layout_part* part, uint32_t source) {
    uint64_t words = e->layout->plan.parts[part->source].words;
    if ((words & (e->differ | e->moved)) || (part->words & e->moved)) return false;
    for (uint32_t i = 0; i < part->count; i++) {
        int64_t drive = row_drive(&e->layout->fields[part->first + i], e->base[source + i]);
        if (row_magnitude(drive) * (e->ticks + e->ticks2) >= ROW_STEP / 4) return false;
    }
    return true;
}

void proto_encoder_plan_driven(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    uint32_t source = e->layout->plan.parts[part->source].first;
    row_plan* plan = &e->plans[c];
    if (!is_still(e, part, source)) {
        plan->kind = ROW_DRIVEN;
        plan->is_coded = e->is_certain = true;
        return;
    }
    plan->kind = ROW_QUIET;
    plan->scale = -1;
    plan->is_coded = false;
    bool is_resting_now = is_resting(e, part, source);
    if (is_resting_now && !(e->differ & part->words)) return;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t f = part->first + i;
        e->off[f] = off_of(e, f, is_resting_now ? e->base[f] : guess(e, part, i).word);
        if (e->off[f]) plan->is_coded = true;
    }
}

// How uncertain an integral is because its source left its line, in sixteenths of a step.
static uint64_t doubt_of(const row_encoder* e, const proto_layout_part* part) {
    const proto_layout_part* source = &e->layout->plan.parts[part->source];
    if (!(source->words & (e->differ | e->moved))) return 0;
    bool has_line = (source->words & e->moved) != 0;
    uint64_t way = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t f = source->first + i;
        uint64_t now = e->row[f], then = e->base[f];
        if (has_line) then = (now - (uint64_t)e->off[f]) & UINT32_MAX >> encoder_word(e, f)->shift;
        uint64_t change = now > then ? now - then : then - now;
        way += change * (uint64_t)e->layout->fields[part->first + i].drive;
    }
    return way == 0 ? 0 : (way * (e->ticks - 1) / (8u * part->count)) >> 16;
}

// Write `count` fields from `first` whose source stayed near its line.
static void write_near(row_encoder* e, const proto_layout_part* part, uint32_t first,
                       uint32_t count) {
    row_drive_guess guesses[ROW_DRIVE_FIELDS];
    uint32_t fields[ROW_DRIVE_FIELDS], symbol = 0, other = 1u << count;
    for (uint32_t i = 0; i < count; i++) { // by rising class, then number
        row_drive_guess own = guess(e, part, first + i);
        uint32_t at = i;
        for (; at > 0 && guesses[at - 1].class_ > own.class_; at--) {
            guesses[at] = guesses[at - 1];
            fields[at] = fields[at - 1];
        }
        guesses[at] = own;
        fields[at] = part->first + first + i;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = guesses[i].word, mask = UINT32_MAX >> encoder_word(e, fields[i])->shift;
        uint64_t next = (guesses[i].is_down ? word - 1 : word + 1) & mask;
        uint64_t value = e->row[fields[i]];
        if (value == next) symbol |= 1u << i;
        if (value != next && value != word) symbol |= other;
    }
    if (symbol & other) symbol = other;
    uint32_t row = row_drive_row(guesses, count);
    encoder_code(e, e->tables->drive[row][symbol]);
    e->is_first = false;
    if (symbol != other) return;
    for (uint32_t i = 0; i < count; i++)
        encoder_scaled(e, ROW_DRIVE_OTHER, fields[i], off_of(e, fields[i], guesses[i].word));
}

void proto_encoder_driven(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    int32_t scale = row_drive_scale(doubt_of(e, part));
    if (scale >= 0) {
        for (uint32_t i = 0; i < part->count; i++) {
            uint32_t f = part->first + i;
            encoder_scaled(e, scale, f, off_of(e, f, guess(e, part, i).word));
        }
        return;
    }
    uint32_t together = part->count <= ROW_DRIVE_FIELDS ? part->count : 1;
    for (uint32_t i = 0; i < part->count; i += together)
        write_near(e, part, i, together);
}

void proto_encoder_source(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    uint32_t most = 0;
    int64_t pace = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        int64_t own = pace_of(e, part->first + i);
        if (row_magnitude(own) <= row_magnitude(pace)) continue;
        most = i;
        pace = own;
    }
    int64_t off = e->off[part->first + most];
    encoder_scaled(e, e->plans[c].scale, part->first + most, (int32_t)off);
    int32_t scale = e->plans[c].scale - ROW_SOURCE_LESS;
    if (scale < 0) scale = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        if (i == most) continue;
        uint32_t f = part->first + i;
        int64_t own = pace_of(e, f), whole = pace < 0 ? -pace : pace;
        int64_t more = row_divide(2 * off * (pace < 0 ? -own : own) + whole, 2 * whole);
        uint32_t left = (uint32_t)e->off[f] - (uint32_t)more;
        e->surprise = 0;
        encoder_scaled(e, scale, f, encoder_difference(left, 0, encoder_word(e, f)->shift));
    }
}

// As encoder_scaled, for a rotation: `scale` < 0 is not known. `is_other`: another part is largest.
static void write_turn(row_encoder* e, int32_t scale, uint32_t f, uint64_t expected,
                       bool is_other) {
    int32_t off = off_of(e, f, expected);
    if (scale >= 0 && !is_other) {
        encoder_scaled(e, scale, f, off);
        return;
    }
    uint32_t row = scale < 0 ? PROTO_NUMBER_WIDE : (uint32_t)row_number_row(scale, e->surprise);
    const uint16_t* codes = (e->is_first ? e->tables->number_first : e->tables->number_plain)[row];
    e->is_first = false;
    if (is_other)
        encoder_code(e, codes[PROTO_NUMBER_OTHER]);
    else
        (void)proto_encoder_number(e, codes, f, off, e->row[f]);
}

void proto_encoder_rotation(row_encoder* e, uint32_t c) {
    uint32_t first = e->layout->plan.parts[c].first;
    uint64_t q_max = e->layout->fields[first + 1].quant.q_max;
    uint64_t base[PROTO_ROTATION_WORDS], base2[PROTO_ROTATION_WORDS], expected[3];
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++) {
        base[i] = e->base[first + i];
        base2[i] = e->base2[first + i];
    }
    proto_rotation_guess own =
        proto_rotation_expect(q_max, base, e->ticks > 0 ? base2 : NULL, e->ticks, e->ticks2);
    int64_t unit = e->layout->fields[first].drive;
    int32_t scale = e->ticks > 0 ? (int32_t)row_line_scale(e->ticks, e->ticks2, own.motion) : -1;
    uint32_t largest = e->row[first];
    if (largest != own.largest) {
        write_turn(e, scale, first + 1, 0, true);
        encoder_put(e, largest, 2);
    }
    proto_rotation_words(&own, q_max, unit, largest, expected);
    for (uint32_t i = 0; i < 3; i++)
        write_turn(e, scale, first + 1 + i, expected[i], false);
}
