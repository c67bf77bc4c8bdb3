// SPDX-License-Identifier: MIT
// The generated text: the code that a person would write by hand, in the order of the source file.
//
// Each system gets its declaration and a function over rows that calls it. When a system writes,
// and needs only components that every row has, its loop becomes a function of its own. Compilers
// use `restrict` on parameters (gcc ignores it on variables), and gcc makes vector code at -O2 from
// a loop over a fixed count of rows. With ES_SPAN the user writes the loop.
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

static const esgen_param* find_param(const esgen_function* function, esgen_param_kind kind) {
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == kind) return &function->params[i];
    }
    return NULL;
}

static const char* struct_of(const esgen_param* param) {
    return param->is_struct ? "struct " : "";
}

void esgen_add_param(esgen_items* items, const esgen_param* param) {
    bool says_const = param->is_const && param->is_pointer;
    esgen_items_add(items, "%s%s%s%s %s", says_const ? "const " : "", struct_of(param),
                    param->type.text, param->is_pointer ? "*" : "", param->name.text);
}

// Does it write, and does every row have all its components? Then the loop needs no checks.
static bool has_loop(const esgen_function* function) {
    bool is_writing = false;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (param->kind != ESGEN_COMPONENT) continue;
        if (param->is_optional || param->has_default) return false;
        is_writing |= !param->is_const;
    }
    return is_writing && function->kind == ESGEN_SYSTEM && !function->is_span;
}

static void put_head(base_bytes* out, const char* before, const char* name, const char* after,
                     const esgen_items* items, const char* tail) {
    base_bytes head;
    base_bytes_init(&head, NULL);
    esgen_put(&head, "%s%s%s(", before, name, after);
    base_bytes_write_u8(&head, 0);
    if (head.failed)
        out->failed = true;
    else
        esgen_put_items(out, (const char*)head.data, items, tail);
    base_bytes_deinit(&head);
}

static void put_declaration(base_bytes* out, const esgen_unit* unit,
                            const esgen_function* function) {
    esgen_items items;
    esgen_items_init(&items);
    for (uint32_t i = 0; i < function->param_count; i++)
        esgen_add_param(&items, &function->params[i]);
    if (items.count == 0) esgen_items_add(&items, "void");
    esgen_put(out, "\n// %s:%u\n", unit->file, function->line);
    put_head(out, function->returns_bool ? "static inline bool " : "static inline void ",
             function->name.text, "", &items, ");\n");
    esgen_items_deinit(&items);
}

// Declare the columns as local arrays.
static void put_columns(base_bytes* out, const esgen_function* function, const char* columns,
                        const char* indent) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (param->kind != ESGEN_COMPONENT) continue;
        esgen_put(out, "%s%s%s%s* %s = %s[%u];\n", indent, param->is_const ? "const " : "",
                  struct_of(param), param->type.text, param->name.text, columns, column++);
    }
}

// One argument of a call for row i. `rows`: "rows->", or "" where its members are parameters.
static void add_argument(esgen_items* items, const esgen_function* function,
                         const esgen_param* param, const char* rows) {
    const char* name = param->name.text;
    switch (param->kind) {
    case ESGEN_STAGE:
        esgen_items_add(items, "stage");
        break;
    case ESGEN_EVENT:
        esgen_items_add(items, "event");
        break;
    case ESGEN_PAYLOAD:
        esgen_items_add(items, "event->payload");
        break;
    case ESGEN_ENTITY:
        esgen_items_add(items, function->is_span ? "%sentities" : "%sentities[i]", rows);
        break;
    case ESGEN_COUNT:
        esgen_items_add(items, "%scount", rows);
        break;
    case ESGEN_CONTEXT:
        esgen_items_add(items, "%s", function->kind == ESGEN_QUERY ? name : "stage->context");
        break;
    case ESGEN_COMPONENT:
        if (function->is_span)
            esgen_items_add(items, "%s", name);
        else if (param->is_optional)
            esgen_items_add(items, "%s ? &%s[i] : NULL", name, name);
        else if (param->has_default)
            esgen_items_add(items, "%s ? %s[i] : (%s)", name, name, param->default_value.text);
        else
            esgen_items_add(items, param->is_pointer ? "&%s[i]" : "%s[i]", name);
        break;
    }
}

static void put_call(base_bytes* out, const char* before, const esgen_function* function,
                     const char* rows, const char* tail) {
    esgen_items items;
    esgen_items_init(&items);
    for (uint32_t i = 0; i < function->param_count; i++)
        add_argument(&items, function, &function->params[i], rows);
    put_head(out, before, function->name.text, "", &items, tail);
    esgen_items_deinit(&items);
}

