// SPDX-License-Identifier: MIT
// WIRE.md: "Schema hash". The tables are what a person reads out of games/breakout/breakout.blk, the
// game's list of structs (types.c), and the templates that WIRE.md prints for its vectors.
#define XXH_INLINE_ALL
#include "conform.h"

#include "breakout.pb-c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIELDS_MAX = 8, COMPONENTS = 8, TEMPLATES_MAX = 8, ITEMS_MAX = 32, REMEMBERED_MAX = 64 };

typedef struct field_row {
    const char* name;
    int kind;
    uint32_t count;
    uint32_t bits; ///< of the type; 0: exact
    double min;
} field_row;

typedef struct type_row {
    const char* name;
    field_row fields[FIELDS_MAX]; ///< to the first without a name
} type_row;

typedef struct component_row {
    const char* name;
    const type_row* type;
    double min, max, step; ///< step 0: none declared
    double values[FIELDS_MAX];
} component_row;

typedef struct template_table {
    const char* name;
    bool is_singleton;
    component_row components[COMPONENTS]; ///< the replicated ones, in any order
} template_table;

static const type_row type_b = {"b", {{"value", K_BOOL, 1, 0, 0}}};
static const type_row type_i = {"i", {{"value", K_I32, 1, 0, 0}}};
static const type_row type_u16 = {"u16", {{"value", K_U16, 1, 0, 0}}};
static const type_row type_tag = {"tag", {{0}}};
static const type_row type_p2 = {"p2", {{"x", K_F32, 1, 0, 0}, {"y", K_F32, 1, 0, 0}}};
static const type_row type_c = {
    "c", {{"r", K_U8, 1, 0, 0}, {"g", K_U8, 1, 0, 0}, {"b", K_U8, 1, 0, 0}, {"a", K_U8, 1, 0, 0}}};

static const type_row type_player = {"BreakoutPlayer",
                                     {{"client", K_U32, 1, 0, 0},
                                      {"slot", K_I32, 1, 12, 0},
                                      {"score", K_I32, 1, 26, 0},
                                      {"cheers", K_I32, 1, 16, 0}}};
static const type_row type_owner = {"BreakoutOwner",
                                    {{"pad", K_ENTITY, 1, 0, 0}, {"is_held", K_BOOL, 1, 0, 0}}};
static const type_row type_launch = {"BreakoutLaunch",
                                     {{"tick", K_U32, 1, 0, 0}, {"aim", K_I32, 1, 8, -127}}};
static const type_row type_match = {"BreakoutMatch",
                                    {{"phase", K_I32, 1, 2, 0},
                                     {"level", K_I32, 1, 10, 0},
                                     {"lives", K_I32, 1, 7, 0},
                                     {"score", K_I32, 1, 26, 0},
                                     {"best", K_I32, 1, 26, 0},
                                     {"bricks", K_I32, 1, 8, 0},
                                     {"balls", K_I32, 1, 8, 0}}};

static const template_table breakout[] = {
    {"breakout_ball",
     false,
     {{"pos", &type_p2, -128, 1919.9375, 0.0625, {600, 700}},
      {"vel", &type_p2, -2048, 2047.9375, 0.0625, {0}},
      {"owner", &type_owner, 0, 0, 0, {0}},
      {"launch", &type_launch, 0, 0, 0, {0}}}},
    {"breakout_brick",
     false,
     {{"color", &type_c, 0, 0, 0, {255, 255, 255, 255}},
      {"pos", &type_p2, 0, 2047, 1, {0}},
      {"hits", &type_i, 0, 15, 1, {1}}}},
    {"breakout_match", true, {{"match", &type_match, 0, 0, 0, {0}}}},
    {"breakout_pad",
     false,
     {{"color", &type_c, 0, 0, 0, {255, 255, 255, 255}},
      {"pos", &type_p2, -128, 1919.9375, 0.0625, {520, 756}},
      {"rectSize", &type_p2, 0, 511.875, 0.125, {160, 16}},
      {"player", &type_player, 0, 0, 0, {0}}}},
    {"breakout_rubble",
     false,
     {{"color", &type_c, 0, 0, 0, {255, 255, 255, 255}}, {"pos", &type_p2, 0, 2047, 1, {0}}}},
    {0},
};

