// SPDX-License-Identifier: MIT
// The values in a log: they are those of the match in every tick, they come out of the log alone,
// changed bytes never break the reader, and logs of older builds open.
#include "playback/playback_record.h"

#include "replay/log_state.h"
#include "base/rng.h"
#include "proto/layout.h"
#include "net/log.h"

static net_log_state* open_state(net_log_reader* reader) {
    net_log_state* state;
    assert_ok(net_log_state_create(reader, NULL, &state));
    return state;
}

// In 1,300 ticks all rows come again twice, and a level is cleared.
PLAYED_CASE(values_are_those_of_the_match_in_every_tick, 1300) {
    net_log_reader *a = files_reader(record->files.log), *b = files_reader(record->files.log);
    net_log_state* state = open_state(b);
    net_log_replay* replay;
    net_log_tick tick;
    uint32_t count, full = 0, ticks = 0;
    assert_ok(net_log_replay_create(a, record->table.module, NULL, &replay));
    while (net_log_replay_step(replay, &tick) == NET_OK) {
        net_verify_result result = {0};
        assert_ok(net_log_state_step(state));
        assert_true(net_log_state_is_whole(state));
        bool differs = net_log_compare(state, net_log_replay_match(replay), &result);
        if (differs) print_error("tick %u %s.%s\n", ++ticks, result.component, result.field);
        assert_false(differs);
        full += net_log_state_is_full(state);
        ticks++;
        (void)net_log_state_touches(state, &count);
        assert_true(count > 0 || ticks > 1);
    }
    assert_int_equal(ticks, 1300);
    assert_int_equal(full, 5); // the first tick, and each 5 s
    assert_int_equal(net_log_state_step(state), NET_ERR_CLOSED);
    // The same by seeking, forwards and back.
    assert_ok(net_log_state_seek(state, 40));
    assert_int_equal(net_log_state_tick(state), 40);
    assert_ok(net_log_state_seek(state, 9999));
    assert_int_equal(net_log_state_tick(state), 1300);
    // From tick 40 on it began at a keyframe and has the same values.
    net_verify_result result = {0};
    assert_true(net_log_state_is_whole(state));
    assert_int_equal(net_match_tick(net_log_replay_match(replay)), 1300);
    assert_false(net_log_compare(state, net_log_replay_match(replay), &result));
    net_log_replay_destroy(replay);
    net_log_state_destroy(state);
    net_log_reader_destroy(a);
    net_log_reader_destroy(b);
}

static void keep_text(void* context, const char* file, uint32_t line, const char* text) {
    (void)file;
    (void)line;
    snprintf(context, 256, "%s", text);
}

CASE(logs_of_version_1_are_refused_by_name) {
    static const char* const logs[] = {"breakout-30cc770.slog", "breakout-b2094f0.slog",
                                       "breakout-values.slog", "breakout-schema.slog"};
    for (uint32_t i = 0; i < BASE_COUNT(logs); i++) {
        char name[512], text[256] = "";
        snprintf(name, sizeof name, "%s/%s", LOGS_DIR, logs[i]);
        const base_reporter reporter = {keep_text, text};
        net_log_reader* reader;
        assert_int_equal(net_log_reader_create(NULL, name, &reporter, &reader), NET_ERR_VERSION);
        assert_non_null(strstr(text, "this log is of version 1"));
        assert_non_null(strstr(text, "76a02b2f"));
    }
}

// Field 15 of the header: one less.
static record_act take_other_row_code(void* context, uint32_t number, const net_log_block* block,
                                      uint8_t* payload) {
    static const uint8_t field[] = {15 << 3, NET_LOG_ROW_CODE};
    bool* is_changed = context;
    (void)number;
    if (block->type != NET_LOG_BLOCK_HEADER) return RECORD_KEEP;
    for (size_t i = 0; i + sizeof field <= block->unpacked_bytes && !*is_changed; i++) {
        *is_changed = memcmp(payload + i, field, sizeof field) == 0;
        payload[i + 1] = (uint8_t)(payload[i + 1] - *is_changed);
    }
    return RECORD_CHANGE;
}

PLAYED_CASE(values_in_another_row_code_are_refused_with_the_build_that_reads_them, 60) {
    char other[512], text[256] = "";
    snprintf(other, sizeof other, "%s.other", record->files.log);
    bool is_changed = false;
    record_forge(record, other, take_other_row_code, &is_changed);
    assert_true(is_changed);
    const base_reporter reporter = {keep_text, text};
    net_log_reader* reader = files_reader(other);
    net_log_state* state;
    assert_int_equal(net_log_state_create(reader, &reporter, &state), NET_ERR_VERSION);
    assert_non_null(strstr(text, "another row code than"));
    assert_non_null(strstr(text, "use shoal-replay of build "));
    assert_non_null(strstr(text, net_log_reader_info(reader)->build));
    assert_true(net_log_reader_info(reader)->build[0]);
    net_log_reader_destroy(reader);
    remove(other);
}

