// SPDX-License-Identifier: MIT
// With the game's module messages are decoded, without it they are hex. 64-bit hashes are text:
// JSON numbers have 53 bits.
#include "log/log_json.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool net_log_json_init(net_log_json* self, const base_allocator* allocator,
                       const net_module* module) {
    *self = (net_log_json){.allocator = allocator, .module = module};
    base_bytes_init(&self->text, allocator);
    self->message = base_allocate(allocator, NET_LOG_JSON_MESSAGE_BYTES);
    self->has_codec =
        self->message && proto_codec_init(&self->codec, allocator, PROTO_UNPACK_BYTES_MAX);
    return self->has_codec;
}

void net_log_json_deinit(net_log_json* self) {
    if (self->has_codec) proto_codec_deinit(&self->codec);
    base_bytes_deinit(&self->text);
    base_release(self->allocator, self->message, NET_LOG_JSON_MESSAGE_BYTES);
}

bool net_log_json_end(net_log_json* self, ecs_line_fn line, void* context) {
    base_bytes_write_u8(&self->text, 0);
    if (self->text.failed) return false;
    line(context, (const char*)self->text.data);
    base_bytes_clear(&self->text);
    return true;
}

void net_log_json_put(net_log_json* self, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(&self->text, text, strlen(text));
}

void net_log_json_text(net_log_json* self, const char* text) {
    base_json_text(&self->text, text);
}

void net_log_json_entity(net_log_json* self, ecs_entity entity) {
    net_log_json_put(self, "\"%u:%u\"", ecs_entity_index(entity), ecs_entity_generation(entity));
}

void net_log_json_hex(net_log_json* self, const uint8_t* data, size_t size) {
    base_json_hex(&self->text, data, size);
}

// Position of the message in the module's table; UINT32_MAX for none.
static uint32_t position_of(const net_log_json* self, const net_log_item* item) {
    if (!self->module) return UINT32_MAX;
    const net_game_module* game = self->module->game;
    if (item->kind != NET_LOG_ITEM_INPUT)
        return item->message - 1 < game->message_count ? item->message - 1 : UINT32_MAX;
    for (uint32_t i = 0; i < game->message_count; i++)
        if (game->messages[i].kind == NET_MESSAGE_INPUT) return i;
    return UINT32_MAX;
}

static const net_message* message_of(const net_log_json* self, const net_log_item* item) {
    const uint32_t position = position_of(self, item);
    return position == UINT32_MAX ? NULL : &self->module->game->messages[position];
}

// @return false when the message cannot be decoded: nothing was written.
static bool put_decoded(net_log_json* self, const net_log_item* item, const char* key) {
    const net_message* message = message_of(self, item);
    const ProtobufCMessage* decoded =
        message ? proto_codec_decode(&self->codec, message->descriptor, item->payload,
                                     item->payload_bytes, NET_EVENT_PAYLOAD_BYTES_MAX)
                : NULL;
    if (!decoded || proto_json(decoded, self->message, NET_LOG_JSON_MESSAGE_BYTES) >=
                        NET_LOG_JSON_MESSAGE_BYTES)
        return false;
    net_log_json_put(self, "%s", key);
    base_bytes_write(&self->text, self->message, strlen(self->message));
    return true;
}

void net_log_json_message(net_log_json* self, const net_log_item* item) {
    if (!put_decoded(self, item, "")) net_log_json_hex(self, item->payload, item->payload_bytes);
}

// Append ,"name":NAME,"value":OBJECT, or ,"payload":HEX for what cannot be decoded.
static void net_log_json_payload(net_log_json* self, const net_log_item* item) {
    const net_message* message = message_of(self, item);
    if (message) {
        net_log_json_put(self, ",\"name\":");
        net_log_json_text(self, message->name);
    }
    if (put_decoded(self, item, ",\"value\":")) return;
    net_log_json_put(self, ",\"payload\":");
    net_log_json_hex(self, item->payload, item->payload_bytes);
}

void net_log_json_item(net_log_json* self, const net_log_item* item) {
    net_log_json_put(self, "{");
    if (item->kind != NET_LOG_ITEM_SERVER_EVENT)
        net_log_json_put(self, "\"client\":%u", item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_LEAVE:
        net_log_json_put(self, ",\"reason\":%u", item->reason);
        break;
    case NET_LOG_ITEM_JOIN:
        net_log_json_put(self, ",\"name\":");
        net_log_json_text(self, item->name);
        net_log_json_put(self, ",\"is_bot\":%s", item->is_bot ? "true" : "false");
        if (item->player_id != 0)
            net_log_json_put(self, ",\"player_id\":%" PRIu64, item->player_id);
        if (item->payload_bytes > 0) {
            net_log_json_put(self, ",\"user_data\":");
            net_log_json_hex(self, item->payload, item->payload_bytes);
        }
        break;
    case NET_LOG_ITEM_INPUT:
        net_log_json_put(self, ",\"number\":%u", item->number);
        if (item->seen > 0) net_log_json_put(self, ",\"view\":%" PRIu64, item->seen);
        if (item->is_repeat) net_log_json_put(self, ",\"is_repeat\":true");
        if (!item->is_repeat) net_log_json_payload(self, item);
        break;
    default:
        if (item->kind == NET_LOG_ITEM_EVENT) net_log_json_put(self, ",");
        if (item->number > 0) net_log_json_put(self, "\"number\":%u,", item->number);
        net_log_json_put(self, "\"message\":%u,\"target\":", item->message);
        net_log_json_entity(self, item->target);
        net_log_json_payload(self, item);
    }
    net_log_json_put(self, "}");
}
