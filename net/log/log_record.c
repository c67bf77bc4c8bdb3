// SPDX-License-Identifier: MIT
// A record of a full server may hold thousands of inputs, so reading makes no tree: it walks the
// bytes once to check everything, and again for each kind of item. Items come one after the other
// in the bytes, so a walk is linear.
//
// Writing goes front to back into one buffer. The queue's prefix and the record's tag and length
// lie before the body and are written when the body's length is known.
#include "log/log_record.h"

#include "base/assert.h"
#include "base/text.h"
#include "game/match.h"
#include "log/log_recorder.h"
#include "state/schema.h"

#include <string.h>

enum {
    TAG_TICK = 1,
    TAG_CHANGES = 5,
    TAG_EVENTS = 6,
    TAG_LEFT_OUT = 7,
    TAG_VERB = 2,
    TAG_ARGUMENT = 3,
    TAG_REASON = 2,
};

// ---- fields ----

typedef enum field_form {
    FORM_END,
    FORM_FLAG,
    FORM_U32,
    FORM_U64,
    FORM_FIXED,
    FORM_TEXT, // NUL-terminated in its struct
    FORM_BYTES // borrowed; the size comes right after the pointer
} field_form;

// A field of a message, and where its value is in a struct.
typedef struct field_row {
    uint32_t id;
    field_form form;
    uint32_t at;  // offset
    uint32_t max; // bytes, of a text with its NUL
} field_row;