static double read_x(const net_log_state* state, const char* template_, const char* component) {
    const net_log_component* found = net_log_state_find_component(state, component);
    assert_non_null(found);
    for (ecs_entity at = net_log_state_next(state, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = net_log_state_next(state, at)) {
        ecs_number values[4];
        if (strcmp(net_log_state_template(state, at), template_) != 0) continue;
        assert_true(net_log_state_read(state, at, found, values));
        assert_int_equal(values[0].kind, ECS_FIELD_F32);
        return values[0].real;
    }
    fail();
    return 0;
}

// What a person can check by eye: two bots, a wall of bricks.
PLAYED_CASE(a_log_is_read_without_its_game, 120) {
    net_log_reader* reader = files_reader(record->files.log);
    net_log_state* state = open_state(reader);
    assert_ok(net_log_state_seek(state, 1));
    uint32_t entities = net_log_state_entity_count(state);
    assert_ok(net_log_state_seek(state, 40));
    assert_int_equal(net_log_state_entity_count(state), entities);
    assert_true(entities > 40);
    double x = read_x(state, "breakout_pad", "pos");
    assert_true(x > -128 && x < 1920);
    assert_true(read_x(state, "breakout_ball", "vel") != 0);
    assert_null(net_log_state_find_component(state, "nothing"));
    net_log_state_destroy(state);
    net_log_reader_destroy(reader);
}

// Apply the records of a log with one byte of their changes changed. Whatever comes out, it ends.
static void take_changed(net_log_reader* reader, uint64_t seed, uint32_t* refused) {
    base_rng rng = base_rng_make(seed, 1);
    net_log_state* state = open_state(reader);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record change;
    ecs_tick victim = 1 + base_rng_below(&rng, 40);
    net_result result = NET_OK;
    uint8_t bytes[65536];
    while (result == NET_OK && net_log_cursor_next(reader, &cursor, &change)) {
        if (change.kind == NET_LOG_KIND_STATE && change.tick >= victim) {
            assert_true(change.changes_bytes <= sizeof bytes && change.changes_bytes > 0);
            memcpy(bytes, change.changes, change.changes_bytes);
            uint32_t at = base_rng_below(&rng, change.changes_bytes);
            bytes[at] ^= (uint8_t)(1u << base_rng_below(&rng, 8));
            change.changes = bytes;
            if (base_rng_below(&rng, 4) == 0) change.changes_bytes = at + 1;
        }
        result = net_log_state_take(state, &change, false);
        assert_true(result == NET_OK || result == NET_ERR_DAMAGED);
    }
    *refused += result != NET_OK;
    for (ecs_entity at = net_log_state_next(state, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = net_log_state_next(state, at)) {
        ecs_number values[PROTO_ROW_FIELDS_MAX];
        const net_log_component* component;
        for (uint32_t i = 0; (component = net_log_state_template_component(state, at, i)); i++)
            (void)net_log_state_read(state, at, component, values);
    }
    net_log_state_destroy(state);
}

PLAYED_CASE(changed_values_are_refused_or_harmless, 120) {
    net_log_reader* reader = files_reader(record->files.log);
    uint32_t refused = 0;
    for (uint64_t seed = 1; seed <= 400; seed++)
        take_changed(reader, seed, &refused);
    print_message("%u of 400 refused\n", refused);
    assert_true(refused > 100);
    net_log_reader_destroy(reader);
}

FILES_CASE(a_log_of_inputs_has_sums_and_verifies) {
    table game;
    net_log_writer* writer;
    table_open(&game, NULL, 0, 3, NET_ROLE_SERVER, false);
    net_log_options options = net_log_options_default();
    options.content = NET_LOG_CONTENT_INPUTS;
    assert_ok(
        net_log_writer_create_as(NULL, files->log, &options, game.match, "test", 1, NULL, &writer));
    for (ecs_tick tick = 1; tick <= 50; tick++) {
        net_log_append_begin(writer, &(net_tick_inputs){.tick = tick});
        net_match_step(game.match);
        net_log_append_end(writer, game.match);
        ecs_changes_clear(net_match_world(game.match));
    }
    assert_ok(net_log_writer_destroy(writer));
    net_log_reader* reader = files_reader(files->log);
    net_log_state* state;
    assert_int_equal(net_log_state_create(reader, NULL, &state), NET_ERR_UNKNOWN);
    net_verify_result result;
    assert_ok(net_log_verify(reader, game.module, 0, NULL, NULL, NULL, &result));
    assert_int_equal(result.ticks, 50);
    net_log_reader_destroy(reader);
    table_close(&game);
}
