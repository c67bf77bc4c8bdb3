// SPDX-License-Identifier: MIT
// Reading values from text. A list of numbers is read element by element with the field table, so a
// p2, a colour and an array in a struct are the same case. A number that does not fit its kind
// exactly is refused, never clamped or cut.
#include "template/template_set.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/component.h"
#include "ecs/inspect.h"
#include "type/type_registry.h"

#include <string.h>

enum { ELEMENT_BYTES = 64 };
_Static_assert(ECS_TEXT_COLOR_BYTES == 4 * ELEMENT_BYTES, "four elements");

static const char* const kind_words[ECS_FIELD_KIND_COUNT] = {
    [ECS_FIELD_BOOL] = "b",  [ECS_FIELD_I8] = "i",    [ECS_FIELD_I16] = "i",
    [ECS_FIELD_I32] = "i",   [ECS_FIELD_I64] = "i64", [ECS_FIELD_U8] = "u8",
    [ECS_FIELD_U16] = "u16", [ECS_FIELD_U32] = "u32", [ECS_FIELD_U64] = "u64",
    [ECS_FIELD_F32] = "r",   [ECS_FIELD_F64] = "r",   [ECS_FIELD_ENTITY] = "eid",
};

static bool is_int(ecs_field_kind kind) {
    return kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I32;
}

static bool refuse_value(char* message, const char* what, const char* text) {
    (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES, "'%.80s' %s", text, what);
    return false;
}

// Read 0x and 1 to 16 digits.
static bool read_hex(const char* text, uint64_t* value) {
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return false;
    const char* at = text + 2;
    *value = 0;
    for (; *at && at - text < 2 + 16; at++) {
        uint32_t digit = *at >= '0' && *at <= '9'   ? (uint32_t)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (uint32_t)(*at - 'a') + 10
                         : *at >= 'A' && *at <= 'F' ? (uint32_t)(*at - 'A') + 10
                                                    : 16;
        if (digit == 16) return false;
        *value = *value << 4 | digit;
    }
    return *at == '\0' && at > text + 2;
}

// Hexadecimal digits give the bits of a signed number: 0xFFFFFFFF is -1 for 32 bits.
static bool read_hex_signed(const char* text, ecs_field_kind kind, int64_t* value) {
    uint64_t bits;
    uint32_t width = 8 * ecs_field_kind_bytes(kind);
    if (!read_hex(text, &bits) || (width < 64 && bits >> width != 0)) return false;
    uint64_t sign = UINT64_C(1) << (width - 1);
    *value = (int64_t)((bits ^ sign) - sign);
    return true;
}

// Write what was read into an element of that kind, if it holds it.
static bool put_number(const char* text, const ecs_number* number, ecs_field_kind kind,
                       void* target, char* message) {
    uint64_t element;
    if (ecs_number_put(kind, &element, number))
        return refuse_value(message, "is out of range", text);
    memcpy(target, &element, ecs_field_kind_bytes(kind));
    return true;
}

static bool read_signed(const char* text, ecs_field_kind kind, void* target, char* message) {
    ecs_number number = {.kind = ECS_FIELD_I64};
    uint64_t bits;
    if (!read_hex_signed(text, kind, &number.whole) && !base_text_parse_i64(text, &number.whole))
        return refuse_value(
            message, read_hex(text, &bits) ? "is out of range" : "is not a whole number", text);
    return put_number(text, &number, kind, target, message);
}

static bool read_unsigned(const char* text, ecs_field_kind kind, void* target, char* message) {
    ecs_number number = {.kind = ECS_FIELD_U64};
    if (!read_hex(text, &number.natural) && !base_text_parse_u64(text, &number.natural))
        return refuse_value(message, "is not a whole number from 0 up", text);
    return put_number(text, &number, kind, target, message);
}

static bool read_real(const char* text, ecs_field_kind kind, void* target, char* message) {
    ecs_number number = {.kind = ECS_FIELD_F64};
    if (!base_text_parse_f64(text, &number.real))
        return refuse_value(message, "is not a number", text);
    return put_number(text, &number, kind, target, message);
}

