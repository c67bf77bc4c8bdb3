// SPDX-License-Identifier: MIT
// Arithmetic code with mixed statistics (WIRE.md, "Solo code").
#include "proto/solo.h"
#include "row/row_coder.h"

enum {
    WEIGHT_FIRST = 8192, // in 2^-16: an eighth
    WEIGHT_MOST = 8 << 16,
    RATE_SHIFT = 15, // of weights
    STRETCH_MAX = 2047,
    COUNT_BITS = 10,
    COUNT_MAX = PROTO_SOLO_COUNT_MAX,
    CHANCE_BITS = 22,
    // The usual places share a group of counters, which is a cache line.
    NODE_ZERO = 0,
    NODE_SIGN = 1,
    NODE_LENGTH = 2, // LENGTHS_NEAR of positive numbers, then of negative ones
    LENGTHS_NEAR = 7,
    NODE_HIGH = 16, // LENGTHS_HIGH times 8
    LENGTHS_HIGH = 13,
    NODE_FAR = NODE_HIGH + LENGTHS_HIGH * 8, // further lengths
    LENGTHS_TOLD = 24,
    GROUP_BITS = 4,
    GROUP_NONE = 255,
    PLACE_REST = PROTO_SOLO_PLACES - 1, // nodes outside of the first group share weights
    CONTEXTS_REST = 2,                  // and look at the first contexts only
    HEAD_BITS = 4, // highest bits of a size that have statistics, with the highest one
    FIELD_SHIFT = 12,
    SITUATION_SHIFT = 24,
    TOLD_MASK = 4095,
    CODE_BYTES = 4,
    CHANCE_EVEN = 1 << 15,
    HEAD_ONE = 1 << 4,
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

void proto_solo_model_reset(proto_solo_model* model) {
    int32_t x = -STRETCH_MAX;
    for (uint32_t i = 0; i < 4096; i++) {
        while (x < STRETCH_MAX && squash(x) < i * 16 + 8)
            x++;
        model->stretch[i] = (int16_t)x;
    }
    for (uint32_t i = 0; i <= COUNT_MAX; i++)
        model->shares[i] = (uint16_t)((1u << 17) / (2 * i + 3));
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        for (uint32_t k = 0; k < 1u << PROTO_SOLO_TABLE_BITS; k++)
            model->counters[i][k] = 1u << 31;
    for (uint32_t i = 0; i < PROTO_SOLO_FIELDS; i++)
        for (uint32_t k = 0; k < PROTO_SOLO_PLACES; k++)
            for (uint32_t n = 0; n < PROTO_SOLO_CONTEXTS; n++)
                model->weights[i][k][n] = WEIGHT_FIRST;
}

typedef struct mix {
    uint32_t count;                   // contexts of the node: all, or the first ones
    uint32_t at[PROTO_SOLO_CONTEXTS]; // counters
    int32_t in[PROTO_SOLO_CONTEXTS];
    uint32_t chance; // 2^-16
} mix;

typedef struct contexts {
    uint32_t hashes[PROTO_SOLO_CONTEXTS];
    uint32_t groups[PROTO_SOLO_CONTEXTS]; // first counters of the group of nodes
    uint32_t group, field;
} contexts;

static void make_contexts(contexts* c, uint32_t field, uint64_t situation) {
    // Which features a context looks at: a mask of 5 bits each.
#define F(i) (UINT64_C(31) << (5 * (i)))
    static const uint64_t masks[PROTO_SOLO_CONTEXTS] = {
        F(0) | F(1),        F(0) | F(1) | F(2) | F(6), F(0) | F(2), F(0) | F(3) | F(6),
        F(0) | F(4) | F(5), F(1) | F(2) | F(7),        F(6) | F(7), 0,
    };
#undef F
    c->field = field % PROTO_SOLO_FIELDS;
    c->group = GROUP_NONE;
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++) {
        uint64_t h = ((situation & masks[i]) + 1) * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ field) * UINT64_C(0xd6e8feb86659fd93);
        c->hashes[i] = (uint32_t)(h >> 32);
    }
}

