// SPDX-License-Identifier: MIT
// Reading logs after disk faults, after crashes, and from untrusted sources: cut anywhere, changed
// anywhere, forged.
#include "log_files.h"

#include "scarce.h"

enum { TICKS = 14 }; // blocks end at ticks 5 and 10

/// A log in memory: closed, or as a killed server leaves it (then with its queue).
typedef struct sample {
    log_files files;
    uint8_t* log;
    size_t log_bytes;
    uint8_t* queue;
    size_t queue_bytes;
    log_sum whole;
} sample;

static void sample_open(sample* self, bool is_killed) {
    memset(self, 0, sizeof *self);
    files_open(&self->files);
    net_log_file_config config = files_config(&self->files);
    config.ring_bytes = 2048;
    net_log_file* file = files_start(&config);
    files_ticks(file, 1, TICKS, 0);
    if (is_killed) {
        // Read the files as they are now. The writer then continues with other files.
        self->log = file_read(self->files.log, &self->log_bytes);
        self->queue = file_read(self->files.queue, &self->queue_bytes);
    }
    files_close_log(file, TICKS);
    if (!is_killed) self->log = file_read(self->files.log, &self->log_bytes);
    file_write(self->files.log, self->log, self->log_bytes);
    if (is_killed) file_write(self->files.queue, self->queue, self->queue_bytes);
    self->whole = files_read(self->files.log);
    assert_ok(self->whole.result);
    assert_int_equal(self->whole.records, 2 * TICKS + !is_killed);
    assert_int_equal(self->whole.info.lost_bytes, 0);
}

static void sample_close(sample* self) {
    files_close(&self->files);
    free(self->log);
    free(self->queue);
}

#define SAMPLE_CASE(name, is_closed)                                                               \
    CASE_WITH(sample, self, sample_open(self, is_closed), sample_close(self), name)

/// Check that the records are a prefix of the whole log, and that the reader reports the missing
/// part.
static void expect_reported(const sample* self, const log_sum* sum) {
    if (!sum->has_reader) {
        assert_int_equal(sum->result, NET_ERR_DAMAGED);
        return;
    }
    assert_true(sum->records <= self->whole.records);
    assert_int_equal(sum->hash, self->whole.prefix[sum->records]);
    if (sum->records == self->whole.records) return;
    bool is_told = sum->result == NET_ERR_DAMAGED || (sum->info.is_cut && sum->info.lost_bytes > 0);
    assert_true(is_told);
}

SAMPLE_CASE(a_log_cut_at_any_byte_opens_to_its_last_whole_record, false) {
    uint64_t records = self->whole.records;
    for (size_t cut = self->log_bytes; cut > 0; cut -= test_step(cut)) {
        const size_t size = cut - 1;
        assert_int_equal(truncate(self->files.log, (off_t)size), 0);
        log_sum sum = files_read(self->files.log);
        assert_true(sum.records <= records);
        if (size == self->log_bytes - 1) assert_int_equal(sum.records, 20);
        records = sum.records;
        if (!sum.has_reader) {
            assert_int_equal(sum.result, NET_ERR_DAMAGED);
            continue;
        }
        assert_ok(sum.result);
        assert_true(sum.info.is_cut);
        assert_int_equal(sum.hash, self->whole.prefix[sum.records]);
        // The bytes after the last whole block are lost. A cut between two blocks loses nothing.
        assert_true(sum.info.lost_bytes < size);
        if (sum.records == 10) assert_int_equal(sum.info.last_tick, 5);
    }
    assert_int_equal(records, 0);
}

// Walk on to this record, or to the end: the cursor may stand within a block.
static void follow_records(net_log_reader* reader, net_log_cursor* cursor, uint64_t* records,
                           uint64_t until) {
    net_log_record record;
    while (*records < until && net_log_cursor_next(reader, cursor, &record)) {
        assert_int_equal(cursor->resumed, 0);
        (*records)++;
    }
    assert_false(cursor->has_failed);
}

