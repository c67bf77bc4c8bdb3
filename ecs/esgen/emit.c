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

// One function per file that registers its systems and handlers, in their order.

static const char* access_of(const esgen_param* param) {
    if (param->is_optional || param->has_default)
        return param->is_const ? "ECS_OPTIONAL_READ" : "ECS_OPTIONAL_WRITE";
    return param->is_const ? "ECS_READ" : "ECS_WRITE";
}

static void put_required(base_bytes* out, const esgen_list* list, const char* access) {
    for (uint32_t i = 0; i < list->count; i++) {
        const char* text = list->items[i].text;
        const char* colon = strrchr(text, ':');
        esgen_put(out, "        {\"%.*s\", \"%s\", %s},\n", (int)(colon - text), text, colon + 1,
                  access);
    }
}

static void put_terms(base_bytes* out, const esgen_function* function) {
    if (esgen_term_count(function) == 0) return;
    esgen_put(out, "    static const ecs_term %s_terms[] = {\n", function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (param->kind != ESGEN_COMPONENT) continue;
        esgen_put(out, "        {\"%s\", \"%s\", %s},\n", param->component.text,
                  param->component_type.text, access_of(param));
    }
    put_required(out, &function->require, "ECS_REQUIRE");
    put_required(out, &function->require_not, "ECS_REQUIRE_NOT");
    put_required(out, &function->any, "ECS_ANY");
    if (function->is_only) esgen_put(out, "        {NULL, NULL, ECS_ONLY},\n");
    esgen_put(out, "    };\n");
}

static void put_names(base_bytes* out, const esgen_function* function, const char* what,
                      const esgen_list* list) {
    if (list->count == 0) return;
    esgen_put(out, "    static const char* const %s_%s[] = {", function->name.text, what);
    for (uint32_t i = 0; i < list->count; i++)
        esgen_put_item(out, "\"%s\"", list->items[i].text);
    esgen_put(out, "};\n");
}

static void put_text(base_bytes* out, const char* field, const esgen_name* value) {
    if (value->text[0]) esgen_put(out, "         .%s = %s,\n", field, value->text);
}

static void put_desc(base_bytes* out, const esgen_function* function) {
    const char* name = function->name.text;
    const struct {
        const char *field, *count;
        const esgen_list* list;
    } lists[] = {
        {"events", "event_count", &function->events}, {"before", "before_count", &function->before},
        {"after", "after_count", &function->after},   {"tags", "tag_count", &function->tags},
        {"track", "track_count", &function->track},   {"reads", "read_count", &function->reads},
        {"writes", "write_count", &function->writes}};
    esgen_put(out, "        {.name = \"%s\",\n", name);
    if (function->kind == ESGEN_SYSTEM) {
        const char* stage = function->stage.text;
        esgen_put(out, "         .stage = \"%s\",\n         .run = %s_rows,\n",
                  stage[0] ? stage : "act", name);
    } else {
        esgen_put(out, "         .on_event = %s_rows,\n", name);
        if (esgen_takes_runs(function)) esgen_put(out, "         .on_events = %s_runs,\n", name);
    }
    if (esgen_term_count(function))
        esgen_put(out, "         .terms = %s_terms,\n         .term_count = %u,\n", name,
                  esgen_term_count(function));
    esgen_put(out, "         .context = context,\n");
    put_text(out, "every_ticks", &function->every);
    put_text(out, "quantum", &function->quantum);
    if (function->kind == ESGEN_SYSTEM && esgen_is_confined(function))
        esgen_put(out, "         .is_confined = true,\n");
    put_text(out, "on_enter", &function->enter);
    put_text(out, "on_leave", &function->leave);
    put_text(out, "first_update", &function->first_update);
    for (uint32_t i = 0; i < BASE_COUNT(lists); i++)
        if (lists[i].list->count)
            esgen_put(out, "         .%s = %s_%s,\n         .%s = %u,\n", lists[i].field, name,
                      lists[i].field, lists[i].count, lists[i].list->count);
    esgen_put(out, "        },\n");
}

// Functions that the user writes in full: on_enter, on_leave, first_update.
static void put_members(base_bytes* out, const esgen_unit* unit, const esgen_function* function) {
    const esgen_name* names[] = {&function->enter, &function->leave, &function->first_update};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        if (!names[i]->text[0]) continue;
        esgen_put_line(out, unit, unit->source, function->line);
        esgen_put(out,
                  "static void %s(const ecs_stage* stage, const ecs_entity* entities, "
                  "uint32_t count);\n",
                  names[i]->text);
        esgen_put_line_end(out, unit);
    }
}

