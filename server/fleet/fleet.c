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

#include "access.h"
#include "agones/agones.h"
#include "program.h"

#include "base/text.h"
#include "host/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PASS_US 5000u       ///< between two looks at the connection
#define WAIT_PASS_US 20000u ///< while there is no match
#define END_S_MAX 60u       ///< that a server waits for its end

static int refuse(const server_program* self, const char* text) {
    base_report(&self->reporter, NULL, 0, "%s", text);
    return NET_EXIT_USAGE;
}

// @return false: reported.
static bool choose_port(const server_program* self, uint16_t* port) {
    const char* text = getenv(SERVER_AGONES_PORT_VARIABLE);
    uint64_t number = SERVER_AGONES_PORT_DEFAULT;
    if (text && (!base_text_parse_u64(text, &number) || number == 0 || number > UINT16_MAX)) {
        base_report(&self->reporter, NULL, 0, SERVER_AGONES_PORT_VARIABLE ": \"%.32s\" is no port",
                    text);
        return false;
    }
    *port = (uint16_t)number;
    return true;
}

int server_fleet_open(server_program* self) {
    const server_config* config = &self->config;
    const bool is_on =
        config->agones == SERVER_AGONES_ON ||
        (config->agones == SERVER_AGONES_AUTO && getenv(SERVER_AGONES_PORT_VARIABLE));
    uint16_t port;
    server_rest rest;
    self->fleet.is_reused = self->fleet.is_allocated = false;
    self->fleet.standby_at[0] = '\0';
    if (!is_on)
        return config->agones_reuse ? refuse(self, "--agones-reuse: there is no Agones (--agones)")
                                    : NET_EXIT_CLEAN;
    if (config->agones_reuse && (config->resume || config->standby))
        return refuse(self, config->resume ? "--agones-reuse: a match goes on once (--resume)"
                                           : "--agones-reuse: a server stands by once (--standby)");
    if (self->fleet.agones) return NET_EXIT_CLEAN;
    if (!choose_port(self, &port)) return NET_EXIT_USAGE;
    if (!server_rest_open(port, &rest))
        return refuse(self, "--agones: this program was built without libcurl4-openssl-dev and "
                            "libjansson-dev (-DSHOAL_AGONES=ON), or there is no memory");
    self->fleet.agones = server_agones_create(&rest, &self->reporter);
    if (self->fleet.agones) return NET_EXIT_CLEAN;
    rest.destroy(rest.context);
    base_report(&self->reporter, NULL, 0, "%s", net_result_text(NET_ERR_MEMORY));
    return NET_EXIT_RUNTIME;
}

void server_fleet_keep(server_program* self) {
    if (self->fleet.agones)
        server_agones_pass(self->fleet.agones, net_loop_now_us(), 0,
                           (uint32_t)self->config.clients_max);
}

// Only the signal ends this wait: datagrams stay in the kernel. @return false: it came.
static bool wait_for_signal(server_program* self) {
    net_loop* loop = &self->loop;
    const uint32_t sockets = loop->socket_count;
    loop->socket_count = 0;
    if (net_loop_wait(loop, net_loop_now_us() + WAIT_PASS_US)) self->fleet.is_terminated = true;
    loop->socket_count = sockets;
    server_fleet_keep(self);
    return !self->fleet.is_terminated;
}

int server_fleet_wait(server_program* self) {
    server_agones* agones = self->fleet.agones;
    const base_option_list* addresses = &self->config.public_addresses;
    if (!agones || self->fleet.is_allocated) return NET_EXIT_CLEAN;
    server_agones_annotate(agones, SERVER_AGONES_PUBLIC,
                           addresses->count > 0 ? addresses->values[0] : NULL);
    server_agones_ask_ready(agones);
    base_report(&self->reporter, NULL, 0, "note: agones: %s, waits for an allocation",
                self->config.standby ? "stands by for no match yet" : "bound and loaded");
    while (!server_agones_allocation(agones)) {
        if (wait_for_signal(self)) continue;
        base_report(&self->reporter, NULL, 0, "note: agones: ends without a match");
        return NET_EXIT_CLEAN;
    }
    self->fleet.is_allocated = true;
    const server_watch_state* allocation = server_agones_allocation(agones);
    if (allocation->fault[0]) return refuse(self, allocation->fault);
    if (self->config.standby && allocation->standby_of == 0)
        return refuse(self,
                      "--standby: the allocation names no match (" SERVER_WATCH_STANDBY_OF ")");
    if (!self->config.standby && allocation->standby_of != 0)
        return refuse(self, SERVER_WATCH_STANDBY_OF ": this server stands by for none (--standby)");
    return NET_EXIT_CLEAN;
}

