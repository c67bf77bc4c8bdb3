// SPDX-License-Identifier: MIT
// A match goes on from its log: old and new log are one match, the old one stays as it is, and what
// is not the log's match does not go on. Signatures, also over both.
#include "match_made.h"
#include "playback/playback_record.h"

#include "log/log_read.h"
#include "log/log_segment.h"
#include "net/log_tools.h"

#include <sys/file.h>

enum { TICKS = 700 }; // a keyframe after 600

typedef struct joined {
    char file[128];
    net_match* match; ///< that goes on
    uint64_t state_hash, world_hash;
} joined;

static void keep_text(void* context, const char* file, uint32_t line, const char* text) {
    (void)file;
    (void)line;
    strncat(context, text, 250 - strlen(context));
}

static net_result resume(const playback_record* record, const char* file, ecs_tick tick,
                         net_log_reader** reader, net_match** match, char text[256]) {
    const base_reporter reporter = {keep_text, text};
    text[0] = 0;
    assert_ok(net_log_reader_create(NULL, file, &reporter, reader));
    return net_log_resume(*reader, record->table.module, tick, NULL, NULL, &reporter, match);
}

// Go on with a log from a tick, for so many ticks.
static void go_on(playback_record* record, const char* from, ecs_tick tick, uint32_t ticks,
                  const char* name, joined* out) {
    net_log_reader* reader;
    char text[256];
    *out = (joined){.match = NULL};
    snprintf(out->file, sizeof out->file, "%s/%s", record->files.folder, name);
    const ecs_tick last = net_match_tick(record->table.match);
    const bool is_kept = record->table.match != NULL;
    assert_ok(resume(record, from, tick, &reader, &out->match, text));
    assert_string_equal(text, "");
    const ecs_tick here = net_match_tick(out->match);
    assert_true(is_kept && last > 0 && (tick == 0 || here == tick));
    assert_int_equal(ecs_changes_get(net_match_world(out->match)).event_count, 0);
    net_log_options options = net_log_options_default();
    options.before = reader;
    const uint64_t identity = net_log_reader_info(reader)->identity;
    assert_ok(net_log_writer_create_as(NULL, out->file, &options, out->match, "test", 99, NULL,
                                       &record->writer));
    net_log_reader_destroy(reader);
    assert_true(net_log_writer_identity(record->writer) == identity);
    net_match_destroy(record->table.match);
    record->table.match = out->match;
    for (uint32_t i = 0; i < ticks; i++)
        record_tick(record);
    assert_int_equal(net_match_tick(out->match), here + ticks);
    out->state_hash = ecs_world_state_hash(net_match_world(out->match));
    out->world_hash = ecs_world_hash(net_match_world(out->match));
    net_log_append_close(record->writer, out->match);
    const net_log_counters counters = net_log_get_counters(record->writer);
    assert_int_equal(counters.ticks_lost, 0);
    assert_ok(net_log_writer_destroy(record->writer));
}

// The joined log is whole, and one match from `first` to `last`.
static void is_one_match(const playback_record* record, const joined* of, ecs_tick first,
                         ecs_tick last) {
    net_log_reader* reader = files_reader(of->file);
    const net_log_info* info = net_log_reader_info(reader);
    assert_true(info->first_tick == first && info->last_tick == last);
    assert_string_equal(net_log_reader_verdict(reader), "whole");
    assert_true(info->is_hashed && info->is_closed && info->lost_bytes == 0);
    net_verify_result verified;
    assert_ok(net_log_verify(reader, record->table.module, 0, NULL, NULL, NULL, &verified));
    assert_true(verified.ticks == last - first + 1);
    assert_true(verified.state_hash == of->state_hash && verified.world_hash == of->world_hash);
    net_log_reader_destroy(reader);
    reader = files_reader(of->file);
    net_log_state* state;
    assert_ok(net_log_state_create(reader, NULL, &state));
    assert_ok(net_log_state_seek(state, last));
    assert_true(net_log_state_is_whole(state));
    net_log_state_destroy(state);
    net_log_reader_destroy(reader);
}