// The head of the function: of a game it is seen by its table, in another file.
static void put_register_head(base_bytes* out, const esgen_unit* unit, const char* stem) {
    const esgen_game* game = &unit->game;
    if (!game->name.text[0]) {
        esgen_put(out,
                  "// Before ecs_world_seal. `context` must live as long as the world.\n"
                  "static ecs_result %s_register_systems(ecs_world* world, void* context) {\n",
                  stem);
        return;
    }
    const char* access = game->is_table ? "static " : "";
    for (uint32_t i = 0; i < 2; i++)
        esgen_put(out, "%secs_result %s_register_%s(ecs_world* world, %s* context)%s\n", access,
                  game->name.text, stem, game->context.text, i == 0 ? ";" : " {");
}

static void put_descs(base_bytes* out, const esgen_unit* unit) {
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        if (function->kind == ESGEN_QUERY) continue;
        put_names(out, function, "events", &function->events);
        put_names(out, function, "before", &function->before);
        put_names(out, function, "after", &function->after);
        put_names(out, function, "tags", &function->tags);
        put_names(out, function, "track", &function->track);
        put_names(out, function, "reads", &function->reads);
        put_names(out, function, "writes", &function->writes);
        put_terms(out, function);
    }
    esgen_put(out, "    const ecs_system_desc systems[] = {\n");
    for (uint32_t i = 0; i < unit->function_count; i++) {
        if (unit->functions[i].kind != ESGEN_QUERY) put_desc(out, &unit->functions[i]);
    }
    esgen_put(out, "    };\n"
                   "    for (uint32_t i = 0; i < BASE_COUNT(systems); i++) {\n"
                   "        ecs_result result = ecs_system_register(world, &systems[i]);\n"
                   "        if (result) return result;\n"
                   "    }\n");
}

static void put_systems(base_bytes* out, const esgen_unit* unit, const char* stem) {
    BASE_ASSERT(unit && stem && out);
    uint32_t count = 0, queries = 0;
    for (uint32_t i = 0; i < unit->function_count; i++) {
        count += unit->functions[i].kind != ESGEN_QUERY;
        queries += esgen_query_slot(unit, &unit->functions[i]) != NULL;
    }
    if (count + queries == 0) return;
    esgen_put(out, "\n");
    for (uint32_t i = 0; i < unit->function_count; i++)
        put_members(out, unit, &unit->functions[i]);
    put_register_head(out, unit, stem);
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_slot* slot = esgen_query_slot(unit, &unit->functions[i]);
        if (slot)
            esgen_put(out,
                      "    ecs_result %s_result = %s_create(world, &context->%s);\n"
                      "    if (%s_result) return %s_result;\n",
                      slot->field.text, slot->field.text, slot->field.text, slot->field.text,
                      slot->field.text);
    }
    if (count) put_descs(out, unit);
    esgen_put(out, "    return ECS_OK;\n}\n");
}

// One function per file with ES_REGISTER_TYPES: types in the order of their structs, then events.

static void put_fields(base_bytes* out, const esgen_unit* unit, const esgen_struct* from) {
    const char* type = from->c_type.text;
    esgen_put(out, "    static const ecs_field %s_fields[] = {\n", type);
    for (uint32_t i = 0; i < from->field_count; i++) {
        const esgen_field* field = &from->fields[i];
        const char* name = field->name.text;
        esgen_put_line(out, unit, from->file, field->line);
        esgen_put(out, "        {\"%s\", offsetof(%s, %s), %s, %s, {%s}},\n", name, type, name,
                  field->kind, field->count.text, field->mark.quant.text);
    }
    esgen_put_line_end(out, unit);
    esgen_put(out, "    };\n");
}

static bool has_ops(const esgen_struct* from) {
    return from->is_boxed || from->request.text[0];
}

// The type owns no memory, so to create, to reset and to destroy are the same.
static void put_ops(base_bytes* out, const esgen_struct* from) {
    const char* type = from->c_type.text;
    if (!has_ops(from)) return;
    esgen_put(out,
              "    static const ecs_type_ops %s_ops = {.create = %s_clear, .destroy = %s_clear",
              type, type, type);
    if (from->is_boxed) esgen_put(out, ", .reset = %s_clear", type);
    if (from->request.text[0]) esgen_put(out, ", .request = %s", from->request.text);
    esgen_put(out, "};\n");
}

