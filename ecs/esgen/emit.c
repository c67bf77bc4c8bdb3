// SPDX-License-Identifier: MIT
// The generated text: what a person would have written by hand, in the order of the source file.
//
// Per system: its declaration, a function over rows that calls it, its terms. Per file: one function that
// registers them. Columns are restrict pointers in local variables, so that the call is inlined into the
// loop and the loop is as good as one by hand.
// ES_TAG(a | b): a system exists in a world with a or b. One registration per combination, since a
// registration's tags must all be there; the later ones are named "name@2" and so on.
#include "esgen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(base_bytes* out, const char* format, ...) BASE_PRINTF(2, 3);
static void put(base_bytes* out, const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0 && (size_t)size < sizeof text) base_bytes_write(out, text, (size_t)size);
}

static bool is_component(const esgen_param* param) {
    return param->kind == ESGEN_COMPONENT;
}

static const esgen_param* find_param(const esgen_function* function, esgen_param_kind kind) {
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == kind) return &function->params[i];
    }
    return NULL;
}

static uint32_t column_count(const esgen_function* function) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->param_count; i++)
        count += is_component(&function->params[i]);
    return count;
}

static uint32_t term_count(const esgen_function* function) {
    return column_count(function) + function->require.count + function->require_not.count;
}

static const char* access_of(const esgen_param* param) {
    if (param->is_optional || param->has_default)
        return param->is_const ? "ECS_OPTIONAL_READ" : "ECS_OPTIONAL_WRITE";
    return param->is_const ? "ECS_READ" : "ECS_WRITE";
}

static void put_param(base_bytes* out, const esgen_param* param) {
    bool says_const = param->is_const && param->is_pointer;
    put(out, "%s%s%s %s", says_const ? "const " : "", param->type.text,
        param->is_pointer ? "*" : "", param->name.text);
}

static void put_declaration(base_bytes* out, const esgen_unit* unit,
                            const esgen_function* function) {
    put(out, "\n// %s:%u\nstatic %s %s(", unit->file, function->line,
        function->returns_bool ? "bool" : "void", function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (i) put(out, ", ");
        put_param(out, &function->params[i]);
    }
    put(out, "%s);\n", function->param_count ? "" : "void");
}

// The columns as local arrays. `at`: index of the first one in `columns`.
static void put_columns(base_bytes* out, const esgen_function* function, const char* columns,
                        const char* indent) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (!is_component(param)) continue;
        put(out, "%s%s%s* restrict %s = %s[%u];\n", indent, param->is_const ? "const " : "",
            param->type.text, param->name.text, columns, column++);
    }
}

// One argument of the call inside the loop.
static void put_argument(base_bytes* out, const esgen_function* function, const esgen_param* param,
                         const char* rows) {
    const char* name = param->name.text;
    switch (param->kind) {
    case ESGEN_STAGE:
        put(out, "stage");
        break;
    case ESGEN_EVENT:
        put(out, "event");
        break;
    case ESGEN_PAYLOAD:
        put(out, "event->payload");
        break;
    case ESGEN_ENTITY:
        put(out, function->is_span ? "%sentities" : "%sentities[i]", rows);
        break;
    case ESGEN_COUNT:
        put(out, "%scount", rows);
        break;
    case ESGEN_CONTEXT:
        put(out, function->kind == ESGEN_QUERY ? "%s" : "stage->context", name);
        break;
    case ESGEN_COMPONENT:
        if (function->is_span)
            put(out, "%s", name);
        else if (param->is_optional)
            put(out, "%s ? &%s[i] : NULL", name, name);
        else if (param->has_default)
            put(out, "%s ? %s[i] : (%s)", name, name, param->default_text);
        else
            put(out, param->is_pointer ? "&%s[i]" : "%s[i]", name);
        break;
    }
}

static void put_call(base_bytes* out, const esgen_function* function, const char* rows) {
    put(out, "%s(", function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (i) put(out, ", ");
        put_argument(out, function, &function->params[i], rows);
    }
    put(out, ")");
}

