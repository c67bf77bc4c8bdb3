// SPDX-License-Identifier: MIT
// Binds each parameter of a system, by its name, its C type and its annotations.
#include "esgen.h"

#include "base/assert.h"
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

#define ELEMENT_TYPES (BASE_COUNT(builtin_types) - 2) ///< a list holds no object and no array

static const char* find_type(const esgen_unit* unit, const char* c_type) {
    for (uint32_t i = 0; i < unit->type_count; i++) {
        if (strcmp(unit->types[i].c_type.text, c_type) == 0) return unit->types[i].name.text;
    }
    for (uint32_t i = 0; i < BASE_COUNT(builtin_types); i++) {
        if (strcmp(builtin_types[i].c_type.text, c_type) == 0) return builtin_types[i].name.text;
    }
    return NULL;
}

const char* esgen_sized_type(const esgen_word* word) {
    static const char* const types[][2] = {
        {"int", "int32_t"},     {"unsigned", "uint32_t"}, {"signed", "int32_t"},
        {"short", "int16_t"},   {"long", "int64_t"},      {"char", "int8_t or uint8_t"},
        {"size_t", "uint64_t"}, {"_Bool", "bool"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(types); i++)
        if (esgen_word_is(word, types[i][0])) return types[i][1];
    return NULL;
}

uint32_t esgen_term_count(const esgen_function* function) {
    BASE_ASSERT(function->param_count <= ESGEN_PARAMS_MAX);
    uint32_t count = function->require.count + function->require_not.count + function->any.count;
    for (uint32_t i = 0; i < function->param_count; i++)
        count += function->params[i].kind == ESGEN_COMPONENT;
    return count + function->is_only;
}

bool esgen_takes_runs(const esgen_function* function) {
    return function->kind == ESGEN_HANDLER && function->events.count > 0 && !function->is_span &&
           esgen_term_count(function) > 0;
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

// "list<p2>" of ES_LIST(p2).
static void bind_list(esgen_unit* unit, const esgen_function* function, esgen_param* param) {
    const char* element = param->element.text;
    uint32_t which = 0;
    while (which < ELEMENT_TYPES && strcmp(builtin_types[which].name.text, element) != 0)
        which++;
    if (which < ELEMENT_TYPES) {
        (void)base_text_format(param->component_type.text, sizeof param->component_type.text,
                               "list<%s>", element);
    } else if (element[0]) {
        esgen_fault(unit, param->line, "%s: there is no list<%s>", function->name.text, element);
    } else {
        esgen_fault(unit, param->line, "%s: say what list %s holds: ES_LIST(p2), for example",
                    function->name.text, param->name.text);
    }
}

static void bind_type(esgen_unit* unit, const esgen_function* function, esgen_param* param) {
    bool is_list = strcmp(param->type.text, "ecs_list") == 0;
    if (is_list) {
        bind_list(unit, function, param);
        return;
    }
    const char* type = find_type(unit, param->type.text);
    if (!type) {
        esgen_fault(unit, param->line,
                    "%s: no component type is a %s (parameter %s): say ES_TYPE(%s, Name), or "
                    "ES_CONTEXT before it",
                    function->name.text, param->type.text, param->name.text, param->type.text);
        return;
    }
    (void)base_text_copy(param->component_type.text, sizeof param->component_type.text, type);
    if (param->element.text[0]) {
        esgen_fault(unit, param->line, "%s: ES_LIST is for parameters of type ecs_list",
                    function->name.text);
    }
}

static void bind_component(esgen_unit* unit, const esgen_function* function, esgen_param* param) {
    param->kind = ESGEN_COMPONENT;
    name_component(param);
    bind_type(unit, function, param);
    const char* name = param->name.text;
    if (param->is_optional && !param->is_pointer) {
        esgen_fault(unit, param->line,
                    "%s: ES_OPTIONAL is for pointers: %s by value takes ES_DEFAULT(value)",
                    function->name.text, name);
    }
    if (param->has_default && param->is_pointer) {
        esgen_fault(unit, param->line,
                    "%s: ES_DEFAULT is for parameters by value: pointer %s takes ES_OPTIONAL",
                    function->name.text, name);
    }
    if (function->is_span && !param->is_pointer) {
        esgen_fault(unit, param->line, "%s: with ES_SPAN %s is an array: take a pointer",
                    function->name.text, name);
    }
}

// Names that the generated functions use themselves.
static void check_taken(esgen_unit* unit, const esgen_function* function,
                        const esgen_param* param) {
    static const char* const in_systems[] = {"i", "rows", "stage", "event", "count", "entities"};
    static const char* const in_queries[] = {"i", "it", "world", "query", "wanted"};
    bool is_query = function->kind == ESGEN_QUERY;
    bool is_held = param->kind == ESGEN_COMPONENT || (is_query && param->kind == ESGEN_CONTEXT);
    const char* const* taken = is_query ? in_queries : in_systems;
    uint32_t count = is_query ? BASE_COUNT(in_queries) : BASE_COUNT(in_systems);
    for (uint32_t i = 0; is_held && i < count; i++) {
        if (strcmp(param->name.text, taken[i]) != 0) continue;
        esgen_fault(unit, param->line,
                    "%s: what is generated has its own %s: choose another name%s",
                    function->name.text, taken[i],
                    param->kind == ESGEN_COMPONENT ? " and say ES_NAME(component)" : "");
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
    } else if (strcmp(param->type.text, "ecs_entity") == 0 &&
               (is_name(param, "entity", "eid") ||
                (function->is_span && is_name(param, "entities", "eids")))) {
        param->kind = ESGEN_ENTITY;
    } else if (function->is_span && is_name(param, "count", "count")) {
        param->kind = ESGEN_COUNT;
    } else {
        bind_component(unit, function, param);
    }
    check_taken(unit, function, param);
    if (param->kind == ESGEN_EVENT && function->kind != ESGEN_HANDLER)
        esgen_fault(unit, param->line, "%s gets no event", function->name.text);
    bool is_const_pointer = param->is_const && param->is_pointer;
    if ((param->kind == ESGEN_EVENT || param->kind == ESGEN_STAGE) && !is_const_pointer) {
        esgen_fault(unit, param->line, "%s: take const %s* %s", function->name.text,
                    param->type.text, param->name.text);
    }
    if (param->kind == ESGEN_COUNT && (param->is_pointer || strcmp(param->type.text, "uint32_t")))
        esgen_fault(unit, param->line, "%s: take uint32_t count", function->name.text);
    if (param->kind == ESGEN_ENTITY &&
        (function->is_span ? !is_const_pointer : param->is_pointer)) {
        esgen_fault(unit, param->line, "%s: %s is %s", function->name.text, param->name.text,
                    function->is_span ? "an array here: take const ecs_entity*" : "a value");
    }
    if (param->kind != ESGEN_COMPONENT &&
        (param->is_optional || param->has_default || param->component.text[0])) {
        esgen_fault(unit, param->line, "%s: %s is no component", function->name.text,
                    param->name.text);
    }
}

// @return the last word of the annotation.
static const esgen_word* read_annotation(esgen_unit* unit, esgen_param* param, const esgen_word* at,
                                         const esgen_word* end) {
    if (esgen_word_is(at, "ES_OPTIONAL")) {
        param->is_optional = true;
        return at;
    }
    if (esgen_word_is(at, "ES_CONTEXT")) {
        param->kind = ESGEN_CONTEXT;
        return at;
    }
    const esgen_word* close = at + 1 < end ? esgen_words_match(at + 1, end) : NULL;
    bool is_right = close != NULL;
    if (close && esgen_word_is(at, "ES_NAME")) {
        if (!esgen_name_read(unit, &param->component, at + 2, close)) return close;
    } else if (close && esgen_word_is(at, "ES_LIST")) {
        if (!esgen_name_read(unit, &param->element, at + 2, close)) return close;
    } else if (close && esgen_word_is(at, "ES_DEFAULT")) {
        param->has_default = true;
        is_right = esgen_words_is_expression(at + 2, close) &&
                   esgen_words_copy(at + 2, close, param->default_value.text,
                                    sizeof param->default_value.text);
    } else {
        is_right = false;
    }
    if (!is_right)
        esgen_fault(unit, at->line, "%.*s is not understood here", (int)at->size, at->text);
    return close ? close : at;
}

// The words of a parameter that are no annotation.
typedef struct param_words {
    const esgen_word *type, *name; // NULL: not given
    uint32_t stars;
    bool is_odd; // another word is there
} param_words;

static param_words read_words(esgen_unit* unit, esgen_param* param, const esgen_word* first,
                              const esgen_word* end) {
    param_words words = {0};
    for (const esgen_word* at = first; at < end; at++) {
        if (esgen_word_is_annotation(at))
            at = read_annotation(unit, param, at, end);
        else if (esgen_word_is(at, "const"))
            param->is_const |= words.stars == 0;
        else if (esgen_word_is(at, "restrict"))
            continue;
        else if (esgen_word_is(at, "struct") && !words.type)
            param->is_struct = true;
        else if (esgen_word_is(at, "*"))
            words.stars++;
        else if (at->kind == ESGEN_IDENTIFIER && !words.type)
            words.type = at;
        else if (at->kind == ESGEN_IDENTIFIER && !words.name)
            words.name = at;
        else
            words.is_odd = true;
    }
    return words;
}

static void check_asked_once(esgen_unit* unit, const esgen_function* function,
                             const esgen_param* param) {
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* other = &function->params[i];
        if (param->kind == ESGEN_COMPONENT && other->kind == ESGEN_COMPONENT &&
            strcmp(param->component.text, other->component.text) == 0)
            esgen_fault(unit, param->line, "%s asks for component %s twice", function->name.text,
                        param->component.text);
    }
}

static void read_param(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                       const esgen_word* end) {
    BASE_ASSERT(first < end);
    if (function->param_count == ESGEN_PARAMS_MAX) {
        esgen_fault(unit, first->line, "%s has more than %u parameters", function->name.text,
                    ESGEN_PARAMS_MAX);
        return;
    }
    esgen_param* param = &function->params[function->param_count];
    *param = (esgen_param){.kind = ESGEN_COMPONENT, .line = first->line};
    const param_words words = read_words(unit, param, first, end);
    const esgen_word *type = words.type, *name = words.name;
    const char* better = type ? esgen_sized_type(type) : NULL;
    if (better) {
        esgen_fault(unit, type->line, "%s: the size of %.*s depends on the machine: say %s",
                    function->name.text, (int)type->size, type->text, better);
        return;
    }
    if (!type || !name || words.is_odd || words.stars > 1 || type->size >= ESGEN_NAME_BYTES_MAX ||
        name->size >= ESGEN_NAME_BYTES_MAX) {
        esgen_fault(unit, first->line,
                    "%s: a parameter is a type, at most one star and a name: const ecs_vec2* pos",
                    function->name.text);
        return;
    }
    param->is_pointer = words.stars == 1;
    param->is_const |= words.stars == 0;
    memcpy(param->type.text, type->text, type->size);
    memcpy(param->name.text, name->text, name->size);
    bind(unit, function, param);
    check_asked_once(unit, function, param);
    function->param_count++;
}

// Only components and contexts may appear more than once.
static void check_single(esgen_unit* unit, const esgen_function* function) {
    uint32_t counts[ESGEN_CONTEXT + 1] = {0};
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        bool is_many = param->kind == ESGEN_COMPONENT || param->kind == ESGEN_CONTEXT;
        if (is_many || ++counts[param->kind] < 2) continue;
        esgen_fault(unit, param->line, "%s: %s is there already", function->name.text,
                    param->name.text);
    }
}

