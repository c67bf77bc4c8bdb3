// SPDX-License-Identifier: MIT
// Structs that are component types or payloads of events, with their fields.
//
//     ES_STRUCT(BreakoutInput) ES_EVENT(pad_input)
//     typedef struct breakout_input {
//         int32_t move ES_QUANT(-127, 1, 8);
//         bool is_launching;
//     } breakout_input;
//
// A field has a type whose size and meaning the core knows. Types that own memory are registered by
// hand.
#include "esgen.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

// Annotations before and after a field: rounding on the wire, and its place in a message.
//
//     int32_t move ES_QUANT(-127, 1, 8) ES_CLAMP(-127, 127);
//     ES_NAME(launch) bool is_launching;
//
// Marks belong to all names of a declaration. message_check finds marks that contradict each
// other.

static const struct {
    const char* name;
    const char* arguments;
    uint32_t argument_count;
} forms[] = {
    {"ES_QUANT", "(min, step, bits)", 3},
    {"ES_ANGLE", "(bits)", 1},
    {"ES_CLAMP", "(min, max)", 2},
    {"ES_RANGE", "(min, max)", 2},
    {"ES_NAME", "(name)", 1},
    {"ES_SETTING", "(default, min, max, \"help\")", 4},
    {"ES_LOCAL", "", 0},
};

// Cut the words between `open` and `close` at commas. @return false when there are not `wanted`
// arguments.
static bool cut_arguments(const esgen_word* open, const esgen_word* close, uint32_t wanted,
                          const esgen_word** starts) {
    uint32_t count = 0;
    bool is_right = true;
    for (const esgen_word *at = open + 1, *next; at <= close; at = next + 1) {
        next = esgen_words_item(at, close);
        if (count == wanted) return false;
        starts[count++] = at;
        is_right &= esgen_words_is_expression(at, next);
    }
    starts[count] = close + 1;
    return is_right && count == wanted;
}

// One annotation. @return the word after it; NULL after a fault.
static const esgen_word* read_mark(esgen_unit* unit, esgen_mark* mark, const esgen_word* at,
                                   const esgen_word* end) {
    uint32_t form = 0;
    while (form < BASE_COUNT(forms) && !esgen_word_is(at, forms[form].name))
        form++;
    if (form == BASE_COUNT(forms)) {
        esgen_fault(unit, at->line, "%.*s is not understood here", (int)at->size, at->text);
        return NULL;
    }
    if (forms[form].argument_count == 0) {
        mark->is_local = true;
        return at + 1;
    }
    const esgen_word* close = at + 1 < end ? esgen_words_match(at + 1, end) : NULL;
    const esgen_word* starts[5];
    bool is_right = close && cut_arguments(at + 1, close, forms[form].argument_count, starts);
    bool is_limit = esgen_word_is(at, "ES_CLAMP") || esgen_word_is(at, "ES_RANGE");
    if (is_right && is_limit && mark->limit != ESGEN_UNLIMITED) {
        esgen_fault(unit, at->line, "a field has one ES_CLAMP or one ES_RANGE");
        return NULL;
    }
    if (is_right && is_limit) {
        mark->limit = esgen_word_is(at, "ES_CLAMP") ? ESGEN_CLAMPED : ESGEN_REFUSED;
        is_right =
            esgen_words_copy(starts[0], starts[1] - 1, mark->min.text, sizeof mark->min.text) &&
            esgen_words_copy(starts[1], starts[2] - 1, mark->max.text, sizeof mark->max.text);
    } else if (is_right && esgen_word_is(at, "ES_QUANT")) {
        is_right = esgen_words_copy(starts[0], close, mark->quant.text, sizeof mark->quant.text);
        mark->has_quant = true;
    } else if (is_right && esgen_word_is(at, "ES_ANGLE")) {
        esgen_text bits;
        is_right = esgen_words_copy(starts[0], close, bits.text, sizeof bits.text) &&
                   base_text_format(mark->quant.text, sizeof mark->quant.text,
                                    "ECS_ANGLE_MIN, ECS_ANGLE_STEP(%s), %s", bits.text, bits.text);
        mark->is_angle = true;
    } else if (is_right && esgen_word_is(at, "ES_SETTING")) {
        is_right = starts[3]->kind == ESGEN_STRING;
        mark->has_setting = is_right && esgen_words_copy(starts[0], close, mark->setting.text,
                                                         sizeof mark->setting.text);
    } else if (is_right) {
        is_right = close - at == 3 && at[2].kind == ESGEN_IDENTIFIER;
        if (is_right && !esgen_name_read(unit, &mark->message_name, at + 2, close)) return NULL;
    }
    if (is_right) return close + 1;
    esgen_fault(unit, at->line, "%s takes %s", forms[form].name, forms[form].arguments);
    return NULL;
}

