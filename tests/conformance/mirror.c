// SPDX-License-Identifier: MIT
// WIRE.md: "State body" and "Scope hash". Two passes, as the page asks: a body is decoded into a list of
// records against the rows that are there, and applied only when all of it was understood. While it is
// decoded a tape of what was read is kept, so that it can be encoded once more.
#define XXH_INLINE_ALL
#include "conform.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    ROWS_KEPT = 64,
    RECORDS_MAX = 32768,
    TAPE_MAX = 1 << 18,
    AGE_SETTLED = 255,
    LISTS_KEPT = 128,
    SECOND_MAX = 255,
    SLACK_TICKS = 16, // of what is old enough to be forgotten
};

typedef struct stamped_row {
    uint64_t tick;
    uint64_t* words;
} stamped_row;

typedef struct slot_state {
    bool is_alive;
    bool was_told; ///< a record was applied: last_tick means something
    uint32_t handle;
    uint64_t last_tick;  ///< of the last applied record
    uint64_t begin_tick; ///< lowest tick of a create received of this life
    uint64_t other_tick; ///< last_tick when the present life began; with has_other
    bool has_other;
    uint64_t forgotten_tick; ///< newest row of this life that is not kept; with has_forgotten
    bool has_forgotten;
    const template_row* template;
    stamped_row rows[ROWS_KEPT]; ///< by rising tick; the newest is what lives
    uint32_t row_count;
    uint64_t seen_body; ///< number of the last body with a record of this slot
} slot_state;

typedef struct index_state {
    bool was_told;
    uint64_t last_tick;    ///< of the last applied create or update, in whatever slot
    uint64_t created_body; ///< number of the last body that creates it
} index_state;

typedef struct packet_list {
    bool is_there;
    uint16_t seq;
    uint64_t tick;
    uint32_t* slots; ///< rising
    uint32_t count;
} packet_list;

typedef enum record_kind { RECORD_DESTROY, RECORD_CREATE, RECORD_UPDATE } record_kind;

typedef struct cf_record {
    record_kind kind;
    uint32_t slot;
    uint32_t handle;
    uint64_t oldest_tick; ///< of its base rows; with has_base
    bool has_base;
    const template_row* template;
    uint64_t* words;
} cf_record;

typedef enum tape_kind { TAPE_BITS, TAPE_GOLOMB, TAPE_ABSENT, TAPE_ROW } tape_kind;

typedef struct tape_entry {
    tape_kind kind;
    uint32_t parameter; ///< bits or order
    uint64_t value;
    cf_bases bases;
    const cf_layout* layout;
    const uint64_t* words;
} tape_entry;

struct cf_mirror {
    cf_schema* schema;
    uint32_t index_max, index_bits;
    slot_state** slots;
    index_state* indices;
    packet_list lists[LISTS_KEPT]; ///< by seq mod LISTS_KEPT
    bool has_packet;
    uint16_t newest_seq;
    uint64_t body_number;
    uint64_t newest_tick;
    cf_record* records;
    uint32_t record_count;
    tape_entry* tape;
    uint32_t tape_count;
    mirror_counts counts;
    // the body that is being read
    bit_stream* bits;
    uint16_t seq;
    uint64_t tick;
};

static void* must(void* memory) {
    if (!memory) abort();
    return memory;
}

cf_mirror* mirror_create(cf_schema* schema, uint32_t index_max) {
    cf_mirror* made = must(calloc(1, sizeof *made));
    made->schema = schema;
    made->index_max = index_max;
    while (index_max >> made->index_bits)
        made->index_bits++;
    made->slots = must(calloc(index_max, sizeof(slot_state*)));
    made->indices = must(calloc((size_t)index_max + 1, sizeof *made->indices));
    made->records = must(calloc(RECORDS_MAX, sizeof *made->records));
    made->tape = must(calloc(TAPE_MAX, sizeof *made->tape));
    return made;
}

static void forget_rows(slot_state* slot) {
    for (uint32_t i = 0; i < slot->row_count; i++)
        free(slot->rows[i].words);
    slot->row_count = 0;
}

void mirror_destroy(cf_mirror* mirror) {
    for (uint32_t i = 0; i < mirror->index_max; i++) {
        if (mirror->slots[i]) forget_rows(mirror->slots[i]);
        free(mirror->slots[i]);
    }
    for (uint32_t i = 0; i < LISTS_KEPT; i++)
        free(mirror->lists[i].slots);
    free(mirror->slots);
    free(mirror->indices);
    free(mirror->records);
    free(mirror->tape);
    free(mirror);
}

