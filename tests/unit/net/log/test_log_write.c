// SPDX-License-Identifier: MIT
// The machine of the log writer: what it writes into the file and the queue, and what each disk
// fault causes.
#include "log_files.h"

#include "log.pb-c.h"

#include <sys/mman.h>

enum { TICKS = 24, RECORDS = 2 * TICKS + 1 };

// The timing of the thread has no effect on the file, and neither has a disk that writes in pieces.
CASE(equal_ticks_give_equal_files) {
    for (int is_in_pieces = 0; is_in_pieces < 2; is_in_pieces++) {
        uint8_t* data[2];
        size_t size[2];
        for (int i = 0; i < 2; i++) {
            log_files files;
            files_open(&files);
            log_disk pieces = {.fail_write = 1, .fail_for = UINT32_MAX};
            net_log_file_config config = files_config(&files);
            config.keyframe_ticks = is_in_pieces ? 10 : 0;
            config.options.is_manual = i == 0 || is_in_pieces;
            if (i == 1 && is_in_pieces) config = disk_config(config, &pieces);
            assert_ok(files_write(&config, TICKS, 800).finished);
            data[i] = file_read(files.log, &size[i]);
            files_close(&files);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(data[0], data[1], size[0]);
        free(data[0]);
        free(data[1]);
    }
}

// 5 ticks are a block, 1 is one of a log that is followed.
FILES_CASE(a_log_that_is_followed_has_short_blocks_and_the_same_records) {
    net_log_file_config config = files_config(files);
    net_log_file* file = files_start(&config);
    net_log_hurry(file);
    uint32_t written = 0;
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        const uint64_t before = net_log_file_bytes(file);
        files_ticks(file, tick, tick, 0);
        written += net_log_file_bytes(file) > before;
    }
    assert_int_equal(written, NET_LOG_HURRY_BLOCKS + (TICKS - NET_LOG_HURRY_BLOCKS) / 5);
    files_close_log(file, TICKS);
    assert_false(file_exists(files->queue));
    log_sum sum = files_read(files->log);
    assert_ok(sum.result);
    assert_true(sum.info.is_closed && !sum.info.is_cut && sum.info.lost_bytes == 0);
    assert_int_equal(sum.records, RECORDS);
    assert_int_equal(sum.info.last_tick, TICKS);
}

FILES_CASE(a_full_queue_stops_the_log_and_nothing_else) {
    net_log_file_config config = files_config(files);
    net_log_file* file = files_start(&config);
    ecs_tick tick = 0;
    char text[256];
    while (!net_log_take_failure(file, text, sizeof text))
        files_tick(file, ++tick);
    assert_non_null(strstr(text, "queue is full"));
    assert_true(tick > 20);
    files_tick(file, ++tick);
    assert_null(net_log_file_begin(file));
    assert_int_equal(net_log_file_destroy(file), NET_ERR_IO);
    log_sum sum = files_read(files->log);
    assert_ok(sum.result);
    assert_true(sum.info.is_cut);
    assert_int_equal(sum.info.lost_bytes, 0);
    assert_true(sum.info.last_tick >= tick - 3);
}

/// Try every fault at every call. The log ends at a whole record, the fault is reported once, and
/// the log has what was written.
static void check_fault(int error, uint32_t fail_for, bool stops) {
    log_files files;
    files_open(&files);
    log_disk none = {0};
    net_log_file_config config = disk_config(files_config(&files), &none);
    config.sync_ticks = 0;
    assert_ok(files_write(&config, TICKS, 0).finished);
    log_sum whole = files_read(files.log);
    const uint32_t calls = none.writes + none.syncs;
    for (uint32_t k = 1; k <= calls + 1; k++) {
        log_disk with = {.fail_call = k, .fail_for = fail_for, .error = error};
        config.options.ops.context = &with;
        net_result result = files_write(&config, TICKS, 0).finished;
        assert_false(with.is_used_after);
        if (!stops) assert_ok(result);
        if (result == NET_ERR_DISK) { // before the first tick: the match has no log at all
            assert_false(file_exists(files.log) || file_exists(files.queue));
            continue;
        }
        log_sum sum = files_read(files.log);
        assert_true(sum.has_reader);
        assert_ok(sum.result);
        assert_int_equal(sum.info.lost_bytes, 0);
        assert_true(sum.records <= RECORDS);
        assert_int_equal(sum.hash, whole.prefix[sum.records]);
        if (stops && k <= calls) assert_int_equal(result, NET_ERR_IO);
        if (result == NET_OK) {
            assert_int_equal(sum.records, RECORDS);
            assert_false(file_exists(files.queue));
        }
    }
    files_close(&files);
}

