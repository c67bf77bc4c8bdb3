// SPDX-License-Identifier: MIT
// A log as a playback. The same moment gives the same picture for every way to reach it. The
// picture of a tick shows what the server would have sent for it.
#include "playback_record.h"
#include "present/scene_world.h"

#include "base/hash.h"
#include "net/playback.h"
#include "net/match.h"

enum { TICKS = 1200, SEED = 20240608 };

// ---- a picture as the hash of its calls ----

typedef struct canvas {
    uint64_t hash;
    uint32_t calls;
    bool has_ann;
} canvas;

static void add(void* context, const void* data, size_t size) {
    canvas* on = context;
    on->hash = base_hash64(data, size, on->hash);
    on->calls++;
}

static void add_rect(void* context, float x, float y, float w, float h, ecs_color color) {
    float shape[] = {1, x, y, w, h, 0};
    memcpy(&shape[5], &color, sizeof color);
    add(context, shape, sizeof shape);
}

static void add_circle(void* context, float x, float y, float radius, ecs_color color) {
    float shape[] = {2, x, y, radius, 0};
    memcpy(&shape[4], &color, sizeof color);
    add(context, shape, sizeof shape);
}

static void add_line(void* context, float x0, float y0, float x1, float y1, float width,
                     ecs_color color) {
    float shape[] = {3, x0, y0, x1, y1, width, 0};
    memcpy(&shape[6], &color, sizeof color);
    add(context, shape, sizeof shape);
}

static void add_triangles(void* context, const float* points, const ecs_color* colors,
                          uint32_t count) {
    add(context, points, count * 2 * sizeof *points);
    add(context, colors, count * sizeof *colors);
}

static void add_text(void* context, float x, float y, float height, ecs_color color,
                     const char* text) {
    add_rect(context, x, y, height, 0, color);
    add(context, text, strlen(text));
    ((canvas*)context)->has_ann |= strcmp(text, "ann") == 0;
}

static float text_width(void* context, float height, const char* text) {
    (void)context;
    return height * 0.5f * (float)strlen(text);
}

static canvas picture(net_playback* playback) {
    canvas on = {0};
    const net_draw draw = {
        .size_bytes = sizeof draw,
        .context = &on,
        .rect = add_rect,
        .circle = add_circle,
        .line = add_line,
        .triangles = add_triangles,
        .text = add_text,
        .text_width = text_width,
        .pixels_per_unit = 1.0f,
        .time_s = 1e9, // the playback shows its own time
    };
    net_playback_draw(playback, &draw);
    return on;
}

// ---- opening ----

static net_playback* playback_open(const playback_record* record, net_log_reader* reader,
                                   const base_reporter* reporter) {
    net_playback* playback;
    assert_int_equal(net_playback_create(reader, record->table.module, reporter, &playback),
                     NET_OK);
    return playback;
}

static ecs_tick above(double tick) {
    ecs_tick below = (ecs_tick)tick;
    return below + ((double)below < tick);
}

static void assert_shows(const playback_record* record, net_playback* playback, double tick) {
    assert_true(net_playback_tick(playback) == tick);
    // Between two ticks the view has values that the server never had.
    if ((double)above(tick) == tick)
        assert_true(record_scope(net_playback_match(playback)) == record->scope_hash[above(tick)]);
}

// ---- cases ----

