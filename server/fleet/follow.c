// SPDX-License-Identifier: MIT
// The source decides when a tick is due (net/stream/follow.h); the sockets, the sessions and the
// log are those of any server. Spectators read why it ends. New ones are refused while the relay
// lags its source's end by more than the delay, because a match that runs at ten times its speed is
// no pleasure.
#include "fleet.h"
#include "operate/operator.h"
#include "stream_nats.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/setup.h"

#include <inttypes.h>
#include <string.h>

// Two limits, so that a relay near one of them does not change with each tick.
#define BEHIND_US UINT64_C(2000000) ///< beyond it new spectators are refused
#define CAUGHT_UP_US UINT64_C(500000)
#define PATIENCE_US UINT64_C(2000000) ///< a match that is not there yet is no news before
/// A server writes something each second, of an empty match each NET_IDLE_ALIVE_MS.
#define SILENT_US UINT64_C(3000000)
#define FIND_US UINT64_C(5000)
/// Sessions are kept, and the broker is asked, when no tick came for so long.
#define KEEP_TICKS 2u
#define KEEP_US (NET_STREAM_PING_MS * UINT64_C(1000))

server_follow* server_follow_of(const server_program* program) {
    return server_program_state(program, &server_part_follow);
}

static int open_broker(server_program* self) {
    server_follow* follow = server_follow_of(self);
    const server_nats_config config = {.url = self->config.follow, .reader = "relay"};
    const net_result result = server_nats_open(&config, &self->reporter, &follow->nats);
    if (result != NET_OK) return net_exit_of_setup(result);
    follow->broker = server_nats_broker(follow->nats);
    server_nats_url(follow->nats, follow->name, sizeof follow->name);
    return NET_EXIT_CLEAN;
}

net_result server_follow_find(server_program* self, net_follow* source, server_nats* nats,
                              const char* name) {
    const uint64_t begin_us = net_loop_now_us();
    bool is_said = false;
    net_result result;
    while ((result = net_follow_find(source, net_loop_now_us())) == NET_ERR_FULL) {
        const uint64_t now_us = net_loop_now_us();
        server_program_keep(self);
        server_nats_say(nats, &self->reporter, now_us);
        if (!is_said && now_us - begin_us > PATIENCE_US) {
            is_said = true;
            const net_broker broker = server_nats_broker(nats);
            const net_broker_status status = broker.status(broker.context);
            base_report(&self->reporter, name, 0, "warning: waits for the match's stream%s%s",
                        status.trouble[0] ? ": " : "", status.trouble);
        }
        if (net_loop_wait(&self->loop, now_us + FIND_US)) return NET_ERR_CLOSED;
    }
    return result;
}

void server_follow_begin(server_program* self, net_follow* source) {
    server_follow* follow = server_follow_of(self);
    const net_log_info* info = net_follow_info(source);
    follow->source = source;
    (void)base_text_copy(follow->game, sizeof follow->game, info->game);
    if (!self->config.game) self->config.game = follow->game;
    self->config.tick_rate_hz = info->tick_rate_hz;
    self->identity = info->identity;
    self->ticks = &server_follow_ticks;
}

static int open_source(server_program* self) {
    server_config* config = &self->config;
    server_follow* follow = server_follow_of(self);
    if (!config->follow) return NET_EXIT_CLEAN;
    const bool has_broker =
        strncmp(config->follow, "nats://", 7) == 0 || strncmp(config->follow, "tls://", 6) == 0;
    int code = has_broker ? open_broker(self) : NET_EXIT_CLEAN;
    if (code != NET_EXIT_CLEAN) return code;
    if (!has_broker && config->follow_begin)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--log: it goes with a stream; a log has keyframes");
    if (!has_broker)
        (void)base_text_format(follow->name, sizeof follow->name, "%s", config->follow);
    uint64_t who = 0;
    while (who == 0)
        net_host_draw_secret(&who, sizeof who);
    const net_follow_config source = {.file = has_broker ? follow->name : config->follow,
                                      .broker = has_broker ? &follow->broker : NULL,
                                      .who = who,
                                      .delay_us = config->follow_delay_s * UINT64_C(1000000),
                                      .is_whole = config->follows_whole,
                                      .begin_file = has_broker ? config->follow_begin : NULL,
                                      .reporter = &self->reporter};
    net_result result = net_follow_create(&source, &follow->source);
    if (result == NET_OK && has_broker)
        result = server_follow_find(self, follow->source, follow->nats, follow->name);
    if (result == NET_ERR_CLOSED)
        base_report(&self->reporter, follow->name, 0, "ended before there was a match");
    if (result != NET_OK) return net_exit_of_replay(result);
    server_follow_begin(self, follow->source);
    return NET_EXIT_CLEAN;
}

static int make_match(server_program* self) {
    const server_follow* follow = server_follow_of(self);
    if (!follow->source) return NET_EXIT_CLEAN;
    BASE_ASSERT(self->module && !self->match);
    const net_result result = net_follow_make_match(follow->source, self->module, &self->match);
    if (result != NET_OK) return net_exit_of_replay(result);
    self->config.seed = net_match_get_config(self->match)->seed;
    if (!self->config.follow || !server_program_hides(self) || self->config.follow_delay_s > 0)
        return NET_EXIT_CLEAN;
    return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                           "--delay 0: this game hides things from players, and who watches it "
                           "live could help one: give a delay");
}

