// SPDX-License-Identifier: MIT
// Everything here is read from a header, which is untrusted: what rows assert is checked before a
// template is added to them.
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/template_files.h"
#include "log/log_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIELD_TICK_RATE = 8,
    FIELD_INDEX_MAX = 9,
    INDEX_LIMIT = 1 << 20,
    BITS_MAX = 32,
};

// A component with what only rows need of it.
typedef struct net_log_component_row {
    net_log_component public;
    ecs_type type; // its fields and their quantisation
    char name[ECS_NAME_BYTES_MAX], type_name[ECS_NAME_BYTES_MAX];
    net_log_field fields[ECS_FIELDS_MAX];
    ecs_field type_fields[ECS_FIELDS_MAX];
    char field_names[ECS_FIELDS_MAX][ECS_NAME_BYTES_MAX];
} net_log_component_row;

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- components ----

// The game that knows the values is not here: they stay bytes.
static void write_nothing(const void* value, base_bytes* bytes) {
    (void)value, (void)bytes;
}
static const ecs_type_ops bytes_ops = {.write = write_nothing};

static bool read_field(net_log_component_row* component, base_reader reader) {
    const uint32_t at = component->public.field_count++;
    proto_pb_field field;
    uint64_t kind = 0, count = 0, bits = 0;
    ecs_quant quant = {0};
    while (proto_pb_next(&reader, &field)) {
        if (field.id == 1 &&
            !net_log_header_text(&field, component->field_names[at], ECS_NAME_BYTES_MAX))
            return false;
        if (field.id == 2) kind = field.number;
        if (field.id == 3) count = field.number;
        if (field.id == 4) bits = field.number;
        if (field.id == 5) quant.min = as_double(field.number);
        if (field.id == 6) quant.step = as_double(field.number);
    }
    if (reader.failed || kind >= ECS_FIELD_KIND_COUNT || count < 1 || count > ECS_TYPE_BYTES_MAX ||
        bits > BITS_MAX)
        return false;
    quant.bits = (uint8_t)bits;
    const char* name = component->field_names[at];
    component->fields[at] =
        (net_log_field){name, (ecs_field_kind)kind, (uint32_t)count, ecs_quant_is_angle(&quant)};
    component->type_fields[at] = (ecs_field){.name = name,
                                             .offset = component->type.size,
                                             .kind = (ecs_field_kind)kind,
                                             .count = (uint32_t)count,
                                             .quant = quant};
    component->type.size += (uint32_t)count * ecs_field_kind_bytes((ecs_field_kind)kind);
    component->public.value_count += (uint32_t)count;
    return true;
}

static bool read_component(net_log_component_row* component, base_reader reader) {
    proto_pb_field at;
    bool is_right = true;
    while (proto_pb_next(&reader, &at) && is_right) {
        if (at.id == 1) component->public.id = (uint32_t)at.number;
        if (at.id == 2) is_right = net_log_header_text(&at, component->name, ECS_NAME_BYTES_MAX);
        if (at.id == 3)
            is_right = net_log_header_text(&at, component->type_name, ECS_NAME_BYTES_MAX);
        if (at.id == 4)
            is_right = at.type == 2 && component->public.field_count < ECS_FIELDS_MAX &&
                       read_field(component, base_reader_make(at.data, at.size));
        if (at.id == 5) component->public.is_varsize = at.number != 0;
    }
    return is_right && !reader.failed;
}

static net_result add_component(net_log_schema* schema, const proto_pb_field* whole) {
    if (whole->type != 2 || schema->component_count == ECS_COMPONENTS_MAX) return NET_ERR_DAMAGED;
    BASE_ARRAY_RESERVE(schema->allocator, schema->components, schema->component_capacity,
                       schema->component_count + 1);
    net_log_component_row* component = base_allocate_zero(schema->allocator, sizeof *component);
    const uint32_t count = schema->component_count++;
    const uint32_t before = count > 0 ? schema->components[count - 1]->public.id : 0;
    schema->components[count] = component;
    if (!read_component(component, base_reader_make(whole->data, whole->size)) ||
        component->public.id <= before || component->public.id > ECS_COMPONENTS_MAX)
        return NET_ERR_DAMAGED;
    component->public.name = component->name;
    component->public.type = component->type_name;
    component->public.fields = component->fields;
    component->type.fields = component->type_fields;
    component->type.field_count = component->public.field_count;
    if (component->public.is_varsize) component->type.ops = &bytes_ops;
    schema->by_id[component->public.id] =
        (net_rows_component){.name = component->name, .type = &component->type};
    return NET_OK;
}

