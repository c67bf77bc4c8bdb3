// SPDX-License-Identifier: MIT
// A whole match of arena: hits, kills, respawns, pick-ups, flags, beacons, rounds, a thousand
// soldiers, and two runs with the same bits.

#include "arena_table.h"

#include <time.h>

// Get a place without a rock near it.
static ecs_vec2 open_place(void) {
    for (float y = 100.0f;; y += 1.0f) {
        bool is_free = true;
        for (float x = 90.0f; x < 150.0f && is_free; x += 1.0f)
            for (float side = -6.0f; side <= 6.0f; side += 1.0f)
                is_free &= !arena_map_is_rock(x, y + side);
        if (is_free) return (ecs_vec2){100.0f, y};
        assert_true(y < 400.0f);
    }
}

// Clients 1 and 2 are in teams 1 and 2, with a distance of 20 units.
static void open_duel(table* t) {
    table_open(t, ARENA_EMPTY, 5, NET_ROLE_SERVER, false);
    table_join(t, 1, "left");
    table_join(t, 2, "right");
    ecs_vec2 place = open_place();
    table_put(t, 1, place.x, place.y);
    table_put(t, 2, place.x + 20.0f, place.y);
}

#define DUEL_CASE(name) CASE_WITH(table, at, open_duel(at), table_close(at), name)

static uint8_t health_of(table* t, uint32_t client) {
    const uint8_t* health = table_of(t, client, table_game(t)->health);
    return health ? *health : 0;
}

static const arena_entry* entry_of(table* t, uint32_t client) {
    return arena_find_entry(table_world(t), table_game(t), net_match_player(t->match, client));
}

static uint32_t shots_in_flight(table* t) {
    return ecs_query_count(table_world(t), table_game(t)->shots);
}

// Client 1 shoots once.
static void shoot(table* t) {
    table_act(t, 1, &(arena_input){.is_firing = true});
    table_input(t, 1, &(arena_input){0});
}

ARENA_CASE(no_more_shots_fly_than_the_setting_says, 5, false,
           SETTINGS("agents=0", "pickups=0", "tanks=0", "shots=1")) {
    table_join(t, 1, "left");
    const arena_input fire = {.is_firing = true, .aim = 512};
    for (uint32_t i = 0; i < 60; i++) {
        table_act(t, 1, &fire);
        assert_true(shots_in_flight(t) <= 1);
    }
}

DUEL_CASE(who_is_killed_waits_as_a_ghost_and_comes_back) {
    arena_game* game = table_game(at);
    ecs_entity victim = net_match_player(at->match, 2);
    *(uint8_t*)table_of(at, 2, game->health) = 10;
    shoot(at);
    uint32_t ticks = 0;
    while (at->events[ARENA_MESSAGE_KILLED] == 0 && ticks++ < 60)
        table_step(at);
    assert_int_equal(at->events[ARENA_MESSAGE_KILLED], 1);
    assert_int_equal(TABLE_LAST(at, arena_killed, ARENA_MESSAGE_KILLED).victim, victim);
    assert_int_equal(TABLE_LAST(at, arena_killed, ARENA_MESSAGE_KILLED).victim_client, 2);
    assert_int_equal(TABLE_LAST(at, arena_killed, ARENA_MESSAGE_KILLED).killer_client, 1);
    assert_true(TABLE_LAST(at, arena_hit, ARENA_MESSAGE_HIT).is_fatal);
    assert_int_equal(entry_of(at, 1)->kills, 1);
    assert_int_equal(entry_of(at, 2)->deaths, 1);
    assert_int_equal(arena_find_score(table_world(at), game, 1)->kills, 1);
    // The health is 0 until the next tick. Then the player is a ghost: the same handle, no health.
    assert_int_equal(health_of(at, 2), 0);
    table_step(at);
    assert_string_equal(ecs_entity_template_name(table_world(at), victim), "arena_ghost");
    assert_null(table_of(at, 2, game->health));
    table_steps(at, 80);
    assert_int_equal(net_match_player(at->match, 2), victim);
    assert_string_equal(ecs_entity_template_name(table_world(at), victim), "arena_player");
    assert_int_equal(health_of(at, 2), ARENA_HEALTH);
    const ecs_vec2* pos = table_of(at, 2, game->pos);
    ecs_vec2 base = arena_map_base(2);
    assert_true(ecs_vec2_length((ecs_vec2){pos->x - base.x, pos->y - base.y}) < 40.0f);
}

