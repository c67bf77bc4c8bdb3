// SPDX-License-Identifier: MIT
#include "log.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/keys.h"
#include "host/log_keys.h"
#include "host/output.h"
#include "net/log_bytes.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    COMMANDS_S_MAX = 60, // for the programs of --log on-close at the end
    COMMANDS_LOOK_MS = 5,
};

server_log* server_log_of(const server_program* program) {
    return server_program_state(program, &server_part_log);
}

bool server_log_is_wanted(const server_config* config) {
    return !config->log || strcmp(config->log, "none") != 0;
}

bool server_log_has_controls(const server_config* config) {
    return config->allow_edits || config->has_console || config->control || config->http ||
           config->follow;
}

// ---- opening

static int prepare(server_program* self) {
    const server_config* config = &self->config;
    if (!config->log_key) return NET_EXIT_CLEAN;
    if (!server_log_is_wanted(config))
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--log key: there is no log to sign (--log none)");
    return net_host_forbid_core() &&
                   net_host_load_log_key(config->log_key, &server_log_of(self)->key,
                                         &self->reporter)
               ? NET_EXIT_CLEAN
               : NET_EXIT_USAGE;
}

static net_log_options log_options(const server_config* config, bool is_in_memory,
                                   net_log_reader* before) {
    net_log_options options = net_log_options_default();
    options.segments = (net_log_segments){.bytes_max = config->log_segment_mb << 20,
                                          .seconds_max = (uint32_t)config->log_segment_s,
                                          .kept_max = (uint32_t)config->log_keep,
                                          .budget_bytes = config->log_budget_mb << 20,
                                          .on_close = config->log_on_close};
    options.sync = (net_log_sync)config->log_sync;
    options.content = (net_log_content)config->log_content;
    options.ring_seconds = (uint32_t)config->log_ring_s;
    options.keyframe_seconds = (uint32_t)config->log_keyframe_s;
    options.ring_bytes = config->log_ring_mb << 20;
    options.is_in_memory = is_in_memory;
    options.before = before;
    options.has_controls = server_log_has_controls(config);
    return options;
}