static void a_moment_is_the_same_picture_however_it_was_reached(void** state) {
    enum { MOMENTS = 24, VISITS = 72 };
    const playback_record* record = *state;
    struct {
        double tick;
        uint64_t world, picture;
    } moments[MOMENTS];
    base_rng rng = base_rng_make(SEED, 1);
    print_message("seed %d\n", SEED);
    net_log_reader* reader = record_read(record);
    for (uint32_t i = 0; i < MOMENTS; i++) {
        // Play from the beginning. Every third moment is between two ticks.
        net_playback* playback = playback_open(record, reader, NULL);
        moments[i].tick = (double)(1 + base_rng_below(&rng, TICKS)) - (i % 3 ? 0.0 : 0.375);
        if (moments[i].tick < 1.0) moments[i].tick = 1.0;
        assert_int_equal(net_playback_seek(playback, moments[i].tick), NET_OK);
        assert_shows(record, playback, moments[i].tick);
        moments[i].world = ecs_world_hash(net_match_world(net_playback_match(playback)));
        canvas on = picture(playback);
        assert_true(on.calls > 100);
        moments[i].picture = on.hash;
        assert_true(picture(playback).hash == on.hash); // the same frame again
        net_playback_destroy(playback);
    }
    net_playback* playback = playback_open(record, reader, NULL);
    for (uint32_t i = 0; i < VISITS; i++) {
        uint32_t at = base_rng_below(&rng, MOMENTS);
        // Reach the moment in different ways: from the current place, after playing on, with and
        // without drawn frames.
        if (base_rng_chance(&rng, 0.5))
            assert_int_equal(net_playback_advance(playback, base_rng_below(&rng, 200) / 7.0),
                             NET_OK);
        if (base_rng_chance(&rng, 0.5)) (void)picture(playback);
        assert_int_equal(net_playback_seek(playback, moments[at].tick), NET_OK);
        assert_shows(record, playback, moments[at].tick);
        assert_true(ecs_world_hash(net_match_world(net_playback_match(playback))) ==
                    moments[at].world);
        assert_true(picture(playback).hash == moments[at].picture);
    }
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}

static void playing_shows_every_tick_as_the_server_had_it(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_shows(record, playback, 1.0);
    canvas first = picture(playback);
    for (uint32_t tick = 2; tick <= TICKS; tick++) {
        // Draw two frames per tick: one of them between ticks.
        assert_int_equal(net_playback_advance(playback, 0.5), NET_OK);
        assert_shows(record, playback, tick - 0.5);
        (void)picture(playback);
        assert_int_equal(net_playback_advance(playback, 0.5), NET_OK);
        assert_shows(record, playback, tick);
        if (tick == 500) assert_true(picture(playback).has_ann);
        if (tick == RECORD_LEAVE - 1) assert_true(net_playback_player(playback, 2));
        if (tick == RECORD_LEAVE) assert_false(net_playback_player(playback, 2));
        if (tick == 40) assert_true(picture(playback).hash != first.hash);
    }
    assert_int_equal(net_playback_advance(playback, 1000.0), NET_OK);
    assert_shows(record, playback, TICKS);
    assert_int_equal(net_playback_diverged(playback), 0);
    // One long jump forward gives the same picture.
    assert_int_equal(net_playback_seek(playback, 1.0), NET_OK);
    assert_int_equal(net_playback_advance(playback, 699.0), NET_OK);
    assert_shows(record, playback, 700.0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}

static void moments_are_clamped_to_the_log(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_int_equal(net_playback_tick_last(playback), TICKS);
    const struct {
        double wish, shown;
    } cases[] = {
        {TICKS, TICKS}, {TICKS + 0.25, TICKS}, {1e300, TICKS}, {-5.0, 1.0},
        {0.0, 1.0},     {0.75, 1.0},           {1.25, 1.25},   {TICKS - 0.25, TICKS - 0.25}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        assert_int_equal(net_playback_seek(playback, cases[i].wish), NET_OK);
        assert_shows(record, playback, cases[i].shown);
    }
    double nan = strtod("nan", NULL);
    assert_int_equal(net_playback_seek(playback, nan), NET_OK);
    assert_shows(record, playback, 1.0);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)!net_playback_advance(playback, -1.0));
    base_assert_handler_set(NULL);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}

static void marks_and_names_are_those_of_the_log(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    uint32_t count, events = 0;
    const net_playback_mark* marks = net_playback_marks(playback, &count);
    assert_int_equal(marks[0].tick, 1);
    assert_int_equal(marks[0].kind, NET_PLAYBACK_JOIN);
    for (uint32_t i = 0; i < count; i++)
        events += marks[i].kind == NET_PLAYBACK_EVENT;
    assert_true(events >= record->table.lives_lost + record->table.levels_cleared && events > 0);
    assert_string_equal(net_playback_player_name(playback, 2), "bob"); // this client left long ago
    assert_int_equal(net_playback_seek(playback, TICKS), NET_OK);
    assert_string_equal(net_playback_player_name(playback, 2), "bob");
    assert_null(net_playback_player_name(playback, 77));
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
}

