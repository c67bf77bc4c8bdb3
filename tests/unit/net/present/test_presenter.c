// SPDX-License-Identifier: MIT
// A server, a client and its presenter on the simulated network, in virtual time. The test compares
// what a player sees with what the server had.
#include "game/match.h"
#include "match_made.h"
#include "present/presenter.h"

#include "present/predict_shown.h"
#include "scene_world.h"

#include "net/server.h"

#include <math.h>

enum { TICKS_MAX = 8192, FRAME_US = 6944, TICK_US = 16667 };
static const double quantum = 0.0625;

typedef struct fixture {
    net_module* module;
    stage_side server_side;
    net_sim* sim;
    net_transport *server_transport, *client_transport;
    net_server* server;
    scarce_memory memory;
    net_match* mirror;
    net_presenter* presenter;
    net_client* client;
    ecs_entity mover;
    uint64_t now_us, server_us, client_us;
    uint32_t inputs; // made
    ecs_tick tick;
    // of frames
    uint32_t frames, backwards;
    double error_max, shown;
} fixture;

static void make_input(void* context, const net_player_context* player, void* input) {
    fixture* f = context;
    f->inputs++;
    uint32_t* block = net_player_block(player);
    if (!block) return;
    assert_true(*block == f->inputs - 1); // zeroed at first
    *block = f->inputs;
    ((stage_event*)input)->number = 1;
}

static void open(fixture* f, const net_link_config* link, bool is_predicting) {
    memset(f, 0, sizeof *f);
    scarce_init(&f->memory);
    f->module = stage_module();
    stage_side_open(&f->server_side, f->module);
    f->mover = stage_create(&f->server_side, f->server_side.mover, 0, 0);
    f->sim = net_sim_create(NULL, 5);
    assert_ok(net_sim_server(f->sim, 4, &f->server_transport));
    f->client_transport = net_sim_client(f->sim, link);
    net_server_config server = {
        .match = f->server_side.match, .transport = f->server_transport, .clients_max = 2};
    assert_ok(net_server_create(&server, &f->server));
    f->mirror = match_made(f->module, (match_wanted){.is_mirror = true});
    net_presenter_config presenter = {
        .allocator = &f->memory.allocator, .module = f->module, .is_predicting = is_predicting};
    assert_ok(net_presenter_create(&presenter, test_reporter(), &f->presenter));
    net_client_config client = {.match = f->mirror,
                                .transport = f->client_transport,
                                .address = "sim",
                                .name = "eye",
                                .input = make_input,
                                .input_context = f,
                                .presenter = f->presenter};
    f->client = net_client_create(&client);
    f->now_us = f->server_us = f->client_us = 1000000;
    f->client_us += 5000;
}

static void close_all(fixture* f) {
    net_client_destroy(f->client);
    net_presenter_destroy(f->presenter);
    net_match_destroy(f->mirror);
    f->client_transport->ops->destroy(f->client_transport);
    net_server_destroy(f->server);
    f->server_transport->ops->destroy(f->server_transport);
    net_sim_destroy(f->sim);
    stage_side_close(&f->server_side);
    net_module_close(f->module);
}

// The path goes back and forth, 4 units a tick, with a rest at each end.
static float path_at(ecs_tick tick) {
    uint32_t phase = (uint32_t)(tick % 240);
    if (phase < 100) return (float)phase * 4;
    if (phase < 120) return 400;
    if (phase < 220) return 400 - (float)(phase - 120) * 4;
    return 0;
}

static void serve(fixture* f) {
    net_server_service(f->server, f->server_us);
    ecs_tick next = net_match_tick(f->server_side.match) + 1;
    if (path_at(next) != path_at(next - 1)) stage_move(&f->server_side, f->mover, path_at(next), 0);
    net_server_tick(f->server, f->server_us);
    f->tick = net_match_tick(f->server_side.match);
    assert_true(f->tick < TICKS_MAX);
    f->server_us += TICK_US;
}

static double view_x(const fixture* f, ecs_entity entity) {
    const ecs_world* world = net_match_world(net_presenter_match(f->presenter));
    const ecs_vec2* pos = ecs_find(world, entity, f->server_side.pos);
    return pos ? (double)pos->x : -1e9;
}

