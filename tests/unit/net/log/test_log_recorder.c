// SPDX-License-Identifier: MIT
// The state in a log, as the recorder writes it and the mirror of a reader has it, beside the match
// itself: every row of every tick of the three games, entities as they come and go, and a log whose
// state was lost on the way.
#include "match_made.h"
#include "log_files.h"

#include "base/rng.h"
#include "ecs/change.h"
#include "ecs/inspect.h"
#include "replay/log_state.h"
#include "log/log_recorder.h"
#include "log/log_file.h"
#include "net/log.h"
#include "net/match.h"
#include "state/schema.h"

#include <stdatomic.h>

static _Atomic bool is_full; // the disk

enum { BOTS = 6, INDICES = 1 << 20, LEAVE_TICK = 70, LATE_TICK = 200 };

typedef struct bot {
    base_rng rng;
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
    uint8_t input[NET_INPUT_BYTES_MAX];
} bot;

typedef struct play {
    log_files files;
    net_module* module;
    net_match* match;
    net_log_writer* writer;
    bot bots[BOTS];
} play;

static bool drop_event(void* sender, uint32_t message, const void* payload) {
    return false;
}

static play* play_open(const char* game) {
    char name[512];
    play* self = calloc(1, sizeof *self);
    assert_non_null(self);
    snprintf(name, sizeof name, "%s/%s.so", GAMES_DIR, game);
    files_open(&self->files);
    assert_ok(net_module_open(name, NULL, test_reporter(), &self->module));
    self->match = match_made(self->module, (match_wanted){.seed = 7});
    for (uint32_t i = 0; i < BOTS; i++)
        self->bots[i].rng = base_rng_make(i + 1, 3);
    return self;
}

static void play_close(play* self) {
    net_match_destroy(self->match);
    net_module_close(self->module);
    files_close(&self->files);
    free(self);
}

#define PLAY_CASE(name, game) CASE_MADE(play, self, play_open(game), play_close(self), name)

static uint32_t think(play* self, uint32_t i) {
    static _Alignas(16) uint8_t scratch[ECS_EVENT_BYTES_MAX];
    bot* at = &self->bots[i];
    net_match* match = self->match;
    const net_player_context player = {.size_bytes = sizeof player,
                                       .world = net_match_world(match),
                                       .context = net_match_context(match),
                                       .player = net_match_player(match, i + 1),
                                       .client = i + 1,
                                       .tick = net_match_tick(match),
                                       .dt = net_match_dt(match),
                                       .input_number = net_match_tick(match) + 1,
                                       .rng = &at->rng,
                                       .memory = at->memory,
                                       .send = drop_event};
    size_t size = 0;
    memset(scratch, 0, sizeof scratch);
    if (self->module->game->bot_think) self->module->game->bot_think(&player, scratch);
    (void)!net_match_pack(match, net_match_input_message(match), scratch, at->input,
                          sizeof at->input, &size);
    return (uint32_t)size;
}

// Bot 2 leaves, and the last one joins late.
static void play_tick(play* self) {
    static const net_tick_leave leave = {2, 3};
    const ecs_tick tick = net_match_tick(self->match) + 1;
    net_game_player joins[BOTS];
    net_tick_input inputs[BOTS];
    char names[BOTS][NET_PLAYER_NAME_BYTES_MAX];
    net_tick_inputs begin = {.tick = tick,
                             .joins = joins,
                             .inputs = inputs,
                             .leaves = &leave,
                             .leave_count = tick == LEAVE_TICK};
    for (uint32_t i = 0; i < BOTS; i++) {
        const ecs_tick join_tick = i + 1 == BOTS ? LATE_TICK : 1;
        snprintf(names[i], sizeof names[i], "bot %u", i);
        if (tick == join_tick)
            joins[begin.join_count++] =
                (net_game_player){.client = i + 1, .name = names[i], .is_bot = true};
        if (tick <= join_tick || (i == 1 && tick >= LEAVE_TICK)) continue;
        inputs[begin.input_count++] = (net_tick_input){.client = i + 1,
                                                       .number = (uint32_t)tick,
                                                       .payload = self->bots[i].input,
                                                       .size = think(self, i),
                                                       .seen = (tick - 1) * 256};
    }
    files_match_tick(self->writer, self->match, &begin);
    if (!is_full) net_log_wait_room(self->writer);
}

