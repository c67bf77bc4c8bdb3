// SPDX-License-Identifier: MIT
// shoal-ctl: asks and steers a running server through its control socket (shoal-server --control).
//
// Verbs come from the same table as the server's, so help and the message for a mistake need no
// server. What a verb does, and whether it may, is the server's.
#include "ctl.h"

#include "base/assert.h"
#include "base/options.h"
#include "base/text.h"
#include "inspect/control.h"

#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { USAGE_BYTES = 2048, USAGE_COLUMNS = 91 };

typedef struct ctl_config {
    const char* socket;
    bool is_json;
} ctl_config;

#define FIELD(name) BASE_OPTION_FIELD(ctl_config, name)

static const base_option table[] = {
    {"socket", FIELD(socket), "FILE", "the control socket of the server", 0, 0},
    {"json", FIELD(is_json), NULL, "print the answer as the server sent it", 0, 0},
};

// ---- what is known without a server ----

// Of this program alone.
static const struct {
    const char *name, *arguments, *help;
} own[] = {
    {"top", "", "a live table of the match; q ends it"},
    {"help", "[verb]", "what the verbs do"},
};

// "status|clients|...|top|help", in lines: the completion finds its words there.
static void make_usage(char usage[USAGE_BYTES]) {
    const uint32_t count = server_verb_count();
    size_t size = 0, column = 10; // "usage: shoal-ctl " is longer than the indent
    for (uint32_t i = 0; i < count + BASE_COUNT(own); i++) {
        const char* name = i < count ? server_verb_at(i)->name : own[i - count].name;
        const bool is_wrapped = column + strlen(name) > USAGE_COLUMNS;
        if (is_wrapped) column = 0;
        (void)base_text_format(usage + size, USAGE_BYTES - size, "%s%s%s", i > 0 ? "|" : "",
                               is_wrapped ? " \n       " : "", name);
        size += strlen(usage + size);
        column += strlen(name) + 1;
    }
    (void)base_text_format(usage + size, USAGE_BYTES - size, " [ARGUMENT]... [options]");
}

// A screen has no room for all verbs.
static bool is_long(int count, char** arguments) {
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--help=man") == 0 || strcmp(arguments[i], "--help=all") == 0)
            return true;
    return false;
}

static bool is_known(const char* name, const base_reporter* reporter) {
    base_nearest nearest = base_nearest_begin(name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < BASE_COUNT(own); i++) {
        if (strcmp(name, own[i].name) == 0) return true;
        base_nearest_offer(&nearest, own[i].name);
    }
    if (server_verb_find(name)) return true;
    for (uint32_t i = 0; i < server_verb_count(); i++)
        base_nearest_offer(&nearest, server_verb_at(i)->name);
    return base_report(reporter, NULL, 0, "there is no verb '%s'%s; shoal-ctl help lists them",
                       name, base_nearest_hint(&nearest, hint));
}

static bool check_verb(void* values, const base_option_list* words, const base_reporter* reporter) {
    (void)values;
    if (words->count > 0) return is_known(words->values[0], reporter);
    return base_report(reporter, NULL, 0, "name a verb; shoal-ctl help lists them");
}

static base_options make_options(ctl_config* config, const char* usage) {
    return (base_options){
        .program = "shoal-ctl",
        .version = net_build_id(),
        .usage = usage,
        .about = "Queries and controls a running server through its control socket.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = config,
        .check = check_verb,
    };
}

static void print_verb(const char* name, const char* arguments, const char* help) {
    char head[128];
    (void)base_text_format(head, sizeof head, "%s%s%s", name, arguments[0] ? " " : "", arguments);
    printf("%-28s %s\n", head, help);
}

static int print_help(const char* name) {
    for (uint32_t i = 0; i < server_verb_count(); i++) {
        const server_verb* verb = server_verb_at(i);
        if (!name || strcmp(name, verb->name) == 0)
            print_verb(verb->name, verb->arguments, verb->help);
    }
    for (uint32_t i = 0; i < BASE_COUNT(own); i++)
        if (!name || strcmp(name, own[i].name) == 0)
            print_verb(own[i].name, own[i].arguments, own[i].help);
    return NET_EXIT_CLEAN;
}

// ---- words ----

static bool join(const base_option_list* words, char line[SERVER_CONTROL_LINE_BYTES],
                 const base_reporter* reporter) {
    size_t size = 0;
    line[0] = '\0';
    for (uint32_t i = 0; i < words->count; i++) {
        if (strpbrk(words->values[i], "\r\n"))
            return base_report(reporter, NULL, 0, "a verb is one line");
        // One byte less: the end of the line counts.
        if (!base_text_format(line + size, SERVER_CONTROL_LINE_BYTES - 1 - size, "%s%s",
                              i > 0 ? " " : "", words->values[i]))
            return base_report(reporter, NULL, 0, "the line is longer than %u bytes",
                               SERVER_CONTROL_LINE_BYTES - 2);
        size += strlen(line + size);
    }
    return true;
}

// ---- the client's side of server/inspect/control.h. What the server sends is limited and checked.

