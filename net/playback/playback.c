// SPDX-License-Identifier: MIT
// The re-run (film_run.c) stands at the tick after the shown moment, the view world between that one and
// the one before. What the view is told is what a client on a perfect network would hear: the quantised
// rows that changed, and the events that go to everybody.
//
// The same moment looks the same however it was reached: a seek makes the view anew - what a module
// remembers for beauty's sake lives outside of the world and dies with the match - and lets it see the
// NET_FILM_WARM_TICKS before the moment, drawing nothing, a frame per tick. Playing on keeps what is
// there: then effects alone depend on how long the frames were.
//
// Left to others: windows, pictures, keys.
#include "net/playback.h"

#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/system.h"
#include "playback/playback_marks.h"
#include "playback/playback_draw.h"
#include "playback/playback_run.h"
#include "state/history.h"
#include "state/varsize.h"
#include "present/scene.h"

#include <string.h>

struct net_film {
    const base_allocator* allocator;
    const net_module* module;
    base_reporter reporter;
    net_film_marks_list marks;
    net_film_run* run;
    net_rows* rows;       ///< of the re-run's world
    uint32_t rows_number; ///< of the match that they are of
    net_history* history;
    net_large_server* large; ///< of the re-run's world, and its one client
    net_large_view* large_view;
    net_match* view;
    net_scene* scene;      ///< NULL: nothing can be shown until a seek succeeds
    uint32_t event_number; ///< of the last reliable one
    double tick;           ///< shown
    double drawn_tick;     ///< effects are as far as this
    bool has_told_divergence;
};

static void close_view(net_film* film) {
    net_scene_destroy(film->scene);
    net_match_destroy(film->view);
    net_history_destroy(film->history);
    net_large_view_destroy(film->large_view);
    net_large_server_destroy(film->large);
    film->large_view = NULL;
    film->large = NULL;
    film->scene = NULL;
    film->view = NULL;
    film->history = NULL;
}

static void close_rows(net_film* film) {
    close_view(film);
    net_rows_destroy(film->rows);
    film->rows = NULL;
}

// ---- from the re-run to the view ----

static void tell_event(net_film* film, net_match* match, const ecs_event* event) {
    uint32_t message = net_match_message_of(match, event->type);
    if (message == 0) return;
    const net_message* known = &film->module->game->messages[message - 1];
    net_outbox_entry entry = {
        .message = message, .tick = net_match_tick(match), .target = event->target};
    size_t size;
    // A server does not send an event that is too long either.
    if (net_match_pack(match, message, event->payload, entry.payload, sizeof entry.payload,
                       &size) != NET_OK)
        return;
    entry.size = (uint32_t)size;
    if (known->is_reliable) entry.number = ++film->event_number;
    net_scene_event(film->scene, &entry);
}

typedef struct showing {
    net_scene* scene;
    uint64_t versions[NET_LARGE_FLIGHT_MAX];
    uint32_t count;
} showing;

static net_result show_large(void* context, const net_large_message* message) {
    showing* to = context;
    net_result result = net_scene_large(to->scene, message);
    if (result == NET_OK) to->versions[to->count++] = message->version;
    return result;
}

// Each is there as soon as it is sent.
static net_result tell_large(net_film* film, const ecs_world* world, ecs_tick tick) {
    net_result result = net_large_server_step(film->large, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(film->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == NET_HISTORY_CAME)
            net_large_view_enter(film->large_view, events[i].handle, UINT32_MAX, tick);
    }
    showing to = {.scene = film->scene};
    do {
        to.count = 0;
        net_large_view_publish(film->large_view, UINT32_MAX, show_large, &to);
        for (uint32_t i = 0; i < to.count; i++)
            (void)net_large_view_ack(film->large_view, to.versions[i]);
    } while (to.count > 0);
    return net_large_view_is_broken(film->large_view) ? NET_ERR_MEMORY : NET_OK;
}

