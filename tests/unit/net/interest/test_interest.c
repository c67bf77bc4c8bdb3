// SPDX-License-Identifier: MIT
#include "interest_world.h"

enum {
    PUBLIC = 1u << NET_CLASS_PUBLIC,
    OWNER = 1u << NET_CLASS_OWNER,
    TEAM = 1u << NET_CLASS_TEAM
};

static void open_with_rules(interest_table* t) {
    net_interest_rules rules = interest_rules();
    interest_open(t, &rules, NULL);
}

// Add client 1. Its player stands at 0,0.
static void open_with_player(interest_table* t) {
    open_with_rules(t);
    t->player = interest_make(t, "unit", 0, 0);
    interest_join(t, 1, t->player);
}

// As of the last step, what clients see is what explain says.
static void check_and_close(interest_table* t) {
    interest_expect_checked(t);
    interest_close(t);
}

#define RULED_CASE(name) CASE_WITH(interest_table, t, open_with_rules(t), check_and_close(t), name)
#define PLAYER_CASE(name)                                                                          \
    CASE_WITH(interest_table, t, open_with_player(t), check_and_close(t), name)

CASE_WITH(interest_table, t, interest_open(t, NULL, NULL), check_and_close(t),
          without_rules_everybody_sees_everything) {
    ecs_entity dot = interest_make(t, "dot", 9000, 0), flag = interest_make(t, "flag", 0, 0);
    ecs_entity shade = interest_make(t, "shade", 0, 0);
    interest_join(t, 1, ECS_ENTITY_NONE);
    interest_step(t);
    assert_true(interest_sees(t, 1, dot) && interest_sees(t, 1, flag));
    assert_false(interest_sees(t, 1, shade)); // it has no replicated component
    interest_join(t, 2, ECS_ENTITY_NONE);
    ecs_entity late = interest_make(t, "unit", 0, 0);
    interest_step(t);
    assert_int_equal(interest_classes(t, 1, late), PUBLIC);
    assert_int_equal(t->members[2].count, 3);
    interest_expect_checked(t);
    for (uint32_t i = 0; i < 8; i++) {
        interest_move(t, dot, 10.0f * (float)i, 0);
        interest_step(t);
        assert_int_equal(t->queries, 0);
    }
    assert_ok(ecs_destroy(t->world, late));
    interest_step(t);
    assert_int_equal(t->members[1].count, 2);
}

PLAYER_CASE(weight_falls_in_four_bands_of_distance) {
    static const struct {
        float x;
        uint32_t weight;
    } rows[] = {{25, 8}, {25.1f, 4}, {50, 4}, {50.1f, 2}, {75, 2}, {75.1f, 1}, {100, 1}};
    ecs_entity dot = interest_make(t, "dot", 0, 0), flag = interest_make(t, "flag", 0, 0);
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        interest_move(t, dot, 0, rows[i].x);
        interest_round(t);
        assert_int_equal(interest_member_of(t, 1, ecs_entity_index(dot))->weight, rows[i].weight);
    }
    assert_int_equal(interest_member_of(t, 1, ecs_entity_index(flag))->weight, 8);
}

PLAYER_CASE(positions_that_are_no_numbers_are_seen_by_nobody_and_harm_nothing) {
    const float nan = __builtin_nanf(""), huge = 3e38f, inf = __builtin_inff();
    ecs_entity odd[] = {interest_make(t, "dot", nan, 0), interest_make(t, "dot", 0, huge),
                        interest_make(t, "dot", -inf, inf)};
    ecs_entity dot = interest_make(t, "dot", 0, 0);
    interest_round(t);
    for (uint32_t i = 0; i < BASE_COUNT(odd); i++)
        assert_false(interest_sees(t, 1, odd[i]));
    assert_true(interest_sees(t, 1, dot));
    net_interest_set_viewpoint(t->interest, 1, (float[]){nan, inf, -huge}, nan);
    interest_steps(t, 2 * SCOPES_HZ);
    assert_false(interest_sees(t, 1, dot));
    // A query of the whole grid, once.
    net_interest_set_viewpoint(t->interest, 1, (float[]){0, 0, 0}, 1e9f);
    interest_step(t);
    assert_true(interest_sees(t, 1, dot));
}