// ---- templates ----

// A SchemaTemplate as rows take one.
typedef struct template_parts {
    ecs_template template_;
    ecs_template_component components[ECS_TEMPLATE_COMPONENTS_MAX];
    base_reader defaults[ECS_TEMPLATE_COMPONENTS_MAX]; // their words
} template_parts;

// SchemaTemplateComponent; only replicated components have a part.
static bool read_part(const net_log_schema* schema, const proto_pb_field* whole,
                      template_parts* into) {
    if (whole->type != 2) return false;
    ecs_template_component part = {0};
    uint64_t bits = 0, component = 0, integral = 0;
    base_reader reader = base_reader_make(whole->data, whole->size);
    base_reader defaults = base_reader_make(NULL, 0);
    proto_pb_field at;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 1) component = at.number;
        if (at.id == 2) part.flags = (uint32_t)at.number;
        if (at.id == 3) bits = at.number;
        if (at.id == 4) part.quant.min = as_double(at.number);
        if (at.id == 5) part.quant.step = as_double(at.number);
        if (at.id == 6) part.is_rotation = at.number != 0;
        if (at.id == 7) integral = at.number;
        if (at.id == 8 && at.type != 2) return false;
        if (at.id == 8) defaults = base_reader_make(at.data, at.size);
    }
    if (reader.failed || bits > BITS_MAX || component > ECS_COMPONENTS_MAX ||
        integral > ECS_COMPONENTS_MAX || !schema->by_id[component].type)
        return false;
    if (!(part.flags & ECS_COMPONENT_REPLICATED)) return true;
    if (into->template_.component_count == ECS_TEMPLATE_COMPONENTS_MAX) return false;
    part.component = (ecs_component_id)component;
    part.quant.bits = (uint8_t)bits;
    part.integral = schema->by_id[integral].name;
    into->defaults[into->template_.component_count] = defaults;
    into->components[into->template_.component_count++] = part;
    return true;
}

static bool read_template(const net_log_schema* schema, base_reader reader, template_parts* into) {
    *into = (template_parts){.template_.importance = 1};
    into->template_.components = into->components;
    proto_pb_field at;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == 2 &&
            !net_log_header_text(&at, into->template_.name, sizeof into->template_.name))
            return false;
        if (at.id == 3 && !read_part(schema, &at, into)) return false;
    }
    return !reader.failed;
}

// Are all rotations of a row such that a writer makes? The row code asserts it.
static bool has_rotations(const proto_layout* row, const uint64_t* words) {
    for (uint32_t c = 0; c < row->component_count; c++) {
        if (!row->components[c].is_rotation) continue;
        float value[PROTO_ROTATION_WORDS];
        uint64_t again[PROTO_ROW_FIELDS_MAX];
        proto_row_write_component(row, c, words, value);
        proto_row_read_component(row, c, value, again);
        uint32_t first = row->components[c].field_first;
        if (memcmp(words + first, again + first, PROTO_ROTATION_WORDS * sizeof *words) != 0)
            return false;
    }
    return true;
}

// The words of a component's default. A word that its field does not have is no writer's.
static bool read_words(const proto_layout* row, uint32_t place, base_reader reader,
                       uint64_t* words) {
    const proto_row_component* component = &row->components[place];
    for (uint32_t i = 0; i < component->field_count && base_reader_left(&reader) > 0; i++) {
        const uint64_t word = base_reader_varint(&reader);
        const proto_quant* quant = &row->fields[component->field_first + i].quant;
        if (reader.failed || proto_quant_canonical(quant, word) != word) return false;
        words[component->field_first + i] = word;
    }
    return base_reader_left(&reader) == 0;
}

static bool set_defaults(net_log_schema* schema, const template_parts* from,
                         const net_log_template* template_) {
    const net_row_template* row = template_->row;
    uint64_t words[PROTO_ROW_FIELDS_MAX] = {0};
    for (uint32_t i = 0; i < from->template_.component_count; i++)
        if (template_->places[i] != UINT8_MAX &&
            !read_words(&row->layout, template_->places[i], from->defaults[i], words))
            return false;
    if (!has_rotations(&row->layout, words)) return false;
    net_rows_set_defaults(schema->rows, row, words);
    return true;
}