PLAYED_CASE(a_log_goes_on_at_each_tick_and_both_are_one_match, TICKS) {
    static const ecs_tick at[] = {TICKS, 1, 59, 60, 61, 599, 600, 601, TICKS - 1};
    size_t before, after;
    uint8_t* old = file_read(record->files.log, &before);
    for (uint32_t i = 0; i < BASE_COUNT(at); i++) {
        char name[32];
        joined of;
        snprintf(name, sizeof name, "%u.slog", (unsigned)i);
        go_on(record, record->files.log, i == 0 ? 0 : at[i], 130, name, &of);
        is_one_match(record, &of, 1, at[i] + 130);
    }
    uint8_t* now = file_read(record->files.log, &after);
    assert_true(before == after && memcmp(old, now, before) == 0);
    free(old);
    free(now);
}

PLAYED_CASE(a_joined_log_goes_on_too, 100) {
    joined first, second, third;
    go_on(record, record->files.log, 0, 50, "b.slog", &first);
    go_on(record, first.file, 0, 50, "c.slog", &second);
    is_one_match(record, &second, 1, 200);
    go_on(record, second.file, 80, 20, "d.slog", &third);
    is_one_match(record, &third, 1, 100);
    is_one_match(record, &second, 1, 200);
}

PLAYED_CASE(a_log_that_goes_on_is_cut_into_segments, 100) {
    net_log_reader* reader;
    joined of = {.match = NULL};
    char text[256], name[160];
    assert_ok(resume(record, record->files.log, 0, &reader, &of.match, text));
    net_match_destroy(record->table.match);
    record->table.match = of.match;
    net_log_options options = net_log_options_default();
    options.before = reader;
    options.segments.seconds_max = 10;
    options.segments.kept_max = 2;
    snprintf(of.file, sizeof of.file, "%s/b.slog", record->files.folder);
    assert_ok(net_log_writer_create_as(NULL, of.file, &options, of.match, "test", 99, NULL,
                                       &record->writer));
    net_log_reader_destroy(reader);
    for (uint32_t i = 0; i < 1300; i++)
        record_tick(record);
    of.state_hash = ecs_world_state_hash(net_match_world(of.match));
    of.world_hash = ecs_world_hash(net_match_world(of.match));
    net_log_append_close(record->writer, of.match);
    assert_ok(net_log_writer_finish(record->writer));
    const net_log_counters counters = net_log_get_counters(record->writer);
    assert_int_equal(counters.segments_closed, 1); // 100..1200; the next keyframe is too young
    assert_int_equal(counters.segments_deleted, 0);
    assert_ok(net_log_writer_destroy(record->writer));
    is_one_match(record, &of, 1, 1400);
    // Without its begin it is a later part, as any log.
    assert_true(net_log_segment_name(name, sizeof name, of.file, 1));
    assert_int_equal(remove(name), 0);
    is_one_match(record, &of, 101, 1400);
    assert_true(net_log_segment_name(name, sizeof name, of.file, 2));
    assert_int_equal(remove(name), 0);
    is_one_match(record, &of, 1201, 1400);
}

// Writes that the disk has no room for.
static ssize_t write_some(void* context, int fd, const void* data, size_t size) {
    uint32_t* refused = context;
    if (*refused == 0) return write(fd, data, size);
    --*refused;
    errno = ENOSPC;
    return -1;
}

// The log goes on when there is room; the ticks until then are missing, and the match went on.
PLAYED_CASE(a_disk_that_is_full_at_the_start_is_waited_for, 100) {
    net_log_reader* reader;
    joined of = {.match = NULL};
    char text[256];
    uint32_t refused = 2;
    assert_ok(resume(record, record->files.log, 0, &reader, &of.match, text));
    net_match_destroy(record->table.match);
    record->table.match = of.match;
    net_log_options options = net_log_options_default();
    options.before = reader;
    options.is_manual = true;
    options.ops.write = write_some;
    options.ops.context = &refused;
    snprintf(of.file, sizeof of.file, "%s/b.slog", record->files.folder);
    assert_ok(net_log_writer_create_as(NULL, of.file, &options, of.match, "test", 99, NULL,
                                       &record->writer));
    net_log_reader_destroy(reader);
    assert_false(file_exists(of.file));
    for (uint32_t i = 0; i < 200; i++) {
        record_tick(record);
        net_log_pump(record->writer);
    }
    assert_true(file_exists(of.file));
    net_log_append_close(record->writer, of.match);
    assert_ok(net_log_writer_destroy(record->writer));
    reader = files_reader(of.file);
    assert_string_equal(net_log_reader_verdict(reader), "damaged"); // ticks are missing
    const net_log_info info = *net_log_reader_info(reader);
    assert_true(info.segment_count == 2 && info.first_tick == 1 && info.last_tick == 300);
    assert_true(info.lost_ticks > 0 && info.lost_ticks <= 60 && info.lost_bytes == 0);
    net_verify_result verified;
    net_log_reader_destroy(reader);
    reader = files_reader(of.file);
    assert_ok(net_log_verify(reader, record->table.module, 0, NULL, NULL, NULL, &verified));
    assert_true(verified.ticks == 300 - info.lost_ticks);
    net_log_reader_destroy(reader);
}

