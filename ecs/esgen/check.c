// SPDX-License-Identifier: MIT
// Checks of a function as a whole: annotations and parameters that are each valid but do not fit
// together.
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

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

static void check_tags(esgen_unit* unit, const esgen_function* function) {
    for (uint32_t i = 0; i < function->tags.count; i++) {
        const char* text = function->tags.items[i].text;
        bool is_right = text[0] != '|' && text[strlen(text) - 1] != '|' && !strstr(text, "||");
        if (!is_right) {
            esgen_fault(unit, function->line, "%s: a tag is missing beside | in '%s'",
                        function->name.text, text);
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
            esgen_fault(unit, function->line, "%s stands twice in this file", function->name.text);
    }
}
