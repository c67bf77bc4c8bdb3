// SPDX-License-Identifier: MIT
// A standby combines a match follower (follow.h) with the stream.
//
//     follow --- silence ---> claim ---> OWNED: the open tick, then the match is here
//        ^                      |
//        '------- FENCED -------'    the server was alive, or another standby was faster
//
// A server that hands its match over says so in the stream: its silence is not waited for.
//
// A wrong suspicion costs nothing: the claim expects the message that was read last, so it is
// refused as soon as the server wrote anything. A server that claimed and ended no tick was the
// second one to die in that tick, whose inputs end servers: no third one goes on with that match.
// The begin of the tick proves nothing. A server that crashes in it may be faster than its stream's
// thread.
//
// The log here has the records of the stream under numbers of its own, because it also says when
// this server was alive without a tick. From the claim on its numbers are those of the stream. What
// entered an open tick is in the stream already; the log here has it again.
#include "stream/standby.h"

#include "base/assert.h"
#include "stream/stream_frame.h"

#include <inttypes.h>

struct net_standby {
    net_standby_config config;
    base_reporter reporter;
    net_stream_follower* follower; // of `follow`
    net_stream_tap* tap;           // of the own log; both are the caller's
    net_stream_writer* writer;     // NULL: not open
    net_follow* follow;
    net_standby_state end; // WAITS while nothing is decided
    uint64_t now_us;
    uint64_t compared;
    uint64_t ready_epoch; // it would take the match over from this server; 0: it would not
    uint64_t report_due_us;
    bool is_claiming;
    bool is_given_up;
    bool is_full; // the broker, of a claim: said
};

net_follow* net_standby_follow(net_standby* self) {
    return self->follow;
}

void net_standby_open(net_standby* self, net_stream_tap* tap, net_stream_writer* writer) {
    BASE_ASSERT(tap && writer && !self->writer);
    self->tap = tap;
    self->writer = writer;
}

// ---- the claim ----

static net_standby_state fail_standby(net_standby* self, const char* text) {
    base_report(&self->reporter, self->config.name, 0, "%s", text);
    return self->end = NET_STANDBY_FAILED;
}

// The inputs of a tick ended two servers: they would end this one.
static net_standby_state give_up(net_standby* self, const net_stream_follower_info* info) {
    if (!self->is_given_up)
        base_report(&self->reporter, self->config.name, 0,
                    "tick %" PRIu64 " ended two servers: the match does not continue here, its "
                    "inputs would end this one too",
                    info->tick + !info->is_in_tick);
    self->is_given_up = true;
    if (info->silence_us < NET_STANDBY_GIVE_UP_MS * UINT64_C(1000)) return NET_STANDBY_WAITS;
    return self->end = NET_STANDBY_FAILED;
}

static net_standby_state claim(net_standby* self, net_server* server) {
    const net_stream_follower_info* info = net_stream_follower_get(self->follower);
    const net_idle reason = net_follow_get_report(self->follow, self->now_us).reason;
    if (info->is_passing) return NET_STANDBY_WAITS; // the stream lacks what ran here
    // A server that lives says nothing between two ticks.
    const uint64_t ticks_us = UINT64_C(2000000) / net_follow_info(self->follow)->tick_rate_hz;
    if (reason != NET_IDLE_HANDOVER &&
        (info->silence_us < self->config.takeover_us || info->silence_us < ticks_us))
        return NET_STANDBY_WAITS;
    if (net_server_get_phase(server) > NET_SERVER_RUNNING || reason == NET_IDLE_SETTLING) {
        base_report(&self->reporter, self->config.name, 0,
                    "note: the match was over when its server died");
        return self->end = NET_STANDBY_ENDED;
    }
    // Its own one, which a full broker had refused, came late.
    const bool is_own = info->claim.writer == net_stream_writer_status(self->writer)->writer;
    if (info->is_claim_new && !is_own) return give_up(self, info);
    net_stream_writer_claim(self->writer, &info->position, NULL, 0);
    self->is_claiming = true;
    return NET_STANDBY_CLAIMS;
}

// The log here has what entered the open tick once more, before the stream's next record.
static bool pass_open(const net_standby* self, const net_stream_follower_info* info) {
    const uint64_t records = info->position.records;
    const net_stream_source own = net_stream_tap_source(self->tap);
    net_stream_record record;
    for (uint64_t number = records - info->open_records + 1; number <= records; number++)
        if (own.next(own.context, number, &record) != NET_STREAM_FOUND_RECORD ||
            record.end_tick > 0)
            return false;
    if (!info->is_in_tick) return true;
    return own.next(own.context, records + 1, &record) == NET_STREAM_FOUND_RECORD &&
           record.end_tick > 0;
}

static net_standby_state take_over(net_standby* self, net_server* server) {
    const net_stream_follower_info* info = net_stream_follower_get(self->follower);
    const bool was_paused =
        net_follow_get_report(self->follow, self->now_us).reason == NET_IDLE_PAUSED;
    net_stream_tap_begin(self->tap, info->position.records - info->open_records);
    const net_result result = net_follow_take_over(self->follow, server, self->now_us);
    if (result != NET_OK && result != NET_ERR_FULL) return self->end = NET_STANDBY_FAILED;
    if (!pass_open(self, info))
        return fail_standby(self,
                            "the stream has a part of a tick: the match cannot continue in it");
    if (was_paused) net_server_pause_after(server, 0);
    return self->end = NET_STANDBY_HAS;
}

