// SPDX-License-Identifier: MIT
// A record of a full server may hold thousands of inputs, so reading makes no tree: it walks the
// bytes once to check everything, and again for each kind of item. Items come one after the other
// in the bytes, so a walk is linear.
//
// Writing goes front to back into one buffer. The queue's prefix and the record's tag and length
// lie in front of the body and are written when the body's length is known.
#include "log/log_record.h"

#include "base/assert.h"

#include <string.h>

enum {
    ITEM_BYTES_MAX = NET_EVENT_PAYLOAD_BYTES_MAX + 64,
    TAG_TICK = 1,
    TAG_CHANGES = 5,
    TAG_VERB = 2,
    TAG_ARGUMENT = 3,
    TAG_REASON = 2,
};

static bool take_u32(const proto_pb_field* field, uint32_t* value) {
    *value = (uint32_t)field->number;
    return field->type == 0 && field->number <= UINT32_MAX;
}

static bool take_bool(const proto_pb_field* field, bool* value) {
    *value = field->number != 0;
    return field->type == 0 && field->number <= 1;
}

static bool take_payload(const proto_pb_field* field, uint32_t max, net_log_item* item) {
    if (field->type != 2 || field->size > max) return false;
    item->payload = field->data;
    item->payload_bytes = (uint32_t)field->size;
    return true;
}

static bool take_name(const proto_pb_field* field, net_log_item* item) {
    if (field->type != 2 || field->size >= sizeof item->name) return false;
    if (memchr(field->data, 0, field->size)) return false;
    memcpy(item->name, field->data, field->size);
    item->name[field->size] = 0;
    return true;
}

static bool read_leave_field(const proto_pb_field* field, net_log_item* item) {
    if (field->id == 1) return take_u32(field, &item->client);
    if (field->id == 2) return take_u32(field, &item->reason);
    return true;
}

static bool read_join_field(const proto_pb_field* field, net_log_item* item) {
    if (field->id == 1) return take_u32(field, &item->client);
    if (field->id == 2) return take_name(field, item);
    if (field->id == 3) return take_bool(field, &item->is_bot);
    if (field->id == 4) {
        item->player_id = field->number;
        return field->type == 0;
    }
    if (field->id == 5) return take_payload(field, NET_USER_BYTES_MAX, item);
    return true;
}

static bool read_input_field(const proto_pb_field* field, net_log_item* item) {
    if (field->id == 1) return take_u32(field, &item->client);
    if (field->id == 2) return take_u32(field, &item->number);
    if (field->id == 3) return take_payload(field, NET_INPUT_BYTES_MAX, item);
    if (field->id == 4) return take_bool(field, &item->is_repeat);
    if (field->id == 5) {
        item->seen = field->number;
        return field->type == 0;
    }
    return true;
}

static bool read_event_field(const proto_pb_field* field, net_log_item* item) {
    if (field->id == 1) return take_u32(field, &item->client);
    if (field->id == 2) return take_u32(field, &item->message);
    if (field->id == 3) return take_u32(field, &item->target);
    if (field->id == 4) return take_payload(field, NET_EVENT_PAYLOAD_BYTES_MAX, item);
    if (field->id == 5) return take_u32(field, &item->number);
    return true;
}

static bool read_item(net_log_item_kind kind, const uint8_t* data, size_t size,
                      net_log_item* item) {
    static const uint8_t nothing[1] = {0};
    *item = (net_log_item){.kind = kind, .payload = nothing};
    base_reader reader = base_reader_make(data, size);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        bool is_right = kind == NET_LOG_ITEM_LEAVE   ? read_leave_field(&field, item)
                        : kind == NET_LOG_ITEM_JOIN  ? read_join_field(&field, item)
                        : kind == NET_LOG_ITEM_INPUT ? read_input_field(&field, item)
                                                     : read_event_field(&field, item);
        if (!is_right) return false;
    }
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
    return read_item((net_log_item_kind)field->id, field->data, field->size, &item);
}

