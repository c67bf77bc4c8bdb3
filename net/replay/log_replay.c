// SPDX-License-Identifier: MIT
// The same calls in the same order as the server made them. A match asserts some properties of its
// calls (rising client numbers, checked payloads). A log is untrusted, so they are checked here
// first.
#include "replay/log_replay.h"

#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "replay/log_entering.h"
#include "log/log_recorder.h"
#include "net/match.h"
#include "state/schema.h"

#include <inttypes.h>

struct net_log_replay {
    const base_allocator* allocator;
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
    bool has_failed;
};

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
    if (strcmp(info->game, module->game->name) != 0) {
        base_report(reporter, file, 0, "the log is of game %s, not %s", info->game,
                    module->game->name);
        return NET_ERR_SCHEMA;
    }
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

// After a reload the templates are in the log.
static net_result take_templates(net_log_replay* replay, const net_module** module,
                                 const base_reporter* reporter) {
    size_t size, bytes;
    const uint8_t* header = net_log_reader_header(replay->reader, &size);
    const uint8_t* pack = net_log_header_templates(header, size, &bytes);
    const net_log_info* info = net_log_reader_info(replay->reader);
    if (!pack || info->content_hash == (*module)->content_hash) return NET_OK;
    net_result result = net_module_reopen_pack(*module, pack, bytes, reporter, &replay->module);
    if (result == NET_OK) *module = replay->module;
    return result;
}

static net_result create_match(net_log_replay* replay, const net_module* module,
                               const base_reporter* reporter) {
    const net_log_info* info = net_log_reader_info(replay->reader);
    const char* file = net_log_reader_file(replay->reader);
    size_t size;
    const uint8_t* header = net_log_reader_header(replay->reader, &size);
    net_result result = check_header(info, file, module, reporter);
    if (result == NET_OK) result = take_templates(replay, &module, reporter);
    if (result != NET_OK) return result;
    return net_log_match_create(replay->allocator, info, header, size, file, module, reporter,
                                replay->difference, &replay->match);
}

net_result net_log_replay_create(net_log_reader* reader, const net_module* module,
                                 const base_reporter* reporter, net_log_replay** replay_out) {
    BASE_ASSERT(reader && module && module->game && replay_out);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *replay_out = NULL;
    net_log_replay* replay = base_allocate_zero(allocator, sizeof *replay);
    if (!replay) return NET_ERR_MEMORY;
    replay->allocator = allocator;
    replay->reader = reader;
    if (reporter) replay->reporter = *reporter;
    replay->cursor = net_log_cursor_begin(reader);
    net_log_entering_init(&replay->entering, allocator);
    base_bytes_init(&replay->start, allocator);
    net_result result = create_match(replay, module, reporter);
    // What is ahead of the first keyframe is reached from the start.
    if (result == NET_OK) result = net_match_save(replay->match, &replay->start);
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
    base_bytes_deinit(&replay->start);
    net_log_entering_deinit(&replay->entering);
    base_release(replay->allocator, replay, sizeof *replay);
}

net_match* net_log_replay_match(net_log_replay* replay) {
    return replay->match;
}

