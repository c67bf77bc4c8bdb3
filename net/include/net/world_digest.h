// SPDX-License-Identifier: MIT
/// The scope hash: a full walk of a living world, the same on both sides when a client has caught up.
///
/// In order of (entity, template, component name, quantised bytes). On a server: what the interest
/// definition says the client should have. On a client: what its world holds (state CREATED).
#pragma once

#include "ecs/ecs.h"
#include "net/schema.h"

typedef struct net_world_digest {
    uint64_t hash;
    uint32_t entities;
    uint32_t components;
    uint64_t bytes; ///< of the quantised rows, packed
} net_world_digest;

/// Walk. `line` (may be NULL) gets the same walk as text: "entity=5:1 template=ball component=pos
/// x=600 y=700" - values as dequantised, so that two dumps differ exactly where the hashes do.
net_world_digest net_world_digest_walk(const net_schema* schema, ecs_world* world, ecs_line_fn line,
                                       void* context);

/// Which classes of an entity's components one client may see; 0: it has not got the entity.
typedef uint32_t (*net_world_digest_classes_fn)(void* context, ecs_entity entity);
/// The walk of what one client should have: entities that `classes` knows, with their templates' defaults
/// where it may not look. The same hash as the client's own walk, when both hold the same.
net_world_digest net_world_digest_walk_seen(const net_schema* schema, ecs_world* world,
                                            net_world_digest_classes_fn classes,
                                            void* classes_context, ecs_line_fn line, void* context);

/// What a walk of a world without replicated entities gives.
net_world_digest net_world_digest_empty(void);

/// Hash of one entity's quantised row (what --trace writes); 0 when it has none.
uint64_t net_world_digest_row_hash(const net_schema* schema, ecs_world* world, ecs_entity entity);
/// Is it the hash of the entity's row as somebody may see it: with any of its classes of visibility hidden,
/// or none? The more classes its template uses, the more is tried: 2 to the power of those beside "public".
bool net_world_digest_row_has_hash(const net_schema* schema, ecs_world* world, ecs_entity entity,
                                   uint64_t hash);
