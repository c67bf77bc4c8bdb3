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

// In solo code these read nothing: 0.
static uint64_t read_bits(cf_mirror* mirror, uint32_t count) {
    if (mirror->is_coded) return 0;
    uint64_t value = bits_read(mirror->bits, count);
    record_on_tape(mirror, (tape_entry){TAPE_BITS, count, value, {0}, NULL, NULL});
    return value;
}

static uint32_t read_golomb(cf_mirror* mirror, uint32_t order) {
    if (mirror->is_coded) return 0;
    uint32_t value = golomb_read(mirror->bits, order);
    record_on_tape(mirror, (tape_entry){TAPE_GOLOMB, order, value, {0}, NULL, NULL});
    return value;
}

static bool has_failed(const cf_mirror* mirror) {
    return mirror->bits->failed || (mirror->is_coded && mirror->solo_body->failed);
}

// "Solo code", "The body": a number that is read, or noted because the shared code had it.
static int64_t take(cf_mirror* mirror, uint32_t field, uint32_t f0, uint32_t f1, int64_t value) {
    const uint64_t features[SOLO_FEATURES] = {f0, f1};
    if (!mirror->solo_body) return value;
    return solo_number(mirror->solo_body, field, features, value);
}

// The same, of a number that is 0..most.
static uint32_t take_below(cf_mirror* mirror, uint32_t field, uint32_t f0, uint32_t value,
                           uint32_t most) {
    int64_t number = take(mirror, field, f0, 0, value);
    if (number >= 0 && number <= (int64_t)most) return (uint32_t)number;
    mirror->bits->failed = true;
    return 0;
}

static uint32_t read_count(cf_mirror* mirror, uint32_t f0, uint32_t order) {
    return take_below(mirror, SOLO_COUNT, f0, read_golomb(mirror, order), UINT32_MAX);
}

static bool read_absent(cf_mirror* mirror, uint32_t number, uint32_t before) {
    bool is_absent = !mirror->is_coded && row_read_absent(mirror->bits);
    const slot_state* slot = mirror->slots[number];
    bool is_named = slot && slot->seen_body == mirror->body_number;
    if (is_absent) record_on_tape(mirror, (tape_entry){TAPE_ABSENT, 0, 0, {0}, NULL, NULL});
    return take(mirror, SOLO_ABSENT, is_named, before, is_absent) != 0;
}

static uint32_t solo_name(const template_row* template) {
    uint32_t name = 0;
    for (uint32_t i = 0; i < template->part_count; i++)
        name = 31 * name + template->parts[i];
    return name;
}

// `third`: NULL: none.
static void read_row(cf_mirror* mirror, cf_record* record, const cf_bases* bases,
                     const uint64_t* third, uint32_t d3) {
    const cf_layout* layout = &record->template->layout;
    record->words = or_abort(calloc(layout->element_count + 1, sizeof(uint64_t)));
    if (!mirror->is_coded) row_read(layout, bases, record->words, mirror->bits);
    if (mirror->solo_body && !mirror->bits->failed)
        solo_row(mirror->solo_body, solo_name(record->template), layout, bases, third, d3,
                 record->words);
    record_on_tape(mirror, (tape_entry){TAPE_ROW, 0, 0, *bases, layout, record->words});
    mirror->counts.third_rows += mirror->solo_body && third;
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
    uint32_t f0; // in solo code
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
    uint32_t gap =
        take_below(mirror, SOLO_GAP, list->f0, read_golomb(mirror, list->order), UINT32_MAX);
    uint64_t number = list->next + gap;
    if (has_failed(mirror) || number >= mirror->index_max) return NULL;
    list->next = number + 1;
    return add_record(mirror, kind, (uint32_t)number);
}

static body_result read_destroys(cf_mirror* mirror) {
    uint32_t count = read_count(mirror, 0, 0);
    slot_list list = {.f0 = 0};
    if (count > 0) list.order = (uint32_t)read_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++)
        if (!read_named(mirror, RECORD_DESTROY, &list)) return BODY_MALFORMED;
    return has_failed(mirror) ? BODY_MALFORMED : BODY_DECODED;
}

static const template_row* read_template(cf_mirror* mirror) {
    uint8_t parts[8];
    uint32_t count = take_below(mirror, SOLO_CREATE, 3, (uint32_t)read_bits(mirror, 3), 7) + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = (uint32_t)read_bits(mirror, schema_wire_bits(mirror->schema));
        parts[i] = (uint8_t)take_below(mirror, SOLO_CREATE, 4, part, 255);
    }
    return has_failed(mirror) ? NULL : schema_find(mirror->schema, parts, count);
}