static void say_refused(net_standby* self, const net_stream_status* status) {
    const bool is_full = status->trouble == NET_STREAM_FULL;
    if (!is_full)
        base_report(&self->reporter, self->config.name, 0,
                    "note: epoch %" PRIu64 " was not taken: a server writes as epoch %" PRIu64,
                    status->epoch, status->fenced_by);
    else if (!self->is_full)
        base_report(&self->reporter, self->config.name, 0,
                    "warning: the stream's broker is full: the match cannot continue here before "
                    "it has room");
    self->is_full = is_full;
}

static net_standby_state await_claim(net_standby* self, net_server* server) {
    (void)net_stream_writer_poll(self->writer, self->now_us);
    const net_stream_status* status = net_stream_writer_status(self->writer);
    switch (status->state) {
    case NET_STREAM_OWNED:
        return take_over(self, server);
    case NET_STREAM_FENCED:
        say_refused(self, status);
        self->is_claiming = false;
        net_stream_follower_restart_silence(self->follower);
        return NET_STANDBY_WAITS;
    case NET_STREAM_FAILED:
        return fail_standby(self, status->text);
    default:
        return NET_STANDBY_CLAIMS;
    }
}

// ---- a pass ----

// The server of the match hears at once that there is a standby: an operator may stop it now.
static void report_standby(net_standby* self, const net_follow_report* follow) {
    const net_stream_follower_info* info = net_stream_follower_get(self->follower);
    const ecs_tick near = net_follow_info(self->follow)->tick_rate_hz; // a second
    const net_stream_report report = {
        .role = NET_STREAM_STANDBY,
        // What the broker answers too late to let silence count never ends in a claim.
        .is_able =
            !self->is_given_up && info->late_us < NET_STREAM_REPORT_COUNTS_S * UINT64_C(1000000),
        .who = net_stream_writer_status(self->writer)->writer,
        .tick = follow->tick,
        .counts_s = follow->reason == NET_IDLE_EMPTY ? NET_STREAM_REPORT_EMPTY_S
                                                     : NET_STREAM_REPORT_COUNTS_S};
    const bool is_ready = report.is_able && follow->end <= follow->tick + near;
    const uint64_t epoch = is_ready ? info->position.epoch : 0;
    if (epoch > 0 && epoch != self->ready_epoch) self->report_due_us = 0;
    self->ready_epoch = epoch;
    net_stream_report_send(&self->config.broker, &report, &self->report_due_us, self->now_us);
}

net_standby_state net_standby_run(net_standby* self, net_server* server, uint64_t now_us) {
    BASE_ASSERT(self->writer && server);
    if (self->end != NET_STANDBY_WAITS) return self->end;
    self->now_us = now_us;
    if (self->is_claiming) return await_claim(self, server);
    const net_follow_state state = net_follow_run(self->follow, server, now_us);
    if (state <= NET_FOLLOW_RAN) {
        const net_follow_report report = net_follow_get_report(self->follow, self->now_us);
        const bool is_older = // an older server waits for players
            report.reason == NET_IDLE_WAITING && net_server_get_counters(server)->clients == 0;
        const uint64_t patience_ms = report.reason == NET_IDLE_EMPTY
                                         ? NET_IDLE_ALIVE_MS + NET_IDLE_EMPTY_MS
                                     : is_older ? NET_IDLE_EMPTY_MS
                                                : 0;
        net_stream_follower_expect(self->follower, patience_ms * UINT64_C(1000));
        report_standby(self, &report);
    }
    switch (state) {
    case NET_FOLLOW_RAN:
        self->compared++;
        self->is_full = false;
        return NET_STANDBY_RAN;
    case NET_FOLLOW_WAITS:
        return claim(self, server);
    case NET_FOLLOW_ENDED:
        return self->end = NET_STANDBY_ENDED;
    case NET_FOLLOW_DIVERGED:
        return self->end = NET_STANDBY_DIVERGED;
    default:
        return self->end = NET_STANDBY_FAILED;
    }
}

net_standby_report net_standby_get_report(const net_standby* self) {
    const net_stream_follower_info* info = net_stream_follower_get(self->follower);
    const net_broker* broker = &self->config.broker;
    const net_broker_status status = broker->status(broker->context);
    return (net_standby_report){.newest = info->end_tick > info->tick ? info->end_tick : info->tick,
                                .is_connected = status.is_connected,
                                .reconnects = status.reconnects,
                                .waiting = status.waiting,
                                .lag_messages = info->lag_messages,
                                .silence_us = info->silence_us,
                                .late_us = info->late_us,
                                .epoch = info->position.epoch,
                                .key_id = info->claim.key_id,
                                .compared = self->compared,
                                .is_given_up = self->is_given_up};
}

net_standby* net_standby_create(const net_standby_config* config) {
    BASE_ASSERT(config && config->name && config->takeover_us > 0);
    net_standby* self = base_allocate_zero(config->allocator, sizeof *self);
    self->config = *config;
    if (config->reporter) self->reporter = *config->reporter;
    const net_follow_config follow = {.allocator = config->allocator,
                                      .file = config->name,
                                      .broker = &self->config.broker,
                                      .is_whole = true,
                                      .reporter = &self->reporter};
    const net_result result = net_follow_create(&follow, &self->follow);
    BASE_ASSERT(result == NET_OK); // a broker is asked later
    self->follower = net_follow_stream(self->follow);
    return self;
}

void net_standby_destroy(net_standby* self) {
    if (!self) return;
    net_follow_destroy(self->follow);
    base_release(self->config.allocator, self, sizeof *self);
}
