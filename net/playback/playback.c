// SPDX-License-Identifier: MIT
// The replay (playback_run.c) stands at the tick after the shown moment; the view world shows a
// moment between that tick and the one before. What flows from one to the other: playback_feed.c.
//
// The same moment looks the same however it was reached. A seek creates the view again, because a
// module's effects keep state outside of the world, which is destroyed with the match. Then it
// passes the NET_PLAYBACK_WARM_MS before the moment in frames that draw nothing.
// Advancing keeps the view, so effects then depend on the length of the frames.
//
// Left to others: windows, pictures, keys.
#include "net/playback.h"

#include "playback/playback_draw.h"
#include "playback/playback_feed.h"
#include "playback/playback_marks.h"
#include "playback/playback_source.h"
#include "present/scene.h"

#include "base/assert.h"
#include "ecs/system.h"

// Blocks of marks with each call: someone who steps back waits for each seek.
enum { MARKS_BLOCKS_FIRST = 256, MARKS_BLOCKS_SEEK = 4, MARKS_BLOCKS = 32 };

enum { WARM_FRAME_MS = 100 }; // between two frames of a seek that are far from its moment

struct net_playback {
    const base_allocator* allocator;
    net_log_reader* reader;
    const net_module* module;
    base_reporter reporter;
    net_playback_marks_list marks;
    net_playback_source source;
    net_playback_feed feed; // with a run
    net_match* view;
    net_scene* scene;  // NULL: nothing can be shown until a seek succeeds
    double tick;       // shown
    double drawn_tick; // effects ran up to this moment
    bool has_reported_divergence;
};

static void close_view(net_playback* playback) {
    net_scene_destroy(playback->scene);
    if (playback->source.values) net_playback_values_leave(playback->source.values);
    net_match_destroy(playback->view);
    net_playback_feed_leave(&playback->feed);
    playback->scene = NULL;
    playback->view = NULL;
}

// What the run or the values have for the view.
static net_result feed(net_playback* playback, bool is_new) {
    net_playback_source* source = &playback->source;
    if (source->values) return net_playback_values_feed(source->values, playback->scene, is_new);
    return net_playback_feed_step(&playback->feed, net_playback_source_match(source),
                                  playback->scene);
}

static net_result enter(net_playback* playback, const net_match_config* config) {
    net_playback_source* source = &playback->source;
    if (source->values)
        return net_playback_values_enter(source->values, net_match_world(playback->view));
    return net_playback_feed_enter(
        &playback->feed, config->replicated_index_max ? config->replicated_index_max
                                                      : ecs_limits_default().replicated_index_max);
}

// Open a view that has the whole world at the replay's tick and no past.
static net_result open_view(net_playback* playback) {
    BASE_ASSERT(!playback->view && !playback->scene);
    const net_match_config of_log = net_playback_source_config(
        &playback->source, playback->module, net_log_reader_info(playback->reader));
    net_match_config config = net_match_config_default(playback->module);
    config.allocator = playback->allocator;
    config.role = NET_ROLE_MIRROR;
    config.has_render = true;
    config.replicated_index_max = of_log.replicated_index_max;
    net_result result = net_match_create(&config, &playback->reporter, &playback->view);
    if (result != NET_OK) return result;
    net_match_mirror_start(playback->view, of_log.tick_rate_hz, of_log.settings,
                           playback->module->game->setting_count);
    result = enter(playback, &of_log);
    if (result != NET_OK) return result;
    result = net_scene_create(playback->allocator, playback->view, &playback->reporter,
                              &playback->scene);
    if (result != NET_OK) return result;
    playback->tick = playback->drawn_tick = (double)net_playback_source_tick(&playback->source);
    result = feed(playback, true);
    return result == NET_OK ? net_scene_advance(playback->scene, playback->tick) : result;
}

// ---- showing ----

void net_playback_draw(net_playback* playback, const net_draw* with) {
    if (!playback->scene) return;
    net_playback_drawing drawing = {.draw = with,
                                    .marks = &playback->marks,
                                    .match = net_playback_source_match(&playback->source)};
    net_draw made = net_playback_drawing_make(&drawing);
    double dt = 1.0 / net_match_get_config(playback->view)->tick_rate_hz;
    made.time_s = playback->tick * dt;
    made.frame_dt_s = (float)((playback->tick - playback->drawn_tick) * dt);
    made.tick = playback->tick;
    made.player = with ? with->player : ECS_ENTITY_NONE;
    playback->drawn_tick = playback->tick;
    ecs_world* world = net_match_world(playback->view);
    uint32_t stage = ecs_stage_find(world, "render");
    if (stage == UINT32_MAX) return; // the game draws nothing
    const ecs_step step = {
        .tick = net_match_tick(playback->view), .dt = net_match_dt(playback->view), .user = &made};
    ecs_world_run_stage(world, stage, &step);
}