// The numbers of a create in front of its template; `before`: of the create before it.
static uint32_t read_handle(cf_mirror* mirror, uint32_t before) {
    int64_t index = before & 0x3fffff, generation = 1;
    bool is_next = read_bits(mirror, 1);
    int64_t named = is_next ? index + 1 : (int64_t)read_bits(mirror, mirror->index_bits);
    if (!read_bits(mirror, 1)) generation = (int64_t)read_bits(mirror, 10);
    index += 1 + take(mirror, SOLO_CREATE, 0, 0, named - (index + 1));
    int64_t last = before ? before >> 22 : 1;
    generation = last + take(mirror, SOLO_CREATE, 1, 0, generation - last);
    if (has_failed(mirror) || generation < 1 || generation > 1023) return 0;
    if (index < 1 || index > (int64_t)mirror->index_max) return 0;
    if (mirror->indices[index].created_body == mirror->body_number) return 0;
    mirror->indices[index].created_body = mirror->body_number;
    return (uint32_t)generation << 22 | (uint32_t)index;
}

static body_result read_creates(cf_mirror* mirror) {
    uint32_t count = read_count(mirror, 1, 0), handle = 0;
    slot_list list = {.f0 = 1};
    const template_row* template = NULL;
    const uint64_t* before = NULL; // row of the create before
    if (count > 0) list.order = (uint32_t)read_bits(mirror, 4);
    for (uint32_t i = 0; i < count; i++) {
        cf_record* create = read_named(mirror, RECORD_CREATE, &list);
        if (!create) return BODY_MALFORMED;
        handle = read_handle(mirror, handle);
        if (handle == 0) return BODY_MALFORMED;
        bool is_other = take_below(mirror, SOLO_CREATE, 2, !read_bits(mirror, 1), 1);
        if (is_other) template = read_template(mirror);
        if (has_failed(mirror) || !template) return BODY_MALFORMED;
        create->handle = handle;
        create->is_absolute = true;
        create->template = template;
        read_row(mirror, create, &(cf_bases){.base = template->defaults}, is_other ? NULL : before,
                 0);
        before = create->words;
    }
    return has_failed(mirror) ? BODY_MALFORMED : BODY_DECODED;
}

// ---- runs ----

typedef enum run_kind { RUN_ABSOLUTE, RUN_BY_AGE, RUN_BY_PACKET } run_kind;

typedef struct cf_run {
    run_kind kind;
    bool is_settled;
    uint64_t base_tick;
    uint32_t second;          // d
    const packet_list* third; // packet of the third rows; NULL: there are none
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

// In a run with third rows: has this one a third row? @return false: the client does not have it.
static bool find_third(cf_mirror* mirror, const cf_run* run, const slot_state* slot,
                       uint32_t number, const uint64_t** third) {
    bool is_listed = false;
    for (uint32_t i = 0; i < run->third->count; i++)
        is_listed |= run->third->slots[i] == number;
    *third = NULL;
    if (take(mirror, SOLO_RUN, 5, is_listed, 0)) return true;
    *third = row_of_tick(slot, run->third->tick);
    return *third != NULL;
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
    const uint64_t* third = NULL;
    if (!find_bases(mirror, run, slot, &bases, update)) return miss(mirror, place);
    if (run->third && bases.base2 && !find_third(mirror, run, slot, update->slot, &third))
        return miss(mirror, place);
    read_row(mirror, update, &bases, third,
             third ? (uint32_t)(run->base_tick - run->third->tick) : 0);
    mirror->counts.updates++;
    mirror->counts.from_default += run->kind == RUN_ABSOLUTE;
    mirror->counts.settled += run->is_settled;
    mirror->counts.bases += run->kind == RUN_BY_AGE && !run->is_settled;
    mirror->counts.from_packet += run->kind == RUN_BY_PACKET;
    mirror->counts.second_rows += bases.base2 ? 1 : 0;
    return has_failed(mirror) ? BODY_MALFORMED : BODY_DECODED;
}

static body_result read_records(cf_mirror* mirror, const cf_run* run) {
    uint64_t count = (uint64_t)read_count(mirror, 3, 1) + 1;
    slot_list list = {.f0 = 3, .order = (uint32_t)read_bits(mirror, 4)};
    for (uint64_t i = 0; i < count; i++) {
        body_result result = read_update(mirror, run, read_named(mirror, RECORD_UPDATE, &list));
        if (result != BODY_DECODED) return result;
    }
    return BODY_DECODED;
}

static body_result read_listed(cf_mirror* mirror, const cf_run* run, const packet_list* list) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        bool is_absent = read_absent(mirror, list->slots[i], before);
        before = before << 1 | is_absent;
        if (is_absent) {
            mirror->counts.absent++;
            continue;
        }
        cf_record* update = add_record(mirror, RECORD_UPDATE, list->slots[i]);
        body_result result = read_update(mirror, run, update);
        if (result != BODY_DECODED) return result;
    }
    return has_failed(mirror) ? BODY_MALFORMED : BODY_DECODED;
}

