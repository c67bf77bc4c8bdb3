// SPDX-License-Identifier: MIT
// Neighbours in solo code: things that move together. Of the rows before it in the body, the one
// whose motion explains the own one best says where this one is going (SOLO.md).
#include "row/solo_row.h"

enum {
    TURN_SHIFT = 14,
    SCORE_MISFIT = 64, // how much better a neighbour must fit to be chosen, in distance
};

static void copy_place(const solo_row* r, const uint64_t* row, int32_t* place) {
    const proto_row_component* component = &r->coder.layout->components[r->place];
    for (uint32_t i = 0; i < PROTO_SOLO_PLACE; i++)
        place[i] = i < component->field_count ? (int32_t)row[component->field_first + i] : 0;
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

static void find_motion(const solo_row* r, const uint64_t* from, const uint64_t* to,
                        proto_solo_motion* motion) {
    copy_place(r, from, motion->from);
    copy_place(r, to, motion->to);
    const int64_t one = 1 << TURN_SHIFT;
    int64_t q[4] = {0, 0, 0, one};
    if (r->rotation != UINT32_MAX) {
        int64_t a[4], b[4];
        copy_rotation(r, to, a);
        copy_rotation(r, from, b);
        multiply(a, b, true, q);
    }
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
static void move_along(const proto_solo_motion* motion, const int32_t* from, int64_t* to) {
    int64_t d[PROTO_SOLO_PLACE];
    for (uint32_t i = 0; i < PROTO_SOLO_PLACE; i++)
        d[i] = (int64_t)from[i] - motion->from[i];
    for (uint32_t i = 0; i < PROTO_SOLO_PLACE; i++) {
        const int32_t* turn = &motion->turn[3 * i];
        to[i] = motion->to[i] + shift(turn[0] * d[0] + turn[1] * d[1] + turn[2] * d[2]);
    }
}

void proto_solo_find_near(solo_row* r) {
    proto_solo_coder* solo = r->solo;
    r->near = r->own = NULL;
    r->place = r->rotation = UINT32_MAX;
    r->misfit = 31;
    if (!r->coder.has_base2 || !proto_solo_has_neighbours(solo->model, r->template_)) return;
    const proto_layout* layout = r->coder.layout;
    if (layout->solo_place == PROTO_SOLO_NO_PLACE) return;
    r->place = layout->solo_place;
    if (layout->solo_turn != PROTO_SOLO_NO_PLACE) r->rotation = layout->solo_turn;
    r->own = &solo->near[solo->near_count % PROTO_SOLO_NEAR];
    memset(r->own->off, 0, sizeof r->own->off);
    int32_t base[PROTO_SOLO_PLACE], base2[PROTO_SOLO_PLACE];
    copy_place(r, r->coder.base, base);
    copy_place(r, r->coder.base2, base2);
    uint64_t least = UINT64_MAX, least_misfit = 0;
    for (uint32_t back = 1; back < PROTO_SOLO_NEAR && back <= solo->near_count; back++) {
        const proto_solo_near* other = &solo->near[(solo->near_count - back) % PROTO_SOLO_NEAR];
        if (other->template_ != r->template_ || other->ticks != r->coder.ticks ||
            other->ticks2 != r->coder.ticks2)
            continue;
        uint64_t far = 0, misfit = 0;
        for (uint32_t k = 0; k < PROTO_SOLO_PLACE; k++)
            far += row_magnitude((int64_t)other->before.to[k] - base[k]);
        if (far >= least) continue; // so is its score
        int64_t moved[PROTO_SOLO_PLACE];
        move_along(&other->before, base2, moved);
        for (uint32_t k = 0; k < PROTO_SOLO_PLACE; k++)
            misfit += row_magnitude(moved[k] - base[k]);
        uint64_t score = misfit * SCORE_MISFIT + far;
        if (score >= least) continue;
        least = score;
        least_misfit = misfit;
        r->near = other;
    }
    if (!r->near) return;
    r->misfit = (uint32_t)solo_row_bucket((int64_t)least_misfit);
    move_along(&r->near->now, base, r->along);
}

void proto_solo_turn_along(const solo_row* r, proto_rotation_guess* guess) {
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

bool proto_solo_is_along_better(const solo_row* r) {
    const proto_row_component* component = &r->coder.layout->components[r->place];
    uint64_t lines[PROTO_ROW_FIELDS_MAX], line = 0, along = 0;
    proto_row_expect(&r->coder, r->place, lines);
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        line += row_magnitude(
            row_difference(r->coder.row[f], lines[i], r->coder.layout->fields[f].quant.bits));
        along += row_magnitude((int64_t)r->coder.row[f] - r->along[i]);
    }
    return along < line;
}

void proto_solo_keep_motion(solo_row* r) {
    proto_solo_near* own = r->own;
    if (!own) return;
    own->template_ = r->template_;
    own->ticks = r->coder.ticks;
    own->ticks2 = r->coder.ticks2;
    find_motion(r, r->coder.base, r->coder.row, &own->now);
    find_motion(r, r->coder.base2, r->coder.base, &own->before);
    r->solo->near_count++;
}
