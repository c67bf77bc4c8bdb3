// SPDX-License-Identifier: MIT
// The replay (playback_run.c) stands at the tick after the shown moment; the view world shows a
// moment between that tick and the one before. A feed carries what changed from one
// to the other.
//
// The same moment looks the same however it was reached. A seek creates the view again, because a
// module's effects keep state outside of the world, which is destroyed with the match. Then it
// passes the NET_PLAYBACK_WARM_MS before the moment in frames that draw nothing.
// Advancing keeps the view, so effects then depend on the length of the frames.
//
// Left to others: windows, pictures, keys.
#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/system.h"
#include "log/playback_run.h"
#include "log/playback_values.h"
#include "net/match.h"
#include "net/playback.h"
#include "present/scene.h"
#include "state/history.h"
#include "state/varsize.h"

#include <string.h>

// ---- drawing with names of the log ----

// A net_draw has one context for all its functions, and names come from another place than lines.

// What a playback passes to systems of stage "render": the caller's drawing with player names from
// the log, or a drawing that draws nothing, to run effects.

typedef struct net_playback_drawing {
    const net_draw* draw; ///< NULL: nothing is drawn
    const net_playback_marks_list* marks;
    const net_match* match; ///< names of players that the marks do not have yet
} net_playback_drawing;
// Width of a glyph where nothing is drawn, in heights.
#define GLYPH_WIDTH 0.55f

static void rect(void* context, float x, float y, float width, float height, ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->rect(draw->context, x, y, width, height, color);
}

static void circle(void* context, float x, float y, float radius, ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->circle(draw->context, x, y, radius, color);
}

static void line(void* context, float x0, float y0, float x1, float y1, float width,
                 ecs_color color) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->line(draw->context, x0, y0, x1, y1, width, color);
}

static void triangles(void* context, const float* points, const ecs_color* colors, uint32_t count) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->triangles(draw->context, points, colors, count);
}

static void text(void* context, float x, float y, float height, ecs_color color, const char* what) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) draw->text(draw->context, x, y, height, color, what);
}

static float text_width(void* context, float height, const char* what) {
    const net_draw* draw = ((net_playback_drawing*)context)->draw;
    if (draw) return draw->text_width(draw->context, height, what);
    return (float)strlen(what) * height * GLYPH_WIDTH;
}

static const char* player_name(void* context, uint32_t client) {
    const net_playback_drawing* drawing = context;
    const char* name = net_playback_marks_name(drawing->marks, client);
    return name || !drawing->match ? name : net_match_player_name(drawing->match, client);
}

// Make a net_draw that borrows `drawing`. Player and pixels_per_unit are those of drawing->draw;
// the caller fills in the times.
static net_draw make_drawing(net_playback_drawing* drawing) {
    BASE_ASSERT(drawing && drawing->marks);
    return (net_draw){
        .size_bytes = sizeof(net_draw),
        .context = drawing,
        .rect = rect,
        .circle = circle,
        .line = line,
        .triangles = triangles,
        .text = text,
        .text_width = text_width,
        .player_name = player_name,
        .player = drawing->draw ? drawing->draw->player : ECS_ENTITY_NONE,
        .pixels_per_unit = drawing->draw ? drawing->draw->pixels_per_unit : 1.0f,
    };
}

// ---- from the run to the view ----

// The view of a playback gets what a client on a perfect network would get: the quantised rows that
// changed, values of variable size, and the events that go to all clients.

// From the run of a playback to its view.

typedef struct net_playback_feed {
    const base_allocator* allocator;
    const base_reporter* reporter;
    const net_game_module* game;
    net_rows* rows;       ///< of the run's world
    uint32_t rows_number; ///< of the match that they belong to
    net_history* history;
    net_varsize_source* varsize;      ///< of the run's world
    net_varsize_sender* varsize_view; ///< its one client
    uint32_t event_number;            ///< of the last reliable one
} net_playback_feed;
static void send_event(net_playback_feed* feed, net_match* match, net_scene* scene,
                       const ecs_event* event) {
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* known = &feed->game->messages[message - 1];
    net_event_outbox_entry entry = {
        .message = message, .tick = net_match_tick(match), .target = event->target};
    size_t size;
    // A server does not send an event that is too long, so the view does not get it.
    if (net_match_pack(match, message, event->payload, entry.payload, sizeof entry.payload,
                       &size) != NET_OK)
        return;
    entry.size = (uint32_t)size;
    if (known->is_reliable) entry.number = ++feed->event_number;
    net_scene_event(scene, &entry);
}

