// SPDX-License-Identifier: MIT
// SOLO.md, "Neighbours".
#include "solo.h"

#include <string.h>

enum { PARTS = 4, ONE = 1 << 14, MISFIT_WEIGHT = 64 };

uint64_t solo_size(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

uint64_t solo_bucket(int64_t value) {
    if (value == 0) return 0;
    int log = log_halves(solo_size(value));
    uint64_t bucket = log < 1 ? 1 : log > 15 ? 15 : (uint64_t)log;
    return value < 0 ? bucket + 16 : bucket;
}

static int64_t s(int64_t value) {
    return (value + (1 << 13)) >> 14;
}

static bool is_place(const cf_layout* layout, int c) {
    uint32_t count = layout->count[c];
    if (layout->shape[c] != SHAPE_LINEAR || layout->is_source[c] || layout->source[c] >= 0 ||
        count < 2 || count > SOLO_PLACE)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (layout->elements[layout->first[c] + i].bits > 28) return false;
    return true;
}

static void find_place(const cf_layout* layout, solo_guide* guide) {
    for (int c = (int)layout->component_count - 1; c >= 0; c--) {
        if (layout->shape[c] == SHAPE_ROTATION) guide->turn = c;
        if (is_place(layout, c)) guide->place = c;
    }
    if (guide->place < 0 || layout->count[guide->place] < SOLO_PLACE) guide->turn = -1;
}

static void place_of(const row_coder* row, const solo_guide* guide, const uint64_t* words,
                     int64_t* place) {
    const cf_layout* layout = row->layout;
    for (uint32_t i = 0; i < SOLO_PLACE; i++)
        place[i] =
            i < layout->count[guide->place] ? (int64_t)words[layout->first[guide->place] + i] : 0;
}

static void turn_of(const row_coder* row, const solo_guide* guide, const uint64_t* words,
                    int64_t* parts) {
    uint32_t first = row->layout->first[guide->turn];
    int64_t q = (int64_t)row->layout->elements[first + 1].q_max;
    rotation_spread(words + first, q, parts);
    for (int i = 0; i < PARTS; i++)
        parts[i] = parts[i] * ONE / rotation_unit(q);
}

static void product(const int64_t* a, const int64_t* b, int64_t* made) {
    made[0] = s(a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1]);
    made[1] = s(a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0]);
    made[2] = s(a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3]);
    made[3] = s(a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]);
}

static void motion_of(const row_coder* row, const solo_guide* guide, const uint64_t* from,
                      const uint64_t* to, solo_motion* made) {
    place_of(row, guide, from, made->from);
    place_of(row, guide, to, made->to);
    memcpy(made->q, (int64_t[PARTS]){0, 0, 0, ONE}, sizeof made->q);
    if (guide->turn < 0) return;
    int64_t a[PARTS], b[PARTS];
    turn_of(row, guide, from, a);
    turn_of(row, guide, to, b);
    for (int i = 0; i < 3; i++)
        a[i] = -a[i];
    product(b, a, made->q);
}

static void move(const solo_motion* by, const int64_t* place, int64_t* moved) {
    int64_t x = by->q[0], y = by->q[1], z = by->q[2], w = by->q[3];
    const int64_t m[3][3] = {
        {ONE - s(2 * (y * y + z * z)), s(2 * (x * y - z * w)), s(2 * (x * z + y * w))},
        {s(2 * (x * y + z * w)), ONE - s(2 * (x * x + z * z)), s(2 * (y * z - x * w))},
        {s(2 * (x * z - y * w)), s(2 * (y * z + x * w)), ONE - s(2 * (x * x + y * y))}};
    for (int i = 0; i < 3; i++) {
        int64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum += m[i][k] * (place[k] - by->from[k]);
        moved[i] = by->to[i] + s(sum);
    }
}

static uint64_t apart(const int64_t* a, const int64_t* b) {
    uint64_t sum = 0;
    for (int i = 0; i < SOLO_PLACE; i++)
        sum += solo_size(a[i] - b[i]);
    return sum;
}

void solo_find_near(solo_body* body, const row_coder* row, uint32_t name, solo_guide* guide) {
    *guide = (solo_guide){.place = -1, .turn = -1};
    if (!row->base2 || !solo_is_trusted(body, name)) return;
    find_place(row->layout, guide);
    if (guide->place < 0) return;
    int64_t base[SOLO_PLACE], base2[SOLO_PLACE], moved[SOLO_PLACE];
    place_of(row, guide, row->base, base);
    place_of(row, guide, row->base2, base2);
    uint64_t least = UINT64_MAX;
    for (uint32_t back = 1; back < SOLO_RING && back <= body->row_count; back++) {
        const solo_near* other = &body->rows[(body->row_count - back) % SOLO_RING];
        if (other->name != name || other->h != row->h || other->d != row->d) continue;
        move(&other->before, base2, moved);
        uint64_t misfit = apart(moved, base);
        uint64_t score = MISFIT_WEIGHT * misfit + apart(other->before.to, base);
        if (score >= least) continue;
        least = score;
        guide->near = other;
        guide->misfit = solo_bucket((int64_t)misfit);
    }
    uint64_t way = 0;
    const cf_layout* layout = row->layout;
    for (uint32_t i = 0; i < layout->count[guide->place]; i++) {
        uint32_t f = layout->first[guide->place] + i;
        way += solo_size(words_apart(row->base[f], row->base2[f], layout->elements[f].bits));
    }
    if (!guide->near || way == 0) return;
    move(&guide->near->now, base, guide->along);
    guide->has_fact = true;
    guide->about[0] = guide->misfit;
    guide->about[1] = solo_bucket((int64_t)way);
    guide->about[2] = name;
    guide->about[3] = solo_bucket(row->h);
    guide->is_along = solo_is_likely(body, SOLO_ALONG, guide->about);
}

void solo_turn_along(const row_coder* row, const solo_guide* guide, int64_t* parts) {
    int64_t own[PARTS];
    turn_of(row, guide, row->base, own);
    product(guide->near->now.q, own, parts);
}

static bool is_along_nearer(const row_coder* row, const solo_guide* guide) {
    const cf_layout* layout = row->layout;
    uint64_t line = 0, along = 0;
    for (uint32_t i = 0; i < layout->count[guide->place]; i++) {
        uint32_t f = layout->first[guide->place] + i;
        line += solo_size(words_apart(row->row[f], row->expected[f], layout->elements[f].bits));
        along += solo_size((int64_t)row->row[f] - guide->along[i]);
    }
    return along < line;
}

void solo_keep(solo_body* body, const row_coder* row, uint32_t name, const solo_guide* guide,
               const int64_t* offs) {
    if (guide->has_fact) solo_fact(body, SOLO_ALONG, guide->about, is_along_nearer(row, guide));
    if (guide->place < 0) return;
    solo_near* own = &body->rows[body->row_count++ % SOLO_RING];
    *own = (solo_near){.name = name, .h = row->h, .d = row->d};
    memcpy(own->offs, offs, sizeof own->offs);
    motion_of(row, guide, row->base2, row->base, &own->before);
    motion_of(row, guide, row->base, row->row, &own->now);
}
