// SPDX-License-Identifier: MIT
// The interest services of a module, and rules that a match refuses.

#include "match_made.h"
#include "breakout_table.h"
#include "hear.h"

#include "game/match.h"

static const char scope_text[] =
    "spot { \"pos:p2\"{ _track:b=yes } \"mana:i\"{ _replicate:b=yes; _visible:t=mages } }\n";

typedef struct scope_game {
    const net_game_services* services;
    uint32_t class_bit;
    bool has_started;
} scope_game;

static ecs_result scope_types(ecs_world* world, const base_reporter* reporter) {
    return breakout_module()->register_types(world, reporter);
}

static ecs_result scope_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    *context = ecs_world_context(world, sizeof(scope_game));
    return ECS_OK;
}

static void scope_start(ecs_world* world, void* context, const net_game_start* start) {
    scope_game* game = context;
    game->has_started = true;
    game->services = start->services;
    if (!start->services) return;
    game->class_bit = start->services->class_bit(start->services->context, "mages");
}

static ecs_entity scope_join(ecs_world* world, void* context, const net_game_player* player) {
    const net_game_services* services = ((scope_game*)context)->services;
    // The client has no player yet, but the services already accept its number.
    if (services) services->set_groups(services->context, player->client, 1u << player->client);
    return ECS_ENTITY_NONE;
}

static const net_interest_rules scope_rules = {
    .size_bytes = sizeof scope_rules, .position = "pos", .radius = 10};

static net_game_module scope_module(const net_interest_rules* rules) {
    net_game_module game = *breakout_module();
    game.register_types = scope_types;
    game.register_systems = scope_systems;
    game.start = scope_start;
    game.player_join = scope_join;
    game.is_rewinding = false;
    game.interest = rules;
    return game;
}

typedef struct scope_match {
    net_module* module;
    net_match* match;
    const net_game_services* services;
} scope_match;

static scope_match open_match(const net_interest_rules* rules) {
    net_game_module game = scope_module(rules);
    scope_match open;
    assert_ok(net_module_wrap(&game, scope_text, "s.blk", NULL, &open.module));
    open.match = match_made(open.module, (match_wanted){0});
    open.services = ((scope_game*)net_match_context(open.match))->services;
    return open;
}

static void close_match(scope_match* open) {
    net_match_destroy(open->match);
    net_module_close(open->module);
}

static const net_interest_request* take(const scope_match* open, uint32_t* count) {
    return net_interest_requests_take(&open->match->requests, count);
}

static const net_interest_request* find(const scope_match* open, uint32_t client) {
    return net_interest_requests_find(&open->match->requests, client);
}

#define SCOPE_CASE(name)                                                                           \
    CASE_WITH(scope_match, open, *open = open_match(&scope_rules), close_match(open), name)

CASE(services_answer_with_and_without_interest_rules) {
    scope_match open = open_match(&scope_rules);
    assert_non_null(open.services);
    assert_int_equal(open.services->size_bytes, sizeof *open.services);
    const scope_game* game = net_match_context(open.match);
    assert_int_equal(game->class_bit, 1u << 3);
    assert_int_equal(open.services->class_bit(open.services->context, "owner"),
                     1u << NET_CLASS_OWNER);
    assert_int_equal(open.services->class_bit(open.services->context, "unknown"), 0);
    // Without is_rewinding there is no past to read.
    float fraction = 7;
    net_match_step(open.match);
    assert_true(open.services->seen(open.services->context, 1, &fraction) == 1 && fraction == 0);
    float at[2];
    assert_false(open.services->rewind(open.services->context, 1, 0, 1, 1, at));
    close_match(&open);
    open = open_match(NULL);
    assert_true(((scope_game*)net_match_context(open.match))->has_started);
    // Without rules a request has no effect.
    net_match_join(open.match, &(net_game_player){.client = 1, .name = "ann"});
    open.services->set_groups(open.services->context, 1, 1);
    uint32_t count = 1;
    (void)take(&open, &count);
    assert_int_equal(count, 0);
    close_match(&open);
}

