// SPDX-License-Identifier: MIT
// The module's table (net/game.h) and what it points to: messages, settings, actions, types, the
// registration of all files, and functions that hand the context on by its own type.
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

// The function that fills a game's context before its systems are registered, and the one that
// takes what a match starts with. All that is missing is reported by name, not only the first.

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
              "    if (!result && !ecs_template_quant(world, \"%s\", \"%s\", &quant)) {\n"
              "        base_report(reporter, \"%s.blk\", 0,\n"
              "            \"%s: %s is not rounded: it has no _min, _max and _step\");\n"
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
    for (uint32_t i = 0; i < game->slot_count; i++)
        if (game->slots[i].kind == ESGEN_SLOT_STEP)
            esgen_put(out, "    (void)ecs_template_need(&need, \"%s\");\n",
                      game->slots[i].name.text);
    esgen_put(out, "    ecs_result result = ecs_need_result(&need);\n");
    if (esgen_slot_find(game, ESGEN_SLOT_STEP, NULL))
        esgen_put(out, "    ecs_quant quant = {0};\n");
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

static void put_settings(base_bytes* out, const esgen_unit* unit) {
    const esgen_struct* settings = unit->game.settings;
    if (!settings) return;
    esgen_put(out, "\nstatic const net_setting %s_setting_rows[] = {\n", unit->game.name.text);
    for (uint32_t i = 0; i < settings->field_count; i++) {
        esgen_put_line(out, unit, settings->file, settings->fields[i].line);
        esgen_put(out, "    {\"%s\", %s},\n", settings->fields[i].name.text,
                  settings->fields[i].mark.setting.text);
    }
    esgen_put_line_end(out, unit);
    esgen_put(out,
              "};\n\n"
              "static void %s_take_setting(%s* settings, uint32_t index, double value) {\n"
              "    switch (index) {\n",
              unit->game.name.text, settings->c_type.text);
    for (uint32_t i = 0; i < settings->field_count; i++) {
        esgen_put(out, "    case %u:\n        settings->%s = (%s)value;\n        break;\n", i,
                  settings->fields[i].name.text, settings->fields[i].c_type);
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

// Functions per event with ES_MESSAGE: between its payload and the struct that protoc-c makes.
//
// to_wire assigns without a cast, so that the compiler warns of a field that has another type in
// the message. from_wire meets untrusted input: it refuses what the payload's type cannot hold,
// numbers that are not finite and what ES_RANGE excludes; ES_CLAMP moves a value to its limit.
// refusal says which field it was. A text that does not fit is refused.

typedef enum number_kind { SIGNED, UNSIGNED, REAL, NO_NUMBER } number_kind;

static number_kind kind_of(const esgen_field* field) {
    const char* type = field->c_type;
    if (strcmp(type, "float") == 0 || strcmp(type, "double") == 0) return REAL;
    if (strcmp(type, "bool") == 0 || strcmp(type, "ecs_entity") == 0) return NO_NUMBER;
    return type[0] == 'u' || strcmp(type, "ecs_tick") == 0 ? UNSIGNED : SIGNED;
}

// "INT8" of a type that is smaller than any integer of a message; NULL of others.
static const char* small_type(const esgen_field* field) {
    static const char* const types[][2] = {
        {"int8_t", "INT8"}, {"int16_t", "INT16"}, {"uint8_t", "UINT8"}, {"uint16_t", "UINT16"}};
    for (uint32_t i = 0; i < BASE_COUNT(types); i++)
        if (strcmp(field->c_type, types[i][0]) == 0) return types[i][1];
    return NULL;
}

static const char* message_name(const esgen_field* field) {
    const esgen_name* name = &field->mark.message_name;
    return name->text[0] ? name->text : field->name.text;
}

// A limit as one operand: a word, a number with its sign, or in parentheses.
static void put_limit(base_bytes* out, const esgen_text* limit) {
    const char* rest = limit->text + (limit->text[0] == '-');
    bool is_plain =
        strspn(rest, "0123456789."
                     "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(rest);
    esgen_put(out, is_plain ? "%s" : "(%s)", limit->text);
}

// Is there a value below the limit? Compilers warn of `unsigned < 0`.
static bool has_below(const esgen_field* field) {
    const char* min = field->mark.min.text;
    return kind_of(field) != UNSIGNED || (strcmp(min, "0") != 0 && strcmp(min, "0u") != 0);
}

// A text in C that names the limit. Characters and strings in it would need escapes.
static void put_said(base_bytes* out, const esgen_text* limit) {
    bool is_plain = !strpbrk(limit->text, "\"\\");
    esgen_put(out, "%s", is_plain ? limit->text : "its limit");
}

static void put_refused(base_bytes* out, const esgen_field* field) {
    const char* name = message_name(field);
    esgen_put(out, "    if (");
    if (has_below(field)) {
        esgen_put(out, "from->%s < ", name);
        put_limit(out, &field->mark.min);
        esgen_put(out, " || ");
    }
    esgen_put(out, "from->%s > ", name);
    put_limit(out, &field->mark.max);
    esgen_put(out, ")\n        return \"%s is outside of ", name);
    put_said(out, &field->mark.min);
    esgen_put(out, "..");
    put_said(out, &field->mark.max);
    esgen_put(out, "\";\n");
}

static void put_value(base_bytes* out, const esgen_field* field, const char* indent) {
    const char* name = message_name(field);
    esgen_put(out, "%sto->%s = ", indent, field->name.text);
    if (small_type(field))
        esgen_put(out, "(%s)from->%s;\n", field->c_type, name);
    else
        esgen_put(out, "from->%s%s;\n", name, strcmp(field->c_type, "bool") ? "" : " != 0");
}

static void put_clamped(base_bytes* out, const esgen_field* field) {
    const esgen_text* limits[] = {&field->mark.min, &field->mark.max};
    const char* before = "    ";
    for (uint32_t i = has_below(field) ? 0 : 1; i < BASE_COUNT(limits); i++) {
        esgen_put(out, "%sif (from->%s %c ", before, message_name(field), i ? '>' : '<');
        put_limit(out, limits[i]);
        esgen_put(out, ")\n        to->%s = ", field->name.text);
        put_limit(out, limits[i]);
        esgen_put(out, ";\n");
        before = "    else ";
    }
    esgen_put(out, "    else\n");
    put_value(out, field, "        ");
}

// What the payload cannot hold, and what ES_RANGE refuses.
static bool can_refuse(const esgen_field* field) {
    return !field->mark.is_local && (kind_of(field) == REAL || esgen_field_is_text(field) ||
                                     field->mark.limit == ESGEN_REFUSED ||
                                     (small_type(field) && field->mark.limit != ESGEN_CLAMPED));
}

static void put_refusal(base_bytes* out, const esgen_field* field) {
    const char* name = message_name(field);
    const char* small = small_type(field);
    if (esgen_field_is_text(field))
        esgen_put(out,
                  "    if (from->%s && strlen(from->%s) >= (%s))\n"
                  "        return \"%s is longer than %s allows\";\n",
                  name, name, field->count.text, name, field->count.text);
    if (kind_of(field) == REAL)
        esgen_put(out, "    if (from->%s - from->%s != 0) return \"%s is not finite\";\n", name,
                  name, name);
    if (small && field->mark.limit != ESGEN_CLAMPED) {
        esgen_put(out, "    if (from->%s", name);
        if (kind_of(field) == SIGNED) esgen_put(out, " < %s_MIN || from->%s", small, name);
        esgen_put(out, " > %s_MAX)\n        return \"%s is no %s\";\n", small, name, field->c_type);
    }
    if (field->mark.limit == ESGEN_REFUSED) put_refused(out, field);
}

static void put_refusals(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                         const esgen_struct_event* event) {
    const char* message = event->message.text;
    bool is_used = false;
    for (uint32_t i = 0; i < from->field_count; i++)
        is_used |= can_refuse(&from->fields[i]);
    esgen_put(out, "static const char* %s_refusal(const ProtobufCMessage* message) {\n",
              event->name.text);
    esgen_put_line(out, unit, from->file, from->line);
    if (is_used)
        esgen_put(out, "    const %s* from = (const %s*)message;\n", message, message);
    else
        esgen_put(out, "    (void)message;\n");
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (!can_refuse(&from->fields[i])) continue;
        esgen_put_line(out, unit, from->file, from->fields[i].line);
        put_refusal(out, &from->fields[i]);
    }
    esgen_put_line_end(out, unit);
    esgen_put(out, "    return NULL;\n}\n\n");
}

static void put_taken(base_bytes* out, const esgen_field* field) {
    if (esgen_field_is_text(field)) {
        const char* name = message_name(field);
        esgen_put(out, "    if (from->%s) (void)base_text_copy(to->%s, sizeof to->%s, from->%s);\n",
                  name, field->name.text, field->name.text, name);
        return;
    }
    if (field->mark.limit == ESGEN_CLAMPED)
        put_clamped(out, field);
    else
        put_value(out, field, "    ");
}

static void put_message(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                        const esgen_struct_event* event) {
    const char* message = event->message.text;
    const char* payload = from->c_type.text;
    bool is_empty = true;
    for (uint32_t i = 0; i < from->field_count; i++)
        is_empty &= from->fields[i].mark.is_local;
    esgen_put(out,
              "\n// Event %s, message %s.\n"
              "static void %s_to_wire(const void* payload, ProtobufCMessage* message) {\n",
              event->name.text, message, event->name.text);
    if (is_empty) {
        esgen_put(out, "    (void)payload;\n    (void)message;\n");
    } else {
        esgen_put(out, "    const %s* from = payload;\n", payload);
        esgen_put_line(out, unit, from->file, from->line);
        esgen_put(out, "    %s* to = (%s*)message;\n", message, message);
    }
    for (uint32_t i = 0; i < from->field_count; i++) {
        const esgen_field* field = &from->fields[i];
        if (field->mark.is_local) continue;
        esgen_put_line(out, unit, from->file, field->line);
        const char* name = field->name.text;
        if (esgen_field_is_text(field)) // one without its zero would be read past its end
            esgen_put(out,
                      "    to->%s = (char*)(memchr(from->%s, 0, sizeof from->%s) ? from->%s : "
                      "\"\");\n",
                      message_name(field), name, name, name);
        else
            esgen_put(out, "    to->%s = from->%s;\n", message_name(field), name);
    }
    esgen_put_line_end(out, unit);
    esgen_put(out, "}\n\n");
    put_refusals(out, unit, from, event);
    esgen_put(out,
              "static bool %s_from_wire(const ProtobufCMessage* message, void* payload) {\n"
              "    if (%s_refusal(message)) return false;\n",
              event->name.text, event->name.text);
    if (is_empty) {
        esgen_put(out, "    (void)payload;\n");
    } else {
        esgen_put(out, "    const %s* from = (const %s*)message;\n    %s* to = payload;\n", message,
                  message, payload);
    }
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (from->fields[i].mark.is_local) continue;
        esgen_put_line(out, unit, from->file, from->fields[i].line);
        put_taken(out, &from->fields[i]);
    }
    esgen_put_line_end(out, unit);
    esgen_put(out, "    return true;\n}\n");
}

// Call `put` for each event that has a message, in the order of the module's table.
typedef void (*put_event_fn)(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                             const esgen_struct_event* event);

static void put_each(base_bytes* out, const esgen_unit* unit, put_event_fn put) {
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].event_count; k++)
            if (unit->structs[i].events[k].message.text[0])
                put(out, unit, &unit->structs[i], &unit->structs[i].events[k]);
}

