// SPDX-License-Identifier: MIT
// Keyframes and the index: what a reader gets of them, and what of a log that was cut,
// changed or shuffled. The saves are made-up bytes.
#include "log_files.h"

enum { TICKS = 60, EVERY = 10 }; // a keyframe at 10, 20, ... 60

/// A whole log with keyframes, on the disk and in memory.
typedef struct keyed {
    log_files files;
    uint8_t* bytes;
    size_t size;
} keyed;

static void keyed_open(keyed* self, size_t save_bytes) {
    files_open(&self->files);
    const net_log_file_config config = files_config_keyed(&self->files, EVERY);
    assert_ok(files_write(&config, TICKS, save_bytes).finished);
    self->bytes = file_read(self->files.log, &self->size);
}

static void keyed_close(keyed* self) {
    free(self->bytes);
    files_close(&self->files);
}

#define KEYED_CASE(name, save_bytes)                                                               \
    CASE_WITH(keyed, self, keyed_open(self, save_bytes), keyed_close(self), name)

// ---- the running hash ----

// As a person does who knows the format: its checksums are right.
static record_act change_keyframe(void* context, uint32_t number, const net_log_block* block,
                                  uint8_t* payload) {
    if (block->type != NET_LOG_BLOCK_KEYFRAME) return RECORD_KEEP;
    payload[block->unpacked_bytes - 1] ^= 1;
    return RECORD_CHANGE;
}

static void expect_hash(const char* log, bool is_hashed, const char* verdict) {
    net_log_reader* reader = files_reader_of(log, NET_OK, NULL);
    assert_string_equal(net_log_reader_verdict(reader), verdict);
    assert_int_equal(net_log_reader_info(reader)->is_hashed, is_hashed);
    const bool is_told = said.count > 0 && strstr(said.text, "the running hash") != NULL;
    assert_int_equal(is_told, strcmp(verdict, "damaged") == 0);
    net_log_reader_destroy(reader);
}

FILES_CASE(a_changed_block_with_right_checksums_is_found) {
    net_log_file_config config = files_config_keyed(files, EVERY);
    assert_ok(files_write(&config, 24, 100).finished);
    expect_hash(files->log, true, "whole");
    log_forge(files->log, files->log, change_keyframe, NULL);
    expect_hash(files->log, false, "damaged");
    // A log without a keyframe has an index with its hash all the same.
    (void)unlink(files->log);
    assert_ok(files_write(&config, 4, 100).finished);
    expect_hash(files->log, true, "whole");
    // One that was not closed has none.
    (void)unlink(files->log);
    net_log_file* file = files_start(&config);
    files_ticks(file, 1, 12, 100);
    expect_hash(files->log, false, "cut");
    files_close_log(file, 12);
}

CASE(an_exchanged_segment_is_found_and_a_missing_start_is_not_held_against_it) {
    log_files one, other;
    files_open(&one);
    files_open(&other);
    net_log_file_config config = files_config_keyed(&one, EVERY);
    config.segment_ticks = 2 * EVERY;
    assert_ok(files_write(&config, TICKS, 100).finished);
    config.file = other.log;
    assert_ok(files_write(&config, TICKS, 101).finished); // of the same identity, with other saves
    const char *first = file_segment(one.log, 1), *second = file_segment(one.log, 2),
               *aside = file_name("%s.aside", one.log);
    expect_hash(one.log, true, "whole");
    expect_hash(second, true, "whole"); // alone, too
    assert_int_equal(rename(second, aside), 0);
    file_copy(file_segment(other.log, 2), second);
    expect_hash(one.log, false, "damaged");
    expect_hash(second, true, "whole"); // alone it looks right
    assert_int_equal(rename(aside, second), 0);
    expect_hash(one.log, true, "whole");
    assert_int_equal(unlink(first), 0); // as a budget does
    expect_hash(one.log, true, "whole");
    files_close(&one);
    files_close(&other);
}

CASE(the_room_for_a_signature_has_a_limit) {
    static uint8_t payload[NET_LOG_BLOCK_BYTES_MAX], forged[8192];
    net_log_keyframe* keyframes = calloc(NET_LOG_INDEX_KEYFRAMES_MAX, sizeof *keyframes);
    net_log_index index = {.block_count = 3, .keyframes = keyframes};
    memset(&index.chain, 7, sizeof index.chain);
    const uint32_t size = net_log_index_write(&index, payload);
    assert_true(size < 128);
    const struct {
        uint32_t bytes;    // behind the keyframes; 64 are the hashes
        int32_t signature; // -1: no length
        bool is_read;
    } cases[] = {{0, -1, false},
                 {63, -1, false},
                 {64, -1, false},
                 {64, 0, true},
                 {64, 64, true},
                 {64, NET_LOG_SIGNATURE_BYTES_MAX, true},
                 {64, NET_LOG_SIGNATURE_BYTES_MAX + 1, false}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const uint32_t head = size - 1 - 65; // behind the length in front
        uint8_t body[4096] = {0};
        memcpy(body, payload + 1, head + cases[i].bytes);
        size_t used = head + cases[i].bytes;
        if (cases[i].signature >= 0) {
            used += base_varint_put(body + used, (uint64_t)cases[i].signature);
            used += (size_t)cases[i].signature;
        }
        size_t length = base_varint_put(forged, used);
        memcpy(forged + length, body, used);
        net_log_index read = {.keyframes = keyframes};
        assert_int_equal(net_log_index_read(&read, forged, length + used, 100), cases[i].is_read);
        assert_false(cases[i].is_read && net_log_index_read(&read, forged, length + used - 1, 100));
    }
    free(keyframes);
}

