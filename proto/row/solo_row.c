// SPDX-License-Identifier: MIT
// A row in solo code: what situation each of its numbers is in (SOLO.md).
#include "proto/solo.h"
#include "row/row_coder.h"

typedef struct solo_row {
    proto_solo_coder* solo;
    row_coder coder;
    uint32_t template_;
    const proto_solo_third* third; // NULL: none that helps
    const proto_solo_near* near;
    proto_solo_near* own;     // NULL: it has no motion, or its template has no neighbours
    uint32_t flags;           // of the components before, newest lowest
    uint32_t active;          // logs of the offs so far
    uint32_t bases;           // 0..7
    uint32_t place, rotation; // components; UINT32_MAX: none
    uint32_t misfit;          // how well the neighbour fits, 0..31
    uint32_t grid;            // of the component that is coded, when it has elastic fields
    bool has_along;           // the own motion is expected to be the neighbour's
    int64_t along[PROTO_SOLO_PLACE];
    uint64_t line[PROTO_SOLO_PLACE];          // what the row code expects of the place
    uint64_t moved[PROTO_ROW_COMPONENTS_MAX]; // motion_sum of each component
} solo_row;

// A signed number in 5 bits.
static inline uint64_t solo_row_bucket(int64_t value) {
    uint64_t size = row_magnitude(value);
    if (size == 0) return 0;
    uint32_t log = size == 1 ? 1 : row_log(size);
    if (log > 15) log = 15;
    return value < 0 ? 16 + log : log;
}

// ---- neighbours ----

// Things that move together. Of the rows before it in the body, the one whose motion explains the
// own one best says where this one is going.

// SCORE_MISFIT: how much better a neighbour must fit to be chosen, in distance.
enum { TURN_SHIFT = 14, SCORE_MISFIT = 64 };

static void copy_place(const solo_row* r, const uint64_t* row, int32_t* place) {
    const proto_row_component* component = &r->coder.layout->components[r->place];
    const uint64_t* words = row + component->field_first;
    place[0] = (int32_t)words[0];
    place[1] = (int32_t)words[1];
    place[2] = component->field_count > 2 ? (int32_t)words[2] : 0;
}

// The sum of |a - b|: of places, which have 28 bits, or of ways.
static inline uint32_t between(const int32_t* a, const int32_t* b) {
    typedef int32_t lanes __attribute__((vector_size(4 * PROTO_SOLO_PLACE_LANES)));
    lanes off, other;
    memcpy(&off, a, sizeof off);
    memcpy(&other, b, sizeof other);
    off -= other;
    off = (off ^ off >> 31) - (off >> 31);
    return (uint32_t)(off[0] + off[1] + off[2]);
}

static void copy_rotation(const solo_row* r, const uint64_t* row, int64_t* q) {
    const proto_row_component* component = &r->coder.layout->components[r->rotation];
    const proto_row_field* fields = &r->coder.layout->fields[component->field_first];
    proto_rotation_parts(fields[1].quant.q_max, row + component->field_first, q);
    for (uint32_t i = 0; i < 4; i++)
        q[i] = q[i] * (1 << TURN_SHIFT) / fields[0].drive;
}

static int64_t shift(int64_t value) {
    return (value + (1 << (TURN_SHIFT - 1))) >> TURN_SHIFT;
}

// a * b, or a * the inverse of b.
static void multiply(const int64_t* a, const int64_t* b, bool is_inverse, int64_t* q) {
    int64_t s = is_inverse ? -1 : 1, x = s * b[0], y = s * b[1], z = s * b[2], w = b[3];
    q[0] = shift(a[3] * x + a[0] * w + a[1] * z - a[2] * y);
    q[1] = shift(a[3] * y - a[0] * z + a[1] * w + a[2] * x);
    q[2] = shift(a[3] * z + a[0] * y - a[1] * x + a[2] * w);
    q[3] = shift(a[3] * w - a[0] * x - a[1] * y - a[2] * z);
}

// Without a rotation the turn is left as it is, and not read.
static void find_motion(const solo_row* r, const uint64_t* from, const uint64_t* to,
                        proto_solo_motion* motion) {
    copy_place(r, from, motion->from);
    copy_place(r, to, motion->to);
    motion->to[PROTO_SOLO_PLACE] = motion->way[PROTO_SOLO_PLACE] = 0;
    for (uint32_t i = 0; i < PROTO_SOLO_PLACE; i++)
        motion->way[i] = motion->to[i] - motion->from[i];
    if (r->rotation == UINT32_MAX) return;
    const int64_t one = 1 << TURN_SHIFT;
    int64_t q[4], a[4], b[4];
    copy_rotation(r, to, a);
    copy_rotation(r, from, b);
    multiply(a, b, true, q);
    for (uint32_t i = 0; i < 4; i++)
        motion->rotation[i] = (int32_t)q[i];
    int64_t x = q[0], y = q[1], z = q[2], w = q[3];
    int64_t turn[9] = {one - shift(2 * (y * y + z * z)), shift(2 * (x * y - z * w)),
                       shift(2 * (x * z + y * w)),       shift(2 * (x * y + z * w)),
                       one - shift(2 * (x * x + z * z)), shift(2 * (y * z - x * w)),
                       shift(2 * (x * z - y * w)),       shift(2 * (y * z + x * w)),
                       one - shift(2 * (x * x + y * y))};
    for (uint32_t i = 0; i < 9; i++)
        motion->turn[i] = (int32_t)turn[i];
}

