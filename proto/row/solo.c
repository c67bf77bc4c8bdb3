// SPDX-License-Identifier: MIT
// Arithmetic code with mixed statistics (SOLO.md).
#include "proto/solo.h"
#include "row/row_coder.h"

enum {
    STRETCH_MAX = 2047,
    AGE_BITS = 4,
    AGE_MAX = (1 << AGE_BITS) - 1,
    FACT_MOST = 4095, // of a chance of 12 bits
    FACT_WEIGHT_ONE = 1 << 14,
    FACT_WEIGHT_MOST = INT16_MAX,
    FACT_UP = 60000, // what rounds towards the goal
    FACT_DOWN = 5535,
    TOTAL_BITS = 15, // of a table
    END_LEAST = 4,   // no symbol's part becomes smaller
    SEEN_MAX = 120,
    WEIGHT_ONE = 1 << 16,
    WEIGHT_LEAST = 200,
    WEIGHT_RATE = 5,
    // Symbols of a size: 1, 2, 3, lengths 3 to 6, longer.
    SYMBOL_THREE = 3,
    SYMBOL_LONG = 7,
    LENGTH_LONG = 7,
    STATE_FIRST = 256, // fields whose numbers are -1, 0 and 1
    STATE_LAST = 511,
    LENGTH_BITS = 6, // of a length that no table tells
    LENGTH_MOST = 64,
    HEAD_BITS = 4, // highest bits of a size that have statistics, with the highest one
    HIGH_SHIFT = 2,
    FIELD_SHIFT = 12,
    SITUATION_SHIFT = 24,
    TOLD_MASK = 4095,
    CODE_BYTES = 4,
    PIECE_BITS = 8, // bits without statistics that are coded together
    CHANCE_EVEN = 1 << 15,
    RANGE_LEAST = 1 << 24,
    LINE_WORDS = 8, // of the processor's caches
    HEAD_ONE = 1 << 4,
    NEAR_FIRST = 256, // trust in neighbours
    NEAR_MOST = 1024,
    NEAR_GAIN = 8,
    NEAR_PAUSE = 512, // packets without a search
    NEAR_AGAIN = 64,
};

// 2^16 / (1 + exp(-x / 4)), x from -32 to 32.
static const uint16_t logistic[65] = {
    22,    28,    36,    47,    60,    77,    98,    126,   162,   208,   267,   342,   439,
    562,   720,   922,   1179,  1506,  1921,  2446,  3108,  3938,  4971,  6249,  7812,  9702,
    11955, 14595, 17625, 21025, 24743, 28693, 32768, 36843, 40793, 44511, 47911, 50941, 53581,
    55834, 57724, 59287, 60565, 61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974,
    65097, 65194, 65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514};

// The chance of a stretched one, in 2^-16.
static uint32_t squash(int32_t x) {
    if (x > STRETCH_MAX) x = STRETCH_MAX;
    if (x < -STRETCH_MAX) x = -STRETCH_MAX;
    uint32_t at = (uint32_t)(x + 2048);
    uint32_t low = logistic[at >> 6], high = logistic[(at >> 6) + 1];
    return low + ((high - low) * (at & 63) >> 6);
}

static void reset_table(uint16_t* table, uint32_t symbols) {
    for (uint32_t i = 0; i + 1 < symbols; i++)
        table[i] = (uint16_t)(((i + 1) << TOTAL_BITS) / symbols);
    table[symbols - 1] = 0;
}

void proto_solo_model_reset(proto_solo_model* model) {
    model->version = 0;
    int32_t x = -STRETCH_MAX;
    for (uint32_t i = 0; i < 4096; i++) {
        while (x < STRETCH_MAX && squash(x) < i * 16 + 8)
            x++;
        model->stretch[i] = (int16_t)x;
    }
    for (uint32_t i = 0; i < PROTO_SOLO_FACT_CONTEXTS; i++)
        for (uint32_t k = 0; k < 1u << PROTO_SOLO_FACT_BITS; k++)
            model->facts[i][k] = 1u << 15;
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        for (uint32_t k = 0; k < 1u << PROTO_SOLO_TABLE_BITS; k++)
            reset_table(model->tables[i][k], PROTO_SOLO_SYMBOLS);
    for (uint32_t i = 0; i < PROTO_SOLO_FIELDS; i++) {
        reset_table(model->lengths[i], PROTO_SOLO_LONGS);
        for (uint32_t k = 0; k < PROTO_SOLO_FACT_CONTEXTS; k++)
            model->fact_weights[i][k] = model->fact_weights[i + PROTO_SOLO_FIELDS][k] =
                FACT_WEIGHT_ONE / PROTO_SOLO_FACT_CONTEXTS;
        for (uint32_t k = 0; k < PROTO_SOLO_TRUST; k++)
            for (uint32_t n = 0; n + 1 < PROTO_SOLO_CONTEXTS; n++)
                model->weights[i][k][n] = WEIGHT_ONE / PROTO_SOLO_CONTEXTS;
    }
    for (uint32_t i = 0; i < PROTO_SOLO_HIGH_FIELDS; i++)
        for (uint32_t k = 0; k < PROTO_SOLO_HIGH_LENGTHS; k++)
            reset_table(model->highs[i][k], PROTO_SOLO_SYMBOLS);
    for (uint32_t i = 0; i < PROTO_SOLO_TEMPLATES; i++)
        model->neighbours[i] = NEAR_FIRST;
}

