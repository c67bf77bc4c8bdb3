// SPDX-License-Identifier: MIT
// Cubes: the numbers of S1.7 and S1.8 come from data alone. Worlds agree to the bit without
// messages.

#include "cubes_table.h"

#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"

#define TICK_US 16667u
#define CLIENTS_MAX 2u

CUBES_CASE(s1_7_ten_thousand_cubes_begin_with_the_numbers_of_the_demo, false, 1, NULL) {
    // After one tick from rest the place is still the first one, and the velocity is gravity * dt.
    run(t->match, 1);
    assert_int_equal(ecs_query_count(t->world, t->game->cubes), 10000);
    float low = 200.0f, high = -200.0f;
    double force_sum = 0.0, scale_sum = 0.0;
    ecs_query_iter it = ecs_query_begin(t->world, t->game->cubes);
    while (ecs_query_next(&it)) {
        for (uint32_t i = 0; i < it.rows.count; i++) {
            const cubes_transform* at = ecs_get(t->world, it.rows.entities[i], t->game->transform);
            const cubes_body* body = ecs_get(t->world, it.rows.entities[i], t->game->body);
            const cubes_gravity* gravity = ecs_get(t->world, it.rows.entities[i], t->game->gravity);
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
    }
    // The values use the whole range evenly.
    assert_true(low < -99.5f && high > 99.5f);
    assert_true(is_within((float)(force_sum / 10000.0), -5.6f, -5.4f));
    assert_true(is_within((float)(scale_sum / 10000.0), 3.97f, 4.03f));
}

CUBES_CASE(s1_7_each_tick_is_position_then_velocity_bit_for_bit, false, 7, "respawn=0 cubes=1000") {
    enum { CUBES = 1000, TICKS = 2000 };
    static float y[CUBES], v[CUBES], g[CUBES];
    const float dt = net_match_dt(t->match);
    uint32_t count = 0;
    for (ecs_entity at = next_spawned(t->match, ECS_ENTITY_NONE); at;
         at = next_spawned(t->match, at)) {
        cubes_transform transform;
        cubes_gravity gravity;
        cubes_draw(((const cubes_spawn*)ecs_get(t->world, at, t->game->spawn))->seed, &transform,
                   &gravity);
        y[count] = transform.position.y;
        v[count] = 0.0f;
        g[count++] = gravity.force.y;
    }
    assert_int_equal(count, CUBES);
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        run(t->match, 1);
        for (uint32_t i = 0; i < CUBES; i++) {
            y[i] += v[i] * dt;
            v[i] += g[i] * dt;
        }
        if (tick % 97 && tick != TICKS) continue;
        uint32_t i = 0;
        for (ecs_entity at = next_spawned(t->match, ECS_ENTITY_NONE); at;
             at = next_spawned(t->match, at), i++) {
            const cubes_transform* transform = ecs_get(t->world, at, t->game->transform);
            const cubes_body* body = ecs_get(t->world, at, t->game->body);
            assert_true(transform->position.y == y[i]);
            assert_true(body->velocity.y == v[i]);
        }
    }
    assert_true(y[0] < -100.0f); // the cubes fall for ever
}

CUBES_CASE(s1_7_with_respawn_no_cube_leaves_the_box_by_more_than_a_step, false, 3, "cubes=500") {
    uint32_t restarts = 0;
    for (uint32_t tick = 1; tick <= 3000; tick++) {
        run(t->match, 1);
        for (ecs_entity at = next_spawned(t->match, ECS_ENTITY_NONE); at;
             at = next_spawned(t->match, at)) {
            const cubes_transform* transform = ecs_get(t->world, at, t->game->transform);
            const cubes_body* body = ecs_get(t->world, at, t->game->body);
            assert_true(is_within(transform->position.y, -103.0f, 100.0f));
            // A cube begins at rest at the top.
            restarts += transform->position.y == CUBES_HALF && body->velocity.y > -0.2f;
        }
    }
    assert_true(restarts > 1000);
}

CASE(a_fall_takes_as_many_ticks_as_the_law_says) {
    const float dt = 1.0f / 64.0f;
    assert_int_equal(cubes_ticks_to_fall(200.0f, &(cubes_gravity){{0.0f, -1.0f, 0.0f}}, dt), 1281);
    assert_int_equal(cubes_ticks_to_fall(50.0f, &(cubes_gravity){{0.0f, -4.0f, 0.0f}}, dt), 321);
    assert_int_equal(cubes_ticks_to_fall(0.0f, &(cubes_gravity){{0.0f, -4.0f, 0.0f}}, dt), 1);
    assert_int_equal(cubes_ticks_to_fall(9.0f, &(cubes_gravity){{0.0f, 0.0f, 0.0f}}, dt),
                     CUBES_NEVER);
    assert_int_equal(cubes_ticks_to_fall(9.0f, &(cubes_gravity){{0.0f, 1.0f, 0.0f}}, dt),
                     CUBES_NEVER);
    assert_int_equal(cubes_ticks_to_fall(9.0f, &(cubes_gravity){{0.0f, -1.0f, 0.0f}}, 0.0f),
                     CUBES_NEVER);
}

