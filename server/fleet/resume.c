// SPDX-License-Identifier: MIT
// The log that the old server left is only read. What it has up to the tick is copied as the first
// segment of a new log, which goes on with the match. So a referee has both later.
#include "fleet.h"
#include "log/log.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct server_resume {
    uint32_t players;
    char game[NET_GAME_NAME_BYTES_MAX]; // that of the log
    char command[4096];
} server_resume;

static server_resume* resume_of(const server_program* program) {
    return server_program_state(program, &server_part_resume);
}

static bool is_given(const server_config* config, const char* name) {
    const base_options* options = &config->options;
    uint32_t i = 0;
    while (i < options->count && strcmp(options->options[i].name, name) != 0)
        i++;
    BASE_ASSERT(i < options->count);
    return options->sources[i] != BASE_OPTION_BY_DEFAULT;
}

// An option whose value is that of the match. A note: the file of options of the server that died
// serves this one too.
static void take_over(const server_program* self, const char* name, uint64_t* value,
                      uint64_t of_match) {
    if (*value != of_match && is_given(&self->config, name))
        base_report(&self->reporter, NULL, 0,
                    "note: --%s %" PRIu64 " is left out: the match that continues has %" PRIu64,
                    name, *value, of_match);
    *value = of_match;
}

static int open_log(server_program* self) {
    server_log* log = server_log_of(self);
    server_resume* resume = resume_of(self);
    const char* file = self->config.resume;
    if (!file)
        return self->config.resume_at ? net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                                                        "--at needs --resume LOG")
                                      : NET_EXIT_CLEAN;
    if (self->config.settings.count > 0)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--set: a match that continues has the settings of its log");
    const net_result result = net_log_reader_create(NULL, file, &self->reporter, &log->before);
    if (!log->before) return net_exit_of_replay(result);
    const net_log_info* info = net_log_reader_info(log->before);
    (void)base_text_copy(resume->game, sizeof resume->game, info->game);
    if (!self->config.game) self->config.game = resume->game;
    self->identity = info->identity; // a match that goes on keeps it
    take_over(self, "tick-rate", &self->config.tick_rate_hz, info->tick_rate_hz);
    take_over(self, "min-clients", &self->config.clients_min, 0); // it runs already
    return NET_EXIT_CLEAN;
}

// A manager that waits for READY ends the server otherwise.
static void ask_for_time(void* context) {
    server_program_keep(context);
}

static int make_match(server_program* self) {
    const server_log* log = server_log_of(self);
    if (!log->before) return NET_EXIT_CLEAN;
    BASE_ASSERT(self->module && !self->match);
    const net_result result = net_log_resume(log->before, self->module, self->config.resume_at,
                                             ask_for_time, self, &self->reporter, &self->match);
    if (result != NET_OK) return net_exit_of_replay(result);
    const uint32_t players = net_match_players(self->match, NULL, 0);
    take_over(self, "seed", &self->config.seed, net_match_get_config(self->match)->seed);
    if (players > self->config.clients_max)
        return net_exit_report(NET_EXIT_USAGE, &self->reporter, NULL,
                               "--max-clients %" PRIu64 " is less than the %u players of the match",
                               self->config.clients_max, players);
    return NET_EXIT_CLEAN;
}

// What the new log signs, the old one must not contradict. Its end was never signed.
static int check_signed(server_program* self) {
    const server_log* log = server_log_of(self);
    if (!log->before || !self->config.log_key) return NET_EXIT_CLEAN;
    const net_log_public_key key = net_log_key_public(&log->key);
    net_log_signed found;
    net_log_reader_check_signed(log->before, &key, NULL, &found);
    if (!found.is_wrong) return NET_EXIT_CLEAN;
    return net_exit_report(
        NET_EXIT_RUNTIME, &self->reporter, self->config.resume,
        "from block %" PRIu64
        " on its signature is not that of --log key, or it was changed: it is not signed again",
        found.first_block);
}

static int close_log(server_program* self) {
    net_log_reader_destroy(server_log_of(self)->before);
    server_log_of(self)->before = NULL;
    return NET_EXIT_CLEAN;
}

// The players of that tick get their places.
static int expect_players(server_program* self) {
    if (!server_log_of(self)->before) return NET_EXIT_CLEAN;
    BASE_ASSERT(self->server && self->match);
    const uint64_t now_us = net_loop_now_us();
    const uint32_t count = net_match_players(self->match, NULL, 0);
    uint32_t* clients = base_allocate_zero(NULL, count * sizeof *clients);
    net_result result = NET_OK;
    (void)net_match_players(self->match, clients, count);
    for (uint32_t i = 0; i < count && result == NET_OK; i++)
        result = net_server_expect(self->server, clients[i], now_us);
    base_release(NULL, clients, count * sizeof *clients);
    resume_of(self)->players = count;
    close_log(self);
    if (result == NET_OK) return NET_EXIT_CLEAN;
    return net_exit_report(NET_EXIT_RUNTIME, &self->reporter, NULL, "the players: %s",
                           net_result_text(result));
}

