// SPDX-License-Identifier: MIT
// The end of a match: result lines on stdout, the files of --dump-world and --ledger, the exit
// code.
#include "program.h"

#include "base/assert.h"
#include "host/output.h"
#include "net/transport.h"

#include <inttypes.h>
#include <stdio.h>

#define BANDWIDTH_CLIENT_LINES 10u // of each client

enum {
    COMMANDS_S_MAX = 60, // for the programs of --log-on-close at the end
    COMMANDS_LOOK_MS = 5,
};

static bool write_world(void* context, void* file) {
    const server_program* self = context;
    (void)net_server_scope(self->server, 0, net_host_write_line, file);
    return true;
}

static void write_bandwidth_line(void* context, const net_bandwidth_line* line) {
    FILE* file = context;
    if (line->client)
        fprintf(file, "ledger client=%" PRIu32, line->client);
    else
        fprintf(file, "ledger client=*");
    fprintf(file, " component=%s cause=%s bits=%" PRIu64 " share=%.4f\n", line->component,
            line->cause, line->bits, line->share);
}

static bool write_bandwidth(void* context, void* file) {
    const server_program* self = context;
    bool is_whole =
        net_server_bandwidth(self->server, BANDWIDTH_CLIENT_LINES, write_bandwidth_line, file);
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(self->server, dropped);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        fprintf(file, "dropped reason=%s count=%" PRIu64 "\n", net_drop_name((net_drop)i),
                dropped[i]);
    return is_whole;
}

// A session that never ended by itself was cut off by the program's own end.
static const char* end_name(net_end end) {
    return net_end_name(end == NET_END_NONE ? NET_END_TIMEOUT : end);
}

static int print_peers(const server_program* self) {
    int code = NET_EXIT_CLEAN;
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* peer = net_server_report(self->server, i);
        printf("peer id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " components=%" PRIu32
               " bytes=%" PRIu64 " scope_hash=%016" PRIx64 " end=%s\n",
               peer->client, peer->tick, peer->scope.entities, peer->scope.components,
               peer->scope.bytes, peer->scope.hash, end_name(peer->end));
        if (peer->end == NET_END_GOODBYE && !peer->is_caught_up && !self->was_asked_to_end &&
            peer->client < NET_SPECTATOR_FIRST && code == NET_EXIT_CLEAN)
            code = NET_EXIT_BEHIND;
        if (peer->differs) code = NET_EXIT_DIFFERS;
    }
    return code;
}

static bool write_files(server_program* self) {
    const server_config* config = &self->config;
    bool is_written = true;
    if (config->dump_world)
        is_written &= net_host_write_file(config->dump_world, write_world, self, &self->reporter);
    if (config->bandwidth)
        is_written &=
            net_host_write_file(config->bandwidth, write_bandwidth, self, &self->reporter);
    return is_written;
}

// In a container and in a service they end with the server. A further signal ends the wait.
static void wait_for_commands(server_program* self) {
    const uint64_t begin_us = net_loop_now_us();
    net_loop* loop = &self->loop;
    bool is_over = false;
    loop->socket_count = 0; // signals alone
    while (net_log_commands_go_on(self->log) && !is_over) {
        const uint64_t now_us = net_loop_now_us();
        server_fleet_keep(self);
        server_notify_extend(&self->service.notify, now_us);
        is_over = net_loop_wait(loop, now_us + COMMANDS_LOOK_MS * UINT64_C(1000));
        if (is_over) server_fleet_terminate(self);
        is_over = is_over || now_us - begin_us >= COMMANDS_S_MAX * UINT64_C(1000000);
    }
    if (is_over)
        base_report(&self->reporter, self->config.log_on_close, 0,
                    "warning: it still stores the log, and is not waited for (%u s at most)",
                    COMMANDS_S_MAX);
}

static bool close_log(server_program* self, net_log_counters* counters) {
    *counters = server_program_log(self);
    if (!self->log) return !self->lacks_log;
    net_log_append_close(self->log, self->match);
    server_stream_end(self->stream);
    net_result result = net_log_writer_finish(self->log);
    wait_for_commands(self);
    char text[256];
    const base_reporter* log = server_program_layer(self, SERVER_LAYER_LOG);
    if (net_log_take_failure(self->log, text, sizeof text))
        base_report(log, self->log_file, 0, "%s", text);
    while (net_log_take_notice(self->log, text, sizeof text))
        base_report(log, self->log_file, 0, "%s", text);
    server_console_report_saved(self);
    *counters = server_program_log(self);
    (void)net_log_writer_destroy(self->log);
    self->log = NULL;
    if (result == NET_OK) return true;
    base_report(log, self->log_file, 0, "the log ends early: it has no end record");
    return false;
}

// What the outer layer refused. Sessions that began and ended as they should are no news, nor are
// datagrams that a line delivers twice.
static void report_refused(const server_program* self) {
    net_secure_stats refused;
    net_transport_enet_secure_stats(self->transport, &refused);
    for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++)
        if (i < NET_SECURE_BAD_SIZE || i >= NET_SECURE_LINGERED || i == NET_SECURE_REPLAYED)
            refused.counts[i] = 0;
    char text[1024];
    net_secure_stats_text(&refused, text, sizeof text);
    if (text[0]) base_report(&self->reporter, NULL, 0, "note: refused%s", text);
}

int server_program_report(server_program* self) {
    BASE_ASSERT(net_server_get_phase(self->server) == NET_SERVER_ENDED);
    int code = print_peers(self);
    if (server_follow_exit(self) != NET_EXIT_CLEAN) code = server_follow_exit(self);
    if (server_standby_exit(self) != NET_EXIT_CLEAN) code = server_standby_exit(self);
    if (net_server_has_failed(self->server) || !write_files(self)) code = NET_EXIT_RUNTIME;
    uint64_t dropped[NET_DROP_COUNT];
    net_transport_stats stats;
    net_server_dropped(self->server, dropped);
    self->transport->ops->stats(self->transport, &stats);
    net_host_report_dropped(dropped, &stats, &self->reporter);
    report_refused(self);
    ecs_world* world = net_match_world(self->match);
    uint64_t state_hash = ecs_world_state_hash(world);
    net_log_counters log;
    if (!close_log(self, &log)) code = NET_EXIT_RUNTIME;
    printf("done ticks=%" PRIu64 " entities=%" PRIu32 " clients_peak=%" PRIu32
           " tick_us_p50=%" PRIu64 " tick_us_p99=%" PRIu64 " sent_bytes=%" PRIu64
           " solo_stopped=%" PRIu64 " state_hash=%016" PRIx64 " log_bytes=%" PRIu64
           " log_saves=%" PRIu64 " log_segments=%" PRIu64 " log_ticks_lost=%" PRIu64
           " log_waiting_s=%.1f log=%s\n",
           net_match_tick(self->match), ecs_world_entity_count(world),
           net_server_get_counters(self->server)->clients_peak,
           server_timing_percentile(&self->timing, 50), server_timing_percentile(&self->timing, 99),
           stats.sent_bytes, net_server_get_counters(self->server)->solo_stopped, state_hash,
           log.bytes, log.saves, log.segments_closed, log.ticks_lost,
           (double)log.ticks_waited / (double)self->config.tick_rate_hz,
           log.bytes > 0 ? self->log_file : "none");
    return code;
}
