// SPDX-License-Identifier: MIT
// shoal-client: one player, or many bots in one process, without a window.
//
// Wiring only: options, module, and per player a mirror, a transport and a session; then a loop that
// gives all of them the time. Read run_players() first. Each player has its own socket and its own
// world: a bot here is a real client in everything but its process.
#include "config.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_WORDS_MS_MAX 1000u

enum {
    EXIT_CLEAN = 0,
    EXIT_RUNTIME = 1,
    EXIT_USAGE = 2,
    EXIT_MISMATCH = 4,
    EXIT_CONNECT = 6,
};

#define REFUSED_PROTOCOL 1u
#define REFUSED_SCHEMA 2u
#define REFUSED_GAME 3u

typedef struct player {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    net_match* match;
    net_transport* transport;
    net_client* client;
    uint64_t ticks;
} player;

typedef struct program {
    client_config config;
    base_reporter reporter;
    net_loop loop;
    net_module* module;
    char game[NET_GAME_NAME_BYTES_MAX];
    player* players;
    uint32_t player_count;
    FILE* trace;
} program;

static void trace_update(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                         uint64_t row_hash) {
    fprintf(context,
            "client=%" PRIu32 " entity=%" PRIu32 ":%" PRIu32 " tick=%" PRIu64 " row=%016" PRIx64
            "\n",
            client, ecs_entity_index(entity), ecs_entity_generation(entity), tick, row_hash);
}

static net_result open_transport(net_transport** transport) {
    net_enet_config enet = {.peers_max = 1};
    return net_transport_enet_create(&enet, transport);
}

static void gather_sockets(program* self, net_transport* transport) {
    self->loop.socket_count +=
        transport->ops->sockets(transport, self->loop.sockets + self->loop.socket_count,
                                NET_LOOP_SOCKETS_MAX - self->loop.socket_count);
}

static int open_module(program* self, const char* name) {
    char path[2048];
    net_module_default_path(path, sizeof path);
    net_result result = net_module_open(name, path, &self->reporter, &self->module);
    if (result == NET_ERR_MEMORY) return EXIT_RUNTIME;
    return result == NET_OK ? EXIT_CLEAN : EXIT_USAGE;
}

static int say_refused(program* self, const net_client* client) {
    char text[256];
    uint32_t reason = net_client_refusal(client, text, sizeof text);
    base_report(&self->reporter, NULL, 0, "refused: %s", text);
    return reason == REFUSED_PROTOCOL || reason == REFUSED_SCHEMA || reason == REFUSED_GAME
               ? EXIT_MISMATCH
               : EXIT_CONNECT;
}

static int say_unreachable(program* self, const net_client* client) {
    char text[256];
    (void)net_client_refusal(client, text, sizeof text);
    base_report(&self->reporter, NULL, 0, "%s: %s", self->config.address,
                text[0] ? text : "nobody answers");
    return EXIT_CONNECT;
}

// Without --game: greet with an empty name; the refusal says which game the server runs.
static int ask_game(program* self) {
    net_transport* transport = NULL;
    net_client* client = NULL;
    int code = EXIT_RUNTIME;
    if (open_transport(&transport) != NET_OK) return EXIT_RUNTIME;
    self->loop.socket_count = 0;
    gather_sockets(self, transport);
    net_client_config config = {.transport = transport, .address = self->config.address};
    if (net_client_create(&config, &client) != NET_OK) goto out;
    while (net_client_get_phase(client) != NET_CLIENT_ENDED) {
        bool is_asked_to_end = net_loop_wait(&self->loop, net_loop_now_us() + 10000);
        if (is_asked_to_end) net_client_leave(client, net_loop_now_us());
        net_client_service(client, net_loop_now_us());
    }
    const char* game = net_client_refusal_game(client);
    if (net_client_get_end(client) != NET_CLIENT_END_REFUSED) {
        code = say_unreachable(self, client);
    } else if (game[0] == '\0' || strchr(game, '/') || strchr(game, '.')) {
        code = say_refused(self, client);
    } else {
        base_text_copy(self->game, sizeof self->game, game);
        code = EXIT_CLEAN;
    }
out:
    if (client) net_client_destroy(client);
    transport->ops->destroy(transport);
    return code;
}

