// SPDX-License-Identifier: MIT
// Annotations before and behind a field: rounding on the wire, and its place in a message.
//
//     int32_t move ES_QUANT(-127, 1, 8) ES_CLAMP(-127, 127);
//     ES_NAME(launch) bool is_launching;
//
// Marks belong to all names of a declaration. esgen_message_check finds marks that contradict each
// other.
#include "esgen.h"

#include "base/text.h"

#include <string.h>

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
    uint32_t count = 0, depth = 0;
    starts[count++] = open + 1;
    for (const esgen_word* at = open + 1; at < close; at++) {
        depth += esgen_word_is(at, "(");
        depth -= esgen_word_is(at, ")");
        if (depth > 0 || !esgen_word_is(at, ",")) continue;
        if (count == wanted) return false;
        starts[count++] = at + 1;
    }
    starts[count] = close + 1;
    bool is_right = count == wanted;
    for (uint32_t i = 0; is_right && i < wanted; i++)
        is_right = esgen_words_is_expression(starts[i], starts[i + 1] - 1);
    return is_right;
}

static bool copy_limits(esgen_mark* mark, esgen_limit limit, const esgen_word** starts) {
    mark->limit = limit;
    return esgen_words_copy(starts[0], starts[1] - 1, mark->min.text, sizeof mark->min.text) &&
           esgen_words_copy(starts[1], starts[2] - 1, mark->max.text, sizeof mark->max.text);
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
    const esgen_word* close =
        at + 1 < end && esgen_word_is(at + 1, "(") ? esgen_words_match(at + 1, end) : NULL;
    const esgen_word* starts[5];
    bool is_right = close && cut_arguments(at + 1, close, forms[form].argument_count, starts);
    bool is_limit = esgen_word_is(at, "ES_CLAMP") || esgen_word_is(at, "ES_RANGE");
    if (is_right && is_limit && mark->limit != ESGEN_UNLIMITED) {
        esgen_fault(unit, at->line, "a field has one ES_CLAMP or one ES_RANGE");
        return NULL;
    }
    if (is_right && is_limit) {
        esgen_limit limit = esgen_word_is(at, "ES_CLAMP") ? ESGEN_CLAMPED : ESGEN_REFUSED;
        is_right = copy_limits(mark, limit, starts);
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
        esgen_fault(unit, mark->line, "%s%s stands before or behind a field", forms[i].name,
                    forms[i].arguments);
    }
}

bool esgen_mark_take(esgen_unit* unit, esgen_mark* mark, const esgen_word** first,
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

static bool has_message(const esgen_struct* target) {
    for (uint32_t i = 0; i < target->event_count; i++)
        if (target->events[i].message.text[0]) return true;
    return false;
}

static bool is_whole(const esgen_field* field) {
    static const char* const others[] = {"bool", "ecs_entity", "float", "double"};
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

void esgen_message_check(esgen_unit* unit, esgen_struct* target) {
    bool is_message = has_message(target);
    const char* owner = target->c_type.text;
    for (uint32_t i = 0; i < target->field_count; i++) {
        const esgen_field* field = &target->fields[i];
        const esgen_mark* mark = &field->mark;
        bool is_marked = mark->is_local || mark->limit || mark->message_name.text[0];
        bool is_number = strcmp(field->c_type, "bool") && strcmp(field->c_type, "ecs_entity");
        if (is_marked && !is_message) {
            esgen_fault(unit, field->line,
                        "%s.%s is marked for a message, but there is none: say ES_MESSAGE(type) "
                        "behind ES_EVENT",
                        owner, field->name.text);
        } else if (is_message && !mark->is_local && strcmp(field->count.text, "1") != 0) {
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