static void find_group(contexts* c, uint32_t group) {
    c->group = group;
    for (uint32_t i = 0; i < PROTO_SOLO_CONTEXTS; i++)
        c->groups[i] = ((c->hashes[i] + group * 0x2545f491u) * 0x9e3779b1u) >>
                       (32 - PROTO_SOLO_TABLE_BITS + GROUP_BITS) << GROUP_BITS;
}

static uint32_t place_of(uint32_t node) {
    return node < PLACE_REST ? node : PLACE_REST;
}

static void predict(const proto_solo_model* model, contexts* c, uint32_t node, mix* m) {
    BASE_VALIDATE(node < PROTO_SOLO_NODES);
    if (c->group != node >> GROUP_BITS) find_group(c, node >> GROUP_BITS);
    static const uint8_t trust[] = {0, 8, 10, 12, 13, 14, 14, 15, 15, 15, 16};
    const int32_t* weights = model->weights[c->field][place_of(node)];
    int64_t sum = 0;
    m->count = c->group == 0 ? PROTO_SOLO_CONTEXTS : CONTEXTS_REST;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t at = c->groups[i] | (node & ((1u << GROUP_BITS) - 1));
        uint32_t counter = model->counters[i][at], seen = counter & ((1u << COUNT_BITS) - 1);
        m->at[i] = at;
        m->in[i] = model->stretch[counter >> 20] * trust[seen < 10 ? seen : 10] >> 4;
        sum += (int64_t)m->in[i] * weights[i];
    }
    m->chance = squash((int32_t)(sum >> 16));
}