CASE(s1_8_other_templates_let_the_camera_fall_and_the_cubes_rest) {
    net_module* module = open_module();
    for (uint32_t fall = 0; fall < 2; fall++) {
        net_match* match = open_match(module, NET_ROLE_SERVER, false, 5,
                                      fall ? "fall=1 cubes=300" : "fall=0 cubes=300");
        ecs_world* world = net_match_world(match);
        const cubes_game* game = net_match_context(match);
        net_match_join(match, &(net_game_player){.client = 1, .name = "Ada"});
        ecs_entity camera = net_match_player(match, 1);
        assert_string_equal(ecs_entity_template_name(world, camera),
                            fall ? "camera_falling" : "camera");
        // The systems and their order do not depend on what falls.
        assert_string_equal(ecs_stage_system_name(world, 0, 0), "cubes_begin_es");
        assert_string_equal(ecs_stage_system_name(world, 0, 1), "cubes_fall_es");
        run(match, 60);
        uint32_t moved = 0, cubes = 0;
        for (ecs_entity at = next_spawned(match, ECS_ENTITY_NONE); at;
             at = next_spawned(match, at)) {
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
        if (fall)
            assert_int_equal(moved, 0);
        else
            assert_true(moved > 290); // a few may be back at their first place
        // One second of free fall at 2 units / s^2.
        const cubes_transform* eye = ecs_get(world, camera, game->transform);
        assert_true(fall ? is_within(eye->position.y, -1.05f, -0.95f) : eye->position.y == 0.0f);
        net_match_destroy(match);
    }
    net_module_close(module);
}

// ---- server and clients ----

typedef struct line {
    net_match* match;
    net_transport* transport;
    net_client* client;
} line;

static void join(net_sim* sim, const net_module* module, const net_link_config* link,
                 uint32_t number, line* to) {
    to->match = open_match(module, NET_ROLE_MIRROR, false, 0, NULL);
    assert_ok(net_sim_client(sim, link, &to->transport));
    const net_client_config config = {.match = to->match,
                                      .transport = to->transport,
                                      .address = "sim",
                                      .name = "bot",
                                      .is_bot = true,
                                      .seed = number};
    assert_ok(net_client_create(&config, &to->client));
}

static void check_worlds_agree(const char* settings) {
    net_module* module = open_module();
    net_match* match = open_match(module, NET_ROLE_SERVER, false, 11, settings);
    net_sim* sim = NULL;
    net_transport* transport = NULL;
    net_server* server = NULL;
    assert_ok(net_sim_create(NULL, 11, &sim));
    assert_ok(net_sim_server(sim, 8, &transport));
    const net_server_config config = {
        .match = match, .transport = transport, .clients_max = 4, .ticks_max = 2400};
    assert_ok(net_server_create(&config, &server));
    static const net_link_config links[CLIENTS_MAX] = {
        {.delay_ms = 5}, {.delay_ms = 60, .jitter_ms = 20, .loss_percent = 10}};
    line lines[CLIENTS_MAX] = {0};
    uint32_t joined = 0;
    uint64_t now_us = 1000000;
    for (uint32_t i = 0; i < 4000; i++, now_us += TICK_US) {
        // The second client comes when cubes have fallen more than once.
        if (i == 0 || i == 1700) {
            join(sim, module, &links[joined], joined + 1, &lines[joined]);
            joined++;
        }
        net_server_service(server, now_us);
        net_server_tick(server, now_us);
        for (uint32_t k = 0; k < joined; k++) {
            net_client_service(lines[k].client, now_us);
            net_client_tick(lines[k].client, now_us);
        }
        if (net_server_get_phase(server) == NET_SERVER_LEAVING) break;
    }
    assert_int_equal(net_match_tick(match), 2400);
    uint64_t scope =
        net_world_digest_walk(net_match_schema(match), net_match_world(match), NULL, NULL).hash;
    for (uint32_t k = 0; k < joined; k++) {
        ecs_world* mirror = net_match_world(lines[k].match);
        net_match_step_at(lines[k].match, 2400);
        assert_true(
            net_world_digest_walk(net_match_schema(lines[k].match), mirror, NULL, NULL).hash ==
            scope);
        // Values that were never sent are also the same.
        assert_true(motion_hash(lines[k].match) == motion_hash(match));
        assert_int_equal(ecs_world_counters(mirror)->bad_transitions, 0);
    }
    for (uint32_t k = 0; k < joined; k++) {
        net_client_destroy(lines[k].client);
        lines[k].transport->ops->destroy(lines[k].transport);
        net_match_destroy(lines[k].match);
    }
    net_server_destroy(server);
    transport->ops->destroy(transport);
    net_sim_destroy(sim);
    net_match_destroy(match);
    net_module_close(module);
}

CASE(s1_7_worlds_of_server_and_clients_agree_to_the_bit) {
    check_worlds_agree("cubes=2000");
}

CASE(s1_7_worlds_agree_when_cubes_fall_for_ever) {
    check_worlds_agree("cubes=500 respawn=0");
}

CASE(s1_8_worlds_agree_when_cameras_fall) {
    check_worlds_agree("cubes=500 fall=1");
}

CUBES_CASE(a_client_that_goes_back_in_time_holds_what_was_there_then, false, 2, "cubes=400") {
    net_match* view = open_match(t->module, NET_ROLE_MIRROR, false, 2, NULL);
    const cubes_game* own = net_match_context(view);
    for (ecs_entity at = next_spawned(t->match, ECS_ENTITY_NONE); at;
         at = next_spawned(t->match, at)) {
        const cubes_spawn spawn = *(const cubes_spawn*)ecs_get(t->world, at, t->game->spawn);
        const ecs_init inits[] = {{own->spawn, &spawn}};
        assert_ok(ecs_create_at(net_match_world(view), at, own->cube_templates[0], inits, 1));
    }
    static uint64_t hashes[1501];
    for (uint32_t tick = 1; tick <= 1500; tick++) {
        run(t->match, 1);
        hashes[tick] = motion_hash(t->match);
    }
    static const uint32_t ticks[] = {1500, 1, 2, 2, 700, 701, 699, 1499, 1500, 33};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++) {
        net_match_step_at(view, ticks[i]);
        assert_true(motion_hash(view) == hashes[ticks[i]]);
    }
    net_match_destroy(view);
}