void esgen_put_messages(base_bytes* out, const esgen_unit* unit) {
    put_each(out, unit, put_message);
}

// Capitals, for constants.
static void put_upper(base_bytes* out, const char* text) {
    for (; *text; text++)
        esgen_put(out, "%c", *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

static const char* mode_of(const esgen_struct_event* event) {
    if (event->is_input) return "NET_MESSAGE_INPUT";
    return event->is_exported ? "NET_MESSAGE_TO_CLIENTS" : "NET_MESSAGE_TO_SERVER";
}

// "GAME_MESSAGE_HIT"
static void put_number(base_bytes* out, const esgen_unit* unit, const char* event) {
    put_upper(out, unit->game.name.text);
    esgen_put(out, "_MESSAGE_");
    put_upper(out, event);
}

static void put_constant(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                         const esgen_struct_event* event) {
    (void)from;
    esgen_put(out, "    ");
    put_number(out, unit, event->name.text);
    esgen_put(out, ",\n");
}

static void put_sender(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                       const esgen_struct_event* event) {
    if (event->is_input || event->is_exported) return;
    esgen_put(
        out,
        "\n/// Send it to the server. @return false when the queue is full, or while there is "
        "no server.\n"
        "static inline bool %s_send_%s(const net_player_context* view, const %s* payload) {\n"
        "    return view->send && view->send(view->sender, ",
        unit->game.name.text, event->name.text, from->c_type.text);
    put_number(out, unit, event->name.text);
    esgen_put(out, " + 1, payload);\n}\n");
}

void esgen_put_numbers(base_bytes* out, const esgen_unit* unit) {
    esgen_put(out, "\n/// Index of each message in the module's table; the number on the wire is "
                   "one more.\nenum {\n");
    put_each(out, unit, put_constant);
    esgen_put(out, "    ");
    put_number(out, unit, "COUNT");
    esgen_put(out, ",\n};\n");
    const esgen_struct* settings = unit->game.settings;
    if (settings) {
        esgen_put(out, "\n/// Index of each setting in the module's table.\nenum {\n");
        for (uint32_t i = 0; i <= settings->field_count; i++) {
            esgen_put(out, "    ");
            put_upper(out, unit->game.name.text);
            esgen_put(out, "_SETTING_");
            put_upper(out, i < settings->field_count ? settings->fields[i].name.text : "COUNT");
            esgen_put(out, ",\n");
        }
        esgen_put(out, "};\n");
    }
    put_each(out, unit, put_sender);
    esgen_put(out,
              "\n/// @return the module's table, which net_game_module_get of its .so returns.\n"
              "const net_game_module* %s_module(void);\n",
              unit->game.name.text);
}

// Is `camel` how protoc-c spells the package `name`: "MyGame" of my_game?
static bool is_package(const char* name, const char* camel, size_t size) {
    size_t at = 0;
    for (bool is_first = true; *name; is_first = *name++ == '_') {
        if (*name == '_') continue;
        const char upper = (char)(*name - 'a' + 'A');
        const char wanted = is_first && *name >= 'a' && *name <= 'z' ? upper : *name;
        if (at == size || camel[at++] != wanted) return false;
    }
    return at == size;
}

// "Breakout__PadInput": the name is the part after the package, the descriptor is in lower case
// with '_' between words: breakout__pad_input__descriptor. A package keeps its own spelling.
static void put_descriptor(base_bytes* out, const esgen_unit* unit, const char* message) {
    const char* inside = strstr(message, "__");
    const char* at = message;
    if (inside && is_package(unit->game.name.text, message, (size_t)(inside - message))) {
        esgen_put(out, "%s", unit->game.name.text);
        at = inside;
    }
    for (; *at; at++) {
        bool is_upper = *at >= 'A' && *at <= 'Z';
        bool is_inside = at > message && at[-1] != '_' && !(at[-1] >= 'A' && at[-1] <= 'Z');
        if (is_upper && is_inside) esgen_put(out, "_");
        esgen_put(out, "%c", is_upper ? *at - 'A' + 'a' : *at);
    }
    esgen_put(out, "__descriptor");
}

static void put_message_row(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                            const esgen_struct_event* event) {
    (void)from;
    const char* message = event->message.text;
    const char* name = message;
    for (const char* at = strstr(message, "__"); at; at = strstr(at + 2, "__"))
        name = at + 2;
    esgen_put(out, "    {\"%s\", &", name);
    put_descriptor(out, unit, message);
    esgen_put(out, ", \"%s\", %s,\n     %s, %s_to_wire, %s_from_wire, %s, %s_refusal},\n",
              event->name.text, mode_of(event), event->is_reliable ? "true" : "false",
              event->name.text, event->name.text, event->is_late ? "true" : "false",
              event->name.text);
}

static uint32_t count_sounds(const esgen_unit* unit) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].event_count; k++)
            count += unit->structs[i].events[k].sound.text[0] != '\0';
    return count;
}