static void play_ticks(play* self, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++)
        play_tick(self);
}

static void play_record(play* self, uint32_t ticks) {
    assert_ok(net_log_writer_create(NULL, self->files.log, NULL, self->match, "test", 1,
                                    test_reporter(), &self->writer));
    play_ticks(self, ticks);
    assert_ok(net_log_writer_destroy(self->writer));
}

// Entities as the touches of ticks give them.
typedef struct followed {
    ecs_entity known[INDICES];
    uint32_t count;
} followed;

static void follow(const net_log_state* state, followed* self) {
    uint32_t count, here = 0, before = 0;
    const net_log_touch* touches = net_log_state_touches(state, &count);
    if (net_log_state_is_full(state)) memset(self, 0, sizeof *self);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t index = ecs_entity_index(touches[i].entity);
        ecs_entity* known = &self->known[index];
        assert_true(i == 0 || index > before);
        before = index;
        assert_true(touches[i].fate != NET_LOG_FATE_CHANGED || *known == touches[i].entity);
        self->count -= *known != 0;
        *known = touches[i].fate == NET_LOG_FATE_DESTROYED ? 0 : touches[i].entity;
        self->count += *known != 0;
    }
    for (ecs_entity at = ECS_ENTITY_NONE; (at = net_log_state_next(state, at)) != ECS_ENTITY_NONE;
         here++)
        assert_int_equal(self->known[ecs_entity_index(at)], at);
    assert_int_equal(here, self->count);
}

static void compare_all(const char* game, uint32_t ticks) {
    play* self = play_open(game);
    net_log_state* state;
    net_log_replay* replay;
    net_log_tick tick;
    uint32_t seen = 0, full = 0, count;
    followed* known = calloc(1, sizeof *known);
    assert_non_null(known);
    play_record(self, ticks);
    net_log_reader *a = files_reader(self->files.log), *b = files_reader(self->files.log);
    assert_ok(net_log_state_create(b, NULL, NULL, &state));
    assert_ok(net_log_replay_create(a, self->module, 0, NULL, &replay));
    for (; net_log_replay_step(replay, &tick) == NET_OK; seen++) {
        net_verify_result result = {0};
        assert_ok(net_log_state_step(state));
        assert_true(net_log_state_is_whole(state) && net_log_state_tick(state) == tick.tick);
        if (net_log_compare(state, net_log_replay_match(replay), &result))
            fail_msg("%s tick %u: %s.%s %s", game, (unsigned)tick.tick, result.component,
                     result.field, result.note);
        follow(state, known);
        full += net_log_state_is_full(state);
        (void)net_log_state_touches(state, &count);
        assert_true(count > 0 || seen > 0);
    }
    assert_int_equal(seen, ticks);
    assert_int_equal(full, 1 + (ticks - 1) / 300); // the first tick, and each 5 s
    assert_int_equal(net_log_state_step(state), NET_ERR_CLOSED);
    // The same by seeking, forwards and back: from a keyframe on it has the same values.
    static const ecs_tick wishes[] = {40, 9999};
    for (uint32_t i = 0; i < BASE_COUNT(wishes); i++) {
        assert_ok(net_log_state_seek(state, wishes[i]));
        assert_int_equal(net_log_state_tick(state), wishes[i] < ticks ? wishes[i] : ticks);
    }
    assert_true(net_log_state_is_whole(state));
    assert_false(net_log_compare(state, net_log_replay_match(replay), &(net_verify_result){0}));
    print_message("%s: %u entities\n", game, files_entities(state));
    free(known);
    net_log_replay_destroy(replay);
    net_log_state_destroy(state);
    net_log_reader_destroy(a);
    net_log_reader_destroy(b);
    play_close(self);
}

CASE(every_row_of_breakout_is_that_of_the_match) {
    compare_all("breakout", 1300);
}