static void put_clear(base_bytes* out, const esgen_struct* from) {
    const char* type = from->c_type.text;
    if (!has_ops(from)) return;
    esgen_put(out,
              "\nstatic void %s_clear(const ecs_type_context* context, void* value) {\n"
              "    static const %s empty;\n"
              "    (void)context;\n"
              "    *(%s*)value = empty;\n"
              "}\n",
              type, type, type);
}

static void put_type(base_bytes* out, const esgen_struct* from) {
    const char* type = from->c_type.text;
    esgen_put(out, "        {\"%s\", sizeof(%s), _Alignof(%s), %s_fields, BASE_COUNT(%s_fields), ",
              from->name.text, type, type, type, type);
    esgen_put(out, has_ops(from) ? "&%s_ops},\n" : "NULL},\n", type);
}

static void put_event(base_bytes* out, const esgen_struct* from, const esgen_struct_event* event) {
    const char* type = from->c_type.text;
    esgen_put(out, "        {\"%s\", sizeof(%s), %s_fields, BASE_COUNT(%s_fields), %s},\n",
              event->name.text, type, type, type, event->is_exported ? "true" : "false");
}

// `what`: "type" or "event". `more`: arguments of ecs_type_register_as, NULL for the plain call.
static void put_registering(base_bytes* out, const char* what, const char* more) {
    esgen_put(out,
              "    for (uint32_t i = 0; i < BASE_COUNT(%ss); i++) {\n"
              "        ecs_%s%s id;\n"
              "        ecs_result result = ecs_%s_register%s(world, &%ss[i], %s&id);\n"
              "        if (result) {\n"
              "            base_report(reporter, NULL, 0, \"%s %%s: %%s\", %ss[i].name, "
              "ecs_result_text(result));\n"
              "            return result;\n"
              "        }\n"
              "    }\n",
              what, what, what[0] == 't' ? "_id" : "_type", what, more ? "_as" : "", what,
              more ? more : "", what, what);
}

static void put_types(base_bytes* out, const esgen_unit* unit, const char* stem) {
    BASE_ASSERT(unit && stem && out);
    uint32_t types = 0, events = 0, boxed = 0;
    const char *head = "", *more = esgen_game_value(&unit->game, "register_types", &head);
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        put_clear(out, &unit->structs[i]);
        boxed += unit->structs[i].is_boxed;
        types += unit->structs[i].name.text[0] != '\0';
        events += unit->structs[i].event_count;
    }
    if (head[0]) esgen_put(out, "\n%s;\n", head);
    esgen_put(out, "\n// Before templates are loaded. What is refused is reported.\n");
    esgen_put(out,
              "static ecs_result %s_register_types(ecs_world* world, "
              "const base_reporter* reporter) {\n",
              stem);
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        put_fields(out, unit, &unit->structs[i]);
        put_ops(out, &unit->structs[i]);
    }
    if (types) {
        esgen_put(out, "    static const ecs_type_desc types[] = {\n");
        for (uint32_t i = 0; i < unit->struct_count; i++)
            if (unit->structs[i].name.text[0]) put_type(out, &unit->structs[i]);
        esgen_put(out, "    };\n");
    }
    if (events) {
        esgen_put(out, "    static const ecs_event_desc events[] = {\n");
        for (uint32_t i = 0; i < unit->struct_count; i++) {
            const esgen_struct* from = &unit->structs[i];
            for (uint32_t k = 0; k < from->event_count; k++)
                put_event(out, from, &from->events[k]);
        }
        esgen_put(out, "    };\n");
    }
    if (boxed) {
        esgen_put(out, "    static const uint32_t flags[] = {");
        for (uint32_t i = 0, k = 0; i < unit->struct_count; i++)
            if (unit->structs[i].name.text[0])
                esgen_put(out, "%s%s", k++ ? ", " : "",
                          unit->structs[i].is_boxed ? "ECS_TYPE_BOXED" : "0");
        esgen_put(out, "};\n");
    }
    if (types) put_registering(out, "type", boxed ? "flags[i], reporter, " : NULL);
    if (events) put_registering(out, "event", NULL);
    if (!more) {
        esgen_put(out, "    return ECS_OK;\n}\n");
        return;
    }
    esgen_put_line(out, unit, unit->source, unit->game.line);
    esgen_put(out, "    return %s(world, reporter);\n", more);
    esgen_put_line_end(out, unit);
    esgen_put(out, "}\n");
}