static void update(proto_solo_model* model, const contexts* c, uint32_t node, const mix* m,
                   bool bit) {
    int32_t* weights = model->weights[c->field][place_of(node)];
    int32_t error = (int32_t)((uint32_t)bit << 16) - (int32_t)m->chance;
    int32_t goal = bit ? (1 << CHANCE_BITS) - 1 : 0;
    for (uint32_t i = 0; i < m->count; i++) {
        int32_t weight = weights[i] + ((m->in[i] * error + (1 << (RATE_SHIFT - 1))) >> RATE_SHIFT);
        if (weight > WEIGHT_MOST) weight = WEIGHT_MOST;
        weights[i] = weight < -WEIGHT_MOST ? -WEIGHT_MOST : weight;
        uint32_t* counter = &model->counters[i][m->at[i]];
        uint32_t seen = *counter & ((1u << COUNT_BITS) - 1);
        int32_t chance = (int32_t)(*counter >> COUNT_BITS);
        chance += (int32_t)((int64_t)(goal - chance) * model->shares[seen] >> 16);
        *counter = (uint32_t)chance << COUNT_BITS | (seen < COUNT_MAX ? seen + 1 : seen);
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

static bool code_bit(proto_solo_coder* coder, uint32_t chance, bool bit) {
    bool is_written = coder->mode == PROTO_SOLO_WRITE;
    uint32_t bound = (coder->range >> 16) * chance;
    if (!is_written) bit = coder->code < bound;
    if (bit) {
        coder->range = bound;
    } else {
        coder->range -= bound;
        coder->low += bound;
        coder->code -= bound;
    }
    while (coder->range < 1u << 24) {
        coder->range <<= 8;
        if (is_written)
            shift_low(coder);
        else
            coder->code = coder->code << 8 | next_byte(coder);
    }
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

// Bits that are as likely 0 as 1.
static uint64_t code_bits(proto_solo_coder* coder, uint64_t value, uint32_t count) {
    uint64_t result = 0;
    while (count-- > 0)
        result = result << 1 | code_bit(coder, CHANCE_EVEN, value >> count & 1);
    return result;
}

// ---- numbers ----

static uint32_t length_of(uint64_t size) {
    return size == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(size);
}

// The places of a number's bits. One function walks them for coding and for training.
typedef struct walk {
    proto_solo_coder* coder;
    proto_solo_model* model; // training
    contexts contexts;
} walk;

static bool step(walk* w, uint32_t node, bool bit) {
    mix m;
    const proto_solo_model* model = w->model ? w->model : w->coder->model;
    predict(model, &w->contexts, node, &m);
    if (w->model) {
        update(w->model, &w->contexts, node, &m, bit);
        return bit;
    }
    bit = code_bit(w->coder, m.chance, bit);
    return bit;
}

static uint32_t length_node(uint32_t sign, uint32_t n) {
    if (n <= LENGTHS_NEAR) return NODE_LENGTH + sign * LENGTHS_NEAR + n - 1;
    return NODE_FAR + (n < LENGTHS_TOLD ? n : LENGTHS_TOLD) - LENGTHS_NEAR - 1;
}

// The modelled part of a number, 12 bits: length (6), sign, three bits below the highest one.
static uint32_t walk_number(walk* w, uint32_t head) {
    uint32_t length = head >> 4, high = head & 7, sign = head >> 3 & 1;
    if (!step(w, NODE_ZERO, length > 0)) return 0;
    sign = step(w, NODE_SIGN, sign);
    uint32_t n = 1;
    while (n < 64 && step(w, length_node(sign, n), length > n))
        n++;
    uint32_t row = n < LENGTHS_HIGH ? n - 1 : LENGTHS_HIGH - 1, prefix = 1;
    for (uint32_t i = 0; i < 3 && i + 1 < n; i++)
        prefix = prefix << 1 | step(w, NODE_HIGH + row * 8 + prefix, high >> (2 - i) & 1);
    for (uint32_t i = n; i <= 3; i++)
        prefix <<= 1;
    return n << 4 | sign << 3 | (prefix & 7);
}

static void add_sample(proto_solo_coder* coder, uint32_t field, uint64_t situation, uint32_t head) {
    if (coder->sample_count == coder->sample_capacity) return;
    coder->samples[coder->sample_count++] =
        situation << SITUATION_SHIFT | (uint64_t)field << FIELD_SHIFT | head;
}

int64_t proto_solo_number(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                          int64_t value) {
    BASE_VALIDATE(field < PROTO_SOLO_FIELDS && situation >> 40 == 0);
    bool is_read = coder->mode == PROTO_SOLO_READ;
    if (coder->mode != PROTO_SOLO_SAMPLE && ++coder->numbers > PROTO_SOLO_NUMBERS_MAX)
        coder->failed = true;
    if (is_read && coder->failed) return 0;
    uint64_t size = is_read ? 0 : row_magnitude(value);
    uint32_t length = length_of(size), low = length > HEAD_BITS ? length - HEAD_BITS : 0;
    uint32_t head = 0;
    if (length > 0) {
        uint64_t high = length > HEAD_BITS ? size >> low : size << (HEAD_BITS - length);
        head = length << 4 | (uint32_t)(value < 0) << 3 | (uint32_t)(high & 7);
    }
    if (coder->mode != PROTO_SOLO_SAMPLE && !(coder->failed)) {
        walk w = {.coder = coder};
        make_contexts(&w.contexts, field, situation);
        head = walk_number(&w, head);
        length = head >> 4;
        low = length > HEAD_BITS ? length - HEAD_BITS : 0;
        if (low > 0) size = code_bits(coder, size & (row_mask(low + 1) >> 1), low);
    }
    add_sample(coder, field, situation, head);
    if (!is_read) return value;
    if (head == 0) return 0;
    uint64_t high = 8 | (head & 7);
    size = length > HEAD_BITS ? high << low | size : high >> (HEAD_BITS - length);
    return head >> 3 & 1 ? (int64_t)(0 - size) : (int64_t)size;
}

bool proto_solo_expects(const proto_solo_coder* coder, uint32_t field, uint64_t situation) {
    contexts c;
    mix m;
    make_contexts(&c, field, situation);
    predict(coder->model, &c, NODE_ZERO, &m);
    return m.chance > CHANCE_EVEN;
}

void proto_solo_add_fact(proto_solo_coder* coder, uint32_t field, uint64_t situation,
                         bool is_fact) {
    add_sample(coder, field, situation, is_fact ? HEAD_ONE : 0);
}

void proto_solo_train(proto_solo_model* model, const proto_solo_sample* samples, uint32_t count) {
    walk w = {.model = model};
    for (uint32_t i = 0; i < count; i++) {
        make_contexts(&w.contexts, samples[i] >> FIELD_SHIFT & TOLD_MASK,
                      samples[i] >> SITUATION_SHIFT);
        (void)walk_number(&w, samples[i] & TOLD_MASK);
    }
}
