// SPDX-License-Identifier: MIT
// WIRE.md, "State body" and "Scope hash": the second pass. It applies the records after the whole
// body was decoded. The received rows and the shown world are separate: a record with a base
// changes only the words that differ, and a wrong word stays in the world until an absolute record
// replaces it.
#define XXH_INLINE_ALL
#include "mirror.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max) {
    cf_mirror* made = or_abort(calloc(1, sizeof *made));
    made->schema = schema;
    made->index_max = index_max;
    while (index_max >> made->index_bits)
        made->index_bits++;
    made->slots = or_abort(calloc(index_max, sizeof(slot_state*)));
    made->indices = or_abort(calloc((size_t)index_max + 1, sizeof *made->indices));
    made->records = or_abort(calloc(RECORDS_MAX, sizeof *made->records));
    made->tape = or_abort(calloc(TAPE_MAX, sizeof *made->tape));
    return made;
}

void mirror_use_solo(cf_mirror* mirror) {
    mirror->solo = solo_create();
}

static void forget_rows(slot_state* slot) {
    for (uint32_t i = 0; i < slot->row_count; i++)
        free(slot->rows[i].words);
    slot->row_count = 0;
}

static void forget_last(slot_state* slot) {
    if (slot->last) forget_rows(slot->last);
    free(slot->last);
    slot->last = NULL;
}

// "The last incarnation": keep its rows, for updates of it that come late.
static void keep_last(slot_state* slot, uint64_t tick) {
    forget_last(slot);
    slot->last = or_abort(malloc(sizeof *slot));
    *slot->last = *slot;
    slot->row_count = 0;
    slot->last_end_tick = tick;
}

// Forget the values that `kept` has not; NULL: all.
static void forget_values(slot_state* slot, const template_row* kept) {
    for (uint32_t i = 0; i < VARSIZES_MAX; i++) {
        if (kept && kept->varsizes[i] && slot->template->varsizes[i]) continue;
        free(slot->values[i].bytes);
        slot->values[i] = (slot_value){0};
    }
}

void mirror_destroy(cf_mirror* mirror) {
    for (uint32_t i = 0; i < mirror->index_max; i++) {
        if (mirror->slots[i]) forget_rows(mirror->slots[i]);
        if (mirror->slots[i]) forget_last(mirror->slots[i]);
        if (mirror->slots[i]) forget_values(mirror->slots[i], NULL);
        if (mirror->slots[i]) free(mirror->slots[i]->world);
        free(mirror->slots[i]);
    }
    for (uint32_t i = 0; i < LISTS_KEPT; i++)
        free(mirror->lists[i].slots);
    solo_destroy(mirror->solo);
    free(mirror->slots);
    free(mirror->indices);
    free(mirror->records);
    free(mirror->tape);
    free(mirror);
}

bool mirror_tick(const cf_mirror* mirror, uint64_t* tick) {
    *tick = mirror->newest_tick;
    return mirror->has_packet;
}

// ---- applying ----

static void forget_tick(slot_state* slot, uint64_t tick) {
    if (!slot->has_forgotten || tick > slot->forgotten_tick) slot->forgotten_tick = tick;
    slot->has_forgotten = true;
}

static void forget_row(slot_state* slot, uint32_t position) {
    forget_tick(slot, slot->rows[position].tick);
    free(slot->rows[position].words);
    slot->row_count--;
    memmove(slot->rows + position, slot->rows + position + 1,
            (slot->row_count - position) * sizeof *slot->rows);
}

static void keep_row(slot_state* slot, uint64_t tick, uint64_t* words) {
    uint32_t at = slot->row_count;
    while (at > 0 && slot->rows[at - 1].tick > tick)
        at--;
    bool is_known = at > 0 && slot->rows[at - 1].tick == tick;
    if (is_known || (at == 0 && slot->row_count == ROWS_KEPT)) {
        if (!is_known) forget_tick(slot, tick);
        free(words);
        return;
    }
    if (slot->row_count == ROWS_KEPT) {
        forget_row(slot, 0);
        at--;
    }
    memmove(slot->rows + at + 1, slot->rows + at, (slot->row_count - at) * sizeof *slot->rows);
    slot->rows[at] = (stamped_row){tick, words};
    slot->row_count++;
}

