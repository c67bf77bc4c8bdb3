// SPDX-License-Identifier: MIT
// The state of the log (net/log.h) is at the tick after the shown moment; the view, which
// a presenter draws as it draws a client's, shows a moment between that tick and the one before.
// What flows from one to the other: playback_feed.c, and events from the records of a tick's end.
//
// The same moment looks the same however it was reached. A seek creates the view again, because a
// module's effects keep state outside of the world, which is destroyed with the match. Then it
// passes the NET_PLAYBACK_WARM_MS before the moment in frames that draw nothing.
// Advancing keeps the view, so effects then depend on the length of the frames.
//
// Left to others: windows, pictures, keys.
#include "net/playback.h"

#include "game/match.h"
#include "playback/playback_feed.h"
#include "replay/log_state.h"
#include "net/match.h"
#include "present/presenter.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/search.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

// ---- the playback ----

// Blocks of marks with each call: someone who steps back waits for each seek.
enum { MARKS_BLOCKS_FIRST = 256, MARKS_BLOCKS_SEEK = 4, MARKS_BLOCKS = 32 };

enum { WARM_FRAME_MS = 100 }; // between two frames of a seek that are far from its moment

// An event that waits for the state of its tick.
typedef struct playback_event {
    ecs_tick tick;
    ecs_entity target;
    uint32_t message;
    uint32_t at, size; // its payload in event_bytes
    bool had_target;   // in the tick before
} playback_event;

struct net_playback {
    base_owner owner;
    net_log_reader* reader;
    const net_module* module;
    base_reporter reporter;
    net_match_config config; // rate and settings of the log
    net_playback_marks_list marks;
    net_log_state* state;
    net_playback_notes notes;
    net_playback_feed* feed;  // of the presenter
    net_presenter* presenter; // NULL: nothing can be shown until a seek succeeds
    ecs_tick last;            // that can be reached
    double tick;              // shown
    double drawn_tick;        // effects ran up to this moment
    bool is_same_schema;      // of the log and the game here
    bool has_compared;        // both schemas
    bool has_reported_divergence;
    uint32_t event_number;  // of the last reliable one
    ecs_tick opened_tick;   // the view was opened after it
    ecs_tick set_tick;      // from it on the newest `set` holds that was passed
    uint32_t client;        // what it has is shown; 0: everything
    playback_event* events; // of the tick that is stepped
    uint32_t event_count, event_capacity;
    base_bytes event_bytes;
    uint64_t bytes; // of the log when it was followed last
};

static const char* name_in_log(const void* playback, uint32_t client) {
    return net_playback_player_name(playback, client);
}

static net_scene* scene_of(const net_playback* playback) {
    return net_presenter_scene(playback->presenter);
}

static void close_view(net_playback* playback) {
    net_presenter_destroy(playback->presenter);
    base_owner_destroy(playback->feed);
    playback->feed = NULL;
    playback->presenter = NULL;
}

static bool has_entity(const net_playback* playback, ecs_entity entity) {
    return playback->client == 0 || entity == ECS_ENTITY_NONE ||
           net_log_state_row(playback->state, entity, NULL);
}

static bool is_set(const net_log_record* record) {
    return record->kind == NET_LOG_KIND_CONTROL && strcmp(record->verb, "set") == 0;
}

// The events of a tick come before its state. Those of another build may mean something else.
static void take_passed(void* context, const net_log_record* record) {
    net_playback* playback = context;
    if (is_set(record)) playback->set_tick = record->tick;
    if (record->kind != NET_LOG_KIND_END) return;
    const net_game_module* game = playback->module->game;
    size_t offset = 0;
    net_log_item item;
    if (!playback->presenter || !playback->is_same_schema) return;
    while (net_log_item_next(record, NET_LOG_ITEM_SERVER_EVENT, &offset, &item)) {
        if (item.message < 1 || item.message > game->message_count ||
            game->messages[item.message - 1].kind != NET_MESSAGE_TO_CLIENTS ||
            item.payload_bytes > NET_EVENT_PAYLOAD_BYTES_MAX)
            continue;
        BASE_ARRAY_RESERVE(&playback->owner.allocator, playback->events, playback->event_capacity,
                           playback->event_count + 1);
        playback_event* event = &playback->events[playback->event_count++];
        *event = (playback_event){.tick = record->tick,
                                  .target = item.target,
                                  .message = item.message,
                                  .at = (uint32_t)playback->event_bytes.size,
                                  .size = item.payload_bytes,
                                  .had_target = has_entity(playback, item.target)};
        base_bytes_write(&playback->event_bytes, item.payload, item.payload_bytes);
    }
}

