// SPDX-License-Identifier: MIT
// A log as a playback. The same moment gives the same picture for every way to reach it. The
// picture of a tick shows what the server would have sent for it.
#include "playback_record.h"
#include "recorder.h"
#include "game/match.h"
#include "present/scene_world.h"

enum { TICKS = 1200, SEED = 20240608 };

typedef struct canvas {
    recorder drawn; ///< the first member: it is the context of what draws
    const net_playback* playback;
} canvas;

static const char* player_name(void* context, uint32_t client) {
    return net_playback_player_name(((const canvas*)context)->playback, client);
}

static canvas picture(net_playback* playback) {
    canvas on = {.playback = playback};
    net_draw draw = recorder_draw(&on.drawn, ECS_ENTITY_NONE, 0);
    draw.player_name = player_name;
    draw.time_s = 1e9; // the playback shows its own time
    net_playback_draw(playback, &draw);
    return on;
}

// ---- opening ----

typedef struct show {
    playback_record* record;
    net_log_reader* reader;
    net_playback* playback;
    net_game_module game;    ///< that of another build, and
    net_module* changed;     ///< its module, or NULL
    base_report_first first; ///< what the playback reports
    base_reporter reporter;
} show;

static void show_open(show* self, playback_record* record) {
    *self = (show){.record = record, .game = *breakout_module()};
    self->reporter = base_reporter_first(&self->first);
}

static void show_close(show* self) {
    net_playback_destroy(self->playback);
    net_log_reader_destroy(self->reader);
    if (self->changed) net_module_close(self->changed);
    record_free(self->record);
}

// The log from its beginning, in place of what was shown before.
static net_playback* show_play_by(show* self, const net_module* module) {
    net_playback_destroy(self->playback);
    if (!self->reader) self->reader = record_read(self->record);
    assert_ok(net_playback_create(self->reader, module, &self->reporter, &self->playback));
    return self->playback;
}

static net_playback* show_play(show* self) {
    return show_play_by(self, self->record->table.module);
}

// The module of another build: the first `from` of its templates is `to`, of the same length.
static void show_wrap(show* self, const char* from, const char* to) {
    char* text = table_read_file(BREAKOUT_BLK);
    char* place = strstr(text, from);
    assert_true(place && strlen(from) == strlen(to));
    memcpy(place, to, strlen(to));
    assert_ok(net_module_wrap(&self->game, text, "x.blk", NULL, &self->changed));
    free(text);
}

static net_playback* show_other(show* self, const char* from, const char* to) {
    show_wrap(self, from, to);
    return show_play_by(self, self->changed);
}

#define SHOW_CASE(name, record)                                                                    \
    CASE_WITH(show, self, show_open(self, record), show_close(self), name)

#define INPUTS_RECORD(tick_count)                                                                  \
    record_make_as((record_wanted){.ticks = tick_count, .content = NET_LOG_CONTENT_INPUTS})

/// A log of states, and one of inputs: what comes from a run of the match is no other thing.
#define BOTH_CASE(name)                                                                            \
    static void name##_in(show* self);                                                             \
    SHOW_CASE(name, record_make(TICKS)) {                                                          \
        name##_in(self);                                                                           \
    }                                                                                              \
    SHOW_CASE(name##_of_inputs, INPUTS_RECORD(TICKS)) {                                            \
        name##_in(self);                                                                           \
    }                                                                                              \
    static void name##_in(show* self)

static ecs_tick above(double tick) {
    ecs_tick below = (ecs_tick)tick;
    return below + ((double)below < tick);
}

static void assert_shows(const show* self, double tick) {
    assert_true(net_playback_tick(self->playback) == tick);
    // Between two ticks the view has values that the server never had.
    if ((double)above(tick) == tick)
        assert_true(record_scope(net_playback_match(self->playback)) ==
                    self->record->scope_hash[above(tick)]);
}

static void assert_seeks_to(const show* self, double wish, double tick) {
    assert_ok(net_playback_seek(self->playback, wish));
    assert_shows(self, tick);
}

static void assert_seeks(const show* self, double tick) {
    assert_seeks_to(self, tick, tick);
}