static void put_sounds(base_bytes* out, const esgen_unit* unit) {
    if (count_sounds(unit) == 0) return;
    esgen_put(out, "\nstatic const net_sound %s_sound_rows[] = {\n", unit->game.name.text);
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].event_count; k++) {
            const esgen_struct_event* event = &unit->structs[i].events[k];
            if (event->sound.text[0])
                esgen_put(out, "    {\"%s\", %s},\n", event->name.text, event->sound.text);
        }
    esgen_put(out, "};\n");
}

static void put_actions(base_bytes* out, const esgen_unit* unit) {
    const esgen_game* game = &unit->game;
    if (game->action_count == 0) return;
    esgen_put(out, "\nstatic const net_action %s_action_rows[] = {\n", game->name.text);
    for (uint32_t i = 0; i < game->action_count; i++)
        esgen_put(out, "    [%s] = {%s%s},\n", game->actions[i].constant.text,
                  game->actions[i].row.text, game->actions[i].has_pads ? "" : ", NULL");
    esgen_put(out, "};\n");
}

// The handler of an input that is kept.
static void put_keeper(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                       const esgen_struct_event* event) {
    if (!event->is_kept) return;
    const char* type = from->c_type.text;
    esgen_put(out,
              "\nstatic void %s_keep_input(const ecs_stage* stage, const ecs_event* event,\n"
              "    const ecs_rows* rows) {\n"
              "    %s* kept = rows->columns[0];\n"
              "    (void)stage;\n"
              "    for (uint32_t i = 0; i < rows->count; i++)\n"
              "        kept[i] = *(const %s*)event->payload;\n}\n",
              unit->game.name.text, type, type);
    esgen_put(
        out,
        "\nstatic ecs_result %s_register_input(ecs_world* world) {\n"
        "    static const char* const events[] = {\"%s\"};\n"
        "    static const char* const tags[] = {\"server|predict\"};\n"
        "    static const ecs_term terms[] = {{\"input\", \"%s\", ECS_WRITE}};\n"
        "    static const ecs_system_desc keeper = {.name = \"keep_input\", .events = events,\n"
        "        .event_count = 1, .on_event = %s_keep_input, .terms = terms,\n"
        "        .term_count = 1, .tags = tags, .tag_count = 1};\n"
        "    return ecs_system_register(world, &keeper);\n}\n",
        unit->game.name.text, event->name.text, from->name.text, unit->game.name.text);
}

