// SPDX-License-Identifier: MIT
// The simulation's thread copies the words that are new, straight to where they lie in the queue.
// The history says which components they belong to. Coding takes ten times as long and is done on
// the log's thread (log_delta.c).
//
// Words are copied in pairs: rows have an even number of them.
#include "log/log_capture.h"

#include "base/assert.h"
#include "base/bitset.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "log/log_delta_format.h"
#include "log/log_header.h"
#include "log/log_sums.h"
#include "state/schema_rows.h"
#include "state/varsize_value.h"

#include <string.h>

enum {
    HEAD_BYTES = 6, // form, flags, end
    END_AT = 2,
    PAIRS_MAX = PROTO_ROW_FIELDS_MAX + 1,
    ITEM_BYTES_MAX = 16 + PAIRS_MAX / 8 + PAIRS_MAX * 8,
    TAIL_BYTES = 16, // the counts of lists that follow
    MASK_PAIRS = 64, // of longer rows all words are copied
    COMPONENT_BITS = 32,
};

// How the rows of a template are written.
typedef struct plan {
    uint16_t number; // of the template, + 1; 0: it is not defined yet
    bool is_made;
    uint8_t mask_bytes;
    uint64_t pairs[COMPONENT_BITS]; // the pairs that a bit of net_history_event.components means
} plan;

struct net_log_capture {
    const base_allocator* allocator;
    ecs_world* world;
    const net_rows* rows; // for definitions
    bool has_rows, has_varsizes;
    bool is_start; // the tick gives all entities
    bool has_failed;
    uint8_t *bytes, *out, *end; // of the part
    uint8_t* count_at;          // of what is being written
    uint32_t count;
    plan* plans; // [template id]
    uint32_t plan_capacity;
    ecs_template_id* composed; // in the order of their numbers
    uint32_t composed_count, composed_capacity, loaded_count;
    uint32_t untracked_values;
    uint64_t sums[ECS_COMPONENTS_MAX + 1], sums_now[ECS_COMPONENTS_MAX + 1];
    bool is_varsize[ECS_COMPONENTS_MAX + 1];
    uint32_t* spawned; // indices that came with this tick
    uint32_t spawned_count, spawned_capacity;
    base_bytes value;
    ecs_tick tick;
    const net_log_capture_sink* sink;
};

