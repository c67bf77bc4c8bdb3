// SPDX-License-Identifier: MIT
/// What a log has of each tick, as a window and a page read it, beside the match itself: worlds in
/// which all bodies rest, all move, some of them do, and some end and come again, at random.
/// Usage: test_burst_model [scripts [seed [first]]]; the environment variables MODEL_SCRIPTS and
/// MODEL_SEED do the same.
#include "model_scripts.h"
#include "match_made.h"
#include "playback/playback_record.h"

#include "replay/log_state.h"

enum { TICKS_MAX = 400 };

static const char templates[] =
    "mote { \"spot:p2\"{ _replicate:b=yes; _min:r=-512; _max:r=511; _step:r=0.25 }\n"
    "       \"heat:i\"{ _replicate:b=yes; } }\n"
    "spark { _extends:t=\"mote\" \"glow:r\"{ _replicate:b=yes; } }\n";

typedef struct script {
    uint64_t seed;
    uint32_t number, bodies, ticks;
    uint8_t moving[TICKS_MAX + 1], ending[TICKS_MAX + 1]; // percent of the bodies
} script;

static script now; // of the match and of its run alike

static uint64_t chance(const ecs_stage* stage, ecs_entity entity) {
    return base_hash64_mix(base_hash64_mix(now.seed, stage->tick), entity);
}

static void burst(const ecs_stage* stage, const ecs_rows* rows) {
    const char* const kinds[] = {"mote", "spark"};
    float(*spot)[2] = rows->columns[0];
    int32_t* heat = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        const uint64_t bits = chance(stage, rows->entities[i]);
        if (bits % 100 < now.moving[stage->tick]) {
            spot[i][bits >> 8 & 1] += (float)(int)(bits >> 16 & 31) - 15.5f;
            heat[i] += (int32_t)(bits >> 32 & 3);
        }
        if (bits / 100 % 100 >= now.ending[stage->tick]) continue;
        const ecs_template_id kind = ecs_template_find(stage->world, kinds[bits >> 40 & 1]);
        if (bits >> 41 & 1) {
            (void)ecs_command_recreate(stage->world, rows->entities[i], kind, NULL, 0);
            continue;
        }
        (void)ecs_command_destroy(stage->world, rows->entities[i]);
        (void)ecs_command_create(stage->world, kind, NULL, 0);
    }
}

static ecs_result burst_systems(ecs_world* world, void** context, const base_reporter* reporter) {
    static const ecs_term terms[] = {{"spot", "p2", ECS_WRITE}, {"heat", "i", ECS_WRITE}};
    (void)context, (void)reporter;
    return ecs_system_register(world, &(ecs_system_desc){.name = "burst_es",
                                                         .stage = "act",
                                                         .run = burst,
                                                         .terms = terms,
                                                         .term_count = BASE_COUNT(terms)});
}

static void burst_start(ecs_world* world, void* context, const net_game_start* start) {
    (void)context, (void)start;
    for (uint32_t i = 0; i < now.bodies; i++)
        assert_true(ecs_try_create(world, ecs_template_find(world, "mote"), NULL, 0));
}

static net_module* open_module(void) {
    static net_game_module game;
    game = *breakout_module();
    game.register_systems = burst_systems;
    game.start = burst_start;
    return record_module(&game, templates);
}

static void write_log(const net_module* module, const char* file) {
    net_match* match = match_made(module, (match_wanted){.seed = 1});
    net_log_writer* writer;
    assert_ok(net_log_writer_create(NULL, file, NULL, match, "test", 1, test_reporter(), &writer));
    for (uint32_t tick = 1; tick <= now.ticks; tick++) {
        files_match_tick(writer, match, &(net_tick_inputs){.tick = tick});
        net_log_wait_room(writer);
    }
    net_log_append_close(writer, match);
    assert_ok(net_log_writer_destroy(writer));
    net_match_destroy(match);
}

// Each tick of the log's state beside a run, then what verify says.
static void check_log(const net_module* module, const char* file) {
    net_log_reader *of_run = files_reader(file), *of_state = files_reader(file);
    net_log_replay* replay;
    net_log_state* state;
    net_log_tick tick;
    net_verify_result result = {0};
    uint32_t count = 0;
    assert_ok(net_log_replay_create(of_run, module, 0, NULL, &replay));
    assert_ok(net_log_state_create(of_state, NULL, test_reporter(), &state));
    for (; net_log_replay_step(replay, &tick) == NET_OK; count++) {
        if (net_log_state_step(state) != NET_OK || !net_log_state_is_whole(state) ||
            net_log_compare(state, net_log_replay_match(replay), &result))
            fail_msg("script %u, tick %u: %s.%s %s", now.number, (unsigned)tick.tick,
                     result.component, result.field, result.note);
    }
    assert_int_equal(count, now.ticks);
    net_log_state_destroy(state);
    net_log_replay_destroy(replay);
    assert_ok(net_log_verify(of_run, module, 0, 0, NULL, NULL, test_reporter(), &result));
    net_log_reader_destroy(of_run);
    net_log_reader_destroy(of_state);
}

FILES_CASE(bodies_that_rest_then_all_move_then_some_are_read_as_they_were) {
    net_module* module = open_module();
    now = (script){.seed = 3, .bodies = 300, .ticks = 60};
    for (uint32_t tick = 10; tick <= now.ticks; tick++)
        now.moving[tick] = tick < 20 ? 10 : tick < 24 ? 1 : tick < 28 ? 100 : 20;
    write_log(module, files->log);
    check_log(module, files->log);
    net_module_close(module);
}

static model_scripts scripts = {.count = 60, .seed = 4711};

static void make_script(uint32_t number) {
    static const uint8_t percents[] = {0, 0, 100, 1, 10, 50, 90};
    base_rng rng = base_rng_make(scripts.seed, number);
    now = (script){.seed = scripts.seed + number,
                   .number = number,
                   .bodies = 1 + base_rng_below(&rng, base_rng_below(&rng, 2) ? 30 : 300),
                   .ticks = 1 + base_rng_below(&rng, base_rng_below(&rng, 10) ? 80 : TICKS_MAX)};
    const bool has_ends = base_rng_below(&rng, 2);
    for (uint32_t tick = 1; tick <= now.ticks;) {
        const uint8_t moving = percents[base_rng_below(&rng, BASE_COUNT(percents))];
        const uint8_t ending = has_ends && base_rng_below(&rng, 4) == 0 ? 5 : 0;
        for (uint32_t left = 1 + base_rng_below(&rng, 12); left > 0 && tick <= now.ticks; left--) {
            now.moving[tick] = moving;
            now.ending[tick++] = ending;
        }
    }
}

FILES_CASE(random_bursts_are_read_as_they_were) {
    net_module* module = open_module();
    for (uint32_t i = scripts.first; i < scripts.first + scripts.count; i++) {
        make_script(i);
        write_log(module, files->log);
        check_log(module, files->log);
        files_clear(files);
    }
    net_module_close(module);
}

MODEL_MAIN(5)