void esgen_params_parse(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                        const esgen_word* end) {
    BASE_ASSERT(function && first <= end);
    if (first == end || (end - first == 1 && esgen_word_is(first, "void"))) return;
    for (const esgen_word *at = first, *next; at <= end; at = next + 1) {
        next = esgen_words_item(at, end);
        if (at < next)
            read_param(unit, function, at, next);
        else
            esgen_fault(unit, next->line, "%s: a parameter is missing here", function->name.text);
    }
    check_single(unit, function);
}

// Checks of a function as a whole: annotations and parameters that are each valid but do not fit
// together.

static void check_require(esgen_unit* unit, const esgen_function* function,
                          const esgen_list* list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const char* text = list->items[i].text;
        const char* colon = strrchr(text, ':');
        if (colon && colon > text && colon[1]) continue;
        esgen_fault(unit, function->line, "%s: say the name and the type of '%s': name:tag",
                    function->name.text, text);
    }
}

// The worlds of a game have these tags, each some of them.
static void check_tag_of_game(esgen_unit* unit, const esgen_function* function, const char* text) {
    static const char* const known[] = {"server", "gameClient", "predict", "render"};
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        esgen_name tag;
        end = at + strcspn(at, "|");
        bool is_known = !base_text_format(tag.text, sizeof tag.text, "%.*s", (int)(end - at), at);
        for (uint32_t i = 0; i < BASE_COUNT(known); i++)
            is_known |= strcmp(tag.text, known[i]) == 0;
        if (is_known) continue;
        const char* nearest = base_text_nearest(tag.text, known, BASE_COUNT(known));
        esgen_fault(unit, function->line,
                    "%s: no world of a game has the tag %s%s%s%s: there are server, gameClient, "
                    "predict and render",
                    function->name.text, tag.text, nearest ? ", did you mean " : "",
                    nearest ? nearest : "", nearest ? "?" : "");
    }
}

