// SPDX-License-Identifier: MIT
// One table gives the command line, the environment, the config file and --help.
#include "config.h"

#include "base/assert.h"
#include "host/output.h"

#include <inttypes.h>
#include <string.h>

#define LOG_MB_MAX 1e9
#define LOG_S_MAX 1e6
#define LOG_KEEP_MAX 1e6
#define LOG_RING_MB_MAX 16384
#define TAKEOVER_MS_MIN 50
#define TAKEOVER_MS_MAX 60000

#define FIELD(name) BASE_OPTION_FIELD(server_config, name)
// Of a key of an option, "--log FILE,keep=N".
#define KEY(name) FIELD(name)

static const base_option table[] = {
    {"game", FIELD(game), "NAME|FILE.so", "the game to run (default: that of the log or stream)", 0,
     0},
    {"set", FIELD(settings), "KEY=VALUE", "a setting of the game; repeatable", 0, 0},
    {"tick-rate", FIELD(tick_rate_hz), "HZ", "ticks per second", NET_TICK_RATE_HZ_MIN,
     NET_TICK_RATE_HZ_MAX},
    {"ticks", FIELD(ticks), "N", "end after N ticks (0: never)", 0, 0},
    {"min-clients", FIELD(clients_min), "N", "start the match when N clients have joined", 0,
     NET_CLIENTS_MAX},
    {"seed", FIELD(seed), "N", "seed of the simulation's random numbers", 0, 0},
    {"fast", FIELD(is_fast), NULL, "do not wait between ticks", 0, 0},
    {"exit-when-empty", FIELD(empty_s), "S", "end after S seconds without a player", 0,
     SERVER_DRAIN_S_MAX},
    {"pause-when-empty", FIELD(pauses_when_empty), NULL,
     "pause while there are no players; spectators do not count", 0, 0},
    {"config", FIELD(config), "FILE",
     "lines of \"tick-rate = 30\"; environment and command line override it", 0, 0},
    {"listen", FIELD(listen), "ADDR:PORT,KEY=VALUE",
     "where to listen, [IPv6]:PORT too; port 0 picks one", 0, 0},
    {"key-file", FIELD(key_file), "FILE",
     "accept players with a token of these keys (keygen, token)", 0, 0},
    {"max-clients", FIELD(clients_max), "N", "refuse more clients than N (1 to 4095)", 1,
     NET_CLIENTS_MAX},
    {"max-per-address", FIELD(clients_per_address_max), "N",
     "players from one address at a time; 0: no limit", 0, NET_CLIENTS_MAX},
    {"spectators", FIELD(spectators_max), "N",
     "spectators at most (default: 8; 0 for hidden values; relay: 1000)", 0, NET_CLIENTS_MAX - 1},
    {"allow-dev-key", FIELD(allow_dev_key), NULL,
     "accept clients with the built-in key, which is public", 0, 0},
    {"net", FIELD(net), "SPEC", "simulate a network: wifi|4g|bad|loss=5,... (server/README.md)", 0,
     0},
    {"log", FIELD(log), "FILE|none,KEY=VALUE", "the event log (default: GAME-DATE-TIME.slog here)",
     0, 0},
    {"resume", FIELD(resume), "LOG", "continue the match of a log, also after its server crashed",
     0, 0},
    {"at", FIELD(resume_at), "T", "with --resume: continue after tick T, not after the last one", 0,
     0},
    {"log-segment-s", FIELD(log_segment_s), "S", "the same as --log segment-s=S", 0, LOG_S_MAX},
    {"log-sync", FIELD(log_sync), "second|end", "the same as --log sync=second|end", 0, 0},
    {"log-ring", FIELD(log_ring_s), "S", "the same as --log ring=S", 0, NET_LOG_RING_SECONDS_MAX},
    {"http", FIELD(http), "ADDR:PORT,KEY=VALUE",
     "serve the inspector: a page of the match; port 0 picks one", 0, 0},
    {"http-token-file", FIELD(http_token_file), "FILE", "the same as --http token-file=FILE", 0, 0},
    {"control", FIELD(control), "PATH", "a socket of mode 0600 for shoal-ctl", 0, 0},
    {"allow-edits", FIELD(allow_edits), NULL,
     "let operators change settings and values of the match (set, put)", 0, 0},
    {"console", FIELD(has_console), NULL, "read commands from stdin: save WHY, status, end", 0, 0},
    {"lines", FIELD(log_format), "words|json,KEY=VALUE", "format of the lines on stderr", 0, 0},
    {"stream", FIELD(stream), "nats://HOST,KEY=VALUE",
     "publish the match to standbys and relays over NATS JetStream", 0, 0},
    {"standby", FIELD(standby), "nats://HOST[/STREAM]",
     "take over the match of this stream when its server dies", 0, 0},
    {"stream-sync", FIELD(stream_sync), "off|MS|MS,go", "the same as --stream sync=off|MS|MS+go", 0,
     0},
    {"standby-at", FIELD(standby_addresses), "ADDR:PORT",
     "the same as --stream standby-at=ADDR:PORT", 0, 0},
    {"takeover-ms", FIELD(takeover_ms), "MS", "the same as --tune takeover-ms=MS", TAKEOVER_MS_MIN,
     TAKEOVER_MS_MAX},
    {"agones", FIELD(agones), "auto|on|off,KEY=VALUE",
     "run in an Agones fleet; auto: if AGONES_SDK_HTTP_PORT is set", 0, 0},
    {"agones-reuse", FIELD(agones_reuse), NULL, "the same as --agones reuse", 0, 0},
    {"tune", BASE_OPTION_KEYS, 0, "KEY=VALUE", "threads, bytes and times (--help=all)", 0, 0},
    {"threads", FIELD(threads), "N", "threads of the systems (default: by cores and game)", 0,
     BASE_WORKERS_MAX},
    {"rate-max", FIELD(rate_bytes_max), "BYTES", "the same as --tune rate-max=BYTES", 1,
     NET_RATE_BYTES_LIMIT},
    {"debug", BASE_OPTION_KEYS, 0, "KEY=VALUE", "files for debugging (--help=all)", 0, 0},
    {"dump-world", FIELD(dump_world), "FILE", "the same as --debug dump-world=FILE", 0, 0},
};