// ---- cases ----

BOTH_CASE(a_moment_is_the_same_picture_however_it_was_reached) {
    enum { MOMENTS = 24, VISITS = 72 };
    struct {
        double tick;
        uint64_t world, picture;
    } moments[MOMENTS];
    base_rng rng = test_rng(SEED, 1);
    for (uint32_t i = 0; i < MOMENTS; i++) {
        // Play from the beginning. Every third moment is between two ticks.
        net_playback* playback = show_play(self);
        moments[i].tick = (double)(1 + base_rng_below(&rng, TICKS)) - (i % 3 ? 0.0 : 0.375);
        if (moments[i].tick < 1.0) moments[i].tick = 1.0;
        assert_seeks(self, moments[i].tick);
        moments[i].world = ecs_world_hash(net_match_world(net_playback_match(playback)));
        canvas on = picture(playback);
        assert_true(on.drawn.shapes > 100);
        moments[i].picture = on.drawn.hash;
        assert_true(picture(playback).drawn.hash == on.drawn.hash); // the same frame again
    }
    net_playback* playback = show_play(self);
    for (uint32_t i = 0; i < VISITS; i++) {
        uint32_t at = base_rng_below(&rng, MOMENTS);
        // Reach the moment in different ways: from the current place, after playing on, with and
        // without drawn frames.
        if (base_rng_chance(&rng, 0.5))
            assert_ok(net_playback_advance(playback, base_rng_below(&rng, 200) / 7.0));
        if (base_rng_chance(&rng, 0.5)) (void)picture(playback);
        assert_seeks(self, moments[at].tick);
        assert_true(ecs_world_hash(net_match_world(net_playback_match(playback))) ==
                    moments[at].world);
        assert_true(picture(playback).drawn.hash == moments[at].picture);
    }
}

BOTH_CASE(playing_shows_every_tick_as_the_server_had_it) {
    net_playback* playback = show_play(self);
    assert_shows(self, 1.0);
    canvas first = picture(playback);
    for (uint32_t tick = 2; tick <= TICKS; tick++) {
        // Draw two frames per tick: one of them between ticks.
        assert_ok(net_playback_advance(playback, 0.5));
        assert_shows(self, tick - 0.5);
        (void)picture(playback);
        assert_ok(net_playback_advance(playback, 0.5));
        assert_shows(self, tick);
        if (tick == 500)
            assert_true(recorder_has_text(
                &(canvas[]) { picture(playback) } -> drawn, "ann"));
        if (tick == RECORD_LEAVE - 1) assert_true(net_playback_player(playback, 2));
        if (tick == RECORD_LEAVE) assert_false(net_playback_player(playback, 2));
        if (tick == 40) assert_true(picture(playback).drawn.hash != first.drawn.hash);
    }
    assert_ok(net_playback_advance(playback, 1000.0));
    assert_shows(self, TICKS);
    assert_int_equal(net_playback_diverged(playback), 0);
    // One long jump forward gives the same picture.
    assert_ok(net_playback_seek(playback, 1.0));
    assert_ok(net_playback_advance(playback, 699.0));
    assert_shows(self, 700.0);
}