// ---- is a number 0? ----

// What each context has for a field.
typedef struct contexts {
    uint16_t places[PROTO_SOLO_FACT_CONTEXTS]; ///< of their counters
    uint16_t facts[PROTO_SOLO_FACT_LANES];     ///< the counters; others are not set
    int16_t inputs[PROTO_SOLO_FACT_LANES];
} contexts;

// The counter of a context.
static inline uint32_t find_fact(uint32_t context, uint32_t field, uint64_t situation) {
    // A feature has 5 bits.
#define F(i) (UINT64_C(31) << (5 * (i)))
    static const uint64_t masks[PROTO_SOLO_FACT_CONTEXTS] = {
        F(0) | F(1) | F(2) | F(6), F(0) | F(3) | F(6), F(6) | F(7),
        F(0) | F(4) | F(5),        F(0) | F(1),        F(1) | F(2) | F(7)};
#undef F
    const uint64_t seen = (situation & masks[context]) | (uint64_t)(field + 1) << 40;
    return (uint32_t)(seen * UINT64_C(0xd6e8feb86659fd93) >> (64 - PROTO_SOLO_FACT_BITS));
}

// A number for each context, and 0 up to what fills a register.
typedef int16_t lanes __attribute__((vector_size(2 * PROTO_SOLO_FACT_LANES)));
_Static_assert(PROTO_SOLO_FACT_CONTEXTS == 6 && PROTO_SOLO_FACT_LANES == 8, "six are gathered");

// An element of a table for each context, by its counter.
static inline lanes gather(const int16_t* table, const uint16_t* facts, uint32_t shift, int mask) {
#define OF(i) table[facts[i] >> shift & mask]
    return (lanes){OF(0), OF(1), OF(2), OF(3), OF(4), OF(5)};
#undef OF
}

// The chance that a number is not 0, in 2^-16.
static inline uint32_t expect_fact(const proto_solo_model* model, contexts* c, uint32_t field,
                                   uint64_t situation) {
    // How much a counter of this age is trusted, in sixteenths.
    static const int16_t trust[AGE_MAX + 1] = {0,  8,  10, 12, 13, 14, 14, 15,
                                               15, 15, 16, 16, 16, 16, 16, 16};
    for (uint32_t i = 0; i < PROTO_SOLO_FACT_CONTEXTS; i++) {
        c->places[i] = (uint16_t)find_fact(i, field, situation);
        c->facts[i] = model->facts[i][c->places[i]];
    }
    const lanes stretched = gather(model->stretch, c->facts, AGE_BITS, UINT16_MAX);
    const lanes inputs = stretched * gather(trust, c->facts, 0, AGE_MAX) >> 4;
    memcpy(c->inputs, &inputs, sizeof inputs);
    int32_t sum = 0;
    for (uint32_t i = 0; i < PROTO_SOLO_FACT_LANES; i++)
        sum += c->inputs[i] * model->fact_weights[field][i];
    return squash(sum >> 14);
}

BASE_NOINLINE uint32_t proto_solo_chance(const proto_solo_model* model, uint32_t field,
                                         uint64_t situation) {
    contexts c;
    return expect_fact(model, &c, field, situation);
}

