// SPDX-License-Identifier: MIT
// One function per file that registers its systems and handlers, in their order.
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

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

void esgen_put_terms(base_bytes* out, const esgen_function* function) {
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
    esgen_items items;
    esgen_items_init(&items);
    for (uint32_t i = 0; i < list->count; i++)
        esgen_items_add(&items, "\"%s\"", list->items[i].text);
    esgen_put(out, "    static const char* const %s_%s[] = ", function->name.text, what);
    esgen_put_items(out, "{", &items, "};\n");
    esgen_items_deinit(&items);
}

static void add_names(esgen_items* items, const esgen_function* function, const char* field,
                      const char* count, const char* what, const esgen_list* list) {
    if (list->count == 0) return;
    esgen_items_add(items, ".%s = %s_%s", field, function->name.text, what);
    esgen_items_add(items, ".%s = %u", count, list->count);
}

static void add_text(esgen_items* items, const char* field, const esgen_name* value) {
    if (value->text[0]) esgen_items_add(items, ".%s = %s", field, value->text);
}

static void put_desc(base_bytes* out, const esgen_function* function) {
    const char* name = function->name.text;
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, ".name = \"%s\"", name);
    if (function->kind == ESGEN_SYSTEM) {
        const char* stage = function->stage.text;
        esgen_items_add(&items, ".stage = \"%s\"", stage[0] ? stage : "act");
        esgen_items_add(&items, ".run = %s_rows", name);
    } else {
        add_names(&items, function, "events", "event_count", "events", &function->events);
        esgen_items_add(&items, ".on_event = %s_rows", name);
        if (esgen_takes_runs(function)) esgen_items_add(&items, ".on_events = %s_runs", name);
    }
    if (esgen_term_count(function)) {
        esgen_items_add(&items, ".terms = %s_terms", name);
        esgen_items_add(&items, ".term_count = %u", esgen_term_count(function));
    }
    add_names(&items, function, "before", "before_count", "before", &function->before);
    add_names(&items, function, "after", "after_count", "after", &function->after);
    add_names(&items, function, "tags", "tag_count", "tags", &function->tags);
    esgen_items_add(&items, ".context = context");
    add_names(&items, function, "track", "track_count", "track", &function->track);
    add_text(&items, "every_ticks", &function->every);
    add_text(&items, "quantum", &function->quantum);
    if (function->kind == ESGEN_SYSTEM && esgen_is_confined(function))
        esgen_items_add(&items, ".is_confined = true");
    add_names(&items, function, "reads", "read_count", "reads", &function->reads);
    add_names(&items, function, "writes", "write_count", "writes", &function->writes);
    add_text(&items, "on_enter", &function->enter);
    add_text(&items, "on_leave", &function->leave);
    add_text(&items, "first_update", &function->first_update);
    esgen_put_fields(out, "        {", &items, "},\n");
    esgen_items_deinit(&items);
}

// Functions that the user writes in full: on_enter, on_leave, first_update.
static void put_members(base_bytes* out, const esgen_function* function) {
    const esgen_name* names[] = {&function->enter, &function->leave, &function->first_update};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        if (!names[i]->text[0]) continue;
        esgen_items items;
        esgen_items_init(&items);
        esgen_items_add(&items, "const ecs_stage* stage");
        esgen_items_add(&items, "const ecs_entity* entities");
        esgen_items_add(&items, "uint32_t count");
        esgen_put(out, "static void %s", names[i]->text);
        esgen_put_items(out, "(", &items, ");\n");
        esgen_items_deinit(&items);
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
    base_bytes head;
    base_bytes_init(&head, NULL);
    esgen_put(&head, "%secs_result %s_register_%s(ecs_world* world, %s* context)",
              game->is_table ? "static " : "", game->name.text, stem, game->context.text);
    base_bytes_write_u8(&head, 0);
    out->failed |= head.failed;
    if (!head.failed) esgen_put(out, "%s;\n%s {\n", (const char*)head.data, (const char*)head.data);
    base_bytes_deinit(&head);
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
        esgen_put_terms(out, function);
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

void esgen_put_systems(base_bytes* out, const esgen_unit* unit, const char* stem) {
    BASE_ASSERT(unit && stem && out);
    uint32_t count = 0, queries = 0;
    for (uint32_t i = 0; i < unit->function_count; i++) {
        count += unit->functions[i].kind != ESGEN_QUERY;
        queries += esgen_query_slot(unit, &unit->functions[i]) != NULL;
    }
    if (count + queries == 0) return;
    esgen_put(out, "\n");
    for (uint32_t i = 0; i < unit->function_count; i++)
        put_members(out, &unit->functions[i]);
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
