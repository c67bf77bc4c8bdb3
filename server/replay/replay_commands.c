// SPDX-License-Identifier: MIT
// What each command prints that looks into a log. One line of key=value per result; JSON lines for
// dump.
#include "replay/replay.h"

#include "ecs/entity.h"
#include "ecs/save.h"
#include "host/output.h"
#include "net/log_tools.h"
#include "check/sim_match.h"
#include "inspect/view.h"

#include <inttypes.h>
#include <stdio.h>

int server_replay_end(server_replay* self, int code) {
    if (self->has_result || code == NET_EXIT_CLEAN || code == NET_EXIT_USAGE) return code;
    const char* tail = net_log_reader_verdict(self->reader);
    printf("failed exit=%d tail=%s lost_bytes=%" PRIu64 "\n", code, tail,
           net_log_reader_info(self->reader)->lost_bytes);
    return code;
}

int server_replay_info(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* tail = net_log_reader_verdict(self->reader);
    printf("file=%s\ngame=%s\nbuild=%s\n", self->file, info->game, info->build);
    printf("identity=%016" PRIx64 "\ncontent_hash=%016" PRIx64 "\nschema=%016" PRIx64 "\n",
           info->identity, info->content_hash, info->schema_hash);
    printf("seed=%" PRIu64 "\ntick_rate=%u\nreplicated_index_max=%u\nworld_hash_every=%u\n",
           info->seed, info->tick_rate_hz, info->replicated_index_max, info->world_hash_every);
    for (uint32_t i = 0; i < info->setting_count; i++)
        printf("set=%s\n", info->settings[i]);
    printf("started_unix_ms=%" PRIu64 "\nfirst_tick=%" PRIu64 "\nlast_tick=%" PRIu64 "\n",
           info->started_unix_ms, info->first_tick, info->last_tick);
    printf("seconds=%.3f\n", (double)info->last_tick / info->tick_rate_hz);
    // What is before a reload of the game is a log of its own.
    if (info->segment_before > 0)
        printf("before=%s.seg%04" PRIu32 "\n", self->file, info->segment_before);
    printf("segments=%" PRIu32 "\nkeyframes=%" PRIu32 "\n", info->segment_count,
           info->keyframe_count);
    printf("file_bytes=%" PRIu64 "\nblocks=%" PRIu64 "\ndamaged_blocks=%" PRIu64
           "\nlost_ticks=%" PRIu64 "\n",
           info->file_bytes, info->block_count, info->damaged_blocks, info->lost_ticks);
    printf("queue_records=%" PRIu64 "\nclosed=%s\ntail=%s\nlost_bytes=%" PRIu64 "\n",
           info->queue_records, info->is_closed ? "yes" : "no", tail, info->lost_bytes);
    printf("running_hash=%s\nrecorded_by=%s\n", info->is_hashed ? "yes" : "no",
           info->is_seen ? "client" : "server");
    return NET_EXIT_CLEAN;
}

int server_replay_stats(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    net_log_stats stats;
    net_result result = net_log_read_stats(self->reader, &stats);
    self->has_result = true;
    uint64_t packed = 0;
    for (uint32_t kind = 0; kind < NET_LOG_KINDS; kind++) {
        printf("%s records=%" PRIu64 " bytes=%" PRIu64, net_log_kinds[kind].word,
               stats.records[kind], stats.bytes[kind]);
        if (kind == NET_LOG_KIND_END) printf(" changes_bytes=%" PRIu64, stats.changes_bytes);
        printf("\n");
        packed += stats.bytes[kind];
    }
    printf("items joins=%" PRIu64 " leaves=%" PRIu64 " inputs=%" PRIu64 " input_repeats=%" PRIu64
           " client_events=%" PRIu64 " server_events=%" PRIu64 "\n",
           stats.joins, stats.leaves, stats.inputs, stats.input_repeats, stats.client_events,
           stats.server_events);
    double minutes = (double)info->last_tick / info->tick_rate_hz / 60.0;
    printf("total ticks=%" PRIu64 " file_bytes=%" PRIu64 " record_bytes=%" PRIu64
           " bytes_per_minute=%.0f\n",
           info->last_tick, info->file_bytes, packed,
           minutes > 0 ? (double)info->file_bytes / minutes : 0.0);
    return net_exit_of_replay(result);
}

