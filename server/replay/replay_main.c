// SPDX-License-Identifier: MIT
// shoal-replay: looks into event logs and runs them again.
//
// Wiring only: options, log, module, and a table of commands. A log never names a path: the game is
// found by name in the module path, or given with --game.
#include "replay/replay.h"

#include "base/assert.h"
#include "base/text.h"
#include "base/workers.h"
#include "host/log_keys.h"
#include "host/output.h"
#include "host/setup.h"
#include "net/match.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct server_replay_command command;
struct server_replay_command {
    const char* name;
    int (*run)(server_replay* self);
    uint32_t words; ///< count of files that it takes
    bool needs_module;
    bool wants_module; ///< uses the module when it is found
};

static const command commands[] = {
    {"info", server_replay_info, 1, false, false},
    {"verify", server_replay_verify, 1, true, true},
    {"show", server_replay_show, 1, true, true},
    {"dump", server_replay_dump, 1, false, true},
    {"stats", server_replay_stats, 1, false, false},
    {"export", server_replay_export, 1, false, true},
    {"serve", server_replay_serve, 1, false, false},
    {"slice", server_replay_slice, 1, false, false},
    {"files", server_replay_files, 2, false, false},
    {"repair", server_replay_repair, 1, false, false},
    {"datagrams", server_replay_datagrams, 1, true, true},
    {"check-trace", server_replay_check_trace, 2, true, true},
};

// Find the command, in self->chosen.
static bool check_words(void* values, const base_option_list* words,
                        const base_reporter* reporter) {
    server_replay* self = values;
    if (words->count == 0)
        return base_report(reporter, NULL, 0,
                           "name a command: info, stats, verify, show, serve, export, dump, "
                           "slice, files, repair, datagrams or check-trace");
    base_nearest nearest = base_nearest_begin(words->values[0]);
    for (uint32_t i = 0; i < BASE_COUNT(commands); i++) {
        base_nearest_offer(&nearest, commands[i].name);
        if (strcmp(words->values[0], commands[i].name) != 0) continue;
        self->chosen = &commands[i];
        if (words->count == commands[i].words + 1) return true;
        return base_report(reporter, NULL, 0, "%s takes %s", commands[i].name,
                           commands[i].words == 1                   ? "one log"
                           : commands[i].run == server_replay_files ? "a log and a folder"
                                                                    : "a log and a trace");
    }
    return base_report(reporter, NULL, 0, "there is no command \"%s\"%s%s", words->values[0],
                       nearest.found ? ", did you mean " : "", nearest.found ? nearest.found : "");
}

#define FIELD(name) BASE_OPTION_FIELD(server_replay, name)
// Of a key of an option, "--log FILE,keep=N".
#define KEY(name) FIELD(name)

static const base_option table[] = {
    {"game", FIELD(game), "NAME|FILE.so", "the game (default: the one that the log names)", 0, 0},
    {"tick", FIELD(tick), "T,KEY=VALUE",
     "show: the world after tick T; files: those of tick T (0: the last)", 0, 0},
    {"entity", FIELD(entity), "I:G", "show: only this entity, INDEX:GENERATION", 0, 0},
    {"net", FIELD(net), "SPEC",
     "datagrams, show --tick client: the clients' network, as shoal-server", 0, 0},
    {"output", FIELD(output), "FILE", "export, slice, repair: the file to write", 0, 0},
    {"what", FIELD(what), "values|inputs|events|all,KEY=VALUE", "export: what to print", 0, 0},
    {"from", FIELD(from), "T", "export, slice, verify: the first tick", 0, 0},
    {"to", FIELD(to), "T", "export, slice: the last tick", 0, 0},
    {"key", FIELD(key), "FILE,KEY=VALUE", "verify: the log must be signed with this public key", 0,
     0},
    {"through-crash", FIELD(is_through_crash), NULL,
     "verify: also run the tick in which the server crashed", 0, 0},
    {"once", FIELD(is_once), NULL, "verify: without a second run in another process", 0, 0},
    {"progress", FIELD(has_progress), NULL,
     "report progress each second, even if stderr is not a terminal", 0, 0},
    {"threads", FIELD(threads), "N", "threads of the systems (0: cores but one)", 0,
     BASE_WORKERS_MAX},
    {"http", FIELD(http), "ADDR:PORT,KEY=VALUE", "serve: where; port 0 picks one", 0, 0},
};

static const base_option tick_keys[] = {
    {"client", KEY(client), "N", "show: what client N had been sent", 0, UINT32_MAX}};

