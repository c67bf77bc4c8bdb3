// SPDX-License-Identifier: MIT
// The function that fills a game's context before its systems are registered, and the one that
// takes what a match starts with. All that is missing is reported by name, not only the first.
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

static uint32_t count_slots(const esgen_game* game, esgen_slot_kind kind) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < game->slot_count; i++)
        count += game->slots[i].kind == kind;
    return count;
}

static void put_ids(base_bytes* out, const esgen_game* game) {
    static const char* const kinds[] = {[ESGEN_SLOT_COMPONENT] = "component",
                                        [ESGEN_SLOT_TEMPLATE] = "template",
                                        [ESGEN_SLOT_EVENT] = "event"};
    for (uint32_t i = 0; i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        if (slot->kind <= ESGEN_SLOT_EVENT)
            esgen_put(out, "    game->%s = ecs_%s_need(&need, \"%s\");\n", slot->field.text,
                      kinds[slot->kind], slot->name.text);
    }
}

static void put_values(base_bytes* out, const esgen_game* game) {
    for (uint32_t i = 0; i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        if (slot->kind != ESGEN_SLOT_VALUE) continue;
        const char* field = slot->field.text;
        esgen_put(out,
                  "    const %s* %s_value =\n"
                  "        ecs_value_need(&need, \"%s\", \"%s\", sizeof game->%s);\n"
                  "    if (%s_value) game->%s = *%s_value;\n",
                  slot->type.text, field, slot->name.text, slot->terms.items[0].text, field, field,
                  field, field);
    }
}

static void put_query(base_bytes* out, const esgen_slot* slot) {
    esgen_put(out, "    static const ecs_term %s_terms[] = {\n", slot->field.text);
    for (uint32_t i = 0; i < slot->terms.count; i++) {
        const char* text = slot->terms.items[i].text;
        const char* access = text[0] == '!'   ? "ECS_REQUIRE_NOT"
                             : text[0] == '?' ? "ECS_OPTIONAL_READ"
                                              : "ECS_READ";
        text += text[0] == '!' || text[0] == '?';
        const char* colon = strrchr(text, ':');
        bool is_tag = strcmp(colon, ":tag") == 0 && strcmp(access, "ECS_READ") == 0;
        esgen_put(out, "        {\"%.*s\", \"%s\", %s},\n", (int)(colon - text), text, colon + 1,
                  is_tag ? "ECS_REQUIRE" : access);
    }
    esgen_put(
        out,
        "    };\n"
        "    if (!result)\n"
        "        result = ecs_query_create(world, %s_terms, BASE_COUNT(%s_terms), &game->%s);\n",
        slot->field.text, slot->field.text, slot->field.text);
}

static void put_step(base_bytes* out, const esgen_game* game, const esgen_slot* slot) {
    const char* from = slot->name.text;
    const char* component = slot->terms.items[0].text;
    esgen_put(out,
              "    if (!ecs_template_quant(world, \"%s\", \"%s\", &quant)) {\n"
              "        base_report(reporter, \"%s.blk\", 0, \"%s: %s is not rounded\");\n"
              "        result = ECS_ERR_UNKNOWN;\n"
              "    }\n"
              "    game->%s = %s;\n",
              from, component, game->name.text, from, component, slot->field.text,
              slot->is_quant ? "quant" : "(float)quant.step");
}

