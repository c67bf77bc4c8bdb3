// SPDX-License-Identifier: MIT
/// A match in memory with clients on the simulated network, and what asks its verbs and reads their
/// answers.
#pragma once

#define TABLE_SEATS 4u
#include "server/session_table.h"

#include "inspect/metrics.h"
#include "inspect/verbs.h"

#include "ecs/inspect.h"

#include <arpa/inet.h>
#include <jansson.h>

/// A match that is looked at.
typedef struct viewer {
    table table;
    server_subject subject;
    base_bytes json;
    server_answer answer;
    uint64_t until_us;
    bool flag;
    const char* listen;
    const char* game;
    uint64_t seed;
    base_option rows[4];
    uint8_t sources[4];
    base_options options;
    json_t* root; ///< of the newest answer that was read
} viewer;

/// What no reader may ever see.
#define SECRET_ADDRESS "203.0.113.77"
#define SECRET_PLAYER "987654321987654321"
#define SECRET_USER "planted-user-data"
#define SECRET_FILE "planted-file"
#define SECRET_SEED "5544332211"

static inline void set_options(viewer* self) {
    const base_option rows[] = {
        {"fast", BASE_OPTION_FIELD(viewer, flag), NULL, "do not wait", 0, 0},
        {"listen", BASE_OPTION_FIELD(viewer, listen), "ADDR:PORT", "where to listen", 0, 0},
        {"game", BASE_OPTION_FIELD(viewer, game), "NAME", "the game to run", 0, 0},
        {"seed", BASE_OPTION_FIELD(viewer, seed), "N", "random numbers", 0, 0},
    };
    memcpy(self->rows, rows, sizeof rows);
    self->listen = SECRET_ADDRESS ":7777";
    self->game = "swarm";
    self->seed = 5544332211;
    self->sources[1] = BASE_OPTION_BY_COMMAND_LINE;
    self->options =
        (base_options){.options = self->rows, .count = 4, .values = self, .sources = self->sources};
}

static inline void open_view(viewer* self, table_config config) {
    memset(self, 0, sizeof *self);
    table_open(&self->table, config);
    set_options(self);
    self->until_us = UINT64_MAX;
    base_bytes_init(&self->json, NULL);
    self->answer.json = &self->json;
    self->subject = (server_subject){
        .match = self->table.match,
        .server = self->table.server,
        .transport = self->table.transport,
        .log = self->table.log,
        .log_file = SECRET_FILE,
        .lines = server_lines_create(),
        .start_us = net_loop_now_us(),
        .tick_rate_hz = 60,
        .meter = server_meter_create(60),
        .metrics = server_metrics_create(),
        .options = &self->options,
        .clients_max = TABLE_SEATS,
        .spectators_max = 1,
    };
    assert_non_null(self->subject.lines);
    assert_non_null(self->subject.meter);
    assert_non_null(self->subject.metrics);
}

static inline void close_view(viewer* self) {
    json_decref(self->root);
    base_owner_destroy(self->subject.meter);
    base_owner_destroy(self->subject.metrics);
    server_lines_destroy(self->subject.lines);
    base_bytes_deinit(&self->json);
    table_close(&self->table);
}

static inline int ask_list(viewer* self, server_right right, const char* verb, va_list arguments) {
    server_request request = {
        .verb = verb, .right = right, .until_us = self->until_us, .answer = &self->answer};
    for (const char* name; (name = va_arg(arguments, const char*)) != NULL;) {
        request.names[request.argument_count] = name;
        request.values[request.argument_count++] = va_arg(arguments, const char*);
    }
    server_verb_run(&self->subject, &request);
    return self->answer.status;
}

/// Ask a verb: names and values of its arguments, NULL at the end.
static inline int ask(viewer* self, server_right right, const char* verb, ...) {
    va_list arguments;
    va_start(arguments, verb);
    const int status = ask_list(self, right, verb, arguments);
    va_end(arguments);
    return status;
}

static inline json_t* read_answer(viewer* self) {
    json_error_t error;
    json_decref(self->root);
    self->root = json_loadb((const char*)self->json.data, self->json.size, 0, &error);
    if (!self->root)
        fail_msg("%s at %d: %.*s", error.text, error.position, (int)self->json.size,
                 (const char*)self->json.data);
    return self->root;
}

/// Ask a verb that answers, and read the answer.
static inline void answers(viewer* self, server_right right, const char* verb, ...) {
    va_list arguments;
    va_start(arguments, verb);
    assert_int_equal(ask_list(self, right, verb, arguments), 200);
    va_end(arguments);
    (void)read_answer(self);
}

/// What stands at a path, "clients.0.name"; NULL: nothing.
static inline json_t* get(json_t* at, const char* path) {
    char word[64];
    while (at && *path) {
        const size_t size = strcspn(path, ".");
        assert_true(size < sizeof word);
        memcpy(word, path, size);
        word[size] = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
        path += size + (path[size] == '.');
    }
    return at;
}

static inline json_t* need(viewer* self, const char* path) {
    json_t* found = get(self->root, path);
    if (!found) fail_msg("no %s in %.*s", path, (int)self->json.size, (const char*)self->json.data);
    return found;
}

static inline const char* text_at(viewer* self, const char* path) {
    json_t* found = need(self, path);
    assert_true(json_is_string(found));
    return json_string_value(found);
}

static inline double number_at(viewer* self, const char* path) {
    json_t* found = need(self, path);
    assert_true(json_is_number(found));
    return json_number_value(found);
}

static inline bool is_true_at(viewer* self, const char* path) {
    json_t* found = need(self, path);
    assert_true(json_is_boolean(found));
    return json_is_true(found);
}

static inline void play(viewer* self, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        table_step(&self->table);
        server_meter_tick(self->subject.meter, 1000 + i % 100,
                          net_server_get_times(self->table.server));
        server_meter_pass(self->subject.meter, self->table.server, self->table.transport,
                          net_match_world(self->table.match), self->table.now_us);
        server_metrics_pass(self->subject.metrics, &self->subject, self->table.now_us);
    }
}

/// So many clients come and play.
static inline void play_with(viewer* self, uint32_t clients, uint32_t ticks) {
    for (uint32_t i = 0; i < clients; i++)
        (void)table_sit(&self->table, NULL);
    play(self, ticks);
}

/// Does the newest answer have these bytes?
static inline bool says(const viewer* self, const char* words) {
    const size_t size = strlen(words);
    for (size_t i = 0; i + size <= self->json.size; i++)
        if (memcmp(self->json.data + i, words, size) == 0) return true;
    return false;
}

#define PLAYER "(player)" ///< stands for the handle of client 1's player

static inline const char* player_of(const viewer* self, const char* value, char handle[32]) {
    const ecs_entity player = net_match_player(self->table.match, 1);
    if (!value || strcmp(value, PLAYER) != 0) return value;
    (void)snprintf(handle, 32, "%u:%u", ecs_entity_index(player), ecs_entity_generation(player));
    return handle;
}

#define VIEW_CASE(name, ...)                                                                       \
    CASE_WITH(viewer, self, open_view(self, (table_config){__VA_ARGS__}), close_view(self), name)
