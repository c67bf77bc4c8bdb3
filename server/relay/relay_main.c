// SPDX-License-Identifier: MIT
// shoal-relay: the match of another server for spectators without number.
//
// It is shoal-server with another beginning: what enters a tick comes from the log or the stream of
// the match's server (server/fleet/follow.c), and spectators alone join. All the rest - sockets,
// keys, bans, log, inspector, control, service - is the same code with the same options.
#include "program.h"

#include "host/output.h"
#include "host/setup.h"
#include "stream/follow.h"

#include <string.h>

// ---- options. An option that shoal-server has too means the same there

#define SPECTATORS_DEFAULT 1000u
#define DELAY_S_DEFAULT 30u

#define FIELD(name) BASE_OPTION_FIELD(server_config, name)
#define KEY(name) FIELD(name) // of a key of an option

static const base_option own[] = {
    {"source", FIELD(follow), "FILE.slog|nats://HOST/STREAM", "the match, if no argument names it",
     0, 0},
    {"delay", FIELD(follow_delay_s), "S,KEY=VALUE", "show the match S seconds later (default: 30)",
     0, NET_FOLLOW_DELAY_S_MAX},
    {"log", FIELD(follow_begin), "FILE",
     "of a stream: start at a keyframe of this log instead of tick 1", 0, 0},
    {"record", FIELD(log), "FILE|none,KEY=VALUE",
     "its own log of the match (default: GAME-DATE-TIME.slog)", 0, 0},
};

// In the order of --help. Those that are not its own are as of shoal-server.
static const char* const names[] = {
    "source",     "delay",    "game",  "log",           "config",          "listen",
    "spectators", "key-file", "net",   "allow-dev-key", "max-per-address", "record",
    "http",       "control",  "lines", "tune",          "threads",
};

static const base_option_group groups[] = {{"match", "source"},
                                           {"internet", "listen"},
                                           {"log", "record"},
                                           {"page", "http"},
                                           {"tuning", "tune"}};

static const base_option delay_keys[] = {
    {"whole", KEY(follows_whole), NULL, "start at tick 1 instead of the newest keyframe", 0, 0},
};

static const base_option_keys keys[] = {
    {"delay", delay_keys, 1},        {"listen", server_listen_keys, 2},
    {"record", server_log_keys, 4},  {"http", server_http_keys, 3},
    {"lines", server_lines_keys, 2}, {"tune", server_tune_keys, 4},
};

static bool check_source(void* values, const base_option_list* words,
                         const base_reporter* reporter) {
    server_config* config = values;
    if (words->count + (config->follow != NULL) != 1)
        return base_report(
            reporter, NULL, 0,
            words->count == 0 && !config->follow
                ? "name the log or the stream of the match: shoal-relay FILE.slog|nats://..."
                : "a relay follows one match: start one for each");
    if (words->count == 1) config->follow = words->values[0];
    return server_config_check(config, words, reporter);
}

// A server_config_fn.
static base_options_result relay_config_read(server_config* config, int argc, char** argv,
                                             const base_reporter* reporter) {
    *config = (server_config){
        .listen = "127.0.0.1:7778",
        .agones = SERVER_AGONES_OFF,
        .follow_delay_s = DELAY_S_DEFAULT,
        .tick_rate_hz = NET_TICK_RATE_HZ_DEFAULT,
        .clients_max = 1,
        .spectators_max = SPECTATORS_DEFAULT,
        .clients_per_address_max = NET_ADDRESS_CLIENTS_DEFAULT,
        .rate_bytes_max = NET_RATE_BYTES_DEFAULT,
        .send_divisor = 1,
        .coder = NET_CODER_SHARED,
        .net_threads = SERVER_THREADS_UNSET,
        .log_segment_mb = NET_LOG_SEGMENT_BYTES_DEFAULT >> 20,
        .log_budget_mb = NET_LOG_BUDGET_BYTES_DEFAULT >> 20,
        .log_ring_mb = NET_LOG_RING_BYTES_DEFAULT >> 20,
    };
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        const base_option* row = NULL;
        for (uint32_t k = 0; !row && k < BASE_COUNT(own); k++)
            if (strcmp(own[k].name, names[i]) == 0) row = &own[k];
        config->rows[i] = row ? *row : *server_config_row(names[i]);
    }
    base_option_list words = {.count = 0};
    const base_options options = {
        .program = "shoal-relay",
        .version = net_build_id(),
        .usage = "FILE.slog|nats://HOST/STREAM [options]",
        .about =
            "Shows the match of a server, from its log or stream, to spectators, some time later.",
        .options = config->rows,
        .count = BASE_COUNT(names),
        .values = config,
        .keys = keys,
        .keys_count = BASE_COUNT(keys),
        .groups = groups,
        .group_count = BASE_COUNT(groups),
        .common = "delay game log listen spectators key-file record http",
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
        .sources = config->option_sources,
        .check = check_source,
    };
    config->options = options;
    const base_options_result result = base_options_read(&options, argc, argv, &words, reporter);
    if (result == BASE_OPTIONS_OK) server_config_choose_threads(config, config->spectators_max);
    return result;
}

int main(int argc, char** argv) {
    base_reporter reporter = base_reporter_stderr();
    if (!net_host_prepare(&reporter)) return NET_EXIT_RUNTIME;
    return server_program_start(relay_config_read, argc, argv);
}