static bool read_entity(const char* text, const ecs_world* world, void* target, char* message) {
    ecs_entity entity = ECS_ENTITY_NONE;
    const bool is_none = strcmp(text, "0") == 0 || strcmp(text, "none") == 0;
    if (!is_none && !world)
        return refuse_value(message, "names an entity: a default can only be 0 or none", text);
    if (!is_none && (!ecs_entity_parse(text, &entity) || !ecs_is_alive(world, entity)))
        return refuse_value(message, "is not a living entity: INDEX:GENERATION, or none", text);
    memcpy(target, &entity, sizeof entity);
    return true;
}

static bool read_element(const char* text, ecs_field_kind kind, const ecs_world* world,
                         void* target, char* message) {
    switch (kind) {
    case ECS_FIELD_BOOL: {
        bool value;
        if (!base_text_parse_bool(text, &value))
            return refuse_value(message, "is neither yes nor no", text);
        memcpy(target, &value, 1);
        return true;
    }
    case ECS_FIELD_I8:
    case ECS_FIELD_I16:
    case ECS_FIELD_I32:
    case ECS_FIELD_I64:
        return read_signed(text, kind, target, message);
    case ECS_FIELD_U8:
    case ECS_FIELD_U16:
    case ECS_FIELD_U32:
    case ECS_FIELD_U64:
        return read_unsigned(text, kind, target, message);
    case ECS_FIELD_F32:
    case ECS_FIELD_F64:
        return read_real(text, kind, target, message);
    case ECS_FIELD_ENTITY:
        return read_entity(text, world, target, message);
    case ECS_FIELD_KIND_COUNT:
        break;
    }
    BASE_ASSERT(kind != ECS_FIELD_KIND_COUNT);
    return false;
}

// Copy the next element of a list to `element`. A matrix may use brackets and blanks instead of
// commas. @return false at the end; *fault is set for an element that is empty or too long.
static bool next_element(const char** at, bool is_matrix, char* element, const char** fault) {
    const char* c = *at;
    while (base_text_is_blank(*c) || (is_matrix && *c && strchr("[],", *c)))
        c++;
    if (is_matrix && *c == '\0') return false;
    const char* start = c;
    while (*c && *c != ',' && !(is_matrix && (base_text_is_blank(*c) || *c == '[' || *c == ']')))
        c++;
    const char* end = c;
    while (end > start && base_text_is_blank(end[-1]))
        end--;
    size_t size = (size_t)(end - start);
    if (size == 0) *fault = "a number is missing";
    if (size >= ELEMENT_BYTES) *fault = "a number is too long";
    if (*fault) return false;
    memcpy(element, start, size);
    element[size] = '\0';
    *at = c;
    return true;
}

bool ecs_text_next(ecs_text_list* list, ecs_field_kind kind, void* target, uint32_t needed,
                   char* message) {
    char element[ELEMENT_BYTES];
    const char* fault = NULL;
    // A comma or the end follows an element.
    const bool is_separated = list->count && !list->is_matrix;
    const bool is_over = is_separated && *list->at == '\0';
    if (is_separated && !is_over) list->at++;
    if (is_over || !next_element(&list->at, list->is_matrix, element, &fault)) {
        if (fault)
            (void)base_text_copy(message, ECS_VALUE_MESSAGE_BYTES, fault);
        else
            (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES, "%u values are needed, not %u",
                                   needed, list->count);
        return false;
    }
    list->count++;
    return read_element(element, kind, list->world, target, message);
}

bool ecs_text_ends(ecs_text_list* list, uint32_t needed, char* message) {
    while (base_text_is_blank(*list->at) || (list->is_matrix && *list->at == ']'))
        list->at++;
    if (*list->at == '\0') return true;
    (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES, "%u values are needed, not more",
                           needed);
    return false;
}