static void look(fixture* f) {
    if (!net_presenter_frame(f->presenter, f->now_us)) return;
    double tick = net_presenter_tick(f->presenter);
    f->backwards += tick < f->shown;
    f->shown = tick;
    f->frames++;
    ecs_tick below = (ecs_tick)tick;
    double part = tick - (double)below;
    double right =
        (double)path_at(below) + ((double)path_at(below + 1) - (double)path_at(below)) * part;
    double x = view_x(f, f->mover);
    if (x < -1e8) return; // the entity does not exist yet
    if (fabs(x - right) > f->error_max) f->error_max = fabs(x - right);
}

static void run(fixture* f, double seconds) {
    uint64_t end = f->now_us + (uint64_t)(seconds * 1e6);
    while (f->now_us < end) {
        f->now_us += FRAME_US;
        while (f->server_us <= f->now_us)
            serve(f);
        net_client_service(f->client, f->now_us);
        while (f->client_us <= f->now_us) {
            net_client_tick(f->client, f->client_us);
            f->client_us += TICK_US;
        }
        look(f);
    }
}

static void forget_frames(fixture* f) {
    f->frames = f->backwards = 0;
    f->error_max = 0;
}

static net_presenter_meter meter_of(const fixture* f) {
    net_presenter_meter meter;
    net_presenter_get_meter(f->presenter, &meter);
    return meter;
}

/// A case with such a line: LINE_CASE(name, is_predicting, .delay_ms = 10).
#define LINE_CASE(name, is_predicting, ...)                                                        \
    CASE_WITH(fixture, f, open(f, &(net_link_config){__VA_ARGS__}, is_predicting), close_all(f),   \
              name)

LINE_CASE(on_a_steady_line_every_frame_is_on_the_servers_path, false, .delay_ms = 50) {
    run(f, 3);
    forget_frames(f);
    run(f, 30);
    assert_true(f->frames > 4000);
    assert_true(f->error_max < quantum);
    assert_int_equal(f->backwards, 0);
    const net_presenter_meter meter = meter_of(f);
    assert_true(meter.delay_ms < 35);
    assert_int_equal(meter.teleports, 0);
    assert_int_equal(meter.stalls, 0);
}

LINE_CASE(a_black_out_is_made_up_by_one_jump, false, .delay_ms = 30, .outage_at_ms = 4000,
          .outage_for_ms = 2000) {
    run(f, 5.5);
    double during = f->shown;
    run(f, 3);
    assert_true(f->shown - during > 120);
    assert_int_equal(f->backwards, 0);
    forget_frames(f);
    run(f, 5);
    assert_true(f->error_max < quantum);
}

CASE_ROWS(fixture, f, open(f, &(net_link_config){.delay_ms = 100}, predicting), close_all(f),
          predicting, 2, the_own_entity_is_shown_ahead_by_its_inputs) {
    run(f, 4);
    ecs_entity player = net_client_player(f->client);
    assert_int_not_equal(player, ECS_ENTITY_NONE);
    double behind = 0;
    for (uint32_t i = 0; i < 200; i++) {
        run(f, 0.01);
        double off = (double)f->inputs - view_x(f, player);
        if (off > behind) behind = off;
    }
    const net_presenter_meter meter = meter_of(f);
    if (predicting) {
        assert_true(behind < 4);
        assert_true(meter.lead_ms > 150);
        assert_int_equal(meter.corrections_seen, 0);
    } else {
        assert_true(behind > 10);
        assert_true(meter.lead_ms == 0);
    }
    // An entity of another player is shown where it was.
    forget_frames(f);
    run(f, 5);
    assert_true(f->error_max < quantum);
}

typedef struct drifting {
    net_module* module;
    stage_side side;
    ecs_entity loose;
    ecs_component_id drift;
    base_owner* owner; // of what is shown
    net_predict_shown shown;
} drifting;