static bool read_begin_field(net_log_record* record, const proto_pb_field* field) {
    return field->id < NET_LOG_ITEM_LEAVE || field->id > NET_LOG_ITEM_INPUT ||
           read_items(record, field);
}

static bool read_end_field(net_log_record* record, const proto_pb_field* field) {
    switch (field->id) {
    case 2:
        record->state_hash = field->number;
        return field->type == 1;
    case 3:
        record->world_hash = field->number;
        return field->type == 1;
    case 4:
        return take_bool(field, &record->has_world_hash);
    case TAG_CHANGES:
        record->changes = field->data;
        record->changes_bytes = (uint32_t)field->size;
        return field->type == 2;
    case 6:
        return read_items(record, field);
    case 7:
        return take_u32(field, &record->events_left_out);
    default:
        return true;
    }
}

static bool read_close_field(net_log_record* record, const proto_pb_field* field) {
    return field->id < 2 || field->id > 4 || read_end_field(record, field);
}

static bool read_state_field(net_log_record* record, const proto_pb_field* field) {
    return field->id != TAG_CHANGES || read_end_field(record, field);
}

bool net_log_is_verb(const char* verb, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((verb[i] < 'a' || verb[i] > 'z') && verb[i] != '_') return false;
    return size > 0 && size < NET_LOG_VERB_BYTES_MAX;
}

static bool read_control_field(net_log_record* record, const proto_pb_field* field) {
    if (field->id == TAG_ARGUMENT)
        return field->type == 2 && ++record->argument_count <= NET_LOG_ARGUMENTS_MAX;
    if (field->id != TAG_VERB) return true;
    if (field->type != 2 || !net_log_is_verb((const char*)field->data, field->size)) return false;
    memcpy(record->verb, field->data, field->size);
    record->verb[field->size] = 0;
    return true;
}

static bool read_kind_field(net_log_record* record, const proto_pb_field* field) {
    switch (record->kind) {
    case NET_LOG_KIND_BEGIN:
        return read_begin_field(record, field);
    case NET_LOG_KIND_END:
        return read_end_field(record, field);
    case NET_LOG_KIND_STATE:
        return read_state_field(record, field);
    case NET_LOG_KIND_CONTROL:
        return read_control_field(record, field);
    case NET_LOG_KIND_ALIVE:
        return field->id != TAG_REASON || take_u32(field, &record->reason);
    default:
        return read_close_field(record, field);
    }
}

static bool read_body(net_log_record* record) {
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        if (field.id == TAG_TICK) {
            record->tick = field.number;
            if (field.type != 0) return false;
        }
        if (!read_kind_field(record, &field)) return false;
    }
    return !reader.failed && (record->kind != NET_LOG_KIND_CONTROL || record->verb[0] != 0);
}