// A log that another process writes, seen while it grows by pieces of any size.
BOTH_CASE(a_log_that_grows_shows_what_it_shows_when_it_is_whole) {
    enum { PIECE = 9000 };
    net_playback* whole = show_play(self);
    uint64_t pictures[TICKS + 1];
    for (uint32_t tick = 1; tick <= TICKS; tick++) {
        assert_ok(net_playback_advance(whole, tick > 1));
        pictures[tick] = picture(whole).drawn.hash;
    }
    uint32_t whole_count, count;
    const net_playback_mark* whole_marks = net_playback_marks(whole, &whole_count);
    size_t log_bytes;
    uint8_t* log = file_read(self->record->files.log, &log_bytes);
    const char* file = file_name("%s/grows", self->record->files.folder);
    net_log_reader* reader = NULL;
    net_playback* playback = NULL;
    uint32_t tick = 0, lasts = 0;
    for (size_t size = 0; size < log_bytes;) {
        size = size + PIECE < log_bytes ? size + PIECE : log_bytes;
        file_write(file, log, size);
        if (!reader) assert_ok(net_log_reader_create(NULL, file, NULL, &reader));
        net_log_reader_follow(reader);
        if (!playback && net_log_reader_info(reader)->last_tick < 2) continue;
        if (!playback)
            assert_ok(net_playback_create(reader, self->record->table.module, NULL, &playback));
        net_playback_follow(playback);
        const ecs_tick last = net_playback_tick_last(playback);
        const bool is_closed = net_log_reader_info(reader)->is_closed;
        assert_int_equal(last, net_log_reader_info(reader)->last_tick - !is_closed);
        lasts += last > tick;
        for (; tick < last; tick++) {
            if (tick > 0) assert_ok(net_playback_advance(playback, 1.0));
            assert_int_equal(net_playback_tick(playback), tick + 1);
            assert_true(picture(playback).drawn.hash == pictures[tick + 1]);
        }
        assert_ok(net_playback_advance(playback, 5.0)); // it waits there
        assert_int_equal(net_playback_tick(playback), last);
    }
    assert_true(lasts > 2);
    assert_int_equal(tick, TICKS);
    const net_playback_mark* marks = net_playback_marks(playback, &count);
    assert_int_equal(count, whole_count);
    assert_memory_equal(marks, whole_marks, count * sizeof *marks);
    assert_int_equal(net_playback_diverged(playback), 0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    free(log);
}

BOTH_CASE(moments_are_clamped_to_the_log) {
    net_playback* playback = show_play(self);
    assert_int_equal(net_playback_tick_last(playback), TICKS);
    const struct {
        double wish, shown;
    } cases[] = {
        {TICKS, TICKS}, {TICKS + 0.25, TICKS}, {1e300, TICKS}, {-5.0, 1.0},
        {0.0, 1.0},     {0.75, 1.0},           {1.25, 1.25},   {TICKS - 0.25, TICKS - 0.25}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        assert_seeks_to(self, cases[i].wish, cases[i].shown);
    }
    double nan = strtod("nan", NULL);
    assert_seeks_to(self, nan, 1.0);
    expect_assert_failure((void)!net_playback_advance(playback, -1.0));
}

static off_t half_of_log(const show* self) {
    struct stat status;
    assert_int_equal(stat(self->record->files.log, &status), 0);
    return status.st_size / 2;
}

static void change_byte(const show* self, size_t place) {
    size_t size;
    uint8_t* bytes = file_read(self->record->files.log, &size);
    file_poke(self->record->files.log, place, bytes[place] ^ 0x40);
    free(bytes);
}

CASE_ROWS(show, self, show_open(self, record_make(300)), show_close(self), is_damaged, 2,
          a_log_is_shown_to_its_last_whole_tick_before_a_cut_and_damage) {
    if (is_damaged)
        change_byte(self, (size_t)half_of_log(self));
    else
        assert_int_equal(truncate(self->record->files.log, half_of_log(self)), 0);
    net_playback* playback = show_play(self);
    const net_log_info* info = net_log_reader_info(self->reader);
    assert_true(is_damaged ? info->is_damaged : info->is_cut); // the marks came across it
    assert_int_equal(net_playback_seek(playback, 300.0), is_damaged ? NET_ERR_DAMAGED : NET_OK);
    const ecs_tick last = net_playback_tick_last(playback);
    assert_true(last > 10 && last < 300);
    assert_shows(self, (double)last);
    assert_seeks_to(self, 300.0, (double)last);
}

// Change a byte of a tick's block; a keyframe follows.
static void damage_tick(const show* self, ecs_tick tick) {
    net_log_reader* reader = record_read(self->record);
    const net_log_keyframe* keyframe;
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record at;
    do
        assert_true(net_log_cursor_next(reader, &cursor, &at));
    while (at.tick < tick);
    uint64_t place = cursor.block + NET_LOG_BLOCK_HEADER_BYTES + 9;
    (void)net_log_reader_seek(reader, self->record->wanted.ticks, &keyframe);
    assert_non_null(keyframe);
    net_log_reader_destroy(reader);
    change_byte(self, place);
}

// Keyframes are at 600 and 1200, and a changed byte is in front of the first.
BOTH_CASE(a_log_damaged_inside_is_shown_on_from_the_next_keyframe) {
    damage_tick(self, 300);
    net_playback* playback = show_play(self);
    // Behind it, in it, in front of it, and over it without a seek.
    const double ticks[] = {900.0, 450.0, 100.0, 1100.5, 620.0};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++) {
        assert_seeks_to(self, ticks[i], i == 1 ? 601.0 : ticks[i]);
    }
    assert_ok(net_playback_seek(playback, 220.0));
    assert_ok(net_playback_advance(playback, 60.0));
    assert_shows(self, 601.0);
    assert_ok(net_playback_advance(playback, 60.0));
    assert_shows(self, 661.0);
    assert_int_equal(net_playback_diverged(playback), 0);
    assert_int_equal(net_log_reader_info(self->reader)->lost_ticks, 600 - 240);
}

