// SPDX-License-Identifier: MIT
// The loop of a match: it waits, receives, and gives the server its ticks. What happens in a tick
// stands in net/server/server_tick.c; when one is due is decided in pacer.c.
//
//     receive until the deadline -> tick -> receive ...
#include "program.h"

#include "base/assert.h"
#include "net/socket.h"
#include "net/transport.h"

#include <inttypes.h>
#include <malloc.h>

// Each look at the sockets costs as much as some datagrams. Those of many clients come all the
// time.
enum { CROWD = 32, LOOKS_PER_TICK = 16 };

// Does a tick of the loop run one of the match?
static bool is_running(const server_program* self) {
    return net_server_get_phase(self->server) == NET_SERVER_RUNNING &&
           !net_server_is_paused(self->server);
}

// `late_us`: how much later than it was due it begins.
static void run_tick(server_program* self, uint64_t late_us) {
    BASE_ASSERT(net_server_get_phase(self->server) != NET_SERVER_ENDED);
    bool was_running = is_running(self);
    uint64_t begin_us = net_loop_now_us();
    if (self->timing.count == 0)
        self->timing.cpu_us = self->status.timing.cpu_us = net_loop_cpu_us();
    net_sentry_busy(self->sentry);
    if (self->ticks)
        was_running = self->ticks->run(self, begin_us);
    else
        net_server_tick(self->server, begin_us);
    net_sentry_rest(self->sentry);
    if (!was_running) return;
    uint64_t took_us = net_loop_now_us() - begin_us;
    server_timing_add(&self->timing, took_us);
    server_timing_add(&self->status.timing, took_us);
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->tick) (*part)->tick(self, took_us, late_us);
}

static void report_lost_ticks(server_program* self, server_pacer* pacer, uint64_t now_us) {
    uint64_t lost_ticks = server_pacer_take_lost(pacer, now_us);
    if (lost_ticks == 0) return;
    base_report(&self->reporter, NULL, 0,
                "warning: this machine was busy: the match stood still for %" PRIu64
                " tick%s (%" PRIu64 " ms)",
                lost_ticks, lost_ticks == 1 ? "" : "s", lost_ticks * pacer->period_us / 1000);
}

// On SIGHUP, behind a tick: the game's files again, all of them or none.
static void reload_game(server_program* self) {
    if (self->ticks) self->is_reload_due = false; // the match's server says what its game is
    if (!self->is_reload_due || !is_running(self)) return;
    const net_observer* observer = &self->observer;
    if (observer->may_exchange && !observer->may_exchange(observer->context)) return; // later
    self->is_reload_due = false;
    if (self->fixed_game) {
        base_report(&self->reporter, NULL, 0, "not reloaded: %s", self->fixed_game);
        return;
    }
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->reload) (*part)->reload(self);
}

void server_program_end(server_program* self, uint64_t now_us) {
    self->was_asked_to_end = true;
    net_server_stop(self->server, now_us);
}

void server_program_terminate(server_program* self, uint64_t now_us) {
    self->is_terminated = true;
    for (uint32_t i = server_part_count; i-- > 0;)
        if (server_parts[i]->terminate && server_parts[i]->terminate(self, now_us)) return;
    server_program_end(self, now_us);
}

// Wait until the tick is due, or until a datagram or a signal comes, then receive. A flood is
// received until the tick is due and no longer.
static void wait_and_receive(server_program* self, uint64_t due_us) {
    uint64_t wake_us = due_us;
    uint64_t now_us = net_loop_now_us();
    uint64_t socket_us = net_socket_next_us();
    if (socket_us != UINT64_MAX && now_us + socket_us < wake_us) wake_us = now_us + socket_us;
    if (net_loop_wait(&self->loop, wake_us)) server_program_terminate(self, net_loop_now_us());
    if (self->loop.is_reload_asked) {
        self->loop.is_reload_asked = false;
        self->reloads++;
        server_access_reload(self);
        self->is_reload_due = true;
    }
    net_transport_enet_due(self->enet, due_us);
    net_server_service(self->server, net_loop_now_us());
    now_us = net_loop_now_us();
    if (net_server_get_counters(self->server)->clients >= CROWD)
        self->loop.rest_us = now_us + 1000000 / LOOKS_PER_TICK / self->config.tick_rate_hz;
    server_program_report_status(self, now_us);
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->received) (*part)->received(self, now_us);
}

// Once in each pass of the loop, in any phase, between ticks: what must not wait for a tick.
static void pass(server_program* self) {
    server_lines_set_tick(self->lines, net_match_tick(self->match));
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->pass) (*part)->pass(self, net_loop_now_us());
}

// In an empty match that is paused nothing happens but a sign of life, until a datagram comes.
static bool is_resting(const server_program* self) {
    const net_server_counters* counters = net_server_get_counters(self->server);
    return !self->ticks && net_server_is_empty(self->server) && counters->spectators == 0;
}

void server_program_run(server_program* self) {
    BASE_ASSERT(self->server && self->transport && self->start_us == 0); // opened, and not yet run
    server_pacer pacer;
    bool was_woken = false; // before a tick was due
    ecs_tick trimmed_at = UINT64_MAX;
    self->start_us = net_loop_now_us();
    server_pacer_init(&pacer, (uint32_t)self->config.tick_rate_hz, self->start_us);
    while (net_server_get_phase(self->server) != NET_SERVER_ENDED) {
        bool is_fast = self->config.is_fast && is_running(self);
        if (self->ticks) pacer.next_us = self->ticks->wake_us(self);
        uint64_t wake_us = is_fast ? net_loop_now_us() : pacer.next_us;
        const bool rests = is_resting(self) && !was_woken;
        if (rests) wake_us += self->rest_us;
        if (rests && trimmed_at != net_match_tick(self->match)) {
            trimmed_at = net_match_tick(self->match);
            (void)malloc_trim(0); // what is free goes back to the system
        }
        // The second thread may still be sending the last tick. When that takes until the deadline,
        // the next tick begins all the same, and nothing is received before it, a few times.
        uint64_t sent_by_us = server_pacer_must_receive(&pacer) ? UINT64_MAX : wake_us;
        if (net_server_wait_sent(self->server, sent_by_us)) {
            wait_and_receive(self, wake_us);
            was_woken = net_loop_now_us() < wake_us;
            server_pacer_received(&pacer);
        }
        pass(self);
        if (self->is_over) break; // nothing is sent any more
        uint64_t now_us = net_loop_now_us();
        if (!server_pacer_is_due(&pacer, is_fast, now_us)) continue;
        const bool is_free = is_fast || self->ticks || is_resting(self);
        net_server_hurry(self->server, !is_free && !server_pacer_sends(&pacer, now_us));
        run_tick(self, is_fast ? 0 : now_us - pacer.next_us);
        reload_game(self);
        server_pacer_tick(&pacer, is_free || self->ticks, now_us);
        self->ticks_given_up = pacer.given_up;
        report_lost_ticks(self, &pacer, now_us);
    }
    report_lost_ticks(self, &pacer, UINT64_MAX);
}
