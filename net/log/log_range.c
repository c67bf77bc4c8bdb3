// SPDX-License-Identifier: MIT
// The range coder of LZMA (I. Pavlov), with models that learn faster: a block has about a hundred
// values of a column, so the first ones count most. A model's step is 2 / (2n + 5) after n bits,
// which is nearly the share of ones so far, until it stays at 1/32.5.
//
// Bytes behind the end are 0: the writer ends with the number in its range that has the most zero
// bytes, and leaves them out.
#include "log/log_range.h"

#include "base/assert.h"

#include <string.h>

enum {
    TOP = 1 << 24,
    HALF = 32768,
    ONE_MIN = 32,
    SEEN_MAX = 30,
    LENGTH_BITS = 7,
    LENGTH_MAX = 64,
    WHOLE_LENGTH = 8, // numbers so long have a model for each bit
    PREFIX_NODES = 8, // of longer ones
    START_BYTES = 4,
};

// ---- bytes ----

static void put(net_log_range* range, uint8_t byte) {
    if (range->size == range->capacity) {
        range->failed = true;
        return;
    }
    range->target[range->size++] = byte;
}

// Hand out the highest byte of `low`. While it is FF, a carry may still change it.
static void shift_low(net_log_range* range) {
    const uint8_t carry = (uint8_t)(range->low >> 32);
    if ((uint32_t)range->low < 0xFF000000u || carry || range->held_count == 0) {
        for (; range->held_count > 0; range->held_count--) {
            put(range, (uint8_t)(range->held + carry));
            range->held = 0xFF;
        }
        range->held = (uint8_t)(range->low >> 24);
    }
    range->held_count++;
    range->low = (range->low & 0x00FFFFFF) << 8;
}

static uint8_t take(net_log_range* range) {
    const size_t at = range->size++;
    return at < range->capacity ? range->source[at] : 0;
}

static void normalise(net_log_range* range) {
    while (range->range < TOP) {
        range->range <<= 8;
        if (range->is_reading)
            range->code = range->code << 8 | take(range);
        else
            shift_low(range);
    }
}

void net_log_range_write(net_log_range* range, uint8_t* target, size_t capacity) {
    *range = (net_log_range){.target = target, .capacity = capacity, .range = UINT32_MAX};
}

void net_log_range_read(net_log_range* range, const uint8_t* source, size_t size) {
    *range = (net_log_range){
        .is_reading = true, .source = source, .capacity = size, .range = UINT32_MAX};
    for (uint32_t i = 0; i < START_BYTES; i++)
        range->code = range->code << 8 | take(range);
}

bool net_log_range_end(net_log_range* range) {
    if (range->is_reading) return !range->failed && range->size >= range->capacity;
    // The number in [low, low + range) with the most zeros behind.
    for (uint32_t zeros = 32; zeros > 0; zeros--) {
        const uint64_t mask = (UINT64_C(1) << zeros) - 1, number = (range->low + mask) & ~mask;
        if (number - range->low >= range->range) continue;
        range->low = number;
        break;
    }
    for (uint32_t i = 0; i <= START_BYTES; i++)
        shift_low(range);
    while (range->size > 0 && range->target[range->size - 1] == 0)
        range->size--;
    return !range->failed;
}

// ---- bits ----

void net_log_model_begin(void* models, size_t bytes) {
    net_log_model* model = models;
    const size_t count = bytes / sizeof *model;
    model[0] = (net_log_model){.one = HALF};
    // Each copy is as long as all before it: every block begins with all models.
    for (size_t done = 1; done < count; done *= 2)
        memcpy(model + done, model, (done < count - done ? done : count - done) * sizeof *model);
}

