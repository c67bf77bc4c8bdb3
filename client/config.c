// SPDX-License-Identifier: MIT
// One table gives the command line, the environment and --help.
#include "config.h"

#include "base/text.h"

#include <string.h>

// The shape alone: whether the host exists is found out by connecting.
static bool is_address(const char* text) {
    const char* colon = strrchr(text, ':');
    uint64_t port = 0;
    return colon && colon != text && base_text_parse_u64(colon + 1, &port) && port > 0 &&
           port <= UINT16_MAX;
}

base_options_result client_config_read(client_config* config, int argc, char** argv,
                                       const base_reporter* reporter) {
    memset(config, 0, sizeof *config);
    config->seed = 1;
    const base_option table[] = {
        {"game", BASE_OPTION_TEXT, &config->game, "NAME|FILE.so",
         "the game (default: the one that the server runs)", 0, 0},
        {"headless", BASE_OPTION_FLAG, &config->is_headless, NULL, "no window (the default)", 0, 0},
        {"bots", BASE_OPTION_U64, &config->bots, "N",
         "so many clients, each played by the game's bot", 0, CLIENT_BOTS_MAX},
        {"name", BASE_OPTION_TEXT, &config->name, "TEXT", "the player's name; bots get a number", 0,
         0},
        {"ticks", BASE_OPTION_U64, &config->ticks, "N", "leave after so many ticks (0: stay)", 0,
         0},
        {"dump-world", BASE_OPTION_TEXT, &config->dump_world, "FILE",
         "at the end write what the (first) client holds", 0, 0},
        {"trace", BASE_OPTION_TEXT, &config->trace, "FILE",
         "write every applied update, for shoal-replay check-trace", 0, 0},
        {"net", BASE_OPTION_TEXT, &config->net, "SPEC",
         "bad network: loss=5,delay=80,jitter=20,duplicate=1,reorder=2,seed=7", 0, 0},
        {"seed", BASE_OPTION_U64, &config->seed, "N", "of the bots' chance", 0, 0},
        {"config", BASE_OPTION_TEXT, &config->config, "FILE",
         "options as lines of \"bots = 8\"; environment and command line win", 0, 0},
    };
    const base_options options = {
        .program = "shoal-client",
        .usage = "ADDR:PORT [options]",
        .about = "Connects to a server, mirrors its world, plays it by bots.",
        .options = table,
        .count = BASE_COUNT(table),
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
    };
    base_option_list words = {0};
    base_options_result result = base_options_read(&options, argc, argv, &words, reporter);
    if (result != BASE_OPTIONS_OK) return result;
    if (words.count != 1) {
        base_report(reporter, NULL, 0, "%s: shoal-client ADDR:PORT (see --help)",
                    words.count ? "one address is enough" : "the server's address is missing");
        return BASE_OPTIONS_ERROR;
    }
    config->address = words.values[0];
    if (!is_address(config->address)) {
        base_report(reporter, NULL, 0, "'%s' is not HOST:PORT", config->address);
        return BASE_OPTIONS_ERROR;
    }
    return BASE_OPTIONS_OK;
}