// A client gets an event about what it sees (server/server_gather.c).
static bool may_know(const net_playback* playback, const playback_event* event, bool* is_alone) {
    net_event_needs needs;
    if (playback->client == 0) return true;
    if (!event->had_target && !has_entity(playback, event->target)) return false;
    net_event_needs_of(net_presenter_match(playback->presenter), event->message,
                       playback->event_bytes.data + event->at, event->size, &needs);
    for (uint32_t i = 0; i < needs.count; i++)
        if (!has_entity(playback, needs.entities[i])) *is_alone = true;
    return !*is_alone || needs.is_late;
}

static void drop_events(net_playback* playback) {
    playback->event_count = 0;
    base_bytes_clear(&playback->event_bytes);
}

static void give_events(net_playback* playback) {
    for (uint32_t i = 0; i < playback->event_count && playback->presenter; i++) {
        const playback_event* event = &playback->events[i];
        bool is_alone = false;
        if (!may_know(playback, event, &is_alone)) continue;
        const bool is_reliable = playback->module->game->messages[event->message - 1].is_reliable;
        const net_event given = {.tick = event->tick,
                                 .target = event->target,
                                 .number = is_reliable ? ++playback->event_number : 0,
                                 .message = event->message,
                                 .size = event->size,
                                 .is_alone = is_alone};
        net_scene_event(scene_of(playback), &given, playback->event_bytes.data + event->at);
    }
    drop_events(playback);
}

static void compare_schemas(net_playback* playback) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    const net_match* match = net_presenter_match(playback->presenter);
    char text[200];
    const base_bytes* header = &playback->reader->header;
    playback->has_compared = true;
    playback->is_same_schema = net_schema_hash(net_match_schema(match)) == info->schema_hash;
    if (!playback->is_same_schema &&
        net_log_header_difference(header->data, header->size, match, text, sizeof text))
        base_report(&playback->reporter, playback->reader->file, 0,
                    "warning: the game's schema is not the log's: %s", text);
}

// ---- settings ----

// A keyframe has those that an operator changed, so the moment has them from the keyframe before it
// and the few records between. The log is foreign: what is not here, or no number, is left out.

static void apply_set(const net_log_record* record, net_match_config* now) {
    char text[128] = {0};
    size_t offset = 0;
    net_match_argument argument;
    if (!net_log_argument_next(record, &offset, &argument) || argument.size >= sizeof text) return;
    memcpy(text, argument.data, argument.size);
    (void)!net_match_setting_apply(now, text, NULL);
}

// @return false: it cannot be read, nothing changed.
static bool apply_keyframe(const net_playback* playback, const net_log_keyframe* keyframe,
                           net_match_config* now) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    double values[NET_SETTINGS_MAX];
    base_bytes save;
    base_bytes_init(&save, playback->owner.from);
    const bool is_read = net_log_keyframe_read(playback->reader, keyframe, &save) == NET_OK;
    const uint32_t count = is_read ? net_match_saved_settings(save.data, save.size, values) : 0;
    base_bytes_deinit(&save);
    if (is_read) *now = playback->config;
    for (uint32_t i = 0; i < count && i < info->setting_count; i++) {
        const char* text = info->settings[i];
        char set[128];
        if (base_text_format(set, sizeof set, "%.*s=%.17g", (int)strcspn(text, "="), text,
                             values[i]))
            (void)!net_match_setting_apply(now, set, NULL);
    }
    return is_read;
}

// Those that hold after a tick. The state walks on where it was.
static net_result settings_at(const net_playback* playback, ecs_tick tick, net_match_config* now) {
    const net_log_keyframe* keyframe;
    net_log_record record;
    *now = playback->config;
    if (!playback->module->game->settings_changed) return NET_OK;
    net_log_cursor cursor = net_log_reader_seek(playback->reader, tick, &keyframe);
    if (keyframe && !apply_keyframe(playback, keyframe, now))
        cursor = net_log_cursor_begin(playback->reader);
    while (net_log_cursor_next(playback->reader, &cursor, &record) && record.tick <= tick) {
        const net_log_keyframe resumed = {cursor.resumed, cursor.resumed_at};
        if (cursor.resumed > 0) (void)apply_keyframe(playback, &resumed, now);
        if (is_set(&record)) apply_set(&record, now);
    }
    return net_log_state_return(playback->state);
}