static void learn(net_log_model* model, uint32_t bit) {
    const uint32_t step = 131072u / (2u * model->seen + 5u);
    if (bit)
        model->one = (uint16_t)(model->one + (((65536u - model->one) * step) >> 16));
    else
        model->one = (uint16_t)(model->one - ((model->one * step) >> 16));
    if (model->one < ONE_MIN) model->one = ONE_MIN;
    if (model->one > 65536u - ONE_MIN) model->one = (uint16_t)(65536u - ONE_MIN);
    if (model->seen < SEEN_MAX) model->seen++;
}

static uint32_t split(net_log_range* range, uint32_t bound, uint32_t bit) {
    if (range->is_reading) bit = range->code < bound;
    if (bit) {
        range->range = bound;
    } else {
        range->range -= bound;
        range->code -= range->is_reading ? bound : 0;
        range->low += range->is_reading ? 0 : bound;
    }
    normalise(range);
    return bit;
}

uint32_t net_log_range_bit(net_log_range* range, net_log_model* model, uint32_t bit) {
    bit = split(range, (range->range >> 16) * model->one, bit);
    learn(model, bit);
    return bit;
}

uint32_t net_log_range_tree(net_log_range* range, net_log_model* tree, uint32_t bits,
                            uint32_t symbol) {
    uint32_t node = 1;
    for (uint32_t i = bits; i > 0; i--)
        node = node << 1 | net_log_range_bit(range, &tree[node], symbol >> (i - 1) & 1);
    return node - (1u << bits);
}

// ---- numbers ----

static uint32_t length_of(uint64_t number) {
    uint32_t length = 0;
    for (; number > 0; number >>= 1)
        length++;
    return length;
}

// The model of the bit behind the bits `node` of a number; BITS_MODELS: none, both are as likely.
static uint32_t place_of(uint32_t length, uint64_t node) {
    if (length <= WHOLE_LENGTH) return (1u << (length - 1)) + (uint32_t)node;
    if (node >= PREFIX_NODES) return NET_LOG_BITS_MODELS;
    return 256u + (length - WHOLE_LENGTH - 1) * PREFIX_NODES + (uint32_t)node;
}

uint64_t net_log_range_number(net_log_range* range, net_log_number_models* models,
                              uint64_t number) {
    const uint32_t length =
        net_log_range_tree(range, models->length, LENGTH_BITS, length_of(number));
    if (length > LENGTH_MAX) range->failed = true;
    if (length == 0 || range->failed) return 0;
    uint64_t node = 1;
    for (uint32_t i = length - 1; i > 0; i--) {
        const uint32_t place = place_of(length, node), bit = (uint32_t)(number >> (i - 1)) & 1;
        if (place == NET_LOG_BITS_MODELS)
            node = node << 1 | split(range, range->range >> 1, bit);
        else
            node = node << 1 | net_log_range_bit(range, &models->bits[place], bit);
    }
    return node;
}

// ---- prices ----

// 256 times the logarithm to base 2, between powers of two a straight line.
static uint32_t log2_256(uint32_t number) {
    const uint32_t whole = length_of(number) - 1;
    return whole * 256 + (((number << 8) >> whole) - 256);
}

uint32_t net_log_model_price(const net_log_model* model, uint32_t bit) {
    return 16 * 256 - log2_256(bit ? model->one : 65536u - model->one);
}

uint32_t net_log_number_price(const net_log_number_models* models, uint64_t number) {
    const uint32_t length = length_of(number);
    uint32_t price = 0, place = 1;
    for (uint32_t i = LENGTH_BITS; i > 0; i--) {
        price += net_log_model_price(&models->length[place], length >> (i - 1) & 1);
        place = place << 1 | (length >> (i - 1) & 1);
    }
    uint64_t node = 1;
    for (uint32_t i = length; i > 1; i--) {
        const uint32_t bit = (uint32_t)(number >> (i - 2)) & 1;
        place = place_of(length, node);
        price +=
            place == NET_LOG_BITS_MODELS ? 256 : net_log_model_price(&models->bits[place], bit);
        node = node << 1 | bit;
    }
    return price;
}
