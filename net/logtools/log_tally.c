// SPDX-License-Identifier: MIT
// What a log is about: how often each component changed, how many entities of each template came
// and went, what each client sent. One walk over the records, without the game. A destroyed entity
// counts for the template with which it was created.
#include "base/assert.h"
#include "base/bitset.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/text.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "replay/log_state.h"
#include "net/log_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 65536, NAME_BYTES = 128, LINE_BYTES = 512 };

typedef struct tally_row {
    uint64_t key; // component id, hash of a template's parts, client number
    char name[NAME_BYTES];
    uint64_t counts[8];
} tally_row;

enum { CHANGES };                                                        // counts of components
enum { CREATED, DESTROYED, RECREATED };                                  // of templates
enum { JOIN, LEAVE, INPUTS, REPEATS, INPUT_BYTES, EVENTS, EVENT_BYTES }; // of clients: ticks first

typedef struct tally_rows {
    tally_row* rows; // by rising key
    uint32_t count, capacity;
} tally_rows;

// The entity that is at an index; none: NONE.
typedef struct living {
    ecs_entity handle;
    uint64_t template_; // its key
} living;

typedef struct tally {
    base_owner owner;
    net_log_reader* reader;
    tally_rows components, templates, clients;
    net_log_state* state; // NULL: the log has no values
    living* living;       // by index of entity
    uint32_t living_capacity;
    uint64_t ticks_without_detail; // without values
} tally;

// The row of a key; a new one is zero and has no name. NULL: too many.
static tally_row* get_row(tally* self, tally_rows* rows, uint64_t key) {
    base_search search = base_search_begin(rows->count);
    while (base_search_next(&search))
        base_search_step(&search, rows->rows[search.middle].key < key);
    const uint32_t low = search.low;
    if (low < rows->count && rows->rows[low].key == key) return &rows->rows[low];
    if (rows->count == ROWS_MAX) return NULL;
    BASE_ARRAY_RESERVE(&self->owner.allocator, rows->rows, rows->capacity, rows->count + 1);
    memmove(rows->rows + low + 1, rows->rows + low, (rows->count - low) * sizeof *rows->rows);
    rows->count++;
    rows->rows[low] = (tally_row){.key = key};
    return &rows->rows[low];
}

static tally_row* get_component(tally* self, uint32_t id) {
    tally_row* row = get_row(self, &self->components, id);
    char name[ECS_NAME_BYTES_MAX];
    if (!row || row->name[0]) return row;
    if (net_log_header_component(self->reader->header.data, self->reader->header.size, id, name))
        (void)base_text_copy(row->name, sizeof row->name, name);
    else
        base_text_format(row->name, sizeof row->name, "%u", id);
    return row;
}

static tally_row* get_named_template(tally* self, const char* name) {
    tally_row* row = get_row(self, &self->templates, base_hash64_text(name));
    if (row && !row->name[0]) (void)base_text_copy(row->name, sizeof row->name, name);
    return row;
}

static void add_end(tally* self, uint32_t index) {
    if (index >= self->living_capacity || self->living[index].handle == ECS_ENTITY_NONE) return;
    tally_row* row = get_row(self, &self->templates, self->living[index].template_);
    if (row) row->counts[DESTROYED]++;
    self->living[index].handle = ECS_ENTITY_NONE;
}

// An entity that is there as a whole; it may have been there before.
static void add_whole(tally* self, ecs_entity entity) {
    const uint32_t index = ecs_entity_index(entity);
    tally_row* row = get_named_template(self, net_log_state_template(self->state, entity));
    if (!row) return;
    BASE_ARRAY_RESERVE(&self->owner.allocator, self->living, self->living_capacity, index + 1);
    const living here = {entity, row->key}, before = self->living[index];
    const bool is_there = before.handle == entity;
    if (is_there && before.template_ == here.template_) return;
    row->counts[is_there ? RECREATED : CREATED]++;
    if (!is_there) add_end(self, index);
    self->living[index] = here;
}

static void add_touch(tally* self, const net_log_touch* touch) {
    if (touch->fate == NET_LOG_FATE_DESTROYED) add_end(self, ecs_entity_index(touch->entity));
    if (touch->fate == NET_LOG_FATE_CREATED) add_whole(self, touch->entity);
    uint64_t changed =
        touch->fate == NET_LOG_FATE_CHANGED ? net_log_state_changed(self->state, touch->entity) : 0;
    for (; changed; changed &= changed - 1) {
        const net_log_component* component =
            net_log_state_template_component(self->state, touch->entity, base_bit_lowest(changed));
        tally_row* row = component ? get_component(self, component->id) : NULL;
        if (row) row->counts[CHANGES]++;
    }
}

static bool add_state(tally* self, const net_log_record* record, bool is_resumed) {
    if (net_log_state_take(self->state, record, is_resumed) != NET_OK) return false;
    if (!net_log_state_is_last(record)) return true;
    if (!net_log_state_is_whole(self->state)) return false;
    uint32_t count;
    const net_log_touch* touches = net_log_state_touches(self->state, &count);
    for (uint32_t i = 0; i < count; i++)
        add_touch(self, &touches[i]);
    for (uint32_t i = 0; net_log_state_is_full(self->state) && i < self->living_capacity; i++)
        if (!net_log_state_template(self->state, self->living[i].handle)) add_end(self, i);
    return true;
}