static const base_option_group groups[] = {
    {"play", "game"}, {"internet", "listen"},       {"log", "log"},
    {"page", "http"}, {"standby, fleet", "stream"}, {"tuning", "tune"},
};

const base_option server_listen_keys[] = {
    {"public", KEY(public_addresses), "ADDR:PORT", "an address that tokens may name; repeatable", 0,
     0},
    {"bans", KEY(bans), "FILE",
     "players, addresses to refuse: \"address 203.0.113.0/24\", \"player 7\"", 0, 0},
};

const base_option server_log_keys[] = {
    {"segment-mb", KEY(log_segment_mb), "MB", "size of a segment of the log; 0: no limit", 0,
     LOG_MB_MAX},
    {"segment-s", KEY(log_segment_s), "S", "match time in a segment of the log; 0: no limit", 0,
     LOG_S_MAX},
    {"keep", KEY(log_keep), "N", "closed segments that are kept; 0: all", 0, LOG_KEEP_MAX},
    {"budget-mb", KEY(log_budget_mb), "MB",
     "size of all segments; the oldest are deleted; 0: no limit", 0, LOG_MB_MAX},
    {"keyframe-s", KEY(log_keyframe_s), "S",
     "match time between keyframes, where a run of the log can start", 1,
     NET_LOG_KEYFRAME_SECONDS_MAX},
    {"sync", KEY(log_sync), "second|end",
     "what a power failure may lose: 1 s, or what the system buffers", 0, 0},
    {"on-close", KEY(log_on_close), "PROGRAM", "run it with the name of each closed segment", 0, 0},
    {"key", KEY(log_key), "FILE", "sign the log with this key (keygen --log FILE)", 0, 0},
    {"content", KEY(log_content), "state|inputs", "inputs: a smaller log without values", 0, 0},
    {"ring", KEY(log_ring_s), "S",
     "keep the last seconds in memory, for a game or --console to save", 0,
     NET_LOG_RING_SECONDS_MAX},
    {"ring-mb", KEY(log_ring_mb), "MB", "memory of the last seconds", 1, LOG_RING_MB_MAX},
};

const base_option server_http_keys[] = {
    {"token-file", KEY(http_token_file), "FILE", "its tokens, \"reader TOKEN\", \"operator TOKEN\"",
     0, 0},
    {"host", KEY(http_hosts), "NAME", "a host name that requests may use; repeatable", 0, 0},
    {"optional", KEY(http_is_optional), NULL, "continue without it if its port is in use", 0, 0},
    {"delay", KEY(http_delay_s), "S", "readers see the match S seconds later", 0, LOG_S_MAX},
    {"again-s", KEY(again_s), "S",
     "a play link admits its player to later matches too, for S seconds", 0, LOG_S_MAX},
};

const base_option server_lines_keys[] = {
    {"level", KEY(log_levels), "[LAYER=]LEVEL",
     "error|warning|info|debug, of a layer (net...) or of all; repeatable", 0, 0},
    {"status-s", KEY(status_every_s), "S", "print the state as one line each S seconds", 0, 86400},
};

static const base_option stream_keys[] = {
    {"sync", KEY(stream_sync), "off|MS|MS+go",
     "clients get what the stream has stored; after MS pause, or continue", 0, 0},
    {"standby-at", KEY(standby_addresses), "ADDR:PORT",
     "address of a standby, sent to clients; repeatable", 0, 0},
    {"page", KEY(pages), "URL",
     "page of another server of the match: https://HOST/play; repeatable", 0, 0},
};

static const base_option agones_keys[] = {
    {"reuse", KEY(agones_reuse), NULL, "get ready for another match when one ends", 0, 0},
};