mirror_counts mirror_count(const cf_mirror* mirror) {
    return mirror->counts;
}

bool mirror_tick(const cf_mirror* mirror, uint64_t* tick) {
    *tick = mirror->newest_tick;
    return mirror->has_packet;
}

// ---- the tape ------------------------------------------------------------------------------------------

static void record_on_tape(cf_mirror* mirror, tape_entry entry) {
    if (mirror->tape_count == TAPE_MAX)
        mirror->bits->failed = true; // longer than any body of 4,096 bytes
    else
        mirror->tape[mirror->tape_count++] = entry;
}

static uint64_t take_bits(cf_mirror* mirror, uint32_t count) {
    uint64_t value = bits_read(mirror->bits, count);
    record_on_tape(mirror, (tape_entry){TAPE_BITS, count, value, {0}, NULL, NULL});
    return value;
}

static uint32_t take_golomb(cf_mirror* mirror, uint32_t order) {
    uint32_t value = golomb_read(mirror->bits, order);
    record_on_tape(mirror, (tape_entry){TAPE_GOLOMB, order, value, {0}, NULL, NULL});
    return value;
}

static bool take_absent(cf_mirror* mirror) {
    if (!row_read_absent(mirror->bits)) return false;
    record_on_tape(mirror, (tape_entry){TAPE_ABSENT, 0, 0, {0}, NULL, NULL});
    return true;
}

static void take_row(cf_mirror* mirror, cf_record* record, const cf_bases* bases) {
    const cf_layout* layout = &record->template->layout;
    record->words = must(calloc(layout->element_count + 1, sizeof(uint64_t)));
    row_read(layout, bases, record->words, mirror->bits);
    record_on_tape(mirror, (tape_entry){TAPE_ROW, 0, 0, *bases, layout, record->words});
}

static void play_tape(const cf_mirror* mirror, bit_stream* again) {
    for (uint32_t i = 0; i < mirror->tape_count; i++) {
        const tape_entry* entry = &mirror->tape[i];
        if (entry->kind == TAPE_BITS)
            bits_write(again, entry->value, entry->parameter);
        else if (entry->kind == TAPE_GOLOMB)
            golomb_write(again, entry->parameter, (uint32_t)entry->value);
        else if (entry->kind == TAPE_ABSENT)
            row_write_absent(again);
        else
            row_write(entry->layout, &entry->bases, entry->words, again);
    }
}

// ---- decoding ------------------------------------------------------------------------------------------

typedef struct slot_list {
    uint32_t order;
    uint64_t next;
} slot_list;

static slot_state* slot_at(cf_mirror* mirror, uint32_t number) {
    slot_state** slot = &mirror->slots[number];
    if (!*slot) *slot = must(calloc(1, sizeof **slot));
    return *slot;
}

// NULL: the slot was named before in this body, or there is no room.
static cf_record* add_record(cf_mirror* mirror, record_kind kind, uint32_t number) {
    slot_state* slot = slot_at(mirror, number);
    if (slot->seen_body == mirror->body_number || mirror->record_count == RECORDS_MAX) return NULL;
    slot->seen_body = mirror->body_number;
    cf_record* added = &mirror->records[mirror->record_count++];
    *added = (cf_record){.kind = kind, .slot = number};
    return added;
}

static cf_record* read_named(cf_mirror* mirror, record_kind kind, slot_list* list) {
    uint64_t number = list->next + take_golomb(mirror, list->order);
    if (mirror->bits->failed || number >= mirror->index_max) return NULL;
    list->next = number + 1;
    return add_record(mirror, kind, (uint32_t)number);
}

static body_result read_destroys(cf_mirror* mirror) {
    uint32_t count = take_golomb(mirror, 0);
    slot_list list = {0};
    if (count > 0) list.order = (uint32_t)take_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++)
        if (!read_named(mirror, RECORD_DESTROY, &list)) return BODY_MALFORMED;
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static const template_row* read_template(cf_mirror* mirror) {
    uint8_t parts[8];
    uint32_t count = (uint32_t)take_bits(mirror, 3) + 1;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (uint8_t)take_bits(mirror, schema_wire_bits(mirror->schema));
    return mirror->bits->failed ? NULL : schema_find(mirror->schema, parts, count);
}

