// SPDX-License-Identifier: MIT
// shoal-server: one match in one process.
//
// Wiring only: options, module, transport, log, and the loop that gives everyone the time. What happens
// in a tick stands in net/src/server_tick.c; read run_match() here first.
//
//     receive until the deadline -> tick -> receive ... ; a stall is caught up by at most
//     NET_CATCH_UP_TICKS_MAX ticks, the rest is given up and said once a second at most.
#include "check.h"
#include "config.h"
#include "timing.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/log.h"
#include "net/loop.h"
#include "net/match.h"
#include "net/server.h"
#include "net/socket.h"
#include "net/transport_enet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#ifndef SHOAL_BUILD_ID
#define SHOAL_BUILD_ID "shoal-0.1.0"
#endif

enum {
    EXIT_CLEAN = 0,
    EXIT_RUNTIME = 1,
    EXIT_USAGE = 2,
    EXIT_BIND = 3,
    EXIT_EXPECTATION = 7,
};

#define LEDGER_CLIENT_LINES 10u // of each client

typedef struct program {
    server_config config;
    base_reporter reporter;
    net_module* module;
    net_match* match;
    net_transport* transport;
    net_log_writer* log;
    net_server* server;
    net_loop loop;
    server_timing timing;
    char log_file[256];
    bool was_asked_to_end;
} program;

static int open_module(program* self) {
    if (!self->config.game) {
        base_report(&self->reporter, NULL, 0, "--game is missing: name a game or a module file");
        return EXIT_USAGE;
    }
    char path[2048];
    net_module_default_path(path, sizeof path);
    net_result result = net_module_open(self->config.game, path, &self->reporter, &self->module);
    if (result == NET_ERR_MEMORY) return EXIT_RUNTIME;
    return result == NET_OK ? EXIT_CLEAN : EXIT_USAGE;
}

static int open_transport(program* self) {
    if (self->config.clients_min > self->config.clients_max) {
        base_report(&self->reporter, NULL, 0,
                    "--min-clients %" PRIu64 " is more than --max-clients %" PRIu64
                    ": the match would never begin",
                    self->config.clients_min, self->config.clients_max);
        return EXIT_USAGE;
    }
    if (self->config.net) {
        net_link_config link;
        if (net_link_config_parse(self->config.net, &self->reporter, &link) != NET_OK ||
            net_socket_link_set(&link) != NET_OK) {
            return EXIT_USAGE;
        }
    }
    net_enet_config enet = {
        .listen = self->config.listen,
        // Room beyond the players, so that one too many can be told so.
        .peers_max = (uint32_t)self->config.clients_max + 8,
        .peers_per_address_max = (uint32_t)self->config.clients_per_address_max,
        .is_insecure_allowed = self->config.is_insecure,
    };
    net_result result = net_transport_enet_create(&enet, &self->transport);
    if (result == NET_OK) return EXIT_CLEAN;
    if (result == NET_ERR_BIND) {
        base_report(&self->reporter, NULL, 0, "cannot bind %s: %s", self->config.listen,
                    strerror(errno));
        return EXIT_BIND;
    }
    base_report(&self->reporter, NULL, 0, "cannot listen on %s: %s", self->config.listen,
                net_result_text(result));
    return result == NET_ERR_ADDRESS || result == NET_ERR_REFUSED || result == NET_ERR_FULL
               ? EXIT_USAGE
               : EXIT_RUNTIME;
}

static int open_match(program* self) {
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.tick_rate_hz = (uint32_t)self->config.tick_rate_hz;
    for (uint32_t i = 0; i < self->config.settings.count; i++) {
        if (net_match_setting_apply(&config, self->config.settings.values[i], &self->reporter) !=
            NET_OK) {
            return EXIT_USAGE;
        }
    }
    net_result result = net_match_create(&config, &self->reporter, &self->match);
    if (result == NET_ERR_MEMORY) return EXIT_RUNTIME;
    return result == NET_OK ? EXIT_CLEAN : EXIT_USAGE;
}

