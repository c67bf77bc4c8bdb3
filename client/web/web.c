// SPDX-License-Identifier: MIT
// A playback and a re-run of the log that a page feeds. A call that fails puts its error into the
// answer and leaves the last picture.
#include "web_state.h"

#include "base/json.h"
#include "ecs/debug.h"
#include "ecs/save.h"
#include "ecs/template_files.h"
#include "log/log_read.h"
#include "net/playback.h"

#include <string.h>

static void report(void* context, const char* file, uint32_t line, const char* message) {
    web* self = context;
    if (file && line) base_json_put(&self->news, "%s:%u: ", file, line);
    base_bytes_write(&self->news, message, strlen(message));
    base_bytes_write_u8(&self->news, '\n');
}

// ---- the game ----

// Templates of several files need a pack, which only a reload knows.
static net_result open_imports(web* self) {
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    for (uint32_t i = 0; i < web_templates_count; i++)
        ecs_pack_add(&pack, web_files[i].name, (const char*)web_files[i].data, web_files[i].size);
    net_module* whole;
    const net_result result =
        net_module_reopen_pack(self->module, pack.data, pack.size, &self->reporter, &whole);
    base_bytes_deinit(&pack);
    if (result != NET_OK) return result;
    net_module_close(self->module);
    self->module = whole;
    return NET_OK;
}

void web_note(web* self, net_result result) {
    const net_log_info* info = self->reader ? net_log_reader_info(self->reader) : NULL;
    double* state = self->state;
    state[WEB_RESULT] = result;
    state[WEB_IS_READY] = self->playback != NULL;
    state[WEB_TICK] = self->playback ? net_playback_tick(self->playback) : 0.0;
    state[WEB_FIRST] = info ? (double)info->first_tick : 0.0;
    state[WEB_LAST] = self->playback ? (double)net_playback_tick_last(self->playback) : 0.0;
    state[WEB_IS_CLOSED] = info && info->is_closed;
    state[WEB_BYTES_USED] = self->reader ? (double)self->reader->good_end : 0.0;
    state[WEB_ANSWER] = (double)(uintptr_t)self->answer.data;
    state[WEB_ANSWER_BYTES] = (double)self->answer.size;
    state[WEB_NEWS] = (double)(uintptr_t)self->news.data;
    state[WEB_NEWS_BYTES] = (double)self->news.size;
    state[WEB_CALLS] = (double)(uintptr_t)self->drawing.calls.data;
    state[WEB_CALLS_BYTES] = (double)self->drawing.calls.size;
    state[WEB_CALL_COUNT] = self->drawing.call_count;
}

void web_clear_answers(web* self) {
    base_bytes_clear(&self->answer);
    base_bytes_clear(&self->news);
}

/// @return what every other call takes, which begins with its numbers.
WEB_EXPORT(open) web* web_open(void);
web* web_open(void) {
    web* self = base_allocate_zero(NULL, sizeof *self);
    base_bytes_init(&self->answer, NULL);
    base_bytes_init(&self->news, NULL);
    base_bytes_init(&self->drawing.calls, NULL);
    for (uint32_t i = 0; i < WEB_LETTER_COUNT; i++)
        self->drawing.widths[i] = 0.55f;
    self->reporter = (base_reporter){report, self};
    self->failure = net_module_wrap(net_game_module_get(), (const char*)web_files[0].data,
                                    web_files[0].name, &self->reporter, &self->module);
    if (self->failure == NET_OK && web_templates_count > 1) self->failure = open_imports(self);
    const net_game_module* game = self->failure == NET_OK ? self->module->game : NULL;
    if (game) {
        base_json_write(&self->answer,
                        "{title=%s viewWidth=%g viewHeight=%g uprightWidth=%g uprightHeight=%g "
                        "position=%s messages=[",
                        game->title, (double)game->view_width, (double)game->view_height,
                        (double)game->upright_width, (double)game->upright_height,
                        game->interest ? game->interest->position : NULL);
        for (uint32_t i = 0; i < game->message_count; i++)
            base_json_write(&self->answer, "%s", game->messages[i].name);
        base_json_write(&self->answer, "]}");
    }
    web_note(self, self->failure);
    return self;
}