// One part, exactly one, and three parts.
const size_t sizes[] = {1, NET_LOG_PART_BYTES_MAX, NET_LOG_PART_BYTES_MAX + 1,
                        2 * NET_LOG_PART_BYTES_MAX + 77};

CASE_ROWS(log_files, files, files_open(files), files_close(files), i, BASE_COUNT(sizes),
          a_keyframe_has_the_bytes_that_were_saved) {
    net_log_file_config config = files_config_keyed(files, EVERY);
    const log_written written = files_write(&config, 24, sizes[i]);
    assert_ok(written.finished);
    assert_int_equal(written.counters.keyframes, 2);
    assert_int_equal(written.counters.keyframes_dropped, 0);
    net_log_reader* reader = files_reader(files->log);
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(reader, &count);
    assert_int_equal(count, 2);
    for (uint32_t k = 0; k < count; k++) {
        base_bytes save, wanted;
        base_bytes_init(&save, NULL);
        base_bytes_init(&wanted, NULL);
        assert_int_equal(keyframes[k].tick, (k + 1) * EVERY);
        files_save(&wanted, keyframes[k].tick, sizes[i]);
        assert_ok(net_log_keyframe_read(reader, &keyframes[k], &save));
        assert_int_equal(save.size, wanted.size);
        assert_memory_equal(save.data, wanted.data, wanted.size);
        base_bytes_deinit(&save);
        base_bytes_deinit(&wanted);
    }
    net_log_reader_destroy(reader);
    assert_int_equal(files_read_keyed(files->log, EVERY).ends, 24);
}

CASE(a_save_that_is_too_long_is_no_keyframe) {
    uint8_t* target = malloc(NET_LOG_BLOCK_BYTES_MAX);
    uint8_t* data = calloc(1, NET_LOG_PART_BYTES_MAX);
    assert_true(target && data);
    for (uint64_t bytes = NET_LOG_KEYFRAME_BYTES_MAX - 1; bytes <= NET_LOG_KEYFRAME_BYTES_MAX + 1;
         bytes++) {
        const uint32_t count = net_log_part_count(bytes);
        net_log_part part = {.number = count, .count = count, .data = data, .save_bytes = bytes};
        part.size = (size_t)(bytes - (uint64_t)(count - 1) * NET_LOG_PART_BYTES_MAX);
        const uint32_t size = net_log_part_write(&part, target);
        assert_int_equal(net_log_part_read(&part, target, size),
                         bytes <= NET_LOG_KEYFRAME_BYTES_MAX);
        assert_false(net_log_part_read(&part, target, size - 1));
    }
    free(data);
    free(target);
}

// It costs the keyframe, not the log, and is said once.
FILES_CASE(a_save_above_the_limit_is_left_out_and_said_once) {
    net_log_file_config config = files_config_keyed(files, EVERY);
    net_log_file* file = files_start(&config);
    files_ticks(file, 1, EVERY - 1, 20);
    base_bytes* save = net_log_file_begin_keyframe(file, EVERY);
    assert_non_null(save);
    assert_non_null(base_bytes_extend(save, NET_LOG_KEYFRAME_BYTES_MAX + 1));
    net_log_file_end_keyframe(file, EVERY);
    char text[256];
    assert_true(net_log_take_notice(file, text, sizeof text));
    assert_non_null(strstr(text, "the match after tick 10 has 67108865 bytes, and a keyframe at "
                                 "most 67108864: without it"));
    save = net_log_file_begin_keyframe(file, 2 * EVERY);
    assert_non_null(base_bytes_extend(save, NET_LOG_KEYFRAME_BYTES_MAX + 1));
    net_log_file_end_keyframe(file, 2 * EVERY);
    assert_false(net_log_take_notice(file, text, sizeof text));
    assert_int_equal(net_log_get_counters(file).keyframes_dropped, 2);
    assert_int_equal(net_log_get_counters(file).keyframes, 0);
    files_close_log(file, EVERY - 1);
}