CASE(no_tick_that_a_server_says_keeps_a_client_busy) {
    net_module* module = open_module();
    for (uint32_t respawn = 0; respawn < 2; respawn++) {
        net_match* view =
            open_match(module, NET_ROLE_MIRROR, false, 2, respawn ? "respawn=1" : "respawn=0");
        const cubes_game* game = net_match_context(view);
        const double settings[CUBES_SETTING_COUNT] = {0.0, 0.0, (double)respawn};
        net_match_mirror_start(view, 60, settings, CUBES_SETTING_COUNT);
        static const cubes_spawn spawns[] = {
            {77, 0}, {78, 5}, {79, 4000000000u}, {0, 0}, {80, UINT32_MAX}};
        for (uint32_t i = 0; i < BASE_COUNT(spawns); i++) {
            const ecs_init inits[] = {{game->spawn, &spawns[i]}};
            assert_ok(ecs_create_at(net_match_world(view), ecs_entity_make(i + 1, 1),
                                    game->cube_templates[0], inits, 1));
        }
        static const ecs_tick ticks[] = {4000000010u, 3, 4294967294u, 4294967295u, 1};
        for (uint32_t k = 0; k < BASE_COUNT(ticks); k++) {
            net_match_step_at(view, ticks[k]);
            for (uint32_t i = 0; i < BASE_COUNT(spawns); i++) {
                const cubes_transform* at =
                    ecs_get(net_match_world(view), ecs_entity_make(i + 1, 1), game->transform);
                assert_true(at->position.y == at->position.y);
                assert_true(at->position.y <= CUBES_HALF);
            }
        }
        net_match_destroy(view);
    }
    net_module_close(module);
}

CUBES_CASE(every_build_comes_to_the_same_bits, false, 42, "cubes=3000") {
    net_match_join(t->match, &(net_game_player){.client = 1, .name = "Ada"});
    run(t->match, 1800);
    // A change of the rule, the random numbers or the templates changes the hash. A compiler must
    // not.
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)motion_hash(t->match));
    assert_string_equal(text, "b22e0784fae74cb3");
}

