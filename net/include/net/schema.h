// SPDX-License-Identifier: MIT
/// The replicated part of a world as both sides must agree on it, and its hash.
///
/// Covers, sorted by name: replicated templates with their resolved default rows (quantised),
/// components in name order with fields, kinds, counts and quantisation, singleton flags, and
/// message descriptors (names, field ids, types) in table order. Anything else may differ between
/// two builds.
#pragma once

#include "net/game.h"
#include "net/limits.h"
#include "net/module.h"
#include "net/result.h"

BASE_C_BEGIN

typedef struct net_schema net_schema;

typedef struct net_schema_item {
    char name[ECS_NAME_BYTES_MAX + 16]; ///< "template brick", "component pos", "message BrickHit"
    uint64_t hash;
} net_schema_item;

/// Make the schema of a sealed world and the messages of its module, which may be none. `allocator`
/// NULL: the heap. The world is only read. @return NET_OK; NET_ERR_SCHEMA (reported: a component or
/// message cannot be sent: mend the
///         module); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_schema_create(const base_allocator* allocator, ecs_world* world,
                                           const net_message* messages, uint32_t message_count,
                                           const base_reporter* reporter, net_schema** schema);
void net_schema_destroy(net_schema* schema);
/// Equal on both sides when all items are equal.
uint64_t net_schema_hash(const net_schema* schema);
/// Items sorted by name, as SchemaAnswer carries them. Borrowed from the schema.
const net_schema_item* net_schema_items(const net_schema* schema, uint32_t* count);
/// Write the first item that differs as one sentence (`"template brick" differs`, `"component hp"
/// is missing on the client`), NUL-terminated and cut to `text_bytes`. The client's items are
/// untrusted. @return false when none differs.
bool net_schema_difference(const net_schema* server, const net_schema_item* client_items,
                           uint32_t client_item_count, char* text, size_t text_bytes);

BASE_C_END
