// SPDX-License-Identifier: MIT
// The same calls in the same order as the server made them.
#include "replay/log_replay.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "net/match.h"

#include <inttypes.h>
#include <string.h>

struct net_log_replay {
    base_owner owner;
    net_log_reader* reader;
    base_reporter reporter;
    net_match* match;
    net_module* module; // of a log that has the templates itself; NULL: the caller's
    net_log_cursor cursor;
    net_log_record record; // the newest that was read
    net_log_record close;
    net_log_entering entering;
    base_bytes start;                          // a save of the match before tick 1
    char difference[NET_LOG_DIFFERENCE_BYTES]; // of the schemas; empty: none is known
    bool has_stepped;                          // the change list of its last step is still there
    bool is_ahead;                             // the record was read, and belongs to the next step
    bool has_failed;
};

// ---- what enters a tick ----

// A match asserts what its server keeps: numbers rise, payloads were checked, who leaves had
// joined. Records are foreign, so all of it is checked here.

void net_log_entering_init(net_log_entering* entering, const base_allocator* allocator) {
    *entering = (net_log_entering){.allocator = allocator};
}

void net_log_entering_clear(net_log_entering* self, ecs_tick tick) {
    self->begin = (net_tick_inputs){.tick = tick};
}

static bool leaves_already(const net_tick_inputs* begin, uint32_t client) {
    for (uint32_t i = 0; i < begin->leave_count; i++)
        if (begin->leaves[i].client == client) return true;
    return false;
}

static net_result add_leave(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (!net_match_player_name(match, item->client) || leaves_already(begin, item->client))
        return NET_ERR_MALFORMED;
    BASE_ARRAY_RESERVE(self->allocator, self->leaves, self->leave_capacity, begin->leave_count + 1);
    self->leaves[begin->leave_count++] =
        (net_tick_leave){.client = item->client, .reason = item->reason};
    begin->leaves = self->leaves;
    return NET_OK;
}

static net_result add_join(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    const uint32_t count = begin->join_count;
    const uint32_t last = count > 0 ? begin->joins[count - 1].client : net_match_client_last(match);
    if (item->client <= last || item->client >= NET_SPECTATOR_FIRST ||
        net_match_players(match, NULL, 0) - begin->leave_count + count >= NET_CLIENTS_MAX)
        return NET_ERR_MALFORMED;
    BASE_ARRAY_RESERVE(self->allocator, self->joins, self->join_capacity, count + 1);
    BASE_ARRAY_RESERVE(self->allocator, self->join_items, self->join_item_capacity, count + 1);
    self->join_items[count] = *item;
    self->joins[count] = net_log_item_player(item);
    for (uint32_t i = 0; i <= count; i++) // the items may have moved
        self->joins[i].name = self->join_items[i].name;
    begin->joins = self->joins;
    begin->join_count++;
    return NET_OK;
}

static net_result add_event(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (net_match_event_check(match, item->message, item->payload, item->payload_bytes) != NET_OK)
        return NET_ERR_MALFORMED;
    BASE_ARRAY_RESERVE(self->allocator, self->events, self->event_capacity, begin->event_count + 1);
    self->events[begin->event_count++] = (net_tick_event){.client = item->client,
                                                          .message = item->message,
                                                          .target = item->target,
                                                          .payload = item->payload,
                                                          .size = item->payload_bytes,
                                                          .number = item->number};
    begin->events = self->events;
    return NET_OK;
}

static net_result add_input(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (!item->is_repeat &&
        net_match_input_check(match, item->payload, item->payload_bytes) != NET_OK)
        return NET_ERR_MALFORMED;
    BASE_ARRAY_RESERVE(self->allocator, self->inputs, self->input_capacity, begin->input_count + 1);
    net_tick_input* added = &self->inputs[begin->input_count++];
    *added = (net_tick_input){.client = item->client, .number = item->number};
    if (!item->is_repeat) {
        added->payload = item->payload;
        added->size = item->payload_bytes;
        added->seen = item->seen;
    }
    begin->inputs = self->inputs;
    return NET_OK;
}

