// SPDX-License-Identifier: MIT
// The server of --local. It has no log, no limit by address and no watchdog: it ends with the
// program. While a game is written its files change: then another match goes on, as in shoal-server
// on SIGHUP. A tick that is late by more than a few periods is given up, as when a debugger stopped
// the process.
#include "program.h"

#include "base/assert.h"
#include "base/text.h"
#include "tools/setup.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"
#include "net/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SPARE_PEERS 8u   ///< for sessions that end while new ones begin
#define LATE_TICKS_MAX 4 ///< later ticks are given up
#define LOOK_US 500000u  ///< between two looks at the game's files
#define QUIET_S 1        ///< a file that is younger may still be written

typedef struct local_file {
    char path[1024];
    struct timespec changed;
    off_t size;
    ino_t number;
} local_file;

struct client_local {
    local_file library, templates;
    uint64_t looked_us; ///< when the files were looked at
    net_match* match;
    net_transport* transport;
    net_server* server;
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    uint64_t period_us, next_us; ///< next_us 0: before the first service
};

static uint32_t count_players(const client_config* config) {
    return (uint32_t)(config->people + config->bots + config->thin_bots);
}

static net_result open_match(client_program* program, client_local* local) {
    net_match_config config = net_match_config_default(program->module);
    config.role = NET_ROLE_SERVER;
    config.seed = program->config.seed;
    local->period_us = 1000000u / config.tick_rate_hz;
    const net_result result = net_match_create(&config, &program->reporter, &local->match);
    return result == NET_OK ? net_host_check_game(local->match, &program->reporter) : result;
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
        .spectators_max = program->config.is_spectating,
        .reporter = &program->reporter,
        .entropy = net_host_draw_secret,
    };
    return net_server_create(&config, &local->server);
}

// ---- the game's files ----

static bool look(const char* path, struct stat* status) {
    return stat(path, status) == 0;
}

static void remember(local_file* file, const char* stem_file, const char* ending) {
    struct stat status;
    BASE_ASSERT(strlen(stem_file) > strlen(".blk"));
    size_t stem = strlen(stem_file) - strlen(".blk");
    (void)base_text_format(file->path, sizeof file->path, "%.*s%s", (int)stem, stem_file, ending);
    if (!look(file->path, &status)) return;
    file->changed = status.st_mtim;
    file->size = status.st_size;
    file->number = status.st_ino;
}

// A file that is gone is being replaced: the next look decides.
static bool has_changed(const local_file* file, bool* is_quiet) {
    struct stat status;
    if (!look(file->path, &status)) {
        *is_quiet = false;
        return false;
    }
    if (time(NULL) - status.st_mtim.tv_sec <= QUIET_S) *is_quiet = false;
    return status.st_mtim.tv_sec != file->changed.tv_sec ||
           status.st_mtim.tv_nsec != file->changed.tv_nsec || status.st_size != file->size ||
           status.st_ino != file->number;
}

static bool is_stale(client_local* local, uint64_t now_us) {
    BASE_ASSERT(now_us >= local->looked_us);
    if (now_us < local->looked_us + LOOK_US) return false;
    local->looked_us = now_us;
    bool is_quiet = true;
    bool is_other = has_changed(&local->library, &is_quiet);
    is_other |= has_changed(&local->templates, &is_quiet);
    return is_other && is_quiet;
}

static void remember_files(client_local* local, const net_module* module) {
    remember(&local->library, module->templates_file, ".so");
    remember(&local->templates, module->templates_file, ".blk");
}

void client_local_reload(client_program* program, uint64_t now_us) {
    client_local* local = program->local;
    // The players still have the version before.
    if (program->next || !is_stale(local, now_us) ||
        net_server_get_phase(local->server) != NET_SERVER_RUNNING)
        return;
    remember_files(local, program->module);
    // They keep `module` until they are closed.
    net_module *next = program->module, *old = NULL;
    if (net_host_reload(local->server, &next, &local->match, &old, &program->reporter))
        program->next = next;
}

int client_local_open(client_program* program, client_local** local) {
    client_local* made = base_allocate_zero(NULL, sizeof *made);
    if (!made) return net_exit_report_setup(NET_ERR_MEMORY, &program->reporter);
    net_result result = open_match(program, made);
    remember_files(made, program->module);
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

net_transport* client_local_transport(const client_local* local) {
    return local->transport;
}

void client_local_service(client_local* local, uint64_t now_us) {
    BASE_ASSERT(local->period_us > 0); // or the ticks below never end
    net_server_service(local->server, now_us);
    if (local->next_us == 0 || now_us > local->next_us + LATE_TICKS_MAX * local->period_us)
        local->next_us = now_us;
    for (; local->next_us <= now_us; local->next_us += local->period_us)
        net_server_tick(local->server, now_us);
}

uint64_t client_local_due_us(const client_local* local) {
    return local->next_us;
}