static int open_log(program* self) {
    const char* wish = self->config.log;
    if (wish && strcmp(wish, "none") == 0) {
        base_text_copy(self->log_file, sizeof self->log_file, "none");
        return EXIT_CLEAN;
    }
    uint64_t unix_ms = net_loop_unix_ms();
    if (wish) {
        if (!base_text_copy(self->log_file, sizeof self->log_file, wish)) {
            base_report(&self->reporter, NULL, 0, "--log: the name is longer than %zu bytes",
                        sizeof self->log_file - 1);
            return EXIT_USAGE;
        }
    } else {
        time_t seconds = (time_t)(unix_ms / 1000);
        struct tm utc;
        gmtime_r(&seconds, &utc);
        base_text_format(self->log_file, sizeof self->log_file,
                         "%s-%04d%02d%02d-%02d%02d%02d-%d.slog", self->module->game->name,
                         utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                         utc.tm_sec, (int)getpid());
    }
    net_result result = net_log_writer_create(NULL, self->log_file, self->match, SHOAL_BUILD_ID,
                                              unix_ms, &self->reporter, &self->log);
    return result == NET_OK ? EXIT_CLEAN : EXIT_RUNTIME;
}

// A kernel without it has other troubles: to be guessed is worse than not to begin.
static void draw_secret(void* context, void* bytes, size_t size) {
    (void)context;
    ssize_t drawn = getrandom(bytes, size, 0);
    BASE_ASSERT(drawn == (ssize_t)size); // up to 256 bytes come as a whole
}

static int open_server(program* self) {
    net_server_config config = {
        .match = self->match,
        .transport = self->transport,
        .log = self->log,
        .clients_max = (uint32_t)self->config.clients_max,
        .clients_min = (uint32_t)self->config.clients_min,
        .ticks_max = self->config.ticks,
        .reporter = &self->reporter,
        .entropy = draw_secret,
        .rate_bytes_max = (uint32_t)self->config.rate_bytes_max,
        .send_divisor = (uint32_t)self->config.send_divisor,
        .is_threaded = self->config.has_net_thread,
        .has_bandwidth = self->config.bandwidth != NULL,
    };
    net_result result = net_server_create(&config, &self->server);
    if (result != NET_OK) {
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(result));
        return EXIT_RUNTIME;
    }
    char address[64];
    BASE_ASSERT(net_transport_enet_address(self->transport, address, sizeof address));
    printf("ready listen=%s game=%s tick_rate=%" PRIu64 " schema=%016" PRIx64 "\n", address,
           self->module->game->name, self->config.tick_rate_hz,
           net_schema_hash(net_match_schema(self->match)));
    return EXIT_CLEAN;
}

static void timed_tick(program* self) {
    bool was_running = net_server_get_phase(self->server) == NET_SERVER_RUNNING;
    uint64_t begin_us = net_loop_now_us();
    net_server_tick(self->server, begin_us);
    if (was_running) server_timing_add(&self->timing, net_loop_now_us() - begin_us);
}

static void tell_log_failure(program* self) {
    char text[256];
    if (self->log && net_log_take_failure(self->log, text, sizeof text)) {
        base_report(&self->reporter, self->log_file, 0, "logging stopped, the match goes on: %s",
                    text);
    }
}

// On request (SIGHUP): NAME.blk and what it imports are read again, and all or nothing of it is taken. The
// module's library stays. A log could not be run again without it, so a match that is logged refuses.
static void reload_templates(program* self) {
    const char* file = self->module->templates_file;
    self->loop.is_reload_asked = false;
    if (self->log) {
        base_report(&self->reporter, file, 0,
                    "not reloaded: a match that is logged keeps its templates (--log none)");
        return;
    }
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    ecs_reload_report done;
    net_result result = net_template_pack_read(file, &self->reporter, &pack);
    if (result == NET_OK)
        result = net_match_reload(self->match, pack.data, pack.size, &self->reporter, &done);
    base_bytes_deinit(&pack);
    if (result == NET_OK)
        base_report(&self->reporter, file, 0,
                    "note: reloaded: templates changed=%u added=%u entities changed=%u",
                    done.templates_changed, done.templates_added, done.entities_changed);
    else
        base_report(&self->reporter, file, 0, "not reloaded, nothing changed: %s",
                    result == NET_ERR_MEMORY ? net_result_text(result) : "its faults are above");
}