// From any first piece, by pieces of any size: a reader has what a new one of the same bytes has.
SAMPLE_CASE(a_log_that_grows_is_followed_to_its_end, false) {
    for (size_t piece = 1; piece < self->log_bytes; piece += 1 + piece / 2 * test_step(piece)) {
        const char* file = file_name("%s/grows", self->files.folder);
        net_log_reader* reader = NULL;
        net_log_cursor cursor;
        uint64_t records = 0;
        for (size_t size = 0; size < self->log_bytes;) {
            size = size + piece < self->log_bytes ? size + piece : self->log_bytes;
            file_write(file, self->log, size);
            if (reader) {
                net_log_reader_follow(reader);
            } else {
                (void)!net_log_reader_create(NULL, file, NULL, &reader);
                if (!reader) continue;
                cursor = net_log_cursor_begin(reader);
            }
            const log_sum now = files_read(file);
            const net_log_info* info = net_log_reader_info(reader);
            const uint64_t until = now.records > 3 ? now.records - size % 4 : now.records;
            follow_records(reader, &cursor, &records, until);
            assert_true(records >= until && records <= now.records);
            assert_int_equal(info->last_tick, now.info.last_tick);
            assert_int_equal(info->is_closed, now.info.is_closed);
            assert_int_equal(info->keyframe_count, now.info.keyframe_count);
            assert_int_equal(info->file_bytes, size);
            assert_false(info->is_damaged);
        }
        assert_false(net_log_reader_info(reader)->is_cut);
        net_log_reader_follow(reader); // nothing is new
        follow_records(reader, &cursor, &records, UINT64_MAX);
        assert_int_equal(records, self->whole.records);
        net_log_reader_destroy(reader);
    }
}

static void change_every_byte(sample* self, const char* file, const uint8_t* data, size_t size,
                              uint8_t mask) {
    for (size_t i = 0; i < size; i += test_step(i)) {
        file_poke(file, i, data[i] ^ mask);
        log_sum sum = files_read(self->files.log);
        expect_reported(self, &sum);
        file_poke(file, i, data[i]);
    }
}

CASE(a_changed_byte_anywhere_in_a_log_is_told) {
    static const uint8_t masks[] = {0x01, 0x80, 0xFF};
    sample self;
    sample_open(&self, false);
    for (uint32_t i = 0; i < BASE_COUNT(masks); i++)
        change_every_byte(&self, self.files.log, self.log, self.log_bytes, masks[i]);
    sample_close(&self);
    sample_open(&self, true);
    change_every_byte(&self, self.files.log, self.log, self.log_bytes, 0x10);
    sample_close(&self);
}

SAMPLE_CASE(a_changed_byte_anywhere_in_a_queue_is_told_or_harmless, true) {
    // Change bytes up to the end of the ring. The pages between the numbers are unused, so a change
    // there has no effect.
    change_every_byte(self, self->files.queue, self->queue, self->queue_bytes, 0x01);
    for (size_t size = self->queue_bytes; size > 61; size -= 61) {
        assert_int_equal(truncate(self->files.queue, (off_t)(size - 61)), 0);
        log_sum sum = files_read(self->files.log);
        expect_reported(self, &sum);
        assert_ok(sum.result);
    }
}

SAMPLE_CASE(damage_inside_names_its_block_and_ticks, false) {
    net_log_block block;
    const size_t at = log_block_at(self->log, self->log_bytes, 2, &block); // ticks 6..10
    for (int part = 0; part < 2; part++) { // its header, then its bytes
        size_t place = at + (part == 0 ? 30 : NET_LOG_BLOCK_HEADER_BYTES + 3);
        self->log[place] ^= 4;
        file_write(self->files.log, self->log, self->log_bytes);
        net_log_reader* reader = files_reader_of(self->files.log, NET_OK, NULL);
        for (int i = 0; i < 2; i++) // told once
            assert_int_equal(net_log_reader_check(reader), NET_ERR_DAMAGED);
        assert_said("blocks 2..2, between tick 5 and tick 11");
        const net_log_info* info = net_log_reader_info(reader);
        assert_int_equal(info->damaged_blocks, 1);
        assert_int_equal(info->last_tick, TICKS);
        assert_int_equal(info->lost_ticks, TICKS - 5); // there is no keyframe
        assert_false(info->is_cut);
        assert_int_equal(said.count, 2);
        net_log_reader_destroy(reader);
        self->log[place] ^= 4;
    }
}

/// ---- made-up files ----

typedef struct forge {
    log_files files;
    net_log_packer packer;
    base_bytes bytes;
} forge;

