// SPDX-License-Identifier: MIT
// Opening and closing: what the options name becomes a module, a match, a socket, a log and a
// server.
//
// The order matters. Options are checked before anything is created. The port comes before the log,
// so that a second server on the same port leaves no file behind.
#include "access.h"
#include "program.h"

#include "base/assert.h"
#include "base/text.h"
#include "tools/output.h"
#include "tools/setup.h"
#include "net/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// Connections beyond --max-clients, so that one client too many can be refused with a reason. At
/// NET_CLIENTS_MAX there is none, and the outer layer says that the server is full.
#define REFUSED_PEERS_MAX 8u

static int open_module(server_program* self) {
    if (!self->config.game) {
        base_report(&self->reporter, NULL, 0, "--game is missing: name a game or a module file");
        return NET_EXIT_USAGE;
    }
    net_result result = net_host_open_game(self->config.game, NET_ROLE_SERVER, self->config.threads,
                                           &self->reporter, &self->module);
    return net_exit_report_setup(result, &self->reporter);
}

static int open_match(server_program* self) {
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.tick_rate_hz = (uint32_t)self->config.tick_rate_hz;
    for (uint32_t i = 0; i < self->config.settings.count; i++) {
        const char* setting = self->config.settings.values[i];
        if (net_match_setting_apply(&config, setting, &self->reporter) != NET_OK)
            return NET_EXIT_USAGE;
    }
    net_result result = net_match_create(&config, &self->reporter, &self->match);
    if (result == NET_OK) result = net_host_check_game(self->match, &self->reporter);
    return net_exit_report_setup(result, &self->reporter);
}

static int report_transport(server_program* self, net_result result) {
    if (result == NET_ERR_BIND) {
        base_report(&self->reporter, NULL, 0, "cannot bind %s: %s", self->config.listen,
                    strerror(errno));
        return NET_EXIT_BIND;
    }
    base_report(&self->reporter, NULL, 0, "cannot listen on %s: %s", self->config.listen,
                net_result_text(result));
    bool is_usage =
        result == NET_ERR_ADDRESS || result == NET_ERR_REFUSED || result == NET_ERR_FULL;
    return is_usage ? NET_EXIT_USAGE : NET_EXIT_RUNTIME;
}

// Who watches a game in which players do not see everything can help one of them.
static bool choose_spectators(server_program* self) {
    server_config* config = &self->config;
    const uint64_t room = NET_CLIENTS_MAX - config->clients_max;
    if (config->spectators_max == SERVER_SPECTATORS_UNSET) {
        const bool hides =
            self->module->game->interest || net_schema_hides(net_match_schema(self->match));
        config->spectators_max = hides ? 0 : NET_SPECTATORS_DEFAULT;
        if (config->spectators_max > room) config->spectators_max = room;
    }
    if (config->spectators_max <= room) return true;
    base_report(&self->reporter, NULL, 0,
                "--max-clients %" PRIu64 " and --spectators %" PRIu64
                " are more than the %u connections of a server",
                config->clients_max, config->spectators_max, NET_CLIENTS_MAX);
    return false;
}

static int open_transport(server_program* self) {
    if (!choose_spectators(self)) return NET_EXIT_USAGE;
    if (self->config.clients_min > self->config.clients_max) {
        base_report(&self->reporter, NULL, 0,
                    "--min-clients %" PRIu64 " is more than --max-clients %" PRIu64
                    ": the match would never begin",
                    self->config.clients_min, self->config.clients_max);
        return NET_EXIT_USAGE;
    }
    if (!net_host_simulate_network(self->config.net, &self->reporter)) return NET_EXIT_USAGE;
    const uint32_t peers =
        (uint32_t)(self->config.clients_max + self->config.spectators_max) + REFUSED_PEERS_MAX;
    const net_enet_config enet = {
        .listen = self->config.listen,
        .peers_max = peers < NET_CLIENTS_MAX ? peers : NET_CLIENTS_MAX,
        .lanes = (uint32_t)self->config.net_threads,
        .bans = self->bans,
        .security = server_access_security(self),
    };
    net_result result = net_transport_enet_create(&enet, &self->transport);
    server_access_wipe(self);
    if (result != NET_OK) return report_transport(self, result);
    BASE_ASSERT(self->loop.socket_count == 0);
    self->loop.socket_count =
        self->transport->ops->sockets(self->transport, self->loop.sockets, NET_LOOP_SOCKETS_MAX);
    return NET_EXIT_CLEAN;
}

// "breakout-20261120-184500-4711.slog"
static void make_log_name(server_program* self, uint64_t unix_ms) {
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    base_text_format(self->log_file, sizeof self->log_file, "%s-%04d%02d%02d-%02d%02d%02d-%d.slog",
                     self->module->game->name, utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, (int)getpid());
}