static void report_misplaced(esgen_unit* unit, const esgen_word* mark) {
    for (uint32_t i = 0; i < BASE_COUNT(forms); i++) {
        if (!esgen_word_is(mark, forms[i].name)) continue;
        esgen_fault(unit, mark->line, "%s%s belongs before or after a field", forms[i].name,
                    forms[i].arguments);
    }
}

// Read the annotations before and after a field's declaration; [first, end) becomes the words
// between them. @return false after a fault.
static bool mark_take(esgen_unit* unit, esgen_mark* mark, const esgen_word** first,
                      const esgen_word** end) {
    *mark = (esgen_mark){.quant = {"0, 0, 0"}};
    const esgen_word* at = *first;
    while (at && at < *end && esgen_word_is_annotation(at))
        at = read_mark(unit, mark, at, *end);
    if (!at) return false;
    *first = at;
    while (at < *end && !esgen_word_is_annotation(at))
        at++;
    const esgen_word* behind = at;
    const esgen_word* last = at;
    while (at && at < *end && esgen_word_is_annotation(at)) {
        last = at;
        at = read_mark(unit, mark, at, *end);
    }
    if (at && at < *end) report_misplaced(unit, last);
    if (!at || at < *end) return false;
    *end = behind;
    return true;
}

bool esgen_field_is_text(const esgen_field* field) {
    return strcmp(field->c_type, "char") == 0;
}

static bool has_message(const esgen_struct* target) {
    for (uint32_t i = 0; i < target->event_count; i++)
        if (target->events[i].message.text[0]) return true;
    return false;
}

static bool is_whole(const esgen_field* field) {
    static const char* const others[] = {"bool", "ecs_entity", "float", "double", "char"};
    for (uint32_t i = 0; i < BASE_COUNT(others); i++)
        if (strcmp(field->c_type, others[i]) == 0) return false;
    return strcmp(field->count.text, "1") == 0;
}

// A range is said once: the limits of a message give the bits of a component's whole number, and
// the rounding of a component gives the limits of a message.
static void complete(esgen_struct* target, bool is_message) {
    for (uint32_t i = 0; i < target->field_count; i++) {
        esgen_field* field = &target->fields[i];
        esgen_mark* mark = &field->mark;
        if (mark->is_local) continue;
        if (mark->limit && !mark->has_quant && target->name.text[0] && is_whole(field)) {
            (void)base_text_format(mark->quant.text, sizeof mark->quant.text,
                                   "%.40s, 1, ES_BITS((%.40s) - (%.40s))", mark->min.text,
                                   mark->max.text, mark->min.text);
        } else if (!mark->limit && mark->has_quant && is_message) {
            mark->limit = ESGEN_CLAMPED;
            size_t size = strcspn(mark->quant.text, ",");
            (void)base_text_format(mark->min.text, sizeof mark->min.text, "%.*s", (int)size,
                                   mark->quant.text);
            (void)base_text_format(mark->max.text, sizeof mark->max.text, "(%s)ES_QUANT_MAX(%.90s)",
                                   field->c_type, mark->quant.text);
        }
    }
}

// A text is an array of char in a message, as a string; nothing else reads it.
static bool is_text_right(const esgen_struct* target, const esgen_field* field) {
    const esgen_mark* mark = &field->mark;
    return has_message(target) && !target->name.text[0] && !mark->is_local && !mark->limit &&
           !mark->has_quant && strcmp(field->count.text, "1") != 0 &&
           !strchr(field->count.text, '*');
}