static void forge_block(forge* self, const net_log_block* block, const void* payload, size_t size) {
    net_log_block copy = *block;
    size_t stored = net_log_packer_pack(&self->packer, &copy, payload, (uint32_t)size);
    base_bytes_write(&self->bytes, self->packer.stored, stored);
}

/// Open a forged log with `extra` after the fields of the header.
static void forge_open_with(forge* self, const uint8_t* extra, size_t extra_bytes) {
    files_open(&self->files);
    net_log_packer_init(&self->packer, NULL);
    base_bytes_init(&self->bytes, NULL);
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    base_bytes_write(&self->bytes, prologue, sizeof prologue);
    uint8_t header[256];
    size_t size = files_header(header + 1, sizeof header - 1);
    if (extra_bytes > 0) memcpy(header + 1 + size, extra, extra_bytes);
    size += extra_bytes;
    header[0] = (uint8_t)size;
    assert_true(size < 128);
    const net_log_block block = {
        .type = NET_LOG_BLOCK_HEADER, .identity = FILES_IDENTITY, .record_count = 1};
    forge_block(self, &block, header, size + 1);
}

static void forge_open(forge* self) {
    forge_open_with(self, NULL, 0);
}

static log_sum forge_read(forge* self) {
    file_write(self->files.log, self->bytes.data, self->bytes.size);
    return files_read(self->files.log);
}

static void forge_close(forge* self) {
    files_close(&self->files);
    net_log_packer_deinit(&self->packer);
    base_bytes_deinit(&self->bytes);
}

#define FORGE_CASE(name) CASE_WITH(forge, self, forge_open(self), forge_close(self), name)

/// Write the begin and the end of a tick. Each has 4 bytes with its length.
static size_t forge_tick(uint8_t* target, uint8_t tick) {
    const uint8_t data[] = {4, 0x0A, 2, 8, tick, 4, 0x12, 2, 8, tick};
    memcpy(target, data, sizeof data);
    return sizeof data;
}

static net_log_block data_block(uint64_t ordinal, uint64_t record, uint64_t tick) {
    return (net_log_block){.type = NET_LOG_BLOCK_DATA,
                           .identity = FILES_IDENTITY,
                           .record_count = 2,
                           .ordinal = ordinal,
                           .first_record = record,
                           .first_tick = tick,
                           .last_tick = tick};
}

FORGE_CASE(blocks_and_records_of_later_versions_are_skipped) {
    uint8_t tick[64];
    size_t size = forge_tick(tick, 1);
    net_log_block block = data_block(1, 1, 1);
    forge_block(self, &block, tick, size);
    block = data_block(2, 3, 1);
    block.type = 3;
    block.record_count = 1;
    forge_block(self, &block, "a keyframe, perhaps", 19);
    block = data_block(3, 3, 2);
    size = forge_tick(tick, 2);
    const uint8_t unknown[] = {3, 0x3A, 1, 7}; // field 5 of Record
    memcpy(tick + size, unknown, sizeof unknown);
    block.record_count = 3;
    forge_block(self, &block, tick, size + sizeof unknown);
    log_sum sum = forge_read(self);
    assert_ok(sum.result);
    assert_int_equal(sum.records, 5);
    assert_int_equal(sum.info.last_tick, 2);
    assert_int_equal(sum.info.block_count, 4);
    assert_int_equal(sum.info.lost_bytes, 1); // it has no end record and no queue
}

CASE_ROWS(forge, self, forge_open(self), forge_close(self), i, 3,
          unknown_records_in_a_row_have_a_limit) {
    const uint32_t count = NET_LOG_OTHERS_MAX - 1 + i;
    static const uint8_t unknown[] = {3, 0x3A, 1, 7}; // field 5 of Record
    base_bytes payload;
    uint8_t tick[64];
    base_bytes_init(&payload, NULL);
    for (uint32_t k = 0; k < count; k++)
        base_bytes_write(&payload, unknown, sizeof unknown);
    base_bytes_write(&payload, tick, forge_tick(tick, 1));
    net_log_block block = data_block(1, 1, 1);
    block.record_count = count + 2;
    forge_block(self, &block, payload.data, payload.size);
    assert_int_equal(forge_read(self).records, count <= NET_LOG_OTHERS_MAX ? count + 2 : 0);
    base_bytes_deinit(&payload);
}

