// SPDX-License-Identifier: MIT
// Each line goes to one of two tables: that of the host, or that of a game.
#include "conf.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_MAX 86400
#define OF_HOST(name) BASE_OPTION_FIELD(server_conf, name)
#define OF_GAME(name) BASE_OPTION_FIELD(game_block, name)

static const base_option table[] = {
    {"http", OF_HOST(http), "ADDR:PORT,KEY=VALUE", "where joins, lists and pages are served", 0, 0},
    {"open", OF_HOST(is_open), NULL, "everyone may join, not a back end with a token alone", 0, 0},
    {"joins", OF_HOST(joins), "N", "joins of one address in 10 s; 0: no limit", 0, 0},
    {"listen", OF_HOST(listen), "ADDR[:FIRST-LAST]",
     "the address at which matches listen, and their ports", 0, 0},
    {"public", OF_HOST(public_name), "NAME", "the address told to players", 0, 0},
    {"folder", OF_HOST(folder), "FOLDER", "logs, keys and state", 0, 0},
    {"store", OF_HOST(store), "URL", "where records of players are kept", 0, 0},
    {"results", OF_HOST(results), "URL", "where results of matches are posted", 0, 0},
    {"fleet", OF_HOST(fleet), "nats://HOST,KEY=VALUE", "the broker of hosts that share joins", 0,
     0},
    {"standbys", OF_HOST(standbys), "0|1", "each match has a standby at another host of the fleet",
     0, 1},
    {"stop", OF_HOST(stop), "drain|leave", "SIGTERM lets matches end, or leaves them", 0, 0},
    {"drain", OF_HOST(drain_s), "S", "stop = drain: end matches after S seconds", 0, SECONDS_MAX},
    {"hang", OF_HOST(hang_s), "S", "stop a match that says nothing for S seconds", 2, SECONDS_MAX},
};
static const base_option http_keys[] = {
    {"token-file", OF_HOST(token_file), "FILE", "lines \"reader TOKEN\", \"operator TOKEN\"", 0, 0},
    {"host", OF_HOST(hosts), "NAME", "a host name that requests may use; repeatable", 0, 0},
};
static const base_option fleet_keys[] = {
    {"page", OF_HOST(fleet_page), "URL", "where players of other hosts reach this one", 0, 0},
};
static const base_option_keys keys[] = {{"http", http_keys, BASE_COUNT(http_keys)},
                                        {"fleet", fleet_keys, BASE_COUNT(fleet_keys)}};

typedef struct game_block {
    const char *module, *players, *options, *memory;
    uint64_t spare, most, idle_s;
    uint32_t start, next;
    bool resumes;
} game_block;

static const base_option game_table[] = {
    {"module", OF_GAME(module), "NAME|FILE.so", "the game (default: the block's name)", 0, 0},
    {"players", OF_GAME(players), "N|MIN..MAX", "seats of a match", 0, 0},
    {"spare", OF_GAME(spare), "N", "matches started ahead of joins", 0, 1000},
    {"most", OF_GAME(most), "N", "matches at a time", 1, SERVER_ROOMS_MAX},
    {"idle_s", OF_GAME(idle_s), "S", "end a match after S seconds without players", 0, SECONDS_MAX},
    {"start", OF_GAME(start), "first|full", "tick 1 comes with the first player, or all", 0, 0},
    {"next", OF_GAME(next), "end|stay", "stay: the next match begins where one has ended", 0, 0},
    {"resume", OF_GAME(resumes), NULL, "continue after a crash", 0, 0},
    {"memory", OF_GAME(memory), "N[K|M|G]", "bytes that a match may write to", 0, 0},
    {"options", OF_GAME(options), "WORDS", "further options of shoal-server", 0, 0},
};

typedef struct reading {
    server_conf* conf;
    const char* file;
    uint32_t line;
    const base_reporter* reporter;
    size_t text_used;
    server_room_game* game; // of the block; NULL: outside of one
    uint32_t game_line;
    game_block block;
} reading;

static bool begin_game(reading* self, const char* name) {
    server_conf* conf = self->conf;
    if (!server_rooms_is_name(name))
        return base_report(self->reporter, self->file, self->line,
                           "'%s' is not a valid name: 1 to %u of a-z, 0-9, _ and -", name,
                           SERVER_ROOM_NAME_BYTES - 1);
    for (uint32_t i = 0; i < conf->game_count; i++)
        if (strcmp(conf->games[i].name, name) == 0)
            return base_report(self->reporter, self->file, self->line, "game %s is there twice",
                               name);
    if (conf->game_count == SERVER_ROOM_GAMES_MAX)
        return base_report(self->reporter, self->file, self->line, "more than %u games",
                           SERVER_ROOM_GAMES_MAX);
    self->game = &conf->games[conf->game_count++];
    *self->game = (server_room_game){0};
    (void)base_text_copy(self->game->name, sizeof self->game->name, name);
    self->game_line = self->line;
    self->block = (game_block){.most = 40, .idle_s = 60, .resumes = true};
    return true;
}

static bool read_players(const char* text, uint32_t* least, uint32_t* most) {
    int one = 0, two = 0;
    const int size = (int)strlen(text);
    const int count = sscanf(text, "%4" SCNu32 "%n..%4" SCNu32 "%n", least, &one, most, &two);
    if (count == 1) *most = *least;
    return (count == 1 ? one == size : count == 2 && two == size) && *least > 0 &&
           *least <= *most && *most <= SERVER_ROOM_SEATS_MAX;
}