static void a_log_cut_short_is_shown_to_its_last_whole_tick(void** state) {
    (void)state;
    playback_record* record = record_make(300);
    struct stat status;
    assert_int_equal(stat(record->files.log, &status), 0);
    assert_int_equal(truncate(record->files.log, status.st_size / 2), 0);
    net_log_reader* reader = record_read(record);
    assert_true(net_log_reader_info(reader)->is_cut);
    ecs_tick last = net_log_reader_info(reader)->last_tick;
    assert_true(last > 10 && last < 300);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_int_equal(net_playback_seek(playback, 300.0), NET_OK);
    assert_shows(record, playback, (double)last);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    record_free(record);
}

static void a_log_damaged_inside_is_shown_up_to_the_damage(void** state) {
    (void)state;
    playback_record* record = record_make(300);
    struct stat status;
    assert_int_equal(stat(record->files.log, &status), 0);
    size_t middle = (size_t)status.st_size / 2, size;
    uint8_t* bytes = file_read(record->files.log, &size);
    file_poke(record->files.log, middle, (uint8_t)(bytes[middle] ^ 0x40));
    free(bytes);
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_true(net_log_reader_info(reader)->is_damaged); // the marks came across it
    assert_int_equal(net_playback_seek(playback, 300.0), NET_ERR_DAMAGED);
    ecs_tick last = net_playback_tick_last(playback);
    assert_true(last > 10 && last < 300);
    assert_shows(record, playback, (double)last);
    assert_int_equal(net_playback_seek(playback, 300.0), NET_OK);
    assert_shows(record, playback, (double)last);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    record_free(record);
}

// The record of all tests, with keyframes at 600 and 1200 and a changed byte in front of the first.
static void a_log_damaged_inside_is_shown_on_from_the_next_keyframe(void** state) {
    playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    const net_log_keyframe* keyframe;
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record at;
    do
        assert_true(net_log_cursor_next(reader, &cursor, &at));
    while (at.tick < 300);
    uint64_t place = cursor.block + NET_LOG_BLOCK_HEADER_BYTES + 9;
    (void)net_log_reader_seek(reader, TICKS, &keyframe);
    assert_non_null(keyframe);
    net_log_reader_destroy(reader);
    size_t size;
    uint8_t* bytes = file_read(record->files.log, &size);
    file_poke(record->files.log, place, bytes[place] ^ 0x40);
    reader = record_read(record);
    base_report_first first = {.count = 0};
    base_reporter reporter = base_reporter_first(&first);
    net_playback* playback = playback_open(record, reader, &reporter);
    // Behind it, in it, in front of it, and over it without a seek.
    const double ticks[] = {900.0, 450.0, 100.0, 1100.5, 620.0};
    for (uint32_t i = 0; i < BASE_COUNT(ticks); i++) {
        assert_int_equal(net_playback_seek(playback, ticks[i]), NET_OK);
        assert_shows(record, playback, i == 1 ? 601.0 : ticks[i]);
    }
    assert_int_equal(net_playback_seek(playback, 220.0), NET_OK);
    assert_int_equal(net_playback_advance(playback, 60.0), NET_OK);
    assert_shows(record, playback, 601.0);
    assert_int_equal(net_playback_advance(playback, 60.0), NET_OK);
    assert_shows(record, playback, 661.0);
    assert_int_equal(net_playback_diverged(playback), 0);
    assert_int_equal(net_log_reader_info(reader)->lost_ticks, 600 - 240);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    file_poke(record->files.log, place, bytes[place]);
    free(bytes);
}