static bool read_elements(ecs_text_list* list, const ecs_field* field, void* value, uint32_t needed,
                          char* message) {
    uint32_t bytes = ecs_field_kind_bytes(field->kind);
    for (uint32_t i = 0; i < field->count; i++) {
        uint8_t* target = (uint8_t*)value + field->offset + (size_t)i * bytes;
        if (!ecs_text_next(list, field->kind, target, needed, message)) return false;
    }
    return true;
}

const char* ecs_text_color(const char* text, char opaque[ECS_TEXT_COLOR_BYTES]) {
    uint32_t commas = 0;
    for (const char* c = text; *c; c++)
        commas += *c == ',';
    return commas == 2 && base_text_format(opaque, ECS_TEXT_COLOR_BYTES, "%s,255", text) ? opaque
                                                                                         : text;
}

bool ecs_text_read_builtin(const ecs_type* type, const ecs_type_context* context, const char* text,
                           void* value, char* message) {
    BASE_ASSERT(type && context && text && value && message);
    BASE_ASSERT(type->id <= ECS_BUILTIN_COUNT);
    if (type->id == ECS_ELEMENT_T) {
        size_t size = strlen(text);
        if (size > ECS_STRING_BYTES_MAX) {
            (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES,
                                   "the text has %zu bytes, at most %u are allowed", size,
                                   ECS_STRING_BYTES_MAX);
            return false;
        }
        return ecs_string_set(context->allocator, value, text, (uint32_t)size) == ECS_OK;
    }
    if (type->id == ECS_BUILTIN_TAG) {
        bool is_there;
        if (base_text_parse_bool(text, &is_there) && is_there) return true;
        return refuse_value(message, "is not a value of a tag: write yes, or leave it out", text);
    }
    uint32_t needed = 0;
    for (uint32_t i = 0; i < type->field_count; i++)
        needed += type->fields[i].count;
    ecs_text_list list = {.at = text, .is_matrix = type->id == ECS_ELEMENT_M};
    char opaque_color[ECS_TEXT_COLOR_BYTES];
    if (type->id == ECS_ELEMENT_C) list.at = ecs_text_color(text, opaque_color);
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!read_elements(&list, &type->fields[i], value, needed, message)) return false;
    return ecs_text_ends(&list, needed, message);
}

// May a field of this kind be written as this built-in type? A scalar type may also write arrays.
static bool spelling_fits(const ecs_field* field, ecs_type_id spelling) {
    if (spelling == ECS_TYPE_NONE || spelling > ECS_BUILTIN_TAG) return false;
    const ecs_type* type = ecs_scalar_type(spelling);
    if (type->field_count == 0) return false;
    const ecs_field_kind kind = is_int(field->kind)                   ? ECS_FIELD_I32
                                : ecs_field_kind_is_real(field->kind) ? ECS_FIELD_F32
                                                                      : field->kind;
    const uint32_t count = type->field_count * type->fields[0].count;
    return kind == type->fields[0].kind && (count == 1 || count == field->count);
}

bool ecs_text_read_field(const ecs_field* field, ecs_type_id spelling, const char* text,
                         void* value, char* message) {
    BASE_ASSERT(field && text && value && message);
    if (!spelling_fits(field, spelling)) {
        const bool has_vectors = ecs_field_kind_is_real(field->kind) || is_int(field->kind);
        if (has_vectors && field->count >= 2 && field->count <= 4)
            (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES, "it is written as %s%u",
                                   ecs_field_kind_is_real(field->kind) ? "p" : "ip", field->count);
        else
            (void)base_text_format(message, ECS_VALUE_MESSAGE_BYTES, "it is written as %s",
                                   kind_words[field->kind]);
        return false;
    }
    ecs_text_list list = {.at = text, .is_matrix = spelling == ECS_ELEMENT_M};
    return read_elements(&list, field, value, field->count, message) &&
           ecs_text_ends(&list, field->count, message);
}

// Rounding for the wire, as a text gives it: a range with a step or a number of bits; for whole
// numbers also bits alone. The result is an ecs_quant: smallest value, step, bits.

static bool refuse_range(char* message, const char* text) {
    (void)base_text_copy(message, ECS_VALUE_MESSAGE_BYTES, text);
    return false;
}

