// SPDX-License-Identifier: MIT
// Encoding a packed row by the plan of its layout (ROWS.md). It takes the same
// decisions as row.c, from the same rules; only the order of work differs:
//
//   - Two bit masks say which words differ from the base and which moved between the bases. Most
//     components of a game rest and are as they were, and cost nothing.
//   - Components that may move are gone through once. Their words less the expected words are kept.
//   - A number of a small difference is one look-up: its code, its length, and how it changes the
//     expectation of the next ones.
//
// Rows that the plan does not cover (a field above 32 bits) are unpacked and written by row.c.
//
// Off (row.c writes all rows): a match of arena with 16 bots takes 20 to 27 % more processor time,
// and repl_1000x10k_dirty100, which has few rows here, 13 %. encoder_plain.c off (all rows are
// written here): a tick of dirty20 takes 6 % more instructions, of crowd 9 %.
// Start reading at proto_row_encode_many.
#include "row/encoder.h"

// ---- encoder number ----

// Numbers that have no small code: large differences, and numbers that are not scaled. The same as
// row.c writes.

// Write a difference with a row of a table of numbers. @return its size.
static uint32_t proto_encoder_number(row_encoder* e, const uint16_t* codes, uint32_t f, int32_t off,
                                     uint32_t word) {
    uint32_t bits = 32u - encoder_word(e, f)->shift;
    uint32_t size = (uint32_t)row_magnitude(off), symbol = row_number_symbol(off);
    uint32_t code = codes[symbol];
    if (symbol < ROW_SIGNED_SYMBOLS) {
        encoder_code(e, code);
        return size;
    }
    uint32_t low = row_number_low_bits(symbol), whole = codes[PROTO_NUMBER_WHOLE];
    bool is_whole = symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + bits < (code & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE) {
        encoder_code(e, whole);
        encoder_put(e, word, bits);
        return size;
    }
    uint32_t rest = (size & ((1u << low) - 1)) << 1 | (uint32_t)(off < 0);
    encoder_put(e, code >> 4 | rest << (code & 15), (code & 15) + low + 1);
    return size;
}

void proto_encoder_scaled_any(row_encoder* e, uint32_t row, uint32_t f, int32_t off) {
    uint32_t size = proto_encoder_number(e, e->tables->number_plain[row], f, off, e->row[f]);
    e->surprise += row_number_surprise(size, row);
}

// ---- encoder fields ----

// What the encoder writes rarely: exceptions of the head, and components that differ although they
// were expected to rest or to stay on their line.

enum { INDEX_BITS = 22, GENERATION_BITS = 10, INDEX_ORDER = 7, MASK_GROUP = 4 };

// Write a mask of `count` members. `is_first`: it is the first symbol of the row and may be 0;
// otherwise it is not 0.
static void write_mask(row_encoder* e, uint64_t mask, uint32_t count, bool is_first) {
    if (count <= MASK_GROUP) {
        if (is_first) encoder_code(e, e->tables->mask_first[count > 0 ? count - 1 : 0][mask]);
        if (!is_first && count > 1) encoder_code(e, e->tables->mask_other[count - 2][mask]);
        return;
    }
    uint32_t groups = (count + MASK_GROUP - 1) / MASK_GROUP;
    uint64_t set = 0;
    for (uint32_t g = 0; g < groups; g++)
        set |= (uint64_t)((mask >> (g * MASK_GROUP) & 15) != 0) << g;
    write_mask(e, set, groups, is_first);
    for (uint32_t first = 0; first < count; first += MASK_GROUP) {
        uint64_t members = mask >> first & 15;
        uint32_t size = count - first < MASK_GROUP ? count - first : MASK_GROUP;
        if (members) write_mask(e, members, size, false);
    }
}

static bool is_quiet(const row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    if (e->ticks == 0) return part->words != 0;
    if (part->shape == SHAPE_MIXED || part->shape == SHAPE_ELASTIC)
        return part->words != 0 && (!(e->moved & part->words) || (e->cooled >> c & 1));
    return part->words != 0 && e->plans[c].kind == ROW_QUIET;
}