// The packet of the third rows: e.
static body_result read_third(cf_mirror* mirror, cf_run* run) {
    uint32_t back = take_below(mirror, SOLO_RUN, 4, 0, 63);
    uint16_t wanted = (uint16_t)(mirror->seq - back);
    if (has_failed(mirror)) return BODY_MALFORMED;
    if (back == 0) return BODY_DECODED;
    const packet_list* list = &mirror->lists[wanted % LISTS_KEPT];
    if (!list->is_there || list->seq != wanted) return miss(mirror, NULL);
    bool is_right =
        list->tick + run->second < run->base_tick && list->tick + THIRD_MAX >= run->base_tick;
    run->third = list;
    return is_right ? BODY_DECODED : BODY_MALFORMED;
}

static body_result read_run(cf_mirror* mirror) {
    cf_run run = {.kind =
                      (run_kind)take_below(mirror, SOLO_RUN, 0, (uint32_t)read_bits(mirror, 2), 3)};
    const packet_list* list = NULL;
    uint64_t age = 0;
    if (has_failed(mirror) || run.kind > RUN_BY_PACKET) return BODY_MALFORMED;
    if (run.kind == RUN_ABSOLUTE) return read_records(mirror, &run);
    if (run.kind == RUN_BY_AGE) {
        age = take_below(mirror, SOLO_RUN, 2, (uint32_t)read_bits(mirror, 8), 255);
        if (has_failed(mirror) || age == 0) return BODY_MALFORMED;
        if (age > mirror->tick) return miss(mirror, NULL);
        run.is_settled = age == AGE_SETTLED;
    } else {
        uint32_t back = take_below(mirror, SOLO_RUN, 1, (uint32_t)read_bits(mirror, 6), 63);
        uint16_t wanted = (uint16_t)(mirror->seq - back);
        list = &mirror->lists[wanted % LISTS_KEPT];
        if (back == 0 || has_failed(mirror)) return BODY_MALFORMED;
        if (!list->is_there || list->seq != wanted) return miss(mirror, NULL);
        age = mirror->tick - list->tick; // of a later tick: far above the limit
        if (age > UINT32_MAX) return BODY_MALFORMED;
    }
    run.base_tick = mirror->tick - age;
    run.second = take_below(mirror, SOLO_RUN, 3, read_golomb(mirror, 2), UINT32_MAX);
    if (has_failed(mirror) || run.second > (run.is_settled ? 0 : SECOND_MAX)) return BODY_MALFORMED;
    body_result result = run.second > 0 ? read_third(mirror, &run) : BODY_DECODED;
    if (result != BODY_DECODED) return result;
    return list ? read_listed(mirror, &run, list) : read_records(mirror, &run);
}

static body_result read_lists(cf_mirror* mirror) {
    body_result result = read_destroys(mirror);
    if (result == BODY_DECODED) result = read_creates(mirror);
    if (result != BODY_DECODED) return result;
    uint32_t runs = read_count(mirror, 2, 0);
    for (uint32_t r = 0; r < runs && result == BODY_DECODED; r++)
        result = has_failed(mirror) ? BODY_MALFORMED : read_run(mirror);
    if (result != BODY_DECODED) return result;
    if (mirror->is_coded && !solo_end(mirror->solo_body)) return BODY_MALFORMED;
    return !mirror->bits->failed && is_padding(mirror->bits) ? BODY_DECODED : BODY_MALFORMED;
}

body_result body_read(cf_mirror* mirror) {
    mirror->solo_body = NULL;
    mirror->is_coded = false;
    if (mirror->bits->size_bits > 4096 * 8) return BODY_MALFORMED;
    if (!mirror->solo) return read_lists(mirror);
    body_result result =
        solo_read_head(mirror->solo, mirror->seq, mirror->bits, &mirror->solo_body);
    if (result == BODY_WITHOUT_BASE) return miss(mirror, NULL);
    if (result != BODY_DECODED) return result;
    mirror->is_coded = mirror->solo_body && !mirror->solo_body->is_recorded;
    result = read_lists(mirror);
    if (result == BODY_DECODED && mirror->solo_body) solo_keep_samples(mirror->solo, mirror->seq);
    mirror->counts.solo += result == BODY_DECODED && mirror->is_coded;
    return result;
}