net_result net_log_entering_add(net_log_entering* self, net_match* match,
                                const net_log_record* record) {
    static net_result (*const add[])(net_log_entering*, net_match*, const net_log_item*) = {
        [NET_LOG_ITEM_LEAVE] = add_leave,
        [NET_LOG_ITEM_JOIN] = add_join,
        [NET_LOG_ITEM_EVENT] = add_event,
        [NET_LOG_ITEM_INPUT] = add_input,
    };
    BASE_ASSERT(record->kind == NET_LOG_KIND_BEGIN && record->tick == self->begin.tick);
    net_result result = NET_OK;
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t offset = record->item_count[kind] > 0 ? 0 : record->body_bytes;
        net_log_item item;
        while (result == NET_OK && net_log_item_next(record, kind, &offset, &item))
            result = add[kind](self, match, &item);
    }
    return result;
}

// ---- the match of a log ----

static net_result apply_settings(const net_log_info* info, net_match_config* config,
                                 const base_reporter* reporter) {
    for (uint32_t i = 0; i < info->setting_count; i++) {
        net_result result = net_match_setting_apply(config, info->settings[i], reporter);
        if (result == NET_ERR_UNKNOWN) return NET_ERR_SCHEMA;
        if (result != NET_OK) return NET_ERR_DAMAGED;
    }
    return NET_OK;
}

// The schema hash decides whether the match can run; what it does not cover (components that are
// not replicated) only explains a difference that may follow.
static net_result compare_schema(const net_log_info* info, const uint8_t* header, size_t size,
                                 const char* file, const net_match* match,
                                 const base_reporter* reporter,
                                 char text[NET_LOG_DIFFERENCE_BYTES]) {
    bool is_same = net_schema_hash(net_match_schema(match)) == info->schema_hash;
    bool is_named = net_log_header_difference(header, size, match, text, NET_LOG_DIFFERENCE_BYTES);
    if (!is_same && !is_named)
        (void)base_text_copy(text, NET_LOG_DIFFERENCE_BYTES, "a default value differs");
    if (!is_same)
        base_report(reporter, file, 0, "the game's schema is not the log's: %s", text);
    else if (is_named)
        base_report(reporter, file, 0, "warning: the game here is another one: %s", text);
    return is_same ? NET_OK : NET_ERR_SCHEMA;
}

static net_result check_header(const net_log_info* info, const char* file, const net_module* module,
                               const base_reporter* reporter) {
    if (strcmp(info->game, module->game->name) != 0)
        return BASE_REPORT_AS(NET_ERR_SCHEMA, reporter, file, 0, "the log is of game %s, not %s",
                              info->game, module->game->name);
    if (!info->is_seen) return NET_OK;
    base_report(reporter, file, 0,
                "a client recorded what it saw: without the inputs of the others the match "
                "cannot run again. Watch it: shoal-client --replay %s",
                file);
    return NET_ERR_UNKNOWN;
}

net_result net_log_match_create(const base_allocator* allocator, const net_log_info* info,
                                const uint8_t* header, size_t header_bytes, const char* file,
                                const net_module* module, const base_reporter* reporter,
                                char difference[NET_LOG_DIFFERENCE_BYTES], net_match** match) {
    char unused[NET_LOG_DIFFERENCE_BYTES] = "";
    *match = NULL;
    net_result result = check_header(info, file, module, reporter);
    if (result != NET_OK) return result;
    if (info->content_hash != module->content_hash)
        base_report(reporter, file, 0,
                    "warning: %s is not the build that wrote this log (content %016" PRIx64
                    ", here %016" PRIx64 ")",
                    info->game, info->content_hash, module->content_hash);
    net_match_config config = net_match_config_default(module);
    config.allocator = allocator;
    config.role = NET_ROLE_SERVER;
    config.seed = info->seed;
    config.tick_rate_hz = info->tick_rate_hz;
    config.replicated_index_max = info->replicated_index_max;
    config.is_hosted = info->is_hosted;
    result = apply_settings(info, &config, reporter);
    if (result == NET_OK) result = net_match_create(&config, reporter, match);
    if (result == NET_OK)
        result = compare_schema(info, header, header_bytes, file, *match, reporter,
                                difference ? difference : unused);
    if (result == NET_OK) return NET_OK;
    net_match_destroy(*match);
    *match = NULL;
    return result;
}

