// SPDX-License-Identifier: MIT
// A match goes on from its log: old and new log are one match, the old one stays as it is, and what
// is not the log's match does not go on. Signatures, also over both.
#include "playback/playback_record.h"

enum { TICKS = 700 }; // a keyframe after 600

/// A log that goes on, and its match at the end.
typedef struct joined {
    const char* file;
    uint64_t state_hash, world_hash;
} joined;

static net_match* resume(const playback_record* record, const char* file, ecs_tick tick,
                         net_log_reader** reader) {
    net_match* match;
    const base_reporter* reporter = hear();
    assert_ok(net_log_reader_create(NULL, file, reporter, reader));
    assert_ok(net_log_resume(*reader, record->table.module, tick, NULL, NULL, reporter, &match));
    assert_int_equal(said.count, 0);
    assert_int_equal(ecs_changes_get(net_match_world(match)).event_count, 0);
    return match;
}

// Go on with a log from a tick, 0: its last one, with no tick yet. `options` may be NULL.
static joined begin_on(playback_record* record, const char* from, ecs_tick tick, const char* name,
                       const net_log_options* wanted) {
    net_log_reader* reader;
    const joined out = {.file = file_name("%s/%s", record->files.folder, name)};
    net_match* match = resume(record, from, tick, &reader);
    assert_true(tick == 0 || net_match_tick(match) == tick);
    net_match_destroy(record->table.match);
    record->table.match = match;
    net_log_options options = wanted ? *wanted : net_log_options_default();
    options.before = reader;
    record_write(record, out.file, &options);
    net_log_reader_destroy(reader);
    return out;
}

static void end_on(playback_record* record, joined* out, uint32_t ticks) {
    net_match* match = record->table.match;
    const ecs_tick here = net_match_tick(match);
    record_ticks(record, ticks);
    assert_int_equal(net_match_tick(match), here + ticks);
    out->state_hash = ecs_world_state_hash(net_match_world(match));
    out->world_hash = ecs_world_hash(net_match_world(match));
    net_log_append_close(record->writer, match);
    assert_ok(net_log_writer_finish(record->writer));
    assert_int_equal(net_log_get_counters(record->writer).ticks_lost, 0);
}

static joined go_on(playback_record* record, const char* from, ecs_tick tick, uint32_t ticks,
                    const char* name) {
    joined out = begin_on(record, from, tick, name, NULL);
    end_on(record, &out, ticks);
    assert_ok(net_log_writer_destroy(record->writer));
    return out;
}

static net_verify_result verify(const playback_record* record, const char* file) {
    net_log_reader* reader = files_reader(file);
    const net_verify_result verified = files_verify(reader, record->table.module, NET_OK);
    net_log_reader_destroy(reader);
    return verified;
}

// The joined log is whole, and one match from `first` to `last`.
static void is_one_match(const playback_record* record, const joined* of, ecs_tick first,
                         ecs_tick last) {
    const net_log_info info = files_expect_verdict(of->file, "whole");
    assert_true(info.first_tick == first && info.last_tick == last);
    assert_true(info.is_hashed && info.is_closed && info.lost_bytes == 0);
    const net_verify_result verified = verify(record, of->file);
    assert_true(verified.ticks == last - first + 1);
    assert_true(verified.state_hash == of->state_hash && verified.world_hash == of->world_hash);
    net_log_reader* reader = files_reader(of->file);
    net_log_state* state;
    assert_ok(net_log_state_create(reader, NULL, NULL, &state));
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
        const joined of = go_on(record, record->files.log, i == 0 ? 0 : at[i], 130,
                                file_name("%u.slog", (unsigned)i));
        is_one_match(record, &of, 1, at[i] + 130);
    }
    uint8_t* now = file_read(record->files.log, &after);
    assert_true(before == after && memcmp(old, now, before) == 0);
    free(old);
    free(now);
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
    uint32_t refused = 2;
    net_log_options options = net_log_options_default();
    options.is_manual = true;
    options.ops.write = write_some;
    options.ops.context = &refused;
    const joined of = begin_on(record, record->files.log, 0, "b.slog", &options);
    assert_false(file_exists(of.file));
    for (uint32_t i = 0; i < 200; i++) {
        record_tick(record);
        net_log_pump(record->writer);
    }
    assert_true(file_exists(of.file));
    record_end(record);
    const net_log_info info = files_expect_verdict(of.file, "damaged"); // ticks are missing
    assert_true(info.segment_count == 2 && info.first_tick == 1 && info.last_tick == 300);
    assert_true(info.lost_ticks > 0 && info.lost_ticks <= 60 && info.lost_bytes == 0);
    assert_true(verify(record, of.file).ticks == 300 - info.lost_ticks);
}