// A log of inputs, with correct checksums and, in tick 201, an event that no client may send.
SHOW_CASE(a_log_that_the_game_does_not_take_is_shown_as_far_as_it_goes,
          record_make_as((record_wanted){
              .ticks = 300, .content = NET_LOG_CONTENT_INPUTS, .bad_tick = 201})) {
    net_playback* playback = show_play(self);
    assert_int_equal(net_playback_tick_last(playback), 300);
    assert_int_equal(net_playback_seek(playback, 250.5), NET_ERR_DAMAGED);
    assert_int_equal(self->first.count, 1);
    assert_non_null(strstr(self->first.text, "tick 201"));
    assert_int_equal(net_playback_tick_last(playback), 200);
    assert_shows(self, 200.0);
    assert_seeks_to(self, 250.5, 200.0);
    assert_seeks(self, 30.0);
    // The same fault while the log plays.
    playback = show_play(self);
    assert_ok(net_playback_seek(playback, 190.0));
    assert_int_equal(net_playback_advance(playback, 30.0), NET_ERR_DAMAGED);
    assert_shows(self, 200.0);
    assert_ok(net_playback_advance(playback, 30.0));
    assert_shows(self, 200.0);
}

// What is shown is the match of the log, whatever the game here would do.
SHOW_CASE(a_log_with_states_is_shown_by_another_build_of_the_game, record_make(TICKS)) {
    net_playback* playback = show_other(self, "vel:p2=330,-550", "vel:p2=330,-551");
    assert_seeks(self, 600.0);
    assert_ok(net_playback_advance(playback, 300.0));
    assert_shows(self, 900.0);
    assert_true(picture(playback).drawn.shapes > 100);
}

SHOW_CASE(a_log_of_inputs_diverges_once_and_goes_on, INPUTS_RECORD(TICKS)) {
    net_playback* playback = show_other(self, "vel:p2=330,-550", "vel:p2=330,-551");
    uint32_t reports = self->first.count; // the report about the other build
    assert_int_equal(net_playback_seek(playback, 600.0), NET_ERR_DIVERGED);
    assert_int_equal(self->first.count, reports + 1);
    ecs_tick diverged = net_playback_diverged(playback);
    assert_true(diverged > 0 && diverged <= 600);
    assert_true(net_playback_tick(playback) == 600.0);
    assert_true(picture(playback).drawn.shapes > 100);
    assert_ok(net_playback_seek(playback, 10.0));
    assert_ok(net_playback_seek(playback, TICKS));
    assert_int_equal(net_playback_diverged(playback), diverged);
    assert_int_equal(self->first.count, reports + 1);
}

BOTH_CASE(another_game_is_refused) {
    self->game.name = "brokeout";
    show_wrap(self, "", "");
    self->reader = record_read(self->record);
    assert_int_equal(net_playback_create(self->reader, self->changed, NULL, &self->playback),
                     NET_ERR_SCHEMA);
    assert_null(self->playback);
}

// ---- settings ----

// That of the view world: what the game draws by.
static double ball_speed(net_playback* playback) {
    const net_match_config* config = net_match_get_config(net_playback_match(playback));
    uint32_t i = 0;
    while (strcmp(config->module->game->settings[i].key, "ball_speed") != 0)
        i++;
    return config->settings[i];
}