// After a reload, and of a game with files, the pack is in the log.
static net_result take_templates(net_log_replay* replay, const net_module** module,
                                 const base_reporter* reporter) {
    size_t bytes;
    const base_bytes* header = &replay->reader->header;
    const uint8_t* pack = net_log_header_templates(header->data, header->size, &bytes);
    const net_log_info* info = net_log_reader_info(replay->reader);
    if (!pack || info->content_hash == (*module)->content_hash ||
        (bytes == (*module)->pack_bytes && memcmp(pack, (*module)->pack, bytes) == 0))
        return NET_OK;
    net_result result = net_module_reopen_pack(*module, pack, bytes, reporter, &replay->module);
    if (result == NET_OK) *module = replay->module;
    return result;
}

static net_result create_match(net_log_replay* replay, const net_module* module,
                               const base_reporter* reporter) {
    const net_log_info* info = net_log_reader_info(replay->reader);
    const char* file = replay->reader->file;
    const base_bytes* header = &replay->reader->header;
    net_result result = check_header(info, file, module, reporter);
    if (result == NET_OK) result = take_templates(replay, &module, reporter);
    if (result != NET_OK) return result;
    return net_log_match_create(replay->reader->allocator, info, header->data, header->size, file,
                                module, reporter, replay->difference, &replay->match);
}

net_result net_log_replay_create(net_log_reader* reader, const net_module* module, ecs_tick tick,
                                 const base_reporter* reporter, net_log_replay** replay_out) {
    BASE_ASSERT(reader && module && module->game && replay_out);
    *replay_out = NULL;
    net_log_replay* replay = base_owner_create(reader->allocator, sizeof *replay);
    const base_allocator* allocator = &replay->owner.allocator;
    replay->reader = reader;
    if (reporter) replay->reporter = *reporter;
    replay->cursor = net_log_cursor_begin(reader);
    net_log_entering_init(&replay->entering, allocator);
    base_bytes_init(&replay->start, allocator);
    net_result result = create_match(replay, module, reporter);
    // What is ahead of the first keyframe is reached from the start.
    if (result == NET_OK) result = net_match_save(replay->match, &replay->start);
    if (result == NET_OK && tick > 0) result = net_log_replay_seek(replay, tick);
    if (result != NET_OK) {
        net_log_replay_destroy(replay);
        return result;
    }
    *replay_out = replay;
    return NET_OK;
}

void net_log_replay_destroy(net_log_replay* replay) {
    if (!replay) return;
    net_match_destroy(replay->match);
    net_module_close(replay->module);
    base_owner_destroy(replay);
}

net_match* net_log_replay_match(net_log_replay* replay) {
    return replay->match;
}

net_match* net_log_replay_take(net_log_replay* replay) {
    net_match* match = replay->match;
    if (replay->module) return NULL;
    if (replay->has_stepped) ecs_changes_clear(net_match_world(match));
    replay->match = NULL;
    return match;
}

const net_log_record* net_log_replay_close(const net_log_replay* replay) {
    return replay->close.kind == NET_LOG_KIND_CLOSE ? &replay->close : NULL;
}

const char* net_log_replay_difference(const net_log_replay* replay) {
    return replay->difference;
}

static net_result fail_replay(net_log_replay* replay, const char* text) {
    replay->has_failed = true;
    base_report(&replay->reporter, replay->reader->file, 0, "tick %" PRIu64 ": %s",
                replay->record.tick, text);
    return NET_ERR_DAMAGED;
}

uint32_t net_log_arguments(const net_log_record* record,
                           net_match_argument arguments[NET_CONTROL_ARGUMENTS_MAX]) {
    uint32_t count = 0;
    size_t offset = 0;
    while (count < NET_CONTROL_ARGUMENTS_MAX &&
           net_log_argument_next(record, &offset, &arguments[count]))
        count++;
    return count;
}

bool net_log_is_same(const ecs_world* world, uint64_t state_hash, const uint64_t* world_hash) {
    if (ecs_world_state_hash(world) != state_hash) return false;
    const uint64_t hash = world_hash ? ecs_world_hash(world) : 0;
    return hash == 0 || hash == *world_hash;
}

// What an operator did to the match before this tick.
static net_result apply_control(net_log_replay* replay) {
    const net_log_record* record = &replay->record;
    net_match_argument arguments[NET_CONTROL_ARGUMENTS_MAX];
    char text[NET_CONTROL_VERB_BYTES_MAX + 64];
    const uint32_t count = net_log_arguments(record, arguments);
    const net_result result =
        net_match_control(replay->match, record->verb, arguments, count, false, &replay->reporter);
    if (result == NET_OK) return NET_OK;
    (void)base_text_format(text, sizeof text, "the control '%s' %s", record->verb,
                           result == NET_ERR_UNKNOWN ? "is not known here" : "cannot be done here");
    return fail_replay(replay, text);
}