typedef struct showing {
    net_scene* scene;
    uint64_t versions[NET_VARSIZE_FLIGHT_MAX];
    uint32_t count;
} showing;

static net_result show_varsize(void* context, const net_varsize_message* message) {
    showing* to = context;
    net_result result = net_scene_varsize(to->scene, message);
    if (result == NET_OK) to->versions[to->count++] = message->version;
    return result;
}

// Each value arrives as soon as it is sent.
static net_result send_varsize(net_playback_feed* feed, const ecs_world* world, ecs_tick tick,
                               net_scene* scene) {
    net_result result = net_varsize_source_step(feed->varsize, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(feed->history, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == NET_HISTORY_SPAWNED)
            net_varsize_sender_enter(feed->varsize_view, events[i].handle, UINT32_MAX, tick);
    showing to = {.scene = scene};
    do {
        to.count = 0;
        net_varsize_sender_publish(feed->varsize_view, UINT32_MAX, show_varsize, &to);
        for (uint32_t i = 0; i < to.count; i++)
            (void)net_varsize_sender_ack(feed->varsize_view, to.versions[i]);
    } while (to.count > 0);
    return net_varsize_sender_is_broken(feed->varsize_view) ? NET_ERR_MEMORY : NET_OK;
}

// Give `scene` what the last tick of the run changed. The first step gives the whole world; events
// of the ticks before it are over. @return NET_OK; NET_ERR_MEMORY.
static net_result feed_step(net_playback_feed* feed, net_match* match, net_scene* scene) {
    ecs_world* world = net_match_world(match);
    ecs_tick tick = net_match_tick(match);
    // The first step takes the whole world; events of the ticks before it are over.
    bool is_first = net_history_step_count(feed->history) == 0;
    net_result result = net_history_step(feed->history, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(feed->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == NET_HISTORY_DESPAWNED) {
            net_scene_gone(scene, events[i].handle, tick);
            continue;
        }
        const net_history_entity* entity =
            net_history_find(feed->history, ecs_entity_index(events[i].handle));
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        proto_row_unpack(&entity->row_template->layout, net_history_newest(entity), row);
        net_scene_row(scene, entity->handle, entity->row_template, tick, row);
    }
    result = send_varsize(feed, world, tick, scene);
    if (result != NET_OK) return result;
    net_scene_packet(scene, tick);
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count && !is_first; i++)
        send_event(feed, match, scene, &changes.events[i]);
    return NET_OK;
}

static void feed_leave(net_playback_feed* feed) {
    net_history_destroy(feed->history);
    net_varsize_sender_destroy(feed->varsize_view);
    net_varsize_source_destroy(feed->varsize);
    feed->history = NULL;
    feed->varsize_view = NULL;
    feed->varsize = NULL;
}

// Leave, and forget the match. The feed may be opened again.
static void feed_close(net_playback_feed* feed) {
    feed_leave(feed);
    net_rows_destroy(feed->rows);
    feed->rows = NULL;
}

// Get the rows of the run's match, which may be another one than before. The view must be closed.
// @return NET_OK; NET_ERR_SCHEMA (reported: a replicated component cannot be sent);
//         NET_ERR_MEMORY.
static net_result feed_open(net_playback_feed* feed, net_playback_run* run) {
    if (feed->rows && feed->rows_number == net_playback_run_match_number(run)) return NET_OK;
    feed_close(feed);
    feed->rows_number = net_playback_run_match_number(run);
    return net_rows_create(feed->allocator, net_match_world(net_playback_run_match(run)),
                           feed->reporter, &feed->rows);
}

// Begin with a new view of so many indices, which has nothing yet. @return NET_OK; NET_ERR_MEMORY.
static net_result feed_enter(net_playback_feed* feed, uint32_t indices) {
    feed->event_number = 0;
    net_result result = net_history_create(feed->allocator, feed->rows, indices, &feed->history);
    if (result == NET_OK)
        result = net_varsize_source_create(feed->allocator, feed->rows, indices, feed->reporter,
                                           &feed->varsize);
    if (result == NET_OK) result = net_varsize_sender_create(feed->varsize, &feed->varsize_view);
    return result;
}

// ---- where moments come from ----

// Another schema makes a run impossible. A game that differs only in what it does runs the log
// until a hash differs; from then on a run would show another match.

// Where the moments of a playback come from: the match run again, or, when the game here cannot
// run it, the values in the log.

// One of both is set.
typedef struct net_playback_source {
    net_playback_run* run;
    net_playback_values* values;
    ecs_tick diverged; ///< where the run differed that was given up
} net_playback_source;