bool net_log_record_read(net_log_record* record, const void* data, size_t size) {
    *record = (net_log_record){.size = (uint32_t)size};
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

bool net_log_argument_next(const net_log_record* record, size_t* offset,
                           net_log_argument* argument) {
    BASE_ASSERT(record->kind == NET_LOG_KIND_CONTROL && *offset <= record->body_bytes);
    base_reader reader = base_reader_make(record->body, record->body_bytes);
    reader.offset = *offset;
    proto_pb_field field;
    while (proto_pb_next(&reader, &field)) {
        *offset = reader.offset;
        if (field.id != TAG_ARGUMENT) continue;
        *argument = (net_log_argument){field.data, field.size};
        return true;
    }
    return false;
}

bool net_log_order_add(net_log_order* order, const net_log_record* record) {
    BASE_ASSERT(!order->is_in_tick || order->tick > 0);
    if (record->kind == NET_LOG_KIND_OTHER) return ++order->others <= NET_LOG_OTHERS_MAX;
    order->others = 0;
    if (order->is_closed) return false;
    switch (record->kind) {
    case NET_LOG_KIND_BEGIN:
        if (record->tick != order->tick + !order->is_in_tick || record->tick == 0) return false;
        order->is_in_tick = true;
        break;
    case NET_LOG_KIND_END:
        if (!order->is_in_tick || record->tick != order->tick) return false;
        order->is_in_tick = false;
        order->last_end = record->tick;
        break;
    case NET_LOG_KIND_STATE:
        return !order->is_in_tick && record->tick == order->tick && record->tick > 0;
    case NET_LOG_KIND_CONTROL:
    case NET_LOG_KIND_ALIVE:
        return !order->is_in_tick && record->tick > 0 && record->tick == order->tick + 1;
    default:
        if (order->is_in_tick || record->tick != order->tick) return false;
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
    uint8_t memory[ITEM_BYTES_MAX];
    proto_pb_writer wire = {.data = memory, .capacity = sizeof memory};
    proto_pb_write_number(&wire, 1, item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_LEAVE:
        proto_pb_write_number(&wire, 2, item->reason);
        break;
    case NET_LOG_ITEM_JOIN:
        proto_pb_write_text(&wire, 2, item->name);
        proto_pb_write_number(&wire, 3, item->is_bot);
        proto_pb_write_number(&wire, 4, item->player_id);
        if (item->payload_bytes > 0)
            proto_pb_write_bytes(&wire, 5, item->payload, item->payload_bytes);
        break;
    case NET_LOG_ITEM_INPUT:
        proto_pb_write_number(&wire, 2, item->number);
        if (item->payload_bytes > 0)
            proto_pb_write_bytes(&wire, 3, item->payload, item->payload_bytes);
        proto_pb_write_number(&wire, 4, item->is_repeat);
        proto_pb_write_number(&wire, 5, item->seen);
        break;
    default:
        proto_pb_write_number(&wire, 2, item->message);
        proto_pb_write_number(&wire, 3, item->target);
        if (item->payload_bytes > 0)
            proto_pb_write_bytes(&wire, 4, item->payload, item->payload_bytes);
        proto_pb_write_number(&wire, 5, item->number);
    }
    BASE_ASSERT(!wire.failed);
    if (wire.size + 4 > body->capacity - body->size) return false;
    proto_pb_write_bytes(body, (uint32_t)item->kind, memory, wire.size);
    return true;
}

bool net_log_draft_item(net_log_draft* draft, const net_log_item* item) {
    BASE_ASSERT(item->client > 0 || item->kind == NET_LOG_ITEM_SERVER_EVENT);
    return net_log_item_write(&draft->body, item);
}

static void write_prefix(uint8_t* place, uint64_t number, ecs_tick tick, net_log_kind kind) {
    proto_pb_writer prefix = {.data = place, .capacity = NET_LOG_QUEUE_PREFIX_BYTES};
    proto_pb_write_raw(&prefix, number, 8);
    proto_pb_write_raw(&prefix, tick, 8);
    proto_pb_write_raw(&prefix, (uint32_t)kind, 4);
    proto_pb_write_raw(&prefix, 0, 4);
}

uint8_t* net_log_draft_end(net_log_draft* draft, net_log_kind kind, uint64_t number, ecs_tick tick,
                           uint32_t* size) {
    BASE_ASSERT(kind != NET_LOG_KIND_OTHER && size);
    BASE_ASSERT(!draft->body.failed);
    size_t head = 1 + base_varint_bytes(draft->body.size);
    uint8_t* record = draft->body.data - head;
    record[0] = (uint8_t)((uint32_t)kind << 3 | 2);
    base_varint_put(record + 1, draft->body.size);
    write_prefix(record - NET_LOG_QUEUE_PREFIX_BYTES, number, tick, kind);
    *size = (uint32_t)(NET_LOG_QUEUE_PREFIX_BYTES + head + draft->body.size);
    return record - NET_LOG_QUEUE_PREFIX_BYTES;
}