// A slice begins with a keyframe.
PLAYED_CASE(a_part_of_a_log_goes_on, TICKS) {
    joined of;
    char slice[128];
    net_log_reader* reader = files_reader(record->files.log);
    snprintf(slice, sizeof slice, "%s/slice.slog", record->files.folder);
    const net_log_copy_config config = {.output = slice, .first = 640};
    net_log_copy_result copied;
    assert_ok(net_log_copy(reader, &config, NULL, &copied));
    net_log_reader_destroy(reader);
    go_on(record, slice, 0, 30, "b.slog", &of);
    is_one_match(record, &of, 601, TICKS + 30);
}

// As kill -9 leaves it: FILE and FILE.queue.
PLAYED_CASE(a_log_that_was_not_closed_goes_on_behind_its_queue, 100) {
    joined of;
    char file[128], name[160];
    size_t log_bytes, queue_bytes;
    snprintf(file, sizeof file, "%s/killed.slog", record->files.folder);
    snprintf(name, sizeof name, "%s.queue", file);
    net_log_options options = net_log_options_default();
    options.is_manual = true;
    net_match_destroy(record->table.match);
    record->table.match = match_made(record->table.module, (match_wanted){0});
    assert_ok(net_log_writer_create_as(NULL, record->files.log, &options, record->table.match,
                                       "test", 1, NULL, &record->writer));
    for (uint32_t i = 0; i < 150; i++) {
        record_tick(record);
        net_log_pump(record->writer);
    }
    uint8_t* log = file_read(record->files.log, &log_bytes);
    uint8_t* queue = file_read(record->files.queue, &queue_bytes);
    file_write(file, log, log_bytes);
    file_write(name, queue, queue_bytes);
    free(log);
    free(queue);
    // While its writer lives the log is its own.
    net_log_reader* reader;
    net_match* match;
    char text[256];
    assert_int_equal(resume(record, record->files.log, 0, &reader, &match, text), NET_ERR_CLOSED);
    assert_non_null(strstr(text, "a server writes this log now"));
    assert_null(match);
    net_log_reader_destroy(reader);
    assert_ok(net_log_writer_destroy(record->writer));
    go_on(record, file, 0, 40, "b.slog", &of);
    is_one_match(record, &of, 1, 190);
}

// The new log may have the name of the old one, which moves.
PLAYED_CASE(a_log_goes_on_under_its_own_name, 100) {
    joined of;
    char old[128];
    go_on(record, record->files.log, 60, 40, "a.slog", &of);
    is_one_match(record, &of, 1, 100);
    snprintf(old, sizeof old, "%s.1", record->files.log);
    net_log_reader* reader = files_reader(old);
    assert_int_equal(net_log_reader_info(reader)->last_tick, 100);
    assert_string_equal(net_log_reader_verdict(reader), "whole");
    net_log_reader_destroy(reader);
}

static void is_refused(const playback_record* record, const char* file, const net_module* module,
                       ecs_tick tick, net_result expected, const char* why) {
    char text[256] = "";
    const base_reporter reporter = {keep_text, text};
    net_log_reader* reader;
    net_match* match;
    assert_ok(net_log_reader_create(NULL, file, &reporter, &reader));
    assert_int_equal(net_log_resume(reader, module ? module : record->table.module, tick, NULL,
                                    NULL, &reporter, &match),
                     expected);
    assert_null(match);
    if (!strstr(text, why)) print_error("%s\n", text);
    assert_non_null(strstr(text, why));
    net_log_reader_destroy(reader);
}