// Write which quiet components are coded. `is_first`: it is the whole head.
static void write_quiet(row_encoder* e, bool is_first) {
    uint32_t count = 0;
    uint64_t mask = 0;
    for (uint32_t c = 0; c < e->layout->component_count; c++) {
        if (!is_quiet(e, c)) continue;
        mask |= (e->coded >> e->layout->plan.parts[c].place & 1) << count;
        count++;
    }
    write_mask(e, mask, count, is_first);
}

static void write_golomb(row_encoder* e, uint32_t value, uint32_t order) {
    uint32_t u = value + (1u << order), low = 31 - (uint32_t)__builtin_clz(u);
    encoder_put(e, UINT64_C(1) << (low - order), low - order + 1);
    encoder_put(e, u & ((1u << low) - 1), low);
}

static void write_entity(row_encoder* e, uint32_t word) {
    encoder_put(e, word == 0, 1);
    if (word == 0) return;
    uint32_t generation = word >> INDEX_BITS;
    write_golomb(e, word & ((1u << INDEX_BITS) - 1), INDEX_ORDER);
    encoder_put(e, generation == 1, 1);
    if (generation != 1) encoder_put(e, generation, GENERATION_BITS);
}

// The bases of a component with elastic fields; the words go to `base` and `base2`.
static row_elastic elastic_of(const row_encoder* e, const proto_layout_part* part, uint64_t* base,
                              uint64_t* base2) {
    for (uint32_t i = 0; i < part->count; i++) {
        base[i] = e->base[part->first + i];
        base2[i] = e->base2[part->first + i];
    }
    return (row_elastic){
        &e->layout->fields[part->first], part->count, base, base2, e->ticks, e->ticks2};
}

static uint32_t grid_of(const row_encoder* e, const proto_layout_part* part) {
    uint64_t base[PROTO_ROW_PLANNED_MAX], base2[PROTO_ROW_PLANNED_MAX];
    const row_elastic own = elastic_of(e, part, base, base2);
    return proto_elastic_grid(&own);
}

// Write an elastic word. @return as proto_elastic_write.
static uint64_t write_elastic(row_encoder* e, const uint16_t* codes, uint32_t grid, uint32_t f,
                              uint32_t expected) {
    const row_elastic_word own =
        proto_elastic_word_of(&e->layout->fields[f].quant, grid, e->base[f], expected);
    row_code code = {0};
    const uint64_t size = proto_elastic_write(&code, e->tables, codes, &own, e->row[f]);
    for (uint32_t i = 0; i < BASE_COUNT(code.bits); i++) {
        const uint32_t low = code.counts[i] < 32 ? code.counts[i] : 32;
        if (low == 0) continue;
        encoder_put(e, code.bits[i] & row_mask(low), low);
        if (code.counts[i] > 32) encoder_put(e, code.bits[i] >> 32, code.counts[i] - 32);
    }
    return size;
}

static void write_field(row_encoder* e, const proto_layout_part* part, int32_t scale, uint32_t f,
                        int32_t off) {
    uint32_t codes = encoder_word(e, f)->codes;
    if (codes == ENCODER_BIT) return; // it is the other one
    if (codes == ENCODER_ENTITY) {
        write_entity(e, e->row[f]);
        return;
    }
    if (codes == ENCODER_ELASTIC) {
        (void)write_elastic(e, e->tables->number_plain[PROTO_NUMBER_STEPS], grid_of(e, part), f,
                            e->base[f]);
        return;
    }
    if (codes == ENCODER_SCALED) codes = scale < 0 ? PROTO_NUMBER_WIDE : (uint32_t)scale;
    (void)proto_encoder_number(e, e->tables->number_other[codes], f, off, e->row[f]);
}

// Write which of two or more fields differ.
static void write_field_mask(row_encoder* e, uint64_t mask, uint32_t count) {
    if (count <= MASK_GROUP)
        encoder_code(e, e->tables->field[count - 2][mask]);
    else
        write_mask(e, mask, count, false);
}

