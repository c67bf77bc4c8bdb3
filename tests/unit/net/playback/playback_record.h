// SPDX-License-Identifier: MIT
/// A logged match of breakout with bots, with the hashes of every tick.
#pragma once

#include "breakout_table.h"
#include "log/log_files.h"

#include "net/playback.h"

enum { RECORD_TICKS_MAX = 4096, RECORD_BOTS = 3, RECORD_LEAVE = 70, RECORD_LATE = 200 };

static const char record_user_data[] = "the-team-of-the-player";
static const net_match_argument record_order = {.data = "secret-order", .size = 12};
#define RECORD_PLAYER_ID UINT64_C(0x1122334455667788)

/// What differs from the usual match: all else is 0.
typedef struct record_wanted {
    uint32_t ticks;
    uint64_t seed;                  ///< 0: 99
    const char* name;               ///< of client 1; NULL: ann
    const net_log_options* options; ///< NULL: the usual ones
    net_module* module;             ///< that the record closes, of any game; NULL: breakout
    const net_game_module* game;    ///< NULL: breakout
    const char* templates;          ///< more of them, or NULL
    net_log_content content;
    uint32_t tick_rate_hz; ///< 0: the game's
    bool has_controls;     ///< the log takes them
    bool is_private;       ///< players have ids and data, and tick 31 has an order in front of it
    ecs_tick late_tick;    ///< client 3 joins in this one; 0: RECORD_LATE
    ecs_tick bad_tick;     ///< this tick logs an event that no client may send
    ecs_tick cheer_tick;   ///< client 1 sends one
    ecs_tick set_tick;     ///< in front of this tick an operator sets ball_speed=1.25
    bool is_lossy;         ///< ticks do not wait until the log has room
    ecs_tick end_tick;     ///< a brick ends in this tick, whatever the match does
} record_wanted;

typedef struct playback_record {
    log_files files;
    table table;
    net_log_writer* writer;
    net_log_reader* reader; ///< of the whole log, in cases that ask for it
    record_wanted wanted;
    uint64_t state_hash; ///< after the last tick
    uint64_t world_hash[RECORD_TICKS_MAX + 1];
    uint64_t scope_hash[RECORD_TICKS_MAX + 1]; ///< of what clients have
} playback_record;

/// The hash of what a client should have of a match, or has.
static inline uint64_t record_scope(net_match* match) {
    return net_world_digest_walk(net_match_schema(match), net_match_world(match), NULL, NULL).hash;
}

static inline void record_end_brick(net_match* match) {
    ecs_world* world = net_match_world(match);
    const ecs_component_id id = ecs_component_find(world, "brick.pos");
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    while (!ecs_find(world, at, id))
        at = ecs_entity_next(world, at);
    assert_ok(ecs_destroy(world, at));
}

static inline size_t record_think(table* t, table_bot* bot, uint8_t* packed) {
    _Alignas(16) uint8_t input[ECS_EVENT_BYTES_MAX] = {0};
    const net_player_context view = table_bot_view(t->match, bot);
    t->module->game->bot_think(&view, input);
    size_t size;
    assert_ok(net_match_pack(t->match, net_match_input_message(t->match), input, packed,
                             NET_INPUT_BYTES_MAX, &size));
    return size;
}

/// What an operator orders in front of a tick.
static inline void record_orders(const playback_record* self, ecs_tick tick) {
    static const net_match_argument speed = {.data = "ball_speed=1.25", .size = 15};
    if (tick == self->wanted.set_tick) {
        assert_ok(net_log_append_control(self->writer, "set", &speed, 1));
        assert_ok(net_match_control(self->table.match, "set", &speed, 1, false, NULL));
    }
    if (tick == 31 && self->wanted.is_private) // in the log alone
        assert_ok(net_log_append_control(self->writer, "set", &record_order, 1));
}