// Another schema than the log's is no failure when the log has values: that it is not run again is
// reported then, and why. @return as net_log_replay_create.
static net_result source_create(net_log_reader* reader, const net_module* module,
                                const base_reporter* reporter, net_playback_source* source) {
    const net_log_info* info = net_log_reader_info(reader);
    const ecs_tick every =
        info->keyframe_count > 0 ? NET_PLAYBACK_NEAR_TICKS : NET_PLAYBACK_SAVE_TICKS;
    *source = (net_playback_source){0};
    net_result result = net_playback_run_create(reader, module, reporter, every,
                                                NET_PLAYBACK_SAVE_BYTES_MAX, &source->run);
    if (result != NET_ERR_SCHEMA || strcmp(info->game, module->game->name) != 0) return result;
    net_result values = net_playback_values_create(reader, reporter, &source->values);
    if (values == NET_ERR_MEMORY) return values;
    if (values != NET_OK) return result; // both reasons are reported
    base_report(reporter, net_log_reader_file(reader), 0,
                "warning: the match is not run again: its values are shown as the log has them");
    return NET_OK;
}

// The run differs from the log: give it up for the values in the log, which is reported. A log
// without values leaves the run as it is. What borrows from its match must be gone before.
// @return NET_OK; NET_ERR_MEMORY.
static net_result source_give_up(net_playback_source* source, net_log_reader* reader,
                                 const base_reporter* reporter) {
    BASE_ASSERT(source->run && !source->values);
    net_result result = net_playback_values_create(reader, NULL, &source->values);
    if (result != NET_OK) return result == NET_ERR_MEMORY ? result : NET_OK;
    net_playback_values_report(source->values, reporter);
    source->diverged = net_playback_run_diverged(source->run);
    net_playback_run_destroy(source->run);
    source->run = NULL;
    base_report(reporter, net_log_reader_file(reader), 0,
                "warning: the match is not run on: its values are shown as the log has them");
    return NET_OK;
}

static void source_destroy(net_playback_source* source) {
    net_playback_run_destroy(source->run);
    net_playback_values_destroy(source->values);
    *source = (net_playback_source){0};
}

// Go to a tick. With `is_through` a run runs every tick on the way. @return as net_playback_run_to
// and net_playback_values_to.
static net_result source_to(net_playback_source* source, ecs_tick tick, bool is_through) {
    if (source->values) return net_playback_values_to(source->values, tick);
    return is_through ? net_playback_run_through(source->run, tick)
                      : net_playback_run_to(source->run, tick);
}

// @return as net_playback_run_step and net_playback_values_step.
static net_result source_step(net_playback_source* source) {
    return source->values ? net_playback_values_step(source->values)
                          : net_playback_run_step(source->run);
}

static bool source_has_jumped(const net_playback_source* source) {
    return source->values ? net_playback_values_has_jumped(source->values)
                          : net_playback_run_has_jumped(source->run);
}

// @return as net_playback_run_return.
static net_result source_return(net_playback_source* source) {
    return source->values ? net_playback_values_return(source->values)
                          : net_playback_run_return(source->run);
}

// @return The replayed match; NULL when there is none.
static net_match* source_match(const net_playback_source* source) {
    return source->run ? net_playback_run_match(source->run) : NULL;
}

static ecs_tick source_tick(const net_playback_source* source) {
    return source->values ? net_playback_values_tick(source->values)
                          : net_playback_run_tick(source->run);
}

static ecs_tick source_last(const net_playback_source* source) {
    return source->values ? net_playback_values_last(source->values)
                          : net_playback_run_last(source->run);
}

static ecs_tick source_diverged(const net_playback_source* source) {
    return source->run ? net_playback_run_diverged(source->run) : source->diverged;
}

// The config of the match: rate, settings, indices. A setting that is not here is left out.
static net_match_config source_config(const net_playback_source* source, const net_module* module,
                                      const net_log_info* info) {
    if (source->run) return *net_match_get_config(net_playback_run_match(source->run));
    net_match_config config = net_match_config_default(module);
    config.tick_rate_hz = info->tick_rate_hz;
    config.replicated_index_max = info->replicated_index_max;
    for (uint32_t i = 0; i < info->setting_count; i++)
        (void)!net_match_setting_apply(&config, info->settings[i], NULL);
    return config;
}

// ---- the playback ----

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
    feed_leave(&playback->feed);
    playback->scene = NULL;
    playback->view = NULL;
}

// What the run or the values have for the view.
static net_result feed(net_playback* playback, bool is_new) {
    net_playback_source* source = &playback->source;
    if (source->values) return net_playback_values_feed(source->values, playback->scene, is_new);
    return feed_step(&playback->feed, source_match(source), playback->scene);
}

