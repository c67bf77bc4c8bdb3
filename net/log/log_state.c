// SPDX-License-Identifier: MIT
// A walk over the log's records that gives the state of each tick to a mirror without a world, as a
// client gets packets, and reading its rows by name.
//
// A full state needs nothing before it: behind damage, and for a seek, a new mirror
// begins there. Until then the rows are unknown: net_log_state_is_whole.
#include "log/log_state.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_recorder.h"
#include "mirror/mirror.h"
#include "net/log.h"
#include "state/schema.h"
#include "state/snapshot_format.h"
#include "state/varsize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIRROR_BYTES_MAX ((size_t)256 << 20) ///< of the rows and values of one log

struct net_log_state {
    const base_allocator* allocator;
    net_log_reader* reader;
    base_reporter reporter;
    net_log_cursor cursor;
    net_log_schema* schema;
    net_mirror* mirror;
    uint16_t seq;       // of the next body
    bool is_known;      // the mirror has all rows of row_tick
    ecs_tick row_tick;  // of the newest state that was read
    ecs_tick full_tick; // of the newest full state
    net_log_sums sums;
    net_log_touch* touches; // of the tick
    uint32_t touch_count, touch_capacity;
    bool is_sorted; // the touches, by index and with their components
    ecs_tick tick;
    bool is_pending; // the end of the tick came, its state did not yet
    bool has_failed;
    bool is_out_of_memory;
};

static net_result refuse(net_log_reader* reader, const base_reporter* reporter, net_result result) {
    const char* file = net_log_reader_file(reader);
    if (result == NET_ERR_UNKNOWN)
        base_report(reporter, file, 0,
                    "the log has no values of components: it was written with --log-content "
                    "inputs");
    if (result == NET_ERR_VERSION)
        base_report(reporter, file, 0, "a later version wrote the values of this log");
    if (result == NET_ERR_DAMAGED)
        base_report(reporter, file, 0, "the schema in the log's header cannot be used");
    return result;
}

net_result net_log_state_create(net_log_reader* reader, const base_reporter* reporter,
                                net_log_state** state_out) {
    BASE_ASSERT(reader && state_out);
    *state_out = NULL;
    const base_allocator* allocator = net_log_reader_allocator(reader);
    net_log_state* state = base_allocate_zero(allocator, sizeof *state);
    if (!state) return NET_ERR_MEMORY;
    state->allocator = allocator;
    state->reader = reader;
    if (reporter) state->reporter = *reporter;
    size_t size;
    const uint8_t* header = net_log_reader_header(reader, &size);
    net_result result = net_log_schema_create(allocator, header, size, &state->schema);
    if (result != NET_OK) {
        base_release(allocator, state, sizeof *state);
        return refuse(reader, reporter, result);
    }
    state->sums = net_log_sums_begin(net_log_reader_info(reader)->untracked_values);
    state->cursor = net_log_cursor_begin(reader);
    *state_out = state;
    return NET_OK;
}

void net_log_state_destroy(net_log_state* state) {
    if (!state) return;
    net_mirror_destroy(state->mirror);
    BASE_ARRAY_RELEASE(state->allocator, state->touches, state->touch_capacity);
    net_log_schema_destroy(state->schema);
    base_release(state->allocator, state, sizeof *state);
}

// ---- what happened in a tick ----

static void touch(net_log_state* state, ecs_entity entity, net_log_fate fate) {
    if (BASE_ARRAY_RESERVE(state->allocator, state->touches, state->touch_capacity,
                           state->touch_count + 1))
        state->touches[state->touch_count++] = (net_log_touch){entity, fate, UINT64_MAX};
    else
        state->is_out_of_memory = true;
}

static void take_gone(void* context, ecs_entity entity, ecs_tick tick) {
    (void)tick;
    touch(context, entity, NET_LOG_FATE_DESTROYED);
}

static void take_changed(void* context, ecs_entity entity, bool is_new) {
    touch(context, entity, is_new ? NET_LOG_FATE_CREATED : NET_LOG_FATE_CHANGED);
}

// Positions in the template, from places in the row.
static uint64_t changed_positions(const net_log_state* state, ecs_entity entity) {
    const net_row_template* row = net_mirror_row(state->mirror, entity, NULL);
    if (!row) return 0; // no writer changes and ends an entity in one tick
    const net_log_template* template_ = net_log_schema_template(state->schema, row);
    const uint64_t components = net_mirror_row_changes(state->mirror, entity);
    uint64_t positions = 0;
    for (uint32_t i = 0; i < template_->component_count && i < 64; i++)
        if (template_->places[i] != UINT8_MAX && components >> template_->places[i] & 1)
            positions |= UINT64_C(1) << i;
    return positions;
}