static uint32_t expected_elastic(const row_encoder* e, const proto_layout_part* part, uint32_t f) {
    return e->moved & part->words ? (uint32_t)e->off[f] : e->base[f];
}

// Write an elastic component.
static void write_elastic_component(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    const bool is_moving = (e->moved & part->words) != 0;
    const bool is_live = is_moving && e->plans[c].kind == ROW_LIVE;
    const uint32_t grid = grid_of(e, part), end = part->first + (uint32_t)part->count;
    uint64_t mask = row_mask(part->count);
    for (uint32_t f = part->first; !is_live && f < end; f++)
        if (e->row[f] == expected_elastic(e, part, f)) mask ^= UINT64_C(1) << (f - part->first);
    if (!is_live && part->count > 1) write_field_mask(e, mask, part->count);
    const uint16_t* codes = is_moving ? e->tables->number_other[e->plans[c].scale]
                                      : e->tables->number_plain[PROTO_NUMBER_STEPS];
    for (; mask; mask &= mask - 1) {
        const uint32_t f = part->first + (uint32_t)__builtin_ctzll(mask);
        const int32_t row = is_live ? row_number_row(e->plans[c].scale, e->surprise) : 0;
        if (is_live) codes = e->tables->number_plain[row];
        const uint64_t size = write_elastic(e, codes, grid, f, expected_elastic(e, part, f));
        if (is_live && size != ROW_ELASTIC_NO_SIZE)
            e->surprise += row_number_surprise(size, (uint32_t)row);
    }
}

// Write a warm or quiet component that is no rotation.
static void write_fields(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    bool is_mixed = part->shape == SHAPE_MIXED;
    uint32_t first = part->first, count = part->count;
    int32_t scale = is_mixed ? -1 : e->plans[c].scale;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = first + i;
        if (is_mixed)
            e->off[f] = encoder_difference(e->row[f], e->base[f], encoder_word(e, f)->shift);
        mask |= (uint64_t)(e->off[f] != 0) << i;
    }
    if (count == 1) {
        write_field(e, part, scale, first, e->off[first]);
        return;
    }
    write_field_mask(e, mask, count);
    for (; mask; mask &= mask - 1) {
        uint32_t f = first + (uint32_t)__builtin_ctzll(mask);
        write_field(e, part, scale, f, e->off[f]);
    }
}

// ---- sources, integrals, rotations ----

// row.c says why they are coded so.

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
    return row_drive_guess_of(&e->layout->fields[f], &words);
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

// Fill the plan of a component with a source, and its `off` when it is quiet and differs.
static void plan_driven(row_encoder* e, uint32_t c) {
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
    const uint32_t f = part->first + first, other = 1u << count;
    uint32_t keys[ROW_DRIVE_FIELDS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, symbol = 0;
    row_drive_guess guesses[ROW_DRIVE_FIELDS];
    for (uint32_t i = 0; i < count; i++) {
        guesses[i] = guess(e, part, first + i);
        keys[i] = guesses[i].class_ << 2 | i;
    }
    row_drive_sort(keys);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = keys[i] & 3;
        uint64_t word = guesses[at].word, mask = UINT32_MAX >> encoder_word(e, f + at)->shift;
        uint64_t next = (guesses[at].is_down ? word - 1 : word + 1) & mask;
        uint64_t value = e->row[f + at];
        if (value == next) symbol |= 1u << i;
        if (value != next && value != word) symbol |= other;
    }
    if (symbol & other) symbol = other;
    encoder_code(e, e->tables->drive[row_drive_row(keys, count)][symbol]);
    if (symbol != other) return;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = keys[i] & 3;
        encoder_scaled(e, ROW_DRIVE_OTHER, f + at, off_of(e, f + at, guesses[at].word));
    }
}

static void write_driven(row_encoder* e, uint32_t c) {
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

// Write a live source.
static void write_source(row_encoder* e, uint32_t c) {
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
    const uint16_t* codes = e->tables->number_plain[row];
    if (is_other)
        encoder_code(e, codes[PROTO_NUMBER_OTHER]);
    else
        (void)proto_encoder_number(e, codes, f, off, e->row[f]);
}

static void write_rotation(row_encoder* e, uint32_t c) {
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

// ---- encoder ----

// ---- which components are coded ----

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
            plan_driven(e, c);
        } else {
            plan_step(e, part, plan);
            if (plan->kind == ROW_WARM) add_warm(e, c, plan->class_);
        }
        coded |= (uint64_t)plan->is_coded << part->place;
    }
    e->coded = coded;
}