static ecs_tick tick_above(double tick) {
    ecs_tick below = (ecs_tick)tick;
    return below + ((double)below < tick);
}

// Behind ticks that are lost the world is another one, and it gets a view of its own.
static net_result feed_next(net_playback* playback) {
    net_result result = net_playback_source_step(&playback->source);
    if (result != NET_OK) return result;
    if (!net_playback_source_has_jumped(&playback->source)) return feed(playback, false);
    close_view(playback);
    return open_view(playback);
}

static net_result feed_until(net_playback* playback, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && net_playback_source_tick(&playback->source) < tick)
        result = feed_next(playback);
    return result;
}

static net_result show(net_playback* playback, double tick) {
    net_result result = feed_until(playback, tick_above(tick));
    if (result != NET_OK) return result;
    if (tick < playback->tick) return NET_OK; // it is lost; what follows is shown
    playback->tick = tick;
    return net_scene_advance(playback->scene, tick);
}

// Does a seek draw a frame at this tick? Each of the last ones before the moment; of those before,
// one every WARM_FRAME_MS, of which little is left by then.
static bool is_warm_frame(const net_playback* playback, ecs_tick at, double tick) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    ecs_tick every = (ecs_tick)info->tick_rate_hz * WARM_FRAME_MS / 1000;
    if (every > NET_CATCH_UP_TICKS_MAX) every = NET_CATCH_UP_TICKS_MAX; // a scene passes over more
    return every <= 1 || at % every == 0 || (double)(at + every) >= tick;
}

// Show a later moment and pass each tick on the way.
static net_result show_until(net_playback* playback, double tick) {
    net_result result = NET_OK;
    for (ecs_tick next = (ecs_tick)playback->tick + 1; result == NET_OK && (double)next < tick;
         next++)
        result = show(playback, (double)next);
    return result == NET_OK ? show(playback, tick) : result;
}

// As show_until, with frames that are drawn into nothing.
static net_result warm_until(net_playback* playback, double tick) {
    net_result result = NET_OK;
    for (ecs_tick next = (ecs_tick)playback->tick + 1; result == NET_OK && (double)next < tick;
         next++) {
        const bool is_frame = is_warm_frame(playback, next, tick);
        result = is_frame ? show(playback, (double)next) : feed_until(playback, next);
        if (result == NET_OK && is_frame) net_playback_draw(playback, NULL);
    }
    return result == NET_OK ? show(playback, tick) : result;
}

// The tick from which effects run for a moment after `tick`.
static ecs_tick warm_tick(const net_playback* playback, ecs_tick tick) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    ecs_tick ticks = (ecs_tick)info->tick_rate_hz * NET_PLAYBACK_WARM_MS / 1000;
    ecs_tick warm = tick > ticks ? tick - ticks : 0;
    if (warm < info->first_tick) warm = info->first_tick;
    ecs_tick last = net_playback_source_last(&playback->source);
    return warm < last ? warm : last;
}

// A piece of the marks with each call; the first ones are those of a minute.
static net_result read_marks(net_playback* playback, uint64_t blocks) {
    if (playback->marks.is_whole) return NET_OK;
    net_result result =
        net_playback_marks_read(&playback->marks, playback->reader, playback->module->game, blocks);
    net_result back = net_playback_source_return(&playback->source);
    return result == NET_OK ? back : result;
}

static net_result open_at(net_playback* playback, double tick, bool uses_keyframes) {
    ecs_tick warm = warm_tick(playback, (ecs_tick)tick);
    close_view(playback);
    net_result result = net_playback_source_to(&playback->source, warm, !uses_keyframes);
    if (result == NET_OK && playback->source.run)
        result = net_playback_feed_open(&playback->feed, playback->source.run);
    if (result == NET_OK) result = open_view(playback);
    if (result == NET_OK) result = warm_until(playback, tick);
    if (result != NET_OK) close_view(playback);
    return result;
}

static double clamp(const net_playback* playback, double tick) {
    double last = (double)net_playback_source_last(&playback->source);
    double first = (double)net_log_reader_info(playback->reader)->first_tick;
    if (first > last) first = last;
    if (!(tick > first)) return first; // NaN too
    return tick < last ? tick : last;
}

// The run is another match from here on: show what the log has.
static net_result give_up(net_playback* playback, double tick) {
    close_view(playback);
    net_playback_feed_close(&playback->feed);
    net_result result =
        net_playback_source_give_up(&playback->source, playback->reader, &playback->reporter);
    return result == NET_OK ? open_at(playback, clamp(playback, tick), true) : result;
}