static void run_match(program* self) {
    const uint64_t period_us = 1000000u / self->config.tick_rate_hz;
    uint64_t next_us = net_loop_now_us();
    uint64_t said_us = 0;
    uint64_t lost_ticks = 0; // not yet said
    while (net_server_get_phase(self->server) != NET_SERVER_ENDED) {
        uint64_t now_us = net_loop_now_us();
        bool is_fast =
            self->config.is_fast && net_server_get_phase(self->server) == NET_SERVER_RUNNING;
        uint64_t wake_us = is_fast ? now_us : next_us;
        // Until then datagrams of the last tick may still be on their way out; then the next tick begins all
        // the same, and nothing is received before it.
        if (net_server_wait_sent(self->server, wake_us)) {
            uint64_t socket_us = net_socket_next_us();
            if (socket_us != UINT64_MAX && now_us + socket_us < wake_us)
                wake_us = now_us + socket_us;
            if (net_loop_wait(&self->loop, wake_us)) {
                self->was_asked_to_end = true; // and by a second signal once more: at once
                net_server_stop(self->server, net_loop_now_us());
            }
            if (self->loop.is_reload_asked) reload_templates(self);
            now_us = net_loop_now_us();
            net_server_service(self->server, now_us);
        }
        now_us = net_loop_now_us();
        if (now_us < next_us && !is_fast) continue;
        if (is_fast && self->log) net_log_wait_room(self->log);
        if (is_fast) next_us = now_us;
        timed_tick(self);
        next_us += period_us;
        tell_log_failure(self);
        uint64_t late_ticks = now_us > next_us ? (now_us - next_us) / period_us : 0;
        if (late_ticks > NET_CATCH_UP_TICKS_MAX) {
            lost_ticks += late_ticks - NET_CATCH_UP_TICKS_MAX;
            next_us += (late_ticks - NET_CATCH_UP_TICKS_MAX) * period_us;
        }
        if (lost_ticks > 0 && now_us > said_us + 1000000u) {
            base_report(&self->reporter, NULL, 0,
                        "stalled: %" PRIu64 " ticks of wall time are given up", lost_ticks);
            said_us = now_us;
            lost_ticks = 0;
        }
    }
}

static void write_line(void* context, const char* line) {
    fprintf(context, "%s\n", line);
}

static int dump_world(program* self) {
    FILE* file = fopen(self->config.dump_world, "w");
    if (!file) {
        base_report(&self->reporter, self->config.dump_world, 0, "%s", strerror(errno));
        return EXIT_RUNTIME;
    }
    (void)net_server_scope(self->server, 0, write_line, file);
    bool is_written = fclose(file) == 0;
    return is_written ? EXIT_CLEAN : EXIT_RUNTIME;
}

// The line knows three ends; whoever was dropped for breaking the protocol is told apart on stderr.
static const char* end_name(net_end end) {
    switch (end) {
    case NET_END_GOODBYE:
        return "goodbye";
    case NET_END_LEFT:
        return "left";
    case NET_END_TIMEOUT:
    case NET_END_FAULT:
    case NET_END_NONE:
        break;
    }
    return "timeout";
}

// " name=count" behind what the text has, if there is any.
static void append_count(char* text, size_t text_bytes, const char* name, uint64_t count) {
    size_t size = strlen(text);
    if (count > 0)
        (void)base_text_format(text + size, text_bytes - size, " %s=%" PRIu64, name, count);
}

// One line: every reason for which something had no effect, and how often.
static void say_dropped(program* self) {
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(self->server, dropped);
    char text[1024];
    net_drops_text(dropped, text, sizeof text);
    // What never reached a session.
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    append_count(text, sizeof text, "socket_empty", stats.dropped_empty);
    append_count(text, sizeof text, "socket_oversized", stats.dropped_oversized);
    append_count(text, sizeof text, "socket_malformed", stats.dropped_malformed);
    append_count(text, sizeof text, "socket_stale", stats.dropped_stale);
    append_count(text, sizeof text, "socket_errors", stats.socket_errors);
    append_count(text, sizeof text, "network", stats.sim_dropped);
    if (text[0]) base_report(&self->reporter, NULL, 0, "note: dropped%s", text);
}

static void write_bandwidth_line(void* context, const net_bandwidth_line* line) {
    if (line->client)
        fprintf(context, "ledger client=%" PRIu32, line->client);
    else
        fprintf(context, "ledger client=*");
    fprintf(context, " component=%s cause=%s bits=%" PRIu64 " share=%.4f\n", line->component,
            line->cause, line->bits, line->share);
}

