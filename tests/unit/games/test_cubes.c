// SPDX-License-Identifier: MIT
// Cubes: the numbers of S1.7 and S1.8 come from data alone. Worlds agree to the bit without
// messages.

#include "cubes_table.h"

#include "check/sim_match.h"

CUBES_CASE(s1_7_ten_thousand_cubes_begin_with_the_numbers_of_the_demo, 1, false, NULL) {
    // After one tick from rest the place is still the first one, and the velocity is gravity * dt.
    table_steps(t, 1);
    assert_int_equal(ecs_query_count(table_world(t), table_game(t)->cubes), 10000);
    float low = 200.0f, high = -200.0f;
    double force_sum = 0.0, scale_sum = 0.0;
    EACH_ROW(table_world(t), table_game(t)->cubes, it, i) {
        const cubes_transform* at =
            ecs_get(table_world(t), it.rows.entities[i], table_game(t)->transform);
        const cubes_body* body = ecs_get(table_world(t), it.rows.entities[i], table_game(t)->body);
        const cubes_gravity* gravity =
            ecs_get(table_world(t), it.rows.entities[i], table_game(t)->gravity);
        assert_true(is_within(at->position.x, -100.0f, 100.0f));
        assert_true(is_within(at->position.y, -100.0f, 100.0f));
        assert_true(is_within(at->position.z, -100.0f, 100.0f));
        assert_true(is_within(at->rotation.x, 0.0f, 3.0f));
        assert_true(is_within(at->rotation.y, 0.0f, 3.0f));
        assert_true(is_within(at->rotation.z, 0.0f, 3.0f));
        assert_true(is_within(at->scale.x, 3.0f, 5.0f));
        assert_true(at->scale.x == at->scale.y && at->scale.x == at->scale.z);
        assert_true(gravity->force.x == 0.0f && gravity->force.z == 0.0f);
        assert_true(is_within(gravity->force.y, -10.0f, -1.0f));
        assert_true(body->velocity.x == 0.0f && body->velocity.z == 0.0f);
        assert_true(body->velocity.y == gravity->force.y * net_match_dt(t->match));
        static const ecs_vec3 none = {0};
        assert_memory_equal(&body->acceleration, &none, sizeof none);
        low = at->position.x < low ? at->position.x : low;
        high = at->position.x > high ? at->position.x : high;
        force_sum += (double)gravity->force.y;
        scale_sum += (double)at->scale.x;
    }
    // The values use the whole range evenly.
    assert_true(low < -99.5f && high > 99.5f);
    assert_true(is_within((float)(force_sum / 10000.0), -5.6f, -5.4f));
    assert_true(is_within((float)(scale_sum / 10000.0), 3.97f, 4.03f));
}

CUBES_CASE(s1_7_each_tick_is_position_then_velocity_bit_for_bit, 7, false,
           SETTINGS("respawn=0", "cubes=1000")) {
    enum { CUBES = 1000, TICKS = 2000 };
    static float y[CUBES], v[CUBES], g[CUBES];
    const float dt = net_match_dt(t->match);
    uint32_t count = 0;
    EACH_SPAWNED(t->match, at) {
        cubes_transform transform;
        cubes_gravity gravity;
        cubes_draw(((const cubes_spawn*)ecs_get(table_world(t), at, table_game(t)->spawn))->seed,
                   &transform, &gravity);
        y[count] = transform.position.y;
        v[count] = 0.0f;
        g[count++] = gravity.force.y;
    }
    assert_int_equal(count, CUBES);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        table_steps(t, 1);
        for (uint32_t i = 0; i < CUBES; i++) {
            y[i] += v[i] * dt;
            v[i] += g[i] * dt;
        }
        if (tick % 97 && tick != TICKS) continue;
        uint32_t i = 0;
        for (ecs_entity at = next_spawned(t->match, ECS_ENTITY_NONE); at;
             at = next_spawned(t->match, at), i++) {
            const cubes_transform* transform =
                ecs_get(table_world(t), at, table_game(t)->transform);
            const cubes_body* body = ecs_get(table_world(t), at, table_game(t)->body);
            assert_true(transform->position.y == y[i]);
            assert_true(body->velocity.y == v[i]);
        }
    }
    assert_true(y[0] < -100.0f); // the cubes fall for ever
}

