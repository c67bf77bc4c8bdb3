// SPDX-License-Identifier: MIT
// WIRE.md, "Schema hash", and the layouts of compositions, made from the tables of a game.
#define XXH_INLINE_ALL
#include "games.h"

#include <protobuf-c/protobuf-c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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

// A component without fields.
static void add_varsize(cf_schema* schema, const varsize_row* varsize) {
    uint32_t at = 0;
    while (at < schema->varsize_count && strcmp(schema->varsizes[at]->name, varsize->name) < 0)
        at++;
    if (at < schema->varsize_count && strcmp(schema->varsizes[at]->name, varsize->name) == 0)
        return;
    if (schema->varsize_count == VARSIZES_MAX) abort(); // a table above is wrong
    memmove(schema->varsizes + at + 1, schema->varsizes + at,
            (schema->varsize_count++ - at) * sizeof *schema->varsizes);
    schema->varsizes[at] = varsize;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_text(&state, varsize->name);
    add_text(&state, varsize->type);
    add_number(&state, 0, 8);
    add_item(schema, "component", varsize->name, &state);
}

const varsize_row* schema_varsize(const cf_schema* schema, uint32_t number) {
    return number < schema->varsize_count ? schema->varsizes[number] : NULL;
}

// Which of all there are the parts of a template have.
static void lay_out_varsizes(const cf_schema* schema, template_row* row) {
    const varsize_row* varsize = schema->game->varsizes;
    for (; varsize && varsize->template; varsize++)
        for (uint32_t p = 0; p < row->part_count; p++) {
            if (strcmp(varsize->template, schema->tables[row->parts[p]].name) != 0) continue;
            uint32_t number = 0;
            while (strcmp(schema->varsizes[number]->name, varsize->name) != 0)
                number++;
            row->varsizes[number] = varsize->name;
        }
}

// The smallest number of bits with (max - min) / step <= 2^bits - 1.
static uint32_t declared_bits(const component_row* component) {
    uint32_t bits = 1;
    if (component->bits > 0) return component->bits;
    while (ldexp(1, (int)bits) - 1 < (component->max - component->min) / component->step - 1e-6)
        bits++;
    return bits;
}

// A component of a row: where its words and its default come from.
typedef struct merged_part {
    const component_row *words, *value;
} merged_part;

static bool states(const component_row* component, bool is_stated) {
    return !component->words || is_stated;
}

// Join the parts in order; what a later part states replaces that of an earlier one. By name.
static uint32_t merge(const cf_schema* schema, const uint8_t* parts, uint32_t part_count,
                      merged_part* merged) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < part_count; p++) {
        const template_table* table = &schema->tables[parts[p]];
        for (uint32_t c = 0; c < COMPONENTS && table->components[c].name; c++) {
            const component_row* own = &table->components[c];
            uint32_t at = 0;
            while (at < count && strcmp(merged[at].words->name, own->name) < 0)
                at++;
            bool is_new = at == count || strcmp(merged[at].words->name, own->name) != 0;
            if (is_new) memmove(merged + at + 1, merged + at, (count++ - at) * sizeof *merged);
            if (is_new || states(own, own->states_words)) merged[at].words = own;
            if (is_new || states(own, own->states_default)) merged[at].value = own;
        }
    }
    return count;
}

static bool make_element(const component_row* component, const field_row* field,
                         cf_element* element) {
    if (component->bits == 0 && component->step == 0) {
        bool is_made = element_make(element, field->kind, 0, 0, 1);
        bool is_float = field->kind == K_F32 || field->kind == K_F64;
        element->is_elastic = is_float && !component->is_exact;
        return is_made;
    }
    double step = component->bits > 0 ? 1 : component->step;
    return element_make(element, field->kind, declared_bits(component), component->min, step);
}

static int kind_of(const char* name) {
    static const char* const names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f32", "f64", "entity"};
    int kind = 0;
    while (strcmp(names[kind], name) != 0)
        kind++;
    return kind;
}