// As proto_solo_chance, by heart where it can. An entry is a key and its chance, which is never 0.
// An odd factor gives each key a number of its own; its upper bits are the entry's place.
static inline uint32_t known_fact(proto_solo_coder* coder, uint32_t field, uint64_t situation) {
    enum { TAG_BITS = 52 - PROTO_SOLO_KNOWN_BITS, CHANCE_BITS = 16 };
    const uint64_t key = (situation << FIELD_SHIFT | field) * UINT64_C(0xd6e8feb86659fd93);
    uint64_t* known = &coder->known[key >> TAG_BITS & row_mask(PROTO_SOLO_KNOWN_BITS)];
    const uint64_t tag = (key & row_mask(TAG_BITS)) << CHANCE_BITS;
    const uint64_t chance = *known ^ tag;
    if (chance - 1 < row_mask(CHANCE_BITS)) return (uint32_t)chance;
    const uint32_t asked = proto_solo_chance(coder->model, field, situation);
    *known = tag | asked;
    return asked;
}

static inline int16_t clamp(int16_t value, int16_t least, int16_t most) {
    value = value < least ? least : value;
    return value > most ? most : value;
}

// All contexts at once, in 16 bits but for products.
static BASE_NOINLINE void train_fact(proto_solo_model* model, contexts* c, uint32_t field,
                                     uint64_t situation, bool is_true) {
    // How much of the way a chance goes by its age, in 2^-16; at first twice that.
    static const int16_t shares[AGE_MAX + 1] = {21845, 26214, 18724, 14563, 11915, 10082,
                                                8738,  7710,  6898,  5000,  4000,  3000,
                                                2200,  1600,  1200,  900};
    const int32_t chance = (int32_t)expect_fact(model, c, field, situation);
    const int16_t error = (int16_t)(((int32_t)((uint32_t)is_true << 16) - chance) >> 2);
    const int16_t goal = is_true ? FACT_MOST : 0;
    const int32_t round = is_true ? FACT_UP : FACT_DOWN;
    const lanes gathered = gather(shares, c->facts, 0, AGE_MAX);
    int16_t share[PROTO_SOLO_FACT_LANES], weights[PROTO_SOLO_FACT_LANES];
    uint16_t next[PROTO_SOLO_FACT_LANES];
    memcpy(share, &gathered, sizeof share);
    memcpy(weights, model->fact_weights[field], sizeof weights);
    for (uint32_t i = 0; i < PROTO_SOLO_FACT_LANES; i++) {
        const int16_t step = (int16_t)((c->inputs[i] * error + (1 << 16)) >> 17);
        const int16_t up = step > 0 ? step : 0, down = step < 0 ? step : 0;
        weights[i] = clamp(weights[i], (int16_t)(-FACT_WEIGHT_MOST - down),
                           (int16_t)(FACT_WEIGHT_MOST - up));
        weights[i] = (int16_t)(weights[i] + step);
        const int16_t now = (int16_t)(c->facts[i] >> AGE_BITS), age = c->facts[i] & AGE_MAX;
        int16_t way = (int16_t)(goal - now);
        way = (int16_t)(way + (way & -(age == 0)));
        const int16_t went = (int16_t)((way * share[i] + round) >> 16);
        const int16_t moved = clamp((int16_t)(now + went), 1, FACT_MOST - 1);
        next[i] = (uint16_t)((uint16_t)(moved << AGE_BITS) | clamp((int16_t)(age + 1), 0, AGE_MAX));
    }
    memcpy(model->fact_weights[field], weights, sizeof weights);
    for (uint32_t i = 0; i < PROTO_SOLO_FACT_CONTEXTS; i++)
        model->facts[i][c->places[i]] = next[i];
}

// ---- tables ----

// Each symbol's part stays END_LEAST or more: two ends that are so far apart stay so, because
// their goals are, and because a difference is rounded down.
static inline void train_table(uint16_t* table, uint32_t symbols, uint32_t symbol) {
    // By how often it was trained: 1 / 2^rate of the way.
    static const uint8_t rates[SEEN_MAX + 1] = {
        1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
        6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7};
    uint32_t seen = table[symbols - 1], rate = rates[seen];
    int32_t rest = (1 << TOTAL_BITS) - (int32_t)symbols * END_LEAST;
    typedef uint16_t ends __attribute__((vector_size(16)));
    typedef int16_t ways __attribute__((vector_size(16)));
    ends end, at = {0, 1, 2, 3, 4, 5, 6, 7};
    for (uint32_t i = 0; i < symbols; i += 8, at += 8) { // all are below 2^15
        memcpy(&end, table + i, sizeof end);
        const ways is_after = (ways)at >= (int16_t)symbol;
        const ends goal = (at + 1) * END_LEAST + ((ends)is_after & (uint16_t)rest);
        end += (ends)((ways)(goal - end) >> (int16_t)rate);
        memcpy(table + i, &end, sizeof end);
    }
    table[symbols - 1] = (uint16_t)(seen < SEEN_MAX ? seen + 1 : SEEN_MAX);
}
_Static_assert(PROTO_SOLO_SYMBOLS % 8 == 0 && PROTO_SOLO_LONGS % 8 == 0,
               "goals of eight symbols at once");

