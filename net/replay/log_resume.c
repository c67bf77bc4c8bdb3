// SPDX-License-Identifier: MIT
// A match goes on where its log ends, or at an earlier tick of it. The run proves itself: each hash
// on the way is compared, so what goes on is the log's match or nothing.
//
// A log with another content is refused, not tried: its match may run on for minutes until a rare
// system shows the difference.
#include "base/assert.h"
#include "base/text.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "replay/log_replay.h"
#include "net/log.h"
#include "net/match.h"

#include <inttypes.h>
#include <string.h>

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

// Whether players may lose the ticks behind `right` is for a person to decide. @return as run.
static net_result refuse_log(const resumption* self, ecs_tick right, net_result result) {
    const char* file = net_log_reader_file(self->reader);
    char why[128] = "", remedy[96] = "";
    if (result == NET_ERR_CLOSED)
        (void)base_text_format(why, sizeof why,
                               "tick %" PRIu64 " cannot be read: the log is damaged there",
                               self->tick);
    else
        (void)base_text_format(why, sizeof why,
                               "the run here %s in tick %" PRIu64 ": shoal-replay verify says more",
                               result == NET_ERR_DIVERGED ? "differs from the log" : "ends",
                               net_match_tick(net_log_replay_match(self->replay)));
    if (right >= net_log_reader_info(self->reader)->first_tick)
        (void)base_text_format(remedy, sizeof remedy,
                               "; the match can go on from tick %" PRIu64 ": --at %" PRIu64, right,
                               right);
    base_report(self->reporter, file, 0, "%s%s", why, remedy);
    return result == NET_ERR_CLOSED ? NET_ERR_UNKNOWN : result;
}

static net_result run_log(const resumption* self, void (*each)(void* context), void* context) {
    net_match* match = net_log_replay_match(self->replay);
    ecs_tick right = net_match_tick(match); // the newest one that the run proved
    net_result result = NET_OK;
    while (result == NET_OK && right < self->tick) {
        net_log_tick tick;
        result = net_log_replay_step(self->replay, &tick);
        if (result == NET_OK && tick.has_end &&
            !net_log_is_same(net_match_world(match), tick.state_hash,
                             tick.has_world_hash ? &tick.world_hash : NULL))
            result = NET_ERR_DIVERGED;
        if (result == NET_OK && net_match_tick(match) > self->tick) result = NET_ERR_CLOSED;
        if (result == NET_OK) right = net_match_tick(match);
        if (each) each(context);
    }
    return result == NET_OK || result == NET_ERR_MEMORY ? result : refuse_log(self, right, result);
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
    if (result == NET_OK) result = run_log(&self, each, context);
    if (result == NET_OK) {
        char name[NET_SAVE_NAME_BYTES];
        *match = net_log_replay_take(self.replay);
        (void)net_match_take_save(*match, name); // those of the log's ticks were made then
    }
    net_log_replay_destroy(self.replay);
    return result;
}
