// SPDX-License-Identifier: MIT
// Opening and closing: what the options name becomes a module, a match, a socket and a server. The
// phases of program.h are the order.
#include "program.h"

#include "base/assert.h"
#include "host/output.h"
#include "host/setup.h"
#include "net/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// Connections beyond --max-clients, so that one client too many can be refused with a reason. At
/// NET_CLIENTS_MAX there is none, and the outer layer says that the server is full.
#define REFUSED_PEERS_MAX 8u
#define CRASH_AGAIN_S 10u ///< that the command in the report of a crash runs again

static int open_module(server_program* self) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    if (!self->config.game)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--game is missing: name a game or a module file");
    net_result result = net_host_open_game(self->config.game, NET_ROLE_SERVER, self->config.threads,
                                           game, &self->module);
    return net_exit_report_setup(result, game);
}

int server_program_make_match(server_program* self, const base_option_list* more) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    const base_option_list* lists[] = {&self->config.settings, more};
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.tick_rate_hz = (uint32_t)self->config.tick_rate_hz;
    config.is_hosted = self->is_hosted;
    for (uint32_t k = 0; k < BASE_COUNT(lists) && lists[k]; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++)
            if (net_match_setting_apply(&config, lists[k]->values[i], game) != NET_OK)
                return NET_EXIT_USAGE;
    if (self->match) net_match_destroy(self->match);
    self->match = NULL;
    net_result result = net_match_create(&config, game, &self->match);
    return net_exit_report_setup(result, game);
}

static int open_match(server_program* self) {
    const int code = server_program_phase(self, SERVER_MATCH);
    return code == NET_EXIT_CLEAN && !self->match ? server_program_make_match(self, NULL) : code;
}

static int report_transport(server_program* self, net_result result) {
    if (result == NET_ERR_BIND)
        return net_exit_report(net_exit_of_bind(errno), &self->reporter, NULL, "cannot bind %s: %s",
                               self->config.listen, base_error_text(errno));
    base_report(&self->reporter, NULL, 0, "cannot listen on %s: %s", self->config.listen,
                net_result_text(result));
    bool is_usage =
        result == NET_ERR_ADDRESS || result == NET_ERR_REFUSED || result == NET_ERR_FULL;
    return is_usage ? NET_EXIT_USAGE : NET_EXIT_RUNTIME;
}

bool server_program_hides(const server_program* self) {
    return self->module->game->interest || net_schema_hides(net_match_schema(self->match));
}

// Who watches a game in which players do not see everything can help one of them.
static bool choose_spectators(server_program* self) {
    server_config* config = &self->config;
    const uint64_t room = NET_CLIENTS_MAX - config->clients_max;
    if (config->spectators_max == SERVER_SPECTATORS_UNSET) {
        config->spectators_max = server_program_hides(self) ? 0 : NET_SPECTATORS_DEFAULT;
        if (config->spectators_max > room) config->spectators_max = room;
    }
    if (config->spectators_max <= room) return true;
    return base_report(&self->reporter, NULL, 0,
                       "--max-clients %" PRIu64 " and --spectators %" PRIu64
                       " are more than the %u connections of a server",
                       config->clients_max, config->spectators_max, NET_CLIENTS_MAX);
}

// The first port of a range that is free.
static net_result bind_port(server_program* self, net_enet_config* enet) {
    char listen[NET_HOST_LISTEN_BYTES];
    net_result result = NET_ERR_ADDRESS;
    enet->listen = listen;
    for (uint32_t n = 0; net_host_listen_at(self->config.listen, n, listen); n++) {
        result = net_transport_enet_create(enet, &self->enet);
        if (result != NET_ERR_BIND || errno != EADDRINUSE) break;
    }
    return result;
}

static int open_transport(server_program* self) {
    // Before the port, because the secrets of sessions are made of it.
    while (self->identity == 0)
        net_host_draw_secret(&self->identity, sizeof self->identity);
    if (!choose_spectators(self)) return NET_EXIT_USAGE;
    if (!net_host_simulate_network(self->config.net, &self->reporter)) return NET_EXIT_USAGE;
    const uint32_t peers =
        (uint32_t)(self->config.clients_max + self->config.spectators_max) + REFUSED_PEERS_MAX;
    net_enet_config enet = {
        .peers_max = peers < NET_CLIENTS_MAX ? peers : NET_CLIENTS_MAX,
        .lanes = (uint32_t)self->config.net_threads,
        .bans = self->access.bans,
        .security = server_access_security(self),
    };
    self->peers_max = enet.peers_max;
    const net_result result = bind_port(self, &enet);
    if (result != NET_OK) return report_transport(self, result);
    self->transport = self->enet;
    BASE_ASSERT(self->loop.socket_count == 0);
    self->loop.socket_count =
        self->transport->ops->sockets(self->transport, self->loop.sockets, NET_LOOP_SOCKETS_MAX);
    return NET_EXIT_CLEAN;
}

void server_program_wrap(server_program* self, net_transport* layer) {
    BASE_ASSERT(!self->server && layer->around == self->transport);
    self->transport = layer;
}