CUBES_CASE(s1_7_with_respawn_no_cube_leaves_the_box_by_more_than_a_step, 3, false,
           SETTINGS("cubes=500")) {
    uint32_t restarts = 0;
    for (uint32_t tick = 1; tick <= 3000; tick++) {
        table_steps(t, 1);
        EACH_SPAWNED(t->match, at) {
            const cubes_transform* transform =
                ecs_get(table_world(t), at, table_game(t)->transform);
            const cubes_body* body = ecs_get(table_world(t), at, table_game(t)->body);
            assert_true(is_within(transform->position.y, -103.0f, 100.0f));
            // A cube begins at rest at the top.
            restarts += transform->position.y == CUBES_HALF && body->velocity.y > -0.2f;
        }
    }
    assert_true(restarts > 1000);
}

CASE(a_fall_takes_as_many_ticks_as_the_law_says) {
    static const struct {
        float height, force, dt;
        uint64_t ticks;
    } rows[] = {
        {200.0f, -1.0f, 1.0f / 64.0f, 1281},     {50.0f, -4.0f, 1.0f / 64.0f, 321},
        {0.0f, -4.0f, 1.0f / 64.0f, 1},          {9.0f, 0.0f, 1.0f / 64.0f, CUBES_NEVER},
        {9.0f, 1.0f, 1.0f / 64.0f, CUBES_NEVER}, {9.0f, -1.0f, 0.0f, CUBES_NEVER},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        const cubes_gravity gravity = {{0.0f, rows[i].force, 0.0f}};
        assert_int_equal(cubes_ticks_to_fall(rows[i].height, &gravity, rows[i].dt), rows[i].ticks);
    }
}

CASE(s1_8_other_templates_let_the_camera_fall_and_the_cubes_rest) {
    for (uint32_t fall = 0; fall < 2; fall++) {
        table t;
        table_open(&t, SETTINGS(fall ? "fall=1" : "fall=0", "cubes=300"), 5, NET_ROLE_SERVER,
                   false);
        ecs_world* world = table_world(&t);
        const cubes_game* game = table_game(&t);
        table_join(&t, 1, "Ada");
        ecs_entity camera = net_match_player(t.match, 1);
        assert_string_equal(ecs_entity_template_name(world, camera),
                            fall ? "camera_falling" : "camera");
        // The systems and their order do not depend on what falls.
        assert_string_equal(ecs_stage_system_name(world, 0, 0), "cubes_begin_es");
        assert_string_equal(ecs_stage_system_name(world, 0, 1), "cubes_fall_es");
        table_steps(&t, 60);
        uint32_t moved = 0, cubes = 0;
        EACH_SPAWNED(t.match, at) {
            if (at == camera) continue;
            cubes_transform first;
            cubes_draw(((const cubes_spawn*)ecs_get(world, at, game->spawn))->seed, &first, NULL);
            const cubes_transform* now = ecs_get(world, at, game->transform);
            moved += now->position.y != first.position.y;
            assert_true(now->position.x == first.position.x && now->scale.x == first.scale.x);
            assert_true((ecs_find(world, at, game->body) != NULL) == !fall);
            cubes++;
        }
        assert_int_equal(cubes, 300);
        assert_true(fall ? moved == 0 : moved > 290); // a few may be back at their first place
        // One second of free fall at 2 units / s^2.
        const cubes_transform* eye = ecs_get(world, camera, game->transform);
        assert_true(fall ? is_within(eye->position.y, -1.05f, -0.95f) : eye->position.y == 0.0f);
        table_close(&t);
    }
}

// ---- server and clients ----

static uint64_t digest_of(net_match* match) {
    return net_world_digest_walk(net_match_schema(match), net_match_world(match), NULL, NULL).hash;
}

// All clients have everything.
static bool is_over(const net_sim_match* sim) {
    return net_server_get_phase(net_sim_match_server(sim)) == NET_SERVER_LEAVING;
}