// What codes one symbol: up to three tables and their weights, which are 2^16 together.
typedef struct mix {
    uint32_t count, symbols;
    const uint16_t* tables[PROTO_SOLO_CONTEXTS];
    uint32_t weights[PROTO_SOLO_CONTEXTS];
} mix;

static inline mix one_table(const uint16_t* table, uint32_t symbols) {
    return (mix){.count = 1, .symbols = symbols, .tables = {table}, .weights = {WEIGHT_ONE}};
}

static uint32_t trust_of(const uint16_t* table) {
    uint32_t seen = table[PROTO_SOLO_SYMBOLS - 1];
    return seen == 0 ? 0 : seen < 4 ? 1 : seen < 9 ? 2 : 3;
}

// `places`: of the counters of each context.
static inline mix find_tables(const proto_solo_model* model, uint32_t field,
                              const uint16_t* places) {
    mix m = {.count = PROTO_SOLO_CONTEXTS, .symbols = PROTO_SOLO_SYMBOLS};
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        m.tables[i] = model->tables[i][places[i] >> 1];
    const uint16_t* weights = model->weights[field][trust_of(m.tables[0])];
    m.weights[0] = WEIGHT_ONE;
    for (uint32_t i = 1; i < PROTO_SOLO_CONTEXTS; i++) {
        m.weights[i] = weights[i - 1];
        m.weights[0] -= weights[i - 1];
    }
    return m;
}

// Where a symbol begins, in 2^-15.
static inline uint32_t begin_of(const mix* m, uint32_t symbol) {
    if (symbol == 0) return 0;
    if (symbol == m->symbols) return 1u << TOTAL_BITS;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++)
        sum += m->weights[i] * m->tables[i][symbol - 1];
    return sum >> 16;
}

static uint32_t part_of(const uint16_t* table, uint32_t symbol) {
    uint32_t begin = symbol > 0 ? table[symbol - 1] : 0;
    return (symbol + 1 < PROTO_SOLO_SYMBOLS ? table[symbol] : 1u << TOTAL_BITS) - begin;
}

// Weights go towards the part that each table had in the chance of the symbol.
static void train_weights(uint16_t* weights, const mix* m, uint32_t symbol) {
    uint32_t parts[PROTO_SOLO_CONTEXTS], sum = 0, all = 0;
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++) {
        parts[i] = m->weights[i] * part_of(m->tables[i], symbol);
        sum += parts[i];
    }
    sum >>= 16;
    for (uint32_t i = 1; i < PROTO_SOLO_CONTEXTS; i++) {
        int32_t way = (int32_t)(parts[i] / sum) - (int32_t)m->weights[i];
        int32_t weight = (int32_t)m->weights[i] + (way >> WEIGHT_RATE);
        if (weight < WEIGHT_LEAST) weight = WEIGHT_LEAST;
        uint32_t most = WEIGHT_ONE - WEIGHT_LEAST * (PROTO_SOLO_CONTEXTS - i) - all;
        weights[i - 1] = (uint16_t)((uint32_t)weight > most ? most : (uint32_t)weight);
        all += weights[i - 1];
    }
}

// ---- the arithmetic coder: as in LZMA (Igor Pavlov, public domain) ----

static void put_byte(proto_solo_coder* coder, uint32_t byte) {
    if (coder->at < coder->size)
        coder->out[coder->at++] = (uint8_t)byte;
    else
        coder->failed = true;
}

static void shift_low(proto_solo_coder* coder) {
    if (coder->low < 0xff000000u || coder->low >> 32) {
        uint32_t carry = (uint32_t)(coder->low >> 32);
        if (coder->is_begun) put_byte(coder, coder->held + carry);
        for (; coder->carries > 0; coder->carries--)
            put_byte(coder, 0xff + carry);
        coder->is_begun = true;
        coder->held = (uint8_t)(coder->low >> 24);
    } else {
        coder->carries++;
    }
    coder->low = (coder->low & 0x00ffffff) << 8;
}

