// SPDX-License-Identifier: MIT
// The match is made when it is allocated and not before: its settings stand in the header of its
// log like those of --set, every game takes them, and a server that waits writes no log. What can
// be wrong with files and options shows before: the game is loaded, its match was made once, and
// the port is bound when the server says that it is ready.
//
// An allocation that cannot be played as it asks (an unknown setting, a key that is not there) is
// not played: the server says why and is shut down. Players would see a match that is wrong, and
// the back end would not learn of it.
#include "fleet.h"

#include "agones/agones.h"
#include "log/log.h"

#include "base/text.h"
#include "host/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PASS_US 5000u       ///< between two looks at the connection
#define WAIT_PASS_US 20000u ///< while there is no match
#define END_S_MAX 60u       ///< that a server waits for its end

static server_fleet* fleet_of(const server_program* program) {
    return server_program_state(program, &server_part_agones);
}

// @return false: reported.
static bool choose_port(const server_program* self, uint16_t* port) {
    const char* text = getenv(SERVER_AGONES_PORT_VARIABLE);
    uint64_t number = SERVER_AGONES_PORT_DEFAULT;
    if (text && (!base_text_parse_u64(text, &number) || number == 0 || number > UINT16_MAX))
        return base_report(&self->reporter, NULL, 0,
                           SERVER_AGONES_PORT_VARIABLE ": \"%.32s\" is not a port", text);
    *port = (uint16_t)number;
    return true;
}

static int open_agones(server_program* self) {
    server_fleet* fleet = fleet_of(self);
    const server_config* config = &self->config;
    const bool is_on =
        config->agones == SERVER_AGONES_ON ||
        (config->agones == SERVER_AGONES_AUTO && getenv(SERVER_AGONES_PORT_VARIABLE));
    uint16_t port = 0;
    server_rest rest;
    fleet->is_allocated = false;
    fleet->standby_at[0] = '\0';
    if (!is_on)
        return config->agones_reuse
                   ? net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                                     "--agones-reuse: there is no Agones (--agones)")
                   : NET_EXIT_CLEAN;
    if (config->agones_reuse && (config->resume || config->standby))
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               config->resume
                                   ? "--agones-reuse: a match continues once (--resume)"
                                   : "--agones-reuse: a server stands by once (--standby)");
    self->config.again_s = 0; // an allocation says who plays
    if (fleet->agones) return NET_EXIT_CLEAN;
    if (!choose_port(self, &port)) return NET_EXIT_USAGE;
    if (!server_rest_open(port, &rest))
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--agones: this program was built without libcurl4-openssl-dev and "
                               "libjansson-dev (-DSHOAL_AGONES=ON), or there is no memory");
    fleet->agones = server_agones_create(&rest, &self->reporter);
    return NET_EXIT_CLEAN;
}

static void keep(server_program* self, uint64_t now_us) {
    server_agones* agones = fleet_of(self)->agones;
    if (agones) server_agones_pass(agones, now_us, 0, (uint32_t)self->config.clients_max);
}

// Only the signal ends this wait: datagrams stay in the kernel. @return false: it came.
static bool wait_for_signal(server_program* self) {
    net_loop* loop = &self->loop;
    const uint32_t sockets = loop->socket_count;
    loop->socket_count = 0;
    if (net_loop_wait(loop, net_loop_now_us() + WAIT_PASS_US)) self->is_terminated = true;
    loop->socket_count = sockets;
    server_program_keep(self);
    return !self->is_terminated;
}

int server_fleet_wait(server_program* self) {
    server_fleet* fleet = fleet_of(self);
    server_agones* agones = fleet ? fleet->agones : NULL;
    const base_option_list* addresses = &self->config.public_addresses;
    if (!agones || fleet->is_allocated) return NET_EXIT_CLEAN;
    server_agones_annotate(agones, SERVER_AGONES_PUBLIC,
                           addresses->count > 0 ? addresses->values[0] : NULL);
    server_agones_ask_ready(agones);
    base_report(&self->reporter, NULL, 0, "note: agones: %s, waits for an allocation",
                self->config.standby ? "stands by for no match yet" : "bound and loaded");
    while (!server_agones_allocation(agones)) {
        if (wait_for_signal(self)) continue;
        base_report(&self->reporter, NULL, 0, "note: agones: ends without a match");
        self->is_over = true;
        return NET_EXIT_CLEAN;
    }
    fleet->is_allocated = true;
    const server_watch_state* allocation = server_agones_allocation(agones);
    const char* fault = allocation->fault[0] ? allocation->fault
                        : self->config.standby && allocation->standby_of == 0
                            ? "--standby: the allocation names no match (" SERVER_WATCH_STANDBY_OF
                              ")"
                        : !self->config.standby && allocation->standby_of != 0
                            ? SERVER_WATCH_STANDBY_OF ": this server stands by for none (--standby)"
                            : NULL;
    return fault ? net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL, "%s", fault)
                 : NET_EXIT_CLEAN;
}