CASE(without_a_radius_only_groups_keep_things_apart) {
    interest_table t;
    net_interest_rules rules = interest_rules();
    rules.radius = 0;
    interest_open(&t, &rules, NULL);
    ecs_entity player = interest_make(&t, "unit", 0, 0), far = interest_make(&t, "dot", 90000, 0);
    ecs_entity guest = interest_make(&t, "guest", 1, 0);
    interest_set(&t, guest, t.door, 8);
    interest_join(&t, 1, player);
    interest_join(&t, 2, ECS_ENTITY_NONE);
    interest_step(&t);
    assert_true(interest_sees(&t, 1, far) && interest_sees(&t, 2, player));
    assert_false(interest_sees(&t, 1, guest));
    net_interest_set_groups(t.interest, 1, 8);
    net_interest_set_viewpoint(t.interest, 1, (float[]){0, 0, 0}, 5); // the call has no effect
    interest_step(&t);
    assert_true(interest_sees(&t, 1, guest) && !interest_sees(&t, 2, guest));
    interest_expect_checked(&t);
    interest_round(&t);
    interest_move(&t, far, 3, 3);
    interest_round(&t);
    assert_int_equal(t.queries, 0);
    interest_close(&t);
}

static const char deep_text[] = "fish { \"at:p3\"{ _track:b=yes } \"hp:i\"{ _replicate:b=yes } }\n";

CASE(height_is_a_distance_too) {
    interest_table t;
    net_interest_rules rules = {
        .size_bytes = sizeof rules, .position = "at", .radius = SCOPES_RADIUS};
    interest_open_with(&t, deep_text, &rules, NULL, NULL);
    base_rng rng = base_rng_make(5, 1);
    static ecs_vec3 places[2000];
    static ecs_entity fish[2000];
    for (uint32_t i = 0; i < BASE_COUNT(fish); i++) {
        places[i] = (ecs_vec3){base_rng_float(&rng) * 600, base_rng_float(&rng) * 600 - 300,
                               base_rng_float(&rng) * 600};
        const ecs_init init = {t.at, &places[i]};
        assert_ok(ecs_create(t.world, ecs_template_find(t.world, "fish"), &init, 1, &fish[i]));
    }
    interest_join(&t, 1, ECS_ENTITY_NONE);
    for (uint32_t turn = 0; turn < 8; turn++) {
        float at[3] = {base_rng_float(&rng) * 600, base_rng_float(&rng) * 600 - 300,
                       base_rng_float(&rng) * 600};
        interest_leave(&t, 1); // the interest keeps nothing of the client
        interest_join(&t, 1, ECS_ENTITY_NONE);
        net_interest_set_viewpoint(t.interest, 1, at, 0);
        if (turn % 2) interest_join(&t, 2, fish[turn]);
        interest_step(&t);
        if (turn % 2) interest_leave(&t, 2);
        uint32_t count = 0;
        for (uint32_t i = 0; i < BASE_COUNT(fish); i++) {
            float x = at[0] - places[i].x, y = at[1] - places[i].y, z = at[2] - places[i].z;
            bool is_near = x * x + y * y + z * z <= SCOPES_RADIUS * SCOPES_RADIUS;
            assert_int_equal(interest_sees(&t, 1, fish[i]), is_near);
            count += is_near;
        }
        assert_true(count > 0);
    }
    interest_close(&t);
}

// ---- turns ----

RULED_CASE(turns_are_spread_over_the_ticks) {
    ecs_entity dot = interest_make(t, "dot", 0, 0);
    for (uint32_t c = 1; c <= 8; c++)
        interest_join(t, c, interest_make(t, "unit", (float)c, 0));
    interest_step(t);
    for (uint32_t i = 0; i < 12; i++) {
        interest_move(t, dot, (float)i, 1);
        interest_step(t);
        assert_int_equal(t->queries, 2);
    }
    interest_leave(t, 3);
    interest_join(t, 9, ECS_ENTITY_NONE);
    assert_false(net_interest_is_due(t->interest, 3));
    interest_move(t, dot, 5, 5);
    interest_step(t);
    // The new client, and the client that is next in turn.
    assert_true(t->queries >= 2 && t->queries <= 3);
}

PLAYER_CASE(a_client_who_was_not_asked_stays_due) {
    t->tick++;
    ecs_step step = {.tick = t->tick, .dt = 0.05f};
    for (uint32_t i = 0; i < 3; i++, step.tick++) {
        ecs_world_step(t->world, &step);
        net_history_step(t->history, t->world, step.tick);
        net_interest_step(t->interest, t->history, step.tick);
        ecs_changes_clear(t->world);
        assert_true(net_interest_is_due(t->interest, 1));
    }
    interest_take_query(t, 1);
    assert_int_equal(t->members[1].count, 1);
    t->tick = step.tick;
    interest_step(t);
    assert_false(net_interest_is_due(t->interest, 1));
}