#define ITEM(id, form, member)                                                                     \
    { id, FORM_##form, offsetof(net_log_item, member), sizeof((net_log_item*)0)->member }
#define BYTES(id, member, max)                                                                     \
    { id, FORM_BYTES, offsetof(net_log_item, member), max }
#define PAYLOAD(id, max) BYTES(id, payload, max)
#define RECORD(id, form, member)                                                                   \
    { id, FORM_##form, offsetof(net_log_record, member), UINT32_MAX }

_Static_assert(offsetof(net_log_item, payload_bytes) ==
                       offsetof(net_log_item, payload) + sizeof(uint8_t*) &&
                   offsetof(net_log_item, record_bytes) ==
                       offsetof(net_log_item, record) + sizeof(uint8_t*) &&
                   offsetof(net_log_item, transfer_bytes) ==
                       offsetof(net_log_item, transfer) + sizeof(uint8_t*) &&
                   offsetof(net_log_record, changes_bytes) ==
                       offsetof(net_log_record, changes) + sizeof(uint8_t*),
               "FORM_BYTES");

// By kind; a server's event is written as a client's. In the order in which they are written.
static const field_row item_fields[][10] = {
    [NET_LOG_ITEM_LEAVE] = {ITEM(1, U32, client), ITEM(2, U32, reason)},
    [NET_LOG_ITEM_JOIN] = {ITEM(1, U32, client), ITEM(2, TEXT, name), ITEM(3, FLAG, is_bot),
                           ITEM(4, U64, player_id), PAYLOAD(5, NET_USER_BYTES_MAX),
                           ITEM(6, FLAG, has_record), ITEM(7, U64, record_version),
                           BYTES(8, record, NET_RECORD_BYTES_MAX),
                           BYTES(9, transfer, NET_TRANSFER_BYTES_MAX)},
    [NET_LOG_ITEM_EVENT] = {ITEM(1, U32, client), ITEM(2, U32, message), ITEM(3, U32, target),
                            PAYLOAD(4, NET_EVENT_PAYLOAD_BYTES_MAX), ITEM(5, U32, number)},
    [NET_LOG_ITEM_INPUT] = {ITEM(1, U32, client), ITEM(2, U32, number),
                            PAYLOAD(3, NET_INPUT_BYTES_MAX), ITEM(4, FLAG, is_repeat),
                            ITEM(5, U64, seen)},
};
static const field_row record_fields[NET_LOG_KINDS][7] = {
    [NET_LOG_KIND_BEGIN] = {RECORD(TAG_TICK, U64, tick)},
    [NET_LOG_KIND_END] = {RECORD(TAG_TICK, U64, tick), RECORD(2, FIXED, state_hash),
                          RECORD(3, FIXED, world_hash), RECORD(4, FLAG, has_world_hash),
                          RECORD(TAG_CHANGES, BYTES, changes),
                          RECORD(TAG_LEFT_OUT, U32, events_left_out)},
    [NET_LOG_KIND_CLOSE] = {RECORD(TAG_TICK, U64, tick), RECORD(2, FIXED, state_hash),
                            RECORD(3, FIXED, world_hash), RECORD(4, FLAG, has_world_hash)},
    [NET_LOG_KIND_STATE] = {RECORD(TAG_TICK, U64, tick), RECORD(TAG_CHANGES, BYTES, changes)},
    [NET_LOG_KIND_CONTROL] = {RECORD(TAG_TICK, U64, tick)},
    [NET_LOG_KIND_ALIVE] = {RECORD(TAG_TICK, U64, tick), RECORD(TAG_REASON, U32, reason)},
};

static bool read_value(const field_row* of, const proto_pb_field* field, void* object) {
    static const uint8_t types[] = {[FORM_FIXED] = 1, [FORM_TEXT] = 2, [FORM_BYTES] = 2};
    uint8_t* place = (uint8_t*)object + of->at;
    if (field->type != types[of->form]) return false;
    switch (of->form) {
    case FORM_FLAG:
        *(bool*)place = field->number != 0;
        return field->number <= 1;
    case FORM_U32:
        *(uint32_t*)(void*)place = (uint32_t)field->number;
        return field->number <= UINT32_MAX;
    case FORM_TEXT:
        if (field->size >= of->max || memchr(field->data, 0, field->size)) return false;
        memcpy(place, field->data, field->size);
        place[field->size] = 0;
        return true;
    case FORM_BYTES:
        *(const uint8_t**)(void*)place = field->data;
        *(uint32_t*)(void*)(place + sizeof(uint8_t*)) = (uint32_t)field->size;
        return field->size <= of->max;
    default:
        *(uint64_t*)(void*)place = field->number;
        return true;
    }
}

// One that is not in the table is skipped.
static bool read_field(const field_row* fields, const proto_pb_field* field, void* object) {
    for (; fields->form; fields++)
        if (fields->id == field->id) return read_value(fields, field, object);
    return true;
}

static uint32_t bytes_at(const uint8_t* place) {
    return *(const uint32_t*)(const void*)(place + sizeof(uint8_t*));
}

static void write_fields(const field_row* of, const net_log_item* item, proto_pb_writer* to) {
    for (; of->form; of++) {
        const uint8_t* place = (const uint8_t*)item + of->at;
        if (of->form == FORM_TEXT)
            proto_pb_write_text(to, of->id, (const char*)place);
        else if (of->form == FORM_BYTES && bytes_at(place) > 0)
            proto_pb_write_bytes(to, of->id, *(const uint8_t* const*)(const void*)place,
                                 bytes_at(place));
        else if (of->form != FORM_BYTES)
            proto_pb_write_number(to, of->id,
                                  of->form == FORM_FLAG  ? *(const bool*)place
                                  : of->form == FORM_U32 ? *(const uint32_t*)(const void*)place
                                                         : *(const uint64_t*)(const void*)place);
    }
}

static const field_row* fields_of(net_log_item_kind kind) {
    return item_fields[kind == NET_LOG_ITEM_SERVER_EVENT ? NET_LOG_ITEM_EVENT : kind];
}

// ---- records ----

static bool read_item(net_log_item_kind kind, const uint8_t* data, size_t size,
                      net_log_item* item) {
    static const uint8_t nothing[1] = {0};
    *item = (net_log_item){.kind = kind, .payload = nothing};
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field))
        if (!read_field(fields_of(kind), &field, item)) return false;
    if (reader.failed) return false;
    if (item->is_repeat && item->payload_bytes > 0) return false;
    if (kind == NET_LOG_ITEM_SERVER_EVENT || kind == NET_LOG_ITEM_EVENT) {
        if (item->message < 1 || item->message > NET_MESSAGES_MAX) return false;
    }
    return (item->client != 0) == (kind != NET_LOG_ITEM_SERVER_EVENT);
}

static bool read_items(net_log_record* record, const proto_pb_field* field) {
    net_log_item item;
    if (field->type != 2) return false;
    record->item_count[field->id]++;
    return record->is_checked ||
           read_item((net_log_item_kind)field->id, field->data, field->size, &item);
}

bool net_log_is_verb(const char* verb, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((verb[i] < 'a' || verb[i] > 'z') && verb[i] != '_') return false;
    return size > 0 && size < NET_CONTROL_VERB_BYTES_MAX;
}

static bool read_control_field(net_log_record* record, const proto_pb_field* field) {
    if (field->id == TAG_ARGUMENT)
        return field->type == 2 && ++record->argument_count <= NET_CONTROL_ARGUMENTS_MAX;
    if (field->id != TAG_VERB) return true;
    if (field->type != 2 || !net_log_is_verb((const char*)field->data, field->size)) return false;
    memcpy(record->verb, field->data, field->size);
    record->verb[field->size] = 0;
    return true;
}