static void end_incarnation(slot_state* slot, uint64_t tick) {
    if (slot->is_alive) keep_last(slot, tick);
    slot->is_alive = false;
}

// End the incarnation of another slot with this index.
static void leave_other_slots(cf_mirror* mirror, const cf_record* record, uint64_t tick) {
    for (uint32_t i = 0; i < mirror->index_max; i++) {
        slot_state* other = mirror->slots[i];
        if (!other || i == record->slot || !other->is_alive) continue;
        if ((other->handle & 0x3fffff) != (record->handle & 0x3fffff)) continue;
        end_incarnation(other, tick);
        if (!other->has_record || other->last_tick < tick) other->last_tick = tick;
        other->has_record = true;
    }
}

static void add_record(cf_mirror* mirror, uint32_t handle, bool is_there, uint64_t tick) {
    index_state* index = &mirror->indices[handle & 0x3fffff];
    if (index->has_record && index->record_tick > tick) return;
    index->has_record = true;
    index->record_tick = tick;
    index->handle = is_there ? handle : 0;
}

static void begin_incarnation(cf_mirror* mirror, slot_state* slot, const cf_record* record,
                              uint64_t tick) {
    if (slot->is_alive) mirror->counts.recreates++;
    if (slot->is_alive) add_record(mirror, slot->handle, false, tick);
    free(slot->world);
    slot->world = NULL;
    leave_other_slots(mirror, record, tick);
    bool is_recreated = slot->is_alive && slot->handle == record->handle;
    forget_values(slot, is_recreated ? record->template : NULL);
    if (slot->is_alive) keep_last(slot, tick);
    slot->has_forgotten = false;
    slot->has_previous = slot->has_record;
    slot->previous_tick = slot->last_tick;
    slot->is_alive = true;
    slot->handle = record->handle;
    slot->template = record->template;
    slot->begin_tick = tick;
    mirror->counts.creates++;
}

// `before` is the newest row before this record; NULL: none.
static void change_world(slot_state* slot, const cf_record* record, const uint64_t* before) {
    uint32_t count = record->template->layout.element_count;
    bool is_whole = record->is_absolute || !before || !slot->world;
    if (!slot->world || is_whole)
        slot->world = or_abort(realloc(slot->world, (count + 1) * sizeof *slot->world));
    for (uint32_t i = 0; i < count; i++)
        if (is_whole || before[i] != record->words[i]) slot->world[i] = record->words[i];
}

static void apply_record(cf_mirror* mirror, cf_record* record, uint64_t tick) {
    slot_state* slot = mirror->slots[record->slot];
    index_state* index = &mirror->indices[record->handle & 0x3fffff];
    if (record->is_past) return;
    bool is_row = record->kind != RECORD_DESTROY;
    bool is_newer = (!slot->has_record || tick > slot->last_tick) &&
                    (!is_row || !index->has_row || tick > index->last_tick);
    bool is_same = is_row && slot->is_alive && slot->handle == record->handle &&
                   slot->template == record->template;
    if (!is_newer) {
        mirror->counts.late++;
        if (!is_same || (slot->has_previous && tick <= slot->previous_tick)) return;
        keep_row(slot, tick, record->words);
        record->words = NULL;
        if (tick < slot->begin_tick) slot->begin_tick = tick;
        return;
    }
    if (!is_row) {
        mirror->counts.destroys += slot->is_alive;
        if (slot->is_alive) add_record(mirror, slot->handle, false, tick);
        end_incarnation(slot, tick);
    } else {
        if (!is_same) begin_incarnation(mirror, slot, record, tick);
        change_world(slot, record,
                     slot->row_count > 0 ? slot->rows[slot->row_count - 1].words : NULL);
        add_record(mirror, record->handle, true, tick);
        keep_row(slot, tick, record->words);
        record->words = NULL;
        while (record->has_base && slot->row_count > 1 &&
               slot->rows[1].tick + SLACK_TICKS <= record->oldest_tick)
            forget_row(slot, 0);
        index->has_row = true;
        index->last_tick = tick;
    }
    slot->has_record = true;
    slot->last_tick = tick;
}

