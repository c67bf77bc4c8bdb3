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
    at->parent = load_child(&at->fixture, at->fixture.limb, ECS_ENTITY_NONE);
    at->child = load_child(&at->fixture, at->fixture.limb, at->parent);
    load_step(&at->fixture);
    ecs_world_validate(at->fixture.world);
}

// A number of the world, and another one that is wrong there.
typedef struct fault {
    void* place; // of its first 32 bits
    uint32_t wrong;
    bool is_left_to_check; // a step would use it
} fault;

static uint32_t list_faults(damage* at, fault* faults) {
    ecs_world* world = at->fixture.world;
    const ecs_record* record = ecs_record_find(world->storage, at->child);
    const uint32_t row = ecs_record_row(record);
    ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    const uint32_t count = ecs_chunk_count(world->storage, chunk);
    assert_true(count < chunk->clean_end);
    const fault all[] = {
        {&chunk->entities[row], at->parent, false}, // a row of another one
        {ecs_chunk_cell(chunk, chunk->archetype->slots[at->fixture.parent], row), at->child,
         false},                                     // unmarked
        {&chunk->entities[count], at->child, false}, // behind the last row
        {&world->tracker->hashes[at->fixture.parent], 7, false},
        {&ecs_link_at(&world->storage->links, ecs_entity_index(at->child))->parent, at->child,
         false},
        {&world->storage->ranges[1].free_count, 3, false},
        {&world->storage->held.allocated_count, 5, false},
        {&world->loading->count, 6, false},
        {&world->events->payload_bytes, 16, false},
        {&world->events->unresolved_count, 1, true},
    };
    memcpy(faults, all, sizeof all);
    return BASE_COUNT(all);
}

CASE_WITH(damage, at, damage_make(at), load_close(&at->fixture), each_damage_is_found) {
    static fault faults[16];
    static uint32_t i, count; // a failed assertion jumps back into the loop
    count = list_faults(at, faults);
    for (i = 0; i < count; i++) {
        uint32_t right;
        memcpy(&right, faults[i].place, sizeof right);
        print_message("fault %u\n", i);
        memcpy(faults[i].place, &faults[i].wrong, sizeof right);
        expect_assert_failure(ecs_world_validate(at->fixture.world));
        if (BASE_VALIDATE_ON && !faults[i].is_left_to_check)
            expect_assert_failure(load_step(&at->fixture));
        memcpy(faults[i].place, &right, sizeof right);
        ecs_world_validate(at->fixture.world);
    }
}