static body_result read_creates(cf_mirror* mirror) {
    uint32_t count = take_golomb(mirror, 0), index = 0;
    slot_list list = {0};
    const template_row* template = NULL;
    if (count > 0) list.order = (uint32_t)take_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++) {
        cf_record* create = read_named(mirror, RECORD_CREATE, &list);
        if (!create) return BODY_MALFORMED;
        uint32_t generation = 1;
        bool is_next = take_bits(mirror, 1);
        index = is_next ? index + 1 : (uint32_t)take_bits(mirror, mirror->index_bits);
        if (!take_bits(mirror, 1)) generation = (uint32_t)take_bits(mirror, 10);
        if (!take_bits(mirror, 1)) template = read_template(mirror);
        if (mirror->bits->failed || !template || generation == 0) return BODY_MALFORMED;
        if (index == 0 || index > mirror->index_max) return BODY_MALFORMED;
        if (mirror->indices[index].created_body == mirror->body_number) return BODY_MALFORMED;
        mirror->indices[index].created_body = mirror->body_number;
        create->handle = generation << 22 | index;
        create->template = template;
        take_row(mirror, create, &(cf_bases){.base = template->defaults});
    }
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

// ---- runs ----

typedef enum run_kind { RUN_ABSOLUTE, RUN_BY_AGE, RUN_BY_PACKET } run_kind;

typedef struct cf_run {
    run_kind kind;
    bool is_settled;
    uint64_t base_tick;
    uint32_t second; // d
} cf_run;

static const uint64_t* row_of_tick(const slot_state* slot, uint64_t tick) {
    for (uint32_t i = 0; i < slot->row_count; i++)
        if (slot->rows[i].tick == tick) return slot->rows[i].words;
    return NULL;
}

// @return false: one of them is not there.
static bool find_bases(const cf_mirror* mirror, const cf_run* run, const slot_state* slot,
                       cf_bases* bases, cf_record* record) {
    *bases = (cf_bases){.base = slot->template->defaults};
    if (run->kind == RUN_ABSOLUTE) return true;
    record->has_base = true;
    if (run->is_settled) {
        bases->base = NULL;
        for (uint32_t i = 0; i < slot->row_count && slot->rows[i].tick <= run->base_tick; i++) {
            bases->base = slot->rows[i].words;
            record->oldest_tick = slot->rows[i].tick;
        }
        return bases->base;
    }
    bases->base = row_of_tick(slot, run->base_tick);
    bases->ticks = (uint32_t)(mirror->tick - run->base_tick);
    record->oldest_tick = run->base_tick - run->second;
    if (run->second > run->base_tick) return false;
    if (run->second > 0) bases->base2 = row_of_tick(slot, record->oldest_tick);
    if (bases->base2) bases->ticks2 = run->second;
    bool was_here = slot->has_forgotten && record->oldest_tick <= slot->forgotten_tick;
    if (run->second > 0 && !bases->base2 && was_here) return false;
    return bases->base != NULL;
}

static body_result miss(const cf_mirror* mirror, const slot_state* slot) {
    bool is_late = mirror->has_packet && mirror->tick < mirror->newest_tick;
    bool has_moved_on = slot && slot->was_told && slot->last_tick >= mirror->tick;
    return is_late || has_moved_on ? BODY_WITHOUT_BASE : BODY_MALFORMED;
}

