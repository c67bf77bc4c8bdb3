// SPDX-License-Identifier: MIT
// A log whose game was reloaded runs again part by part, each with the templates and files it had.
#include "playback/playback_record.h"

#include "replay/log_replay.h"

typedef struct reload {
    playback_record* record;
    net_module* modules[4];
    uint32_t count;
    uint32_t refusals; ///< segments that the folder still refuses
} reload;

static int create_or_refuse(void* context, const char* file) {
    reload* self = context;
    if (self->refusals > 0) {
        self->refusals--;
        errno = EACCES;
        return -1;
    }
    return open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static void play_ticks(reload* self, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        record_tick(self->record);
        net_log_pump(self->record->writer);
    }
}

static void go_on_with(reload* self, const net_module* module) {
    table* t = &self->record->table;
    net_match* match = NULL;
    assert_ok(net_match_create_from(t->match, module, NULL, &match));
    net_log_observer(self->record->writer).exchange(self->record->writer, match);
    net_match_destroy(t->match);
    t->match = match;
}

// The match goes on with more templates.
static void go_on(reload* self, const char* more) {
    net_module* next = self->modules[self->count++] = record_module(breakout_module(), more);
    assert_true(net_log_file_may_exchange(self->record->writer));
    go_on_with(self, next);
    assert_false(net_log_file_may_exchange(self->record->writer)); // its keyframe is on the way
}

static void reload_open(reload* self) {
    net_log_options options = net_log_options_default();
    memset(self, 0, sizeof *self);
    options.is_manual = true;
    options.ops.create = create_or_refuse;
    options.ops.context = self;
    self->record = record_begin((record_wanted){.seed = 5, .options = &options});
}

static void reload_end(reload* self) {
    record_end(self->record);
    self->record->writer = NULL;
}

static void reload_close(reload* self) {
    net_log_writer_destroy(self->record->writer);
    record_free(self->record);
    for (uint32_t i = 0; i < self->count; i++)
        net_module_close(self->modules[i]);
}

#define RELOAD_CASE(name) CASE_WITH(reload, self, reload_open(self), reload_close(self), name)

// The part of the log that ends with a segment verifies with the module before all reloads.
static uint32_t expect_part(reload* self, uint32_t last, ecs_tick first_tick, ecs_tick last_tick) {
    net_log_reader* reader;
    net_verify_result verified;
    assert_ok(net_log_reader_create_to(NULL, self->record->files.log, last, NULL, &reader));
    const net_log_info info = *net_log_reader_info(reader);
    assert_true(info.first_tick == first_tick && info.last_tick == last_tick);
    assert_string_equal(net_log_reader_verdict(reader), "whole");
    net_log_reader_destroy(reader);
    assert_ok(net_log_reader_create_to(NULL, self->record->files.log, last, NULL, &reader));
    verified = files_verify(reader, self->record->table.module, NET_OK);
    assert_true(verified.ticks == last_tick - first_tick + 1);
    assert_true(verified.world_hash == self->record->world_hash[last_tick]);
    net_log_reader_destroy(reader);
    return info.segment_before;
}