static net_result enter(net_playback* playback, const net_match_config* config) {
    net_playback_source* source = &playback->source;
    if (source->values)
        return net_playback_values_enter(source->values, net_match_world(playback->view));
    return feed_enter(&playback->feed, config->replicated_index_max
                                           ? config->replicated_index_max
                                           : ecs_limits_default().replicated_index_max);
}

// Open a view that has the whole world at the replay's tick and no past.
static net_result open_view(net_playback* playback) {
    BASE_ASSERT(!playback->view && !playback->scene);
    const net_match_config of_log =
        source_config(&playback->source, playback->module, net_log_reader_info(playback->reader));
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
    playback->tick = playback->drawn_tick = (double)source_tick(&playback->source);
    result = feed(playback, true);
    return result == NET_OK ? net_scene_advance(playback->scene, playback->tick) : result;
}

// ---- showing ----

void net_playback_draw(net_playback* playback, const net_draw* with) {
    if (!playback->scene) return;
    net_playback_drawing drawing = {
        .draw = with, .marks = &playback->marks, .match = source_match(&playback->source)};
    net_draw made = make_drawing(&drawing);
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
    net_result result = source_step(&playback->source);
    if (result != NET_OK) return result;
    if (!source_has_jumped(&playback->source)) return feed(playback, false);
    close_view(playback);
    return open_view(playback);
}

static net_result feed_until(net_playback* playback, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && source_tick(&playback->source) < tick)
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
    ecs_tick last = source_last(&playback->source);
    return warm < last ? warm : last;
}

// A piece of the marks with each call; the first ones are those of a minute.
static net_result read_marks(net_playback* playback, uint64_t blocks) {
    if (playback->marks.is_whole) return NET_OK;
    net_result result =
        net_playback_marks_read(&playback->marks, playback->reader, playback->module->game, blocks);
    net_result back = source_return(&playback->source);
    return result == NET_OK ? back : result;
}

static net_result open_at(net_playback* playback, double tick, bool uses_keyframes) {
    ecs_tick warm = warm_tick(playback, (ecs_tick)tick);
    close_view(playback);
    net_result result = source_to(&playback->source, warm, !uses_keyframes);
    if (result == NET_OK && playback->source.run)
        result = feed_open(&playback->feed, playback->source.run);
    if (result == NET_OK) result = open_view(playback);
    if (result == NET_OK) result = warm_until(playback, tick);
    if (result != NET_OK) close_view(playback);
    return result;
}

static double clamp(const net_playback* playback, double tick) {
    double last = (double)source_last(&playback->source);
    double first = (double)net_log_reader_info(playback->reader)->first_tick;
    if (first > last) first = last;
    if (!(tick > first)) return first; // NaN too
    return tick < last ? tick : last;
}

// The run is another match from here on: show what the log has.
static net_result give_up(net_playback* playback, double tick) {
    close_view(playback);
    feed_close(&playback->feed);
    net_result result = source_give_up(&playback->source, playback->reader, &playback->reporter);
    return result == NET_OK ? open_at(playback, clamp(playback, tick), true) : result;
}

// Finish a seek or advance. A log that cannot be followed so far is shown as far as possible.
static net_result finish(net_playback* playback, net_result result, double tick) {
    if (result == NET_ERR_DAMAGED && tick > (double)source_last(&playback->source)) {
        net_result again = open_at(playback, clamp(playback, tick), true);
        return again == NET_OK ? result : again;
    }
    if (result != NET_OK) {
        close_view(playback);
        return result;
    }
    if (playback->has_reported_divergence || source_diverged(&playback->source) == 0) return NET_OK;
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
    net_result result = source_create(reader, module, reporter, &playback->source);
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
    feed_close(&playback->feed);
    source_destroy(&playback->source);
    net_playback_marks_deinit(&playback->marks);
    base_release(playback->allocator, playback, sizeof *playback);
}

ecs_tick net_playback_tick_last(const net_playback* playback) {
    return source_last(&playback->source);
}

double net_playback_tick(const net_playback* playback) {
    return playback->tick;
}

net_match* net_playback_match(net_playback* playback) {
    if (playback->source.values) return net_playback_view_match(playback);
    return source_match(&playback->source);
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
    net_match* match = source_match(&playback->source);
    return name || !match ? name : net_match_player_name(match, client);
}

ecs_tick net_playback_diverged(const net_playback* playback) {
    return source_diverged(&playback->source);
}