static int open_player(program* self, uint32_t index) {
    player* one = &self->players[index];
    bool is_bot = self->config.bots > 0;
    const char* name = self->config.name ? self->config.name : is_bot ? "bot" : "player";
    if (is_bot) {
        base_text_format(one->name, sizeof one->name, "%.20s-%" PRIu32, name, index + 1);
    } else {
        base_text_copy(one->name, sizeof one->name, name);
    }
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_MIRROR;
    if (net_match_create(&match, &self->reporter, &one->match) != NET_OK) return EXIT_USAGE;
    if (open_transport(&one->transport) != NET_OK) {
        base_report(&self->reporter, NULL, 0, "cannot open a socket: %s", strerror(errno));
        return EXIT_RUNTIME;
    }
    gather_sockets(self, one->transport);
    net_client_config config = {
        .match = one->match,
        .transport = one->transport,
        .address = self->config.address,
        .name = one->name,
        .is_bot = is_bot,
        .seed = self->config.seed + index,
        .trace = self->trace ? trace_update : NULL,
        .trace_context = self->trace,
    };
    return net_client_create(&config, &one->client) == NET_OK ? EXIT_CLEAN : EXIT_RUNTIME;
}

static const char* end_name(net_client_end end) {
    switch (end) {
    case NET_CLIENT_END_GOODBYE:
        return "goodbye";
    case NET_CLIENT_END_LEFT:
        return "left";
    default:
        return "lost";
    }
}

static void write_line(void* context, const char* line) {
    fprintf(context, "%s\n", line);
}

static int dump_world(program* self, player* one) {
    FILE* file = fopen(self->config.dump_world, "w");
    if (!file) {
        base_report(&self->reporter, self->config.dump_world, 0, "%s", strerror(errno));
        return EXIT_RUNTIME;
    }
    (void)net_scope_walk(net_match_schema(one->match), net_match_world(one->match), write_line,
                         file);
    return fclose(file) == 0 ? EXIT_CLEAN : EXIT_RUNTIME;
}

// The line of one client, and its share of the exit code.
static int close_player(program* self, player* one) {
    net_client_end end = net_client_get_end(one->client);
    if (end == NET_CLIENT_END_REFUSED) return say_refused(self, one->client);
    if (end == NET_CLIENT_END_UNREACHABLE) return say_unreachable(self, one->client);
    net_client_report report = net_client_get_report(one->client);
    if (report.client == 0) return EXIT_CLEAN; // left before welcome
    printf("client id=%" PRIu32 " tick=%" PRIu64 " entities=%" PRIu32 " components=%" PRIu32
           " bytes=%" PRIu64 " mirror_hash=%016" PRIx64 " loading=%" PRIu32 " allocated=%" PRIu32
           " bad_transitions=%" PRIu64 " updates=%" PRIu64 " sim_dropped=%" PRIu64
           " recv_bytes=%" PRIu64 " recv_reliable_bytes=%" PRIu64 " sent_bytes=%" PRIu64
           " rtt_ms=%.1f loss_percent=%.2f end=%s\n",
           report.client, report.tick, report.scope.entities, report.scope.components,
           report.scope.bytes, report.scope.hash, report.loading, report.allocated,
           report.bad_transitions, report.updates, report.sim_dropped, report.recv_bytes,
           report.recv_reliable_bytes, report.sent_bytes, report.rtt_ms, report.loss_percent,
           end_name(end));
    return end == NET_CLIENT_END_LOST ? EXIT_RUNTIME : EXIT_CLEAN;
}

static uint64_t tick_period_us(const player* one) {
    return (uint64_t)(net_match_dt(one->match) * 1e6f + 0.5f);
}

static void tick_players(program* self, uint64_t now_us) {
    for (uint32_t i = 0; i < self->player_count; i++) {
        player* one = &self->players[i];
        if (net_client_get_phase(one->client) != NET_CLIENT_PLAYING) continue;
        net_client_tick(one->client, now_us, NULL);
        // Counted from the first state on: waiting in a lobby is not playing.
        if (self->config.ticks && net_client_tick_newest(one->client) > 0 &&
            ++one->ticks >= self->config.ticks) {
            net_client_leave(one->client, now_us);
        }
    }
}

// @return false when every player's session has ended.
static bool service_players(program* self, uint64_t now_us) {
    bool is_any_left = false;
    for (uint32_t i = 0; i < self->player_count; i++) {
        net_client_service(self->players[i].client, now_us);
        if (net_client_get_phase(self->players[i].client) != NET_CLIENT_ENDED) is_any_left = true;
    }
    return is_any_left;
}

