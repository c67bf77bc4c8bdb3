// SPDX-License-Identifier: MIT
// The last seconds in memory: what a save of them holds, beside a log and without one, and what
// bounds them. The saves of the match are made-up bytes.
#include "log_files.h"

enum { EVERY = 10, BLOCK = 5, SAVE_BYTES = 300 };

// ---- the ring against a list that forgets nothing ----

typedef struct twin_block {
    uint64_t seed;
    size_t size;
    ecs_tick keyframe; ///< the group that begins with this block; UINT64_MAX: none does
    ecs_tick last_tick;
    bool is_data;
} twin_block;

typedef struct twin {
    twin_block blocks[4096];
    uint32_t count, first; ///< those before `first` are dropped
} twin;

static void fill(uint8_t* data, size_t size, uint64_t seed) {
    base_rng rng = base_rng_make(seed, 3);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)base_rng_u32(&rng);
}

// The next group's first block behind one.
static uint32_t twin_next(const twin* self, uint32_t first) {
    do
        first++;
    while (first < self->count && self->blocks[first].keyframe == UINT64_MAX);
    return first;
}

static uint64_t twin_bytes(const twin* self) {
    uint64_t bytes = 0;
    for (uint32_t i = self->first; i < self->count; i++)
        bytes += self->blocks[i].size;
    return bytes;
}

static void twin_add(twin* self, twin_block block, uint64_t capacity, ecs_tick ticks) {
    bool is_empty = self->first == self->count;
    if (is_empty && block.keyframe == UINT64_MAX) return;
    assert_true(self->count < BASE_COUNT(self->blocks));
    self->blocks[self->count++] = block;
    while (twin_bytes(self) > capacity)
        self->first = twin_next(self, self->first);
    while (block.is_data && twin_next(self, self->first) < self->count &&
           self->blocks[twin_next(self, self->first)].keyframe + ticks <= block.last_tick)
        self->first = twin_next(self, self->first);
}

static void ring_add(net_log_ring* ring, const twin_block* block) {
    static uint8_t data[2048];
    fill(data, block->size, block->seed);
    const net_log_block header = {.type =
                                      block->is_data ? NET_LOG_BLOCK_DATA : NET_LOG_BLOCK_KEYFRAME,
                                  .last_tick = block->last_tick};
    net_log_ring_add(ring, &header, data, block->size);
    net_log_ring_validate(ring);
}

static void expect_ring(const twin* self, const net_log_ring* ring) {
    uint64_t at = ring->count > 0 ? ring->groups[0].start : ring->head;
    uint32_t group = 0;
    static uint8_t expected[2048];
    for (uint32_t i = self->first; i < self->count; i++) {
        const twin_block* block = &self->blocks[i];
        if (block->keyframe != UINT64_MAX) {
            assert_true(group < ring->count);
            assert_int_equal(ring->groups[group].start, at);
            assert_int_equal(ring->groups[group++].tick, block->keyframe);
        }
        fill(expected, block->size, block->seed);
        for (size_t done = 0, piece; done < block->size; done += piece) {
            piece = block->size - done;
            const uint8_t* data = net_log_ring_at(ring, at + done, &piece);
            assert_memory_equal(data, expected + done, piece);
        }
        at += block->size;
    }
    assert_int_equal(at, ring->head);
    assert_int_equal(group, ring->count);
}

static void play_ring(uint64_t seed, twin* self, net_log_ring* ring) {
    base_rng rng = base_rng_make(seed, 9);
    const uint64_t capacity = 800 + base_rng_below(&rng, 20000);
    const ecs_tick ticks = base_rng_below(&rng, 60);
    memset(self, 0, sizeof *self);
    net_log_ring_init(ring, NULL, capacity, ticks);
    ecs_tick tick = 0;
    for (uint32_t step = 0; step < 300; step++) {
        if (step > 0 && base_rng_below(&rng, 40) == 0) tick += BLOCK; // ticks that are missing
        bool is_gap = tick != ring->last_tick;
        bool is_new = ring->count > 0 && tick > ring->groups[ring->count - 1].tick;
        if (is_gap || (is_new && base_rng_below(&rng, 3) == 0)) {
            const uint64_t head = ring->head;
            if (is_gap) self->first = self->count;
            const uint32_t before = self->count;
            const twin_block key = {seed + step, 1 + base_rng_below(&rng, 900), tick, tick, false};
            net_log_ring_begin(ring, tick);
            ring_add(ring, &key);
            twin_add(self, key, capacity, ticks);
            if (!is_gap && base_rng_below(&rng, 4) == 0) {
                net_log_ring_undo(ring, head);
                self->count = before;
                if (self->first > before) self->first = before;
            }
            expect_ring(self, ring);
        }
        tick += BLOCK;
        const twin_block block = {seed * 1000 + step, 1 + base_rng_below(&rng, 1200),
                                  step == 0 ? 0 : UINT64_MAX, // the log's start
                                  tick, true};
        ring_add(ring, &block);
        twin_add(self, block, capacity, ticks);
        expect_ring(self, ring);
    }
    base_release(NULL, ring->memory, ring->capacity);
}

