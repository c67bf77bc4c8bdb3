// SPDX-License-Identifier: MIT
// A match goes on where its log ends, or at an earlier tick of it. The run proves itself: each hash
// on the way is compared, so what goes on is the log's match or nothing.
//
// A log with another content is refused, not tried: its match may run on for minutes until a rare
// system shows the difference.
#include "base/assert.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_replay.h"
#include "net/log.h"
#include "net/match.h"

#include <inttypes.h>
#include <string.h>
#include <sys/file.h>

bool net_log_reader_lock(net_log_reader* reader) {
    return flock(reader->set.fd_last, LOCK_EX | LOCK_NB) == 0;
}

void net_log_reader_unlock(net_log_reader* reader) {
    (void)flock(reader->set.fd_last, LOCK_UN);
}

bool net_log_reader_has_values(const net_log_reader* reader) {
    return net_log_header_row_code(reader->header.data, reader->header.size) != 0;
}

// ---- the run ----

typedef struct resumption {
    net_log_reader* reader;
    const base_reporter* reporter;
    net_log_replay* replay;
    ecs_tick tick; // the last one
} resumption;

static net_result check_game(const resumption* self, const net_module* module) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* file = net_log_reader_file(self->reader);
    size_t size;
    const uint8_t* header = net_log_reader_header(self->reader, &size);
    const uint64_t code = net_log_header_row_code(header, size);
    if (code != 0 && code != NET_LOG_ROW_CODE) {
        base_report(self->reporter, file, 0,
                    "its values are in row code %" PRIu64
                    ", and this build writes %u: go on with build %s",
                    code, NET_LOG_ROW_CODE, info->build);
        return NET_ERR_VERSION;
    }
    // That of another game is said by the replay.
    if (strcmp(info->game, module->game->name) == 0 && info->content_hash != module->content_hash) {
        base_report(self->reporter, file, 0,
                    "the game here is another one than the log's (content %016" PRIx64
                    ", here %016" PRIx64 "): a match goes on with its own library and templates",
                    info->content_hash, module->content_hash);
        return NET_ERR_SCHEMA;
    }
    return NET_OK;
}

static net_result check_tick(resumption* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const char* file = net_log_reader_file(self->reader);
    if (info->last_tick == 0) {
        base_report(self->reporter, file, 0, "it has no whole tick to go on from");
        return NET_ERR_UNKNOWN;
    }
    if (self->tick == 0) self->tick = info->last_tick;
    if (self->tick >= info->first_tick && self->tick <= info->last_tick) return NET_OK;
    base_report(self->reporter, file, 0,
                "tick %" PRIu64 " is not in the log: it has %" PRIu64 "..%" PRIu64, self->tick,
                info->first_tick, info->last_tick);
    return NET_ERR_UNKNOWN;
}

static net_result check_log(resumption* self, const net_module* module) {
    if (!net_log_reader_lock(self->reader)) {
        base_report(self->reporter, net_log_reader_file(self->reader), 0,
                    "a server writes this log now: end it, then the match can go on");
        return NET_ERR_CLOSED;
    }
    const net_result result = check_game(self, module);
    return result == NET_OK ? check_tick(self) : result;
}

static net_result compare(const resumption* self, const net_log_tick* tick) {
    const ecs_world* world = net_match_world(net_log_replay_match(self->replay));
    bool is_same = !tick->has_end || ecs_world_state_hash(world) == tick->state_hash;
    const uint64_t hash = is_same && tick->has_world_hash ? ecs_world_hash(world) : 0;
    if (hash != 0) is_same = hash == tick->world_hash; // 0: no memory to compute it
    if (is_same) return NET_OK;
    base_report(self->reporter, net_log_reader_file(self->reader), 0,
                "the run here differs from the log in tick %" PRIu64
                ", so its match cannot go on: shoal-replay verify says in what; it may go on from "
                "an earlier tick (--at)",
                tick->tick);
    return NET_ERR_DIVERGED;
}

static net_result run(const resumption* self, void (*each)(void* context), void* context) {
    const net_match* match = net_log_replay_match(self->replay);
    net_result result = NET_OK;
    while (result == NET_OK && net_match_tick(match) < self->tick) {
        net_log_tick tick;
        result = net_log_replay_step(self->replay, &tick);
        if (result == NET_OK) result = compare(self, &tick);
        if (each) each(context);
    }
    if (result == NET_OK && net_match_tick(match) > self->tick) result = NET_ERR_CLOSED;
    if (result != NET_ERR_CLOSED) return result;
    base_report(self->reporter, net_log_reader_file(self->reader), 0,
                "tick %" PRIu64 " cannot be read: the log is damaged there", self->tick);
    return NET_ERR_UNKNOWN;
}

net_result net_log_resume(net_log_reader* reader, const net_module* module, ecs_tick tick,
                          void (*each)(void* context), void* context, const base_reporter* reporter,
                          net_match** match) {
    BASE_ASSERT(reader && module && match);
    resumption self = {.reader = reader, .reporter = reporter, .tick = tick};
    *match = NULL;
    net_result result = check_log(&self, module);
    if (result == NET_OK)
        result = net_log_replay_create_at(reader, module, self.tick, reporter, &self.replay);
    if (result == NET_OK) result = run(&self, each, context);
    if (result == NET_OK) {
        char name[NET_SAVE_NAME_BYTES];
        *match = net_log_replay_take(self.replay);
        (void)net_match_take_save(*match, name); // those of the log's ticks were made then
    }
    net_log_replay_destroy(self.replay);
    return result;
}
