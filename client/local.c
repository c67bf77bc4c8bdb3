// SPDX-License-Identifier: MIT
// The server of --local: in a thread of its own, so that a picture that takes long does not slow
// the match. It has no log, no limit by address and no watchdog: it ends with the
// program. While a game is written its files change: then another match goes on, as in shoal-server
// on SIGHUP. A tick that is late by more than a few periods is given up, as when a debugger stopped
// the process.
//
// The program's thread makes everything and destroys it; in between it belongs to the server's
// thread. Packets cross over loopback. Beside them three things cross:
//
//     to the server     it shall end: loop.is_end_asked, and `wake`
//     to the players    it has ended: `ended`
//     to the players    another version of the game: `next`, under `mutex`; no tick waits for it
#include "program.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/workers.h"
#include "ecs/template_files.h"
#include "host/output.h"
#include "host/reload.h"
#include "host/setup.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"
#include "net/socket.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPARE_PEERS 8u   ///< for sessions that end while new ones begin
#define LATE_TICKS_MAX 4 ///< later ticks are given up
#define LOOK_US 300000u  ///< between two looks at the game's files
#define END_US 5000000u  ///< for the tick that runs when the program ends

struct client_local {
    uint64_t looked_us;         ///< when the game's files were looked at
    uint64_t stamp, stamp_seen; ///< of the files that play, and those of the last look
    base_reporter reporter;
    client_program* program;   ///< borrowed
    net_sentry* sentry;        ///< borrowed
    net_socket_state* sockets; ///< the clean line of its own
    base_workers* workers;     ///< NULL: none; those of the players' worlds are busy with them
    net_module* module;        ///< borrowed from the players, or `next`
    net_match* match;
    net_transport* transport;
    net_server* server;
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    uint64_t period_us, next_us; ///< next_us 0: before the first service
    net_loop loop;               ///< its signals are those of the program's loop
    int wake, ended;             ///< eventfds; -1: none
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    net_module* next; ///< that the players have not taken yet; NULL: none
};

static uint32_t count_players(const client_config* config) {
    return (uint32_t)(config->people + config->bots + config->thin_bots);
}

static net_result open_match(client_program* program, client_local* local) {
    net_match_config config = net_match_config_default(program->module);
    const uint32_t threads = base_workers_count(program->module->workers);
    if (threads > 1) local->workers = base_workers_create(NULL, threads);
    config.workers = local->workers;
    config.role = NET_ROLE_SERVER;
    config.seed = program->config.seed;
    local->module = program->module;
    local->period_us = 1000000u / config.tick_rate_hz;
    const net_result result = net_match_create(&config, &local->reporter, &local->match);
    return result == NET_OK ? net_host_check_game(local->match, &local->reporter) : result;
}

static net_result open_transport(client_program* program, client_local* local) {
    const net_enet_config enet = {.listen = "127.0.0.1:0",
                                  .peers_max = count_players(&program->config) + SPARE_PEERS};
    net_result result = net_transport_enet_create(&enet, &local->transport);
    if (result != NET_OK)
        return BASE_REPORT_AS(result, &local->reporter, NULL, 0,
                              "--local: cannot listen on loopback: %s",
                              result == NET_ERR_BIND ? strerror(errno) : net_result_text(result));
    bool has_address =
        net_transport_enet_address(local->transport, local->address, sizeof local->address);
    BASE_ASSERT(has_address);
    return NET_OK;
}

static net_result open_server(client_program* program, client_local* local) {
    const net_server_config config = {
        .match = local->match,
        .transport = local->transport,
        .clients_max = count_players(&program->config) + SPARE_PEERS / 2,
        .spectators_max = program->config.is_spectating,
        .reporter = &local->reporter,
        .entropy = net_host_draw_secret,
    };
    return net_server_create(&config, &local->server);
}

// ---- the game's files ----

// A file of the game: the first `size` bytes of the templates' name, `between` and `name`.
static bool is_there(const net_module* module, int size, const char* between, const char* name,
                     struct stat* status) {
    char path[1024 + ECS_PACK_NAME_BYTES_MAX];
    (void)base_text_format(path, sizeof path, "%.*s%s%s", size, module->templates_file, between,
                           name);
    return stat(path, status) == 0;
}