static net_result tell(net_film* film) {
    net_match* match = net_film_run_match(film->run);
    ecs_world* world = net_match_world(match);
    ecs_tick tick = net_match_tick(match);
    // The first step takes the whole world, and what was told on the way here is over.
    bool is_first = net_history_step_count(film->history) == 0;
    net_result result = net_history_step(film->history, world, tick);
    if (result != NET_OK) return result;
    uint32_t count;
    const net_history_event* events = net_history_events(film->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == NET_HISTORY_WENT) {
            net_scene_gone(film->scene, events[i].handle, tick);
            continue;
        }
        const net_history_entity* entity =
            net_history_find(film->history, ecs_entity_index(events[i].handle));
        net_scene_row(film->scene, entity->handle, entity->entry, tick, net_history_newest(entity));
    }
    result = tell_large(film, world, tick);
    if (result != NET_OK) return result;
    net_scene_packet(film->scene, tick);
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.event_count && !is_first; i++)
        tell_event(film, match, &changes.events[i]);
    return NET_OK;
}

static net_result open_rows(net_film* film) {
    if (film->rows && film->rows_number == net_film_run_match_number(film->run)) return NET_OK;
    close_rows(film);
    film->rows_number = net_film_run_match_number(film->run);
    return net_rows_create(film->allocator, net_match_world(net_film_run_match(film->run)),
                           &film->reporter, &film->rows);
}

static uint32_t index_max(const net_match_config* config) {
    return config->replicated_index_max ? config->replicated_index_max
                                        : ecs_limits_default().replicated_index_max;
}

/// A view that has seen nothing but the whole world at the re-run's tick.
static net_result open_view(net_film* film) {
    const net_match_config* of_log = net_match_get_config(net_film_run_match(film->run));
    net_match_config config = net_match_config_default(film->module);
    config.allocator = film->allocator;
    config.role = NET_ROLE_MIRROR;
    config.has_render = true;
    config.replicated_index_max = of_log->replicated_index_max;
    net_result result = net_match_create(&config, &film->reporter, &film->view);
    if (result != NET_OK) return result;
    net_match_mirror_start(film->view, of_log->tick_rate_hz, of_log->settings,
                           film->module->game->setting_count);
    uint32_t indices = index_max(of_log);
    result = net_history_create(film->allocator, film->rows, indices, &film->history);
    if (result != NET_OK) return result;
    result = net_large_server_create(film->allocator, film->rows, indices, &film->reporter,
                                     &film->large);
    if (result == NET_OK) result = net_large_view_create(film->large, &film->large_view);
    if (result != NET_OK) return result;
    result = net_scene_create(film->allocator, film->view, &film->reporter, &film->scene);
    if (result != NET_OK) return result;
    film->event_number = 0;
    film->tick = film->drawn_tick = (double)net_film_run_tick(film->run);
    result = tell(film);
    return result == NET_OK ? net_scene_advance(film->scene, film->tick, NULL) : result;
}

// ---- showing ----

static void draw(net_film* film, const net_draw* with) {
    if (!film->scene) return;
    net_film_pen pen = {.draw = with, .marks = &film->marks};
    net_draw made = net_film_pen_draw(&pen);
    double dt = 1.0 / net_match_get_config(film->view)->tick_rate_hz;
    made.time_s = film->tick * dt;
    made.frame_dt_s = (float)((film->tick - film->drawn_tick) * dt);
    made.tick = film->tick;
    film->drawn_tick = film->tick;
    ecs_world* world = net_match_world(film->view);
    uint32_t stage = ecs_stage_find(world, "render");
    if (stage == UINT32_MAX) return; // a game that draws nothing
    const ecs_step step = {
        .tick = net_match_tick(film->view), .dt = net_match_dt(film->view), .user = &made};
    ecs_world_run_stage(world, stage, &step);
}

static ecs_tick tick_above(double tick) {
    ecs_tick below = (ecs_tick)tick;
    return below + ((double)below < tick);
}

static net_result show(net_film* film, double tick) {
    while (net_film_run_tick(film->run) < tick_above(tick)) {
        net_result result = net_film_run_step(film->run);
        if (result == NET_OK) result = tell(film);
        if (result != NET_OK) return result;
    }
    film->tick = tick;
    return net_scene_advance(film->scene, tick, NULL);
}