CASE(s1_7_s1_8_worlds_of_server_and_clients_agree_to_the_bit) {
    static const char* const settings[][2] = {
        {"cubes=2000"}, {"cubes=500", "respawn=0"}, {"cubes=500", "fall=1"}};
    enum { TICKS = 2400, LATE = 1700 };
    for (uint32_t i = 0; i < BASE_COUNT(settings); i++) {
        table t;
        net_sim_match* sim;
        table_open(&t, SETTINGS(settings[i][0], settings[i][1]), 11, NET_ROLE_SERVER, false);
        const net_link_config bad = {.delay_ms = 60, .jitter_ms = 20, .loss_percent = 10};
        const net_sim_match_config config = {.module = t.module,
                                             .match = t.match,
                                             .clients_max = 2,
                                             .ticks_max = TICKS,
                                             .link = {bad, bad}};
        assert_ok(net_sim_match_create(&config, &sim));
        // The second client comes when cubes have fallen more than once.
        for (uint32_t tick = 1, client = 1; !is_over(sim); tick++) {
            const net_game_player player = {
                .client = client, .name = client == 1 ? "one" : "late", .is_bot = true};
            if (tick == 1 || tick == LATE) {
                assert_ok(net_sim_match_join(sim, &player));
                client++;
            }
            net_sim_match_step(sim);
        }
        for (uint32_t client = 1; client <= 2; client++) {
            net_match* mirror = net_sim_match_mirror(sim, client);
            net_match_step_at(mirror, TICKS);
            assert_true(digest_of(mirror) == digest_of(t.match));
            // Values that were never sent are also the same.
            assert_true(motion_hash(mirror) == motion_hash(t.match));
            assert_int_equal(ecs_world_counters(net_match_world(mirror))->bad_transitions, 0);
        }
        net_sim_match_destroy(sim);
        table_close(&t);
    }
}

CUBES_CASE(a_client_that_goes_back_in_time_holds_what_was_there_then, 2, false,
           SETTINGS("cubes=400")) {
    table view;
    table_open(&view, NULL, 2, NET_ROLE_MIRROR, false);
    const cubes_game* own = table_game(&view);
    EACH_SPAWNED(t->match, at) {
        const cubes_spawn spawn =
            *(const cubes_spawn*)ecs_get(table_world(t), at, table_game(t)->spawn);
        const ecs_init inits[] = {{own->spawn, &spawn}};
        assert_ok(ecs_create_at(table_world(&view), at, own->cube_templates[0], inits, 1));
    }
    static uint64_t hashes[1501];
    for (uint32_t tick = 1; tick <= 1500; tick++) {
        table_steps(t, 1);
        hashes[tick] = motion_hash(t->match);
    }
    static const uint32_t ticks[] = {1500, 1, 2, 2, 700, 701, 699, 1499, 1500, 33};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++) {
        net_match_step_at(view.match, ticks[i]);
        assert_true(motion_hash(view.match) == hashes[ticks[i]]);
    }
    table_close(&view);
}

CASE(no_tick_that_a_server_says_keeps_a_client_busy) {
    for (uint32_t respawn = 0; respawn < 2; respawn++) {
        table view;
        table_open(&view, SETTINGS(respawn ? "respawn=1" : "respawn=0"), 2, NET_ROLE_MIRROR, false);
        ecs_world* world = table_world(&view);
        const cubes_game* game = table_game(&view);
        const double settings[CUBES_SETTING_COUNT] = {0.0, 0.0, (double)respawn};
        net_match_mirror_start(view.match, 60, settings, CUBES_SETTING_COUNT, (net_match_names){0});
        static const cubes_spawn spawns[] = {
            {77, 0}, {78, 5}, {79, 4000000000u}, {0, 0}, {80, UINT32_MAX}};
        for (uint32_t i = 0; i < BASE_COUNT(spawns); i++) {
            const ecs_init inits[] = {{game->spawn, &spawns[i]}};
            assert_ok(
                ecs_create_at(world, ecs_entity_make(i + 1, 1), game->cube_templates[0], inits, 1));
        }
        static const ecs_tick ticks[] = {4000000010u, 3, 4294967294u, 4294967295u, 1};
        for (uint32_t k = 0; k < BASE_COUNT(ticks); k++) {
            net_match_step_at(view.match, ticks[k]);
            for (uint32_t i = 0; i < BASE_COUNT(spawns); i++) {
                const cubes_transform* at =
                    ecs_get(world, ecs_entity_make(i + 1, 1), game->transform);
                assert_true(at->position.y == at->position.y && at->position.y <= CUBES_HALF);
            }
        }
        table_close(&view);
    }
}