// Check that the fields of a struct fit its messages, and complete what follows from another mark.
static void message_check(esgen_unit* unit, esgen_struct* target) {
    bool is_message = has_message(target);
    const char* owner = target->c_type.text;
    for (uint32_t i = 0; i < target->field_count; i++) {
        const esgen_field* field = &target->fields[i];
        const esgen_mark* mark = &field->mark;
        bool is_marked = mark->is_local || mark->limit || mark->message_name.text[0];
        bool is_number = strcmp(field->c_type, "bool") && strcmp(field->c_type, "ecs_entity");
        bool is_text = esgen_field_is_text(field);
        if (is_text && !is_text_right(target, field)) {
            esgen_fault(unit, field->line,
                        "%s.%s: a char is a text of a message: char %s[BYTES], without limits, in "
                        "the payload of an event that is no component",
                        owner, field->name.text, field->name.text);
        } else if (is_marked && !is_message) {
            esgen_fault(unit, field->line,
                        "%s.%s is marked for a message, but there is none: say ES_MESSAGE(type) "
                        "after ES_EVENT",
                        owner, field->name.text);
        } else if (is_message && !is_text && !mark->is_local &&
                   strcmp(field->count.text, "1") != 0) {
            esgen_fault(unit, field->line,
                        "%s.%s: a message has no vectors and arrays: make its parts fields of "
                        "their own, or say ES_LOCAL",
                        owner, field->name.text);
        } else if (mark->limit && !is_number) {
            esgen_fault(unit, field->line, "%s.%s: ES_CLAMP and ES_RANGE are for numbers", owner,
                        field->name.text);
        } else if (mark->is_angle && strcmp(field->c_type, "float") &&
                   strcmp(field->c_type, "double")) {
            esgen_fault(unit, field->line, "%s.%s: ES_ANGLE is for float and double", owner,
                        field->name.text);
        }
    }
    complete(target, is_message);
}

static const struct {
    const char* c_type;
    const char* kind;
    uint32_t count;
} field_types[] = {
    {"bool", "ECS_FIELD_BOOL", 1},     {"int8_t", "ECS_FIELD_I8", 1},
    {"int16_t", "ECS_FIELD_I16", 1},   {"int32_t", "ECS_FIELD_I32", 1},
    {"int64_t", "ECS_FIELD_I64", 1},   {"uint8_t", "ECS_FIELD_U8", 1},
    {"uint16_t", "ECS_FIELD_U16", 1},  {"uint32_t", "ECS_FIELD_U32", 1},
    {"uint64_t", "ECS_FIELD_U64", 1},  {"float", "ECS_FIELD_F32", 1},
    {"double", "ECS_FIELD_F64", 1},    {"ecs_entity", "ECS_FIELD_ENTITY", 1},
    {"ecs_vec2", "ECS_FIELD_F32", 2},  {"ecs_vec3", "ECS_FIELD_F32", 3},
    {"ecs_vec4", "ECS_FIELD_F32", 4},  {"ecs_ivec2", "ECS_FIELD_I32", 2},
    {"ecs_ivec3", "ECS_FIELD_I32", 3}, {"ecs_ivec4", "ECS_FIELD_I32", 4},
    {"ecs_color", "ECS_FIELD_U8", 4},  {"ecs_matrix", "ECS_FIELD_F32", 12},
    {"ecs_tick", "ECS_FIELD_U64", 1},  {"char", "ECS_FIELD_U8", 1}, // a text of a message
};

static void report_type(esgen_unit* unit, const char* owner, const esgen_word* type) {
    const char* better = esgen_sized_type(type);
    if (better)
        esgen_fault(unit, type->line, "%s: the size of %.*s depends on the machine: say %s", owner,
                    (int)type->size, type->text, better);
    else
        esgen_fault(
            unit, type->line,
            "%s: no field can be a %.*s: take bool, a number like int32_t or float, ecs_entity, "
            "a vector, or register the struct by hand",
            owner, (int)type->size, type->text);
}

// Read one of "x, y[3]": its name, then its dimensions.
static void read_declarator(esgen_unit* unit, esgen_struct* target, uint32_t type,
                            const esgen_mark* mark, const esgen_word* first,
                            const esgen_word* end) {
    const char* owner = target->c_type.text;
    if (first >= end || first->kind != ESGEN_IDENTIFIER ||
        (first + 1 < end && !esgen_word_is(first + 1, "["))) {
        esgen_fault(unit, first->line,
                    "%s: a field is a type and names, with [count] for an array: no pointers, no "
                    "bits, no structs",
                    owner);
        return;
    }
    if (target->field_count == ESGEN_FIELDS_MAX) {
        esgen_fault(unit, first->line, "%s has more than %u fields", owner, ESGEN_FIELDS_MAX);
        return;
    }
    esgen_field* field = &target->fields[target->field_count];
    memset(field, 0, sizeof *field);
    if (!esgen_name_read(unit, &field->name, first, first + 1)) return;
    field->kind = field_types[type].kind;
    field->line = first->line;
    field->c_type = field_types[type].c_type;
    field->mark = *mark;
    uint32_t count = field_types[type].count;
    base_bytes text;
    base_bytes_init(&text, NULL);
    if (count > 1 || first + 1 == end) esgen_put(&text, "%u", count);
    bool is_right = true;
    for (const esgen_word* at = first + 1; at < end; at++) {
        const esgen_word* close = at + 1;
        while (close < end && !esgen_word_is(close, "]") && !esgen_word_is(close, "["))
            close++;
        esgen_text size;
        is_right = esgen_word_is(at, "[") && close < end && esgen_word_is(close, "]") &&
                   esgen_words_is_expression(at + 1, close) &&
                   esgen_words_copy(at + 1, close, size.text, sizeof size.text);
        if (!is_right) break;
        bool is_word = close == at + 2;
        esgen_put(&text, is_word ? "%s%s" : "%s(%s)", text.size ? " * " : "", size.text);
        at = close;
    }
    is_right = is_right && !text.failed && text.size < sizeof field->count.text;
    if (is_right) {
        memcpy(field->count.text, text.data, text.size);
        target->field_count++;
    } else {
        esgen_fault(unit, first->line, "%s: the count of an array is not understood", owner);
    }
    base_bytes_deinit(&text);
}