static void put_rows_function(base_bytes* out, const esgen_function* function) {
    bool is_handler = function->kind == ESGEN_HANDLER;
    bool uses_stage = find_param(function, ESGEN_STAGE) || find_param(function, ESGEN_CONTEXT);
    bool uses_event = find_param(function, ESGEN_EVENT) || find_param(function, ESGEN_PAYLOAD);
    bool has_rows = term_count(function) > 0;
    bool is_loop = has_rows && !function->is_span;
    put(out, "static void %s_rows(const ecs_stage* stage, %sconst ecs_rows* rows) {\n",
        function->name.text, is_handler ? "const ecs_event* event, " : "");
    if (!uses_stage) put(out, "    (void)stage;\n");
    if (is_handler && !uses_event) put(out, "    (void)event;\n");
    if (!has_rows && !function->is_span) put(out, "    (void)rows;\n");
    put_columns(out, function, "rows->columns", "    ");
    put(out, is_loop ? "    for (uint32_t i = 0; i < rows->count; i++)\n        " : "    ");
    put_call(out, function, "rows->");
    put(out, ";\n}\n");
}

static void put_names(base_bytes* out, const char* function, const char* what,
                      const esgen_list* list) {
    if (list->count == 0) return;
    put(out, "    static const char* const %s_%s[] = {", function, what);
    for (uint32_t i = 0; i < list->count; i++)
        put(out, "%s\"%s\"", i ? ", " : "", list->items[i].text);
    put(out, "};\n");
}

static void put_required(base_bytes* out, const esgen_list* list, const char* access) {
    for (uint32_t i = 0; i < list->count; i++) {
        const char* text = list->items[i].text;
        const char* colon = strrchr(text, ':');
        put(out, "        {\"%.*s\", \"%s\", %s},\n", (int)(colon - text), text, colon + 1, access);
    }
}

static void put_terms(base_bytes* out, const esgen_function* function) {
    if (term_count(function) == 0) return;
    put(out, "    static const ecs_term %s_terms[] = {\n", function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (!is_component(param)) continue;
        put(out, "        {\"%s\", \"%s\", %s},\n", param->component.text,
            param->component_type.text, access_of(param));
    }
    put_required(out, &function->require, "ECS_REQUIRE");
    put_required(out, &function->require_not, "ECS_REQUIRE_NOT");
    put(out, "    };\n");
}

// ---- queries ----

static void put_contexts(base_bytes* out, const esgen_function* function) {
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind != ESGEN_CONTEXT) continue;
        put(out, ", ");
        put_param(out, &function->params[i]);
    }
}

static void put_query(base_bytes* out, const esgen_function* function) {
    int size = (int)(strlen(function->name.text) - strlen("_ecs_query"));
    const char* name = function->name.text;
    put(out, "static inline ecs_result %.*s_create(ecs_world* world, ecs_query** query) {\n", size,
        name);
    put_terms(out, function);
    if (term_count(function)) {
        put(out, "    return ecs_query_create(world, %s_terms, %u, query);\n}\n", name,
            term_count(function));
    } else {
        put(out, "    return ecs_query_create(world, NULL, 0, query);\n}\n");
    }
    put(out, "static inline void %.*s_run(ecs_world* world, ecs_query* query", size, name);
    put_contexts(out, function);
    put(out, ") {\n    ecs_query_iter it = ecs_query_begin(world, query);\n"
             "    while (ecs_query_next(&it)) {\n");
    put_columns(out, function, "it.rows.columns", "        ");
    put(out, function->is_span ? "        "
                               : "        for (uint32_t i = 0; i < it.rows.count; i++) {\n"
                                 "            ");
    if (function->returns_bool) {
        put(out, "if (!");
        put_call(out, function, "it.rows.");
        put(out,
            ") {\n                ecs_query_end(&it);\n                return;\n            }");
    } else {
        put_call(out, function, "it.rows.");
        put(out, ";");
    }
    put(out, function->is_span ? "\n    }\n}\n" : "\n        }\n    }\n}\n");
    put(out, "static inline bool %.*s_find(ecs_world* world, ecs_query* query, ecs_entity wanted",
        size, name);
    put_contexts(out, function);
    put(out, ") {\n    ecs_query_iter it;\n"
             "    if (!ecs_query_find(world, query, wanted, &it)) return false;\n");
    put_columns(out, function, "it.rows.columns", "    ");
    if (!function->is_span) put(out, "    const uint32_t i = 0;\n");
    put(out, function->returns_bool ? "    (void)" : "    ");
    put_call(out, function, "it.rows.");
    put(out, ";\n    return true;\n}\n");
}

// ---- registration ----

// The words of tag `text` between bars: "server|predict".
static uint32_t alternatives(const char* text) {
    uint32_t count = 1;
    for (; *text; text++)
        count += *text == '|';
    return count;
}

static void put_alternative(base_bytes* out, const char* text, uint32_t which) {
    while (which-- > 0)
        text = strchr(text, '|') + 1;
    put(out, "\"%.*s\"", (int)strcspn(text, "|"), text);
}