#define KIND(NAME, name, SHOWN, ...)                                                               \
    [NET_LOG_KIND_##NAME] = {.word = #name, .shown_as = NET_LOG_KIND_##SHOWN, __VA_ARGS__}

const net_log_kind_row net_log_kinds[NET_LOG_KINDS] = {
    KIND(OTHER, other, OTHER, .stage = NET_LOG_ANYWHERE),
    KIND(BEGIN, begin, BEGIN, .stage = NET_LOG_OPENS, .is_run = true, .is_streamed = true),
    KIND(END, end, END, .stage = NET_LOG_ENDS, .is_run = true, .is_streamed = true,
         .shown_fields = 1u << TAG_EVENTS | 1u << TAG_LEFT_OUT),
    KIND(CLOSE, close, CLOSE, .stage = NET_LOG_CLOSES, .is_run = true, .is_streamed = true),
    KIND(STATE, state, STATE, .stage = NET_LOG_AFTER, .shown_fields = 1u << TAG_CHANGES),
    KIND(CONTROL, control, ALIVE, .stage = NET_LOG_BETWEEN, .is_run = true, .is_streamed = true),
    KIND(ALIVE, alive, ALIVE, .stage = NET_LOG_BETWEEN, .is_streamed = true,
         .shown_fields = 1u << TAG_REASON),
};

static bool read_body(net_log_record* record) {
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        const bool is_item = record->kind == NET_LOG_KIND_BEGIN
                                 ? field.id >= NET_LOG_ITEM_LEAVE && field.id <= NET_LOG_ITEM_INPUT
                                 : record->kind == NET_LOG_KIND_END && field.id == TAG_EVENTS;
        if (!(is_item ? read_items(record, &field)
                      : read_field(record_fields[record->kind], &field, record)))
            return false;
        if (record->kind == NET_LOG_KIND_CONTROL && !read_control_field(record, &field))
            return false;
    }
    return !reader.failed && (record->kind != NET_LOG_KIND_CONTROL || record->verb[0] != 0);
}

static bool read_record(net_log_record* record, const void* data, size_t size, bool is_checked) {
    *record = (net_log_record){.size = (uint32_t)size, .is_checked = is_checked};
    if (size < 1 || size > NET_LOG_RECORD_BYTES_MAX) return false;
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        if (field.id >= NET_LOG_KINDS) continue;
        if (record->kind != NET_LOG_KIND_OTHER || field.type != 2) return false;
        record->kind = (net_log_kind)field.id;
        record->body = field.data;
        record->body_bytes = field.size;
    }
    if (reader.failed) return false;
    return record->kind == NET_LOG_KIND_OTHER || read_body(record);
}

bool net_log_record_read(net_log_record* record, const void* data, size_t size) {
    return read_record(record, data, size, false);
}

bool net_log_record_again(net_log_record* record, const void* data, size_t size) {
    return read_record(record, data, size, true);
}

bool net_log_item_next(const net_log_record* record, net_log_item_kind kind, size_t* offset,
                       net_log_item* item) {
    BASE_ASSERT(kind >= NET_LOG_ITEM_LEAVE && kind < NET_LOG_ITEM_KINDS);
    BASE_ASSERT(*offset <= record->body_bytes);
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    reader.offset = *offset;
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        if (field.id != (uint32_t)kind) continue;
        *offset = reader.offset;
        return read_item(kind, field.data, field.size, item);
    }
    *offset = record->body_bytes;
    return false;
}

net_game_player net_log_item_player(const net_log_item* item) {
    return (net_game_player){.client = item->client,
                             .name = item->name,
                             .is_bot = item->is_bot,
                             .player_id = item->player_id,
                             .user_data = item->payload,
                             .user_bytes = item->payload_bytes,
                             .has_record = item->has_record,
                             .record_version = item->record_version,
                             .record = item->record,
                             .record_bytes = item->record_bytes,
                             .transfer = item->transfer,
                             .transfer_bytes = item->transfer_bytes};
}

static net_log_item join_item(const net_game_player* join) {
    net_log_item item = {.kind = NET_LOG_ITEM_JOIN,
                         .client = join->client,
                         .is_bot = join->is_bot,
                         .player_id = join->player_id,
                         .payload = join->user_data,
                         .payload_bytes = join->user_bytes,
                         .has_record = join->has_record,
                         .record_version = join->record_version,
                         .record = join->record,
                         .record_bytes = join->record_bytes,
                         .transfer = join->transfer,
                         .transfer_bytes = join->transfer_bytes};
    bool is_whole = base_text_copy(item.name, sizeof item.name, join->name);
    BASE_ASSERT(is_whole);
    return item;
}