static int compare_slots(const void* a, const void* b) {
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return x < y ? -1 : x > y;
}

static void remember_list(cf_mirror* mirror) {
    uint16_t ahead = (uint16_t)(mirror->seq - mirror->newest_seq);
    if (!mirror->has_packet || (ahead > 0 && ahead <= 32767)) mirror->newest_seq = mirror->seq;
    packet_list* list = &mirror->lists[mirror->seq % LISTS_KEPT];
    if ((uint16_t)(mirror->newest_seq - mirror->seq) >= LISTS_KEPT) return;
    for (uint32_t i = 0; i < LISTS_KEPT; i++)
        if ((uint16_t)(mirror->newest_seq - mirror->lists[i].seq) >= LISTS_KEPT)
            mirror->lists[i].is_there = false;
    free(list->slots);
    *list = (packet_list){.is_there = true, .seq = mirror->seq, .tick = mirror->tick};
    list->slots = or_abort(calloc(mirror->record_count + 1, sizeof *list->slots));
    for (uint32_t i = 0; i < mirror->record_count; i++)
        if (mirror->records[i].kind != RECORD_DESTROY)
            list->slots[list->count++] = mirror->records[i].slot;
    qsort(list->slots, list->count, sizeof *list->slots, compare_slots);
}

body_result mirror_apply(cf_mirror* mirror, uint16_t seq, uint64_t tick, bit_stream* body,
                         bit_stream* again) {
    mirror->record_count = 0;
    mirror->tape_count = 0;
    mirror->body_number++;
    mirror->bits = body;
    mirror->seq = seq;
    mirror->tick = tick;
    body_result result = body ? body_read(mirror) : BODY_DECODED;
    if (result == BODY_DECODED) {
        if (again) body_write(mirror, again);
        remember_list(mirror);
    }
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        if (result == BODY_DECODED) apply_record(mirror, &mirror->records[i], tick);
        free(mirror->records[i].words);
    }
    if (result != BODY_DECODED) return result;
    mirror->counts.packets++;
    if (!mirror->has_packet || tick > mirror->newest_tick) mirror->newest_tick = tick;
    mirror->has_packet = true;
    return result;
}

probe_result mirror_compare_probe(const cf_mirror* mirror, const cf_header* header) {
    if (!header->has_probe || header->probe_slot >= mirror->index_max) return PROBE_NOT_THERE;
    const slot_state* slot = mirror->slots[header->probe_slot];
    if (!slot || !slot->is_alive || slot->last_tick != header->tick - header->probe_age)
        return PROBE_NOT_THERE;
    const uint64_t* words = slot->world;
    uint8_t bytes[ELEMENTS_MAX * 8];
    uint32_t count = slot->template->layout.element_count;
    for (uint32_t i = 0; i < count * 8; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (i % 8 * 8));
    uint64_t hash = XXH3_64bits(bytes, count * 8);
    return (hash & 0xffff) == header->probe_hash ? PROBE_EQUAL : PROBE_DIFFERS;
}

entity_state mirror_find(const cf_mirror* mirror, uint32_t handle, uint64_t tick) {
    uint32_t number = handle & 0x3fffff;
    if (number == 0 || number > mirror->index_max) return ENTITY_GONE;
    const index_state* index = &mirror->indices[number];
    if (index->has_record && index->handle == handle) return ENTITY_HERE;
    return index->has_record && index->record_tick >= tick ? ENTITY_GONE : ENTITY_TO_COME;
}

// @return NULL: the slot has no entity.
static slot_state* find_alive(const cf_mirror* mirror, uint32_t number) {
    slot_state* slot = number < mirror->index_max ? mirror->slots[number] : NULL;
    return slot && slot->is_alive ? slot : NULL;
}

uint32_t mirror_handle(const cf_mirror* mirror, uint32_t number) {
    const slot_state* slot = find_alive(mirror, number);
    return slot ? slot->handle : 0;
}

bool mirror_is_equal(const cf_mirror* mirror, uint32_t number) {
    const slot_state* slot = find_alive(mirror, number);
    if (!slot) return true;
    return memcmp(slot->world, slot->rows[slot->row_count - 1].words,
                  slot->template->layout.element_count * sizeof *slot->world) == 0;
}