CASE(a_full_disk_ends_the_log_at_a_whole_record) {
    check_fault(ENOSPC, UINT32_MAX / 2, true);
    check_fault(ENOSPC, 1, true);
}
CASE(a_broken_disk_ends_the_log_and_is_not_tried_again) {
    check_fault(EIO, 1, true);
}
CASE(short_writes_and_signals_are_gone_on_with) {
    check_fault(0, 3, false);
    check_fault(EINTR, 2, false);
}

FILES_CASE(a_log_that_is_being_written_stays_where_it_is) {
    net_log_file_config config = files_config(files);
    net_log_file *file = files_start(&config), *second;
    files_tick(file, 1);
    assert_int_equal(files_create(&config, &second), NET_ERR_IO);
    files_tick(file, 2);
    assert_ok(net_log_file_destroy(file));
    assert_int_equal(files_read_own(files->log).records, 4);
    // Now the file is an old log.
    assert_ok(net_log_file_destroy(files_start(&config)));
    assert_int_equal(files_read(file_name("%s.1", files->log)).records, 4);
    static const char* const nowhere[] = {"/nowhere/at/all", "/dev/null"};
    for (uint32_t i = 0; i < BASE_COUNT(nowhere); i++) {
        config.file = nowhere[i];
        assert_int_equal(files_create(&config, &file), NET_ERR_IO);
    }
}

// A server that is started again after each crash must not eat the log of a crash.
FILES_CASE(every_start_with_one_name_keeps_all_earlier_logs) {
    net_log_file_config config = files_config(files);
    file_write(files->log, (const uint8_t*)"", 0); // an empty file is not a log
    for (int i = 0; i < 4; i++)
        assert_ok(files_write(&config, TICKS, 0).finished);
    assert_int_equal(files_read(files->log).records, RECORDS);
    for (int i = 1; i <= 3; i++)
        assert_int_equal(files_read(file_name("%s.%d", files->log, i)).records, RECORDS);
    assert_false(file_exists(file_name("%s.4", files->log)));
    // An old one was deleted, and others have similar names: numbers only rise.
    unlink(file_name("%s.2", files->log));
    static const char* const others[] = {".7", ".8x", ".9.gz", ".queue", ".12.queue"};
    for (uint32_t i = 0; i < BASE_COUNT(others); i++)
        file_write(file_name("%s%s", files->log, others[i]), (const uint8_t*)"x", 1);
    assert_ok(files_write(&config, TICKS, 0).finished);
    assert_int_equal(files_read(file_name("%s.13", files->log)).records, RECORDS);
}

typedef enum harm { HARM_DELETED, HARM_CUT, HARM_COUNT } harm;

CASE(files_that_are_taken_away_end_the_log_with_a_reason) {
    static const char* const reasons[HARM_COUNT] = {"was deleted", "cut the log while"};
    for (harm what = 0; what < HARM_COUNT; what++) {
        for (int is_late = 0; is_late < 2; is_late++) {
            log_files files;
            files_open(&files);
            net_log_file_config config = files_config(&files);
            net_log_file* file = files_start(&config);
            files_tick(file, 1);
            if (is_late) net_log_file_pump(file, true);
            if (what == HARM_DELETED) assert_int_equal(unlink(files.log), 0);
            if (what == HARM_CUT) assert_int_equal(truncate(files.log, 20), 0);
            assert_int_equal(net_log_file_finish(file), NET_ERR_IO);
            char failure[256];
            assert_true(net_log_take_failure(file, failure, sizeof failure));
            assert_non_null(strstr(failure, reasons[what]));
            assert_int_equal(net_log_file_destroy(file), NET_ERR_IO);
            files_close(&files);
        }
    }
}

