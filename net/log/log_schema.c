// SPDX-License-Identifier: MIT
// The schema in a header: names for the numbers in records, and what differs from a match here.
//
// Both schemas are compared in their packed form, item by item and by name: numbers depend on the
// order of loading. Every look-up walks all of the schema, so it is only for messages and dumps.
#include "log/log_header.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>

typedef struct item {
    uint64_t id;
    char name[ECS_NAME_BYTES_MAX];
    base_reader bytes; // of the whole item
} item;

static base_reader begin_schema(const void* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field))
        if (field.id == NET_LOG_HEADER_SCHEMA && field.type == 2)
            return base_reader_make(field.data, field.size);
    return base_reader_make(NULL, 0);
}

static bool has_row_code(const void* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field))
        if (field.id == NET_LOG_HEADER_ROW_CODE) return true;
    return false;
}

// The next component, template or message.
static bool next_item(base_reader* schema, uint32_t kind, item* found) {
    proto_pb_field field, inner;
    while (proto_pb_next(schema, &field)) {
        if (field.id != kind || field.type != 2) continue;
        *found = (item){.bytes = base_reader_make(field.data, field.size)};
        if (kind == NET_LOG_SCHEMA_MESSAGE)
            return net_log_header_text(&field, found->name, sizeof found->name);
        base_reader reader = found->bytes;
        while (proto_pb_next(&reader, &inner)) {
            if (inner.id == 1) found->id = inner.number;
            if (inner.id == 2 && !net_log_header_text(&inner, found->name, sizeof found->name))
                return false;
        }
        return !reader.failed;
    }
    return false;
}

static bool find_by_id(const void* data, size_t size, uint32_t kind, uint64_t id, char* name) {
    base_reader schema = begin_schema(data, size);
    item found;
    while (next_item(&schema, kind, &found))
        if (found.id == id) return base_text_copy(name, ECS_NAME_BYTES_MAX, found.name);
    return false;
}

static bool find_by_name(base_reader schema, uint32_t kind, const char* name, item* found) {
    while (next_item(&schema, kind, found))
        if (strcmp(found->name, name) == 0) return true;
    return false;
}

bool net_log_header_component(const void* data, size_t size, uint32_t component,
                              char name[ECS_NAME_BYTES_MAX]) {
    return find_by_id(data, size, NET_LOG_SCHEMA_COMPONENT, component, name);
}

// ---- what differs ----

// A field of a component.
typedef struct schema_field {
    char name[ECS_NAME_BYTES_MAX];
    uint64_t numbers[7]; // by their number in the message: 2 kind, 3 count, 4 bits, 5 min, 6 step
} schema_field;

static bool next_field(base_reader* component, schema_field* found) {
    proto_pb_field field, inner;
    while (proto_pb_next(component, &field)) {
        if (field.id != 4 || field.type != 2) continue;
        *found = (schema_field){0};
        base_reader reader = base_reader_make(field.data, field.size);
        while (proto_pb_next(&reader, &inner)) {
            if (inner.id == 1 && !net_log_header_text(&inner, found->name, sizeof found->name))
                return false;
            if (inner.id >= 2 && inner.id < BASE_COUNT(found->numbers))
                found->numbers[inner.id] = inner.number;
        }
        return !reader.failed;
    }
    return false;
}

static bool type_of(base_reader component, char* type) {
    proto_pb_field field;
    type[0] = 0;
    while (proto_pb_next(&component, &field))
        if (field.id == 3) return net_log_header_text(&field, type, ECS_NAME_BYTES_MAX);
    return true;
}

static bool differ_in_field(const char* component, const schema_field* ours,
                            const schema_field* theirs, char* text, size_t text_bytes) {
    static const char* const words[] = {
        [2] = "kind", [3] = "count", [4] = "bits", [5] = "smallest value", [6] = "step"};
    if (strcmp(ours->name, theirs->name) != 0)
        return base_text_format(text, text_bytes, "component %s has field %s here, %s in the log",
                                component, ours->name, theirs->name),
               true;
    for (uint32_t i = 2; i < BASE_COUNT(words); i++) {
        if (ours->numbers[i] == theirs->numbers[i]) continue;
        return base_text_format(text, text_bytes,
                                "component %s, field %s: its %s is another one in the log",
                                component, ours->name, words[i]),
               true;
    }
    return false;
}

static bool differ_in_component(const item* ours, const item* theirs, char* text,
                                size_t text_bytes) {
    char type[ECS_NAME_BYTES_MAX], log_type[ECS_NAME_BYTES_MAX];
    if (!type_of(ours->bytes, type) || !type_of(theirs->bytes, log_type)) return false;
    if (strcmp(type, log_type) != 0)
        return base_text_format(text, text_bytes, "component %s has type %s here, %s in the log",
                                ours->name, type, log_type),
               true;
    base_reader here = ours->bytes, log = theirs->bytes;
    schema_field field, log_field;
    for (;;) {
        bool has_field = next_field(&here, &field), has_log_field = next_field(&log, &log_field);
        if (!has_log_field && !has_field) return false;
        if (has_field && has_log_field) {
            if (differ_in_field(ours->name, &field, &log_field, text, text_bytes)) return true;
            continue;
        }
        return base_text_format(text, text_bytes, "component %s has field %s only %s", ours->name,
                                has_field ? field.name : log_field.name,
                                has_field ? "here" : "in the log"),
               true;
    }
}

// A component of a template. Its numbers are those of SchemaTemplateComponent: 2 flags, 3 bits,
// 4 min, 5 step, 6 is_rotation.
typedef struct template_component {
    char name[ECS_NAME_BYTES_MAX];
    uint64_t numbers[7];
    const uint8_t* defaults;
    size_t default_bytes;
} template_component;

