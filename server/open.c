// SPDX-License-Identifier: MIT
// Opening and closing: what the options name becomes a module, a match, a socket, a log and a
// server.
//
// The order matters. Options are checked before anything is created. The port comes before the log,
// so that a second server on the same port leaves no file behind.
#include "access.h"
#include "agones/agones.h"
#include "program.h"
#include "fleet/resume.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/setup.h"
#include "net/log_bytes.h"
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
#define CRASH_AGAIN_S 10u ///< that the command in the report of a crash runs again

static int open_module(server_program* self) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    if (!self->config.game) {
        base_report(&self->reporter, NULL, 0, "--game is missing: name a game or a module file");
        return NET_EXIT_USAGE;
    }
    net_result result = net_host_open_game(self->config.game, NET_ROLE_SERVER, self->config.threads,
                                           game, &self->module);
    return net_exit_report_setup(result, game);
}

// `allocation`: NULL, or one whose settings win.
static int make_match(server_program* self, const server_watch_state* allocation) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.tick_rate_hz = (uint32_t)self->config.tick_rate_hz;
    for (uint32_t i = 0; i < self->config.settings.count; i++) {
        const char* setting = self->config.settings.values[i];
        if (net_match_setting_apply(&config, setting, game) != NET_OK) return NET_EXIT_USAGE;
    }
    for (uint32_t i = 0; allocation && i < allocation->setting_count; i++)
        if (net_match_setting_apply(&config, allocation->settings[i], game) != NET_OK)
            return NET_EXIT_USAGE;
    net_result result = net_match_create(&config, game, &self->match);
    return net_exit_report_setup(result, game);
}

static int open_match(server_program* self) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    const int code = self->follow.source ? server_follow_match(self)
                     : self->before      ? server_resume_match(self)
                                         : make_match(self, NULL);
    if (code != NET_EXIT_CLEAN) return code;
    const net_result result = net_host_check_game(self->match, game);
    return net_exit_report_setup(result, game);
}

