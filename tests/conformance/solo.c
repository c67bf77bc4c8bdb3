// SPDX-License-Identifier: MIT
// SOLO.md: numbers and their statistics. A reader only; a body that is known can be
// walked to note its samples.
#include "solo.h"

#include <stdlib.h>

enum {
    FACT_CONTEXTS = 6,
    FACTS = 1 << 12,
    MIXED = 4,
    MIXED_TABLES = 1 << 11,
    SYMBOLS = 8,
    LENGTHS = 16,
    HIGH_FIELDS = 64,
    HIGH_ROWS = 16,
    WHOLE = 1 << 15, // of a table
    X_MAX = 2047,
    STATES = 256, // fields from here below STATES_END have only a sign
    STATES_END = 512,
    TRUSTS = 32
};

typedef struct fact {
    int32_t chance, age;
} fact;

typedef struct table {
    uint32_t count, age;
    int32_t ends[LENGTHS];
} table;

struct solo_statistics {
    int32_t stretch[4096];
    fact facts[FACT_CONTEXTS][FACTS];
    int32_t fact_weights[2 * SOLO_FIELDS][FACT_CONTEXTS];
    table tables[MIXED][MIXED_TABLES], lengths[SOLO_FIELDS], highs[HIGH_FIELDS][HIGH_ROWS];
    uint32_t weights[SOLO_FIELDS][4][MIXED]; // of each field, by the age of the first table
    int32_t trust[TRUSTS];
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

static table empty_table(uint32_t count) {
    table made = {.count = count};
    for (uint32_t i = 0; i < count; i++)
        made.ends[i] = (int32_t)(WHOLE * (i + 1) / count);
    return made;
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
    for (uint32_t i = 0; i < FACT_CONTEXTS; i++)
        for (uint32_t k = 0; k < FACTS; k++)
            made->facts[i][k].chance = 2048;
    for (uint32_t f = 0; f < 2 * SOLO_FIELDS; f++)
        for (uint32_t i = 0; i < FACT_CONTEXTS; i++)
            made->fact_weights[f][i] = 2730;
    for (uint32_t i = 0; i < MIXED; i++)
        for (uint32_t k = 0; k < MIXED_TABLES; k++)
            made->tables[i][k] = empty_table(SYMBOLS);
    for (uint32_t f = 0; f < SOLO_FIELDS; f++) {
        made->lengths[f] = empty_table(LENGTHS);
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t i = 0; i < MIXED; i++)
                made->weights[f][k][i] = 16384;
    }
    for (uint32_t f = 0; f < HIGH_FIELDS; f++)
        for (uint32_t k = 0; k < HIGH_ROWS; k++)
            made->highs[f][k] = empty_table(SYMBOLS);
    for (uint32_t i = 0; i < TRUSTS; i++)
        made->trust[i] = 256;
    return made;
}

void solo_statistics_copy(solo_statistics* to, const solo_statistics* from) {
    *to = *from;
}

// ---- the arithmetic code ----

static void take(solo_body* body, uint32_t begin, uint32_t range) {
    body->number -= begin;
    body->range = range;
    for (; body->range < 1u << 24; body->range <<= 8) {
        uint32_t byte = body->at < body->size ? body->bytes[body->at] : 0;
        body->at++;
        body->number = body->number << 8 | byte;
    }
}

static uint64_t read_even(solo_body* body, uint32_t bits) {
    uint64_t made = 0;
    while (bits > 0) {
        uint32_t piece = bits < 8 ? bits : 8, unit = body->range >> piece;
        uint32_t x = body->number / unit, most = (1u << piece) - 1;
        if (x > most) x = most;
        take(body, unit * x, unit);
        made = made << piece | x;
        bits -= piece;
    }
    return made;
}

// ---- facts ----

typedef struct look {
    uint32_t field;
    uint64_t hash[FACT_CONTEXTS];
    fact* facts[FACT_CONTEXTS];
    int32_t in[FACT_CONTEXTS], chance;
} look;

static look look_at(solo_statistics* of, uint32_t field, const uint8_t* features) {
    // The features that each context looks at, -1 behind the last one.
    static const int seen[FACT_CONTEXTS][5] = {{0, 1, 2, 6, -1}, {0, 3, 6, -1}, {6, 7, -1},
                                               {0, 4, 5, -1},    {0, 1, -1},    {1, 2, 7, -1}};
    static const int32_t trust[16] = {0, 8, 10, 12, 13, 14, 14, 15, 15, 15, 16, 16, 16, 16, 16, 16};
    look l = {.field = field};
    int64_t sum = 0;
    for (uint32_t i = 0; i < FACT_CONTEXTS; i++) {
        uint64_t situation = ((uint64_t)field + 1) << 40;
        for (const int* f = seen[i]; *f >= 0; f++)
            situation += (uint64_t)features[*f] << (5 * *f);
        l.hash[i] = situation * UINT64_C(0xd6e8feb86659fd93);
        l.facts[i] = &of->facts[i][l.hash[i] >> 52];
        l.in[i] = of->stretch[l.facts[i]->chance] * trust[l.facts[i]->age] >> 4;
        sum += (int64_t)l.in[i] * of->fact_weights[field][i];
    }
    l.chance = squash(sum >> 14);
    return l;
}