// Where something would be that moved with it.
static void move_along(const solo_row* r, const proto_solo_motion* motion, const int32_t* from,
                       int64_t* to) {
    int64_t d[PROTO_SOLO_PLACE];
    for (uint32_t i = 0; i < PROTO_SOLO_PLACE; i++) {
        d[i] = (int64_t)from[i] - motion->from[i];
        to[i] = motion->to[i] + d[i];
    }
    for (uint32_t i = 0; r->rotation != UINT32_MAX && i < PROTO_SOLO_PLACE; i++) {
        const int32_t* turn = &motion->turn[3 * i];
        to[i] = motion->to[i] + shift(turn[0] * d[0] + turn[1] * d[1] + turn[2] * d[2]);
    }
}

// How far something would be from its place that moved with `other` before.
static inline uint64_t misfit_of(const solo_row* r, const proto_solo_motion* other) {
    const proto_solo_motion* own = &r->own->before;
    if (r->rotation == UINT32_MAX) return between(other->way, own->way);
    uint64_t misfit = 0;
    int64_t moved[PROTO_SOLO_PLACE];
    move_along(r, other, own->from, moved);
    for (uint32_t k = 0; k < PROTO_SOLO_PLACE; k++)
        misfit += row_magnitude(moved[k] - own->to[k]);
    return misfit;
}

// Find the components that tell how the thing moves: the first one with two or three linear
// fields that is neither a source nor driven, and the first rotation. Then find the row of this
// body whose motion before the base explains the own one best.
static void find_near(solo_row* r) {
    proto_solo_coder* solo = r->solo;
    r->near = r->own = NULL;
    r->place = r->rotation = UINT32_MAX;
    r->misfit = 31;
    if (!r->coder.has_base2 || !proto_solo_has_neighbours(solo->model, r->template_)) return;
    const proto_layout* layout = r->coder.layout;
    if (layout->solo_place == PROTO_SOLO_NO_PLACE) return;
    r->place = layout->solo_place;
    if (layout->solo_turn != PROTO_SOLO_NO_PLACE) r->rotation = layout->solo_turn;
    proto_solo_near* own = r->own = &solo->near[solo->near_count % PROTO_SOLO_NEAR];
    memset(own->off, 0, sizeof own->off);
    const uint64_t like = (uint64_t)r->template_ << 32 | r->coder.ticks << 8 | r->coder.ticks2;
    own->like = like;
    find_motion(r, r->coder.base2, r->coder.base, &own->before);
    uint64_t least = UINT64_MAX, least_misfit = 0;
    const uint32_t end = solo->near_count;
    const uint32_t first = end < PROTO_SOLO_NEAR ? 0 : end + 1 - PROTO_SOLO_NEAR;
    for (uint32_t i = end; i-- > first;) {
        const proto_solo_near* other = &solo->near[i % PROTO_SOLO_NEAR];
        if (other->like != like) continue;
        const uint64_t far = between(other->before.to, own->before.to);
        if (far >= least) continue; // so is its score
        const uint64_t misfit = misfit_of(r, &other->before);
        uint64_t score = misfit * SCORE_MISFIT + far;
        if (score >= least) continue;
        least = score;
        least_misfit = misfit;
        r->near = other;
    }
    if (!r->near) return;
    r->misfit = (uint32_t)solo_row_bucket((int64_t)least_misfit);
    move_along(r, &r->near->now, r->own->before.to, r->along);
}

// The rotation of something that turned with the neighbour.
static void turn_along(const solo_row* r, proto_rotation_guess* guess) {
    int64_t q[4], turn[4], sum = 0, most = 0;
    copy_rotation(r, r->coder.base, q);
    for (uint32_t i = 0; i < 4; i++)
        turn[i] = r->near->now.rotation[i];
    multiply(turn, q, false, guess->parts);
    guess->largest = 0;
    for (uint32_t i = 0; i < 4; i++) {
        int64_t size = (int64_t)row_magnitude(guess->parts[i]);
        sum += size * size;
        if (size > most) {
            most = size;
            guess->largest = i;
        }
    }
    uint32_t own = (uint32_t)r->coder.base[r->coder.layout->components[r->rotation].field_first];
    if ((int64_t)row_magnitude(guess->parts[own]) >= most - most / 32) guess->largest = own;
    int64_t length = 1;
    for (uint32_t bit = 20; bit-- > 0;)
        if ((length + (1 << bit)) * (length + (1 << bit)) <= sum) length += 1 << bit;
    guess->length = length;
}