// Once it is allocated, in a fleet. @return NET_EXIT_CLEAN also when it ends before.
static int wait_for_allocation(server_program* self) {
    int code = server_fleet_wait(self);
    if (code == NET_EXIT_CLEAN) code = server_fleet_accept(self);
    if (code != NET_EXIT_CLEAN || !self->fleet.is_allocated) return code;
    const server_watch_state* allocation = server_agones_allocation(self->fleet.agones);
    if (allocation->setting_count == 0) return NET_EXIT_CLEAN;
    net_match_destroy(self->match);
    self->match = NULL;
    return make_match(self, allocation);
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

// Does the game hide something from players?
static bool is_hiding(const server_program* self) {
    return self->module->game->interest || net_schema_hides(net_match_schema(self->match));
}

// Who watches a game in which players do not see everything can help one of them.
static bool choose_spectators(server_program* self) {
    server_config* config = &self->config;
    const uint64_t room = NET_CLIENTS_MAX - config->clients_max;
    if (config->follow) config->clients_max = 1; // a place that is never given
    if (config->spectators_max == SERVER_SPECTATORS_UNSET) {
        config->spectators_max = is_hiding(self) ? 0 : NET_SPECTATORS_DEFAULT;
        if (config->spectators_max > room) config->spectators_max = room;
    }
    if (config->spectators_max <= room) return true;
    base_report(&self->reporter, NULL, 0,
                "--max-clients %" PRIu64 " and --spectators %" PRIu64
                " are more than the %u connections of a server",
                config->clients_max, config->spectators_max, NET_CLIENTS_MAX);
    return false;
}

// Before the port, because the secrets of sessions are made of it. A match that goes on keeps it.
static void choose_identity(server_program* self) {
    self->identity = self->before          ? net_log_reader_info(self->before)->identity
                     : self->follow.source ? net_follow_info(self->follow.source)->identity
                                           : 0;
    while (self->identity == 0)
        net_host_draw_secret(NULL, &self->identity, sizeof self->identity);
}

static int open_transport(server_program* self) {
    choose_identity(self);
    if (!choose_spectators(self)) return NET_EXIT_USAGE;
    const int code = server_follow_check(self, is_hiding(self));
    if (code != NET_EXIT_CLEAN) return code;
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

// An operator may change the match: the header of its log has to say so.
static bool has_controls(const server_config* config) {
    return config->allow_edits || config->has_console || config->control || config->http ||
           config->follow;
}

static net_log_options log_options(const server_config* config, bool is_in_memory,
                                   net_log_reader* before) {
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
    options.before = before;
    options.has_controls = has_controls(config);
    return options;
}

// The stream takes what the log's writer appends.
static int make_stream(server_program* self, bool has_file, net_log_options* options) {
    net_stream_sync sync;
    if (!server_stream_read_sync(self->config.stream_sync ? self->config.stream_sync : "off",
                                 &self->reporter, &sync))
        return NET_EXIT_USAGE;
    if (sync.is_on && !self->config.stream) {
        base_report(&self->reporter, NULL, 0, "--stream-sync: there is no --stream");
        return NET_EXIT_USAGE;
    }
    if (!self->config.stream) return NET_EXIT_CLEAN;
    sync.tick_us = UINT64_C(1000000) / self->config.tick_rate_hz;
    if (!has_file) {
        base_report(&self->reporter, NULL, 0,
                    "--stream: it needs a log, which is its source (not --log none)");
        return NET_EXIT_USAGE;
    }
    uint32_t addresses = (uint32_t)self->config.public_addresses.count;
    char text[NET_ENET_ADDRESS_TEXT_BYTES];
    const bool is_public = addresses > 0;
    if (!is_public && net_transport_enet_address(self->transport, text, sizeof text) &&
        net_address_parse(text, &self->stream_address) == NET_OK)
        addresses = 1;
    self->stream = server_stream_create(&(server_stream_config){
        .url = self->config.stream,
        .log_file = self->log_file,
        .addresses = is_public ? self->public_addresses : &self->stream_address,
        .address_count = addresses,
        .key_id = self->key_name,
        .is_following = self->standby.standby != NULL,
        .sync = sync,
        .reporter = &self->reporter,
    });
    if (!self->stream || net_transport_hold_create(NULL, self->transport, &self->hold) != NET_OK) {
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
        return NET_EXIT_RUNTIME;
    }
    net_loop* loop = &self->loop;
    if (loop->socket_count < NET_LOOP_SOCKETS_MAX)
        loop->sockets[loop->socket_count++] = server_stream_descriptor(self->stream);
    options->tap = server_stream_tap(self->stream);
    return NET_EXIT_CLEAN;
}

static int begin_stream(server_program* self) {
    if (!self->stream) return NET_EXIT_CLEAN;
    if (self->has_log_file && self->standby.standby)
        return server_stream_stand_by(self->stream, self->identity, self->standby.standby);
    if (self->has_log_file)
        return server_stream_begin(self->stream, self->identity, self->config.resume != NULL);
    base_report(&self->reporter, NULL, 0, "--stream: there is no log, which is its source");
    return NET_EXIT_RUNTIME;
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
    if (!has_file && self->config.log_key) {
        base_report(&self->reporter, NULL, 0, "--log-key: there is no log to sign (--log none)");
        return NET_EXIT_USAGE;
    }
    net_log_options options = log_options(&self->config, !has_file, self->before);
    int code = make_stream(self, has_file, &options);
    if (code != NET_EXIT_CLEAN) return code;
    if (!has_file && self->config.log_ring_s == 0) return NET_EXIT_CLEAN;
    if (!has_file) make_log_name(self, unix_ms); // of what is saved
    code = server_resume_check_signed(self);
    if (code != NET_EXIT_CLEAN) return code;
    if (self->config.log_key) options.sign_key = &self->log_key;
    options.identity = self->identity;
    const base_reporter* log = server_program_layer(self, SERVER_LAYER_LOG);
    net_result result = net_log_writer_create_as(NULL, self->log_file, &options, self->match,
                                                 net_build_id(), unix_ms, log, &self->log);
    if (result == NET_ERR_DISK) {
        base_report(log, self->log_file, 0, "the match runs without a log");
        (void)base_text_copy(self->log_file, sizeof self->log_file, "none");
        self->lacks_log = true;
        return NET_EXIT_CLEAN;
    }
    self->has_log_file = has_file && result == NET_OK;
    (void)net_exit_report_setup(result, log);
    return result == NET_OK ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

static bool shows_sessions(const server_program* self) {
    return server_lines_shows(self->lines, SERVER_LAYER_NET, SERVER_LEVEL_DEBUG);
}

// For --trace-session, and a line for each change of a session's state with --log-level net=debug.
static void trace_session(void* context, const net_trace_event* event) {
    const server_program* self = context;
    if (self->session_trace) net_host_write_trace(self->session_trace, event);
    if (event->kind != NET_TRACE_STATE || !shows_sessions(self)) return;
    char text[NET_TRACE_LINE_BYTES_MAX];
    net_trace_text(event, text, sizeof text);
    base_report(server_program_layer(self, SERVER_LAYER_NET), NULL, 0, "debug: %s", text);
}

static int open_server(server_program* self) {
    if (!net_host_open_file(self->config.session_trace, &self->reporter, &self->session_trace))
        return NET_EXIT_RUNTIME;
    net_server_config config = {
        .match = self->match,
        .transport = self->hold ? self->hold : self->transport,
        .observer = net_log_observer(self->log),
        .clients_max = (uint32_t)self->config.clients_max,
        .spectators_max = (uint32_t)self->config.spectators_max,
        .clients_min = (uint32_t)self->config.clients_min,
        .bans = self->bans,
        .clients_per_address_max = (uint32_t)self->config.clients_per_address_max,
        .ticks_max = self->config.ticks,
        .reporter = server_program_layer(self, SERVER_LAYER_NET),
        .entropy = net_host_draw_secret,
        .secret = self->has_keys ? server_access_secret : NULL,
        .secret_context = self,
        .rate_bytes_max = (uint32_t)self->config.rate_bytes_max,
        .send_divisor = (uint32_t)self->config.send_divisor,
        .coder = self->config.coder,
        .is_threaded = self->config.net_threads > 0,
        .has_bandwidth = self->config.bandwidth != NULL,
        .is_following = self->follow.source != NULL,
        .clock_us = net_loop_now_us,
        .session_trace = self->session_trace || shows_sessions(self) ? trace_session : NULL,
        .session_trace_context = self,
    };
    self->meter = server_meter_create((uint32_t)self->config.tick_rate_hz);
    self->metrics = server_metrics_create();
    net_result result = self->metrics ? net_server_create(&config, &self->server) : NET_ERR_MEMORY;
    if (result != NET_OK) {
        base_report(&self->reporter, NULL, 0, "%s", net_result_text(result));
        return NET_EXIT_RUNTIME;
    }
    return NET_EXIT_CLEAN;
}

void server_program_update_subject(server_program* self) {
    server_subject* subject = &self->subject;
    subject->match = self->match;
    subject->server = self->server;
    subject->transport = self->transport;
    subject->log = self->log;
    subject->lacks_log = self->lacks_log;
    subject->log_file = self->log_file;
    subject->stream = server_stream_get(self->stream);
    subject->reporter = &self->reporter;
    subject->start_us = self->start_us;
    subject->lines = self->lines;
    subject->metrics = self->metrics;
    subject->is_served = self->inspect != NULL;
    if (self->inspect) subject->http = server_inspect_get_counts(self->inspect);
    subject->tick_rate_hz = self->config.tick_rate_hz;
    subject->meter = self->meter;
    subject->options = &self->config.options;
    subject->clients_max = (uint32_t)self->config.clients_max;
    subject->spectators_max = (uint32_t)self->config.spectators_max;
    subject->reader_delay_s = self->config.http_delay_s;
    subject->bans = self->bans;
    subject->has_controls = !self->log || has_controls(&self->config);
    subject->may_edit = self->config.allow_edits;
    subject->is_paused = net_server_is_paused(self->server);
    subject->follow = self->follow.source ? &self->follow.report : NULL;
    subject->standby = server_standby_is_waiting(self) ? &self->standby.report : NULL;
}

static int tell_standbys(server_program* self) {
    const base_option_list* given = &self->config.standby_addresses;
    if (given->count == 0) return NET_EXIT_CLEAN;
    if (given->count > NET_STANDBYS_MAX) {
        base_report(&self->reporter, NULL, 0, "--standby-at: at most %u", NET_STANDBYS_MAX);
        return NET_EXIT_USAGE;
    }
    if (!server_addresses_resolve("standby-at", given, self->standbys, &self->reporter))
        return NET_EXIT_USAGE;
    net_server_set_standbys(self->server, self->standbys, (uint32_t)given->count);
    return NET_EXIT_CLEAN;
}

static int open_inspect(server_program* self) {
    const server_config* config = &self->config;
    if (!config->http) return NET_EXIT_CLEAN;
    server_program_update_subject(self);
    const char* file = self->module->templates_file;
    const int code = server_inspect_open(
        &(server_inspect_config){
            .listen = config->http,
            .token_file = config->http_token_file,
            .hosts = config->http_hosts,
            .is_optional = config->http_is_optional,
            .game = self->module->game->name,
            .game_file = file[0] ? file : NULL,
            .log_file = self->has_log_file ? self->log_file : NULL,
            .is_live = true,
            .is_hiding = is_hiding(self) && !config->follow, // it is late already
            .delay_s = config->http_delay_s,
            .tick_rate_hz = config->tick_rate_hz,
            .subject = &self->subject,
            .reporter = server_program_layer(self, SERVER_LAYER_HTTP),
        },
        &self->inspect);
    net_loop* loop = &self->loop;
    if (self->inspect && loop->socket_count < NET_LOOP_SOCKETS_MAX)
        loop->sockets[loop->socket_count++] = server_inspect_descriptor(self->inspect);
    return code;
}

static int open_control(server_program* self) {
    if (!self->config.control) return NET_EXIT_CLEAN;
    const int code = server_control_open(self->config.control, &self->reporter, &self->control);
    net_loop* loop = &self->loop;
    if (self->control && loop->socket_count < NET_LOOP_SOCKETS_MAX)
        loop->sockets[loop->socket_count++] = server_control_descriptor(self->control);
    return code;
}

static void print_ready(const server_program* self) {
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    BASE_ASSERT(net_transport_enet_address(self->transport, address, sizeof address));
    printf("ready listen=%s game=%s tick_rate=%" PRIu64 " schema=%016" PRIx64, address,
           self->module->game->name, self->config.tick_rate_hz,
           net_schema_hash(net_match_schema(self->match)));
    if (self->inspect) {
        server_inspect_address(self->inspect, address, sizeof address);
        printf(" http=%s", address);
    }
    if (self->stream) {
        char url[512];
        server_stream_url(self->stream, url, sizeof url);
        printf(" stream=%s", url);
    }
    if (self->config.follow)
        printf(" delay_s=%" PRIu64 " tick=%" PRIu64, self->config.follow_delay_s,
               net_match_tick(self->match));
    printf("\n");
}

static void open_sentry(server_program* self) {
    char crash_file[sizeof self->log_file + 8];
    const bool has_crash_file =
        self->has_log_file && net_log_crash_name(crash_file, sizeof crash_file, self->log_file);
    char go_on[4096];
    const char* game = self->config.game;
    self->sentry = net_sentry_create(&(net_sentry_config){
        .loop = &self->loop,
        .log_file = self->has_log_file ? self->log_file : NULL,
        .reporter = self->reporter,
        .line_begin = server_lines_fatal_begin(self->lines),
        .line_end = server_lines_fatal_end(self->lines),
        .crash_file = has_crash_file ? crash_file : NULL,
        .game_file = game && strchr(game, '/') ? game : NULL,
        .go_on = go_on,
        .go_on_bytes = server_resume_command(self, go_on, sizeof go_on),
        .recent_ticks = CRASH_AGAIN_S * self->config.tick_rate_hz,
        .answer = net_log_queue_answer,
        .write_tail = server_lines_write_tail,
        .tail_context = self->lines,
    });
}

int server_program_open(server_program* self) {
    BASE_ASSERT(!self->module && !self->match && !self->server);
    server_service_open(self);
    int code = server_fleet_open(self);
    if (code == NET_EXIT_CLEAN) code = server_standby_open(self);
    if (code == NET_EXIT_CLEAN && self->standby.was_stopped) return code;
    if (code == NET_EXIT_CLEAN) code = server_resume_open(self);
    if (code == NET_EXIT_CLEAN) code = server_follow_open(self);
    if (code == NET_EXIT_CLEAN) code = open_module(self);
    if (code == NET_EXIT_CLEAN) code = open_match(self);
    if (code == NET_EXIT_CLEAN) code = server_access_open(self);
    if (code == NET_EXIT_CLEAN) code = open_transport(self);
    if (code == NET_EXIT_CLEAN) server_standby_listen(self);
    if (code == NET_EXIT_CLEAN) code = wait_for_allocation(self);
    server_access_wipe(self);
    if (code == NET_EXIT_CLEAN && self->fleet.agones && !self->fleet.is_allocated) return code;
    if (code == NET_EXIT_CLEAN) code = open_log(self);
    if (code == NET_EXIT_CLEAN) code = open_server(self);
    if (code == NET_EXIT_CLEAN) code = server_resume_players(self);
    if (code == NET_EXIT_CLEAN) code = begin_stream(self);
    if (code == NET_EXIT_CLEAN) code = tell_standbys(self);
    server_resume_close(self);
    if (code == NET_EXIT_CLEAN) code = open_inspect(self);
    if (code == NET_EXIT_CLEAN) code = open_control(self);
    if (code == NET_EXIT_CLEAN) {
        open_sentry(self);
        server_access_report(self);
        if (self->config.has_console) server_console_open(&self->console, &self->loop);
    }
    if (code == NET_EXIT_CLEAN) {
        print_ready(self);
        server_fleet_begin(self);
        server_resume_print(self);
        server_service_ready(self);
    }
    return code;
}

void server_program_close(server_program* self) {
    server_inspect_close(self->inspect);
    server_control_close(self->control);
    base_bytes_deinit(&self->console.json);
    net_sentry_destroy(self->sentry);
    if (self->log) (void)!net_log_writer_destroy(self->log); // it reads the server's rows
    server_stream_destroy(self->stream);                     // the log's tap
    if (self->server) net_server_destroy(self->server);
    server_metrics_destroy(self->metrics);
    server_meter_destroy(self->meter);
    if (self->session_trace) fclose(self->session_trace);
    server_standby_close(self);
    server_follow_close(self);
    if (self->match) net_match_destroy(self->match);
    if (self->hold) self->hold->ops->destroy(self->hold);
    if (self->transport) self->transport->ops->destroy(self->transport);
    net_host_close_game(self->module);
    server_access_close(self);
    server_notify_close(&self->service.notify);
    net_loop_deinit(&self->loop);
}