bool mirror_corrupt(cf_mirror* mirror, uint32_t number) {
    slot_state* slot = find_alive(mirror, number);
    if (!slot || slot->template->layout.element_count == 0) return false;
    slot->world[0] ^= 1;
    return true;
}

value_fate mirror_value(cf_mirror* mirror, uint32_t handle, uint32_t component, uint64_t since,
                        const uint8_t* bytes, size_t size) {
    const index_state* index = &mirror->indices[handle & 0x3fffff];
    if (!index->has_record || index->record_tick < since) return VALUE_WAITS;
    if (index->handle != handle) return index->record_tick == since ? VALUE_WAITS : VALUE_DROPPED;
    for (uint32_t i = 0; i < mirror->index_max; i++) {
        slot_state* slot = mirror->slots[i];
        if (!slot || !slot->is_alive || slot->handle != handle) continue;
        if (!slot->template->varsizes[component]) return VALUE_DROPPED;
        slot_value* value = &slot->values[component];
        value->bytes = or_abort(realloc(value->bytes, size));
        memcpy(value->bytes, bytes, size);
        value->size = size;
        return VALUE_APPLIED;
    }
    return VALUE_DROPPED;
}

// ---- scope hash ----

static void add_component(XXH3_state_t* state, const slot_state* slot, uint32_t component) {
    const cf_layout* layout = &slot->template->layout;
    uint8_t packed[ELEMENTS_MAX * 8] = {0};
    bit_stream bits = bits_over(packed, sizeof packed);
    uint32_t first = layout->first[component];
    for (uint32_t i = first; i < first + layout->count[component]; i++)
        bits_write(&bits, slot->world[i], layout->elements[i].bits);
    XXH3_64bits_update(state, layout->names[component], strlen(layout->names[component]) + 1);
    XXH3_64bits_update(state, packed, (bits.at + 7) / 8);
}

static void add_value(XXH3_state_t* state, const slot_state* slot, uint32_t number) {
    static const uint8_t empty[1] = {0};
    const char* name = slot->template->varsizes[number];
    const slot_value* value = &slot->values[number];
    XXH3_64bits_update(state, name, strlen(name) + 1);
    XXH3_64bits_update(state, value->bytes ? value->bytes : empty, value->bytes ? value->size : 1);
}

static void add_entity(XXH3_state_t* state, const slot_state* slot) {
    const cf_layout* layout = &slot->template->layout;
    uint8_t handle[4];
    for (uint32_t i = 0; i < 4; i++)
        handle[i] = (uint8_t)(slot->handle >> (8 * i));
    XXH3_64bits_update(state, handle, sizeof handle);
    XXH3_64bits_update(state, slot->template->name, strlen(slot->template->name) + 1);
    // Both are sorted by name.
    uint32_t number = 0;
    for (uint32_t c = 0; c <= layout->component_count; c++) {
        const char* next = c < layout->component_count ? layout->names[c] : NULL;
        for (; number < VARSIZES_MAX; number++) {
            const char* name = slot->template->varsizes[number];
            if (name && next && strcmp(name, next) > 0) break;
            if (name) add_value(state, slot, number);
        }
        if (next) add_component(state, slot, c);
    }
}

static int compare_indices(const void* a, const void* b) {
    uint32_t x = (*(slot_state* const*)a)->handle & 0x3fffff;
    uint32_t y = (*(slot_state* const*)b)->handle & 0x3fffff;
    return x < y ? -1 : x > y;
}

uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities) {
    slot_state** living = or_abort(calloc(mirror->index_max, sizeof(slot_state*)));
    *entities = 0;
    for (uint32_t i = 0; i < mirror->index_max; i++)
        if (mirror->slots[i] && mirror->slots[i]->is_alive)
            living[(*entities)++] = mirror->slots[i];
    qsort(living, *entities, sizeof(slot_state*), compare_indices);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (uint32_t i = 0; i < *entities; i++)
        add_entity(&state, living[i]);
    free(living);
    return XXH3_64bits_digest(&state);
}
