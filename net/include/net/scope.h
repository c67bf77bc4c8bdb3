// SPDX-License-Identifier: MIT
/// The scope hash: a full walk of a living world, the same on both sides when a client has caught up.
///
/// In order of (entity, template, component name, quantised bytes). On a server: what the interest
/// definition says the client should have. On a client: what its world holds (state CREATED).
#pragma once

#include "ecs/ecs.h"
#include "net/schema.h"

typedef struct net_scope {
    uint64_t hash;
    uint32_t entities;
    uint32_t components;
    uint64_t bytes;      ///< of the quantised rows, packed
} net_scope;

/// Walk. `line` (may be NULL) gets the same walk as text: "entity=5:1 template=ball component=pos
/// x=600 y=700" - values as dequantised, so that two dumps differ exactly where the hashes do.
net_scope net_scope_walk(const net_schema* schema, ecs_world* world, ecs_line_fn line, void* context);

/// What a walk of a world without replicated entities gives.
net_scope net_scope_empty(void);

/// Hash of one entity's quantised row (what --trace writes); 0 when it has none.
uint64_t net_scope_row_hash(const net_schema* schema, ecs_world* world, ecs_entity entity);
