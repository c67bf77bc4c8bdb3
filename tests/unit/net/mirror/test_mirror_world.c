// SPDX-License-Identifier: MIT
// The effects of a mirror on its world: references, resources that load, families, and components
// that other code changed.

#include "mirror_world.h"

// ---- references ----

// Fill `row` with the words of a holder: body (mass, kind, spin twice), then link.
static const uint64_t* holder_of(const mirror_side* m, uint64_t row[5], ecs_entity link) {
    memcpy(row, m->holder->defaults, 5 * sizeof *row);
    row[4] = link;
    return row;
}

MIRROR_CASE(references_hold_handles_and_let_them_go) {
    ecs_world* world = m->side.world;
    ecs_entity holder = ecs_entity_make(1, 1), far = ecs_entity_make(MIRROR_INDEX_MAX, 5);
    uint64_t to_far[5], to_ball[5], to_odd[5];
    (void)holder_of(m, to_far, far);
    (void)holder_of(m, to_ball, ball);
    (void)holder_of(m, to_odd, MIRROR_INDEX_MAX + 1);
    assert_int_equal(m->holder->layout.field_count, 5);
    assert_ok(mirror_create_at(m, 1, 0, holder, m->holder, to_far));
    assert_int_equal(ecs_state(world, far), ECS_STATE_ALLOCATED);
    // A reference to an entity that arrives later.
    assert_ok(mirror_update_at(m, 2, 0, m->holder, 1, to_far, to_ball));
    assert_int_equal(ecs_state(world, far), ECS_STATE_NONE);
    assert_int_equal(ecs_state(world, ball), ECS_STATE_ALLOCATED);
    assert_ok(mirror_create_at(m, 3, 1, ball, m->mover, words[0]));
    assert_int_equal(ecs_state(world, ball), ECS_STATE_CREATED);
    assert_ok(mirror_destroy_at(m, 4, 1));
    assert_int_equal(ecs_state(world, ball), ECS_STATE_ALLOCATED);
    // A late row and a repeated row add no reference.
    assert_ok(mirror_update_at(m, 6, 0, m->holder, 4, to_ball, to_ball));
    assert_ok(mirror_update_at(m, 5, 0, m->holder, 3, to_ball, to_far));
    assert_ok(mirror_update_at(m, 6, 0, m->holder, 4, to_ball, to_ball));
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 1);
    // In another slot the entity keeps its one reference.
    assert_ok(mirror_create_at(m, 7, 5, holder, m->holder, to_ball));
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 1);
    // A recreation without the field drops the reference.
    assert_ok(mirror_create_at(m, 8, 5, holder, m->mover, words[0]));
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 0);
    // The mirror writes values that are no replicated handles, and adds no reference for them.
    assert_ok(mirror_create_at(m, 9, 5, holder, m->holder, to_odd));
    mirror_expect(m, holder, m->holder, to_odd);
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 0);
    // When the entity is destroyed or evicted, it drops its reference.
    assert_ok(mirror_absolute_at(m, 10, 5, m->holder, to_far));
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 1);
    assert_ok(mirror_create_at(m, 11, 5, other, m->mover, words[0]));
    assert_int_equal(ecs_handle_count(world, ECS_STATE_ALLOCATED), 0);
}

// ---- components that other code changed ----

static net_mirror_probe_result sample(const mirror_side* m, uint32_t slot, ecs_tick tick,
                                      const net_row_template* entry, const uint64_t* row,
                                      ecs_entity* entity) {
    net_mirror_difference difference;
    net_mirror_probe_result result = net_mirror_check_probe(
        m->mirror, slot, tick, (uint16_t)net_row_hash(entry, row), &difference);
    if (entity) *entity = difference.entity;
    return result;
}

MIRROR_CASE(a_sample_finds_what_the_world_does_not_hold) {
    ecs_entity who = ball;
    assert_int_equal(sample(m, 0, 1, m->mover, words[0], &who), NET_MIRROR_UNKNOWN);
    assert_int_equal(who, ECS_ENTITY_NONE);
    assert_ok(mirror_create_at(m, 1, 0, ball, m->mover, words[0]));
    assert_int_equal(sample(m, 0, 1, m->mover, words[0], NULL), NET_MIRROR_EQUAL);
    assert_int_equal(sample(m, 0, 1, m->mover, words[1], &who), NET_MIRROR_DIFFERS);
    assert_int_equal(who, ball);
    assert_int_equal(sample(m, 0, 2, m->mover, words[1], NULL), NET_MIRROR_UNKNOWN);
    assert_int_equal(sample(m, 1, 1, m->mover, words[0], NULL), NET_MIRROR_UNKNOWN);
    assert_int_equal(sample(m, UINT32_MAX, 1, m->mover, words[0], NULL), NET_MIRROR_UNKNOWN);
    // Other code writes a value that belongs to the server.
    repl_move(&m->side, ball, 77, 78);
    assert_int_equal(sample(m, 0, 1, m->mover, words[0], &who), NET_MIRROR_DIFFERS);
    assert_int_equal(who, ball);
    // The mirror ignores a difference below one quantum, and does not compare values that belong to
    // the client.
    assert_ok(mirror_absolute_at(m, 2, 0, m->mover, words[0]));
    ecs_vec2* pos = ecs_get_mut(m->side.world, ball, m->side.pos);
    pos->x += 0.01f;
    *(int32_t*)ecs_get_mut(m->side.world, ball, m->side.secret) = 99;
    assert_int_equal(sample(m, 0, 2, m->mover, words[0], NULL), NET_MIRROR_EQUAL);
    assert_ok(mirror_destroy_at(m, 3, 0));
    assert_int_equal(sample(m, 0, 3, m->mover, words[0], NULL), NET_MIRROR_UNKNOWN);
}