// The words of a schema as JSON. A default of another part is quantised again if its words differ.
static void lay_out_words(const merged_part* part, template_row* row) {
    const json *word = part->words->words, *value = part->value->words;
    for (; word; word = word->next, value = value->next) {
        cf_element* element = &row->layout.elements[row->layout.element_count];
        element->kind = kind_of(json_text(word, "kind"));
        element->bits = (uint32_t)json_number(word, "bits");
        element->is_elastic = strcmp(json_text(word, "exact"), "elastic") == 0;
        element->is_exact = element->is_elastic || json_is_true(word, "exact");
        element->q_max = json_whole(word, "max");
        element->min = element->is_exact ? 0 : json_number(word, "min");
        element->step = element->is_exact ? 0 : json_number(word, "step");
        uint64_t made = json_whole(value, "default");
        bool is_other = !element->is_exact && word != value &&
                        (json_number(value, "min") != element->min ||
                         json_number(value, "step") != element->step);
        if (is_other)
            made = element_of_number(element, json_number(value, "min") +
                                                  (double)made * json_number(value, "step"));
        row->defaults[row->layout.element_count++] = element_canonical(element, made);
    }
}

// "Rotations": the number of the largest part, then the three others.
static void lay_out_rotation(const component_row* component, template_row* row) {
    cf_layout* layout = &row->layout;
    uint64_t* words = row->defaults + layout->element_count;
    float parts[4];
    for (uint32_t i = 0; i < 4; i++) {
        cf_element* element = &layout->elements[layout->element_count++];
        (void)element_make(element, i == 0 ? K_U8 : K_U16, i == 0 ? 2 : component->bits, 0, 1);
        if (i > 0) element->q_max = (UINT64_C(1) << component->bits) - 2;
        parts[i] = (float)component->values[i];
    }
    rotation_quantise(parts, component->bits, words);
}

static void lay_out_fields(const component_row* component, template_row* row) {
    for (uint32_t f = 0; f < field_count(component->type); f++) {
        const field_row* field = &component->type->fields[f];
        for (uint32_t i = 0; i < field->count; i++) {
            cf_element* element = &row->layout.elements[row->layout.element_count];
            bool is_valid = make_element(component, field, element);
            if (!is_valid) abort(); // a table in games.c is wrong
            row->defaults[row->layout.element_count++] =
                element_of_number(element, component->values[f]);
        }
    }
}