// Was the place nearer to where the neighbour's motion leads than to its line?
static bool is_along_better(const solo_row* r) {
    const proto_row_component* component = &r->coder.layout->components[r->place];
    uint64_t line = 0, along = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        line += row_magnitude(
            row_difference(r->coder.row[f], r->line[i], r->coder.layout->fields[f].quant.bits));
        along += row_magnitude((int64_t)r->coder.row[f] - r->along[i]);
    }
    return along < line;
}

// ---- numbers ----

static bool is_read(const solo_row* r) {
    return r->solo->mode == PROTO_SOLO_READ;
}

enum { KIND_FLAG = 256 }; // of the fields of a row: whether a component differs

// -value for one that went down.
static int64_t turned(int64_t value, bool is_down) {
    return is_down ? (int64_t)(0 - (uint64_t)value) : value;
}

static uint64_t at(uint64_t feature, uint32_t i) {
    return (feature & 31) << (5 * i);
}

static uint64_t at_most(uint64_t feature) {
    return feature < 31 ? feature : 31;
}

// What stands for the scale where a neighbour leads.
static uint64_t along_scale(const solo_row* r) {
    return at_most(24 + r->misfit);
}

static uint32_t field_number(const solo_row* r, uint32_t field) {
    return (r->template_ * 67 + field) & 255;
}

// What a difference between floats of no grid counts: 2 to a quarter of its bits.
static int64_t wild_size(int64_t off) {
    const uint64_t size = row_magnitude(off);
    if (size == 0) return 0;
    const int64_t least = INT64_C(1) << ((64 - (uint32_t)__builtin_clzll(size)) / 4);
    return off < 0 ? -least : least;
}

static BASE_NOINLINE int64_t apart_in_steps(const solo_row* r, const proto_quant* quant, uint64_t a,
                                            uint64_t b, int64_t off) {
    int64_t steps, steps2;
    const bool is_on = proto_elastic_steps(quant, a, r->grid, &steps) &&
                       proto_elastic_steps(quant, b, r->grid, &steps2);
    return is_on ? steps - steps2 : wild_size(off);
}

// a - b of words of a field: of an elastic one in steps, if both have them.
static inline int64_t apart(const solo_row* r, uint32_t f, uint64_t a, uint64_t b) {
    const proto_quant* quant = &r->coder.layout->fields[f].quant;
    const int64_t off = row_difference(a, b, quant->bits);
    return !quant->is_elastic || off == 0 ? off : apart_in_steps(r, quant, a, b, off);
}

static int64_t motion_of(const solo_row* r, uint32_t f) {
    return r->coder.has_base2 ? apart(r, f, r->coder.base[f], r->coder.base2[f]) : 0;
}

static int64_t near_off(const solo_row* r, uint32_t f) {
    return r->near && f < PROTO_SOLO_OFFS ? r->near->off[f] : 0;
}

static void keep_off(solo_row* r, uint32_t f, int64_t off) {
    if (!r->own || f >= PROTO_SOLO_OFFS) return;
    r->own->off[f] = (int16_t)(off > INT16_MAX ? INT16_MAX : off < INT16_MIN ? INT16_MIN : off);
}

// Code a flag of an elastic field.
static bool code_flag(solo_row* r, uint32_t f, uint64_t situation, bool is_set) {
    const int64_t flag =
        proto_solo_number(r->solo, KIND_FLAG + field_number(r, f), situation, is_set);
    if (flag < 0 || flag > 1) r->solo->failed = true;
    return flag != 0;
}

// Code a float that has no steps: whether its sign is the expected one, whether the difference is
// large, then its upper bits and the lower ones. @return the difference.
static int64_t code_wild(solo_row* r, uint32_t f, uint64_t situation, uint64_t expected,
                         uint64_t about) {
    enum { OTHER_SIGN = 2, IS_LARGE = 3, SMALL_BITS = 12, LOW_SINGLE = 10, LOW_DOUBLE = 39 };
    const proto_quant* quant = &r->coder.layout->fields[f].quant;
    uint64_t* word = &r->coder.row[f];
    const uint64_t sign = UINT64_C(1) << (quant->bits - 1);
    const bool is_other = !is_read(r) && ((*word ^ expected) & sign);
    if (code_flag(r, f, about | at(OTHER_SIGN, 7), is_other)) expected ^= sign;
    int64_t off = is_read(r) ? 0 : row_difference(*word, expected, quant->bits);
    bool is_large = row_magnitude(off) >> SMALL_BITS;
    is_large = code_flag(r, f, about | at(IS_LARGE, 7), is_large);
    const uint32_t low = !is_large ? 0 : quant->bits > 32 ? LOW_DOUBLE : LOW_SINGLE;
    const uint32_t field = field_number(r, f) + 128;
    const int64_t upper =
        proto_solo_number(r->solo, field & 255, situation | at(is_large, 0), off >> low);
    int64_t lower = 0;
    if (is_large) {
        lower = (int64_t)(((uint64_t)off & row_mask(low)) | UINT64_C(1) << low);
        lower = proto_solo_number(r->solo, (field + 64) & 255, low, lower);
        lower = (int64_t)((uint64_t)lower & row_mask(low));
    }
    if (!is_read(r)) return off;
    off = (int64_t)((uint64_t)upper << low | (uint64_t)lower);
    *word = proto_quant_canonical(quant, (expected + (uint64_t)off) & row_mask(quant->bits));
    return row_difference(*word, expected, quant->bits);
}