static void add_item(tally* self, ecs_tick tick, const net_log_item* item) {
    tally_row* row = get_row(self, &self->clients, item->client);
    if (!row) return;
    switch (item->kind) {
    case NET_LOG_ITEM_JOIN:
        row->counts[JOIN] = tick;
        (void)base_text_copy(row->name, sizeof row->name, item->name);
        break;
    case NET_LOG_ITEM_LEAVE:
        row->counts[LEAVE] = tick;
        break;
    case NET_LOG_ITEM_INPUT:
        row->counts[item->is_repeat ? REPEATS : INPUTS]++;
        row->counts[INPUT_BYTES] += item->payload_bytes;
        break;
    default:
        row->counts[EVENTS]++;
        row->counts[EVENT_BYTES] += item->payload_bytes;
    }
}

static void add_begin(tally* self, const net_log_record* record) {
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t offset = 0;
        net_log_item item;
        while (net_log_item_next(record, kind, &offset, &item))
            add_item(self, record->tick, &item);
    }
}

// ---- lines

// Most first; of equal ones the lower key.
static int compare_rows(const void* a, const void* b) {
    const tally_row* left = a;
    const tally_row* right = b;
    if (left->counts[0] != right->counts[0]) return left->counts[0] < right->counts[0] ? 1 : -1;
    return (left->key > right->key) - (left->key < right->key);
}

// A name in a line of key=value: a player's may hold anything but NUL.
static void clean(char* name) {
    for (; *name; name++)
        if (*name <= ' ' || *name == 127 || *name == '=') *name = '_';
}

static void write_components(tally* self, ecs_line_fn line, void* context) {
    char text[LINE_BYTES];
    uint64_t all = 0;
    tally_rows* rows = &self->components;
    for (uint32_t i = 0; i < rows->count; i++)
        all += rows->rows[i].counts[CHANGES];
    if (rows->count > 1) qsort(rows->rows, rows->count, sizeof *rows->rows, compare_rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        const tally_row* row = &rows->rows[i];
        (void)base_text_format(
            text, sizeof text, "component name=%s changes=%" PRIu64 " share=%.1f%%", row->name,
            row->counts[CHANGES], 100.0 * (double)row->counts[CHANGES] / (double)all);
        line(context, text);
    }
}

static void write_templates(tally* self, ecs_line_fn line, void* context) {
    char text[LINE_BYTES];
    tally_rows* rows = &self->templates;
    if (rows->count > 1) qsort(rows->rows, rows->count, sizeof *rows->rows, compare_rows);
    for (uint32_t i = 0; i < rows->count; i++) {
        const tally_row* row = &rows->rows[i];
        snprintf(text, sizeof text,
                 "template name=%s created=%" PRIu64 " destroyed=%" PRIu64 " recreated=%" PRIu64,
                 row->name, row->counts[CREATED], row->counts[DESTROYED], row->counts[RECREATED]);
        line(context, text);
    }
}

static void write_clients(tally* self, ecs_line_fn line, void* context) {
    char text[LINE_BYTES];
    for (uint32_t i = 0; i < self->clients.count; i++) {
        tally_row* row = &self->clients.rows[i];
        clean(row->name);
        snprintf(text, sizeof text,
                 "client id=%" PRIu64 " name=%s join_tick=%" PRIu64 " leave_tick=%" PRIu64
                 " inputs=%" PRIu64 " input_repeats=%" PRIu64 " input_bytes=%" PRIu64
                 " events=%" PRIu64 " event_bytes=%" PRIu64,
                 row->key, row->name, row->counts[JOIN], row->counts[LEAVE], row->counts[INPUTS],
                 row->counts[REPEATS], row->counts[INPUT_BYTES], row->counts[EVENTS],
                 row->counts[EVENT_BYTES]);
        line(context, text);
    }
}

net_result net_log_tally(net_log_reader* reader, ecs_line_fn line, void* context) {
    BASE_ASSERT(reader && line);
    tally* self = base_owner_create(reader->allocator, sizeof *self);
    self->reader = reader;
    (void)!net_log_state_create(reader, NULL, NULL, &self->state); // NULL: it has no values
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        if (record.kind == NET_LOG_KIND_BEGIN) add_begin(self, &record);
        if (self->state && !add_state(self, &record, cursor.resumed != 0))
            self->ticks_without_detail++;
        self->ticks_without_detail += !self->state && record.kind == NET_LOG_KIND_END;
    }
    if (!cursor.has_failed) {
        char text[LINE_BYTES];
        write_components(self, line, context);
        write_templates(self, line, context);
        write_clients(self, line, context);
        snprintf(text, sizeof text, "without_detail ticks=%" PRIu64, self->ticks_without_detail);
        if (self->ticks_without_detail > 0) line(context, text);
    }
    net_log_state_destroy(self->state);
    base_owner_destroy(self);
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

const uint8_t* net_log_reader_pack(const net_log_reader* reader, size_t* bytes) {
    return net_log_header_templates(reader->header.data, reader->header.size, bytes);
}
