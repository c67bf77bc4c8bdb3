// SPDX-License-Identifier: MIT
// Everything here is read from a header, which is untrusted: what rows assert is checked before a
// template is added to them.
#include "base/assert.h"
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
    (void)value;
    (void)bytes;
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
        net_log_schema_destroy(schema);
        return result;
    }
    *schema_out = schema;
    return NET_OK;
}

void net_log_schema_destroy(net_log_schema* schema) {
    if (!schema) return;
    net_rows_destroy(schema->rows);
    base_owner_destroy(schema);
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

// The schema in a header: names for the numbers in records, and what differs from a match here.
//
// Both schemas are compared in their packed form, item by item and by name: numbers depend on the
// order of loading. Every look-up walks all of the schema, so it is only for messages and dumps.

typedef struct item {
    uint64_t id;
    char name[ECS_NAME_BYTES_MAX];
    char type[ECS_NAME_BYTES_MAX]; // of a component
    base_reader bytes;             // of the whole item
} item;

static base_reader begin_schema(const void* data, size_t size) {
    proto_pb_field field = {.data = NULL};
    return net_log_header_find(data, size, NET_LOG_HEADER_SCHEMA, 2, &field)
               ? base_reader_make(field.data, field.size)
               : base_reader_make(NULL, 0);
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
            if (inner.id == 3 && kind == NET_LOG_SCHEMA_COMPONENT &&
                !net_log_header_text(&inner, found->type, sizeof found->type))
                return false;
        }
        return !reader.failed;
    }
    return false;
}

static bool find_by_id(base_reader schema, uint32_t kind, uint64_t id, char* name) {
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
    return find_by_id(begin_schema(data, size), NET_LOG_SCHEMA_COMPONENT, component, name);
}

// ---- what differs ----

// The schema here, that of the log, and what differs, as a sentence.
typedef struct difference {
    base_reader here, log;
    char* text;
    size_t text_bytes;
} difference;

// What is known of a kind of items: its word, and of its parts their field in the item's message,
// their word and those of their numbers.
typedef struct kind_row {
    const char *word, *part_word;
    uint32_t part_field;
    const char* numbers[7];
} kind_row;

static const kind_row kinds[] = {
    [NET_LOG_SCHEMA_COMPONENT] = {"component",
                                  "field",
                                  4,
                                  {"place", NULL, "kind", "count", "bits", "smallest value",
                                   "step"}},
    [NET_LOG_SCHEMA_TEMPLATE] = {"template",
                                 "component",
                                 3,
                                 {NULL, NULL, "use", "number of bits", "smallest value", "step",
                                  "form"}},
    [NET_LOG_SCHEMA_MESSAGE] = {.word = "message"},
};

// A field of a component, or a component of a template. Zeroed at the start.
typedef struct part {
    char name[ECS_NAME_BYTES_MAX];
    uint64_t numbers[7]; // by their number in the message; 0: how many parts came before
    const uint8_t* defaults;
    size_t default_bytes;
} part;

// `schema` has the names of components.
static bool next_part(base_reader schema, uint32_t kind, base_reader* of, part* found) {
    proto_pb_field field, inner;
    const bool is_field = kind == NET_LOG_SCHEMA_COMPONENT;
    while (proto_pb_next(of, &field)) {
        if (field.id != kinds[kind].part_field || field.type != 2) continue;
        *found = (part){.numbers = {found->numbers[0] + 1}};
        base_reader reader = base_reader_make(field.data, field.size);
        while (proto_pb_next(&reader, &inner)) {
            if (is_field && inner.id == 1 &&
                !net_log_header_text(&inner, found->name, sizeof found->name))
                return false;
            if (inner.id > 0 && inner.id < BASE_COUNT(found->numbers))
                found->numbers[inner.id] = inner.number;
            if (inner.id != 8 || inner.type != 2) continue;
            found->defaults = inner.data;
            found->default_bytes = inner.size;
        }
        return !reader.failed && (is_field || find_by_id(schema, NET_LOG_SCHEMA_COMPONENT,
                                                         found->numbers[1], found->name));
    }
    return false;
}

// What two parts of a name differ in. NULL: in nothing.
static const char* differ_in_numbers(uint32_t kind, const part* left, const part* right) {
    for (uint32_t i = 0; i < BASE_COUNT(kinds->numbers); i++)
        if (kinds[kind].numbers[i] && left->numbers[i] != right->numbers[i])
            return kinds[kind].numbers[i];
    const bool is_same = left->default_bytes == right->default_bytes &&
                         (left->default_bytes == 0 ||
                          memcmp(left->defaults, right->defaults, left->default_bytes) == 0);
    return is_same ? NULL : "default";
}