uint64_t server_fleet_standby_of(const server_program* self) {
    const server_fleet* fleet = fleet_of(self);
    return fleet && fleet->agones ? server_agones_allocation(fleet->agones)->standby_of : 0;
}

// Once it is allocated: the match has its settings, and players the tokens of its key.
static int accept_allocation(server_program* self) {
    int code = server_fleet_wait(self);
    const server_agones* agones = fleet_of(self)->agones;
    if (code != NET_EXIT_CLEAN || self->is_over || !agones) return code;
    const server_watch_state* allocation = server_agones_allocation(agones);
    base_option_list settings = {.count = allocation->setting_count};
    if ((self->config.resume || self->config.standby) && settings.count > 0)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               SERVER_WATCH_SETTING
                               ": a match that continues has the settings of its log");
    if (!server_access_choose_key(self, allocation->key_id)) return NET_EXIT_USAGE;
    for (uint32_t i = 0; i < settings.count; i++)
        settings.values[i] = allocation->settings[i];
    return settings.count > 0 ? server_program_make_match(self, &settings) : NET_EXIT_CLEAN;
}

// The match has its identity: say it.
static int annotate(server_program* self) {
    char text[256];
    const char* store = getenv("SHOAL_STORE"); // of scripts/package/upload
    server_agones* agones = fleet_of(self)->agones;
    const server_log* log = server_log_of(self);
    const server_stream* stream = server_stream_of(self);
    if (!agones) return NET_EXIT_CLEAN;
    (void)base_text_format(text, sizeof text, "%016" PRIx64, self->identity);
    server_agones_annotate(agones, SERVER_AGONES_IDENTITY, text);
    if (store && self->config.log_on_close && log->has_file &&
        base_text_format(text, sizeof text, "%s%s%016" PRIx64, store,
                         store[0] && strchr("/:", store[strlen(store) - 1]) ? "" : "/",
                         self->identity))
        server_agones_annotate(agones, SERVER_AGONES_LOG, text);
    if (!stream) return NET_EXIT_CLEAN;
    server_stream_url(stream, text, sizeof text);
    server_agones_annotate(agones, SERVER_AGONES_STREAM, text);
    return NET_EXIT_CLEAN;
}

// A standby is allocated once the match has its identity, so where it is comes later.
static void pass_standbys(server_program* self, server_fleet* fleet) {
    const char* said = server_agones_standby_at(fleet->agones);
    net_address standbys[NET_STANDBYS_MAX];
    uint32_t count = 0;
    if (strcmp(said, fleet->standby_at) == 0) return;
    (void)base_text_copy(fleet->standby_at, sizeof fleet->standby_at, said);
    if (said[0] && !server_addresses_read(said, standbys, &count)) {
        base_report(&self->reporter, NULL, 0,
                    "warning: " SERVER_WATCH_STANDBY_AT ": \"%.64s\": at most %u addresses, "
                    "ADDR:PORT with commas between them; the standbys stay as they were",
                    said, NET_STANDBYS_MAX);
        return;
    }
    net_server_set_standbys(self->server, standbys, count);
    base_report(&self->reporter, NULL, 0, "note: agones: clients know %u standbys", count);
}

static void pass(server_program* self, uint64_t now_us) {
    server_fleet* fleet = fleet_of(self);
    if (!fleet->agones || now_us - fleet->pass_us < PASS_US) return;
    fleet->pass_us = now_us;
    pass_standbys(self, fleet);
    server_agones_pass(fleet->agones, now_us, net_server_get_counters(self->server)->clients,
                       (uint32_t)self->config.clients_max);
}

// The match is over: be used again, or be shut down and wait for the signal that Agones sends then.
static void leave(server_program* self, int code) {
    const server_fleet* fleet = fleet_of(self);
    server_agones* agones = fleet->agones;
    if (!agones || !fleet->is_allocated || self->is_terminated) return;
    if (self->config.agones_reuse && code == NET_EXIT_CLEAN) {
        self->is_again = true;
        return;
    }
    const uint64_t begin_us = net_loop_now_us();
    bool was_answered = false;
    server_agones_ask_shutdown(agones);
    while (wait_for_signal(self)) {
        if (net_loop_now_us() - begin_us >= END_S_MAX * UINT64_C(1000000)) {
            base_report(&self->reporter, NULL, 0, "agones: no end came within %u s", END_S_MAX);
            return;
        }
        if (!was_answered && server_agones_is_answered(agones))
            base_report(&self->reporter, NULL, 0, "note: agones: shut down, waits for the signal");
        was_answered = server_agones_is_answered(agones);
    }
}

static void end_fleet(server_program* self) {
    server_agones_destroy(fleet_of(self)->agones);
}

const server_part server_part_agones = {
    .name = "agones",
    .state_bytes = sizeof(server_fleet),
    .at = {[SERVER_PREPARE] = open_agones,
           [SERVER_BOUND] = accept_allocation,
           [SERVER_READY] = annotate},
    .pass = pass,
    .keep = keep,
    .over = leave,
    .end = end_fleet,
};
