// SPDX-License-Identifier: MIT
// One function per file with ES_REGISTER_TYPES: types in the order of their structs, then events.
#include "esgen.h"

#include "base/assert.h"

static void put_fields(base_bytes* out, const esgen_struct* from) {
    const char* type = from->c_type.text;
    esgen_put(out, "    static const ecs_field %s_fields[] = {\n", type);
    for (uint32_t i = 0; i < from->field_count; i++) {
        const esgen_field* field = &from->fields[i];
        const char* name = field->name.text;
        esgen_items items;
        esgen_items_init(&items);
        esgen_items_add(&items, "\"%s\"", name);
        esgen_items_add(&items, "offsetof(%s, %s)", type, name);
        esgen_items_add(&items, "%s", field->kind);
        esgen_items_add(&items, "%s", field->count.text);
        esgen_items_add(&items, "{%s}", field->mark.quant.text);
        esgen_put_items(out, "        {", &items, "},\n");
        esgen_items_deinit(&items);
    }
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
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, "\"%s\"", from->name.text);
    esgen_items_add(&items, "sizeof(%s)", type);
    esgen_items_add(&items, "_Alignof(%s)", type);
    esgen_items_add(&items, "%s_fields", type);
    esgen_items_add(&items, "BASE_COUNT(%s_fields)", type);
    esgen_items_add(&items, has_ops(from) ? "&%s_ops" : "NULL", type);
    esgen_put_items(out, "        {", &items, "},\n");
    esgen_items_deinit(&items);
}

static void put_event(base_bytes* out, const esgen_struct* from, const esgen_struct_event* event) {
    const char* type = from->c_type.text;
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, "\"%s\"", event->name.text);
    esgen_items_add(&items, "sizeof(%s)", type);
    esgen_items_add(&items, "%s_fields", type);
    esgen_items_add(&items, "BASE_COUNT(%s_fields)", type);
    esgen_items_add(&items, "%s", event->is_exported ? "true" : "false");
    esgen_put_items(out, "        {", &items, "},\n");
    esgen_items_deinit(&items);
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

void esgen_put_types(base_bytes* out, const esgen_unit* unit, const char* stem) {
    BASE_ASSERT(unit && stem && out);
    uint32_t types = 0, events = 0, boxed = 0;
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        put_clear(out, &unit->structs[i]);
        boxed += unit->structs[i].is_boxed;
        types += unit->structs[i].name.text[0] != '\0';
        events += unit->structs[i].event_count;
    }
    esgen_put(out, "\n// Before templates are loaded. What is refused is reported.\n");
    esgen_put(out, "static ecs_result %s_register_types", stem);
    esgen_items items;
    esgen_items_init(&items);
    esgen_items_add(&items, "ecs_world* world");
    esgen_items_add(&items, "const base_reporter* reporter");
    esgen_put_items(out, "(", &items, ") {\n");
    esgen_items_deinit(&items);
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        put_fields(out, &unit->structs[i]);
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
    esgen_put(out, "    return ECS_OK;\n}\n");
}