static body_result read_update(cf_mirror* mirror, const cf_run* run, cf_record* update) {
    if (!update) return BODY_MALFORMED;
    const slot_state* slot = mirror->slots[update->slot];
    cf_bases bases;
    if (!slot->is_alive || slot->begin_tick >= mirror->tick) return miss(mirror, slot);
    update->handle = slot->handle;
    update->template = slot->template;
    if (mirror->indices[slot->handle & 0x3fffff].created_body == mirror->body_number)
        return BODY_MALFORMED;
    if (!find_bases(mirror, run, slot, &bases, update)) return miss(mirror, slot);
    take_row(mirror, update, &bases);
    mirror->counts.updates++;
    mirror->counts.from_default += run->kind == RUN_ABSOLUTE;
    mirror->counts.settled += run->is_settled;
    mirror->counts.bases += run->kind == RUN_BY_AGE && !run->is_settled;
    mirror->counts.from_packet += run->kind == RUN_BY_PACKET;
    mirror->counts.second_rows += bases.base2 != NULL;
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static body_result read_records(cf_mirror* mirror, const cf_run* run) {
    uint64_t count = (uint64_t)take_golomb(mirror, 1) + 1;
    slot_list list = {.order = (uint32_t)take_bits(mirror, 4)};
    for (uint64_t i = 0; i < count; i++) {
        body_result result = read_update(mirror, run, read_named(mirror, RECORD_UPDATE, &list));
        if (result != BODY_DECODED) return result;
    }
    return BODY_DECODED;
}

static body_result read_listed(cf_mirror* mirror, const cf_run* run, const packet_list* list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (take_absent(mirror)) {
            mirror->counts.absent++;
            continue;
        }
        cf_record* update = add_record(mirror, RECORD_UPDATE, list->slots[i]);
        body_result result = read_update(mirror, run, update);
        if (result != BODY_DECODED) return result;
    }
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static body_result read_run(cf_mirror* mirror) {
    cf_run run = {.kind = (run_kind)take_bits(mirror, 2)};
    const packet_list* list = NULL;
    uint64_t age = 0;
    if (run.kind > RUN_BY_PACKET) return BODY_MALFORMED;
    if (run.kind == RUN_ABSOLUTE) return read_records(mirror, &run);
    if (run.kind == RUN_BY_AGE) {
        age = take_bits(mirror, 8);
        if (age == 0) return BODY_MALFORMED;
        if (age > mirror->tick) return miss(mirror, NULL);
        run.is_settled = age == AGE_SETTLED;
    } else {
        uint16_t back = (uint16_t)take_bits(mirror, 6), wanted = (uint16_t)(mirror->seq - back);
        list = &mirror->lists[wanted % LISTS_KEPT];
        if (back == 0 || mirror->bits->failed) return BODY_MALFORMED;
        if (!list->is_there || list->seq != wanted) return miss(mirror, NULL);
        if (list->tick > mirror->tick) return BODY_MALFORMED;
        age = mirror->tick - list->tick;
        if (age > UINT32_MAX) return BODY_MALFORMED;
    }
    run.base_tick = mirror->tick - age;
    run.second = take_golomb(mirror, 2);
    if (mirror->bits->failed || run.second > (run.is_settled ? 0 : SECOND_MAX))
        return BODY_MALFORMED;
    return list ? read_listed(mirror, &run, list) : read_records(mirror, &run);
}

static body_result read_body(cf_mirror* mirror) {
    if (mirror->bits->size_bits > 4096 * 8) return BODY_MALFORMED;
    body_result result = read_destroys(mirror);
    if (result == BODY_DECODED) result = read_creates(mirror);
    if (result != BODY_DECODED) return result;
    uint32_t runs = take_golomb(mirror, 0);
    for (uint32_t r = 0; r < runs && result == BODY_DECODED; r++)
        result = mirror->bits->failed ? BODY_MALFORMED : read_run(mirror);
    if (result != BODY_DECODED) return result;
    return !mirror->bits->failed && is_padding(mirror->bits) ? BODY_DECODED : BODY_MALFORMED;
}

// ---- applying ------------------------------------------------------------------------------------------

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

static void end_life(slot_state* slot) {
    forget_rows(slot);
    slot->is_alive = false;
}

// Whoever has this index in another slot loses that slot.
static void leave_other_slots(cf_mirror* mirror, const cf_record* record, uint64_t tick) {
    for (uint32_t i = 0; i < mirror->index_max; i++) {
        slot_state* other = mirror->slots[i];
        if (!other || i == record->slot || !other->is_alive) continue;
        if ((other->handle & 0x3fffff) != (record->handle & 0x3fffff)) continue;
        end_life(other);
        if (!other->was_told || other->last_tick < tick) other->last_tick = tick;
        other->was_told = true;
    }
}

static void begin_life(cf_mirror* mirror, slot_state* slot, const cf_record* record,
                       uint64_t tick) {
    if (slot->is_alive) mirror->counts.recreates++;
    leave_other_slots(mirror, record, tick);
    forget_rows(slot);
    slot->has_forgotten = false;
    slot->has_other = slot->was_told;
    slot->other_tick = slot->last_tick;
    slot->is_alive = true;
    slot->handle = record->handle;
    slot->template = record->template;
    slot->begin_tick = tick;
    mirror->counts.creates++;
}

static void take_record(cf_mirror* mirror, cf_record* record, uint64_t tick) {
    slot_state* slot = mirror->slots[record->slot];
    index_state* index = &mirror->indices[record->handle & 0x3fffff];
    bool is_row = record->kind != RECORD_DESTROY;
    bool is_newer = (!slot->was_told || tick > slot->last_tick) &&
                    (!is_row || !index->was_told || tick > index->last_tick);
    bool is_same = is_row && slot->is_alive && slot->handle == record->handle &&
                   slot->template == record->template;
    if (!is_newer) {
        mirror->counts.late++;
        if (!is_same || (slot->has_other && tick <= slot->other_tick)) return;
        keep_row(slot, tick, record->words);
        record->words = NULL;
        if (tick < slot->begin_tick) slot->begin_tick = tick;
        return;
    }
    if (!is_row) {
        mirror->counts.destroys += slot->is_alive;
        end_life(slot);
    } else {
        if (!is_same) begin_life(mirror, slot, record, tick);
        keep_row(slot, tick, record->words);
        record->words = NULL;
        while (record->has_base && slot->row_count > 1 &&
               slot->rows[1].tick + SLACK_TICKS <= record->oldest_tick)
            forget_row(slot, 0);
        index->was_told = true;
        index->last_tick = tick;
    }
    slot->was_told = true;
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
    list->slots = must(calloc(mirror->record_count + 1, sizeof *list->slots));
    for (uint32_t i = 0; i < mirror->record_count; i++)
        if (mirror->records[i].kind != RECORD_DESTROY)
            list->slots[list->count++] = mirror->records[i].slot;
    qsort(list->slots, list->count, sizeof *list->slots, compare_slots);
}

body_result mirror_take(cf_mirror* mirror, uint16_t seq, uint64_t tick, bit_stream* body,
                        bit_stream* again) {
    mirror->record_count = 0;
    mirror->tape_count = 0;
    mirror->body_number++;
    mirror->bits = body;
    mirror->seq = seq;
    mirror->tick = tick;
    body_result result = body ? read_body(mirror) : BODY_DECODED;
    if (result == BODY_DECODED) {
        if (again) play_tape(mirror, again);
        remember_list(mirror);
    }
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        if (result == BODY_DECODED) take_record(mirror, &mirror->records[i], tick);
        free(mirror->records[i].words);
    }
    if (result != BODY_DECODED) return result;
    if (!mirror->has_packet || tick > mirror->newest_tick) mirror->newest_tick = tick;
    mirror->has_packet = true;
    return result;
}

