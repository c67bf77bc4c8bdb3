// SPDX-License-Identifier: MIT
// net/stream/standby.c decides. Here are what wakes the loop when the broker has something, and
// what changes in this program when it gets the match: clients are let in, the stream's thread
// begins, and the pacer makes the ticks.
#include "fleet.h"
#include "operate/operator.h"
#include "stream_nats.h"

#include "host/keys.h"
#include "host/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MS UINT64_C(1000)
enum {
    LATE_MS = 10000,              // late answers of the broker in a row
    CLAIM_MS = 1,                 // the claim's answer is looked for
    KEEP_MS = NET_STREAM_PING_MS, // sessions and pings are looked at when no tick came for so long
};

server_standby* server_standby_of(const server_program* program) {
    return server_program_state(program, &server_part_standby);
}

static int check_options(const server_program* self) {
    const server_config* config = &self->config;
    const char* fault =
        config->resume || config->stream
            ? "--standby: neither --resume nor --stream goes with it: it continues the match and "
              "the stream of another server"
        : config->settings.count > 0
            ? "--set: a match that continues has the settings of its server"
        : config->log && strcmp(config->log, "none") == 0
            ? "--standby: it needs a log, which continues with the match (not --log none)"
        : (!config->key_file && !getenv(NET_HOST_KEYS_VARIABLE)) || config->allow_dev_key
            ? "--standby: it needs the --key-file of the match's server, and no built-in key: "
              "players prove by it who they are"
            : NULL;
    return fault ? net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL, "%s", fault)
                 : NET_EXIT_CLEAN;
}

// ---- opening ----

// On a thread of the broker's library.
static void wake(void* context) {
    const server_standby* self = context;
    (void)eventfd_write(self->wake, 1);
}

static int open_stream(server_program* self) {
    server_standby* standby = server_standby_of(self);
    const server_nats_config nats = {.url = self->config.standby,
                                     .identity = server_fleet_standby_of(self),
                                     .reader = "standby",
                                     .wake = wake,
                                     .context = standby};
    const net_result opened = server_nats_open(&nats, &self->reporter, &standby->nats);
    if (opened != NET_OK) return net_exit_of_setup(opened);
    const net_standby_config config = {.broker = server_nats_broker(standby->nats),
                                       .name = self->config.standby,
                                       .takeover_us = self->config.takeover_ms * MS,
                                       .reporter = &self->reporter};
    standby->standby = net_standby_create(&config);
    const net_result found =
        server_follow_find(self, net_standby_follow(standby->standby), standby->nats, config.name);
    self->is_terminated = self->is_over = found == NET_ERR_CLOSED;
    return self->is_over ? NET_EXIT_CLEAN : net_exit_of_replay(found);
}

static const server_ticks standby_ticks;

static int open_standby(server_program* self) {
    server_config* config = &self->config;
    server_standby* standby = server_standby_of(self);
    standby->wake = -1;
    if (!config->standby) return NET_EXIT_CLEAN;
    int code = check_options(self);
    if (code == NET_EXIT_CLEAN) code = server_fleet_wait(self);
    if (code != NET_EXIT_CLEAN || self->is_over) return code;
    standby->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (standby->wake < 0) base_report(&self->reporter, NULL, 0, "an eventfd: %s", strerror(errno));
    code = standby->wake < 0 ? NET_EXIT_RUNTIME : open_stream(self);
    if (code != NET_EXIT_CLEAN || self->is_over) return code;
    server_follow_begin(self, net_standby_follow(standby->standby));
    self->ticks = &standby_ticks;
    self->access.key_name = net_standby_get_report(standby->standby).key_id;
    self->access.is_named = true;
    config->stream = config->standby; // that it writes, once the match is here
    return NET_EXIT_CLEAN;
}

// Clients read "not now", and the loop hears the broker.
static int listen_to_broker(server_program* self) {
    const server_standby* standby = server_standby_of(self);
    if (!standby->standby) return NET_EXIT_CLEAN;
    net_transport_enet_standby_set(self->enet, true);
    server_program_hear(self, standby->wake);
    return NET_EXIT_CLEAN;
}

static int tell_standbys(server_program* self) {
    const base_option_list* given = &self->config.standby_addresses;
    net_address standbys[NET_TOKEN_ADDRESSES_MAX];
    if (given->count == 0) return NET_EXIT_CLEAN;
    if (given->count > NET_STANDBYS_MAX)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL, "--standby-at: at most %u",
                               NET_STANDBYS_MAX);
    if (!server_addresses_resolve("standby-at", given, standbys, &self->reporter))
        return NET_EXIT_USAGE;
    net_server_set_standbys(self->server, standbys, (uint32_t)given->count);
    return NET_EXIT_CLEAN;
}

// ---- while the match runs elsewhere ----

static bool is_waiting(const server_program* self) {
    return server_standby_of(self)->standby && server_standby_of(self)->state <= NET_STANDBY_CLAIMS;
}

static uint64_t wake_us(const server_program* self) {
    const server_standby* standby = server_standby_of(self);
    if (standby->state == NET_STANDBY_CLAIMS) return standby->tick_us + CLAIM_MS * MS;
    if (standby->is_woken || standby->state == NET_STANDBY_RAN) return standby->tick_us;
    return standby->tick_us + KEEP_MS * MS;
}

