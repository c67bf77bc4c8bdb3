// SPDX-License-Identifier: MIT
// Interest and replicator together: how a change of template changes which clients see an entity.
// (In Dagor a recreation was not replicated. Here a recreation once ended, for some ticks, entities
// that were in scope only because they had been in scope before.)
#include "interest/interest_world.h"

typedef struct stage {
    interest_table t;
    net_replicator* replicator;
    net_repl_state* repl;
    ecs_entity player;
} stage;

static void stage_open(stage* s, const char* together) {
    net_interest_rules rules = interest_rules();
    rules.together = together;
    interest_open(&s->t, &rules, NULL);
    s->player = interest_make(&s->t, "unit", 0, 0);
    const net_replicator_config config = {
        .rows = s->t.rows, .index_max = SCOPES_INDEX_MAX - 1, .interest = s->t.interest};
    s->replicator = net_replicator_create(&config);
    net_interest_add_client(s->t.interest, 1);
    net_interest_set_player(s->t.interest, 1, s->player);
    s->repl = net_repl_state_create(s->replicator, 1);
}

static void stage_close(stage* s) {
    net_repl_state_destroy(s->repl);
    net_replicator_destroy(s->replicator);
    interest_close(&s->t);
}

static void stage_step(stage* s, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        const ecs_step step = {.tick = ++s->t.tick, .dt = 0.05f};
        ecs_world_step(s->t.world, &step);
        net_replicator_step(s->replicator, s->t.world, s->t.tick);
        ecs_changes_clear(s->t.world);
        net_replicator_publish(s->replicator);
    }
}

static void become(stage* s, ecs_entity entity, const char* name) {
    ecs_template_id id = ecs_template_find(s->t.world, name);
    assert_ok(ecs_recreate(s->t.world, entity, id, NULL, 0));
}

#define STAGE_CASE(name, group) CASE_WITH(stage, s, stage_open(s, group), stage_close(s), name)

STAGE_CASE(in_the_margin_of_sight_another_template_changes_nothing, NULL) {
    ecs_entity dot = interest_make(&s->t, "dot", 0, SCOPES_RADIUS - 1);
    stage_step(s, 1);
    assert_true(net_repl_state_sees(s->repl, dot, NULL));
    interest_move(&s->t, dot, 0, SCOPES_RADIUS * 1.1f);
    stage_step(s, 2 * SCOPES_HZ);
    assert_true(net_repl_state_sees(s->repl, dot, NULL));
    become(s, dot, "unit");
    for (uint32_t i = 0; i < 8; i++) {
        stage_step(s, 1);
        assert_true(net_repl_state_sees(s->repl, dot, NULL));
    }
    interest_move(&s->t, dot, 0, SCOPES_RADIUS * 1.2f);
    stage_step(s, 2 * SCOPES_HZ);
    assert_false(net_repl_state_sees(s->repl, dot, NULL));
}

STAGE_CASE(company_stays_when_one_of_it_becomes_something_else, "whole") {
    ecs_entity parts[2];
    for (uint32_t i = 0; i < 2; i++) {
        parts[i] = interest_make(&s->t, "part", 0, SCOPES_RADIUS - 1);
        interest_set(&s->t, parts[i], s->t.whole, 7);
    }
    stage_step(s, 4);
    interest_move(&s->t, parts[0], 0, SCOPES_RADIUS * 1.1f);
    interest_move(&s->t, parts[1], 0, SCOPES_RADIUS * 1.1f);
    stage_step(s, 2 * SCOPES_HZ);
    become(s, parts[0], "bare");
    for (uint32_t i = 0; i < 8; i++) {
        stage_step(s, 1);
        assert_true(net_repl_state_sees(s->repl, parts[0], NULL));
        assert_true(net_repl_state_sees(s->repl, parts[1], NULL));
    }
}

STAGE_CASE(another_generation_of_an_index_is_not_seen_for_its_sake, NULL) {
    ecs_entity dot = interest_make(&s->t, "dot", 0, 1);
    stage_step(s, 1);
    assert_ok(ecs_destroy(s->t.world, dot));
    ecs_entity far = interest_make(&s->t, "dot", 0, SCOPES_RADIUS * 3);
    stage_step(s, 1);
    assert_false(net_repl_state_sees(s->repl, dot, NULL));
    assert_false(net_repl_state_sees(s->repl, far, NULL));
}

// A client that loses the ownership of an entity in the step of its recreation also loses the
// entity.
STAGE_CASE(who_owned_it_before_does_not_keep_what_becomes_something_else, NULL) {
    ecs_entity far = interest_make(&s->t, "unit", 0, SCOPES_RADIUS * 3);
    interest_set(&s->t, far, s->t.mine, 1);
    stage_step(s, 8);
    uint32_t classes = 0;
    assert_true(net_repl_state_sees(s->repl, far, &classes));
    assert_true(classes >> NET_CLASS_OWNER & 1);
    become(s, far, "bare");
    stage_step(s, 8);
    assert_true(net_repl_state_sees(s->repl, far, NULL)); // it still belongs to the client
    interest_set(&s->t, far, s->t.mine, 2);
    become(s, far, "unit");
    stage_step(s, NET_INTEREST_EVERY_TICKS);
    assert_false(net_repl_state_sees(s->repl, far, NULL));
}