// Finish a seek or advance. A log that cannot be followed so far is shown as far as possible.
static net_result finish(net_playback* playback, net_result result, double tick) {
    if (result == NET_ERR_DAMAGED && tick > (double)net_playback_source_last(&playback->source)) {
        net_result again = open_at(playback, clamp(playback, tick), true);
        return again == NET_OK ? result : again;
    }
    if (result != NET_OK) {
        close_view(playback);
        return result;
    }
    if (playback->has_reported_divergence || net_playback_source_diverged(&playback->source) == 0)
        return NET_OK;
    playback->has_reported_divergence = true;
    result = give_up(playback, tick);
    return result == NET_OK ? NET_ERR_DIVERGED : result;
}

static net_result go_to(net_playback* playback, double tick, bool uses_keyframes) {
    tick = clamp(playback, tick);
    net_result result = read_marks(playback, MARKS_BLOCKS_SEEK);
    if (result == NET_OK) result = open_at(playback, tick, uses_keyframes);
    return finish(playback, result, tick);
}

net_result net_playback_seek(net_playback* playback, double tick) {
    return go_to(playback, tick, true);
}

net_result net_playback_pass(net_playback* playback, double tick) {
    return go_to(playback, tick, false);
}

net_result net_playback_advance(net_playback* playback, double ticks) {
    BASE_ASSERT(ticks >= 0.0);
    double tick = clamp(playback, playback->tick + ticks);
    if (!playback->scene) return net_playback_seek(playback, tick);
    net_result result = read_marks(playback, MARKS_BLOCKS);
    if (result == NET_OK) result = show_until(playback, tick);
    return finish(playback, result, tick);
}

// ---- create, destroy, get ----

net_result net_playback_create(net_log_reader* reader, const net_module* module,
                               const base_reporter* reporter, net_playback** playback_out) {
    BASE_ASSERT(reader && module && playback_out);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *playback_out = NULL;
    net_playback* playback = base_allocate_zero(allocator, sizeof *playback);
    if (!playback) return NET_ERR_MEMORY;
    playback->allocator = allocator;
    playback->module = module;
    playback->reader = reader;
    playback->feed = (net_playback_feed){
        .allocator = allocator, .reporter = &playback->reporter, .game = module->game};
    net_playback_marks_init(&playback->marks, allocator, reader);
    net_log_record close = {0};
    (void)!net_log_reader_close(reader, &close); // without one it stays empty
    if (reporter) playback->reporter = *reporter;
    net_result result = net_playback_source_create(reader, module, reporter, &playback->source);
    if (result == NET_OK) result = read_marks(playback, MARKS_BLOCKS_FIRST);
    if (result == NET_OK) {
        if (playback->source.run) net_playback_run_expect(playback->source.run, &close);
        result = open_at(playback, clamp(playback, 0.0), true);
        // The first call that shows a moment reports what is wrong with the first tick.
        if (result == NET_ERR_DAMAGED) result = NET_OK;
    }
    if (result != NET_OK) {
        net_playback_destroy(playback);
        return result;
    }
    *playback_out = playback;
    return NET_OK;
}

void net_playback_destroy(net_playback* playback) {
    if (!playback) return;
    close_view(playback);
    net_playback_feed_close(&playback->feed);
    net_playback_source_destroy(&playback->source);
    net_playback_marks_deinit(&playback->marks);
    base_release(playback->allocator, playback, sizeof *playback);
}

ecs_tick net_playback_tick_last(const net_playback* playback) {
    return net_playback_source_last(&playback->source);
}

double net_playback_tick(const net_playback* playback) {
    return playback->tick;
}

net_match* net_playback_match(net_playback* playback) {
    if (playback->source.values) return net_playback_view_match(playback);
    return net_playback_source_match(&playback->source);
}

bool net_playback_is_watched(const net_playback* playback, uint64_t* clamped) {
    if (!playback->source.values) return false;
    *clamped = net_playback_values_clamped(playback->source.values);
    return true;
}

net_match* net_playback_view_match(net_playback* playback) {
    return playback->scene ? playback->view : NULL;
}

const net_playback_mark* net_playback_marks(const net_playback* playback, uint32_t* count) {
    *count = playback->marks.mark_count;
    return playback->marks.marks;
}

const char* net_playback_player_name(const net_playback* playback, uint32_t client) {
    const char* name = net_playback_marks_name(&playback->marks, client);
    net_match* match = net_playback_source_match(&playback->source);
    return name || !match ? name : net_match_player_name(match, client);
}

ecs_tick net_playback_diverged(const net_playback* playback) {
    return net_playback_source_diverged(&playback->source);
}
