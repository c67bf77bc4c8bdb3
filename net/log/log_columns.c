// SPDX-License-Identifier: MIT
// An input is most often the client's last one with a number that is one higher, so most of it is
// known before it is read. The log does not know the messages of the game: a payload is taken as
// protobuf with fields 1..15 of one number each, which is what packers write for a struct of
// numbers. Others are stored as they are.
//
// A value that differs is coded as itself or as the difference to the client's last one, whatever
// takes fewer bits: sticks that are pushed to the end repeat values, an aim moves on by little.
#include "log/log_columns.h"

#include "base/assert.h"

#include <string.h>

// ---- the range coder ----

// The range coder of LZMA (I. Pavlov), with models that learn faster: a block has about a hundred
// values of a column, so the first ones count most. A model's step is 2 / (2n + 5) after n bits,
// which is nearly the share of ones so far, until it stays at 1/32.5.
//
// Bytes after the end are 0: the writer ends with the number in its range that has the most zero
// bytes, and leaves them out.

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

static void put_byte(net_log_range* range, uint8_t byte) {
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
            put_byte(range, (uint8_t)(range->held + carry));
            range->held = 0xFF;
        }
        range->held = (uint8_t)(range->low >> 24);
    }
    range->held_count++;
    range->low = (range->low & 0x00FFFFFF) << 8;
}

static uint8_t read_byte(net_log_range* range) {
    const size_t at = range->size++;
    return at < range->capacity ? range->source[at] : 0;
}