static void put_keeper_call(base_bytes* out, const esgen_unit* unit, const esgen_struct* from,
                            const esgen_struct_event* event) {
    (void)from;
    if (event->is_kept)
        esgen_put(out, "    if (!result) result = %s_register_input(world);\n",
                  unit->game.name.text);
}

static void put_registration(base_bytes* out, const esgen_unit* unit, const char* stem) {
    const esgen_game* game = &unit->game;
    const char* name = game->name.text;
    const char* setup = esgen_game_value(game, "register_systems", NULL);
    const char* load = esgen_game_value(game, "load", NULL);
    esgen_put(out, "\n");
    for (uint32_t i = 0; i < game->systems.count; i++)
        esgen_put(out, "ecs_result %s_register_%s(ecs_world* world, %s* game);\n", name,
                  game->systems.items[i].text, game->context.text);
    esgen_put(out,
              "static ecs_result %s_register_all(ecs_world* world, void** context,\n"
              "    const base_reporter* reporter) {\n"
              "    %s* game = ecs_world_context(world, sizeof *game);\n"
              "    if (!game) return ECS_ERR_MEMORY;\n"
              "    *context = game;\n",
              name, game->context.text);
    if (esgen_slot_find(game, ESGEN_SLOT_RATE, NULL))
        esgen_put(out, "    game->tick_rate_hz = 60;\n");
    if (esgen_slot_find(game, ESGEN_SLOT_DT, NULL))
        esgen_put(out, "    game->dt = 1.0f / 60.0f;\n");
    const esgen_slot* settings = esgen_slot_find(game, ESGEN_SLOT_SETTINGS, NULL);
    if (settings)
        esgen_put(out,
                  "    for (uint32_t i = 0; i < BASE_COUNT(%s_setting_rows); i++)\n"
                  "        %s_take_setting(&game->%s, i, %s_setting_rows[i].value_default);\n",
                  name, name, settings->field.text, name);
    esgen_put(out, "    ecs_result result = %s_find_all(world, game, reporter);\n", name);
    if (setup) esgen_put(out, "    if (!result) result = %s(world, game, reporter);\n", setup);
    put_each(out, unit, put_keeper_call);
    if (load)
        esgen_put(
            out,
            "    const ecs_loading_config loading = {.load = %s, .load_context = game};\n"
            "    if (ecs_world_has_tag(world, \"server\")) ecs_loading_set(world, &loading);\n",
            load);
    if (esgen_registers(unit))
        esgen_put(out, "    if (!result) result = %s_register_%s(world, game);\n", name, stem);
    for (uint32_t i = 0; i < game->systems.count; i++)
        esgen_put(out, "    if (!result) result = %s_register_%s(world, game);\n", name,
                  game->systems.items[i].text);
    esgen_put(out, "    return result;\n}\n");
}