// The smallest number of bits that can count from 0 to `top`; 0 when it is more than 32.
static uint8_t bits_for(double top) {
    if (!(top >= 0) || top > 4294967295.0) return 0;
    uint64_t whole = (uint64_t)top;
    // With decimal fractions, (max - min) / step is slightly off the intended whole number.
    if (top - (double)whole > 1e-6) whole++;
    uint8_t bits = 1;
    while (bits < 33 && whole >> bits)
        bits++;
    return bits > 32 ? 0 : bits;
}

static bool finish_int(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->has_step && draft->step != 1)
        return refuse_range(message, "whole numbers have the step 1");
    if (draft->has_bits == draft->has_max)
        return refuse_range(message, "whole numbers need either _bits or _max");
    quant->min = draft->has_min ? draft->min : 0;
    quant->step = 1;
    quant->bits = draft->has_bits ? (uint8_t)draft->bits : bits_for(draft->max - quant->min);
    return true;
}

static bool finish_angle(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->has_min || draft->has_max || draft->has_step)
        return refuse_range(message, "_angle has its own range: -pi to pi");
    quant->min = ECS_ANGLE_MIN;
    quant->bits = (uint8_t)draft->bits;
    quant->step = ECS_ANGLE_STEP(quant->bits);
    return true;
}

static bool finish_real(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->is_angle) return finish_angle(draft, quant, message);
    if (!draft->has_min || !draft->has_max || draft->has_step == draft->has_bits)
        return refuse_range(message, "numbers need _min, _max and either _step or _bits");
    if (draft->has_step && !(draft->step > 0))
        return refuse_range(message, "_step must be above 0");
    quant->min = draft->min;
    quant->bits =
        draft->has_bits ? (uint8_t)draft->bits : bits_for((draft->max - draft->min) / draft->step);
    // An even number of steps over a range that is as long on both sides of 0 has 0 as a value. One
    // bit has no even number.
    const bool is_symmetric = draft->min == -draft->max && quant->bits > 1;
    quant->step = draft->has_step ? draft->step
                                  : (draft->max - draft->min) /
                                        (double)((UINT64_C(1) << quant->bits) - 1 - is_symmetric);
    return true;
}

bool ecs_quant_draft_finish(const ecs_quant_draft* draft, const ecs_type* type, ecs_quant* quant,
                            char* message) {
    BASE_ASSERT(draft && type && quant && message);
    bool has_real = false;
    bool has_int = false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        ecs_field_kind kind = type->fields[i].kind;
        if (ecs_field_kind_is_real(kind))
            has_real = true;
        else if (kind != ECS_FIELD_BOOL && kind != ECS_FIELD_ENTITY)
            has_int = true;
    }
    if (!has_real && !has_int) return refuse_range(message, "this type has no numbers to quantise");
    if (draft->is_angle && !has_real) return refuse_range(message, "_angle is for real numbers");
    if (has_real && has_int)
        return refuse_range(message,
                            "a struct of whole and real numbers is quantised by its fields");
    if (draft->has_bits && (draft->bits < 1 || draft->bits > 32))
        return refuse_range(message, "_bits must be 1 to 32");
    if (draft->has_min && draft->has_max && !(draft->max > draft->min))
        return refuse_range(message, "_max must be above _min");
    if (draft->has_max && !draft->has_min && !(draft->max > 0))
        return refuse_range(message, "_max must be above 0 without _min");
    *quant = (ecs_quant){0};
    if (!(has_real ? finish_real(draft, quant, message) : finish_int(draft, quant, message)))
        return false;
    if (quant->bits == 0) return refuse_range(message, "the range needs more than 32 bits");
    for (uint32_t i = 0; i < type->field_count; i++) {
        ecs_field_kind kind = type->fields[i].kind;
        if (kind == ECS_FIELD_BOOL || kind == ECS_FIELD_ENTITY) continue;
        if (!ecs_quant_is_valid(quant, kind))
            return refuse_range(message, "the range does not fit the type");
    }
    return true;
}
