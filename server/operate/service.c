// SPDX-License-Identifier: MIT
#include "service.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool is_ending(const server_program* self) {
    return net_server_get_phase(self->server) > NET_SERVER_RUNNING;
}

static server_service* service_of(const server_program* self) {
    return server_program_state(self, &server_part_service);
}

static int find_manager(server_program* self) {
    if (!server_notify_open(&service_of(self)->notify))
        base_report(&self->reporter, NULL, 0, "warning: NOTIFY_SOCKET cannot be used: %s",
                    strerror(errno));
    return NET_EXIT_CLEAN;
}

static int say_ready(server_program* self) {
    server_notify_ready(&service_of(self)->notify);
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
    server_notify_close(&service_of(self)->notify);
    return NET_EXIT_CLEAN;
}

static void keep(server_program* self, uint64_t now_us) {
    server_notify_extend(&service_of(self)->notify, now_us);
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
                "note: draining: no new players; the match goes on until it ends or is empty, for "
                "%" PRIu64 " s at most",
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
    if (net_server_is_paused(self->server) && phase == NET_SERVER_RUNNING) return "paused";
    return texts[phase];
}

static void pass_status(server_program* self, uint64_t now_us) {
    if (!server_notify_wants_status(&service_of(self)->notify, now_us)) return;
    char text[SERVER_NOTIFY_STATUS_BYTES];
    const net_server_counters* counters = net_server_get_counters(self->server);
    (void)base_text_format(text, sizeof text,
                           "%s: %s, tick %" PRIu64 ", %" PRIu32 " of %" PRIu64 " players",
                           self->module->game->name, phase_text(self), net_match_tick(self->match),
                           counters->clients, self->config.clients_max);
    server_notify_status(&service_of(self)->notify, now_us, text);
}

static void pass(server_program* self, uint64_t now_us) {
    server_service* service = service_of(self);
    server_notify* notify = &service->notify;
    if (service->reloads != self->reloads) server_notify_reloading(notify, now_us);
    service->reloads = self->reloads;
    server_notify_alive(notify, now_us);
    pass_drain(self, now_us);
    pass_empty(self, now_us);
    pass_status(self, now_us);
    if (is_ending(self)) server_notify_stopping(notify);
    if (server_program_is_draining(self)) server_notify_extend(notify, now_us);
    // A match that waits for players, or is paused, reads its game again when it runs: the files of
    // access are read by then.
    const bool is_waiting = net_server_get_phase(self->server) != NET_SERVER_RUNNING ||
                            net_server_is_paused(self->server);
    if (notify->is_reloading && (!self->is_reload_due || is_waiting)) server_notify_ready(notify);
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