static void keep_line(void* context, const char* line) {
    char* text = context;
    strncat(text, line, 1023 - strlen(text));
}

FORGE_CASE(a_dump_is_json_whatever_names_a_log_has) {
    // A player with such a name joins in tick 1; then come three records of a later version.
    static const uint8_t records[] = {
        15, 0x0A, 13, 8, 1, 0x1A, 9, 8, 1, 0x12, 5, 'a', '"', 'b', '\\', 'c', // begin with a join
        4,  0x12, 2,  8, 1,                                                   // end
        3,  0x3A, 1,  7, 3, 0x3A, 1, 7, 3, 0x3A, 1, 7,
    };
    net_log_block block = data_block(1, 1, 1);
    block.record_count = 5;
    forge_block(self, &block, records, sizeof records);
    assert_int_equal(forge_read(self).records, 5);
    char text[1024] = "";
    net_log_reader* reader = files_reader(self->files.log);
    assert_ok(net_log_dump(reader, NULL, keep_line, text));
    assert_non_null(strstr(text, "\"name\":\"a\\\"b\\\\c\""));
    assert_non_null(strstr(text, "{\"other\":{\"records\":3,"));
    net_log_reader_destroy(reader);
}

SAMPLE_CASE(two_logs_in_one_file_are_damage, false) {
    // The other log has an identity of its own.
    net_log_block block;
    base_bytes both;
    base_bytes_init(&both, NULL);
    base_bytes_write(&both, self->log, self->log_bytes);
    const size_t at = log_block_at(self->log, self->log_bytes, 0, &block);
    block.identity++;
    net_log_block_header_write(&block, self->log + at);
    base_bytes_write(&both, self->log, self->log_bytes);
    file_write(self->files.log, both.data, both.size);
    net_log_reader* reader =
        files_reader_of(self->files.log, NET_ERR_DAMAGED, "another log begins");
    assert_true(net_log_reader_info(reader)->is_damaged);
    assert_true(net_log_reader_info(reader)->is_closed);
    net_log_reader_destroy(reader);
    base_bytes_deinit(&both);
}

SAMPLE_CASE(bytes_between_two_blocks_are_damage_without_a_lost_block, false) {
    net_log_block block;
    const size_t at = log_block_at(self->log, self->log_bytes, 2, &block);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    base_bytes_write(&bytes, self->log, at);
    base_bytes_write(&bytes, "stray", 5);
    base_bytes_write(&bytes, self->log + at, self->log_bytes - at);
    file_write(self->files.log, bytes.data, bytes.size);
    log_sum sum = files_read(self->files.log);
    assert_int_equal(sum.result, NET_ERR_DAMAGED);
    assert_int_equal(sum.info.damaged_blocks, 0);
    assert_int_equal(sum.info.lost_bytes, 5);
    base_bytes_deinit(&bytes);
}

/// Read a forged log with `extra` in its header.
static void expect_header(const void* extra, size_t extra_bytes, net_result result,
                          const char* why) {
    forge self;
    forge_open_with(&self, extra, extra_bytes);
    uint8_t tick[64];
    size_t size = forge_tick(tick, 1);
    const net_log_block block = data_block(1, 1, 1);
    forge_block(&self, &block, tick, size);
    file_write(self.files.log, self.bytes.data, self.bytes.size);
    net_log_reader* reader = files_reader_of(self.files.log, result, why);
    assert_int_equal(reader != NULL, result == NET_OK);
    if (result == NET_ERR_VERSION) assert_int_equal(said.count, 1);
    net_log_reader_destroy(reader);
    forge_close(&self);
}

CASE(a_header_that_demands_unknown_features_is_refused_by_their_bits) {
    // Bits 0 to 8 but 2 are known: views decide, a part of a log, controls, a reload, a client's
    // record, files, a host, long events. The test tries every other bit, then headers with other
    // fields.
    for (uint32_t known = 0; known <= 511; known++) {
        const uint8_t extra[] = {
            14 << 3 | 1, (uint8_t)(known & 0xFB), (uint8_t)(known >> 8), 0, 0, 0, 0, 0, 0};
        expect_header(extra, sizeof extra, NET_OK, "");
    }
    for (uint32_t bit = 2; bit < 64; bit += bit == 2 ? 7 : 1) {
        uint8_t extra[9] = {14 << 3 | 1};
        extra[1 + bit / 8] = (uint8_t)(1u << bit % 8);
        expect_header(extra, sizeof extra, NET_ERR_VERSION,
                      file_name("later version (features 0x%llx): use shoal-replay of build "
                                "(unknown)",
                                1ull << bit));
    }
}

