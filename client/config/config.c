// SPDX-License-Identifier: MIT
// One table describes the command line, the environment and --help.
#include "config/config.h"

#include "config/servers.h"

#include "host/output.h"

#include "base/text.h"
#include "ecs/entity.h"

#include <stdio.h>
#include <string.h>

static bool is_side(uint64_t pixels) {
    return pixels >= CLIENT_PIXELS_MIN && pixels <= CLIENT_PIXELS_MAX;
}

// Read a size such as "960x540".
static bool parse_size(const char* text, uint32_t* width, uint32_t* height) {
    const char* cross = strchr(text, 'x');
    char first[16];
    uint64_t w = 0, h = 0;
    if (!cross || (size_t)(cross - text) >= sizeof first) return false;
    (void)base_text_format(first, sizeof first, "%.*s", (int)(cross - text), text);
    if (!base_text_parse_u64(first, &w) || !base_text_parse_u64(cross + 1, &h)) return false;
    *width = (uint32_t)w;
    *height = (uint32_t)h;
    return is_side(w) && is_side(h);
}

static bool check_words(client_config* config, const base_option_list* words,
                        const base_reporter* reporter) {
    if (config->replay) {
        if (words->count == 0) return true;
        return base_report(reporter, NULL, 0, "'%s': a replay needs no address", words->values[0]);
    }
    if (config->is_local) {
        if (words->count == 0 && config->game) return true;
        return base_report(reporter, NULL, 0,
                           words->count ? "--local runs a server of its own: leave the address out"
                                        : "--local needs --game NAME");
    }
    if (words->count == 0 && !config->game) {
        config->is_choosing = !config->is_listing && (config->is_rendering || config->shot);
        if (config->is_listing || config->is_choosing) return true;
    }
    if (config->is_listing || config->servers)
        return base_report(reporter, NULL, 0, "--%s is for a list of servers: leave %s out%s",
                           config->is_listing ? "list" : "servers",
                           words->count ? "the address" : "--game",
                           config->is_listing ? "" : ", and add --list or --render");
    if (words->count != 1)
        return base_report(reporter, NULL, 0, "%s: shoal-client ADDR:PORT (see --help)",
                           words->count ? "one address is enough"
                                        : "the server's address is missing");
    config->address = words->values[0];
    if (client_is_address(config->address)) return true;
    return base_report(reporter, NULL, 0, "'%s' is not HOST:PORT", config->address);
}

static bool check_picture(client_config* config, const base_reporter* reporter) {
    if (!parse_size(config->size, &config->width, &config->height))
        return base_report(reporter, NULL, 0,
                           "'%s' is not a size: WIDTHxHEIGHT, each %u to %u pixels", config->size,
                           CLIENT_PIXELS_MIN, CLIENT_PIXELS_MAX);
    config->is_rendering |= config->is_local && !config->is_headless;
    if (config->is_headless && (config->is_rendering || config->shot))
        return base_report(reporter, NULL, 0, "--headless draws nothing: leave it out with %s",
                           config->is_rendering ? "--render" : "--shot");
    if (config->is_spectating && config->is_local && !config->is_rendering)
        return base_report(reporter, NULL, 0, "--spectate with --local is for a window");
    const char* of_world = config->dump_world ? "dump-world" : config->record ? "record" : NULL;
    if (of_world && config->thin_bots && !config->bots && !config->is_rendering)
        return base_report(reporter, NULL, 0, "--%s: thin bots have no world: add --bots 1",
                           of_world);
    if (config->shot_every && !config->shot_tick)
        return base_report(reporter, NULL, 0, "--shot every=N needs --shot FILE,tick=N");
    if (config->shot_tick && !config->shot)
        return base_report(reporter, NULL, 0, "--shot tick=N needs --shot FILE");
    config->is_rendering |= config->shot != NULL;
    return true;
}

// Read "INDEX:GENERATION" into a handle.
static bool check_inspect(client_config* config, const base_reporter* reporter) {
    unsigned index = 0, generation = 0;
    char rest = 0;
    if (!config->inspect) return true;
    if (sscanf(config->inspect, "%u:%u%c", &index, &generation, &rest) == 2 && index > 0 &&
        index <= ECS_INDEX_MAX && generation <= ECS_GENERATION_MAX) {
        config->entity = ecs_entity_make(index, generation);
        return true;
    }
    return base_report(reporter, NULL, 0, "--replay inspect: '%s' is not INDEX:GENERATION",
                       config->inspect);
}