static int compare_touches(const void* a, const void* b) {
    const net_log_touch *left = a, *right = b;
    const uint32_t i = ecs_entity_index(left->entity), k = ecs_entity_index(right->entity);
    return i != k ? (i > k) - (i < k) : (left->fate < right->fate) - (left->fate > right->fate);
}

// By rising index. What came in place of another entity is the fate of both.
static void sort_touches(net_log_state* state) {
    uint32_t kept = 0;
    if (state->touch_count > 1)
        qsort(state->touches, state->touch_count, sizeof *state->touches, compare_touches);
    for (uint32_t i = 0; i < state->touch_count; i++) {
        net_log_touch at = state->touches[i];
        const bool is_replaced =
            at.fate == NET_LOG_FATE_DESTROYED && i + 1 < state->touch_count &&
            ecs_entity_index(state->touches[i + 1].entity) == ecs_entity_index(at.entity);
        if (at.fate == NET_LOG_FATE_CHANGED) at.components = changed_positions(state, at.entity);
        if (at.fate == NET_LOG_FATE_DESTROYED) at.components = 0;
        if (!is_replaced) state->touches[kept++] = at;
    }
    state->touch_count = kept;
    state->is_sorted = true;
}

// ---- the state of a tick ----

static net_result begin_full(net_log_state* state, ecs_tick tick) {
    net_mirror_destroy(state->mirror);
    state->mirror = NULL;
    state->seq = 1;
    state->is_known = true;
    state->full_tick = tick;
    const net_mirror_config config = {
        .allocator = state->allocator,
        .rows = net_log_schema_rows(state->schema),
        .index_max = net_log_schema_index_max(state->schema),
        .memory_bytes_max = MIRROR_BYTES_MAX,
        .sink = {.context = state, .gone = take_gone, .changed = take_changed},
    };
    return net_mirror_create(&config, &state->mirror);
}

static net_result take_template(net_log_state* state, base_reader item) {
    uint16_t parts[ECS_TEMPLATE_PARTS_MAX];
    const uint64_t count = base_reader_varint(&item);
    if (count > ECS_TEMPLATE_PARTS_MAX) return NET_ERR_DAMAGED;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t part = base_reader_varint(&item);
        if (part > UINT16_MAX) return NET_ERR_DAMAGED;
        parts[i] = (uint16_t)part;
    }
    if (item.failed) return NET_ERR_DAMAGED;
    const size_t size = base_reader_left(&item);
    return net_log_schema_define(state->schema, parts, (uint32_t)count,
                                 base_reader_skip(&item, size), size);
}

static net_result take_body(net_log_state* state, ecs_tick tick, base_reader item) {
    const size_t size = base_reader_left(&item);
    if (size == 0 || size > NET_SNAPSHOT_BYTES_MAX) return NET_ERR_DAMAGED;
    proto_bit_reader bits = proto_bit_reader_make(base_reader_skip(&item, size), size);
    return net_mirror_read(state->mirror, state->seq++, tick, &bits, NULL);
}

static net_result take_value(net_log_state* state, base_reader item) {
    const uint64_t entity = base_reader_varint(&item), component = base_reader_varint(&item);
    if (item.failed || entity > UINT32_MAX || component > ECS_COMPONENTS_MAX)
        return NET_ERR_DAMAGED;
    const net_row_template* row = net_mirror_row(state->mirror, (ecs_entity)entity, NULL);
    if (!row || !net_row_find_varsize(row, (ecs_component_id)component)) return NET_ERR_DAMAGED;
    const size_t size = base_reader_left(&item);
    return net_mirror_keep_value(state->mirror, (ecs_entity)entity, (ecs_component_id)component,
                                 base_reader_skip(&item, size), (uint32_t)size);
}