// The target runs across the line. The shooter saw it six ticks ago, at a place that it has left.
CASE(a_ray_strikes_what_its_shooter_saw) {
    enum { BEHIND = 6 };
    for (uint32_t round = 0; round < 2; round++) {
        bool has_view = round == 1;
        table t;
        open_duel(&t);
        arena_game* game = table_game(&t);
        const arena_input run = {.move_y = 127};
        ecs_vec2 old = {0};
        for (uint32_t i = 0; i < 20 + BEHIND; i++) {
            if (i == 20) old = *(const ecs_vec2*)table_of(&t, 2, game->pos);
            table_act(&t, 2, &run);
        }
        ecs_tick seen = net_match_tick(t.match) - BEHIND;
        const ecs_vec2* own = table_of(&t, 1, game->pos);
        const arena_input ray = {.is_raying = true,
                                 .aim = arena_aim_of(old.x - own->x, old.y - own->y)};
        uint8_t packed[NET_INPUT_BYTES_MAX];
        size_t size = table_pack_input(t.match, &ray, packed);
        net_match_input(t.match, 1, packed, size, has_view ? seen * 256 : 0);
        table_act(&t, 2, &run);
        assert_int_equal(t.events[ARENA_MESSAGE_RAY], 1);
        assert_int_equal(health_of(&t, 2), ARENA_HEALTH - (has_view ? ARENA_RAY_DAMAGE : 0));
        table_close(&t);
    }
}

static const arena_flag* flag_of(table* t, uint8_t team, ecs_entity* entity) {
    arena_game* game = table_game(t);
    const arena_flag* found = NULL;
    EACH_ROW(table_world(t), game->flags, it, i) {
        const uint8_t* teams = it.rows.columns[1];
        const arena_flag* flags = it.rows.columns[2];
        if (teams[i] != team) continue;
        found = &flags[i];
        if (entity) *entity = it.rows.entities[i];
    }
    assert_non_null(found);
    return found;
}

CASE_WITH(table, t, open_duel(t), table_close(t), a_flag_goes_with_its_carrier_and_counts_at_home) {
    arena_game* game = table_game(t);
    ecs_vec2 base = arena_map_stand(2);
    table_put(t, 1, base.x, base.y);
    table_step(t);
    ecs_entity flag = ECS_ENTITY_NONE;
    assert_int_equal(flag_of(t, 2, &flag)->state, ARENA_FLAG_CARRIED);
    assert_int_equal(flag_of(t, 2, NULL)->carrier, net_match_player(t->match, 1));
    assert_int_equal(*(uint32_t*)table_of(t, 1, game->together), 2);
    assert_int_equal(TABLE_LAST(t, arena_flag_moved, ARENA_MESSAGE_FLAG_MOVED).what,
                     ARENA_FLAG_IS_TAKEN);
    const arena_input go = {.move_y = 127};
    table_input(t, 1, &go);
    for (uint32_t i = 0; i < 30; i++) {
        table_step(t);
        const ecs_vec2* at = ecs_get(table_world(t), flag, game->pos);
        const ecs_vec2* carrier = table_of(t, 1, game->pos);
        assert_memory_equal(at, carrier, sizeof *at);
    }
    const arena_input rest = {0};
    table_input(t, 1, &rest);
    base = arena_map_base(1);
    table_put(t, 1, base.x + 4.0f, base.y);
    table_step(t);
    assert_int_equal(TABLE_LAST(t, arena_flag_moved, ARENA_MESSAGE_FLAG_MOVED).what,
                     ARENA_FLAG_IS_CAPTURED);
    assert_int_equal(flag_of(t, 2, NULL)->state, ARENA_FLAG_HOME);
    assert_int_equal(*(uint32_t*)table_of(t, 1, game->together), 0);
    assert_int_equal(arena_points(arena_find_score(table_world(t), game, 1)), ARENA_CAPTURE_POINTS);
    assert_int_equal(entry_of(t, 1)->captures, 1);
}