RELOAD_CASE(each_part_of_a_reloaded_log_runs_with_its_templates) {
    play_ticks(self, 33);
    go_on(self, "\nlamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    play_ticks(self, 27);
    go_on(self, "\nlamp { \"glow:u32\"{ _replicate:b=yes; value:u32=4 } }\n");
    play_ticks(self, 40);
    reload_end(self);
    assert_int_equal(expect_part(self, 0, 61, 100), 2);
    assert_int_equal(expect_part(self, 2, 34, 60), 1);
    assert_int_equal(expect_part(self, 1, 1, 33), 0);
}

// A server may end before the first tick of its new game.
RELOAD_CASE(a_part_without_a_tick_has_the_world_of_its_keyframe) {
    play_ticks(self, 33);
    go_on(self, "\nlamp { \"glow:u32\"{ _replicate:b=yes; value:u32=3 } }\n");
    const uint64_t hash = ecs_world_hash(net_match_world(self->record->table.match));
    reload_end(self);
    net_verify_result verified;
    net_log_reader* reader = record_read(self->record);
    assert_int_equal(net_log_reader_info(reader)->last_tick, 0);
    verified = files_verify(reader, self->record->table.module, NET_OK);
    assert_true(verified.ticks == 0 && verified.world_hash == hash);
    net_log_reader_destroy(reader);
    assert_int_equal(expect_part(self, 1, 1, 33), 0);
}

// No record of the new game comes behind a header of the old one.
RELOAD_CASE(a_reload_waits_for_its_segment) {
    play_ticks(self, 33);
    go_on(self, "\nlamp { }\n");
    self->refusals = 5;
    play_ticks(self, 3);
    char text[256];
    assert_true(net_log_take_notice(self->record->writer, text, sizeof text));
    assert_non_null(strstr(text, "Permission denied"));
    play_ticks(self, 27);
    reload_end(self);
    assert_int_equal(self->refusals, 0);
    assert_int_equal(expect_part(self, 0, 34, 63), 1);
    assert_int_equal(expect_part(self, 1, 1, 33), 0);
}

// The last seconds start again.
RELOAD_CASE(a_save_behind_a_reload_has_the_new_game) {
    assert_ok(net_log_writer_destroy(self->record->writer));
    files_clear(&self->record->files);
    net_log_options options = net_log_options_default();
    options.is_manual = options.is_in_memory = true;
    options.ring_seconds = 60;
    record_write(self->record, self->record->files.log, &options);
    play_ticks(self, 33);
    go_on(self, "\nlamp { }\n");
    play_ticks(self, 90);
    assert_ok(net_log_save(self->record->writer, "end"));
    play_ticks(self, 60);
    net_log_saved saved = {.bytes = 0};
    assert_true(net_log_take_saved(self->record->writer, &saved));
    assert_string_equal(saved.failure, "");
    assert_int_equal(saved.first_tick, 34);
    net_log_reader* reader = files_reader(saved.file);
    (void)files_verify(reader, self->record->table.module, NET_OK);
    net_log_reader_destroy(reader);
}

// ---- files of the game ----

static char given[64]; // what start got last

static void start_with_files(ecs_world* world, void* context, const net_game_start* start) {
    given[0] = '\0';
    for (uint32_t i = 0; i < start->file_count; i++)
        (void)snprintf(given + strlen(given), sizeof given - strlen(given), "%s=%.*s ",
                       start->files[i].name, (int)start->files[i].byte_count,
                       (const char*)start->files[i].bytes);
    breakout_module()->start(world, context, start);
}

// A module with breakout's templates and one file.
static net_module* with_file(reload* self, const char* bytes) {
    static net_game_module game;
    net_module* bare;
    char* text = table_read_file(BREAKOUT_BLK);
    base_bytes pack;
    game = *breakout_module();
    game.start = start_with_files;
    base_bytes_init(&pack, NULL);
    ecs_pack_add(&pack, "breakout.blk", text, strlen(text));
    ecs_pack_add(&pack, ":rules", bytes, strlen(bytes));
    assert_ok(net_module_wrap(&game, text, "breakout.blk", NULL, &bare));
    net_module** made = &self->modules[self->count++];
    assert_ok(net_module_reopen_pack(bare, pack.data, pack.size, NULL, made));
    net_module_close(bare);
    base_bytes_deinit(&pack);
    free(text);
    return *made;
}

// The part that ends with a segment runs with its own file, not with that of `module`.
static void expect_file(reload* self, uint32_t last, const net_module* module, const char* wanted) {
    net_log_reader* reader;
    assert_ok(net_log_reader_create_to(NULL, self->record->files.log, last, NULL, &reader));
    (void)files_verify(reader, module, NET_OK);
    assert_string_equal(given, wanted);
    net_log_reader_destroy(reader);
}

RELOAD_CASE(a_log_runs_with_the_files_that_it_has) {
    net_match* match;
    // From the first tick on.
    table* t = &self->record->table;
    assert_ok(net_log_writer_destroy(self->record->writer));
    files_clear(&self->record->files);
    net_match_config config = *net_match_get_config(t->match);
    config.module = with_file(self, "one");
    net_match_destroy(t->match);
    assert_ok(net_match_create(&config, NULL, &t->match));
    assert_string_equal(given, "rules=one ");
    net_log_options options = net_log_options_default();
    options.is_manual = true;
    record_write(self->record, self->record->files.log, &options);
    play_ticks(self, 33);
    go_on_with(self, with_file(self, "two"));
    assert_string_equal(given, "rules=two ");
    play_ticks(self, 30);
    reload_end(self);
    net_module* here = with_file(self, "three");
    expect_file(self, 1, here, "rules=one ");
    expect_file(self, 0, here, "rules=two ");
    // The largest pack has room beside the schema.
    base_bytes header;
    bool has_values = true;
    char* longest = malloc(ECS_PACK_WHOLE_BYTES_MAX);
    assert_non_null(longest);
    memset(longest, 'a', ECS_PACK_WHOLE_BYTES_MAX);
    longest[ECS_PACK_WHOLE_BYTES_MAX - here->pack_bytes + strlen("three") - 2] = '\0';
    config.module = with_file(self, longest);
    free(longest);
    assert_int_equal(config.module->pack_bytes, ECS_PACK_WHOLE_BYTES_MAX);
    assert_ok(net_match_create(&config, NULL, &match));
    base_bytes_init(&header, NULL);
    assert_ok(net_log_header_write(&header, match, "test", 1, 2, &has_values));
    assert_true(header.size > ECS_PACK_WHOLE_BYTES_MAX && has_values);
    base_bytes_deinit(&header);
    net_match_destroy(match);
    // A match goes on with its own alone.
    net_log_reader* reader = files_reader(self->record->files.log);
    assert_true((net_log_header_features(reader->header.data, reader->header.size) &
                 NET_LOG_FEATURE_FILES) != 0);
    assert_int_equal(net_log_resume(reader, here, 0, NULL, NULL, hear(), &match), NET_ERR_SCHEMA);
    assert_said("its own library and templates");
    // No program with other files gets the match. The difference names one.
    net_log_replay* replay;
    char difference[NET_LOG_DIFFERENCE_BYTES];
    const base_bytes* head = &reader->header;
    assert_ok(net_log_replay_create(reader, here, 0, NULL, &replay));
    assert_null(net_log_replay_take(replay));
    net_log_replay_destroy(replay);
    assert_int_equal(net_log_match_create(NULL, net_log_reader_info(reader), head->data, head->size,
                                          "a.slog", here, NULL, difference, &match),
                     NET_ERR_SCHEMA);
    assert_string_equal(difference, "file rules differs");
    net_log_reader_destroy(reader);
}
