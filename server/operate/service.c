// SPDX-License-Identifier: MIT
// What the manager of a service gets to know, and an end that lets the match play on.
#include "operator.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOTIFY_STATUS_MS 1000u // between two lines of the status
#define NOTIFY_STATUS_BYTES 256u
#define NOTIFY_EXTEND_MS 15000u

typedef struct notifier {
    int socket;           // connected; -1: there is no service manager
    uint64_t watchdog_us; // between two signs of life; 0: none is wanted
    uint64_t alive_us;    // of the last one
    uint64_t status_us;   // of the last status
    uint64_t extended_us; // of the last notify_extend that was sent
    bool is_reloading;    // notify_reloading, and not ready again
    bool is_stopping;
    char status[NOTIFY_STATUS_BYTES]; // the last one
} notifier;

typedef struct server_service {
    notifier notify;
    uint32_t reloads; // of the program, that are said
    bool is_draining;
    uint64_t drain_until_us;
    uint64_t empty_us; // since when there is no player; 0: there is one
} server_service;

// ---- systemd ----
//
// It gives a socket in NOTIFY_SOCKET and the time of its watchdog in WATCHDOG_USEC; without the
// first all of this does nothing. A manager that does not read misses a datagram, and the watchdog
// is asked three times in its time.

static void send_state(const notifier* self, const char* state) {
    if (self->socket < 0) return;
    (void)!send(self->socket, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// "/run/systemd/notify", or "@name" of an abstract one.
static bool read_address(const char* name, struct sockaddr_un* address, socklen_t* size) {
    const size_t length = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof address->sun_path) {
        errno = EINVAL;
        return false;
    }
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') address->sun_path[0] = 0;
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/'));
    return true;
}

// The time is for the process of WATCHDOG_PID, and for any without it.
static uint64_t read_watchdog(void) {
    const char* text = getenv("WATCHDOG_USEC");
    const char* process = getenv("WATCHDOG_PID");
    uint64_t us = 0, pid = 0;
    if (!text || !base_text_parse_u64(text, &us)) return 0;
    if (process && (!base_text_parse_u64(process, &pid) || pid != (uint64_t)getpid())) return 0;
    return us / 3;
}

static void notify_close(notifier* self) {
    if (self->socket >= 0) close(self->socket);
    self->socket = -1;
}

// Read the environment. @return false: the socket cannot be used, errno says why; the server runs
// without it.
static bool notify_open(notifier* self) {
    const char* name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t size;
    *self = (notifier){.socket = -1};
    if (!name || !name[0]) return true;
    if (!read_address(name, &address, &size)) return false;
    self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (self->socket < 0) return false;
    if (connect(self->socket, (const struct sockaddr*)&address, size) != 0) {
        const int error = errno;
        notify_close(self);
        errno = error;
        return false;
    }
    self->watchdog_us = read_watchdog();
    return true;
}

// Players can come in; also the end of a reload.
static void notify_ready(notifier* self) {
    self->is_reloading = false;
    send_state(self, "READY=1");
}

static void notify_reloading(notifier* self, uint64_t now_us) {
    char state[64];
    self->is_reloading = true;
    (void)base_text_format(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_us);
    send_state(self, state);
}

// What it does now may take longer than the manager waits for a start or an end: it may last
// NOTIFY_EXTEND_MS from now on.
static void notify_extend(notifier* self, uint64_t now_us) {
    char state[64];
    const uint64_t extend_us = NOTIFY_EXTEND_MS * UINT64_C(1000);
    if (self->extended_us != 0 && now_us - self->extended_us < extend_us / 3) return;
    self->extended_us = now_us;
    (void)base_text_format(state, sizeof state, "EXTEND_TIMEOUT_USEC=%" PRIu64, extend_us);
    send_state(self, state);
}

// One line for `systemctl status`; the same one is not sent twice.
static void notify_status(notifier* self, uint64_t now_us, const char* text) {
    char state[NOTIFY_STATUS_BYTES + 8];
    self->status_us = now_us;
    if (strcmp(self->status, text) == 0) return;
    (void)base_text_copy(self->status, sizeof self->status, text);
    (void)base_text_format(state, sizeof state, "STATUS=%s", self->status);
    send_state(self, state);
}

// ---- the part ----

static bool is_ending(const server_program* self) {
    return net_server_get_phase(self->server) > NET_SERVER_RUNNING;
}

static server_service* service_of(const server_program* self) {
    return server_program_state(self, &server_part_service);
}

static int find_manager(server_program* self) {
    if (!notify_open(&service_of(self)->notify))
        base_report(&self->reporter, NULL, 0, "warning: NOTIFY_SOCKET cannot be used: %s",
                    strerror(errno));
    return NET_EXIT_CLEAN;
}

static int say_ready(server_program* self) {
    notify_ready(&service_of(self)->notify);
    return NET_EXIT_CLEAN;
}

// The game's files are checked once the port is bound, and read again on SIGHUP.
static int check_game(server_program* self) {
    const base_reporter* game = server_program_layer(self, SERVER_LAYER_GAME);
    return net_exit_report_setup(net_host_check_game(self->match, game), game);
}

static void reload(server_program* self) {
    net_module* old = NULL;
    if (net_host_reload(self->server, &self->module, &self->match, &old,
                        server_program_layer(self, SERVER_LAYER_GAME)))
        net_module_close(old);
}

static int close_service(server_program* self) {
    notify_close(&service_of(self)->notify);
    return NET_EXIT_CLEAN;
}

static void keep(server_program* self, uint64_t now_us) {
    notify_extend(&service_of(self)->notify, now_us);
}

bool server_program_is_draining(const server_program* self) {
    return service_of(self)->is_draining || is_ending(self);
}

bool server_drain_begin(server_program* self, uint64_t seconds, uint64_t now_us) {
    BASE_ASSERT(seconds <= SERVER_DRAIN_S_MAX);
    if (is_ending(self)) return false;
    service_of(self)->drain_until_us = now_us + seconds * UINT64_C(1000000);
    service_of(self)->is_draining = true;
    net_server_refuse(self->server, "this server ends after the match: play on another one");
    base_report(&self->reporter, NULL, 0,
                "note: draining: no new players; the match continues until it ends or is empty, "
                "for %" PRIu64 " s at most",
                seconds);
    return true;
}

static bool terminate(server_program* self, uint64_t now_us) {
    const uint64_t seconds = self->config.drain_s;
    return seconds > 0 && !service_of(self)->is_draining &&
           server_drain_begin(self, seconds, now_us);
}

static void pass_drain(server_program* self, uint64_t now_us) {
    if (!service_of(self)->is_draining || is_ending(self)) return;
    const net_server_counters* counters = net_server_get_counters(self->server);
    const uint32_t players = self->ticks ? counters->spectators : counters->clients;
    if (players > 0 && now_us < service_of(self)->drain_until_us) return;
    base_report(&self->reporter, NULL, 0, "note: drained: %" PRIu32 " %s are left", players,
                self->ticks ? "spectators" : "players");
    server_program_end(self, now_us);
}

// --exit-when-empty: also when no player ever came.
static void pass_empty(server_program* self, uint64_t now_us) {
    uint64_t* since_us = &service_of(self)->empty_us;
    if (self->config.empty_s == 0 || is_ending(self) || self->ticks) return;
    if (net_server_get_counters(self->server)->clients > 0)
        *since_us = 0;
    else if (*since_us == 0)
        *since_us = now_us;
    if (*since_us == 0 || now_us - *since_us < self->config.empty_s * UINT64_C(1000000)) return;
    base_report(&self->reporter, NULL, 0, "note: no player for %" PRIu64 " s: the match ends",
                self->config.empty_s);
    server_program_end(self, now_us);
}

static const char* phase_text(const server_program* self) {
    static const char* const texts[] = {"waiting for players", "running", "settling", "leaving",
                                        "ended"};
    const net_server_phase phase = net_server_get_phase(self->server);
    if (service_of(self)->is_draining && phase <= NET_SERVER_RUNNING) return "draining";
    if (self->ticks && self->config.standby) return "standing by";
    if (net_server_is_empty(self->server)) return "paused, no player is there";
    if (net_server_is_paused(self->server) && phase == NET_SERVER_RUNNING) return "paused";
    return texts[phase];
}

static void pass_status(server_program* self, uint64_t now_us) {
    const notifier* notify = &service_of(self)->notify;
    if (notify->socket < 0 || now_us - notify->status_us < NOTIFY_STATUS_MS * UINT64_C(1000))
        return;
    char text[NOTIFY_STATUS_BYTES];
    const net_server_counters* counters = net_server_get_counters(self->server);
    (void)base_text_format(text, sizeof text,
                           "%s: %s, tick %" PRIu64 ", %" PRIu32 " of %" PRIu64 " players",
                           self->module->game->name, phase_text(self), net_match_tick(self->match),
                           counters->clients, self->config.clients_max);
    notify_status(&service_of(self)->notify, now_us, text);
}

static void pass(server_program* self, uint64_t now_us) {
    server_service* service = service_of(self);
    notifier* notify = &service->notify;
    if (service->reloads != self->reloads) notify_reloading(notify, now_us);
    service->reloads = self->reloads;
    // A sign of life, when a third of the watchdog's time has passed.
    if (notify->watchdog_us > 0 && now_us - notify->alive_us >= notify->watchdog_us) {
        notify->alive_us = now_us;
        send_state(notify, "WATCHDOG=1");
    }
    pass_drain(self, now_us);
    pass_empty(self, now_us);
    pass_status(self, now_us);
    if (is_ending(self) && !notify->is_stopping) send_state(notify, "STOPPING=1");
    notify->is_stopping |= is_ending(self);
    if (server_program_is_draining(self)) notify_extend(notify, now_us);
    // A match that waits for players, or is paused, reads its game again when it runs: the files of
    // access are read by then.
    const bool is_waiting = net_server_get_phase(self->server) != NET_SERVER_RUNNING ||
                            net_server_is_paused(self->server);
    if (notify->is_reloading && (!self->is_reload_due || is_waiting)) notify_ready(notify);
}

const server_part server_part_service = {
    .name = "service",
    .state_bytes = sizeof(server_service),
    .at = {[SERVER_PREPARE] = find_manager,
           [SERVER_BOUND] = check_game,
           [SERVER_READY] = say_ready,
           [SERVER_CLOSE] = close_service},
    .pass = pass,
    .reload = reload,
    .terminate = terminate,
    .keep = keep,
};