// Another number for another state of the game's files; 0: one is gone, and is being replaced.
static uint64_t stamp_of(const net_module* module) {
    BASE_ASSERT(strlen(module->templates_file) > strlen(".blk"));
    const int stem = (int)(strlen(module->templates_file) - strlen(".blk"));
    const char* slash = strrchr(module->templates_file, '/');
    const int folder = slash ? (int)(slash - module->templates_file) + 1 : 0;
    uint64_t stamp = 0;
    for (uint32_t i = 0; i < 2 + module->file_count; i++) {
        const char* name = i < 2 ? i ? ".blk" : ".so" : module->files[i - 2].name;
        struct stat status;
        if (!is_there(module, stem, i < 2 ? "" : "/", name, &status) &&
            (i < 2 || !is_there(module, folder, "", name, &status)))
            return 0;
        const uint64_t parts[] = {(uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec,
                                  (uint64_t)status.st_size, (uint64_t)status.st_ino};
        stamp = base_hash64(parts, sizeof parts, stamp);
    }
    return stamp | 1;
}

// Files that two looks see alike are no longer written.
static bool is_stale(client_local* local, uint64_t now_us) {
    BASE_ASSERT(now_us >= local->looked_us);
    if (now_us < local->looked_us + LOOK_US) return false;
    local->looked_us = now_us;
    const uint64_t before = local->stamp_seen;
    local->stamp_seen = stamp_of(local->module);
    return local->stamp_seen != 0 && local->stamp_seen == before && before != local->stamp;
}

static void reload(client_local* local, uint64_t now_us) {
    net_module* old = NULL;
    if (!is_stale(local, now_us) || net_server_get_phase(local->server) != NET_SERVER_RUNNING)
        return;
    pthread_mutex_lock(&local->mutex);
    // Otherwise the players still have the version before.
    if (!local->next) {
        local->stamp = local->stamp_seen;
        if (local->program->faults) local->program->parts->clear_faults(local->program->faults);
        // They keep the old one until they are closed.
        if (net_host_reload(local->server, &local->module, &local->match, &old, &local->reporter))
            local->next = local->module;
    }
    pthread_mutex_unlock(&local->mutex);
}

net_module* client_local_take(client_local* local) {
    pthread_mutex_lock(&local->mutex);
    net_module* next = local->next;
    local->next = NULL;
    pthread_mutex_unlock(&local->mutex);
    return next;
}

// ---- its thread ----

static uint64_t due_us(const client_local* local) {
    const uint64_t now_us = net_loop_now_us(), socket_us = net_socket_next_us();
    const bool is_sooner = socket_us != UINT64_MAX && now_us + socket_us < local->next_us;
    return is_sooner ? now_us + socket_us : local->next_us;
}

static void* serve(void* context) {
    client_local* local = context;
    net_socket_state_use(local->sockets);
    net_sentry_add_thread(local->sentry);
    while (!net_loop_wait(&local->loop, due_us(local))) {
        const uint64_t now_us = net_loop_now_us();
        BASE_ASSERT(local->period_us > 0); // or the ticks below never end
        net_sentry_busy(local->sentry);
        net_server_service(local->server, now_us);
        if (local->next_us == 0 || now_us > local->next_us + LATE_TICKS_MAX * local->period_us)
            local->next_us = now_us;
        for (; local->next_us <= now_us; local->next_us += local->period_us)
            net_server_tick(local->server, now_us);
        net_sentry_rest(local->sentry);
        reload(local, now_us);
    }
    net_sentry_remove_thread(local->sentry);
    (void)eventfd_write(local->ended, 1);
    return NULL;
}

static net_result open_thread(client_local* local) {
    local->loop.signals = -1;
    local->wake = eventfd(0, EFD_CLOEXEC);
    local->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (local->wake < 0 || local->ended < 0) return NET_ERR_MEMORY;
    local->loop.sockets[0] = local->wake;
    local->loop.socket_count =
        1 + local->transport->ops->sockets(local->transport, local->loop.sockets + 1,
                                           NET_LOOP_SOCKETS_MAX - 1);
    local->has_thread = pthread_create(&local->thread, NULL, serve, local) == 0;
    return local->has_thread ? NET_OK : NET_ERR_MEMORY;
}

// A tick that does not come back within END_US, or a second signal, ends the process.
static void end_thread(client_local* local, net_loop* loop) {
    const uint64_t until_us = net_loop_now_us() + END_US;
    eventfd_t ended = 0;
    local->loop.is_end_asked = true;
    (void)eventfd_write(local->wake, 1);
    loop->sockets[0] = local->ended;
    loop->socket_count = 1;
    while (eventfd_read(local->ended, &ended) != 0) {
        if (!net_loop_wait(loop, until_us) && net_loop_now_us() < until_us) continue;
        base_report(&local->reporter, NULL, 0,
                    "the server of --local ended in the middle of a tick");
        _exit(NET_EXIT_RUNTIME);
    }
    loop->socket_count = 0;
    (void)pthread_join(local->thread, NULL);
}

int client_local_open(client_program* program, client_local** opened) {
    client_local* local = base_allocate_zero(NULL, sizeof *local);
    local->wake = local->ended = -1;
    pthread_mutex_init(&local->mutex, NULL);
    local->reporter = program->reporter;
    local->program = program;
    local->sentry = program->sentry;
    local->sockets = net_socket_state_create();
    net_result result = open_match(program, local);
    net_socket_state_use(local->sockets);
    if (result == NET_OK) local->stamp = local->stamp_seen = stamp_of(local->module);
    if (result == NET_OK) result = open_transport(program, local);
    if (result == NET_OK) result = open_server(program, local);
    net_socket_state_use(NULL);
    if (result == NET_OK) result = open_thread(local);
    if (result != NET_OK) {
        client_local_close(local, &program->loop);
        return net_exit_report_setup(result, &program->reporter);
    }
    program->config.address = local->address;
    *opened = local;
    return NET_EXIT_CLEAN;
}

void client_local_close(client_local* local, net_loop* loop) {
    if (!local) return;
    if (local->has_thread) end_thread(local, loop);
    net_socket_state_use(local->sockets);
    net_server_destroy(local->server);
    net_match_destroy(local->match);
    if (local->transport) local->transport->ops->destroy(local->transport);
    net_socket_state_use(NULL);
    net_socket_state_destroy(local->sockets);
    net_module_close(local->next);
    base_workers_destroy(local->workers);
    (void)pthread_mutex_destroy(&local->mutex);
    if (local->wake >= 0) close(local->wake);
    if (local->ended >= 0) close(local->ended);
    base_release(NULL, local, sizeof *local);
}
