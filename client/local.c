// SPDX-License-Identifier: MIT
// The server of --local. It has no log, no limit by address and no watchdog: it ends with the
// program. A tick that is late by more than a few periods is given up, as when a debugger stopped
// the process.
#include "local.h"

#include "players.h"

#include "base/assert.h"
#include "net/link.h"
#include "net/match.h"
#include "net/server.h"
#include "net/socket.h"
#include "net/transport_enet.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define SPARE_PEERS 8u   ///< for sessions that end while new ones begin
#define LATE_TICKS_MAX 4 ///< later ticks are given up

struct client_local {
    net_match* match;
    net_transport* transport;
    net_server* server;
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    uint64_t period_us, next_us; ///< next_us 0: before the first service
};

static void draw_secret(void* context, void* bytes, size_t size) {
    (void)context;
    ssize_t drawn = getrandom(bytes, size, 0);
    BASE_ASSERT(drawn == (ssize_t)size); // the kernel gives up to 256 bytes in one piece
}

static uint32_t count_players(const client_config* config) {
    return (uint32_t)(1 + config->bots + config->thin_bots);
}

static net_result open_match(client_program* program, client_local* local) {
    net_match_config config = net_match_config_default(program->module);
    config.role = NET_ROLE_SERVER;
    config.seed = program->config.seed;
    local->period_us = 1000000u / config.tick_rate_hz;
    return net_match_create(&config, &program->reporter, &local->match);
}

// --net stands under the sockets of the players; the server's own has a clean line, or each
// datagram would meet the network twice.
static net_result open_transport(client_program* program, client_local* local) {
    const net_enet_config enet = {.listen = "127.0.0.1:0",
                                  .peers_max = count_players(&program->config) + SPARE_PEERS};
    net_result result = net_transport_enet_create(&enet, &local->transport);
    if (result != NET_OK) {
        base_report(&program->reporter, NULL, 0, "--local: cannot listen on loopback: %s",
                    result == NET_ERR_BIND ? strerror(errno) : net_result_text(result));
        return result;
    }
    int sockets[NET_LOOP_SOCKETS_MAX];
    const net_link_pair clean = {0};
    uint32_t count =
        local->transport->ops->sockets(local->transport, sockets, NET_LOOP_SOCKETS_MAX);
    for (uint32_t i = 0; i < count && program->config.net && result == NET_OK; i++)
        result = net_socket_link_set_one(sockets[i], &clean);
    return result;
}

static net_result open_server(client_program* program, client_local* local) {
    const net_server_config config = {
        .match = local->match,
        .transport = local->transport,
        .clients_max = count_players(&program->config) + SPARE_PEERS / 2,
        .reporter = &program->reporter,
        .entropy = draw_secret,
    };
    return net_server_create(&config, &local->server);
}

int client_local_open(client_program* program, client_local** local) {
    client_local* made = base_allocate_zero(NULL, sizeof *made);
    if (!made) return net_exit_report_setup(NET_ERR_MEMORY, &program->reporter);
    net_result result = open_match(program, made);
    if (result == NET_OK) result = open_transport(program, made);
    if (result == NET_OK) result = open_server(program, made);
    if (result != NET_OK) {
        client_local_close(made);
        return net_exit_report_setup(result, &program->reporter);
    }
    bool has_address =
        net_transport_enet_address(made->transport, made->address, sizeof made->address);
    BASE_ASSERT(has_address);
    program->config.address = made->address;
    *local = made;
    return NET_EXIT_CLEAN;
}

void client_local_close(client_local* local) {
    if (!local) return;
    if (local->server) net_server_destroy(local->server);
    if (local->match) net_match_destroy(local->match);
    if (local->transport) local->transport->ops->destroy(local->transport);
    base_release(NULL, local, sizeof *local);
}

void client_local_gather(client_local* local, net_loop* loop) {
    client_transport_gather(loop, local->transport);
}

void client_local_service(client_local* local, uint64_t now_us) {
    net_server_service(local->server, now_us);
    if (local->next_us == 0 || now_us > local->next_us + LATE_TICKS_MAX * local->period_us)
        local->next_us = now_us;
    for (; local->next_us <= now_us; local->next_us += local->period_us)
        net_server_tick(local->server, now_us);
}

uint64_t client_local_due_us(const client_local* local) {
    return local->next_us;
}