// NULL when there is none.
static const net_log_component* find_component(const net_log_schema* schema, uint32_t id) {
    for (uint32_t i = 0; i < schema->component_count; i++)
        if (schema->components[i]->public.id == id) return &schema->components[i]->public;
    return NULL;
}

static net_result add_template(net_log_schema* schema, const template_parts* from,
                               const uint16_t* parts, uint32_t part_count) {
    BASE_ARRAY_RESERVE(schema->allocator, schema->templates, schema->template_capacity,
                       schema->template_count + 1);
    const net_row_template* row;
    net_result result = net_rows_add(schema->rows, &from->template_, parts, part_count, &row);
    if (result != NET_OK) return result == NET_ERR_SCHEMA ? NET_ERR_DAMAGED : result;
    net_log_template* made = base_allocate_zero(schema->allocator, sizeof *made);
    made->row = row;
    schema->templates[schema->template_count++] = made;
    BASE_ASSERT(made->row->id == schema->template_count);
    memcpy(made->name, from->template_.name, sizeof made->name);
    made->component_count = from->template_.component_count;
    uint8_t place = 0;
    for (uint32_t i = 0; i < made->component_count; i++) {
        made->components[i] = find_component(schema, from->components[i].component);
        made->places[i] = made->components[i]->is_varsize ? UINT8_MAX : place++;
    }
    return set_defaults(schema, from, made) ? NET_OK : NET_ERR_DAMAGED;
}

net_result net_log_schema_define(net_log_schema* schema, const uint16_t* parts, uint32_t part_count,
                                 const void* data, size_t size) {
    BASE_ASSERT(schema && (data || size == 0));
    template_parts from;
    if (part_count < 2 || size < 1 || size > NET_LOG_DEFINITION_BYTES_MAX) return NET_ERR_DAMAGED;
    if (net_rows_compose(schema->rows, parts, part_count)) return NET_OK;
    if (!read_template(schema, base_reader_make(data, size), &from)) return NET_ERR_DAMAGED;
    return add_template(schema, &from, parts, part_count);
}

// ---- the whole ----

static int compare_names(const void* a, const void* b) {
    const template_parts *left = a, *right = b;
    return strcmp(left->template_.name, right->template_.name);
}

// Wire numbers of templates follow their names.
static net_result add_loaded(net_log_schema* schema, template_parts* found, uint32_t count) {
    bool is_varsize[ECS_COMPONENTS_MAX + 1] = {false};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < found[i].template_.component_count; k++)
            is_varsize[found[i].components[k].component] = true;
    for (uint32_t id = 1; id <= ECS_COMPONENTS_MAX; id++)
        schema->by_id[id].is_replicated = is_varsize[id];
    schema->rows = net_rows_create_bare(schema->allocator, schema->by_id, ECS_COMPONENTS_MAX);
    net_rows_set_tick_rate(schema->rows, schema->tick_rate_hz);
    if (count > 1) qsort(found, count, sizeof *found, compare_names);
    net_result result = NET_OK;
    for (uint32_t i = 0; i < count && result == NET_OK; i++) {
        found[i].template_.components = found[i].components; // it was moved
        const bool is_twice = i > 0 && compare_names(&found[i - 1], &found[i]) == 0;
        result = is_twice ? NET_ERR_DAMAGED : add_template(schema, &found[i], NULL, 0);
    }
    return result;
}

static net_result read_templates(net_log_schema* schema, base_reader items) {
    template_parts* found = NULL;
    uint32_t count = 0, capacity = 0;
    proto_pb_field at;
    net_result result = NET_OK;
    while (result == NET_OK && proto_pb_next(&items, &at)) {
        if (at.id != NET_LOG_SCHEMA_TEMPLATE) continue;
        BASE_ARRAY_RESERVE(schema->allocator, found, capacity, count + 1);
        if (at.type != 2 || count == NET_LOG_TEMPLATES_MAX ||
            !read_template(schema, base_reader_make(at.data, at.size), &found[count]))
            result = NET_ERR_DAMAGED;
        else
            count += found[count].template_.component_count > 0;
    }
    if (result == NET_OK) result = add_loaded(schema, found, count);
    BASE_ARRAY_RELEASE(schema->allocator, found, capacity);
    return result;
}