// Functions of the contract, so that a game's own have the context's own type.
static const struct {
    const char* key;
    const char* head;      // result and parameters
    const char* arguments; // of the game's function
    const char* returns;
    bool is_required; // without one, players watch, and the player's entity is destroyed
} hooks[] = {
    {"player_join", "(ecs_world* world, void* context, const net_game_player* player)",
     "(world, context, player)", "ecs_entity", true},
    {"player_leave", "(ecs_world* world, void* context, uint32_t client, ecs_entity entity)",
     "(world, context, client, entity)", "void", true},
    {"bot_think", "(const net_player_context* view, void* input)", "(view, input)", "void", false},
    {"human_input", "(const net_player_context* view, const net_controls* controls, void* input)",
     "(view, controls, input)", "void", false},
    {"human_text", "(const net_player_context* view, const char* text)", "(view, text)", "void",
     false},
    {"operator_said", "(ecs_world* world, void* context, const char* text)",
     "(world, context, text)", "void", false},
    {"predict",
     "(ecs_world* world, void* context, ecs_entity player, net_predicted* entities, uint32_t "
     "capacity)",
     "(world, context, player, entities, capacity)", "uint32_t", false},
    {"restored", "(ecs_world* world, void* context)", "(world, context)", "void", false},
    {"stop", "(ecs_world* world, void* context)", "(world, context)", "void", false},
    {"save_state", "(ecs_world* world, void* context, base_bytes* bytes)",
     "(world, context, bytes)", "ecs_result", false},
    {"load_state", "(ecs_world* world, void* context, base_reader* reader)",
     "(world, context, reader)", "ecs_result", false},
    {"predict_area", "(ecs_world* world, void* context, ecs_entity player, ecs_entity entity)",
     "(world, context, player, entity)", "bool", false},
};