// `schema` has the names.
static bool next_template_component(base_reader schema, base_reader* template_,
                                    template_component* found) {
    proto_pb_field field, inner;
    while (proto_pb_next(template_, &field)) {
        if (field.id != 3 || field.type != 2) continue;
        *found = (template_component){0};
        base_reader reader = base_reader_make(field.data, field.size);
        while (proto_pb_next(&reader, &inner)) {
            if (inner.id < BASE_COUNT(found->numbers)) found->numbers[inner.id] = inner.number;
            if (inner.id != 8 || inner.type != 2) continue;
            found->defaults = inner.data;
            found->default_bytes = inner.size;
        }
        item component;
        while (next_item(&schema, NET_LOG_SCHEMA_COMPONENT, &component))
            if (component.id == found->numbers[1])
                return base_text_copy(found->name, sizeof found->name, component.name);
        return false;
    }
    return false;
}

// Each component of the template `of` is in the other one, and travels as the same words.
static bool differ_in_components(base_reader of_schema, const item* of, base_reader in_schema,
                                 const item* in, const char* where, char* text, size_t text_bytes) {
    static const char* const words[] = {
        [2] = "use", [3] = "number of bits", [4] = "smallest value", [5] = "step", [6] = "form"};
    template_component left, right;
    for (base_reader walk = of->bytes; next_template_component(of_schema, &walk, &left);) {
        bool is_there = false;
        for (base_reader other = in->bytes;
             !is_there && next_template_component(in_schema, &other, &right);)
            is_there = strcmp(left.name, right.name) == 0;
        if (!is_there)
            return base_text_format(text, text_bytes, "template %s has component %s only %s",
                                    of->name, left.name, where),
                   true;
        for (uint32_t i = 2; i < BASE_COUNT(words); i++) {
            if (left.numbers[i] == right.numbers[i]) continue;
            return base_text_format(text, text_bytes,
                                    "template %s, component %s: its %s is another one in the log",
                                    of->name, left.name, words[i]),
                   true;
        }
        bool is_default = left.default_bytes == right.default_bytes &&
                          (left.default_bytes == 0 ||
                           memcmp(left.defaults, right.defaults, left.default_bytes) == 0);
        if (!is_default)
            return base_text_format(text, text_bytes,
                                    "template %s, component %s: its default is another one in the "
                                    "log",
                                    of->name, left.name),
                   true;
    }
    return false;
}

static bool differ_in_templates(base_reader here, base_reader log, char* text, size_t text_bytes) {
    item ours, theirs;
    for (base_reader walk = log; next_item(&walk, NET_LOG_SCHEMA_TEMPLATE, &theirs);)
        if (find_by_name(here, NET_LOG_SCHEMA_TEMPLATE, theirs.name, &ours) &&
            (differ_in_components(log, &theirs, here, &ours, "in the log", text, text_bytes) ||
             differ_in_components(here, &ours, log, &theirs, "here", text, text_bytes)))
            return true;
    return false;
}

// Every item of one schema is in the other.
static bool lack(base_reader of, base_reader in, uint32_t kind, const char* where, char* text,
                 size_t text_bytes) {
    static const char* const words[] = {[NET_LOG_SCHEMA_COMPONENT] = "component",
                                        [NET_LOG_SCHEMA_TEMPLATE] = "template",
                                        [NET_LOG_SCHEMA_MESSAGE] = "message"};
    item left, right;
    while (next_item(&of, kind, &left)) {
        if (find_by_name(in, kind, left.name, &right)) continue;
        (void)base_text_format(text, text_bytes, "%s %s is only %s", words[kind], left.name, where);
        return true;
    }
    return false;
}

static bool differ(base_reader here, base_reader log, char* text, size_t text_bytes) {
    item ours, theirs;
    bool has_templates = false, has_fields = false;
    for (base_reader walk = log; next_item(&walk, NET_LOG_SCHEMA_TEMPLATE, &theirs);)
        has_templates = true;
    for (uint32_t kind = NET_LOG_SCHEMA_COMPONENT; kind <= NET_LOG_SCHEMA_MESSAGE; kind++) {
        // A schema that did not fit its block lacks all templates.
        if (kind == NET_LOG_SCHEMA_TEMPLATE && !has_templates) continue;
        if (lack(log, here, kind, "in the log", text, text_bytes) ||
            lack(here, log, kind, "here", text, text_bytes))
            return true;
    }
    for (base_reader walk = log; next_item(&walk, NET_LOG_SCHEMA_COMPONENT, &theirs);) {
        schema_field field;
        base_reader fields = theirs.bytes;
        has_fields = next_field(&fields, &field) || has_fields;
    }
    for (base_reader walk = log;
         has_fields && next_item(&walk, NET_LOG_SCHEMA_COMPONENT, &theirs);) {
        if (!find_by_name(here, NET_LOG_SCHEMA_COMPONENT, theirs.name, &ours)) return false;
        if (differ_in_component(&ours, &theirs, text, text_bytes)) return true;
    }
    return false;
}

bool net_log_header_difference(const void* data, size_t size, const net_match* match, char* text,
                               size_t text_bytes) {
    BASE_ASSERT(match && text_bytes > 0);
    base_bytes header;
    base_bytes_init(&header, net_match_get_config(match)->allocator);
    bool has_values = true;
    bool is_written = net_log_header_write(&header, match, "", 0, 0, &has_values) == NET_OK;
    base_reader here = begin_schema(header.data, header.size), log = begin_schema(data, size);
    bool is_other = is_written && differ(here, log, text, text_bytes);
    // Without values a header does not say how they travel.
    if (is_written && !is_other && has_values && has_row_code(data, size))
        is_other = differ_in_templates(here, log, text, text_bytes);
    base_bytes_deinit(&header);
    return is_other;
}