static net_result read_schema(net_log_schema* schema, base_reader reader) {
    proto_pb_field at;
    net_result result = NET_OK;
    for (base_reader items = reader; result == NET_OK && proto_pb_next(&items, &at);) {
        if (at.id == NET_LOG_SCHEMA_COMPONENT) result = add_component(schema, &at);
    }
    if (result == NET_OK) result = read_templates(schema, reader);
    for (; result == NET_OK && proto_pb_next(&reader, &at);) {
    }
    return reader.failed && result == NET_OK ? NET_ERR_DAMAGED : result;
}

static net_result read_header(net_log_schema* schema, base_reader reader, bool* has_values) {
    proto_pb_field at;
    base_reader items = base_reader_make(NULL, 0);
    uint64_t rate = 0, index_max = 0, row_code = 0;
    while (proto_pb_next(&reader, &at)) {
        if (at.id == FIELD_TICK_RATE) rate = at.number;
        if (at.id == FIELD_INDEX_MAX) index_max = at.number;
        if (at.id == NET_LOG_HEADER_ROW_CODE) row_code = at.number;
        if (at.id == NET_LOG_HEADER_SCHEMA && at.type == 2)
            items = base_reader_make(at.data, at.size);
    }
    if (reader.failed) return NET_ERR_DAMAGED;
    *has_values = row_code != 0;
    if (row_code != 0 && row_code != NET_LOG_ROW_CODE) return NET_ERR_VERSION;
    if (rate < 1 || rate > NET_TICK_RATE_HZ_MAX || index_max < 1 || index_max > INDEX_LIMIT)
        return NET_ERR_DAMAGED;
    schema->tick_rate_hz = (uint32_t)rate;
    schema->index_max = (uint32_t)index_max;
    return read_schema(schema, items);
}

net_result net_log_schema_create(const base_allocator* allocator, const void* header,
                                 size_t header_bytes, bool* has_values,
                                 net_log_schema** schema_out) {
    BASE_ASSERT(header && has_values && schema_out);
    *schema_out = NULL;
    net_log_schema* schema = base_owner_create(allocator, sizeof *schema);
    schema->allocator = &schema->owner.allocator;
    net_result result = read_header(schema, base_reader_make(header, header_bytes), has_values);
    if (result != NET_OK) {
        base_owner_destroy(schema);
        return result;
    }
    *schema_out = schema;
    return NET_OK;
}

const net_log_component* net_log_schema_component(const net_log_schema* schema, uint32_t position) {
    return position < schema->component_count ? &schema->components[position]->public : NULL;
}

const net_log_template* net_log_schema_template(const net_log_schema* schema,
                                                const net_row_template* row) {
    BASE_ASSERT(row->id >= 1 && row->id <= schema->template_count);
    return schema->templates[row->id - 1];
}

// ---- the schema in a header: names, and what differs from a match here ----

// A schema as a list of facts by name: its items, and their parts. Numbers depend on the order of
// loading, so facts of two schemas are the same by their names.

enum { NUMBERS = 9, NO_NAME = 99 };

typedef struct fact {
    uint32_t kind; // of its item
    bool is_part;  // a field of a component, a component of a template
    char name[2 * ECS_NAME_BYTES_MAX + 32];
    uint64_t numbers[NUMBERS]; // by their field; of bytes a hash. 0: how many came before
} fact;

typedef struct facts {
    const base_allocator* allocator;
    fact* list; // by kind and name
    uint32_t count, capacity;
    bool has_parts[NET_LOG_SCHEMA_MESSAGE + 1];
} facts;

// By kind: its word, that of a part, the fields of part and part's name, and the words of those
// numbers of items and of parts that are compared.
static const struct {
    const char *word, *part_word;
    uint32_t part, part_name;
    const char* numbers[2][NUMBERS];
} kinds[] = {
    [NET_LOG_SCHEMA_COMPONENT] = {"component",
                                  "field",
                                  4,
                                  1,
                                  {{[3] = "type"},
                                   {"place", NULL, "kind", "count", "bits", "smallest value",
                                    "step"}}},
    [NET_LOG_SCHEMA_TEMPLATE] = {"template",
                                 "component",
                                 3,
                                 NO_NAME,
                                 {{NULL},
                                  {NULL, NULL, "use", "number of bits", "smallest value", "step",
                                   "form", NULL, "default"}}},
    [NET_LOG_SCHEMA_MESSAGE] = {.word = "message"},
};

