// SPDX-License-Identifier: MIT
// Move a log to any tick, forward and back. The hashes are those of the logged match.
#include "playback_record.h"

#include "log/playback_run.h"

enum { TICKS = 900, EVERY = 50, SEED = 20240607 };

// ---- saves alone ----

static void put(net_playback_saves* saves, ecs_tick tick, size_t size) {
    uint8_t data[64];
    assert_true(size <= sizeof data);
    memset(data, (int)tick, sizeof data);
    assert_true(net_playback_saves_wants(saves, tick));
    net_playback_saves_put(saves, tick, data, size);
}

static void saves_are_found_by_the_newest_not_after_a_tick(void** state) {
    (void)state;
    net_playback_saves saves;
    net_playback_saves_init(&saves, NULL, 10, 1000, false);
    assert_null(net_playback_saves_find(&saves, 5));
    assert_true(net_playback_saves_wants(&saves, 0));
    assert_false(net_playback_saves_wants(&saves, 5));
    put(&saves, 20, 7);
    put(&saves, 0, 7);
    put(&saves, 10, 7);
    assert_false(net_playback_saves_wants(&saves, 20));
    assert_true(net_playback_saves_wants(&saves, 30));
    assert_int_equal(net_playback_saves_find(&saves, 0)->tick, 0);
    assert_int_equal(net_playback_saves_find(&saves, 9)->tick, 0);
    assert_int_equal(net_playback_saves_find(&saves, 10)->tick, 10);
    assert_int_equal(net_playback_saves_find(&saves, 1000)->tick, 20);
    assert_int_equal(net_playback_saves_find(&saves, 1000)->data[6], 20);
    assert_int_equal(saves.bytes, 21);
    net_playback_saves_deinit(&saves);
}

static void saves_stay_within_their_bytes_by_dropping_every_second_one(void** state) {
    (void)state;
    // One byte more and one byte less than five saves of 20 bytes: max - 1, max, max + 1.
    for (size_t bytes_max = 99; bytes_max <= 101; bytes_max++) {
        net_playback_saves saves;
        net_playback_saves_init(&saves, NULL, 10, bytes_max, false);
        for (ecs_tick tick = 0; tick < 40; tick += 10)
            put(&saves, tick, 20);
        assert_int_equal(saves.count, 4);
        put(&saves, 40, 20);
        bool has_room = bytes_max >= 100;
        assert_int_equal(saves.count, has_room ? 5 : 3);
        assert_int_equal(saves.every, has_room ? 10 : 20);
        assert_int_equal(net_playback_saves_find(&saves, 99)->tick, 40);
        assert_true(saves.bytes <= bytes_max);
        // A long log: the list stays bounded and even.
        for (ecs_tick tick = 50; tick <= 100000; tick += 10) {
            if (net_playback_saves_wants(&saves, tick)) put(&saves, tick, 20);
            assert_true(saves.bytes <= bytes_max);
        }
        assert_true(saves.count >= 2 && saves.count <= 5);
        for (uint32_t i = 0; i < saves.count; i++)
            assert_int_equal(saves.items[i].tick % saves.every, 0);
        assert_int_equal(saves.items[0].tick, 0);
        net_playback_saves_deinit(&saves);
    }
}

static void a_save_that_is_not_wanted_after_thinning_is_not_kept(void** state) {
    (void)state;
    net_playback_saves saves;
    net_playback_saves_init(&saves, NULL, 10, 60, false);
    for (ecs_tick tick = 0; tick <= 30; tick += 10)
        put(&saves, tick, 20);
    assert_int_equal(saves.every, 20);
    assert_int_equal(saves.count, 2);
    assert_int_equal(net_playback_saves_find(&saves, 99)->tick, 20);
    net_playback_saves_deinit(&saves);
}

static void a_save_beyond_the_bound_is_not_kept(void** state) {
    (void)state;
    net_playback_saves saves;
    net_playback_saves_init(&saves, NULL, 10, 31, false);
    put(&saves, 0, 32);
    assert_int_equal(saves.count, 0);
    put(&saves, 0, 31);
    assert_int_equal(saves.count, 1);
    put(&saves, 10, 1);
    assert_int_equal(saves.count, 1);
    assert_int_equal(saves.bytes, 31);
    net_playback_saves_deinit(&saves);
}

// ---- the run ----