// Fill the plan of an elastic component that moved between the bases.
static void plan_elastic(row_encoder* e, uint32_t c) {
    const proto_layout_part* part = &e->layout->plan.parts[c];
    uint64_t base[PROTO_ROW_PLANNED_MAX], base2[PROTO_ROW_PLANNED_MAX];
    uint64_t expected[PROTO_ROW_PLANNED_MAX];
    const row_elastic own = elastic_of(e, part, base, base2);
    bool is_wild, is_off = false;
    const uint64_t motion = proto_elastic_expect(&own, expected, &is_wild);
    const uint32_t scale = row_line_scale(e->ticks, e->ticks2, motion);
    const uint32_t class_ = is_wild ? ROW_CLASS_LIVE : row_line_class(part->count, scale);
    for (uint32_t i = 0; i < part->count; i++) {
        e->off[part->first + i] = (int32_t)(uint32_t)expected[i];
        is_off |= e->row[part->first + i] != expected[i];
    }
    const bool is_live = class_ == ROW_CLASS_LIVE;
    e->plans[c] = (row_plan){.kind = is_live ? ROW_LIVE : ROW_WARM, .scale = (int8_t)scale};
    if (is_live) e->is_certain = true;
    if (is_live || is_off) e->coded |= UINT64_C(1) << part->place;
    if (!is_live) add_warm(e, c, class_);
}

// Mixed components are warm when they moved between the bases; elastic ones are planned then.
static void plan_mixed(row_encoder* e) {
    const proto_layout_plan* layout = &e->layout->plan;
    for (uint64_t left = e->moved & layout->mixed_words; left;) {
        uint32_t c = layout->words[__builtin_ctzll(left)].component;
        left &= ~layout->parts[c].words;
        if (layout->parts[c].shape == SHAPE_ELASTIC)
            plan_elastic(e, c);
        else
            add_warm(e, c, ROW_CLASS_MIXED);
    }
    for (uint64_t left = e->differ & layout->mixed_words; left;) {
        const proto_layout_part* part =
            &layout->parts[layout->words[__builtin_ctzll(left)].component];
        left &= ~part->words;
        const bool is_moving = (e->moved & part->words) != 0;
        if (is_moving && part->shape == SHAPE_ELASTIC) continue;
        e->coded |= UINT64_C(1) << part->place;
        if (!is_moving) e->is_exception = true;
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
        write_quiet(e, true);
        return;
    }
    if (e->is_exception) {
        encoder_put(e, 0, e->warm_count == 0 ? ROW_BARE_BITS : ROW_RESERVED_BITS + 1);
        write_quiet(e, false);
    }
    uint32_t count = e->warm_count, symbol = 0, classes[ROW_WARM_MAX];
    if (count == 0) return;
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = e->warm[i] >> 8;
        symbol |= (uint32_t)is_coded(e, e->warm[i] & 255) << i;
    }
    encoder_code(e, e->tables->head[row_head_row(classes, count)][symbol]);
}

// ---- the row ----