// Open a view that has the whole world at the state's tick and no past.
static net_result open_view(net_playback* playback) {
    BASE_ASSERT(!playback->presenter);
    const net_presenter_config config = {
        .allocator = playback->owner.from,
        .module = playback->module,
        .replicated_index_max = playback->config.replicated_index_max,
    };
    net_result result = net_presenter_create(&config, &playback->reporter, &playback->presenter);
    if (result != NET_OK) return result;
    net_match* match = net_presenter_match(playback->presenter);
    if (!playback->has_compared) compare_schemas(playback);
    net_match_config now; // as of this tick, for the game to draw by
    playback->opened_tick = net_log_state_tick(playback->state);
    result = settings_at(playback, playback->opened_tick, &now);
    if (result != NET_OK) return result;
    net_match_mirror_start(match, now.tick_rate_hz, now.settings,
                           playback->module->game->setting_count,
                           (net_match_names){name_in_log, playback});
    playback->event_number = 0;
    playback->tick = playback->drawn_tick = (double)playback->opened_tick;
    playback->feed = net_playback_feed_create(playback->state, match, playback->is_same_schema,
                                              &playback->notes);
    net_playback_feed_give(playback->feed, scene_of(playback), true);
    return net_scene_advance(scene_of(playback), playback->tick);
}

// ---- showing ----

void net_playback_draw(net_playback* playback, const net_draw* with) {
    if (!playback->presenter) return;
    net_draw made = with ? *with : net_match_draw_nothing(NULL);
    double dt = 1.0 / playback->config.tick_rate_hz;
    made.time_s = playback->tick * dt;
    made.frame_dt_s = (float)((playback->tick - playback->drawn_tick) * dt);
    made.tick = playback->tick;
    playback->drawn_tick = playback->tick;
    net_presenter_draw(playback->presenter, &made);
}

// Behind ticks that are lost the world is another one, and it gets a view of its own; so it does
// with other settings. While the values are not known it stays as it is.
static net_result feed_next(net_playback* playback) {
    const ecs_tick before = net_log_state_tick(playback->state);
    const bool was_whole = net_log_state_is_whole(playback->state);
    net_result result = net_log_state_step(playback->state);
    if (result == NET_ERR_CLOSED) result = NET_ERR_DAMAGED; // it was longer when it was opened
    if (result != NET_OK) playback->last = before;
    if (result != NET_OK) return result;
    give_events(playback);
    const bool is_whole = net_log_state_is_whole(playback->state);
    const ecs_tick here = net_log_state_tick(playback->state);
    const bool is_as_set =
        !is_whole || playback->set_tick <= playback->opened_tick || playback->set_tick > here;
    if (here == before + 1 && (was_whole || !is_whole) && is_as_set) {
        net_playback_feed_give(playback->feed, scene_of(playback), false);
        return NET_OK;
    }
    close_view(playback);
    return open_view(playback);
}

static net_result feed_until(net_playback* playback, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && net_log_state_tick(playback->state) < tick)
        result = feed_next(playback);
    return result;
}

static net_result show(net_playback* playback, double tick) {
    const ecs_tick below = (ecs_tick)tick;
    net_result result = feed_until(playback, below + ((double)below < tick));
    if (result != NET_OK) return result;
    if (tick < playback->tick) return NET_OK; // it is lost; what follows is shown
    playback->tick = tick;
    return net_scene_advance(scene_of(playback), tick);
}

// Does a seek draw a frame at this tick? Each of the last ones before the moment; of those before,
// one every WARM_FRAME_MS, of which little is left by then.
static bool is_warm_frame(const net_playback* playback, ecs_tick at, double tick) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    ecs_tick every = (ecs_tick)info->tick_rate_hz * WARM_FRAME_MS / 1000;
    if (every > NET_CATCH_UP_TICKS_MAX) every = NET_CATCH_UP_TICKS_MAX; // a scene passes over more
    return every <= 1 || at % every == 0 || (double)(at + every) >= tick;
}