/// Clients 1 and 2 are bots from the first tick. Client 2 leaves, client 3 joins late. Every
/// seventh input is repeated.
static inline void record_tick(playback_record* self) {
    table* t = &self->table;
    static const net_tick_leave leave = {2, 3};
    const ecs_tick tick = net_match_tick(t->match) + 1;
    const ecs_tick late_tick = self->wanted.late_tick ? self->wanted.late_tick : RECORD_LATE;
    const bool is_bad = tick == self->wanted.bad_tick;
    const net_tick_event event = {.client = 1,
                                  .message = is_bad ? 1 : BREAKOUT_MESSAGE_CHEER + 1,
                                  .payload = "\10\4",
                                  .size = is_bad ? 0 : 2};
    net_game_player joins[] = {{.client = 1, .name = "ann", .is_bot = true},
                               {.client = 2, .name = "bob", .is_bot = true},
                               {.client = 3, .name = "cleo"}};
    if (self->wanted.name) joins[0].name = self->wanted.name;
    for (uint32_t i = 0; i < BASE_COUNT(joins) && self->wanted.is_private; i++) {
        joins[i].player_id = RECORD_PLAYER_ID + i;
        joins[i].user_data = (const uint8_t*)record_user_data;
        joins[i].user_bytes = sizeof record_user_data - 1;
    }
    uint8_t packed[RECORD_BOTS][NET_INPUT_BYTES_MAX];
    net_tick_input inputs[RECORD_BOTS];
    net_tick_inputs begin = {.tick = tick,
                             .joins = tick == 1 ? joins : &joins[2],
                             .join_count = (tick == 1 ? 2u : 0u) + (tick == late_tick),
                             .leaves = &leave,
                             .leave_count = tick == RECORD_LEAVE,
                             .events = &event,
                             .event_count = is_bad || tick == self->wanted.cheer_tick,
                             .inputs = inputs};
    for (uint32_t i = 0; tick > 1 && i < RECORD_BOTS; i++) {
        if (i == 1 && tick >= RECORD_LEAVE) continue;
        if (i == 2 && tick <= late_tick) continue;
        bool is_repeat = (tick + i) % 7 == 0;
        size_t size = record_think(t, &t->bots[i], packed[i]);
        inputs[begin.input_count++] = (net_tick_input){
            .client = i + 1,
            .number = (uint32_t)t->bots[i].input_number,
            .payload = is_repeat ? NULL : packed[i],
            .size = is_repeat ? 0 : (uint32_t)size,
            .seen = t->module->game->is_rewinding ? (tick - 1) * 256 : 0,
        };
    }
    record_orders(self, tick);
    net_log_append_begin(self->writer, &begin);
    if (is_bad) begin.event_count = 0; // it is in the log alone
    net_match_apply(t->match, &begin);
    net_match_step(t->match);
    if (tick == self->wanted.end_tick) record_end_brick(t->match);
    net_log_append_end(self->writer, t->match);
    if (!self->wanted.is_lossy) net_log_wait_room(self->writer);
    table_listen(t);
    ecs_changes_clear(net_match_world(t->match));
    self->state_hash = ecs_world_state_hash(net_match_world(t->match));
    if (tick > RECORD_TICKS_MAX) return;
    self->world_hash[tick] = ecs_world_hash(net_match_world(t->match));
    self->scope_hash[tick] = record_scope(t->match);
}

static inline void record_ticks(playback_record* self, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        record_tick(self);
}

/// Log the match from here on.
static inline void record_write(playback_record* self, const char* file,
                                const net_log_options* options) {
    assert_ok(net_log_writer_create(NULL, file, options, self->table.match, "test", 1234, NULL,
                                    &self->writer));
}

/// End the log.
static inline void record_end(playback_record* self) {
    net_log_append_close(self->writer, self->table.match);
    assert_ok(net_log_writer_destroy(self->writer));
}

/// The module of a game that has breakout's templates and more.
static inline net_module* record_module(const net_game_module* game, const char* templates) {
    net_module* module;
    char *text = table_read_file(BREAKOUT_BLK), whole[16384];
    assert_true((size_t)snprintf(whole, sizeof whole, "%s\n%s", text, templates) < sizeof whole);
    free(text);
    assert_ok(net_module_wrap(game, whole, "breakout.blk", test_reporter(), &module));
    return module;
}