// Code an elastic word: whether it has steps as its base has, then the steps or the float.
static int64_t code_elastic(solo_row* r, uint32_t f, uint64_t situation, uint64_t expected,
                            bool is_mirrored) {
    const proto_quant* quant = &r->coder.layout->fields[f].quant;
    uint64_t* word = &r->coder.row[f];
    const row_elastic_word own = proto_elastic_word_of(quant, r->grid, r->coder.base[f], expected);
    const uint64_t about = at(own.is_on_grid ? 1 + r->grid : 0, 0) |
                           at(solo_row_bucket(apart(r, f, r->coder.base[f], expected)), 1) |
                           at(at_most(r->active), 2) | at(r->bases, 5);
    int64_t steps = 0;
    bool is_on = !is_read(r) && proto_elastic_steps(quant, *word, r->grid, &steps);
    is_on = code_flag(r, f, about | at(1, 7), is_on != own.is_on_grid) != own.is_on_grid;
    if (!is_on)
        return wild_size(code_wild(r, f, (situation & ~at(31, 0)) | at(28, 0), expected, about));
    int64_t off = turned(steps - own.steps, is_mirrored);
    off = turned(proto_solo_number(r->solo, field_number(r, f), situation, off), is_mirrored);
    if (!is_read(r)) return off;
    steps = (int64_t)((uint64_t)own.steps + (uint64_t)off);
    if (steps <= -ROW_STEPS_LIMIT || steps >= ROW_STEPS_LIMIT) r->solo->failed = true;
    *word = proto_elastic_word(quant, r->solo->failed ? 0 : steps, r->grid);
    return off;
}

// @return how far the word is from the expected one.
static int64_t code_off(solo_row* r, uint32_t f, uint64_t situation, uint64_t expected,
                        bool is_mirrored) {
    const proto_quant* quant = &r->coder.layout->fields[f].quant;
    uint64_t* word = &r->coder.row[f];
    int64_t off;
    if (quant->is_elastic) {
        off = code_elastic(r, f, situation, expected, is_mirrored);
    } else {
        off = is_read(r) ? 0 : row_difference(*word, expected, quant->bits);
        off = proto_solo_number(r->solo, field_number(r, f), situation, turned(off, is_mirrored));
        off = turned(off, is_mirrored);
        if (is_read(r))
            *word =
                proto_quant_canonical(quant, (expected + (uint64_t)off) & row_mask(quant->bits));
    }
    keep_off(r, f, off);
    uint64_t size = row_magnitude(off);
    r->active += size == 0 ? 0 : row_log(size) + 1;
    return quant->is_elastic || is_read(r) ? apart(r, f, *word, expected) : off;
}

// The expected size of the numbers of a component that is not driven; -1: unknown.
static int32_t scale_of(const solo_row* r, uint32_t c) {
    const row_coder* coder = &r->coder;
    const proto_row_component* component = &coder->layout->components[c];
    const uint32_t first = component->field_first, count = component->field_count;
    uint64_t motion = r->moved[c];
    if (!coder->base2 || component->shape == SHAPE_MIXED) return -1;
    if (component->shape == SHAPE_ELASTIC) {
        if (!row_differs(coder->base + first, coder->base2 + first, count)) return -1;
        uint64_t expected[PROTO_ROW_FIELDS_MAX];
        bool is_wild;
        const row_elastic own = row_elastic_of(coder, c);
        motion = proto_elastic_expect(&own, expected, &is_wild);
    } else if (motion == 0) {
        return row_rest_scale(coder->ticks, count);
    } else if (component->shape == SHAPE_ROTATION) {
        return -1;
    }
    return (int32_t)row_line_scale(coder->ticks, coder->ticks2, motion);
}

// A component that differs from its expected words. `lines`: what a neighbour replaced; `others`:
// the other guess; NULL: none.
static void code_plain(solo_row* r, uint32_t c, const uint64_t* expected, const uint64_t* lines,
                       const uint64_t* others) {
    const proto_row_component* component = &r->coder.layout->components[c];
    int64_t before = 0;
    uint64_t scale = (uint64_t)(scale_of(r, c) + 1);
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i, bits = r->coder.layout->fields[f].quant.bits;
        int64_t motion = motion_of(r, f);
        bool is_mirrored = motion < 0;
        int64_t rest = apart(r, f, r->coder.base[f], expected[i]);
        int64_t near = near_off(r, f);
        if (lines) near = row_difference(lines[i], expected[i], bits);
        uint64_t situation =
            at(lines ? along_scale(r) : scale, 0) |
            at(solo_row_bucket(turned(before, is_mirrored)), 1) |
            at(solo_row_bucket(turned(rest, is_mirrored)), 2) |
            at(solo_row_bucket(turned(near, is_mirrored)), 3) | at(at_most(r->active), 4) |
            at(r->bases | (r->flags & 3) << 3, 5) |
            at(component->shape == SHAPE_MIXED ? r->coder.base[f] : i, 6) |
            at(others ? solo_row_bucket(turned(apart(r, f, others[i], expected[i]), is_mirrored))
                      : r->coder.base[f] >> (bits > 5 ? bits - 5 : 0),
               7);
        before = code_off(r, f, situation, expected[i], is_mirrored);
    }
}

