// SPDX-License-Identifier: MIT
// What the operator asks of a running match, and reads about it.
//
// Everything that the line of the state needs is counted anyway; between two lines a match pays one
// entry of a histogram a tick.
#include "program.h"

#include "base/assert.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- --console ----
//
// A line may come in pieces, and a pipe may bring several lines at once.

void server_console_open(server_console* console, net_loop* loop) {
    BASE_ASSERT(!console->is_open && loop->socket_count <= NET_LOOP_SOCKETS_MAX);
    if (loop->socket_count == NET_LOOP_SOCKETS_MAX) return;
    loop->sockets[loop->socket_count++] = STDIN_FILENO;
    base_bytes_init(&console->json, NULL);
    console->is_open = true;
}

static void close_console(server_program* self) {
    net_loop* loop = &self->loop;
    BASE_ASSERT(loop->socket_count > 0 && loop->sockets[loop->socket_count - 1] == STDIN_FILENO);
    loop->socket_count--;
    self->console.is_open = false;
}

static void obey(server_program* self, char* line) {
    server_console* console = &self->console;
    server_answer answer = {.json = &console->json};
    if (line[strspn(line, " \t")] == '\0') return;
    if (strcmp(line, "status") == 0) {
        self->loop.is_status_asked = true;
        return;
    }
    server_line_run(&self->subject, line, SERVER_OPERATOR, &answer);
    base_bytes_write(&console->json, "", 1);
    if (console->json.failed) return;
    if (answer.status == 200)
        puts((const char*)console->json.data);
    else
        base_report(&self->reporter, NULL, 0, "console: %s", (const char*)console->json.data);
}

static void hear(server_program* self, char c) {
    server_console* console = &self->console;
    BASE_ASSERT(console->count < sizeof console->line);
    if (c == '\n') {
        console->line[console->count] = 0;
        if (console->is_too_long)
            base_report(&self->reporter, NULL, 0, "console: the line is too long");
        else
            obey(self, console->line);
        console->count = 0;
        console->is_too_long = false;
    } else if (console->count + 1 == sizeof console->line) {
        console->is_too_long = true;
    } else if (c != '\r') {
        console->line[console->count++] = c;
    }
}

void server_console_read(server_program* self) {
    char piece[256];
    if (!self->console.is_open) return;
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0) return;
    ssize_t size = read(STDIN_FILENO, piece, sizeof piece);
    if (size <= 0) close_console(self);
    for (ssize_t i = 0; i < size; i++)
        hear(self, piece[i]);
}

void server_console_report_saved(server_program* self) {
    net_log_saved saved;
    if (!self->log || !net_log_take_saved(self->log, &saved)) return;
    const base_reporter* log = server_program_layer(self, SERVER_LAYER_LOG);
    if (saved.failure[0])
        base_report(log, saved.file, 0, "not saved: %s", saved.failure);
    else
        base_report(log, saved.file, 0, "note: saved ticks=%" PRIu64 "..%" PRIu64 " bytes=%" PRIu64,
                    saved.first_tick, saved.last_tick, saved.bytes);
}

// ---- the line of the state ----

void server_status_tick(server_status* status, uint64_t us) {
    server_timing_add(&status->timing, us);
}

net_log_counters server_program_log(const server_program* self) {
    if (!self->log)
        return (net_log_counters){.ticks_lost = self->lacks_log ? net_match_tick(self->match) : 0};
    net_log_counters log = net_log_get_counters(self->log);
    log.segments_closed += log.bytes > 0; // the one that is written
    return log;
}

static double per_second(uint64_t now, uint64_t before, uint64_t us) {
    BASE_ASSERT(now >= before); // counters only rise
    return us > 0 ? (double)(now - before) * 1e6 / (double)us : 0.0;
}

static void print_status(server_program* self, uint64_t now_us) {
    server_status* status = &self->status;
    BASE_ASSERT(self->start_us > 0 && now_us >= self->start_us && now_us >= status->shown_us);
    uint64_t dropped[NET_DROP_COUNT], unusual = 0;
    // It waits for the threads that send: only then the transport's counters stand still.
    net_server_dropped(self->server, dropped);
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    const net_server_counters* counters = net_server_get_counters(self->server);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        if (!net_drop_is_usual((net_drop)i)) unusual += dropped[i];
    const net_log_counters log = server_program_log(self);
    uint64_t since_us = now_us - (status->shown_us ? status->shown_us : self->start_us);
    base_report(
        &self->reporter, NULL, 0,
        "note: status tick=%" PRIu64 " up_s=%.0f clients=%" PRIu32 " spectators=%" PRIu32
        " entities=%" PRIu32 " tick_us_p50=%" PRIu64 " tick_us_p99=%" PRIu64
        " sent_kb_s=%.1f recv_kb_s=%.1f joins=%" PRIu64 " refused=%" PRIu64
        " dropped_clients=%" PRIu64 " dropped=%" PRIu64 " log_bytes=%" PRIu64
        " log_segments=%" PRIu64 " log_keyframes=%" PRIu64 " log_ticks_lost=%" PRIu64
        " log_waiting_s=%.1f log_saves=%" PRIu64 " log_saves_failed=%" PRIu64,
        net_match_tick(self->match), (double)(now_us - self->start_us) * 1e-6, counters->clients,
        counters->spectators, ecs_world_entity_count(net_match_world(self->match)),
        server_timing_percentile(&status->timing, 50),
        server_timing_percentile(&status->timing, 99),
        per_second(stats.sent_bytes, status->sent_bytes, since_us) / 1000.0,
        per_second(stats.recv_bytes, status->recv_bytes, since_us) / 1000.0, counters->joins,
        counters->refusals, counters->drops, unusual, log.bytes, log.segments_closed, log.keyframes,
        log.ticks_lost, (double)log.ticks_waited / (double)self->config.tick_rate_hz, log.saves,
        log.saves_failed);
    *status = (server_status){
        .shown_us = now_us, .sent_bytes = stats.sent_bytes, .recv_bytes = stats.recv_bytes};
}

void server_status_report(server_program* self, uint64_t now_us) {
    uint64_t every_us = self->config.status_every_s * UINT64_C(1000000);
    uint64_t last_us = self->status.shown_us ? self->status.shown_us : self->start_us;
    bool is_due = every_us > 0 && now_us - last_us >= every_us;
    if (!is_due && !self->loop.is_status_asked) return;
    self->loop.is_status_asked = false;
    print_status(self, now_us);
}