static net_log_item event_item(const net_tick_event* event) {
    BASE_ASSERT(event->size <= NET_EVENT_PAYLOAD_BYTES_MAX);
    return (net_log_item){.kind = NET_LOG_ITEM_EVENT,
                          .client = event->client,
                          .message = event->message,
                          .target = event->target,
                          .number = event->number,
                          .payload = event->payload,
                          .payload_bytes = event->size};
}

static net_log_item input_item(const net_tick_input* input) {
    BASE_ASSERT(input->size <= NET_INPUT_BYTES_MAX);
    return (net_log_item){.kind = NET_LOG_ITEM_INPUT,
                          .client = input->client,
                          .number = input->number,
                          .is_repeat = input->payload == NULL,
                          .seen = input->payload ? input->seen : 0,
                          .payload = input->payload,
                          .payload_bytes = input->payload ? input->size : 0};
}

bool net_log_begin_next(const net_tick_inputs* begin, uint32_t* position, net_log_item* item) {
    uint32_t at = (*position)++;
    if (at < begin->leave_count) {
        *item = (net_log_item){.kind = NET_LOG_ITEM_LEAVE,
                               .client = begin->leaves[at].client,
                               .reason = begin->leaves[at].reason};
        return true;
    }
    at -= begin->leave_count;
    if (at < begin->join_count) {
        *item = join_item(&begin->joins[at]);
        return true;
    }
    at -= begin->join_count;
    if (at < begin->event_count) {
        *item = event_item(&begin->events[at]);
        return true;
    }
    at -= begin->event_count;
    if (at >= begin->input_count) return false;
    *item = input_item(&begin->inputs[at]);
    return true;
}

bool net_log_argument_next(const net_log_record* record, size_t* offset,
                           net_match_argument* argument) {
    BASE_ASSERT(record->kind == NET_LOG_KIND_CONTROL && *offset <= record->body_bytes);
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    reader.offset = *offset;
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        *offset = reader.offset;
        if (field.id != TAG_ARGUMENT) continue;
        *argument = (net_match_argument){field.data, field.size};
        return true;
    }
    return false;
}

bool net_log_argument_text(const net_match_argument* argument,
                           char text[ECS_STRING_BYTES_MAX + 1]) {
    if (argument->size > ECS_STRING_BYTES_MAX ||
        !base_text_is_utf8((const char*)argument->data, argument->size))
        return false;
    memcpy(text, argument->data, argument->size);
    text[argument->size] = '\0';
    return true;
}

bool net_log_order_add(net_log_order* order, const net_log_record* record) {
    BASE_ASSERT(!order->is_in_tick || order->tick > 0);
    if (record->kind == NET_LOG_KIND_OTHER) return ++order->others <= NET_LOG_OTHERS_MAX;
    order->others = 0;
    if (order->is_closed) return false;
    const bool is_now = record->tick == order->tick && !order->is_in_tick;
    switch (net_log_kinds[record->kind].stage) {
    case NET_LOG_OPENS:
        if (record->tick != order->tick + !order->is_in_tick || record->tick == 0) return false;
        order->is_in_tick = true;
        break;
    case NET_LOG_ENDS:
        if (!order->is_in_tick || record->tick != order->tick) return false;
        order->is_in_tick = false;
        order->last_end = record->tick;
        break;
    case NET_LOG_AFTER:
        return is_now && record->tick > 0;
    case NET_LOG_BETWEEN:
        return !order->is_in_tick && record->tick > 0 && record->tick == order->tick + 1;
    default:
        if (!is_now) return false;
        order->is_closed = true;
    }
    order->tick = record->tick;
    return true;
}

void net_log_draft_begin(net_log_draft* draft) {
    draft->body = (proto_pb_writer){.data = draft->memory + NET_LOG_DRAFT_HEAD_BYTES,
                                    .capacity = NET_LOG_RECORD_BYTES_MAX - 8};
}

bool net_log_item_write(proto_pb_writer* body, const net_log_item* item) {
    BASE_ASSERT(item->payload || item->payload_bytes == 0);
    uint8_t memory[NET_LOG_ITEM_BYTES_MAX];
    proto_pb_writer wire = {.data = memory, .capacity = sizeof memory};
    write_fields(fields_of(item->kind), item, &wire);
    BASE_ASSERT(!wire.failed);
    if (wire.size + 4 > body->capacity - body->size) return false;
    proto_pb_write_bytes(body, (uint32_t)item->kind, memory, wire.size);
    return true;
}