// How much further a driven field should have gone from `row` to base by the words of its source,
// in 1 / ROW_STEP steps.
static int64_t drive_lag(const solo_row* r, uint32_t f, uint32_t source, const uint64_t* row,
                         int64_t ticks) {
    const proto_row_field* field = &r->coder.layout->fields[f];
    int64_t came = (ticks - 1) * row_drive(field, row[source]) +
                   (ticks + 1) * row_drive(field, r->coder.base[source]);
    return row_divide(came, 2) -
           row_difference(r->coder.base[f], row[f], field->quant.bits) * ROW_STEP;
}

// What the third row says of where a driven field is between the steps, in eighths of a step.
static uint64_t driven_third(const solo_row* r, uint32_t f, uint32_t source, bool is_down) {
    int64_t lag = drive_lag(r, f, source, r->third->row, r->third->ticks) -
                  drive_lag(r, f, source, r->coder.base2, r->coder.ticks2);
    int64_t eighths = row_divide(turned(lag, is_down) * 8, ROW_STEP);
    uint64_t size = row_magnitude(eighths) < 15 ? row_magnitude(eighths) : 15;
    return eighths < 0 ? 16 + size : size;
}

static void code_driven(solo_row* r, uint32_t c) {
    const proto_layout* layout = r->coder.layout;
    const proto_row_component* component = &layout->components[c];
    uint32_t source = layout->components[component->integral - 1].field_first;
    uint64_t lines[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(&r->coder, component->integral - 1u, lines);
    int64_t before = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        row_drive_guess guess = row_drive_of(&r->coder, c, i);
        const proto_row_field* field = &layout->fields[f];
        int64_t off = row_difference(r->coder.row[source + i], lines[i],
                                     layout->fields[source + i].quant.bits);
        // Sixteenths of a step that the change of the source may move the field.
        int64_t doubt = off * field->drive * (int64_t)r->coder.ticks / (ROW_STEP / 16);
        int64_t rest = guess.rest * 8 / ROW_STEP;
        uint64_t over = guess.doubt >= ROW_STEP ? 3 : (uint64_t)(guess.doubt * 4 / ROW_STEP);
        int64_t sign = guess.is_down ? -1 : 1;
        uint64_t situation =
            at((rest < 8 ? (uint64_t)rest : 7) << 2 | over, 0) |
            at(solo_row_bucket(doubt * sign), 1) | at(solo_row_bucket((int64_t)r->coder.ticks), 2) |
            at(solo_row_bucket(near_off(r, f) * sign), 3) | at(at_most(r->active), 4) |
            at(r->bases | (r->flags & 3) << 3, 5) | at(solo_row_bucket(before * sign), 6) |
            at(r->third ? driven_third(r, f, source + i, guess.is_down)
                        : solo_row_bucket(motion_of(r, f) * sign),
               7);
        before = code_off(r, f, situation, guess.word, guess.is_down);
    }
}

static proto_rotation_guess expect_rotation(const solo_row* r, uint32_t c, bool is_by_third) {
    const row_coder* coder = &r->coder;
    uint32_t first = coder->layout->components[c].field_first;
    const uint64_t *base = coder->base, *older = coder->base2;
    uint32_t ticks2 = coder->ticks2;
    if (is_by_third && r->third->ticks == 0) {
        base = r->third->row;
        older = NULL;
    } else if (is_by_third) {
        older = r->third->row;
        ticks2 = r->third->ticks;
    }
    proto_rotation_guess guess =
        proto_rotation_expect(coder->layout->fields[first + 1].quant.q_max, base + first,
                              older ? older + first : NULL, coder->ticks, ticks2);
    if (r->has_along && c == r->rotation && guess.motion > 0) turn_along(r, &guess);
    return guess;
}