CASE(a_ring_has_what_a_list_of_all_blocks_has) {
    static twin self;
    static net_log_ring ring;
    for (uint64_t seed = 1; seed <= 60; seed++)
        play_ring(seed, &self, &ring);
}

// ---- saves of a log ----

static log_disk sound; // a disk without faults

static net_log_file_config ring_config(const log_files* files, ecs_tick ticks) {
    net_log_file_config config = disk_config(files_config(files), &sound);
    config.keyframe_ticks = EVERY;
    config.ring_bytes = 65536;
    config.ring_ticks = ticks;
    config.options.ring_bytes = 1 << 20;
    return config;
}

static net_log_saved saved_at(const net_log_file_config* config, ecs_tick ticks, ecs_tick asked,
                              const char* name) {
    net_log_file* file;
    net_log_saved saved = {.bytes = 0};
    assert_ok(files_create(config, &file));
    for (ecs_tick tick = 1; tick <= ticks; tick++) {
        files_keyed_tick(file, tick, SAVE_BYTES);
        if (tick == asked) assert_ok(net_log_save(file, name));
        if (tick == asked) assert_int_equal(net_log_save(file, name), NET_ERR_FULL);
        net_log_file_pump(file, false);
    }
    files_end_log(file, ticks);
    assert_ok(net_log_file_finish(file));
    assert_true(net_log_take_saved(file, &saved));
    net_log_saved again;
    assert_false(net_log_take_saved(file, &again));
    const net_log_counters counters = net_log_get_counters(file);
    assert_int_equal(counters.saves, saved.failure[0] == 0);
    assert_int_equal(counters.saves_failed, 1 + (saved.failure[0] != 0));
    assert_ok(net_log_file_destroy(file));
    return saved;
}

// Whole, closed, and each tick's hash is its own.
static void expect_whole(const net_log_saved* saved) {
    net_log_reader* reader = files_reader(saved->file);
    const net_log_info* info = net_log_reader_info(reader);
    assert_true(info->is_closed && !info->is_cut && !info->is_damaged);
    assert_int_equal(info->first_tick, saved->first_tick);
    assert_int_equal(info->last_tick, saved->last_tick);
    assert_int_equal(info->file_bytes, saved->bytes);
    ecs_tick next = saved->first_tick;
    net_log_record record, close = {.tick = 0};
    net_log_cursor cursor = net_log_cursor_begin(reader);
    while (net_log_cursor_next(reader, &cursor, &record)) {
        if (record.kind == NET_LOG_KIND_CLOSE) close = record;
        if (record.kind != NET_LOG_KIND_END) continue;
        assert_int_equal(record.tick, next++);
        assert_true(record.state_hash == base_hash64(&record.tick, sizeof record.tick, 0));
    }
    assert_int_equal(next, saved->last_tick + 1);
    assert_int_equal(close.tick, saved->last_tick);
    assert_true(close.state_hash == base_hash64(&close.tick, sizeof close.tick, 0));
    assert_int_equal(net_log_reader_info(reader)->lost_ticks, 0);
    assert_string_equal(net_log_reader_verdict(reader), "whole");
    // The index is right: a keyframe leads to the tick behind it.
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(reader, &count);
    base_bytes save;
    base_bytes_init(&save, NULL);
    for (uint32_t i = 0; i < count; i++) {
        base_bytes_clear(&save);
        assert_ok(net_log_keyframe_read(reader, &keyframes[i], &save));
        assert_int_equal(save.size, SAVE_BYTES);
    }
    base_bytes_deinit(&save);
    net_log_reader_destroy(reader);
}

CASE(seconds_saved_at_any_tick_are_a_whole_log) {
    for (uint32_t round = 0; round < 2; round++) {
        for (ecs_tick asked = 1; asked <= 57; asked += round == 0 ? 4 : 1) {
            log_files files;
            files_open(&files);
            net_log_file_config config = ring_config(&files, 15);
            config.options.is_in_memory = round == 1;
            config.segment_ticks = asked % 3 * EVERY; // rotation changes nothing of the ring
            net_log_saved saved = saved_at(&config, 57, asked, "goal");
            assert_string_equal(saved.failure, "");
            // Up to the end of its block, or of the log; at least 15 ticks, where they were.
            ecs_tick end = (asked + BLOCK - 1) / BLOCK * BLOCK;
            assert_int_equal(saved.last_tick, end < 57 ? end : 57);
            ecs_tick first = saved.last_tick < 15 ? 0 : (saved.last_tick - 15) / EVERY * EVERY;
            assert_int_equal(saved.first_tick, first + 1);
            expect_whole(&saved);
            assert_int_equal(file_exists(files.log), round == 0);
            assert_false(file_exists(files.queue));
            files_close(&files);
        }
    }
}

