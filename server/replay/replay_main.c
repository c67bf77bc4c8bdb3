// SPDX-License-Identifier: MIT
// shoal-replay: looks into event logs and runs them again.
//
// Wiring only: options, log, module, and a table of commands. A log never names a path: the game is
// found by name in the module path, or given with --game.
#include "replay/replay.h"

#include "base/text.h"
#include "net/module.h"

#include <stdio.h>
#include <string.h>

typedef struct command {
    const char* name;
    int (*run)(server_replay* self);
    uint32_t words; ///< files it takes
    bool needs_module;
    bool wants_module; ///< uses it when it is found
} command;

static const command commands[] = {
    {"info", server_replay_info, 1, false, false},
    {"verify", server_replay_verify, 1, true, true},
    {"show", server_replay_show, 1, true, true},
    {"dump", server_replay_dump, 1, false, true},
    {"stats", server_replay_stats, 1, false, false},
    {"check-trace", server_replay_check_trace, 2, true, true},
};

int server_replay_code(net_result result) {
    switch (result) {
    case NET_OK:
        return SERVER_REPLAY_OK;
    case NET_ERR_SCHEMA:
    case NET_ERR_VERSION:
        return SERVER_REPLAY_SCHEMA;
    case NET_ERR_DIVERGED:
        return SERVER_REPLAY_DIVERGED;
    case NET_ERR_UNKNOWN:
    case NET_ERR_MODULE:
        return SERVER_REPLAY_USAGE;
    default:
        return SERVER_REPLAY_FAILURE;
    }
}

static const command* find_command(server_replay* self, const base_option_list* words) {
    const char* names[BASE_COUNT(commands)];
    if (words->count == 0) {
        base_report(&self->reporter, NULL, 0,
                    "name a command: info, verify, show, dump, stats or check-trace");
        return NULL;
    }
    for (uint32_t i = 0; i < BASE_COUNT(commands); i++) {
        names[i] = commands[i].name;
        if (strcmp(words->values[0], commands[i].name) != 0) continue;
        if (words->count == commands[i].words + 1) return &commands[i];
        base_report(&self->reporter, NULL, 0, "%s takes %s", commands[i].name,
                    commands[i].words == 1 ? "one log" : "a log and a trace");
        return NULL;
    }
    const char* nearest = base_text_nearest(words->values[0], names, BASE_COUNT(commands));
    base_report(&self->reporter, NULL, 0, "there is no command \"%s\"%s%s", words->values[0],
                nearest ? ", did you mean " : "", nearest ? nearest : "");
    return NULL;
}

static base_options_result read_options(server_replay* self, base_option_list* words, int argc,
                                        char** argv) {
    const base_option table[] = {
        {"game", BASE_OPTION_TEXT, &self->game, "NAME|FILE.so",
         "the game (default: by the name in the log)", 0, 0},
        {"tick", BASE_OPTION_U64, &self->tick, "T", "show: the world after tick T (0: the last)", 0,
         0},
        {"entity", BASE_OPTION_TEXT, &self->entity, "I:G", "show: this entity alone", 0, 0},
    };
    const base_options options = {
        .program = "shoal-replay",
        .usage = "info|verify|show|dump|stats FILE [options]  |  check-trace FILE TRACE",
        .about = "Looks into event logs, runs them again and compares every hash.",
        .options = table,
        .count = BASE_COUNT(table),
    };
    return base_options_read(&options, argc, argv, words, &self->reporter);
}

static int open_module(server_replay* self, const command* what) {
    char path[2048];
    const char* name = self->game ? self->game : net_log_reader_info(self->reader)->game;
    net_module_default_path(path, sizeof path);
    // A dump is worth having without the game; its name was then not asked for either.
    bool may_miss = !what->needs_module && !self->game;
    net_result result =
        net_module_open(name, path, may_miss ? NULL : &self->reporter, &self->module);
    return result == NET_OK || may_miss ? SERVER_REPLAY_OK : server_replay_code(result);
}

static int run(server_replay* self, const command* what) {
    net_result result = net_log_reader_create(NULL, self->file, &self->reporter, &self->reader);
    self->is_damaged = result == NET_ERR_DAMAGED;
    if (!self->reader) return server_replay_code(result);
    int code = what->wants_module ? open_module(self, what) : SERVER_REPLAY_OK;
    if (code == SERVER_REPLAY_OK) code = what->run(self);
    if (code == SERVER_REPLAY_OK && self->is_damaged) code = SERVER_REPLAY_FAILURE;
    if (self->module) net_module_close(self->module);
    net_log_reader_destroy(self->reader);
    return code;
}

int main(int argc, char** argv) {
    server_replay self = {.reporter = base_reporter_stderr()};
    base_option_list words = {.count = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    base_options_result read = read_options(&self, &words, argc, argv);
    if (read == BASE_OPTIONS_HELP) return SERVER_REPLAY_OK;
    if (read != BASE_OPTIONS_OK) return SERVER_REPLAY_USAGE;
    const command* what = find_command(&self, &words);
    if (!what) return SERVER_REPLAY_USAGE;
    self.command = what->name;
    self.file = words.values[1];
    self.trace = words.count > 2 ? words.values[2] : NULL;
    int code = run(&self, what);
    if (fflush(stdout) != 0 && code == SERVER_REPLAY_OK) code = SERVER_REPLAY_FAILURE;
    return code;
}
