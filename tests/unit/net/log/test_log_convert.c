// SPDX-License-Identifier: MIT
// Values of a log of one schema as values of another: random pairs of schemas, with fields added,
// removed and in another order, of other kinds, counts and ranges, beside a naive twin.
#include "test.h"

#include "playback/playback_feed.h"
#include "log/log_record.h"

#include <math.h>

#define SEED 20261123

enum { NAMES = 8, FIELDS_MAX = 8, COUNT_MAX = 3, OBJECT_BYTES = 512, ELEMENTS = 24 };

static const char* const names[NAMES] = {"x",    "y",      "speed", "owner",
                                         "hits", "is_big", "w",     "ticks"};

// The schema here: a struct with its rows.
typedef struct here {
    ecs_field fields[FIELDS_MAX];
    proto_row_field row[ELEMENTS];
    uint32_t count;
} here;

static uint32_t shuffle(base_rng* rng, uint32_t picked[NAMES]) {
    for (uint32_t i = 0; i < NAMES; i++)
        picked[i] = i;
    for (uint32_t i = NAMES; i > 1; i--) {
        const uint32_t k = base_rng_below(rng, i), swap = picked[i - 1];
        picked[i - 1] = picked[k];
        picked[k] = swap;
    }
    return 1 + base_rng_below(rng, FIELDS_MAX);
}

static ecs_quant random_quant(base_rng* rng, ecs_field_kind kind) {
    const bool is_number = kind != ECS_FIELD_BOOL && kind != ECS_FIELD_ENTITY;
    if (!is_number || base_rng_below(rng, 2)) return (ecs_quant){0};
    const bool is_signed = kind <= ECS_FIELD_I64 || kind >= ECS_FIELD_F32;
    return (ecs_quant){.bits = (uint8_t)(3 + base_rng_below(rng, 4)),
                       .min = is_signed ? -(double)base_rng_below(rng, 32) : 0,
                       .step = 1};
}

static void make_here(here* self, base_rng* rng) {
    uint32_t picked[NAMES], offset = 0, element = 0;
    self->count = shuffle(rng, picked);
    for (uint32_t i = 0; i < self->count; i++) {
        ecs_field* field = &self->fields[i];
        const ecs_field_kind kind = (ecs_field_kind)base_rng_below(rng, ECS_FIELD_KIND_COUNT);
        offset = (offset + 7) & ~7u;
        *field = (ecs_field){.name = names[picked[i]],
                             .offset = offset,
                             .kind = kind,
                             .count = 1 + base_rng_below(rng, COUNT_MAX),
                             .quant = random_quant(rng, kind)};
        offset += field->count * ecs_field_kind_bytes(kind);
        for (uint32_t k = 0; k < field->count; k++, element++)
            assert_true(proto_quant_make(&self->row[element].quant, (proto_kind)kind,
                                         field->quant.bits, field->quant.min, field->quant.step));
    }
    assert_true(offset <= OBJECT_BYTES && element <= ELEMENTS);
}

// A log's component as its header has it.
static net_log_schema* make_log(base_rng* rng) {
    uint8_t header[1024];
    proto_pb_writer wire = {.data = header, .capacity = sizeof header};
    uint32_t picked[NAMES];
    const uint32_t count = shuffle(rng, picked);
    proto_pb_write_number(&wire, 1, 1);
    proto_pb_write_text(&wire, 2, "component");
    for (uint32_t i = 0; i < count; i++) {
        const size_t mark = wire.size;
        proto_pb_write_text(&wire, 1, names[picked[i]]);
        proto_pb_write_number(&wire, 2, base_rng_below(rng, ECS_FIELD_KIND_COUNT));
        proto_pb_write_number(&wire, 3, 1 + base_rng_below(rng, COUNT_MAX));
        proto_pb_write_end(&wire, mark, 4);
    }
    proto_pb_write_end(&wire, 0, NET_LOG_SCHEMA_COMPONENT);
    proto_pb_write_end(&wire, 0, NET_LOG_HEADER_SCHEMA);
    proto_pb_write_number(&wire, 8, 30);
    proto_pb_write_number(&wire, 9, 1000);
    proto_pb_write_number(&wire, 15, NET_LOG_ROW_CODE);
    assert_false(wire.failed);
    net_log_schema* schema;
    bool has_values;
    assert_ok(net_log_schema_create(NULL, header, wire.size, &has_values, &schema));
    return schema;
}