static playback_record* record_make_slow(uint32_t ticks, ecs_tick set_tick, uint32_t tick_rate_hz) {
    return record_make_as(
        (record_wanted){.ticks = ticks, .set_tick = set_tick, .tick_rate_hz = tick_rate_hz});
}

SHOW_CASE(a_setting_holds_from_its_tick_on, record_make_slow(200, 90, 60)) {
    static const struct {
        double wish; // a seek; 0: play on
        double advance, speed;
    } rows[] = {{1.0, 0, 1.8}, {150.0, 0, 1.25}, {80.0, 0, 1.8}, {0, 9.0, 1.8}, {0, 1.0, 1.25}};
    net_playback* playback = show_play(self);
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        if (rows[i].wish > 0) assert_ok(net_playback_seek(playback, rows[i].wish));
        assert_ok(net_playback_advance(playback, rows[i].advance));
        assert_true(ball_speed(playback) == rows[i].speed);
    }
    assert_shows(self, 90);
}

// A tick is a block, and a keyframe is behind each ten of them.
SHOW_CASE(a_first_seek_reads_no_more_of_a_longer_log, record_make_slow(700, 90, 1)) {
    damage_tick(self, 500);
    net_playback* playback = show_play(self);
    assert_seeks_to(self, 695.0, 695);
    assert_true(ball_speed(playback) == 1.25);
    assert_false(net_log_reader_info(self->reader)->is_damaged); // no read came there
}

SHOW_CASE(a_setting_from_before_a_slice_holds_in_it, record_make_slow(120, 90, 1)) {
    const char* name = file_name("%s/slice.slog", self->record->files.folder);
    net_log_reader* whole = record_read(self->record);
    net_log_copy_result copied;
    const net_log_copy_config config = {.output = name, .first = 105};
    assert_ok(net_log_copy(whole, &config, NULL, &copied));
    net_log_reader_destroy(whole);
    self->reader = files_reader(name);
    assert_true(ball_speed(show_play(self)) == 1.25);
    assert_ok(net_playback_seek(self->playback, 110.0));
    assert_true(ball_speed(self->playback) == 1.25);
}

// ---- what a client has ----

static bool is_brick(ecs_world* world, ecs_entity entity) {
    return ecs_find(world, entity, ecs_component_find(world, "brick.pos")) != NULL;
}

static net_relevance hide_bricks(const net_interest_question* question) {
    return question->client == 1 && is_brick(question->world, question->entity)
               ? NET_RELEVANT_NEVER
               : NET_RELEVANT_BY_RULES;
}

typedef struct shown {
    uint32_t entities, bricks, calls;
    uint64_t hash;
} shown;

static shown look_as(net_playback* playback, uint32_t client) {
    assert_ok(net_playback_see_as(playback, client));
    const canvas seen = picture(playback);
    shown found = {.calls = seen.drawn.shapes, .hash = seen.drawn.hash};
    ecs_world* world = net_match_world(net_playback_match(playback));
    for (ecs_entity at = ECS_ENTITY_NONE; (at = ecs_entity_next(world, at)) != ECS_ENTITY_NONE;
         found.entities++)
        found.bricks += is_brick(world, at);
    return found;
}

BOTH_CASE(a_client_is_shown_what_it_has_and_a_spectator_everything) {
    static const net_interest_rules rules = {.size_bytes = sizeof rules, .relevance = hide_bricks};
    self->game.interest = &rules;
    net_playback* playback = show_other(self, "", "");
    assert_ok(net_playback_seek(playback, 600.0));
    const shown all = look_as(playback, 0), first = look_as(playback, 1);
    assert_true(net_playback_tick(playback) == 600.0);
    assert_true(all.bricks > 10 && first.bricks == 0);
    assert_int_equal(first.entities, all.entities - all.bricks);
    assert_true(first.calls < all.calls);
    assert_int_equal(look_as(playback, 3).bricks, all.bricks);
    assert_int_equal(look_as(playback, 2).entities, 0); // it left
    // Also in the ticks that follow, and in those before.
    assert_int_equal(look_as(playback, 1).hash, first.hash);
    assert_ok(net_playback_advance(playback, 30.0));
    assert_int_equal(look_as(playback, 1).bricks, 0);
    assert_ok(net_playback_seek(playback, RECORD_LEAVE - 1));
    assert_true(look_as(playback, 2).bricks > 10);
    assert_ok(net_playback_advance(playback, 2.0));
    assert_int_equal(look_as(playback, 2).entities, 0);
    assert_ok(net_playback_seek(playback, 600.0));
    assert_int_equal(look_as(playback, 0).hash, all.hash);
}