static bool begin_row(row_encoder* e, const proto_layout* layout, const proto_row_job* job,
                      uint8_t* bytes) {
    BASE_ASSERT(layout->bits_max > 0); // finished
    if (!layout->plan.is_made) return false;
    const uint32_t ticks = job->times->ticks, ticks2 = job->times->ticks2;
    e->layout = layout;
    e->tables = proto_tables_builtin();
    e->row = job->row;
    e->base = e->base2 = job->base;
    e->ticks = ticks <= ROW_TICKS_MAX ? ticks : 0;
    e->ticks2 = 1;
    e->has_base2 = e->is_certain = e->is_exception = false;
    e->warm_count = 0;
    e->surprise = 0;
    e->differ = encoder_differing(job->row, job->base, layout->packed_count) & ~job->hidden;
    e->moved = e->coded = e->cooled = e->bits = 0;
    e->fill = 0;
    e->at = bytes;
    if (e->ticks == 0) {
        plan_quiet(e);
        return true;
    }
    if (job->base2 && ticks2 >= 1 && ticks2 <= ROW_TICKS2_MAX) {
        e->has_base2 = true;
        e->base2 = job->base2;
        e->ticks2 = ticks2;
        e->moved = encoder_differing(job->base, job->base2, layout->packed_count) & ~job->hidden;
    }
    plan_moving(e);
    plan_mixed(e);
    if (layout->plan.driven_words) find_driven_exceptions(e);
    return true;
}

static void write_components(row_encoder* e) {
    uint32_t last = 0;
    for (uint64_t left = e->coded; left; left &= left - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(left), c = e->layout->order[place];
        const proto_layout_part* part = &e->layout->plan.parts[c];
        for (; last < place && e->surprise != 0; last++) // after each component by half
            e->surprise /= 2;
        last = place;
        uint32_t kind = part->shape == SHAPE_MIXED ? ROW_QUIET : e->plans[c].kind;
        if (part->shape == SHAPE_ROTATION) {
            write_rotation(e, c);
        } else if (part->shape == SHAPE_ELASTIC) {
            write_elastic_component(e, c);
        } else if (kind == ROW_LIVE && part->is_source) {
            write_source(e, c);
        } else if (kind == ROW_LIVE) {
            const uint32_t end = part->first + (uint32_t)part->count;
            const int32_t scale = e->plans[c].scale;
            for (uint32_t f = part->first; f < end; f++)
                encoder_scaled(e, scale, f, e->off[f]);
        } else if (kind == ROW_DRIVEN) {
            write_driven(e, c);
        } else {
            write_fields(e, c);
        }
    }
}

static uint32_t encode_unpacked(const proto_layout* layout, const proto_row_job* job,
                                uint8_t* bytes) {
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX];
    const proto_packed_base against = {job->base, job->base2, job->times->ticks,
                                       job->times->ticks2};
    const proto_row_base base = proto_row_unpack_base(layout, &against, &rows[1]);
    BASE_ASSERT(job->hidden == 0);
    proto_row_unpack(layout, job->row, rows[0]);
    size_t capacity = (layout->bits_max + 63) / 64 * 8;
    proto_bit_writer writer = proto_bit_writer_make(bytes, capacity);
    proto_row_write(layout, &base, rows[0], &writer, NULL);
    BASE_ASSERT(!writer.failed);
    size_t used = proto_bit_writer_bytes(&writer);
    memset(bytes + used, 0, (used + 7) / 8 * 8 - used);
    if (writer.size_bits & 7) bytes[used - 1] &= (uint8_t)((1u << (writer.size_bits & 7)) - 1);
    return (uint32_t)writer.size_bits;
}

static BASE_NOINLINE uint32_t encode_any(const proto_layout* layout, const proto_row_job* job,
                                         uint8_t* bytes) {
    row_encoder e;
    if (!begin_row(&e, layout, job, bytes)) return encode_unpacked(layout, job, bytes);
    write_head(&e);
    if (e.ticks > 0 && layout->plan.driven_words) follow_sources(&e);
    write_components(&e);
    base_store_le64(e.at, e.bits);
    if (e.warm_count == 0 && e.is_certain && !e.is_exception &&
        (bytes[0] & ((1u << ROW_RESERVED_BITS) - 1)) == 0) {
        e.at = bytes;
        e.bits = ROW_BARE;
        e.fill = ROW_BARE_BITS;
        e.surprise = 0;
        write_components(&e);
        base_store_le64(e.at, e.bits);
    }
    uint32_t bits = (uint32_t)(e.at - bytes) * 8 + e.fill;
    BASE_ASSERT(bits <= layout->bits_max);
    return bits;
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
        bits[i] = encode_any(layout, &jobs[i], bytes);
        bytes += (bits[i] + 63) / 64 * 8;
    }
}
