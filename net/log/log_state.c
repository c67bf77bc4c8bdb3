// SPDX-License-Identifier: MIT
// A walk over the log's records that applies each tick's changes to rows, and reading these by
// name.
//
// Behind damage the rows are unknown until all of them come again: net_log_state_is_whole.
#include "net/log_state.h"

#include "base/assert.h"
#include "base/text.h"
#include "log/log_piece.h"
#include "log/log_read.h"
#include "log/log_state_record.h"

#include <inttypes.h>
#include <string.h>

struct net_log_state {
    const base_allocator* allocator;
    net_log_reader* reader;
    base_reporter reporter;
    net_log_cursor cursor;
    net_log_layout* layout;
    net_log_rows rows;
    net_log_piece part;
    ecs_tick tick;
    bool is_whole;
    bool has_failed;
};

static net_result refuse(net_log_reader* reader, const base_reporter* reporter, net_result result) {
    const char* file = net_log_reader_file(reader);
    if (result == NET_ERR_UNKNOWN)
        base_report(reporter, file, 0,
                    "the log has no values of components: an older version wrote it, or it was "
                    "written with --log-content inputs");
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
    net_result result = net_log_layout_create(allocator, header, size, &state->layout);
    if (result != NET_OK) {
        base_release(allocator, state, sizeof *state);
        return refuse(reader, reporter, result);
    }
    net_log_rows_init(&state->rows, allocator, state->layout);
    state->rows.has_touches = true;
    net_log_piece_init(&state->part, allocator);
    state->cursor = net_log_cursor_begin(reader);
    state->is_whole = true;
    *state_out = state;
    return NET_OK;
}

void net_log_state_destroy(net_log_state* state) {
    if (!state) return;
    net_log_rows_deinit(&state->rows);
    net_log_piece_deinit(&state->part);
    net_log_layout_destroy(state->layout);
    base_release(state->allocator, state, sizeof *state);
}

// ---- ticks ----

static net_result fail(net_log_state* state, ecs_tick tick, net_result result) {
    state->has_failed = true;
    base_report(&state->reporter, net_log_reader_file(state->reader), 0, "tick %" PRIu64 ": %s",
                tick, result == NET_ERR_MEMORY ? "out of memory" : "its changes cannot be read");
    return result;
}

// Apply the changes of a record: of a tick's end, or a part before it.
static net_result apply(net_log_state* state, const net_log_record* record) {
    net_log_rows* rows = &state->rows;
    uint32_t form = record->changes_bytes > 0 ? record->changes[0] : 0;
    net_result result;
    if (form == NET_LOG_FORM_DELTA) {
        result = net_log_piece_read_delta(&state->part, rows, record->tick, record->changes,
                                          record->changes_bytes);
    } else if (form == NET_LOG_FORM_RAW) {
        result = net_log_piece_read_raw(&state->part, rows, record->tick, record->changes,
                                        record->changes_bytes);
    } else { // sums, or a form of a later version: the values are those before it
        rows->full_tick = 0;
        return NET_OK;
    }
    return result == NET_OK ? net_log_piece_apply(&state->part, rows) : result;
}

net_result net_log_state_take(net_log_state* state, const net_log_record* record, bool is_resumed) {
    BASE_ASSERT(state && record);
    if (is_resumed) net_log_rows_clear(&state->rows);
    if (record->kind != NET_LOG_KIND_STATE && record->kind != NET_LOG_KIND_END) return NET_OK;
    net_result result = apply(state, record);
    if (result != NET_OK || record->kind == NET_LOG_KIND_STATE) return result;
    state->tick = record->tick;
    state->is_whole = state->rows.full_tick != 0;
    if (state->rows.tick != record->tick) state->rows.touch_count = 0;
    return NET_OK;
}