static const template_table vectors[] = {
    {"dot",
     false,
     {{"at", &type_p2, -8, 7.9375, 0.0625, {1, 2}}, {"marked", &type_tag, 0, 0, 0, {0}}}},
    {"lamp",
     false,
     {{"at", &type_p2, -8, 7.9375, 0.0625, {0}},
      {"lit", &type_b, 0, 0, 0, {0}},
      {"power", &type_u16, 0, 0, 0, {300}}}},
    {"sky", true, {{"tint", &type_c, 0, 0, 0, {10, 20, 30, 255}}}},
    {0},
};

/// The page: 0 input, 1 to the server, 2 to clients.
static const struct message_row {
    const ProtobufCMessageDescriptor* descriptor;
    uint64_t kind;
    uint64_t is_reliable;
} breakout_messages[] = {
    {&breakout__pad_input__descriptor, 0, 0}, {&breakout__cheer__descriptor, 1, 1},
    {&breakout__brick_hit__descriptor, 2, 0}, {&breakout__level_cleared__descriptor, 2, 1},
    {&breakout__life_lost__descriptor, 2, 1}, {&breakout__cheered__descriptor, 2, 1},
};

typedef struct cf_item {
    char name[96];
    uint64_t hash;
} cf_item;

struct cf_schema {
    const template_table* tables; ///< sorted by name
    uint32_t template_count;
    cf_item items[ITEMS_MAX];
    uint32_t item_count;
    uint64_t hash;
    template_row* remembered[REMEMBERED_MAX];
    uint32_t remembered_count;
};

static void add_text(XXH3_state_t* state, const char* text) {
    XXH3_64bits_update(state, text, strlen(text) + 1);
}

static void add_number(XXH3_state_t* state, uint64_t value, uint32_t bytes) {
    uint8_t little[8];
    for (uint32_t i = 0; i < bytes; i++)
        little[i] = (uint8_t)(value >> (8 * i));
    XXH3_64bits_update(state, little, bytes);
}

static void add_double(XXH3_state_t* state, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_number(state, bits, 8);
}

static void add_descriptor(XXH3_state_t* state, const ProtobufCMessageDescriptor* message) {
    add_text(state, message->short_name);
    add_number(state, message->n_fields, 4);
    for (uint32_t i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &message->fields[i]; // by rising id
        add_number(state, field->id, 4);
        add_number(state, (uint64_t)field->label, 4);
        add_number(state, (uint64_t)field->type, 4);
        add_text(state, field->name);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) add_descriptor(state, field->descriptor);
        if (field->type != PROTOBUF_C_TYPE_ENUM) continue;
        const ProtobufCEnumDescriptor* values = field->descriptor;
        add_text(state, values->short_name);
        add_number(state, values->n_values, 4);
        for (uint32_t v = 0; v < values->n_values; v++) {
            add_number(state, (uint64_t)(int64_t)values->values[v].value, 4);
            add_text(state, values->values[v].name);
        }
    }
}

uint64_t descriptor_hash(const void* descriptor) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_descriptor(&state, descriptor);
    return XXH3_64bits_digest(&state);
}

static uint32_t field_count(const type_row* type) {
    uint32_t count = 0;
    while (count < FIELDS_MAX && type->fields[count].name)
        count++;
    return count;
}

static void add_item(cf_schema* schema, const char* kind, const char* name, XXH3_state_t* state) {
    cf_item* item = &schema->items[schema->item_count++];
    snprintf(item->name, sizeof item->name, "%s %s", kind, name);
    item->hash = XXH3_64bits_digest(state);
}

