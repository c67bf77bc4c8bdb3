// SPDX-License-Identifier: MIT
// What each parameter of a system is bound to: by its name, its C type and its annotations.
#include "esgen.h"

#include "base/text.h"

#include <string.h>

static const esgen_type builtin_types[] = {
    {{"bool"}, {"b"}},
    {{"int32_t"}, {"i"}},
    {{"int64_t"}, {"i64"}},
    {{"uint8_t"}, {"u8"}},
    {{"uint16_t"}, {"u16"}},
    {{"uint32_t"}, {"u32"}},
    {{"uint64_t"}, {"u64"}},
    {{"float"}, {"r"}},
    {{"ecs_vec2"}, {"p2"}},
    {{"ecs_vec3"}, {"p3"}},
    {{"ecs_vec4"}, {"p4"}},
    {{"ecs_ivec2"}, {"ip2"}},
    {{"ecs_ivec3"}, {"ip3"}},
    {{"ecs_ivec4"}, {"ip4"}},
    {{"ecs_color"}, {"c"}},
    {{"ecs_matrix"}, {"m"}},
    {{"ecs_string"}, {"t"}},
    {{"ecs_entity"}, {"eid"}},
    {{"ecs_object"}, {"object"}},
    {{"ecs_array"}, {"array"}},
};

static const char* find_type(const esgen_unit* unit, const char* c_type) {
    for (uint32_t i = 0; i < unit->type_count; i++) {
        if (strcmp(unit->types[i].c_type.text, c_type) == 0) return unit->types[i].name.text;
    }
    for (uint32_t i = 0; i < BASE_COUNT(builtin_types); i++) {
        if (strcmp(builtin_types[i].c_type.text, c_type) == 0) return builtin_types[i].name.text;
    }
    return NULL;
}

// "brick__pos" -> "brick.pos".
static void name_component(esgen_param* param) {
    if (param->component.text[0]) return;
    char* target = param->component.text;
    for (const char* at = param->name.text; *at; at++) {
        bool is_dot = at[0] == '_' && at[1] == '_' && at != param->name.text && at[2];
        *target++ = is_dot ? '.' : *at;
        if (is_dot) at++;
    }
    *target = '\0';
}

static bool is_name(const esgen_param* param, const char* a, const char* b) {
    return strcmp(param->name.text, a) == 0 || strcmp(param->name.text, b) == 0;
}

static void bind_component(esgen_unit* unit, const esgen_function* function, esgen_param* param) {
    param->kind = ESGEN_COMPONENT;
    name_component(param);
    const char* type = find_type(unit, param->type.text);
    if (!type) {
        esgen_fault(unit, param->line,
                    "%s: no component type is a %s (parameter %s): say ES_TYPE(%s, Name), or "
                    "ES_CONTEXT before it",
                    function->name.text, param->type.text, param->name.text, param->type.text);
        return;
    }
    (void)base_text_copy(param->component_type.text, sizeof param->component_type.text, type);
    if (param->is_optional && !param->is_pointer) {
        esgen_fault(unit, param->line,
                    "%s: ES_OPTIONAL is for pointers: %s by value takes "
                    "ES_DEFAULT(value)",
                    function->name.text, param->name.text);
    }
    if (param->has_default && param->is_pointer) {
        esgen_fault(unit, param->line,
                    "%s: ES_DEFAULT is for parameters by value: pointer %s takes "
                    "ES_OPTIONAL",
                    function->name.text, param->name.text);
    }
    if (function->is_span && !param->is_pointer) {
        esgen_fault(unit, param->line, "%s: with ES_SPAN %s is an array: take a pointer",
                    function->name.text, param->name.text);
    }
}

static void bind(esgen_unit* unit, const esgen_function* function, esgen_param* param) {
    if (param->kind == ESGEN_CONTEXT) {
        if (!param->is_pointer && function->kind != ESGEN_QUERY) {
            esgen_fault(unit, param->line, "%s: the context %s must be a pointer",
                        function->name.text, param->name.text);
        }
    } else if (strcmp(param->type.text, "ecs_stage") == 0) {
        param->kind = ESGEN_STAGE;
        if (function->kind == ESGEN_QUERY) {
            esgen_fault(unit, param->line,
                        "%s: a query runs outside of stages: hand the stage on as "
                        "ES_CONTEXT",
                        function->name.text);
        }
    } else if (strcmp(param->type.text, "ecs_event") == 0) {
        param->kind = ESGEN_EVENT;
    } else if (function->kind == ESGEN_HANDLER && is_name(param, "event", "payload") &&
               param->is_pointer && param->is_const) {
        param->kind = ESGEN_PAYLOAD;
    } else if (strcmp(param->type.text, "ecs_entity") == 0 && is_name(param, "entity", "eid")) {
        param->kind = ESGEN_ENTITY;
    } else if (function->is_span && is_name(param, "count", "count")) {
        param->kind = ESGEN_COUNT;
    } else {
        bind_component(unit, function, param);
    }
    if (param->kind == ESGEN_EVENT && function->kind != ESGEN_HANDLER)
        esgen_fault(unit, param->line, "%s gets no event", function->name.text);
    if (param->kind == ESGEN_ENTITY && function->is_span != param->is_pointer) {
        esgen_fault(unit, param->line, "%s: %s is %s", function->name.text, param->name.text,
                    function->is_span ? "an array here: take const ecs_entity*" : "a value");
    }
}