static bool shows_sessions(const server_program* self) {
    return server_lines_shows(self->lines, SERVER_LAYER_NET, SERVER_LEVEL_DEBUG);
}

// For --debug trace-session, and a line for each change of a session's state with --lines
// level=net=debug.
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
        .transport = self->transport,
        .observer = self->observer,
        .clients_max = (uint32_t)self->config.clients_max,
        .spectators_max = (uint32_t)self->config.spectators_max,
        .clients_min = (uint32_t)self->config.clients_min,
        .pauses_when_empty = self->config.pauses_when_empty,
        .bans = self->access.bans,
        .clients_per_address_max = (uint32_t)self->config.clients_per_address_max,
        .sessions_max = (uint32_t)self->config.sessions_max,
        .ticks_max = self->config.ticks,
        .reporter = server_program_layer(self, SERVER_LAYER_NET),
        .entropy = net_host_draw_secret,
        .secret = self->access.has_keys ? server_access_secret : NULL,
        .secret_context = self,
        .rate_bytes_max = (uint32_t)self->config.rate_bytes_max,
        .send_divisor = (uint32_t)self->config.send_divisor,
        .coder = self->config.coder,
        .solo = self->solo,
        .is_threaded = self->config.net_threads > 0,
        .tap = self->tap,
        .is_following = self->ticks != NULL,
        .clock_us = net_loop_now_us,
        .admit = self->admit,
        .admit_context = self,
        .watch_key = self->watch_key,
        .session_trace = self->session_trace || shows_sessions(self) ? trace_session : NULL,
        .session_trace_context = self,
    };
    const net_result result = net_server_create(&config, &self->server);
    if (result != NET_OK)
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "%s",
                               net_result_text(result));
    return NET_EXIT_CLEAN;
}

static void open_sentry(server_program* self) {
    const char* game = self->config.game;
    net_sentry_config config = {
        .loop = &self->loop,
        .reporter = self->reporter,
        .line_begin = server_lines_fatal_begin(self->lines),
        .line_end = server_lines_fatal_end(self->lines),
        .game_file = game && strchr(game, '/') ? game : NULL,
        .recent_ticks = CRASH_AGAIN_S * self->config.tick_rate_hz,
        .tick_s = self->config.tick_s,
        .write_tail = server_lines_write_tail,
        .tail_context = self->lines,
    };
    for (const server_part* const* part = server_parts; *part; part++)
        if ((*part)->sentry) (*part)->sentry(self, &config);
    self->sentry = net_sentry_create(&config);
}

int server_program_open(server_program* self) {
    BASE_ASSERT(!self->module && !self->match && !self->server);
    self->rest_us = NET_IDLE_MS * UINT64_C(1000);
    int code = server_program_phase(self, SERVER_PREPARE);
    if (self->is_over) return code;
    if (code == NET_EXIT_CLEAN) code = open_module(self);
    if (code == NET_EXIT_CLEAN) code = open_match(self);
    if (code == NET_EXIT_CLEAN) code = server_access_open(self);
    if (code == NET_EXIT_CLEAN) code = open_transport(self);
    if (code == NET_EXIT_CLEAN) code = server_program_phase(self, SERVER_BOUND);
    server_access_wipe(self);
    if (self->is_over) return code;
    if (code == NET_EXIT_CLEAN) code = server_program_phase(self, SERVER_LISTENING);
    if (code == NET_EXIT_CLEAN) code = open_server(self);
    if (code == NET_EXIT_CLEAN) code = server_program_phase(self, SERVER_OPENED);
    if (code != NET_EXIT_CLEAN) return code;
    open_sentry(self);
    server_access_report(self);
    char address[NET_ENET_ADDRESS_TEXT_BYTES], words[1024];
    BASE_ASSERT(net_transport_enet_address(self->enet, address, sizeof address));
    server_program_say(self, SERVER_SAYS_READY, words, sizeof words);
    printf("ready listen=%s game=%s tick_rate=%" PRIu64 " schema=%016" PRIx64 "%s\n", address,
           self->module->game->name, self->config.tick_rate_hz,
           net_schema_hash(net_match_schema(self->match)), words);
    return server_program_phase(self, SERVER_READY);
}

void server_program_close(server_program* self) {
    net_sentry_destroy(self->sentry);
    (void)server_program_phase(self, SERVER_STOP);
    if (self->server) net_server_destroy(self->server);
    if (self->session_trace) fclose(self->session_trace);
    if (self->match) net_match_destroy(self->match);
    while (self->transport != self->enet) {
        net_transport* layer = self->transport;
        self->transport = layer->around;
        layer->ops->destroy(layer);
    }
    (void)server_program_phase(self, SERVER_CLOSE);
    if (self->enet) self->enet->ops->destroy(self->enet);
    net_host_close_game(self->module);
    server_access_wipe(self);
    net_key_wipe(&self->access.session_key);
    base_owner_destroy(self->access.bans);
    self->access.bans = NULL;
    net_loop_deinit(&self->loop);
}