// A large tick has several; each is applied before the reader goes on, which keeps its bytes.
static net_result apply_begin(net_log_replay* replay) {
    net_log_entering_clear(&replay->entering, replay->record.tick);
    const net_result result =
        net_log_entering_add(&replay->entering, replay->match, &replay->record);
    if (result != NET_OK)
        return fail_replay(replay, "it has a record that this game does not take");
    net_match_apply(replay->match, &replay->entering.begin);
    return NET_OK;
}

// ---- keyframes ----

// The match as the keyframe of `tick` has it.
static net_result enter_keyframe(net_log_replay* replay, const net_log_keyframe* keyframe) {
    base_bytes save;
    base_bytes_init(&save, &replay->owner.allocator);
    net_result result = net_log_keyframe_read(replay->reader, keyframe, &save);
    if (result == NET_OK) result = net_match_restore(replay->match, save.data, save.size);
    base_bytes_deinit(&save);
    bool is_its = result == NET_OK && net_match_tick(replay->match) == keyframe->tick;
    if (result == NET_OK && !is_its) result = NET_ERR_MALFORMED;
    if (result != NET_OK)
        return BASE_REPORT_AS(NET_ERR_DAMAGED, &replay->reporter, replay->reader->file, 0,
                              "the keyframe of tick %" PRIu64 " %s", keyframe->tick,
                              result == NET_ERR_DAMAGED  ? "is damaged"
                              : result == NET_ERR_MODULE ? "is refused by the game"
                                                         : "is of another build of the game");
    return NET_OK;
}

net_result net_log_replay_enter(net_log_replay* replay, ecs_tick tick, const base_bytes* save) {
    BASE_ASSERT(tick > 0 && save->size > 0);
    const net_log_keyframe* before;
    net_log_record* record = &replay->record;
    replay->cursor = net_log_reader_seek(replay->reader, tick - 1, &before);
    do {
        if (!net_log_cursor_next(replay->reader, &replay->cursor, record)) return NET_ERR_CLOSED;
    } while (record->kind != NET_LOG_KIND_END || record->tick < tick);
    return record->tick == tick ? net_match_restore(replay->match, save->data, save->size)
                                : NET_ERR_CLOSED;
}

net_result net_log_replay_step(net_log_replay* replay, net_log_tick* tick) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(tick && replay->match);
    net_log_record* record = &replay->record;
    bool has_begin = false;
    *tick = (net_log_tick){0};
    if (replay->has_failed) return NET_ERR_DAMAGED;
    if (replay->has_stepped) ecs_changes_clear(net_match_world(replay->match));
    replay->has_stepped = false;
    while (replay->is_ahead || net_log_cursor_next(replay->reader, &replay->cursor, record)) {
        replay->is_ahead = false;
        if (replay->cursor.resumed > 0) {
            const net_log_keyframe keyframe = {replay->cursor.resumed, replay->cursor.resumed_at};
            net_result result = enter_keyframe(replay, &keyframe);
            replay->has_failed = result != NET_OK;
            tick->lost_first = replay->cursor.lost_first;
            if (result != NET_OK) return result;
            has_begin = false;
        }
        if (record->kind == NET_LOG_KIND_CLOSE) replay->close = *record;
        if (record->kind == NET_LOG_KIND_END) break;
        if (record->kind != NET_LOG_KIND_BEGIN && record->kind != NET_LOG_KIND_CONTROL) continue;
        const bool is_begin = record->kind == NET_LOG_KIND_BEGIN;
        net_result result = is_begin ? apply_begin(replay) : apply_control(replay);
        if (result != NET_OK) return result;
        has_begin = has_begin || is_begin;
        tick->tick = record->tick;
    }
    if (replay->cursor.has_failed) return fail_replay(replay, "the file changed while it was read");
    if (!has_begin) return NET_ERR_CLOSED;
    net_match_step(replay->match);
    replay->has_stepped = true;
    tick->has_end = record->kind == NET_LOG_KIND_END;
    if (!tick->has_end) return NET_OK;
    tick->has_world_hash = record->has_world_hash;
    tick->state_hash = record->state_hash;
    tick->world_hash = record->world_hash;
    tick->changes = record->changes;
    tick->changes_bytes = record->changes_bytes;
    return NET_OK;
}