net_result net_log_state_step(net_log_state* state) {
    BASE_ASSERT(state);
    net_log_record record;
    if (state->has_failed) return NET_ERR_DAMAGED;
    while (net_log_cursor_next(state->reader, &state->cursor, &record)) {
        net_result result = net_log_state_take(state, &record, state->cursor.resumed != 0);
        if (result != NET_OK) return fail(state, record.tick, result);
        if (record.kind == NET_LOG_KIND_END) return NET_OK;
    }
    if (!state->cursor.has_failed) return NET_ERR_CLOSED;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

net_result net_log_state_return(net_log_state* state) {
    if (state->has_failed || net_log_cursor_return(state->reader, &state->cursor)) return NET_OK;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

bool net_log_state_is_full(const net_log_state* state) {
    return state->is_whole && state->rows.full_tick == state->tick;
}

static void begin_at(net_log_state* state, net_log_cursor cursor, ecs_tick tick) {
    net_log_rows_clear(&state->rows);
    state->rows.tick = tick;
    state->cursor = cursor;
    state->tick = tick;
    state->is_whole = tick == 0;
    state->has_failed = false;
}

static net_result step_to(net_log_state* state, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && state->tick < tick)
        result = net_log_state_step(state);
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// Begin at a keyframe some time before the tick, from where all rows may come before it. @return
// false: they did not, or there is no such keyframe.
static bool step_from_keyframe(net_log_state* state, ecs_tick tick, uint32_t seconds) {
    ecs_tick before = (ecs_tick)seconds * net_log_layout_tick_rate(state->layout);
    if (tick < state->tick + before) return false;
    const net_log_keyframe* keyframe;
    net_log_cursor cursor = net_log_reader_seek(state->reader, tick - before, &keyframe);
    if (!keyframe || keyframe->tick <= state->tick) return false;
    begin_at(state, cursor, keyframe->tick);
    if (step_to(state, tick) == NET_OK && state->is_whole) return true;
    begin_at(state, net_log_cursor_begin(state->reader), 0);
    return false;
}

net_result net_log_state_seek(net_log_state* state, ecs_tick tick) {
    BASE_ASSERT(state);
    enum { NEAR_S = 20, FAR_S = 200 };
    ecs_tick last = net_log_reader_info(state->reader)->last_tick;
    if (tick > last) tick = last;
    if (tick < state->tick || state->has_failed)
        begin_at(state, net_log_cursor_begin(state->reader), 0);
    if (step_from_keyframe(state, tick, NEAR_S) || step_from_keyframe(state, tick, FAR_S))
        return NET_OK;
    return step_to(state, tick);
}

ecs_tick net_log_state_tick(const net_log_state* state) {
    return state->tick;
}

bool net_log_state_is_whole(const net_log_state* state) {
    return state->is_whole;
}

const net_log_touch* net_log_state_touches(const net_log_state* state, uint32_t* count) {
    *count = state->rows.touch_count;
    return state->rows.touches;
}

uint32_t net_log_state_untracked_values(const net_log_state* state) {
    return net_log_reader_info(state->reader)->untracked_values;
}

uint32_t net_log_state_sum(const net_log_state* state, uint32_t component) {
    return component <= ECS_COMPONENTS_MAX ? state->rows.sums[component] : 0;
}

// ---- components ----

uint32_t net_log_state_component_count(const net_log_state* state) {
    return net_log_layout_component_count(state->layout);
}

const net_log_component* net_log_state_component(const net_log_state* state, uint32_t position) {
    return net_log_layout_component(state->layout, position);
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

static const net_log_row_entity* find(const net_log_state* state, ecs_entity entity) {
    const net_log_row_entity* found = net_log_rows_find(&state->rows, ecs_entity_index(entity));
    return found && found->handle == entity ? found : NULL;
}

ecs_entity net_log_state_next(const net_log_state* state, ecs_entity before) {
    for (uint32_t index = ecs_entity_index(before) + 1; index < state->rows.capacity; index++) {
        const net_log_row_entity* entity = net_log_rows_find(&state->rows, index);
        if (entity) return entity->handle;
    }
    return ECS_ENTITY_NONE;
}

uint32_t net_log_state_entity_count(const net_log_state* state) {
    return state->rows.count;
}

const char* net_log_state_template(const net_log_state* state, ecs_entity entity) {
    const net_log_row_entity* found = find(state, entity);
    return found ? found->template_->name : NULL;
}

const net_log_component* net_log_state_template_component(const net_log_state* state,
                                                          ecs_entity entity, uint32_t position) {
    const net_log_row_entity* found = find(state, entity);
    if (!found || position >= found->template_->component_count) return NULL;
    return found->template_->components[position];
}

// The component's place in the layout of the entity's template.
static const proto_row_component* find_row(const net_log_row_entity* entity,
                                           const net_log_component* component) {
    for (uint32_t i = 0; entity && i < entity->template_->component_count; i++) {
        if (entity->template_->components[i] != component) continue;
        uint32_t place = entity->template_->places[i];
        return place == UINT8_MAX ? NULL : &entity->template_->layout.components[place];
    }
    return NULL;
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
    const net_log_row_entity* found = find(state, entity);
    const proto_row_component* row = find_row(found, component);
    if (!row) return false;
    const proto_layout* layout = &found->template_->layout;
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    proto_row_unpack(layout, found->rows, words);
    if (row->is_rotation) {
        float parts[PROTO_ROTATION_WORDS];
        proto_row_write_component(layout, (uint32_t)(row - layout->components), words, parts);
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
    static const uint8_t nothing[1] = {0};
    BASE_ASSERT(component && size);
    const net_log_row_entity* found = find(state, entity);
    *size = 0;
    for (const net_log_blob* blob = found ? found->blobs : NULL; blob; blob = blob->next) {
        if (blob->component != component->id) continue;
        *size = blob->size;
        return blob->size > 0 ? blob->data : nothing;
    }
    return NULL;
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
