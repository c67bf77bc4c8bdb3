// SPDX-License-Identifier: MIT
/// The world of a case, with the schema of its templates.
#pragma once

#include "test.h"

#include "base/bytes.h"
#include "net/match.h"
#include "state/schema.h"

/// What differs from a server's world: all else is 0.
typedef struct schema_wanted {
    const base_allocator* allocator; ///< of the world
    bool is_mirror;
    uint32_t index_max;         ///< 0: the usual one
    const ecs_type_desc* types; ///< of its own
    uint32_t type_count;
    const char* more; ///< templates after the others
    const net_message* messages;
    uint32_t message_count;
} schema_wanted;

static inline ecs_world* schema_world(const char* text, schema_wanted wanted) {
    ecs_world_config config = ecs_world_config_default();
    config.allocator = wanted.allocator;
    config.is_mirror = wanted.is_mirror;
    if (wanted.index_max) config.limits.replicated_index_max = wanted.index_max;
    ecs_world* world;
    assert_ok(ecs_world_create(&config, &world));
    for (uint32_t i = 0; i < wanted.type_count; i++)
        assert_ok(ecs_type_register(world, &wanted.types[i], NULL));
    const char* const texts[] = {text, wanted.more};
    for (uint32_t i = 0; i < 2 && texts[i]; i++)
        assert_ok(
            ecs_template_load(world, "test.blk", texts[i], strlen(texts[i]), test_reporter()));
    assert_ok(ecs_world_seal(world, test_reporter()));
    return world;
}

/// The caller ends both: schema_unmake().
static inline net_schema* schema_made(const char* text, schema_wanted wanted, ecs_world** world) {
    net_schema* schema;
    *world = schema_world(text, wanted);
    assert_ok(net_schema_create(NULL, *world, wanted.messages, wanted.message_count,
                                test_reporter(), &schema));
    return schema;
}

static inline void schema_unmake(net_schema* schema, ecs_world* world) {
    base_owner_destroy(schema);
    ecs_world_destroy(world);
}

static inline uint64_t schema_digest(net_schema* schema, ecs_world* world) {
    return net_world_digest_walk(schema, world, NULL, NULL).hash;
}

static inline void schema_keep_line(void* context, const char* line) {
    base_bytes_write(context, line, strlen(line));
    base_bytes_write(context, "\n", 1);
}

/// The lines of a walk, as text. The caller frees it: base_bytes_deinit().
static inline base_bytes schema_dump(net_schema* schema, ecs_world* world) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    (void)net_world_digest_walk(schema, world, schema_keep_line, &bytes);
    base_bytes_write_u8(&bytes, 0);
    return bytes;
}