static record_act take_other_row_code(void* context, uint32_t number, const net_log_block* block,
                                      uint8_t* payload) {
    static const uint8_t field[] = {15 << 3, NET_LOG_ROW_CODE};
    (void)context;
    (void)number;
    if (block->type != NET_LOG_BLOCK_HEADER) return RECORD_KEEP;
    for (size_t i = 0; i + sizeof field <= block->unpacked_bytes; i++)
        if (memcmp(payload + i, field, sizeof field) == 0) payload[i + 1]--;
    return RECORD_CHANGE;
}

PLAYED_CASE(what_cannot_go_on_is_refused_with_the_reason, TICKS) {
    const char* log = record->files.log;
    char other[128];
    is_refused(record, log, NULL, TICKS + 1, NET_ERR_UNKNOWN,
               "tick 701 is not in the log: it has 1..700");
    snprintf(other, sizeof other, "%s/b.slog", record->files.folder);
    net_log_reader* reader = files_reader(log);
    const net_log_copy_config config = {.output = other, .first = 640};
    net_log_copy_result copied;
    assert_ok(net_log_copy(reader, &config, NULL, &copied));
    net_log_reader_destroy(reader);
    is_refused(record, other, NULL, 600, NET_ERR_UNKNOWN,
               "tick 600 is not in the log: it has 601..700");
    remove(other);
    record_forge(record, other, take_other_row_code, NULL);
    is_refused(record, other, NULL, 0, NET_ERR_VERSION,
               "its values are in row code 4, and this build writes 5: go on with build test");
    net_module* module;
    char* text = table_read_file(BREAKOUT_BLK);
    char whole[16384];
    (void)snprintf(whole, sizeof whole, "%s\nlamp { }\n", text);
    free(text);
    assert_ok(net_module_wrap(breakout_module(), whole, "breakout.blk", NULL, &module));
    is_refused(record, log, module, 0, NET_ERR_SCHEMA, "another one than the log's");
    net_module_close(module);
    // A log without a tick.
    net_match* match = match_made(record->table.module, (match_wanted){0});
    net_log_writer* writer;
    assert_ok(net_log_writer_create(NULL, other, match, "test", 1, NULL, &writer));
    assert_ok(net_log_writer_destroy(writer));
    net_match_destroy(match);
    is_refused(record, other, NULL, 0, NET_ERR_UNKNOWN, "no whole tick");
}

CASE(a_run_that_differs_from_its_log_does_not_go_on) {
    playback_record* record = record_make_as((record_wanted){.ticks = 100, .end_tick = 50});
    is_refused(
        record, record->files.log, NULL, 0, NET_ERR_DIVERGED,
        "differs from the log in tick 50: shoal-replay verify says more; the match can go on "
        "from tick 49: --at 49");
    joined of;
    record->wanted.end_tick = 0;
    go_on(record, record->files.log, 49, 30, "b.slog", &of);
    is_one_match(record, &of, 1, 79);
    record_free(record);
}

static record_act drop_block(void* context, uint32_t number, const net_log_block* block,
                             uint8_t* payload) {
    (void)number;
    (void)payload;
    const ecs_tick* tick = context;
    return block->type == NET_LOG_BLOCK_DATA && block->first_tick == *tick ? RECORD_DROP
                                                                           : RECORD_KEEP;
}

PLAYED_CASE(behind_damage_the_joined_log_begins_with_a_keyframe, TICKS) {
    joined of;
    char file[128], text[256];
    ecs_tick missing = 121;
    snprintf(file, sizeof file, "%s/damaged.slog", record->files.folder);
    record_forge(record, file, drop_block, &missing);
    is_refused(record, file, NULL, 121, NET_ERR_UNKNOWN,
               "tick 121 cannot be read: the log is damaged there; the match can go on from tick "
               "120: --at 120");
    go_on(record, file, 120, 10, "b.slog", &of);
    is_one_match(record, &of, 1, 130);
    net_log_reader* reader;
    assert_ok(resume(record, file, 650, &reader, &of.match, text));
    net_match_destroy(record->table.match);
    record->table.match = of.match;
    net_log_options options = net_log_options_default();
    options.before = reader;
    snprintf(of.file, sizeof of.file, "%s/c.slog", record->files.folder);
    assert_ok(net_log_writer_create_as(NULL, of.file, &options, of.match, "test", 99, NULL,
                                       &record->writer));
    net_log_reader_destroy(reader);
    record_tick(record);
    of.state_hash = ecs_world_state_hash(net_match_world(of.match));
    of.world_hash = ecs_world_hash(net_match_world(of.match));
    net_log_append_close(record->writer, of.match);
    assert_ok(net_log_writer_destroy(record->writer));
    is_one_match(record, &of, 601, 651);
}