// A log of inputs, with correct checksums and, in tick 201, an event that no client may send.
static void a_log_that_the_game_does_not_take_is_shown_as_far_as_it_goes(void** state) {
    (void)state;
    playback_record* record = record_make_with(300, NET_LOG_CONTENT_INPUTS, 201, 0);
    base_report_first first = {.count = 0};
    base_reporter reporter = base_reporter_first(&first);
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, &reporter);
    assert_int_equal(net_playback_tick_last(playback), 300);
    assert_int_equal(net_playback_seek(playback, 250.5), NET_ERR_DAMAGED);
    assert_int_equal(first.count, 1);
    assert_non_null(strstr(first.text, "tick 201"));
    assert_int_equal(net_playback_tick_last(playback), 200);
    assert_shows(record, playback, 200.0);
    assert_int_equal(net_playback_seek(playback, 250.5), NET_OK);
    assert_shows(record, playback, 200.0);
    assert_int_equal(net_playback_seek(playback, 30.0), NET_OK);
    assert_shows(record, playback, 30.0);
    net_playback_destroy(playback);
    // The same fault while the log plays.
    playback = playback_open(record, reader, &reporter);
    assert_int_equal(net_playback_seek(playback, 190.0), NET_OK);
    assert_int_equal(net_playback_advance(playback, 30.0), NET_ERR_DAMAGED);
    assert_shows(record, playback, 200.0);
    assert_int_equal(net_playback_advance(playback, 30.0), NET_OK);
    assert_shows(record, playback, 200.0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    record_free(record);
}