/// @return the widths of letters, which the page fills in.
WEB_EXPORT(widths) float* web_widths(web* self);
float* web_widths(web* self) {
    return self->drawing.widths;
}

/// Find a picture of the game by the name that a call has. The answer is the file itself.
WEB_EXPORT(picture) void web_picture(web* self, uint32_t place);
void web_picture(web* self, uint32_t place) {
    web_clear_answers(self);
    const uint32_t at = web_templates_count + place;
    if (at < web_files_count) base_json_text(&self->answer, web_files[at].name);
    web_note(self, NET_OK);
    if (at >= web_files_count) return;
    self->state[WEB_CALLS] = (double)(uintptr_t)web_files[at].data;
    self->state[WEB_CALLS_BYTES] = web_files[at].size;
}

// ---- the log ----

// Is the header there, or will more bytes not help?
static bool has_start(uint64_t bytes) {
    uint8_t start[NET_LOG_PROLOGUE_BYTES + NET_LOG_BLOCK_HEADER_BYTES];
    uint32_t version;
    net_log_block block;
    if (bytes < sizeof start) return false;
    web_file_read(0, 0.0, start, sizeof start);
    if (net_log_prologue_check(start, &version) != NET_OK ||
        !net_log_block_header_read(&block, start + NET_LOG_PROLOGUE_BYTES))
        return true;
    return bytes >= sizeof start + block.stored_bytes;
}

static net_result open_reader(web* self) {
    const uint64_t bytes = (uint64_t)web_file_bytes(0);
    if (bytes < self->retry_bytes || !has_start(bytes)) return NET_OK;
    self->retry_bytes = bytes * 2;
    net_result result = net_log_reader_create(NULL, "the log", &self->reporter, &self->reader);
    // Reports about its end are wrong while the page has more to give.
    if (result == NET_OK) base_bytes_clear(&self->news);
    return self->reader ? NET_OK : result;
}

static net_result open_playback(web* self) {
    net_log_reader_follow(self->reader);
    const net_log_info* info = net_log_reader_info(self->reader);
    if (info->last_tick < info->first_tick + (info->is_closed ? 0 : 1) || info->first_tick == 0)
        return NET_OK;
    // The bytes of a native module have a hash, which says nothing here.
    size_t bytes;
    const base_bytes* header = &self->reader->header;
    const uint8_t* pack = net_log_header_templates(header->data, header->size, &bytes);
    if (!pack || (bytes == self->module->pack_bytes && !memcmp(pack, self->module->pack, bytes)))
        self->module->content_hash = net_log_reader_info(self->reader)->content_hash;
    self->failure =
        net_playback_create(self->reader, self->module, &self->reporter, &self->playback);
    return self->failure;
}

/// The page has more bytes, or files.
WEB_EXPORT(feed) void web_feed(web* self);
void web_feed(web* self) {
    web_clear_answers(self);
    net_result result = self->failure;
    if (result == NET_OK && !self->reader) result = open_reader(self);
    if (result == NET_OK && self->reader && !self->playback) result = open_playback(self);
    if (result == NET_OK && self->playback) net_playback_follow(self->playback);
    web_note(self, result);
}

// A run that differs was reported; it is no reason to show nothing.
static net_result shown(net_result result) {
    return result == NET_ERR_DIVERGED ? NET_OK : result;
}

WEB_EXPORT(seek) void web_seek(web* self, double tick);
void web_seek(web* self, double tick) {
    web_clear_answers(self);
    net_result result = self->failure;
    if (self->playback) result = shown(net_playback_seek(self->playback, tick));
    web_note(self, result);
}

/// A value that is no number above 0 does nothing.
WEB_EXPORT(advance) void web_advance(web* self, double ticks);
void web_advance(web* self, double ticks) {
    web_clear_answers(self);
    net_result result = self->failure;
    if (self->playback && ticks >= 0.0) result = shown(net_playback_advance(self->playback, ticks));
    web_note(self, result);
}

static const char* name_in_log(const void* playback, uint32_t client) {
    return net_playback_player_name(playback, client);
}

