// SPDX-License-Identifier: MIT
// One table gives the command line, the environment, the config file and --help. An option that
// shoal-server has too means the same there.
#include "relay/relay.h"

#include "stream/follow.h"
#include "host/output.h"

#define SPECTATORS_DEFAULT 1000u
#define DELAY_S_DEFAULT 30u
#define LOG_MB_MAX 1e9
#define LOG_S_MAX 1e6
#define LOG_KEEP_MAX 1e6

#define FIELD(name) BASE_OPTION_FIELD(server_config, name)

static const base_option table[] = {
    {"delay", FIELD(follow_delay_s), "S", "show the match so many seconds later (default: 30)", 0,
     NET_FOLLOW_DELAY_S_MAX},
    {"listen", FIELD(listen), "ADDR:PORT", "where to listen, [IPv6]:PORT too; port 0 picks one", 0,
     0},
    {"spectators", FIELD(spectators_max), "N", "refuse more spectators than N (default: 1000)", 1,
     NET_CLIENTS_MAX - 1},
    {"key-file", FIELD(key_file), "FILE", "let in clients with a token of these keys", 0, 0},
    {"http", FIELD(http), "ADDR:PORT", "serve the inspector: a page of the match; port 0 picks one",
     0, 0},
    {"record", FIELD(log), "FILE|none", "its own log of the match (default: GAME-DATE-TIME.slog)",
     0, 0},
    {"log", FIELD(follow_begin), "FILE",
     "of a stream: begin with a keyframe of this log, not with tick 1", 0, 0},
    {"whole", FIELD(follows_whole), NULL, "begin with tick 1, not with the newest keyframe", 0, 0},
    {"game", FIELD(game), "NAME|FILE.so", "the game (default: the one that the log names)", 0, 0},
    {"net", FIELD(net), "SPEC", "bad network: wifi|4g|bad|satellite,loss=5,... (server/README.md)",
     0, 0},
    {"bans", FIELD(bans), "FILE", "who may not watch: \"address 203.0.113.0/24\", \"player 7\"", 0,
     0},
    {"allow-dev-key", FIELD(allow_dev_key), NULL,
     "let in clients with the built-in key, which is public", 0, 0},
    {"http-token-file", FIELD(http_token_file), "FILE",
     "its tokens, \"reader TOKEN\", \"operator TOKEN\"", 0, 0},
    {"http-host", FIELD(http_hosts), "NAME", "a name under which it is asked; repeatable", 0, 0},
    {"http-optional", FIELD(http_is_optional), NULL, "go on without it when its port is taken", 0,
     0},
    {"log-segment-mb", FIELD(log_segment_mb), "MB", "size of a segment of its log; 0: no limit", 0,
     LOG_MB_MAX},
    {"log-segment-s", FIELD(log_segment_s), "S", "match time in a segment of its log; 0: no limit",
     0, LOG_S_MAX},
    {"log-keep", FIELD(log_keep), "N", "closed segments that are kept; 0: all", 0, LOG_KEEP_MAX},
    {"log-budget-mb", FIELD(log_budget_mb), "MB",
     "size of all segments; the oldest are deleted; 0: no limit", 0, LOG_MB_MAX},
    {"config", FIELD(config), "FILE", "lines of \"delay = 30\"; environment and command line win",
     0, 0},
    {"control", FIELD(control), "PATH", "a socket of mode 0600 for shoal-ctl", 0, 0},
    {"status-every", FIELD(status_every_s), "S", "print the state as one line each S seconds", 0,
     86400},
    {"max-per-address", FIELD(clients_per_address_max), "N",
     "spectators of one address at a time; 0: no limit", 0, NET_CLIENTS_MAX},
    {"public", FIELD(public_addresses), "ADDR:PORT", "an address that tokens may name; repeatable",
     0, 0},
    {"rate-max", FIELD(rate_bytes_max), "BYTES", "bytes that a spectator gets in a second, at most",
     1, NET_RATE_BYTES_LIMIT},
    {"send-divisor", FIELD(send_divisor), "N", "a spectator gets a packet at one tick in N", 1,
     NET_SEND_DIVISOR_MAX},
    {"net-threads", FIELD(net_threads), "N",
     "threads that receive and send (default: by cores and --spectators)", 0, NET_LANES_MAX},
    {"threads", FIELD(threads), "N", "threads of the systems (default: by cores and game)", 0,
     BASE_WORKERS_MAX},
    {"drain-s", FIELD(drain_s), "S",
     "SIGTERM: no new spectators, and it goes on for S seconds at most", 0, SERVER_DRAIN_S_MAX},
    {"log-format", FIELD(log_format), "words|logfmt|json", "form of the lines on stderr", 0, 0},
    {"log-level", FIELD(log_levels), "[LAYER=]LEVEL",
     "error|warning|info|debug, of a layer (net...) or of all; repeatable", 0, 0},
};

// @return false: reported.
static bool take_source(server_config* config, const base_option_list* words,
                        const base_reporter* reporter) {
    if (words->count != 1) {
        base_report(
            reporter, NULL, 0,
            words->count == 0
                ? "name the log or the stream of the match: shoal-relay FILE.slog|nats://..."
                : "a relay follows one match: start one for each");
        return false;
    }
    config->follow = words->values[0];
    return true;
}

base_options_result relay_config_read(server_config* config, int argc, char** argv,
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
    base_option_list words = {.count = 0};
    const base_options options = {
        .program = "shoal-relay",
        .version = net_build_id(),
        .usage = "FILE.slog|nats://HOST/STREAM [options]",
        .about =
            "Shows the match of a server, from its log or stream, to spectators, some time later.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = config,
        .first_rare = "net",
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
        .sources = config->option_sources,
    };
    config->options = options;
    const base_options_result result = base_options_read(&options, argc, argv, &words, reporter);
    if (result != BASE_OPTIONS_OK) return result;
    if (!take_source(config, &words, reporter)) return BASE_OPTIONS_ERROR;
    server_config_choose_threads(config, config->spectators_max);
    return BASE_OPTIONS_OK;
}
