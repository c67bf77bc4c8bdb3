// SPDX-License-Identifier: MIT
// The simulation's thread only finds out which words of which rows are new, and copies them. Coding
// takes ten times as long and is done on the log's thread (log_delta.c).
//
// Words are compared and copied in pairs: rows have an even number of them.
#include "log/log_capture.h"

#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "log/log_delta_format.h"
#include "log/log_header.h"
#include "state/schema_rows.h"
#include "state/varsize_value.h"

#include <string.h>

enum {
    HEAD_BYTES = 6, // form, flags, end
    ITEM_BYTES_MAX = 16 + PROTO_ROW_FIELDS_MAX / 8 + PROTO_ROW_FIELDS_MAX * 8,
    END_AT = 2,
};

struct net_log_capture {
    const base_allocator* allocator;
    ecs_world* world;
    const net_rows* rows; // for definitions
    bool has_rows;
    bool is_start; // the tick gives all entities
    bool has_failed;
    uint8_t *bytes, *out;
    uint32_t capacity;
    uint32_t count_at; // offset of the count of what is being written
    uint32_t count;
    uint16_t* numbers; // [template id]: number + 1; 0: not defined yet
    uint32_t number_capacity;
    ecs_template_id* composed; // in the order of their numbers
    uint32_t composed_count, composed_capacity, loaded_count;
    uint64_t sums[ECS_COMPONENTS_MAX + 1];
    bool is_varsize[ECS_COMPONENTS_MAX + 1];
    uint32_t* spawned; // indices that came with this tick
    uint32_t spawned_count, spawned_capacity;
    base_bytes value;
    ecs_tick tick;
    net_log_piece_fn part;
    void* context;
};

// The schema numbers its replicated templates in its order.
static bool number_loaded(net_log_capture* capture) {
    uint32_t count = ecs_template_count(capture->world);
    if (!BASE_ARRAY_RESERVE(capture->allocator, capture->numbers, capture->number_capacity,
                            count + 1))
        return false;
    for (uint32_t id = 1; id <= count; id++) {
        const ecs_template* template_ = ecs_template_get(capture->world, (ecs_template_id)id);
        if (template_->part_count != 1 || !template_->is_replicated) continue;
        capture->numbers[id] = (uint16_t)++capture->loaded_count;
    }
    for (uint32_t id = 1; id <= ecs_component_count(capture->world); id++) {
        const ecs_component* component = ecs_component_get(capture->world, (ecs_component_id)id);
        const ecs_type* type = ecs_type_get(capture->world, component->type);
        capture->is_varsize[id] = type && ecs_type_is_varsize(type);
    }
    return true;
}

net_result net_log_capture_create(const base_allocator* allocator, const net_match* match,
                                  bool has_rows, net_log_capture** capture_out) {
    BASE_ASSERT(match && capture_out);
    *capture_out = NULL;
    net_log_capture* capture = base_allocate_zero(allocator, sizeof *capture);
    if (!capture) return NET_ERR_MEMORY;
    capture->allocator = allocator;
    capture->world = net_match_world((net_match*)(uintptr_t)match);
    capture->rows = net_schema_rows(net_match_schema(match));
    capture->has_rows = has_rows;
    capture->is_start = true;
    base_bytes_init(&capture->value, allocator);
    if (!BASE_ARRAY_RESERVE(allocator, capture->bytes, capture->capacity, ITEM_BYTES_MAX) ||
        !number_loaded(capture)) {
        net_log_capture_destroy(capture);
        return NET_ERR_MEMORY;
    }
    *capture_out = capture;
    return NET_OK;
}

void net_log_capture_destroy(net_log_capture* capture) {
    if (!capture) return;
    const base_allocator* allocator = capture->allocator;
    BASE_ARRAY_RELEASE(allocator, capture->bytes, capture->capacity);
    BASE_ARRAY_RELEASE(allocator, capture->numbers, capture->number_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->composed, capture->composed_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->spawned, capture->spawned_capacity);
    base_bytes_deinit(&capture->value);
    base_release(allocator, capture, sizeof *capture);
}

void net_log_capture_restart(net_log_capture* capture) {
    capture->is_start = true;
}