static net_result take_items(net_log_state* state, ecs_tick tick, base_reader items) {
    net_result result = NET_OK;
    while (result == NET_OK && base_reader_left(&items) > 0) {
        const uint64_t kind = base_reader_varint(&items), size = base_reader_varint(&items);
        const uint8_t* data = base_reader_skip(&items, (size_t)size);
        if (items.failed) return NET_ERR_DAMAGED;
        const base_reader item = base_reader_make(data, (size_t)size);
        if (kind == NET_LOG_STATE_TEMPLATE) result = take_template(state, item);
        if (kind == NET_LOG_STATE_BODY) result = take_body(state, tick, item);
        if (kind == NET_LOG_STATE_VALUE) result = take_value(state, item);
    }
    if (result == NET_OK && state->is_out_of_memory) result = NET_ERR_MEMORY;
    return result == NET_OK || result == NET_ERR_MEMORY ? result : NET_ERR_DAMAGED;
}

static bool is_full(const net_log_record* record) {
    return record->changes_bytes >= 2 && record->changes[0] == NET_LOG_FORM_STATE &&
           record->changes[1] & NET_LOG_STATE_FULL;
}

bool net_log_state_is_last(const net_log_record* record) {
    return record->kind == NET_LOG_KIND_STATE &&
           (record->changes_bytes < 2 || record->changes[0] != NET_LOG_FORM_STATE ||
            record->changes[1] & NET_LOG_STATE_LAST);
}

// A part of the tick's state; of a form of a later version the values are those before it.
static net_result take_state(net_log_state* state, const net_log_record* record) {
    base_reader items = base_reader_make(record->changes, record->changes_bytes);
    const bool is_ours = base_reader_u8(&items) == NET_LOG_FORM_STATE;
    (void)base_reader_u8(&items); // flags
    const bool is_first = state->row_tick != record->tick, begins = is_full(record);
    if (!is_ours || items.failed || (is_first && record->tick != state->row_tick + 1))
        state->is_known = false;
    if (is_first || begins) state->touch_count = 0;
    state->is_sorted = false;
    state->row_tick = record->tick;
    net_result result = is_ours && begins ? begin_full(state, record->tick) : NET_OK;
    if (result == NET_OK && state->is_known) result = take_items(state, record->tick, items);
    if (net_log_state_is_last(record)) state->is_pending = false;
    return result;
}

static void lose(net_log_state* state) {
    net_mirror_destroy(state->mirror);
    state->mirror = NULL;
    state->touch_count = 0;
    state->is_known = false;
    state->sums.is_known = false;
}

net_result net_log_state_take(net_log_state* state, const net_log_record* record, bool is_resumed) {
    BASE_ASSERT(state && record);
    if (is_resumed) lose(state);
    if (record->kind == NET_LOG_KIND_STATE) return take_state(state, record);
    if (record->kind != NET_LOG_KIND_END) return NET_OK;
    state->tick = record->tick;
    state->is_pending = true;
    state->touch_count = 0;
    const bool is_read =
        net_log_sums_read(&state->sums, record->tick, record->changes, record->changes_bytes);
    return is_read ? NET_OK : NET_ERR_DAMAGED;
}

// ---- ticks ----

static net_result fail(net_log_state* state, ecs_tick tick, net_result result) {
    state->has_failed = true;
    base_report(&state->reporter, net_log_reader_file(state->reader), 0, "tick %" PRIu64 ": %s",
                tick, result == NET_ERR_MEMORY ? "out of memory" : "its state cannot be read");
    return result;
}