static bool uses_stage(const esgen_function* function) {
    return find_param(function, ESGEN_STAGE) || find_param(function, ESGEN_CONTEXT);
}

// ---- systems ----

// Blocks of 8 rows, then the rest. Measured with two p3: blocks of 4 are as fast at -O2 and slower
// with AVX; blocks of 16 are a fifth slower, since gcc keeps an inner loop.
static void put_loop(base_bytes* out, const esgen_function* function) {
    bool has_entity = find_param(function, ESGEN_ENTITY);
    esgen_items items;
    esgen_items_init(&items);
    if (uses_stage(function)) esgen_items_add(&items, "const ecs_stage* restrict stage");
    esgen_items_add(&items, "uint32_t count");
    if (has_entity) esgen_items_add(&items, "const ecs_entity* restrict entities");
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (param->kind != ESGEN_COMPONENT) continue;
        esgen_items_add(&items, "%s%s%s* restrict %s", param->is_const ? "const " : "",
                        struct_of(param), param->type.text, param->name.text);
    }
    put_head(out, "static BASE_NOINLINE void ", function->name.text, "_loop", &items, ") {\n");
    esgen_items_deinit(&items);
    esgen_items_init(&items);
    esgen_items_add(&items, "count -= 8");
    if (has_entity) esgen_items_add(&items, "entities += 8");
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == ESGEN_COMPONENT)
            esgen_items_add(&items, "%s += 8", function->params[i].name.text);
    }
    esgen_put_items(out, "    for (; count >= 8; ", &items, ") {\n");
    esgen_items_deinit(&items);
    esgen_put(out, "        for (uint32_t i = 0; i < 8; i++)\n");
    put_call(out, "            ", function, "", ");\n");
    esgen_put(out, "    }\n    for (uint32_t i = 0; i < count; i++)\n");
    put_call(out, "        ", function, "", ");\n}\n");
}

static void put_loop_call(base_bytes* out, const esgen_function* function) {
    esgen_items items;
    esgen_items_init(&items);
    if (uses_stage(function)) esgen_items_add(&items, "stage");
    esgen_items_add(&items, "rows->count");
    if (find_param(function, ESGEN_ENTITY)) esgen_items_add(&items, "rows->entities");
    uint32_t column = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == ESGEN_COMPONENT)
            esgen_items_add(&items, "rows->columns[%u]", column++);
    }
    put_head(out, "    ", function->name.text, "_loop", &items, ");\n");
    esgen_items_deinit(&items);
}

static void put_rows_function(base_bytes* out, const esgen_function* function) {
    bool is_handler = function->kind == ESGEN_HANDLER;
    bool uses_event = find_param(function, ESGEN_EVENT) || find_param(function, ESGEN_PAYLOAD);
    bool has_rows = esgen_term_count(function) > 0;
    if (has_loop(function)) put_loop(out, function);
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, "const ecs_stage* stage");
    if (is_handler) esgen_items_add(&items, "const ecs_event* event");
    esgen_items_add(&items, "const ecs_rows* rows");
    put_head(out, "static void ", function->name.text, "_rows", &items, ") {\n");
    esgen_items_deinit(&items);
    if (!uses_stage(function)) esgen_put(out, "    (void)stage;\n");
    if (is_handler && !uses_event) esgen_put(out, "    (void)event;\n");
    if (!has_rows) esgen_put(out, "    (void)rows;\n");
    if (has_loop(function)) {
        put_loop_call(out, function);
    } else {
        put_columns(out, function, "rows->columns", "    ");
        bool is_loop = has_rows && !function->is_span;
        if (is_loop) esgen_put(out, "    for (uint32_t i = 0; i < rows->count; i++)\n");
        put_call(out, is_loop ? "        " : "    ", function, "rows->", ");\n");
    }
    esgen_put(out, "}\n");
}

// Events in a run come with the rows of their targets, which lie anywhere in the columns.
static void put_runs_function(base_bytes* out, const esgen_function* function) {
    const bool uses_event =
        find_param(function, ESGEN_EVENT) || find_param(function, ESGEN_PAYLOAD);
    esgen_put(out, "static void %s_runs(const ecs_stage* stage, const ecs_event_run* run) {\n",
              function->name.text);
    if (!uses_stage(function)) esgen_put(out, "    (void)stage;\n");
    put_columns(out, function, "run->columns", "    ");
    if (uses_event)
        esgen_put(out, "    ecs_event one = {.type = run->type, .size = run->size};\n"
                       "    const ecs_event* event = &one;\n");
    esgen_put(out, "    for (uint32_t k = 0; k < run->count; k++) {\n"
                   "        const uint32_t i = run->rows[k];\n");
    if (uses_event)
        esgen_put(out, "        one.target = run->entities[i];\n"
                       "        one.payload = ecs_event_run_payload(run, k);\n");
    put_call(out, "        ", function, "run->", ");\n    }\n}\n");
}