// @return the last word of the annotation.
static const esgen_word* take_annotation(esgen_unit* unit, esgen_param* param, const esgen_word* at,
                                         const esgen_word* end) {
    if (esgen_word_is(at, "ES_OPTIONAL")) {
        param->is_optional = true;
        return at;
    }
    if (esgen_word_is(at, "ES_CONTEXT")) {
        param->kind = ESGEN_CONTEXT;
        return at;
    }
    const esgen_word* close =
        at + 1 < end && esgen_word_is(at + 1, "(") ? esgen_words_match(at + 1, end) : NULL;
    bool is_taken = false;
    if (close && esgen_word_is(at, "ES_NAME")) {
        is_taken =
            esgen_words_join(at + 2, close, param->component.text, sizeof param->component.text) &&
            param->component.text[0];
    } else if (close && esgen_word_is(at, "ES_DEFAULT")) {
        // As written, with the blanks that C needs.
        size_t size = (size_t)(close->text - at[2].text);
        is_taken = close > at + 2 && size < sizeof param->default_text;
        if (is_taken) {
            memcpy(param->default_text, at[2].text, size);
            param->default_text[size] = '\0';
        }
        param->has_default = true;
    }
    if (!is_taken) {
        esgen_fault(unit, at->line, "%.*s is not understood here", (int)at->size, at->text);
    }
    return close ? close : at;
}

static void take_param(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                       const esgen_word* end) {
    if (function->param_count == ESGEN_PARAMS_MAX) {
        esgen_fault(unit, first->line, "%s has more than %u parameters", function->name.text,
                    ESGEN_PARAMS_MAX);
        return;
    }
    esgen_param* param = &function->params[function->param_count];
    memset(param, 0, sizeof *param);
    param->kind = ESGEN_COMPONENT;
    param->line = first->line;
    const esgen_word* type = NULL;
    const esgen_word* name = NULL;
    uint32_t stars = 0;
    bool is_plain = true;
    for (const esgen_word* at = first; at < end; at++) {
        if (at->size > 3 && memcmp(at->text, "ES_", 3) == 0) {
            at = take_annotation(unit, param, at, end);
        } else if (esgen_word_is(at, "const")) {
            param->is_const |= stars == 0;
        } else if (esgen_word_is(at, "restrict") || esgen_word_is(at, "struct")) {
            continue;
        } else if (esgen_word_is(at, "*")) {
            stars++;
        } else if (at->kind == ESGEN_IDENTIFIER && !type) {
            type = at;
        } else if (at->kind == ESGEN_IDENTIFIER && !name) {
            name = at;
        } else {
            is_plain = false;
        }
    }
    if (!type || !name || !is_plain || stars > 1 || type->size >= ESGEN_NAME_BYTES_MAX ||
        name->size >= ESGEN_NAME_BYTES_MAX) {
        esgen_fault(unit, first->line,
                    "%s: a parameter is a type, at most one star and a name, as in const ecs_vec2* "
                    "pos",
                    function->name.text);
        return;
    }
    param->is_pointer = stars == 1;
    param->is_const |= stars == 0;
    memcpy(param->type.text, type->text, type->size);
    memcpy(param->name.text, name->text, name->size);
    bind(unit, function, param);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* other = &function->params[i];
        if (param->kind == ESGEN_COMPONENT && other->kind == ESGEN_COMPONENT &&
            strcmp(param->component.text, other->component.text) == 0) {
            esgen_fault(unit, param->line, "%s asks for component %s twice", function->name.text,
                        param->component.text);
        }
    }
    function->param_count++;
}

void esgen_params_parse(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                        const esgen_word* end) {
    if (first == end || (end - first == 1 && esgen_word_is(first, "void"))) return;
    uint32_t depth = 0;
    const esgen_word* begin = first;
    for (const esgen_word* at = first; at <= end; at++) {
        if (at < end && esgen_word_is(at, "(")) depth++;
        if (at < end && esgen_word_is(at, ")")) depth--;
        if (at < end && (depth > 0 || !esgen_word_is(at, ","))) continue;
        if (begin < at) take_param(unit, function, begin, at);
        begin = at + 1;
    }
}