static void add_component(cf_schema* schema, const component_row* component) {
    char name[96];
    uint64_t known;
    snprintf(name, sizeof name, "component %s", component->name);
    if (schema_item(schema, name, &known)) return;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_text(&state, component->name);
    add_text(&state, component->type->name);
    add_number(&state, field_count(component->type), 8);
    for (uint32_t i = 0; i < field_count(component->type); i++) {
        add_text(&state, component->type->fields[i].name);
        add_number(&state, (uint64_t)component->type->fields[i].kind, 8);
        add_number(&state, component->type->fields[i].count, 8);
    }
    add_item(schema, "component", component->name, &state);
}

// The page: the fewest bits that count to (max - min) / step.
static uint32_t declared_bits(const component_row* component) {
    uint32_t bits = 1;
    while (ldexp(1, (int)bits) - 1 < (component->max - component->min) / component->step - 1e-6)
        bits++;
    return bits;
}

// Parts in order, later over earlier, then by name.
static uint32_t merge(const cf_schema* schema, const uint8_t* parts, uint32_t part_count,
                      const component_row** merged) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < part_count; p++) {
        const template_table* table = &schema->tables[parts[p]];
        for (uint32_t c = 0; c < COMPONENTS && table->components[c].name; c++) {
            uint32_t at = 0;
            while (at < count && strcmp(merged[at]->name, table->components[c].name) < 0)
                at++;
            if (at == count || strcmp(merged[at]->name, table->components[c].name) != 0) {
                memmove(merged + at + 1, merged + at, (count - at) * sizeof *merged);
                count++;
            }
            merged[at] = &table->components[c];
        }
    }
    return count;
}

static void lay_out(const cf_schema* schema, template_row* row) {
    const component_row* merged[COMPONENTS * 8 + 1];
    uint32_t count = merge(schema, row->parts, row->part_count, merged);
    cf_layout* layout = &row->layout;
    layout->component_count = count;
    for (uint32_t c = 0; c < count; c++) {
        const component_row* component = merged[c];
        layout->names[c] = component->name;
        layout->first[c] = layout->element_count;
        for (uint32_t f = 0; f < field_count(component->type); f++) {
            const field_row* field = &component->type->fields[f];
            for (uint32_t i = 0; i < field->count; i++) {
                cf_element* element = &layout->elements[layout->element_count];
                bool is_valid =
                    component->step > 0
                        ? element_make(element, field->kind, declared_bits(component),
                                       component->min, component->step)
                        : element_make(element, field->kind, field->bits, field->min, 1);
                if (!is_valid) abort(); // a table above is wrong
                row->defaults[layout->element_count++] =
                    element_of_number(element, component->values[f]);
            }
        }
        layout->count[c] = layout->element_count - layout->first[c];
    }
    for (uint32_t p = 0; p < row->part_count; p++) {
        if (p > 0) strcat(row->name, "+");
        strcat(row->name, schema->tables[row->parts[p]].name);
    }
}

static const template_row* find_remembered(const cf_schema* schema, const uint8_t* parts,
                                           uint32_t part_count) {
    for (uint32_t i = 0; i < schema->remembered_count; i++)
        if (schema->remembered[i]->part_count == part_count &&
            memcmp(schema->remembered[i]->parts, parts, part_count) == 0)
            return schema->remembered[i];
    return NULL;
}

const template_row* schema_find(cf_schema* schema, const uint8_t* named, uint32_t named_count) {
    uint8_t parts[8];
    uint32_t part_count = 0;
    for (uint32_t i = 0; i < named_count; i++) {
        if (named[i] >= schema->template_count) return NULL;
        // Of a part that is named twice the last one stays.
        bool comes_again = memchr(named + i + 1, named[i], named_count - i - 1) != NULL;
        if (!comes_again) parts[part_count++] = named[i];
    }
    const template_row* known = find_remembered(schema, parts, part_count);
    if (known || schema->remembered_count == REMEMBERED_MAX) return known;
    template_row* row = calloc(1, sizeof *row);
    if (!row) abort();
    row->part_count = part_count;
    memcpy(row->parts, parts, part_count);
    lay_out(schema, row);
    return schema->remembered[schema->remembered_count++] = row;
}