static bool sweep_all(const mirror_side* m, net_mirror_difference* found) {
    bool is_found = false;
    for (uint32_t i = 0; i < NET_MIRROR_SWEEP_CALLS && !is_found; i++)
        is_found = net_mirror_sweep(m->mirror, found);
    return is_found;
}

MIRROR_CASE(what_moves_is_compared_with_the_row_of_the_named_tick) {
    net_mirror_difference found;
    assert_false(net_mirror_sweep(m->mirror, &found));
    assert_ok(mirror_create_at(m, 1, 0, ball, m->mover, words[0]));
    assert_ok(mirror_update_at(m, 2, 0, m->mover, 1, words[0], words[1]));
    // Tick 1 is not the newest any more: its row is compared all the same.
    assert_int_equal(sample(m, 0, 1, m->mover, words[0], NULL), NET_MIRROR_EQUAL);
    assert_int_equal(sample(m, 0, 1, m->mover, words[1], NULL), NET_MIRROR_DIFFERS);
    assert_int_equal(sample(m, 0, 2, m->mover, words[1], NULL), NET_MIRROR_EQUAL);
    assert_int_equal(sample(m, 0, 3, m->mover, words[1], NULL), NET_MIRROR_UNKNOWN);
    assert_false(sweep_all(m, &found));
    // Other code writes a component that the next rows do not touch.
    repl_move(&m->side, ball, 77, 78);
    assert_int_equal(sample(m, 0, 1, m->mover, words[0], NULL), NET_MIRROR_DIFFERS);
    assert_true(sweep_all(m, &found));
    assert_int_equal(found.entity, ball);
    assert_int_equal(found.component, m->side.pos);
    assert_int_equal(net_mirror_whole_tick(m->mirror, ball), 1);
    assert_ok(mirror_absolute_at(m, 3, 0, m->mover, words[1]));
    assert_int_equal(net_mirror_whole_tick(m->mirror, ball), 3);
    assert_int_equal(net_mirror_whole_tick(m->mirror, ECS_ENTITY_NONE), 0);
    assert_false(sweep_all(m, &found));
    repl_destroy(&m->side, ball);
    assert_true(sweep_all(m, &found));
    assert_int_equal(found.component, ECS_COMPONENT_NONE);
}

BALL_CASE(what_is_told_absolutely_resyncs_the_world, 1, 0) {
    repl_move(&m->side, ball, 77, 78);
    // An update writes the fields that changed since the last row. The other fields stay wrong.
    assert_ok(mirror_update_at(m, 2, 0, m->mover, 1, words[0], (const uint64_t[]){200, 8, 9}));
    assert_true(((const ecs_vec2*)ecs_get(m->side.world, ball, m->side.pos))->x == 77.0f);
    assert_ok(mirror_absolute_at(m, 3, 0, m->mover, (const uint64_t[]){200, 8, 9}));
    mirror_expect(m, ball, m->mover, (const uint64_t[]){200, 8, 9});
    // A create of a living entity does the same.
    repl_move(&m->side, ball, 77, 78);
    assert_ok(mirror_create_at(m, 4, 0, ball, m->mover, words[0]));
    mirror_expect(m, ball, m->mover, words[0]);
    assert_int_equal(mirror_counters(m)->creates, 1);
    // Other code changed the template of one entity and destroyed another.
    repl_become(&m->side, ball, m->side.extra);
    assert_int_equal(sample(m, 0, 4, m->mover, words[0], NULL), NET_MIRROR_DIFFERS);
    assert_ok(mirror_absolute_at(m, 5, 0, m->mover, words[1]));
    mirror_expect(m, ball, m->mover, words[1]);
    repl_destroy(&m->side, ball);
    ecs_entity who;
    assert_int_equal(sample(m, 0, 5, m->mover, words[1], &who), NET_MIRROR_DIFFERS);
    assert_int_equal(who, ball);
    assert_ok(mirror_absolute_at(m, 6, 0, m->mover, words[2]));
    mirror_expect(m, ball, m->mover, words[2]);
}

// ---- resources ----

static const uint64_t places[5][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};