static base_reader begin_schema(const void* data, size_t size) {
    proto_pb_field field = {.data = NULL};
    return net_log_header_find(data, size, NET_LOG_HEADER_SCHEMA, 2, &field)
               ? base_reader_make(field.data, field.size)
               : base_reader_make(NULL, 0);
}

// The next message with this id, and its bytes. `name_id` 0: it is its name.
static bool next_fact(base_reader* of, uint32_t id, uint32_t name_id, fact* found,
                      base_reader* inside) {
    proto_pb_field field, inner;
    while (proto_pb_next(of, &field)) {
        if (field.id != id || field.type != 2) continue;
        *found = (fact){.numbers = {found->numbers[0] + 1}};
        *inside = base_reader_make(field.data, field.size);
        if (name_id == 0) return net_log_header_text(&field, found->name, ECS_NAME_BYTES_MAX);
        base_reader reader = *inside;
        while (proto_pb_next(&reader, &inner)) {
            if (inner.id == name_id &&
                !net_log_header_text(&inner, found->name, ECS_NAME_BYTES_MAX))
                return false;
            if (inner.id > 0 && inner.id < NUMBERS)
                found->numbers[inner.id] =
                    inner.type == 2 ? base_hash64(inner.data, inner.size, 1) : inner.number;
        }
        return !reader.failed;
    }
    return false;
}

static bool find_component_name(base_reader schema, uint64_t id, char* name) {
    base_reader inside;
    for (fact found = {0}; next_fact(&schema, NET_LOG_SCHEMA_COMPONENT, 2, &found, &inside);)
        if (found.numbers[1] == id) return base_text_copy(name, ECS_NAME_BYTES_MAX, found.name);
    return false;
}

bool net_log_header_component(const void* data, size_t size, uint32_t component,
                              char name[ECS_NAME_BYTES_MAX]) {
    return find_component_name(begin_schema(data, size), component, name);
}

static void add_fact(facts* self, uint32_t kind, const fact* item, const fact* part) {
    BASE_ARRAY_RESERVE(self->allocator, self->list, self->capacity, self->count + 1);
    fact* added = &self->list[self->count++];
    *added = part ? *part : *item;
    added->kind = kind;
    added->is_part = part != NULL;
    self->has_parts[kind] |= added->is_part;
    (void)base_text_format(added->name, sizeof added->name, part ? "%s %s, %s %s" : "%s %s",
                           kinds[kind].word, item->name, kinds[kind].part_word,
                           part ? part->name : "");
}

static int compare_facts(const void* a, const void* b) {
    const fact *left = a, *right = b;
    if (left->kind != right->kind) return left->kind < right->kind ? -1 : 1;
    if (left->is_part != right->is_part) return left->is_part ? 1 : -1;
    return strcmp(left->name, right->name);
}

static facts read_facts(const base_allocator* allocator, base_reader schema) {
    facts self = {.allocator = allocator};
    base_reader parts, none;
    for (uint32_t kind = NET_LOG_SCHEMA_COMPONENT; kind <= NET_LOG_SCHEMA_MESSAGE; kind++) {
        const uint32_t name_id = kind == NET_LOG_SCHEMA_MESSAGE ? 0 : 2;
        fact item = {0};
        for (base_reader walk = schema; next_fact(&walk, kind, name_id, &item, &parts);) {
            add_fact(&self, kind, &item, NULL);
            fact part = {0};
            while (name_id > 0 &&
                   next_fact(&parts, kinds[kind].part, kinds[kind].part_name, &part, &none))
                if (kinds[kind].part_name != NO_NAME ||
                    find_component_name(schema, part.numbers[1], part.name))
                    add_fact(&self, kind, &item, &part);
        }
    }
    if (self.count > 1) qsort(self.list, self.count, sizeof *self.list, compare_facts);
    return self;
}