// ---- signatures ----

typedef struct signer {
    playback_record* record;
    net_log_secret_key key;
    net_log_public_key public_key;
} signer;

// A signed log in segments of 10 s.
static void sign(signer* self, uint32_t ticks) {
    self->record = record_make(1);
    net_log_key_make(&self->key, &self->public_key);
    net_match_config config = net_match_config_default(self->record->table.module);
    config.role = NET_ROLE_SERVER;
    net_match_destroy(self->record->table.match);
    assert_ok(net_match_create(&config, NULL, &self->record->table.match));
    files_clear(&self->record->files);
    net_log_options options = net_log_options_default();
    options.sign_key = &self->key;
    options.segments.seconds_max = 10;
    assert_ok(net_log_writer_create_as(NULL, self->record->files.log, &options,
                                       self->record->table.match, "test", 1, NULL,
                                       &self->record->writer));
    for (uint32_t i = 0; i < ticks; i++)
        record_tick(self->record);
    net_log_append_alive(self->record->writer, NET_IDLE_SETTLING); // in front of no tick
    net_log_append_close(self->record->writer, self->record->table.match);
    assert_ok(net_log_writer_destroy(self->record->writer));
}

static net_log_signed check_signed_behind(const char* file, const net_log_public_key* key,
                                          const net_log_signed* before) {
    net_log_reader* reader;
    net_log_signed found;
    (void)!net_log_reader_create(NULL, file, NULL, &reader);
    assert_non_null(reader);
    assert_ok(net_log_reader_check_signed(reader, key, before, &found));
    net_log_reader_destroy(reader);
    return found;
}

static net_log_signed check_signed(const char* file, const net_log_public_key* key) {
    return check_signed_behind(file, key, NULL);
}

static uint64_t first_ordinal(const char* file) {
    size_t size;
    net_log_block block;
    uint8_t* log = file_read(file, &size);
    assert_true(net_log_block_header_read(&block, log + NET_LOG_PROLOGUE_BYTES));
    const size_t at = NET_LOG_PROLOGUE_BYTES + NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
    assert_true(net_log_block_header_read(&block, log + at));
    free(log);
    return block.ordinal;
}

#define SIGNED_CASE(name, ticks)                                                                   \
    CASE_WITH(signer, self, sign(self, ticks), record_free(self->record), name)

SIGNED_CASE(a_log_is_signed_to_its_close, 1300) {
    net_log_signed found = check_signed(self->record->files.log, &self->public_key);
    assert_true(found.is_signed && found.has_signature && !found.is_wrong && !found.is_part);
    assert_int_equal(found.last_tick, 1300);
    // Each segment is one too, and says that it is a part.
    char name[128];
    assert_true(net_log_segment_name(name, sizeof name, self->record->files.log, 2));
    found = check_signed(name, &self->public_key);
    assert_true(found.is_signed && found.is_part);
    assert_int_equal(found.last_tick, 1200);
    net_log_public_key other;
    net_log_secret_key secret;
    net_log_key_make(&secret, &other);
    found = check_signed(self->record->files.log, &other);
    assert_true(!found.is_signed && found.has_signature && found.is_wrong);
    assert_int_equal(found.first_block, 1);
    assert_int_equal(found.last_tick, 0);
}