static void add_template(cf_schema* schema, uint8_t number) {
    const template_row* row = schema_find(schema, &number, 1);
    const cf_layout* layout = &row->layout;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_text(&state, row->name);
    add_number(&state, schema->tables[number].is_singleton, 8);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        add_text(&state, layout->names[c]);
        add_text(&state, layout->integrals[c] ? layout->integrals[c] : "");
        add_number(&state, layout->is_rotation[c], 8);
        for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
            const cf_element* element = &layout->elements[i];
            add_number(&state, (uint64_t)element->kind, 8);
            add_number(&state, element->bits, 8);
            add_number(&state, element->is_exact, 8);
            add_double(&state, element->is_exact ? 0 : element->min);
            add_double(&state, element->is_exact ? 0 : element->step);
        }
    }
    for (uint32_t i = 0; i < layout->element_count; i++)
        add_number(&state, row->defaults[i], 8);
    add_item(schema, "template", row->name, &state);
}

static int compare_items(const void* a, const void* b) {
    return strcmp(((const cf_item*)a)->name, ((const cf_item*)b)->name);
}

static void add_messages(cf_schema* schema) {
    for (uint32_t m = 0; m < sizeof breakout_messages / sizeof *breakout_messages; m++) {
        const struct message_row* message = &breakout_messages[m];
        XXH3_state_t state;
        XXH3_64bits_reset(&state);
        add_text(&state, message->descriptor->short_name);
        add_number(&state, m, 8);
        add_number(&state, message->kind, 8);
        add_number(&state, message->is_reliable, 8);
        add_number(&state, descriptor_hash(message->descriptor), 8);
        add_item(schema, "message", message->descriptor->short_name, &state);
    }
}

cf_schema* schema_create(const char* game) {
    bool is_breakout = strcmp(game, "breakout") == 0;
    if (!is_breakout && strcmp(game, "vectors") != 0) return NULL;
    cf_schema* schema = calloc(1, sizeof *schema);
    if (!schema) abort();
    schema->tables = is_breakout ? breakout : vectors;
    while (schema->tables[schema->template_count].name)
        schema->template_count++;
    for (uint32_t t = 0; t < schema->template_count; t++) {
        for (uint32_t c = 0; c < COMPONENTS && schema->tables[t].components[c].name; c++)
            add_component(schema, &schema->tables[t].components[c]);
        add_template(schema, (uint8_t)t);
    }
    if (is_breakout) add_messages(schema);
    qsort(schema->items, schema->item_count, sizeof *schema->items, compare_items);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (uint32_t i = 0; i < schema->item_count; i++) {
        add_text(&state, schema->items[i].name);
        add_number(&state, schema->items[i].hash, 8);
    }
    schema->hash = XXH3_64bits_digest(&state);
    return schema;
}

void schema_destroy(cf_schema* schema) {
    for (uint32_t i = 0; i < schema->remembered_count; i++)
        free(schema->remembered[i]);
    free(schema);
}

uint64_t schema_hash(const cf_schema* schema) {
    return schema->hash;
}

bool schema_item(const cf_schema* schema, const char* name, uint64_t* hash) {
    for (uint32_t i = 0; i < schema->item_count; i++) {
        if (strcmp(schema->items[i].name, name) != 0) continue;
        *hash = schema->items[i].hash;
        return true;
    }
    return false;
}

uint32_t schema_item_count(const cf_schema* schema) {
    return schema->item_count;
}

const char* schema_item_name(const cf_schema* schema, uint32_t position) {
    return schema->items[position].name;
}

uint32_t schema_wire_bits(const cf_schema* schema) {
    uint32_t bits = 1;
    while ((schema->template_count - 1) >> bits)
        bits++;
    return bits;
}