static int create_writer(server_program* self, server_log* log, bool has_file, uint64_t unix_ms) {
    const base_reporter* reporter = server_program_layer(self, SERVER_LAYER_LOG);
    net_log_options options = log_options(&self->config, !has_file, log->before);
    options.tap = log->tap;
    options.identity = self->identity;
    if (self->config.log_key) options.sign_key = &log->key;
    const net_result result = net_log_writer_create(
        NULL, log->file, &options, self->match, net_build_id(), unix_ms, reporter, &log->writer);
    if (result == NET_ERR_DISK) {
        base_report(reporter, log->file, 0, "the match runs without a log");
        (void)base_text_copy(log->file, sizeof log->file, "none");
        log->is_lacking = true;
        return NET_EXIT_CLEAN;
    }
    log->has_file = has_file && result == NET_OK;
    self->observer = net_log_observer(log->writer);
    (void)net_exit_report_setup(result, reporter);
    return result == NET_OK ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

static int open_log(server_program* self) {
    server_log* log = server_log_of(self);
    const char* name = self->config.log;
    const bool has_file = server_log_is_wanted(&self->config);
    const uint64_t unix_ms = net_loop_unix_ms();
    BASE_ASSERT(self->match && self->transport && !log->writer); // the port comes before the file
    if (!name || (!has_file && self->config.log_ring_s > 0)) {
        // "breakout-20261120-184500-4711.slog"; without a file: of what is saved
        time_t seconds = (time_t)(unix_ms / 1000);
        struct tm utc;
        gmtime_r(&seconds, &utc);
        base_text_format(log->file, sizeof log->file, "%s-%04d%02d%02d-%02d%02d%02d-%d.slog",
                         self->module->game->name, utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                         utc.tm_hour, utc.tm_min, utc.tm_sec, (int)getpid());
    } else if (!base_text_copy(log->file, sizeof log->file, name)) {
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--log: the name is longer than %zu bytes", sizeof log->file - 1);
    }
    if (!has_file && self->config.log_ring_s == 0) return NET_EXIT_CLEAN;
    return create_writer(self, log, has_file, unix_ms);
}

static void give_sentry(const server_program* self, net_sentry_config* config) {
    server_log* log = server_log_of(self);
    if (!log->has_file) return;
    config->log_file = log->file;
    if (net_log_crash_name(log->crash_file, sizeof log->crash_file, log->file))
        config->crash_file = log->crash_file;
}

// ---- while it runs

static void report_saved(const server_program* self, net_log_writer* writer) {
    net_log_saved saved;
    if (!net_log_take_saved(writer, &saved)) return;
    const base_reporter* log = server_program_layer(self, SERVER_LAYER_LOG);
    if (saved.failure[0])
        base_report(log, saved.file, 0, "not saved: %s", saved.failure);
    else
        base_report(log, saved.file, 0, "note: saved ticks=%" PRIu64 "..%" PRIu64 " bytes=%" PRIu64,
                    saved.first_tick, saved.last_tick, saved.bytes);
}

static void report_notices(const server_program* self, const server_log* log) {
    char text[256];
    report_saved(self, log->writer);
    while (net_log_take_notice(log->writer, text, sizeof text))
        base_report(server_program_layer(self, SERVER_LAYER_LOG), log->file, 0, "%s", text);
}

static void pass(server_program* self, uint64_t now_us) {
    const server_log* log = server_log_of(self);
    char text[256];
    (void)now_us;
    if (!log->writer) return;
    report_notices(self, log);
    if (net_log_take_failure(log->writer, text, sizeof text))
        base_report(server_program_layer(self, SERVER_LAYER_LOG), log->file, 0,
                    "logging stopped, the match continues: %s", text);
    if (self->config.is_fast) net_log_wait_room(log->writer);
}

static net_log_counters count(const server_program* self, const server_log* log) {
    if (log->is_lacking) return (net_log_counters){.ticks_lost = net_match_tick(self->match)};
    if (!log->writer) return log->counted;
    net_log_counters counters = net_log_get_counters(log->writer);
    counters.segments_closed += counters.bytes > 0; // the one that is written
    return counters;
}

static void say(const server_program* self, server_saying line, char* text, size_t bytes) {
    const server_log* log = server_log_of(self);
    const net_log_counters it = count(self, log);
    const double waiting_s = (double)it.ticks_waited / (double)self->config.tick_rate_hz;
    if (line == SERVER_SAYS_STATUS)
        (void)base_text_format(text, bytes,
                               " log_bytes=%" PRIu64 " log_segments=%" PRIu64
                               " log_keyframes=%" PRIu64 " log_ticks_lost=%" PRIu64
                               " log_waiting_s=%.1f log_saves=%" PRIu64
                               " log_saves_failed=%" PRIu64,
                               it.bytes, it.segments_closed, it.keyframes, it.ticks_lost, waiting_s,
                               it.saves, it.saves_failed);
    else if (line == SERVER_SAYS_DONE)
        (void)base_text_format(text, bytes,
                               " log_bytes=%" PRIu64 " log_saves=%" PRIu64 " log_segments=%" PRIu64
                               " log_ticks_lost=%" PRIu64 " log_waiting_s=%.1f log=%s",
                               it.bytes, it.saves, it.segments_closed, it.ticks_lost, waiting_s,
                               it.bytes > 0 ? log->file : "none");
}

// ---- the end

// In a container and in a service they end with the server. A further signal ends the wait.
static void wait_for_commands(server_program* self, net_log_writer* writer) {
    const uint64_t begin_us = net_loop_now_us();
    net_loop* loop = &self->loop;
    bool is_over = false;
    loop->socket_count = 0; // signals alone
    while (net_log_commands_go_on(writer) && !is_over) {
        const uint64_t now_us = net_loop_now_us();
        server_program_keep(self);
        is_over = net_loop_wait(loop, now_us + COMMANDS_LOOK_MS * UINT64_C(1000));
        self->is_terminated = self->is_terminated || is_over;
        is_over = is_over || now_us - begin_us >= COMMANDS_S_MAX * UINT64_C(1000000);
    }
    if (is_over)
        base_report(&self->reporter, self->config.log_on_close, 0,
                    "warning: it still stores the log, and is not waited for (%u s at most)",
                    COMMANDS_S_MAX);
}

static int end_log(server_program* self) {
    server_log* log = server_log_of(self);
    const base_reporter* reporter = server_program_layer(self, SERVER_LAYER_LOG);
    char text[256];
    if (!log->writer) return log->is_lacking ? NET_EXIT_RUNTIME : NET_EXIT_CLEAN;
    net_log_append_close(log->writer, self->match);
    const net_result result = net_log_writer_finish(log->writer);
    wait_for_commands(self, log->writer);
    if (net_log_take_failure(log->writer, text, sizeof text))
        base_report(reporter, log->file, 0, "%s", text);
    report_notices(self, log);
    log->counted = count(self, log);
    (void)net_log_writer_destroy(log->writer);
    log->writer = NULL;
    if (result == NET_OK) return NET_EXIT_CLEAN;
    return net_exit_report(NET_EXIT_RUNTIME, reporter, log->file,
                           "the log ends early: it has no end record");
}

// It reads the server's rows.
static int stop_log(server_program* self) {
    server_log* log = server_log_of(self);
    if (log->writer) (void)!net_log_writer_destroy(log->writer);
    log->writer = NULL;
    net_log_key_wipe(&log->key);
    return NET_EXIT_CLEAN;
}

const server_part server_part_log = {
    .name = "log",
    .state_bytes = sizeof(server_log),
    .at = {[SERVER_PREPARE] = prepare,
           [SERVER_LISTENING] = open_log,
           [SERVER_REPORT] = end_log,
           [SERVER_STOP] = stop_log},
    .say = say,
    .sentry = give_sentry,
    .pass = pass,
};
