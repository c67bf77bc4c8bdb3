// SPDX-License-Identifier: MIT
// The timeline of a log: joins, leaves, events and names, read in pieces.
#include "playback_record.h"

#include "playback/playback_feed.h"

enum { TICKS = 900 };

// In pieces of so many blocks.
static void read_marks(net_playback_marks_list* list, net_log_reader* reader,
                       const net_game_module* game, uint64_t blocks) {
    net_playback_marks_init(list, &reader->owner.allocator, reader);
    while (!list->is_whole)
        assert_ok(net_playback_marks_read(list, reader, game, blocks));
}

READ_CASE(marks_are_joins_leaves_and_reliable_events_in_order, .ticks = TICKS) {
    net_playback_marks_list list;
    read_marks(&list, self->reader, breakout_module(), 3);
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
    uint32_t told = self->table.events[BREAKOUT_MESSAGE_LEVEL_CLEARED] +
                    self->table.events[BREAKOUT_MESSAGE_LIFE_LOST];
    print_message("%u events\n", told);
    assert_true(told > 0 && events >= told);
    assert_string_equal(net_playback_marks_name(&list, 1), "ann");
    assert_string_equal(net_playback_marks_name(&list, 2), "bob");
    assert_string_equal(net_playback_marks_name(&list, 3), "cleo");
    assert_null(net_playback_marks_name(&list, 4));
    assert_null(net_playback_marks_name(&list, 0));
}

// A forged log: many joins in one tick, with events that the playback reports and events that it
// does not report.
static void write_many(const log_files* files, uint32_t joins) {
    net_log_file_config config = files_config(files);
    config.ring_bytes = 1u << 20;
    net_log_file* file = files_start(&config);
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
    assert_ok(net_log_file_destroy(file));
}

CASE(marks_are_bounded_and_foreign_numbers_are_left_out) {
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
        net_log_reader* reader = files_reader(files.log);
        net_playback_marks_list list;
        read_marks(&list, reader, game, UINT32_MAX);
        uint32_t all = joins[i] + told;
        assert_int_equal(list.mark_count,
                         all < NET_PLAYBACK_MARKS_MAX ? all : NET_PLAYBACK_MARKS_MAX);
        assert_string_equal(net_playback_marks_name(&list, joins[i]), file_name("p%u", joins[i]));
        assert_null(net_playback_marks_name(&list, joins[i] + 1));
        net_log_reader_destroy(reader);
        files_close(&files);
    }
}

// A block may end within a tick: its marks come when the tick is whole, and once.
FILES_CASE(a_tick_that_is_not_whole_yet_has_its_marks_later) {
    const net_log_file_config config = files_config(files);
    const char* copy = file_name("%s/copy", files->folder);
    net_log_file* file = files_start(&config);
    files_tick(file, 1);
    net_log_draft* draft = net_log_file_begin(file);
    assert_non_null(draft);
    proto_pb_write_number(&draft->body, 1, 2);
    assert_true(net_log_draft_item(
        draft, &(net_log_item){.kind = NET_LOG_ITEM_JOIN, .client = 2, .name = "bob"}));
    net_log_file_end(file, NET_LOG_KIND_BEGIN, 2);
    net_log_file_pump(file, true);
    file_copy(files->log, copy);
    net_log_reader* reader = files_reader(copy);
    net_playback_marks_list list;
    read_marks(&list, reader, breakout_module(), UINT32_MAX);
    assert_int_equal(list.mark_count, 1); // ann's
    assert_null(net_playback_marks_name(&list, 2));
    assert_true(files_end(file, 2));
    files_close_log(file, 2);
    file_copy(files->log, copy);
    net_log_reader_follow(reader);
    for (uint32_t i = 0; i < 2; i++) {
        list.is_whole = false;
        assert_ok(net_playback_marks_read(&list, reader, breakout_module(), UINT32_MAX));
        assert_int_equal(list.mark_count, 2);
        assert_string_equal(net_playback_marks_name(&list, 2), "bob");
    }
    net_log_reader_destroy(reader);
}