static uint32_t find_field_type(const esgen_word* word) {
    uint32_t type = 0;
    while (type < BASE_COUNT(field_types) && !esgen_word_is(word, field_types[type].c_type))
        type++;
    return type;
}

// Read one declaration without its ';'.
static void read_field(esgen_unit* unit, esgen_struct* target, const esgen_word* first,
                       const esgen_word* end) {
    esgen_mark mark;
    const esgen_word* begin = first;
    const esgen_word* until = end;
    if (!mark_take(unit, &mark, &begin, &until)) return;
    while (begin < until && (esgen_word_is(begin, "const") || esgen_word_is(begin, "volatile")))
        begin++;
    if (begin >= until) return;
    uint32_t type = find_field_type(begin);
    if (type == BASE_COUNT(field_types)) {
        report_type(unit, target->c_type.text, begin);
        return;
    }
    for (const esgen_word *at = begin + 1, *next; at <= until; at = next + 1) {
        next = esgen_words_item(at, until);
        read_declarator(unit, target, type, &mark, at, next);
    }
}

void esgen_fields_read(esgen_unit* unit, esgen_struct* target, const esgen_word* first,
                       const esgen_word* end) {
    const esgen_word* begin = first;
    for (const esgen_word* at = first; at < end; at++) {
        if (esgen_word_is(at, "{")) {
            esgen_fault(unit, at->line, "%s: a struct or union inside is registered by hand",
                        target->c_type.text);
            return;
        }
        if (!esgen_word_is(at, ";")) continue;
        read_field(unit, target, begin, at);
        begin = at + 1;
    }
    if (target->field_count == 0 && unit->fault_count == 0)
        esgen_fault(unit, target->line, "%s has no fields", target->c_type.text);
}

// ES_STRUCT(Name), (Name, boxed) or (Name, request = function).
static bool read_struct_name(esgen_unit* unit, esgen_struct* target, const esgen_word* open,
                             const esgen_word* close) {
    const esgen_word* comma = esgen_words_item(open + 1, close);
    if (!esgen_name_read(unit, &target->name, open + 1, comma)) return false;
    if (comma == close) return true;
    target->is_boxed = close - comma == 2 && esgen_word_is(comma + 1, "boxed");
    if (target->is_boxed) return true;
    bool is_request = close - comma == 4 && esgen_word_is(comma + 1, "request") &&
                      esgen_word_is(comma + 2, "=") && comma[3].kind == ESGEN_IDENTIFIER;
    if (is_request) return esgen_name_read(unit, &target->request, comma + 3, close);
    return esgen_fault(unit, open->line,
                       "ES_STRUCT takes (Name), (Name, boxed) or (Name, request = function)");
}

static bool read_event(esgen_unit* unit, esgen_struct* target, const esgen_word* open,
                       const esgen_word* close) {
    const esgen_word* comma = esgen_words_item(open + 1, close);
    bool is_exported = close - comma == 2 && esgen_word_is(comma + 1, "exported");
    if (comma < close && !is_exported)
        return esgen_fault(unit, open->line, "ES_EVENT takes (name) or (name, exported)");
    if (target->event_count == ESGEN_STRUCT_EVENTS_MAX)
        return esgen_fault(unit, open->line, "more than %u events with one payload",
                           ESGEN_STRUCT_EVENTS_MAX);
    esgen_struct_event* event = &target->events[target->event_count];
    event->is_exported = is_exported;
    if (!esgen_name_read(unit, &event->name, open + 1, comma)) return false;
    target->event_count++;
    return true;
}

