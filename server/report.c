// SPDX-License-Identifier: MIT
// The end of a match: result lines on stdout, the file of --dump-world, the exit code. And the
// state of one that runs, as a line.
#include "program.h"

#include "base/assert.h"
#include "host/output.h"
#include "host/setup.h"
#include "net/socket.h"
#include "net/transport.h"

#include <inttypes.h>
#include <stdio.h>

static bool write_world(void* context, void* file) {
    const server_program* self = context;
    (void)net_server_scope(self->server, 0, net_host_write_line, file);
    return true;
}

static int print_peers(const server_program* self) {
    int code = NET_EXIT_CLEAN;
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* peer = net_server_report(self->server, i);
        // A session that never ended by itself was cut off by the program's own end.
        const net_end end = peer->end == NET_END_NONE ? NET_END_TIMEOUT : peer->end;
        printf("peer id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " components=%" PRIu32
               " bytes=%" PRIu64 " scope_hash=%016" PRIx64 " end=%s\n",
               peer->client, peer->tick, peer->scope.entities, peer->scope.components,
               peer->scope.bytes, peer->scope.hash, net_end_name(end));
        if (peer->end == NET_END_GOODBYE && !peer->is_caught_up && !self->was_asked_to_end &&
            peer->client < NET_SPECTATOR_FIRST && code == NET_EXIT_CLEAN)
            code = NET_EXIT_BEHIND;
        if (peer->differs) code = NET_EXIT_DIFFERS;
    }
    return code;
}

int server_program_report(server_program* self) {
    BASE_ASSERT(net_server_get_phase(self->server) == NET_SERVER_ENDED);
    const net_server_counters* counters = net_server_get_counters(self->server);
    int code = print_peers(self);
    const char* dump = self->config.dump_world;
    const bool is_written = !dump || net_host_write_file(dump, write_world, self, &self->reporter);
    uint64_t dropped[NET_DROP_COUNT];
    net_transport_stats stats;
    net_server_dropped(self->server, dropped);
    self->transport->ops->stats(self->transport, &stats);
    net_host_report_dropped(dropped, &stats, &self->reporter);
    // What the outer layer refused. Sessions that began and ended as they should are no news, nor
    // are datagrams that a line delivers twice.
    net_secure_stats refused;
    net_transport_enet_secure_stats(self->enet, &refused);
    for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++)
        if (i < NET_SECURE_BAD_SIZE || i >= NET_SECURE_LINGERED || i == NET_SECURE_REPLAYED)
            refused.counts[i] = 0;
    char text[1024];
    net_secure_stats_text(&refused, text, sizeof text);
    if (text[0]) base_report(&self->reporter, NULL, 0, "note: refused%s", text);
    ecs_world* world = net_match_world(self->match);
    uint64_t state_hash = ecs_world_state_hash(world);
    const int of_parts = server_program_phase(self, SERVER_REPORT);
    if (of_parts != NET_EXIT_CLEAN) code = of_parts;
    if (net_server_has_failed(self->server) || !is_written) code = NET_EXIT_RUNTIME;
    char words[1024];
    server_program_say(self, SERVER_SAYS_DONE, words, sizeof words);
    printf("done ticks=%" PRIu64 " entities=%" PRIu32 " clients_peak=%" PRIu32
           " tick_us_p50=%" PRIu64 " tick_us_p99=%" PRIu64 " sent_bytes=%" PRIu64
           " solo_stopped=%" PRIu64 " state_hash=%016" PRIx64 " cpu_us_per_tick=%" PRIu64 "%s\n",
           net_match_tick(self->match), ecs_world_entity_count(world), counters->clients_peak,
           server_timing_percentile(&self->timing, 50), server_timing_percentile(&self->timing, 99),
           stats.sent_bytes, counters->solo_stopped, state_hash,
           server_timing_cpu_us(&self->timing, net_loop_cpu_us()), words);
    return code;
}

// ---- the state as one line, on SIGUSR1 and every --lines status-s seconds
//
// All of it is counted anyway; between two lines a match pays one entry of a histogram a tick.

static double per_second(uint64_t now, uint64_t before, uint64_t us) {
    BASE_ASSERT(now >= before); // counters only rise
    return us > 0 ? (double)(now - before) * 1e6 / (double)us : 0.0;
}

static void print_status(server_program* self, uint64_t now_us) {
    server_status* status = &self->status;
    BASE_ASSERT(self->start_us > 0 && now_us >= self->start_us && now_us >= status->shown_us);
    char words[512];
    uint64_t dropped[NET_DROP_COUNT], unusual = 0;
    // It waits for the threads that send: only then the transport's counters stand still.
    net_server_dropped(self->server, dropped);
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    const net_server_counters* counters = net_server_get_counters(self->server);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        if (!net_drop_is_usual((net_drop)i)) unusual += dropped[i];
    server_program_say(self, SERVER_SAYS_STATUS, words, sizeof words);
    const net_host_usage usage = net_host_get_usage();
    const uint64_t cpu_us = net_loop_cpu_us();
    uint64_t since_us = now_us - (status->shown_us ? status->shown_us : self->start_us);
    base_report(
        &self->reporter, NULL, 0,
        "note: status tick=%" PRIu64 " up_s=%.0f clients=%" PRIu32 " spectators=%" PRIu32
        " entities=%" PRIu32 " paused=%s tick_us_p50=%" PRIu64 " tick_us_p99=%" PRIu64
        " sent_kb_s=%.1f recv_kb_s=%.1f joins=%" PRIu64 " refused=%" PRIu64
        " dropped_clients=%" PRIu64 " dropped=%" PRIu64 " cpu_us_per_tick=%" PRIu64
        " memory_mb=%.1f descriptors=%" PRIu64 " identity=%016" PRIx64 "%s",
        net_match_tick(self->match), (double)(now_us - self->start_us) * 1e-6, counters->clients,
        counters->spectators, ecs_world_entity_count(net_match_world(self->match)),
        net_server_is_empty(self->server)    ? "empty"
        : net_server_is_paused(self->server) ? "operator"
                                             : "no",
        server_timing_percentile(&status->timing, 50),
        server_timing_percentile(&status->timing, 99),
        per_second(stats.sent_bytes, status->sent_bytes, since_us) / 1000.0,
        per_second(stats.recv_bytes, status->recv_bytes, since_us) / 1000.0, counters->joins,
        counters->refusals, counters->drops, unusual, server_timing_cpu_us(&status->timing, cpu_us),
        (double)usage.memory_bytes / 1e6, usage.descriptors, self->identity, words);
    *status = (server_status){.timing.cpu_us = cpu_us,
                              .shown_us = now_us,
                              .sent_bytes = stats.sent_bytes,
                              .recv_bytes = stats.recv_bytes};
}

void server_program_report_status(server_program* self, uint64_t now_us) {
    uint64_t every_us = self->config.status_every_s * UINT64_C(1000000);
    uint64_t last_us = self->status.shown_us ? self->status.shown_us : self->start_us;
    bool is_due = every_us > 0 && now_us - last_us >= every_us;
    if (!is_due && !self->loop.is_status_asked) return;
    self->loop.is_status_asked = false;
    print_status(self, now_us);
}