CASE(every_row_of_arena_is_that_of_the_match) {
    compare_all("arena", 700);
}

// 10,000 entities that all move: dozens of bodies in a tick.
CASE(every_row_of_cubes_is_that_of_the_match) {
    compare_all("cubes", 60);
}

static void copy_part(void* context, const uint8_t* data, size_t size) {
    base_bytes_write(context, data, size);
}

// The same bytes with a thread and without, and from a full state on as after one.
PLAY_CASE(a_thread_changes_no_byte, "breakout") {
    net_rows* rows = net_schema_rows(net_match_schema(self->match));
    const uint32_t index_max = ecs_world_limits(net_match_world(self->match))->replicated_index_max;
    net_log_recorder* recorders[2];
    net_history* history;
    base_bytes out[2];
    assert_ok(net_log_writer_create(NULL, self->files.log, NULL, self->match, "test", 1, NULL,
                                    &self->writer));
    net_rows_set_tick_rate(rows, net_match_get_config(self->match)->tick_rate_hz);
    history = net_history_create(NULL, rows, index_max);
    for (uint32_t i = 0; i < 2; i++) {
        base_bytes_init(&out[i], NULL);
        recorders[i] = net_log_recorder_create(NULL, self->match, i == 1);
    }
    for (uint32_t tick = 1; tick <= 200; tick++) {
        net_match_step(self->match);
        net_history_step(history, net_match_world(self->match), tick);
        for (uint32_t i = 0; i < 2; i++) {
            if (tick == 100) net_log_recorder_restart(recorders[i]);
            net_log_recorder_begin(recorders[i], history);
        }
        for (uint32_t i = 0; i < 2; i++) {
            base_bytes_clear(&out[i]);
            net_log_recorder_end(recorders[i], copy_part, &out[i]);
        }
        assert_int_equal(out[0].size, out[1].size);
        assert_memory_equal(out[0].data, out[1].data, out[0].size);
        assert_int_equal(out[0].data[0], NET_LOG_FORM_STATE);
        assert_int_equal(out[0].data[1] & NET_LOG_STATE_FULL, tick == 1 || tick == 100);
        ecs_changes_clear(net_match_world(self->match));
    }
    for (uint32_t i = 0; i < 2; i++) {
        base_bytes_deinit(&out[i]);
        net_log_recorder_destroy(recorders[i]);
    }
    base_owner_destroy(history);
    assert_ok(net_log_writer_destroy(self->writer));
}

// A reader that misses the state of a tick, or gets it in a form of a later version, has no values
// until the next full state.
PLAY_CASE(without_the_state_of_a_tick_values_come_with_the_next_full_one, "breakout") {
    static const uint8_t later[] = {99, 0};
    play_record(self, 700);
    net_log_reader* reader = files_reader(self->files.log);
    for (uint32_t is_missing = 0; is_missing < 2; is_missing++) {
        net_log_state* state;
        net_log_record record;
        assert_ok(net_log_state_create(reader, NULL, NULL, &state));
        net_log_cursor cursor = net_log_cursor_begin(reader);
        while (net_log_cursor_next(reader, &cursor, &record)) {
            if (record.kind == NET_LOG_KIND_STATE && record.tick == 50) {
                if (is_missing) continue;
                record.changes = later;
                record.changes_bytes = sizeof later;
            }
            assert_ok(net_log_state_take(state, &record, false));
            if (!net_log_state_is_last(&record)) continue;
            const bool is_whole = record.tick < 50 || record.tick > 300;
            assert_int_equal(net_log_state_is_whole(state), is_whole);
            assert_int_equal(net_log_state_is_full(state), record.tick % 300 == 1);
        }
        net_log_state_destroy(state);
    }
    net_log_reader_destroy(reader);
}

static ssize_t write_unless_full(void* context, int fd, const void* data, size_t size) {
    errno = ENOSPC;
    return is_full ? -1 : write(fd, data, size);
}

static int sync_nothing(void* context, int fd) {
    return 0;
}