static uint64_t wake_us(const server_program* self) {
    const uint64_t ticks_us = KEEP_TICKS * UINT64_C(1000000) / self->config.tick_rate_hz;
    const uint64_t keep_us =
        server_follow_of(self)->tick_us + (ticks_us < KEEP_US ? ticks_us : KEEP_US);
    const bool is_over = net_server_get_phase(self->server) > NET_SERVER_RUNNING;
    const uint64_t due_us =
        is_over ? UINT64_MAX : net_follow_due_us(server_follow_of(self)->source);
    return due_us < keep_us ? due_us : keep_us;
}

// ---- the end

static void end_follow(server_program* self, uint64_t now_us) {
    static const char* const why[] = {
        [NET_FOLLOW_ENDED] = "",
        [NET_FOLLOW_LOST] = "the server of the match is gone",
        [NET_FOLLOW_DIVERGED] = "this relay does not show the match any more",
        [NET_FOLLOW_FAILED] = "this relay cannot continue",
    };
    const net_follow_state state = server_follow_of(self)->end;
    net_server_say_why(self->server, why[state]);
    if (state == NET_FOLLOW_LOST)
        base_report(&self->reporter, server_follow_of(self)->name, 0,
                    "its server is gone: the log has no end after tick %" PRIu64,
                    net_match_tick(self->match));
    else if (state == NET_FOLLOW_ENDED)
        base_report(&self->reporter, server_follow_of(self)->name, 0,
                    "note: the match ended at tick %" PRIu64, net_match_tick(self->match));
    net_server_stop(self->server, now_us);
}

static int report(server_program* self) {
    const net_follow_state end = server_follow_of(self)->end;
    return end <= NET_FOLLOW_ENDED      ? NET_EXIT_CLEAN
           : end == NET_FOLLOW_DIVERGED ? NET_EXIT_DIVERGED
                                        : NET_EXIT_RUNTIME;
}

// ---- while it runs

static bool run_tick(server_program* self, uint64_t now_us) {
    server_follow* follow = server_follow_of(self);
    follow->tick_us = now_us;
    if (net_server_get_phase(self->server) <= NET_SERVER_RUNNING) {
        const net_follow_state state = net_follow_run(follow->source, self->server, now_us);
        if (state == NET_FOLLOW_RAN) return true;
        if (state != NET_FOLLOW_WAITS) {
            follow->end = state;
            end_follow(self, now_us);
        }
    }
    net_server_tick(self->server, now_us);
    return false;
}

static void pass_behind(server_program* self) {
    server_follow* follow = server_follow_of(self);
    const bool is_behind =
        follow->report.behind_us > (follow->is_behind ? CAUGHT_UP_US : BEHIND_US);
    if (is_behind == follow->is_behind) return;
    follow->is_behind = is_behind;
    if (!server_program_is_draining(self))
        net_server_refuse(
            self->server,
            is_behind ? "this relay is behind the match and catches up: try again soon" : "");
    base_report(&self->reporter, NULL, 0,
                is_behind ? "note: behind at tick %" PRIu64 " of %" PRIu64 ": it catches up"
                          : "note: caught up at tick %" PRIu64 " of %" PRIu64,
                net_match_tick(self->match), follow->report.end);
}

static void pass_silent(server_program* self) {
    server_follow* follow = server_follow_of(self);
    const bool is_empty = follow->report.reason == NET_IDLE_EMPTY;
    const bool is_silent =
        follow->report.silent_us > SILENT_US + is_empty * NET_IDLE_ALIVE_MS * UINT64_C(1000);
    if (is_silent == follow->is_silent) return;
    follow->is_silent = is_silent;
    if (is_silent)
        base_report(&self->reporter, follow->name, 0,
                    "warning: nothing arrives after tick %" PRIu64 ": %s", follow->report.newest,
                    !follow->nats ? "its server hangs, or its files do not come here any more"
                    : follow->report.is_cut ? "its broker does not answer"
                    : follow->report.is_waiting
                        ? "its server waits for the broker, which is full"
                        : "its server is gone or hangs, and none took over");
    else
        base_report(&self->reporter, follow->name, 0, "note: it continues");
}

const server_ticks server_follow_ticks = {.wake_us = wake_us, .run = run_tick};

static void pass(server_program* self, uint64_t now_us) {
    server_follow* follow = server_follow_of(self);
    server_subject* subject = server_subject_of(self);
    subject->follow = follow->source && self->ticks ? &follow->report : NULL;
    if (!self->config.follow || !follow->source ||
        net_server_get_phase(self->server) > NET_SERVER_RUNNING)
        return;
    follow->report = net_follow_get_report(follow->source, now_us);
    pass_behind(self);
    pass_silent(self);
    subject->is_unready = follow->is_behind;
    if (follow->nats) server_nats_say(follow->nats, &self->reporter, now_us);
}

static void say(const server_program* self, server_saying line, char* text, size_t bytes) {
    if (self->config.follow && line == SERVER_SAYS_READY)
        (void)base_text_format(text, bytes, " delay_s=%" PRIu64 " tick=%" PRIu64,
                               self->config.follow_delay_s, net_match_tick(self->match));
}

static int close_source(server_program* self) {
    if (self->config.follow) net_follow_destroy(server_follow_of(self)->source); // else a standby's
    server_nats_close(server_follow_of(self)->nats);
    return NET_EXIT_CLEAN;
}

const server_part server_part_follow = {
    .name = "follow",
    .state_bytes = sizeof(server_follow),
    .at = {[SERVER_PREPARE] = open_source,
           [SERVER_MATCH] = make_match,
           [SERVER_REPORT] = report,
           [SERVER_CLOSE] = close_source},
    .say = say,
    .pass = pass,
};
