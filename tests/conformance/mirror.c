// SPDX-License-Identifier: MIT
// WIRE.md: "State body" and "Scope hash". Two passes, as the page asks: a body is decoded into a list of
// records against the rows that are there, and applied only when all of it was understood.
#define XXH_INLINE_ALL
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ROWS_KEPT = 64, RECORDS_MAX = 32768, AGE_SETTLED = 255 };

typedef struct stamped_row {
    uint64_t tick;
    uint64_t* words;
} stamped_row;

typedef struct entity_state {
    bool is_alive;
    bool was_told;       ///< a record was applied: last_tick means something
    uint32_t handle;     ///< the last one that lived or lives here
    uint64_t last_tick;  ///< of the last applied record
    uint64_t begin_tick; ///< lowest tick of a create received of this life
    uint64_t other_tick; ///< last_tick when the present life began; with has_other
    bool has_other;
    const template_row* template;
    stamped_row
        rows[ROWS_KEPT]; ///< by rising tick; the newest is what lives, when last_tick is its tick
    uint32_t row_count;
    uint64_t seen_body; ///< number of the last body with a record of this index
} entity_state;

typedef enum record_kind { RECORD_DESTROY, RECORD_CREATE, RECORD_UPDATE } record_kind;

typedef struct cf_record {
    record_kind kind;
    uint32_t index;
    uint32_t generation;
    uint64_t base_tick; ///< of an update that has one
    bool has_base;
    const template_row* template;
    uint64_t* words;
} cf_record;

struct cf_mirror {
    cf_schema* schema;
    uint32_t index_max;
    entity_state** entities; ///< by index
    uint64_t body_number;
    uint64_t newest_tick;
    cf_record* records;
    uint32_t record_count;
    mirror_counts counts;
};

static void* must(void* memory) {
    if (!memory) abort();
    return memory;
}

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max) {
    cf_mirror* made = must(calloc(1, sizeof *made));
    made->schema = schema;
    made->index_max = index_max;
    made->entities = must(calloc((size_t)index_max + 1, sizeof *made->entities));
    made->records = must(calloc(RECORDS_MAX, sizeof *made->records));
    return made;
}

static void forget_rows(entity_state* entity) {
    for (uint32_t i = 0; i < entity->row_count; i++)
        free(entity->rows[i].words);
    entity->row_count = 0;
}

void mirror_destroy(cf_mirror* mirror) {
    for (uint32_t i = 0; i <= mirror->index_max; i++) {
        if (mirror->entities[i]) forget_rows(mirror->entities[i]);
        free(mirror->entities[i]);
    }
    free(mirror->entities);
    free(mirror->records);
    free(mirror);
}

mirror_counts mirror_count(const cf_mirror* mirror) {
    return mirror->counts;
}

// ---- decoding ------------------------------------------------------------------------------------------

typedef struct index_list {
    uint32_t order;
    uint32_t previous;
    bool is_first;
} index_list;

// 0 when the body is malformed there.
static uint32_t read_index(cf_mirror* mirror, index_list* list, bit_stream* bits) {
    uint64_t index = golomb_read(bits, list->order);
    if (!list->is_first) index += (uint64_t)list->previous + 1;
    list->is_first = false;
    if (bits->failed || index == 0 || index > mirror->index_max) return 0;
    list->previous = (uint32_t)index;
    entity_state** entity = &mirror->entities[index];
    if (!*entity) *entity = must(calloc(1, sizeof **entity));
    if ((*entity)->seen_body == mirror->body_number) return 0; // twice in a body
    (*entity)->seen_body = mirror->body_number;
    return (uint32_t)index;
}

static cf_record* add_record(cf_mirror* mirror, record_kind kind, uint32_t index) {
    if (mirror->record_count == RECORDS_MAX || index == 0) return NULL;
    cf_record* added = &mirror->records[mirror->record_count++];
    *added = (cf_record){.kind = kind, .index = index};
    return added;
}

static void read_words(cf_record* record, const uint64_t* base, bit_stream* bits) {
    record->words = must(calloc(record->template->layout.element_count + 1, sizeof(uint64_t)));
    row_read(&record->template->layout, base, record->words, bits);
}

