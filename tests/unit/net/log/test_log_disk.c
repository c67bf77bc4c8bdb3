// SPDX-License-Identifier: MIT
// Disks that are full for a while, break, write in pieces, or lose power: with keyframes and
// segments, at every call. What the log says it has is there, and it says what is missing.
#include "log_files.h"

#include "base/rng.h"
#include "log/log_segment.h"

enum { TICKS = 60, EVERY = 10, RECORDS = 2 * TICKS + 1 };

/// A disk whose calls fail from one on, for a number of calls.
typedef struct disk {
    uint32_t writes, syncs;
    uint32_t fail_write, fail_sync, fail_for; ///< 0: never
    int error;                                ///< 0: short writes
    bool has_sync_failed, is_used_after;
} disk;

static bool is_due(uint32_t call, uint32_t from, uint32_t count) {
    return from > 0 && call >= from && call - from < count;
}

static ssize_t disk_write(void* context, int fd, const void* data, size_t size) {
    disk* self = context;
    self->is_used_after = self->is_used_after || self->has_sync_failed;
    if (!is_due(++self->writes, self->fail_write, self->fail_for)) return write(fd, data, size);
    if (self->error == 0) return write(fd, data, size > 1 ? size / 2 : size);
    // A disk that becomes full writes a part first.
    if (size > 2 && write(fd, data, size / 3) < 0) return -1;
    errno = self->error;
    return -1;
}

static int disk_sync(void* context, int fd) {
    disk* self = context;
    (void)fd; // the files are read back by this process: nothing has to reach a disk
    if (!is_due(++self->syncs, self->fail_sync, self->fail_for)) return 0;
    self->has_sync_failed = true;
    errno = self->error;
    return -1;
}

static net_log_file_config disk_config(const log_files* files, disk* with) {
    net_log_file_config config = files_config(files);
    config.keyframe_ticks = EVERY;
    config.ops = (net_log_file_ops){disk_write, disk_sync, with};
    return config;
}

static void keyed_tick(net_log_file* file, ecs_tick tick) {
    (void)files_begin(file, tick);
    base_bytes* save = net_log_file_begin_keyframe(file, tick);
    if (save) {
        for (uint32_t i = 0; i < 100; i++)
            base_bytes_write_u64(save, tick * 7919 + i * i * i);
        net_log_file_end_keyframe(file, tick);
    }
    (void)files_end(file, tick);
}

typedef struct outcome {
    net_result created, finished;
    net_log_counters counters;
    uint32_t notes;
    char failure[256];
    char note[256];
} outcome;

static outcome write_on(const net_log_file_config* config) {
    outcome self = {.finished = NET_OK};
    net_log_file* file;
    self.created = files_create(config, &file);
    if (self.created != NET_OK) return self;
    for (ecs_tick tick = 1; tick <= TICKS; tick++) {
        keyed_tick(file, tick);
        net_log_file_pump(file, false);
        self.notes += net_log_file_take_note(file, self.note, sizeof self.note);
    }
    files_end_log(file, TICKS);
    self.finished = net_log_file_finish(file);
    (void)net_log_file_take_failure(file, self.failure, sizeof self.failure);
    self.counters = net_log_file_counters(file);
    (void)net_log_file_destroy(file);
    return self;
}

typedef struct seen {
    uint32_t ends, records;
    ecs_tick last_end;
    bool is_prefix, is_told, is_closed;
    net_log_info info;
} seen;

static seen read_all(const char* log) {
    seen self = {.is_prefix = true};
    net_log_reader* reader;
    net_result result = net_log_reader_create(NULL, log, NULL, &reader);
    self.is_told = result != NET_OK;
    if (!reader) return self;
    net_log_cursor cursor = net_log_cursor_begin(reader);
    for (net_log_record record; net_log_cursor_next(reader, &cursor, &record); self.records++) {
        if (record.kind != NET_LOG_KIND_END) continue;
        assert_true(record.state_hash == base_hash64(&record.tick, sizeof record.tick, 0));
        assert_true(record.tick > self.last_end);
        self.is_prefix = self.is_prefix && record.tick == self.last_end + 1;
        self.last_end = record.tick;
        self.ends++;
    }
    self.info = *net_log_reader_info(reader);
    self.is_closed = self.info.is_closed;
    self.is_told = self.info.is_damaged || (self.info.is_cut && self.info.lost_bytes > 0);
    net_log_reader_destroy(reader);
    return self;
}

