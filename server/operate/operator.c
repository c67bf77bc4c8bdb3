// SPDX-License-Identifier: MIT
#include "operator.h"

#include "log/log.h"
#include "inspect/metrics.h"

#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "net/explain.h"
#include "net/solo.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BANDWIDTH_CLIENT_LINES 10u // of each client

static server_operator* operator_of(const server_program* self) {
    return server_program_state(self, &server_part_operator);
}

server_subject* server_subject_of(const server_program* program) {
    server_operator* operator= operator_of(program);
    BASE_ASSERT(operator);
    return &operator->subject;
}

// ---- --console ----
//
// A line may come in pieces, and a pipe may bring several lines at once.

static void open_console(server_program* self) {
    server_console* console = &operator_of(self)->console;
    if (!self->config.has_console || self->loop.socket_count == NET_LOOP_SOCKETS_MAX) return;
    server_program_hear(self, STDIN_FILENO); // the last one
    base_bytes_init(&console->json, NULL);
    console->is_open = true;
}

static void obey(server_program* self, char* line) {
    server_console* console = &operator_of(self)->console;
    server_answer answer = {.json = &console->json};
    if (line[strspn(line, " \t")] == '\0') return;
    if (strcmp(line, "status") == 0) {
        self->loop.is_status_asked = true;
        return;
    }
    server_line_run(server_subject_of(self), line, &answer);
    base_bytes_write(&console->json, "", 1);
    if (answer.status == 200)
        puts((const char*)console->json.data);
    else
        base_report(&self->reporter, NULL, 0, "console: %s", (const char*)console->json.data);
}

static void hear(server_program* self, char c) {
    server_console* console = &operator_of(self)->console;
    BASE_ASSERT(console->count < sizeof console->line);
    if (c == '\n') {
        console->line[console->count] = 0;
        if (console->is_too_long)
            base_report(&self->reporter, NULL, 0, "console: the line is too long");
        else
            obey(self, console->line);
        console->count = 0;
        console->is_too_long = false;
    } else if (console->count + 1 == sizeof console->line) {
        console->is_too_long = true;
    } else if (c != '\r') {
        console->line[console->count++] = c;
    }
}

static void read_console(server_program* self) {
    char piece[256];
    if (!operator_of(self)->console.is_open) return;
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&polled, 1, 0) <= 0) return;
    ssize_t size = read(STDIN_FILENO, piece, sizeof piece);
    if (size <= 0) {
        net_loop* loop = &self->loop;
        BASE_ASSERT(loop->socket_count > 0 &&
                    loop->sockets[loop->socket_count - 1] == STDIN_FILENO);
        loop->socket_count--;
        operator_of(self)->console.is_open = false;
    }
    for (ssize_t i = 0; i < size; i++)
        hear(self, piece[i]);
}

// ---- opening

// The match of the program changes with a reload.
static void update_subject(server_program* self) {
    server_operator* operator= operator_of(self);
    server_subject* subject = &operator->subject;
    const server_log* log = server_log_of(self);
    subject->match = self->match;
    subject->identity = self->identity;
    subject->server = self->server;
    subject->transport = self->transport;
    subject->log = log->writer;
    subject->lacks_log = log->is_lacking;
    subject->log_file = log->file;
    subject->reporter = &self->reporter;
    subject->start_us = self->start_us;
    subject->ticks_given_up = self->ticks_given_up;
    subject->lines = self->lines;
    subject->metrics = operator->metrics;
    subject->is_served = operator->inspect != NULL;
    if (operator->inspect) subject->http = server_inspect_get_counts(operator->inspect);
    subject->tick_rate_hz = self->config.tick_rate_hz;
    subject->meter = operator->meter;
    subject->options = &self->config.options;
    subject->clients_max = (uint32_t)self->config.clients_max;
    subject->spectators_max = (uint32_t)self->config.spectators_max;
    subject->reader_delay_s = self->config.http_delay_s;
    subject->bans = self->access.bans;
    subject->has_controls = !log->writer || server_log_has_controls(&self->config);
    subject->may_edit = self->config.allow_edits;
    subject->is_paused = net_server_is_paused(self->server);
    subject->is_empty = net_server_is_empty(self->server);
}

static int open_inspect(server_program* self) {
    const server_config* config = &self->config;
    if (!config->http) return NET_EXIT_CLEAN;
    server_operator* operator= operator_of(self);
    const server_log* log = server_log_of(self);
    const char* file = self->module->templates_file;
    const int code = server_inspect_open(
        &(server_inspect_config){
            .listen = config->http,
            .token_file = config->http_token_file,
            .hosts = config->http_hosts,
            .pages = config->pages,
            .is_optional = config->http_is_optional,
            .game = self->module->game->name,
            .game_file = file[0] ? file : NULL,
            .log_file = log->has_file ? log->file : NULL,
            .is_live = true,
            .is_hiding = server_program_hides(self) && !config->follow, // it is late already
            .delay_s = config->http_delay_s,
            .tick_rate_hz = config->tick_rate_hz,
            .subject = &operator->subject,
            .upgrade = self->upgrade,
            .reporter = server_program_layer(self, SERVER_LAYER_HTTP),
        },
        &operator->inspect);
    if (operator->inspect) server_program_hear(self, server_inspect_descriptor(operator->inspect));
    return code;
}