static body_result read_destroys(cf_mirror* mirror, bit_stream* bits) {
    uint32_t count = golomb_read(bits, 0);
    index_list list = {.is_first = true};
    if (count > 0) list.order = (uint32_t)bits_read(bits, 4);
    for (uint32_t i = 0; i < count; i++) {
        cf_record* destroy = add_record(mirror, RECORD_DESTROY, read_index(mirror, &list, bits));
        if (!destroy) return BODY_MALFORMED;
        destroy->generation = (uint32_t)bits_read(bits, 10);
        if (destroy->generation == 0) return BODY_MALFORMED;
    }
    return bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static const template_row* read_template(cf_mirror* mirror, bit_stream* bits) {
    uint8_t parts[8];
    uint32_t count = (uint32_t)bits_read(bits, 3) + 1;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (uint8_t)bits_read(bits, schema_wire_bits(mirror->schema));
    return bits->failed ? NULL : schema_find(mirror->schema, parts, count);
}

static body_result read_creates(cf_mirror* mirror, bit_stream* bits) {
    uint32_t count = golomb_read(bits, 0);
    index_list list = {.is_first = true};
    const template_row* template = NULL;
    if (count > 0) list.order = (uint32_t)bits_read(bits, 4);
    for (uint32_t i = 0; i < count; i++) {
        cf_record* create = add_record(mirror, RECORD_CREATE, read_index(mirror, &list, bits));
        if (!create) return BODY_MALFORMED;
        create->generation = (uint32_t)bits_read(bits, 10);
        if (!bits_read(bits, 1)) template = read_template(mirror, bits);
        if (create->generation == 0 || !template || bits->failed) return BODY_MALFORMED;
        create->template = template;
        read_words(create, template->defaults, bits);
    }
    return bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

// The row that an age names, NULL when it is not there.
static const uint64_t* find_base(cf_mirror* mirror, cf_record* update, uint64_t tick,
                                 uint32_t age) {
    const entity_state* entity = mirror->entities[update->index];
    if (age == 0) return entity->template->defaults;
    if (tick < age) return NULL;
    for (uint32_t i = entity->row_count; i-- > 0;) {
        const stamped_row* row = &entity->rows[i];
        bool is_wanted = age == AGE_SETTLED ? row->tick <= tick - age : row->tick == tick - age;
        if (!is_wanted) continue;
        update->has_base = true;
        update->base_tick = row->tick;
        return row->words;
    }
    return NULL;
}

static body_result read_update(cf_mirror* mirror, uint64_t tick, uint32_t age, index_list* list,
                               bit_stream* bits) {
    cf_record* update = add_record(mirror, RECORD_UPDATE, read_index(mirror, list, bits));
    if (!update) return BODY_MALFORMED;
    const entity_state* entity = mirror->entities[update->index];
    bool is_known = entity->is_alive && entity->begin_tick < tick;
    const uint64_t* base = is_known ? find_base(mirror, update, tick, age) : NULL;
    if (!base) {
        bool is_late =
            tick < mirror->newest_tick || (entity->was_told && entity->last_tick >= tick);
        return is_late ? BODY_WITHOUT_BASE : BODY_MALFORMED;
    }
    update->template = entity->template;
    read_words(update, base, bits);
    mirror->counts.updates++;
    if (age == 0) mirror->counts.from_default++;
    if (age == AGE_SETTLED) mirror->counts.settled++;
    if (age > 0 && age < AGE_SETTLED) mirror->counts.bases++;
    return BODY_DECODED;
}

static body_result read_runs(cf_mirror* mirror, uint64_t tick, bit_stream* bits) {
    uint32_t runs = golomb_read(bits, 0);
    for (uint32_t r = 0; r < runs && !bits->failed; r++) {
        uint32_t age = 0;
        if (bits_read(bits, 1)) {
            age = (uint32_t)bits_read(bits, 8);
            if (age == 0) return BODY_MALFORMED;
        }
        uint64_t count = (uint64_t)golomb_read(bits, 1) + 1;
        index_list list = {.order = (uint32_t)bits_read(bits, 4), .is_first = true};
        for (uint64_t i = 0; i < count; i++) {
            body_result result = read_update(mirror, tick, age, &list, bits);
            if (result != BODY_DECODED) return result;
        }
    }
    return bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static body_result read_body(cf_mirror* mirror, uint64_t tick, bit_stream* bits) {
    if (bits->size_bits == 0) return BODY_DECODED;
    body_result result = read_destroys(mirror, bits);
    if (result == BODY_DECODED) result = read_creates(mirror, bits);
    if (result == BODY_DECODED) result = read_runs(mirror, tick, bits);
    if (result != BODY_DECODED) return result;
    size_t padding = bits->size_bits - bits->at;
    bool is_padded = padding <= 7 && bits_read(bits, (uint32_t)padding) == 0;
    return is_padded ? BODY_DECODED : BODY_MALFORMED;
}

// ---- applying ------------------------------------------------------------------------------------------

static void forget_row(entity_state* entity, uint32_t position) {
    free(entity->rows[position].words);
    entity->row_count--;
    memmove(entity->rows + position, entity->rows + position + 1,
            (entity->row_count - position) * sizeof *entity->rows);
}

static void keep_row(entity_state* entity, uint64_t tick, uint64_t* words) {
    uint32_t at = entity->row_count;
    while (at > 0 && entity->rows[at - 1].tick > tick)
        at--;
    bool is_known = at > 0 && entity->rows[at - 1].tick == tick;
    if (is_known || (at == 0 && entity->row_count == ROWS_KEPT)) {
        free(words);
        return;
    }
    if (entity->row_count == ROWS_KEPT) {
        forget_row(entity, 0);
        at--;
    }
    memmove(entity->rows + at + 1, entity->rows + at,
            (entity->row_count - at) * sizeof *entity->rows);
    entity->rows[at] = (stamped_row){tick, words};
    entity->row_count++;
}

static bool is_of_this_life(const entity_state* entity, const cf_record* record, uint32_t handle) {
    return record->kind == RECORD_UPDATE ||
           (record->kind == RECORD_CREATE && entity->is_alive && entity->handle == handle &&
            entity->template == record->template);
}

static void begin_life(cf_mirror* mirror, entity_state* entity, const cf_record* record,
                       uint32_t handle, uint64_t tick) {
    entity->has_other = entity->was_told;
    entity->other_tick = entity->last_tick;
    if (entity->is_alive) mirror->counts.recreates++;
    forget_rows(entity);
    entity->is_alive = true;
    entity->handle = handle;
    entity->template = record->template;
    entity->begin_tick = tick;
    mirror->counts.creates++;
}

static void take_record(cf_mirror* mirror, cf_record* record, uint64_t tick) {
    entity_state* entity = mirror->entities[record->index];
    uint32_t handle = record->generation << 22 | record->index;
    bool is_newer = !entity->was_told || tick > entity->last_tick;
    bool is_same = is_of_this_life(entity, record, handle);
    if (!is_newer) {
        if (is_same && !(entity->has_other && tick <= entity->other_tick)) {
            keep_row(entity, tick, record->words);
            record->words = NULL;
            if (tick < entity->begin_tick) entity->begin_tick = tick;
        }
        mirror->counts.late++;
        return;
    }
    if (record->kind == RECORD_DESTROY) {
        if (entity->is_alive) mirror->counts.destroys++;
        forget_rows(entity);
        entity->is_alive = false;
        entity->handle = handle;
    } else {
        if (!is_same) begin_life(mirror, entity, record, handle, tick);
        keep_row(entity, tick, record->words);
        record->words = NULL;
        while (record->has_base && entity->rows[0].tick < record->base_tick)
            forget_row(entity, 0);
    }
    entity->was_told = true;
    entity->last_tick = tick;
}

body_result mirror_take(cf_mirror* mirror, uint64_t tick, uint8_t* body, size_t bytes) {
    if (bytes > 4096) return BODY_MALFORMED;
    bit_stream bits = bits_over(body, bytes);
    mirror->record_count = 0;
    mirror->body_number++;
    body_result result = read_body(mirror, tick, &bits);
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        if (result == BODY_DECODED) take_record(mirror, &mirror->records[i], tick);
        free(mirror->records[i].words);
    }
    if (result == BODY_DECODED && tick > mirror->newest_tick) mirror->newest_tick = tick;
    return result;
}

// ---- scope hash ----------------------------------------------------------------------------------------

static void add_entity(XXH3_state_t* state, const entity_state* entity) {
    const cf_layout* layout = &entity->template->layout;
    const uint64_t* words = entity->rows[entity->row_count - 1].words;
    uint8_t handle[4];
    for (uint32_t i = 0; i < 4; i++)
        handle[i] = (uint8_t)(entity->handle >> (8 * i));
    XXH3_64bits_update(state, handle, sizeof handle);
    XXH3_64bits_update(state, entity->template->name, strlen(entity->template->name) + 1);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint8_t packed[ELEMENTS_MAX * 8] = {0};
        bit_stream bits = bits_over(packed, sizeof packed);
        for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++)
            bits_write(&bits, words[i], layout->elements[i].bits);
        XXH3_64bits_update(state, layout->names[c], strlen(layout->names[c]) + 1);
        XXH3_64bits_update(state, packed, (bits.at + 7) / 8);
    }
}

uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    *entities = 0;
    for (uint32_t i = 1; i <= mirror->index_max; i++) {
        if (!mirror->entities[i] || !mirror->entities[i]->is_alive) continue;
        add_entity(&state, mirror->entities[i]);
        ++*entities;
    }
    return XXH3_64bits_digest(&state);
}