static inline void normalise(net_log_range* range) {
    while (range->range < TOP) {
        range->range <<= 8;
        if (range->is_reading)
            range->code = range->code << 8 | read_byte(range);
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
        range->code = range->code << 8 | read_byte(range);
}

bool net_log_range_end(net_log_range* range) {
    if (range->is_reading) return !range->failed && range->size >= range->capacity;
    // The number in [low, low + range) with the most zeros after.
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

static inline void learn(net_log_model* model, uint32_t bit) {
    // [n]: 131072 / (2n + 5)
    static const uint16_t steps[SEEN_MAX + 1] = {
        26214, 18724, 14563, 11915, 10082, 8738, 7710, 6898, 6241, 5698, 5242,
        4854,  4519,  4228,  3971,  3744,  3542, 3360, 3196, 3048, 2912, 2788,
        2674,  2570,  2473,  2383,  2299,  2221, 2148, 2080, 2016};
    const uint32_t step = steps[model->seen];
    uint32_t one = model->one;
    one = bit ? one + (((65536u - one) * step) >> 16) : one - ((one * step) >> 16);
    if (one < ONE_MIN) one = ONE_MIN;
    if (one > 65536u - ONE_MIN) one = 65536u - ONE_MIN;
    model->one = (uint16_t)one;
    if (model->seen < SEEN_MAX) model->seen++;
}

static inline uint32_t split(net_log_range* range, uint32_t bound, uint32_t bit) {
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

// The model of the bit after the bits `node` of a number; BITS_MODELS: none, both are as likely.
static uint32_t place_of_number(uint32_t length, uint64_t node) {
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
        const uint32_t place = place_of_number(length, node),
                       bit = (uint32_t)(number >> (i - 1)) & 1;
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

// What a bit or a number would take, in about 1/256 bits.
static uint32_t model_price(const net_log_model* model, uint32_t bit) {
    return 16 * 256 - log2_256(bit ? model->one : 65536u - model->one);
}

static uint32_t number_price(const net_log_number_models* models, uint64_t number) {
    const uint32_t length = length_of(number);
    uint32_t price = 0, place = 1;
    for (uint32_t i = LENGTH_BITS; i > 0; i--) {
        price += model_price(&models->length[place], length >> (i - 1) & 1);
        place = place << 1 | (length >> (i - 1) & 1);
    }
    uint64_t node = 1;
    for (uint32_t i = length; i > 1; i--) {
        const uint32_t bit = (uint32_t)(number >> (i - 2)) & 1;
        place = place_of_number(length, node);
        price += place == NET_LOG_BITS_MODELS ? 256 : model_price(&models->bits[place], bit);
        node = node << 1 | bit;
    }
    return price;
}

// ---- columns of inputs ----

enum { TYPE_NONE, TYPE_VARINT, TYPE_FIXED32, TYPE_FIXED64, TYPE_BITS = 2, TICK_SEEN = 256 };

// A payload as numbers.
typedef struct numbers {
    uint64_t values[NET_LOG_INPUT_FIELDS];
    uint8_t types[NET_LOG_INPUT_FIELDS];
    uint32_t count; // up to the last field that is there
} numbers;

// One direction of the work on one record.
typedef struct coder {
    net_log_inputs* inputs;
    net_log_range* range;
    proto_pb_writer* rest_to; // writing
    base_reader* rest_from;   // reading
} coder;

void net_log_inputs_begin(net_log_inputs* inputs) {
    net_log_model_begin(&inputs->models, sizeof inputs->models);
    memset(inputs->slots, 0, sizeof inputs->slots);
    memset(inputs->types, 0, sizeof inputs->types);
    inputs->client_count = inputs->list_count = inputs->field_count = 0;
    inputs->number = 0;
    inputs->seen = 0;
}

// ---- clients ----

// The place of a client, which may be new. UINT32_MAX: too many.
static uint32_t place_of(net_log_inputs* inputs, uint32_t client) {
    uint32_t slot = (client * 2654435769u) >> 16 & (NET_LOG_INPUT_SLOTS - 1);
    while (inputs->slots[slot] > 0) {
        const uint32_t place = inputs->slots[slot] - 1u;
        if (inputs->clients[place].client == client) return place;
        slot = (slot + 1) & (NET_LOG_INPUT_SLOTS - 1);
    }
    if (inputs->client_count == NET_LOG_INPUT_CLIENTS) return UINT32_MAX;
    inputs->clients[inputs->client_count] = (net_log_input_client){.client = client, .history = 3};
    inputs->slots[slot] = (uint16_t)++inputs->client_count;
    return inputs->client_count - 1;
}

static bool next_input(const net_log_record* record, size_t* offset, net_log_item* item) {
    return net_log_item_next(record, NET_LOG_ITEM_INPUT, offset, item);
}

// Does the record have the inputs of the clients of the last list?
static bool has_same_list(const net_log_inputs* inputs, const net_log_record* from) {
    size_t offset = 0;
    net_log_item item;
    if (from->item_count[NET_LOG_ITEM_INPUT] != inputs->list_count) return false;
    for (uint32_t i = 0; i < inputs->list_count; i++)
        if (!next_input(from, &offset, &item) ||
            item.client != inputs->clients[inputs->list[i]].client)
            return false;
    return true;
}

// Whose inputs the record has. `from` NULL: reading.
static void code_list(coder* self, const net_log_record* from) {
    net_log_inputs* inputs = self->inputs;
    net_log_input_models* models = &inputs->models;
    const bool is_same = from && has_same_list(inputs, from);
    if (net_log_range_bit(self->range, &models->is_same_list, is_same)) return;
    const uint64_t count = net_log_range_number(self->range, &models->list_count,
                                                from ? from->item_count[NET_LOG_ITEM_INPUT] : 0);
    if (count > NET_LOG_INPUT_CLIENTS) self->range->failed = true;
    size_t offset = 0;
    net_log_item item = {0};
    uint32_t before = 0;
    inputs->list_count = 0;
    for (uint32_t i = 0; i < count && !self->range->failed; i++) {
        if (from && !next_input(from, &offset, &item)) self->range->failed = true;
        const uint32_t step = item.client - before;
        before += (uint32_t)net_log_range_number(self->range, &models->list_client, step);
        const uint32_t place = place_of(inputs, before);
        if (place == UINT32_MAX) self->range->failed = true;
        inputs->list[inputs->list_count++] = (uint16_t)place;
    }
}

// ---- payloads ----

static uint32_t type_of(uint32_t wire_type) {
    return wire_type == 0   ? TYPE_VARINT
           : wire_type == 5 ? TYPE_FIXED32
           : wire_type == 1 ? TYPE_FIXED64
                            : TYPE_NONE;
}

static void write_value(proto_pb_writer* wire, uint32_t field, uint32_t type, uint64_t value) {
    if (value == 0) return;
    if (type == TYPE_VARINT) proto_pb_write_number(wire, field, value);
    if (type == TYPE_FIXED64) proto_pb_write_fixed64(wire, field, value);
    if (type != TYPE_FIXED32) return;
    proto_pb_write_varint(wire, field << 3 | 5);
    proto_pb_write_raw(wire, value, 4);
}

// A payload that a packer of numbers writes, with the block's types. @return false for others.
static bool parse(const net_log_inputs* inputs, const net_log_item* item, numbers* parsed) {
    *parsed = (numbers){0};
    base_reader reader = base_reader_make(item->payload, item->payload_bytes);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        const uint32_t type = type_of(field.type);
        if (type == TYPE_NONE || field.id > NET_LOG_INPUT_FIELDS || field.id <= parsed->count)
            return false;
        const uint32_t known = inputs->types[field.id - 1];
        if (known != TYPE_NONE && known != type) return false;
        parsed->values[field.id - 1] = field.number;
        parsed->types[field.id - 1] = (uint8_t)type;
        parsed->count = field.id;
    }
    if (reader.failed) return false;
    uint8_t again[NET_INPUT_BYTES_MAX];
    proto_pb_writer wire = {.data = again, .capacity = sizeof again};
    for (uint32_t i = 0; i < parsed->count; i++)
        write_value(&wire, i + 1, parsed->types[i], parsed->values[i]);
    return !wire.failed && wire.size == item->payload_bytes &&
           memcmp(again, item->payload, wire.size) == 0;
}

// Zigzag differences wrap around; so do their sums.
static uint64_t code_value(coder* self, uint32_t field, uint64_t last, uint64_t value) {
    net_log_input_models* models = &self->inputs->models;
    net_log_model* way = &models->is_difference[field];
    net_log_number_models* ways = self->inputs->values[field];
    uint64_t coded = value;
    bool is_difference = false;
    if (!self->range->is_reading) {
        const uint64_t difference = net_log_fold(value - last);
        is_difference = model_price(way, 1) + number_price(&ways[1], difference) <
                        model_price(way, 0) + number_price(&ways[0], value);
        if (is_difference) coded = difference;
    }
    is_difference = net_log_range_bit(self->range, way, is_difference) != 0;
    coded = net_log_range_number(self->range, &ways[is_difference], coded);
    return is_difference ? last + net_log_unfold(coded) : coded;
}

// Code the fields that differ from those in `last`. `last` becomes a copy of the parsed fields.
static void code_fields(coder* self, uint64_t* last, const numbers* parsed) {
    net_log_inputs* inputs = self->inputs;
    net_log_input_models* models = &inputs->models;
    while (
        inputs->field_count < NET_LOG_INPUT_FIELDS &&
        net_log_range_bit(self->range, &models->is_new_field, inputs->field_count < parsed->count))
        inputs->field_count++;
    uint32_t moved = 0;
    for (uint32_t i = 0; i < inputs->field_count; i++) {
        // One of them differs.
        const bool is_implied = i + 1 == inputs->field_count && moved == 0;
        if (!is_implied && !net_log_range_bit(self->range, &models->has_moved[i][moved],
                                              parsed->values[i] != last[i]))
            continue;
        moved += moved < NET_LOG_MOVED_MAX;
        if (inputs->types[i] == TYPE_NONE) {
            inputs->types[i] =
                (uint8_t)net_log_range_tree(self->range, models->type, TYPE_BITS, parsed->types[i]);
            net_log_model_begin(inputs->values[i], sizeof inputs->values[i]);
        }
        last[i] = code_value(self, i, last[i], parsed->values[i]);
        if (inputs->types[i] == TYPE_FIXED32 && last[i] > UINT32_MAX) self->range->failed = true;
    }
    // A message without fields is like every other one without fields.
    if (inputs->field_count == 0) self->range->failed = true;
}

// A payload that is no struct of numbers. `to` has room for it.
static void code_odd(coder* self, net_log_item* item, uint8_t* to) {
    const uint64_t size =
        net_log_range_number(self->range, &self->inputs->models.odd_bytes, item->payload_bytes);
    if (size > NET_INPUT_BYTES_MAX) self->range->failed = true;
    if (self->range->failed) return;
    if (self->rest_to) {
        uint8_t* place = proto_pb_extend(self->rest_to, (size_t)size);
        if (place) memcpy(place, item->payload, (size_t)size);
        return;
    }
    if (!base_reader_read(self->rest_from, to, (size_t)size)) self->range->failed = true;
    item->payload_bytes = (uint32_t)size;
}

// `to` gets the payload that is read; it has room for NET_INPUT_BYTES_MAX.
static void code_payload(coder* self, net_log_input_client* client, net_log_item* item,
                         uint8_t* to) {
    net_log_inputs* inputs = self->inputs;
    net_log_input_models* models = &inputs->models;
    numbers parsed = {0};
    const bool is_odd = !self->range->is_reading && !parse(inputs, item, &parsed);
    bool is_same = !self->range->is_reading && !is_odd &&
                   memcmp(parsed.values, client->values, sizeof parsed.values) == 0;
    is_same = net_log_range_bit(self->range, &models->is_same[client->history], is_same) != 0;
    client->history = (uint8_t)((client->history << 1 | is_same) & 3);
    if (!is_same && net_log_range_bit(self->range, &models->is_odd, is_odd)) {
        code_odd(self, item, to);
        return;
    }
    if (!is_same) code_fields(self, client->values, &parsed);
    if (!self->range->is_reading) return;
    proto_pb_writer wire = {.data = to, .capacity = NET_INPUT_BYTES_MAX};
    for (uint32_t i = 0; i < inputs->field_count; i++)
        write_value(&wire, i + 1, inputs->types[i], client->values[i]);
    BASE_ASSERT(!wire.failed);
    item->payload_bytes = (uint32_t)wire.size;
}

// ---- one input after the other ----

static void code_number(coder* self, const net_log_input_client* client, net_log_item* item) {
    net_log_inputs* inputs = self->inputs;
    const uint32_t repeat = item->is_repeat;
    // A repeat has the number of what it repeats.
    const uint32_t expected = client->is_known ? client->number + !repeat : inputs->number;
    net_log_model* is_next = &inputs->models.is_next[repeat][client->is_known];
    if (net_log_range_bit(self->range, is_next, item->number == expected)) {
        item->number = expected;
        return;
    }
    const uint64_t step = net_log_fold((uint64_t)item->number - expected);
    item->number = expected + (uint32_t)net_log_unfold(net_log_range_number(
                                  self->range, &inputs->models.number[client->is_known], step));
}

static void code_seen(coder* self, net_log_input_client* client, net_log_item* item) {
    net_log_inputs* inputs = self->inputs;
    uint64_t expected = client->is_known ? client->seen : inputs->seen;
    if (client->is_known && expected > 0) expected += TICK_SEEN;
    net_log_model* is_same = &inputs->models.is_same_seen[client->is_known];
    if (net_log_range_bit(self->range, is_same, item->seen == expected)) {
        item->seen = expected;
        return;
    }
    const uint64_t step = net_log_fold(item->seen - expected);
    item->seen = expected + net_log_unfold(net_log_range_number(
                                self->range, &inputs->models.seen[client->is_known], step));
}

static void code_input(coder* self, net_log_input_client* client, net_log_item* item, uint8_t* to) {
    net_log_inputs* inputs = self->inputs;
    item->is_repeat =
        net_log_range_bit(self->range, &inputs->models.is_repeat, item->is_repeat) != 0;
    code_number(self, client, item);
    inputs->number = item->number;
    if (!item->is_repeat) {
        code_seen(self, client, item);
        code_payload(self, client, item, to);
        client->seen = inputs->seen = item->seen;
    }
    client->number = item->number;
    client->is_known = client->is_known || !item->is_repeat;
}

void net_log_inputs_write(net_log_inputs* inputs, net_log_range* range, const net_log_record* from,
                          proto_pb_writer* rest) {
    coder self = {.inputs = inputs, .range = range, .rest_to = rest};
    size_t offset = 0;
    net_log_item item;
    code_list(&self, from);
    for (uint32_t i = 0; i < inputs->list_count && !range->failed; i++)
        if (next_input(from, &offset, &item))
            code_input(&self, &inputs->clients[inputs->list[i]], &item, NULL);
}

void net_log_inputs_read(net_log_inputs* inputs, net_log_range* range, base_reader* rest,
                         proto_pb_writer* to) {
    coder self = {.inputs = inputs, .range = range, .rest_from = rest};
    uint8_t payload[NET_INPUT_BYTES_MAX];
    code_list(&self, NULL);
    for (uint32_t i = 0; i < inputs->list_count && !range->failed; i++) {
        net_log_input_client* client = &inputs->clients[inputs->list[i]];
        net_log_item item = {
            .kind = NET_LOG_ITEM_INPUT, .client = client->client, .payload = payload};
        code_input(&self, client, &item, payload);
        if (!range->failed && !net_log_item_write(to, &item)) range->failed = true;
    }
}