// What stands between two ticks is of neither.
FILES_CASE(seconds_saved_while_no_tick_runs_end_with_a_tick) {
    net_log_file* file;
    net_log_saved saved;
    const net_log_file_config config = ring_config(files, 10);
    assert_ok(files_create(&config, &file));
    for (ecs_tick tick = 1; tick <= 25; tick++) {
        for (uint32_t i = 1; tick == 21 && i <= 64; i++) { // which end a block
            net_log_draft* draft = net_log_file_begin(file);
            proto_pb_write_number(&draft->body, 1, tick);
            net_log_file_end(file, NET_LOG_KIND_ALIVE, tick);
            if (i == 64) assert_ok(net_log_save(file, "pause"));
            net_log_file_pump(file, false);
        }
        files_keyed_tick(file, tick, SAVE_BYTES);
        net_log_file_pump(file, false);
    }
    assert_true(net_log_take_saved(file, &saved));
    assert_string_equal(saved.failure, "");
    assert_non_null(strstr(saved.file, "saved-20-pause"));
    assert_int_equal(saved.last_tick, 20);
    expect_whole(&saved);
    files_end_log(file, 25);
    assert_ok(net_log_file_destroy(file));
}

// The header of the header block is whole, what it says is not; neither are the copy of the header
// and the first keyframe. The first ticks are lost, and the blocks that have them say which.
FILES_CASE(a_save_without_its_first_keyframe_knows_where_it_began) {
    net_log_file_config config = ring_config(files, 1500); // a copy of the header comes each minute
    net_log_saved saved = saved_at(&config, 1990, 1985, "");
    size_t size;
    uint8_t* bytes = file_read(saved.file, &size);
    net_log_block block;
    uint64_t offset = NET_LOG_PROLOGUE_BYTES;
    const net_log_block_type types[] = {NET_LOG_BLOCK_HEADER, NET_LOG_BLOCK_HEADER_COPY};
    for (uint32_t i = 0; i < BASE_COUNT(types); i++) {
        assert_true(net_log_block_header_read(&block, bytes + offset));
        assert_int_equal(block.type, types[i]);
        offset = net_log_block_end(offset, &block);
    }
    assert_true(net_log_block_header_read(&block, bytes + offset));
    assert_int_equal(block.type, NET_LOG_BLOCK_KEYFRAME);
    const size_t begin = NET_LOG_PROLOGUE_BYTES + NET_LOG_BLOCK_HEADER_BYTES;
    memset(bytes + begin, 0, offset + NET_LOG_BLOCK_HEADER_BYTES - begin);
    file_write(saved.file, bytes, size);
    log_sum sum = files_read(saved.file);
    assert_int_equal(sum.result, NET_ERR_DAMAGED);
    assert_int_equal(sum.info.first_tick, saved.first_tick);
    assert_int_equal(sum.info.last_tick, saved.last_tick);
    free(bytes);
}

static const char* const names[][2] = {
    {"", ".saved-30.slog"},
    {"flag-2_A", ".saved-30-flag-2_A.slog"},
    {"../../etc/x y\n", ".saved-30-______etc_x_y_.slog"},
    {"0123456789abcdef0123456789abcdefTOO LONG", ".saved-30-0123456789abcdef0123456789abcdef.slog"},
};

CASE_ROWS(log_files, files, files_open(files), files_close(files), i, BASE_COUNT(names),
          names_of_saves_stay_in_the_logs_folder) {
    net_log_file_config config = ring_config(files, 15);
    net_log_saved saved = saved_at(&config, 40, 30, names[i][0]);
    char expected[256];
    snprintf(expected, sizeof expected, "%s/a%s", files->folder, names[i][1]);
    assert_string_equal(saved.file, expected);
    assert_true(file_exists(expected));
}

FILES_CASE(a_file_of_the_name_is_not_replaced) {
    char name[128];
    snprintf(name, sizeof name, "%s/a.saved-30.slog", files->folder);
    file_write(name, (const uint8_t*)"mine", 4);
    net_log_file_config config = ring_config(files, 15);
    net_log_saved saved = saved_at(&config, 40, 30, "");
    assert_non_null(strstr(saved.failure, "errno 17"));
    size_t size;
    free(file_read(name, &size));
    assert_int_equal(size, 4);
}

