// SPDX-License-Identifier: MIT
// One table gives the command line, the environment, the config file and --help.
#include "config.h"

#include "tools/output.h"
#include "net/log.h"

#include <string.h>
#include <unistd.h>

#define THREADS_UNSET UINT64_MAX
#define LOG_MB_MAX 1e9
#define LOG_S_MAX 1e6
#define LOG_KEEP_MAX 1e6
#define LOG_RING_MB_MAX 16384

// One thread for NET_LANE_CLIENTS players, but one core stays for the simulation. More threads than
// players would have nothing to do.
static void choose_threads(server_config* config) {
    if (config->net_threads == THREADS_UNSET) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        const uint64_t spare = cores > 1 ? (uint64_t)cores - 1 : 0;
        config->net_threads = (config->clients_max + NET_LANE_CLIENTS - 1) / NET_LANE_CLIENTS;
        if (config->net_threads > spare) config->net_threads = spare;
        if (config->net_threads > NET_LANES_MAX) config->net_threads = NET_LANES_MAX;
    }
    if (config->net_threads > config->clients_max) config->net_threads = config->clients_max;
}

static bool choose_coder(server_config* config) {
    static const char* const names[] = {
        [NET_CODER_SHARED] = "shared", [NET_CODER_SOLO] = "solo", [NET_CODER_AUTO] = "auto"};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        if (strcmp(config->coder_name, names[i]) != 0) continue;
        config->coder = (net_coder)i;
        return true;
    }
    return false;
}