// Show a later moment and pass each tick on the way; a seek by frames that are drawn into nothing.
static net_result show_until(net_playback* playback, double tick, bool is_seek) {
    net_result result = NET_OK;
    for (ecs_tick next = (ecs_tick)playback->tick + 1; result == NET_OK && (double)next < tick;
         next++) {
        const bool is_frame = !is_seek || is_warm_frame(playback, next, tick);
        result = is_frame ? show(playback, (double)next) : feed_until(playback, next);
        if (result == NET_OK && is_frame && is_seek) net_playback_draw(playback, NULL);
    }
    return result == NET_OK ? show(playback, tick) : result;
}

// The tick from which effects run for a moment after `tick`.
static ecs_tick warm_tick(const net_playback* playback, ecs_tick tick) {
    const net_log_info* info = net_log_reader_info(playback->reader);
    ecs_tick ticks = (ecs_tick)info->tick_rate_hz * NET_PLAYBACK_WARM_MS / 1000;
    ecs_tick warm = tick > ticks ? tick - ticks : 0;
    if (warm < info->first_tick) warm = info->first_tick;
    ecs_tick last = playback->last;
    return warm < last ? warm : last;
}

// A piece of the marks with each call. The first ones are those of some minutes.
static net_result read_marks(net_playback* playback, uint64_t blocks) {
    net_playback_marks_list* marks = &playback->marks;
    if (marks->is_whole) return NET_OK;
    net_result result =
        net_playback_marks_read(marks, playback->reader, playback->module->game, blocks);
    net_result back = net_log_state_return(playback->state);
    return result == NET_OK ? back : result;
}

static net_result open_at(net_playback* playback, double tick) {
    close_view(playback);
    drop_events(playback);
    net_result result = net_log_state_seek(playback->state, warm_tick(playback, (ecs_tick)tick));
    const ecs_tick here = net_log_state_tick(playback->state);
    if (result == NET_ERR_DAMAGED && here < playback->last) playback->last = here;
    if (result == NET_OK) result = open_view(playback);
    if (result == NET_OK) result = show_until(playback, tick, true);
    if (result != NET_OK) close_view(playback);
    return result;
}

static double clamp(const net_playback* playback, double tick) {
    double last = (double)playback->last;
    double first = (double)net_log_reader_info(playback->reader)->first_tick;
    if (first > last) first = last;
    if (!(tick > first)) return first; // NaN too
    return tick < last ? tick : last;
}

// Finish a seek or advance. A log that cannot be followed so far is shown as far as possible.
static net_result finish(net_playback* playback, net_result result, double tick) {
    if (result == NET_ERR_DAMAGED && tick > (double)playback->last) {
        net_result again = open_at(playback, clamp(playback, tick));
        return again == NET_OK ? result : again;
    }
    if (result != NET_OK) close_view(playback);
    if (result != NET_OK) return result;
    if (playback->has_reported_divergence || net_log_state_diverged(playback->state) == 0)
        return NET_OK;
    playback->has_reported_divergence = true;
    return NET_ERR_DIVERGED;
}

net_result net_playback_seek(net_playback* playback, double tick) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    tick = clamp(playback, tick);
    net_result result = read_marks(playback, MARKS_BLOCKS_SEEK);
    if (result == NET_OK) result = open_at(playback, tick);
    return finish(playback, result, tick);
}

net_result net_playback_see_as(net_playback* playback, uint32_t client) {
    if (client == playback->client) return NET_OK;
    net_result result = net_log_state_see_as(playback->state, client);
    if (result != NET_OK) return result;
    playback->client = client;
    return net_playback_seek(playback, playback->tick);
}

net_result net_playback_advance(net_playback* playback, double ticks) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(ticks >= 0.0);
    double tick = clamp(playback, playback->tick + ticks);
    if (!playback->presenter) return net_playback_seek(playback, tick);
    net_result result = read_marks(playback, MARKS_BLOCKS);
    if (result == NET_OK) result = show_until(playback, tick, false);
    return finish(playback, result, tick);
}

// ---- create, destroy, get ----

// A setting that is not here is left out.
static net_match_config config_of(const net_module* module, const net_log_info* info) {
    net_match_config config = net_match_config_default(module);
    config.tick_rate_hz = info->tick_rate_hz;
    config.replicated_index_max = info->replicated_index_max;
    for (uint32_t i = 0; i < info->setting_count; i++)
        (void)!net_match_setting_apply(&config, info->settings[i], NULL);
    return config;
}