static net_playback_run* run_open(const playback_record* record, net_log_reader* reader,
                                  ecs_tick every, size_t bytes_max) {
    net_playback_run* run;
    assert_int_equal(
        net_playback_run_create(reader, record->table.module, NULL, every, bytes_max, &run),
        NET_OK);
    return run;
}

static void assert_is_at(const playback_record* record, net_playback_run* run, ecs_tick tick) {
    ecs_world* world = net_match_world(net_playback_run_match(run));
    assert_int_equal(net_playback_run_tick(run), tick);
    assert_true(ecs_world_state_hash(world) == record->state_hash[tick]);
    assert_true(ecs_world_hash(world) == record->world_hash[tick]);
}

static void every_tick_is_reached_from_every_side(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    // Saves at short distances; saves that are thinned again and again; no room for any save.
    const size_t bytes_max[] = {SIZE_MAX, 20000, 100};
    for (uint32_t k = 0; k < BASE_COUNT(bytes_max); k++) {
        base_rng rng = base_rng_make(SEED + k, 1);
        print_message("seed %d, saves of %zu bytes at most\n", SEED + (int)k, bytes_max[k]);
        net_playback_run* run = run_open(record, reader, EVERY, bytes_max[k]);
        net_playback_run_expect(run, &(net_log_record){0});
        assert_is_at(record, run, 0);
        for (uint32_t i = 0; i < (k == 2 ? 12 : 60); i++) {
            ecs_tick tick = base_rng_below(&rng, TICKS + 1);
            assert_int_equal(net_playback_run_to(run, tick), NET_OK);
            assert_is_at(record, run, tick);
            if (tick == TICKS) continue;
            assert_int_equal(net_playback_run_step(run), NET_OK);
            assert_is_at(record, run, tick + 1);
        }
        assert_int_equal(net_playback_run_to(run, 0), NET_OK);
        assert_is_at(record, run, 0);
        assert_int_equal(net_playback_run_through(run, TICKS), NET_OK);
        assert_is_at(record, run, TICKS);
        const net_playback_saves* saves = net_playback_run_saves(run);
        assert_true(saves->bytes <= bytes_max[k]);
        if (k == 0) assert_int_equal(saves->count, TICKS / EVERY + 1);
        if (k == 1) assert_true(saves->count > 1 && saves->items[0].tick > 0); // near the end
        if (k == 2) assert_int_equal(saves->count, 0);
        print_message("%u saves, every %u ticks, %zu bytes\n", saves->count, (unsigned)saves->every,
                      saves->bytes);
        assert_int_equal(net_playback_run_diverged(run), 0);
        net_playback_run_destroy(run);
    }
    net_log_reader_destroy(reader);
}

static void a_save_of_one_run_is_refused_when_it_is_cut(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_log_replay* replay;
    assert_int_equal(net_log_replay_create(reader, record->table.module, NULL, &replay), NET_OK);
    net_log_tick tick;
    for (int i = 0; i < 30; i++)
        assert_int_equal(net_log_replay_step(replay, &tick), NET_OK);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_int_equal(net_log_replay_save(replay, &bytes), NET_OK);
    for (int i = 0; i < 30; i++)
        assert_int_equal(net_log_replay_step(replay, &tick), NET_OK);
    const size_t cuts[] = {0, 8, sizeof(net_log_cursor), sizeof(net_log_cursor) + 12,
                           bytes.size - 1};
    for (uint32_t i = 0; i < BASE_COUNT(cuts); i++) {
        assert_int_equal(net_log_replay_restore(replay, bytes.data, cuts[i]), NET_ERR_MALFORMED);
        assert_int_equal(net_log_replay_step(replay, &tick), NET_ERR_DAMAGED);
    }
    assert_int_equal(net_log_replay_restore(replay, bytes.data, bytes.size), NET_OK);
    assert_int_equal(net_log_replay_step(replay, &tick), NET_OK);
    assert_int_equal(tick.tick, 31);
    assert_true(tick.state_hash == record->state_hash[31]);
    // The file changes while it is open.
    uint8_t was;
    int fd = open(record->files.log, O_RDONLY);
    net_log_cursor cursor;
    memcpy(&cursor, bytes.data, sizeof cursor);
    assert_int_equal(pread(fd, &was, 1, (off_t)cursor.block + 100), 1);
    close(fd);
    file_poke(record->files.log, cursor.block + 100, (uint8_t)(was ^ 1));
    assert_int_equal(net_log_replay_restore(replay, bytes.data, bytes.size), NET_ERR_DAMAGED);
    file_poke(record->files.log, cursor.block + 100, was);
    assert_int_equal(net_log_replay_restore(replay, bytes.data, bytes.size), NET_OK);
    base_bytes_deinit(&bytes);
    net_log_replay_destroy(replay);
    net_log_reader_destroy(reader);
}