static int write_bandwidth(program* self) {
    FILE* file = fopen(self->config.bandwidth, "w");
    if (!file) {
        base_report(&self->reporter, self->config.bandwidth, 0, "%s", strerror(errno));
        return EXIT_RUNTIME;
    }
    bool is_told =
        net_server_bandwidth(self->server, LEDGER_CLIENT_LINES, write_bandwidth_line, file);
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(self->server, dropped);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        fprintf(file, "dropped reason=%s count=%" PRIu64 "\n", net_drop_name((net_drop)i),
                dropped[i]);
    return fclose(file) == 0 && is_told ? EXIT_CLEAN : EXIT_RUNTIME;
}

static int close_match(program* self) {
    int code = EXIT_CLEAN;
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* peer = net_server_report(self->server, i);
        printf("peer id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " components=%" PRIu32
               " bytes=%" PRIu64 " scope_hash=%016" PRIx64 " end=%s\n",
               peer->client, peer->tick, peer->scope.entities, peer->scope.components,
               peer->scope.bytes, peer->scope.hash, end_name(peer->end));
        if (peer->end == NET_END_GOODBYE && !peer->is_caught_up && !self->was_asked_to_end) {
            code = EXIT_EXPECTATION;
        }
    }
    if (self->config.dump_world && dump_world(self) != EXIT_CLEAN) code = EXIT_RUNTIME;
    if (self->config.bandwidth && write_bandwidth(self) != EXIT_CLEAN) code = EXIT_RUNTIME;
    say_dropped(self);
    ecs_world* world = net_match_world(self->match);
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    uint64_t state_hash = ecs_world_state_hash(world);
    if (self->log) {
        net_log_append_close(self->log, self->match);
        if (net_log_writer_destroy(self->log) != NET_OK) {
            base_report(&self->reporter, self->log_file, 0,
                        "the log ends early: it has no end record");
            code = EXIT_RUNTIME;
        }
        self->log = NULL;
    }
    printf("done ticks=%" PRIu64 " entities=%" PRIu32 " clients_peak=%" PRIu32
           " tick_us_p50=%" PRIu64 " tick_us_p99=%" PRIu64 " sent_bytes=%" PRIu64
           " state_hash=%016" PRIx64 " log=%s\n",
           net_match_tick(self->match), ecs_world_entity_count(world),
           net_server_get_counters(self->server)->clients_peak,
           server_timing_percentile(&self->timing, 50), server_timing_percentile(&self->timing, 99),
           stats.sent_bytes, state_hash, self->log_file);
    return code;
}

static void release(program* self) {
    if (self->server) net_server_destroy(self->server);
    if (self->log) (void)!net_log_writer_destroy(self->log);
    if (self->match) net_match_destroy(self->match);
    if (self->transport) self->transport->ops->destroy(self->transport);
    if (self->module) net_module_close(self->module);
    net_loop_deinit(&self->loop);
}

static int run(program* self) {
    int code = open_module(self);
    if (code == EXIT_CLEAN) code = open_match(self);
    // The port before the log: a second server on it must leave no file behind.
    if (code == EXIT_CLEAN) code = open_transport(self);
    if (code == EXIT_CLEAN) code = open_log(self);
    if (code == EXIT_CLEAN) code = open_server(self);
    if (code != EXIT_CLEAN) return code;
    self->loop.socket_count =
        self->transport->ops->sockets(self->transport, self->loop.sockets, NET_LOOP_SOCKETS_MAX);
    run_match(self);
    return close_match(self);
}

int main(int argc, char** argv) {
    program* self = calloc(1, sizeof *self);
    if (!self) return EXIT_RUNTIME;
    self->reporter = base_reporter_stderr();
    int code = EXIT_RUNTIME;
    if (argc > 1 && strcmp(argv[1], "check") == 0) {
        code = server_check(argc - 2, argv + 2, &self->reporter);
    } else {
        switch (server_config_read(&self->config, argc, argv, &self->reporter)) {
        case BASE_OPTIONS_HELP:
            code = EXIT_CLEAN;
            break;
        case BASE_OPTIONS_ERROR:
            code = EXIT_USAGE;
            break;
        case BASE_OPTIONS_OK:
            if (self->config.words.count > 0) {
                base_report(&self->reporter, NULL, 0, "unexpected word '%s' (see --help)",
                            self->config.words.values[0]);
                code = EXIT_USAGE;
            } else if (!net_loop_init(&self->loop) || !net_loop_hear_reload(&self->loop)) {
                base_report(&self->reporter, NULL, 0, "signals: %s", strerror(errno));
            } else {
                code = run(self);
                release(self);
            }
            break;
        }
    }
    free(self);
    return code;
}