static void lay_out(const cf_schema* schema, template_row* row) {
    merged_part merged[COMPONENTS * 8 + 1];
    uint32_t count = merge(schema, row->parts, row->part_count, merged);
    cf_layout* layout = &row->layout;
    layout->component_count = count;
    for (uint32_t c = 0; c < count; c++) {
        const component_row* component = merged[c].words;
        layout->names[c] = component->name;
        layout->integrals[c] = component->integral;
        layout->is_rotation[c] = component->is_rotation;
        layout->first[c] = layout->element_count;
        if (component->words)
            lay_out_words(&merged[c], row);
        else if (component->is_rotation)
            lay_out_rotation(component, row);
        else
            lay_out_fields(component, row);
        layout->count[c] = layout->element_count - layout->first[c];
    }
    lay_out_varsizes(schema, row);
    layout_finish(layout, schema->codes, schema->tick_rate_hz);
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

static void add_part(XXH3_state_t* state, const cf_layout* layout, uint32_t component) {
    const char* integral = layout->integrals[component];
    add_text(state, layout->names[component]);
    add_text(state, integral ? integral : "");
    add_number(state, layout->is_rotation[component], 8);
    uint32_t first = layout->first[component];
    for (uint32_t i = first; i < first + layout->count[component]; i++) {
        const cf_element* element = &layout->elements[i];
        add_number(state, (uint64_t)element->kind, 8);
        add_number(state, element->bits, 8);
        add_number(state, element->is_elastic ? 2 : element->is_exact, 8);
        add_double(state, element->is_exact ? 0 : element->min);
        add_double(state, element->is_exact ? 0 : element->step);
    }
}

// The variable-size components from `number` on whose names are before `next`; NULL: the rest. They
// have no elements.
// @return the first that is left.
static uint32_t add_varsizes_before(XXH3_state_t* state, const template_row* row, uint32_t number,
                                    const char* next) {
    for (; number < VARSIZES_MAX; number++) {
        const char* name = row->varsizes[number];
        if (name && next && strcmp(name, next) > 0) break;
        if (!name) continue;
        add_text(state, name);
        add_text(state, "");
        add_number(state, 0, 8);
    }
    return number;
}

static void add_template(cf_schema* schema, uint8_t number) {
    const template_row* row = schema_find(schema, &number, 1);
    const cf_layout* layout = &row->layout;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_text(&state, row->name);
    add_number(&state, schema->tables[number].is_singleton, 8);
    uint32_t varsize = 0;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        varsize = add_varsizes_before(&state, row, varsize, layout->names[c]);
        add_part(&state, layout, c);
    }
    (void)add_varsizes_before(&state, row, varsize, NULL);
    for (uint32_t i = 0; i < layout->element_count; i++)
        add_number(&state, row->defaults[i], 8);
    const uint8_t empty[1] = {0};
    for (uint32_t n = 0; n < schema->varsize_count; n++)
        if (row->varsizes[n]) add_number(&state, XXH3_64bits(empty, sizeof empty), 8);
    add_item(schema, "template", row->name, &state);
}

static int compare_items(const void* a, const void* b) {
    return strcmp(((const cf_item*)a)->name, ((const cf_item*)b)->name);
}

static void add_messages(cf_schema* schema) {
    for (uint32_t m = 0; m < schema->game->message_count; m++) {
        const message_row* message = &schema->game->messages[m];
        XXH3_state_t state;
        XXH3_64bits_reset(&state);
        add_text(&state, message->name);
        add_number(&state, m, 8);
        add_number(&state, message->kind, 8);
        add_number(&state, message->is_reliable, 8);
        add_number(&state, message->descriptor_hash, 8);
        add_item(schema, "message", message->name, &state);
    }
}

cf_schema* schema_create(const game_tables* game, const cf_tables* codes) {
    cf_schema* schema = calloc(1, sizeof *schema);
    if (!schema) abort();
    schema->game = game;
    schema->tables = game->templates;
    schema->codes = codes;
    while (schema->tables[schema->template_count].name)
        schema->template_count++;
    for (const varsize_row* row = game->varsizes; row && row->template; row++)
        add_varsize(schema, row);
    for (uint32_t t = 0; t < schema->template_count; t++) {
        for (uint32_t c = 0; c < COMPONENTS && schema->tables[t].components[c].name; c++)
            add_component(schema, &schema->tables[t].components[c]);
        add_template(schema, (uint8_t)t);
    }
    add_messages(schema);
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

void schema_set_rate(cf_schema* schema, uint32_t tick_rate_hz) {
    schema->tick_rate_hz = tick_rate_hz;
    for (uint32_t i = 0; i < schema->remembered_count; i++)
        layout_finish(&schema->remembered[i]->layout, schema->codes, tick_rate_hz);
}

void schema_destroy(cf_schema* schema) {
    for (uint32_t i = 0; i < schema->remembered_count; i++)
        free(schema->remembered[i]);
    free(schema);
}

bool schema_item(const cf_schema* schema, const char* name, uint64_t* hash) {
    for (uint32_t i = 0; i < schema->item_count; i++) {
        if (strcmp(schema->items[i].name, name) != 0) continue;
        *hash = schema->items[i].hash;
        return true;
    }
    return false;
}

uint32_t schema_wire_bits(const cf_schema* schema) {
    uint32_t bits = 1;
    while ((schema->template_count - 1) >> bits)
        bits++;
    return bits;
}
