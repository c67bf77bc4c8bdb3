// SPDX-License-Identifier: MIT
// WIRE.md, "Solo code": numbers and their statistics. A reader only; a body that is known can be
// walked to note its samples.
#include "solo.h"

#include <stdlib.h>
#include <string.h>

enum {
    COUNTERS = 1 << 15,
    AGE_MAX = 120,
    WEIGHT_FIRST = 8192,
    WEIGHT_MAX = 8 << 16,
    X_MAX = 2047,
    NODES_ALL = 16, // nodes below use all contexts
    CONTEXTS_FEW = 2
};

typedef struct counter {
    int32_t chance;
    uint32_t age;
} counter;

struct solo_statistics {
    counter counters[SOLO_CONTEXTS][COUNTERS];
    int32_t weights[SOLO_FIELDS][NODES_ALL + 1][SOLO_CONTEXTS];
    int32_t stretch[4096];
};

static int32_t limited(int64_t value, int32_t most) {
    return (int32_t)(value > most ? most : value < -most ? -most : value);
}

static int32_t squash(int64_t wide) {
    static const int32_t t[65] = {
        22,    28,    36,    47,    60,    77,    98,    126,   162,   208,   267,   342,   439,
        562,   720,   922,   1179,  1506,  1921,  2446,  3108,  3938,  4971,  6249,  7812,  9702,
        11955, 14595, 17625, 21025, 24743, 28693, 32768, 36843, 40793, 44511, 47911, 50941, 53581,
        55834, 57724, 59287, 60565, 61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974,
        65097, 65194, 65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514};
    int32_t y = limited(wide, X_MAX) + 2048, i = y / 64;
    return t[i] + (t[i + 1] - t[i]) * (y % 64) / 64;
}

solo_statistics* solo_statistics_create(void) {
    solo_statistics* made = calloc(1, sizeof *made);
    if (!made) abort();
    int32_t x = -X_MAX;
    for (int32_t c = 0; c < 4096; c++) {
        while (x < X_MAX && squash(x) < 16 * c + 8)
            x++;
        made->stretch[c] = x;
    }
    for (uint32_t i = 0; i < SOLO_CONTEXTS; i++)
        for (uint32_t k = 0; k < COUNTERS; k++)
            made->counters[i][k].chance = 1 << 21;
    for (uint32_t f = 0; f < SOLO_FIELDS; f++)
        for (uint32_t k = 0; k <= NODES_ALL; k++)
            for (uint32_t i = 0; i < SOLO_CONTEXTS; i++)
                made->weights[f][k][i] = WEIGHT_FIRST;
    return made;
}

// ---- one bit ----

typedef struct mixed {
    uint32_t count;
    counter* counters[SOLO_CONTEXTS];
    int32_t inputs[SOLO_CONTEXTS], *weights, chance;
} mixed;

static void mix(solo_statistics* of, const solo_sample* at, uint32_t node, mixed* m) {
    // The features that each context looks at, -1 behind the last one.
    static const int looks[SOLO_CONTEXTS][5] = {
        {0, 1, -1},    {0, 1, 2, 6, -1}, {0, 2, -1}, {0, 3, 6, -1},
        {0, 4, 5, -1}, {1, 2, 7, -1},    {6, 7, -1}, {-1}};
    static const int32_t trust[11] = {0, 8, 10, 12, 13, 14, 14, 15, 15, 15, 16};
    m->count = node < NODES_ALL ? SOLO_CONTEXTS : CONTEXTS_FEW;
    m->weights = of->weights[at->field][node < NODES_ALL ? node : NODES_ALL];
    int64_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t situation = 0;
        for (const int* f = looks[i]; *f >= 0; f++)
            situation |= (uint64_t)(at->features[*f] & 31) << (5 * *f);
        uint64_t hash = ((situation + 1) * UINT64_C(0x9e3779b97f4a7c15)) ^ at->field;
        uint32_t h = (uint32_t)((hash * UINT64_C(0xd6e8feb86659fd93)) >> 32);
        uint32_t group = ((h + node / 16 * 0x2545f491u) * 0x9e3779b1u) >> 21;
        counter* c = &of->counters[i][16 * group + node % 16];
        m->counters[i] = c;
        m->inputs[i] = of->stretch[c->chance / 1024] * trust[c->age < 10 ? c->age : 10] >> 4;
        sum += (int64_t)m->inputs[i] * m->weights[i];
    }
    m->chance = squash(sum >> 16);
}