static int read_fact(solo_body* body, const look* l) {
    uint32_t bound = (body->range >> 16) * (uint32_t)l->chance;
    int is_true = body->number < bound;
    take(body, is_true ? 0 : bound, is_true ? bound : body->range - bound);
    return is_true;
}

static void learn_fact(solo_statistics* of, const look* l, int is_true) {
    static const int32_t share[16] = {43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
                                      6898,  5000,  4000,  3000,  2200,  1600,  1200, 900};
    int32_t error = (is_true * 65536 - l->chance) >> 2;
    for (uint32_t i = 0; i < FACT_CONTEXTS; i++) {
        int32_t* weight = &of->fact_weights[l->field][i];
        *weight = limited(*weight + ((l->in[i] * error + 65536) >> 17), 32767);
        fact* f = l->facts[i];
        int32_t way = (is_true ? 4095 : 0) - f->chance;
        f->chance += (way * share[f->age] + (is_true ? 60000 : 5535)) >> 16;
        if (f->chance < 1) f->chance = 1;
        if (f->chance > 4094) f->chance = 4094;
        if (f->age < 15) f->age++;
    }
}

// ---- tables ----

typedef struct mixed {
    uint32_t count;
    table* tables[MIXED];
    uint32_t w[MIXED], *weights;
} mixed;

static mixed only(table* one) {
    return (mixed){.count = 1, .tables = {one}, .w = {65536}};
}

static mixed mix(solo_statistics* of, const look* l) {
    mixed m = {.count = MIXED};
    for (uint32_t i = 0; i < MIXED; i++)
        m.tables[i] = &of->tables[i][l->hash[i] >> 53];
    uint32_t age = m.tables[0]->age, k = age == 0 ? 0 : age <= 3 ? 1 : age <= 8 ? 2 : 3;
    m.weights = of->weights[l->field][k];
    for (uint32_t i = 0; i < MIXED; i++)
        m.w[i] = m.weights[i];
    m.w[0] = 65536 - m.w[1] - m.w[2] - m.w[3];
    return m;
}

static uint32_t end_of(const mixed* m, uint32_t symbol) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++)
        sum += (uint64_t)m->w[i] * (uint64_t)m->tables[i]->ends[symbol];
    return (uint32_t)(sum >> 16);
}

static uint32_t read_symbol(solo_body* body, const mixed* m) {
    uint32_t unit = body->range >> 15, at = body->number / unit, symbol = 0, begin = 0;
    for (; symbol + 1 < m->tables[0]->count && at >= end_of(m, symbol); symbol++)
        begin = end_of(m, symbol);
    take(body, unit * begin, unit * (end_of(m, symbol) - begin));
    return symbol;
}

static void learn_weights(mixed* m, uint32_t symbol) {
    uint64_t p[MIXED], sum = 0;
    for (uint32_t i = 0; i < MIXED; i++) {
        const int32_t* ends = m->tables[i]->ends;
        p[i] = (uint64_t)m->w[i] * (uint64_t)(ends[symbol] - (symbol > 0 ? ends[symbol - 1] : 0));
        sum += p[i];
    }
    uint32_t before = 0;
    for (uint32_t i = 1; i < MIXED; i++) {
        int64_t way = (int64_t)(p[i] / (sum >> 16)) - (int64_t)m->w[i];
        int64_t weight = (int64_t)m->w[i] + (way >> 5), most = 65536 - 200 * (4 - i) - before;
        if (weight < 200) weight = 200;
        if (weight > most) weight = most;
        m->weights[i] = (uint32_t)weight;
        before += (uint32_t)weight;
    }
}

static void learn_table(table* t, uint32_t symbol) {
    static const uint32_t ages[7] = {0, 3, 8, 20, 45, 119, 120}; // the last one of each rate
    uint32_t rate = 1;
    while (t->age > ages[rate - 1])
        rate++;
    for (uint32_t j = 0; j + 1 < t->count; j++) {
        int32_t goal = (int32_t)(4 * (j + 1) + (j >= symbol ? WHOLE - 4 * t->count : 0));
        t->ends[j] += (goal - t->ends[j]) >> rate;
    }
    if (t->age < 120) t->age++;
}

// ---- numbers ----

static uint32_t length_of(uint64_t m) {
    uint32_t length = 0;
    while (length < 64 && m >> length != 0)
        length++;
    return length;
}