static uint32_t next_byte(proto_solo_coder* coder) {
    uint32_t byte = coder->at < coder->size ? coder->in[coder->at] : 0;
    coder->at++;
    return byte;
}

static BASE_NOINLINE void widen(proto_solo_coder* coder) {
    while (coder->range < RANGE_LEAST) {
        coder->range <<= 8;
        if (coder->mode == PROTO_SOLO_WRITE)
            shift_low(coder);
        else
            coder->code = coder->code << 8 | next_byte(coder);
    }
}

// The range was narrowed; it begins `above` what it began with.
static inline void narrow(proto_solo_coder* coder, uint32_t above) {
    coder->low += above;
    coder->code -= above;
    if (coder->range < RANGE_LEAST) widen(coder);
}

static inline bool code_bit(proto_solo_coder* coder, uint32_t chance, bool bit) {
    uint32_t bound = (coder->range >> 16) * chance;
    if (coder->mode == PROTO_SOLO_READ) bit = coder->code < bound;
    coder->range = bit ? bound : coder->range - bound;
    narrow(coder, bit ? 0 : bound);
    return bit;
}

void proto_solo_begin_write(proto_solo_coder* coder, const proto_solo_model* model, uint8_t* bytes,
                            size_t size, proto_solo_sample* samples, uint32_t capacity) {
    proto_solo_begin_sample(coder, model, samples, capacity);
    coder->mode = PROTO_SOLO_WRITE;
    coder->out = bytes;
    coder->size = size;
}

void proto_solo_begin_read(proto_solo_coder* coder, const proto_solo_model* model,
                           const uint8_t* bytes, size_t size, proto_solo_sample* samples,
                           uint32_t capacity) {
    proto_solo_begin_sample(coder, model, samples, capacity);
    coder->mode = PROTO_SOLO_READ;
    coder->in = bytes;
    coder->size = size;
    coder->failed = size == 0 || bytes[size - 1] == 0;
    for (uint32_t i = 0; i < CODE_BYTES; i++)
        coder->code = coder->code << 8 | next_byte(coder);
}

void proto_solo_begin_sample(proto_solo_coder* coder, const proto_solo_model* model,
                             proto_solo_sample* samples, uint32_t capacity) {
    if (model->version == 0 || coder->model != model || coder->known_version != model->version)
        memset(coder->known, 0, sizeof coder->known);
    else
        for (uint32_t i = 0; i < BASE_COUNT(coder->known); i += LINE_WORDS)
            __builtin_prefetch(&coder->known[i]); // another session's were asked since then
    coder->known_version = model->version;
    coder->model = model;
    coder->mode = PROTO_SOLO_SAMPLE;
    coder->out = NULL;
    coder->in = NULL;
    coder->size = coder->at = 0;
    coder->low = 0;
    coder->range = UINT32_MAX;
    coder->code = coder->carries = coder->numbers = 0;
    coder->held = 0;
    coder->is_begun = coder->failed = false;
    coder->samples = samples;
    coder->sample_count = 0;
    coder->sample_capacity = capacity;
    coder->near_count = 0;
    coder->tape = NULL;
    coder->marks = NULL;
}

size_t proto_solo_end(proto_solo_coder* coder) {
    BASE_ASSERT(coder->mode != PROTO_SOLO_SAMPLE);
    if (coder->mode == PROTO_SOLO_READ)
        return coder->failed || coder->at < coder->size ? 0 : coder->size;
    // The number of the range with the most zeros at its end, which a reader adds by itself.
    uint64_t top = coder->low + coder->range - 1;
    for (uint32_t zeros = 32; zeros > 0; zeros--) {
        uint64_t number = top >> zeros << zeros;
        if (number < coder->low) continue;
        coder->low = number;
        break;
    }
    for (uint32_t i = 0; i <= CODE_BYTES; i++)
        shift_low(coder);
    if (coder->failed) return 0;
    while (coder->at > 0 && coder->out[coder->at - 1] == 0)
        coder->at--;
    return coder->at;
}