// Each part of an item `of` is in the other one, and travels as the same words.
static bool differ_in_parts(const difference* self, uint32_t kind, const item* of, const item* in,
                            bool is_here) {
    const base_reader of_schema = is_here ? self->here : self->log;
    const base_reader in_schema = is_here ? self->log : self->here;
    const char *word = kinds[kind].word, *part_word = kinds[kind].part_word;
    part left = {.name = ""};
    for (base_reader walk = of->bytes; next_part(of_schema, kind, &walk, &left);) {
        part right = {.name = ""};
        bool is_there = false;
        for (base_reader other = in->bytes;
             !is_there && next_part(in_schema, kind, &other, &right);)
            is_there = strcmp(left.name, right.name) == 0;
        const char* what = is_there ? differ_in_numbers(kind, &left, &right) : NULL;
        if (is_there && !what) continue;
        if (is_there)
            base_text_format(self->text, self->text_bytes,
                             "%s %s, %s %s: its %s is another one in the log", word, of->name,
                             part_word, left.name, what);
        else
            base_text_format(self->text, self->text_bytes, "%s %s has %s %s only %s", word,
                             of->name, part_word, left.name, is_here ? "here" : "in the log");
        return true;
    }
    return false;
}

static bool differ_in_items(const difference* self, uint32_t kind) {
    item ours, theirs;
    for (base_reader walk = self->log; next_item(&walk, kind, &theirs);) {
        if (!find_by_name(self->here, kind, theirs.name, &ours)) continue;
        if (strcmp(ours.type, theirs.type) != 0) {
            base_text_format(self->text, self->text_bytes,
                             "component %s has type %s here, %s in the log", ours.name, ours.type,
                             theirs.type);
            return true;
        }
        if (differ_in_parts(self, kind, &theirs, &ours, false) ||
            differ_in_parts(self, kind, &ours, &theirs, true))
            return true;
    }
    return false;
}

// Every item of one schema is in the other.
static bool lack(const difference* self, uint32_t kind, bool is_here) {
    base_reader of = is_here ? self->here : self->log;
    item left, right;
    while (next_item(&of, kind, &left)) {
        if (find_by_name(is_here ? self->log : self->here, kind, left.name, &right)) continue;
        base_text_format(self->text, self->text_bytes, "%s %s is only %s", kinds[kind].word,
                         left.name, is_here ? "here" : "in the log");
        return true;
    }
    return false;
}

// A schema that did not fit its block lacks all templates, then all fields.
static bool has_parts(base_reader schema, uint32_t kind) {
    item found;
    part of = {.name = ""};
    for (base_reader walk = schema; next_item(&walk, kind, &found);)
        if (next_part(schema, kind, &found.bytes, &of)) return true;
    return false;
}

// Hashes, sums and keyframes are made with numbers.
static bool differ_in_order(const difference* self, uint32_t kind) {
    item ours, theirs;
    for (base_reader walk = self->log; next_item(&walk, kind, &theirs);) {
        if (!find_by_name(self->here, kind, theirs.name, &ours) || ours.id == theirs.id) continue;
        base_text_format(self->text, self->text_bytes,
                         "%s %s is number %" PRIu64 " here, %" PRIu64
                         " in the log: templates or systems come in another order",
                         kinds[kind].word, ours.name, ours.id, theirs.id);
        return true;
    }
    return false;
}

// Without values a header does not say how they travel.
static bool differ(const difference* self, bool has_values) {
    const bool has_templates = has_parts(self->log, NET_LOG_SCHEMA_TEMPLATE);
    for (uint32_t kind = NET_LOG_SCHEMA_COMPONENT; kind <= NET_LOG_SCHEMA_MESSAGE; kind++)
        if ((kind != NET_LOG_SCHEMA_TEMPLATE || has_templates) &&
            (lack(self, kind, false) || lack(self, kind, true)))
            return true;
    return (has_parts(self->log, NET_LOG_SCHEMA_COMPONENT) &&
            differ_in_items(self, NET_LOG_SCHEMA_COMPONENT)) ||
           (has_values && differ_in_items(self, NET_LOG_SCHEMA_TEMPLATE)) ||
           differ_in_order(self, NET_LOG_SCHEMA_COMPONENT) ||
           differ_in_order(self, NET_LOG_SCHEMA_TEMPLATE);
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
    base_bytes header;
    base_bytes_init(&header, net_match_get_config(match)->allocator);
    bool has_values = true;
    const bool is_written = net_log_header_write(&header, match, "", 0, 0, &has_values) == NET_OK;
    has_values = has_values && net_log_header_row_code(data, size) != 0;
    const difference self = {.here = begin_schema(header.data, header.size),
                             .log = begin_schema(data, size),
                             .text = text,
                             .text_bytes = text_bytes};
    const net_module* module = net_match_get_config(match)->module;
    const bool is_other = has_other_file(data, size, module, text, text_bytes) ||
                          (is_written && differ(&self, has_values));
    base_bytes_deinit(&header);
    return is_other;
}