static inline void record_open_table(table* self, const record_wanted* wanted) {
    // Few lives and fast balls: the match loses lives and clears levels within seconds.
    static const char* const settings[] = {"ball_speed=1.8", "lives=3"};
    self->module = wanted->module;
    if (!self->module)
        self->module = record_module(wanted->game ? wanted->game : breakout_module(),
                                     wanted->templates ? wanted->templates : "");
    net_match_config config = net_match_config_default(self->module);
    config.seed = wanted->seed ? wanted->seed : 99;
    config.role = NET_ROLE_SERVER;
    if (wanted->tick_rate_hz > 0) config.tick_rate_hz = wanted->tick_rate_hz;
    for (uint32_t i = 0; i < BASE_COUNT(settings) && !wanted->module; i++)
        assert_ok(net_match_setting_apply(&config, settings[i], test_reporter()));
    assert_ok(net_match_create(&config, test_reporter(), &self->match));
    for (uint32_t i = 0; i < RECORD_BOTS; i++) {
        self->bots[i].client = i + 1;
        self->bots[i].rng = base_rng_make(i + 1, 7);
    }
}

/// A log in which no tick is yet.
static inline playback_record* record_begin(record_wanted wanted) {
    playback_record* self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->wanted = wanted;
    assert_true(wanted.ticks <= RECORD_TICKS_MAX);
    files_open(&self->files);
    record_open_table(&self->table, &wanted);
    self->world_hash[0] = ecs_world_hash(net_match_world(self->table.match));
    net_log_options options = wanted.options ? *wanted.options : net_log_options_default();
    options.content = wanted.content;
    options.has_controls |= wanted.has_controls || wanted.set_tick > 0 || wanted.is_private;
    record_write(self, self->files.log, &options);
    return self;
}

static inline playback_record* record_make_as(record_wanted wanted) {
    playback_record* self = record_begin(wanted);
    record_ticks(self, wanted.ticks);
    record_end(self);
    return self;
}

static inline playback_record* record_make(uint32_t ticks) {
    return record_make_as((record_wanted){.ticks = ticks});
}

static inline net_log_reader* record_read(const playback_record* self) {
    return files_reader(self->files.log);
}

static inline playback_record* record_make_read(record_wanted wanted) {
    playback_record* self = record_make_as(wanted);
    self->reader = record_read(self);
    return self;
}

static inline void record_free(playback_record* self) {
    net_log_reader_destroy(self->reader);
    table_close(&self->table);
    files_close(&self->files);
    free(self);
}

/// A case with a log of its own, `record`, of so many ticks.
#define PLAYED_CASE(name, ticks)                                                                   \
    CASE_MADE(playback_record, record, record_make(ticks), record_free(record), name)
/// The same with what differs, and a reader.
#define READ_CASE(name, ...)                                                                       \
    CASE_MADE(playback_record, self, record_make_read((record_wanted){__VA_ARGS__}),               \
              record_free(self), name)

static inline void record_forge(const playback_record* self, const char* file,
                                record_forger* forger, void* context) {
    log_forge(self->files.log, file, forger, context);
}

/// A forger for which the row code is one less: field 15 of the header. `context`: NULL.
static inline record_act record_other_row_code(void* context, uint32_t number,
                                               const net_log_block* block, uint8_t* payload) {
    static const uint8_t field[] = {15 << 3, NET_LOG_ROW_CODE};
    if (block->type != NET_LOG_BLOCK_HEADER) return RECORD_KEEP;
    for (size_t i = 0; i + sizeof field <= block->unpacked_bytes; i++) {
        if (memcmp(payload + i, field, sizeof field) != 0) continue;
        payload[i + 1]--;
        return RECORD_CHANGE;
    }
    fail();
    return RECORD_KEEP;
}

/// Make a forged log a playback, and look at some moments. `counts`: refused and shown.
static inline void record_show_forged(const playback_record* self, record_forger* forger,
                                      void* context, uint32_t counts[2]) {
    const char* file = file_name("%s/forged", self->files.folder);
    net_log_reader* reader;
    net_playback* playback;
    record_forge(self, file, forger, context);
    (void)!net_log_reader_create(NULL, file, NULL, &reader);
    if (!reader) return;
    net_result result = net_playback_create(reader, self->table.module, NULL, &playback);
    counts[result == NET_OK]++;
    assert_true((result == NET_OK) == (playback != NULL));
    if (playback) {
        (void)!net_playback_seek(playback, 40.0);
        (void)!net_playback_advance(playback, 3.5);
        (void)!net_playback_seek(playback, 2.0);
        net_playback_draw(playback, NULL);
    }
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}