// ---- queries ----

static void put_query_head(base_bytes* out, const char* before, const esgen_function* function,
                           const char* after, const char* wanted, const char* tail) {
    esgen_name name = function->name;
    name.text[strlen(name.text) - strlen("_ecs_query")] = '\0';
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, "ecs_world* world");
    esgen_items_add(&items, "%s", wanted ? "ecs_query* query" : "ecs_query** query");
    if (wanted && wanted[0]) esgen_items_add(&items, "%s", wanted);
    for (uint32_t i = 0; wanted && i < function->param_count; i++) {
        if (function->params[i].kind == ESGEN_CONTEXT)
            esgen_add_param(&items, &function->params[i]);
    }
    put_head(out, before, name.text, after, &items, tail);
    esgen_items_deinit(&items);
}

static void put_query_run(base_bytes* out, const esgen_function* function) {
    put_query_head(out, "static inline void ", function, "_run", "", ") {\n");
    esgen_put(out, "    ecs_query_iter it = ecs_query_begin(world, query);\n"
                   "    while (ecs_query_next(&it)) {\n");
    put_columns(out, function, "it.rows.columns", "        ");
    const char* indent = "        ";
    if (!function->is_span) {
        esgen_put(out, "        for (uint32_t i = 0; i < it.rows.count; i++)%s\n",
                  function->returns_bool ? " {" : "");
        indent = "            ";
    }
    if (!function->returns_bool) {
        put_call(out, indent, function, "it.rows.", ");\n    }\n}\n");
        return;
    }
    esgen_put(out, "%s", indent);
    put_call(out, "if (!", function, "it.rows.", ")) {\n");
    esgen_put(out, "%s    ecs_query_end(&it);\n%s    return;\n%s}\n", indent, indent, indent);
    esgen_put(out, function->is_span ? "    }\n}\n" : "        }\n    }\n}\n");
}

static void put_query(base_bytes* out, const esgen_function* function) {
    put_query_head(out, "static inline ecs_result ", function, "_create", NULL, ") {\n");
    esgen_put_terms(out, function);
    esgen_put(out, "    return ecs_query_create(world, %s_terms, %u, query);\n}\n",
              function->name.text, esgen_term_count(function));
    put_query_run(out, function);
    put_query_head(out, "static inline bool ", function, "_find", "ecs_entity wanted", ") {\n");
    esgen_put(out, "    ecs_query_iter it;\n"
                   "    if (!ecs_query_find(world, query, wanted, &it)) return false;\n");
    put_columns(out, function, "it.rows.columns", "    ");
    bool uses_row = !function->is_span &&
                    (find_param(function, ESGEN_COMPONENT) || find_param(function, ESGEN_ENTITY));
    if (uses_row) esgen_put(out, "    const uint32_t i = 0;\n");
    put_call(out, function->returns_bool ? "    (void)" : "    ", function, "it.rows.", ");\n");
    esgen_put(out, "    return true;\n}\n");
}

void esgen_emit(const esgen_unit* unit, const char* stem, base_bytes* out) {
    BASE_ASSERT(unit->fault_count == 0 && "a file with faults is not written");
    BASE_ASSERT(stem && out);
    esgen_put(out, "// Written by shoal-esgen from %s: change that file, not this one.\n",
              unit->file);
    const esgen_game* game = &unit->game;
    if (unit->is_header) {
        esgen_put(out, "#pragma once\n\n#include \"net/game.h\"\n");
        esgen_put_numbers(out, unit);
        return;
    }
    esgen_put(out, "#pragma once\n\n#include \"ecs/es.h\"\n#include \"ecs/system.h\"\n");
    if (game->is_table) esgen_put(out, "#include \"ecs/need.h\"\n");
    if (game->is_table && game->is_context_here) esgen_put_numbers(out, unit);
    if (unit->has_register_types) esgen_put_types(out, unit, stem);
    if (unit->has_messages) esgen_put_messages(out, unit);
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        put_declaration(out, unit, function);
        if (function->kind == ESGEN_QUERY)
            put_query(out, function);
        else
            put_rows_function(out, function);
        if (esgen_takes_runs(function)) put_runs_function(out, function);
    }
    esgen_put_systems(out, unit, stem);
    if (game->is_table) esgen_put_game(out, unit, stem);
}