// Of logs in one file, and in segments.
static uint64_t segment_ticks(uint32_t round) {
    return round % 2 == 0 ? 0 : 2 * EVERY;
}

static void a_disk_that_is_full_for_a_while_costs_nothing(void** state) {
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t calls = 60;
        for (uint32_t k = 3; k <= calls; k++) { // the first two are the start
            log_files files;
            files_open(&files);
            disk with = {.fail_write = k, .fail_for = 3, .error = ENOSPC};
            net_log_file_config config = disk_config(&files, &with);
            config.segment_ticks = segment_ticks(round);
            outcome got = write_on(&config);
            // The last calls are those of the end: there is no later to try again.
            bool is_end = k + 3 > with.writes;
            if (!is_end) assert_string_equal(got.failure, "");
            seen self = read_all(files.log);
            assert_true(self.is_prefix);
            if (got.finished == NET_OK) {
                assert_int_equal(self.ends, TICKS);
                assert_true(self.is_closed && !self.is_told);
            }
            if (!is_end) assert_int_equal(got.finished, NET_OK);
            assert_int_equal(got.counters.ticks_lost, 0);
            calls = with.writes;
            files_close(&files);
        }
        print_message("%u calls\n", calls);
    }
}

static void a_disk_that_is_full_for_long_costs_the_ticks_that_found_no_room(void** state) {
    (void)state;
    uint32_t lossy = 0;
    for (uint32_t k = 3; k < 16; k++) {
        for (uint32_t calls = 5; calls <= 35; calls += 5) {
            log_files files;
            files_open(&files);
            disk with = {.fail_write = k, .fail_for = calls, .error = EDQUOT};
            net_log_file_config config = disk_config(&files, &with);
            config.ring_bytes = 1024; // six ticks
            outcome got = write_on(&config);
            seen self = read_all(files.log);
            if (got.finished == NET_OK) {
                assert_int_equal(self.ends + got.counters.ticks_lost, TICKS);
                assert_int_equal(self.info.lost_ticks, got.counters.ticks_lost);
                assert_true(self.is_closed);
                assert_int_equal(self.is_told, got.counters.ticks_lost > 0);
                assert_int_equal(got.notes, got.counters.ticks_lost > 0 ? 2 : 0);
            } else {
                assert_true(got.failure[0] != 0 && !self.is_closed);
            }
            if (got.counters.ticks_lost > 0 && got.finished == NET_OK) {
                assert_non_null(strstr(got.note, "the log goes on behind tick"));
                lossy++;
            }
            files_close(&files);
        }
    }
    print_message("%u logs with ticks left out\n", lossy);
    assert_true(lossy > 20);
}

static void a_broken_disk_ends_the_log_and_says_so_at_every_call(void** state) {
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        bool is_sync = round >= 2;
        uint32_t calls = 60;
        for (uint32_t k = 1; k <= calls; k++) {
            log_files files;
            files_open(&files);
            disk with = {.fail_write = is_sync ? 0 : k,
                         .fail_sync = is_sync ? k : 0,
                         .fail_for = UINT32_MAX,
                         .error = EIO};
            net_log_file_config config = disk_config(&files, &with);
            config.segment_ticks = segment_ticks(round);
            outcome got = write_on(&config);
            assert_false(with.is_used_after);
            if (got.created != NET_OK) {
                assert_int_equal(got.created, NET_ERR_DISK);
            } else {
                seen self = read_all(files.log);
                assert_true(self.is_prefix);
                // Only the index, or a new segment that could not be made, may fail in silence.
                if (got.finished == NET_OK)
                    assert_int_equal(self.ends, TICKS);
                else
                    assert_true(got.failure[0] != 0);
            }
            calls = is_sync ? with.syncs : with.writes;
            if (k > calls) break;
            files_close(&files);
        }
    }
}

static void short_writes_give_the_same_file(void** state) {
    (void)state;
    uint8_t* data[2];
    size_t size[2];
    for (uint32_t i = 0; i < 2; i++) {
        log_files files;
        files_open(&files);
        disk with = {.fail_write = i, .fail_for = UINT32_MAX};
        net_log_file_config config = disk_config(&files, &with);
        assert_int_equal(write_on(&config).finished, NET_OK);
        data[i] = file_read(files.log, &size[i]);
        files_close(&files);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);
    free(data[0]);
    free(data[1]);
}