const base_option server_tune_keys[] = {
    {"net-threads", KEY(net_threads), "N",
     "threads that receive and send (default: by cores and clients)", 0, NET_LANES_MAX},
    {"rate-max", KEY(rate_bytes_max), "BYTES", "bytes per second to a client, at most", 1,
     NET_RATE_BYTES_LIMIT},
    {"send-divisor", KEY(send_divisor), "N", "send a client one packet every N ticks", 1,
     NET_SEND_DIVISOR_MAX},
    {"sessions", KEY(sessions_max), "N", "sessions that a player or an address may start in 10 s",
     1, NET_CLIENTS_MAX},
    {"drain-s", KEY(drain_s), "S",
     "on SIGTERM refuse new clients and end the match within S seconds", 0, SERVER_DRAIN_S_MAX},
    {"on-term", KEY(on_term), "end|handover",
     "on SIGTERM end the match, or hand it over to a standby that is ready", 0, 0},
    {"coder", KEY(coder), "auto|shared|solo",
     "solo: fewer bytes, more CPU; auto: solo at 24000 bytes/s or less", 0, 0},
    {"takeover-ms", KEY(takeover_ms), "MS", "with --standby: take over after MS without a message",
     TAKEOVER_MS_MIN, TAKEOVER_MS_MAX},
    {"tick-s", KEY(tick_s), "S", "end the server if a tick takes longer than S seconds; 0: never",
     0, SERVER_DRAIN_S_MAX},
};

static const base_option debug_keys[] = {
    {"dump-world", KEY(dump_world), "FILE", "at the end write the world that clients should have",
     0, 0},
    {"ledger", KEY(bandwidth), "FILE", "at the end write what each bit was spent on", 0, 0},
    {"trace-session", KEY(session_trace), "FILE", "write each packet and each change of a session",
     0, 0},
};

static const base_option_keys keys[] = {
    {"listen", server_listen_keys, BASE_COUNT(server_listen_keys)},
    {"log", server_log_keys, BASE_COUNT(server_log_keys)},
    {"http", server_http_keys, BASE_COUNT(server_http_keys)},
    {"lines", server_lines_keys, BASE_COUNT(server_lines_keys)},
    {"stream", stream_keys, BASE_COUNT(stream_keys)},
    {"agones", agones_keys, BASE_COUNT(agones_keys)},
    {"tune", server_tune_keys, BASE_COUNT(server_tune_keys)},
    {"debug", debug_keys, BASE_COUNT(debug_keys)},
};

const base_option* server_config_row(const char* name) {
    uint32_t i = 0;
    while (strcmp(table[i].name, name) != 0)
        BASE_ASSERT(++i < BASE_COUNT(table));
    return &table[i];
}

bool server_config_check(void* values, const base_option_list* words,
                         const base_reporter* reporter) {
    (void)words;
    server_config* config = values;
    if (config->clients_min <= config->clients_max)
        return server_lines_read_levels(&config->log_levels, config->levels, reporter);
    return base_report(reporter, NULL, 0,
                       "--min-clients %" PRIu64 " is more than --max-clients %" PRIu64
                       ": the match would never begin",
                       config->clients_min, config->clients_max);
}

base_options_result server_config_read(server_config* config, int argc, char** argv,
                                       const base_reporter* reporter) {
    *config = (server_config){
        .listen = "127.0.0.1:7777",
        .tick_rate_hz = NET_TICK_RATE_HZ_DEFAULT,
        .seed = 1,
        .clients_max = NET_CLIENTS_DEFAULT,
        .spectators_max = SERVER_SPECTATORS_UNSET,
        .clients_per_address_max = NET_ADDRESS_CLIENTS_DEFAULT,
        .sessions_max = NET_SESSIONS_MAX,
        .rate_bytes_max = NET_RATE_BYTES_DEFAULT,
        .send_divisor = 1,
        .stream_sync = "off",
        .takeover_ms = NET_STANDBY_TAKEOVER_MS_DEFAULT,
        .net_threads = SERVER_THREADS_UNSET,
        .again_s = SERVER_AGAIN_S_DEFAULT,
        .log_segment_mb = NET_LOG_SEGMENT_BYTES_DEFAULT >> 20,
        .log_budget_mb = NET_LOG_BUDGET_BYTES_DEFAULT >> 20,
        .log_keyframe_s = NET_LOG_KEYFRAME_SECONDS_DEFAULT,
        .log_ring_mb = NET_LOG_RING_BYTES_DEFAULT >> 20,
    };
    const base_options options = {
        .program = "shoal-server",
        .version = net_build_id(),
        .usage = "--game NAME|FILE.so [options] | new | schema | check | keygen | token ...",
        .about = "Runs one match: owns the world, replicates it to clients, writes the event log.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = config,
        .keys = keys,
        .keys_count = BASE_COUNT(keys),
        .groups = groups,
        .group_count = BASE_COUNT(groups),
        .common = "game set tick-rate ticks min-clients listen key-file max-clients net log resume "
                  "http stream standby",
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
        .sources = config->option_sources,
        .check = server_config_check,
    };
    config->options = options;
    base_options_result result = base_options_read(&options, argc, argv, NULL, reporter);
    if (result == BASE_OPTIONS_OK) server_config_choose_threads(config, config->clients_max);
    return result;
}