static const char* copy_from(const playback_record* record, ecs_tick first) {
    const char* slice = file_name("%s/slice.slog", record->files.folder);
    net_log_reader* reader = record_read(record);
    net_log_copy_result copied;
    assert_ok(net_log_copy(reader, &(net_log_copy_config){.output = slice, .first = first}, NULL,
                           &copied));
    net_log_reader_destroy(reader);
    return slice;
}

// A slice begins with a keyframe.
PLAYED_CASE(a_part_of_a_log_goes_on, TICKS) {
    const joined of = go_on(record, copy_from(record, 640), 0, 30, "b.slog");
    is_one_match(record, &of, 601, TICKS + 30);
}

static void is_refused(const playback_record* record, const char* file, const net_module* module,
                       ecs_tick tick, net_result expected, const char* why) {
    net_log_reader* reader = files_reader(file);
    net_match* match;
    assert_int_equal(net_log_resume(reader, module ? module : record->table.module, tick, NULL,
                                    NULL, hear(), &match),
                     expected);
    assert_null(match);
    assert_said(why);
    net_log_reader_destroy(reader);
}

// As kill -9 leaves it: FILE and FILE.queue.
CASE(a_log_that_was_not_closed_goes_on_behind_its_queue) {
    net_log_options options = net_log_options_default();
    options.is_manual = true;
    playback_record* record = record_begin((record_wanted){.options = &options});
    for (uint32_t i = 0; i < 150; i++) {
        record_tick(record);
        net_log_pump(record->writer);
    }
    const char* file = file_name("%s/killed.slog", record->files.folder);
    file_copy(record->files.log, file);
    file_copy(record->files.queue, file_name("%s.queue", file));
    // While its writer lives the log is its own.
    is_refused(record, record->files.log, NULL, 0, NET_ERR_CLOSED, "a server writes this log now");
    assert_ok(net_log_writer_destroy(record->writer));
    const joined of = go_on(record, file, 0, 40, "b.slog");
    is_one_match(record, &of, 1, 190);
    record_free(record);
}

// A stream has them, and goes on with what its log has: before the first tick, and behind the last.
CASE(signs_of_life_go_on_with_the_match) {
    net_log_options options = net_log_options_default();
    options.is_manual = true;
    playback_record* record = record_begin((record_wanted){.options = &options});
    for (uint32_t i = 0; i < 40; i++) {
        if (i % 20 == 0) net_log_observer(record->writer).idle(record->writer, NET_IDLE_WAITING);
        record_tick(record);
    }
    net_log_observer(record->writer).idle(record->writer, NET_IDLE_PAUSED);
    net_log_pump(record->writer);
    const char* file = file_name("%s/killed.slog", record->files.folder);
    file_copy(record->files.log, file);
    file_copy(record->files.queue, file_name("%s.queue", file));
    assert_ok(net_log_writer_destroy(record->writer));
    const joined of = go_on(record, file, 0, 40, "b.slog");
    is_one_match(record, &of, 1, 80);
    net_log_reader* reader = files_reader(of.file);
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record next;
    uint32_t count = 0;
    while (net_log_cursor_next(reader, &cursor, &next))
        count += next.kind == NET_LOG_KIND_ALIVE;
    assert_int_equal(count, 3);
    net_log_reader_destroy(reader);
    record_free(record);
}

PLAYED_CASE(what_cannot_go_on_is_refused_with_the_reason, TICKS) {
    const char* log = record->files.log;
    is_refused(record, log, NULL, TICKS + 1, NET_ERR_UNKNOWN,
               "tick 701 is not in the log: it has 1..700");
    const char* other = copy_from(record, 640);
    is_refused(record, other, NULL, 600, NET_ERR_UNKNOWN,
               "tick 600 is not in the log: it has 601..700");
    record_forge(record, other, record_other_row_code, NULL);
    is_refused(record, other, NULL, 0, NET_ERR_VERSION,
               "its values are in row code 5, and this build writes 6: continue with build test");
    net_module* module = record_module(breakout_module(), "lamp { }\n");
    is_refused(record, log, module, 0, NET_ERR_SCHEMA, "another one than the log's");
    net_module_close(module);
}

