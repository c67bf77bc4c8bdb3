// SPDX-License-Identifier: MIT
/// Digest of a world: a hash over its replicated rows. A client that has caught up and its server
/// get the same one.
///
/// Rows are hashed in the order of (entity, template, component name, quantised bytes). On a server
/// the digest covers what the interest rules give to a client, on a client what its world contains
/// (state CREATED). Each call reads the whole world: for checks and tests, not for every tick.
/// Threads: the thread that owns the world, outside of stages.
#pragma once

#include "ecs/ecs.h"
#include "net/schema.h"

BASE_C_BEGIN

typedef struct net_world_digest {
    uint64_t hash;
    uint32_t entities;
    uint32_t components;
    uint64_t bytes; ///< of the quantised rows, packed
} net_world_digest;

/// Compute the digest of a whole world. `line` (may be NULL) gets the same rows as text:
/// "entity=5:1 template=ball component=pos x=600 y=700", with dequantised values, so two dumps
/// differ exactly where the hashes do.
net_world_digest net_world_digest_walk(const net_schema* schema, ecs_world* world, ecs_line_fn line,
                                       void* context);

/// @return The classes of an entity's components that one client may see; 0: the entity is not in
///          its scope.
typedef uint32_t (*net_world_digest_classes_fn)(void* context, ecs_entity entity);
/// Compute the digest of what one client should have: the entities that `classes` gives it, with
/// the template's defaults for hidden components. It equals the client's own digest when both are
/// in sync.
net_world_digest net_world_digest_walk_seen(const net_schema* schema, ecs_world* world,
                                            net_world_digest_classes_fn classes,
                                            void* classes_context, ecs_line_fn line, void* context);

/// The same when it is known which entities these are: `entities`, by rising index (asserted). It
/// costs as much as they are, not as the world.
net_world_digest net_world_digest_walk_list(const net_schema* schema, ecs_world* world,
                                            const ecs_entity* entities, uint32_t count,
                                            net_world_digest_classes_fn classes, void* context);

/// @return The digest of a world without replicated entities.
net_world_digest net_world_digest_empty(void);

/// @return The hash of one entity's quantised row, as --trace writes it; 0 when it has none.
uint64_t net_world_digest_row_hash(const net_schema* schema, ecs_world* world, ecs_entity entity);
/// @return Whether `hash` is the entity's row as some client may see it: with any set of its
///         visibility classes hidden. Tries 2 to the power of the classes beside "public" that its
///         template uses.
bool net_world_digest_row_has_hash(const net_schema* schema, ecs_world* world, ecs_entity entity,
                                   uint64_t hash);

BASE_C_END
