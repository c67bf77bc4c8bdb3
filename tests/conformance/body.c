// SPDX-License-Identifier: MIT
// WIRE.md, "State body": the reader's first pass. It decodes a body into a list of records against
// the received rows. A tape keeps what was read, so that the body can be encoded again: the tape
// has the choices that the page leaves to the writer (orders, counts, long or short forms), and
// rows are coded again from their words.
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

void* or_abort(void* memory) {
    if (!memory) abort();
    return memory;
}

// ---- the tape ----

static void record_on_tape(cf_mirror* mirror, tape_entry entry) {
    if (mirror->tape_count == TAPE_MAX)
        mirror->bits->failed = true; // longer than any body of 4,096 bytes
    else
        mirror->tape[mirror->tape_count++] = entry;
}

static uint64_t read_bits(cf_mirror* mirror, uint32_t count) {
    uint64_t value = bits_read(mirror->bits, count);
    record_on_tape(mirror, (tape_entry){TAPE_BITS, count, value, {0}, NULL, NULL});
    return value;
}

static uint32_t read_golomb(cf_mirror* mirror, uint32_t order) {
    uint32_t value = golomb_read(mirror->bits, order);
    record_on_tape(mirror, (tape_entry){TAPE_GOLOMB, order, value, {0}, NULL, NULL});
    return value;
}

static bool read_absent(cf_mirror* mirror) {
    if (!row_read_absent(mirror->bits)) return false;
    record_on_tape(mirror, (tape_entry){TAPE_ABSENT, 0, 0, {0}, NULL, NULL});
    return true;
}

static void read_row(cf_mirror* mirror, cf_record* record, const cf_bases* bases) {
    const cf_layout* layout = &record->template->layout;
    record->words = or_abort(calloc(layout->element_count + 1, sizeof(uint64_t)));
    row_read(layout, bases, record->words, mirror->bits);
    record_on_tape(mirror, (tape_entry){TAPE_ROW, 0, 0, *bases, layout, record->words});
    mirror->counts.rows++;
    mirror->counts.words += layout->element_count;
}

