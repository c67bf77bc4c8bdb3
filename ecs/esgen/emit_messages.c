// SPDX-License-Identifier: MIT
// Functions per event with ES_MESSAGE: between its payload and the struct that protoc-c makes.
//
// to_wire assigns without a cast, so that the compiler warns of a field that has another type in
// the message. from_wire meets untrusted input: it refuses what the payload's type cannot hold,
// numbers that are not finite and what ES_RANGE excludes; ES_CLAMP moves a value to its limit.
// refusal says which field it was.
#include "esgen.h"

#include <string.h>

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

// A text in C that says what the limit is. Characters and strings in it would need escapes.
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
    return !field->mark.is_local && (kind_of(field) == REAL || field->mark.limit == ESGEN_REFUSED ||
                                     (small_type(field) && field->mark.limit != ESGEN_CLAMPED));
}

static void put_refusal(base_bytes* out, const esgen_field* field) {
    const char* name = message_name(field);
    const char* small = small_type(field);
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

static void put_refusals(base_bytes* out, const esgen_struct* from,
                         const esgen_struct_event* event) {
    const char* message = event->message.text;
    bool is_used = false;
    for (uint32_t i = 0; i < from->field_count; i++)
        is_used |= can_refuse(&from->fields[i]);
    esgen_put(out, "static const char* %s_refusal(const ProtobufCMessage* message) {\n",
              event->name.text);
    if (is_used)
        esgen_put(out, "    const %s* from = (const %s*)message;\n", message, message);
    else
        esgen_put(out, "    (void)message;\n");
    for (uint32_t i = 0; i < from->field_count; i++)
        if (can_refuse(&from->fields[i])) put_refusal(out, &from->fields[i]);
    esgen_put(out, "    return NULL;\n}\n\n");
}

static void put_taken(base_bytes* out, const esgen_field* field) {
    if (field->mark.limit == ESGEN_CLAMPED)
        put_clamped(out, field);
    else
        put_value(out, field, "    ");
}

static void put_message(base_bytes* out, const esgen_struct* from,
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
        esgen_put(out, "    const %s* from = payload;\n    %s* to = (%s*)message;\n", payload,
                  message, message);
    }
    for (uint32_t i = 0; i < from->field_count; i++) {
        const esgen_field* field = &from->fields[i];
        if (field->mark.is_local) continue;
        esgen_put(out, "    to->%s = from->%s;\n", message_name(field), field->name.text);
    }
    esgen_put(out, "}\n\n");
    put_refusals(out, from, event);
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
    for (uint32_t i = 0; i < from->field_count; i++)
        if (!from->fields[i].mark.is_local) put_taken(out, &from->fields[i]);
    esgen_put(out, "    return true;\n}\n");
}

void esgen_put_messages(base_bytes* out, const esgen_unit* unit) {
    for (uint32_t i = 0; i < unit->struct_count; i++) {
        const esgen_struct* from = &unit->structs[i];
        for (uint32_t k = 0; k < from->event_count; k++)
            if (from->events[k].message.text[0]) put_message(out, from, &from->events[k]);
    }
}