// ES_MESSAGE(Game__Hit, reliable): the C type, and words about the way.
static bool read_message_words(esgen_struct_event* event, const esgen_word* comma,
                               const esgen_word* close) {
    for (; comma < close; comma += 2) {
        if (close - comma < 2 || !esgen_word_is(comma, ",")) return false;
        bool* flag = esgen_word_is(comma + 1, "input")      ? &event->is_input
                     : esgen_word_is(comma + 1, "reliable") ? &event->is_reliable
                     : esgen_word_is(comma + 1, "late")     ? &event->is_late
                     : esgen_word_is(comma + 1, "kept")     ? &event->is_kept
                                                            : NULL;
        if (!flag || *flag) return false;
        *flag = true;
    }
    return true;
}

static bool read_message(esgen_unit* unit, esgen_struct* target, const esgen_word* open,
                         const esgen_word* close) {
    esgen_struct_event* event =
        target->event_count ? &target->events[target->event_count - 1] : NULL;
    if (!event || event->message.text[0])
        return esgen_fault(unit, open->line,
                           "ES_MESSAGE belongs after an ES_EVENT, which it is sent as");
    if (close - open < 2 || open[1].kind != ESGEN_IDENTIFIER ||
        !read_message_words(event, open + 2, close))
        return esgen_fault(
            unit, open->line,
            "ES_MESSAGE takes the C type of a protobuf message (Game__Hit for message Hit "
            "of package game), then input, kept, reliable or late");
    if (event->is_kept && !(event->is_input && target->name.text[0]))
        return esgen_fault(
            unit, open->line,
            "only an input is kept, and its payload is a component too: ES_STRUCT(Name)");
    if (strpbrk(event->name.text, ".-+:<>@"))
        return esgen_fault(
            unit, open->line,
            "event '%s' has a message, so its name must be a name in C: functions have it",
            event->name.text);
    return esgen_name_read(unit, &event->message, open + 1, open + 2);
}

// ES_SOUND("hit.wav", 0.8, 70): the file, the volume, how far it is heard.
static bool read_sound(esgen_unit* unit, esgen_struct* target, const esgen_word* open,
                       const esgen_word* close) {
    esgen_struct_event* event =
        target->event_count ? &target->events[target->event_count - 1] : NULL;
    if (!event || event->sound.text[0])
        return esgen_fault(unit, open->line,
                           "one ES_SOUND belongs after an ES_EVENT, which it is heard of");
    uint32_t commas = 0;
    for (const esgen_word* at = open + 1; at < close; at++)
        commas += esgen_word_is(at, ",");
    if (open[1].kind != ESGEN_STRING || !esgen_word_is(open + 2, ",") || commas > 2 ||
        close - open < 2 + 2 * (int)commas ||
        !esgen_words_copy(open + 1, close, event->sound.text, sizeof event->sound.text))
        return esgen_fault(
            unit, open->line,
            "ES_SOUND takes a file of assets/, a volume of 0 to 1, and how far it is heard: "
            "ES_SOUND(\"hit.wav\", 0.8) is heard everywhere, ES_SOUND(\"hit.wav\", 0.8, 70) "
            "fades");
    return true;
}

static bool is_struct_annotation(const esgen_word* word) {
    return esgen_word_is(word, "ES_STRUCT") || esgen_word_is(word, "ES_EVENT") ||
           esgen_word_is(word, "ES_MESSAGE") || esgen_word_is(word, "ES_SOUND");
}

static bool push_struct(esgen_unit* unit, const esgen_struct* made) {
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        if (strcmp(unit->structs[i].c_type.text, made->c_type.text) == 0) return true;
    }
    if (unit->struct_count == ESGEN_STRUCTS_MAX)
        return esgen_fault(unit, made->line, "more than %u structs to register", ESGEN_STRUCTS_MAX);
    if (!BASE_ARRAY_RESERVE(NULL, unit->structs, unit->struct_capacity, unit->struct_count + 1))
        return esgen_fault(unit, made->line, "out of memory");
    unit->structs[unit->struct_count] = *made;
    unit->structs[unit->struct_count++].file = unit->file;
    return true;
}