static void a_log_without_a_tick_shows_nothing_and_does_no_harm(void** state) {
    (void)state;
    playback_record* record = record_make(0);
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_int_equal(net_playback_tick_last(playback), 0);
    assert_int_equal(net_playback_seek(playback, 10.0), NET_OK);
    assert_int_equal(net_playback_advance(playback, 10.0), NET_OK);
    assert_true(net_playback_tick(playback) == 0.0);
    (void)picture(playback);
    uint32_t count;
    (void)net_playback_marks(playback, &count);
    assert_int_equal(count, 0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    record_free(record);
}

static net_module* wrap_changed(const char* from, const char* to) {
    char* text = table_read_file(BREAKOUT_BLK);
    char* place = strstr(text, from);
    assert_non_null(place);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(place, to, strlen(to));
    net_module* module;
    assert_int_equal(net_module_wrap(breakout_module(), text, "x.blk", NULL, &module), NET_OK);
    free(text);
    return module;
}

// What is shown is the match of the log, whatever the game here would do.
static void a_log_with_states_is_shown_by_another_build_of_the_game(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_module* module = wrap_changed("vel:p2=330,-550", "vel:p2=330,-551");
    net_playback* playback;
    assert_int_equal(net_playback_create(reader, module, NULL, &playback), NET_OK);
    assert_int_equal(net_playback_seek(playback, 600.0), NET_OK);
    assert_shows(record, playback, 600.0);
    assert_int_equal(net_playback_advance(playback, 300.0), NET_OK);
    assert_shows(record, playback, 900.0);
    assert_true(picture(playback).calls > 100);
    net_playback_destroy(playback);
    net_module_close(module);
    net_log_reader_destroy(reader);
}

static void a_log_of_inputs_diverges_once_and_goes_on(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_module* module = wrap_changed("vel:p2=330,-550", "vel:p2=330,-551");
    base_report_first first = {.count = 0};
    base_reporter reporter = base_reporter_first(&first);
    net_playback* playback;
    assert_int_equal(net_playback_create(reader, module, &reporter, &playback), NET_OK);
    uint32_t reports = first.count; // the report about the other build
    assert_int_equal(net_playback_seek(playback, 600.0), NET_ERR_DIVERGED);
    assert_int_equal(first.count, reports + 1);
    ecs_tick diverged = net_playback_diverged(playback);
    assert_true(diverged > 0 && diverged <= 600);
    assert_true(net_playback_tick(playback) == 600.0);
    assert_true(picture(playback).calls > 100);
    assert_int_equal(net_playback_seek(playback, 10.0), NET_OK);
    assert_int_equal(net_playback_seek(playback, TICKS), NET_OK);
    assert_int_equal(net_playback_diverged(playback), diverged);
    assert_int_equal(first.count, reports + 1);
    net_playback_destroy(playback);
    net_module_close(module);
    net_log_reader_destroy(reader);
}

// A full state, in the tick behind a keyframe, does not name what ended in its tick.
static void what_ends_in_the_tick_of_a_full_state_goes(void** state) {
    (void)state;
    playback_record* record = record_make_with(620, NET_LOG_CONTENT_STATE, 0, 601);
    net_log_reader* reader = record_read(record);
    net_playback* playback = playback_open(record, reader, NULL);
    assert_int_equal(net_playback_seek(playback, 599.0), NET_OK);
    for (uint32_t tick = 600; tick <= 605; tick++) {
        assert_int_equal(net_playback_advance(playback, 1.0), NET_OK);
        assert_shows(record, playback, tick);
    }
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    record_free(record);
}

static void another_game_is_refused(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_game_module game = *breakout_module();
    game.name = "brokeout";
    char* text = table_read_file(BREAKOUT_BLK);
    net_module* module;
    assert_int_equal(net_module_wrap(&game, text, "x.blk", NULL, &module), NET_OK);
    free(text);
    net_playback* playback;
    assert_int_equal(net_playback_create(reader, module, NULL, &playback), NET_ERR_SCHEMA);
    assert_null(playback);
    net_module_close(module);
    net_log_reader_destroy(reader);
}

static int setup(void** state) {
    *state = record_make(TICKS);
    return 0;
}

static int setup_inputs(void** state) {
    *state = record_make_with(TICKS, NET_LOG_CONTENT_INPUTS, 0, 0);
    return 0;
}

static int teardown(void** state) {
    record_free(*state);
    return 0;
}

static void a_game_that_draws_nothing_is_filmed(void** state) {
    (void)state;
    log_files files;
    files_open(&files);
    net_module* module = stage_module();
    net_match* match = stage_match(module, NET_ROLE_SERVER, NULL);
    net_log_writer* writer;
    assert_int_equal(net_log_writer_create(NULL, files.log, match, "test", 1, NULL, &writer),
                     NET_OK);
    for (ecs_tick tick = 1; tick <= 200; tick++) {
        const net_log_begin begin = {.tick = tick};
        net_log_append_begin(writer, &begin);
        net_match_step(match);
        net_log_append_end(writer, match);
        net_log_wait_room(writer);
        ecs_changes_clear(net_match_world(match));
    }
    net_log_append_close(writer, match);
    assert_int_equal(net_log_writer_destroy(writer), NET_OK);
    base_reporter reporter = base_reporter_stderr();
    net_log_reader* reader;
    net_playback* playback;
    assert_int_equal(net_log_reader_create(NULL, files.log, &reporter, &reader), NET_OK);
    assert_int_equal(net_playback_create(reader, module, &reporter, &playback), NET_OK);
    assert_int_equal(net_playback_seek(playback, 150.5), NET_OK);
    const net_draw draw = {.size_bytes = sizeof draw};
    net_playback_draw(playback, &draw);
    assert_true(net_playback_tick(playback) == 150.5);
    assert_int_equal(net_playback_diverged(playback), 0);
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    net_match_destroy(match);
    net_module_close(module);
    files_close(&files);
}

// The log has the tick in which the server crashed only in part. No client saw what this tick
// brought.
static void marks_end_with_the_last_whole_tick(void** state) {
    (void)state;
    log_files files;
    files_open(&files);
    net_module* module = stage_module();
    net_match* match = stage_match(module, NET_ROLE_SERVER, NULL);
    net_log_writer* writer;
    assert_int_equal(net_log_writer_create(NULL, files.log, match, "test", 1, NULL, &writer),
                     NET_OK);
    static const net_game_player joins[] = {{.client = 1, .name = "ann"},
                                            {.client = 2, .name = "bob"}};
    for (ecs_tick tick = 1; tick <= 2; tick++) {
        const net_log_begin begin = {.tick = tick, .joins = &joins[tick - 1], .join_count = 1};
        net_log_append_begin(writer, &begin);
        if (tick == 2) break;
        net_match_join(match, &(net_game_player){.client = 1, .name = "ann"});
        net_match_step(match);
        net_log_append_end(writer, match);
        ecs_changes_clear(net_match_world(match));
    }
    assert_int_equal(net_log_writer_destroy(writer), NET_OK);
    net_log_reader* reader;
    net_playback* playback;
    assert_int_equal(net_log_reader_create(NULL, files.log, NULL, &reader), NET_OK);
    assert_int_equal(net_playback_create(reader, module, NULL, &playback), NET_OK);
    assert_true(net_playback_tick_last(playback) == 1);
    uint32_t count;
    const net_playback_mark* marks = net_playback_marks(playback, &count);
    assert_int_equal(count, 1);
    assert_int_equal(marks[0].client, 1);
    assert_null(net_playback_player_name(playback, 2));
    net_playback_destroy(playback);
    net_log_reader_destroy(reader);
    net_match_destroy(match);
    net_module_close(module);
    files_close(&files);
}

// ---- forged logs: right checksums, any content ----

// Change bytes in the records of one block, which then is whole again.
static void change_block(base_bytes* to, const uint8_t* log, size_t at, net_log_packer* packer,
                         base_rng* rng) {
    net_log_block block;
    assert_true(net_log_block_header_read(&block, log + at));
    uint8_t* payload = malloc(NET_LOG_BLOCK_BYTES_MAX);
    assert_non_null(payload);
    assert_true(net_log_block_unpack(&block, log + at + NET_LOG_BLOCK_HEADER_BYTES, packer->columns,
                                     payload));
    uint32_t changes = 1 + base_rng_below(rng, 3);
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t place = base_rng_below(rng, block.unpacked_bytes);
        // The settings stand at the start of the header.
        if (block.type == NET_LOG_BLOCK_HEADER && i == 0) place %= 200;
        payload[place] = base_rng_below(rng, 2) ? (uint8_t)('0' + base_rng_below(rng, 10))
                                                : (uint8_t)base_rng_below(rng, 256);
    }
    base_bytes_write(to, packer->stored,
                     net_log_packer_pack(packer, &block, payload, block.unpacked_bytes));
    free(payload);
}