net_result net_log_replay_next(net_log_replay* replay, const base_reporter* reporter,
                               ecs_tick* diverged) {
    net_log_tick tick = {0};
    net_result result = NET_OK;
    while (result == NET_OK && !tick.has_end)
        result = net_log_replay_step(replay, &tick);
    if (result != NET_OK || *diverged > 0) return result;
    if (ecs_world_state_hash(net_match_world(replay->match)) == tick.state_hash) return NET_OK;
    *diverged = tick.tick;
    base_report(reporter, replay->reader->file, 0,
                "warning: this run differs from the log from tick %" PRIu64 " on", tick.tick);
    return NET_OK;
}

const net_log_record* net_log_replay_state(net_log_replay* replay) {
    net_log_record* record = &replay->record;
    if (replay->is_ahead || !net_log_cursor_next(replay->reader, &replay->cursor, record))
        return NULL;
    replay->is_ahead = record->kind != NET_LOG_KIND_STATE || replay->cursor.resumed > 0;
    return replay->is_ahead ? NULL : record;
}

// @return NET_ERR_CLOSED: there is no such keyframe.
static net_result seek_keyframe(net_log_replay* replay, ecs_tick tick) {
    for (;;) {
        const net_log_keyframe* keyframe;
        net_log_cursor cursor = net_log_reader_seek(replay->reader, tick, &keyframe);
        if (!keyframe) return NET_ERR_CLOSED;
        net_result result = enter_keyframe(replay, keyframe);
        if (result == NET_OK) replay->cursor = cursor;
        if (result != NET_ERR_DAMAGED) return result;
        tick = keyframe->tick - 1;
    }
}

net_result net_log_replay_seek(net_log_replay* replay, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(replay->reader, &count);
    ecs_tick here = net_match_tick(replay->match), near_ = 0;
    for (uint32_t i = count; i > 0 && near_ == 0; i--)
        if (keyframes[i - 1].tick <= tick) near_ = keyframes[i - 1].tick;
    bool is_part = net_log_reader_info(replay->reader)->first_tick > 1;
    bool is_between = here >= near_ && here <= tick && !(is_part && here == 0);
    if (is_between && !replay->has_failed && net_log_cursor_return(replay->reader, &replay->cursor))
        return NET_OK;
    replay->has_stepped = replay->has_failed = replay->is_ahead = false;
    replay->record = (net_log_record){0};
    replay->close = (net_log_record){0};
    net_result result = seek_keyframe(replay, tick);
    if (result == NET_ERR_CLOSED) { // no keyframe before it: from the start
        replay->cursor = net_log_cursor_begin(replay->reader);
        result = net_match_restore(replay->match, replay->start.data, replay->start.size);
    }
    replay->has_failed = result != NET_OK;
    return result;
}

// ---- a match that goes on ----

// A match goes on where its log ends, or at an earlier tick of it. The run proves itself: each hash
// on the way is compared, so what goes on is the log's match or nothing.
//
// A log with another content is refused, not tried: its match may run on for minutes until a rare
// system shows the difference.

typedef struct resumption {
    net_log_reader* reader;
    const base_reporter* reporter;
    net_log_replay* replay;
    ecs_tick tick; // the last one
} resumption;

static net_result check_game(const resumption* self, const net_module* module) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* file = self->reader->file;
    // That of another game is said by the replay.
    if (strcmp(info->game, module->game->name) == 0 && info->content_hash != module->content_hash)
        return BASE_REPORT_AS(NET_ERR_SCHEMA, self->reporter, file, 0,
                              "the game here is another one than the log's (content %016" PRIx64
                              ", here %016" PRIx64
                              "): a match continues with its own library and templates; "
                              "shoal-replay files LOG FOLDER writes those that are in a log",
                              info->content_hash, module->content_hash);
    return NET_OK;
}

static net_result check_tick(resumption* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* file = self->reader->file;
    if (info->last_tick == 0)
        return BASE_REPORT_AS(NET_ERR_UNKNOWN, self->reporter, file, 0,
                              "it has no whole tick to continue from");
    if (self->tick == 0) self->tick = info->last_tick;
    if (self->tick >= info->first_tick && self->tick <= info->last_tick) return NET_OK;
    if (self->tick < info->first_tick && info->segment_before > 0)
        base_report(self->reporter, file, 0,
                    "tick %" PRIu64 " is before the reload of its game: a match continues only "
                    "from the reload on, with --at %" PRIu64 " to %" PRIu64,
                    self->tick, info->first_tick, info->last_tick);
    else
        base_report(self->reporter, file, 0,
                    "tick %" PRIu64 " is not in the log: it has %" PRIu64 "..%" PRIu64, self->tick,
                    info->first_tick, info->last_tick);
    return NET_ERR_UNKNOWN;
}