net_result net_log_state_step(net_log_state* state) {
    BASE_ASSERT(state);
    net_log_record record;
    if (state->has_failed) return NET_ERR_DAMAGED;
    while (net_log_cursor_next(state->reader, &state->cursor, &record)) {
        const bool was_pending = state->is_pending;
        net_result result = net_log_state_take(state, &record, state->cursor.resumed != 0);
        if (result != NET_OK) return fail(state, record.tick, result);
        if (net_log_state_is_last(&record) && was_pending) return NET_OK;
        // The tick has no state: it was lost, or comes behind what is still in the queue.
        const bool is_over = record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_CLOSE;
        state->is_pending = state->is_pending && !is_over;
        if (was_pending && is_over) return NET_OK;
    }
    const bool was_pending = state->is_pending;
    state->is_pending = false;
    if (!state->cursor.has_failed) return was_pending ? NET_OK : NET_ERR_CLOSED;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

net_result net_log_state_return(net_log_state* state) {
    if (state->has_failed || net_log_cursor_return(state->reader, &state->cursor)) return NET_OK;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

bool net_log_state_is_full(const net_log_state* state) {
    return net_log_state_is_whole(state) && state->tick > 0 && state->full_tick == state->tick;
}

static void begin_at(net_log_state* state, net_log_cursor cursor, ecs_tick tick) {
    lose(state);
    state->cursor = cursor;
    state->tick = state->row_tick = tick;
    state->touch_count = 0;
    state->is_pending = state->has_failed = false;
}

static net_result step_to(net_log_state* state, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && state->tick < tick)
        result = net_log_state_step(state);
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// From the cursor up to the tick, go to the last full state; sums are read on the way.
// @return false: there is none.
static bool find_full(net_log_state* state, ecs_tick tick) {
    net_log_cursor before = state->cursor, found = before;
    net_log_record record;
    bool is_found = false;
    while (net_log_cursor_next(state->reader, &state->cursor, &record)) {
        if (record.tick > tick) break;
        if (record.kind == NET_LOG_KIND_END &&
            !net_log_sums_read(&state->sums, record.tick, record.changes, record.changes_bytes))
            break;
        if (record.kind == NET_LOG_KIND_STATE && is_full(&record)) {
            found = before;
            is_found = true;
            state->tick = record.tick;
        }
        before = state->cursor;
    }
    state->cursor = found;
    return is_found && net_log_cursor_return(state->reader, &state->cursor);
}

// Begin at a keyframe before the tick: all comes with the tick after it. @return false: it does
// not, or there is no such keyframe.
static bool step_from_keyframe(net_log_state* state, ecs_tick tick) {
    const ecs_tick here = state->tick, near_ = net_log_schema_tick_rate(state->schema);
    const net_log_keyframe* keyframe;
    if (tick < 2 || tick < here + near_) return false;
    net_log_cursor cursor = net_log_reader_seek(state->reader, tick - 1, &keyframe);
    if (!keyframe || keyframe->tick < here) return false;
    begin_at(state, cursor, keyframe->tick);
    if (find_full(state, tick)) {
        const ecs_tick full = state->tick;
        state->is_pending = true; // its end was read
        state->row_tick = full - 1;
        state->tick = full - 1;
        net_result result = net_log_state_step(state);
        state->tick = full;
        if (result == NET_OK && step_to(state, tick) == NET_OK && net_log_state_is_whole(state))
            return true;
    }
    begin_at(state, net_log_cursor_begin(state->reader), 0);
    return false;
}

net_result net_log_state_seek(net_log_state* state, ecs_tick tick) {
    BASE_ASSERT(state);
    ecs_tick last = net_log_reader_info(state->reader)->last_tick;
    if (tick > last) tick = last;
    if (tick < state->tick || state->has_failed)
        begin_at(state, net_log_cursor_begin(state->reader), 0);
    if (step_from_keyframe(state, tick)) return NET_OK;
    return step_to(state, tick);
}

ecs_tick net_log_state_tick(const net_log_state* state) {
    return state->tick;
}

bool net_log_state_is_whole(const net_log_state* state) {
    return state->tick == 0 || (state->is_known && state->row_tick == state->tick);
}

const net_log_touch* net_log_state_touches(const net_log_state* state, uint32_t* count) {
    // Most readers never ask.
    if (!state->is_sorted) sort_touches((net_log_state*)(uintptr_t)state);
    *count = state->touch_count;
    return state->touches;
}

// Header.untracked_values of the log.
static uint32_t untracked_values_of(const net_log_state* state) {
    return state->sums.untracked_values;
}

uint32_t net_log_state_sum(const net_log_state* state, uint32_t component) {
    return component <= ECS_COMPONENTS_MAX ? (uint32_t)state->sums.values[component] : 0;
}

// ---- components ----

uint32_t net_log_state_component_count(const net_log_state* state) {
    return net_log_schema_component_count(state->schema);
}

const net_log_component* net_log_state_component(const net_log_state* state, uint32_t position) {
    return net_log_schema_component(state->schema, position);
}

const net_log_component* net_log_state_find_component(const net_log_state* state,
                                                      const char* name) {
    BASE_ASSERT(name);
    for (uint32_t i = 0; i < net_log_state_component_count(state); i++)
        if (strcmp(net_log_state_component(state, i)->name, name) == 0)
            return net_log_state_component(state, i);
    return NULL;
}

// ---- entities ----

// `row` may be NULL. @return NULL: there is no such entity.
static const net_log_template* find(const net_log_state* state, ecs_entity entity, uint64_t* row) {
    const net_row_template* found =
        state->mirror ? net_mirror_row(state->mirror, entity, row) : NULL;
    return found ? net_log_schema_template(state->schema, found) : NULL;
}

ecs_entity net_log_state_next(const net_log_state* state, ecs_entity before) {
    return state->mirror ? net_mirror_next(state->mirror, before) : ECS_ENTITY_NONE;
}

uint32_t net_log_state_entity_count(const net_log_state* state) {
    uint32_t count = 0;
    for (ecs_entity at = ECS_ENTITY_NONE; (at = net_log_state_next(state, at)) != ECS_ENTITY_NONE;)
        count++;
    return count;
}

const char* net_log_state_template(const net_log_state* state, ecs_entity entity) {
    const net_log_template* found = find(state, entity, NULL);
    return found ? found->name : NULL;
}

const net_log_component* net_log_state_template_component(const net_log_state* state,
                                                          ecs_entity entity, uint32_t position) {
    const net_log_template* found = find(state, entity, NULL);
    return found && position < found->component_count ? found->components[position] : NULL;
}

// The component's place in the layout of the template; UINT8_MAX: it has none.
static uint32_t find_place(const net_log_template* template_, const net_log_component* component) {
    for (uint32_t i = 0; i < template_->component_count; i++)
        if (template_->components[i] == component) return template_->places[i];
    return UINT8_MAX;
}

net_log_value net_log_value_make(ecs_field_kind kind, const void* memory) {
    net_log_value value = {.kind = kind};
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } raw = {0};
    memcpy(&raw, memory, ecs_field_kind_bytes(kind));
    switch (kind) {
    case ECS_FIELD_BOOL:
        value.truth = raw.u8 != 0;
        break;
    case ECS_FIELD_I8:
        value.whole = (int8_t)raw.u8;
        break;
    case ECS_FIELD_I16:
        value.whole = (int16_t)raw.u16;
        break;
    case ECS_FIELD_I32:
        value.whole = (int32_t)raw.u32;
        break;
    case ECS_FIELD_I64:
        value.whole = (int64_t)raw.u64;
        break;
    case ECS_FIELD_F32:
        value.real = (double)raw.f32;
        break;
    case ECS_FIELD_F64:
        value.real = raw.f64;
        break;
    case ECS_FIELD_ENTITY:
        value.entity = raw.u32;
        break;
    case ECS_FIELD_U8:
        value.natural = raw.u8;
        break;
    case ECS_FIELD_U16:
        value.natural = raw.u16;
        break;
    case ECS_FIELD_U32:
        value.natural = raw.u32;
        break;
    default:
        value.natural = raw.u64;
    }
    return value;
}

bool net_log_state_read(const net_log_state* state, ecs_entity entity,
                        const net_log_component* component, net_log_value* values) {
    BASE_ASSERT(component && values);
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    const net_log_template* found = find(state, entity, words);
    const uint32_t place = found ? find_place(found, component) : UINT8_MAX;
    if (place == UINT8_MAX) return false;
    const proto_layout* layout = &found->row->layout;
    const proto_row_component* row = &layout->components[place];
    if (row->is_rotation) {
        float parts[PROTO_ROTATION_WORDS];
        proto_row_write_component(layout, place, words, parts);
        for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++)
            values[i] = net_log_value_make(ECS_FIELD_F32, &parts[i]);
        return true;
    }
    for (uint32_t i = 0; i < row->field_count; i++) {
        uint64_t memory = 0;
        const proto_quant* quant = &layout->fields[row->field_first + i].quant;
        proto_dequantise(quant, words[row->field_first + i], &memory);
        values[i] = net_log_value_make((ecs_field_kind)quant->kind, &memory);
    }
    return true;
}