bool net_log_draft_item(net_log_draft* draft, const net_log_item* item) {
    BASE_ASSERT(item->client > 0 || item->kind == NET_LOG_ITEM_SERVER_EVENT);
    return net_log_item_write(&draft->body, item);
}

uint8_t* net_log_draft_end(net_log_draft* draft, net_log_kind kind, uint64_t number, ecs_tick tick,
                           uint32_t* size) {
    BASE_ASSERT(kind != NET_LOG_KIND_OTHER && size);
    BASE_ASSERT(!draft->body.failed);
    size_t head = 1 + base_varint_bytes(draft->body.size);
    uint8_t* record = draft->body.data - head;
    record[0] = (uint8_t)((uint32_t)kind << 3 | 2);
    base_varint_put(record + 1, draft->body.size);
    proto_pb_writer prefix = {.data = record - NET_LOG_QUEUE_PREFIX_BYTES,
                              .capacity = NET_LOG_QUEUE_PREFIX_BYTES};
    proto_pb_write_raw(&prefix, number, 8);
    proto_pb_write_raw(&prefix, tick, 8);
    proto_pb_write_raw(&prefix, (uint32_t)kind, 4);
    proto_pb_write_raw(&prefix, 0, 4);
    *size = (uint32_t)(NET_LOG_QUEUE_PREFIX_BYTES + head + draft->body.size);
    return record - NET_LOG_QUEUE_PREFIX_BYTES;
}

void net_log_frame_record(proto_pb_writer* to, size_t begin) {
    const size_t size = to->size - begin, head = base_varint_bytes(size);
    if (!proto_pb_extend(to, head)) return;
    memmove(to->data + begin + head, to->data + begin, size);
    base_varint_put(to->data + begin, size);
}

// ---- the header record ----

// The header is written once and read once. It names everything by number that the records use, so
// a log can be looked into without its game. The schema hash decides whether a match can run again;
// the schema itself only says what differs.
//
// What a later version may have changed is asked first: its other fields need not look like ours.

enum {
    VERSION = 3,
    FIELD_GAME = 3,
    FIELD_BUILD = 4,
    FIELD_SETTING = 10,
    FIELD_FEATURES = 14,
    FIELD_UNTRACKED = 16,
    REPLICATED_INDEX_MAX = 1 << 20,
};

// How much of the schema is written.
typedef enum detail { DETAIL_ALL, DETAIL_NO_TEMPLATES, DETAIL_NAMES, DETAIL_COUNT } detail;

static void write_component(proto_pb_writer* wire, const ecs_world* world, ecs_component_id id,
                            detail much) {
    const ecs_component* component = ecs_component_get(world, id);
    const ecs_type* type = ecs_type_get(world, component->type);
    size_t mark = wire->size;
    proto_pb_write_number(wire, 1, id);
    proto_pb_write_text(wire, 2, component->name);
    if (type) proto_pb_write_text(wire, 3, type->name);
    for (uint32_t i = 0; much != DETAIL_NAMES && type && i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        size_t inner = wire->size;
        proto_pb_write_text(wire, 1, field->name ? field->name : "");
        proto_pb_write_number(wire, 2, field->kind);
        proto_pb_write_number(wire, 3, field->count);
        proto_pb_write_number(wire, 4, field->quant.bits);
        proto_pb_write_double(wire, 5, field->quant.min);
        proto_pb_write_double(wire, 6, field->quant.step);
        proto_pb_write_end(wire, inner, 4);
    }
    proto_pb_write_number(wire, 5, type && ecs_type_is_varsize(type));
    proto_pb_write_end(wire, mark, NET_LOG_SCHEMA_COMPONENT);
}

// Words of the default row, without zeros at the end.
static void write_defaults(proto_pb_writer* wire, const net_row_template* row_template,
                           ecs_component_id component) {
    const proto_layout* layout = &row_template->layout;
    uint32_t place = 0;
    while (place < layout->component_count && layout->components[place].key != component)
        place++;
    if (place == layout->component_count) return;
    const uint64_t* words = row_template->defaults + layout->components[place].field_first;
    uint32_t count = layout->components[place].field_count;
    while (count > 0 && words[count - 1] == 0)
        count--;
    size_t mark = wire->size;
    for (uint32_t i = 0; i < count; i++)
        proto_pb_write_varint(wire, words[i]);
    if (count > 0) proto_pb_write_end(wire, mark, 8);
}