static int print_resumed(server_program* self) {
    const server_log* log = server_log_of(self);
    if (!self->config.resume) return NET_EXIT_CLEAN;
    const uint32_t players = resume_of(self)->players;
    printf("resumed tick=%" PRIu64 " players=%u\n", net_match_tick(self->match), players);
    if (log->has_file)
        base_report(&self->reporter, log->file, 0,
                    "note: it continues the match of %s, which stays as it is",
                    self->config.resume);
    if (players > 0 && !self->access.has_keys)
        base_report(&self->reporter, NULL, 0,
                    "warning: without --key-file no client can prove whose player it was: the %u "
                    "of the match leave after %u s, and join again as new ones",
                    players, NET_SILENCE_MS_MAX / 1000u);
    return NET_EXIT_CLEAN;
}

// ---- the command of the report of a crash ----

typedef struct words {
    char* text;
    size_t bytes, capacity;
    bool is_cut;
} words;

static void put_word(words* to, const char* name, const char* between, const char* value) {
    if (!to->is_cut)
        to->is_cut = !base_text_format(to->text + to->bytes, to->capacity - to->bytes, "%s%s%s",
                                       name, between, value);
    if (!to->is_cut) to->bytes += strlen(to->text + to->bytes) + 1;
}

// What the match has, or the command says in another way.
static bool is_left_out(const char* name) {
    static const char* const names[] = {"set", "seed",   "tick-rate", "min-clients", "resume", "at",
                                        "log", "config", "standby",   "takeover-ms", "listen"};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void put_option(words* to, const base_options* options, const base_option* option,
                       const char* name) {
    char value[1024];
    if (option->kind != BASE_OPTION_LIST) {
        base_options_value(options, option, value, sizeof value);
        to->is_cut = to->is_cut || strlen(value) + 1 == sizeof value;
        put_word(to, name, "=", value);
        return;
    }
    const base_option_list* list = (const void*)((const char*)options->values + option->offset);
    for (uint32_t i = 0; i < list->count; i++)
        put_word(to, name, "=", list->values[i]);
}

static void give_command(const server_program* self, net_sentry_config* config) {
    const server_log* log = server_log_of(self);
    server_resume* resume = resume_of(self);
    words to = {.text = resume->command, .capacity = sizeof resume->command};
    const base_options* options = &self->config.options;
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    if (!log->has_file || self->config.follow ||
        !net_transport_enet_address(self->enet, address, sizeof address))
        return;
    const size_t length = strlen(log->file);
    const bool has_ending = length > 5 && strcmp(log->file + length - 5, ".slog") == 0;
    char stem[sizeof log->file];
    (void)base_text_format(stem, sizeof stem, "%.*s", (int)(has_ending ? length - 5 : length),
                           log->file);
    put_word(&to, "shoal-server", "", "");
    put_word(&to, "--resume", "=", log->file);
    put_word(&to, "--listen", "=", address);
    put_word(&to, "--log=", stem, ".on.slog"); // the other command needs the old one by its name
    char name[64];
    for (uint32_t i = 0; i < options->count; i++) {
        const base_option* option = &options->options[i];
        if (options->sources[i] == BASE_OPTION_BY_DEFAULT || is_left_out(option->name) ||
            option->kind == BASE_OPTION_KEYS)
            continue;
        (void)base_text_format(name, sizeof name, "--%s", option->name);
        put_option(&to, options, option, name);
    }
    const uint8_t* source = options->sources + options->count;
    for (uint32_t i = 0; i < options->keys_count; i++) {
        for (uint32_t k = 0; k < options->keys[i].count; k++) {
            const base_option* key = &options->keys[i].keys[k];
            if (*source++ == BASE_OPTION_BY_DEFAULT || is_left_out(key->name)) continue;
            (void)base_text_format(name, sizeof name, "--%s=%s", options->keys[i].name, key->name);
            put_option(&to, options, key, name);
        }
    }
    config->go_on = resume->command;
    config->go_on_bytes = to.is_cut ? 0 : to.bytes;
}

const server_part server_part_resume = {
    .name = "resume",
    .state_bytes = sizeof(server_resume),
    .at = {[SERVER_PREPARE] = open_log,
           [SERVER_MATCH] = make_match,
           [SERVER_LISTENING] = check_signed,
           [SERVER_OPENED] = expect_players,
           [SERVER_READY] = print_resumed,
           [SERVER_CLOSE] = close_log},
    .sentry = give_command,
};