uint64_t proto_solo_position(const proto_solo_coder* coder) {
    BASE_ASSERT(coder->mode == PROTO_SOLO_READ);
    // The logarithm of the range, digit by digit: squaring doubles it.
    uint32_t whole = 31u - (uint32_t)__builtin_clz(coder->range), digits = 0;
    uint64_t rest = (uint64_t)coder->range << (31 - whole); // 1 to 2, in 2^-31
    for (uint32_t i = 0; i < 16; i++) {
        rest = rest * rest >> 31;
        digits = digits << 1 | (uint32_t)(rest >> 32);
        rest >>= rest >> 32;
    }
    const uint64_t left = ((uint64_t)whole << 16) + digits; // of the range of 32 bits
    return ((uint64_t)coder->at << 19) - ((uint64_t)CODE_BYTES << 19) + (UINT64_C(32) << 16) - left;
}

// Bits that are as likely 0 as 1.
static uint64_t code_bits(proto_solo_coder* coder, uint64_t value, uint32_t count) {
    uint64_t result = 0;
    while (count > 0) {
        uint32_t piece = count < PIECE_BITS ? count : PIECE_BITS;
        count -= piece;
        coder->range >>= piece;
        uint32_t bits = (uint32_t)(value >> count) & ((1u << piece) - 1);
        if (coder->mode == PROTO_SOLO_READ) {
            bits = coder->code / coder->range;
            if (bits >> piece) bits = (1u << piece) - 1;
        }
        narrow(coder, coder->range * bits);
        result = result << piece | bits;
    }
    return result;
}

static inline uint32_t code_symbol(proto_solo_coder* coder, const mix* m, uint32_t symbol) {
    coder->range >>= TOTAL_BITS;
    uint32_t begin, end;
    if (coder->mode == PROTO_SOLO_READ) {
        uint32_t at = coder->code / coder->range;
        begin = 0;
        end = begin_of(m, 1);
        for (symbol = 0; at >= end && symbol + 1 < m->symbols; symbol++) {
            begin = end;
            end = begin_of(m, symbol + 2);
        }
    } else {
        begin = begin_of(m, symbol);
        end = begin_of(m, symbol + 1);
    }
    uint32_t unit = coder->range;
    coder->range = unit * (end - begin);
    narrow(coder, unit * begin);
    return symbol;
}

// ---- numbers ----

// The modelled part of a number that is not 0, 12 bits: length (6; 64 is 0), sign, three bits below
// the highest one.
typedef struct number_head {
    uint32_t length, sign, high;
} number_head;

static number_head unpack_head(uint32_t told) {
    return (number_head){.length = told >> 4, .sign = told >> 3 & 1, .high = told & 7};
}

static uint32_t symbol_of(const number_head* head) {
    if (head->length == 1) return 0;
    if (head->length == 2) return 1 + (head->high >> HIGH_SHIFT);
    return head->length < LENGTH_LONG ? head->length : SYMBOL_LONG;
}

static bool is_state(uint32_t field) {
    return field >= STATE_FIRST && field <= STATE_LAST;
}

static uint32_t long_of(uint32_t length) {
    uint32_t more = length - LENGTH_LONG;
    return more < PROTO_SOLO_LONGS - 1 ? more : PROTO_SOLO_LONGS - 1;
}

static uint32_t high_row(uint32_t length) {
    return length < PROTO_SOLO_HIGH_LENGTHS ? length : PROTO_SOLO_HIGH_LENGTHS - 1;
}

static uint32_t code_length(proto_solo_coder* coder, uint32_t field, uint32_t length) {
    mix m = one_table(coder->model->lengths[field], PROTO_SOLO_LONGS);
    uint32_t symbol = code_symbol(coder, &m, long_of(length));
    uint32_t least = LENGTH_LONG + symbol;
    if (symbol + 1 < PROTO_SOLO_LONGS) return least;
    length = least + (uint32_t)code_bits(coder, length - least, LENGTH_BITS);
    if (length <= LENGTH_MOST) return length;
    coder->failed = true;
    return LENGTH_MOST;
}

// Of a number that is not 0.
static BASE_NOINLINE number_head code_head(proto_solo_coder* coder, uint32_t field,
                                           uint64_t situation, number_head head) {
    const proto_solo_model* model = coder->model;
    uint32_t chance = known_fact(coder, field + PROTO_SOLO_FIELDS, situation);
    head.sign = code_bit(coder, chance, head.sign);
    if (is_state(field)) return (number_head){.length = 1, .sign = head.sign};
    uint16_t places[PROTO_SOLO_CONTEXTS];
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        places[i] = (uint16_t)find_fact(i, field, situation);
    mix m = find_tables(model, field, places);
    uint32_t symbol = code_symbol(coder, &m, symbol_of(&head));
    if (symbol < SYMBOL_THREE) {
        head.length = symbol == 0 ? 1 : 2;
        head.high = symbol == 2 ? 1 << HIGH_SHIFT : 0;
        return head;
    }
    head.length = symbol < SYMBOL_LONG ? symbol : code_length(coder, field, head.length);
    m = one_table(model->highs[field % PROTO_SOLO_HIGH_FIELDS][high_row(head.length)],
                  PROTO_SOLO_SYMBOLS);
    head.high = code_symbol(coder, &m, head.high);
    return head;
}