CASE(the_distance_of_keyframes_is_in_seconds_and_whole_blocks) {
    static const struct {
        uint32_t seconds, rate, block, ticks;
    } rows[] = {{10, 60, 60, 600}, {1, 60, 60, 60},          {1, 1, 1, 1},
                {3, 7, 5, 25},     {3600, 240, 240, 864000}, {1, 240, 7, 245}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_int_equal(net_log_keyframe_ticks(rows[i].seconds, rows[i].rate, rows[i].block),
                         rows[i].ticks);
    assert_int_equal(net_log_file_config_default("x", 60).keyframe_ticks, 600);
}

// Of a log with one place of damage: what is lost lies between that place and the next keyframe.
static void expect_goes_on(const log_sum* self) {
    ecs_tick first = 1;
    while (first <= TICKS && self->has[first])
        first++;
    if (first > TICKS) return;
    assert_true(sum_is_reported(self));
    ecs_tick next = first;
    while (next <= TICKS && !self->has[next])
        next++;
    assert_true(next > TICKS ? TICKS - first < EVERY : next % EVERY == 1);
    assert_true(next - first <= EVERY);
    for (; next <= TICKS; next++)
        assert_true(self->has[next]);
    if (!self->info.is_cut) assert_int_equal(self->info.lost_ticks, TICKS - self->ends);
}

KEYED_CASE(a_changed_byte_costs_at_most_the_ticks_up_to_the_next_keyframe, 40) {
    static const uint8_t masks[] = {0x01, 0xFF};
    uint32_t lossy = 0;
    uint32_t changed = 0;
    for (size_t i = 0; i < self->size; i += test_step(i)) {
        uint8_t mask = masks[changed++ % BASE_COUNT(masks)];
        file_poke(self->files.log, i, self->bytes[i] ^ mask);
        log_sum got = files_read_keyed(self->files.log, EVERY);
        expect_goes_on(&got);
        lossy += got.ends < TICKS;
        file_poke(self->files.log, i, self->bytes[i]);
    }
    print_message("%u bytes changed, %u of them cost ticks\n", changed, lossy);
    assert_true(lossy > changed / 8);
}

// Blocks in another order, twice, or left out: nothing is made up, and what is missing is reported.
KEYED_CASE(shuffled_blocks_are_told, 40) {
    size_t places[64];
    uint32_t count = 0;
    net_log_block block;
    for (size_t at = 0; log_block_next(self->bytes, self->size, &at, &block);)
        places[count++] = at;
    places[count] = self->size;
    base_rng rng = base_rng_make(15, 3);
    for (uint32_t round = 0; round < 300; round++) {
        base_bytes made;
        base_bytes_init(&made, NULL);
        base_bytes_write(&made, self->bytes, places[1]);
        uint32_t wanted = 1;
        bool is_whole = true;
        for (uint32_t i = 1; i < count; i++) {
            uint32_t dice = base_rng_below(&rng, 20);
            uint32_t take = dice == 0 ? 1 + base_rng_below(&rng, count - 1) : i;
            is_whole = is_whole && take == i && dice != 1 && dice != 2;
            for (uint32_t k = 0; k < (dice == 1 ? 0u : dice == 2 ? 2u : 1u); k++)
                base_bytes_write(&made, self->bytes + places[take],
                                 places[take + 1] - places[take]);
            wanted++;
        }
        file_write(self->files.log, made.data, made.size);
        log_sum got = files_read_keyed(self->files.log, EVERY);
        if (is_whole) assert_int_equal(got.ends, TICKS);
        if (got.ends < TICKS) assert_true(sum_is_reported(&got) || got.info.last_tick < TICKS);
        base_bytes_deinit(&made);
    }
}

KEYED_CASE(a_damaged_start_costs_nothing_but_itself, 40) {
    net_log_block block;
    assert_true(net_log_block_header_read(&block, self->bytes + NET_LOG_PROLOGUE_BYTES));
    size_t start = NET_LOG_PROLOGUE_BYTES + NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    memset(self->bytes, 0, start);
    file_write(self->files.log, self->bytes, self->size);
    net_log_reader* reader = files_reader_of(self->files.log, NET_ERR_DAMAGED, NULL);
    assert_string_equal(net_log_reader_info(reader)->game, "pong");
    assert_int_equal(sum_of(reader, NET_OK).ends, TICKS);
    net_log_reader_destroy(reader);
    // A sector with the first ticks in it costs those too.
    memset(self->bytes, 0, 512);
    file_write(self->files.log, self->bytes, self->size);
    log_sum got = files_read_keyed(self->files.log, EVERY);
    assert_true(sum_is_reported(&got));
    assert_int_equal(got.ends, TICKS - EVERY);
}

// A block of records is lost up to the next keyframe; the others were read already.
KEYED_CASE(a_missing_byte_costs_no_other_block, 40) {
    net_log_block block;
    for (size_t at = 0; log_block_next(self->bytes, self->size, &at, &block) &&
                        block.type != NET_LOG_BLOCK_INDEX;) {
        const bool is_data = block.type == NET_LOG_BLOCK_DATA && block.first_tick < block.last_tick;
        uint8_t* copy = malloc(self->size);
        const size_t hole = at + NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes / 2;
        memcpy(copy, self->bytes, hole);
        memcpy(copy + hole, self->bytes + hole + 1, self->size - hole - 1);
        file_write(self->files.log, copy, self->size - 1);
        free(copy);
        const log_sum got = files_read_keyed(self->files.log, EVERY);
        const ecs_tick lost = is_data ? EVERY - (block.first_tick - 1) % EVERY : 0;
        assert_true(sum_is_reported(&got));
        assert_int_equal(got.ends, TICKS - lost);
        assert_int_equal(got.info.lost_ticks, lost);
    }
}