const uint8_t* net_log_state_bytes(const net_log_state* state, ecs_entity entity,
                                   const net_log_component* component, size_t* size) {
    BASE_ASSERT(component && size);
    uint32_t bytes = 0;
    const uint8_t* data =
        state->mirror
            ? net_mirror_value_bytes(state->mirror, entity, (ecs_component_id)component->id, &bytes)
            : NULL;
    *size = bytes;
    return data;
}

// ---- values ----

void net_log_value_text(const net_log_value* value, char* text, size_t text_bytes) {
    BASE_ASSERT(value && text && text_bytes > 0);
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        (void)base_text_format(text, text_bytes, "%s", value->truth ? "true" : "false");
        break;
    case ECS_FIELD_F32:
        (void)base_text_format(text, text_bytes, "%.9g", value->real);
        break;
    case ECS_FIELD_F64:
        (void)base_text_format(text, text_bytes, "%.17g", value->real);
        break;
    case ECS_FIELD_ENTITY:
        (void)base_text_format(text, text_bytes, "#%u:%u", ecs_entity_index(value->entity),
                               ecs_entity_generation(value->entity));
        break;
    case ECS_FIELD_I8:
    case ECS_FIELD_I16:
    case ECS_FIELD_I32:
    case ECS_FIELD_I64:
        (void)base_text_format(text, text_bytes, "%" PRId64, value->whole);
        break;
    default:
        (void)base_text_format(text, text_bytes, "%" PRIu64, value->natural);
    }
}