/// Draw the shown moment with what a client has, from its eyes; 0: as a spectator. Of a record
/// without inputs it draws everything.
WEB_EXPORT(draw) void web_draw(web* self, uint32_t client, double pixels_per_unit);
void web_draw(web* self, uint32_t client, double pixels_per_unit) {
    web_clear_answers(self);
    net_draw draw = web_drawing_begin(&self->drawing, self->module ? self->module->game : NULL,
                                      (float)pixels_per_unit);
    net_result result = self->failure;
    if (self->playback) result = shown(net_playback_see_as(self->playback, client));
    if (result == NET_ERR_UNKNOWN) result = NET_OK;
    if (self->playback) {
        draw.player = net_playback_player(self->playback, client);
        self->drawing.names = self->playback;
        self->drawing.name = name_in_log;
        net_playback_draw(self->playback, &draw);
    }
    web_note(self, result);
}

// ---- what there is to know ----

/// The header, as JSON.
WEB_EXPORT(info) void web_info(web* self);
void web_info(web* self) {
    web_clear_answers(self);
    base_bytes* json = &self->answer;
    if (self->reader) {
        const net_log_info* info = net_log_reader_info(self->reader);
        uint32_t count;
        const net_log_keyframe* keyframes = net_log_reader_keyframes(self->reader, &count);
        base_json_write(
            json,
            "{game=%s build=%s schemaHash='%016jx' contentHash='%016jx' seed='%ju' startedMs=%ju "
            "tickRate=%u isSeen=%i isDamaged=%i segmentCount=%u settings=[",
            info->game, info->build, info->schema_hash, info->content_hash, info->seed,
            info->started_unix_ms, info->tick_rate_hz, info->is_seen, info->is_damaged,
            info->segment_count);
        for (uint32_t i = 0; i < info->setting_count; i++)
            base_json_write(json, "%s", info->settings[i]);
        base_json_write(json, "] keyframes=[");
        for (uint32_t i = 0; i < count; i++)
            base_json_write(json, "%ju", keyframes[i].tick);
        base_json_write(json, "]}");
    }
    web_note(self, self->failure);
}

static const char* const mark_kinds[] = {"join", "leave", "event", "named"};
_Static_assert(sizeof mark_kinds / sizeof *mark_kinds == NET_PLAYBACK_MARK_KINDS,
               "a page knows each kind of mark by its name");

static const char* mark_name(const web* self, const net_playback_mark* mark) {
    if (mark->kind == NET_PLAYBACK_NAMED) return mark->name;
    if (mark->kind == NET_PLAYBACK_EVENT)
        return self->module->game->messages[mark->message - 1].name;
    return net_playback_player_name(self->playback, mark->client);
}

/// The marks from this one on, as JSON.
WEB_EXPORT(marks) void web_marks(web* self, uint32_t from);
void web_marks(web* self, uint32_t from) {
    web_clear_answers(self);
    uint32_t count = 0;
    const net_playback_mark* marks =
        self->playback ? net_playback_marks(self->playback, &count) : NULL;
    base_bytes* json = &self->answer;
    base_json_write(json, "[");
    for (uint32_t i = from; i < count; i++)
        base_json_write(json, "{tick=%ju kind=%s client=%u message=%u name=%s}", marks[i].tick,
                        mark_kinds[marks[i].kind], marks[i].client, marks[i].message,
                        mark_name(self, &marks[i]));
    base_json_write(json, "]");
    web_note(self, NET_OK);
}

/// Who plays at the shown moment, as JSON.
WEB_EXPORT(players) void web_players(web* self);
void web_players(web* self) {
    web_clear_answers(self);
    uint32_t count = 0;
    const net_log_player* players =
        self->playback ? net_playback_players(self->playback, &count) : NULL;
    base_bytes* json = &self->answer;
    base_json_write(json, "[");
    for (uint32_t i = 0; i < count; i++) {
        const ecs_entity entity = players[i].entity;
        base_json_write(json, "{client=%u name=%s entity=", players[i].client, players[i].name);
        if (entity == ECS_ENTITY_NONE)
            base_json_write(json, "null}");
        else
            base_json_write(json, "'%u:%u'}", ecs_entity_index(entity),
                            ecs_entity_generation(entity));
    }
    base_json_write(json, "]");
    web_note(self, NET_OK);
}