FILES_CASE(a_game_that_draws_nothing_is_filmed) {
    net_module* module = stage_module();
    net_match* match = stage_match(module, NET_ROLE_SERVER, NULL);
    net_log_writer* writer;
    net_playback* playback;
    const net_draw draw = net_match_draw_nothing(match);
    assert_ok(net_log_writer_create(NULL, files->log, NULL, match, "test", 1, NULL, &writer));
    for (ecs_tick tick = 1; tick <= 200; tick++)
        files_match_tick(writer, match, &(net_tick_inputs){.tick = tick});
    net_log_append_close(writer, match);
    assert_ok(net_log_writer_destroy(writer));
    net_log_reader* reader = files_reader(files->log);
    assert_ok(net_playback_create(reader, module, test_reporter(), &playback));
    assert_ok(net_playback_seek(playback, 150.5));
    net_playback_draw(playback, &draw);
    assert_true(net_playback_tick(playback) == 150.5);
    assert_int_equal(net_playback_diverged(playback), 0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    net_match_destroy(match);
    net_module_close(module);
}

// ---- forged logs: right checksums, any content ----

typedef struct forgery {
    base_rng rng;
    uint32_t which; ///< block
} forgery;

// Change bytes in the records of one block, which then is whole again.
static record_act change_block(void* context, uint32_t number, const net_log_block* block,
                               uint8_t* payload) {
    forgery* by = context;
    if (number != by->which) return RECORD_KEEP;
    uint32_t changes = 1 + base_rng_below(&by->rng, 3);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t place = base_rng_below(&by->rng, block->unpacked_bytes);
        // The settings stand at the start of the header.
        if (block->type == NET_LOG_BLOCK_HEADER && i == 0) place %= 200;
        payload[place] = base_rng_below(&by->rng, 2) ? (uint8_t)('0' + base_rng_below(&by->rng, 10))
                                                     : (uint8_t)base_rng_below(&by->rng, 256);
    }
    return RECORD_CHANGE;
}

SHOW_CASE(a_forged_log_is_filmed_or_refused, record_make(60)) {
    forgery by = {.rng = test_rng(SEED, 2)};
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < 400; i++) {
        // Half of them have another header, the others another block of records.
        by.which = i % 2 ? 1 + base_rng_below(&by.rng, 3) : 0;
        record_show_forged(self->record, change_block, &by, counts);
    }
    assert_true(counts[0] > 20 && counts[1] > 20);
}

static record_act set_lives(void* context, uint32_t number, const net_log_block* block,
                            uint8_t* payload) {
    bool* is_found = context;
    if (number > 0) return RECORD_KEEP;
    for (uint32_t i = 0; i + 6 < block->unpacked_bytes && !*is_found; i++) {
        *is_found = memcmp(payload + i, "lives\x12\x01", 7) == 0;
        if (*is_found) payload[i + 7] = '0';
    }
    return RECORD_CHANGE;
}

// The value fits the header's text and not the game.
SHOW_CASE(a_setting_out_of_range_is_refused, INPUTS_RECORD(60)) {
    bool is_found = false;
    record_forge(self->record, self->record->files.log, set_lives, &is_found);
    assert_true(is_found);
    self->reader = record_read(self->record);
    assert_int_equal(net_playback_create(self->reader, self->record->table.module, &self->reporter,
                                         &self->playback),
                     NET_ERR_DAMAGED);
    assert_null(self->playback);
    assert_non_null(strstr(self->first.text, "lives"));
}