static int open_all(server_program* self) {
    server_operator* operator= operator_of(self);
    operator->meter = server_meter_create((uint32_t)self->config.tick_rate_hz);
    operator->metrics = server_metrics_create();
    update_subject(self);
    int code = open_inspect(self);
    if (code == NET_EXIT_CLEAN && self->config.control)
        code = server_control_open(self->config.control, &self->reporter, &operator->control);
    if (operator->control) server_program_hear(self, server_control_descriptor(operator->control));
    open_console(self);
    return code;
}

static void say(const server_program* self, server_saying line, char* text, size_t bytes) {
    const server_inspect* inspect = operator_of(self)->inspect;
    char address[NET_ENET_ADDRESS_TEXT_BYTES];
    if (line != SERVER_SAYS_READY || !inspect) return;
    server_inspect_address(inspect, address, sizeof address);
    (void)base_text_format(text, bytes, " http=%s", address);
}

// ---- while it runs

static void pass(server_program* self, uint64_t now_us) {
    server_operator* operator= operator_of(self);
    server_subject* subject = &operator->subject;
    update_subject(self);
    server_inspect_pass(operator->inspect,
                        !server_program_is_draining(self) && !subject->is_unready);
    read_console(self);
    server_control_pass(operator->control, subject, now_us);
    // What verbs asked for.
    if (subject->is_end_asked) server_program_end(self, now_us);
    if (subject->drain_s_asked > 0) (void)server_drain_begin(self, subject->drain_s_asked, now_us);
    if (subject->is_reload_asked) self->loop.is_reload_asked = true;
    subject->is_end_asked = subject->is_reload_asked = false;
    subject->drain_s_asked = 0;
}

static void received(server_program* self, uint64_t now_us) {
    server_operator* operator= operator_of(self);
    server_meter_pass(operator->meter, self->server, self->transport, net_match_world(self->match),
                      now_us);
    update_subject(self); // a reload may have exchanged the match
    server_metrics_pass(operator->metrics, &operator->subject, now_us);
}

static void tick(server_program* self, uint64_t took_us, uint64_t late_us) {
    server_operator* operator= operator_of(self);
    server_metrics_tick(operator->metrics, self->server, took_us, late_us);
    server_meter_tick(operator->meter, took_us, net_server_get_times(self->server));
}

// ---- the end

static void write_bandwidth_line(void* context, const net_ledger_line* line) {
    FILE* file = context;
    if (line->client)
        fprintf(file, "ledger client=%" PRIu32, line->client);
    else
        fprintf(file, "ledger client=*");
    fprintf(file, " component=%s cause=%s bits=%" PRIu64 " share=%.4f\n", line->name, line->cause,
            line->bits, line->share);
}

static bool write_bandwidth(void* context, void* file) {
    const server_program* self = context;
    net_server_accounts(self->server, BANDWIDTH_CLIENT_LINES, write_bandwidth_line, file);
    uint64_t dropped[NET_DROP_COUNT];
    net_server_dropped(self->server, dropped);
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        fprintf(file, "dropped reason=%s count=%" PRIu64 "\n", net_drop_name((net_drop)i),
                dropped[i]);
    return true;
}

static int give_tap(server_program* self) {
    self->solo = &net_solo_part;
    self->tap = self->config.bandwidth ? &net_account_tap : &net_explain_tap;
    return NET_EXIT_CLEAN;
}

static int report(server_program* self) {
    const char* file = self->config.bandwidth;
    return !file || net_host_write_file(file, write_bandwidth, self, &self->reporter)
               ? NET_EXIT_CLEAN
               : NET_EXIT_RUNTIME;
}

static int stop_operator(server_program* self) {
    server_operator* operator= operator_of(self);
    server_inspect_close(operator->inspect);
    server_control_close(operator->control);
    base_bytes_deinit(&operator->console.json);
    base_owner_destroy(operator->metrics);
    base_owner_destroy(operator->meter);
    return NET_EXIT_CLEAN;
}

const server_part server_part_operator = {
    .name = "operator",
    .state_bytes = sizeof(server_operator),
    .at = {[SERVER_LISTENING] = give_tap,
           [SERVER_OPENED] = open_all,
           [SERVER_REPORT] = report,
           [SERVER_STOP] = stop_operator},
    .say = say,
    .pass = pass,
    .received = received,
    .tick = tick,
};