static uint32_t find_integral(const ecs_world* world, const ecs_template_component* component) {
    for (uint32_t id = 1; component->integral && id <= ecs_component_count(world); id++)
        if (strcmp(ecs_component_get(world, (ecs_component_id)id)->name, component->integral) == 0)
            return id;
    return 0;
}

// How values of the component become words.
static void write_row_component(proto_pb_writer* wire, ecs_world* world, const net_rows* rows,
                                const ecs_template* template_,
                                const ecs_template_component* component) {
    if (!(component->flags & ECS_COMPONENT_REPLICATED)) return;
    if (component->quant.bits > 0) {
        proto_pb_write_number(wire, 3, component->quant.bits);
        proto_pb_write_double(wire, 4, component->quant.min);
        proto_pb_write_double(wire, 5, component->quant.step);
    }
    proto_pb_write_number(wire, 6, component->is_rotation);
    proto_pb_write_number(wire, 7, find_integral(world, component));
    const net_row_template* row_template = net_rows_find((net_rows*)(uintptr_t)rows, template_->id);
    if (row_template) write_defaults(wire, row_template, component->component);
}

void net_log_header_write_template(proto_pb_writer* wire, ecs_world* world, const net_rows* rows,
                                   ecs_template_id id) {
    const ecs_template* template_ = ecs_template_get(world, id);
    proto_pb_write_number(wire, 1, template_->id);
    proto_pb_write_text(wire, 2, template_->name);
    for (uint32_t i = 0; i < template_->component_count; i++) {
        size_t inner = wire->size;
        proto_pb_write_number(wire, 1, template_->components[i].component);
        proto_pb_write_number(wire, 2, template_->components[i].flags);
        write_row_component(wire, world, rows, template_, &template_->components[i]);
        proto_pb_write_end(wire, inner, 3);
    }
}

static void write_schema(proto_pb_writer* wire, const net_match* match, detail much) {
    ecs_world* world = net_match_world((net_match*)match);
    const net_module* module = net_match_get_config(match)->module;
    const net_game_module* game = module->game;
    net_rows* rows = net_schema_rows(net_match_schema(match));
    size_t mark = wire->size;
    for (uint32_t i = 1; i <= ecs_component_count(world); i++)
        write_component(wire, world, (ecs_component_id)i, much);
    for (uint32_t i = 1; much == DETAIL_ALL && i <= ecs_template_count(world); i++) {
        if (ecs_template_get(world, (ecs_template_id)i)->part_count != 1) continue;
        size_t inner = wire->size;
        net_log_header_write_template(wire, world, rows, (ecs_template_id)i);
        proto_pb_write_end(wire, inner, NET_LOG_SCHEMA_TEMPLATE);
    }
    for (uint32_t i = 0; i < game->message_count; i++)
        proto_pb_write_bytes(wire, NET_LOG_SCHEMA_MESSAGE, game->messages[i].name,
                             strlen(game->messages[i].name));
    proto_pb_write_end(wire, mark, NET_LOG_HEADER_SCHEMA);
}

static void write_settings(proto_pb_writer* wire, const net_match_config* config) {
    const net_game_module* game = config->module->game;
    for (uint32_t i = 0; i < game->setting_count; i++) {
        char value[32];
        // 17 digits give back the same double.
        (void)base_text_format(value, sizeof value, "%.17g", config->settings[i]);
        size_t mark = wire->size;
        proto_pb_write_text(wire, 1, game->settings[i].key);
        proto_pb_write_text(wire, 2, value);
        proto_pb_write_end(wire, mark, FIELD_SETTING);
    }
}