// Ticks until the log says that ticks began, or ceased, to be left out.
static void play_until(play* self, const char* words) {
    char text[256];
    for (uint32_t i = 0; i < 400000; i++) {
        play_tick(self);
        while (net_log_take_notice(self->writer, text, sizeof text))
            if (strstr(text, words)) return;
    }
    fail();
}

// Behind the ticks that a full disk costs, the first tick has a full state; of those in front of
// them the last one may have none.
PLAY_CASE(behind_a_full_disk_the_state_is_full, "breakout") {
    const net_log_options options = {.waiting_bytes = 1 << 17,
                                     .ops = {.write = write_unless_full, .sync = sync_nothing}};
    is_full = false;
    assert_ok(net_log_writer_create(NULL, self->files.log, &options, self->match, "test", 1, NULL,
                                    &self->writer));
    play_ticks(self, 200);
    is_full = true;
    play_until(self, "are left out");
    is_full = false;
    play_until(self, "continues after");
    play_ticks(self, 200);
    assert_ok(net_log_writer_finish(self->writer));
    const uint64_t lost = net_log_get_counters(self->writer).ticks_lost;
    assert_ok(net_log_writer_destroy(self->writer));
    assert_true(lost > 0);
    net_log_state* state;
    ecs_tick before = 0;
    uint32_t without = 0, gaps = 0;
    net_log_reader* reader = files_reader(self->files.log);
    assert_ok(net_log_state_create(reader, NULL, NULL, &state));
    for (; net_log_state_step(state) == NET_OK; before = net_log_state_tick(state)) {
        const ecs_tick tick = net_log_state_tick(state);
        if (tick != before + 1) {
            assert_true(tick > before && net_log_state_is_full(state));
            gaps++;
        }
        without += !net_log_state_is_whole(state);
    }
    assert_int_equal(before, net_match_tick(self->match));
    assert_true(without <= 1 && gaps == 1);
    net_log_state_destroy(state);
    net_log_reader_destroy(reader);
}

// ---- system by system ----

typedef struct watched {
    char names[4096]; ///< of the systems that ran, in their order
    uint32_t systems, flushes;
} watched;

static void note(void* context, const ecs_world* world, const char* system) {
    watched* self = context;
    assert_true(ecs_world_tick(world) > 0);
    self->systems += system != NULL;
    self->flushes += system == NULL;
    if (!system || strlen(self->names) + strlen(system) + 2 > sizeof self->names) return;
    strcat(self->names, system);
    strcat(self->names, " ");
}

// Systems that are looked behind run one by one, and the match is the same.
static void runs_one_by_one(const char* game, uint32_t ticks) {
    play* self = play_open(game);
    play_record(self, ticks);
    net_log_reader* reader = files_reader(self->files.log);
    net_log_replay* replay;
    net_log_tick tick;
    watched seen = {.names = ""};
    assert_ok(net_log_replay_create(reader, self->module, 0, NULL, &replay));
    ecs_world* world = net_match_world(net_log_replay_match(replay));
    ecs_inspect_after(world, note, &seen);
    for (uint32_t i = 0; i < ticks; i++) {
        seen.names[0] = 0;
        assert_ok(net_log_replay_step(replay, &tick));
        assert_true(ecs_world_state_hash(world) == tick.state_hash);
    }
    // In their order: each is found behind the one before.
    const char* at = seen.names;
    ecs_system_info info;
    for (uint32_t i = 0; ecs_stage_system_info(world, 0, i, &info); i++) {
        const char* found = info.is_sync_point ? NULL : strstr(at, info.name);
        if (found) at = found + strlen(info.name);
    }
    assert_string_equal(at, " ");
    assert_true(seen.systems > ticks && seen.flushes > ticks);
    const uint32_t systems = seen.systems;
    ecs_inspect_after(world, NULL, NULL);
    assert_int_equal(net_log_replay_step(replay, &tick), NET_ERR_CLOSED);
    assert_int_equal(seen.systems, systems);
    net_log_replay_destroy(replay);
    net_log_reader_destroy(reader);
    play_close(self);
}

CASE(systems_run_one_by_one_as_they_run_together) {
    runs_one_by_one("arena", 200);
    runs_one_by_one("cubes", 100);
}