// Bits of the size below those of its head.
static uint32_t low_bits(const number_head* head) {
    return head->length > HEAD_BITS ? head->length - HEAD_BITS : 0;
}

static uint32_t pack_head(const number_head* head) {
    return head->length == 0 ? 0 : head->length << 4 | head->sign << 3 | head->high;
}

static uint64_t pack_sample(uint32_t field, uint64_t situation, uint32_t told) {
    return situation << SITUATION_SHIFT | (uint64_t)field << FIELD_SHIFT | told;
}

static void add_sample(proto_solo_coder* coder, proto_solo_sample sample) {
    if (coder->sample_count < coder->sample_capacity)
        coder->samples[coder->sample_count++] = sample;
}

static void add_word(proto_solo_tape* tape, uint64_t word) {
    if (tape->word_count < PROTO_SOLO_TAPE_WORDS)
        tape->words[tape->word_count++] = word;
    else
        tape->is_whole = false;
}

static void add_guess(proto_solo_tape* tape, uint32_t field, uint64_t situation, bool is_likely) {
    if (field != PROTO_SOLO_OTHER || tape->guess_count == PROTO_SOLO_TAPE_GUESSES) {
        tape->is_whole = false;
        return;
    }
    tape->taken |= (uint32_t)is_likely << tape->guess_count;
    tape->guesses[tape->guess_count++] = situation;
}

// Code the head of a number, and the lowest bits of its size. @return those bits.
static inline uint64_t code_parts(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                                  number_head* head, uint64_t size) {
    const uint32_t chance = known_fact(coder, field, situation);
    const bool is_fact = code_bit(coder, chance, head->length > 0);
    if (!is_fact) *head = (number_head){.length = 0};
    if (!is_fact) return 0;
    *head = code_head(coder, field, situation, *head);
    uint32_t low = low_bits(head);
    return low > 0 ? code_bits(coder, size & (row_mask(low + 1) >> 1), low) : 0;
}

static void count_number(proto_solo_coder* coder) {
    if (++coder->numbers > PROTO_SOLO_NUMBERS_MAX) coder->failed = true;
}

int64_t proto_solo_number(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                          int64_t value) {
    BASE_VALIDATE(field < PROTO_SOLO_FIELDS && situation >> 40 == 0);
    const bool is_read = coder->mode == PROTO_SOLO_READ;
    if (coder->mode != PROTO_SOLO_SAMPLE) count_number(coder);
    if (value == 0 && coder->mode == PROTO_SOLO_WRITE && !coder->failed && !coder->tape) { // most
        (void)code_bit(coder, known_fact(coder, field, situation), false);
        add_sample(coder, pack_sample(field, situation, 0));
        return 0;
    }
    if (is_read && coder->failed) return 0;
    uint64_t size = 0;
    number_head head = {.length = 0};
    uint32_t low = 0;
    if (!is_read && value != 0) {
        size = row_magnitude(value);
        head = (number_head){.length = 64 - (uint32_t)__builtin_clzll(size), .sign = value < 0};
        low = low_bits(&head);
        head.high = (uint32_t)(low > 0 ? size >> low : size << (HEAD_BITS - head.length)) & 7;
    }
    uint32_t told = pack_head(&head);
    if (coder->tape) {
        add_word(coder->tape, pack_sample(field, situation, told));
        if (low > 0) add_word(coder->tape, size);
    }
    if (coder->mode != PROTO_SOLO_SAMPLE && !coder->failed)
        size = code_parts(coder, field, situation, &head, size);
    if (is_read) told = pack_head(&head);
    add_sample(coder, pack_sample(field, situation, told));
    if (!is_read) return value;
    if (told == 0) return 0;
    low = low_bits(&head);
    uint64_t high = 8 | head.high;
    size = low > 0 ? high << low | size : high >> (HEAD_BITS - head.length);
    return head.sign ? (int64_t)(0 - size) : (int64_t)size;
}