SIGNED_CASE(a_cut_log_is_signed_up_to_its_last_index, 1300) {
    const char* log = self->record->files.log;
    struct stat status;
    assert_int_equal(stat(log, &status), 0);
    assert_int_equal(truncate(log, status.st_size - 1), 0);
    const net_log_signed found = check_signed(log, &self->public_key);
    assert_true(!found.is_signed && found.has_signature && !found.is_wrong);
    assert_int_equal(found.last_tick, 1200);
    assert_int_equal(found.first_block, first_ordinal(log));
}

SIGNED_CASE(a_segment_that_is_missing_or_exchanged_ends_what_is_signed, 1300) {
    char name[128], other[160];
    net_log_signed found;
    assert_true(net_log_segment_name(name, sizeof name, self->record->files.log, 2));
    snprintf(other, sizeof other, "%s.kept", name);
    assert_int_equal(rename(name, other), 0);
    found = check_signed(self->record->files.log, &self->public_key);
    assert_true(!found.is_signed && found.is_wrong);
    assert_int_equal(found.last_tick, 600);
    assert_int_equal(found.first_block, first_ordinal(self->record->files.log));
    assert_int_equal(rename(other, name), 0);
    // Without the first one the log is a later part: all of that is signed.
    assert_true(net_log_segment_name(other, sizeof other, self->record->files.log, 1));
    const net_log_signed first = check_signed(other, &self->public_key);
    assert_true(first.is_signed && !first.is_part);
    remove(other);
    found = check_signed(self->record->files.log, &self->public_key);
    assert_true(found.is_signed && found.is_part);
    // Behind a reload a part follows what ends where it begins, and nothing else.
    const net_log_signed second = check_signed(name, &self->public_key);
    found = check_signed_behind(self->record->files.log, &self->public_key, &first);
    assert_true(found.is_signed && !found.is_part);
    found = check_signed_behind(self->record->files.log, &self->public_key, &second);
    assert_true(found.is_signed && found.is_part);
}

SIGNED_CASE(a_copy_is_not_signed_and_a_log_that_goes_on_is, 700) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s/copy.slog", self->record->files.folder);
    net_log_reader* reader = files_reader(self->record->files.log);
    net_log_copy_result copied;
    assert_ok(net_log_copy(reader, &(net_log_copy_config){.output = copy}, NULL, &copied));
    net_log_reader_destroy(reader);
    net_log_signed found = check_signed(copy, &self->public_key);
    assert_true(!found.is_signed && !found.has_signature);
    assert_int_equal(found.first_block, 1);
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        net_match* match;
        char text[256], file[128];
        snprintf(file, sizeof file, "%s/%u.slog", self->record->files.folder, is_signed);
        assert_ok(resume(self->record, self->record->files.log, 650, &reader, &match, text));
        net_match_destroy(self->record->table.match);
        self->record->table.match = match;
        net_log_options options = net_log_options_default();
        options.before = reader;
        options.sign_key = is_signed ? &self->key : NULL;
        assert_ok(net_log_writer_create_as(NULL, file, &options, match, "test", 99, NULL,
                                           &self->record->writer));
        net_log_reader_destroy(reader);
        for (uint32_t i = 0; i < 20; i++)
            record_tick(self->record);
        net_log_append_close(self->record->writer, match);
        assert_ok(net_log_writer_destroy(self->record->writer));
        found = check_signed(file, &self->public_key);
        assert_int_equal(found.is_signed, is_signed);
        assert_int_equal(found.last_tick, is_signed ? 670 : 0);
    }
}

// Another input with right checksums, as who can write the file makes it without the key.
static record_act change_input(void* context, uint32_t number, const net_log_block* block,
                               uint8_t* payload) {
    bool* is_changed = context;
    (void)number;
    if (*is_changed || block->type != NET_LOG_BLOCK_DATA || block->first_tick < 60)
        return RECORD_KEEP;
    base_reader bytes = base_reader_make(payload, block->unpacked_bytes);
    while (!*is_changed && base_reader_left(&bytes) > 0) {
        size_t size, offset = 0;
        net_log_record record;
        net_log_item item;
        const uint8_t* data = net_log_next_span(&bytes, &size);
        assert_true(data && net_log_record_read(&record, data, size));
        while (net_log_item_next(&record, NET_LOG_ITEM_INPUT, &offset, &item) && !*is_changed) {
            if (item.payload_bytes < 2) continue;
            payload[item.payload - payload + item.payload_bytes - 1] ^= 1;
            *is_changed = true;
        }
    }
    return *is_changed ? RECORD_CHANGE : RECORD_KEEP;
}