// ---- bytes ----

static size_t used(const net_log_capture* capture) {
    return (size_t)(capture->out - capture->bytes);
}

// Make room. @return false when memory ran out.
static bool reserve(net_log_capture* capture, size_t bytes) {
    size_t before = used(capture), needed = before + bytes;
    if (needed <= capture->capacity) return true;
    if (needed > UINT32_MAX || !BASE_ARRAY_RESERVE(capture->allocator, capture->bytes,
                                                   capture->capacity, (uint32_t)needed)) {
        capture->has_failed = true;
        return false;
    }
    capture->out = capture->bytes + before;
    return true;
}

static inline void store_u32(uint8_t* at, uint32_t value) { // one store
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

static void put(net_log_capture* capture, uint32_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        *capture->out++ = (uint8_t)(value >> (8 * i));
}

static void put_data(net_log_capture* capture, const void* data, size_t size) {
    if (size > 0) memcpy(capture->out, data, size);
    capture->out += size;
}

// A list begins with its count, which is known at its end.
static void begin_list(net_log_capture* capture) {
    capture->count = 0;
    if (!reserve(capture, 4)) return;
    capture->count_at = (uint32_t)used(capture);
    put(capture, 0, 4);
}

static void end_list(net_log_capture* capture) {
    if (!capture->has_failed) store_u32(capture->bytes + capture->count_at, capture->count);
}

static void begin_part(net_log_capture* capture) {
    capture->out = capture->bytes;
    put(capture, NET_LOG_FORM_RAW, 1);
    put(capture,
        (capture->is_start ? NET_LOG_RAW_START : 0u) | (capture->has_rows ? NET_LOG_RAW_ROWS : 0u),
        1);
    put(capture, UINT32_MAX, 4);
}

static void give(net_log_capture* capture, bool is_last) {
    if (is_last) capture->bytes[1] |= NET_LOG_RAW_LAST;
    capture->part(capture->context, capture->bytes, used(capture), is_last);
}

// ---- templates ----

static bool define(net_log_capture* capture, ecs_template_id id) {
    if (!reserve(capture, NET_LOG_DEFINITION_BYTES_MAX + 4)) return false;
    proto_pb_writer wire = {.data = capture->out + 4, .capacity = NET_LOG_DEFINITION_BYTES_MAX};
    net_log_header_write_template(&wire, capture->world, capture->rows, id);
    if (wire.failed) return false;
    store_u32(capture->out, (uint32_t)wire.size);
    capture->out += 4 + wire.size;
    capture->count++;
    return true;
}

// Number a composed template that has no number yet. @return false: there are too many.
static bool number_composed(net_log_capture* capture, const net_row_template* row_template) {
    ecs_template_id id = row_template->id;
    if (id < capture->number_capacity && capture->numbers[id] > 0) return true;
    if (capture->loaded_count + capture->composed_count >= NET_LOG_TEMPLATES_MAX ||
        !BASE_ARRAY_RESERVE(capture->allocator, capture->numbers, capture->number_capacity,
                            id + 1u) ||
        !BASE_ARRAY_RESERVE(capture->allocator, capture->composed, capture->composed_capacity,
                            capture->composed_count + 1))
        return false;
    capture->composed[capture->composed_count++] = id;
    capture->numbers[id] = (uint16_t)(capture->loaded_count + capture->composed_count);
    return capture->is_start || define(capture, id);
}

// The entities that come as a whole: at a start all of them.
static void list_spawned(net_log_capture* capture, const net_history* history) {
    uint32_t count, end = net_history_index_end(history);
    const net_history_event* events = net_history_events(history, &count);
    if (!BASE_ARRAY_RESERVE(capture->allocator, capture->spawned, capture->spawned_capacity,
                            capture->is_start ? end : count)) {
        capture->has_failed = true;
        return;
    }
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count && !capture->is_start; i++)
        if (events[i].kind == NET_HISTORY_SPAWNED)
            capture->spawned[listed++] = ecs_entity_index(events[i].handle);
    for (uint32_t index = 1; index < end && capture->is_start; index++)
        if (net_history_find(history, index)) capture->spawned[listed++] = index;
    capture->spawned_count = listed;
}