#define FEATURES(bits) "\x71" bits "\0\0\0\0\0\0\0" // field 14

CASE(a_header_of_another_version_is_refused_whatever_else_it_says) {
    static const struct {
        const char* extra; ///< with a byte behind it
        size_t size;
        net_result result;
        const char* why;
    } rows[] = {
#define ROW(extra, result, why) {extra, sizeof extra - 1, result, why}
        ROW(FEATURES("\x04") "\042\0039.1", NET_ERR_VERSION,
            "use shoal-replay of build 9.1 or a newer one"),
        ROW(FEATURES("\x04") FEATURES("\0"), NET_ERR_VERSION, "features 0x4"),
        ROW("\x70\x01", NET_ERR_DAMAGED, ""), // the field has another wire type
        // The reader skips an unknown field when no required feature needs it.
        ROW("\x78\x01", NET_OK, ""),
        // No reader accepts this rate. The operator must still get the version as the reason.
        ROW("\x08\x04\x40\x00", NET_ERR_VERSION, "of version 4, which this build does not read"),
        ROW("\x08\x03", NET_OK, ""),
        ROW("\x08\x01", NET_ERR_VERSION, "of version 1, which this build does not read"),
        ROW("\x08\x00", NET_ERR_DAMAGED, ""), ROW("\x40\x00", NET_ERR_DAMAGED, ""), // the rate
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        expect_header(rows[i].extra, rows[i].size, rows[i].result, rows[i].why);
}

CASE_ROWS(forge, self, forge_open(self), forge_close(self), fault, 9,
          a_block_that_does_not_follow_is_not_used) {
    net_log_block block = data_block(1, 1, 1);
    uint8_t tick[64];
    size_t size = forge_tick(tick, 1);
    if (fault == 1) block.ordinal = 2;
    if (fault == 2) block.first_record = 2;
    if (fault == 3) block.identity++;
    if (fault == 4) block.record_count = 3;
    if (fault == 5) block.first_tick = block.last_tick = 2;
    if (fault == 6) size = forge_tick(tick, 2) - 1; // torn record
    if (fault == 7) tick[4] = 2;                    // begin 2, end 1
    if (fault == 8) tick[0] = 0;                    // an empty record
    forge_block(self, &block, tick, size);
    log_sum sum = forge_read(self);
    // Without ordinal 1 a block is missing, but no record.
    assert_int_equal(sum.records, fault <= 1 ? 2 : 0);
    bool is_told = sum.info.is_damaged || sum.info.lost_bytes > 1; // 1: there is no queue
    assert_int_equal(is_told, fault != 0);
}

CASE(wrong_lengths_and_bombs_are_refused_before_memory_is_taken) {
    uint8_t header[NET_LOG_BLOCK_HEADER_BYTES];
    net_log_block block = data_block(1, 1, 1);
    net_log_block again;
    const uint32_t max = NET_LOG_BLOCK_BYTES_MAX;
    const struct {
        uint32_t stored, unpacked;
        uint8_t flags;
        bool is_right;
    } cases[] = {
        {1, 1, 0, true},
        {max, max, 0, true},
        {max, max, NET_LOG_FLAG_ZSTD, true},
        {0, 1, 1, false},
        {1, 0, 1, false},
        {max + 1, max, 1, false},
        {max, max + 1, 1, false},
        {1, 2, 0, false},
        {UINT32_MAX, UINT32_MAX, 0, false},
        {1, 1, 2, false},
        {1, 1, 3, false},
        // One byte of zstd unpacks to so many at most.
        {1, NET_LOG_FREE_BYTES + NET_LOG_RATIO_MAX - 1, NET_LOG_FLAG_ZSTD, true},
        {1, NET_LOG_FREE_BYTES + NET_LOG_RATIO_MAX, NET_LOG_FLAG_ZSTD, true},
        {1, NET_LOG_FREE_BYTES + NET_LOG_RATIO_MAX + 1, NET_LOG_FLAG_ZSTD, false},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        block.stored_bytes = cases[i].stored;
        block.unpacked_bytes = cases[i].unpacked;
        block.flags = cases[i].flags;
        net_log_block_header_write(&block, header);
        assert_int_equal(net_log_block_header_read(&again, header), cases[i].is_right);
    }
    // What is right but for one thing: records, version, checksum.
    for (uint32_t fault = 0; fault <= 3; fault++) {
        block = data_block(1, 1, 1);
        block.stored_bytes = block.unpacked_bytes = 1;
        if (fault == 1) block.record_count = 0;
        net_log_block_header_write(&block, header);
        if (fault == 2) header[8] = 2;
        const uint32_t crc = base_crc32c(0, header, sizeof header - 4);
        memcpy(header + sizeof header - 4, &crc, sizeof crc);
        if (fault == 3) header[24] = 2; // the ordinal
        assert_int_equal(net_log_block_header_read(&again, header), fault == 0);
    }
    // A megabyte of zeros is stored as it is: its ratio is no log's.
    net_log_packer packer;
    uint8_t* target = calloc(1, max);
    net_log_packer_init(&packer, NULL);
    (void)net_log_packer_pack(&packer, &block, target, max);
    assert_int_equal(block.flags, 0);
    assert_int_equal(block.stored_bytes, max);
    // Fewer zeros are packed, with columns and without. A header that states 100 bytes is refused.
    for (uint32_t i = 0; i < 2; i++) {
        block.type = i == 0 ? NET_LOG_BLOCK_DATA : NET_LOG_BLOCK_KEYFRAME;
        (void)net_log_packer_pack(&packer, &block, target, NET_LOG_FREE_BYTES);
        assert_true(block.stored_bytes < 1000);
        const uint8_t* stored = packer.stored + NET_LOG_BLOCK_HEADER_BYTES;
        assert_true(net_log_block_unpack(&block, stored, packer.columns, target));
        block.unpacked_bytes = 100;
        assert_false(net_log_block_unpack(&block, stored, packer.columns, target));
        block.unpacked_bytes = NET_LOG_FREE_BYTES + 1;
        assert_false(net_log_block_unpack(&block, stored, packer.columns, target));
    }
    free(target);
    net_log_packer_deinit(&packer);
}

FILES_CASE(what_is_no_log_is_refused_with_a_reason) {
    uint8_t prologue[NET_LOG_PROLOGUE_BYTES];
    net_log_prologue_write(prologue);
    prologue[8] = 4; // a whole file of a later version
    uint32_t crc = base_crc32c(0, prologue, 12);
    memcpy(prologue + 12, &crc, sizeof crc);
    const struct {
        const void* data;
        size_t size;
        const char* why;
        net_result result;
    } cases[] = {
        {"", 0, "too short", NET_ERR_DAMAGED},
        {"#!/bin/sh\necho hello\n", 21, "no event log", NET_ERR_DAMAGED},
        {prologue, sizeof prologue, "of version 4, which this build", NET_ERR_VERSION},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        file_write(files->log, cases[i].data, cases[i].size);
        assert_null(files_reader_of(files->log, cases[i].result, cases[i].why));
    }
    assert_null(files_reader_of("/nowhere", NET_ERR_IO, ""));
    assert_null(files_reader_of("/tmp", NET_ERR_IO, ""));
}

CASE(items_over_a_limit_are_no_records) {
    static const struct {
        uint8_t data[16];
        uint8_t size;
        bool is_read;
    } rows[] = {
        // begin{tick 1, inputs{client 0}}: every client has a number.
        {{0x0A, 4, 8, 1, 0x2A, 0}, 6, false},
        {{0x0A, 10, 8, 1, 0x1A, 6, 8, 1, 0x12, 2, 'a', 0}, 12, false}, // a name with a NUL
        {{0x0A, 8, 8, 1, 0x22, 4, 8, 1, 0x10, 65}, 10, false},         // message 65 of 64
        {{0x0A, 8, 8, 1, 0x22, 4, 8, 1, 0x10, 64}, 10, true},
        {{0x0A, 6, 8, 1, 0x22, 2, 8, 1}, 8, false}, // message 0: none
        {{0x0A, 2, 8, 1, 0x12, 2, 8, 1}, 8, false}, // one record with two kinds
        // leaves{client 1, reason 2^32}, and the largest one of 32 bits
        {{0x0A, 12, 8, 1, 0x12, 8, 8, 1, 0x10, 0x80, 0x80, 0x80, 0x80, 0x10}, 14, false},
        {{0x0A, 12, 8, 1, 0x12, 8, 8, 1, 0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, 14, true},
        {{0x0A, 8, 8, 1, 0x1A, 4, 8, 1, 0x18, 2}, 10, false}, // a bot is 0 or 1
        {{0x0A, 8, 8, 1, 0x1A, 4, 8, 1, 0x18, 1}, 10, true},
        {{0x0A, 11, 8, 1, 0x2A, 7, 8, 1, 0x1A, 1, 5, 0x20, 1}, 13, false}, // a repeat with bytes
        {{0x0A, 11, 8, 1, 0x2A, 7, 8, 1, 0x1A, 1, 5, 0x20, 0}, 13, true},
        {{0x0A, 8, 8, 1, 0x2A, 4, 8, 1, 0x18, 5}, 10, false}, // a payload that is a number
    };
    net_log_record record;
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_int_equal(net_log_record_read(&record, rows[i].data, rows[i].size), rows[i].is_read);
    for (uint32_t size = NET_INPUT_BYTES_MAX - 1; size <= NET_INPUT_BYTES_MAX + 1; size++) {
        uint8_t memory[600], payload[300] = {0};
        proto_pb_writer wire = {.data = memory, .capacity = sizeof memory};
        proto_pb_write_number(&wire, 1, 1);
        proto_pb_write_bytes(&wire, 3, payload, size);
        proto_pb_write_end(&wire, 0, 5);
        proto_pb_write_end(&wire, 0, 1);
        assert_int_equal(net_log_record_read(&record, memory, wire.size),
                         size <= NET_INPUT_BYTES_MAX);
    }
    static const uint32_t of_joins[][2] = {
        {5, NET_USER_BYTES_MAX}, {8, NET_RECORD_BYTES_MAX}, {9, NET_TRANSFER_BYTES_MAX}};
    for (uint32_t i = 0; i < 3 * BASE_COUNT(of_joins); i++) {
        static uint8_t memory[2 * NET_RECORD_BYTES_MAX], bytes[NET_RECORD_BYTES_MAX + 1];
        const uint32_t* field = of_joins[i / 3];
        proto_pb_writer wire = {.data = memory, .capacity = sizeof memory};
        proto_pb_write_number(&wire, 1, 1);
        proto_pb_write_bytes(&wire, field[0], bytes, field[1] - 1 + i % 3);
        proto_pb_write_end(&wire, 0, 3);
        proto_pb_write_end(&wire, 0, 1);
        assert_int_equal(net_log_record_read(&record, memory, wire.size), i % 3 < 2);
    }
    for (uint32_t size = NET_PLAYER_NAME_BYTES_MAX - 1; size <= NET_PLAYER_NAME_BYTES_MAX; size++) {
        uint8_t memory[600], name[NET_PLAYER_NAME_BYTES_MAX];
        proto_pb_writer wire = {.data = memory, .capacity = sizeof memory};
        memset(name, 'a', sizeof name);
        proto_pb_write_number(&wire, 1, 1);
        proto_pb_write_bytes(&wire, 2, name, size);
        proto_pb_write_end(&wire, 0, 3);
        proto_pb_write_end(&wire, 0, 1);
        assert_int_equal(net_log_record_read(&record, memory, wire.size),
                         size < NET_PLAYER_NAME_BYTES_MAX);
    }
}

CASE(a_state_and_a_close_follow_the_end_of_their_tick) {
    static const net_log_kind kinds[] = {NET_LOG_KIND_STATE, NET_LOG_KIND_CLOSE};
    for (uint32_t i = 0; i < 2 * 2 * 3; i++) {
        net_log_order order = {.tick = 5, .is_in_tick = i / 2 % 2 > 0, .last_end = 4};
        const net_log_record record = {.kind = kinds[i % 2], .tick = 4 + i / 4};
        const bool is_right = !order.is_in_tick && record.tick == 5;
        assert_int_equal(net_log_order_add(&order, &record), is_right);
    }
}