static uint32_t combinations(const esgen_function* function) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < function->tags.count; i++)
        count *= alternatives(function->tags.items[i].text);
    return count;
}

static void put_tags(base_bytes* out, const esgen_function* function) {
    if (function->tags.count == 0) return;
    for (uint32_t which = 0; which < combinations(function); which++) {
        put(out, "    static const char* const %s_tags", function->name.text);
        if (which) put(out, "_%u", which + 1);
        put(out, "[] = {");
        uint32_t rest = which;
        for (uint32_t i = 0; i < function->tags.count; i++) {
            uint32_t count = alternatives(function->tags.items[i].text);
            if (i) put(out, ", ");
            put_alternative(out, function->tags.items[i].text, rest % count);
            rest /= count;
        }
        put(out, "};\n");
    }
}

static void put_list_fields(base_bytes* out, const char* function, const char* field,
                            const char* what, const esgen_list* list) {
    if (list->count == 0) return;
    put(out, "         .%ss = %s_%s,\n         .%s_count = %u,\n", field, function, what, field,
        list->count);
}

static void put_desc(base_bytes* out, const esgen_function* function, uint32_t which) {
    const char* name = function->name.text;
    bool is_handler = function->kind == ESGEN_HANDLER;
    if (which == 0)
        put(out, "        {.name = \"%s\",\n", name);
    else
        put(out, "        {.name = \"%s@%u\",\n", name, which + 1);
    if (!is_handler) {
        put(out, "         .stage = \"%s\",\n         .run = %s_rows,\n",
            function->stage.text[0] ? function->stage.text : "act", name);
    } else {
        put_list_fields(out, name, "event", "events", &function->events);
        put(out, "         .on_event = %s_rows,\n", name);
    }
    if (term_count(function)) {
        put(out, "         .terms = %s_terms,\n         .term_count = %u,\n", name,
            term_count(function));
    }
    if (function->before.count) {
        put(out, "         .before = %s_before,\n         .before_count = %u,\n", name,
            function->before.count);
    }
    if (function->after.count) {
        put(out, "         .after = %s_after,\n         .after_count = %u,\n", name,
            function->after.count);
    }
    if (function->tags.count) {
        put(out, "         .tags = %s_tags", name);
        if (which) put(out, "_%u", which + 1);
        put(out, ",\n         .tag_count = %u,\n", function->tags.count);
    }
    if (function->track.count) {
        put(out, "         .track = %s_track,\n         .track_count = %u,\n", name,
            function->track.count);
    }
    if (function->every.text[0]) put(out, "         .every_ticks = %s,\n", function->every.text);
    if (function->quantum.text[0]) put(out, "         .quantum = %s,\n", function->quantum.text);
    put(out, "         .context = context},\n");
}

static void put_registration(base_bytes* out, const esgen_unit* unit, const char* stem) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->function_count; i++)
        count += unit->functions[i].kind != ESGEN_QUERY;
    if (count == 0) return;
    put(out, "\n// Before ecs_world_seal. `context` must live as long as the world.\n");
    put(out, "static ecs_result %s_register_systems(ecs_world* world, void* context) {\n", stem);
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        if (function->kind == ESGEN_QUERY) continue;
        put_names(out, function->name.text, "events", &function->events);
        put_names(out, function->name.text, "before", &function->before);
        put_names(out, function->name.text, "after", &function->after);
        put_names(out, function->name.text, "track", &function->track);
        put_tags(out, function);
        put_terms(out, function);
    }
    put(out, "    const ecs_system_desc systems[] = {\n");
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        if (function->kind == ESGEN_QUERY) continue;
        for (uint32_t which = 0; which < combinations(function); which++)
            put_desc(out, function, which);
    }
    put(out, "    };\n"
             "    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {\n"
             "        ecs_result result = ecs_system_register(world, &systems[i]);\n"
             "        if (result) return result;\n"
             "    }\n"
             "    return ECS_OK;\n}\n");
}

void esgen_emit(const esgen_unit* unit, const char* stem, base_bytes* out) {
    put(out, "// Written by shoal-esgen from %s: change that file, not this one.\n", unit->file);
    put(out, "#include \"ecs/command.h\"\n#include \"ecs/es.h\"\n#include \"ecs/system.h\"\n");
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        put_declaration(out, unit, function);
        if (function->kind == ESGEN_QUERY)
            put_query(out, function);
        else
            put_rows_function(out, function);
    }
    put_registration(out, unit, stem);
}