static net_result open_playback(net_playback* playback) {
    net_log_reader* reader = playback->reader;
    const net_log_info* info = net_log_reader_info(reader);
    if (strcmp(info->game, playback->module->game->name) != 0)
        return BASE_REPORT_AS(NET_ERR_SCHEMA, &playback->reporter, reader->file, 0,
                              "the log is of game %s, not %s", info->game,
                              playback->module->game->name);
    playback->config = config_of(playback->module, info);
    playback->last = info->last_tick;
    net_result result =
        net_log_state_create(reader, playback->module, &playback->reporter, &playback->state);
    if (result != NET_OK) return result;
    net_log_state_on_passed(playback->state, take_passed, playback);
    result = read_marks(playback, MARKS_BLOCKS_FIRST);
    if (result == NET_OK) result = open_at(playback, clamp(playback, 0.0));
    // The first call that shows a moment reports what is wrong with the first tick.
    return result == NET_ERR_DAMAGED ? NET_OK : result;
}

net_result net_playback_create(net_log_reader* reader, const net_module* module,
                               const base_reporter* reporter, net_playback** playback_out) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(reader && module && playback_out);
    *playback_out = NULL;
    net_playback* playback = base_owner_create(reader->allocator, sizeof *playback);
    playback->module = module;
    playback->reader = reader;
    if (reporter) playback->reporter = *reporter;
    playback->notes.reporter = &playback->reporter;
    playback->notes.file = reader->file;
    base_bytes_init(&playback->event_bytes, &playback->owner.allocator);
    net_playback_marks_init(&playback->marks, &playback->owner.allocator, reader);
    net_result result = open_playback(playback);
    if (result != NET_OK) {
        net_playback_destroy(playback);
        return result;
    }
    *playback_out = playback;
    return NET_OK;
}

void net_playback_follow(net_playback* playback) {
    net_log_reader_follow(playback->reader);
    const net_log_info* info = net_log_reader_info(playback->reader);
    if (info->file_bytes == playback->bytes) return;
    playback->bytes = info->file_bytes;
    playback->marks.is_whole = false;
    // The state of the newest tick is written with the tick after it.
    playback->last = info->last_tick - (info->last_tick > 0 && !info->is_closed);
}

void net_playback_destroy(net_playback* playback) {
    if (!playback) return;
    close_view(playback);
    net_log_state_destroy(playback->state);
    base_owner_destroy(playback);
}

ecs_tick net_playback_tick_last(const net_playback* playback) {
    return playback->last;
}

double net_playback_tick(const net_playback* playback) {
    return playback->tick;
}

uint64_t net_playback_clamped(const net_playback* playback) {
    return playback->notes.clamped;
}

net_match* net_playback_match(net_playback* playback) {
    return playback->presenter ? net_presenter_match(playback->presenter) : NULL;
}

const net_playback_mark* net_playback_marks(const net_playback* playback, uint32_t* count) {
    *count = playback->marks.mark_count;
    return playback->marks.marks;
}

const net_log_player* net_playback_players(const net_playback* playback, uint32_t* count) {
    return net_log_state_players(playback->state, count);
}

ecs_entity net_playback_player(const net_playback* playback, uint32_t client) {
    uint32_t count;
    const net_log_player* players = net_log_state_players(playback->state, &count);
    for (uint32_t i = 0; i < count; i++)
        if (players[i].client == client) return players[i].entity;
    return ECS_ENTITY_NONE;
}

const char* net_playback_player_name(const net_playback* playback, uint32_t client) {
    uint32_t count;
    const net_log_player* players = net_log_state_players(playback->state, &count);
    for (uint32_t i = 0; i < count; i++)
        if (players[i].client == client) return players[i].name;
    return net_playback_marks_name(&playback->marks, client);
}

ecs_tick net_playback_diverged(const net_playback* playback) {
    return net_log_state_diverged(playback->state);
}

// ---- marks ----

// A long log is read in pieces: its first picture does not wait for its last join.
//
// The log is untrusted: a message number may be unknown, and a client whose number does not rise
// gets no name (the replay refuses it later).

static void add_mark(net_playback_marks_list* list, net_playback_mark mark) {
    if (list->mark_count == NET_PLAYBACK_MARKS_MAX) return;
    BASE_ARRAY_RESERVE(list->allocator, list->marks, list->mark_capacity, list->mark_count + 1);
    list->marks[list->mark_count++] = mark;
}