static void write_definitions(net_log_capture* capture, const net_history* history) {
    bool fits = true;
    begin_list(capture);
    for (uint32_t i = 0; i < capture->spawned_count && fits; i++)
        fits =
            number_composed(capture, net_history_find(history, capture->spawned[i])->row_template);
    for (uint32_t i = 0; i < capture->composed_count && fits && capture->is_start; i++)
        fits = define(capture, capture->composed[i]);
    if (!fits) capture->has_failed = true;
    end_list(capture);
}

// ---- entities ----

// Give the part away and begin the next one with the same list. `index` is
// the first that the next part is about.
static void split(net_log_capture* capture, uint32_t index) {
    if (capture->has_failed) return;
    end_list(capture);
    store_u32(capture->bytes + END_AT, index);
    bool is_values = index == UINT32_MAX;
    if (!is_values && reserve(capture, 8)) put(capture, 0, 4); // no values
    if (reserve(capture, 8)) put(capture, 0, 2);               // no sums
    if (capture->has_failed) return;
    give(capture, false);
    begin_part(capture);
    put(capture, 0, 4);                // no definitions
    if (is_values) put(capture, 0, 4); // no entities
    begin_list(capture);
}

// Of a row that moves, a pair or two differ.
static inline uint8_t* put_words(uint8_t* mask, const uint32_t* row, const uint32_t* base,
                                 uint32_t words) {
    uint32_t pairs = words / 2;
    uint8_t* out = mask + (pairs + 7) / 8;
    for (uint32_t first = 0; first < pairs; first += 8) {
        uint32_t end = pairs - first < 8 ? pairs - first : 8, bits = 0;
        for (uint32_t i = 0; i < end; i++, row += 2, base += 2) {
            uint64_t left, right;
            memcpy(&left, row, sizeof left);
            memcpy(&right, base, sizeof right);
            if (left == right) continue;
            store_u32(out, row[0]);
            store_u32(out + 4, row[1]);
            out += sizeof left;
            bits |= 1u << i;
        }
        *mask++ = (uint8_t)bits;
    }
    return out;
}

static const uint32_t* row_before(const net_history_entity* entity, ecs_tick now) {
    const uint32_t* row = net_history_recent(entity, now, 1);
    return row ? row : net_history_row(entity, now, now - 1, UINT16_MAX, NULL);
}

static void write_entity(net_log_capture* capture, ecs_entity handle,
                         const net_history_entity* entity, uint32_t kind) {
    if (used(capture) >= NET_LOG_RAW_BYTES_MAX) split(capture, ecs_entity_index(handle));
    if (capture->has_failed || !reserve(capture, ITEM_BYTES_MAX)) return;
    uint8_t* out = capture->out;
    capture->count++;
    store_u32(out, handle);
    if (kind == NET_HISTORY_DESPAWNED) {
        out[4] = NET_LOG_ENTRY_DESTROYED;
        capture->out = out + 5;
        return;
    }
    // A row that the history forgot without memory: the entity is written as a whole.
    const uint32_t* base = kind == NET_HISTORY_CHANGED ? row_before(entity, capture->tick) : NULL;
    const net_row_template* row_template = entity->row_template;
    out[4] = base ? NET_LOG_ENTRY_CHANGED : NET_LOG_ENTRY_WHOLE;
    out += 5;
    if (!base) {
        uint32_t number = capture->numbers[row_template->id] - 1u;
        *out++ = (uint8_t)number;
        *out++ = (uint8_t)(number >> 8);
        base = row_template->packed_defaults;
    }
    capture->out =
        put_words(out, net_history_newest(entity), base, row_template->layout.packed_count);
}

static void write_entities(net_log_capture* capture, const net_history* history) {
    begin_list(capture);
    if (capture->is_start) {
        for (uint32_t i = 0; i < capture->spawned_count; i++) {
            const net_history_entity* entity = net_history_find(history, capture->spawned[i]);
            write_entity(capture, entity->handle, entity, NET_HISTORY_SPAWNED);
        }
    } else {
        uint32_t count;
        const net_history_event* events = net_history_events(history, &count);
        for (uint32_t i = 0; i < count; i++)
            write_entity(capture, events[i].handle,
                         net_history_find(history, ecs_entity_index(events[i].handle)),
                         events[i].kind);
    }
    end_list(capture);
}