static void the_first_differing_hash_is_reported_once_and_the_run_goes_on(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    base_report_first first = {.count = 0};
    base_reporter reporter = base_reporter_first(&first);
    net_playback_run* run;
    assert_int_equal(
        net_playback_run_create(reader, record->table.module, &reporter, EVERY, SIZE_MAX, &run),
        NET_OK);
    assert_int_equal(net_playback_run_to(run, 100), NET_OK);
    ecs_world* world = net_match_world(net_playback_run_match(run));
    ecs_component_id id = ecs_component_find(world, "brick.pos");
    ecs_entity at = ecs_entity_next(world, ECS_ENTITY_NONE);
    while (!ecs_find(world, at, id))
        at = ecs_entity_next(world, at);
    *(uint8_t*)ecs_get_mut(world, at, id) ^= 1;
    assert_int_equal(net_playback_run_through(run, TICKS), NET_OK);
    assert_int_equal(net_playback_run_diverged(run), 101);
    assert_int_equal(first.count, 1);
    assert_non_null(strstr(first.text, "tick 101 "));
    net_playback_run_destroy(run);
    net_log_reader_destroy(reader);
}

static void the_close_record_is_compared_with_the_last_tick(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_playback_run* run = run_open(record, reader, EVERY, SIZE_MAX);
    net_playback_run_expect(run, &(net_log_record){.kind = NET_LOG_KIND_CLOSE,
                                                   .tick = TICKS,
                                                   .state_hash = record->state_hash[TICKS],
                                                   .has_world_hash = true,
                                                   .world_hash = 1});
    assert_int_equal(net_playback_run_to(run, TICKS - 1), NET_OK);
    assert_int_equal(net_playback_run_diverged(run), 0);
    assert_int_equal(net_playback_run_to(run, TICKS), NET_OK);
    assert_int_equal(net_playback_run_diverged(run), TICKS);
    net_playback_run_destroy(run);
    net_log_reader_destroy(reader);
}

// ---- marks ----

// In pieces of so many blocks.
static void read_marks(net_playback_marks_list* list, net_log_reader* reader,
                       const net_game_module* game, uint64_t blocks) {
    net_playback_marks_init(list, NULL, reader);
    while (!list->is_whole)
        assert_int_equal(net_playback_marks_read(list, reader, game, blocks), NET_OK);
}

static void marks_are_joins_leaves_and_reliable_events_in_order(void** state) {
    const playback_record* record = *state;
    net_log_reader* reader = record_read(record);
    net_playback_marks_list list;
    read_marks(&list, reader, breakout_module(), 3);
    uint32_t joins = 0, leaves = 0, events = 0;
    for (uint32_t i = 0; i < list.mark_count; i++) {
        const net_playback_mark* mark = &list.marks[i];
        if (i > 0) assert_true(mark->tick >= mark[-1].tick);
        joins += mark->kind == NET_PLAYBACK_JOIN;
        leaves += mark->kind == NET_PLAYBACK_LEAVE;
        events += mark->kind == NET_PLAYBACK_EVENT;
        if (mark->kind == NET_PLAYBACK_LEAVE) {
            assert_int_equal(mark->tick, RECORD_LEAVE);
            assert_int_equal(mark->client, 2);
        }
        if (mark->kind == NET_PLAYBACK_EVENT)
            assert_true(breakout_module()->messages[mark->message - 1].is_reliable);
    }
    assert_int_equal(joins, 3);
    assert_int_equal(leaves, 1);
    uint32_t told = record->table.levels_cleared + record->table.lives_lost;
    print_message("%u events\n", told);
    assert_true(told > 0 && events >= told);
    assert_string_equal(net_playback_marks_name(&list, 1), "ann");
    assert_string_equal(net_playback_marks_name(&list, 2), "bob");
    assert_string_equal(net_playback_marks_name(&list, 3), "cleo");
    assert_null(net_playback_marks_name(&list, 4));
    assert_null(net_playback_marks_name(&list, 0));
    net_log_record close;
    assert_true(net_log_reader_close(reader, &close));
    assert_int_equal(close.kind, NET_LOG_KIND_CLOSE);
    assert_true(close.state_hash == record->state_hash[TICKS]);
    net_playback_marks_deinit(&list);
    net_log_reader_destroy(reader);
}