bool net_log_value_equal(const net_log_value* a, const net_log_value* b) {
    if (a->kind != b->kind) return false;
    if (a->kind == ECS_FIELD_F32 || a->kind == ECS_FIELD_F64) {
        bool is_nan = a->real != a->real;
        return is_nan ? b->real != b->real : memcmp(&a->real, &b->real, sizeof a->real) == 0;
    }
    if (a->kind == ECS_FIELD_BOOL) return a->truth == b->truth;
    return a->kind == ECS_FIELD_ENTITY ? a->entity == b->entity : a->natural == b->natural;
}

// ---- a world beside the state ----

// Values are compared by names of components and fields, as a log has them: quantised. What differs
// by less than a quantum, and what has no values in the log, shows in the sums alone.

typedef struct comparison {
    const net_log_state* state;
    net_match* match;
    ecs_world* world;
    net_rows* rows;
    net_verify_result* result;
} comparison;

static bool tell(const comparison* self, ecs_entity entity, const char* component,
                 const char* note) {
    self->result->entity = entity;
    (void)base_text_copy(self->result->component, sizeof self->result->component, component);
    (void)base_text_copy(self->result->note, sizeof self->result->note, note);
    return true;
}

// The value of one word of a row of the world.
static net_log_value value_here(const net_row_template* row_template,
                                const proto_row_component* component, const uint64_t* row,
                                uint32_t element) {
    const proto_layout* layout = &row_template->layout;
    if (component->is_rotation) {
        float parts[PROTO_ROTATION_WORDS];
        uint64_t words[PROTO_ROW_FIELDS_MAX];
        memcpy(words, row, layout->field_count * sizeof *row);
        // Offsets of a rotation are those of its memory: four floats.
        proto_row_write_component(layout, (uint32_t)(component - layout->components), words, parts);
        return net_log_value_make(ECS_FIELD_F32, &parts[element]);
    }
    const proto_quant* quant = &layout->fields[component->field_first + element].quant;
    uint64_t memory = 0;
    proto_dequantise(quant, row[component->field_first + element], &memory);
    return net_log_value_make((ecs_field_kind)quant->kind, &memory);
}

static void name_field(const net_log_component* component, uint32_t element, char* name,
                       size_t name_bytes) {
    for (uint32_t i = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (element >= field->count) {
            element -= field->count;
            continue;
        }
        if (field->count == 1)
            (void)base_text_copy(name, name_bytes, field->name);
        else
            (void)base_text_format(name, name_bytes, "%s[%u]", field->name, element);
        return;
    }
}

static bool differ_in_fields(const comparison* self, ecs_entity entity,
                             const net_log_component* component,
                             const net_row_template* row_template, uint32_t place,
                             const uint64_t* row) {
    net_log_value values[PROTO_ROW_FIELDS_MAX];
    const proto_row_component* own = &row_template->layout.components[place];
    if (component->value_count != own->field_count ||
        !net_log_state_read(self->state, entity, component, values))
        return tell(self, entity, component->name, "it has other fields");
    for (uint32_t i = 0; i < own->field_count; i++) {
        net_log_value here = value_here(row_template, own, row, i);
        if (net_log_value_equal(&here, &values[i])) continue;
        net_verify_result* result = self->result;
        name_field(component, i, result->field, sizeof result->field);
        net_log_value_text(&values[i], result->log_value, sizeof result->log_value);
        net_log_value_text(&here, result->value, sizeof result->value);
        return tell(self, entity, component->name, "");
    }
    return false;
}

