// SPDX-License-Identifier: MIT
// What clients had been sent. A log does not hold it: the match is run again and sent again, over
// the simulated network. `datagrams` compares whole runs, `show --client N` looks at one mirror.
#include "replay/replay.h"

#include "ecs/save.h"
#include "tools/output.h"
#include "tools/sim_match.h"

#include <inttypes.h>
#include <stdio.h>

static bool read_line(const server_replay* self, net_link_pair* link) {
    *link = (net_link_pair){0};
    return !self->net || net_link_config_parse(self->net, &self->reporter, link) == NET_OK;
}

static bool each_tick(void* context, net_sim_match* match) {
    server_replay_progress(context, net_sim_match_tick(match));
    return true;
}

typedef struct mirror_look {
    server_replay* self;
    ecs_tick tick;
    bool is_shown;
    int code;
} mirror_look;

static bool look_at_mirror(void* context, net_sim_match* match) {
    mirror_look* look = context;
    server_replay* self = look->self;
    const uint32_t client = (uint32_t)self->client;
    net_match* mirror = net_sim_match_mirror(match, client);
    server_replay_progress(self, net_sim_match_tick(match));
    if (net_sim_match_tick(match) != look->tick || !mirror) return true;
    ecs_world* world = net_match_world(mirror);
    printf("tick=%" PRIu64 " client=%u client_tick=%" PRIu64 " entities=%u of=%u by=sent_again "
           "net=%s\n",
           look->tick, client, net_sim_match_mirror_tick(match, client),
           ecs_world_entity_count(world), net_sim_match_entities(match),
           self->net ? self->net : "perfect");
    look->code = server_replay_show_world(self, world);
    look->is_shown = true;
    return true;
}

int server_replay_show_client(server_replay* self) {
    const ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    mirror_look look = {.self = self, .tick = self->tick > 0 ? self->tick : last};
    net_log_resend_config config = {.client = (uint32_t)self->client, .until = look.tick};
    net_log_resend_result made;
    if (!read_line(self, &config.link)) return NET_EXIT_USAGE;
    if (look.tick > last) {
        base_report(&self->reporter, self->file, 0, "--tick: the log ends at tick %" PRIu64, last);
        return NET_EXIT_USAGE;
    }
    net_result result = net_log_resend(self->reader, self->module, &config, look_at_mirror, &look,
                                       &self->reporter, &made);
    const bool is_slice = net_log_reader_info(self->reader)->first_tick > 1;
    if (result == NET_ERR_UNKNOWN && is_slice) return NET_EXIT_USAGE; // reported
    if (result == NET_ERR_UNKNOWN || (result == NET_OK && !look.is_shown)) {
        base_report(&self->reporter, self->file, 0,
                    "--client: client %" PRIu64 " does not play at tick %" PRIu64
                    ": `shoal-replay stats` lists clients with their ticks",
                    self->client, look.tick);
        return NET_EXIT_USAGE;
    }
    return result == NET_OK ? look.code : net_exit_of_replay(result);
}

int server_replay_datagrams(server_replay* self) {
    net_log_resend_config config = {.until = self->tick};
    net_log_resend_result made;
    if (!read_line(self, &config.link)) return NET_EXIT_USAGE;
    net_result result = net_log_resend(self->reader, self->module, &config, each_tick, self,
                                       &self->reporter, &made);
    if (result == NET_ERR_UNKNOWN) return NET_EXIT_USAGE; // reported
    self->has_result = result == NET_ERR_DIVERGED;
    if (self->has_result) printf("diverged tick=%" PRIu64 "\n", made.diverged_tick);
    if (result != NET_OK) return net_exit_of_replay(result);
    char same[64] = "yes";
    if (made.differs_tick > 0)
        snprintf(same, sizeof same, "no from_tick=%" PRIu64, made.differs_tick);
    printf("datagrams ticks=%" PRIu64 " clients=%u sent=%" PRIu64 " bytes=%" PRIu64 " lost=%" PRIu64
           " hash=%016" PRIx64 " as_in_the_log=%s\n",
           made.ticks, made.clients, made.sent.datagrams, made.sent.bytes, made.sent.lost,
           made.sent.hash, same);
    return NET_EXIT_CLEAN;
}