static void put_line(void* context, const char* line) {
    base_bytes* answer = context;
    base_bytes_write(answer, line, strlen(line));
    base_bytes_write_u8(answer, '\n');
}

/// The world at the shown moment as lines of a dump, or one entity of it.
WEB_EXPORT(dump) void web_dump(web* self, uint32_t index, uint32_t generation);
void web_dump(web* self, uint32_t index, uint32_t generation) {
    web_clear_answers(self);
    net_match* match = self->playback ? net_playback_match(self->playback) : NULL;
    const ecs_world* world = match ? net_match_world(match) : NULL;
    const ecs_entity entity = ecs_entity_make(index, generation);
    if (world && index == 0 && generation == 0)
        ecs_dump_world(world, false, put_line, &self->answer);
    else if (world && ecs_is_alive(world, entity))
        ecs_dump_entity(world, entity, put_line, &self->answer);
    web_note(self, NET_OK);
}

// ---- the log again ----

static net_result begin_check(web* self) {
    web_check* check = &self->check;
    if (!self->playback) return NET_OK;
    net_result result = net_log_reader_create(NULL, "the log", NULL, &check->reader);
    if (!check->reader) return result;
    return net_log_replay_create(check->reader, self->module, 0, &self->reporter, &check->replay);
}

static void compare(web_check* check, const net_log_tick* tick) {
    const ecs_world* world = net_match_world(net_log_replay_match(check->replay));
    if (!tick->has_end) return;
    bool is_same = ecs_world_state_hash(world) == tick->state_hash;
    check->ticks++;
    if (tick->has_world_hash) {
        const bool is_world_same = ecs_world_hash(world) == tick->world_hash;
        check->world_hashes++;
        check->world_differs += !is_world_same;
        is_same = is_same && is_world_same;
    }
    if (is_same) return;
    check->differs++;
    if (check->first_differs == 0) check->first_differs = (double)tick->tick;
}

// Not the newest tick of a log that grows: its end may be missing.
static bool has_next(const web_check* check) {
    const net_log_info* info = net_log_reader_info(check->reader);
    return net_match_tick(net_log_replay_match(check->replay)) < info->last_tick;
}

static void go_on(web_check* check, double ms) {
    const double from = web_now_ms();
    net_log_tick tick;
    net_log_reader_follow(check->reader);
    check->result = NET_OK;
    while (check->result == NET_OK && has_next(check) && web_now_ms() - from < ms) {
        check->result = net_log_replay_step(check->replay, &tick);
        if (check->result == NET_OK) compare(check, &tick);
    }
    if (check->result == NET_ERR_CLOSED) check->result = NET_OK;
    check->is_done = check->result != NET_OK || !has_next(check);
    check->ms += web_now_ms() - from;
}

/// Run the match again for so long, and compare each hash with the log's. The answer is JSON.
WEB_EXPORT(verify) void web_verify(web* self, double ms);
void web_verify(web* self, double ms) {
    web_check* check = &self->check;
    web_clear_answers(self);
    if (!check->replay && check->result == NET_OK) check->result = begin_check(self);
    if (check->replay && check->result == NET_OK) go_on(check, ms);
    base_json_write(&self->answer,
                    "{ticks=%.0f tick=%ju differs=%.0f firstDiffers=%.0f worldHashes=%.0f "
                    "worldDiffers=%.0f ticksPerSecond=%.0f isDone=%i}",
                    check->ticks,
                    check->replay ? net_match_tick(net_log_replay_match(check->replay)) : 0,
                    check->differs, check->first_differs, check->world_hashes, check->world_differs,
                    check->ms > 0.0 ? check->ticks * 1000.0 / check->ms : 0.0,
                    check->is_done || check->result != NET_OK);
    web_note(self, check->result);
}

/// A sentence for a net_result that no report explains.
WEB_EXPORT(text) const char* web_text(int32_t result);
const char* web_text(int32_t result) {
    return net_result_text((net_result)result);
}