static void check_tags(esgen_unit* unit, const esgen_function* function) {
    for (uint32_t i = 0; i < function->tags.count; i++) {
        const char* text = function->tags.items[i].text;
        bool is_right = text[0] != '|' && text[strlen(text) - 1] != '|' && !strstr(text, "||");
        if (!is_right) {
            esgen_fault(unit, function->line, "%s: a tag is missing beside | in '%s'",
                        function->name.text, text);
        } else if (unit->game.name.text[0]) {
            check_tag_of_game(unit, function, text);
        }
    }
}

static bool has_param(const esgen_function* function, esgen_param_kind kind) {
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].kind == kind) return true;
    return false;
}

static void check_terms(esgen_unit* unit, const esgen_function* function) {
    const char* name = function->name.text;
    uint32_t count = esgen_term_count(function);
    bool has_members =
        function->enter.text[0] || function->leave.text[0] || function->first_update.text[0];
    if (count > ESGEN_TERMS_MAX) {
        esgen_fault(unit, function->line, "%s asks for %u components, more than %u", name, count,
                    ESGEN_TERMS_MAX);
    }
    if (count > 0) return;
    if (function->kind == ESGEN_QUERY) {
        esgen_fault(unit, function->line, "%s asks for no component: take one, or ES_REQUIRE",
                    name);
    } else if (has_param(function, ESGEN_ENTITY) || function->is_span || has_members) {
        esgen_fault(unit, function->line,
                    "%s asks for no component, so there are no entities to call it with: take one, "
                    "or ES_REQUIRE",
                    name);
    }
}