static const esgen_param* find_param(const esgen_function* function, esgen_param_kind kind) {
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == kind) return &function->params[i];
    }
    return NULL;
}

static const char* struct_of(const esgen_param* param) {
    return param->is_struct ? "struct " : "";
}

// "const ecs_vec2* pos".
static void put_param(base_bytes* out, const esgen_param* param) {
    bool says_const = param->is_const && param->is_pointer;
    esgen_put_item(out, "%s%s%s%s %s", says_const ? "const " : "", struct_of(param),
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

static void put_declaration(base_bytes* out, const esgen_unit* unit,
                            const esgen_function* function) {
    esgen_put(out, "\n// %s:%u\n", unit->file, function->line);
    esgen_put_line(out, unit, unit->source, function->line);
    esgen_put(out, "static inline %s %s(", function->returns_bool ? "bool" : "void",
              function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++)
        put_param(out, &function->params[i]);
    esgen_put(out, function->param_count ? ");\n" : "void);\n");
    esgen_put_line_end(out, unit);
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
static void put_argument(base_bytes* out, const esgen_function* function, const esgen_param* param,
                         const char* rows) {
    const char* name = param->name.text;
    switch (param->kind) {
    case ESGEN_STAGE:
        esgen_put_item(out, "stage");
        break;
    case ESGEN_EVENT:
        esgen_put_item(out, "event");
        break;
    case ESGEN_PAYLOAD:
        esgen_put_item(out, "event->payload");
        break;
    case ESGEN_ENTITY:
        esgen_put_item(out, function->is_span ? "%sentities" : "%sentities[i]", rows);
        break;
    case ESGEN_COUNT:
        esgen_put_item(out, "%scount", rows);
        break;
    case ESGEN_CONTEXT:
        esgen_put_item(out, "%s", function->kind == ESGEN_QUERY ? name : "stage->context");
        break;
    case ESGEN_COMPONENT:
        if (function->is_span)
            esgen_put_item(out, "%s", name);
        else if (param->is_optional)
            esgen_put_item(out, "%s ? &%s[i] : NULL", name, name);
        else if (param->has_default)
            esgen_put_item(out, "%s ? %s[i] : (%s)", name, name, param->default_value.text);
        else
            esgen_put_item(out, param->is_pointer ? "&%s[i]" : "%s[i]", name);
        break;
    }
}

static void put_call(base_bytes* out, const char* before, const esgen_function* function,
                     const char* rows, const char* tail) {
    esgen_put(out, "%s%s(", before, function->name.text);
    for (uint32_t i = 0; i < function->param_count; i++)
        put_argument(out, function, &function->params[i], rows);
    esgen_put(out, "%s", tail);
}

static bool uses_stage(const esgen_function* function) {
    return find_param(function, ESGEN_STAGE) || find_param(function, ESGEN_CONTEXT);
}

// ---- systems ----

// Blocks of 8 rows, then the rest. Measured with two p3: blocks of 4 are as fast at -O2 and slower
// with AVX; blocks of 16 are a fifth slower, since gcc keeps an inner loop.
static void put_loop(base_bytes* out, const esgen_function* function) {
    bool has_entity = find_param(function, ESGEN_ENTITY);
    esgen_put(out, "static BASE_NOINLINE void %s_loop(", function->name.text);
    if (uses_stage(function)) esgen_put_item(out, "const ecs_stage* restrict stage");
    esgen_put_item(out, "uint32_t count");
    if (has_entity) esgen_put_item(out, "const ecs_entity* restrict entities");
    for (uint32_t i = 0; i < function->param_count; i++) {
        const esgen_param* param = &function->params[i];
        if (param->kind != ESGEN_COMPONENT) continue;
        esgen_put_item(out, "%s%s%s* restrict %s", param->is_const ? "const " : "",
                       struct_of(param), param->type.text, param->name.text);
    }
    esgen_put(out, ") {\n    for (; count >= 8; count -= 8");
    if (has_entity) esgen_put_item(out, "entities += 8");
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == ESGEN_COMPONENT)
            esgen_put_item(out, "%s += 8", function->params[i].name.text);
    }
    esgen_put(out, ") {\n");
    esgen_put(out, "        for (uint32_t i = 0; i < 8; i++)\n");
    put_call(out, "            ", function, "", ");\n");
    esgen_put(out, "    }\n    for (uint32_t i = 0; i < count; i++)\n");
    put_call(out, "        ", function, "", ");\n}\n");
}

static void put_loop_call(base_bytes* out, const esgen_function* function) {
    esgen_put(out, "    %s_loop(", function->name.text);
    if (uses_stage(function)) esgen_put_item(out, "stage");
    esgen_put_item(out, "rows->count");
    if (find_param(function, ESGEN_ENTITY)) esgen_put_item(out, "rows->entities");
    uint32_t column = 0;
    for (uint32_t i = 0; i < function->param_count; i++) {
        if (function->params[i].kind == ESGEN_COMPONENT)
            esgen_put_item(out, "rows->columns[%u]", column++);
    }
    esgen_put(out, ");\n");
}

static void put_rows_function(base_bytes* out, const esgen_unit* unit,
                              const esgen_function* function) {
    bool is_handler = function->kind == ESGEN_HANDLER;
    bool uses_event = find_param(function, ESGEN_EVENT) || find_param(function, ESGEN_PAYLOAD);
    bool has_rows = esgen_term_count(function) > 0;
    if (has_loop(function)) put_loop(out, function);
    esgen_put(out, "static void %s_rows(const ecs_stage* stage, %sconst ecs_rows* rows) {\n",
              function->name.text, is_handler ? "const ecs_event* event, " : "");
    if (!uses_stage(function)) esgen_put(out, "    (void)stage;\n");
    if (is_handler && !uses_event) esgen_put(out, "    (void)event;\n");
    if (!has_rows) esgen_put(out, "    (void)rows;\n");
    if (has_loop(function)) {
        put_loop_call(out, function);
    } else {
        put_columns(out, function, "rows->columns", "    ");
        bool is_loop = has_rows && !function->is_span;
        if (is_loop) esgen_put(out, "    for (uint32_t i = 0; i < rows->count; i++)\n");
        esgen_put_line(out, unit, unit->source, function->line);
        put_call(out, is_loop ? "        " : "    ", function, "rows->", ");\n");
        esgen_put_line_end(out, unit);
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

// Of the name "near_ecs_query" functions have "near".
static int stem_size(const esgen_function* function) {
    return (int)(strlen(function->name.text) - strlen("_ecs_query"));
}

static void put_contexts(base_bytes* out, const esgen_function* function) {
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].kind == ESGEN_CONTEXT) put_param(out, &function->params[i]);
    esgen_put(out, ") {\n");
}

static void put_query_run(base_bytes* out, const esgen_function* function) {
    esgen_put(out, "static inline void %.*s_run(ecs_world* world, ecs_query* query",
              stem_size(function), function->name.text);
    put_contexts(out, function);
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
    const char* name = function->name.text;
    esgen_put(out, "static inline ecs_result %.*s_create(ecs_world* world, ecs_query** query) {\n",
              stem_size(function), name);
    put_terms(out, function);
    esgen_put(out, "    return ecs_query_create(world, %s_terms, %u, query);\n}\n", name,
              esgen_term_count(function));
    put_query_run(out, function);
    esgen_put(out,
              "static inline bool %.*s_find(ecs_world* world, ecs_query* query, ecs_entity wanted",
              stem_size(function), name);
    put_contexts(out, function);
    esgen_put(out, "    ecs_query_iter it;\n"
                   "    if (!ecs_query_find(world, query, wanted, &it)) return false;\n");
    put_columns(out, function, "it.rows.columns", "    ");
    bool uses_row = !function->is_span &&
                    (find_param(function, ESGEN_COMPONENT) || find_param(function, ESGEN_ENTITY));
    if (uses_row) esgen_put(out, "    const uint32_t i = 0;\n");
    put_call(out, function->returns_bool ? "    (void)" : "    ", function, "it.rows.", ");\n");
    esgen_put(out, "    return true;\n}\n");
}

static bool has_text(const esgen_unit* unit) {
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].field_count; k++)
            if (esgen_field_is_text(&unit->structs[i].fields[k])) return true;
    return false;
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
    if (unit->has_register_types) put_types(out, unit, stem);
    if (unit->has_messages) {
        if (has_text(unit)) esgen_put(out, "\n#include \"base/text.h\"\n\n#include <string.h>\n");
        esgen_put_messages(out, unit);
    }
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const esgen_function* function = &unit->functions[i];
        put_declaration(out, unit, function);
        if (function->kind == ESGEN_QUERY)
            put_query(out, function);
        else
            put_rows_function(out, unit, function);
        if (esgen_takes_runs(function)) put_runs_function(out, function);
    }
    put_systems(out, unit, stem);
    if (game->is_table) esgen_put_game(out, unit, stem);
}