uint64_t server_fleet_standby_of(const server_program* self) {
    return self->fleet.agones ? server_agones_allocation(self->fleet.agones)->standby_of : 0;
}

int server_fleet_accept(server_program* self) {
    if (!self->fleet.agones || !self->fleet.is_allocated) return NET_EXIT_CLEAN;
    const server_watch_state* allocation = server_agones_allocation(self->fleet.agones);
    if ((self->config.resume || self->config.standby) && allocation->setting_count > 0)
        return refuse(self,
                      SERVER_WATCH_SETTING ": a match that goes on has the settings of its log");
    return server_access_choose_key(self, allocation->key_id) ? NET_EXIT_CLEAN : NET_EXIT_USAGE;
}

void server_fleet_begin(server_program* self) {
    char text[256];
    const char* store = getenv("SHOAL_STORE"); // of scripts/package/upload
    if (!self->fleet.agones) return;
    (void)base_text_format(text, sizeof text, "%016" PRIx64, self->identity);
    server_agones_annotate(self->fleet.agones, SERVER_AGONES_IDENTITY, text);
    if (store && self->config.log_on_close && self->has_log_file &&
        base_text_format(text, sizeof text, "%s%s%016" PRIx64, store,
                         store[0] && strchr("/:", store[strlen(store) - 1]) ? "" : "/",
                         self->identity))
        server_agones_annotate(self->fleet.agones, SERVER_AGONES_LOG, text);
    if (!self->stream) return;
    server_stream_url(self->stream, text, sizeof text);
    server_agones_annotate(self->fleet.agones, SERVER_AGONES_STREAM, text);
}

// A standby is allocated once the match has its identity, so where it is comes later.
static void pass_standbys(server_program* self) {
    const char* said = server_agones_standby_at(self->fleet.agones);
    char text[SERVER_WATCH_STANDBY_BYTES];
    char* rest = text;
    uint32_t count = 0;
    if (strcmp(said, self->fleet.standby_at) == 0) return;
    (void)base_text_copy(self->fleet.standby_at, sizeof self->fleet.standby_at, said);
    (void)base_text_copy(text, sizeof text, said);
    for (char* one; (one = strtok_r(rest, ",", &rest)); count++) {
        if (count < NET_STANDBYS_MAX && net_address_parse(one, &self->standbys[count]) == NET_OK)
            continue;
        base_report(&self->reporter, NULL, 0,
                    "warning: " SERVER_WATCH_STANDBY_AT ": \"%.64s\": at most %u addresses, "
                    "ADDR:PORT with commas between them; the standbys stay as they were",
                    said, NET_STANDBYS_MAX);
        return;
    }
    net_server_set_standbys(self->server, self->standbys, count);
    base_report(&self->reporter, NULL, 0, "note: agones: clients know %u standbys", count);
}

void server_fleet_pass(server_program* self, uint64_t now_us) {
    if (!self->fleet.agones || now_us - self->fleet.pass_us < PASS_US) return;
    self->fleet.pass_us = now_us;
    pass_standbys(self);
    server_agones_pass(self->fleet.agones, now_us, net_server_get_counters(self->server)->clients,
                       (uint32_t)self->config.clients_max);
}

void server_fleet_terminate(server_program* self) {
    self->fleet.is_terminated = true;
}

void server_fleet_end(server_program* self, int code) {
    server_agones* agones = self->fleet.agones;
    if (!agones || !self->fleet.is_allocated || self->fleet.is_terminated) return;
    if (self->config.agones_reuse && code == NET_EXIT_CLEAN) {
        self->fleet.is_reused = true;
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

void server_fleet_close(server_fleet* fleet) {
    server_agones_destroy(fleet->agones);
    fleet->agones = NULL;
    net_key_ring_wipe(&fleet->keys);
}