// The schema of a log with a template that has a float which nothing rounds.
static net_result make_float_log(uint32_t row_code, net_log_schema** schema) {
    uint8_t header[256];
    proto_pb_writer wire = {.data = header, .capacity = sizeof header};
    bool has_values;
    proto_pb_write_number(&wire, 1, 1);
    proto_pb_write_text(&wire, 2, "speed");
    const size_t field = wire.size;
    proto_pb_write_text(&wire, 1, "value");
    proto_pb_write_number(&wire, 2, ECS_FIELD_F32);
    proto_pb_write_number(&wire, 3, 1);
    proto_pb_write_end(&wire, field, 4);
    proto_pb_write_end(&wire, 0, NET_LOG_SCHEMA_COMPONENT);
    const size_t template_ = wire.size;
    proto_pb_write_number(&wire, 1, 1);
    proto_pb_write_text(&wire, 2, "runner");
    const size_t component = wire.size;
    proto_pb_write_number(&wire, 1, 1);
    proto_pb_write_number(&wire, 2, 2);
    proto_pb_write_end(&wire, component, 3);
    proto_pb_write_end(&wire, template_, NET_LOG_SCHEMA_TEMPLATE);
    proto_pb_write_end(&wire, 0, NET_LOG_HEADER_SCHEMA);
    proto_pb_write_number(&wire, 8, 30);
    proto_pb_write_number(&wire, 9, 1000);
    proto_pb_write_number(&wire, 15, row_code);
    assert_false(wire.failed);
    return net_log_schema_create(NULL, header, wire.size, &has_values, schema);
}

CASE(floats_of_a_log_are_elastic_and_another_row_code_is_refused) {
    net_log_schema *schema, *none;
    assert_ok(make_float_log(NET_LOG_ROW_CODE, &schema));
    assert_int_equal(schema->template_count, 1);
    const proto_quant* quant = &schema->rows->numbers[0]->layout.fields[0].quant;
    assert_true(quant->is_exact && quant->is_elastic);
    base_owner_destroy(schema);
    assert_int_equal(make_float_log(NET_LOG_ROW_CODE + 1, &none), NET_ERR_VERSION);
    assert_int_equal(make_float_log(NET_LOG_ROW_CODE - 1, &none), NET_ERR_VERSION);
}

static uint64_t random_word(base_rng* rng) {
    const uint64_t word = base_rng_u64(rng) >> base_rng_below(rng, 64);
    return base_rng_below(rng, 4) ? word : 0 - word;
}

static ecs_number random_value(base_rng* rng, ecs_field_kind kind) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0.5, -0.75, 3.5e38, -0.0};
    uint64_t memory = random_word(rng);
    if (kind == ECS_FIELD_BOOL) memory &= 1;
    if (kind != ECS_FIELD_F32 && kind != ECS_FIELD_F64) return ecs_number_get(kind, &memory);
    double real = base_rng_below(rng, 3) ? (double)(int64_t)memory / 16
                                         : odd[base_rng_below(rng, BASE_COUNT(odd))];
    const float small = fabs(real) < 3e38 || !isfinite(real) ? (float)real : 0.0f;
    const void* source = kind == ECS_FIELD_F32 ? (const void*)&small : (const void*)&real;
    return ecs_number_get(kind, source);
}

// ---- the twin ----

typedef struct limits {
    long double low, high;
} limits;

static limits twin_limits(ecs_field_kind kind) {
    static const limits of[] = {
        [ECS_FIELD_I8] = {INT8_MIN, INT8_MAX},    [ECS_FIELD_I16] = {INT16_MIN, INT16_MAX},
        [ECS_FIELD_I32] = {INT32_MIN, INT32_MAX}, [ECS_FIELD_I64] = {INT64_MIN, INT64_MAX},
        [ECS_FIELD_U8] = {0, UINT8_MAX},          [ECS_FIELD_U16] = {0, UINT16_MAX},
        [ECS_FIELD_U32] = {0, UINT32_MAX},        [ECS_FIELD_U64] = {0, UINT64_MAX},
    };
    return of[kind];
}

// The value of an element here; *is_clamped. Bits of a small integer come in *word.
static void twin_convert(const ecs_number* from, ecs_field_kind kind, const ecs_quant* quant,
                         uint8_t word[8], bool* is_clamped) {
    const long double value = ecs_number_value(from);
    const uint32_t bytes = ecs_field_kind_bytes(kind);
    *is_clamped = false;
    memset(word, 0, 8);
    if (kind == ECS_FIELD_ENTITY) {
        memcpy(word, &from->natural, 4); // little-endian, as all machines that run this
        return;
    }
    if (kind == ECS_FIELD_BOOL) {
        word[0] = value != 0;
        return;
    }
    if (kind == ECS_FIELD_F32) {
        double real = (double)value;
        *is_clamped = isfinite(real) && fabs(real) > 3.4028234663852886e38;
        if (*is_clamped) real = real < 0 ? -3.4028234663852886e38 : 3.4028234663852886e38;
        const float small = (float)real;
        memcpy(word, &small, bytes);
    } else if (kind == ECS_FIELD_F64) {
        const double real = (double)value;
        memcpy(word, &real, bytes);
    } else {
        const limits at = twin_limits(kind);
        const bool is_huge = !(value < 18446744073709551616.0L && value > -18446744073709551616.0L);
        long double whole = isnan(value) ? 0 : value;
        if (!is_huge) whole = value < 0 ? -(long double)(uint64_t)-value : (uint64_t)value;
        *is_clamped = isnan(value) || whole < at.low || whole > at.high;
        if (whole < at.low) whole = at.low;
        if (whole > at.high) whole = at.high;
        const uint64_t bits = whole < 0 ? 0 - (uint64_t)-whole : (uint64_t)whole;
        memcpy(word, &bits, bytes); // little-endian, as all machines that run this
    }
    if (quant->bits == 0) return;
    const double last = quant->min + (double)((UINT64_C(1) << quant->bits) - 1) * quant->step;
    const double real = (double)value;
    if (!(real >= quant->min - 0.5 && real <= last + 0.5)) *is_clamped = true;
}