static void code_rotation(solo_row* r, uint32_t c, bool is_by_third) {
    row_coder* coder = &r->coder;
    uint32_t first = coder->layout->components[c].field_first;
    const proto_quant* quant = &coder->layout->fields[first + 1].quant;
    proto_rotation_guess guess = expect_rotation(r, c, is_by_third);
    int64_t unit = coder->layout->fields[first].drive;
    uint64_t three[3];
    uint64_t scale =
        coder->base2 ? row_line_scale(coder->ticks, coder->ticks2, guess.motion) + 1 : 0;
    if (r->has_along && c == r->rotation) scale = along_scale(r);
    uint64_t common = at(scale, 0) | at(r->bases | (r->flags & 3) << 3, 5);
    int64_t largest = is_read(r) ? 0 : (int64_t)((coder->row[first] - guess.largest) & 3);
    largest =
        proto_solo_number(r->solo, field_number(r, first), common | at(guess.largest, 2), largest);
    largest = (largest + guess.largest) & 3;
    coder->row[first] = (uint64_t)largest;
    proto_rotation_words(&guess, quant->q_max, unit, (uint32_t)largest, three);
    int64_t before[2] = {0, 0};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t f = first + 1 + i;
        int64_t motion = coder->row[first] == coder->base[first] ? motion_of(r, f) : 0;
        bool is_mirrored = motion < 0;
        int64_t sign = is_mirrored ? -1 : 1;
        uint64_t situation =
            common | at(solo_row_bucket(before[0] * sign), 1) |
            at(solo_row_bucket(motion * sign), 2) | at(solo_row_bucket(near_off(r, f) * sign), 3) |
            at(at_most(r->active), 4) | at(i, 6) | at(solo_row_bucket(before[1] * sign), 7);
        before[1] = before[0];
        before[0] = code_off(r, f, situation, three[i], is_mirrored);
    }
    if (is_read(r) && !proto_rotation_is_canonical(quant->q_max, coder->row + first)) {
        r->solo->failed = true;
        memcpy(coder->row + first, coder->base + first, PROTO_ROTATION_WORDS * sizeof(uint64_t));
    }
}

// Set the grid for a component.
static void find_grid(solo_row* r, uint32_t c) {
    if (!r->coder.layout->components[c].has_elastic) return;
    const row_elastic own = row_elastic_of(&r->coder, c);
    r->grid = proto_elastic_grid(&own);
}

static uint64_t motion_sum(const solo_row* r, const proto_row_component* component) {
    uint64_t sum = 0;
    const uint32_t end = component->field_first + (uint32_t)component->field_count;
    for (uint32_t f = component->field_first; r->coder.has_base2 && f < end; f++)
        if (r->coder.base[f] != r->coder.base2[f]) sum += row_magnitude(motion_of(r, f));
    return sum;
}

static void guess_rotation(const solo_row* r, uint32_t c, bool is_by_third, uint64_t* words) {
    uint32_t first = r->coder.layout->components[c].field_first;
    const proto_row_field* fields = &r->coder.layout->fields[first];
    proto_rotation_guess guess = expect_rotation(r, c, is_by_third);
    words[0] = guess.largest;
    proto_rotation_words(&guess, fields[1].quant.q_max, fields[0].drive, guess.largest, words + 1);
}

// ---- the other guess ----

typedef struct other_guess {
    bool has_other, is_chosen;
    uint64_t about;                       // of the fact that it is better
    uint64_t words[PROTO_ROW_FIELDS_MAX]; // of the guess that was not chosen
} other_guess;

static uint64_t distance(const solo_row* r, uint32_t c, const uint64_t* a, const uint64_t* b) {
    const proto_row_component* component = &r->coder.layout->components[c];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < component->field_count; i++) {
        sum += row_magnitude(apart(r, component->field_first + i, a[i], b[i]));
    }
    return sum;
}

// The words of a component by the third row. @return false: it has no motion of it.
static bool guess_by_third(const solo_row* r, uint32_t c, uint64_t* words) {
    const row_coder* coder = &r->coder;
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first;
    if (r->third->ticks == 0) {
        memcpy(words, r->third->row + first, component->field_count * sizeof *words);
        return true;
    }
    if (component->shape == SHAPE_ROTATION) {
        guess_rotation(r, c, true, words);
        return true;
    }
    if (component->shape != SHAPE_LINEAR) return false;
    int64_t ticks = r->third->ticks;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = first + i, bits = coder->layout->fields[f].quant.bits;
        int64_t way =
            row_difference(coder->base[f], r->third->row[f], bits) * (int64_t)coder->ticks;
        words[i] =
            (coder->base[f] + (uint64_t)row_divide(2 * way + ticks, 2 * ticks)) & row_mask(bits);
    }
    return true;
}

// Is it the same in all three older rows? Then there is nothing to choose.
static bool rests(const solo_row* r, uint32_t c) {
    const proto_row_component* component = &r->coder.layout->components[c];
    const uint32_t first = component->field_first;
    return r->third->ticks > 0 && component->shape == SHAPE_LINEAR && r->moved[c] == 0 &&
           !row_differs(r->third->row + first, r->coder.base + first, component->field_count);
}