CUBES_CASE(a_steady_tick_looks_no_name_up_and_tracks_no_cube, false, 1, NULL) {
    run(t->match, 2);
    const ecs_counters* counters = ecs_world_counters(net_match_world(t->match));
    uint64_t names = counters->name_lookups, compared = counters->rows_compared;
    run(t->match, 60);
    assert_int_equal(counters->name_lookups, names);
    assert_int_equal(counters->rows_compared, compared);
    assert_int_equal(counters->rows_changed, 0);
}

CUBES_CASE(an_input_turns_the_camera_within_its_limits, false, 1, "cubes=0") {
    net_match_join(t->match, &(net_game_player){.client = 1, .name = "Ada"});
    ecs_entity camera = net_match_player(t->match, 1);
    const cubes_input input = {.yaw = 100000, .pitch = 100000, .zoom = -100000};
    uint8_t packed[32];
    size_t size;
    assert_ok(net_match_pack(t->match, 1, &input, packed, sizeof packed, &size));
    cubes_orbit first = *(const cubes_orbit*)ecs_get(t->world, camera, t->game->orbit);
    net_match_input(t->match, 1, packed, size);
    run(t->match, 1);
    const cubes_orbit* orbit = ecs_get(t->world, camera, t->game->orbit);
    assert_float_equal(orbit->yaw - first.yaw, 1.6f / 60.0f, 0.0005f); // the turn is clamped
    for (uint32_t i = 0; i < 600; i++) {
        net_match_input(t->match, 1, NULL, 0);
        run(t->match, 1);
        orbit = ecs_get(t->world, camera, t->game->orbit);
        assert_true(is_within(orbit->yaw, -3.1418f, 3.1418f));
    }
    assert_float_equal(orbit->pitch, CUBES_PITCH_MAX, 0.001f);
    assert_float_equal(orbit->distance, CUBES_DISTANCE_MIN, 0.001f);
    net_match_leave(t->match, 1);
    assert_false(ecs_is_alive(t->world, camera));
}

CUBES_CASE(prediction_turns_the_camera_as_the_server_does, false, 1, "cubes=10") {
    net_match* ahead = open_match(t->module, NET_ROLE_PREDICT, false, 1, NULL);
    net_match_join(t->match, &(net_game_player){.client = 1, .name = "Ada"});
    const cubes_game* own = net_match_context(ahead);
    ecs_entity camera = net_match_player(t->match, 1);
    cubes_orbit orbit =
        *(const cubes_orbit*)ecs_get(net_match_world(t->match), camera, t->game->orbit);
    const ecs_init inits[] = {{own->orbit, &orbit}};
    assert_ok(ecs_create_at(net_match_world(ahead), camera, own->camera_templates[0], inits, 1));
    base_rng rng = base_rng_make(4, 4);
    for (uint32_t i = 0; i < 2000; i++) {
        const cubes_input input = {.yaw = base_rng_range(&rng, -127, 127),
                                   .pitch = base_rng_range(&rng, -127, 127),
                                   .zoom = base_rng_range(&rng, -127, 127)};
        uint8_t packed[32];
        size_t size;
        assert_ok(net_match_pack(t->match, 1, &input, packed, sizeof packed, &size));
        net_match_input(t->match, 1, packed, size);
        net_match_predict_input(ahead, camera, packed, size);
        run(t->match, 1);
        run(ahead, 1);
        assert_memory_equal(ecs_get(net_match_world(ahead), camera, own->orbit),
                            ecs_get(net_match_world(t->match), camera, t->game->orbit),
                            sizeof orbit);
    }
    net_predicted predicted[2];
    assert_int_equal(cubes_module()->predict(net_match_world(ahead), net_match_context(ahead),
                                             camera, predicted, 2),
                     1);
    assert_true(predicted[0].entity == camera && predicted[0].weight == 1.0f);
    net_match_destroy(ahead);
}

// B10: ranges of cubes fall on several threads.
CASE(cubes_fall_the_same_on_any_number_of_threads) {
    enum { TICKS = 60 };
    static uint64_t hashes[TICKS];
    static const uint32_t threads[] = {1, 2, 3, 8};
    net_module* module = open_module();
    for (uint32_t k = 0; k < BASE_COUNT(threads); k++) {
        base_workers* workers = base_workers_create(NULL, threads[k]);
        net_match* match = open_match(module, NET_ROLE_SERVER, false, 3, "cubes=9000");
        net_match_set_workers(match, workers);
        for (uint32_t i = 0; i < TICKS; i++) {
            run(match, 1);
            const uint64_t hash = ecs_world_hash(net_match_world(match));
            if (k == 0) hashes[i] = hash;
            assert_true(hash == hashes[i]);
        }
        net_match_destroy(match);
        base_workers_destroy(workers);
    }
    net_module_close(module);
}