static uint32_t high_of(uint64_t m, uint32_t length) {
    return (uint32_t)(length > 4 ? m >> (length - 4) : m << (4 - length)) & 7;
}

static table* highs_of(solo_statistics* of, uint32_t field, uint32_t length) {
    return &of->highs[field % HIGH_FIELDS][length < 15 ? length : 15];
}

static bool has_only_sign(uint32_t field) {
    return field >= STATES && field < STATES_END;
}

// The size of a number that is neither 0 nor a state.
static uint64_t read_size(solo_body* body, uint32_t field, const look* l) {
    mixed m = mix(body->statistics, l);
    uint32_t length = read_symbol(body, &m);
    if (length < 3) return length + 1;
    if (length == 7) {
        m = only(&body->statistics->lengths[field]);
        length += read_symbol(body, &m);
        if (length == 22) length += (uint32_t)read_even(body, 6);
        if (length > 64) body->failed = true;
        if (length > 64) return 1;
    }
    m = only(highs_of(body->statistics, field, length));
    uint64_t high = 8 | read_symbol(body, &m);
    if (length <= 4) return high >> (4 - length);
    return high << (length - 4) | read_even(body, length - 4);
}

static int64_t read_number(solo_body* body, uint32_t field, const uint8_t* features) {
    look l = look_at(body->statistics, field, features);
    if (!read_fact(body, &l)) return 0;
    look sign = look_at(body->statistics, field + SOLO_FIELDS, features);
    int is_negative = read_fact(body, &sign);
    uint64_t size = has_only_sign(field) ? 1 : read_size(body, field, &l);
    return (int64_t)(is_negative ? 0 - size : size);
}

static void learn_number(solo_statistics* of, const solo_sample* at) {
    look l = look_at(of, at->field, at->features);
    learn_fact(of, &l, at->value != 0);
    if (at->value == 0) return;
    look sign = look_at(of, at->field + SOLO_FIELDS, at->features);
    learn_fact(of, &sign, at->value < 0);
    if (has_only_sign(at->field)) return;
    uint64_t size = at->value < 0 ? 0 - (uint64_t)at->value : (uint64_t)at->value;
    uint32_t length = length_of(size);
    uint32_t symbol = length < 3 ? (uint32_t)size - 1 : length < 7 ? length : 7;
    mixed m = mix(of, &l);
    learn_weights(&m, symbol);
    for (uint32_t i = 0; i < MIXED; i++)
        learn_table(m.tables[i], symbol);
    if (symbol == 7) learn_table(&of->lengths[at->field], length < 22 ? length - 7 : 15);
    if (length > 2) learn_table(highs_of(of, at->field, length), high_of(size, length));
}

static solo_sample sample_of(uint32_t field, const uint64_t* features, int64_t value) {
    solo_sample made = {.field = field, .value = value};
    for (uint32_t i = 0; i < SOLO_FEATURES; i++)
        made.features[i] = features[i] & 31;
    return made;
}

static void add_sample(solo_body* body, const solo_sample* sample) {
    if (body->sample_count < SOLO_SAMPLES_MAX) body->samples[body->sample_count++] = *sample;
}

int64_t solo_number(solo_body* body, uint32_t field, const uint64_t* features, int64_t value) {
    solo_sample sample = sample_of(field, features, value);
    if (!body->is_recorded && ++body->numbers > SOLO_NUMBERS_MAX) body->failed = true;
    if (!body->is_recorded) sample.value = read_number(body, field, sample.features);
    add_sample(body, &sample);
    return sample.value;
}

int32_t solo_chance(const solo_body* body, const solo_sample* sample) {
    return look_at(body->statistics, sample->field, sample->features).chance;
}

bool solo_is_likely(solo_body* body, uint32_t field, const uint64_t* features) {
    solo_sample sample = sample_of(field, features, 0);
    return solo_chance(body, &sample) > 1 << 15;
}

bool solo_is_trusted(const solo_body* body, uint32_t name) {
    return body->statistics->trust[name % TRUSTS] > 0;
}

void solo_fact(solo_body* body, uint32_t field, const uint64_t* features, bool is_true) {
    solo_sample sample = sample_of(field, features, is_true);
    add_sample(body, &sample);
}

void solo_train(solo_statistics* of, const solo_sample* samples, uint32_t count) {
    int32_t* trust = of->trust;
    for (uint32_t i = 0; i < TRUSTS; i++)
        if (trust[i] < 0 && ++trust[i] == 0) trust[i] = 64;
    for (uint32_t i = 0; i < count; i++) {
        const solo_sample* at = &samples[i];
        learn_number(of, at);
        int32_t* own = &trust[at->features[2] % TRUSTS];
        if (at->field != SOLO_ALONG || *own <= 0) continue;
        *own += at->value != 0 ? 8 : -1;
        if (*own > 1024) *own = 1024;
        if (*own == 0) *own = -512;
    }
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