// Close it in both cases. @return NET_EXIT_CLEAN, or the exit code: reported.
static int open_connection(ctl_connection* self, const char* path, const base_reporter* reporter) {
    const struct timeval patience = {.tv_sec = CTL_ANSWER_S_MAX};
    *self = (ctl_connection){.descriptor = server_control_connect(path, 0), .reporter = reporter};
    base_bytes_init(&self->answer, NULL);
    if (self->descriptor < 0)
        return net_exit_report(NET_EXIT_CONNECT, reporter, NULL, "cannot reach a server at %s: %s",
                               path, strerror(errno));
    (void)setsockopt(self->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(self->descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return NET_EXIT_CLEAN;
}

static bool fail_connection(const ctl_connection* self, const char* what) {
    return base_report(self->reporter, NULL, 0, "%s", what);
}

static bool send_all(const ctl_connection* self, const char* text, size_t size) {
    while (size > 0) {
        const ssize_t sent = send(self->descriptor, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

// JSON with each number as a string.
static void quote_numbers(const base_bytes* from, base_bytes* to) {
    bool is_string = false, is_number = false;
    for (size_t i = 0; i < from->size; i++) {
        const char c = (char)from->data[i];
        const bool was_number = is_number;
        is_number = !is_string && c && strchr(is_number ? "0123456789-+.eE" : "0123456789-", c);
        if (is_number != was_number) base_bytes_write(to, "\"", 1);
        base_bytes_write(to, &c, 1);
        if (c == '"') is_string = !is_string;
        if (c == '\\' && ++i < from->size) base_bytes_write(to, &from->data[i], 1);
    }
}

bool ctl_ask(ctl_connection* self, const char* line) {
    char piece[65536];
    base_bytes text;
    BASE_ASSERT(!strchr(line, '\n'));
    base_bytes_clear(&self->answer);
    if (!send_all(self, line, strlen(line)) || !send_all(self, "\n", 1))
        return fail_connection(self, "the server closed the connection");
    do {
        const ssize_t size = recv(self->descriptor, piece, sizeof piece, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return fail_connection(self, "the server does not answer");
        if (size == 0) return fail_connection(self, "the server closed the connection");
        base_bytes_write(&self->answer, piece, (size_t)size);
        if (self->answer.size > CTL_ANSWER_BYTES_MAX)
            return fail_connection(self, "the answer is too long");
    } while (self->answer.size == 0 || self->answer.data[self->answer.size - 1] != '\n');
    base_bytes_init(&text, NULL);
    quote_numbers(&self->answer, &text);
    json_decref(self->object);
    self->object = json_loadb((const char*)text.data, text.size, 0, NULL);
    base_bytes_deinit(&text);
    return json_is_object(self->object) || fail_connection(self, "the answer is not a JSON object");
}

// ---- with a server ----

static int ask(ctl_connection* connection, const char* line, bool is_json,
               const base_reporter* reporter) {
    char text[1024];
    if (!ctl_ask(connection, line)) return NET_EXIT_RUNTIME;
    const json_t* error = json_object_get(connection->object, "error");
    if (is_json)
        (void)!fwrite(connection->answer.data, connection->answer.size, 1, stdout);
    else if (error)
        base_report(reporter, NULL, 0, "%s", ctl_text(error, text, sizeof text));
    else
        ctl_show(connection->object, 0);
    return error ? NET_EXIT_RUNTIME : NET_EXIT_CLEAN;
}

static int run_verb(const ctl_config* config, const base_option_list* words,
                    const base_reporter* reporter) {
    char line[SERVER_CONTROL_LINE_BYTES];
    ctl_connection connection;
    if (!config->socket)
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL,
                               "name the server: --socket FILE, or SHOAL_SOCKET; it was started "
                               "with shoal-server --control FILE");
    if (!join(words, line, reporter)) return NET_EXIT_USAGE;
    int code = open_connection(&connection, config->socket, reporter);
    if (code == NET_EXIT_CLEAN)
        code = strcmp(words->values[0], "top") == 0
                   ? ctl_top(&connection)
                   : ask(&connection, line, config->is_json, reporter);
    if (connection.descriptor >= 0) close(connection.descriptor);
    base_bytes_deinit(&connection.answer);
    json_decref(connection.object);
    return net_exit_of_results(code, stdout, reporter);
}

int main(int argc, char** argv) {
    const base_reporter reporter = base_reporter_stderr();
    ctl_config config = {.socket = NULL};
    char usage[USAGE_BYTES];
    base_option_list words = {0};
    make_usage(usage);
    static const char brief[] = "VERB [ARGUMENT]... [options] | help [VERB]";
    base_options options = make_options(&config, is_long(argc, argv) ? usage : brief);
    const base_options_result read = base_options_read(&options, argc, argv, &words, &reporter);
    if (read != BASE_OPTIONS_OK) return net_exit_of_options(read);
    if (strcmp(words.values[0], "help") == 0)
        return print_help(words.count > 1 ? words.values[1] : NULL);
    return run_verb(&config, &words, &reporter);
}