static void add_type(esgen_unit* unit, uint32_t line, const esgen_type* type) {
    for (uint32_t i = 0; i < unit->type_count; i++) {
        if (strcmp(unit->types[i].c_type.text, type->c_type.text) == 0) return;
    }
    if (unit->type_count == ESGEN_TYPES_MAX)
        esgen_fault(unit, line, "more than %u C types have names", ESGEN_TYPES_MAX);
    else
        unit->types[unit->type_count++] = *type;
}

static const esgen_word* closing_brace(const esgen_word* open, const esgen_word* end) {
    uint32_t depth = 0;
    for (const esgen_word* at = open; at < end; at++) {
        depth += esgen_word_is(at, "{");
        if (esgen_word_is(at, "}") && --depth == 0) return at;
    }
    return NULL;
}

const esgen_word* esgen_typedef_find(esgen_unit* unit, uint32_t line, const esgen_word* at,
                                     const esgen_word* end, const char* kind, const char* mark,
                                     esgen_name* name, const esgen_word** close) {
    const esgen_word* open = at;
    while (open < end && open - at < 4 && !esgen_word_is(open, "{"))
        open++;
    *close = open < end && esgen_word_is(open, "{") ? closing_brace(open, end) : NULL;
    bool is_typedef = *close && esgen_word_is(at, "typedef") && esgen_word_is(at + 1, kind) &&
                      end - *close > 2 && (*close)[1].kind == ESGEN_IDENTIFIER &&
                      esgen_word_is(*close + 2, ";");
    if (is_typedef && esgen_name_read(unit, name, *close + 1, *close + 2)) return open;
    if (!is_typedef) esgen_fault(unit, line, "%s before typedef %s name {...} name;", mark, kind);
    return NULL;
}

// Read a struct from its first annotation `at` on. @return the word after it.
static const esgen_word* read_struct(esgen_unit* unit, const esgen_word* at, const esgen_word* end,
                                     bool is_near) {
    esgen_struct* made = calloc(1, sizeof *made);
    if (!made) {
        esgen_fault(unit, at->line, "out of memory");
        return end;
    }
    made->line = at->line;
    bool is_right = true;
    while (is_right && at < end && is_struct_annotation(at)) {
        const esgen_word* close = esgen_words_close(unit, at, end);
        if (!close) {
            is_right = false;
        } else if (esgen_word_is(at, "ES_STRUCT")) {
            is_right = read_struct_name(unit, made, at + 1, close);
        } else if (esgen_word_is(at, "ES_EVENT")) {
            is_right = read_event(unit, made, at + 1, close);
        } else if (esgen_word_is(at, "ES_SOUND")) {
            is_right = read_sound(unit, made, at + 1, close);
        } else {
            is_right = read_message(unit, made, at + 1, close);
        }
        at = close ? close + 1 : at + 1;
    }
    const esgen_word* close = NULL;
    const esgen_word* open =
        is_right ? esgen_typedef_find(unit, made->line, at, end, "struct",
                                      "ES_STRUCT and ES_EVENT belong", &made->c_type, &close)
                 : NULL;
    if (open) {
        esgen_type type = {made->c_type, made->name};
        if (made->name.text[0] && !made->is_boxed) add_type(unit, made->line, &type);
        if (is_near) {
            esgen_fields_read(unit, made, open + 1, close);
            message_check(unit, made);
            (void)push_struct(unit, made);
        }
        at = close;
    }
    free(made);
    return at;
}

static void read_type(esgen_unit* unit, const esgen_word* open, const esgen_word* close) {
    const esgen_word* first = open + 1;
    const esgen_word* comma = esgen_words_item(first, close);
    if (first < comma && esgen_word_is(first, "struct")) first++;
    esgen_type type;
    if (comma >= close || first >= comma || comma + 1 >= close) {
        esgen_fault(unit, open->line, "ES_TYPE takes a C type and the name it is registered by");
    } else if (esgen_name_read(unit, &type.c_type, first, comma) &&
               esgen_name_read(unit, &type.name, comma + 1, close)) {
        add_type(unit, open->line, &type);
    }
}

const esgen_word* esgen_type_read(esgen_unit* unit, const esgen_word* at, const esgen_word* end,
                                  bool is_near) {
    BASE_ASSERT(unit && at < end);
    if (is_struct_annotation(at)) return read_struct(unit, at, end, is_near);
    if (!esgen_word_is(at, "ES_TYPE") || !esgen_word_is(at + 1, "(")) return at;
    const esgen_word* close = esgen_words_match(at + 1, end);
    if (!close) {
        esgen_fault(unit, at->line, "this ( is never closed");
        return end;
    }
    read_type(unit, at + 1, close);
    return close + 1;
}