static void add_name(net_playback_marks_list* list, const net_log_item* item) {
    uint32_t count = list->name_count;
    if (count == NET_PLAYBACK_NAMES_MAX) return;
    if (count > 0 && item->client <= list->names[count - 1].client) return;
    BASE_ARRAY_RESERVE(list->allocator, list->names, list->name_capacity, count + 1);
    net_playback_name* name = &list->names[list->name_count++];
    name->client = item->client;
    (void)base_text_copy(name->text, sizeof name->text, item->name);
}

static bool is_reliable_event(const net_game_module* game, uint32_t message) {
    if (message < 1 || message > game->message_count) return false;
    const net_message* known = &game->messages[message - 1];
    return known->kind == NET_MESSAGE_TO_CLIENTS && known->is_reliable;
}

// The log is foreign: a name that no operator gives is left out.
static void add_named(net_playback_marks_list* list, const net_log_record* record) {
    net_playback_mark mark = {.tick = record->tick, .kind = NET_PLAYBACK_NAMED};
    char name[NET_MARK_BYTES] = {0};
    size_t offset = 0;
    net_match_argument argument;
    if (strcmp(record->verb, "mark") != 0 || !net_log_argument_next(record, &offset, &argument) ||
        argument.size >= sizeof name)
        return;
    memcpy(name, argument.data, argument.size);
    if (base_shown_copy(mark.name, sizeof mark.name, name)) add_mark(list, mark);
}

static void add_record(net_playback_marks_list* list, const net_game_module* game,
                       const net_log_record* record) {
    size_t offset = 0;
    net_log_item item;
    net_playback_mark mark = {.tick = record->tick};
    if (record->kind == NET_LOG_KIND_END) {
        mark.kind = NET_PLAYBACK_EVENT;
        while (net_log_item_next(record, NET_LOG_ITEM_SERVER_EVENT, &offset, &item)) {
            mark.message = item.message;
            if (is_reliable_event(game, item.message)) add_mark(list, mark);
        }
    }
    if (record->kind == NET_LOG_KIND_CONTROL) add_named(list, record);
    if (record->kind != NET_LOG_KIND_BEGIN) return;
    mark.kind = NET_PLAYBACK_LEAVE;
    while (net_log_item_next(record, NET_LOG_ITEM_LEAVE, &offset, &item)) {
        mark.client = item.client;
        add_mark(list, mark);
    }
    offset = 0;
    mark.kind = NET_PLAYBACK_JOIN;
    while (net_log_item_next(record, NET_LOG_ITEM_JOIN, &offset, &item)) {
        mark.client = item.client;
        add_name(list, &item);
        add_mark(list, mark);
    }
}

void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader) {
    *list =
        (net_playback_marks_list){.allocator = allocator, .cursor = net_log_cursor_begin(reader)};
}

net_result net_playback_marks_read(net_playback_marks_list* list, net_log_reader* reader,
                                   const net_game_module* game, uint64_t blocks) {
    BASE_ASSERT(list && reader && game);
    ecs_tick last = net_log_reader_info(reader)->last_tick;
    net_log_cursor* cursor = &list->cursor;
    uint64_t limit = cursor->blocks + blocks;
    net_log_record record;
    if (list->is_whole || !net_log_cursor_return(reader, cursor))
        return list->is_whole ? NET_OK : NET_ERR_DAMAGED;
    // A piece ends after the last record of a block.
    while (cursor->blocks < limit || cursor->at < cursor->size) {
        const net_log_cursor before = *cursor;
        bool is_there = net_log_cursor_next(reader, cursor, &record);
        bool is_over = is_there && record.kind != NET_LOG_KIND_OTHER && record.tick > last;
        list->is_whole = !is_there || is_over;
        if (is_over) *cursor = before; // it is read when its tick is whole
        if (list->is_whole) break;
        add_record(list, game, &record);
    }
    return cursor->has_failed ? NET_ERR_DAMAGED : NET_OK;
}

const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client) {
    base_search search = base_search_begin(list->name_count);
    while (base_search_next(&search))
        base_search_step(&search, list->names[search.middle].client < client);
    if (search.low == list->name_count) return NULL;
    const net_playback_name* name = &list->names[search.low];
    return name->client == client ? name->text : NULL;
}