static bool is_hook(const char* key) {
    for (uint32_t i = 0; i < BASE_COUNT(hooks); i++)
        if (strcmp(hooks[i].key, key) == 0) return true;
    return strcmp(key, "start") == 0 || strcmp(key, "mirror_start") == 0 ||
           strcmp(key, "settings_changed") == 0 || strcmp(key, "register_systems") == 0 ||
           strcmp(key, "register_types") == 0 || strcmp(key, "load") == 0;
}

static void put_start(base_bytes* out, const esgen_unit* unit, const char* key) {
    const esgen_game* game = &unit->game;
    const char* value = esgen_game_value(game, key, NULL);
    esgen_put(out,
              "static void %s_hook_%s(ecs_world* world, void* context, const net_game_start* "
              "begin) {\n    %s_take_start(context, begin);\n",
              game->name.text, key, game->name.text);
    esgen_put_line(out, unit, unit->source, game->line);
    if (value)
        esgen_put(out, "    %s(world, context, begin);\n", value);
    else
        esgen_put(out, "    (void)world;\n");
    esgen_put_line_end(out, unit);
    esgen_put(out, "}\n");
}

static void put_hooks(base_bytes* out, const esgen_unit* unit) {
    const esgen_game* game = &unit->game;
    const char* name = game->name.text;
    esgen_put(out, "\n");
    put_start(out, unit, "start");
    put_start(out, unit, "mirror_start");
    if (game->settings) put_start(out, unit, "settings_changed");
    for (uint32_t i = 0; i < BASE_COUNT(hooks); i++) {
        const char* value = esgen_game_value(game, hooks[i].key, NULL);
        bool is_join = strcmp(hooks[i].key, "player_join") == 0;
        if (!value && !hooks[i].is_required) continue;
        bool returns = strcmp(hooks[i].returns, "void") != 0;
        esgen_put(out, "static %s %s_hook_%s%s {\n", hooks[i].returns, name, hooks[i].key,
                  hooks[i].head);
        if (value) esgen_put_line(out, unit, unit->source, game->line);
        if (value && strcmp(value, "net_predict_own") == 0)
            esgen_put(out, "    (void)context;\n"
                           "    return net_predict_own(world, player, entities, capacity);\n}\n");
        else if (value)
            esgen_put(out, "    %s%s%s;\n}\n", returns ? "return " : "", value, hooks[i].arguments);
        else if (is_join)
            esgen_put(out, "    (void)world;\n    (void)context;\n    (void)player;\n"
                           "    return ECS_ENTITY_NONE; // all players watch\n}\n");
        else
            esgen_put(out, "    (void)context;\n    (void)client;\n"
                           "    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);"
                           "\n}\n");
        if (value) esgen_put_line_end(out, unit);
    }
}