net_match* net_log_replay_take(net_log_replay* replay) {
    BASE_ASSERT(replay->match && !replay->module);
    net_match* match = replay->match;
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
    base_report(&replay->reporter, net_log_reader_file(replay->reader), 0, "tick %" PRIu64 ": %s",
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
    if (result == NET_OK || result == NET_ERR_MEMORY) return result;
    (void)base_text_format(text, sizeof text, "the control '%s' %s", record->verb,
                           result == NET_ERR_UNKNOWN ? "is not known here" : "cannot be done here");
    return fail_replay(replay, text);
}

// A large tick has several; each is applied before the reader goes on, which keeps its bytes.
static net_result apply_begin(net_log_replay* replay) {
    net_log_entering_clear(&replay->entering, replay->record.tick);
    const net_result result =
        net_log_entering_add(&replay->entering, replay->match, &replay->record);
    if (result == NET_ERR_MALFORMED)
        return fail_replay(replay, "it has a record that this game does not take");
    if (result == NET_OK) net_match_apply(replay->match, &replay->entering.begin);
    return result;
}

// ---- keyframes ----

// The match as the keyframe of `tick` has it.
static net_result enter_keyframe(net_log_replay* replay, const net_log_keyframe* keyframe) {
    base_bytes save;
    base_bytes_init(&save, replay->allocator);
    net_result result = net_log_keyframe_read(replay->reader, keyframe, &save);
    if (result == NET_OK) result = net_match_restore(replay->match, save.data, save.size);
    base_bytes_deinit(&save);
    bool is_its = result == NET_OK && net_match_tick(replay->match) == keyframe->tick;
    if (result == NET_OK && !is_its) result = NET_ERR_MALFORMED;
    if (result == NET_ERR_MEMORY) return result;
    if (result != NET_OK) {
        base_report(&replay->reporter, net_log_reader_file(replay->reader), 0,
                    "the keyframe of tick %" PRIu64 " %s", keyframe->tick,
                    result == NET_ERR_DAMAGED ? "is damaged" : "is of another build of the game");
        return NET_ERR_DAMAGED;
    }
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

// The cursor went over ticks that are lost: so does the match.
static net_result follow_cursor(net_log_replay* replay, net_log_tick* tick) {
    const net_log_keyframe keyframe = {replay->cursor.resumed, replay->cursor.resumed_at};
    net_result result = enter_keyframe(replay, &keyframe);
    replay->has_failed = result != NET_OK;
    tick->lost_first = replay->cursor.lost_first;
    return result;
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
    while (net_log_cursor_next(replay->reader, &replay->cursor, record)) {
        if (replay->cursor.resumed > 0) {
            net_result result = follow_cursor(replay, tick);
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
    if (net_match_lacks_memory(replay->match)) {
        (void)!fail_replay(replay, "out of memory");
        return NET_ERR_MEMORY;
    }
    tick->has_end = record->kind == NET_LOG_KIND_END;
    if (!tick->has_end) return NET_OK;
    tick->has_world_hash = record->has_world_hash;
    tick->state_hash = record->state_hash;
    tick->world_hash = record->world_hash;
    tick->changes = record->changes;
    tick->changes_bytes = record->changes_bytes;
    return NET_OK;
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

static net_result seek_start(net_log_replay* replay) {
    replay->cursor = net_log_cursor_begin(replay->reader);
    return net_match_restore(replay->match, replay->start.data, replay->start.size);
}

net_result net_log_replay_seek(net_log_replay* replay, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(replay->reader, &count);
    ecs_tick here = net_match_tick(replay->match), near_ = 0;
    for (uint32_t i = count; i > 0 && near_ == 0; i--)
        if (keyframes[i - 1].tick <= tick) near_ = keyframes[i - 1].tick;
    bool is_part = net_log_reader_info(replay->reader)->first_tick > 1;
    bool is_between = here >= near_ && here <= tick && !(is_part && here == 0);
    if (is_between && !replay->has_failed) return NET_OK;
    replay->has_stepped = replay->has_failed = false;
    replay->record = (net_log_record){0};
    replay->close = (net_log_record){0};
    net_result result = seek_keyframe(replay, tick);
    if (result == NET_ERR_CLOSED) result = seek_start(replay);
    replay->has_failed = result != NET_OK;
    return result;
}

net_result net_log_replay_create_at(net_log_reader* reader, const net_module* module, ecs_tick tick,
                                    const base_reporter* reporter, net_log_replay** replay) {
    net_result result = net_log_replay_create(reader, module, reporter, replay);
    if (result != NET_OK) return result;
    result = net_log_replay_seek(*replay, tick);
    if (result == NET_OK) return NET_OK;
    net_log_replay_destroy(*replay);
    *replay = NULL;
    return result;
}

// ---- ticks whose state a log lacks ----

// Ticks on the way are only run: rows are compared, and bodies written, for ticks that are asked
// for. After a jump history and recorder are new ones, and so the state is full.

struct net_log_run {
    const base_allocator* allocator;
    base_reporter reporter;
    net_log_reader* reader;
    net_log_replay* replay;
    net_history* history; // NULL: the next state is full
    net_log_recorder* recorder;
    uint32_t client; // 0: the states are everything
    ecs_tick diverged;
    net_log_record close; // its hashes of the last tick; without one it stays empty
    const char* file;
};

net_result net_log_run_create(const base_allocator* allocator, const char* file,
                              const net_module* module, const base_reporter* reporter,
                              net_log_run** run_out) {
    BASE_ASSERT(file && module && run_out);
    *run_out = NULL;
    net_log_run* run = base_allocate_zero(allocator, sizeof *run);
    if (!run) return NET_ERR_MEMORY;
    run->allocator = allocator;
    run->file = file;
    if (reporter) run->reporter = *reporter;
    // Who runs the log has another reader of it, which reported its damage.
    net_result result = net_log_reader_create(allocator, file, NULL, &run->reader);
    if (run->reader) (void)!net_log_reader_close(run->reader, &run->close);
    if (run->reader) result = net_log_replay_create(run->reader, module, reporter, &run->replay);
    if (result != NET_OK) {
        net_log_run_destroy(run);
        return result;
    }
    *run_out = run;
    return NET_OK;
}

static void forget(net_log_run* run) {
    net_log_recorder_destroy(run->recorder);
    net_history_destroy(run->history);
    run->recorder = NULL;
    run->history = NULL;
}

void net_log_run_destroy(net_log_run* run) {
    if (!run) return;
    forget(run);
    net_log_replay_destroy(run->replay);
    net_log_reader_destroy(run->reader);
    base_release(run->allocator, run, sizeof *run);
}

void net_log_run_see_as(net_log_run* run, uint32_t client) {
    forget(run);
    run->client = client;
}

ecs_tick net_log_run_tick(const net_log_run* run) {
    return net_match_tick(net_log_replay_match(run->replay));
}

ecs_tick net_log_run_diverged(const net_log_run* run) {
    return run->diverged;
}

static void compare(net_log_run* run, const net_log_tick* at) {
    const ecs_world* world = net_match_world(net_log_replay_match(run->replay));
    const net_log_record* close = &run->close;
    const bool is_last = close->kind == NET_LOG_KIND_CLOSE && close->tick == at->tick;
    if (run->diverged > 0) return;
    if ((!at->has_end ||
         net_log_is_same(world, at->state_hash, at->has_world_hash ? &at->world_hash : NULL)) &&
        (!is_last || net_log_is_same(world, close->state_hash,
                                     close->has_world_hash ? &close->world_hash : NULL)))
        return;
    run->diverged = at->tick;
    base_report(&run->reporter, run->file, 0,
                "this run differs from the log from tick %" PRIu64 " on", at->tick);
}

// Step up to the tick; a run that differs from the log goes on as it went.
static net_result step_to(net_log_run* run, ecs_tick tick) {
    net_match* match = net_log_replay_match(run->replay);
    net_result result = NET_OK;
    if (net_match_tick(match) + 1 != tick) forget(run);
    if (net_match_tick(match) >= tick || (!run->history && run->diverged == 0))
        result = net_log_replay_seek(run->replay, tick - 1);
    // The other reader may have followed the log.
    if (result == NET_OK && net_log_reader_info(run->reader)->last_tick < tick)
        result = net_log_reader_follow(run->reader);
    while (result == NET_OK && net_match_tick(match) < tick) {
        net_log_tick at;
        result = net_log_replay_step(run->replay, &at);
        if (result == NET_OK) compare(run, &at);
    }
    if (result == NET_OK && net_match_tick(match) != tick) result = NET_ERR_DAMAGED;
    return result == NET_ERR_CLOSED ? NET_ERR_DAMAGED : result;
}

static net_result begin_replay(net_log_run* run) {
    net_match* match = net_log_replay_match(run->replay);
    net_rows* rows = net_schema_rows(net_match_schema(match));
    const uint32_t index_max = ecs_world_limits(net_match_world(match))->replicated_index_max;
    net_rows_set_tick_rate(rows, net_match_get_config(match)->tick_rate_hz);
    net_result result = net_history_create(run->allocator, rows, index_max, &run->history);
    if (result == NET_OK)
        result = net_log_recorder_create(run->allocator, match, false, &run->recorder);
    if (result == NET_OK && run->client > 0)
        result = net_log_recorder_see_as(run->recorder, run->client, &run->reporter);
    return result;
}

net_result net_log_run_to(net_log_run* run, ecs_tick tick,
                          void (*part)(void* context, const uint8_t* data, size_t size),
                          void* context) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(tick > 0 && part);
    net_result result = step_to(run, tick);
    if (result == NET_OK && !run->history) result = begin_replay(run);
    const ecs_world* world = net_match_world(net_log_replay_match(run->replay));
    if (result == NET_OK) result = net_history_step(run->history, world, tick);
    if (result != NET_OK) {
        forget(run);
        return result;
    }
    net_log_recorder_begin(run->recorder, run->history);
    net_log_recorder_end(run->recorder, part, context);
    return NET_OK;
}