DUEL_CASE(a_flag_lies_where_its_carrier_died_or_left_until_it_is_brought_back) {
    arena_game* game = table_game(at);
    ecs_vec2 base = arena_map_stand(2);
    table_put(at, 1, base.x, base.y);
    table_step(at);
    ecs_vec2 place = open_place();
    table_put(at, 1, place.x, place.y);
    table_step(at);
    *(uint8_t*)table_of(at, 1, game->health) = 0;
    table_step(at);
    assert_int_equal(flag_of(at, 2, NULL)->state, ARENA_FLAG_DROPPED);
    assert_int_equal(TABLE_LAST(at, arena_flag_moved, ARENA_MESSAGE_FLAG_MOVED).what,
                     ARENA_FLAG_IS_DROPPED);
    table_put(at, 2, place.x + 1.0f, place.y);
    table_step(at);
    assert_int_equal(flag_of(at, 2, NULL)->state, ARENA_FLAG_HOME);
    assert_int_equal(TABLE_LAST(at, arena_flag_moved, ARENA_MESSAGE_FLAG_MOVED).what,
                     ARENA_FLAG_IS_BACK);
    base = arena_map_stand(1);
    table_put(at, 2, base.x, base.y);
    table_step(at);
    assert_int_equal(flag_of(at, 1, NULL)->state, ARENA_FLAG_CARRIED);
    net_match_leave(at->match, 2);
    table_step(at);
    assert_int_equal(flag_of(at, 1, NULL)->state, ARENA_FLAG_DROPPED);
    table_steps(at, 20 * 30 + 4);
    assert_int_equal(flag_of(at, 1, NULL)->state, ARENA_FLAG_HOME);
}

DUEL_CASE(a_call_lights_the_beacon_of_the_team) {
    arena_game* game = table_game(at);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(table_send(at, 1, ARENA_MESSAGE_RALLY, &(arena_rally){0}));
        table_steps(at, 2);
        assert_int_equal(ecs_query_count(table_world(at), game->beacons), 1); // the beacon moves
    }
    ecs_entity beacon = ecs_query_first(table_world(at), game->beacons);
    assert_int_equal(*(const uint8_t*)ecs_get(table_world(at), beacon, game->team), 1);
    table_steps(at, 25 * 30 + 4);
    assert_int_equal(ecs_query_count(table_world(at), game->beacons), 0);
}

ARENA_CASE(a_round_ends_by_time_and_the_books_begin_anew, 5, false,
           SETTINGS("agents=200", "round_s=20")) {
    table_join_bots(t, 4);
    table_steps(t, 20 * 30);
    arena_game* game = table_game(t);
    int32_t best = 0;
    for (uint8_t team = 1; team <= ARENA_TEAMS; team++)
        best += arena_points(arena_find_score(table_world(t), game, team));
    assert_true(best > 10);
    table_steps(t, 4);
    assert_int_equal(t->events[ARENA_MESSAGE_ROUND_OVER], 1);
    const arena_match* match =
        ecs_get(table_world(t), ecs_query_first(table_world(t), game->matches), game->match);
    assert_int_equal(match->round, 2);
    assert_true(match->winner >= 1);
    assert_true(arena_points(arena_find_score(table_world(t), game, 1)) < best);
}

DUEL_CASE(any_inputs_are_clamped) {
    arena_game* game = table_game(at);
    const arena_input wild = {.move_x = 2000000, .move_y = -2000000, .aim = UINT32_MAX};
    table_act(at, 1, &wild);
    const ecs_vec2* vel = table_of(at, 1, game->vel);
    assert_true(ecs_vec2_length(*vel) <= ARENA_PLAYER_SPEED + 1.0f);
    table_steps(at, 300);
    const ecs_vec2* pos = table_of(at, 1, game->pos);
    assert_true(pos->x >= ARENA_EDGE && pos->x <= ARENA_SIZE - ARENA_EDGE);
    assert_true(pos->y >= ARENA_EDGE && pos->y <= ARENA_SIZE - ARENA_EDGE);
}

// Moving entities are on the grid of the wire in each tick. vel is the distance that an entity
// moved.
static void assert_on_grid(table* t) {
    arena_game* game = table_game(t);
    ecs_query* const queries[] = {game->fighters, game->shots};
    for (uint32_t k = 0; k < BASE_COUNT(queries); k++) {
        EACH_ROW(table_world(t), queries[k], it, i) {
            const ecs_vec2* pos = it.rows.columns[0];
            const ecs_vec2* vel = it.rows.columns[1];
            assert_true(pos[i].x == arena_snap(pos[i].x) && pos[i].y == arena_snap(pos[i].y));
            const float steps_x = vel[i].x / 0.9375f, steps_y = vel[i].y / 0.9375f;
            assert_true(steps_x == base_floor(steps_x) && steps_y == base_floor(steps_y));
            assert_true(pos[i].x >= 0.0f && pos[i].x < ARENA_SIZE);
            assert_true(pos[i].y >= 0.0f && pos[i].y < ARENA_SIZE);
        }
    }
}

