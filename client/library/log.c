// SPDX-License-Identifier: MIT
// Event logs: header, records as JSON, and the match run again with its world.
#include "library.h"

#include "base/assert.h"
#include "net/log.h"

#include "ecs/ecs.h"

#include <string.h>

struct shoal_log {
    base_owner owner;
    library_reports reports;
    base_reporter reporter;
    net_result result; ///< of opening
    net_log_reader* reader;
    net_module* module;
    bool has_tried; ///< to open the module
    net_log_replay* replay;
    shoal_world world;
    char* game; ///< NULL: the one that the log names
    char* path;
};

static char* copy_text(shoal_log* log, const char* text) {
    if (!text) return NULL;
    return memcpy(base_allocate(&log->owner.allocator, strlen(text) + 1), text, strlen(text) + 1);
}

shoal_log* shoal_log_open(const char* file, const char* game, const char* game_path) {
    if (!file) return NULL;
    shoal_log* log = base_owner_create(NULL, sizeof *log);
    log->reporter = library_reporter(&log->reports);
    log->game = copy_text(log, game);
    log->path = copy_text(log, game_path);
    log->result = net_log_reader_create(NULL, file, &log->reporter, &log->reader);
    return log;
}

void shoal_log_close(shoal_log* log) {
    if (!log) return;
    net_log_replay_destroy(log->replay);
    net_module_close(log->module);
    net_log_reader_destroy(log->reader);
    base_owner_destroy(log);
}

int32_t shoal_log_result(const shoal_log* log) {
    return log ? (int32_t)log->result : SHOAL_ERR_UNKNOWN;
}

const char* shoal_log_text(const shoal_log* log) {
    return log ? log->reports.text : "";
}

const char* shoal_log_word(const shoal_log* log, const char* name) {
    if (!log || !log->reader || !name) return NULL;
    const net_log_info* info = net_log_reader_info(log->reader);
    if (strcmp(name, "game") == 0) return info->game;
    if (strcmp(name, "build") == 0) return info->build;
    return NULL;
}

int32_t shoal_log_number(const shoal_log* log, const char* name, uint64_t* value) {
    if (value) *value = 0;
    if (!log || !log->reader || !name || !value) return SHOAL_ERR_UNKNOWN;
    const net_log_info* info = net_log_reader_info(log->reader);
    const struct {
        const char* name;
        uint64_t value;
    } numbers[] = {
        {"tick_rate", info->tick_rate_hz},  {"seed", info->seed},
        {"first_tick", info->first_tick},   {"last_tick", info->last_tick},
        {"schema_hash", info->schema_hash}, {"started_unix_ms", info->started_unix_ms},
        {"is_cut", info->is_cut},           {"is_damaged", info->is_damaged},
        {"lost_bytes", info->lost_bytes},
    };
    for (uint32_t i = 0; i < BASE_COUNT(numbers); i++) {
        if (strcmp(name, numbers[i].name) != 0) continue;
        *value = numbers[i].value;
        return SHOAL_OK;
    }
    return SHOAL_ERR_UNKNOWN;
}

// Once: a game that is not here stays away.
static net_result open_game(shoal_log* log) {
    if (log->module) return NET_OK;
    if (log->has_tried) return NET_ERR_MODULE;
    log->has_tried = true;
    const char* game = log->game ? log->game : net_log_reader_info(log->reader)->game;
    if (!log->game && !net_module_name_is_valid(game)) return NET_ERR_MODULE;
    return library_open_game(game, log->path, &log->reporter, &log->module);
}

typedef struct line_sink {
    shoal_line_fn line;
    void* context;
    bool is_stopped;
} line_sink;

static void pass_line(void* context, const char* line) {
    line_sink* sink = context;
    if (!sink->is_stopped && !sink->line(sink->context, line)) sink->is_stopped = true;
}

int32_t shoal_log_lines(shoal_log* log, shoal_line_fn line, void* context) {
    if (!log || !log->reader || !line) return SHOAL_ERR_UNKNOWN;
    (void)open_game(log); // without it messages are hex
    line_sink sink = {.line = line, .context = context};
    return (int32_t)net_log_dump(log->reader, log->module, pass_line, &sink);
}

static net_result begin_replay(shoal_log* log) {
    BASE_ASSERT(log->reader && !log->replay);
    net_result result = open_game(log);
    if (result == NET_OK)
        result = net_log_replay_create(log->reader, log->module, 0, &log->reporter, &log->replay);
    if (result != NET_OK) return result == NET_ERR_UNKNOWN ? NET_ERR_MODULE : result;
    library_world_open(&log->world, net_log_replay_match(log->replay), &log->owner.allocator);
    return NET_OK;
}

int32_t shoal_log_step(shoal_log* log) {
    if (!log || !log->reader) return SHOAL_ERR_UNKNOWN;
    net_result result = log->replay ? NET_OK : begin_replay(log);
    net_log_tick tick;
    if (result == NET_OK) result = net_log_replay_step(log->replay, &tick);
    if (result != NET_OK) return (int32_t)result;
    const bool is_equal = !tick.has_end || tick.state_hash == shoal_log_state_hash(log);
    return is_equal ? SHOAL_OK : SHOAL_ERR_DIVERGED;
}

shoal_world* shoal_log_world(shoal_log* log) {
    return log && log->replay ? &log->world : NULL;
}

uint64_t shoal_log_state_hash(shoal_log* log) {
    return log && log->replay
               ? ecs_world_state_hash(net_match_world(net_log_replay_match(log->replay)))
               : 0;
}