// Choose between the expected words and those by the third row: what was nearer in such situations.
static void choose_guess(solo_row* r, uint32_t c, uint64_t* expected, other_guess* other) {
    const proto_row_component* component = &r->coder.layout->components[c];
    other->has_other = other->is_chosen = false;
    if (!r->third || (r->has_along && c == r->rotation) || rests(r, c) ||
        !guess_by_third(r, c, other->words))
        return;
    uint64_t far = distance(r, c, other->words, expected);
    if (far == 0) return;
    other->has_other = true;
    other->about = at(field_number(r, c), 0) | at(solo_row_bucket((int64_t)far), 1) |
                   at(solo_row_bucket((int64_t)r->moved[c]), 2) |
                   at(solo_row_bucket((int64_t)r->coder.ticks), 3);
    other->is_chosen = proto_solo_expects(r->solo, PROTO_SOLO_OTHER, other->about);
    for (uint32_t i = 0; other->is_chosen && i < component->field_count; i++) {
        uint64_t word = expected[i];
        expected[i] = other->words[i];
        other->words[i] = word;
    }
}

// `expected` and the other words are as choose_guess left them.
static void add_guess_fact(solo_row* r, uint32_t c, const uint64_t* expected,
                           const other_guess* other) {
    if (!other->has_other) return;
    const uint64_t* row = r->coder.row + r->coder.layout->components[c].field_first;
    uint64_t chosen = distance(r, c, row, expected), left = distance(r, c, row, other->words);
    if (chosen != left)
        proto_solo_add_fact(r->solo, PROTO_SOLO_OTHER, other->about,
                            (left < chosen) != other->is_chosen);
}

// The words that `along` gives, within their ranges.
static void guess_along(const solo_row* r, uint32_t first, uint32_t count, uint64_t* expected) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t most = (int64_t)r->coder.layout->fields[first + i].quant.q_max;
        int64_t word = r->along[i];
        expected[i] = (uint64_t)(word < 0 ? 0 : word > most ? most : word);
    }
}

// Code the state of a component: 0 as expected, 1 not, -1 as in the base.
static int64_t code_state(solo_row* r, uint32_t c, bool is_still, const uint64_t* expected) {
    const row_coder* coder = &r->coder;
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    int64_t state = 0;
    if (!is_read(r) && row_differs(coder->row + first, expected, count))
        state = row_differs(coder->row + first, coder->base + first, count) ? 1 : -1;
    uint64_t near = 0;
    for (uint32_t i = 0; i < count; i++)
        near |= row_magnitude(near_off(r, first + i));
    uint64_t situation =
        at((uint64_t)(scale_of(r, c) + 1), 0) | at(solo_row_bucket((int64_t)r->moved[c]), 1) |
        at(r->flags, 2) | at((uint64_t)solo_row_bucket((int64_t)near), 3) |
        at(at_most(r->active), 4) | at(r->bases, 5) | at(is_still, 6) | at(coder->base[first], 7);
    state = proto_solo_number(r->solo, KIND_FLAG + field_number(r, c), situation, state);
    if (is_read(r) && (state > 1 || state < -1)) r->solo->failed = true;
    return state;
}

// The words are as expected (state 0) or as in the base (-1): nothing more is coded.
static void keep_words(solo_row* r, uint32_t c, int64_t state, const uint64_t* expected) {
    row_coder* coder = &r->coder;
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first;
    const uint64_t* words = state == 0 ? expected : coder->base + first;
    if (is_read(r)) memcpy(coder->row + first, words, component->field_count * sizeof *words);
    bool is_rotation = component->shape == SHAPE_ROTATION && is_read(r);
    if (is_rotation && !proto_rotation_is_canonical(coder->layout->fields[first + 1].quant.q_max,
                                                    coder->row + first))
        r->solo->failed = true;
    if (state) r->active += 2;
}

static void code_component(solo_row* r, uint32_t c) {
    row_coder* coder = &r->coder;
    const proto_row_component* component = &coder->layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    if (count == 0) return;
    find_grid(r, c);
    if (component->is_driven && coder->ticks > 0) {
        code_driven(r, c);
        return;
    }
    uint64_t expected[PROTO_ROW_FIELDS_MAX], lines[PROTO_ROW_FIELDS_MAX];
    const uint64_t* kept = expected;
    if (component->shape == SHAPE_ROTATION && coder->base2)
        guess_rotation(r, c, false, expected);
    else if (r->moved[c] > 0 || component->shape == SHAPE_ELASTIC)
        proto_row_expect(coder, c, expected);
    else
        for (uint32_t i = 0; i < count; i++)
            expected[i] = coder->base[first + i];
    for (uint32_t i = 0; c == r->place && i < count; i++)
        r->line[i] = expected[i];
    other_guess other;
    choose_guess(r, c, expected, &other);
    bool is_along = r->has_along && c == r->place;
    if (is_along) {
        memcpy(lines, expected, count * sizeof *lines);
        kept = lines;
        guess_along(r, first, count, expected);
    }
    bool is_still = !row_differs(coder->base + first, expected, count);
    bool is_one = count == 1 && is_still &&
                  !component->has_elastic; // its number says whether it is as expected
    int64_t state = is_one ? 0 : code_state(r, c, is_still, expected);
    r->flags = (r->flags << 1 | (state != 0)) & 31;
    if (!is_one && state <= 0) {
        keep_words(r, c, state, expected);
    } else if (component->shape == SHAPE_ROTATION) {
        code_rotation(r, c, other.is_chosen);
    } else {
        code_plain(r, c, expected, is_along ? lines : NULL, other.has_other ? other.words : NULL);
        if (is_one) r->flags |= coder->row[first] != expected[0];
    }
    add_guess_fact(r, c, kept, &other);
}