net_result net_log_header_write(base_bytes* bytes, const net_match* match, const char* build,
                                uint64_t now_unix_ms, uint64_t identity, bool* has_values) {
    BASE_ASSERT(bytes && match && has_values);
    bool wants_values = *has_values;
    const net_match_config* config = net_match_get_config(match);
    uint8_t* memory = base_bytes_extend(bytes, NET_LOG_RECORD_BYTES_MAX);
    for (detail much = DETAIL_ALL; much < DETAIL_COUNT; much++) {
        proto_pb_writer wire = {.data = memory, .capacity = NET_LOG_RECORD_BYTES_MAX};
        char build_text[sizeof((net_log_info*)0)->build];
        (void)base_text_copy(build_text, sizeof build_text, build ? build : "");
        proto_pb_write_number(&wire, 1, VERSION);
        proto_pb_write_fixed64(&wire, 2, identity);
        proto_pb_write_text(&wire, FIELD_GAME, config->module->game->name);
        proto_pb_write_text(&wire, FIELD_BUILD, build_text);
        proto_pb_write_fixed64(&wire, 5, config->module->content_hash);
        proto_pb_write_fixed64(&wire, 6, net_schema_hash(net_match_schema(match)));
        proto_pb_write_number(&wire, 7, config->seed);
        proto_pb_write_number(&wire, 8, config->tick_rate_hz);
        // The value in force: a default may be another one in the program that runs this again.
        proto_pb_write_number(&wire, 9,
                              config->replicated_index_max
                                  ? config->replicated_index_max
                                  : ecs_limits_default().replicated_index_max);
        write_settings(&wire, config);
        proto_pb_write_number(&wire, 11, NET_WORLD_HASH_EVERY_TICKS);
        write_schema(&wire, match, much);
        proto_pb_write_number(&wire, 13, now_unix_ms);
        const bool has_views = config->module->game->is_rewinding;
        // A match is run again with its files; a client's record is not run.
        const bool has_pack = config->module->file_count > 0 && config->role == NET_ROLE_SERVER;
        if (has_pack)
            proto_pb_write_bytes(&wire, NET_LOG_HEADER_TEMPLATES, config->module->pack,
                                 config->module->pack_bytes);
        proto_pb_write_fixed64(&wire, FIELD_FEATURES,
                               (has_views ? NET_LOG_FEATURE_VIEWS : 0) |
                                   (config->is_hosted ? NET_LOG_FEATURE_HOSTED : 0) |
                                   (match->has_long_events ? NET_LOG_FEATURE_LONG : 0) |
                                   (has_pack ? NET_LOG_FEATURE_FILES : 0));
        *has_values = wants_values && much == DETAIL_ALL;
        if (*has_values) proto_pb_write_number(&wire, NET_LOG_HEADER_ROW_CODE, NET_LOG_ROW_CODE);
        proto_pb_write_number(&wire, FIELD_UNTRACKED, NET_LOG_UNTRACKED_VALUES);
        if (wire.failed) continue;
        bytes->size -= NET_LOG_RECORD_BYTES_MAX - wire.size;
        return NET_OK;
    }
    return NET_ERR_FULL;
}

// The bits of all fields of this number count.
void net_log_header_demand(base_bytes* bytes, uint64_t features) {
    base_bytes_write_u8(bytes, NET_LOG_HEADER_PART_TAG);
    base_bytes_write_u64(bytes, features);
}

void net_log_header_reload(base_bytes* bytes, const net_module* module) {
    enum { DEMANDS_BYTES = 4 * NET_LOG_HEADER_PART_BYTES, HEAD_BYTES = 8 };
    net_log_header_demand(bytes, NET_LOG_FEATURE_RELOAD);
    if (module->file_count > 0) return; // the pack is there
    if (bytes->size + module->pack_bytes + DEMANDS_BYTES + HEAD_BYTES > NET_LOG_RECORD_BYTES_MAX)
        return;
    base_bytes_write_varint(bytes, NET_LOG_HEADER_TEMPLATES << 3 | 2);
    base_bytes_write_varint(bytes, module->pack_bytes);
    base_bytes_write(bytes, module->pack, module->pack_bytes);
}

bool net_log_header_find(const void* data, size_t size, uint32_t id, uint32_t type,
                         proto_pb_field* field) {
    base_reader reader = base_reader_make(data, size);
    bool is_found = false;
    for (proto_pb_field at; proto_pb_next(&reader, &at);) {
        if (at.id != id || at.type != type) continue;
        *field = at;
        is_found = true;
    }
    return is_found;
}

const uint8_t* net_log_header_templates(const void* data, size_t size, size_t* pack_bytes) {
    proto_pb_field field;
    if (!net_log_header_find(data, size, NET_LOG_HEADER_TEMPLATES, 2, &field)) return NULL;
    *pack_bytes = field.size;
    return field.data;
}

uint64_t net_log_header_row_code(const void* data, size_t size) {
    proto_pb_field field;
    return net_log_header_find(data, size, NET_LOG_HEADER_ROW_CODE, 0, &field) ? field.number : 0;
}

bool net_log_header_text(const proto_pb_field* field, char* target, size_t target_bytes) {
    if (field->type != 2 || field->size >= target_bytes) return false;
    for (size_t i = 0; i < field->size; i++)
        if (field->data[i] < 32 || field->data[i] == 127) return false;
    memcpy(target, field->data, field->size);
    target[field->size] = 0;
    return true;
}