static void put_find(base_bytes* out, const esgen_unit* unit) {
    const esgen_game* game = &unit->game;
    const char* name = game->name.text;
    esgen_put(out,
              "\n// Fill the fields of the context that name something of the world.\n"
              "static ecs_result %s_find_all(ecs_world* world, %s* game,\n"
              "    const base_reporter* reporter) {\n"
              "    ecs_need need = {.world = world, .reporter = reporter, .place = \"%s\"};\n"
              "    (void)game;\n",
              name, game->context.text, name);
    put_ids(out, game);
    put_values(out, game);
    esgen_put(out, "    ecs_result result = ecs_need_result(&need);\n");
    if (count_slots(game, ESGEN_SLOT_STEP)) esgen_put(out, "    ecs_quant quant = {0};\n");
    for (uint32_t i = 0; i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        if (slot->kind == ESGEN_SLOT_TAG)
            esgen_put(out, "    game->%s = ecs_world_has_tag(world, \"%s\");\n", slot->field.text,
                      slot->name.text);
        if (slot->kind == ESGEN_SLOT_MEMORY)
            esgen_put(out,
                      "    if (ecs_world_has_tag(world, \"%s\")) {\n"
                      "        game->%s = ecs_world_context(world, sizeof *game->%s);\n"
                      "        if (!game->%s) return ECS_ERR_MEMORY;\n"
                      "    }\n",
                      slot->name.text, slot->field.text, slot->field.text, slot->field.text);
        if (slot->kind == ESGEN_SLOT_STEP) put_step(out, game, slot);
        if (slot->kind == ESGEN_SLOT_QUERY && slot->terms.count) put_query(out, slot);
    }
    esgen_put(out, "    return result;\n}\n");
}

static const char* as_value(const esgen_field* field, const char** tail) {
    *tail = strcmp(field->c_type, "bool") == 0 ? " != 0.0" : "";
    return field->c_type;
}

static void put_settings(base_bytes* out, const esgen_unit* unit) {
    const esgen_struct* settings = unit->game.settings;
    if (!settings) return;
    esgen_put(out, "\nstatic const net_setting %s_settings_rows[] = {\n", unit->game.name.text);
    for (uint32_t i = 0; i < settings->field_count; i++)
        esgen_put(out, "    {\"%s\", %s},\n", settings->fields[i].name.text,
                  settings->fields[i].mark.setting.text);
    esgen_put(out,
              "};\n\n"
              "static void %s_take_setting(%s* settings, uint32_t index, double value) {\n"
              "    switch (index) {\n",
              unit->game.name.text, settings->c_type.text);
    for (uint32_t i = 0; i < settings->field_count; i++) {
        const char* tail;
        const char* type = as_value(&settings->fields[i], &tail);
        if (tail[0])
            esgen_put(out, "    case %u:\n        settings->%s = value%s;\n        break;\n", i,
                      settings->fields[i].name.text, tail);
        else
            esgen_put(out, "    case %u:\n        settings->%s = (%s)value;\n        break;\n", i,
                      settings->fields[i].name.text, type);
    }
    esgen_put(out, "    default:\n        break;\n    }\n}\n");
}

// What a match starts with, on a server and on a client.
static void put_take(base_bytes* out, const esgen_unit* unit) {
    const esgen_game* game = &unit->game;
    esgen_put(out,
              "\nstatic void %s_take_start(%s* game, const net_game_start* start) {\n"
              "    (void)game;\n    (void)start;\n",
              game->name.text, game->context.text);
    if (esgen_slot_find(game, ESGEN_SLOT_RATE, NULL))
        esgen_put(out, "    game->tick_rate_hz = start->tick_rate_hz;\n");
    if (esgen_slot_find(game, ESGEN_SLOT_DT, NULL)) esgen_put(out, "    game->dt = start->dt;\n");
    if (esgen_slot_find(game, ESGEN_SLOT_SERVICES, NULL))
        esgen_put(out, "    game->services = start->services;\n");
    const esgen_slot* settings = esgen_slot_find(game, ESGEN_SLOT_SETTINGS, NULL);
    if (settings)
        esgen_put(out,
                  "    for (uint32_t i = 0; i < start->setting_count; i++)\n"
                  "        %s_take_setting(&game->%s, i, start->settings[i]);\n",
                  game->name.text, settings->field.text);
    esgen_put(out, "}\n");
}

void esgen_put_context(base_bytes* out, const esgen_unit* unit) {
    BASE_ASSERT(unit && out);
    put_settings(out, unit);
    put_find(out, unit);
    put_take(out, unit);
}