// A schema that did not fit its block lacks all templates, then all fields. Without values a header
// does not say how they travel.
static bool is_compared(const fact* it, const facts* log, bool has_values) {
    const bool is_template = it->kind == NET_LOG_SCHEMA_TEMPLATE;
    return !(is_template || it->is_part) ||
           (log->has_parts[it->kind] && (has_values || !is_template || !it->is_part));
}

static bool differ_in_numbers(const fact* here, const fact* log, char* text, size_t text_bytes) {
    const char* const* words = kinds[here->kind].numbers[here->is_part];
    uint32_t i = 0;
    while (i < NUMBERS && (!words[i] || here->numbers[i] == log->numbers[i]))
        i++;
    if (i < NUMBERS)
        (void)base_text_format(text, text_bytes, "%s: its %s is another one in the log", here->name,
                               words[i]);
    return i < NUMBERS;
}

// Hashes, sums and keyframes are made with numbers.
static bool differ_in_order(const fact* here, const fact* log, char* text, size_t text_bytes) {
    if (here->is_part || here->numbers[1] == log->numbers[1]) return false;
    (void)base_text_format(text, text_bytes,
                           "%s is number %" PRIu64 " here, %" PRIu64
                           " in the log: templates or systems come in another order",
                           here->name, here->numbers[1], log->numbers[1]);
    return true;
}

// Facts that one side lacks or that have other numbers; then facts in another order.
static bool differ(const facts* here, const facts* log, bool has_values, bool is_order, char* text,
                   size_t text_bytes) {
    for (uint32_t a = 0, b = 0; a < here->count || b < log->count;) {
        const fact *ours = &here->list[a], *theirs = &log->list[b];
        const int order = a == here->count ? 1 : b == log->count ? -1 : compare_facts(ours, theirs);
        a += order <= 0;
        b += order >= 0;
        if (!is_compared(order <= 0 ? ours : theirs, log, has_values)) continue;
        if (order != 0)
            (void)base_text_format(text, text_bytes, "%s is only %s",
                                   (order < 0 ? ours : theirs)->name,
                                   order < 0 ? "here" : "in the log");
        if (order != 0) return true;
        if (is_order ? differ_in_order(ours, theirs, text, text_bytes)
                     : differ_in_numbers(ours, theirs, text, text_bytes))
            return true;
    }
    return false;
}

// A file of the log's game is another one here, or none.
static bool has_other_file(const void* data, size_t size, const net_module* module, char* text,
                           size_t text_bytes) {
    size_t bytes = 0, offset = 0;
    const uint8_t* pack = net_log_header_templates(data, size, &bytes);
    for (ecs_pack_text file; pack && ecs_pack_next(pack, bytes, &offset, &file);) {
        bool is_same = !file.is_file;
        for (uint32_t i = 0; i < module->file_count && !is_same; i++) {
            const net_game_file* own = &module->files[i];
            is_same = strcmp(own->name, file.path) == 0 && own->byte_count == file.bytes &&
                      memcmp(own->bytes, file.text, file.bytes) == 0;
        }
        if (!is_same) return base_text_format(text, text_bytes, "file %s differs", file.path);
    }
    return false;
}

bool net_log_header_difference(const void* data, size_t size, const net_match* match, char* text,
                               size_t text_bytes) {
    BASE_ASSERT(match && text_bytes > 0);
    const base_allocator* allocator = net_match_get_config(match)->allocator;
    const net_module* module = net_match_get_config(match)->module;
    if (has_other_file(data, size, module, text, text_bytes)) return true;
    base_bytes header;
    base_bytes_init(&header, allocator);
    bool has_values = true, is_other = false;
    if (net_log_header_write(&header, match, "", 0, 0, &has_values) == NET_OK) {
        has_values = has_values && net_log_header_row_code(data, size) != 0;
        facts here = read_facts(allocator, begin_schema(header.data, header.size));
        facts log = read_facts(allocator, begin_schema(data, size));
        is_other = differ(&here, &log, has_values, false, text, text_bytes) ||
                   differ(&here, &log, has_values, true, text, text_bytes);
        BASE_ARRAY_RELEASE(allocator, here.list, here.capacity);
        BASE_ARRAY_RELEASE(allocator, log.list, log.capacity);
    }
    base_bytes_deinit(&header);
    return is_other;
}