// ---- quiet components ----

// The mixed components that rest in both bases, a bit for each; `motion`: of all others.
static uint64_t find_quiet(solo_row* r, uint64_t* motion) {
    const row_coder* coder = &r->coder;
    uint64_t quiet = 0;
    *motion = 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        const proto_row_component* component = &coder->layout->components[c];
        find_grid(r, c);
        r->moved[c] = motion_sum(r, component);
        *motion += r->moved[c];
        const bool is_mixed = component->shape == SHAPE_MIXED || component->shape == SHAPE_ELASTIC;
        if (is_mixed && r->moved[c] == 0) quiet |= UINT64_C(1) << c;
    }
    return quiet;
}

static bool differs(const row_coder* coder, uint64_t components) {
    for (uint64_t left = components; left; left &= left - 1) {
        const proto_row_component* component = &coder->layout->components[__builtin_ctzll(left)];
        const uint32_t first = component->field_first;
        if (row_differs(coder->row + first, coder->base + first, component->field_count))
            return true;
    }
    return false;
}

// One number for two or more quiet components. @return true: each of them is as in the base.
static bool code_quiet(solo_row* r, uint64_t quiet, uint64_t motion) {
    const row_coder* coder = &r->coder;
    if ((quiet & (quiet - 1)) == 0) return false;
    uint64_t fold = 0;
    for (uint64_t left = quiet; left; left >>= 5)
        fold ^= left;
    uint64_t situation = at(r->bases | (r->flags & 3) << 3, 0) |
                         at(solo_row_bucket((int64_t)motion), 1) | at(at_most(r->active), 2) |
                         at(solo_row_bucket((int64_t)coder->ticks), 3) | at(r->template_, 4) |
                         at(r->flags, 5) | at(fold, 6) | at(r->template_, 7);
    int64_t differ = !is_read(r) && differs(coder, quiet);
    differ = proto_solo_number(r->solo, PROTO_SOLO_QUIET, situation, differ);
    if (differ < 0 || differ > 1) r->solo->failed = true;
    for (uint64_t left = differ ? 0 : quiet; left; left &= left - 1) {
        const uint32_t c = (uint32_t)__builtin_ctzll(left);
        keep_words(r, c, 0, coder->base + coder->layout->components[c].field_first);
    }
    r->flags = (r->flags << 1 | (differ != 0)) & 31;
    return differ == 0;
}

static void code_components(solo_row* r, uint64_t quiet, uint64_t motion) {
    const proto_layout* layout = r->coder.layout;
    bool is_asked = false, is_kept = false;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const uint32_t c = layout->order[i];
        const bool is_quiet = quiet >> c & 1;
        if (is_quiet && !is_asked) is_kept = code_quiet(r, quiet, motion);
        is_asked |= is_quiet;
        if (r->solo->marks) r->solo->marks[c].begin = proto_solo_position(r->solo);
        if (!is_quiet || !is_kept) code_component(r, c);
        if (r->solo->marks) r->solo->marks[c].end = proto_solo_position(r->solo);
    }
}

void proto_solo_row(proto_solo_coder* coder, uint32_t template_, const proto_layout* layout,
                    const proto_row_base* against, const proto_solo_third* third, uint64_t* row) {
    solo_row r;
    r.solo = coder;
    r.template_ = template_;
    r.flags = r.active = 0;
    proto_row_begin(&r.coder, layout, against);
    r.coder.row = row;
    r.bases =
        r.coder.ticks == 0 ? 0 : 1u + (r.coder.has_base2 ? 2u : 0u) + (r.coder.ticks > 2 ? 1u : 0u);
    // A third base continues two; another row is for those without any.
    bool is_third =
        third && (r.coder.ticks == 0 ? third->ticks == 0 : r.coder.has_base2 && third->ticks > 0);
    r.third = is_third ? third : NULL;
    find_near(&r);
    BASE_ASSERT(!r.own || !coder->tape); // a neighbour is in no tape
    uint64_t motion;
    const uint64_t quiet = find_quiet(&r, &motion), moved = r.near ? r.moved[r.place] : 0;
    uint64_t about = at(r.misfit, 0) | at(solo_row_bucket((int64_t)moved), 1) | at(template_, 2) |
                     at(solo_row_bucket((int64_t)r.coder.ticks), 3);
    r.has_along = moved > 0 && proto_solo_expects(coder, PROTO_SOLO_ALONG, about);
    code_components(&r, quiet, motion);
    if (moved > 0) proto_solo_add_fact(coder, PROTO_SOLO_ALONG, about, is_along_better(&r));
    if (!r.own) return;
    find_motion(&r, r.coder.base, r.coder.row, &r.own->now);
    r.solo->near_count++;
}