static void open_drifting(drifting* d) {
    d->module = stage_module();
    stage_side_open(&d->side, d->module);
    d->drift = ecs_component_find(d->side.world, "drift");
    d->loose = ecs_try_create(d->side.world, ecs_template_find(d->side.world, "loose"), NULL, 0);
    d->owner = base_owner_create(NULL, sizeof *d->owner);
    net_predict_shown_init(&d->shown, &d->owner->allocator);
}

static void close_drifting(drifting* d) {
    base_owner_destroy(d->owner);
    stage_side_close(&d->side);
    net_module_close(d->module);
}

#define DRIFT_CASE(name) CASE_WITH(drifting, d, open_drifting(d), close_drifting(d), name)

static void predict_drift(drifting* d, float x, bool is_correction) {
    ecs_world* world = d->side.world;
    const ecs_vec2 value = {x, 0};
    if (is_correction) net_predict_shown_keep(&d->shown, 1);
    assert_ok(ecs_set(world, d->loose, d->drift, &value));
    d->shown.entities[0] = (net_predicted){d->loose, 1};
    d->shown.entity_count = 1;
    net_predict_shown_tick(&d->shown, world);
    if (is_correction) (void)net_predict_shown_correct(&d->shown, 1);
}

static float shown_drift(drifting* d, double part) {
    ecs_vec2 value = {0};
    assert_true(
        net_predict_shown_value(&d->shown, d->side.world, d->loose, d->drift, part, 1, &value));
    return value.x;
}

// A correction from or to a NaN leaves no error that would never fade.
DRIFT_CASE(a_prediction_that_was_no_number_resyncs) {
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    for (uint32_t i = 0; i < BASE_COUNT(odd); i++) {
        predict_drift(d, 4, false);
        predict_drift(d, odd[i], true);
        predict_drift(d, 6, true);
        predict_drift(d, 7, false);
        assert_true(shown_drift(d, 1) == 7);
    }
}

DRIFT_CASE(a_predicted_step_beyond_the_teleport_distance_is_a_jump) {
    predict_drift(d, 0, false);
    predict_drift(d, 50, false); // as far as allowed
    assert_true(shown_drift(d, 0.5) == 25);
    predict_drift(d, 101, false);
    assert_true(shown_drift(d, 0.5) == 101);
}

LINE_CASE(a_smallest_delay_is_kept, false, .delay_ms = 10) {
    net_presenter_config config = {.module = f->module, .delay_ms_min = 200};
    net_presenter* presenter;
    assert_ok(net_presenter_create(&config, NULL, &presenter));
    (void)net_presenter_face_of(presenter)->begin(presenter, f->mirror);
    for (uint64_t i = 1; i < 600; i++) {
        net_presenter_face_of(presenter)->packet(presenter, i * TICK_US, i, 0, 0, 0, false);
        // The moments before the first packet have nothing to show.
        if (net_presenter_frame(presenter, i * TICK_US))
            assert_true(net_presenter_tick(presenter) >= 1);
    }
    net_presenter_meter meter;
    net_presenter_get_meter(presenter, &meter);
    assert_true(meter.delay_ms > 195 && meter.delay_ms < 205);
    net_presenter_destroy(presenter);
}

// The person's block is that of the picture, and no other client has it.
LINE_CASE(a_block_is_shared_by_input_and_picture, true, .delay_ms = 10) {
    const net_game_module* game = f->module->game;
    assert_int_equal(game->block_bytes, sizeof(uint32_t));
    run(f, 1);
    assert_true(f->inputs > 50);
    net_draw draw = net_match_draw_nothing(NULL);
    stage_log* log = net_match_context(net_presenter_match(f->presenter));
    net_presenter_draw(f->presenter, &draw);
    assert_int_equal(log->block, f->inputs);
    assert_float_equal(draw.pixels_per_unit, 1.0f, 0.0f); // the caller's stays as it is
}

LINE_CASE(steady_frames_allocate_nothing, true, .delay_ms = 50, .jitter_ms = 20,
          .loss_percent = 5) {
    run(f, 20);
    uint64_t before = f->memory.calls;
    run(f, 20);
    assert_int_equal(f->memory.calls - before, 0);
}