static bool read_memory(const char* text, uint64_t* bytes) {
    char unit, rest;
    if (sscanf(text, "%9" SCNu64 "%c%c", bytes, &unit, &rest) != 2 || *bytes == 0) return false;
    *bytes <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 30;
    return strchr("KMG", unit) != NULL;
}

static bool end_game(reading* self) {
    const game_block* block = &self->block;
    server_room_game* game = self->game;
    const char* module = block->module ? block->module : game->name;
    uint32_t least = 0, most = 0;
    bool has_log = true;
    self->game = NULL;
    for (const char* at = block->options; at && (at = strstr(at, "--log")); at += 5)
        has_log = has_log && strncmp(at + 5 + strspn(at + 5, "= \t"), "none", 4) != 0;
    _Static_assert(SERVER_ROOM_SEATS_MAX == 4095 && SERVER_ROOM_TEXT_BYTES == 1024, "as reported");
    const char* fault = !block->players || !read_players(block->players, &least, &most)
                            ? "players needs N or MIN..MAX, 1 to 4095"
                        : block->spare > block->most ? "spare is more than most"
                        : !base_text_copy(game->module, sizeof game->module, module) ||
                                !base_text_copy(game->options, sizeof game->options,
                                                block->options ? block->options : "")
                            ? "module and options have at most 1023 bytes"
                        : block->memory && !read_memory(block->memory, &game->memory_bytes)
                            ? "memory needs a form as 256M"
                            : NULL;
    if (fault)
        return base_report(self->reporter, self->file, self->game_line, "game %s: %s", game->name,
                           fault);
    if (strchr(module, '/') && access(module, R_OK) != 0)
        return base_report(self->reporter, self->file, self->game_line, "game %s: module %s: %s",
                           game->name, module, base_error_text(errno));
    game->seats = most;
    game->seats_min = block->start == 1 ? least : 0;
    game->spare = (uint32_t)block->spare;
    game->most = (uint32_t)block->most;
    game->idle_us = block->idle_s * UINT64_C(1000000);
    game->resumes = block->resumes && has_log;
    game->stays = block->next == 1;
    return true;
}

static bool read_line(reading* self, char* line) {
    char name[128], rest[2];
    int end = 0;
    char* comment = strchr(line, '#');
    while (comment && comment != line && comment[-1] != ' ' && comment[-1] != '\t')
        comment = strchr(comment + 1, '#');
    if (comment) *comment = '\0';
    if (self->game && sscanf(line, "%1s%1s", name, rest) == 1 && name[0] == '}')
        return end_game(self);
    if (sscanf(line, " game %127[^ \t{] { %n", name, &end) == 1 && end > 0 && !line[end]) {
        if (!self->game) return begin_game(self, name);
        return base_report(self->reporter, self->file, self->line,
                           "missing } of the block in line %u", self->game_line);
    }
    const base_options options = {
        .program = "shoal-host",
        .options = self->game ? game_table : table,
        .count = self->game ? (uint32_t)BASE_COUNT(game_table) : (uint32_t)BASE_COUNT(table),
        .values = self->game ? (void*)&self->block : (void*)self->conf,
        .keys = keys,
        .keys_count = self->game ? 0 : (uint32_t)BASE_COUNT(keys),
        .config_text = self->conf->text,
        .config_text_bytes = sizeof self->conf->text,
    };
    return base_options_apply(&options, self->file, self->line, line, &self->text_used,
                              self->reporter);
}

bool server_conf_parse(server_conf* conf, const char* file, size_t size,
                       const base_reporter* reporter) {
    reading it = {.conf = conf, .file = file, .reporter = reporter, .text_used = size + 1};
    conf->text[size] = '\0';
    for (char *line = conf->text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end) *end++ = '\0';
        it.line++;
        if (!read_line(&it, line)) return false;
    }
    if (it.game)
        return base_report(reporter, file, it.line, "missing } of the block in line %u",
                           it.game_line);
    const char* fault = conf->game_count == 0 ? "no game: game NAME { ... }"
                        : conf->store && strncmp(conf->store, "sqlite:", 7) != 0 &&
                                strncmp(conf->store, "postgres://", 11) != 0
                            ? "store needs sqlite:FILE or postgres://..."
                        : conf->results && strncmp(conf->results, "https://", 8) != 0 &&
                                strncmp(conf->results, "http://", 7) != 0
                            ? "results needs https://... or http://..."
                        : conf->standbys > 0 && !conf->fleet
                            ? "standbys: other hosts run them, so it needs fleet = nats://HOST"
                            : NULL;
    return !fault || base_report(reporter, file, 0, "%s", fault);
}

bool server_conf_read(server_conf* conf, const char* file, const base_reporter* reporter) {
    FILE* from = fopen(file, "rb");
    if (!from) return base_report(reporter, file, 0, "cannot open: %s", base_error_text(errno));
    *conf = (server_conf){.http = "127.0.0.1:7790",
                          .listen = "127.0.0.1",
                          .folder = "run",
                          .joins = 60,
                          .drain_s = 30,
                          .hang_s = 10};
    const size_t size = fread(conf->text, 1, SERVER_CONF_BYTES_MAX, from);
    const bool failed = ferror(from) != 0;
    fclose(from);
    if (failed || size == SERVER_CONF_BYTES_MAX)
        return base_report(reporter, file, 0, failed ? "cannot read" : "longer than %u bytes",
                           SERVER_CONF_BYTES_MAX - 1);
    return server_conf_parse(conf, file, size, reporter);
}