// The components are mesh (not replicated) and pos.
MIRROR_CASE(an_entity_that_waits_for_resources_follows_the_server) {
    slow_loader slow;
    load_slowly(m->side.world, &slow);
    ecs_world* world = m->side.world;
    assert_int_equal(m->model->layout.field_count, 2);
    assert_ok(mirror_create_at(m, 1, 0, ball, m->model, places[0]));
    assert_int_equal(ecs_state(world, ball), ECS_STATE_LOADING);
    assert_int_equal(sample(m, 0, 1, m->model, places[1], NULL), NET_MIRROR_UNKNOWN);
    assert_ok(mirror_update_at(m, 2, 0, m->model, 1, places[0], places[1]));
    // In another slot the entity continues to load.
    assert_ok(mirror_create_at(m, 3, 6, ball, m->model, places[2]));
    assert_int_equal(ecs_loading_poll(world), 0);
    assert_int_equal(slow.asked, 1);
    assert_int_equal(ecs_state(world, ball), ECS_STATE_LOADING);
    slow.is_done = slow.is_loaded = true;
    assert_int_equal(ecs_loading_poll(world), 1);
    mirror_expect(m, ball, m->model, places[2]);
    assert_int_equal(sample(m, 6, 3, m->model, places[2], NULL), NET_MIRROR_EQUAL);
    assert_ok(mirror_update_at(m, 4, 6, m->model, 1, places[2], places[3]));
    mirror_expect(m, ball, m->model, places[3]);
    // An entity that changes to a template without resources is complete at once.
    load_slowly(m->side.world, &slow); // nothing is known any more
    assert_ok(mirror_create_at(m, 5, 0, other, m->model, places[0]));
    assert_int_equal(ecs_state(world, other), ECS_STATE_LOADING);
    assert_ok(mirror_create_at(m, 6, 0, other, m->mover, words[0]));
    assert_false(ecs_loading_count(world));
    mirror_expect(m, other, m->mover, words[0]);
}

MIRROR_CASE(one_that_cannot_be_loaded_is_not_shown_and_harms_nobody) {
    slow_loader slow;
    load_slowly(m->side.world, &slow);
    ecs_world* world = m->side.world;
    assert_ok(mirror_create_at(m, 1, 0, ball, m->model, places[0]));
    slow.is_done = true;
    assert_int_equal(ecs_loading_poll(world), 0);
    assert_int_equal(ecs_state(world, ball), ECS_STATE_NONE);
    for (uint32_t i = 1; i < 5; i++)
        assert_ok(mirror_update_at(m, 1 + i, 0, m->model, 1, places[i - 1], places[i]));
    assert_int_equal(slow.asked, 1);
    // The mirror requests no resync for a difference that packet loss did not cause.
    assert_int_equal(sample(m, 0, 5, m->model, places[4], NULL), NET_MIRROR_UNKNOWN);
    assert_ok(mirror_destroy_at(m, 6, 0));
    // The server destroys the entity while it loads.
    load_slowly(m->side.world, &slow); // nothing is known any more
    assert_ok(mirror_create_at(m, 7, 0, ball, m->model, places[0]));
    assert_int_equal(ecs_state(world, ball), ECS_STATE_LOADING);
    assert_ok(mirror_destroy_at(m, 8, 0));
    assert_int_equal(ecs_state(world, ball), ECS_STATE_NONE);
    assert_false(ecs_loading_count(world));
}

// ---- families ----

static ecs_entity limb(uint32_t i) {
    return ecs_entity_make(i + 1, 1);
}

static net_result limbs_at(mirror_side* m, ecs_tick tick, const uint32_t* parents) {
    mirror_begin(m);
    pen_creates(&m->pen, 6);
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t parent = parents[i] == i ? ECS_ENTITY_NONE : limb(parents[i]);
        pen_create(&m->pen, i, limb(i), m->limb, &parent);
    }
    pen_runs(&m->pen, 0);
    return mirror_read(m, tick);
}

// Here children have lower slots than their parents, so their records come first.
MIRROR_CASE(families_follow_whatever_the_order_of_records) {
    ecs_world* world = m->side.world;
    assert_ok(limbs_at(m, 1, (const uint32_t[]){4, 4, 4, 5, 5, 5}));
    assert_int_equal(ecs_hierarchy_parent(world, limb(0)), limb(4));
    assert_int_equal(ecs_hierarchy_parent(world, limb(3)), limb(5));
    assert_int_equal(ecs_hierarchy_parent(world, limb(4)), limb(5));
    // Parent and child change places. The mirror applies the two records in either order.
    assert_ok(limbs_at(m, 2, (const uint32_t[]){4, 4, 4, 5, 4, 4}));
    assert_int_equal(ecs_hierarchy_parent(world, limb(3)), limb(5));
    assert_int_equal(ecs_hierarchy_parent(world, limb(5)), limb(4));
    assert_int_equal(ecs_world_counters(world)->parents_cut, 0);
    // The server sends a destroy for each entity. A mirror destroys no other entity with it.
    assert_ok(mirror_destroy_at(m, 3, 4));
    assert_int_equal(ecs_world_entity_count(world), 5);
    for (uint32_t slot = 0; slot < 6; slot++)
        assert_ok(mirror_destroy_at(m, 4 + slot, slot));
    assert_int_equal(ecs_world_entity_count(world), 0);
}