// Eight clients in two rows, 1,100 apart: an entity that changes sides beside one of them is
// nothing to the others. With many changes all look again in their turns.
RULED_CASE(a_change_of_sides_concerns_who_sees_the_entity) {
    enum { CLIENTS = 8, CROWD = NET_INTEREST_CONCERNED_MAX + 1 };
    ecs_entity units[CROWD], players[CLIENTS + 1];
    for (uint32_t c = 1; c <= CLIENTS; c++) {
        players[c] = interest_make(t, "unit", (float)c * 1100, (float)(c & 1) * 400);
        interest_join(t, c, players[c]);
        interest_set(t, players[c], t->side, 7);
    }
    for (uint32_t i = 0; i < CROWD; i++)
        units[i] = interest_make(t, "unit", 3301, 400 + (float)i / CROWD);
    interest_steps(t, 40 * NET_INTEREST_EVERY_TICKS); // until no entity is young
    interest_step(t);
    assert_int_equal(t->queries, 0);
    interest_set(t, units[0], t->side, 7);
    interest_step(t);
    assert_int_equal(t->queries, 1);
    assert_int_equal(t->changed, 1);
    assert_true(interest_classes(t, 3, units[0]) & TEAM);
    interest_set(t, units[0], t->side, 0); // taken back at once
    interest_step(t);
    assert_int_equal(t->queries, 1);
    assert_false(interest_classes(t, 3, units[0]) & TEAM);
    interest_set(t, units[0], t->mine, 5); // its owner is far away
    interest_step(t);
    assert_int_equal(t->queries, 2);
    assert_true(interest_sees(t, 5, units[0]) && interest_sees(t, 3, units[0]));
    interest_set(t, units[0], t->mine, 0);
    interest_step(t);
    assert_int_equal(t->queries, 2);
    for (uint32_t i = 0; i < CROWD; i++)
        interest_set(t, units[i], t->side, 7);
    uint32_t queries = 0;
    for (uint32_t i = 0; i < NET_INTEREST_EVERY_TICKS; i++) {
        interest_step(t);
        queries += t->queries;
    }
    assert_in_range(queries, CLIENTS, CLIENTS + 1);
    for (uint32_t i = 0; i < CROWD; i++)
        assert_true(interest_classes(t, 3, units[i]) & TEAM);
}

// What is set while a client is held counts when it is held no longer.
PLAYER_CASE(a_held_client_gets_no_turn) {
    ecs_entity room = interest_make(t, "room", 0, 0);
    interest_set(t, room, t->door, 2);
    interest_step(t);
    interest_join(t, 2, t->player);
    net_interest_hold(t->interest, 2, true);
    net_interest_set_groups(t->interest, 2, 2);
    for (uint32_t i = 0; i < 3; i++) {
        interest_move(t, t->player, (float)i, 5);
        interest_round(t);
        assert_false(net_interest_is_due(t->interest, 2));
        assert_int_equal(t->members[2].count, 0);
    }
    net_interest_hold(t->interest, 2, false);
    interest_step(t);
    assert_true(interest_sees(t, 2, room) && interest_sees(t, 2, t->player));
}

PLAYER_CASE(clients_that_are_not_there_are_ignored) {
    interest_step(t);
    net_interest_set_groups(t->interest, 7, 1);
    net_interest_set_player(t->interest, 7, 1);
    net_interest_set_viewpoint(t->interest, 7, (float[]){0, 0, 0}, 0);
    net_interest_clear_viewpoint(t->interest, 7);
    net_interest_refresh(t->interest, 7);
    net_interest_remove_client(t->interest, 7);
    assert_false(net_interest_is_due(t->interest, 7));
    net_interest_answer answer;
    net_interest_query(t->interest, 0, 7, NULL, 0, &answer);
    assert_int_equal(answer.enter_count + answer.leave_count + answer.changed_count, 0);
    assert_int_equal(net_rows_class(t->rows, "public"), NET_CLASS_PUBLIC);
    assert_int_equal(net_rows_class(t->rows, "team"), NET_CLASS_TEAM);
    assert_int_equal(net_rows_class(t->rows, "agents"), 3);
    assert_int_equal(net_rows_class(t->rows, "absent"), UINT32_MAX);
}

PLAYER_CASE(validating_finds_copies_that_disagree) {
    ecs_entity dot = interest_make(t, "dot", 10, 0);
    interest_step(t);
    net_interest_validate(t->interest);
    net_interest_place* place = &t->interest->places[ecs_entity_index(dot)];
    place->facts.has_position = false; // it is still in the grid
    expect_assert_failure(net_interest_validate(t->interest));
    place->facts.has_position = true;
    t->interest->entities.count++;
    expect_assert_failure(net_interest_validate(t->interest));
    t->interest->entities.count--;
    t->interest->clients[0].order = 1; // the order of the only client is 0
    expect_assert_failure(net_interest_validate(t->interest));
    t->interest->clients[0].order = 0;
    net_interest_validate(t->interest);
    assert_true(interest_sees(t, 1, t->player));
}