static void learn(const mixed* m, int bit) {
    int32_t error = (bit << 16) - m->chance, goal = bit ? (1 << 22) - 1 : 0;
    for (uint32_t i = 0; i < m->count; i++) {
        int64_t gain = ((int64_t)m->inputs[i] * error + (1 << 14)) >> 15;
        m->weights[i] = limited(m->weights[i] + gain, WEIGHT_MAX);
        counter* c = m->counters[i];
        int64_t share = (1 << 17) / (2 * (int64_t)c->age + 3);
        c->chance += (int32_t)((goal - c->chance) * share >> 16);
        if (c->age < AGE_MAX) c->age++;
    }
}

static int read_bit(solo_body* body, uint32_t chance) {
    uint32_t bound = (body->range >> 16) * chance;
    int bit = body->number < bound;
    if (bit) {
        body->range = bound;
    } else {
        body->number -= bound;
        body->range -= bound;
    }
    for (; body->range < 1u << 24; body->range <<= 8) {
        uint32_t byte = body->at < body->size ? body->bytes[body->at] : 0;
        body->at++;
        body->number = body->number << 8 | byte;
    }
    return bit;
}

// ---- numbers ----

typedef enum walk { WALK_READ, WALK_LEARN } walk;

static int step(solo_body* body, const solo_sample* at, uint32_t node, int bit, walk what) {
    mixed m;
    mix(body->statistics, at, node, &m);
    if (what == WALK_READ) return read_bit(body, (uint32_t)m.chance);
    learn(&m, bit);
    return bit;
}

static int64_t walk_number(solo_body* body, const solo_sample* at, walk what) {
    uint64_t m = at->value < 0 ? 0 - (uint64_t)at->value : (uint64_t)at->value;
    uint32_t length = 0, n = 1, p = 1, known = 1;
    while (length < 64 && m >> length != 0)
        length++;
    if (!step(body, at, 0, length > 0, what)) return 0;
    int sign = step(body, at, 1, at->value < 0, what);
    while (n < 64) {
        uint32_t node = n <= 7 ? 1 + n + 7 * (uint32_t)sign : 112 + (n < 24 ? n : 24);
        if (!step(body, at, node, length > n, what)) break;
        n++;
    }
    uint64_t made = 1;
    for (; known <= 3 && known < n; known++) {
        uint32_t node = 16 + 8 * ((n < 13 ? n : 13) - 1) + p;
        int bit = step(body, at, node, (int)(m >> (n - 1 - known) & 1), what);
        p = 2 * p + (uint32_t)bit;
        made = made << 1 | (uint64_t)bit;
    }
    if (what == WALK_LEARN) return at->value;
    for (; known < n; known++)
        made = made << 1 | (uint64_t)read_bit(body, 1 << 15);
    return (int64_t)(sign ? 0 - made : made);
}

int64_t solo_number(solo_body* body, uint32_t field, const uint64_t* features, int64_t value) {
    solo_sample sample = {.field = field, .value = value};
    memcpy(sample.features, features, sizeof sample.features);
    if (!body->is_recorded && ++body->numbers > SOLO_NUMBERS_MAX) body->failed = true;
    if (!body->is_recorded) sample.value = walk_number(body, &sample, WALK_READ);
    if (body->sample_count < SOLO_SAMPLES_MAX) body->samples[body->sample_count++] = sample;
    return sample.value;
}

bool solo_is_likely(solo_body* body, uint32_t field, const uint64_t* features) {
    solo_sample sample = {.field = field};
    memcpy(sample.features, features, sizeof sample.features);
    mixed m;
    mix(body->statistics, &sample, 0, &m);
    return m.chance > 1 << 15;
}

void solo_fact(solo_body* body, uint32_t field, const uint64_t* features, bool is_true) {
    if (body->sample_count == SOLO_SAMPLES_MAX) return;
    solo_sample* sample = &body->samples[body->sample_count++];
    *sample = (solo_sample){.field = field, .value = is_true};
    memcpy(sample->features, features, sizeof sample->features);
}

void solo_train(solo_body* body) {
    for (uint32_t i = 0; i < body->sample_count; i++)
        (void)walk_number(body, &body->samples[i], WALK_LEARN);
}

void solo_begin(solo_body* body, const uint8_t* bytes, size_t size) {
    body->is_recorded = bytes == NULL;
    body->bytes = bytes;
    body->size = size;
    body->at = 0;
    body->range = UINT32_MAX;
    body->number = body->numbers = body->sample_count = body->row_count = 0;
    body->failed = !body->is_recorded && (size == 0 || bytes[size - 1] == 0);
    for (; body->at < 4; body->at++)
        body->number = body->number << 8 | (body->at < size ? bytes[body->at] : 0);
}

bool solo_end(const solo_body* body) {
    return !body->failed && (body->is_recorded || body->at >= body->size);
}