static net_result check_log(resumption* self, const net_module* module) {
    if (!net_log_reader_lock(self->reader))
        return BASE_REPORT_AS(NET_ERR_CLOSED, self->reporter, self->reader->file, 0,
                              "a server writes this log now: end it, then the match can continue");
    const net_result result = check_game(self, module);
    return result == NET_OK ? check_tick(self) : result;
}

// Whether players may lose the ticks behind `right` is for a person to decide. @return as run.
static net_result refuse_log(const resumption* self, ecs_tick right, net_result result) {
    const char* file = self->reader->file;
    char why[128] = "", remedy[96] = "";
    if (result == NET_ERR_CLOSED)
        (void)base_text_format(why, sizeof why,
                               "tick %" PRIu64 " cannot be read: the log is damaged there",
                               self->tick);
    else
        (void)base_text_format(why, sizeof why,
                               "the run here %s in tick %" PRIu64 ": shoal-replay verify says more",
                               result == NET_ERR_DIVERGED ? "differs from the log" : "ends",
                               net_match_tick(net_log_replay_match(self->replay)));
    if (right >= net_log_reader_info(self->reader)->first_tick)
        (void)base_text_format(remedy, sizeof remedy,
                               "; the match can continue from tick %" PRIu64 ": --at %" PRIu64,
                               right, right);
    base_report(self->reporter, file, 0, "%s%s", why, remedy);
    return result == NET_ERR_CLOSED ? NET_ERR_UNKNOWN : result;
}

static net_result run_log(const resumption* self, void (*each)(void* context), void* context) {
    net_match* match = net_log_replay_match(self->replay);
    ecs_tick right = net_match_tick(match); // the newest one that the run proved
    net_result result = NET_OK;
    while (result == NET_OK && right < self->tick) {
        net_log_tick tick;
        result = net_log_replay_step(self->replay, &tick);
        if (result == NET_OK && tick.has_end &&
            !net_log_is_same(net_match_world(match), tick.state_hash,
                             tick.has_world_hash ? &tick.world_hash : NULL))
            result = NET_ERR_DIVERGED;
        if (result == NET_OK && net_match_tick(match) > self->tick) result = NET_ERR_CLOSED;
        if (result == NET_OK) right = net_match_tick(match);
        if (each) each(context);
    }
    return result == NET_OK ? NET_OK : refuse_log(self, right, result);
}

// A log goes on in the row code that it has.
static net_result check_row_code(const resumption* self) {
    const base_bytes* header = &self->reader->header;
    const uint64_t code = net_log_header_row_code(header->data, header->size);
    if (code == 0 || code == NET_LOG_ROW_CODE) return NET_OK;
    base_report(self->reporter, self->reader->file, 0,
                "its values are in row code %" PRIu64
                ", and this build writes %u: continue with build %s",
                code, NET_LOG_ROW_CODE, net_log_reader_info(self->reader)->build);
    return NET_ERR_VERSION;
}

net_result net_log_resume(net_log_reader* reader, const net_module* module, ecs_tick tick,
                          void (*each)(void* context), void* context, const base_reporter* reporter,
                          net_match** match) {
    BASE_ASSERT(reader && module && match);
    resumption self = {.reader = reader, .reporter = reporter, .tick = tick};
    *match = NULL;
    net_result result = check_log(&self, module);
    if (result == NET_OK)
        result = net_log_replay_create(reader, module, self.tick, reporter, &self.replay);
    if (result == NET_OK) result = check_row_code(&self);
    if (result == NET_OK) result = run_log(&self, each, context);
    if (result == NET_OK) {
        char name[NET_SAVE_NAME_BYTES];
        *match = net_log_replay_take(self.replay);
        BASE_ASSERT(*match && "check_game compared the content");
        (void)net_match_take_save(*match, name); // those of the log's ticks were made then
    }
    net_log_replay_destroy(self.replay);
    return result;
}