PLAYED_CASE(a_log_without_a_tick_does_not_go_on, 0) {
    is_refused(record, record->files.log, NULL, 0, NET_ERR_UNKNOWN, "no whole tick");
}

CASE(a_run_that_differs_from_its_log_does_not_go_on) {
    playback_record* record = record_make_as((record_wanted){.ticks = 100, .end_tick = 50});
    is_refused(record, record->files.log, NULL, 0, NET_ERR_DIVERGED,
               "differs from the log in tick 50: shoal-replay verify says more; the match can "
               "continue from tick 49: --at 49");
    record->wanted.end_tick = 0;
    const joined of = go_on(record, record->files.log, 49, 30, "b.slog");
    is_one_match(record, &of, 1, 79);
    record_free(record);
}

static record_act drop_block(void* context, uint32_t number, const net_log_block* block,
                             uint8_t* payload) {
    const ecs_tick* tick = context;
    return block->type == NET_LOG_BLOCK_DATA && block->first_tick == *tick ? RECORD_DROP
                                                                           : RECORD_KEEP;
}

PLAYED_CASE(behind_damage_the_joined_log_begins_with_a_keyframe, TICKS) {
    ecs_tick missing = 121;
    const char* file = file_name("%s/damaged.slog", record->files.folder);
    record_forge(record, file, drop_block, &missing);
    is_refused(record, file, NULL, 121, NET_ERR_UNKNOWN,
               "tick 121 cannot be read: the log is damaged there; the match can continue from "
               "tick 120: --at 120");
    joined of = go_on(record, file, 120, 10, "b.slog");
    is_one_match(record, &of, 1, 130);
    of = go_on(record, file, 650, 1, "c.slog");
    is_one_match(record, &of, 601, 651);
}

// ---- signatures ----

typedef struct signer {
    playback_record* record;
    const char* log;
    net_log_secret_key key;
    net_log_public_key public_key;
} signer;

// A signed log in segments of 10 s.
static void sign(signer* self, uint32_t ticks) {
    net_log_options options = net_log_options_default();
    net_log_key_make(&self->key, &self->public_key);
    options.sign_key = &self->key;
    options.segments.seconds_max = 10;
    self->record = record_begin((record_wanted){.options = &options});
    self->log = self->record->files.log;
    record_ticks(self->record, ticks);
    net_log_observer(self->record->writer)
        .idle(self->record->writer, NET_IDLE_SETTLING); // in front of no tick
    record_end(self->record);
}

static net_log_signed check_signed_behind(const char* file, const net_log_public_key* key,
                                          const net_log_signed* before) {
    net_log_reader* reader;
    net_log_signed found;
    (void)!net_log_reader_create(NULL, file, NULL, &reader);
    assert_non_null(reader);
    net_log_reader_check_signed(reader, key, before, &found);
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
    (void)log_block_at(log, size, 1, &block);
    free(log);
    return block.ordinal;
}

#define SIGNED_CASE(name, ticks)                                                                   \
    CASE_WITH(signer, self, sign(self, ticks), record_free(self->record), name)

SIGNED_CASE(a_log_is_signed_to_its_close, 1300) {
    net_log_signed found = check_signed(self->log, &self->public_key);
    assert_true(found.is_signed && found.has_signature && !found.is_wrong && !found.is_part);
    assert_int_equal(found.last_tick, 1300);
    // Each segment is one too, and says that it is a part.
    found = check_signed(file_segment(self->log, 2), &self->public_key);
    assert_true(found.is_signed && found.is_part);
    assert_int_equal(found.last_tick, 1200);
    net_log_public_key other;
    net_log_secret_key secret;
    net_log_key_make(&secret, &other);
    found = check_signed(self->log, &other);
    assert_true(!found.is_signed && found.has_signature && found.is_wrong);
    assert_int_equal(found.first_block, 1);
    assert_int_equal(found.last_tick, 0);
}

SIGNED_CASE(a_cut_log_is_signed_up_to_its_last_index, 1300) {
    struct stat status;
    assert_int_equal(stat(self->log, &status), 0);
    assert_int_equal(truncate(self->log, status.st_size - 1), 0);
    const net_log_signed found = check_signed(self->log, &self->public_key);
    assert_true(!found.is_signed && found.has_signature && !found.is_wrong);
    assert_int_equal(found.last_tick, 1200);
    assert_int_equal(found.first_block, first_ordinal(self->log));
}