int server_replay_dump(server_replay* self) {
    self->has_result = true; // lines of JSON alone
    return net_exit_of_replay(
        net_log_dump(self->reader, self->module, net_host_write_line, stdout));
}

// Print all entities, or the one of --entity. @return the exit code.
static int show_world(server_replay* self, ecs_world* world) {
    if (!self->entity) {
        ecs_dump_world(world, false, net_host_write_line, stdout);
        return NET_EXIT_CLEAN;
    }
    ecs_entity entity;
    if (!view_read_entity(world, self->entity, &entity))
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--entity: \"%s\" is not INDEX:GENERATION", self->entity);
    if (!ecs_is_alive(world, entity))
        return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL,
                               "there is no entity %s at this tick", self->entity);
    ecs_dump_entity(world, entity, net_host_write_line, stdout);
    return NET_EXIT_CLEAN;
}

static int show_match(server_replay* self, net_match* match) {
    ecs_world* world = net_match_world(match);
    self->has_result = true;
    printf("tick=%" PRIu64 " entities=%u state_hash=%016" PRIx64 " world_hash=%016" PRIx64 "\n",
           net_match_tick(match), ecs_world_entity_count(world), ecs_world_state_hash(world),
           ecs_world_hash(world));
    return show_world(self, world);
}

// A difference is reported once and does not stop the run, so that the world of a log that diverges
// can be shown.
static int show_server(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const ecs_tick last = self->tick > 0 ? self->tick : info->last_tick;
    net_log_replay* replay;
    ecs_tick diverged = 0;
    net_result result =
        net_log_replay_create(self->reader, self->module, last, &self->reporter, &replay);
    if (result != NET_OK) return net_exit_of_replay(result);
    net_match* match = net_log_replay_match(replay);
    while (result == NET_OK && net_match_tick(match) < last)
        result = net_log_replay_next(replay, &self->reporter, &diverged);
    const ecs_tick here = net_match_tick(match);
    int code = net_exit_of_replay(result);
    if (result == NET_ERR_CLOSED)
        code = net_exit_report(NET_EXIT_USAGE, &self->reporter, self->file,
                               "--tick: the log ends at tick %" PRIu64, here);
    else if (result == NET_OK && here != last)
        code = net_exit_report(NET_EXIT_RUNTIME, &self->reporter, self->file,
                               "tick %" PRIu64 " is not in it: damaged, or in another segment; it "
                               "continues at tick %" PRIu64,
                               last, here);
    else if (result == NET_OK)
        code = show_match(self, match);
    net_log_replay_destroy(replay);
    return code;
}

int server_replay_check_trace(server_replay* self) {
    uint64_t rows = 0;
    net_result result =
        net_log_check_trace(self->reader, self->module, self->second, &self->reporter, &rows);
    if (result == NET_OK) printf("checked rows=%" PRIu64 " trace=%s\n", rows, self->second);
    return net_exit_of_replay(result);
}

// ---- what clients had been sent ----
//
// A log does not hold it: the match is run again and sent again, over the simulated network.
// `datagrams` compares whole runs, `show --tick client=N` looks at one mirror.

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
    look->code = show_world(self, world);
    look->is_shown = true;
    return true;
}

static int show_client(server_replay* self) {
    const ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    mirror_look look = {.self = self, .tick = self->tick > 0 ? self->tick : last};
    net_log_resend_config config = {.client = (uint32_t)self->client, .until = look.tick};
    net_log_resend_result made;
    if (!read_line(self, &config.link)) return NET_EXIT_USAGE;
    if (look.tick > last)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, self->file,
                               "--tick: the log ends at tick %" PRIu64, last);
    net_result result = net_log_resend(self->reader, self->module, &config, look_at_mirror, &look,
                                       &self->reporter, &made);
    const bool is_slice = net_log_reader_info(self->reader)->first_tick > 1;
    if (result == NET_ERR_UNKNOWN && is_slice) return NET_EXIT_USAGE; // reported
    if (result == NET_ERR_UNKNOWN || (result == NET_OK && !look.is_shown))
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, self->file,
                               "--tick: client %" PRIu64 " does not play at tick %" PRIu64
                               ": `shoal-replay export --what events` lists joins and leaves",
                               self->client, look.tick);
    return result == NET_OK ? look.code : net_exit_of_replay(result);
}

int server_replay_show(server_replay* self) {
    return self->client > 0 ? show_client(self) : show_server(self);
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
