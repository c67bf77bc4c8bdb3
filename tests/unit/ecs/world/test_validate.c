// SPDX-License-Identifier: MIT
/// ecs_world_validate finds each kind of damage, and a step of a validating build runs it.
#include "loading/load_world.h"

typedef struct damage {
    load fixture;
    ecs_entity parent, child;
} damage;

// Make a valid world with a family of two.
static void damage_make(damage* at) {
    load_make(&at->fixture);
    ecs_world* world = at->fixture.world;
    at->parent = load_child(&at->fixture, at->fixture.limb, ECS_ENTITY_NONE);
    at->child = load_child(&at->fixture, at->fixture.limb, at->parent);
    load_step(&at->fixture);
    ecs_world_validate(world);
}

#define DAMAGE_CASE(name) CASE_WITH(damage, at, damage_make(at), load_close(&at->fixture), name)

// The check itself finds the damage. In a validating build the next step finds it too.
#define EXPECT_FOUND(at)                                                                           \
    do {                                                                                           \
        expect_assert_failure(ecs_world_validate((at)->fixture.world));                            \
        if (BASE_VALIDATE_ON) expect_assert_failure(load_step(&(at)->fixture));                    \
    } while (0)

static ecs_chunk* chunk_of(damage* at, ecs_entity entity, uint32_t* row) {
    const ecs_storage* storage = at->fixture.world->storage;
    const ecs_record* record = ecs_record_find(storage, entity);
    assert_non_null(record);
    *row = ecs_record_row(record);
    return ecs_record_chunk(storage, record);
}

DAMAGE_CASE(a_row_with_another_handle_is_found) {
    uint32_t row = 0;
    ecs_chunk* chunk = chunk_of(at, at->child, &row);
    chunk->entities[row] = at->parent;
    EXPECT_FOUND(at);
    chunk->entities[row] = at->child;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(a_value_that_no_writer_marked_is_found) {
    uint32_t row = 0;
    ecs_chunk* chunk = chunk_of(at, at->child, &row);
    uint16_t column = chunk->slots[at->fixture.parent];
    ecs_entity* value = ecs_chunk_cell(chunk, column, row);
    *value = at->child;
    EXPECT_FOUND(at);
    *value = at->parent;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(bytes_behind_the_last_row_are_found) {
    uint32_t row = 0;
    ecs_chunk* chunk = chunk_of(at, at->child, &row);
    uint32_t count = ecs_chunk_count(at->fixture.world->storage, chunk);
    assert_true(count < chunk->clean_end);
    chunk->entities[count] = at->child;
    EXPECT_FOUND(at);
    chunk->entities[count] = ECS_ENTITY_NONE;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(a_hash_that_is_not_the_sum_is_found) {
    at->fixture.world->tracker->hashes[at->fixture.parent]++;
    EXPECT_FOUND(at);
    at->fixture.world->tracker->hashes[at->fixture.parent]--;
    ecs_world_validate(at->fixture.world);
}

// A separate function: a test case that catches an assertion must not hold the locals of an inlined
// function.
static __attribute__((noinline)) ecs_link* link_of(const damage* at, ecs_entity entity) {
    return ecs_link_at(&at->fixture.world->storage->links, ecs_entity_index(entity));
}

DAMAGE_CASE(a_link_to_another_parent_is_found) {
    ecs_link* link = link_of(at, at->child);
    assert_int_equal(link->parent, at->parent);
    link->parent = at->child;
    EXPECT_FOUND(at);
    link->parent = at->parent;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(a_free_index_that_is_lost_is_found) {
    at->fixture.world->storage->ranges[1].free_count++;
    EXPECT_FOUND(at);
    at->fixture.world->storage->ranges[1].free_count--;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(a_handle_that_is_counted_twice_is_found) {
    at->fixture.world->storage->held.allocated_count++;
    EXPECT_FOUND(at);
    at->fixture.world->storage->held.allocated_count--;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(a_pending_entity_that_is_counted_twice_is_found) {
    at->fixture.world->loading->count++;
    EXPECT_FOUND(at);
    at->fixture.world->loading->count--;
    ecs_world_validate(at->fixture.world);
}

DAMAGE_CASE(an_event_queue_with_a_wrong_count_is_found) {
    ecs_events* events = at->fixture.world->events;
    assert_int_equal(ecs_events_count(events), 0);
    events->payload_bytes = 16;
    EXPECT_FOUND(at);
    events->payload_bytes = 0;
    events->unresolved_count = 1;
    expect_assert_failure(ecs_world_validate(at->fixture.world));
    events->unresolved_count = 0;
    ecs_world_validate(at->fixture.world);
}