static int stalled[2]; // a pipe: the disk answers when it has a byte
static uint32_t stall_calls;

static ssize_t stalled_write(void* context, int fd, const void* data, size_t size) {
    char byte;
    // Prologue and header pass.
    if (++stall_calls > 2) assert_int_equal(read(stalled[0], &byte, 1), 1);
    return write(fd, data, size);
}

FILES_CASE(a_disk_that_does_not_answer_is_given_up) {
    net_log_file_config config = files_config(files);
    assert_int_equal(pipe(stalled), 0);
    config.options.is_manual = false;
    config.stall_ms_max = 30;
    config.options.ops.write = stalled_write;
    net_log_file* file = files_start(&config);
    for (ecs_tick tick = 1; tick <= 12; tick++)
        files_tick(file, tick);
    assert_int_equal(net_log_file_finish(file), NET_ERR_IO);
    files_expect_failure(file, "does not answer");
    // The queue has what the disk did not take.
    log_sum sum = files_read(files->log);
    assert_int_equal(sum.records, 24);
    assert_int_equal(sum.info.lost_bytes, 0);
    // Now it answers: the thread ends and frees what it had kept.
    assert_int_equal(write(stalled[1], "0123456789", 10), 10);
}

static mode_t rights_of(const char* name) {
    struct stat status;
    assert_int_equal(lstat(name, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    return status.st_mode & 07777;
}

FILES_CASE(a_link_in_place_of_a_file_of_the_log_overwrites_nothing) {
    const char *victim = file_name("%s/victim", files->folder),
               *nothing = file_name("%s/nothing", files->folder);
    file_write(victim, (const uint8_t*)"kept", 4);
    net_log_file_config config = files_config(files);
    net_log_file* file;
    mode_t before = umask(0);
    // In place of the queue: the link goes, and the log has its own queue.
    assert_int_equal(symlink(victim, files->queue), 0);
    assert_ok(files_create(&config, &file));
    assert_int_equal(rights_of(files->log), 0600);
    assert_int_equal(rights_of(files->queue), 0600);
    files_tick(file, 1);
    assert_ok(net_log_file_destroy(file));
    // As a second name of the queue.
    unlink(files->queue);
    assert_int_equal(link(victim, files->queue), 0);
    assert_ok(files_write(&config, TICKS, 0).finished);
    // In place of the log, with a file behind it and without.
    unlink(files->log);
    assert_int_equal(symlink(victim, files->log), 0);
    assert_int_equal(files_create(&config, &file), NET_ERR_IO);
    unlink(files->log);
    assert_int_equal(symlink("nothing", files->log), 0);
    assert_int_equal(files_create(&config, &file), NET_ERR_IO);
    assert_false(file_exists(nothing));
    umask(before);
    size_t size;
    uint8_t* data = file_read(victim, &size);
    assert_true(size == 4 && memcmp(data, "kept", 4) == 0);
    free(data);
}

CASE(records_are_what_log_proto_says) {
    net_log_draft draft = {.memory = malloc(NET_LOG_DRAFT_BYTES)};
    assert_non_null(draft.memory);
    const net_log_item items[] = {
        {.kind = NET_LOG_ITEM_LEAVE, .client = 3, .reason = 2},
        {.kind = NET_LOG_ITEM_JOIN,
         .client = 4,
         .name = "bob",
         .is_bot = true,
         .player_id = UINT64_MAX,
         .payload = (const uint8_t*)"red",
         .payload_bytes = 3},
        {.kind = NET_LOG_ITEM_EVENT,
         .client = 5,
         .message = 2,
         .number = 11,
         .target = 9,
         .payload = (const uint8_t*)"xy",
         .payload_bytes = 2},
        {.kind = NET_LOG_ITEM_INPUT, .client = 6, .number = 300, .is_repeat = true},
        {.kind = NET_LOG_ITEM_INPUT,
         .client = 7,
         .number = 1,
         .payload = (const uint8_t*)"z",
         .payload_bytes = 1},
    };
    net_log_draft_begin(&draft);
    proto_pb_write_number(&draft.body, 1, 1u << 20);
    for (uint32_t i = 0; i < BASE_COUNT(items); i++)
        assert_true(net_log_draft_item(&draft, &items[i]));
    uint32_t size;
    const uint8_t* data = net_log_draft_end(&draft, NET_LOG_KIND_BEGIN, 1, 1, &size);
    data += NET_LOG_QUEUE_PREFIX_BYTES;
    size -= NET_LOG_QUEUE_PREFIX_BYTES;
    Shoal__Log__Record* record = shoal__log__record__unpack(NULL, size, data);
    assert_non_null(record);
    assert_int_equal(record->kind_case, SHOAL__LOG__RECORD__KIND_BEGIN);
    const Shoal__Log__TickBegin* begin = record->begin;
    assert_int_equal(begin->tick, 1u << 20);
    assert_int_equal(begin->n_leaves, 1);
    assert_int_equal(begin->leaves[0]->reason, 2);
    assert_string_equal(begin->joins[0]->name, "bob");
    assert_true(begin->joins[0]->is_bot);
    assert_true(begin->joins[0]->player_id == UINT64_MAX);
    assert_int_equal(begin->joins[0]->user_data.len, 3);
    assert_memory_equal(begin->joins[0]->user_data.data, "red", 3);
    assert_int_equal(begin->events[0]->target, 9);
    assert_int_equal(begin->events[0]->number, 11);
    assert_int_equal(begin->n_inputs, 2);
    assert_true(begin->inputs[0]->is_repeat);
    assert_int_equal(begin->inputs[0]->number, 300);
    assert_memory_equal(begin->inputs[1]->payload.data, "z", 1);
    // The other direction: the project reads what the generated code writes.
    uint8_t packed[256];
    size_t packed_bytes = shoal__log__record__pack(record, packed);
    net_log_record again;
    assert_true(net_log_record_read(&again, packed, packed_bytes));
    assert_int_equal(again.item_count[NET_LOG_ITEM_INPUT], 2);
    shoal__log__record__free_unpacked(record, NULL);
    free(draft.memory);
}

static bool reads_control(const char* verb, uint32_t arguments) {
    uint8_t memory[256];
    Shoal__Log__Record record = SHOAL__LOG__RECORD__INIT;
    Shoal__Log__Control control = SHOAL__LOG__CONTROL__INIT;
    ProtobufCBinaryData values[20] = {{1, (uint8_t*)"x"}};
    control.tick = 7;
    control.verb = (char*)(uintptr_t)verb;
    control.arguments = values;
    control.n_arguments = arguments;
    record.kind_case = SHOAL__LOG__RECORD__KIND_CONTROL;
    record.control = &control;
    size_t size = shoal__log__record__pack(&record, memory);
    net_log_record read;
    if (!net_log_record_read(&read, memory, size)) return false;
    net_match_argument argument;
    size_t offset = 0;
    uint32_t count = 0;
    while (net_log_argument_next(&read, &offset, &argument))
        assert_int_equal(argument.size, count++ == 0);
    assert_int_equal(count, arguments);
    assert_string_equal(read.verb, verb);
    assert_true(read.tick == 7);
    net_log_order order = {.tick = 6};
    assert_true(net_log_order_add(&order, &read) && net_log_order_add(&order, &read));
    order.is_in_tick = true;
    assert_false(net_log_order_add(&order, &read));
    order = (net_log_order){.tick = 7};
    assert_false(net_log_order_add(&order, &read));
    return true;
}

CASE(controls_are_read_within_their_limits) {
    const char* longest = "a_verb_of_thirty_one_characters";
    assert_int_equal(strlen(longest), NET_CONTROL_VERB_BYTES_MAX - 1);
    assert_true(reads_control(longest, 1));
    assert_false(reads_control("a_verb_of_thirty_two_characters_", 1));
    assert_false(reads_control("", 1));
    assert_false(reads_control("Set", 1));
    assert_true(reads_control("set", NET_CONTROL_ARGUMENTS_MAX));
    assert_false(reads_control("set", NET_CONTROL_ARGUMENTS_MAX + 1));
}

// The queue holds about 150 of them: a server may wait for days.
FILES_CASE(a_log_without_ticks_does_not_fill_its_queue) {
    net_log_file_config config = files_config(files);
    config.sync_ticks = 0;
    net_log_file* file = files_start(&config);
    for (uint32_t i = 0; i < 1000; i++) {
        files_alive(file, 1);
        net_log_file_pump(file, false);
    }
    for (ecs_tick tick = 1; tick <= 5; tick++) // a block
        files_tick(file, tick);
    for (uint32_t i = 0; i < 3 * 64; i++) {
        files_alive(file, 6);
        net_log_file_pump(file, false);
    }
    files_close_log(file, 5);
    log_sum sum = files_read(files->log);
    assert_ok(sum.result);
    assert_true(sum.info.is_closed && sum.info.last_tick == 5);
    assert_int_equal(sum.records, 1000 + 10 + 3 * 64 + 1);
}

FILES_CASE(the_thread_writes_what_a_busy_simulation_pushes) {
    net_log_file_config config = files_config(files);
    config.options.is_manual = false;
    net_log_file* file = files_start(&config);
    for (ecs_tick tick = 1; tick <= 2000; tick++) {
        files_tick(file, tick);
        net_log_wait_room(file);
    }
    files_close_log(file, 2000);
    log_sum sum = files_read(files->log);
    assert_ok(sum.result);
    assert_int_equal(sum.records, 4001);
    assert_false(sum.info.is_cut);
}

// A program that may write the file of the queue can put a valid record there.
FILES_CASE(a_record_that_no_writer_pushes_ends_the_log_and_reaches_no_block) {
    net_log_file_config config = files_config(files);
    config.ring_bytes = NET_LOG_QUEUE_BYTES;
    const uint32_t sizes[] = {NET_LOG_QUEUE_PREFIX_BYTES,
                              NET_LOG_QUEUE_PREFIX_BYTES + NET_LOG_RECORD_BYTES_MAX + 1,
                              NET_LOG_QUEUE_BYTES / 2};
    for (uint32_t i = 0; i < BASE_COUNT(sizes); i++) {
        net_log_file* file = files_start(&config);
        files_tick(file, 1);
        int fd = open(files->queue, O_RDWR);
        assert_true(fd >= 0);
        size_t bytes = 4096 + BASE_SPSC_HEADER_BYTES + NET_LOG_QUEUE_BYTES;
        uint8_t* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_true(memory != MAP_FAILED);
        base_spsc* ring = base_spsc_open(memory + 4096, bytes - 4096);
        assert_non_null(ring);
        uint8_t* place = base_spsc_reserve(ring, sizes[i]);
        assert_non_null(place);
        memset(place, 0, sizes[i]);
        assert_true(base_spsc_commit(ring, sizes[i]));
        munmap(memory, bytes);
        close(fd);
        net_log_file_pump(file, false);
        assert_null(net_log_file_begin(file));
        files_expect_failure(file, "changed by another process");
        log_sum sum = files_read(files->log);
        assert_ok(sum.result);
        assert_int_equal(sum.records, 2);
        assert_true(sum.info.is_cut);
    }
}

FILES_CASE(validation_finds_a_queue_that_lost_a_record) {
    net_log_queue queue;
    assert_ok(net_log_queue_create(&queue, files->log, 7, 4096, NULL));
    const uint8_t record[64] = {0};
    assert_true(net_log_queue_push(&queue, record, sizeof record, 1));
    net_log_queue_validate(&queue, 1);
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure(net_log_queue_validate(&queue, 2));
    base_assert_handler_set(NULL);
    net_log_queue_destroy(&queue, false);
}
