// SPDX-License-Identifier: MIT
/// Parents and children (P13), ordered destruction (S5.10), complete composites (S5.15).
#include "loading/load_world.h"

static void set_raw(load* fixture, ecs_entity child, ecs_entity parent) {
    assert_ok(ecs_set(fixture->world, child, fixture->parent, &parent));
}

static void expect_children(load* fixture, ecs_entity parent, const ecs_entity* children,
                            uint32_t count) {
    uint32_t found = 0;
    for (ecs_entity child = ecs_hierarchy_first(fixture->world, parent); child != ECS_ENTITY_NONE;
         child = ecs_hierarchy_next(fixture->world, child)) {
        assert_true(found < count);
        assert_int_equal(child, children[found++]);
    }
    assert_int_equal(found, count);
}

CASE(a_world_without_the_component_has_no_families) {
    ecs_world* world = world_of("a { hp:i=1 }\n");
    assert_ok(ecs_world_seal(world, NULL));
    ecs_entity a = ECS_ENTITY_NONE;
    assert_ok(ecs_create(world, ecs_template_find(world, "a"), NULL, 0, &a));
    assert_int_equal(ecs_component_find(world, ECS_PARENT_NAME), ECS_COMPONENT_NONE);
    assert_int_equal(ecs_hierarchy_set_parent(world, a, a), ECS_ERR_MISSING);
    assert_int_equal(ecs_hierarchy_first(world, a), ECS_ENTITY_NONE);
    assert_true(ecs_is_complete(world, a));
    ecs_world_destroy(world);
}

CASE(a_parent_of_another_type_is_refused_by_seal) {
    ecs_world* world = world_of("a { ecs.parent:i=1 }\n");
    seal_refused(world, ECS_ERR_TYPE, "must be eid");
    ecs_world_destroy(world);
}

LOAD_CASE(a_batch_of_deaths_takes_families_along) {
    ecs_entity parents[64];
    assert_ok(ecs_create_many(at->world, at->plain, 64, parents));
    for (uint32_t i = 0; i < 64; i += 3) {
        (void)load_child(at, at->limb, parents[i]);
        (void)load_child(at, at->limb, parents[i]);
    }
    for (uint32_t i = 0; i < 64; i++)
        assert_true(ecs_command_destroy(at->world, parents[i]));
    ecs_command_flush(at->world);
    assert_int_equal(ecs_world_entity_count(at->world), 0);
}

static void adopt_all(const ecs_stage* stage, const ecs_rows* rows) {
    ecs_entity* parents = rows->columns[0];
    ecs_entity keeper = *(const ecs_entity*)stage->context;
    for (uint32_t i = 0; i < rows->count; i++)
        parents[i] = rows->entities[i] == keeper ? ECS_ENTITY_NONE : keeper;
}

LOAD_OPEN_CASE(a_system_may_write_parents) {
    ecs_entity keeper = ECS_ENTITY_NONE;
    system_add(at->world, .name = "adopt", .stage = "act", .run = adopt_all,
               TERMS({"ecs.parent", "eid", ECS_WRITE}), .context = &keeper);
    load_seal(at);
    ecs_entity c[3];
    for (uint32_t i = 0; i < 3; i++)
        c[i] = load_child(at, at->limb, ECS_ENTITY_NONE);
    keeper = c[0];
    load_step(at);
    expect_children(at, c[0], c + 1, 2);
    // Two walks write between two steps. The test checks the result of each walk.
    ecs_step step = {.tick = 2, .dt = 0.5f};
    for (uint32_t i = 0; i < 3; i++) {
        const ecs_entity others[] = {c[i == 0 ? 1 : 0], c[i == 2 ? 1 : 2]};
        keeper = c[i];
        ecs_world_run_stage(at->world, 0, &step);
        expect_children(at, c[i], others, 2);
    }
}

static void apply_net(load* fixture, ecs_entity handle, ecs_entity parent) {
    ecs_init init = {fixture->parent, &parent};
    assert_ok(ecs_create_at(fixture->world, handle, fixture->net, &init, 1));
}

// P13 on a mirror
LOAD_WITH_CASE(on_a_mirror_a_child_may_come_first_and_nothing_cascades,
               at->config.is_mirror = true) {
    ecs_world* world = at->world;
    ecs_entity parent = ecs_entity_make(9, 2), child = ecs_entity_make(5, 1);
    apply_net(at, child, parent);
    assert_int_equal(ecs_hierarchy_parent(world, child), ECS_ENTITY_NONE);
    // An older incarnation of the index.
    apply_net(at, ecs_entity_make(9, 1), ECS_ENTITY_NONE);
    assert_int_equal(ecs_hierarchy_parent(world, child), ECS_ENTITY_NONE);
    expect_children(at, ecs_entity_make(9, 1), NULL, 0);
    assert_ok(ecs_destroy(world, ecs_entity_make(9, 1)));
    apply_net(at, parent, ECS_ENTITY_NONE);
    assert_int_equal(ecs_hierarchy_parent(world, child), parent);
    expect_children(at, parent, &child, 1);
    // Half of a swap: walks end, and no link is cut.
    set_raw(at, parent, child);
    assert_int_equal(ecs_hierarchy_parent(world, parent), child);
    const ecs_entity other = ecs_entity_make(6, 1);
    apply_net(at, other, ECS_ENTITY_NONE);
    assert_int_equal(ecs_hierarchy_set_parent(world, child, parent), ECS_ERR_CYCLE);
    assert_ok(ecs_hierarchy_set_parent(world, other, parent));
    assert_ok(ecs_destroy(world, other));
    assert_int_equal(ecs_world_counters(world)->parents_cut, 0);
    set_raw(at, child, ECS_ENTITY_NONE);
    assert_int_equal(ecs_hierarchy_parent(world, parent), child);
    // On a mirror the server destroys entities.
    assert_ok(ecs_destroy(world, child));
    assert_true(ecs_is_alive(world, parent));
    assert_int_equal(ecs_hierarchy_parent(world, parent), ECS_ENTITY_NONE);
}

LOAD_CASE(steady_families_ask_for_no_memory) {
    uint64_t calls = 0;
    for (uint32_t tick = 0; tick < 200; tick++) {
        ecs_entity root = load_child(at, at->limb, ECS_ENTITY_NONE);
        ecs_entity previous = root;
        for (uint32_t i = 0; i < 10; i++)
            previous = load_child(at, at->limb, i % 3 ? previous : root);
        assert_true(ecs_is_complete(at->world, root));
        assert_true(ecs_command_destroy(at->world, root));
        load_step(at);
        ecs_changes_clear(at->world);
        if (tick == 150) calls = at->memory.calls;
    }
    assert_int_equal(at->memory.calls, calls);
    assert_int_equal(ecs_world_entity_count(at->world), 0);
}