SCOPE_CASE(what_is_asked_is_taken_once_and_kept) {
    const net_game_services* services = open->services;
    void* context = services->context;
    uint32_t count;
    (void)take(open, &count);
    assert_int_equal(count, 0);
    net_match_join(open->match, &(net_game_player){.client = 2, .name = "ann"});
    net_match_join(open->match, &(net_game_player){.client = 5, .name = "bob", .is_bot = true});
    services->set_viewpoint(context, 5, (float[]){1, 2, 3}, 40);
    services->refresh_scope(context, 5);
    services->refresh_scope(context, 4); // there is no such client
    services->set_groups(context, 0, 1);
    const net_interest_request* asked = take(open, &count);
    assert_int_equal(count, 2);
    assert_int_equal(asked[0].client, 2);
    assert_true(asked[0].groups == 4 && !asked[0].has_viewpoint && !asked[0].is_refreshed);
    assert_int_equal(asked[1].client, 5);
    assert_true(asked[1].groups == 32 && asked[1].has_viewpoint && asked[1].is_refreshed);
    assert_true(asked[1].position[2] == 3 && asked[1].radius == 40);
    (void)take(open, &count);
    assert_int_equal(count, 0);
    // Each call replaces the previous one: it gives all groups of the client.
    services->set_groups(context, 5, 1);
    services->set_groups(context, 5, UINT64_MAX);
    asked = take(open, &count);
    assert_int_equal(count, 1);
    assert_true(asked->groups == UINT64_MAX && asked->has_viewpoint && !asked->is_refreshed);
    services->set_viewpoint(context, 5, NULL, 9);
    asked = take(open, &count);
    assert_true(count == 1 && !asked->has_viewpoint && asked->radius == 0);
    assert_true(find(open, 5)->groups == UINT64_MAX);
    assert_null(find(open, 4));
    net_match_leave(open->match, 5);
    assert_null(find(open, 5));
    // The call may still name the client that left; it has no effect.
    services->set_groups(context, 5, 3);
    net_match_join(open->match, &(net_game_player){.client = 6, .name = "cat"});
    services->set_groups(context, 5, 3);
    asked = take(open, &count);
    assert_int_equal(count, 1);
    assert_int_equal(asked->client, 6);
    // The highest number, of a client that left, plays no more than others.
    net_match_leave(open->match, 6);
    services->set_groups(context, 6, 3);
    (void)take(open, &count);
    assert_int_equal(count, 0);
}

CASE(what_was_asked_is_in_a_save_and_new_after_a_restore) {
    scope_match open = open_match(&scope_rules), other = open_match(&scope_rules);
    const net_game_services* services = open.services;
    net_match_join(open.match, &(net_game_player){.client = 2, .name = "ann"});
    net_match_join(open.match, &(net_game_player){.client = 5, .name = "bob"});
    services->set_viewpoint(services->context, 5, (float[]){1, 2, 3}, 40);
    services->refresh_scope(services->context, 5);
    uint32_t count;
    (void)take(&open, &count);
    base_bytes save, again;
    base_bytes_init(&save, NULL);
    base_bytes_init(&again, NULL);
    assert_ok(net_match_save(open.match, &save));
    net_match_join(other.match, &(net_game_player){.client = 3, .name = "old"});
    assert_ok(net_match_restore(other.match, save.data, save.size));
    const net_interest_request* asked = take(&other, &count);
    assert_int_equal(count, 2);
    assert_true(asked[0].client == 2 && asked[0].groups == 4 && !asked[0].has_viewpoint);
    assert_true(asked[1].client == 5 && asked[1].groups == 32 && asked[1].has_viewpoint);
    assert_true(asked[1].position[0] == 1 && asked[1].position[2] == 3 && asked[1].radius == 40);
    assert_ok(net_match_save(other.match, &again));
    assert_true(again.size == save.size && memcmp(again.data, save.data, save.size) == 0);
    for (size_t size = 0; size < save.size; size++) {
        assert_int_equal(net_match_restore(other.match, save.data, size), NET_ERR_MALFORMED);
        (void)take(&other, &count);
        assert_int_equal(count, 0);
    }
    base_bytes_deinit(&save);
    base_bytes_deinit(&again);
    close_match(&open);
    close_match(&other);
}

static void expect_refused(net_interest_rules rules, net_role role, const char* message) {
    net_game_module game = scope_module(&rules);
    net_module* module;
    assert_ok(net_module_wrap(&game, scope_text, "s.blk", NULL, &module));
    net_match_config config = net_match_config_default(module);
    config.role = role;
    net_match* match;
    assert_int_equal(net_match_create(&config, hear(), &match), NET_ERR_MODULE);
    if (!strstr(said.text, message)) print_error("%s\n", said.text);
    assert_said(message);
    net_module_close(module);
}

CASE(rules_that_do_not_fit_the_templates_are_refused_on_both_sides) {
    for (net_role role = NET_ROLE_SERVER; role <= NET_ROLE_MIRROR; role++) {
        net_interest_rules rules = scope_rules;
        rules.owner = "owner";
        expect_refused(rules, role, "interest: owner: there is no component 'owner'");
        rules = scope_rules;
        rules.team = "pos";
        expect_refused(rules, role, "interest: team: a p2 is not an i, u8, u16 or u32");
    }
}

CASE(rules_of_another_length_are_refused) {
    net_interest_rules rules = scope_rules;
    net_game_module game = scope_module(&rules);
    for (uint32_t i = 0; i < 2; i++) {
        rules.size_bytes = i == 0 ? 8 : sizeof rules + 8;
        net_module* module;
        assert_int_equal(net_module_wrap(&game, scope_text, "s.blk", hear(), &module),
                         NET_ERR_MODULE);
        assert_said("its interest rules have ");
    }
    // A module compiled before rules existed has no rules.
    game.size_bytes = offsetof(net_game_module, interest);
    net_module* module;
    assert_ok(net_module_wrap(&game, scope_text, "s.blk", NULL, &module));
    assert_null(module->game->interest);
    net_module_close(module);
}