/// On to a later moment, tick by tick: what happens in each of them is seen. `is_warming`: a frame each.
static net_result show_until(net_film* film, double tick, bool is_warming) {
    for (ecs_tick next = (ecs_tick)film->tick + 1; (double)next < tick; next++) {
        net_result result = show(film, (double)next);
        if (result != NET_OK) return result;
        if (is_warming) draw(film, NULL);
    }
    return show(film, tick);
}

static net_result open_at(net_film* film, double tick) {
    ecs_tick below = (ecs_tick)tick;
    ecs_tick warm = below > NET_FILM_WARM_TICKS ? below - NET_FILM_WARM_TICKS : below > 0;
    close_view(film);
    net_result result = net_film_run_to(film->run, warm);
    if (result == NET_OK) result = open_rows(film);
    if (result == NET_OK) result = open_view(film);
    if (result == NET_OK) result = show_until(film, tick, true);
    if (result != NET_OK) close_view(film);
    return result;
}

static double clamp(const net_film* film, double tick) {
    double last = (double)net_film_run_last(film->run);
    double first = last > 0.0 ? 1.0 : 0.0;
    if (!(tick > first)) return first; // NaN too
    return tick < last ? tick : last;
}

// What came out of showing a moment. A log that cannot be followed so far is shown as far as it can.
static net_result finish(net_film* film, net_result result, double tick) {
    if (result == NET_ERR_DAMAGED && tick > (double)net_film_run_last(film->run)) {
        net_result again = open_at(film, clamp(film, tick));
        return again == NET_OK ? result : again;
    }
    if (result != NET_OK) {
        close_view(film);
        return result;
    }
    if (film->has_told_divergence || net_film_run_diverged(film->run) == 0) return NET_OK;
    film->has_told_divergence = true;
    return NET_ERR_DIVERGED;
}

net_result net_film_seek(net_film* film, double tick) {
    tick = clamp(film, tick);
    return finish(film, open_at(film, tick), tick);
}

net_result net_film_advance(net_film* film, double ticks) {
    BASE_ASSERT(ticks >= 0.0);
    double tick = clamp(film, film->tick + ticks);
    if (!film->scene) return net_film_seek(film, tick);
    return finish(film, show_until(film, tick, false), tick);
}

void net_film_draw(net_film* film, const net_draw* with) {
    draw(film, with);
}

// ---- life, asking ----

net_result net_film_create(net_log_reader* reader, const net_module* module,
                           const base_reporter* reporter, net_film** film_out) {
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *film_out = NULL;
    net_film* film = base_allocate_zero(allocator, sizeof *film);
    if (!film) return NET_ERR_MEMORY;
    film->allocator = allocator;
    film->module = module;
    if (reporter) film->reporter = *reporter;
    net_result result = net_film_run_create(reader, module, reporter, NET_FILM_SAVE_TICKS,
                                            NET_FILM_SAVE_BYTES_MAX, &film->run);
    if (result == NET_OK)
        result = net_film_marks_read(&film->marks, allocator, reader, module->game);
    if (result == NET_OK) {
        net_film_run_expect(film->run, &film->marks.close);
        result = open_at(film, clamp(film, 0.0));
    }
    // What the first tick says of the log is said by the first call that shows a moment.
    if (result != NET_OK && result != NET_ERR_DAMAGED) {
        net_film_destroy(film);
        return result;
    }
    *film_out = film;
    return NET_OK;
}

void net_film_destroy(net_film* film) {
    if (!film) return;
    close_rows(film);
    net_film_run_destroy(film->run);
    net_film_marks_deinit(&film->marks);
    base_release(film->allocator, film, sizeof *film);
}

ecs_tick net_film_tick_last(const net_film* film) {
    return net_film_run_last(film->run);
}

double net_film_tick(const net_film* film) {
    return film->tick;
}

net_match* net_film_match(net_film* film) {
    return net_film_run_match(film->run);
}

net_match* net_film_view_match(net_film* film) {
    return film->scene ? film->view : NULL;
}

const net_film_mark* net_film_marks(const net_film* film, uint32_t* count) {
    *count = film->marks.mark_count;
    return film->marks.marks;
}

const char* net_film_player_name(const net_film* film, uint32_t client) {
    return net_film_marks_name(&film->marks, client);
}

ecs_tick net_film_diverged(const net_film* film) {
    return net_film_run_diverged(film->run);
}