// Refuse an option that would have no effect, because it is a mistake of the user.
static bool check_use(const client_config* config, const base_reporter* reporter) {
    const struct {
        const char* name;
        bool is_given, is_of_replays, is_of_sessions, is_of_pictures;
    } uses[] = {
        {"at", config->at > 0, .is_of_replays = true},
        {"speed", config->speed > 0, .is_of_replays = true},
        {"replay follow", config->follow_s > 0, .is_of_replays = true},
        {"replay client", config->client > 0, .is_of_replays = true},
        {"replay inspect", config->inspect != NULL, .is_of_replays = true},
        {"local", config->is_local, .is_of_sessions = true},
        {"list", config->is_listing, .is_of_sessions = true},
        {"servers", config->servers != NULL, .is_of_sessions = true},
        {"spectate", config->is_spectating, .is_of_sessions = true},
        {"window players", config->people > 1, .is_of_sessions = true, .is_of_pictures = true},
        {"bots", config->bots > 0, .is_of_sessions = true},
        {"bots-thin", config->thin_bots > 0, .is_of_sessions = true},
        {"ticks", config->ticks > 0, .is_of_sessions = true},
        {"record", config->record != NULL, .is_of_sessions = true},
        {"trace", config->trace != NULL, .is_of_sessions = true},
        {"debug trace-session", config->session_trace != NULL, .is_of_sessions = true},
        {"net", config->net != NULL, .is_of_sessions = true},
        {"tune rate-max", config->rate_bytes_max > 0, .is_of_sessions = true},
        {"window panel", config->has_panel, .is_of_pictures = true},
        {"window faults", config->faults != NULL, .is_of_sessions = true},
        {"window fullscreen", config->is_fullscreen, .is_of_pictures = true},
        {"window config-dir", config->config_dir != NULL, .is_of_pictures = true},
    };
    for (uint32_t i = 0; i < BASE_COUNT(uses); i++) {
        const char* fault = NULL;
        if (uses[i].is_of_replays && !config->replay) fault = "is for --replay FILE";
        if (uses[i].is_of_sessions && config->replay) fault = "has no effect on a replay";
        if (uses[i].is_of_pictures && !config->is_rendering) fault = "needs --render or --shot";
        if (!uses[i].is_given || !fault) continue;
        return base_report(reporter, NULL, 0, "--%s %s", uses[i].name, fault);
    }
    const bool has_bots = config->bots > 0 && !config->is_local;
    if (config->people > 1 && (has_bots || config->is_spectating))
        return base_report(reporter, NULL, 0, "--window players: %s",
                           has_bots
                               ? "with --bots and a server elsewhere the bots play: leave one out"
                               : "--spectate only watches: leave one out");
    return true;
}

#define FIELD(name) BASE_OPTION_FIELD(client_config, name)
// Of a key of an option, "--log FILE,keep=N".
#define KEY(name) FIELD(name)

static const base_option table[] = {
    {"game", FIELD(game), "NAME|FILE.so", "the game (default: the one that the server runs)", 0, 0},
    {"local", FIELD(is_local), NULL,
     "server, bots and window in this process: --game NAME --local --bots 3", 0, 0},
    {"render", FIELD(is_rendering), NULL, "open a window; off-screen if there is no display", 0, 0},
    {"headless", FIELD(is_headless), NULL, "no window: with --local only the bots play", 0, 0},
    {"window", BASE_OPTION_KEYS, 0, "KEY=VALUE", "size=WxH, volume=N, players=N... (--help=all)", 0,
     0},
    {"bots", FIELD(bots), "N", "N clients, each played by the game's bot", 0, CLIENT_BOTS_MAX},
    {"bots-thin", FIELD(thin_bots), "N",
     "N clients that only acknowledge and hash: many in one process", 0, CLIENT_THIN_BOTS_MAX},
    {"ticks", FIELD(ticks), "N", "leave after N ticks (0: stay)", 0, 0},
    {"seed", FIELD(seed), "N", "seed of the bots; with --local also of the match", 0, 0},
    {"config", FIELD(config), "FILE",
     "lines of \"bots = 8\"; environment and command line override it", 0, 0},
    {"name", FIELD(name), "TEXT", "the player's name; bots get a number", 0, 0},
    {"spectate", FIELD(is_spectating), NULL,
     "join as a spectator, where the server has places for them", 0, 0},
    {"token-file", FIELD(token_file), "FILE|-",
     "connect tokens, one a line (else: SHOAL_TOKEN, or no keys)", 0, 0},
    {"list", FIELD(is_listing), NULL, "ask the servers of a list which game they run, who plays", 0,
     0},
    {"servers", FIELD(servers), "FILE",
     "the list: \"NAME HOST:PORT\" a line (default: ~/.config/shoal/servers)", 0, 0},
    {"net", FIELD(net), "SPEC", "simulate a network: wifi|4g|bad|loss=5,... (server/README.md)", 0,
     0},
    {"record", FIELD(record), "FILE", "write what the (first) client sees, for --replay", 0, 0},
    {"replay", FIELD(replay), "FILE,KEY=VALUE", "play an event log, without a server", 0, 0},
    {"at", FIELD(at), "TICK", "begin the replay at this tick", 0, 1e15},
    {"speed", FIELD(speed), "X", "speed of the replay (0: 1 in a window, else as fast as possible)",
     0, 1000},
    {"shot", FIELD(shot), "FILE.png,KEY=VALUE", "write one frame as a picture", 0, 0},
    {"tune", BASE_OPTION_KEYS, 0, "KEY=VALUE", "bytes and threads (--help=all)", 0, 0},
    {"debug", BASE_OPTION_KEYS, 0, "KEY=VALUE", "files for debugging (--help=all)", 0, 0},
    {"trace", FIELD(trace), "FILE", "write each applied update, for shoal-replay check-trace", 0,
     0},
    {"dump-world", FIELD(dump_world), "FILE", "the same as --debug dump-world=FILE", 0, 0},
};