// ---- power ----

/// All writes and syncs of a disk.
typedef struct journal {
    base_bytes bytes;
    uint64_t sizes[4096]; ///< of the file after each call
    uint64_t synced[4096];
    uint64_t records[4096]; ///< that the last sync acknowledged
    uint32_t calls;
    uint64_t written_records;
} journal;

static void journal_add(journal* self, bool is_sync) {
    uint32_t i = self->calls++;
    assert_true(i < BASE_COUNT(self->sizes));
    self->sizes[i] = self->bytes.size;
    self->synced[i] = is_sync ? self->bytes.size : i > 0 ? self->synced[i - 1] : 0;
    self->records[i] = is_sync ? self->written_records : i > 0 ? self->records[i - 1] : 0;
}

static ssize_t journal_write(void* context, int fd, const void* data, size_t size) {
    journal* self = context;
    net_log_block block;
    if (size > NET_LOG_BLOCK_HEADER_BYTES && net_log_block_header_read(&block, data) &&
        block.type == NET_LOG_BLOCK_DATA)
        self->written_records = block.first_record + block.record_count - 1;
    base_bytes_write(&self->bytes, data, size);
    journal_add(self, false);
    return write(fd, data, size);
}

static int journal_sync(void* context, int fd) {
    (void)fd;
    journal_add(context, true);
    return 0;
}

// The file as a power cut leaves it: what was synced is there; of the rest each sector is there, is
// zero, or is torn, and the file's length is any in between.
static size_t cut_power(const journal* self, uint32_t call, base_rng* rng, uint8_t* image) {
    enum { SECTOR = 512 };
    size_t size = (size_t)self->sizes[call], safe = (size_t)self->synced[call];
    memcpy(image, self->bytes.data, size);
    size_t length = safe + base_rng_below(rng, (uint32_t)(size - safe) + 1);
    if (base_rng_below(rng, 2) == 0) length = size;
    for (size_t at = safe; at < length;) {
        size_t end = (at / SECTOR + 1) * SECTOR;
        if (end > length) end = length;
        uint32_t fate = base_rng_below(rng, 4);
        if (fate == 1) memset(image + at, 0, end - at);
        if (fate == 2) {
            size_t torn = at + base_rng_below(rng, (uint32_t)(end - at));
            memset(image + torn, 0, end - torn);
        }
        at = end;
    }
    return length;
}

// SHOAL_POWER_POINTS=100000 for a long run.
static void a_power_cut_loses_nothing_that_a_sync_acknowledged(void** state) {
    (void)state;
    const char* text = getenv("SHOAL_POWER_POINTS");
    uint32_t points = text ? (uint32_t)strtoul(text, NULL, 10) : 3000;
    static journal self;
    log_files files;
    files_open(&files);
    base_bytes_init(&self.bytes, NULL);
    net_log_file_config config = files_config(&files);
    config.keyframe_ticks = EVERY;
    config.sync_ticks = 15; // three blocks
    config.ops = (net_log_file_ops){journal_write, journal_sync, &self};
    assert_int_equal(write_on(&config).finished, NET_OK);
    uint8_t* image = malloc(self.bytes.size);
    assert_non_null(image);
    base_rng rng = base_rng_make(20261122, 15);
    uint32_t torn = 0;
    for (uint32_t i = 0; i < points; i++) {
        uint32_t call = base_rng_below(&rng, self.calls);
        size_t size = cut_power(&self, call, &rng, image);
        file_replace(files.log, image, size);
        seen got = read_all(files.log);
        assert_true(got.records >= self.records[call] || self.synced[call] == 0);
        assert_true(got.records <= RECORDS);
        torn += got.records < RECORDS && size == self.bytes.size;
    }
    print_message("%u points, %u calls\n", points, self.calls);
    free(image);
    base_bytes_deinit(&self.bytes);
    files_close(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_disk_that_is_full_for_a_while_costs_nothing),
        TEST(a_disk_that_is_full_for_long_costs_the_ticks_that_found_no_room),
        TEST(a_broken_disk_ends_the_log_and_says_so_at_every_call),
        TEST(short_writes_give_the_same_file),
        TEST(a_power_cut_loses_nothing_that_a_sync_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