static uint32_t count_seen(table* t, ecs_vec2 from) {
    arena_game* game = table_game(t);
    ecs_query* const queries[] = {game->fighters, game->shots, game->pickups};
    uint32_t seen = 0;
    for (uint32_t k = 0; k < BASE_COUNT(queries); k++) {
        EACH_ROW(table_world(t), queries[k], it, i) {
            const ecs_vec2* pos = it.rows.columns[0];
            seen +=
                ecs_vec2_length((ecs_vec2){pos[i].x - from.x, pos[i].y - from.y}) <= ARENA_SIGHT;
        }
    }
    return seen;
}

ARENA_CASE(a_thousand_soldiers_and_200_players_fight_for_300_ticks, 42, false, NULL) {
    table_join_bots(t, 200);
    ecs_world* world = table_world(t);
    arena_game* game = table_game(t);
    uint64_t lookups = ecs_world_counters(world)->name_lookups;
    uint32_t shots_most = 0;
    clock_t step_time = 0;
    for (uint32_t i = 0; i < 300; i++) {
        table_think(t);
        clock_t begin = clock();
        net_match_step(t->match);
        step_time += clock() - begin;
        table_listen(t);
        ecs_changes_clear(world);
        if (shots_in_flight(t) > shots_most) shots_most = shots_in_flight(t);
        if (i % 50 == 0) {
            assert_on_grid(t);
            ecs_world_validate(world);
            assert_true(ecs_world_state_hash(world) == ecs_world_state_hash_walk(world));
        }
    }
    uint64_t seen = 0;
    for (uint32_t client = 1; client <= 200; client++)
        seen += count_seen(t, *(const ecs_vec2*)table_of(t, client, game->pos));
    print_message(
        "a tick: %.0f us; at most %u shots; in sight of a player: %.0f; hits %u, deaths of "
        "players %u, rays %u, flags %u\n",
        (double)step_time / CLOCKS_PER_SEC * 1e6 / 300.0, shots_most, (double)seen / 200.0,
        t->events[ARENA_MESSAGE_HIT], t->events[ARENA_MESSAGE_KILLED], t->events[ARENA_MESSAGE_RAY],
        t->events[ARENA_MESSAGE_FLAG_MOVED]);
    const ecs_counters* counters = ecs_world_counters(world);
    assert_int_equal(counters->name_lookups, lookups);
    assert_int_equal(counters->events_refused, 0);
    assert_int_equal(counters->commands_refused, 0);
    assert_int_equal(counters->bad_transitions, 0);
    assert_true(shots_most > 50 && shots_most <= 400);
    assert_true(t->events[ARENA_MESSAGE_HIT] > 300);
    assert_true(seen / 200 >= 90 && seen / 200 <= 190);
    // The match replaces killed soldiers.
    assert_in_range(ecs_query_count(world, game->soldiers), 900, 1000);
}

// The match has only soldiers. The record of what players saw is beside the world and not part of
// it.
CASE(a_restored_world_has_the_same_future) {
    enum { TICKS = 300 };
    static uint64_t first[TICKS];
    static const char* const some[] = {"agents=400", NULL};
    table t, other;
    table_open(&t, some, 99, NET_ROLE_SERVER, false);
    table_steps(&t, 233);
    base_bytes saved = world_saved(table_world(&t));
    for (uint32_t i = 0; i < TICKS; i++) {
        table_step(&t);
        first[i] = ecs_world_hash(table_world(&t));
    }
    table_close(&t);
    table_open(&other, some, 3, NET_ROLE_SERVER, false);
    assert_ok(ecs_world_restore(table_world(&other), saved.data, saved.size));
    for (uint32_t i = 0; i < TICKS; i++) {
        table_step(&other);
        assert_true(ecs_world_hash(table_world(&other)) == first[i]);
    }
    base_bytes_deinit(&saved);
    table_close(&other);
}

static void open_busy(table* t, uint64_t seed) {
    table_open(t, SETTINGS("agents=1500"), seed, NET_ROLE_SERVER, false);
}

// Soldiers think, walk and shoot on several threads.
CASE(a_match_is_the_same_on_any_number_of_threads) {
    table_expect_same_runs(open_busy);
}