CUBES_CASE(every_build_comes_to_the_same_bits, 42, false, SETTINGS("cubes=3000")) {
    table_join(t, 1, "Ada");
    table_steps(t, 1800);
    // A change of the rule, the random numbers or the templates changes the hash. A compiler must
    // not.
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)motion_hash(t->match));
    assert_string_equal(text, "b22e0784fae74cb3");
}

CUBES_CASE(a_steady_tick_looks_no_name_up_and_tracks_no_cube, 1, false, NULL) {
    table_steps(t, 2);
    const ecs_counters* counters = ecs_world_counters(net_match_world(t->match));
    uint64_t names = counters->name_lookups, compared = counters->rows_compared;
    table_steps(t, 60);
    assert_int_equal(counters->name_lookups, names);
    assert_int_equal(counters->rows_compared, compared);
    assert_int_equal(counters->rows_changed, 0);
}

CUBES_CASE(an_input_turns_the_camera_within_its_limits, 1, false, SETTINGS("cubes=0")) {
    table_join(t, 1, "Ada");
    ecs_entity camera = net_match_player(t->match, 1);
    const cubes_input input = {.yaw = 100000, .pitch = 100000, .zoom = -100000};
    cubes_orbit first = *(const cubes_orbit*)ecs_get(table_world(t), camera, table_game(t)->orbit);
    table_input(t, 1, &input);
    table_steps(t, 1);
    const cubes_orbit* orbit = ecs_get(table_world(t), camera, table_game(t)->orbit);
    assert_float_equal(orbit->yaw - first.yaw, 1.6f / 60.0f, 0.0005f); // the turn is clamped
    for (uint32_t i = 0; i < 600; i++) {
        net_match_input(t->match, 1, NULL, 0, 0);
        table_steps(t, 1);
        orbit = ecs_get(table_world(t), camera, table_game(t)->orbit);
        assert_true(is_within(orbit->yaw, -3.1418f, 3.1418f));
    }
    assert_float_equal(orbit->pitch, CUBES_PITCH_MAX, 0.001f);
    assert_float_equal(orbit->distance, CUBES_DISTANCE_MIN, 0.001f);
    net_match_leave(t->match, 1);
    assert_false(ecs_is_alive(table_world(t), camera));
}

CUBES_CASE(prediction_turns_the_camera_as_the_server_does, 1, false, SETTINGS("cubes=10")) {
    table ahead;
    table_open(&ahead, NULL, 1, NET_ROLE_PREDICT, false);
    table_join(t, 1, "Ada");
    ecs_world* world = table_world(&ahead);
    const cubes_game* own = table_game(&ahead);
    ecs_entity camera = net_match_player(t->match, 1);
    const cubes_orbit* orbit = table_of(t, 1, table_game(t)->orbit);
    const ecs_init inits[] = {{own->orbit, orbit}};
    assert_ok(ecs_create_at(world, camera, own->camera_templates[0], inits, 1));
    base_rng rng = base_rng_make(4, 4);
    for (uint32_t i = 0; i < 2000; i++) {
        const cubes_input input = {.yaw = base_rng_range(&rng, -127, 127),
                                   .pitch = base_rng_range(&rng, -127, 127),
                                   .zoom = base_rng_range(&rng, -127, 127)};
        uint8_t packed[NET_INPUT_BYTES_MAX];
        size_t size = table_pack_input(t->match, &input, packed);
        net_match_input(t->match, 1, packed, size, 0);
        net_match_predict_input(ahead.match, camera, packed, size);
        table_step(t);
        table_step(&ahead);
        assert_memory_equal(ecs_get(world, camera, own->orbit),
                            table_of(t, 1, table_game(t)->orbit), sizeof *orbit);
    }
    net_predicted predicted[2];
    assert_int_equal(
        cubes_module()->predict(world, net_match_context(ahead.match), camera, predicted, 2), 1);
    assert_true(predicted[0].entity == camera && predicted[0].weight == 1.0f);
    table_close(&ahead);
}

static void open_busy(table* t, uint64_t seed) {
    table_open(t, SETTINGS("cubes=9000"), seed, NET_ROLE_SERVER, false);
}

CASE(cubes_fall_the_same_on_any_number_of_threads) {
    table_expect_same_runs(open_busy);
}