// From here on it is the server of the match.
static void begin_match(server_program* self, uint64_t now_us) {
    const uint64_t epoch = net_standby_get_report(server_standby_of(self)->standby).epoch + 1;
    const uint64_t silent_us =
        net_follow_get_report(server_follow_of(self)->source, now_us).silent_us;
    const uint32_t players = net_match_players(self->match, NULL, 0);
    const ecs_tick tick = net_match_tick(self->match);
    self->ticks = NULL;
    net_server_set_epoch(self->server, epoch);
    net_transport_enet_standby_set(self->enet, false);
    server_stream_go_on(server_stream_of(self));
    printf("takeover epoch=%" PRIu64 " tick=%" PRIu64 " players=%" PRIu32 " silent_ms=%" PRIu64
           "\n",
           epoch, tick, players, silent_us / MS);
    (void)fflush(stdout);
    base_report(&self->reporter, NULL, 0,
                "note: the match continues here after tick %" PRIu64 ": epoch %" PRIu64 ", %" PRIu32
                " players may come back",
                tick, epoch, players);
}

static bool run_tick(server_program* self, uint64_t now_us) {
    server_standby* standby = server_standby_of(self);
    standby->tick_us = now_us;
    standby->is_woken = false;
    const bool is_ending = net_server_get_phase(self->server) > NET_SERVER_RUNNING;
    if (standby->state <= NET_STANDBY_CLAIMS && !is_ending) {
        standby->state = net_standby_run(standby->standby, self->server, now_us);
        if (standby->state == NET_STANDBY_RAN) return true;
        if (standby->state == NET_STANDBY_HAS) {
            begin_match(self, now_us);
            return false;
        }
        if (standby->state > NET_STANDBY_HAS) {
            self->ticks = &server_follow_ticks; // which keep the sessions
            if (standby->state == NET_STANDBY_ENDED)
                base_report(&self->reporter, NULL, 0, "note: the match ended at tick %" PRIu64,
                            net_match_tick(self->match));
            net_server_stop(self->server, now_us);
        }
    }
    net_server_tick(self->server, now_us);
    return false;
}

static const server_ticks standby_ticks = {.wake_us = wake_us, .run = run_tick};

// What would keep it from taking over well, when that begins.
static void warn(server_program* self) {
    server_standby* standby = server_standby_of(self);
    const uint32_t players = net_match_players(self->match, NULL, 0);
    const bool is_small = players > self->config.clients_max;
    const bool is_late = standby->report.late_us >= LATE_MS * MS;
    if (is_small && !standby->is_small)
        base_report(&self->reporter, NULL, 0,
                    "warning: --max-clients %" PRIu64 " is less than the %" PRIu32
                    " players of the match: not all could come back here",
                    self->config.clients_max, players);
    if (is_late && !standby->is_late)
        base_report(&self->reporter, NULL, 0,
                    "warning: each answer of the broker takes more than %u ms: it is too far away "
                    "to take over from here",
                    NET_STREAM_PING_ANSWER_MS);
    standby->is_small = is_small;
    standby->is_late = is_late;
}

static void pass(server_program* self, uint64_t now_us) {
    server_standby* standby = server_standby_of(self);
    server_subject* subject = server_subject_of(self);
    if (!standby->standby) return;
    subject->is_unready = is_waiting(self);
    subject->standby = is_waiting(self) ? &standby->report : NULL;
    eventfd_t count;
    if (eventfd_read(standby->wake, &count) == 0) standby->is_woken = true;
    if (!is_waiting(self)) return;
    server_nats_say(standby->nats, &self->reporter, now_us);
    standby->report = net_standby_get_report(standby->standby);
    const ecs_tick tick = net_match_tick(self->match);
    if (standby->has_caught_up) warn(self);
    if (standby->has_caught_up || !standby->report.is_connected || standby->report.epoch == 0 ||
        standby->report.lag_messages > 0 || standby->state == NET_STANDBY_RAN ||
        tick + 1 < standby->report.newest)
        return;
    standby->has_caught_up = true;
    base_report(&self->reporter, NULL, 0, "note: stands by at tick %" PRIu64 ", epoch %" PRIu64,
                tick, standby->report.epoch);
}

static int report(server_program* self) {
    const server_standby* standby = server_standby_of(self);
    if (!standby->standby) return NET_EXIT_CLEAN;
    return standby->state == NET_STANDBY_DIVERGED ? NET_EXIT_DIVERGED
           : standby->state == NET_STANDBY_FAILED ? NET_EXIT_RUNTIME
                                                  : NET_EXIT_CLEAN;
}

static int close_standby(server_program* self) {
    server_standby* standby = server_standby_of(self);
    net_standby_destroy(standby->standby);
    server_nats_close(standby->nats);
    if (self->config.standby && standby->wake > 0) close(standby->wake);
    return NET_EXIT_CLEAN;
}

const server_part server_part_standby = {
    .name = "standby",
    .state_bytes = sizeof(server_standby),
    .at = {[SERVER_PREPARE] = open_standby,
           [SERVER_BOUND] = listen_to_broker,
           [SERVER_OPENED] = tell_standbys,
           [SERVER_REPORT] = report,
           [SERVER_CLOSE] = close_standby},
    .pass = pass,
};
