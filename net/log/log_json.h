// SPDX-License-Identifier: MIT
/// Lines of JSON about a log: texts, entities, messages, and the items of its records.
#pragma once

#include "base/bytes.h"
#include "log/log_record.h"
#include "net/module.h"
#include "proto/codec.h"

#define NET_LOG_JSON_MESSAGE_BYTES 65536u

/// A line while it is written. What fails for lack of memory shows in net_log_json_end.
typedef struct net_log_json {
    const base_allocator* allocator;
    const net_module* module; ///< NULL: messages are hex
    proto_codec codec;
    bool has_codec;
    base_bytes text; ///< of the line so far
    char* message;   ///< scratch of one message
} net_log_json;

/// @return false when memory ran out; net_log_json_deinit is needed in both cases.
BASE_MUST_USE bool net_log_json_init(net_log_json* self, const base_allocator* allocator,
                                     const net_module* module);
void net_log_json_deinit(net_log_json* self);
/// Give the line to `line` and begin the next one. @return false when memory ran out.
BASE_MUST_USE bool net_log_json_end(net_log_json* self, ecs_line_fn line, void* context);

/// Append as it is; at most 255 bytes.
void net_log_json_put(net_log_json* self, const char* format, ...) BASE_PRINTF(2, 3);
void net_log_json_text(net_log_json* self, const char* text);
/// Append "INDEX:GENERATION" with quotes.
void net_log_json_entity(net_log_json* self, ecs_entity entity);
void net_log_json_hex(net_log_json* self, const uint8_t* data, size_t size);
/// Append the message of an input or event as an object, or as hex.
void net_log_json_message(net_log_json* self, const net_log_item* item);
/// Append a whole item as an object.
void net_log_json_item(net_log_json* self, const net_log_item* item);