// ---- values of variable size ----

static void write_value(net_log_capture* capture, ecs_entity entity, ecs_component_id component) {
    if (used(capture) >= NET_LOG_RAW_BYTES_MAX) split(capture, UINT32_MAX);
    base_bytes_clear(&capture->value);
    net_varsize_write(capture->world, entity, component, &capture->value);
    if (capture->value.failed) capture->has_failed = true;
    if (capture->value.size > NET_LOG_RAW_BYTES_MAX) return; // no client gets it either
    if (capture->has_failed || !reserve(capture, capture->value.size + 10)) return;
    capture->count++;
    put(capture, entity, 4);
    put(capture, component, 2);
    put(capture, (uint32_t)capture->value.size, 4);
    put_data(capture, capture->value.data, capture->value.size);
}

static void write_values_of(net_log_capture* capture, const net_history_entity* entity) {
    const net_row_template* row_template = entity->row_template;
    for (uint32_t v = 0; v < row_template->varsize_count; v++)
        write_value(capture, entity->handle, row_template->varsizes[v].component);
}

static void write_changed_values(net_log_capture* capture, const net_history* history) {
    ecs_changes changes = ecs_changes_get(capture->world);
    ecs_component_id component = ECS_COMPONENT_NONE;
    for (uint32_t i = 0; i < changes.changed_count; i++) {
        const ecs_change* change = &changes.changed[i];
        if (change->component == component) continue;
        if (!capture->is_varsize[change->component]) {
            component = change->component; // the others of its run are skipped at once
            continue;
        }
        const net_history_entity* entity =
            net_history_find(history, ecs_entity_index(change->entity));
        if (entity && entity->handle == change->entity && entity->begin_tick < capture->tick &&
            net_row_find_varsize(entity->row_template, change->component))
            write_value(capture, change->entity, change->component);
    }
}

static void write_values(net_log_capture* capture, const net_history* history) {
    begin_list(capture);
    for (uint32_t i = 0; i < capture->spawned_count; i++)
        write_values_of(capture, net_history_find(history, capture->spawned[i]));
    if (!capture->is_start) write_changed_values(capture, history);
    end_list(capture);
}

// ---- the tick ----

static void write_sums(net_log_capture* capture) {
    uint32_t count = ecs_component_count(capture->world), changed = 0;
    if (!reserve(capture, 2 + (size_t)count * 3)) return;
    uint8_t* at = capture->out;
    capture->out += 2;
    for (uint32_t id = 1; id <= count; id++) {
        uint64_t sum = ecs_world_state_hash_of(capture->world, (ecs_component_id)id);
        if (sum == capture->sums[id] && !capture->is_start) continue;
        capture->sums[id] = sum;
        put(capture, id, 2);
        put(capture, (uint32_t)sum & NET_LOG_SUM_MASK, 1);
        changed++;
    }
    at[0] = (uint8_t)changed;
    at[1] = (uint8_t)(changed >> 8);
}

void net_log_capture_write(net_log_capture* capture, const net_history* history,
                           net_log_piece_fn part, void* context) {
    BASE_ASSERT(capture && part);
    bool has_rows = capture->has_rows && history;
    capture->tick = ecs_world_tick(capture->world);
    capture->part = part;
    capture->context = context;
    capture->has_failed = false;
    begin_part(capture);
    if (has_rows) {
        list_spawned(capture, history);
        if (!capture->has_failed) write_definitions(capture, history);
        if (!capture->has_failed) write_entities(capture, history);
        if (!capture->has_failed) write_values(capture, history);
    }
    bool is_whole = has_rows && !capture->has_failed;
    if (!is_whole) {
        capture->has_failed = false;
        begin_part(capture);
        capture->bytes[1] &= (uint8_t)~NET_LOG_RAW_ROWS;
    }
    write_sums(capture);
    give(capture, true);
    // Without rows there is nothing to start from; sums are whole in any case.
    capture->is_start = capture->has_rows && !is_whole;
}