static const base_option what_keys[] = {
    {"every", KEY(every), "N", "values of one tick in N", 1, 1e9},
    {"components", KEY(components), "A+B", "these values only", 0, 0}};

static const base_option key_keys[] = {
    {"part", KEY(is_part), NULL, "the log may begin later than its match", 0, 0}};

static const base_option http_keys[] = {
    {"token-file", KEY(http_token_file), "FILE", "its tokens, \"reader TOKEN\", \"operator TOKEN\"",
     0, 0},
    {"host", KEY(http_hosts), "NAME", "a host name that requests may use; repeatable", 0, 0},
};

static const base_option_keys keys[] = {
    {"tick", tick_keys, BASE_COUNT(tick_keys)},
    {"what", what_keys, BASE_COUNT(what_keys)},
    {"key", key_keys, BASE_COUNT(key_keys)},
    {"http", http_keys, BASE_COUNT(http_keys)},
};

static const base_option_group groups[] = {
    {"look", "game"}, {"export", "output"}, {"verify", "key"}, {"page", "http"}};

static base_options_result read_options(server_replay* self, base_option_list* words, int argc,
                                        char** argv) {
    const base_options options = {
        .program = "shoal-replay",
        .version = net_build_id(),
        .usage = "info|stats|verify|show|serve|export|dump|slice|repair|datagrams LOG [options]\n"
                 "       files LOG FOLDER | check-trace LOG TRACE",
        .about = "Inspects event logs, replays them and compares every hash.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = self,
        .keys = keys,
        .keys_count = BASE_COUNT(keys),
        .groups = groups,
        .group_count = BASE_COUNT(groups),
        .common = "game tick entity output what from to key through-crash once http",
        .check = check_words,
        .config_text = self->text,
        .config_text_bytes = sizeof self->text,
    };
    return base_options_read(&options, argc, argv, words, &self->reporter);
}

static int open_module(server_replay* self, const command* what) {
    const char* name = self->game ? self->game : net_log_reader_info(self->reader)->game;
    // A dump is useful without the game too. A game that the user named must be there.
    bool may_miss = !what->needs_module && !self->game;
    net_result result = net_host_open_game(name, NET_ROLE_SERVER, self->threads,
                                           may_miss ? NULL : &self->reporter, &self->module);
    return result == NET_OK || may_miss ? NET_EXIT_CLEAN : net_exit_of_replay(result);
}

// Open the log, and the game when the command needs it; run the command; close both.
static int server_replay_run(server_replay* self) {
    const command* what = self->chosen;
    BASE_ASSERT(what && self->file && !self->reader);
    net_result result = net_log_reader_create(NULL, self->file, &self->reporter, &self->reader);
    if (!self->reader) return net_exit_of_replay(result);
    int code = what->wants_module ? open_module(self, what) : NET_EXIT_CLEAN;
    if (code == NET_EXIT_CLEAN) {
        code = what->run(self);
        self->has_result = self->has_result || code == NET_EXIT_CLEAN;
    }
    // Each command looks at some of the log, and says the verdict on all of it.
    const bool is_checked = code == NET_EXIT_CLEAN && !self->is_again && !self->is_repaired;
    if (is_checked && net_log_reader_check(self->reader) != NET_OK) self->is_damaged = true;
    if (is_checked && (self->is_damaged || self->is_unsigned)) code = NET_EXIT_RUNTIME;
    code = server_replay_end(self, code);
    net_host_close_game(self->module);
    net_log_reader_destroy(self->reader);
    return code;
}

int main(int argc, char** argv) {
    server_replay self = {.reporter = base_reporter_stderr(),
                          .loop = {.signals = -1},
                          .every = 1,
                          .http = "127.0.0.1:0"};
    base_option_list words = {.count = 0};
    self.is_again = server_replay_is_again(argv[0]);
    if (!net_host_prepare(&self.reporter)) return NET_EXIT_RUNTIME;
    setvbuf(stdout, NULL, _IOLBF, 0);
    base_options_result read = read_options(&self, &words, argc, argv);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    const command* what = self.chosen;
    self.command = what->name;
    self.file = words.values[1];
    self.second = words.count > 2 ? words.values[2] : NULL;
    self.is_terminal = isatty(STDERR_FILENO);
    self.has_progress = self.has_progress || self.is_terminal;
    if (self.key && !net_host_load_public_log_key(self.key, &self.public_key, &self.reporter))
        return NET_EXIT_USAGE;
    return net_exit_of_results(server_replay_run(&self), stdout, &self.reporter);
}