static void film(const playback_record* record, const char* file, uint32_t counts[2]) {
    net_log_reader* reader;
    net_playback* playback;
    (void)!net_log_reader_create(NULL, file, NULL, &reader);
    if (!reader) return;
    net_result result = net_playback_create(reader, record->table.module, NULL, &playback);
    counts[result == NET_OK]++;
    assert_true((result == NET_OK) == (playback != NULL));
    if (playback) {
        (void)!net_playback_seek(playback, 40.0);
        (void)!net_playback_advance(playback, 3.5);
        (void)!net_playback_seek(playback, 2.0);
        (void)picture(playback);
        net_playback_destroy(playback);
    }
    net_log_reader_destroy(reader);
}

static void a_forged_log_is_filmed_or_refused(void** state) {
    (void)state;
    playback_record* record = record_make(60);
    size_t size;
    uint8_t* log = file_read(record->files.log, &size);
    char file[128];
    snprintf(file, sizeof file, "%s/forged", record->files.folder);
    base_rng rng = base_rng_make(SEED, 2);
    print_message("seed %d\n", SEED);
    net_log_packer packer;
    assert_true(net_log_packer_init(&packer, NULL));
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < 400; i++) {
        base_bytes bytes;
        base_bytes_init(&bytes, NULL);
        base_bytes_write(&bytes, log, NET_LOG_PROLOGUE_BYTES);
        // Half of them have another header, the others another block of records.
        uint32_t which = i % 2 ? 1 + base_rng_below(&rng, 3) : 0, number = 0;
        for (size_t at = NET_LOG_PROLOGUE_BYTES; at < size; number++) {
            net_log_block block;
            assert_true(net_log_block_header_read(&block, log + at));
            size_t bytes_here = NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
            if (number == which)
                change_block(&bytes, log, at, &packer, &rng);
            else
                base_bytes_write(&bytes, log + at, bytes_here);
            at += bytes_here;
        }
        file_write(file, bytes.data, bytes.size);
        base_bytes_deinit(&bytes);
        film(record, file, counts);
    }
    assert_true(counts[0] > 20 && counts[1] > 20);
    net_log_packer_deinit(&packer);
    free(log);
    record_free(record);
}