// A forged log: many joins in one tick, with events that the playback reports and events that it
// does not report.
static void write_many(const log_files* files, uint32_t joins) {
    net_log_file_config config = files_config(files);
    net_log_file* file;
    config.ring_bytes = 1u << 20;
    assert_int_equal(files_create(&config, &file), NET_OK);
    net_log_draft* draft = net_log_file_begin(file);
    assert_non_null(draft);
    proto_pb_write_number(&draft->body, 1, 1);
    for (uint32_t i = 0; i < joins; i++) {
        net_log_item join = {.kind = NET_LOG_ITEM_JOIN, .client = i + 1};
        snprintf(join.name, sizeof join.name, "p%u", i + 1);
        assert_true(net_log_draft_item(draft, &join));
    }
    net_log_file_end(file, NET_LOG_KIND_BEGIN, 1);
    draft = net_log_file_begin(file);
    assert_non_null(draft);
    proto_pb_write_number(&draft->body, 1, 1);
    proto_pb_write_fixed64(&draft->body, 2, 7);
    for (uint32_t message = 1; message <= NET_MESSAGES_MAX; message++)
        assert_true(net_log_draft_item(draft, &(net_log_item){.kind = NET_LOG_ITEM_SERVER_EVENT,
                                                              .message = message,
                                                              .payload = (const uint8_t*)""}));
    net_log_file_end(file, NET_LOG_KIND_END, 1);
    files_begin(file, 2); // the tick is not whole, so it is no part of the playback
    assert_int_equal(net_log_file_destroy(file), NET_OK);
}

static void marks_are_bounded_and_foreign_numbers_are_left_out(void** state) {
    (void)state;
    uint32_t told = 0;
    const net_game_module* game = breakout_module();
    for (uint32_t i = 0; i < game->message_count; i++)
        told += game->messages[i].kind == NET_MESSAGE_TO_CLIENTS && game->messages[i].is_reliable;
    const uint32_t joins[] = {3, NET_PLAYBACK_MARKS_MAX - 1 - told, NET_PLAYBACK_MARKS_MAX - told,
                              NET_PLAYBACK_MARKS_MAX - told + 1, NET_PLAYBACK_MARKS_MAX + 5};
    for (uint32_t i = 0; i < BASE_COUNT(joins); i++) {
        log_files files;
        files_open(&files);
        write_many(&files, joins[i]);
        net_log_reader* reader;
        assert_int_equal(net_log_reader_create(NULL, files.log, NULL, &reader), NET_OK);
        net_playback_marks_list list;
        read_marks(&list, reader, game, UINT32_MAX);
        uint32_t all = joins[i] + told;
        assert_int_equal(list.mark_count,
                         all < NET_PLAYBACK_MARKS_MAX ? all : NET_PLAYBACK_MARKS_MAX);
        char name[16];
        snprintf(name, sizeof name, "p%u", joins[i]);
        assert_string_equal(net_playback_marks_name(&list, joins[i]), name);
        assert_null(net_playback_marks_name(&list, joins[i] + 1));
        net_playback_marks_deinit(&list);
        net_log_reader_destroy(reader);
        files_close(&files);
    }
}

static int setup(void** state) {
    *state = record_make(TICKS);
    return 0;
}

static int teardown(void** state) {
    record_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(saves_are_found_by_the_newest_not_after_a_tick),
        TEST(saves_stay_within_their_bytes_by_dropping_every_second_one),
        TEST(a_save_that_is_not_wanted_after_thinning_is_not_kept),
        TEST(a_save_beyond_the_bound_is_not_kept),
        TEST(every_tick_is_reached_from_every_side),
        TEST(a_save_of_one_run_is_refused_when_it_is_cut),
        TEST(the_first_differing_hash_is_reported_once_and_the_run_goes_on),
        TEST(the_close_record_is_compared_with_the_last_tick),
        TEST(marks_are_joins_leaves_and_reliable_events_in_order),
        TEST(marks_are_bounded_and_foreign_numbers_are_left_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