// The rows of a table with their count and size. `what`: "message".
static void put_rows(base_bytes* out, const char* name, const char* what) {
    esgen_put(out,
              "        .%ss = %s_%s_rows,\n"
              "        .%s_count = BASE_COUNT(%s_%s_rows),\n"
              "        .%s_bytes = sizeof(net_%s),\n",
              what, name, what, what, name, what, what, what);
}

static void put_table(base_bytes* out, const esgen_unit* unit, const char* stem) {
    const esgen_game* game = &unit->game;
    const char* name = game->name.text;
    esgen_put(out,
              "\nconst net_game_module* %s_module(void) {\n"
              "    static const net_game_module table = {\n"
              "        .contract_version = NET_GAME_CONTRACT_VERSION,\n"
              "        .size_bytes = sizeof(net_game_module),\n"
              "        .core_version = ECS_CORE_VERSION,\n"
              "        .view_width = %s,\n        .view_height = %s,\n",
              name, game->width.text, game->height.text);
    if (strcmp(game->title.text, "\"\"") != 0)
        esgen_put(out, "        .name = \"%s\",\n        .title = %s,\n", name, game->title.text);
    put_rows(out, name, "message");
    if (game->settings) put_rows(out, name, "setting");
    if (game->action_count) put_rows(out, name, "action");
    if (count_sounds(unit)) put_rows(out, name, "sound");
    esgen_put(out,
              "        .register_types = %s_register_types,\n"
              "        .register_systems = %s_register_all,\n"
              "        .start = %s_hook_start,\n"
              "        .mirror_start = %s_hook_mirror_start,\n",
              stem, name, name, name);
    if (game->settings)
        esgen_put(out, "        .settings_changed = %s_hook_settings_changed,\n", name);
    for (uint32_t i = 0; i < BASE_COUNT(hooks); i++)
        if (esgen_game_value(game, hooks[i].key, NULL) || hooks[i].is_required)
            esgen_put(out, "        .%s = %s_hook_%s,\n", hooks[i].key, name, hooks[i].key);
    esgen_put_line(out, unit, unit->source, game->line);
    for (uint32_t i = 0; i < game->keys.count; i++)
        if (!is_hook(game->keys.items[i].text))
            esgen_put(out, "        .%s = %s,\n", game->keys.items[i].text,
                      game->values.items[i].text);
    esgen_put_line_end(out, unit);
    esgen_put(out, "    };\n    return &table;\n}\n");
}

void esgen_put_game(base_bytes* out, const esgen_unit* unit, const char* stem) {
    BASE_ASSERT(unit && stem && out && unit->game.is_table);
    esgen_put(out, "\nstatic const net_message %s_message_rows[] = {\n", unit->game.name.text);
    put_each(out, unit, put_message_row);
    esgen_put(out, "};\n");
    put_actions(out, unit);
    put_sounds(out, unit);
    for (uint32_t i = 0; i < unit->game.keys.count; i++)
        // That of register_types is above the types.
        if (unit->game.heads[i].text[0] &&
            strcmp(unit->game.keys.items[i].text, "register_types") != 0)
            esgen_put(out, "\n%s;\n", unit->game.heads[i].text);
    put_settings(out, unit);
    put_find(out, unit);
    put_take(out, unit);
    put_each(out, unit, put_keeper);
    put_registration(out, unit, stem);
    put_hooks(out, unit);
    put_table(out, unit, stem);
}