static const base_option_group groups[] = {
    {"play", "game"},    {"internet", "name"}, {"log", "record"},
    {"picture", "shot"}, {"tuning", "tune"},
};

static const base_option window_keys[] = {
    {"size", KEY(size), "WxH", "of the window or picture", 0, 0},
    {"players", KEY(people), "N",
     "N people at this window, side by side, with keys and game controllers", 1, CLIENT_PEOPLE_MAX},
    {"fullscreen", KEY(is_fullscreen), NULL, "start in fullscreen; F11 toggles it", 0, 0},
    {"panel", KEY(has_panel), NULL, "start with the panel (F1) open", 0, 0},
    {"volume", KEY(volume), "N", "of sounds and music, 0 to 100; 0: none (M: mute)", 0,
     CLIENT_VOLUME_MAX},
    {"fps", KEY(fps), "N", "frames a second at most; 0: as the display", 0, 1000},
    {"config-dir", KEY(config_dir), "DIR",
     "where a game's keys are kept (default: ~/.config/shoal)", 0, 0},
    {"faults", KEY(faults), "FILE", "show the lines of FILE while it exists: the output of a build",
     0, 0},
};

static const base_option replay_keys[] = {
    {"follow", KEY(follow_s), "S", "follow a log that is being written, S seconds before its end",
     0, 3600},
    {"client", KEY(client), "N", "the view of client N", 0, UINT32_MAX},
    {"inspect", KEY(inspect), "INDEX:GENERATION", "show the components of this entity", 0, 0},
};

static const base_option shot_keys[] = {
    {"tick", KEY(shot_tick), "N", "the first frame at or after tick N (0: the last frame)", 0, 0},
    {"every", KEY(shot_every), "N", "then a picture each N ticks: FILE-0001.png...", 0, 1000000},
};

static const base_option tune_keys[] = {
    {"rate-max", KEY(rate_bytes_max), "BYTES",
     "ask the server for at most BYTES a second; 0: its own limit", 0, NET_RATE_BYTES_LIMIT},
    {"threads", KEY(threads), "N", "threads of the systems (default: by cores and game)", 0,
     BASE_WORKERS_MAX},
};

static const base_option debug_keys[] = {
    {"dump-world", KEY(dump_world), "FILE", "at the end write the world of the (first) client", 0,
     0},
    {"trace-session", KEY(session_trace), "FILE", "write each packet and each change of a session",
     0, 0},
};

static const base_option_keys keys[] = {
    {"window", window_keys, BASE_COUNT(window_keys)},
    {"replay", replay_keys, BASE_COUNT(replay_keys)},
    {"shot", shot_keys, BASE_COUNT(shot_keys)},
    {"tune", tune_keys, BASE_COUNT(tune_keys)},
    {"debug", debug_keys, BASE_COUNT(debug_keys)},
};

bool client_config_place(const client_config* config, const char* file, char* path,
                         size_t path_bytes) {
    if (config->config_dir)
        return base_text_format(path, path_bytes, "%s/%s", config->config_dir, file);
    return client_place(file, path, path_bytes);
}

static bool check_all(void* values, const base_option_list* words, const base_reporter* reporter) {
    client_config* config = values;
    return check_words(config, words, reporter) && check_picture(config, reporter) &&
           check_inspect(config, reporter) && check_use(config, reporter);
}

base_options_result client_config_read(client_config* config, int argc, char** argv,
                                       const base_reporter* reporter) {
    *config =
        (client_config){.seed = 1, .people = 1, .size = "960x540", .volume = CLIENT_VOLUME_MAX};
    const base_options options = {
        .program = "shoal-client",
        .version = net_build_id(),
        .usage = "ADDR:PORT [options] | --render | --list | --game NAME --local | --replay FILE",
        .about = "Connects to a server, mirrors its world, shows it, plays it by keys or by bots.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = config,
        .keys = keys,
        .keys_count = BASE_COUNT(keys),
        .groups = groups,
        .group_count = BASE_COUNT(groups),
        .common = "game local render window bots ticks name spectate token-file net record replay "
                  "shot",
        .config_text = config->config_text,
        .config_text_bytes = sizeof config->config_text,
        .check = check_all,
    };
    base_option_list words = {0};
    return base_options_read(&options, argc, argv, &words, reporter);
}
