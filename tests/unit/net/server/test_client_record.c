// SPDX-License-Identifier: MIT
// A client records what it sees on a bad line; who watches the record sees the same, tick by tick.
#include "game/library.h"
#include "session_table.h"

#include "net/playback.h"

enum { TICKS_MAX = 2048 };

typedef struct recording {
    const char* file;
    table_seat* seat;
    net_log_writer* writer;
    ecs_tick first, last;
    uint32_t kept; // steps whose changes came without a newer tick
    uint64_t hashes[TICKS_MAX];
} recording;

static uint64_t scope_of(net_match* match) {
    return net_world_digest_walk(net_match_schema(match), net_match_world(match), NULL, NULL).hash;
}

static bool record_step(void* context) {
    recording* self = context;
    net_match* match = self->seat->match;
    const ecs_tick tick = net_match_tick(match);
    if (tick == 0) return true;
    self->kept += tick == self->last && ecs_changes_get(net_match_world(match)).changed_count > 0;
    if (tick == self->last) return false;
    if (!self->writer) {
        net_log_options options = net_log_options_default();
        options.is_seen = true;
        assert_ok(net_log_writer_create(NULL, self->file, &options, match, "test", 1, NULL,
                                        &self->writer));
        self->first = tick;
    }
    net_log_player own = {.client = net_client_number(self->seat->client),
                          .entity = net_client_player(self->seat->client),
                          .name = "own"};
    net_log_append_seen(self->writer, match, &own, 1);
    for (ecs_tick t = self->last + 1; self->last > 0 && t < tick; t++)
        self->hashes[t] = self->hashes[self->last];
    self->last = tick;
    self->hashes[tick] = scope_of(match);
    return true;
}

TABLE_CASE(who_watches_a_record_sees_what_the_client_saw, .seed = 12, .quiet = 400,
           .ticks_max = 900, .game = library_module_get(), .templates = LIBRARY_TEXT, .steps = 100,
           .has_log = true) {
    static const net_link_config poor = {
        .loss_percent = 10, .delay_ms = 60, .jitter_ms = 30, .duplicate_percent = 2, .seed = 4};
    static recording self;
    char file[128];
    snprintf(file, sizeof file, "%s/seen.slog", at->files.folder);
    self = (recording){.file = file, .seat = at->seats};
    net_client_config looker = table_client(at, "looker");
    looker.stepped = record_step;
    looker.stepped_context = &self;
    (void)table_sit_in(at, at->module, &poor, looker);
    table_run(at, 1200);
    assert_true(self.first > 90 && self.last > self.first + 600 && self.last < TICKS_MAX);
    assert_true(self.kept > 0);
    assert_ok(net_log_writer_destroy(self.writer));
    base_reporter reporter = base_reporter_stderr();
    net_log_reader* reader;
    net_playback* playback;
    assert_ok(net_log_reader_create(NULL, file, &reporter, &reader));
    const net_log_info* info = net_log_reader_info(reader);
    assert_true(info->is_seen && info->is_closed && !info->is_cut);
    assert_int_equal(info->first_tick, self.first);
    assert_int_equal(info->last_tick, self.last);
    assert_string_equal(net_log_reader_verdict(reader), "whole");
    assert_ok(net_playback_create(reader, at->module, &reporter, &playback));
    for (ecs_tick tick = self.first; tick <= self.last; tick++) {
        assert_ok(tick % 97 == 0 ? net_playback_seek(playback, (double)tick)
                                 : net_playback_advance(playback, tick == self.first ? 0.0 : 1.0));
        assert_true(net_playback_tick(playback) == (double)tick);
        assert_true(scope_of(net_playback_match(playback)) == self.hashes[tick]);
    }
    assert_string_equal(net_playback_player_name(playback, net_client_number(self.seat->client)),
                        "own");
    net_playback_destroy(playback);
    // It cannot run again, and says what to do.
    (void)files_verify(reader, at->module, NET_ERR_UNKNOWN);
    assert_said("Watch it: shoal-client --replay");
    net_log_reader_destroy(reader);
}