// The running hash again, in the index: the signature stays what it was.
static void hash_again(const char* file) {
    size_t size;
    uint8_t* log = file_read(file, &size);
    uint8_t* payload = calloc(1, NET_LOG_BLOCK_BYTES_MAX);
    net_log_chain chain = {.before = {0}};
    net_log_block block;
    net_log_packer packer;
    assert_true(payload && net_log_packer_init(&packer, NULL));
    size_t at = NET_LOG_PROLOGUE_BYTES;
    for (;; at += NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes) {
        assert_true(at < size && net_log_block_header_read(&block, log + at));
        if (block.type == NET_LOG_BLOCK_INDEX) break;
        net_log_chain_add(&chain, log + at, NET_LOG_BLOCK_HEADER_BYTES + block.stored_bytes, NULL,
                          0);
    }
    net_log_chain_end(&chain);
    assert_true(net_log_block_unpack(&block, log + at + NET_LOG_BLOCK_HEADER_BYTES, packer.columns,
                                     payload));
    // Total, length and signature are the end of it.
    memcpy(payload + block.unpacked_bytes - NET_LOG_SIGNATURE_BYTES - 1 - NET_LOG_HASH_BYTES,
           chain.total, NET_LOG_HASH_BYTES);
    const size_t bytes = net_log_packer_pack(&packer, &block, payload, block.unpacked_bytes);
    uint8_t* whole = malloc(at + bytes);
    assert_non_null(whole);
    memcpy(whole, log, at);
    memcpy(whole + at, packer.stored, bytes);
    file_write(file, whole, at + bytes);
    net_log_packer_deinit(&packer);
    free(whole);
    free(payload);
    free(log);
}

SIGNED_CASE(a_changed_input_with_right_checksums_is_not_signed, 300) {
    char forged[128];
    bool is_changed = false;
    snprintf(forged, sizeof forged, "%s/forged.slog", self->record->files.folder);
    record_forge(self->record, forged, change_input, &is_changed);
    assert_true(is_changed);
    hash_again(forged);
    net_log_reader* reader = files_reader(forged);
    assert_string_equal(net_log_reader_verdict(reader), "whole"); // nothing else shows it
    assert_true(net_log_reader_info(reader)->is_hashed);
    net_log_reader_destroy(reader);
    const net_log_signed found = check_signed(forged, &self->public_key);
    assert_true(!found.is_signed && found.is_wrong);
    assert_int_equal(found.first_block, 1);
    // With what was signed put back it is signed: the same way leads to a right signature.
    char same[128];
    is_changed = true; // nothing is
    snprintf(same, sizeof same, "%s/same.slog", self->record->files.folder);
    record_forge(self->record, same, change_input, &is_changed);
    hash_again(same);
    assert_true(check_signed(same, &self->public_key).is_signed);
}

CASE(keys_are_lines_of_text) {
    net_log_secret_key key, again;
    net_log_public_key public_key, read;
    char text[NET_LOG_KEY_TEXT_BYTES], id[NET_LOG_KEY_ID_BYTES];
    net_log_key_make(&key, &public_key);
    net_log_key_print(&key, text);
    assert_true(net_log_key_parse(text, strlen(text), &again));
    assert_memory_equal(&again, &key, sizeof key);
    assert_false(net_log_public_key_parse(text, strlen(text), &read));
    net_log_public_key_print(&public_key, text);
    assert_true(net_log_public_key_parse(text, strlen(text), &read));
    assert_memory_equal(&read, &public_key, sizeof read);
    assert_false(net_log_key_parse(text, strlen(text), &again));
    read = net_log_key_public(&key);
    assert_memory_equal(&read, &public_key, sizeof read);
    net_log_key_id(&public_key, id);
    assert_int_equal(strlen(id), 16);
    assert_memory_equal(id, strrchr(text, ' ') + 1, 16);
    for (size_t size = 0; size + 1 < strlen(text); size++)
        assert_false(net_log_public_key_parse(text, size, &read));
    text[20] = 'x';
    assert_false(net_log_public_key_parse(text, strlen(text), &read));
}