void body_write(const cf_mirror* mirror, bit_stream* again) {
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

// ---- decoding ----

typedef struct slot_list {
    uint32_t order;
    uint64_t next;
} slot_list;

static slot_state* slot_at(cf_mirror* mirror, uint32_t number) {
    slot_state** slot = &mirror->slots[number];
    if (!*slot) *slot = or_abort(calloc(1, sizeof **slot));
    return *slot;
}

// @return NULL: the slot occurs twice in this body, or there is no room.
static cf_record* add_record(cf_mirror* mirror, record_kind kind, uint32_t number) {
    slot_state* slot = slot_at(mirror, number);
    if (slot->seen_body == mirror->body_number || mirror->record_count == RECORDS_MAX) return NULL;
    slot->seen_body = mirror->body_number;
    cf_record* added = &mirror->records[mirror->record_count++];
    *added = (cf_record){.kind = kind, .slot = number};
    return added;
}

static cf_record* read_named(cf_mirror* mirror, record_kind kind, slot_list* list) {
    uint64_t number = list->next + read_golomb(mirror, list->order);
    if (mirror->bits->failed || number >= mirror->index_max) return NULL;
    list->next = number + 1;
    return add_record(mirror, kind, (uint32_t)number);
}

static body_result read_destroys(cf_mirror* mirror) {
    uint32_t count = read_golomb(mirror, 0);
    slot_list list = {0};
    if (count > 0) list.order = (uint32_t)read_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++)
        if (!read_named(mirror, RECORD_DESTROY, &list)) return BODY_MALFORMED;
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static const template_row* read_template(cf_mirror* mirror) {
    uint8_t parts[8];
    uint32_t count = (uint32_t)read_bits(mirror, 3) + 1;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = (uint8_t)read_bits(mirror, schema_wire_bits(mirror->schema));
    return mirror->bits->failed ? NULL : schema_find(mirror->schema, parts, count);
}

static body_result read_creates(cf_mirror* mirror) {
    uint32_t count = read_golomb(mirror, 0), index = 0;
    slot_list list = {0};
    const template_row* template = NULL;
    if (count > 0) list.order = (uint32_t)read_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++) {
        cf_record* create = read_named(mirror, RECORD_CREATE, &list);
        if (!create) return BODY_MALFORMED;
        uint32_t generation = 1;
        bool is_next = read_bits(mirror, 1);
        index = is_next ? index + 1 : (uint32_t)read_bits(mirror, mirror->index_bits);
        if (!read_bits(mirror, 1)) generation = (uint32_t)read_bits(mirror, 10);
        if (!read_bits(mirror, 1)) template = read_template(mirror);
        if (mirror->bits->failed || !template || generation == 0) return BODY_MALFORMED;
        if (index == 0 || index > mirror->index_max) return BODY_MALFORMED;
        if (mirror->indices[index].created_body == mirror->body_number) return BODY_MALFORMED;
        mirror->indices[index].created_body = mirror->body_number;
        create->handle = generation << 22 | index;
        create->is_absolute = true;
        create->template = template;
        read_row(mirror, create, &(cf_bases){.base = template->defaults});
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

// @return false: the client does not have a base row.
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
    bool has_moved_on = slot && slot->has_record && slot->last_tick >= mirror->tick;
    return is_late || has_moved_on ? BODY_WITHOUT_BASE : BODY_MALFORMED;
}

// The incarnation that an update of this tick belongs to; NULL: none that the client has.
static const slot_state* incarnation_of(const slot_state* slot, uint64_t tick) {
    if (slot->is_alive && slot->begin_tick < tick) return slot;
    const slot_state* last = slot->last;
    return last && tick > last->begin_tick && tick < slot->last_end_tick ? last : NULL;
}

static body_result read_update(cf_mirror* mirror, const cf_run* run, cf_record* update) {
    if (!update) return BODY_MALFORMED;
    const slot_state* place = mirror->slots[update->slot];
    const slot_state* slot = incarnation_of(place, mirror->tick);
    cf_bases bases;
    if (!slot) return miss(mirror, place);
    update->is_past = slot != place;
    update->handle = slot->handle;
    update->is_absolute = run->kind == RUN_ABSOLUTE;
    update->template = slot->template;
    if (mirror->indices[slot->handle & 0x3fffff].created_body == mirror->body_number)
        return BODY_MALFORMED;
    if (!find_bases(mirror, run, slot, &bases, update)) return miss(mirror, place);
    read_row(mirror, update, &bases);
    mirror->counts.updates++;
    mirror->counts.from_default += run->kind == RUN_ABSOLUTE;
    mirror->counts.settled += run->is_settled;
    mirror->counts.bases += run->kind == RUN_BY_AGE && !run->is_settled;
    mirror->counts.from_packet += run->kind == RUN_BY_PACKET;
    mirror->counts.second_rows += bases.base2 ? 1 : 0;
    return mirror->bits->failed ? BODY_MALFORMED : BODY_DECODED;
}

static body_result read_records(cf_mirror* mirror, const cf_run* run) {
    uint64_t count = (uint64_t)read_golomb(mirror, 1) + 1;
    slot_list list = {.order = (uint32_t)read_bits(mirror, 4)};
    for (uint64_t i = 0; i < count; i++) {
        body_result result = read_update(mirror, run, read_named(mirror, RECORD_UPDATE, &list));
        if (result != BODY_DECODED) return result;
    }
    return BODY_DECODED;
}

static body_result read_listed(cf_mirror* mirror, const cf_run* run, const packet_list* list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (read_absent(mirror)) {
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
    cf_run run = {.kind = (run_kind)read_bits(mirror, 2)};
    const packet_list* list = NULL;
    uint64_t age = 0;
    if (run.kind > RUN_BY_PACKET) return BODY_MALFORMED;
    if (run.kind == RUN_ABSOLUTE) return read_records(mirror, &run);
    if (run.kind == RUN_BY_AGE) {
        age = read_bits(mirror, 8);
        if (age == 0) return BODY_MALFORMED;
        if (age > mirror->tick) return miss(mirror, NULL);
        run.is_settled = age == AGE_SETTLED;
    } else {
        uint16_t back = (uint16_t)read_bits(mirror, 6), wanted = (uint16_t)(mirror->seq - back);
        list = &mirror->lists[wanted % LISTS_KEPT];
        if (back == 0 || mirror->bits->failed) return BODY_MALFORMED;
        if (!list->is_there || list->seq != wanted) return miss(mirror, NULL);
        if (list->tick > mirror->tick) return BODY_MALFORMED;
        age = mirror->tick - list->tick;
        if (age > UINT32_MAX) return BODY_MALFORMED;
    }
    run.base_tick = mirror->tick - age;
    run.second = read_golomb(mirror, 2);
    if (mirror->bits->failed || run.second > (run.is_settled ? 0 : SECOND_MAX))
        return BODY_MALFORMED;
    return list ? read_listed(mirror, &run, list) : read_records(mirror, &run);
}

body_result body_read(cf_mirror* mirror) {
    if (mirror->bits->size_bits > 4096 * 8) return BODY_MALFORMED;
    body_result result = read_destroys(mirror);
    if (result == BODY_DECODED) result = read_creates(mirror);
    if (result != BODY_DECODED) return result;
    uint32_t runs = read_golomb(mirror, 0);
    for (uint32_t r = 0; r < runs && result == BODY_DECODED; r++)
        result = mirror->bits->failed ? BODY_MALFORMED : read_run(mirror);
    if (result != BODY_DECODED) return result;
    return !mirror->bits->failed && is_padding(mirror->bits) ? BODY_DECODED : BODY_MALFORMED;
}