SIGNED_CASE(a_segment_that_is_missing_or_exchanged_ends_what_is_signed, 1300) {
    const char *name = file_segment(self->log, 2), *kept = file_name("%s.kept", name);
    assert_int_equal(rename(name, kept), 0);
    net_log_signed found = check_signed(self->log, &self->public_key);
    assert_true(!found.is_signed && found.is_wrong);
    assert_int_equal(found.last_tick, 600);
    assert_int_equal(found.first_block, first_ordinal(self->log));
    assert_int_equal(rename(kept, name), 0);
    // Without the first one the log is a later part: all of that is signed.
    const net_log_signed first = check_signed(file_segment(self->log, 1), &self->public_key);
    assert_true(first.is_signed && !first.is_part);
    remove(file_segment(self->log, 1));
    found = check_signed(self->log, &self->public_key);
    assert_true(found.is_signed && found.is_part);
    // Behind a reload a part follows what ends where it begins, and nothing else.
    const net_log_signed second = check_signed(name, &self->public_key);
    found = check_signed_behind(self->log, &self->public_key, &first);
    assert_true(found.is_signed && !found.is_part);
    found = check_signed_behind(self->log, &self->public_key, &second);
    assert_true(found.is_signed && found.is_part);
}

SIGNED_CASE(a_copy_is_not_signed_and_a_log_that_goes_on_is, 700) {
    const char* copy = copy_from(self->record, 0);
    net_log_signed found = check_signed(copy, &self->public_key);
    assert_true(!found.is_signed && !found.has_signature);
    assert_int_equal(found.first_block, 1);
    for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
        net_log_options options = net_log_options_default();
        options.sign_key = is_signed ? &self->key : NULL;
        joined of =
            begin_on(self->record, self->log, 650, file_name("%u.slog", is_signed), &options);
        end_on(self->record, &of, 20);
        assert_ok(net_log_writer_destroy(self->record->writer));
        found = check_signed(of.file, &self->public_key);
        assert_int_equal(found.is_signed, is_signed);
        assert_int_equal(found.last_tick, is_signed ? 670 : 0);
    }
}

// Another input with right checksums, as who can write the file makes it without the key.
static record_act change_input(void* context, uint32_t number, const net_log_block* block,
                               uint8_t* payload) {
    bool* is_changed = context;
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
static record_act hash_again(void* context, uint32_t number, const net_log_block* block,
                             uint8_t* payload) {
    net_log_chain chain = {.before = {0}};
    size_t size, at = 0;
    net_log_block here;
    if (block->type != NET_LOG_BLOCK_INDEX) return RECORD_KEEP;
    uint8_t* log = file_read(context, &size);
    while (log_block_next(log, size, &at, &here) && here.type != NET_LOG_BLOCK_INDEX)
        net_log_chain_add(&chain, log + at, NET_LOG_BLOCK_HEADER_BYTES + here.stored_bytes, NULL,
                          0);
    net_log_chain_end(&chain);
    // Total, length and signature are the end of it.
    memcpy(payload + block->unpacked_bytes - NET_LOG_SIGNATURE_BYTES - 1 - NET_LOG_HASH_BYTES,
           chain.total, NET_LOG_HASH_BYTES);
    free(log);
    return RECORD_CHANGE;
}

SIGNED_CASE(a_changed_input_with_right_checksums_is_not_signed, 300) {
    bool is_changed = false;
    char* forged = (char*)(uintptr_t)file_name("%s/forged.slog", self->record->files.folder);
    record_forge(self->record, forged, change_input, &is_changed);
    assert_true(is_changed);
    log_forge(forged, forged, hash_again, forged);
    assert_true(files_expect_verdict(forged, "whole").is_hashed); // nothing else shows it
    const net_log_signed found = check_signed(forged, &self->public_key);
    assert_true(!found.is_signed && found.is_wrong);
    assert_int_equal(found.first_block, 1);
    // With what was signed put back it is signed: the same way leads to a right signature.
    file_copy(self->log, forged);
    log_forge(forged, forged, hash_again, forged);
    assert_true(check_signed(forged, &self->public_key).is_signed);
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