base_options_result server_config_read(server_config* config, int argc, char** argv,
                                       const base_reporter* reporter) {
    memset(config, 0, sizeof *config);
    config->listen = "127.0.0.1:7777";
    config->tick_rate_hz = NET_TICK_RATE_HZ_DEFAULT;
    config->seed = 1;
    config->clients_max = NET_CLIENTS_DEFAULT;
    config->clients_per_address_max = NET_ADDRESS_CLIENTS_DEFAULT;
    config->rate_bytes_max = NET_RATE_BYTES_DEFAULT;
    config->send_divisor = 1;
    config->coder_name = "shared";
    config->net_threads = THREADS_UNSET;
    config->log_sync = "second";
    config->log_segment_mb = NET_LOG_SEGMENT_BYTES_DEFAULT >> 20;
    config->log_budget_mb = NET_LOG_BUDGET_BYTES_DEFAULT >> 20;
    config->log_ring_mb = NET_LOG_RING_BYTES_DEFAULT >> 20;
    const base_option table[] = {
        {"game", BASE_OPTION_TEXT, &config->game, "NAME|FILE.so", "the game to run", 0, 0},
        {"listen", BASE_OPTION_TEXT, &config->listen, "ADDR:PORT",
         "where to listen, [IPv6]:PORT too; port 0 picks one", 0, 0},
        {"tick-rate", BASE_OPTION_U64, &config->tick_rate_hz, "HZ", "ticks per second",
         NET_TICK_RATE_HZ_MIN, NET_TICK_RATE_HZ_MAX},
        {"seed", BASE_OPTION_U64, &config->seed, "N", "start of the simulation's random numbers", 0,
         0},
        {"log", BASE_OPTION_TEXT, &config->log, "FILE|none",
         "the event log (default: GAME-DATE-TIME.slog here)", 0, 0},
        {"ticks", BASE_OPTION_U64, &config->ticks, "N", "end after N ticks (0: never)", 0, 0},
        {"min-clients", BASE_OPTION_U64, &config->clients_min, "N", "begin when N clients are in",
         0, NET_CLIENTS_MAX},
        {"max-clients", BASE_OPTION_U64, &config->clients_max, "N",
         "refuse more clients than N (1 to 4095)", 1, NET_CLIENTS_MAX},
        {"fast", BASE_OPTION_FLAG, &config->is_fast, NULL, "do not wait between ticks", 0, 0},
        {"key-file", BASE_OPTION_TEXT, &config->key_file, "FILE",
         "let in players with a token of these keys (keygen, token)", 0, 0},
        {"bans", BASE_OPTION_TEXT, &config->bans, "FILE",
         "who may not play: \"address 203.0.113.0/24\", \"player 7\"", 0, 0},
        {"allow-dev-key", BASE_OPTION_FLAG, &config->allow_dev_key, NULL,
         "let in clients with the built-in key, which is public", 0, 0},
        {"set", BASE_OPTION_LIST, &config->settings, "KEY=VALUE",
         "a setting of the game; repeatable", 0, 0},
        {"net", BASE_OPTION_TEXT, &config->net, "SPEC",
         "bad network: wifi|4g|bad|satellite,loss=5,... (server/README.md)", 0, 0},
        {"net-threads", BASE_OPTION_U64, &config->net_threads, "N",
         "threads that receive and send (default: by cores and --max-clients)", 0, NET_LANES_MAX},
        {"config", BASE_OPTION_TEXT, &config->config, "FILE",
         "lines of \"tick-rate = 30\"; environment and command line win", 0, 0},
        {"log-segment-mb", BASE_OPTION_U64, &config->log_segment_mb, "MB",
         "size of a segment of the log; 0: no limit", 0, LOG_MB_MAX},
        {"log-segment-s", BASE_OPTION_U64, &config->log_segment_s, "S",
         "match time in a segment of the log; 0: no limit", 0, LOG_S_MAX},
        {"log-keep", BASE_OPTION_U64, &config->log_keep, "N",
         "closed segments that are kept; 0: all", 0, LOG_KEEP_MAX},
        {"log-budget-mb", BASE_OPTION_U64, &config->log_budget_mb, "MB",
         "size of all segments; the oldest are deleted; 0: no limit", 0, LOG_MB_MAX},
        {"log-sync", BASE_OPTION_TEXT, &config->log_sync, "second|block|end",
         "what a power cut may lose: 1 s, a block, what the system has", 0, 0},
        {"log-on-close", BASE_OPTION_TEXT, &config->log_on_close, "PROGRAM",
         "run it with the name of each closed segment", 0, 0},
        {"log-content", BASE_OPTION_TEXT, &config->log_content, "inputs|state",
         "inputs: a smaller log without values", 0, 0},
        {"log-ring", BASE_OPTION_U64, &config->log_ring_s, "S",
         "keep the last seconds in memory, for a game or --console to save", 0,
         NET_LOG_RING_SECONDS_MAX},
        {"log-ring-mb", BASE_OPTION_U64, &config->log_ring_mb, "MB", "memory of --log-ring", 1,
         LOG_RING_MB_MAX},
        {"console", BASE_OPTION_FLAG, &config->has_console, NULL,
         "hear commands on stdin: save WHY, status, end", 0, 0},
        {"status-every", BASE_OPTION_U64, &config->status_every_s, "S",
         "print the state as one line each S seconds", 0, 86400},
        {"max-per-address", BASE_OPTION_U64, &config->clients_per_address_max, "N",
         "players of one address at a time; 0: no limit", 0, NET_CLIENTS_MAX},
        {"public", BASE_OPTION_LIST, &config->public_addresses, "ADDR:PORT",
         "an address that tokens may name; repeatable", 0, 0},
        {"dump-world", BASE_OPTION_TEXT, &config->dump_world, "FILE",
         "at the end write the world that clients should have", 0, 0},
        {"rate-max", BASE_OPTION_U64, &config->rate_bytes_max, "BYTES",
         "bytes that a client gets in a second, at most", 1, NET_RATE_BYTES_LIMIT},
        {"send-divisor", BASE_OPTION_U64, &config->send_divisor, "N",
         "a client gets a packet at one tick in N", 1, NET_SEND_DIVISOR_MAX},
        {"coder", BASE_OPTION_TEXT, &config->coder_name, "shared|solo|auto",
         "solo: fewer bytes, more processor time; auto: for 16 clients", 0, 0},
        {"threads", BASE_OPTION_U64, &config->threads, "N",
         "threads of the systems (default: by cores and game)", 0, BASE_WORKERS_MAX},
        {"ledger", BASE_OPTION_TEXT, &config->bandwidth, "FILE",
         "at the end write where all bits went", 0, 0},
        {"trace-session", BASE_OPTION_TEXT, &config->session_trace, "FILE",
         "write each packet and each change of a session", 0, 0},
    };
    const base_options options = {
        .program = "shoal-server",
        .version = net_build_id(),
        .usage = "--game NAME|FILE.so [options] | new | schema | check | keygen | token ...",
        .about = "Runs one match: owns the world, replicates it to clients, writes the event log.",
        .options = table,
        .count = BASE_COUNT(table),
        .first_rare = "log-segment-mb",
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
    };
    base_option_list words = {0};
    base_options_result result = base_options_read(&options, argc, argv, &words, reporter);
    if (result != BASE_OPTIONS_OK) return result;
    if (words.count > 0) {
        base_report(reporter, NULL, 0, "unexpected word '%s' (see --help)", words.values[0]);
        return BASE_OPTIONS_ERROR;
    }
    if (!choose_coder(config)) {
        base_report(reporter, NULL, 0, "--coder is shared, solo or auto, not '%s'",
                    config->coder_name);
        return BASE_OPTIONS_ERROR;
    }
    choose_threads(config);
    return BASE_OPTIONS_OK;
}