static const net_log_field* twin_find(const net_log_component* from, const char* name,
                                      uint32_t* position) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < from->field_count; at += from->fields[i++].count) {
        if (strcmp(from->fields[i].name, name) != 0) continue;
        *position = at;
        return &from->fields[i];
    }
    return NULL;
}

// What the object shall be. @return how many were clamped.
static uint32_t twin_apply(const net_log_component* from, const here* to, const ecs_number* values,
                           uint8_t* object) {
    uint32_t clamped = 0, position;
    for (uint32_t i = 0; i < to->count; i++) {
        const ecs_field* field = &to->fields[i];
        const net_log_field* source = twin_find(from, field->name, &position);
        if (!source || (source->kind == ECS_FIELD_ENTITY) != (field->kind == ECS_FIELD_ENTITY))
            continue;
        for (uint32_t k = 0; k < field->count && k < source->count; k++) {
            uint8_t word[8];
            bool is_clamped;
            const uint32_t bytes = ecs_field_kind_bytes(field->kind);
            twin_convert(&values[position + k], field->kind, &field->quant, word, &is_clamped);
            memcpy(object + field->offset + k * bytes, word, bytes);
            clamped += is_clamped;
        }
    }
    return clamped;
}

static const char* const fates[] = {"only here", "not here", "kind", "cannot", "number"};

typedef struct news {
    uint32_t counts[BASE_COUNT(fates)];
} news;

static void count_news(void* context, const char* component, const char* field, const char* fate) {
    assert_true(component && field && field[0]);
    for (uint32_t i = 0; i < BASE_COUNT(fates); i++)
        ((news*)context)->counts[i] += strstr(fate, fates[i]) != NULL;
}

static uint32_t twin_missing(const net_log_component* from, const here* to) {
    uint32_t missing = 0, position;
    for (uint32_t i = 0; i < to->count; i++)
        missing += twin_find(from, to->fields[i].name, &position) == NULL;
    return missing;
}

CASE(every_pair_of_schemas_converts_as_the_twin) {
    base_rng rng = base_rng_make(SEED, 1);
    print_message("seed %d\n", SEED);
    uint32_t clamped_all = 0;
    news told = {0};
    for (uint32_t round = 0; round < 2000; round++) {
        here to;
        make_here(&to, &rng);
        net_log_schema* schema = make_log(&rng);
        const net_log_component* from = net_log_schema_component(schema, 0);
        assert_non_null(from);
        news here_reported = {0};
        net_log_convert_compare(from, to.fields, to.count, count_news, &here_reported);
        const uint32_t missing = twin_missing(from, &to);
        assert_int_equal(here_reported.counts[0], missing);
        assert_int_equal(here_reported.counts[1], from->field_count - (to.count - missing));
        for (uint32_t k = 0; k < 4; k++) {
            ecs_number values[ELEMENTS];
            uint8_t object[OBJECT_BYTES], wanted[OBJECT_BYTES];
            for (uint32_t i = 0, at = 0; i < from->field_count; i++)
                for (uint32_t e = 0; e < from->fields[i].count; e++)
                    values[at++] = random_value(&rng, from->fields[i].kind);
            memset(object, 0xA5, sizeof object);
            memset(wanted, 0xA5, sizeof wanted);
            const uint32_t clamped =
                net_log_convert(from, to.fields, to.count, to.row, values, object);
            assert_int_equal(clamped, twin_apply(from, &to, values, wanted));
            assert_memory_equal(object, wanted, sizeof object);
            clamped_all += clamped;
        }
        for (uint32_t i = 0; i < BASE_COUNT(told.counts); i++)
            told.counts[i] += here_reported.counts[i];
        base_owner_destroy(schema);
    }
    assert_true(clamped_all > 1000);
    for (uint32_t i = 0; i < BASE_COUNT(told.counts); i++)
        assert_true(told.counts[i] > 100);
}

CASE(limits_are_their_own_values) {
    const net_log_field field = {"n", ECS_FIELD_I64, 1, false};
    const net_log_component from = {
        .name = "c", .field_count = 1, .fields = &field, .value_count = 1};
    const ecs_field to = {.name = "n", .kind = ECS_FIELD_I8, .count = 1};
    static const struct {
        int64_t from;
        int8_t to;
        uint32_t clamped;
    } cases[] = {{126, 126, 0},   {127, 127, 0},   {128, 127, 1},        {-127, -127, 0},
                 {-128, -128, 0}, {-129, -128, 1}, {INT64_MIN, -128, 1}, {INT64_MAX, 127, 1}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        int8_t got = 1;
        const ecs_number value = {.kind = ECS_FIELD_I64, .whole = cases[i].from};
        assert_int_equal(net_log_convert(&from, &to, 1, NULL, &value, &got), cases[i].clamped);
        assert_int_equal(got, cases[i].to);
    }
}
