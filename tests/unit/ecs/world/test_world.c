// SPDX-License-Identifier: MIT
// The world as a whole: limits, tags, contexts, seal, and every allocation that can fail.
#include "sample_world.h"

#include "base/bytes.h"

static ecs_result try_create(const ecs_world_config* config) {
    ecs_world* world = NULL;
    ecs_result result = ecs_world_create(config, &world);
    assert_true((result == ECS_OK) == (world != NULL));
    ecs_world_destroy(world);
    return result;
}

CASE(limits_out_of_range_are_refused) {
    ecs_world_config config = ecs_world_config_default();
    assert_ok(try_create(&config));
    const uint32_t replicated[] = {0, 1, (1u << 20) - 1, 1u << 20, (1u << 20) + 1};
    for (size_t i = 0; i < BASE_COUNT(replicated); i++) {
        config.limits.replicated_index_max = replicated[i];
        bool is_fine = replicated[i] >= 1 && replicated[i] <= 1u << 20;
        assert_int_equal(try_create(&config), is_fine ? ECS_OK : ECS_ERR_FULL);
    }
    config = ecs_world_config_default();
    uint32_t local_max = ECS_INDEX_MAX - config.limits.replicated_index_max;
    const uint32_t local[] = {0, 1, local_max - 1, local_max, local_max + 1, UINT32_MAX};
    for (size_t i = 0; i < BASE_COUNT(local); i++) {
        config.limits.local_entities_max = local[i];
        bool is_fine = local[i] >= 1 && local[i] <= local_max;
        assert_int_equal(try_create(&config), is_fine ? ECS_OK : ECS_ERR_FULL);
    }
    for (int which = 0; which < 3; which++) {
        config = ecs_world_config_default();
        uint32_t* limits[] = {&config.limits.events_per_flush_max, &config.limits.events_queued_max,
                              &config.limits.commands_queued_max};
        *limits[which] = 0;
        assert_int_equal(try_create(&config), ECS_ERR_FULL);
        *limits[which] = ECS_INDEX_MAX + 1;
        assert_int_equal(try_create(&config), ECS_ERR_FULL);
        *limits[which] = 1;
        assert_ok(try_create(&config));
    }
}

CASE(tags_are_copied_and_have_limits) {
    const char* tags[ECS_TAGS_MAX + 1];
    for (size_t i = 0; i < BASE_COUNT(tags); i++)
        tags[i] = "server";
    ecs_world_config config = ecs_world_config_default();
    config.tags = tags;
    config.tag_count = ECS_TAGS_MAX + 1;
    assert_int_equal(try_create(&config), ECS_ERR_FULL);
    config.tag_count = ECS_TAGS_MAX;
    assert_ok(try_create(&config));
    char long_tag[ECS_NAME_BYTES_MAX + 1];
    memset(long_tag, 'x', sizeof long_tag);
    long_tag[ECS_NAME_BYTES_MAX] = '\0';
    tags[0] = long_tag;
    config.tag_count = 1;
    assert_int_equal(try_create(&config), ECS_ERR_FULL);
    long_tag[ECS_NAME_BYTES_MAX - 1] = '\0';
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    assert_true(ecs_world_has_tag(world, long_tag));
    long_tag[0] = 'y';
    assert_false(ecs_world_has_tag(world, long_tag));
    assert_false(ecs_world_has_tag(world, "server"));
    ecs_world_destroy(world);
}

CASE(contexts_are_zero_and_live_as_long_as_the_world) {
    scarce_memory memory;
    ecs_world_config config = scarce_world(&memory);
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    uint32_t* blocks[40];
    for (uint32_t i = 0; i < 40; i++) {
        blocks[i] = ecs_world_context(world, (i + 1) * sizeof(uint32_t));
        assert_int_equal(blocks[i][i], 0);
        blocks[i][i] = i;
    }
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(blocks[i][i], i);
    ecs_world_destroy(world);
    assert_int_equal(memory.bytes, 0);
}

STORE_CASE(a_world_is_sealed_once) {
    assert_int_equal(ecs_world_seal(at->world, NULL), ECS_ERR_SEALED);
}

// S1.6
CASE(two_worlds_do_not_know_each_other) {
    store first;
    store second;
    store_make(&first);
    store_make(&second);
    ecs_entity entity = store_create(&first, first.ball);
    assert_false(ecs_is_alive(second.world, entity));
    ecs_world_count_bad_transition(first.world);
    assert_int_equal(ecs_world_counters(first.world)->bad_transitions, 1);
    assert_int_equal(ecs_world_counters(second.world)->bad_transitions, 0);
    store_close(&first);
    store_close(&second);
}

STORE_CASE(indices_come_back_from_their_bytes) {
    ecs_world* world = at->world;
    enum { COUNT = 3000 };
    static ecs_entity entities[COUNT];
    assert_ok(ecs_create_many(world, at->ball, COUNT, entities));
    assert_ok(ecs_handle_retain(world, entities[1]));
    assert_ok(ecs_handle_load(world, ecs_entity_make(5, 2)));
    for (uint32_t i = 0; i < COUNT; i += 2)
        assert_ok(ecs_destroy(world, entities[i]));
    base_bytes bytes = {0};
    ecs_storage_write_indices(world, &bytes);
    ecs_entity next = store_create(at, at->ball);
    ecs_storage_clear(world);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    assert_ok(ecs_storage_read_indices(world, &reader));
    assert_int_equal(base_reader_left(&reader), 0);
    ecs_binding* binding = NULL;
    assert_ok(ecs_storage_bind(world, at->ball, &binding));
    ecs_archetype* archetype = binding->archetype;
    static ecs_row_head heads[COUNT / 2];
    for (uint32_t i = 1; i < COUNT; i += 2)
        heads[i / 2] = (ecs_row_head){entities[i], at->ball};
    assert_ok(ecs_structure_place_rows(world, archetype, heads, COUNT / 2));
    assert_int_equal(ecs_structure_place_rows(world, archetype, heads, 1), ECS_ERR_TAKEN);
    const ecs_row_head none = {ECS_ENTITY_NONE, at->ball};
    assert_int_equal(ecs_structure_place_rows(world, archetype, &none, 1), ECS_ERR_STALE);
    assert_int_equal(ecs_world_entity_count(world), COUNT / 2);
    ecs_storage_settle_indices(world);
    ecs_storage_validate(world);
    assert_int_equal(ecs_state(world, ecs_entity_make(5, 2)), ECS_STATE_LOADING);
    assert_int_equal(store_create(at, at->ball), next);
    for (size_t size = 0; size < bytes.size; size += size < 64 ? 1 : 97) {
        ecs_storage_clear(world);
        reader = base_reader_make(bytes.data, size);
        assert_int_equal(ecs_storage_read_indices(world, &reader), ECS_ERR_MALFORMED);
    }
    for (size_t i = 0; i < bytes.size; i += i < 64 ? 1 : 97) {
        ecs_storage_clear(world);
        bytes.data[i] ^= 0x81;
        reader = base_reader_make(bytes.data, bytes.size);
        (void)!ecs_storage_read_indices(world, &reader); // it must not fail in any other way
        ecs_storage_clear(world);
        bytes.data[i] ^= 0x81;
    }
    base_bytes_deinit(&bytes);
}
