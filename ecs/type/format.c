// SPDX-License-Identifier: MIT
// Values as text for dumps, logs and the inspector: as a datablock spells them, but without spaces,
// so that a line of key=value pairs stays readable by programs. A float gets the shortest text that
// reads back as the same bits.
#include "type/container.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/inspect.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
    char* target;
    size_t capacity;
    size_t size;
    bool is_cut;
} writer;

static void put_text(writer* out, const char* text) {
    for (; *text; text++) {
        if (out->size + 1 >= out->capacity) {
            out->is_cut = true;
            break;
        }
        out->target[out->size++] = *text;
    }
    out->target[out->size] = '\0';
}

static void put_field(writer* out, const ecs_field* field, const uint8_t* value) {
    uint32_t bytes = ecs_field_kind_bytes(field->kind);
    for (uint32_t i = 0; i < field->count && !out->is_cut; i++) {
        if (i) put_text(out, ",");
        char text[40];
        const ecs_number number =
            ecs_number_get(field->kind, value + field->offset + (size_t)i * bytes);
        ecs_number_text(&number, text, sizeof text);
        put_text(out, text);
    }
}

// Quote and escape a text: any player name stays on one line.
static void put_string(writer* out, const ecs_string* string) {
    put_text(out, "\"");
    for (uint32_t i = 0; i < string->size && !out->is_cut; i++) {
        unsigned char c = (unsigned char)string->data[i];
        char text[8] = {(char)c};
        if (c == '"' || c == '\\')
            (void)snprintf(text, sizeof text, "\\%c", c);
        else if (c <= 0x20 || c == 0x7F)
            (void)snprintf(text, sizeof text, "\\x%02x", c);
        put_text(out, text);
    }
    put_text(out, "\"");
}

static void put_value(writer* out, const ecs_type* type, const void* value);

// Write a name as it is, or quoted when it is no plain word.
static void put_name(writer* out, const ecs_named_element* member) {
    if (ecs_name_is_valid(member->name)) {
        put_text(out, member->name);
        return;
    }
    put_string(out, &(ecs_string){.data = member->name, .size = member->name_bytes});
}

// A list as [1,2;3,4], an array as [t="a";i=1], an object as {name:t="a"}.
static void put_container(writer* out, const ecs_container_body* body, bool is_object) {
    put_text(out, is_object ? "{" : "[");
    for (uint32_t i = 0; body && i < body->count && !out->is_cut; i++) {
        const ecs_type* type = ecs_builtin_type((ecs_type_id)ecs_container_item_type(body, i));
        if (i) put_text(out, ";");
        if (is_object) {
            put_name(out, ecs_container_named_item(body, i));
            put_text(out, ":");
        }
        if (!ecs_element_is_list(body->type)) {
            put_text(out, type->name);
            put_text(out, "=");
        }
        put_value(out, type, ecs_container_item(body, i));
    }
    put_text(out, is_object ? "}" : "]");
}

// What a type writes by itself. A byte that would end a word becomes _.
static void put_own(writer* out, const ecs_type_ops* ops, const void* value) {
    const size_t room = out->capacity - out->size;
    char* text = out->target + out->size;
    if (!ops->format(value, text, room)) out->is_cut = true;
    text[room - 1] = '\0';
    for (; *text; text++, out->size++)
        if ((unsigned char)*text <= 0x20 || *text == 0x7F) *text = '_';
}

static void put_value(writer* out, const ecs_type* type, const void* value) {
    if (type->ops && type->ops->format) {
        put_own(out, type->ops, value);
        return;
    }
    if (type->id == ECS_ELEMENT_T) {
        put_string(out, value);
        return;
    }
    if (type->id > ECS_BUILTIN_TAG && type->id < ECS_ELEMENT_TYPE_END) {
        put_container(out, ecs_container_body_of(value), type->id == ECS_ELEMENT_OBJECT);
        return;
    }
    bool is_struct = type->id > ECS_BUILTIN_COUNT;
    if (is_struct) put_text(out, "{");
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (i) put_text(out, is_struct ? ";" : ",");
        if (is_struct) {
            put_text(out, type->fields[i].name);
            put_text(out, "=");
        }
        put_field(out, &type->fields[i], value);
    }
    if (is_struct) put_text(out, "}");
}

bool ecs_type_format(const ecs_type* type, const void* value, char* target, size_t target_bytes) {
    BASE_ASSERT(type && target && target_bytes > 0);
    writer out = {.target = target, .capacity = target_bytes};
    target[0] = '\0';
    put_value(&out, type, ecs_type_object(type, value));
    return !out.is_cut;
}

bool ecs_entity_parse(const char* text, ecs_entity* entity) {
    char index_text[12];
    uint64_t index, generation;
    text += text[0] == '#';
    const size_t length = strcspn(text, ":");
    if (text[length] != ':' || length == 0 || length >= sizeof index_text) return false;
    memcpy(index_text, text, length);
    index_text[length] = '\0';
    if (!base_text_parse_u64(index_text, &index) || index > ECS_INDEX_MAX ||
        !base_text_parse_u64(text + length + 1, &generation) || generation == 0 ||
        generation > ECS_GENERATION_MAX)
        return false;
    *entity = ecs_entity_make((uint32_t)index, (uint32_t)generation);
    return true;
}