static void run_players(program* self) {
    uint64_t next_us = net_loop_now_us();
    for (;;) {
        uint64_t wake_us = next_us;
        uint64_t now_us = net_loop_now_us();
        uint64_t socket_us = net_socket_next_us();
        if (socket_us != UINT64_MAX && now_us + socket_us < wake_us) wake_us = now_us + socket_us;
        if (net_loop_wait(&self->loop, wake_us)) {
            for (uint32_t i = 0; i < self->player_count; i++) {
                net_client_leave(self->players[i].client, net_loop_now_us());
            }
        }
        now_us = net_loop_now_us();
        if (!service_players(self, now_us)) return;
        if (now_us < next_us) continue;
        tick_players(self, now_us);
        uint64_t period_us = tick_period_us(&self->players[0]);
        next_us += period_us;
        if (now_us > next_us + NET_CATCH_UP_TICKS_MAX * period_us) next_us = now_us;
    }
}

// On a bad network of our own (--net) the last acknowledgements are still on their way when the sessions
// have ended; without them the server would wait for nobody.
static void send_last_words(program* self) {
    uint64_t until_us = net_loop_now_us() + LAST_WORDS_MS_MAX * 1000u;
    while (net_socket_next_us() != UINT64_MAX && net_loop_now_us() < until_us) {
        (void)net_loop_wait(&self->loop, net_loop_now_us() + 5000u);
        for (uint32_t i = 0; i < self->player_count; i++) {
            net_transport* transport = self->players[i].transport;
            transport->ops->service(transport, net_loop_now_us());
        }
    }
}

static int run(program* self) {
    if (self->config.net) {
        net_link_config link;
        if (net_link_config_parse(self->config.net, &self->reporter, &link) != NET_OK ||
            net_socket_link_set(&link) != NET_OK) {
            return EXIT_USAGE;
        }
    }
    int code = EXIT_CLEAN;
    if (!self->config.game) code = ask_game(self);
    if (code == EXIT_CLEAN) {
        code = open_module(self, self->config.game ? self->config.game : self->game);
    }
    if (code != EXIT_CLEAN) return code;
    if (self->config.trace) {
        self->trace = fopen(self->config.trace, "w");
        if (!self->trace) {
            base_report(&self->reporter, self->config.trace, 0, "%s", strerror(errno));
            return EXIT_RUNTIME;
        }
    }
    self->player_count = self->config.bots ? (uint32_t)self->config.bots : 1;
    self->players = calloc(self->player_count, sizeof(player));
    if (!self->players) return EXIT_RUNTIME;
    self->loop.socket_count = 0;
    for (uint32_t i = 0; i < self->player_count && code == EXIT_CLEAN; i++) {
        code = open_player(self, i);
    }
    if (code != EXIT_CLEAN) return code;
    run_players(self);
    send_last_words(self);
    for (uint32_t i = 0; i < self->player_count; i++) {
        int one = close_player(self, &self->players[i]);
        if (one > code) code = one;
    }
    if (self->config.dump_world && self->players[0].match &&
        dump_world(self, &self->players[0]) != EXIT_CLEAN && code == EXIT_CLEAN) {
        code = EXIT_RUNTIME;
    }
    return code;
}

static void release(program* self) {
    for (uint32_t i = 0; self->players && i < self->player_count; i++) {
        player* one = &self->players[i];
        if (one->client) net_client_destroy(one->client);
        if (one->transport) one->transport->ops->destroy(one->transport);
        if (one->match) net_match_destroy(one->match);
    }
    free(self->players);
    if (self->trace) fclose(self->trace);
    if (self->module) net_module_close(self->module);
    net_loop_deinit(&self->loop);
}

int main(int argc, char** argv) {
    program* self = calloc(1, sizeof *self);
    if (!self) return EXIT_RUNTIME;
    self->reporter = base_reporter_stderr();
    int code = EXIT_RUNTIME;
    switch (client_config_read(&self->config, argc, argv, &self->reporter)) {
    case BASE_OPTIONS_HELP:
        code = EXIT_CLEAN;
        break;
    case BASE_OPTIONS_ERROR:
        code = EXIT_USAGE;
        break;
    case BASE_OPTIONS_OK:
        if (!net_loop_init(&self->loop)) {
            base_report(&self->reporter, NULL, 0, "signals: %s", strerror(errno));
        } else {
            code = run(self);
            release(self);
        }
        break;
    }
    free(self);
    return code;
}