static net_log_options log_options(const server_config* config, bool is_in_memory) {
    net_log_options options = net_log_options_default();
    options.segments = (net_log_segments){.bytes_max = config->log_segment_mb << 20,
                                          .seconds_max = (uint32_t)config->log_segment_s,
                                          .kept_max = (uint32_t)config->log_keep,
                                          .budget_bytes = config->log_budget_mb << 20,
                                          .on_close = config->log_on_close};
    options.sync = config->log_sync;
    options.content = config->log_content;
    options.ring_seconds = (uint32_t)config->log_ring_s;
    options.ring_bytes = config->log_ring_mb << 20;
    options.is_in_memory = is_in_memory;
    return options;
}

static int open_log(server_program* self) {
    BASE_ASSERT(self->match && self->transport && !self->log); // the port comes before the file
    const char* name = self->config.log;
    uint64_t unix_ms = net_loop_unix_ms();
    if (!name) {
        make_log_name(self, unix_ms);
    } else if (!base_text_copy(self->log_file, sizeof self->log_file, name)) {
        base_report(&self->reporter, NULL, 0, "--log: the name is longer than %zu bytes",
                    sizeof self->log_file - 1);
        return NET_EXIT_USAGE;
    }
    const bool has_file = !name || strcmp(name, "none") != 0;
    if (!has_file && self->config.log_ring_s == 0) return NET_EXIT_CLEAN;
    if (!has_file) make_log_name(self, unix_ms); // of what is saved
    const net_log_options options = log_options(&self->config, !has_file);
    net_result result =
        net_log_writer_create_as(NULL, self->log_file, &options, self->match, net_build_id(),
                                 unix_ms, &self->reporter, &self->log);
    if (result == NET_ERR_DISK) {
        base_report(&self->reporter, self->log_file, 0, "the match runs without a log");
        (void)base_text_copy(self->log_file, sizeof self->log_file, "none");
        self->lacks_log = true;
        return NET_EXIT_CLEAN;
    }
    self->has_log_file = has_file && result == NET_OK;
    (void)net_exit_report_setup(result, &self->reporter);
    return result == NET_OK ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

static int open_server(server_program* self) {
    if (!net_host_open_file(self->config.session_trace, &self->reporter, &self->session_trace))
        return NET_EXIT_RUNTIME;
    if (self->log)
        self->identity = net_log_writer_identity(self->log);
    else
        net_host_draw_secret(NULL, &self->identity, sizeof self->identity);
    net_server_config config = {
        .match = self->match,
        .transport = self->transport,
        .log = self->log,
        .clients_max = (uint32_t)self->config.clients_max,
        .spectators_max = (uint32_t)self->config.spectators_max,
        .clients_min = (uint32_t)self->config.clients_min,
        .bans = self->bans,
        .clients_per_address_max = (uint32_t)self->config.clients_per_address_max,
        .ticks_max = self->config.ticks,
        .reporter = &self->reporter,
        .entropy = net_host_draw_secret,
        .secret = self->has_keys ? server_access_secret : NULL,
        .secret_context = self,
        .rate_bytes_max = (uint32_t)self->config.rate_bytes_max,
        .send_divisor = (uint32_t)self->config.send_divisor,
        .coder = self->config.coder,
        .is_threaded = self->config.net_threads > 0,
        .has_bandwidth = self->config.bandwidth != NULL,
        .session_trace = self->session_trace ? net_host_write_trace : NULL,
        .session_trace_context = self->session_trace,
    };
    net_result result = net_server_create(&config, &self->server);
    if (result != NET_OK) {
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(result));
        return NET_EXIT_RUNTIME;
    }
    return NET_EXIT_CLEAN;
}

static void print_ready(const server_program* self) {
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    BASE_ASSERT(net_transport_enet_address(self->transport, address, sizeof address));
    printf("ready listen=%s game=%s tick_rate=%" PRIu64 " schema=%016" PRIx64 "\n", address,
           self->module->game->name, self->config.tick_rate_hz,
           net_schema_hash(net_match_schema(self->match)));
}

int server_program_open(server_program* self) {
    BASE_ASSERT(!self->module && !self->match && !self->server);
    int code = open_module(self);
    if (code == NET_EXIT_CLEAN) code = open_match(self);
    if (code == NET_EXIT_CLEAN) code = server_access_open(self);
    if (code == NET_EXIT_CLEAN) code = open_transport(self);
    if (code == NET_EXIT_CLEAN) code = open_log(self);
    if (code == NET_EXIT_CLEAN) code = open_server(self);
    if (code == NET_EXIT_CLEAN) {
        self->sentry = net_sentry_create(&(net_sentry_config){
            .loop = &self->loop,
            .log_file = self->has_log_file ? self->log_file : NULL,
            .reporter = self->reporter,
        });
        server_access_report(self);
        if (self->config.has_console) server_console_open(&self->console, &self->loop);
    }
    if (code == NET_EXIT_CLEAN) print_ready(self);
    return code;
}

void server_program_close(server_program* self) {
    net_sentry_destroy(self->sentry);
    if (self->log) (void)!net_log_writer_destroy(self->log); // it reads the server's rows
    if (self->server) net_server_destroy(self->server);
    if (self->session_trace) fclose(self->session_trace);
    if (self->match) net_match_destroy(self->match);
    if (self->transport) self->transport->ops->destroy(self->transport);
    net_host_close_game(self->module);
    server_access_close(self);
    net_loop_deinit(&self->loop);
}