// The value fits the header's text and not the game.
static void a_setting_out_of_range_is_refused(void** state) {
    (void)state;
    playback_record* record = record_make_with(60, NET_LOG_CONTENT_INPUTS, 0, 0);
    size_t size;
    uint8_t* log = file_read(record->files.log, &size);
    net_log_block block;
    uint8_t* payload = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    uint8_t* at = log + NET_LOG_PROLOGUE_BYTES;
    assert_true(payload && net_log_block_header_read(&block, at));
    assert_true(net_log_block_unpack(&block, at + NET_LOG_BLOCK_HEADER_BYTES, NULL, payload));
    bool is_found = false;
    for (uint32_t i = 0; i + 6 < block.unpacked_bytes && !is_found; i++) {
        is_found = memcmp(payload + i, "lives\x12\x01", 7) == 0;
        if (is_found) payload[i + 7] = '0';
    }
    assert_true(is_found);
    net_log_packer packer;
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_true(net_log_packer_init(&packer, NULL));
    size_t rest = NET_LOG_PROLOGUE_BYTES + NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    base_bytes_write(&bytes, log, NET_LOG_PROLOGUE_BYTES);
    base_bytes_write(&bytes, packer.stored,
                     net_log_packer_pack(&packer, &block, payload, block.unpacked_bytes));
    base_bytes_write(&bytes, log + rest, size - rest);
    file_write(record->files.log, bytes.data, bytes.size);
    net_log_reader* reader = record_read(record);
    net_playback* playback;
    base_report_first told = {.count = 0};
    base_reporter reporter = base_reporter_first(&told);
    assert_int_equal(net_playback_create(reader, record->table.module, &reporter, &playback),
                     NET_ERR_DAMAGED);
    assert_null(playback);
    assert_non_null(strstr(told.text, "lives"));
    net_log_reader_destroy(reader);
    net_log_packer_deinit(&packer);
    base_bytes_deinit(&bytes);
    free(payload);
    free(log);
    record_free(record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_moment_is_the_same_picture_however_it_was_reached),
        TEST(playing_shows_every_tick_as_the_server_had_it),
        TEST(moments_are_clamped_to_the_log),
        TEST(marks_and_names_are_those_of_the_log),
        TEST(a_log_cut_short_is_shown_to_its_last_whole_tick),
        TEST(a_log_damaged_inside_is_shown_up_to_the_damage),
        TEST(a_log_damaged_inside_is_shown_on_from_the_next_keyframe),
        TEST(a_log_that_the_game_does_not_take_is_shown_as_far_as_it_goes),
        TEST(a_log_without_a_tick_shows_nothing_and_does_no_harm),
        TEST(a_log_with_states_is_shown_by_another_build_of_the_game),
        TEST(what_ends_in_the_tick_of_a_full_state_goes),
        TEST(another_game_is_refused),
        TEST(a_forged_log_is_filmed_or_refused),
        TEST(a_setting_out_of_range_is_refused),
        TEST(a_game_that_draws_nothing_is_filmed),
        TEST(marks_end_with_the_last_whole_tick),
    };
    // What comes from a run of the match is no other thing.
    const struct CMUnitTest of_inputs[] = {
        TEST(a_moment_is_the_same_picture_however_it_was_reached),
        TEST(playing_shows_every_tick_as_the_server_had_it),
        TEST(moments_are_clamped_to_the_log),
        TEST(a_log_damaged_inside_is_shown_on_from_the_next_keyframe),
        TEST(a_log_of_inputs_diverges_once_and_goes_on),
        TEST(another_game_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown) +
           cmocka_run_group_tests(of_inputs, setup_inputs, teardown);
}