static void check_kind(esgen_unit* unit, const esgen_function* function) {
    const char* name = function->name.text;
    uint32_t line = function->line;
    bool has_events = function->events.count > 0 || function->track.count > 0;
    bool is_timed = function->every.text[0] || function->stage.text[0] || function->enter.text[0] ||
                    function->leave.text[0] || function->first_update.text[0];
    if (function->kind == ESGEN_HANDLER && !has_events) {
        esgen_fault(unit, line, "%s handles no event: add ES_ON_EVENT(name) or ES_TRACK(component)",
                    name);
    }
    if (function->kind != ESGEN_HANDLER && has_events)
        esgen_fault(unit, line, "%s is no event handler: name it *_es_event_handler", name);
    if (function->kind == ESGEN_HANDLER && is_timed)
        esgen_fault(unit, line, "%s is called on events: it has no stage, interval or turn", name);
    bool is_declared = function->is_confined || function->quantum.text[0] ||
                       function->reads.count > 0 || function->writes.count > 0;
    if (function->kind != ESGEN_SYSTEM && is_declared)
        esgen_fault(unit, line, "%s is no system: it runs while no other does", name);
    if (function->kind == ESGEN_QUERY &&
        (is_timed || function->tags.count || function->before.count || function->after.count)) {
        esgen_fault(unit, line, "%s is a query: it has neither stage nor tags nor order", name);
    }
    if (function->returns_bool && function->kind != ESGEN_QUERY)
        esgen_fault(unit, line, "%s must return void", name);
}

bool esgen_is_confined(const esgen_function* function) {
    const bool has_members =
        function->enter.text[0] || function->leave.text[0] || function->first_update.text[0];
    return function->is_confined || function->quantum.text[0] || function->reads.count > 0 ||
           function->writes.count > 0 ||
           (!has_members && !has_param(function, ESGEN_STAGE) &&
            !has_param(function, ESGEN_CONTEXT));
}

void esgen_check(esgen_unit* unit, const esgen_function* function) {
    BASE_ASSERT(unit && function->name.text[0]);
    check_require(unit, function, &function->require);
    check_require(unit, function, &function->require_not);
    check_require(unit, function, &function->any);
    check_tags(unit, function);
    check_terms(unit, function);
    check_kind(unit, function);
    for (uint32_t i = 0; i < unit->function_count; i++) {
        if (strcmp(unit->functions[i].name.text, function->name.text) == 0)
            esgen_fault(unit, function->line, "%s is twice in this file", function->name.text);
    }
}