static bool is_game_name(const char* name) {
    if (name[0] == 0) return false;
    for (; *name; name++) {
        bool is_right = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9');
        if (!is_right && *name != '_') return false;
    }
    return true;
}

static bool read_setting(const proto_pb_field* field, net_log_info* info) {
    if (field->type != 2 || info->setting_count == NET_SETTINGS_MAX) return false;
    base_reader reader = base_reader_make(field->data, field->size);
    proto_pb_field inner;
    char key[32] = "", value[32] = "";
    while (proto_pb_next(&reader, &inner)) {
        if (inner.id == 1 && !net_log_header_text(&inner, key, sizeof key)) return false;
        if (inner.id == 2 && !net_log_header_text(&inner, value, sizeof value)) return false;
    }
    if (reader.failed || key[0] == 0 || strchr(key, '=')) return false;
    char* text = info->settings[info->setting_count++];
    return base_text_format(text, sizeof info->settings[0], "%s=%s", key, value);
}

// Must-understand bits that this reader understands.
#define FEATURES_KNOWN                                                                             \
    (NET_LOG_FEATURE_VIEWS | NET_LOG_FEATURE_SEGMENT | NET_LOG_FEATURE_CONTROLS |                  \
     NET_LOG_FEATURE_RELOAD | NET_LOG_FEATURE_SEEN | NET_LOG_FEATURE_FILES |                       \
     NET_LOG_FEATURE_HOSTED | NET_LOG_FEATURE_LONG)

static net_result read_demand(net_log_demand* demand, const void* data, size_t size) {
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    *demand = (net_log_demand){0};
    while (proto_pb_next(&reader, &field)) {
        if (field.id == 1 && field.type == 0) demand->version = field.number;
        if (field.id == FIELD_FEATURES && field.type == 1) demand->features |= field.number;
        if (field.id == FIELD_BUILD &&
            !net_log_header_text(&field, demand->build, sizeof demand->build))
            demand->build[0] = 0;
        bool is_ours =
            (field.id != 1 || field.type == 0) && (field.id != FIELD_FEATURES || field.type == 1);
        if (!is_ours) return NET_ERR_DAMAGED;
    }
    if (reader.failed || demand->version == 0) return NET_ERR_DAMAGED;
    bool is_later = demand->version != VERSION || (demand->features & ~FEATURES_KNOWN) != 0;
    return is_later ? NET_ERR_VERSION : NET_OK;
}

uint64_t net_log_header_features(const void* data, size_t size) {
    net_log_demand demand;
    return read_demand(&demand, data, size) == NET_OK ? demand.features : 0;
}

#define INFO(id, form, member)                                                                     \
    { id, FORM_##form, offsetof(net_log_info, member), 0 }

static const field_row info_fields[] = {INFO(2, FIXED, identity),
                                        INFO(5, FIXED, content_hash),
                                        INFO(6, FIXED, schema_hash),
                                        INFO(7, U64, seed),
                                        INFO(8, U32, tick_rate_hz),
                                        INFO(9, U32, replicated_index_max),
                                        INFO(11, U32, world_hash_every),
                                        INFO(13, U64, started_unix_ms),
                                        INFO(FIELD_UNTRACKED, U32, untracked_values),
                                        {0}};

static bool read_info_field(const proto_pb_field* field, net_log_info* info) {
    switch (field->id) {
    case FIELD_GAME:
        return net_log_header_text(field, info->game, sizeof info->game) &&
               is_game_name(info->game);
    case FIELD_BUILD:
        return net_log_header_text(field, info->build, sizeof info->build);
    case FIELD_SETTING:
        return read_setting(field, info);
    default:
        return read_field(info_fields, field, info);
    }
}

net_result net_log_header_read(net_log_info* info, const void* data, size_t size,
                               net_log_demand* demand) {
    BASE_ASSERT(info && demand);
    net_result result = read_demand(demand, data, size);
    if (result) return result;
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field))
        if (!read_info_field(&field, info)) return NET_ERR_DAMAGED;
    info->is_seen = (demand->features & NET_LOG_FEATURE_SEEN) != 0;
    info->is_hosted = (demand->features & NET_LOG_FEATURE_HOSTED) != 0;
    bool is_right = !reader.failed && info->game[0] != 0 &&
                    info->tick_rate_hz >= NET_TICK_RATE_HZ_MIN &&
                    info->tick_rate_hz <= NET_TICK_RATE_HZ_MAX &&
                    info->replicated_index_max <= REPLICATED_INDEX_MAX;
    return is_right ? NET_OK : NET_ERR_DAMAGED;
}