FILES_CASE(a_ring_keeps_what_its_bytes_allow_and_says_when_that_is_nothing) {
    net_log_file_config config = ring_config(files, 1000);
    net_log_saved saved = saved_at(&config, 90, 90, "all");
    assert_int_equal(saved.first_tick, 1);
    const uint64_t all = saved.bytes;
    config.options.ring_bytes = all / 2;
    saved = saved_at(&config, 90, 90, "half");
    assert_string_equal(saved.failure, "");
    assert_true(saved.first_tick > 50 && saved.first_tick % EVERY == 1);
    assert_true(saved.bytes <= all / 2);
    expect_whole(&saved);
    config.options.ring_bytes = 300;
    saved = saved_at(&config, 90, 90, "none");
    assert_non_null(strstr(saved.failure, "no keyframe"));
}

FILES_CASE(all_saves_stay_within_the_budget) {
    net_log_file* file;
    uint32_t whole = 0, refused = 0;
    net_log_file_config config = ring_config(files, 20);
    config.options.is_in_memory = true;
    config.options.segments.budget_bytes = 12000;
    assert_ok(files_create(&config, &file));
    uint64_t bytes = 0;
    for (ecs_tick tick = 1; tick <= 200; tick++) {
        net_log_saved saved;
        files_keyed_tick(file, tick, SAVE_BYTES);
        if (tick % 20 == 0) assert_ok(net_log_save(file, "x"));
        net_log_file_pump(file, false);
        if (!net_log_take_saved(file, &saved)) continue;
        bytes += saved.bytes;
        whole += saved.failure[0] == 0;
        refused += strstr(saved.failure, "budget") != NULL;
    }
    assert_true(whole > 1 && refused > 1 && whole + refused == 10);
    // The ring's bytes are counted, not the header and the index of the next file.
    assert_true(bytes <= 12000 + 1000);
    (void)net_log_file_destroy(file);
}

FILES_CASE(without_a_ring_nothing_is_saved) {
    net_log_file* file;
    net_log_saved saved;
    net_log_file_config config = files_config(files);
    assert_ok(files_create(&config, &file));
    assert_int_equal(net_log_save(file, "x"), NET_ERR_CLOSED);
    assert_false(net_log_take_saved(file, &saved));
    (void)net_log_file_destroy(file);
}

// ---- disks ----

CASE(a_disk_that_fails_a_save_at_any_call_costs_the_save_alone) {
    uint32_t calls = 2;
    for (uint32_t k = 1; k <= calls; k++) {
        log_files files;
        files_open(&files);
        log_disk with = {.fail_call = k, .fail_for = 1, .error = EIO, .spares_first = true};
        net_log_file_config config = disk_config(ring_config(&files, 15), &with);
        net_log_saved saved = saved_at(&config, 40, 30, "x");
        assert_true(saved.failure[0] != 0 && !file_exists(saved.file));
        calls = k == 1 ? 100 : calls;
        if (with.writes + with.syncs < k) break; // all of the save's calls failed once
        log_sum sum = files_read(files.log);
        assert_ok(sum.result);
        assert_true(sum.info.is_closed && sum.info.last_tick == 40);
        files_close(&files);
        // The next k may be the first that is never reached.
        log_disk count = {.spares_first = true};
        files_open(&files);
        config = disk_config(ring_config(&files, 15), &count);
        saved = saved_at(&config, 40, 30, "x");
        assert_string_equal(saved.failure, "");
        calls = count.writes + count.syncs;
        files_close(&files);
    }
    print_message("%u calls\n", calls);
    assert_true(calls > 5);
}

// Ticks that the log left out are in no save: it begins behind them.
FILES_CASE(a_save_begins_behind_ticks_that_were_left_out) {
    net_log_file* file;
    net_log_saved saved;
    net_log_file_config config = ring_config(files, 1000);
    config.ring_bytes = 1024; // some ticks
    config.options.is_in_memory = true;
    assert_ok(files_create(&config, &file));
    for (ecs_tick tick = 1; tick <= 90; tick++) {
        files_keyed_tick(file, tick, SAVE_BYTES);
        if (tick < 33 || tick > 48) net_log_file_pump(file, false); // a thread that stands still
    }
    assert_true(net_log_get_counters(file).ticks_lost > 0);
    assert_ok(net_log_save(file, ""));
    net_log_file_pump(file, true);
    assert_true(net_log_take_saved(file, &saved));
    assert_string_equal(saved.failure, "");
    assert_true(saved.first_tick > 48);
    expect_whole(&saved);
    (void)net_log_file_destroy(file);
}