static bool differ_in_bytes(const comparison* self, ecs_entity entity,
                            const net_log_component* component, ecs_component_id id) {
    base_bytes here;
    base_bytes_init(&here, net_match_get_config(self->match)->allocator);
    net_varsize_write(self->world, entity, id, &here);
    size_t size;
    const uint8_t* there = net_log_state_bytes(self->state, entity, component, &size);
    bool is_same = !here.failed && there && size == here.size &&
                   (size == 0 || memcmp(there, here.data, size) == 0);
    // A value that is too long for a client is not in the log.
    bool is_skipped = here.failed || here.size > NET_LOG_STATE_VALUE_BYTES_MAX;
    if (!is_same && !is_skipped) {
        net_verify_result* result = self->result;
        (void)base_text_format(result->log_value, sizeof result->log_value, "%zu bytes", size);
        (void)base_text_format(result->value, sizeof result->value, "%zu bytes", here.size);
        (void)tell(self, entity, component->name, "a value of variable size");
    }
    base_bytes_deinit(&here);
    return !is_same && !is_skipped;
}

static bool differ_in_component(const comparison* self, ecs_entity entity,
                                const net_log_component* component,
                                const net_row_template* row_template, const uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    for (uint32_t i = 0; i < layout->component_count; i++) {
        ecs_component_id id = (ecs_component_id)layout->components[i].key;
        if (strcmp(ecs_component_get(self->world, id)->name, component->name) == 0)
            return differ_in_fields(self, entity, component, row_template, i, row);
    }
    for (uint32_t i = 0; i < row_template->varsize_count; i++) {
        ecs_component_id id = row_template->varsizes[i].component;
        if (strcmp(ecs_component_get(self->world, id)->name, component->name) == 0)
            return differ_in_bytes(self, entity, component, id);
    }
    return tell(self, entity, component->name, "only the log's entity has the component");
}

static bool differ_in_entity(const comparison* self, ecs_entity entity) {
    const net_row_template* row_template =
        net_rows_find(self->rows, ecs_entity_template(self->world, entity));
    if (!row_template) return false;
    const char* name = net_log_state_template(self->state, entity);
    if (!name) return tell(self, entity, "-", "only the re-run has the entity");
    const char* here = ecs_template_get(self->world, row_template->id)->name;
    if (strcmp(name, here) != 0) {
        (void)base_text_copy(self->result->log_value, sizeof self->result->log_value, name);
        (void)base_text_copy(self->result->value, sizeof self->result->value, here);
        return tell(self, entity, "-", "its template");
    }
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_rows_read(row_template, self->world, entity, row);
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(self->state, entity, i)) != NULL; i++)
        if (differ_in_component(self, entity, component, row_template, row)) return true;
    return false;
}

// By rising index: entities of the world, and those that only the log has.
static bool differ_in_rows(const comparison* self) {
    uint32_t index_max = ecs_world_limits(self->world)->replicated_index_max;
    for (ecs_entity at = ecs_entity_next(self->world, ECS_ENTITY_NONE);
         at != ECS_ENTITY_NONE && ecs_entity_index(at) <= index_max;
         at = ecs_entity_next(self->world, at))
        if (differ_in_entity(self, at)) return true;
    for (ecs_entity at = net_log_state_next(self->state, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = net_log_state_next(self->state, at))
        if (!ecs_is_alive(self->world, at))
            return tell(self, at, "-", "only the log has the entity");
    return false;
}

static bool differ_in_sums(const comparison* self) {
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
    net_log_sums_of(self->world, untracked_values_of(self->state), sums);
    for (uint32_t i = 0; i < net_log_state_component_count(self->state); i++) {
        const net_log_component* component = net_log_state_component(self->state, i);
        if (component->id > ecs_component_count(self->world)) continue;
        uint64_t sum = sums[component->id];
        uint32_t there = net_log_state_sum(self->state, component->id);
        if ((sum & NET_LOG_SUM_MASK) == there) continue;
        const char* note = "its sum; the log has no values of it, or none so exact";
        return tell(self, ECS_ENTITY_NONE, component->name, note);
    }
    return false;
}

bool net_log_compare(const net_log_state* state, net_match* match, net_verify_result* result) {
    BASE_ASSERT(state && match && result);
    BASE_ASSERT(net_log_state_tick(state) == net_match_tick(match));
    comparison self = {.state = state,
                       .match = match,
                       .world = net_match_world(match),
                       .rows = net_schema_rows(net_match_schema(match)),
                       .result = result};
    if (net_log_state_is_whole(state) && differ_in_rows(&self)) return true;
    return differ_in_sums(&self);
}