// The schema numbers its replicated templates in its order.
static bool number_loaded(net_log_capture* capture) {
    uint32_t count = ecs_template_count(capture->world);
    if (!BASE_ARRAY_RESERVE(capture->allocator, capture->plans, capture->plan_capacity, count + 1))
        return false;
    for (uint32_t id = 1; id <= count; id++) {
        const ecs_template* template_ = ecs_template_get(capture->world, (ecs_template_id)id);
        if (template_->part_count != 1 || !template_->is_replicated) continue;
        capture->plans[id].number = (uint16_t)++capture->loaded_count;
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
    capture->has_varsizes = net_rows_varsize_count(capture->rows) > 0;
    capture->untracked_values = net_log_sums_untracked(capture->world);
    capture->is_start = true;
    base_bytes_init(&capture->value, allocator);
    if (!number_loaded(capture)) {
        net_log_capture_destroy(capture);
        return NET_ERR_MEMORY;
    }
    *capture_out = capture;
    return NET_OK;
}

void net_log_capture_destroy(net_log_capture* capture) {
    if (!capture) return;
    const base_allocator* allocator = capture->allocator;
    BASE_ARRAY_RELEASE(allocator, capture->plans, capture->plan_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->composed, capture->composed_capacity);
    BASE_ARRAY_RELEASE(allocator, capture->spawned, capture->spawned_capacity);
    base_bytes_deinit(&capture->value);
    base_release(allocator, capture, sizeof *capture);
}

void net_log_capture_restart(net_log_capture* capture) {
    capture->is_start = true;
}

// ---- bytes ----

// Is there room, and more for what ends a part? @return false: the part is without rows.
static bool has_room(net_log_capture* capture, size_t bytes) {
    if (capture->has_failed || bytes + TAIL_BYTES > (size_t)(capture->end - capture->out))
        capture->has_failed = true;
    return !capture->has_failed;
}

static bool is_long(const net_log_capture* capture) {
    return capture->out - capture->bytes >= (ptrdiff_t)NET_LOG_RAW_BYTES_MAX;
}

static void put(net_log_capture* capture, uint32_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        *capture->out++ = (uint8_t)(value >> (8 * i));
}

// A list begins with its count, which is known at its end.
static void begin_list(net_log_capture* capture) {
    capture->count = 0;
    if (capture->has_failed) return;
    capture->count_at = capture->out;
    put(capture, 0, 4);
}

static void end_list(net_log_capture* capture) {
    if (!capture->has_failed) base_store_le32(capture->count_at, capture->count);
}

static void write_head(net_log_capture* capture, bool has_rows) {
    capture->out = capture->bytes;
    put(capture, NET_LOG_FORM_RAW, 1);
    put(capture, (capture->is_start ? NET_LOG_RAW_START : 0u) | (has_rows ? NET_LOG_RAW_ROWS : 0u),
        1);
    put(capture, UINT32_MAX, 4);
}

// @return false: the sink takes nothing more.
static bool begin_part(net_log_capture* capture) {
    size_t capacity = 0;
    capture->bytes = capture->sink->begin(capture->sink->context, &capacity);
    if (!capture->bytes) {
        capture->has_failed = true;
        return false;
    }
    BASE_ASSERT(capacity >= NET_LOG_RAW_BYTES_MAX + ITEM_BYTES_MAX + HEAD_BYTES + 2 * TAIL_BYTES);
    capture->end = capture->bytes + capacity;
    write_head(capture, capture->has_rows);
    return true;
}

static void give(net_log_capture* capture, bool is_last) {
    if (is_last) capture->bytes[1] |= NET_LOG_RAW_LAST;
    BASE_ASSERT(capture->out <= capture->end);
    capture->sink->end(capture->sink->context, (size_t)(capture->out - capture->bytes), is_last);
}

// ---- templates ----

static bool define(net_log_capture* capture, ecs_template_id id) {
    if (!has_room(capture, NET_LOG_DEFINITION_BYTES_MAX + 4)) return false;
    proto_pb_writer wire = {.data = capture->out + 4, .capacity = NET_LOG_DEFINITION_BYTES_MAX};
    net_log_header_write_template(&wire, capture->world, capture->rows, id);
    if (wire.failed) return false;
    base_store_le32(capture->out, (uint32_t)wire.size);
    capture->out += 4 + wire.size;
    capture->count++;
    return true;
}

// Number a composed template that has no number yet. @return false: there are too many.
static bool number_composed(net_log_capture* capture, const net_row_template* row_template) {
    ecs_template_id id = row_template->id;
    if (id < capture->plan_capacity && capture->plans[id].number > 0) return true;
    if (capture->loaded_count + capture->composed_count >= NET_LOG_TEMPLATES_MAX ||
        !BASE_ARRAY_RESERVE(capture->allocator, capture->plans, capture->plan_capacity, id + 1u) ||
        !BASE_ARRAY_RESERVE(capture->allocator, capture->composed, capture->composed_capacity,
                            capture->composed_count + 1))
        return false;
    capture->composed[capture->composed_count++] = id;
    capture->plans[id].number = (uint16_t)(capture->loaded_count + capture->composed_count);
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
    uint32_t listed = 0, *spawned = capture->spawned;
    const net_history_event *event = events, *last = capture->is_start ? events : events + count;
    for (; event < last; event++)
        if (event->kind == NET_HISTORY_SPAWNED) spawned[listed++] = ecs_entity_index(event->handle);
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

static void make_plan(plan* made, const proto_layout* layout) {
    made->is_made = true;
    made->mask_bytes = (uint8_t)((layout->packed_count / 2 + 7) / 8);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        uint32_t bit = base_bit_lowest(net_history_component_bit(c));
        uint32_t end = component->packed_first + (uint32_t)component->packed_count;
        for (uint32_t word = component->packed_first; word < end && word / 2 < MASK_PAIRS; word++)
            made->pairs[bit] |= UINT64_C(1) << word / 2;
    }
}

// Give the part away and begin the next one with the same list. `index` is
// the first that the next part is about.
static void split(net_log_capture* capture, uint32_t index) {
    if (capture->has_failed) return;
    end_list(capture);
    base_store_le32(capture->bytes + END_AT, index);
    bool is_values = index == UINT32_MAX;
    if (!is_values) put(capture, 0, 4); // no values
    put(capture, 0, 2);                 // no sums
    give(capture, false);
    if (!begin_part(capture)) return;
    put(capture, 0, 4);                // no definitions
    if (is_values) put(capture, 0, 4); // no entities
    begin_list(capture);
}

static inline uint8_t* put_pair(uint8_t* out, const uint32_t* pair) {
    base_store_le64(out, pair[0] | (uint64_t)pair[1] << 32);
    return out + sizeof(uint64_t);
}

// The pairs that differ from the default row; all pairs when `base` is NULL.
static uint8_t* put_whole(uint8_t* mask, const uint32_t* row, const uint32_t* base,
                          uint32_t words) {
    uint8_t* out = mask + (words / 2 + 7) / 8;
    memset(mask, 0, (size_t)(out - mask));
    for (uint32_t at = 0; at < words; at += 2) {
        if (base && row[at] == base[at] && row[at + 1] == base[at + 1]) continue;
        mask[at / 16] |= (uint8_t)(1u << (at / 2 % 8));
        out = put_pair(out, row + at);
    }
    return out;
}

// The pairs of the components that changed.
static inline uint8_t* put_changed(uint8_t* out, const plan* own, const net_history_entity* entity,
                                   uint32_t components) {
    const uint32_t* row = net_history_newest(entity);
    if (entity->words > 2 * MASK_PAIRS) return put_whole(out, row, NULL, entity->words);
    uint64_t pairs = 0;
    for (; components; components &= components - 1)
        pairs |= own->pairs[base_bit_lowest(components)];
    base_store_le64(out, pairs); // what is more than the mask is written over
    out += own->mask_bytes;
    for (; pairs; pairs &= pairs - 1)
        out = put_pair(out, row + (size_t)2 * base_bit_lowest(pairs));
    return out;
}

static void write_whole(net_log_capture* capture, const net_history_entity* entity) {
    const net_row_template* row_template = entity->row_template;
    plan* own = &capture->plans[row_template->id];
    uint8_t* out = capture->out;
    if (!own->is_made) make_plan(own, &row_template->layout);
    base_store_le32(out, entity->handle);
    out[4] = NET_LOG_ENTRY_WHOLE;
    out[5] = (uint8_t)(own->number - 1u);
    out[6] = (uint8_t)((own->number - 1u) >> 8);
    capture->out = put_whole(out + 7, net_history_newest(entity), row_template->packed_defaults,
                             row_template->layout.packed_count);
    capture->count++;
}

static void write_event(net_log_capture* capture, const net_history_entity* entity,
                        const net_history_event* event) {
    if (event->kind == NET_HISTORY_SPAWNED) {
        write_whole(capture, entity);
        return;
    }
    uint8_t* out = capture->out;
    base_store_le32(out, event->handle);
    out[4] = NET_LOG_ENTRY_DESTROYED;
    capture->out = out + 5;
    capture->count++;
}

// What is used for each event is kept in local variables: a store of a byte could be one to any of
// the capture's.
static void write_events(net_log_capture* capture, const net_history* history) {
    uint32_t count, written = capture->count;
    const net_history_event *event = net_history_events(history, &count), *end = event + count;
    const net_history_entity* entities = net_history_entities(history);
    const plan* plans = capture->plans;
    uint8_t *out = capture->out, *part_end = capture->bytes + NET_LOG_RAW_BYTES_MAX;
    for (; event < end; event++) {
        const net_history_entity* entity = &entities[ecs_entity_index(event->handle)];
        bool is_other = event->kind != NET_HISTORY_CHANGED;
        if (is_other || out >= part_end) {
            capture->out = out;
            capture->count = written;
            if (out >= part_end) split(capture, ecs_entity_index(event->handle));
            if (capture->has_failed) return;
            if (is_other) write_event(capture, entity, event);
            out = capture->out;
            written = capture->count;
            part_end = capture->bytes + NET_LOG_RAW_BYTES_MAX;
            if (is_other) continue;
        }
        base_store_le32(out, event->handle);
        out[4] = NET_LOG_ENTRY_CHANGED;
        out = put_changed(out + 5, &plans[entity->row_template->id], entity, event->components);
        written++;
    }
    capture->out = out;
    capture->count = written;
}

static void write_entities(net_log_capture* capture, const net_history* history) {
    begin_list(capture);
    if (!capture->is_start) write_events(capture, history);
    for (uint32_t i = 0; i < capture->spawned_count && capture->is_start; i++) {
        if (is_long(capture)) split(capture, capture->spawned[i]);
        if (capture->has_failed) break;
        write_whole(capture, net_history_find(history, capture->spawned[i]));
    }
    end_list(capture);
}

// ---- values of variable size ----

static void write_value(net_log_capture* capture, ecs_entity entity, ecs_component_id component) {
    if (is_long(capture)) split(capture, UINT32_MAX);
    base_bytes_clear(&capture->value);
    net_varsize_write(capture->world, entity, component, &capture->value);
    if (capture->value.failed) capture->has_failed = true;
    if (capture->value.size > NET_LOG_RAW_BYTES_MAX) return; // no client gets it either
    if (!has_room(capture, capture->value.size + 10)) return;
    capture->count++;
    put(capture, entity, 4);
    put(capture, component, 2);
    put(capture, (uint32_t)capture->value.size, 4);
    if (capture->value.size > 0) memcpy(capture->out, capture->value.data, capture->value.size);
    capture->out += capture->value.size;
}

static void write_changed_values(net_log_capture* capture, const net_history* history) {
    ecs_changes changes = ecs_changes_get(capture->world);
    const ecs_change *change = changes.changed, *end = change + changes.changed_count;
    for (; change < end; change++) {
        if (!capture->is_varsize[change->component]) continue;
        const net_history_entity* entity =
            net_history_find(history, ecs_entity_index(change->entity));
        if (entity && entity->handle == change->entity && entity->begin_tick < capture->tick &&
            net_row_find_varsize(entity->row_template, change->component))
            write_value(capture, change->entity, change->component);
    }
}

static void write_values(net_log_capture* capture, const net_history* history) {
    begin_list(capture);
    for (uint32_t i = 0; i < capture->spawned_count && capture->has_varsizes; i++) {
        const net_history_entity* entity = net_history_find(history, capture->spawned[i]);
        for (uint32_t v = 0; v < entity->row_template->varsize_count; v++)
            write_value(capture, entity->handle, entity->row_template->varsizes[v].component);
    }
    if (!capture->is_start && capture->has_varsizes) write_changed_values(capture, history);
    end_list(capture);
}

// ---- the tick ----

static void write_sums(net_log_capture* capture) {
    uint32_t count = ecs_component_count(capture->world), changed = 0;
    if (!has_room(capture, 2 + (size_t)count * 3)) return;
    uint8_t* at = capture->out;
    capture->out += 2;
    net_log_sums_of(capture->world, capture->untracked_values, capture->sums_now);
    for (uint32_t id = 1; id <= count; id++) {
        uint64_t sum = capture->sums_now[id];
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
                           const net_log_capture_sink* sink) {
    BASE_ASSERT(capture && sink);
    bool has_rows = capture->has_rows && history;
    capture->tick = ecs_world_tick(capture->world);
    capture->sink = sink;
    capture->has_failed = false;
    if (begin_part(capture) && has_rows) {
        list_spawned(capture, history);
        if (!capture->has_failed) write_definitions(capture, history);
        if (!capture->has_failed) write_entities(capture, history);
        if (!capture->has_failed) write_values(capture, history);
        if (!capture->has_failed) write_sums(capture);
    }
    bool is_whole = has_rows && !capture->has_failed;
    if (capture->bytes && !is_whole) {
        capture->has_failed = false;
        write_head(capture, false);
        write_sums(capture);
    }
    if (capture->bytes) give(capture, true);
    // Without rows there is nothing to start from; sums are whole in any case.
    capture->is_start = capture->has_rows && !is_whole;
}