bool proto_solo_expects(proto_solo_coder* coder, uint32_t field, uint64_t situation) {
    bool is_likely = known_fact(coder, field, situation) > CHANCE_EVEN;
    if (coder->tape) add_guess(coder->tape, field, situation, is_likely);
    return is_likely;
}

void proto_solo_add_fact(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                         bool is_fact) {
    uint64_t sample = pack_sample(field, situation, is_fact ? HEAD_ONE : 0);
    if (coder->tape) add_word(coder->tape, sample);
    add_sample(coder, sample);
}

// ---- tapes ----

bool proto_solo_is_alone(const proto_solo_model* model, uint32_t template_,
                         const proto_layout* layout, bool has_base2) {
    return !has_base2 || layout->solo_place == PROTO_SOLO_NO_PLACE ||
           !proto_solo_has_neighbours(model, template_);
}

void proto_solo_record(proto_solo_coder* coder, proto_solo_tape* tape) {
    coder->tape = tape;
    if (!tape) return;
    tape->word_count = tape->guess_count = tape->taken = 0;
    tape->is_whole = true;
}

uint32_t proto_solo_take_guesses(proto_solo_coder* coder, const uint64_t* guesses, uint32_t count) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++)
        taken |= (uint32_t)(known_fact(coder, PROTO_SOLO_OTHER, guesses[i]) > CHANCE_EVEN) << i;
    return taken;
}

void proto_solo_play(proto_solo_coder* coder, const uint64_t* words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t sample = words[i];
        const uint32_t field = sample >> FIELD_SHIFT & TOLD_MASK;
        number_head head = unpack_head(sample & TOLD_MASK);
        const uint64_t size = low_bits(&head) > 0 ? words[++i] : 0;
        add_sample(coder, sample);
        if (coder->mode == PROTO_SOLO_SAMPLE || field == PROTO_SOLO_OTHER) continue;
        count_number(coder);
        if (!coder->failed) (void)code_parts(coder, field, sample >> SITUATION_SHIFT, &head, size);
    }
}

// ---- training ----

bool proto_solo_has_neighbours(const proto_solo_model* model, uint32_t template_) {
    return model->neighbours[template_ % PROTO_SOLO_TEMPLATES] > 0;
}

static void train_neighbours(proto_solo_model* model, uint64_t situation, bool is_along) {
    int16_t* trust = &model->neighbours[situation >> 10 & (PROTO_SOLO_TEMPLATES - 1)];
    if (*trust <= 0) return;
    *trust = (int16_t)(*trust + (is_along ? NEAR_GAIN : -1));
    if (*trust > NEAR_MOST) *trust = NEAR_MOST;
    if (*trust == 0) *trust = -NEAR_PAUSE;
}

static void train_number(proto_solo_model* model, uint32_t field, uint64_t situation,
                         uint32_t told) {
    contexts c, sign;
    train_fact(model, &c, field, situation, told > 0);
    if (told == 0) return;
    number_head head = unpack_head(told);
    train_fact(model, &sign, field + PROTO_SOLO_FIELDS, situation, head.sign);
    if (is_state(field)) return;
    uint32_t symbol = symbol_of(&head);
    mix m = find_tables(model, field, c.places);
    train_weights(model->weights[field][trust_of(m.tables[0])], &m, symbol);
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        train_table(model->tables[i][c.places[i] >> 1], PROTO_SOLO_SYMBOLS, symbol);
    if (symbol >= SYMBOL_LONG)
        train_table(model->lengths[field], PROTO_SOLO_LONGS, long_of(head.length));
    if (symbol >= SYMBOL_THREE)
        train_table(model->highs[field % PROTO_SOLO_HIGH_FIELDS][high_row(head.length)],
                    PROTO_SOLO_SYMBOLS, head.high);
}

void proto_solo_train(proto_solo_model* model, const proto_solo_sample* samples, uint32_t count) {
    model->version++;
    for (uint32_t i = 0; i < PROTO_SOLO_TEMPLATES; i++)
        if (model->neighbours[i] < 0 && ++model->neighbours[i] == 0)
            model->neighbours[i] = NEAR_AGAIN;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t field = samples[i] >> FIELD_SHIFT & TOLD_MASK, told = samples[i] & TOLD_MASK;
        uint64_t situation = samples[i] >> SITUATION_SHIFT;
        train_number(model, field, situation, told);
        if (field == PROTO_SOLO_ALONG) train_neighbours(model, situation, told > 0);
    }
}