sample_result mirror_sample(const cf_mirror* mirror, const cf_header* header) {
    if (!header->has_sample || header->sample_slot >= mirror->index_max) return SAMPLE_NOT_THERE;
    const slot_state* slot = mirror->slots[header->sample_slot];
    if (!slot || !slot->is_alive || slot->last_tick != header->tick - header->sample_age)
        return SAMPLE_NOT_THERE;
    const uint64_t* words = slot->rows[slot->row_count - 1].words;
    uint8_t bytes[ELEMENTS_MAX * 8];
    uint32_t count = slot->template->layout.element_count;
    for (uint32_t i = 0; i < count * 8; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (i % 8 * 8));
    uint64_t hash = XXH3_64bits(bytes, count * 8);
    return (hash & 0xffff) == header->sample_hash ? SAMPLE_EQUAL : SAMPLE_DIFFERS;
}

// ---- scope hash ----------------------------------------------------------------------------------------

static void add_entity(XXH3_state_t* state, const slot_state* slot) {
    const cf_layout* layout = &slot->template->layout;
    const uint64_t* words = slot->rows[slot->row_count - 1].words;
    uint8_t handle[4];
    for (uint32_t i = 0; i < 4; i++)
        handle[i] = (uint8_t)(slot->handle >> (8 * i));
    XXH3_64bits_update(state, handle, sizeof handle);
    XXH3_64bits_update(state, slot->template->name, strlen(slot->template->name) + 1);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint8_t packed[ELEMENTS_MAX * 8] = {0};
        bit_stream bits = bits_over(packed, sizeof packed);
        for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++)
            bits_write(&bits, words[i], layout->elements[i].bits);
        XXH3_64bits_update(state, layout->names[c], strlen(layout->names[c]) + 1);
        XXH3_64bits_update(state, packed, (bits.at + 7) / 8);
    }
}

static int compare_indices(const void* a, const void* b) {
    uint32_t x = (*(slot_state* const*)a)->handle & 0x3fffff;
    uint32_t y = (*(slot_state* const*)b)->handle & 0x3fffff;
    return x < y ? -1 : x > y;
}

uint64_t mirror_scope_hash(const cf_mirror* mirror, uint32_t* entities) {
    slot_state** living = must(calloc(mirror->index_max, sizeof(slot_state*)));
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
